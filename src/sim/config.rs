//! What a simulated job is: model, hardware, layout, and the losses planted in it. Flat, so that each field is a flag.

use super::SimError;
use crate::nsys::write::SchemaVersion;
use serde::{Deserialize, Serialize};

/// A card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gpu {
    /// A100 SXM4 with 40 GB.
    #[default]
    A100,
    /// H100 SXM5 with 80 GB.
    H100,
}

/// Number format of the matrix products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// bfloat16 on tensor cores.
    #[default]
    Bf16,
    /// float16 on tensor cores.
    Fp16,
    /// float32 without tensor cores.
    Fp32,
}

impl Dtype {
    /// Bytes per number.
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Bf16 | Self::Fp16 => 2.0,
            Self::Fp32 => 4.0,
        }
    }
}

/// Whether the step runs as a CUDA graph, and how the capture recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CudaGraphs {
    /// Kernels are launched one by one.
    #[default]
    Off,
    /// One block per execution; the kernels inside are not recorded.
    Blocks,
    /// Every kernel is recorded, all with the correlation of the one launch.
    Nodes,
}

/// A simulated job. The default is the built-in demo: a 125 M GPT on two A100.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobConfig {
    /// Ranks; data parallel size is ranks / pp.
    pub ranks: u32,
    /// Pipeline stages.
    pub pp: u32,
    /// Steps captured.
    pub steps: u32,
    /// Number of the first step.
    pub first_step: u32,
    /// Transformer layers.
    pub layers: u32,
    /// Hidden size; the feed-forward width is four times as much.
    pub hidden: u32,
    /// Attention heads.
    pub heads: u32,
    /// Sequence length.
    pub seq: u32,
    /// Vocabulary.
    pub vocab: u32,
    /// Sequences per micro-batch.
    pub batch: u32,
    /// Micro-batches per step and rank.
    pub micro_batches: u32,
    /// Number format.
    pub dtype: Dtype,
    /// Card.
    pub gpu: Gpu,
    /// Cards per machine.
    pub gpus_per_node: u32,
    /// Fused attention; without it: batched products, a mask and a softmax.
    pub flash_attention: bool,
    /// Kernels in place of each norm and each activation, as separate operators give; 0 for fused ones.
    pub unfused_elementwise: u32,
    /// Share of the peak that large matrix products reach.
    pub gemm_efficiency: f64,

    /// Gigabytes per second that a gradient all-reduce moves (bus bandwidth).
    pub comm_gbps: f64,
    /// Gigabytes per second of gradient buckets of more than 32 MB, as with NCCL's protocol for small messages forced on
    /// large ones; 0 when they are as fast as the others.
    pub large_message_gbps: f64,
    /// Gigabytes per second between neighbouring pipeline stages.
    pub p2p_gbps: f64,
    /// Megabytes per gradient bucket.
    pub bucket_mb: f64,
    /// Compute kernels that start while a collective runs take this much longer.
    pub contention_factor: f64,
    /// Start the reduction of a bucket while backward still runs.
    pub overlap_comm: bool,

    /// Milliseconds a loader worker needs per batch.
    pub loader_ms: f64,
    /// Loader workers; with 0 the training thread loads each batch itself.
    pub loader_workers: u32,
    /// An NVTX range around the loading, inside the step; without it loading happens unnamed between two steps.
    pub loader_nvtx: bool,
    /// Copy batches on a stream of their own.
    pub prefetch_stream: bool,
    /// Steps whose batch comes late, counted from 0.
    pub slow_loader_steps: Vec<u32>,
    /// Milliseconds the training thread waits for such a batch.
    pub slow_loader_ms: f64,

    /// Calls of `.item()` per step, each of which drains the GPU.
    pub item_per_step: u32,
    /// Read scalars only every so many steps.
    pub item_every: u32,
    /// Microseconds of Python after each `.item()`.
    pub item_host_us: f64,
    /// The copy call itself blocks, as with pageable memory; else the stream synchronisation after it does.
    pub item_blocks_in_copy: bool,
    /// Wait for the whole device at the end of each step, as a hand-written timer does.
    pub device_sync: bool,
    /// Microseconds of Python after that wait, while the GPU has nothing to do.
    pub device_sync_host_us: f64,
    /// Microseconds of Python or C++ between two launches.
    pub host_us: f64,
    /// Extra small kernels per layer and direction.
    pub tiny_kernels: u32,
    /// Optimizer kernels per step; 0 gives the fused optimizer.
    pub optimizer_kernels: u32,
    /// Pairs of cudaFree and cudaMalloc per step.
    pub alloc_churn: u32,
    /// Milliseconds each of those calls takes.
    pub alloc_ms: f64,
    /// Steps in which rank 0 collects garbage, counted from 0; each rank does so one step later than the one before.
    pub gc_steps: Vec<u32>,
    /// Milliseconds of that pause.
    pub gc_ms: f64,
    /// CUDA graphs.
    pub cuda_graphs: CudaGraphs,
    /// Megabytes copied to the host and back each step on the compute stream.
    pub offload_mb: f64,
    /// Milliseconds of one-time work in the first step (libraries, compilation), besides module loads.
    pub warmup_ms: f64,

    /// Ranks with the factors below.
    pub stragglers: Vec<u32>,
    /// Their matrix products take this much longer.
    pub compute_factor: f64,
    /// Their data loading takes this much longer.
    pub data_factor: f64,
    /// Their host code takes this much longer.
    pub host_factor: f64,
    /// All their kernels take this much longer.
    pub clock_factor: f64,
    /// Ranks that issue one extra all-reduce at the end, each on its own.
    pub extra_collectives: Vec<u32>,

    /// Milliseconds that each rank's capture started earlier than the job, per rank; missing ones are 0.
    pub clock_offset_ms: Vec<f64>,
    /// Milliseconds by which each rank's wall clock is wrong.
    pub wall_error_ms: Vec<f64>,
    /// Parts per million by which each rank's clock runs fast.
    pub drift_ppm: Vec<f64>,

    /// Record NVTX at all.
    pub nvtx: bool,
    /// Ranges for layers.
    pub nvtx_layers: bool,
    /// A range with a unique name around every operator, as `emit_nvtx` gives.
    pub nvtx_ops: bool,
    /// NCCL's own ranges in their domain, with registered strings.
    pub nvtx_nccl: bool,
    /// NCCL's ranges carry communicator and size, as exports made with their binary data do (2026.2 only).
    pub nccl_payloads: bool,
    /// Record OS runtime calls.
    pub osrt: bool,
    /// Samples a second of the GPUs' own counters; 0 for none (from 2023.4 on).
    pub gpu_metrics_hz: u32,
    /// All ranks in one export, as nsys around a launcher gives.
    pub one_file: bool,
    /// Version of nsys.
    pub schema: SchemaVersion,
    /// Relative scatter of kernel durations.
    pub jitter: f64,
    /// Seed of the scatter.
    pub seed: u64,
}

impl Default for JobConfig {
    fn default() -> Self {
        Self {
            ranks: 2,
            pp: 1,
            steps: 8,
            first_step: 0,
            layers: 12,
            hidden: 768,
            heads: 12,
            seq: 1024,
            vocab: 50_304,
            batch: 16,
            micro_batches: 1,
            dtype: Dtype::Bf16,
            gpu: Gpu::A100,
            gpus_per_node: 8,
            flash_attention: true,
            unfused_elementwise: 0,
            gemm_efficiency: 0.6,
            comm_gbps: 45.0,
            large_message_gbps: 0.0,
            p2p_gbps: 80.0,
            bucket_mb: 25.0,
            contention_factor: 1.0,
            overlap_comm: true,
            loader_ms: 40.0,
            loader_workers: 4,
            loader_nvtx: true,
            prefetch_stream: true,
            slow_loader_steps: vec![5],
            slow_loader_ms: 90.0,
            item_per_step: 1,
            item_every: 1,
            item_host_us: 350.0,
            item_blocks_in_copy: false,
            device_sync: false,
            device_sync_host_us: 350.0,
            host_us: 6.0,
            tiny_kernels: 0,
            optimizer_kernels: 0,
            alloc_churn: 0,
            alloc_ms: 0.5,
            gc_steps: Vec::new(),
            gc_ms: 0.0,
            cuda_graphs: CudaGraphs::Off,
            offload_mb: 0.0,
            warmup_ms: 90.0,
            stragglers: Vec::new(),
            compute_factor: 1.0,
            data_factor: 1.0,
            host_factor: 1.0,
            clock_factor: 1.0,
            extra_collectives: Vec::new(),
            clock_offset_ms: Vec::new(),
            wall_error_ms: Vec::new(),
            drift_ppm: Vec::new(),
            nvtx: true,
            nvtx_layers: true,
            nvtx_ops: false,
            nvtx_nccl: true,
            nccl_payloads: true,
            osrt: false,
            gpu_metrics_hz: 0,
            one_file: false,
            schema: SchemaVersion::V2026_2,
            jitter: 0.01,
            seed: 1,
        }
    }
}

impl JobConfig {
    /// Data parallel size.
    pub const fn dp(&self) -> u32 {
        self.ranks / self.pp
    }

    /// Tokens per micro-batch.
    pub fn tokens(&self) -> f64 {
        f64::from(self.batch) * f64::from(self.seq)
    }

    /// Says what is wrong with the job, field by field.
    ///
    /// # Errors
    /// When a field is out of its range, or two contradict each other.
    pub fn check(&self) -> Result<(), SimError> {
        let bad = |field: &'static str, why: &str| Err(SimError::Config { field, why: why.to_owned() });
        if self.gpu_metrics_hz > 200_000 {
            return bad("gpu_metrics_hz", "must be at most 200000");
        }
        for (field, value, most) in [
            ("ranks", self.ranks, 1024),
            ("pp", self.pp, 64),
            ("steps", self.steps, 1_000_000),
            ("layers", self.layers, 1000),
            ("hidden", self.hidden, 65_536),
            ("heads", self.heads, self.hidden),
            ("seq", self.seq, 1 << 20),
            ("vocab", self.vocab, 1 << 20),
            ("batch", self.batch, 65_536),
            ("micro_batches", self.micro_batches, 4096),
            ("gpus_per_node", self.gpus_per_node, 16),
            ("item_every", self.item_every, 1_000_000),
        ] {
            if value == 0 || value > most {
                return bad(field, &format!("must be 1 to {most}, not {value}"));
            }
        }
        for (field, value, most) in [
            ("loader_workers", self.loader_workers, 256),
            ("item_per_step", self.item_per_step, 10_000),
            ("unfused_elementwise", self.unfused_elementwise, 100),
            ("tiny_kernels", self.tiny_kernels, 100_000),
            ("optimizer_kernels", self.optimizer_kernels, 100_000),
            ("alloc_churn", self.alloc_churn, 10_000),
        ] {
            if value > most {
                return bad(field, &format!("must be 0 to {most}, not {value}"));
            }
        }
        for (field, value, least, most) in [
            ("gemm_efficiency", self.gemm_efficiency, 0.01, 1.0),
            ("comm_gbps", self.comm_gbps, 0.001, 1e5),
            ("large_message_gbps", self.large_message_gbps, 0.0, 1e5),
            ("p2p_gbps", self.p2p_gbps, 0.001, 1e5),
            ("bucket_mb", self.bucket_mb, 0.1, 1e6),
            ("loader_ms", self.loader_ms, 0.0, 1e6),
            ("slow_loader_ms", self.slow_loader_ms, 0.0, 1e6),
            ("item_host_us", self.item_host_us, 0.0, 1e7),
            ("device_sync_host_us", self.device_sync_host_us, 0.0, 1e7),
            ("host_us", self.host_us, 0.1, 1e6),
            ("alloc_ms", self.alloc_ms, 0.0, 1e5),
            ("gc_ms", self.gc_ms, 0.0, 1e6),
            ("offload_mb", self.offload_mb, 0.0, 1e6),
            ("warmup_ms", self.warmup_ms, 0.0, 1e6),
            ("compute_factor", self.compute_factor, 0.1, 100.0),
            ("data_factor", self.data_factor, 0.1, 100.0),
            ("host_factor", self.host_factor, 0.1, 100.0),
            ("clock_factor", self.clock_factor, 0.1, 100.0),
            ("contention_factor", self.contention_factor, 1.0, 100.0),
            ("jitter", self.jitter, 0.0, 0.5),
        ] {
            if !(least..=most).contains(&value) {
                return bad(field, &format!("must be {least} to {most}, not {value}"));
            }
        }
        for (field, values, most) in [
            ("clock_offset_ms", &self.clock_offset_ms, 1e9),
            ("wall_error_ms", &self.wall_error_ms, 1e9),
            ("drift_ppm", &self.drift_ppm, 1e5),
        ] {
            if values.len() > self.ranks as usize || !values.iter().all(|v| v.abs() <= most) {
                return bad(field, &format!("takes at most one value per rank, each within {most} of 0"));
            }
        }
        if !self.ranks.is_multiple_of(self.pp) {
            return bad("pp", &format!("must divide the number of ranks ({})", self.ranks));
        }
        if self.layers < self.pp {
            return bad("pp", &format!("{} stages need at least as many layers, not {}", self.pp, self.layers));
        }
        if !self.hidden.is_multiple_of(self.heads) {
            return bad("heads", &format!("must divide the hidden size ({})", self.hidden));
        }
        for (field, ranks) in [("stragglers", &self.stragglers), ("extra_collectives", &self.extra_collectives)] {
            if ranks.iter().any(|rank| *rank >= self.ranks) {
                return bad(field, &format!("must be ranks below {}", self.ranks));
            }
        }
        if self.cuda_graphs == CudaGraphs::Blocks && !self.schema.has_graph_blocks() {
            return bad(
                "cuda_graphs",
                &format!("nsys {} records no graph blocks: use 2026.2, or nodes", self.schema.text()),
            );
        }
        if self.cuda_graphs != CudaGraphs::Off && self.pp > 1 {
            return bad(
                "cuda_graphs",
                "a pipeline exchanges activations inside the step, which a graph of it would hide: use pp 1",
            );
        }
        if self.one_file && [&self.clock_offset_ms, &self.wall_error_ms, &self.drift_ppm].iter().any(|v| !v.is_empty())
        {
            return bad(
                "one_file",
                "ranks of one file share one clock: leave out offsets, wall-clock errors and drift",
            );
        }
        Ok(())
    }
}
