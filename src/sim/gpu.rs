//! Cards, as their data sheets and CUDA describe them.

use super::config::Gpu;

/// What a card can do.
#[derive(Debug, Clone, Copy)]
pub(super) struct GpuSpec {
    pub(super) name: &'static str,
    pub(super) chip: &'static str,
    pub(super) sm_count: i64,
    pub(super) memory_bytes: i64,
    pub(super) bandwidth_bytes_per_s: i64,
    pub(super) clock_hz: i64,
    pub(super) l2_bytes: i64,
    pub(super) capability: (i64, i64),
    /// Dense FLOP/s in bf16 and fp16, and in fp32 without tensor cores.
    pub(super) peak_half: f64,
    pub(super) peak_single: f64,
}

impl Gpu {
    pub(super) const fn spec(self) -> GpuSpec {
        match self {
            Self::A100 => GpuSpec {
                name: "NVIDIA A100-SXM4-40GB",
                chip: "GA100",
                sm_count: 108,
                memory_bytes: 42_297_524_224,
                bandwidth_bytes_per_s: 1_555_200_000_000,
                clock_hz: 1_410_000_000,
                l2_bytes: 41_943_040,
                capability: (8, 0),
                peak_half: 312e12,
                peak_single: 19.5e12,
            },
            Self::H100 => GpuSpec {
                name: "NVIDIA H100 80GB HBM3",
                chip: "GH100",
                sm_count: 132,
                memory_bytes: 84_929_347_584,
                bandwidth_bytes_per_s: 3_352_320_000_000,
                clock_hz: 1_980_000_000,
                l2_bytes: 52_428_800,
                capability: (9, 0),
                peak_half: 989.4e12,
                peak_single: 66.9e12,
            },
        }
    }
}
