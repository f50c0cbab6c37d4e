//! Interval algebra over sorted spans: the one place where overlap is computed.
//!
//! Everything is lazy: one linear sweep, no memory of its own, so that what is only a step on the way is never stored.

use crate::units::Span;

/// The union of spans sorted by start, as sorted, disjoint, non-empty spans that do not touch.
#[derive(Debug, Clone)]
pub struct Union<I> {
    spans: I,
    next: Option<Span>,
}

/// The union of `spans`, which must be sorted by start.
pub fn union<I: Iterator<Item = Span>>(spans: I) -> Union<I> {
    Union { spans, next: None }
}

impl<I: Iterator<Item = Span>> Iterator for Union<I> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        for span in self.spans.by_ref().filter(|span| !span.is_empty()) {
            match &mut self.next {
                Some(held) if span.start_ns <= held.end_ns => held.end_ns = held.end_ns.max(span.end_ns),
                held => {
                    if let Some(done) = held.replace(span) {
                        return Some(done);
                    }
                }
            }
        }
        self.next.take()
    }
}

/// What lies in one union but not in another.
#[derive(Debug, Clone)]
pub struct Difference<A, B> {
    spans: A,
    cuts: B,
    /// What is left of the span at hand.
    span: Option<Span>,
    cut: Option<Span>,
}

/// What lies in `spans` but not in `cuts`; both must be unions.
pub fn subtract<A, B>(spans: A, cuts: B) -> Difference<A, B>
where
    A: Iterator<Item = Span>,
    B: Iterator<Item = Span>,
{
    Difference { spans, cuts, span: None, cut: None }
}

impl<A: Iterator<Item = Span>, B: Iterator<Item = Span>> Iterator for Difference<A, B> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        loop {
            let span = self.span.take().or_else(|| self.spans.next())?;
            while self.cut.is_some_and(|cut| cut.end_ns <= span.start_ns) || self.cut.is_none() {
                self.cut = self.cuts.next();
                if self.cut.is_none() {
                    return Some(span);
                }
            }
            let Some(cut) = self.cut.filter(|cut| cut.start_ns < span.end_ns) else { return Some(span) };
            // The rest behind the cut is looked at in the next round; the cut may reach into the next span too.
            self.span = Some(Span::new(cut.end_ns, span.end_ns)).filter(|rest| !rest.is_empty());
            let before = Span::new(span.start_ns, cut.start_ns);
            if !before.is_empty() {
                return Some(before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Coverage;
    use super::*;
    use proptest::prelude::*;

    /// Bit `n` of the result tells whether nanosecond `n` is covered.
    fn brute(spans: &[Span]) -> Vec<bool> {
        (0..64).map(|ns| spans.iter().any(|s| s.contains(ns))).collect()
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec((0_i64..60, 0_i64..9), 0..14).prop_map(|pairs| {
            let mut spans: Vec<Span> = pairs.into_iter().map(|(s, len)| Span::new(s, (s + len).min(64))).collect();
            spans.sort_unstable();
            spans
        })
    }

    proptest! {
        #[test]
        fn a_union_covers_what_its_spans_cover(spans in spans()) {
            let union = Coverage::from_sorted(spans.iter().copied());
            prop_assert_eq!(brute(union.spans()), brute(&spans));
            prop_assert!(union.spans().windows(2).all(|w| w[0].end_ns < w[1].start_ns));
            prop_assert!(union.spans().iter().all(|s| !s.is_empty()));
        }

        #[test]
        fn subtraction_equals_brute_force(a in spans(), b in spans()) {
            let left: Vec<Span> = subtract(union(a.iter().copied()), union(b.iter().copied())).collect();
            let expected: Vec<bool> = brute(&a).iter().zip(brute(&b)).map(|(a, b)| *a && !b).collect();
            prop_assert_eq!(brute(&left), expected);
            prop_assert!(left.windows(2).all(|w| w[0].end_ns < w[1].start_ns));
        }

        #[test]
        fn a_window_measures_what_brute_force_counts(a in spans(), start in -5_i64..70, len in 0_i64..70) {
            let window = Span::new(start, start + len);
            let union = Coverage::from_sorted(a.iter().copied());
            let expected = (0..64).zip(brute(&a)).filter(|(ns, covered)| *covered && window.contains(*ns)).count();
            prop_assert_eq!(union.within(window), expected as i64);
            let touching: Vec<Span> = union.spans().iter().copied().filter(|s| s.intersect(window).is_some()).collect();
            if !window.is_empty() {
                prop_assert_eq!(&union.spans()[union.touching(window)], &touching[..]);
            }
        }
    }

    #[test]
    fn gaps_lie_between_the_spans() {
        let covered = Coverage::from_sorted([Span::new(5, 10), Span::new(20, 30), Span::new(30, 31)]);
        assert_eq!((covered.gaps(), covered.gap(0), covered.gap(1)), (1, Some(Span::new(10, 20)), None));
        assert_eq!(Coverage::default().gaps(), 0);
    }

    #[test]
    fn running_sums_hold_over_many_blocks() {
        let union = Coverage::from_sorted((0..100).map(|at| Span::new(at * 10, at * 10 + 3)));
        assert_eq!(union.total_ns(), 300);
        assert_eq!(union.within(Span::new(0, 160)), 48);
        assert_eq!(union.within(Span::new(1, 161)), 48 - 1 + 1);
    }
}
