//! A view as one line of text: which files, which span, what is selected. It can be mailed and opened again.
//!
//! `stepscope:1?file=%2Fcaptures%2Frank0.sqlite&start=1000&len=5000&select=1200..1300&rank=0.1&panel=Kernels`

use super::{Compare, Panel, SavedCompare, SavedView};
use crate::job::ClockMode;
use crate::units::Span;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What every link begins with.
pub const SCHEME: &str = "stepscope:";
/// Version of the form of links.
const VERSION: &str = "1";
/// Files of a link at most, so that no pasted text opens thousands.
const MOST_FILES: usize = 1024;

/// Files and what is shown of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    /// Exports in their order.
    pub files: Vec<PathBuf>,
    /// What is shown of them.
    pub view: SavedView,
    /// What puts them on one axis.
    pub clock: ClockMode,
    /// Nanoseconds that each of the first files is moved by on top of that; nothing for the others.
    pub shift_ns: Vec<i64>,
}

/// Why a text is no link that can be opened. Each message says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It does not begin as one.
    #[error("this is no link: links begin with {SCHEME}{VERSION}?file=")]
    NotALink,
    /// It was made by a later version.
    #[error("the link has form {0}, and this version of stepscope reads form {VERSION}: use the version that made it")]
    Version(String),
    /// It names no file.
    #[error("the link names no file: it needs file= with the path of an export")]
    NoFile,
    /// It names more files than anybody opens.
    #[error("the link names more than {MOST_FILES} files")]
    TooManyFiles,
    /// A part of it is not known.
    #[error("the link has a part {0:?}; known are file, start, len, select, rank, panel, compare, clock and shift")]
    Unknown(String),
    /// A part of it makes no sense.
    #[error("the link says {part}={value}, but it needs {expected}")]
    Value {
        /// Name of the part.
        part: &'static str,
        /// What it says.
        value: String,
        /// What it should say.
        expected: &'static str,
    },
}

impl Link {
    /// The link as text.
    pub fn to_text(&self) -> String {
        let mut text = format!("{SCHEME}{VERSION}?");
        for (at, file) in self.files.iter().enumerate() {
            let _ = write!(text, "{}file={}", if at == 0 { "" } else { "&" }, encoded(&file.to_string_lossy()));
        }
        let view = &self.view;
        if let (Some(start), Some(len)) = (view.start_ns, view.len_ns) {
            let _ = write!(text, "&start={start}&len={len}");
        }
        if let Some(span) = view.selection() {
            let _ = write!(text, "&select={}..{}", span.start_ns, span.end_ns);
        }
        if let Some(rank) = view.rank {
            let _ = write!(text, "&rank={}.{rank}", view.file.unwrap_or(0));
        }
        if let Some(panel) = view.panel {
            let _ = write!(text, "&panel={panel:?}");
        }
        if let Some(compare) = &view.compare {
            let [[a, b], [c, d]] = compare.ranks;
            let (form, link) = (word(compare.form), word(compare.link));
            let (start, len) = (compare.second_start_ns, compare.second_len_ns);
            let _ = write!(text, "&compare={a}.{b},{c}.{d},{form},{link},{start},{len}");
            if (compare.share - Compare::HALF).abs() > f32::EPSILON {
                let _ = write!(text, ",{}", compare.share);
            }
        }
        if self.clock != ClockMode::default() {
            let _ = write!(text, "&clock={}", word(self.clock));
        }
        if self.shift_ns.iter().any(|ns| *ns != 0) {
            let shifts: Vec<String> = self.shift_ns.iter().map(i64::to_string).collect();
            let _ = write!(text, "&shift={}", shifts.join(","));
        }
        text
    }

    /// Reads a link.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        let rest = text.trim().trim_matches(['"', '\'']).strip_prefix(SCHEME).ok_or(LinkError::NotALink)?;
        let (version, parts) = rest.split_once('?').ok_or(LinkError::NotALink)?;
        if version != VERSION {
            let is_number = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
            return Err(if is_number { LinkError::Version(version.to_owned()) } else { LinkError::NotALink });
        }
        let mut link = Self::default();
        for part in parts.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            link.take(name, value)?;
        }
        match link.files.len() {
            0 => Err(LinkError::NoFile),
            1..=MOST_FILES => Ok(link),
            _ => Err(LinkError::TooManyFiles),
        }
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), LinkError> {
        let wrong = |part, expected| LinkError::Value { part, value: value.to_owned(), expected };
        let view = &mut self.view;
        match name {
            "file" => {
                let path = decoded(value).filter(|path| !path.is_empty());
                self.files.push(path.ok_or_else(|| wrong("file", "the path of an export, percent-encoded"))?.into());
            }
            "start" => view.start_ns = Some(finite(value).ok_or_else(|| wrong("start", "nanoseconds"))?),
            "len" => {
                let len = finite(value).filter(|len| *len > 0.0);
                view.len_ns = Some(len.ok_or_else(|| wrong("len", "nanoseconds above 0"))?);
            }
            "select" => {
                let ends = value.split_once("..").and_then(|(a, b)| Some(Span::new(a.parse().ok()?, b.parse().ok()?)));
                let span = ends.filter(|span| !span.is_empty());
                let span =
                    span.ok_or_else(|| wrong("select", "two whole numbers of nanoseconds, such as 1000..2500"))?;
                (view.selection_start_ns, view.selection_end_ns) = (Some(span.start_ns), Some(span.end_ns));
            }
            "rank" => {
                let ids = value.split_once('.').and_then(|(file, rank)| Some((file.parse().ok()?, rank.parse().ok()?)));
                let (file, rank) = ids.ok_or_else(|| wrong("rank", "file and rank counted from 0, such as 0.1"))?;
                (view.file, view.rank) = (Some(file), Some(rank));
            }
            "panel" => {
                let panel: Option<Panel> = of_word(value);
                view.panel = Some(panel.ok_or_else(|| wrong("panel", "the name of a panel, such as Overview"))?);
            }
            "compare" => {
                let expected = "two ranks, a form, a link, and what the second shows, such as \
                                0.0,1.0,stacked,time,1000,5000";
                view.compare = Some(compared(value).ok_or_else(|| wrong("compare", expected))?);
            }
            "clock" => {
                let clock = of_word(value);
                self.clock = clock.ok_or_else(|| wrong("clock", "the name of a clock, such as wall or step_start"))?;
            }
            "shift" => {
                let shifts: Result<Vec<i64>, _> = value.split(',').map(str::parse).collect();
                let shifts = shifts.ok().filter(|shifts| shifts.len() <= MOST_FILES);
                self.shift_ns = shifts.ok_or_else(|| wrong("shift", "nanoseconds of each file, such as 0,-2500"))?;
            }
            other => return Err(LinkError::Unknown(other.to_owned())),
        }
        Ok(())
    }
}

/// The word that a form or link is written as.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}

fn of_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

fn compared(value: &str) -> Option<SavedCompare> {
    let parts: Vec<&str> = value.split(',').collect();
    let &[first, second, form, link, start, len, ref share @ ..] = parts.as_slice() else { return None };
    let share = match share {
        [] => Compare::HALF,
        [share] => share.parse().ok().filter(|share: &f32| (0.0..=1.0).contains(share))?,
        _ => return None,
    };
    let rank = |text: &str| {
        let (file, rank) = text.split_once('.')?;
        Some([file.parse().ok()?, rank.parse().ok()?])
    };
    Some(SavedCompare {
        ranks: [rank(first)?, rank(second)?],
        form: of_word(form)?,
        link: of_word(link)?,
        second_start_ns: finite(start)?,
        second_len_ns: finite(len).filter(|len| *len > 0.0)?,
        share,
    })
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// `text` with everything but letters, digits and a few harmless signs as percent signs and two digits.
fn encoded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => safe.push(char::from(byte)),
            other => {
                let _ = write!(safe, "%{other:02X}");
            }
        }
    }
    safe
}

/// What [`encoded`] was given; `None` when it is broken or no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{CompareForm, PaneLink};
    use proptest::prelude::*;

    #[test]
    fn a_link_is_one_line_that_says_what_it_shows() {
        let view = SavedView {
            start_ns: Some(1000.0),
            len_ns: Some(2500.5),
            selection_start_ns: Some(1200),
            selection_end_ns: Some(1300),
            file: Some(1),
            rank: Some(2),
            panel: Some(Panel::Kernels),
            compare: Some(SavedCompare {
                ranks: [[0, 0], [1, 2]],
                form: CompareForm::SideBySide,
                link: PaneLink::Apart,
                second_start_ns: -40.5,
                second_len_ns: 2500.5,
                share: 0.25,
            }),
        };
        let link = Link {
            files: vec!["/a b/rank&0.sqlite".into(), "/c/ü.sqlite".into()],
            view,
            clock: ClockMode::StepStart,
            shift_ns: vec![0, -7],
        };
        let text = "stepscope:1?file=/a%20b/rank%260.sqlite&file=/c/%C3%BC.sqlite&start=1000&len=2500.5\
                    &select=1200..1300&rank=1.2&panel=Kernels&compare=0.0,1.2,side_by_side,apart,-40.5,2500.5,0.25\
                    &clock=step_start&shift=0,-7";
        assert_eq!(link.to_text(), text);
        assert_eq!(Link::parse(&format!(" '{text}'\n")), Ok(link));
    }

    #[test]
    fn bad_links_say_what_is_wrong_with_them() {
        let said = |text: &str| Link::parse(text).unwrap_err().to_string();
        for (text, expected) in [
            ("", "this is no link"),
            ("/a/rank0.sqlite", "this is no link"),
            ("stepscope:", "this is no link"),
            ("stepscope:x?file=a", "this is no link"),
            ("stepscope:2?file=a", "form 2"),
            ("stepscope:1?", "names no file"),
            ("stepscope:1?file=", "file="),
            ("stepscope:1?file=%zz", "percent-encoded"),
            ("stepscope:1?file=%ff", "percent-encoded"),
            ("stepscope:1?file=a&colour=red", "\"colour\""),
            ("stepscope:1?file=a&start=inf", "start=inf"),
            ("stepscope:1?file=a&len=-5", "above 0"),
            ("stepscope:1?file=a&select=9..3", "select=9..3"),
            ("stepscope:1?file=a&rank=first", "rank=first"),
            ("stepscope:1?file=a&panel=Cellar", "panel=Cellar"),
            ("stepscope:1?file=a&compare=0.0,0.1", "compare=0.0,0.1"),
            ("stepscope:1?file=a&clock=cuckoo", "clock=cuckoo"),
            ("stepscope:1?file=a&shift=1,x", "shift=1,x"),
            ("stepscope:1?file=a&compare=0.0,0.1,diagonal,time,0,5", "diagonal"),
            ("stepscope:1?file=a&compare=0.0,0.1,stacked,time,0,5,1.5", "1.5"),
            ("stepscope:1?file=a&compare=0.0,0.1,stacked,time,0,5,0.5,0", "0.5,0"),
        ] {
            assert!(said(text).contains(expected), "{text}: {}", said(text));
        }
        let many = format!("stepscope:1?{}", "file=a&".repeat(MOST_FILES + 1));
        assert_eq!(Link::parse(&many), Err(LinkError::TooManyFiles));
    }

    proptest! {
        #[test]
        fn every_link_comes_back_as_it_was(
            files in proptest::collection::vec("[^\u{0}]{1,40}", 1..5),
            start in -1e15..1e15_f64,
            len in 1.0..1e15_f64,
            selection in proptest::option::of((any::<i64>(), 1..i64::MAX)),
            rank in proptest::option::of((0_usize..9, 0_usize..9)),
        ) {
            let span = selection.map(|(from, len)| Span::new(from, from.saturating_add(len))).filter(|s| !s.is_empty());
            let view = SavedView {
                start_ns: Some(start),
                len_ns: Some(len),
                selection_start_ns: span.map(|span| span.start_ns),
                selection_end_ns: span.map(|span| span.end_ns),
                file: rank.map(|(file, _)| file),
                rank: rank.map(|(_, rank)| rank),
                panel: Some(Panel::Gaps),
                compare: rank.map(|(file, own)| SavedCompare {
                    ranks: [[file, own], [own, file]],
                    form: CompareForm::ALL[file % 3],
                    link: PaneLink::ALL[own % 4],
                    second_start_ns: start / 3.0,
                    second_len_ns: len,
                    share: [Compare::HALF, 0.15, 0.7312, 0.85][own % 4],
                }),
            };
            let shift_ns = selection.map_or_else(Vec::new, |(at, _)| vec![at | 1]);
            let files = files.iter().map(PathBuf::from).collect();
            let link = Link { files, view, clock: ClockMode::Wall, shift_ns };
            let text = link.to_text();
            prop_assert!(text.is_ascii() && !text.contains([' ', '\n', '"', '\'']));
            prop_assert_eq!(Link::parse(&text), Ok(link));
        }

        #[test]
        fn no_text_whatever_makes_reading_a_link_fail_otherwise_than_with_a_message(text in "\\PC{0,80}") {
            let _ = Link::parse(&text);
            let _ = Link::parse(&format!("stepscope:1?{text}"));
        }
    }
}
