//! The status bar: the clock in force, the visible span, hints, warnings.

use super::capture::warning_count;
use super::cx::Cx;
use super::icons::{self, Icon};
use crate::format;
use crate::job::ClockMode;
use crate::report::compare;
use crate::timeline;
use crate::view::{Axis, Command, Panel, ViewState, Workspace};
use egui::{Align, Layout, RichText, Ui};

const HINT: &str =
    "Wheel zooms at the pointer, drag moves, Shift+drag measures a span, right-drag zooms into it, ? lists all keys";
const RENEWING: &str = "Computing anew; until then the numbers are those of before";

/// Narrower windows, in points, have room for the beginning of what there is to say of the clock.
const NARROW_PT: f32 = 900.0;
/// Characters of it there, and elsewhere.
const SHORT_CHARS: usize = 24;
const LONG_CHARS: usize = 90;

/// Draws the bar. `renewing` while the numbers are those from before the settings, files or clock in force.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, renewing: bool, out: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.set_min_height(20.0);
        let left = match renewing {
            _ if cx.workspace.docs.is_empty() => RichText::new(""),
            true => RichText::new(RENEWING).small().color(cx.palette.accent),
            false => RichText::new(HINT).small().weak(),
        };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if !cx.workspace.docs.is_empty() {
                view(ui, cx, out);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(left).truncate());
            });
        });
    });
}

/// From right to left.
fn view(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let tip =
        format!("Visible span: its length and where it starts. {}", timeline::clock::about(cx.workspace, cx.view));
    ui.label(RichText::new(visible_text(cx.workspace, cx.view)).small()).on_hover_text(tip);
    if cx.view.axis != Axis::Capture {
        ui.separator();
        let name = timeline::clock::name(cx.workspace, cx.view);
        let response = ui.label(RichText::new(format!("Time: {name}")).small().weak());
        response.on_hover_text(timeline::clock::about(cx.workspace, cx.view));
    }
    if cx.workspace.job.exports.len() > 1 {
        ui.separator();
        clock(ui, cx, out);
    }
    let warnings = warning_count(cx);
    if warnings > 0 {
        ui.separator();
        let text = format::counted(warnings, "warning", "warnings");
        let response = ui.link(RichText::new(text).small().color(cx.palette.warning));
        if response.on_hover_text("What was odd about the file").clicked() {
            out.push(Command::ShowPanel(Panel::Capture));
            if !cx.settings.side {
                out.push(Command::ToggleSidePanel);
            }
        }
        icons::show(ui, Icon::Warning, cx.palette.warning);
    }
    ui.separator();
}

/// Length and start of what is on screen.
pub fn visible_text(workspace: &Workspace, view: &ViewState) -> String {
    let visible = view.viewport.span();
    let start = timeline::clock::rough(workspace, view, visible.start_ns, visible.len_ns());
    format!("{} from {start}", format::duration(visible.len_ns()))
}

/// The clock in force and its uncertainty; a click chooses another.
fn clock(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    let notices = compare::notices(job);
    let shift = compare::shift_text(job).map_or_else(String::new, |shift| format!("; {shift}"));
    let full = format!("Clock: {}{shift}", compare::clock_text(job));
    let is_narrow = ui.ctx().content_rect().width() < NARROW_PT;
    let text = RichText::new(format::one_line(&full, if is_narrow { SHORT_CHARS } else { LONG_CHARS })).small();
    let text = if notices.is_empty() { text.weak() } else { text.color(cx.palette.warning) };
    let response = ui.menu_button(text, |ui| clock_menu(ui, cx, out)).response;
    let mut tip = format!("What puts the files on one axis, and how far off that may be.\n{full}");
    notices.iter().for_each(|notice| tip.push_str(&format!("\n{notice}")));
    response.on_hover_text(tip);
}

/// All clocks, the chosen one marked.
pub fn clock_menu(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    for mode in ClockMode::ALL {
        let chosen = cx.workspace.options.clock == mode;
        let entry = ui.radio(chosen, format::capitalized(compare::mode_text(mode)));
        if entry.on_hover_text(compare::mode_help(mode)).clicked() {
            out.push(Command::SetClock(mode));
            ui.close();
        }
    }
    super::menu::entry(ui, cx, "Align at the selected item", Command::AlignHere(None), out);
    super::menu::entry(ui, cx, "Take back shifts", Command::ResetShifts, out);
}
