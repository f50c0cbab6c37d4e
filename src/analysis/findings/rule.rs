//! The rules, and how each is treated.

use super::advice;
use crate::analysis::Area;
use serde::{Serialize, Serializer};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Communication that compute does not hide.
    ExposedCommunication,
    /// The same, and hardly any communication runs beside backward.
    GradientsNotOverlapped,
    /// Large messages move slower than the link allows.
    LowBandwidth,
    /// Some steps wait in a collective for long.
    LateRank,
    /// Communication on the stream of the compute kernels.
    CommOnComputeStream,
    /// The host waits right after a collective.
    SyncAfterComm,
    /// Many small collectives.
    TinyCollectives,
    /// One collective at the end holds most of the exposed time.
    LargeTail,
    /// Pipeline bubble.
    PipelineBubble,
    /// Point-to-point kernels, and nobody said what they are for.
    UndeclaredPipeline,
    /// The host launches more slowly than the GPU runs.
    LaunchBound,
    /// Many small kernels.
    SmallKernels,
    /// The host waits for the GPU inside the step.
    Synchronization,
    /// Copies that block the host.
    BlockingCopies,
    /// Waiting for batches in every step.
    DataStall,
    /// Waiting for batches in some steps.
    LateBatches,
    /// Long pauses of host code in some steps.
    HostPause,
    /// Memory is allocated and freed inside the step.
    AllocatorChurn,
    /// GPU code is loaded or compiled inside the step.
    ModuleLoads,
    /// The host thread sits in system calls.
    OsWait,
    /// The queue of launches is full.
    QueueFull,
    /// Nothing stands out.
    Healthy,
    /// Attention in separate kernels.
    AttentionUnfused,
    /// Norms, activations and other elementwise work in separate kernels.
    ElementwiseUnfused,
    /// Matrix products without tensor cores.
    NoTensorCores,
    /// Kernels with too few blocks for the card.
    KernelsTooSmall,
    /// Compute kernels take longer while a collective runs beside them.
    ComputeContention,
    /// The forward pass runs twice.
    Recompute,
    /// Copies that no kernel hides.
    ExposedCopies,
    /// Small kernels per expert.
    SmallExperts,
    /// The GPU waited although work was queued.
    DeviceWait,
    /// A checkpoint or an evaluation inside the capture.
    CheckpointInside,
    /// Some steps take much longer.
    SlowSteps,
    /// The profiler's own time.
    ProfilerOverhead,
    /// The capture ends or begins inside the work.
    Truncated,
    /// The first step is a warm-up.
    WarmUp,
    /// An MFU that cannot be.
    MfuImplausible,
    /// Low MFU on a busy GPU.
    MfuLowBusy,
    /// Low MFU and much idle time.
    MfuLowIdle,
}

impl Rule {
    /// Stable id; two rules that are variants of one share it.
    pub const fn id(self) -> &'static str {
        advice::of(self).id
    }

    /// What it is about.
    pub const fn area(self) -> Area {
        advice::of(self).area
    }

    /// What it says.
    pub const fn title(self) -> &'static str {
        advice::of(self).title
    }

    /// What to do when one rank is open.
    pub const fn advice(self) -> &'static str {
        advice::of(self).advice
    }

    /// What to do when so many ranks are open: several tell what one cannot.
    pub const fn advice_among(self, ranks: usize) -> &'static str {
        let row = advice::of(self);
        match row.among {
            Some(advice) if ranks > 1 => advice,
            _ => row.advice,
        }
    }

    /// True when it only explains: never a warning, whatever its size.
    pub const fn is_note(self) -> bool {
        matches!(
            self,
            Self::QueueFull
                | Self::Healthy
                | Self::WarmUp
                | Self::Truncated
                | Self::CheckpointInside
                | Self::UndeclaredPipeline
                | Self::Recompute
        )
    }

    /// True when its advice can be the next action after a verdict.
    pub const fn is_advice(self) -> bool {
        !matches!(self, Self::QueueFull | Self::UndeclaredPipeline | Self::CheckpointInside)
    }

    /// True when the rule names a loss and not why: a more specific one that explains most of it goes before it.
    pub const fn is_general(self) -> bool {
        matches!(
            self,
            Self::ExposedCommunication
                | Self::GradientsNotOverlapped
                | Self::LargeTail
                | Self::LaunchBound
                | Self::DeviceWait
                | Self::SlowSteps
        )
    }

    /// The rule whose advice stands for an area when no finding does.
    pub const fn default_of(area: Area) -> Self {
        match area {
            Area::Communication => Self::ExposedCommunication,
            Area::Bubble => Self::PipelineBubble,
            Area::Data => Self::DataStall,
            Area::Host => Self::LaunchBound,
            Area::Copy => Self::ExposedCopies,
            Area::Unattributed => Self::DeviceWait,
            Area::Compute | Area::Capture | Area::Mfu => Self::Healthy,
        }
    }
}

/// The stable id.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Rule; 38] = [
        Rule::ExposedCommunication,
        Rule::GradientsNotOverlapped,
        Rule::LowBandwidth,
        Rule::LateRank,
        Rule::CommOnComputeStream,
        Rule::SyncAfterComm,
        Rule::TinyCollectives,
        Rule::LargeTail,
        Rule::PipelineBubble,
        Rule::UndeclaredPipeline,
        Rule::LaunchBound,
        Rule::SmallKernels,
        Rule::Synchronization,
        Rule::BlockingCopies,
        Rule::DataStall,
        Rule::LateBatches,
        Rule::HostPause,
        Rule::AllocatorChurn,
        Rule::ModuleLoads,
        Rule::OsWait,
        Rule::QueueFull,
        Rule::Healthy,
        Rule::AttentionUnfused,
        Rule::ElementwiseUnfused,
        Rule::NoTensorCores,
        Rule::KernelsTooSmall,
        Rule::Recompute,
        Rule::ExposedCopies,
        Rule::SmallExperts,
        Rule::DeviceWait,
        Rule::CheckpointInside,
        Rule::SlowSteps,
        Rule::ProfilerOverhead,
        Rule::Truncated,
        Rule::WarmUp,
        Rule::MfuImplausible,
        Rule::MfuLowBusy,
        Rule::MfuLowIdle,
    ];

    #[test]
    fn every_advice_names_what_it_is_about_before_a_pronoun_stands_for_it() {
        let pronouns = ["them", "it", "its", "these", "those", "they", "their"];
        for rule in ALL {
            let advice = rule.advice();
            let first = advice.split([':', '.', ',']).next().unwrap();
            let words: Vec<String> = first.split_whitespace().map(str::to_lowercase).collect();
            let at = words.iter().position(|word| pronouns.contains(&word.as_str()));
            // Before the pronoun there is room for its noun.
            assert!(at.is_none_or(|at| at >= 5), "{}: {advice}", rule.id());
        }
    }

    #[test]
    fn nobody_with_several_open_ranks_is_told_to_open_several() {
        for rule in ALL {
            assert!(!rule.advice_among(2).contains("open them together"), "{}", rule.id());
            assert_eq!(rule.advice_among(1), rule.advice());
        }
        assert!(Rule::LateRank.advice().contains("Record all ranks and open them together"));
    }
}
