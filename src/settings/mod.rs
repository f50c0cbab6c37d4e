//! The settings file: what the user says of a run, thresholds, kernel classes and groups, as TOML beside the export.
//!
//! The one place that reads and writes it. A file given by name is used for every export; else the first of
//! `<export>.stepscope.toml` (with or without the export's ending) and `stepscope.toml` that lies beside an export is
//! used for it. Nothing is written unasked.

mod edit;
mod error;
mod fields;
#[cfg(test)]
mod tests;

pub use error::SettingsError;
pub use fields::{Fields, Problem, fields, from_fields, model_defaults};

use crate::analysis::{Params, Rules, Thresholds};
use crate::experiment::{Batch, Experiment, Model, Parallel, PeakChoice, RankPlace, Run, model_from_config};
use serde::Deserialize;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use toml_edit::DocumentMut;

/// Name of a settings file that serves every export of its folder.
pub const FILE_NAME: &str = "stepscope.toml";
/// What follows the export's name in the name of a settings file for that export alone.
const ENDING: &str = "stepscope.toml";

/// What a settings file says.
#[derive(Debug, Clone, Default)]
pub struct RunSettings {
    /// What the user says of the run.
    pub experiment: Experiment,
    /// When something is worth saying.
    pub thresholds: Thresholds,
    /// Kernel classes.
    pub rules: Rules,
}

/// Sections of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    experiment: Run,
    model: Model,
    batch: Batch,
    parallel: Parallel,
    peak: PeakChoice,
    thresholds: Thresholds,
    rank: Vec<RankPlace>,
    rule: Vec<Value>,
    group: Vec<Value>,
}

impl RunSettings {
    /// Reads a settings file and the `config.json` that it names.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        Self::parse(&text_of(path)?, path)
    }

    /// Reads settings from `text`, which `path` holds or will hold.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, SettingsError> {
        let shape = |message: String| SettingsError::Shape { path: path.to_owned(), message };
        let mut file: File = toml::from_str(text).map_err(|error| shape(error.to_string()))?;
        file.thresholds.check().map_err(shape)?;
        let rules =
            [("rule", file.rule), ("group", file.group)].map(|(name, rows)| (name.to_owned(), Value::Array(rows)));
        let rules = Table::from_iter(rules);
        let rules = Rules::parse(&rules.to_string());
        let rules = rules.map_err(|error| SettingsError::Rules { path: path.to_owned(), error })?;
        if let Some(config) = file.model.config.take() {
            let config = path.parent().unwrap_or(Path::new("")).join(config);
            let model = read_config(&config)?;
            file.model.from_config = Some(Box::new(model));
            file.model.config = Some(config);
        }
        let experiment = Experiment {
            run: file.experiment,
            model: file.model,
            batch: file.batch,
            parallel: file.parallel,
            peak: file.peak,
            ranks: file.rank,
            source: Some(path.to_owned()),
        };
        experiment.check().map_err(|invalid| SettingsError::Invalid { path: path.to_owned(), invalid })?;
        Ok(Self { experiment, thresholds: file.thresholds, rules })
    }

    /// Settings that lie beside `export`, if any do.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn beside(export: &Path) -> Result<Option<Self>, SettingsError> {
        let found = candidates(export).into_iter().find(|path| path.is_file() && !is_session(path));
        found.map(|path| Self::read(&path)).transpose()
    }

    /// Adds what the settings say to `params`; kernel classes that are there already come first.
    pub fn apply(&self, params: &mut Params) {
        params.rules.append(&self.rules);
        params.thresholds = self.thresholds;
        params.experiment = Some(self.experiment.clone());
    }
}

/// Parameters for one export: `params` as they are when they come with settings, else with those beside the export.
///
/// # Errors
/// See [`SettingsError`].
pub fn params_for(export: &Path, params: &Params) -> Result<Params, SettingsError> {
    let mut own = params.clone();
    if own.experiment.is_none()
        && let Some(settings) = RunSettings::beside(export)?
    {
        settings.apply(&mut own);
    }
    Ok(own)
}

/// Reads a Hugging Face `config.json`.
///
/// # Errors
/// See [`SettingsError`].
pub fn read_config(path: &Path) -> Result<Model, SettingsError> {
    model_from_config(&text_of(path)?).map_err(|invalid| SettingsError::Invalid { path: path.to_owned(), invalid })
}

/// Writes what the user says of the run to `path`. Of a settings file that is there already everything else stays:
/// thresholds, kernel classes, comments, order. A new file takes that over from the file that the settings came from.
///
/// # Errors
/// See [`SettingsError`]; nothing that is no settings file is overwritten.
pub fn write(experiment: &Experiment, path: &Path) -> Result<(), SettingsError> {
    if path.is_dir() {
        return Err(SettingsError::Write { path: path.to_owned(), reason: "it is a folder".to_owned() });
    }
    let source = || experiment.source.as_deref().and_then(|source| existing(source).ok()?);
    let file = existing(path)?.or_else(source).unwrap_or_default();
    write_text(&written(file, experiment, folder_of(path)), path)
}

/// Writes `text` to `path` whole or not at all: a full disk leaves the old file as it was.
///
/// # Errors
/// [`SettingsError::Write`].
pub fn write_text(text: &str, path: &Path) -> Result<(), SettingsError> {
    let failed = |error: &std::io::Error| SettingsError::Write { path: path.to_owned(), reason: reason(error) };
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path)).map_err(|error| failed(&error))?;
    file.write_all(text.as_bytes()).map_err(|error| failed(&error))?;
    file.persist(path).map_err(|error| failed(&error.error))?;
    Ok(())
}

/// What the system said, without the name of the temporary file that is put behind it.
fn reason(error: &std::io::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at path ").map_or(said.clone(), |(reason, _)| reason.to_owned())
}

/// What the user says of the run as text for a settings file in `folder`.
pub fn text_for(experiment: &Experiment, folder: &Path) -> String {
    written(DocumentMut::new(), experiment, folder)
}

/// True when `path` holds a session of the window. Its name may end as that of settings does.
pub fn is_session(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().any(|line| line.trim() == "[session]")
}

/// The settings file at `path`; `None` when there is no file.
fn existing(path: &Path) -> Result<Option<DocumentMut>, SettingsError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            return Err(SettingsError::Occupied { path: path.to_owned() });
        }
        Err(error) => return Err(SettingsError::Read { path: path.to_owned(), error }),
    };
    let document: Option<DocumentMut> = toml::from_str::<File>(&text).ok().and_then(|_| text.parse().ok());
    document.map(Some).ok_or_else(|| SettingsError::Occupied { path: path.to_owned() })
}

/// The file's text once it says `experiment`; a `config.json` below `folder` is named relative to it.
fn written(mut file: DocumentMut, experiment: &Experiment, folder: &Path) -> String {
    let mut experiment = experiment.clone();
    if let Some(config) = &experiment.model.config {
        let relative = config.strip_prefix(folder).map(Path::to_owned);
        let path = relative.or_else(|_| std::path::absolute(config)).unwrap_or_else(|_| config.clone());
        experiment.model.config = Some(path);
    }
    for (name, section) in fields::sections(&experiment) {
        edit::section(&mut file, name, &section);
    }
    edit::ranks(&mut file, &experiment.ranks);
    file.to_string()
}

/// The folder that a file of this path lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The text of the file at `path`.
///
/// # Errors
/// [`SettingsError::Read`].
pub fn text_of(path: &Path) -> Result<String, SettingsError> {
    std::fs::read_to_string(path).map_err(|error| SettingsError::Read { path: path.to_owned(), error })
}

/// Where settings for an export may lie, the most special first.
fn candidates(export: &Path) -> Vec<PathBuf> {
    let mut whole = export.as_os_str().to_owned();
    whole.push(format!(".{ENDING}"));
    vec![whole.into(), export.with_extension(ENDING), export.with_file_name(FILE_NAME)]
}
