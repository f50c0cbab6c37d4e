//! Two ranks in panes of their own, above each other or left and right, each with a ruler and lanes.
//!
//! A pane is a timeline drawn from [`ViewState::of_pane`]; what is asked for of its time comes back as
//! [`Command::InPane`]. What the pointer is on in one pane is marked in the other from the next frame on.

use super::cache::Cache;
use super::color::Palette;
use super::layout::Layout;
use super::{Place, pane, room_pt};
use crate::view::{Command, Compare, CompareCommand, CompareForm, ViewState, Workspace};
use egui::{CursorIcon, Id, Popup, Rect, Sense, Stroke, Ui, UiBuilder, WidgetInfo, vec2};

/// Width of the line between the panes, which can be dragged.
const DIVIDER_PT: f32 = 5.0;

/// What the panes keep between frames.
#[derive(Debug, Default)]
pub struct Second {
    /// The timeline's of the second pane.
    pub cache: Cache,
}

/// Draws the two panes of `compare` into `rect`.
pub(super) fn show(
    ui: &mut Ui,
    rect: Rect,
    workspace: &Workspace,
    (state, compare): (&ViewState, &Compare),
    cache: &mut Cache,
    out: &mut Vec<Command>,
) {
    let mut second = cache.second.take().unwrap_or_default();
    second.cache.beside = cache.beside.clone();
    let (first_rect, line, second_rect) = split(rect, compare.form, compare.share);
    divide(ui, rect, line, compare, Palette::of(state.theme), out);
    let pointed = [cache.pointed, second.cache.pointed];
    let states = [0, 1].map(|pane| {
        let mut own = state.of_pane(pane);
        own.pointed = pointed.get(1 - pane).copied().flatten();
        own.lanes.list &= pane == 0;
        if pane != compare.active {
            own.lanes.asked = None;
        }
        own
    });
    let layouts = if compare.form == CompareForm::SideBySide {
        let room_pt = room_pt(ui.ctx(), state, cache, first_rect);
        let [first, other] = &states;
        Layout::of_two(workspace, [(first, &mut *cache), (other, &mut second.cache)], room_pt).map(Some)
    } else {
        [None, None]
    };
    let over = ui.input(|input| input.pointer.hover_pos());
    let own = [(first_rect, &mut *cache), (second_rect, &mut second.cache)];
    for (pane, ((state, (rect, cache)), layout)) in states.iter().zip(own).zip(layouts).enumerate() {
        let mut asked = Vec::new();
        ui.scope_builder(UiBuilder::new().id_salt(("pane", pane)).max_rect(rect), |ui| {
            let place = Place { rect, id: Id::unique(("timeline", pane)), layout };
            self::pane(ui, place, (workspace, state), cache, &mut asked);
        });
        // Keys move the pane under the pointer.
        if over.is_some_and(|at| rect.contains(at)) && pane != compare.active && !Popup::is_any_open(ui.ctx()) {
            out.push(Command::Compare(CompareCommand::Activate(pane)));
        }
        out.extend(asked.into_iter().map(|command| match command.is_of_pane() {
            true => Command::InPane(pane, Box::new(command)),
            false => command,
        }));
    }
    if pointed != [cache.pointed, second.cache.pointed] {
        ui.ctx().request_repaint();
    }
    let active = if compare.active == 0 { first_rect } else { second_rect };
    let accent = Stroke::new(2.0, Palette::of(state.theme).accent);
    ui.painter().hline(active.x_range(), active.top() + 1.0, accent);
    cache.second = Some(second);
}

/// The first pane, the line between them, and the second.
fn split(rect: Rect, form: CompareForm, share: f32) -> (Rect, Rect, Rect) {
    if form == CompareForm::SideBySide {
        let at = (rect.left() + (rect.width() - DIVIDER_PT) * share).round();
        let (first, rest) = rect.split_left_right_at_x(at);
        let (line, second) = rest.split_left_right_at_x(at + DIVIDER_PT);
        (first, line, second)
    } else {
        let at = (rect.top() + (rect.height() - DIVIDER_PT) * share).round();
        let (first, rest) = rect.split_top_bottom_at_y(at);
        let (line, second) = rest.split_top_bottom_at_y(at + DIVIDER_PT);
        (first, line, second)
    }
}

/// Draws the line between the panes and follows its drag; a double click puts it into the middle.
fn divide(ui: &Ui, rect: Rect, line: Rect, compare: &Compare, palette: &Palette, out: &mut Vec<Command>) {
    let response = ui.interact(line, Id::unique("line between panes"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Splitter, true, "Line between the two ranks"));
    let is_beside = compare.form == CompareForm::SideBySide;
    if response.hovered() || response.dragged() {
        ui.ctx().set_cursor_icon(if is_beside { CursorIcon::ResizeHorizontal } else { CursorIcon::ResizeVertical });
    }
    let mut split = |share: f32| {
        if share != compare.share {
            out.push(Command::Compare(CompareCommand::Split(share)));
        }
    };
    if response.double_clicked() {
        split(Compare::HALF);
    } else if let Some(at) = response.interact_pointer_pos().filter(|_| response.dragged()) {
        let at = at - rect.min;
        split(Compare::share(if is_beside { at.x / rect.width().max(1.0) } else { at.y / rect.height().max(1.0) }));
    }
    let color = if response.hovered() || response.dragged() { palette.accent } else { palette.boundary };
    let thin = if is_beside { vec2(1.0, line.height()) } else { vec2(line.width(), 1.0) };
    ui.painter().rect_filled(line, 0.0, palette.panel);
    ui.painter().rect_filled(Rect::from_center_size(line.center(), thin), 0.0, color);
}
