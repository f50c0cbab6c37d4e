//! What a capture cannot answer, and the option of `nsys profile` that would.

use super::RankAnalysis;
use crate::record::flags;
use crate::trace::{OpKind, Trace};
use serde::Serialize;

/// A question that a capture leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// No GPU work at all.
    NoGpuWork,
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
            Self::NoGpuWork | Self::NoApiCalls => flags::BASE,
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
