//! The details panel: what is known about the selection, and every field of its row.

use super::capture::copy_button;
use super::counterparts;
use super::cx::{Cx, pair};
use super::facts::Facts;
use super::fetch::{Fetcher, Fields};
use super::same_name;
use super::toast;
use crate::format;
use crate::timeline;
use crate::trace::{Field, Quantity};
use crate::view::{Command, Item};
use egui::{Align, Button, Label, Layout, RichText, ScrollArea, Ui};

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct Details {
    facts: Option<((u64, Item), Option<Facts>)>,
    /// Fetches the fields of rows.
    pub fetcher: Fetcher,
}

/// Width of the column with computed facts.
const FACTS_PT: f32 = 420.0;
/// Width of the column about everything of the same name.
const SAME_PT: f32 = 300.0;
/// Smallest width of a column of fields.
const FIELDS_PT: f32 = 300.0;
/// Longer values, in characters, take the whole width below the columns.
const LONG: usize = 26;

/// Draws the panel's content.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, details: &mut Details, timeline: &mut timeline::Cache, out: &mut Vec<Command>) {
    let Some(item) = cx.view.selected else { return };
    let key = (cx.revision, item);
    if details.facts.as_ref().is_none_or(|(known, _)| *known != key) {
        details.facts = Some((key, Facts::of(item, cx.workspace)));
    }
    let Some((_, Some(facts))) = &details.facts else {
        ui.label(RichText::new("The selected item is not part of what is open.").weak());
        return;
    };
    heading(ui, facts, out);
    let fields = facts.row.and_then(|(doc, row)| {
        let source = &cx.workspace.docs.get(doc)?.trace.details;
        Some(details.fetcher.get((cx.revision, doc, row), source))
    });
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let width = ui.available_width();
        let same = timeline.same_name(ui.ctx(), (cx.workspace, cx.view), item);
        let beside = timeline.beside(cx.workspace, item);
        let has_kin = same.is_some() || !beside.is_empty();
        // What it is compared with: on other ranks, and under its own name.
        let kin_block = |ui: &mut Ui, width: f32, out: &mut Vec<Command>| {
            if !has_kin {
                return;
            }
            ui.set_width(width);
            counterparts::show(ui, cx, item, &beside, out);
            if let Some(same) = &same {
                same_name::show(ui, cx, item, same, out);
            }
            ui.add_space(8.0);
        };
        if width < FACTS_PT + FIELDS_PT {
            facts_column(ui, width, facts);
            ui.add_space(8.0);
            kin_block(ui, width, out);
            fields_block(ui, cx, fields);
            return;
        }
        let three = has_kin && width >= FACTS_PT + SAME_PT + FIELDS_PT + 16.0;
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| facts_column(ui, FACTS_PT, facts));
            ui.add_space(8.0);
            if three {
                ui.vertical(|ui| kin_block(ui, SAME_PT, out));
                ui.add_space(8.0);
            }
            ui.vertical(|ui| {
                if !three {
                    let width = ui.available_width();
                    kin_block(ui, width, out);
                }
                fields_block(ui, cx, fields);
            });
        });
    });
}

fn facts_column(ui: &mut Ui, width: f32, facts: &Facts) {
    ui.set_width(width);
    for fact in &facts.facts {
        pair(ui, 152.0, fact.name, &fact.value);
    }
    // A title that is cut is told in full too, as far as that can be read.
    let cut = Some(&facts.title).filter(|title| title.chars().nth(TITLE_SHOWN).is_some());
    if let Some(name) = facts.full_name.as_ref().or(cut) {
        pair(ui, 152.0, "Full name", &format::one_line(name, SHOWN));
    }
}

/// The row's fields: none for what has no row, on their way, there, or unreadable.
fn fields_block(ui: &mut Ui, cx: &Cx<'_>, fields: Option<Option<&Fields>>) {
    match fields {
        None => {}
        Some(None) => {
            ui.label(RichText::new("Reading the row…").weak());
        }
        Some(Some(Ok(fields))) => fields_table(ui, fields),
        Some(Some(Err(message))) => {
            let text = format!("The row's other fields could not be read: {message}");
            ui.add(Label::new(RichText::new(text).color(cx.palette.warning)).wrap());
        }
    }
}

/// Narrower than this, in points, the buttons stand below the name.
const ONE_LINE_PT: f32 = 560.0;

fn heading(ui: &mut Ui, facts: &Facts, out: &mut Vec<Command>) {
    let narrow = ui.available_width() < ONE_LINE_PT;
    let title = || Label::new(RichText::new(format::one_line(&facts.title, TITLE_SHOWN)).strong()).truncate();
    ui.horizontal(|ui| {
        ui.label(RichText::new(facts.kind).weak());
        if narrow {
            ui.add(title());
            return;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            buttons(ui, facts, out);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(title());
            });
        });
    });
    if narrow {
        ui.horizontal_wrapped(|ui| buttons(ui, facts, out));
    }
    ui.add_space(4.0);
}

fn buttons(ui: &mut Ui, facts: &Facts, out: &mut Vec<Command>) {
    if ui.button("Clear").on_hover_text("Clear the selection (Escape)").clicked() {
        out.push(Command::Select(None));
    }
    if ui.button("Zoom to it").on_hover_text("Show it with some room around it (F)").clicked() {
        out.push(Command::ShowSelection);
    }
    copy_button(ui, "Copy all", &facts.as_text(), "the details");
    copy_button(ui, "Copy name", facts.full_name.as_ref().unwrap_or(&facts.title), "the name");
}

/// Characters of a value that are shown; "Copy row" has them all.
const SHOWN: usize = 2000;
/// Characters of the title that are shown; "Copy name" has them all.
const TITLE_SHOWN: usize = 240;

/// Least width of the names of fields, and the most of their column that they may take.
const FIELD_NAMES_PT: (f32, f32) = (108.0, 0.56);
/// Width of a letter of a name, on the safe side.
const LETTER_PT: f32 = 7.0;

/// Lines of `fields`, the values under each other in a column of `width_pt`.
fn field_lines(ui: &mut Ui, width_pt: f32, fields: &[&Field]) {
    let longest = fields.iter().map(|field| field.name.chars().count()).max().unwrap_or(0);
    let most = (width_pt * FIELD_NAMES_PT.1).max(FIELD_NAMES_PT.0);
    let names_pt = (longest as f32 * LETTER_PT).clamp(FIELD_NAMES_PT.0, most);
    fields.iter().for_each(|field| pair(ui, names_pt, &field.name, &field_text(field)));
}

/// The value as the file holds it; with its unit and in readable size, when the column has one.
fn field_text(field: &Field) -> String {
    match field.quantity {
        None => format::one_line(&field.value, SHOWN),
        Some(Quantity::Nanoseconds(ns)) if ns.unsigned_abs() < 1000 => format!("{} ns", field.value),
        Some(Quantity::Nanoseconds(ns)) => format!("{} ns  ({})", field.value, format::duration(ns)),
        Some(Quantity::Bytes(bytes)) if bytes < 1024 => format!("{} B", field.value),
        Some(Quantity::Bytes(bytes)) => format!("{} B  ({})", field.value, format::bytes(bytes)),
    }
}

/// All fields of the row, in as many columns as there is room for, read down then across.
fn fields_table(ui: &mut Ui, fields: &[Field]) {
    let columns = ((ui.available_width() / FIELDS_PT) as usize).clamp(1, 4);
    let width = ui.available_width() / columns as f32;
    let (long, short): (Vec<&Field>, Vec<&Field>) =
        fields.iter().partition(|field| columns > 1 && field.value.chars().nth(LONG).is_some());
    let per_column = short.len().div_ceil(columns).max(1);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for column in short.chunks(per_column) {
            ui.vertical(|ui| {
                ui.set_width(width);
                field_lines(ui, width, column);
            });
        }
    });
    field_lines(ui, width, &long);
    ui.add_space(4.0);
    if ui.add(Button::new("Copy row")).on_hover_text("All fields of the row, one a line").clicked() {
        let text: String = fields.iter().map(|field| format!("{}\t{}\n", field.name, field.value)).collect();
        toast::copy(ui.ctx(), text, format::counted(fields.len() as u64, "field", "fields"));
    }
}
