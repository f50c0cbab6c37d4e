//! Bookmarks as small flags on the ruler and on the overview of the capture.

use super::color::Palette;
use super::draw::Frame;
use super::label;
use crate::format;
use crate::view::{Bookmark, Workspace};
use egui::{Painter, Pos2, Shape, Stroke, pos2};

/// Width and height of a flag.
const FLAG_PT: (f32, f32) = (8.0, 6.0);
/// Height of its pole; the texts of the ruler end above it.
pub(super) const POLE_PT: f32 = 10.0;

/// What a bookmark is called: its note, else what it points at.
pub fn title(workspace: &Workspace, mark: &Bookmark) -> String {
    if !mark.note.is_empty() {
        return label::safe(&mark.note);
    }
    if let Some(item) = mark.item(workspace) {
        return label::name_of(workspace, item);
    }
    match mark.target {
        Some(target) => format!("Span of {}", format::duration(target.span.len_ns())),
        None => format!("View of {}", format::duration(mark.view.len_ns())),
    }
}

/// Paints the flag of a pole that stands at `foot`.
pub(super) fn flag(painter: &Painter, palette: &Palette, foot: Pos2) {
    let top = foot.y - POLE_PT;
    painter.vline(foot.x, top..=foot.y, Stroke::new(1.5, palette.warning));
    let cloth = vec![pos2(foot.x, top), pos2(foot.x + FLAG_PT.0, top + FLAG_PT.1 / 2.0), pos2(foot.x, top + FLAG_PT.1)];
    painter.add(Shape::convex_polygon(cloth, palette.warning, Stroke::NONE));
}

/// Paints the flags of what is in view onto the ruler.
pub(super) fn paint(painter: &Painter, frame: &Frame<'_>, palette: &Palette) {
    for mark in &frame.state.bookmarks {
        if let Some(x) = x_of(frame, mark) {
            flag(painter, palette, pos2(x, frame.ruler_bottom_pt()));
        }
    }
}

fn x_of(frame: &Frame<'_>, mark: &Bookmark) -> Option<f32> {
    let at_ns = mark.at_ns(frame.workspace) as f64;
    let view = frame.viewport();
    (view.start_ns..=view.end_ns()).contains(&at_ns).then(|| frame.x_of(at_ns))
}

/// The bookmark whose flag on the ruler is at `at`.
pub(super) fn at(frame: &Frame<'_>, at: Pos2) -> Option<usize> {
    if at.y >= frame.ruler_bottom_pt() || at.y < frame.ruler_bottom_pt() - POLE_PT - 2.0 {
        return None;
    }
    let marks = frame.state.bookmarks.iter();
    // Later ones are drawn over earlier ones.
    marks.enumerate().rev().find(|(_, mark)| x_of(frame, mark).is_some_and(|x| is_on(x, at.x))).map(|(at, _)| at)
}

/// Whether `x_pt` is on a flag whose pole stands at `pole_pt`.
pub(super) fn is_on(pole_pt: f32, x_pt: f32) -> bool {
    x_pt >= pole_pt - 3.0 && x_pt <= pole_pt + FLAG_PT.0 + 1.0
}
