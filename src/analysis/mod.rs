//! From a trace to numbers: pure functions, no input or output, no text for people, no egui.

mod cause;
mod classify;
mod comm;
mod coverage;
mod guide;
mod idle;
mod intervals;
mod kernels;
mod launch;
mod limits;
mod means;
mod mfu;
mod overlaps;
mod part;
mod partition;
mod period;
mod ranges;
mod rank;
mod rules;
mod step_names;
mod steps;
mod thresholds;

pub use cause::{Cause, Causes};
pub use classify::{Class, Classes, Collective, Family};
pub use comm::{
    Algorithm, Bandwidth, CommSums, Communication, Contention, ExposedSpan, Message, Outlier, OutlierReason, Protocol,
    Sizes, Variant, VariantSum,
};
pub use coverage::Coverage;
pub use guide::{ENOUGH_STEPS, Guide, GuideCheck, GuideFact, GuideItem, GuideStage, GuideState};
pub use idle::Idle;
pub use kernels::{KernelSum, KernelSums};
pub use launch::{
    ApiCallSum, HistogramBin, LaunchPoint, LaunchSums, Launches, ShortKernels, SlowCalls, SmallKernel, Spread,
    StepLaunches, SyncCall, SyncKind, SyncSum, base_name,
};
pub use limits::Limit;
pub use mfu::{Compared, Doubt, Loss, LossKind, Mfu, Missing, Peak, StepTime, mfu_without};
pub use overlaps::{Overlap, Overlaps};
pub use part::Part;
pub use partition::Partition;
pub use ranges::{
    Attribution, Listing, PathRange, Projected, RangeSum, RangeSums, Ranges, SameThreadRow, Sequence, group_name,
    linked_by_sequence, project, same_thread_rows, sequence_number,
};
pub use rank::{CollectiveSum, Counts, RankAnalysis};
pub use rules::{Rules, RulesError};
pub use steps::{Step, StepEdge, StepOptions, Steps, TypicalStep};
pub use thresholds::Thresholds;

use crate::experiment::Experiment;
use crate::trace::Trace;

/// What the user may decide about an analysis.
#[derive(Debug, Clone, Default)]
pub struct Params {
    /// Kernel classes.
    pub rules: Rules,
    /// How steps are found.
    pub steps: StepOptions,
    /// When something is worth saying.
    pub thresholds: Thresholds,
    /// What the user says of the run.
    pub experiment: Option<Experiment>,
}

/// The numbers of one trace.
#[derive(Debug)]
pub struct Analysis {
    /// Class of every operation name.
    pub classes: Classes,
    /// One entry per rank of the trace.
    pub ranks: Vec<RankAnalysis>,
    /// What the capture cannot answer.
    pub limits: Vec<Limit>,
    /// What the user said of the run; [`Mfu`] joins it with the ranks of all open captures.
    pub experiment: Option<Experiment>,
}

/// Computes everything about `trace`.
pub fn analyze(trace: &Trace, params: &Params) -> Analysis {
    let classes = Classes::of(trace, &params.rules);
    let numbers = |rank: usize| {
        let mut numbers = RankAnalysis::of(trace, rank, &classes, &params.steps);
        let ranks = params.experiment.as_ref().and_then(|given| given.parallel.only_communicator(given.run.gpus));
        numbers.communication = Communication::of(trace, rank, &classes, &numbers.exposed, ranks);
        numbers.overlaps = Overlaps::of(trace, rank, &numbers, &classes, &params.rules);
        numbers
    };
    let ranks: Vec<RankAnalysis> = (0..trace.ranks.len()).map(numbers).collect();
    let limits = Limit::of(trace, &ranks);
    Analysis { classes, ranks, limits, experiment: params.experiment.clone() }
}
