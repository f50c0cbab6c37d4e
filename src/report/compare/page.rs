//! The comparison as blocks.

use super::super::document::{Block, Grid};
use super::change::{
    bound_by_text, change_text, comparable_text, delta_text, length_text, noise_rule_text, note_of, scope_text,
    shape_text, sums_of_text, verdict_change_text,
};
use super::clock::{basis_text, clock_text, drift_text, notices, uncertainty_text};
use super::collectives_json::wait_share;
use super::outliers::OutlierLines;
use super::pipeline::{place_sources_text, place_text};
use super::words::{
    extra_text, group_text, job_missing_text, last_text, matched_text, members_text, refusal_text, reservation,
    straggler_advice, straggler_text, together_text, unknown_parts_text, wandering_text,
};
use crate::analysis::Part;
use crate::format;
use crate::job::{Delta, Diff, Job, RankSummary, wait_share as waited_share};

/// Rows of a list.
const ROWS: usize = 20;
/// Steps listed.
const STEPS: usize = 100;
/// Ranks of a table that has them as columns.
const COLUMNS: usize = 12;

pub(super) fn of(job: &Job, diff: Option<&Diff>, outliers: Option<&OutlierLines>) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(1, "Ranks".to_owned())];
    reserved(job, &mut blocks);
    blocks.push(Block::Table(ranks(job)));
    blocks.extend(unknown_parts_text(job).map(Block::Paragraph));
    blocks.extend(job_missing_text(job).map(Block::Paragraph));
    let sources = place_sources_text(job);
    blocks.extend(sources.map(|text| Block::Paragraph(format!("Places in the parallel layout: {text}."))));
    clock(job, &mut blocks);
    straggler(job, &mut blocks);
    super::pipeline::blocks(job, &mut blocks);
    collectives(job, &mut blocks);
    steps(job, &mut blocks);
    if let Some(diff) = diff {
        difference(job, diff, &mut blocks);
    }
    if let Some(outliers) = outliers {
        let [a, b] = [0, 1].map(|rank| format!("Rank {}", label(job, rank)));
        super::outliers::blocks(job, outliers, [&a, &b], &mut blocks);
    }
    blocks
}

/// What stands above tables of who waited or was last while the clock does not tell that.
fn reserved(job: &Job, blocks: &mut Vec<Block>) {
    let is_told = job.ranks.len() > 1 && job.waits.matched > 0;
    blocks.extend(reservation(job).filter(|_| is_told).map(Block::Paragraph));
}

fn name(text: &str) -> String {
    format::one_line(text, 120)
}

fn label(job: &Job, rank: usize) -> String {
    job.ranks.get(rank).map_or_else(String::new, |rank| name(&rank.label))
}

fn known(text: Option<&str>) -> String {
    text.map_or_else(|| format::UNKNOWN.to_owned(), name)
}

fn steps_text(summary: &RankSummary) -> String {
    let count = format::count(summary.steps.len() as u64);
    if summary.steps_estimated { format!("{count} estimated") } else { count }
}

fn ranks(job: &Job) -> Grid {
    let placed = place_sources_text(job).is_some();
    let row = |rank: usize| {
        let summary = job.summary(rank)?;
        let export = job.exports.get(job.ranks.get(rank)?.at.export)?;
        let typical = summary.typical.filter(|_| summary.has_marked_steps());
        let parts = summary.known_parts();
        let mut cells = vec![
            label(job, rank),
            known(export.host.as_deref()),
            known(summary.gpu.as_deref()),
            bound_by_text(job, rank).to_owned(),
            steps_text(summary),
            format::duration_or_unknown(typical.map(|typical| typical.median_span_ns)),
        ];
        cells.extend(Part::ALL.map(|part| format::percent(parts.and_then(|parts| part.share(&parts)))));
        cells.push(format::percent(waited_share(job, rank)));
        if placed {
            cells.push(place_text(&job.ranks.get(rank)?.place));
        }
        Some(cells)
    };
    let mut head = vec!["Rank", "Host", "GPU", "Bound by", "Steps", "Median step"];
    head.extend(Part::ALL.map(Part::text));
    head.push("Waited");
    let mut words = vec![1, 2, 3];
    if placed {
        words.push(head.len());
        head.push("Place");
    }
    let rows = (0..job.ranks.len()).filter_map(row).collect();
    Grid::new("Shares of the typical step, else of the whole span; waited: for other ranks", &head, &words, rows)
}

fn clock(job: &Job, blocks: &mut Vec<Block>) {
    if job.exports.len() < 2 {
        return;
    }
    blocks.push(Block::Heading(1, "Clock".to_owned()));
    blocks.push(Block::Paragraph(format!("In force: {}.", clock_text(job))));
    let shifted = job.clock.is_shifted();
    let row = |(export, source): (usize, &crate::job::SourceClock)| {
        let mut cells = vec![
            name(job.name(export)),
            basis_text(source.basis).to_owned(),
            format::signed_duration(source.map.offset_ns),
            drift_text(source),
            uncertainty_text(source.uncertainty_ns()),
            format::count(source.matched),
        ];
        cells.extend(shifted.then(|| format::signed_duration(source.shift_ns)));
        cells
    };
    let rows = job.clock.sources.iter().enumerate().map(row).collect();
    let mut head = vec!["File", "By", "Offset", "Drift", "Uncertainty", "Matched"];
    let mut caption = "From each file's clock to that of the reference".to_owned();
    if shifted {
        head.push("Shift by hand");
        caption.push_str("; offsets with the shift by hand");
    }
    blocks.push(Block::Table(Grid::new(&caption, &head, &[1], rows)));
    let notices = notices(job);
    if !notices.is_empty() {
        blocks.push(Block::List(notices));
    }
}

fn straggler(job: &Job, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(1, "Straggler".to_owned()));
    blocks.push(Block::Paragraph(straggler_text(job)));
    if let Some(found) = &job.stragglers.straggler {
        blocks.extend(straggler_advice(job).map(Block::Paragraph));
        let row = |extra: &crate::job::Extra| {
            vec![
                extra_text(extra.kind),
                format::duration(extra.own_ns),
                format::duration(extra.others_ns),
                format::signed_duration(extra.delta_ns()),
            ]
        };
        let rows: Vec<Vec<String>> = found.extras.iter().take(5).map(row).collect();
        let head = ["What took longer", "This rank", "Others", "Difference"];
        let of = if job.stragglers.by_step { "Per typical step" } else { "Over the whole span" };
        if !rows.is_empty() {
            blocks.push(Block::Table(Grid::new(&format!("{of}; others: the median over them"), &head, &[], rows)));
        }
    }
    blocks.extend(wandering_text(job).map(Block::Paragraph));
}

fn collectives(job: &Job, blocks: &mut Vec<Block>) {
    if job.ranks.len() < 2 {
        return;
    }
    blocks.push(Block::Heading(1, "Matched collectives".to_owned()));
    blocks.push(Block::Paragraph(format!(
        "{} Wait: until the last rank had started; transfer: from then to the end.",
        matched_text(job)
    )));
    reserved(job, blocks);
    let row = |rank: usize| {
        let waits = job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0)?;
        Some(vec![
            label(job, rank),
            format::count(waits.collectives),
            format::duration(waits.split.wait_ns),
            format::duration(waits.split.transfer_ns),
            format::percent(wait_share(job, rank)),
            format::count(waits.last),
        ])
    };
    let rows: Vec<Vec<String>> = (0..job.ranks.len()).filter_map(row).collect();
    if !rows.is_empty() {
        let head = ["Rank", "Collectives", "Wait", "Transfer", "Wait share", "Last to start"];
        blocks.push(Block::Table(Grid::new("Who waited", &head, &[], rows)));
    }
    let group = |(at, of): (usize, &crate::job::Group)| {
        let sums = job.waits.groups.get(at)?;
        Some(vec![
            name(&group_text(job, at)),
            members_text(job, at),
            format::count(of.count as u64),
            format::duration(sums.skew_median_ns),
            format::duration(sums.skew_max_ns),
            last_text(job, at),
            format::bandwidth(sums.transfer_gb_per_s),
        ])
    };
    let mut rows: Vec<Vec<String>> = job.groups.iter().enumerate().filter_map(group).collect();
    let hidden = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    if !rows.is_empty() {
        let head = ["Group", "Ranks", "Count", "Median skew", "Largest skew", "Last most often", "Bus bandwidth"];
        let caption = "By group; skew: latest start - earliest start; bandwidth of the transfer alone";
        blocks.push(Block::Table(Grid::new(caption, &head, &[5], rows)));
    }
    if hidden > 0 {
        blocks.push(Block::Paragraph(format!("{} further groups are in the JSON.", format::count(hidden as u64))));
    }
    let refused: Vec<String> = job.refused.iter().take(ROWS).map(|refusal| refusal_text(job, refusal)).collect();
    if !refused.is_empty() {
        blocks.push(Block::List(refused));
    }
    matrix(job, blocks);
}

/// Who waits for whom, where the ranks fit a table.
fn matrix(job: &Job, blocks: &mut Vec<Block>) {
    let ranks = job.ranks.len();
    if job.waits.matrix.cells.is_empty() || ranks > COLUMNS {
        return;
    }
    let cell = |who: usize, whom: usize| match job.waits.matrix.ns(who, whom) {
        0 => format::UNKNOWN.to_owned(),
        ns => format::duration(ns),
    };
    let row =
        |who: usize| std::iter::once(label(job, who)).chain((0..ranks).map(|whom| cell(who, whom))).collect::<Vec<_>>();
    reserved(job, blocks);
    let labels: Vec<String> = (0..ranks).map(|rank| format!("for {}", label(job, rank))).collect();
    let head: Vec<&str> = std::iter::once("Rank").chain(labels.iter().map(String::as_str)).collect();
    blocks.push(Block::Table(Grid::new("Who waited for whom", &head, &[], (0..ranks).map(row).collect())));
    blocks.extend(together_text(job).map(Block::Paragraph));
}

fn steps(job: &Job, blocks: &mut Vec<Block>) {
    let mut numbers: Vec<i64> = (0..job.ranks.len())
        .filter_map(|rank| job.summary(rank))
        .filter(|summary| summary.has_marked_steps())
        .flat_map(|summary| summary.steps.iter().filter_map(|step| step.number))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() || job.ranks.len() > COLUMNS {
        return;
    }
    blocks.push(Block::Heading(1, "Steps".to_owned()));
    reserved(job, blocks);
    let ranks = 0..job.ranks.len();
    let row = |number: &i64| {
        let span = |rank: usize| job.summary(rank)?.step(*number).map(|step| step.window.len_ns());
        let wait = |rank: usize| job.stragglers.waits_ns.get(&(rank, *number)).copied();
        let mut cells = vec![format::integer(*number)];
        cells.extend(ranks.clone().map(|rank| format::duration_or_unknown(span(rank))));
        cells.extend(ranks.clone().map(|rank| format::duration_or_unknown(wait(rank))));
        cells
    };
    let rows: Vec<Vec<String>> = numbers.iter().take(STEPS).map(row).collect();
    let mut head = vec!["Step".to_owned()];
    head.extend(ranks.clone().map(|rank| label(job, rank)));
    head.extend(ranks.clone().map(|rank| format!("{} waited", label(job, rank))));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    blocks.push(Block::Table(Grid::new(
        "Length of each step, and what the rank waited for others in it",
        &head,
        &[],
        rows,
    )));
}

fn delta_cells(delta: &Delta) -> [String; 5] {
    [
        format::duration(delta.a_ns),
        format::duration(delta.b_ns),
        delta_text(delta),
        change_text(delta),
        note_of(delta).unwrap_or_default().to_owned(),
    ]
}

fn row_of(text: String, delta: &Delta) -> Vec<String> {
    std::iter::once(text).chain(delta_cells(delta)).collect()
}

fn difference(job: &Job, diff: &Diff, blocks: &mut Vec<Block>) {
    let [a, b] = [0, 1].map(|rank| format!("Rank {}", label(job, rank)));
    blocks.push(Block::Heading(1, format!("From rank {} to rank {}", label(job, 0), label(job, 1))));
    blocks.push(Block::Paragraph(comparable_text(diff)));
    blocks.push(Block::Paragraph(noise_rule_text(diff)));
    let sums_of = sums_of_text(diff);
    let head = |first: &'static str| vec![first, a.as_str(), b.as_str(), "Difference", "Change", "Note"];
    let mut rows = vec![row_of(length_text(diff).to_owned(), &diff.step)];
    rows.extend(diff.parts.iter().map(|(part, delta)| row_of(part.text().to_owned(), delta)));
    rows.extend(diff.causes.iter().map(|(cause, delta)| row_of(format!("  idle: {}", cause.text()), delta)));
    blocks.push(Block::Table(Grid::new(scope_text(diff), &head("Time"), &[5], rows)));
    blocks.push(Block::Paragraph(verdict_change_text(job, 0, 1)));
    let rows: Vec<Vec<String>> =
        diff.collectives.iter().map(|c| row_of(c.kind.text().to_owned(), &c.per_step)).collect();
    if !rows.is_empty() {
        let caption = format!("Communication kernels {sums_of}");
        blocks.push(Block::Table(Grid::new(&caption, &head("Collective"), &[5], rows)));
    }
    let kernel = |kernel: &crate::job::KernelDelta| {
        let shape = kernel.blocks.map(|_| format!(" [{}]", shape_text(kernel.blocks))).unwrap_or_default();
        row_of(format!("{}{shape}", format::one_line(&kernel.name, 60)), &kernel.per_step)
    };
    let rows: Vec<Vec<String>> = diff.kernels.iter().filter(|k| k.per_step.ns() != 0).take(ROWS).map(kernel).collect();
    if !rows.is_empty() {
        let caption = format!("Kernels by full name and launch shape, {sums_of}, the largest difference first");
        blocks.push(Block::Table(Grid::new(&caption, &head("Kernel"), &[5], rows)));
    }
    let range = |range: &crate::job::RangeDelta| row_of(format::one_line(&range.path.join(" / "), 60), &range.per_step);
    let rows: Vec<Vec<String>> = diff.ranges.iter().filter(|r| r.per_step.ns() != 0).take(ROWS).map(range).collect();
    if !rows.is_empty() {
        let caption = format!("NVTX ranges on the GPU, {sums_of}, the largest difference first");
        blocks.push(Block::Table(Grid::new(&caption, &head("Range"), &[5], rows)));
    }
}
