//! Communication: sums by kind, stream and communicator, the longest exposed spans, and what stands out.
//!
//! Everything was computed when the file was opened; a frame lays out the visible rows only.

use super::grid::{Column, Grid, NAME_PT, Shown, at, column, filter_bar, heading, remark};
use super::sheet::{Cell, Filter, List, Placed, Row, Sheet};
use crate::analysis::{CommSums, Communication, Limit, Part};
use crate::app::code_text;
use crate::app::cx::{Chosen, Cx};
use crate::format;
use crate::report::waits_text;
use crate::units::Span;
use crate::view::{Command, Item};
use egui::{Label, RichText, Ui};

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct CommunicationCache {
    filter: Filter,
    /// By kind, stream and communicator.
    sums: [Sheet; 3],
    exposed: Sheet,
    outliers: Sheet,
}

const SUMS: [Column; 12] = [
    column("Count", 48.0, "Communication kernels. Durations are those of kernels on the GPU, never of the calls."),
    column("Total", 60.0, "Sum of their durations; they may overlap each other."),
    column("Exposed", 60.0, "Time of them during which no compute kernel of the device ran."),
    column(
        "Bus bw.",
        66.0,
        "Median bus bandwidth as nccl-tests counts it: size over time, times the share of the size that crosses a rank's \
         links (2(n-1)/n for all-reduce; (n-1)/n for all-gather, reduce-scatter and all-to-all; else 1). The first of a \
         communicator and outliers are left out. A kernel's time holds its wait for late ranks, so the links gave at least \
         this. \"-\" while the size or the number of ranks is unknown.",
    ),
    column("Median", 60.0, "Median duration, outliers left out."),
    column("Bytes", 66.0, "Bytes as the calls of this rank state them; of sends and receives the larger sum."),
    column("Longest", 60.0, "Longest duration, outliers included."),
    column("Overlapped", 64.0, "Time of them during which a compute kernel ran."),
    column("Shortest", 60.0, "Shortest duration: the kernel that waited least."),
    column(
        "Alg. bw.",
        66.0,
        "Median algorithm bandwidth: size over time. The size of all-gather, reduce-scatter and all-to-all is the whole \
         buffer, n times the bytes of one rank.",
    ),
    column("Best bus bw.", 72.0, "Bus bandwidth of the fastest kernel."),
    column(
        "In the name",
        96.0,
        "Algorithm and protocol in the kernels' names. NCCL names a kernel after one of the protocols it can run, so the one \
         that ran may be another.",
    ),
];

const EXPOSED: [Column; 4] = [
    at("At", 66.0, "Start on the file's clock."),
    column("Stream", 48.0, "Stream of the kernel that ran for most of it."),
    column("Bytes", 66.0, "Bytes that this kernel moved, when known."),
    column("Kernel", 150.0, "The communication kernel that ran for most of it."),
];

const OUTLIERS: [Column; 5] = [
    column("Usual", 60.0, "Median of kernels of the same kind and size, or of the same name while sizes are unknown."),
    at("At", 66.0, "Start on the file's clock."),
    column("Bytes", 66.0, "Bytes that it moved, when known."),
    column("Kernel", 150.0, "Its name."),
    column("Why", 220.0, "Why it stands out."),
];

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut CommunicationCache, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        ui.add(Label::new(RichText::new(Limit::NoGpuWork.consequence()).weak()).wrap());
        return;
    };
    let comm = &chosen.numbers.communication;
    let Some(sizes) = comm.sizes else {
        ui.add(Label::new(RichText::new("This rank ran no communication kernel.").weak()).wrap());
        return;
    };
    let selection = chosen.selection(cx);
    let copied = filter_bar(ui, &mut cache.filter, "communication", selection, true);
    let CommunicationCache { filter, sums: sheets, exposed: longest, outliers: odd } = cache;
    let shown = Shown { token: chosen.token(cx), filter, selection, copy: copied.as_ref() };
    sums(ui, &chosen, comm, sheets, shown);
    ui.add_space(4.0);
    let beside = chosen.beside(cx);
    remark(ui, &waits_text(&beside));
    if !sizes.text().is_empty() {
        let text = code_text::small(ui, sizes.text());
        ui.add(Label::new(text).wrap().selectable(true));
    }
    contention(ui, comm, beside.ranks);
    exposed(ui, &chosen, comm, (longest, shown), out);
    outliers(ui, &chosen, comm, (odd, shown), out);
    if let Some(copied) = copied {
        copied.finish(ui);
    }
}

fn sums(ui: &mut Ui, chosen: &Chosen<'_>, comm: &Communication, sheets: &mut [Sheet; 3], shown: Shown<'_>) {
    let grid = |id, name| Grid { id, name, columns: &SUMS, tall: false, name_pt: NAME_PT };
    let [kinds, streams, communicators] = sheets;
    let rows = List::new(comm.by_kind.len(), |at| {
        comm.by_kind.get(at).map_or_else(Row::default, |(kind, sums)| row(kind.text().to_owned(), sums))
    });
    grid("kinds", "Kind").show(ui, kinds, shown, &rows);
    ui.add_space(8.0);
    let rows = List::new(comm.by_stream.len(), |at| {
        let Some((stream, sums)) = comm.by_stream.get(at) else { return Row::default() };
        let primary = chosen.numbers.primary_stream == Some(*stream);
        let id = chosen.rank.streams.get(*stream).map_or_else(|| format::UNKNOWN.to_owned(), |s| s.id.to_string());
        let mut row = row(format!("{id}{}", if primary { " (compute)" } else { "" }), sums);
        if primary {
            row.note = "The stream with the most compute: what communicates here cannot overlap with it.".to_owned();
        }
        row
    });
    grid("streams", "Stream").show(ui, streams, shown, &rows);
    if comm.by_communicator.is_empty() {
        return;
    }
    ui.add_space(8.0);
    let rows = List::new(comm.by_communicator.len(), |at| {
        let Some((id, sums)) = comm.by_communicator.get(at) else { return Row::default() };
        let ranks = comm.communicator_ranks.get(at).copied().flatten();
        let mut row = row(format::communicator(*id), sums);
        row.note = match ranks {
            Some(ranks) => format::counted(ranks.into(), "rank", "ranks"),
            None => {
                "It was made before the capture, so its number of ranks is unknown. Give the layout of the run in the \
                     settings."
                    .to_owned()
            }
        };
        row
    });
    grid("communicators", "Communicator").show(ui, communicators, shown, &rows);
}

fn row(name: String, sums: &CommSums) -> Row {
    let bandwidth = sums.bandwidth.unwrap_or_default();
    let variants: Vec<String> = sums.variants.iter().take(3).map(|sum| sum.variant.to_string()).collect();
    let duration = |ns: i64| Cell::whole(format::duration(ns), ns);
    let speed = |gb_per_s: Option<f64>| Cell::maybe(format::bandwidth(gb_per_s), gb_per_s);
    let cells = vec![
        Cell::whole(format::count(sums.count), sums.count as i64),
        duration(sums.total_ns),
        duration(sums.exposed_ns),
        speed(bandwidth.bus_gb_per_s),
        duration(sums.median_ns),
        size(sums.bytes),
        duration(sums.longest_ns),
        duration(sums.overlapped_ns),
        duration(sums.min_ns),
        speed(bandwidth.algorithm_gb_per_s),
        speed(bandwidth.best_bus_gb_per_s),
        Cell::text(variants.join(", ")),
    ];
    Row { name, cells, ..Row::default() }
}

/// What overlap costs, on one of so many open ranks.
fn contention(ui: &mut Ui, comm: &Communication, ranks: usize) {
    let late = match ranks {
        0 | 1 => "A late rank makes a collective longer too; one rank alone does not tell the two apart.",
        _ => "A late rank makes a collective longer too: Ranks tells who waited for whom.",
    };
    for (kind, sums) in &comm.by_kind {
        let Some(contention) = &sums.contention else { continue };
        let text = format!(
            "{} of one size take {} while compute runs and {} alone: overlap is not free.",
            kind.text(),
            format::duration(contention.overlapped_median_ns),
            format::duration(contention.alone_median_ns),
        );
        ui.add(Label::new(RichText::new(text).small()).wrap()).on_hover_text(format!(
            "Medians of {} and {}. {late}",
            format::count(contention.overlapped),
            format::counted(contention.alone, "kernel", "kernels"),
        ));
    }
}

/// The order of a table, and what decides which of its rows are shown.
type Asked<'a> = (&'a mut Sheet, Shown<'a>);

fn exposed(ui: &mut Ui, chosen: &Chosen<'_>, comm: &Communication, asked: Asked<'_>, out: &mut Vec<Command>) {
    if comm.exposed.is_empty() {
        return;
    }
    let title = format!("Longest exposed of {}", format::counted(comm.exposed_spans, "span", "spans"));
    heading(ui, &title, Part::Exposed.definition());
    let row = |at: usize| {
        let Some(exposed) = comm.exposed.get(at) else { return Row::default() };
        let (length, start_ns) = (format::duration(exposed.span.len_ns()), exposed.span.start_ns);
        Row {
            action: format!("Show exposed span {at}, {length}"),
            name: length,
            number: Some(exposed.span.len_ns() as f64),
            cells: vec![
                Cell::whole(format::duration(chosen.doc.trace.since_start_ns(start_ns)), start_ns),
                stream(chosen, exposed.op),
                bytes(comm, exposed.op),
                Cell::text(kernel(chosen, exposed.op)),
            ],
            ..Row::default()
        }
    };
    let rows = Placed::new(comm.exposed.len(), row, |at| comm.exposed.get(at).map(|exposed| exposed.span));
    let grid = Grid { id: "exposed", name: "Length", columns: &EXPOSED, tall: false, name_pt: NAME_PT };
    let (sheet, shown) = asked;
    let clicked = if comm.outliers.is_empty() {
        grid.show_last(ui, sheet, shown, &rows)
    } else {
        grid.show(ui, sheet, shown, &rows)
    };
    if let Some(exposed) = clicked.and_then(|at| comm.exposed.get(at)) {
        go_to(chosen, exposed.op, exposed.span, out);
    }
}

fn outliers(ui: &mut Ui, chosen: &Chosen<'_>, comm: &Communication, asked: Asked<'_>, out: &mut Vec<Command>) {
    if comm.outliers.is_empty() {
        return;
    }
    let tip = "Collectives that took far over the mean of their like, and small messages that waited. They are left out \
               of medians and bandwidth.";
    heading(ui, &format!("Outliers: {}", format::count(comm.outlier_count)), tip);
    let row = |at: usize| {
        let Some(outlier) = comm.outliers.get(at) else { return Row::default() };
        let length = format::duration(outlier.len_ns);
        let start_ns = chosen.rank.ops.start_ns.get(outlier.op as usize).copied();
        Row {
            action: format!("Show outlier {at}, {length}"),
            name: length,
            number: Some(outlier.len_ns as f64),
            cells: vec![
                Cell::whole(format::duration(outlier.usual_ns), outlier.usual_ns),
                Cell::maybe(
                    format::duration_or_unknown(start_ns.map(|at_ns| chosen.doc.trace.since_start_ns(at_ns))),
                    start_ns.map(|at_ns| at_ns as f64),
                ),
                bytes(comm, outlier.op),
                Cell::text(kernel(chosen, outlier.op)),
                Cell::text(outlier.reason.text().to_owned()),
            ],
            ..Row::default()
        }
    };
    let span = |at: usize| {
        let op = comm.outliers.get(at)?.op as usize;
        (op < chosen.rank.ops.len()).then(|| chosen.rank.ops.span(op))
    };
    let rows = Placed::new(comm.outliers.len(), row, span);
    let grid = Grid { id: "outliers", name: "Took", columns: &OUTLIERS, tall: false, name_pt: NAME_PT };
    let clicked = grid.show_last(ui, asked.0, asked.1, &rows);
    if let Some(outlier) = clicked.and_then(|at| comm.outliers.get(at)) {
        go_to(chosen, outlier.op, chosen.rank.ops.span(outlier.op as usize), out);
    }
}

/// Selects an operation and shows `span` with as much before and after it.
fn go_to(chosen: &Chosen<'_>, op: u32, span: Span, out: &mut Vec<Command>) {
    out.push(Command::Select(Some(Item::Op(chosen.id, op))));
    out.push(Command::Show(chosen.doc.axis_span(super::around(span))));
}

fn kernel(chosen: &Chosen<'_>, op: u32) -> String {
    let name = chosen.rank.ops.name.get(op as usize);
    name.map_or_else(String::new, |name| format::one_line(chosen.doc.trace.op_short_name(*name), 80))
}

fn stream(chosen: &Chosen<'_>, op: u32) -> Cell {
    let at = chosen.rank.ops.stream.get(op as usize).map(|at| *at as usize);
    let id = at.and_then(|at| chosen.rank.streams.get(at)).map(|stream| stream.id);
    let text = id.map_or_else(|| format::UNKNOWN.to_owned(), |id| id.to_string());
    Cell::maybe(text, id.map(|id| id as f64))
}

fn bytes(comm: &Communication, op: u32) -> Cell {
    size(comm.message(op).map(|message| message.bytes))
}

fn size(bytes: Option<u64>) -> Cell {
    Cell::maybe(format::bytes_or_unknown(bytes), bytes.map(|bytes| bytes as f64))
}
