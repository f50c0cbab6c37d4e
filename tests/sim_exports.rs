//! Exports of a simulated job are what nsys would have written, and say what the job's books say.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use std::path::Path;
use stepscope::analysis::{Params, Partition, RankAnalysis, analyze};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{
    CudaGraphs, Job, JobConfig, Parts, RankTruth, SchemaVersion, bench_config, preset, presets, simulate_to_dir,
};
use stepscope::trace::Trace;

fn write(cfg: &JobConfig, folder: &Path) -> Job {
    simulate_to_dir(cfg, folder, false, &mut |_| {}).unwrap()
}

fn load(path: &Path) -> Trace {
    open(path, &LoadOptions::default(), &Progress::new()).unwrap()
}

/// The file is in order; tables of kinds that were not recorded may be absent.
fn assert_nothing_odd(name: &str, trace: &Trace) {
    let mut odd = trace.warnings.iter().filter(|warning| warning.code != "absent-tables");
    assert_eq!(odd.next(), None, "{name}");
}

fn parts(of: &Partition) -> Parts {
    Parts {
        span_ns: of.span_ns,
        compute_only_ns: of.compute_only_ns,
        overlapped_comm_ns: of.overlapped_comm_ns,
        exposed_comm_ns: of.exposed_comm_ns,
        copy_only_ns: of.copy_only_ns,
        idle_ns: of.idle_ns,
    }
}

fn assert_same(name: &str, found: &RankAnalysis, truth: &RankTruth) {
    let counts = (found.counts.kernels, found.counts.comm_kernels, found.counts.copies, found.counts.graphs);
    assert_eq!(counts, (truth.kernels, truth.comm_kernels, truth.copies, truth.graphs), "{name}: counts");
    assert_eq!(found.span, truth.span, "{name}: span");
    assert_eq!(parts(&found.whole), truth.whole, "{name}: the whole capture");
    let steps = &found.steps.as_ref().unwrap_or_else(|| panic!("{name}: no steps")).steps;
    assert_eq!(steps.len(), truth.steps.len(), "{name}: steps");
    for (found, truth) in steps.iter().zip(&truth.steps) {
        assert_eq!(found.number, Some(truth.number.into()), "{name}");
        assert_eq!((found.range, found.window), (truth.range, truth.window), "{name}: step {}", truth.number);
        assert_eq!(parts(&found.parts), truth.parts, "{name}: step {}", truth.number);
    }
}

#[test]
fn the_analysis_of_every_named_job_gives_its_books_to_the_nanosecond() {
    for preset in presets() {
        let folder = tempfile::tempdir().unwrap();
        let job = write(&preset.config, folder.path());
        let traces: Vec<Trace> = job.files.iter().map(|file| load(file)).collect();
        let analyses: Vec<_> = traces.iter().map(|trace| analyze(trace, &Params::default())).collect();
        let found: Vec<&RankAnalysis> = analyses.iter().flat_map(|analysis| &analysis.ranks).collect();
        assert_eq!(found.len(), preset.config.ranks as usize, "{}", preset.name);
        for (found, truth) in found.iter().zip(&job.truth.ranks) {
            assert_same(preset.name, found, truth);
        }
        for trace in &traces {
            assert_nothing_odd(preset.name, trace);
        }
    }
}

/// Jobs that mix layouts, losses and clocks.
fn any_job() -> impl Strategy<Value = JobConfig> {
    let layout = (1_u32..3, 1_u32..4, 1_u32..4, 3_u32..6, 1_u32..4, 0_u64..1000);
    let host = (0_u32..4, 0_u32..3, 0_u32..3, 0_u32..3, prop::bool::ANY, prop::bool::ANY, 0.0_f64..150.0);
    let capture = (0_u8..3, prop::bool::ANY, -50.0_f64..9000.0, -300.0_f64..300.0, 0.1_f64..100.0);
    (layout, host, capture).prop_map(|(layout, host, capture)| {
        let ((dp, pp, micro_batches, layers, batch, seed), (graphs, one_file, offset, drift, comm_gbps)) =
            (layout, capture);
        let (tiny_kernels, item_per_step, alloc_churn, loader_workers, overlap_comm, loader_nvtx, loader_ms) = host;
        let graphs = [CudaGraphs::Off, CudaGraphs::Blocks, CudaGraphs::Nodes][graphs as usize];
        JobConfig {
            ranks: dp * pp,
            pp,
            micro_batches,
            layers,
            batch,
            seed,
            steps: 4,
            tiny_kernels,
            item_per_step,
            alloc_churn,
            loader_workers,
            overlap_comm,
            loader_nvtx,
            loader_ms,
            comm_gbps,
            cuda_graphs: if pp == 1 { graphs } else { CudaGraphs::Off },
            one_file,
            clock_offset_ms: if one_file { Vec::new() } else { vec![offset; 1] },
            drift_ppm: if one_file { Vec::new() } else { vec![drift; 1] },
            ..JobConfig::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_analysis_of_any_job_gives_its_books(cfg in any_job()) {
        let folder = tempfile::tempdir().unwrap();
        let job = write(&cfg, folder.path());
        let analyses: Vec<_> = job.files.iter().map(|file| analyze(&load(file), &Params::default())).collect();
        for (found, truth) in analyses.iter().flat_map(|analysis| &analysis.ranks).zip(&job.truth.ranks) {
            assert_same("any job", found, truth);
        }
    }
}

#[test]
fn every_version_of_nsys_reads_alike() {
    for schema in SchemaVersion::ALL {
        let folder = tempfile::tempdir().unwrap();
        let cfg = JobConfig { schema, steps: 4, osrt: true, ..JobConfig::default() };
        let job = write(&cfg, folder.path());
        for (rank, (file, truth)) in job.files.iter().zip(&job.truth.ranks).enumerate() {
            let trace = load(file);
            assert_nothing_odd(schema.text(), &trace);
            assert!(trace.source.product_version.as_ref().unwrap().starts_with(schema.text()));
            assert_eq!(trace.api_calls() as u64, truth.api_calls);
            assert_eq!(trace.nvtx_ranges() as u64, truth.nvtx_ranges);
            assert_eq!(trace.ranks[0].label, rank.to_string());
            // Rows of cards are numbered against the ordinals.
            assert_eq!(trace.gpus[trace.ranks[0].gpu.unwrap()].name, "NVIDIA A100-SXM4-40GB");
            assert_same(schema.text(), &analyze(&trace, &Params::default()).ranks[0], truth);
        }
    }
}

#[test]
fn captures_without_ranges_or_with_a_range_per_operator_hold_the_same_work() {
    let base = JobConfig { steps: 3, ranks: 1, ..JobConfig::default() };
    for (cfg, ranges) in [
        (JobConfig { nvtx: false, ..base.clone() }, 0..1),
        (JobConfig { nvtx_layers: false, nvtx_nccl: false, ..base.clone() }, 15..16),
        (JobConfig { nvtx_ops: true, ..base }, 1000..2000),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let job = write(&cfg, folder.path());
        let trace = load(&job.files[0]);
        assert!(ranges.contains(&trace.nvtx_ranges()), "{}", trace.nvtx_ranges());
        assert_eq!(analyze(&trace, &Params::default()).ranks[0].counts.kernels, job.truth.ranks[0].kernels);
    }
}

#[test]
fn one_job_gives_the_same_bytes_each_time() {
    let cfg = JobConfig { steps: 3, ..JobConfig::default() };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (a, b) in write(&cfg, one.path()).files.iter().zip(write(&cfg, two.path()).files) {
        assert_eq!(a.file_name(), b.file_name());
        assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap(), "{} differs", a.display());
    }
}

#[test]
fn exports_are_named_by_rank_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("new folder");
    let cfg = JobConfig { steps: 2, ..JobConfig::default() };
    write(&cfg, &inside);
    let mut names: Vec<_> = std::fs::read_dir(&inside).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["rank0.sqlite", "rank1.sqlite", "stepscope.toml"]);
}

#[test]
fn an_export_is_not_overwritten_unless_told() {
    let folder = tempfile::tempdir().unwrap();
    let cfg = JobConfig { steps: 2, ranks: 2, ..JobConfig::default() };
    std::fs::write(folder.path().join("rank1.sqlite"), "mine").unwrap();
    let error = simulate_to_dir(&cfg, folder.path(), false, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("rank1.sqlite exists already"), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("rank1.sqlite")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a failed run leaves nothing behind");
    simulate_to_dir(&cfg, folder.path(), true, &mut |_| {}).unwrap();
    assert_eq!(load(&folder.path().join("rank1.sqlite")).ranks.len(), 1);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error =
        simulate_to_dir(&JobConfig::default(), &folder.path().join("file/under"), false, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("cannot create the folder"), "{error}");
}

#[test]
fn the_wall_clock_of_time_zero_follows_offset_and_error() {
    let folder = tempfile::tempdir().unwrap();
    let job = write(&JobConfig { steps: 2, ..preset("wall-clock-wrong").unwrap() }, folder.path());
    let epoch = |rank: usize| load(&job.files[rank]).source.utc_epoch_ns.unwrap();
    // Rank 1 began 7.3 s earlier, and its clock is 11.56 s ahead.
    assert_eq!(epoch(1) - epoch(0), 11_560_000_000 - 7_300_000_000);
    assert_eq!(job.truth.ranks[1].offset_ns, -7_300_000_000);
}

#[test]
fn the_bench_job_has_as_many_kernels_as_asked_for_and_as_many_calls() {
    let folder = tempfile::tempdir().unwrap();
    let truth = write(&bench_config(20_000), folder.path()).truth;
    let rank = &truth.ranks[0];
    assert!((20_000..30_000).contains(&rank.kernels), "{}", rank.kernels);
    assert!(rank.api_calls.abs_diff(rank.kernels) * 20 < rank.kernels && rank.nvtx_ranges > 50);
    let million = bench_config(1_000_000);
    assert!(million.steps > 100 && million.cuda_graphs == CudaGraphs::Off);
}

#[test]
fn a_configuration_survives_toml_and_rejects_unknown_fields() {
    let cfg = preset("straggler-data").unwrap();
    let text = toml::to_string(&cfg).unwrap();
    assert_eq!(toml::from_str::<JobConfig>(&text).unwrap(), cfg);
    assert_eq!(toml::from_str::<JobConfig>("ranks = 4").unwrap(), JobConfig { ranks: 4, ..JobConfig::default() });
    assert!(toml::from_str::<JobConfig>("rankz = 4").is_err());
}
