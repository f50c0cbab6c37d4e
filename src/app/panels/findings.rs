//! What loses time, ranked by what could be won back.

use crate::app::cx::Cx;
use crate::view::Command;
use egui::Ui;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct FindingsCache {}

/// Draws the panel.
pub fn show(ui: &mut Ui, _cx: &Cx<'_>, _cache: &mut FindingsCache, _out: &mut Vec<Command>) {
    ui.label("");
}
