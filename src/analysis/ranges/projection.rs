//! NVTX ranges projected onto the GPU: what ran because of a range, from its first start to its last end.

use super::launches::{Launch, Launches};
use super::nest::{NO_RANGE, parents};
use crate::trace::{CallTable, OpKind, RangeTable, Thread, Trace};
use crate::units::Span;
use serde::{Deserialize, Serialize};

/// Which operations belong to a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribution {
    /// Those launched while the range was open, by any thread of its process: backward, which another thread
    /// launches, belongs to the range that the main thread holds.
    #[default]
    Process,
    /// Those whose launching call lies wholly inside the range on the range's own thread, as NVIDIA's reports count.
    SameThread,
}

impl Attribution {
    /// Text for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Process => "whole process",
            Self::SameThread => "same thread",
        }
    }

    /// What it means, in one sentence.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Process => {
                "A range owns what any thread of its process launched while it was open, so that backward, launched by \
                 another thread, counts."
            }
            Self::SameThread => {
                "A range owns what its own thread launched by calls wholly inside it, as NVIDIA's projection counts: \
                 backward, launched by another thread, is missing."
            }
        }
    }
}

/// A range with what it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projected {
    /// Index into the trace's threads.
    pub thread: u32,
    /// Index into the thread's ranges.
    pub range: u32,
    /// From the first start to the last end of its operations.
    pub gpu: Span,
    /// Distinct launching calls.
    pub calls: u32,
    /// Operations; more than calls when a graph launch runs several.
    pub ops: u32,
}

/// The ranges of the process of rank `rank` that ran anything on its GPU, ordered by thread and range.
///
/// Costs one pass over the operations and one over the ranges of each thread.
///
/// # Panics
/// When the trace has no such rank.
pub fn project(trace: &Trace, rank: usize, attribution: Attribution) -> Vec<Projected> {
    let process = trace.ranks[rank].process;
    let launched = Launched::of(trace, process, |at| at == rank, |_| true);
    let own_threads = || trace.threads.iter().enumerate().filter(|(_, thread)| thread.process == process);
    let mut projected = Vec::new();
    match attribution {
        Attribution::Process => {
            let index = launched.moments();
            for (at, thread) in own_threads() {
                project_thread(&mut projected, at, &thread.nvtx, &index, None);
            }
        }
        Attribution::SameThread => {
            for (at, thread) in own_threads() {
                let index = launched.of_thread(thread);
                project_thread(&mut projected, at, &thread.nvtx, &index, Some(i64::MAX));
            }
        }
    }
    projected
}

/// Adds the ranges of one thread. With `open_end_ns` only ranges that ended on their thread count, and open ones last
/// until then at most.
fn project_thread(
    projected: &mut Vec<Projected>,
    thread: usize,
    ranges: &RangeTable,
    index: &Launches,
    open_end_ns: Option<i64>,
) {
    let mut query = index.query();
    for at in (0..ranges.len()).filter(|at| open_end_ns.is_none() || !ranges.ended_elsewhere[*at]) {
        let span = closed(ranges, at, open_end_ns.unwrap_or(i64::MAX));
        if let Some(work) = query.inside(span) {
            projected.push(Projected {
                thread: thread as u32,
                range: at as u32,
                gpu: work.gpu,
                calls: work.calls,
                ops: work.ops,
            });
        }
    }
}

/// The span of range `at`; when it was never closed it lasts until `open_end_ns` at most.
fn closed(ranges: &RangeTable, at: usize, open_end_ns: i64) -> Span {
    let span = ranges.span(at);
    if ranges.open[at] { Span::new(span.start_ns, span.end_ns.min(open_end_ns).max(span.start_ns)) } else { span }
}

/// What the calls of a process launched, by the call's place in the process's API table. Costs 20 bytes a call.
struct Launched<'a> {
    api: &'a CallTable,
    /// From the first start to the last end of each call's operations.
    gpu: Vec<Span>,
    /// Operations of each call; most calls have none or one.
    ops: Vec<u32>,
}

impl<'a> Launched<'a> {
    /// What the calls of `process` launched of the ranks and kinds for which `of_rank` and `of_kind` hold.
    fn of(trace: &'a Trace, process: usize, of_rank: impl Fn(usize) -> bool, of_kind: impl Fn(OpKind) -> bool) -> Self {
        let api = &trace.processes[process].api;
        let mut launched = Self { api, gpu: vec![Span::default(); api.len()], ops: vec![0; api.len()] };
        let ranks = trace.ranks.iter().enumerate().filter(|(at, rank)| rank.process == process && of_rank(*at));
        for (_, rank) in ranks {
            let ops = &rank.ops;
            for op in (0..ops.len()).filter(|op| of_kind(ops.kind[*op])) {
                let Some(call) = ops.launch_of(op).map(|call| call as usize) else { continue };
                let (Some(gpu), Some(count)) = (launched.gpu.get_mut(call), launched.ops.get_mut(call)) else {
                    continue;
                };
                *gpu = if *count == 0 { ops.span(op) } else { gpu.hull(ops.span(op)) };
                *count = count.saturating_add(1);
            }
        }
        launched
    }

    /// Of call `call`, when it launched anything.
    fn launch(&self, call: usize) -> Option<Launch> {
        let ops = self.ops.get(call).copied().filter(|ops| *ops > 0)?;
        Some(Launch { call: self.api.span(call), gpu: self.gpu.get(call).copied()?, ops })
    }

    /// The calls that launched anything, each as the moment it began, in order of time.
    fn moments(&self) -> Launches {
        let mut calls: Vec<u32> =
            (0..self.ops.len() as u32).filter(|call| self.launch(*call as usize).is_some()).collect();
        // Stable, since the calls of each thread are in order already.
        calls.sort_by_key(|call| self.api.start_ns[*call as usize]);
        // An instant lies inside a range by the rule of spans: the end is outside.
        let moment = |ns: i64| Span::new(ns, ns.saturating_add(1));
        let launch = |call: &u32| self.launch(*call as usize).map(|l| Launch { call: moment(l.call.start_ns), ..l });
        Launches::of(calls.iter().filter_map(launch), calls.len())
    }

    /// Those of `thread`, in the order of the API table.
    fn of_thread(&self, thread: &Thread) -> Launches {
        let calls = thread.api.start as usize..thread.api.end as usize;
        let count = self.ops.get(calls.clone()).unwrap_or(&[]).iter().filter(|ops| **ops > 0).count();
        Launches::of(calls.filter_map(|call| self.launch(call)), count)
    }
}

/// A range as NVIDIA's projection reports list it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SameThreadRow {
    /// The range with what it ran on all GPUs of its process. Its `calls` are the reports' number of GPU operations.
    pub range: Projected,
    /// The range itself, in host time.
    pub original: Span,
    /// Ranges around it.
    pub level: u32,
    /// Listed ranges directly inside it.
    pub children: u32,
    /// Row of the tightest range around it, when there is one.
    pub parent: Option<usize>,
}

/// The ranges that NVIDIA's projection reports (nvtx_gpu_proj_sum, nvtx_gpu_proj_trace) list, by their rules: ranges
/// that ended on the thread that started them, with the kernels, copies and fills (no graph blocks) launched by calls
/// wholly inside them on that thread. A range that was never closed ends with the last range event of the file.
///
/// Ordered by thread, then start, then longest first.
pub fn same_thread_rows(trace: &Trace) -> Vec<SameThreadRow> {
    let open_end_ns = last_range_event_ns(trace);
    let mut rows = Vec::new();
    let mut projected = Vec::new();
    for process in 0..trace.processes.len() {
        let launched = Launched::of(trace, process, |_| true, |kind| kind != OpKind::Graph);
        for (at, thread) in trace.threads.iter().enumerate().filter(|(_, thread)| thread.process == process) {
            let index = launched.of_thread(thread);
            projected.clear();
            project_thread(&mut projected, at, &thread.nvtx, &index, Some(open_end_ns));
            nested_rows(&mut rows, &thread.nvtx, &projected, open_end_ns);
        }
    }
    rows
}

fn last_range_event_ns(trace: &Trace) -> i64 {
    let of_thread = |ranges: &RangeTable| {
        (0..ranges.len()).map(|at| if ranges.open[at] { ranges.start_ns[at] } else { ranges.end_ns[at] }).max()
    };
    trace.threads.iter().filter_map(|thread| of_thread(&thread.nvtx)).max().unwrap_or(i64::MAX)
}

/// Adds the rows of one thread, with their levels and parents among all ranges that ended on it.
fn nested_rows(rows: &mut Vec<SameThreadRow>, ranges: &RangeTable, projected: &[Projected], open_end_ns: i64) {
    let spans = (0..ranges.len())
        .filter(|at| !ranges.ended_elsewhere[*at])
        .map(|at| (at as u32, closed(ranges, at, open_end_ns)));
    let mut levels = vec![0_u32; ranges.len()];
    // Row of each range that has one. A range around one that ran something ran it too, so parents have rows.
    let mut row_of = vec![NO_RANGE; ranges.len()];
    let mut next = projected.iter().peekable();
    for (at, parent) in parents(spans) {
        let level = levels.get(parent as usize).map_or(0, |level| level + 1);
        levels[at as usize] = level;
        let Some(range) = next.next_if(|p| p.range == at) else { continue };
        let parent = row_of.get(parent as usize).copied().filter(|row| *row != NO_RANGE).map(|row| row as usize);
        row_of[at as usize] = rows.len() as u32;
        if let Some(parent) = parent.and_then(|row| rows.get_mut(row)) {
            parent.children += 1;
        }
        let original = closed(ranges, at as usize, open_end_ns);
        rows.push(SameThreadRow { range: *range, original, level, children: 0, parent });
    }
}

#[cfg(test)]
mod tests;
