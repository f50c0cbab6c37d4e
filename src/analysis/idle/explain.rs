//! One gap in full: what ran before and after, who launched what ended it, and what that thread did meanwhile.
//!
//! Computed when somebody looks. Cost: binary searches, and a walk over at most [`WALK`] rows of each table.

use super::super::{CallKind, Cause, Causes, RankAnalysis, Steps};
use super::cursor::{Launch, launch_at};
use super::sweep::DRAIN_NS;
use crate::trace::{CallTable, Rank, Thread, Trace};
use crate::units::Span;
use std::ops::Range;

/// Rows looked at to find what is open at an instant.
const WALK: usize = 4096;

/// Where among the steps' ranges the host was; steps are indices into [`Steps::steps`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapPlace {
    /// No step is marked.
    Unmarked,
    /// Before the first step.
    Before(usize),
    /// Inside a step.
    In(usize),
    /// Behind the first and before the second.
    Between(usize, usize),
    /// Behind the last step.
    After(usize),
}

/// Everything known about a gap, as indices into the trace's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapReport {
    /// Its number in order of time.
    pub gap: usize,
    /// Its bounds.
    pub span: Span,
    /// Its begin since the first event of the capture.
    pub since_start_ns: i64,
    /// How it splits by cause.
    pub causes: Causes,
    /// The cause that takes most of it.
    pub cause: Cause,
    /// The operation that ended when it began.
    pub before: Option<usize>,
    /// The operation whose start ended it: the first with a launch, else the first.
    pub after: Option<usize>,
    /// The call that launched it, in the process's API table.
    pub launch: Option<u32>,
    /// The thread that made that call.
    pub thread: Option<usize>,
    /// Nanoseconds from the gap's begin to that call; negative when the call came first.
    pub launch_after_ns: Option<i64>,
    /// The ranges open on that thread, outermost first, in the middle of the longest stretch of the main cause; at the
    /// launch, when the work was queued before the gap.
    pub ranges: Vec<usize>,
    /// The call that had drained the queue before the gap.
    pub drained_by: Option<u32>,
    /// The call that the thread was inside at that instant: of nested ones the one that decided the cause. When the
    /// launching call began before the gap and still ran, the innermost call in the middle of the gap.
    pub inside: Option<u32>,
    /// The innermost OS runtime call that the thread was inside at that instant, when recorded.
    pub os_call: Option<usize>,
    /// Calls that the thread began from the gap's begin to the launch.
    pub calls: u64,
    /// Where among the steps that instant lies.
    pub place: GapPlace,
}

impl GapReport {
    /// Explains gap `gap` of a rank; `None` when there is no such gap.
    pub fn of(trace: &Trace, rank: &Rank, numbers: &RankAnalysis, gap: usize) -> Option<Self> {
        let idle = &numbers.idle;
        let span = idle.gap(gap)?;
        let cause = idle.cause_of(gap)?;
        let first = rank.ops.start_ns.partition_point(|start| *start < span.end_ns);
        let launched = launch_at(trace, rank, first, span.end_ns);
        let launch = launched.map(|(_, launch)| launch);
        let queued = launch.map(|l| l.span.start_ns).filter(|start_ns| *start_ns <= span.start_ns);
        let stretches = idle.segments(span).filter(|(_, of)| *of == cause).map(|(stretch, _)| stretch);
        let longest = stretches.max_by_key(|s| (s.len_ns(), std::cmp::Reverse(s.start_ns))).unwrap_or(span);
        let at_ns = queued.unwrap_or_else(|| longest.start_ns.saturating_add(longest.len_ns() / 2));
        let mut report = Self {
            gap,
            span,
            since_start_ns: trace.since_start_ns(span.start_ns),
            causes: idle.within(span),
            cause,
            before: ended_at(rank, span.start_ns),
            after: launched.map(|(op, _)| op).or_else(|| starting_at(rank, first, span.end_ns)),
            launch: launch.map(|l| l.call),
            thread: launch.map(|l| l.thread),
            launch_after_ns: launch.map(|l| l.span.start_ns.saturating_sub(span.start_ns)),
            ranges: Vec::new(),
            drained_by: None,
            inside: None,
            os_call: None,
            calls: 0,
            place: place(numbers.steps.as_ref(), at_ns),
        };
        let api = trace.processes.get(rank.process).map(|process| &process.api);
        if let (Some(launch), Some(api)) = (launch, api)
            && let Some(thread) = trace.threads.get(launch.thread)
        {
            report.add_host(trace, api, thread, launch, at_ns);
        }
        Some(report)
    }

    /// Adds what the launching thread did at `at_ns` and before the gap.
    fn add_host(&mut self, trace: &Trace, api: &CallTable, thread: &Thread, launch: Launch, at_ns: i64) {
        let own = thread.api.start as usize..thread.api.end as usize;
        let kind = |call: usize| CallKind::of(trace.name(api.name[call]));
        let nvtx = &thread.nvtx;
        self.ranges = open_at(&nvtx.start_ns, &nvtx.end_ns, 0..nvtx.len(), at_ns).collect();
        self.ranges.reverse();
        self.os_call = open_at(&thread.os.start_ns, &thread.os.end_ns, 0..thread.os.len(), at_ns).next();
        let index = |call: usize| u32::try_from(call).ok();
        if launch.span.start_ns <= self.span.start_ns {
            let middle_ns = self.span.start_ns.saturating_add(self.span.len_ns() / 2);
            let still = Some(middle_ns).filter(|_| launch.span.end_ns > self.span.start_ns);
            let mut open = still.into_iter().flat_map(|at_ns| open_at(&api.start_ns, &api.end_ns, own.clone(), at_ns));
            self.inside = open.next().and_then(index);
            return;
        }
        let inside: Vec<usize> = open_at(&api.start_ns, &api.end_ns, own.clone(), at_ns).collect();
        // The call that decided, when it is not the innermost.
        let decides = |call: &&usize| match self.cause {
            Cause::Sync => matches!(kind(**call), CallKind::Synchronize | CallKind::Copy),
            Cause::Allocator => kind(**call) == CallKind::Allocate,
            Cause::ModuleLoad => kind(**call) == CallKind::LoadModule,
            _ => true,
        };
        self.inside = inside.iter().find(decides).or(inside.first()).and_then(|call| index(*call));
        let before = |at_ns: i64| own.start + api.start_ns[own.clone()].partition_point(|start| *start < at_ns);
        let (first, last) = (before(self.span.start_ns), before(launch.span.start_ns.min(self.span.end_ns)));
        self.calls = last.saturating_sub(first) as u64;
        let drains = |call: &usize| {
            let end_ns = api.end_ns[*call];
            let waits = match kind(*call) {
                CallKind::Synchronize => true,
                CallKind::Copy => end_ns > self.span.start_ns,
                _ => false,
            };
            waits && end_ns >= self.span.start_ns.saturating_sub(DRAIN_NS) && end_ns <= launch.span.start_ns
        };
        let drained_by = (own.start.max(first.saturating_sub(WALK))..first).rev().find(drains);
        self.drained_by = drained_by.and_then(index);
    }
}

/// Of the rows `rows` of a table sorted by start, those open at `at_ns`, innermost first.
fn open_at<'a>(
    start_ns: &'a [i64],
    end_ns: &'a [i64],
    rows: Range<usize>,
    at_ns: i64,
) -> impl Iterator<Item = usize> + 'a {
    let begun = rows.start + start_ns[rows.clone()].partition_point(|start| *start <= at_ns);
    (rows.start.max(begun.saturating_sub(WALK))..begun).rev().filter(move |row| end_ns[*row] > at_ns)
}

/// The operation that ended at `at_ns`, the last that began of several.
fn ended_at(rank: &Rank, at_ns: i64) -> Option<usize> {
    let begun = rank.ops.start_ns.partition_point(|start| *start < at_ns);
    (begun.saturating_sub(WALK)..begun).rev().find(|op| rank.ops.end_ns[*op] == at_ns)
}

/// The first operation with a length that starts at `at_ns`; `first` is the first that starts then or later.
fn starting_at(rank: &Rank, first: usize, at_ns: i64) -> Option<usize> {
    let starting = (first..rank.ops.len()).take_while(|op| rank.ops.start_ns[*op] == at_ns);
    starting.take(WALK).find(|op| rank.ops.end_ns[*op] > at_ns)
}

/// Where `at_ns` lies among the ranges of the steps.
fn place(steps: Option<&Steps>, at_ns: i64) -> GapPlace {
    let Some(steps) = steps.filter(|steps| !steps.estimated).map(|steps| &steps.steps) else {
        return GapPlace::Unmarked;
    };
    let begun = steps.partition_point(|step| step.range.start_ns <= at_ns);
    match begun.checked_sub(1) {
        None => GapPlace::Before(0),
        Some(last) if steps[last].range.contains(at_ns) => GapPlace::In(last),
        Some(last) if begun < steps.len() => GapPlace::Between(last, begun),
        Some(last) => GapPlace::After(last),
    }
}
