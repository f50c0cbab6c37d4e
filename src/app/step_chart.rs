//! One bar a step, outliers marked; a click shows the step.
//!
//! Above [`MOST_BARS`] steps a bar stands for several and shows the longest of them, so that no outlier disappears.

use super::cx::{Chosen, Cx};
use super::still_plot::{YAxis, bound_to_bars, still_plot};
use crate::analysis::{Step, StepEdge, Steps};
use crate::format;
use crate::report::edge_text;
use crate::timeline::color::step_color;
use crate::view::Command;
use egui::{Label, RichText, Role, Stroke, Ui, WidgetInfo};
use egui_plot::{Bar, BarChart, HLine, PlotPoint};

/// Bars drawn at most.
const MOST_BARS: usize = 256;
const HEIGHT_PT: f32 = 112.0;

/// Draws the chart with its heading.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, out: &mut Vec<Command>) {
    let Some(steps) = chosen.steps() else {
        ui.strong("Steps");
        let hint = "No steps are marked. Annotate the training loop, for example with torch.cuda.nvtx.range_push(f\"step \
                    {i}\"), to compare steps and see the typical one.";
        ui.label(RichText::new(hint).weak());
        return;
    };
    ui.horizontal(|ui| {
        ui.strong("Step time");
        let (one, many) = if steps.estimated { ("estimated step", "estimated steps") } else { ("step", "steps") };
        let mut text = format!(
            "{}, median {}",
            format::counted(steps.steps.len() as u64, one, many),
            format::duration(steps.typical.median_span_ns),
        );
        if let Some(line) = left_out(steps) {
            text.push_str(&line);
        }
        let tip = if steps.estimated {
            "No range marks the steps: they were guessed from kernels that repeat."
        } else {
            "Windows of the steps: GPU time each step owns."
        };
        ui.add(Label::new(RichText::new(text).small().weak()).truncate()).on_hover_text(tip);
    });
    chart(ui, cx, chosen, steps, out);
}

/// How many steps a bar stands for, and for each bar the step it shows with its index: the longest of them.
pub(super) fn one_per_bar(steps: &[Step]) -> (usize, Vec<(usize, &Step)>) {
    let per_bar = steps.len().div_ceil(MOST_BARS).max(1);
    let starts = (0..steps.len()).step_by(per_bar);
    (per_bar, starts.filter_map(|at| longest(steps, at, (at + per_bar).min(steps.len()))).collect())
}

fn longest(steps: &[Step], from: usize, to: usize) -> Option<(usize, &Step)> {
    let all = steps.get(from..to)?.iter().enumerate().map(|(at, step)| (from + at, step));
    all.max_by_key(|(at, step)| (step.window.len_ns(), std::cmp::Reverse(*at)))
}

fn chart(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, all: &Steps, out: &mut Vec<Command>) {
    let steps = all.steps.as_slice();
    let (per_bar, shown) = one_per_bar(steps);
    let current = chosen.step_meant(cx.view, cx.workspace);
    let bars = shown.iter().enumerate().map(|(bar, (_, step))| {
        let here = current.is_some_and(|current| current / per_bar == bar);
        let stroke = if here { Stroke::new(1.5, cx.palette.text) } else { Stroke::NONE };
        Bar::new(bar as f64, step.window.len_ns() as f64).width(0.8).fill(step_color(step, cx.palette)).stroke(stroke)
    });
    let bars: Vec<Bar> = bars.collect();
    let median = all.typical.median_span_ns as f64;
    let top = steps.iter().map(|step| step.window.len_ns()).max().unwrap_or(1) as f64;
    let axis = YAxis::up_to(top, 4.0);
    let label = move |value: f64| format::time_at(value.round() as i64, axis.tick as i64);
    let response = still_plot("step times", cx.palette, axis, label).height(HEIGHT_PT).show(ui, |plot| {
        bound_to_bars(plot, shown.len(), axis);
        plot.bar_chart(BarChart::new("Step time", bars).allow_hover(false));
        plot.hline(HLine::new("median", median).color(cx.palette.text_dim).width(1.0).allow_hover(false));
        plot.pointer_coordinate()
    });
    let text = format!("Step times, {} bars; click one to show its step", shown.len());
    response.response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
    let Some(at) = response.inner.and_then(|pointer| step_under(pointer, &shown)) else { return };
    let clicked = response.response.clicked();
    if let Some(step) = steps.get(at) {
        response.response.on_hover_ui_at_pointer(|ui| {
            ui.strong(&step.name);
            ui.label(describe(step));
            ui.label(RichText::new("Click to show it").small().weak());
        });
    }
    if clicked {
        out.push(Command::ShowStep(chosen.id, at as u32));
    }
}

/// Index of the step whose bar is at `pointer`.
pub(super) fn step_under(pointer: PlotPoint, shown: &[(usize, &Step)]) -> Option<usize> {
    let bar = pointer.x.round();
    (bar >= 0.0).then(|| shown.get(bar as usize)).flatten().map(|(at, _)| *at)
}

fn describe(step: &Step) -> String {
    let length = format::duration(step.window.len_ns());
    match kind(step) {
        "" => length,
        kind => format!("{length}, {kind}"),
    }
}

/// Which steps are not among the typical ones, as they follow a list: "; left out: 1 warm-up, 2 outside 20 %".
fn left_out(steps: &Steps) -> Option<String> {
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for kind in steps.steps.iter().map(kind).filter(|kind| !kind.is_empty()) {
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let texts: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| match (*kind, *count) {
            ("outlier", count) => format::counted(count, "outlier", "outliers"),
            (kind, count) => format!("{} {kind}", format::count(count)),
        })
        .collect();
    (!texts.is_empty()).then(|| format!("; left out: {}", texts.join(", ")))
}

/// What sets a step apart; empty for typical ones.
pub const fn kind(step: &Step) -> &'static str {
    match step.edge {
        // By what, the tip of the column tells.
        Some(StepEdge::Cut) => "cut",
        edge => edge_text(edge, step.typical),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;

    #[test]
    fn steps_that_are_left_out_are_counted_by_why() {
        let mut fixture = Fixture::new();
        let mut at_ns = 0;
        for (number, len_ns) in [300, 100, 100, 100, 130, 100, 170, 100, 100, 180].into_iter().enumerate() {
            fixture.range(&format!("step {number}"), 11, at_ns, at_ns + len_ns);
            fixture.launched("gemm", 7, 11, at_ns + 1, at_ns + 5, at_ns + len_ns);
            at_ns += len_ns;
        }
        let analysis = analyze(&fixture.build(), &Params::default());
        let steps = analysis.ranks[0].steps.as_ref().unwrap();
        let text = left_out(steps).unwrap();
        assert_eq!(text, "; left out: 1 warm-up, 1 outside 20 %, 2 outliers");
        let typical =
            Steps { steps: steps.steps.iter().filter(|step| step.typical).cloned().collect(), ..steps.clone() };
        assert_eq!(left_out(&typical), None);
    }
}
