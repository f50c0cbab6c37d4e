//! What the timeline keeps between frames: the rows of the lanes that were shown, and what the selection is linked to.
//!
//! Rows are built when a lane is first laid out and dropped with their document.

use super::ease::Ease;
use super::gutter_input::GutterState;
use super::ink::call_inks;
use super::input::{Clicks, Drag};
use super::lanes::{RankLanes, RowsKey, build};
use super::minimap::{MapDrag, Work};
use super::rows::Rows;
use super::select::Linked;
use super::sight::Sight;
use crate::analysis::Analysis;
use crate::trace::Trace;
use crate::view::{Doc, Item, Workspace};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// What the timeline keeps between frames.
#[derive(Debug, Default)]
pub struct Cache {
    docs: Vec<DocCache>,
    rows: HashMap<RowsKey, Arc<Rows>>,
    linked: Option<(Item, Arc<Linked>)>,
    pub(super) drag: Option<Drag>,
    pub(super) ease: Ease,
    pub(super) sight: Sight,
    pub(super) clicks: Clicks,
    pub(super) pointer_ns: Option<f64>,
    pub(super) gutter: GutterState,
    pub(super) map_drag: Option<MapDrag>,
    pub(super) map_work: Option<Work>,
}

/// Per document: who it is, and what its lanes have in common.
#[derive(Debug)]
struct DocCache {
    // Weak, so that a closed document's address cannot be taken by another one.
    trace: Weak<Trace>,
    analysis: Weak<Analysis>,
    call_inks: Arc<Vec<u8>>,
    ranks: Arc<Vec<RankLanes>>,
}

impl DocCache {
    fn of(doc: &Doc) -> Self {
        let ranks = doc.trace.ranks.iter().map(|rank| RankLanes::of(rank, &doc.analysis.classes)).collect();
        Self {
            trace: Arc::downgrade(&doc.trace),
            analysis: Arc::downgrade(&doc.analysis),
            call_inks: Arc::new(call_inks(&doc.trace)),
            ranks: Arc::new(ranks),
        }
    }

    fn is(&self, doc: &Doc) -> bool {
        std::ptr::eq(self.trace.as_ptr(), Arc::as_ptr(&doc.trace))
            && std::ptr::eq(self.analysis.as_ptr(), Arc::as_ptr(&doc.analysis))
    }
}

impl Cache {
    /// Forgets what belongs to documents that are no longer there, and meets the new ones.
    pub(super) fn follow(&mut self, workspace: &Workspace) {
        let same = self.docs.iter().zip(&workspace.docs).take_while(|(cached, doc)| cached.is(doc)).count();
        if same < self.docs.len() {
            self.docs.truncate(same);
            self.rows.retain(|key, _| key.doc() < same);
            self.linked = None;
            self.drag = None;
            (self.map_drag, self.map_work) = (None, None);
            self.clicks = Clicks::default();
            self.gutter = GutterState::default();
        }
        self.docs.extend(workspace.docs.iter().skip(same).map(DocCache::of));
    }

    /// Which lanes a rank has.
    pub(super) fn rank_lanes(&self, doc: usize) -> Arc<Vec<RankLanes>> {
        self.docs.get(doc).map(|d| Arc::clone(&d.ranks)).unwrap_or_default()
    }

    /// Inks of the API calls of a document, by name.
    pub(super) fn call_inks(&self, doc: usize) -> Arc<Vec<u8>> {
        self.docs.get(doc).map(|d| Arc::clone(&d.call_inks)).unwrap_or_default()
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
                let inks = self.call_inks(key.doc());
                (key, Arc::new(build(workspace, &inks, key)))
            })
            .collect();
        self.rows.extend(built);
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
        self.pointer_ns
    }

    /// Bytes held for rows.
    pub fn bytes(&self) -> usize {
        self.rows.values().map(|rows| rows.bytes()).sum()
    }
}
