//! Scatter of durations: small, seeded, the same on every machine.

/// A SplitMix64 generator.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    /// One stream of numbers per (seed, use).
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut rng = Self(seed ^ purpose.wrapping_mul(0xd605_bbb5_8c8a_bc03));
        rng.next();
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `value_ns` times a factor within `1 - spread` and `1 + spread`, in whole nanoseconds, at least one.
    pub(super) fn scatter(&mut self, value_ns: f64, spread: f64) -> i64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (value_ns * (1.0 + spread * (2.0 * unit - 1.0))).round().max(1.0) as i64
    }
}
