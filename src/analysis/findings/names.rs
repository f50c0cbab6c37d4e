//! What the name of a kernel tells beyond its family. Decided once per distinct name.

use crate::analysis::{Class, Classes, Family};
use crate::trace::{OpKind, OpNameId, Trace};
use regex::{Regex, RegexBuilder};
use std::sync::LazyLock;

/// What a kernel's name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Traits {
    /// Softmax.
    pub softmax: bool,
    /// Part of the loss: cross entropy, log-softmax.
    pub loss: bool,
    /// Fused attention, forward.
    pub attention_forward: bool,
    /// Fused attention, backward (the main kernel of a pass, not its helpers).
    pub attention_backward: bool,
    /// A matrix product that runs on plain floating-point units.
    pub simt: bool,
    /// Works on experts.
    pub expert: bool,
}

fn pattern(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).case_insensitive(true).build().ok()
}

static SOFTMAX: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("softmax"));
static LOSS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("log_?softmax|nll_?loss|cross_?entropy|xent"));
static ATTENTION: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("flash|fmha|sdpa|mem_eff|attention"));
static BACKWARD: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("bwd|backward|bprop"));
static HELPER: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern("dot_do_o|convert_d|preprocess|postprocess|combine|splitkv|sum_od|delta"));
/// Words of kernels on tensor cores, in any library.
static TENSOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"s?\d{4}gemm|s\d+16|hmma|imma|wgmma|utcmma|tensorop|tcgen|nvjet|mma_sync|bf16|f16|half|fp8|e4m3|h\d+gemm|tf32",
    )
});
static SIMT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"sgemm|simt|ffma|f32f32_f32f32|dgemm|fp32"));
static EXPERT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"group(ed)?_?gemm|moe|expert"));

/// Traits of every operation name of a trace.
pub(super) struct NameTraits(Vec<(Class, Traits)>);

impl NameTraits {
    pub fn of(trace: &Trace, classes: &Classes) -> Self {
        let names = (0..trace.op_names.len() as u32).map(OpNameId);
        Self(names.map(|id| (classes.class(id, OpKind::Kernel), traits(trace, id, classes))).collect())
    }

    /// Class of a kernel's name and what else it tells.
    pub fn get(&self, name: OpNameId) -> (Class, Traits) {
        self.0.get(name.0 as usize).copied().unwrap_or((Class::Compute(Family::Other), Traits::default()))
    }
}

fn traits(trace: &Trace, id: OpNameId, classes: &Classes) -> Traits {
    let (short, full) = (trace.op_short_name(id), trace.op_full_name(id));
    let is = |pattern: &Option<Regex>, name: &str| pattern.as_ref().is_some_and(|p| p.is_match(name));
    let Class::Compute(family) = classes.class(id, OpKind::Kernel) else { return Traits::default() };
    let attention = family == Family::Attention && is(&ATTENTION, full) && !is(&HELPER, short);
    Traits {
        softmax: family == Family::Reduction && is(&SOFTMAX, short),
        loss: is(&LOSS, full),
        attention_forward: attention && !is(&BACKWARD, short),
        attention_backward: attention && is(&BACKWARD, short),
        simt: family == Family::Gemm && is(&SIMT, short) && !is(&TENSOR, short),
        expert: is(&EXPERT, short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Rules;
    use crate::trace::testing::Fixture;

    fn of(name: &str) -> Traits {
        let trace = Fixture::new().kernel(name, 7, 0, 1).build();
        NameTraits::of(&trace, &Classes::of(&trace, &Rules::default())).get(OpNameId(0)).1
    }

    #[test]
    fn products_without_tensor_cores_are_told_by_name() {
        for name in [
            "ampere_sgemm_128x128_tn",
            "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_ffma_cublas",
            "cutlass_80_simt_sgemm_128x64_8x5_nn_align1",
            "volta_sgemm_64x64_nt",
        ] {
            assert!(of(name).simt, "{name}");
        }
        for name in [
            "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
            "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
            "cutlass_80_tensorop_s1688gemm_128x256_16x3_tn_align4",
            "ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn",
            "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
        ] {
            assert!(!of(name).simt, "{name}");
        }
    }

    #[test]
    fn passes_of_fused_attention_are_told_apart() {
        assert!(of("flash_fwd_kernel").attention_forward);
        assert!(of("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel").attention_backward);
        assert!(of("cudnn_generated_fort_native_sdpa_sm90_flash_fprop").attention_forward);
        assert!(of("cudnn_generated_fort_native_sdpa_sm90_flash_bprop").attention_backward);
        assert_eq!(of("flash_bwd_dot_do_o_kernel"), Traits::default());
    }

    #[test]
    fn the_softmax_of_the_loss_is_not_that_of_attention() {
        assert!(of("softmax_warp_forward").softmax && !of("softmax_warp_forward").loss);
        assert!(of("nll_loss_forward_reduce_cuda_kernel_2d").loss);
    }
}
