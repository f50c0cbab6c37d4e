//! Every threshold of the verdict and the findings, in one place; the user's settings file may override each.

use serde::{Deserialize, Serialize};

/// When something is worth saying.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct Thresholds {
    /// Share of the step from which the largest loss is the verdict.
    pub verdict_share: f64,
    /// Idle gaps of at least this length are listed one by one, in nanoseconds; the shorter ones are summed.
    pub listed_gap_ns: i64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { verdict_share: 0.10, listed_gap_ns: 2_000 }
    }
}
