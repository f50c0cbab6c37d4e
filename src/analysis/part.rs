//! The five parts of a window: names and definitions, the same on screen, in text and in reports.

use super::Partition;
use crate::units::share;

/// One of the five parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Compute without communication.
    Compute,
    /// Compute and communication at once.
    Overlapped,
    /// Communication without compute.
    Exposed,
    /// Copies without kernels.
    Copy,
    /// Nothing ran.
    Idle,
}

impl Part {
    /// All parts in the order of bars and tables.
    pub const ALL: [Self; 5] = [Self::Compute, Self::Overlapped, Self::Exposed, Self::Copy, Self::Idle];

    /// Stable word for programs: its name in [`Partition`].
    pub const fn key(self) -> &'static str {
        match self {
            Self::Compute => "compute_only_ns",
            Self::Overlapped => "overlapped_comm_ns",
            Self::Exposed => "exposed_comm_ns",
            Self::Copy => "copy_only_ns",
            Self::Idle => "idle_ns",
        }
    }

    /// Name in tables.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Compute => "Compute only",
            Self::Overlapped => "Overlapped comm.",
            Self::Exposed => "Exposed comm.",
            Self::Copy => "Copy only",
            Self::Idle => "Idle",
        }
    }

    /// Name in narrow column heads.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Compute => "Comp.",
            Self::Overlapped => "Overl.",
            Self::Exposed => "Exp.",
            Self::Copy => "Copy",
            Self::Idle => "Idle",
        }
    }

    /// What it means.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Compute => {
                "Compute only: a compute kernel of the device was running and no communication kernel. Fused kernels \
                 and CUDA graphs recorded as one block count as compute."
            }
            Self::Overlapped => {
                "Overlapped communication: a communication kernel and a compute kernel of the device were running at \
                 once."
            }
            Self::Exposed => {
                "Exposed communication: a communication kernel was running and no compute kernel of that device. Copies \
                 that ran meanwhile do not change this."
            }
            Self::Copy => "Copy only: a copy or fill was running and no kernel.",
            Self::Idle => "Idle: nothing was running on the device.",
        }
    }

    /// Nanoseconds of this part.
    pub const fn of(self, parts: &Partition) -> i64 {
        match self {
            Self::Compute => parts.compute_only_ns,
            Self::Overlapped => parts.overlapped_comm_ns,
            Self::Exposed => parts.exposed_comm_ns,
            Self::Copy => parts.copy_only_ns,
            Self::Idle => parts.idle_ns,
        }
    }

    /// Share of the window, 0 to 1; `None` when the window has no length.
    pub fn share(self, parts: &Partition) -> Option<f64> {
        share(self.of(parts), parts.span_ns)
    }
}
