//! What a rank did in any window: the parts, the causes of idle time, kernels, collectives, ranges and calls.
//!
//! Parts and causes cost a few binary searches; the rest one pass over what the rank recorded.

use super::{
    ApiCallSum, Attribution, Causes, Class, Classes, Collective, CollectiveSum, Coverage, KernelSum, Launches,
    Partition, RangeSum, RankAnalysis,
};
use crate::trace::{OpKind, OpNameId, Trace};
use crate::units::{Span, share};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How the time of a window was spent: exact, and quick enough to follow a drag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanParts {
    /// The window.
    pub window: Span,
    /// The five parts.
    pub parts: Partition,
    /// The idle part by cause; the causes sum to it.
    pub causes: Causes,
    /// Share of the window during which anything ran.
    pub busy: Option<f64>,
}

/// Operations of one name that share time with a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedSum {
    /// Their name.
    pub name: OpNameId,
    /// How many, and their time inside the window, added up.
    pub sum: KernelSum,
    /// The one with the most time inside.
    pub longest: u32,
    /// Nanoseconds of that inside the window.
    pub longest_ns: i64,
}

/// What a rank ran in a window. Operations count when they share time with it, with their time inside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpanSums {
    /// Kernels of every class.
    pub kernels: KernelSum,
    /// Copies and fills.
    pub copies: KernelSum,
    /// Kernels by name, the most time first.
    pub by_name: Vec<NamedSum>,
    /// Communication kernels by kind.
    pub collectives: Vec<(Collective, CollectiveSum)>,
    /// Nodes of the tree of NVTX ranges that were open or ran anything, the most GPU time first.
    pub ranges: Vec<(u32, RangeSum)>,
    /// CUDA calls of the process that began in the window, the most time first.
    pub calls: Vec<ApiCallSum>,
}

impl RankAnalysis {
    /// How the time of `window` (time of the export) was spent.
    pub fn span_parts(&self, window: Span) -> SpanParts {
        let (parts, causes) = (self.partition(window), self.idle.within(window));
        SpanParts { window, parts, causes, busy: share(parts.span_ns.saturating_sub(parts.idle_ns), parts.span_ns) }
    }
}

impl SpanSums {
    /// What rank `rank` ran in `window` (time of the export); nothing for a rank that is not there.
    pub fn of(trace: &Trace, rank: usize, classes: &Classes, numbers: &RankAnalysis, window: Span) -> Self {
        let Some(model) = trace.ranks.get(rank).filter(|_| !window.is_empty()) else { return Self::default() };
        let ops = &model.ops;
        let mut sums = Self { calls: Launches::api_calls_in(trace, rank, window), ..Self::default() };
        let mut by_name: FxHashMap<OpNameId, NamedSum> = FxHashMap::default();
        let mut by_kind: BTreeMap<Collective, CollectiveSum> = BTreeMap::new();
        let begun = ops.start_ns.partition_point(|start_ns| *start_ns < window.end_ns);
        for op in 0..begun {
            let Some(inside) = ops.span(op).intersect(window) else { continue };
            match ops.kind[op] {
                OpKind::Kernel => sums.kernels.add(inside.len_ns()),
                OpKind::Memcpy(_) | OpKind::Memset => {
                    sums.copies.add(inside.len_ns());
                    continue;
                }
                OpKind::Graph => continue,
            }
            let name = ops.name[op];
            let empty = NamedSum { name, sum: KernelSum::default(), longest: op as u32, longest_ns: -1 };
            let sum = by_name.entry(name).or_insert(empty);
            sum.sum.add(inside.len_ns());
            if inside.len_ns() > sum.longest_ns {
                (sum.longest, sum.longest_ns) = (op as u32, inside.len_ns());
            }
            if let Class::Communication(kind) = classes.class(name, OpKind::Kernel) {
                let sum = by_kind.entry(kind).or_default();
                sum.count += 1;
                sum.total_ns = sum.total_ns.saturating_add(inside.len_ns());
                sum.exposed_ns = sum.exposed_ns.saturating_add(numbers.exposed.within(inside));
            }
        }
        sums.by_name = by_name.into_values().collect();
        sums.by_name.sort_unstable_by_key(|sum| (Reverse(sum.sum.total_ns), sum.name));
        sums.collectives = by_kind.into_iter().collect();
        sums.ranges = ranges(trace, numbers, window);
        sums
    }
}

fn ranges(trace: &Trace, numbers: &RankAnalysis, window: Span) -> Vec<(u32, RangeSum)> {
    if numbers.ranges.is_empty() {
        return Vec::new();
    }
    let windows = Coverage::from_sorted([window]);
    let sums = numbers.ranges.within(trace, Attribution::Process, &windows);
    let nodes = (0..).zip(sums.nodes);
    let mut nodes: Vec<(u32, RangeSum)> = nodes.filter(|(_, sum)| sum.cpu_ns > 0 || sum.busy_ns > 0).collect();
    nodes.sort_unstable_by_key(|(node, sum)| (Reverse(sum.busy_ns), Reverse(sum.cpu_ns), *node));
    nodes
}

#[cfg(test)]
mod tests {
    use super::super::{Params, Rules, top_kernel};
    use super::*;
    use crate::trace::testing::Fixture;
    use proptest::prelude::*;

    fn numbers(trace: &Trace) -> (Classes, RankAnalysis) {
        let classes = Classes::of(trace, &Rules::default());
        let numbers = RankAnalysis::of(trace, 0, &classes, &Params::default());
        (classes, numbers)
    }

    const NCCL: &str = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";

    #[test]
    fn the_whole_span_gives_the_numbers_of_the_report() {
        let mut fixture = Fixture::new();
        fixture.range("step 0", 11, 0, 500);
        fixture.launched("gemm", 7, 11, 5, 100, 300).launched(NCCL, 20, 11, 10, 250, 420);
        fixture.launched("add", 7, 11, 15, 430, 450).launched("gemm", 7, 11, 20, 460, 500);
        let trace = fixture.build();
        let (classes, numbers) = numbers(&trace);
        let sums = SpanSums::of(&trace, 0, &classes, &numbers, numbers.span);
        let parts = numbers.span_parts(numbers.span);
        assert_eq!((parts.parts, parts.causes.total_ns()), (numbers.whole, numbers.whole.idle_ns));
        let top = top_kernel(&trace, 0, &classes).unwrap();
        assert_eq!(sums.by_name.first().map(|sum| (sum.name, sum.sum)), Some(top));
        let known = &numbers.communication.by_kind;
        let kinds: Vec<_> = known.iter().map(|(kind, sums)| (*kind, CollectiveSum::of(sums))).collect();
        assert_eq!(sums.collectives, kinds);
        assert_eq!(sums.kernels.count, numbers.counts.kernels);
        let whole = numbers.ranges.whole(&trace, Attribution::Process);
        assert_eq!(sums.ranges.first().map(|(node, sum)| (*node, sum.busy_ns)), Some((0, whole.nodes[0].busy_ns)));
        let calls = Launches::api_calls_in(&trace, 0, Span::new(0, 1_000));
        assert_eq!(SpanSums::of(&trace, 0, &classes, &numbers, Span::new(0, 1_000)).calls, calls);
        assert_eq!(SpanSums::of(&trace, 7, &classes, &numbers, numbers.span), SpanSums::default());
    }

    proptest! {
        #[test]
        fn a_window_holds_what_brute_force_counts(
            ops in proptest::collection::vec((0_usize..3, 0_i64..60, 0_i64..12), 1..25),
            start in -5_i64..70,
            len in 0_i64..70,
        ) {
            let names = ["gemm", "add", NCCL];
            let mut fixture = Fixture::new();
            for (name, at, len) in &ops {
                fixture.kernel(names[*name], 7 + *name as i64, *at, at + len);
            }
            let trace = fixture.build();
            let (classes, numbers) = numbers(&trace);
            let window = Span::new(start, start + len);
            let sums = SpanSums::of(&trace, 0, &classes, &numbers, window);
            for (at, name) in names.iter().enumerate() {
                let own = ops.iter().filter(|(n, ..)| *n == at).filter_map(|(_, at, len)| Span::new(*at, at + len).intersect(window));
                let expected = own.fold(KernelSum::default(), |mut sum, span| { sum.add(span.len_ns()); sum });
                let found = sums.by_name.iter().find(|sum| trace.op_full_name(sum.name) == *name);
                prop_assert_eq!(found.map_or_else(KernelSum::default, |sum| sum.sum), expected);
            }
            let exposed = |ns: i64| {
                let runs = |which: &[usize]| ops.iter().any(|(n, at, len)| which.contains(n) && Span::new(*at, at + len).contains(ns));
                runs(&[2]) && !runs(&[0, 1])
            };
            let told: i64 = sums.collectives.iter().map(|(_, sum)| sum.exposed_ns).sum();
            let alone = (window.start_ns..window.end_ns).filter(|ns| exposed(*ns)).count() as i64;
            // Kernels of one kind may overlap each other and then count more than once.
            prop_assert!(told >= alone);
            let parts = numbers.span_parts(window);
            prop_assert_eq!(parts.parts.exposed_comm_ns, alone);
            prop_assert_eq!(parts.causes.total_ns(), parts.parts.idle_ns);
        }
    }
}
