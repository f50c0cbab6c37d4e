//! The `demo` command: a simulated job as exports.

use super::args::Demo;
use super::run::{CliError, print};
use crate::format;
use crate::sim::{JobConfig, bench_config, preset, presets, simulate_to_dir};
use std::io::{IsTerminal as _, Write as _};

/// The `demo` command.
pub(super) fn write(options: &Demo) -> Result<(), CliError> {
    if options.list {
        return print(&list()?);
    }
    let Some(folder) = &options.output else {
        return Err(CliError::Usage("which folder? Name one with -o".to_owned()));
    };
    let config = config(options)?;
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
    let mut settings = table(&base)?;
    if let Some(path) = &options.config {
        let text = std::fs::read_to_string(path).map_err(|e| CliError::Read(path.clone(), e))?;
        let file: toml::Table =
            text.parse().map_err(|e| CliError::Usage(format!("{} is no TOML: {e}", path.display())))?;
        settings.extend(file);
    }
    for setting in &options.set {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| CliError::Usage(format!("--set {setting} needs a value: --set {setting}=...")))?;
        settings.insert(key.trim().to_owned(), self::value(value.trim()));
    }
    let flags = [("ranks", options.ranks), ("steps", options.steps)];
    settings.extend(flags.into_iter().filter_map(|(key, n)| Some((key.to_owned(), toml::Value::from(n?)))));
    toml::Value::Table(settings).try_into().map_err(|e| {
        CliError::Usage(format!("the settings of the job are not right: {e}(stepscope demo --list shows them)"))
    })
}

/// A value as TOML would read it; what it cannot read is text.
fn value(text: &str) -> toml::Value {
    let line: Result<toml::Table, _> = format!("value = {text}").parse();
    line.ok().and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::from(text))
}

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
