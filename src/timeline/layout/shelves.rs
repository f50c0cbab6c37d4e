//! Lanes of one pane, or of two left and right, put below each other: lanes of one kind stand at one height.

use super::super::cache::Cache;
use super::super::lanes::RowsKey;
use super::size::size;
use super::{Lane, grows};
use crate::view::{LANE_SCALE, LaneKey, RankId, ViewState};
use std::mem::{Discriminant, discriminant};

/// How much GPU lanes grow at most when there is room.
const GROWTH_MAX: f32 = 6.0;
/// How much the others grow at most when there is room left after that.
const OTHER_GROWTH_MAX: f32 = 3.0;
/// Sizes of nested rows where the lanes do not fit, a point apart; names can still be read in the smallest.
const TIGHT: [f32; 2] = [0.94, 0.87];
/// Room that stays free below the last lane.
const FREE_PT: f32 = 24.0;

/// The lanes of one pane, and what decides how high they are.
pub(super) struct Side<'a> {
    pub state: &'a ViewState,
    pub cache: &'a Cache,
    pub lanes: Vec<Lane>,
}

impl Side<'_> {
    /// Sizes lane `at`, which the user or else `growth` scales, and returns its height.
    fn size(&mut self, at: usize, growth: f32, by_user: Option<f32>) -> f32 {
        let Some(lane) = self.lanes.get_mut(at) else { return 0.0 };
        let tight = growth < 1.0 && !lane.is_nested();
        let growth = if lane.is_header() || tight { 1.0 } else { growth };
        // A lane that the user resized keeps its height, whatever room there is.
        lane.scale = by_user.map_or(growth, |scale| scale.clamp(LANE_SCALE.0, LANE_SCALE.1));
        let rows = lane.rows_key().and_then(|key| self.cache.rows(key)).map_or(0, |rows| rows.rows.len());
        lane.has_marks = matches!(lane.key, LaneKey::Nvtx(doc, thread)
            if self.cache.rows(RowsKey::Marks(doc, thread)).is_some_and(|marks| !marks.rows.is_empty()));
        size(lane, rows, lane.scale, self.state);
        lane.height_pt
    }
}

/// Sides whose lanes are being placed. A shelf holds the lanes that stand at one height, one of each side at most.
pub(super) struct Shelves<'a> {
    sides: Vec<Side<'a>>,
    shelves: Vec<Vec<Option<usize>>>,
    /// By shelf.
    heights_pt: Vec<f32>,
}

impl<'a> Shelves<'a> {
    pub(super) fn new(mut sides: Vec<Side<'a>>) -> Self {
        let shelves = match sides.as_mut_slice() {
            [left, right] => {
                let shelves = beside(&left.lanes, &right.lanes);
                for (own, other) in shelves.iter().filter_map(|[own, other]| own.zip(*other)) {
                    if let (Some(own), Some(other)) = (left.lanes.get_mut(own), right.lanes.get_mut(other)) {
                        (own.beside, other.beside) = (Some(other.key), Some(own.key));
                    }
                }
                shelves.into_iter().map(Vec::from).collect()
            }
            sides => {
                let longest = sides.iter().map(|side| side.lanes.len()).max().unwrap_or(0);
                (0..longest).map(|at| vec![Some(at); sides.len()]).collect()
            }
        };
        Self { sides, shelves, heights_pt: Vec::new() }
    }

    /// Places all lanes in their own heights. Returns the height of all of them.
    pub(super) fn place(&mut self) -> f32 {
        self.place_grown((1.0, 1.0))
    }

    /// Places all lanes in `room_pt`: GPU lanes, then the others, grow into what is left of it. Returns the height of all
    /// of them.
    pub(super) fn fit(&mut self, room_pt: f32) -> f32 {
        let mut height_pt = self.place();
        if height_pt > room_pt {
            // Nested rows give way before other lanes are pushed out of sight.
            for tight in TIGHT {
                height_pt = self.place_grown((1.0, tight));
                if height_pt <= room_pt {
                    break;
                }
            }
            return height_pt;
        }
        let gpu = self.growth(room_pt, GROWTH_MAX, |lane| grows(lane.key));
        self.place_grown((gpu, 1.0));
        let other = self.growth(room_pt, OTHER_GROWTH_MAX, |lane| !grows(lane.key) && !lane.is_header());
        self.place_grown((gpu, other))
    }

    /// The lanes of each side, placed.
    pub(super) fn into_lanes(self) -> Vec<Vec<Lane>> {
        self.sides.into_iter().map(|side| side.lanes).collect()
    }

    fn lanes(&self, shelf: &[Option<usize>]) -> impl Iterator<Item = &Lane> {
        self.sides.iter().zip(shelf).filter_map(|(side, at)| side.lanes.get((*at)?))
    }

    /// How the user scaled the lanes of `shelf`.
    fn by_user(&self, shelf: &[Option<usize>]) -> Option<f32> {
        let scale = |(side, at): (&Side<'_>, &Option<usize>)| {
            side.state.lane_scale.get(&side.lanes.get((*at)?)?.key).copied().filter(|scale| scale.is_finite())
        };
        // Both are changed together; each may have been changed before alone.
        self.sides.iter().zip(shelf).filter_map(scale).reduce(f32::max)
    }

    /// By how much the lanes for which `growing` holds can grow in `room_pt`.
    fn growth(&self, room_pt: f32, most: f32, growing: impl Fn(&Lane) -> bool) -> f32 {
        let can_grow = |shelf: &[Option<usize>]| self.lanes(shelf).any(&growing) && self.by_user(shelf).is_none();
        let heights = self.shelves.iter().zip(&self.heights_pt);
        let growing_pt: f32 = heights.filter(|(shelf, _)| can_grow(shelf)).map(|(_, height_pt)| height_pt).sum();
        let left_pt = room_pt - self.heights_pt.iter().sum::<f32>() - FREE_PT;
        if growing_pt > 0.0 && left_pt > 0.0 { (1.0 + left_pt / growing_pt).min(most) } else { 1.0 }
    }

    /// Sizes the lanes and puts them below each other; GPU lanes and the others grow by the factors of `growth`.
    fn place_grown(&mut self, growth: (f32, f32)) -> f32 {
        let scales: Vec<Option<f32>> = self.shelves.iter().map(|shelf| self.by_user(shelf)).collect();
        let mut top_pt = 0.0;
        self.heights_pt.clear();
        for (shelf, by_user) in self.shelves.iter().zip(scales) {
            let mut height_pt = 0.0_f32;
            for (side, at) in self.sides.iter_mut().zip(shelf) {
                let Some(at) = *at else { continue };
                let is_gpu = side.lanes.get(at).is_some_and(|lane| grows(lane.key));
                height_pt = height_pt.max(side.size(at, if is_gpu { growth.0 } else { growth.1 }, by_user));
            }
            for (side, at) in self.sides.iter_mut().zip(shelf) {
                if let Some(lane) = at.and_then(|at| side.lanes.get_mut(at)) {
                    (lane.top_pt, lane.height_pt) = (top_pt, height_pt);
                }
            }
            self.heights_pt.push(height_pt);
            top_pt += height_pt;
        }
        top_pt
    }
}

/// What a lane shows, whatever rank and thread it is of.
fn kind(lane: &Lane) -> (u8, Discriminant<LaneKey>, Option<LaneKey>) {
    // Streams and counters tell apart what they show; the place of the rank does not count.
    let any_rank = RankId { doc: 0, rank: 0 };
    let shown = match lane.key {
        LaneKey::Stream(_, _, ops) => Some(ops.key(any_rank)),
        LaneKey::Counter(_, kind) => Some(LaneKey::Counter(any_rank, kind)),
        _ => None,
    };
    (lane.depth, discriminant(&lane.key), shown)
}

/// The lanes of both lists in order, those of one kind together. Where the lists have other orders, that of the first
/// decides.
fn beside(left: &[Lane], right: &[Lane]) -> Vec<[Option<usize>; 2]> {
    let mut shelves = Vec::new();
    let (mut a, mut b) = (0, 0);
    while let (Some(own), Some(other)) = (left.get(a), right.get(b)) {
        let comes = |lanes: &[Lane], wanted: &Lane| lanes.iter().any(|lane| kind(lane) == kind(wanted));
        if kind(own) == kind(other) {
            shelves.push([Some(a), Some(b)]);
            (a, b) = (a + 1, b + 1);
        } else if comes(right.get(b..).unwrap_or_default(), own) && !comes(left.get(a..).unwrap_or_default(), other) {
            shelves.push([None, Some(b)]);
            b += 1;
        } else {
            shelves.push([Some(a), None]);
            a += 1;
        }
    }
    shelves.extend((a..left.len()).map(|a| [Some(a), None]));
    shelves.extend((b..right.len()).map(|b| [None, Some(b)]));
    shelves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(keys: &[LaneKey]) -> Vec<Lane> {
        keys.iter().map(|key| Lane::new(*key, None)).collect()
    }

    #[test]
    fn lanes_of_one_kind_stand_together_and_others_alone() {
        let [a, b] = [0, 1].map(|doc| RankId { doc, rank: 0 });
        let left = lanes(&[LaneKey::Rank(a), LaneKey::Nvtx(0, 4), LaneKey::Compute(a), LaneKey::Idle(a)]);
        let right = lanes(&[
            LaneKey::Rank(b),
            LaneKey::Nvtx(1, 7),
            LaneKey::Nvtx(1, 8),
            LaneKey::Compute(b),
            LaneKey::Copies(b),
            LaneKey::Idle(b),
        ]);
        let pairs = [
            [Some(0), Some(0)],
            [Some(1), Some(1)],
            [None, Some(2)],
            [Some(2), Some(3)],
            [None, Some(4)],
            [Some(3), Some(5)],
        ];
        assert_eq!(beside(&left, &right), pairs);
        let back: Vec<_> = beside(&right, &left).into_iter().map(|[own, other]| [other, own]).collect();
        assert_eq!(back, pairs);
        assert_eq!(beside(&left, &[]).len(), left.len());
        // In another order each still stands somewhere, once.
        let turned = lanes(&[LaneKey::Idle(b), LaneKey::Compute(b), LaneKey::Rank(b)]);
        let shelves = beside(&left, &turned);
        let seen = |side: usize| shelves.iter().filter_map(|shelf| shelf[side]).collect::<Vec<_>>();
        assert_eq!((seen(0), seen(1)), (vec![0, 1, 2, 3], vec![0, 1, 2]));
    }
}
