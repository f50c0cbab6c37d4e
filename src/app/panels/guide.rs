//! The workflow as a checklist, and how to record.

use crate::app::cx::Cx;
use crate::view::Command;
use egui::Ui;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct GuideCache {}

/// Draws the panel.
pub fn show(ui: &mut Ui, _cx: &Cx<'_>, _cache: &mut GuideCache, _out: &mut Vec<Command>) {
    ui.label("");
}
