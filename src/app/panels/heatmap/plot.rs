//! Where the cells of a heatmap are, and how they are painted.

use super::pixels::{Axis, worst};
use crate::app::cx::Cx;
use crate::app::theme::SMALL_PT;
use crate::format;
use crate::job::Heat;
use crate::timeline::ramp::ramp;
use crate::view::Theme;
use egui::epaint::Mesh;
use egui::{Align2, EventFilter, FontId, Key, Modifiers, Pos2, Rect, Response, Role, Shape, Stroke, StrokeKind};
use egui::{Ui, Vec2, WidgetInfo, pos2, vec2};
use std::sync::Arc;

/// Room of the numbers of steps below the map, in points.
const STEPS_PT: f32 = 18.0;
/// Most room of the labels of ranks, in points.
const RANKS_PT: f32 = 112.0;
/// Distance between labels, in points.
const LABEL_PT: f32 = 14.0;
const GAP_PT: f32 = 6.0;
/// Cells of at least so many pixels have a line between them.
const LINE_FROM_PX: usize = 6;

/// The places of a map on the screen.
#[derive(Debug)]
pub struct Plot {
    /// Cells and labels.
    pub whole: Rect,
    /// Cells.
    cells: Rect,
    rows: Axis,
    columns: Axis,
    size_px: (usize, usize),
    per_point: f32,
}

/// The painted cells, and what they were made for. Values that change drop it.
#[derive(Debug)]
pub struct Drawn {
    at: Rect,
    per_point: f32,
    theme: Theme,
    /// A rectangle for each place with a value.
    pub mesh: Arc<Mesh>,
    /// Cells without a value.
    empty: Vec<Rect>,
}

impl Plot {
    /// The places in at most `room`.
    pub fn new(ui: &Ui, cx: &Cx<'_>, heat: &Heat, room: Vec2) -> Self {
        let per_point = ui.pixels_per_point();
        let height = room.y.min(heat.ranks.len() as f32 * super::CELL_PT + STEPS_PT);
        let whole = Rect::from_min_size(ui.cursor().min, vec2(room.x, height));
        let font = FontId::proportional(SMALL_PT);
        let shown = every(heat.ranks.len(), height - STEPS_PT, LABEL_PT);
        let width = |label: &str| {
            ui.painter().layout_no_wrap(format::one_line(label, 24), font.clone(), cx.palette.text).size().x
        };
        let labels = heat.ranks.iter().step_by(shown).filter_map(|rank| cx.workspace.job.ranks.get(*rank));
        let left_pt = labels.map(|rank| width(&rank.label)).fold(0.0, f32::max).min(RANKS_PT) + GAP_PT;
        // On whole pixels, so that cells have sharp edges.
        let snapped = |pt: f32| (pt * per_point).round() / per_point;
        let min = pos2(snapped(whole.left() + left_pt), snapped(whole.top()));
        let px = |pt: f32| ((pt * per_point).floor() as usize).max(1);
        let size_px = (px(whole.right() - min.x), px(whole.bottom() - STEPS_PT - min.y));
        let cells = Rect::from_min_size(min, vec2(size_px.0 as f32, size_px.1 as f32) / per_point);
        let (rows, columns) = (Axis::new(heat.ranks.len(), size_px.1), Axis::new(heat.steps.len(), size_px.0));
        Self { whole, cells, rows, columns, size_px, per_point }
    }

    /// Row and column of the place at `at`.
    pub fn place_at(&self, at: Pos2) -> Option<(usize, usize)> {
        let px = (at - self.cells.min) * self.per_point;
        if px.x < 0.0 || px.y < 0.0 {
            return None;
        }
        Some((self.rows.place_at(px.y as usize)?, self.columns.place_at(px.x as usize)?))
    }

    /// The place that shows a cell.
    pub fn place_of(&self, (row, column): (usize, usize)) -> (usize, usize) {
        let find =
            |axis: &Axis, cell: usize| (0..axis.places()).find(|at| axis.cells(*at).contains(&cell)).unwrap_or(0);
        (find(&self.rows, row), find(&self.columns, column))
    }

    /// The cell that a place shows: the worst of its cells, the first when none has a value.
    pub fn cell(&self, heat: &Heat, y: usize, x: usize) -> Option<(usize, usize)> {
        let (rows, columns) = (self.rows.cells(y), self.columns.cells(x));
        let first = (rows.start, columns.start);
        let inside = first.0 < heat.ranks.len() && first.1 < heat.steps.len();
        inside.then(|| worst(heat, rows, columns).map_or(first, |(row, column, _)| (row, column)))
    }

    /// How many cells a place stands for.
    pub fn merged(&self, y: usize, x: usize) -> usize {
        self.rows.cells(y).len() * self.columns.cells(x).len()
    }

    /// Where a place is.
    pub fn place_rect(&self, y: usize, x: usize) -> Rect {
        let (down, across) = (self.rows.pixels(y), self.columns.pixels(x));
        let at = |x: usize, y: usize| self.cells.min + vec2(x as f32, y as f32) / self.per_point;
        Rect::from_min_max(at(across.start, down.start), at(across.end, down.end))
    }

    /// Moves the cell of the keyboard by the arrow keys while the map has the focus.
    pub fn keys(&self, ui: &Ui, response: &Response, heat: &Heat, cursor: &mut (usize, usize)) {
        if !response.has_focus() {
            return;
        }
        let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let pressed = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
        let moved = |at: usize, less: Key, more: Key, count: usize| {
            (at + pressed(more)).saturating_sub(pressed(less)).min(count.saturating_sub(1))
        };
        cursor.0 = moved(cursor.0, Key::ArrowUp, Key::ArrowDown, heat.ranks.len());
        cursor.1 = moved(cursor.1, Key::ArrowLeft, Key::ArrowRight, heat.steps.len());
    }

    /// Tells screen readers what the map is and which cell the keyboard is at.
    pub fn describe(&self, response: &Response, name: &str, cell: impl Fn() -> String) {
        response.widget_info(|| {
            let text = format!("{name}; arrow keys choose a cell, Enter shows it; {}", cell());
            WidgetInfo::labeled(Role::Button, true, text)
        });
    }

    /// Paints cells and labels; the cells anew only when something changed.
    pub fn paint(&self, ui: &Ui, cx: &Cx<'_>, heat: &Heat, drawn: &mut Option<Drawn>) {
        let theme = cx.view.theme;
        let same = |d: &Drawn| d.at == self.cells && d.per_point == self.per_point && d.theme == theme;
        if !drawn.as_ref().is_some_and(same) {
            *drawn = Some(self.drawn(heat, theme));
        }
        if let Some(drawn) = drawn {
            drawn.empty.iter().for_each(|rect| empty(ui, cx, *rect));
            ui.painter().add(Shape::Mesh(Arc::clone(&drawn.mesh)));
        }
        ui.painter().rect_stroke(self.cells, 0.0, Stroke::new(1.0, cx.palette.grid), StrokeKind::Outside);
        self.labels(ui, cx, heat);
    }

    fn drawn(&self, heat: &Heat, theme: Theme) -> Drawn {
        let (mut mesh, mut empty) = (Mesh::default(), Vec::new());
        let parted = |pixels: usize, axis: &Axis| pixels >= LINE_FROM_PX * axis.places();
        let line = |on: bool| if on { 1.0 / self.per_point } else { 0.0 };
        let gap = vec2(line(parted(self.size_px.0, &self.columns)), line(parted(self.size_px.1, &self.rows)));
        for y in 0..self.rows.places() {
            for x in 0..self.columns.places() {
                let place = self.place_rect(y, x);
                let rect = Rect::from_min_max(place.min, place.max - gap);
                match worst(heat, self.rows.cells(y), self.columns.cells(x)) {
                    Some((.., value)) => mesh.add_colored_rect(rect, ramp(theme, heat.place(value))),
                    None => empty.push(rect),
                }
            }
        }
        // Thousands of outlines would say no more than the bare ground.
        empty.truncate(1024);
        Drawn { at: self.cells, per_point: self.per_point, theme, mesh: Arc::new(mesh), empty }
    }

    /// Labels of ranks and numbers of steps, as many as there is room for.
    fn labels(&self, ui: &Ui, cx: &Cx<'_>, heat: &Heat) {
        let font = FontId::proportional(SMALL_PT);
        let painter = ui.painter().with_clip_rect(self.whole.expand(2.0).intersect(ui.clip_rect()));
        let label = |at: Pos2, align, text: String| painter.text(at, align, text, font.clone(), cx.palette.text_dim);
        for row in (0..heat.ranks.len()).step_by(every(heat.ranks.len(), self.cells.height(), LABEL_PT)) {
            let Some(rank) = heat.ranks.get(row).and_then(|rank| cx.workspace.job.ranks.get(*rank)) else { continue };
            let y = self.place_rect(self.place_of((row, 0)).0, 0).center().y;
            label(pos2(self.cells.left() - GAP_PT, y), Align2::RIGHT_CENTER, format::one_line(&rank.label, 24));
        }
        let widest = heat.steps.iter().map(|step| format::integer(*step).len()).max().unwrap_or(1) as f32;
        let room_pt = widest * SMALL_PT * 0.65 + GAP_PT;
        for column in (0..heat.steps.len()).step_by(every(heat.steps.len(), self.cells.width(), room_pt)) {
            let x = self.place_rect(0, self.place_of((0, column)).1).center().x;
            let text = heat.steps.get(column).map_or_else(String::new, |step| format::integer(*step));
            label(pos2(x, self.cells.bottom() + 2.0), Align2::CENTER_TOP, text);
        }
    }
}

/// A cell without a value: an outline and a line across.
pub fn empty(ui: &Ui, cx: &Cx<'_>, rect: Rect) {
    let stroke = Stroke::new(1.0, cx.palette.grid);
    if rect.width() >= 4.0 && rect.height() >= 4.0 {
        ui.painter().line_segment([rect.left_bottom(), rect.right_top()], stroke);
        ui.painter().rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
    }
}

/// Of `count` labels in `room_pt`, each `label_pt` long: every how many of them is shown, 1, 2 or 5 times a power of ten.
fn every(count: usize, room_pt: f32, label_pt: f32) -> usize {
    let fits = |step: &usize| *step as f32 * room_pt >= label_pt * count as f32;
    let steps = (0..8).flat_map(|power| [1, 2, 5].map(|unit| unit * 10_usize.pow(power)));
    steps.into_iter().find(fits).unwrap_or(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_thin_out() {
        assert_eq!([every(4, 100.0, 14.0), every(10, 100.0, 14.0), every(100, 100.0, 14.0)], [1, 2, 20]);
        assert_eq!((every(1024, 600.0, 14.0), every(0, 100.0, 14.0)), (50, 1));
        assert_eq!(every(1024, 0.0, 14.0), 1024, "no room at all");
    }
}
