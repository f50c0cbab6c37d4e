//! Rows as a source reports them, before the builder sorts and joins them.

use super::{NameId, OpKind, RangeKind};

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
    /// True when another thread than the one that started it ended it.
    pub ended_elsewhere: bool,
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
