//! Algorithm and protocol of a communication kernel, read from its name.

use regex::Regex;
use serde::Serialize;
use std::fmt;
use std::sync::LazyLock;

/// How ranks are connected for a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// A ring of all ranks.
    Ring,
    /// Two trees.
    Tree,
    /// In-network reduction, each rank by itself.
    CollnetDirect,
    /// In-network reduction along a chain.
    CollnetChain,
    /// In-switch reduction within the machine.
    Nvls,
    /// In-switch reduction within the machine, trees between machines.
    NvlsTree,
    /// Parallel aggregated trees.
    Pat,
    /// Symmetric memory.
    Symmetric,
}

/// How data is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Low latency: a flag with every 4 bytes.
    Ll,
    /// Low latency with 128-byte lines.
    Ll128,
    /// Full bandwidth.
    Simple,
}

/// What the name of a communication kernel tells besides its collective.
///
/// NCCL compiles one kernel for several protocols and names it after one of them, so the protocol in the name is not
/// always the one that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
pub struct Variant {
    /// Algorithm.
    pub algorithm: Option<Algorithm>,
    /// Protocol.
    pub protocol: Option<Protocol>,
}

static SYMMETRIC: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:void )?nccl(?:Sym|Symk)DevKernel_").ok());
// Written with underscores since NCCL 2.9 (RING_LL), in one word before (RingLLKernel).
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(ring|nvls_?tree|nvls|tree|collnet_?chain|collnet_?direct|collnet|pat)_?(ll128|ll|simple)(?:_|kernel|\b|$)")
        .ok()
});

impl Variant {
    /// Reads a kernel's name. Only names of NCCL and RCCL tell.
    pub fn of(name: &str) -> Self {
        if SYMMETRIC.as_ref().is_some_and(|pattern| pattern.is_match(name)) {
            return Self { algorithm: Some(Algorithm::Symmetric), protocol: None };
        }
        if !name.trim_start_matches("void ").starts_with("nccl") {
            return Self::default();
        }
        let Some(found) = PARTS.as_ref().and_then(|pattern| pattern.captures(name)) else { return Self::default() };
        let word = |group: usize| found.get(group).map(|m| m.as_str().replace('_', "").to_ascii_lowercase());
        let algorithm = match word(1).as_deref() {
            Some("ring") => Some(Algorithm::Ring),
            Some("tree") => Some(Algorithm::Tree),
            Some("collnetchain") => Some(Algorithm::CollnetChain),
            Some("collnet" | "collnetdirect") => Some(Algorithm::CollnetDirect),
            Some("nvls") => Some(Algorithm::Nvls),
            Some("nvlstree") => Some(Algorithm::NvlsTree),
            Some("pat") => Some(Algorithm::Pat),
            _ => None,
        };
        let protocol = match word(2).as_deref() {
            Some("ll128") => Some(Protocol::Ll128),
            Some("ll") => Some(Protocol::Ll),
            Some("simple") => Some(Protocol::Simple),
            _ => None,
        };
        Self { algorithm, protocol }
    }
}

impl Algorithm {
    /// The word in NCCL's own spelling.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::CollnetDirect => "CollNet direct",
            Self::CollnetChain => "CollNet chain",
            Self::Nvls => "NVLS",
            Self::NvlsTree => "NVLS tree",
            Self::Pat => "PAT",
            Self::Symmetric => "symmetric",
        }
    }
}

impl Protocol {
    /// The word in NCCL's own spelling.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ll => "LL",
            Self::Ll128 => "LL128",
            Self::Simple => "simple",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.algorithm, self.protocol) {
            (None, None) => f.write_str("not named"),
            (Some(algorithm), None) => f.write_str(algorithm.text()),
            (None, Some(protocol)) => f.write_str(protocol.text()),
            (Some(algorithm), Some(protocol)) => write!(f, "{} {}", algorithm.text(), protocol.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_naming_generation_tells_algorithm_and_protocol() {
        let cases = [
            ("ncclAllReduceRingLLKernel_sum_f32", "ring LL"),
            ("ncclAllReduceTreeLL128Kernel_sum_f32", "tree LL128"),
            ("ncclKernel_AllReduce_RING_LL_Sum_float", "ring LL"),
            ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "ring simple"),
            ("ncclDevKernel_AllReduce_Sum_bf16_TREE_LL128", "tree LL128"),
            ("ncclDevKernel_AllReduce_Sum_f16_NVLS_SIMPLE", "NVLS simple"),
            ("ncclDevKernel_AllReduce_Sum_f16_NVLS_TREE_SIMPLE", "NVLS tree simple"),
            ("ncclDevKernel_AllReduce_Sum_f16_COLLNET_DIRECT_SIMPLE", "CollNet direct simple"),
            ("ncclDevKernel_AllGather_PAT_SIMPLE", "PAT simple"),
            ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096>)", "ring LL"),
            ("ncclSymkDevKernel_AllGather_STMC", "symmetric"),
            ("ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16", "symmetric"),
        ];
        for (name, text) in cases {
            assert_eq!(Variant::of(name).to_string(), text, "{name}");
        }
    }

    #[test]
    fn names_that_do_not_tell_give_nothing() {
        for name in ["ncclDevKernel_SendRecv", "ncclDevKernel_Generic_4", "nvshmemi_ring_ll_x", "my_tree_simple", ""] {
            assert_eq!(Variant::of(name), Variant::default(), "{name}");
        }
    }
}
