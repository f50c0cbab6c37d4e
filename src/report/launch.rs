//! Launches of one rank, as JSON keys and text.

use crate::analysis::RankAnalysis;
use crate::trace::{Rank, Trace};
use serde::Serialize;

/// Launches of one rank; its fields stand among the rank's own.
#[derive(Debug, Serialize)]
pub struct LaunchReport {}

impl LaunchReport {
    /// The section of a rank.
    pub(super) fn of(_trace: &Trace, _rank: &Rank, _numbers: &RankAnalysis) -> Self {
        Self {}
    }

    /// The section as text, indented under its rank; empty when there is nothing to say.
    pub(super) fn text(&self) -> String {
        String::new()
    }
}
