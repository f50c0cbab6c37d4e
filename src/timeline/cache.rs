//! What the timeline keeps between frames: the rows of the lanes that were shown, and what the selection is linked to.
//!
//! Rows are built when a lane is first laid out and dropped with their document.

use super::beside::Beside;
use super::coloring::{Entry, Inks, Scheme};
use super::counters;
use super::drag::Drag;
use super::ease::Ease;
use super::found::Found;
use super::gutter_input::GutterState;
use super::input::Clicks;
use super::lanes::{RankLanes, RowsKey, build};
use super::layout::Lane;
use super::map_hits::MapHits;
use super::minimap::{MapDrag, Work};
use super::panes::Second;
use super::recolor::Painted;
use super::rows::Rows;
use super::same::Same;
use super::select::Linked;
use super::sight::Sight;
use super::snap::Snap;
use super::strip::Strips;
use super::work;
use crate::analysis::{Analysis, Counter};
use crate::task::Task;
use crate::trace::Trace;
use crate::view::{Doc, Item, LaneKey, ViewState, Workspace};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

/// What the timeline keeps between frames.
#[derive(Debug, Default)]
pub struct Cache {
    docs: Vec<DocCache>,
    /// What the inks at hand stand for; `None` when those of some documents stand for something else.
    pub(super) scheme: Option<Scheme>,
    pub(super) legend: Option<Arc<Vec<Entry>>>,
    pub(super) recolor: Option<(Scheme, Task<Painted>)>,
    pub(super) beside: Option<work::Beside>,
    rows: HashMap<RowsKey, Arc<Rows>>,
    counters: HashMap<LaneKey, Arc<Counter>>,
    linked: Option<(Item, Arc<Linked>)>,
    pub(super) same: Option<Same>,
    pub(super) counterparts: Vec<Beside>,
    pub(super) strips: Strips,
    pub(super) drag: Option<Drag>,
    /// The edge that attracts the end of the span being drawn.
    pub(super) snap: Option<Snap>,
    /// The menu under the right button is that of the lanes.
    pub(super) menu: bool,
    /// A drag was given up in the last frame by the key that would else clear the selection.
    pub(super) took_escape: bool,
    pub(super) ease: Ease,
    pub(super) sight: Sight,
    pub(super) clicks: Clicks,
    pub(super) pointer_ns: Option<f64>,
    pub(super) gutter: GutterState,
    pub(super) map_drag: Option<MapDrag>,
    pub(super) map_work: Option<Work>,
    pub(super) map_hits: Option<MapHits>,
    pub(super) found: Found,
    /// How often a hit was asked to be opened when that was last done.
    pub(super) unfolds: u32,
    /// What the pointer is on, when it has counterparts on other ranks.
    pub(super) pointed: Option<Item>,
    /// What the second of two panes keeps.
    pub(super) second: Option<Box<Second>>,
}

/// Per document: who it is, and what its lanes have in common.
#[derive(Debug)]
struct DocCache {
    // Weak, so that a closed document's address cannot be taken by another one.
    trace: Weak<Trace>,
    analysis: Weak<Analysis>,
    inks: Arc<Inks>,
    ranks: Arc<Vec<RankLanes>>,
}

impl DocCache {
    fn of(doc: &Doc) -> Self {
        let ranks = doc.trace.ranks.iter().enumerate().map(|(at, rank)| RankLanes::of(doc, at, rank)).collect();
        Self {
            trace: Arc::downgrade(&doc.trace),
            analysis: Arc::downgrade(&doc.analysis),
            inks: Arc::new(Inks::of(doc, Scheme::default(), &BTreeMap::new())),
            ranks: Arc::new(ranks),
        }
    }

    fn is(&self, doc: &Doc) -> bool {
        std::ptr::eq(self.trace.as_ptr(), Arc::as_ptr(&doc.trace))
            && std::ptr::eq(self.analysis.as_ptr(), Arc::as_ptr(&doc.analysis))
    }
}

impl Cache {
    /// Forgets what belongs to documents that are no longer there or to other colours, and meets the new ones.
    pub(super) fn follow(&mut self, workspace: &Workspace, state: &ViewState) {
        let same = self.docs.iter().zip(&workspace.docs).take_while(|(cached, doc)| cached.is(doc)).count();
        if same < self.docs.len() {
            self.docs.truncate(same);
            // What is being made counts the documents that were open.
            (self.recolor, self.legend) = (None, None);
            self.rows.retain(|key, _| key.doc() < same);
            self.counters.retain(|key, _| key.doc() < same);
            self.strips.forget(same);
            self.linked = None;
            self.same = None;
            self.drag = None;
            (self.map_drag, self.map_work) = (None, None);
            self.pointed = None;
            self.clicks = Clicks::default();
            self.gutter = GutterState::default();
        }
        let new = workspace.docs.len() > same;
        self.docs.extend(workspace.docs.iter().skip(same).map(DocCache::of));
        self.color(workspace, state, new);
    }

    /// Lanes of operations whose rows are at hand.
    pub(super) fn rows_of_ops(&self) -> Vec<RowsKey> {
        self.rows.keys().copied().filter(|key| key.holds_ops()).collect()
    }

    /// Takes over other colours. Rows that were built meanwhile in the colours before are built again when they are shown.
    pub(super) fn repaint(&mut self, scheme: Scheme, painted: Painted) {
        if self.scheme != Some(scheme) {
            self.rows.retain(|key, _| !key.holds_ops());
        }
        self.rows.extend(painted.rows);
        for (cached, inks) in self.docs.iter_mut().zip(painted.inks) {
            cached.inks = inks;
        }
        (self.scheme, self.legend) = (Some(scheme), Some(painted.legend));
    }

    /// Which lanes a rank has.
    pub(super) fn rank_lanes(&self, doc: usize) -> Arc<Vec<RankLanes>> {
        self.docs.get(doc).map(|d| Arc::clone(&d.ranks)).unwrap_or_default()
    }

    /// Inks of everything in a document.
    pub(super) fn inks(&self, doc: usize) -> Arc<Inks> {
        self.docs.get(doc).map(|d| Arc::clone(&d.inks)).unwrap_or_default()
    }

    /// Builds the rows that are missing, on all cores.
    pub(super) fn prepare(&mut self, workspace: &Workspace, keys: &[RowsKey]) {
        let missing: Vec<RowsKey> = keys.iter().copied().filter(|key| !self.rows.contains_key(key)).collect();
        if missing.is_empty() {
            return;
        }
        let built: Vec<(RowsKey, Arc<Rows>)> = missing
            .into_par_iter()
            .map(|key| {
                let inks = self.inks(key.doc());
                (key, Arc::new(build(workspace, &inks, key)))
            })
            .collect();
        self.rows.extend(built);
    }

    /// Meets the hits of the search on the lanes in sight.
    pub(super) fn follow_hits(&mut self, workspace: &Workspace, state: &ViewState, lanes: &[Lane]) {
        self.found.follow(workspace, state, lanes);
    }

    /// Sums up the counters among `lanes` that are missing, on all cores.
    pub(super) fn prepare_counters(&mut self, workspace: &Workspace, lanes: impl Iterator<Item = LaneKey>) {
        let is_missing = |key: &LaneKey| matches!(key, LaneKey::Counter(..)) && !self.counters.contains_key(key);
        let missing: Vec<LaneKey> = lanes.filter(is_missing).collect();
        let built = missing.into_par_iter().filter_map(|key| Some((key, Arc::new(counters::build(workspace, key)?))));
        self.counters.extend(built.collect::<Vec<_>>());
    }

    /// The counter of lane `key`, if it was prepared.
    pub(super) fn counter(&self, key: LaneKey) -> Option<Arc<Counter>> {
        self.counters.get(&key).map(Arc::clone)
    }

    /// Rows of `key`, if they were prepared.
    pub(super) fn rows(&self, key: RowsKey) -> Option<Arc<Rows>> {
        self.rows.get(&key).map(Arc::clone)
    }

    /// What `item` belongs together with; computed when the selection changes.
    pub(super) fn linked(&mut self, workspace: &Workspace, item: Item) -> Arc<Linked> {
        match &self.linked {
            Some((cached, linked)) if *cached == item => Arc::clone(linked),
            _ => {
                let linked = Arc::new(Linked::of(workspace, item));
                self.linked = Some((item, Arc::clone(&linked)));
                linked
            }
        }
    }

    /// Axis time under the pointer in the last frame, while it is over the lanes: where keys zoom.
    pub fn pointer_ns(&self) -> Option<f64> {
        self.pointer_ns.or_else(|| self.second.as_ref()?.cache.pointer_ns)
    }

    /// True when Escape gave up a drag in the last frame, and so means nothing else.
    pub fn took_escape(&self) -> bool {
        self.took_escape || self.second.as_ref().is_some_and(|second| second.cache.took_escape)
    }

    /// Bytes held for rows and counters.
    pub fn bytes(&self) -> usize {
        let rows: usize = self.rows.values().map(|rows| rows.bytes()).sum();
        let second = self.second.as_ref().map_or(0, |second| second.cache.bytes());
        second + rows + self.counters.values().map(|counter| counter.bytes()).sum::<usize>()
    }
}
