//! The timeline: lanes of what ran, at any zoom, painted from the model without copying it.
pub mod bench;
mod bins;
pub mod color;
mod ink;
mod rows;
mod slices;

use crate::view::{Command, ViewState, Workspace};

/// What the timeline keeps between frames.
#[derive(Debug, Default)]
pub struct Cache {}

/// Draws the timeline into the available rectangle of `ui` and pushes what the user asks for to `out`.
pub fn show(ui: &mut egui::Ui, workspace: &Workspace, state: &ViewState, cache: &mut Cache, out: &mut Vec<Command>) {
    let _ = (workspace, state, cache, out);
    ui.allocate_space(ui.available_size());
}
