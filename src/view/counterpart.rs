//! The same work on other ranks: the other members of a matched collective, the same kernel of the same step.
//!
//! Kernels of ranks that did not meet in one matched collective are paired by their full name, the number of their step, and their place among
//! the kernels of that name in the step. `pairs.rs` does the same for all operations of a rank at once.

use super::{Item, RankId, Workspace};
use crate::analysis::Steps;
use crate::job::{Later, StartBasis};
use crate::trace::{OpNameId, Trace};
use crate::units::Span;
use std::cell::LazyCell;

/// An item of another rank beside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counterpart {
    /// The other item.
    pub item: Item,
    /// How much later it starts.
    pub later: Later,
    /// How much longer it takes.
    pub longer_ns: i64,
}

impl Item {
    /// The same work on the other open ranks, rank after rank; empty when it has none.
    pub fn counterparts(self, workspace: &Workspace) -> Vec<Self> {
        match self {
            Self::Op(rank, op) => ops(workspace, rank, op),
            Self::Step(rank, step) => steps(workspace, rank, step),
            _ => Vec::new(),
        }
    }

    /// [`Item::counterparts`] with how they differ from this one.
    pub fn beside(self, workspace: &Workspace) -> Vec<Counterpart> {
        let Some(own) = self.span(workspace) else { return Vec::new() };
        let of = |item: Self| {
            let span = item.span(workspace)?;
            let by_clock = || Later {
                ns: span.start_ns.saturating_sub(own.start_ns),
                basis: StartBasis::Arrival,
                uncertainty_ns: workspace.job.clock.uncertainty_ns(self.doc(), item.doc()),
            };
            let later = self.later_in_step(item, workspace).unwrap_or_else(by_clock);
            Some(Counterpart { item, later, longer_ns: span.len_ns().saturating_sub(own.len_ns()) })
        };
        self.counterparts(workspace).into_iter().filter_map(of).collect()
    }

    /// How much later operation `other` starts in its step, where the two ranks share no collective that would put them
    /// on one clock.
    fn later_in_step(self, other: Self, workspace: &Workspace) -> Option<Later> {
        let (Self::Op(a, own), Self::Op(b, beside)) = (self, other) else { return None };
        if a.doc == b.doc || workspace.job.share_collectives(workspace.job_rank(a)?, workspace.job_rank(b)?) {
            return None;
        }
        let in_step_ns = |rank: RankId, op: u32| {
            let start_ns = *workspace.rank(rank)?.1.ops.start_ns.get(op as usize)?;
            marked_steps(workspace, rank)?.in_step_ns(start_ns)
        };
        let ns = in_step_ns(b, beside)?.saturating_sub(in_step_ns(a, own)?);
        Some(Later { ns, basis: StartBasis::InStep, uncertainty_ns: None })
    }
}

fn ops(workspace: &Workspace, rank: RankId, op: u32) -> Vec<Item> {
    let matched = workspace.job_rank(rank).and_then(|job_rank| workspace.job.matched_op(job_rank, op));
    let mut met: Vec<(RankId, u32)> = Vec::new();
    if let Some((matched, member)) = matched {
        let members = (0..matched.members.len()).filter(|other| *other != member);
        let item = |other| {
            let (rank, op) = workspace.job.op_of(matched.group, other, matched.at)?;
            let id = RankId { doc: rank.at.export, rank: rank.at.rank };
            (id.doc < workspace.docs.len()).then_some((id, op))
        };
        met.extend(members.filter_map(item));
    }
    // Counting its place takes a pass over the step, which a collective that all took part in needs not.
    let place = LazyCell::new(|| Place::of(workspace, rank, op));
    let others = workspace.ranks().map(|(id, ..)| id).filter(|id| *id != rank);
    let of = |other: RankId| {
        let matched = met.iter().find(|(id, _)| *id == other).map(|(_, op)| *op);
        let op = matched.or_else(|| place.as_ref()?.find(workspace, other))?;
        Some(Item::Op(other, op))
    };
    others.filter_map(of).collect()
}

/// A kernel by its name and place in a numbered step.
struct Place<'a> {
    name: &'a str,
    step: i64,
    place: usize,
}

impl<'a> Place<'a> {
    fn of(workspace: &'a Workspace, rank: RankId, op: u32) -> Option<Self> {
        let (doc, table) = workspace.rank(rank).map(|(doc, rank)| (doc, &rank.ops))?;
        let start_ns = *table.start_ns.get(op as usize)?;
        let steps = marked_steps(workspace, rank)?;
        let step = steps.steps.get(steps.at(start_ns)?)?;
        let first = table.start_ns.partition_point(|ns| *ns < step.window.start_ns);
        let name = doc.trace.op_full_name(*table.name.get(op as usize)?);
        let named = named(&doc.trace, name);
        let place = table.name.get(first..op as usize)?.iter().filter(|other| named.contains(other)).count();
        Some(Self { name, step: step.number?, place })
    }

    fn find(&self, workspace: &Workspace, rank: RankId) -> Option<u32> {
        let (doc, table) = workspace.rank(rank).map(|(doc, rank)| (doc, &rank.ops))?;
        let step = marked_steps(workspace, rank)?.steps.iter().find(|step| step.number == Some(self.step))?;
        let named = named(&doc.trace, self.name);
        let within = range(&table.start_ns, step.window);
        let is_named = |at: &usize| table.name.get(*at).is_some_and(|name| named.contains(name));
        within.filter(is_named).nth(self.place).and_then(|at| u32::try_from(at).ok())
    }
}

/// The steps of a rank that its capture marks.
pub(super) fn marked_steps(workspace: &Workspace, rank: RankId) -> Option<&Steps> {
    let numbers = workspace.docs.get(rank.doc)?.analysis.ranks.get(rank.rank)?;
    numbers.steps.as_ref().filter(|steps| !steps.estimated)
}

/// Names of operations that read `name` in full. They are far fewer than operations, and comparing their numbers is cheap.
fn named(trace: &Trace, name: &str) -> Vec<OpNameId> {
    let names = (0..trace.op_names.len() as u32).map(OpNameId);
    names.filter(|of| trace.op_full_name(*of) == name).collect()
}

/// Operations that start in `window`.
pub(super) fn range(start_ns: &[i64], window: Span) -> std::ops::Range<usize> {
    start_ns.partition_point(|ns| *ns < window.start_ns)..start_ns.partition_point(|ns| *ns < window.end_ns)
}

fn steps(workspace: &Workspace, rank: RankId, step: u32) -> Vec<Item> {
    let steps_of = |rank: RankId| workspace.docs.get(rank.doc)?.analysis.ranks.get(rank.rank)?.steps.as_ref();
    let number = steps_of(rank).and_then(|steps| steps.steps.get(step as usize)?.number);
    let Some(number) = number else { return Vec::new() };
    let others = workspace.ranks().map(|(id, ..)| id).filter(|id| *id != rank);
    let of = |other: RankId| {
        let at = steps_of(other)?.steps.iter().position(|step| step.number == Some(number))?;
        Some(Item::Step(other, u32::try_from(at).ok()?))
    };
    others.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::Trace;
    use crate::trace::testing::Fixture;
    use std::sync::Arc;

    /// A capture of two steps of two equal kernels each, the second of each `longer_ns` longer, `shift_ns` later.
    fn capture(shift_ns: i64, longer_ns: i64) -> (Arc<Trace>, Arc<crate::analysis::Analysis>) {
        let mut fixture = Fixture::new();
        for step in 0..2 {
            let at = shift_ns + step * 1000;
            fixture.range(&format!("step {step}"), 1, at, at + 900);
            fixture.launched("gemm", 7, 1, at + 10, at + 100, at + 200);
            fixture.launched("gemm", 7, 1, at + 20, at + 300, at + 400 + longer_ns);
        }
        let trace = fixture.build();
        let analysis = analyze(&trace, &Params::default());
        (Arc::new(trace), Arc::new(analysis))
    }

    #[test]
    fn a_kernel_is_found_by_name_step_and_place() {
        let workspace = Workspace::new([capture(0, 0), capture(5, 30)]);
        let [own, other] = [0, 1].map(|doc| RankId { doc, rank: 0 });
        let beside = Item::Op(own, 3).beside(&workspace);
        assert_eq!(beside.len(), 1);
        assert_eq!((beside[0].item, beside[0].longer_ns), (Item::Op(other, 3), 30));
        assert_eq!(Item::Step(own, 1).counterparts(&workspace), [Item::Step(other, 1)]);
        let in_step = Later { ns: -30, basis: StartBasis::InStep, uncertainty_ns: None };
        assert_eq!(beside[0].later, in_step, "nothing puts the two on one clock");
        assert!(Item::Idle(own, 0).counterparts(&workspace).is_empty());
    }
}
