//! The user's arrangement of the lanes: what is hidden or filtered out, and the order of neighbours.
//!
//! Lanes come as a list in which a lane stands above those that are nested deeper, so a lane with what is below it is a
//! run of the list, and neighbours are the runs of one depth below one lane.

use super::gutter::lane_name;
use super::layout::{Lane, Layout};
use crate::view::{LaneKey, ViewState, Workspace};
use std::ops::Range;

/// What is left of the lanes.
#[derive(Debug, Default)]
pub struct Arranged {
    /// The lanes to show, from top to bottom.
    pub lanes: Vec<Lane>,
    /// Lanes that are hidden by the user, each with what is below it as one.
    pub hidden: usize,
    /// Lanes that the filter leaves out.
    pub filtered: usize,
}

/// Arranges `lanes` as `state` says.
pub fn arrange(workspace: &Workspace, state: &ViewState, lanes: Vec<Lane>) -> Arranged {
    let arrangement = &state.lanes;
    if arrangement.order.is_empty() && arrangement.hidden.is_empty() && arrangement.filter.is_empty() {
        return Arranged { lanes, ..Arranged::default() };
    }
    let filter = arrangement.filter.trim().to_lowercase();
    let fits = lanes.iter().map(|lane| filter.is_empty() || name_holds(workspace, lane, &filter)).collect();
    let mut arranging = Arranging { state, lanes: &lanes, fits, out: Arranged::default() };
    arranging.run(0..lanes.len(), false);
    arranging.out
}

fn name_holds(workspace: &Workspace, lane: &Lane, filter: &str) -> bool {
    let (name, detail) = lane_name(workspace, lane);
    format!("{name} {detail}").to_lowercase().contains(filter)
}

struct Arranging<'a> {
    state: &'a ViewState,
    lanes: &'a [Lane],
    /// For each lane, whether the filter lets it through by its own name.
    fits: Vec<bool>,
    out: Arranged,
}

impl Arranging<'_> {
    /// Adds the lanes in `run`, whose lowest depth is that of its first lane. `wanted` when a lane above them passed
    /// the filter, which what is below it then passes too.
    fn run(&mut self, run: Range<usize>, wanted: bool) {
        let mut units = units(self.lanes, run);
        sort(&mut units, &self.state.lanes.order, |unit| self.lanes.get(unit.start).map(|lane| lane.key));
        for unit in units {
            let Some(lane) = self.lanes.get(unit.start) else { continue };
            if self.state.lanes.hidden.contains(&lane.key) {
                self.out.hidden += 1;
                continue;
            }
            let own = wanted || self.fits.get(unit.start) == Some(&true);
            let any = own || self.fits.get(unit.clone()).is_some_and(|fits| fits.contains(&true));
            if !any {
                self.out.filtered += unit.len();
                continue;
            }
            self.out.lanes.push(lane.clone());
            self.run(unit.start + 1..unit.end, own);
        }
    }
}

/// The runs of `run` that begin at its lowest depth.
fn units(lanes: &[Lane], run: Range<usize>) -> Vec<Range<usize>> {
    let mut units: Vec<Range<usize>> = Vec::new();
    let own = lanes.get(run.clone()).unwrap_or(&[]);
    let depth = own.first().map_or(0, |lane| lane.depth);
    for (at, lane) in run.zip(own) {
        match units.last_mut() {
            Some(unit) if lane.depth > depth => unit.end = at + 1,
            _ => units.push(at..at + 1),
        }
    }
    units
}

/// Puts those of `units` that `order` names in its order. Every other one stays behind the one it stood behind.
fn sort<T>(units: &mut Vec<T>, order: &[LaneKey], key: impl Fn(&T) -> Option<LaneKey>) {
    let place = |unit: &T| order.iter().position(|lane| Some(*lane) == key(unit));
    if units.iter().all(|unit| place(unit).is_none()) {
        return;
    }
    // Each group is a lane that `order` names with those behind it that it does not; the first group may have no such
    // lane and stays first.
    let mut groups: Vec<(Option<usize>, Vec<T>)> = Vec::new();
    for unit in units.drain(..) {
        let at = place(&unit);
        match groups.last_mut() {
            Some((_, group)) if at.is_none() => group.push(unit),
            _ => groups.push((at, vec![unit])),
        }
    }
    groups.sort_by_key(|(at, _)| *at);
    units.extend(groups.into_iter().flat_map(|(_, group)| group));
}

/// A lane among its neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    /// Keys of the lanes of one depth below one lane, from top to bottom.
    pub keys: Vec<LaneKey>,
    /// Top and bottom of each with what is below it, in points from the top of the first lane.
    pub edges_pt: Vec<(f32, f32)>,
    /// Which of them it is.
    pub at: usize,
}

impl Neighbours {
    /// The neighbours of lane `key`; `None` when it is not on screen.
    pub fn of(layout: &Layout, key: LaneKey) -> Option<Self> {
        let lanes = layout.lanes.as_slice();
        let own = lanes.iter().position(|lane| lane.key == key)?;
        let depth = lanes.get(own)?.depth;
        let begin = lanes.get(..own)?.iter().rposition(|lane| lane.depth < depth).map_or(0, |above| above + 1);
        let len = lanes.get(begin..)?.iter().take_while(|lane| lane.depth >= depth).count();
        let units = units(lanes, begin..begin + len);
        let at = units.iter().position(|unit| unit.contains(&own))?;
        let lane = |at: usize| lanes.get(at);
        Some(Self {
            keys: units.iter().filter_map(|unit| Some(lane(unit.start)?.key)).collect(),
            edges_pt: units
                .iter()
                .filter_map(|unit| Some((lane(unit.start)?.top_pt, lane(unit.end - 1)?.bottom_pt())))
                .collect(),
            at,
        })
    }

    /// The order with the lane `by` places further down, as far as there are places; `None` when that changes nothing.
    pub fn moved(&self, by: i32) -> Option<Vec<LaneKey>> {
        let last = self.keys.len().checked_sub(1)?;
        let to = (self.at as i64 + i64::from(by)).clamp(0, last as i64) as usize;
        if to == self.at {
            return None;
        }
        let mut keys = self.keys.clone();
        let own = keys.remove(self.at);
        keys.insert(to, own);
        Some(keys)
    }

    /// By how many places the lane has to move so that it comes to lie under `y_pt`.
    pub fn places_to(&self, y_pt: f32) -> i32 {
        let Some((top, bottom)) = self.edges_pt.get(self.at).copied() else { return 0 };
        let height = bottom - top;
        // A place counts once the lane, moved there, lies under the pointer: else lanes of other heights would jump to
        // and fro.
        let below = self.edges_pt.iter().skip(self.at + 1).take_while(|(_, bottom)| y_pt > bottom - height).count();
        let above = self.edges_pt.iter().take(self.at).rev().take_while(|(top, _)| y_pt < top + height).count();
        below as i32 - above as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> LaneKey {
        LaneKey::Nvtx(0, n)
    }

    fn sorted(units: &[usize], order: &[usize]) -> Vec<usize> {
        let mut units = units.to_vec();
        let order: Vec<LaneKey> = order.iter().map(|n| key(*n)).collect();
        sort(&mut units, &order, |n| Some(key(*n)));
        units
    }

    #[test]
    fn lanes_without_a_place_stay_behind_the_one_before() {
        assert_eq!(sorted(&[0, 1, 2, 3], &[]), [0, 1, 2, 3]);
        assert_eq!(sorted(&[0, 1, 2, 3], &[3, 2, 1, 0]), [3, 2, 1, 0]);
        assert_eq!(sorted(&[0, 1, 2, 3], &[2, 1]), [0, 2, 3, 1], "3 stood behind 2");
        assert_eq!(sorted(&[5, 6], &[9, 8]), [5, 6], "an order of lanes that are not there");
    }

    #[test]
    fn a_lane_moves_once_it_would_lie_under_the_pointer() {
        let edges_pt = vec![(0.0, 10.0), (10.0, 110.0), (110.0, 120.0)];
        let small = Neighbours { keys: vec![key(0), key(1), key(2)], edges_pt: edges_pt.clone(), at: 0 };
        assert_eq!((small.places_to(60.0), small.places_to(101.0), small.places_to(111.0)), (0, 1, 2));
        assert_eq!(small.moved(1), Some(vec![key(1), key(0), key(2)]));
        assert_eq!((small.moved(-1), small.moved(9).map(|keys| keys[2])), (None, Some(key(0))));
        let large = Neighbours { at: 1, ..small };
        assert_eq!((large.places_to(15.0), large.places_to(5.0), large.places_to(115.0)), (-1, -1, 1));
    }
}
