//! Rows in any order to a sorted, joined, immutable [`Trace`].
//!
//! The one place that decides what is skipped and what is mended: a row that ends before it starts is dropped and
//! counted; an operation without an end is dropped and counted; a call or range without an end lasts to the capture's
//! end. Everything is sorted here, since no source promises an order.
//!
//! Cost: the columns of the finished trace plus 4 bytes for each operation and call while correlation ids are joined,
//! plus one column at a time while rows are put in order.

mod extent;
mod interned;
mod launches;
mod left_out;
#[cfg(test)]
mod tests;

use super::columns::{CallColumns, CallJoins, OpColumns, RangeColumns, SyncColumns};
use super::raw::{RawCall, RawOp, RawRange, RawSync};
use super::{
    CallTable, CommCall, CopyEnds, DetailSource, Gpu, Metric, NONE, NameId, Names, OpKind, OpName, OpNameId, Overhead,
    Process, RangeKind, Rank, Source, Thread, Trace, Warning,
};
use crate::units::Span;
use interned::Interned;
use launches::Launches;
use left_out::FURTHEST_NS;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bits of a thread key that name the thread; the rest is the key of its process.
const THREAD_BITS: i64 = 0xFF_FFFF;

/// Key of the process that a thread key belongs to.
pub(super) const fn process_key(global_tid: i64) -> i64 {
    global_tid & !THREAD_BITS
}

/// Collects rows in any order and builds the [`Trace`].
#[derive(Debug, Default)]
pub struct TraceBuilder {
    names: Names,
    op_names: Vec<OpName>,
    op_name_ids: FxHashMap<OpName, OpNameId>,
    ranks: BTreeMap<(i64, i64), OpColumns>,
    last_rank: Option<(i64, i64)>,
    current: OpColumns,
    syncs: BTreeMap<(i64, i64), SyncColumns>,
    threads: BTreeMap<i64, ThreadColumns>,
    last_thread: Option<i64>,
    current_thread: ThreadColumns,
    domains: Interned,
    categories: Interned,
    unnamed_domains: Vec<NameId>,
    nvtx_end_ns: Option<i64>,
    overheads: Vec<Overhead>,
    process_names: FxHashMap<i64, NameId>,
    thread_names: FxHashMap<i64, (i64, NameId)>,
    gpus: Vec<Gpu>,
    metrics: Vec<Metric>,
    device_gpus: FxHashMap<(Option<i64>, i64), usize>,
    rank_labels: FxHashMap<Option<i64>, String>,
    warnings: Vec<Warning>,
    dropped: BTreeMap<(&'static str, &'static str), u64>,
    /// GPU operations among them.
    lost_ops: u64,
}

/// What one thread did, in the order the rows came.
#[derive(Debug, Default)]
struct ThreadColumns {
    api: CallColumns,
    os: CallColumns,
    nvtx: RangeColumns,
    marks: RangeColumns,
}

impl TraceBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The texts, to intern names that rows refer to.
    pub fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Adds a GPU operation.
    pub fn op(&mut self, op: RawOp) {
        self.checked_op(op);
    }

    /// Adds a kernel of so many thread blocks; 0 when that is not known.
    pub fn kernel(&mut self, op: RawOp, blocks: u16) {
        if self.checked_op(op) {
            self.current.blocks(blocks);
        }
    }

    /// Adds a copy of which is known what it moved between.
    pub fn copy(&mut self, op: RawOp, ends: CopyEnds) {
        if self.checked_op(op) {
            self.current.copy_ends(ends);
        }
    }

    /// Adds an operation unless it is to be left out; true when it was added.
    fn checked_op(&mut self, op: RawOp) -> bool {
        let Some(end_ns) = self.checked_end("GPU operation", op.start_ns, op.end_ns) else {
            self.lost_ops += 1;
            return false;
        };
        let name = self.op_name(&op);
        let key = (op.global_pid, op.device);
        // Rows of one rank come in long runs: its columns stay at hand until another rank's row comes.
        if self.last_rank != Some(key) {
            self.park_rank();
            self.current = self.ranks.remove(&key).unwrap_or_default();
            self.last_rank = Some(key);
        }
        self.current.push(&op, end_ns, name);
        true
    }

    /// Adds a CUDA API call.
    pub fn call(&mut self, call: RawCall) {
        if self.is_impossible("CUDA API call", call.start_ns, call.end_ns) {
            return;
        }
        self.thread(call.global_tid).api.push(&call);
    }

    /// Adds an OS runtime call; its correlation is not used.
    pub fn os_call(&mut self, call: RawCall) {
        if self.is_impossible("OS runtime call", call.start_ns, call.end_ns) {
            return;
        }
        self.thread(call.global_tid).os.push(&RawCall { correlation: None, ..call });
    }

    /// Adds an NVTX range or mark.
    pub fn range(&mut self, range: RawRange) {
        self.comm_range(range, None);
    }

    /// Adds the range of a communication call with what the call says of itself.
    pub fn comm_range(&mut self, range: RawRange, call: Option<CommCall>) {
        let end_ns = range.end_ns.filter(|_| range.kind != RangeKind::Mark);
        if self.is_impossible("NVTX range", range.start_ns, end_ns) {
            return;
        }
        let domain = self.domains.id(range.domain);
        let category = self.categories.id(range.category);
        let thread = self.thread(range.global_tid);
        if range.kind == RangeKind::Mark {
            let instant = RawRange { end_ns: Some(range.start_ns), ..range };
            thread.marks.push(&instant, domain, category, call);
        } else {
            thread.nvtx.push(&range, domain, category, call);
        }
    }

    /// Adds a synchronisation record.
    pub fn sync(&mut self, sync: RawSync) {
        let Some(end_ns) = self.checked_end("synchronisation record", sync.start_ns, sync.end_ns) else { return };
        self.syncs.entry((sync.global_pid, sync.device)).or_default().push(&sync, end_ns);
    }

    /// Takes note of a time in an NVTX event of whatever kind.
    pub fn nvtx_time(&mut self, ns: i64) {
        if ns.unsigned_abs() <= FURTHEST_NS.unsigned_abs() {
            self.nvtx_end_ns = self.nvtx_end_ns.max(Some(ns));
        }
    }

    /// Says that a domain's name is made up, since the file holds none.
    pub fn unnamed_domain(&mut self, name: NameId) {
        if !self.unnamed_domains.contains(&name) {
            self.unnamed_domains.push(name);
        }
    }

    /// Adds a time that the profiler took from a process.
    pub fn overhead(&mut self, global_pid: i64, start_ns: i64, end_ns: Option<i64>) {
        if let Some(end_ns) = self.checked_end("profiler overhead", start_ns, end_ns) {
            self.overheads.push(Overhead { global_pid, span: Span::new(start_ns, end_ns) });
        }
    }

    /// Names a process.
    pub fn process_name(&mut self, global_pid: i64, name: NameId) {
        self.process_names.entry(global_pid).or_insert(name);
    }

    /// Names a thread; of several names the one with the highest priority stays (ties: the first).
    pub fn thread_name(&mut self, global_tid: i64, name: NameId, priority: i64) {
        let known = self.thread_names.entry(global_tid).or_insert((priority, name));
        if known.0 < priority {
            *known = (priority, name);
        }
    }

    /// Adds a card; the result is its index.
    pub fn gpu(&mut self, gpu: Gpu) -> usize {
        self.gpus.push(gpu);
        self.gpus.len() - 1
    }

    /// Adds a counter of a GPU.
    pub fn metric(&mut self, metric: Metric) {
        self.metrics.push(metric);
    }

    /// Says which card a device ordinal is, for one process or (`None`) for all that have no entry of their own.
    pub fn device_gpu(&mut self, global_pid: Option<i64>, device: i64, gpu: usize) {
        self.device_gpus.insert((global_pid, device), gpu);
    }

    /// Says the rank label of a process, or (`None`) of the file.
    pub fn rank_label(&mut self, global_pid: Option<i64>, label: String) {
        self.rank_labels.insert(global_pid, label);
    }

    /// Adds a warning; equal ones are counted.
    pub fn warn(&mut self, warning: Warning) {
        match self.warnings.iter_mut().find(|w| w.code == warning.code && w.message == warning.message) {
            Some(known) => known.count += warning.count,
            None => self.warnings.push(warning),
        }
    }

    /// Sorts, joins and checks; the trace is immutable from here on.
    pub fn finish(mut self, source: Source, details: Arc<dyn DetailSource>) -> Trace {
        self.park_rank();
        self.park_thread();
        self.report_dropped();
        let span = self.span();
        let capture_end_ns = self.last_end_ns().unwrap_or(0);

        let keys = self.process_keys();
        let mut processes: Vec<Process> = Vec::with_capacity(keys.len());
        let mut launches: Vec<Launches> = Vec::with_capacity(keys.len());
        let mut threads: Vec<Thread> = Vec::new();
        let mut columns = std::mem::take(&mut self.threads).into_iter().peekable();
        for (at, &key) in keys.iter().enumerate() {
            let mut api = CallTable::default();
            let mut joins = CallJoins::default();
            while let Some((global_tid, thread)) = columns.next_if(|(tid, _)| process_key(*tid) == key) {
                let first = api.len() as u32;
                thread.api.append_to(&mut api, &mut joins, capture_end_ns);
                threads.push(Thread {
                    global_tid,
                    tid: (global_tid & THREAD_BITS) as u32,
                    process: at,
                    name: self.thread_names.get(&global_tid).map(|(_, name)| *name),
                    api: first..api.len() as u32,
                    nvtx: thread.nvtx.into_table(capture_end_ns),
                    marks: thread.marks.into_table(capture_end_ns),
                    os: thread.os.into_table(capture_end_ns),
                });
            }
            let own = Launches::of(&api, &joins.correlations);
            let outer_calls = own.outer_calls(&joins.correlations);
            launches.push(own);
            api.row = joins.rows.into();
            processes.push(Process {
                global_pid: key,
                pid: (key >> 24 & THREAD_BITS) as u32,
                name: self.process_names.get(&key).copied(),
                api,
                outer_calls,
            });
        }
        let ranks = self.build_ranks(&keys, &launches);
        self.names.freeze();
        self.overheads.sort_by_key(|overhead| (overhead.global_pid, overhead.span));
        Trace {
            source,
            names: self.names,
            op_names: self.op_names,
            processes,
            threads,
            gpus: self.gpus,
            metrics: self.metrics,
            ranks,
            domains: self.domains.into_names(),
            unnamed_domains: self.unnamed_domains,
            categories: self.categories.into_names(),
            nvtx_end_ns: self.nvtx_end_ns,
            overheads: self.overheads,
            lost_ops: self.lost_ops,
            warnings: self.warnings,
            span,
            details,
        }
    }

    fn build_ranks(&mut self, keys: &[i64], launches: &[Launches]) -> Vec<Rank> {
        let columns = std::mem::take(&mut self.ranks);
        let count = columns.len();
        let mut ranks = Vec::with_capacity(count);
        for (order, ((global_pid, device), ops)) in columns.into_iter().enumerate() {
            let process = keys.partition_point(|key| *key < process_key(global_pid));
            let find = |correlation: u32| launches.get(process).map_or(NONE, |known| known.find(correlation));
            let (ops, streams) = ops.into_table(find);
            let syncs = self.syncs.remove(&(global_pid, device)).unwrap_or_default().into_table(find);
            let gpu = self.device_gpus.get(&(Some(global_pid), device)).or(self.device_gpus.get(&(None, device)));
            let own = self.rank_labels.get(&Some(global_pid));
            let (label, told) = match (own, self.rank_labels.get(&None)) {
                (Some(label), _) => (label.clone(), true),
                (None, Some(label)) if count == 1 => (label.clone(), true),
                _ => (order.to_string(), false),
            };
            ranks.push(Rank { label, told, process, device, gpu: gpu.copied(), streams, ops, syncs });
        }
        make_labels_distinct(&mut ranks);
        ranks
    }

    fn op_name(&mut self, op: &RawOp) -> OpNameId {
        let name = match op.kind {
            OpKind::Kernel => OpName { short: op.short, full: op.full },
            OpKind::Memcpy(kind) => self.own_name(&format!("Memcpy {}", kind.text())),
            OpKind::Memset => self.own_name("Memset"),
            OpKind::Graph => self.own_name("CUDA graph"),
        };
        *self.op_name_ids.entry(name).or_insert_with(|| {
            self.op_names.push(name);
            OpNameId(self.op_names.len() as u32 - 1)
        })
    }

    fn own_name(&mut self, text: &str) -> OpName {
        let id = self.names.intern(text);
        OpName { short: id, full: id }
    }

    fn thread(&mut self, global_tid: i64) -> &mut ThreadColumns {
        if self.last_thread != Some(global_tid) {
            self.park_thread();
            self.current_thread = self.threads.remove(&global_tid).unwrap_or_default();
            self.last_thread = Some(global_tid);
        }
        &mut self.current_thread
    }

    fn park_rank(&mut self) {
        if let Some(key) = self.last_rank.take() {
            self.ranks.insert(key, std::mem::take(&mut self.current));
        }
    }

    fn park_thread(&mut self) {
        if let Some(key) = self.last_thread.take() {
            self.threads.insert(key, std::mem::take(&mut self.current_thread));
        }
    }
}

/// Two ranks of one file never share a label: the device is appended, then the order.
fn make_labels_distinct(ranks: &mut [Rank]) {
    for pass in 0..2 {
        let mut seen: FxHashMap<String, usize> = FxHashMap::default();
        for rank in ranks.iter() {
            *seen.entry(rank.label.clone()).or_default() += 1;
        }
        for (order, rank) in ranks.iter_mut().enumerate() {
            if seen.get(&rank.label).is_some_and(|count| *count > 1) {
                rank.label = if pass == 0 {
                    format!("{}.{}", rank.label, rank.device)
                } else {
                    format!("{}.{order}", rank.label)
                };
            }
        }
    }
}
