//! What the host called in the scope's windows, counted in one pass over the calls of the process.

use crate::analysis::scope::Scope;
use crate::analysis::{CallKind, KernelSum, RankAnalysis, Thresholds};
use crate::trace::{NameId, Process, Trace};
use std::collections::BTreeMap;

/// Calls of one kind.
#[derive(Debug, Clone, Default)]
pub(super) struct CallSum {
    pub sum: KernelSum,
    /// Count and time by function.
    names: BTreeMap<NameId, KernelSum>,
}

impl CallSum {
    fn add(&mut self, name: NameId, len_ns: i64) {
        self.sum.add(len_ns);
        self.names.entry(name).or_default().add(len_ns);
    }

    /// The function that took most time.
    pub fn top(&self) -> Option<NameId> {
        self.names.iter().max_by_key(|(name, sum)| (sum.total_ns, std::cmp::Reverse(**name))).map(|(name, _)| *name)
    }
}

/// Calls by what they do to the queue of GPU work.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    pub syncs: CallSum,
    pub allocations: CallSum,
    pub module_loads: CallSum,
    /// Calls that issue work and took so long that the queue must have been full.
    pub long_launches: KernelSum,
    /// How much of those calls the GPU was busy, in nanoseconds.
    pub long_launch_busy_ns: i64,
}

impl Calls {
    pub fn of(trace: &Trace, process: usize, numbers: &RankAnalysis, scope: &Scope, limits: &Thresholds) -> Self {
        let mut calls = Self::default();
        let Some(of) = trace.processes.get(process) else { return calls };
        let mut kinds: Vec<Option<CallKind>> = vec![None; trace.names.len()];
        for thread in trace.threads.iter().filter(|t| t.process == process) {
            for window in &scope.windows {
                let own = thread.api.start as usize..thread.api.end as usize;
                let starts = of.api.start_ns.get(own.clone()).unwrap_or(&[]);
                let first = own.start + starts.partition_point(|start| *start < window.host.start_ns);
                let last = own.start + starts.partition_point(|start| *start < window.host.end_ns);
                for call in first..last {
                    let name = of.api.name[call];
                    let Some(kind) = kinds.get_mut(name.0 as usize) else { continue };
                    let kind = *kind.get_or_insert_with(|| CallKind::of(trace.name(name)));
                    calls.add(of, call, kind, numbers, limits);
                }
            }
        }
        calls
    }

    fn add(&mut self, of: &Process, call: usize, kind: CallKind, numbers: &RankAnalysis, limits: &Thresholds) {
        let span = of.api.span(call);
        match kind {
            CallKind::Synchronize => self.syncs.add(of.api.name[call], span.len_ns()),
            CallKind::Allocate => self.allocations.add(of.api.name[call], span.len_ns()),
            CallKind::LoadModule => self.module_loads.add(of.api.name[call], span.len_ns()),
            CallKind::Issue if span.len_ns() > limits.full_queue_call_ns => {
                self.long_launches.add(span.len_ns());
                self.long_launch_busy_ns = self.long_launch_busy_ns.saturating_add(numbers.busy.within(span));
            }
            CallKind::Issue | CallKind::Copy => {}
        }
    }
}
