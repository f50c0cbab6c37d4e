//! The row above the timeline: menus, history, the step in view, switches.

use super::cx::{Cx, toggle};
use super::icons::{self, Icon};
use super::menu;
use crate::format;
use crate::view::{Command, Theme};
use egui::{Align, Layout, RichText, Ui};

/// Draws the row.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        ui.scope(|ui| {
            ui.set_max_width(140.0);
            menu::show(ui, cx, out);
        });
        if !cx.workspace.docs.is_empty() {
            ui.separator();
            history(ui, cx, out);
            step(ui, cx, out);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| switches(ui, cx, out));
    });
}

fn history(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let history = &cx.view.history;
    if icons::button(ui, history.can_go_back(), Icon::Back, "Back", "Back to the view before (Backspace)").clicked() {
        out.push(Command::Back);
    }
    if icons::button(ui, history.can_go_forward(), Icon::Forward, "Forward", "Forward again (Shift+Backspace)")
        .clicked()
    {
        out.push(Command::Forward);
    }
    if ui.button("Whole capture").on_hover_text("Show everything (0 or Home)").clicked() {
        out.push(Command::ShowAll);
    }
}

fn step(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else { return };
    let (Some(steps), Some(at)) = (chosen.steps(), chosen.step_in_view(cx.view)) else { return };
    let Some(step) = steps.steps.get(at) else { return };
    ui.separator();
    if icons::button(ui, at > 0, Icon::Previous, "Previous step", "Previous step ([)").clicked() {
        out.push(Command::PreviousStep);
    }
    let name = format::one_line(&step.name, 28);
    let response = ui.button(name).on_hover_text("Show the step in the middle of the view");
    if response.clicked() {
        out.push(Command::ShowStep(chosen.id, at as u32));
    }
    if icons::button(ui, at + 1 < steps.steps.len(), Icon::Next, "Next step", "Next step (])").clicked() {
        out.push(Command::NextStep);
    }
    let place = format!(
        "{}  ·  {} of {}",
        format::duration(step.window.len_ns()),
        format::count(at as u64 + 1),
        format::count(steps.steps.len() as u64)
    );
    ui.label(RichText::new(place).weak()).on_hover_text("Window of the step in the middle of the view");
}

/// From right to left.
fn switches(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let (sign, other, name) = match cx.view.theme {
        Theme::Dark => (Icon::Sun, Theme::Light, "Light theme"),
        Theme::Light => (Icon::Moon, Theme::Dark, "Dark theme"),
    };
    if icons::button(ui, true, sign, name, name).clicked() {
        out.push(Command::SetTheme(other));
    }
    if cx.workspace.docs.is_empty() {
        return;
    }
    toggle(ui, cx.settings.side, "Side panel", "Overview, steps and capture facts", Command::ToggleSidePanel, out);
    toggle(ui, cx.settings.details, "Details", "Everything about the selection", Command::ToggleDetails, out);
    toggle(ui, cx.view.nvtx, "NVTX", "NVTX rows (N)", Command::ToggleNvtx, out);
    let tip = "Idle gaps and exposed communication as marks of their own (M)";
    toggle(ui, cx.view.marks, "Marks", tip, Command::ToggleMarks, out);
}
