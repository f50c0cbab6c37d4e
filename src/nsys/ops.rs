//! GPU work: kernels, copies, fills, graph executions, and synchronisation records.

use super::error::LoadError;
use super::load::Load;
use super::plan::{TableSpec, Weight, required, spare, wanted};
use super::rows::Batch;
use super::sink::Sink;
use crate::trace::{CopyEnds, CopyKind, MemoryKind, NameId, OpKind, RawOp, RawSync, TableKind};

const ONE_DEVICE: &str = "all of its rows are counted to device 0";
const ONE_STREAM: &str = "streams cannot be told apart";
const NO_LAUNCH: &str = "its rows cannot be joined to the API calls that launched them";
const ONE_PROCESS: &str = "processes cannot be told apart";

/// The columns that all GPU work shares, in this order, then `more`.
macro_rules! op_columns {
    ($($more:expr),*) => {
        &[
            required("start"),
            required("end"),
            wanted("deviceId", ONE_DEVICE),
            wanted("streamId", ONE_STREAM),
            wanted("correlationId", NO_LAUNCH),
            wanted("globalPid", ONE_PROCESS),
            $($more),*
        ]
    };
}

const START: usize = 0;
const END: usize = 1;
const DEVICE: usize = 2;
const STREAM: usize = 3;
const CORRELATION: usize = 4;
const GLOBAL_PID: usize = 5;
/// First column that is not shared.
const OWN: usize = 6;

/// Kernels.
pub(crate) static KERNEL: TableSpec = TableSpec {
    base: "CUPTI_ACTIVITY_KIND_KERNEL",
    kind: TableKind::Kernel,
    weight: Weight::Main,
    without: "GPU kernels, and with them compute, communication and idle time, are unknown.",
    record: "Record them with `nsys profile --trace=cuda ...`.",
    columns: op_columns![
        wanted("shortName", "kernels are shown by their full names"),
        wanted("demangledName", "kernels are shown without template arguments"),
        spare("mangledName"),
        spare("gridX"),
        spare("gridY"),
        spare("gridZ")
    ],
};

/// Copies.
pub(crate) static MEMCPY: TableSpec = TableSpec {
    base: "CUPTI_ACTIVITY_KIND_MEMCPY",
    kind: TableKind::Memcpy,
    weight: Weight::Usual,
    without: "Memory copies are unknown.",
    record: "",
    columns: op_columns![
        wanted("copyKind", "directions of copies are unknown"),
        wanted("bytes", "sizes of copies are unknown"),
        spare("contextId"),
        spare("srcKind"),
        spare("dstKind"),
        spare("srcDeviceId"),
        spare("dstDeviceId")
    ],
};

/// Fills.
pub(crate) static MEMSET: TableSpec = TableSpec {
    base: "CUPTI_ACTIVITY_KIND_MEMSET",
    kind: TableKind::Memset,
    weight: Weight::Usual,
    without: "Memory fills are unknown.",
    record: "",
    columns: op_columns![wanted("bytes", "sizes of fills are unknown")],
};

/// Graph executions recorded as one block.
pub(crate) static GRAPH: TableSpec = TableSpec {
    base: "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    kind: TableKind::Graph,
    weight: Weight::Usual,
    without: "Executions of CUDA graphs are unknown.",
    record: "",
    columns: op_columns![],
};

/// Synchronisation records.
pub(crate) static SYNC: TableSpec = TableSpec {
    base: "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    kind: TableKind::Sync,
    weight: Weight::Extra,
    without: "What synchronising calls waited for is unknown.",
    record: "",
    columns: op_columns![wanted("syncType", "what kind of synchronisation it was is unknown")],
};

/// Rows that were left out or mended while one table was read.
#[derive(Debug, Default)]
struct Tally {
    no_start: u64,
    no_time: u64,
    no_process: u64,
    assumed: Option<i64>,
}

impl Tally {
    /// The part of a row that all GPU work shares; `None` for a row without a time.
    fn op(&mut self, sink: &mut Sink, batch: &Batch, row: usize, kind: OpKind) -> Option<RawOp> {
        let Some(start_ns) = batch.int(START, row) else {
            self.no_start += 1;
            return None;
        };
        let end_ns = batch.int(END, row);
        // The profiler writes 0 and 0 for work whose time it lost.
        if (start_ns, end_ns) == (0, Some(0)) {
            self.no_time += 1;
            return None;
        }
        let global_pid = self.process(sink, batch, row);
        let (device, stream) = (batch.int(DEVICE, row).unwrap_or(0), batch.int(STREAM, row).unwrap_or(0));
        sink.places.add(global_pid, device, stream);
        Some(RawOp {
            start_ns,
            end_ns,
            global_pid,
            device,
            stream,
            correlation: batch.int(CORRELATION, row),
            kind,
            short: NameId::EMPTY,
            full: NameId::EMPTY,
            bytes: None,
            row: batch.row_number(row),
        })
    }

    fn process(&mut self, sink: &Sink, batch: &Batch, row: usize) -> i64 {
        batch.int(GLOBAL_PID, row).unwrap_or_else(|| {
            self.no_process += 1;
            self.assumed = sink.only_process();
            self.assumed.unwrap_or(0)
        })
    }

    fn report(&self, load: &mut Load<'_>, spec: &TableSpec) {
        let table = load.table(spec).map_or(spec.base, |table| table.name.as_str()).to_owned();
        let warnings = &mut load.sink.warnings;
        warnings.add("missing-start", self.no_start, format!("rows of table {table} without a start: left out"));
        warnings.add(
            "no-timestamps",
            self.no_time,
            format!("rows of table {table} with start and end 0 (the profiler lost their time): left out"),
        );
        let message = match self.assumed {
            Some(_) => {
                format!("rows of table {table} without a process: counted to the only process that made CUDA calls")
            }
            None => {
                format!("rows of table {table} without a process: shown as a process of their own, without launches")
            }
        };
        warnings.add("missing-process", self.no_process, message);
    }
}

/// Reads the kernels.
pub(crate) fn read_kernels(load: &mut Load<'_>) -> Result<(), LoadError> {
    let mut tally = Tally::default();
    load.read(&KERNEL, |sink, batch| {
        for row in 0..batch.len() {
            let Some(op) = tally.op(sink, batch, row, OpKind::Kernel) else { continue };
            let (short, full) = kernel_names(sink, batch, row);
            sink.builder.kernel(RawOp { short, full, ..op }, blocks(batch, row));
        }
    })?;
    tally.report(load, &KERNEL);
    Ok(())
}

/// Thread blocks of a kernel, at most as many as the model counts; 0 when the file does not tell.
fn blocks(batch: &Batch, row: usize) -> u16 {
    let side = |at: usize| batch.int(OWN + 3 + at, row).and_then(|n| u64::try_from(n).ok());
    let blocks = side(0).zip(side(1)).zip(side(2)).map(|((x, y), z)| x.saturating_mul(y).saturating_mul(z));
    blocks.map_or(0, |blocks| u16::try_from(blocks).unwrap_or(u16::MAX))
}

/// Short and full name; each stands in for the other, the mangled name for both.
fn kernel_names(sink: &mut Sink, batch: &Batch, row: usize) -> (NameId, NameId) {
    let short = sink.name(batch.int(OWN, row));
    let full = sink.name(batch.int(OWN + 1, row));
    match (short, full) {
        (NameId::EMPTY, NameId::EMPTY) => {
            let mangled = sink.name(batch.int(OWN + 2, row));
            (mangled, mangled)
        }
        (NameId::EMPTY, full) => (full, full),
        (short, NameId::EMPTY) => (short, short),
        both => both,
    }
}

/// Reads the copies.
pub(crate) fn read_copies(load: &mut Load<'_>) -> Result<(), LoadError> {
    let mut tally = Tally::default();
    load.read(&MEMCPY, |sink, batch| {
        for row in 0..batch.len() {
            let kind = OpKind::Memcpy(copy_kind(batch.int(OWN, row)));
            let Some(op) = tally.op(sink, batch, row, kind) else { continue };
            let bytes = bytes(batch.int(OWN + 1, row));
            sink.builder.copy(RawOp { bytes, ..op }, copy_ends(batch, row));
        }
    })?;
    tally.report(load, &MEMCPY);
    Ok(())
}

/// Reads the fills.
pub(crate) fn read_fills(load: &mut Load<'_>) -> Result<(), LoadError> {
    let mut tally = Tally::default();
    load.read(&MEMSET, |sink, batch| {
        for row in 0..batch.len() {
            let Some(op) = tally.op(sink, batch, row, OpKind::Memset) else { continue };
            let bytes = bytes(batch.int(OWN, row));
            sink.builder.op(RawOp { bytes, ..op });
        }
    })?;
    tally.report(load, &MEMSET);
    Ok(())
}

/// Reads the graph executions. Rows of graphs that start with host work carry no time or no device, and are not GPU work.
pub(crate) fn read_graphs(load: &mut Load<'_>) -> Result<(), LoadError> {
    let (mut tally, mut host) = (Tally::default(), 0);
    load.read(&GRAPH, |sink, batch| {
        for row in 0..batch.len() {
            let timed = batch.int(START, row).zip(batch.int(END, row)).is_some_and(|(start, end)| end > start);
            if !timed || batch.int(DEVICE, row) == Some(i64::from(i32::MAX)) {
                host += 1;
                continue;
            }
            if let Some(op) = tally.op(sink, batch, row, OpKind::Graph) {
                sink.builder.op(op);
            }
        }
    })?;
    tally.report(load, &GRAPH);
    load.sink.warnings.add(
        "graph-without-time",
        host,
        "graph executions without a time or a device (their first node runs on the host): left out",
    );
    Ok(())
}

/// Reads the synchronisation records. They name device 0 whatever the device, so it is taken from the work in their
/// stream.
pub(crate) fn read_syncs(load: &mut Load<'_>) -> Result<(), LoadError> {
    let (mut tally, mut last) = (Tally::default(), None);
    load.read(&SYNC, |sink, batch| {
        for row in 0..batch.len() {
            let Some(start_ns) = batch.int(START, row) else {
                tally.no_start += 1;
                continue;
            };
            // "No stream" is -1 in 32 bits.
            let stream = batch.int(STREAM, row).filter(|id| *id != i64::from(u32::MAX)).unwrap_or(-1);
            let recorded = (tally.process(sink, batch, row), batch.int(DEVICE, row).unwrap_or(0), stream);
            let device = match last {
                Some((known, device)) if known == recorded => device,
                _ => sink.places.device(recorded.0, recorded.1, recorded.2),
            };
            last = Some((recorded, device));
            sink.builder.sync(RawSync {
                start_ns,
                end_ns: batch.int(END, row),
                global_pid: recorded.0,
                device,
                stream,
                correlation: batch.int(CORRELATION, row),
                sync_type: batch.int(OWN, row).and_then(|kind| u8::try_from(kind).ok()).unwrap_or(0),
                row: batch.row_number(row),
            });
        }
    })?;
    tally.report(load, &SYNC);
    Ok(())
}

/// What the copy in a row moved between.
fn copy_ends(batch: &Batch, row: usize) -> CopyEnds {
    let device = |column| batch.int(OWN + column, row);
    CopyEnds {
        context: batch.int(OWN + 2, row).and_then(|id| u32::try_from(id).ok()).unwrap_or(0),
        from: memory_kind(batch.int(OWN + 3, row)),
        to: memory_kind(batch.int(OWN + 4, row)),
        within_device: device(5).is_some() && device(5) == device(6),
    }
}

fn memory_kind(code: Option<i64>) -> MemoryKind {
    match code {
        Some(0) => MemoryKind::Pageable,
        Some(1) => MemoryKind::Pinned,
        Some(2) => MemoryKind::Device,
        Some(3) => MemoryKind::Array,
        Some(4) => MemoryKind::Managed,
        Some(5) => MemoryKind::DeviceStatic,
        Some(6) => MemoryKind::ManagedStatic,
        _ => MemoryKind::Unknown,
    }
}

fn bytes(value: Option<i64>) -> Option<u64> {
    value.and_then(|bytes| u64::try_from(bytes).ok())
}

fn copy_kind(code: Option<i64>) -> CopyKind {
    match code {
        Some(1) => CopyKind::HostToDevice,
        Some(2) => CopyKind::DeviceToHost,
        Some(3) => CopyKind::HostToArray,
        Some(4) => CopyKind::ArrayToHost,
        Some(5) => CopyKind::ArrayToArray,
        Some(6) => CopyKind::ArrayToDevice,
        Some(7) => CopyKind::DeviceToArray,
        Some(8) => CopyKind::DeviceToDevice,
        Some(9) => CopyKind::HostToHost,
        Some(10) => CopyKind::PeerToPeer,
        Some(11) => CopyKind::UnifiedHostToDevice,
        Some(12) => CopyKind::UnifiedDeviceToHost,
        Some(13) => CopyKind::UnifiedDeviceToDevice,
        _ => CopyKind::Unknown,
    }
}
