//! Counterparts on other ranks: outlined while an item is selected or pointed at, with how they differ from it, and
//! joined by lines when they are one matched collective.

use super::cache::Cache;
use super::color::Palette;
use super::draw::{DrawList, Frame};
use super::hit;
use super::label;
use super::layout::Layout;
use super::overlay;
use super::paint::{LANE_FONT, text_place};
use super::steps;
use crate::format;
use crate::job::Job;
use crate::report::compare::beside_text;
use crate::view::{Counterpart, Item, LaneKey, Workspace};
use egui::{Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};
use std::sync::Arc;

/// Counterparts that are marked, at most.
const MARKED: usize = 64;
/// Room between a bar and what is written beside it.
const GAP_PT: f32 = 4.0;

/// The counterparts of one item by one clock.
#[derive(Debug)]
pub struct Beside {
    item: Item,
    job: Arc<Job>,
    found: Arc<Vec<Counterpart>>,
}

impl Cache {
    /// The counterparts of `item`; found when the item or the clock changes.
    pub fn beside(&mut self, workspace: &Workspace, item: Item) -> Arc<Vec<Counterpart>> {
        let is_known = |known: &&Beside| known.item == item && Arc::ptr_eq(&known.job, &workspace.job);
        if let Some(known) = self.counterparts.iter().find(is_known) {
            return Arc::clone(&known.found);
        }
        let found = Arc::new(item.beside(workspace));
        // One is selected, another may be pointed at.
        self.counterparts.retain(|known| Arc::ptr_eq(&known.job, &workspace.job));
        if self.counterparts.len() > 1 {
            self.counterparts.remove(0);
        }
        self.counterparts.push(Beside { item, job: Arc::clone(&workspace.job), found: Arc::clone(&found) });
        found
    }
}

/// The item at `pointer`, when it has counterparts.
pub(super) fn pointed(frame: &Frame<'_>, layout: &Layout, cache: &mut Cache, pointer: Option<Pos2>) -> Option<Item> {
    if frame.workspace.job.ranks.len() < 2 {
        return None;
    }
    let hit = pointer.filter(|_| cache.drag.is_none()).and_then(|at| hit::at(frame, cache, layout, at.x, at.y));
    let hovered = hit.filter(|hit| hit.bin.is_none()).map(|hit| hit.item);
    hovered.filter(|item| !cache.beside(frame.workspace, *item).is_empty())
}

/// The item whose counterparts are marked: the one that is pointed at, here or in the other pane, else the selected one.
pub(super) fn item(frame: &Frame<'_>, cache: &mut Cache) -> Option<Item> {
    let pointed = cache.pointed.or(frame.state.pointed);
    let selected = frame.state.selected.filter(|_| frame.workspace.job.ranks.len() > 1);
    pointed.or_else(|| selected.filter(|item| !cache.beside(frame.workspace, *item).is_empty()))
}

/// What sets the counterpart of `item` in the other pane apart, as name and value: it may be out of sight there.
pub(super) fn other_pane(frame: &Frame<'_>, cache: &mut Cache, item: Item) -> Option<(&'static str, String)> {
    let compare = frame.state.panes()?;
    let rank = *compare.ranks.get(1 - compare.drawn?.min(1))?;
    let beside = cache.beside(frame.workspace, item);
    let other = beside.iter().find(|other| other.item.rank() == Some(rank))?;
    let label = label::safe(&format::one_line(frame.workspace.label(rank), 24));
    Some(("Other pane", format!("rank {label}: {}", beside_text(other.later, other.longer_ns))))
}

/// Marks the counterparts of `item` on the visible lanes.
pub(super) fn paint(
    painter: &Painter,
    frame: &Frame<'_>,
    cache: &mut Cache,
    layout: &Layout,
    palette: &Palette,
    item: Item,
) {
    let beside = cache.beside(frame.workspace, item);
    let lanes = layout.within(frame.top_pt - frame.origin_pt, frame.bottom_pt - frame.origin_pt);
    let place = |item: Item| lanes.iter().find_map(|lane| overlay::place(frame, cache, lane, item));
    let places: Vec<(Rect, &Counterpart)> =
        beside.iter().take(MARKED).filter_map(|other| Some((place(other.item)?, other))).collect();
    if is_collective(frame.workspace, item) {
        let own = place(item).into_iter();
        let mut bars: Vec<Rect> = own.chain(places.iter().map(|(place, _)| *place)).collect();
        bars.sort_by(|a, b| a.top().total_cmp(&b.top()));
        for pair in bars.windows(2) {
            if let [above, below] = pair {
                link(painter, palette, *above, *below);
            }
        }
    }
    for (place, other) in places {
        let around = if place.width() < 4.0 { place.expand2(vec2(2.0, 1.0)) } else { place };
        painter.rect_stroke(around, 1.0, Stroke::new(1.5, palette.selection), StrokeKind::Outside);
        let taken = step_names(painter, frame, layout, palette, other.item);
        let text = beside_text(other.later, other.longer_ns);
        label(painter, palette, place, &text, taken.as_deref());
    }
}

/// Where the names in the strip of a step are written; `None` for an item that is no step. Of operations there are too
/// many to keep clear of all names.
pub(super) fn step_names(
    painter: &Painter,
    frame: &Frame<'_>,
    layout: &Layout,
    palette: &Palette,
    item: Item,
) -> Option<Vec<Rect>> {
    let Item::Step(rank, _) = item else { return None };
    let header = layout.lanes.iter().find(|lane| lane.key == LaneKey::Rank(rank))?;
    let mut list = DrawList::default();
    steps::rank(frame, layout, header, &mut list);
    Some(list.labels.iter().filter_map(|label| text_place(painter, palette, label)).collect())
}

fn is_collective(workspace: &Workspace, item: Item) -> bool {
    let Item::Op(rank, op) = item else { return false };
    workspace.job_rank(rank).is_some_and(|rank| workspace.job.matched_op(rank, op).is_some())
}

/// Lines from start to start and from end to end: how they lean shows who came late.
fn link(painter: &Painter, palette: &Palette, above: Rect, below: Rect) {
    let stroke = Stroke::new(1.0, palette.selection.gamma_multiply(0.8));
    painter.line_segment([above.left_bottom(), below.left_top()], stroke);
    painter.line_segment([above.right_bottom(), below.right_top()], stroke);
}

/// Writes `text` beside a bar, on a ground of its own. Not where it would cover what is `taken`, when that is given:
/// then it may be left out, for the details list it too.
fn label(painter: &Painter, palette: &Palette, bar: Rect, text: &str, taken: Option<&[Rect]>) {
    let galley = painter.layout_no_wrap(text.to_owned(), LANE_FONT, palette.text);
    let Some(ground) = ground(painter.clip_rect(), bar, galley.size() + vec2(8.0, 2.0), taken) else { return };
    painter.rect(ground, 3.0, palette.panel, Stroke::new(1.0, palette.grid), StrokeKind::Inside);
    painter.galley(ground.min + vec2(4.0, 1.0), galley, palette.text);
}

/// Behind a bar, or before it where there is no room behind, else at the end of what is seen of it.
fn ground(clip: Rect, bar: Rect, size: Vec2, taken: Option<&[Rect]>) -> Option<Rect> {
    let at = |x: f32| Rect::from_min_size(pos2(x, bar.center().y - size.y / 2.0), size);
    let is_seen = |ground: &Rect| ground.left() >= clip.left() && ground.right() <= clip.right();
    let beside = [bar.right() + GAP_PT, bar.left() - GAP_PT - size.x].map(at).into_iter().filter(is_seen);
    let Some(taken) = taken else {
        return beside.chain([at((clip.right() - size.x - GAP_PT).max(clip.left()))]).next();
    };
    let inside = at(bar.right().min(clip.right()) - size.x - GAP_PT);
    let is_free = |ground: &Rect| is_seen(ground) && !taken.iter().any(|name| name.intersects(*ground));
    beside.chain([inside]).find(is_free)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(x0: f32, x1: f32) -> Rect {
        Rect::from_min_max(pos2(x0, 10.0), pos2(x1, 30.0))
    }

    #[test]
    fn a_difference_covers_no_name_and_is_left_out_where_there_is_no_room() {
        let (clip, size) = (strip(0.0, 500.0), vec2(80.0, 14.0));
        let x = |bar: Rect, taken: &[Rect]| ground(clip, bar, size, Some(taken)).map(|ground| ground.left());
        let bar = strip(100.0, 200.0);
        assert_eq!(x(bar, &[]), Some(204.0), "behind it");
        assert_eq!(x(bar, &[strip(204.0, 240.0)]), Some(16.0), "before it");
        let beside = [strip(4.0, 40.0), strip(104.0, 112.0), strip(204.0, 240.0)];
        assert_eq!(x(bar, &beside), Some(116.0), "at its own end");
        assert_eq!(x(bar, &[beside[0], strip(104.0, 140.0), beside[2]]), None);
        assert_eq!(x(strip(100.0, 900.0), &[strip(104.0, 140.0)]), Some(16.0));
        assert_eq!(x(strip(-50.0, 900.0), &[strip(4.0, 140.0)]), Some(416.0), "at the end of what is seen");
        // Beside operations it always stands.
        assert_eq!(ground(clip, strip(-50.0, 900.0), size, None).map(|ground| ground.left()), Some(416.0));
    }
}
