//! The timeline: lanes of what ran, at any zoom, painted from the model without copying it.
//!
//! ```text
//! model (columns) -> rows (disjoint, sorted)      lanes.rs, rows.rs, grid.rs    once per lane, kept by cache.rs
//!                 -> pieces (slice or bin)        bins.rs                       every frame, visible rows only
//!                 -> draw list (points, tones)    draw.rs, marks.rs, steps.rs
//!                 -> meshes and texts             paint.rs, label.rs, color.rs
//! ```
//! A frame only reads. What the user does becomes a [`Command`]; the pointer finds its item the same way back (hit.rs).

mod arrange;
pub mod bench;
mod beside;
mod bins;
mod cache;
pub mod clock;
pub mod color;
mod coloring;
mod counters;
mod drag;
mod draw;
mod ease;
pub mod flags;
mod found;
mod grid;
mod gutter;
mod gutter_input;
mod hit;
mod hit_lists;
mod ink;
mod input;
mod label;
mod lane_list;
mod lane_menu;
mod lanes;
mod layout;
mod legend;
mod map_hits;
mod marks;
mod menu;
pub mod minimap;
mod overlay;
mod paint;
mod panes;
pub mod ramp;
mod recolor;
mod row;
mod rows;
pub mod ruler;
mod same;
mod select;
mod sight;
mod slices;
mod snap;
mod steps;
mod strip;
mod tooltip;
mod unfold;
mod waits;
mod work;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use cache::Cache;
pub use gutter::thread_name;
pub use ink::Ink;
pub use work::{LARGE, wake};

use crate::format;
use crate::report::compare::reservation;
use crate::view::{Command, Item, Theme, ViewState, Workspace};
use color::Palette;
use draw::{DrawList, Frame};
use egui::{Context, EventFilter, Id, LayerId, Order, Pos2, Rect, Sense, Ui, WidgetInfo, pos2};
use layout::Layout;
use tooltip::Spot;

/// Height of the ruler.
const RULER_PT: f32 = 24.0;
/// Width of the lane names, and the most of the width they may take.
const GUTTER_PT: (f32, f32) = (248.0, 0.3);
/// Narrower timelines than this give the lane names more of the width.
const NARROW_PT: (f32, f32) = (420.0, 0.4);
/// Lower timelines have no room for the legend.
const LEGEND_FROM_PT: f32 = 140.0;
/// Most of the height that pinned lanes may take.
const PINNED_SHARE: f32 = 0.6;
/// Width of the scroll mark at the right.
const SCROLL_PT: f32 = 6.0;

/// Draws the timeline into the available rectangle of `ui` and pushes what the user asks for to `out`.
pub fn show(ui: &mut Ui, workspace: &Workspace, state: &ViewState, cache: &mut Cache, out: &mut Vec<Command>) {
    let rect = ui.available_rect_before_wrap();
    ui.advance_cursor_after_rect(rect);
    let rect = legend_below(ui, workspace, state, cache, rect);
    if let Some(compare) = state.panes() {
        panes::show(ui, rect, workspace, (state, compare), cache, out);
        return;
    }
    cache.second = None;
    // An identity of its own: one counted along the panels would change with a panel that opens or closes, and a press in
    // that frame would be lost.
    let place = Place { rect, id: Id::unique("timeline"), layout: None };
    pane(ui, place, (workspace, state), cache, out);
}

/// Where a timeline stands, and its identity.
struct Place {
    rect: Rect,
    id: Id,
    /// Its lanes, where they stand beside those of another one.
    layout: Option<Layout>,
}

/// The height to lay out the lanes of a timeline in `rect` for.
fn room_pt(ctx: &Context, state: &ViewState, cache: &mut Cache, rect: Rect) -> f32 {
    cache.sight.in_form(state.compare.as_ref().map(|compare| (compare.form, compare.share)));
    cache.sight.room_pt(ctx, rect.height() - RULER_PT)
}

/// Draws one timeline.
fn pane(
    ui: &mut Ui,
    place: Place,
    (workspace, state): (&Workspace, &ViewState),
    cache: &mut Cache,
    out: &mut Vec<Command>,
) {
    let Place { rect, id, layout } = place;
    let response = ui.interact(rect, id, Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Canvas, true, describe(workspace, state)));
    // Arrow keys move the view, not the focus.
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    cache.pointer_ns = None;
    if !ui.is_rect_visible(rect) || rect.width() < 40.0 || rect.height() < RULER_PT + 10.0 {
        return;
    }
    let now_s = ui.input(|i| i.time);
    let (viewport, moving) = cache.ease.follow(state, now_s, ui.style().animation_time > 0.0);
    if moving {
        ui.ctx().request_repaint();
    }
    let on_the_way = moving.then(|| ViewState { viewport, ..state.clone() });
    let state = on_the_way.as_ref().unwrap_or(state);
    let layout = layout.unwrap_or_else(|| {
        let room_pt = room_pt(ui.ctx(), state, cache, rect);
        Layout::of(workspace, state, cache, room_pt)
    });
    let lanes_pt = rect.height() - RULER_PT;
    let visible_pt = lanes_pt - pinned_pt(&layout, lanes_pt);
    let scroll_pt = state.scroll_y_pt.min(input::scroll_limit(&layout, visible_pt));
    let by_pt = sight::scroll_by(state, workspace, cache, &layout, (scroll_pt, visible_pt));
    out.extend(unfold::lanes(workspace, state, cache, &layout));
    // Drawn scrolled at once, so that no frame shows it out of sight.
    let scrolled = (by_pt != 0.0).then(|| ViewState { scroll_y_pt: scroll_pt + by_pt, ..state.clone() });
    if let Some(scrolled) = &scrolled {
        out.push(Command::ScrollBy(scrolled.scroll_y_pt - state.scroll_y_pt));
    }
    let state = scrolled.as_ref().unwrap_or(state);
    let frame = frame(workspace, state, &layout, rect, ui.ctx().pixels_per_point());
    cache.follow_hits(
        workspace,
        state,
        layout.within(frame.top_pt - frame.origin_pt, frame.bottom_pt - frame.origin_pt),
    );
    // A menu or a panel over the timeline takes the pointer, and so does the edge of a panel beside it.
    let over = |at: &Pos2| response.contains_pointer() && rect.contains(*at);
    let pointer = ui.input(|i| i.pointer.hover_pos()).filter(over);
    let on_lanes = |at: &Pos2| (frame.left_pt..=frame.right_pt).contains(&at.x);
    cache.pointer_ns = pointer.filter(on_lanes).map(|at| frame.time_at(at.x));
    paint(ui, &frame, &layout, cache, rect, pointer);
    ruler::corner(ui, &frame, Rect::from_min_max(rect.min, pos2(frame.left_pt, frame.ruler_bottom_pt())), out);
    input::handle(ui, &response, &frame, &layout, cache, out);
    menu::show(&response, (workspace, state), cache, out);
    let names = gutter_input::handle(ui, &frame, &layout, cache, rect, out);
    lane_list::show(ui, &frame, &layout, rect, out);
    // A menu that is open is about what was pointed at before.
    let menu = egui::Popup::is_any_open(ui.ctx());
    if let Some(at) = pointer.filter(|_| (response.hovered() || names.hovered()) && !menu) {
        hover(ui, &frame, &layout, cache, rect, at);
    }
}

/// Draws what the colours mean at the bottom of `rect`, when it is asked for and there is room; returns what is left.
fn legend_below(ui: &Ui, workspace: &Workspace, state: &ViewState, cache: &mut Cache, rect: Rect) -> Rect {
    if !state.legend || !ui.is_rect_visible(rect) || rect.height() < LEGEND_FROM_PT {
        return rect;
    }
    let (lanes, strip) = rect.split_top_bottom_at_y(rect.bottom() - legend::HEIGHT_PT);
    let entries = cache.legend(workspace, state);
    let (waits, reservation) = (waits::legend(workspace), reservation(&workspace.job));
    let entries = legend::Entries { colors: &entries, waits, reservation };
    legend::show(ui, state, Palette::of(state.theme), &entries, strip);
    lanes
}

/// Width of the lane names in a timeline of `width_pt`.
fn gutter_width_pt(width_pt: f32) -> f32 {
    // In a narrow pane a name needs more of the width to be told from others.
    let share = if width_pt < NARROW_PT.0 { NARROW_PT.1 } else { GUTTER_PT.1 };
    GUTTER_PT.0.min(width_pt * share).round()
}

fn frame<'a>(workspace: &'a Workspace, state: &'a ViewState, layout: &Layout, rect: Rect, px_per_pt: f32) -> Frame<'a> {
    let gutter_pt = gutter_width_pt(rect.width());
    let pinned_pt = pinned_pt(layout, rect.height() - RULER_PT);
    let top_pt = rect.top() + RULER_PT + pinned_pt;
    let scroll_pt = state.scroll_y_pt.min(input::scroll_limit(layout, rect.bottom() - top_pt));
    Frame {
        workspace,
        state,
        gutter_left_pt: rect.left(),
        left_pt: rect.left() + gutter_pt,
        right_pt: rect.right() - SCROLL_PT,
        top_pt,
        bottom_pt: rect.bottom(),
        origin_pt: top_pt - scroll_pt,
        px_per_pt,
        pinned_pt,
    }
}

/// Height of the pinned lanes in lanes of `lanes_pt`: the others keep some room.
fn pinned_pt(layout: &Layout, lanes_pt: f32) -> f32 {
    layout.pinned_pt.min((lanes_pt * PINNED_SHARE).floor())
}

fn paint(ui: &Ui, frame: &Frame<'_>, layout: &Layout, cache: &mut Cache, rect: Rect, pointer: Option<Pos2>) {
    let palette = Palette::of(frame.state.theme);
    let painter = ui.painter_at(rect);
    let lanes_rect = Rect::from_min_max(pos2(frame.left_pt, frame.top_pt), pos2(frame.right_pt, frame.bottom_pt));
    let lanes = painter.with_clip_rect(lanes_rect);
    painter.rect_filled(rect, 0.0, palette.background);
    let whole = frame.whole();
    let ruler_rect = Rect::from_min_max(pos2(frame.left_pt, rect.top()), pos2(rect.right(), whole.top_pt));
    let over = pointer.filter(|at| at.x >= frame.left_pt).map(|at| at.x);
    let all_lanes = painter.with_clip_rect(lanes_rect.with_min_y(whole.top_pt));
    ruler::paint(&painter.with_clip_rect(ruler_rect), &all_lanes, &whole, palette, ruler_rect, over);
    flags::paint(&painter.with_clip_rect(ruler_rect), frame, palette);
    let corner = Rect::from_min_max(rect.min, pos2(frame.left_pt, whole.top_pt));
    ruler::paint_corner(&painter, frame, palette, corner);
    paint::paint(&lanes, palette, &draw_list(frame, layout, cache));
    if frame.pinned_pt > 0.0 {
        pinned(&painter, frame, layout, cache, palette, rect, pointer);
    }
    overlay::span(&all_lanes, &whole, palette);
    if let Some(selected) = frame.state.selected {
        if let Some(same) = cache.same_name(ui.ctx(), (frame.workspace, frame.state), selected) {
            same::paint(&lanes, frame, cache, layout, palette, (selected, &same));
        }
        let linked = cache.linked(frame.workspace, selected);
        overlay::selection(&lanes, frame, cache, layout, palette, selected, &linked);
    }
    let at = pointer.filter(|_| !egui::Popup::is_any_open(ui.ctx()));
    cache.pointed = beside::pointed(frame, layout, cache, at);
    if let Some(item) = beside::item(frame, cache) {
        beside::paint(&lanes, frame, cache, layout, palette, item);
    }
    let sticky = frame.sticky(layout);
    if let Some(header) = &sticky {
        sticky_header(&lanes, frame, cache, layout, palette, header);
    }
    if let Some(at) = ui.input(|i| i.pointer.latest_pos()).filter(|_| cache.drag.is_some()) {
        drag::paint(&lanes, frame, cache, palette, at);
    }
    let gutter = Rect::from_min_max(pos2(rect.left(), frame.top_pt), pos2(frame.left_pt, rect.bottom()));
    let names = gutter::Names { painter: painter.with_clip_rect(gutter), frame, cache, palette, rect: gutter, pointer };
    names.paint(layout, sticky.as_ref());
    scroll_mark(&painter, frame, layout, palette);
}

/// The pinned lanes with their names, and the line below them.
fn pinned(
    painter: &egui::Painter,
    frame: &Frame<'_>,
    layout: &Layout,
    cache: &Cache,
    palette: &Palette,
    rect: Rect,
    pointer: Option<Pos2>,
) {
    let (frame, layout) = (&frame.pinned(), &layout.pinned());
    let area = Rect::from_min_max(pos2(frame.left_pt, frame.top_pt), pos2(frame.right_pt, frame.bottom_pt));
    let lanes = painter.with_clip_rect(area);
    paint::paint(&lanes, palette, &draw_list(frame, layout, cache));
    if let Some(selected) = frame.state.selected {
        layout.lanes.iter().for_each(|lane| overlay::selected_on(&lanes, frame, cache, lane, palette, selected));
    }
    let gutter = Rect::from_min_max(pos2(rect.left(), frame.top_pt), pos2(frame.left_pt, frame.bottom_pt));
    let names = gutter::Names { painter: painter.with_clip_rect(gutter), frame, cache, palette, rect: gutter, pointer };
    names.paint(layout, None);
    let line = egui::Stroke::new(2.0, palette.boundary);
    painter.hline(rect.left()..=frame.right_pt, frame.bottom_pt - 1.0, line);
}

/// The header whose lanes are scrolled past the top, over them.
fn sticky_header(
    lanes: &egui::Painter,
    frame: &Frame<'_>,
    cache: &Cache,
    layout: &Layout,
    palette: &Palette,
    header: &layout::Lane,
) {
    let (top, bottom) = (frame.origin_pt + header.top_pt, frame.origin_pt + header.bottom_pt());
    let area = Rect::from_min_max(pos2(frame.left_pt, top), pos2(frame.right_pt, frame.snap(bottom)));
    let painter = lanes.with_clip_rect(area.intersect(lanes.clip_rect()));
    painter.rect_filled(area, 0.0, palette.background);
    let mut list = DrawList::default();
    draw::ground(frame, header, &mut list);
    steps::rank(frame, layout, header, &mut list);
    found::steps(frame, cache, header, &mut list);
    paint::paint(&painter, palette, &list);
    if let Some(selected) = frame.state.selected {
        overlay::selected_on(&painter, frame, cache, header, palette, selected);
    }
}

/// Everything visible, as rectangles and texts.
fn draw_list(frame: &Frame<'_>, layout: &Layout, cache: &Cache) -> DrawList {
    let mut list = DrawList::default();
    let (top, bottom) = (frame.top_pt - frame.origin_pt, frame.bottom_pt - frame.origin_pt);
    for lane in layout.within(top, bottom) {
        draw::ground(frame, lane, &mut list);
        draw::lane(frame, cache, lane, &mut list);
        marks::lane(frame, cache, lane, &mut list);
        found::marks(frame, cache, lane, &mut list);
        draw::more(frame, lane, &mut list);
        counters::lane(frame, cache, lane, &mut list);
        strip::lane(frame, cache, lane, &mut list);
    }
    // A rank's boundaries reach below its header, so ranks whose header is scrolled away count too.
    let touches = |lane: &&layout::Lane| {
        lane.rank.and_then(|rank| layout.block(rank)).is_some_and(|(y0, y1)| y0 < bottom && y1 > top)
    };
    for header in layout.lanes.iter().filter(|lane| lane.is_header()).filter(touches) {
        steps::rank(frame, layout, header, &mut list);
        found::steps(frame, cache, header, &mut list);
    }
    list
}

/// The pointer's time, and what is under it in words.
fn hover(ui: &Ui, frame: &Frame<'_>, layout: &Layout, cache: &mut Cache, rect: Rect, at: Pos2) {
    let palette = Palette::of(frame.state.theme);
    let painter = ui.painter_at(rect);
    // What is told of an item may be wider than a pane, and stands over the other one.
    let (cards, bounds) = match frame.state.panes() {
        Some(_) => {
            let layer = LayerId::new(Order::Tooltip, Id::unique("what is told of an item"));
            (ui.ctx().layer_painter(layer), ui.ctx().content_rect())
        }
        None => (painter.clone(), rect),
    };
    let on_lanes = at.x >= frame.left_pt && at.x <= frame.right_pt;
    if on_lanes {
        let whole = &frame.whole();
        let lanes_rect = Rect::from_min_max(pos2(frame.left_pt, whole.top_pt), pos2(frame.right_pt, frame.bottom_pt));
        overlay::pointer(&ui.painter_at(lanes_rect), &painter, whole, palette, at);
    }
    // A tooltip would stand behind a menu.
    if cache.drag.is_some() || frame.state.lanes.list || egui::Popup::is_any_open(ui.ctx()) {
        return;
    }
    if on_lanes && drag::other_end(frame, at).is_some() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
    }
    if let Some(mark) = flags::at(frame, at).and_then(|mark| frame.state.bookmarks.get(mark)) {
        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
        let text = tooltip::Text { title: flags::title(frame.workspace, mark), lines: Vec::new() };
        tooltip::paint(&cards, palette, &text, &Spot::At(pos2(at.x + 12.0, frame.ruler_bottom_pt() + 4.0)), bounds);
    } else if on_lanes && frame.more_at(layout, at.y).is_some() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
    } else if let Some((text, item)) = counters::tooltip(frame, layout, cache, at) {
        let spot = Spot::Near { pointer: at, item, avoid: &[] };
        tooltip::paint(&cards, palette, &text, &spot, bounds);
    } else if let Some((text, item)) = strip::tooltip(frame, layout, cache, at) {
        let spot = Spot::Near { pointer: at, item, avoid: &[] };
        tooltip::paint(&cards, palette, &text, &spot, bounds);
    } else if let Some(hit) = hit::at(frame, cache, layout, at.x, at.y) {
        let mut text = tooltip::text(frame, &hit);
        if hit.bin.is_none() {
            text.lines.extend(beside::other_pane(frame, cache, hit.item));
        }
        let avoid = linked_places(frame, layout, cache, &hit);
        let spot = Spot::Near { pointer: at, item: (hit.edges.2, hit.edges.3), avoid: &avoid };
        tooltip::paint(&cards, palette, &text, &spot, bounds);
    } else if let Some(lane) =
        frame.lane_at(layout, at.y).filter(|_| at.x < frame.left_pt && at.y > frame.whole().top_pt)
    {
        if lane.expanded.is_some() {
            ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
        }
        let text = tooltip::of_lane(frame, &lane);
        // Beside the names, so that none of them is covered.
        let own = if lane.pinned { frame.pinned() } else { *frame };
        let top_pt = (own.origin_pt + lane.top_pt).max(own.top_pt);
        if !text.lines.is_empty() || gutter::is_cut(&painter, frame, &lane) {
            tooltip::paint(&cards, palette, &text, &Spot::At(pos2(frame.left_pt + 8.0, top_pt + 2.0)), bounds);
        }
    }
}

/// What is looked at together with what was hit: the launch of a kernel, and what is selected with its links.
fn linked_places(frame: &Frame<'_>, layout: &Layout, cache: &mut Cache, hit: &hit::Hit) -> Vec<Rect> {
    let mut places = Vec::new();
    if let Some(selected) = frame.state.selected {
        let linked = cache.linked(frame.workspace, selected);
        places = overlay::linked_places(frame, cache, layout, selected, &linked);
    }
    // The launches of a call would cost a pass over all operations.
    if matches!(hit.item, Item::Op(..)) && hit.bin.is_none() {
        let linked = select::Linked::of(frame.workspace, hit.item);
        places.extend(overlay::linked_places(frame, cache, layout, hit.item, &linked));
    }
    places
}

/// How far down the lanes are scrolled.
fn scroll_mark(painter: &egui::Painter, frame: &Frame<'_>, layout: &Layout, palette: &Palette) {
    let visible_pt = frame.bottom_pt - frame.top_pt;
    let whole_pt = visible_pt + input::scroll_limit(layout, visible_pt);
    if whole_pt <= visible_pt {
        return;
    }
    let at = |content_pt: f32| frame.top_pt + content_pt / whole_pt * visible_pt;
    let shown = frame.top_pt - frame.origin_pt;
    let thumb = Rect::from_min_max(
        pos2(frame.right_pt + 1.0, at(shown)),
        pos2(frame.right_pt + SCROLL_PT - 1.0, at(shown + visible_pt)),
    );
    painter.rect_filled(thumb, 2.0, palette.boundary);
}

/// The timeline in words, for those who cannot see it.
fn describe(workspace: &Workspace, state: &ViewState) -> String {
    let ranks = match state.shown_ranks() {
        Some([rank]) => format!("rank {}", label::safe(workspace.label(*rank))),
        shown => {
            let count = shown.map_or_else(|| workspace.ranks().count(), <[_]>::len);
            format::counted(count as u64, "rank", "ranks")
        }
    };
    let tick = (state.viewport.len_ns / 1000.0).max(1.0) as i64;
    let span = state.viewport.span();
    let at = |at_ns| clock::text(workspace, state, at_ns, tick, tick);
    let mut text = format!("Timeline of {ranks}, showing {} to {}", at(span.start_ns), at(span.end_ns));
    if let Some(item) = state.selected {
        let length = item.span(workspace).map_or(0, crate::units::Span::len_ns);
        text += &format!(", selected {} of {}", label::name_of(workspace, item), format::duration(length));
    }
    if let Some(span) = state.selected_span {
        text += &format!(", selected span of {}", format::duration(span.len_ns()));
    }
    if let Some(hits) = state.hits() {
        text += &format!(", {} hits of the search marked", format::count(hits.len() as u64));
    }
    text
}

/// Background of the timeline in `theme`, for what stands around it.
pub fn background(theme: Theme) -> egui::Color32 {
    Palette::of(theme).background
}
