//! Rows in, traces out: order, joins, and what is left out.

use super::super::testing::{Fixture, PID};
use super::super::{CopyKind, RawOp};
use super::*;

#[test]
fn rows_in_any_order_give_sorted_columns_with_their_launches() {
    let trace = Fixture::new()
        .launched("late", 7, 1, 50, 60, 70)
        .launched("early", 7, 1, 10, 20, 30)
        .gpu_op(OpKind::Memcpy(CopyKind::HostToDevice), "", 9, 5, 6, None, Some(64))
        .build();
    let ops = &trace.ranks[0].ops;
    assert_eq!(ops.start_ns, [5, 20, 60]);
    assert_eq!(ops.bytes, [(0, 64)]);
    assert_eq!(ops.launch_of(0), None);
    let launch = ops.launch_of(1).map(|call| trace.processes[0].api.span(call as usize));
    assert_eq!(launch, Some(Span::new(10, 12)));
    assert_eq!(trace.op_short_name(ops.name[1]), "early");
    assert_eq!(trace.op_short_name(ops.name[0]), "Memcpy HtoD");
}

#[test]
fn the_innermost_call_is_the_launch_whatever_the_row_order() {
    for swap in [false, true] {
        let mut fixture = Fixture::new();
        let mut calls = [("outer", 10, 40), ("inner", 12, 30)];
        if swap {
            calls.reverse();
        }
        for (name, start, end) in calls {
            fixture.call(name, 1, start, end, Some(5));
        }
        let trace = fixture.gpu_op(OpKind::Kernel, "k", 7, 35, 50, Some(5), None).build();
        let call = trace.ranks[0].ops.launch_of(0).unwrap();
        assert_eq!(trace.name(trace.processes[0].api.name[call as usize]), "inner");
    }
}

#[test]
fn equal_correlation_ids_of_two_processes_stay_apart() {
    let mut fixture = Fixture::new();
    fixture.call("mine", 1, 10, 12, Some(5)).gpu_op(OpKind::Kernel, "k", 7, 20, 30, Some(5), None);
    let name = fixture.builder.names().intern("other");
    let (other, row) = (2 * PID, 9);
    fixture.builder.call(RawCall {
        start_ns: 11,
        end_ns: Some(12),
        global_tid: other | 1,
        correlation: Some(5),
        name,
        row,
    });
    fixture.builder.op(RawOp {
        start_ns: 40,
        end_ns: Some(41),
        global_pid: other,
        device: 0,
        stream: 7,
        correlation: Some(5),
        kind: OpKind::Kernel,
        short: name,
        full: name,
        bytes: None,
        row,
    });
    let trace = fixture.build();
    assert_eq!(trace.ranks.len(), 2);
    let launch_name = |rank: usize| {
        let rank = &trace.ranks[rank];
        let api = &trace.processes[rank.process].api;
        trace.name(api.name[rank.ops.launch_of(0).unwrap() as usize])
    };
    assert_eq!((launch_name(0), launch_name(1)), ("mine", "other"));
}

#[test]
fn bad_rows_are_dropped_and_counted() {
    let trace = Fixture::new().kernel("k", 7, 10, 9).kernel("k", 7, 10, 5).kernel("k", 7, 10, 10).build();
    assert_eq!(trace.ranks[0].ops.len(), 1);
    assert_eq!(trace.warnings.len(), 1);
    assert_eq!((trace.warnings[0].code, trace.warnings[0].count), ("end-before-start", 2));
}

#[test]
fn times_that_no_clock_shows_are_dropped_and_counted() {
    let trace = Fixture::new()
        .kernel("k", 7, i64::MIN, 10)
        .kernel("k", 7, 10, i64::MAX)
        .range("r", 1, i64::MIN, i64::MAX)
        .kernel("k", 7, 10, 20)
        .build();
    assert_eq!((trace.ranks[0].ops.len(), trace.nvtx_ranges(), trace.span), (1, 0, Some(Span::new(10, 20))));
    let told: Vec<(&str, u64)> = trace.warnings.iter().map(|w| (w.code, w.count)).collect();
    assert_eq!(told, [("impossible-time", 2), ("impossible-time", 1)]);
}

#[test]
fn a_call_that_never_returned_lasts_to_the_end_of_the_capture() {
    let mut fixture = Fixture::new();
    let name = fixture.builder.names().intern("cudaDeviceSynchronize");
    fixture.builder.call(RawCall { start_ns: 5, end_ns: None, global_tid: PID | 1, correlation: None, name, row: 1 });
    let trace = fixture.kernel("k", 7, 10, 90).build();
    assert_eq!(trace.processes[0].api.end_ns, [90]);
}

#[test]
fn ranges_opened_before_the_capture_do_not_stretch_the_span() {
    let trace = Fixture::new().range("old", 1, -1_000_000, 50).kernel("k", 7, 10, 90).build();
    assert_eq!(trace.span, Some(Span::new(0, 90)));
}

#[test]
fn calls_of_several_threads_find_their_thread() {
    let trace = Fixture::new().call("b", 2, 5, 6, None).call("a", 1, 7, 8, None).call("c", 2, 1, 2, None).build();
    let of = |call| trace.thread_of_call(0, call).map(|t| trace.threads[t].tid);
    assert_eq!((of(0), of(1), of(2), of(3)), (Some(1), Some(2), Some(2), None));
}

#[test]
fn sparse_correlation_ids_join_too() {
    let mut fixture = Fixture::new();
    for at in 0..3 {
        fixture.call("l", 1, at * 10, at * 10 + 1, Some(at * 1_000_000_000));
    }
    let trace = fixture.gpu_op(OpKind::Kernel, "k", 7, 35, 50, Some(2_000_000_000), None).build();
    assert_eq!(trace.ranks[0].ops.launch, [2]);
}
