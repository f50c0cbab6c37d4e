//! Rows of the event tables, and how each binds to the columns that a version has.

use rusqlite::types::Null;
use rusqlite::{Result, Statement, ToSql};

/// Number of a string in the export's string table.
pub type StringId = i64;

/// Text of an NVTX range: registered once, or written into each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeText {
    /// A registered string.
    Registered(StringId),
    /// Text of its own.
    Own(Box<str>),
}

/// The stream that ran something, with the process that owns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// CUDA device ordinal within the process.
    pub device: i64,
    /// CUDA context.
    pub context: i64,
    /// Stream; unique within the process only.
    pub stream: i64,
    /// Process, as nsys packs it.
    pub global_pid: i64,
}

/// A kernel.
#[derive(Debug, Clone)]
pub struct KernelRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: i64,
    /// Where it ran.
    pub place: Place,
    /// Joins it to its launch.
    pub correlation: i64,
    /// Full name.
    pub demangled: StringId,
    /// Base name.
    pub short: StringId,
    /// Blocks per dimension.
    pub grid: [u32; 3],
    /// Threads per block and dimension.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: u32,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared_bytes: u32,
    /// Number of the launch.
    pub grid_id: i64,
    /// Node of the CUDA graph it belongs to.
    pub graph_node: Option<i64>,
}

/// A CUDA API call.
#[derive(Debug, Clone, Copy)]
pub struct ApiRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: i64,
    /// True for a call of the driver, false for one of the runtime.
    pub driver: bool,
    /// Thread, as nsys packs it.
    pub global_tid: i64,
    /// Number of the call within its process.
    pub correlation: i64,
    /// Name of the function.
    pub name: StringId,
}

/// A memory copy.
#[derive(Debug, Clone, Copy)]
pub struct MemcpyRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: i64,
    /// Where it ran.
    pub place: Place,
    /// Joins it to its launch.
    pub correlation: i64,
    /// Bytes moved.
    pub bytes: i64,
    /// CUPTI copy kind: 1 host to device, 2 device to host, 8 within the device.
    pub copy_kind: i64,
    /// CUPTI memory kind of the source: 0 pageable, 1 pinned, 2 device.
    pub src_kind: i64,
    /// CUPTI memory kind of the destination.
    pub dst_kind: i64,
}

/// A memory fill.
#[derive(Debug, Clone, Copy)]
pub struct MemsetRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: i64,
    /// Where it ran.
    pub place: Place,
    /// Joins it to its launch.
    pub correlation: i64,
    /// Bytes filled.
    pub bytes: i64,
}

/// A counter of a GPU.
#[derive(Debug, Clone)]
pub struct MetricNameRow {
    /// Type of its samples; the lowest byte is the card's id.
    pub kind: i64,
    /// Name of the type.
    pub kind_name: String,
    /// Number of the counter in the type.
    pub metric: i64,
    /// Name of the counter.
    pub name: String,
}

/// A sample of a counter of a GPU.
#[derive(Debug, Clone, Copy)]
pub struct MetricRow {
    /// When, in nanoseconds.
    pub at_ns: i64,
    /// Type.
    pub kind: i64,
    /// Counter.
    pub metric: i64,
    /// Value.
    pub value: i64,
}

/// A CUDA-graph execution recorded as one block.
#[derive(Debug, Clone, Copy)]
pub struct GraphRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: i64,
    /// Where it ran.
    pub place: Place,
    /// Joins it to its launch.
    pub correlation: i64,
    /// The graph.
    pub graph: i64,
}

/// What a synchronising call waited for.
#[derive(Debug, Clone, Copy)]
pub struct SyncRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: i64,
    /// Where it waited.
    pub place: Place,
    /// Joins it to the call.
    pub correlation: i64,
    /// CUPTI synchronisation type: 2 stream waits for an event, 3 stream, 4 context.
    pub sync_type: i64,
    /// Event waited for.
    pub event: Option<i64>,
}

/// An event recorded into a stream.
#[derive(Debug, Clone, Copy)]
pub struct EventRow {
    /// Where it was recorded.
    pub place: Place,
    /// Joins it to the call.
    pub correlation: i64,
    /// The event.
    pub event: i64,
}

/// What NCCL attaches to the range of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NcclPayload {
    /// Communicator, the same number on all its ranks.
    pub communicator: u64,
    /// The call.
    pub call: NcclCall,
}

/// NCCL calls with their values, each with a layout of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NcclCall {
    /// A communicator is made.
    CommInit {
        /// Ranks of it.
        ranks: u32,
        /// Own rank.
        rank: u32,
        /// CUDA device.
        device: u32,
    },
    /// All-reduce with the sum.
    AllReduce {
        /// Message size.
        bytes: u64,
    },
    /// Send.
    Send {
        /// Message size.
        bytes: u64,
        /// Receiver.
        peer: u32,
    },
    /// Receive.
    Recv {
        /// Message size.
        bytes: u64,
        /// Sender.
        peer: u32,
    },
}

/// Name, NVTX payload type and byte of a value.
pub(super) type PayloadValue = (&'static str, i64, i64);

impl NcclCall {
    /// Layouts, by the numbers NCCL registers them under, with the names, types and places of their values. Types are
    /// those of the NVTX payload header: 18 is u64, 22 a size, 5 i32.
    pub(super) const LAYOUTS: [(i64, &'static [PayloadValue]); 4] = [
        (
            16_777_218,
            &[("NCCL communicator ID", 18, 0), ("No. of ranks", 5, 8), ("Rank", 5, 12), ("CUDA device", 5, 16)],
        ),
        (
            16_777_223,
            &[("NCCL communicator ID", 18, 0), ("Message size [bytes]", 22, 8), ("Reduction operation", 5, 16)],
        ),
        (16_777_225, &[("NCCL communicator ID", 18, 0), ("Message size [bytes]", 22, 8), ("Peer rank", 5, 16)]),
        (16_777_226, &[("NCCL communicator ID", 18, 0), ("Message size [bytes]", 22, 8), ("Peer rank", 5, 16)]),
    ];

    /// Its layout among [`Self::LAYOUTS`], and its values after the communicator.
    fn values(self) -> (usize, [u64; 2]) {
        match self {
            Self::CommInit { ranks, rank, device } => (0, [u64::from(ranks) | u64::from(rank) << 32, device.into()]),
            // The sum has number 0.
            Self::AllReduce { bytes } => (1, [bytes, 0]),
            Self::Send { bytes, peer } => (2, [bytes, peer.into()]),
            Self::Recv { bytes, peer } => (3, [bytes, peer.into()]),
        }
    }
}

impl NcclPayload {
    /// A header of four fields, then the values, all little-endian.
    fn blob(self, domain: i64) -> Vec<u8> {
        let (layout, values) = self.call.values();
        let schema = NcclCall::LAYOUTS[layout].0.cast_unsigned();
        let fields = [domain.cast_unsigned(), schema, 24, 0, self.communicator];
        fields.iter().chain(&values).flat_map(|field| field.to_le_bytes()).collect()
    }
}

/// An NVTX push/pop range, or the creation of a domain when it has no end.
#[derive(Debug, Clone)]
pub struct NvtxRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds; `None` marks the creation of domain `domain`.
    pub end_ns: Option<i64>,
    /// Name.
    pub text: RangeText,
    /// Thread, as nsys packs it.
    pub global_tid: i64,
    /// Domain within the process.
    pub domain: i64,
    /// Structured values; versions before 2026 leave them out.
    pub payload: Option<NcclPayload>,
}

/// A call of the C library or the operating system.
#[derive(Debug, Clone, Copy)]
pub struct OsRow {
    /// Start in nanoseconds.
    pub start_ns: i64,
    /// End in nanoseconds.
    pub end_ns: i64,
    /// Thread, as nsys packs it.
    pub global_tid: i64,
    /// Name of the function.
    pub name: StringId,
}

/// Binds values in the order of [`Row::COLUMNS`], leaving out the columns that the version does not have.
pub(super) struct Binder<'a, 'c> {
    pub(super) statement: &'a mut Statement<'c>,
    pub(super) slots: &'a [Option<usize>],
    pub(super) next: usize,
}

impl Binder<'_, '_> {
    fn put(&mut self, value: impl ToSql) -> Result<()> {
        let slot = self.slots.get(self.next).copied().flatten();
        self.next += 1;
        slot.map_or(Ok(()), |slot| self.statement.raw_bind_parameter(slot, value))
    }

    fn put_all(&mut self, values: &[i64]) -> Result<()> {
        values.iter().try_for_each(|value| self.put(value))
    }

    fn put_place(&mut self, place: Place, correlation: i64) -> Result<()> {
        self.put_all(&[place.device, place.context, 0, place.stream, correlation, place.global_pid])
    }
}

/// A row of an event table.
pub(super) trait Row {
    const TABLE: &'static str;
    const COLUMNS: &'static [&'static str];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()>;
}

impl Row for KernelRow {
    const TABLE: &'static str = "CUPTI_ACTIVITY_KIND_KERNEL";
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid",
        "demangledName", "shortName", "mangledName", "launchType", "cacheConfig", "registersPerThread",
        "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory",
        "localMemoryPerThread", "localMemoryTotal", "gridId", "sharedMemoryExecuted", "graphNodeId",
        "sharedMemoryLimitConfig", "clusterX", "clusterY", "clusterZ", "tensorSizeMinusOneElements",
    ];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.start_ns, self.end_ns])?;
        to.put_place(self.place, self.correlation)?;
        to.put_all(&[self.demangled, self.short, self.demangled, 1, 0, self.registers.into()])?;
        self.grid.iter().chain(&self.block).try_for_each(|n| to.put(n))?;
        to.put_all(&[0, self.dynamic_shared_bytes.into(), 0, 0, self.grid_id, 32_768])?;
        to.put(self.graph_node)?;
        to.put_all(&[0, 0, 0, 0])?;
        to.put("[]")
    }
}

impl Row for ApiRow {
    const TABLE: &'static str = "CUPTI_ACTIVITY_KIND_RUNTIME";
    const COLUMNS: &'static [&'static str] =
        &["start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue"];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.start_ns, self.end_ns, self.driver.into(), self.global_tid, self.correlation, self.name, 0])
    }
}

impl Row for MemcpyRow {
    const TABLE: &'static str = "CUPTI_ACTIVITY_KIND_MEMCPY";
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid",
        "bytes", "copyKind", "srcKind", "dstKind", "copyCount",
    ];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.start_ns, self.end_ns])?;
        to.put_place(self.place, self.correlation)?;
        to.put_all(&[self.bytes, self.copy_kind, self.src_kind, self.dst_kind, 1])
    }
}

impl Row for MemsetRow {
    const TABLE: &'static str = "CUPTI_ACTIVITY_KIND_MEMSET";
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid",
        "value", "bytes", "memKind",
    ];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.start_ns, self.end_ns])?;
        to.put_place(self.place, self.correlation)?;
        to.put_all(&[0, self.bytes, 2])
    }
}

impl Row for MetricNameRow {
    const TABLE: &'static str = "TARGET_INFO_GPU_METRICS";
    const COLUMNS: &'static [&'static str] = &["typeId", "sourceId", "typeName", "metricId", "metricName"];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.kind, 8])?;
        to.put(self.kind_name.as_str())?;
        to.put(self.metric)?;
        to.put(self.name.as_str())
    }
}

impl Row for MetricRow {
    const TABLE: &'static str = "GPU_METRICS";
    const COLUMNS: &'static [&'static str] = &["timestamp", "typeId", "metricId", "value"];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.at_ns, self.kind, self.metric, self.value])
    }
}

impl Row for GraphRow {
    const TABLE: &'static str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid",
        "graphId", "graphExecId",
    ];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.start_ns, self.end_ns])?;
        to.put_place(self.place, self.correlation)?;
        to.put_all(&[self.graph, self.graph])
    }
}

/// How CUPTI writes "no stream" and "no event".
const NOT_ANY: i64 = u32::MAX as i64;

impl Row for SyncRow {
    const TABLE: &'static str = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid",
        "syncType", "eventId", "eventSyncId",
    ];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        let stream = if self.sync_type == 4 { NOT_ANY } else { self.place.stream };
        to.put_all(&[self.start_ns, self.end_ns])?;
        to.put_place(Place { stream, ..self.place }, self.correlation)?;
        to.put_all(&[self.sync_type, self.event.unwrap_or(NOT_ANY), self.event.unwrap_or(0)])
    }
}

impl Row for EventRow {
    const TABLE: &'static str = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] = &[
        "timestamp", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid",
        "eventId", "eventSyncId",
    ];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        // nsys leaves the timestamp at 0 unless asked for it.
        to.put(0)?;
        to.put_place(self.place, self.correlation)?;
        to.put_all(&[self.event, self.event])
    }
}

impl Row for NvtxRow {
    const TABLE: &'static str = "NVTX_EVENTS";
    const COLUMNS: &'static [&'static str] =
        &["start", "end", "eventType", "text", "globalTid", "textId", "domainId", "binaryData"];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put(self.start_ns)?;
        to.put(self.end_ns)?;
        to.put(if self.end_ns.is_some() { 59 } else { 75 })?;
        match &self.text {
            RangeText::Registered(_) => to.put(Null)?,
            RangeText::Own(text) => to.put(&**text)?,
        }
        to.put(self.global_tid)?;
        match &self.text {
            RangeText::Registered(id) => to.put(id)?,
            RangeText::Own(_) => to.put(Null)?,
        }
        to.put(self.domain)?;
        to.put(self.payload.map(|payload| payload.blob(self.domain)))
    }
}

impl Row for OsRow {
    const TABLE: &'static str = "OSRT_API";
    #[rustfmt::skip]
    const COLUMNS: &'static [&'static str] =
        &["start", "end", "eventClass", "globalTid", "nameId", "returnValue", "nestingLevel", "callchainId"];
    fn bind(&self, to: &mut Binder<'_, '_>) -> Result<()> {
        to.put_all(&[self.start_ns, self.end_ns, 27, self.global_tid, self.name, 0, 0, 0])
    }
}
