//! The details panel: what is known about the selection, and every field of its row.

use super::capture::copy_button;
use super::cx::{Cx, pair};
use super::facts::{Fact, Facts};
use super::fetch::{Fetcher, Fields};
use crate::view::{Command, Item};
use egui::{Button, Grid, Label, RichText, ScrollArea, Ui};

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct Details {
    facts: Option<((u64, Item), Option<Facts>)>,
    /// Fetches the fields of rows.
    pub fetcher: Fetcher,
}

/// Width of the column with computed facts.
const FACTS_PT: f32 = 420.0;

/// Draws the panel's content.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, details: &mut Details, out: &mut Vec<Command>) {
    let Some(item) = cx.view.selected else {
        ui.label(RichText::new("Click an operation, range, call or gap to see everything that is known about it.").weak());
        return;
    };
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
    ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width(FACTS_PT.min(ui.available_width()));
                full_name(ui, facts);
                facts_table(ui, &facts.facts);
            });
            ui.vertical(|ui| match fields {
                None => {}
                Some(None) => {
                    ui.label(RichText::new("Reading the row…").weak());
                }
                Some(Some(fields)) => fields_table(ui, cx, fields),
            });
        });
    });
}

fn heading(ui: &mut Ui, facts: &Facts, out: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(facts.kind).weak());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Clear").on_hover_text("Clear the selection (Escape)").clicked() {
                out.push(Command::Select(None));
            }
            if ui.button("Zoom to it").on_hover_text("Show it with some room around it (F)").clicked() {
                out.push(Command::ShowSelection);
            }
            copy_button(ui, "Copy all", &facts.as_text());
            copy_button(ui, "Copy name", facts.full_name.as_ref().unwrap_or(&facts.title));
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(Label::new(RichText::new(&facts.title).strong()).truncate());
            });
        });
    });
    ui.add_space(4.0);
}

fn full_name(ui: &mut Ui, facts: &Facts) {
    if let Some(name) = &facts.full_name {
        ui.add(Label::new(RichText::new(name).small()).wrap().selectable(true));
        ui.add_space(4.0);
    }
}

fn facts_table(ui: &mut Ui, facts: &[Fact]) {
    for fact in facts {
        pair(ui, 152.0, fact.name, &fact.value);
    }
}

fn fields_table(ui: &mut Ui, cx: &Cx<'_>, fields: &Fields) {
    let fields = match fields {
        Ok(fields) => fields,
        Err(message) => {
            ui.colored_label(cx.palette.warning, format!("The row's other fields could not be read: {message}"));
            return;
        }
    };
    Grid::new("fields").num_columns(2).spacing([16.0, 4.0]).striped(true).show(ui, |ui| {
        for field in fields {
            ui.label(RichText::new(&field.name).weak());
            ui.add(Label::new(&field.value).extend().selectable(true));
            ui.end_row();
        }
    });
    let text: String = fields.iter().map(|field| format!("{}\t{}\n", field.name, field.value)).collect();
    if ui.add(Button::new("Copy row")).on_hover_text("All fields of the row, one a line").clicked() {
        ui.ctx().copy_text(text);
    }
}
