//! The exact split of a window: every nanosecond belongs to exactly one of five parts.

use super::{Coverage, means};
use crate::units::Span;
use serde::{Deserialize, Serialize};

/// The five parts of a window, in nanoseconds. They sum to `span_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Partition {
    /// Length of the window.
    pub span_ns: i64,
    /// Covered by communication, overlapped or not. Not one of the parts.
    pub comm_ns: i64,
    /// Exposed communication while no copy or fill ran either: the second reading of "exposed". Not one of the parts.
    pub comm_alone_ns: i64,
    /// Compute without communication.
    pub compute_only_ns: i64,
    /// Compute and communication at once.
    pub overlapped_comm_ns: i64,
    /// Communication while no compute kernel of the device ran.
    pub exposed_comm_ns: i64,
    /// Copies and fills while no kernel ran.
    pub copy_only_ns: i64,
    /// Nothing ran.
    pub idle_ns: i64,
}
impl Partition {
    /// The parts of `window`, from the time covered by anything, by anything but compute, by communication, by
    /// communication alone among kernels, and by communication alone among everything.
    pub fn of(
        window: Span,
        busy: &Coverage,
        without_compute: &Coverage,
        comm: &Coverage,
        exposed: &Coverage,
        comm_alone: &Coverage,
    ) -> Self {
        let (busy_ns, without_compute_ns) = (busy.within(window), without_compute.within(window));
        let (comm_ns, exposed_comm_ns) = (comm.within(window), exposed.within(window));
        let overlapped_comm_ns = comm_ns - exposed_comm_ns;
        Self {
            span_ns: window.len_ns(),
            comm_ns,
            comm_alone_ns: comm_alone.within(window),
            compute_only_ns: busy_ns - without_compute_ns - overlapped_comm_ns,
            overlapped_comm_ns,
            exposed_comm_ns,
            copy_only_ns: without_compute_ns - exposed_comm_ns,
            idle_ns: window.len_ns() - busy_ns,
        }
    }

    /// Every number less that of `other`.
    #[must_use]
    pub const fn less(&self, other: &Self) -> Self {
        Self {
            span_ns: self.span_ns - other.span_ns,
            comm_ns: self.comm_ns - other.comm_ns,
            comm_alone_ns: self.comm_alone_ns - other.comm_alone_ns,
            compute_only_ns: self.compute_only_ns - other.compute_only_ns,
            overlapped_comm_ns: self.overlapped_comm_ns - other.overlapped_comm_ns,
            exposed_comm_ns: self.exposed_comm_ns - other.exposed_comm_ns,
            copy_only_ns: self.copy_only_ns - other.copy_only_ns,
            idle_ns: self.idle_ns - other.idle_ns,
        }
    }

    /// Time covered by compute.
    pub const fn compute_ns(&self) -> i64 {
        self.compute_only_ns + self.overlapped_comm_ns
    }

    /// Median of each part by itself. Medians of parts need not sum to the median span.
    pub fn median(of: &[Self]) -> Self {
        let median = |part: fn(&Self) -> i64| median_of(of.iter().map(part).collect()).unwrap_or(0);
        Self {
            span_ns: median(|p| p.span_ns),
            comm_ns: median(|p| p.comm_ns),
            comm_alone_ns: median(|p| p.comm_alone_ns),
            compute_only_ns: median(|p| p.compute_only_ns),
            overlapped_comm_ns: median(|p| p.overlapped_comm_ns),
            exposed_comm_ns: median(|p| p.exposed_comm_ns),
            copy_only_ns: median(|p| p.copy_only_ns),
            idle_ns: median(|p| p.idle_ns),
        }
    }

    /// Mean of several partitions, rounded so that the parts still sum to the span.
    pub fn mean(of: &[Self]) -> Self {
        let Ok(count) = i128::try_from(of.len()) else { return Self::default() };
        if count == 0 {
            return Self::default();
        }
        let sum = |part: fn(&Self) -> i64| of.iter().map(|p| i128::from(part(p))).sum::<i128>();
        let round = |sum: i128| i64::try_from(sum.div_euclid(count)).unwrap_or(i64::MAX);
        let parts: [fn(&Self) -> i64; 5] =
            [|p| p.compute_only_ns, |p| p.overlapped_comm_ns, |p| p.exposed_comm_ns, |p| p.copy_only_ns, |p| p.idle_ns];
        let span_ns = round(sum(|p| p.span_ns));
        let means = means::rounded(&parts.map(sum), count, span_ns);
        let [compute_only_ns, overlapped_comm_ns, exposed_comm_ns, copy_only_ns, idle_ns] = means[..] else {
            return Self::default();
        };
        let comm_ns = overlapped_comm_ns + exposed_comm_ns;
        let comm_alone_ns = round(sum(|p| p.comm_alone_ns));
        Self {
            span_ns,
            comm_ns,
            comm_alone_ns,
            compute_only_ns,
            overlapped_comm_ns,
            exposed_comm_ns,
            copy_only_ns,
            idle_ns,
        }
    }
}

/// The middle value; of an even number the mean of the middle two, rounded down. `None` of nothing.
pub fn median_of(mut values: Vec<i64>) -> Option<i64> {
    values.sort_unstable();
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(low + (high - low) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn medians_of_even_counts_are_means_of_the_middle() {
        assert_eq!(
            (median_of(vec![9, 1, 4]), median_of(vec![1, 4, 9, 2]), median_of(Vec::new())),
            (Some(4), Some(3), None)
        );
    }

    #[test]
    fn the_mean_of_nothing_is_nothing() {
        assert_eq!(Partition::mean(&[]), Partition::default());
    }

    proptest! {
        #[test]
        fn means_still_sum_to_the_span(rows in proptest::collection::vec(proptest::array::uniform5(0_i64..100), 1..9)) {
            let parts: Vec<Partition> = rows.iter().map(|[a, b, c, d, e]| Partition {
                span_ns: a + b + c + d + e,
                comm_ns: b + c,
                comm_alone_ns: *c,
                compute_only_ns: *a,
                overlapped_comm_ns: *b,
                exposed_comm_ns: *c,
                copy_only_ns: *d,
                idle_ns: *e,
            }).collect();
            let mean = Partition::mean(&parts);
            let sum = mean.compute_only_ns + mean.overlapped_comm_ns + mean.exposed_comm_ns + mean.copy_only_ns + mean.idle_ns;
            prop_assert_eq!(sum, mean.span_ns);
            prop_assert_eq!(mean.span_ns, parts.iter().map(|p| p.span_ns).sum::<i64>() / parts.len() as i64);
        }
    }
}
