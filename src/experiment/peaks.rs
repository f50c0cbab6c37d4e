//! What a GPU can do at most: dense tensor-core throughput by number format, and how a name finds its row.
//!
//! Numbers are from vendors' data sheets, dense, with fp32 accumulation where a card tells the two apart. A name that
//! no row fits has no peak: nothing is borrowed from a card that merely looks similar.

use serde::{Deserialize, Serialize};

/// Number format of the matrix products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// bfloat16.
    Bf16,
    /// float16.
    Fp16,
    /// TensorFloat-32: float32 inputs, rounded for the tensor cores.
    Tf32,
    /// 8-bit floating point.
    Fp8,
    /// 8-bit integers.
    Int8,
    /// 4-bit floating point.
    Fp4,
    /// float32 without tensor cores; the table has no peaks for it.
    Fp32,
}

impl Dtype {
    /// All formats, in the order of lists.
    pub const ALL: [Self; 7] = [Self::Bf16, Self::Fp16, Self::Tf32, Self::Fp8, Self::Int8, Self::Fp4, Self::Fp32];

    /// Its word in settings files and tables.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::Fp16 => "fp16",
            Self::Tf32 => "tf32",
            Self::Fp8 => "fp8",
            Self::Int8 => "int8",
            Self::Fp4 => "fp4",
            Self::Fp32 => "fp32",
        }
    }
}

/// Which formats structured sparsity doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sparsity {
    No,
    Yes,
    NotFp4,
}

/// One card of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuSpec {
    /// Name in tables.
    pub name: &'static str,
    /// Words of a device name that all must occur, between blanks.
    words: &'static str,
    /// Words of variants that this row covers as well.
    also: &'static str,
    /// Dense TFLOPS (TOPS of int8) in the order of [`Dtype::ALL`]; 0 for what is not supported or not known.
    dense: [f64; 7],
    sparsity: Sparsity,
    bandwidths_gbs: [f64; 2],
    ceilings: [f64; 2],
    /// What else to know about the row; empty when nothing.
    pub note: &'static str,
}

/// Why a GPU's name leads to no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRow {
    /// No row fits, or only one of another variant.
    Unknown,
    /// A slice of a card (MIG): its share of the peak depends on how the card was cut.
    Slice,
}

impl GpuSpec {
    /// Dense peak in TFLOPS; twice that with `sparse`. `None` when the card does not support it or nobody says.
    pub fn peak_tflops(&self, dtype: Dtype, sparse: bool) -> Option<f64> {
        let dense = known(*self.dense.get(dtype as usize)?)?;
        match (sparse, self.sparsity) {
            (false, _) => Some(dense),
            (true, Sparsity::No) => None,
            (true, Sparsity::NotFp4) if dtype == Dtype::Fp4 => None,
            (true, _) => Some(2.0 * dense),
        }
    }

    /// The best matrix product anybody measured on it, in TFLOPS: what a real program can hope for.
    pub fn ceiling_tflops(&self, dtype: Dtype) -> Option<f64> {
        match dtype {
            Dtype::Bf16 => known(self.ceilings[0]),
            Dtype::Fp8 => known(self.ceilings[1]),
            _ => None,
        }
    }

    /// Memory bandwidth in GB/s.
    pub fn memory_gbs(&self) -> Option<f64> {
        known(self.bandwidths_gbs[0])
    }

    /// NVLink bandwidth in GB/s, both directions together.
    pub fn nvlink_gbs(&self) -> Option<f64> {
        known(self.bandwidths_gbs[1])
    }

    /// The row for a GPU called `name`, such as `NVIDIA A100-SXM4-40GB`: the one with the most and longest words of
    /// those whose words all occur. Whole words are compared, without regard to case, so H20 is not H200 and L4 not L40S.
    ///
    /// # Errors
    /// When no row fits.
    pub fn of(name: &str) -> Result<&'static Self, NoRow> {
        let lower = name.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.contains(&"mig") {
            return Err(NoRow::Slice);
        }
        let fits = |row: &&Self| {
            let has = |list: &str, word: &str| list.split(' ').any(|known| known == word);
            row.words.split(' ').all(|word| words.contains(&word))
                && words.iter().all(|word| !has(VARIANTS, word) || has(row.words, word) || has(row.also, word))
        };
        let weight = |row: &&Self| (row.words.split(' ').count(), row.words.len());
        TABLE.iter().filter(fits).max_by_key(weight).ok_or(NoRow::Unknown)
    }

    /// All rows.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        TABLE.iter()
    }
}

fn known(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// Words that set a variant of a card apart. A row fits a name with such words only if it lists them.
const VARIANTS: &str = "pcie pci nvl sxm sxm2 sxm3 sxm4 sxm5 sxm6 fhhl dgxs ti super laptop mobile notebook d v2 max ada \
                        blackwell cpx pro ultra dc oam";

/// Peaks of a card whose bf16 and fp16 rates are equal.
const fn dense(half: f64, tf32: f64, fp8: f64, int8: f64, fp4: f64) -> [f64; 7] {
    [half, half, tf32, fp8, int8, fp4, 0.0]
}

/// Peaks of a card from before bf16.
const fn fp16_only(half: f64, int8: f64) -> [f64; 7] {
    [0.0, half, 0.0, 0.0, int8, 0.0, 0.0]
}

#[expect(clippy::too_many_arguments, reason = "one argument a column of the table below")]
const fn gpu(
    name: &'static str,
    words: &'static str,
    also: &'static str,
    dense: [f64; 7],
    sparsity: Sparsity,
    bandwidths_gbs: [f64; 2],
    ceilings: [f64; 2],
    note: &'static str,
) -> GpuSpec {
    GpuSpec { name, words, also, dense, sparsity, bandwidths_gbs, ceilings, note }
}

use Sparsity::{No, NotFp4, Yes};

/// Columns: name; its words; variants it covers; dense peaks (half precision, tf32, fp8, int8, fp4); sparsity; GB/s of
/// memory and NVLink; best measured matrix products in bf16 and fp8; note. 0 is "not supported" or "not known".
#[rustfmt::skip]
const TABLE: [GpuSpec; 41] = [
    gpu("V100 SXM2", "v100 sxm2", "", fp16_only(125.0, 62.0), No, [900.0, 300.0], [0.0, 0.0], "fp16 only, no bf16"),
    gpu("V100 PCIe", "v100 pcie", "", fp16_only(112.0, 0.0), No, [900.0, 0.0], [0.0, 0.0], "fp16 only, no bf16"),
    gpu("V100S PCIe", "v100s", "pcie", fp16_only(130.0, 0.0), No, [1134.0, 0.0], [0.0, 0.0], "fp16 only, no bf16"),
    gpu("T4", "t4", "", fp16_only(65.0, 130.0), No, [320.0, 0.0], [0.0, 0.0], "fp16 only, no bf16"),
    gpu("A100", "a100", "sxm sxm4", dense(312.0, 156.0, 0.0, 624.0, 0.0), Yes, [0.0, 600.0], [271.2, 0.0], ""),
    gpu("A100 SXM 40GB", "a100 40gb", "sxm sxm4", dense(312.0, 156.0, 0.0, 624.0, 0.0), Yes, [1555.0, 600.0], [271.2, 0.0], ""),
    gpu("A100 SXM 80GB", "a100 80gb", "sxm sxm4", dense(312.0, 156.0, 0.0, 624.0, 0.0), Yes, [2039.0, 600.0], [271.2, 0.0], ""),
    gpu("A100 PCIe", "a100 pcie", "", dense(312.0, 156.0, 0.0, 624.0, 0.0), Yes, [0.0, 600.0], [252.9, 0.0], ""),
    gpu("A100 PCIe 40GB", "a100 pcie 40gb", "", dense(312.0, 156.0, 0.0, 624.0, 0.0), Yes, [1555.0, 600.0], [252.9, 0.0], ""),
    gpu("A100 PCIe 80GB", "a100 pcie 80gb", "", dense(312.0, 156.0, 0.0, 624.0, 0.0), Yes, [1935.0, 600.0], [252.9, 0.0], ""),
    gpu("A800", "a800", "sxm sxm4 pcie", dense(312.0, 156.0, 0.0, 624.0, 0.0), Yes, [2039.0, 400.0], [0.0, 0.0], ""),
    gpu("A30", "a30", "pcie", dense(165.0, 82.0, 0.0, 330.0, 0.0), Yes, [933.0, 200.0], [0.0, 0.0], ""),
    gpu("A40", "a40", "pcie", dense(149.7, 74.8, 0.0, 299.0, 0.0), Yes, [696.0, 112.5], [0.0, 0.0], ""),
    gpu("A10", "a10", "pcie", dense(125.0, 62.5, 0.0, 250.0, 0.0), Yes, [600.0, 0.0], [0.0, 0.0], ""),
    gpu("RTX A6000", "a6000", "rtx", dense(154.8, 77.4, 0.0, 309.7, 0.0), Yes, [768.0, 112.5], [0.0, 0.0], "309.7 TFLOPS of fp16, as often quoted, is the sparse figure"),
    gpu("RTX 3090", "rtx 3090", "", dense(71.0, 35.6, 0.0, 284.0, 0.0), Yes, [936.0, 112.5], [0.0, 0.0], "fp32 accumulation; fp16 with fp16 accumulation reaches 142"),
    gpu("L4", "l4", "", dense(121.0, 60.0, 242.0, 242.0, 0.0), Yes, [300.0, 0.0], [0.0, 0.0], "242 TFLOPS of fp16, as in data sheets, is the sparse figure"),
    gpu("L40", "l40", "", dense(181.0, 90.5, 362.0, 362.0, 0.0), Yes, [864.0, 0.0], [0.0, 0.0], ""),
    gpu("L40S", "l40s", "", dense(362.0, 183.0, 733.0, 733.0, 0.0), Yes, [864.0, 0.0], [0.0, 0.0], ""),
    gpu("RTX 6000 Ada", "rtx 6000 ada", "", dense(364.0, 182.0, 728.0, 728.0, 0.0), Yes, [960.0, 0.0], [0.0, 0.0], ""),
    gpu("RTX 4090", "rtx 4090", "", dense(165.2, 82.6, 330.3, 660.6, 0.0), Yes, [1008.0, 0.0], [0.0, 0.0], "fp32 accumulation; with fp16 accumulation fp16 reaches 330.3 and fp8 660.6"),
    gpu("RTX 5090", "rtx 5090", "", dense(209.5, 104.8, 419.0, 838.0, 1676.0), Yes, [1792.0, 0.0], [0.0, 0.0], "fp32 accumulation; with fp16 accumulation fp16 reaches 419 and fp8 838"),
    gpu("H100 SXM", "h100", "sxm sxm5", dense(989.4, 494.7, 1979.0, 1979.0, 0.0), Yes, [3350.0, 900.0], [794.5, 1402.6], ""),
    gpu("H100 PCIe", "h100 pcie", "", dense(756.0, 378.0, 1513.0, 1513.0, 0.0), Yes, [2000.0, 600.0], [0.0, 0.0], ""),
    gpu("H100 NVL", "h100 nvl", "", dense(835.0, 418.0, 1671.0, 1671.0, 0.0), Yes, [3938.0, 600.0], [0.0, 0.0], "per GPU; older sheets list the pair"),
    gpu("H800 SXM", "h800", "sxm sxm5", dense(989.0, 494.0, 1979.0, 1979.0, 0.0), Yes, [3350.0, 400.0], [0.0, 0.0], ""),
    gpu("H20", "h20", "sxm sxm5", dense(148.0, 74.0, 296.0, 296.0, 0.0), Yes, [4000.0, 900.0], [0.0, 0.0], "from press reports, no vendor page"),
    gpu("H200 SXM", "h200", "sxm sxm5", dense(989.0, 494.0, 1979.0, 1979.0, 0.0), Yes, [4800.0, 900.0], [794.5, 1453.0], ""),
    gpu("H200 NVL", "h200 nvl", "", dense(835.0, 0.0, 0.0, 0.0, 0.0), Yes, [4800.0, 0.0], [0.0, 0.0], "about"),
    gpu("GH200", "gh200", "", dense(989.0, 494.0, 1979.0, 1979.0, 0.0), Yes, [0.0, 900.0], [828.6, 0.0], ""),
    gpu("GH200 96GB", "gh200 96gb", "", dense(989.0, 494.0, 1979.0, 1979.0, 0.0), Yes, [4000.0, 900.0], [828.6, 0.0], ""),
    gpu("GH200 144GB", "gh200 144gb", "", dense(989.0, 494.0, 1979.0, 1979.0, 0.0), Yes, [4800.0, 900.0], [828.6, 0.0], ""),
    gpu("B200", "b200", "sxm sxm6", dense(2250.0, 1125.0, 4500.0, 4500.0, 9000.0), Yes, [7700.0, 1800.0], [1745.0, 3432.0], ""),
    gpu("GB200", "gb200", "", dense(2500.0, 1250.0, 5000.0, 5000.0, 10_000.0), Yes, [8000.0, 1800.0], [1822.0, 0.0], "per GPU; some lists give it the 2250 of B200"),
    gpu("B300", "b300", "sxm sxm6", dense(2250.0, 1125.0, 4500.0, 0.0, 12_600.0), NotFp4, [8000.0, 1800.0], [1769.0, 0.0], "fp4 is listed from 12 600 to 15 000, int8 from 150 to 4500: type the one you mean; sparsity does not double fp4"),
    gpu("GB300", "gb300", "", dense(2500.0, 1250.0, 5000.0, 0.0, 15_000.0), NotFp4, [8000.0, 1800.0], [0.0, 0.0], "per GPU; int8 is listed from 150 to 5000: type the one you mean; sparsity does not double fp4"),
    gpu("Rubin", "rubin", "", dense(4000.0, 2000.0, 17_500.0, 2500.0, 35_000.0), No, [22_000.0, 3600.0], [0.0, 0.0], "announced, not yet measured"),
    gpu("MI250X (one die)", "mi250x", "", dense(191.5, 0.0, 0.0, 191.5, 0.0), No, [0.0, 0.0], [0.0, 0.0], "one of two dies, which is what a rank sees; the card has 383"),
    gpu("MI300X", "mi300x", "", dense(1307.0, 654.0, 2615.0, 2600.0, 0.0), Yes, [5300.0, 0.0], [668.0, 0.0], ""),
    gpu("MI325X", "mi325x", "", dense(1307.0, 654.0, 2615.0, 2600.0, 0.0), Yes, [6000.0, 0.0], [0.0, 0.0], ""),
    gpu("MI355X", "mi355x", "", dense(2500.0, 0.0, 5000.0, 5000.0, 10_100.0), Yes, [8000.0, 0.0], [0.0, 0.0], "an older list has 2300"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn bf16(name: &str) -> Option<f64> {
        GpuSpec::of(name).ok()?.peak_tflops(Dtype::Bf16, false)
    }

    #[test]
    fn names_as_drivers_report_them_find_their_card() {
        let cases = [
            ("NVIDIA A100-SXM4-40GB", "A100 SXM 40GB"),
            ("NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"),
            ("NVIDIA A100-PCIE-40GB", "A100 PCIe 40GB"),
            ("NVIDIA H100 80GB HBM3", "H100 SXM"),
            ("NVIDIA H100 PCIe", "H100 PCIe"),
            ("NVIDIA H100 NVL", "H100 NVL"),
            ("NVIDIA H200", "H200 SXM"),
            ("NVIDIA H20", "H20"),
            ("NVIDIA L4", "L4"),
            ("nvidia l40s", "L40S"),
            ("NVIDIA L40", "L40"),
            ("NVIDIA GH200 480GB", "GH200"),
            ("NVIDIA B200", "B200"),
            ("NVIDIA GB200", "GB200"),
            ("NVIDIA B300 SXM6 AC", "B300"),
            ("Tesla V100-SXM2-16GB", "V100 SXM2"),
            ("Tesla V100S-PCIE-32GB", "V100S PCIe"),
            ("Tesla T4", "T4"),
            ("NVIDIA RTX A6000", "RTX A6000"),
            ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
            ("NVIDIA GeForce RTX 4090", "RTX 4090"),
            ("AMD Instinct MI300X", "MI300X"),
        ];
        for (name, row) in cases {
            assert_eq!(GpuSpec::of(name).map(|spec| spec.name), Ok(row), "{name}");
        }
    }

    #[test]
    fn what_merely_looks_similar_is_not_borrowed() {
        for name in [
            "",
            "GPU",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA GeForce RTX 4090 D",
            "NVIDIA GeForce RTX 3090 Ti",
            "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            "Quadro RTX 6000",
            "NVIDIA A10G",
            "NVIDIA A100X",
            "NVIDIA H800 PCIe",
            "NVIDIA H1000",
            "NVIDIA GeForce GTX 1080",
        ] {
            assert_eq!(GpuSpec::of(name), Err(NoRow::Unknown), "{name}");
        }
        assert_eq!(GpuSpec::of("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), Err(NoRow::Slice));
    }

    #[test]
    fn peaks_are_dense_and_sparse_is_twice_that_where_it_exists() {
        let cases = [
            ("H200", 989.0),
            ("H100 SXM5", 989.4),
            ("RTX 5090", 209.5),
            ("RTX 3090", 71.0),
            ("RTX A6000", 154.8),
            ("GB200", 2500.0),
            ("L4", 121.0),
        ];
        for (name, tflops) in cases {
            assert_eq!(bf16(name), Some(tflops), "{name}");
        }
        let h100 = GpuSpec::of("H100").unwrap();
        assert_eq!(h100.peak_tflops(Dtype::Bf16, true), Some(1978.8));
        assert_eq!(h100.peak_tflops(Dtype::Tf32, false), Some(494.7));
        assert_eq!(h100.peak_tflops(Dtype::Fp4, false), None);
        assert_eq!(GpuSpec::of("GB300").unwrap().peak_tflops(Dtype::Fp4, true), None);
        assert_eq!(GpuSpec::of("A100").unwrap().peak_tflops(Dtype::Fp8, false), None);
    }

    #[test]
    fn cards_from_before_bf16_have_no_bf16_peak() {
        for name in ["Tesla V100-SXM2-32GB", "Tesla T4"] {
            assert_eq!(bf16(name), None, "{name}");
            assert!(GpuSpec::of(name).unwrap().peak_tflops(Dtype::Fp16, false).is_some());
        }
        assert_eq!(GpuSpec::of("T4").unwrap().peak_tflops(Dtype::Fp16, true), None);
    }

    #[test]
    fn every_row_can_be_found_by_its_words_and_no_two_are_alike() {
        for row in GpuSpec::all() {
            assert_eq!(GpuSpec::of(row.words).map(|found| found.name), Ok(row.name));
            assert_eq!(GpuSpec::of(row.name).map(|found| found.name), Ok(row.name), "its own name");
            assert!(row.ceiling_tflops(Dtype::Bf16) < row.peak_tflops(Dtype::Bf16, false) || row.dense[0] == 0.0);
        }
    }
}
