//! Plots of latency, queue depth and the histogram. They stand still: the timeline moves the view.

use crate::analysis::{HistogramBin, LaunchPoint};
use crate::format;
use crate::timeline::color::Palette;
use crate::timeline::ruler::tick_ns;
use crate::units::Span;
use egui::{Color32, Role, Ui, WidgetInfo};
use egui_plot::{AxisHints, Bar, BarChart, GridMark, Line, Plot, PlotBounds, PlotPoint, PlotPoints, PlotUi};

const HEIGHT_PT: f32 = 92.0;
const AXIS_PT: f32 = 52.0;

/// Latency over the view: the mean as a line, the longest filled.
pub fn latency(ui: &mut Ui, palette: &Palette, window: Span, points: &[LaunchPoint]) {
    let value = |point: &LaunchPoint| point.max_latency_ns.unwrap_or(0) as f64;
    let top = points.iter().map(value).fold(1.0, f64::max);
    let tick = tick_ns(top / 3.0) as f64;
    let text = |value: f64| format::time_at(value.round() as i64, tick as i64);
    let tip = |point: &LaunchPoint| {
        let Some(mean) = point.mean_latency_ns else { return "no launch".to_owned() };
        let longest = format::duration_or_unknown(point.max_latency_ns);
        format!("mean {}, longest {longest}, {} launches", format::duration_f(mean), format::count(point.launches))
    };
    let lines =
        [line(points, |point| point.max_latency_ns.map(|ns| ns as f64)), line(points, |point| point.mean_latency_ns)];
    series(ui, palette, "Latency in view", (window, points), (top, tick), &text, &tip, lines);
}

/// Queue depth over the view: the mean as a line, the largest filled.
pub fn depth(ui: &mut Ui, palette: &Palette, window: Span, points: &[LaunchPoint]) {
    let top = points.iter().map(|point| f64::from(point.max_depth)).fold(1.0, f64::max);
    let tick = tick_ns(top / 3.0) as f64;
    let text = |value: f64| format::count(value.round().max(0.0) as u64);
    let tip = |point: &LaunchPoint| {
        let (mean, most) = (format::mean_count(Some(point.mean_depth)), format::count(point.max_depth.into()));
        format!("mean {mean}, at most {most}")
    };
    let lines = [line(points, |point| Some(f64::from(point.max_depth))), line(points, |point| Some(point.mean_depth))];
    series(ui, palette, "Queue depth in view", (window, points), (top, tick), &text, &tip, lines);
}

/// Places of a value, one a point in its middle; parts without a value are passed over.
fn line(points: &[LaunchPoint], value: impl Fn(&LaunchPoint) -> Option<f64>) -> Vec<[f64; 2]> {
    let middle = |span: Span| f64::midpoint(span.start_ns as f64, span.end_ns as f64);
    points.iter().filter_map(|point| Some([middle(point.span), value(point)?])).collect()
}

#[expect(clippy::too_many_arguments, reason = "what two plots differ in")]
fn series(
    ui: &mut Ui,
    palette: &Palette,
    name: &str,
    (window, points): (Span, &[LaunchPoint]),
    (top, tick): (f64, f64),
    text: &dyn Fn(f64) -> String,
    tip: &dyn Fn(&LaunchPoint) -> String,
    [largest, mean]: [Vec<[f64; 2]>; 2],
) {
    let marks: Vec<(f64, String)> = (0..6).map(|at| f64::from(at) * tick).map(|value| (value, text(value))).collect();
    let response = plain(name, palette, marks, tick, top).show_grid([false, true]).show(ui, |plot| {
        bound(plot, [window.start_ns as f64, window.end_ns as f64], top);
        let area = Line::new("largest", PlotPoints::from(largest)).color(palette.text_dim).width(0.0);
        plot.line(area.fill(0.0).fill_alpha(0.35).allow_hover(false));
        plot.line(Line::new("mean", PlotPoints::from(mean)).color(palette.accent).width(1.5).allow_hover(false));
        plot.pointer_coordinate()
    });
    let summary = format!("{name}, {} points", points.len());
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &summary));
    let under = |pointer: PlotPoint| points.iter().find(|point| point.span.contains(pointer.x.round() as i64));
    if let Some(point) = response.inner.and_then(under) {
        response.response.on_hover_text_at_pointer(format!(
            "{}: {}",
            format::duration(point.span.start_ns),
            tip(point)
        ));
    }
}

/// Latencies as bars, one for each power of two.
pub fn histogram(ui: &mut Ui, palette: &Palette, bins: &[HistogramBin]) {
    if bins.is_empty() {
        return;
    }
    let top = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    let tick = tick_ns(top / 3.0) as f64;
    let marks = (0..6).map(|at| f64::from(at) * tick).map(|value| (value, format::count(value as u64))).collect();
    let edges: Vec<String> = bins.iter().map(|bin| format::duration(bin.from_ns)).collect();
    let bars = bins.iter().enumerate().map(|(at, bin)| bar(at, bin.count as f64, palette.accent)).collect();
    let every = bins.len().div_ceil(4).max(1);
    let axis = AxisHints::new_x().formatter(move |mark, _| {
        let at = mark.value.round();
        // A label under the last bars would be cut by the edge of the panel.
        let fits = at >= 0.0 && at + 2.0 < edges.len() as f64;
        edges.get(at as usize).filter(|_| fits).cloned().unwrap_or_default()
    });
    let response = plain("latency histogram", palette, marks, tick, top)
        .show_axes([true, true])
        .custom_x_axes(vec![axis])
        .show_grid([false, true])
        .x_grid_spacer(move |_| {
            let marks = (every / 2..64).step_by(every);
            marks.map(|at| GridMark { value: at as f64, step_size: every as f64 }).collect()
        })
        .show(ui, |plot| {
            bound(plot, [-0.6, bins.len() as f64 - 0.4], top);
            plot.bar_chart(BarChart::new("launches", bars).allow_hover(false));
            plot.pointer_coordinate()
        });
    let summary = format!("Histogram of latencies, {} bins", bins.len());
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &summary));
    let at = response.inner.map(|pointer| pointer.x.round()).filter(|at| *at >= 0.0);
    if let Some(bin) = at.and_then(|at| bins.get(at as usize)) {
        response.response.on_hover_text_at_pointer(format!(
            "{} launches with a latency of {} to {}",
            format::count(bin.count),
            format::duration(bin.from_ns),
            format::duration(bin.to_ns),
        ));
    }
}

fn bar(at: usize, height: f64, color: Color32) -> Bar {
    Bar::new(at as f64, height).width(0.9).fill(color)
}

/// Shows exactly this part: plots would else keep what they showed first.
fn bound(plot: &mut PlotUi<'_>, [from, to]: [f64; 2], top: f64) {
    plot.set_plot_bounds(PlotBounds::from_min_max([from, 0.0], [to, top * 1.08]));
}

/// A plot that does not move, with the y axis labelled by `marks`.
fn plain<'a>(name: &str, palette: &Palette, marks: Vec<(f64, String)>, tick: f64, top: f64) -> Plot<'a> {
    let label = move |mark: GridMark| {
        marks
            .iter()
            .find(|(value, _)| (value - mark.value).abs() < tick * 0.01)
            .map_or_else(String::new, |m| m.1.clone())
    };
    let axis = AxisHints::new_y().formatter(move |mark, _| label(mark)).min_thickness(AXIS_PT);
    Plot::new(name.to_owned())
        .height(HEIGHT_PT)
        .show_axes([false, true])
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_crosshair(false)
        .custom_y_axes(vec![axis])
        .y_grid_spacer(move |_| {
            let marks = (0..6).map(|at| GridMark { value: f64::from(at) * tick, step_size: tick });
            marks.filter(|mark| mark.value <= top).collect()
        })
        .grid_spacing(12.0..=24.0)
        .grid_color(palette.grid)
}
