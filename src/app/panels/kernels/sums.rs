//! The sums of a scope, made beside the frame when there is much to add up, and the last few of them kept.

use crate::analysis::{KernelTable, NamedBy};
use crate::app::cx::Chosen;
use crate::task::Task;
use crate::timeline;
use crate::units::Span;
use crate::view::RankId;
use egui::Context;
use rustc_hash::FxHasher;
use std::collections::VecDeque;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

/// Operations that are added up within a frame.
const AT_ONCE: usize = 200_000;
/// Scopes whose sums are kept.
const KEPT: usize = 6;

/// What sums are of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SumsKey {
    /// Changes whenever other documents are open.
    pub revision: u64,
    /// The rank.
    pub rank: RankId,
    /// Which kernels share a row.
    pub by: NamedBy,
    /// The windows that count, on the document's clock; `None` for all.
    pub windows: Option<Vec<Span>>,
}

impl SumsKey {
    /// A number for these sums and the form that they are shown in.
    pub fn token(&self, grouped: bool) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        grouped.hash(&mut hasher);
        hasher.finish()
    }

    /// True when `other` only looks at other windows, as many as these.
    pub fn is_same_but_moved(&self, other: &Self) -> bool {
        let count = |key: &Self| key.windows.as_ref().map(Vec::len);
        (self.revision, self.rank, self.by, count(self)) == (other.revision, other.rank, other.by, count(other))
    }
}

/// Makes sums and keeps them.
#[derive(Debug, Default)]
pub(super) struct Sums {
    kept: VecDeque<(SumsKey, Arc<KernelTable>)>,
    /// Sums on their way.
    awaited: Option<(SumsKey, Task<KernelTable>)>,
}

impl Sums {
    /// The sums of `key`, if they are here; else they are on their way.
    pub fn get(&mut self, ctx: &Context, key: &SumsKey, chosen: &Chosen<'_>) -> Option<Arc<KernelTable>> {
        self.receive();
        if let Some((_, table)) = self.kept.iter().find(|(known, _)| known == key) {
            return Some(Arc::clone(table));
        }
        // One at a time: what is asked for meanwhile is asked for again by a later frame.
        if self.awaited.is_none() {
            let (trace, analysis) = (Arc::clone(&chosen.doc.trace), Arc::clone(&chosen.doc.analysis));
            let of = key.clone();
            let add = move |_: &dyn Fn() -> bool| {
                Some(KernelTable::of(&trace, of.rank.rank, &analysis.classes, of.by, of.windows.as_deref()))
            };
            let wake = (chosen.rank.ops.len() > AT_ONCE).then(|| timeline::wake(ctx));
            self.awaited = Some((key.clone(), Task::start("kernel sums", wake, add)));
            self.receive();
        }
        self.kept.iter().find(|(known, _)| known == key).map(|(_, table)| Arc::clone(table))
    }

    fn receive(&mut self) {
        let Some((key, task)) = self.awaited.take() else { return };
        match task.take() {
            Ok(Some(table)) => self.keep(key, table),
            Ok(None) => {}
            Err(task) => self.awaited = Some((key, task)),
        }
    }

    fn keep(&mut self, key: SumsKey, table: KernelTable) {
        // Those of documents that are closed are of no use any more.
        self.kept.retain(|(known, _)| known.revision == key.revision);
        self.kept.push_back((key, Arc::new(table)));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }
}
