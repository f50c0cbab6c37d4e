//! Two runs beside each other: what a typical step costs before and after, and whether the difference is more than
//! the runs' own spread.
//!
//! Kernels are joined by full name and launch shape: one short name may stand for many templates. Numbers are means of
//! a typical step; of the whole span where no steps are marked.

use super::{KernelShape, RankSummary, StepSummary};
use crate::analysis::{Cause, Collective, Part};
use crate::units::share;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// With fewer typical steps than this the spread is not known, and [`FLOOR`] takes its place.
const ENOUGH_STEPS: usize = 3;
/// Share of the step that single runs differ by without a reason.
const FLOOR: f64 = 0.02;
/// Runs that share less of their kernel time than this are different programs.
pub const COMPARABLE: f64 = 0.5;

/// One number before and after, as the mean of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Delta {
    /// Before.
    pub a_ns: i64,
    /// After.
    pub b_ns: i64,
    /// How much it varies from step to step within a run: the larger standard deviation.
    pub spread_ns: i64,
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

    /// True when the difference is no more than the runs' own spread.
    pub const fn is_noise(&self) -> bool {
        self.ns().saturating_abs() <= self.spread_ns
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
    /// Median duration of one.
    pub median: Delta,
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
}

impl Comparable {
    /// True when both ran on one model of card, or when that was not recorded.
    pub fn same_gpu(&self) -> bool {
        let [a, b] = &self.gpus;
        a.is_none() || b.is_none() || a == b
    }
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
        let (before, after) = (Run::of(a), Run::of(b));
        // The means that every other place shows, so that one number is not rounded in two ways.
        let (mean_parts, mean_causes) = ([a, b].map(RankSummary::mean_parts), [a, b].map(RankSummary::mean_causes));
        let step = |of: &dyn Fn(&StepSummary) -> i64, means: [i64; 2]| before.delta(&after, of, means);
        let parts = Part::ALL.map(|part| (part, step(&|s| part.of(&s.parts), mean_parts.map(|mean| part.of(&mean)))));
        let causes =
            Cause::ALL.map(|cause| (cause, step(&|s| s.causes.of(cause), mean_causes.map(|mean| mean.of(cause)))));
        let is_there = |(_, delta): &(Cause, Delta)| delta.a_ns != 0 || delta.b_ns != 0;
        Self {
            step: step(&|s| s.window.len_ns(), mean_parts.map(|mean| mean.span_ns)),
            parts: parts.to_vec(),
            causes: causes.into_iter().filter(is_there).collect(),
            kernels: kernels(&before, &after),
            ranges: ranges(a, b),
            collectives: collectives(&before, &after),
            comparable: Comparable {
                gpus: [a.gpu.clone(), b.gpu.clone()],
                steps: [before.steps.len() as u64, after.steps.len() as u64],
                kernels_in_common: in_common(&a.kernels, &b.kernels).min(in_common(&b.kernels, &a.kernels)),
            },
        }
    }
}

/// A run and the steps of it that count.
struct Run<'a> {
    rank: &'a RankSummary,
    steps: Vec<&'a StepSummary>,
}

impl<'a> Run<'a> {
    fn of(rank: &'a RankSummary) -> Self {
        let marked = rank.has_marked_steps();
        Self { rank, steps: rank.steps.iter().filter(|step| marked && step.typical).collect() }
    }

    /// Steps that sums are divided by.
    fn count(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(1).max(1)
    }

    /// Standard deviation over the steps; a share of the step when there are too few to tell.
    fn spread(&self, of: &dyn Fn(&StepSummary) -> i64) -> i64 {
        if self.steps.len() < ENOUGH_STEPS {
            return (self.rank.mean_parts().span_ns as f64 * FLOOR) as i64;
        }
        let mut values: Vec<i64> = self.steps.iter().map(|step| of(step)).collect();
        crate::analysis::Summary::of(&mut values).map_or(0, |summary| summary.deviation as i64)
    }

    /// Two means with how much the steps vary in what `of` gives.
    fn delta(&self, after: &Self, of: &dyn Fn(&StepSummary) -> i64, [a_ns, b_ns]: [i64; 2]) -> Delta {
        Delta { a_ns, b_ns, spread_ns: self.spread(of).max(after.spread(of)) }
    }
}

fn kernels(before: &Run<'_>, after: &Run<'_>) -> Vec<KernelDelta> {
    let mut joined: BTreeMap<(&str, Option<u16>), [Option<&KernelShape>; 2]> = BTreeMap::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        for kernel in &run.rank.kernels {
            let both = joined.entry((&kernel.name, kernel.blocks)).or_default();
            if let Some(slot) = both.get_mut(side) {
                *slot = Some(kernel);
            }
        }
    }
    let of = |((name, blocks), [a, b]): ((&str, Option<u16>), [Option<&KernelShape>; 2])| {
        let number = |of: fn(&KernelShape) -> i64| [a.map_or(0, of), b.map_or(0, of)];
        let ([a_total, b_total], [a_median, b_median]) = (number(|k| k.total_ns), number(|k| k.median_ns));
        let [a_spread, b_spread] = number(|k| k.spread_ns);
        let count = |kernel: Option<&KernelShape>| kernel.map_or(0, |k| k.count);
        let spread_ns = a_spread.max(b_spread);
        // The sum of n durations that vary independently varies by the root of n times as much as one.
        let per_step = count(a).max(count(b)) as f64 / before.count().max(after.count()) as f64;
        KernelDelta {
            name: name.to_owned(),
            blocks,
            counts: [count(a), count(b)],
            totals_ns: [a_total, b_total],
            per_step: Delta {
                a_ns: a_total / before.count(),
                b_ns: b_total / after.count(),
                spread_ns: (spread_ns as f64 * per_step.max(1.0).sqrt()) as i64,
            },
            median: Delta { a_ns: a_median, b_ns: b_median, spread_ns },
        }
    };
    let mut list: Vec<KernelDelta> = joined.into_iter().map(of).collect();
    list.sort_by_key(|delta| Reverse(delta.per_step.ns().saturating_abs()));
    list
}

fn ranges(a: &RankSummary, b: &RankSummary) -> Vec<RangeDelta> {
    let mut joined: BTreeMap<&[String], [i64; 2]> = BTreeMap::new();
    for (side, rank) in [a, b].into_iter().enumerate() {
        for range in &rank.ranges {
            if let Some(slot) = joined.entry(&range.path).or_default().get_mut(side) {
                *slot = slot.saturating_add(range.gpu_ns);
            }
        }
    }
    let floor = |ns: i64| (ns as f64 * FLOOR) as i64;
    let of = |(path, [a_ns, b_ns]): (&[String], [i64; 2])| RangeDelta {
        path: path.to_vec(),
        per_step: Delta { a_ns, b_ns, spread_ns: floor(a_ns.max(b_ns)) },
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

fn collectives(before: &Run<'_>, after: &Run<'_>) -> Vec<CollectiveDelta> {
    let (a, b) = (by_kind(before), by_kind(after));
    let kinds: BTreeSet<Collective> = a.keys().chain(b.keys()).copied().collect();
    let summed = |sums: Option<&Vec<(u64, i64, i64)>>, of: fn(&(u64, i64, i64)) -> i64| {
        let mut values: Vec<i64> = sums.map_or_else(Vec::new, |sums| sums.iter().map(of).collect());
        crate::analysis::Summary::of(&mut values).map_or((0, 0), |s| (s.mean as i64, s.deviation as i64))
    };
    let delta = |kind: &Collective, of: fn(&(u64, i64, i64)) -> i64| {
        let ((a_ns, a_spread), (b_ns, b_spread)) = (summed(a.get(kind), of), summed(b.get(kind), of));
        Delta { a_ns, b_ns, spread_ns: a_spread.max(b_spread) }
    };
    let count = |sums: Option<&Vec<(u64, i64, i64)>>| sums.map_or(0, |sums| sums.iter().map(|(n, ..)| n).sum());
    let of = |kind: Collective| CollectiveDelta {
        kind,
        counts: [count(a.get(&kind)), count(b.get(&kind))],
        per_step: delta(&kind, |(_, total, _)| *total),
        exposed: delta(&kind, |(_, _, exposed)| *exposed),
    };
    kinds.into_iter().map(of).collect()
}

/// Share of the kernel time of `a` whose kernels `b` has, too; 0 without any.
fn in_common(a: &[KernelShape], b: &[KernelShape]) -> f64 {
    let there: BTreeSet<(&str, Option<u16>)> = b.iter().map(|kernel| (kernel.name.as_str(), kernel.blocks)).collect();
    let sum = |of: &mut dyn Iterator<Item = &KernelShape>| of.fold(0_i64, |sum, k| sum.saturating_add(k.total_ns));
    let both = sum(&mut a.iter().filter(|kernel| there.contains(&(kernel.name.as_str(), kernel.blocks))));
    share(both, sum(&mut a.iter())).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Causes, Partition, TypicalStep};

    #[test]
    fn a_difference_within_the_spread_is_noise() {
        let delta = |b_ns, spread_ns| Delta { a_ns: 100, b_ns, spread_ns };
        assert!(delta(105, 5).is_noise() && delta(95, 5).is_noise());
        assert!(!delta(106, 5).is_noise() && !delta(94, 5).is_noise());
        assert_eq!((delta(150, 0).share(), Delta::default().share()), (Some(0.5), None));
    }

    #[test]
    fn parts_are_the_means_that_are_shown_elsewhere() {
        let parts = |exposed_comm_ns, idle_ns| Partition {
            span_ns: exposed_comm_ns + idle_ns,
            exposed_comm_ns,
            idle_ns,
            ..Partition::default()
        };
        // The sums leave remainders, so that means that sum to the step are not each rounded down.
        let of = [parts(2, 5), parts(3, 5), parts(3, 6)];
        let step = |parts| StepSummary { parts, typical: true, ..StepSummary::default() };
        let rank = RankSummary {
            typical: Some(TypicalStep {
                count: 3,
                median_span_ns: 8,
                mean: Partition::mean(&of),
                causes: Causes::default(),
            }),
            steps: of.map(step).to_vec(),
            ..RankSummary::default()
        };
        let mean = rank.mean_parts();
        assert_eq!((mean.span_ns, mean.exposed_comm_ns, mean.idle_ns), (8, 3, 5), "8/3 and 16/3 sum to 24/3");
        let diff = Diff::of(&rank, &rank);
        assert_eq!((diff.step.a_ns, diff.step.b_ns), (8, 8));
        for (part, delta) in &diff.parts {
            assert_eq!((delta.a_ns, delta.b_ns), (part.of(&mean), part.of(&mean)), "{part:?}");
        }
    }

    #[test]
    fn kernels_are_joined_by_full_name_and_shape() {
        let kernel = |name: &str, blocks, total_ns| KernelShape {
            name: name.to_owned(),
            blocks,
            family: None,
            count: 1,
            total_ns,
            median_ns: total_ns,
            spread_ns: 0,
        };
        let rank = |kernels| RankSummary { kernels, ..RankSummary::default() };
        let a = rank(vec![kernel("f<1>", Some(4), 60), kernel("f<2>", Some(4), 40)]);
        let b = rank(vec![kernel("f<1>", Some(4), 90), kernel("f<2>", Some(8), 10)]);
        let diff = Diff::of(&a, &b);
        let rows: Vec<_> = diff.kernels.iter().map(|k| (k.name.as_str(), k.blocks, k.totals_ns)).collect();
        assert_eq!(rows, [("f<2>", Some(4), [40, 0]), ("f<1>", Some(4), [60, 90]), ("f<2>", Some(8), [0, 10])]);
        assert_eq!(diff.comparable.kernels_in_common, 0.6);
    }
}
