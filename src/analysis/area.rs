//! What time goes to, and what a finding is about: the words, the same on screen, in text and in reports.

use serde::{Deserialize, Serialize};

/// What time of a step goes to, or what a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Kernels compute, overlapped communication included. Not a loss.
    Compute,
    /// Communication that no compute hides.
    Communication,
    /// Waiting for other pipeline stages.
    Bubble,
    /// Waiting for the next batch.
    Data,
    /// Waiting for the host: launches, synchronisation, Python, allocations.
    Host,
    /// Copies that no kernel hides.
    Copy,
    /// Idle time whose reason the capture does not tell.
    Unattributed,
    /// The capture itself. Takes no time of a step.
    Capture,
    /// Model FLOPs utilisation. Takes no time of a step.
    Mfu,
}

impl Area {
    /// What the time of a step is split into; they sum to the step.
    pub const OF_TIME: [Self; 7] =
        [Self::Compute, Self::Communication, Self::Bubble, Self::Data, Self::Host, Self::Copy, Self::Unattributed];

    /// What of that is lost.
    pub const LOSSES: [Self; 6] =
        [Self::Communication, Self::Bubble, Self::Data, Self::Host, Self::Copy, Self::Unattributed];

    /// Stable word for programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Bubble => "bubble",
            Self::Data => "data",
            Self::Host => "host",
            Self::Copy => "copy",
            Self::Unattributed => "unattributed",
            Self::Capture => "capture",
            Self::Mfu => "mfu",
        }
    }

    /// Text for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "exposed communication",
            Self::Bubble => "pipeline bubble",
            Self::Data => "waiting for data",
            Self::Host => "waiting for the host",
            Self::Copy => "copies",
            Self::Unattributed => "unattributed waiting",
            Self::Capture => "capture",
            Self::Mfu => "MFU",
        }
    }

    /// The verdict in words when this is the largest loss; for [`Self::Compute`] when there is none.
    pub const fn verdict(self) -> &'static str {
        match self {
            Self::Compute => "Compute bound",
            Self::Communication => "Communication bound",
            Self::Bubble => "Pipeline bubble",
            Self::Data => "Data bound",
            Self::Host => "Host bound",
            Self::Copy => "Copy bound",
            Self::Unattributed => "Waiting, reason unknown",
            Self::Capture | Self::Mfu => "",
        }
    }

    /// What belongs to it, in one sentence.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Compute => {
                "Compute kernels were running, alone or with communication beside them. Fused kernels and CUDA graphs \
                 recorded as one block count here."
            }
            Self::Communication => "A communication kernel was running and no compute kernel of that device.",
            Self::Bubble => {
                "A kernel that exchanges with another pipeline stage was running and no compute kernel, or the device \
                 was idle right before or after one."
            }
            Self::Data => "The device was idle while the training loop loaded its batch or between two steps.",
            Self::Host => {
                "The device was idle and the host was late: it synchronised, launched, ran Python or C++, allocated, \
                 loaded GPU code or sat in a system call."
            }
            Self::Copy => "A copy or fill was running and no kernel.",
            Self::Unattributed => {
                "The device was idle although work was queued (it waited for an event, its stream's order or another \
                 device), or the launch of what came next is not in the capture."
            }
            Self::Capture => "How the capture was made limits or distorts what it says.",
            Self::Mfu => "The share of the hardware's arithmetic peak that the model's own FLOPs reach.",
        }
    }
}
