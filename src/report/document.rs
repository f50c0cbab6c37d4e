//! The report as blocks that pages of any form are made of.

use super::mfu::lines;
use super::text::step_note;
use super::{ExportReport, RankReport, Report, StepReport};
use crate::analysis::{KernelSum, Part, Partition};
use crate::format;

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// A heading; level 1 is below the page's title.
    Heading(usize, String),
    /// Prose.
    Paragraph(String),
    /// Lines that stand one below the other.
    List(Vec<String>),
    /// A table.
    Table(Grid),
    /// Where the pictures go.
    Pictures,
}

/// A table of text. The first cell of each row names the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    /// What it shows.
    pub caption: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// True for each column that holds words, false for numbers.
    pub words: Vec<bool>,
    /// Rows as long as the head.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table whose first column, and those named in `words`, hold words.
    pub(super) fn new(caption: &str, head: &[&str], words: &[usize], rows: Vec<Vec<String>>) -> Self {
        Self {
            caption: caption.to_owned(),
            head: head.iter().map(|name| (*name).to_owned()).collect(),
            words: (0..head.len()).map(|at| at == 0 || words.contains(&at)).collect(),
            rows,
        }
    }

    /// A table whose first row names the columns; those in `words` hold words. Short rows are filled up.
    pub(super) fn headed(caption: &str, words: &[usize], mut rows: Vec<Vec<String>>) -> Self {
        let head = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
        rows.iter_mut().for_each(|row| row.resize(head.len(), String::new()));
        let words = (0..head.len()).map(|at| words.contains(&at)).collect();
        Self { caption: caption.to_owned(), head, words, rows }
    }
}

/// The report as blocks.
pub(super) fn of(report: &Report) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(format!("Made by stepscope {}.", report.version))];
    blocks.push(files(&report.exports));
    if report.ranks.is_empty() {
        blocks.push(Block::Paragraph("No GPU work was recorded, so there is no time to split.".to_owned()));
    } else {
        blocks.push(Block::Heading(1, "Ranks".to_owned()));
        blocks.push(Block::Table(ranks(&report.ranks)));
        blocks.push(Block::Paragraph(
            "Shares are of the typical step where steps are marked, else of the whole span. Exposed communication: a \
             communication kernel was running and no compute kernel of that device."
                .to_owned(),
        ));
        blocks.extend(report.together.iter().cloned().map(Block::Paragraph));
    }
    blocks.push(Block::Pictures);
    mfu(report, &mut blocks);
    for rank in &report.ranks {
        rank_blocks(rank, &mut blocks);
    }
    for export in &report.exports {
        open_questions(export, &mut blocks);
    }
    blocks
}

fn name(text: &str) -> String {
    format::one_line(text, 160)
}

fn known(text: Option<&str>) -> String {
    text.map_or_else(|| format::UNKNOWN.to_owned(), name)
}

fn files(exports: &[ExportReport]) -> Block {
    let row = |export: &ExportReport| {
        vec![
            name(&export.path),
            format::bytes(export.file_bytes),
            known(export.nsys_version.as_deref()),
            known(export.captured_utc.as_deref()),
            known(export.host.as_deref()),
        ]
    };
    let head = ["File", "Size", "nsys", "Captured", "Host"];
    Block::Table(Grid::new("Captures", &head, &[2, 3, 4], exports.iter().map(row).collect()))
}

/// What the shares of a rank are of: its typical step, else its whole span.
fn subject(rank: &RankReport) -> &Partition {
    rank.typical_step.as_ref().filter(|_| !rank.steps_estimated).map_or(&rank.parts, |typical| &typical.mean)
}

fn ranks(ranks: &[RankReport]) -> Grid {
    let row = |rank: &RankReport| {
        let typical = rank.typical_step.as_ref().filter(|_| !rank.steps_estimated);
        let mut cells = vec![
            name(&rank.label),
            known(rank.gpu.as_deref()),
            known(rank.verdict.class()),
            typical.map_or_else(|| format::UNKNOWN.to_owned(), |typical| format::count(typical.count)),
            format::duration_or_unknown(typical.map(|typical| typical.median_span_ns)),
        ];
        let of = subject(rank);
        cells.extend(Part::ALL.map(|part| rank.part_share(part.of(of), of)));
        cells
    };
    let mut head = vec!["Rank", "GPU", "Bound by", "Typical steps", "Median step"];
    head.extend(Part::ALL.map(Part::text));
    Grid::new("Where the time went", &head, &[1, 2], ranks.iter().map(row).collect())
}

fn mfu(report: &Report, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(1, "MFU".to_owned()));
    let Some(numbers) = report.mfu.numbers() else {
        blocks.push(Block::Paragraph(super::mfu::NO_EXPERIMENT.to_owned()));
        return;
    };
    blocks.extend(report.mfu.source().map(|source| Block::Paragraph(name(&source))));
    let rows = lines(numbers).into_iter().map(|line| vec![line.name.to_owned(), line.value, name(&line.note)]);
    blocks.push(Block::Table(Grid::new("Utilisation", &["Quantity", "Value", "From"], &[2], rows.collect())));
    let remarks: Vec<String> = report.mfu.missing.iter().chain(&report.mfu.doubts).cloned().collect();
    if !remarks.is_empty() {
        blocks.push(Block::List(remarks));
    }
    for (caption, words, rows) in [
        ("What costs MFU", [0, 0], report.mfu.loss_rows()),
        ("The same step by every convention", [0, 2], report.mfu.convention_rows()),
    ] {
        if !rows.is_empty() {
            blocks.push(Block::Table(Grid::headed(caption, &words, rows)));
        }
    }
}

fn rank_blocks(rank: &RankReport, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(1, format!("Rank {}", name(&rank.label))));
    blocks.push(Block::Paragraph(format!(
        "Device {}, {}, process {}. {}.",
        rank.device,
        rank.gpu.as_deref().map_or_else(|| "GPU model not recorded".to_owned(), name),
        rank.pid,
        rank.counts_text(),
    )));
    verdict(rank, blocks);
    blocks.push(Block::Heading(2, "Parts".to_owned()));
    blocks.push(Block::Table(parts(rank)));
    blocks.extend(rank.doubt.map(|doubt| Block::Paragraph(format!("{}: {}", format::UNKNOWN, doubt.consequence()))));
    steps(rank, blocks);
    idle(rank, blocks);
    kernels(rank, blocks);
    section("Communication", rank.comm.blocks(), blocks);
    section("NVTX ranges on the GPU", rank.ranges.blocks(), blocks);
    section("Launches", rank.launch.blocks(), blocks);
}

/// The verdict in words, then the findings.
fn verdict(rank: &RankReport, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(2, "Verdict".to_owned()));
    blocks.push(Block::List(rank.verdict.lines().to_vec()));
    let rows = rank.verdict.rows();
    if !rows.is_empty() {
        let head = ["Rule", "Finding", "Time", "Share", "Evidence", "Advice"];
        blocks.push(Block::Table(Grid::new("Findings, by the time they could win", &head, &[1, 4, 5], rows)));
    }
}

/// A section, when there is anything in it.
fn section(title: &str, inside: Vec<Block>, blocks: &mut Vec<Block>) {
    if !inside.is_empty() {
        blocks.push(Block::Heading(2, title.to_owned()));
        blocks.extend(inside);
    }
}

fn parts(rank: &RankReport) -> Grid {
    let typical = rank.typical_step.as_ref();
    let columns: Vec<&Partition> = std::iter::once(&rank.parts).chain(typical.map(|typical| &typical.mean)).collect();
    let mut head = vec!["Part", "Whole span", "Share"];
    if typical.is_some() {
        head.extend([if rank.steps_estimated { "Estimated step" } else { "Typical step" }, "Share"]);
    }
    Grid::new("Parts of the time", &head, &[], rank.part_rows(&columns))
}

fn steps(rank: &RankReport, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(2, "Steps".to_owned()));
    let (Some(stem), Some(typical)) = (&rank.step_stem, &rank.typical_step) else {
        blocks.push(Block::Paragraph("No steps are marked in this capture.".to_owned()));
        return;
    };
    let caption = if rank.steps_estimated {
        "Steps, estimated from repeating kernels (no range marks them)".to_owned()
    } else {
        format!("Steps \"{}\": {} typical", name(stem), format::count(typical.count))
    };
    let row = |step: &StepReport| {
        let mut cells = vec![name(&step.name), format::duration(step.parts.span_ns)];
        cells.extend(Part::ALL.map(|part| rank.part_text(part.of(&step.parts))));
        cells.push(step_note(step));
        cells
    };
    let mut head = vec!["Step", "Window"];
    head.extend(Part::ALL.map(Part::text));
    head.push("Note");
    blocks.push(Block::Table(Grid::new(&caption, &head, &[7], rank.steps.iter().map(row).collect())));
}

fn idle(rank: &RankReport, blocks: &mut Vec<Block>) {
    if rank.idle.idle_causes_ns.total_ns() == 0 && rank.doubt.is_none() {
        return;
    }
    blocks.push(Block::Heading(2, "Idle time".to_owned()));
    if rank.doubt.is_some() {
        blocks.push(Block::Paragraph(super::idle::NOT_KNOWN.to_owned()));
        return;
    }
    let mut rows = rank.idle.rows();
    let mut head = rows.remove(0);
    head.iter_mut().filter(|name| name.is_empty()).for_each(|name| "Share".clone_into(name));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    blocks.push(Block::Table(Grid::new("Idle time by cause", &head, &[], rows)));
    blocks.extend(rank.idle.outside_text().map(|text| Block::Paragraph(text.to_owned())));
    let gaps: Vec<String> = rank.idle.gaps.iter().map(|gap| format!("{}: {}", gap.moment(), gap.sentence)).collect();
    if !gaps.is_empty() {
        blocks.push(Block::Paragraph(format!("{}:", rank.idle.listed_text())));
        blocks.push(Block::List(gaps));
    }
    blocks.extend(rank.idle.shorter_text().map(|text| Block::Paragraph(format!("{text}."))));
}

fn kernels(rank: &RankReport, blocks: &mut Vec<Block>) {
    let cells = |name: String, sum: &KernelSum| vec![name, format::count(sum.count), format::duration(sum.total_ns)];
    let mut rows: Vec<Vec<String>> =
        rank.families.iter().map(|(family, sum)| cells(family.text().to_owned(), sum)).collect();
    rows.extend(rank.fused.iter().map(|(kind, sum)| cells(format!("fused {kind}"), sum)));
    rows.extend(rank.unclassified.iter().map(|kernel| cells(name(&kernel.name), &kernel.sum)));
    if !rows.is_empty() {
        blocks.push(Block::Heading(2, "Kernels".to_owned()));
        let caption = "Kernels by family, then those that no rule knows";
        blocks.push(Block::Table(Grid::new(caption, &["Kernels", "Count", "Total"], &[], rows)));
    }
    let row = |(kind, sum): (&&str, &crate::analysis::CollectiveSum)| {
        vec![
            (*kind).to_owned(),
            format::count(sum.count),
            format::duration(sum.total_ns),
            format::duration(sum.exposed_ns),
        ]
    };
    if !rank.collectives.is_empty() {
        let rows = rank.collectives.iter().map(row).collect();
        let head = ["Collective", "Count", "Total", "Exposed"];
        blocks.push(Block::Table(Grid::new("Collectives", &head, &[], rows)));
    }
}

fn open_questions(export: &ExportReport, blocks: &mut Vec<Block>) {
    let warnings = export.warnings.iter().map(|warning| {
        let times =
            if warning.count > 1 { format!(" ({} times)", format::count(warning.count)) } else { String::new() };
        format!("{}: {}{times}", warning.code, format::one_line(&warning.message, 400))
    });
    let warnings: Vec<String> = warnings.collect();
    if !warnings.is_empty() {
        blocks.push(Block::Heading(1, format!("Warnings, {}", name(&export.path))));
        blocks.push(Block::List(warnings));
    }
    let limits: Vec<String> =
        export.limits.iter().map(|limit| format!("{} Next time: {}", limit.consequence, limit.remedy)).collect();
    if !limits.is_empty() {
        blocks.push(Block::Heading(1, format!("What {} cannot answer", name(&export.path))));
        blocks.push(Block::List(limits));
    }
}
