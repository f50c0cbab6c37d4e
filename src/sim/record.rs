//! Rows of one rank on their way to an export: put on the export's clock, sorted by start, handed on in batches.

use super::SimError;
use super::truth::{Kind, Ledger};
use crate::nsys::write::{ApiRow, EventRow, GraphRow, KernelRow, MemcpyRow, MemsetRow, NvtxRow, OsRow, SyncRow};

/// Rows of one rank; each table is sorted by start.
#[derive(Debug, Default)]
pub struct Batch {
    /// Kernels.
    pub kernels: Vec<KernelRow>,
    /// Copies.
    pub memcpys: Vec<MemcpyRow>,
    /// Fills.
    pub memsets: Vec<MemsetRow>,
    /// Graph executions.
    pub graphs: Vec<GraphRow>,
    /// API calls.
    pub api_calls: Vec<ApiRow>,
    /// Synchronisation records.
    pub syncs: Vec<SyncRow>,
    /// Events recorded into streams; they have no time of their own and keep the order of their calls.
    pub events: Vec<EventRow>,
    /// NVTX ranges and domains.
    pub nvtx: Vec<NvtxRow>,
    /// OS runtime calls.
    pub os_calls: Vec<OsRow>,
}

/// Takes the rows of a job as they are settled.
pub trait Sink {
    /// Takes a batch of one rank; a later batch of the same rank holds later rows.
    ///
    /// # Errors
    /// When the rows cannot be kept; the simulation then stops.
    fn take(&mut self, rank: u32, batch: Batch) -> Result<(), SimError>;
}

/// The clock of an export.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    pub(super) offset_ns: i64,
    pub(super) drift_ppm: f64,
}

impl Clock {
    /// A time of the job on this clock.
    pub(super) fn at(self, job_ns: i64) -> i64 {
        job_ns.saturating_add(self.offset_ns).saturating_add((job_ns as f64 * self.drift_ppm * 1e-6).round() as i64)
    }
}

/// Collects the rows of one rank. Times given to it are the job's.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) clock: Clock,
    pub(super) ledger: Ledger,
    rows: Batch,
}

/// A row with times.
trait Timed {
    fn start_ns(&self) -> i64;
    fn put_on(&mut self, clock: Clock);
}

macro_rules! timed {
    ($($row:ty),+) => {
        $(impl Timed for $row {
            fn start_ns(&self) -> i64 {
                self.start_ns
            }
            fn put_on(&mut self, clock: Clock) {
                (self.start_ns, self.end_ns) = (clock.at(self.start_ns), clock.at(self.end_ns));
            }
        })+
    };
}
timed!(KernelRow, MemcpyRow, MemsetRow, GraphRow, ApiRow, SyncRow, OsRow);

impl Timed for NvtxRow {
    fn start_ns(&self) -> i64 {
        self.start_ns
    }
    fn put_on(&mut self, clock: Clock) {
        (self.start_ns, self.end_ns) = (clock.at(self.start_ns), self.end_ns.map(|end| clock.at(end)));
    }
}

impl Recorder {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, ledger: Ledger::default(), rows: Batch::default() }
    }

    fn on_clock<R: Timed>(&self, mut row: R) -> R {
        row.put_on(self.clock);
        row
    }

    pub(super) fn kernel(&mut self, row: KernelRow, kind: Kind) {
        let row = self.on_clock(row);
        self.ledger.truth.kernels += 1;
        self.ledger.truth.comm_kernels += u64::from(kind == Kind::Communication);
        self.ledger.ran(kind, row.start_ns, row.end_ns);
        self.rows.kernels.push(row);
    }

    pub(super) fn memcpy(&mut self, row: MemcpyRow) {
        let row = self.on_clock(row);
        self.ledger.truth.copies += 1;
        self.ledger.ran(Kind::Copy, row.start_ns, row.end_ns);
        self.rows.memcpys.push(row);
    }

    pub(super) fn memset(&mut self, row: MemsetRow) {
        let row = self.on_clock(row);
        self.ledger.truth.copies += 1;
        self.ledger.ran(Kind::Copy, row.start_ns, row.end_ns);
        self.rows.memsets.push(row);
    }

    pub(super) fn graph(&mut self, row: GraphRow) {
        let row = self.on_clock(row);
        self.ledger.truth.graphs += 1;
        self.ledger.ran(Kind::Compute, row.start_ns, row.end_ns);
        self.rows.graphs.push(row);
    }

    pub(super) fn api(&mut self, row: ApiRow) {
        let row = self.on_clock(row);
        self.ledger.truth.api_calls += 1;
        self.rows.api_calls.push(row);
    }

    pub(super) fn sync(&mut self, row: SyncRow) {
        let row = self.on_clock(row);
        self.rows.syncs.push(row);
    }

    pub(super) fn event(&mut self, row: EventRow) {
        self.rows.events.push(row);
    }

    pub(super) fn nvtx(&mut self, row: NvtxRow) {
        let row = self.on_clock(row);
        self.ledger.truth.nvtx_ranges += u64::from(row.end_ns.is_some());
        self.rows.nvtx.push(row);
    }

    pub(super) fn os_call(&mut self, row: OsRow) {
        let row = self.on_clock(row);
        self.rows.os_calls.push(row);
    }

    /// Rows held back.
    pub(super) fn held(&self) -> usize {
        self.rows.kernels.len() + self.rows.api_calls.len()
    }

    /// Hands on what is settled: no operation starts before `gpu_ns` any more, no call before `call_ns`, and no range
    /// before `range_ns` is still open.
    pub(super) fn settle(&mut self, gpu_ns: i64, call_ns: i64, range_ns: i64) -> Batch {
        let (gpu, call, range) = (self.clock.at(gpu_ns), self.clock.at(call_ns), self.clock.at(range_ns));
        self.ledger.settle(gpu);
        Batch {
            kernels: before(&mut self.rows.kernels, gpu),
            memcpys: before(&mut self.rows.memcpys, gpu),
            memsets: before(&mut self.rows.memsets, gpu),
            graphs: before(&mut self.rows.graphs, gpu),
            api_calls: before(&mut self.rows.api_calls, call),
            syncs: before(&mut self.rows.syncs, call),
            events: std::mem::take(&mut self.rows.events),
            nvtx: before(&mut self.rows.nvtx, range),
            os_calls: before(&mut self.rows.os_calls, range),
        }
    }
}

/// Takes the rows that start before `at_ns`, sorted.
fn before<R: Timed>(rows: &mut Vec<R>, at_ns: i64) -> Vec<R> {
    rows.sort_by_key(Timed::start_ns);
    let count = rows.partition_point(|row| row.start_ns() < at_ns);
    let rest = rows.split_off(count);
    std::mem::replace(rows, rest)
}
