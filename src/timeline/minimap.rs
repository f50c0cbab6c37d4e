//! The whole capture in one strip: a bar a step, hits of a search and what the GPU did below, and the view as a box that
//! can be dragged.

use super::cache::Cache;
use super::color::{Palette, step_color};
use super::gutter_width_pt;
use super::map_hits;
use super::paint::LANE_FONT;
use crate::analysis::{RankAnalysis, Steps};
use crate::format;
use crate::units::Span;
use crate::view::{Command, Doc, RankId, ViewState, Viewport, Workspace};
use egui::{
    Align2, Color32, CursorIcon, Mesh, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo,
    pos2, vec2,
};
use std::sync::Arc;

/// Height of the strip.
pub const HEIGHT_PT: f32 = 48.0;
/// Free above and below what is drawn.
const PAD_PT: f32 = 4.0;
/// Height of the work of the GPU below the bars.
const WORK_PT: f32 = 9.0;
/// Width of a column of that work.
const COLUMN_PT: f32 = 2.0;
/// Bars reach this many times the median step; longer ones are cut and get a tip.
const TALLEST: f64 = 2.5;
/// An edge of the view can be taken this close to it.
const GRIP_PT: f32 = 5.0;
/// A view that leaves less than this beside it cannot be moved, only drawn anew.
const WHOLE_SHARE: f64 = 0.98;

/// What a drag on the strip does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MapDrag {
    /// Moves the view.
    Move,
    /// Moves its left or right edge; the other stays at this axis time.
    Edge(f64),
    /// Shows what is drawn from this axis time on.
    Draw(f64),
}

/// Work of the GPU over the capture, as triangles; kept until something of its key changes.
#[derive(Debug, Clone)]
pub(super) struct Work {
    key: (RankId, Rect, Span, Color32),
    mesh: Arc<Mesh>,
}

/// Where the capture lies on the strip.
#[derive(Debug, Clone, Copy)]
struct Map {
    rect: Rect,
    span: Span,
}

impl Map {
    fn x_of(&self, at_ns: f64) -> f32 {
        let share = (at_ns - self.span.start_ns as f64) / (self.span.len_ns() as f64).max(1.0);
        self.rect.left() + (share.clamp(0.0, 1.0) * f64::from(self.rect.width())) as f32
    }

    fn time_at(&self, x: f32) -> f64 {
        let share = f64::from((x - self.rect.left()) / self.rect.width().max(1.0)).clamp(0.0, 1.0);
        self.span.start_ns as f64 + share * self.span.len_ns() as f64
    }
}

/// Draws the strip across the available width of `ui` and pushes what the user asks for.
pub fn show(ui: &mut Ui, workspace: &Workspace, state: &ViewState, cache: &mut Cache, out: &mut Vec<Command>) {
    cache.follow(workspace, state);
    // The box that can be dragged is the view of the pane that keys move.
    let active = state.panes().map(|compare| state.of_pane(compare.active));
    let state = active.as_ref().unwrap_or(state);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT_PT), Sense::click_and_drag());
    let (Some(span), Some((id, doc, numbers))) = (workspace.span(), chosen(workspace, state)) else { return };
    let gutter_pt = gutter_width_pt(rect.width());
    let lanes = Rect::from_min_max(pos2(rect.left() + gutter_pt, rect.top()), pos2(rect.right() - 6.0, rect.bottom()));
    if lanes.width() < 40.0 || span.is_empty() {
        return;
    }
    let map = Map { rect: lanes, span };
    let steps = numbers.steps.as_ref().filter(|steps| !steps.steps.is_empty());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Slider, true, describe(state, span, steps)));
    let palette = Palette::of(state.theme);
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, palette.panel);
    let hits_pt = if map_hits::has_row(state) { map_hits::ROW_PT } else { 0.0 };
    let bars_bottom = lanes.bottom() - PAD_PT - WORK_PT - 2.0 - hits_pt;
    let bars = Rect::from_min_max(pos2(lanes.left(), lanes.top() + PAD_PT), pos2(lanes.right(), bars_bottom));
    // Without steps the work of the GPU has their room too, and the hits stand above it.
    let (top, hits_top) = match steps {
        Some(_) => (lanes.bottom() - PAD_PT - WORK_PT, bars.bottom()),
        None => (bars.top() + hits_pt, bars.top()),
    };
    let below = Rect::from_min_max(pos2(lanes.left(), top), pos2(lanes.right(), lanes.bottom() - PAD_PT));
    painter.add(Shape::mesh(work(cache, (id, doc, numbers), map, below, palette)));
    let under = response.hover_pos().filter(|at| bars.contains(*at));
    let mut pointed = None;
    if let Some(steps) = steps {
        pointed = under.and_then(|at| steps.at(doc.own_ns(map.time_at(at.x) as i64)));
        paint_bars(&painter, palette, map, bars, (steps, doc), pointed);
    }
    let strong = response.hovered() || response.has_focus();
    paint_box(&painter, palette, map, state.viewport, strong);
    if let Some(other) = state.panes().map(|compare| compare.other.viewport).filter(|view| *view != state.viewport) {
        let (x0, x1) = view_x(map, other);
        let frame = Rect::from_min_max(pos2(x0, lanes.top() + 3.0), pos2(x1, lanes.bottom() - 3.0));
        painter.rect_stroke(frame, 2.0, Stroke::new(1.0, palette.text_dim), StrokeKind::Inside);
    }
    let row = Rect::from_min_size(pos2(lanes.left(), hits_top), vec2(lanes.width(), hits_pt));
    map_hits::paint(&painter, palette, cache, state, span, row);
    for mark in &state.bookmarks {
        super::flags::flag(&painter, palette, pos2(map.x_of(mark.at_ns(workspace) as f64), rect.top() + 13.0));
    }
    paint_name(&painter, palette, rect, gutter_pt, workspace.label(id), steps);
    painter.hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, palette.grid));
    let on_flag = response.interact_pointer_pos().filter(|at| at.y <= rect.top() + 13.0).and_then(|at| {
        let is_on = |x: f32| super::flags::is_on(x, at.x);
        state.bookmarks.iter().position(|mark| is_on(map.x_of(mark.at_ns(workspace) as f64)))
    });
    if let Some(mark) = on_flag.filter(|_| response.clicked()) {
        out.push(Command::GoToBookmark(mark));
        return;
    }
    input(ui, &response, map, (state, cache), id, pointed, out);
    if let Some((at, steps)) = pointed.zip(steps)
        && let Some(step) = steps.steps.get(at)
        && cache.map_drag.is_none()
    {
        let text = format!("{}  {}", format::one_line(&step.name, 60), format::duration(step.window.len_ns()));
        response.on_hover_text_at_pointer(text);
    }
}

/// The rank that the panels speak about, else the first.
fn chosen<'a>(workspace: &'a Workspace, state: &ViewState) -> Option<(RankId, &'a Doc, &'a RankAnalysis)> {
    let id = state.chosen_rank(workspace)?;
    let (doc, _) = workspace.rank(id)?;
    Some((id, doc, doc.analysis.ranks.get(id.rank)?))
}

/// What the GPU did in each column: compute from below, then exposed communication, then copies; idle time stays empty.
fn work(
    cache: &mut Cache,
    (id, doc, numbers): (RankId, &Doc, &RankAnalysis),
    map: Map,
    rect: Rect,
    palette: &Palette,
) -> Arc<Mesh> {
    let key = (id, rect, map.span, palette.compute);
    if let Some(work) = cache.map_work.as_ref().filter(|work| work.key == key) {
        return Arc::clone(&work.mesh);
    }
    let mut mesh = Mesh::default();
    let columns = (rect.width() / COLUMN_PT).floor().max(1.0) as usize;
    for column in 0..columns {
        let x0 = rect.left() + column as f32 * COLUMN_PT;
        let window = Span::new(map.time_at(x0) as i64, map.time_at(x0 + COLUMN_PT).ceil() as i64);
        let parts = numbers.partition(doc.own_span(window));
        let whole = (window.len_ns() as f32).max(1.0);
        let mut bottom = rect.bottom();
        for (ns, color) in [
            (parts.compute_ns(), palette.compute),
            (parts.exposed_comm_ns, palette.communication),
            (parts.copy_only_ns, palette.copy),
        ] {
            let height = (ns as f32 / whole).min(1.0) * rect.height();
            if height > 0.05 {
                let y0 = bottom - height;
                mesh.add_colored_rect(Rect::from_min_max(pos2(x0, y0), pos2(x0 + COLUMN_PT, bottom)), color);
                bottom = y0;
            }
        }
    }
    let mesh = Arc::new(mesh);
    cache.map_work = Some(Work { key, mesh: Arc::clone(&mesh) });
    mesh
}

/// One bar a step, as high as it is long; of steps within a pixel the longest.
fn paint_bars(
    painter: &Painter,
    palette: &Palette,
    map: Map,
    rect: Rect,
    (steps, doc): (&Steps, &Doc),
    pointed: Option<usize>,
) {
    let longest = steps.steps.iter().map(|step| step.window.len_ns()).max().unwrap_or(1) as f64;
    let most = (steps.typical.median_span_ns as f64 * TALLEST).clamp(1.0, longest.max(1.0));
    let mut next = 0;
    while let Some(first) = steps.steps.get(next) {
        let x0 = map.x_of(doc.axis_ns(first.window.start_ns) as f64);
        // Bars that begin within two points of this one share its place.
        let until_ns = doc.own_ns(map.time_at(x0 + 2.0) as i64);
        let after = steps.steps.partition_point(|step| step.window.start_ns < until_ns).max(next + 1);
        let group = steps.steps.get(next..after).unwrap_or_default();
        let tallest = group.iter().enumerate().max_by_key(|(at, step)| (step.window.len_ns(), usize::MAX - at));
        let end_ns = group.last().map_or(first.window.end_ns, |step| step.window.end_ns);
        if let Some((at, step)) = tallest {
            let share = step.window.len_ns() as f64 / most;
            let height = (share.min(1.0) as f32 * rect.height()).max(3.0);
            let x1 = (map.x_of(doc.axis_ns(end_ns) as f64) - 1.0).max(x0 + 1.0);
            let bar = Rect::from_min_max(pos2(x0, rect.bottom() - height), pos2(x1, rect.bottom()));
            let is_pointed = pointed == Some(next + at);
            let color = step_color(step, palette);
            painter.rect_filled(bar, 0.0, if is_pointed { color } else { color.gamma_multiply(0.65) });
            if share > 1.0 {
                // Longer than is drawn.
                let tip = Rect::from_min_max(bar.min, pos2(bar.right(), bar.top() + 2.0));
                painter.rect_filled(tip, 0.0, palette.text);
            }
            if is_pointed {
                painter.rect_stroke(bar, 0.0, Stroke::new(1.0, palette.text), StrokeKind::Inside);
            }
        }
        next = after;
    }
}

/// Edges of the view on the strip, at least two points apart.
fn view_x(map: Map, view: Viewport) -> (f32, f32) {
    let (x0, x1) = (map.x_of(view.start_ns), map.x_of(view.end_ns()));
    if x1 - x0 >= 2.0 { (x0, x1) } else { ((x0 + x1) / 2.0 - 1.0, (x0 + x1) / 2.0 + 1.0) }
}

/// Dims what is out of view and frames the rest.
fn paint_box(painter: &Painter, palette: &Palette, map: Map, view: Viewport, strong: bool) {
    let (x0, x1) = view_x(map, view);
    let rect = map.rect;
    for (from, to) in [(rect.left(), x0), (x1, rect.right())] {
        if to > from {
            let out = Rect::from_min_max(pos2(from, rect.top()), pos2(to, rect.bottom()));
            painter.rect_filled(out, 0.0, palette.background.gamma_multiply(0.5));
        }
    }
    let frame = Rect::from_min_max(pos2(x0, rect.top() + 1.0), pos2(x1, rect.bottom() - 1.0));
    let color = if strong { palette.accent } else { palette.text_dim };
    painter.rect_stroke(frame, 2.0, Stroke::new(1.5, color), StrokeKind::Inside);
}

fn paint_name(painter: &Painter, palette: &Palette, rect: Rect, gutter_pt: f32, label: &str, steps: Option<&Steps>) {
    let clip = Rect::from_min_size(rect.min, vec2(gutter_pt - 8.0, rect.height()));
    let painter = painter.with_clip_rect(clip.intersect(painter.clip_rect()));
    let at = pos2(rect.left() + 24.0, rect.center().y);
    let text = match steps {
        Some(steps) => {
            let count = steps.steps.len() as u64;
            let kind = if steps.estimated { "estimated steps" } else { "steps" };
            format!("{} {}", format::count(count), if count == 1 { "step" } else { kind })
        }
        None => "no steps marked".to_owned(),
    };
    let name = super::label::safe(&format!("Capture of rank {label}"));
    painter.text(at - vec2(0.0, 1.0), Align2::LEFT_BOTTOM, name, LANE_FONT, palette.lane_text);
    painter.text(at + vec2(0.0, 1.0), Align2::LEFT_TOP, text, LANE_FONT, palette.text_dim);
}

fn input(
    ui: &Ui,
    response: &Response,
    map: Map,
    (state, cache): (&ViewState, &mut Cache),
    rank: RankId,
    pointed: Option<usize>,
    out: &mut Vec<Command>,
) {
    let view = state.viewport;
    let (x0, x1) = view_x(map, view);
    let is_whole = f64::from(x1 - x0) >= f64::from(map.rect.width()) * WHOLE_SHARE;
    let drag_at = |at: Pos2| -> MapDrag {
        if is_whole {
            MapDrag::Draw(map.time_at(at.x))
        } else if (at.x - x0).abs() <= GRIP_PT {
            MapDrag::Edge(view.end_ns())
        } else if (at.x - x1).abs() <= GRIP_PT {
            MapDrag::Edge(view.start_ns)
        } else if (x0..=x1).contains(&at.x) {
            MapDrag::Move
        } else {
            MapDrag::Draw(map.time_at(at.x))
        }
    };
    if let Some(at) = response.hover_pos().filter(|at| map.rect.contains(*at)) {
        ui.ctx().set_cursor_icon(match (cache.map_drag.unwrap_or_else(|| drag_at(at)), pointed) {
            (MapDrag::Edge(_), _) => CursorIcon::ResizeHorizontal,
            (MapDrag::Move, _) if cache.map_drag.is_some() => CursorIcon::Grabbing,
            (_, Some(_)) if cache.map_drag.is_none() => CursorIcon::PointingHand,
            (MapDrag::Move, _) => CursorIcon::Grab,
            (MapDrag::Draw(_), _) => CursorIcon::Crosshair,
        });
    }
    if !response.dragged() {
        cache.map_drag = None;
    }
    let Some(at) = response.interact_pointer_pos() else { return };
    if response.double_clicked() {
        out.push(Command::ShowAll);
    } else if response.clicked() && map.rect.contains(at) {
        match pointed {
            Some(step) => out.push(Command::ShowStep(rank, step as u32)),
            None => {
                let by = (map.time_at(at.x) - view.middle_ns()) / view.len_ns;
                out.push(Command::Show(view.panned(by).span()));
            }
        }
    }
    if !response.dragged() {
        return;
    }
    let origin = ui.input(|i| i.pointer.press_origin()).unwrap_or(at);
    let mode = *cache.map_drag.get_or_insert_with(|| drag_at(origin));
    let now_ns = map.time_at(at.x);
    match mode {
        MapDrag::Move => {
            let by_ns = f64::from(response.drag_delta().x) / f64::from(map.rect.width()) * map.span.len_ns() as f64;
            if by_ns != 0.0 {
                out.push(Command::PanBy(by_ns / view.len_ns));
            }
        }
        MapDrag::Edge(other_ns) | MapDrag::Draw(other_ns) => {
            let (from, to) = (other_ns.min(now_ns), other_ns.max(now_ns));
            if to - from >= Viewport::MIN_LEN_NS {
                out.push(Command::ZoomTo(Span::new(from as i64, to as i64)));
            }
        }
    }
}

fn describe(state: &ViewState, span: Span, steps: Option<&Steps>) -> String {
    let seen = state.viewport.span().intersect(span);
    let share = seen.map_or(0.0, |seen| seen.len_ns() as f64 / (span.len_ns() as f64).max(1.0));
    let steps = steps.map_or(0, |steps| steps.steps.len());
    let hits = state.hits().map(|hits| format!(", {} hits of the search marked", format::count(hits.len() as u64)));
    format!(
        "Overview of the capture: {} steps{}; the view shows {} of it. Drag to move or draw the view, click a step to show it",
        format::count(steps as u64),
        hits.unwrap_or_default(),
        format::percent(Some(share))
    )
}
