//! Which range lies directly inside which, on one thread.

use crate::units::Span;

/// No range.
pub(super) const NO_RANGE: u32 = u32::MAX;
/// Ranges that cross each other are looked through for the tightest one, this many at most.
const CROSSING: usize = 256;

/// A range that may hold those to come.
#[derive(Debug, Clone, Copy)]
struct Open {
    span: Span,
    at: u32,
    /// True when it lies inside all that are open below it.
    nested: bool,
}

/// Ranges of one thread as they come, in order of start, then longest first.
///
/// One sweep: pushed and popped ranges nest, so the last one open is the tightest; only start/end ranges cross, and
/// only then the open ones are looked through.
#[derive(Debug, Default)]
pub(super) struct Nest {
    open: Vec<Open>,
    /// No open range ends before.
    soonest_ns: i64,
}

impl Nest {
    /// The tightest range pushed before that holds `span`, both ends included; then `span` is open as range `at`. Of
    /// equal ranges each holds the next one.
    pub fn push(&mut self, at: u32, span: Span) -> Option<u32> {
        while self.open.last().is_some_and(|open| open.span.end_ns < span.start_ns) {
            self.open.pop();
        }
        let in_last = self.open.last().filter(|open| open.nested && open.span.end_ns >= span.end_ns).copied();
        let parent = match in_last {
            Some(open) => Some(open),
            None if self.open.last().is_none_or(|open| open.nested && self.open.len() == 1) => None,
            None => self.tightest(span),
        };
        let nested = self.open.is_empty() || in_last.is_some();
        self.soonest_ns = self.soonest_ns.min(span.end_ns);
        self.open.push(Open { span, at, nested });
        parent.map(|open| open.at)
    }

    /// The tightest of the open ranges that holds `span`.
    fn tightest(&mut self, span: Span) -> Option<Open> {
        if self.soonest_ns < span.start_ns {
            self.forget(span.start_ns);
        }
        let holding = self.open.iter().rev().take(CROSSING).filter(|open| open.span.end_ns >= span.end_ns);
        // Of equals the first, which is the last pushed.
        holding.min_by_key(|open| open.span.len_ns()).copied()
    }

    /// Drops what ended before `at_ns`; what is left may nest again.
    fn forget(&mut self, at_ns: i64) {
        self.open.retain(|open| open.span.end_ns >= at_ns);
        self.soonest_ns = i64::MAX;
        for open in &mut self.open {
            open.nested = open.span.end_ns <= self.soonest_ns;
            self.soonest_ns = self.soonest_ns.min(open.span.end_ns);
        }
    }
}

/// The tightest range around each of `spans` (in order of start, then longest first), or [`NO_RANGE`].
pub(super) fn parents(spans: impl Iterator<Item = (u32, Span)>) -> impl Iterator<Item = (u32, u32)> {
    let mut nest = Nest::default();
    spans.map(move |(at, span)| (at, nest.push(at, span).unwrap_or(NO_RANGE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    fn brute(spans: &[Span], at: usize) -> u32 {
        let span = spans[at];
        let holds = |other: &usize| spans[*other].start_ns <= span.start_ns && spans[*other].end_ns >= span.end_ns;
        (0..at)
            .filter(holds)
            .min_by_key(|other| (spans[*other].len_ns(), Reverse(*other)))
            .map_or(NO_RANGE, |o| o as u32)
    }

    proptest! {
        #[test]
        fn the_parent_is_the_tightest_range_around(raw in prop::collection::vec((0_i64..40, 0_i64..30), 0..60)) {
            let mut spans: Vec<Span> = raw.iter().map(|(start, len)| Span::new(*start, start + len)).collect();
            spans.sort_unstable_by_key(|span| (span.start_ns, Reverse(span.end_ns)));
            let found: Vec<u32> = parents((0..).zip(spans.iter().copied())).map(|(_, parent)| parent).collect();
            let expected: Vec<u32> = (0..spans.len()).map(|at| brute(&spans, at)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn equal_ranges_hold_each_other_in_order() {
        let twins = [Span::new(0, 10), Span::new(0, 10), Span::new(2, 3)];
        let found: Vec<u32> = parents((0..).zip(twins)).map(|(_, parent)| parent).collect();
        assert_eq!(found, [NO_RANGE, 0, 1]);
    }
}
