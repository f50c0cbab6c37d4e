//! A pipeline over its stages, in sentences and as a table: the same on screen, in text and in documents.

use super::super::document::{Block, Grid};
use crate::analysis::{BlockSource, Pipeline, PipelineTime};
use crate::format;
use crate::job::{Axis, Change, Job, Place, PlaceSource, StageNotice, StageTime, Stages};
use std::collections::BTreeMap;

/// Ranks of a stage that are named one by one.
const RANKS: usize = 6;

/// Columns of the table of stages: name and meaning.
pub const STAGE_COLUMNS: [(&str, &str); 9] = [
    ("Stage", "Pipeline stage, counted from 0."),
    ("Share", "The bubble as a share of the step."),
    ("Bubble", "Exposed point-to-point time and idle time that borders on it, mean of a step."),
    ("Micro-batch", "Mean compute of one micro-batch, forward and backward."),
    ("Step", "Mean length of the steps that are typical on most stages."),
    ("Warm-up", "Bubble until the first backward starts, and its share of the step: the pipeline fills."),
    ("Steady state", "Bubble from then to the end of the last forward: waiting for slower stages and transfers."),
    ("Cool-down", "Bubble after the last forward: the pipeline drains."),
    ("Ranks", "The ranks of the stage; the numbers are those of the first."),
];

/// A cell of the table of stages: its text, and the number behind it.
pub type StageCell = (String, Option<StageNumber>);

/// A number of the table of stages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StageNumber {
    /// Of a stage.
    Stage(u32),
    /// Nanoseconds.
    Time(i64),
    /// Of 1.
    Share(f64),
}

/// What settings and ranges say of the pipeline, in one sentence.
pub fn pipeline_text(pipeline: &Pipeline) -> String {
    let counted = |count: Option<u32>, one: &str, many: &str| {
        count.map_or_else(|| format!("an unknown number of {many}"), |count| format::counted(count.into(), one, many))
    };
    let stages = counted(pipeline.stages, "stage", "stages");
    let micro_batches = counted(pipeline.micro_batches, "micro-batch", "micro-batches");
    let chunks = pipeline.interleave.filter(|chunks| *chunks > 1);
    let chunks = chunks.map_or_else(String::new, |v| format!(", {} chunks a stage", format::count(v.into())));
    let by = if pipeline.declared { "as the settings say" } else { "as NVTX ranges name it" };
    format!("{}, {micro_batches} a step{chunks} ({by}).", format::capitalized(&stages))
}

/// The measured bubble beside what the schedule costs in theory.
pub fn bubble_text(stages: &Stages) -> String {
    let total = &stages.total;
    let measured = match total.bubble_share() {
        Some(share) => format!(
            "The bubble takes {} of {} a step, {}, mean over the stages",
            format::duration(total.per_step(total.whole.bubble_ns())),
            format::duration(total.per_step(total.whole.span_ns)),
            format::percent(Some(share)),
        ),
        None => "The bubble is not known: no step of a stage could be measured".to_owned(),
    };
    let pipeline = &stages.pipeline;
    let (Some(p), Some(m), Some(plain)) = (pipeline.stages, pipeline.micro_batches, pipeline.plain_theory()) else {
        return format!("{measured}. The theory needs the numbers of stages and micro-batches.");
    };
    let theory = format!(
        "{measured}. In theory the schedule costs {}: (p-1)/(m+p-1), p = {p}, m = {m}",
        format::percent(Some(plain))
    );
    match (pipeline.interleave, pipeline.theory()) {
        (Some(v), Some(share)) => {
            format!("{theory}; interleaved {}: (p-1)/(v m+p-1), v = {v}.", format::percent(Some(share)))
        }
        _ => format!("{theory}."),
    }
}

/// Which stage is the slowest and what it costs; `None` with fewer than two stages whose blocks are known.
pub fn imbalance_text(stages: &Stages) -> Option<String> {
    let found = stages.imbalance.as_ref()?;
    let stage = stages.stages.get(found.slowest)?.stage;
    let (max, mean) = (format::duration(found.max_ns), format::duration(found.mean_ns));
    let excess = format::percent(Some(found.excess));
    Some(if found.is_large() {
        format!(
            "Stage {stage} is the slowest: {max} a micro-batch, {excess} over the mean of {mean}. A step loses at most {} \
             by that: move layers to faster stages.",
            format::duration(found.cost_ns_per_step),
        )
    } else {
        format!("The stages are even: the slowest, stage {stage}, takes {max} a micro-batch, {excess} over the mean.")
    })
}

/// What changes would give at most, one sentence each.
pub fn change_texts(stages: &Stages) -> Vec<String> {
    stages
        .what_if
        .iter()
        .map(|what_if| {
            let change = match what_if.change {
                Change::MicroBatches(count) => {
                    format!(
                        "{} smaller micro-batches of the same batch, if small kernels run as fast",
                        format::count(count.into())
                    )
                }
                Change::Interleave(count) => format!(
                    "{} chunks a stage, with micro-batches in multiples of the stages and as many times the transfers",
                    format::count(count.into())
                ),
                Change::EvenStages => "stages that all take the mean".to_owned(),
            };
            let theory = what_if
                .theory
                .map_or_else(String::new, |share| format!(" ({} in theory)", format::percent(Some(share))));
            format!(
                "{}: at most {} a step less, bubble {}{theory}.",
                format::capitalized(&change),
                format::duration(what_if.saved_ns_per_step),
                format::percent(what_if.bubble_share),
            )
        })
        .collect()
}

/// What is missing, and what to do then.
pub fn stage_notices(job: &Job, stages: &Stages) -> Vec<String> {
    let mut texts: Vec<String> = stages.notices.iter().map(|notice| notice_text(job, notice)).collect();
    if stages.stages.iter().any(|stage| stage.source == BlockSource::Exchanges) {
        texts.push(
            "Blocks were told by the exchanges between stages and numbered in order: NVTX names (forward mb 3) are surer."
                .to_owned(),
        );
    }
    texts
}

fn notice_text(job: &Job, notice: &StageNotice) -> String {
    let label = |rank: usize| job.ranks.get(rank).map_or_else(String::new, |rank| format::one_line(&rank.label, 60));
    match notice {
        StageNotice::Missing(missing) => {
            let numbers: Vec<String> = missing.iter().take(RANKS).map(u32::to_string).collect();
            let more = if missing.len() > RANKS { " and others" } else { "" };
            format!(
                "No rank of {} {}{more} is open: the numbers are about the other stages.",
                if missing.len() == 1 { "stage" } else { "stages" },
                numbers.join(", "),
            )
        }
        StageNotice::Unplaced(ranks) => format!(
            "The stage of {} {} is unknown: type it in the settings ([[rank]] label, pp), or give the layout's sizes \
             ([parallel]).",
            if ranks.len() == 1 { "rank" } else { "ranks" },
            ranks_text(job, ranks),
        ),
        StageNotice::NoSteps(rank) => format!(
            "No range marks the steps of rank {}, so its bubble has no steps to be measured in: mark them in NVTX (step 3).",
            label(*rank)
        ),
        StageNotice::NoBlocks(rank) => format!(
            "Forward and backward of rank {} could not be told apart: name micro-batches in NVTX (forward mb 3).",
            label(*rank)
        ),
        StageNotice::BlocksKept(steps) => {
            format!(
                "Blocks are kept of the first {} of each rank only.",
                format::counted(*steps as u64, "step", "steps")
            )
        }
    }
}

/// Ranks by their labels; of many the first ones and how many there are.
fn ranks_text(job: &Job, ranks: &[usize]) -> String {
    let label = |rank: &usize| Some(format::one_line(&job.ranks.get(*rank)?.label, 60));
    let named: Vec<String> = ranks.iter().take(RANKS).filter_map(label).collect();
    let more = ranks.len().saturating_sub(RANKS);
    if more == 0 { named.join(", ") } else { format!("{} and {} more", named.join(", "), format::count(more as u64)) }
}

/// The table of stages, as long as [`STAGE_COLUMNS`]; all of them together come last.
pub fn stage_rows(job: &Job, stages: &Stages) -> Vec<Vec<StageCell>> {
    let row = |stage: Option<&crate::job::Stage>, micro_batch_ns: Option<i64>, time: &StageTime| {
        let mean = |ns: i64| duration_cell((time.steps > 0).then(|| time.per_step(ns)));
        let phase = |of: &PipelineTime| {
            if !time.has_phases {
                return duration_cell(None);
            }
            let (text, ns) = mean(of.bubble_ns());
            (format!("{text} ({})", format::percent(time.share_of_step(of))), ns)
        };
        let number = stage.map(|stage| stage.stage);
        vec![
            (number.map_or_else(|| "All".to_owned(), |number| number.to_string()), number.map(StageNumber::Stage)),
            (format::percent(time.bubble_share()), time.bubble_share().map(StageNumber::Share)),
            mean(time.whole.bubble_ns()),
            duration_cell(micro_batch_ns),
            mean(time.whole.span_ns),
            phase(&time.warm_up),
            phase(&time.steady),
            phase(&time.cool_down),
            (stage.map_or_else(String::new, |stage| ranks_text(job, &stage.ranks)), None),
        ]
    };
    let stage = |stage: &crate::job::Stage| row(Some(stage), stage.micro_batch_ns, &stage.time);
    let mut rows: Vec<Vec<StageCell>> = stages.stages.iter().map(stage).collect();
    if rows.len() > 1 {
        rows.push(row(None, stages.imbalance.map(|of| of.mean_ns), &stages.total));
    }
    rows
}

fn duration_cell(ns: Option<i64>) -> StageCell {
    (format::duration_or_unknown(ns), ns.map(StageNumber::Time))
}

/// The section of the comparison; nothing without a pipeline.
pub(super) fn blocks(job: &Job, blocks: &mut Vec<Block>) {
    let Some(stages) = &job.pipeline else { return };
    blocks.push(Block::Heading(1, "Pipeline".to_owned()));
    blocks.push(Block::Paragraph(pipeline_text(&stages.pipeline)));
    blocks.push(Block::Paragraph(bubble_text(stages)));
    let texts = |cells: Vec<StageCell>| cells.into_iter().map(|(text, _)| text).collect();
    let rows: Vec<Vec<String>> = stage_rows(job, stages).into_iter().map(texts).collect();
    if !rows.is_empty() {
        let caption = "Means of a step; bubble of a phase and its share of the step";
        blocks.push(Block::Table(Grid::new(caption, &STAGE_COLUMNS.map(|(name, _)| name), &[8], rows)));
    }
    blocks.extend(imbalance_text(stages).map(Block::Paragraph));
    for list in [change_texts(stages), stage_notices(job, stages)] {
        if !list.is_empty() {
            blocks.push(Block::List(list));
        }
    }
}

/// What tells a place, in a few words.
pub const fn place_source_text(source: PlaceSource) -> &'static str {
    match source {
        PlaceSource::Typed => "settings, by rank",
        PlaceSource::Label => "label",
        PlaceSource::File => "file name",
        PlaceSource::Ranges => "NVTX names",
        PlaceSource::Layout => "layout of the settings",
    }
}

/// A place in the parallel layout: `dp 1, pp 0`; empty when nothing is known.
pub fn place_text(place: &Place<crate::job::Known>) -> String {
    let of = |axis: Axis| place.get(axis).map(|known| format!("{} {}", axis.key(), known.at));
    Axis::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// What tells the places of all ranks: `pp by NVTX names; dp, tp by layout of the settings`; `None` when none is known.
pub fn place_sources_text(job: &Job) -> Option<String> {
    let mut axes: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for axis in Axis::ALL {
        let known = job.ranks.iter().filter_map(|rank| rank.place.get(axis));
        let mut sources: Vec<&str> = known.map(|known| place_source_text(known.from)).collect();
        sources.sort_unstable();
        sources.dedup();
        axes.entry(sources).or_default().push(axis.key());
    }
    let text = |(sources, axes): (Vec<&str>, Vec<&str>)| format!("{} by {}", axes.join(", "), sources.join(" and "));
    let all: Vec<String> = axes.into_iter().filter(|(sources, _)| !sources.is_empty()).map(text).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
