//! Two runs beside each other: what a typical step costs before and after, and whether the difference is more than
//! the runs' own spread.
//!
//! Kernels are joined by full name and launch shape: one short name may stand for many templates. Numbers are means of
//! a typical step; of the whole span of a run without typical steps.
//!
//! One rule tells noise, whatever the row: a difference is noise when it is no larger than the row varies from step to
//! step in either run. How much it varies is its standard deviation over the typical steps, and in proportion at least
//! as much as the step's length: a kernel that changed by 0.1 % says nothing about runs whose steps vary by 3 %, however
//! even the kernel is. With fewer than two typical steps in either run nothing can be called noise.

use super::{KernelShape, RankSummary, StepSummary};
use crate::analysis::{Cause, Collective, Part, Summary};
use crate::units::share;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// With fewer typical steps than this a run does not tell how much it varies.
pub const ENOUGH_STEPS: u64 = 2;
/// Runs that share less of their kernel time than this are different programs.
pub const COMPARABLE: f64 = 0.5;

/// One number before and after, as the mean of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Delta {
    /// Before.
    pub a_ns: i64,
    /// After.
    pub b_ns: i64,
    /// How much it varies from step to step, in the run in which that is more; `None` when it is not known.
    pub spread_ns: Option<i64>,
}

impl Delta {
    /// After - before.
    pub const fn ns(&self) -> i64 {
        self.b_ns.saturating_sub(self.a_ns)
    }

    /// The difference as a share of before; `None` when there was nothing.
    pub fn share(&self) -> Option<f64> {
        share(self.ns(), self.a_ns)
    }

    /// True when the difference is no more than the runs' own spread; `None` when that is not known.
    pub fn is_noise(&self) -> Option<bool> {
        self.spread_ns.map(|spread_ns| self.ns().saturating_abs() <= spread_ns)
    }
}

/// Kernels of one name and shape in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelDelta {
    /// Full name.
    pub name: String,
    /// Thread blocks, where recorded.
    pub blocks: Option<u16>,
    /// How many in the steps counted, before and after.
    pub counts: [u64; 2],
    /// Sum of durations in the steps counted, before and after.
    pub totals_ns: [i64; 2],
    /// Sum of durations per step.
    pub per_step: Delta,
    /// Median duration of one, before and after.
    pub medians_ns: [i64; 2],
}

/// NVTX ranges of one path in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RangeDelta {
    /// Names, the outermost first.
    pub path: Vec<String>,
    /// GPU time per step.
    pub per_step: Delta,
}

/// Communication kernels of one kind in both runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CollectiveDelta {
    /// The kind.
    pub kind: Collective,
    /// How many in the steps counted, before and after.
    pub counts: [u64; 2],
    /// Sum of durations per step.
    pub per_step: Delta,
    /// Of that: exposed.
    pub exposed: Delta,
}

/// How alike two runs are.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Comparable {
    /// Cards, before and after, where recorded.
    pub gpus: [Option<String>; 2],
    /// Typical steps counted.
    pub steps: [u64; 2],
    /// Share of the kernel time whose kernels (by name and shape) both runs have: the smaller of the two.
    pub kernels_in_common: f64,
    /// The same for kernels told apart by name alone.
    pub names_in_common: f64,
}

impl Comparable {
    /// True when both ran on one model of card, or when that was not recorded.
    pub fn same_gpu(&self) -> bool {
        let [a, b] = &self.gpus;
        a.is_none() || b.is_none() || a == b
    }

    /// What the numbers are of.
    pub const fn scope(&self) -> DiffScope {
        match self.steps {
            [0, 0] => DiffScope::WholeSpans,
            [0, _] | [_, 0] => DiffScope::StepAndSpan,
            _ => DiffScope::TypicalSteps,
        }
    }

    /// True when both runs have enough typical steps to tell how much they vary.
    pub fn knows_noise(&self) -> bool {
        self.steps.iter().all(|steps| *steps >= ENOUGH_STEPS)
    }
}

/// What the numbers of two runs are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffScope {
    /// Means of the typical steps of both.
    TypicalSteps,
    /// Sums over the whole spans: neither has typical steps.
    WholeSpans,
    /// Only one has typical steps: they stand beside the whole span of the other.
    StepAndSpan,
}

/// Two runs of a rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diff {
    /// Length of a step.
    pub step: Delta,
    /// The parts of a step.
    pub parts: Vec<(Part, Delta)>,
    /// Idle time by cause; causes without time in both are left out.
    pub causes: Vec<(Cause, Delta)>,
    /// The largest difference first.
    pub kernels: Vec<KernelDelta>,
    /// The largest difference first.
    pub ranges: Vec<RangeDelta>,
    /// By kind.
    pub collectives: Vec<CollectiveDelta>,
    /// How alike the runs are.
    pub comparable: Comparable,
}

impl Diff {
    /// What changed from `a` to `b`.
    pub fn of(a: &RankSummary, b: &RankSummary) -> Self {
        let both = [Run::of(a), Run::of(b)];
        // The means that every other place shows, so that one number is not rounded in two ways.
        let (mean_parts, mean_causes) = ([a, b].map(RankSummary::mean_parts), [a, b].map(RankSummary::mean_causes));
        let step = |of: &dyn Fn(&StepSummary) -> i64, means: [i64; 2]| by_step(&both, of, means);
        let parts = Part::ALL.map(|part| (part, step(&|s| part.of(&s.parts), mean_parts.map(|mean| part.of(&mean)))));
        let causes =
            Cause::ALL.map(|cause| (cause, step(&|s| s.causes.of(cause), mean_causes.map(|mean| mean.of(cause)))));
        let is_there = |(_, delta): &(Cause, Delta)| delta.a_ns != 0 || delta.b_ns != 0;
        Self {
            step: step(&|s| s.window.len_ns(), mean_parts.map(|mean| mean.span_ns)),
            parts: parts.to_vec(),
            causes: causes.into_iter().filter(is_there).collect(),
            kernels: kernels(&both),
            ranges: ranges(&both),
            collectives: collectives(&both),
            comparable: Comparable {
                gpus: [a.gpu.clone(), b.gpu.clone()],
                steps: both.each_ref().map(|run| run.steps.len() as u64),
                kernels_in_common: in_common(a, b, |kernel| (kernel.name.as_str(), kernel.blocks)),
                names_in_common: in_common(a, b, |kernel| kernel.name.as_str()),
            },
        }
    }
}

/// A run and the steps of it that count.
struct Run<'a> {
    rank: &'a RankSummary,
    steps: Vec<&'a StepSummary>,
    /// Standard deviation of the length of its steps as a share of their mean; `None` with too few to tell.
    variation: Option<f64>,
}

impl<'a> Run<'a> {
    fn of(rank: &'a RankSummary) -> Self {
        let marked = rank.has_marked_steps();
        let steps: Vec<&StepSummary> = rank.steps.iter().filter(|step| marked && step.typical).collect();
        let mut lengths_ns: Vec<i64> = steps.iter().map(|step| step.window.len_ns()).collect();
        let lengths = Summary::of(&mut lengths_ns).filter(|lengths| lengths.count as u64 >= ENOUGH_STEPS);
        let variation = lengths.map(|lengths| if lengths.mean > 0.0 { lengths.deviation / lengths.mean } else { 0.0 });
        Self { rank, steps, variation }
    }

    /// Steps that sums are divided by.
    fn count(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(1).max(1)
    }

    /// How much a row of mean `mean_ns` varies from step to step, of which `own_ns` is its own standard deviation where
    /// known (summaries of earlier versions lack that of kernels and ranges).
    fn spread_ns(&self, mean_ns: i64, own_ns: Option<i64>) -> Option<i64> {
        let in_proportion_ns = (mean_ns as f64 * self.variation?) as i64;
        Some(own_ns.unwrap_or(0).max(in_proportion_ns))
    }
}

/// A row of two runs: its mean and its own standard deviation in each.
fn delta(runs: &[Run<'_>; 2], [a, b]: [(i64, Option<i64>); 2]) -> Delta {
    let [before, after] = runs;
    let spread_ns = before.spread_ns(a.0, a.1).zip(after.spread_ns(b.0, b.1)).map(|(a_ns, b_ns)| a_ns.max(b_ns));
    Delta { a_ns: a.0, b_ns: b.0, spread_ns }
}

/// A row of known means whose value in every step is known.
fn by_step(runs: &[Run<'_>; 2], of: &dyn Fn(&StepSummary) -> i64, [a_ns, b_ns]: [i64; 2]) -> Delta {
    let spread_ns = |run: &Run<'_>| {
        let mut values: Vec<i64> = run.steps.iter().map(|step| of(step)).collect();
        mean_and_spread(&mut values).and_then(|(_, spread_ns)| spread_ns)
    };
    let [before, after] = runs;
    delta(runs, [(a_ns, spread_ns(before)), (b_ns, spread_ns(after))])
}

/// The mean of values by step and their standard deviation; `None` of nothing.
fn mean_and_spread(values: &mut [i64]) -> Option<(i64, Option<i64>)> {
    Summary::of(values).map(|all| (all.mean as i64, Some(all.deviation as i64)))
}

fn kernels(runs: &[Run<'_>; 2]) -> Vec<KernelDelta> {
    let mut joined: BTreeMap<(&str, Option<u16>), [Option<&KernelShape>; 2]> = BTreeMap::new();
    for (side, run) in runs.iter().enumerate() {
        for kernel in &run.rank.kernels {
            let both = joined.entry((&kernel.name, kernel.blocks)).or_default();
            if let Some(slot) = both.get_mut(side) {
                *slot = Some(kernel);
            }
        }
    }
    let steps = runs.each_ref().map(Run::count);
    let of = |((name, blocks), both): ((&str, Option<u16>), [Option<&KernelShape>; 2])| {
        let totals_ns = both.map(|kernel| kernel.map_or(0, |k| k.total_ns));
        let own_ns = both.map(|kernel| kernel.and_then(|k| k.step_spread_ns));
        KernelDelta {
            name: name.to_owned(),
            blocks,
            counts: both.map(|kernel| kernel.map_or(0, |k| k.count)),
            totals_ns,
            per_step: delta(runs, [(totals_ns[0] / steps[0], own_ns[0]), (totals_ns[1] / steps[1], own_ns[1])]),
            medians_ns: both.map(|kernel| kernel.map_or(0, |k| k.median_ns)),
        }
    };
    let mut list: Vec<KernelDelta> = joined.into_iter().map(of).collect();
    list.sort_by_key(|delta| Reverse(delta.per_step.ns().saturating_abs()));
    list
}

fn ranges(runs: &[Run<'_>; 2]) -> Vec<RangeDelta> {
    let mut joined: BTreeMap<&[String], [(i64, Option<i64>); 2]> = BTreeMap::new();
    for (side, run) in runs.iter().enumerate() {
        for range in &run.rank.ranges {
            if let Some((gpu_ns, own_ns)) = joined.entry(&range.path).or_default().get_mut(side) {
                *gpu_ns = gpu_ns.saturating_add(range.gpu_ns);
                *own_ns = (*own_ns).max(range.step_spread_ns);
            }
        }
    }
    let of = |(path, both): (&[String], [(i64, Option<i64>); 2])| RangeDelta {
        path: path.to_vec(),
        per_step: delta(runs, both),
    };
    let mut list: Vec<RangeDelta> = joined.into_iter().map(of).collect();
    list.sort_by_key(|delta| Reverse(delta.per_step.ns().saturating_abs()));
    list
}

/// Communication kernels that start in the steps that count, by kind and step: count, duration, exposed.
fn by_kind(run: &Run<'_>) -> BTreeMap<Collective, Vec<(u64, i64, i64)>> {
    let mut sums: BTreeMap<Collective, Vec<(u64, i64, i64)>> = BTreeMap::new();
    let steps = run.steps.len().max(1);
    for group in &run.rank.comm {
        for at in 0..group.len() {
            let Some(span) = group.span(at) else { continue };
            let step = run.steps.partition_point(|step| step.window.end_ns <= span.start_ns);
            let counts = run.steps.get(step).is_some_and(|step| step.window.contains(span.start_ns));
            let (Some(kind), Some(exposed_ns)) = (group.kind.get(at), group.exposed_ns.get(at)) else { continue };
            if counts || run.steps.is_empty() {
                let by_step = sums.entry(*kind).or_insert_with(|| vec![(0, 0, 0); steps]);
                if let Some((count, total, exposed)) = by_step.get_mut(step) {
                    *count += 1;
                    *total = total.saturating_add(span.len_ns());
                    *exposed = exposed.saturating_add(*exposed_ns);
                }
            }
        }
    }
    sums
}

fn collectives(runs: &[Run<'_>; 2]) -> Vec<CollectiveDelta> {
    let sums = runs.each_ref().map(by_kind);
    let kinds: BTreeSet<Collective> = sums.iter().flat_map(BTreeMap::keys).copied().collect();
    let delta = |kind: &Collective, of: fn(&(u64, i64, i64)) -> i64| {
        let of_run = |sums: &BTreeMap<Collective, Vec<(u64, i64, i64)>>| {
            let mut values: Vec<i64> = sums.get(kind).map_or_else(Vec::new, |sums| sums.iter().map(of).collect());
            mean_and_spread(&mut values).unwrap_or_default()
        };
        delta(runs, sums.each_ref().map(of_run))
    };
    let counts = |kind: &Collective| {
        sums.each_ref().map(|sums| sums.get(kind).map_or(0, |sums| sums.iter().map(|(count, ..)| count).sum()))
    };
    let of = |kind: Collective| CollectiveDelta {
        kind,
        counts: counts(&kind),
        per_step: delta(&kind, |(_, total, _)| *total),
        exposed: delta(&kind, |(_, _, exposed)| *exposed),
    };
    kinds.into_iter().map(of).collect()
}

/// Share of the kernel time whose kernels, told apart by `key`, the other run has, too: the smaller of both runs'; 0
/// without any.
fn in_common<'a, K: Ord>(a: &'a RankSummary, b: &'a RankSummary, key: impl Fn(&'a KernelShape) -> K) -> f64 {
    let of = |own: &'a [KernelShape], other: &'a [KernelShape]| {
        let there: BTreeSet<K> = other.iter().map(&key).collect();
        let sum =
            |of: &mut dyn Iterator<Item = &'a KernelShape>| of.fold(0_i64, |sum, k| sum.saturating_add(k.total_ns));
        let both = sum(&mut own.iter().filter(|kernel| there.contains(&key(kernel))));
        share(both, sum(&mut own.iter())).unwrap_or(0.0)
    };
    of(&a.kernels, &b.kernels).min(of(&b.kernels, &a.kernels))
}

#[cfg(test)]
mod tests;
