//! A value over time that changes in steps.

use crate::analysis::gallop::gallop;
use crate::units::Span;

/// Points summed up in one block.
const BLOCK: usize = 64;

/// The least, the most and the mean of a value during some time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stat {
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Mean over time.
    pub mean: f64,
}

/// A value that holds from one point to the next; before the first point there is none.
///
/// Cost: 12 bytes a point, 20 when points have a least and a largest value of their own, and half a byte for the sums.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepSeries {
    at_ns: Vec<i64>,
    value: Vec<f32>,
    /// Least and largest value behind each point, where points are means; else empty.
    spread: Vec<(f32, f32)>,
    end_ns: i64,
    /// Least, largest value and area before each block.
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Block {
    min: f32,
    max: f32,
    /// Value times nanoseconds of the blocks before.
    area: f64,
}

impl StepSeries {
    /// The series through `points` of time and value, in order of time; it ends at `end_ns`. Of points at one time the
    /// last one counts.
    pub fn of(points: impl IntoIterator<Item = (i64, f32)>, end_ns: i64) -> Self {
        let mut series = Self { end_ns, ..Self::default() };
        for (at_ns, value) in points {
            match (series.at_ns.last(), series.value.last_mut()) {
                (Some(last), Some(held)) if *last >= at_ns => *held = value,
                (_, Some(held)) if *held == value => {}
                _ => {
                    series.at_ns.push(at_ns);
                    series.value.push(value);
                }
            }
        }
        series.summed()
    }

    /// The series of means, each with the least and largest value behind it.
    pub fn of_means(points: impl IntoIterator<Item = (i64, Stat)>, end_ns: i64) -> Self {
        let mut series = Self { end_ns, ..Self::default() };
        for (at_ns, stat) in points {
            if series.at_ns.last().is_none_or(|last| *last < at_ns) {
                series.at_ns.push(at_ns);
                series.value.push(stat.mean as f32);
                series.spread.push((stat.min as f32, stat.max as f32));
            }
        }
        series.summed()
    }

    fn summed(mut self) -> Self {
        self.at_ns.shrink_to_fit();
        self.value.shrink_to_fit();
        self.end_ns = self.end_ns.max(self.at_ns.last().copied().unwrap_or(self.end_ns));
        let (mut area, mut blocks) = (0.0, Vec::with_capacity(self.at_ns.len() / BLOCK + 1));
        for start in (0..self.at_ns.len()).step_by(BLOCK) {
            let mut block = Block { min: f32::INFINITY, max: f32::NEG_INFINITY, area };
            for at in start..(start + BLOCK).min(self.at_ns.len()) {
                let (min, max) = self.spread_of(at);
                (block.min, block.max) = (block.min.min(min), block.max.max(max));
                area += self.area_of(at, self.span_of(at));
            }
            blocks.push(block);
        }
        blocks.push(Block { min: 0.0, max: 0.0, area });
        self.blocks = blocks;
        self
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.at_ns.len()
    }

    /// True without any point.
    pub fn is_empty(&self) -> bool {
        self.at_ns.is_empty()
    }

    /// From the first point to the end.
    pub fn span(&self) -> Option<Span> {
        Some(Span::new(*self.at_ns.first()?, self.end_ns))
    }

    /// Largest value of all.
    pub fn max(&self) -> f64 {
        let blocks = self.blocks.split_last().map_or(&[][..], |(_, blocks)| blocks);
        blocks.iter().map(|block| f64::from(block.max)).fold(0.0, f64::max)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.at_ns.len() * (size_of::<i64>() + size_of::<f32>())
            + self.spread.len() * size_of::<(f32, f32)>()
            + self.blocks.len() * size_of::<Block>()
    }

    /// The value at `at_ns`.
    pub fn value_at(&self, at_ns: i64) -> Option<f64> {
        let at = self.at_ns.partition_point(|start| *start <= at_ns).checked_sub(1)?;
        self.value.get(at).filter(|_| at_ns < self.end_ns).map(|value| f64::from(*value))
    }

    /// Least, largest and mean value in `window`, and the last point that it reaches; `from` is a point at or before its
    /// start, such as the last one of the window before. `None` where there is no value.
    ///
    /// The mean is that of the part of `window` that has values. Costs the logarithm of the points in the window, and a
    /// 64th of them.
    pub fn within(&self, window: Span, from: usize) -> (Option<Stat>, usize) {
        let Some(window) = self.span().and_then(|span| span.intersect(window)) else { return (None, from) };
        let first = self.after(window.start_ns, from).saturating_sub(1);
        let last = self.at_ns_before(window.end_ns, first);
        let (mut min, mut max, mut area) = (f32::INFINITY, f32::NEG_INFINITY, 0.0);
        let mut at = first;
        while at <= last {
            let block = at / BLOCK;
            let whole = at.is_multiple_of(BLOCK) && at + BLOCK <= last && at > first;
            match (self.blocks.get(block), self.blocks.get(block + 1)) {
                (Some(own), Some(next)) if whole => {
                    (min, max) = (min.min(own.min), max.max(own.max));
                    area += next.area - own.area;
                    at += BLOCK;
                }
                _ => {
                    let spread = self.spread_of(at);
                    (min, max) = (min.min(spread.0), max.max(spread.1));
                    area += self.area_of(at, self.span_of(at).intersect(window).unwrap_or_default());
                    at += 1;
                }
            }
        }
        let stat = Stat { min: f64::from(min), max: f64::from(max), mean: area / window.len_ns().max(1) as f64 };
        (Some(stat), last)
    }

    /// Number of points at or before `at_ns`, of which `from` usually is one.
    fn after(&self, at_ns: i64, from: usize) -> usize {
        let is_before = |start: i64| start <= at_ns;
        match self.at_ns.get(from) {
            Some(start) if is_before(*start) => gallop(&self.at_ns, from, is_before),
            _ => self.at_ns.partition_point(|start| is_before(*start)),
        }
    }

    /// The last point before `at_ns`.
    fn at_ns_before(&self, at_ns: i64, from: usize) -> usize {
        self.after(at_ns.saturating_sub(1), from).saturating_sub(1).max(from)
    }

    fn span_of(&self, at: usize) -> Span {
        let start_ns = self.at_ns.get(at).copied().unwrap_or(self.end_ns);
        Span::new(start_ns, self.at_ns.get(at + 1).copied().unwrap_or(self.end_ns))
    }

    fn spread_of(&self, at: usize) -> (f32, f32) {
        let value = self.value.get(at).copied().unwrap_or(0.0);
        self.spread.get(at).copied().unwrap_or((value, value))
    }

    fn area_of(&self, at: usize, span: Span) -> f64 {
        self.value.get(at).map_or(0.0, |value| f64::from(*value) * span.len_ns() as f64)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the definition says, a nanosecond at a time.
    pub fn brute(points: &[(i64, f32)], end_ns: i64, window: Span) -> Option<Stat> {
        let mut held = points.iter().peekable();
        let mut value = None;
        let mut values: Vec<f64> = Vec::new();
        for ns in window.start_ns..window.end_ns.min(end_ns) {
            while let Some((_, next)) = held.next_if(|(start, _)| *start <= ns) {
                value = Some(f64::from(*next));
            }
            values.extend(value);
        }
        let fold = |f: fn(f64, f64) -> f64| values.iter().copied().reduce(f);
        Some(Stat {
            min: fold(f64::min)?,
            max: fold(f64::max)?,
            mean: values.iter().sum::<f64>() / values.len() as f64,
        })
    }

    pub fn points() -> impl Strategy<Value = Vec<(i64, f32)>> {
        prop::collection::vec((0_i64..4, 0_i32..9), 1..400).prop_map(|steps| {
            let mut at_ns = 0;
            let point = |(gap, value): (i64, i32)| {
                at_ns += gap;
                (at_ns, value as f32)
            };
            steps.into_iter().map(point).collect()
        })
    }

    proptest! {
        #[test]
        fn a_window_is_what_counting_every_nanosecond_gives(points in points(), from in -5_i64..900, len in 1_i64..900, more in 0_i64..20, guess in 0_usize..400) {
            let end_ns = points.last().unwrap().0 + more;
            let series = StepSeries::of(points.iter().copied(), end_ns);
            let window = Span::new(from, from + len);
            let (found, last) = series.within(window, 0);
            prop_assert_eq!(found, brute(&points, end_ns, window));
            prop_assert_eq!(series.within(window, guess.min(last)).0, found, "from any point before");
            prop_assert_eq!(series.value_at(from), brute(&points, end_ns, Span::new(from, from + 1)).map(|stat| stat.mean));
        }
    }

    #[test]
    fn nothing_has_no_value() {
        let empty = StepSeries::of([], 10);
        assert_eq!((empty.within(Span::new(0, 10), 0).0, empty.value_at(5), empty.max()), (None, None, 0.0));
    }
}
