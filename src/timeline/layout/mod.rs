//! Which lanes there are, from top to bottom, and where each stands. Heights are in points, time plays no part.
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
mod shelves;
mod size;

pub use lane::{Against, LANE_GAP_PT, Lane};

use super::arrange::arrange;
use super::cache::Cache;
use super::lanes::RowsKey;
use super::strip;
use crate::view::{LaneKey, RankId, ViewState, Workspace};
use outline::Outline;
use shelves::{Shelves, Side};

/// All lanes in order; tops ascend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// The lanes.
    pub lanes: Vec<Lane>,
    /// Height of all of them.
    pub height_pt: f32,
    /// The lanes that stay at the top, placed from 0 on.
    pub pinned: Vec<Lane>,
    /// Height of these, and of those of the pane beside.
    pub pinned_pt: f32,
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
        let layout = Self::unplaced(workspace, state, cache);
        Self::placed(vec![(layout, state, cache)], room_pt).pop().unwrap_or_default()
    }

    /// [`Layout::of`] two panes left and right: lanes of one kind stand at one height.
    pub(super) fn of_two(workspace: &Workspace, panes: [(&ViewState, &mut Cache); 2], room_pt: f32) -> [Self; 2] {
        let unplaced = panes.map(|(state, cache)| (Self::unplaced(workspace, state, cache), state, &*cache));
        let mut placed = Self::placed(unplaced.into(), room_pt).into_iter();
        [placed.next(), placed.next()].map(Option::unwrap_or_default)
    }

    /// The lanes without their places.
    fn unplaced(workspace: &Workspace, state: &ViewState, cache: &mut Cache) -> Self {
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
        cache.strips.prepare(workspace, lanes.iter().chain(&pinned), cache.beside.as_ref());
        cache.prepare_counters(workspace, lanes.iter().chain(&pinned).map(|lane| lane.key));
        let (hidden, filtered) = (arranged.hidden, arranged.filtered);
        Self { lanes, pinned, all, hidden, filtered, ..Self::default() }
    }

    /// Places the lanes of one pane, or of two left and right.
    fn placed(mut panes: Vec<(Self, &ViewState, &Cache)>, room_pt: f32) -> Vec<Self> {
        let mut shelves = |lanes: fn(&mut Self) -> &mut Vec<Lane>| {
            let sides = panes.iter_mut().map(|(layout, state, cache)| {
                let lanes = std::mem::take(lanes(layout));
                Side { state, cache, lanes }
            });
            Shelves::new(sides.collect())
        };
        let (mut pinned, mut lanes) = (shelves(|layout| &mut layout.pinned), shelves(|layout| &mut layout.lanes));
        // Pinned lanes are placed first: the others grow into what they leave.
        let pinned_pt = pinned.place();
        let height_pt = lanes.fit(room_pt - pinned_pt);
        let placed = pinned.into_lanes().into_iter().zip(lanes.into_lanes());
        let layouts = panes.into_iter().map(|(layout, ..)| layout).zip(placed);
        layouts.map(|(layout, (pinned, lanes))| Self { lanes, pinned, height_pt, pinned_pt, ..layout }).collect()
    }

    /// The pinned lanes as a layout of their own.
    pub fn pinned(&self) -> Self {
        Self { lanes: self.pinned.clone(), height_pt: self.pinned_pt, ..Self::default() }
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
