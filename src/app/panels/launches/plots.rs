//! Plots of latency, queue depth and the histogram. They stand still: the timeline moves the view.

use crate::analysis::{HistogramBin, LaunchPoint};
use crate::app::still_plot::{self, YAxis, bound, still_plot};
use crate::format;
use crate::timeline::color::Palette;
use crate::trace::Trace;
use crate::units::Span;
use egui::{Color32, Role, Ui, WidgetInfo};
use egui_plot::{Bar, Line, Plot, PlotPoint, PlotPoints};

const HEIGHT_PT: f32 = 92.0;
/// Height of the histogram, with the title of its axis.
const TALL_PT: f32 = 112.0;
const LATENCY: &str = "Latency in view";
const DEPTH: &str = "Queue depth in view";

/// Latency over the view: the mean as a line, the longest filled.
pub fn latency(ui: &mut Ui, palette: &Palette, trace: &Trace, window: Span, points: &[LaunchPoint]) {
    let value = |point: &LaunchPoint| point.max_latency_ns.unwrap_or(0) as f64;
    let top = points.iter().map(value).fold(1.0, f64::max);
    let axis = YAxis::up_to(top, 3.0);
    let text = move |value: f64| format::time_at(value.round() as i64, axis.tick as i64);
    let tip = |point: &LaunchPoint| {
        let Some(mean) = point.mean_latency_ns else { return "no launch".to_owned() };
        let longest = format::duration_or_unknown(point.max_latency_ns);
        format!(
            "mean {}, longest {longest}, {}",
            format::duration_f(mean),
            format::counted(point.launches, "launch", "launches")
        )
    };
    let lines =
        [line(points, |point| point.max_latency_ns.map(|ns| ns as f64)), line(points, |point| point.mean_latency_ns)];
    let plot = still_plot(LATENCY, palette, axis, text);
    series(ui, (palette, axis, plot), LATENCY, (trace, window, points), &tip, lines);
}

/// Queue depth over the view: the mean as a line, the largest filled.
pub fn depth(ui: &mut Ui, palette: &Palette, trace: &Trace, window: Span, points: &[LaunchPoint]) {
    let top = points.iter().map(|point| f64::from(point.max_depth)).fold(1.0, f64::max);
    let axis = YAxis::up_to(top, 3.0);
    let text = |value: f64| format::count(value.round().max(0.0) as u64);
    let tip = |point: &LaunchPoint| {
        let (mean, most) = (format::mean_count(Some(point.mean_depth)), format::count(point.max_depth.into()));
        format!("mean {mean}, at most {most}")
    };
    let lines = [line(points, |point| Some(f64::from(point.max_depth))), line(points, |point| Some(point.mean_depth))];
    let plot = still_plot(DEPTH, palette, axis, text);
    series(ui, (palette, axis, plot), DEPTH, (trace, window, points), &tip, lines);
}

/// Places of a value, one a point in its middle; parts without a value are passed over.
fn line(points: &[LaunchPoint], value: impl Fn(&LaunchPoint) -> Option<f64>) -> Vec<[f64; 2]> {
    let middle = |span: Span| f64::midpoint(span.start_ns as f64, span.end_ns as f64);
    points.iter().filter_map(|point| Some([middle(point.span), value(point)?])).collect()
}

fn series(
    ui: &mut Ui,
    (palette, axis, plot): (&Palette, YAxis, Plot<'_>),
    name: &str,
    (trace, window, points): (&Trace, Span, &[LaunchPoint]),
    tip: &dyn Fn(&LaunchPoint) -> String,
    [largest, mean]: [Vec<[f64; 2]>; 2],
) {
    let response = plot.height(HEIGHT_PT).show(ui, |plot| {
        bound(plot, [window.start_ns as f64, window.end_ns as f64], axis);
        let area = Line::new("largest", PlotPoints::from(largest)).color(palette.text_dim).width(0.0);
        plot.line(area.fill(0.0).fill_alpha(0.35).allow_hover(false));
        plot.line(Line::new("mean", PlotPoints::from(mean)).color(palette.accent).width(1.5).allow_hover(false));
        plot.pointer_coordinate()
    });
    let summary = format!("{name}, {} points", points.len());
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &summary));
    let under = |pointer: PlotPoint| points.iter().find(|point| point.span.contains(pointer.x.round() as i64));
    if let Some(point) = response.inner.and_then(under) {
        let at = format::duration(trace.since_start_ns(point.span.start_ns));
        response.response.on_hover_text_at_pointer(format!("{at}: {}", tip(point)));
    }
}

/// Latencies as bars, one for each power of two.
pub fn histogram(ui: &mut Ui, palette: &Palette, bins: &[HistogramBin]) {
    if bins.is_empty() {
        return;
    }
    let top = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    let axis = YAxis::up_to(top, 3.0);
    let edges: Vec<String> = bins.iter().map(|bin| format::duration(bin.from_ns)).collect();
    let bars = bins.iter().enumerate().map(|(at, bin)| bar(at, bin.count as f64, palette.accent)).collect();
    let response =
        still_plot::histogram(ui, palette, ("latency histogram", "Latency"), (bars, edges), (axis, 4, TALL_PT));
    let summary = format!("Histogram of latencies, {}", format::counted(bins.len() as u64, "bin", "bins"));
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &summary));
    let at = response.inner.map(|pointer| pointer.x.round()).filter(|at| *at >= 0.0);
    if let Some(bin) = at.and_then(|at| bins.get(at as usize)) {
        response.response.on_hover_text_at_pointer(format!(
            "{} with a latency of {} to {}",
            format::counted(bin.count, "launch", "launches"),
            format::duration(bin.from_ns),
            format::duration(bin.to_ns),
        ));
    }
}

fn bar(at: usize, height: f64, color: Color32) -> Bar {
    Bar::new(at as f64, height).width(0.9).fill(color)
}
