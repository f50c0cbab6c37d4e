//! Single steps of a pipeline over all its stages, on the job's clock: what a picture of the schedule shows.

use super::{Job, Stage, Stages};
use crate::analysis::{Block, PipelineTime, StageStep};
use crate::units::{Span, share};
use std::collections::BTreeMap;

/// A step over the stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedStep {
    /// Its number; its place in its rank when the ranges give some steps none.
    pub number: i64,
    /// From the first start of its window on any stage to the last end, in job time.
    pub span: Span,
    /// For each stage ([`Stages::stages`]) the index of the step in its rank.
    at: Vec<Option<usize>>,
}

/// What one stage did in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct StageLane {
    /// The step's window in job time.
    pub window: Span,
    /// The whole window.
    pub whole: PipelineTime,
    /// Warm-up, steady state, cool-down, with when they were in job time; empty when they are not known.
    pub phases: Vec<(Phase, Span, PipelineTime)>,
    /// Forward and backward passes in order of time, in job time; none when the summary does not keep them.
    pub blocks: Vec<Block>,
    /// How many there were.
    pub passes: u32,
}

/// A phase of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Until the first backward starts: the pipeline fills.
    WarmUp,
    /// From then to the end of the last forward.
    Steady,
    /// The rest: the pipeline drains.
    CoolDown,
}

impl StageLane {
    /// The bubble of a phase as a share of the whole step.
    pub fn share_of_step(&self, phase: &PipelineTime) -> Option<f64> {
        share(phase.bubble_ns(), self.whole.span_ns)
    }
}

impl Stages {
    /// The steps that any stage has, in order of their numbers.
    pub fn steps(&self, job: &Job) -> Vec<StagedStep> {
        let of = |stage: &Stage| job.summary(stage.rank).map_or(&[][..], |summary| &summary.steps);
        let numbered = self.stages.iter().flat_map(of).all(|step| step.number.is_some());
        let mut all: BTreeMap<i64, StagedStep> = BTreeMap::new();
        for (lane, stage) in self.stages.iter().enumerate() {
            let marked = job.summary(stage.rank).is_some_and(super::RankSummary::has_marked_steps);
            let map = job.map(stage.rank);
            for (at, step) in of(stage).iter().enumerate().filter(|_| marked) {
                let number = step.number.filter(|_| numbered).unwrap_or(at as i64);
                let span = map.span_to_job(step.window);
                let new = || StagedStep { number, span, at: vec![None; self.stages.len()] };
                let staged = all.entry(number).or_insert_with(new);
                // A number that comes twice in a rank is the first of them.
                if let Some(slot) = staged.at.get_mut(lane).filter(|slot| slot.is_none()) {
                    *slot = Some(at);
                    staged.span = staged.span.hull(span);
                }
            }
        }
        all.into_values().collect()
    }

    /// What stage `lane` (an index into [`Stages::stages`]) did in a step; `None` when it does not have the step.
    pub fn lane(&self, job: &Job, step: &StagedStep, lane: usize) -> Option<StageLane> {
        let rank = self.stages.get(lane)?.rank;
        let of: &StageStep = job.summary(rank)?.pipeline.as_ref()?.steps.get((*step.at.get(lane)?)?)?;
        let map = job.map(rank);
        let phases = of.phases.map_or_else(Vec::new, |phases| {
            let (window, steady) = (of.window, phases.steady_span);
            vec![
                (Phase::WarmUp, map.span_to_job(Span::new(window.start_ns, steady.start_ns)), phases.warm_up),
                (Phase::Steady, map.span_to_job(steady), phases.steady),
                (Phase::CoolDown, map.span_to_job(Span::new(steady.end_ns, window.end_ns)), phases.cool_down),
            ]
        });
        Some(StageLane {
            window: map.span_to_job(of.window),
            whole: of.whole,
            phases,
            blocks: of.blocks().map(|block| Block { span: map.span_to_job(block.span), ..block }).collect(),
            passes: of.forwards.saturating_add(of.backwards),
        })
    }
}
