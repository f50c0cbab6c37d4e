//! The eight numbers that every summary shows of a group of values.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Statistics over some values, in their unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Sum.
    pub total: i64,
    /// How many.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// The middle value, or the mean of the two middle ones.
    pub median: f64,
    /// Smallest.
    pub min: i64,
    /// Largest.
    pub max: i64,
    /// Standard deviation of a sample (divided by one less than the count); 0 of a single value.
    pub deviation: f64,
}

impl Summary {
    /// Statistics over `values`, which are put in another order; `None` of no value.
    pub fn of(values: &mut [i64]) -> Option<Self> {
        let count = values.len();
        let (min, max) = (values.iter().min().copied()?, values.iter().max().copied()?);
        let total = values.iter().fold(0_i64, |sum, value| sum.saturating_add(*value));
        let mean = total as f64 / count as f64;
        let squares: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        let (before, middle, _) = values.select_nth_unstable(count / 2);
        let lower = before.iter().max().copied();
        let median = match lower {
            Some(lower) if count.is_multiple_of(2) => (lower as f64 + *middle as f64) / 2.0,
            _ => *middle as f64,
        };
        Some(Self { total, count, mean, median, min, max, deviation })
    }
}

/// Values by group.
#[derive(Debug)]
pub struct Groups<K>(FxHashMap<K, Vec<i64>>);

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

impl<K: Copy + Eq + Hash + Ord> Groups<K> {
    /// Adds a value to a group.
    pub fn add(&mut self, key: K, value: i64) {
        self.0.entry(key).or_default().push(value);
    }

    /// Statistics of every group: the largest total first; of equals the larger count, then the first by `name`.
    pub fn summaries<N: Ord>(self, name: impl Fn(K) -> N) -> Vec<(K, Summary)> {
        let of = |(key, mut values): (K, Vec<i64>)| Some((key, Summary::of(&mut values)?));
        let mut all: Vec<(K, Summary)> = self.0.into_iter().filter_map(of).collect();
        all.sort_by_cached_key(|(key, sum)| {
            (std::cmp::Reverse(sum.total), std::cmp::Reverse(sum.count), name(*key), *key)
        });
        all
    }
}

/// Sum of the totals of all rows.
pub fn total<K>(sums: &[(K, Summary)]) -> i64 {
    sums.iter().fold(0_i64, |total, (_, sum)| total.saturating_add(sum.total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_value_has_no_deviation_and_none_has_no_summary() {
        let one = Summary::of(&mut [7]).unwrap();
        assert_eq!((one.total, one.count, one.mean, one.median, one.deviation), (7, 1, 7.0, 7.0, 0.0));
        assert_eq!(Summary::of(&mut []), None);
    }

    #[test]
    fn the_median_of_two_is_their_mean_and_the_deviation_is_that_of_a_sample() {
        let two = Summary::of(&mut [10, 4]).unwrap();
        assert_eq!((two.median, two.min, two.max), (7.0, 4, 10));
        assert!((two.deviation - 18_f64.sqrt()).abs() < 1e-12, "{}", two.deviation);
    }

    #[test]
    fn sums_of_damaged_files_saturate() {
        assert_eq!(Summary::of(&mut [i64::MAX, i64::MAX]).unwrap().total, i64::MAX);
    }

    proptest! {
        #[test]
        fn a_sort_gives_the_same_median(mut values in proptest::collection::vec(0_i64..50, 1..30)) {
            let sum = Summary::of(&mut values.clone()).unwrap();
            values.sort_unstable();
            let n = values.len();
            let median = (values[(n - 1) / 2] + values[n / 2]) as f64 / 2.0;
            prop_assert_eq!(sum.median, median);
            prop_assert_eq!((sum.min, sum.max), (values[0], values[n - 1]));
        }

        #[test]
        fn groups_come_with_the_largest_total_first(rows in proptest::collection::vec((0_u8..5, 0_i64..50), 0..40)) {
            let mut groups = Groups::default();
            rows.iter().for_each(|(key, value)| groups.add(*key, *value));
            let sums = groups.summaries(|key| key);
            prop_assert_eq!(total(&sums), rows.iter().map(|(_, value)| value).sum::<i64>());
            prop_assert!(sums.windows(2).all(|pair| pair[0].1.total >= pair[1].1.total));
            for (key, sum) in sums {
                prop_assert_eq!(sum.count, rows.iter().filter(|(k, _)| *k == key).count());
            }
        }
    }
}
