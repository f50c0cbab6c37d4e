use super::super::{Params, analyze};
use super::*;
use crate::experiment::{Experiment, Parallel};
use crate::trace::testing::Fixture;
use crate::trace::{CommCall, OpKind};

const NCCL: &str = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";

fn sized(communicator: u64, bytes: u64) -> Option<CommCall> {
    Some(CommCall { communicator: Some(communicator), bytes: Some(bytes), ..CommCall::default() })
}

fn analyzed(trace: &Trace) -> Communication {
    analyze(trace, &Params::default()).ranks.remove(0).communication
}

/// A kernel with its launch, of the given correlation.
fn kernel(fixture: &mut Fixture, name: &str, correlation: i64, launch_ns: i64, start_ns: i64, end_ns: i64) {
    fixture.call("cuLaunchKernelEx", 1, launch_ns, launch_ns + 2, Some(correlation));
    fixture.gpu_op(OpKind::Kernel, name, 20, start_ns, end_ns, Some(correlation), None);
}

/// An all-reduce of `bytes` in communicator 9, called at `at_ns`, running from there for `len_ns`.
fn all_reduce(fixture: &mut Fixture, at_ns: i64, bytes: u64, len_ns: i64) {
    fixture.range_in("NCCL", "ncclAllReduce", 1, Span::new(at_ns, at_ns + 10), sized(9, bytes));
    kernel(fixture, NCCL, at_ns / 1000 + 1, at_ns + 5, at_ns + 20, at_ns + 20 + len_ns);
}

#[test]
fn a_group_of_calls_is_one_message() {
    let mut fixture = Fixture::new();
    let call = |name, at: i64, bytes, fixture: &mut Fixture| {
        let values = Some(CommCall { peer: Some(3), ..sized(7, bytes).unwrap() });
        fixture.range_in("NCCL", name, 1, Span::new(at, at + 1), values);
    };
    fixture.range_in("NCCL", "ncclGroupStart", 1, Span::new(0, 1), None);
    call("ncclSend", 2, 100, &mut fixture);
    call("ncclRecv", 4, 60, &mut fixture);
    call("ncclSend", 6, 100, &mut fixture);
    call("ncclRecv", 8, 60, &mut fixture);
    fixture.range_in("NCCL", "ncclGroupEnd", 1, Span::new(10, 30), None);
    kernel(&mut fixture, "ncclDevKernel_SendRecv", 5, 20, 40, 140);
    let comm = analyzed(&fixture.build());
    let expected =
        Message { kind: Some(Collective::SendRecv), calls: 4, bytes: 200, communicator: Some(7), peer: Some(3) };
    assert_eq!(comm.messages, [(0, expected)]);
    assert_eq!((comm.sizes, comm.by_kind[0].1.bytes), (Some(Sizes::All), Some(200)));
}

#[test]
fn a_group_with_several_kernels_gives_each_its_call_only_when_the_kinds_agree() {
    let build = |second: &str| {
        let mut fixture = Fixture::new();
        fixture.range_in("NCCL", "ncclGroupStart", 1, Span::new(0, 1), None);
        fixture.range_in("NCCL", "ncclAllReduce", 1, Span::new(2, 3), sized(1, 10));
        fixture.range_in("NCCL", "ncclAllGather", 1, Span::new(4, 5), sized(2, 20));
        fixture.range_in("NCCL", "ncclGroupEnd", 1, Span::new(6, 30), None);
        kernel(&mut fixture, NCCL, 5, 10, 40, 50);
        kernel(&mut fixture, second, 6, 15, 50, 60);
        analyzed(&fixture.build())
    };
    let told: Vec<(u32, u64)> =
        build("ncclDevKernel_AllGather_RING_LL").messages.iter().map(|(op, m)| (*op, m.bytes)).collect();
    assert_eq!(told, [(0, 10), (1, 20)]);
    let unclear = build("ncclDevKernel_Broadcast_RING_LL");
    assert_eq!((unclear.messages.len(), unclear.sizes), (0, Some(Sizes::Some)));
}

#[test]
fn kernels_launched_outside_any_call_have_no_size() {
    let mut fixture = Fixture::new();
    all_reduce(&mut fixture, 100, 4096, 50);
    kernel(&mut fixture, NCCL, 900, 900, 910, 960);
    let comm = analyzed(&fixture.build());
    assert_eq!((comm.messages.len(), comm.sizes), (1, Some(Sizes::Some)));
    assert_eq!((comm.message(0).map(|m| m.bytes), comm.message(1)), (Some(4096), None));
}

#[test]
fn what_is_missing_is_told_apart() {
    let mut fixture = Fixture::new();
    kernel(&mut fixture, NCCL, 1, 10, 20, 30);
    assert_eq!(analyzed(&fixture.build()).sizes, Some(Sizes::NoRanges));
    let mut fixture = Fixture::new();
    fixture.range_in("domain 1", "ncclAllReduce", 1, Span::new(5, 15), None);
    kernel(&mut fixture, "ncclDevKernel_Generic_4", 1, 10, 20, 30);
    let comm = analyzed(&fixture.build());
    assert_eq!(
        (comm.sizes, comm.by_kind[0].0),
        (Some(Sizes::NoValues), Collective::AllReduce),
        "the call tells the kind"
    );
    assert_eq!(analyzed(&Fixture::new().kernel("gemm", 7, 0, 10).build()).sizes, None);
}

#[test]
fn bandwidth_follows_the_number_of_ranks_that_made_the_communicator() {
    let build = |ranks: Option<i32>| {
        let mut fixture = Fixture::new();
        let made = Some(CommCall { communicator: Some(9), ranks, ..CommCall::default() });
        fixture.range_in("NCCL", "ncclCommInitRank", 1, Span::new(0, 5), made);
        for at in 0..4 {
            all_reduce(&mut fixture, 1000 + at * 1000, 40_000_000, 500);
        }
        analyzed(&fixture.build()).by_kind[0].1.bandwidth.unwrap()
    };
    let known = build(Some(4));
    assert_eq!((known.kernels, known.algorithm_gb_per_s, known.bus_gb_per_s), (3, Some(80_000.0), Some(120_000.0)));
    let unknown = build(None);
    assert_eq!((unknown.algorithm_gb_per_s, unknown.bus_gb_per_s), (Some(80_000.0), None));
}

#[test]
fn the_layout_of_the_run_tells_the_ranks_of_a_communicator_made_before_the_capture() {
    let mut fixture = Fixture::new();
    for at in 0..3 {
        all_reduce(&mut fixture, 1000 + at * 1000, 40_000_000, 500);
    }
    let trace = fixture.build();
    let with = |parallel: Parallel| {
        let experiment = Some(Experiment { parallel, ..Experiment::default() });
        let numbers = analyze(&trace, &Params { experiment, ..Params::default() }).ranks.remove(0);
        numbers.communication.by_kind[0].1.bandwidth.unwrap().bus_gb_per_s
    };
    assert_eq!(with(Parallel { dp: Some(4), ..Parallel::default() }), Some(120_000.0));
    let several = with(Parallel { dp: Some(4), tp: Some(2), ..Parallel::default() });
    assert_eq!(several, None, "with several kinds of communicators it is not known which one this is");
}

#[test]
fn sizes_and_factors_are_those_of_nccl_tests() {
    use bandwidth::{bus_factor, size_bytes};
    assert_eq!(bus_factor(Collective::AllReduce, Some(8)), Some(1.75));
    assert_eq!(bus_factor(Collective::ReduceScatter, Some(8)), Some(0.875));
    assert_eq!(bus_factor(Collective::Broadcast, None), Some(1.0));
    assert_eq!(bus_factor(Collective::AllReduce, Some(1)), None);
    assert_eq!(size_bytes(Collective::AllGather, Some(8), 100), Some(800.0));
    assert_eq!(size_bytes(Collective::AllGather, None, 100), None);
    assert_eq!(size_bytes(Collective::AllReduce, None, 100), Some(100.0));
}

#[test]
fn a_tiny_message_that_took_milliseconds_waited_for_another_rank() {
    let mut fixture = Fixture::new();
    for at in 0..6_i64 {
        all_reduce(&mut fixture, at * 10_000_000, 228, if at == 3 { 4_000_000 } else { 12_000 });
    }
    let comm = analyzed(&fixture.build());
    let told: Vec<(i64, i64, OutlierReason)> = comm.outliers.iter().map(|o| (o.len_ns, o.usual_ns, o.reason)).collect();
    assert_eq!(told, [(4_000_000, 12_000, OutlierReason::Waited)]);
    let sums = &comm.by_kind[0].1;
    assert_eq!((sums.median_ns, sums.longest_ns, sums.outliers), (12_000, 4_000_000, 1));
    assert_eq!(sums.bandwidth.unwrap().kernels, 4, "neither the first of the communicator nor the one that waited");
}

#[test]
fn one_long_collective_is_listed_and_left_out_of_the_median() {
    let mut fixture = Fixture::new();
    for at in 0..6_i64 {
        all_reduce(&mut fixture, at * 10_000_000_000, 1 << 30, if at == 4 { 5_000_000_000 } else { 20_000_000 + at });
    }
    let comm = analyzed(&fixture.build());
    assert_eq!((comm.outliers.len(), comm.outliers[0].op, comm.outliers[0].reason), (1, 4, OutlierReason::Long));
    assert_eq!(comm.by_kind[0].1.median_ns, 20_000_002);
}

#[test]
fn collectives_that_take_longer_while_compute_runs_are_told() {
    let mut fixture = Fixture::new();
    for at in 0..9_i64 {
        let start_ns = at * 1_000_000;
        let overlapped = at % 2 == 0;
        all_reduce(&mut fixture, start_ns, 1 << 20, if overlapped { 150_000 } else { 100_000 });
        if overlapped {
            fixture.kernel("gemm", 7, start_ns, start_ns + 200_000);
        }
    }
    let contention = analyzed(&fixture.build()).by_kind[0].1.contention.unwrap();
    assert_eq!((contention.overlapped, contention.alone), (4, 4), "the first of the communicator is left out");
    assert_eq!((contention.overlapped_median_ns, contention.alone_median_ns), (150_000, 100_000));
    assert!((contention.ratio - 1.5).abs() < 1e-12);
}

#[test]
fn exposed_spans_name_the_kernel_that_ran_for_most_of_them() {
    let mut fixture = Fixture::new();
    fixture.kernel("gemm", 7, 0, 100);
    fixture.kernel(NCCL, 20, 50, 130);
    fixture.kernel(NCCL, 21, 110, 200);
    fixture.kernel("gemm", 7, 200, 300);
    fixture.kernel(NCCL, 20, 290, 310);
    let trace = fixture.build();
    let comm = analyzed(&trace);
    let told: Vec<(Span, u32)> = comm.exposed.iter().map(|e| (e.span, e.op)).collect();
    assert_eq!(told, [(Span::new(100, 200), 2), (Span::new(300, 310), 4)]);
    assert_eq!(comm.exposed_spans, 2);
    let streams: Vec<(i64, u64, i64)> = comm
        .by_stream
        .iter()
        .map(|(stream, sums)| (trace.ranks[0].streams[*stream].id, sums.count, sums.exposed_ns))
        .collect();
    assert_eq!(streams, [(20, 2, 40), (21, 1, 90)]);
}
