//! A session file: which exports are open, what was said of the run, and what is shown of them, as TOML.
//!
//! Paths below the file's own folder are written relative to it, so that a folder can be moved with its session.

use super::facts::rank_text;
use super::state::given;
use crate::experiment::Experiment;
use crate::job::ClockMode;
use crate::settings::{self, RunSettings, SettingsError};
use crate::view::{RankId, SavedView, ViewState, Workspace, lanes_of};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// How the names of session files end.
pub const ENDING: &str = ".stepscope.toml";
/// Version of the form of session files.
const VERSION: i64 = 1;

/// An open file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    /// Its path; in the file itself relative to the session's folder where it lies below it.
    pub path: PathBuf,
    /// Names of its ranks, for whoever reads the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<String>,
    /// Lanes that were expanded or collapsed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<String>,
    /// What its ranks are called, when the user renamed one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Nanoseconds that it is moved by on the axis.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shift_ns: i64,
}

/// What several files are as one job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionJob {
    /// What puts the files on one axis.
    pub clock: ClockMode,
    /// Summaries of files that are not open themselves; their paths are kept as those of files are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<PathBuf>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// What a session file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// Exports in their order.
    pub files: Vec<SessionFile>,
    /// What they are together.
    pub job: SessionJob,
    /// What is shown of them.
    pub view: SavedView,
    /// What the user said of the run.
    pub experiment: Option<Experiment>,
    /// Places worth coming back to, as they stand in the file.
    pub bookmarks: Vec<Table>,
}

/// Why a session was not read or written. Each message says where and what.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file could not be read or written, is not of the form of sessions, or what it says of the run makes no
    /// sense.
    #[error(transparent)]
    File(#[from] SettingsError),
    /// Something else is there.
    #[error("{} is there already and is no session: choose another name", path.display())]
    Occupied {
        /// The file that was left as it is.
        path: PathBuf,
    },
}

/// The head of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: i64,
}

/// Sections of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sections {
    session: Head,
    #[serde(default)]
    file: Vec<SessionFile>,
    #[serde(default)]
    view: SavedView,
    #[serde(default)]
    job: SessionJob,
    #[serde(default)]
    settings: Option<Table>,
    #[serde(default)]
    bookmark: Vec<Table>,
}

impl Session {
    /// What is open and shown.
    pub fn of(workspace: &Workspace, state: &ViewState) -> Self {
        let file = |(at, doc): (usize, &crate::view::Doc)| SessionFile {
            path: absolute(&doc.trace.source.path),
            ranks: (0..doc.trace.ranks.len()).map(|rank| rank_text(workspace, RankId { doc: at, rank })).collect(),
            lanes: lanes_of(state, at),
            labels: if given(doc).is_empty() {
                Vec::new()
            } else {
                doc.summary.ranks.iter().map(|rank| rank.label.clone()).collect()
            },
            shift_ns: workspace.options.shift_ns.get(at).copied().unwrap_or(0),
        };
        Self {
            files: workspace.docs.iter().enumerate().map(file).collect(),
            job: SessionJob { clock: workspace.options.clock, summaries: Vec::new() },
            view: SavedView::of(state),
            experiment: workspace.experiment.clone(),
            bookmarks: Vec::new(),
        }
    }

    /// Reads a session; its paths come back as they can be opened.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn read(path: &Path) -> Result<Self, SessionError> {
        Ok(Self::parse(&settings::text_of(path)?, path)?)
    }

    /// Reads a session from the `text` that `path` holds.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, SettingsError> {
        let shape = |message: String| SettingsError::Shape { path: path.to_owned(), message };
        let head = text.parse::<Table>().map_err(|error| shape(error.to_string()))?;
        let version = head.get("session").and_then(|session| session.get("version")).and_then(Value::as_integer);
        if let Some(version) = version.filter(|version| *version != VERSION) {
            return Err(shape(format!(
                "the session has form {version}, and this version of stepscope reads form {VERSION}"
            )));
        }
        let sections: Sections = toml::from_str(text).map_err(|error| shape(error.to_string()))?;
        debug_assert_eq!(sections.session.version, VERSION);
        if sections.file.is_empty() {
            return Err(shape("the session names no file: it needs a section [[file]] with a path".to_owned()));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let file = |file: SessionFile| SessionFile { path: folder.join(&file.path), ..file };
        let settings = sections.settings.map(|table| RunSettings::parse(&table.to_string(), path)).transpose()?;
        Ok(Self {
            files: sections.file.into_iter().map(file).collect(),
            job: SessionJob {
                summaries: sections.job.summaries.iter().map(|path| folder.join(path)).collect(),
                ..sections.job
            },
            view: sections.view,
            experiment: settings.map(|settings| Experiment { source: None, ..settings.experiment }),
            bookmarks: sections.bookmark,
        })
    }

    /// The session as text for a file in `folder`.
    pub fn to_text(&self, folder: &Path) -> String {
        let mut file = Table::new();
        file.insert("session".to_owned(), Value::Table(Table::from_iter([("version".to_owned(), VERSION.into())])));
        let folder = absolute(folder);
        let near = |path: &Path| {
            let path = absolute(path);
            path.strip_prefix(&folder).map_or_else(|_| path.clone(), Path::to_owned)
        };
        let files =
            self.files.iter().map(|file| Value::try_from(SessionFile { path: near(&file.path), ..file.clone() }).ok());
        file.insert("file".to_owned(), Value::Array(files.flatten().collect()));
        let summaries = self.job.summaries.iter().map(|path| near(path)).collect();
        if self.job != SessionJob::default()
            && let Ok(job) = Value::try_from(SessionJob { summaries, ..self.job.clone() })
        {
            file.insert("job".to_owned(), job);
        }
        if let Ok(view) = Value::try_from(&self.view) {
            file.insert("view".to_owned(), view);
        }
        if let Some(Ok(said)) = self.experiment.as_ref().map(|said| settings::text_for(said, &folder).parse::<Table>())
        {
            file.insert("settings".to_owned(), Value::Table(said));
        }
        if !self.bookmarks.is_empty() {
            let bookmarks = self.bookmarks.iter().cloned().map(Value::Table).collect();
            file.insert("bookmark".to_owned(), Value::Array(bookmarks));
        }
        file.to_string()
    }

    /// Writes the session. Replaces a session, and nothing else.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn write(&self, path: &Path) -> Result<(), SessionError> {
        if path.exists() && !settings::is_session(path) {
            return Err(SessionError::Occupied { path: path.to_owned() });
        }
        Ok(settings::write_text(&self.to_text(settings::folder_of(path)), path)?)
    }
}

/// The path with the ending of sessions.
pub fn with_ending(path: PathBuf) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.ends_with(ENDING) {
        return path;
    }
    let stem = name.strip_suffix(".toml").unwrap_or(&name);
    path.with_file_name(format!("{stem}{ENDING}"))
}

fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Run;
    use crate::view::Panel;
    use proptest::prelude::*;

    fn said(text: &str) -> String {
        Session::parse(text, Path::new("/runs/a.stepscope.toml")).unwrap_err().to_string()
    }

    #[test]
    fn files_below_the_session_are_relative_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let file = |path: PathBuf| SessionFile { path, lanes: vec!["compute/0".to_owned()], ..SessionFile::default() };
        let session = Session {
            files: vec![
                SessionFile {
                    labels: vec!["the slow one".to_owned()],
                    shift_ns: -7,
                    ..file(root.join("sub/rank0.sqlite"))
                },
                file("/elsewhere/rank1.sqlite".into()),
            ],
            job: SessionJob { clock: ClockMode::StepStart, summaries: vec![root.join("sub/rank2.summary")] },
            view: SavedView {
                start_ns: Some(5.0),
                len_ns: Some(100.5),
                panel: Some(Panel::Gaps),
                ..SavedView::default()
            },
            experiment: Some(Experiment { run: Run { gpus: Some(8), ..Run::default() }, ..Experiment::default() }),
            bookmarks: vec![Table::from_iter([("name".to_owned(), "here".into())])],
        };
        let path = root.join("run.stepscope.toml");
        session.write(&path).unwrap();
        session.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("path = \"sub/rank0.sqlite\"") && text.contains("/elsewhere/rank1.sqlite"), "{text}");
        assert_eq!(Session::read(&path).unwrap(), session);
        assert!(settings::is_session(&path));
        let export = root.join("rank0.sqlite");
        std::fs::write(&export, "SQLite format 3").unwrap();
        assert!(matches!(session.write(&export), Err(SessionError::Occupied { .. })));
    }

    #[test]
    fn what_is_wrong_with_a_session_is_named() {
        let head = "[session]\nversion = 1\n";
        for (text, expected) in [
            ("", "session"),
            ("[session]\nversion = 9\n", "form 9"),
            (head, "names no file"),
            (&format!("{head}[[file]]\npath = \"a\"\ncolour = 3\n"), "colour"),
            (&format!("{head}[[file]]\npath = \"a\"\n[vista]\n"), "vista"),
            (&format!("{head}[[file]]\npath = \"a\"\n[view]\nangle = 3\n"), "angle"),
            (&format!("{head}[[file]]\npath = \"a\"\n[settings.model]\nlayerz = 3\n"), "layerz"),
            ("[session", "TOML"),
        ] {
            assert!(said(text).contains(expected), "{text}: {}", said(text));
        }
    }

    #[test]
    fn names_get_the_ending_once() {
        for (given, expected) in [
            ("/a/run", "/a/run.stepscope.toml"),
            ("/a/run.toml", "/a/run.stepscope.toml"),
            ("b.stepscope.toml", "b.stepscope.toml"),
        ] {
            assert_eq!(with_ending(given.into()), PathBuf::from(expected));
        }
    }

    proptest! {
        #[test]
        fn every_session_comes_back_as_it_was(
            names in proptest::collection::vec("[a-zA-Zäß \"'#=\\[\\]&%]{1,20}", 1..5),
            lanes in proptest::collection::vec("[a-z/0-9]{1,12}", 0..4),
            start in -1e15..1e15_f64,
            len in 1.0..1e15_f64,
            selected in proptest::option::of((-1_000_000_i64..1_000_000, 1_i64..1_000_000)),
        ) {
            let files = names.iter().map(|name| SessionFile {
                path: Path::new("/nowhere/at/all").join(name),
                ranks: vec![name.clone()],
                lanes: lanes.clone(),
                labels: lanes.clone(),
                shift_ns: start as i64,
            });
            let view = SavedView {
                start_ns: Some(start),
                len_ns: Some(len),
                selection_start_ns: selected.map(|(from, _)| from),
                selection_end_ns: selected.map(|(from, len)| from + len),
                ..SavedView::default()
            };
            let session = Session { files: files.collect(), view, ..Session::default() };
            let text = session.to_text(Path::new("/nowhere/at"));
            let again = Session::parse(&text, Path::new("/nowhere/at/x.stepscope.toml")).unwrap();
            prop_assert_eq!(again, session);
        }
    }
}
