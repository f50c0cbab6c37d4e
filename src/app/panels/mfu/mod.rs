//! MFU and HFU, where the rest went, and the settings they rest on.

mod answer;
mod charts;
mod conventions;
mod form;

use crate::app::cx::Cx;
use crate::view::Command;
use egui::Ui;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct MfuCache {
    form: form::Form,
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut MfuCache, out: &mut Vec<Command>) {
    let mfu = &cx.workspace.mfu;
    answer::headline(ui, cx, mfu);
    answer::remarks(ui, cx, mfu);
    // What is asked for comes before what follows from it.
    if mfu.mfu.is_none() {
        form::show(ui, cx, &mut cache.form, out);
    }
    if mfu.has_experiment {
        answer::table(ui, mfu);
        charts::per_step(ui, cx, mfu, out);
        charts::losses(ui, cx, mfu);
        conventions::show(ui, cx, mfu, out);
    }
    if mfu.mfu.is_some() {
        form::show(ui, cx, &mut cache.form, out);
    }
}
