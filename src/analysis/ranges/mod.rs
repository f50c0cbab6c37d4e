//! NVTX ranges on the GPU: what each range ran, the tree of ranges, and the ranges around an operation.
//!
//! Everything is one sweep over the ranges and launching calls of each thread in order of time, never a join over
//! intervals.

mod chains;
mod group;
mod launches;
mod link;
mod nest;
mod open;
mod projection;
mod sums;
mod tree;

pub use group::{group_name, sequence_number};
pub use link::{Sequence, linked_by_sequence};
pub use projection::{Attribution, Projected, SameThreadRow, project, same_thread_rows};
pub use sums::{RangeSum, RangeSums};

use super::{Coverage, Steps};
use crate::trace::Trace;
use crate::units::Span;
use chains::Chains;
use open::OpenAt;
use std::cmp::Reverse;
use std::sync::OnceLock;
use sums::Scope;
use tree::Tree;

/// The NVTX ranges of a rank's process and what they ran on its GPU.
///
/// Cost: 4 bytes a range and 4 an operation. Projections and sums are added when they are first asked for: 32 bytes
/// for each range that ran anything.
#[derive(Debug, Default)]
pub struct Ranges {
    rank: usize,
    tree: Tree,
    chains: Chains,
    /// By thread of the trace; empty for threads of other processes.
    open: Vec<OpenAt>,
    /// Windows of the marked steps.
    steps: Vec<Span>,
    /// Windows of the typical ones.
    typical: Vec<Span>,
    /// The ranges that mark the typical ones, in order of time.
    typical_ranges: Vec<Span>,
    projected: [OnceLock<Vec<Projected>>; 2],
    whole: [OnceLock<RangeSums>; 2],
}

/// A range on the path of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathRange {
    /// Index into the trace's threads.
    pub thread: usize,
    /// Index into the thread's ranges.
    pub range: u32,
    /// True when another thread than the launching one holds it: it is known by time only.
    pub by_time: bool,
}

/// Covered time of a node, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trend {
    /// For each marked step.
    pub by_step_ns: Vec<i64>,
    /// The least of them.
    pub least_ns: i64,
    /// The upper median.
    pub median_ns: i64,
    /// The most.
    pub most_ns: i64,
}

/// Some nodes of the tree, the ones that took most first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The nodes.
    pub nodes: Vec<u32>,
    /// Further nodes that are not listed.
    pub hidden: usize,
}

impl Ranges {
    /// The ranges of the process of rank `rank`, whose steps are `steps`. With `exact`, only ranges of equal names are
    /// grouped.
    ///
    /// # Panics
    /// When the trace has no such rank.
    pub fn of(trace: &Trace, rank: usize, steps: Option<&Steps>, exact: bool) -> Self {
        let process = trace.ranks[rank].process;
        let steps = steps.filter(|steps| !steps.estimated);
        let tree = Tree::of(trace, process, steps, exact);
        let index = |thread: &crate::trace::Thread| {
            if thread.process == process { OpenAt::of(&thread.nvtx) } else { OpenAt::default() }
        };
        let windows = |typical: bool| {
            let steps = steps.map_or(&[][..], |steps| &steps.steps);
            steps.iter().filter(|step| step.typical || !typical).map(|step| step.window).collect()
        };
        Self {
            rank,
            chains: Chains::of(trace, rank, &tree),
            tree,
            open: trace.threads.iter().map(index).collect(),
            steps: windows(false),
            typical: windows(true),
            typical_ranges: typical_ranges(steps),
            projected: Default::default(),
            whole: Default::default(),
        }
    }

    /// Number of nodes of the tree.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// True when the process has no range.
    pub fn is_empty(&self) -> bool {
        self.tree.len() == 0
    }

    /// Name of a node: that of its ranges, or what their names have in common with `#` for numbers.
    pub fn name(&self, trace: &Trace, node: u32) -> String {
        self.tree.name(trace, node)
    }

    /// The node above `node`.
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.tree.parent(node)
    }

    /// True when ranges stand under `node`.
    pub fn has_children(&self, node: u32) -> bool {
        !self.tree.children(Some(node)).is_empty()
    }

    /// Node of a range; `None` for ranges of other processes.
    pub fn node_of(&self, thread: usize, range: u32) -> Option<u32> {
        self.tree.node_of.get(thread)?.get(range as usize).copied()
    }

    /// Ranges around a range in the tree.
    pub fn depth(&self, thread: usize, range: u32) -> usize {
        self.node_of(thread, range).map_or(0, |node| self.tree.depth(node))
    }

    /// The nodes directly under `node` (at the top for `None`) in the order of `sums`: most GPU time first, then most
    /// host time; at most `most` of those for which `keep` holds.
    pub fn listed(&self, sums: &RangeSums, node: Option<u32>, most: usize, keep: impl Fn(u32) -> bool) -> Listing {
        self.listed_by(sums, node, most, keep, |sum| sum.busy_ns)
    }

    /// [`Ranges::listed`] with the largest `value` first, then as there.
    pub fn listed_by(
        &self,
        sums: &RangeSums,
        node: Option<u32>,
        most: usize,
        keep: impl Fn(u32) -> bool,
        value: impl Fn(&RangeSum) -> i64,
    ) -> Listing {
        let mut nodes: Vec<u32> = self.tree.children(node).iter().copied().filter(|node| keep(*node)).collect();
        let key = |node: &u32| {
            let sum = sums.nodes.get(*node as usize).copied().unwrap_or_default();
            (Reverse(value(&sum)), Reverse(sum.busy_ns), Reverse(sum.cpu_ns), *node)
        };
        if nodes.len() > most {
            nodes.select_nth_unstable_by_key(most, key);
        }
        let hidden = nodes.len().saturating_sub(most);
        nodes.truncate(most);
        nodes.sort_unstable_by_key(key);
        Listing { nodes, hidden }
    }

    /// The ranges that ran anything, ordered by thread and range.
    pub fn projected(&self, trace: &Trace, attribution: Attribution) -> &[Projected] {
        let cell = match attribution {
            Attribution::Process => &self.projected[0],
            Attribution::SameThread => &self.projected[1],
        };
        cell.get_or_init(|| if self.is_empty() { Vec::new() } else { project(trace, self.rank, attribution) })
    }

    /// What a range ran, when it ran anything.
    pub fn projection_of(
        &self,
        trace: &Trace,
        attribution: Attribution,
        thread: usize,
        range: u32,
    ) -> Option<&Projected> {
        self.projected(trace, attribution).get(self.projection_at(trace, attribution, thread, range)?)
    }

    /// Place of a range in [`Ranges::projected`].
    pub fn projection_at(&self, trace: &Trace, attribution: Attribution, thread: usize, range: u32) -> Option<usize> {
        let key = (thread as u32, range);
        self.projected(trace, attribution).binary_search_by_key(&key, |p| (p.thread, p.range)).ok()
    }

    /// The sums over the whole capture, with the covered time of every step.
    pub fn whole(&self, trace: &Trace, attribution: Attribution) -> &RangeSums {
        let cell = match attribution {
            Attribution::Process => &self.whole[0],
            Attribution::SameThread => &self.whole[1],
        };
        cell.get_or_init(|| self.sums(trace, attribution, None))
    }

    /// The sums over some time of the export, such as a view or a step. One pass over operations and ranges.
    pub fn within(&self, trace: &Trace, attribution: Attribution, windows: &Coverage) -> RangeSums {
        self.sums(trace, attribution, Some(windows))
    }

    /// The means over the typical steps and their number; `None` without marked steps.
    pub fn typical(&self, trace: &Trace, attribution: Attribution) -> Option<(RangeSums, u64)> {
        let count = self.typical.len() as u64;
        let windows = Coverage::from_sorted(self.typical.iter().copied());
        let mut sums = (count > 0).then(|| self.sums(trace, attribution, Some(&windows)))?;
        sums.nodes.iter_mut().for_each(|sum| *sum = sum.mean(count));
        (sums.outside, sums.all) = (sums.outside.mean(count), sums.all.mean(count));
        Some((sums, count))
    }

    fn sums(&self, trace: &Trace, attribution: Attribution, windows: Option<&Coverage>) -> RangeSums {
        let steps = if windows.is_none() { &self.steps[..] } else { &[] };
        let scope = Scope { attribution, windows, steps };
        let projected = self.projected(trace, attribution);
        RangeSums::of(trace, self.rank, (&self.tree, &self.chains), projected, scope)
    }

    /// True when steps are marked.
    pub fn has_steps(&self) -> bool {
        !self.steps.is_empty()
    }

    /// How the covered time of `node` scatters over the marked steps; `None` without any.
    pub fn trend(&self, trace: &Trace, attribution: Attribution, node: u32) -> Option<Trend> {
        let by_step_ns = self.busy_by_step(trace, attribution, node);
        let mut sorted = by_step_ns.clone();
        sorted.sort_unstable();
        let (least_ns, most_ns) = (*sorted.first()?, *sorted.last()?);
        let median_ns = *sorted.get(sorted.len() / 2)?;
        Some(Trend { by_step_ns, least_ns, median_ns, most_ns })
    }

    /// For every marked step, the nanoseconds of its window during which anything of `node` ran.
    pub fn busy_by_step(&self, trace: &Trace, attribution: Attribution, node: u32) -> Vec<i64> {
        let mut values = vec![0; self.steps.len()];
        for (step, ns) in self.whole(trace, attribution).by_step.get(node as usize).into_iter().flatten() {
            if let Some(value) = values.get_mut(*step as usize) {
                *value = *ns;
            }
        }
        values
    }

    /// The ranges of `thread` that are open at `at_ns`, outer before inner.
    pub fn open_at(&self, trace: &Trace, thread: usize, at_ns: i64) -> Vec<u32> {
        match (self.open.get(thread), trace.threads.get(thread)) {
            (Some(index), Some(thread)) => index.at(&thread.nvtx, at_ns),
            _ => Vec::new(),
        }
    }

    /// The ranges that were open on `thread` at `at_ns`, outer before inner; when none of them marks a step, those of
    /// the main thread stand in front.
    pub fn path_at(&self, trace: &Trace, thread: usize, at_ns: i64) -> Vec<PathRange> {
        let open = |thread: usize, by_time: bool| {
            let ranges = self.open_at(trace, thread, at_ns).into_iter();
            ranges.map(move |range| PathRange { thread, range, by_time })
        };
        let own: Vec<PathRange> = open(thread, false).collect();
        let is_step =
            |range: &PathRange| self.node_of(range.thread, range.range).is_some_and(|node| self.tree.is_step(node));
        match self.tree.main.filter(|main| *main != thread && !own.iter().any(is_step)) {
            Some(main) => open(main, true).chain(own).collect(),
            None => own,
        }
    }

    /// The outermost node below the step that operation `op` belongs to; the step's own when it is in no other range,
    /// and the outermost of all when no step is marked. Under [`Attribution::Process`] a range counts when the launching
    /// thread or the one that marks the steps holds it.
    pub fn top_node(&self, attribution: Attribution, op: usize) -> Option<u32> {
        let mut top = None;
        for (node, own) in self.chains.nodes(op) {
            if !(own || attribution == Attribution::Process && self.tree.is_of_main(node)) {
                continue;
            }
            if self.tree.is_step(node) {
                return top.or(Some(node));
            }
            top = Some(node);
        }
        top
    }

    /// The path of operation `op`: [`Ranges::path_at`] its launch. Empty when its launch is not known.
    pub fn path(&self, trace: &Trace, op: usize) -> Vec<PathRange> {
        let rank = trace.ranks.get(self.rank);
        let launch = rank.and_then(|rank| Some((rank.process, rank.ops.launch_of(op)?)));
        let Some((process, call)) = launch else { return Vec::new() };
        let start_ns = trace.processes.get(process).and_then(|p| p.api.start_ns.get(call as usize));
        match (trace.thread_of_call(process, call), start_ns) {
            (Some(thread), Some(start_ns)) => self.path_at(trace, thread, *start_ns),
            _ => Vec::new(),
        }
    }

    /// The path of operation `op` as text, outermost first; ranges that another thread holds are marked as known by
    /// time. `None` when there is none.
    pub fn path_text(&self, trace: &Trace, op: usize) -> Option<String> {
        let path = self.path(trace, op);
        let name = |range: &PathRange| {
            let name = trace.threads.get(range.thread)?.nvtx.name.get(range.range as usize)?;
            Some(trace.name(*name))
        };
        let names = |by_time: bool| -> Vec<&str> {
            path.iter().filter(|range| range.by_time == by_time).filter_map(name).collect()
        };
        let (by_time, own) = (names(true).join(" › "), names(false).join(" › "));
        match (by_time.is_empty(), own.is_empty()) {
            (true, true) => None,
            (true, false) => Some(own),
            (false, true) => Some(format!("{by_time} (by time)")),
            (false, false) => Some(format!("{by_time} (by time) › {own}")),
        }
    }

    /// The range of `node` that comes after `last` in time, the first after the last one; without `last` the one to
    /// show first: the longest within the typical steps, else the longest, as [`Ranges::shown_first`] says. A pass over
    /// all ranges.
    pub fn next_instance(
        &self,
        trace: &Trace,
        attribution: Attribution,
        node: u32,
        last: Option<(usize, u32)>,
    ) -> Option<(usize, u32)> {
        let span = |(thread, range): (usize, u32)| {
            let nvtx = &trace.threads.get(thread)?.nvtx;
            Some(Span::new(*nvtx.start_ns.get(range as usize)?, *nvtx.end_ns.get(range as usize)?))
        };
        let order = |at: (usize, u32)| (span(at).map_or(i64::MAX, |span| span.start_ns), at);
        let Some(last) = last else {
            let worth = |at: (usize, u32)| {
                let host = span(at).unwrap_or_default();
                let ran_ns = self.projection_of(trace, attribution, at.0, at.1).map(|p| p.gpu.len_ns());
                (self.in_typical_step(host), ran_ns, host.len_ns(), Reverse(order(at)))
            };
            return self.instances(node).max_by_key(|at| worth(*at));
        };
        let after = self.instances(node).filter(|at| order(*at) > order(last));
        after.min_by_key(|at| order(*at)).or_else(|| self.instances(node).min_by_key(|at| order(*at)))
    }

    /// Which range of a node [`Ranges::next_instance`] shows first, in words.
    pub const fn shown_first(&self) -> &'static str {
        if self.typical_ranges.is_empty() {
            "the longest on the GPU"
        } else {
            "the longest on the GPU within a typical step, else the longest of all"
        }
    }

    /// True when a typical step was marked all the while.
    fn in_typical_step(&self, host: Span) -> bool {
        let begun = self.typical_ranges.partition_point(|step| step.start_ns <= host.start_ns);
        let step = begun.checked_sub(1).and_then(|at| self.typical_ranges.get(at));
        step.is_some_and(|step| host.end_ns <= step.end_ns)
    }

    /// The ranges of a node as (thread, range), in order of thread and time. A pass over all ranges.
    pub fn instances(&self, node: u32) -> impl Iterator<Item = (usize, u32)> {
        let of_thread = move |(thread, nodes): (usize, &'_ Vec<u32>)| {
            let own = nodes.iter().enumerate().filter(move |(_, of)| **of == node);
            own.map(move |(range, _)| (thread, range as u32)).collect::<Vec<_>>()
        };
        self.tree.node_of.iter().enumerate().flat_map(of_thread)
    }
}

/// The ranges that mark typical steps, in order of time.
fn typical_ranges(steps: Option<&Steps>) -> Vec<Span> {
    let steps = steps.map_or(&[][..], |steps| &steps.steps);
    let mut ranges: Vec<Span> = steps.iter().filter(|step| step.typical).map(|step| step.range).collect();
    ranges.sort_unstable();
    ranges
}

#[cfg(test)]
mod tests;
