//! A pipeline over its stages as JSON; times are means of a step.

use super::pipeline::{change_texts, imbalance_text, stage_notices};
use crate::analysis::{BlockSource, PipelineTime};
use crate::job::{Axis, Change, Job, Known, StageTime, Stages};
use serde::Serialize;
use std::collections::BTreeMap;

/// The pipeline of a job.
#[derive(Debug, Serialize)]
pub struct PipelineLines {
    stages: Option<u32>,
    micro_batches: Option<u32>,
    chunks: Option<u32>,
    /// True when the settings say so, not a range's name.
    declared: bool,
    /// (p-1)/(m+p-1).
    theory_share: Option<f64>,
    /// (p-1)/(v m+p-1); only when chunks are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    interleaved_theory_share: Option<f64>,
    /// All stages together.
    total: TimeLine,
    by_stage: Vec<StageLine>,
    imbalance: Option<ImbalanceLine>,
    what_if: Vec<ChangeLine>,
    notices: Vec<String>,
}

#[derive(Debug, Serialize)]
struct StageLine {
    stage: u32,
    /// The rank that the numbers are of.
    rank: String,
    ranks: Vec<String>,
    blocks_by: BlockSource,
    micro_batch_ns: Option<i64>,
    #[serde(flatten)]
    time: TimeLine,
}

#[derive(Debug, Serialize)]
struct TimeLine {
    steps: u64,
    step_ns: Option<i64>,
    compute_ns: Option<i64>,
    bubble_ns: Option<i64>,
    /// Of the bubble: a point-to-point kernel ran and no compute.
    exposed_ns: Option<i64>,
    /// Of the bubble: idle time that borders on that.
    idle_ns: Option<i64>,
    bubble_share: Option<f64>,
    /// `warm_up`, `steady`, `cool_down`; empty when they are not known.
    phases: BTreeMap<&'static str, PhaseLine>,
}

#[derive(Debug, Serialize)]
struct PhaseLine {
    span_ns: i64,
    compute_ns: i64,
    bubble_ns: i64,
    /// Of the whole step.
    share_of_step: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ImbalanceLine {
    slowest_stage: Option<u32>,
    max_ns: i64,
    mean_ns: i64,
    excess: f64,
    cost_ns_per_step: i64,
    large: bool,
    text: Option<String>,
}

#[derive(Debug, Serialize)]
struct ChangeLine {
    change: Change,
    saved_ns_per_step: i64,
    bubble_ns_per_step: i64,
    bubble_share: Option<f64>,
    theory_share: Option<f64>,
    text: String,
}

/// The known numbers of a rank along the axes, with what tells them.
pub(super) fn place(job: &Job, rank: usize) -> BTreeMap<&'static str, Known> {
    let of = |axis: Axis| Some((axis.key(), job.ranks.get(rank)?.place.get(axis)?));
    Axis::ALL.into_iter().filter_map(of).collect()
}

impl PipelineLines {
    pub(super) fn of(job: &Job) -> Option<Self> {
        let stages = job.pipeline.as_ref()?;
        let label = |rank: &usize| job.ranks.get(*rank).map_or_else(String::new, |rank| rank.label.clone());
        let stage = |stage: &crate::job::Stage| StageLine {
            stage: stage.stage,
            rank: label(&stage.rank),
            ranks: stage.ranks.iter().map(label).collect(),
            blocks_by: stage.source,
            micro_batch_ns: stage.micro_batch_ns,
            time: TimeLine::of(&stage.time),
        };
        let pipeline = &stages.pipeline;
        Some(Self {
            stages: pipeline.stages,
            micro_batches: pipeline.micro_batches,
            chunks: pipeline.interleave,
            declared: pipeline.declared,
            theory_share: pipeline.plain_theory(),
            interleaved_theory_share: pipeline.interleave.and_then(|_| pipeline.theory()),
            total: TimeLine::of(&stages.total),
            by_stage: stages.stages.iter().map(stage).collect(),
            imbalance: ImbalanceLine::of(stages),
            what_if: changes(stages),
            notices: stage_notices(job, stages),
        })
    }
}

impl TimeLine {
    fn of(time: &StageTime) -> Self {
        let known = |ns: i64| (time.steps > 0).then(|| time.per_step(ns));
        let phase = |of: &PipelineTime| PhaseLine {
            span_ns: time.per_step(of.span_ns),
            compute_ns: time.per_step(of.compute_ns),
            bubble_ns: time.per_step(of.bubble_ns()),
            share_of_step: time.share_of_step(of),
        };
        let phases = [("warm_up", &time.warm_up), ("steady", &time.steady), ("cool_down", &time.cool_down)];
        Self {
            steps: time.steps,
            step_ns: known(time.whole.span_ns),
            compute_ns: known(time.whole.compute_ns),
            bubble_ns: known(time.whole.bubble_ns()),
            exposed_ns: known(time.whole.exposed_ns),
            idle_ns: known(time.whole.idle_ns),
            bubble_share: time.bubble_share(),
            phases: phases.into_iter().filter(|_| time.has_phases).map(|(key, of)| (key, phase(of))).collect(),
        }
    }
}

impl ImbalanceLine {
    fn of(stages: &Stages) -> Option<Self> {
        let found = stages.imbalance?;
        Some(Self {
            slowest_stage: stages.stages.get(found.slowest).map(|stage| stage.stage),
            max_ns: found.max_ns,
            mean_ns: found.mean_ns,
            excess: found.excess,
            cost_ns_per_step: found.cost_ns_per_step,
            large: found.is_large(),
            text: imbalance_text(stages),
        })
    }
}

fn changes(stages: &Stages) -> Vec<ChangeLine> {
    let line = |(what_if, text): (&crate::job::WhatIf, String)| ChangeLine {
        change: what_if.change,
        saved_ns_per_step: what_if.saved_ns_per_step,
        bubble_ns_per_step: what_if.bubble_ns_per_step,
        bubble_share: what_if.bubble_share,
        theory_share: what_if.theory,
        text,
    };
    stages.what_if.iter().zip(change_texts(stages)).map(line).collect()
}
