//! Named jobs: a healthy one, and one per loss.

use super::config::{CudaGraphs, JobConfig};

/// A named job.
#[derive(Debug, Clone)]
pub struct Preset {
    /// Name, as given on the command line.
    pub name: &'static str,
    /// What is special about it, in one line.
    pub about: &'static str,
    /// The job.
    pub config: JobConfig,
}

/// The job called `name`.
pub fn preset(name: &str) -> Option<JobConfig> {
    presets().into_iter().find(|preset| preset.name == name).map(|preset| preset.config)
}

/// One rank with about `kernels` kernels, as many API calls, and ranges for steps and layers.
pub fn bench_config(kernels: u64) -> JobConfig {
    let mut cfg = JobConfig {
        ranks: 1,
        batch: 1,
        loader_ms: 1.0,
        slow_loader_steps: Vec::new(),
        tiny_kernels: 300,
        item_per_step: 0,
        warmup_ms: 0.0,
        steps: 1,
        ..JobConfig::default()
    };
    let per_step = u64::from(cfg.layers) * (2 * u64::from(cfg.tiny_kernels) + 32) + 20;
    cfg.steps = kernels.div_ceil(per_step).clamp(1, 1_000_000) as u32;
    cfg
}

/// All named jobs, the built-in demo first.
pub fn presets() -> Vec<Preset> {
    let demo = JobConfig::default();
    // Nothing stands out: scalars are read rarely and batches are always there.
    let healthy = JobConfig { slow_loader_steps: Vec::new(), item_every: 50, comm_gbps: 200.0, ..demo.clone() };
    let four = JobConfig { ranks: 4, ..healthy.clone() };
    let pipeline = JobConfig {
        ranks: 4,
        pp: 4,
        steps: 5,
        layers: 32,
        hidden: 2048,
        heads: 16,
        vocab: 2048,
        batch: 2,
        micro_batches: 8,
        p2p_gbps: 200.0,
        item_every: 1000,
        nvtx_layers: false,
        ..healthy.clone()
    };
    let job = |name, about, config| Preset { name, about, config };
    vec![
        job("demo", "the built-in demo: 125 M GPT on two A100, some exposed all-reduce, one late batch", demo.clone()),
        job("healthy", "compute bound, nothing to gain", healthy.clone()),
        job(
            "exposed-allreduce",
            "gradients are reduced after backward, over a slow link",
            JobConfig { overlap_comm: false, comm_gbps: 25.0, ..healthy.clone() },
        ),
        job(
            "slow-loader",
            "loader workers cannot keep up; the wait has an NVTX name",
            JobConfig { loader_ms: 900.0, ..healthy.clone() },
        ),
        job(
            "slow-loader-unnamed",
            "loader workers cannot keep up; the wait lies between two steps",
            JobConfig { loader_ms: 900.0, loader_nvtx: false, ..healthy.clone() },
        ),
        job(
            "item-sync",
            "a scalar is read and logged each step while the GPU waits",
            JobConfig { item_every: 1, item_per_step: 3, item_host_us: 12_000.0, ..healthy.clone() },
        ),
        job(
            "item-sync-copy",
            "the same, with the copy call itself blocking",
            JobConfig {
                item_every: 1,
                item_per_step: 3,
                item_host_us: 12_000.0,
                item_blocks_in_copy: true,
                ..healthy.clone()
            },
        ),
        job(
            "device-sync",
            "each step ends with a wait for the whole device and some Python after it",
            JobConfig { device_sync: true, device_sync_host_us: 11_000.0, item_per_step: 0, ..healthy.clone() },
        ),
        job(
            "tiny-kernels",
            "many small kernels: the host cannot launch as fast as the GPU runs them",
            JobConfig { batch: 1, tiny_kernels: 120, item_every: 1, ..healthy.clone() },
        ),
        job(
            "many-optimizer-kernels",
            "an unfused optimizer: thousands of small kernels per step",
            JobConfig { optimizer_kernels: 3000, ..healthy.clone() },
        ),
        job(
            "allocator-churn",
            "memory is freed and allocated inside the step, each time waiting for the GPU",
            JobConfig { alloc_churn: 12, alloc_ms: 1.5, ..healthy.clone() },
        ),
        job(
            "gc-pause",
            "Python collects garbage for a while, on one rank after the other",
            JobConfig { gc_steps: vec![3], gc_ms: 180.0, item_every: 1, ..healthy.clone() },
        ),
        job(
            "attention-unfused",
            "batched products, a mask and a softmax instead of fused attention",
            JobConfig { flash_attention: false, batch: 8, ..healthy.clone() },
        ),
        job(
            "elementwise-unfused",
            "norms and activations as separate operators",
            JobConfig { unfused_elementwise: 6, ..healthy.clone() },
        ),
        job(
            "small-micro-batch",
            "a batch cut into sixteen: kernels too small to fill the card",
            JobConfig { batch: 1, seq: 512, micro_batches: 16, host_us: 1.0, ..healthy.clone() },
        ),
        job(
            "slow-protocol",
            "large gradient buckets move at a sixth of what smaller ones reach",
            JobConfig { large_message_gbps: 8.0, comm_gbps: 48.0, ..healthy.clone() },
        ),
        job(
            "contention",
            "compute kernels take a third longer while gradients are reduced beside them",
            JobConfig {
                contention_factor: 1.33,
                comm_gbps: 5.0,
                bucket_mb: 4.0,
                vocab: 2048,
                micro_batches: 2,
                ..healthy.clone()
            },
        ),
        job(
            "cuda-graphs",
            "forward and backward run as a CUDA graph, recorded as one block",
            JobConfig { cuda_graphs: CudaGraphs::Blocks, ..healthy.clone() },
        ),
        job(
            "cuda-graph-nodes",
            "the same, with the kernels inside recorded",
            JobConfig { cuda_graphs: CudaGraphs::Nodes, ..healthy.clone() },
        ),
        job(
            "copies",
            "optimizer state is copied to the host and back each step",
            JobConfig { offload_mb: 1500.0, ..healthy.clone() },
        ),
        job("pipeline-8", "4 pipeline stages, 8 micro-batches: 27.3 % bubble in theory", pipeline.clone()),
        job(
            "pipeline-32",
            "4 pipeline stages, 32 micro-batches: 8.6 % bubble in theory",
            JobConfig { micro_batches: 32, ..pipeline },
        ),
        job("four-equal", "four ranks, none behind the others", four.clone()),
        job(
            "straggler-compute",
            "rank 2 of 4 has a quarter more to compute",
            JobConfig { stragglers: vec![2], compute_factor: 1.25, ..four.clone() },
        ),
        job(
            "straggler-data",
            "rank 2 of 4 waits for its data",
            JobConfig { stragglers: vec![2], loader_ms: 300.0, data_factor: 2.2, ..four.clone() },
        ),
        job(
            "straggler-host",
            "rank 2 of 4 runs its host code four times slower",
            JobConfig {
                stragglers: vec![2],
                batch: 2,
                tiny_kernels: 20,
                host_factor: 4.0,
                item_every: 1,
                ..four.clone()
            },
        ),
        job(
            "straggler-clock",
            "rank 2 of 4 has a slow clock: every kernel takes 1.25 times as long",
            JobConfig { stragglers: vec![2], clock_factor: 1.25, ..four.clone() },
        ),
        job(
            "clock-offset",
            "captures of four ranks began up to 7.3 s apart",
            JobConfig { clock_offset_ms: vec![0.0, 7300.0, 1_234.567_891, -20.0], ..four.clone() },
        ),
        job(
            "wall-clock-wrong",
            "the wall clock of rank 1 is off by 11.56 s",
            JobConfig { clock_offset_ms: vec![0.0, 7300.0], wall_error_ms: vec![0.0, 11_560.0], ..healthy.clone() },
        ),
        job(
            "drift",
            "the clock of rank 1 runs 20 ppm fast over several seconds",
            JobConfig { drift_ppm: vec![0.0, 20.0], steps: 40, ..healthy.clone() },
        ),
        job(
            "extra-collective",
            "rank 1 of 4 issues one all-reduce more than the others",
            JobConfig { extra_collectives: vec![1], ..four.clone() },
        ),
        job(
            "one-file",
            "both ranks in one export, as nsys around a launcher gives",
            JobConfig { one_file: true, ..demo },
        ),
    ]
}
