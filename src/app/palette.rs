//! The list of all commands: type some letters, choose, run.

use super::actions::{self, Action};
use super::cx::Cx;
use super::overlays;
use crate::view::shortcuts::Chord;
use crate::view::{Command, fuzzy};
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align, Align2, EventFilter, Id, Key, Label, Layout, Modifiers, RichText, Role, ScrollArea, Sense, TextEdit,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};
use std::cmp::Reverse;

/// What the list keeps while it is open.
#[derive(Debug, Default)]
pub struct Palette {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    actions: Vec<Action>,
    typed: String,
    /// Actions that answer what is typed, best first.
    found: Vec<usize>,
    chosen: usize,
    /// Whether the chosen row has to be brought into sight.
    follow: bool,
}

/// Width of the list and height of its rows, in points, and how many of them are seen at once.
const WIDTH_PT: f32 = 560.0;
const ROW_PT: f32 = 26.0;
const ROWS: usize = 12;

impl Open {
    fn new(cx: &Cx<'_>) -> Self {
        let mut actions = actions::all(cx);
        // The list itself is open already.
        actions.retain(|action| action.commands != [Command::TogglePalette]);
        let mut open = Self { actions, typed: String::new(), found: Vec::new(), chosen: 0, follow: true };
        open.find(&cx.settings.recalled);
        open
    }

    /// Finds what is typed: the best answers first, those run last first among equals.
    fn find(&mut self, recalled: &[String]) {
        let age = |name: &str| recalled.iter().position(|known| known == name).unwrap_or(usize::MAX);
        let scored = self.actions.iter().enumerate().filter_map(|(at, action)| {
            let score = if self.typed.trim().is_empty() { 0 } else { fuzzy::score(&self.typed, &action.name)? };
            Some((Reverse(score), age(&action.name), at))
        });
        let mut scored: Vec<(Reverse<i32>, usize, usize)> = scored.collect();
        scored.sort_unstable();
        self.found = scored.into_iter().map(|(.., at)| at).collect();
        (self.chosen, self.follow) = (0, true);
    }

    fn action(&self, at: usize) -> Option<&Action> {
        self.actions.get(*self.found.get(at)?)
    }

    fn step(&mut self, by: isize) {
        let last = self.found.len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
        self.follow = true;
    }
}

impl Palette {
    /// Forgets what was typed; the list is built anew when it opens again.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Draws the list over the window.
    pub fn show(&mut self, ui: &Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
        let open = self.open.get_or_insert_with(|| Open::new(cx));
        overlays::dialog(ui, "palette", WIDTH_PT, out, |ui, out| {
            let entered = field(ui, cx, open);
            ui.add_space(8.0);
            let clicked = list(ui, cx, open);
            let run = clicked.or(entered.then_some(open.chosen)).and_then(|at| open.action(at));
            if let Some(action) = run.filter(|action| action.why_not(cx.view, cx.workspace).is_none()) {
                out.extend([Command::Dismiss, Command::Recall(action.name.clone())]);
                out.extend(action.commands.iter().cloned());
            }
        });
    }
}

/// The field; true when the chosen command is to be run.
fn field(ui: &mut Ui, cx: &Cx<'_>, open: &mut Open) -> bool {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    for (key, by) in
        [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::PageDown, ROWS as isize), (Key::PageUp, -(ROWS as isize))]
    {
        if pressed(key) {
            open.step(by);
        }
    }
    let entered = pressed(Key::Enter);
    let keys = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    let before = open.typed.clone();
    let edit = TextEdit::singleline(&mut open.typed)
        .id(Id::unique("palette field"))
        .desired_width(f32::INFINITY)
        .hint_text("Command")
        .event_filter(keys)
        .return_key(None)
        .align(Align2::LEFT_CENTER);
    let response = ui.add(edit);
    response.widget_info(|| {
        let mut info = WidgetInfo::text_edit(true, &before, &open.typed, "");
        info.label = Some("Command".to_owned());
        info
    });
    if !response.has_focus() && !response.lost_focus() {
        response.request_focus();
    }
    if open.typed != before {
        open.find(&cx.settings.recalled);
    }
    entered
}

/// The commands found; the result is the one that was clicked.
fn list(ui: &mut Ui, cx: &Cx<'_>, open: &mut Open) -> Option<usize> {
    let list_pt = list_pt(ui);
    if open.found.is_empty() {
        let text = format!("No command is called “{}”.", open.typed.trim());
        ui.allocate_ui_with_layout(vec2(ui.available_width(), list_pt), Layout::top_down(Align::Min), |ui| {
            ui.set_min_height(list_pt);
            ui.add(Label::new(RichText::new(text).weak()).wrap());
        });
        return None;
    }
    let mut clicked = None;
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut area = ScrollArea::vertical().max_height(list_pt).min_scrolled_height(list_pt).auto_shrink(false);
    if std::mem::take(&mut open.follow) {
        // In the middle, so that what comes before and after is seen too.
        let above_pt = list_pt / 2.0;
        area = area.vertical_scroll_offset((ROW_PT * open.chosen as f32 - above_pt).max(0.0));
    }
    area.show_rows(ui, ROW_PT, open.found.len(), |ui, rows| {
        for at in rows {
            if let Some(action) = open.action(at)
                && row(ui, cx, action, at == open.chosen)
            {
                clicked = Some(at);
            }
        }
    });
    clicked
}

/// Height of the list: the same for any number of commands, less in a low window.
fn list_pt(ui: &Ui) -> f32 {
    (ui.max_rect().bottom() - ui.cursor().top()).clamp(3.0 * ROW_PT, ROW_PT * ROWS as f32)
}

/// A command with its key, or why it does nothing now; true when it was clicked.
fn row(ui: &mut Ui, cx: &Cx<'_>, action: &Action, chosen: bool) -> bool {
    let why_not = action.why_not(cx.view, cx.workspace);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_PT), Sense::click());
    let name = match why_not {
        Some(reason) => format!("{}: {reason}", action.name),
        None => action.name.clone(),
    };
    response.widget_info(|| WidgetInfo::selected(Role::Button, why_not.is_none(), chosen, &name));
    if chosen {
        ui.painter().rect_filled(rect, 4.0, ui.visuals().selection.bg_fill);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 4.0, ui.visuals().widgets.hovered.weak_bg_fill);
    }
    let color = if why_not.is_some() { cx.palette.text_dim } else { cx.palette.text };
    let side = why_not.map_or_else(|| action.chord.map(Chord::text).unwrap_or_default(), str::to_owned);
    // Painted, so that what is read out is one thing and not three.
    let inside = rect.shrink2(vec2(8.0, 0.0));
    let mut right = inside.right();
    if !side.is_empty() {
        let color = if chosen { color } else { cx.palette.text_dim };
        let galley = ui.painter().layout_no_wrap(side, TextStyle::Small.resolve(ui.style()), color);
        right -= galley.size().x;
        ui.painter().galley(pos2(right, rect.center().y - galley.size().y / 2.0), galley, color);
    }
    let mut job = LayoutJob::simple_singleline(action.name.clone(), TextStyle::Body.resolve(ui.style()), color);
    job.wrap = TextWrapping::truncate_at_width((right - inside.left() - 12.0).max(1.0));
    let galley = ui.painter().layout_job(job);
    ui.painter().galley(pos2(inside.left(), rect.center().y - galley.size().y / 2.0), galley, color);
    response.clicked()
}
