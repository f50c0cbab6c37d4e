//! A plot that stands still: the timeline moves the view, so a plot neither pans nor zooms, and always shows all it has.

use crate::format;
use crate::timeline::color::Palette;
use crate::timeline::ruler;
use egui::{RichText, TextStyle, Ui};
use egui_plot::{AxisHints, Bar, BarChart, GridMark, Plot, PlotBounds, PlotPoint, PlotResponse, PlotUi};

/// Room for the labels of the y axis, in points.
const AXIS_PT: f32 = 52.0;

/// Height of the title of an axis with the room around it, in heights of its text.
const TITLE: f32 = 1.25;

/// A bar stands around a whole number; its bin begins so much before that.
const BEFORE: f64 = 0.5;

/// The y axis of a plot.
#[derive(Debug, Clone, Copy)]
pub struct YAxis {
    /// The largest value shown.
    pub top: f64,
    /// Distance of the grid lines.
    pub tick: f64,
}

impl YAxis {
    /// An axis up to `top` with about `lines` grid lines, at 1, 2 or 5 times a power of ten.
    pub fn up_to(top: f64, lines: f64) -> Self {
        Self { top, tick: ruler::tick_ns(top / lines) as f64 }
    }
}

/// A plot with the y axis `axis`, whose grid lines `label` names.
pub fn still_plot<'a>(name: &str, palette: &Palette, axis: YAxis, label: impl Fn(f64) -> String + 'a) -> Plot<'a> {
    let hints = AxisHints::new_y().formatter(move |mark, _| label(mark.value)).min_thickness(AXIS_PT);
    Plot::new(name.to_owned())
        .show_axes([false, true])
        .show_grid([false, true])
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_crosshair(false)
        .custom_y_axes(vec![hints])
        .y_grid_spacer(move |_| {
            let marks = (0..8).map(|at| GridMark { value: f64::from(at) * axis.tick, step_size: axis.tick });
            marks.filter(|mark| mark.value <= axis.top).collect()
        })
        .grid_spacing(12.0..=24.0)
        .grid_color(palette.grid)
}

/// Shows exactly this part: a plot would else keep what it showed first.
pub fn bound(plot: &mut PlotUi<'_>, [from, to]: [f64; 2], axis: YAxis) {
    plot.set_plot_bounds(PlotBounds::from_min_max([from, 0.0], [to, axis.top * 1.08]));
}

/// Shows so many bars, one at each whole number.
pub fn bound_to_bars(plot: &mut PlotUi<'_>, bars: usize, axis: YAxis) {
    bound(plot, [-0.6, bars as f64 - 0.4], axis);
}

/// A bar for each bin of a logarithmic axis, a few edges between them named: the histogram of `what`, such as "Latency".
/// `name` tells it from other plots. The result is what the plot answers, with the pointer's place on it.
pub fn histogram(
    ui: &mut Ui,
    palette: &Palette,
    (name, what): (&str, &str),
    (bars, edges): (Vec<Bar>, Vec<String>),
    (axis, labels, height_pt): (YAxis, usize, f32),
) -> PlotResponse<Option<PlotPoint>> {
    let count = edges.len();
    let every = count.div_ceil(labels).max(1);
    let title = RichText::new(format!("{what}, logarithmic")).small();
    // The plot itself learns of this height from its last frame: in the first the title would lie over the ticks.
    let height = |style: TextStyle| ui.text_style_height(&style);
    let below_pt = height(TextStyle::Body) + height(TextStyle::Small) * TITLE;
    let hints = AxisHints::new_x().min_thickness(below_pt).label(title).formatter(move |mark, _| {
        let at = (mark.value + BEFORE).round();
        // A label under the last bars would be cut by the edge of the panel.
        let fits = at >= 0.0 && at + 1.0 < edges.len() as f64;
        edges.get(at as usize).filter(|_| fits).cloned().unwrap_or_default()
    });
    still_plot(name, palette, axis, |value| format::count(value.round() as u64))
        .height(height_pt)
        .show_axes([true, true])
        .custom_x_axes(vec![hints])
        .x_grid_spacer(move |_| {
            let marks = (every / 2..64).step_by(every);
            marks.map(|at| GridMark { value: at as f64 - BEFORE, step_size: every as f64 }).collect()
        })
        .show(ui, |plot| {
            bound_to_bars(plot, count, axis);
            plot.bar_chart(BarChart::new(name.to_owned(), bars).allow_hover(false));
            plot.pointer_coordinate()
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Theme;
    use egui::{Context, Pos2, RawInput, Rect, Shape, vec2};

    /// Texts of a shape and where they stand.
    fn texts(shape: &Shape, found: &mut Vec<(String, Rect)>) {
        match shape {
            Shape::Text(text) => found.push((text.galley.text().to_owned(), text.visual_bounding_rect())),
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, found)),
            _ => {}
        }
    }

    #[test]
    fn the_title_of_a_histogram_lies_over_no_tick_from_the_first_frame_on() {
        for width in [220.0, 300.0, 420.0, 900.0] {
            let ctx = Context::default();
            let input = RawInput {
                screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(width, 200.0))),
                ..RawInput::default()
            };
            let mut output = ctx.run_ui(input, |ui| {
                let bars = (0..12).map(|at| Bar::new(f64::from(at), 3.0)).collect();
                let edges = (0..12).map(|at| format!("{at}00.0 ms")).collect();
                let palette = Palette::of(Theme::Dark);
                histogram(ui, palette, ("a", "Duration"), (bars, edges), (YAxis::up_to(3.0, 2.0), 3, 76.0));
            });
            output.textures_delta.clear();
            let mut found = Vec::new();
            output.shapes.iter().for_each(|clipped| texts(&clipped.shape, &mut found));
            let (title, ticks): (Vec<_>, Vec<_>) = found.iter().partition(|(text, _)| text.ends_with("logarithmic"));
            let [(_, title)] = title[..] else { panic!("one title: {found:?}") };
            // Where ticks are too close, they are left out.
            let any = ticks.iter().any(|(text, _)| text.ends_with("ms"));
            assert!(any || width < 300.0, "{width}: {found:?}");
            for (text, tick) in ticks {
                assert!(
                    !tick.shrink(0.5).intersects(title.shrink(0.5)),
                    "{width}: {text} at {tick:?}, title at {title:?}"
                );
            }
        }
    }

    #[test]
    fn grid_lines_are_round_and_few() {
        for (top, expected) in [(30.0e6, 10.0e6), (4.0e6, 1.0e6), (5.0e6, 2.0e6), (17.0e6, 5.0e6), (1.0, 1.0)] {
            let tick = YAxis::up_to(top, 4.0).tick;
            assert!((tick - expected).abs() < 1e-6 * expected, "{top}: {tick}");
        }
    }
}
