//! NVTX ranges on the GPU of one rank, as JSON keys and text.

use super::document::{Block, Grid};
use super::table::{paragraph, table};
use crate::analysis::{Attribution, RangeSum, RangeSums, RankAnalysis};
use crate::format;
use crate::trace::{Rank, Trace};
use crate::units::share;
use serde::Serialize;

/// Children listed of a node, and levels, in JSON.
const JSON_LIMITS: Limits = Limits { children: 40, levels: 8 };
/// The same, in text.
const TEXT_LIMITS: Limits = Limits { children: 6, levels: 4 };
/// What a column means.
const GPU_BUSY: &str = "GPU busy: time during which anything ran that any thread launched while the range was open. CPU time: what of the \
                        range lies inside the windows that are summed, which are GPU time; a range that is open across their \
                        edge counts in part.";
/// Nodes listed in all, in JSON.
const MOST_NODES: usize = 2000;

#[derive(Debug, Clone, Copy)]
struct Limits {
    children: usize,
    levels: usize,
}

/// NVTX ranges on the GPU of one rank; its fields stand among the rank's own.
#[derive(Debug, Serialize)]
pub struct RangesReport {
    /// The tree of ranges; absent when the process has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<RangeTree>,
}

/// The tree of ranges.
#[derive(Debug, Serialize)]
pub struct RangeTree {
    /// Which operations belong to a range.
    pub attribution: Attribution,
    /// Typical steps that the means are over.
    pub typical_steps: Option<u64>,
    /// Operations that no range holds.
    pub outside: Row,
    /// The top of the tree, most GPU time first.
    pub nodes: Vec<RangeNode>,
    /// Further ranges at the top.
    pub hidden: u64,
}

/// What some ranges took, over the capture and in the typical step.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Row {
    /// Over the whole capture.
    #[serde(flatten)]
    pub whole: RangeSum,
    /// Share of the rank's span during which any of it ran.
    pub share: Option<f64>,
    /// The same over the whole capture, counting only what the range's own thread launched inside it.
    pub same_thread: RangeSum,
    /// Means over the typical steps.
    pub typical_step: Option<RangeSum>,
    /// Share of the typical step during which any of it ran.
    pub typical_share: Option<f64>,
}

/// Ranges of one name under one parent.
#[derive(Debug, Serialize)]
pub struct RangeNode {
    /// Name; `#` stands for numbers that differ.
    pub name: String,
    /// What they took.
    #[serde(flatten)]
    pub row: Row,
    /// Nanoseconds of each step's window during which any of it ran, in the order of `steps`.
    pub busy_by_step_ns: Vec<i64>,
    /// The ranges inside, most GPU time first.
    pub children: Vec<Self>,
    /// Further ranges inside.
    pub hidden_children: u64,
}

/// Reads the tree.
struct Reader<'a> {
    trace: &'a Trace,
    numbers: &'a RankAnalysis,
    typical: Option<(RangeSums, u64)>,
    left: usize,
}

impl RangesReport {
    /// The section of a rank.
    pub(super) fn of(trace: &Trace, _rank: &Rank, numbers: &RankAnalysis) -> Self {
        let ranges = &numbers.ranges;
        if ranges.is_empty() {
            return Self { ranges: None };
        }
        let typical = ranges.typical(trace, Attribution::Process);
        let mut reader = Reader { trace, numbers, typical, left: MOST_NODES };
        let (nodes, hidden) = reader.children(None, JSON_LIMITS.levels);
        let outside = reader.row(|sums| sums.outside);
        let typical_steps = reader.typical.as_ref().map(|(_, count)| *count);
        let attribution = Attribution::Process;
        Self { ranges: Some(RangeTree { attribution, typical_steps, outside, nodes, hidden }) }
    }

    /// The section as text, indented under its rank; empty when there is nothing to say.
    pub(super) fn text(&self) -> String {
        let Some(tree) = &self.ranges else { return String::new() };
        format!("\n{}{}", table("  ", &tree.rows()), paragraph("  ", GPU_BUSY))
    }

    /// The section as blocks of a document; none when there is nothing to say.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let Some(tree) = &self.ranges else { return Vec::new() };
        let mut rows = tree.rows();
        // Documents drop plain spaces at the start of a cell, and with them who is inside whom.
        for name in rows.iter_mut().filter_map(|row| row.first_mut()) {
            let depth = name.chars().take_while(|c| *c == ' ').count();
            name.replace_range(..depth, &"\u{a0}".repeat(depth));
        }
        let caption = rows.first().and_then(|row| row.first()).cloned().unwrap_or_default();
        if let Some(title) = rows.first_mut().and_then(|row| row.first_mut()) {
            "Range".clone_into(title);
        }
        vec![Block::Table(Grid::headed(&caption, &[0], rows)), Block::Paragraph(GPU_BUSY.to_owned())]
    }
}

impl RangeTree {
    /// Name, counts and times of the ranges, indented by depth, below a row of column names whose first says what the
    /// numbers are of.
    fn rows(&self) -> Vec<Vec<String>> {
        let title = match self.typical_steps {
            Some(1) => "NVTX ranges, typical step".to_owned(),
            Some(count) => {
                format!("NVTX ranges, mean of {}", format::counted(count, "typical step", "typical steps"))
            }
            None => "NVTX ranges, whole capture".to_owned(),
        };
        let heads = ["count", "CPU time", "GPU busy", "share", "GPU ops"];
        let mut rows = vec![std::iter::once(title).chain(heads.map(str::to_owned)).collect()];
        self.nodes.iter().take(TEXT_LIMITS.children).for_each(|node| node.text(1, &mut rows));
        more(&mut rows, 0, self.nodes.len(), self.hidden);
        if self.outside.shown().gpu_ops > 0 {
            let mut cells = cells("outside all ranges".to_owned(), &self.outside);
            cells.iter_mut().skip(1).take(2).for_each(|cell| format::UNKNOWN.clone_into(cell));
            rows.push(cells);
        }
        rows
    }
}

impl Reader<'_> {
    fn children(&mut self, node: Option<u32>, levels: usize) -> (Vec<RangeNode>, u64) {
        let ranges = &self.numbers.ranges;
        let most = if levels == 0 { 0 } else { JSON_LIMITS.children.min(self.left) };
        let listing = ranges.listed(ranges.whole(self.trace, Attribution::Process), node, most, |_| true);
        self.left = self.left.saturating_sub(listing.nodes.len());
        let nodes = listing.nodes.iter().map(|node| self.node(*node, levels.saturating_sub(1))).collect();
        (nodes, listing.hidden as u64)
    }

    fn node(&mut self, node: u32, levels: usize) -> RangeNode {
        let ranges = &self.numbers.ranges;
        let row = self.row(|sums| sums.nodes.get(node as usize).copied().unwrap_or_default());
        let busy_by_step_ns = ranges.busy_by_step(self.trace, Attribution::Process, node);
        let (children, hidden_children) = self.children(Some(node), levels);
        RangeNode { name: ranges.name(self.trace, node), row, busy_by_step_ns, children, hidden_children }
    }

    fn row(&self, of: impl Fn(&RangeSums) -> RangeSum) -> Row {
        let ranges = &self.numbers.ranges;
        let whole = of(ranges.whole(self.trace, Attribution::Process));
        let typical_step = self.typical.as_ref().map(|(sums, _)| of(sums));
        let step_ns = self.numbers.steps.as_ref().map_or(0, |steps| steps.typical.mean.span_ns);
        Row {
            whole,
            share: share(whole.busy_ns, self.numbers.span.len_ns()),
            same_thread: of(ranges.whole(self.trace, Attribution::SameThread)),
            typical_step,
            typical_share: typical_step.and_then(|sum| share(sum.busy_ns, step_ns)),
        }
    }
}

impl Row {
    /// What the text shows: the typical step when there are steps.
    fn shown(&self) -> RangeSum {
        self.typical_step.unwrap_or(self.whole)
    }
}

impl RangeNode {
    fn text(&self, depth: usize, rows: &mut Vec<Vec<String>>) {
        let name = format!("{}{}", "  ".repeat(depth - 1), format::one_line(&self.name, 60));
        rows.push(cells(name, &self.row));
        if depth == TEXT_LIMITS.levels {
            return;
        }
        self.children.iter().take(TEXT_LIMITS.children).for_each(|child| child.text(depth + 1, rows));
        more(rows, depth, self.children.len(), self.hidden_children);
    }
}

fn cells(name: String, row: &Row) -> Vec<String> {
    let sum = row.shown();
    vec![
        name,
        format::count(sum.count),
        format::duration(sum.cpu_ns),
        format::duration(sum.busy_ns),
        format::percent(row.typical_share.or(row.share)),
        format::count(sum.gpu_ops),
    ]
}

/// Says how many ranges are left out.
fn more(rows: &mut Vec<Vec<String>>, depth: usize, listed: usize, hidden: u64) {
    let left_out = listed.saturating_sub(TEXT_LIMITS.children) as u64 + hidden;
    if left_out > 0 {
        rows.push(vec![format!("{}({} more)", "  ".repeat(depth), format::count(left_out))]);
    }
}
