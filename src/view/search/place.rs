//! What the hits of a group have in common: the table they are rows of, which is a lane of the timeline.

use crate::analysis::base_name;
use crate::trace::{Thread, Trace};
use crate::units::Span;
use crate::view::{Doc, Item, OpLane, RankId};

/// A table that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Names of the threads of a document.
    Threads(usize),
    /// Steps of a rank.
    Steps(RankId),
    /// GPU operations of one lane of a rank.
    Ops(RankId, OpLane),
    /// NVTX ranges of a thread, (document, thread).
    Ranges(usize, usize),
    /// NVTX marks of a thread, (document, thread).
    Marks(usize, usize),
    /// API calls of a thread, (document, thread).
    Calls(usize, usize),
    /// OS runtime calls of a thread, (document, thread).
    Os(usize, usize),
}

impl Place {
    /// Index of the document.
    pub const fn doc(self) -> usize {
        match self {
            Self::Steps(rank) | Self::Ops(rank, _) => rank.doc,
            Self::Threads(doc)
            | Self::Ranges(doc, _)
            | Self::Marks(doc, _)
            | Self::Calls(doc, _)
            | Self::Os(doc, _) => doc,
        }
    }

    /// Whether its hits are in order of time and their durations add up to something.
    pub const fn has_time(self) -> bool {
        !matches!(self, Self::Threads(_))
    }

    /// The place and row at which `item` would be found.
    pub fn of(item: Item, docs: &[Doc]) -> Option<(Self, u32)> {
        let trace = &docs.get(item.doc())?.trace;
        Some(match item {
            Item::Op(rank, at) => {
                let ops = &trace.ranks.get(rank.rank)?.ops;
                let classes = &docs.get(rank.doc)?.analysis.classes;
                let class = classes.class(*ops.name.get(at as usize)?, *ops.kind.get(at as usize)?);
                (Self::Ops(rank, OpLane::of(class)), at)
            }
            Item::Call(doc, process, at) => (Self::Calls(doc, trace.thread_of_call(process, at)?), at),
            Item::Nvtx(doc, thread, at) => (Self::Ranges(doc, thread), at),
            Item::Projected(rank, attribution, at) => {
                let ranges = &docs.get(rank.doc)?.analysis.ranks.get(rank.rank)?.ranges;
                let range = ranges.projected(trace, attribution).get(at as usize)?;
                (Self::Ranges(rank.doc, range.thread as usize), range.range)
            }
            Item::Mark(doc, thread, at) => (Self::Marks(doc, thread), at),
            Item::Os(doc, thread, at) => (Self::Os(doc, thread), at),
            Item::Step(rank, at) => (Self::Steps(rank), at),
            Item::Idle(..) => return None,
        })
    }

    /// What is selected for row `at`; of a thread the first thing it did.
    pub fn item(self, trace: &Trace, at: u32) -> Option<Item> {
        Some(match self {
            Self::Threads(doc) => first_of(trace, doc, at as usize)?,
            Self::Steps(rank) => Item::Step(rank, at),
            Self::Ops(rank, _) => Item::Op(rank, at),
            Self::Ranges(doc, thread) => Item::Nvtx(doc, thread, at),
            Self::Marks(doc, thread) => Item::Mark(doc, thread, at),
            Self::Calls(doc, thread) => Item::Call(doc, trace.threads.get(thread)?.process, at),
            Self::Os(doc, thread) => Item::Os(doc, thread, at),
        })
    }

    /// Name of row `at`: of an operation the short one, of a call that without the version of its interface.
    pub fn name(self, doc: &Doc, at: u32) -> Option<&str> {
        let trace = &doc.trace;
        let (thread, row) = (|thread: usize| trace.threads.get(thread), at as usize);
        Some(match self {
            Self::Threads(_) => trace.name(thread(row)?.name?),
            Self::Steps(rank) => &doc.analysis.ranks.get(rank.rank)?.steps.as_ref()?.steps.get(row)?.name,
            Self::Ops(rank, _) => trace.op_short_name(*trace.ranks.get(rank.rank)?.ops.name.get(row)?),
            Self::Ranges(_, at) => trace.name(*thread(at)?.nvtx.name.get(row)?),
            Self::Marks(_, at) => trace.name(*thread(at)?.marks.name.get(row)?),
            Self::Calls(_, at) => {
                let api = &trace.processes.get(thread(at)?.process)?.api;
                base_name(trace.name(*api.name.get(row)?))
            }
            Self::Os(_, at) => trace.name(*thread(at)?.os.name.get(row)?),
        })
    }

    /// Spans of the rows, on the document's own clock.
    pub(super) fn table(self, doc: &Doc) -> Option<Table<'_>> {
        let trace = &doc.trace;
        let thread = |thread: usize| trace.threads.get(thread);
        let (start_ns, end_ns) = match self {
            Self::Threads(_) => return Some(Table::Threads(trace)),
            Self::Steps(rank) => {
                return Some(Table::Steps(&doc.analysis.ranks.get(rank.rank)?.steps.as_ref()?.steps));
            }
            Self::Ops(rank, _) => {
                let ops = &trace.ranks.get(rank.rank)?.ops;
                (&ops.start_ns, &ops.end_ns)
            }
            Self::Ranges(_, at) => (&thread(at)?.nvtx.start_ns, &thread(at)?.nvtx.end_ns),
            Self::Marks(_, at) => (&thread(at)?.marks.start_ns, &thread(at)?.marks.end_ns),
            Self::Calls(_, at) => {
                let api = &trace.processes.get(thread(at)?.process)?.api;
                (&api.start_ns, &api.end_ns)
            }
            Self::Os(_, at) => (&thread(at)?.os.start_ns, &thread(at)?.os.end_ns),
        };
        Some(Table::Columns(start_ns, end_ns))
    }
}

/// Where the spans of a table are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Table<'a> {
    Columns(&'a [i64], &'a [i64]),
    Steps(&'a [crate::analysis::Step]),
    Threads(&'a Trace),
}

impl Table<'_> {
    /// Span of row `at`; an instant at time 0 for a row that is none.
    pub fn span(&self, at: u32) -> Span {
        let row = at as usize;
        let span = match self {
            Self::Columns(start_ns, end_ns) => start_ns.get(row).zip(end_ns.get(row)).map(|(a, b)| Span::new(*a, *b)),
            Self::Steps(steps) => steps.get(row).map(|step| step.window),
            Self::Threads(trace) => trace.threads.get(row).and_then(|thread| hull(trace, thread)),
        };
        span.unwrap_or_default()
    }
}

/// First thing that a thread did, NVTX ranges first.
fn first_of(trace: &Trace, doc: usize, thread: usize) -> Option<Item> {
    let of = trace.threads.get(thread)?;
    Some(if !of.nvtx.is_empty() {
        Item::Nvtx(doc, thread, 0)
    } else if !of.marks.is_empty() {
        Item::Mark(doc, thread, 0)
    } else if !of.api.is_empty() {
        Item::Call(doc, of.process, of.api.start)
    } else if !of.os.is_empty() {
        Item::Os(doc, thread, 0)
    } else {
        return None;
    })
}

/// From the first to the last thing that a thread did.
fn hull(trace: &Trace, thread: &Thread) -> Option<Span> {
    let own = thread.api.start as usize..thread.api.end as usize;
    let api = trace.processes.get(thread.process).map(|process| &process.api);
    let calls = api.and_then(|api| Some((api.start_ns.get(own.clone())?, api.end_ns.get(own)?)));
    let tables = [
        (thread.nvtx.start_ns.as_slice(), thread.nvtx.end_ns.as_slice()),
        (&thread.marks.start_ns, &thread.marks.end_ns),
        (&thread.os.start_ns, &thread.os.end_ns),
        calls.unwrap_or_default(),
    ];
    let spans = tables.iter().filter_map(|(start, end)| Some(Span::new(*start.first()?, *end.iter().max()?)));
    spans.reduce(Span::hull)
}
