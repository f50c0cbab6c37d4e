//! The others of the selected item's name: found when the selection changes, beside the frame when that takes long, and
//! marked on their lanes.

use super::cache::Cache;
use super::color::Palette;
use super::draw::Frame;
use super::layout::Layout;
use super::overlay;
use super::work::wake;
use crate::task::Task;
use crate::view::{Item, SameName, ViewState, Workspace};
use egui::{Context, Painter, Rect, Stroke, StrokeKind, pos2};
use std::sync::Arc;

/// More rows than this are looked through on a thread.
const LARGE: usize = 400_000;
/// Marks on one lane, at most.
const MARKS: usize = 4_000;
/// Items before the view that are looked at, since a long one may reach into it.
const BEFORE: usize = 32;
/// Narrower items get a tick instead of an outline.
const OUTLINE_MIN_PT: f32 = 4.0;
/// Height of a tick.
const TICK_PT: f32 = 3.0;

/// What was found for one item, or is being looked for.
pub(super) type Same = (Item, Task<Arc<SameName>>);

impl Cache {
    /// What is called like `item`; `None` while it is being looked for and when there is no such thing.
    pub fn same_name(
        &mut self,
        ctx: &Context,
        (workspace, state): (&Workspace, &ViewState),
        item: Item,
    ) -> Option<Arc<SameName>> {
        self.follow(workspace, state);
        if self.same.as_ref().is_none_or(|(of, _)| *of != item) {
            let wake = (SameName::cost(workspace, item) > LARGE).then(|| wake(ctx));
            let open = workspace.clone();
            let find = move |_: &dyn Fn() -> bool| SameName::of(&open, item).map(Arc::new);
            self.same = Some((item, Task::start("same name", wake, find)));
        }
        self.same.as_ref()?.1.get().cloned()
    }
}

/// Marks what is called like `selected`, except that itself: quieter than the selection, over what is drawn.
pub(super) fn paint(
    painter: &Painter,
    frame: &Frame<'_>,
    cache: &Cache,
    layout: &Layout,
    palette: &Palette,
    (selected, same): (Item, &SameName),
) {
    let workspace = frame.workspace;
    let start_ns = |at: u32| selected.sibling(at).span(workspace).map_or(i64::MIN, |span| span.start_ns);
    let view = frame.viewport().span();
    let seen = same.items.partition_point(|at| start_ns(*at) < view.start_ns);
    for lane in layout.within(frame.top_pt - frame.origin_pt, frame.bottom_pt - frame.origin_pt) {
        if !overlay::may_show(lane, selected) {
            continue;
        }
        let mut next = seen.saturating_sub(BEFORE);
        for _ in 0..MARKS {
            let Some(at) = same.items.get(next).copied().filter(|at| start_ns(*at) < view.end_ns) else { break };
            next += 1;
            let item = selected.sibling(at);
            let Some(place) = overlay::place(frame, cache, lane, item).filter(|_| item != selected) else { continue };
            mark(painter, palette, place);
            if place.width() < OUTLINE_MIN_PT {
                // What begins within the same pixel would be drawn over it.
                let until_ns = frame.time_at(place.left() + 1.0) as i64;
                let rest = same.items.get(next..).unwrap_or_default();
                next += rest.partition_point(|at| start_ns(*at) < until_ns);
            }
        }
    }
}

fn mark(painter: &Painter, palette: &Palette, place: Rect) {
    if place.width() >= OUTLINE_MIN_PT {
        painter.rect_stroke(place, 0.0, Stroke::new(1.0, palette.selection.gamma_multiply(0.5)), StrokeKind::Inside);
    }
    let tick = Rect::from_min_max(place.min, pos2(place.right().max(place.left() + 1.5), place.top() + TICK_PT));
    painter.rect_filled(tick, 0.0, palette.selection);
}
