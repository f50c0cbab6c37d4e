//! What the window shows when nothing is open.

use super::cx::Cx;
use super::icon;
use super::state::recent_names;
use crate::view::Command;
use egui::{Button, RichText, Ui, vec2};

/// Recent files shown.
const RECENT: usize = 6;

/// Draws the screen.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let recent = cx.settings.recent.len().min(RECENT);
    let height = 240.0 + 26.0 * recent as f32;
    ui.vertical_centered(|ui| {
        ui.add_space(((ui.available_height() - height) / 2.0).max(8.0));
        let (rect, _) = ui.allocate_exact_size(vec2(64.0, 64.0), egui::Sense::hover());
        icon::paint(ui.painter(), rect);
        ui.add_space(12.0);
        ui.heading("See where the training step went");
        ui.add_space(4.0);
        ui.label(RichText::new("Drop SQLite exports of Nsight Systems here: one per rank, or several at once.").weak());
        ui.add_space(16.0);
        ui.allocate_ui(vec2(248.0, 32.0), |ui| {
            ui.horizontal(|ui| {
                if ui.add(Button::new("Open files…").min_size(vec2(120.0, 32.0)).selected(true)).clicked() {
                    out.push(Command::OpenDialog);
                }
                if ui.add(Button::new("Open demo").min_size(vec2(120.0, 32.0))).clicked() {
                    out.push(Command::OpenDemo);
                }
            });
        });
        ui.add_space(16.0);
        if ui.link("No export yet? How to record a capture").clicked() {
            out.push(Command::ToggleRecording);
        }
        if recent > 0 {
            ui.add_space(16.0);
            ui.label(RichText::new("Recent files").small().weak());
            for (path, name) in cx.settings.recent.iter().zip(recent_names(&cx.settings.recent)).take(RECENT) {
                let response = ui.link(name).on_hover_text(path.display().to_string());
                if response.clicked() {
                    out.push(Command::Open(vec![path.clone()]));
                }
            }
        }
    });
}
