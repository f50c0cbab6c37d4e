//! How one rank's arrivals at matched collectives differ from another's, along time.

use super::Job;
use crate::units::Span;

/// Bars start at this, however sure the clock: below it ranks start together.
const FLOOR_NS: i64 = 1_000;

/// One matched collective on two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The rank's operation.
    pub op: u32,
    /// Its span on its export's clock.
    pub span: Span,
    /// Its start - the other's start in job time: positive when the rank arrived later.
    pub later_ns: i64,
    /// Its duration - the other's: negative when the other's took longer.
    pub longer_ns: i64,
}

/// All matched collectives of two ranks, by start on the first rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strip {
    /// The collectives.
    pub differences: Vec<Difference>,
    /// How far the two clocks may be off each other; `None` when it is not known.
    pub uncertainty_ns: Option<i64>,
    /// The largest difference of arrival, either way.
    pub most_ns: i64,
    /// Longest collective on the rank: how far back one may start that is still running.
    longest_ns: i64,
}

/// Differences that are drawn as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StripBar {
    /// From the first to the last of them, on the rank's clock.
    pub span: Span,
    /// How many.
    pub count: u32,
    /// The one whose arrival differs most.
    pub most: Difference,
    /// By how much the rank was later at most; 0 when it never was.
    pub later_ns: i64,
    /// By how much it was earlier at most; 0 when it never was.
    pub earlier_ns: i64,
    /// By how much its kernel took longer at most; 0 when it never did.
    pub longer_ns: i64,
    /// By how much the other's kernel took longer at most; 0 when it never did.
    pub shorter_ns: i64,
}

impl Strip {
    /// The collectives that ranks `rank` and `other` (indices into [`Job::ranks`]) both took part in.
    pub fn of(job: &Job, rank: usize, other: usize) -> Self {
        let mut strip = Self::default();
        let export = |rank: usize| job.ranks.get(rank).map(|rank| rank.at.export);
        strip.uncertainty_ns = export(rank).zip(export(other)).and_then(|(a, b)| job.clock.uncertainty_ns(a, b));
        let (own_map, other_map) = (job.map(rank), job.map(other));
        for group in &job.groups {
            let member = |rank: usize| group.members.iter().find(|member| member.rank == rank);
            let (Some(own), Some(beside)) = (member(rank), member(other)) else { continue };
            let (Some(of_own), Some(of_other)) = (job.summary(rank), job.summary(other)) else { continue };
            let Some(kernels) = of_own.comm.get(own.group) else { continue };
            let difference = |at: usize| {
                let (a, b) = (group.span(of_own, own, at)?, group.span(of_other, beside, at)?);
                Some(Difference {
                    op: *kernels.op.get(own.first.checked_add(at)?)?,
                    span: a,
                    later_ns: own_map.to_job(a.start_ns).saturating_sub(other_map.to_job(b.start_ns)),
                    longer_ns: a.len_ns().saturating_sub(b.len_ns()),
                })
            };
            strip.differences.extend((0..group.count).filter_map(difference));
        }
        strip.differences.sort_unstable_by_key(|d| (d.span.start_ns, d.op));
        strip.most_ns = strip.differences.iter().map(|d| d.later_ns.saturating_abs()).max().unwrap_or(0);
        strip.longest_ns = strip.differences.iter().map(|d| d.span.len_ns()).max().unwrap_or(0);
        strip
    }

    /// Differences up to this are none, as far as the clock can tell.
    pub fn floor_ns(&self) -> i64 {
        self.uncertainty_ns.unwrap_or(0).max(FLOOR_NS)
    }

    /// Height of a difference from 0 to 1 by its logarithm; 0 up to [`Strip::floor_ns`].
    pub fn height(&self, ns: i64) -> f64 {
        let floor = self.floor_ns() as f64;
        let decades = |ns: i64| (ns.saturating_abs() as f64 / floor).log10().max(0.0);
        // A scale of less than a decade would make little things look large.
        decades(ns) / decades(self.most_ns).max(1.0)
    }

    /// What to draw in `view` (time of the rank's export), from left to right: a collective of at least `bin_ns` alone,
    /// neighbours within a bin of that length as one. Costs what is visible.
    pub fn bars(&self, view: Span, bin_ns: i64) -> Vec<StripBar> {
        let bin_ns = bin_ns.max(1);
        let from_ns = view.start_ns.saturating_sub(self.longest_ns).saturating_sub(bin_ns);
        let until_ns = view.end_ns.saturating_add(bin_ns);
        let first = self.differences.partition_point(|d| d.span.start_ns < from_ns);
        let last = self.differences.partition_point(|d| d.span.start_ns < until_ns);
        let mut bars: Vec<(Option<i64>, StripBar)> = Vec::new();
        for difference in self.differences.get(first..last).unwrap_or_default() {
            let narrow = difference.span.len_ns() < bin_ns;
            let bin = narrow.then(|| difference.span.start_ns.div_euclid(bin_ns));
            let own = StripBar::of(*difference);
            match bars.last_mut() {
                Some((last, bar)) if bin.is_some() && *last == bin => bar.add(&own),
                _ => bars.push((bin, own)),
            }
        }
        bars.into_iter().map(|(_, bar)| bar).filter(|bar| bar.span.end_ns >= view.start_ns).collect()
    }
}

impl StripBar {
    fn of(own: Difference) -> Self {
        Self {
            span: own.span,
            count: 1,
            most: own,
            later_ns: own.later_ns.max(0),
            earlier_ns: own.later_ns.saturating_neg().max(0),
            longer_ns: own.longer_ns.max(0),
            shorter_ns: own.longer_ns.saturating_neg().max(0),
        }
    }

    fn add(&mut self, other: &Self) {
        self.span = self.span.hull(other.span);
        self.count += other.count;
        if other.most.later_ns.saturating_abs() > self.most.later_ns.saturating_abs() {
            self.most = other.most;
        }
        self.later_ns = self.later_ns.max(other.later_ns);
        self.earlier_ns = self.earlier_ns.max(other.earlier_ns);
        self.longer_ns = self.longer_ns.max(other.longer_ns);
        self.shorter_ns = self.shorter_ns.max(other.shorter_ns);
    }
}

impl Job {
    /// True when ranks `a` and `b` took part in a matched collective together.
    pub fn share_collectives(&self, a: usize, b: usize) -> bool {
        let holds = |rank: usize, group: &super::Group| group.members.iter().any(|member| member.rank == rank);
        self.groups.iter().any(|group| group.count > 0 && holds(a, group) && holds(b, group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip() -> Strip {
        let difference = |at: i64| Difference {
            op: at as u32,
            span: Span::new(at * 10, at * 10 + if at % 10 == 0 { 900 } else { 4 }),
            later_ns: (at % 7 - 3) * 20_000,
            longer_ns: at % 5 - 2,
        };
        Strip {
            differences: (0..200).map(difference).collect(),
            uncertainty_ns: Some(2_000),
            most_ns: 60_000,
            longest_ns: 900,
        }
    }

    #[test]
    fn bars_hold_every_difference_once_and_its_extremes() {
        let strip = strip();
        for bin_ns in [1, 64, 512] {
            let bars = strip.bars(Span::new(0, 3_000), bin_ns);
            assert_eq!(bars.iter().map(|bar| bar.count).sum::<u32>(), 200, "{bin_ns}");
            assert_eq!(bars.iter().map(|bar| bar.later_ns).max(), Some(60_000));
            assert_eq!(bars.iter().map(|bar| bar.earlier_ns).max(), Some(60_000));
            assert_eq!(bars.iter().map(|bar| bar.longer_ns).max(), Some(2));
            assert_eq!(bars.iter().map(|bar| bar.shorter_ns).max(), Some(2));
            let alone = bars.iter().filter(|bar| bar.count == 1 && bar.span.len_ns() == 900).count();
            assert_eq!(alone, 20, "long ones stand alone");
        }
        assert!(strip.bars(Span::new(0, 3_000), 512).len() < 60);
    }

    #[test]
    fn a_long_one_that_began_before_the_view_is_in_it() {
        let bars = strip().bars(Span::new(850, 860), 1);
        assert!(bars.iter().any(|bar| bar.span == Span::new(0, 900)));
        assert!(bars.iter().all(|bar| bar.span.end_ns >= 850));
    }

    #[test]
    fn heights_are_logarithms_above_what_the_clock_can_tell() {
        let strip = strip();
        assert!(strip.height(2_000) == 0.0 && strip.height(-1_000) == 0.0);
        assert!((strip.height(60_000) - 1.0).abs() < 1e-9 && (strip.height(-60_000) - 1.0).abs() < 1e-9);
        assert!((strip.height(20_000) - 1.0 / 30_f64.log10()).abs() < 1e-9);
    }
}
