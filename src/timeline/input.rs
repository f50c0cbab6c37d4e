//! Mouse, wheel and touch over the timeline, as commands. Keys are in [`crate::view::shortcuts`].

use super::cache::Cache;
use super::drag;
use super::draw::Frame;
use super::flags;
use super::hit::{self, Hit};
use super::layout::Layout;
use crate::view::{Command, Item, RankId, Viewport};
use egui::{Event, PointerButton, Pos2, Response, Ui, Vec2};

/// A click that may turn out to be the first of two, and the press that would make it so.
///
/// The first click may open a panel or scroll the lanes, so what a double click means is settled by its first click,
/// and the second one counts wherever it lands.
#[derive(Debug, Default)]
pub struct Clicks {
    first: Option<FirstClick>,
    second_pressed: bool,
}

#[derive(Debug)]
struct FirstClick {
    time_s: f64,
    at: Pos2,
    then: Command,
}

impl Clicks {
    /// Follows this frame's buttons; the result is what a double click asks for when it ended now.
    fn follow(&mut self, ui: &Ui) -> Option<Command> {
        let (time_s, events) = ui.input(|i| {
            let primary = |event: &Event| match event {
                Event::PointerButton { pos, button: PointerButton::Primary, pressed, .. } => Some((*pos, *pressed)),
                _ => None,
            };
            (i.time, i.events.iter().filter_map(primary).collect::<Vec<_>>())
        });
        let (delay_s, reach_pt) =
            ui.ctx().options(|o| (o.input_options.max_double_click_delay, o.input_options.max_click_dist));
        for (at, pressed) in events {
            let near =
                self.first.as_ref().is_some_and(|f| time_s - f.time_s < delay_s && f.at.distance(at) <= reach_pt);
            if pressed {
                self.second_pressed = near;
            } else if std::mem::take(&mut self.second_pressed) && near {
                return self.first.take().map(|first| first.then);
            }
        }
        None
    }
}

/// Points of wheel travel that halve the visible length.
const HALVING_PT: f64 = 150.0;

/// Room below the last lane where lanes are scrolled.
const BELOW_PT: f32 = 24.0;

/// How far the lanes can be scrolled: not at all where all are in sight.
pub fn scroll_limit(layout: &Layout, visible_pt: f32) -> f32 {
    if layout.height_pt <= visible_pt { 0.0 } else { layout.height_pt + BELOW_PT - visible_pt }
}

/// Turns this frame's input into commands.
pub fn handle(
    ui: &Ui,
    response: &Response,
    frame: &Frame<'_>,
    layout: &Layout,
    cache: &mut Cache,
    out: &mut Vec<Command>,
) {
    drag::handle(ui, response, frame, layout, cache, out);
    if response.contains_pointer() && cache.drag.is_none() {
        wheel(ui, frame, layout, out);
    }
    if let Some(command) = cache.clicks.follow(ui) {
        out.push(command);
        return;
    }
    let Some(at) = response.interact_pointer_pos() else { return };
    if response.clicked_by(PointerButton::Secondary) {
        // What the menu is about; lane names have another one.
        cache.menu = at.x >= frame.left_pt;
        let hit = hit::at(frame, cache, layout, at.x, at.y);
        if let Some(item) = hit.map(|hit| hit.item) {
            out.push(Command::Select(Some(item)));
        } else if cache.menu && frame.state.selected.is_some() {
            out.push(Command::Select(None));
        }
        return;
    }
    // The names have input of their own.
    if at.x < frame.left_pt {
        return;
    }
    if at.y < frame.ruler_bottom_pt() {
        if response.clicked_by(PointerButton::Primary) {
            out.extend(flags::at(frame, at).map(Command::GoToBookmark));
            let then = Command::SelectSpan(None);
            cache.clicks.first = Some(FirstClick { time_s: ui.input(|i| i.time), at, then });
        }
        return;
    }
    let found = || hit::at(frame, cache, layout, at.x, at.y);
    if response.clicked_by(PointerButton::Primary)
        && let Some(lane) = frame.more_at(layout, at.y)
    {
        out.push(Command::ToggleLane(lane.key));
        return;
    }
    if response.clicked_by(PointerButton::Primary) {
        let hit = found();
        let then = hit.as_ref().map_or(Command::ShowAll, |hit| zoom_to(frame, hit));
        cache.clicks.first = Some(FirstClick { time_s: ui.input(|i| i.time), at, then });
        click(frame, hit, out);
    } else if response.clicked_by(PointerButton::Middle) {
        out.extend(found().map(|hit| zoom_to(frame, &hit)));
    }
}

/// The command that fills the view with what was hit.
fn zoom_to(frame: &Frame<'_>, hit: &Hit) -> Command {
    if let Item::Step(rank, step) = hit.item {
        return Command::ShowStep(rank, step);
    }
    let span = match hit.bin {
        Some(bin) => Some(bin.span.shifted(frame.offset_ns(hit.item.doc()))),
        None => hit.item.span(frame.workspace),
    };
    let Some(span) = span else { return Command::ShowAll };
    Command::Show(Viewport::around(span).span())
}

fn click(frame: &Frame<'_>, hit: Option<Hit>, out: &mut Vec<Command>) {
    let item = hit.map(|hit| hit.item);
    out.push(Command::Select(item));
    match item {
        None => out.push(Command::SelectSpan(None)),
        Some(Item::Op(rank, _) | Item::Idle(rank, _) | Item::Step(rank, _)) => choose(frame, rank, out),
        Some(_) => {}
    }
}

fn choose(frame: &Frame<'_>, rank: RankId, out: &mut Vec<Command>) {
    if frame.state.rank != Some(rank) {
        out.push(Command::ChooseRank(rank));
    }
}

fn wheel(ui: &Ui, frame: &Frame<'_>, layout: &Layout, out: &mut Vec<Command>) {
    let (scroll_by, pinch, alt, at) =
        ui.input(|i| (i.smooth_scroll_delta(), i.zoom_delta(), i.modifiers.alt, i.pointer.hover_pos()));
    let Some(at) = at else { return };
    let at_ns = frame.time_at(at.x.clamp(frame.left_pt, frame.right_pt));
    if pinch != 1.0 {
        out.push(Command::ZoomAt { at_ns, factor: 1.0 / f64::from(pinch) });
    }
    if scroll_by == Vec2::ZERO {
        return;
    }
    if scroll_by.x.abs() > scroll_by.y.abs() {
        out.push(Command::PanBy(-f64::from(scroll_by.x) / frame.width_pt()));
    } else if alt || at.x < frame.left_pt {
        scroll(frame, layout, -scroll_by.y, out);
    } else {
        out.push(Command::ZoomAt { at_ns, factor: (-f64::from(scroll_by.y) / HALVING_PT).exp2() });
    }
}

/// Scrolls the lanes by `by_pt`, within what there is to see.
pub(super) fn scroll(frame: &Frame<'_>, layout: &Layout, by_pt: f32, out: &mut Vec<Command>) {
    let limit = scroll_limit(layout, frame.bottom_pt - frame.top_pt);
    let shown = frame.top_pt - frame.origin_pt;
    let change = (shown + by_pt).clamp(0.0, limit) - frame.state.scroll_y_pt;
    if change != 0.0 {
        out.push(Command::ScrollBy(change));
    }
}
