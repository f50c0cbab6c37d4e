//! What each host thread of a rank does in one step.
//!
//! The main thread runs forward and optimizer; backward runs on the autograd thread while the main thread waits, as in
//! PyTorch. Gradient buckets are reduced on a stream of their own as soon as backward has produced them.

use super::config::JobConfig;
use super::kernels::{Catalog, KernelId, OPTIMIZER_LAUNCHES};
use super::program::{Communicators, Direction, HostOp, Label, Role, StepProgram};

/// Writes the programs of one rank.
#[derive(Debug)]
pub(super) struct Programmer<'a> {
    cfg: &'a JobConfig,
    catalog: &'a Catalog,
    rank: u32,
    stage: u32,
    comms: Communicators,
    next_event: u32,
    graph_step: bool,
    out: StepProgram,
}

impl<'a> Programmer<'a> {
    pub(super) fn new(cfg: &'a JobConfig, catalog: &'a Catalog, rank: u32, comms: Communicators) -> Self {
        let stage = rank / cfg.dp();
        Self { cfg, catalog, rank, stage, comms, next_event: 1, graph_step: false, out: StepProgram::default() }
    }

    /// Makes the communicators of the rank before its first step.
    fn make_communicators(&mut self) {
        let (dp, device) = (self.cfg.dp(), self.rank % self.cfg.gpus_per_node);
        // In a pair the earlier stage has number 0.
        let all = [(self.comms.data, dp, self.rank % dp), (self.comms.previous, 2, 1), (self.comms.next, 2, 0)];
        for (comm, ranks, rank) in all {
            let Some(comm) = comm else { continue };
            self.out.main.extend([HostOp::Push(Label::CommInit { comm, ranks, rank, device }), HostOp::Pop]);
        }
    }

    /// The programs of step `index`, counted from 0.
    pub(super) fn step(&mut self, index: u32) -> StepProgram {
        self.graph_step = self.cfg.is_graph_step(index);
        let number = self.cfg.first_step + index;
        if index == 0 && self.cfg.nvtx_nccl {
            self.make_communicators();
        }
        if self.cfg.loader_nvtx {
            self.out.main.extend([
                HostOp::StepBegin(number),
                HostOp::Push(Label::Step(number)),
                HostOp::Push(Label::DataLoader),
            ]);
            self.out.main.extend([HostOp::Fetch, HostOp::Pop]);
        } else {
            self.out.main.extend([HostOp::Fetch, HostOp::StepBegin(number), HostOp::Push(Label::Step(number))]);
        }
        self.copy_batch();
        if index == 0 {
            self.out.main.push(HostOp::Cpu((self.cfg.warmup_ms * 1e6) as i64));
        }
        if self.cfg.gc_steps.iter().any(|step| step.saturating_add(self.rank) == index) {
            self.out.main.push(HostOp::Collect((self.cfg.gc_ms * 1e6) as i64));
        }
        if self.cfg.pp > 1 {
            self.pipeline();
        } else {
            for micro in 0..self.cfg.micro_batches {
                self.forward(micro);
                self.backward(micro);
            }
        }
        self.optimizer();
        self.end_of_step(index);
        self.out.main.extend([HostOp::Pop, HostOp::StepEnd]);
        std::mem::take(&mut self.out)
    }

    /// Kernels of forward and backward, as one graph holds them.
    pub(super) fn graph_kernels(&self) -> Vec<KernelId> {
        let c = self.catalog;
        let layers = self.cfg.layers as usize;
        let mut all = c.embedding.clone();
        all.extend(c.layer_forward.repeat(layers));
        all.extend(c.head_forward.iter().chain(&c.head_backward));
        all.extend(c.layer_backward.repeat(layers));
        all.extend(&c.embedding_backward);
        all
    }

    fn copy_batch(&mut self) {
        let bytes = (self.cfg.tokens() * 16.0) as u64 * u64::from(self.cfg.micro_batches);
        let role = if self.cfg.prefetch_stream { Role::Prefetch } else { Role::Compute };
        self.out.main.push(HostOp::Memcpy {
            role,
            direction: Direction::ToDevice,
            bytes,
            pinned: true,
            blocking: false,
        });
        if self.cfg.prefetch_stream {
            let event = self.event();
            self.out.main.extend([HostOp::Record { role, event }, HostOp::WaitEvent { role: Role::Compute, event }]);
        }
    }

    fn event(&mut self) -> u32 {
        self.next_event += 1;
        self.next_event
    }

    fn micro_label(&self, micro: u32) -> Option<u32> {
        (self.cfg.micro_batches > 1).then_some(micro)
    }

    fn is_last_stage(&self) -> bool {
        self.stage + 1 == self.cfg.pp
    }

    fn forward(&mut self, micro: u32) {
        self.out.main.push(HostOp::Push(Label::Forward(self.micro_label(micro))));
        if self.graph_step {
            self.out.main.extend([HostOp::Graph, HostOp::Pop]);
            return;
        }
        if self.stage == 0 {
            self.out.main.extend(self.catalog.embedding.iter().map(|k| HostOp::Kernel(*k)));
        }
        let layers = self.cfg.stage_layers(self.stage);
        let first = (0..self.stage).map(|s| self.cfg.stage_layers(s)).sum::<u32>();
        // Allocations and reads of scalars that belong inside forward are spread over its layers.
        let churn = if micro == 0 { self.cfg.alloc_churn } else { 0 };
        let items = if micro == 0 { self.cfg.item_per_step.saturating_sub(1) } else { 0 };
        for layer in 0..layers {
            let share = |total: u32| total * (layer + 1) / layers - total * layer / layers;
            self.push_layer(Label::Layer(first + layer));
            self.out.main.extend(self.catalog.layer_forward.iter().map(|k| HostOp::Kernel(*k)));
            self.out.main.extend((0..self.cfg.tiny_kernels).map(|_| HostOp::Kernel(self.catalog.tiny)));
            self.out.main.extend((0..share(churn)).flat_map(|_| [HostOp::Free, HostOp::Malloc]));
            for _ in 0..share(items) {
                self.item();
            }
            if self.cfg.nvtx_layers {
                self.out.main.push(HostOp::Pop);
            }
        }
        if self.is_last_stage() {
            self.out.main.extend(self.catalog.head_forward.iter().map(|k| HostOp::Kernel(*k)));
        }
        self.out.main.push(HostOp::Pop);
    }

    fn push_layer(&mut self, label: Label) {
        if self.cfg.nvtx_layers {
            self.out.main.push(HostOp::Push(label));
        }
    }

    fn backward(&mut self, micro: u32) {
        let label = Label::Backward(self.micro_label(micro));
        let last = micro + 1 == self.cfg.micro_batches;
        self.out.main.extend([HostOp::Push(label), HostOp::StartBackward, HostOp::JoinBackward, HostOp::Pop]);
        self.out.autograd.push(HostOp::AwaitStart);
        let mut buckets =
            Buckets { limit: self.cfg.bucket_mb * 1e6, pending: 0.0, later: Vec::new(), events: Vec::new() };
        let reduces = last && self.comms.data.is_some();
        if !self.graph_step {
            self.backward_kernels(reduces, &mut buckets);
        } else if reduces {
            buckets.later.extend(self.gradient_sizes());
        }
        if reduces {
            self.finish_reduction(buckets);
        }
        self.out.autograd.push(HostOp::Finished);
    }

    fn backward_kernels(&mut self, reduces: bool, buckets: &mut Buckets) {
        let catalog = self.catalog;
        if self.is_last_stage() {
            self.out.autograd.extend(catalog.head_backward.iter().map(|k| HostOp::Kernel(*k)));
            if self.stage > 0 && reduces {
                self.reduce(buckets, self.cfg.embedding_parameters() * 4.0);
            }
        }
        let layers = self.cfg.stage_layers(self.stage);
        let first = (0..self.stage).map(|s| self.cfg.stage_layers(s)).sum::<u32>();
        for layer in (0..layers).rev() {
            if self.cfg.nvtx_layers {
                self.out.autograd.push(HostOp::Push(Label::LayerBackward(first + layer)));
            }
            self.out.autograd.extend(catalog.layer_backward.iter().map(|k| HostOp::Kernel(*k)));
            self.out.autograd.extend((0..self.cfg.tiny_kernels).map(|_| HostOp::Kernel(catalog.tiny)));
            if self.cfg.nvtx_layers {
                self.out.autograd.push(HostOp::Pop);
            }
            if reduces {
                self.reduce(buckets, self.cfg.layer_parameters() * 4.0);
            }
        }
        if self.stage == 0 {
            self.out.autograd.extend(catalog.embedding_backward.iter().map(|k| HostOp::Kernel(*k)));
            if reduces {
                self.reduce(buckets, self.cfg.embedding_parameters() * 4.0);
            }
        }
    }

    /// Gradient bytes in the order backward produces them.
    fn gradient_sizes(&self) -> Vec<f64> {
        let layers = self.cfg.stage_layers(self.stage) as usize;
        let mut sizes = vec![self.cfg.layer_parameters() * 4.0; layers];
        sizes.push(self.cfg.embedding_parameters() * 4.0);
        sizes
    }

    /// A gradient is there: its bucket is reduced at once when full, or after backward without overlap.
    fn reduce(&mut self, buckets: &mut Buckets, bytes: f64) {
        buckets.pending += bytes;
        if buckets.pending < buckets.limit {
            return;
        }
        let bytes = std::mem::take(&mut buckets.pending);
        if self.cfg.overlap_comm {
            self.launch_reduction(buckets, bytes);
        } else {
            buckets.later.push(bytes);
        }
    }

    fn launch_reduction(&mut self, buckets: &mut Buckets, bytes: f64) {
        let Some(comm) = self.comms.data else { return };
        let (ready, done) = (self.event(), self.event());
        let nccl = self.cfg.nvtx_nccl;
        let out = &mut self.out.autograd;
        out.push(HostOp::Query);
        out.extend([
            HostOp::Record { role: Role::Compute, event: ready },
            HostOp::WaitEvent { role: Role::Reduce, event: ready },
        ]);
        if nccl {
            out.extend([
                HostOp::Push(Label::AllReduce { comm, bytes: bytes as u64 }),
                HostOp::Pop,
                HostOp::Push(Label::GroupEnd),
            ]);
        }
        out.push(HostOp::Collective { role: Role::Reduce, comm, bytes: bytes as u64 });
        if nccl {
            out.push(HostOp::Pop);
        }
        out.push(HostOp::Record { role: Role::Reduce, event: done });
        buckets.events.push(done);
    }

    /// Reduces what is left and makes the compute stream wait for every bucket.
    fn finish_reduction(&mut self, mut buckets: Buckets) {
        for bytes in std::mem::take(&mut buckets.later) {
            self.launch_reduction(&mut buckets, bytes);
        }
        let rest = std::mem::take(&mut buckets.pending);
        if rest > 0.0 {
            self.launch_reduction(&mut buckets, rest);
        }
        self.out
            .autograd
            .extend(buckets.events.iter().map(|event| HostOp::WaitEvent { role: Role::Compute, event: *event }));
    }

    /// One forward, one backward: the schedule of Megatron-LM without interleaving.
    fn pipeline(&mut self) {
        let (stage, of, micros) = (self.stage, self.cfg.pp, self.cfg.micro_batches);
        let warm_up = (of - stage - 1).min(micros);
        self.out.main.push(HostOp::Push(Label::Pipeline { stage, of }));
        for micro in 0..warm_up {
            self.exchange(Role::Previous, Transfer::Recv);
            self.forward(micro);
            self.exchange(Role::Next, Transfer::Send);
        }
        if warm_up < micros {
            self.exchange(Role::Previous, Transfer::Recv);
        }
        for micro in warm_up..micros {
            self.forward(micro);
            self.exchange(Role::Next, Transfer::Both);
            self.backward(micro - warm_up);
            let both = if micro + 1 < micros { Transfer::Both } else { Transfer::Send };
            self.exchange(Role::Previous, both);
        }
        for micro in micros - warm_up..micros {
            self.exchange(Role::Next, Transfer::Recv);
            self.backward(micro);
            self.exchange(Role::Previous, Transfer::Send);
        }
        self.out.main.push(HostOp::Pop);
    }

    /// Sends to or receives from a neighbour, or both in one kernel; the compute stream waits for it.
    fn exchange(&mut self, role: Role, transfer: Transfer) {
        let Some(comm) = (if role == Role::Previous { self.comms.previous } else { self.comms.next }) else { return };
        let bytes = (self.cfg.tokens() * f64::from(self.cfg.hidden) * self.cfg.dtype.bytes()) as u64;
        let (ready, done) = (self.event(), self.event());
        let out = &mut self.out.main;
        out.extend([HostOp::Record { role: Role::Compute, event: ready }, HostOp::WaitEvent { role, event: ready }]);
        if self.cfg.nvtx_nccl {
            // In a pair the earlier stage has number 0.
            let peer = u32::from(role == Role::Next);
            out.extend([HostOp::Push(Label::GroupStart), HostOp::Pop]);
            if transfer != Transfer::Recv {
                out.extend([HostOp::Push(Label::Send { comm, bytes, peer }), HostOp::Pop]);
            }
            if transfer != Transfer::Send {
                out.extend([HostOp::Push(Label::Recv { comm, bytes, peer }), HostOp::Pop]);
            }
            out.push(HostOp::Push(Label::GroupEnd));
        }
        out.push(HostOp::Collective { role, comm, bytes });
        if self.cfg.nvtx_nccl {
            out.push(HostOp::Pop);
        }
        out.extend([HostOp::Record { role, event: done }, HostOp::WaitEvent { role: Role::Compute, event: done }]);
    }

    fn optimizer(&mut self) {
        let catalog = self.catalog;
        let (kernel, launches) = match self.cfg.optimizer_kernels {
            0 => (catalog.optimizer, OPTIMIZER_LAUNCHES),
            many => (catalog.optimizer_small, many),
        };
        self.out.main.extend([
            HostOp::Push(Label::Optimizer),
            HostOp::Memset { bytes: 4096 },
            HostOp::Kernel(catalog.clip),
        ]);
        self.out.main.extend((0..launches).map(|_| HostOp::Kernel(kernel)));
        self.out.main.push(HostOp::Pop);
    }

    fn end_of_step(&mut self, index: u32) {
        if self.cfg.offload_mb > 0.0 {
            let bytes = (self.cfg.offload_mb * 1e6) as u64;
            for direction in [Direction::ToHost, Direction::ToDevice] {
                self.out.main.push(HostOp::Memcpy {
                    role: Role::Compute,
                    direction,
                    bytes,
                    pinned: true,
                    blocking: false,
                });
            }
        }
        if self.cfg.extra_collectives.contains(&self.rank) && index + 1 == self.cfg.steps {
            self.out.main.push(HostOp::Collective { role: Role::Reduce, comm: self.comms.alone, bytes: 4096 });
        }
        if self.cfg.item_per_step > 0 && index.is_multiple_of(self.cfg.item_every) {
            self.item();
        }
        if self.cfg.device_sync {
            let host_ns = (self.cfg.device_sync_host_us * 1e3) as i64;
            self.out.main.extend([HostOp::SyncDevice, HostOp::Cpu(host_ns)]);
        }
    }

    /// Reads a scalar: a copy of four bytes and a wait for it.
    fn item(&mut self) {
        let blocking = self.cfg.item_blocks_in_copy;
        self.out.main.push(HostOp::Memcpy {
            role: Role::Compute,
            direction: Direction::ToHost,
            bytes: 4,
            pinned: !blocking,
            blocking,
        });
        self.out.main.extend([HostOp::SyncStream(Role::Compute), HostOp::Cpu((self.cfg.item_host_us * 1e3) as i64)]);
    }
}

/// What goes over the wire between two stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transfer {
    Send,
    Recv,
    Both,
}

/// Gradient buckets while one backward pass is written.
struct Buckets {
    limit: f64,
    pending: f64,
    /// Buckets that wait for the end of backward.
    later: Vec<f64>,
    /// Ends of the reductions launched.
    events: Vec<u32>,
}
