//! What each rule is called, what it is about, and what to do when it holds.

use super::rule::Rule;
use crate::analysis::Area;

/// A rule in words.
pub(super) struct Row {
    /// Stable id; two rules that are variants of one share it.
    pub id: &'static str,
    /// What it is about.
    pub area: Area,
    /// What it says.
    pub title: &'static str,
    /// What to do when one rank is open.
    pub advice: &'static str,
    /// What to do when several are, where that is something else.
    pub among: Option<&'static str>,
}

const fn row(id: &'static str, area: Area, title: &'static str, advice: &'static str) -> Row {
    Row { id, area, title, advice, among: None }
}

impl Row {
    /// With other advice when several ranks are open.
    const fn among(self, advice: &'static str) -> Self {
        Self { among: Some(advice), ..self }
    }
}

/// The words of a rule.
pub(super) const fn of(rule: Rule) -> Row {
    use Area::{Bubble, Capture, Communication, Compute, Copy, Data, Host, Mfu, Unattributed};
    match rule {
        Rule::ExposedCommunication => row(
            "R1",
            Communication,
            "Communication is exposed",
            "Start collectives earlier so that they run beside compute: reduce gradients per bucket during backward, \
             prefetch parameters, tune the bucket size. If they already overlap, change the split between data, \
             tensor and pipeline parallelism, or the placement of ranks on the network.",
        ),
        Rule::GradientsNotOverlapped => row(
            "R1",
            Communication,
            "Gradient reduction hardly overlaps with backward",
            "Reduce each gradient bucket as soon as backward has filled it: DistributedDataParallel with \
             bucket_cap_mb around 25, overlap_grad_reduce in Megatron, no no_sync() around the last micro-batch, and \
             no reduction by hand after backward().",
        ),
        Rule::LateRank => row(
            "R2",
            Communication,
            "Some steps wait long in a collective: another rank may be late",
            "One rank cannot tell waiting from transfer. Record all ranks and open them together: the rank that \
             arrives last at the long collectives is the one to look at (a pause, a late batch, a slow card).",
        )
        .among(
            "Select one of these collectives and see which rank started last (the details name it, and Ranks sums up all of \
             them): that rank is the one to look at, for a pause, a late batch or a slow card.",
        ),
        Rule::LowBandwidth => row(
            "R3",
            Communication,
            "Large messages move slowly: algorithm or protocol does not suit their size",
            "Look for NCCL_ALGO, NCCL_PROTO or NCCL_BUFFSIZE set by hand and unset them: LL is for small messages, \
             Simple for large ones. Run with NCCL_DEBUG=INFO to see the algorithm, protocol and transport in use, and \
             compare with nccl-tests at the same size.",
        ),
        Rule::CommOnComputeStream => row(
            "R4",
            Communication,
            "Collectives run on the stream of the compute kernels",
            "Put collectives on a stream of their own (async_op=True, a separate torch.cuda.Stream) and wait for that \
             stream's event only where the result is used.",
        ),
        Rule::SyncAfterComm => row(
            "R5",
            Host,
            "The host waits for a collective before it goes on",
            "Replace the synchronising call after the collective with an event or work.wait() on the stream, so that \
             the host can queue what follows.",
        ),
        Rule::TinyCollectives => row(
            "R6",
            Communication,
            "Many tiny collectives",
            "Coalesce tiny collectives: larger buckets, one flattened tensor, or a coalescing manager around the calls.",
        ),
        Rule::LargeTail => row(
            "R7",
            Communication,
            "Most of the exposed time is one collective",
            "Split the collective that is exposed longest: smaller buckets at the end of backward (a smaller first bucket \
             in DistributedDataParallel), or start it earlier.",
        ),
        Rule::PipelineBubble => row(
            "R8",
            Bubble,
            "Pipeline bubble",
            "Use more micro-batches per step, interleave several chunks of layers per stage, balance the layers over \
             the stages (mind embedding and head), or change to a zero-bubble schedule.",
        ),
        Rule::UndeclaredPipeline => row(
            "R8",
            Communication,
            "Point-to-point kernels: pipeline parallelism is not declared",
            "If the point-to-point kernels exchange activations between pipeline stages, set the number of stages in the experiment's \
             settings, or name the stages with NVTX, and their waiting is counted as pipeline bubble.",
        ),
        Rule::LaunchBound => row(
            "R10",
            Host,
            "The host launches more slowly than the GPU runs",
            "Launch fewer kernels, or launch them in bulk: CUDA graphs, torch.compile, fused optimizers, fewer small operators. Keep logging \
             and Python work out of the step.",
        ),
        Rule::SmallKernels => row(
            "R11",
            Host,
            "Many small kernels",
            "Fuse the small kernels: torch.compile, fused or foreach optimizer, fused bias, activation and norm; a \
             larger micro-batch makes each kernel longer.",
        ),
        Rule::Synchronization => row(
            "R12",
            Host,
            "The host waits for the GPU inside the step",
            "Keep calls that wait for the GPU out of the step: no torch.cuda.synchronize(), .item(), .cpu(), nonzero() or \
             printing of tensors. Keep scalars on the GPU, log every k steps, and copy with non_blocking=True into \
             pinned memory.",
        ),
        Rule::BlockingCopies => row(
            "R13",
            Host,
            "Copies block the host",
            "Copy from and to pinned memory (pin_memory=True) with non_blocking=True; pageable memory makes the call \
             wait for the copy.",
        ),
        Rule::DataStall => row(
            "R14",
            Data,
            "Each step waits for its batch",
            "Give the data loader more workers, prefetch_factor and persistent_workers, move decoding off the training \
             thread, and read from local storage. Time the data loader alone: a \
             batch must take less than a step.",
        ),
        Rule::LateBatches => row(
            "R14",
            Data,
            "Some steps wait for a late batch",
            "Prefetch more batches so that a slow one is hidden, and look for what is periodic in the data loader: shard borders, shuffle \
             buffers, workers that restart at an epoch.",
        ),
        Rule::HostPause => row(
            "R15",
            Host,
            "Long pauses of host code in some steps",
            "Pauses of tens to hundreds of milliseconds without any CUDA call look like Python's garbage collector: \
             gc.disable() in the loop with gc.collect() every k steps at the same step on all ranks, or gc.freeze() \
             after warm-up. Record --python-sampling or NVTX to see what else \
             the pauses may be.",
        ),
        Rule::AllocatorChurn => row(
            "R18",
            Host,
            "Memory is allocated or freed inside the step",
            "Let the caching allocator keep its memory: no torch.cuda.empty_cache() in the loop, \
             PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, shapes that do not change, and headroom so that it need \
             not free and retry.",
        ),
        Rule::ModuleLoads => row(
            "R19",
            Host,
            "GPU code is loaded or compiled inside the step",
            "Warm up all shapes before the steps that count, set CUDA_MODULE_LOADING=EAGER, and compile ahead of time.",
        ),
        Rule::OsWait => row(
            "R20",
            Host,
            "The launching thread sits in system calls",
            "See which system call the launching thread sits in and who holds the lock or file: loader workers that fight for cores, logging, a \
             checkpoint thread. Pin ranks to their NUMA node.",
        ),
        Rule::QueueFull => row(
            "R21",
            Host,
            "The launch queue is full",
            "Harmless: the host is ahead of a busy GPU, and its long launch calls wait for a free slot in the queue.",
        ),
        Rule::Healthy => row(
            "R22",
            Compute,
            "Compute bound: nothing else stands out",
            "What is left to gain is in the kernels: number format, shapes that fill the card, fused attention and \
             elementwise work.",
        ),
        Rule::AttentionUnfused => row(
            "R23",
            Compute,
            "Attention is not fused",
            "Use scaled_dot_product_attention or FlashAttention instead of separate products, mask and softmax, and \
             check that mask, dropout and head size do not force the slow path.",
        ),
        Rule::ElementwiseUnfused => row(
            "R24",
            Compute,
            "Norms, activations and other elementwise work run in separate kernels",
            "Fuse norms, activations and other elementwise kernels: torch.compile, fused norm and activation modules \
             (Apex, Transformer Engine, Liger), and a fused optimizer.",
        ),
        Rule::NoTensorCores => row(
            "R25",
            Compute,
            "Matrix products do not use tensor cores",
            "Run matrix products in bf16, fp16 or fp8, or allow TF32 (torch.set_float32_matmul_precision(\"high\")), and \
             keep their sizes a multiple of 64.",
        ),
        Rule::KernelsTooSmall => row(
            "R26",
            Compute,
            "Kernels are too small for the card",
            "Raise the micro-batch (fewer accumulation steps, activation checkpointing to make room), pad odd sizes, or \
             lower tensor parallelism, so that every kernel has more blocks than the card has multiprocessors.",
        ),
        Rule::ComputeContention => row(
            "R28",
            Compute,
            "Compute kernels are slower while communication runs beside them",
            "Give NCCL fewer multiprocessors (NCCL_MAX_CTAS or NCCL_MAX_NCHANNELS) and see whether the step gets \
             shorter; use collectives that copy engines or the network carry out (NVLink SHARP, zero-copy user \
             buffers), and do not start more collectives at once than the link can take.",
        ),
        Rule::Recompute => row(
            "R27",
            Compute,
            "The forward pass runs twice (activation recomputation)",
            "If memory allows, recompute activations only selectively, offload activations or use a smaller micro-batch without \
             recomputation; count hardware FLOPs apart from model FLOPs.",
        ),
        Rule::ExposedCopies => row(
            "R29",
            Copy,
            "Copies run while no kernel does",
            "Overlap copies with compute, on a stream of their own with pinned memory, offload less or less often, and avoid changes of \
             layout between operators.",
        ),
        Rule::SmallExperts => row(
            "R31",
            Compute,
            "Expert kernels are small",
            "Use grouped matrix products over all local experts instead of a product per expert, or a larger micro-batch.",
        ),
        Rule::DeviceWait => row(
            "R39",
            Unattributed,
            "The GPU waits although work is queued",
            "Look at the longest gaps of the cause \"device wait\": an event of another stream, a copy, or another device \
             holds the queued work back. Record all ranks and open them together to see which rank is late.",
        )
        .among(
            "Look at the longest gaps of the cause \"device wait\": an event of another stream, a copy, or another device \
             holds the queued work back. See what the other ranks do at that time, and which of them is late.",
        ),
        Rule::CheckpointInside => row(
            "R32",
            Capture,
            "A checkpoint or an evaluation lies inside the capture",
            "A step that holds a checkpoint or an evaluation is left out of the typical step where it stands apart. Capture training steps only, and write \
             checkpoints asynchronously.",
        ),
        Rule::SlowSteps => row(
            "R35",
            Unattributed,
            "Some steps take much longer than the rest",
            "Open the slow steps beside a typical one and compare their parts.",
        ),
        Rule::ProfilerOverhead => row(
            "R33",
            Capture,
            "The profiler takes time of its own",
            "Capture fewer steps, switch sampling and backtraces off, and record CUDA graphs as one block if you can.",
        ),
        Rule::Truncated => row(
            "R34",
            Capture,
            "The capture cuts into the work",
            "Steps that are cut are left out. Start and stop the capture between two steps (cudaProfilerStart and Stop \
             with --capture-range=cudaProfilerApi).",
        ),
        Rule::WarmUp => row(
            "R35",
            Capture,
            "The first step is a warm-up",
            "The first step is left out of the typical step. Start the capture after a few steps.",
        ),
        Rule::MfuImplausible => row(
            "R36",
            Mfu,
            "The MFU is more than the hardware can do",
            "Check the inputs: dense or sparse peak, number format, causal or full attention, number of GPUs, tokens per \
             step.",
        ),
        Rule::MfuLowBusy => row(
            "R37",
            Mfu,
            "The MFU is low although the GPU is busy",
            "Kernels are inefficient, or FLOPs are not counted: look at fused attention, elementwise work, tensor cores \
             and kernel sizes, and check for padding and recomputation.",
        ),
        Rule::MfuLowIdle => row(
            "R38",
            Mfu,
            "The MFU is low because the GPU does not compute",
            "Start with the loss that the verdict names: it is the largest.",
        ),
    }
}
