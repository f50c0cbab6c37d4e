//! The pipeline: the schedule of one step over its stages, the bubble of each stage, and what a change would give.

mod schedule;

use super::grid::{Column, Grid, Shown, column, heading, remark};
use super::sheet::{Cell, Filter, List, Row, Sheet};
use crate::app::cx::Cx;
use crate::app::icons::{self, Icon};
use crate::format;
use crate::job::{Job, StagedStep, Stages};
use crate::report::compare::{
    STAGE_COLUMNS, StageCell, StageNumber, bubble_text, change_texts, imbalance_text, pipeline_text, stage_notices,
    stage_rows,
};
use crate::view::Command;
use egui::{Button, Label, RichText, Ui};
use std::sync::Arc;

/// Wider lines of text are hard to read.
const TEXT_PT: f32 = 720.0;
/// Least width of the column of stages.
const STAGE_PT: f32 = 48.0;
/// Widths of the columns behind it.
const WIDTHS_PT: [f32; 8] = [56.0, 64.0, 72.0, 64.0, 112.0, 112.0, 112.0, 96.0];

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct PipelineCache {
    /// The job that `steps` are of.
    job: Option<Arc<Job>>,
    steps: Vec<StagedStep>,
    /// Number of the chosen step; the one in the middle of the view while there is none.
    chosen: Option<i64>,
    sheet: Sheet,
    filter: Filter,
}

impl PipelineCache {
    /// Makes the list of steps anew when another job is open.
    fn follow(&mut self, job: &Arc<Job>, stages: &Stages) {
        if self.job.as_ref().is_none_or(|known| !Arc::ptr_eq(known, job)) {
            self.steps = stages.steps(job);
            self.job = Some(Arc::clone(job));
        }
    }

    /// The step that is shown, as an index into the list.
    fn shown(&self, middle_ns: i64) -> usize {
        let chosen = self.chosen.and_then(|number| self.steps.binary_search_by_key(&number, |step| step.number).ok());
        let begun = || self.steps.partition_point(|step| step.span.start_ns <= middle_ns).saturating_sub(1);
        chosen.unwrap_or_else(begun)
    }
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut PipelineCache, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    let Some(stages) = &job.pipeline else { return missing(ui, cx) };
    cache.follow(job, stages);
    texts(ui, [pipeline_text(&stages.pipeline), bubble_text(stages)]);
    ui.add_space(4.0);
    picture(ui, cx, stages, cache, out);
    heading(ui, "Stages", "Means of a step, over the steps that are typical on most stages.");
    table(ui, cx, stages, cache);
    ui.add_space(4.0);
    texts(ui, imbalance_text(stages));
    section(ui, "What would help, at most", change_texts(stages));
    section(ui, "What is missing", stage_notices(job, stages));
}

/// What to declare so that there is something to see.
fn missing(ui: &mut Ui, cx: &Cx<'_>) {
    if cx.workspace.job.ranks.is_empty() {
        return remark(ui, "Nothing is open. Open the ranks of a job with pipeline stages.");
    }
    texts(ui, ["No pipeline is known: point-to-point kernels alone do not tell one.".to_owned()]);
    ui.add_space(4.0);
    let ways = [
        "Declare it in the settings: pp under [parallel] (Pipeline stages in the MFU panel), and micro_batches under [batch].",
        "Or name it in NVTX: a range \"pipeline stage 1 of 4\" on each rank, \"step 3\" around each step, \"forward mb 0\" \
         and \"backward mb 0\" around each pass.",
        "Open one rank of each stage.",
    ];
    ways.into_iter().for_each(|way| remark(ui, way));
}

fn texts(ui: &mut Ui, lines: impl IntoIterator<Item = String>) {
    ui.scope(|ui| {
        ui.set_max_width(ui.available_width().min(TEXT_PT));
        for line in lines {
            ui.add(Label::new(line).wrap().selectable(true));
        }
    });
}

fn section(ui: &mut Ui, title: &str, lines: Vec<String>) {
    if !lines.is_empty() {
        heading(ui, title, "");
        texts(ui, lines);
    }
}

/// The schedule of one step, with what chooses it.
fn picture(ui: &mut Ui, cx: &Cx<'_>, stages: &Stages, cache: &mut PipelineCache, out: &mut Vec<Command>) {
    if cache.steps.is_empty() {
        return remark(ui, "No steps to draw: mark them in NVTX (step 3) on every rank.");
    }
    let middle_ns = (cx.view.viewport.middle_ns() as i64).saturating_sub(cx.workspace.origin_ns);
    let at = cache.shown(middle_ns);
    let number_at = |at: usize| cache.steps.get(at).map(|step| step.number);
    let mut chosen = cache.chosen;
    ui.horizontal_wrapped(|ui| {
        let tip = "The step before, in this picture alone";
        if icons::button(ui, at > 0, Icon::Previous, "Previous step of the pipeline", tip).clicked() {
            chosen = number_at(at.saturating_sub(1));
        }
        let tip = "The step after, in this picture alone";
        if icons::button(ui, at + 1 < cache.steps.len(), Icon::Next, "Next step of the pipeline", tip).clicked() {
            chosen = number_at(at + 1);
        }
        if let Some(step) = cache.steps.get(at) {
            let length = format::duration(step.span.len_ns());
            ui.strong(format!("Step {}", format::integer(step.number)));
            ui.label(RichText::new(format!("{length} over all stages")).weak());
        }
        let follow = Button::selectable(chosen.is_none(), "Step in view");
        if ui.add(follow).on_hover_text("Show the step in the middle of the view, wherever it moves").clicked() {
            chosen = if chosen.is_none() { number_at(at) } else { None };
        }
        schedule::legend(ui, cx);
    });
    if let Some(step) = cache.steps.get(at) {
        schedule::show(ui, cx, stages, step, out);
    }
    cache.chosen = chosen;
}

/// What a column is sorted by.
fn in_order(number: StageNumber) -> f64 {
    match number {
        StageNumber::Stage(number) => f64::from(number),
        StageNumber::Time(ns) => ns as f64,
        StageNumber::Share(share) => share,
    }
}

fn table(ui: &mut Ui, cx: &Cx<'_>, stages: &Stages, cache: &mut PipelineCache) {
    let rows = stage_rows(&cx.workspace.job, stages);
    let row = |at: usize| {
        let mut cells = rows.get(at).cloned().unwrap_or_default().into_iter();
        let (name, number) = cells.next().unwrap_or_default();
        let cell = |(text, number): StageCell| Cell::maybe(text, number.map(in_order));
        Row { name, number: number.map(in_order), cells: cells.map(cell).collect(), ..Row::default() }
    };
    let columns: Vec<Column> = STAGE_COLUMNS
        .iter()
        .skip(1)
        .zip(WIDTHS_PT)
        .map(|((name, tip), width_pt)| column(name, width_pt, tip))
        .collect();
    let grid = Grid { id: "stages", name: "Stage", columns: &columns, tall: false, name_pt: STAGE_PT };
    let shown = Shown { token: cx.revision, filter: &cache.filter, selection: None, copy: None };
    let list = List::new(rows.len(), row);
    grid.show(ui, &mut cache.sheet, shown, &list);
}
