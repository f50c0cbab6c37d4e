//! How one rank's work differs from another's, along time: its arrivals at matched collectives, or all it ran in its
//! steps.

use super::Job;
use crate::analysis::Analysis;
use crate::trace::Trace;
use crate::units::Span;
use std::sync::Arc;

/// So many neighbours are drawn as one where they are narrow.
const BLOCK: usize = 32;
/// Bars start at this, however sure the clock: below it ranks start together.
const FLOOR_NS: i64 = 1_000;

/// A matched collective, or the same operation, on two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The rank's operation.
    pub op: u32,
    /// Its span on its export's clock.
    pub span: Span,
    /// Its start - the other's start, in job time or each from the start of its step: positive when the rank's is later.
    pub later_ns: i64,
    /// Its duration - the other's: negative when the other's took longer.
    pub longer_ns: i64,
}

/// What two ranks, and starts on them, are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartBasis {
    /// Matched collectives, by their starts in job time.
    #[default]
    Arrival,
    /// All operations, by name and place in the steps of one number, by their starts from that of the step: what can be
    /// said of two runs, which share no clock.
    InStep,
}

/// How much later one of two things started than the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Later {
    /// How much; negative is earlier.
    pub ns: i64,
    /// What the starts are counted by.
    pub basis: StartBasis,
    /// How far off it may be, by [`StartBasis::Arrival`]; `None` when it is not known.
    pub uncertainty_ns: Option<i64>,
}

/// The same work of two ranks, by start on the first rank.
#[derive(Debug, Clone, Default)]
pub struct Strip {
    /// What they are compared by.
    pub basis: StartBasis,
    /// How far the two clocks may be off each other; `None` when it is not known.
    pub uncertainty_ns: Option<i64>,
    /// The largest difference of start, either way.
    pub most_ns: i64,
    work: Work,
    /// Of [`BLOCK`] neighbours each.
    blocks: Vec<Block>,
    /// The longest operation on the rank: how far back one may start that is still running.
    longest_ns: i64,
}

/// Where differences come from.
#[derive(Debug, Clone)]
enum Work {
    Held(Vec<Difference>),
    /// Pairs of operations of two sides: what differs is looked up, for there may be millions.
    Pairs(Vec<[u32; 2]>, [StripSide; 2]),
}

impl Default for Work {
    fn default() -> Self {
        Self::Held(Vec::new())
    }
}

impl Work {
    fn len(&self) -> usize {
        match self {
            Self::Held(differences) => differences.len(),
            Self::Pairs(pairs, _) => pairs.len(),
        }
    }

    fn get(&self, at: usize) -> Option<Difference> {
        match self {
            Self::Held(differences) => differences.get(at).copied(),
            Self::Pairs(pairs, [own, other]) => {
                let [op, beside] = *pairs.get(at)?;
                let (span, other_span) = (own.span(op)?, other.span(beside)?);
                Some(Difference {
                    op,
                    span,
                    later_ns: own.in_step_ns(span)?.saturating_sub(other.in_step_ns(other_span)?),
                    longer_ns: span.len_ns().saturating_sub(other_span.len_ns()),
                })
            }
        }
    }

    /// How many start before `ns`.
    fn before(&self, ns: i64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle).is_some_and(|difference| difference.span.start_ns < ns) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// A rank of which all operations are compared.
#[derive(Debug, Clone)]
pub struct StripSide {
    /// The capture.
    pub trace: Arc<Trace>,
    /// Its numbers, with the steps.
    pub analysis: Arc<Analysis>,
    /// The rank in it.
    pub rank: usize,
}

impl StripSide {
    fn span(&self, op: u32) -> Option<Span> {
        let ops = &self.trace.ranks.get(self.rank)?.ops;
        Some(Span::new(*ops.start_ns.get(op as usize)?, *ops.end_ns.get(op as usize)?))
    }

    /// How long after the start of its step something started.
    fn in_step_ns(&self, span: Span) -> Option<i64> {
        self.analysis.ranks.get(self.rank)?.steps.as_ref()?.in_step_ns(span.start_ns)
    }
}

/// Neighbours that are drawn as one where they are narrow.
#[derive(Debug, Clone, Copy)]
struct Block {
    bar: StripBar,
    /// The longest among them.
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
        let export = |rank: usize| job.ranks.get(rank).map(|rank| rank.at.export);
        let uncertainty_ns = export(rank).zip(export(other)).and_then(|(a, b)| job.clock.uncertainty_ns(a, b));
        let (own_map, other_map) = (job.map(rank), job.map(other));
        let mut differences: Vec<Difference> = Vec::new();
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
            differences.extend((0..group.count).filter_map(difference));
        }
        differences.sort_unstable_by_key(|d| (d.span.start_ns, d.op));
        Self { uncertainty_ns, ..Self::new(StartBasis::Arrival, Work::Held(differences)) }
    }

    /// `pairs` of operations of two sides, in any order. Those that are in no step are left out. Costs 8 bytes a pair, and
    /// about 3 more for what is drawn from afar.
    pub fn of_pairs(mut pairs: Vec<[u32; 2]>, sides: [StripSide; 2]) -> Self {
        let [own, other] = &sides;
        pairs.retain(|[a, b]| {
            let in_step = |side: &StripSide, op: u32| side.span(op).and_then(|span| side.in_step_ns(span)).is_some();
            in_step(own, *a) && in_step(other, *b)
        });
        // Operations are in the order of their starts.
        pairs.sort_unstable();
        pairs.shrink_to_fit();
        Self::new(StartBasis::InStep, Work::Pairs(pairs, sides))
    }

    fn new(basis: StartBasis, work: Work) -> Self {
        let starts = (0..work.len()).step_by(BLOCK);
        let block = |from: usize| {
            let mut own = (from..from.saturating_add(BLOCK)).map_while(|at| work.get(at));
            let first = own.next()?;
            let block = Block { bar: StripBar::of(first), longest_ns: first.span.len_ns() };
            Some(own.fold(block, |mut block, difference| {
                block.bar.add(&StripBar::of(difference));
                Block { longest_ns: block.longest_ns.max(difference.span.len_ns()), ..block }
            }))
        };
        let blocks: Vec<Block> = starts.filter_map(block).collect();
        let most_ns = blocks.iter().map(|block| block.bar.later_ns.max(block.bar.earlier_ns)).max().unwrap_or(0);
        let longest_ns = blocks.iter().map(|block| block.longest_ns).max().unwrap_or(0);
        Self { basis, uncertainty_ns: None, most_ns, work, blocks, longest_ns }
    }

    /// How many pieces of work are compared.
    pub fn len(&self) -> usize {
        self.work.len()
    }

    /// True when the two ranks have no work in common.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All differences, by start on the rank.
    pub fn iter(&self) -> impl Iterator<Item = Difference> {
        (0..self.len()).filter_map(|at| self.work.get(at))
    }

    /// How much later `difference` started on the rank.
    pub const fn later(&self, difference: &Difference) -> Later {
        Later { ns: difference.later_ns, basis: self.basis, uncertainty_ns: self.uncertainty_ns }
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

    /// What to draw in `view` (time of the rank's export), from left to right: an operation of at least `bin_ns` alone,
    /// neighbours within a bin of that length as one. Costs what is visible.
    pub fn bars(&self, view: Span, bin_ns: i64) -> Vec<StripBar> {
        let bin_ns = bin_ns.max(1);
        let first = self.work.before(view.start_ns.saturating_sub(self.longest_ns).saturating_sub(bin_ns));
        let last = self.work.before(view.end_ns.saturating_add(bin_ns));
        let mut bars = Bars { bin_ns, bars: Vec::new() };
        for (at, block) in self.blocks.iter().enumerate().take(last.div_ceil(BLOCK)).skip(first / BLOCK) {
            if block.longest_ns < bin_ns && block.bar.span.len_ns() < bin_ns {
                bars.add(block.bar, true);
                continue;
            }
            let own = (at * BLOCK..(at + 1) * BLOCK).filter_map(|at| self.work.get(at));
            own.for_each(|difference| bars.add(StripBar::of(difference), difference.span.len_ns() < bin_ns));
        }
        bars.bars.into_iter().map(|(_, bar)| bar).filter(|bar| bar.span.end_ns >= view.start_ns).collect()
    }
}

/// Bars as they are put together.
struct Bars {
    bin_ns: i64,
    /// The bin of each that others may join.
    bars: Vec<(Option<i64>, StripBar)>,
}

impl Bars {
    fn add(&mut self, own: StripBar, narrow: bool) {
        let bin = narrow.then(|| own.span.start_ns.div_euclid(self.bin_ns));
        match self.bars.last_mut() {
            Some((last, bar)) if bin.is_some() && *last == bin => bar.add(&own),
            _ => self.bars.push((bin, own)),
        }
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

    fn differences(count: i64) -> Vec<Difference> {
        let difference = |at: i64| Difference {
            op: at as u32,
            span: Span::new(at * 10, at * 10 + if at % 10 == 0 { 900 } else { 4 }),
            later_ns: (at % 7 - 3) * 20_000,
            longer_ns: at % 5 - 2,
        };
        (0..count).map(difference).collect()
    }

    fn strip() -> Strip {
        Strip { uncertainty_ns: Some(2_000), ..Strip::new(StartBasis::Arrival, Work::Held(differences(200))) }
    }

    #[test]
    fn bars_hold_every_difference_once_and_its_extremes() {
        let strip = strip();
        assert_eq!((strip.len(), strip.most_ns, strip.longest_ns), (200, 60_000, 900));
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
    fn from_afar_blocks_stand_for_their_differences_and_few_are_looked_at() {
        let many: Vec<Difference> =
            differences(40_000).into_iter().filter(|difference| difference.span.len_ns() < 900).collect();
        let strip = Strip::new(StartBasis::Arrival, Work::Held(many.clone()));
        for bin_ns in [7, 333, 5_000, 1 << 40] {
            let bars = strip.bars(Span::new(0, 400_000), bin_ns);
            assert_eq!(bars.iter().map(|bar| bar.count as usize).sum::<usize>(), many.len(), "{bin_ns}");
            for bar in &bars {
                let within =
                    many.iter().filter(|d| bar.span.start_ns <= d.span.start_ns && d.span.end_ns <= bar.span.end_ns);
                let own: Vec<&Difference> = within.collect();
                assert_eq!(own.len(), bar.count as usize, "all that lies in it, and nothing else");
                assert_eq!(own.iter().map(|d| d.later_ns.max(0)).max(), Some(bar.later_ns));
                assert_eq!(own.iter().map(|d| d.longer_ns.max(0)).max(), Some(bar.longer_ns));
            }
        }
        assert!(strip.bars(Span::new(0, 400_000), 5_000).len() <= 400_000 / 5_000 + 1);
        let middle = strip.bars(Span::new(200_000, 201_000), 333);
        assert!(middle.iter().all(|bar| (199_000..202_000).contains(&bar.span.start_ns)) && !middle.is_empty());
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
