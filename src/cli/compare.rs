//! The `compare` command: several ranks, or two runs, beside each other.

use super::args::{ClockName, Compare};
use super::load::{check_twice, load, settings};
use super::run::{CliError, file_of, print};
use crate::job::file::{self, ReadError};
use crate::job::{ClockMode, ExportSummary, Job, JobOptions, PlaceOptions, folder};
use crate::report::compare::{OutlierLine, OutlierLines};
use crate::report::{Form, check_target, compare as written};
use crate::view::{Doc, Outlier, Outliers, RankId, Workspace};
use std::path::PathBuf;
use std::sync::Arc;

/// Files of one folder at most; more are summarized first.
const MOST_FILES: usize = 4096;

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
    check_twice(&files)?;
    let shift_ns = shifts(&options.shift, files.len())?;
    if let Some(path) = file_of(options.output.as_ref()) {
        check_target(path)?;
    }
    if options.outliers {
        check_operations(&files)?;
    }
    let Told { exports, shift_ns, places, left_out, docs } = told(&files, &shift_ns, options)?;
    let how = JobOptions { clock: mode(options.clock), shift_ns, places };
    let job = Job::of(exports, &how);
    if job.ranks.len() < 2 {
        let notes: String = left_out.iter().map(|note| format!(" ({note})")).collect();
        return Err(CliError::Usage(format!(
            "{} ran work on a GPU, and comparing needs two ranks: name the exports of the other ranks, too{notes}",
            if job.ranks.is_empty() { "no rank" } else { "only one rank" }
        )));
    }
    for note in left_out {
        eprintln!("stepscope: {note}");
    }
    let outliers = if options.outliers { Some(outliers(docs, how)?) } else { None };
    let text = written::compare(&job, outliers.as_ref(), form)?;
    match file_of(options.output.as_ref()) {
        Some(path) => Ok(form.save(&text, path)?),
        None => print(&text),
    }
}

/// Refuses files in which the single operations of two ranks cannot be looked at together, before any is read.
fn check_operations(files: &[PathBuf]) -> Result<(), CliError> {
    if files.len() > 2 {
        return Err(two_ranks(files.len(), "files"));
    }
    match files.iter().find(|file| file::is_named(file)) {
        Some(summary) => Err(CliError::Usage(format!(
            "--outliers needs the operations themselves, and {} is a summary: name its export",
            summary.display()
        ))),
        None => Ok(()),
    }
}

fn two_ranks(count: usize, what: &str) -> CliError {
    CliError::Usage(format!(
        "--outliers compares single operations of two ranks, and there are {count} {what}: name the exports of two ranks"
    ))
}

/// The operations that differ most between the two ranks of `docs`.
fn outliers(docs: Vec<Doc>, how: JobOptions) -> Result<OutlierLines, CliError> {
    let workspace = Workspace::of(docs, Vec::new(), how);
    let ranks: Vec<RankId> = workspace.ranks().map(|(id, ..)| id).collect();
    let &[a, b] = ranks.as_slice() else { return Err(two_ranks(ranks.len(), "ranks")) };
    let found = Outliers::of(&workspace, a, b);
    let line = |outlier: &Outlier| {
        let (doc, rank) = workspace.rank(a)?;
        let op = outlier.ops[0] as usize;
        Some(OutlierLine {
            name: doc.trace.op_full_name(*rank.ops.name.get(op)?).to_owned(),
            step: outlier.step,
            a_start_ns: *rank.ops.start_ns.get(op)?,
            a_ns: outlier.len_ns[0],
            b_ns: outlier.len_ns[1],
            delta_ns: outlier.longer_ns,
            usual_ns: outlier.usual_ns,
            later_ns: outlier.met.map(|met| met.later_ns),
            wait_ns: outlier.met.map(|met| met.wait_ns),
        })
    };
    let listed = found.listed.iter().filter_map(line).collect();
    Ok(OutlierLines { count: found.count, pairs: found.pairs, listed })
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
        (None, Some(path)) => Ok(Form::among(&written::FORMS, path)?),
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
        let found = folder::captures_in(path).map_err(|error| CliError::Read(path.clone(), error))?;
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

/// What files tell together.
struct Told {
    exports: Vec<Arc<ExportSummary>>,
    /// Of each of these.
    shift_ns: Vec<i64>,
    places: PlaceOptions,
    /// What was left out and why, a sentence each.
    left_out: Vec<String>,
    /// The exports themselves, where their operations are asked for.
    docs: Vec<Doc>,
}

/// What the files tell, without summaries of exports that are among them: an export tells more.
fn told(files: &[PathBuf], shift_ns: &[i64], options: &Compare) -> Result<Told, CliError> {
    let (all, places, docs) = summaries(files, options)?;
    let mut told = Told { exports: Vec::new(), shift_ns: Vec::new(), places, left_out: Vec::new(), docs };
    for (at, (path, (summary, is_export))) in files.iter().zip(&all).enumerate() {
        let is_same = |(_, (other, is_export)): &(&PathBuf, &(Arc<ExportSummary>, bool))| {
            *is_export && other.is_of_same_run(summary)
        };
        match files.iter().zip(&all).find(is_same).filter(|_| !is_export) {
            Some((export, _)) => told.left_out.push(format!(
                "{} was left out, since it is the summary of {}, which is named, too",
                path.display(),
                export.display()
            )),
            None => {
                told.exports.push(Arc::clone(summary));
                told.shift_ns.push(shift_ns.get(at).copied().unwrap_or(0));
            }
        }
    }
    Ok(told)
}

/// A summary, and whether it was made of an export now.
type Summarized = (Arc<ExportSummary>, bool);

/// What every file tells, and what settings say of the places of ranks: those that are named, else those beside the
/// exports. Summaries are read several at once, exports one after the other, of which only the summary stays in memory
/// unless their operations are asked for.
fn summaries(files: &[PathBuf], options: &Compare) -> Result<(Vec<Summarized>, PlaceOptions, Vec<Doc>), CliError> {
    let (reading, mut docs) = (&options.reading, Vec::new());
    let mut all = Vec::with_capacity(files.len());
    let mut places = settings(reading)?.map_or_else(PlaceOptions::default, |s| PlaceOptions::of(&s.experiment));
    for (path, read) in files.iter().zip(file::read_files(files)) {
        let is_export = matches!(read, Ok(None));
        let summary = match read {
            Ok(Some(summary)) => Arc::new(summary),
            Ok(None) => match load(std::slice::from_ref(path), reading)?.pop() {
                Some(loaded) => {
                    let said = loaded.analysis.experiment.as_ref().map(PlaceOptions::of);
                    // Each export keeps the layout of its own settings.
                    said.into_iter().for_each(|said| places.append(PlaceOptions { layout: None, ..said }));
                    let doc = Doc::new(loaded.trace, loaded.analysis);
                    let summary = Arc::clone(&doc.summary);
                    docs.extend(options.outliers.then_some(doc));
                    summary
                }
                None => Arc::default(),
            },
            Err(ReadError::Io(error)) => return Err(CliError::Read(path.clone(), error)),
            Err(ReadError::File(error)) => return Err(CliError::Summary(path.clone(), error)),
        };
        all.push((summary, is_export));
    }
    Ok((all, places, docs))
}

/// Nanoseconds to move each file by.
fn shifts(given: &[String], files: usize) -> Result<Vec<i64>, CliError> {
    let mut shift_ns: Vec<Option<i64>> = vec![None; files];
    for text in given {
        let usage = |why: &str| {
            CliError::Usage(format!("--shift {text}: {why}; give a file's place and a time, such as 1:+2.5ms"))
        };
        let (place, time) = text.split_once(':').ok_or_else(|| usage("no colon"))?;
        let place =
            place.trim().parse::<usize>().map_err(|error| usage(&format!("the place is no number ({error})")))?;
        let slot = shift_ns.get_mut(place).ok_or_else(|| usage("there is no such file (the first is 0)"))?;
        let time = time.trim().trim_start_matches('+');
        let time_ns = super::span::parse_time(time).ok_or_else(|| usage("the time needs a number and a unit"))?;
        if slot.replace(time_ns).is_some() {
            return Err(usage(&format!("file {place} is shifted twice")));
        }
    }
    Ok(shift_ns.into_iter().map(Option::unwrap_or_default).collect())
}
