//! Ranks by steps in colour, for the eye to find the odd one; a click shows the step on its rank.
//!
//! Values, colours and the mesh are made when the files, the metric or the size change; a frame paints one mesh.

mod pixels;
mod plot;

use super::grid::{remark, warning};
use crate::analysis::Limit;
use crate::app::cx::Cx;
use crate::format;
use crate::job::{Heat, HeatMetric};
use crate::report::compare::{cell_text, cell_title, metric_help, metric_text, reservation, value_text};
use crate::timeline::ramp;
use crate::view::Command;
use egui::epaint::Mesh;
use egui::{Button, Label, Rect, RichText, Sense, Stroke, StrokeKind, Ui, pos2, vec2};
use plot::{Drawn, Plot};

/// Room below the map for its legend and what a click could not do, in points.
const LEGEND_PT: f32 = 44.0;
/// Cells are no higher than this, in points.
const CELL_PT: f32 = 40.0;
/// Size of the colour scale, in points.
const SCALE_PT: (f32, f32) = (160.0, 10.0);

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct HeatmapCache {
    metric: HeatMetric,
    made: Option<Made>,
    drawn: Option<Drawn>,
    /// Row and column that the keyboard is at.
    cursor: (usize, usize),
    /// Why the last click showed nothing.
    told: String,
}

/// Values, and what they were made of.
#[derive(Debug)]
struct Made {
    key: MadeKey,
    heat: Heat,
    medians: Vec<Option<f64>>,
    /// How large the map is, and its worst cell.
    summary: String,
    /// Some cells lie above the scale.
    above: bool,
    /// Some cells have no value.
    gaps: bool,
}

/// Documents, metric and the time that a step's model FLOPs take at the peak.
type MadeKey = (u64, HeatMetric, Option<u64>);

impl Made {
    fn of(cx: &Cx<'_>, key: MadeKey) -> Self {
        let heat = Heat::of(&cx.workspace.job, key.1, cx.workspace.mfu.ideal_step_ns());
        let above = heat.scale.is_some_and(|(_, high)| heat.cells.iter().flatten().any(|value| *value > high));
        let gaps = heat.cells.iter().any(Option::is_none);
        Self { key, medians: heat.medians(), summary: summary(cx, &heat), heat, above, gaps }
    }
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut HeatmapCache, out: &mut Vec<Command>) {
    let ideal = cx.workspace.mfu.ideal_step_ns();
    choose(ui, cache, ideal.is_some());
    let key = (cx.revision, cache.metric, ideal.map(f64::to_bits));
    if cache.made.as_ref().is_none_or(|made| made.key != key) {
        (cache.made, cache.drawn, cache.told) = (Some(Made::of(cx, key)), None, String::new());
    }
    let HeatmapCache { made: Some(made), drawn, cursor, told, .. } = cache else { return };
    if made.heat.cells.is_empty() {
        let text = if cx.workspace.job.ranks.is_empty() {
            Limit::NoGpuWork.consequence()
        } else {
            "No steps are marked, so there is nothing to lay out by step. Name the steps in NVTX ranges."
        };
        ui.add(Label::new(RichText::new(text).weak()).wrap());
        return;
    }
    remark(ui, &made.summary);
    if let Some(text) = reserved(cx, &made.heat) {
        warning(ui, cx.palette, &text);
    }
    let room = vec2(ui.available_width(), (ui.available_height() - LEGEND_PT).max(80.0));
    let plot = Plot::new(ui, cx, &made.heat, room);
    map(ui, cx, made, &plot, (drawn, cursor, told), out);
    legend(ui, cx, made);
    if !told.is_empty() {
        warning(ui, cx.palette, told);
    }
}

/// What the cells show.
fn choose(ui: &mut Ui, cache: &mut HeatmapCache, with_mfu: bool) {
    ui.horizontal_wrapped(|ui| {
        for metric in HeatMetric::ALL {
            let usable = metric != HeatMetric::Mfu || with_mfu;
            let button = Button::selectable(cache.metric == metric, metric_text(metric));
            let response = ui.add_enabled(usable, button).on_hover_text(metric_help(metric));
            if response.on_disabled_hover_text("Say under MFU what was trained").clicked() {
                cache.metric = metric;
            }
        }
    });
}

/// How large the map is, and its worst cell.
fn summary(cx: &Cx<'_>, heat: &Heat) -> String {
    let (one, many) = if heat.estimated { ("estimated step", "estimated steps") } else { ("step", "steps") };
    let size = format!(
        "{} by {}",
        format::counted(heat.ranks.len() as u64, "rank", "ranks"),
        format::counted(heat.steps.len() as u64, one, many),
    );
    match pixels::worst(heat, 0..heat.ranks.len(), 0..heat.steps.len()) {
        Some((row, column, value)) => {
            let most = if heat.metric.more_is_better() { "least" } else { "most" };
            let title = cell_title(&cx.workspace.job, heat, row, column);
            format!("{size}; {most}: {} ({title})", value_text(heat.metric, Some(value)))
        }
        None => format!("{size}; {} is not known here", metric_text(heat.metric)),
    }
}

/// What the map changes: its mesh, the cell of the keyboard, and what is told of a click.
type Kept<'a> = (&'a mut Option<Drawn>, &'a mut (usize, usize), &'a mut String);

fn map(ui: &mut Ui, cx: &Cx<'_>, made: &Made, plot: &Plot, kept: Kept<'_>, out: &mut Vec<Command>) {
    let (drawn, cursor, told) = kept;
    let (heat, job) = (&made.heat, &cx.workspace.job);
    *cursor = (cursor.0.min(heat.ranks.len().saturating_sub(1)), cursor.1.min(heat.steps.len().saturating_sub(1)));
    let response = ui.allocate_rect(plot.whole, Sense::click());
    plot.keys(ui, &response, heat, cursor);
    let text = |(row, column): (usize, usize)| {
        let title = cell_title(job, heat, row, column);
        format!("{title}: {}", cell_text(heat, row, column, made.medians.get(column).copied().flatten()))
    };
    let meant = meant(cx, heat);
    plot.describe(&response, &format!("Heatmap of {}", metric_text(heat.metric).to_lowercase()), || {
        let on_timeline = meant.map(|(row, column)| format!("; {} is shown", cell_title(job, heat, row, column)));
        text(*cursor) + &on_timeline.unwrap_or_default()
    });
    plot.paint(ui, cx, heat, drawn);
    if let Some((y, x)) = meant.map(|cell| plot.place_of(cell)) {
        // Two lines, of which one is seen on any colour of the scale.
        outline(ui, plot.place_rect(y, x), Stroke::new(4.0, cx.palette.background));
        outline(ui, plot.place_rect(y, x), Stroke::new(2.0, cx.palette.selection));
    }
    let place = response.hover_pos().and_then(|at| plot.place_at(at));
    let under = place.and_then(|(y, x)| plot.cell(heat, y, x));
    if let Some((y, x)) = place {
        outline(ui, plot.place_rect(y, x), Stroke::new(1.5, cx.palette.text));
    }
    if response.has_focus() {
        let (y, x) = plot.place_of(*cursor);
        outline(ui, plot.place_rect(y, x), Stroke::new(2.0, cx.palette.accent));
    }
    let clicked =
        response.clicked().then(|| response.interact_pointer_pos().map_or(Some(*cursor), |_| under)).flatten();
    if let (Some(cell), Some((y, x))) = (under, place) {
        response.on_hover_ui_at_pointer(|ui| {
            ui.strong(cell_title(job, heat, cell.0, cell.1));
            ui.label(cell_text(heat, cell.0, cell.1, made.medians.get(cell.1).copied().flatten()));
            if let Some(text) = reserved(cx, heat) {
                warning(ui, cx.palette, &text);
            }
            let merged = plot.merged(y, x);
            if merged > 1 {
                ui.label(format!("The worst of {} cells.", format::count(merged as u64)));
            }
            let hint = if is_open(cx, heat, cell.0) { "Click to show it" } else { "Only its summary is open" };
            ui.label(RichText::new(hint).small().weak());
        });
    }
    if let Some(cell) = clicked {
        *cursor = cell;
        *told = open(cx, heat, cell, out);
    }
}

/// What stands beside waits while the clock does not tell who was late.
fn reserved(cx: &Cx<'_>, heat: &Heat) -> Option<String> {
    reservation(&cx.workspace.job).filter(|_| heat.metric == HeatMetric::Wait)
}

/// The cell of the rank and step that the timeline is about.
fn meant(cx: &Cx<'_>, heat: &Heat) -> Option<(usize, usize)> {
    let chosen = cx.chosen()?;
    let step = chosen.step_meant(cx.view, cx.workspace)?;
    heat.cell_of(&cx.workspace.job, cx.workspace.job_rank(chosen.id)?, step)
}

fn outline(ui: &Ui, rect: Rect, stroke: Stroke) {
    ui.painter().rect_stroke(rect, 0.0, stroke, StrokeKind::Outside);
}

fn is_open(cx: &Cx<'_>, heat: &Heat, row: usize) -> bool {
    heat.ranks.get(row).is_some_and(|rank| cx.workspace.open_rank(*rank).is_some())
}

/// Shows the step of a cell; the result says why when nothing is shown.
fn open(cx: &Cx<'_>, heat: &Heat, (row, column): (usize, usize), out: &mut Vec<Command>) -> String {
    let title = || cell_title(&cx.workspace.job, heat, row, column);
    let Some(id) = heat.ranks.get(row).and_then(|rank| cx.workspace.open_rank(*rank)) else {
        return format!("{}: only the summary of that rank is open. Open its export to see the step.", title());
    };
    let Some(step) = heat.step_at(&cx.workspace.job, row, column).and_then(|at| u32::try_from(at).ok()) else {
        return format!("{}: the rank has no such step.", title());
    };
    out.push(Command::ChooseRank(id));
    out.push(Command::ShowStep(id, step));
    String::new()
}

/// The colours with their values and units.
fn legend(ui: &mut Ui, cx: &Cx<'_>, made: &Made) {
    let heat = &made.heat;
    let Some((low, high)) = heat.scale else { return };
    let small = |text: String| RichText::new(text).small();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        ui.label(small(value_text(heat.metric, Some(low))));
        let (rect, response) = ui.allocate_exact_size(vec2(SCALE_PT.0, SCALE_PT.1), Sense::hover());
        ui.painter().add(scale(cx, rect));
        response.on_hover_text("Outliers, far over the median, have the colour of the end.");
        let above = if made.above { " and more" } else { "" };
        ui.label(small(format!("{}{above}", value_text(heat.metric, Some(high)))));
        if made.gaps {
            ui.add_space(8.0);
            let (rect, _) = ui.allocate_exact_size(vec2(SCALE_PT.1, SCALE_PT.1), Sense::hover());
            plot::empty(ui, cx, rect);
            ui.label(small("no such step".to_owned()));
        }
    });
}

fn scale(cx: &Cx<'_>, rect: Rect) -> Mesh {
    let mut mesh = Mesh::default();
    let parts = SCALE_PT.0 as usize / 2;
    let x = |at: usize| rect.left() + rect.width() * at as f32 / parts as f32;
    for (at, color) in ramp::parts(cx.view.theme, parts).enumerate() {
        let part = Rect::from_min_max(pos2(x(at), rect.top()), pos2(x(at + 1), rect.bottom()));
        mesh.add_colored_rect(part, color);
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Analysis, Params, analyze};
    use crate::app::settings::Settings;
    use crate::job::{ExportSummary, JobOptions, RankSummary, StepSummary};
    use crate::timeline::color::Palette;
    use crate::trace::Trace;
    use crate::trace::testing::Fixture;
    use crate::units::Span;
    use crate::view::{Doc, RankId, Theme, ViewState, Workspace};
    use std::sync::Arc;

    fn document() -> (Arc<Trace>, Arc<Analysis>) {
        let mut fixture = Fixture::new();
        for number in 0..4_i64 {
            let at_ns = number * 1000;
            fixture.range(&format!("step {number}"), 11, at_ns, at_ns + 900);
            fixture.launched("gemm", 7, 11, at_ns + 1, at_ns + 5, at_ns + 800 + number);
        }
        let trace = fixture.build();
        let analysis = analyze(&trace, &Params::default());
        (Arc::new(trace), Arc::new(analysis))
    }

    #[test]
    fn a_thousand_ranks_are_laid_out_once_in_a_quad_a_pixel_at_most() {
        let step = |number: i64| StepSummary {
            number: Some(number),
            window: Span::new(number * 1000, number * 1000 + 500 + number),
            ..StepSummary::default()
        };
        let rank = |rank: i32| RankSummary {
            label: rank.to_string(),
            steps: (0..100).map(step).collect(),
            ..RankSummary::default()
        };
        let summary = |at: i32| Arc::new(ExportSummary { ranks: vec![rank(at)], ..ExportSummary::default() });
        let workspace = Workspace::of(Vec::new(), (0..1024).map(summary).collect(), JobOptions::default());
        let (view, settings) = (ViewState::open(&workspace), Settings::default());
        let palette = Palette::of(Theme::Dark);
        let cx = Cx { workspace: &workspace, view: &view, settings: &settings, palette, revision: 1 };
        let context = egui::Context::default();
        let (mut cache, mut meshes) = (HeatmapCache::default(), Vec::new());
        for _ in 0..4 {
            let input = egui::RawInput {
                screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, vec2(400.0, 700.0))),
                ..egui::RawInput::default()
            };
            let mut output = context.run_ui(input, |ui| show(ui, &cx, &mut cache, &mut Vec::new()));
            output.textures_delta.clear();
            meshes.extend(cache.drawn.as_ref().map(|drawn| Arc::clone(&drawn.mesh)));
        }
        assert_eq!(cache.made.as_ref().map(|made| made.heat.cells.len()), Some(102_400));
        let quads = meshes[3].vertices.len() / 4;
        assert!(quads > 50_000 && quads <= 100 * 700, "{quads}");
        assert!(Arc::ptr_eq(&meshes[2], &meshes[3]), "the mesh is made once");
    }

    #[test]
    fn a_step_is_shown_on_an_open_rank_and_told_of_a_summary() {
        let (trace, analysis) = document();
        // Of another rank: what is open is not shown twice.
        let summary = Arc::new(ExportSummary { file: "rank1.sqlite".into(), ..ExportSummary::of(&trace, &analysis) });
        let workspace = Workspace::of(vec![Doc::new(trace, analysis)], vec![summary], JobOptions::default());
        let (view, settings) = (ViewState::open(&workspace), Settings::default());
        let palette = Palette::of(Theme::Dark);
        let cx = Cx { workspace: &workspace, view: &view, settings: &settings, palette, revision: 1 };
        let heat = Heat::of(&workspace.job, HeatMetric::StepTime, None);
        assert_eq!((heat.ranks.len(), heat.steps.as_slice()), (2, &[0, 1, 2, 3][..]));
        let mut out = Vec::new();
        assert_eq!(open(&cx, &heat, (0, 2), &mut out), "");
        let id = RankId { doc: 0, rank: 0 };
        assert_eq!(out, [Command::ChooseRank(id), Command::ShowStep(id, 2)]);
        out.clear();
        assert!(open(&cx, &heat, (1, 2), &mut out).contains("only the summary of that rank is open"));
        assert!(out.is_empty() && is_open(&cx, &heat, 0) && !is_open(&cx, &heat, 1));
        // The cell of a step is found again, and that of the step on the timeline is the one meant.
        assert_eq!((heat.cell_of(&workspace.job, 1, 2), heat.cell_of(&workspace.job, 1, 9)), (Some((1, 2)), None));
        let mut view = view.clone();
        assert_eq!(meant(&Cx { view: &view, ..cx }, &heat), None, "all four steps are in view");
        view.apply(&Command::ShowStep(id, 2), &workspace);
        assert_eq!(meant(&Cx { view: &view, ..cx }, &heat), Some((0, 2)));
    }
}
