//! MFU and HFU, and the experiment they rest on.

use crate::app::cx::Cx;
use crate::view::Command;
use egui::Ui;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct MfuCache {}

/// Draws the panel.
pub fn show(ui: &mut Ui, _cx: &Cx<'_>, _cache: &mut MfuCache, _out: &mut Vec<Command>) {
    ui.label("");
}
