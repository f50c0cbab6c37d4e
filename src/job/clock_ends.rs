//! What the ends of matched collectives say of the clocks of exports.
//!
//! All ranks of a collective leave it nearly together, so the ends of matched collectives tell how far apart two
//! clocks are, whatever the wall clocks say. Per pair of exports: the median of (end here - end there), the first
//! collective of each communicator left out, since it waits for connections; the median distance from that median is
//! the uncertainty. Exports that share no collective directly are reached over others, the surest way first.
//!
//! Clocks also run at different speeds. When a capture lasts over [`DRIFT_FROM_NS`], a line is fitted (the median of
//! slopes, so that late collectives do not bend it) and kept when it halves the distances.

use super::clock::{Basis, ClockMap, SourceClock};
use super::median::median_and_spread;
use super::{ExportSummary, Group, JobRank};
use crate::analysis::median_of;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Shorter captures show no drift.
const DRIFT_FROM_NS: i64 = 2_000_000_000;
/// Matched collectives that a slope is fitted to, at most.
const FIT_POINTS: usize = 300;

/// What the collectives of two exports say: from the time of the second to that of the first.
#[derive(Debug, Clone, Copy)]
struct Edge {
    map: ClockMap,
    uncertainty_ns: i64,
    matched: u64,
}

/// The reference, and each export by its collectives with others, as seen from there; `None` where nothing leads there.
pub(super) fn by_collectives(
    exports: &[Arc<ExportSummary>],
    ranks: &[JobRank],
    groups: &[Group],
) -> (usize, Vec<Option<SourceClock>>) {
    let ends = paired_ends(exports, ranks, groups);
    let mut edges: Vec<Vec<(usize, Edge)>> = vec![Vec::new(); exports.len()];
    let mut pairs: Vec<_> = ends.into_iter().collect();
    pairs.sort_by_key(|(pair, _)| *pair);
    for ((a, b), ends_ns) in pairs {
        let (Some(there), Some(back)) = (Edge::of(&ends_ns), Edge::of(&swapped(&ends_ns))) else { continue };
        // From b to a, and from a to b.
        if let Some(of) = edges.get_mut(a) {
            of.push((b, there));
        }
        if let Some(of) = edges.get_mut(b) {
            of.push((a, back));
        }
    }
    // A file of another job among them must not become the reference: it leads nowhere.
    let mut left: Vec<bool> = vec![true; exports.len()];
    let mut most: (usize, Vec<Option<SourceClock>>) = (0, vec![None; exports.len()]);
    for start in 0..exports.len() {
        if left.get(start) != Some(&true) {
            continue;
        }
        let found = reached(&edges, start);
        for (left, found) in left.iter_mut().zip(&found) {
            *left &= found.is_none();
        }
        let count = |of: &[Option<SourceClock>]| of.iter().flatten().count();
        if count(&found) > count(&most.1) {
            most = (start, found);
        }
    }
    most
}

/// Every export that edges lead to from `start`, the surest way.
fn reached(edges: &[Vec<(usize, Edge)>], start: usize) -> Vec<Option<SourceClock>> {
    let mut found: Vec<Option<SourceClock>> = vec![None; edges.len()];
    let mut open = BinaryHeap::new();
    let reference = SourceClock { found_uncertainty_ns: Some(0), ..SourceClock::default() };
    let mut best: Vec<Option<SourceClock>> = vec![None; edges.len()];
    if let Some(first) = best.get_mut(start) {
        *first = Some(reference);
        open.push(Reverse((0_i64, start)));
    }
    while let Some(Reverse((uncertainty_ns, at))) = open.pop() {
        let Some(here) = best.get(at).copied().flatten() else { continue };
        if here.found_uncertainty_ns != Some(uncertainty_ns) || found.get(at).is_none_or(Option::is_some) {
            continue;
        }
        if let Some(slot) = found.get_mut(at) {
            *slot = Some(here);
        }
        for (to, edge) in edges.get(at).map_or(&[][..], Vec::as_slice) {
            let through_ns = uncertainty_ns.saturating_add(edge.uncertainty_ns);
            let matched = if at == start { edge.matched } else { edge.matched.min(here.matched) };
            let next = SourceClock {
                map: edge.map.then(&here.map),
                basis: Basis::Collectives,
                found_uncertainty_ns: Some(through_ns),
                matched,
                shift_ns: 0,
            };
            let slot = best.get_mut(*to);
            if let Some(slot) = slot
                && slot.is_none_or(|known| known.found_uncertainty_ns.is_none_or(|ns| through_ns < ns))
            {
                *slot = Some(next);
                open.push(Reverse((through_ns, *to)));
            }
        }
    }
    found
}

/// Ends of matched collectives as (end on the first export, end on the second), by pair of exports.
type Ends = FxHashMap<(usize, usize), Vec<(i64, i64)>>;

/// Each group leads from the first of its exports to every other, which is enough to reach all and stays linear.
fn paired_ends(exports: &[Arc<ExportSummary>], ranks: &[JobRank], groups: &[Group]) -> Ends {
    let mut ends: Ends = FxHashMap::default();
    let of_member = |group: &Group, at: usize| {
        let member = *group.members.get(at)?;
        let place = ranks.get(member.rank)?.at;
        let summary = exports.get(place.export)?.ranks.get(place.rank)?;
        Some((member, place.export, summary))
    };
    for group in groups {
        let Some((first, first_export, first_summary)) = of_member(group, 0) else { continue };
        for other in 1..group.members.len() {
            let Some((member, export, summary)) = of_member(group, other) else { continue };
            if export == first_export {
                continue;
            }
            let of_pair = ends.entry((first_export.min(export), first_export.max(export))).or_default();
            // The first collective of a communicator waits for connections and says little.
            for at in usize::from(group.count > 1)..group.count {
                let a = group.span(first_summary, &first, at);
                let b = group.span(summary, &member, at);
                let Some((a, b)) = a.zip(b) else { continue };
                let pair = (a.end_ns, b.end_ns);
                of_pair.push(if first_export < export { pair } else { (pair.1, pair.0) });
            }
        }
    }
    ends
}

fn swapped(ends_ns: &[(i64, i64)]) -> Vec<(i64, i64)> {
    ends_ns.iter().map(|(a, b)| (*b, *a)).collect()
}

impl Edge {
    /// From the clock of the second ends to that of the first; `None` without any.
    fn of(ends_ns: &[(i64, i64)]) -> Option<Self> {
        let offsets_ns: Vec<i64> = ends_ns.iter().map(|(a, b)| a.saturating_sub(*b)).collect();
        let (offset_ns, spread_ns) = median_and_spread(&offsets_ns)?;
        let plain = Self { map: ClockMap::shift(offset_ns), uncertainty_ns: spread_ns, matched: ends_ns.len() as u64 };
        let (first, last) = (ends_ns.iter().map(|(_, b)| *b).min()?, ends_ns.iter().map(|(_, b)| *b).max()?);
        if last.saturating_sub(first) < DRIFT_FROM_NS {
            return Some(plain);
        }
        Some(
            Self::with_drift(ends_ns, first + (last - first) / 2)
                .filter(|f| f.uncertainty_ns.saturating_mul(2) <= spread_ns)
                .unwrap_or(plain),
        )
    }

    /// The line through the ends whose slope is the median of those between points far apart.
    fn with_drift(ends_ns: &[(i64, i64)], about_ns: i64) -> Option<Self> {
        let mut sorted: Vec<(i64, i64)> = ends_ns.to_vec();
        sorted.sort_unstable_by_key(|(_, b)| *b);
        let step = sorted.len().div_ceil(FIT_POINTS).max(1);
        let points: Vec<(f64, f64)> = sorted
            .iter()
            .step_by(step)
            .map(|(a, b)| (*b as f64 - about_ns as f64, a.saturating_sub(*b) as f64))
            .collect();
        let mut slopes = Vec::new();
        for (at, (x, y)) in points.iter().enumerate() {
            slopes.extend(
                points
                    .get(at + 1..)
                    .unwrap_or(&[])
                    .iter()
                    .filter(|(other, _)| other > x)
                    .map(|(u, v)| (v - y) / (u - x)),
            );
        }
        let middle = slopes.len() / 2;
        if slopes.is_empty() {
            return None;
        }
        let (_, slope, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
        let drift_ppm = *slope * 1e6;
        let mut map = ClockMap { offset_ns: 0, drift_ppm, about_ns };
        let residuals: Vec<i64> = ends_ns.iter().map(|(a, b)| a.saturating_sub(map.to_job(*b))).collect();
        map.offset_ns = median_of(residuals.clone())?;
        let (_, spread_ns) = median_and_spread(&residuals)?;
        Some(Self { map, uncertainty_ns: spread_ns, matched: ends_ns.len() as u64 })
    }
}
