//! Steps without markers: a period in the sequence of kernels on the primary stream.
//!
//! The result is a proposal. It is labelled "estimated" wherever it is shown and decides nothing by itself.

use super::RankAnalysis;
use crate::trace::{OpNameId, Trace};
use crate::units::Span;
use rustc_hash::FxHashMap;

/// Fewest repetitions that make a period.
const MIN_STEPS: usize = 3;
/// Fewest operations in one period: shorter repetitions are loops over layers or elements.
const MIN_OPS: usize = 16;
/// Share of operations that must find their own name one period later.
const MIN_MATCH: f64 = 0.9;
/// Share of the sequence that the periods must cover.
const MIN_COVER: f64 = 0.6;

/// One proposed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub span: Span,
    pub gpu_ops: u64,
}

/// Proposed windows, or `None` when the kernels do not repeat clearly.
///
/// A name that occurs once a step has equal distances between its occurrences. Of all such names the one with the
/// longest distance is the step; the whole sequence must then repeat with that distance.
pub(super) fn windows(trace: &Trace, rank: usize, numbers: &RankAnalysis) -> Option<Vec<Window>> {
    let ops = &trace.ranks[rank].ops;
    let stream = u16::try_from(numbers.primary_stream?).ok()?;
    let on_stream: Vec<u32> = (0..ops.len() as u32).filter(|op| ops.stream[*op as usize] == stream).collect();
    let names: Vec<OpNameId> = on_stream.iter().map(|op| ops.name[*op as usize]).collect();
    let anchors = anchors(&names)?;
    let start_ns = |at: usize| on_stream.get(at).map(|op| ops.start_ns[*op as usize]);
    let windows = anchors.windows(2).filter_map(|pair| {
        let (first, next) = (*pair.first()?, *pair.last()?);
        Some(Window { span: Span::new(start_ns(first)?, start_ns(next)?), gpu_ops: (next - first) as u64 })
    });
    Some(windows.collect())
}

/// Positions in `names` where a step begins.
fn anchors(names: &[OpNameId]) -> Option<Vec<usize>> {
    let mut places: FxHashMap<OpNameId, (usize, usize, usize)> = FxHashMap::default();
    for (at, name) in names.iter().enumerate() {
        let (count, _, last) = places.entry(*name).or_insert((0, at, at));
        *count += 1;
        *last = at;
    }
    // Rare names first: those that occur once a step. The name breaks ties, so that the choice never varies.
    let mut rare: Vec<(usize, OpNameId)> = places
        .iter()
        .filter(|(_, (count, first, last))| {
            *count > MIN_STEPS && (last - first) as f64 >= MIN_COVER * names.len() as f64
        })
        .map(|(name, (count, _, _))| (*count, *name))
        .collect();
    rare.sort_unstable();
    for (_, name) in rare.into_iter().take(8) {
        let at: Vec<usize> = (0..names.len()).filter(|at| names.get(*at) == Some(&name)).collect();
        let mut distances: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        distances.sort_unstable();
        let period = distances[distances.len() / 2];
        let even = distances.iter().all(|d| d.abs_diff(period) * 20 <= period);
        if period >= MIN_OPS && even && repeats(names, period) {
            return Some(at);
        }
    }
    None
}

/// True when most operations find their own name `period` places later.
fn repeats(names: &[OpNameId], period: usize) -> bool {
    let later = names.get(period..).unwrap_or(&[]);
    let equal = names.iter().zip(later).filter(|(a, b)| a == b).count();
    !later.is_empty() && equal as f64 >= MIN_MATCH * later.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeating_sequence_proposes_its_period() {
        let step: Vec<u32> = (0..10).chain(0..10).chain([99]).collect();
        let names: Vec<OpNameId> = std::iter::repeat_n(step, 5).flatten().map(OpNameId).collect();
        assert_eq!(anchors(&names), Some(vec![20, 41, 62, 83, 104]));
    }

    #[test]
    fn a_sequence_that_does_not_repeat_proposes_nothing() {
        let names: Vec<OpNameId> = (0..200).map(|at| OpNameId(at * at % 97)).collect();
        assert_eq!(anchors(&names), None);
        assert_eq!(anchors(&[OpNameId(1); 200]), None);
        assert_eq!(anchors(&[]), None);
    }
}
