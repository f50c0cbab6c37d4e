//! The row above the timeline: menus, history, the step in view, switches.

use super::cx::{Cx, toggle};
use super::icons::{self, Icon};
use super::keys;
use super::menu;
use crate::format;
use crate::view::{Command, CompareCommand, CompareForm, Theme};
use egui::{Align, Layout, RichText, Ui};

/// Widths of the window, in points, from which parts of the row are shown; below, they are in the menus only.
const PLACE_FROM_PT: f32 = 980.0;
const WHOLE_FROM_PT: f32 = 830.0;
const STEP_FROM_PT: f32 = 710.0;
const SWITCHES_FROM_PT: f32 = 540.0;

/// Draws the row.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let width = ui.available_width();
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        ui.scope(|ui| {
            ui.set_max_width(140.0);
            menu::show(ui, cx, out);
        });
        if !cx.workspace.docs.is_empty() {
            ui.separator();
            history(ui, cx, width >= WHOLE_FROM_PT, out);
            if width >= STEP_FROM_PT {
                step(ui, cx, width >= PLACE_FROM_PT, out);
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| switches(ui, cx, width >= SWITCHES_FROM_PT, out));
    });
}

fn history(ui: &mut Ui, cx: &Cx<'_>, whole: bool, out: &mut Vec<Command>) {
    let history = &cx.view.history;
    let back = icons::button(ui, history.can_go_back(), Icon::Back, "Back", "Back to the view before (Backspace)");
    if back.clicked() {
        out.push(Command::Back);
    }
    let tip = "Forward again (Shift+Backspace)";
    if icons::button(ui, history.can_go_forward(), Icon::Forward, "Forward", tip).clicked() {
        out.push(Command::Forward);
    }
    if whole && ui.button("Whole capture").on_hover_text("Show everything (0 or Home)").clicked() {
        out.push(Command::ShowAll);
    }
}

fn step(ui: &mut Ui, cx: &Cx<'_>, place: bool, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else { return };
    let (Some(steps), Some(middle)) = (chosen.steps(), chosen.step_in_view(cx.view)) else { return };
    let at = cx.view.selected_step(chosen.id, cx.workspace).unwrap_or(middle);
    let count = steps.steps.len();
    ui.separator();
    if icons::button(ui, at > 0, Icon::Previous, "Previous step", "Previous step ([)").clicked() {
        out.push(Command::PreviousStep);
    }
    let meant = chosen.step_meant(cx.view, cx.workspace).and_then(|at| Some((at, steps.steps.get(at)?)));
    if let Some((at, step)) = meant {
        if ui.button(format::one_line(&step.name, 20)).on_hover_text("Show this step alone").clicked() {
            out.push(Command::ShowStep(chosen.id, at as u32));
        }
    } else {
        let text = format::counted(count as u64, "step", "steps");
        ui.label(text).on_hover_text("Steps of the rank. Zoom in or select one to see its name.");
    }
    if icons::button(ui, at + 1 < count, Icon::Next, "Next step", "Next step (])").clicked() {
        out.push(Command::NextStep);
    }
    if place {
        let (text, tip) = match meant {
            Some((at, step)) => {
                let length = format::duration(step.window.len_ns());
                let place = format!("{} of {}", format::count(at as u64 + 1), format::count(count as u64));
                (format!("{length}  ·  {place}"), "Window of the step, and its place among the rank's steps")
            }
            None => {
                let tip = "Median window of the steps that are neither warm-up nor cut";
                (format!("median {}", format::duration(steps.typical.median_span_ns)), tip)
            }
        };
        ui.label(RichText::new(text).weak()).on_hover_text(tip);
    }
}

/// From right to left.
fn switches(ui: &mut Ui, cx: &Cx<'_>, all: bool, out: &mut Vec<Command>) {
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
    if icons::button(ui, true, Icon::Search, "Search", &format!("Search ({})", keys::text_of(&Command::OpenSearch)))
        .clicked()
    {
        out.push(Command::OpenSearch);
    }
    toggle(ui, cx.settings.side, "Side panel", "Overview, steps and capture facts", Command::ToggleSidePanel, out);
    if !all {
        return;
    }
    toggle(ui, cx.settings.details, "Details", "Everything about the selection", Command::ToggleDetails, out);
    toggle(ui, cx.view.nvtx, "NVTX", "NVTX rows (N)", Command::ToggleNvtx, out);
    let tip = "Idle gaps and exposed communication as marks of their own (M)";
    toggle(ui, cx.view.marks, "Marks", tip, Command::ToggleMarks, out);
    if cx.workspace.ranks().nth(1).is_some() {
        let on = cx.view.compare.is_some();
        let to = (!on).then_some(CompareForm::default());
        let tip = "Two ranks beside each other (B goes through the forms)";
        toggle(ui, on, "Compare", tip, Command::Compare(CompareCommand::Show(to)), out);
    }
}
