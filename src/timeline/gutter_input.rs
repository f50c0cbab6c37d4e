//! Mouse and touch over the lane names: expanding, choosing, moving, resizing, and the menu of a lane.

use super::arrange::Neighbours;
use super::cache::Cache;
use super::drag;
use super::draw::Frame;
use super::gutter::lane_name;
use super::input::scroll;
use super::lane_menu;
use super::layout::{Lane, Layout};
use crate::view::{Command, LaneAsk, LaneCommand, LaneKey};
use egui::{
    CursorIcon, EventFilter, Id, PointerButton, Popup, Pos2, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2,
    vec2,
};

/// Distance from the lower edge of a lane within which it is resized.
const EDGE_PT: f32 = 3.0;
/// Size of the button that opens the menu of a lane.
const BUTTON_PT: (f32, f32) = (18.0, 16.0);
/// Room between that button and the lanes.
const BUTTON_RIGHT_PT: f32 = 3.0;
/// Width at the right of the names that the button takes.
pub(super) const MENU_PT: f32 = BUTTON_PT.0 + BUTTON_RIGHT_PT;

/// What the lane names remember between frames.
#[derive(Debug, Default)]
pub struct GutterState {
    drag: Option<GutterDrag>,
    /// The lane whose menu is open.
    menu: Option<LaneKey>,
}

/// What the drag that is going on does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum GutterDrag {
    /// Scrolls the lanes.
    Scroll,
    /// Moves a lane among its neighbours.
    Move(LaneKey),
    /// Shifts a document against the others; the part of a nanosecond that is still to come.
    Shift(usize, f64),
    /// Makes a lane higher or lower.
    Resize {
        lane: LaneKey,
        /// The lane at the same height in the pane beside.
        beside: Option<LaneKey>,
        /// Scale and height of the lane and height of the pointer when it began.
        scale: f32,
        height_pt: f32,
        from_pt: f32,
    },
}

/// Turns this frame's input over the names into commands.
pub fn handle(
    ui: &Ui,
    frame: &Frame<'_>,
    layout: &Layout,
    cache: &mut Cache,
    rect: Rect,
    out: &mut Vec<Command>,
) -> Response {
    let area = Rect::from_min_max(pos2(rect.left(), frame.whole().top_pt), pos2(frame.left_pt, rect.bottom()));
    let response = ui.interact(area, ui.scope_id().with("lane names"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Group, true, "Lane names"));
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    answer(frame, layout, out);
    follow_drag(ui, &response, frame, layout, cache, out);
    let hovered = response.hover_pos().filter(|_| cache.gutter.drag.is_none());
    if hovered.is_some_and(|at| edge_at(frame, layout, at).is_some()) {
        ui.ctx().set_cursor_icon(CursorIcon::ResizeVertical);
    }
    let under = hovered.and_then(|at| frame.lane_at(layout, at.y));
    if let Some(at) = response.interact_pointer_pos() {
        if response.double_clicked() && edge_at(frame, layout, at).is_some() {
            out.extend(edge_at(frame, layout, at).map(|lane| Command::Lane(LaneCommand::Scale(lane.key, 1.0))));
        } else if response.clicked_by(PointerButton::Primary) && edge_at(frame, layout, at).is_none() {
            click(frame, layout, at, response.double_clicked(), out);
        } else if response.secondary_clicked() {
            cache.gutter.menu = frame.lane_at(layout, at.y).map(|lane| lane.key);
            out.extend(cache.gutter.menu.map(|lane| Command::Lane(LaneCommand::Focus(Some(lane)))));
        }
    }
    menus(ui, &response, frame, layout, cache, under.as_ref(), out);
    response
}

/// The menu at the pointer, and the buttons that open the same menu: on the lane under the pointer and on the chosen
/// one.
fn menus(
    ui: &Ui,
    response: &Response,
    frame: &Frame<'_>,
    layout: &Layout,
    cache: &Cache,
    under: Option<&Lane>,
    out: &mut Vec<Command>,
) {
    let find = |key: LaneKey| layout.lanes.iter().chain(&layout.pinned).find(|lane| lane.key == key);
    if let Some(lane) = cache.gutter.menu.and_then(find) {
        Popup::context_menu(response).show(|ui| lane_menu::show(ui, frame, layout, lane, out));
    }
    let chosen = frame.state.lanes.focus.and_then(find).filter(|lane| under.is_none_or(|under| under.key != lane.key));
    for lane in under.into_iter().chain(chosen) {
        let Some(place) = button_place(frame, lane) else { continue };
        let id: Id = response.id.with(("menu", lane.key, lane.pinned));
        let button = ui.interact(place, id, Sense::click());
        let name = format!("Menu of {}", lane_name(frame.workspace, lane).0);
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        paint_button(ui, &button);
        Popup::menu(&button).show(|ui| lane_menu::show(ui, frame, layout, lane, out));
    }
}

/// Where the menu button of `lane` is; `None` when the lane is out of sight or too low.
fn button_place(frame: &Frame<'_>, lane: &Lane) -> Option<Rect> {
    let own = if lane.pinned { frame.pinned() } else { *frame };
    let top_pt = own.origin_pt + lane.top_pt;
    let size = vec2(BUTTON_PT.0, BUTTON_PT.1.min(lane.height_pt - 1.0));
    let first_pt = if lane.is_header() { lane.height_pt } else { lane.first_pt.clamp(size.y, lane.height_pt) };
    let place =
        Rect::from_center_size(pos2(own.left_pt - BUTTON_RIGHT_PT - size.x / 2.0, top_pt + first_pt / 2.0), size);
    (size.y >= 7.0 && place.top() >= own.top_pt - 1.0 && place.bottom() <= own.bottom_pt).then_some(place)
}

/// Three points on a ground that covers what is written there.
fn paint_button(ui: &Ui, button: &Response) {
    let look = ui.style().interact(button);
    let painter = ui.painter_at(button.rect);
    painter.rect(button.rect, 3.0, look.weak_bg_fill, Stroke::new(1.0, look.bg_stroke.color), egui::StrokeKind::Inside);
    for at in [-4.0, 0.0, 4.0] {
        painter.circle_filled(button.rect.center() + vec2(at, 0.0), 1.3, look.fg_stroke.color);
    }
}

/// A click on a name: a rank is chosen by its name and opened by its triangle, other lanes open by either.
fn click(frame: &Frame<'_>, layout: &Layout, at: Pos2, double: bool, out: &mut Vec<Command>) {
    let Some(lane) = frame.lane_at(layout, at.y) else { return };
    if let LaneKey::Rank(rank) = lane.key {
        if frame.state.rank != Some(rank) {
            out.push(Command::ChooseRank(rank));
        }
        if at.x >= frame.gutter_left_pt + 24.0 && !double {
            return;
        }
    }
    out.push(match lane.expanded {
        Some(_) => Command::ToggleLane(lane.key),
        None => Command::Lane(LaneCommand::Focus(Some(lane.key))),
    });
}

/// The lane whose lower edge is at `at`. Headers have a height of their own.
fn edge_at(frame: &Frame<'_>, layout: &Layout, at: Pos2) -> Option<Lane> {
    let near = |lane: &Lane| {
        let own = if lane.pinned { frame.pinned() } else { *frame };
        !lane.is_header() && (own.origin_pt + lane.bottom_pt() - at.y).abs() <= EDGE_PT
    };
    [at.y, at.y - EDGE_PT].into_iter().find_map(|y| frame.lane_at(layout, y).filter(near))
}

fn follow_drag(
    ui: &Ui,
    response: &Response,
    frame: &Frame<'_>,
    layout: &Layout,
    cache: &mut Cache,
    out: &mut Vec<Command>,
) {
    if !(response.dragged_by(PointerButton::Primary) || response.dragged_by(PointerButton::Middle)) {
        cache.gutter.drag = None;
        return;
    }
    let origin = ui.input(|i| i.pointer.press_origin());
    let Some((origin, at)) = origin.zip(response.interact_pointer_pos()) else { return };
    let primary = response.dragged_by(PointerButton::Primary);
    let modifiers = ui.input(|i| i.modifiers);
    let mode = *cache.gutter.drag.get_or_insert_with(|| {
        let shifted = drag::shifted_doc(frame, layout, origin.y, modifiers).filter(|_| primary);
        shifted.map_or_else(|| drag_at(frame, layout, origin, primary), |doc| GutterDrag::Shift(doc, 0.0))
    });
    ui.ctx().set_cursor_icon(match mode {
        GutterDrag::Resize { .. } => CursorIcon::ResizeVertical,
        GutterDrag::Shift(..) => CursorIcon::ResizeHorizontal,
        GutterDrag::Scroll | GutterDrag::Move(_) => CursorIcon::Grabbing,
    });
    match mode {
        GutterDrag::Scroll => scroll(frame, layout, -response.drag_delta().y, out),
        GutterDrag::Shift(doc, rest_ns) => {
            let rest_ns = drag::shift(frame, doc, response.drag_delta().x, rest_ns, out);
            cache.gutter.drag = Some(GutterDrag::Shift(doc, rest_ns));
        }
        GutterDrag::Move(lane) => {
            let neighbours = Neighbours::of(layout, lane);
            let order = neighbours.and_then(|lanes| lanes.moved(lanes.places_to(at.y - frame.origin_pt)));
            out.extend(order.into_iter().flat_map(|order| ordered(layout, order)));
        }
        GutterDrag::Resize { lane, beside, scale, height_pt, from_pt } => {
            let scale = scale * (height_pt + at.y - from_pt).max(1.0) / height_pt.max(1.0);
            out.extend(resized([Some(lane), beside], scale));
        }
    }
}

/// What a drag that begins at `origin` does: on an edge it resizes, on a name it moves the lane; by the middle button,
/// and where there is no other place for the lane, it scrolls.
fn drag_at(frame: &Frame<'_>, layout: &Layout, origin: Pos2, primary: bool) -> GutterDrag {
    if !primary {
        return GutterDrag::Scroll;
    }
    if let Some(lane) = edge_at(frame, layout, origin) {
        let Lane { key: lane, beside, scale, height_pt, .. } = lane;
        return GutterDrag::Resize { lane, beside, scale, height_pt, from_pt: origin.y };
    }
    let lane = frame.lane_at(layout, origin.y).filter(|lane| !lane.pinned).map(|lane| lane.key);
    let movable = |lane: &LaneKey| Neighbours::of(layout, *lane).is_some_and(|lanes| lanes.keys.len() > 1);
    lane.filter(movable).map_or(GutterDrag::Scroll, GutterDrag::Move)
}

/// Answers what a key asked of the lanes on screen.
fn answer(frame: &Frame<'_>, layout: &Layout, out: &mut Vec<Command>) {
    let Some(ask) = frame.state.lanes.asked else { return };
    let own = frame.state.lanes.focus.and_then(|key| layout.lanes.iter().position(|lane| lane.key == key));
    let shown_pt = frame.top_pt - frame.origin_pt;
    let first_seen = || layout.lanes.iter().position(|lane| lane.top_pt >= shown_pt).unwrap_or(0);
    match ask {
        LaneAsk::Focus(by) => {
            let last = layout.lanes.len().saturating_sub(1) as i64;
            let at = own.map_or_else(first_seen, |own| (own as i64 + i64::from(by)).clamp(0, last) as usize);
            let lane = layout.lanes.get(at);
            out.push(Command::Lane(LaneCommand::Focus(lane.map(|lane| lane.key))));
            if let Some(lane) = lane {
                reveal(frame, layout, lane, out);
            }
        }
        LaneAsk::Move(by) => {
            let key = own.or_else(|| Some(first_seen())).and_then(|at| layout.lanes.get(at)).map(|lane| lane.key);
            let order = key.and_then(|key| Neighbours::of(layout, key)?.moved(by));
            out.push(Command::Lane(LaneCommand::Focus(key)));
            out.extend(order.into_iter().flat_map(|order| ordered(layout, order)));
        }
        LaneAsk::ScaleBy(factor) => {
            let lane = own.and_then(|own| layout.lanes.get(own));
            out.extend(lane.into_iter().flat_map(|lane| resized([Some(lane.key), lane.beside], lane.scale * factor)));
        }
        LaneAsk::ResetScale => {
            let lane = own.and_then(|own| layout.lanes.get(own));
            out.extend(lane.into_iter().flat_map(|lane| resized([Some(lane.key), lane.beside], 1.0)));
        }
    }
}

/// Gives neighbouring lanes this order, and in the pane beside those that stand at their heights.
pub(super) fn ordered(layout: &Layout, order: Vec<LaneKey>) -> Vec<Command> {
    let beside = |key: &LaneKey| layout.lanes.iter().find(|lane| lane.key == *key)?.beside;
    let other: Vec<LaneKey> = order.iter().filter_map(beside).filter(|key| !order.contains(key)).collect();
    let orders = [order, other].into_iter().filter(|order| order.len() > 1);
    orders.map(|order| Command::Lane(LaneCommand::Order(order))).collect()
}

/// Gives lanes that stand at one height this scale.
pub(super) fn resized(lanes: [Option<LaneKey>; 2], scale: f32) -> impl Iterator<Item = Command> {
    lanes.into_iter().flatten().map(move |lane| Command::Lane(LaneCommand::Scale(lane, scale)))
}

/// Scrolls `lane` into sight, below the header that stays at the top.
fn reveal(frame: &Frame<'_>, layout: &Layout, lane: &Lane, out: &mut Vec<Command>) {
    let header_pt = layout.lanes.iter().find(|other| other.is_header()).map_or(0.0, |header| header.height_pt);
    let (top_pt, bottom_pt) = (frame.origin_pt + lane.top_pt, frame.origin_pt + lane.bottom_pt());
    let first_pt = frame.top_pt + if lane.is_header() { 0.0 } else { header_pt };
    if top_pt < first_pt {
        scroll(frame, layout, top_pt - first_pt, out);
    } else if bottom_pt > frame.bottom_pt {
        scroll(frame, layout, (bottom_pt - frame.bottom_pt).min(top_pt - first_pt), out);
    }
}
