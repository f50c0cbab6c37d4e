use super::super::{Classes, Params, RankAnalysis, Rules};
use super::*;
use crate::trace::testing::{Fixture, PID};
use crate::trace::{CopyKind, OpKind, RawSync};
use proptest::prelude::*;

fn numbers(trace: &Trace) -> RankAnalysis {
    RankAnalysis::of(trace, 0, &Classes::of(trace, &Rules::default()), &Params::default())
}

#[test]
fn latency_runs_from_the_call_s_start_and_queue_time_from_its_end() {
    let trace = Fixture::new()
        .launched("a", 7, 1, 0, 10, 20)
        .call("cudaLaunchKernel_v7000", 1, 30, 60, Some(99))
        .gpu_op(OpKind::Kernel, "b", 7, 50, 70, Some(99), None)
        .build();
    let whole = numbers(&trace).launches.whole.unwrap();
    assert_eq!((whole.launches, whole.operations), (2, 2));
    let latency = whole.latency.unwrap();
    assert_eq!((latency.count, latency.p50_ns, latency.max_ns, latency.mean_ns), (2, 10, 20, 15));
    let queue = whole.queue_time.unwrap();
    assert_eq!((queue.count, queue.max_ns), (1, 8), "an operation that starts before its call returns has none");
}

#[test]
fn one_graph_launch_of_many_operations_is_one_launch() {
    let mut fixture = Fixture::new();
    fixture.call("cudaGraphLaunch_v10000", 1, 0, 5, Some(7));
    for at in 0..200 {
        fixture.gpu_op(OpKind::Kernel, "node", 7, 10 + at * 10, 15 + at * 10, Some(7), None);
    }
    let launches = numbers(&fixture.build()).launches;
    let whole = launches.whole.unwrap();
    assert_eq!((whole.launches, whole.operations, whole.latency.unwrap().max_ns, whole.max_depth), (1, 200, 10, 0));
    let told: Vec<(&str, u64)> = launches.api_calls.iter().map(|sum| (sum.name.as_str(), sum.count)).collect();
    assert_eq!(told, [("cudaGraphLaunch", 1)]);
}

#[test]
fn operations_without_a_launch_have_no_latency() {
    let launches = numbers(&Fixture::new().kernel("k", 7, 0, 10).build()).launches;
    assert!(launches.whole.is_none() && launches.histogram.is_empty() && launches.syncs.is_empty());
}

#[test]
fn kernels_that_are_short_and_launched_often_are_named() {
    let mut fixture = Fixture::new();
    for at in 0..120 {
        fixture.kernel("tiny", 7, at * 100_000, at * 100_000 + 4_000);
    }
    for at in 0..99 {
        fixture.kernel("rare", 7, at * 100_000 + 50_000, at * 100_000 + 51_000);
    }
    fixture.kernel("gemm", 7, 20_000_000, 20_001_000_000 - 20_000_000);
    let trace = fixture.build();
    let short = numbers(&trace).launches.short;
    assert_eq!((short.count, short.total_ns), (219, 120 * 4_000 + 99 * 1_000));
    let told: Vec<(&str, u64, i64)> =
        short.often.iter().map(|k| (trace.op_short_name(k.name), k.count, k.mean_ns)).collect();
    assert_eq!((told, short.often_ns), (vec![("tiny", 120, 4_000)], 480_000));
}

#[test]
fn a_waiting_call_names_the_last_operation_that_ended_before_it_returned() {
    let mut fixture = Fixture::new();
    fixture.kernel("mine", 7, 0, 100).kernel("other", 9, 0, 150).kernel("later", 7, 160, 300);
    fixture.call("cudaStreamSynchronize_v3020", 1, 50, 155, Some(77));
    fixture.builder.sync(RawSync {
        start_ns: 51,
        end_ns: Some(154),
        global_pid: PID,
        device: 0,
        stream: 7,
        correlation: Some(77),
        sync_type: 3,
        row: 500,
    });
    fixture.call("cudaDeviceSynchronize_v3020", 1, 156, 158, None);
    fixture.call("cudaDeviceSynchronize_v3020", 2, 200, 305, None);
    fixture.call("cudaMemcpy_v3020", 1, 310, 350, Some(78));
    fixture.gpu_op(OpKind::Memcpy(CopyKind::DeviceToHost), "", 7, 320, 340, Some(78), Some(4));
    let trace = fixture.build();
    let launches = numbers(&trace).launches;
    let name = |op: Option<u32>| op.map(|op| trace.op_short_name(trace.ranks[0].ops.name[op as usize]));
    let told: Vec<(i64, SyncKind, Option<&str>)> =
        launches.syncs.iter().map(|sync| (sync.span.len_ns(), sync.kind, name(sync.waited_for))).collect();
    assert_eq!(
        told,
        [
            (105, SyncKind::Stream, Some("mine")),
            (105, SyncKind::Device, Some("later")),
            (40, SyncKind::Copy, Some("Memcpy DtoH")),
            (2, SyncKind::Device, None),
        ]
    );
    let sums: Vec<(&str, u64, i64)> =
        launches.sync_sums.iter().map(|s| (s.name.as_str(), s.count, s.total_ns)).collect();
    assert_eq!(sums, [("cudaDeviceSynchronize", 2, 107), ("cudaStreamSynchronize", 1, 105), ("cudaMemcpy", 1, 40)]);
}

/// Launches as (call, latency, length); calls alternate between two threads.
fn job(launches: &[(i64, i64, i64)]) -> Trace {
    let mut fixture = Fixture::new();
    for (at, (call_ns, latency_ns, len_ns)) in launches.iter().enumerate() {
        let (tid, start_ns) = (1 + at as i64 % 2, call_ns + latency_ns);
        fixture.launched("k", 7 + at as i64 % 3, tid, *call_ns, start_ns, start_ns + len_ns);
    }
    fixture.build()
}

proptest! {
    #[test]
    fn any_view_shows_the_depth_and_latency_that_counting_gives(
        launches in proptest::collection::vec((0_i64..40_000, 0_i64..3000, 0_i64..50), 1..30),
        start_ns in -100_i64..40_000,
        len_ns in 1_i64..45_000,
        most in 1_usize..60,
    ) {
        let trace = job(&launches);
        let numbers = numbers(&trace);
        let window = Span::new(start_ns, start_ns + len_ns);
        let points = numbers.launches.series(&trace, 0, window, most);
        prop_assert!(points.len() <= most + 2);
        for point in &points {
            let depth = |ns: i64| launches.iter().filter(|(call, wait, _)| *call <= ns && ns < call + wait).count();
            let depths: Vec<usize> = (point.span.start_ns..point.span.end_ns).map(depth).collect();
            prop_assert_eq!(point.max_depth as usize, depths.iter().copied().max().unwrap_or(0));
            let mean = depths.iter().sum::<usize>() as f64 / depths.len() as f64;
            prop_assert!((point.mean_depth - mean).abs() < 1e-9);
            let inside = launches.iter().filter(|(call, wait, _)| point.span.contains(call + wait));
            prop_assert_eq!(point.launches, inside.clone().count() as u64);
            prop_assert_eq!(point.max_latency_ns, inside.map(|(_, wait, _)| *wait).max());
        }
        if points.len() > 1 {
            prop_assert!(points.windows(2).all(|pair| pair[0].span.end_ns == pair[1].span.start_ns));
        }
        let whole = numbers.launches.whole.unwrap();
        prop_assert_eq!(whole.launches, launches.len() as u64);
    }
}

#[test]
fn the_last_point_of_a_narrow_view_holds_what_happens_beyond_the_view() {
    // Points of 3 ns over 54 ns: the last ends 3 ns after the view.
    let trace = job(&[(0, 0, 0), (30_340, 2_385, 43), (12_978, 1, 0)]);
    let points = numbers(&trace).launches.series(&trace, 0, Span::new(12_922, 12_976), 19);
    let last = points.last().unwrap();
    assert_eq!((last.span, last.max_depth), (Span::new(12_976, 12_979), 1));
}

#[test]
fn what_is_small_and_what_is_slow_follows_the_users_thresholds() {
    let mut fixture = Fixture::new();
    fixture.launched("gemm", 7, 1, 0, 10, 30).launched("gemm", 7, 1, 40, 50, 90);
    let trace = fixture.build();
    let launches = |thresholds| {
        let params = Params { thresholds, ..Params::default() };
        RankAnalysis::of(&trace, 0, &Classes::of(&trace, &Rules::default()), &params).launches
    };
    let usual = launches(Thresholds::default());
    assert_eq!((usual.short.count, usual.short.often.len(), usual.slow_calls.count), (2, 0, 0));
    let strict = Thresholds { small_kernel_ns: 31, often_launched: 2, full_queue_call_ns: 1, ..Thresholds::default() };
    let strict = launches(strict);
    // The mean of 20 and 40 ns lies below, one of the two kernels does; both calls take 2 ns.
    assert_eq!((strict.short.count, strict.short.often.len(), strict.slow_calls.count), (1, 1, 2));
}
