//! The report as text for a terminal.

use super::guide;
use super::table::{paragraph, table};
use super::{Capture, ExportReport, RankReport, Report, StepReport};
use crate::analysis::{KernelSum, Part, Partition, StepEdge};
use crate::format;
use crate::units::share;
use std::collections::BTreeSet;

/// The report of some captures as text.
pub fn report_text(captures: &[Capture<'_>]) -> String {
    text_of(&Report::of(captures))
}

/// A report as text.
pub(super) fn text_of(report: &Report) -> String {
    let mut text = String::new();
    for export in &report.exports {
        text.push_str(&heading(export));
    }
    for rank in &report.ranks {
        text.push('\n');
        text.push_str(&rank_text(rank));
    }
    if report.ranks.is_empty() {
        text.push_str("\nNo GPU work was recorded, so there is no time to split.\n");
    }
    if !report.together.is_empty() {
        text.push_str("\nRanks together\n");
        text.extend(report.together.iter().map(|line| paragraph("  ", line)));
    }
    text.push_str(&report.mfu.text());
    for export in &report.exports {
        text.push_str(&open_questions(export));
    }
    text.push_str(&guide::text(&report.guide));
    text
}

/// One line on a file.
pub(super) fn heading(export: &ExportReport) -> String {
    let version =
        export.nsys_version.as_deref().map_or_else(|| "nsys of unknown version".to_owned(), |v| format!("nsys {v}"));
    let captured = export.captured_utc.as_deref().map(|at| format!(", captured {at}")).unwrap_or_default();
    let host = export.host.as_deref().map(|host| format!(", host {host}")).unwrap_or_default();
    format!("{}  ({}, {version}{captured}{host})\n", export.path, format::bytes(export.file_bytes))
}

fn rank_text(rank: &RankReport) -> String {
    let gpu = rank.gpu.as_deref().unwrap_or("GPU model not recorded");
    let mut text =
        format!("Rank {}  device {}, {gpu}, pid {}\n", format::one_line(&rank.label, 80), rank.device, rank.pid);
    text.push_str(&format!(
        "  {}, primary stream {}\n",
        rank.counts_text(),
        rank.primary_stream.map_or_else(|| format::UNKNOWN.to_owned(), |id| id.to_string()),
    ));
    text.push_str(&rank.verdict.headline());
    text.push('\n');
    text.push_str(&parts_text(rank));
    if !rank.collectives.is_empty() {
        let mut rows = vec![row(&["Collective", "count", "total", "exposed"])];
        rows.extend(rank.collectives.iter().map(|(kind, sum)| {
            vec![
                (*kind).to_owned(),
                format::count(sum.count),
                format::duration(sum.total_ns),
                format::duration(sum.exposed_ns),
            ]
        }));
        text.push('\n');
        text.push_str(&table("  ", &rows));
    }
    text.push_str(&kernels_text(rank));
    text.push_str(&overlaps_text(rank));
    text.push_str(&steps_text(rank));
    for section in [rank.verdict.text(), rank.idle.text(), rank.comm.text(), rank.ranges.text(), rank.launch.text()] {
        text.push_str(&section);
    }
    text
}

/// Kernel time by family, and what no rule knows.
fn kernels_text(rank: &RankReport) -> String {
    let mut rows = vec![row(&["Kernels", "count", "total"])];
    let cells = |name: String, sum: &KernelSum| vec![name, format::count(sum.count), format::duration(sum.total_ns)];
    rows.extend(rank.families.iter().map(|(family, sum)| cells(family.text().to_owned(), sum)));
    rows.extend(rank.fused.iter().map(|(kind, sum)| cells(format!("fused {kind}"), sum)));
    if rows.len() == 1 {
        return String::new();
    }
    let mut text = format!("\n{}", table("  ", &rows));
    if !rank.unclassified.is_empty() {
        text.push_str("\n  Kernels that no rule knows (give them a class with --rules)\n");
        let rows: Vec<Vec<String>> =
            rank.unclassified.iter().map(|k| cells(format::one_line(&k.name, 80), &k.sum)).collect();
        text.push_str(&table("    ", &rows));
    }
    text
}

/// What ran at once, when more than compute, one kind of collective and copies can be told apart.
fn overlaps_text(rank: &RankReport) -> String {
    const LISTED: usize = 16;
    let names: BTreeSet<&str> = rank.overlaps.iter().flat_map(|set| &set.groups).map(String::as_str).collect();
    let told_by_parts = ["compute", "copies"];
    if names.iter().filter(|name| !told_by_parts.contains(*name)).count() < 2 {
        return String::new();
    }
    let mut rows = vec![row(&["What ran at once", "whole span", "", "typical step"])];
    rows.extend(rank.overlaps.iter().take(LISTED).map(|set| {
        vec![
            if set.groups.is_empty() { "nothing".to_owned() } else { format::one_line(&set.groups.join(" + "), 80) },
            format::duration(set.whole_ns),
            format::percent(share(set.whole_ns, rank.parts.span_ns)),
            format::duration_or_unknown(set.typical_step_ns),
        ]
    }));
    format!("\n{}", table("  ", &rows))
}

/// Whole capture and typical step next to each other.
fn parts_text(rank: &RankReport) -> String {
    let typical = rank.typical_step.as_ref();
    let mut head = row(&["", "whole span", ""]);
    if let Some(typical) = typical {
        let name = if rank.steps_estimated { "estimated step" } else { "typical step" };
        head.extend([format!("{name} (mean of {})", format::count(typical.count)), String::new()]);
    }
    let columns: Vec<&Partition> = std::iter::once(&rank.parts).chain(typical.map(|t| &t.mean)).collect();
    let mut rows = vec![head];
    rows.extend(rank.part_rows(&columns));
    let reason = rank.doubt.map(|doubt| paragraph("  ", &format!("{}: {}", format::UNKNOWN, doubt.consequence())));
    format!("{}{}", table("  ", &rows), reason.unwrap_or_default())
}

fn steps_text(rank: &RankReport) -> String {
    let (Some(stem), Some(typical)) = (&rank.step_stem, &rank.typical_step) else {
        return "\n  No steps are marked in this capture.\n".to_owned();
    };
    let kind = if rank.steps_estimated {
        "Steps, estimated from repeating kernels (no range marks them)".to_owned()
    } else {
        format!("Steps \"{}\"", format::one_line(stem, 60))
    };
    let mut text = format!(
        "\n  {kind}: {}, {} typical, median {}\n",
        format::count(rank.steps.len() as u64),
        format::count(typical.count),
        format::duration(typical.median_span_ns),
    );
    let mut head = row(&["", "window"]);
    head.extend(Part::ALL.map(|part| part.text().to_owned()));
    let mut rows = vec![head];
    rows.extend(rank.steps.iter().map(|step| step_row(rank, step)));
    text.push_str(&table("  ", &rows));
    text
}

fn step_row(rank: &RankReport, step: &StepReport) -> Vec<String> {
    let mut cells = vec![format::one_line(&step.name, 40), format::duration(step.parts.span_ns)];
    cells.extend(Part::ALL.map(|part| rank.part_text(part.of(&step.parts))));
    cells.push(step_note(step));
    cells
}

/// What is odd about a step, in a few words.
pub(super) fn step_note(step: &StepReport) -> String {
    let edge = edge_text(step.edge, step.typical);
    let holds = empty_ranges_text(step.empty_ranges_before);
    [edge.to_owned(), holds].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Whose time is in a step's window besides its own; empty when nobody's.
pub fn empty_ranges_text(count: u64) -> String {
    match count {
        0 => String::new(),
        count => {
            let ranges = format::counted(count, "earlier range", "earlier ranges");
            format!("begins with {ranges} that ran nothing on the GPU")
        }
    }
}

/// What sets a step apart from the typical ones; empty for those.
pub const fn edge_text(edge: Option<StepEdge>, typical: bool) -> &'static str {
    match (edge, typical) {
        (Some(StepEdge::WarmUp), _) => "warm-up",
        (Some(StepEdge::Cut), _) => "cut by the capture",
        (Some(StepEdge::Outlier), _) => "outlier",
        (None, true) => "",
        (None, false) => "outside 20 %",
    }
}

/// Warnings of a file and what it cannot answer.
pub(super) fn open_questions(export: &ExportReport) -> String {
    let mut text = String::new();
    if !export.warnings.is_empty() {
        text.push_str(&format!("\nWarnings, {}\n", export.path));
        for warning in &export.warnings {
            let times =
                if warning.count > 1 { format!(" ({} times)", format::count(warning.count)) } else { String::new() };
            text.push_str(&format!("  {}: {}{times}\n", warning.code, format::one_line(&warning.message, 400)));
        }
    }
    if !export.limits.is_empty() {
        text.push_str(&format!("\nWhat {} cannot answer\n", export.path));
        for limit in &export.limits {
            text.push_str(&format!("  {}\n    Next time: {}\n", limit.consequence, limit.remedy));
        }
    }
    text
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::report::{Form, Picture};
    use crate::trace::OpKind;
    use crate::trace::testing::Fixture;

    #[test]
    fn what_a_capture_without_kernels_does_not_tell_is_a_dash_with_the_reason() {
        let mut fixture = Fixture::new();
        fixture.call("cudaLaunchKernel_v7000", 11, 0, 10, None);
        fixture.gpu_op(OpKind::Memset, "", 9, 1_000, 2_000, None, Some(8));
        fixture.gpu_op(OpKind::Memset, "", 9, 90_000, 91_000, None, Some(8));
        let trace = fixture.build();
        let analysis = analyze(&trace, &Params::default());
        let captures = [Capture { trace: &trace, analysis: &analysis }];
        let none: &[Picture] = &[];
        for form in [Form::Text, Form::Markdown] {
            let text = form.write(&captures, None, none).unwrap();
            assert!(text.contains("No kernels were recorded although") && text.contains("not known"), "{text}");
            let parts: Vec<&str> = text.lines().filter(|line| line.contains("Compute only")).collect();
            assert!(!parts.is_empty() && parts.iter().all(|line| !line.contains("0 ns")), "{text}");
            assert!(!text.contains("Idle by cause") && !text.contains("Longest of"), "{text}");
            assert!(!text.contains("Up to"), "{text}");
        }
    }
}
