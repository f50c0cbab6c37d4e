//! Ranks by steps: one number for each, for the eye to find the odd one.

use super::Job;
use crate::analysis::{StepEdge, median_of};
use crate::units::share;
use serde::Serialize;
use std::collections::BTreeSet;

/// Least length of the colour scale, as a share of the median.
const LEAST_SPREAD: f64 = 0.05;

/// What the cells show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeatMetric {
    /// Length of the step.
    #[default]
    StepTime,
    /// Wait for other ranks in matched collectives: what this rank waited.
    Wait,
    /// Exposed communication.
    Exposed,
    /// Idle time.
    Idle,
    /// Model FLOPs utilisation of the step.
    Mfu,
}

impl HeatMetric {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 5] = [Self::StepTime, Self::Wait, Self::Exposed, Self::Idle, Self::Mfu];

    /// True when cells are shares, 0 to 1, and not nanoseconds.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Mfu)
    }

    /// True when more is better.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::Mfu)
    }
}

/// One number for each rank and step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heat {
    /// What the cells show.
    pub metric: HeatMetric,
    /// Numbers of the steps, sorted; places in order of time where steps have no number.
    pub steps: Vec<i64>,
    /// Ranks, as indices into [`Job::ranks`].
    pub ranks: Vec<usize>,
    /// Rank after rank, each as long as `steps`: nanoseconds or a share; `None` where a rank has no such step.
    pub cells: Vec<Option<f64>>,
    /// True when the steps of any rank are a guess from repeating kernels.
    pub estimated: bool,
    /// The ends of the colour scale: least and most of the cells, outliers and warm-up left out, and at least 5 % of the median
    /// apart. `None` without any cell.
    pub scale: Option<(f64, f64)>,
}

impl Heat {
    /// The numbers of `job`. `ideal_step_ns` is the time that the step's model FLOPs take at the peak, where known:
    /// MFU of a step is that over its length.
    pub fn of(job: &Job, metric: HeatMetric, ideal_step_ns: Option<f64>) -> Self {
        let number = |rank: usize, at: usize| step_number(job, rank, at);
        let ranks: Vec<usize> =
            (0..job.ranks.len()).filter(|rank| job.summary(*rank).is_some_and(|s| !s.steps.is_empty())).collect();
        let count = |rank: usize| job.summary(rank).map_or(0, |s| s.steps.len());
        let steps: BTreeSet<i64> =
            ranks.iter().flat_map(|rank| (0..count(*rank)).filter_map(|at| number(*rank, at))).collect();
        let steps: Vec<i64> = steps.into_iter().collect();
        let mut cells = vec![None; ranks.len().saturating_mul(steps.len())];
        let mut whole = Vec::new();
        for (row, rank) in ranks.iter().enumerate() {
            for at in 0..count(*rank) {
                let Some(column) = number(*rank, at).and_then(|number| steps.binary_search(&number).ok()) else {
                    continue;
                };
                let value = value(job, *rank, at, metric, ideal_step_ns);
                if let Some(cell) = cells.get_mut(row * steps.len() + column) {
                    *cell = value;
                }
                let edge = job.summary(*rank).and_then(|s| s.steps.get(at)?.edge);
                whole.extend(value.filter(|_| !matches!(edge, Some(StepEdge::WarmUp | StepEdge::Cut))));
            }
        }
        let scale = scale(&cells, &whole, metric);
        let estimated = ranks.iter().any(|rank| job.summary(*rank).is_some_and(|s| s.steps_estimated));
        Self { metric, steps, ranks, cells, estimated, scale }
    }

    /// The number of the rank in row `row` and the step in column `column`.
    pub fn cell(&self, row: usize, column: usize) -> Option<f64> {
        (column < self.steps.len()).then(|| self.cells.get(row * self.steps.len() + column).copied())?.flatten()
    }

    /// True when `a` is further from what is wanted than `b`.
    pub fn is_worse(&self, a: f64, b: f64) -> bool {
        if self.metric.more_is_better() { a < b } else { a > b }
    }

    /// Median over the ranks, by step; `None` for a step without any value.
    pub fn medians(&self) -> Vec<Option<f64>> {
        let median = |column: usize| {
            let mut values: Vec<f64> = (0..self.ranks.len()).filter_map(|row| self.cell(row, column)).collect();
            values.sort_by(f64::total_cmp);
            let upper = *values.get(values.len() / 2)?;
            let lower = *values.get((values.len() - 1) / 2)?;
            Some((lower + upper) / 2.0)
        };
        (0..self.steps.len()).map(median).collect()
    }

    /// The step of column `column` on the rank of row `row`: an index into that rank's steps.
    pub fn step_at(&self, job: &Job, row: usize, column: usize) -> Option<usize> {
        let (rank, number) = (*self.ranks.get(row)?, *self.steps.get(column)?);
        (0..job.summary(rank)?.steps.len()).find(|at| step_number(job, rank, *at) == Some(number))
    }

    /// Row and column of step `at` of a rank, which is an index into [`Job::ranks`]; `None` when it is not in the map.
    pub fn cell_of(&self, job: &Job, rank: usize, at: usize) -> Option<(usize, usize)> {
        let column = self.steps.binary_search(&step_number(job, rank, at)?).ok()?;
        Some((self.ranks.binary_search(&rank).ok()?, column))
    }

    /// Where a value stands on the scale, 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        self.scale
            .map_or(0.0, |(low, high)| if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 })
    }
}

/// How far a value is from a median, as a share of the median; `None` when that is 0.
pub fn deviation(value: f64, median: f64) -> Option<f64> {
    (median != 0.0).then(|| (value - median) / median)
}

/// What step `at` of a rank is found by: its counter, else its place.
fn step_number(job: &Job, rank: usize, at: usize) -> Option<i64> {
    let step = job.summary(rank)?.steps.get(at)?;
    Some(step.number.unwrap_or_else(|| i64::try_from(at).unwrap_or(i64::MAX)))
}

fn value(job: &Job, rank: usize, at: usize, metric: HeatMetric, ideal_step_ns: Option<f64>) -> Option<f64> {
    let step = job.summary(rank)?.steps.get(at)?;
    Some(match metric {
        HeatMetric::StepTime => step.window.len_ns() as f64,
        HeatMetric::Exposed => step.parts.exposed_comm_ns as f64,
        HeatMetric::Idle => step.parts.idle_ns as f64,
        HeatMetric::Wait => *job.stragglers.waits_ns.get(&(rank, step.number?))? as f64,
        HeatMetric::Mfu => ideal_step_ns.filter(|_| step.window.len_ns() > 0)? / step.window.len_ns() as f64,
    })
}

/// From the smallest value to the largest one, or to where outliers begin, so that one long step does not flatten the
/// rest and still stands out: steps are outliers over 1.5 times the median, as everywhere; amounts within a step, which
/// vary more, over three times.
///
/// Values of `whole` steps decide where it ends: warm-up, which is longer, would leave the others one colour.
fn scale(cells: &[Option<f64>], whole: &[f64], metric: HeatMetric) -> Option<(f64, f64)> {
    let most = if metric == HeatMetric::StepTime { 1.5 } else { 3.0 };
    let all: Vec<f64> = cells.iter().flatten().copied().collect();
    let values = if whole.is_empty() { &all } else { whole };
    let median = median_of(values.iter().map(|value| (value * 1e6) as i64).collect())? as f64 / 1e6;
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(low, f64::max);
    let high = if median > 0.0 { largest.min(median * most) } else { largest };
    // Differences that are within what any run varies by are not blown up.
    Some((low, if metric.is_share() { high } else { high.max(low + median.max(0.0) * LEAST_SPREAD) }))
}

/// Share of the time of its typical steps that a rank waited for others; of its whole span where no steps are marked.
/// `None` when no collective of it could be matched.
pub fn wait_share(job: &Job, rank: usize) -> Option<f64> {
    let summary = job.summary(rank)?;
    let waits = job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0)?;
    if !summary.has_marked_steps() {
        return share(waits.split.wait_ns, summary.span.len_ns());
    }
    let typical = || summary.steps.iter().filter(|step| step.typical);
    let waited = typical().filter_map(|step| job.stragglers.waits_ns.get(&(rank, step.number?)));
    let waited_ns = waited.fold(0_i64, |sum, ns| sum.saturating_add(*ns));
    share(waited_ns, typical().fold(0, |sum: i64, step| sum.saturating_add(step.window.len_ns())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_ends_where_outliers_begin_and_does_not_blow_up_noise() {
        let of = |values: &[f64], metric| {
            let cells: Vec<Option<f64>> = values.iter().map(|v| Some(*v)).collect();
            scale(&cells, &[], metric).unwrap()
        };
        assert_eq!(of(&[100.0, 120.0, 100.0, 190.0], HeatMetric::StepTime), (100.0, 165.0));
        assert_eq!(of(&[100.0, 120.0, 100.0, 190.0], HeatMetric::Idle), (100.0, 190.0));
        assert_eq!(of(&[100.0, 101.0, 100.0], HeatMetric::StepTime), (100.0, 105.0));
        assert_eq!(scale(&[None], &[], HeatMetric::Wait), None);
        // Warm-up of 150 has the colour of the end, and the others are told apart.
        let cells = [150.0, 100.0, 110.0, 104.0].map(Some);
        assert_eq!(scale(&cells, &[100.0, 110.0, 104.0], HeatMetric::StepTime), Some((100.0, 110.0)));
    }

    #[test]
    fn medians_are_those_of_the_ranks_that_have_the_step() {
        let cells = vec![Some(1.0), None, Some(5.0), Some(3.0), None, None, Some(8.0), None, Some(6.0)];
        let heat = Heat { steps: vec![1, 2, 3], ranks: vec![0, 1, 2], cells, ..Heat::default() };
        assert_eq!(heat.medians(), [Some(3.0), None, Some(5.5)]);
        assert!(heat.is_worse(2.0, 1.0));
        assert!(Heat { metric: HeatMetric::Mfu, ..heat }.is_worse(1.0, 2.0));
    }
}
