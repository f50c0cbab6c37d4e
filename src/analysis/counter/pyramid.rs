//! A value over time summed up on coarser and coarser grids, so that a view of any length reads one entry a column.

use super::steps::Stat;
use crate::units::Span;

/// Most entries of the finest grid, and points that stand behind one of them on average.
const MOST: i64 = 1 << 18;
const PER_BIN: i64 = 16;
/// Fewer points are read as they are.
const LEAST: usize = 512;

/// Grids of bins of `base_ns`, twice that, four times that, and so on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pyramid {
    base_ns: i64,
    /// From the finest grid to one of two bins at most: those on both sides of time 0 never come together.
    levels: Vec<Level>,
}

#[derive(Debug, Clone, PartialEq)]
struct Level {
    /// Number of the first bin: its start over the length of a bin.
    first: i64,
    bins: Vec<Bin>,
}

/// One bin. Without any value its weight is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bin {
    min: f32,
    max: f32,
    /// Value times nanoseconds, and nanoseconds that have a value.
    area: f64,
    weight_ns: f64,
}

impl Bin {
    const EMPTY: Self = Self { min: f32::INFINITY, max: f32::NEG_INFINITY, area: 0.0, weight_ns: 0.0 };

    fn and(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            area: self.area + other.area,
            weight_ns: self.weight_ns + other.weight_ns,
        }
    }

    fn stat(self) -> Option<Stat> {
        let stat = || Stat { min: f64::from(self.min), max: f64::from(self.max), mean: self.area / self.weight_ns };
        (self.weight_ns > 0.0).then(stat)
    }
}

impl Pyramid {
    /// Sums up `points` points over `span`; `measure` gives the least, largest and mean value of consecutive windows.
    pub fn of(span: Span, points: usize, mut measure: impl FnMut(Span) -> Option<Stat>) -> Self {
        if points < LEAST || span.is_empty() {
            return Self::default();
        }
        let bins = (points as i64 / PER_BIN).clamp(1, MOST);
        let base_ns = ((span.len_ns() / bins).max(1) as u64).next_power_of_two() as i64;
        let first = span.start_ns.div_euclid(base_ns);
        let last = (span.end_ns - 1).div_euclid(base_ns);
        let bin = |at: i64| {
            let window = Span::new(at * base_ns, (at + 1) * base_ns);
            let weight_ns = window.intersect(span).map_or(0, Span::len_ns) as f64;
            measure(window).map_or(Bin::EMPTY, |stat| Bin {
                min: stat.min as f32,
                max: stat.max as f32,
                area: stat.mean * weight_ns,
                weight_ns,
            })
        };
        let mut levels = vec![Level { first, bins: (first..=last).map(bin).collect() }];
        while let Some(finer) = levels.last().filter(|level| level.bins.len() > 2) {
            levels.push(finer.coarser());
        }
        Self { base_ns, levels }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.bins.len() * size_of::<Bin>()).sum()
    }

    /// Level of the bins of `bin_ns`, a power of two; `None` when they are finer than the finest.
    pub fn level(&self, bin_ns: i64) -> Option<usize> {
        if self.levels.is_empty() || bin_ns < self.base_ns {
            return None;
        }
        Some((bin_ns / self.base_ns).trailing_zeros() as usize)
    }

    /// The bin number `at` of `level`: from `at` times its length on. `None` without any value.
    pub fn bin(&self, level: usize, at: i64) -> Option<Stat> {
        let top = self.levels.len().checked_sub(1)?;
        if level > top {
            let last = self.levels.last()?;
            let shift = (level - top).min(63) as u32;
            let numbered = (last.first..).zip(&last.bins);
            return numbered
                .filter(|(number, _)| number >> shift == at)
                .fold(Bin::EMPTY, |all, (_, bin)| all.and(*bin))
                .stat();
        }
        let level = self.levels.get(level)?;
        level.bins.get(usize::try_from(at - level.first).ok()?)?.stat()
    }
}

impl Level {
    fn coarser(&self) -> Self {
        let first = self.first.div_euclid(2);
        let lead = self.first.rem_euclid(2) as usize;
        let get = |at: usize| self.bins.get(at).copied().unwrap_or(Bin::EMPTY);
        let count = (self.bins.len() + lead).div_ceil(2);
        let pair = |at: usize| match (2 * at).checked_sub(lead) {
            Some(left) => get(left).and(get(left + 1)),
            None => get(0),
        };
        Self { first, bins: (0..count).map(pair).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::StepSeries;
    use super::super::steps::tests::{brute, points};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_bin_of_every_level_is_what_counting_gives(some in points(), copies in 2_i64..5, shift in -700_i64..700) {
            // Enough points for a pyramid: the same ones again and again.
            let unit = some.last().unwrap().0 + 1;
            let copies = copies * 600 / some.len() as i64 + 1;
            let many: Vec<(i64, f32)> = (0..copies).flat_map(|n| some.iter().map(move |(at, v)| (at + n * unit + shift, *v))).collect();
            let end_ns = many.last().unwrap().0 + 3;
            let series = StepSeries::of(many.iter().copied(), end_ns);
            let span = series.span().unwrap();
            let pyramid = Pyramid::of(span, series.len().max(LEAST), |window| series.within(window, 0).0);
            for level in 0..pyramid.levels.len() + 2 {
                let bin_ns = pyramid.base_ns << level;
                prop_assert_eq!(pyramid.level(bin_ns), Some(level));
                let first = span.start_ns.div_euclid(bin_ns);
                // A few bins of each: counting nanoseconds is slow.
                for at in (first - 1)..(first + 3) {
                    let window = Span::new(at * bin_ns, (at + 1) * bin_ns);
                    let wanted = brute(&many, end_ns, window);
                    prop_assert_eq!(pyramid.bin(level, at).is_some(), wanted.is_some());
                    if let (Some(found), Some(wanted)) = (pyramid.bin(level, at), wanted) {
                        prop_assert_eq!((found.min, found.max), (wanted.min, wanted.max));
                        prop_assert!((found.mean - wanted.mean).abs() < 1e-9 * wanted.max.max(1.0));
                    }
                }
            }
            prop_assert_eq!(pyramid.level(pyramid.base_ns / 2), None);
        }
    }
}
