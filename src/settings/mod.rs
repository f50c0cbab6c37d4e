//! The settings file: what the user says of a run, thresholds, kernel classes and groups, as TOML beside the export.
//!
//! The one place that reads and writes it. A file given by name is used for every export; else the first of
//! `<export>.stepscope.toml` (with or without the export's ending) and `stepscope.toml` that lies beside an export is
//! used for it. Nothing is written unasked.

mod edit;
mod fields;

pub use fields::{Fields, Problem, fields, from_fields, model_defaults};

use crate::analysis::{Params, Rules, RulesError, Thresholds};
use crate::experiment::{Batch, Experiment, Invalid, Model, Parallel, PeakChoice, Run, model_from_config};
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

/// Why settings could not be read or written. Each message says where and what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The text is not TOML of the documented shape.
    #[error("{}: {message}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Where and what.
        message: String,
    },
    /// A setting is out of its range or contradicts another.
    #[error("{}: {invalid}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Which and why.
        invalid: Invalid,
    },
    /// A kernel rule is not right.
    #[error("{}: {error}", path.display())]
    Rules {
        /// The file.
        path: PathBuf,
        /// Which and why.
        error: RulesError,
    },
    /// The file to write is there already and holds something else.
    #[error("{} is there already and is no settings file: choose another name", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot write {}: {reason}; choose another folder or name", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
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
    let failed = |error: &std::io::Error| SettingsError::Write { path: path.to_owned(), reason: reason(error) };
    if path.is_dir() {
        return Err(SettingsError::Write { path: path.to_owned(), reason: "it is a folder".to_owned() });
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let source = || experiment.source.as_deref().and_then(|source| existing(source).ok()?);
    let file = existing(path)?.or_else(source).unwrap_or_default();
    let text = written(file, experiment, folder);
    // Whole or not at all: a full disk leaves the old file as it was.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
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
    file.to_string()
}

fn text_of(path: &Path) -> Result<String, SettingsError> {
    std::fs::read_to_string(path).map_err(|error| SettingsError::Read { path: path.to_owned(), error })
}

/// Where settings for an export may lie, the most special first.
fn candidates(export: &Path) -> Vec<PathBuf> {
    let mut whole = export.as_os_str().to_owned();
    whole.push(format!(".{ENDING}"));
    vec![whole.into(), export.with_extension(ENDING), export.with_file_name(FILE_NAME)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Convention, Dtype, Recompute};

    const FULL: &str = r#"
[experiment]
name = "baseline"
convention = "megatron-full"
recompute = "selective"
dtype = "bf16"
gpus = 16
step_time_ms = 420

[model]
preset = "llama-3-8b"
layers = 16
parameters = 4e9

[batch]
sequences = 64
micro_batches = 4
sequence_length = 8192

[parallel]
tp = 2
pp = 2
interleave = 2

[peak]
tflops = 312

[thresholds]
verdict_share = 0.2

[[rule]]
pattern = "my_kernel"
class = "gemm"

[[group]]
name = "mine"
pattern = "my_"
"#;

    fn parse(text: &str) -> Result<RunSettings, String> {
        RunSettings::parse(text, Path::new("job/stepscope.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn every_section_is_read() {
        let settings = parse(FULL).unwrap();
        let said = &settings.experiment;
        assert_eq!(
            (said.run.convention, said.run.recompute),
            (Some(Convention::MegatronFull), Some(Recompute::Selective))
        );
        assert_eq!((said.run.dtype, said.run.gpus, said.run.step_time_ms), (Some(Dtype::Bf16), Some(16), Some(420.0)));
        assert_eq!((said.model.layers, said.peak.tflops), (Some(16), Some(312.0)));
        assert_eq!(settings.thresholds.verdict_share, 0.2);
        let mut params = Params::default();
        settings.apply(&mut params);
        assert_eq!(params.experiment.unwrap().source, Some("job/stepscope.toml".into()));
    }

    #[test]
    fn mistakes_name_the_file_the_key_and_what_is_allowed() {
        let cases = [
            ("[experiment]\ndtyp = 'bf16'", "unknown field `dtyp`"),
            ("[experiment]\ndtype = 'bf17'", "`bf16`"),
            ("[experiment]\ngpus = -2", "-2"),
            ("[experiment]\ngpus = 'many'", "line 2"),
            ("[experiment]\nconvention = 'mine'", "`torchtitan`"),
            ("[modell]\nlayers = 3", "unknown field `modell`"),
            ("[model]\npreset = 'gpt5'", "llama-3-8b"),
            ("[model]\nlayers = 3", "model.hidden is missing"),
            ("[batch]\nmicro_batches = 2\ngradient_accumulation = 2", "duplicate"),
            ("[experiment]\ngpus = 8\n[parallel]\ndp = 2\ntp = 2", "2 x 2 is not 8"),
            ("[[rule]]\npattern = '('\nclass = 'gemm'", "rule 1"),
            ("[thresholds]\nnonsense = 1", "nonsense"),
            ("layers", "TOML"),
        ];
        for (text, word) in cases {
            let message = parse(text).unwrap_err();
            assert!(message.starts_with("job/stepscope.toml: ") && message.contains(word), "{text}: {message}");
        }
    }

    #[test]
    fn written_settings_read_back_the_same_and_keep_rules_and_thresholds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, FULL).unwrap();
        let before = RunSettings::read(&path).unwrap();
        let mut changed = before.experiment.clone();
        changed.run.gpus = Some(32);
        write(&changed, &path).unwrap();
        let after = RunSettings::read(&path).unwrap();
        assert_eq!(after.experiment, changed);
        assert_eq!(after.thresholds, before.thresholds);
        assert!(std::fs::read_to_string(&path).unwrap().contains("my_kernel"));
    }

    #[test]
    fn a_saved_file_keeps_comments_and_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let commented = FULL.replace("gpus = 16", "gpus = 16 # two nodes").replace("[peak]", "# Dense.\n[peak]");
        std::fs::write(&path, &commented).unwrap();
        let mut changed = RunSettings::read(&path).unwrap().experiment;
        write(&changed, &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), commented);
        changed.run.gpus = Some(32);
        write(&changed, &path).unwrap();
        let expected = commented.replace("gpus = 16", "gpus = 32");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        let copy = folder.path().join("copy.toml");
        write(&changed, &copy).unwrap();
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), expected, "kernel classes and thresholds go along");
    }

    #[test]
    fn a_failed_save_names_the_file_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("nowhere/stepscope.toml"), folder.path().to_owned()] {
            let message = write(&Experiment::default(), &path).unwrap_err().to_string();
            assert!(message.contains(&path.display().to_string()) && message.contains("choose another"), "{message}");
            assert!(!message.contains("nowhere/.tmp"), "{message}");
        }
    }

    #[test]
    fn files_that_are_no_settings_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.toml");
        for text in ["[package]\nname = 'x'\n".as_bytes(), &[0xff, 0xfe]] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(write(&Experiment::default(), &path), Err(SettingsError::Occupied { .. })));
            assert_eq!(std::fs::read(&path).unwrap(), text);
        }
    }

    #[test]
    fn the_most_special_settings_beside_an_export_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("rank0.sqlite");
        let gpus = || RunSettings::beside(&export).unwrap().map(|settings| settings.experiment.run.gpus.unwrap());
        assert_eq!(gpus(), None);
        for (name, count) in [(FILE_NAME, 1), ("rank0.stepscope.toml", 2), ("rank0.sqlite.stepscope.toml", 3)] {
            std::fs::write(folder.path().join(name), format!("[experiment]\ngpus = {count}\n")).unwrap();
            assert_eq!(gpus(), Some(count));
        }
        let given = Params { experiment: Some(Experiment::default()), ..Params::default() };
        assert_eq!(
            params_for(&export, &given).unwrap().experiment,
            given.experiment,
            "given settings are not replaced"
        );
        std::fs::write(folder.path().join("rank0.sqlite.stepscope.toml"), "nonsense").unwrap();
        assert!(RunSettings::beside(&export).is_err());
    }

    #[test]
    fn a_model_config_is_found_relative_to_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("model")).unwrap();
        let config =
            r#"{"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257}"#;
        std::fs::write(folder.path().join("model/config.json"), config).unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, "[model]\nconfig = 'model/config.json'\nlayers = 24\n").unwrap();
        let settings = RunSettings::read(&path).unwrap();
        let shape = settings.experiment.model.shape().unwrap().unwrap();
        assert_eq!((shape.layers, shape.hidden, shape.vocab), (24, 768, Some(50_257)));
        write(&settings.experiment, &path).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("config = 'model/config.json'"));
        std::fs::write(&path, "[model]\nconfig = 'nowhere.json'\n").unwrap();
        assert!(RunSettings::read(&path).unwrap_err().to_string().contains("nowhere.json"));
    }
}
