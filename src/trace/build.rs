//! Rows in any order to a sorted, joined, immutable [`Trace`].

use super::{DetailSource, Gpu, NameId, Names, OpKind, RangeKind, Source, Trace, Warning};
use std::sync::Arc;

/// One GPU operation as a source reports it.
#[derive(Debug, Clone, Copy)]
pub struct RawOp {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds; `None` when the row holds none.
    pub end_ns: Option<i64>,
    /// Process key; 0 when the row holds none.
    pub global_pid: i64,
    /// Device ordinal.
    pub device: i64,
    /// Stream id.
    pub stream: i64,
    /// Joins the operation to its launch within the process.
    pub correlation: Option<i64>,
    /// Kind.
    pub kind: OpKind,
    /// Short name ([`NameId::EMPTY`] for copies, fills and graphs: the builder names them).
    pub short: NameId,
    /// Full name.
    pub full: NameId,
    /// Bytes of copies and fills.
    pub bytes: Option<u64>,
    /// Row in its table.
    pub row: u32,
}

/// One CUDA API call as a source reports it.
#[derive(Debug, Clone, Copy)]
pub struct RawCall {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds; `None` when the call never returned.
    pub end_ns: Option<i64>,
    /// Thread key.
    pub global_tid: i64,
    /// Joins the call to the operations it launched.
    pub correlation: Option<i64>,
    /// Function name.
    pub name: NameId,
    /// Row in its table.
    pub row: u32,
}

/// One NVTX range or mark as a source reports it.
#[derive(Debug, Clone, Copy)]
pub struct RawRange {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds; `None` when it was never closed.
    pub end_ns: Option<i64>,
    /// Thread key; 0 when the row holds none.
    pub global_tid: i64,
    /// Name.
    pub name: NameId,
    /// How it was made.
    pub kind: RangeKind,
    /// Domain name; [`NameId::EMPTY`] for the default domain.
    pub domain: NameId,
    /// Category name; [`NameId::EMPTY`] for none.
    pub category: NameId,
    /// 0xRRGGBB, or [`super::NONE`].
    pub color: u32,
    /// Row in its table.
    pub row: u32,
}

/// One synchronisation record as a source reports it.
#[derive(Debug, Clone, Copy)]
pub struct RawSync {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: Option<i64>,
    /// Process key; 0 when the row holds none.
    pub global_pid: i64,
    /// Device ordinal.
    pub device: i64,
    /// Stream id; -1 for none.
    pub stream: i64,
    /// Joins the record to its call.
    pub correlation: Option<i64>,
    /// CUPTI synchronisation type.
    pub sync_type: u8,
    /// Row in its table.
    pub row: u32,
}

/// Collects rows in any order and builds the [`Trace`].
#[derive(Debug)]
pub struct TraceBuilder {
    names: Names,
}

impl TraceBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self { names: Names::default() }
    }

    /// The texts, to intern names that rows refer to.
    pub fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Makes room for so many GPU operations and API calls.
    pub fn reserve(&mut self, ops: usize, calls: usize) {
        let _ = (ops, calls);
    }

    /// Adds a GPU operation.
    pub fn op(&mut self, op: RawOp) {
        let _ = op;
    }

    /// Adds a CUDA API call.
    pub fn call(&mut self, call: RawCall) {
        let _ = call;
    }

    /// Adds an NVTX range or mark.
    pub fn range(&mut self, range: RawRange) {
        let _ = range;
    }

    /// Adds an OS runtime call (its correlation is not used).
    pub fn os_call(&mut self, call: RawCall) {
        let _ = call;
    }

    /// Adds a synchronisation record.
    pub fn sync(&mut self, sync: RawSync) {
        let _ = sync;
    }

    /// Names a process.
    pub fn process_name(&mut self, global_pid: i64, name: NameId) {
        let _ = (global_pid, name);
    }

    /// Names a thread; of several names the one with the highest priority stays (ties: the first).
    pub fn thread_name(&mut self, global_tid: i64, name: NameId, priority: i64) {
        let _ = (global_tid, name, priority);
    }

    /// Adds a card; the result is its index.
    pub fn gpu(&mut self, gpu: Gpu) -> usize {
        let _ = gpu;
        0
    }

    /// Says which card a device ordinal is, for one process or (`None`) for all that have no entry of their own.
    pub fn device_gpu(&mut self, global_pid: Option<i64>, device: i64, gpu: usize) {
        let _ = (global_pid, device, gpu);
    }

    /// Says the rank label of a process, or (`None`) of the file.
    pub fn rank_label(&mut self, global_pid: Option<i64>, label: String) {
        let _ = (global_pid, label);
    }

    /// Adds a warning; equal codes and messages are counted.
    pub fn warn(&mut self, warning: Warning) {
        let _ = warning;
    }

    /// Sorts, joins and checks; the trace is immutable from here on.
    pub fn finish(self, source: Source, details: Arc<dyn DetailSource>) -> Trace {
        let _ = (source, details);
        unreachable!()
    }
}
