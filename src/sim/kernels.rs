//! Kernels of a GPT training step: names as the libraries give them, durations from FLOPs and bytes.

use super::config::{CudaGraphs, Dtype, Gpu, JobConfig};
use super::gpu::GpuSpec;
use crate::nsys::write::SchemaVersion;

/// What a straggler's factors apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Bound by arithmetic: grows with the work per rank.
    Math,
    /// Bound by memory.
    Memory,
}

/// One kernel with one shape.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub(super) short: String,
    pub(super) demangled: String,
    pub(super) duration_ns: f64,
    pub(super) work: Work,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) registers: u32,
    pub(super) shared_bytes: u32,
    /// Launched by cudaLaunchKernelExC instead of cudaLaunchKernel.
    pub(super) extended_launch: bool,
}

/// Index into [`Catalog::kernels`].
pub(super) type KernelId = u16;

/// All kernels of a job, and which of them make up its parts.
#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) kernels: Vec<Kernel>,
    pub(super) embedding: Vec<KernelId>,
    pub(super) layer_forward: Vec<KernelId>,
    pub(super) layer_backward: Vec<KernelId>,
    pub(super) head_forward: Vec<KernelId>,
    pub(super) head_backward: Vec<KernelId>,
    pub(super) embedding_backward: Vec<KernelId>,
    pub(super) clip: KernelId,
    pub(super) optimizer: KernelId,
    pub(super) optimizer_small: KernelId,
    pub(super) tiny: KernelId,
    pub(super) all_reduce: KernelId,
    pub(super) send_recv: KernelId,
}

struct Builder<'a> {
    cfg: &'a JobConfig,
    gpu: GpuSpec,
    kernels: Vec<Kernel>,
}

/// Rows and columns of an output tile of a matrix product.
const TILE: f64 = 128.0;

impl Builder<'_> {
    fn add(&mut self, kernel: Kernel) -> KernelId {
        self.kernels.push(kernel);
        (self.kernels.len() - 1) as KernelId
    }

    fn memory_ns(&self, bytes: f64) -> f64 {
        1_300.0 + bytes / (self.gpu.bandwidth_bytes_per_s as f64 * 0.82) * 1e9
    }

    /// A matrix product of m x k with k x n, `batch` times; `layout` as in cuBLAS.
    fn gemm(&mut self, batch: f64, m: f64, n: f64, k: f64, layout: &str) -> KernelId {
        let dtype = self.cfg.dtype;
        let half = dtype != Dtype::Fp32;
        let peak = if half { self.gpu.peak_half } else { self.gpu.peak_single };
        let tiles = (m / TILE).ceil() * (n / TILE).ceil() * batch;
        // A last wave that is not full wastes the rest of the card.
        let waves = tiles / self.gpu.sm_count as f64;
        let fill = waves / waves.ceil();
        let math = 2.0 * batch * m * n * k / (peak * self.cfg.gemm_efficiency * fill.max(0.05)) * 1e9;
        let bytes = batch * (m * k + k * n + m * n) * dtype.bytes();
        let short = match (self.cfg.gpu, dtype) {
            (Gpu::A100, Dtype::Bf16) => format!("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_{layout}"),
            (Gpu::A100, Dtype::Fp16) => format!("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_{layout}"),
            (Gpu::A100, Dtype::Fp32) => format!("ampere_sgemm_128x128_{layout}"),
            (Gpu::H100, Dtype::Fp32) => {
                format!("sm80_xmma_gemm_f32f32_f32f32_f32_{layout}_n_tilesize128x128x8_stage3_ffma_cublas")
            }
            (Gpu::H100, Dtype::Bf16) => format!("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_{}", layout.to_uppercase()),
            (Gpu::H100, Dtype::Fp16) => format!("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_{}", layout.to_uppercase()),
        };
        self.add(Kernel {
            demangled: short.clone(),
            short,
            duration_ns: 2_000.0 + math.max(self.memory_ns(bytes) - 1_300.0),
            work: Work::Math,
            grid: [(m / TILE).ceil() as u32, (n / TILE).ceil() as u32, batch as u32],
            block: [if half { 128 } else { 256 }, 1, 1],
            registers: 234,
            shared_bytes: 98_304,
            extended_launch: self.cfg.gpu == Gpu::H100,
        })
    }

    /// A kernel of PyTorch or a library that is bound by memory.
    fn stream(&mut self, short: &str, template: &str, bytes: f64) -> KernelId {
        self.add(Kernel {
            short: short.to_owned(),
            demangled: template.to_owned(),
            duration_ns: self.memory_ns(bytes),
            work: Work::Memory,
            grid: [((bytes / 4096.0).ceil() as u32).clamp(1, 1 << 20), 1, 1],
            block: [128, 1, 1],
            registers: 32,
            shared_bytes: 0,
            extended_launch: false,
        })
    }

    fn elementwise(&mut self, functor: &str, bytes: f64) -> KernelId {
        let template = format!(
            "void at::native::vectorized_elementwise_kernel<(int)4, at::native::{functor}, std::array<char *, (unsigned long)3>>(int, T2, T3)"
        );
        self.stream("vectorized_elementwise_kernel", &template, bytes)
    }

    fn attention(&mut self, backward: bool) -> Vec<KernelId> {
        let c = self.cfg;
        let (seq, heads, batch) = (f64::from(c.seq), f64::from(c.heads), f64::from(c.batch));
        let head = f64::from(c.hidden) / heads;
        if c.flash_attention {
            return self.flash(backward, 4.0 * batch * heads * seq * seq * head / 2.0);
        }
        let scores = batch * heads * seq * seq * c.dtype.bytes();
        let many = batch * heads;
        if backward {
            vec![
                self.gemm(many, seq, head, seq, "nt"),
                self.gemm(many, seq, seq, head, "tn"),
                self.stream("softmax_warp_backward", "void <unnamed>::softmax_warp_backward<c10::BFloat16, c10::BFloat16, float, (int)10, (bool)0, (bool)0>(T2 *, const T1 *, const T1 *, int, int, int, const bool *)", 3.0 * scores),
                self.elementwise("<unnamed>::masked_fill_kernel(at::TensorIterator &, const c10::Scalar &)::[lambda(c10::BFloat16, bool) (instance 1)]", 2.0 * scores),
                self.gemm(many, seq, head, seq, "nn"),
                self.gemm(many, seq, head, seq, "nt"),
            ]
        } else {
            vec![
                self.gemm(many, seq, seq, head, "tn"),
                self.elementwise("BUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float>>", 2.0 * scores),
                self.elementwise("<unnamed>::masked_fill_kernel(at::TensorIterator &, const c10::Scalar &)::[lambda(c10::BFloat16, bool) (instance 1)]", 2.0 * scores),
                self.stream("softmax_warp_forward", "void <unnamed>::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, (int)10, (bool)0, (bool)0>(T2 *, const T1 *, int, int, int, const bool *, int, bool)", 2.0 * scores),
                self.gemm(many, seq, head, seq, "nn"),
            ]
        }
    }

    fn flash(&mut self, backward: bool, forward_flops: f64) -> Vec<KernelId> {
        let c = self.cfg;
        let head = c.hidden / c.heads;
        let activations = c.tokens() * f64::from(c.hidden) * c.dtype.bytes();
        let peak = if c.dtype == Dtype::Fp32 { self.gpu.peak_single } else { self.gpu.peak_half };
        let (name, flops) = if backward {
            ("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 2.5 * forward_flops)
        } else {
            ("flash_fwd_kernel", forward_flops)
        };
        let kind = if backward { "bwd" } else { "fwd" };
        let traits = format!(
            "Flash_{kind}_kernel_traits<(int){head}, (int)128, (int)128, (int)4, (bool)0, (bool)0, cutlass::bfloat16_t, Flash_kernel_traits<(int){head}, (int)128, (int)128, (int)4, cutlass::bfloat16_t>>"
        );
        let main = Kernel {
            short: name.to_owned(),
            demangled: format!(
                "void flash::{name}<{traits}, (bool)0, (bool)1, (bool)0, (bool)0, (bool)1, (bool)1, (bool)0>(flash::Flash_{kind}_params)"
            ),
            duration_ns: 3_000.0 + flops / (peak * c.gemm_efficiency * 0.75) * 1e9,
            work: Work::Math,
            grid: [c.seq.div_ceil(128), c.batch, c.heads],
            block: [if backward { 256 } else { 128 }, 1, 1],
            registers: 255,
            shared_bytes: 81_920,
            extended_launch: false,
        };
        if !backward {
            return vec![self.add(main)];
        }
        vec![
            self.stream(
                "flash_bwd_dot_do_o_kernel",
                &format!("void flash::flash_bwd_dot_do_o_kernel<(bool)1, {traits}>(flash::Flash_bwd_params)"),
                2.0 * activations,
            ),
            self.add(main),
            self.stream(
                "flash_bwd_convert_dq_kernel",
                &format!("void flash::flash_bwd_convert_dq_kernel<{traits}>(flash::Flash_bwd_params, int)"),
                3.0 * activations,
            ),
        ]
    }

    /// Gradients of input, weight and bias of a linear layer.
    fn linear_backward(&mut self, inputs: f64, outputs: f64) -> Vec<KernelId> {
        let tokens = self.cfg.tokens();
        let bytes = tokens * outputs * self.cfg.dtype.bytes();
        vec![
            self.gemm(1.0, tokens, inputs, outputs, "nn"),
            self.gemm(1.0, inputs, outputs, tokens, "nt"),
            self.stream("reduce_kernel", "void at::native::reduce_kernel<(int)128, (int)4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator ()(at::TensorIterator &)::[lambda(float, float) (instance 1)]>, unsigned int, c10::BFloat16, (int)4, (int)4>>(T3)", bytes),
        ]
    }

    /// A norm or activation as separate operators: each reads and writes tensors of `bytes` in all.
    fn separate(&mut self, bytes: f64) -> Vec<KernelId> {
        const FUNCTORS: [&str; 4] = [
            "CUDAFunctor_add<c10::BFloat16>",
            "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float>>",
            "<unnamed>::pow_tensor_scalar_kernel_impl<c10::BFloat16, c10::BFloat16>(at::TensorIteratorBase &, T2)::[lambda(c10::BFloat16) (instance 1)]",
            "tanh_kernel_cuda(at::TensorIteratorBase &)::[lambda(c10::BFloat16) (instance 1)]",
        ];
        let functors = FUNCTORS.into_iter().cycle().take(self.cfg.unfused_elementwise as usize);
        functors.map(|functor| self.elementwise(functor, bytes)).collect()
    }

    fn norm_backward(&mut self, activations: f64) -> Vec<KernelId> {
        if self.cfg.unfused_elementwise > 0 {
            return self.separate(3.0 * activations);
        }
        vec![
            self.stream("layer_norm_grad_input_kernel", "void at::native::<unnamed>::layer_norm_grad_input_kernel<c10::BFloat16, float>(const T1 *, const T1 *, const T2 *, const T2 *, const T1 *, T1 *, int)", 3.0 * activations),
            self.stream("GammaBetaBackwardCUDAKernel", "void at::native::<unnamed>::GammaBetaBackwardCUDAKernel_32x32<c10::BFloat16, float>(long, long, const T1 *, const T1 *, const T2 *, const T2 *, T1 *, T1 *)", 2.0 * activations),
        ]
    }

    fn norm_forward(&mut self, activations: f64) -> Vec<KernelId> {
        if self.cfg.unfused_elementwise > 0 {
            return self.separate(2.0 * activations);
        }
        vec![self.stream("vectorized_layer_norm_kernel", "void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, T2, const T1 *, const T1 *, const T1 *, T2 *, T2 *, T1 *)", 2.0 * activations)]
    }

    /// An activation of the feed-forward part, or its gradient.
    fn activation(&mut self, functor: &str, bytes: f64) -> Vec<KernelId> {
        if self.cfg.unfused_elementwise > 0 {
            return self.separate(bytes);
        }
        vec![self.elementwise(functor, bytes)]
    }

    fn layer_forward(&mut self) -> Vec<KernelId> {
        let (tokens, h) = (self.cfg.tokens(), f64::from(self.cfg.hidden));
        let act = tokens * h * self.cfg.dtype.bytes();
        let norm = self.norm_forward(act);
        let add = self.elementwise("CUDAFunctor_add<c10::BFloat16>", 3.0 * act);
        let mut out = norm.clone();
        out.push(self.gemm(1.0, tokens, 3.0 * h, h, "tn"));
        out.extend(self.attention(false));
        out.extend([self.gemm(1.0, tokens, h, h, "tn"), add]);
        out.extend(norm);
        out.push(self.gemm(1.0, tokens, 4.0 * h, h, "tn"));
        out.extend(self.activation("GeluCUDAKernelImpl(at::TensorIteratorBase &, at::native::GeluType)::[lambda() (instance 2)]::operator ()() const::[lambda() (instance 4)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)]", 8.0 * act));
        out.extend([self.gemm(1.0, tokens, h, 4.0 * h, "tn"), add]);
        out
    }

    fn layer_backward(&mut self) -> Vec<KernelId> {
        let h = f64::from(self.cfg.hidden);
        let act = self.cfg.tokens() * h * self.cfg.dtype.bytes();
        let add = self.elementwise("CUDAFunctor_add<c10::BFloat16>", 3.0 * act);
        let norm = self.norm_backward(act);
        let mut out = self.linear_backward(4.0 * h, h);
        out.extend(self.activation("GeluBackwardCUDAKernelImpl(at::TensorIteratorBase &, at::native::GeluType)::[lambda() (instance 2)]::operator ()() const::[lambda() (instance 4)]::operator ()() const::[lambda(c10::BFloat16, c10::BFloat16) (instance 1)]", 12.0 * act));
        out.extend(self.linear_backward(h, 4.0 * h));
        out.extend(&norm);
        out.push(add);
        out.extend(self.linear_backward(h, h));
        out.extend(self.attention(true));
        out.extend(self.linear_backward(h, 3.0 * h));
        out.extend(&norm);
        out.push(add);
        out
    }

    fn head(&mut self) -> (Vec<KernelId>, Vec<KernelId>) {
        let (tokens, h, vocab) = (self.cfg.tokens(), f64::from(self.cfg.hidden), f64::from(self.cfg.vocab));
        let act = tokens * h * self.cfg.dtype.bytes();
        let logits = tokens * vocab * self.cfg.dtype.bytes();
        let forward = vec![
            self.stream("vectorized_layer_norm_kernel", "void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, T2, const T1 *, const T1 *, const T1 *, T2 *, T2 *, T1 *)", 2.0 * act),
            self.gemm(1.0, tokens, vocab, h, "tn"),
            self.stream("cunn_SoftMaxForward", "void at::native::<unnamed>::cunn_SoftMaxForward<(int)8, c10::BFloat16, float, float, at::native::<unnamed>::LogSoftMaxForwardEpilogue>(T4 *, const T2 *, int)", 3.0 * logits),
            self.stream("nll_loss_forward_reduce_cuda_kernel_2d", "void at::native::<unnamed>::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(T1 *, T1 *, const T1 *, const T3 *, const T1 *, bool, long, long, long, long)", tokens * 8.0),
        ];
        let mut backward = vec![
            self.stream("nll_loss_backward_reduce_cuda_kernel_2d", "void at::native::<unnamed>::nll_loss_backward_reduce_cuda_kernel_2d<float, long>(T1 *, const T1 *, const T2 *, const T1 *, const T1 *, bool, int, int, long, long)", tokens * 8.0),
            self.stream("cunn_SoftMaxBackward", "void at::native::<unnamed>::cunn_SoftMaxBackward<(int)8, c10::BFloat16, float, float, at::native::<unnamed>::LogSoftMaxBackwardEpilogue>(T2 *, const T4 *, const T4 *, int)", 5.0 * logits),
            self.gemm(1.0, tokens, h, vocab, "nn"),
            self.gemm(1.0, h, vocab, tokens, "nt"),
        ];
        backward.extend(self.norm_backward(act));
        (forward, backward)
    }
}

/// The all-reduce and point-to-point kernels of the NCCL that goes with a version of nsys.
fn nccl_names(cfg: &JobConfig) -> [(String, String); 2] {
    let old = cfg.schema == SchemaVersion::V2022_4;
    let names = if old {
        ["ncclKernel_AllReduce_RING_LL_Sum_float", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"]
    } else {
        ["ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_SendRecv"]
    };
    let arguments =
        if old { "ncclDevComm *, unsigned long, ncclWork *" } else { "ncclDevKernelArgsStorage<(unsigned long)4096>" };
    names.map(|name| (name.to_owned(), format!("{name}({arguments})")))
}

impl Catalog {
    /// The kernels of `cfg`.
    pub(super) fn of(cfg: &JobConfig) -> Self {
        let mut b = Builder { cfg, gpu: cfg.gpu.spec(), kernels: Vec::new() };
        let act = cfg.tokens() * f64::from(cfg.hidden) * cfg.dtype.bytes();
        let index = "void at::native::<unnamed>::vectorized_gather_kernel<(int)16, long>(char *, char *, T2 *, int, long, long, long, bool)";
        let embedding = vec![
            b.stream("vectorized_gather_kernel", index, 2.0 * act),
            b.elementwise("CUDAFunctor_add<float>", 3.0 * act),
        ];
        let embedding_backward = vec![b.stream("compute_grad_weight", "void at::native::<unnamed>::compute_grad_weight<c10::BFloat16, long>(const T2 *, const T1 *, const T2 *, long, long, const T2 *, const T2 *, long)", 3.0 * act)];
        let (layer_forward, layer_backward) = (b.layer_forward(), b.layer_backward());
        let (head_forward, head_backward) = b.head();
        // The optimizer reads weight, gradient and two moments, and writes three of them, in fp32, split over launches.
        let chunk = cfg.parameters(0) * 28.0 / f64::from(OPTIMIZER_LAUNCHES);
        let apply = |functor: &str| {
            format!(
                "void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::{functor}>(T1, T2, T3...)"
            )
        };
        let optimizer = b.stream("multi_tensor_apply_kernel", &apply("FusedOptimizerTensorListMetadata<(int)4>, at::native::<unnamed>::FusedAdamMathFunctor<float, (int)4, (at::native::<unnamed>::ADAM_MODE)1, (bool)0>, const float *, double, double, double, double, double, bool, const float *, const float *"), chunk);
        let clip = b.stream("multi_tensor_apply_kernel", &apply("TensorListMetadata<(int)1>, at::native::<unnamed>::LpNormFunctor<float, (at::native::NormType)1, float, (int)1, (int)1, (int)0>, float *, int"), cfg.parameters(0) * 4.0);
        let optimizer_small = b.elementwise("addcdiv_cuda_scalar_kernel_impl<float>(at::TensorIteratorBase &, T1)::[lambda(float, float, float) (instance 1)]", cfg.parameters(0) * 28.0 / f64::from(cfg.optimizer_kernels.max(1)));
        let tiny = b.elementwise("CUDAFunctorOnSelf_add<c10::BFloat16>", 65_536.0);
        let [all_reduce, send_recv] = nccl_names(cfg).map(|(short, demangled)| {
            b.add(Kernel {
                short,
                demangled,
                duration_ns: 0.0,
                work: Work::Memory,
                grid: [24, 1, 1],
                block: [512, 1, 1],
                registers: 96,
                shared_bytes: 82_240,
                extended_launch: true,
            })
        });
        Self {
            kernels: b.kernels,
            embedding,
            layer_forward,
            layer_backward,
            head_forward,
            head_backward,
            embedding_backward,
            clip,
            optimizer,
            optimizer_small,
            tiny,
            all_reduce,
            send_recv,
        }
    }
}

/// Launches of the fused optimizer per step.
pub(super) const OPTIMIZER_LAUNCHES: u32 = 6;

impl JobConfig {
    /// Parameters of one layer.
    pub(super) fn layer_parameters(&self) -> f64 {
        let h = f64::from(self.hidden);
        12.0 * h * h + 13.0 * h
    }

    /// Layers of pipeline stage `stage`; the first stages take what does not divide.
    pub(super) const fn stage_layers(&self, stage: u32) -> u32 {
        self.layers / self.pp + if stage < self.layers % self.pp { 1 } else { 0 }
    }

    /// Parameters of stage `stage`; the head shares the embedding's when both are on one stage.
    pub(super) fn parameters(&self, stage: u32) -> f64 {
        let ends = stage == 0 || stage + 1 == self.pp;
        f64::from(self.stage_layers(stage)) * self.layer_parameters()
            + if ends { self.embedding_parameters() } else { 0.0 }
    }

    /// Parameters of the embedding table.
    pub(super) fn embedding_parameters(&self) -> f64 {
        f64::from(self.vocab) * f64::from(self.hidden)
    }

    /// True when step `index` (counted from 0) runs as a graph: the first one runs eagerly and is captured.
    pub(super) fn is_graph_step(&self, index: u32) -> bool {
        self.cuda_graphs != CudaGraphs::Off && index > 0
    }
}
