//! Kernels of all ranks, and what changed between two of them, as JSON.

use super::change::note_of;
use super::json::label;
use crate::job::{CollectiveDelta, Comparable, Delta, Diff, DiffScope, Job, RangeDelta};
use serde::Serialize;
use std::collections::BTreeMap;

/// Kernels and ranges listed.
const KERNELS: usize = 200;

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

/// What changed from the first to the second of two ranks; times are means of a step, or of what `scope` says.
#[derive(Debug, Serialize)]
pub struct DiffLines {
    step: DeltaLine,
    parts: BTreeMap<&'static str, DeltaLine>,
    idle_causes: BTreeMap<&'static str, DeltaLine>,
    collectives: BTreeMap<&'static str, CollectiveLine>,
    ranges: Vec<RangeLine>,
    verdict: [Option<&'static str>; 2],
    /// What the times are of.
    scope: DiffScope,
    comparable: Comparable,
}

#[derive(Debug, Serialize)]
struct DeltaLine {
    a_ns: i64,
    b_ns: i64,
    delta_ns: i64,
    share: Option<f64>,
    /// `null` when not known, and so is `noise`.
    spread_ns: Option<i64>,
    /// True of equals, too.
    noise: Option<bool>,
    /// `equal`, `noise`, or `null` for a difference that is more, or may be.
    note: Option<&'static str>,
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
            note: note_of(&delta),
        }
    }
}

/// Full name and launch shape.
type Kernel<'a> = (&'a str, Option<u16>);
/// Rank, sum of durations in nanoseconds and count.
type OnRank = (usize, i64, u64);

/// Kernels on every rank, the largest difference between ranks first; of two ranks as `a` and `b`, too.
pub(super) fn kernels(job: &Job, two: bool) -> Vec<KernelLine> {
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
    /// What changed in the two ranks of `job`.
    pub(super) fn of(job: &Job, diff: &Diff) -> Self {
        let verdict = |rank: usize| job.summary(rank)?.verdict.map(|verdict| verdict.area.key());
        let collective = |c: &CollectiveDelta| {
            (c.kind.text(), CollectiveLine { counts: c.counts, total: c.per_step.into(), exposed: c.exposed.into() })
        };
        let range = |r: &RangeDelta| RangeLine { path: r.path.clone(), delta: r.per_step.into() };
        Self {
            step: diff.step.into(),
            parts: diff.parts.iter().map(|(part, delta)| (part.key(), (*delta).into())).collect(),
            idle_causes: diff.causes.iter().map(|(cause, delta)| (cause.key(), (*delta).into())).collect(),
            collectives: diff.collectives.iter().map(collective).collect(),
            ranges: diff.ranges.iter().take(KERNELS).map(range).collect(),
            verdict: [verdict(0), verdict(1)],
            scope: diff.comparable.scope(),
            comparable: diff.comparable.clone(),
        }
    }
}
