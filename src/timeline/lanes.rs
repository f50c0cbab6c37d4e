//! What is on a lane: which slices of which table, and how they are put on rows.

use super::coloring::Inks;
use super::ink::Ink;
use super::rows::Rows;
use super::slices::{Calls, Gaps, Ops, Projection, Ranges, Slices, Spans};
use crate::analysis::{CounterKind, counters_of};
use crate::trace::{RangeKind, Rank};
use crate::view::{Doc, Item, LaneKey, OpLane, RankId, Workspace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows that a lane draws; some lanes draw several sets on top of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowsKey {
    /// What the lane is there for.
    Lane(LaneKey),
    /// Idle gaps long enough to be listed.
    Listed(RankId),
    /// Exposed communication.
    Exposed(RankId),
    /// NVTX marks of a thread.
    Marks(usize, usize),
}

impl RowsKey {
    /// Index of the document that holds the rows.
    pub const fn doc(self) -> usize {
        match self {
            Self::Lane(lane) => lane.doc(),
            Self::Listed(rank) | Self::Exposed(rank) => rank.doc,
            Self::Marks(doc, _) => doc,
        }
    }

    /// True when the rows hold GPU operations, whose inks the user chooses.
    pub const fn holds_ops(self) -> bool {
        use LaneKey::{Communication, Compute, Copies, Stream};
        matches!(self, Self::Lane(Compute(_) | Communication(_) | Copies(_) | Stream(..)))
    }

    /// The item at index `at` of the table that the rows refer to.
    pub fn item(self, workspace: &Workspace, at: u32) -> Option<Item> {
        Some(match self {
            Self::Listed(rank) => Item::Idle(rank, at),
            Self::Exposed(_) => return None,
            Self::Marks(doc, thread) => Item::Mark(doc, thread, at),
            Self::Lane(lane) => match lane {
                LaneKey::Idle(rank) => Item::Idle(rank, at),
                LaneKey::Compute(rank)
                | LaneKey::Communication(rank)
                | LaneKey::Copies(rank)
                | LaneKey::Stream(rank, ..) => Item::Op(rank, at),
                LaneKey::Projection(rank, attribution) => Item::Projected(rank, attribution, at),
                LaneKey::Nvtx(doc, thread) => Item::Nvtx(doc, thread, at),
                LaneKey::Os(doc, thread) => Item::Os(doc, thread, at),
                LaneKey::Launches(doc, process) => Item::Call(doc, process, at),
                LaneKey::Api(doc, thread) => {
                    Item::Call(doc, workspace.docs.get(doc)?.trace.threads.get(thread)?.process, at)
                }
                LaneKey::Rank(_)
                | LaneKey::Process(..)
                | LaneKey::OsRuntime(..)
                | LaneKey::OtherNvtx(..)
                | LaneKey::Counters(_)
                | LaneKey::Differences(_)
                | LaneKey::Counter(..) => {
                    return None;
                }
            },
        })
    }
}

/// Which lanes a rank has and to which streams each expands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankLanes {
    /// For each stream, whether it holds anything of each lane.
    streams: Vec<[bool; 3]>,
    /// Its counters.
    pub counters: Vec<CounterKind>,
}

impl RankLanes {
    /// One pass over the operations of `rank`, the rank number `at`.
    pub fn of(doc: &Doc, at: usize, rank: &Rank) -> Self {
        let classes = &doc.analysis.classes;
        let numbers = doc.analysis.ranks.get(at);
        let counters = numbers.map(|numbers| counters_of(&doc.trace, rank, numbers)).unwrap_or_default();
        let mut streams = vec![[false; 3]; rank.streams.len()];
        for (at, (name, kind)) in rank.ops.name.iter().zip(&rank.ops.kind).enumerate() {
            let lane = OpLane::of(classes.class(*name, *kind)) as usize;
            let stream = rank.ops.stream.get(at).map_or(0, |s| *s as usize);
            if let Some(holds) = streams.get_mut(stream).and_then(|lanes| lanes.get_mut(lane)) {
                *holds = true;
            }
        }
        Self { streams, counters }
    }

    /// Lanes that hold anything.
    pub fn lanes(&self) -> impl Iterator<Item = OpLane> + '_ {
        OpLane::ALL.into_iter().filter(|lane| self.streams_of(*lane).next().is_some())
    }

    /// Streams that hold anything of `lane`.
    pub fn streams_of(&self, lane: OpLane) -> impl Iterator<Item = usize> + '_ {
        let holds = move |(_, lanes): &(usize, &[bool; 3])| lanes.get(lane as usize) == Some(&true);
        self.streams.iter().enumerate().filter(holds).map(|(stream, _)| stream)
    }
}

/// The table behind a lane.
pub enum LaneSlices<'a> {
    /// GPU operations.
    Ops(Ops<'a>),
    /// API or OS runtime calls.
    Calls(Calls<'a>),
    /// NVTX ranges or marks.
    Ranges(Ranges<'a>),
    /// NVTX ranges as they ran on the GPU.
    Projection(Projection<'a>),
    /// Exposed communication.
    Spans(Spans<'a>),
    /// Idle gaps.
    Gaps(Gaps<'a>),
}

impl Slices for LaneSlices<'_> {
    fn start_ns(&self, at: u32) -> i64 {
        match self {
            Self::Ops(s) => s.start_ns(at),
            Self::Calls(s) => s.start_ns(at),
            Self::Ranges(s) => s.start_ns(at),
            Self::Projection(s) => s.start_ns(at),
            Self::Spans(s) => s.start_ns(at),
            Self::Gaps(s) => s.start_ns(at),
        }
    }

    fn end_ns(&self, at: u32) -> i64 {
        match self {
            Self::Ops(s) => s.end_ns(at),
            Self::Calls(s) => s.end_ns(at),
            Self::Ranges(s) => s.end_ns(at),
            Self::Projection(s) => s.end_ns(at),
            Self::Spans(s) => s.end_ns(at),
            Self::Gaps(s) => s.end_ns(at),
        }
    }

    fn ink(&self, at: u32) -> Ink {
        match self {
            Self::Ops(s) => s.ink(at),
            Self::Calls(s) => s.ink(at),
            Self::Ranges(s) => s.ink(at),
            Self::Projection(s) => s.ink(at),
            Self::Spans(s) => s.ink(at),
            Self::Gaps(s) => s.ink(at),
        }
    }
}

impl<'a> LaneSlices<'a> {
    /// The table that the rows of `key` refer to; `None` for lanes that show none.
    pub fn of(workspace: &'a Workspace, inks: &'a Inks, key: RowsKey) -> Option<Self> {
        let doc = workspace.docs.get(key.doc())?;
        let (trace, analysis) = (&doc.trace, &doc.analysis);
        let spans = |rank: RankId| analysis.ranks.get(rank.rank);
        let api = |process: usize| {
            let table = &trace.processes.get(process)?.api;
            Some(Self::Calls(Calls { table, inks: &inks.calls, otherwise: Ink::HOST }))
        };
        Some(match key {
            RowsKey::Listed(rank) | RowsKey::Lane(LaneKey::Idle(rank)) => Self::Gaps(Gaps(&spans(rank)?.idle)),
            RowsKey::Exposed(rank) => Self::Spans(Spans { spans: spans(rank)?.exposed.spans(), ink: Ink::EXPOSED }),
            RowsKey::Marks(_, thread) => Self::Ranges(Ranges(&trace.threads.get(thread)?.marks)),
            RowsKey::Lane(lane) => match lane {
                LaneKey::Compute(rank)
                | LaneKey::Communication(rank)
                | LaneKey::Copies(rank)
                | LaneKey::Stream(rank, ..) => {
                    let table = &trace.ranks.get(rank.rank)?.ops;
                    Self::Ops(Ops { table, classes: &analysis.classes, inks: inks.of_rank(rank.rank) })
                }
                LaneKey::Projection(rank, attribution) => {
                    Self::Projection(Projection(spans(rank)?.ranges.projected(trace, attribution)))
                }
                LaneKey::Nvtx(_, thread) => Self::Ranges(Ranges(&trace.threads.get(thread)?.nvtx)),
                LaneKey::Os(_, thread) => {
                    let table = &trace.threads.get(thread)?.os;
                    Self::Calls(Calls { table, inks: &[], otherwise: Ink::OS })
                }
                LaneKey::Api(_, thread) => api(trace.threads.get(thread)?.process)?,
                LaneKey::Launches(_, process) => api(process)?,
                _ => return None,
            },
        })
    }
}

/// Builds the rows of `key`; lanes that show no slices get none.
pub fn build(workspace: &Workspace, inks: &Inks, key: RowsKey) -> Rows {
    try_build(workspace, inks, key).unwrap_or_default()
}

fn try_build(workspace: &Workspace, inks: &Inks, key: RowsKey) -> Option<Rows> {
    let slices = LaneSlices::of(workspace, inks, key)?;
    let doc = workspace.docs.get(key.doc())?;
    let ops = |rank: RankId, lane: OpLane, stream: Option<usize>| {
        let table = &doc.trace.ranks.get(rank.rank)?.ops;
        let on_stream = |at: usize| stream.is_none_or(|own| table.stream.get(at).is_some_and(|s| *s as usize == own));
        let on_lane = |at: usize| {
            let named = table.name.get(at).zip(table.kind.get(at));
            named.is_some_and(|(name, kind)| OpLane::of(doc.analysis.classes.class(*name, *kind)) == lane)
        };
        let own = (0..table.len() as u32).filter(|at| on_stream(*at as usize) && on_lane(*at as usize));
        // The shares of the others come from the analysis.
        let measured = stream.is_some() || lane == OpLane::Copies;
        Some(if measured { Rows::measured(&slices, own) } else { Rows::packed(&slices, own) })
    };
    Some(match (key, &slices) {
        (RowsKey::Listed(_), LaneSlices::Gaps(all)) => {
            let listed = |at: &u32| all.span(*at).len_ns() >= all.0.listed_ns;
            Rows::packed(&slices, (0..all.0.gaps() as u32).filter(listed))
        }
        (_, LaneSlices::Gaps(all)) => Rows::packed(&slices, 0..all.0.gaps() as u32),
        (_, LaneSlices::Spans(all)) => Rows::packed(&slices, 0..all.spans.len() as u32),
        (RowsKey::Marks(..), LaneSlices::Ranges(marks)) => Rows::packed(&slices, 0..marks.0.len() as u32),
        (RowsKey::Lane(LaneKey::Projection(rank, _)), LaneSlices::Projection(ranges)) => {
            let tree = &doc.analysis.ranks.get(rank.rank)?.ranges;
            let level = |at: u32| ranges.0.get(at as usize).map_or(0, |r| tree.depth(r.thread as usize, r.range));
            let mut order: Vec<u32> = (0..ranges.0.len() as u32).collect();
            order.sort_by_key(|at| (slices.start_ns(*at), Reverse(slices.end_ns(*at)), level(*at)));
            Rows::levelled(&slices, order.iter().copied(), level)
        }
        (_, LaneSlices::Ranges(ranges)) => {
            let crossing = |at: u32| ranges.0.kind.get(at as usize) == Some(&RangeKind::StartEnd);
            Rows::nested(&slices, 0..ranges.0.len() as u32, crossing)
        }
        (RowsKey::Lane(LaneKey::Compute(rank)), _) => ops(rank, OpLane::Compute, None)?,
        (RowsKey::Lane(LaneKey::Communication(rank)), _) => ops(rank, OpLane::Communication, None)?,
        (RowsKey::Lane(LaneKey::Copies(rank)), _) => ops(rank, OpLane::Copies, None)?,
        (RowsKey::Lane(LaneKey::Stream(rank, stream, lane)), _) => ops(rank, lane, Some(stream))?,
        (RowsKey::Lane(LaneKey::Api(_, thread)), _) => {
            Rows::nested(&slices, doc.trace.threads.get(thread)?.api.clone(), |_| false)
        }
        (RowsKey::Lane(LaneKey::Launches(_, process)), _) => {
            let runs = doc.trace.threads.iter().filter(|t| t.process == process && !t.api.is_empty());
            let runs: Vec<Range<u32>> = runs.map(|t| t.api.clone()).collect();
            let start_ns = |at: u32| slices.start_ns(at);
            match runs.as_slice() {
                [] => return None,
                [only] => Rows::packed(&slices, only.clone()),
                _ => Rows::packed(&slices, merge(runs, start_ns)),
            }
        }
        (RowsKey::Lane(LaneKey::Os(..)), LaneSlices::Calls(calls)) => {
            Rows::nested(&slices, 0..calls.table.len() as u32, |_| false)
        }
        _ => return None,
    })
}

/// Indices of several runs, each in order of start, as one sequence in order of start.
fn merge(mut runs: Vec<Range<u32>>, start_ns: impl Fn(u32) -> i64 + Clone) -> impl Iterator<Item = u32> + Clone {
    let mut heads: BinaryHeap<Reverse<(i64, usize)>> = runs
        .iter()
        .enumerate()
        .filter(|(_, r)| r.start < r.end)
        .map(|(at, r)| Reverse((start_ns(r.start), at)))
        .collect();
    std::iter::from_fn(move || {
        let Reverse((_, at)) = heads.pop()?;
        let run = runs.get_mut(at)?;
        let next = run.next();
        if run.start < run.end {
            heads.push(Reverse((start_ns(run.start), at)));
        }
        next
    })
}

#[cfg(test)]
mod tests {
    use super::merge;

    #[test]
    fn calls_of_several_threads_come_in_order_of_start() {
        let starts = [5, 9, 20, 1, 9, 30, 2];
        let merged: Vec<u32> = merge(vec![0..3, 3..6, 6..6, 6..7], |at| starts[at as usize]).collect();
        assert_eq!(merged, [3, 6, 0, 1, 4, 2, 5]);
    }
}
