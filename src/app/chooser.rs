//! The list of captures that could be opened: what is known of each, a filter, and which are chosen.

use super::captures::{Captures, Entry};
use super::cx::Cx;
use super::overlays;
use super::panels::grid::{Column, Grid, Shown, remark};
use super::panels::sheet::{Cell, Filter, List, Row, Sheet};
use crate::format;
use crate::view::{Choose, Command};
use egui::{Align2, Button, DragValue, EventFilter, Id, Key, Modifiers, RichText, TextEdit, Ui, WidgetInfo};

/// Widest list, in points.
const WIDTH_PT: f32 = 920.0;
/// Rows that a page key goes on by.
const PAGE: isize = 12;

/// What the list keeps between frames.
#[derive(Debug)]
pub struct Chooser {
    sheet: Sheet,
    filter: Filter,
    /// Every so many.
    nth: usize,
    /// It was drawn in the last frame.
    shown: bool,
}

impl Default for Chooser {
    fn default() -> Self {
        Self { sheet: Sheet::default(), filter: Filter::default(), nth: 8, shown: false }
    }
}

const fn column(name: &'static str, width_pt: f32, tip: &'static str) -> Column {
    Column { name, tip, width_pt, ascending: true }
}

const COLUMNS: [Column; 6] = [
    column("Rank", 64.0, "Labels of its ranks as the summary tells them; without a summary the number in the name"),
    column("Node", 110.0, "Name of the machine"),
    column("Steps", 48.0, "Steps of its first rank, as the summary tells them"),
    column("Median step", 84.0, "Median length of those steps"),
    column("Size", 72.0, "Size of the export on disk; memory needed is of that order"),
    column("State", 106.0, "What is there: the export, its summary, or both"),
];

impl Chooser {
    /// Forgets what was typed.
    pub fn close(&mut self) {
        self.shown = false;
    }

    /// Draws the list over the window.
    pub fn show_over(&mut self, ui: &Ui, cx: &Cx<'_>, captures: &Captures, out: &mut Vec<Command>) {
        overlays::dialog(ui, "chooser", WIDTH_PT, out, |ui, out| {
            let height = (ui.ctx().content_rect().height() - 96.0).clamp(160.0, 720.0);
            ui.set_height(height);
            ui.horizontal(|ui| {
                ui.heading("Choose what to open");
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    if ui.button("Close").clicked() {
                        out.push(Command::Dismiss);
                    }
                });
            });
            ui.add_space(4.0);
            self.show(ui, cx, captures, out);
        });
    }

    /// Draws the list.
    pub fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, captures: &Captures, out: &mut Vec<Command>) {
        remark(ui, &about(cx, captures));
        ui.add_space(6.0);
        self.field(ui, captures, out);
        ui.add_space(4.0);
        self.buttons(ui, captures, out);
        ui.add_space(4.0);
        let row = |at: usize| captures.entries.get(at).map_or_else(Row::default, |entry| row(captures, entry));
        let rows = List::new(captures.entries.len(), row);
        let grid = Grid { id: "captures", name: "File", columns: &COLUMNS, tall: true, name_pt: 160.0 };
        self.filter.text.clone_from(&captures.filter);
        let shown = Shown { token: captures.revision, filter: &self.filter, selection: None, copy: None };
        let room = (ui.available_height() - 34.0).max(60.0);
        let clicked = ui
            .allocate_ui(egui::vec2(ui.available_width(), room), |ui| {
                ui.set_min_height(room);
                grid.show(ui, &mut self.sheet, shown, &rows)
            })
            .inner;
        if let Some(at) = clicked {
            self.sheet.cursor = self.sheet.order().iter().position(|row| *row as usize == at);
            out.push(Command::Choose(Choose::Toggle(at)));
        }
        footer(ui, captures, out);
        self.shown = true;
    }

    /// The field of the filter. While the keyboard is in it, arrows move in the list below and Enter ticks.
    fn field(&mut self, ui: &mut Ui, captures: &Captures, out: &mut Vec<Command>) {
        let id = Id::unique("chooser filter");
        // A click on a row takes the keyboard out of the field and gives it to nothing else.
        if ui.memory(|memory| memory.focused().is_none_or(|focused| focused == id)) {
            self.keys(ui, out);
        }
        let mut text = captures.filter.clone();
        let keys = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        let edit = TextEdit::singleline(&mut text)
            .id(id)
            .desired_width(f32::INFINITY)
            .hint_text("Filter by file, rank, node or state")
            .event_filter(keys)
            .return_key(None)
            .align(Align2::LEFT_CENTER);
        let response = ui.add(edit);
        response.widget_info(|| {
            let mut info = WidgetInfo::text_edit(true, &captures.filter, &text, "");
            info.label = Some("Filter captures".to_owned());
            info
        });
        if !self.shown {
            response.request_focus();
        }
        if text != captures.filter {
            self.sheet.cursor = None;
            out.push(Command::Choose(Choose::Filter(text)));
        }
    }

    fn keys(&mut self, ui: &Ui, out: &mut Vec<Command>) {
        let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        let last = self.sheet.order().len().saturating_sub(1);
        for (key, by) in [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::PageDown, PAGE), (Key::PageUp, -PAGE)] {
            if pressed(Modifiers::NONE, key) {
                let next = self.sheet.cursor.map_or(0, |at| at.saturating_add_signed(by));
                self.sheet.cursor = Some(next.min(last));
                self.sheet.follow_cursor = true;
            }
        }
        if pressed(Modifiers::COMMAND, Key::Enter) {
            out.push(Command::OpenChosen);
        }
        if pressed(Modifiers::NONE, Key::Enter)
            && let Some(at) = self.sheet.cursor.and_then(|cursor| self.sheet.order().get(cursor))
        {
            out.push(Command::Choose(Choose::Toggle(*at as usize)));
        }
    }

    fn buttons(&mut self, ui: &mut Ui, captures: &Captures, out: &mut Vec<Command>) {
        ui.horizontal_wrapped(|ui| {
            let mut choose = |ui: &mut Ui, text: &str, tip: &str, choose: Choose| {
                if ui.button(text).on_hover_text(tip).clicked() {
                    out.push(Command::Choose(choose));
                }
            };
            choose(ui, "All", "Choose all that are listed below", Choose::All);
            choose(ui, "None", "Choose none of those listed below", Choose::None);
            let nodes = captures.entries.iter().any(|entry| entry.node().is_some());
            ui.add_enabled_ui(nodes, |ui| {
                choose(ui, "First of each node", "One export of each machine", Choose::FirstOfEachNode);
            });
            ui.separator();
            choose(ui, "Every", "Choose the first and every so many after it", Choose::EveryNth(self.nth));
            ui.add(DragValue::new(&mut self.nth).range(1..=4096).prefix("n = "));
        });
    }
}

/// What is listed, in a sentence or two.
fn about(cx: &Cx<'_>, captures: &Captures) -> String {
    let count = format::counted(captures.entries.len() as u64, "capture", "captures");
    let summaries = captures.entries.iter().filter(|entry| entry.summary.is_some()).count();
    let mut text = match summaries {
        0 => format!("{count} found. Nothing is read before you choose."),
        _ => format!(
            "{count} found. {} open, with {} in the job; exports are read only when you choose them.",
            format::counted(summaries as u64, "summary is", "summaries are"),
            format::counted(cx.workspace.job.ranks.len() as u64, "rank", "ranks"),
        ),
    };
    if captures.left_out > 0 {
        let more = format::counted(captures.left_out as u64, "more is", "more are");
        text.push_str(&format!(" {more} in the folder and not listed: open a part of it."));
    }
    text
}

fn row(captures: &Captures, entry: &Entry) -> Row {
    let ranks = entry.ranks();
    let number = ranks.split(',').next().and_then(|label| label.trim().parse::<f64>().ok());
    let rank = Cell { text: known(ranks), number };
    let node = entry.node().map(|node| format::one_line(node, 60)).unwrap_or_default();
    let steps = entry.steps().map(|steps| steps as f64);
    let state = if captures.is_open(entry) { "open" } else { entry.state() };
    let median_ns = entry.median_step_ns();
    let file = entry.file();
    let can_open = captures.can_open(entry);
    let path = entry.export.as_ref().or(entry.summary_file.as_ref());
    Row {
        full: path.map(|path| path.display().to_string()).unwrap_or_default(),
        cells: vec![
            rank,
            Cell::text(known(node)),
            Cell::maybe(steps.map_or_else(|| known(String::new()), |steps| format::count(steps as u64)), steps),
            Cell::maybe(format::duration_or_unknown(median_ns), median_ns.map(|ns| ns as f64)),
            Cell::number(format::bytes(entry.bytes), entry.bytes as f64),
            Cell::text(state.to_owned()),
        ],
        note: if can_open { String::new() } else { why_not(captures, entry).to_owned() },
        action: if can_open { format!("Choose {file}") } else { String::new() },
        tick: can_open.then(|| captures.is_chosen(entry)),
        name: file,
        ..Row::default()
    }
}

fn why_not(captures: &Captures, entry: &Entry) -> &'static str {
    if captures.is_open(entry) {
        "It is open."
    } else {
        "Its export is neither beside the summary nor where it was when it was summarized."
    }
}

fn known(text: String) -> String {
    if text.is_empty() { format::UNKNOWN.to_owned() } else { text }
}

/// What is chosen, and the button that opens it.
fn footer(ui: &mut Ui, captures: &Captures, out: &mut Vec<Command>) {
    let (chosen, bytes) = captures.chosen();
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        let mut text = format!("Open {}", format::counted(chosen.len() as u64, "export", "exports"));
        match captures.chosen_hidden() as u64 {
            0 => {}
            hidden if hidden < chosen.len() as u64 => {
                text.push_str(&format!(", {} of them hidden by the filter", format::count(hidden)));
            }
            _ => text.push_str(", hidden by the filter"),
        }
        if ui.add_enabled(!chosen.is_empty(), Button::new(text).selected(!chosen.is_empty())).clicked() {
            out.push(Command::OpenChosen);
        }
        if !chosen.is_empty() {
            let tip = "Size on disk of what is chosen; memory needed is of that order";
            ui.label(RichText::new(format!("{} on disk", format::bytes(bytes))).weak()).on_hover_text(tip);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(RichText::new("Up and Down move, Enter chooses, Ctrl+Enter opens").small().weak());
        });
    });
}
