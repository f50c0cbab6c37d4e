//! From a trace to numbers: pure functions, no input or output, no text for people, no egui.

mod classify;
mod coverage;
mod intervals;
mod partition;
mod steps;

pub use classify::{Class, Classes, Collective, Family, Rules, RulesError};
pub use coverage::Coverage;
pub use partition::Partition;
pub use steps::{Step, StepEdge, StepOptions, Steps, TypicalStep};

use crate::trace::Trace;
use crate::units::Span;
use std::collections::BTreeMap;

/// What the user may decide about an analysis.
#[derive(Debug, Clone, Default)]
pub struct Params {
    /// Kernel classes.
    pub rules: Rules,
    /// How steps are found.
    pub steps: StepOptions,
}

/// The numbers of one trace.
#[derive(Debug)]
pub struct Analysis {
    /// Class of every operation name.
    pub classes: Classes,
    /// One entry per rank of the trace.
    pub ranks: Vec<RankAnalysis>,
}

/// Sum over the collectives of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct CollectiveSum {
    /// Kernels.
    pub count: u64,
    /// Sum of their durations in nanoseconds (they may overlap each other).
    pub total_ns: i64,
    /// Nanoseconds of them during which no compute kernel of the device ran.
    pub exposed_ns: i64,
}

/// The numbers of one rank.
#[derive(Debug)]
pub struct RankAnalysis {
    /// From the first start to the last end of its operations.
    pub span: Span,
    /// Kernels, communication kernels among them, copies and fills, graph blocks.
    pub counts: Counts,
    /// Index of the stream with the most compute-kernel time, when any ran compute.
    pub primary_stream: Option<usize>,
    /// Time covered by compute, fused kernels and graph blocks.
    pub compute: Coverage,
    /// Time covered by communication kernels.
    pub comm: Coverage,
    /// Communication while no compute kernel ran.
    pub exposed: Coverage,
    /// Time covered by anything. Idle gaps are what lies between its spans.
    pub busy: Coverage,
    /// Idle gaps within the rank's span, sorted.
    pub gaps: Coverage,
    /// The five parts of the whole span.
    pub whole: Partition,
    /// Sums by kind of collective.
    pub collectives: BTreeMap<Collective, CollectiveSum>,
    /// Steps, when the capture marks any.
    pub steps: Option<Steps>,
}

/// How many operations of each sort a rank ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Kernels of every class.
    pub kernels: u64,
    /// Communication kernels.
    pub comm_kernels: u64,
    /// Copies and fills.
    pub copies: u64,
    /// Graph executions recorded as one block.
    pub graphs: u64,
}

impl RankAnalysis {
    /// The five parts of `window` (time of the export). Costs a binary search, so it can follow the view.
    pub fn partition(&self, window: Span) -> Partition {
        Partition::of(window, &self.compute, &self.comm, &self.exposed, &self.busy)
    }
}

/// Computes everything about `trace`.
pub fn analyze(trace: &Trace, params: &Params) -> Analysis {
    let classes = Classes::of(trace, &params.rules);
    let ranks = (0..trace.ranks.len()).map(|rank| RankAnalysis::of(trace, rank, &classes, params)).collect();
    Analysis { classes, ranks }
}
impl RankAnalysis {
    /// Computes the numbers of one rank.
    pub fn of(_trace: &Trace, _rank: usize, _classes: &Classes, _params: &Params) -> Self { Self { span: Span::default(), counts: Counts::default(), primary_stream: None, compute: Coverage::default(), comm: Coverage::default(), exposed: Coverage::default(), busy: Coverage::default(), gaps: Coverage::default(), whole: Partition::default(), collectives: BTreeMap::new(), steps: None } }
}
