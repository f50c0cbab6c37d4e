//! The comparison as JSON: stable keys; ranks by label, and for two ranks as `a` and `b`, too.

use super::pipeline_json::{PipelineLines, place};
use super::words::{extra_key, extra_text, notices, refusal_text, wandering_text};
use crate::analysis::Partition;
use crate::job::{Delta, Diff, Job, SourceClock};
use crate::units::share;
use serde::Serialize;
use std::collections::BTreeMap;

/// Kernels listed.
const KERNELS: usize = 200;

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
}

/// What puts the ranks on one clock.
#[derive(Debug, Serialize)]
pub struct Alignment {
    mode: crate::job::ClockMode,
    ranks: Vec<AlignedRank>,
    notices: Vec<String>,
}

#[derive(Debug, Serialize)]
struct AlignedRank {
    label: String,
    /// Added to the export's time to get the reference's, at `about_ns`.
    offset_ns: i64,
    drift_ppm: f64,
    about_ns: i64,
    uncertainty_ns: Option<i64>,
    matched: u64,
    basis: crate::job::Basis,
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

/// Matched collectives.
#[derive(Debug, Serialize)]
pub struct Collectives {
    matched: u64,
    unmatched: u64,
    wait_ns: BTreeMap<String, i64>,
    transfer_ns: BTreeMap<String, i64>,
    last_rank_counts: BTreeMap<String, u64>,
    groups: Vec<GroupLine>,
    /// Who waited for whom, where anybody did.
    waited_for: Vec<WaitLine>,
    refused: Vec<String>,
}

#[derive(Debug, Serialize)]
struct GroupLine {
    name: String,
    ranks: Vec<String>,
    /// Ranks of the communicator, where known: more than are listed when not all are open.
    size: Option<u32>,
    count: u64,
    skew_median_ns: i64,
    skew_max_ns: i64,
    end_spread_ns: i64,
    transfer_gb_per_s: Option<f64>,
    decided: u64,
    last_rank_counts: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize)]
struct WaitLine {
    rank: String,
    waited_for: String,
    ns: i64,
}

/// The rank that the others wait for.
#[derive(Debug, Serialize)]
pub struct StragglerLine {
    label: String,
    share_of_collectives: f64,
    cost_ns_per_step: i64,
    cost_share: f64,
    cause: Option<&'static str>,
    cause_text: Option<String>,
    identical_kernels_ratio: Option<f64>,
    extras: Vec<ExtraLine>,
}

#[derive(Debug, Serialize)]
struct ExtraLine {
    cause: &'static str,
    text: String,
    own_ns: i64,
    others_ns: i64,
}

/// A kernel on every rank that ran it.
#[derive(Debug, Serialize)]
pub struct KernelLine {
    name: String,
    blocks: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_total_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_total_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_count: Option<u64>,
    total_ns: BTreeMap<String, i64>,
    count: BTreeMap<String, u64>,
}

/// What changed from the first to the second of two ranks; times are means of a step.
#[derive(Debug, Serialize)]
pub struct DiffLines {
    step: DeltaLine,
    parts: BTreeMap<&'static str, DeltaLine>,
    idle_causes: BTreeMap<&'static str, DeltaLine>,
    collectives: BTreeMap<&'static str, CollectiveLine>,
    ranges: Vec<RangeLine>,
    verdict: [Option<&'static str>; 2],
    comparable: crate::job::Comparable,
}

#[derive(Debug, Serialize)]
struct DeltaLine {
    a_ns: i64,
    b_ns: i64,
    delta_ns: i64,
    share: Option<f64>,
    spread_ns: i64,
    noise: bool,
}

#[derive(Debug, Serialize)]
struct CollectiveLine {
    counts: [u64; 2],
    total: DeltaLine,
    exposed: DeltaLine,
}

#[derive(Debug, Serialize)]
struct RangeLine {
    path: Vec<String>,
    #[serde(flatten)]
    delta: DeltaLine,
}

impl From<Delta> for DeltaLine {
    fn from(delta: Delta) -> Self {
        Self {
            a_ns: delta.a_ns,
            b_ns: delta.b_ns,
            delta_ns: delta.ns(),
            share: delta.share(),
            spread_ns: delta.spread_ns,
            noise: delta.is_noise(),
        }
    }
}

impl CompareReport {
    /// The comparison of the ranks of `job`; `diff` is that of two ranks.
    pub fn of(job: &Job, diff: Option<&Diff>) -> Self {
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
        }
    }
}

fn label(job: &Job, rank: usize) -> String {
    job.ranks.get(rank).map_or_else(String::new, |rank| rank.label.clone())
}

/// A value of every rank, by label.
fn by_label<T>(job: &Job, of: impl Fn(usize) -> Option<T>) -> BTreeMap<String, T> {
    (0..job.ranks.len()).filter_map(|rank| Some((label(job, rank), of(rank)?))).collect()
}

impl Alignment {
    /// The clock of `job`.
    pub fn of(job: &Job) -> Self {
        let source = |export: usize| job.clock.sources.get(export).copied().unwrap_or_default();
        let of = |rank: &crate::job::JobRank| {
            let SourceClock { map, basis, uncertainty_ns, matched, .. } = source(rank.at.export);
            AlignedRank {
                label: rank.label.clone(),
                offset_ns: map.offset_ns,
                drift_ppm: map.drift_ppm,
                about_ns: map.about_ns,
                uncertainty_ns,
                matched,
                basis,
            }
        };
        Self { mode: job.clock.mode, ranks: job.ranks.iter().map(of).collect(), notices: notices(job) }
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

impl Collectives {
    fn of(job: &Job) -> Self {
        let waits = |rank: usize| job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0);
        let group = |(at, of): (usize, &crate::job::Group)| {
            let sums = job.waits.groups.get(at)?;
            Some(GroupLine {
                name: super::words::group_text(job, at),
                ranks: of.members.iter().map(|member| label(job, member.rank)).collect(),
                size: of.size,
                count: of.count as u64,
                skew_median_ns: sums.skew_median_ns,
                skew_max_ns: sums.skew_max_ns,
                end_spread_ns: sums.end_spread_ns,
                transfer_gb_per_s: sums.transfer_gb_per_s,
                decided: sums.decided,
                last_rank_counts: of.members.iter().zip(&sums.last).map(|(m, n)| (label(job, m.rank), *n)).collect(),
            })
        };
        let cell = |((who, whom), ns): &((u32, u32), i64)| WaitLine {
            rank: label(job, *who as usize),
            waited_for: label(job, *whom as usize),
            ns: *ns,
        };
        Self {
            matched: job.waits.matched,
            unmatched: job.waits.unmatched,
            wait_ns: by_label(job, |rank| waits(rank).map(|w| w.split.wait_ns)),
            transfer_ns: by_label(job, |rank| waits(rank).map(|w| w.split.transfer_ns)),
            last_rank_counts: by_label(job, |rank| waits(rank).map(|w| w.last)),
            groups: job.groups.iter().enumerate().filter_map(group).collect(),
            waited_for: job.waits.matrix.cells.iter().map(cell).collect(),
            refused: job.refused.iter().map(|refusal| refusal_text(job, refusal)).collect(),
        }
    }
}

impl StragglerLine {
    /// The straggler of `job`, when there is one.
    pub fn of(job: &Job) -> Option<Self> {
        let found = job.stragglers.straggler.as_ref()?;
        let first = found.cause();
        Some(Self {
            label: label(job, found.rank),
            share_of_collectives: found.share_of_collectives,
            cost_ns_per_step: found.cost_ns_per_step,
            cost_share: found.cost_share,
            cause: first.map(|extra| extra_key(extra.kind)),
            cause_text: first.map(|extra| extra_text(extra.kind)),
            identical_kernels_ratio: found.slow_kernels.map(|slow| slow.ratio),
            extras: found
                .extras
                .iter()
                .map(|extra| ExtraLine {
                    cause: extra_key(extra.kind),
                    text: extra_text(extra.kind),
                    own_ns: extra.own_ns,
                    others_ns: extra.others_ns,
                })
                .collect(),
        })
    }
}

/// Full name and launch shape.
type Kernel<'a> = (&'a str, Option<u16>);
/// Rank, sum of durations in nanoseconds and count.
type OnRank = (usize, i64, u64);

fn kernels(job: &Job, two: bool) -> Vec<KernelLine> {
    let mut joined: BTreeMap<Kernel<'_>, Vec<OnRank>> = BTreeMap::new();
    for rank in 0..job.ranks.len() {
        for kernel in job.summary(rank).map_or(&[][..], |summary| &summary.kernels) {
            let all = joined.entry((&kernel.name, kernel.blocks)).or_default();
            all.push((rank, kernel.total_ns, kernel.count));
        }
    }
    let of = |((name, blocks), of): (Kernel<'_>, Vec<OnRank>)| {
        let find = |rank: usize| of.iter().find(|(r, ..)| *r == rank);
        let total = |rank: usize| two.then(|| find(rank).map_or(0, |(_, ns, _)| *ns));
        let count = |rank: usize| two.then(|| find(rank).map_or(0, |(.., n)| *n));
        KernelLine {
            name: name.to_owned(),
            blocks,
            a_total_ns: total(0),
            b_total_ns: total(1),
            a_count: count(0),
            b_count: count(1),
            total_ns: of.iter().map(|(rank, ns, _)| (label(job, *rank), *ns)).collect(),
            count: of.iter().map(|(rank, _, count)| (label(job, *rank), *count)).collect(),
        }
    };
    let ranks = job.ranks.len();
    let spread = |line: &KernelLine| {
        let least = if line.total_ns.len() < ranks { 0 } else { line.total_ns.values().min().copied().unwrap_or(0) };
        line.total_ns.values().max().copied().unwrap_or(0).saturating_sub(least)
    };
    let mut lines: Vec<KernelLine> = joined.into_iter().map(of).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(spread(line)));
    lines.truncate(KERNELS);
    lines
}

impl DiffLines {
    fn of(job: &Job, diff: &Diff) -> Self {
        let verdict = |rank: usize| job.summary(rank)?.verdict.map(|verdict| verdict.area.key());
        let collective = |c: &crate::job::CollectiveDelta| {
            (c.kind.text(), CollectiveLine { counts: c.counts, total: c.per_step.into(), exposed: c.exposed.into() })
        };
        let range = |r: &crate::job::RangeDelta| RangeLine { path: r.path.clone(), delta: r.per_step.into() };
        Self {
            step: diff.step.into(),
            parts: diff.parts.iter().map(|(part, delta)| (part.key(), (*delta).into())).collect(),
            idle_causes: diff.causes.iter().map(|(cause, delta)| (cause.key(), (*delta).into())).collect(),
            collectives: diff.collectives.iter().map(collective).collect(),
            ranges: diff.ranges.iter().take(KERNELS).map(range).collect(),
            verdict: [verdict(0), verdict(1)],
            comparable: diff.comparable.clone(),
        }
    }
}

/// A wait as a share of the step, for tables.
pub(super) fn wait_share(job: &Job, rank: usize) -> Option<f64> {
    let waits = job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0)?;
    share(waits.split.wait_ns, waits.split.wait_ns.saturating_add(waits.split.transfer_ns))
}
