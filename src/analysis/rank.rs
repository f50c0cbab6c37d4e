//! The numbers of one rank.
//!
//! Cost: a few linear passes over its operations; 16 bytes for every span of the unions.

use super::scope::Scope;
use super::{
    Attribution, Class, Classes, Communication, Coverage, Diagnosis, Idle, KernelSums, Launches, Overlaps, Params,
    Partition, Ranges, Steps, intervals,
};
use crate::trace::{OpKind, OpTable, Trace};
use crate::units::Span;
use std::sync::Arc;

/// The numbers of one rank.
#[derive(Debug)]
pub struct RankAnalysis {
    /// From the first start to the last end of its operations.
    pub span: Span,
    /// Kernels, communication kernels among them, copies and fills, graph blocks.
    pub counts: Counts,
    /// Index of the stream with the most compute-kernel time, when any ran compute.
    pub primary_stream: Option<usize>,
    /// Time covered by anything. Idle gaps are what lies between its spans: [`Coverage::gap`].
    pub busy: Arc<Coverage>,
    /// Time covered by something, but not by compute, fused kernels or graph blocks. Kept instead of the time covered
    /// by compute, which nearly repeats `busy`.
    pub without_compute: Coverage,
    /// Time covered by communication kernels.
    pub comm: Coverage,
    /// Communication while no compute kernel ran.
    pub exposed: Coverage,
    /// Communication while nothing else ran: no compute, no copy, no fill.
    pub comm_alone: Coverage,
    /// The five parts of the whole span.
    pub whole: Partition,
    /// Communication in detail.
    pub communication: Communication,
    /// Kernel time by family, fused kernels, and kernels that no rule knows.
    pub kernels: KernelSums,
    /// Steps, when the capture marks any.
    pub steps: Option<Steps>,
    /// Which groups of operations ran at once.
    pub overlaps: Overlaps,
    /// Why it was idle.
    pub idle: Idle,
    /// How its work was launched.
    pub launches: Launches,
    /// What its step is bound by, and what was found.
    pub diagnosis: Diagnosis,
    /// The NVTX ranges of its process and what they ran on it.
    pub ranges: Ranges,
}

/// How many operations of each sort a rank ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Kernels of every class.
    pub kernels: u64,
    /// Communication kernels.
    pub comm_kernels: u64,
    /// Copies and fills.
    pub copies: u64,
    /// Graph executions recorded as one block.
    pub graphs: u64,
}

impl RankAnalysis {
    /// Computes the numbers of rank `rank` of `trace`.
    ///
    /// # Panics
    /// When the trace has no such rank.
    pub fn of(trace: &Trace, rank: usize, classes: &Classes, params: &Params) -> Self {
        let ops = &trace.ranks[rank].ops;
        let span = ops.hull().unwrap_or_default();
        let class = |op: usize| classes.class(ops.name[op], ops.kind[op]);
        let of = |keep: fn(Class) -> bool| {
            intervals::union((0..ops.len()).filter(move |op| keep(class(*op))).map(|op| ops.span(op)))
        };
        let compute = of(Class::is_compute);
        let comm = Coverage::from_sorted(of(Class::is_communication));
        let busy = Arc::new(Coverage::from_sorted(of(|_| true)));
        let less_compute = |covered: &Coverage| {
            Coverage::from_sorted(intervals::subtract(covered.spans().iter().copied(), compute.clone()))
        };
        let (exposed, without_compute) = (less_compute(&comm), less_compute(&busy));
        let exposed_spans = exposed.spans().iter().copied();
        let comm_alone = Coverage::from_sorted(intervals::subtract(exposed_spans, of(|class| class == Class::Copy)));
        let whole = Partition::of(span, &busy, &without_compute, &comm, &exposed, &comm_alone);
        let mut numbers = Self {
            span,
            counts: Counts::of(ops, class),
            primary_stream: primary_stream(ops, class, trace.ranks[rank].streams.len()),
            communication: Communication::of(trace, rank, classes, &exposed, params),
            kernels: KernelSums::of(ops, class, whole.compute_ns()),
            busy,
            without_compute,
            comm,
            exposed,
            comm_alone,
            whole,
            steps: None,
            overlaps: Overlaps::default(),
            idle: Idle::default(),
            launches: Launches::default(),
            diagnosis: Diagnosis::default(),
            ranges: Ranges::default(),
        };
        numbers.steps = Steps::find(trace, rank, &numbers, &params.steps);
        let (steps, listed_ns) = (numbers.steps.as_ref(), params.thresholds.listed_gap_ns);
        numbers.idle = Idle::of(trace, &trace.ranks[rank], &numbers.busy, steps, listed_ns);
        if let Some(steps) = &mut numbers.steps {
            steps.add_causes(&numbers.idle);
        }
        // Three long passes that read what is there already and need nothing of each other.
        (numbers.overlaps, numbers.launches, numbers.ranges) = std::thread::scope(|scope| {
            let overlaps = scope.spawn(|| Overlaps::of(trace, rank, &numbers, classes, &params.rules));
            let launches = scope.spawn(|| Launches::of(trace, rank, &numbers, &params.thresholds));
            let ranges = Ranges::of(trace, rank, numbers.steps.as_ref(), false);
            // The window shows these at once; what the other attribution gives is computed when it is asked for.
            ranges.whole(trace, Attribution::Process);
            (joined(overlaps), joined(launches), ranges)
        });
        numbers
    }

    /// The five parts of `window` (time of the export). Costs a few binary searches, so it can follow the view.
    pub fn partition(&self, window: Span) -> Partition {
        Partition::of(window, &self.busy, &self.without_compute, &self.comm, &self.exposed, &self.comm_alone)
    }

    /// Exposed communication within `spans` (sorted, apart from each other; time of the export), as the mean of what the
    /// verdict is about: a typical step, else the whole span. `None` when the rank's span has no length.
    pub fn mean_exposed_ns(&self, spans: &[Span]) -> Option<i64> {
        Scope::of(self).map(|scope| scope.exposed_ns(self, spans))
    }
}

/// What a thread computed; its panic goes on here.
fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Counts {
    fn of(ops: &OpTable, class: impl Fn(usize) -> Class) -> Self {
        let mut counts = Self::default();
        for (op, kind) in ops.kind.iter().enumerate() {
            match kind {
                OpKind::Kernel => {
                    counts.kernels += 1;
                    counts.comm_kernels += u64::from(class(op).is_communication());
                }
                OpKind::Memcpy(_) | OpKind::Memset => counts.copies += 1,
                OpKind::Graph => counts.graphs += 1,
            }
        }
        counts
    }
}

/// The stream with the most compute-kernel time; of equals the one with the lowest id. Streams are ordered by id.
fn primary_stream(ops: &OpTable, class: impl Fn(usize) -> Class, streams: usize) -> Option<usize> {
    let mut busy_ns: Vec<Option<i64>> = vec![None; streams];
    for op in (0..ops.len()).filter(|op| ops.kind[*op] == OpKind::Kernel && class(*op).is_compute()) {
        if let Some(sum) = busy_ns.get_mut(ops.stream[op] as usize) {
            *sum = Some(sum.unwrap_or(0).saturating_add(ops.span(op).len_ns()));
        }
    }
    let ran = busy_ns.iter().enumerate().filter_map(|(stream, sum)| sum.map(|sum| (stream, sum)));
    ran.max_by_key(|(stream, sum)| (*sum, std::cmp::Reverse(*stream))).map(|(stream, _)| stream)
}

#[cfg(test)]
mod tests {
    use super::super::{Collective, CollectiveSum, Rules};
    use super::*;
    use crate::trace::testing::Fixture;
    use proptest::prelude::*;

    fn numbers(trace: &Trace) -> RankAnalysis {
        RankAnalysis::of(trace, 0, &Classes::of(trace, &Rules::default()), &Params::default())
    }

    #[test]
    fn the_five_parts_of_a_small_timeline() {
        let trace = Fixture::new()
            .kernel("gemm", 7, 0, 10)
            .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 6, 16)
            .gpu_op(OpKind::Memset, "", 9, 14, 20, None, None)
            .kernel("gemm", 7, 30, 40)
            .build();
        let rank = numbers(&trace);
        let expected = Partition {
            span_ns: 40,
            comm_ns: 10,
            comm_alone_ns: 4,
            compute_only_ns: 16,
            overlapped_comm_ns: 4,
            exposed_comm_ns: 6,
            copy_only_ns: 4,
            idle_ns: 10,
        };
        assert_eq!(rank.whole, expected);
        assert_eq!((rank.busy.gaps(), rank.busy.gap(0)), (1, Some(Span::new(20, 30))));
        let (kind, sums) = &rank.communication.by_kind[0];
        assert_eq!(
            (*kind, CollectiveSum::of(sums)),
            (Collective::AllReduce, CollectiveSum { count: 1, total_ns: 10, exposed_ns: 6 })
        );
        assert_eq!(rank.counts, Counts { kernels: 3, comm_kernels: 1, copies: 1, graphs: 0 });
        assert_eq!(trace.ranks[0].streams[rank.primary_stream.unwrap()].id, 7);
    }

    #[test]
    fn equal_streams_make_the_lowest_id_primary() {
        let trace = Fixture::new().kernel("gemm", 9, 0, 10).kernel("gemm", 7, 20, 30).build();
        let rank = numbers(&trace);
        assert_eq!(trace.ranks[0].streams[rank.primary_stream.unwrap()].id, 7);
    }

    proptest! {
        #[test]
        fn every_nanosecond_belongs_to_exactly_one_part(
            ops in proptest::collection::vec((0_u8..3, 0_i64..50, 0_i64..9), 1..20),
            start in -3_i64..55,
            len in 0_i64..60,
        ) {
            let mut fixture = Fixture::new();
            for (what, at, len) in &ops {
                match what {
                    0 => fixture.kernel("gemm", 7, *at, at + len),
                    1 => fixture.kernel("ncclDevKernel_AllGather_RING_LL", 20, *at, at + len),
                    _ => fixture.gpu_op(OpKind::Memset, "", 9, *at, at + len, None, None),
                };
            }
            let trace = fixture.build();
            let window = Span::new(start, start + len);
            let parts = numbers(&trace).partition(window);
            let runs = |ns: i64, kind: u8| ops.iter().any(|(k, at, len)| *k == kind && Span::new(*at, at + len).contains(ns));
            let count = |keep: &dyn Fn(bool, bool, bool) -> bool| {
                (window.start_ns..window.end_ns).filter(|ns| keep(runs(*ns, 0), runs(*ns, 1), runs(*ns, 2))).count() as i64
            };
            prop_assert_eq!(parts.compute_only_ns, count(&|c, n, _| c && !n));
            prop_assert_eq!(parts.overlapped_comm_ns, count(&|c, n, _| c && n));
            prop_assert_eq!(parts.exposed_comm_ns, count(&|c, n, _| !c && n));
            prop_assert_eq!(parts.comm_alone_ns, count(&|c, n, m| !c && n && !m));
            prop_assert_eq!(parts.copy_only_ns, count(&|c, n, m| !c && !n && m));
            prop_assert_eq!(parts.idle_ns, count(&|c, n, m| !c && !n && !m));
        }
    }
}
