//! Sums over communication kernels of one sort.

use super::super::Thresholds;
use super::super::partition::median_of;
use super::{Bandwidth, CommOp, Contention, Variant};
use serde::Serialize;
use std::collections::BTreeMap;

/// Sums over some communication kernels.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CommSums {
    /// Kernels.
    pub count: u64,
    /// Sum of their durations in nanoseconds (they may overlap each other).
    pub total_ns: i64,
    /// Nanoseconds of them during which no compute kernel of the device ran.
    pub exposed_ns: i64,
    /// Nanoseconds of them during which one did.
    pub overlapped_ns: i64,
    /// Median duration, outliers left out.
    pub median_ns: i64,
    /// Shortest.
    pub min_ns: i64,
    /// Longest, outliers included.
    pub longest_ns: i64,
    /// Outliers among them, and small messages that waited for another rank.
    pub outliers: u64,
    /// Kernels whose size is known.
    pub sized: u64,
    /// Their bytes, as this rank's calls state them; `None` when no size is known.
    pub bytes: Option<u64>,
    /// Bandwidth, when any size is known.
    pub bandwidth: Option<Bandwidth>,
    /// Kernels that took longer while compute ran, when there are enough of one size to compare.
    pub contention: Option<Contention>,
    /// Algorithms and protocols in the kernels' names, the one with the most time first.
    pub variants: Vec<VariantSum>,
}

/// The short form of [`CommSums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CollectiveSum {
    /// Kernels.
    pub count: u64,
    /// Sum of their durations in nanoseconds (they may overlap each other).
    pub total_ns: i64,
    /// Nanoseconds of them during which no compute kernel of the device ran.
    pub exposed_ns: i64,
}

impl CollectiveSum {
    /// Of these sums.
    pub const fn of(sums: &CommSums) -> Self {
        Self { count: sums.count, total_ns: sums.total_ns, exposed_ns: sums.exposed_ns }
    }
}

/// Kernels with one algorithm and protocol in their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct VariantSum {
    /// What the name tells.
    #[serde(flatten)]
    pub variant: Variant,
    /// Kernels.
    pub count: u64,
    /// Sum of their durations in nanoseconds.
    pub total_ns: i64,
}

/// Sums of `ops` by key, in the keys' order; operations without a key are left out.
pub(super) fn grouped<K: Ord>(
    ops: &[CommOp],
    limits: &Thresholds,
    key: impl Fn(&CommOp) -> Option<K>,
) -> Vec<(K, CommSums)> {
    let mut groups: BTreeMap<K, Vec<&CommOp>> = BTreeMap::new();
    for op in ops {
        if let Some(key) = key(op) {
            groups.entry(key).or_default().push(op);
        }
    }
    groups.into_iter().map(|(key, ops)| (key, CommSums::of(&ops, limits))).collect()
}

impl CommSums {
    fn of(ops: &[&CommOp], limits: &Thresholds) -> Self {
        let usual: Vec<i64> = ops.iter().filter(|op| !op.outlier).map(|op| op.len_ns).collect();
        let sum = |of: fn(&CommOp) -> i64| ops.iter().fold(0_i64, |sum, op| sum.saturating_add(of(op)));
        let sizes = || ops.iter().filter_map(|op| op.message).map(|message| message.bytes);
        let sized = sizes().count() as u64;
        Self {
            count: ops.len() as u64,
            total_ns: sum(|op| op.len_ns),
            exposed_ns: sum(|op| op.exposed_ns),
            overlapped_ns: sum(CommOp::overlapped_ns),
            median_ns: median_of(usual).unwrap_or(0),
            min_ns: ops.iter().map(|op| op.len_ns).min().unwrap_or(0),
            longest_ns: ops.iter().map(|op| op.len_ns).max().unwrap_or(0),
            outliers: ops.iter().filter(|op| op.outlier || op.waited).count() as u64,
            sized,
            bytes: (sized > 0).then(|| sizes().fold(0, u64::saturating_add)),
            bandwidth: Bandwidth::of(ops.iter().copied()),
            contention: contention(ops, limits.contention_ratio),
            variants: variants(ops),
        }
    }
}

/// The clearest case: among the sizes that can be compared, the one with the most time.
fn contention(ops: &[&CommOp], notable_ratio: f64) -> Option<Contention> {
    let mut sized: Vec<&CommOp> = ops.iter().copied().filter(|op| op.message.is_some()).collect();
    sized.sort_by_key(|op| op.like());
    let of_size = sized.chunk_by(|a, b| a.like() == b.like());
    let cases = of_size.filter_map(|ops| {
        let total_ns = ops.iter().fold(0_i64, |sum, op| sum.saturating_add(op.len_ns));
        Some((total_ns, Contention::of(ops, notable_ratio)?))
    });
    cases.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, contention)| contention)
}

fn variants(ops: &[&CommOp]) -> Vec<VariantSum> {
    let mut sums: BTreeMap<Variant, (u64, i64)> = BTreeMap::new();
    for op in ops {
        let sum = sums.entry(op.variant).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(op.len_ns));
    }
    let mut sums: Vec<VariantSum> =
        sums.into_iter().map(|(variant, (count, total_ns))| VariantSum { variant, count, total_ns }).collect();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.total_ns));
    sums
}
