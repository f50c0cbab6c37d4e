//! The forms of a report, and how one is written to a file.

use super::text::text_of;
use super::{Capture, Report, document, html, json, markdown, notes};
use crate::experiment::Experiment;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// For a terminal.
    Text,
    /// For programs: every number.
    Json,
    /// Notes of an experiment: a page of YAML.
    Yaml,
    /// A document with tables.
    Markdown,
    /// A page of its own with tables and pictures.
    Html,
}

/// A picture of the timeline for the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// What it shows.
    pub caption: String,
    /// PNG file on a light background.
    pub light_png: Vec<u8>,
    /// PNG file on a dark background.
    pub dark_png: Vec<u8>,
}

/// Why a report was not written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The report has no such form.
    #[error("cannot write the report in this form: {0}")]
    Form(String),
    /// The ending tells no form.
    #[error("{} has no ending that tells a form: use .txt, .json, .yaml, .md or .html", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// Something else is there: an export, perhaps, that a slip of the hand would destroy.
    #[error("{} exists and is no report of stepscope, so it is not replaced: choose another name", path.display())]
    Occupied {
        /// The file that was left as it is.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot write {}: {source}; choose another folder or free some space", path.display())]
    Write {
        /// Where it should have gone.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// First line of reports in YAML and Markdown, and of text in a file.
const TITLE: &str = "# stepscope report\n";

impl Form {
    /// All forms.
    pub const ALL: [Self; 5] = [Self::Html, Self::Markdown, Self::Text, Self::Json, Self::Yaml];

    /// What it is called in file dialogs.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Text => "Text",
            Self::Json => "JSON",
            Self::Yaml => "YAML notes",
            Self::Markdown => "Markdown",
            Self::Html => "HTML page",
        }
    }

    /// Endings of its files, the usual one first.
    pub const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["txt"],
            Self::Json => &["json"],
            Self::Yaml => &["yaml", "yml"],
            Self::Markdown => &["md", "markdown"],
            Self::Html => &["html", "htm"],
        }
    }

    /// The form that a file's ending tells.
    ///
    /// # Errors
    /// When it tells none.
    pub fn of_path(path: &Path) -> Result<Self, SaveError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        let fits = |form: &Self| form.endings().iter().any(|known| known.eq_ignore_ascii_case(ending));
        Self::ALL.into_iter().find(fits).ok_or_else(|| SaveError::Ending { path: path.to_owned() })
    }

    /// The report of some captures of the run that `experiment` describes. Only the page shows `pictures`.
    ///
    /// # Errors
    /// Never for numbers that this program computes; the signature is that of the serializers.
    pub fn write(
        self,
        captures: &[Capture<'_>],
        experiment: Option<&Experiment>,
        pictures: &[Picture],
    ) -> Result<String, SaveError> {
        let report = || match experiment {
            Some(experiment) => Report::with_experiment(captures, Some(experiment)),
            None => Report::of(captures),
        };
        match self {
            Self::Text => Ok(text_of(&report())),
            Self::Json => json(&report()).map_err(|error| SaveError::Form(error.to_string())),
            Self::Yaml => notes::yaml(&report()).map(|text| format!("{TITLE}{text}")).map_err(SaveError::Form),
            Self::Markdown => Ok(format!("{TITLE}\n{}", markdown::page(&document::of(&report())))),
            Self::Html => Ok(html::page(&document::of(&report()), pictures)),
        }
    }

    /// Writes a report in this form to `path`. Replaces a report, and nothing else.
    ///
    /// # Errors
    /// When something else is there, or the file cannot be written.
    pub fn save(self, text: &str, path: &Path) -> Result<(), SaveError> {
        check_target(path)?;
        let title = if self == Self::Text { TITLE } else { "" };
        std::fs::write(path, format!("{title}{text}"))
            .map_err(|source| SaveError::Write { path: path.to_owned(), source })
    }
}

/// Checks that a report may be written to `path`: nothing is there, or a report, or an empty file.
///
/// # Errors
/// When something else is there.
pub fn check_target(path: &Path) -> Result<(), SaveError> {
    let Ok(file) = std::fs::File::open(path) else { return Ok(()) };
    let is_file = file.metadata().is_ok_and(|facts| facts.is_file());
    let mut start = Vec::new();
    let is_read = is_file && file.take(128).read_to_end(&mut start).is_ok();
    if is_read && is_report(&String::from_utf8_lossy(&start)) {
        return Ok(());
    }
    Err(SaveError::Occupied { path: path.to_owned() })
}

/// True for the start of a report in any form, and for nothing at all.
fn is_report(start: &str) -> bool {
    let is_json = || start.starts_with("{\n  \"version\": \"") && start.contains("\n  \"exports\": [");
    start.is_empty() || start.starts_with(TITLE) || start.starts_with(html::START) || is_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_form() {
        let form = |name: &str| Form::of_path(Path::new(name)).ok();
        assert_eq!(form("a/run.1.HTML"), Some(Form::Html));
        assert_eq!(
            (form("x.yml"), form("x.md"), form("x.txt")),
            (Some(Form::Yaml), Some(Form::Markdown), Some(Form::Text))
        );
        assert_eq!((form("x.sqlite"), form("html")), (None, None));
        for form in Form::ALL {
            assert_eq!(Form::of_path(&Path::new("x").with_extension(form.endings()[0])).ok(), Some(form));
        }
    }

    #[test]
    fn a_report_replaces_a_report_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.out");
        for form in Form::ALL {
            let text = form.write(&[], None, &[]).unwrap();
            form.save(&text, &path).unwrap();
            assert!(std::fs::read_to_string(&path).unwrap().ends_with(&text), "{form:?}");
        }
        for other in ["SQLite format 3\0", "{\"version\": 1}", "# my notes\n", "[experiment]\n"] {
            std::fs::write(&path, other).unwrap();
            let refused = Form::Json.save("{}", &path).unwrap_err();
            assert!(matches!(refused, SaveError::Occupied { .. }), "{refused}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        }
        std::fs::write(&path, "").unwrap();
        Form::Json.save("{}", &path).unwrap();
        assert!(matches!(Form::Text.save("", folder.path()).unwrap_err(), SaveError::Occupied { .. }));
    }
}
