//! Everything that is called like a selected item, with the statistics of it.

use super::{Item, Workspace};
use crate::analysis::NameStats;
use crate::trace::{NameId, OpTable};
use crate::units::Span;

/// The items of one name: operations of a rank, calls of a process, ranges of a thread or of a GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct SameName {
    /// Indices into the table of the item, in order of start.
    pub items: Vec<u32>,
    /// Their durations.
    pub stats: NameStats,
}

impl Item {
    /// The item at index `at` of the table that holds this one.
    #[must_use]
    pub const fn sibling(self, at: u32) -> Self {
        match self {
            Self::Op(rank, _) => Self::Op(rank, at),
            Self::Call(doc, process, _) => Self::Call(doc, process, at),
            Self::Nvtx(doc, thread, _) => Self::Nvtx(doc, thread, at),
            Self::Projected(rank, attribution, _) => Self::Projected(rank, attribution, at),
            Self::Mark(doc, thread, _) => Self::Mark(doc, thread, at),
            Self::Os(doc, thread, _) => Self::Os(doc, thread, at),
            Self::Idle(rank, _) => Self::Idle(rank, at),
            Self::Step(rank, _) => Self::Step(rank, at),
        }
    }
}

impl SameName {
    /// Rows that are looked at to find what is called like `item`.
    pub fn cost(workspace: &Workspace, item: Item) -> usize {
        let Some(doc) = workspace.docs.get(item.doc()) else { return 0 };
        match item {
            Item::Op(rank, _) => doc.trace.ranks.get(rank.rank).map_or(0, |rank| rank.ops.len()),
            Item::Call(_, process, _) => doc.trace.processes.get(process).map_or(0, |process| process.api.len()),
            Item::Nvtx(_, thread, _) => doc.trace.threads.get(thread).map_or(0, |thread| thread.nvtx.len()),
            Item::Os(_, thread, _) => doc.trace.threads.get(thread).map_or(0, |thread| thread.os.len()),
            Item::Projected(rank, attribution, _) => {
                let numbers = doc.analysis.ranks.get(rank.rank);
                numbers.map_or(0, |numbers| numbers.ranges.projected(&doc.trace, attribution).len())
            }
            Item::Mark(..) | Item::Idle(..) | Item::Step(..) => 0,
        }
    }

    /// What is called like `item`; `None` for marks, gaps and steps, and for what is not there.
    pub fn of(workspace: &Workspace, item: Item) -> Option<Self> {
        let doc = workspace.docs.get(item.doc())?;
        let trace = &doc.trace;
        let items = match item {
            Item::Op(rank, op) => named_ops(&trace.ranks.get(rank.rank)?.ops, op)?,
            Item::Call(_, process, call) => {
                let api = &trace.processes.get(process)?.api;
                let mut found = equal(&api.name, call)?;
                // Sorted within each thread only.
                found.sort_by_key(|at| api.start_ns.get(*at as usize));
                found
            }
            Item::Nvtx(_, thread, at) => equal(&trace.threads.get(thread)?.nvtx.name, at)?,
            Item::Os(_, thread, at) => equal(&trace.threads.get(thread)?.os.name, at)?,
            Item::Projected(rank, attribution, at) => {
                let all = doc.analysis.ranks.get(rank.rank)?.ranges.projected(trace, attribution);
                let names: Vec<Option<NameId>> = all
                    .iter()
                    .map(|range| {
                        let names = &trace.threads.get(range.thread as usize)?.nvtx.name;
                        names.get(range.range as usize).copied()
                    })
                    .collect();
                let mut found = equal(&names, at)?;
                found.sort_by_key(|at| all.get(*at as usize).map(|range| range.gpu.start_ns));
                found
            }
            Item::Mark(..) | Item::Idle(..) | Item::Step(..) => return None,
        };
        let own_span = |item: Item| Some(doc.own_span(item.span(workspace)?));
        let spans = items.iter().filter_map(|at| Some((*at, own_span(item.sibling(*at))?)));
        let stats = NameStats::of(spans, step_of(workspace, item, own_span(item)?))?;
        Some(Self { items, stats })
    }
}

fn named_ops(ops: &OpTable, op: u32) -> Option<Vec<u32>> {
    let own = (ops.name.get(op as usize)?, ops.kind.get(op as usize)?);
    let all = ops.name.iter().zip(&ops.kind).enumerate();
    Some(all.filter(|(_, named)| *named == own).map(|(at, _)| at as u32).collect())
}

fn equal<T: PartialEq>(column: &[T], at: u32) -> Option<Vec<u32>> {
    let own = column.get(at as usize)?;
    Some(column.iter().enumerate().filter(|(_, other)| *other == own).map(|(at, _)| at as u32).collect())
}

/// The step in whose window an item on the GPU begins.
fn step_of(workspace: &Workspace, item: Item, span: Span) -> Option<(usize, Span)> {
    let (Item::Op(rank, _) | Item::Projected(rank, ..)) = item else { return None };
    let steps = workspace.docs.get(rank.doc)?.analysis.ranks.get(rank.rank)?.steps.as_ref()?;
    let step = steps.at(span.start_ns)?;
    Some((step, steps.steps.get(step)?.window))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::view::RankId;
    use std::sync::Arc;

    #[test]
    fn operations_and_calls_of_a_name_come_in_order_of_start() {
        let mut fixture = Fixture::new();
        fixture.range("step 0", 11, 0, 1_000);
        fixture.launched("gemm", 7, 11, 5, 100, 300).launched("add", 7, 11, 10, 300, 400);
        fixture.launched("gemm", 9, 12, 2, 350, 450).range("step 1", 11, 1_000, 2_000);
        let trace = Arc::new(fixture.build());
        let analysis = Arc::new(analyze(&trace, &Params::default()));
        let workspace = Workspace::new([(trace, analysis)]);
        let rank = RankId { doc: 0, rank: 0 };
        let same = SameName::of(&workspace, Item::Op(rank, 0)).unwrap();
        assert_eq!((same.items.clone(), same.stats.count, same.stats.total_ns), (vec![0, 2], 2, 300));
        assert_eq!((same.stats.longest, same.stats.shortest), (0, 2));
        let calls = SameName::of(&workspace, Item::Call(0, 0, 0)).unwrap();
        let starts: Vec<i64> =
            calls.items.iter().filter_map(|at| Some(Item::Call(0, 0, *at).span(&workspace)?.start_ns)).collect();
        assert!(calls.stats.count == 3 && starts.is_sorted(), "{starts:?}");
        assert_eq!(SameName::of(&workspace, Item::Idle(rank, 0)), None);
        assert_eq!(SameName::of(&workspace, Item::Op(rank, 99)), None);
    }
}
