//! Communication and launches end to end: what a simulated job moved and waited for is what the analysis says, and real
//! exports are read the same way.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test fails by panicking")]

mod loader_support;

use loader_support::{Export, load, shared};
use std::collections::BTreeMap;
use std::path::Path;
use stepscope::analysis::{Algorithm, Collective, Message, Params, RankAnalysis, Sizes, SyncKind, analyze};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{CudaGraphs, Job, JobConfig, SchemaVersion, preset, simulate_to_dir};
use stepscope::trace::Trace;

fn job(config: &JobConfig) -> (tempfile::TempDir, Job) {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(config, folder.path(), false, &mut |_| {}).unwrap();
    (folder, job)
}

fn analyzed(path: &Path) -> (Trace, Vec<RankAnalysis>) {
    let trace = open(path, &LoadOptions::default(), &Progress::new()).unwrap();
    let ranks = analyze(&trace, &Params::default()).ranks;
    (trace, ranks)
}

fn small() -> JobConfig {
    JobConfig { steps: 4, layers: 4, batch: 4, ..JobConfig::default() }
}

/// Bytes of a rank's collectives in order, for each communicator in the order of their numbers.
fn found_bytes(numbers: &RankAnalysis) -> Vec<Vec<u64>> {
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (_, message) in &numbers.communication.messages {
        found.entry(message.communicator.unwrap()).or_default().push(message.bytes);
    }
    found.into_values().collect()
}

/// The same from the books of the job.
fn true_bytes(job: &Job, rank: u32) -> Vec<Vec<u64>> {
    let mut known: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
    for collective in job.truth.collectives.iter().filter(|c| c.arrivals.iter().any(|a| a.rank == rank)) {
        known.entry(collective.communicator).or_default().insert(collective.sequence, collective.bytes);
    }
    known.into_values().map(|bytes| bytes.into_values().collect()).collect()
}

#[test]
fn every_collective_has_the_bytes_it_moved() {
    let jobs = [
        JobConfig { ranks: 4, ..small() },
        JobConfig { ranks: 4, pp: 2, micro_batches: 4, ..small() },
        JobConfig { ranks: 3, pp: 3, micro_batches: 2, ..small() },
        JobConfig { overlap_comm: false, nvtx_ops: true, ..small() },
    ];
    for config in jobs {
        let (_folder, job) = job(&config);
        for (rank, path) in job.files.iter().enumerate() {
            let (_, ranks) = analyzed(path);
            assert_eq!(ranks[0].communication.sizes, Some(Sizes::All), "{config:?}");
            assert_eq!(found_bytes(&ranks[0]), true_bytes(&job, rank as u32), "rank {rank} of {config:?}");
        }
    }
}

#[test]
fn ranks_of_one_file_keep_their_own_messages() {
    let (_folder, job) = job(&JobConfig { one_file: true, ranks: 2, ..small() });
    let (_, ranks) = analyzed(&job.files[0]);
    assert_eq!(ranks.len(), 2);
    for (rank, numbers) in ranks.iter().enumerate() {
        assert_eq!(found_bytes(numbers), true_bytes(&job, rank as u32));
    }
}

#[test]
fn bandwidth_comes_near_that_of_the_links() {
    let (_folder, job) = job(&JobConfig { ranks: 4, steps: 4, ..JobConfig::default() });
    for path in &job.files {
        let (_, ranks) = analyzed(path);
        let (kind, sums) = &ranks[0].communication.by_kind[0];
        let bandwidth = sums.bandwidth.unwrap();
        let (best, median) = (bandwidth.best_bus_gb_per_s.unwrap(), bandwidth.bus_gb_per_s.unwrap());
        assert_eq!(*kind, Collective::AllReduce);
        // Start-up costs the largest message a few percent; waiting for others only ever lowers it.
        assert!((0.95 * 45.0..=45.0).contains(&best), "{best}");
        assert!(median <= best && median > 0.5 * 45.0, "{median}");
        let algorithm = bandwidth.algorithm_gb_per_s.unwrap();
        assert!((median / algorithm - 1.5).abs() < 1e-9, "four ranks: factor 1.5");
        assert_eq!(ranks[0].communication.communicator_ranks, [Some(4)]);
    }
}

#[test]
fn point_to_point_bandwidth_needs_no_number_of_ranks() {
    let (_folder, job) = job(&JobConfig { ranks: 2, pp: 2, micro_batches: 4, steps: 3, ..JobConfig::default() });
    let (_, ranks) = analyzed(&job.files[1]);
    let (_, sums) = ranks[0].communication.by_kind.iter().find(|(kind, _)| *kind == Collective::SendRecv).unwrap();
    let best = sums.bandwidth.unwrap().best_bus_gb_per_s.unwrap();
    assert!((0.9 * 80.0..=80.0).contains(&best), "{best}");
}

#[test]
fn exports_without_values_say_what_is_missing() {
    let cases = [
        (JobConfig { nccl_payloads: false, ..small() }, Sizes::NoValues),
        (JobConfig { schema: SchemaVersion::V2023_4, ..small() }, Sizes::NoValues),
        (JobConfig { nvtx_nccl: false, ..small() }, Sizes::NoRanges),
    ];
    for (config, why) in cases {
        let (_folder, job) = job(&config);
        let (_, ranks) = analyzed(&job.files[0]);
        let comm = &ranks[0].communication;
        assert_eq!((comm.sizes, comm.messages.len()), (Some(why), 0), "{config:?}");
        assert!(comm.by_kind.iter().all(|(_, sums)| sums.bandwidth.is_none() && sums.bytes.is_none()));
    }
}

#[test]
fn a_report_gives_sizes_and_bandwidth_as_null_when_unknown() {
    let (_folder, job) = job(&JobConfig { nccl_payloads: false, ..small() });
    let output =
        assert_cmd::Command::cargo_bin("stepscope").unwrap().arg("report").arg(&job.files[0]).arg("--json").output();
    let report: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let rank = &report["ranks"][0];
    let row = &rank["communication"]["by_kind"][0];
    assert_eq!((&row["kind"], &row["bytes"], &row["bandwidth"]), (&"AllReduce".into(), &().into(), &().into()));
    assert_eq!(row["count"], rank["collectives"]["AllReduce"]["count"]);
    assert_eq!(row["exposed_ns"], rank["collectives"]["AllReduce"]["exposed_ns"]);
    assert_eq!(rank["communication"]["sizes"], "no_values");
    assert!(rank["launches"]["latency"]["p99_ns"].as_i64() > Some(0));
}

#[test]
fn every_item_is_a_wait_for_the_copy_of_its_value() {
    let config = preset("item-sync").unwrap();
    let (_folder, job) = job(&JobConfig { steps: 4, ..config.clone() });
    let (trace, ranks) = analyzed(&job.files[0]);
    let launches = &ranks[0].launches;
    for step in &launches.steps {
        assert_eq!(step.syncs, u64::from(config.item_per_step));
        assert!(step.sync_ns > 0);
    }
    assert_eq!(launches.sync_sums[0].name, "cudaStreamSynchronize");
    let ops = &trace.ranks[0].ops;
    for sync in launches.syncs.iter().filter(|sync| sync.span.len_ns() > 100_000) {
        assert_eq!(sync.kind, SyncKind::Stream);
        assert_eq!(trace.op_short_name(ops.name[sync.waited_for.unwrap() as usize]), "Memcpy DtoH");
    }
}

#[test]
fn a_copy_call_that_blocks_waits_for_its_own_copy() {
    let (_folder, job) = job(&JobConfig { steps: 4, ..preset("item-sync-copy").unwrap() });
    let (_, ranks) = analyzed(&job.files[0]);
    let sum = &ranks[0].launches.sync_sums[0];
    assert_eq!((sum.name.as_str(), sum.count), ("cudaMemcpyAsync", 4 * 3));
    assert_eq!(ranks[0].launches.syncs[0].kind, SyncKind::Copy);
}

#[test]
fn many_small_kernels_show_as_short_and_often() {
    let (_folder, job) = job(&JobConfig { steps: 4, ..preset("tiny-kernels").unwrap() });
    let (_, ranks) = analyzed(&job.files[0]);
    let short = &ranks[0].launches.short;
    assert!(short.count_share.unwrap() > 0.8 && short.often_share.unwrap() > 0.1, "{short:?}");
    let whole = ranks[0].launches.whole.unwrap();
    // The host cannot keep the queue filled, so half of the work starts as soon as it is there.
    assert!(whole.latency.unwrap().p50_ns < 20_000, "{whole:?}");
    let (_folder, job) = self::job(&JobConfig { steps: 4, ..preset("healthy").unwrap() });
    let (_, ranks) = analyzed(&job.files[0]);
    assert!(ranks[0].launches.short.often_share.unwrap() < 0.02, "{:?}", ranks[0].launches.short);
    assert!(ranks[0].launches.whole.unwrap().latency.unwrap().p50_ns > 1_000_000);
}

#[test]
fn a_graph_launch_counts_once_whatever_it_holds() {
    let (_folder, job) = job(&JobConfig { cuda_graphs: CudaGraphs::Nodes, ..small() });
    let (trace, ranks) = analyzed(&job.files[0]);
    let whole = ranks[0].launches.whole.unwrap();
    let ops = &trace.ranks[0].ops;
    let mut calls: Vec<u32> = ops.launch.iter().copied().filter(|call| *call != stepscope::trace::NONE).collect();
    assert_eq!(whole.operations, calls.len() as u64);
    calls.sort_unstable();
    calls.dedup();
    assert_eq!(whole.launches, calls.len() as u64);
    assert!(whole.launches * 2 < whole.operations, "{whole:?}");
}

#[test]
fn real_ranges_are_joined_to_the_kernels_of_their_group() {
    let Some(folder) = shared() else { return };
    let path = folder.join("h100x2_ring_2026.2.sqlite");
    let trace = load(&path).unwrap();
    for numbers in analyze(&trace, &Params::default()).ranks {
        assert_eq!(numbers.communication.sizes, Some(Sizes::NoValues), "the export was made without blobs");
        assert_eq!(numbers.communication.by_kind[0].1.count, 33);
    }
    // The file registers NCCL's layouts, so values put into it must be read by them.
    let blob = |schema: u32, bytes: u64, peer: u64| -> String {
        let fields = [1, schema.into(), 24, 0, 0xABCD, bytes, peer];
        fields.iter().flat_map(|field: &u64| field.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
    };
    let sql = format!(
        "UPDATE NVTX_EVENTS SET binaryData = x'{}' WHERE textId = (SELECT id FROM StringIds WHERE value = 'ncclSend');
         UPDATE NVTX_EVENTS SET binaryData = x'{}' WHERE textId = (SELECT id FROM StringIds WHERE value = 'ncclRecv');",
        blob(16_777_225, 1000, 1),
        blob(16_777_226, 600, 1)
    );
    let export = Export::copied(&path, &sql);
    let trace = export.load().unwrap();
    for (rank, numbers) in trace.ranks.iter().zip(analyze(&trace, &Params::default()).ranks) {
        let comm = &numbers.communication;
        let launched = (0..rank.ops.len()).filter(|op| {
            trace.op_short_name(rank.ops.name[*op]).starts_with("nccl") && rank.ops.launch_of(*op).is_some()
        });
        assert_eq!(comm.messages.len(), launched.count());
        assert!(comm.messages.len() > 25);
        let expected = Message {
            kind: Some(Collective::SendRecv),
            calls: 4,
            bytes: 2000,
            communicator: Some(0xABCD),
            peer: Some(1),
        };
        assert!(comm.messages.iter().all(|(_, message)| *message == expected), "{:?}", comm.messages);
        assert_eq!(comm.by_kind[0].1.bytes, Some(2000 * comm.messages.len() as u64));
    }
}

#[test]
fn a_real_data_parallel_rank_reduces_in_a_ring() {
    let Some(folder) = shared() else { return };
    let trace = load(&folder.join("a100_ddp_rank0_2023.4.sqlite")).unwrap();
    let numbers = analyze(&trace, &Params::default()).ranks.remove(0);
    let (kind, sums) = &numbers.communication.by_kind[0];
    assert_eq!((*kind, sums.count), (Collective::AllReduce, 48));
    assert_eq!(sums.variants[0].variant.algorithm, Some(Algorithm::Ring));
    assert_eq!(sums.exposed_ns, numbers.whole.exposed_comm_ns, "collectives of one stream do not overlap");
    let longest = numbers.launches.syncs[0];
    assert_eq!((trace.name(longest.name), longest.kind), ("cudaMemcpyAsync_v3020", SyncKind::Copy));
}
