//! What a slice is painted as: one small number per class. No toolkit types, so that level of detail can sum by it.

use crate::analysis::{CallKind, Cause, Class, Family};
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
    /// Exposed communication.
    pub const EXPOSED: Self = Self(Self::FAMILIES + 8);
    /// First of the causes of idle time, in the order of [`Cause::ALL`].
    const CAUSES: u8 = Self::FAMILIES + 9;

    /// First of the hues that stand for a name, a stream or a range.
    const FIRST_HUE: u8 = Self::CAUSES + Cause::COUNT as u8;
    /// Number of hues.
    pub const HUES: usize = 12;

    /// Number of inks.
    pub const COUNT: usize = Self::FIRST_HUE as usize + Self::HUES;

    /// The hue of the thing numbered `at`; there are [`Ink::HUES`].
    pub const fn hue(at: usize) -> Self {
        Self(Self::FIRST_HUE + (at % Self::HUES) as u8)
    }

    /// Number of the hue, when it is one.
    pub fn as_hue(self) -> Option<usize> {
        self.0.checked_sub(Self::FIRST_HUE).map(usize::from).filter(|hue| *hue < Self::HUES)
    }

    /// Ink of a compute family.
    pub const fn family(family: Family) -> Self {
        Self(family as u8)
    }

    /// Ink of idle time by its cause.
    pub const fn cause(cause: Cause) -> Self {
        Self(Self::CAUSES + cause as u8)
    }

    /// The cause, when it is one's ink.
    pub fn as_cause(self) -> Option<Cause> {
        Cause::ALL.get(usize::from(self.0.checked_sub(Self::CAUSES)?)).copied()
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
    let ink = |name: &str| if CallKind::of(name) == CallKind::Synchronize { Ink::SYNC } else { Ink::HOST };
    trace.names.iter().map(|(_, name)| ink(name).0).collect()
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
    fn causes_keep_their_place_behind_the_others() {
        for cause in Cause::ALL {
            assert_eq!(Ink::cause(cause).as_cause(), Some(cause));
            assert!((Ink::cause(cause).0 as usize) < Ink::COUNT);
        }
        assert_eq!((Ink::EXPOSED.as_cause(), Ink::family(Family::Gemm).as_cause()), (None, None));
    }
}
