//! Rows in any order to a sorted, joined, immutable [`Trace`].

use super::{DetailSource, Gpu, NameId, OpKind, RangeKind, Source, Trace, Warning};
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

/// Collects rows in any order and builds the [`Trace`].
#[derive(Debug)]
pub struct TraceBuilder {
    _private: (),
}

impl TraceBuilder {
    /// An empty builder for a file.
    pub fn new(_source: Source, _details: Arc<dyn DetailSource>) -> Self {
        Self { _private: () }
    }
    /// Sorts, joins and checks; the trace is immutable from here on.
    pub fn finish(self, _gpus: Vec<Gpu>, _warnings: Vec<Warning>) -> Option<Trace> {
        None
    }
}
