//! The verdict and the findings of one rank, as JSON keys and text.

use crate::analysis::RankAnalysis;
use crate::trace::{Rank, Trace};
use serde::Serialize;

/// The verdict and the findings of one rank; its fields stand among the rank's own.
#[derive(Debug, Serialize)]
pub struct VerdictReport {}

impl VerdictReport {
    /// The section of a rank.
    pub(super) fn of(_trace: &Trace, _rank: &Rank, _numbers: &RankAnalysis) -> Self {
        Self {}
    }

    /// What the step is bound by, as a stable word; `None` when nothing ran.
    pub(super) const fn class(&self) -> Option<&'static str> {
        None
    }

    /// What to do next; `None` when nothing ran.
    pub(super) const fn next_action(&self) -> Option<&'static str> {
        None
    }

    /// The section as text, indented under its rank; empty when there is nothing to say.
    pub(super) fn text(&self) -> String {
        String::new()
    }
}
