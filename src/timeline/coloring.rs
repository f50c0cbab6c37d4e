//! Which ink each GPU operation is painted with, by what the user wants colours to stand for; and the legend.
//!
//! Inks cost a byte a name, or a byte an operation when they stand for NVTX ranges.

use super::ink::{Ink, call_inks};
use super::label;
use crate::analysis::{Attribution, Class, Classes};
use crate::trace::{OpKind, OpNameId, OpTable};
use crate::view::{Coloring, Doc, RankId, ViewState, Workspace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What colours stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scheme {
    /// What operations are told apart by.
    pub coloring: Coloring,
    /// Which operations belong to a range; only ranges depend on it.
    pub attribution: Attribution,
}

impl Scheme {
    /// The scheme that `state` asks for.
    pub fn of(state: &ViewState) -> Self {
        let by_range = state.coloring == Coloring::Range;
        let attribution = if by_range { state.attribution } else { Attribution::default() };
        Self { coloring: state.coloring, attribution }
    }
}

/// Inks of the GPU operations of a rank.
#[derive(Debug, Default)]
pub enum OpInks {
    /// By class.
    #[default]
    Class,
    /// By name, indexed by [`OpNameId`]; copies and fills by class.
    Name(Vec<u8>),
    /// By stream.
    Stream,
    /// By operation.
    Op(Vec<u8>),
}

impl OpInks {
    /// Ink of operation `at` of `table`.
    pub fn ink(&self, table: &OpTable, classes: &Classes, at: u32) -> Ink {
        let op = at as usize;
        let (Some(name), Some(kind)) = (table.name.get(op), table.kind.get(op)) else { return Ink::COPY };
        match self {
            Self::Class => Ink::of(classes.class(*name, *kind)),
            Self::Name(_) if matches!(kind, OpKind::Memcpy(_) | OpKind::Memset) => Ink::COPY,
            Self::Name(inks) => inks.get(name.0 as usize).map_or(Ink::COPY, |ink| Ink(*ink)),
            Self::Stream => Ink::hue(table.stream.get(op).map_or(0, |stream| usize::from(*stream))),
            Self::Op(inks) => inks.get(op).map_or(Ink::NVTX, |ink| Ink(*ink)),
        }
    }
}

/// Inks of everything in a document.
#[derive(Debug, Default)]
pub struct Inks {
    /// Of API calls, by name.
    pub calls: Vec<u8>,
    /// Of GPU operations, by rank.
    pub ops: Vec<OpInks>,
}

impl Inks {
    /// The inks of `doc` in `scheme`. `hues` are those of [`range_hues`].
    pub fn of(doc: &Doc, scheme: Scheme, hues: &BTreeMap<String, usize>) -> Self {
        let trace = &doc.trace;
        let by_name = |ink: &dyn Fn(OpNameId) -> Ink| {
            OpInks::Name((0..trace.op_names.len()).map(|name| ink(OpNameId(name as u32)).0).collect())
        };
        let of_rank = |rank: usize| match scheme.coloring {
            Coloring::Class => OpInks::Class,
            Coloring::Family => by_name(&|name| match doc.analysis.classes.class(name, OpKind::Kernel) {
                Class::Compute(family) => Ink::hue(family as usize),
                class => Ink::of(class),
            }),
            Coloring::Name => by_name(&|name| Ink::hue(name_hue(trace.op_short_name(name)))),
            Coloring::Stream => OpInks::Stream,
            Coloring::Range => {
                let ops = trace.ranks.get(rank).map_or(0, |rank| rank.ops.len());
                let mut by_node: FxHashMap<u32, Ink> = FxHashMap::default();
                let Some(ranges) = doc.analysis.ranks.get(rank).map(|numbers| &numbers.ranges) else {
                    return OpInks::Class;
                };
                let mut of_node = |node: u32| {
                    *by_node.entry(node).or_insert_with(|| {
                        let name = ranges.name(trace, node);
                        Ink::hue(hues.get(&name).copied().unwrap_or_else(|| name_hue(&name)))
                    })
                };
                let ink = |op: usize| ranges.top_node(scheme.attribution, op).map_or(Ink::NVTX, &mut of_node).0;
                OpInks::Op((0..ops).map(ink).collect())
            }
        };
        Self { calls: call_inks(trace), ops: (0..trace.ranks.len()).map(of_rank).collect() }
    }

    /// Inks of the operations of rank `rank`.
    pub fn of_rank(&self, rank: usize) -> &OpInks {
        self.ops.get(rank).unwrap_or(&OpInks::Class)
    }
}

/// The hue of a name: the same wherever and whenever the name occurs.
fn name_hue(name: &str) -> usize {
    // FNV-1a.
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 32)) as usize % Ink::HUES
}

/// Hues of the top ranges of all documents: that of the name, or the next that is free, so that a few ranges never
/// share one.
pub fn range_hues(workspace: &Workspace, scheme: Scheme) -> BTreeMap<String, usize> {
    if scheme.coloring != Coloring::Range {
        return BTreeMap::new();
    }
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (id, doc, rank) in workspace.ranks() {
        let Some(numbers) = doc.analysis.ranks.get(id.rank) else { continue };
        let ops = 0..rank.ops.len();
        let nodes: BTreeSet<u32> = ops.filter_map(|op| numbers.ranges.top_node(scheme.attribution, op)).collect();
        names.extend(nodes.into_iter().map(|node| numbers.ranges.name(&doc.trace, node)));
    }
    free_hues(names)
}

fn free_hues(names: BTreeSet<String>) -> BTreeMap<String, usize> {
    let mut taken = [false; Ink::HUES];
    let mut hues = BTreeMap::new();
    for name in names {
        let own = name_hue(&name);
        let hue = (own..own + Ink::HUES).map(|hue| hue % Ink::HUES).find(|hue| taken.get(*hue) == Some(&false));
        let hue = hue.unwrap_or(own);
        if let Some(taken) = taken.get_mut(hue) {
            *taken = true;
        }
        hues.insert(name, hue);
    }
    hues
}

/// What a colour means, and how much there is of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The colour.
    pub ink: Ink,
    /// What it means.
    pub text: String,
    /// Operations, in all open documents.
    pub count: u64,
    /// Their time.
    pub busy_ns: i64,
}

/// What the colours mean, the ones with most time first.
pub fn legend(workspace: &Workspace, scheme: Scheme, inks: impl Fn(usize) -> std::sync::Arc<Inks>) -> Vec<Entry> {
    let mut sums: BTreeMap<(Ink, String), (u64, i64)> = BTreeMap::new();
    for (id, doc, rank) in workspace.ranks() {
        let inks = inks(id.doc);
        let inks = inks.of_rank(id.rank);
        // Names differ by less than operations do, so texts are made once for each.
        let mut own: FxHashMap<(Ink, u32), (u64, i64)> = FxHashMap::default();
        for op in 0..rank.ops.len() {
            let sum = own.entry((inks.ink(&rank.ops, &doc.analysis.classes, op as u32), what(scheme, doc, id, op)));
            let (count, busy_ns) = sum.or_default();
            *count += 1;
            *busy_ns = busy_ns.saturating_add(rank.ops.span(op).len_ns());
        }
        let mut own: Vec<_> = own.into_iter().collect();
        own.sort_unstable_by_key(|(key, _)| *key);
        for ((ink, what), (count, busy_ns)) in own {
            let sum = sums.entry((ink, text(scheme.coloring, doc, id, ink, what))).or_default();
            *sum = (sum.0 + count, sum.1.saturating_add(busy_ns));
        }
    }
    let mut entries: Vec<Entry> =
        sums.into_iter().map(|((ink, text), (count, busy_ns))| Entry { ink, text, count, busy_ns }).collect();
    entries.sort_by_key(|entry| Reverse(entry.busy_ns));
    entries
}

/// What tells the entries of one ink apart: a number that [`text`] makes a text of.
fn what(scheme: Scheme, doc: &Doc, id: RankId, op: usize) -> u32 {
    let Some(rank) = doc.trace.ranks.get(id.rank) else { return 0 };
    match scheme.coloring {
        Coloring::Class | Coloring::Family => 0,
        Coloring::Name => match rank.ops.kind.get(op) {
            Some(OpKind::Kernel | OpKind::Graph) => rank.ops.name.get(op).map_or(0, |name| name.0),
            _ => 0,
        },
        Coloring::Stream => rank.ops.stream.get(op).map_or(0, |stream| u32::from(*stream)),
        Coloring::Range => {
            let numbers = doc.analysis.ranks.get(id.rank);
            numbers.and_then(|numbers| numbers.ranges.top_node(scheme.attribution, op)).unwrap_or(u32::MAX)
        }
    }
}

fn text(coloring: Coloring, doc: &Doc, id: RankId, ink: Ink, what: u32) -> String {
    let name = match (coloring, ink) {
        (_, Ink::FUSED) => "Fused compute and communication".to_owned(),
        (_, Ink::GRAPH) => "CUDA graphs".to_owned(),
        (_, Ink::COMMUNICATION) => "Communication".to_owned(),
        (_, Ink::COPY) => "Copies".to_owned(),
        (Coloring::Range, Ink::NVTX) => "In no range".to_owned(),
        (Coloring::Class | Coloring::Family, ink) => {
            let family = ink.as_family().or_else(|| Ink(ink.as_hue()? as u8).as_family());
            family.map(|family| family.text().to_owned()).unwrap_or_default()
        }
        (Coloring::Name, _) => doc.trace.op_short_name(OpNameId(what)).to_owned(),
        (Coloring::Stream, _) => {
            let stream = doc.trace.ranks.get(id.rank).and_then(|rank| rank.streams.get(what as usize));
            stream.map_or_else(String::new, |stream| format!("Stream {}", stream.id))
        }
        (Coloring::Range, _) => {
            doc.analysis.ranks.get(id.rank).map_or_else(String::new, |numbers| numbers.ranges.name(&doc.trace, what))
        }
    };
    label::safe(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_same_hue_always() {
        // Saved pictures and other captures show the same colours only while these stay.
        let names = ["ampere_bf16_s16816gemm", "flash_fwd_kernel", "ncclDevKernel_AllReduce"];
        assert_eq!(names.map(name_hue), names.map(name_hue));
        assert!((0..500).map(|n| name_hue(&format!("kernel_{n}"))).collect::<BTreeSet<_>>().len() == Ink::HUES);
    }

    #[test]
    fn up_to_twelve_ranges_never_share_a_hue() {
        let names: BTreeSet<String> = (0..12).map(|n| format!("range {n}")).collect();
        let hues: BTreeSet<usize> = free_hues(names).into_values().collect();
        assert_eq!(hues.len(), 12);
        assert_eq!(free_hues((0..40).map(|n| n.to_string()).collect()).len(), 40, "more share");
    }
}
