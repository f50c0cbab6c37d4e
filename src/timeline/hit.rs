//! From a place on the screen to what is drawn there, by the same pieces that were drawn.

use super::bins::{Piece, pieces};
use super::cache::Cache;
use super::draw::Frame;
use super::lanes::{LaneSlices, RowsKey};
use super::layout::{Lane, Layout};
use super::slices::Slices;
use crate::units::Span;
use crate::view::{Item, LaneKey};

/// Distance in points within which a narrow thing is still hit.
const REACH_PT: f32 = 3.0;
/// Slices of a bin that are looked through for the longest one.
const LARGEST_LIMIT: u32 = 1 << 16;

/// What is under the pointer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The item, or the longest one of the bin.
    pub item: Item,
    /// Present when several short slices are drawn as one.
    pub bin: Option<Bin>,
    /// Where it is drawn: left, right, top, bottom in points.
    pub edges: (f32, f32, f32, f32),
}

/// Slices drawn as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// How many.
    pub count: u32,
    /// Nanoseconds they cover.
    pub busy_ns: i64,
    /// Where (time of the file).
    pub span: Span,
}

/// What is at (`x_pt`, `y_pt`).
pub fn at(frame: &Frame<'_>, cache: &Cache, layout: &Layout, x_pt: f32, y_pt: f32) -> Option<Hit> {
    if y_pt < frame.top_pt && frame.pinned_pt > 0.0 {
        return at(&frame.pinned(), cache, &layout.pinned(), x_pt, y_pt);
    }
    if x_pt < frame.left_pt || x_pt > frame.right_pt || y_pt < frame.top_pt || y_pt > frame.bottom_pt {
        return None;
    }
    let lane = &frame.lane_at(layout, y_pt)?;
    if let LaneKey::Rank(rank) = lane.key {
        return step(frame, lane, rank, x_pt);
    }
    if matches!(lane.key, LaneKey::Differences(_)) {
        return super::strip::hit(frame, cache, lane, x_pt);
    }
    let row = lane.row_at(y_pt - frame.origin_pt - lane.top_pt)?;
    let key = lane.rows_key()?;
    match (lane.mark_row() == Some(row), lane.key) {
        (true, LaneKey::Nvtx(doc, thread)) => on_row(frame, cache, lane, RowsKey::Marks(doc, thread), (0, row), x_pt),
        _ => on_row(frame, cache, lane, key, (row, row), x_pt),
    }
}

fn step(frame: &Frame<'_>, lane: &Lane, rank: crate::view::RankId, x_pt: f32) -> Option<Hit> {
    let (steps, _) = super::steps::steps_of(frame, rank);
    let at_ns = frame.time_at(x_pt) as i64 - frame.offset_ns(rank.doc);
    let at = steps.partition_point(|s| s.window.end_ns <= at_ns);
    let step = steps.get(at).filter(|s| s.window.start_ns <= at_ns)?;
    let (x0, x1) = frame.edges(rank.doc, step.window);
    let (y0, y1) = frame.row_edges(lane, 0);
    Some(Hit { item: Item::Step(rank, at as u32), bin: None, edges: (x0, x1, y0, y1) })
}

/// `rows` is the row among those of `key` and the row of the lane that it is drawn on.
fn on_row(frame: &Frame<'_>, cache: &Cache, lane: &Lane, key: RowsKey, rows: (usize, usize), x_pt: f32) -> Option<Hit> {
    let doc = key.doc();
    let inks = cache.inks(doc);
    let all = cache.rows(key)?;
    let slices = LaneSlices::of(frame.workspace, &inks, key)?;
    let row = all.rows.get(rows.0)?;
    let offset_ns = frame.offset_ns(doc) as f64;
    let at_ns = frame.time_at(x_pt) - offset_ns;
    let reach_ns = frame.time_at(x_pt + REACH_PT) - frame.time_at(x_pt);
    let around = Span::new((at_ns - reach_ns).floor() as i64, (at_ns + reach_ns).ceil() as i64 + 1);
    let mut found = Vec::new();
    pieces(&all, row, &slices, around, frame.bin_ns(), &mut found);
    let distance = |piece: &Piece| {
        let (start, end) = (piece.span.start_ns as f64, piece.span.end_ns as f64);
        (start - at_ns).max(at_ns - end).max(0.0)
    };
    let piece = found.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    if distance(piece) > reach_ns {
        return None;
    }
    let last = piece.first.saturating_add(piece.count.clamp(1, LARGEST_LIMIT));
    let largest = (piece.first..last).map(|p| row.slice(p as usize)).max_by_key(|at| slices.span(*at).len_ns())?;
    let bin = (piece.count > 1).then_some(Bin { count: piece.count, busy_ns: piece.busy_ns, span: piece.span });
    let drawn = if bin.is_some() { piece.span } else { slices.span(largest) };
    let (x0, x1) = frame.edges(doc, drawn);
    let (y0, y1) = frame.row_edges(lane, rows.1);
    Some(Hit { item: key.item(frame.workspace, largest)?, bin, edges: (x0, x1.max(x0 + frame.px_pt()), y0, y1) })
}
