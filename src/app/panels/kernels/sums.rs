//! The sums of a scope, made beside the frame when there is much to add up, and the last few of them kept.

use crate::analysis::{KernelTable, NamedBy};
use crate::app::cx::Chosen;
use crate::units::Span;
use crate::view::RankId;
use egui::Context;
use rustc_hash::FxHasher;
use std::collections::VecDeque;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

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

/// Sums on their way.
type Awaited = (SumsKey, Receiver<KernelTable>);

/// Makes sums and keeps them.
#[derive(Debug, Default)]
pub(super) struct Sums {
    kept: VecDeque<(SumsKey, Arc<KernelTable>)>,
    awaited: Option<Awaited>,
}

impl Sums {
    /// The sums of `key`, if they are here; else they are on their way.
    pub fn get(&mut self, ctx: &Context, key: &SumsKey, chosen: &Chosen<'_>) -> Option<Arc<KernelTable>> {
        self.receive();
        if let Some((_, table)) = self.kept.iter().find(|(known, _)| known == key) {
            return Some(Arc::clone(table));
        }
        let make = {
            let (trace, analysis) = (Arc::clone(&chosen.doc.trace), Arc::clone(&chosen.doc.analysis));
            let key = key.clone();
            move || KernelTable::of(&trace, key.rank.rank, &analysis.classes, key.by, key.windows.as_deref())
        };
        if chosen.rank.ops.len() <= AT_ONCE {
            return Some(self.keep(key.clone(), make()));
        }
        // One at a time: what is asked for meanwhile is asked for again by a later frame.
        if self.awaited.is_none() {
            let (sender, receiver) = sync_channel(1);
            let ctx = ctx.clone();
            let work = move || {
                // The receiver is gone when the window closed meanwhile.
                let _ = sender.send(make());
                ctx.request_repaint();
            };
            if std::thread::Builder::new().name("kernel sums".to_owned()).spawn(work).is_ok() {
                self.awaited = Some((key.clone(), receiver));
            }
        }
        None
    }

    fn receive(&mut self) {
        let Some((key, receiver)) = &self.awaited else { return };
        match receiver.try_recv() {
            Ok(table) => {
                let key = key.clone();
                self.awaited = None;
                self.keep(key, table);
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.awaited = None,
        }
    }

    fn keep(&mut self, key: SumsKey, table: KernelTable) -> Arc<KernelTable> {
        // Those of documents that are closed are of no use any more.
        self.kept.retain(|(known, _)| known.revision == key.revision);
        let table = Arc::new(table);
        self.kept.push_back((key, Arc::clone(&table)));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        table
    }
}
