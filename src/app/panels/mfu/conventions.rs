//! The same step by every convention: what to compare with whose published numbers, and a choice.

use crate::analysis::{Compared, Mfu};
use crate::app::cx::Cx;
use crate::format;
use crate::report::mfu::attention_text;
use crate::view::Command;
use egui::{Align, Label, Layout, RichText, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

/// Draws the table; a click on a name chooses that convention.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, mfu: &Mfu, out: &mut Vec<Command>) {
    if mfu.compared.is_empty() {
        return;
    }
    ui.strong("By convention").on_hover_text(
        "What counts as the model's FLOPs differs; compare only numbers of one convention. \"Causal\" counts attention over \
         earlier tokens only, half of \"full\".",
    );
    ui.scope(|ui| table(ui, cx, mfu, out));
    ui.add_space(12.0);
}

/// Space between columns, and the least width of the names, in points.
const GAP_PT: f32 = 4.0;
const NAME_PT: f32 = 84.0;
/// Widths of the other columns, in points; the first is left out where there is no room for it.
const WIDTHS_PT: [f32; 4] = [74.0, 44.0, 46.0, 46.0];

fn table(ui: &mut Ui, cx: &Cx<'_>, mfu: &Mfu, out: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = GAP_PT;
    let needed_pt = WIDTHS_PT.iter().fold(NAME_PT, |sum, width| sum + GAP_PT + width);
    let left_out = usize::from(ui.available_width() < needed_pt);
    let mut table = TableBuilder::new(ui)
        .id_salt("conventions")
        .vscroll(false)
        .striped(true)
        .cell_layout(Layout::right_to_left(Align::Center))
        .column(Column::remainder().at_least(NAME_PT).clip(true));
    for width_pt in WIDTHS_PT.into_iter().skip(left_out) {
        table = table.column(Column::exact(width_pt));
    }
    let head = table.header(22.0, |mut row| {
        row.col(|_| {});
        let heads = [
            ("Per token", "FLOPs of the model per token, forward and backward."),
            ("Attn.", "How the attention core is counted: over all tokens (full) or earlier ones only (causal)."),
            ("MFU", "Model FLOPs utilisation by this convention."),
            ("HFU", "Hardware FLOPs utilisation by this convention: with recomputation."),
        ];
        for (text, tip) in heads.into_iter().skip(left_out) {
            row.col(|ui| {
                ui.label(RichText::new(text).small().weak()).on_hover_text(tip);
            });
        }
    });
    head.body(|mut body| {
        for by in &mfu.compared {
            body.row(22.0, |mut row| {
                name(&mut row, cx, mfu, by, out);
                numbers(&mut row, by, left_out);
            });
        }
    });
}

fn name(row: &mut TableRow<'_, '_>, cx: &Cx<'_>, mfu: &Mfu, by: &Compared, out: &mut Vec<Command>) {
    row.col(|ui| {
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let chosen = mfu.convention == Some(by.convention);
            let response = ui.radio(chosen, RichText::new(by.convention.text()).small());
            if response.on_hover_text(by.convention.about()).clicked() && !chosen {
                let mut experiment = cx.workspace.experiment.clone().unwrap_or_default();
                experiment.run.convention = Some(by.convention);
                out.push(Command::SetExperiment(Box::new(experiment)));
            }
        });
    });
}

fn numbers(row: &mut TableRow<'_, '_>, by: &Compared, left_out: usize) {
    let attention = match by.count.map(|count| count.attention_factor) {
        None => (format::UNKNOWN, "This convention needs settings that are not given."),
        Some(0) => ("none", attention_text(0)),
        Some(6) => ("causal", attention_text(6)),
        Some(factor) => ("full", attention_text(factor)),
    };
    let texts = [
        (format::amount(by.count.map(|count| count.model()), "FLOP"), ""),
        (attention.0.to_owned(), attention.1),
        (format::percent(by.mfu), ""),
        (format::percent(by.hfu), ""),
    ];
    for (text, tip) in texts.into_iter().skip(left_out) {
        row.col(|ui| {
            let response = ui.add(Label::new(RichText::new(text).small()));
            if !tip.is_empty() {
                response.on_hover_text(tip);
            }
        });
    }
}
