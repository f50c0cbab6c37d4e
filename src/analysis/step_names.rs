//! Which NVTX ranges mark steps.

use super::StepOptions;
use crate::trace::{NameId, RangeKind, Thread, Trace};
use crate::units::Span;
use rustc_hash::FxHashMap;

/// Words that name a step, in lower case; the longer ones only matter for the stem's look.
const WORDS: &[&str] =
    &["step", "iteration", "iter", "batch", "profilerstep", "globalstep", "trainstep", "trainingstep"];

/// One range of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepRange {
    pub span: Span,
    pub number: Option<i64>,
    pub name: String,
}

/// The ranges that mark the steps of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Family {
    pub stem: String,
    pub thread: usize,
    /// Sorted by start, then end, then number.
    pub ranges: Vec<StepRange>,
}

/// What a range's name says about steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker<'a> {
    /// A step word and a counter.
    Numbered { stem: &'a str, number: i64 },
    /// A step word alone, or what the user's pattern matched without a number.
    Bare,
}

/// The family of step ranges of a process: one with counters before one without; of several the one that covers the
/// most time.
pub(super) fn families(trace: &Trace, process: usize, gpu_span: Span, options: &StepOptions) -> Option<Family> {
    let mut found: FxHashMap<(usize, &str, bool), Vec<StepRange>> = FxHashMap::default();
    let mut order: Vec<(usize, &str, bool)> = Vec::new();
    let mut known: FxHashMap<NameId, Option<Marker<'_>>> = FxHashMap::default();
    let pattern = options.pattern.as_ref();
    for (at, thread) in trace.threads.iter().enumerate().filter(|(_, t)| t.process == process) {
        for range in 0..thread.nvtx.len() {
            let id = thread.nvtx.name[range];
            let name = trace.name(id);
            let marker = *known.entry(id).or_insert_with(|| match pattern {
                Some(pattern) => by_pattern(pattern, name),
                None => by_words(name),
            });
            let Some(marker) = marker.filter(|_| !thread.nvtx.open[range]) else { continue };
            let (stem, number) = match marker {
                Marker::Numbered { stem, number } => (stem, Some(number)),
                Marker::Bare => (pattern.map_or(name, regex::Regex::as_str), None),
            };
            let key = (at, stem, number.is_some());
            let rows = found.entry(key).or_insert_with(|| {
                order.push(key);
                Vec::new()
            });
            rows.push(StepRange { span: thread.nvtx.span(range), number, name: name.to_owned() });
        }
    }
    let covered = |rows: &[StepRange]| rows.iter().map(|r| i128::from(r.span.len_ns())).sum::<i128>();
    let mut best: Option<(bool, i128, (usize, &str, bool))> = None;
    for key in order {
        let (thread, _, numbered) = key;
        let Some(rows) = found.get_mut(&key) else { continue };
        rows.sort_by(|a, b| (a.span, a.number, &a.name).cmp(&(b.span, b.number, &b.name)));
        let cover = covered(rows);
        let fits = match (pattern, numbered) {
            (Some(_), _) => true,
            (None, true) => rows.len() >= 2,
            (None, false) => {
                let covers = rows.len() >= 3 && cover * 2 > i128::from(gpu_span.len_ns());
                covers && trace.threads.get(thread).is_some_and(|t| all_at_top_level(t, rows))
            }
        };
        if fits && best.is_none_or(|(n, c, _)| (numbered, cover) > (n, c)) {
            best = Some((numbered, cover, key));
        }
    }
    let (_, _, key) = best?;
    let ranges = found.remove(&key)?;
    Some(Family { stem: key.1.to_owned(), thread: key.0, ranges })
}

/// True when none of `rows` (sorted) begins inside another push/pop range of the thread. One sweep.
fn all_at_top_level(thread: &Thread, rows: &[StepRange]) -> bool {
    let mut reach_ns = i64::MIN;
    for at in (0..thread.nvtx.len()).filter(|at| thread.nvtx.kind[*at] == RangeKind::PushPop) {
        let span = thread.nvtx.span(at);
        if span.start_ns < reach_ns && rows.binary_search_by(|row| row.span.cmp(&span)).is_ok() {
            return false;
        }
        reach_ns = reach_ns.max(span.end_ns);
    }
    true
}

/// A name that ends in a step word, with or without a counter behind it: `step 3`, `train_step_0010`,
/// `ProfilerStep#10`, `iteration: 5`.
fn by_words(name: &str) -> Option<Marker<'_>> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == name.len() {
        return ends_in_step_word(name).then_some(Marker::Bare);
    }
    let digits = &name[stem.len()..];
    let word = stem.trim_end();
    let word = word.strip_suffix(['#', ':', '=', '_', '-']).unwrap_or(word).trim_end();
    if !ends_in_step_word(word) {
        return None;
    }
    digits.parse().ok().map(|number| Marker::Numbered { stem, number })
}

/// True when `text` ends in a step word that is not the tail of a longer word.
fn ends_in_step_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    WORDS.iter().any(|word| {
        let Some(at) = bytes.len().checked_sub(word.len()) else { return false };
        let (before, tail) = bytes.split_at(at);
        tail.eq_ignore_ascii_case(word.as_bytes()) && !before.last().is_some_and(u8::is_ascii_alphabetic)
    })
}

/// The user's pattern: its first group, when it is a number, is the counter.
fn by_pattern<'a>(pattern: &regex::Regex, name: &'a str) -> Option<Marker<'a>> {
    let groups = pattern.captures(name)?;
    let counter = groups.get(1).and_then(|group| Some((group.start(), group.as_str().parse().ok()?)));
    Some(match counter {
        Some((start, number)) => Marker::Numbered { stem: &name[..start], number },
        None => Marker::Bare,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_the_field_are_step_markers() {
        let cases = [
            ("step 3", "step ", 3),
            ("train_step_0010", "train_step_", 10),
            ("ProfilerStep#10", "ProfilerStep#", 10),
            ("iteration 5", "iteration ", 5),
            ("global_step=7", "global_step=", 7),
            ("epoch 1 batch: 12", "epoch 1 batch: ", 12),
            ("iter-4", "iter-", 4),
            ("Step4", "Step", 4),
        ];
        for (name, stem, number) in cases {
            assert_eq!(by_words(name), Some(Marker::Numbered { stem, number }), "{name}");
        }
        assert_eq!(by_words("train_step"), Some(Marker::Bare));
        for name in ["footstep 3", "step", "aten::mm, op_id = 3", "layer 3", "step 3a", "minibatch 3", "3", ""] {
            assert!(!matches!(by_words(name), Some(Marker::Numbered { .. })), "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_parser_equals_the_pattern_it_stands_for(
            name in "[a ]{0,2}(step|Iter|iteration|batch|global_?step|training_?step|ProfilerStep|layer)?[ ]{0,2}[#:=_-]{0,2}[ ]{0,1}[0-9]{0,3}[b]?",
        ) {
            let pattern = regex::Regex::new(
                r"(?i)(?:^|[^A-Za-z])(?:profiler_?step|global_?step|train(?:ing)?_?step|step|iteration|iter|batch)\s*[#:=_\-]?\s*([0-9]+)$",
            ).unwrap();
            let slow = by_pattern(&pattern, &name);
            let fast = by_words(&name).filter(|m| matches!(m, Marker::Numbered { .. }));
            prop_assert_eq!(fast, slow);
        }
    }
}
