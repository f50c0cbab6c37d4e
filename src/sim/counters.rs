//! Samples of a card's own counters, made from what ran on it.

use super::record::Batch;
use crate::nsys::write::{MetricNameRow, MetricRow};

/// Upper part of the number of the type that samples of a card have; the lowest byte is the card.
const TYPE: i64 = 0x1_0000_0000_0000 | 8 << 16;
/// Bytes per second that one direction of the bus carries.
const BUS_BYTES_PER_S: f64 = 25e9;
/// Clock of a busy and of an idle card.
const CLOCK_MHZ: (f64, f64) = (1410.0, 1155.0);
/// How CUPTI numbers copies from host to device and back.
const TO_DEVICE: i64 = 1;
const TO_HOST: i64 = 2;

const NAMES: [&str; 4] = [
    "SMs Active [Throughput %]",
    "PCIe RX Throughput [Throughput %]",
    "PCIe TX Throughput [Throughput %]",
    "GPC Clock Frequency [MHz]",
];

/// What one card did, period by period.
#[derive(Debug)]
pub(super) struct Sampler {
    card: i64,
    period_ns: i64,
    sm_count: f64,
    /// Kernel time weighted by the share of the card it fills, bytes in, bytes out.
    periods: Vec<[f64; 3]>,
}

impl Sampler {
    /// A sampler of the card with id `card` at `hz` samples a second.
    pub fn new(card: i64, hz: u32, sm_count: i64) -> Self {
        let period_ns = (1_000_000_000 / i64::from(hz.max(1))).max(1);
        Self { card, period_ns, sm_count: sm_count.max(1) as f64, periods: Vec::new() }
    }

    /// Adds what `batch` ran.
    pub fn add(&mut self, batch: &Batch) {
        for kernel in &batch.kernels {
            let blocks: f64 = kernel.grid.iter().map(|dim| f64::from(*dim)).product();
            self.spread(kernel.start_ns, kernel.end_ns, 0, (blocks / self.sm_count).min(1.0));
        }
        for copy in &batch.memcpys {
            let way = match copy.copy_kind {
                TO_DEVICE => 1,
                TO_HOST => 2,
                _ => continue,
            };
            let rate = copy.bytes as f64 / (copy.end_ns - copy.start_ns).max(1) as f64;
            self.spread(copy.start_ns, copy.end_ns, way, rate);
        }
    }

    /// Adds `rate` for every nanosecond from `start_ns` to `end_ns`.
    fn spread(&mut self, start_ns: i64, end_ns: i64, what: usize, rate: f64) {
        let mut from_ns = start_ns.max(0);
        while from_ns < end_ns {
            let at = from_ns / self.period_ns;
            let to_ns = ((at + 1) * self.period_ns).min(end_ns);
            let at = at as usize;
            if at >= self.periods.len() {
                self.periods.resize(at + 1, [0.0; 3]);
            }
            if let Some(sum) = self.periods.get_mut(at).and_then(|sums| sums.get_mut(what)) {
                *sum += rate * (to_ns - from_ns) as f64;
            }
            from_ns = to_ns;
        }
    }

    /// Names of the counters.
    pub fn names(&self, gpu: &str) -> Vec<MetricNameRow> {
        let name = |(metric, name): (i64, &&str)| MetricNameRow {
            kind: TYPE | self.card,
            kind_name: format!("General Metrics for {gpu} [{}]", self.card),
            metric,
            name: (*name).to_owned(),
        };
        (0..).zip(&NAMES).map(name).collect()
    }

    /// The samples, one of each counter a period, at its end.
    pub fn samples(&self) -> Vec<MetricRow> {
        let row = |(at, sums): (i64, &[f64; 3])| {
            let share = |sum: f64, most: f64| (100.0 * sum / (most * self.period_ns as f64)).clamp(0.0, 100.0).round();
            let [busy, to_device, to_host] = *sums;
            let busy = share(busy, 1.0);
            let clock = if busy > 0.0 { CLOCK_MHZ.0 } else { CLOCK_MHZ.1 };
            let bus = BUS_BYTES_PER_S / 1e9;
            let values = [busy, share(to_device, bus), share(to_host, bus), clock];
            let at_ns = at * self.period_ns;
            let kind = TYPE | self.card;
            (0..).zip(values).map(move |(metric, value)| MetricRow { at_ns, kind, metric, value: value as i64 })
        };
        (0..).zip(&self.periods).flat_map(row).collect()
    }
}
