//! A simulated job obeys what a GPU and its host obey: streams run in order, calls come before their work, collectives
//! end together, and everything is the same each time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, HashMap};
use stepscope::sim::{Batch, CudaGraphs, JobConfig, SimError, Sink, Truth, preset, presets, simulate};

/// All rows of a job, by rank.
#[derive(Default)]
struct Rows(Vec<Batch>);

impl Sink for Rows {
    fn take(&mut self, rank: u32, batch: Batch) -> Result<(), SimError> {
        if self.0.len() <= rank as usize {
            self.0.resize_with(rank as usize + 1, Batch::default);
        }
        let to = &mut self.0[rank as usize];
        let sorted_from = to.kernels.len().saturating_sub(1);
        to.kernels.extend(batch.kernels);
        assert!(
            to.kernels[sorted_from..].is_sorted_by_key(|k| k.start_ns),
            "a batch holds rows earlier than those before it"
        );
        let calls = to.api_calls.len().saturating_sub(1);
        to.api_calls.extend(batch.api_calls);
        assert!(to.api_calls[calls..].is_sorted_by_key(|c| c.start_ns), "calls come out of order");
        to.memcpys.extend(batch.memcpys);
        to.memsets.extend(batch.memsets);
        to.graphs.extend(batch.graphs);
        to.syncs.extend(batch.syncs);
        to.events.extend(batch.events);
        to.nvtx.extend(batch.nvtx);
        to.os_calls.extend(batch.os_calls);
        Ok(())
    }
}

fn run(cfg: &JobConfig) -> (Vec<Batch>, Truth) {
    let mut rows = Rows::default();
    let truth = simulate(cfg, &mut rows, &mut |_| {}).unwrap();
    (rows.0, truth)
}

/// Start, end, stream and correlation of all GPU work of a rank.
fn operations(rows: &Batch) -> Vec<(i64, i64, i64, i64)> {
    let mut all: Vec<_> = rows.kernels.iter().map(|r| (r.start_ns, r.end_ns, r.place.stream, r.correlation)).collect();
    all.extend(rows.memcpys.iter().map(|r| (r.start_ns, r.end_ns, r.place.stream, r.correlation)));
    all.extend(rows.memsets.iter().map(|r| (r.start_ns, r.end_ns, r.place.stream, r.correlation)));
    all.extend(rows.graphs.iter().map(|r| (r.start_ns, r.end_ns, r.place.stream, r.correlation)));
    all.sort_unstable();
    all
}

/// Every named job, shortened, and some that mix what the named ones keep apart.
fn jobs() -> Vec<(&'static str, JobConfig)> {
    let short = |mut cfg: JobConfig| {
        cfg.steps = cfg.steps.min(5);
        cfg
    };
    let mut jobs: Vec<_> = presets().into_iter().map(|preset| (preset.name, short(preset.config))).collect();
    let small = JobConfig { steps: 4, layers: 6, batch: 4, ..JobConfig::default() };
    jobs.extend([
        ("two stages, two replicas", JobConfig { ranks: 4, pp: 2, micro_batches: 4, ..small.clone() }),
        ("more stages than micro-batches", JobConfig { ranks: 3, pp: 3, micro_batches: 2, ..small.clone() }),
        ("accumulation", JobConfig { micro_batches: 3, overlap_comm: false, osrt: true, ..small.clone() }),
        ("one file", JobConfig { ranks: 3, one_file: true, nvtx_ops: true, prefetch_stream: false, ..small.clone() }),
        (
            "everything",
            JobConfig { alloc_churn: 3, item_per_step: 5, item_blocks_in_copy: true, device_sync: true, ..small },
        ),
    ]);
    jobs
}

const NCCL_STREAMS: [i64; 6] = [20, 24, 28, 36, 32, 40];

#[test]
fn operations_of_one_stream_never_overlap() {
    for (name, cfg) in jobs() {
        for rows in run(&cfg).0 {
            let mut last: BTreeMap<i64, i64> = BTreeMap::new();
            for (start, end, stream, _) in operations(&rows) {
                assert!(end > start, "{name}: an operation without length");
                let before = last.insert(stream, end).unwrap_or(i64::MIN);
                assert!(before <= start, "{name}: stream {stream} runs two operations at {start}");
            }
        }
    }
}

#[test]
fn every_operation_has_one_launch_that_starts_before_it() {
    for (name, cfg) in jobs() {
        for rows in run(&cfg).0 {
            let mut launches = HashMap::new();
            for call in &rows.api_calls {
                assert!(launches.insert(call.correlation, call).is_none(), "{name}: two calls are numbered alike");
                assert!(call.end_ns > call.start_ns);
            }
            for (start, .., correlation) in operations(&rows) {
                assert!(launches[&correlation].start_ns < start, "{name}: work starts before its launch");
            }
        }
    }
}

#[test]
fn calls_of_a_process_are_numbered_in_the_order_they_begin() {
    for (name, cfg) in jobs() {
        for rows in run(&cfg).0 {
            assert!(rows.api_calls.is_sorted_by_key(|call| call.correlation), "{name}");
        }
    }
}

#[test]
fn calls_of_one_thread_are_apart_or_nested() {
    for (name, cfg) in jobs() {
        for rows in run(&cfg).0 {
            let mut open: HashMap<i64, Vec<i64>> = HashMap::new();
            for call in &rows.api_calls {
                let stack = open.entry(call.global_tid).or_default();
                stack.retain(|end| *end > call.start_ns);
                assert!(stack.iter().all(|end| *end >= call.end_ns), "{name}: two calls of one thread cross");
                stack.push(call.end_ns);
            }
        }
    }
}

#[test]
fn ranges_of_one_thread_are_apart_or_nested() {
    for (name, cfg) in jobs() {
        for mut rows in run(&cfg).0 {
            rows.nvtx.sort_by_key(|range| (range.start_ns, std::cmp::Reverse(range.end_ns)));
            let mut open: HashMap<i64, Vec<i64>> = HashMap::new();
            for range in rows.nvtx.iter().filter(|range| range.end_ns.is_some()) {
                let (stack, end) = (open.entry(range.global_tid).or_default(), range.end_ns.unwrap());
                stack.retain(|outer| *outer > range.start_ns);
                assert!(stack.iter().all(|outer| *outer >= end), "{name}: {range:?} crosses another range");
                stack.push(end);
            }
        }
    }
}

#[test]
fn the_launch_queue_is_bounded() {
    // Nothing waits for the GPU but the queue, and launching is faster than running.
    let cfg = JobConfig { ranks: 1, item_per_step: 0, steps: 12, host_us: 1.0, ..JobConfig::default() };
    for rows in run(&cfg).0 {
        let ends: HashMap<i64, i64> = rows.api_calls.iter().map(|call| (call.correlation, call.end_ns)).collect();
        let kernels: Vec<_> = rows.kernels.iter().filter(|kernel| kernel.place.stream == 7).collect();
        for pair in kernels.windows(1024) {
            let (first, last) = (pair[0], pair[1023]);
            assert!(
                ends[&last.correlation] >= first.end_ns || last.start_ns < first.end_ns,
                "more than 1024 are queued"
            );
        }
        let waited = rows.api_calls.iter().filter(|call| call.end_ns - call.start_ns > 50_000).count();
        assert!(waited > 100, "only {waited} calls had to wait for a slot");
    }
}

#[test]
fn a_collective_ends_on_all_ranks_at_once_and_waits_as_the_books_say() {
    for (name, cfg) in jobs() {
        let (ranks, truth) = run(&cfg);
        let shift = |rank: usize, at: i64| {
            // Undo offset and drift; drift leaves a rounding of a nanosecond.
            let of = &truth.ranks[rank];
            let at = at + of.offset_ns;
            at - (at as f64 * of.drift_ppm * 1e-6 / (1.0 + of.drift_ppm * 1e-6)).round() as i64
        };
        let mut found: HashMap<u32, Vec<(i64, i64)>> = HashMap::new();
        for (rank, rows) in ranks.iter().enumerate() {
            let comm = rows.kernels.iter().filter(|k| NCCL_STREAMS.contains(&k.place.stream));
            found.insert(rank as u32, comm.map(|k| (shift(rank, k.start_ns), shift(rank, k.end_ns))).collect());
        }
        let mut checked = 0;
        for collective in &truth.collectives {
            let latest = collective.arrivals.iter().map(|a| a.start_ns).max().unwrap();
            assert_eq!(collective.end_ns, latest + collective.transfer_ns);
            for arrival in &collective.arrivals {
                assert_eq!(arrival.wait_ns, latest - arrival.start_ns);
                let near =
                    |(s, e): &&(i64, i64)| (s - arrival.start_ns).abs() <= 1 && (e - collective.end_ns).abs() <= 1;
                assert_eq!(found[&arrival.rank].iter().filter(near).count(), 1, "{name}: a kernel for each arrival");
                checked += 1;
            }
        }
        assert_eq!(checked, found.values().map(Vec::len).sum::<usize>(), "{name}: every kernel is in the books");
        assert_eq!(checked > 0, cfg.ranks > 1, "{name}");
    }
}

#[test]
fn a_straggler_is_waited_for_and_waits_for_nobody() {
    for name in ["straggler-compute", "straggler-data", "straggler-host", "straggler-clock"] {
        let truth = run(&preset(name).unwrap()).1;
        let mut wait = [0_i64; 4];
        // The first step is not like the others.
        let after = truth.ranks[0].steps[4].window.start_ns;
        for arrival in truth.collectives.iter().filter(|c| c.end_ns > after).flat_map(|c| &c.arrivals) {
            wait[arrival.rank as usize] += arrival.wait_ns;
        }
        let others = (wait[0] + wait[1] + wait[3]) / 3;
        assert!(wait[2] * 20 < others, "{name}: {wait:?}");
    }
    let truth = run(&preset("four-equal").unwrap()).1;
    let late: i64 = truth.collectives.iter().skip(26).flat_map(|c| &c.arrivals).map(|a| a.wait_ns).sum();
    let span: i64 = truth.ranks.iter().map(|rank| rank.span.len_ns()).sum();
    assert!(late * 50 < span, "equal ranks wait for each other: {late} of {span}");
}

#[test]
fn a_synchronising_call_returns_after_the_work_before_it() {
    let cfg = preset("item-sync").unwrap();
    for rows in run(&cfg).0 {
        let starts: HashMap<i64, i64> = rows.api_calls.iter().map(|call| (call.correlation, call.start_ns)).collect();
        let compute: Vec<_> = operations(&rows).into_iter().filter(|op| op.2 == 7).collect();
        let waits: Vec<_> = rows.syncs.iter().filter(|sync| sync.sync_type == 3).collect();
        assert_eq!(waits.len(), 3 * cfg.steps as usize);
        for wait in waits {
            let before = compute.iter().filter(|op| starts[&op.3] < wait.start_ns);
            assert!(before.map(|op| op.1).max().unwrap() <= wait.end_ns);
        }
    }
}

#[test]
fn backward_is_launched_by_another_thread_while_the_main_thread_makes_no_call() {
    let (ranks, truth) = run(&JobConfig::default());
    for (rows, truth) in ranks.iter().zip(&truth.ranks) {
        let mut by_thread: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        for call in &rows.api_calls {
            by_thread.entry(call.global_tid).or_default().push((call.start_ns, call.end_ns));
        }
        let [main, autograd] = by_thread.values().collect::<Vec<_>>()[..] else { panic!("two threads") };
        for step in &truth.steps {
            let inside = |call: &&(i64, i64)| step.range.contains(call.0);
            let (first, last) = (autograd.iter().find(inside).unwrap().0, autograd.iter().rfind(inside).unwrap().1);
            assert!(!main.iter().any(|(start, end)| *end > first && *start < last), "step {}", step.number);
        }
    }
}

#[test]
fn the_same_job_gives_the_same_rows_and_another_seed_gives_others() {
    let text = |cfg: &JobConfig| {
        let (rows, truth) = run(cfg);
        format!("{rows:?} {truth:?}")
    };
    let cfg = JobConfig { ranks: 3, steps: 3, osrt: true, nvtx_ops: true, ..JobConfig::default() };
    assert!(text(&cfg) == text(&cfg), "two runs differ");
    assert!(text(&cfg) != text(&JobConfig { seed: 2, ..cfg.clone() }), "the seed does nothing");
}

#[test]
fn planted_losses_are_in_the_books() {
    let steps = |name: &str| run(&preset(name).unwrap()).1.ranks.remove(0).steps;
    let healthy = &steps("healthy")[3].parts;
    assert!(healthy.idle_ns * 100 < healthy.span_ns && healthy.exposed_comm_ns * 20 < healthy.span_ns);
    let exposed = &steps("exposed-allreduce")[3].parts;
    assert!(exposed.exposed_comm_ns * 10 > exposed.span_ns);
    for name in ["slow-loader", "slow-loader-unnamed"] {
        let step = &steps(name)[3];
        assert!(
            step.parts.idle_ns * 5 > step.parts.span_ns && step.data_wait_ns * 5 > step.parts.span_ns,
            "{name}: {step:?}"
        );
    }
    let copies = &steps("copies")[3].parts;
    assert!(copies.copy_only_ns * 4 > copies.span_ns);
    let pauses = steps("gc-pause");
    assert_eq!(pauses.iter().map(|step| step.gc_ns).collect::<Vec<_>>(), [0, 0, 0, 180_000_000, 0, 0, 0, 0]);
    assert!(pauses[3].parts.idle_ns > 150_000_000);
    let late = &steps("demo");
    assert!(
        late[5].parts.span_ns * 2 > late[4].parts.span_ns * 3 && late[0].parts.span_ns * 2 > late[4].parts.span_ns * 3
    );
}

#[test]
fn the_bubble_of_a_pipeline_is_near_its_theory() {
    for (name, theory) in [("pipeline-8", 3.0 / 11.0), ("pipeline-32", 3.0 / 35.0)] {
        for rank in run(&preset(name).unwrap()).1.ranks {
            for step in &rank.steps[1..] {
                let measured = step.pipeline_stall_ns as f64 / step.window.len_ns() as f64;
                assert!(
                    (measured - theory).abs() < 0.04,
                    "{name}, stage {}: {measured:.3} for {theory:.3}",
                    rank.stage
                );
            }
        }
    }
}

#[test]
fn graph_blocks_and_graph_nodes_cover_the_same_work() {
    let job = |graphs| run(&JobConfig { cuda_graphs: graphs, ranks: 1, jitter: 0.0, ..preset("healthy").unwrap() });
    let ((blocks, of_blocks), (nodes, of_nodes)) = (job(CudaGraphs::Blocks), job(CudaGraphs::Nodes));
    assert_eq!((of_blocks.ranks[0].graphs, of_nodes.ranks[0].graphs), (7, 0));
    let launches = nodes[0].kernels.iter().filter(|k| k.graph_node.is_some()).map(|k| k.correlation);
    assert_eq!(launches.collect::<std::collections::BTreeSet<_>>().len(), 7, "one launch per execution");
    assert!(blocks[0].kernels.len() < nodes[0].kernels.len());
    let busy = |truth: &Truth| truth.ranks[0].steps[3].parts.busy_ns() as f64;
    assert!((busy(&of_blocks) / busy(&of_nodes) - 1.0).abs() < 0.02);
}

#[test]
fn an_impossible_job_is_refused_with_the_field_that_is_wrong() {
    let refused = |cfg: JobConfig, field: &str| {
        let error = simulate(&cfg, &mut Rows::default(), &mut |_| {}).unwrap_err().to_string();
        assert!(error.starts_with(field), "{error}");
    };
    let cfg = JobConfig::default;
    refused(JobConfig { ranks: 0, ..cfg() }, "ranks");
    refused(JobConfig { ranks: 3, pp: 2, ..cfg() }, "pp");
    refused(JobConfig { heads: 7, ..cfg() }, "heads");
    refused(JobConfig { host_us: f64::NAN, ..cfg() }, "host_us");
    refused(JobConfig { stragglers: vec![2], ..cfg() }, "stragglers");
    refused(JobConfig { clock_offset_ms: vec![0.0; 3], ..cfg() }, "clock_offset_ms");
    refused(JobConfig { one_file: true, drift_ppm: vec![1.0], ..cfg() }, "one_file");
    let old = stepscope::sim::SchemaVersion::V2023_4;
    refused(JobConfig { cuda_graphs: CudaGraphs::Blocks, schema: old, ..cfg() }, "cuda_graphs");
}
