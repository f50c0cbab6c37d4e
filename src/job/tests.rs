//! Jobs made by hand, and what is counted fast against what is counted plainly.

use super::*;
use crate::analysis::{Params, analyze};
use crate::trace::testing::Fixture;
use proptest::prelude::*;

const REDUCE: &str = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";

/// An export of one rank with an all-reduce at each of these (start, length), its wall clock at `epoch_ns`.
fn export(kernels: &[(i64, i64)], epoch_ns: Option<i64>) -> Arc<ExportSummary> {
    let mut fixture = Fixture::new();
    for (start_ns, len_ns) in kernels {
        fixture.kernel(REDUCE, 20, *start_ns, start_ns + len_ns);
    }
    let mut trace = fixture.build();
    trace.source.utc_epoch_ns = epoch_ns;
    Arc::new(ExportSummary::of(&trace, &analyze(&trace, &Params::default())))
}

fn job(exports: Vec<Arc<ExportSummary>>) -> Job {
    Job::of(exports, &JobOptions::default())
}

#[test]
fn a_rank_that_comes_5_ms_late_is_waited_for_5_ms_and_the_transfer_takes_1() {
    let ms = 1_000_000;
    let late = job(vec![export(&[(0, ms), (100 * ms, 6 * ms)], None), export(&[(0, ms), (105 * ms, ms)], None)]);
    let matched = late.matched(0, 1).unwrap();
    let splits: Vec<Split> = matched.members.iter().map(|(_, split)| *split).collect();
    assert_eq!(splits, [Split { wait_ns: 5 * ms, transfer_ns: ms }, Split { wait_ns: 0, transfer_ns: ms }]);
    assert_eq!((matched.last, matched.skew_ns), (Some(1), 5 * ms));
    assert_eq!(late.matched_op(0, 1), Some((matched.clone(), 0)));
    assert_eq!(late.matched_op(1, 1), Some((matched, 1)));
    assert_eq!(late.waits.matrix.ns(0, 1), 5 * ms);
}

#[test]
fn a_shift_by_hand_moves_one_export() {
    let both = job(vec![export(&[(0, 10), (50, 10)], None), export(&[(7, 10), (57, 10)], None)]);
    assert_eq!((both.clock.map(0).offset_ns, both.clock.map(1).offset_ns), (0, -7));
    let moved = both.on_clock(&JobOptions { shift_ns: vec![0, 3], ..JobOptions::default() });
    assert_eq!(moved.clock.map(1).offset_ns, -4);
}

#[test]
fn an_export_that_is_moved_keeps_its_waits_until_it_settles() {
    let ms = 1_000_000;
    let kernels = [(0, 10 * ms), (50 * ms, 10 * ms)];
    let both = job(vec![export(&kernels, None), export(&kernels, None)]);
    let moving = both.moved(&[0, 3 * ms]);
    assert!(moving.moving && !both.moving);
    assert_eq!((moving.clock.map(1).offset_ns, moving.waits.matrix.ns(0, 1)), (3 * ms, 0));
    assert!(Arc::ptr_eq(&moving.waits, &both.waits), "nothing is computed meanwhile");
    let settled = moving.settled();
    assert_eq!((settled.moving, settled.waits.matrix.ns(0, 1)), (false, 6 * ms));
    let at_once = both.on_clock(&JobOptions { shift_ns: vec![0, 3 * ms], ..JobOptions::default() });
    assert_eq!((&settled.waits, &settled.stragglers), (&at_once.waits, &at_once.stragglers));
}

#[test]
fn a_map_there_and_back_is_the_same_time() {
    let map = ClockMap { offset_ns: -7_300_000_000, drift_ppm: 20.0, about_ns: 1_000_000_000 };
    for at_ns in [0, 1, 999_999_999, 60_000_000_000, i64::MAX, i64::MIN] {
        let back = map.to_export(map.to_job(at_ns));
        assert!(at_ns.abs_diff(back) <= 1 || at_ns.unsigned_abs() > 1 << 62, "{at_ns} {back}");
    }
}

proptest! {
    /// Kernels of three ranks on clocks that are apart: every number of the waits against its definition.
    #[test]
    fn waits_follow_their_definition(
        collectives in proptest::collection::vec((proptest::array::uniform3(0_i64..3_000_000), 1_i64..2_000_000), 2..12),
        offsets in proptest::array::uniform3(-1_000_000_000_i64..1_000_000_000),
    ) {
        let rank = |rank: usize| {
            let mut kernels = Vec::new();
            for (at, (arrivals, transfer)) in collectives.iter().enumerate() {
                let base = at as i64 * 10_000_000;
                let end = base + arrivals.iter().max().unwrap() + transfer;
                let start = base + arrivals[rank];
                kernels.push((start - offsets[rank], end - start));
            }
            export(&kernels, None)
        };
        let job = job((0..3).map(rank).collect());
        prop_assert_eq!(job.groups.len(), 1);
        for at in 0..3 {
            prop_assert_eq!(job.clock.map(at).offset_ns, offsets[at] - offsets[0]);
        }
        for (number, (arrivals, transfer)) in collectives.iter().enumerate() {
            let matched = job.matched(0, number).unwrap();
            let latest = *arrivals.iter().max().unwrap();
            for (arrival, (span, split)) in arrivals.iter().zip(&matched.members) {
                prop_assert_eq!(*split, Split { wait_ns: latest - arrival, transfer_ns: *transfer });
                prop_assert_eq!(split.wait_ns + split.transfer_ns, span.len_ns());
            }
            // Several that come within a microsecond of each other come together.
            let near = arrivals.iter().filter(|at| latest - **at <= 1_000).count();
            prop_assert_eq!(matched.last, (near == 1).then(|| arrivals.iter().position(|at| *at == latest).unwrap()));
        }
        let together = |(number, (arrivals, _)): (usize, &([i64; 3], i64))| {
            let undecided = job.matched(0, number).unwrap().last.is_none();
            if undecided { arrivals.iter().map(|at| arrivals.iter().max().unwrap() - at).sum::<i64>() } else { 0 }
        };
        prop_assert_eq!(job.waits.together_ns(), collectives.iter().enumerate().map(together).sum::<i64>());
        for rank in 0..3 {
            let waited: i64 = collectives.iter().map(|(a, _)| a.iter().max().unwrap() - a[rank]).sum();
            prop_assert_eq!(job.waits.ranks[rank].split.wait_ns, waited);
        }
    }
}
