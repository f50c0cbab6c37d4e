//! Several ranks of one job: one clock, matched collectives, who waited for whom, and why.
//!
//! Nothing here reads a trace of millions of operations. Each export tells what the others need in an
//! [`ExportSummary`] of kilobytes; a [`Job`] is computed from those, so a folder of summaries and a window of open
//! captures give the same numbers, and a thousand ranks fit.
//!
//! ```text
//!  trace + analysis -> ExportSummary --+
//!  trace + analysis -> ExportSummary --+--> Job: groups, clock, waits, straggler, pipeline
//!  rank2.summary    -> ExportSummary --+
//! ```

mod arrivals;
mod clock;
mod clock_ends;
mod cost;
mod diff;
mod exposed;
pub mod file;
pub mod folder;
mod heat;
mod kernel_waits;
mod longest;
mod matching;
mod median;
mod names;
mod place;
mod ranks;
mod staged_step;
mod stages;
mod straggler;
mod strip;
mod summary;
#[cfg(test)]
mod tests;
mod waits;

pub use arrivals::{CommGroup, GroupKey};
pub use clock::{Basis, Clock, ClockMap, ClockMode, Doubt, Notice, SourceClock};
pub use cost::{Extra, ExtraKind, SlowKernels};
pub use diff::{
    COMPARABLE, CollectiveDelta, Comparable, Delta, Diff, DiffScope, ENOUGH_STEPS, KernelDelta, RangeDelta,
};
pub use exposed::{ExposedSplit, exposed_splits};
pub use heat::{Heat, HeatMetric, deviation, wait_share};
pub use kernel_waits::{KernelWaits, WaitWalk};
pub use longest::longest_run;
pub use matching::{Group, Member, Refusal, RefusalReason};
pub use median::median_and_spread;
pub use place::{Axis, Known, Layout, Place, PlaceOptions, PlaceSource};
pub use ranks::{JobRank, RankRef};
pub use staged_step::{Phase, StageLane, StagedStep};
pub use stages::{Change, IMBALANCE_SHARE, Imbalance, Stage, StageNotice, StageTime, Stages, WhatIf};
pub use straggler::{COST_SHARE, LAST_SHARE, LateShare, Pause, Straggler, Stragglers};
pub use strip::{Difference, Later, StartBasis, Strip, StripBar, StripSide};
pub use summary::{ExportSummary, FindingSummary, KernelShape, RangeTotal, RankSummary, StepSummary, VerdictSummary};
pub use waits::{GroupWaits, Matched, RankWaits, Split, WaitMatrix, Waits};

use std::sync::Arc;

/// What the user may decide about a job.
#[derive(Debug, Clone, Default)]
pub struct JobOptions {
    /// What puts the ranks on one clock.
    pub clock: ClockMode,
    /// Nanoseconds that the user shifts each export by, on top of the clock; missing ones are 0.
    pub shift_ns: Vec<i64>,
    /// Where ranks stand in the parallel layout.
    pub places: PlaceOptions,
}

/// Several ranks that belong together.
#[derive(Debug, Clone, Default)]
pub struct Job {
    /// What each export tells of its ranks.
    pub exports: Vec<Arc<ExportSummary>>,
    /// What each export is called: its file's name without ending, with the folder where several have that name.
    pub names: Vec<String>,
    /// Every rank, export after export.
    pub ranks: Vec<JobRank>,
    /// Collectives that several ranks took part in, as far as they can be paired.
    pub groups: Vec<Group>,
    /// Groups whose members do not fit each other.
    pub refused: Vec<Refusal>,
    /// What puts the exports on one clock.
    pub clock: Clock,
    /// Who waited for whom.
    pub waits: Arc<Waits>,
    /// Ranks that the others wait for.
    pub stragglers: Arc<Stragglers>,
    /// True while exports are moved by hand: who waited, and who is late, are those of the clock before.
    pub moving: bool,
    /// The pipeline, when the user declares one or ranges name one.
    pub pipeline: Option<Stages>,
}

impl Job {
    /// Computes everything about the ranks of `exports`.
    pub fn of(exports: Vec<Arc<ExportSummary>>, options: &JobOptions) -> Self {
        let names = names::of(exports.iter().map(|export| export.file.as_path()));
        let ranks = ranks::of(&exports, &names, &options.places);
        let (groups, refused) = matching::groups(&exports, &ranks);
        let clock = Clock::of(&exports, &ranks, &groups, options);
        let mut job = Self { exports, names, ranks, groups, refused, clock, ..Self::default() }.settled();
        job.pipeline = Stages::of(&job);
        job
    }

    /// Collectives and steps that [`Job::of`] goes through, over all ranks of `exports`: its work grows with them.
    pub fn work<'a>(exports: impl IntoIterator<Item = &'a Arc<ExportSummary>>) -> usize {
        let ranks = exports.into_iter().flat_map(|export| &export.ranks);
        ranks.map(|rank| rank.steps.len() + rank.comm.iter().map(CommGroup::len).sum::<usize>()).sum()
    }

    /// The same job by another clock: what was matched, and where the ranks stand, stays.
    #[must_use]
    pub fn on_clock(&self, options: &JobOptions) -> Self {
        let clock = match options.clock == self.clock.mode && !self.clock.sources.is_empty() {
            true => self.clock.shifted(&options.shift_ns),
            false => Clock::of(&self.exports, &self.ranks, &self.groups, options),
        };
        Self { clock, ..self.clone() }.settled()
    }

    /// The same job with exports moved by hand, while they still move: only the clock is new. Cheap enough for every
    /// frame of a drag.
    #[must_use]
    pub fn moved(&self, shift_ns: &[i64]) -> Self {
        Self { clock: self.clock.shifted(shift_ns), moving: true, ..self.clone() }
    }

    /// The same job with everything that follows from its clock.
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.waits = Arc::new(Waits::of(&self));
        self.stragglers = Arc::new(Stragglers::of(&self));
        self.moving = false;
        self
    }

    /// The same job with other places of its ranks: what was matched, and the clock, stay.
    #[must_use]
    pub fn placed(&self, places: &PlaceOptions) -> Self {
        let mut job = Self { ranks: ranks::of(&self.exports, &self.names, places), ..self.clone() };
        job.pipeline = Stages::of(&job);
        job
    }

    /// What rank `rank` (an index into [`Job::ranks`]) tells of itself.
    pub fn summary(&self, rank: usize) -> Option<&RankSummary> {
        let at = self.ranks.get(rank)?.at;
        self.exports.get(at.export)?.ranks.get(at.rank)
    }

    /// What export `export` is called; empty when there is no such.
    pub fn name(&self, export: usize) -> &str {
        self.names.get(export).map_or("", String::as_str)
    }

    /// The rank of an export, as an index into [`Job::ranks`].
    pub fn rank_at(&self, at: RankRef) -> Option<usize> {
        self.ranks.binary_search_by_key(&at, |rank| rank.at).ok()
    }

    /// From the time of rank `rank`'s export to the job's.
    pub fn map(&self, rank: usize) -> ClockMap {
        self.ranks.get(rank).map_or_else(ClockMap::default, |rank| self.clock.map(rank.at.export))
    }
}
