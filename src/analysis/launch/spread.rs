//! How a quantity is spread: mean, percentiles, and a histogram with a bin for each power of two.

use serde::Serialize;

/// Mean and percentiles of some lengths of time, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Spread {
    /// Values.
    pub count: u64,
    /// Mean, rounded down.
    pub mean_ns: i64,
    /// Half of the values are at most this.
    pub p50_ns: i64,
    /// Nine of ten are at most this.
    pub p90_ns: i64,
    /// 99 of 100 are at most this.
    pub p99_ns: i64,
    /// The largest.
    pub max_ns: i64,
}

impl Spread {
    /// Of `values`, which are put in another order; `None` of nothing.
    pub fn of(values: &mut [i64]) -> Option<Self> {
        let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
        let mean = sum.div_euclid(i128::try_from(values.len()).ok().filter(|n| *n > 0)?);
        Some(Self {
            count: values.len() as u64,
            mean_ns: i64::try_from(mean).unwrap_or(i64::MAX),
            max_ns: *values.iter().max()?,
            p50_ns: percentile(values, 50)?,
            p90_ns: percentile(values, 90)?,
            p99_ns: percentile(values, 99)?,
        })
    }
}

/// The smallest value that `percent` percent of the values do not exceed (nearest rank).
pub(in crate::analysis) fn percentile(values: &mut [i64], percent: usize) -> Option<i64> {
    let rank = (values.len() * percent).div_ceil(100).checked_sub(1)?;
    Some(*values.select_nth_unstable(rank).1)
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HistogramBin {
    /// Smallest value of the bin.
    pub from_ns: i64,
    /// First value beyond it: twice as much.
    pub to_ns: i64,
    /// Values.
    pub count: u64,
}

/// Counts of `values` by powers of two, from the first bin that holds any to the last. The lowest bin is 0 and 1 ns;
/// negative values count as 0.
pub(super) fn histogram(values: impl Iterator<Item = i64>) -> Vec<HistogramBin> {
    let mut counts = [0_u64; 63];
    for value in values {
        if let Some(count) = counts.get_mut(value.max(1).ilog2() as usize) {
            *count += 1;
        }
    }
    let (Some(first), Some(last)) = (counts.iter().position(|n| *n > 0), counts.iter().rposition(|n| *n > 0)) else {
        return Vec::new();
    };
    let bin = |(power, count): (usize, &u64)| HistogramBin {
        from_ns: if power == 0 { 0 } else { 1 << power },
        to_ns: 1_i64.checked_shl(power as u32 + 1).filter(|to| *to > 0).unwrap_or(i64::MAX),
        count: *count,
    };
    counts.iter().enumerate().skip(first).take(last - first + 1).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_spread_of_nothing_is_unknown() {
        assert_eq!(Spread::of(&mut []), None);
        assert!(histogram(std::iter::empty()).is_empty());
    }

    #[test]
    fn bins_double() {
        let bins = histogram([0, 1, 2, 3, 4, 900].into_iter());
        assert_eq!(bins[0], HistogramBin { from_ns: 0, to_ns: 2, count: 2 });
        assert_eq!(bins[1], HistogramBin { from_ns: 2, to_ns: 4, count: 2 });
        assert_eq!(bins.last(), Some(&HistogramBin { from_ns: 512, to_ns: 1024, count: 1 }));
        assert_eq!(histogram([i64::MAX].into_iter())[0].to_ns, i64::MAX);
    }

    proptest! {
        #[test]
        fn percentiles_leave_the_right_share_below(values in proptest::collection::vec(0_i64..50, 1..200)) {
            let spread = Spread::of(&mut values.clone()).unwrap();
            for (percent, told) in [(50, spread.p50_ns), (90, spread.p90_ns), (99, spread.p99_ns)] {
                let at_most = |limit: i64| values.iter().filter(|v| **v <= limit).count() * 100;
                prop_assert!(at_most(told) >= percent * values.len());
                prop_assert!(values.contains(&told) && at_most(told - 1) < percent * values.len());
            }
            prop_assert_eq!(spread.mean_ns, values.iter().sum::<i64>() / values.len() as i64);
            let counted: u64 = histogram(values.iter().copied()).iter().map(|bin| bin.count).sum();
            prop_assert_eq!(counted, values.len() as u64);
        }
    }
}
