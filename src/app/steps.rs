//! The steps tab: every step of the chosen rank with its window and its five parts. A click shows the step.

use super::cx::{Chosen, Cx};
use super::panels::grid::{Column, Grid, Shown, column, filter_bar};
use super::panels::sheet::{Cell, Filter, Placed, Row, Rows, Sheet};
use super::step_chart;
use crate::analysis::{Part, Step, Steps};
use crate::format;
use crate::timeline::color::step_color;
use crate::view::Command;
use egui::{RichText, Ui, UiBuilder};

/// Columns of the table.
const COLUMNS: [Column; 7] = [
    column(
        "Window",
        49.0,
        "GPU time the step owns: from the end of the last operation launched during the step before to the end of the last \
         operation launched during this one, on the primary stream.",
    ),
    part(Part::Compute),
    part(Part::Overlapped),
    part(Part::Exposed),
    part(Part::Copy),
    part(Part::Idle),
    column(
        "Left out",
        51.0,
        "Why a step is not among the typical ones, which are within 20 % of the median. > 20 % off: farther from it. Outlier: \
         over 1.5 times the median. Warm-up: the first, when that long. Cut: the capture starts or ends inside.",
    ),
];

const fn part(part: Part) -> Column {
    column(part.short(), 39.5, part.definition())
}

/// Least width of the names: short ones, so that all columns fit beside them in a side panel of the usual width.
const LEAST_NAME_PT: f32 = 55.0;

/// In wider panels, in points, the table stands beside the chart: names and numbers stay near each other, and more rows
/// are seen.
const BESIDE_FROM_PT: f32 = 960.0;
/// Width of the table there, and the space before it.
const TABLE_PT: f32 = 520.0;
const BETWEEN_PT: f32 = 16.0;

/// What the table keeps between frames.
#[derive(Debug, Default)]
pub struct StepTable {
    filter: Filter,
    sheet: Sheet,
}

/// Draws the tab.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, table: &mut StepTable, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        ui.label(RichText::new("No GPU work, so no steps.").weak());
        return;
    };
    let room = ui.available_rect_before_wrap();
    if room.width() < BESIDE_FROM_PT || chosen.steps().is_none() {
        step_chart::show(ui, cx, &chosen, out);
        ui.add_space(8.0);
        steps_table(ui, cx, &chosen, table, out);
        return;
    }
    let (left, right) = room.split_left_right_at_x(room.right() - TABLE_PT);
    let left = left.with_max_x(left.right() - BETWEEN_PT);
    ui.scope_builder(UiBuilder::new().max_rect(left), |ui| step_chart::show(ui, cx, &chosen, out));
    ui.scope_builder(UiBuilder::new().max_rect(right), |ui| steps_table(ui, cx, &chosen, table, out));
}

fn steps_table(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, table: &mut StepTable, out: &mut Vec<Command>) {
    let Some(steps) = chosen.steps() else { return };
    let selection = chosen.selection(cx);
    let copied = filter_bar(ui, &mut table.filter, "steps", selection, true);
    let rows = rows(cx, chosen, steps);
    let grid = Grid { id: "steps", name: "Step", columns: &COLUMNS, tall: true, name_pt: LEAST_NAME_PT };
    let shown = Shown { token: chosen.token(cx), filter: &table.filter, selection, copy: copied.as_ref() };
    if let Some(at) = grid.show(ui, &mut table.sheet, shown, &rows) {
        out.push(Command::ShowStep(chosen.id, at as u32));
    }
    if let Some(copied) = copied {
        copied.finish(ui);
    }
}

/// Name in a narrow column. That steps are estimated is said above the table.
fn short_name(steps: &Steps, step: &Step) -> String {
    let number = step.number.filter(|_| steps.estimated);
    number.map_or_else(|| step.name.clone(), |number| format!("est. {number}"))
}

/// A row for every step.
fn rows<'a>(cx: &'a Cx<'_>, chosen: &'a Chosen<'_>, steps: &'a Steps) -> impl Rows + 'a {
    let current = chosen.step_meant(cx.view, cx.workspace);
    let row = move |at: usize| {
        let Some(step) = steps.steps.get(at) else { return Row::default() };
        Row {
            name: short_name(steps, step),
            full: step.name.clone(),
            number: Some(at as f64),
            cells: cells(step),
            note: Part::ALL
                .map(|part| format!("{} {}", part.text(), format::duration(part.of(&step.parts))))
                .join("\n"),
            action: format!("Show {}", step.name),
            swatch: Some(step_color(step, cx.palette)),
            selected: current == Some(at),
            ..Row::default()
        }
    };
    Placed::new(steps.steps.len(), row, |at| steps.steps.get(at).map(|step| step.window))
}

/// What sets a step apart, in so few letters that its column fits; empty for typical ones.
const fn note(step: &Step) -> &'static str {
    match (step.edge, step.typical) {
        (None, false) => "> 20 % off",
        _ => step_chart::kind(step),
    }
}

fn cells(step: &Step) -> Vec<Cell> {
    let window_ns = step.window.len_ns();
    let window = Cell::whole(format::duration(window_ns), window_ns);
    let shares = Part::ALL.map(|part| {
        let share = part.share(&step.parts);
        Cell::maybe(format::percent(share), share)
    });
    let kind = Cell::text(note(step).to_owned());
    std::iter::once(window).chain(shares).chain([kind]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Partition, StepEdge};
    use crate::units::Span;

    fn step(number: i64, len_ns: i64, idle_ns: i64) -> Step {
        let window = Span::new(number * 1000, number * 1000 + len_ns);
        let parts = Partition { span_ns: len_ns, idle_ns, compute_only_ns: len_ns - idle_ns, ..Partition::default() };
        Step {
            name: format!("step {number}"),
            number: Some(number),
            range: window,
            window,
            gpu_ops: 1,
            empty_before: 0,
            parts,
            causes: crate::analysis::Causes::default(),
            typical: true,
            edge: None,
        }
    }

    #[test]
    fn every_column_fits_the_usual_panel_and_what_is_written_in_it() {
        let ctx = egui::Context::default();
        crate::app::theme::apply(&ctx, crate::view::Theme::Dark);
        let edges = [None, Some(StepEdge::WarmUp), Some(StepEdge::Cut), Some(StepEdge::Outlier)];
        let notes = edges.map(|edge| note(&Step { edge, typical: false, ..step(1, 20, 5) }));
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            let width = |text: &str| {
                let font = egui::TextStyle::Small.resolve(ui.style());
                ui.painter().layout_no_wrap(text.to_owned(), font, egui::Color32::WHITE).size().x
            };
            let last = COLUMNS.last().unwrap();
            for text in notes {
                assert!(width(text) <= last.width_pt, "{text:?} needs {} of {}", width(text), last.width_pt);
            }
            assert!(width("888.8 ms") <= COLUMNS[0].width_pt && width("100.0 %") <= COLUMNS[1].width_pt);
            assert!(16.0 + width("step 99") <= LEAST_NAME_PT, "with the colour before it");
            let columns_pt = COLUMNS.iter().fold(LEAST_NAME_PT, |sum, column| sum + column.width_pt + 6.0);
            // Its frame and its edge, and the bar that scrolls the table.
            let room_pt = crate::app::frame::SIDE_PT.1 - 25.0 - ui.spacing().scroll.allocated_width();
            assert!(columns_pt <= room_pt, "{columns_pt} of {room_pt}");
        });
        output.textures_delta.clear();
    }

    #[test]
    fn a_step_is_told_with_its_window_its_five_shares_and_its_kind() {
        let cells = cells(&step(1, 20, 5));
        assert_eq!(cells.len(), COLUMNS.len());
        assert_eq!(cells[0], Cell::whole(format::duration(20), 20));
        assert_eq!((cells[1].number, cells[5].number), (Some(0.75), Some(0.25)));
        assert!(cells[2..5].iter().all(|cell| cell.number == Some(0.0)) && cells[6].text.is_empty());
    }
}
