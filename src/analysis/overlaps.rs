//! Which groups of operations ran at once: an exact split of time over every combination of groups.
//!
//! Groups are the user's own (`[[group]]` tables of the rules), and for operations in none of those: compute, each kind of
//! collective, copies. The combinations that occur, with "nothing", sum to the window to the nanosecond.
//!
//! Cost: one linear pass over the operations per group.

use super::{Class, Classes, Collective, RankAnalysis, Rules, intervals, means};
use crate::trace::{OpKind, OpNameId, OpTable, Trace};
use crate::units::Span;
use serde::Serialize;
use std::collections::BTreeMap;

/// Most groups that are told apart; those beyond, and no capture has as many kinds, are left out.
const MOST_GROUPS: usize = 32;

/// Time during which exactly these groups ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// The groups, by name; none when nothing ran.
    pub groups: Vec<String>,
    /// Nanoseconds of the rank's whole span.
    pub whole_ns: i64,
    /// Mean nanoseconds of a typical step; absent without steps.
    pub typical_step_ns: Option<i64>,
}

/// The exact split of a rank's time by the groups that ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Overlaps {
    /// Every combination that occurs, the longest of the whole span first.
    pub sets: Vec<Overlap>,
}

impl Overlaps {
    /// Splits the span of a rank and, when there are any, its typical steps.
    pub(super) fn of(trace: &Trace, rank: usize, numbers: &RankAnalysis, classes: &Classes, rules: &Rules) -> Self {
        let (ops, steps) = (&trace.ranks[rank].ops, numbers.steps.as_ref());
        let groups = Groups::of(trace, ops, classes, rules);
        let unions: Vec<_> = (0..groups.names.len())
            .map(|group| {
                let (ops, groups) = (ops, &groups);
                let in_group = move |op: &usize| groups.mask(ops, *op) >> group & 1 == 1;
                intervals::union((0..ops.len()).filter(in_group).map(|op| ops.span(op)))
            })
            .collect();
        let typical: Vec<Span> = steps.iter().flat_map(|s| &s.steps).filter(|s| s.typical).map(|s| s.window).collect();
        let sums = sweep(unions, numbers.span, &typical);
        let keys: Vec<u32> = sums.keys().copied().collect();
        let in_steps: Vec<i128> = sums.values().map(|(_, ns)| i128::from(*ns)).collect();
        let mean_span_ns = steps.map(|steps| steps.typical.mean.span_ns);
        let mean_ns = mean_span_ns.map(|total| means::rounded(&in_steps, typical.len() as i128, total));
        let mut sets: Vec<Overlap> = keys
            .iter()
            .zip(sums.values())
            .enumerate()
            .map(|(at, (mask, (whole_ns, _)))| Overlap {
                groups: groups.named(*mask),
                whole_ns: *whole_ns,
                typical_step_ns: mean_ns.as_ref().and_then(|mean| mean.get(at)).copied(),
            })
            .collect();
        sets.sort_by(|a, b| b.whole_ns.cmp(&a.whole_ns).then_with(|| a.groups.cmp(&b.groups)));
        Self { sets }
    }
}

/// The groups of a rank, and which of them an operation is in.
struct Groups {
    names: Vec<String>,
    /// By operation name: bits of the groups of a kernel of that name.
    kernels: Vec<u32>,
    copies: u32,
    graphs: u32,
}

impl Groups {
    fn of(trace: &Trace, ops: &OpTable, classes: &Classes, rules: &Rules) -> Self {
        let mut groups = Self { names: Vec::new(), kernels: Vec::new(), copies: 0, graphs: 0 };
        for name in rules.group_names() {
            groups.bit(name);
        }
        let mut used = vec![false; trace.op_names.len()];
        let (mut graphs, mut copies) = (false, false);
        for op in 0..ops.len() {
            match ops.kind[op] {
                OpKind::Kernel => used.get_mut(ops.name[op].0 as usize).into_iter().for_each(|used| *used = true),
                OpKind::Graph => graphs = true,
                OpKind::Memcpy(_) | OpKind::Memset => copies = true,
            }
        }
        // Kernels in none of the user's groups, by the group of their class. Sorted, so that the order of rows in the
        // file does not matter.
        let mut by_class: BTreeMap<Option<Collective>, Vec<usize>> = BTreeMap::new();
        groups.kernels = vec![0; trace.op_names.len()];
        for (at, name) in trace.op_names.iter().enumerate().filter(|(at, _)| used[*at]) {
            let own = rules.groups_of(trace.name(name.short), trace.name(name.full));
            groups.kernels[at] = own;
            if own == 0 {
                let kind = match classes.class(OpNameId(at as u32), OpKind::Kernel) {
                    Class::Communication(kind) => Some(kind),
                    _ => None,
                };
                by_class.entry(kind).or_default().push(at);
            }
        }
        if graphs {
            groups.graphs = groups.bit("compute");
        }
        for (kind, names) in by_class {
            let bit = groups.bit(kind.map_or("compute", Collective::text));
            names.into_iter().for_each(|at| groups.kernels[at] = bit);
        }
        if copies {
            groups.copies = groups.bit("copies");
        }
        groups
    }

    /// The bit of a group, which is added when it is new.
    fn bit(&mut self, name: &str) -> u32 {
        let known = self.names.iter().position(|known| known == name);
        let at = known.unwrap_or_else(|| {
            if self.names.len() < MOST_GROUPS {
                self.names.push(name.to_owned());
                self.names.len() - 1
            } else {
                MOST_GROUPS
            }
        });
        1_u32.checked_shl(at as u32).unwrap_or(0)
    }

    fn mask(&self, ops: &OpTable, op: usize) -> u32 {
        match ops.kind[op] {
            OpKind::Kernel => self.kernels.get(ops.name[op].0 as usize).copied().unwrap_or(0),
            OpKind::Graph => self.graphs,
            OpKind::Memcpy(_) | OpKind::Memset => self.copies,
        }
    }

    fn named(&self, mask: u32) -> Vec<String> {
        let of = |(at, name): (usize, &String)| (mask >> at & 1 == 1).then(|| name.clone());
        self.names.iter().enumerate().filter_map(of).collect()
    }
}

/// Time of `span` by the set of unions that hold it: in all, and inside `windows` (sorted, disjoint).
fn sweep<I: Iterator<Item = Span>>(mut unions: Vec<I>, span: Span, windows: &[Span]) -> BTreeMap<u32, (i64, i64)> {
    let mut next: Vec<Option<Span>> = unions.iter_mut().map(Iterator::next).collect();
    let mut sums: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    let (mut at_ns, mut window) = (span.start_ns, 0);
    while at_ns < span.end_ns {
        let (mut mask, mut until_ns) = (0_u32, span.end_ns);
        for (group, (held, rest)) in next.iter_mut().zip(&mut unions).enumerate() {
            while held.is_some_and(|held| held.end_ns <= at_ns) {
                *held = rest.next();
            }
            let Some(held) = held else { continue };
            let runs = held.start_ns <= at_ns;
            mask |= u32::from(runs) << group;
            until_ns = until_ns.min(if runs { held.end_ns } else { held.start_ns });
        }
        let sum = sums.entry(mask).or_default();
        sum.0 += until_ns - at_ns;
        let piece = Span::new(at_ns, until_ns);
        while windows.get(window).is_some_and(|w| w.end_ns <= at_ns) {
            window += 1;
        }
        let inside = windows.iter().skip(window).take_while(|w| w.start_ns < until_ns);
        sum.1 += inside.filter_map(|w| w.intersect(piece)).map(Span::len_ns).sum::<i64>();
        at_ns = until_ns;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::{Params, analyze};
    use super::*;
    use crate::trace::testing::Fixture;
    use proptest::prelude::*;

    fn split(trace: &Trace, rules: &str) -> Vec<(String, i64)> {
        let params = Params { rules: Rules::parse(rules).unwrap(), ..Params::default() };
        let sets = &analyze(trace, &params).ranks[0].overlaps.sets;
        sets.iter().map(|set| (set.groups.join("+"), set.whole_ns)).collect()
    }

    #[test]
    fn all_combinations_of_compute_and_two_kinds_of_collective() {
        let mut fixture = Fixture::new();
        // Compute runs from 0 to 40, the all-reduce from 20 to 60, the all-to-all during every other ten.
        fixture.kernel("gemm", 7, 0, 40).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 20, 60);
        for at in [10, 30, 50, 70] {
            fixture.kernel("ncclDevKernel_AllToAll_RING_LL", 21, at, at + 10);
        }
        let mut split = split(&fixture.build(), "");
        split.sort();
        let expected = [
            ("", 10),
            ("compute", 10),
            ("compute+AllReduce", 10),
            ("compute+AllReduce+AllToAll", 10),
            ("compute+AllToAll", 10),
            ("AllReduce", 10),
            ("AllReduce+AllToAll", 10),
            ("AllToAll", 10),
        ];
        let mut expected = expected.map(|(set, ns)| (set.to_owned(), ns));
        expected.sort();
        assert_eq!(split, expected);
    }

    #[test]
    fn groups_of_the_users_own_go_first() {
        let trace = Fixture::new().kernel("my_gemm", 7, 0, 10).kernel("other", 8, 5, 20).build();
        let rules = "[[group]]\nname = \"products\"\npattern = \"gemm\"\n";
        let expected = [("compute", 10), ("products", 5), ("products+compute", 5)];
        assert_eq!(split(&trace, rules), expected.map(|(set, ns)| (set.to_owned(), ns)));
    }

    proptest! {
        #[test]
        fn the_sets_equal_a_count_of_every_nanosecond(
            ops in proptest::collection::vec((0_u8..4, 0_i64..50, 0_i64..9), 1..20),
        ) {
            let mut fixture = Fixture::new();
            for (what, at, len) in &ops {
                match what {
                    0 => fixture.kernel("gemm", 7, *at, at + len),
                    1 => fixture.kernel("ncclDevKernel_AllGather_RING_LL", 20, *at, at + len),
                    2 => fixture.kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", 21, *at, at + len),
                    _ => fixture.gpu_op(OpKind::Memset, "", 9, *at, at + len, None, None),
                };
            }
            let trace = fixture.build();
            let names = ["compute", "AllGather", "ReduceScatter", "copies"];
            let span = trace.ranks[0].ops.hull().unwrap();
            let mut expected: BTreeMap<Vec<&str>, i64> = BTreeMap::new();
            for ns in span.start_ns..span.end_ns {
                let runs = |kind: usize| ops.iter().any(|(k, at, len)| *k as usize == kind && Span::new(*at, at + len).contains(ns));
                let set = (0..4).filter(|kind| runs(*kind)).map(|kind| names[kind]).collect::<Vec<_>>();
                *expected.entry(set).or_default() += 1;
            }
            let sets = &analyze(&trace, &Params::default()).ranks[0].overlaps.sets;
            let found: BTreeMap<Vec<&str>, i64> = sets
                .iter()
                .map(|set| {
                    (set.groups.iter().map(String::as_str).collect(), set.whole_ns)
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
