//! Putting the open files on another clock, with what is in the middle of the view kept in sight.

use super::super::toast::Message;
use super::AppState;
use crate::job::{ClockMap, ClockMode, JobOptions};
use crate::view::Item;

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
            self.on_clock(options, usize::from(doc == 0));
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
        let middle_ns = self.view.viewport.middle_ns() as i64;
        let own_ns = self.workspace.docs.get(doc).map(|doc| doc.own_ns(middle_ns));
        let before: Vec<ClockMap> = self.workspace.docs.iter().map(|doc| doc.map).collect();
        self.workspace.set_clock(options);
        self.revision += 1;
        let now_ns = self.workspace.docs.get(doc).zip(own_ns).map(|(doc, own_ns)| doc.axis_ns(own_ns));
        if let Some(now_ns) = now_ns {
            self.view.move_by(now_ns.saturating_sub(middle_ns), &self.workspace);
        }
        let docs = &self.workspace.docs;
        self.view.move_second(|rank, axis_ns| {
            let maps = before.get(rank.doc).zip(docs.get(rank.doc));
            maps.map_or(axis_ns, |(before, doc)| doc.axis_ns(before.to_export(axis_ns)))
        });
    }
}
