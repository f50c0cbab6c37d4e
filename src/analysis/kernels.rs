//! Kernel time by family, fused kernels apart, and the kernels that no rule knows.

use super::{Class, Collective, Family};
use crate::trace::{OpKind, OpNameId, OpTable};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// Count and time of some kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct KernelSum {
    /// Kernels.
    pub count: u64,
    /// Sum of their durations in nanoseconds (they may overlap each other).
    pub total_ns: i64,
}

impl KernelSum {
    pub(super) fn add(&mut self, len_ns: i64) {
        self.count += 1;
        // Durations overlap, so their sum has no bound; only damaged files come near the limit.
        self.total_ns = self.total_ns.saturating_add(len_ns);
    }
}

/// Kernel time of one rank by what the kernels do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelSums {
    /// Compute kernels by family; families without kernels are absent.
    pub families: BTreeMap<Family, KernelSum>,
    /// Kernels that communicate and compute at once; they count as compute in the partition.
    pub fused: BTreeMap<Collective, KernelSum>,
    /// Names that no rule knows and that take at least 1 % of the time covered by compute, longest first.
    pub unclassified: Vec<(OpNameId, KernelSum)>,
}

impl KernelSums {
    /// Sums the kernels of `ops`; `compute_ns` is the time that compute covers.
    pub(super) fn of(ops: &OpTable, class: impl Fn(usize) -> Class, compute_ns: i64) -> Self {
        let mut sums = Self::default();
        let mut others: FxHashMap<OpNameId, KernelSum> = FxHashMap::default();
        for op in (0..ops.len()).filter(|op| ops.kind[*op] == OpKind::Kernel) {
            let len_ns = ops.span(op).len_ns();
            match class(op) {
                Class::Compute(family) => {
                    sums.families.entry(family).or_default().add(len_ns);
                    if family == Family::Other {
                        others.entry(ops.name[op]).or_default().add(len_ns);
                    }
                }
                Class::Fused(kind) => sums.fused.entry(kind).or_default().add(len_ns),
                Class::Communication(_) | Class::Copy | Class::Graph => {}
            }
        }
        sums.unclassified =
            others.into_iter().filter(|(_, sum)| sum.total_ns > 0 && sum.total_ns >= compute_ns / 100).collect();
        sums.unclassified.sort_unstable_by_key(|(name, sum)| (std::cmp::Reverse(sum.total_ns), *name));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Classes, Params, RankAnalysis, Rules};
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn kernels_are_summed_by_family_and_unknown_ones_are_named() {
        let trace = Fixture::new()
            .kernel("gemm", 7, 0, 700)
            .kernel("gemm", 7, 700, 800)
            .kernel("zz_first", 7, 800, 890)
            .kernel("zz_rare", 7, 890, 891)
            .kernel("ncclDevKernel_AllGather_RING_LL", 20, 900, 950)
            .kernel("allreduce_fusion_kernel_oneshot_lamport", 7, 950, 960)
            .build();
        let classes = Classes::of(&trace, &Rules::default());
        let sums = RankAnalysis::of(&trace, 0, &classes, &Params::default()).kernels;
        assert_eq!(sums.families[&Family::Gemm], KernelSum { count: 2, total_ns: 800 });
        assert_eq!(sums.fused[&Collective::AllReduce], KernelSum { count: 1, total_ns: 10 });
        let named: Vec<&str> = sums.unclassified.iter().map(|(name, _)| trace.op_short_name(*name)).collect();
        assert_eq!(named, ["zz_first"]);
    }
}
