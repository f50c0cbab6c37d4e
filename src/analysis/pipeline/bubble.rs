//! The measured bubble: exposed point-to-point time and the idle time that borders on it.

use super::super::scope::Scope;
use super::super::{Cause, Causes, Class, Classes, Collective, Coverage, RankAnalysis, intervals};
use super::Pipeline;
use crate::trace::Trace;
use crate::units::{Span, share};

/// The bubble of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bubble {
    /// What is known of the pipeline.
    pub pipeline: Pipeline,
    /// Mean nanoseconds a step during which a point-to-point kernel ran and no compute.
    pub exposed_ns: i64,
    /// Mean idle nanoseconds a step that border on those.
    pub idle: Causes,
    /// Exposed point-to-point time, for the worst places.
    pub(in crate::analysis) exposed: Coverage,
}

/// Idle causes that count as bubble beside a point-to-point kernel: the device waited, or the host waited for the
/// exchange. What the host does by itself (loading data, running Python, allocating) stays its own loss.
const BORDERING: [Cause; 5] = [Cause::DeviceWait, Cause::Turnaround, Cause::LaunchLatency, Cause::Unknown, Cause::Sync];

impl Bubble {
    /// Measures the bubble of `rank` over the scope's windows.
    pub(in crate::analysis) fn of(
        trace: &Trace,
        rank: usize,
        classes: &Classes,
        numbers: &RankAnalysis,
        scope: &Scope,
        pipeline: Pipeline,
    ) -> Self {
        let ops = &trace.ranks[rank].ops;
        let is_exchange =
            |op: &usize| classes.class(ops.name[*op], ops.kind[*op]) == Class::Communication(Collective::SendRecv);
        let exchanges = || intervals::union((0..ops.len()).filter(is_exchange).map(|op| ops.span(op)));
        let with_compute = intervals::subtract(exchanges(), numbers.exposed.spans().iter().copied());
        let exposed = Coverage::from_sorted(intervals::subtract(exchanges(), with_compute));
        let (mut exposed_ns, mut idle) = (0_i64, Causes::default());
        for window in &scope.windows {
            exposed_ns = exposed_ns.saturating_add(exposed.within(window.span));
            for (span, cause) in bordering(numbers, &exposed, window.span) {
                idle.add(cause, span.len_ns());
            }
        }
        let mut mean = Causes::default();
        for (cause, ns) in idle.iter() {
            mean.add(cause, scope.mean_ns(ns));
        }
        Self { pipeline, exposed_ns: scope.mean_ns(exposed_ns), idle: mean, exposed }
    }

    /// The idle part of `window` that counts, by the rule of [`Bubble::idle`]; in order and disjoint.
    pub(super) fn idle_spans(&self, numbers: &RankAnalysis, window: Span) -> Vec<Span> {
        bordering(numbers, &self.exposed, window).into_iter().map(|(span, _)| span).collect()
    }

    /// All of it, nanoseconds a step.
    pub fn total_ns(&self) -> i64 {
        self.exposed_ns.saturating_add(self.idle.total_ns())
    }

    /// Share of a step of `span_ns`.
    pub fn share(&self, span_ns: i64) -> Option<f64> {
        share(self.total_ns(), span_ns)
    }
}

/// Idle spans of `window` in gaps that touch an exposed exchange, by the causes that count; in order and disjoint.
fn bordering(numbers: &RankAnalysis, exposed: &Coverage, window: Span) -> Vec<(Span, Cause)> {
    let busy = numbers.busy.spans();
    let (mut found, mut counted) = (Vec::new(), None);
    for span in exposed.spans().get(exposed.touching(window)).unwrap_or(&[]) {
        let holder = busy.partition_point(|b| b.end_ns < span.end_ns);
        let before = busy.get(holder).filter(|b| b.start_ns == span.start_ns).and_then(|_| holder.checked_sub(1));
        let after = busy.get(holder).filter(|b| b.end_ns == span.end_ns).map(|_| holder);
        for gap in [before, after].into_iter().flatten() {
            if counted.is_some_and(|last| last >= gap) {
                continue;
            }
            counted = Some(gap);
            let Some(gap) = numbers.busy.gap(gap).and_then(|gap| gap.intersect(window)) else { continue };
            let pieces = numbers.idle.segments(gap).filter(|(_, cause)| BORDERING.contains(cause));
            found.extend(pieces.filter_map(|(piece, cause)| Some((piece.intersect(gap)?, cause))));
        }
    }
    found
}
