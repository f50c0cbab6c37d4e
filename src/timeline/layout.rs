//! Which lanes there are, from top to bottom, and how high each is. Heights are in points, time plays no part.
//!
//! ```text
//! rank header with the step strip
//!   NVTX of each thread, NVTX on the GPU, idle and exposed marks, compute, communication, copies (each expands to its
//!   streams), counters (expands to them)
//!   CPU launches (expands to threads), OS runtime (expands to threads)
//! process header, for processes without GPU work
//! ```

use super::arrange::arrange;
use super::cache::Cache;
use super::lanes::RowsKey;
use crate::trace::{Thread, Trace};
use crate::view::{LANE_SCALE, LaneKey, OpLane, RankId, ViewState, Workspace};

/// More ranks than this start collapsed.
const OPEN_RANKS: usize = 4;
/// Nested rows that a collapsed NVTX or API lane shows; when there is only one more, that too.
const NESTED_ROWS: usize = 4;
/// Threads whose NVTX rows stand above the GPU lanes, at most.
const MAIN_NVTX_THREADS: usize = 3;
/// Share of a process's API calls that makes a thread one of them.
const MAIN_CALL_SHARE: f64 = 0.1;
/// Threads whose NVTX rows are shown for a process without GPU work.
const LONE_NVTX_THREADS: usize = 8;
/// How much GPU lanes grow at most when there is room.
const GROWTH_MAX: f32 = 6.0;
/// How much the others grow at most when there is room left after that.
const OTHER_GROWTH_MAX: f32 = 3.0;
/// Room that stays free below the last lane.
const FREE_PT: f32 = 24.0;
/// Height of the line that tells of rows left out.
const MORE_PT: f32 = 13.0;
/// Free points below the rows of a lane.
pub const LANE_GAP_PT: f32 = 3.0;

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
}

impl Lane {
    /// A lane in the block of `rank` that has no place yet.
    fn new(key: LaneKey, rank: Option<RankId>) -> Self {
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
            | LaneKey::Counter(..) => None,
            key => Some(RowsKey::Lane(key)),
        }
    }
}

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
        let pinned: Vec<Lane> = state.lanes.pinned.iter().filter_map(|key| pinned(workspace, *key)).collect();
        let mut needed: Vec<RowsKey> = lanes.iter().chain(&pinned).filter_map(Lane::rows_key).collect();
        for lane in lanes.iter().chain(&pinned) {
            match lane.key {
                LaneKey::Idle(rank) => needed.extend([RowsKey::Listed(rank), RowsKey::Exposed(rank)]),
                LaneKey::Nvtx(doc, thread) => needed.push(RowsKey::Marks(doc, thread)),
                _ => {}
            }
        }
        cache.prepare(workspace, &needed);
        cache.prepare_counters(workspace, lanes.iter().chain(&pinned).map(|lane| lane.key));
        let (hidden, filtered) = (arranged.hidden, arranged.filtered);
        // Pinned lanes are placed first: the others grow into what they leave.
        let mut layout = Self { lanes: pinned, all, hidden, filtered, ..Self::default() };
        layout.place(state, cache, (1.0, 1.0));
        layout.pinned = std::mem::replace(&mut layout.lanes, lanes);
        let room_pt = room_pt - layout.height_pt;
        layout.place(state, cache, (1.0, 1.0));
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
            let growth = if lane.is_header() { 1.0 } else { growth };
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

/// The lane that stays at the top for `key`; `None` when the open files have no such lane.
fn pinned(workspace: &Workspace, key: LaneKey) -> Option<Lane> {
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
    Some(Lane { depth: 1, pinned: true, ..Lane::new(key, rank) })
}

/// True for lanes that are the better read the higher they are.
fn grows(key: LaneKey) -> bool {
    matches!(key, LaneKey::Compute(_) | LaneKey::Communication(_) | LaneKey::Copies(_) | LaneKey::Stream(..))
}

/// Sets rows and heights of `lane`, which has `rows` rows in all.
fn size(lane: &mut Lane, rows: usize, scale: f32, state: &ViewState) {
    let slim =
        lane.expanded.is_none() && !lane.pinned && matches!(lane.key, LaneKey::Compute(_) | LaneKey::Communication(_));
    // Heights of the first row and of the others: work that overlaps on one lane is the exception.
    let (first_pt, row_pt, limit) = match lane.key {
        LaneKey::Rank(_) => (if lane.expanded == Some(true) { 34.0 } else { 22.0 }, 0.0, None),
        LaneKey::Process(..) => (24.0, 0.0, None),
        LaneKey::Compute(_) if slim => (12.0, 3.0, None),
        LaneKey::Communication(_) if slim => (8.0, 3.0, None),
        LaneKey::Compute(_) => (26.0, 10.0, None),
        LaneKey::Communication(_) => (22.0, 10.0, None),
        LaneKey::Stream(..) => (18.0, 10.0, None),
        LaneKey::Copies(_) | LaneKey::Launches(..) => (14.0, 6.0, None),
        LaneKey::Idle(_) | LaneKey::OsRuntime(..) | LaneKey::OtherNvtx(..) | LaneKey::Counters(_) => (16.0, 0.0, None),
        LaneKey::Counter(..) => (28.0, 0.0, None),
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
    let below_pt = if lane.is_header() || slim { 1.0 } else { LANE_GAP_PT };
    lane.more_pt = if lane.hidden_rows > 0 { MORE_PT } else { 0.0 };
    lane.height_pt = lane.row_edges_pt(lane.rows.saturating_sub(1)).1 + lane.more_pt + below_pt;
}

/// The order of lanes, without heights.
struct Outline<'a> {
    workspace: &'a Workspace,
    state: &'a ViewState,
    lanes: Vec<Lane>,
    rank: Option<RankId>,
}

impl<'a> Outline<'a> {
    fn of(workspace: &'a Workspace, state: &'a ViewState, cache: &Cache) -> Self {
        let mut outline = Self { workspace, state, lanes: Vec::new(), rank: None };
        let many = workspace.ranks().count() > OPEN_RANKS;
        for (doc, d) in workspace.docs.iter().enumerate() {
            let lanes = cache.rank_lanes(doc);
            for process in 0..d.trace.processes.len() {
                let mut ranks = d
                    .trace
                    .ranks
                    .iter()
                    .enumerate()
                    .filter(|(_, r)| r.process == process)
                    .map(|(rank, _)| rank)
                    .peekable();
                if ranks.peek().is_none() {
                    outline.process_alone(doc, process);
                }
                // The host side of a process stands once, in the block of its first rank.
                for (nth, rank) in ranks.enumerate() {
                    let id = RankId { doc, rank };
                    let own = lanes.get(rank).cloned().unwrap_or_default();
                    outline.rank(id, process, nth == 0, !many, &own);
                }
            }
        }
        outline
    }

    fn trace(&self, doc: usize) -> Option<&'a Trace> {
        self.workspace.docs.get(doc).map(|d| &*d.trace)
    }

    fn is_open(&self, key: LaneKey, by_default: bool) -> bool {
        self.state.toggled.contains(&key) != by_default
    }

    fn push(&mut self, key: LaneKey, depth: u8, expanded: Option<bool>) {
        self.lanes.push(Lane { depth, expanded, ..Lane::new(key, self.rank) });
    }

    fn rank(&mut self, id: RankId, process: usize, with_host: bool, by_default: bool, own: &super::lanes::RankLanes) {
        self.rank = Some(id);
        let open = self.is_open(LaneKey::Rank(id), by_default);
        self.push(LaneKey::Rank(id), 0, Some(open));
        if !open {
            for lane in own.lanes().filter(|lane| *lane != OpLane::Copies) {
                self.push(lane.key(id), 1, None);
            }
            self.rank = None;
            return;
        }
        if with_host && self.state.nvtx {
            self.main_nvtx(id, process);
        }
        if self.state.nvtx {
            self.projection(id);
        }
        for lane in own.lanes() {
            let key = lane.key(id);
            let open = self.is_open(key, false);
            self.push(key, 1, Some(open));
            if open {
                for stream in own.streams_of(lane) {
                    self.push(LaneKey::Stream(id, stream, lane), 2, None);
                }
            }
        }
        if self.state.marks {
            self.push(LaneKey::Idle(id), 1, None);
        }
        if !own.counters.is_empty() {
            let open = self.is_open(LaneKey::Counters(id), false);
            self.push(LaneKey::Counters(id), 1, Some(open));
            for kind in own.counters.iter().filter(|_| open) {
                self.push(LaneKey::Counter(id, *kind), 2, None);
            }
        }
        if with_host {
            self.host(id.doc, process);
            if self.state.nvtx {
                let shown = main_threads(self.workspace, id, process);
                self.other_nvtx(id.doc, process, &shown, 0);
            }
        }
        self.rank = None;
    }

    fn process_alone(&mut self, doc: usize, process: usize) {
        let Some(trace) = self.trace(doc) else { return };
        let own = || trace.threads.iter().filter(|t| t.process == process);
        if own().all(|t| t.nvtx.is_empty() && t.marks.is_empty() && t.api.is_empty() && t.os.is_empty()) {
            return;
        }
        let key = LaneKey::Process(doc, process);
        let tells = |t: &Thread| !(t.nvtx.is_empty() && t.marks.is_empty() && t.api.is_empty());
        let open = self.is_open(key, own().any(tells) || !trace.threads.iter().any(tells));
        self.push(key, 0, Some(open));
        if open {
            if self.state.nvtx {
                self.other_nvtx(doc, process, &[], LONE_NVTX_THREADS);
            }
            self.host(doc, process);
        }
    }

    /// Pushes the NVTX rows of the threads that tell about the steps of `rank`; the others come with the host lanes.
    fn main_nvtx(&mut self, rank: RankId, process: usize) {
        for thread in main_threads(self.workspace, rank, process) {
            self.push(LaneKey::Nvtx(rank.doc, thread), 1, None);
        }
    }

    /// Pushes the ranges of the process as they ran on the GPU of `rank`, when any ran anything.
    fn projection(&mut self, rank: RankId) {
        let attribution = self.state.attribution;
        let Some(doc) = self.workspace.docs.get(rank.doc) else { return };
        let ranges = doc.analysis.ranks.get(rank.rank).map(|numbers| &numbers.ranges);
        if ranges.is_some_and(|ranges| !ranges.projected(&doc.trace, attribution).is_empty()) {
            self.push(LaneKey::Projection(rank, attribution), 1, None);
        }
    }

    /// NVTX rows of threads not in `shown`: the `few` with the most ranges, the others behind a header.
    fn other_nvtx(&mut self, doc: usize, process: usize, shown: &[usize], few: usize) {
        let Some(trace) = self.trace(doc) else { return };
        let mut threads: Vec<usize> = nvtx_threads(trace, process).filter(|thread| !shown.contains(thread)).collect();
        threads.sort_by_key(|at| std::cmp::Reverse(trace.threads.get(*at).map_or(0, |t| t.nvtx.len())));
        // A header for one thread would save nothing.
        let few = if threads.len() <= few + 1 { threads.len() } else { few };
        let others = threads.split_off(few);
        for thread in threads {
            self.push(LaneKey::Nvtx(doc, thread), 1, None);
        }
        if others.is_empty() {
            return;
        }
        let open = self.push_group(LaneKey::OtherNvtx(doc, process), others.len(), false);
        for thread in others.into_iter().filter(|_| open) {
            self.push(LaneKey::Nvtx(doc, thread), 2, None);
        }
    }

    /// A lane that opens to `threads` threads; the result is whether it is open.
    fn push_group(&mut self, key: LaneKey, threads: usize, by_default: bool) -> bool {
        let open = self.is_open(key, by_default);
        self.push(key, 1, Some(open));
        if let Some(lane) = self.lanes.last_mut() {
            lane.threads = threads;
        }
        open
    }

    /// Launches and OS runtime calls of `process`.
    fn host(&mut self, doc: usize, process: usize) {
        let Some(trace) = self.trace(doc) else { return };
        let own = || trace.threads.iter().enumerate().filter(|(_, t)| t.process == process);
        if own().any(|(_, t)| !t.api.is_empty()) {
            let key = LaneKey::Launches(doc, process);
            let open = self.is_open(key, false);
            self.push(key, 1, Some(open));
            if open {
                for (thread, _) in own().filter(|(_, t)| !t.api.is_empty()) {
                    self.push(LaneKey::Api(doc, thread), 2, None);
                }
            }
        }
        let with_os: Vec<usize> = own().filter(|(_, t)| !t.os.is_empty()).map(|(at, _)| at).collect();
        if !with_os.is_empty() {
            // Where nothing else was recorded, these calls are what there is to see.
            let alone = trace.threads.iter().all(|t| t.nvtx.is_empty() && t.marks.is_empty() && t.api.is_empty());
            let open = self.push_group(LaneKey::OsRuntime(doc, process), with_os.len(), alone);
            for thread in with_os.into_iter().filter(|_| open) {
                self.push(LaneKey::Os(doc, thread), 2, None);
            }
        }
    }
}

/// Threads of `process` with ranges or marks.
fn nvtx_threads(trace: &Trace, process: usize) -> impl Iterator<Item = usize> + '_ {
    let any = move |t: &Thread| t.process == process && !(t.nvtx.is_empty() && t.marks.is_empty());
    trace.threads.iter().enumerate().filter(move |(_, t)| any(t)).map(|(at, _)| at)
}

/// Threads whose ranges tell about the steps of `rank`: the one that marks the steps, and those that launch much.
pub fn main_threads(workspace: &Workspace, rank: RankId, process: usize) -> Vec<usize> {
    let Some((doc, _)) = workspace.rank(rank) else { return Vec::new() };
    let steps = doc.analysis.ranks.get(rank.rank).and_then(|r| r.steps.as_ref()).and_then(|s| s.thread);
    let calls = |at: usize| doc.trace.threads.get(at).map_or(0, |t| t.api.len());
    let all_calls = doc.trace.processes.get(process).map_or(0, |p| p.api.len()) as f64;
    let mut threads: Vec<usize> = nvtx_threads(&doc.trace, process)
        .filter(|at| steps == Some(*at) || calls(*at) > 0 && calls(*at) as f64 >= all_calls * MAIN_CALL_SHARE)
        .collect();
    threads.sort_by_key(|at| (steps != Some(*at), std::cmp::Reverse(calls(*at))));
    threads.truncate(MAIN_NVTX_THREADS);
    threads
}
