//! How high a lane is and how many rows it shows.

use super::{LANE_GAP_PT, Lane};
use crate::view::{LaneKey, ViewState};

/// Nested rows that a collapsed NVTX or API lane shows; when there is only one more, that too.
const NESTED_ROWS: usize = 4;
/// Height of the line that tells of rows left out.
const MORE_PT: f32 = 13.0;

/// Sets rows and heights of `lane`, which has `rows` rows in all.
pub(super) fn size(lane: &mut Lane, rows: usize, scale: f32, state: &ViewState) {
    let slim =
        lane.expanded.is_none() && !lane.pinned && matches!(lane.key, LaneKey::Compute(_) | LaneKey::Communication(_));
    // Heights of the first row and of the others: work that overlaps on one lane is the exception.
    let (first_pt, row_pt, limit) = match lane.key {
        LaneKey::Rank(_) => (if lane.expanded == Some(false) { 22.0 } else { 34.0 }, 0.0, None),
        LaneKey::Process(..) => (24.0, 0.0, None),
        LaneKey::Compute(_) if slim => (12.0, 3.0, None),
        LaneKey::Communication(_) if slim => (8.0, 3.0, None),
        LaneKey::Compute(_) => (26.0, 10.0, None),
        LaneKey::Communication(_) => (22.0, 10.0, None),
        LaneKey::Stream(..) => (18.0, 10.0, None),
        LaneKey::Copies(_) | LaneKey::Launches(..) => (14.0, 6.0, None),
        LaneKey::Idle(_) | LaneKey::OsRuntime(..) | LaneKey::OtherNvtx(..) | LaneKey::Counters(_) => (16.0, 0.0, None),
        LaneKey::Counter(..) | LaneKey::Differences(_) => (28.0, 0.0, None),
        LaneKey::Projection(..) | LaneKey::Nvtx(..) | LaneKey::Api(..) | LaneKey::Os(..) => {
            // One more row takes no more room than the line that would tell of it.
            let all = state.toggled.contains(&lane.key) || rows <= NESTED_ROWS + 1;
            let limit = if all { usize::MAX } else { NESTED_ROWS };
            (15.0, 15.0, Some(limit))
        }
    };
    lane.rows = rows.max(1).min(limit.unwrap_or(usize::MAX));
    lane.hidden_rows = rows.saturating_sub(lane.rows);
    if limit.is_some() && rows > NESTED_ROWS + 1 {
        lane.expanded = Some(state.toggled.contains(&lane.key));
    }
    if lane.has_marks {
        lane.rows = if rows == 0 { 1 } else { lane.rows + 1 };
    }
    // Rounded down, so that lanes grow into the room there is and not past it.
    (lane.first_pt, lane.row_pt) = ((first_pt * scale).floor(), (row_pt * scale).floor().max(2.0));
    let below_pt = if lane.is_header() || slim || lane.touches { 1.0 } else { LANE_GAP_PT };
    lane.more_pt = if lane.hidden_rows > 0 { MORE_PT } else { 0.0 };
    lane.height_pt = lane.row_edges_pt(lane.rows.saturating_sub(1)).1 + lane.more_pt + below_pt;
}
