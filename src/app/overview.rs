//! The overview tab: where the chosen rank's time went, in the whole capture, the visible span and the typical step.

use super::cx::{Chosen, Cx};
use super::facts::rank_text;
use super::parts::{Part, Split, bar, swatch};
use super::step_chart;
use crate::format;
use crate::view::Command;
use egui::{Align, ComboBox, Grid, Layout, RichText, Ui};

/// Draws the tab.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        no_ranks(ui, cx);
        return;
    };
    choose_rank(ui, cx, &chosen, out);
    ui.add_space(8.0);
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
            .width(ui.available_width() - 8.0)
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
    let capture = Split::of(&chosen.numbers.whole);
    let visible = Split::of(&chosen.numbers.partition(chosen.visible(cx.view)));
    let typical = chosen.steps().and_then(|steps| steps.typical.as_ref());
    let mut columns = vec![
        ("Capture", "From the first to the last operation of the rank.".to_owned(), capture),
        ("Visible", "The part of it that is on screen.".to_owned(), visible),
    ];
    if let Some(typical) = typical {
        let tip = format!(
            "Mean over the {} typical steps: those within 20 % of the median, {}. Warm-up, cut steps and outliers are left out.",
            format::count(typical.count),
            format::duration(typical.median_span_ns),
        );
        columns.push(("Typical step", tip, Split::of_typical(typical)));
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
    table(ui, cx, &columns);
}

fn table(ui: &mut Ui, cx: &Cx<'_>, columns: &[(&str, String, Split)]) {
    let name_width = 128.0;
    let gaps = 8.0 * columns.len() as f32;
    let width = ((ui.available_width() - name_width - gaps) / columns.len() as f32).max(64.0);
    Grid::new("parts").num_columns(columns.len() + 1).spacing([8.0, 4.0]).striped(true).show(ui, |ui| {
        ui.allocate_ui(egui::vec2(name_width, 16.0), |ui| ui.set_min_width(name_width));
        for (title, tip, _) in columns {
            number(ui, width, |ui| ui.label(RichText::new(*title).strong()).on_hover_text(tip));
        }
        ui.end_row();
        for part in Part::ALL {
            ui.horizontal(|ui| {
                ui.set_min_width(name_width);
                swatch(ui, cx.palette, part);
                ui.label(part.text()).on_hover_text(part.definition());
            });
            for (_, _, split) in columns {
                let known = split.share(part);
                number(ui, width, |ui| {
                    let length = known.map_or(format::UNKNOWN.to_owned(), |_| {
                        format::duration_f(split.parts_ns[part as usize])
                    });
                    ui.label(RichText::new(length).small().weak());
                    ui.label(format::percent(known))
                });
            }
            ui.end_row();
        }
        ui.horizontal(|ui| {
            ui.add_space(18.0);
            ui.label(RichText::new("Length").weak());
        });
        for (_, _, split) in columns {
            number(ui, width, |ui| ui.label(format::duration_f(split.span_ns)));
        }
        ui.end_row();
    });
}

/// A right-aligned cell of two lines: what is added first stands below.
fn number<R>(ui: &mut Ui, width: f32, add: impl FnOnce(&mut Ui) -> R) {
    ui.allocate_ui_with_layout(egui::vec2(width, 32.0), Layout::bottom_up(Align::Max), |ui| {
        ui.set_min_width(width);
        ui.spacing_mut().item_spacing.y = 0.0;
        add(ui);
    });
}

fn collectives(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>) {
    ui.strong("Collectives");
    if chosen.numbers.collectives.is_empty() {
        ui.label(RichText::new("No communication kernels on this rank.").weak());
        return;
    }
    Grid::new("collectives").num_columns(4).spacing([8.0, 4.0]).striped(true).show(ui, |ui| {
        let width = ((ui.available_width() - 24.0) / 4.0).max(64.0);
        ui.label(RichText::new("Kind").weak());
        let right = |ui: &mut Ui, text: RichText, tip: &str| {
            ui.allocate_ui_with_layout(egui::vec2(width, 16.0), Layout::right_to_left(Align::Center), |ui| {
                ui.set_min_width(width);
                let response = ui.label(text);
                if !tip.is_empty() {
                    response.on_hover_text(tip);
                }
            });
        };
        right(ui, RichText::new("Count").weak(), "Communication kernels of this kind.");
        right(ui, RichText::new("Total").weak(), "Sum of their durations. Kernels may overlap each other.");
        right(ui, RichText::new("Exposed").weak(), Part::Exposed.definition());
        ui.end_row();
        for (kind, sum) in &chosen.numbers.collectives {
            ui.label(kind.text());
            right(ui, RichText::new(format::count(sum.count)), "");
            right(ui, RichText::new(format::duration(sum.total_ns)), "");
            right(ui, RichText::new(format::duration(sum.exposed_ns)), "");
            ui.end_row();
        }
    });
    if cx.workspace.ranks().count() == 1 {
        let note = "With one rank open, waiting for other ranks and transfer cannot be told apart.";
        ui.label(RichText::new(note).small().weak());
    }
}
