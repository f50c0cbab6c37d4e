//! Exports from the command line to captures with their numbers.

use super::args::Reading;
use super::progress;
use super::run::CliError;
use crate::analysis::{Analysis, Params, Rules, StepOptions, analyze};
use crate::nsys::{self, LoadOptions, Progress};
use crate::report::Capture;
use crate::settings::{RunSettings, params_for};
use crate::trace::Trace;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A capture and its numbers, shared with the window.
#[derive(Debug, Clone)]
pub(super) struct Loaded {
    pub trace: Arc<Trace>,
    pub analysis: Arc<Analysis>,
}

impl Loaded {
    pub fn capture(&self) -> Capture<'_> {
        Capture { trace: &self.trace, analysis: &self.analysis }
    }
}

/// What the options say about the analysis, settings file included.
fn params(reading: &Reading) -> Result<Params, CliError> {
    let mut params = base(reading)?;
    if let Some(settings) = settings(reading)? {
        settings.apply(&mut params);
    }
    Ok(params)
}

/// The settings file that is named.
pub(super) fn settings(reading: &Reading) -> Result<Option<RunSettings>, CliError> {
    Ok(reading.settings.as_deref().map(RunSettings::read).transpose()?)
}

/// What the options say about the analysis, besides a settings file.
pub(super) fn base(reading: &Reading) -> Result<Params, CliError> {
    let rules = match &reading.rules {
        None => Rules::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| CliError::Read(path.clone(), e))?;
            Rules::parse(&text).map_err(|e| CliError::Rules(path.clone(), e))?
        }
    };
    if reading.step_regex.as_deref().is_some_and(|pattern| pattern.trim().is_empty()) {
        return Err(CliError::Usage(
            "--step-regex is empty: name the ranges that mark steps, such as '^step (\\d+)'".to_owned(),
        ));
    }
    let pattern = reading.step_regex.as_deref().map(regex::Regex::new).transpose();
    let pattern = pattern.map_err(|e| CliError::Usage(format!("--step-regex is no regular expression: {e}")))?;
    Ok(Params { rules, steps: StepOptions { pattern }, ..Params::default() })
}

/// Reads and analyses every export, in order; the first failure ends it.
pub(super) fn load(exports: &[PathBuf], reading: &Reading) -> Result<Vec<Loaded>, CliError> {
    load_timed(exports, reading, |_, _| {})
}

/// As [`load`], and tells after each export how long reading and analysing took.
pub(super) fn load_timed(
    exports: &[PathBuf],
    reading: &Reading,
    mut took: impl FnMut(Duration, Duration),
) -> Result<Vec<Loaded>, CliError> {
    let params = params(reading)?;
    let mut all: Vec<Loaded> = Vec::with_capacity(exports.len());
    check_twice(exports)?;
    for path in exports {
        let path = converted(path, reading)?;
        let own = params_for(&path, &params)?;
        let progress = Progress::new();
        let start = Instant::now();
        let trace = progress::shown(&path, &progress, || nsys::open(&path, &LoadOptions::default(), &progress))?;
        let load = start.elapsed();
        let analysis = analyze(&trace, &own);
        took(load, start.elapsed() - load);
        all.push(Loaded { trace: Arc::new(trace), analysis: Arc::new(analysis) });
    }
    if let Some(pattern) = &params.steps.pattern
        && all.iter().flat_map(|l| &l.analysis.ranks).all(|rank| rank.steps.is_none())
    {
        return Err(CliError::Usage(format!(
            "--step-regex {pattern} marks no step: no range whose name it matches launched work on a GPU"
        )));
    }
    Ok(all)
}

/// The same file given twice would look like two ranks.
pub(super) fn check_twice(exports: &[PathBuf]) -> Result<(), CliError> {
    let mut seen = HashSet::new();
    for path in exports {
        // A file that is not there is told by the loader, better.
        if let Ok(real) = path.canonicalize()
            && !seen.insert(real)
        {
            return Err(CliError::Usage(format!("{} is given twice", path.display())));
        }
    }
    Ok(())
}

/// The export to read: a report is converted first when the user said where to.
fn converted(path: &Path, reading: &Reading) -> Result<PathBuf, CliError> {
    if path.as_os_str() == "-" {
        return Err(CliError::Usage(
            "an export cannot come from standard input, since it is read at many places at once: name a file"
                .to_owned(),
        ));
    }
    match &reading.convert {
        Some(folder) if nsys::is_report(path) => Ok(nsys::convert(path, folder, None)?),
        _ => Ok(path.to_path_buf()),
    }
}
