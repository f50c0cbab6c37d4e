//! Launches: latency and queue depth of what the timeline shows, latencies as a histogram, small kernels, API calls, and
//! calls that waited for the GPU.
//!
//! Tables over a step and the plots are computed when the step or the view changes, and kept.

mod plots;

use super::grid::{Column, Grid, NAME_PT, Shown, at, column, filter_bar, heading, remark};
use super::sheet::{Cell, Filter, List, Placed, Row, Sheet};
use crate::analysis::{ApiCallSum, HistogramBin, LaunchPoint, LaunchSums, Launches, Limit, Spread, base_name};
use crate::app::cx::{Chosen, Cx};
use crate::format;
use crate::units::Span;
use crate::view::{Command, Item, RankId};
use egui::{Button, Label, RichText, Ui};

/// Points of a plot at most.
const POINTS: usize = 256;

/// What the numbers are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Capture,
    Step(usize),
}

/// Latency and queue depth of a view.
#[derive(Debug)]
struct Series {
    key: (u64, RankId, Span),
    points: Vec<LaunchPoint>,
}

/// Numbers over the whole capture or one step.
#[derive(Debug)]
struct Tables {
    key: (u64, RankId, Over),
    histogram: Vec<HistogramBin>,
    calls: Vec<ApiCallSum>,
}

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct LaunchesCache {
    /// Numbers are over the whole capture though a step is meant.
    whole: bool,
    series: Option<Series>,
    tables: Option<Tables>,
    filter: Filter,
    /// Orders of the spread, the waits, the calls and the small kernels.
    sheets: [Sheet; 4],
}

const SPREAD: [Column; 6] = [
    column("Median", 58.0, "Half of the launches took at most this."),
    column("90 %", 58.0, "Nine of ten launches took at most this."),
    column("99 %", 58.0, "99 of 100 launches took at most this."),
    column("Longest", 58.0, "The longest."),
    column("Mean", 58.0, "The mean."),
    column("Count", 48.0, "Launches. One launch of a graph counts once, however many operations it holds."),
];

const CALLS: [Column; 4] = [
    column(
        "Total",
        62.0,
        "Time in these calls, added up over all threads: thread time, which may exceed the time passed.",
    ),
    column("Count", 52.0, "Calls. One recorded inside another of the same name counts once."),
    column("Mean", 62.0, "Mean length."),
    column("Longest", 62.0, "Longest call; a click on the row shows it."),
];

const WAITS: [Column; 4] = [
    at("At", 66.0, "Start on the file's clock."),
    column("Last to end", 110.0, "The last operation it waited for that ended before the call returned."),
    column("Waited for", 96.0, "What the call waits for."),
    column("Call", 150.0, "The function."),
];

const SMALL: [Column; 3] = [
    column("Count", 52.0, "Kernels of this name."),
    column("Mean", 62.0, "Mean duration."),
    column("Total", 62.0, "Sum of their durations."),
];

/// Definition of latency.
const LATENCY: &str = "Latency: from the start of the launching call to the start of the work on the GPU.";
/// Definition of queue time.
const QUEUE_TIME: &str = "Queue time: from the end of the launching call to the start of the work, as NVIDIA's kernel \
                          execution summary counts it. Work that starts before its call returns has none.";
/// Definition of queue depth.
const DEPTH: &str = "Queue depth: launches submitted whose work has not started. Near 0 the GPU waits for the host; a driver \
                     holds about a thousand.";

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut LaunchesCache, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        ui.add(Label::new(RichText::new(Limit::NoGpuWork.consequence()).weak()).wrap());
        return;
    };
    let launches = &chosen.numbers.launches;
    let Some(whole) = &launches.whole else {
        ui.add(Label::new(RichText::new(Limit::NoApiCalls.consequence()).weak()).wrap());
        ui.add_space(4.0);
        ui.add(Label::new(format!("Next time: {}", Limit::NoApiCalls.remedy())).wrap().selectable(true));
        return;
    };
    series(ui, cx, &chosen, launches, &mut cache.series);
    let over = choose(ui, cx, &chosen, &mut cache.whole);
    let tables = Tables::follow(&mut cache.tables, (cx.revision, chosen.id, over), &chosen, launches);
    let sums = match over {
        Over::Capture => *whole,
        Over::Step(at) => launches.steps.get(at).map_or_else(LaunchSums::default, |step| step.sums),
    };
    let selection = chosen.selection(cx);
    ui.add_space(4.0);
    let copied = filter_bar(ui, &mut cache.filter, "launches", selection, true);
    let step = if let Over::Step(at) = over { at as u64 + 1 } else { 0 };
    let token = chosen.token(cx).wrapping_add(step);
    let shown = Shown { token, filter: &cache.filter, selection, copy: copied.as_ref() };
    let [first, second, third, fourth] = &mut cache.sheets;
    spread(ui, &sums, (first, shown));
    plots::histogram(ui, cx.palette, &tables.histogram);
    waits(ui, &chosen, launches, over, (second, shown), out);
    calls(ui, &chosen, &tables.calls, (third, shown), out);
    small(ui, &chosen, launches, (fourth, shown));
    if let Some(copied) = copied {
        copied.finish(ui);
    }
}

/// The plots over the view.
fn series(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, launches: &Launches, kept: &mut Option<Series>) {
    let visible = chosen.visible(cx.view);
    if visible.is_empty() {
        remark(ui, "This rank is out of view.");
        return;
    }
    let key = (cx.revision, chosen.id, visible);
    if kept.as_ref().is_none_or(|series| series.key != key) {
        let points = launches.series(&chosen.doc.trace, chosen.id.rank, visible, POINTS);
        *kept = Some(Series { key, points });
    }
    let Some(series) = kept else { return };
    ui.strong("Latency in view").on_hover_text(LATENCY);
    plots::latency(ui, cx.palette, &chosen.doc.trace, visible, &series.points);
    ui.add_space(6.0);
    ui.strong("Queue depth in view").on_hover_text(DEPTH);
    plots::depth(ui, cx.palette, &chosen.doc.trace, visible, &series.points);
    remark(ui, "Line: mean. Filled: largest in each part of the view.");
}

/// The step that is meant, unless the user wants the whole capture.
fn choose(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, whole: &mut bool) -> Over {
    ui.add_space(10.0);
    let step = chosen.step_meant(cx.view, cx.workspace);
    let name = step.and_then(|at| chosen.steps()?.steps.get(at)).map(|step| format::one_line(&step.name, 40));
    let (Some(at), Some(name)) = (step, name) else {
        ui.strong("In the whole capture").on_hover_text("Show or select a step to see its own numbers.");
        return Over::Capture;
    };
    ui.horizontal_wrapped(|ui| {
        let name = format!("In {name}");
        if ui.add(Button::selectable(!*whole, name)).on_hover_text("The step that the view is about").clicked() {
            *whole = false;
        }
        if ui.add(Button::selectable(*whole, "In the whole capture")).clicked() {
            *whole = true;
        }
    });
    if *whole { Over::Capture } else { Over::Step(at) }
}

impl Tables {
    fn follow<'c>(
        kept: &'c mut Option<Self>,
        key: (u64, RankId, Over),
        chosen: &Chosen<'_>,
        launches: &Launches,
    ) -> &'c Self {
        if kept.as_ref().is_some_and(|tables| tables.key != key) {
            *kept = None;
        }
        kept.get_or_insert_with(|| {
            let (trace, rank) = (&chosen.doc.trace, chosen.id.rank);
            let step = match key.2 {
                Over::Capture => None,
                Over::Step(at) => chosen.steps().and_then(|steps| steps.steps.get(at)),
            };
            let (histogram, calls) = match step {
                Some(step) => {
                    (launches.histogram_in(trace, rank, step.window), Launches::api_calls_in(trace, rank, step.range))
                }
                None => (launches.histogram.clone(), launches.api_calls.clone()),
            };
            Self { key, histogram, calls }
        })
    }
}

/// The order of a table, and what decides which of its rows are shown.
type Asked<'a> = (&'a mut Sheet, Shown<'a>);

fn spread(ui: &mut Ui, sums: &LaunchSums, asked: Asked<'_>) {
    let rows = [("Latency", LATENCY, sums.latency), ("Queue time", QUEUE_TIME, sums.queue_time)];
    let rows = List::new(rows.len(), |at| {
        let Some((name, note, spread)) = rows.get(at) else { return Row::default() };
        Row { name: (*name).to_owned(), cells: spread_cells(*spread), note: (*note).to_owned(), ..Row::default() }
    });
    // Two rows that say the same of different times: nothing to filter.
    let all = Shown { filter: &Filter::default(), ..asked.1 };
    Grid { id: "spread", name: "Time", columns: &SPREAD, tall: false, name_pt: NAME_PT }.show(ui, asked.0, all, &rows);
    let text = format!(
        "{} of {}; queue depth {} on average, {} at most.",
        format::counted(sums.launches, "launch", "launches"),
        format::counted(sums.operations, "operation", "operations"),
        format::mean_count(sums.mean_depth),
        format::count(sums.max_depth.into()),
    );
    ui.add(Label::new(RichText::new(text).small()).wrap()).on_hover_text(DEPTH);
}

fn spread_cells(spread: Option<Spread>) -> Vec<Cell> {
    let Some(spread) = spread else { return vec![Cell::maybe(format::UNKNOWN.to_owned(), None); SPREAD.len()] };
    let times = [spread.p50_ns, spread.p90_ns, spread.p99_ns, spread.max_ns, spread.mean_ns];
    times.map(duration).into_iter().chain([count(spread.count)]).collect()
}

fn duration(ns: i64) -> Cell {
    Cell::whole(format::duration(ns), ns)
}

fn count(count: u64) -> Cell {
    Cell::number(format::count(count), count as f64)
}

/// Calls that waited for the GPU: their sums, and the longest.
fn waits(ui: &mut Ui, chosen: &Chosen<'_>, launches: &Launches, over: Over, asked: Asked<'_>, out: &mut Vec<Command>) {
    let tip = "Synchronising calls, and copies that returned only when they were done. While a thread waits it launches \
               nothing.";
    heading(ui, "Calls that waited for the GPU", tip);
    if launches.sync_count == 0 {
        remark(ui, "None was recorded.");
        return;
    }
    if let Over::Step(at) = over
        && let Some(step) = launches.steps.get(at)
    {
        let text =
            format!("In this step: {}, {} (thread time).", format::count(step.syncs), format::duration(step.sync_ns));
        ui.add(Label::new(RichText::new(text).small()).wrap());
    }
    for sum in launches.sync_sums.iter().take(4) {
        let text = format!(
            "{}: {}, {} in all, longest {}",
            format::one_line(&sum.name, 60),
            format::count(sum.count),
            format::duration(sum.total_ns),
            format::duration(sum.longest_ns)
        );
        remark(ui, &text);
    }
    let trace = &chosen.doc.trace;
    let row = |at: usize| {
        let Some(sync) = launches.syncs.get(at) else { return Row::default() };
        let length = format::duration(sync.span.len_ns());
        let op = sync.waited_for.and_then(|op| chosen.rank.ops.name.get(op as usize));
        let stream = sync.stream.and_then(|at| chosen.rank.streams.get(at as usize)).map(|stream| stream.id);
        Row {
            action: format!("Show wait {at}, {length}"),
            name: length,
            number: Some(sync.span.len_ns() as f64),
            cells: vec![
                duration(trace.since_start_ns(sync.span.start_ns)),
                Cell::text(
                    op.map_or_else(|| "nothing".to_owned(), |op| format::one_line(trace.op_short_name(*op), 60)),
                ),
                Cell::text(sync.kind.text(stream)),
                Cell::text(base_name(trace.name(sync.name)).to_owned()),
            ],
            note: if op.is_none() { "Everything had ended before the call began.".to_owned() } else { String::new() },
            ..Row::default()
        }
    };
    let rows = Placed::new(launches.syncs.len(), row, |at| launches.syncs.get(at).map(|sync| sync.span));
    let grid = Grid { id: "waits", name: "Longest", columns: &WAITS, tall: false, name_pt: NAME_PT };
    let clicked = grid.show(ui, asked.0, asked.1, &rows);
    if let Some(sync) = clicked.and_then(|at| launches.syncs.get(at)) {
        go_to(chosen, sync.call, out);
    }
}

fn calls(ui: &mut Ui, chosen: &Chosen<'_>, calls: &[ApiCallSum], asked: Asked<'_>, out: &mut Vec<Command>) {
    heading(ui, "API calls, time of all threads", "CUDA calls of the process by name, added up over its threads.");
    let rows = List::new(calls.len(), |at| {
        let Some(call) = calls.get(at) else { return Row::default() };
        Row {
            action: format!("Show the longest {}", call.name),
            name: format::one_line(&call.name, 80),
            cells: vec![duration(call.total_ns), count(call.count), duration(call.mean_ns), duration(call.longest_ns)],
            ..Row::default()
        }
    });
    let grid = Grid { id: "calls", name: "Call", columns: &CALLS, tall: false, name_pt: NAME_PT };
    let clicked = grid.show(ui, asked.0, asked.1, &rows);
    if let Some(call) = clicked.and_then(|at| calls.get(at)) {
        go_to(chosen, call.longest, out);
    }
}

fn small(ui: &mut Ui, chosen: &Chosen<'_>, launches: &Launches, asked: Asked<'_>) {
    let short = &launches.short;
    let title = format!("Kernels under {}", format::duration(short.below_ns));
    heading(ui, &title, "A kernel this short takes about as long to launch as to run. Whole capture.");
    let text = format!(
        "{} of all kernels ({}), {} of kernel time ({}).",
        format::percent(short.count_share),
        format::count(short.count),
        format::percent(short.time_share),
        format::duration(short.total_ns),
    );
    ui.add(Label::new(RichText::new(text).small()).wrap());
    let often = format::count(short.often_from);
    if short.often.is_empty() {
        remark(ui, &format!("No kernel of {often} launches or more is that short on average."));
        return;
    }
    let text = format!(
        "Those below were launched {often} times or more and are that short on average: {}, {} of the time during which anything \
         ran. Fusing them, or a CUDA graph, saves their launches.",
        format::duration(short.often_ns),
        format::percent(short.often_share),
    );
    remark(ui, &text);
    let rows = List::new(short.often.len(), |at| {
        let Some(kernel) = short.often.get(at) else { return Row::default() };
        Row {
            name: format::one_line(chosen.doc.trace.op_short_name(kernel.name), 80),
            full: chosen.doc.trace.op_full_name(kernel.name).to_owned(),
            cells: vec![count(kernel.count), duration(kernel.mean_ns), duration(kernel.total_ns)],
            ..Row::default()
        }
    });
    Grid { id: "small", name: "Kernel", columns: &SMALL, tall: false, name_pt: NAME_PT }
        .show(ui, asked.0, asked.1, &rows);
}

/// Selects an API call and shows it with as much before and after it.
fn go_to(chosen: &Chosen<'_>, call: u32, out: &mut Vec<Command>) {
    let process = chosen.rank.process;
    let Some(api) = chosen.doc.trace.processes.get(process).map(|process| &process.api) else { return };
    if (call as usize) < api.len() {
        out.push(Command::Select(Some(Item::Call(chosen.id.doc, process, call))));
        out.push(Command::Show(chosen.doc.axis_span(super::around(api.span(call as usize)))));
    }
}
