//! Hits of a search on the lanes: a slice that is one keeps its colour and gets an outline, a bin that holds one gets a
//! tick, everything else is dimmed.
//!
//! What is a hit is found by binary search in a list per rows, see [`super::hit_lists`].

use super::cache::Cache;
use super::coloring::Inks;
use super::draw::{Block, DrawList, Frame, Tone};
use super::hit_lists::{LaneHits, List};
use super::lanes::{LaneSlices, RowsKey};
use super::layout::Lane;
use super::marks::widen;
use super::slices::Slices;
use crate::units::Span;
use crate::view::search::{Hits, Place};
use crate::view::{LaneKey, ViewState, Workspace};
use std::collections::HashMap;
use std::sync::Arc;

/// Least width of a tick in physical pixels, where its neighbour leaves room.
const TICK_PX: f32 = 3.0;
/// Height of a tick.
const TICK_PT: f32 = 5.0;
/// Width of an outline.
const OUTLINE_PT: f32 = 1.5;
/// From this width and height on a slice is outlined.
const OUTLINE_FROM_PT: (f32, f32) = (6.0, 7.0);

/// Hits of the lanes that were shown since the last answer.
#[derive(Debug, Default)]
pub struct Found {
    hits: Option<Arc<Hits>>,
    lanes: HashMap<RowsKey, Arc<LaneHits>>,
    /// Whether anything is searched for, and there is something or there may be.
    searching: bool,
}

impl Found {
    /// Meets the hits of `state`, and makes the lists of those of `lanes` that have none yet.
    pub fn follow(&mut self, workspace: &Workspace, state: &ViewState, lanes: &[Lane]) {
        let asked = state.search_request();
        // Of the span alone the answer may be a frame late; to another text it is none.
        let answers = |hits: &&Arc<Hits>| asked.as_ref().is_some_and(|asked| asked.query == hits.request.query);
        let hits = state.search.hits.as_ref().filter(answers);
        let same = match (&self.hits, hits) {
            (Some(own), Some(hits)) => Arc::ptr_eq(own, hits),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.hits = hits.map(Arc::clone);
            self.lanes.clear();
        }
        self.searching = asked.is_some() && hits.is_none_or(|hits| !hits.is_empty());
        let Some(hits) = self.hits.as_ref().filter(|hits| !hits.is_empty()) else { return };
        for lane in lanes {
            let marks = match lane.key {
                LaneKey::Nvtx(doc, thread) => Some(RowsKey::Marks(doc, thread)),
                _ => None,
            };
            for key in lane.rows_key().into_iter().chain(marks) {
                self.lanes.entry(key).or_insert_with(|| Arc::new(LaneHits::of(hits, workspace, key)));
            }
        }
    }

    /// Hits among the rows of `key`; `None` when nothing is searched for or nothing was found anywhere. While the
    /// search runs there are none.
    pub fn on(&self, key: RowsKey) -> Option<Arc<LaneHits>> {
        self.searching.then(|| self.lanes.get(&key).map(Arc::clone).unwrap_or_default())
    }
}

/// Strength of something that is a hit, is none, or is no matter.
pub fn tone(ink: super::ink::Ink, hit: Option<bool>) -> Tone {
    if hit == Some(false) { Tone::Half(ink) } else { Tone::Solid(ink) }
}

/// Takes back what stands beside hits and is none.
pub fn dim(tone: &mut Tone) {
    if let Tone::Solid(ink) = *tone {
        *tone = Tone::Half(ink);
    }
}

/// Ticks of one row, gathered from left to right.
#[derive(Debug, Default)]
pub struct Ticks(Vec<(f32, f32)>);

impl Ticks {
    /// Marks a slice that is a hit: with an outline where there is room, else with a tick.
    pub fn slice(&mut self, frame: &Frame<'_>, (x0, x1, y0, y1): (f32, f32, f32, f32), list: &mut DrawList) {
        if x1 - x0 < OUTLINE_FROM_PT.0 || y1 - y0 < OUTLINE_FROM_PT.1 {
            self.bin(x0, x1);
            return;
        }
        let line = frame.snap(OUTLINE_PT).max(frame.px_pt());
        let (x0, x1) = (x0.max(frame.left_pt - line), x1.min(frame.right_pt + line));
        let around = Block { x0, x1, y0, y1, tone: Tone::Hit };
        list.found.extend([
            Block { y1: y0 + line, ..around },
            Block { y0: y1 - line, ..around },
            Block { x1: x0 + line, y0: y0 + line, y1: y1 - line, ..around },
            Block { x0: x1 - line, y0: y0 + line, y1: y1 - line, ..around },
        ]);
    }

    /// Marks a bin that holds a hit.
    pub fn bin(&mut self, x0: f32, x1: f32) {
        match self.0.last_mut() {
            Some(last) if last.1 >= x0 => last.1 = last.1.max(x1),
            _ => self.0.push((x0, x1)),
        }
    }

    /// Adds the ticks of a row from `y0` to `y1`.
    pub fn finish(self, frame: &Frame<'_>, (y0, y1): (f32, f32), list: &mut DrawList) {
        let height = frame.snap(TICK_PT.min((y1 - y0) / 2.0)).max((2.0 * frame.px_pt()).min(y1 - y0));
        for (x0, x1) in widen(&self.0, TICK_PX * frame.px_pt()) {
            list.found.push(Block { x0, x1, y0, y1: y0 + height, tone: Tone::Hit });
        }
    }
}

/// NVTX marks that are hits, over those drawn already.
pub fn marks(frame: &Frame<'_>, cache: &Cache, lane: &Lane, list: &mut DrawList) {
    let (LaneKey::Nvtx(doc, thread), Some(at)) = (lane.key, lane.mark_row()) else { return };
    let key = RowsKey::Marks(doc, thread);
    let inks = Inks::default();
    let (Some(hits), Some(slices)) = (cache.found.on(key), LaneSlices::of(frame.workspace, &inks, key)) else { return };
    let mut ticks = Ticks::default();
    let window = frame.window(doc);
    for hit in hits.0.iter().flat_map(|list| starting_in(list, &slices, window, frame.bin_ns())) {
        let (x0, _) = frame.edges(doc, Span::new(hit, hit));
        ticks.bin(x0, x0 + frame.px_pt());
    }
    ticks.finish(frame, frame.row_edges(lane, at), list);
}

/// Starts of hits within `window`, at most one for each bin.
fn starting_in<'a, S: Slices>(
    list: &'a List,
    slices: &'a S,
    window: Span,
    bin_ns: i64,
) -> impl Iterator<Item = i64> + 'a {
    let mut from_ns = window.start_ns;
    std::iter::from_fn(move || {
        let at = list.from(slices, from_ns).first()?;
        let start_ns = slices.start_ns(*at);
        from_ns = super::bins::bin_start(start_ns, bin_ns).saturating_add(bin_ns).max(start_ns.saturating_add(1));
        (start_ns < window.end_ns).then_some(start_ns)
    })
}

/// Steps that are hits, on the header of their rank.
pub fn steps(frame: &Frame<'_>, cache: &Cache, lane: &Lane, list: &mut DrawList) {
    let (LaneKey::Rank(rank), Some(hits)) = (lane.key, &cache.found.hits) else { return };
    let Some(group) = hits.group(Place::Steps(rank)) else { return };
    let (steps, _) = super::steps::steps_of(frame, rank);
    let window = frame.window(rank.doc);
    let end_ns = |at: &u32| steps.get(*at as usize).map_or(i64::MAX, |step| step.window.end_ns);
    let (y0, y1) = frame.row_edges(lane, 0);
    let mut ticks = Ticks::default();
    let mut at = group.rows.partition_point(|step| end_ns(step) <= window.start_ns);
    while let Some(step) = group.rows.get(at).and_then(|step| steps.get(*step as usize)) {
        if step.window.start_ns >= window.end_ns {
            break;
        }
        let (x0, x1) = frame.edges(rank.doc, step.window);
        ticks.slice(frame, (x0, x1.max(x0 + frame.px_pt()), y0, y1), list);
        // Past those that end within the same pixel.
        let next_ns = step.window.end_ns.saturating_add(frame.bin_ns() / 2);
        at = group.rows.partition_point(|step| end_ns(step) < next_ns).max(at + 1);
    }
    ticks.finish(frame, (y0, y1), list);
}

#[cfg(test)]
mod tests {
    use super::super::bins::pieces;
    use super::super::hit_lists::LOOK_AT;
    use super::super::layout::Layout;
    use super::super::testing::training;
    use super::*;
    use crate::view::search::Query;
    use crate::view::{Command, ViewState};

    /// A view of the job in which everything is open and hits of `text` are marked.
    fn searched(workspace: &Workspace, text: &str) -> (ViewState, Cache, Layout) {
        let (mut state, mut cache) = (ViewState::open(workspace), Cache::default());
        for lane in super::super::bench::closed_lanes(workspace, &state, &mut cache) {
            state.apply(&Command::ToggleLane(lane), workspace);
        }
        let query = Query { text: text.to_owned(), regex: true, match_case: false };
        state.apply(&Command::OpenSearch, workspace);
        state.apply(&Command::SetQuery(query.clone()), workspace);
        let hits = Hits::find(&query, workspace.docs.clone(), &|| false).unwrap().unwrap();
        state.take_hits(Arc::new(hits), workspace);
        let layout = Layout::of(workspace, &state, &mut cache, 0.0);
        cache.follow_hits(workspace, &state, &layout.lanes);
        (state, cache, layout)
    }

    #[test]
    fn what_is_marked_is_what_was_found_at_any_zoom() {
        let workspace = training();
        let mut marked = 0;
        for text in ["gemm", "nccl|flash_fwd|forward", "cudaLaunch", "poll", "step [24]", "checkpoint|epoch"] {
            let (state, cache, layout) = searched(&workspace, text);
            let hits = state.hits().unwrap();
            let whole = workspace.span().unwrap();
            for (key, power) in layout
                .lanes
                .iter()
                .filter_map(Lane::rows_key)
                .flat_map(|key| [4, 12, 17, 20, 23].map(|power| (key, power)))
            {
                if matches!(key, RowsKey::Lane(LaneKey::Idle(_))) {
                    continue;
                }
                let (found, rows) = (cache.found.on(key).unwrap(), cache.rows(key).unwrap());
                let inks = Inks::default();
                let slices = LaneSlices::of(&workspace, &inks, key).unwrap();
                let is_hit = |at: u32| hits.number_of(key.item(&workspace, at).unwrap()).is_some();
                for row in &rows.rows {
                    let mut drawn = Vec::new();
                    pieces(&rows, row, &slices, whole, 1 << power, &mut drawn);
                    for piece in drawn {
                        let own = piece.first..piece.first + piece.count;
                        let wanted = own.map(|at| row.slice(at as usize)).any(is_hit);
                        let alone = rows.rows.len() == 1;
                        let got = match piece.whole {
                            true => found.holds(&slices, row.slice(piece.first as usize)),
                            false => found.in_bin(&slices, row, alone, &piece),
                        };
                        let inside = |at: &&u32| piece.span.contains(slices.start_ns(**at));
                        let beside = || found.0.iter().any(|list| list.rows.iter().filter(inside).count() > LOOK_AT);
                        assert!(
                            got == wanted || got && !alone && beside(),
                            "{text} {key:?} {piece:?}: {got}, not {wanted}"
                        );
                        marked += usize::from(got);
                    }
                }
            }
        }
        assert!(marked > 500, "{marked}");
    }

    #[test]
    fn without_a_search_and_without_hits_nothing_is_dimmed() {
        let workspace = training();
        let (mut state, mut cache, layout) = searched(&workspace, "nothing is called like this");
        let key = layout.lanes.iter().find_map(Lane::rows_key).unwrap();
        assert!(cache.found.on(key).is_none());
        // While another text is searched for, nothing is a hit.
        let query = Query { text: "gemm".to_owned(), ..Query::default() };
        state.apply(&Command::SetQuery(query), &workspace);
        cache.follow_hits(&workspace, &state, &layout.lanes);
        assert!(cache.found.on(key).is_some_and(|hits| hits.0.is_empty()));
        state.apply(&Command::CloseSearch, &workspace);
        cache.follow_hits(&workspace, &state, &layout.lanes);
        assert!(cache.found.on(key).is_none());
    }
}
