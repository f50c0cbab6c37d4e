//! What is true of a simulated job, from the simulation's own books.
//!
//! The partition is counted here by a sweep over starts and ends with one counter per class, not by interval algebra,
//! so that it can check the analysis. Memory: the operations of the steps still open.

use crate::units::Span;
use serde::Serialize;
use std::collections::VecDeque;

/// Everything known about a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Truth {
    /// Per rank, in order.
    pub ranks: Vec<RankTruth>,
    /// Every collective and exchange, in the order they ended.
    pub collectives: Vec<CollectiveTruth>,
}

/// The exact split of a window; `idle_ns` is what the other four leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Parts {
    /// Length of the window.
    pub span_ns: i64,
    /// Compute without communication.
    pub compute_only_ns: i64,
    /// Compute and communication at once.
    pub overlapped_comm_ns: i64,
    /// Communication alone.
    pub exposed_comm_ns: i64,
    /// Copies while no kernel ran.
    pub copy_only_ns: i64,
    /// Nothing ran.
    pub idle_ns: i64,
}

/// What one rank did. Times are on the clock of its export.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RankTruth {
    /// Pipeline stage.
    pub stage: u32,
    /// Kernels recorded, communication included.
    pub kernels: u64,
    /// Communication kernels among them.
    pub comm_kernels: u64,
    /// Copies and fills.
    pub copies: u64,
    /// Graph executions recorded as one block.
    pub graphs: u64,
    /// API calls.
    pub api_calls: u64,
    /// NVTX ranges.
    pub nvtx_ranges: u64,
    /// To be added to the export's times to get the job's, drift apart.
    pub offset_ns: i64,
    /// How far the wall clock of the export is ahead of the truth.
    pub wall_error_ns: i64,
    /// How fast the export's clock runs, in parts per million.
    pub drift_ppm: f64,
    /// From the first start to the last end of GPU work.
    pub span: Span,
    /// Split of that span.
    pub whole: Parts,
    /// Steps in order.
    pub steps: Vec<StepTruth>,
}

/// One step of a rank.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StepTruth {
    /// Its number.
    pub number: u32,
    /// From its begin to its end on the main thread.
    pub range: Span,
    /// The GPU time it owns.
    pub window: Span,
    /// Split of the window.
    pub parts: Parts,
    /// The main thread waited for its batch.
    pub data_wait_ns: i64,
    /// The main thread collected garbage.
    pub gc_ns: i64,
    /// The compute stream stood still for a neighbouring pipeline stage.
    pub pipeline_stall_ns: i64,
}

/// One collective, or one exchange of a pair. Times are the job's own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectiveTruth {
    /// Communicator.
    pub communicator: u32,
    /// Number within the communicator, from 0.
    pub sequence: u64,
    /// True for an exchange between pipeline stages.
    pub point_to_point: bool,
    /// Bytes per rank.
    pub bytes: u64,
    /// End, the same on all ranks.
    pub end_ns: i64,
    /// From the latest start to the end.
    pub transfer_ns: i64,
    /// The ranks that took part, by rank.
    pub arrivals: Vec<Arrival>,
}

/// When one rank was ready for a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Arrival {
    /// The rank.
    pub rank: u32,
    /// Start of its kernel.
    pub start_ns: i64,
    /// How long it waited for the last rank.
    pub wait_ns: i64,
}

/// What kind of work an operation is, for the split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Compute,
    Communication,
    Copy,
}

/// Keeps the books of one rank.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) truth: RankTruth,
    /// Starts and ends not yet swept: time, kind, +1 or -1.
    edges: Vec<(i64, Kind, i32)>,
    swept_to_ns: i64,
    running: [i32; 3],
    /// Sums up to `swept_to_ns`.
    sums: Parts,
    open: VecDeque<OpenStep>,
    first_open: u32,
    /// End of the last window, once one is known.
    boundary_ns: Option<i64>,
    /// Latest end of primary-stream work launched before the first step.
    early_end_ns: Option<i64>,
    /// Windows whose end is known but not yet swept to.
    closing: VecDeque<StepTruth>,
}

#[derive(Debug, Default)]
struct OpenStep {
    truth: StepTruth,
    outstanding: u64,
    last_end_ns: i64,
    ended: bool,
}

impl Ledger {
    /// Number of the step that is open on the main thread.
    pub(super) fn current_step(&self) -> Option<u32> {
        let last = self.open.back().filter(|step| !step.ended)?;
        debug_assert_eq!(last.truth.range.end_ns, 0);
        Some(self.first_open + self.open.len() as u32 - 1)
    }

    pub(super) fn begin_step(&mut self, number: u32, at_ns: i64, data_wait_ns: i64) {
        let truth = StepTruth { number, range: Span::new(at_ns, 0), data_wait_ns, ..StepTruth::default() };
        self.open.push_back(OpenStep { truth, last_end_ns: i64::MIN, ..OpenStep::default() });
    }

    pub(super) fn end_step(&mut self, at_ns: i64) {
        if let Some(step) = self.open.back_mut() {
            step.truth.range.end_ns = at_ns;
            step.ended = true;
        }
        self.close_windows();
    }

    pub(super) fn note(&mut self, change: impl FnOnce(&mut StepTruth)) {
        if let Some(step) = self.open.back_mut().filter(|step| !step.ended) {
            change(&mut step.truth);
        }
    }

    fn step(&mut self, step: u32) -> Option<&mut OpenStep> {
        self.open.get_mut(step.checked_sub(self.first_open)? as usize)
    }

    /// Work for the primary stream was launched during `step`.
    pub(super) fn launched(&mut self, step: Option<u32>) {
        if let Some(step) = step.and_then(|step| self.step(step)) {
            step.outstanding += 1;
        }
    }

    /// That work is done; `stall_ns` is how long it waited for another pipeline stage.
    pub(super) fn completed(&mut self, step: Option<u32>, end_ns: i64, stall_ns: i64) {
        let Some(step) = step else {
            self.early_end_ns = self.early_end_ns.max(Some(end_ns));
            return;
        };
        if let Some(step) = self.step(step) {
            step.outstanding -= 1;
            step.last_end_ns = step.last_end_ns.max(end_ns);
            step.truth.pipeline_stall_ns += stall_ns;
            self.close_windows();
        }
    }

    fn close_windows(&mut self) {
        while self.open.front().is_some_and(|step| step.ended && step.outstanding == 0) {
            let Some(step) = self.open.pop_front() else { return };
            self.first_open += 1;
            let start =
                self.boundary_ns.unwrap_or(step.truth.range.start_ns.max(self.early_end_ns.unwrap_or(i64::MIN)));
            let end = start.max(step.last_end_ns);
            self.boundary_ns = Some(end);
            self.closing.push_back(StepTruth { window: Span::new(start, end), ..step.truth });
        }
    }

    /// An operation ran.
    pub(super) fn ran(&mut self, kind: Kind, start_ns: i64, end_ns: i64) {
        if self.truth.span.is_empty() {
            self.truth.span = Span::new(start_ns, end_ns);
        }
        self.truth.span = self.truth.span.hull(Span::new(start_ns, end_ns));
        self.edges.extend([(start_ns, kind, 1), (end_ns, kind, -1)]);
    }

    /// No operation will start before `watermark_ns` any more: windows that end there can be split.
    pub(super) fn settle(&mut self, watermark_ns: i64) {
        if self.closing.front().is_none_or(|step| step.window.end_ns > watermark_ns) {
            return;
        }
        self.edges.sort_by_key(|(at, ..)| *at);
        let mut done = 0;
        while let Some(mut step) = self.closing.pop_front_if(|step| step.window.end_ns <= watermark_ns) {
            let before = self.sweep(step.window.start_ns, &mut done);
            let after = self.sweep(step.window.end_ns, &mut done);
            step.parts = after.since(before, step.window.len_ns());
            self.truth.steps.push(step);
        }
        self.edges.drain(..done);
    }

    /// The books, closed.
    pub(super) fn finish(mut self) -> RankTruth {
        self.settle(i64::MAX);
        self.edges.sort_by_key(|(at, ..)| *at);
        let all = self.sweep(self.truth.span.end_ns, &mut 0);
        self.truth.whole = all.since(Parts::default(), self.truth.span.len_ns());
        self.truth
    }

    /// Sums of the parts up to `to_ns`.
    fn sweep(&mut self, to_ns: i64, done: &mut usize) -> Parts {
        while let Some((at, kind, change)) = self.edges.get(*done).copied().filter(|(at, ..)| *at <= to_ns) {
            self.count_up_to(at);
            self.running[kind as usize] += change;
            *done += 1;
        }
        self.count_up_to(to_ns);
        self.sums
    }

    fn count_up_to(&mut self, at_ns: i64) {
        let length = at_ns - self.swept_to_ns;
        debug_assert!(length >= 0 || self.sums.busy_ns() == 0, "an operation starts in a window that was closed");
        let part = match self.running.map(|n| n > 0) {
            [true, true, _] => &mut self.sums.overlapped_comm_ns,
            [true, false, _] => &mut self.sums.compute_only_ns,
            [false, true, _] => &mut self.sums.exposed_comm_ns,
            [false, false, true] => &mut self.sums.copy_only_ns,
            [false, false, false] => &mut self.sums.idle_ns,
        };
        *part += length;
        self.swept_to_ns = at_ns;
    }
}

impl Parts {
    fn since(self, before: Self, span_ns: i64) -> Self {
        let mut parts = Self {
            span_ns,
            compute_only_ns: self.compute_only_ns - before.compute_only_ns,
            overlapped_comm_ns: self.overlapped_comm_ns - before.overlapped_comm_ns,
            exposed_comm_ns: self.exposed_comm_ns - before.exposed_comm_ns,
            copy_only_ns: self.copy_only_ns - before.copy_only_ns,
            idle_ns: 0,
        };
        parts.idle_ns = span_ns - parts.busy_ns();
        parts
    }

    /// Time during which anything ran.
    pub const fn busy_ns(self) -> i64 {
        self.compute_only_ns + self.overlapped_comm_ns + self.exposed_comm_ns + self.copy_only_ns
    }
}
