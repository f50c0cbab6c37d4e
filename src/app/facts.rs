//! What is known about a selected item without asking the file: names, times, its launch, its NVTX path.
//!
//! Computed once per selection. Cost: binary searches, plus a walk over the NVTX ranges that begin before the launch
//! (at most [`NVTX_WALK`] of them).

use crate::analysis::{Attribution, Class, GapReport, Message, Part, Sequence, Step, StepEdge, linked_by_sequence};
use crate::format;
use crate::report::{self, Gap, compare};
use crate::trace::{OpKind, RangeTable, Rank, RowNumbers, RowRef, TableKind, Thread, Trace};
use crate::units::{Span, share};
use crate::view::{Doc, Item, RankId, Workspace};

/// NVTX ranges looked at to find those open at a launch.
const NVTX_WALK: usize = 100_000;

/// One line of the details panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

/// What is known about an item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// What kind of thing it is.
    pub kind: &'static str,
    /// Short name.
    pub title: String,
    /// Full name, when it says more than the short one.
    pub full_name: Option<String>,
    /// Lines in order.
    pub facts: Vec<Fact>,
    /// Document and row of the file that hold the rest.
    pub row: Option<(usize, RowRef)>,
}

impl Facts {
    /// What is known about `item`; `None` when `workspace` holds no such item.
    pub fn of(item: Item, workspace: &Workspace) -> Option<Self> {
        match item {
            Item::Op(rank, op) => op_facts(workspace, rank, op as usize),
            Item::Call(doc, process, call) => call_facts(workspace, doc, process, call),
            Item::Nvtx(doc, thread, at) => range_facts(workspace, doc, thread, at as usize, false),
            Item::Projected(rank, attribution, at) => projected_facts(workspace, rank, attribution, at as usize),
            Item::Mark(doc, thread, at) => range_facts(workspace, doc, thread, at as usize, true),
            Item::Os(doc, thread, at) => os_facts(workspace, doc, thread, at as usize),
            Item::Idle(rank, gap) => idle_facts(workspace, rank, gap as usize),
            Item::Step(rank, step) => step_facts(workspace, rank, step as usize),
        }
    }

    /// The lines as text to be pasted somewhere.
    pub fn as_text(&self) -> String {
        let mut text = format!("{}\t{}\n", self.kind, self.full_name.as_ref().unwrap_or(&self.title));
        for fact in &self.facts {
            text.push_str(&format!("{}\t{}\n", fact.name, fact.value));
        }
        text
    }

    /// The full name, else the short one.
    pub fn name_text(&self) -> String {
        self.full_name.as_ref().unwrap_or(&self.title).clone()
    }

    fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.facts.push(Fact { name, value: value.into() });
    }

    fn add_times(&mut self, span: Span, doc: &Doc) {
        self.add("Duration", format::duration(span.len_ns()));
        self.add("Start in the capture", format::duration(doc.trace.since_start_ns(span.start_ns)));
        self.add("Start on the file's clock", format!("{} ns", format::integer(span.start_ns)));
    }
}

fn op_facts(workspace: &Workspace, id: RankId, op: usize) -> Option<Facts> {
    let (doc, rank) = workspace.rank(id)?;
    let (trace, ops) = (&doc.trace, &rank.ops);
    let (name, kind) = (*ops.name.get(op)?, *ops.kind.get(op)?);
    let (kind_text, table) = match kind {
        OpKind::Kernel => ("Kernel", TableKind::Kernel),
        OpKind::Memcpy(_) => ("Copy", TableKind::Memcpy),
        OpKind::Memset => ("Fill", TableKind::Memset),
        OpKind::Graph => ("CUDA graph", TableKind::Graph),
    };
    let (short, full) = (trace.op_short_name(name), trace.op_full_name(name));
    let mut facts = Facts {
        kind: kind_text,
        title: short.to_owned(),
        full_name: (full != short && !full.is_empty()).then(|| full.to_owned()),
        row: row_of(id.doc, table, &ops.row, op),
        ..Facts::default()
    };
    facts.add_times(ops.span(op), doc);
    facts.add("Rank", rank_text(workspace, id));
    facts.add("Class", class_text(doc.analysis.classes.class(name, kind)));
    if let Some(stream) = ops.stream.get(op).and_then(|at| rank.streams.get(usize::from(*at))) {
        facts.add("Stream", stream.id.to_string());
    }
    if let Some(bytes) = ops.bytes_of(op as u32) {
        facts.add("Bytes", format::bytes(bytes));
    }
    if let Some(message) = doc.analysis.ranks.get(id.rank).and_then(|numbers| numbers.communication.message(op as u32))
    {
        add_message(&mut facts, message);
    }
    if let Some(own) = workspace.job_rank(id).filter(|_| doc.analysis.classes.class(name, kind).is_communication()) {
        for (name, value) in compare::kernel_lines(&workspace.job, own, op as u32) {
            facts.add(name, value);
        }
    }
    add_launch(&mut facts, trace, rank, op);
    let path = doc.analysis.ranks.get(id.rank).and_then(|numbers| numbers.ranges.path_text(trace, op));
    if let Some(path) = path {
        facts.add("NVTX path", path);
    }
    Some(facts)
}

/// What a communication kernel moved.
fn add_message(facts: &mut Facts, message: &Message) {
    facts.add("Message", format::bytes(message.bytes));
    if message.calls > 1 {
        facts.add("Calls in it", format::count(message.calls.into()));
    }
    if let Some(peer) = message.peer {
        facts.add("Peer", peer.to_string());
    }
    if let Some(communicator) = message.communicator {
        facts.add("Communicator", format::communicator(communicator));
    }
}

fn add_launch(facts: &mut Facts, trace: &Trace, rank: &Rank, op: usize) {
    let process = trace.processes.get(rank.process);
    let Some((process, call)) = process.zip(rank.ops.launch_of(op)) else {
        facts.add("Launched by", "not recorded");
        return;
    };
    let at = call as usize;
    let (Some(name), true) = (process.api.name.get(at), at < process.api.len()) else { return };
    let (span, start_ns) = (process.api.span(at), rank.ops.span(op).start_ns);
    facts.add("Launched by", trace.name(*name));
    facts.add("Launch call", format::duration(span.len_ns()));
    facts.add("From call to start", format::duration(start_ns.saturating_sub(span.start_ns)));
    facts.add("From end of call to start", format::duration(start_ns.saturating_sub(span.end_ns)));
    if let Some(thread) = trace.thread_of_call(rank.process, call).and_then(|thread| trace.threads.get(thread)) {
        facts.add("Launching thread", thread_text(trace, thread));
    }
}

/// Names of the ranges open at `at_ns`, outermost first.
fn nvtx_path(trace: &Trace, ranges: &RangeTable, at_ns: i64) -> String {
    let begun = ranges.start_ns.partition_point(|start| *start <= at_ns);
    let first = begun.saturating_sub(NVTX_WALK);
    let open = (first..begun).filter(|at| ranges.end_ns.get(*at).is_some_and(|end| *end > at_ns));
    let names: Vec<&str> = open.filter_map(|at| ranges.name.get(at).map(|name| trace.name(*name))).collect();
    names.join(" › ")
}

fn call_facts(workspace: &Workspace, doc_at: usize, process: usize, call: u32) -> Option<Facts> {
    let doc = workspace.docs.get(doc_at)?;
    let trace = &doc.trace;
    let api = &trace.processes.get(process)?.api;
    let at = call as usize;
    let name = trace.name(*api.name.get(at)?);
    let mut facts = Facts {
        kind: "CUDA API call",
        title: name.to_owned(),
        row: row_of(doc_at, TableKind::Api, &api.row, at),
        ..Facts::default()
    };
    facts.add_times(api.span(at), doc);
    add_launched(&mut facts, trace, process, call);
    if let Some(thread) = trace.thread_of_call(process, call).and_then(|thread| trace.threads.get(thread)) {
        facts.add("Thread", thread_text(trace, thread));
        let path = nvtx_path(trace, &thread.nvtx, api.span(at).start_ns);
        if !path.is_empty() {
            facts.add("NVTX path", path);
        }
    }
    Some(facts)
}

/// What the call launched. Cost: one look at every operation of the process.
fn add_launched(facts: &mut Facts, trace: &Trace, process: usize, call: u32) {
    let ranks = trace.ranks.iter().filter(|rank| rank.process == process);
    let mut launched = ranks.flat_map(|rank| {
        let ops = rank.ops.launch.iter().enumerate().filter(move |(_, launch)| **launch == call);
        ops.map(move |(op, _)| (rank, op))
    });
    let Some((rank, op)) = launched.next() else { return };
    let name = rank.ops.name.get(op).map_or("", |name| trace.op_short_name(*name));
    let mut text = format!("{name}, {}", format::duration(rank.ops.span(op).len_ns()));
    if let Some(stream) = rank.ops.stream.get(op).and_then(|at| rank.streams.get(usize::from(*at))) {
        text.push_str(&format!(", stream {}", stream.id));
    }
    let others = launched.count();
    if others > 0 {
        text.push_str(&format!(", and {} more", format::count(others as u64)));
    }
    facts.add("Launched", text);
}

fn range_facts(workspace: &Workspace, doc_at: usize, thread_at: usize, at: usize, mark: bool) -> Option<Facts> {
    let doc = workspace.docs.get(doc_at)?;
    let trace = &doc.trace;
    let thread = trace.threads.get(thread_at)?;
    let table = if mark { &thread.marks } else { &thread.nvtx };
    let name = trace.name(*table.name.get(at)?);
    let mut facts = Facts {
        kind: if mark { "NVTX mark" } else { "NVTX range" },
        title: name.to_owned(),
        row: row_of(doc_at, TableKind::Nvtx, &table.row, at),
        ..Facts::default()
    };
    facts.add_times(table.span(at), doc);
    if table.open.get(at).copied().unwrap_or(false) && !mark {
        facts.add("End", "not recorded, drawn to the end of the capture");
    }
    facts.add("Thread", thread_text(trace, thread));
    let domain = table.domain.get(at).and_then(|domain| trace.domains.get(usize::from(*domain)));
    if let Some(domain) = domain.map(|name| trace.name(*name)).filter(|name| !name.is_empty()) {
        facts.add("Domain", domain);
    }
    let category = table.category.get(at).and_then(|category| trace.categories.get(usize::from(*category)));
    if let Some(category) = category.map(|name| trace.name(*name)).filter(|name| !name.is_empty()) {
        facts.add("Category", category);
    }
    if !mark {
        add_work(&mut facts, workspace, doc_at, thread_at, at as u32);
    }
    Some(facts)
}

/// What a range ran on each GPU of its process, and its forward or backward.
fn add_work(facts: &mut Facts, workspace: &Workspace, doc_at: usize, thread: usize, at: u32) {
    let Some(doc) = workspace.docs.get(doc_at) else { return };
    let trace = &doc.trace;
    let process = trace.threads.get(thread).map(|t| t.process);
    let all = trace.ranks.iter().zip(&doc.analysis.ranks).enumerate();
    for (rank, (_, numbers)) in all.filter(|(_, (rank, _))| Some(rank.process) == process) {
        if let Some(range) = numbers.ranges.projection_of(trace, Attribution::Process, thread, at) {
            let text = format!(
                "{} from first start to last end, {}, {}",
                format::duration(range.gpu.len_ns()),
                format::counted(u64::from(range.ops), "operation", "operations"),
                rank_text(workspace, RankId { doc: doc_at, rank }),
            );
            facts.add("On the GPU", text);
        }
    }
    let Some((end, other, range)) = linked_by_sequence(trace, thread, at) else { return };
    let Some(ranges) = trace.threads.get(other).map(|thread| &thread.nvtx) else { return };
    let name = ranges.name.get(range as usize).map_or("", |name| trace.name(*name));
    let length = format::duration(ranges.span(range as usize).len_ns());
    let what = match end {
        Sequence::Forward => "Its forward",
        Sequence::Backward => "Its backward",
    };
    facts.add(what, format!("{name}, {length}"));
}

/// A range as it ran on the GPU.
fn projected_facts(workspace: &Workspace, id: RankId, attribution: Attribution, at: usize) -> Option<Facts> {
    let (doc, _) = workspace.rank(id)?;
    let ranges = &doc.analysis.ranks.get(id.rank)?.ranges;
    let range = *ranges.projected(&doc.trace, attribution).get(at)?;
    let mut facts = range_facts(workspace, id.doc, range.thread as usize, range.range as usize, false)?;
    facts.kind = "NVTX range on the GPU";
    facts.add("Operations belong to it by", attribution.text());
    Some(facts)
}

fn os_facts(workspace: &Workspace, doc_at: usize, thread_at: usize, at: usize) -> Option<Facts> {
    let doc = workspace.docs.get(doc_at)?;
    let trace = &doc.trace;
    let thread = trace.threads.get(thread_at)?;
    let mut facts = Facts {
        kind: "OS runtime call",
        title: trace.name(*thread.os.name.get(at)?).to_owned(),
        row: row_of(doc_at, TableKind::OsRuntime, &thread.os.row, at),
        ..Facts::default()
    };
    facts.add_times(thread.os.span(at), doc);
    facts.add("Thread", thread_text(trace, thread));
    Some(facts)
}

fn idle_facts(workspace: &Workspace, id: RankId, gap: usize) -> Option<Facts> {
    let (doc, rank) = workspace.rank(id)?;
    let numbers = doc.analysis.ranks.get(id.rank)?;
    let report = GapReport::of(&doc.trace, rank, numbers, gap)?;
    let gap = Gap::of(&doc.trace, rank, numbers, &report);
    let mut facts = Facts { kind: "Idle gap", title: gap.sentence.clone(), ..Facts::default() };
    facts.add_times(report.span, doc);
    facts.add("Rank", rank_text(workspace, id));
    for (cause, ns) in report.causes.iter() {
        let share = format::percent(share(ns, report.span.len_ns()));
        facts.add(cause.text(), format!("{}  ({share})", format::duration(ns)));
    }
    if !gap.place.is_empty() {
        facts.add("Host", gap.place);
    }
    let launch = gap.launch.map(|call| match report.launch_after_ns {
        Some(after_ns) if after_ns > 0 => format!("{call}, {} into the gap", format::duration(after_ns)),
        _ => format!("{call}, before the gap began"),
    });
    let path = Some(gap.nvtx.join(" › ")).filter(|path| !path.is_empty());
    let known = [
        ("Began after", gap.before),
        ("Ended by", gap.after),
        ("Its launch", launch),
        ("Launching thread", gap.thread),
        ("NVTX path meanwhile", path),
        ("Drained by", gap.drained_by),
        ("Inside call", gap.call),
        ("Inside OS call", gap.os_call),
    ];
    for (name, value) in known {
        if let Some(value) = value {
            facts.add(name, value);
        }
    }
    facts.add("CUDA calls meanwhile", format::count(gap.calls));
    Some(facts)
}

fn step_facts(workspace: &Workspace, id: RankId, step: usize) -> Option<Facts> {
    let (doc, _) = workspace.rank(id)?;
    let step = doc.analysis.ranks.get(id.rank)?.steps.as_ref()?.steps.get(step)?;
    let mut facts = Facts { kind: "Step", title: step.name.clone(), ..Facts::default() };
    facts.add_times(step.window, doc);
    facts.add("Window", format!("{} ns", format::integer(step.window.len_ns())));
    for part in Part::ALL {
        let of_step = format::percent(part.share(&step.parts));
        facts.add(part.text(), format!("{} ns  ({of_step})", format::integer(part.of(&step.parts))));
    }
    facts.add("Note", step_note(step));
    if step.empty_before > 0 {
        facts.add("Its window", report::empty_ranges_text(step.empty_before));
    }
    facts.add("Rank", rank_text(workspace, id));
    if step.range != step.window {
        facts.add("NVTX range", format::duration(step.range.len_ns()));
    }
    facts.add("Launched on its stream", format::counted(step.gpu_ops, "operation", "operations"));
    Some(facts)
}

/// What sets a step apart, in words.
const fn step_note(step: &Step) -> &'static str {
    match step.edge {
        Some(StepEdge::WarmUp) => "warm-up: the first step, longer than 1.5 times the median",
        Some(StepEdge::Cut) => "cut: the capture starts or ends inside it",
        Some(StepEdge::Outlier) => "outlier: longer than 1.5 times the median",
        None if step.typical => "typical: counts for the typical step",
        None => "outside 20 %: more than that off the median",
    }
}

fn row_of(doc: usize, table: TableKind, rows: &RowNumbers, at: usize) -> Option<(usize, RowRef)> {
    Some((doc, RowRef { table, row: rows.get(at)? }))
}

/// "rank 0 on NVIDIA A100-SXM4-40GB".
pub fn rank_text(workspace: &Workspace, id: RankId) -> String {
    let gpu = workspace.rank(id).and_then(|(doc, rank)| doc.trace.gpus.get(rank.gpu?));
    match gpu {
        Some(gpu) => format!("{} on {}", rank_label(workspace, id), gpu.name),
        None => rank_label(workspace, id),
    }
}

/// "rank 0"; labels that say more than a number stand alone.
pub fn rank_label(workspace: &Workspace, id: RankId) -> String {
    let label = workspace.label(id);
    let number = label.split(' ').next().unwrap_or_default();
    if number.chars().all(|c| c.is_ascii_digit()) { format!("rank {label}") } else { label.to_owned() }
}

fn thread_text(trace: &Trace, thread: &Thread) -> String {
    match thread.name.map(|name| trace.name(name)).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name} ({})", thread.tid),
        None => thread.tid.to_string(),
    }
}

fn class_text(class: Class) -> String {
    match class {
        Class::Compute(family) => format!("compute, {}", family.text()),
        Class::Communication(collective) => format!("communication, {}", collective.text()),
        Class::Fused(collective) => format!("fused compute and {}", collective.text()),
        Class::Copy => "copy".to_owned(),
        Class::Graph => "compute, CUDA graph as one block".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use std::sync::Arc;

    fn workspace(fixture: &mut Fixture) -> Workspace {
        let trace = fixture.build();
        let analysis = analyze(&trace, &Params::default());
        Workspace::new([(Arc::new(trace), Arc::new(analysis))])
    }

    fn value<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
        facts.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
    }

    #[test]
    fn a_kernel_tells_its_launch_and_the_ranges_open_there() {
        let mut fixture = Fixture::new();
        fixture.range("step 3", 1, 0, 100).range("forward", 1, 10, 50).range("earlier", 1, 2, 8);
        fixture.launched("gemm", 7, 1, 20, 30, 45);
        let workspace = workspace(&mut fixture);
        let facts = Facts::of(Item::Op(RankId { doc: 0, rank: 0 }, 0), &workspace).unwrap();
        assert_eq!((facts.kind, facts.title.as_str()), ("Kernel", "gemm"));
        assert_eq!(value(&facts, "Duration"), Some("15 ns"));
        assert_eq!(value(&facts, "NVTX path"), Some("step 3 › forward"));
        assert_eq!(value(&facts, "From call to start"), Some("10 ns"));
        assert_eq!(value(&facts, "From end of call to start"), Some("8 ns"));
        assert!(facts.row.is_some_and(|(doc, row)| doc == 0 && row.table == TableKind::Kernel));
        assert!(facts.as_text().contains("Stream\t7"));
    }

    #[test]
    fn a_call_tells_what_it_launched() {
        let mut fixture = Fixture::new();
        fixture.launched("gemm", 7, 1, 20, 30, 45).call("cudaDeviceSynchronize", 1, 50, 60, None);
        let workspace = workspace(&mut fixture);
        let facts = |call| Facts::of(Item::Call(0, 0, call), &workspace).unwrap();
        assert_eq!(value(&facts(0), "Launched"), Some("gemm, 15 ns, stream 7"));
        assert_eq!(value(&facts(1), "Launched"), None);
    }

    #[test]
    fn a_step_tells_its_window_its_parts_and_what_sets_it_apart() {
        let mut fixture = Fixture::new();
        for step in 0..3 {
            let at = step * 1000;
            fixture.range(&format!("step {step}"), 1, at, at + 1000);
            fixture.launched("gemm", 7, 1, at + 10, at + 200, at + 900);
        }
        let workspace = workspace(&mut fixture);
        let facts = Facts::of(Item::Step(RankId { doc: 0, rank: 0 }, 1), &workspace).unwrap();
        assert_eq!(value(&facts, "Window"), Some("1\u{2009}000 ns"));
        assert_eq!(value(&facts, "Compute only"), Some("700 ns  (70.0 %)"));
        assert_eq!(value(&facts, "Idle"), Some("300 ns  (30.0 %)"));
        assert!(value(&facts, "Note").unwrap().starts_with("typical"));
    }

    #[test]
    fn a_gap_tells_its_causes_and_what_its_thread_did() {
        let mut fixture = Fixture::new();
        fixture.range("optimizer", 1, 0, 20_000);
        fixture.launched("gemm", 7, 1, 0, 10, 1_000).launched("adam", 7, 1, 4_000, 9_000, 9_500);
        let workspace = workspace(&mut fixture);
        let facts = Facts::of(Item::Idle(RankId { doc: 0, rank: 0 }, 0), &workspace).unwrap();
        assert!(facts.title.starts_with("8.000 µs: launch latency"), "{}", facts.title);
        assert_eq!(value(&facts, "host code"), Some("3.000 µs  (37.5 %)"));
        assert_eq!(value(&facts, "Ended by"), Some("adam"));
        assert_eq!(value(&facts, "Its launch"), Some("cudaLaunchKernel, 3.000 µs into the gap"));
        assert_eq!(value(&facts, "NVTX path meanwhile"), Some("optimizer"));
        assert_eq!(value(&facts, "Drained by"), None);
    }

    #[test]
    fn an_operation_without_launch_says_so() {
        let mut fixture = Fixture::new();
        fixture.kernel("lonely", 7, 30, 45);
        let workspace = workspace(&mut fixture);
        let facts = Facts::of(Item::Op(RankId { doc: 0, rank: 0 }, 0), &workspace).unwrap();
        assert_eq!(value(&facts, "Launched by"), Some("not recorded"));
    }

    #[test]
    fn items_that_are_not_there_have_no_facts() {
        let mut fixture = Fixture::new();
        fixture.kernel("lonely", 7, 30, 45);
        let workspace = workspace(&mut fixture);
        let rank = RankId { doc: 0, rank: 0 };
        for item in [
            Item::Op(rank, 9),
            Item::Op(RankId { doc: 4, rank: 0 }, 0),
            Item::Call(0, 9, 0),
            Item::Call(0, 0, 9),
            Item::Nvtx(0, 9, 0),
            Item::Mark(0, 0, 9),
            Item::Os(3, 0, 0),
            Item::Idle(rank, 99),
            Item::Step(rank, 99),
        ] {
            assert_eq!(Facts::of(item, &workspace), None, "{item:?}");
        }
    }
}
