//! The `demo` command: a simulated job as exports.

use super::args::Demo;
use super::run::{CliError, print};
use crate::format;
use crate::sim::{JobConfig, SimError, bench_config, preset, presets, simulate_to_dir};
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

/// The `demo` command.
pub(super) fn write(options: &Demo) -> Result<(), CliError> {
    if options.list {
        return print(&list()?);
    }
    let Some(folder) = &options.output else {
        return Err(CliError::Usage("which folder? Name one with -o".to_owned()));
    };
    if folder.exists() && !folder.is_dir() {
        return Err(CliError::Usage(format!("--output {} is a file: name a folder", folder.display())));
    }
    let config = config(options)?;
    config.check().map_err(|error| as_typed(error, options))?;
    let mut terminal = std::io::stderr();
    let shown = terminal.is_terminal();
    let job = simulate_to_dir(&config, folder, options.force, &mut |done| {
        if shown {
            // The line is a courtesy: a terminal that cannot be written to loses it, nothing else.
            let _ = write!(terminal, "\r\x1b[Ksimulating {}", format::percent(Some(done)));
        }
    })?;
    if shown {
        let _ = write!(terminal, "\r\x1b[K");
    }
    let mut text = String::new();
    for path in &job.files {
        let bytes = std::fs::metadata(path).map_or(0, |facts| facts.len());
        text.push_str(&format!("{}  {}\n", path.display(), format::bytes(bytes)));
    }
    text.push_str(&format!("{}  what was trained, for MFU\n", job.settings.display()));
    print(&text)
}

/// The job that was asked for: a named one, then the file, then single settings, then the flags.
fn config(options: &Demo) -> Result<JobConfig, CliError> {
    let base = match (&options.scenario, options.kernels) {
        (Some(name), _) => preset(name).ok_or_else(|| {
            let known: Vec<&str> = presets().iter().map(|p| p.name).collect();
            CliError::Usage(format!("there is no scenario {name:?}: choose one of {}", known.join(", ")))
        })?,
        (None, Some(kernels)) => bench_config(kernels),
        (None, None) => JobConfig::default(),
    };
    let mut config = match &options.config {
        None => base,
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| CliError::Read(path.clone(), e))?;
            let wrong = |e: toml::de::Error| CliError::Usage(format!("{}: {e}{SEE_LIST}", path.display()));
            let mut settings = table(&base)?;
            let own = text.parse::<toml::Table>().map_err(wrong)?;
            if let Some(key) = own.keys().find(|key| !settings.contains_key(*key)) {
                let path = path.display();
                return Err(CliError::Usage(format!("{path}: unknown setting `{key}`{SEE_LIST}")));
            }
            settings.extend(own);
            settings.try_into().map_err(wrong)?
        }
    };
    for setting in &options.set {
        config.set(setting).map_err(|error| CliError::Usage(format!("--set {error}{SEE_LIST}")))?;
    }
    config.ranks = options.ranks.unwrap_or(config.ranks);
    config.steps = options.steps.unwrap_or(config.steps);
    Ok(config)
}

/// The error with the setting named as the user typed it: an option, or a key of a file.
fn as_typed(error: SimError, options: &Demo) -> CliError {
    let SimError::Config { field, why } = &error else { return error.into() };
    let own = [("ranks", options.ranks.is_some()), ("steps", options.steps.is_some())];
    let key = |setting: &String| setting.split('=').next().map(|key| key.trim().to_owned());
    let set = || options.set.iter().rev().filter_map(key).find(|key| key.replace('-', "_") == *field);
    let in_file = |path: &&PathBuf| {
        let text = std::fs::read_to_string(path).ok();
        text.and_then(|text| text.parse::<toml::Table>().ok()).is_some_and(|table| table.contains_key(*field))
    };
    let typed = if own.contains(&(*field, true)) {
        format!("--{field}")
    } else if let Some(key) = set() {
        format!("--set {key}")
    } else if let Some(path) = options.config.as_ref().filter(in_file) {
        format!("{}: {field}", path.display())
    } else {
        let scenario = options.scenario.as_ref().map(|name| format!(" (set by --scenario {name})"));
        format!("{field}{}", scenario.unwrap_or_default())
    };
    CliError::Usage(format!("{typed} {why}"))
}

/// Where every setting is listed.
const SEE_LIST: &str = " (stepscope demo --list shows every setting)";

fn table(config: &JobConfig) -> Result<toml::Table, CliError> {
    toml::Table::try_from(config).map_err(|e| CliError::Usage(format!("the job's settings cannot be listed: {e}")))
}

/// The named jobs and every setting.
fn list() -> Result<String, CliError> {
    let jobs = presets();
    let width = jobs.iter().map(|job| job.name.len()).max().unwrap_or(0);
    let mut text = String::from("Named jobs (--scenario NAME)\n");
    for job in &jobs {
        text.push_str(&format!("  {:width$}  {}\n", job.name, job.about));
    }
    text.push_str("\nSettings of the built-in demo (--set KEY=VALUE, or a TOML file with --config)\n");
    for line in table(&JobConfig::default())?.to_string().lines() {
        text.push_str(&format!("  {line}\n"));
    }
    Ok(text)
}
