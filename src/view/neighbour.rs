//! From a selected item to the one before or after it: along its lane, or among those of its name.

use super::{Item, OpLane, RankId, Viewport, Workspace};
use crate::analysis::{Attribution, Classes};
use crate::trace::{NameId, OpTable, Trace};
use crate::units::Span;

/// Which way to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Earlier in time.
    Before,
    /// Later in time.
    After,
}

/// What the item looked for has in common with the selected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kin {
    /// Its row: operations of one lane and stream, calls of a thread, ranges of one level, gaps, steps.
    Lane,
    /// Its name: operations of the rank, calls of the process, ranges of the thread, gaps of one main cause.
    Name,
}

/// Share of the view that stays free beside an item that was brought into sight.
const ROOM: f64 = 0.08;

impl Item {
    /// The item beside this one; `None` at the end of its row and for items that are not there.
    ///
    /// Looks at the items in between, and for calls of the same name at all calls of the process.
    pub fn neighbour(self, workspace: &Workspace, kin: Kin, side: Side) -> Option<Self> {
        let doc = workspace.docs.get(self.doc())?;
        let trace = doc.trace.as_ref();
        let numbers = |rank: RankId| doc.analysis.ranks.get(rank.rank);
        match self {
            Self::Op(rank, op) => {
                let ops = &trace.ranks.get(rank.rank)?.ops;
                let is_kin = like_op(ops, &doc.analysis.classes, kin, op)?;
                Some(Self::Op(rank, walk(op, ops.len(), side, is_kin)?))
            }
            Self::Call(doc, process, call) => {
                Some(Self::Call(doc, process, call_beside(trace, process, call, kin, side)?))
            }
            Self::Nvtx(doc_at, thread, at) => {
                let table = &trace.threads.get(thread)?.nvtx;
                let process = trace.threads.get(thread)?.process;
                let own = trace.ranks.iter().position(|rank| rank.process == process);
                let ranges = own.and_then(|rank| Some(&doc.analysis.ranks.get(rank)?.ranges));
                let level = |at: u32| ranges.map_or(0, |ranges| ranges.depth(thread, at));
                let is_kin = |other: u32| match kin {
                    Kin::Name => same(&table.name, at, other),
                    Kin::Lane => same(&table.kind, at, other) && level(at) == level(other),
                };
                Some(Self::Nvtx(doc_at, thread, walk(at, table.len(), side, is_kin)?))
            }
            Self::Projected(rank, attribution, at) => {
                Some(Self::Projected(rank, attribution, projected_beside(workspace, rank, attribution, at, kin, side)?))
            }
            Self::Mark(doc, thread, at) => {
                let marks = &trace.threads.get(thread)?.marks;
                let is_kin = |other: u32| kin == Kin::Lane || same(&marks.name, at, other);
                Some(Self::Mark(doc, thread, walk(at, marks.len(), side, is_kin)?))
            }
            Self::Os(doc, thread, at) => {
                let calls = &trace.threads.get(thread)?.os;
                let is_kin = |other: u32| kin == Kin::Lane || same(&calls.name, at, other);
                Some(Self::Os(doc, thread, walk(at, calls.len(), side, is_kin)?))
            }
            Self::Idle(rank, gap) => {
                let idle = &numbers(rank)?.idle;
                let cause = |gap: u32| idle.cause_of(gap as usize);
                let is_kin = |other: u32| kin == Kin::Lane || cause(gap) == cause(other);
                Some(Self::Idle(rank, walk(gap, idle.gaps(), side, is_kin)?))
            }
            Self::Step(rank, step) => {
                let steps = numbers(rank)?.steps.as_ref()?.steps.len();
                Some(Self::Step(rank, walk(step, steps, side, |_| true)?))
            }
        }
    }

    /// Where to begin when nothing is selected: the first operation of `rank` that starts in view.
    pub fn first_in_view(workspace: &Workspace, rank: RankId, view: Viewport) -> Option<Self> {
        let (doc, model) = workspace.rank(rank)?;
        let seen = doc.own_span(view.span());
        let op = model.ops.start_ns.partition_point(|start_ns| *start_ns < seen.start_ns);
        model.ops.start_ns.get(op).filter(|start_ns| **start_ns < seen.end_ns)?;
        Some(Self::Op(rank, op as u32))
    }
}

impl Viewport {
    /// The view moved, not zoomed, so that `span` is seen; unmoved when it is seen already. Of a span longer than the
    /// view its start is shown.
    #[must_use]
    pub fn with_in_sight(self, span: Span) -> Self {
        let (start_ns, end_ns) = (span.start_ns as f64, span.end_ns as f64);
        let room_ns = ROOM * self.len_ns;
        if start_ns >= self.start_ns && end_ns <= self.end_ns() {
            self
        } else if start_ns < self.start_ns || end_ns - start_ns + 2.0 * room_ns > self.len_ns {
            Self { start_ns: start_ns - room_ns, ..self }
        } else {
            Self { start_ns: end_ns + room_ns - self.len_ns, ..self }
        }
    }
}

/// Which operations are kin of `op`.
fn like_op<'a>(ops: &'a OpTable, classes: &'a Classes, kin: Kin, op: u32) -> Option<impl Fn(u32) -> bool + 'a> {
    let of = move |at: u32| {
        let at = at as usize;
        let (name, kind, stream) = (*ops.name.get(at)?, *ops.kind.get(at)?, *ops.stream.get(at)?);
        Some((name, kind, OpLane::of(classes.class(name, kind)), stream))
    };
    let own = of(op)?;
    Some(move |other: u32| {
        of(other).is_some_and(|other| match kin {
            Kin::Name => (own.0, own.1) == (other.0, other.1),
            Kin::Lane => (own.2, own.3) == (other.2, other.3),
        })
    })
}

fn call_beside(trace: &Trace, process: usize, call: u32, kin: Kin, side: Side) -> Option<u32> {
    let api = &trace.processes.get(process)?.api;
    let thread = trace.threads.get(trace.thread_of_call(process, call)?)?;
    if kin == Kin::Lane {
        let is_own = |other: u32| thread.api.contains(&other);
        return walk(call, api.len(), side, is_own).filter(|other| is_own(*other));
    }
    // Calls are in order of start within each thread only.
    let key = |at: u32| Some((*api.start_ns.get(at as usize)?, at));
    let own = key(call)?;
    let all = (0..api.len() as u32).filter(|other| same(&api.name, call, *other)).filter_map(key);
    let found = match side {
        Side::Before => all.filter(|other| *other < own).max(),
        Side::After => all.filter(|other| *other > own).min(),
    };
    found.map(|(_, at)| at)
}

fn projected_beside(
    workspace: &Workspace,
    rank: RankId,
    attribution: Attribution,
    at: u32,
    kin: Kin,
    side: Side,
) -> Option<u32> {
    let (doc, _) = workspace.rank(rank)?;
    let ranges = &doc.analysis.ranks.get(rank.rank)?.ranges;
    let all = ranges.projected(&doc.trace, attribution);
    let name = |at: u32| -> Option<NameId> {
        let range = all.get(at as usize)?;
        doc.trace.threads.get(range.thread as usize)?.nvtx.name.get(range.range as usize).copied()
    };
    let level = |at: u32| all.get(at as usize).map(|range| ranges.depth(range.thread as usize, range.range));
    let key = |at: u32| Some((all.get(at as usize)?.gpu.start_ns, at));
    let own = key(at)?;
    let is_kin = |other: &u32| match kin {
        Kin::Name => name(*other) == name(at),
        Kin::Lane => level(*other) == level(at),
    };
    let kins = (0..all.len() as u32).filter(is_kin).filter_map(key);
    let found = match side {
        Side::Before => kins.filter(|other| *other < own).max(),
        Side::After => kins.filter(|other| *other > own).min(),
    };
    found.map(|(_, at)| at)
}

fn same<T: PartialEq>(column: &[T], a: u32, b: u32) -> bool {
    matches!((column.get(a as usize), column.get(b as usize)), (Some(a), Some(b)) if a == b)
}

/// The nearest index before or after `from` for which `is_kin` holds.
fn walk(from: u32, len: usize, side: Side, is_kin: impl Fn(u32) -> bool) -> Option<u32> {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    match side {
        Side::Before => (0..from.min(len)).rev().find(|at| is_kin(*at)),
        Side::After => (from.saturating_add(1)..len).find(|at| is_kin(*at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::view::{Command, ViewState};
    use proptest::prelude::*;
    use std::sync::Arc;

    const RANK: RankId = RankId { doc: 0, rank: 0 };

    fn workspace(fixture: &mut Fixture) -> Workspace {
        let trace = Arc::new(fixture.build());
        let analysis = Arc::new(analyze(&trace, &Params::default()));
        Workspace::new([(trace, analysis)])
    }

    #[test]
    fn operations_follow_their_lane_and_stream_or_their_name() {
        let mut fixture = Fixture::new();
        fixture.kernel("gemm", 7, 0, 10).kernel("ncclDevKernel_AllGather_RING_LL", 7, 10, 20).kernel("add", 9, 12, 15);
        fixture.kernel("add", 7, 20, 30).kernel("gemm", 9, 40, 50);
        let workspace = workspace(&mut fixture);
        let go = |op, kin, side| match Item::Op(RANK, op).neighbour(&workspace, kin, side) {
            Some(Item::Op(_, to)) => Some(to),
            _ => None,
        };
        // In order of start: gemm (7), all-gather (7), add (9), add (7), gemm (9).
        assert_eq!(go(0, Kin::Lane, Side::After), Some(3), "the next compute kernel of stream 7");
        assert_eq!(go(3, Kin::Lane, Side::Before), Some(0));
        assert_eq!((go(0, Kin::Name, Side::After), go(4, Kin::Name, Side::Before)), (Some(4), Some(0)));
        assert_eq!(
            (go(1, Kin::Lane, Side::After), go(0, Kin::Name, Side::Before), go(99, Kin::Name, Side::Before)),
            (None, None, None)
        );
    }

    #[test]
    fn calls_follow_their_thread_or_their_name_in_the_process() {
        let mut fixture = Fixture::new();
        fixture.call("cudaLaunchKernel", 11, 0, 5, None).call("cudaFree", 11, 30, 35, None);
        fixture.call("cudaLaunchKernel", 12, 10, 15, None).call("cudaLaunchKernel", 11, 40, 45, None);
        let workspace = workspace(&mut fixture);
        let names = |item: Option<Item>| item.and_then(|item| item.span(&workspace)).map(|span| span.start_ns);
        let first = Item::Call(0, 0, 0);
        assert_eq!(names(first.neighbour(&workspace, Kin::Lane, Side::After)), Some(30));
        assert_eq!(names(first.neighbour(&workspace, Kin::Name, Side::After)), Some(10), "on the other thread");
        assert_eq!(first.neighbour(&workspace, Kin::Lane, Side::Before), None);
    }

    #[test]
    fn ranges_stay_on_their_level() {
        let mut fixture = Fixture::new();
        fixture.range("step 0", 11, 0, 100).range("forward", 11, 5, 40).range("backward", 11, 50, 90);
        fixture.range("step 1", 11, 100, 200).range("forward", 11, 110, 140);
        fixture.kernel("gemm", 7, 0, 300);
        let workspace = workspace(&mut fixture);
        let go = |at, kin| Item::Nvtx(0, 0, at).neighbour(&workspace, kin, Side::After);
        assert_eq!(go(0, Kin::Lane), Some(Item::Nvtx(0, 0, 3)));
        assert_eq!(go(1, Kin::Lane), Some(Item::Nvtx(0, 0, 2)));
        assert_eq!(go(1, Kin::Name), Some(Item::Nvtx(0, 0, 4)));
    }

    #[test]
    fn a_neighbour_out_of_sight_moves_the_view_and_never_zooms_it() {
        let mut fixture = Fixture::new();
        for at in 0..10 {
            fixture.kernel("gemm", 7, at * 1_000, at * 1_000 + 400);
        }
        let workspace = workspace(&mut fixture);
        let mut state = ViewState::open(&workspace);
        let next = Command::SelectNeighbour(Kin::Lane, Side::After);
        for command in [Command::Show(Span::new(0, 2_000)), next.clone()] {
            assert!(state.apply(&command, &workspace));
        }
        assert_eq!(state.selected, Some(Item::Op(RANK, 0)), "nothing was selected: the first in view");
        let before = state.viewport;
        state.apply(&next, &workspace);
        assert_eq!((state.selected, state.viewport), (Some(Item::Op(RANK, 1)), before), "in sight already");
        state.apply(&next, &workspace);
        let span = Item::Op(RANK, 2).span(&workspace).unwrap();
        assert_eq!(state.viewport.span().intersect(span), Some(span));
        assert!((state.viewport.len_ns - before.len_ns).abs() < 1e-6);
        for _ in 0..20 {
            state.apply(&next, &workspace);
        }
        assert_eq!(state.selected, Some(Item::Op(RANK, 9)), "the last one stays selected");
    }

    proptest! {
        #[test]
        fn names_are_walked_as_brute_force_does(names in proptest::collection::vec(0_u8..3, 1..30), from in 0_usize..30) {
            let from = from % names.len();
            let mut fixture = Fixture::new();
            for (at, name) in names.iter().enumerate() {
                fixture.kernel(&format!("k{name}"), 7, at as i64 * 10, at as i64 * 10 + 5);
            }
            let workspace = workspace(&mut fixture);
            let after = (from + 1..names.len()).find(|at| names[*at] == names[from]);
            let before = (0..from).rev().find(|at| names[*at] == names[from]);
            let item = Item::Op(RANK, from as u32);
            let op = |at: Option<usize>| at.map(|at| Item::Op(RANK, at as u32));
            prop_assert_eq!(item.neighbour(&workspace, Kin::Name, Side::After), op(after));
            prop_assert_eq!(item.neighbour(&workspace, Kin::Name, Side::Before), op(before));
        }

        #[test]
        fn a_view_moved_to_a_span_shows_it_or_its_start(start in 0_i64..100_000, len in 0_i64..3_000, from in 0_i64..100_000) {
            let view = Viewport::of(Span::new(from, from + 1_000));
            let moved = view.with_in_sight(Span::new(start, start + len));
            prop_assert!(moved.start_ns <= start as f64 + 1e-6 && (start as f64) < moved.end_ns());
            prop_assert!(len > 800 || (start + len) as f64 <= moved.end_ns() + 1e-6);
            prop_assert_eq!(moved.with_in_sight(Span::new(start, start + len.min(900))), moved);
        }
    }
}
