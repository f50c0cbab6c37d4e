//! Communication of one rank, as JSON keys and text.

use super::document::{Block, Grid};
use super::table::table;
use super::verdict::Beside;
use crate::analysis::{CommSums, Communication, ExposedSpan, Outlier, OutlierReason, RankAnalysis, Sizes};
use crate::format;
use crate::trace::{Rank, Trace};
use serde::Serialize;

/// Entries of a list in the text.
const TEXT_ROWS: usize = 10;
/// Entries of a list in the JSON.
const JSON_ROWS: usize = 100;

/// Communication of one rank; its fields stand among the rank's own.
#[derive(Debug, Serialize)]
pub struct CommReport {
    communication: CommunicationReport,
    #[serde(skip)]
    beside: Beside,
}

#[derive(Debug, Serialize)]
struct CommunicationReport {
    sizes: Option<Sizes>,
    /// Waiting for other ranks in matched collectives; it takes the other ranks to tell.
    wait_ns: Option<i64>,
    /// The rest of those; it takes the other ranks to tell.
    transfer_ns: Option<i64>,
    by_kind: Vec<KindReport>,
    by_stream: Vec<StreamReport>,
    by_communicator: Vec<CommunicatorReport>,
    exposed_spans: u64,
    exposed: Vec<ExposedReport>,
    outlier_count: u64,
    outliers: Vec<OutlierReport>,
}

#[derive(Debug, Serialize)]
struct KindReport {
    kind: &'static str,
    #[serde(flatten)]
    sums: CommSums,
}

#[derive(Debug, Serialize)]
struct StreamReport {
    stream: Option<i64>,
    /// True for the stream with the most compute: communication there cannot overlap with it.
    primary: bool,
    #[serde(flatten)]
    sums: CommSums,
}

#[derive(Debug, Serialize)]
struct CommunicatorReport {
    /// As hexadecimal digits: the number does not fit a JSON number everywhere.
    communicator: String,
    ranks: Option<u32>,
    #[serde(flatten)]
    sums: CommSums,
}

#[derive(Debug, Serialize)]
struct ExposedReport {
    start_ns: i64,
    since_start_ns: i64,
    end_ns: i64,
    len_ns: i64,
    kernel: String,
    stream: Option<i64>,
    bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct OutlierReport {
    start_ns: i64,
    since_start_ns: i64,
    len_ns: i64,
    usual_ns: i64,
    reason: OutlierReason,
    kernel: String,
    stream: Option<i64>,
    bytes: Option<u64>,
}

/// How much of the time of communication is waiting for other ranks, or why that is not known.
pub fn waits_text(beside: &Beside) -> String {
    match beside.waits {
        Some(waits) => beside.reserved(format!(
            "Waiting for late ranks is part of these times: {} in the collectives that were matched with other ranks, \
             beside {} of transfer.",
            format::duration(waits.wait_ns),
            format::duration(waits.transfer_ns),
        )),
        None if beside.ranks > 1 => {
            "Waiting for late ranks is part of these times; how much of them is not known, since no \
                                     collective could be matched with another open rank."
                .to_owned()
        }
        None => "Waiting for late ranks is part of these times; how much of them it is cannot be told from one rank."
            .to_owned(),
    }
}

impl CommReport {
    /// The section of a rank.
    pub(super) fn of(trace: &Trace, rank: &Rank, numbers: &RankAnalysis, beside: Beside) -> Self {
        let comm = &numbers.communication;
        let stream = |at: usize| rank.streams.get(at).map(|stream| stream.id);
        let kinds = comm.by_kind.iter();
        let streams = comm.by_stream.iter();
        let communicators = comm.by_communicator.iter().zip(&comm.communicator_ranks);
        let communication = CommunicationReport {
            sizes: comm.sizes,
            wait_ns: beside.waits.map(|waits| waits.wait_ns),
            transfer_ns: beside.waits.map(|waits| waits.transfer_ns),
            by_kind: kinds.map(|(kind, sums)| KindReport { kind: kind.text(), sums: sums.clone() }).collect(),
            by_stream: streams
                .map(|(at, sums)| StreamReport {
                    stream: stream(*at),
                    primary: numbers.primary_stream == Some(*at),
                    sums: sums.clone(),
                })
                .collect(),
            by_communicator: communicators
                .map(|((id, sums), ranks)| CommunicatorReport {
                    communicator: format::communicator(*id),
                    ranks: *ranks,
                    sums: sums.clone(),
                })
                .collect(),
            exposed_spans: comm.exposed_spans,
            exposed: exposed(trace, rank, comm),
            outlier_count: comm.outlier_count,
            outliers: outliers(trace, rank, comm),
        };
        Self { communication, beside }
    }

    /// The section as text, indented under its rank; empty when there is nothing to say.
    pub(super) fn text(&self) -> String {
        let Some(sizes) = self.communication.sizes else { return String::new() };
        let mut text = format!("\n{}", table("  ", &self.sum_rows()));
        text.extend(self.notes(sizes).iter().map(|note| format!("  {note}\n")));
        for (title, rows) in [self.exposed(), self.outliers()].into_iter().flatten() {
            text.push_str(&format!("\n  {title}\n{}", table("  ", &rows)));
        }
        text
    }

    /// The section as blocks of a document; none when there is nothing to say.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let Some(sizes) = self.communication.sizes else { return Vec::new() };
        let mut blocks =
            vec![Block::Table(Grid::headed("Communication by kind and by stream", &[0, 12], self.sum_rows()))];
        blocks.extend(self.notes(sizes).into_iter().map(Block::Paragraph));
        for ((title, rows), words) in [(self.exposed(), [4, 4]), (self.outliers(), [4, 5])]
            .into_iter()
            .filter_map(|(table, words)| Some((table?, words)))
        {
            blocks.push(Block::Table(Grid::headed(&title, &words, rows)));
        }
        blocks
    }

    /// Sums by kind, then by stream, below a row of column names.
    fn sum_rows(&self) -> Vec<Vec<String>> {
        let comm = &self.communication;
        let mut rows = vec![head("Communication")];
        rows.extend(comm.by_kind.iter().map(|row| cells(row.kind.to_owned(), &row.sums)));
        rows.extend(comm.by_stream.iter().map(|row| {
            let id = row.stream.map_or_else(|| format::UNKNOWN.to_owned(), |id| id.to_string());
            let note = if row.primary { " (primary)" } else { "" };
            cells(format!("stream {id}{note}"), &row.sums)
        }));
        rows
    }

    /// What to know when reading the sums, a sentence or two each.
    fn notes(&self, sizes: Sizes) -> Vec<String> {
        let mut notes = vec![waits_text(&self.beside)];
        if self.communication.by_kind.iter().any(|row| row.sums.bandwidth.is_some()) {
            notes.push(
                "Bandwidth is the median over kernels of known size, without outliers and the first of a communicator: the \
                 links gave at least this. Bus bandwidth is that of nccl-tests; \"-\" while the number of ranks is unknown."
                    .to_owned(),
            );
        }
        if !sizes.text().is_empty() {
            notes.push(sizes.text().to_owned());
        }
        for row in &self.communication.by_kind {
            let Some(contention) = &row.sums.contention else { continue };
            notes.push(format!(
                "{} of one size take {} while compute runs and {} alone ({} and {}): overlap is not free.",
                row.kind,
                format::duration(contention.overlapped_median_ns),
                format::duration(contention.alone_median_ns),
                format::count(contention.overlapped),
                format::counted(contention.alone, "kernel", "kernels"),
            ));
        }
        notes
    }

    /// The longest exposed spans below a row of column names, with a title; `None` without any.
    fn exposed(&self) -> Option<(String, Vec<Vec<String>>)> {
        let comm = &self.communication;
        if comm.exposed.is_empty() {
            return None;
        }
        let mut rows = vec![row(&["Longest exposed", "at", "stream", "bytes", "kernel"])];
        rows.extend(comm.exposed.iter().take(TEXT_ROWS).map(|span| {
            vec![
                format::duration(span.len_ns),
                format::duration(span.since_start_ns),
                span.stream.map_or_else(|| format::UNKNOWN.to_owned(), |id| id.to_string()),
                format::bytes_or_unknown(span.bytes),
                format::one_line(&span.kernel, 60),
            ]
        }));
        Some((format::counted(comm.exposed_spans, "exposed span", "exposed spans"), rows))
    }

    /// The collectives that stand out below a row of column names, with a title; `None` without any.
    fn outliers(&self) -> Option<(String, Vec<Vec<String>>)> {
        let comm = &self.communication;
        if comm.outliers.is_empty() {
            return None;
        }
        let mut rows = vec![row(&["Outlier", "usual", "at", "bytes", "kernel", "why"])];
        rows.extend(comm.outliers.iter().take(TEXT_ROWS).map(|outlier| {
            vec![
                format::duration(outlier.len_ns),
                format::duration(outlier.usual_ns),
                format::duration(outlier.since_start_ns),
                format::bytes_or_unknown(outlier.bytes),
                format::one_line(&outlier.kernel, 60),
                outlier.reason.text().to_owned(),
            ]
        }));
        let count = format::counted(comm.outlier_count, "collective stands out", "collectives stand out");
        Some((format!("{count} (left out of medians and bandwidth)"), rows))
    }
}

fn exposed(trace: &Trace, rank: &Rank, comm: &Communication) -> Vec<ExposedReport> {
    let of = |exposed: &ExposedSpan| ExposedReport {
        start_ns: exposed.span.start_ns,
        since_start_ns: trace.since_start_ns(exposed.span.start_ns),
        end_ns: exposed.span.end_ns,
        len_ns: exposed.span.len_ns(),
        kernel: kernel(trace, rank, exposed.op),
        stream: stream(rank, exposed.op),
        bytes: comm.message(exposed.op).map(|message| message.bytes),
    };
    comm.exposed.iter().take(JSON_ROWS).map(of).collect()
}

fn outliers(trace: &Trace, rank: &Rank, comm: &Communication) -> Vec<OutlierReport> {
    let start_ns = |outlier: &Outlier| rank.ops.start_ns.get(outlier.op as usize).copied().unwrap_or(0);
    let of = |outlier: &Outlier| OutlierReport {
        start_ns: start_ns(outlier),
        since_start_ns: trace.since_start_ns(start_ns(outlier)),
        len_ns: outlier.len_ns,
        usual_ns: outlier.usual_ns,
        reason: outlier.reason,
        kernel: kernel(trace, rank, outlier.op),
        stream: stream(rank, outlier.op),
        bytes: comm.message(outlier.op).map(|message| message.bytes),
    };
    comm.outliers.iter().take(JSON_ROWS).map(of).collect()
}

fn kernel(trace: &Trace, rank: &Rank, op: u32) -> String {
    rank.ops.name.get(op as usize).map_or_else(String::new, |name| trace.op_short_name(*name).to_owned())
}

fn stream(rank: &Rank, op: u32) -> Option<i64> {
    let at = rank.ops.stream.get(op as usize)?;
    rank.streams.get(*at as usize).map(|stream| stream.id)
}

fn head(name: &str) -> Vec<String> {
    row(&[
        name,
        "count",
        "total",
        "exposed",
        "overlapped",
        "median",
        "shortest",
        "longest",
        "bytes",
        "algorithm bw.",
        "bus bw.",
        "best bus bw.",
        "in the name",
    ])
}

fn cells(name: String, sums: &CommSums) -> Vec<String> {
    let bandwidth = sums.bandwidth.unwrap_or_default();
    vec![
        name,
        format::count(sums.count),
        format::duration(sums.total_ns),
        format::duration(sums.exposed_ns),
        format::duration(sums.overlapped_ns),
        format::duration(sums.median_ns),
        format::duration(sums.min_ns),
        format::duration(sums.longest_ns),
        format::bytes_or_unknown(sums.bytes),
        format::bandwidth(bandwidth.algorithm_gb_per_s),
        format::bandwidth(bandwidth.bus_gb_per_s),
        format::bandwidth(bandwidth.best_bus_gb_per_s),
        sums.variants.iter().take(3).map(|sum| sum.variant.to_string()).collect::<Vec<_>>().join(", "),
    ]
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}
