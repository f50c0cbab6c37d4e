//! The `compare` command: several ranks, or two runs, beside each other.

use super::args::{ClockName, Compare, Reading};
use super::load::{load, settings};
use super::run::{CliError, file_of, print};
use crate::job::{ClockMode, ExportSummary, Job, JobOptions, PlaceOptions, file};
use crate::report::{Form, check_target, compare as written};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of one folder at most; more are summarized first.
const MOST_FILES: usize = 4096;
/// Bytes that tell what a file is.
const HEAD: usize = 16;
/// What SQLite files begin with.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The `compare` command.
pub(super) fn compare(options: &Compare) -> Result<(), CliError> {
    let form = form(options)?;
    let files = expanded(&options.files)?;
    if files.is_empty() {
        return Err(CliError::Usage(
            "which ranks? Name exports, summaries or a folder of them: stepscope compare rank0.sqlite rank1.sqlite"
                .to_owned(),
        ));
    }
    let shift_ns = shifts(&options.shift, files.len())?;
    if let Some(path) = file_of(options.output.as_ref()) {
        check_target(path)?;
    }
    let (exports, places) = summaries(&files, &options.reading)?;
    let job = Job::of(exports, &JobOptions { clock: mode(options.clock), shift_ns, places });
    if job.ranks.len() < 2 {
        return Err(CliError::Usage(format!(
            "{} ran work on a GPU, and comparing needs two ranks: name the exports of the other ranks, too",
            if job.ranks.is_empty() { "no rank" } else { "only one rank" }
        )));
    }
    let text = written::compare(&job, form)?;
    match file_of(options.output.as_ref()) {
        Some(path) => Ok(form.save(&text, path)?),
        None => print(&text),
    }
}

const fn mode(name: ClockName) -> ClockMode {
    match name {
        ClockName::Auto => ClockMode::Auto,
        ClockName::Collectives => ClockMode::Collectives,
        ClockName::StepStart => ClockMode::StepStart,
        ClockName::Wall => ClockMode::Wall,
        ClockName::Manual => ClockMode::Manual,
    }
}

fn form(options: &Compare) -> Result<Form, CliError> {
    let asked = [(options.json, Form::Json), (options.markdown, Form::Markdown), (options.html, Form::Html)];
    match (asked.into_iter().find(|(asked, _)| *asked), file_of(options.output.as_ref())) {
        (Some((_, form)), _) => Ok(form),
        (None, Some(path)) => Ok(Form::of_path(path)?),
        (None, None) => Ok(Form::Text),
    }
}

/// The files themselves; folders give the exports and summaries in them, in the order of their numbers.
pub(super) fn expanded(files: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut all = Vec::new();
    for path in files {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let found = file::captures_in(path).map_err(|error| CliError::Read(path.clone(), error))?;
        if found.is_empty() {
            return Err(CliError::Usage(format!(
                "{} holds no .sqlite and no .summary file: name a folder with exports or summaries",
                path.display()
            )));
        }
        all.extend(found);
    }
    if all.len() > MOST_FILES {
        return Err(CliError::Usage(format!("{} files are more than {MOST_FILES}: name fewer", all.len())));
    }
    Ok(all)
}

/// What every file tells, and what settings say of the places of ranks: those that are named, else those beside the
/// exports. Exports are read one after the other, and only their summaries stay in memory.
fn summaries(files: &[PathBuf], reading: &Reading) -> Result<(Vec<Arc<ExportSummary>>, PlaceOptions), CliError> {
    let mut all = Vec::with_capacity(files.len());
    let mut places = settings(reading)?.map_or_else(PlaceOptions::default, |s| PlaceOptions::of(&s.experiment));
    for path in files {
        let summary = match read_summary(path)? {
            Some(summary) => summary,
            None => match load(std::slice::from_ref(path), reading)?.first() {
                Some(loaded) => {
                    let said = loaded.analysis.experiment.as_ref().map(PlaceOptions::of);
                    // Each export keeps the layout of its own settings.
                    said.into_iter().for_each(|said| places.append(PlaceOptions { layout: None, ..said }));
                    ExportSummary::of(&loaded.trace, &loaded.analysis)
                }
                None => ExportSummary::default(),
            },
        };
        all.push(Arc::new(summary));
    }
    Ok((all, places))
}

/// The summary in a file; `None` when the file is something that the loader should look at.
pub(super) fn read_summary(path: &Path) -> Result<Option<ExportSummary>, CliError> {
    use std::io::Read as _;
    let named_so = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(file::ENDING));
    let Ok(mut opened) = std::fs::File::open(path) else { return Ok(None) };
    let mut head = Vec::new();
    let read = |error| CliError::Read(path.to_owned(), error);
    opened.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(read)?;
    if head.starts_with(SQLITE) || (!named_so && !file::may_be(&head)) {
        return Ok(None);
    }
    opened.read_to_end(&mut head).map_err(read)?;
    file::read(&head).map(Some).map_err(|error| CliError::Summary(path.to_owned(), error))
}

/// Nanoseconds to move each file by.
fn shifts(given: &[String], files: usize) -> Result<Vec<i64>, CliError> {
    let mut shift_ns = vec![0; files];
    for text in given {
        let usage = |why: &str| {
            CliError::Usage(format!("--shift {text}: {why}; give a file's place and a time, such as 1:+2.5ms"))
        };
        let (place, time) = text.split_once(':').ok_or_else(|| usage("no colon"))?;
        let place: usize = place.trim().parse().map_err(|_| usage("the place is no number"))?;
        let slot = shift_ns.get_mut(place).ok_or_else(|| usage("there is no such file (the first is 0)"))?;
        let time = time.trim().trim_start_matches('+');
        *slot = super::span::parse_time(time).ok_or_else(|| usage("the time needs a number and a unit"))?;
    }
    Ok(shift_ns)
}
