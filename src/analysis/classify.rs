//! Kernel name to class, decided once per distinct name by one ordered table.
//!
//! The table itself is in [`super::rules`].

use super::rules::{Rules, builtin};
use crate::trace::{OpKind, OpNameId, Trace};
use serde::{Deserialize, Serialize};

/// What a compute kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Matrix multiplication.
    Gemm,
    /// Attention, fused.
    Attention,
    /// Convolution.
    Convolution,
    /// Layer, batch, group or RMS normalization.
    Normalization,
    /// Softmax and reductions.
    Reduction,
    /// Elementwise arithmetic.
    Elementwise,
    /// Optimizer update.
    Optimizer,
    /// Embedding, gather, scatter, index, sort.
    Embedding,
    /// Kernels that copy, cast, concatenate or transpose.
    CopyTranspose,
    /// None of these.
    Other,
}

impl Family {
    /// All families, in the order of legends and tables.
    pub const ALL: [Self; 10] = [
        Self::Gemm,
        Self::Attention,
        Self::Convolution,
        Self::Normalization,
        Self::Reduction,
        Self::Elementwise,
        Self::Optimizer,
        Self::Embedding,
        Self::CopyTranspose,
        Self::Other,
    ];

    /// Text for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Gemm => "GEMM",
            Self::Attention => "attention",
            Self::Convolution => "convolution",
            Self::Normalization => "normalization",
            Self::Reduction => "softmax/reduction",
            Self::Elementwise => "elementwise",
            Self::Optimizer => "optimizer",
            Self::Embedding => "embedding/index",
            Self::CopyTranspose => "copy/transpose",
            Self::Other => "other",
        }
    }
}

/// What a communication kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Collective {
    /// All-gather.
    AllGather,
    /// All-reduce.
    AllReduce,
    /// All-to-all.
    AllToAll,
    /// Broadcast.
    Broadcast,
    /// Not told by the name.
    Other,
    /// Reduce to one rank.
    Reduce,
    /// Reduce-scatter.
    ReduceScatter,
    /// Point to point.
    SendRecv,
}

impl Collective {
    /// The name as NCCL spells it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::AllGather => "AllGather",
            Self::AllReduce => "AllReduce",
            Self::AllToAll => "AllToAll",
            Self::Broadcast => "Broadcast",
            Self::Other => "Other",
            Self::Reduce => "Reduce",
            Self::ReduceScatter => "ReduceScatter",
            Self::SendRecv => "SendRecv",
        }
    }
}

/// Class of a GPU operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A compute kernel.
    Compute(Family),
    /// A communication kernel.
    Communication(Collective),
    /// Communication and compute in one kernel; counts as compute in the partition.
    Fused(Collective),
    /// A copy or a fill.
    Copy,
    /// A CUDA-graph execution recorded as one block; counts as compute in the partition.
    Graph,
}

impl Class {
    /// True when the operation counts as compute in the partition.
    pub const fn is_compute(self) -> bool {
        matches!(self, Self::Compute(_) | Self::Fused(_) | Self::Graph)
    }

    /// True when the operation counts as communication in the partition.
    pub const fn is_communication(self) -> bool {
        matches!(self, Self::Communication(_))
    }

    /// Text for tables: of compute the family alone.
    pub fn text(self) -> String {
        match self {
            Self::Compute(family) => family.text().to_owned(),
            Self::Communication(kind) => format!("communication, {}", kind.text()),
            Self::Fused(kind) => format!("fused, {}", kind.text()),
            Self::Copy => "copy".to_owned(),
            Self::Graph => "graph".to_owned(),
        }
    }
}

/// The class of every operation name of a trace.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    by_name: Vec<Class>,
}

impl Classes {
    /// Classifies every operation name of `trace`: the user's rules first, then the built-in table.
    pub fn of(trace: &Trace, rules: &Rules) -> Self {
        let class = |name: &crate::trace::OpName| {
            let (short, full) = (trace.name(name.short), trace.name(name.full));
            rules.class(short, full).unwrap_or_else(|| builtin(short, full))
        };
        Self { by_name: trace.op_names.iter().map(class).collect() }
    }

    /// Class of an operation, from its name and kind.
    pub fn class(&self, name: OpNameId, kind: OpKind) -> Class {
        match kind {
            OpKind::Memcpy(_) | OpKind::Memset => Class::Copy,
            OpKind::Graph => Class::Graph,
            OpKind::Kernel => self.by_name.get(name.0 as usize).copied().unwrap_or(Class::Compute(Family::Other)),
        }
    }
}
