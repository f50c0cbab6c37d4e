//! The worst places of a kind: the few longest spans, with the step they lie in.

use super::scope::Scope;
use super::{Cause, RankAnalysis, intervals};
use crate::units::Span;
use serde::Serialize;
use std::cmp::Reverse;

/// Places kept for a verdict or a finding.
pub const PLACES: usize = 3;

/// A place on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Index of the step it lies in.
    pub step: Option<usize>,
    /// Where, on the export's clock.
    #[serde(flatten)]
    pub span: Span,
    /// Nanoseconds lost there.
    pub ns: i64,
}

/// Keeps the places that lose most; of equals the earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Worst(Vec<Place>);

impl Worst {
    pub fn add(&mut self, step: Option<usize>, span: Span, ns: i64) {
        if ns <= 0 || (self.0.len() == PLACES && self.0.last().is_some_and(|last| last.ns >= ns)) {
            return;
        }
        let key = (Reverse(ns), span.start_ns);
        let at = self.0.partition_point(|p| (Reverse(p.ns), p.span.start_ns) <= key);
        self.0.insert(at, Place { step, span, ns });
        self.0.truncate(PLACES);
    }

    pub fn into_places(self) -> Vec<Place> {
        self.0
    }

    pub fn places(&self) -> Vec<Place> {
        self.0.clone()
    }
}

/// The longest of `spans` (sorted, disjoint) within the scope's windows, cut to them.
pub(super) fn longest(scope: &Scope, spans: &[Span]) -> Vec<Place> {
    let mut worst = Worst::default();
    for window in &scope.windows {
        let first = spans.partition_point(|s| s.end_ns <= window.span.start_ns);
        for span in spans.iter().skip(first).take_while(|s| s.start_ns < window.span.end_ns) {
            if let Some(span) = span.intersect(window.span) {
                worst.add(window.step, span, span.len_ns());
            }
        }
    }
    worst.into_places()
}

/// The longest copies that no kernel hides.
pub(super) fn copies(scope: &Scope, numbers: &RankAnalysis) -> Vec<Place> {
    let alone =
        intervals::subtract(numbers.without_compute.spans().iter().copied(), numbers.comm.spans().iter().copied());
    longest(scope, &alone.collect::<Vec<_>>())
}

/// The gaps that lose most to the causes that `counts` names.
pub(super) fn gaps(scope: &Scope, numbers: &RankAnalysis, counts: impl Fn(Cause) -> bool) -> Vec<Place> {
    let mut worst = Worst::default();
    for window in &scope.windows {
        let busy = numbers.busy.touching(window.span);
        for at in busy.start.saturating_sub(1)..busy.end {
            let Some(gap) = numbers.busy.gap(at).and_then(|gap| gap.intersect(window.span)) else { continue };
            // A gap that is shorter than the third place cannot become one.
            if worst.0.len() == PLACES && worst.0.last().is_some_and(|last| last.ns >= gap.len_ns()) {
                continue;
            }
            let causes = numbers.idle.within(gap);
            worst.add(window.step, gap, causes.iter().filter(|(cause, _)| counts(*cause)).map(|(_, ns)| ns).sum());
        }
    }
    worst.into_places()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_places_are_kept_in_order_and_equals_by_time() {
        let mut worst = Worst::default();
        for (start, ns) in [(0, 5), (10, 9), (20, 5), (30, 7), (40, 0)] {
            worst.add(None, Span::new(start, start + 8), ns);
        }
        let kept: Vec<(i64, i64)> = worst.into_places().iter().map(|p| (p.span.start_ns, p.ns)).collect();
        assert_eq!(kept, [(10, 9), (30, 7), (0, 5)]);
    }
}
