//! What a slice is painted as: one small number per class. No toolkit types, so that level of detail can sum by it.

use crate::analysis::{Class, Family};
use crate::trace::Trace;

/// Meaning of a slice's colour, as an index: compute families in the order of [`Family::ALL`], then the others below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ink(pub u8);

impl Ink {
    const FAMILIES: u8 = Family::ALL.len() as u8;
    /// Communication and compute in one kernel.
    pub const FUSED: Self = Self(Self::FAMILIES);
    /// CUDA graph recorded as one block.
    pub const GRAPH: Self = Self(Self::FAMILIES + 1);
    /// Communication kernel.
    pub const COMMUNICATION: Self = Self(Self::FAMILIES + 2);
    /// Copy or fill.
    pub const COPY: Self = Self(Self::FAMILIES + 3);
    /// Host call.
    pub const HOST: Self = Self(Self::FAMILIES + 4);
    /// Synchronising host call.
    pub const SYNC: Self = Self(Self::FAMILIES + 5);
    /// OS runtime call.
    pub const OS: Self = Self(Self::FAMILIES + 6);
    /// NVTX range.
    pub const NVTX: Self = Self(Self::FAMILIES + 7);
    /// Idle time.
    pub const IDLE: Self = Self(Self::FAMILIES + 8);
    /// Exposed communication.
    pub const EXPOSED: Self = Self(Self::FAMILIES + 9);

    /// Number of inks.
    pub const COUNT: usize = Self::EXPOSED.0 as usize + 1;

    /// Ink of a compute family.
    pub const fn family(family: Family) -> Self {
        Self(family as u8)
    }

    /// Ink of a GPU operation.
    pub const fn of(class: Class) -> Self {
        match class {
            Class::Compute(family) => Self::family(family),
            Class::Communication(_) => Self::COMMUNICATION,
            Class::Fused(_) => Self::FUSED,
            Class::Copy => Self::COPY,
            Class::Graph => Self::GRAPH,
        }
    }

    /// The family, when it is one's ink.
    pub fn as_family(self) -> Option<Family> {
        Family::ALL.get(self.0 as usize).copied()
    }
}

/// Inks of all API call names of `trace`, indexed by [`crate::trace::NameId`]. Costs a byte a name.
pub fn call_inks(trace: &Trace) -> Vec<u8> {
    trace.names.iter().map(|(_, name)| if is_sync(name) { Ink::SYNC.0 } else { Ink::HOST.0 }).collect()
}

/// True for CUDA calls that wait for the GPU.
fn is_sync(name: &str) -> bool {
    name.starts_with("cu") && name.contains("Synchronize")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_keep_their_place() {
        for family in Family::ALL {
            assert_eq!(Ink::family(family).as_family(), Some(family));
        }
        assert_eq!(Ink::FUSED.as_family(), None);
    }

    #[test]
    fn calls_that_wait_are_told_by_name() {
        assert!(is_sync("cudaStreamSynchronize_v3020") && is_sync("cuCtxSynchronize"));
        assert!(!is_sync("cudaLaunchKernel_v7000") && !is_sync("Synchronize all") && !is_sync("cudaStreamWaitEvent"));
    }
}
