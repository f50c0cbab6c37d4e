//! What the counters of a GPU said while the capture ran.

use super::NameId;

/// Values kept of one counter, at most: more are thinned to this many means, each with its least and largest value.
pub const METRIC_POINTS: usize = 1 << 15;

/// One counter of one GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name, as the file spells it.
    pub name: NameId,
    /// Index into [`super::Trace::gpus`], when the file tells.
    pub gpu: Option<usize>,
    /// Its values in order of time; each holds until the next.
    pub points: Vec<MetricPoint>,
    /// Until when the last one holds.
    pub end_ns: i64,
    /// True when a point stands for several samples.
    pub is_thinned: bool,
    /// Samples in the file.
    pub samples: u64,
}

impl Metric {
    /// True when it may be a counter of card `gpu`: when either is not known, it is taken for it.
    pub fn is_of(&self, gpu: Option<usize>) -> bool {
        self.gpu.is_none() || gpu.is_none() || self.gpu == gpu
    }
}

/// A value of a counter, or several that stand close together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricPoint {
    /// Time of the first.
    pub at_ns: i64,
    /// Least value.
    pub min: f32,
    /// Largest value.
    pub max: f32,
    /// Mean value.
    pub mean: f32,
}

/// Gathers the samples of one counter in bounded memory, in whatever order they come.
#[derive(Debug)]
pub struct MetricSamples {
    /// The samples themselves, while there are few.
    few: Vec<(i64, i64)>,
    /// Sums by part of the time, once there are many.
    bins: Vec<MetricBin>,
    start_ns: i64,
    bin_ns: i64,
    last_ns: i64,
    samples: u64,
}

#[derive(Debug, Clone, Copy)]
struct MetricBin {
    first_ns: i64,
    min: i64,
    max: i64,
    sum: i128,
    count: u64,
}

impl MetricSamples {
    /// Gathers samples between `start_ns` and `end_ns`; others count with the nearest.
    pub fn new(start_ns: i64, end_ns: i64) -> Self {
        let bin_ns = end_ns.saturating_sub(start_ns).max(1) / METRIC_POINTS as i64 + 1;
        Self { few: Vec::new(), bins: Vec::new(), start_ns, bin_ns, last_ns: i64::MIN, samples: 0 }
    }

    /// Takes one sample.
    pub fn add(&mut self, at_ns: i64, value: i64) {
        self.samples += 1;
        self.last_ns = self.last_ns.max(at_ns);
        if self.bins.is_empty() && self.few.len() < METRIC_POINTS {
            self.few.push((at_ns, value));
            return;
        }
        if self.bins.is_empty() {
            let empty = MetricBin { first_ns: i64::MAX, min: i64::MAX, max: i64::MIN, sum: 0, count: 0 };
            self.bins = vec![empty; METRIC_POINTS];
            for (at_ns, value) in std::mem::take(&mut self.few) {
                self.add_to_bin(at_ns, value);
            }
        }
        self.add_to_bin(at_ns, value);
    }

    fn add_to_bin(&mut self, at_ns: i64, value: i64) {
        let at = at_ns.saturating_sub(self.start_ns).max(0) / self.bin_ns;
        let at = (at as usize).min(METRIC_POINTS - 1);
        if let Some(bin) = self.bins.get_mut(at) {
            bin.first_ns = bin.first_ns.min(at_ns);
            (bin.min, bin.max) = (bin.min.min(value), bin.max.max(value));
            bin.sum += i128::from(value);
            bin.count += 1;
        }
    }

    /// The counter `name` of card `gpu`; `None` without any sample.
    pub fn finish(mut self, name: NameId, gpu: Option<usize>) -> Option<Metric> {
        if self.samples == 0 {
            return None;
        }
        let is_thinned = !self.bins.is_empty();
        let points: Vec<MetricPoint> = if is_thinned {
            let of = |bin: &MetricBin| MetricPoint {
                at_ns: bin.first_ns,
                min: bin.min as f32,
                max: bin.max as f32,
                mean: (bin.sum as f64 / bin.count as f64) as f32,
            };
            self.bins.iter().filter(|bin| bin.count > 0).map(of).collect()
        } else {
            self.few.sort_unstable();
            let of = |(at_ns, value): &(i64, i64)| {
                let value = *value as f32;
                MetricPoint { at_ns: *at_ns, min: value, max: value, mean: value }
            };
            self.few.iter().map(of).collect()
        };
        // The last value holds as long as values usually do.
        let first_ns = points.first().map_or(self.last_ns, |point| point.at_ns);
        let usual_ns = (self.last_ns.saturating_sub(first_ns)) / (self.samples.max(2) as i64 - 1);
        let end_ns = self.last_ns.saturating_add(usual_ns.max(1));
        Some(Metric { name, gpu, points, end_ns, is_thinned, samples: self.samples })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gathered(samples: &[(i64, i64)], span: (i64, i64)) -> Metric {
        let mut all = MetricSamples::new(span.0, span.1);
        samples.iter().for_each(|(at, value)| all.add(*at, *value));
        all.finish(NameId::EMPTY, Some(0)).unwrap()
    }

    #[test]
    fn few_samples_are_kept_in_order_of_time() {
        let metric = gathered(&[(30, 5), (10, 7), (20, 1)], (10, 30));
        let points: Vec<(i64, f32)> = metric.points.iter().map(|p| (p.at_ns, p.mean)).collect();
        assert_eq!((points, metric.end_ns, metric.is_thinned), (vec![(10, 7.0), (20, 1.0), (30, 5.0)], 40, false));
        assert_eq!(MetricSamples::new(0, 10).finish(NameId::EMPTY, None), None);
        assert!(metric.is_of(Some(0)) && metric.is_of(None) && !metric.is_of(Some(1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn many_samples_take_bounded_room_and_keep_extremes_and_sum(seed in 0_i64..1000, step in 1_i64..50) {
            let count = METRIC_POINTS as i64 * 3 + seed;
            let samples: Vec<(i64, i64)> = (0..count).map(|n| (n * step, (n * 7919 + seed) % 101)).collect();
            let metric = gathered(&samples, (0, count * step));
            prop_assert!(metric.is_thinned && metric.points.len() <= METRIC_POINTS);
            prop_assert_eq!(metric.samples, count as u64);
            let least = metric.points.iter().map(|p| p.min).fold(f32::MAX, f32::min);
            let most = metric.points.iter().map(|p| p.max).fold(f32::MIN, f32::max);
            prop_assert_eq!((least, most), (0.0, 100.0));
            for pair in metric.points.windows(2) {
                let own: Vec<i64> = samples.iter().skip((pair[0].at_ns / step) as usize).take_while(|(at, _)| *at < pair[1].at_ns).map(|(_, v)| *v).collect();
                prop_assert_eq!(pair[0].min as i64, *own.iter().min().unwrap());
                prop_assert_eq!(pair[0].max as i64, *own.iter().max().unwrap());
                let mean = own.iter().sum::<i64>() as f64 / own.len() as f64;
                prop_assert!((f64::from(pair[0].mean) - mean).abs() < 1e-3);
            }
        }
    }
}
