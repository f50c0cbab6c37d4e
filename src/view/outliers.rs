//! Single operations that differ most between two ranks.
//!
//! A kernel may take longer on one rank throughout, as on a slower card: that is the median of its differences, and no
//! outlier. What differs from that median by far more than the others do is one. Kernels of one name that run in another
//! launch shape, or for another time, do other work and have a median of their own. Warm-up, and steps that a capture cuts off, do not count: in the
//! latter the first kernel of a name need not be the first.

use super::counterpart::marked_steps;
use super::pairs::{Pair, pairs};
use super::{RankId, Workspace};
use crate::analysis::{FEWEST_ALIKE, Step, StepEdge};
use crate::job::median_and_spread;
use std::cmp::Reverse;

/// So many standard deviations from the median: scatter alone goes so far less than once in a million times.
const DEVIATIONS: f64 = 5.0;
/// Standard deviation over median distance from the median, of values that scatter normally.
const DEVIATION_PER_SPREAD: f64 = 1.4826;
/// Share of the duration below which a difference is no news: clocks of cards vary by so much within a run.
const LEAST_SHARE: f64 = 0.05;
/// Shorter differences cost a step nothing, however rare: a launch takes as long.
const LEAST_NS: i64 = 10_000;
/// Outliers that are kept, the largest.
const KEPT: usize = 200;

/// One operation that differs from the same work on another rank by more than is usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlier {
    /// The operation of the first and of the second rank, as indices into their operations.
    pub ops: [u32; 2],
    /// Number of the first one's step, where it is known.
    pub step: Option<i64>,
    /// How long each took.
    pub len_ns: [i64; 2],
    /// How much longer the second took; negative is shorter.
    pub longer_ns: i64,
    /// Median of that over all pairs of the name, launch shape and about the duration.
    pub usual_ns: i64,
    /// How the two met; `None` unless they are one matched collective.
    pub met: Option<Met>,
}

impl Outlier {
    /// How far it is from what is usual for others like it.
    pub const fn off_ns(&self) -> i64 {
        self.longer_ns.saturating_sub(self.usual_ns).saturating_abs()
    }
}

/// How two ranks met in a matched collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// How much later the second arrived, by the clock in force; negative is earlier.
    pub later_ns: i64,
    /// How long each waited for the last rank.
    pub wait_ns: [i64; 2],
}

/// The operations that differ most between two open ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outliers {
    /// The farthest from what is usual first; at most 200.
    pub listed: Vec<Outlier>,
    /// How many there are.
    pub count: u64,
    /// Pairs of operations that were compared.
    pub pairs: u64,
}

impl Outliers {
    /// Compares every operation of rank `a` with the same work of rank `b`. Nothing of a rank with itself.
    ///
    /// Takes time in proportion to the operations, apart from sorting them by name, and 32 bytes for each pair.
    pub fn of(workspace: &Workspace, a: RankId, b: RankId) -> Self {
        Self::find(workspace, [a, b], &|| false).unwrap_or_default()
    }

    /// [`Outliers::of`], given up with `None` soon after `cancelled` says so.
    pub fn find(workspace: &Workspace, ranks: [RankId; 2], cancelled: &dyn Fn() -> bool) -> Option<Self> {
        let compared = Compared { workspace, ranks };
        let mut pairs = pairs(workspace, ranks, cancelled)?;
        pairs.retain(|pair| compared.counts(pair));
        let key = |pair: &Pair| (pair.name, compared.blocks(pair), compared.shorter_ns(pair));
        pairs.sort_unstable_by_key(|pair| (key(pair), pair.ops));
        let is_alike = |a: &Pair, b: &Pair| {
            let ((name, blocks, ns), other) = (key(a), key(b));
            (name, blocks) == (other.0, other.1) && other.2 <= ns.saturating_add(ns / 2)
        };
        let mut found: Vec<(Pair, i64, i64)> = Vec::new();
        for alike in pairs.chunk_by(is_alike).filter(|alike| alike.len() >= FEWEST_ALIKE) {
            if cancelled() {
                return None;
            }
            let longer_ns: Vec<i64> = alike.iter().map(|pair| compared.longer_ns(pair)).collect();
            let Some((usual_ns, spread_ns)) = median_and_spread(&longer_ns) else { continue };
            let least_ns = (spread_ns as f64 * DEVIATIONS * DEVIATION_PER_SPREAD).max(LEAST_NS as f64);
            for (pair, longer_ns) in alike.iter().zip(longer_ns) {
                let off_ns = longer_ns.saturating_sub(usual_ns).saturating_abs();
                let [a_ns, b_ns] = compared.len_ns(pair);
                if off_ns as f64 > least_ns.max(a_ns.max(b_ns) as f64 * LEAST_SHARE) {
                    found.push((*pair, off_ns, usual_ns));
                }
            }
        }
        found.sort_unstable_by_key(|(pair, off_ns, _)| (Reverse(*off_ns), pair.ops));
        let count = found.len() as u64;
        found.truncate(KEPT);
        let listed = found.iter().map(|(pair, _, usual_ns)| compared.outlier(pair, *usual_ns)).collect();
        Some(Self { listed, count, pairs: pairs.len() as u64 })
    }
}

/// The two ranks.
struct Compared<'a> {
    workspace: &'a Workspace,
    ranks: [RankId; 2],
}

impl Compared<'_> {
    fn len_ns(&self, pair: &Pair) -> [i64; 2] {
        let of = |side: usize| {
            let (_, rank) = self.workspace.rank(*self.ranks.get(side)?)?;
            let op = *pair.ops.get(side)? as usize;
            Some(rank.ops.end_ns.get(op)?.saturating_sub(*rank.ops.start_ns.get(op)?))
        };
        [0, 1].map(|side| of(side).unwrap_or(0))
    }

    fn longer_ns(&self, pair: &Pair) -> i64 {
        let [a_ns, b_ns] = self.len_ns(pair);
        b_ns.saturating_sub(a_ns)
    }

    fn outlier(&self, pair: &Pair, usual_ns: i64) -> Outlier {
        let met = || {
            let of = |side: usize| {
                let (id, op) = (*self.ranks.get(side)?, *pair.ops.get(side)?);
                let (doc, rank) = self.workspace.rank(id)?;
                let waits = self.workspace.job.waits.kernels.get(self.workspace.job_rank(id)?)?;
                Some((doc.axis_ns(*rank.ops.start_ns.get(op as usize)?), waits.walk().wait_ns(op)?))
            };
            let ((a_ns, a_wait_ns), (b_ns, b_wait_ns)) = (of(0)?, of(1)?);
            Some(Met { later_ns: b_ns.saturating_sub(a_ns), wait_ns: [a_wait_ns, b_wait_ns] })
        };
        Outlier {
            ops: pair.ops,
            step: self.step(0, pair).and_then(|step| step.number),
            len_ns: self.len_ns(pair),
            longer_ns: self.longer_ns(pair),
            usual_ns,
            met: met().filter(|_| pair.met),
        }
    }

    /// How long the one that took less time took: what held up the other is not in it.
    fn shorter_ns(&self, pair: &Pair) -> i64 {
        let [a_ns, b_ns] = self.len_ns(pair);
        a_ns.min(b_ns)
    }

    /// Thread blocks of the first, where they are recorded.
    fn blocks(&self, pair: &Pair) -> Option<u16> {
        self.workspace.rank(self.ranks[0])?.1.ops.blocks_of(pair.ops[0] as usize)
    }

    /// False in warm-up and in steps that are cut off, on either rank.
    fn counts(&self, pair: &Pair) -> bool {
        let edge = |side| self.step(side, pair).and_then(|step| step.edge);
        [0, 1].into_iter().all(|side| !matches!(edge(side), Some(StepEdge::WarmUp | StepEdge::Cut)))
    }

    /// The step that one of a pair ran in.
    fn step(&self, side: usize, pair: &Pair) -> Option<&Step> {
        let (id, op) = (*self.ranks.get(side)?, *pair.ops.get(side)?);
        let start_ns = *self.workspace.rank(id)?.1.ops.start_ns.get(op as usize)?;
        let steps = marked_steps(self.workspace, id)?;
        steps.steps.get(steps.at(start_ns)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Item;
    use super::*;
    use crate::analysis::{Params, analyze, median_of};
    use crate::trace::testing::Fixture;
    use crate::units::Span;
    use proptest::prelude::*;
    use std::sync::Arc;

    const NAMES: [&str; 4] = ["gemm", "softmax", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "Memcpy HtoD"];
    const RANKS: [RankId; 2] = [RankId { doc: 0, rank: 0 }, RankId { doc: 1, rank: 0 }];

    /// Steps of one rank: its number, and its operations by name and duration in microseconds.
    type Capture = Vec<(i64, Vec<(usize, i64)>)>;

    fn workspace(captures: &[Capture]) -> Workspace {
        Workspace::new(captures.iter().map(|steps| {
            let mut fixture = Fixture::new();
            let mut at = 1_000;
            for (number, ops) in steps {
                let start_ns = at;
                for (name, us) in ops {
                    let stream = if *name == 2 { 20 } else { 7 };
                    fixture.launched(NAMES[*name], stream, 1, at, at + 10, at + 10 + us * 1_000);
                    at += us * 1_000 + 20;
                }
                fixture.range(&format!("step {number}"), 1, start_ns, at + 5);
                at += 100;
            }
            let trace = fixture.build();
            let analysis = analyze(&trace, &Params::default());
            (Arc::new(trace), Arc::new(analysis))
        }))
    }

    /// The pairs as one operation after the other is asked for its counterparts: operations, and how much longer the
    /// second takes.
    fn plain_pairs(workspace: &Workspace) -> Vec<([u32; 2], i64)> {
        let Some((_, rank)) = workspace.rank(RANKS[0]) else { return Vec::new() };
        let of = |op: u32| {
            let beside = Item::Op(RANKS[0], op).beside(workspace);
            beside.into_iter().find_map(|other| match other.item {
                Item::Op(id, found) if id == RANKS[1] => Some(([op, found], other.longer_ns)),
                _ => None,
            })
        };
        (0..rank.ops.len() as u32).filter_map(of).collect()
    }

    /// Those of the pairs outside warm-up and steps that are cut off.
    fn counted_pairs(workspace: &Workspace) -> Vec<([u32; 2], i64)> {
        let mut all = plain_pairs(workspace);
        all.retain(|(ops, _)| {
            RANKS.iter().zip(ops).all(|(id, op)| {
                let start_ns = Item::Op(*id, *op).span(workspace).unwrap().start_ns;
                let doc = &workspace.docs[id.doc];
                let steps = doc.analysis.ranks[0].steps.as_ref().filter(|steps| !steps.estimated);
                let mut steps = steps.iter().flat_map(|steps| &steps.steps);
                let step = steps.find(|step| doc.axis_span(step.window).contains(start_ns));
                step.is_none_or(|step| matches!(step.edge, None | Some(StepEdge::Outlier)))
            })
        });
        all
    }

    /// The outliers by their definition: operations and the usual difference.
    fn plain(workspace: &Workspace) -> Vec<([u32; 2], i64)> {
        let Some((doc, rank)) = workspace.rank(RANKS[0]) else { return Vec::new() };
        let name = |op: u32| doc.trace.op_full_name(rank.ops.name[op as usize]);
        let all = counted_pairs(workspace);
        let mut found = Vec::new();
        let len_ns = |op: u32| Item::Op(RANKS[0], op).span(workspace).unwrap().len_ns();
        let shorter_ns = |(ops, longer_ns): &([u32; 2], i64)| len_ns(ops[0]).min(len_ns(ops[0]) + longer_ns);
        for (at, (ops, longer_ns)) in all.iter().enumerate() {
            // From this one to any whose duration is near that of one that is alike.
            let mut is_alike = vec![false; all.len()];
            is_alike[at] = true;
            for _ in 0..all.len() {
                let known: Vec<i64> =
                    all.iter().zip(&is_alike).filter(|(_, is)| **is).map(|(p, _)| shorter_ns(p)).collect();
                for (pair, is_alike) in all.iter().zip(&mut is_alike) {
                    let ns = shorter_ns(pair);
                    let is_near = |known: &i64| *known.max(&ns) <= *known.min(&ns) + *known.min(&ns) / 2;
                    *is_alike |= name(pair.0[0]) == name(ops[0]) && known.iter().any(is_near);
                }
            }
            let alike: Vec<i64> = all.iter().zip(is_alike).filter(|(_, is)| *is).map(|((_, ns), _)| *ns).collect();
            let usual_ns = median_of(alike.clone()).unwrap();
            let spread_ns = median_of(alike.iter().map(|ns| (ns - usual_ns).abs()).collect()).unwrap();
            let own_ns = Item::Op(RANKS[0], ops[0]).span(workspace).unwrap().len_ns();
            let longest_ns = own_ns.max(own_ns + longer_ns) as f64;
            let off_ns = (longer_ns - usual_ns).abs() as f64;
            let apart = off_ns > 5.0 * 1.4826 * spread_ns as f64 && off_ns > 0.05 * longest_ns && off_ns > 10_000.0;
            if alike.len() >= 4 && apart {
                found.push((*ops, usual_ns));
            }
        }
        found
    }

    fn capture() -> impl Strategy<Value = Capture> {
        let op = (0..4_usize, prop_oneof![8 => 100..104_i64, 1 => 100..1_000_i64]);
        proptest::collection::vec((0..6_i64, proptest::collection::vec(op, 0..12)), 0..8)
    }

    proptest! {
        /// One pass gives what asking for each operation gives, whatever is missing, doubled or refused.
        #[test]
        fn outliers_are_those_of_a_search_for_every_operation(
            first in capture(),
            second in capture(),
            alike in any::<bool>(),
            late in proptest::collection::vec((0..8_usize, 0..12_usize, 1..900_i64), 0..4),
        ) {
            // Half of the time both run the same program, apart from a few delays.
            let mut second = if alike { first.clone() } else { second };
            for (step, op, us) in late {
                if let Some((_, by_us)) = second.get_mut(step).and_then(|(_, ops)| ops.get_mut(op)) {
                    *by_us += us;
                }
            }
            let workspace = workspace(&[first, second]);
            let mut pairs: Vec<[u32; 2]> = pairs(&workspace, RANKS, &|| false).unwrap().iter().map(|p| p.ops).collect();
            pairs.sort_unstable();
            let mut expected: Vec<[u32; 2]> = plain_pairs(&workspace).iter().map(|(ops, _)| *ops).collect();
            expected.sort_unstable();
            prop_assert_eq!(pairs, expected);
            let outliers = Outliers::of(&workspace, RANKS[0], RANKS[1]);
            let mut found: Vec<([u32; 2], i64)> = outliers.listed.iter().map(|o| (o.ops, o.usual_ns)).collect();
            found.sort_unstable();
            let mut expected = plain(&workspace);
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
            prop_assert!(outliers.listed.windows(2).all(|pair| pair[0].off_ns() >= pair[1].off_ns()));
            prop_assert_eq!(outliers.count as usize, outliers.listed.len());
            prop_assert_eq!(outliers.pairs as usize, counted_pairs(&workspace).len());
        }
    }

    /// Ten steps of one kernel of 100 us, one of them longer on the second rank.
    fn one_pause(longer_us: i64) -> Workspace {
        let steps = |us: i64| (0..10).map(|step| (step, vec![(0, if step == 6 { 100 + us } else { 100 })])).collect();
        workspace(&[steps(0), steps(longer_us)])
    }

    #[test]
    fn a_pause_is_found_with_its_step_and_what_is_within_the_limits_is_not() {
        let outliers = Outliers::of(&one_pause(500), RANKS[0], RANKS[1]);
        assert_eq!((outliers.listed.len(), outliers.count, outliers.pairs), (1, 1, 10));
        let found = outliers.listed[0];
        assert_eq!((found.step, found.longer_ns, found.usual_ns, found.met), (Some(6), 500_000, 0, None));
        assert_eq!((found.len_ns, found.ops), ([100_000, 600_000], [6, 6]));
        let back = Outliers::of(&one_pause(500), RANKS[1], RANKS[0]);
        assert_eq!(back.listed[0].longer_ns, -500_000, "the other way round");
        assert_eq!(Outliers::of(&one_pause(10), RANKS[0], RANKS[1]).count, 0, "no more than 10 us");
        assert_eq!(Outliers::of(&one_pause(500), RANKS[0], RANKS[0]).pairs, 0, "a rank beside itself");
    }

    #[test]
    fn what_is_slower_throughout_is_no_outlier() {
        let steps = |us: i64| (0..10).map(|step| (step, vec![(0, us + step % 3)])).collect();
        assert_eq!(Outliers::of(&workspace(&[steps(100), steps(150)]), RANKS[0], RANKS[1]).count, 0);
    }

    #[test]
    fn steps_whose_numbers_run_backwards_pair_no_collectives_by_steps() {
        // Five numbers in common, and one collective more on the first rank.
        let steps = |numbers: &[i64]| numbers.iter().map(|number| (*number, vec![(2, 100), (0, 50)])).collect();
        let workspace = workspace(&[steps(&[5, 4, 3, 2, 1, 0, 9]), steps(&[5, 4, 3, 2, 1, 0])]);
        assert!(workspace.job.groups.is_empty() && workspace.job.refused.len() == 1, "{:?}", workspace.job.groups);
        assert!(Outliers::of(&workspace, RANKS[0], RANKS[1]).pairs > 0, "kernels are paired by their steps");
    }

    #[test]
    fn kernels_of_another_launch_shape_are_compared_among_themselves() {
        let of = |slower: i64| {
            let mut fixture = Fixture::new();
            for step in 0..8 {
                let start_ns = step * 20_000_000;
                fixture.range(&format!("step {step}"), 1, start_ns, start_ns + 15_000_000);
                // The large ones are slower by more than the many small ones.
                for (at, (ns, blocks)) in [(100_000, 8), (100_000, 8), (100_000, 8), (4_000_000, 64)].iter().enumerate()
                {
                    let from_ns = start_ns + at as i64 * 1_000_000;
                    fixture.launch_of_shape("gemm", 7, 1, Span::new(from_ns, from_ns + ns + ns * slower / 4), *blocks);
                }
            }
            let trace = fixture.build();
            let analysis = analyze(&trace, &Params::default());
            (Arc::new(trace), Arc::new(analysis))
        };
        let outliers = Outliers::of(&Workspace::new([of(0), of(1)]), RANKS[0], RANKS[1]);
        assert!(outliers.pairs >= 28 && outliers.count == 0, "{outliers:?}");
    }

    #[test]
    fn a_search_that_is_cancelled_finds_nothing() {
        assert_eq!(Outliers::find(&one_pause(500), RANKS, &|| true), None);
    }
}
