//! Other colours: inks, the rows that sum by them and the legend, made beside the frame when that takes long. Until they
//! are ready everything keeps the colours that it has.

use super::cache::Cache;
use super::coloring::{Entry, Inks, Scheme, legend, range_hues};
use super::lanes::{RowsKey, build};
use super::rows::Rows;
use crate::view::{ViewState, Workspace};
use egui::Context;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// With more operations than this the work is done on a thread.
pub const LARGE: usize = 400_000;

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

/// Colours that are being made.
#[derive(Debug)]
pub struct Recolor {
    /// What they will stand for.
    pub scheme: Scheme,
    /// Set once they are ready.
    made: Arc<OnceLock<Painted>>,
}

impl Recolor {
    /// Starts with it, or does it at once without `beside`, for little work, and where no thread can be had.
    fn start(beside: Option<&Beside>, workspace: &Workspace, scheme: Scheme, keys: Vec<RowsKey>) -> Self {
        let made: Arc<OnceLock<Painted>> = Arc::default();
        let ops: usize = workspace.ranks().map(|(.., rank)| rank.ops.len()).sum();
        let started = beside.filter(|beside| ops > beside.large).is_some_and(|beside| {
            let (ctx, open, slot, keys) = (beside.ctx.clone(), workspace.clone(), Arc::clone(&made), keys.clone());
            let work = move || {
                slot.get_or_init(|| Painted::of(&open, scheme, &keys));
                ctx.request_repaint();
            };
            std::thread::Builder::new().name("colours".to_owned()).spawn(work).is_ok()
        });
        if !started {
            made.get_or_init(|| Painted::of(workspace, scheme, &keys));
        }
        Self { scheme, made }
    }
}

/// What work beside the frame needs.
#[derive(Debug, Clone)]
pub struct Beside {
    /// The window that is drawn anew when something is ready.
    ctx: Context,
    /// With more operations than this the frame does not wait.
    large: usize,
}

impl Cache {
    /// From now on colours of more than `large` operations are made beside the frame; `ctx` is drawn anew when they are
    /// ready. Without this, as for pictures, a frame waits for them.
    pub fn color_beside(&mut self, ctx: &Context, large: usize) {
        self.beside.get_or_insert_with(|| Beside { ctx: ctx.clone(), large });
    }

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
        if self.recolor.as_ref().is_some_and(|recolor| recolor.scheme != wanted) {
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
        self.recolor = Some(Recolor::start(self.beside.as_ref(), workspace, scheme, keys));
    }

    fn take_colors(&mut self) {
        let made = self.recolor.as_ref().and_then(|recolor| Some((recolor.scheme, recolor.made.get()?.clone())));
        if let Some((scheme, painted)) = made {
            self.recolor = None;
            self.repaint(scheme, painted);
        }
    }
}
