//! Counterparts on other ranks: outlined while an item is selected or pointed at, with how they differ from it, and
//! joined by lines when they are one matched collective.

use super::cache::Cache;
use super::color::Palette;
use super::draw::Frame;
use super::hit;
use super::layout::Layout;
use super::overlay;
use super::paint::LANE_FONT;
use crate::job::Job;
use crate::report::compare::beside_text;
use crate::view::{Counterpart, Item, Workspace};
use egui::{Painter, Pos2, Rect, Stroke, StrokeKind, pos2, vec2};
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
        label(painter, palette, place, &beside_text(other.later_ns, other.longer_ns, other.uncertainty_ns));
    }
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

/// Writes `text` behind a bar, or before it where there is no room behind, on a ground of its own.
fn label(painter: &Painter, palette: &Palette, bar: Rect, text: &str) {
    let galley = painter.layout_no_wrap(text.to_owned(), LANE_FONT, palette.text);
    let (clip, size) = (painter.clip_rect(), galley.size() + vec2(8.0, 2.0));
    let x = [bar.right() + GAP_PT, bar.left() - GAP_PT - size.x]
        .into_iter()
        .find(|x| *x >= clip.left() && x + size.x <= clip.right())
        .unwrap_or_else(|| (clip.right() - size.x - GAP_PT).max(clip.left()));
    let ground = Rect::from_min_size(pos2(x, bar.center().y - size.y / 2.0), size);
    painter.rect(ground, 3.0, palette.panel, Stroke::new(1.0, palette.grid), StrokeKind::Inside);
    painter.galley(ground.min + vec2(4.0, 1.0), galley, palette.text);
}
