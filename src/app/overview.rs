//! The overview tab: where the chosen rank's time went, in its whole GPU span, the visible or selected span and the typical step.

use super::cx::{Chosen, Cx};
use super::facts::rank_text;
use super::parts::{bar, explain, swatch};
use super::{step_chart, verdict};
use crate::analysis::{Part, Partition};
use crate::format;
use crate::view::Command;
use egui::{Align, ComboBox, Layout, RichText, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Draws the tab.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        no_ranks(ui, cx);
        return;
    };
    choose_rank(ui, cx, &chosen, out);
    ui.add_space(8.0);
    verdict::show(ui, cx, &chosen, out);
    ui.add_space(12.0);
    partition(ui, cx, &chosen);
    ui.add_space(12.0);
    step_chart::show(ui, cx, &chosen, out);
    ui.add_space(12.0);
    collectives(ui, cx, &chosen);
}

fn no_ranks(ui: &mut Ui, cx: &Cx<'_>) {
    ui.strong("No GPU work in this capture");
    let hint = if cx.workspace.docs.iter().any(|doc| doc.trace.api_calls() > 0) {
        "The file holds CUDA calls but no kernels and no copies, so there is nothing to split into parts. The process may \
         have been profiled without the GPU, or it ended before its buffers were written."
    } else {
        "Record with nsys profile --trace=cuda,nvtx to see kernels, communication and copies here. What the file does \
         hold is on the timeline and under Capture."
    };
    ui.label(RichText::new(hint).weak());
}

fn choose_rank(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, out: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new("Rank").weak());
        let box_ = ComboBox::from_id_salt("rank")
            .selected_text(rank_text(&chosen.doc.trace, chosen.rank))
            .width(ui.available_width())
            .truncate()
            .show_ui(ui, |ui| {
                for (id, doc, rank) in cx.workspace.ranks() {
                    let file = super::state::file_name(&doc.trace.source.path);
                    let text = format!("{}  ·  {file}", rank_text(&doc.trace, rank));
                    if ui.selectable_label(id == chosen.id, text).clicked() {
                        out.push(Command::ChooseRank(id));
                    }
                }
            });
        box_.response.labelled_by(label.id);
    });
}

fn partition(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>) {
    let whole = "From the first to the last GPU operation of the rank.".to_owned();
    let here = match chosen.selected(cx.view) {
        Some(span) => {
            let tip =
                "The span selected on the timeline. Time before the first and after the last GPU operation is idle.";
            ("Selected", tip.to_owned(), chosen.numbers.partition(span))
        }
        None => {
            let visible = chosen.numbers.partition(chosen.visible(cx.view));
            ("Visible", "The part of the GPU span that is on screen.".to_owned(), visible)
        }
    };
    let mut columns = vec![("GPU span", whole, chosen.numbers.whole), here];
    if let Some(steps) = chosen.steps() {
        let tip = format!(
            "Mean over the {} typical steps: those within 20 % of the median, {}. Warm-up, cut steps and outliers are left out.",
            format::count(steps.typical.count),
            format::duration(steps.typical.median_span_ns),
        );
        columns.push((if steps.estimated { "Estimated step" } else { "Typical step" }, tip, steps.typical.mean));
    }
    for (title, tip, split) in &columns {
        ui.horizontal(|ui| {
            ui.set_min_height(20.0);
            ui.allocate_ui_with_layout(egui::vec2(76.0, 20.0), Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_width(76.0);
                ui.label(RichText::new(*title).small()).on_hover_text(tip);
            });
            bar(ui, cx.palette, title, split);
        });
    }
    ui.add_space(8.0);
    // Where there is no room for all of them, what follows the view stays; the bars above still show the others.
    let shown = match numbers_fitting(ui) {
        1 => columns.get(1..2),
        2 => columns.get(1..),
        _ => None,
    };
    table(ui, cx, shown.unwrap_or(&columns));
}

/// What the last row of the table is.
const LENGTH: &str = "Length of the window. The five parts above sum to it exactly.";

fn table(ui: &mut Ui, cx: &Cx<'_>, columns: &[(&str, String, Partition)]) {
    let builder = grid(ui, "parts", columns.len());
    let head = builder.header(24.0, |mut row| {
        row.col(|_| {});
        for (title, tip, _) in columns {
            number(&mut row, |ui| {
                // "Typical step" is "Typical" where the column is narrow.
                let short = title.split(' ').next().unwrap_or(title);
                let shown = if ui.available_width() < 84.0 { short } else { title };
                ui.label(RichText::new(shown).weak()).on_hover_text(tip);
            });
        }
    });
    head.body(|mut body| {
        for part in Part::ALL {
            body.row(34.0, |mut row| {
                row.col(|ui| {
                    swatch(ui, cx.palette, part);
                    ui.label(part.text()).on_hover_text(part.definition());
                });
                for (_, _, split) in columns {
                    let known = part.share(split);
                    number(&mut row, |ui| {
                        ui.label(format::percent(known)).on_hover_text(explain(part, split));
                        let length = format::duration_or_unknown(known.map(|_| part.of(split)));
                        ui.label(RichText::new(length).small().weak()).on_hover_text(explain(part, split));
                    });
                }
            });
        }
        body.row(24.0, |mut row| {
            row.col(|ui| {
                ui.add_space(18.0);
                ui.label(RichText::new("Length").weak()).on_hover_text(LENGTH);
            });
            for (_, _, split) in columns {
                number(&mut row, |ui| {
                    ui.label(format::duration(split.span_ns)).on_hover_text(LENGTH);
                });
            }
        });
    });
}

/// Room of the names in a table, and of the narrowest column of numbers.
const NAMES_PT: f32 = 128.0;
const NUMBER_PT: f32 = 52.0;

/// Columns of numbers that fit beside the names, at least one.
fn numbers_fitting(ui: &Ui) -> usize {
    (((ui.available_width() - NAMES_PT) / (NUMBER_PT + 8.0)) as usize).max(1)
}

/// A table as wide as there is room: one column of names, then `numbers` right-aligned ones.
fn grid<'a>(ui: &'a mut Ui, name: &str, numbers: usize) -> TableBuilder<'a> {
    let width = ((ui.available_width() - NAMES_PT) / numbers as f32 - 8.0).clamp(NUMBER_PT, 120.0);
    TableBuilder::new(ui)
        .id_salt(name)
        .vscroll(false)
        .striped(true)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::remainder().at_least(116.0))
        .columns(Column::exact(width), numbers)
}

/// A right-aligned cell; what is added stands in lines.
fn number(row: &mut TableRow<'_, '_>, add: impl FnOnce(&mut Ui)) {
    row.col(|ui| {
        ui.with_layout(Layout::top_down(Align::Max), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add_space(3.0);
            add(ui);
        });
    });
}

fn collectives(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>) {
    ui.strong("Collectives");
    if chosen.numbers.collectives.is_empty() {
        ui.label(RichText::new("No communication kernels on this rank.").weak());
        return;
    }
    let heads = [
        ("Count", "Communication kernels of this kind."),
        ("Total", "Sum of their durations. Kernels may overlap each other."),
        ("Exposed", Part::Exposed.definition()),
    ];
    let shown = heads.len().min(numbers_fitting(ui));
    let hidden = heads.len() - shown;
    let head = grid(ui, "collectives", shown).header(24.0, |mut row| {
        row.col(|ui| {
            ui.label(RichText::new("Kind").weak());
        });
        for (title, tip) in heads.into_iter().skip(hidden) {
            number(&mut row, |ui| {
                ui.label(RichText::new(title).weak()).on_hover_text(tip);
            });
        }
    });
    head.body(|mut body| {
        for (kind, sum) in &chosen.numbers.collectives {
            body.row(24.0, |mut row| {
                row.col(|ui| {
                    ui.label(kind.text());
                });
                let texts =
                    [format::count(sum.count), format::duration(sum.total_ns), format::duration(sum.exposed_ns)];
                for (text, (_, tip)) in texts.into_iter().zip(heads).skip(hidden) {
                    number(&mut row, |ui| {
                        ui.label(text).on_hover_text(tip);
                    });
                }
            });
        }
    });
    if cx.workspace.ranks().count() == 1 {
        ui.add_space(4.0);
        let note = "With one rank open, waiting for other ranks and transfer cannot be told apart.";
        ui.label(RichText::new(note).small().weak());
    }
}
