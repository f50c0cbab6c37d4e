//! How a rank's work differs from that of another one, as a lane: its arrivals at matched collectives or, where two ranks
//! share none, the starts of everything in steps. Bars go up where it came later, down where earlier, as high as the
//! logarithm of the difference. A line along the lower edge says that its kernel took longer, one along the upper edge
//! that the other's did.

use super::cache::Cache;
use super::draw::{Block, DrawList, Frame, Label, Tone};
use super::hit::Hit;
use super::ink::Ink;
use super::label;
use super::layout::{Against, Lane, Layout};
use super::tooltip::Text;
use super::work::Beside;
use crate::format;
use crate::job::{Job, StartBasis, Strip, StripBar};
use crate::report::compare::{clock_error, difference_lines, reservation_line};
use crate::task::Task;
use crate::view::{Item, LaneKey, RankId, ViewState, Workspace, share_steps, strip};
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

/// What `rank` is compared with: a rank that it shares collectives with; two that are shown together may also share
/// steps.
pub fn reference(workspace: &Workspace, state: &ViewState, rank: RankId) -> Option<Against> {
    let first = state.reference_of(rank, workspace)?;
    let are_compared = || state.compare.as_ref().is_some_and(|c| c.ranks.contains(&rank) && c.ranks.contains(&first));
    let basis = if workspace.job.share_collectives(workspace.job_rank(rank)?, workspace.job_rank(first)?) {
        StartBasis::Arrival
    } else if are_compared() && share_steps(workspace, [rank, first]) {
        StartBasis::InStep
    } else {
        return None;
    };
    Some(Against { rank: first, basis })
}

/// The differences that were looked at.
#[derive(Debug, Default)]
pub struct Strips {
    job: Option<Arc<Job>>,
    /// Arrivals by the clock of that job, by rank and the rank that it is compared with.
    arrivals: Vec<([RankId; 2], Arc<Strip>)>,
    /// All work in steps, by the same. Nothing of it depends on the clock.
    in_step: Vec<([RankId; 2], Task<Arc<Strip>>)>,
}

impl Strips {
    /// Makes the strips of the differences among `lanes` that are missing, those of many operations `beside` the frame,
    /// and forgets all others.
    pub fn prepare<'a>(
        &mut self,
        workspace: &Workspace,
        lanes: impl Iterator<Item = &'a Lane>,
        beside: Option<&Beside>,
    ) {
        if self.job.as_ref().is_none_or(|job| !Arc::ptr_eq(job, &workspace.job)) {
            (self.job, self.arrivals) = (Some(Arc::clone(&workspace.job)), Vec::new());
        }
        let shown: Vec<([RankId; 2], StartBasis)> = lanes.filter_map(compared).collect();
        self.arrivals.retain(|(ranks, _)| shown.contains(&(*ranks, StartBasis::Arrival)));
        self.in_step.retain(|(ranks, _)| shown.contains(&(*ranks, StartBasis::InStep)));
        for (ranks, basis) in shown {
            match basis {
                StartBasis::Arrival if self.arrivals.iter().all(|(own, _)| *own != ranks) => {
                    let [own, other] = ranks.map(|rank| workspace.job_rank(rank));
                    let strip = own.zip(other).map(|(own, other)| Strip::of(&workspace.job, own, other));
                    self.arrivals.extend(strip.map(|strip| (ranks, Arc::new(strip))));
                }
                StartBasis::InStep if self.in_step.iter().all(|(own, _)| *own != ranks) => {
                    let ops = ranks.iter().filter_map(|rank| Some(workspace.rank(*rank)?.1.ops.len())).sum();
                    let (wake, open) = (beside.and_then(|beside| beside.wake(ops)), workspace.clone());
                    let compare = move |is_stopped: &dyn Fn() -> bool| strip(&open, ranks, is_stopped).map(Arc::new);
                    self.in_step.push((ranks, Task::start("strip", wake, compare)));
                }
                _ => {}
            }
        }
    }

    /// Forgets documents from `first` on.
    pub fn forget(&mut self, first: usize) {
        self.in_step.retain(|(ranks, _)| ranks.iter().all(|rank| rank.doc < first));
    }

    /// The strip of `lane`, if it is there.
    pub fn of(&self, lane: &Lane) -> Option<Arc<Strip>> {
        match compared(lane)? {
            (ranks, StartBasis::Arrival) => {
                self.arrivals.iter().find(|(own, _)| *own == ranks).map(|(_, strip)| Arc::clone(strip))
            }
            (ranks, StartBasis::InStep) => self.in_step.iter().find(|(own, _)| *own == ranks)?.1.get().cloned(),
        }
    }
}

/// The rank of a lane of differences, the one it is compared with, and by what.
fn compared(lane: &Lane) -> Option<([RankId; 2], StartBasis)> {
    let LaneKey::Differences(rank) = lane.key else { return None };
    let against = lane.against?;
    Some(([rank, against.rank], against.basis))
}

/// What the ranks of a lane of differences are compared by.
fn basis(lane: &Lane) -> StartBasis {
    lane.against.map_or_else(StartBasis::default, |against| against.basis)
}

/// What a lane of differences is called: whole, and short.
pub fn name(workspace: &Workspace, lane: &Lane) -> (String, &'static str) {
    let other = reference_label(workspace, lane);
    match basis(lane) {
        StartBasis::Arrival => (format!("Arrival against rank {other}"), "Arrival"),
        StartBasis::InStep => (format!("Start in step against rank {other}"), "In step"),
    }
}

/// What a lane of differences shows.
pub fn meaning(lane: &Lane) -> &'static str {
    match basis(lane) {
        StartBasis::Arrival => {
            "up: arrived later at a matched collective, down: earlier, by the logarithm; line below: its kernel took \
             longer, line above: the other's did"
        }
        StartBasis::InStep => {
            "every operation against that of the same name and place in the step of the same number; up: began later \
             after the start of its step, down: earlier, by the logarithm; line below: it took longer, line above: the \
             other did"
        }
    }
}

/// Label of the rank that `lane` compares its own with.
fn reference_label(workspace: &Workspace, lane: &Lane) -> String {
    lane.against.map_or_else(String::new, |against| label::safe(workspace.label(against.rank)))
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
    let (y0, y1) = frame.row_edges(lane, 0);
    let note = |name: &str| {
        let (name, detail, short) = (name.to_owned(), String::new(), String::new());
        Label { x0: frame.left_pt, x1: frame.right_pt, y0, y1, name, detail, short, on: Tone::Line }
    };
    let Some(strip) = cache.strips.of(lane) else {
        list.labels.push(note("being compared\u{2026}"));
        return;
    };
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
    if strip.is_empty() {
        list.labels.push(note(match strip.basis {
            StartBasis::Arrival => "no common collectives",
            StartBasis::InStep => "no operations of one name and place in steps of one number",
        }));
    }
}

/// The scale, behind the lane's name.
pub fn scale_text(cache: &Cache, lane: &Lane) -> String {
    let most = cache.strips.of(lane).filter(|strip| !strip.is_empty());
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

/// What is at `x_pt` on `lane`, to be selected: the kernel whose start differs most.
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
        let error = match strip.basis {
            StartBasis::Arrival => clock_error(strip.uncertainty_ns),
            StartBasis::InStep => " in its step".to_owned(),
        };
        lines.extend(most.map(|(way, ns)| (way, format!("by at most {}{error}", format::duration(ns)))));
        lines.push(("Largest", name));
        let what = if strip.basis == StartBasis::Arrival { "collectives" } else { "operations" };
        format!("{} {what} drawn as one", format::count(u64::from(bar.count)))
    };
    lines.extend(difference_lines(&bar.most, &other, &strip));
    if strip.basis == StartBasis::Arrival {
        lines.extend(reservation_line(&frame.workspace.job));
    }
    Some((Text { title, lines }, own.row_edges(&lane, 0)))
}
