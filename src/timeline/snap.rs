//! The edge nearest to the pointer on the lane under it, for spans whose ends are drawn by hand.

use super::cache::Cache;
use super::draw::Frame;
use super::lanes::{LaneSlices, RowsKey};
use super::layout::{Lane, Layout};
use super::slices::Slices;
use crate::view::{LaneKey, RankId};
use egui::{Modifiers, Pos2};

/// Distance in points within which an edge attracts.
const REACH_PT: f32 = 6.0;

/// An edge that attracted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snap {
    /// Axis time of the edge.
    pub at_ns: i64,
    /// Top and bottom of the row it is on, in points.
    pub row: (f32, f32),
}

/// The edge that attracts the pointer at `at`: of steps on the ruler and on headers, else of the lane. None while the
/// user wants to place freely (Alt, Ctrl or Cmd).
pub(super) fn snap(frame: &Frame<'_>, cache: &Cache, layout: &Layout, at: Pos2, modifiers: Modifiers) -> Option<Snap> {
    if modifiers.alt || modifiers.ctrl || modifiers.command {
        return None;
    }
    let at_ns = frame.time_at(at.x.clamp(frame.left_pt, frame.right_pt));
    let reach_ns = frame.time_at(frame.left_pt + REACH_PT) - frame.time_at(frame.left_pt);
    let found = if at.y < frame.ruler_bottom_pt() {
        let ruler = (frame.ruler_bottom_pt() - super::RULER_PT, frame.ruler_bottom_pt());
        frame.state.ruled_rank().and_then(|rank| Some(Snap { at_ns: of_steps(frame, rank, at_ns)?, row: ruler }))
    } else {
        frame.lane_at(layout, at.y).and_then(|lane| on_lane(frame, cache, &lane, at_ns))
    };
    found.filter(|snap| (snap.at_ns as f64 - at_ns).abs() <= reach_ns)
}

/// The edge on `lane` nearest to axis time `at_ns`.
fn on_lane(frame: &Frame<'_>, cache: &Cache, lane: &Lane, at_ns: f64) -> Option<Snap> {
    if let LaneKey::Rank(rank) = lane.key {
        return Some(Snap { at_ns: of_steps(frame, rank, at_ns)?, row: frame.row_edges(lane, 0) });
    }
    let key = lane.rows_key()?;
    let own_rows = lane.mark_row().unwrap_or(lane.rows);
    let own = edges(frame, cache, key, own_rows, at_ns).map(|(row, ns)| (ns, frame.row_edges(lane, row)));
    let marks = match (lane.key, lane.mark_row()) {
        (LaneKey::Nvtx(doc, thread), Some(row)) => {
            let found = edges(frame, cache, RowsKey::Marks(doc, thread), 1, at_ns);
            found.map(|(_, ns)| (ns, frame.row_edges(lane, row)))
        }
        _ => None,
    };
    let both = own.into_iter().chain(marks);
    let nearest = both.min_by(|a, b| (a.0 as f64 - at_ns).abs().total_cmp(&(b.0 as f64 - at_ns).abs()))?;
    Some(Snap { at_ns: nearest.0, row: nearest.1 })
}

/// Row and axis time of the edge among the first `most` rows of `key` that is nearest to axis time `at_ns`.
fn edges(frame: &Frame<'_>, cache: &Cache, key: RowsKey, most: usize, at_ns: f64) -> Option<(usize, i64)> {
    let offset_ns = frame.offset_ns(key.doc());
    let inks = cache.inks(key.doc());
    let (rows, slices) = (cache.rows(key)?, LaneSlices::of(frame.workspace, &inks, key)?);
    let own_ns = at_ns.round() as i64 - offset_ns;
    let candidates = rows.rows.iter().take(most).enumerate().flat_map(|(at, row)| {
        // Slices of a row do not overlap, so only the one around the time and the one before it come into question.
        let next = row.first_from(&slices, own_ns);
        let before = next.checked_sub(1).map(|position| slices.end_ns(row.slice(position)));
        let around = (next < row.len()).then(|| slices.span(row.slice(next)));
        let around = around.into_iter().flat_map(|span| [span.start_ns, span.end_ns]);
        before.into_iter().chain(around).map(move |ns| (at, ns.saturating_add(offset_ns)))
    });
    candidates.min_by(|a, b| (a.1 as f64 - at_ns).abs().total_cmp(&(b.1 as f64 - at_ns).abs()))
}

/// The edge of a step's window nearest to axis time `at_ns`.
fn of_steps(frame: &Frame<'_>, rank: RankId, at_ns: f64) -> Option<i64> {
    let (steps, _) = super::steps::steps_of(frame, rank);
    let offset_ns = frame.offset_ns(rank.doc);
    let next = steps.partition_point(|step| ((step.window.end_ns + offset_ns) as f64) < at_ns);
    let near = steps.get(next.saturating_sub(1)..(next + 1).min(steps.len()))?;
    let edges = near.iter().flat_map(|step| [step.window.start_ns, step.window.end_ns]).map(|ns| ns + offset_ns);
    edges.min_by(|a, b| (*a as f64 - at_ns).abs().total_cmp(&(*b as f64 - at_ns).abs()))
}
