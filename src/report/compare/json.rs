//! The comparison as JSON: stable keys; ranks by label, and for two ranks as `a` and `b`, too.

use super::clock::notices;
use super::collectives_json::{Collectives, StragglerLine};
use super::diff_json::{DiffLines, KernelLine, kernels};
use super::outliers::OutlierLines;
use super::pipeline_json::{PipelineLines, place};
use super::words::wandering_text;
use crate::analysis::Partition;
use crate::job::{Basis, Clock, ClockMode, Diff, Job};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything `compare --json` prints.
#[derive(Debug, Serialize)]
pub struct CompareReport {
    /// Version of this program.
    pub version: &'static str,
    /// The files.
    pub exports: Vec<String>,
    /// What puts the ranks on one clock.
    pub alignment: Alignment,
    /// The ranks.
    pub ranks: Vec<RankLine>,
    /// Steps by number.
    pub steps: Vec<StepLine>,
    /// Typical steps by label; of two ranks as `a`, `b` and `delta`.
    pub typical: BTreeMap<String, Partition>,
    /// Matched collectives.
    pub collectives: Collectives,
    /// The rank that the others wait for.
    pub straggler: Option<StragglerLine>,
    /// Pauses of the host that wander between ranks, in words.
    pub wandering_pauses: Option<String>,
    /// The pipeline, when the user declares one or ranges name one.
    pub pipeline: Option<PipelineLines>,
    /// Kernels by full name and launch shape, the largest difference first.
    pub kernels: Vec<KernelLine>,
    /// What changed between two ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<DiffLines>,
    /// Single operations that differ most between two ranks, where they were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outliers: Option<OutlierLines>,
}

/// What puts the ranks on one clock.
#[derive(Debug, Serialize)]
pub struct Alignment {
    /// What is in force.
    mode: AlignmentMode,
    /// What was asked for.
    asked: ClockMode,
    /// False when who started last, and so who waited, does not follow from the clock: the numbers of that are no
    /// evidence, wherever they stand, and no straggler is named.
    tells_who_was_last: bool,
    ranks: Vec<AlignedRank>,
    notices: Vec<String>,
}

/// What puts all files on one clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum AlignmentMode {
    /// There is one file only.
    OneFile,
    /// Ends of matched collectives.
    Collectives,
    /// Starts of steps.
    StepStart,
    /// Wall clocks.
    Wall,
    /// The user, from each file's first event.
    Manual,
    /// Each file's first event, since nothing else is known.
    FirstEvent,
    /// Not the same for all files: see the ranks' `basis`.
    Mixed,
}

impl AlignmentMode {
    fn of(clock: &Clock) -> Self {
        match clock.bases()[..] {
            [] | [Basis::Reference] => Self::OneFile,
            [Basis::Collectives] => Self::Collectives,
            [Basis::StepStart] => Self::StepStart,
            [Basis::Wall] => Self::Wall,
            [Basis::FirstEvent] if clock.mode == ClockMode::Manual => Self::Manual,
            [Basis::FirstEvent] => Self::FirstEvent,
            _ => Self::Mixed,
        }
    }
}

#[derive(Debug, Serialize)]
struct AlignedRank {
    label: String,
    /// Added to the export's time to get the reference's, at `about_ns`; the shift by hand is part of it.
    offset_ns: i64,
    drift_ppm: f64,
    about_ns: i64,
    /// `null` when not known, as after a shift by hand.
    uncertainty_ns: Option<i64>,
    matched: u64,
    basis: Basis,
    /// What the user moved it by.
    shift_ns: i64,
}

/// One rank.
#[derive(Debug, Serialize)]
pub struct RankLine {
    label: String,
    export: String,
    host: Option<String>,
    gpu: Option<String>,
    device: i64,
    /// Where it stands in the parallel layout, by `dp`, `tp`, `pp`, `cp`, `ep`, with what tells it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    place: BTreeMap<&'static str, crate::job::Known>,
    steps: u64,
    median_step_ns: Option<i64>,
    verdict: Option<crate::job::VerdictSummary>,
    matched_collectives: u64,
    wait_ns: i64,
    transfer_ns: i64,
    last: u64,
}

/// One step on every rank that has it.
#[derive(Debug, Serialize)]
pub struct StepLine {
    number: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_span_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_span_ns: Option<i64>,
    span_ns: BTreeMap<String, i64>,
    exposed_comm_ns: BTreeMap<String, i64>,
    wait_ns: BTreeMap<String, i64>,
    last: BTreeMap<String, u64>,
}

impl CompareReport {
    /// The comparison of the ranks of `job`; `diff` and `outliers` are those of two ranks.
    pub fn of(job: &Job, diff: Option<&Diff>, outliers: Option<&OutlierLines>) -> Self {
        let two = job.ranks.len() == 2;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            exports: job.exports.iter().map(|export| export.file.display().to_string()).collect(),
            alignment: Alignment::of(job),
            ranks: (0..job.ranks.len()).filter_map(|rank| RankLine::of(job, rank)).collect(),
            steps: steps(job, two),
            typical: typical(job, diff),
            collectives: Collectives::of(job),
            straggler: StragglerLine::of(job),
            wandering_pauses: wandering_text(job),
            pipeline: PipelineLines::of(job),
            kernels: kernels(job, two),
            diff: diff.map(|diff| DiffLines::of(job, diff)),
            outliers: outliers.cloned(),
        }
    }
}

pub(super) fn label(job: &Job, rank: usize) -> String {
    job.ranks.get(rank).map_or_else(String::new, |rank| rank.label.clone())
}

/// A value of every rank, by label.
pub(super) fn by_label<T>(job: &Job, of: impl Fn(usize) -> Option<T>) -> BTreeMap<String, T> {
    (0..job.ranks.len()).filter_map(|rank| Some((label(job, rank), of(rank)?))).collect()
}

impl Alignment {
    /// The clock of `job`.
    pub fn of(job: &Job) -> Self {
        let source = |export: usize| job.clock.sources.get(export).copied().unwrap_or_default();
        let of = |rank: &crate::job::JobRank| {
            let source = source(rank.at.export);
            AlignedRank {
                label: rank.label.clone(),
                offset_ns: source.map.offset_ns,
                drift_ppm: source.map.drift_ppm,
                about_ns: source.map.about_ns,
                uncertainty_ns: source.uncertainty_ns(),
                matched: source.matched,
                basis: source.basis,
                shift_ns: source.shift_ns,
            }
        };
        Self {
            mode: AlignmentMode::of(&job.clock),
            asked: job.clock.mode,
            tells_who_was_last: job.clock.doubt().is_none(),
            ranks: job.ranks.iter().map(of).collect(),
            notices: notices(job),
        }
    }
}

impl RankLine {
    fn of(job: &Job, rank: usize) -> Option<Self> {
        let summary = job.summary(rank)?;
        let export = job.exports.get(job.ranks.get(rank)?.at.export)?;
        let waits = job.waits.ranks.get(rank).copied().unwrap_or_default();
        Some(Self {
            label: label(job, rank),
            export: export.file.display().to_string(),
            host: export.host.clone(),
            gpu: summary.gpu.clone(),
            device: summary.device,
            place: place(job, rank),
            steps: summary.steps.len() as u64,
            median_step_ns: summary.typical.filter(|_| !summary.steps_estimated).map(|typical| typical.median_span_ns),
            verdict: summary.verdict,
            matched_collectives: waits.collectives,
            wait_ns: waits.split.wait_ns,
            transfer_ns: waits.split.transfer_ns,
            last: waits.last,
        })
    }
}

fn steps(job: &Job, two: bool) -> Vec<StepLine> {
    let numbers: std::collections::BTreeSet<i64> = (0..job.ranks.len())
        .filter_map(|rank| job.summary(rank))
        .filter(|summary| summary.has_marked_steps())
        .flat_map(|summary| summary.steps.iter().filter_map(|step| step.number))
        .collect();
    let of = |number: i64| {
        let step = |rank: usize| job.summary(rank)?.step(number);
        let span_ns = |rank: usize| step(rank).map(|step| step.window.len_ns());
        let late = |rank: usize| job.stragglers.steps.get(&(rank, number));
        StepLine {
            number,
            a_span_ns: span_ns(0).filter(|_| two),
            b_span_ns: span_ns(1).filter(|_| two),
            span_ns: by_label(job, span_ns),
            exposed_comm_ns: by_label(job, |rank| step(rank).map(|step| step.parts.exposed_comm_ns)),
            wait_ns: by_label(job, |rank| job.stragglers.waits_ns.get(&(rank, number)).copied()),
            last: by_label(job, |rank| late(rank).map(|late| late.last)),
        }
    };
    numbers.into_iter().map(of).collect()
}

fn typical(job: &Job, diff: Option<&Diff>) -> BTreeMap<String, Partition> {
    let typical = |rank: usize| {
        let summary = job.summary(rank)?;
        Some(summary.typical.filter(|_| !summary.steps_estimated).map_or(summary.parts, |typical| typical.mean))
    };
    let mut all = by_label(job, typical);
    if let (Some(_), Some(a), Some(b)) = (diff, typical(0), typical(1)) {
        all.insert("a".to_owned(), a);
        all.insert("b".to_owned(), b);
        all.insert("delta".to_owned(), b.less(&a));
    }
    all
}
