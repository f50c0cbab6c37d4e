//! Operations that differ most between two ranks, on simulated jobs, against the simulation's own books.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use stepscope::analysis::{Analysis, Params, analyze};
use stepscope::job::StartBasis;
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{JobConfig, Truth, preset, simulate_to_dir};
use stepscope::trace::Trace;
use stepscope::view::{Item, Outliers, RankId, Workspace, share_steps, strip};

/// Garbage is collected for so long.
const PAUSE_NS: i64 = 60_000_000;

type Read = (Arc<Trace>, Arc<Analysis>);

fn read(cfg: &JobConfig) -> (Vec<Read>, Truth) {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(cfg, folder.path(), false, &mut |_| {}).unwrap();
    let of = |file| {
        let trace = open(file, &LoadOptions::default(), &Progress::new()).unwrap();
        let analysis = analyze(&trace, &Params::default());
        (Arc::new(trace), Arc::new(analysis))
    };
    (job.files.iter().map(|file| of(file)).collect(), job.truth)
}

fn simulated(cfg: &JobConfig) -> (Workspace, Truth) {
    let (read, truth) = read(cfg);
    (Workspace::new(read), truth)
}

const fn rank(doc: usize) -> RankId {
    RankId { doc, rank: 0 }
}

#[test]
fn planted_pauses_are_found_where_the_other_rank_waits_and_nothing_else() {
    let cfg = JobConfig { steps: 8, ..preset("four-equal").unwrap() };
    let cfg = JobConfig { ranks: 2, item_every: 1, gc_steps: vec![3], gc_ms: PAUSE_NS as f64 / 1e6, ..cfg };
    let (workspace, truth) = simulated(&cfg);
    let outliers = Outliers::of(&workspace, rank(0), rank(1));
    // By the simulation's books: who came later to which collectives, and what followed from that.
    let mut planted: Vec<i64> = Vec::new();
    for collective in &truth.collectives {
        let start_ns = |rank: u32| collective.arrivals.iter().find(|a| a.rank == rank).map(|a| a.start_ns);
        let later_ns = start_ns(1).unwrap() - start_ns(0).unwrap();
        // Warm-up differs by less.
        if later_ns.abs() > 2_000_000 {
            planted.push(later_ns);
        }
    }
    let mut found: Vec<i64> = outliers.listed.iter().map(|outlier| outlier.met.unwrap().later_ns).collect();
    let largest = [found[0], found[1]].map(|ns| ((ns.abs() - PAUSE_NS).abs() < 100_000).then_some(ns > 0));
    assert!([[Some(true), Some(false)], [Some(false), Some(true)]].contains(&largest), "each paused once: {found:?}");
    planted.sort_unstable();
    found.sort_unstable();
    assert_eq!(found.len(), planted.len(), "{outliers:?}");
    for (found, planted) in found.iter().zip(&planted) {
        assert!((found - planted).abs() < 1_000, "{found} {planted}");
    }
    for outlier in &outliers.listed {
        let met = outlier.met.unwrap();
        // Whoever comes earlier waits, and its kernel is longer by that.
        assert!((outlier.longer_ns + met.later_ns).abs() < 1_000, "{outlier:?}");
        assert!((met.wait_ns[1] - met.wait_ns[0] + met.later_ns).abs() < 1_000, "{outlier:?}");
        assert!(outlier.step.is_some());
    }
}

#[test]
fn equal_ranks_have_no_outliers() {
    let (workspace, _) = simulated(&JobConfig { steps: 8, ..preset("four-equal").unwrap() });
    for other in 1..4 {
        let outliers = Outliers::of(&workspace, rank(0), rank(other));
        assert!(outliers.pairs > 1_000, "{}", outliers.pairs);
        assert_eq!(outliers.listed, [], "rank {other}");
    }
}

#[test]
fn a_rank_that_is_slower_throughout_has_no_outliers_among_its_compute_kernels() {
    let (workspace, _) = simulated(&JobConfig { steps: 8, ..preset("straggler-compute").unwrap() });
    let outliers = Outliers::of(&workspace, rank(0), rank(2));
    assert!(outliers.listed.iter().all(|outlier| outlier.met.is_some()), "{outliers:?}");
}

#[test]
fn the_strip_of_two_runs_says_of_every_operation_what_looking_for_it_alone_says() {
    let before = JobConfig { steps: 3, ranks: 1, ..preset("healthy").unwrap() };
    let after = JobConfig { flash_attention: false, seed: before.seed + 1, ..before.clone() };
    let workspace = Workspace::new([&before, &after].map(|cfg| read(cfg).0.remove(0)));
    let [own, other] = [rank(0), rank(1)];
    assert!(share_steps(&workspace, [own, other]));
    let strip = strip(&workspace, [own, other], &|| false).unwrap();
    assert_eq!(strip.basis, StartBasis::InStep);
    let found: Vec<_> = strip.iter().map(|d| (d.op, d.later_ns, d.longer_ns)).collect();
    let ops = workspace.rank(own).unwrap().1.ops.len() as u32;
    let expected: Vec<_> = (0..ops)
        .filter_map(|op| {
            let beside = Item::Op(own, op).beside(&workspace);
            let [other] = beside.as_slice() else { return None };
            assert_eq!(other.later.basis, StartBasis::InStep);
            // Said of the other, from this one.
            Some((op, -other.later.ns, -other.longer_ns))
        })
        .collect();
    assert!(expected.len() > 500 && expected.len() < ops as usize, "{} of {ops}", expected.len());
    assert_eq!(found, expected);
    assert!(stepscope::view::strip(&workspace, [own, other], &|| true).is_none(), "given up");
}
