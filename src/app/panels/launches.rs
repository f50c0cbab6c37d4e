//! Launch latency, queue depth and API calls.

use crate::app::cx::Cx;
use crate::view::Command;
use egui::Ui;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct LaunchesCache {}

/// Draws the panel.
pub fn show(ui: &mut Ui, _cx: &Cx<'_>, _cache: &mut LaunchesCache, _out: &mut Vec<Command>) {
    ui.label("");
}
