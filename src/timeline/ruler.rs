//! The time axis: ticks at 1, 2 or 5 times a power of ten.

use super::clock;
use super::color::Palette;
use super::draw::Frame;
use super::paint::LANE_FONT;
use crate::format;
use crate::view::{Axis, Command, Viewport};
use egui::{Align2, CursorIcon, Painter, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2};

/// Least distance of ticks with text.
const TICK_PT: f64 = 96.0;
/// The same where the text is a time of day.
const TICK_OF_DAY_PT: f64 = 136.0;
/// Half of what the pointer's time may cover.
const POINTER_PT: f32 = 48.0;
/// The same where it is a time of day.
const POINTER_OF_DAY_PT: f32 = 64.0;

/// Distance of ticks in nanoseconds: the smallest of 1, 2, 5 times a power of ten that is at least `least_ns`.
pub fn tick_ns(least_ns: f64) -> i64 {
    if !(least_ns.is_finite() && least_ns > 1.0) {
        return 1;
    }
    // In whole numbers: logarithms differ in the last digit from system to system.
    let powers = (0..18).map(|exponent| 10_i64.pow(exponent));
    let mut ticks = powers.flat_map(|power| [power, 2 * power, 5 * power]);
    ticks.find(|tick| *tick as f64 >= least_ns * 0.999_999).unwrap_or(1_000_000_000_000_000_000)
}

/// Distance of the ticks in `frame`.
fn tick_of(frame: &Frame<'_>) -> i64 {
    let room_pt = if is_of_day(frame) { TICK_OF_DAY_PT } else { TICK_PT };
    tick_ns(frame.viewport().ns_per_px(frame.width_pt()) * room_pt)
}

fn is_of_day(frame: &Frame<'_>) -> bool {
    frame.state.zero(frame.workspace).epoch_ns.is_some()
}

/// Axis time `at_ns` to about a pixel, in the unit of the ticks.
pub fn text_at(frame: &Frame<'_>, at_ns: i64) -> String {
    let pixel_ns = frame.viewport().ns_per_px(frame.width_pt()).max(1.0) as i64;
    clock::text(frame.workspace, frame.state, at_ns, tick_of(frame), pixel_ns)
}

/// Axis times of the ticks in `view`, in order, `tick_ns` apart.
pub fn ticks(view: Viewport, tick_ns: i64) -> impl Iterator<Item = i64> {
    let step = tick_ns.max(1);
    let first = (view.start_ns / step as f64).ceil() as i64;
    let count = (view.len_ns / step as f64).ceil().clamp(0.0, 10_000.0) as i64;
    (first..=first.saturating_add(count))
        .map(move |n| n.saturating_mul(step))
        .take_while(move |at| (*at as f64) <= view.end_ns())
}

/// Paints the axis into `rect`, and grid lines through the lanes with `lanes`.
pub fn paint(
    painter: &Painter,
    lanes: &Painter,
    frame: &Frame<'_>,
    palette: &Palette,
    rect: Rect,
    pointer: Option<f32>,
) {
    painter.rect_filled(rect, 0.0, palette.panel);
    let view = frame.viewport();
    let tick = tick_of(frame);
    let zero = frame.state.zero(frame.workspace);
    // Ticks stand at round numbers of what is shown: from zero on, or of the day.
    let zero_ns = zero.epoch_ns.map_or(zero.at_ns, |epoch_ns| -epoch_ns.rem_euclid(tick));
    let shown = Viewport { start_ns: view.start_ns - zero_ns as f64, ..view };
    let pointer_pt = if is_of_day(frame) { POINTER_OF_DAY_PT } else { POINTER_PT };
    for at_ns in ticks(shown, tick).map(|at_ns| at_ns + zero_ns) {
        let x = frame.x_of(at_ns as f64);
        lanes.vline(x, frame.top_pt..=frame.bottom_pt, Stroke::new(frame.px_pt(), palette.grid.gamma_multiply(0.7)));
        painter.vline(x, rect.bottom() - 5.0..=rect.bottom(), Stroke::new(1.0, palette.text_dim));
        let text = clock::text(frame.workspace, frame.state, at_ns, tick, tick);
        let galley = painter.layout_no_wrap(text, LANE_FONT, palette.text_dim);
        // A text that would be cut at the edge, or by the pointer's time, is left out; its tick stays.
        let (left, right) = (x + 4.0, x + 4.0 + galley.size().x);
        let covered = pointer.is_some_and(|at| left < at + pointer_pt && at - pointer_pt < right);
        if left >= frame.left_pt && right <= frame.right_pt && !covered {
            // The flags of bookmarks have the room below the texts.
            let middle = (rect.top() + rect.bottom() - super::flags::POLE_PT) / 2.0;
            painter.galley(pos2(left, frame.snap(middle - galley.size().y / 2.0) + 1.0), galley, palette.text_dim);
        }
    }
    painter.hline(rect.x_range(), rect.bottom(), Stroke::new(frame.px_pt(), palette.grid));
}

/// Paints the visible length into the corner above the lane names.
pub fn paint_corner(painter: &Painter, frame: &Frame<'_>, palette: &Palette, rect: Rect) {
    painter.rect_filled(rect, 0.0, palette.panel);
    let length = format::duration_f(frame.viewport().len_ns);
    let axis = Some(clock::name(frame.workspace, frame.state)).filter(|_| frame.state.axis != Axis::Capture);
    let named = axis.map(|axis| format!("{length}, {axis}"));
    let texts = named.into_iter().chain([format!("{length} visible"), length]);
    let mut galleys = texts.map(|text| painter.layout_no_wrap(text, LANE_FONT, palette.text_dim));
    let room_pt = rect.width() - 12.0 - super::lane_list::BUTTON_PT;
    if let Some(galley) = galleys.find(|galley| galley.size().x <= room_pt) {
        let corner = Align2::RIGHT_CENTER.anchor_size(pos2(rect.right() - 8.0, rect.center().y), galley.size()).min;
        painter.galley(corner, galley, palette.text_dim);
    }
    painter.hline(rect.x_range(), rect.bottom(), Stroke::new(frame.px_pt(), palette.grid));
}

/// The corner takes clicks: each chooses the next time axis.
pub fn corner(ui: &Ui, frame: &Frame<'_>, rect: Rect, out: &mut Vec<Command>) {
    let response = ui.interact(rect, ui.scope_id().with("time axis"), Sense::click());
    let name = format!("Time axis: {}", clock::name(frame.workspace, frame.state));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if response.clicked() {
        out.push(Command::SetAxis(frame.state.axis.next()));
    }
    let about = clock::about(frame.workspace, frame.state);
    let next = frame.state.axis.next().text();
    response.on_hover_cursor(CursorIcon::PointingHand).on_hover_ui(|ui| {
        ui.label(about);
        ui.label(egui::RichText::new(format!("Click, or T: {next}")).small().weak());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_one_two_or_five() {
        assert_eq!([0.1, 1.0, 1.1, 3.0, 10.0, 11.0, 49.0, 51.0].map(tick_ns), [1, 1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(tick_ns(f64::NAN), 1);
    }

    #[test]
    fn the_first_tick_is_the_first_in_view() {
        let view = Viewport { start_ns: -15.0, len_ns: 40.0 };
        assert_eq!(ticks(view, 10).collect::<Vec<_>>(), [-10, 0, 10, 20]);
    }

    proptest! {
        #[test]
        fn ticks_never_crowd(least in 0.001..1e15_f64) {
            let tick = tick_ns(least);
            prop_assert!(tick as f64 >= least * 0.99999 && (tick as f64) <= (least * 2.6).max(1.0));
        }
    }
}
