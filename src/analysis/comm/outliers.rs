//! Collectives that took much longer than others like them.

use super::super::Thresholds;
use super::super::partition::median_of;
use super::CommOp;
use serde::Serialize;
use std::collections::BTreeSet;

/// Why a collective stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutlierReason {
    /// The first of its communicator in this capture: connections are made and buffers registered.
    First,
    /// So small that it takes microseconds: all the rest is waiting.
    Waited,
    /// Much longer than others of its kind and size.
    Long,
    /// Much longer than others of its kernel and stream; its size is unknown.
    LongOfUnknownSize,
}

impl OutlierReason {
    /// What it means, for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::First => "first of its communicator: connections are made",
            Self::Waited => "waited for another rank: so small a message takes microseconds",
            Self::Long => "far over the mean of its kind and size",
            Self::LongOfUnknownSize => "far over the mean of its kernel; its size is unknown",
        }
    }
}

/// A collective that stands out. It is left out of medians and bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlier {
    /// The operation.
    pub op: u32,
    /// How long it took.
    pub len_ns: i64,
    /// Median of those like it, itself included.
    pub usual_ns: i64,
    /// Why.
    pub reason: OutlierReason,
}

/// Fewer kernels than this have no mean worth comparing with, nor a median.
pub const FEWEST_ALIKE: usize = 4;

/// Marks what stands out among `ops`, which must be in order of time, and lists it, longest first.
pub(super) fn mark(ops: &mut [CommOp], limits: &Thresholds) -> Vec<Outlier> {
    let mut seen = BTreeSet::new();
    for op in ops.iter_mut() {
        let Some(message) = op.message else { continue };
        op.first = message.communicator.is_some_and(|id| seen.insert(id));
        op.waited = message.bytes <= limits.tiny_message_bytes && op.len_ns >= limits.tiny_message_wait_ns;
    }
    let mut order: Vec<_> = ops.iter_mut().collect();
    order.sort_by_key(|op| op.like());
    let mut found = Vec::new();
    for group in order.chunk_by_mut(|a, b| a.like() == b.like()) {
        let sum: i128 = group.iter().map(|op| i128::from(op.len_ns)).sum();
        let usual_ns = median_of(group.iter().map(|op| op.len_ns).collect()).unwrap_or(0);
        let count = group.len();
        let others = count as i128 - 1;
        for op in group {
            let len_ns = i128::from(op.len_ns);
            op.outlier =
                count >= FEWEST_ALIKE && len_ns * others > i128::from(limits.outlier_times_mean) * (sum - len_ns);
            if op.outlier || op.waited {
                found.push(Outlier { op: op.op, len_ns: op.len_ns, usual_ns, reason: reason(op) });
            }
        }
    }
    found.sort_unstable_by_key(|outlier| (std::cmp::Reverse(outlier.len_ns), outlier.op));
    found
}

fn reason(op: &CommOp) -> OutlierReason {
    match op.message {
        _ if op.first => OutlierReason::First,
        Some(_) if op.waited => OutlierReason::Waited,
        Some(_) => OutlierReason::Long,
        None => OutlierReason::LongOfUnknownSize,
    }
}
