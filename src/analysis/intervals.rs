//! Interval algebra over sorted, disjoint spans: the one place where overlap is computed.
//!
//! Each function is one linear sweep.

use super::Coverage;
use crate::units::Span;

/// What lies in `a` but not in `b`.
pub fn subtract(a: &Coverage, b: &Coverage) -> Coverage {
    let mut left = Vec::new();
    let mut cuts = b.spans().iter().peekable();
    for span in a.spans() {
        let mut start_ns = span.start_ns;
        while let Some(cut) = cuts.peek() {
            if cut.end_ns <= start_ns {
                cuts.next();
                continue;
            }
            if cut.start_ns >= span.end_ns {
                break;
            }
            if cut.start_ns > start_ns {
                left.push(Span::new(start_ns, cut.start_ns));
            }
            start_ns = cut.end_ns;
            if cut.end_ns >= span.end_ns {
                // The same cut may reach into the next span.
                break;
            }
            cuts.next();
        }
        if start_ns < span.end_ns {
            left.push(Span::new(start_ns, span.end_ns));
        }
    }
    Coverage::from_sorted(left)
}

#[cfg(test)]
mod tests {
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
            let left = subtract(&Coverage::from_sorted(a.iter().copied()), &Coverage::from_sorted(b.iter().copied()));
            let expected: Vec<bool> = brute(&a).iter().zip(brute(&b)).map(|(a, b)| *a && !b).collect();
            prop_assert_eq!(brute(left.spans()), expected);
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
