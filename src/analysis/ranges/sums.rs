//! What the nodes of the tree took: counts, host time, GPU time, over the capture or over windows of it.

use super::chains::Chains;
use super::projection::{Attribution, Projected};
use super::tree::Tree;
use crate::analysis::Coverage;
use crate::trace::{OpTable, Trace};
use crate::units::Span;
use serde::Serialize;

/// What the ranges of a node took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RangeSum {
    /// Ranges that began.
    pub count: u64,
    /// Nanoseconds that they were open on the host, added up over the ranges.
    pub cpu_ns: i64,
    /// Distinct operations that belong to them and began.
    pub gpu_ops: u64,
    /// Nanoseconds from the first start to the last end of what each ran, added up over the ranges.
    pub span_ns: i64,
    /// Nanoseconds during which anything that belongs to them ran: a union, at most the window.
    pub busy_ns: i64,
}

impl RangeSum {
    /// The mean of `count` equal shares, each number rounded to the nearest.
    #[must_use]
    pub fn mean(self, count: u64) -> Self {
        let count = count.max(1);
        let unsigned = |sum: u64| sum.saturating_add(count / 2) / count;
        let signed = |sum: i64| i64::try_from(unsigned(sum.max(0).unsigned_abs())).unwrap_or(i64::MAX);
        Self {
            count: unsigned(self.count),
            cpu_ns: signed(self.cpu_ns),
            gpu_ops: unsigned(self.gpu_ops),
            span_ns: signed(self.span_ns),
            busy_ns: signed(self.busy_ns),
        }
    }
}

/// Sums for every node of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeSums {
    /// By node.
    pub nodes: Vec<RangeSum>,
    /// Operations that belong to no range.
    pub outside: RangeSum,
    /// Everything that ran, in ranges and outside.
    pub all: RangeSum,
    /// By node: steps in which anything of it ran, in order, and its covered nanoseconds of the step's window.
    pub by_step: Vec<Vec<(u32, i64)>>,
}

/// What to add up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Which operations belong to a range.
    pub attribution: Attribution,
    /// The windows to add up over; `None` is the whole capture.
    pub windows: Option<&'a Coverage>,
    /// Windows of the steps, in order of time.
    pub steps: &'a [Span],
}

impl Scope<'_> {
    fn holds(&self, at_ns: i64) -> bool {
        self.windows.is_none_or(|w| !w.touching(Span::new(at_ns, at_ns.saturating_add(1))).is_empty())
    }

    fn within(&self, span: Span) -> i64 {
        self.windows.map_or_else(|| span.len_ns(), |w| w.within(span))
    }
}

/// How far the operations of a node have covered the time.
#[derive(Debug, Clone, Copy)]
struct Reach {
    until_ns: i64,
    op: usize,
}

const NOTHING_YET: Reach = Reach { until_ns: i64::MIN, op: usize::MAX };

impl RangeSums {
    /// Adds up. One pass over the operations with their nodes, one over the ranges.
    pub(super) fn of(
        trace: &Trace,
        rank: usize,
        (tree, chains): (&Tree, &Chains),
        projected: &[Projected],
        scope: Scope<'_>,
    ) -> Self {
        let mut sums = Self {
            nodes: vec![RangeSum::default(); tree.len()],
            by_step: vec![Vec::new(); if scope.steps.is_empty() { 0 } else { tree.len() }],
            ..Self::default()
        };
        sums.add_ops(&trace.ranks[rank].ops, chains, scope);
        let capture = trace.span.unwrap_or_default();
        for (thread, nodes) in trace.threads.iter().zip(&tree.node_of) {
            for (range, node) in nodes.iter().enumerate() {
                let span = thread.nvtx.span(range);
                let Some(sum) = sums.nodes.get_mut(*node as usize) else { continue };
                sum.count += u64::from(scope.holds(span.start_ns));
                let open_ns = span.intersect(capture).map_or(0, |span| scope.within(span));
                sum.cpu_ns = sum.cpu_ns.saturating_add(open_ns);
            }
        }
        for range in projected {
            let node = tree.node_of.get(range.thread as usize).and_then(|nodes| nodes.get(range.range as usize));
            if let Some(sum) = node.and_then(|node| sums.nodes.get_mut(*node as usize)) {
                sum.span_ns = sum.span_ns.saturating_add(scope.within(range.gpu));
            }
        }
        sums
    }

    fn add_ops(&mut self, ops: &OpTable, chains: &Chains, scope: Scope<'_>) {
        let mut reaches = vec![NOTHING_YET; self.nodes.len()];
        let (mut reach_all, mut reach_outside) = (NOTHING_YET, NOTHING_YET);
        let mut step = 0;
        for op in 0..ops.len() {
            let span = ops.span(op);
            let begins = scope.holds(span.start_ns);
            // Operations come in order of start, so a step that ended before this one began is over for all.
            while scope.steps.get(step).is_some_and(|window| window.end_ns <= span.start_ns) {
                step += 1;
            }
            cover(&mut self.all, &mut reach_all, op, span, begins, scope);
            let mut is_outside = true;
            for (node, own) in chains.nodes(op) {
                if scope.attribution == Attribution::SameThread && !own {
                    continue;
                }
                is_outside = false;
                let at = node as usize;
                let (Some(sum), Some(reach)) = (self.nodes.get_mut(at), reaches.get_mut(at)) else { continue };
                let new = cover(sum, reach, op, span, begins, scope);
                if let (Some(new), Some(by_step)) = (new, self.by_step.get_mut(at)) {
                    add_steps(by_step, scope.steps, step, new);
                }
            }
            if is_outside {
                cover(&mut self.outside, &mut reach_outside, op, span, begins, scope);
            }
        }
    }
}

/// Adds operation `op` to a sum; the result is the time that nothing of the sum had covered before.
fn cover(sum: &mut RangeSum, reach: &mut Reach, op: usize, span: Span, begins: bool, scope: Scope<'_>) -> Option<Span> {
    if reach.op == op {
        return None;
    }
    let new = Span::new(span.start_ns.max(reach.until_ns), span.end_ns);
    *reach = Reach { until_ns: reach.until_ns.max(span.end_ns), op };
    sum.gpu_ops += u64::from(begins);
    if new.is_empty() {
        return None;
    }
    sum.busy_ns = sum.busy_ns.saturating_add(scope.within(new));
    Some(new)
}

/// Adds what `new` covers of the steps from `first` on.
fn add_steps(by_step: &mut Vec<(u32, i64)>, steps: &[Span], first: usize, new: Span) {
    for (step, window) in steps.iter().enumerate().skip(first).take_while(|(_, w)| w.start_ns < new.end_ns) {
        let Some(covered) = window.intersect(new) else { continue };
        match by_step.last_mut() {
            Some((last, ns)) if *last == step as u32 => *ns += covered.len_ns(),
            _ => by_step.push((step as u32, covered.len_ns())),
        }
    }
}
