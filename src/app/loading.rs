//! Files being opened: the loading screen, and the small list when something is open already.

use super::load::{Job, Jobs, Snapshot};
use crate::format;
use crate::timeline::color::Palette;
use crate::view::Command;
use egui::{Align2, Area, Frame, Id, Order, ProgressBar, RichText, Role, ScrollArea, Ui, WidgetInfo, vec2};

/// Width of a progress bar in points.
const BAR_PT: f32 = 420.0;
/// Files told one by one in the corner.
const IN_CORNER: usize = 5;

/// Draws the screen shown while nothing is open yet.
pub fn screen(ui: &mut Ui, jobs: &Jobs, out: &mut Vec<Command>) {
    let count = jobs.running().count();
    let height = (count as f32 * 64.0 + 96.0).min(ui.available_height());
    ui.vertical_centered(|ui| {
        ui.add_space(((ui.available_height() - height) / 2.0).max(8.0));
        ui.heading(if count == 1 { "Opening a file" } else { "Opening files" });
        ui.add_space(12.0);
        ScrollArea::vertical().max_height((ui.available_height() - 64.0).max(64.0)).show(ui, |ui| {
            for job in jobs.running() {
                progress(ui, job, BAR_PT.min(ui.available_width()));
                ui.add_space(8.0);
            }
        });
        if ui.button("Cancel").clicked() {
            out.push(Command::CancelLoad);
        }
    });
}

/// What is told while folders are looked into: there is no telling how far that is.
const FOLDER: &str = "Looking into the folder and reading summaries";

/// Draws the screen shown while folders are looked into and nothing is open yet.
pub fn folder_screen(ui: &mut Ui, out: &mut Vec<Command>) {
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() / 2.0 - 48.0).max(8.0));
        ui.heading("Opening");
        ui.add_space(12.0);
        ui.label(RichText::new(FOLDER).weak());
        ui.add_space(12.0);
        if ui.button("Cancel").clicked() {
            out.push(Command::CancelLoad);
        }
    });
}

/// Tells in a corner that folders are looked into while something is open.
pub fn folder_corner(ui: &Ui, out: &mut Vec<Command>) {
    corner_area(ui, |ui| {
        ui.label(FOLDER);
        if ui.button("Cancel").clicked() {
            out.push(Command::CancelLoad);
        }
    });
}

fn corner_area(ui: &Ui, add: impl FnOnce(&mut Ui)) {
    let area =
        Area::new(Id::unique("loading")).order(Order::Foreground).anchor(Align2::RIGHT_BOTTOM, vec2(-16.0, -40.0));
    area.show(ui.ctx(), |ui| Frame::window(ui.style()).show(ui, add));
}

/// Draws the list in a corner while something else is open.
pub fn corner(ui: &Ui, jobs: &Jobs, out: &mut Vec<Command>) {
    corner_area(ui, |ui| {
        // Many files are told by how many they are.
        for job in jobs.running().filter(|job| !job.is_done()).take(IN_CORNER) {
            progress(ui, job, 280.0);
        }
        let more = jobs.running().filter(|job| !job.is_done()).count().saturating_sub(IN_CORNER);
        if more > 0 {
            let text = format::counted(more as u64, "more file waits", "more files wait");
            ui.label(RichText::new(text).weak());
        }
        if ui.button("Cancel").clicked() {
            out.push(Command::CancelLoad);
        }
    });
}

fn progress(ui: &mut Ui, job: &Job, width: f32) {
    let now = job.watch.snapshot();
    ui.label(RichText::new(job.what.label()).strong());
    let share = if job.is_done() { Some(1.0) } else { now.share };
    let bar = ProgressBar::new(share.unwrap_or(0.0)).desired_width(width).desired_height(8.0).corner_radius(4);
    ui.scope(|ui| {
        let track = ui.visuals().widgets.hovered.bg_fill;
        ui.visuals_mut().extreme_bg_color = track;
        let response = ui.add(bar);
        let name = format!("Loading {}", job.what.label());
        response.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, &name));
    });
    ui.label(RichText::new(describe(&now, job.is_done())).small().weak());
}

fn describe(now: &Snapshot, done: bool) -> String {
    if done {
        return "Ready".to_owned();
    }
    let mut parts = Vec::new();
    if !now.stage.is_empty() {
        parts.push(now.stage.clone());
    }
    if now.rows_total > 0 {
        parts.push(format!(
            "{} of {} rows",
            format::count(now.rows_done.min(now.rows_total)),
            format::count(now.rows_total)
        ));
    }
    if now.file_bytes > 0 {
        parts.push(format::bytes(now.file_bytes));
    }
    if parts.is_empty() { "Waiting for its turn…".to_owned() } else { parts.join("  ·  ") }
}

/// Draws what is shown while files hang over the window.
pub fn drop_target(ui: &Ui, palette: &Palette, files: usize) {
    let painter = ui.ctx().layer_painter(egui::LayerId::new(Order::Foreground, Id::unique("drop")));
    let rect = ui.ctx().content_rect();
    painter.rect_filled(rect, 0.0, palette.background.gamma_multiply(0.85));
    let frame = rect.shrink(16.0);
    painter.rect_stroke(frame, 8.0, egui::Stroke::new(2.0, palette.accent), egui::StrokeKind::Inside);
    let text = if files == 1 { "Drop to open the file".to_owned() } else { format!("Drop to open {files} files") };
    let font = egui::FontId::proportional(super::theme::TITLE_PT);
    painter.text(rect.center(), Align2::CENTER_CENTER, text, font, palette.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_tells_only_what_is_known() {
        assert_eq!(describe(&Snapshot::default(), false), "Waiting for its turn…");
        let now = Snapshot { rows_done: 5, rows_total: 1000, stage: "kernels".to_owned(), ..Snapshot::default() };
        assert_eq!(describe(&now, false), "kernels  ·  5 of 1\u{2009}000 rows");
        assert_eq!(describe(&now, true), "Ready");
    }
}
