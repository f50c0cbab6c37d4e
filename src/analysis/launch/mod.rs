//! Launches of one rank: how long work waited between its call and its start, how many launches were queued, small
//! kernels, time in API calls, and calls that waited for the GPU.
//!
//! Two lengths of time are in use for one launch and differ by the length of the call:
//!
//! ```text
//!   call |----------|
//!        |          |<-- queue time -->|############ operation
//!        |<-------- latency ---------->|
//! ```
//!
//! *Latency* runs from the start of the call to the start of the operation; it is what the operation took to get to the
//! device. *Queue time* runs from the end of the call, as NVIDIA's kernel execution summary counts it; an operation that
//! starts before its call returns has none. A launch of a graph counts once, by its first operation.
//!
//! Cost: a few passes over operations and calls; kept are [`BASE_BINS`] bins and a bit for each operation and call.

mod bits;
mod calls;
mod depth;
mod series;
mod short;
mod spread;
mod syncs;
#[cfg(test)]
mod tests;

pub use calls::{ApiCallSum, base_name};
pub use series::LaunchPoint;
pub use short::{ShortKernels, SmallKernel};
pub(super) use spread::percentile;
pub use spread::{HistogramBin, Spread};
pub use syncs::{SyncCall, SyncKind, SyncSum};

use super::{RankAnalysis, Step, StepSeries, Thresholds};
use crate::trace::{OpTable, Process, Trace};
use crate::units::Span;
use bits::BitSet;
use depth::DepthBin;
use serde::Serialize;
use std::ops::Range;

/// Bins that the queue depth of a whole capture is kept in; finer views are counted anew.
const BASE_BINS: usize = 1 << 14;
/// Entries of a list at most.
const LISTED: usize = 1000;

/// Launches whose work starts within a window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LaunchSums {
    /// Launches: calls, however many operations each started.
    pub launches: u64,
    /// Operations they started.
    pub operations: u64,
    /// From the start of the call to the start of its first operation.
    pub latency: Option<Spread>,
    /// From the end of the call to the start of its first operation, of those that started after it.
    pub queue_time: Option<Spread>,
    /// Most launches that were submitted and not started at one time.
    pub max_depth: u32,
    /// Mean of that over the window; `None` of a window without length.
    pub mean_depth: Option<f64>,
}

/// What one step launched and waited for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StepLaunches {
    /// Launches whose work started in the step's window.
    #[serde(flatten)]
    pub sums: LaunchSums,
    /// Waiting calls that began in the step's range.
    pub syncs: u64,
    /// Their time, summed over threads.
    pub sync_ns: i64,
}

/// Calls that took unusually long to launch something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SlowCalls {
    /// Calls over this count, nanoseconds.
    pub over_ns: i64,
    /// How many.
    pub count: u64,
    /// Their time, summed over threads.
    pub total_ns: i64,
}

/// Launches of one rank.
#[derive(Debug, Default)]
pub struct Launches {
    /// The whole capture; `None` when no operation has a launch.
    pub whole: Option<LaunchSums>,
    /// One entry for each step.
    pub steps: Vec<StepLaunches>,
    /// Latencies of the whole capture.
    pub histogram: Vec<HistogramBin>,
    /// Kernels so short that launching them costs as much.
    pub short: ShortKernels,
    /// Calls that took unusually long to launch something.
    pub slow_calls: SlowCalls,
    /// API calls of the process by name, the one with the most time first.
    pub api_calls: Vec<ApiCallSum>,
    /// Waiting calls by name, the one with the most time first.
    pub sync_sums: Vec<SyncSum>,
    /// The longest waiting calls, longest first.
    pub syncs: Vec<SyncCall>,
    /// How many there are.
    pub sync_count: u64,
    base: Vec<DepthBin>,
    base_latency: Vec<series::LatencyBin>,
    base_start_ns: i64,
    base_width_ns: i64,
    /// Calls of each thread of the process.
    threads: Vec<Range<u32>>,
    /// Calls that launched anything of this rank.
    launching: BitSet,
    /// Operations that are the first of their launch.
    first: BitSet,
}

/// Operations and calls of a rank, while sums are made.
#[derive(Clone, Copy)]
struct Launched<'a> {
    ops: &'a OpTable,
    process: &'a Process,
    first: &'a BitSet,
}

impl Launched<'_> {
    /// Operations that start within `window`, in order of time.
    fn starting_in(&self, window: Span) -> Range<usize> {
        let from = self.ops.start_ns.partition_point(|start| *start < window.start_ns);
        let to = self.ops.start_ns.partition_point(|start| *start < window.end_ns);
        from..to.max(from)
    }

    /// The call of operation `op`, when it is the first of its launch.
    fn call(&self, op: usize) -> Option<Span> {
        let call = self.ops.launch_of(op).filter(|_| self.first.contains(op))?;
        ((call as usize) < self.process.api.len()).then(|| self.process.api.span(call as usize))
    }

    /// Latency of operation `op`, when it is the first of its launch.
    fn latency_ns(&self, op: usize) -> Option<i64> {
        self.call(op).map(|call| self.ops.start_ns[op].saturating_sub(call.start_ns).max(0))
    }
}

impl Launches {
    /// Launches of rank `rank`, whose other numbers are `numbers`.
    pub(super) fn of(trace: &Trace, rank: usize, numbers: &RankAnalysis, limits: &Thresholds) -> Self {
        let Some(at) = trace.ranks.get(rank) else { return Self::default() };
        let Some(process) = trace.processes.get(at.process) else { return Self::default() };
        let threads = trace.threads.iter().filter(|thread| thread.process == at.process);
        let threads = threads.map(|thread| thread.api.clone()).collect();
        let mut launches = Self { short: ShortKernels::of(trace, rank, numbers, limits), threads, ..Self::default() };
        launches.find_launches(&at.ops, process.api.len());
        let first = std::mem::take(&mut launches.first);
        let launched = Launched { ops: &at.ops, process, first: &first };
        let (submitted, started) = launched.times();
        if !started.is_empty() {
            let sums = |window, ops| launched.sums(&submitted, &started, window, ops);
            launches.whole = Some(sums(numbers.span, 0..at.ops.len()));
            launches.histogram = spread::histogram((0..at.ops.len()).filter_map(|op| launched.latency_ns(op)));
            launches.slow_calls = launches.find_slow_calls(process, limits.full_queue_call_ns);
            launches.make_base(&launched, &submitted, &started, numbers.span);
            let steps = numbers.steps.iter().flat_map(|steps| &steps.steps);
            let of = |step: &Step| StepLaunches {
                sums: sums(step.window, launched.starting_in(step.window)),
                ..StepLaunches::default()
            };
            launches.steps = steps.map(of).collect();
        }
        launches.first = first;
        launches.api_calls = calls::api_calls(trace, at.process, Span::new(i64::MIN, i64::MAX));
        let steps = numbers.steps.as_ref().map_or(&[][..], |steps| &steps.steps);
        launches.add_syncs(trace, rank, steps);
        launches
    }

    /// Finds the first operation of every launch.
    fn find_launches(&mut self, ops: &OpTable, calls: usize) {
        self.launching = BitSet::new(calls);
        self.first = BitSet::new(ops.len());
        for op in 0..ops.len() {
            if ops.launch_of(op).is_some_and(|call| self.launching.insert(call as usize)) {
                self.first.insert(op);
            }
        }
    }

    fn find_slow_calls(&self, process: &Process, over_ns: i64) -> SlowCalls {
        let mut slow = SlowCalls { over_ns, ..SlowCalls::default() };
        for call in (0..process.api.len()).filter(|call| self.launching.contains(*call)) {
            let len_ns = process.api.span(call).len_ns();
            if len_ns > over_ns {
                slow.count += 1;
                slow.total_ns = slow.total_ns.saturating_add(len_ns);
            }
        }
        slow
    }

    fn add_syncs(&mut self, trace: &Trace, rank: usize, steps: &[Step]) {
        let mut syncs = syncs::sync_calls(trace, rank);
        self.sync_count = syncs.len() as u64;
        self.sync_sums = syncs::sums(trace, &syncs);
        self.steps.resize(steps.len(), StepLaunches::default());
        for sync in &syncs {
            let begun = steps.partition_point(|step| step.range.start_ns <= sync.span.start_ns);
            let Some(at) = begun.checked_sub(1) else { continue };
            if steps.get(at).is_some_and(|step| step.range.contains(sync.span.start_ns))
                && let Some(step) = self.steps.get_mut(at)
            {
                step.syncs += 1;
                step.sync_ns = step.sync_ns.saturating_add(sync.span.len_ns());
            }
        }
        syncs.sort_by_key(|sync| (std::cmp::Reverse(sync.span.len_ns()), sync.call));
        syncs.truncate(LISTED);
        self.syncs = syncs;
    }

    /// API calls of rank `rank` that begin in `window`, the name with the most time first. Costs one pass over them.
    pub fn api_calls_in(trace: &Trace, rank: usize, window: Span) -> Vec<ApiCallSum> {
        trace.ranks.get(rank).map_or_else(Vec::new, |at| calls::api_calls(trace, at.process, window))
    }

    /// Latencies of the launches of rank `rank` whose work starts in `window`. Costs one pass over them.
    pub fn histogram_in(&self, trace: &Trace, rank: usize, window: Span) -> Vec<HistogramBin> {
        let Some(launched) = self.launched(trace, rank) else { return Vec::new() };
        spread::histogram(launched.starting_in(window).filter_map(|op| launched.latency_ns(op)))
    }

    /// Queue depth of rank `rank` over time. Costs a pass over its operations.
    pub(in crate::analysis) fn depth_steps(&self, trace: &Trace, rank: usize) -> StepSeries {
        let Some(launched) = self.launched(trace, rank) else { return StepSeries::default() };
        let (submitted, started) = launched.times();
        let end_ns = started.last().copied().unwrap_or(0);
        StepSeries::of(depth::steps(&submitted, &started), end_ns)
    }

    fn launched<'a>(&'a self, trace: &'a Trace, rank: usize) -> Option<Launched<'a>> {
        let at = trace.ranks.get(rank)?;
        Some(Launched { ops: &at.ops, process: trace.processes.get(at.process)?, first: &self.first })
    }
}

impl Launched<'_> {
    /// When launches were submitted and when their first operations started, each sorted.
    fn times(&self) -> (Vec<i64>, Vec<i64>) {
        let pairs = || (0..self.ops.len()).filter_map(|op| Some((self.call(op)?, op)));
        let started: Vec<i64> = pairs().map(|(_, op)| self.ops.start_ns[op]).collect();
        let mut submitted: Vec<i64> = pairs().map(|(call, _)| call.start_ns).collect();
        // Stable, since what the streams ran is a few sorted runs already.
        submitted.sort();
        (submitted, started)
    }

    /// Sums over the operations `ops`, with the queue depth during `window`.
    fn sums(&self, submitted: &[i64], started: &[i64], window: Span, ops: Range<usize>) -> LaunchSums {
        let calls = || ops.clone().filter_map(|op| Some((self.call(op)?, self.ops.start_ns[op])));
        let mut latencies: Vec<i64> = ops.clone().filter_map(|op| self.latency_ns(op)).collect();
        let waits = calls().map(|(call, start_ns)| start_ns.saturating_sub(call.end_ns));
        let mut queued: Vec<i64> = waits.filter(|wait_ns| *wait_ns >= 0).collect();
        let before = |times: &[i64]| times.partition_point(|ns| *ns < window.start_ns);
        let until = |times: &[i64]| times.partition_point(|ns| *ns < window.end_ns);
        let (first, last) = ((before(submitted), before(started)), (until(submitted), until(started)));
        let depth = depth::bins(
            first.0 as i64 - first.1 as i64,
            submitted.get(first.0..last.0.max(first.0)).unwrap_or(&[]),
            started.get(first.1..last.1.max(first.1)).unwrap_or(&[]),
            (window.start_ns, window.len_ns(), 1),
        );
        let depth = depth.first().copied().unwrap_or_default();
        LaunchSums {
            launches: latencies.len() as u64,
            operations: ops.clone().filter(|op| self.ops.launch_of(*op).is_some()).count() as u64,
            latency: Spread::of(&mut latencies),
            queue_time: Spread::of(&mut queued),
            max_depth: depth.max,
            mean_depth: (!window.is_empty()).then(|| depth.area_ns as f64 / window.len_ns() as f64),
        }
    }
}
