//! The worst places of a kind: the few longest spans, with the step they lie in.

use super::scope::Scope;
use super::verdict::{HOST_CAUSES, LAUNCH_CAUSES, UNATTRIBUTED_CAUSES};
use super::{Cause, Causes, RankAnalysis, intervals};
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
    worst.places()
}

/// The longest copies that no kernel hides.
pub(super) fn copies(scope: &Scope, numbers: &RankAnalysis) -> Vec<Place> {
    let alone =
        intervals::subtract(numbers.without_compute.spans().iter().copied(), numbers.comm.spans().iter().copied());
    longest(scope, &alone.collect::<Vec<_>>())
}

/// Causes whose gaps are looked for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// One cause.
    Cause(Cause),
    /// [`HOST_CAUSES`].
    Host,
    /// [`LAUNCH_CAUSES`].
    Launching,
    /// [`UNATTRIBUTED_CAUSES`].
    Unattributed,
}

/// The gaps that lose most to each cause and group of causes. One pass over the idle time of the windows.
#[derive(Debug, Clone, Default)]
pub(super) struct GapPlaces {
    causes: [Worst; Cause::COUNT],
    host: Worst,
    launching: Worst,
    unattributed: Worst,
}

impl GapPlaces {
    pub fn of(scope: &Scope, numbers: &RankAnalysis) -> Self {
        let mut places = Self::default();
        for window in &scope.windows {
            let (mut gap, mut causes) = (Span::default(), Causes::default());
            for (span, cause) in numbers.idle.segments(window.span) {
                let Some(span) = span.intersect(window.span) else { continue };
                // Pieces of one gap touch; between two gaps lies work.
                if span.start_ns != gap.end_ns {
                    places.add(window.step, gap, &causes);
                    (gap, causes) = (span, Causes::default());
                }
                gap.end_ns = span.end_ns;
                causes.add(cause, span.len_ns());
            }
            places.add(window.step, gap, &causes);
        }
        places
    }

    fn add(&mut self, step: Option<usize>, gap: Span, causes: &Causes) {
        for (cause, ns) in causes.iter() {
            if let Some(worst) = self.causes.get_mut(cause as usize) {
                worst.add(step, gap, ns);
            }
        }
        let sum = |of: &[Cause]| of.iter().map(|cause| causes.of(*cause)).fold(0, i64::saturating_add);
        self.host.add(step, gap, sum(&HOST_CAUSES));
        self.launching.add(step, gap, sum(&LAUNCH_CAUSES));
        self.unattributed.add(step, gap, sum(&UNATTRIBUTED_CAUSES));
    }

    pub fn places(&self, of: Group) -> Vec<Place> {
        match of {
            Group::Cause(cause) => self.causes.get(cause as usize).map_or_else(Vec::new, Worst::places),
            Group::Host => self.host.places(),
            Group::Launching => self.launching.places(),
            Group::Unattributed => self.unattributed.places(),
        }
    }
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
        let kept: Vec<(i64, i64)> = worst.places().iter().map(|p| (p.span.start_ns, p.ns)).collect();
        assert_eq!(kept, [(10, 9), (30, 7), (0, 5)]);
    }
}
