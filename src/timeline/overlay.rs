//! What lies over the lanes: the selection and what it is linked to, the selected span, the pointer's time.

use super::cache::Cache;
use super::color::Palette;
use super::draw::Frame;
use super::lanes::LaneSlices;
use super::layout::{Lane, Layout};
use super::paint::LANE_FONT;
use super::select::Linked;
use crate::format;
use crate::view::{Item, LaneKey, Workspace};
use egui::epaint::CubicBezierShape;
use egui::{Align2, Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

/// Linked items that are outlined at most; a graph launch may have thousands.
const OUTLINES: usize = 400;
/// Arrows that are drawn at most.
const ARROWS: usize = 12;

/// Where `item` is drawn on `lane`, if it is.
pub(super) fn place(frame: &Frame<'_>, cache: &Cache, lane: &Lane, item: Item) -> Option<Rect> {
    bounds(frame, lane, row_of(frame.workspace, cache, lane, item)?, item)
}

/// Whether `lane` is of the sort that shows items like this one; cheaper than [`row_of`], and never false for an item
/// that it finds.
pub(super) fn may_show(lane: &Lane, item: Item) -> bool {
    match (lane.key, item) {
        (
            LaneKey::Compute(on) | LaneKey::Communication(on) | LaneKey::Copies(on) | LaneKey::Stream(on, ..),
            Item::Op(of, _),
        )
        | (LaneKey::Projection(on, _), Item::Projected(of, ..)) => on == of,
        (LaneKey::Nvtx(d, t), Item::Nvtx(doc, thread, _)) | (LaneKey::Os(d, t), Item::Os(doc, thread, _)) => {
            (d, t) == (doc, thread)
        }
        (LaneKey::Launches(d, p), Item::Call(doc, process, _)) => (d, p) == (doc, process),
        (LaneKey::Api(d, _), Item::Call(doc, ..)) => d == doc,
        _ => false,
    }
}

/// The row of `lane` that shows `item`.
pub(super) fn row_of(workspace: &Workspace, cache: &Cache, lane: &Lane, item: Item) -> Option<usize> {
    let at = match (lane.key, item) {
        (LaneKey::Rank(on), Item::Step(of, _)) => return (on == of).then_some(0),
        (
            LaneKey::Compute(on) | LaneKey::Communication(on) | LaneKey::Copies(on) | LaneKey::Stream(on, ..),
            Item::Op(of, at),
        )
        | (LaneKey::Idle(on), Item::Idle(of, at))
            if on == of =>
        {
            at
        }
        (LaneKey::Nvtx(d, t), Item::Nvtx(doc, thread, at)) | (LaneKey::Os(d, t), Item::Os(doc, thread, at))
            if (d, t) == (doc, thread) =>
        {
            at
        }
        (LaneKey::Projection(on, by), Item::Projected(of, attribution, at)) if (on, by) == (of, attribution) => at,
        (LaneKey::Nvtx(d, t), Item::Mark(doc, thread, _)) if (d, t) == (doc, thread) => return lane.mark_row(),
        (LaneKey::Launches(d, p), Item::Call(doc, process, at)) if (d, p) == (doc, process) => at,
        (LaneKey::Api(d, thread), Item::Call(doc, _, at)) if d == doc => {
            workspace.docs.get(doc)?.trace.threads.get(thread)?.api.contains(&at).then_some(at)?
        }
        _ => return None,
    };
    let key = lane.rows_key()?;
    let inks = cache.inks(key.doc());
    let slices = LaneSlices::of(workspace, &inks, key)?;
    let (row, _) = cache.rows(key)?.find(&slices, at)?;
    (row < lane.rows).then_some(row)
}

/// Where `selected` and the first items that it is linked to are drawn.
pub(super) fn linked_places(
    frame: &Frame<'_>,
    cache: &Cache,
    layout: &Layout,
    selected: Item,
    linked: &Linked,
) -> Vec<Rect> {
    let call = linked.call.map(|(doc, process, call)| Item::Call(doc, process, call));
    let ops = linked.ops.iter().take(ARROWS).map(|(rank, op)| Item::Op(*rank, *op));
    let items = std::iter::once(selected).chain(call).chain(ops);
    let lanes = layout.within(frame.top_pt - frame.origin_pt, frame.bottom_pt - frame.origin_pt);
    items.flat_map(|item| lanes.iter().filter_map(move |lane| place(frame, cache, lane, item))).collect()
}

fn bounds(frame: &Frame<'_>, lane: &Lane, row: usize, item: Item) -> Option<Rect> {
    let span = item.span(frame.workspace)?;
    let (x0, x1) = (frame.x_of(span.start_ns as f64), frame.x_of(span.end_ns as f64));
    let visible = span.start_ns as f64 <= frame.viewport().end_ns() && span.end_ns as f64 >= frame.viewport().start_ns;
    let (y0, y1) = frame.row_edges(lane, row);
    visible.then(|| Rect::from_min_max(pos2(x0, y0), pos2(x1.max(x0 + frame.px_pt()), y1)))
}

/// Outlines `selected` and what it is linked to, with arrows from the launch to what it launched.
pub fn selection(
    painter: &Painter,
    frame: &Frame<'_>,
    cache: &Cache,
    layout: &Layout,
    palette: &Palette,
    selected: Item,
    linked: &Linked,
) {
    let (top, bottom) = (frame.top_pt - frame.origin_pt, frame.bottom_pt - frame.origin_pt);
    let lanes = layout.within(top, bottom);
    let places = |item: Item| lanes.iter().filter_map(move |lane| place(frame, cache, lane, item));
    let call = linked.call.map(|(doc, process, call)| Item::Call(doc, process, call));
    let ops = linked.ops.iter().take(OUTLINES).map(|(rank, op)| Item::Op(*rank, *op));
    for item in call.into_iter().chain(ops.clone()).filter(|item| *item != selected) {
        places(item).for_each(|rect| outline(painter, rect, Stroke::new(1.5, palette.accent)));
    }
    if let Some(from) = call.and_then(|call| places(call).next_back()) {
        for to in ops.take(ARROWS).filter_map(|op| places(op).next()) {
            arrow(painter, from, to, palette.accent);
        }
    }
    lanes.iter().for_each(|lane| selected_on(painter, frame, cache, lane, palette, selected));
}

/// Outlines `selected` where it is drawn on `lane`.
pub fn selected_on(
    painter: &Painter,
    frame: &Frame<'_>,
    cache: &Cache,
    lane: &Lane,
    palette: &Palette,
    selected: Item,
) {
    if let Some(rect) = place(frame, cache, lane, selected) {
        outline(painter, rect, Stroke::new(2.0, palette.selection));
    }
}

/// An outline that stays visible around a narrow item.
fn outline(painter: &Painter, rect: Rect, stroke: Stroke) {
    let rect = if rect.width() < 4.0 { rect.expand2(vec2(2.0, 1.0)) } else { rect };
    painter.rect_stroke(rect, 1.0, stroke, StrokeKind::Outside);
}

/// From the start of a launch to the start of what it launched.
fn arrow(painter: &Painter, from: Rect, to: Rect, color: Color32) {
    let upwards = to.center().y < from.center().y;
    let (start, end) = if upwards { (from.left_top(), to.left_bottom()) } else { (from.left_bottom(), to.left_top()) };
    let bend = vec2(0.0, (end.y - start.y) * 0.5);
    let points = [start, start + bend, end - bend, end];
    painter.add(Shape::CubicBezier(CubicBezierShape::from_points_stroke(
        points,
        false,
        Color32::TRANSPARENT,
        Stroke::new(1.5, color),
    )));
    let tip = vec2(3.5, if upwards { 7.0 } else { -7.0 });
    painter.add(Shape::convex_polygon(vec![end, end + tip, end + vec2(-tip.x, tip.y)], color, Stroke::NONE));
}

/// The selected span over all lanes, with its length.
pub fn span(painter: &Painter, frame: &Frame<'_>, palette: &Palette) {
    let Some(span) = frame.state.selected_span else { return };
    let (x0, x1) = (frame.x_of(span.start_ns as f64), frame.x_of(span.end_ns as f64));
    let rect = Rect::from_min_max(pos2(x0, frame.top_pt), pos2(x1, frame.bottom_pt));
    painter.rect_filled(rect, 0.0, palette.accent.gamma_multiply(0.14));
    for x in [x0, x1] {
        painter.vline(x, rect.y_range(), Stroke::new(1.0, palette.accent));
    }
    let text = painter.layout_no_wrap(format::duration(span.len_ns()), LANE_FONT, palette.text);
    let visible = rect.intersect(painter.clip_rect());
    if visible.is_negative() {
        return;
    }
    let size = text.size() + vec2(10.0, 4.0);
    let chip = Rect::from_center_size(pos2(visible.center().x, frame.bottom_pt - 12.0), size);
    painter.rect_filled(chip, 3.0, palette.panel);
    painter.galley(chip.min + vec2(5.0, 2.0), text, palette.text);
}

/// A line through all lanes at the pointer, and its time on the ruler.
pub fn pointer(lanes: &Painter, ruler: &Painter, frame: &Frame<'_>, palette: &Palette, at: Pos2) {
    lanes.vline(at.x, frame.top_pt..=frame.bottom_pt, Stroke::new(1.0, palette.accent.gamma_multiply(0.6)));
    let text = super::ruler::text_at(frame, frame.time_at(at.x).round() as i64);
    let text = ruler.layout_no_wrap(text, LANE_FONT, palette.panel);
    let size = text.size() + vec2(10.0, 4.0);
    let x = at.x.clamp(frame.left_pt + size.x / 2.0, (frame.right_pt - size.x / 2.0).max(frame.left_pt + size.x / 2.0));
    let chip = Align2::CENTER_BOTTOM.anchor_size(pos2(x, frame.top_pt - 2.0), size);
    ruler.rect_filled(chip, 3.0, palette.accent);
    ruler.galley(chip.min + vec2(5.0, 2.0), text, palette.panel);
}
