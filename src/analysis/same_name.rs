//! How long the operations, calls or ranges of one name took: sums, extremes, a histogram.

use super::HistogramBin;
use super::partition::median_of;
use crate::units::{Span, share};

/// Bins of a histogram, at most.
const BINS: usize = 24;
/// From this ratio of the longest to the shortest on, bins grow by equal factors instead of equal lengths.
const LOG_FROM: i64 = 8;

/// What the items of one name took of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepPart {
    /// Index of the step.
    pub step: usize,
    /// Items that share time with its window.
    pub count: u64,
    /// Nanoseconds of them inside the window, added up (they may overlap each other).
    pub total_ns: i64,
    /// That over the window's length.
    pub share: Option<f64>,
}

/// Durations of the items of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct NameStats {
    /// Items.
    pub count: u64,
    /// Sum of their durations in nanoseconds (they may overlap each other).
    pub total_ns: i64,
    /// Shortest.
    pub min_ns: i64,
    /// Middle one; of an even number the mean of the middle two.
    pub median_ns: i64,
    /// Longest.
    pub max_ns: i64,
    /// Index of the first of the shortest.
    pub shortest: u32,
    /// Index of the first of the longest.
    pub longest: u32,
    /// Counts by duration, from the shortest to the longest; a bin is as long as the others, or by one factor longer than
    /// the one before when the durations are spread wide.
    pub bins: Vec<HistogramBin>,
    /// What they took of the step that was asked for.
    pub step: Option<StepPart>,
}

impl NameStats {
    /// Of `items` (index and span) with their share of `step` (index and window); `None` of nothing.
    pub fn of(items: impl Iterator<Item = (u32, Span)> + Clone, step: Option<(usize, Span)>) -> Option<Self> {
        let lengths: Vec<i64> = items.clone().map(|(_, span)| span.len_ns()).collect();
        let (min_ns, max_ns) = (*lengths.iter().min()?, *lengths.iter().max()?);
        let first_of = |ns: i64| items.clone().find(|(_, span)| span.len_ns() == ns).map(|(at, _)| at);
        let mut bins = edges(min_ns, max_ns);
        for length in &lengths {
            let bin = bin_of(&bins, *length);
            if let Some(bin) = bins.get_mut(bin) {
                bin.count += 1;
            }
        }
        Some(Self {
            count: lengths.len() as u64,
            total_ns: lengths.iter().fold(0, |sum, ns| ns.saturating_add(sum)),
            min_ns,
            max_ns,
            shortest: first_of(min_ns)?,
            longest: first_of(max_ns)?,
            bins,
            median_ns: median_of(lengths)?,
            step: step.map(|(step, window)| part_of(items, step, window)),
        })
    }

    /// The bin that holds a duration.
    pub fn bin_of(&self, len_ns: i64) -> usize {
        bin_of(&self.bins, len_ns)
    }
}

fn part_of(items: impl Iterator<Item = (u32, Span)>, step: usize, window: Span) -> StepPart {
    let mut part = StepPart { step, count: 0, total_ns: 0, share: None };
    for inside in items.filter_map(|(_, span)| span.intersect(window)) {
        part.count += 1;
        part.total_ns = part.total_ns.saturating_add(inside.len_ns());
    }
    part.share = share(part.total_ns, window.len_ns());
    part
}

/// Empty bins from the shortest to the longest.
fn edges(min_ns: i64, max_ns: i64) -> Vec<HistogramBin> {
    let width_ns = max_ns.saturating_sub(min_ns).saturating_add(1);
    let count = BINS.min(usize::try_from(width_ns).unwrap_or(BINS)).max(1);
    let wide = max_ns / LOG_FROM >= min_ns.max(1);
    let low = min_ns.max(1) as f64;
    let factor = max_ns as f64 / low;
    let edge = |at: usize| {
        let part = at as f64 / count as f64;
        let ns = if wide { low * factor.powf(part) } else { min_ns as f64 + width_ns as f64 * part };
        ns.round() as i64
    };
    let mut starts: Vec<i64> = std::iter::once(min_ns).chain((1..count).map(edge)).collect();
    starts.retain(|ns| (min_ns..=max_ns).contains(ns));
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([max_ns.saturating_add(1)]);
    starts.iter().zip(ends).map(|(from_ns, to_ns)| HistogramBin { from_ns: *from_ns, to_ns, count: 0 }).collect()
}

fn bin_of(bins: &[HistogramBin], len_ns: i64) -> usize {
    bins.partition_point(|bin| bin.from_ns <= len_ns).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_statistics() {
        assert_eq!(NameStats::of(std::iter::empty(), None), None);
    }

    #[test]
    fn durations_that_are_spread_wide_get_bins_that_grow() {
        let of = |lengths: &[i64]| {
            let items = lengths.iter().enumerate().map(|(at, len)| (at as u32, Span::new(0, *len)));
            NameStats::of(items, None).unwrap().bins
        };
        let narrow = of(&[1_000, 1_100, 1_240]);
        assert!(
            narrow
                .windows(2)
                .all(|pair| (pair[1].to_ns - pair[1].from_ns).abs_diff(pair[0].to_ns - pair[0].from_ns) <= 1)
        );
        let wide = of(&[10, 1_000, 1_000_000]);
        assert!(wide[wide.len() - 1].to_ns - wide[wide.len() - 1].from_ns > 100 * (wide[0].to_ns - wide[0].from_ns));
        assert_eq!(of(&[7, 7]), [HistogramBin { from_ns: 7, to_ns: 8, count: 2 }]);
        assert_eq!(of(&[0, i64::MAX]).iter().map(|bin| bin.count).sum::<u64>(), 2);
    }

    proptest! {
        #[test]
        fn the_numbers_are_those_of_brute_force(
            spans in proptest::collection::vec((0_i64..500, 0_i64..400), 1..60),
            start in 0_i64..500,
            len in 0_i64..300,
        ) {
            let spans: Vec<Span> = spans.into_iter().map(|(at, len)| Span::new(at, at + len)).collect();
            let items = spans.iter().enumerate().map(|(at, span)| (at as u32 + 5, *span));
            let window = Span::new(start, start + len);
            let stats = NameStats::of(items, Some((3, window))).unwrap();
            let mut sorted: Vec<i64> = spans.iter().map(|span| span.len_ns()).collect();
            sorted.sort_unstable();
            let middle = (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2;
            prop_assert_eq!((stats.count, stats.total_ns), (spans.len() as u64, sorted.iter().sum::<i64>()));
            prop_assert_eq!((stats.min_ns, stats.median_ns, stats.max_ns), (sorted[0], middle, sorted[sorted.len() - 1]));
            prop_assert_eq!(spans[stats.longest as usize - 5].len_ns(), stats.max_ns);
            prop_assert_eq!(spans[stats.shortest as usize - 5].len_ns(), stats.min_ns);
            for (at, bin) in stats.bins.iter().enumerate() {
                let inside = sorted.iter().filter(|ns| (bin.from_ns..bin.to_ns).contains(*ns)).count();
                prop_assert_eq!(inside as u64, bin.count);
                prop_assert_eq!(stats.bin_of(bin.from_ns), at);
            }
            prop_assert!(stats.bins.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
            prop_assert!(stats.bins.len() <= BINS && stats.bins.iter().map(|bin| bin.count).sum::<u64>() == stats.count);
            let inside = |ns: i64| spans.iter().filter(|span| span.contains(ns)).count() as i64;
            let step = stats.step.unwrap();
            prop_assert_eq!(step.total_ns, (window.start_ns..window.end_ns).map(inside).sum::<i64>());
            prop_assert_eq!(step.count, spans.iter().filter(|span| span.intersect(window).is_some()).count() as u64);
        }
    }
}
