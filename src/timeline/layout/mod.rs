//! Which lanes there are, from top to bottom, and how high each is. Heights are in points, time plays no part.
//!
//! ```text
//! rank header with the step strip
//!   NVTX of each thread, NVTX on the GPU, idle and exposed marks, compute, communication, copies (each expands to its
//!   streams), differences from the first rank, counters (expands to them)
//!   CPU launches (expands to threads), OS runtime (expands to threads)
//! process header, for processes without GPU work
//! ```

mod lane;
mod outline;
mod size;

pub use lane::{LANE_GAP_PT, Lane};

use super::arrange::arrange;
use super::cache::Cache;
use super::lanes::RowsKey;
use super::strip;
use crate::view::{LANE_SCALE, LaneKey, RankId, ViewState, Workspace};
use outline::Outline;
use size::size;

/// How much GPU lanes grow at most when there is room.
const GROWTH_MAX: f32 = 6.0;
/// How much the others grow at most when there is room left after that.
const OTHER_GROWTH_MAX: f32 = 3.0;
/// Sizes of nested rows where the lanes do not fit, a point apart; names can still be read in the smallest.
const TIGHT: [f32; 2] = [0.94, 0.87];
/// Room that stays free below the last lane.
const FREE_PT: f32 = 24.0;

/// All lanes in order; tops ascend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// The lanes.
    pub lanes: Vec<Lane>,
    /// Height of all of them.
    pub height_pt: f32,
    /// The lanes that stay at the top, placed from 0 on.
    pub pinned: Vec<Lane>,
    /// Every lane there is, in the order of the program and not placed, for the list of lanes.
    pub all: Vec<Lane>,
    /// Lanes that the user hid.
    pub hidden: usize,
    /// Lanes that the filter leaves out.
    pub filtered: usize,
}

impl Layout {
    /// Lays out the lanes of `workspace`, building the rows that decide their heights. GPU lanes, then the others,
    /// grow into what is left of `room_pt`.
    pub(super) fn of(workspace: &Workspace, state: &ViewState, cache: &mut Cache, room_pt: f32) -> Self {
        cache.follow(workspace, state);
        let all = Outline::of(workspace, state, cache).lanes;
        let arranged = arrange(workspace, state, all.clone());
        let lanes = arranged.lanes;
        let pinned = pinned_lanes(workspace, state);
        let mut needed: Vec<RowsKey> = lanes.iter().chain(&pinned).filter_map(Lane::rows_key).collect();
        for lane in lanes.iter().chain(&pinned) {
            match lane.key {
                LaneKey::Idle(rank) => needed.extend([RowsKey::Listed(rank), RowsKey::Exposed(rank)]),
                LaneKey::Nvtx(doc, thread) => needed.push(RowsKey::Marks(doc, thread)),
                _ => {}
            }
        }
        cache.prepare(workspace, &needed);
        cache.strips.prepare(workspace, lanes.iter().chain(&pinned));
        cache.prepare_counters(workspace, lanes.iter().chain(&pinned).map(|lane| lane.key));
        let (hidden, filtered) = (arranged.hidden, arranged.filtered);
        // Pinned lanes are placed first: the others grow into what they leave.
        let mut layout = Self { lanes: pinned, all, hidden, filtered, ..Self::default() };
        layout.place(state, cache, (1.0, 1.0));
        layout.pinned = std::mem::replace(&mut layout.lanes, lanes);
        let room_pt = room_pt - layout.height_pt;
        layout.place(state, cache, (1.0, 1.0));
        if layout.height_pt > room_pt {
            // Nested rows give way before other lanes are pushed out of sight.
            for tight in TIGHT {
                layout.place(state, cache, (1.0, tight));
                if layout.height_pt <= room_pt {
                    break;
                }
            }
            return layout;
        }
        let resized = |lane: &Lane| state.lane_scale.contains_key(&lane.key);
        let gpu = layout.growth(room_pt, GROWTH_MAX, |lane| grows(lane.key) && !resized(lane));
        layout.place(state, cache, (gpu, 1.0));
        let others = |lane: &Lane| !(grows(lane.key) || lane.is_header() || resized(lane));
        let other = layout.growth(room_pt, OTHER_GROWTH_MAX, others);
        layout.place(state, cache, (gpu, other));
        layout
    }

    /// By how much the lanes for which `growing` holds can grow in `room_pt`.
    fn growth(&self, room_pt: f32, most: f32, growing: impl Fn(&Lane) -> bool) -> f32 {
        let growing_pt: f32 = self.lanes.iter().filter(|lane| growing(lane)).map(|lane| lane.height_pt).sum();
        let left_pt = room_pt - self.height_pt - FREE_PT;
        if growing_pt > 0.0 && left_pt > 0.0 { (1.0 + left_pt / growing_pt).min(most) } else { 1.0 }
    }

    /// Sizes the lanes and puts them below each other; GPU lanes and the others grow by the factors of `growth`.
    fn place(&mut self, state: &ViewState, cache: &Cache, growth: (f32, f32)) {
        self.height_pt = 0.0;
        for lane in &mut self.lanes {
            let growth = if grows(lane.key) { growth.0 } else { growth.1 };
            let tight = growth < 1.0 && !lane.is_nested();
            let growth = if lane.is_header() || tight { 1.0 } else { growth };
            // A lane that the user resized keeps its height, whatever room there is.
            let scale = state.lane_scale.get(&lane.key).copied().filter(|s| s.is_finite());
            lane.scale = scale.map_or(growth, |scale| scale.clamp(LANE_SCALE.0, LANE_SCALE.1));
            let rows = lane.rows_key().and_then(|key| cache.rows(key)).map_or(0, |rows| rows.rows.len());
            lane.top_pt = self.height_pt;
            lane.has_marks = matches!(lane.key, LaneKey::Nvtx(doc, thread)
                if cache.rows(RowsKey::Marks(doc, thread)).is_some_and(|marks| !marks.rows.is_empty()));
            size(lane, rows, lane.scale, state);
            self.height_pt += lane.height_pt;
        }
    }

    /// The pinned lanes as a layout of their own.
    pub fn pinned(&self) -> Self {
        let height_pt = self.pinned.last().map_or(0.0, Lane::bottom_pt);
        Self { lanes: self.pinned.clone(), height_pt, ..Self::default() }
    }

    /// The lanes that touch `top_pt..bottom_pt`.
    pub fn within(&self, top_pt: f32, bottom_pt: f32) -> &[Lane] {
        let first = self.lanes.partition_point(|lane| lane.bottom_pt() <= top_pt);
        let last = self.lanes.partition_point(|lane| lane.top_pt < bottom_pt);
        self.lanes.get(first..last.max(first)).unwrap_or(&[])
    }

    /// The lane at `y_pt`.
    pub fn at(&self, y_pt: f32) -> Option<&Lane> {
        let lane = self.lanes.get(self.lanes.partition_point(|lane| lane.bottom_pt() <= y_pt))?;
        (lane.top_pt <= y_pt).then_some(lane)
    }

    /// The header of the rank whose lanes are scrolled past the top, where it stays: at the top, or above the next
    /// rank. None where it would take too much of `visible_pt`.
    pub fn sticky(&self, scroll_pt: f32, visible_pt: f32) -> Option<Lane> {
        let scrolled = |lane: &&Lane| lane.top_pt < scroll_pt && matches!(lane.key, LaneKey::Rank(_));
        let header = self.lanes.iter().rfind(scrolled)?;
        let (_, bottom_pt) = self.block(header.rank?)?;
        let fits = header.height_pt * 3.0 <= visible_pt && bottom_pt > scroll_pt;
        fits.then(|| Lane { top_pt: scroll_pt.min(bottom_pt - header.height_pt), ..header.clone() })
    }

    /// The lane that is seen at `y_pt`, which may be the sticky header.
    pub fn seen_at(&self, y_pt: f32, sticky: Option<Lane>) -> Option<Lane> {
        sticky.filter(|lane| lane.top_pt <= y_pt && y_pt < lane.bottom_pt()).or_else(|| self.at(y_pt).cloned())
    }

    /// Top and bottom of the block of `rank`, header included.
    pub fn block(&self, rank: RankId) -> Option<(f32, f32)> {
        let mut own = self.lanes.iter().filter(|lane| lane.rank == Some(rank));
        let first = own.next()?;
        Some((first.top_pt, own.next_back().unwrap_or(first).bottom_pt()))
    }
}

/// The lanes that stay at the top: those that the user pinned, of ranks that are shown; in a pane, arrivals against the
/// rank of the other come first.
fn pinned_lanes(workspace: &Workspace, state: &ViewState) -> Vec<Lane> {
    let shown = state.shown_ranks();
    let is_shown = |lane: &Lane| shown.is_none_or(|shown| lane.rank.is_none_or(|rank| shown.contains(&rank)));
    let arrivals = shown.filter(|_| state.panes().is_some()).and_then(|shown| shown.first().copied());
    let first = arrivals.filter(|rank| strip::reference(workspace, state, *rank).is_some()).map(LaneKey::Differences);
    let own = state.lanes.pinned.iter().copied().filter(|key| Some(*key) != first);
    first.into_iter().chain(own).filter_map(|key| pinned(workspace, state, key)).filter(is_shown).collect()
}

/// The lane that stays at the top for `key`; `None` when the open files have no such lane.
fn pinned(workspace: &Workspace, state: &ViewState, key: LaneKey) -> Option<Lane> {
    let doc = workspace.docs.get(key.doc())?;
    let of_process = |process: usize| {
        let rank = doc.trace.ranks.iter().position(|rank| rank.process == process)?;
        Some(RankId { doc: key.doc(), rank })
    };
    let rank = match key {
        LaneKey::Compute(rank)
        | LaneKey::Communication(rank)
        | LaneKey::Copies(rank)
        | LaneKey::Stream(rank, ..)
        | LaneKey::Projection(rank, _)
        | LaneKey::Counter(rank, _)
        | LaneKey::Differences(rank)
        | LaneKey::Idle(rank) => Some(workspace.rank(rank).map(|_| rank)?),
        LaneKey::Nvtx(_, thread) | LaneKey::Api(_, thread) | LaneKey::Os(_, thread) => {
            of_process(doc.trace.threads.get(thread)?.process)
        }
        LaneKey::Launches(_, process) => {
            doc.trace.processes.get(process)?;
            of_process(process)
        }
        LaneKey::Rank(_)
        | LaneKey::Process(..)
        | LaneKey::OsRuntime(..)
        | LaneKey::OtherNvtx(..)
        | LaneKey::Counters(_) => return None,
    };
    let against = match key {
        LaneKey::Differences(rank) => strip::reference(workspace, state, rank),
        _ => None,
    };
    Some(Lane { depth: 1, pinned: true, against, ..Lane::new(key, rank) })
}

/// True for lanes that are the better read the higher they are.
fn grows(key: LaneKey) -> bool {
    matches!(key, LaneKey::Compute(_) | LaneKey::Communication(_) | LaneKey::Copies(_) | LaneKey::Stream(..))
}
