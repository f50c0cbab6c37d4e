//! Communication.

use crate::app::cx::Cx;
use crate::view::Command;
use egui::Ui;

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct CommunicationCache {}

/// Draws the panel.
pub fn show(ui: &mut Ui, _cx: &Cx<'_>, _cache: &mut CommunicationCache, _out: &mut Vec<Command>) {
    ui.label("");
}
