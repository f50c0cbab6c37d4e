//! The order of lanes, without heights.

use super::super::cache::Cache;
use super::super::lanes::RankLanes;
use super::super::strip;
use super::Lane;
use crate::trace::{Thread, Trace};
use crate::view::{LaneKey, OpLane, RankId, ViewState, Workspace};

/// More ranks than this start collapsed.
const OPEN_RANKS: usize = 4;
/// Threads whose NVTX rows stand above the GPU lanes, at most.
const MAIN_NVTX_THREADS: usize = 3;
/// Share of a process's API calls that makes a thread one of them.
const MAIN_CALL_SHARE: f64 = 0.1;
/// Threads whose NVTX rows are shown for a process without GPU work.
const LONE_NVTX_THREADS: usize = 8;

/// The order of lanes, without heights.
pub(super) struct Outline<'a> {
    workspace: &'a Workspace,
    state: &'a ViewState,
    pub(super) lanes: Vec<Lane>,
    rank: Option<RankId>,
}

impl<'a> Outline<'a> {
    pub(super) fn of(workspace: &'a Workspace, state: &'a ViewState, cache: &Cache) -> Self {
        let mut outline = Self { workspace, state, lanes: Vec::new(), rank: None };
        match state.shown_ranks() {
            Some([rank]) => {
                outline.alone(*rank, cache);
                return outline;
            }
            Some(ranks) => {
                outline.overlaid(ranks, cache);
                return outline;
            }
            None => {}
        }
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

    fn rank(&mut self, id: RankId, process: usize, with_host: bool, by_default: bool, own: &RankLanes) {
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
        self.contents(id, process, with_host, own);
    }

    /// The block of a rank that has a pane of its own: always open, with the host side of its process.
    fn alone(&mut self, id: RankId, cache: &Cache) {
        let Some((_, rank)) = self.workspace.rank(id) else { return };
        self.rank = Some(id);
        self.push(LaneKey::Rank(id), 0, None);
        let own = cache.rank_lanes(id.doc).get(id.rank).cloned().unwrap_or_default();
        self.contents(id, rank.process, true, &own);
    }

    /// The lanes of `ranks`, kind by kind: those of one kind touch.
    fn overlaid(&mut self, ranks: &[RankId], cache: &Cache) {
        let known: Vec<(RankId, usize, RankLanes)> = ranks
            .iter()
            .filter_map(|id| {
                let (_, rank) = self.workspace.rank(*id)?;
                Some((*id, rank.process, cache.rank_lanes(id.doc).get(id.rank).cloned()?))
            })
            .collect();
        self.kind(&known, |outline, id, _| outline.push(LaneKey::Rank(id), 1, None));
        if self.state.nvtx {
            self.kind(&known, |outline, id, _| outline.projection(id));
        }
        for lane in OpLane::ALL {
            self.kind(&known, |outline, id, own| {
                if own.lanes().any(|has| has == lane) {
                    outline.ops(id, lane, own);
                }
            });
        }
        self.kind(&known, |outline, id, _| outline.differences(id));
        if self.state.marks {
            self.kind(&known, |outline, id, _| outline.push(LaneKey::Idle(id), 1, None));
        }
        let mut hosts = Vec::new();
        for (id, process, _) in &known {
            if !hosts.contains(&(id.doc, *process)) {
                hosts.push((id.doc, *process));
                self.rank = Some(*id);
                self.host(id.doc, *process);
            }
        }
        self.rank = None;
    }

    /// Pushes what `add` pushes for each rank, so that it touches.
    fn kind(&mut self, ranks: &[(RankId, usize, RankLanes)], add: impl Fn(&mut Self, RankId, &RankLanes)) {
        let from = self.lanes.len();
        for (id, _, own) in ranks {
            self.rank = Some(*id);
            add(self, *id, own);
        }
        self.rank = None;
        let last = self.lanes.len().saturating_sub(1);
        self.lanes.iter_mut().take(last).skip(from).for_each(|lane| lane.touches = true);
    }

    fn ops(&mut self, id: RankId, lane: OpLane, own: &RankLanes) {
        let key = lane.key(id);
        let open = self.is_open(key, false);
        self.push(key, 1, Some(open));
        if open {
            for stream in own.streams_of(lane) {
                self.push(LaneKey::Stream(id, stream, lane), 2, None);
            }
        }
    }

    fn differences(&mut self, id: RankId) {
        if let Some(against) = strip::reference(self.workspace, self.state, id) {
            self.push(LaneKey::Differences(id), 1, None);
            if let Some(lane) = self.lanes.last_mut() {
                lane.against = Some(against);
            }
        }
    }

    /// What stands below the header of an open rank.
    fn contents(&mut self, id: RankId, process: usize, with_host: bool, own: &RankLanes) {
        if with_host && self.state.nvtx {
            self.main_nvtx(id, process);
        }
        if self.state.nvtx {
            self.projection(id);
        }
        for lane in own.lanes() {
            self.ops(id, lane, own);
        }
        // In panes they stand at the top, between the two.
        if self.state.panes().is_none() {
            self.differences(id);
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
fn main_threads(workspace: &Workspace, rank: RankId, process: usize) -> Vec<usize> {
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
