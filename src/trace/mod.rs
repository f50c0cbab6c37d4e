//! The model: what one capture recorded, as columns, immutable once built.
//!
//! A [`Trace`] is one file. Several files are several traces, put on one clock by [`crate::view`]. Nothing in here
//! knows where rows came from (no SQL) or what they will look like (no egui), so that another source can fill the same
//! model through [`TraceBuilder`].
//!
//! Cost: about 30 bytes per GPU operation, 20 per API call, 40 per NVTX range, 80 more per range of a communication
//! call that carries values. Everything else a row holds stays in
//! the file and is fetched by [`RowRef`] when somebody looks at it ([`DetailSource`]).

mod build;
mod columns;
mod metric;
mod names;
mod rank;
mod raw;
mod row_numbers;
mod source;
#[cfg(test)]
pub mod testing;
mod thread;

pub use build::TraceBuilder;
pub use metric::{METRIC_POINTS, Metric, MetricPoint, MetricSamples};
pub use names::{NameId, Names, OpName, OpNameId};
pub use rank::{CopyEnds, CopyKind, MemoryKind, OpKind, OpTable, Rank, Stream, SyncTable};
pub use raw::{RawCall, RawOp, RawRange, RawSync};
pub use row_numbers::RowNumbers;
pub use source::{
    DetailError, DetailSource, Field, Gpu, Quantity, RowRef, Source, SourceKind, TableCount, TableKind, Warning,
};
pub use thread::{CallTable, CommCall, Process, RangeKind, RangeTable, Thread};

use crate::units::Span;
use std::sync::Arc;

/// No row: an operation without a launch, a row that has no place in the file.
pub const NONE: u32 = u32::MAX;

/// A time during which the profiler worked instead of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overhead {
    /// Key of the process.
    pub global_pid: i64,
    /// When.
    pub span: Span,
}

/// What one capture recorded.
#[derive(Debug)]
pub struct Trace {
    /// Where it came from.
    pub source: Source,
    /// All text, interned.
    pub names: Names,
    /// Distinct names of GPU operations, indexed by [`OpNameId`].
    pub op_names: Vec<OpName>,
    /// Processes that did anything, ordered by global pid.
    pub processes: Vec<Process>,
    /// Threads that did anything, ordered by process, then global tid.
    pub threads: Vec<Thread>,
    /// GPUs the file describes, in the file's order.
    pub gpus: Vec<Gpu>,
    /// What the counters of the GPUs said, in the file's order.
    pub metrics: Vec<Metric>,
    /// One entry per (process, device) pair that ran GPU work, ordered by global pid, then device.
    pub ranks: Vec<Rank>,
    /// NVTX domains seen, indexed by the `domain` column of [`RangeTable`]; entry 0 is the default domain (empty name).
    pub domains: Vec<NameId>,
    /// Names in [`Trace::domains`] that the file does not hold: made up of the domain's number.
    pub unnamed_domains: Vec<NameId>,
    /// NVTX categories seen, indexed by the `category` column of [`RangeTable`]; entry 0 means none (empty name).
    pub categories: Vec<NameId>,
    /// Latest time in any NVTX event of the file, those included that are no range and no mark.
    pub nvtx_end_ns: Option<i64>,
    /// Time the profiler itself took from the program.
    pub overheads: Vec<Overhead>,
    /// GPU operations that were left out, as their times make no sense.
    pub lost_ops: u64,
    /// What was odd about the file.
    pub warnings: Vec<Warning>,
    /// From the first to the last event of any kind; `None` when the file holds no event at all.
    pub span: Option<Span>,
    /// Fetches the fields that the columns leave out.
    pub details: Arc<dyn DetailSource>,
}

impl Trace {
    /// Nanoseconds from the capture's first event to `at_ns`, as the time axis counts.
    pub fn since_start_ns(&self, at_ns: i64) -> i64 {
        at_ns.saturating_sub(self.span.map_or(0, |span| span.start_ns))
    }

    /// Text of a name.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// Short name of a GPU operation: the kernel's base name, or what the copy does.
    pub fn op_short_name(&self, id: OpNameId) -> &str {
        self.op_names.get(id.0 as usize).map_or("", |n| self.names.get(n.short))
    }

    /// Full name of a GPU operation: the demangled kernel name.
    pub fn op_full_name(&self, id: OpNameId) -> &str {
        self.op_names.get(id.0 as usize).map_or("", |n| self.names.get(n.full))
    }

    /// Number of GPU operations over all ranks.
    pub fn gpu_ops(&self) -> usize {
        self.ranks.iter().map(|r| r.ops.len()).sum()
    }

    /// Number of CUDA API calls over all processes.
    pub fn api_calls(&self) -> usize {
        self.processes.iter().map(|p| p.api.len()).sum()
    }

    /// Number of NVTX ranges over all threads.
    pub fn nvtx_ranges(&self) -> usize {
        self.threads.iter().map(|t| t.nvtx.len()).sum()
    }

    /// The thread that made API call `call` of `process`.
    pub fn thread_of_call(&self, process: usize, call: u32) -> Option<usize> {
        // Threads of one process hold ascending, adjoining runs of its calls, so a binary search finds the owner.
        let first = self.threads.partition_point(|t| t.process < process);
        let last = self.threads.partition_point(|t| t.process <= process);
        let own = self.threads.get(first..last)?;
        let at = own.partition_point(|t| t.api.end <= call);
        own.get(at).filter(|t| t.api.contains(&call)).map(|_| first + at)
    }
}
