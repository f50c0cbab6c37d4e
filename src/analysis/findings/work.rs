//! What the GPU ran in the scope's windows, counted in one pass over its operations.

use super::names::{NameTraits, Traits};
use super::runs::{RunSweep, Runs};
use crate::analysis::places::Worst;
use crate::analysis::scope::{Scope, Window};
use crate::analysis::{Cause, Class, Classes, Collective, Family, KernelSum, RankAnalysis, Thresholds};
use crate::trace::{CopyEnds, CopyKind, MemoryKind, OpKind, OpTable, Rank, Trace};
use crate::units::Span;
use std::collections::BTreeMap;

/// Copies of one sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CopySum {
    pub sum: KernelSum,
    pub bytes: u64,
}

/// Communication kernels.
#[derive(Debug, Clone, Default)]
pub(super) struct CommWork {
    pub kernels: KernelSum,
    /// Exposed nanoseconds by kind.
    pub exposed_ns: BTreeMap<Collective, i64>,
    /// Tiny collectives.
    pub tiny: KernelSum,
    pub tiny_exposed_ns: i64,
    pub worst_tiny: Worst,
    /// On the stream of the compute kernels.
    pub on_compute_stream: KernelSum,
    pub on_compute_stream_exposed_ns: i64,
    pub worst_on_compute_stream: Worst,
    /// The most exposed of those between two ranks.
    pub worst_send_recv: Worst,
    /// The most exposed collective of each window, summed, and the worst of them.
    pub tail_ns: i64,
    pub tails: Worst,
    /// Idle time because of a synchronisation right behind a collective, in how many gaps, and the worst of them.
    pub sync_ns: i64,
    pub syncs: u64,
    pub worst_syncs: Worst,
}

/// Kernels that compute.
#[derive(Debug, Clone, Default)]
pub(super) struct ComputeWork {
    pub kernels: KernelSum,
    pub families: [KernelSum; Family::ALL.len()],
    /// Small kernels, and idle time right before them.
    pub small: KernelSum,
    pub small_gap_ns: i64,
    /// Matrix products without tensor cores.
    pub simt: KernelSum,
    pub worst_simt: Worst,
    /// Kernels with fewer blocks than the card has multiprocessors; the time weighted by the empty ones.
    pub small_grid: KernelSum,
    pub empty_ns: i64,
    pub worst_grids: Worst,
    /// Kernels whose number of blocks is known.
    pub with_blocks: u64,
    /// Passes of fused attention.
    pub attention_forward: KernelSum,
    pub attention_backward: KernelSum,
    pub experts: KernelSum,
    pub runs: Runs,
}

/// Everything that ran in the windows.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub comm: CommWork,
    pub compute: ComputeWork,
    /// Copies by direction.
    pub copies: BTreeMap<CopyKind, CopySum>,
    /// Copies of more than [`SCALAR_BYTES`] whose call returned only when they were done.
    pub blocking: CopySum,
    pub worst_blocking: Worst,
    /// Those of them from or to pageable memory.
    pub pageable: u64,
    /// Copies of at most [`SCALAR_BYTES`] to the host: `.item()` and the like.
    pub scalars: u64,
}

/// A copy to the host of so many bytes reads a number.
const SCALAR_BYTES: u64 = 8;

impl Work {
    pub fn of(
        trace: &Trace,
        rank: usize,
        classes: &Classes,
        numbers: &RankAnalysis,
        scope: &Scope,
        limits: &Thresholds,
    ) -> Self {
        let rank = &trace.ranks[rank];
        let sm_count = rank.gpu.and_then(|gpu| trace.gpus.get(gpu)).and_then(|gpu| gpu.sm_count);
        let mut pass = Pass {
            names: NameTraits::of(trace, classes),
            primary: numbers.primary_stream.and_then(|stream| u16::try_from(stream).ok()),
            api_end_ns: trace.processes.get(rank.process).map_or(&[][..], |process| &process.api.end_ns),
            rank,
            numbers,
            limits,
            sm_count: sm_count.map_or(0, i64::from),
            work: Self::default(),
            runs: RunSweep::default(),
        };
        scope.windows.iter().for_each(|window| pass.window(*window));
        let mut work = pass.work;
        work.compute.runs = pass.runs.sums;
        work
    }
}

struct Pass<'a> {
    names: NameTraits,
    primary: Option<u16>,
    api_end_ns: &'a [i64],
    rank: &'a Rank,
    numbers: &'a RankAnalysis,
    limits: &'a Thresholds,
    sm_count: i64,
    work: Work,
    runs: RunSweep,
}

/// The operation that has run longest so far.
#[derive(Clone, Copy)]
struct Reach {
    end_ns: i64,
    is_comm: bool,
}

impl Pass<'_> {
    /// Counts the operations that start in a window.
    fn window(&mut self, window: Window) {
        let ops: &OpTable = &self.rank.ops;
        let first = ops.start_ns.partition_point(|start| *start < window.span.start_ns);
        let last = ops.start_ns.partition_point(|start| *start < window.span.end_ns);
        let mut reach: Option<Reach> = None;
        let (mut tail_ns, mut tail) = (0, None);
        for op in first..last {
            let span = ops.span(op);
            let gap = reach.map(|r| Span::new(r.end_ns, span.start_ns)).filter(|gap| !gap.is_empty());
            if let Some(gap) = gap.filter(|_| reach.is_some_and(|r| r.is_comm)) {
                self.gap_after_comm(window, gap);
            }
            let (class, traits) = match ops.kind[op] {
                OpKind::Kernel => self.names.get(ops.name[op]),
                OpKind::Graph => (Class::Graph, Traits::default()),
                OpKind::Memcpy(_) | OpKind::Memset => (Class::Copy, Traits::default()),
            };
            match class {
                Class::Communication(kind) => {
                    let exposed_ns = self.communication(op, span, kind, window.step);
                    if exposed_ns > tail_ns {
                        (tail_ns, tail) = (exposed_ns, Some(span));
                    }
                }
                Class::Copy => self.copy(op, span, window.step),
                _ => self.compute(op, (class, traits), window.step, gap),
            }
            if self.primary == Some(ops.stream[op]) && class != Class::Copy {
                self.runs.add(class, traits, span, window.step);
            }
            if reach.is_none_or(|r| span.end_ns > r.end_ns) {
                reach = Some(Reach { end_ns: span.end_ns, is_comm: class.is_communication() });
            }
        }
        self.runs.close(false, window.step);
        self.work.comm.tail_ns = self.work.comm.tail_ns.saturating_add(tail_ns);
        if let Some(span) = tail {
            self.work.comm.tails.add(window.step, span, tail_ns);
        }
    }

    fn gap_after_comm(&mut self, window: Window, gap: Span) {
        let sync_ns = self.numbers.idle.within(gap).of(Cause::Sync);
        if sync_ns > 0 {
            self.work.comm.sync_ns = self.work.comm.sync_ns.saturating_add(sync_ns);
            self.work.comm.syncs += 1;
            self.work.comm.worst_syncs.add(window.step, gap, sync_ns);
        }
    }

    /// Counts a collective; gives its exposed time.
    fn communication(&mut self, op: usize, span: Span, kind: Collective, step: Option<usize>) -> i64 {
        let exposed_ns = self.numbers.exposed.within(span);
        let comm = &mut self.work.comm;
        comm.kernels.add(span.len_ns());
        let of_kind = comm.exposed_ns.entry(kind).or_default();
        *of_kind = of_kind.saturating_add(exposed_ns);
        if span.len_ns() < self.limits.tiny_collective_ns {
            comm.tiny.add(span.len_ns());
            comm.tiny_exposed_ns = comm.tiny_exposed_ns.saturating_add(exposed_ns);
            comm.worst_tiny.add(step, span, exposed_ns);
        }
        if self.primary == Some(self.rank.ops.stream[op]) {
            comm.on_compute_stream.add(span.len_ns());
            comm.on_compute_stream_exposed_ns = comm.on_compute_stream_exposed_ns.saturating_add(exposed_ns);
            comm.worst_on_compute_stream.add(step, span, exposed_ns);
        }
        if kind == Collective::SendRecv {
            comm.worst_send_recv.add(step, span, exposed_ns);
        }
        exposed_ns
    }

    fn compute(&mut self, op: usize, (class, traits): (Class, Traits), step: Option<usize>, gap: Option<Span>) {
        let span = self.rank.ops.span(op);
        let len_ns = span.len_ns();
        let work = &mut self.work.compute;
        work.kernels.add(len_ns);
        let Class::Compute(family) = class else { return };
        if let Some(sum) = work.families.get_mut(family as usize) {
            sum.add(len_ns);
        }
        if len_ns < self.limits.small_kernel_ns {
            work.small.add(len_ns);
            let before_ns = gap.map_or(0, Span::len_ns).min(self.limits.short_gap_ns);
            work.small_gap_ns = work.small_gap_ns.saturating_add(before_ns);
        }
        for (holds, sum) in [
            (traits.simt, &mut work.simt),
            (traits.attention_forward, &mut work.attention_forward),
            (traits.attention_backward, &mut work.attention_backward),
            (traits.expert, &mut work.experts),
        ] {
            if holds {
                sum.add(len_ns);
            }
        }
        if traits.simt {
            work.worst_simt.add(step, span, len_ns);
        }
        let blocks = self.rank.ops.blocks_of(op).map(i64::from);
        work.with_blocks += u64::from(blocks.is_some());
        if let Some(blocks) = blocks.filter(|blocks| *blocks < self.sm_count) {
            work.small_grid.add(len_ns);
            let empty_ns = (len_ns as f64 * (self.sm_count - blocks) as f64 / self.sm_count as f64) as i64;
            work.empty_ns = work.empty_ns.saturating_add(empty_ns);
            work.worst_grids.add(step, span, empty_ns);
        }
    }

    fn copy(&mut self, op: usize, span: Span, step: Option<usize>) {
        let ops = &self.rank.ops;
        let OpKind::Memcpy(kind) = ops.kind[op] else { return };
        let bytes = ops.bytes_of(op as u32).unwrap_or(0);
        let add = |to: &mut CopySum| {
            to.sum.add(span.len_ns());
            to.bytes = to.bytes.saturating_add(bytes);
        };
        add(self.work.copies.entry(kind).or_default());
        let is_scalar = bytes <= SCALAR_BYTES;
        self.work.scalars += u64::from(is_scalar && kind == CopyKind::DeviceToHost);
        let call_end_ns = ops.launch_of(op).and_then(|call| self.api_end_ns.get(call as usize));
        if !is_scalar && call_end_ns.is_some_and(|end| *end >= span.end_ns) {
            add(&mut self.work.blocking);
            self.work.worst_blocking.add(step, span, span.len_ns());
            let ends = ops.copy_ends_of(op as u32);
            let is_pageable = |ends: CopyEnds| [ends.from, ends.to].contains(&MemoryKind::Pageable);
            self.work.pageable += u64::from(ends.is_some_and(is_pageable));
        }
    }
}
