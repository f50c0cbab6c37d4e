//! Settings as lines of a form: every key with its text, and back. The form and the file are read by the same rules.

use crate::experiment::{Batch, Experiment, Model, Parallel, PeakChoice, Run};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// Text by key, such as `batch.sequences`; a key without text is not given.
pub type Fields = BTreeMap<String, String>;

/// What is wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key.
    pub key: String,
    /// What is wrong and what is allowed.
    pub why: String,
}

/// Keys whose value is text even if it looks like a number.
const TEXTS: [&str; 5] = ["experiment.name", "experiment.notes", "model.preset", "model.config", "peak.gpu"];

/// The settings as lines.
pub fn fields(experiment: &Experiment) -> Fields {
    let mut all = Fields::new();
    for (section, table) in sections(experiment) {
        all.extend(table.into_iter().map(|(key, value)| (format!("{section}.{key}"), shown(&value))));
    }
    all
}

/// What preset and `config.json` say of the model, as lines: what is in force where nothing is typed.
pub fn model_defaults(model: &Model) -> Fields {
    let merged = Model { preset: None, config: None, ..model.merged().unwrap_or_default() };
    fields(&Experiment { model: merged, ..Experiment::default() })
}

/// The settings that the lines say; the model's file stays that of `base` while its name does.
///
/// # Errors
/// Every line that cannot be read, else every contradiction.
pub fn from_fields(fields: &Fields, base: &Experiment) -> Result<Experiment, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut tables: BTreeMap<&str, Table> = BTreeMap::new();
    for (path, text) in fields.iter().filter(|(_, text)| !text.trim().is_empty()) {
        let Some((section, key)) = path.split_once('.') else { continue };
        let value = value(path, text.trim());
        match check(section, Table::from_iter([(key.to_owned(), value.clone())])) {
            Ok(()) => {
                tables.entry(section).or_default().insert(key.to_owned(), value);
            }
            Err(why) => problems.push(Problem { key: path.clone(), why: format!("{:?}: {why}", text.trim()) }),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut section = |name: &str| Value::Table(tables.remove(name).unwrap_or_default());
    let mut read = || -> Result<Experiment, toml::de::Error> {
        Ok(Experiment {
            run: section("experiment").try_into()?,
            model: section("model").try_into()?,
            batch: section("batch").try_into()?,
            parallel: section("parallel").try_into()?,
            peak: section("peak").try_into()?,
            ranks: base.ranks.clone(),
            source: base.source.clone(),
        })
    };
    let mut experiment =
        read().map_err(|error| vec![Problem { key: String::new(), why: error.message().to_owned() }])?;
    if experiment.model.config == base.model.config {
        experiment.model.from_config.clone_from(&base.model.from_config);
    }
    let problems: Vec<Problem> = experiment
        .problems()
        .into_iter()
        .map(|invalid| Problem { key: invalid.key.to_owned(), why: invalid.why })
        .collect();
    if problems.is_empty() { Ok(experiment) } else { Err(problems) }
}

/// The sections as tables.
pub(super) fn sections(experiment: &Experiment) -> Vec<(&'static str, Table)> {
    let all = [
        ("experiment", Table::try_from(&experiment.run)),
        ("model", Table::try_from(&experiment.model)),
        ("batch", Table::try_from(&experiment.batch)),
        ("parallel", Table::try_from(&experiment.parallel)),
        ("peak", Table::try_from(&experiment.peak)),
    ];
    // These structs hold nothing that TOML cannot say.
    all.into_iter().map(|(name, table)| (name, table.unwrap_or_default())).collect()
}

/// Reads one section with a single line in it.
fn check(section: &str, table: Table) -> Result<(), String> {
    let read = |table: Table| match section {
        "experiment" => table.try_into::<Run>().map(drop),
        "model" => table.try_into::<Model>().map(drop),
        "batch" => table.try_into::<Batch>().map(drop),
        "parallel" => table.try_into::<Parallel>().map(drop),
        _ => table.try_into::<PeakChoice>().map(drop),
    };
    read(table).map_err(|error| {
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        if message.contains("expected u64") {
            "must be a whole number".to_owned()
        } else if message.contains("expected f64") {
            "must be a number".to_owned()
        } else {
            message
        }
    })
}

fn value(path: &str, text: &str) -> Value {
    if TEXTS.contains(&path) {
        return Value::String(text.to_owned());
    }
    // Numbers are often pasted with their groups set apart.
    let plain: String = text.chars().filter(|c| !matches!(c, '_' | '\u{2009}' | ' ')).collect();
    let number = plain.parse::<i64>().map(Value::Integer).or_else(|_| plain.parse::<f64>().map(Value::Float));
    match (number, text) {
        (Ok(number), _) => number,
        (Err(_), "true") => Value::Boolean(true),
        (Err(_), "false") => Value::Boolean(false),
        _ => Value::String(text.to_owned()),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Convention, Dtype};

    fn lines(of: &[(&str, &str)]) -> Fields {
        of.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn lines_become_settings_and_settings_lines() {
        let typed = lines(&[
            ("experiment.name", "2024"),
            ("experiment.dtype", "bf16"),
            ("experiment.convention", "megatron"),
            ("model.parameters", "125e6"),
            ("model.layers", ""),
            ("batch.sequences", " 1\u{2009}024 "),
            ("peak.sparse", "true"),
        ]);
        let experiment = from_fields(&typed, &Experiment::default()).unwrap();
        assert_eq!(experiment.run.name.as_deref(), Some("2024"));
        assert_eq!((experiment.run.dtype, experiment.run.convention), (Some(Dtype::Bf16), Some(Convention::Megatron)));
        assert_eq!((experiment.model.parameters, experiment.batch.sequences), (Some(125e6), Some(1024)));
        assert!(experiment.peak.sparse);
        let again = fields(&experiment);
        assert_eq!((again["model.parameters"].as_str(), again["batch.sequences"].as_str()), ("125000000", "1024"));
        assert_eq!(from_fields(&again, &Experiment::default()), Ok(experiment));
    }

    #[test]
    fn a_wrong_line_is_named_with_what_is_allowed() {
        let of = |key: &str, text: &str| from_fields(&lines(&[(key, text)]), &Experiment::default()).unwrap_err();
        let layers = of("model.layers", "many");
        assert_eq!(
            (layers[0].key.as_str(), layers[0].why.as_str()),
            ("model.layers", "\"many\": must be a whole number")
        );
        assert!(of("experiment.step_time_ms", "fast")[0].why.contains("must be a number"));
        assert!(of("experiment.dtype", "bf17")[0].why.contains("bf16"));
        assert_eq!(of("parallel.interleave", "2")[0].key, "parallel.interleave");
        assert_eq!(of("model.layers", "12")[0].key, "model.hidden");
    }

    #[test]
    fn a_preset_says_what_is_in_force() {
        let model = Model { preset: Some("llama-3-8b".to_owned()), layers: Some(2), ..Model::default() };
        let shown = model_defaults(&model);
        assert_eq!((shown["model.hidden"].as_str(), shown["model.layers"].as_str()), ("4096", "2"));
        assert!(!shown.contains_key("model.preset"));
    }

    #[test]
    fn the_models_file_stays_while_its_name_does() {
        let mut base = Experiment::default();
        base.model.config = Some("config.json".into());
        base.model.from_config = Some(Box::new(Model { layers: Some(3), ..Model::default() }));
        let mut typed = fields(&base);
        typed.insert("model.hidden".to_owned(), "64".to_owned());
        typed.insert("model.heads".to_owned(), "4".to_owned());
        assert_eq!(from_fields(&typed, &base).unwrap().model.shape().unwrap().unwrap().layers, 3);
        typed.insert("model.config".to_owned(), String::new());
        assert_eq!(from_fields(&typed, &base).unwrap_err()[0].key, "model.layers");
    }
}
