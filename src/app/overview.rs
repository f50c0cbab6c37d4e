//! The overview tab: where the chosen rank's time went, in its whole GPU span, the visible or selected span and the typical step.

use super::causes;
use super::code_text;
use super::cx::{Chosen, Cx};
use super::parts::{bar, explain, swatch};
use super::{step_chart, step_stack, verdict};
use crate::analysis::{Causes, Limit, Part, Partition};
use crate::format;
use crate::units::Span;
use crate::view::{Command, Panel};
use egui::{Align, Label, Layout, RichText, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Draws the tab.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        no_ranks(ui, cx);
        return;
    };
    verdict::show(ui, cx, &chosen, out);
    ui.add_space(12.0);
    partition(ui, cx, &chosen, out);
    ui.add_space(12.0);
    step_chart::show(ui, cx, &chosen, out);
    ui.add_space(8.0);
    step_stack::show(ui, cx, &chosen, out);
    ui.add_space(8.0);
    utilisation(ui, cx, out);
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
    let hint = code_text::usual(ui, hint);
    ui.add(Label::new(hint).wrap());
}

/// MFU in a line, and the way to what it rests on.
fn utilisation(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let mfu = &cx.workspace.mfu;
    ui.horizontal_wrapped(|ui| {
        ui.strong("MFU").on_hover_text("Model FLOPs per step / (step time x GPUs x peak).");
        let (text, link) = match mfu.mfu {
            Some(_) => (format::percent(mfu.mfu), "How it is computed"),
            None => (format::UNKNOWN.to_owned(), "Say what was trained"),
        };
        ui.label(text);
        if let Some(convention) = mfu.convention.filter(|_| mfu.mfu.is_some()) {
            ui.label(RichText::new(convention.text()).small().weak()).on_hover_text(convention.about());
        }
        if ui.link(link).clicked() {
            out.push(Command::ShowPanel(Panel::Mfu));
        }
    });
}

/// A window of time with its parts and the causes of its idle part.
pub struct Measured {
    /// What window it is.
    pub title: &'static str,
    /// The same in a sentence.
    pub tip: String,
    /// Its five parts.
    pub split: Partition,
    /// Its idle part by cause.
    pub causes: Causes,
}

fn partition(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, out: &mut Vec<Command>) {
    let measured = |title: &'static str, tip: &str, span: Span| Measured {
        title,
        tip: tip.to_owned(),
        split: chosen.numbers.partition(span),
        causes: chosen.numbers.idle.within(span),
    };
    let here = match chosen.selected(cx.view) {
        Some(span) => {
            let tip =
                "The span selected on the timeline. Time before the first and after the last GPU operation is idle.";
            measured("Selected", tip, span)
        }
        None => measured("Visible", "The part of the GPU span that is on screen.", chosen.visible(cx.view)),
    };
    let whole = "From the first to the last GPU operation of the rank.";
    let mut columns = vec![measured("GPU span", whole, chosen.numbers.span), here];
    if let Some(steps) = chosen.steps() {
        let tip = format!(
            "Mean over {}: those within 20 % of the median, {}. Warm-up, cut steps and outliers are left out.",
            format::counted(steps.typical.count, "typical step", "typical steps"),
            format::duration(steps.typical.median_span_ns),
        );
        let title = if steps.estimated { "Estimated step" } else { "Typical step" };
        columns.push(Measured { title, tip, split: steps.typical.mean, causes: steps.typical.causes });
    }
    let doubt = chosen.numbers.diagnosis.doubt.filter(|doubt| doubt.spoils_parts());
    for Measured { title, tip, split, .. } in columns.iter().filter(|_| doubt.is_none()) {
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
    let shown = shown.unwrap_or(&columns);
    table(ui, cx, shown, doubt);
    if let Some(doubt) = doubt {
        ui.add_space(4.0);
        let reason = "Parts and causes of idle time are unknown, for the reason above.";
        ui.add(Label::new(RichText::new(reason).small().weak()).wrap()).on_hover_text(doubt.consequence());
    } else if shown.iter().any(|column| column.split.idle_ns > 0) {
        ui.add_space(12.0);
        ui.horizontal(|ui| {
            ui.strong("Idle by cause").on_hover_text("Share of the window. The causes sum to the idle part above.");
            if ui.link("All gaps").on_hover_text("The gaps one by one, the longest first").clicked() {
                out.push(Command::ShowPanel(Panel::Gaps));
            }
        });
        causes::table(ui, cx.palette, shown);
    }
}

/// Width of a letter of a heading, on the safe side.
const LETTER_PT: f32 = 7.0;

/// What the last row of the table is.
const LENGTH: &str = "Length of the window. The five parts above sum to it exactly.";

/// The parts of every window; a `doubt` leaves them unknown.
fn table(ui: &mut Ui, cx: &Cx<'_>, columns: &[Measured], doubt: Option<Limit>) {
    let builder = grid(ui, "parts", columns.len());
    let head = builder.header(24.0, |mut row| {
        row.col(|_| {});
        for Measured { title, tip, .. } in columns {
            number(&mut row, |ui| {
                // "Typical step" is "Typical" where the column is narrow.
                let short = title.split(' ').next().unwrap_or(title);
                let narrow = ui.available_width() < LETTER_PT * title.len() as f32;
                let shown = if narrow { short } else { *title };
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
                for Measured { split, .. } in columns {
                    let known = part.share(split).filter(|_| doubt.is_none());
                    let tip = doubt.map_or_else(|| explain(part, split), |doubt| doubt.consequence().to_owned());
                    number(&mut row, |ui| {
                        ui.label(format::percent(known)).on_hover_text(&tip);
                        if let Some(known) = known.map(|_| format::duration(part.of(split))) {
                            ui.label(RichText::new(known).small().weak()).on_hover_text(tip);
                        }
                    });
                }
            });
        }
        body.row(24.0, |mut row| {
            row.col(|ui| {
                ui.add_space(18.0);
                ui.label(RichText::new("Length").weak()).on_hover_text(LENGTH);
            });
            for Measured { split, .. } in columns {
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
pub fn grid<'a>(ui: &'a mut Ui, name: &str, numbers: usize) -> TableBuilder<'a> {
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
pub fn number(row: &mut TableRow<'_, '_>, add: impl FnOnce(&mut Ui)) {
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
    let by_kind = &chosen.numbers.communication.by_kind;
    if by_kind.is_empty() {
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
        for (kind, sum) in by_kind {
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
    if cx.workspace.job.ranks.len() == 1 {
        ui.add_space(4.0);
        let note = "With one rank open, waiting for other ranks and transfer cannot be told apart.";
        ui.label(RichText::new(note).small().weak());
    }
}
