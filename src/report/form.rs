//! The forms of a report, and how one is written to a file.

use super::text::text_of;
use super::{Capture, Report, document, html, json, markdown, notes};
use crate::experiment::Experiment;
use crate::job::file as summary_file;
use std::io::{Read as _, Write as _};
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

/// A form of summary tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableForm {
    /// For a terminal.
    Text,
    /// Comma-separated values, numbers in full.
    Csv,
    /// For programs.
    Json,
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
    #[error("{} has no ending that tells a form: use {endings}", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
        /// The endings that tell one, in words.
        endings: String,
    },
    /// A folder is there.
    #[error("{} is a folder: name a file in it", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Something else is there: an export, perhaps, that a slip of the hand would destroy.
    #[error("{} exists and was not written by stepscope, so it is not replaced: choose another name", path.display())]
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

/// Title of the page of a report.
const REPORT: &str = "stepscope report";
/// First line of reports in YAML and Markdown, and of text in a file.
const TITLE: &str = "# stepscope report\n";
/// First line of summary tables in a file, unless they are JSON.
const TABLES_TITLE: &str = "# stepscope stats\n";

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

    /// The form of a report that a file's ending tells.
    ///
    /// # Errors
    /// When it tells none.
    pub fn of_path(path: &Path) -> Result<Self, SaveError> {
        Self::among(&Self::ALL, path)
    }

    /// The one of `forms` that a file's ending tells.
    ///
    /// # Errors
    /// When it tells none of them.
    pub fn among(forms: &[Self], path: &Path) -> Result<Self, SaveError> {
        let ending = ending(path)?;
        let fits = |form: &&Self| form.endings().iter().any(|known| known.eq_ignore_ascii_case(ending));
        let usual = || forms.iter().filter_map(|form| form.endings().first().copied());
        let none = || SaveError::Ending { path: path.to_owned(), endings: one_of(usual()) };
        forms.iter().find(fits).copied().ok_or_else(none)
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
        let report = match experiment {
            Some(experiment) => Report::with_experiment(captures, Some(experiment)),
            None => Report::of(captures),
        };
        self.write_report(&report, pictures)
    }

    /// `report` in this form. Only the page shows `pictures`.
    ///
    /// # Errors
    /// Never for numbers that this program computes; the signature is that of the serializers.
    pub fn write_report(self, report: &Report, pictures: &[Picture]) -> Result<String, SaveError> {
        match self {
            Self::Text => Ok(text_of(report)),
            Self::Json => json(report).map_err(|error| SaveError::Form(error.to_string())),
            Self::Yaml => notes::yaml(report).map(|text| format!("{TITLE}{text}")).map_err(SaveError::Form),
            Self::Markdown => Ok(format!("{TITLE}\n{}", markdown::page(&document::of(report)))),
            Self::Html => Ok(html::page(REPORT, &document::of(report), pictures)),
        }
    }

    /// Writes a report in this form to `path`. Replaces a report, and nothing else.
    ///
    /// # Errors
    /// When something else is there, or the file cannot be written.
    pub fn save(self, text: &str, path: &Path) -> Result<(), SaveError> {
        save(if self == Self::Text { TITLE } else { "" }, text, path)
    }
}

impl TableForm {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Text, Self::Csv, Self::Json];

    /// Ending of its files.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }

    /// The form that a file's ending tells.
    ///
    /// # Errors
    /// When it tells none.
    pub fn of_path(path: &Path) -> Result<Self, SaveError> {
        let ending = ending(path)?;
        let fits = |form: &Self| form.ending().eq_ignore_ascii_case(ending);
        let none =
            || SaveError::Ending { path: path.to_owned(), endings: one_of(Self::ALL.into_iter().map(Self::ending)) };
        Self::ALL.into_iter().find(fits).ok_or_else(none)
    }

    /// Writes tables in this form to `path`. Replaces a report or tables of this program, and nothing else.
    ///
    /// # Errors
    /// When something else is there, or the file cannot be written.
    pub fn save(self, text: &str, path: &Path) -> Result<(), SaveError> {
        save(if self == Self::Json { "" } else { TABLES_TITLE }, text, path)
    }
}

/// Endings in words: `.txt, .csv or .json`.
fn one_of(endings: impl Iterator<Item = &'static str>) -> String {
    let endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
    match endings.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        _ => endings.concat(),
    }
}

/// The file's ending, empty without one.
fn ending(path: &Path) -> Result<&str, SaveError> {
    if path.is_dir() {
        return Err(SaveError::Folder { path: path.to_owned() });
    }
    Ok(path.extension().and_then(|ending| ending.to_str()).unwrap_or(""))
}

fn save(title: &str, text: &str, path: &Path) -> Result<(), SaveError> {
    check_target(path)?;
    write_whole(&[title.as_bytes(), text.as_bytes()], path)
}

/// Writes a summary of an export to `path`. Replaces a packed file with the ending of summaries, and nothing else.
///
/// # Errors
/// When something else is there, or the file cannot be written.
pub fn save_summary(bytes: &[u8], path: &Path) -> Result<(), SaveError> {
    let named_so = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(summary_file::ENDING));
    check_replaced(path, |start| start.is_empty() || named_so && summary_file::may_be(start))?;
    write_whole(&[bytes], path)
}

/// Writes a file whole or not at all: a full disk leaves what was there as it was.
fn write_whole(parts: &[&[u8]], path: &Path) -> Result<(), SaveError> {
    let failed = |source: std::io::Error| SaveError::Write { path: path.to_owned(), source };
    // A link stays, and what it points to is replaced.
    let target = std::fs::canonicalize(path).ok();
    let target_path = target.as_deref().unwrap_or(path);
    let folder = target_path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(failed(std::io::Error::other(format!("there is no folder {}", folder.display()))));
    }
    let mut builder = tempfile::Builder::new();
    // Others may read it as far as the user's umask allows, as of any file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The name of the temporary file says nothing to the user.
    let mut file = builder.tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
    parts.iter().try_for_each(|part| file.write_all(part)).map_err(failed)?;
    match target {
        Some(target) => file.persist(target).map_err(|error| failed(error.error))?,
        // What somebody else put there meanwhile stays.
        None => file.persist_noclobber(path).map_err(|error| failed(error.error))?,
    };
    Ok(())
}

/// Checks that a report may be written to `path`: nothing is there, or a report, or an empty file.
///
/// # Errors
/// When something else is there.
pub fn check_target(path: &Path) -> Result<(), SaveError> {
    check_replaced(path, |start| is_report(&String::from_utf8_lossy(start)))
}

/// Checks that nothing is at `path`, or a file whose first bytes `is_ours` knows.
fn check_replaced(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), SaveError> {
    let Ok(file) = std::fs::File::open(path) else { return Ok(()) };
    let facts = file.metadata().ok();
    if facts.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        return Err(SaveError::Folder { path: path.to_owned() });
    }
    let is_file = facts.is_some_and(|facts| facts.is_file());
    let mut start = Vec::new();
    let is_read = is_file && file.take(128).read_to_end(&mut start).is_ok();
    if is_read && is_ours(&start) {
        return Ok(());
    }
    Err(SaveError::Occupied { path: path.to_owned() })
}

/// True for the start of a report in any form, and for nothing at all.
fn is_report(start: &str) -> bool {
    let is_json = || start.starts_with("{\n  \"version\": \"") && start.contains("\n  \"exports\": [");
    let is_titled =
        [TITLE, TABLES_TITLE, super::compare::TITLE, html::START].iter().any(|title| start.starts_with(title));
    start.is_empty() || is_titled || is_json()
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
    fn tables_are_replaced_as_reports_are_and_say_what_they_are() {
        let form = |name: &str| TableForm::of_path(Path::new(name)).ok();
        assert_eq!(
            (form("a.CSV"), form("a.txt"), form("a.json")),
            (Some(TableForm::Csv), Some(TableForm::Text), Some(TableForm::Json))
        );
        assert_eq!((form("a.html"), form("csv")), (None, None));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tables.csv");
        for time in ["1", "2"] {
            TableForm::Csv.save(&format!("Name\n{time}\n"), &path).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{TABLES_TITLE}Name\n{time}\n"));
        }
        // NVIDIA's program writes such a file.
        std::fs::write(&path, "Time (%),Total Time (ns)\n1,2\n").unwrap();
        assert!(matches!(TableForm::Csv.save("", &path).unwrap_err(), SaveError::Occupied { .. }));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_what_it_points_to_is_replaced_for_all_to_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (real, link, plain) = ["real.md", "link.md", "plain"].map(|name| folder.path().join(name)).into();
        Form::Markdown.save(TITLE, &real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        Form::Markdown.save("# stepscope report\nnew", &link).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(std::fs::read_to_string(&real).unwrap().ends_with("new"));
        std::fs::write(&plain, "").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&real), mode(&plain), "as any new file");
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
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(matches!(Form::Text.save("", folder.path()).unwrap_err(), SaveError::Folder { .. }));
    }
}
