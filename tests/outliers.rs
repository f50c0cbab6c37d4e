//! Operations that differ most between two ranks, on simulated jobs, against the simulation's own books.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use stepscope::analysis::{Params, analyze};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{JobConfig, Truth, preset, simulate_to_dir};
use stepscope::view::{Outliers, RankId, Workspace};

/// Garbage is collected for so long.
const PAUSE_NS: i64 = 60_000_000;

fn simulated(cfg: &JobConfig) -> (Workspace, Truth) {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(cfg, folder.path(), false, &mut |_| {}).unwrap();
    let of = |file| {
        let trace = open(file, &LoadOptions::default(), &Progress::new()).unwrap();
        let analysis = analyze(&trace, &Params::default());
        (Arc::new(trace), Arc::new(analysis))
    };
    (Workspace::new(job.files.iter().map(|file| of(file))), job.truth)
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
