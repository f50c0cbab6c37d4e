//! From a trace to numbers: pure functions, no input or output, no text for people, no egui.

mod area;
mod call_kind;
mod cause;
mod classify;
mod coverage;
mod findings;
mod idle;
mod intervals;
mod kernels;
mod limits;
mod means;
mod overlaps;
mod part;
mod partition;
mod period;
mod pipeline;
mod places;
mod rank;
mod rules;
mod scope;
mod step_names;
mod steps;
mod thresholds;
mod verdict;

pub use area::Area;
pub use call_kind::CallKind;
pub use cause::{Cause, Causes};
pub use classify::{Class, Classes, Collective, Family};
pub use coverage::Coverage;
pub use findings::{Diagnosis, Evidence, Finding, Rule, Severity, Value};
pub use idle::{GapPlace, GapReport, GapSum, Idle};
pub use kernels::{KernelSum, KernelSums};
pub use limits::Limit;
pub use overlaps::{Overlap, Overlaps};
pub use part::Part;
pub use partition::Partition;
pub use pipeline::{Bubble, Pipeline};
pub use places::Place;
pub use rank::{CollectiveSum, Counts, RankAnalysis};
pub use rules::{Rules, RulesError};
pub use scope::Basis;
pub use steps::{Step, StepEdge, StepOptions, Steps, TypicalStep};
pub use thresholds::Thresholds;
pub use verdict::{Losses, Verdict};

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
}

/// Computes everything about `trace`.
pub fn analyze(trace: &Trace, params: &Params) -> Analysis {
    let classes = Classes::of(trace, &params.rules);
    let numbers = |rank: usize| {
        let mut numbers = RankAnalysis::of(trace, rank, &classes, params);
        numbers.overlaps = Overlaps::of(trace, rank, &numbers, &classes, &params.rules);
        numbers
    };
    let mut ranks: Vec<RankAnalysis> = (0..trace.ranks.len()).map(numbers).collect();
    diagnose(trace, &classes, &mut ranks, params, None);
    let limits = Limit::of(trace, &ranks);
    Analysis { classes, ranks, limits }
}

/// Judges every rank anew, for example after the user's description of the run has changed. `mfu` is the model FLOPs
/// utilisation, when known.
pub fn diagnose(trace: &Trace, classes: &Classes, ranks: &mut [RankAnalysis], params: &Params, mfu: Option<f64>) {
    for (at, rank) in ranks.iter_mut().enumerate().take(trace.ranks.len()) {
        rank.diagnosis = Diagnosis::of(trace, at, classes, rank, params, mfu);
    }
}
