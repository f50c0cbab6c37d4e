//! Launches of one rank, as JSON keys and text.

use super::document::{Block, Grid};
use super::table::table;
use crate::analysis::{
    ApiCallSum, HistogramBin, LaunchSums, RankAnalysis, SlowCalls, Spread, StepLaunches, SyncCall, SyncKind, SyncSum,
    base_name,
};
use crate::format;
use crate::trace::{Rank, Trace};
use serde::Serialize;

/// Entries of a list in the text.
const TEXT_ROWS: usize = 10;
/// Longest waits in the text.
const TEXT_WAITS: usize = 5;
/// Entries of a list in the JSON.
const JSON_ROWS: usize = 100;

/// Launches of one rank; its fields stand among the rank's own.
#[derive(Debug, Serialize)]
pub struct LaunchReport {
    launches: LaunchesReport,
}

#[derive(Debug, Serialize)]
struct LaunchesReport {
    #[serde(flatten)]
    whole: LaunchSums,
    histogram: Vec<HistogramBin>,
    short_kernels: ShortReport,
    slow_calls: SlowCalls,
    api_calls: Vec<ApiCallSum>,
    syncs: SyncsReport,
    steps: Vec<StepReport>,
}

#[derive(Debug, Serialize)]
struct ShortReport {
    below_ns: i64,
    often_from: u64,
    count: u64,
    count_share: Option<f64>,
    total_ns: i64,
    time_share: Option<f64>,
    mean_kernel_ns: Option<i64>,
    often_ns: i64,
    often_share: Option<f64>,
    often: Vec<SmallReport>,
}

#[derive(Debug, Serialize)]
struct SmallReport {
    kernel: String,
    count: u64,
    total_ns: i64,
    mean_ns: i64,
}

#[derive(Debug, Serialize)]
struct SyncsReport {
    count: u64,
    by_name: Vec<SyncSum>,
    longest: Vec<SyncReport>,
}

#[derive(Debug, Serialize)]
struct SyncReport {
    name: String,
    start_ns: i64,
    since_start_ns: i64,
    len_ns: i64,
    kind: SyncKind,
    stream: Option<i64>,
    waited_for: Option<String>,
    waited_for_end_ns: Option<i64>,
}

#[derive(Debug, Serialize)]
struct StepReport {
    name: String,
    number: Option<i64>,
    #[serde(flatten)]
    launches: StepLaunches,
}

impl LaunchReport {
    /// The section of a rank.
    pub(super) fn of(trace: &Trace, rank: &Rank, numbers: &RankAnalysis) -> Self {
        let of = &numbers.launches;
        let short = &of.short;
        let small = short.often.iter().map(|kernel| SmallReport {
            kernel: trace.op_short_name(kernel.name).to_owned(),
            count: kernel.count,
            total_ns: kernel.total_ns,
            mean_ns: kernel.mean_ns,
        });
        let steps = numbers.steps.iter().flat_map(|steps| &steps.steps).zip(&of.steps);
        Self {
            launches: LaunchesReport {
                whole: of.whole.unwrap_or_default(),
                histogram: of.histogram.clone(),
                short_kernels: ShortReport {
                    below_ns: short.below_ns,
                    often_from: short.often_from,
                    count: short.count,
                    count_share: short.count_share,
                    total_ns: short.total_ns,
                    time_share: short.time_share,
                    mean_kernel_ns: short.mean_kernel_ns,
                    often_ns: short.often_ns,
                    often_share: short.often_share,
                    often: small.collect(),
                },
                slow_calls: of.slow_calls,
                api_calls: of.api_calls.clone(),
                syncs: SyncsReport {
                    count: of.sync_count,
                    by_name: of.sync_sums.clone(),
                    longest: of.syncs.iter().take(JSON_ROWS).map(|sync| SyncReport::of(trace, rank, sync)).collect(),
                },
                steps: steps
                    .map(|(step, launches)| StepReport {
                        name: step.name.clone(),
                        number: step.number,
                        launches: *launches,
                    })
                    .collect(),
            },
        }
    }

    /// The section as text, indented under its rank; empty when there is nothing to say.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for piece in self.pieces() {
            match piece {
                Piece::Table { rows, is_joined, .. } => {
                    text.push_str(if is_joined { "" } else { "\n" });
                    text.push_str(&table("  ", &rows));
                }
                Piece::Note(note) => text.push_str(&format!("  {note}\n")),
            }
        }
        text
    }

    /// The section as blocks of a document; none when there is nothing to say.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let block = |piece| match piece {
            Piece::Table { caption, words, rows, .. } => Block::Table(Grid::headed(caption, words, rows)),
            Piece::Note(note) => Block::Paragraph(note),
        };
        self.pieces().into_iter().map(block).collect()
    }

    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.latency(&mut pieces);
        self.short(&mut pieces);
        self.calls(&mut pieces);
        self.syncs(&mut pieces);
        pieces
    }

    fn latency(&self, pieces: &mut Vec<Piece>) {
        let whole = &self.launches.whole;
        if whole.launches == 0 {
            return;
        }
        let mut rows = vec![row(&["Launches", "count", "mean", "50 %", "90 %", "99 %", "longest"])];
        let mut line = |name: &str, spread: Option<Spread>| {
            if let Some(spread) = spread {
                let times = [spread.mean_ns, spread.p50_ns, spread.p90_ns, spread.p99_ns, spread.max_ns];
                let cells = [name.to_owned(), format::count(spread.count)];
                rows.push(cells.into_iter().chain(times.map(format::duration)).collect());
            }
        };
        line("latency (start of the call to start of the work)", whole.latency);
        line("queue time (end of the call to start of the work)", whole.queue_time);
        pieces.push(Piece::table("Latency and queue time", rows));
        pieces.push(Piece::Note(format!(
            "{} launched {}; at most {} queued, {} on average.",
            format::counted(whole.launches, "call", "calls"),
            format::counted(whole.operations, "operation", "operations"),
            format::counted(whole.max_depth.into(), "was", "were"),
            format::mean_count(whole.mean_depth),
        )));
        let slow = &self.launches.slow_calls;
        if slow.count > 0 {
            pieces.push(Piece::Note(format!(
                "{} took over {}, {} together (thread time).",
                format::counted(slow.count, "launching call", "launching calls"),
                format::duration(slow.over_ns),
                format::duration(slow.total_ns)
            )));
        }
    }

    fn short(&self, pieces: &mut Vec<Piece>) {
        let short = &self.launches.short_kernels;
        if short.count == 0 {
            return;
        }
        pieces.push(Piece::Note(format!(
            "Kernels under {}: {} ({} of all kernels) with {} ({} of kernel time); a kernel takes {} on average.",
            format::duration(short.below_ns),
            format::count(short.count),
            format::percent(short.count_share),
            format::duration(short.total_ns),
            format::percent(short.time_share),
            format::duration_or_unknown(short.mean_kernel_ns),
        )));
        if short.often.is_empty() {
            return;
        }
        let times = format::counted(short.often_from, "time", "times");
        let mut rows = vec![row(&[&format!("Small kernels launched at least {times}"), "count", "total", "mean"])];
        rows.extend(short.often.iter().take(TEXT_ROWS).map(|kernel| {
            vec![
                format::one_line(&kernel.kernel, 60),
                format::count(kernel.count),
                format::duration(kernel.total_ns),
                format::duration(kernel.mean_ns),
            ]
        }));
        pieces.push(Piece::table("Small kernels that are launched often", rows));
        pieces.push(Piece::Note(format!(
            "All of them: {}, {} of the time during which anything ran.",
            format::duration(short.often_ns),
            format::percent(short.often_share)
        )));
    }

    fn calls(&self, pieces: &mut Vec<Piece>) {
        let calls = &self.launches.api_calls;
        if calls.is_empty() {
            return;
        }
        let mut rows = vec![row(&["API calls (time of all threads)", "count", "total", "mean", "longest"])];
        rows.extend(calls.iter().take(TEXT_ROWS).map(|call| {
            vec![
                format::one_line(&call.name, 60),
                format::count(call.count),
                format::duration(call.total_ns),
                format::duration(call.mean_ns),
                format::duration(call.longest_ns),
            ]
        }));
        pieces.push(Piece::table("CUDA calls", rows));
    }

    fn syncs(&self, pieces: &mut Vec<Piece>) {
        let syncs = &self.launches.syncs;
        if syncs.count == 0 {
            return;
        }
        let mut rows = vec![row(&["Calls that waited for the GPU", "count", "total", "longest"])];
        rows.extend(syncs.by_name.iter().take(TEXT_ROWS).map(|sum| {
            vec![
                format::one_line(&sum.name, 60),
                format::count(sum.count),
                format::duration(sum.total_ns),
                format::duration(sum.longest_ns),
            ]
        }));
        pieces.push(Piece::table("Waiting for the GPU", rows));
        let mut rows = vec![row(&["Longest waits", "at", "call", "for", "last to end"])];
        rows.extend(syncs.longest.iter().take(TEXT_WAITS).map(|sync| {
            vec![
                format::duration(sync.len_ns),
                format::duration(sync.since_start_ns),
                format::one_line(&sync.name, 40),
                sync.kind.text(sync.stream),
                sync.waited_for.as_deref().map_or_else(|| "nothing".to_owned(), |name| format::one_line(name, 60)),
            ]
        }));
        pieces.push(Piece::Table { caption: "The longest waits", words: &[2, 3, 4], rows, is_joined: true });
    }
}

/// A part of the section.
enum Piece {
    /// A table below a row of column names.
    Table {
        /// What it shows.
        caption: &'static str,
        /// Columns that hold words.
        words: &'static [usize],
        rows: Vec<Vec<String>>,
        /// True when no blank line sets it apart in text.
        is_joined: bool,
    },
    /// A sentence on what stands above.
    Note(String),
}

impl Piece {
    /// A table of numbers, named in its first column.
    const fn table(caption: &'static str, rows: Vec<Vec<String>>) -> Self {
        Self::Table { caption, words: &[0], rows, is_joined: false }
    }
}

impl SyncReport {
    fn of(trace: &Trace, rank: &Rank, sync: &SyncCall) -> Self {
        let op = sync.waited_for.map(|op| op as usize);
        let name = op.and_then(|op| rank.ops.name.get(op)).map(|name| trace.op_short_name(*name).to_owned());
        Self {
            name: base_name(trace.name(sync.name)).to_owned(),
            start_ns: sync.span.start_ns,
            since_start_ns: trace.since_start_ns(sync.span.start_ns),
            len_ns: sync.span.len_ns(),
            kind: sync.kind,
            stream: sync.stream.and_then(|at| rank.streams.get(at as usize)).map(|stream| stream.id),
            waited_for: name,
            waited_for_end_ns: op.and_then(|op| rank.ops.end_ns.get(op).copied()),
        }
    }
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}
