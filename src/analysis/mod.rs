//! From a trace to numbers: pure functions, no input or output, no text for people, no egui.

mod area;
mod call_kind;
mod cause;
mod classify;
mod comm;
mod condition;
mod counter;
mod coverage;
mod findings;
mod gallop;
mod guide;
mod idle;
mod intervals;
mod kernel_table;
mod kernels;
mod launch;
mod limits;
mod means;
mod mfu;
mod overlaps;
mod part;
mod partition;
mod period;
mod pipeline;
mod places;
mod range_names;
mod ranges;
mod rank;
mod rules;
mod same_name;
mod scope;
mod span_sums;
mod step_names;
mod steps;
mod summary;
mod thresholds;
mod top;
mod verdict;

pub use area::Area;
pub use call_kind::CallKind;
pub use cause::{Cause, Causes};
pub use classify::{Class, Classes, Collective, Family};
pub use comm::{
    Algorithm, Bandwidth, CollectiveSum, CommKernel, CommSums, Communication, Communicator, Contention, ExposedSpan,
    FEWEST_ALIKE, Message, Outlier, OutlierReason, Protocol, Sizes, Variant, VariantSum, bus_gb_per_s,
};
pub use condition::{Amount, Condition, ConditionError, Limits, Metric, Relation, Subject};
pub use counter::{Column, Counter, CounterKind, Direction, Stat, StepSeries, Unit, counters_of};
pub use coverage::Coverage;
pub use findings::{Diagnosis, Evidence, Finding, Rule, Severity, Value};
pub use gallop::gallop;
pub use guide::{ENOUGH_STEPS, Guide, GuideCheck, GuideFact, GuideItem, GuideStage, GuideState};
pub use idle::{GapPlace, GapReport, GapSum, Idle};
pub use kernel_table::{
    KernelGroup, KernelKey, KernelLabel, KernelRow, KernelTable, NamedBy, full_name_labels, kernel_key, kernel_labels,
    kernel_name,
};
pub use kernels::{KernelSum, KernelSums};
pub use launch::{
    ApiCallSum, HistogramBin, LaunchPoint, LaunchSums, Launches, ShortKernels, SlowCalls, SmallKernel, Spread,
    StepLaunches, SyncCall, SyncKind, SyncSum, base_name,
};
pub use limits::Limit;
pub use mfu::{Compared, Doubt, Loss, Mfu, Missing, Peak, StepTime, mfu_without};
pub use overlaps::{Overlap, Overlaps};
pub use part::Part;
pub use partition::{Partition, median_of};
pub use pipeline::{
    BLOCK_STEPS, Block, BlockSource, Blocks, Bubble, Pass, Phases, Pipeline, PipelineTime, StageStep, StageWork,
};
pub use places::Place;
pub use range_names::distinct as distinct_range_names;
pub use ranges::{
    Attribution, Listing, PathRange, Projected, RangeSum, RangeSums, Ranges, SameThreadRow, Sequence, Trend,
    group_name, linked_by_sequence, project, same_thread_rows, sequence_number,
};
pub use rank::{Counts, RankAnalysis};
pub use rules::{Rules, RulesError};
pub use same_name::{NameStats, StepPart};
pub use scope::Basis;
pub use span_sums::{NamedSum, SpanParts, SpanSums};
pub use steps::{Step, StepEdge, StepOptions, Steps, TypicalStep};
pub use summary::{Groups, Summary, total};
pub use thresholds::Thresholds;
pub use top::top_kernel;
pub use verdict::{HOST_CAUSES, Losses, Verdict};

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
    /// Kernel classes that the user gave.
    pub rules: Rules,
    /// When something was worth saying.
    pub thresholds: Thresholds,
}

/// Computes everything about `trace`.
pub fn analyze(trace: &Trace, params: &Params) -> Analysis {
    let classes = Classes::of(trace, &params.rules);
    let mut ranks: Vec<RankAnalysis> =
        (0..trace.ranks.len()).map(|rank| RankAnalysis::of(trace, rank, &classes, params)).collect();
    diagnose(trace, &classes, &mut ranks, params);
    let limits = Limit::of(trace, &ranks);
    let Params { rules, thresholds, experiment, .. } = params.clone();
    Analysis { classes, ranks, limits, experiment, rules, thresholds }
}

/// Judges every rank anew, for example after the user's description of the run has changed.
pub fn diagnose(trace: &Trace, classes: &Classes, ranks: &mut [RankAnalysis], params: &Params) {
    for (at, rank) in ranks.iter_mut().enumerate().take(trace.ranks.len()) {
        rank.diagnosis = Diagnosis::of(trace, at, classes, rank, params);
    }
}
