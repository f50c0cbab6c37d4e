//! Other colours: inks, the rows that sum by them and the legend, made beside the frame when that takes long. Until they
//! are ready everything keeps the colours that it has.

use super::cache::Cache;
use super::coloring::{Entry, Inks, Scheme, legend, range_hues};
use super::lanes::{RowsKey, build};
use super::rows::Rows;
use crate::task::Task;
use crate::view::{ViewState, Workspace};
use rayon::prelude::*;
use std::sync::Arc;

/// Everything that depends on the colours.
#[derive(Debug, Clone)]
pub struct Painted {
    /// By document.
    pub inks: Vec<Arc<Inks>>,
    /// The lanes that were asked for.
    pub rows: Vec<(RowsKey, Arc<Rows>)>,
    /// What the colours mean.
    pub legend: Arc<Vec<Entry>>,
}

impl Painted {
    fn of(workspace: &Workspace, scheme: Scheme, keys: &[RowsKey]) -> Self {
        let hues = range_hues(workspace, scheme);
        let inks: Vec<Arc<Inks>> =
            workspace.docs.par_iter().map(|doc| Arc::new(Inks::of(doc, scheme, &hues))).collect();
        let of = |doc: usize| inks.get(doc).map(Arc::clone).unwrap_or_default();
        let rows = keys.par_iter().map(|key| (*key, Arc::new(build(workspace, &of(key.doc()), *key)))).collect();
        let legend = Arc::new(legend(workspace, scheme, of));
        Self { inks, rows, legend }
    }
}

impl Cache {
    /// Gives everything the colours that `state` asks for, now or when they are ready. `new` tells of new documents, which
    /// begin in the colours of classes.
    pub(super) fn color(&mut self, workspace: &Workspace, state: &ViewState, new: bool) {
        if new {
            (self.recolor, self.legend) = (None, None);
            let had = *self.scheme.get_or_insert_default();
            // Hues of ranges are shared out among all documents.
            if had != Scheme::default() {
                self.scheme = None;
            }
        }
        let wanted = Scheme::of(state);
        if self.recolor.as_ref().is_some_and(|(scheme, _)| *scheme != wanted) {
            self.recolor = None;
        }
        if self.scheme != Some(wanted) && self.recolor.is_none() {
            self.recolor_to(workspace, wanted);
        }
        self.take_colors();
    }

    /// What the colours mean, as soon as that is known and the colours are there.
    pub(super) fn legend(&mut self, workspace: &Workspace, state: &ViewState) -> Arc<Vec<Entry>> {
        self.follow(workspace, state);
        let wanted = Scheme::of(state);
        if self.legend.is_none() && self.recolor.is_none() {
            self.recolor_to(workspace, wanted);
            self.take_colors();
        }
        self.legend.as_ref().filter(|_| self.scheme == Some(wanted)).map(Arc::clone).unwrap_or_default()
    }

    fn recolor_to(&mut self, workspace: &Workspace, scheme: Scheme) {
        // Rows in the colours that they have already need not be built again for the legend.
        let keys = if self.scheme == Some(scheme) { Vec::new() } else { self.rows_of_ops() };
        let ops = workspace.ranks().map(|(.., rank)| rank.ops.len()).sum();
        let (wake, open) = (self.beside.as_ref().and_then(|beside| beside.wake(ops)), workspace.clone());
        let paint = move |_: &dyn Fn() -> bool| Some(Painted::of(&open, scheme, &keys));
        self.recolor = Some((scheme, Task::start("colours", wake, paint)));
    }

    fn take_colors(&mut self) {
        let made = self.recolor.as_ref().and_then(|(scheme, task)| Some((*scheme, task.get()?.clone())));
        if let Some((scheme, painted)) = made {
            self.recolor = None;
            self.repaint(scheme, painted);
        }
    }
}
