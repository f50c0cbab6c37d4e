//! What a rank did in any window: the parts, the causes of idle time, kernels, collectives, ranges and calls.
//!
//! Parts and causes cost a few binary searches; the rest one pass over what the rank recorded.

use super::{
    ApiCallSum, Attribution, Causes, Class, Classes, Collective, CollectiveSum, Coverage, KernelKey, KernelLabel,
    KernelSum, Launches, NamedBy, Partition, RangeSum, RankAnalysis, kernel_key, kernel_labels,
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

/// Kernels of one row that share time with a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSum {
    /// Name of the one with the most time inside.
    pub name: OpNameId,
    /// What the row is called.
    pub label: KernelLabel,
    /// What they do.
    pub class: Class,
    /// Full names among them.
    pub variants: u32,
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
    /// Kernels by base name, in the rows of [`super::KernelTable`], the most time first.
    pub by_base: Vec<NamedSum>,
    /// The same by full name.
    pub by_full: Vec<NamedSum>,
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
            let sum = by_name.entry(name).or_insert_with(|| NamedSum::new(name, classes, op as u32));
            sum.sum.add(inside.len_ns());
            if inside.len_ns() > sum.longest_ns {
                (sum.longest, sum.longest_ns) = (op as u32, inside.len_ns());
            }
            if let Class::Communication(kind) = sum.class {
                let sum = by_kind.entry(kind).or_default();
                sum.count += 1;
                sum.total_ns = sum.total_ns.saturating_add(inside.len_ns());
                sum.exposed_ns = sum.exposed_ns.saturating_add(numbers.exposed.within(inside));
            }
        }
        let names: Vec<NamedSum> = by_name.into_values().collect();
        sums.by_base = rows(trace, classes, &names, NamedBy::Base);
        sums.by_full = rows(trace, classes, &names, NamedBy::Full);
        sums.collectives = by_kind.into_iter().collect();
        sums.ranges = ranges(trace, numbers, window);
        sums
    }

    /// Kernels by name, the most time first.
    pub fn kernels_by(&self, by: NamedBy) -> &[NamedSum] {
        match by {
            NamedBy::Base => &self.by_base,
            NamedBy::Full => &self.by_full,
        }
    }
}

impl NamedSum {
    fn new(name: OpNameId, classes: &Classes, longest: u32) -> Self {
        let (sum, class) = (KernelSum::default(), classes.class(name, OpKind::Kernel));
        Self { name, label: KernelLabel::default(), class, variants: 1, sum, longest, longest_ns: -1 }
    }

    fn join(&mut self, other: &Self) {
        self.variants += other.variants;
        self.sum.count += other.sum.count;
        self.sum.total_ns = self.sum.total_ns.saturating_add(other.sum.total_ns);
        if (other.longest_ns, Reverse(other.longest)) > (self.longest_ns, Reverse(self.longest)) {
            (self.name, self.longest, self.longest_ns) = (other.name, other.longest, other.longest_ns);
        }
    }
}

/// Kernels by name in the rows and with the labels of the table of kernels.
fn rows(trace: &Trace, classes: &Classes, names: &[NamedSum], by: NamedBy) -> Vec<NamedSum> {
    let mut joined: FxHashMap<KernelKey, NamedSum> = FxHashMap::default();
    for sum in names {
        let known = joined.entry(kernel_key(trace, classes, sum.name, by));
        known.and_modify(|row| row.join(sum)).or_insert_with(|| sum.clone());
    }
    let mut rows: Vec<NamedSum> = joined.into_values().collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.sum.total_ns), row.name));
    let of: Vec<(OpNameId, Class)> = rows.iter().map(|row| (row.name, row.class)).collect();
    for (row, label) in rows.iter_mut().zip(kernel_labels(trace, &of, by)) {
        row.label = label;
    }
    rows
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
        assert_eq!(sums.by_full.first().map(|sum| (sum.name, sum.sum)), Some(top));
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

    #[test]
    fn kernels_stand_in_the_rows_of_the_table_of_kernels_and_are_told_apart() {
        let (four, eight) = ("void at::vectorized<4, Add<float>>(int)", "void at::vectorized<8, Add<float>>(int)");
        let mut fixture = Fixture::new();
        for (at, names) in [("vectorized", four), ("gemm", "gemm"), ("vectorized", eight)].into_iter().enumerate() {
            let start_ns = at as i64 * 100;
            fixture.kernel_named(names, 7, start_ns, start_ns + 40 + at as i64);
        }
        let trace = fixture.build();
        let (classes, numbers) = numbers(&trace);
        let sums = SpanSums::of(&trace, 0, &classes, &numbers, numbers.span);
        for by in [NamedBy::Base, NamedBy::Full] {
            let table = super::super::KernelTable::of(&trace, 0, &classes, by, None);
            let rows: Vec<_> =
                table.rows.iter().map(|row| (row.label.text.as_str(), row.sum.total, row.longest)).collect();
            let own = sums.kernels_by(by).iter().map(|row| (row.label.text.as_str(), row.sum.total_ns, row.longest));
            assert_eq!(own.collect::<Vec<_>>(), rows, "{by:?}");
        }
        let labels = |by| sums.kernels_by(by).iter().map(|row| row.label.text.as_str()).collect::<Vec<_>>();
        assert_eq!(labels(NamedBy::Base), ["vectorized", "gemm"]);
        assert_eq!(labels(NamedBy::Full), ["vectorized [8]", "gemm", "vectorized [4]"]);
        let row = &sums.by_base[0];
        assert_eq!((row.variants, trace.op_full_name(row.name)), (2, eight), "the name is that of the longest");
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
                let found = sums.by_full.iter().find(|sum| trace.op_full_name(sum.name) == *name);
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
