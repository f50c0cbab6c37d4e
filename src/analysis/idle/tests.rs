//! The sweep against the definition itself, tried instant by instant on small random traces.

use super::super::{CallKind, Cause, Causes, Classes, Params, RankAnalysis, Rules};
use super::data_names::is_data_loading;
use super::{GapPlace, GapReport};
use crate::trace::testing::Fixture;
use crate::trace::{OpKind, Trace};
use crate::units::Span;
use proptest::prelude::*;

/// All times of the random traces are multiples of this, so that a cause holds from one to the next.
const CELL_NS: i64 = 500;

fn numbers(trace: &Trace) -> RankAnalysis {
    RankAnalysis::of(trace, 0, &Classes::of(trace, &Rules::default()), &Params::default())
}

fn report(trace: &Trace, gap: usize) -> GapReport {
    GapReport::of(trace, &trace.ranks[0], &numbers(trace), gap).unwrap()
}

/// The causes of a gap, as pairs.
fn split(trace: &Trace, gap: usize) -> Vec<(Cause, i64)> {
    numbers(trace).idle.causes_of(gap).iter().collect()
}

/// A kernel that ends at 0, and one from `start_ns` on that thread 1 launches from `launch` with call 9.
fn late(launch: Span, start_ns: i64) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.launched("gemm", 7, 1, -90_000, -80_000, 0);
    fixture.call("cudaLaunchKernel_v7000", 1, launch.start_ns, launch.end_ns, Some(900));
    fixture.gpu_op(OpKind::Kernel, "gemm", 7, start_ns, start_ns + 1000, Some(900), None);
    fixture
}

#[test]
fn work_that_was_queued_is_turnaround_or_device_wait() {
    let gap = |start_ns| split(&late(Span::new(-50, 10), start_ns).build(), 0);
    assert_eq!(gap(5_000), [(Cause::Turnaround, 5_000)]);
    assert_eq!(gap(5_001), [(Cause::DeviceWait, 5_001)]);
    let at_once = late(Span::new(0, 10), 300).build();
    assert_eq!(split(&at_once, 0), [(Cause::Turnaround, 300)], "a call that begins with the gap was in time");
}

#[test]
fn a_late_launch_splits_into_host_code_launch_and_latency() {
    let trace = late(Span::new(3_000, 7_000), 9_000).build();
    let expected = [(Cause::HostCode, 3_000), (Cause::Launch, 4_000), (Cause::LaunchLatency, 2_000)];
    assert_eq!(split(&trace, 0), expected);
    let report = report(&trace, 0);
    assert_eq!((report.before, report.after, report.launch_after_ns), (Some(0), Some(1), Some(3_000)));
    assert_eq!((report.calls, report.drained_by, report.place), (0, None, GapPlace::Unmarked));
}

#[test]
fn an_operation_that_starts_before_its_call_ends_leaves_no_latency() {
    assert_eq!(
        split(&late(Span::new(3_000, 7_000), 5_000).build(), 0),
        [(Cause::HostCode, 3_000), (Cause::Launch, 2_000)]
    );
    assert_eq!(split(&late(Span::new(3_000, 7_000), 2_000).build(), 0), [(Cause::HostCode, 2_000)]);
}

#[test]
fn a_wait_that_drained_the_queue_takes_host_code_and_launch_but_not_latency() {
    let mut fixture = late(Span::new(30_000, 34_000), 40_000);
    fixture.call("cudaStreamSynchronize_v3020", 1, -50_000, 2_000, None);
    fixture.call("cudaFree_v3020", 1, 5_000, 9_000, None);
    let trace = fixture.build();
    let expected = [(Cause::Sync, 30_000), (Cause::LaunchLatency, 6_000), (Cause::Allocator, 4_000)];
    assert_eq!(split(&trace, 0), expected);
    let report = report(&trace, 0);
    let name = |call: u32| trace.name(trace.processes[0].api.name[call as usize]);
    assert_eq!(report.drained_by.map(name), Some("cudaStreamSynchronize_v3020"));
    assert_eq!((report.cause, report.calls), (Cause::Sync, 1));
}

#[test]
fn a_wait_long_before_the_gap_drained_nothing() {
    for (end_ns, sync) in [(-20_000, true), (-20_001, false)] {
        let mut fixture = late(Span::new(3_000, 7_000), 9_000);
        fixture.call("cudaDeviceSynchronize", 1, -50_000, end_ns, None);
        let trace = fixture.build();
        assert_eq!(numbers(&trace).idle.causes_of(0).of(Cause::Sync) > 0, sync);
        assert_eq!(report(&trace, 0).drained_by.is_some(), sync);
    }
}

#[test]
fn a_blocking_copy_drains_although_an_empty_wait_follows_it() {
    let mut fixture = late(Span::new(30_000, 34_000), 40_000);
    fixture.call("cudaMemcpyAsync_v3020", 1, -50_000, 2_000, None);
    fixture.call("cudaStreamSynchronize_v3020", 1, 3_000, 4_000, None);
    let trace = fixture.build();
    assert_eq!(split(&trace, 0), [(Cause::Sync, 34_000), (Cause::LaunchLatency, 6_000)]);
    let drained_by = report(&trace, 0).drained_by.unwrap();
    assert_eq!(trace.name(trace.processes[0].api.name[drained_by as usize]), "cudaMemcpyAsync_v3020");
}

#[test]
fn code_loaded_inside_the_launch_is_told_apart() {
    let mut fixture = late(Span::new(1_000, 9_000), 9_000);
    fixture.call("cuLibraryLoadData", 1, 2_000, 8_000, None).call("cuMemAlloc_v2", 1, 3_000, 4_000, None);
    let expected = [(Cause::HostCode, 1_000), (Cause::Launch, 2_000), (Cause::ModuleLoad, 6_000)];
    assert_eq!(split(&fixture.build(), 0), expected);
}

#[test]
fn the_range_and_the_os_call_of_the_thread_are_named() {
    let mut fixture = late(Span::new(30_000, 31_000), 31_000);
    fixture.range("train", 1, -90_000, 90_000).range("dataloader", 1, 1_000, 29_000);
    fixture.os_call("poll", 1, 2_000, 28_000).os_call("read", 2, 0, 90_000);
    let trace = fixture.build();
    let expected = [(Cause::Data, 28_000), (Cause::HostCode, 2_000), (Cause::Launch, 1_000)];
    assert_eq!(split(&trace, 0), expected);
    let report = report(&trace, 0);
    let thread = &trace.threads[report.thread.unwrap()];
    let names: Vec<&str> = report.ranges.iter().map(|range| trace.name(thread.nvtx.name[*range])).collect();
    assert_eq!(names, ["train", "dataloader"]);
    assert_eq!(report.os_call.map(|call| trace.name(thread.os.name[call])), Some("poll"));
}

#[test]
fn time_between_marked_steps_is_data_and_the_place_is_known() {
    let mut fixture = Fixture::new();
    for (step, at) in [(0, 0), (1, 100_000)] {
        fixture.range(&format!("step {step}"), 1, at, at + 50_000);
        fixture.launched("gemm", 7, 1, at + 10_000, at + 20_000, at + 40_000);
    }
    let trace = fixture.build();
    let expected =
        [(Cause::Data, 50_000), (Cause::HostCode, 20_000), (Cause::Launch, 2), (Cause::LaunchLatency, 9_998)];
    assert_eq!(split(&trace, 0), expected);
    assert_eq!(report(&trace, 0).place, GapPlace::Between(0, 1));
    let numbers = numbers(&trace);
    let steps = numbers.steps.as_ref().unwrap();
    // The first step owns the time before its first operation.
    assert_eq!(steps.steps[0].causes.iter().next(), Some((Cause::HostCode, 10_000)));
    assert_eq!(steps.steps[0].causes.total_ns(), 20_000);
    assert_eq!(steps.typical.causes.total_ns(), steps.typical.mean.idle_ns);
}

#[test]
fn operations_without_a_length_split_no_gap_and_end_none() {
    let mut fixture = late(Span::new(3_000, 7_000), 9_000);
    fixture.kernel("marker", 7, 4_000, 4_000).kernel("marker", 7, 9_000, 9_000);
    let trace = fixture.build();
    assert_eq!(numbers(&trace).idle.gaps(), 1);
    assert_eq!(split(&trace, 0)[0], (Cause::HostCode, 3_000));
}

#[test]
fn gaps_are_listed_longest_first_and_the_short_ones_are_summed() {
    let mut fixture = Fixture::new();
    let mut at = 0;
    for len in [3_000, 1_000, 9_000, 3_000, 1_999, 2_000] {
        fixture.kernel("gemm", 7, at, at + 100);
        at += 100 + len;
    }
    let trace = fixture.kernel("gemm", 7, at, at + 100).build();
    let idle = numbers(&trace).idle;
    assert_eq!(idle.by_length(idle.listed_ns), [2, 0, 3, 5]);
    assert_eq!(idle.longest(idle.listed_ns, 2), [2, 0]);
    assert_eq!(idle.longest(0, 99).len(), 6);
    let short = idle.shorter(idle.listed_ns);
    assert_eq!((short.count, short.total_ns), (2, 2_999));
    assert_eq!(idle.cause_of(0), Some(Cause::Unknown));
}

#[test]
fn sums_hold_over_many_blocks() {
    let mut fixture = Fixture::new();
    for at in 0..500 {
        fixture.launched("gemm", 7, 1, at * 1_000 - 300, at * 1_000, at * 1_000 + 400);
    }
    let trace = fixture.build();
    let numbers = numbers(&trace);
    for (start_ns, end_ns) in [(0, 499_400), (700, 400_100), (63_000, 65_900), (450_000, 450_500), (1, 2)] {
        let window = Span::new(start_ns, end_ns);
        let causes = numbers.idle.within(window);
        assert_eq!(causes.total_ns(), numbers.partition(window).idle_ns, "{window:?}");
        let painted = numbers.idle.segments(window).fold(Causes::default(), |mut sum, (span, cause)| {
            sum.add(cause, span.intersect(window).map_or(0, Span::len_ns));
            sum
        });
        assert_eq!(painted, causes);
    }
}

/// Names of calls in the random traces.
const CALLS: [&str; 6] = [
    "cudaLaunchKernel_v7000",
    "cudaStreamSynchronize_v3020",
    "cudaMemcpyAsync_v3020",
    "cudaMalloc_v3020",
    "cuModuleLoadData",
    "cudaEventQuery_v3020",
];

/// Events of a random trace: start and length in cells, thread, and what it is.
type Events = Vec<(i64, i64, i64, usize)>;

fn events(count: usize, longest: i64, kinds: usize) -> impl Strategy<Value = Events> {
    prop::collection::vec((0_i64..160, 0..longest, 1_i64..3, 0..kinds), 0..count)
}

/// Operations: start and length in cells, and which of the calls launched them, when it exists.
type Ops = Vec<(i64, i64, usize)>;

fn trace_of(ops: &Ops, calls: &Events, os: &Events, ranges: &Events, steps: &[(i64, i64)]) -> Trace {
    let mut fixture = Fixture::new();
    for (at, (start, len, tid, kind)) in calls.iter().enumerate() {
        let (start_ns, end_ns) = (start * CELL_NS, (start + len) * CELL_NS);
        fixture.call(CALLS[*kind], *tid, start_ns, end_ns, Some(at as i64));
    }
    for (start, len, launch) in ops {
        let launch = (*launch < calls.len()).then_some(*launch as i64);
        fixture.gpu_op(OpKind::Kernel, "gemm", 7, start * CELL_NS, (start + len) * CELL_NS, launch, None);
    }
    for (start, len, tid, _) in os {
        fixture.os_call("poll", *tid, start * CELL_NS, (start + len) * CELL_NS);
    }
    for (start, len, tid, kind) in ranges {
        fixture.range(["forward", "dataloader"][*kind], *tid, start * CELL_NS, (start + len) * CELL_NS);
    }
    for (at, (start, len)) in steps.iter().enumerate() {
        fixture.range(&format!("step {at}"), 1, start * CELL_NS, (start + len) * CELL_NS);
    }
    fixture.build()
}

/// The definition, word by word, at one instant; `None` while something runs. `lead_ns` is where time begins, `steps`
/// are the marked ranges.
fn defined(trace: &Trace, lead_ns: i64, steps: &[Span], at_ns: i64) -> Option<Cause> {
    let ops = &trace.ranks[0].ops;
    let spans: Vec<Span> = (0..ops.len()).map(|op| ops.span(op)).collect();
    if spans.iter().any(|span| span.contains(at_ns)) {
        return None;
    }
    let with_length = || spans.iter().filter(|span| !span.is_empty());
    let a = with_length().map(|s| s.end_ns).filter(|end| *end <= at_ns).max().unwrap_or(lead_ns);
    let Some(b) = with_length().map(|s| s.start_ns).filter(|start| *start > at_ns).min() else {
        return Some(Cause::Unknown);
    };
    let starts_at_b = |op: &usize| spans[*op].start_ns == b && !spans[*op].is_empty();
    let Some(launch) = (0..ops.len()).filter(starts_at_b).find_map(|op| ops.launch_of(op)) else {
        return Some(Cause::Unknown);
    };
    let api = &trace.processes[0].api;
    let thread = &trace.threads[trace.thread_of_call(0, launch).unwrap()];
    let call = api.span(launch as usize);
    if call.start_ns <= a {
        return Some(if b - a <= 5_000 { Cause::Turnaround } else { Cause::DeviceWait });
    }
    let own = || (thread.api.start as usize..thread.api.end as usize).rev();
    let kind = |at: usize| CallKind::of(trace.name(api.name[at]));
    let drained = own().any(|at| {
        let span = api.span(at);
        let waits = kind(at) == CallKind::Synchronize || kind(at) == CallKind::Copy && span.contains(a);
        waits && span.start_ns < a && a - 20_000 <= span.end_ns && span.end_ns <= call.start_ns
    });
    let or_sync = |cause| Some(if drained { Cause::Sync } else { cause });
    if at_ns >= call.start_ns && at_ns < call.end_ns {
        let nested = |at: &usize| *at > launch as usize && api.span(*at).contains(at_ns);
        let loads = own().filter(nested).any(|at| kind(at) == CallKind::LoadModule);
        return if loads { Some(Cause::ModuleLoad) } else { or_sync(Cause::Launch) };
    }
    if at_ns >= call.end_ns {
        return Some(Cause::LaunchLatency);
    }
    let nvtx = &thread.nvtx;
    let loading = |at: usize| nvtx.span(at).contains(at_ns) && is_data_loading(trace.name(nvtx.name[at]));
    if (0..nvtx.len()).any(loading) {
        return Some(Cause::Data);
    }
    let open: Vec<usize> = own().filter(|at| api.span(*at).contains(at_ns)).collect();
    let decided = open.iter().find_map(|at| match kind(*at) {
        CallKind::Synchronize => Some(Cause::Sync),
        CallKind::Copy if api.span(*at).contains(a) => Some(Cause::Sync),
        CallKind::Allocate => Some(Cause::Allocator),
        CallKind::LoadModule => Some(Cause::ModuleLoad),
        _ => None,
    });
    if decided.is_some() {
        return decided;
    }
    if !open.is_empty() {
        return or_sync(Cause::Launch);
    }
    if (0..thread.os.len()).any(|at| thread.os.span(at).contains(at_ns)) {
        return Some(Cause::OsWait);
    }
    if !steps.is_empty() && !steps.iter().any(|step| step.contains(at_ns)) {
        return Some(Cause::Data);
    }
    or_sync(Cause::HostCode)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_idle_instant_has_the_cause_that_the_definition_gives(
        ops in prop::collection::vec((0_i64..170, 0_i64..12, 0_usize..20), 1..12),
        calls in events(18, 30, CALLS.len()),
        os in events(5, 20, 1),
        ranges in events(5, 30, 2),
        steps in prop::collection::vec((0_i64..160, 1_i64..60), 0..5),
        window in (-10_i64..180, 0_i64..190),
    ) {
        let trace = trace_of(&ops, &calls, &os, &ranges, &steps);
        let numbers = numbers(&trace);
        let found = numbers.steps.as_ref().filter(|steps| !steps.estimated);
        let marked: Vec<Span> = found
            .iter()
            .flat_map(|_| &steps)
            .map(|(start, len)| Span::new(start * CELL_NS, (start + len) * CELL_NS))
            .collect();
        let lead_ns = found.map_or(i64::MAX, |s| s.steps[0].window.start_ns).min(trace.span.unwrap().start_ns);
        let lead_ns = lead_ns.min(numbers.span.start_ns);
        for cell in (lead_ns / CELL_NS)..(numbers.span.end_ns / CELL_NS) {
            let instant = Span::new(cell * CELL_NS, (cell + 1) * CELL_NS);
            let expected = defined(&trace, lead_ns, &marked, instant.start_ns);
            let causes = numbers.idle.within(instant);
            prop_assert_eq!(causes.largest(), expected, "at {}", instant.start_ns);
            prop_assert_eq!(causes.total_ns(), if expected.is_some() { CELL_NS } else { 0 });
        }
        // Off the grid too.
        let window = Span::new(window.0 * CELL_NS + 123, (window.0 + window.1) * CELL_NS + 457);
        prop_assert_eq!(numbers.idle.within(window).total_ns(), numbers.partition(window).idle_ns);
        prop_assert_eq!(numbers.idle.within(numbers.span).total_ns(), numbers.whole.idle_ns);
        for step in numbers.steps.iter().flat_map(|steps| &steps.steps) {
            prop_assert_eq!(step.causes.total_ns(), step.parts.idle_ns);
        }
        if let Some(steps) = &numbers.steps {
            prop_assert_eq!(steps.typical.causes.total_ns(), steps.typical.mean.idle_ns);
        }
        for gap in 0..numbers.idle.gaps() {
            let report = GapReport::of(&trace, &trace.ranks[0], &numbers, gap).unwrap();
            prop_assert_eq!(report.causes.total_ns(), report.span.len_ns());
            prop_assert_eq!(report.causes.largest(), Some(report.cause));
            prop_assert_eq!(report.after.is_some(), true);
            if report.causes.of(Cause::Launch) + report.causes.of(Cause::HostCode) > 0 {
                prop_assert_eq!(report.drained_by, None);
            }
        }
    }
}
