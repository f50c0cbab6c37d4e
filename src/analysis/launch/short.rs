//! Kernels so short that launching them costs as much as running them.

use super::super::{RankAnalysis, Thresholds};
use crate::trace::{OpKind, OpNameId, Trace};
use crate::units::share;

/// Names kept at most.
const NAMES: usize = 100;

/// Kernels that take about as long to launch as to run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShortKernels {
    /// Kernels shorter than this count, nanoseconds.
    pub below_ns: i64,
    /// How many.
    pub count: u64,
    /// Share of all kernels.
    pub count_share: Option<f64>,
    /// Sum of their durations in nanoseconds.
    pub total_ns: i64,
    /// Share of the durations of all kernels.
    pub time_share: Option<f64>,
    /// Mean duration of all kernels.
    pub mean_kernel_ns: Option<i64>,
    /// Kernels launched at least so often are listed.
    pub often_from: u64,
    /// Names launched that often whose mean duration is short, the one launched most often first.
    pub often: Vec<SmallKernel>,
    /// Sum of the durations of all such kernels.
    pub often_ns: i64,
    /// That as a share of the time during which anything ran.
    pub often_share: Option<f64>,
}

/// A kernel launched often and short on the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallKernel {
    /// Its name.
    pub name: OpNameId,
    /// Kernels.
    pub count: u64,
    /// Sum of their durations in nanoseconds.
    pub total_ns: i64,
    /// Mean, rounded down.
    pub mean_ns: i64,
}

impl ShortKernels {
    /// Kernels of every class of rank `rank`.
    pub(super) fn of(trace: &Trace, rank: usize, numbers: &RankAnalysis, limits: &Thresholds) -> Self {
        let Some(ops) = trace.ranks.get(rank).map(|rank| &rank.ops) else { return Self::default() };
        let (below_ns, often_from) = (limits.small_kernel_ns, limits.often_launched);
        let mut short = Self { below_ns, often_from, ..Self::default() };
        let (mut count, mut total_ns) = (0_u64, 0_i64);
        let mut names = vec![(0_u64, 0_i64); trace.op_names.len()];
        for op in (0..ops.len()).filter(|op| ops.kind[*op] == OpKind::Kernel) {
            let len_ns = ops.span(op).len_ns();
            count += 1;
            total_ns = total_ns.saturating_add(len_ns);
            if len_ns < below_ns {
                short.count += 1;
                short.total_ns = short.total_ns.saturating_add(len_ns);
            }
            if let Some(sum) = names.get_mut(ops.name[op].0 as usize) {
                *sum = (sum.0 + 1, sum.1.saturating_add(len_ns));
            }
        }
        let whole = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        short.count_share = share(whole(short.count), whole(count));
        short.time_share = share(short.total_ns, total_ns);
        short.mean_kernel_ns = (count > 0).then(|| total_ns / whole(count));
        let small =
            names.into_iter().enumerate().filter(|(_, (count, _))| *count >= often_from.max(1)).map(|(at, sum)| {
                SmallKernel { name: OpNameId(at as u32), count: sum.0, total_ns: sum.1, mean_ns: sum.1 / whole(sum.0) }
            });
        short.often = small.filter(|kernel| kernel.mean_ns < below_ns).collect();
        short.often.sort_by_key(|kernel| (std::cmp::Reverse(kernel.count), kernel.name));
        short.often_ns = short.often.iter().fold(0, |sum: i64, kernel| sum.saturating_add(kernel.total_ns));
        short.often_share = share(short.often_ns, numbers.busy.total_ns());
        short.often.truncate(NAMES);
        short
    }
}
