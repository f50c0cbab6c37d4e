//! What can be chosen: launcher, range, questions, framework; each with its word and its title.

use serde::Serialize;

/// Who starts the processes of the job, and where nsys stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Launcher {
    /// One process.
    Single,
    /// torchrun, which starts one nsys for every rank.
    Torchrun,
    /// nsys around torchrun (or another launcher of one node): one report for all ranks of the node.
    TorchrunOutside,
    /// srun, which starts one nsys for every rank.
    Slurm,
    /// mpirun, which starts one nsys for every rank.
    Mpirun,
}

impl Launcher {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Single, Self::Torchrun, Self::TorchrunOutside, Self::Slurm, Self::Mpirun];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Torchrun => "torchrun",
            Self::TorchrunOutside => "torchrun-outside",
            Self::Slurm => "slurm",
            Self::Mpirun => "mpirun",
        }
    }

    /// Its name in the window.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Single => "One process",
            Self::Torchrun => "torchrun, one report per rank",
            Self::TorchrunOutside => "torchrun, one report per node",
            Self::Slurm => "Slurm (srun)",
            Self::Mpirun => "mpirun",
        }
    }

    /// The environment variable that holds a process's rank, where nsys runs once for every rank.
    pub(super) const fn rank_variable(self) -> Option<&'static str> {
        match self {
            Self::Single | Self::TorchrunOutside => None,
            Self::Torchrun => Some("RANK"),
            Self::Slurm => Some("SLURM_PROCID"),
            Self::Mpirun => Some("OMPI_COMM_WORLD_RANK"),
        }
    }
}

/// How the recorded time is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Range {
    /// The training loop starts and stops the profiler.
    Profiler,
    /// Some seconds after a delay.
    Delay,
    /// The whole run.
    Whole,
}

impl Range {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Profiler, Self::Delay, Self::Whole];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Profiler => "profiler",
            Self::Delay => "delay",
            Self::Whole => "whole",
        }
    }

    /// Its name in the window.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Profiler => "Steps, chosen in the code",
            Self::Delay => "Seconds, after a delay",
            Self::Whole => "The whole run",
        }
    }

    /// Steps (or seconds) left out unless told otherwise.
    pub const fn skip(self) -> u32 {
        match self {
            Self::Profiler => 10,
            Self::Delay => 60,
            Self::Whole => 0,
        }
    }

    /// Steps (or seconds) recorded unless told otherwise.
    pub const fn length(self) -> u32 {
        match self {
            Self::Profiler => 5,
            Self::Delay => 20,
            Self::Whole => 0,
        }
    }
}

/// What a recording can answer beyond kernels, steps and API calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Steps and the parts of their time. Always recorded.
    Steps,
    /// Why the GPU waits. Always recorded.
    Idle,
    /// In which system call a host thread waits.
    Os,
    /// Sizes of collectives.
    Nccl,
    /// Kernels inside CUDA graphs.
    Graphs,
    /// Garbage collection.
    Gc,
    /// Device memory over time.
    Memory,
    /// Python stacks.
    Python,
    /// Clocks and counters of the card.
    Metrics,
    /// Calls of cuBLAS and cuDNN.
    Libraries,
}

impl Question {
    /// All of them, those that stepscope itself shows first.
    pub const ALL: [Self; 10] = [
        Self::Steps,
        Self::Idle,
        Self::Os,
        Self::Nccl,
        Self::Graphs,
        Self::Gc,
        Self::Memory,
        Self::Python,
        Self::Metrics,
        Self::Libraries,
    ];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Idle => "idle",
            Self::Os => "os",
            Self::Nccl => "nccl",
            Self::Graphs => "graphs",
            Self::Gc => "gc",
            Self::Memory => "memory",
            Self::Python => "python",
            Self::Metrics => "metrics",
            Self::Libraries => "libraries",
        }
    }

    /// What it answers.
    pub const fn answers(self) -> &'static str {
        match self {
            Self::Steps => "Steps, their parts, exposed communication and MFU",
            Self::Idle => "Why the GPU is idle: data, synchronisation, launches, host code",
            Self::Os => "Which system call a host thread waits in",
            Self::Nccl => "Sizes of collectives, and from them bandwidth",
            Self::Graphs => "Kernels inside CUDA graphs",
            Self::Gc => "Pauses of Python's garbage collector",
            Self::Memory => "Device memory over time (shown by nsys-ui)",
            Self::Python => "Python stacks of CUDA calls and over time (shown by nsys-ui)",
            Self::Metrics => "Clocks, tensor-core and memory activity of the card (shown by nsys-ui)",
            Self::Libraries => "Calls of cuBLAS and cuDNN (shown by nsys-ui)",
        }
    }

    /// True for what every recording answers.
    pub const fn is_always_recorded(self) -> bool {
        matches!(self, Self::Steps | Self::Idle)
    }
}

/// What the training loop is written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framework {
    /// A loop of one's own.
    PyTorch,
    /// Trainer of Hugging Face transformers.
    HuggingFace,
    /// PyTorch Lightning.
    Lightning,
    /// Megatron-LM.
    Megatron,
    /// DeepSpeed engine.
    DeepSpeed,
}

impl Framework {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::PyTorch, Self::HuggingFace, Self::Lightning, Self::Megatron, Self::DeepSpeed];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PyTorch => "pytorch",
            Self::HuggingFace => "hugging-face",
            Self::Lightning => "lightning",
            Self::Megatron => "megatron",
            Self::DeepSpeed => "deepspeed",
        }
    }

    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::PyTorch => "PyTorch",
            Self::HuggingFace => "Hugging Face Trainer",
            Self::Lightning => "Lightning",
            Self::Megatron => "Megatron-LM",
            Self::DeepSpeed => "DeepSpeed",
        }
    }
}
