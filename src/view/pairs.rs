//! Every operation of one rank with the same work on another, in one pass. The rule is that of `counterpart.rs`, which
//! looks for one operation at a time: a matched collective, else the same place among the operations of its full name in
//! the step of the same number.

use super::counterpart::{marked_steps, range};
use super::{RankId, Workspace};
use crate::job::{Strip, StripSide};
use crate::trace::{OpNameId, OpTable, Trace};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An operation of one rank and the same work on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    /// Number of the first one's full name: equal for equal names.
    pub name: u32,
    /// Both, as indices into the operations of their ranks.
    pub ops: [u32; 2],
    /// They are one matched collective.
    pub met: bool,
}

/// The pairs of two open ranks; `None` when `cancelled` says so meanwhile. Takes time in proportion to their operations
/// and 16 bytes for each pair.
pub(super) fn pairs(workspace: &Workspace, ranks: [RankId; 2], cancelled: &dyn Fn() -> bool) -> Option<Vec<Pair>> {
    let (Some((doc_a, a)), Some((doc_b, b))) = (workspace.rank(ranks[0]), workspace.rank(ranks[1])) else {
        return Some(Vec::new());
    };
    if ranks[0] == ranks[1] {
        return Some(Vec::new());
    }
    let names = Names::of([&doc_a.trace, &doc_b.trace]);
    let mut found = Found { tables: [&a.ops, &b.ops], names, matched: vec![false; a.ops.len()], pairs: Vec::new() };
    found.meet(workspace, ranks, cancelled)?;
    found.walk_steps(workspace, ranks, cancelled)?;
    Some(found.pairs)
}

/// How all operations of one rank differ from the same work on another, along time; `None` when `cancelled` says so
/// meanwhile. Starts are counted from that of the step: that needs no clock in common.
pub fn strip(workspace: &Workspace, ranks: [RankId; 2], cancelled: &dyn Fn() -> bool) -> Option<Strip> {
    let side = |id: RankId| {
        let (doc, _) = workspace.rank(id)?;
        marked_steps(workspace, id)?;
        Some(StripSide { trace: Arc::clone(&doc.trace), analysis: Arc::clone(&doc.analysis), rank: id.rank })
    };
    let [Some(own), Some(other)] = ranks.map(side) else { return Some(Strip::default()) };
    let pairs = pairs(workspace, ranks, cancelled)?;
    Some(Strip::of_pairs(pairs.into_iter().map(|pair| pair.ops).collect(), [own, other]))
}

/// True when two open ranks may have steps of one number, so that their work can be compared.
pub fn share_steps(workspace: &Workspace, ranks: [RankId; 2]) -> bool {
    let range = |id: RankId| {
        let numbers = marked_steps(workspace, id)?.steps.iter().filter_map(|step| step.number);
        numbers.fold(None, |range: Option<(i64, i64)>, number| {
            let (low, high) = range.unwrap_or((number, number));
            Some((low.min(number), high.max(number)))
        })
    };
    let [Some(a), Some(b)] = ranks.map(range) else { return false };
    a.0 <= b.1 && b.0 <= a.1
}

/// Full names as numbers that two captures share.
struct Names {
    /// By capture and name there.
    of: [Vec<u32>; 2],
    count: usize,
}

impl Names {
    fn of(traces: [&Trace; 2]) -> Self {
        let mut known: FxHashMap<&str, u32> = FxHashMap::default();
        let of = traces.map(|trace| {
            let names = (0..trace.op_names.len() as u32).map(|name| trace.op_full_name(OpNameId(name)));
            let mut number = |name| {
                let next = known.len() as u32;
                *known.entry(name).or_insert(next)
            };
            names.map(&mut number).collect()
        });
        Self { of, count: known.len() }
    }

    /// The name of operation `op` of capture `side`.
    fn get(&self, side: usize, table: &OpTable, op: usize) -> Option<u32> {
        self.of.get(side)?.get(table.name.get(op)?.0 as usize).copied()
    }
}

struct Found<'a> {
    tables: [&'a OpTable; 2],
    names: Names,
    /// Operations of the first rank that are matched with one of the second: they have no other counterpart there.
    matched: Vec<bool>,
    pairs: Vec<Pair>,
}

impl Found<'_> {
    fn add(&mut self, ops: [u32; 2], met: bool) {
        if let Some(name) = self.names.get(0, self.tables[0], ops[0] as usize) {
            self.pairs.push(Pair { name, ops, met });
        }
    }

    /// Takes the matched collectives.
    fn meet(&mut self, workspace: &Workspace, ranks: [RankId; 2], cancelled: &dyn Fn() -> bool) -> Option<()> {
        let job = &workspace.job;
        let [Some(a), Some(b)] = ranks.map(|rank| workspace.job_rank(rank)) else { return Some(()) };
        for (at, group) in job.groups.iter().enumerate() {
            if cancelled() {
                return None;
            }
            let other = group.members.iter().position(|member| member.rank == b);
            for own in (0..group.members.len()).filter(|own| group.members.get(*own).is_some_and(|m| m.rank == a)) {
                for number in 0..group.count {
                    let Some((_, op)) = job.op_of(at, own, number) else { continue };
                    let Some((_, other)) = other.and_then(|other| job.op_of(at, other, number)) else { continue };
                    if let Some(matched) = self.matched.get_mut(op as usize) {
                        *matched = true;
                    }
                    self.add([op, other], true);
                }
            }
        }
        Some(())
    }

    /// Takes all others by name, step and place.
    fn walk_steps(&mut self, workspace: &Workspace, ranks: [RankId; 2], cancelled: &dyn Fn() -> bool) -> Option<()> {
        let [Some(a), Some(b)] = ranks.map(|rank| marked_steps(workspace, rank)) else { return Some(()) };
        let mut numbered: FxHashMap<i64, usize> = FxHashMap::default();
        for (at, step) in b.steps.iter().enumerate() {
            if let Some(number) = step.number {
                numbered.entry(number).or_insert(at);
            }
        }
        let of_own = |(at, step): (usize, &crate::analysis::Step)| Some((*numbered.get(&step.number?)?, at));
        // Steps of one number stand together, so that those of the other rank are listed once.
        let mut steps: Vec<(usize, usize)> = a.steps.iter().enumerate().filter_map(of_own).collect();
        steps.sort_unstable();
        let [own, other] = self.tables;
        let mut lists = Lists { by_name: vec![Vec::new(); self.names.count], used: Vec::new() };
        let mut places: Vec<usize> = vec![0; self.names.count];
        let mut listed = None;
        for (of_other, of_own) in steps {
            if cancelled() {
                return None;
            }
            let (Some(step), Some(other_step)) = (a.steps.get(of_own), b.steps.get(of_other)) else { continue };
            if listed != Some(of_other) {
                lists.clear();
                for op in range(&other.start_ns, other_step.window) {
                    if let Some(name) = self.names.get(1, other, op) {
                        lists.add(name, op as u32);
                    }
                }
                listed = Some(of_other);
            }
            let ops = range(&own.start_ns, step.window);
            for op in ops.clone() {
                let Some(name) = self.names.get(0, own, op) else { continue };
                let Some(place) = places.get_mut(name as usize) else { continue };
                let found = lists.get(name, *place);
                *place += 1;
                if let Some(found) = found.filter(|_| self.matched.get(op) == Some(&false)) {
                    self.pairs.push(Pair { name, ops: [op as u32, found], met: false });
                }
            }
            for name in ops.filter_map(|op| self.names.get(0, own, op)) {
                if let Some(place) = places.get_mut(name as usize) {
                    *place = 0;
                }
            }
        }
        Some(())
    }
}

/// Operations of one step by name.
struct Lists {
    by_name: Vec<Vec<u32>>,
    /// Names that have any.
    used: Vec<u32>,
}

impl Lists {
    fn clear(&mut self) {
        for name in self.used.drain(..) {
            if let Some(list) = self.by_name.get_mut(name as usize) {
                list.clear();
            }
        }
    }

    fn add(&mut self, name: u32, op: u32) {
        if let Some(list) = self.by_name.get_mut(name as usize) {
            if list.is_empty() {
                self.used.push(name);
            }
            list.push(op);
        }
    }

    fn get(&self, name: u32, place: usize) -> Option<u32> {
        self.by_name.get(name as usize)?.get(place).copied()
    }
}
