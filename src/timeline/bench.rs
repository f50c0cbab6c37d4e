//! One frame of the timeline without a window.

use super::Cache;
use crate::view::{ViewState, Workspace};

/// Lays out and tessellates one frame of `size` points; the result is the number of vertices.
pub fn frame(
    ctx: &egui::Context,
    workspace: &Workspace,
    state: &ViewState,
    cache: &mut Cache,
    size: egui::Vec2,
) -> usize {
    let input = egui::RawInput {
        screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size)),
        ..egui::RawInput::default()
    };
    let mut commands = Vec::new();
    let mut output = ctx.run_ui(input, |ui| super::show(ui, workspace, state, cache, &mut commands));
    output.textures_delta.clear();
    ctx.tessellate(output.shapes, output.pixels_per_point)
        .iter()
        .map(|shape| match &shape.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.vertices.len(),
            egui::epaint::Primitive::Callback(_) => 0,
        })
        .sum()
}
