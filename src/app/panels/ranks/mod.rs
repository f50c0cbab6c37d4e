//! The ranks of the job: their clock, the rank that is late and why, matched collectives, who waits for whom.
//!
//! Everything was computed by `job`, and is said in the words of the comparison as text.

mod clock;
mod matrix;
mod tables;

use super::grid::{Shown, filter_bar, heading, remark};
use super::sheet::{Filter, Sheet};
use crate::analysis::Limit;
use crate::app::cx::Cx;
use crate::format;
use crate::report::compare::{
    matched_text, notices, refusal_text, reservation, straggler_advice, straggler_text, unknown_parts_text,
    wandering_text,
};
use crate::view::Command;
use egui::{Label, RichText, Ui};

/// Refused groups that are listed.
const REFUSED: usize = 20;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct RanksCache {
    filter: Filter,
    files: Sheet,
    ranks: Sheet,
    extras: Sheet,
    groups: Sheet,
    pairs: Sheet,
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut RanksCache, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    if job.ranks.is_empty() {
        wrapped(ui, RichText::new(Limit::NoGpuWork.consequence()).weak());
        return;
    }
    clock::choose(ui, cx, out);
    for notice in notices(job) {
        wrapped(ui, RichText::new(notice).color(cx.palette.warning));
    }
    ui.add_space(4.0);
    let copied = filter_bar(ui, &mut cache.filter, "ranks", None, false);
    let shown = Shown { token: cx.revision, filter: &cache.filter, selection: None, copy: copied.as_ref() };
    heading(ui, "Straggler", "The rank that starts last in most matched collectives, and what that costs the others.");
    wrapped(ui, RichText::new(straggler_text(job)));
    tables::extras(ui, job, &mut cache.extras, shown);
    for line in straggler_advice(job).into_iter().chain(wandering_text(job)) {
        wrapped(ui, RichText::new(line));
    }
    heading(ui, "Ranks", "Every rank of the open files and summaries. A click chooses it.");
    reserved(ui, cx, shown);
    tables::ranks(ui, cx, &mut cache.ranks, shown, out);
    if let Some(text) = unknown_parts_text(job) {
        shown.warn(ui, cx.palette, &text);
    }
    if job.ranks.len() > 1 {
        heading(ui, "Matched collectives", "The k-th collective of a communicator on one rank is the k-th on another.");
        remark(ui, &matched_text(job));
        reserved(ui, cx, shown);
        tables::groups(ui, cx, &mut cache.groups, shown, out);
        matrix::show(ui, cx, &mut cache.pairs, shown);
    }
    clock::files(ui, cx, &mut cache.files, shown);
    if !job.refused.is_empty() {
        heading(ui, "Not paired", "A wrong pair is worse than none, so groups whose members do not fit are left out.");
        for refusal in job.refused.iter().take(REFUSED) {
            wrapped(ui, RichText::new(refusal_text(job, refusal)).small());
        }
        if job.refused.len() > REFUSED {
            remark(ui, &format!("{} groups in all.", format::count(job.refused.len() as u64)));
        }
    }
    if let Some(copied) = copied {
        copied.finish(ui);
    }
}

/// What stands above tables of who waited or was last while the clock does not tell that.
fn reserved(ui: &mut Ui, cx: &Cx<'_>, shown: Shown<'_>) {
    let job = &cx.workspace.job;
    if let Some(text) = reservation(job).filter(|_| job.waits.matched > 0) {
        shown.warn(ui, cx.palette, &text);
    }
}

fn wrapped(ui: &mut Ui, text: RichText) {
    ui.add(Label::new(text).wrap().selectable(true));
}
