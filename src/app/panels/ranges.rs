//! NVTX ranges and what they ran on the GPU.

use crate::app::cx::Cx;
use crate::view::Command;
use egui::Ui;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct RangesCache {}

/// Draws the panel.
pub fn show(ui: &mut Ui, _cx: &Cx<'_>, _cache: &mut RangesCache, _out: &mut Vec<Command>) {
    ui.label("");
}
