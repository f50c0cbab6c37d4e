//! GPU work of one rank.

use super::{NONE, OpNameId, RowNumbers};
use crate::units::Span;

/// Direction of a memory copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CopyKind {
    /// Not recorded or not known.
    Unknown,
    /// Host to device.
    HostToDevice,
    /// Device to host.
    DeviceToHost,
    /// Host to array.
    HostToArray,
    /// Array to host.
    ArrayToHost,
    /// Array to array.
    ArrayToArray,
    /// Array to device.
    ArrayToDevice,
    /// Device to array.
    DeviceToArray,
    /// Within one device.
    DeviceToDevice,
    /// Host to host.
    HostToHost,
    /// Between two devices.
    PeerToPeer,
    /// Unified memory, host to device.
    UnifiedHostToDevice,
    /// Unified memory, device to host.
    UnifiedDeviceToHost,
    /// Unified memory, device to device.
    UnifiedDeviceToDevice,
}

impl CopyKind {
    /// Short text, as in the details and lanes.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Unknown => "copy",
            Self::HostToDevice => "HtoD",
            Self::DeviceToHost => "DtoH",
            Self::HostToArray => "HtoA",
            Self::ArrayToHost => "AtoH",
            Self::ArrayToArray => "AtoA",
            Self::ArrayToDevice => "AtoD",
            Self::DeviceToArray => "DtoA",
            Self::DeviceToDevice => "DtoD",
            Self::HostToHost => "HtoH",
            Self::PeerToPeer => "PtoP",
            Self::UnifiedHostToDevice => "unified HtoD",
            Self::UnifiedDeviceToHost => "unified DtoH",
            Self::UnifiedDeviceToDevice => "unified DtoD",
        }
    }
}

/// Memory that a copy reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Not recorded or not known.
    Unknown,
    /// Host memory that the system may move or swap out.
    Pageable,
    /// Host memory that stays in place.
    Pinned,
    /// Device memory.
    Device,
    /// Array of the device.
    Array,
    /// Managed (unified) memory.
    Managed,
    /// Static memory of the device.
    DeviceStatic,
    /// Static managed memory.
    ManagedStatic,
}

/// What a copy moved between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyEnds {
    /// CUDA context, numbered within the process.
    pub context: u32,
    /// Memory it read.
    pub from: MemoryKind,
    /// Memory it wrote.
    pub to: MemoryKind,
    /// True when the file names the devices of both ends and they are one.
    pub within_device: bool,
}

/// What a GPU operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpKind {
    /// A kernel.
    Kernel,
    /// A memory copy.
    Memcpy(CopyKind),
    /// A memory fill.
    Memset,
    /// A whole CUDA-graph execution recorded as one block.
    Graph,
}

/// GPU operations of one rank as columns of equal length, sorted by start, then end, then row.
///
/// Operations may overlap, within one stream too. `end_ns >= start_ns` holds for each.
#[derive(Debug, Default, Clone)]
pub struct OpTable {
    /// Start in nanoseconds on the export's clock.
    pub start_ns: Vec<i64>,
    /// End in nanoseconds.
    pub end_ns: Vec<i64>,
    /// Name, indexing [`super::Trace::op_names`].
    pub name: Vec<OpNameId>,
    /// Kind.
    pub kind: Vec<OpKind>,
    /// Index into [`Rank::streams`].
    pub stream: Vec<u16>,
    /// Index of the launching call in the process's API table, or [`NONE`].
    pub launch: Vec<u32>,
    /// Row of the operation in its table of the file; the kind tells the table.
    pub row: RowNumbers,
    /// Bytes of copies and fills, as (operation, bytes) sorted by operation; kernels have none.
    pub bytes: Vec<(u32, u64)>,
    /// Thread blocks of kernels, at most [`u16::MAX`], 0 when not known; empty when the file tells none.
    pub blocks: Vec<u16>,
    /// What copies moved between, as (operation, ends) sorted by operation.
    pub copies: Vec<(u32, CopyEnds)>,
}

impl OpTable {
    /// Number of operations.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// The span of operation `op`.
    ///
    /// # Panics
    /// When `op` is not an operation of this table.
    pub fn span(&self, op: usize) -> Span {
        Span::new(self.start_ns[op], self.end_ns[op])
    }

    /// Bytes moved by operation `op`, when it is a copy or fill.
    pub fn bytes_of(&self, op: u32) -> Option<u64> {
        let at = self.bytes.binary_search_by_key(&op, |(o, _)| *o).ok()?;
        self.bytes.get(at).map(|(_, bytes)| *bytes)
    }

    /// Thread blocks of operation `op`, when it is a kernel and the file tells; more than [`u16::MAX`] are that many.
    pub fn blocks_of(&self, op: usize) -> Option<u16> {
        self.blocks.get(op).copied().filter(|blocks| *blocks > 0)
    }

    /// What operation `op` moved between, when it is a copy and the file says so.
    pub fn copy_ends_of(&self, op: u32) -> Option<CopyEnds> {
        let at = self.copies.binary_search_by_key(&op, |(o, _)| *o).ok()?;
        self.copies.get(at).map(|(_, ends)| *ends)
    }

    /// The launching call of operation `op`, as an index into the process's API table.
    pub fn launch_of(&self, op: usize) -> Option<u32> {
        self.launch.get(op).copied().filter(|launch| *launch != NONE)
    }

    /// From the first start to the last end.
    pub fn hull(&self) -> Option<Span> {
        Some(Span::new(*self.start_ns.first()?, *self.end_ns.iter().max()?))
    }
}

/// A stream of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// The stream's id in the file; unique within the process only.
    pub id: i64,
}

/// Synchronisation records of a rank (what a synchronising call waited for), sorted by start.
#[derive(Debug, Default, Clone)]
pub struct SyncTable {
    /// Start in nanoseconds.
    pub start_ns: Vec<i64>,
    /// End in nanoseconds.
    pub end_ns: Vec<i64>,
    /// CUPTI synchronisation type (1 event, 2 stream wait event, 3 stream, 4 context).
    pub sync_type: Vec<u8>,
    /// Stream id in the file; -1 when none.
    pub stream_id: Vec<i64>,
    /// Index of the call in the process's API table, or [`NONE`].
    pub launch: Vec<u32>,
    /// Row in the file.
    pub row: RowNumbers,
}

/// One (process, device) pair that ran GPU work.
#[derive(Debug)]
pub struct Rank {
    /// Label: the rank number recorded in the capture, else the one in the file name, else the order.
    pub label: String,
    /// True when the file or its name tells the label, false when it is the rank's order.
    pub told: bool,
    /// Index into [`super::Trace::processes`].
    pub process: usize,
    /// CUDA device ordinal within the process.
    pub device: i64,
    /// Index into [`super::Trace::gpus`], when the file tells which card the ordinal is.
    pub gpu: Option<usize>,
    /// Streams that ran work, ordered by id.
    pub streams: Vec<Stream>,
    /// Operations.
    pub ops: OpTable,
    /// Synchronisation records.
    pub syncs: SyncTable,
}
