//! Which slices of a lane are hits of the search: lists of indices in order of start, asked by binary search.
//!
//! A list is that of the search itself, or made from it once per answer for lanes that show only a part of a table.

use super::bins::Piece;
use super::coloring::Inks;
use super::lanes::{LaneSlices, RowsKey};
use super::row::Row;
use super::slices::Slices;
use crate::view::search::{Hits, Place};
use crate::view::{LaneKey, OpLane, RankId, Workspace};
use std::sync::Arc;

/// Hits of a bin that are looked for on its row, where a lane has several rows; with more in the bin than that, the
/// tick stands for the lane.
pub const LOOK_AT: usize = 8;

/// Hits between two stored starts.
const BLOCK: usize = 64;

/// Indices of slices in order of (start, index).
#[derive(Debug)]
pub struct List {
    /// The indices.
    pub rows: Arc<Vec<u32>>,
    /// Start of the first hit of each block: a search looks into one block of hits only.
    starts_ns: Vec<i64>,
}

impl List {
    fn of<S: Slices>(slices: &S, rows: Arc<Vec<u32>>) -> Self {
        let starts_ns = rows.iter().step_by(BLOCK).map(|at| slices.start_ns(*at)).collect();
        Self { rows, starts_ns }
    }

    /// The hits that start at or after `at_ns`.
    pub fn from<S: Slices>(&self, slices: &S, at_ns: i64) -> &[u32] {
        let block = self.starts_ns.partition_point(|start_ns| *start_ns < at_ns);
        let (from, to) = (block.saturating_sub(1) * BLOCK, (block * BLOCK).min(self.rows.len()));
        let before = self.rows.get(from..to).unwrap_or(&[]).partition_point(|at| slices.start_ns(*at) < at_ns);
        self.rows.get(from + before..).unwrap_or(&[])
    }
}

/// Hits among the slices of some rows.
#[derive(Debug, Default)]
pub struct LaneHits(pub Vec<List>);

impl LaneHits {
    /// Hits among the rows of `key`.
    pub fn of(hits: &Hits, workspace: &Workspace, key: RowsKey) -> Self {
        let inks = Inks::default();
        let Some(slices) = LaneSlices::of(workspace, &inks, key) else { return Self::default() };
        Self(rows_of(hits, workspace, key).into_iter().map(|rows| List::of(&slices, rows)).collect())
    }

    /// Whether slice `at` is a hit.
    pub fn holds<S: Slices>(&self, slices: &S, at: u32) -> bool {
        let start_ns = slices.start_ns(at);
        self.0.iter().any(|list| {
            let beside = list.from(slices, start_ns).iter().take_while(|other| slices.start_ns(**other) == start_ns);
            beside.into_iter().any(|other| *other == at)
        })
    }

    /// Whether a slice of the bin `piece`, which is on `row`, is a hit. With `alone`, the lane has no other row.
    pub fn in_bin<S: Slices>(&self, slices: &S, row: &Row, alone: bool, piece: &Piece) -> bool {
        self.0.iter().any(|list| {
            let inside = |at: &&u32| slices.start_ns(**at) < piece.span.end_ns;
            let mut starting = list.from(slices, piece.span.start_ns).iter().take_while(inside);
            if alone {
                return starting.next().is_some();
            }
            let on_row = |at: &u32| row.position_of(slices, *at).is_some();
            starting.by_ref().take(LOOK_AT).any(on_row) || starting.next().is_some()
        })
    }
}

/// Rows that are hits among those of `key`, as lists in order of start.
fn rows_of(hits: &Hits, workspace: &Workspace, key: RowsKey) -> Vec<Arc<Vec<u32>>> {
    let rows = |place: Place| hits.group(place).map(|group| Arc::clone(&group.rows));
    let of_thread = |doc: usize, process: usize| {
        let threads = workspace.docs.get(doc).map_or(&[][..], |doc| &doc.trace.threads);
        let own = threads.iter().enumerate().filter(move |(_, thread)| thread.process == process);
        own.filter_map(|(thread, _)| rows(Place::Calls(doc, thread))).collect()
    };
    match key {
        RowsKey::Marks(doc, thread) => rows(Place::Marks(doc, thread)).into_iter().collect(),
        RowsKey::Listed(_) | RowsKey::Exposed(_) => Vec::new(),
        RowsKey::Lane(lane) => match lane {
            LaneKey::Compute(rank) => rows(Place::Ops(rank, OpLane::Compute)).into_iter().collect(),
            LaneKey::Communication(rank) => rows(Place::Ops(rank, OpLane::Communication)).into_iter().collect(),
            LaneKey::Copies(rank) => rows(Place::Ops(rank, OpLane::Copies)).into_iter().collect(),
            LaneKey::Stream(rank, stream, lane) => {
                let all = rows(Place::Ops(rank, lane));
                all.map(|rows| Arc::new(on_stream(workspace, rank, stream, &rows))).into_iter().collect()
            }
            LaneKey::Nvtx(doc, thread) => rows(Place::Ranges(doc, thread)).into_iter().collect(),
            LaneKey::Projection(rank, attribution) => {
                let projected = workspace
                    .docs
                    .get(rank.doc)
                    .and_then(|doc| Some(doc.analysis.ranks.get(rank.rank)?.ranges.projected(&doc.trace, attribution)));
                vec![Arc::new(projected.map_or_else(Vec::new, |all| on_the_gpu(hits, rank.doc, all)))]
            }
            LaneKey::Api(doc, thread) => rows(Place::Calls(doc, thread)).into_iter().collect(),
            LaneKey::Os(doc, thread) => rows(Place::Os(doc, thread)).into_iter().collect(),
            LaneKey::Launches(doc, process) => of_thread(doc, process),
            _ => Vec::new(),
        },
    }
}

/// The operations in `rows` that ran on one stream.
fn on_stream(workspace: &Workspace, rank: RankId, stream: usize, rows: &[u32]) -> Vec<u32> {
    let Some((_, own)) = workspace.rank(rank) else { return Vec::new() };
    let is_on = |row: &&u32| own.ops.stream.get(**row as usize).is_some_and(|at| usize::from(*at) == stream);
    rows.iter().filter(is_on).copied().collect()
}

/// The projected ranges, which are ordered by thread and range, whose range is a hit.
fn on_the_gpu(hits: &Hits, doc: usize, projected: &[crate::analysis::Projected]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(first) = projected.get(from) {
        let to = from + projected.get(from..).unwrap_or(&[]).partition_point(|range| range.thread == first.thread);
        if let Some(group) = hits.group(Place::Ranges(doc, first.thread as usize)) {
            let mut rows = group.rows.iter().peekable();
            for (at, range) in projected.iter().enumerate().take(to).skip(from) {
                while rows.peek().is_some_and(|row| **row < range.range) {
                    rows.next();
                }
                if rows.peek().is_some_and(|row| **row == range.range) {
                    found.push(at as u32);
                }
            }
        }
        from = to;
    }
    found.sort_by_key(|at| (projected.get(*at as usize).map_or(0, |range| range.gpu.start_ns), *at));
    found
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::any_slices;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_gives_the_hits_from_a_time_on(painted in any_slices(400, 4, 9), every in 1..5_usize, at_ns in -30..1_700_i64) {
            let rows: Vec<u32> = (0..painted.0.len() as u32).step_by(every).collect();
            let list = List::of(&painted, Arc::new(rows.clone()));
            let wanted: Vec<u32> = rows.iter().copied().filter(|at| painted.start_ns(*at) >= at_ns).collect();
            prop_assert_eq!(list.from(&painted, at_ns), &wanted[..]);
            let hits = LaneHits(vec![list]);
            for at in 0..painted.0.len() as u32 {
                prop_assert_eq!(hits.holds(&painted, at), rows.contains(&at));
            }
        }
    }
}
