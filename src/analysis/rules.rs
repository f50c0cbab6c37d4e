//! The ordered table from kernel names to classes, and the user's additions to it.
//!
//! Communication is tested first and against whole tokens: a name that merely contains "nccl" is not communication.
//! Sources of the names: the kernels that NCCL, RCCL, MSCCL, NVSHMEM, DeepEP, TensorRT-LLM, vLLM, Transformer Engine,
//! cuBLAS, cuDNN, CUTLASS, FlashAttention, PyTorch, Apex and Triton launch.

use super::{Class, Collective, Family};
use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use std::sync::LazyLock;

/// Kernels that do nothing but communicate. Matched against the short name.
const COMMUNICATION: &[&str] = &[
    // NCCL and RCCL: ncclKernel_ (2.9), ncclDevKernel_ (2.19), ncclSymDevKernel_ (2.27), ncclSymkDevKernel_ (2.28).
    r"^(void )?nccl(Dev|SymDev|SymkDev)?Kernel_",
    // NCCL up to 2.8: ncclAllReduceRingLLKernel_sum_f32.
    r"^nccl(AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|SendRecv)\w*Kernel_",
    r"^msccl\w*Kernel",
    // vLLM and SGLang custom all-reduce, PyTorch symmetric memory.
    r"(^|::|\s)(cross_device_reduce_[12]stage|(one|two)_shot_all_reduce_kernel\w*|multimem_(all_reduce|all_gather|reduce_scatter)\w*)",
    r"(^|::|\s)allreduce_(one|two)_shot_\w*",
    // Expert parallelism: DeepEP and HybridEP.
    r"(^|::|\s)(deep_ep|hybrid_ep)::",
    r"(^|::|\s)moeA2A(Dispatch|Combine)\w*",
    // NVSHMEM.
    r"(^|\s)nvshmemi_",
    // Transformer Engine userbuffers.
    r"^k?userbuffers_",
];

/// Kernels that communicate and compute at once. Matched against the full name, which holds the namespace.
const FUSED: &[&str] = &[
    r"(^|::|\s)allreduce_fusion_kernel\w*",
    r"(^|::|\s)moe_?allreduce\w*",
    r"(^|::|\s)(one|two)ShotAllReduceKernel\w*",
];

/// Collective in a communication kernel's name. `ReduceScatter` and `AllReduce` are tested before `Reduce`.
const COLLECTIVES: &[(&str, Collective)] = &[
    ("reduce_?scatter", Collective::ReduceScatter),
    ("all_?reduce|cross_device_reduce|userbuffers_fp16_sum", Collective::AllReduce),
    ("all_?gather", Collective::AllGather),
    ("all_?to_?all|a2a|deep_ep::|hybrid_ep::", Collective::AllToAll),
    ("broadcast", Collective::Broadcast),
    ("send_?recv|pushsend|pushrecv", Collective::SendRecv),
    ("reduce", Collective::Reduce),
];

/// Families of compute kernels, first match wins. Matched without case against the short name, then the full name.
const FAMILIES: &[(&str, Family)] = &[
    (r"flash|fmha|attention|\bsdpa|_attn|attn_|mha_|paged_attn", Family::Attention),
    (r"adam|sgd|lamb|multi_tensor|optimizer|apply_update", Family::Optimizer),
    (r"conv(?:olution|\d|_|olve)|winograd|implicit_gemm|dgrad|wgrad|fprop|im2col|cudnn.*conv", Family::Convolution),
    (r"gemm|gemv|cutlass|matmul|_mm_|nvjet|cublas|xmma|splitk|s\d+(?:fp|bf)?\d*cudnn|mma_|dot_kernel", Family::Gemm),
    (
        r"layer_?norm|rms_?norm|batch_?norm|group_?norm|bn_fw|bn_bw|instance_?norm|_norm_|norm_kernel|ln_(?:fwd|bwd)",
        Family::Normalization,
    ),
    (r"softmax|reduce|nll_?loss|cross_?entropy|argmax|\bsum_|_sum_|cumsum|\bscan", Family::Reduction),
    (r"embedding|gather|scatter|index|sort|topk|radix|unique|histogram|nonzero", Family::Embedding),
    (
        r"transpose|permute|catarray|cat_array|copy|cast|concat|nchw|nhwc|memcpy|reformat|\bfill|im2row|slice|pad",
        Family::CopyTranspose,
    ),
    (
        r"elementwise|dropout|gelu|silu|relu|swiglu|rope|rotary|add|mul|tanh|sigmoid|unrolled|pointwise|bias|triton_poi",
        Family::Elementwise,
    ),
    (r"triton_red|triton_per", Family::Reduction),
];

/// A compiled table: the set tells which patterns match in one pass.
struct Table<C> {
    set: RegexSet,
    classes: Vec<C>,
}

impl<C: Copy> Table<C> {
    #[expect(clippy::expect_used, reason = "the patterns are constants of this file and a test compiles them")]
    fn new(rows: &[(&str, C)], ignore_case: bool) -> Self {
        let patterns = rows.iter().map(|(pattern, _)| *pattern);
        let set = RegexSetBuilder::new(patterns).case_insensitive(ignore_case).build();
        Self { set: set.expect("built-in pattern"), classes: rows.iter().map(|(_, class)| *class).collect() }
    }

    /// Class of the first row that matches.
    fn first(&self, name: &str) -> Option<C> {
        let row = self.set.matches(name).iter().next()?;
        self.classes.get(row).copied()
    }
}

static COMMUNICATION_TABLE: LazyLock<Table<()>> =
    LazyLock::new(|| Table::new(&COMMUNICATION.iter().map(|p| (*p, ())).collect::<Vec<_>>(), false));
static FUSED_TABLE: LazyLock<Table<()>> =
    LazyLock::new(|| Table::new(&FUSED.iter().map(|p| (*p, ())).collect::<Vec<_>>(), false));
static COLLECTIVE_TABLE: LazyLock<Table<Collective>> = LazyLock::new(|| Table::new(COLLECTIVES, true));
static FAMILY_TABLE: LazyLock<Table<Family>> = LazyLock::new(|| Table::new(FAMILIES, true));

/// Class of a kernel by the built-in table.
pub fn builtin(short: &str, full: &str) -> Class {
    let base = full.split('(').next().unwrap_or(full);
    let any = |table: &Table<()>| table.first(short).or_else(|| table.first(base)).is_some();
    if any(&FUSED_TABLE) {
        return Class::Fused(collective(base));
    }
    if any(&COMMUNICATION_TABLE) {
        return Class::Communication(match collective(short) {
            Collective::Other => collective(base),
            known => known,
        });
    }
    // The arguments of a template often name other kernels' functors, so the short name decides when it can.
    Class::Compute(FAMILY_TABLE.first(short).or_else(|| FAMILY_TABLE.first(full)).unwrap_or(Family::Other))
}

/// Collective that a communication kernel's name tells.
fn collective(name: &str) -> Collective {
    COLLECTIVE_TABLE.first(name).unwrap_or(Collective::Other)
}

/// The user's own rows, tested before the built-in table.
///
/// The file is TOML:
///
/// ```toml
/// [[rule]]
/// pattern = "my_fused_.*_kernel"   # regular expression, without case, against the full name
/// class = "elementwise"            # a family, "communication", "fused", or a collective such as "AllReduce"
/// ```
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rows: Vec<(Regex, Class)>,
    /// Groups for the split by what ran at once: name and patterns.
    groups: Vec<(String, Vec<Regex>)>,
}

/// Patterns are the same when their texts are.
impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        let rows = |rules: &Self| rules.rows.iter().map(|(pattern, class)| (pattern.to_string(), *class)).collect();
        let groups = |rules: &Self| {
            let texts = |patterns: &[Regex]| patterns.iter().map(Regex::to_string).collect();
            rules.groups.iter().map(|(name, patterns)| (name.clone(), texts(patterns))).collect()
        };
        let (own, others): (Vec<(String, Class)>, Vec<_>) = (rows(self), rows(other));
        let (own_groups, others_groups): (Vec<(String, Vec<String>)>, Vec<_>) = (groups(self), groups(other));
        own == others && own_groups == others_groups
    }
}

/// Why a rules file was refused.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// It is not TOML of the expected shape.
    #[error(
        "the rules are not as expected: {0}\nwrite [[rule]] tables, each with pattern = \"...\" and class = \"...\", and [[group]] tables, each with \
         name = \"...\" and pattern = \"...\""
    )]
    Shape(String),
    /// A pattern does not compile.
    #[error("rule {row}: the pattern is no regular expression: {reason}")]
    Pattern {
        /// Which rule, from 1.
        row: usize,
        /// What the compiler says.
        reason: String,
    },
    /// A group's pattern does not compile.
    #[error("group {row}: the pattern is no regular expression: {reason}")]
    GroupPattern {
        /// Which group, from 1.
        row: usize,
        /// What the compiler says.
        reason: String,
    },
    /// A class is not known.
    #[error("rule {row}: there is no class {class:?}; use one of {known}")]
    Class {
        /// Which rule, from 1.
        row: usize,
        /// What was written.
        class: String,
        /// What could have been.
        known: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    #[serde(default)]
    rule: Vec<RuleRow>,
    #[serde(default)]
    group: Vec<GroupRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupRow {
    name: String,
    pattern: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleRow {
    pattern: String,
    class: String,
}

/// Words a rules file may use, with their classes.
fn class_words() -> Vec<(&'static str, Class)> {
    let families = [
        ("gemm", Family::Gemm),
        ("attention", Family::Attention),
        ("convolution", Family::Convolution),
        ("normalization", Family::Normalization),
        ("reduction", Family::Reduction),
        ("elementwise", Family::Elementwise),
        ("optimizer", Family::Optimizer),
        ("embedding", Family::Embedding),
        ("copy_transpose", Family::CopyTranspose),
        ("other", Family::Other),
    ];
    let collectives = [
        Collective::AllReduce,
        Collective::AllGather,
        Collective::ReduceScatter,
        Collective::Broadcast,
        Collective::Reduce,
        Collective::SendRecv,
        Collective::AllToAll,
    ];
    let mut words: Vec<(&str, Class)> = families.iter().map(|(w, f)| (*w, Class::Compute(*f))).collect();
    words.push(("communication", Class::Communication(Collective::Other)));
    words.push(("fused", Class::Fused(Collective::Other)));
    words.extend(collectives.map(|c| (c.text(), Class::Communication(c))));
    words
}

fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).case_insensitive(true).build()
}

impl Rules {
    /// Reads the user's rules.
    ///
    /// # Errors
    /// When the text is not TOML of the documented shape, a pattern does not compile, or a class is not known.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let file: RulesFile = toml::from_str(text).map_err(|e| RulesError::Shape(e.to_string()))?;
        let words = class_words();
        let mut rows = Vec::with_capacity(file.rule.len());
        for (at, rule) in file.rule.into_iter().enumerate() {
            let row = at + 1;
            let pattern = compiled(&rule.pattern).map_err(|e| RulesError::Pattern { row, reason: e.to_string() })?;
            let Some((_, class)) = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(&rule.class)) else {
                let known = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
                return Err(RulesError::Class { row, class: rule.class, known });
            };
            rows.push((pattern, *class));
        }
        let mut groups: Vec<(String, Vec<Regex>)> = Vec::new();
        for (at, group) in file.group.into_iter().enumerate() {
            let pattern = compiled(&group.pattern)
                .map_err(|e| RulesError::GroupPattern { row: at + 1, reason: e.to_string() })?;
            match groups.iter_mut().find(|(name, _)| *name == group.name) {
                Some((_, patterns)) => patterns.push(pattern),
                None => groups.push((group.name, vec![pattern])),
            }
        }
        Ok(Self { rows, groups })
    }

    /// Names of the user's groups.
    pub(super) fn group_names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|(name, _)| name.as_str())
    }

    /// Bits of the user's groups that a kernel is in, in the order of [`Self::group_names`].
    pub(super) fn groups_of(&self, short: &str, full: &str) -> u32 {
        let is_in = |patterns: &[Regex]| patterns.iter().any(|p| p.is_match(full) || p.is_match(short));
        let bits = self.groups.iter().take(32).enumerate();
        bits.filter(|(_, (_, patterns))| is_in(patterns)).fold(0, |mask, (at, _)| mask | 1 << at)
    }

    /// Adds the rules and groups of `other` behind these.
    pub fn append(&mut self, other: &Self) {
        self.rows.extend(other.rows.iter().cloned());
        self.groups.extend(other.groups.iter().cloned());
    }

    /// Class that the user gave a kernel. A bare "communication" or "fused" takes the collective from the name.
    pub(super) fn class(&self, short: &str, full: &str) -> Option<Class> {
        let (_, class) = self.rows.iter().find(|(pattern, _)| pattern.is_match(full) || pattern.is_match(short))?;
        Some(match class {
            Class::Communication(Collective::Other) => Class::Communication(collective(full)),
            Class::Fused(Collective::Other) => Class::Fused(collective(full)),
            known => *known,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_naming_generation_of_communication_is_known() {
        let cases = [
            ("ncclAllReduceRingLLKernel_sum_f32", Collective::AllReduce),
            ("ncclKernel_AllReduce_RING_LL_Sum_float", Collective::AllReduce),
            ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", Collective::SendRecv),
            ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", Collective::ReduceScatter),
            ("ncclDevKernel_Reduce_Sum_f32_RING_LL", Collective::Reduce),
            ("ncclDevKernel_Generic_4", Collective::Other),
            ("ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16", Collective::AllReduce),
            ("ncclSymkDevKernel_AllGather_STMC", Collective::AllGather),
            ("void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>", Collective::AllReduce),
            ("void deep_ep::internode_ll::dispatch<true, false>", Collective::AllToAll),
            ("nvshmemi_init_array_kernel", Collective::Other),
            ("userbuffers_fp16_sum_inplace_gpu_rw_ag", Collective::AllReduce),
            ("multimem_all_reduce_kernel", Collective::AllReduce),
        ];
        for (name, kind) in cases {
            assert_eq!(builtin(name, name), Class::Communication(kind), "{name}");
        }
    }

    #[test]
    fn a_name_that_merely_contains_nccl_is_compute() {
        for name in ["my_nccl_check_kernel", "void vllm::wait_for_nccl_kernel<int>", "pre_ncclDevKernel_AllReduce"] {
            assert!(builtin(name, name).is_compute(), "{name}");
        }
    }

    #[test]
    fn fused_kernels_count_as_compute() {
        let name = "void trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>(Params)";
        assert_eq!(builtin("allreduce_fusion_kernel_oneshot_lamport", name), Class::Fused(Collective::AllReduce));
        assert!(builtin("allreduce_fusion_kernel_oneshot_lamport", name).is_compute());
    }

    #[test]
    fn families_of_known_kernels() {
        let cases = [
            ("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nt", Family::Gemm),
            ("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", Family::Gemm),
            ("flash_fwd_kernel", Family::Attention),
            ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop", Family::Attention),
            ("vectorized_layer_norm_kernel", Family::Normalization),
            ("multi_tensor_apply_kernel", Family::Optimizer),
            ("softmax_warp_forward", Family::Reduction),
            ("vectorized_elementwise_kernel", Family::Elementwise),
            ("indexSelectLargeIndex", Family::Embedding),
            ("CatArrayBatchedCopy", Family::CopyTranspose),
            ("sm80_xmma_fprop_implicit_gemm_tf32f32", Family::Convolution),
            ("my_kernel", Family::Other),
        ];
        for (name, family) in cases {
            assert_eq!(builtin(name, name), Class::Compute(family), "{name}");
        }
    }

    #[test]
    fn the_users_rules_come_first() {
        let rules = Rules::parse("[[rule]]\npattern = 'my_.*kernel'\nclass = 'attention'\n").unwrap();
        assert_eq!(rules.class("my_big_kernel", "my_big_kernel"), Some(Class::Compute(Family::Attention)));
        assert_eq!(rules.class("gemm", "gemm"), None);
        let rules = Rules::parse("[[rule]]\npattern = 'xccl'\nclass = 'communication'\n").unwrap();
        assert_eq!(rules.class("x", "xccl_all_gather"), Some(Class::Communication(Collective::AllGather)));
    }

    #[test]
    fn bad_rules_say_which_and_why() {
        let class = Rules::parse("[[rule]]\npattern = 'a'\nclass = 'gem'\n").unwrap_err().to_string();
        assert!(class.contains("rule 1") && class.contains("gemm"), "{class}");
        let pattern = Rules::parse("[[rule]]\npattern = '('\nclass = 'gemm'\n").unwrap_err().to_string();
        assert!(pattern.contains("rule 1"), "{pattern}");
        assert!(Rules::parse("rule = 3").unwrap_err().to_string().contains("[[rule]]"));
    }
}
