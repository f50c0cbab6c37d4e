//! Putting the open files on another clock, with what is in the middle of the view kept in sight.
//!
//! While files are moved by hand only their places change; who waited for whom is computed when they rest.

use super::super::toast::Message;
use super::{AppState, Kept, Then};
use crate::job::{ClockMode, JobOptions};
use crate::view::{Item, Workspace};

/// A drift of clocks is rounded by so much.
const ROUNDING_NS: i64 = 1;

impl AppState {
    pub(super) fn set_clock(&mut self, clock: ClockMode) {
        let chosen = self.view.rank.map_or(0, |rank| rank.doc);
        self.on_clock(JobOptions { clock, ..self.workspace.options.clone() }, chosen);
    }

    /// Moves a document by so many nanoseconds. The others stay where they are on screen.
    pub(super) fn shift(&mut self, doc: usize, by_ns: i64) {
        let mut options = self.workspace.options.clone();
        options.shift_ns.resize(self.workspace.docs.len().max(options.shift_ns.len()), 0);
        if let Some(ns) = options.shift_ns.get_mut(doc).filter(|_| doc < self.workspace.docs.len()) {
            *ns = ns.saturating_add(by_ns);
            // What stays is the time of another file: a pane that followed the one it shows would not show that it moves.
            let mut kept = self.middle_of(usize::from(doc == 0));
            if let Some(kept) = &mut kept {
                kept.second = self.second_middle_of(kept.doc);
            }
            self.workspace.shift(options);
            self.joining.outdate();
            self.rest.moved();
            self.keep(kept);
        }
    }

    pub(super) fn reset_shifts(&mut self) {
        let chosen = self.view.rank.map_or(0, |rank| rank.doc);
        self.on_clock(JobOptions { shift_ns: Vec::new(), ..self.workspace.options.clone() }, chosen);
    }

    /// Moves every other document so that its counterpart of `item` ends where `item` ends, which stays where it is.
    pub(super) fn align_here(&mut self, item: Option<Item>) {
        let Some(item) = item else { return };
        let Some(end_ns) = item.span(&self.workspace).map(|span| span.end_ns) else { return };
        let mut options = self.workspace.options.clone();
        options.shift_ns.resize(self.workspace.docs.len().max(options.shift_ns.len()), 0);
        let mut moved = vec![false; options.shift_ns.len()];
        let mut farthest_ns = 0_i64;
        for other in item.counterparts(&self.workspace) {
            let doc = other.doc();
            let Some(own_end_ns) = other.span(&self.workspace).map(|span| span.end_ns) else { continue };
            if doc != item.doc()
                && let (Some(ns), Some(moved @ false)) = (options.shift_ns.get_mut(doc), moved.get_mut(doc))
            {
                let by_ns = end_ns.saturating_sub(own_end_ns);
                *ns = ns.saturating_add(by_ns);
                *moved = true;
                farthest_ns = farthest_ns.max(by_ns.saturating_abs());
            }
        }
        if farthest_ns <= ROUNDING_NS && moved.contains(&true) {
            self.status = Some(Message::done("They end together already, so nothing was moved"));
            return;
        }
        self.on_clock(options, item.doc());
    }

    /// What document `doc` did in the middle of the view stays there.
    fn on_clock(&mut self, options: JobOptions, doc: usize) {
        let then = Then { kept: self.middle_of(doc), ..Then::default() };
        // Should it be outdated when it is there, it is made anew with these.
        self.workspace.options.clone_from(&options);
        self.join_open(then, move |workspace| workspace.set_clock(options.clone()));
    }

    /// Computes who waited once what was moved by hand rests for a frame.
    pub(super) fn settle_at_rest(&mut self) {
        if self.workspace.job.moving && !self.is_joining() && self.rest.is_at_rest() {
            self.join_open(Then::default(), Workspace::settle);
        }
    }

    /// What document `doc` does in the middle of the view.
    fn middle_of(&self, doc: usize) -> Option<Kept> {
        let middle_ns = self.view.viewport.middle_ns() as i64;
        let own_ns = self.workspace.docs.get(doc)?.own_ns(middle_ns);
        let shown = self.view.compare.as_ref().map(|compare| compare.ranks[1].doc);
        Some(Kept { doc, own_ns, middle_ns, second: shown.and_then(|doc| self.second_middle_of(doc)) })
    }

    /// What document `doc` does in the middle of the second of two panes.
    fn second_middle_of(&self, doc: usize) -> Option<(usize, i64)> {
        let middle_ns = self.view.compare.as_ref()?.other.viewport.middle_ns() as i64;
        Some((doc, self.workspace.docs.get(doc)?.own_ns(middle_ns)))
    }

    /// Moves the view so that what is kept is where it was.
    pub(super) fn keep(&mut self, kept: Option<Kept>) {
        let Some(Kept { doc, own_ns, middle_ns, second }) = kept else { return };
        if let Some(now_ns) = self.workspace.docs.get(doc).map(|doc| doc.axis_ns(own_ns)) {
            self.view.move_by(now_ns.saturating_sub(middle_ns), &self.workspace);
        }
        let second_ns = second.and_then(|(doc, own_ns)| Some(self.workspace.docs.get(doc)?.axis_ns(own_ns)));
        self.view.move_second(second_ns);
    }
}
