//! Communication of one rank: sums by kind, stream and communicator, what was exposed, what stands out.
//!
//! Durations are those of GPU kernels, never of the calls that asked for them. How much of a kernel was waiting for
//! other ranks cannot be told from one rank.
//!
//! Cost: a few passes over the communication kernels and one over the NVTX ranges of the threads that launched them;
//! kept are the lists (at most [`LISTED`] entries each), 16 bytes for each kernel and 48 more where its size is known.

mod bandwidth;
mod messages;
mod outliers;
mod sums;
#[cfg(test)]
mod tests;
mod variant;

pub use bandwidth::{Bandwidth, Contention, bus_gb_per_s};
pub use messages::{Message, Sizes};
pub use outliers::{FEWEST_ALIKE, Outlier, OutlierReason};
pub use sums::{CollectiveSum, CommSums, VariantSum};
pub use variant::{Algorithm, Protocol, Variant};

use super::{Class, Classes, Collective, Coverage, Params};
use crate::trace::{OpTable, Trace};
use crate::units::Span;
use std::collections::BTreeMap;
use sums::grouped;

/// Entries of a list at most.
pub const LISTED: usize = 1000;

/// Communication of one rank.
#[derive(Debug, Default)]
pub struct Communication {
    /// Sums by kind of collective, by kind.
    pub by_kind: Vec<(Collective, CommSums)>,
    /// Sums by stream (an index into the rank's streams), by stream.
    pub by_stream: Vec<(usize, CommSums)>,
    /// Sums by communicator, where calls name one, by the communicator's number.
    pub by_communicator: Vec<(u64, CommSums)>,
    /// Ranks of the communicators in `by_communicator`, in its order, where known.
    pub communicator_ranks: Vec<Option<u32>>,
    /// The longest spans of exposed communication, longest first.
    pub exposed: Vec<ExposedSpan>,
    /// How many there are.
    pub exposed_spans: u64,
    /// What stands out, longest first.
    pub outliers: Vec<Outlier>,
    /// How many there are.
    pub outlier_count: u64,
    /// Whether sizes are known, and if not, why; `None` without communication.
    pub sizes: Option<Sizes>,
    /// What each kernel moved, as (operation, message) sorted by operation, where known.
    pub messages: Vec<(u32, Message)>,
    /// Every communication kernel, in order of time.
    pub kernels: Vec<CommKernel>,
    /// What calls tell of the communicators of the process, by their number.
    pub communicators: BTreeMap<u64, Communicator>,
}

/// A communication kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommKernel {
    /// The operation.
    pub op: u32,
    /// What it did, as its name or its calls tell.
    pub kind: Collective,
    /// Of its duration: without any compute kernel on the device.
    pub exposed_ns: i64,
}

/// What is known of a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Communicator {
    /// Its ranks.
    pub ranks: Option<u32>,
    /// The number of this process's rank in it.
    pub own_rank: Option<u32>,
}

/// Communication while no compute kernel ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExposedSpan {
    /// When.
    pub span: Span,
    /// The communication kernel that ran for most of it.
    pub op: u32,
}

/// One communication kernel while sums are made.
#[derive(Debug, Clone, Copy)]
struct CommOp {
    op: u32,
    kind: Collective,
    name: u32,
    stream: u16,
    variant: Variant,
    len_ns: i64,
    exposed_ns: i64,
    message: Option<Message>,
    /// Ranks of its communicator.
    ranks: Option<u32>,
    /// First of its communicator.
    first: bool,
    outlier: bool,
    waited: bool,
}

/// What makes kernels comparable: their kind, then bytes and communicator, or name and stream when those are unknown.
type Alike = (Collective, Option<(u64, Option<u64>)>, Option<(u32, u16)>);

impl CommOp {
    const fn kernel(&self) -> CommKernel {
        CommKernel { op: self.op, kind: self.kind, exposed_ns: self.exposed_ns }
    }

    const fn overlapped_ns(&self) -> i64 {
        self.len_ns.saturating_sub(self.exposed_ns)
    }

    /// What it is compared by.
    fn like(&self) -> Alike {
        match self.message {
            Some(message) => (self.kind, Some((message.bytes, message.communicator)), None),
            None => (self.kind, None, Some((self.name, self.stream))),
        }
    }

    /// Size over time, in bytes per nanosecond.
    fn algorithm_gb_per_s(&self) -> Option<f64> {
        let message = self.message.filter(|_| self.len_ns > 0)?;
        Some(bandwidth::size_bytes(message.kind?, self.ranks, message.bytes)? / self.len_ns as f64)
    }

    fn bus_gb_per_s(&self) -> Option<f64> {
        let factor = bandwidth::bus_factor(self.message?.kind?, self.ranks)?;
        self.algorithm_gb_per_s().map(|algorithm| algorithm * factor)
    }
}

impl Communication {
    /// Communication of rank `rank`, exposed where `exposed` says. What the user says of the run tells the size of
    /// communicators that were made before the capture.
    pub(super) fn of(trace: &Trace, rank: usize, classes: &Classes, exposed: &Coverage, params: &Params) -> Self {
        let limits = &params.thresholds;
        let ranks = params.experiment.as_ref().and_then(|given| given.parallel.only_communicator(given.run.gpus));
        let Some(table) = trace.ranks.get(rank).map(|rank| &rank.ops) else { return Self::default() };
        let kernels: Vec<(u32, Collective)> = kernels(table, classes).collect();
        if kernels.is_empty() {
            return Self::default();
        }
        let found = messages::messages(trace, rank, &kernels);
        let known = messages::communicators(trace, trace.ranks.get(rank).map(|rank| rank.process));
        let size = |id: &u64| known.get(id).and_then(|known| known.ranks);
        let mut ops = comm_ops(trace, table, &kernels, exposed, &found);
        for op in &mut ops {
            let communicator = op.message.and_then(|message| message.communicator);
            op.ranks = communicator.as_ref().and_then(size).or(ranks);
        }
        let mut outliers = outliers::mark(&mut ops, limits);
        let (outlier_count, exposed_spans) = (outliers.len() as u64, exposed.spans().len() as u64);
        outliers.truncate(LISTED);
        let by_communicator = grouped(&ops, limits, |op| op.message.and_then(|message| message.communicator));
        Self {
            by_kind: grouped(&ops, limits, |op| Some(op.kind)),
            by_stream: grouped(&ops, limits, |op| Some(usize::from(op.stream))),
            communicator_ranks: by_communicator.iter().map(|(id, _)| size(id).or(ranks)).collect(),
            by_communicator,
            exposed: exposed_list(table, &kernels, exposed),
            exposed_spans,
            outliers,
            outlier_count,
            sizes: Some(match (found.by_op.len(), found.values, found.ranges) {
                (known, ..) if known == kernels.len() => Sizes::All,
                (_, true, _) => Sizes::Some,
                (_, _, true) => Sizes::NoValues,
                _ => Sizes::NoRanges,
            }),
            messages: found.by_op,
            kernels: ops.iter().map(CommOp::kernel).collect(),
            communicators: known,
        }
    }

    /// What operation `op` moved, when that is known.
    pub fn message(&self, op: u32) -> Option<&Message> {
        let at = self.messages.binary_search_by_key(&op, |(known, _)| *known).ok()?;
        self.messages.get(at).map(|(_, message)| message)
    }
}

/// Communication kernels in order of time, each with the collective that its name tells.
fn kernels(ops: &OpTable, classes: &Classes) -> impl Iterator<Item = (u32, Collective)> {
    (0..ops.len()).filter_map(|op| match classes.class(ops.name[op], ops.kind[op]) {
        Class::Communication(kind) => Some((op as u32, kind)),
        _ => None,
    })
}

fn comm_ops(
    trace: &Trace,
    table: &OpTable,
    kernels: &[(u32, Collective)],
    exposed: &Coverage,
    found: &messages::Messages,
) -> Vec<CommOp> {
    let (mut messages, mut kinds) = (found.by_op.iter().peekable(), found.kinds.iter().peekable());
    let mut variants = rustc_hash::FxHashMap::default();
    let of = |(op, kind): &(u32, Collective)| {
        let at = *op as usize;
        let name = table.name[at];
        while messages.next_if(|(known, _)| known < op).is_some() {}
        while kinds.next_if(|(known, _)| known < op).is_some() {}
        let asked = kinds.peek().filter(|(known, _)| known == op).map(|(_, kind)| *kind);
        let span = table.span(at);
        CommOp {
            op: *op,
            // The calls tell the collective when the name does not.
            kind: if *kind == Collective::Other { asked.unwrap_or(*kind) } else { *kind },
            name: name.0,
            stream: table.stream[at],
            variant: *variants.entry(name).or_insert_with(|| Variant::of(trace.op_short_name(name))),
            len_ns: span.len_ns(),
            exposed_ns: exposed.within(span),
            message: messages.peek().filter(|(known, _)| known == op).map(|(_, message)| *message),
            ranks: None,
            first: false,
            outlier: false,
            waited: false,
        }
    };
    kernels.iter().map(of).collect()
}

/// The longest exposed spans, each with the kernel that ran for most of it.
fn exposed_list(table: &OpTable, kernels: &[(u32, Collective)], exposed: &Coverage) -> Vec<ExposedSpan> {
    let mut spans: Vec<Span> = exposed.spans().to_vec();
    spans.sort_unstable_by_key(|span| (std::cmp::Reverse(span.len_ns()), span.start_ns));
    spans.truncate(LISTED);
    spans.sort_unstable_by_key(|span| span.start_ns);
    let mut list = Vec::with_capacity(spans.len());
    let (mut next, mut running): (usize, Option<u32>) = (0, None);
    let shared = |op: u32, span: Span| table.span(op as usize).intersect(span).map_or(0, Span::len_ns);
    for span in spans {
        // Of the kernels begun before, the one that ends last reaches furthest into the span.
        let mut best = running.map(|op| (shared(op, span), op));
        while let Some((op, _)) = kernels.get(next).filter(|(op, _)| table.start_ns[*op as usize] < span.end_ns) {
            if running.is_none_or(|running| table.end_ns[running as usize] < table.end_ns[*op as usize]) {
                running = Some(*op);
            }
            let here = shared(*op, span);
            if best.is_none_or(|(most, _)| here > most) {
                best = Some((here, *op));
            }
            next += 1;
        }
        if let Some((_, op)) = best {
            list.push(ExposedSpan { span, op });
        }
    }
    list.sort_unstable_by_key(|exposed| (std::cmp::Reverse(exposed.span.len_ns()), exposed.span.start_ns));
    list
}
