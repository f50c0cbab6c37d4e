//! The language between the schedule of a step and the engine: what a host thread can do, one operation at a time.

use super::kernels::KernelId;

/// A stream of a rank, by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Compute,
    Prefetch,
    Reduce,
    /// To and from the stage before.
    Previous,
    /// To and from the stage after.
    Next,
}

impl Role {
    pub(super) const ALL: [Self; 5] = [Self::Compute, Self::Prefetch, Self::Reduce, Self::Previous, Self::Next];
}

/// Name of an NVTX range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Label {
    Step(u32),
    DataLoader,
    Pipeline { stage: u32, of: u32 },
    Forward(Option<u32>),
    Backward(Option<u32>),
    Layer(u32),
    LayerBackward(u32),
    Optimizer,
    GroupStart,
    GroupEnd,
    AllReduce { comm: u32, bytes: u64 },
    Send { comm: u32, bytes: u64, peer: u32 },
    Recv { comm: u32, bytes: u64, peer: u32 },
    CommInit { comm: u32, ranks: u32, rank: u32, device: u32 },
}

/// Direction of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

/// One thing a host thread does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HostOp {
    /// Python or C++ without any CUDA call.
    Cpu(i64),
    /// A pause of Python's garbage collector.
    Collect(i64),
    /// A call that does nothing to the GPU.
    Query,
    Kernel(KernelId),
    /// A kernel that meets its counterparts on other ranks.
    Collective {
        role: Role,
        comm: u32,
        bytes: u64,
    },
    Graph,
    Memcpy {
        role: Role,
        direction: Direction,
        bytes: u64,
        pinned: bool,
        blocking: bool,
    },
    Memset {
        bytes: u64,
    },
    Record {
        role: Role,
        event: u32,
    },
    WaitEvent {
        role: Role,
        event: u32,
    },
    SyncStream(Role),
    SyncDevice,
    Malloc,
    Free,
    Push(Label),
    Pop,
    StepBegin(u32),
    StepEnd,
    /// Takes the next batch from the loader, waiting until it is there.
    Fetch,
    /// Starts the autograd thread on its next pass.
    StartBackward,
    /// Waits until the autograd thread is through.
    JoinBackward,
    /// Start of a pass on the autograd thread.
    AwaitStart,
    /// End of a pass on the autograd thread.
    Finished,
}

/// Operations of one step, by thread.
#[derive(Debug, Default)]
pub(super) struct StepProgram {
    pub(super) main: Vec<HostOp>,
    pub(super) autograd: Vec<HostOp>,
}

/// Communicators a rank belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Communicators {
    /// Gradients, over the ranks of one stage.
    pub(super) data: Option<u32>,
    /// With the stage before.
    pub(super) previous: Option<u32>,
    /// With the stage after.
    pub(super) next: Option<u32>,
    /// Of this rank alone, for the planted extra collective.
    pub(super) alone: u32,
}
