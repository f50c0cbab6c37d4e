//! A pipeline over its stages: the bubble of each by phase, beside what the schedule costs in theory, and what a change
//! would give.
//!
//! The bubble of a stage is measured by the rule of the verdict, over the steps that are typical on most stages, so that
//! the warm-up of one does not set it apart. With p stages, m micro-batches, v chunks a stage, t one
//! forward and backward of a micro-batch on a stage (Narayanan et al. 2021, "Efficient Large-Scale Language Model
//! Training on GPU Clusters Using Megatron-LM", section 2.2):
//!
//! ```text
//! bubble of a step           (p-1) t        with chunks (p-1) t / v
//! as a share of the step     (p-1)/(m+p-1)              (p-1)/(v m + p-1)
//! ```
//!
//! Filling and draining cost that, so only the bubble of warm-up and cool-down shrinks with smaller micro-batches of
//! the same batch (t falls as m rises) or more chunks. The bubble of the steady state is waiting for a slower stage or
//! for transfers, and stays.

use super::cost::common_steps;
use super::{Job, StepSummary};
use crate::analysis::{BLOCK_STEPS, BlockSource, Pipeline, PipelineTime, StageStep, StageWork};
use crate::units::share;
use serde::Serialize;
use std::collections::BTreeMap;

/// Stages whose slowest takes this much longer than the mean are worth saying.
pub const IMBALANCE_SHARE: f64 = 0.1;

/// A pipeline over its stages.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stages {
    /// Stages, micro-batches and chunks, as far as any rank tells them.
    pub pipeline: Pipeline,
    /// The stages with a rank that is open, in order.
    pub stages: Vec<Stage>,
    /// All of them together.
    pub total: StageTime,
    /// How uneven the stages are; `None` with fewer than two whose blocks are known.
    pub imbalance: Option<Imbalance>,
    /// What changes would give, at most.
    pub what_if: Vec<WhatIf>,
    /// What is missing.
    pub notices: Vec<StageNotice>,
}

/// One stage, by one of its ranks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stage {
    /// Its number, from 0.
    pub stage: u32,
    /// The rank that stands for it (an index into [`Job::ranks`]): the first of data parallel, then of tensor and
    /// context parallel. Its steps and blocks are [`super::RankSummary::pipeline`], on its export's clock.
    pub rank: usize,
    /// All ranks of the stage.
    pub ranks: Vec<usize>,
    /// What its blocks are known by.
    pub source: BlockSource,
    /// The steps that are typical on most stages; its own typical ones when steps are not numbered.
    pub time: StageTime,
    /// Mean compute of one micro-batch, forward and backward; `None` without blocks.
    pub micro_batch_ns: Option<i64>,
}

/// Sums over steps. Parts sum exactly; [`StageTime::per_step`] makes a mean of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StageTime {
    /// Steps summed. Of a pipeline: over all its stages.
    pub steps: u64,
    /// All of them.
    pub whole: PipelineTime,
    /// Until the first backward starts.
    pub warm_up: PipelineTime,
    /// From then to the end of the last forward.
    pub steady: PipelineTime,
    /// The rest.
    pub cool_down: PipelineTime,
    /// True when phases are known in every step; else they are all 0.
    pub has_phases: bool,
}

/// How uneven the stages are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Imbalance {
    /// The slowest, an index into [`Stages::stages`].
    pub slowest: usize,
    /// Its compute of a micro-batch.
    pub max_ns: i64,
    /// Mean over the stages.
    pub mean_ns: i64,
    /// How much longer the slowest takes than the mean, as a share of the mean.
    pub excess: f64,
    /// What it costs a step at most: (max - mean) m, as each micro-batch waits for the slowest stage. Filling and
    /// draining hide some of it: the cost of up to as many micro-batches as there are stages.
    pub cost_ns_per_step: i64,
}

/// A change of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// So many micro-batches of the same batch, each as much smaller. Assumes that smaller kernels run as efficiently.
    MicroBatches(u32),
    /// So many chunks a stage. Needs micro-batches in multiples of the stages, and as many times the transfers.
    Interleave(u32),
    /// Stages that all take the mean.
    EvenStages,
}

/// What a change would give, at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WhatIf {
    /// The change.
    pub change: Change,
    /// Time saved of a step, at most.
    pub saved_ns_per_step: i64,
    /// Bubble of a step then, mean over the stages.
    pub bubble_ns_per_step: i64,
    /// That as a share of the step that is left.
    pub bubble_share: Option<f64>,
    /// The share by the schedule.
    pub theory: Option<f64>,
}

/// What is missing of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StageNotice {
    /// No rank of these stages is open, so the numbers are about the others.
    Missing(Vec<u32>),
    /// The stage of these ranks (indices into [`Job::ranks`]) is unknown: type it, or the layout's sizes.
    Unplaced(Vec<usize>),
    /// No range marks the steps of this rank.
    NoSteps(usize),
    /// Forward and backward of this rank could not be told apart: name micro-batches in NVTX (`forward mb 3`).
    NoBlocks(usize),
    /// Blocks are kept of so many steps only.
    BlocksKept(usize),
}

impl Imbalance {
    /// True when it is worth saying.
    pub fn is_large(&self) -> bool {
        self.excess > IMBALANCE_SHARE
    }
}

impl StageTime {
    /// The sums over the steps of `of`.
    fn of<'a>(of: impl Iterator<Item = &'a StageStep>) -> Self {
        let mut time = Self { has_phases: true, ..Self::default() };
        for step in of {
            time.steps += 1;
            time.whole += step.whole;
            let Some(phases) = &step.phases else {
                time.has_phases = false;
                continue;
            };
            time.warm_up += phases.warm_up;
            time.steady += phases.steady;
            time.cool_down += phases.cool_down;
        }
        time.without_unknown()
    }

    fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.whole += other.whole;
        self.warm_up += other.warm_up;
        self.steady += other.steady;
        self.cool_down += other.cool_down;
        self.has_phases &= other.has_phases;
    }

    /// Phases of some steps only would not sum to the whole.
    fn without_unknown(self) -> Self {
        if self.has_phases && self.steps > 0 {
            self
        } else {
            Self { steps: self.steps, whole: self.whole, ..Self::default() }
        }
    }

    /// A sum as the mean of a step.
    pub fn per_step(&self, sum_ns: i64) -> i64 {
        i64::try_from(self.steps).ok().filter(|steps| *steps > 0).map_or(0, |steps| sum_ns / steps)
    }

    /// The bubble as a share of the step.
    pub fn bubble_share(&self) -> Option<f64> {
        self.whole.bubble_share()
    }

    /// A part of the bubble, such as that of a phase, as a share of the whole step.
    pub fn share_of_step(&self, part: &PipelineTime) -> Option<f64> {
        share(part.bubble_ns(), self.whole.span_ns)
    }
}

impl Stages {
    /// The share of a step that the schedule costs in theory; `None` without stages or micro-batches.
    pub fn theory(&self) -> Option<f64> {
        self.pipeline.theory()
    }

    /// The pipeline of `job`; `None` when the user declares none and no range names one.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let works: Vec<(usize, &StageWork)> =
            (0..job.ranks.len()).filter_map(|rank| Some((rank, job.summary(rank)?.pipeline.as_ref()?))).collect();
        if works.is_empty() {
            return None;
        }
        let mut stages = Self::default();
        let mut by_stage: BTreeMap<u32, Vec<(usize, &StageWork)>> = BTreeMap::new();
        let mut unplaced = Vec::new();
        for (rank, work) in &works {
            match job.ranks.get(*rank).and_then(|rank| rank.place.pp) {
                Some(pp) => by_stage.entry(pp.at).or_default().push((*rank, *work)),
                None => unplaced.push(*rank),
            }
        }
        stages.pipeline = known(&works, by_stage.keys().next_back().copied());
        if !unplaced.is_empty() {
            stages.notices.push(StageNotice::Unplaced(unplaced));
        }
        let all = 0..stages.pipeline.stages.unwrap_or(0);
        let missing: Vec<u32> = all.filter(|stage| !by_stage.contains_key(stage)).collect();
        if !missing.is_empty() && !by_stage.is_empty() {
            stages.notices.push(StageNotice::Missing(missing));
        }
        let mut of_stages: Vec<(u32, (usize, &StageWork), Vec<usize>)> = Vec::new();
        for (stage, mut ranks) in by_stage {
            ranks.sort_by_key(|(rank, _)| order(job, *rank));
            if let Some(first) = ranks.first().copied() {
                of_stages.push((stage, first, ranks.iter().map(|(rank, _)| *rank).collect()));
            }
        }
        let ranks: Vec<usize> = of_stages.iter().map(|(_, (rank, _), _)| *rank).collect();
        let common = common_steps(job, &ranks);
        for (stage, first, ranks) in of_stages {
            stages.add(job, stage, first, ranks, &common);
        }
        stages.total.has_phases = stages.stages.iter().all(|stage| stage.time.has_phases);
        for stage in &stages.stages {
            stages.total.add(&stage.time);
        }
        stages.total = stages.total.without_unknown();
        stages.imbalance = imbalance(&stages.stages, stages.pipeline.micro_batches);
        stages.what_if = stages.changes();
        Some(stages)
    }

    /// Adds a stage by one of its ranks, over the steps numbered `common`.
    fn add(&mut self, job: &Job, stage: u32, (rank, work): (usize, &StageWork), ranks: Vec<usize>, common: &[i64]) {
        let of = job.summary(rank).map_or(&[][..], |summary| &summary.steps);
        let counts = |step: &StepSummary| match common {
            [] => step.typical,
            common => step.number.is_some_and(|number| common.binary_search(&number).is_ok()),
        };
        let typical: Vec<&StageStep> =
            of.iter().zip(&work.steps).filter(|(step, _)| counts(step)).map(|(_, step)| step).collect();
        let time = StageTime::of(typical.iter().copied());
        if typical.is_empty() {
            self.notices.push(StageNotice::NoSteps(rank));
        } else if !time.has_phases {
            self.notices.push(StageNotice::NoBlocks(rank));
        }
        let kept = StageNotice::BlocksKept(BLOCK_STEPS);
        if work.steps.len() > BLOCK_STEPS && !self.notices.contains(&kept) {
            self.notices.push(kept);
        }
        let compute_ns = typical.iter().fold(0_i64, |sum, step| sum.saturating_add(step.block_compute_ns));
        // An interleaved stage passes each micro-batch once a chunk.
        let chunks = i64::from(work.pipeline.chunks());
        let passes = typical.iter().map(|step| i64::from(step.forwards)).sum::<i64>();
        let micro_batch_ns =
            (time.has_phases && passes > 0).then(|| compute_ns.saturating_mul(chunks).checked_div(passes)).flatten();
        self.stages.push(Stage { stage, rank, ranks, source: work.source, time, micro_batch_ns });
    }

    /// What changes would give, at most.
    fn changes(&self) -> Vec<WhatIf> {
        let total = &self.total;
        if total.steps == 0 {
            return Vec::new();
        }
        let mean = |time: &PipelineTime| total.per_step(time.bubble_ns());
        let ramps_ns = mean(&total.warm_up).saturating_add(mean(&total.cool_down));
        let (bubble_ns, step_ns) = (mean(&total.whole), total.per_step(total.whole.span_ns));
        let what_if = |change: Change, saved_ns: i64, then: Pipeline| {
            let saved_ns_per_step = saved_ns.clamp(0, bubble_ns.max(0));
            let bubble_ns_per_step = bubble_ns.saturating_sub(saved_ns_per_step);
            WhatIf {
                change,
                saved_ns_per_step,
                bubble_ns_per_step,
                bubble_share: share(bubble_ns_per_step, step_ns.saturating_sub(saved_ns_per_step)),
                theory: then.theory(),
            }
        };
        let mut list = Vec::new();
        if total.has_phases {
            for times in [2_u32, 4] {
                let Some(count) = self.pipeline.micro_batches.and_then(|m| m.checked_mul(times)) else { continue };
                let then = Pipeline { micro_batches: Some(count), ..self.pipeline };
                let saved_ns = ramps_ns.saturating_sub(ramps_ns / i64::from(times));
                list.push(what_if(Change::MicroBatches(count), saved_ns, then));
            }
            let chunks = self.pipeline.chunks().saturating_mul(2);
            let then = Pipeline { interleave: Some(chunks), ..self.pipeline };
            list.push(what_if(Change::Interleave(chunks), ramps_ns.saturating_sub(ramps_ns / 2), then));
        }
        if let Some(imbalance) = &self.imbalance {
            list.push(what_if(Change::EvenStages, imbalance.cost_ns_per_step, self.pipeline));
        }
        list
    }
}

/// What any rank tells of the pipeline. Stages that nobody counts are as many as the highest number asks for.
fn known(works: &[(usize, &StageWork)], last_stage: Option<u32>) -> Pipeline {
    let all = || works.iter().map(|(_, work)| work.pipeline);
    // Forward blocks in a step, the most of any rank, when no name and no setting counts micro-batches.
    let counted = || {
        let steps = works.iter().flat_map(|(_, work)| work.steps.iter().map(|step| (step, work.pipeline.chunks())));
        steps.map(|(step, chunks)| step.forwards / chunks).max().filter(|count| *count > 0)
    };
    Pipeline {
        stages: all().filter_map(|p| p.stages).max().or_else(|| last_stage?.checked_add(1)),
        micro_batches: all().filter_map(|p| p.micro_batches).max().or_else(counted),
        interleave: all().filter_map(|p| p.interleave).max(),
        declared: all().any(|p| p.declared),
    }
}

/// What decides which rank stands for its stage.
fn order(job: &Job, rank: usize) -> [u32; 4] {
    let place = job.ranks.get(rank).map(|rank| rank.place).unwrap_or_default();
    let at = |axis: Option<super::Known>| axis.map_or(u32::MAX, |known| known.at);
    [at(place.dp), at(place.tp), at(place.cp), u32::try_from(rank).unwrap_or(u32::MAX)]
}

/// How uneven the stages are whose compute of a micro-batch is known.
fn imbalance(stages: &[Stage], micro_batches: Option<u32>) -> Option<Imbalance> {
    let times: Vec<(usize, i64)> =
        stages.iter().enumerate().filter_map(|(at, stage)| Some((at, stage.micro_batch_ns?))).collect();
    let count = i64::try_from(times.len()).ok().filter(|count| *count > 1)?;
    let mean_ns = times.iter().fold(0_i64, |sum, (_, ns)| sum.saturating_add(*ns)) / count;
    let (slowest, max_ns) = times.iter().copied().max_by_key(|(at, ns)| (*ns, std::cmp::Reverse(*at)))?;
    let over_ns = max_ns.saturating_sub(mean_ns);
    Some(Imbalance {
        slowest,
        max_ns,
        mean_ns,
        excess: share(over_ns, mean_ns)?,
        cost_ns_per_step: over_ns.saturating_mul(i64::from(micro_batches?)),
    })
}
