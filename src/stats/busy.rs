//! When the GPU of a process had work: gaps without any, and stretches with little.

use super::Scope;
use super::report::Report;
use super::table::{Cell, Column, Table, Unit};
use crate::trace::{OpKind, Trace};
use crate::units::Span;
use std::cmp::Reverse;

/// GPU work of one process and device, overlapping spans merged, in order of time.
#[derive(Debug)]
struct Busy {
    pid: u32,
    device: i64,
    merged: Vec<Span>,
}

/// Kernels, copies and fills of every rank. The profiler's own work on a process's GPU records counts as work where it
/// lies between them: the program could not run then.
fn busy(trace: &Trace, scope: &Scope) -> Vec<Busy> {
    let mut all = Vec::new();
    for (at, rank) in trace.ranks.iter().enumerate() {
        let ops = &rank.ops;
        let counts = |op: &usize| ops.kind[*op] != OpKind::Graph && ops.start_ns[*op] > 0;
        let own = (0..ops.len()).filter(counts).map(|op| ops.span(op)).filter(|span| scope.holds_op(at, *span));
        let mut spans: Vec<Span> = own.collect();
        let hull = spans.iter().copied().reduce(Span::hull);
        let (Some(hull), Some(process)) = (hull, trace.processes.get(rank.process)) else { continue };
        let between = |span: &Span| span.start_ns > hull.start_ns && span.end_ns < hull.end_ns;
        let first = trace.overheads.partition_point(|overhead| overhead.global_pid < process.global_pid);
        let overheads = trace.overheads.iter().skip(first).take_while(|o| o.global_pid == process.global_pid);
        let count = spans.len();
        spans.extend(overheads.map(|overhead| overhead.span).filter(between));
        if spans.len() > count {
            spans.sort_unstable();
        }
        all.push(Busy { pid: process.pid, device: rank.device, merged: merged(spans) });
    }
    all
}

/// Spans in order of their starts as spans that neither overlap nor touch. An instant in a gap stays, and parts it.
fn merged(spans: Vec<Span>) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(span.end_ns),
            _ => merged.push(span),
        }
    }
    merged
}

const PID: Column = Column::new("PID", Unit::Number, "process");
const DEVICE: Column = Column::new("Device ID", Unit::Number, "device");
const ROW: Column = Column::new("Row#", Unit::Number, "place in this list");

/// Gaps longer than `least_ns`, longest first.
pub(super) fn gaps(trace: &Trace, scope: &Scope, least_ns: i64) -> Table {
    let mut gaps: Vec<(Span, u32, i64)> = Vec::new();
    for rank in busy(trace, scope) {
        let between = rank.merged.windows(2).map(|pair| Span::new(pair[0].end_ns, pair[1].start_ns));
        gaps.extend(between.filter(|gap| gap.len_ns() > least_ns).map(|gap| (gap, rank.pid, rank.device)));
    }
    gaps.sort_by_key(|(gap, pid, device)| (Reverse(gap.len_ns()), gap.start_ns, *pid, *device));
    let columns = vec![
        ROW,
        Column::new("Duration (ns)", Unit::Nanoseconds, "how long nothing ran"),
        Column::new("Start (ns)", Unit::Nanoseconds, "when it began, on the export's clock"),
        PID,
        DEVICE,
    ];
    let row = |(at, (gap, pid, device)): (usize, &(Span, u32, i64))| {
        vec![
            Cell::count(at + 1),
            Cell::Int(gap.len_ns()),
            Cell::Int(gap.start_ns),
            Cell::Int((*pid).into()),
            Cell::Int(*device),
        ]
    };
    Table::new(Report::GpuGaps, columns, gaps.iter().enumerate().map(row).collect())
}

/// A stretch of adjoining parts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    span: Span,
    busy_ns: i64,
}

impl Stretch {
    fn percent(&self) -> f64 {
        self.busy_ns as f64 / self.span.len_ns() as f64 * 100.0
    }
}

/// The time from first to last work cut into `chunks` equal parts; adjoining parts that were used less than `threshold`
/// percent, lowest first.
pub(super) fn utilisation(trace: &Trace, scope: &Scope, threshold: f64, chunks: u32) -> Table {
    let mut found: Vec<(Stretch, u32, i64)> = Vec::new();
    for rank in busy(trace, scope) {
        found.extend(stretches(&rank.merged, threshold, chunks).into_iter().map(|s| (s, rank.pid, rank.device)));
    }
    // As NVIDIA sorts: by the percentage that is shown, then the shortest.
    let shown = |stretch: &Stretch| (stretch.percent() * 10.0).round() as i64;
    found.sort_by_key(|(s, pid, device)| (shown(s), s.span.len_ns(), s.span.start_ns, *pid, *device));
    let columns = vec![
        ROW,
        Column::new("In-Use (%)", Unit::Percent, "share of the stretch during which anything ran, 100 at most"),
        Column::new("Duration (ns)", Unit::Nanoseconds, "length of the stretch"),
        Column::new("Start (ns)", Unit::Nanoseconds, "when it begins, on the export's clock"),
        PID,
        DEVICE,
    ];
    let row = |(at, (stretch, pid, device)): (usize, &(Stretch, u32, i64))| {
        vec![
            Cell::count(at + 1),
            Cell::Float(stretch.percent()),
            Cell::Int(stretch.span.len_ns()),
            Cell::Int(stretch.span.start_ns),
            Cell::Int((*pid).into()),
            Cell::Int(*device),
        ]
    };
    Table::new(Report::GpuTimeUtil, columns, found.iter().enumerate().map(row).collect())
}

fn stretches(merged: &[Span], threshold: f64, chunks: u32) -> Vec<Stretch> {
    let (Some(first), Some(last)) = (merged.first(), merged.last()) else { return Vec::new() };
    let whole = Span::new(first.start_ns, last.end_ns);
    let length_ns = (whole.len_ns() as u64).div_ceil(chunks.into()) as i64;
    let mut found: Vec<Stretch> = Vec::new();
    let mut next = 0;
    for chunk in 0..i64::from(chunks) {
        let start_ns = whole.start_ns.saturating_add(length_ns.saturating_mul(chunk));
        let span = Span::new(start_ns, start_ns.saturating_add(length_ns).min(whole.end_ns));
        if span.is_empty() {
            break;
        }
        while merged.get(next).is_some_and(|busy| busy.end_ns <= span.start_ns) {
            next += 1;
        }
        let inside = merged.iter().skip(next).take_while(|busy| busy.start_ns < span.end_ns);
        let busy_ns = inside.filter_map(|busy| busy.intersect(span)).map(Span::len_ns).sum();
        let part = Stretch { span, busy_ns };
        if part.percent() >= threshold {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.span.end_ns == span.start_ns => {
                last.span.end_ns = span.end_ns;
                last.busy_ns += busy_ns;
            }
            _ => found.push(part),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::{Fixture, PID};
    use proptest::prelude::*;

    #[test]
    fn the_profilers_own_work_parts_a_gap_and_a_graph_block_does_not() {
        let mut fixture = Fixture::new();
        fixture.kernel("k", 7, 10, 20).kernel("k", 7, 100, 110);
        fixture.gpu_op(OpKind::Graph, "", 7, 30, 40, None, None);
        fixture.builder.overhead(PID, 50, Some(60));
        fixture.builder.overhead(PID, 105, Some(130));
        fixture.builder.overhead(2 * PID, 70, Some(80));
        let trace = fixture.build();
        let table = gaps(&trace, &Scope::whole(&trace), 5);
        let found: Vec<&[Cell]> = table.rows.iter().map(|row| &row[1..3]).collect();
        assert_eq!(found, [&[Cell::Int(40), Cell::Int(60)], &[Cell::Int(30), Cell::Int(20)]]);
    }

    proptest! {
        #[test]
        fn gaps_and_use_are_those_of_a_count_by_nanosecond(
            ops in proptest::collection::vec((1_i64..80, 0_i64..9), 1..20),
            chunks in 1_u32..9,
            threshold in 0.0_f64..120.0,
        ) {
            let mut fixture = Fixture::new();
            ops.iter().for_each(|(start, len)| { fixture.kernel("k", 7, *start, start + len); });
            let trace = fixture.build();
            let runs = |ns: i64| ops.iter().any(|(start, len)| *start <= ns && ns < start + len);
            let (first, last) = (ops.iter().map(|o| o.0).min().unwrap(), ops.iter().map(|o| o.0 + o.1).max().unwrap());
            let whole = Scope::whole(&trace);
            let listed: i64 = gaps(&trace, &whole, 0).rows.iter().map(|row| match row[1] { Cell::Int(ns) => ns, _ => 0 }).sum();
            prop_assert_eq!(listed, (first..last).filter(|ns| !runs(*ns)).count() as i64);
            let length = (last - first + i64::from(chunks) - 1) / i64::from(chunks);
            let mut low = 0;
            for chunk in 0..i64::from(chunks) {
                let span = Span::new(first + chunk * length, (first + (chunk + 1) * length).min(last));
                let busy = (span.start_ns..span.end_ns).filter(|ns| runs(*ns)).count();
                if !span.is_empty() && busy as f64 / span.len_ns() as f64 * 100.0 < threshold {
                    low += span.len_ns();
                }
            }
            let rows = utilisation(&trace, &whole, threshold, chunks).rows;
            let listed: i64 = rows.iter().map(|row| match row[2] { Cell::Int(ns) => ns, _ => 0 }).sum();
            prop_assert_eq!(listed, low);
            for row in rows {
                prop_assert!(matches!(row[1], Cell::Float(percent) if (0.0..=100.0).contains(&percent)));
            }
        }
    }
}
