//! Quantities of a rank over time: how busy it was, how deep its queue, how much was copied, and what the GPU's own
//! counters said. Any window is measured by running sums, so a picture costs its columns, not the capture.

mod pyramid;
mod steps;

pub use steps::{Stat, StepSeries};

use super::{Coverage, RankAnalysis};
use crate::trace::{CopyKind, OpKind, Rank, Trace};
use crate::units::Span;
use pyramid::Pyramid;
use std::collections::BTreeSet;

/// Way of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Host to device.
    HostToDevice,
    /// Device to host.
    DeviceToHost,
    /// Within the device.
    DeviceToDevice,
    /// Between devices.
    PeerToPeer,
}

impl Direction {
    /// All of them, in the order of their lanes.
    pub const ALL: [Self; 4] = [Self::HostToDevice, Self::DeviceToHost, Self::DeviceToDevice, Self::PeerToPeer];

    /// The way of a copy; `None` for copies that neither leave nor reach a device.
    pub const fn of(kind: CopyKind) -> Option<Self> {
        match kind {
            CopyKind::HostToDevice | CopyKind::HostToArray | CopyKind::UnifiedHostToDevice => Some(Self::HostToDevice),
            CopyKind::DeviceToHost | CopyKind::ArrayToHost | CopyKind::UnifiedDeviceToHost => Some(Self::DeviceToHost),
            CopyKind::DeviceToDevice
            | CopyKind::ArrayToArray
            | CopyKind::ArrayToDevice
            | CopyKind::DeviceToArray
            | CopyKind::UnifiedDeviceToDevice => Some(Self::DeviceToDevice),
            CopyKind::PeerToPeer => Some(Self::PeerToPeer),
            CopyKind::Unknown | CopyKind::HostToHost => None,
        }
    }
}

/// A quantity over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CounterKind {
    /// Share of time during which anything ran on the GPU.
    Busy,
    /// Share of time during which communication ran.
    Communication,
    /// Launches submitted whose work has not started.
    QueueDepth,
    /// Bytes copied per second.
    Traffic(Direction),
    /// What the GPU's own counters said: index into [`Trace::metrics`].
    Metric(u16),
}

/// What a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Per cent, from 0 to 100.
    Percent,
    /// Launches.
    Launches,
    /// Bytes per second.
    BytesPerSecond,
    /// Whatever the name says.
    Plain,
}

impl CounterKind {
    /// What it counts.
    pub fn unit(self, trace: &Trace) -> Unit {
        match self {
            Self::Busy | Self::Communication => Unit::Percent,
            Self::QueueDepth => Unit::Launches,
            Self::Traffic(_) => Unit::BytesPerSecond,
            Self::Metric(at) => match trace.metrics.get(usize::from(at)) {
                Some(metric) if trace.name(metric.name).contains('%') => Unit::Percent,
                _ => Unit::Plain,
            },
        }
    }
}

/// Which counters rank `rank` has, in the order of their lanes. Costs a pass over its copies.
pub fn counters_of(trace: &Trace, rank: &Rank, numbers: &RankAnalysis) -> Vec<CounterKind> {
    let mut kinds = Vec::new();
    if !rank.ops.is_empty() {
        kinds.push(CounterKind::Busy);
    }
    if !numbers.comm.spans().is_empty() {
        kinds.push(CounterKind::Communication);
    }
    if numbers.launches.whole.as_ref().is_some_and(|sums| sums.launches > 0) {
        kinds.push(CounterKind::QueueDepth);
    }
    let ways: BTreeSet<Direction> = traffic(rank).map(|(way, ..)| way).collect();
    kinds.extend(ways.into_iter().map(CounterKind::Traffic));
    let metrics = trace.metrics.iter().enumerate().filter(|(_, metric)| metric.is_of(rank.gpu));
    kinds.extend(metrics.filter_map(|(at, _)| u16::try_from(at).ok()).map(CounterKind::Metric));
    kinds
}

/// Copies of known size and way: way, span, bytes.
fn traffic(rank: &Rank) -> impl Iterator<Item = (Direction, Span, u64)> + '_ {
    rank.ops.bytes.iter().filter_map(|(op, bytes)| {
        let Some(OpKind::Memcpy(kind)) = rank.ops.kind.get(*op as usize) else { return None };
        let way = Direction::of(*kind)?;
        Some((way, rank.ops.span(*op as usize), *bytes))
    })
}

/// A counter of one rank, summed up.
#[derive(Debug, Default)]
pub struct Counter {
    /// Empty for those that the analysis holds as spans.
    steps: StepSeries,
    pyramid: Pyramid,
    /// Largest value; 100 for per cent.
    pub top: f64,
}

/// The part of time behind one column of a picture, and the value in it.
pub type Column = (Span, Stat);

impl Counter {
    /// Sums up counter `kind` of rank `rank`. Costs a few passes over what it counts.
    pub fn of(trace: &Trace, rank: usize, numbers: &RankAnalysis, kind: CounterKind) -> Self {
        let Some(at) = trace.ranks.get(rank) else { return Self::default() };
        let steps = match kind {
            CounterKind::Busy | CounterKind::Communication => StepSeries::default(),
            CounterKind::QueueDepth => numbers.launches.depth_steps(trace, rank),
            CounterKind::Traffic(way) => bandwidth(at, way, numbers.span),
            CounterKind::Metric(at) => trace.metrics.get(usize::from(at)).map(metric_steps).unwrap_or_default(),
        };
        let mut counter = Self { steps, ..Self::default() };
        let (span, points) = match counter.covered(numbers, kind) {
            Some(coverage) => (numbers.span, coverage.spans().len()),
            None => (counter.steps.span().unwrap_or_default(), counter.steps.len()),
        };
        let mut from = 0;
        counter.pyramid = Pyramid::of(span, points, |window| counter.measure(numbers, kind, window, &mut from));
        counter.top = if kind.unit(trace) == Unit::Percent { 100.0 } else { counter.steps.max() };
        counter
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.steps.bytes() + self.pyramid.bytes()
    }

    fn covered<'a>(&self, numbers: &'a RankAnalysis, kind: CounterKind) -> Option<&'a Coverage> {
        match kind {
            CounterKind::Busy => Some(&numbers.busy),
            CounterKind::Communication => Some(&numbers.comm),
            _ => None,
        }
    }

    /// Least, largest and mean value in `window`. `from` goes with windows that come in order of time.
    fn measure(&self, numbers: &RankAnalysis, kind: CounterKind, window: Span, from: &mut usize) -> Option<Stat> {
        let Some(coverage) = self.covered(numbers, kind) else {
            let (stat, last) = self.steps.within(window, *from);
            *from = last;
            return stat;
        };
        let window = window.intersect(numbers.span).filter(|window| !window.is_empty())?;
        let covered_ns = coverage.within(window);
        let mean = 100.0 * covered_ns as f64 / window.len_ns() as f64;
        let (min, max) =
            (if covered_ns < window.len_ns() { 0.0 } else { 100.0 }, if covered_ns > 0 { 100.0 } else { 0.0 });
        Some(Stat { min, max, mean })
    }

    /// The value during `window`, time of the export.
    pub fn within(&self, numbers: &RankAnalysis, kind: CounterKind, window: Span) -> Option<Stat> {
        self.measure(numbers, kind, window, &mut 0)
    }

    /// The value at `at_ns`.
    pub fn value_at(&self, numbers: &RankAnalysis, kind: CounterKind, at_ns: i64) -> Option<f64> {
        self.within(numbers, kind, Span::new(at_ns, at_ns.saturating_add(1))).map(|stat| stat.mean)
    }

    /// Appends the columns of `bin_ns`, a power of two, that touch `view` and have a value, in order of time.
    ///
    /// Costs one entry a column where a column holds many points, and the logarithm of the points before it else.
    pub fn columns(&self, numbers: &RankAnalysis, kind: CounterKind, view: Span, bin_ns: i64, out: &mut Vec<Column>) {
        let whole = if self.covered(numbers, kind).is_some() { Some(numbers.span) } else { self.steps.span() };
        let Some(view) = whole.and_then(|whole| whole.intersect(view)).filter(|view| !view.is_empty()) else { return };
        let level = self.pyramid.level(bin_ns);
        let mut from = 0;
        for at in view.start_ns.div_euclid(bin_ns)..=(view.end_ns - 1).div_euclid(bin_ns) {
            let window = Span::new(at.saturating_mul(bin_ns), (at + 1).saturating_mul(bin_ns));
            let stat = match level {
                Some(level) => self.pyramid.bin(level, at),
                None => self.measure(numbers, kind, window, &mut from),
            };
            out.extend(stat.map(|stat| (window, stat)));
        }
    }
}

/// Bytes per second of the copies that go `way`: each spreads its bytes evenly over its span, and copies at one time add
/// up. What lies between them is 0.
fn bandwidth(rank: &Rank, way: Direction, span: Span) -> StepSeries {
    let mut changes: Vec<(i64, f64, i32)> = Vec::new();
    for (_, copy, bytes) in traffic(rank).filter(|(own, ..)| *own == way) {
        let rate = bytes as f64 / (copy.len_ns().max(1) as f64) * 1e9;
        changes.push((copy.start_ns, rate, 1));
        changes.push((copy.start_ns + copy.len_ns().max(1), -rate, -1));
    }
    changes.sort_by_key(|(at_ns, ..)| *at_ns);
    let (mut rate, mut running) = (0.0, 0);
    let points = changes.into_iter().map(|(at_ns, change, more)| {
        running += more;
        // Sums of rates leave a rest; nothing running is nothing.
        rate = if running == 0 { 0.0 } else { rate + change };
        (at_ns, rate as f32)
    });
    StepSeries::of(std::iter::once((span.start_ns, 0.0)).chain(points), span.end_ns)
}

fn metric_steps(metric: &crate::trace::Metric) -> StepSeries {
    let points = metric.points.iter().map(|point| {
        let stat = Stat { min: f64::from(point.min), max: f64::from(point.max), mean: f64::from(point.mean) };
        (point.at_ns, stat)
    });
    if metric.is_thinned {
        StepSeries::of_means(points, metric.end_ns)
    } else {
        StepSeries::of(points.map(|(at_ns, stat)| (at_ns, stat.mean as f32)), metric.end_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Classes, Params, Rules};
    use super::*;
    use crate::trace::testing::Fixture;
    use proptest::prelude::*;

    fn numbers(trace: &Trace) -> RankAnalysis {
        RankAnalysis::of(trace, 0, &Classes::of(trace, &Rules::default()), &Params::default())
    }

    fn counter(trace: &Trace, numbers: &RankAnalysis, kind: CounterKind) -> Counter {
        Counter::of(trace, 0, numbers, kind)
    }

    #[test]
    fn a_rank_has_the_counters_that_it_has_something_for() {
        let kinds = |fixture: &mut Fixture| {
            let trace = fixture.build();
            let numbers = numbers(&trace);
            counters_of(&trace, &trace.ranks[0], &numbers)
        };
        assert_eq!(kinds(Fixture::new().kernel("gemm", 7, 0, 10)), [CounterKind::Busy]);
        let mut fixture = Fixture::new();
        fixture.launched("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 7, 11, 0, 5, 10);
        let copy = OpKind::Memcpy(CopyKind::DeviceToHost);
        fixture.gpu_op(copy, "DtoH", 7, 20, 30, None, Some(100));
        let way = CounterKind::Traffic(Direction::DeviceToHost);
        let all = [CounterKind::Busy, CounterKind::Communication, CounterKind::QueueDepth, way];
        assert_eq!(kinds(&mut fixture), all);
    }

    #[test]
    fn copies_at_one_time_add_up_and_keep_their_bytes() {
        let mut fixture = Fixture::new();
        let copy = OpKind::Memcpy(CopyKind::HostToDevice);
        fixture.gpu_op(copy, "HtoD", 7, 100, 200, None, Some(1000));
        fixture.gpu_op(copy, "HtoD", 8, 150, 250, None, Some(3000));
        fixture.gpu_op(copy, "HtoD", 8, 400, 400, None, Some(7));
        let trace = fixture.build();
        let numbers = numbers(&trace);
        let kind = CounterKind::Traffic(Direction::HostToDevice);
        let counter = counter(&trace, &numbers, kind);
        let rate = |at_ns| counter.value_at(&numbers, kind, at_ns).unwrap();
        for (at_ns, wanted) in [(120, 10e9), (170, 40e9), (220, 30e9)] {
            assert!((rate(at_ns) / wanted - 1.0).abs() < 1e-6, "{at_ns}");
        }
        assert_eq!(rate(300), 0.0, "no rest of the sums");
        let mean = counter.within(&numbers, kind, Span::new(100, 300)).unwrap().mean;
        assert!((mean * 200e-9 - 4000.0).abs() < 1e-3);
        assert!((counter.top - 40e9).abs() < 1e4);
    }

    proptest! {
        #[test]
        fn columns_are_what_the_definition_says(
            ops in prop::collection::vec((0_i64..30, 1_i64..40, 0_u8..3), 1..700),
            from in -100_i64..20_000, len in 1_i64..20_000, power in 0_u32..14,
        ) {
            let mut fixture = Fixture::new();
            let mut at = 0;
            for (gap, len, what) in &ops {
                at += gap;
                match what {
                    0 => fixture.launched("gemm", 7, 11, at, at + 1, at + 1 + len),
                    1 => fixture.launched("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 9, 11, at, at + 9, at + 9 + len),
                    _ => fixture.gpu_op(OpKind::Memcpy(CopyKind::HostToDevice), "c", 8, at, at + len, None, Some(64)),
                };
            }
            let trace = fixture.build();
            let numbers = numbers(&trace);
            for kind in counters_of(&trace, &trace.ranks[0], &numbers) {
                let counter = counter(&trace, &numbers, kind);
                let mut columns = Vec::new();
                counter.columns(&numbers, kind, Span::new(from, from + len), 1 << power, &mut columns);
                for pair in columns.windows(2) {
                    prop_assert!(pair[0].0.end_ns <= pair[1].0.start_ns);
                }
                for (window, stat) in columns {
                    prop_assert_eq!(window.start_ns.rem_euclid(1 << power), 0);
                    let exact = counter.within(&numbers, kind, window).unwrap();
                    prop_assert!((stat.mean - exact.mean).abs() <= 1e-6 * exact.max.max(1.0), "{stat:?} {exact:?}");
                    prop_assert_eq!((stat.min, stat.max), (exact.min, exact.max));
                    prop_assert!(stat.min <= stat.mean + 1e-6 * stat.max && stat.mean <= stat.max * (1.0 + 1e-6));
                }
            }
        }
    }
}
