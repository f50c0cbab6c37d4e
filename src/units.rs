//! Spans of time: signed 64-bit nanoseconds on one clock, half-open `[start_ns, end_ns)`.

use serde::{Deserialize, Serialize};

/// A half-open span `[start_ns, end_ns)`.
///
/// `end_ns == start_ns` is an instant: it has a place but no length. The model never holds a span whose end lies
/// before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Span {
    /// First nanosecond inside the span.
    pub start_ns: i64,
    /// First nanosecond after the span.
    pub end_ns: i64,
}

impl Span {
    /// The span from `start_ns` to `end_ns`.
    pub const fn new(start_ns: i64, end_ns: i64) -> Self {
        Self { start_ns, end_ns }
    }

    /// Length in nanoseconds, saturating at the limits of `i64`.
    pub const fn len_ns(self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// True when the span has no length.
    pub const fn is_empty(self) -> bool {
        self.end_ns <= self.start_ns
    }

    /// True when `at_ns` lies inside.
    pub const fn contains(self, at_ns: i64) -> bool {
        self.start_ns <= at_ns && at_ns < self.end_ns
    }

    /// True when `row` lies in this window at least in part; one without length when it begins inside.
    pub const fn holds(self, row: Self) -> bool {
        if row.is_empty() {
            return self.contains(row.start_ns);
        }
        row.start_ns < self.end_ns && row.end_ns > self.start_ns
    }

    /// The part shared with `other`; `None` when that part has no length.
    pub fn intersect(self, other: Self) -> Option<Self> {
        let cut = Self::new(self.start_ns.max(other.start_ns), self.end_ns.min(other.end_ns));
        (!cut.is_empty()).then_some(cut)
    }

    /// The smallest span that holds both.
    pub fn hull(self, other: Self) -> Self {
        Self::new(self.start_ns.min(other.start_ns), self.end_ns.max(other.end_ns))
    }

    /// The same span moved by `offset_ns`, saturating at the limits of `i64`.
    pub const fn shifted(self, offset_ns: i64) -> Self {
        Self::new(self.start_ns.saturating_add(offset_ns), self.end_ns.saturating_add(offset_ns))
    }
}

/// `part_ns` as a share of `whole_ns`, 0 to 1; `None` of a whole without length.
pub fn share(part_ns: i64, whole_ns: i64) -> Option<f64> {
    (whole_ns > 0).then(|| part_ns as f64 / whole_ns as f64)
}

/// Nanoseconds in seconds.
pub fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// Whole nanoseconds in seconds.
pub fn seconds_of(ns: i64) -> f64 {
    seconds(ns as f64)
}

/// Whole nanoseconds in microseconds.
pub fn microseconds_of(ns: i64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_spans_share_nothing() {
        assert_eq!(Span::new(0, 5).intersect(Span::new(5, 9)), None);
        assert_eq!(Span::new(0, 6).intersect(Span::new(5, 9)), Some(Span::new(5, 6)));
    }

    #[test]
    fn the_end_is_outside() {
        assert!(Span::new(0, 5).contains(0) && !Span::new(0, 5).contains(5));
    }

    #[test]
    fn a_share_of_nothing_is_unknown() {
        assert_eq!((share(1, 4), share(1, 0), share(0, -1)), (Some(0.25), None, None));
    }

    #[test]
    fn lengths_saturate_instead_of_wrapping() {
        assert_eq!(Span::new(i64::MIN, i64::MAX).len_ns(), i64::MAX);
    }
}
