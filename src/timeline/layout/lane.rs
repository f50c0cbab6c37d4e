//! One lane and where its rows are.

use super::super::lanes::RowsKey;
use crate::job::StartBasis;
use crate::view::{LaneKey, RankId};

/// Free points below the rows of a lane.
pub const LANE_GAP_PT: f32 = 3.0;

/// What a lane of differences compares its rank with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Against {
    /// The other rank.
    pub rank: RankId,
    /// By what.
    pub basis: StartBasis,
}

/// One lane, placed.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// What it shows.
    pub key: LaneKey,
    /// Top, in points from the top of the first lane.
    pub top_pt: f32,
    /// Height including the gap below.
    pub height_pt: f32,
    /// Height of the first row.
    pub first_pt: f32,
    /// Height of every other row.
    pub row_pt: f32,
    /// Rows shown.
    pub rows: usize,
    /// Rows that a collapsed lane leaves out.
    pub hidden_rows: usize,
    /// Height of the line at its bottom that tells of them; 0 when there are none.
    pub more_pt: f32,
    /// True when the last row shows marks.
    pub has_marks: bool,
    /// Threads that it stands for, on lanes that stand for several.
    pub threads: usize,
    /// Nesting of its name in the gutter.
    pub depth: u8,
    /// Whether it is expanded; `None` when it cannot be.
    pub expanded: Option<bool>,
    /// The rank whose block it stands in.
    pub rank: Option<RankId>,
    /// Its height over its default height.
    pub scale: f32,
    /// True for the lanes that stay at the top.
    pub pinned: bool,
    /// On lanes of differences, what they are differences from.
    pub against: Option<Against>,
    /// The lane at the same height in the pane beside, which the user resizes together with this one.
    pub beside: Option<LaneKey>,
    /// True for a lane that touches the one below it, which shows the same of another rank.
    pub touches: bool,
}

impl Lane {
    /// A lane in the block of `rank` that has no place yet.
    pub(super) fn new(key: LaneKey, rank: Option<RankId>) -> Self {
        Self {
            key,
            top_pt: 0.0,
            height_pt: 0.0,
            first_pt: 0.0,
            row_pt: 0.0,
            rows: 1,
            hidden_rows: 0,
            more_pt: 0.0,
            has_marks: false,
            threads: 0,
            depth: 0,
            expanded: None,
            rank,
            scale: 1.0,
            pinned: false,
            against: None,
            beside: None,
            touches: false,
        }
    }

    /// Bottom, in points from the top of the first lane.
    pub fn bottom_pt(&self) -> f32 {
        self.top_pt + self.height_pt
    }

    /// Top and bottom of row `row`, in points from the top of the lane.
    pub fn row_edges_pt(&self, row: usize) -> (f32, f32) {
        let top = if row == 0 { 0.0 } else { self.first_pt + (row - 1) as f32 * self.row_pt };
        (top, top + if row == 0 { self.first_pt } else { self.row_pt })
    }

    /// The row at `y_pt` points from the top of the lane.
    pub fn row_at(&self, y_pt: f32) -> Option<usize> {
        let row = if y_pt < self.first_pt { 0 } else { 1 + ((y_pt - self.first_pt) / self.row_pt).floor() as usize };
        (y_pt >= 0.0 && row < self.rows).then_some(row)
    }

    /// True when `y_pt` points from the top of the first lane is on the line that tells of more rows.
    pub fn is_more_at(&self, y_pt: f32) -> bool {
        let bottom = self.bottom_pt() - LANE_GAP_PT;
        self.more_pt > 0.0 && (bottom - self.more_pt..bottom).contains(&y_pt)
    }

    /// True for headers of a rank or process.
    pub fn is_header(&self) -> bool {
        matches!(self.key, LaneKey::Rank(_) | LaneKey::Process(..))
    }

    /// True for lanes of rows that lie in each other.
    pub fn is_nested(&self) -> bool {
        matches!(self.key, LaneKey::Projection(..) | LaneKey::Nvtx(..) | LaneKey::Api(..) | LaneKey::Os(..))
    }

    /// The row on which it shows marks, when it has any.
    pub fn mark_row(&self) -> Option<usize> {
        self.has_marks.then(|| self.rows.saturating_sub(1))
    }

    /// The rows it draws.
    pub fn rows_key(&self) -> Option<RowsKey> {
        match self.key {
            LaneKey::Rank(_)
            | LaneKey::Process(..)
            | LaneKey::OsRuntime(..)
            | LaneKey::OtherNvtx(..)
            | LaneKey::Counters(_)
            | LaneKey::Differences(_)
            | LaneKey::Counter(..) => None,
            key => Some(RowsKey::Lane(key)),
        }
    }
}
