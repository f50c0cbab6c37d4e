//! What a host thread was doing at an instant, for instants that only move forward: one sweep over each table, and never
//! a search.

use super::super::{CallKind, Cause, intervals};
use crate::trace::{CallTable, NONE, RangeTable, Rank, Thread, Trace};
use crate::units::Span;
use std::fmt;
use std::iter::Rev;
use std::slice::Iter;

/// Calls looked at when they are open at once. Real ones nest two or three deep; a damaged file must not make every
/// instant walk over thousands.
const DEEPEST: usize = 64;

/// A union of spans, seen from an instant that only moves forward.
pub(super) struct Cursor<'a> {
    spans: Box<dyn Iterator<Item = Span> + 'a>,
    /// The first span that ends behind the instant.
    span: Option<Span>,
}

impl fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("span", &self.span).finish_non_exhaustive()
    }
}

impl<'a> Cursor<'a> {
    /// Over the union of `spans`, which are sorted by start.
    pub(super) fn new(spans: impl Iterator<Item = Span> + 'a) -> Self {
        let mut spans = Box::new(intervals::union(spans));
        let span = spans.next();
        Self { spans, span }
    }

    /// Over the ranges whose names `keep` holds.
    pub(super) fn over_ranges(ranges: &'a RangeTable, keep: &'a [bool]) -> Self {
        let kept = move |at: &usize| keep.get(ranges.name[*at].0 as usize).copied().unwrap_or(false);
        Self::new((0..ranges.len()).filter(kept).map(|at| ranges.span(at)))
    }

    /// Over all calls of a table.
    pub(super) fn over_calls(calls: &'a CallTable) -> Self {
        Self::new((0..calls.len()).map(|at| calls.span(at)))
    }

    /// Whether `at_ns` lies inside, and until when that stays so.
    pub(super) fn at(&mut self, at_ns: i64) -> (bool, i64) {
        while self.span.is_some_and(|span| span.end_ns <= at_ns) {
            self.span = self.spans.next();
        }
        match self.span {
            Some(span) if span.start_ns <= at_ns => (true, span.end_ns),
            Some(span) => (false, span.start_ns),
            None => (false, i64::MAX),
        }
    }
}

/// The CUDA calls of a thread, seen from an instant that only moves forward.
#[derive(Debug)]
pub(super) struct Calls<'a> {
    api: &'a CallTable,
    /// Kind of every name that a call has.
    kinds: &'a [Option<CallKind>],
    /// First call that begins behind the instant, and the end of the thread's calls.
    next: usize,
    end: usize,
    /// Calls under way, outermost first.
    open: Vec<usize>,
    /// The synchronising calls that began last.
    syncs: Vec<usize>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(api: &'a CallTable, kinds: &'a [Option<CallKind>], thread: &Thread) -> Self {
        let (next, end) = (thread.api.start as usize, (thread.api.end as usize).min(api.len()));
        Self { api, kinds, next, end, open: Vec::new(), syncs: Vec::new() }
    }

    fn kind(&self, call: usize) -> CallKind {
        kind_of(self.api, self.kinds, call)
    }

    /// Moves to `at_ns`.
    pub(super) fn advance(&mut self, at_ns: i64) {
        self.open.retain(|call| self.api.end_ns[*call] > at_ns);
        while self.next < self.end && self.api.start_ns[self.next] <= at_ns {
            let call = self.next;
            self.next += 1;
            if self.api.end_ns[call] > at_ns {
                push(&mut self.open, call);
            }
            if self.kind(call) == CallKind::Synchronize {
                push(&mut self.syncs, call);
            }
        }
    }

    /// When the calls under way change next.
    fn change_ns(&self) -> i64 {
        let ends = self.open.iter().map(|call| self.api.end_ns[*call]);
        let next = (self.next < self.end).then(|| self.api.start_ns[self.next]);
        ends.chain(next).min().unwrap_or(i64::MAX)
    }

    fn innermost_first(&self) -> Rev<Iter<'_, usize>> {
        self.open.iter().rev()
    }

    /// What being inside the calls under way at `at_ns` means for a gap that began at `gap_ns`, and until when that
    /// stays so. From the innermost call outward the first that waits, allocates or loads code decides; with none, the
    /// thread is issuing work. A copy that runs since the gap began waits: it was what the GPU did last.
    pub(super) fn at(&mut self, at_ns: i64, gap_ns: i64) -> (Option<Cause>, i64) {
        self.advance(at_ns);
        let decides = |call: &usize| match self.kind(*call) {
            CallKind::Synchronize => Some(Cause::Sync),
            CallKind::Copy if self.api.start_ns[*call] <= gap_ns => Some(Cause::Sync),
            CallKind::Allocate => Some(Cause::Allocator),
            CallKind::LoadModule => Some(Cause::ModuleLoad),
            CallKind::Copy | CallKind::Issue => None,
        };
        let cause = if self.open.is_empty() {
            None
        } else {
            Some(self.innermost_first().find_map(decides).unwrap_or(Cause::Launch))
        };
        (cause, self.change_ns())
    }

    /// Whether code is being loaded at `at_ns` inside call `launch`, and until when that stays so.
    pub(super) fn loading_inside(&mut self, at_ns: i64, launch: usize) -> (bool, i64) {
        self.advance(at_ns);
        let loads = |call: &usize| *call > launch && self.kind(*call) == CallKind::LoadModule;
        (self.open.iter().any(loads), self.change_ns())
    }

    /// True when a call that waits for the GPU began before `gap_ns` and ended from `since_ns` to `launch_ns`: it had
    /// drained the queue. To be asked at `gap_ns`, before moving on.
    pub(super) fn drained(&self, gap_ns: i64, since_ns: i64, launch_ns: i64) -> bool {
        let fits = |call: &usize| {
            let span = self.api.span(*call);
            span.start_ns < gap_ns && since_ns <= span.end_ns && span.end_ns <= launch_ns
        };
        // A copy under way at the gap's begin waits too.
        let copies = self.open.iter().filter(|call| self.kind(**call) == CallKind::Copy);
        self.syncs.iter().chain(copies).any(fits)
    }
}

/// Pushes; past [`DEEPEST`] the first goes.
fn push(calls: &mut Vec<usize>, call: usize) {
    if calls.len() == DEEPEST {
        calls.remove(0);
    }
    calls.push(call);
}

/// Kind of every name that a call of `process` has, by name. Looks at each distinct name once.
pub(super) fn kinds(trace: &Trace, process: usize) -> Vec<Option<CallKind>> {
    let mut kinds = vec![None; trace.names.len()];
    for name in trace.processes.get(process).iter().flat_map(|process| &process.api.name) {
        if let Some(kind @ None) = kinds.get_mut(name.0 as usize) {
            *kind = Some(CallKind::of(trace.name(*name)));
        }
    }
    kinds
}

fn kind_of(api: &CallTable, kinds: &[Option<CallKind>], call: usize) -> CallKind {
    kinds.get(api.name[call].0 as usize).copied().flatten().unwrap_or(CallKind::Issue)
}

/// The launching call of an operation with its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Launch {
    pub call: u32,
    pub thread: usize,
    pub span: Span,
}

/// The launch of the operation that ends a gap at `end_ns`, and that operation. Of several operations that start then,
/// the first with a length and a launch counts; `first` is the first operation that starts at or after `end_ns`.
pub(super) fn launch_at(trace: &Trace, rank: &Rank, first: usize, end_ns: i64) -> Option<(usize, Launch)> {
    let ops = &rank.ops;
    let starting = (first..ops.len()).take_while(|op| ops.start_ns[*op] == end_ns);
    let launched = |op: usize| ops.launch.get(op).copied().filter(|call| *call != NONE && ops.end_ns[op] > end_ns);
    let (op, call) = starting.into_iter().find_map(|op| Some((op, launched(op)?)))?;
    let api = &trace.processes.get(rank.process)?.api;
    let thread = trace.thread_of_call(rank.process, call)?;
    Some((op, Launch { call, thread, span: api.span(call as usize) }))
}
