//! Bandwidth of a collective as nccl-tests define it.
//!
//! Algorithm bandwidth is size over time, where the size of an all-gather, a reduce-scatter and an all-to-all is the
//! whole buffer: as many times the bytes of one rank as there are ranks. Bus bandwidth multiplies it by the share of the
//! size that has to cross a rank's links, so that it can be compared with the link's speed whatever the collective.

use super::super::Collective;
use super::super::partition::median_of;
use super::CommOp;
use serde::Serialize;

/// Bandwidth in bytes per nanosecond, which is gigabytes (powers of ten) per second.
///
/// A kernel's duration holds its wait for late ranks, so every value is a lower bound of what the links gave. The first
/// collective of a communicator, outliers, and kernels that waited are left out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Bandwidth {
    /// Kernels it was measured on.
    pub kernels: u64,
    /// Median algorithm bandwidth.
    pub algorithm_gb_per_s: Option<f64>,
    /// Median bus bandwidth; unknown while the number of ranks is.
    pub bus_gb_per_s: Option<f64>,
    /// Bus bandwidth of the fastest kernel, the one that waited least.
    pub best_bus_gb_per_s: Option<f64>,
}

impl Bandwidth {
    /// Over those of `ops` whose size is known; `None` when there are none.
    pub(super) fn of<'a>(ops: impl Iterator<Item = &'a CommOp> + Clone) -> Option<Self> {
        let counted = ops.filter(|op| !op.first && !op.waited && !op.outlier);
        let algorithm = sorted(counted.clone().filter_map(CommOp::algorithm_gb_per_s));
        let bus = sorted(counted.filter_map(CommOp::bus_gb_per_s));
        let kernels = algorithm.len().max(bus.len()) as u64;
        (kernels > 0).then(|| Self {
            kernels,
            algorithm_gb_per_s: median(&algorithm),
            bus_gb_per_s: median(&bus),
            best_bus_gb_per_s: bus.last().copied(),
        })
    }
}

/// Share of the size that crosses a rank's links in a communicator of `ranks`; `None` when that depends on the number
/// of ranks and it is unknown, or nothing crosses a link. Factors of nccl-tests.
pub(super) fn bus_factor(kind: Collective, ranks: Option<u32>) -> Option<f64> {
    let n = || ranks.filter(|n| *n > 1).map(f64::from);
    match kind {
        Collective::AllReduce => n().map(|n| 2.0 * (n - 1.0) / n),
        Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => n().map(|n| (n - 1.0) / n),
        Collective::Broadcast | Collective::Reduce | Collective::SendRecv => Some(1.0),
        Collective::Other => None,
    }
}

/// Bus bandwidth in gigabytes per second of a collective that moved `bytes` (as one rank states them) in `len_ns`;
/// `None` when the size, the time or a number of ranks that it needs is not known.
pub fn bus_gb_per_s(kind: Collective, ranks: Option<u32>, bytes: u64, len_ns: i64) -> Option<f64> {
    let factor = bus_factor(kind, ranks).filter(|_| len_ns > 0 && bytes > 0)?;
    Some(size_bytes(kind, ranks, bytes)? / len_ns as f64 * factor)
}

/// Bytes of the whole buffer, from those that one rank states.
pub(super) fn size_bytes(kind: Collective, ranks: Option<u32>, bytes: u64) -> Option<f64> {
    match kind {
        Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => {
            ranks.map(|n| f64::from(n) * bytes as f64)
        }
        Collective::Other => None,
        _ => Some(bytes as f64),
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

/// Collectives of one kind, size and communicator that take longer while compute runs.
///
/// Both share the device's memory and multiprocessors, so overlap is not free. A late rank makes a collective longer
/// too; with one rank the two cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Contention {
    /// Kernels at least half of which was overlapped.
    pub overlapped: u64,
    /// Their median duration.
    pub overlapped_median_ns: i64,
    /// Kernels of the same size at most a tenth of which was overlapped.
    pub alone: u64,
    /// Their median duration.
    pub alone_median_ns: i64,
    /// How many times as long the overlapped ones took.
    pub ratio: f64,
}

/// Kernels of either sort that a comparison needs.
const FEWEST: usize = 3;

impl Contention {
    /// Compares the kernels of one size; a difference is told from `notable_ratio` on.
    pub(super) fn of(ops: &[&CommOp], notable_ratio: f64) -> Option<Self> {
        let lengths = |keep: &dyn Fn(&CommOp) -> bool| -> Vec<i64> {
            let kept = ops.iter().filter(|op| !op.first && !op.outlier && !op.waited && op.len_ns > 0 && keep(op));
            kept.map(|op| op.len_ns).collect()
        };
        let overlapped = lengths(&|op| op.overlapped_ns() >= op.len_ns / 2);
        let alone = lengths(&|op| op.overlapped_ns() <= op.len_ns / 10);
        if overlapped.len() < FEWEST || alone.len() < FEWEST {
            return None;
        }
        let counts = (overlapped.len() as u64, alone.len() as u64);
        let (overlapped_median_ns, alone_median_ns) = (median_of(overlapped)?, median_of(alone)?);
        let ratio = overlapped_median_ns as f64 / alone_median_ns as f64;
        (ratio >= notable_ratio).then_some(Self {
            overlapped: counts.0,
            overlapped_median_ns,
            alone: counts.1,
            alone_median_ns,
            ratio,
        })
    }
}
