//! Training steps: which ranges mark them, and which window of GPU time each one owns.

use super::Partition;
use crate::units::Span;
use serde::Serialize;

/// How steps are found.
#[derive(Debug, Clone, Default)]
pub struct StepOptions {
    /// Ranges whose name matches are steps; `None` finds the family by name.
    pub pattern: Option<regex::Regex>,
}

/// Why a step is not counted as typical.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEdge {
    /// First step, much longer than the median.
    WarmUp,
    /// The capture starts or ends inside it.
    Cut,
    /// More than 1.5 times the median.
    Outlier,
}

/// One step of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Name of its range.
    pub name: String,
    /// Its counter; `None` for ranges without one.
    pub number: Option<i64>,
    /// The range itself.
    pub range: Span,
    /// The GPU time the step owns.
    pub window: Span,
    /// Operations of the primary stream launched during the range.
    pub gpu_ops: u64,
    /// The window's five parts.
    pub parts: Partition,
    /// True when it counts for the typical step.
    pub typical: bool,
    /// Why not, when there is a reason besides its length.
    pub edge: Option<StepEdge>,
}

/// Means over the typical steps.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct TypicalStep {
    /// Steps counted.
    pub count: u64,
    /// Median of their windows.
    pub median_span_ns: i64,
    /// Mean window.
    pub span_ns: f64,
    /// Mean of each part; they sum to `span_ns`.
    pub compute_only_ns: f64,
    /// See [`Partition`].
    pub overlapped_comm_ns: f64,
    /// See [`Partition`].
    pub exposed_comm_ns: f64,
    /// See [`Partition`].
    pub copy_only_ns: f64,
    /// See [`Partition`].
    pub idle_ns: f64,
}

/// The steps of a rank.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steps {
    /// Common part of the names.
    pub stem: String,
    /// Thread that holds the ranges, as an index into the trace's threads.
    pub thread: usize,
    /// The steps in order of time.
    pub steps: Vec<Step>,
    /// Means over the typical ones; `None` when there is no step.
    pub typical: Option<TypicalStep>,
}
