//! How a rank's arrivals at matched collectives differ from those of the first rank, as a lane: bars up where it came
//! later, down where earlier, as high as the logarithm of the difference. A line along the lower edge says that its
//! kernel took longer, one along the upper edge that the other's did.

use super::cache::Cache;
use super::draw::{Block, DrawList, Frame, Label, Tone};
use super::hit::Hit;
use super::ink::Ink;
use super::label;
use super::layout::{Lane, Layout};
use super::tooltip::Text;
use crate::format;
use crate::job::{Job, Strip, StripBar};
use crate::report::compare::{clock_error, difference_lines, reservation_line};
use crate::view::{Item, LaneKey, RankId, ViewState, Workspace};
use egui::Pos2;
use std::sync::Arc;

/// Later and earlier arrivals.
const LATER: Ink = Ink::EXPOSED;
const EARLIER: Ink = Ink::HOST;
/// A difference of length of less than this is none.
const SAME_LENGTH_NS: i64 = 1_000;
/// Least width of a bar in physical pixels, and the distance in points within which it is still pointed at.
const BAR_MIN_PX: f32 = 2.0;
const REACH_PT: f32 = 3.0;
/// Height of the lines along the edges.
const LINE_PT: f32 = 2.0;

/// The rank that arrivals of `rank` are compared with, when the two share collectives.
pub fn reference(workspace: &Workspace, state: &ViewState, rank: RankId) -> Option<RankId> {
    let first = state.reference_of(rank, workspace)?;
    let (own, other) = (workspace.job_rank(rank)?, workspace.job_rank(first)?);
    workspace.job.share_collectives(own, other).then_some(first)
}

/// Strips by one clock.
#[derive(Debug, Default)]
pub struct Strips {
    job: Option<Arc<Job>>,
    /// Strips by rank and the rank that it is compared with.
    strips: Vec<([RankId; 2], Arc<Strip>)>,
}

impl Strips {
    /// Makes the strips of the differences among `lanes` that are missing.
    pub fn prepare<'a>(&mut self, workspace: &Workspace, lanes: impl Iterator<Item = &'a Lane>) {
        if self.job.as_ref().is_none_or(|job| !Arc::ptr_eq(job, &workspace.job)) {
            *self = Self { job: Some(Arc::clone(&workspace.job)), strips: Vec::new() };
        }
        for lane in lanes {
            let Some([rank, first]) = compared(lane).filter(|_| self.of(lane).is_none()) else { continue };
            let ranks = workspace.job_rank(rank).zip(workspace.job_rank(first));
            let strip = ranks.map(|(own, first)| Strip::of(&workspace.job, own, first));
            self.strips.extend(strip.map(|strip| ([rank, first], Arc::new(strip))));
        }
    }

    /// The strip of `lane`, if it was prepared.
    pub fn of(&self, lane: &Lane) -> Option<Arc<Strip>> {
        let ranks = compared(lane)?;
        self.strips.iter().find(|(own, _)| *own == ranks).map(|(_, strip)| Arc::clone(strip))
    }
}

/// The rank of a lane of arrivals, and the one it is compared with.
fn compared(lane: &Lane) -> Option<[RankId; 2]> {
    let LaneKey::Differences(rank) = lane.key else { return None };
    Some([rank, lane.against?])
}

/// Label of the rank that the arrivals of `lane` are compared with.
pub fn reference_label(workspace: &Workspace, lane: &Lane) -> String {
    lane.against.map_or_else(String::new, |first| label::safe(workspace.label(first)))
}

/// Bars of `lane` that are on screen, with the edges of each.
fn bars(frame: &Frame<'_>, rank: RankId, strip: &Strip) -> Vec<(StripBar, f32, f32)> {
    let least = BAR_MIN_PX * frame.px_pt();
    // A bin is twice as wide as a pixel, so that bars of neighbours can be told apart.
    let bars = strip.bars(frame.window(rank.doc), frame.bin_ns().saturating_mul(2));
    let edges = |bar: StripBar| {
        let (x0, x1) = frame.edges(rank.doc, bar.span);
        (bar, x0, x1.max(x0 + least))
    };
    bars.into_iter().map(edges).collect()
}

/// Adds the bars of `lane`.
pub fn lane(frame: &Frame<'_>, cache: &Cache, lane: &Lane, list: &mut DrawList) {
    let LaneKey::Differences(rank) = lane.key else { return };
    let Some(strip) = cache.strips.of(lane) else { return };
    let (y0, y1) = frame.row_edges(lane, 0);
    let px = frame.px_pt();
    let middle = frame.snap((y0 + y1) / 2.0);
    let line = frame.snap(LINE_PT).max(px);
    // The lines along the edges and a pixel beside them stay free.
    let room = f64::from((middle - y0 - line - px).max(0.0));
    let axis = Block { x0: frame.left_pt, x1: frame.right_pt, y0: middle, y1: middle + px, tone: Tone::Boundary };
    list.data.push(axis);
    let height = |ns: i64| frame.snap((room * strip.height(ns)) as f32);
    for (bar, x0, x1) in bars(frame, rank, &strip) {
        let block = |y0: f32, y1: f32, tone: Tone| Block { x0, x1, y0, y1, tone };
        let (up, down) = (height(bar.later_ns), height(bar.earlier_ns));
        if up > 0.0 {
            list.data.push(block(middle - up, middle, Tone::Solid(LATER)));
        }
        if down > 0.0 {
            list.data.push(block(middle + px, middle + px + down, Tone::Solid(EARLIER)));
        }
        if up == 0.0 && down == 0.0 {
            // Together, as far as the clock can tell.
            list.marks.push(block(middle, middle + px, Tone::Solid(EARLIER)));
        }
        if bar.shorter_ns >= SAME_LENGTH_NS {
            list.marks.push(block(y0, y0 + line, Tone::Solid(Ink::COMMUNICATION)));
        }
        if bar.longer_ns >= SAME_LENGTH_NS {
            list.marks.push(block(y1 - line, y1, Tone::Solid(Ink::COMMUNICATION)));
        }
    }
    if strip.differences.is_empty() {
        let name = "no common collectives".to_owned();
        let (detail, short) = (String::new(), String::new());
        list.labels.push(Label { x0: frame.left_pt, x1: frame.right_pt, y0, y1, name, detail, short, on: Tone::Line });
    }
}

/// The scale, behind the lane's name.
pub fn scale_text(cache: &Cache, lane: &Lane) -> String {
    let most = cache.strips.of(lane).filter(|strip| !strip.differences.is_empty());
    most.map_or_else(String::new, |strip| format!("to {}", format::duration(strip.most_ns)))
}

/// The bar of `lane` at `x_pt`.
fn bar_at(frame: &Frame<'_>, cache: &Cache, lane: &Lane, x_pt: f32) -> Option<(StripBar, f32, f32)> {
    let LaneKey::Differences(rank) = lane.key else { return None };
    let strip = cache.strips.of(lane)?;
    let distance = |(_, x0, x1): &(StripBar, f32, f32)| (x0 - x_pt).max(x_pt - x1).max(0.0);
    let near = bars(frame, rank, &strip).into_iter().filter(|bar| distance(bar) <= REACH_PT);
    near.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// What is at `x_pt` on `lane`, to be selected: the kernel whose arrival differs most.
pub fn hit(frame: &Frame<'_>, cache: &Cache, lane: &Lane, x_pt: f32) -> Option<Hit> {
    let LaneKey::Differences(rank) = lane.key else { return None };
    let (bar, x0, x1) = bar_at(frame, cache, lane, x_pt)?;
    let (y0, y1) = frame.row_edges(lane, 0);
    Some(Hit { item: Item::Op(rank, bar.most.op), bin: None, edges: (x0, x1, y0, y1) })
}

/// What to say about the bar under the pointer, with the top and bottom of its lane.
pub fn tooltip(frame: &Frame<'_>, layout: &Layout, cache: &Cache, at: Pos2) -> Option<(Text, (f32, f32))> {
    let lane = frame.lane_at(layout, at.y).filter(|_| (frame.left_pt..=frame.right_pt).contains(&at.x))?;
    let LaneKey::Differences(rank) = lane.key else { return None };
    let own = if lane.pinned { frame.pinned() } else { *frame };
    let (bar, ..) = bar_at(&own, cache, &lane, at.x)?;
    let strip = cache.strips.of(&lane)?;
    let other = reference_label(frame.workspace, &lane);
    let name = label::name_of(frame.workspace, Item::Op(rank, bar.most.op));
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    let title = if bar.count == 1 {
        name
    } else {
        let most = [("Later", bar.later_ns), ("Earlier", bar.earlier_ns)].into_iter().filter(|(_, ns)| *ns > 0);
        let error = clock_error(strip.uncertainty_ns);
        lines.extend(most.map(|(way, ns)| (way, format!("by at most {}{error}", format::duration(ns)))));
        lines.push(("Largest", name));
        format!("{} collectives drawn as one", format::count(u64::from(bar.count)))
    };
    lines.extend(difference_lines(&bar.most, &other, strip.uncertainty_ns));
    lines.extend(reservation_line(&frame.workspace.job));
    Some((Text { title, lines }, own.row_edges(&lane, 0)))
}
