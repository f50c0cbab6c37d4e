//! What a capture cannot answer, and the option of `nsys profile` that would.

use super::RankAnalysis;
use crate::record::flags;
use crate::trace::{OpKind, OpNameId, Rank, Trace};
use serde::Serialize;

/// A question that a capture leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// No GPU work at all.
    NoGpuWork,
    /// Kernels were launched, and none was recorded.
    NoKernels,
    /// Kernels without names, at least one in a hundred: communication looks like compute.
    NoKernelNames,
    /// GPU operations whose times make no sense were left out.
    LostOperations,
    /// No API calls: no launches, no steps by launch time.
    NoApiCalls,
    /// No NVTX ranges.
    NoNvtx,
    /// No steps are marked.
    NoSteps,
    /// CUDA graphs are recorded as one block each.
    GraphBlocks,
    /// No OS runtime calls.
    NoOsRuntime,
    /// Only one rank.
    OneRank,
    /// Some operations have no launch.
    MissingLaunches,
    /// No samples of what the CPU ran.
    NoCpuSamples,
    /// Ranges of domains that have no name.
    UnnamedDomains,
}

impl Limit {
    /// What cannot be said.
    pub const fn consequence(self) -> &'static str {
        match self {
            Self::NoGpuWork => "No GPU work was recorded: compute, communication, copies and idle time are unknown.",
            Self::NoKernels => {
                "No kernels were recorded although the program, or one of its processes, launched some: compute, communication and idle time are \
                 unknown, and the numbers below count copies only."
            }
            Self::NoKernelNames => {
                "Kernels have no names: communication cannot be told from compute, so both, and what is exposed, are unknown."
            }
            Self::LostOperations => {
                "GPU operations whose times make no sense were left out: time in which they ran looks idle or exposed."
            }
            Self::NoApiCalls => {
                "No CUDA API calls were recorded: launches, steps and the causes of idle time are unknown."
            }
            Self::NoNvtx => "No NVTX ranges were recorded: steps and phases of the training loop are unknown.",
            Self::NoSteps => {
                "No step is marked: steps, if any are shown, are estimated from repeating kernels and decide nothing."
            }
            Self::GraphBlocks => "CUDA graphs were recorded as one block each: the kernels inside are not recorded.",
            Self::NoOsRuntime => "No OS runtime calls were recorded: waiting of host threads has no name.",
            Self::OneRank => {
                "One rank only: how much of a collective was waiting for other ranks is unknown, and with it which rank \
                 is late, whether a card is slow, and whether pipeline stages or experts are uneven."
            }
            Self::MissingLaunches => {
                "Some GPU operations have no launching call (cut off by the capture's window): they belong to no step."
            }
            Self::NoCpuSamples => {
                "No samples of the CPU were recorded: which Python or C++ code ran between two CUDA calls is unknown."
            }
            Self::UnnamedDomains => {
                "Some NVTX ranges belong to domains without a name: which library made them is unknown."
            }
        }
    }

    /// What to record next time; options of nsys as [`flags`] spells them.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::NoGpuWork | Self::NoKernels | Self::NoApiCalls => flags::BASE,
            Self::NoKernelNames | Self::LostOperations => {
                "export the capture again: nsys export --type sqlite --force-overwrite true"
            }
            Self::NoNvtx => flags::BASE_AND_RANGES,
            Self::NoSteps => "mark each step: torch.cuda.nvtx.range_push(f\"step {n}\") ... range_pop()",
            Self::GraphBlocks => flags::WITH_GRAPH_NODES,
            Self::NoOsRuntime => flags::WITH_OS,
            Self::OneRank => "record every rank (one report each) and open them together",
            Self::MissingLaunches => flags::BETWEEN_STEPS,
            Self::NoCpuSamples => flags::WITH_SAMPLES,
            Self::UnnamedDomains => "start the capture with the program, so that domains are named inside it",
        }
    }

    /// The gravest of what makes numbers of `rank` wrong; `None` when they can be trusted.
    pub(super) fn doubt(trace: &Trace, rank: &Rank) -> Option<Self> {
        let checks = [
            (Self::NoKernels, lacks_kernels(trace, rank)),
            (Self::NoKernelNames, lacks_names(trace, rank)),
            (Self::LostOperations, lost_many(trace)),
            (Self::NoApiCalls, trace.api_calls() == 0),
        ];
        checks.into_iter().find(|(_, holds)| *holds).map(|(limit, _)| limit)
    }

    /// True when the parts of the time are not known because of it, and so neither is a verdict.
    pub const fn spoils_parts(self) -> bool {
        matches!(self, Self::NoGpuWork | Self::NoKernels | Self::NoKernelNames | Self::LostOperations)
    }

    /// True when the causes of idle time are not known because of it.
    pub const fn spoils_causes(self) -> bool {
        self.spoils_parts() || matches!(self, Self::NoApiCalls)
    }

    /// Everything that `trace` cannot answer, in the order of importance.
    pub fn of(trace: &Trace, ranks: &[RankAnalysis]) -> Vec<Self> {
        let ops = || trace.ranks.iter().map(|r| &r.ops);
        let has_gpu_work = !trace.ranks.is_empty();
        let has_calls = trace.api_calls() > 0;
        let has_ranges = trace.nvtx_ranges() > 0;
        let no_steps = ranks.iter().all(|r| r.steps.as_ref().is_none_or(|s| s.estimated));
        let blocks = ops().any(|ops| ops.kind.contains(&OpKind::Graph));
        let unlaunched = ops().any(|ops| (0..ops.len()).any(|op| ops.launch_of(op).is_none()));
        let checks = [
            (Self::NoGpuWork, !has_gpu_work),
            (Self::NoKernels, trace.ranks.iter().any(|rank| lacks_kernels(trace, rank))),
            (Self::NoKernelNames, trace.ranks.iter().any(|rank| lacks_names(trace, rank))),
            (Self::LostOperations, lost_many(trace)),
            (Self::NoApiCalls, !has_calls),
            (Self::NoNvtx, !has_ranges),
            (Self::NoSteps, has_gpu_work && has_ranges && no_steps),
            (Self::GraphBlocks, blocks),
            (Self::MissingLaunches, has_calls && unlaunched),
            (Self::OneRank, trace.ranks.len() == 1),
            (Self::NoOsRuntime, trace.threads.iter().all(|t| t.os.is_empty())),
            (Self::NoCpuSamples, has_gpu_work && !trace.source.cpu_samples),
            (Self::UnnamedDomains, !trace.unnamed_domains.is_empty()),
        ];
        checks.into_iter().filter(|(_, holds)| *holds).map(|(limit, _)| limit).collect()
    }
}

/// Share of all GPU operations from which lost ones spoil the numbers.
const LOST_SHARE: f64 = 0.01;

/// Share of the kernels from which nameless ones spoil the numbers.
const NAMELESS_SHARE: f64 = 0.01;

/// True when the process of `rank` did GPU work and ran no kernel on any card, although its calls launched some (or no
/// calls tell whether any did).
fn lacks_kernels(trace: &Trace, rank: &Rank) -> bool {
    let is_work = |kind: &OpKind| matches!(kind, OpKind::Kernel | OpKind::Graph);
    let mut own = trace.ranks.iter().filter(|other| other.process == rank.process);
    if own.any(|rank| rank.ops.kind.iter().any(is_work)) {
        return false;
    }
    trace.processes.get(rank.process).is_none_or(|process| {
        process.api.is_empty() || process.api.name.iter().any(|name| trace.name(*name).contains("Launch"))
    })
}

/// True when many kernels of `rank` have no name.
fn lacks_names(trace: &Trace, rank: &Rank) -> bool {
    let nameless = |name: OpNameId| trace.op_short_name(name).is_empty() && trace.op_full_name(name).is_empty();
    let (mut kernels, mut unnamed) = (0_u64, 0_u64);
    for (name, _) in rank.ops.name.iter().zip(&rank.ops.kind).filter(|(_, kind)| **kind == OpKind::Kernel) {
        kernels += 1;
        unnamed += u64::from(nameless(*name));
    }
    unnamed > 0 && unnamed as f64 >= NAMELESS_SHARE * kernels as f64
}

/// True when so many operations were left out that sums are off.
fn lost_many(trace: &Trace) -> bool {
    let kept: usize = trace.ranks.iter().map(|rank| rank.ops.len()).sum();
    trace.lost_ops as f64 >= LOST_SHARE * (kept as f64 + trace.lost_ops as f64) && trace.lost_ops > 0
}
