//! Kernels of a rank by name: counts, durations, class and streams, over a whole capture or some windows of it.
//!
//! Cost: one pass over the operations of the rank and 8 bytes for each kernel counted while it runs.

use super::{Class, Classes, Summary};
use crate::trace::{NameId, OpKind, OpNameId, Trace};
use crate::units::Span;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Which kernels share a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NamedBy {
    /// Those of one base name (without template arguments and parameters) and one class.
    #[default]
    Base,
    /// Those of one full name.
    Full,
}

/// Kernels of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelRow {
    /// The name that they share.
    pub name: NameId,
    /// What they are called: see [`kernel_labels`].
    pub label: KernelLabel,
    /// Name of the longest of them.
    pub op_name: OpNameId,
    /// Full names among them.
    pub variants: u32,
    /// What they do.
    pub class: Class,
    /// Statistics over their durations in nanoseconds.
    pub sum: Summary,
    /// Streams they ran on, as indices into the rank's streams, in order.
    pub streams: Vec<u16>,
    /// The longest of them, as an index into the rank's operations; of equals the first.
    pub longest: u32,
}

/// Kernels of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelGroup {
    /// The class.
    pub class: Class,
    /// Rows of that class.
    pub rows: u32,
    /// Statistics over the durations of their kernels.
    pub sum: Summary,
    /// Streams they ran on.
    pub streams: Vec<u16>,
    /// The longest of them.
    pub longest: u32,
}

/// Kernels of a rank by name and by class.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelTable {
    /// What the rows are named by.
    pub by: NamedBy,
    /// By name, the largest total first; of equals the larger count, then the first by name.
    pub rows: Vec<KernelRow>,
    /// By class, the largest total first.
    pub groups: Vec<KernelGroup>,
    /// Sum of the durations of all kernels in nanoseconds.
    pub total_ns: i64,
    /// Sum of the durations of the kernels that compute, in nanoseconds.
    pub compute_ns: i64,
}

/// What is known of a row or a group while its kernels are counted.
#[derive(Debug, Default)]
struct Tally {
    lengths_ns: Vec<i64>,
    streams: Vec<u16>,
    longest: Option<(i64, u32, OpNameId)>,
    names: Vec<OpNameId>,
}

impl Tally {
    fn add(&mut self, op: u32, name: OpNameId, len_ns: i64, stream: u16) {
        self.lengths_ns.push(len_ns);
        if let Err(at) = self.streams.binary_search(&stream) {
            self.streams.insert(at, stream);
        }
        if self.longest.is_none_or(|(longest_ns, ..)| len_ns > longest_ns) {
            self.longest = Some((len_ns, op, name));
        }
        // Names are numbered in the order of a table of names, so new ones seldom come out of order.
        if let Err(at) = self.names.binary_search(&name) {
            self.names.insert(at, name);
        }
    }

    fn join(&mut self, other: &Self) {
        self.lengths_ns.extend(&other.lengths_ns);
        self.streams.extend(&other.streams);
        self.streams.sort_unstable();
        self.streams.dedup();
        let first = |(len_ns, op, _): (i64, u32, OpNameId)| (len_ns, Reverse(op));
        self.longest = self.longest.into_iter().chain(other.longest).max_by_key(|longest| first(*longest));
    }
}

impl KernelTable {
    /// The kernels of rank `rank` that overlap one of `windows` (sorted, disjoint, on the export's clock), or all of
    /// them. A kernel that overlaps counts whole, as in every summary table.
    pub fn of(trace: &Trace, rank: usize, classes: &Classes, by: NamedBy, windows: Option<&[Span]>) -> Self {
        let Some(ops) = trace.ranks.get(rank).map(|rank| &rank.ops) else { return Self::default() };
        let mut places: FxHashMap<KernelKey, usize> = FxHashMap::default();
        // A name has one place, so that looking it up costs nothing for all kernels but its first.
        let mut place_of: Vec<Option<usize>> = vec![None; trace.op_names.len()];
        let mut tallies: Vec<(KernelKey, Tally)> = Vec::new();
        let mut begun = 0;
        for op in (0..ops.len()).filter(|op| ops.kind[*op] == OpKind::Kernel) {
            let span = ops.span(op);
            if let Some(windows) = windows {
                // Operations are sorted by start: windows that ended before this one are over for all later ones.
                while windows.get(begun).is_some_and(|window| window.end_ns <= span.start_ns) {
                    begun += 1;
                }
                if !windows.get(begun).is_some_and(|window| window.holds(span)) {
                    continue;
                }
            }
            let id = ops.name[op];
            let Some(place) = place_of.get_mut(id.0 as usize) else { continue };
            let at = *place.get_or_insert_with(|| {
                let key = kernel_key(trace, classes, id, by);
                *places.entry(key).or_insert_with(|| {
                    tallies.push((key, Tally::default()));
                    tallies.len() - 1
                })
            });
            if let Some((_, tally)) = tallies.get_mut(at) {
                tally.add(op as u32, id, span.len_ns(), ops.stream[op]);
            }
        }
        Self::from_tallies(trace, by, tallies)
    }

    fn from_tallies(trace: &Trace, by: NamedBy, tallies: Vec<(KernelKey, Tally)>) -> Self {
        let mut table = Self { by, ..Self::default() };
        let mut classes: Vec<(Class, u32, Tally)> = Vec::new();
        for ((name, class), mut tally) in tallies {
            let at = classes.iter().position(|(known, ..)| *known == class).unwrap_or_else(|| {
                classes.push((class, 0, Tally::default()));
                classes.len() - 1
            });
            if let Some((_, rows, all)) = classes.get_mut(at) {
                *rows += 1;
                all.join(&tally);
            }
            let (Some(sum), Some((_, longest, op_name))) = (Summary::of(&mut tally.lengths_ns), tally.longest) else {
                continue;
            };
            table.total_ns = table.total_ns.saturating_add(sum.total);
            if class.is_compute() {
                table.compute_ns = table.compute_ns.saturating_add(sum.total);
            }
            let (label, variants) = (KernelLabel::default(), tally.names.len() as u32);
            table.rows.push(KernelRow { name, label, op_name, variants, class, sum, streams: tally.streams, longest });
        }
        let of: Vec<(OpNameId, Class)> = table.rows.iter().map(|row| (row.op_name, row.class)).collect();
        for (row, label) in table.rows.iter_mut().zip(kernel_labels(trace, &of, by)) {
            row.label = label;
        }
        let order = |sum: &Summary| (Reverse(sum.total), Reverse(sum.count));
        table.rows.sort_by(|a, b| {
            let names = || trace.name(a.name).cmp(trace.name(b.name)).then(a.class.cmp(&b.class));
            order(&a.sum).cmp(&order(&b.sum)).then_with(names)
        });
        let group = |(class, rows, mut all): (Class, u32, Tally)| {
            let (sum, (_, longest, _)) = (Summary::of(&mut all.lengths_ns)?, all.longest?);
            Some(KernelGroup { class, rows, sum, streams: all.streams, longest })
        };
        table.groups = classes.into_iter().filter_map(group).collect();
        table.groups.sort_by_key(|group| (order(&group.sum), group.class));
        table
    }
}

/// What kernels of one row share: their name and what they do.
pub type KernelKey = (NameId, Class);

/// The row that kernels of the name `id` are counted in, wherever kernels are listed by name.
pub fn kernel_key(trace: &Trace, classes: &Classes, id: OpNameId, by: NamedBy) -> KernelKey {
    (kernel_name(trace, id, by), classes.class(id, OpKind::Kernel))
}

/// What a row of kernels is called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelLabel {
    /// Text, different for every row of a table.
    pub text: String,
    /// Letters that it shares with the label of another row, counted from the start: where room is scarce, what comes
    /// behind them is worth showing.
    pub shared: usize,
}

/// What rows of these kernels are called. The base name stands for a row; rows that share it add what tells them apart:
/// the class, or, by full name, the part of it that differs (template arguments, shapes).
pub fn kernel_labels(trace: &Trace, rows: &[(OpNameId, Class)], by: NamedBy) -> Vec<KernelLabel> {
    let bases = rows.iter().map(|(name, _)| trace.op_short_name(*name)).collect();
    labelled(bases, |same| {
        let members = || same.iter().filter_map(|at| rows.get(*at));
        match by {
            NamedBy::Base => members().map(|(_, class)| class.text()).collect(),
            NamedBy::Full => differing(&members().map(|(name, _)| trace.op_full_name(*name)).collect::<Vec<_>>()),
        }
    })
}

/// The same for kernels of which only the full name is known.
pub fn full_name_labels(names: &[&str]) -> Vec<KernelLabel> {
    let bases = names.iter().map(|name| base_of(name)).collect();
    labelled(bases, |same| differing(&same.iter().filter_map(|at| names.get(*at).copied()).collect::<Vec<_>>()))
}

/// The name of a function in its full name: without what it returns, its namespaces, template arguments and parameters.
fn base_of(full: &str) -> &str {
    let mut name = full.strip_prefix("void ").unwrap_or(full);
    // A namespace without a name is written in brackets, too.
    let unnamed = |name: &str| {
        let cut = ["(anonymous namespace)::", "<unnamed>::"].map(|marker| Some((name.find(marker)?, marker.len())));
        let (at, len) = cut.into_iter().flatten().min()?;
        name.get(..at).filter(|before| !before.contains(['<', '(']))?;
        Some(at + len)
    };
    while let Some(after) = unnamed(name).and_then(|at| name.get(at..)) {
        name = after;
    }
    let head = name.split(['<', '(']).next().unwrap_or(name);
    head.rsplit("::").next().filter(|base| !base.is_empty()).unwrap_or(full)
}

/// Base names as labels; `apart` tells what sets rows of one base name (places in `bases`) apart.
fn labelled(bases: Vec<&str>, apart: impl Fn(&[usize]) -> Vec<String>) -> Vec<KernelLabel> {
    let mut same: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, base) in bases.iter().enumerate() {
        same.entry(base).or_default().push(at);
    }
    let mut labels: Vec<String> = bases.iter().map(|base| (*base).to_owned()).collect();
    for rows in same.values().filter(|rows| rows.len() > 1) {
        for (at, apart) in rows.iter().zip(apart(rows)).filter(|(_, apart)| !apart.is_empty()) {
            if let Some(label) = labels.get_mut(*at) {
                label.push_str(&format!(" [{apart}]"));
            }
        }
    }
    with_shared(labels)
}

/// Sorted, the label that shares most with another stands beside it.
fn with_shared(labels: Vec<String>) -> Vec<KernelLabel> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|at| labels.get(*at));
    let mut shared = vec![0; labels.len()];
    for (at, next) in order.iter().zip(order.iter().skip(1)) {
        let (Some(one), Some(other)) = (labels.get(*at), labels.get(*next)) else { continue };
        let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        for at in [at, next] {
            if let Some(most) = shared.get_mut(*at) {
                *most = common.max(*most);
            }
        }
    }
    labels.into_iter().zip(shared).map(|(text, shared)| KernelLabel { text, shared }).collect()
}

/// What is left of names without the words that all begin with and all end with.
fn differing(names: &[&str]) -> Vec<String> {
    let words = |name: &&str| name.split_inclusive(['<', '>', '(', ')', ',']).map(str::to_owned).collect::<Vec<_>>();
    let mut left: Vec<Vec<String>> = names.iter().map(words).collect();
    for _ in 0..2 {
        // First from the start, then from the end.
        left.iter_mut().for_each(|words| words.reverse());
        while let Some(shared) = left.first().and_then(|words| words.last()).cloned()
            && left.iter().all(|words| words.last() == Some(&shared))
        {
            left.iter_mut().for_each(|words| drop(words.pop()));
        }
    }
    let text = |words: Vec<String>| words.concat().trim_matches([' ', ',']).to_owned();
    left.into_iter().map(text).collect()
}

/// The name that a kernel is listed under.
pub fn kernel_name(trace: &Trace, id: OpNameId, by: NamedBy) -> NameId {
    let name = trace.op_names.get(id.0 as usize);
    name.map_or(NameId::EMPTY, |name| match by {
        NamedBy::Base => name.short,
        NamedBy::Full => name.full,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Family, Rules};
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn full_names_are_shortened_and_told_apart_by_what_differs() {
        let names = [
            "void at::native::reduce_kernel<512, 1, ReduceOp<float>>(ReduceOp<float>)",
            "void at::native::reduce_kernel<128, 4, ReduceOp<float>>(ReduceOp<float>)",
            "void at::(anonymous namespace)::softmax<(anonymous namespace)::Sum>(int)",
            "void at::native::<unnamed>::layer_norm<float>(int, <unnamed>::Sum)",
            "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)",
            "nvjet_tst_192x192_TNN",
        ];
        let labels: Vec<String> = full_name_labels(&names).into_iter().map(|label| label.text).collect();
        let expected = [
            "reduce_kernel [512, 1]",
            "reduce_kernel [128, 4]",
            "softmax",
            "layer_norm",
            "ncclDevKernel_SendRecv",
            "nvjet_tst_192x192_TNN",
        ];
        assert_eq!(labels, expected);
        assert_eq!(base_of("<>("), "<>(");
    }

    fn trace() -> Trace {
        Fixture::new()
            .kernel("gemm", 7, 0, 10)
            .kernel("gemm", 8, 10, 40)
            .kernel("add", 7, 50, 55)
            .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 60, 160)
            .gpu_op(OpKind::Memset, "", 9, 170, 190, None, Some(8))
            .build()
    }

    fn table(windows: Option<&[Span]>) -> KernelTable {
        let trace = trace();
        KernelTable::of(&trace, 0, &Classes::of(&trace, &Rules::default()), NamedBy::Base, windows)
    }

    #[test]
    fn kernels_are_counted_by_name_with_streams_and_the_longest() {
        let table = table(None);
        let trace = trace();
        let names: Vec<&str> = table.rows.iter().map(|row| trace.name(row.name)).collect();
        assert_eq!(names.len(), 3);
        assert!(names[0].starts_with("nccl") && names[1..] == ["gemm", "add"]);
        let gemm = &table.rows[1];
        assert_eq!((gemm.sum.total, gemm.sum.count, gemm.sum.median, gemm.longest), (40, 2, 20.0, 1));
        assert_eq!((gemm.streams.len(), gemm.class), (2, Class::Compute(Family::Gemm)));
        assert_eq!((table.total_ns, table.compute_ns), (145, 45), "copies and fills are no kernels");
        assert_eq!(table.groups.len(), 3);
        assert!(table.groups[0].class.is_communication() && table.groups[0].rows == 1);
    }

    #[test]
    fn windows_take_what_overlaps_them_whole_and_once() {
        let names = |windows: &[Span]| table(Some(windows)).rows.iter().map(|row| row.sum.total).collect::<Vec<i64>>();
        assert_eq!(names(&[Span::new(35, 51)]), [30, 5]);
        assert_eq!(names(&[Span::new(0, 12), Span::new(30, 33)]), [40], "a kernel in two windows counts once");
        assert_eq!(names(&[Span::new(40, 50)]), [] as [i64; 0]);
        assert_eq!(names(&[]), [] as [i64; 0]);
    }
}
