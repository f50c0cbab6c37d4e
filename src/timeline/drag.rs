//! Drags over the timeline: moving, measuring a span, drawing a box to zoom to.

use super::cache::Cache;
use super::color::Palette;
use super::draw::Frame;
use super::input::scroll;
use super::layout::Layout;
use super::paint::LANE_FONT;
use super::snap::{Snap, snap};
use crate::format;
use crate::report::compare;
use crate::units::Span;
use crate::view::{Command, Panel, Viewport};
use egui::{CursorIcon, Key, Modifiers, Painter, PointerButton, Pos2, Rect, Response, Stroke, Ui, pos2, vec2};

/// What the drag that is going on does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drag {
    /// Moves time and lanes.
    Pan,
    /// Moves lanes only.
    Scroll,
    /// Selects a span: this axis time is its other end.
    Select(f64),
    /// Draws a box from this axis time on, to zoom to when it ends.
    Zoom(f64),
    /// Shifts a document against the others; the part of a nanosecond that is still to come.
    Shift(usize, f64),
    /// Does nothing any more: it was given up.
    Cancelled,
}

/// An edge of the selected span can be taken this close to it.
const GRIP_PT: f32 = 4.0;
/// A narrower box is no box.
const BOX_MIN_PT: f32 = 4.0;

/// Follows the drag that is going on, and begins one.
pub(super) fn handle(
    ui: &Ui,
    response: &Response,
    frame: &Frame<'_>,
    layout: &Layout,
    cache: &mut Cache,
    out: &mut Vec<Command>,
) {
    (cache.snap, cache.took_escape) = (None, false);
    if matches!(cache.drag, Some(Drag::Zoom(_))) && ui.input(|i| i.key_pressed(Key::Escape)) {
        (cache.drag, cache.took_escape) = (Some(Drag::Cancelled), true);
    }
    let buttons = [PointerButton::Primary, PointerButton::Middle, PointerButton::Secondary];
    let Some(button) = buttons.into_iter().find(|button| response.dragged_by(*button)) else {
        if let (Some(Drag::Zoom(from_ns)), true) = (cache.drag, response.drag_stopped()) {
            let at = response.interact_pointer_pos().or_else(|| ui.input(|i| i.pointer.latest_pos()));
            out.extend(at.and_then(|at| zoom_to(frame, from_ns, at)));
        }
        cache.drag = None;
        return;
    };
    let (origin, modifiers) = ui.input(|i| (i.pointer.press_origin(), i.modifiers));
    let Some((origin, at)) = origin.zip(response.interact_pointer_pos()) else { return };
    let mode = match cache.drag {
        Some(mode) => mode,
        None => {
            let mode = begin(frame, cache, layout, (origin, button, modifiers));
            if matches!(mode, Drag::Select(_)) {
                out.push(Command::ShowPanel(Panel::Selection));
            }
            cache.drag = Some(mode);
            mode
        }
    };
    match mode {
        Drag::Pan | Drag::Scroll => ui.ctx().set_cursor_icon(CursorIcon::Grabbing),
        Drag::Select(_) => ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal),
        Drag::Zoom(_) => ui.ctx().set_cursor_icon(CursorIcon::ZoomIn),
        Drag::Shift(..) => ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal),
        Drag::Cancelled => {}
    }
    let delta = response.drag_delta();
    match mode {
        Drag::Pan => {
            if delta.x != 0.0 {
                out.push(Command::PanBy(-f64::from(delta.x) / frame.width_pt()));
            }
            scroll(frame, layout, -delta.y, out);
        }
        Drag::Scroll => scroll(frame, layout, -delta.y, out),
        Drag::Shift(doc, rest_ns) => {
            let rest_ns = shift(frame, doc, delta.x, rest_ns, out);
            cache.drag = Some(Drag::Shift(doc, rest_ns));
        }
        Drag::Select(from_ns) => {
            cache.snap = snap(frame, cache, layout, at, modifiers);
            let to_ns = cache.snap.map_or_else(|| time_at(frame, at), |snap| snap.at_ns as f64);
            let (first, last) = (from_ns.min(to_ns), from_ns.max(to_ns));
            out.push(Command::SelectSpan(Some(Span::new(first.round() as i64, last.round() as i64))));
        }
        Drag::Zoom(_) | Drag::Cancelled => {}
    }
}

/// Shifts document `doc` by `by_pt` points; returns what is less than a nanosecond of it and of `rest_ns`.
pub(super) fn shift(frame: &Frame<'_>, doc: usize, by_pt: f32, rest_ns: f64, out: &mut Vec<Command>) -> f64 {
    let by_ns = f64::from(by_pt) * frame.viewport().len_ns / frame.width_pt() + rest_ns;
    let whole_ns = by_ns.round();
    if whole_ns != 0.0 {
        out.push(Command::ShiftDoc { doc, by_ns: whole_ns as i64 });
    }
    by_ns - whole_ns
}

/// The document that a drag with these keys shifts: that of the lane at `y_pt`, when several are open.
pub(super) fn shifted_doc(frame: &Frame<'_>, layout: &Layout, y_pt: f32, modifiers: Modifiers) -> Option<usize> {
    // With Shift, Alt keeps a span from snapping.
    let shifts = modifiers.alt && !modifiers.shift && frame.workspace.docs.len() > 1 && y_pt >= frame.ruler_bottom_pt();
    frame.lane_at(layout, y_pt).filter(|_| shifts).map(|lane| lane.key.doc())
}

fn begin(
    frame: &Frame<'_>,
    cache: &Cache,
    layout: &Layout,
    (origin, button, modifiers): (Pos2, PointerButton, Modifiers),
) -> Drag {
    if origin.x < frame.left_pt {
        return if button == PointerButton::Secondary { Drag::Cancelled } else { Drag::Scroll };
    }
    if button == PointerButton::Secondary {
        return Drag::Zoom(time_at(frame, origin));
    }
    if button == PointerButton::Middle {
        return Drag::Pan;
    }
    if let Some(other_ns) = other_end(frame, origin) {
        return Drag::Select(other_ns as f64);
    }
    if let Some(doc) = shifted_doc(frame, layout, origin.y, modifiers) {
        return Drag::Shift(doc, 0.0);
    }
    // On the ruler a drag always measures.
    if modifiers.shift || origin.y < frame.ruler_bottom_pt() {
        let from = snap(frame, cache, layout, origin, modifiers);
        return Drag::Select(from.map_or_else(|| time_at(frame, origin), |snap| snap.at_ns as f64));
    }
    if modifiers.command || modifiers.ctrl { Drag::Zoom(time_at(frame, origin)) } else { Drag::Pan }
}

fn time_at(frame: &Frame<'_>, at: Pos2) -> f64 {
    frame.time_at(at.x.clamp(frame.left_pt, frame.right_pt))
}

/// When an edge of the selected span is at `at`: its other end.
pub(super) fn other_end(frame: &Frame<'_>, at: Pos2) -> Option<i64> {
    let span = frame.state.selected_span?;
    let on_edge = |ns: i64| {
        let x = frame.x_of(ns as f64);
        x >= frame.left_pt && x <= frame.right_pt && (x - at.x).abs() <= GRIP_PT
    };
    let right_first = at.x > frame.x_of(span.end_ns as f64);
    let ends = [(span.start_ns, span.end_ns), (span.end_ns, span.start_ns)];
    // Of a span of a few points the edge on the pointer's side is meant.
    let mut ends = if right_first { [ends[1], ends[0]] } else { ends }.into_iter();
    ends.find(|(own, _)| on_edge(*own)).map(|(_, other)| other)
}

fn zoom_to(frame: &Frame<'_>, from_ns: f64, at: Pos2) -> Option<Command> {
    let to_ns = time_at(frame, at);
    let wide = (frame.x_of(from_ns) - frame.x_of(to_ns)).abs() >= BOX_MIN_PT;
    let (first, last) = (from_ns.min(to_ns), from_ns.max(to_ns));
    (wide && last - first >= Viewport::MIN_LEN_NS).then(|| Command::Show(Span::new(first as i64, last as i64)))
}

/// What is drawn while a span or a box is being drawn: the edge that attracted, the box, and the length at the pointer.
pub(super) fn paint(painter: &Painter, frame: &Frame<'_>, cache: &Cache, palette: &Palette, at: Pos2) {
    let text = match cache.drag {
        Some(Drag::Select(_)) => {
            if let Some(snap) = cache.snap {
                paint_snap(painter, frame, palette, snap);
            }
            frame.state.selected_span.map(|span| format::duration(span.len_ns()))
        }
        Some(Drag::Zoom(from_ns)) => {
            paint_box(painter, frame, palette, from_ns, at);
            Some(format!("Zoom to {}", format::duration_f((time_at(frame, at) - from_ns).abs().round())))
        }
        Some(Drag::Shift(doc, _)) => {
            frame.workspace.job.clock.sources.get(doc).map(|source| compare::shifted_by(source.shift_ns))
        }
        _ => None,
    };
    let Some(text) = text else { return };
    let galley = painter.layout_no_wrap(text, LANE_FONT, palette.text);
    let size = galley.size() + vec2(10.0, 6.0);
    let clip = painter.clip_rect();
    // Beside the pointer; at the right and lower edge of the lanes on its other side.
    let x = if at.x + 14.0 + size.x <= clip.right() { at.x + 14.0 } else { at.x - 14.0 - size.x };
    let y = (at.y + 14.0).clamp(clip.top(), (clip.bottom() - size.y).max(clip.top()));
    let chip = Rect::from_min_size(pos2(x, y), size);
    painter.rect_filled(chip, 3.0, palette.panel);
    painter.rect_stroke(chip, 3.0, Stroke::new(1.0, palette.accent), egui::StrokeKind::Inside);
    painter.galley(chip.min + vec2(5.0, 3.0), galley, palette.text);
}

fn paint_snap(painter: &Painter, frame: &Frame<'_>, palette: &Palette, snap: Snap) {
    let x = frame.x_of(snap.at_ns as f64);
    painter.vline(x, frame.ruler_bottom_pt()..=frame.bottom_pt, Stroke::new(1.0, palette.selection));
    let (top, bottom) = (snap.row.0.max(frame.ruler_bottom_pt()), snap.row.1.max(frame.ruler_bottom_pt() + 6.0));
    painter.vline(x, top..=bottom, Stroke::new(3.0, palette.selection));
}

fn paint_box(painter: &Painter, frame: &Frame<'_>, palette: &Palette, from_ns: f64, at: Pos2) {
    let (a, b) = (frame.x_of(from_ns), at.x.clamp(frame.left_pt, frame.right_pt));
    let rect = Rect::from_min_max(pos2(a.min(b), frame.ruler_bottom_pt()), pos2(a.max(b), frame.bottom_pt));
    let dim = palette.background.gamma_multiply(0.55);
    let left = Rect::from_min_max(pos2(frame.left_pt, rect.top()), rect.left_bottom());
    let right = Rect::from_min_max(rect.right_top(), pos2(frame.right_pt, rect.bottom()));
    [left, right].into_iter().for_each(|side| {
        painter.rect_filled(side, 0.0, dim);
    });
    painter.rect_stroke(rect, 0.0, Stroke::new(1.5, palette.accent), egui::StrokeKind::Inside);
}
