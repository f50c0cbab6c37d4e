//! NVTX ranges on the GPU: NVIDIA's own answers, and simulated jobs whose backward runs on another thread.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::Path;
use stepscope::analysis::{Analysis, Attribution, Params, RangeSum, Ranges, analyze, same_thread_rows};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{JobConfig, simulate_to_dir};
use stepscope::trace::{RangeKind, Trace};

fn load(path: &Path) -> Trace {
    open(path, &LoadOptions::default(), &Progress::new()).unwrap()
}

/// The rows of one report in a file of NVIDIA's answers, cell by cell.
fn answers(text: &str, report: &str) -> Vec<Vec<String>> {
    let lines = text.lines().skip_while(|line| line.trim() != format!("## {report}")).skip(2);
    let cells = |line: &str| {
        let inner = line.trim().trim_start_matches("['").trim_end_matches("']");
        inner.split("', '").map(str::to_owned).collect()
    };
    lines.take_while(|line| line.starts_with('[')).map(cells).collect()
}

#[test]
fn the_projection_equals_nvidias_own_answers() {
    let export = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/tiny_two_processes.sqlite");
    if !export.exists() {
        println!("skipped: {} is not here", export.display());
        return;
    }
    let text = std::fs::read_to_string(export.with_extension("nsys.txt")).unwrap();
    let rows: Vec<Vec<String>> =
        answers(&text, "nvtx_gpu_proj_trace").into_iter().filter(|row| !row[0].is_empty()).collect();
    assert_eq!(rows.len(), 8, "the file of answers is incomplete");
    let names: BTreeMap<&str, &str> = rows.iter().map(|row| (row[11].as_str(), row[0].as_str())).collect();
    // Without the ids of rows, which are NVIDIA's own count; the parent by name.
    let mut expected: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let parent = names.get(row[12].as_str()).copied().unwrap_or("");
            row[..11].iter().cloned().chain([parent.to_owned()]).collect()
        })
        .collect();
    let trace = load(&export);
    let found_rows = same_thread_rows(&trace);
    let name = |at: usize| {
        let row = &found_rows[at].range;
        let ranges = &trace.threads[row.thread as usize].nvtx;
        let name = trace.name(ranges.name[row.range as usize]);
        match trace.name(trace.domains[ranges.domain[row.range as usize] as usize]) {
            "" => name.to_owned(),
            domain => format!("{domain}:{name}"),
        }
    };
    let mut found: Vec<Vec<String>> = Vec::new();
    for (at, row) in found_rows.iter().enumerate() {
        let thread = &trace.threads[row.range.thread as usize];
        let kind = thread.nvtx.kind[row.range.range as usize];
        let style = if kind == RangeKind::PushPop { "PushPop" } else { "StartEnd" };
        let (gpu, original) = (row.range.gpu, row.original);
        found.push(vec![
            name(at),
            gpu.start_ns.to_string(),
            gpu.len_ns().to_string(),
            original.start_ns.to_string(),
            original.len_ns().to_string(),
            style.to_owned(),
            trace.processes[thread.process].pid.to_string(),
            thread.tid.to_string(),
            row.range.calls.to_string(),
            row.level.to_string(),
            row.children.to_string(),
            row.parent.map(name).unwrap_or_default(),
        ]);
    }
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

fn job(change: impl FnOnce(&mut JobConfig)) -> (Trace, Analysis) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = JobConfig { steps: 4, layers: 2, hidden: 256, heads: 4, ranks: 1, ..JobConfig::default() };
    change(&mut config);
    let job = simulate_to_dir(&config, folder.path(), false, &mut |_| {}).unwrap();
    let trace = load(&job.files[0]);
    let analysis = analyze(&trace, &Params::default());
    (trace, analysis)
}

/// The node of this path of names.
fn node(ranges: &Ranges, trace: &Trace, path: &[&str]) -> u32 {
    let full = |node: u32| {
        let mut names = vec![ranges.name(trace, node)];
        let mut at = node;
        while let Some(parent) = ranges.parent(at) {
            names.insert(0, ranges.name(trace, parent));
            at = parent;
        }
        names
    };
    let found = (0..ranges.len() as u32).find(|node| full(*node) == path);
    found.unwrap_or_else(|| panic!("{path:?} in {:?}", (0..ranges.len() as u32).map(full).collect::<Vec<_>>()))
}

#[test]
fn a_step_owns_all_that_its_process_launches_and_only_a_part_of_it_on_its_own_thread() {
    let (trace, analysis) = job(|_| {});
    let ranges = &analysis.ranks[0].ranges;
    let step = node(ranges, &trace, &["step #"]);
    let of = |by: Attribution| -> (RangeSum, RangeSum) {
        let sums = ranges.whole(&trace, by);
        (sums.nodes[step as usize], sums.all)
    };
    let (own, all) = of(Attribution::Process);
    assert_eq!((own.gpu_ops, own.busy_ns), (all.gpu_ops, all.busy_ns));
    assert_eq!(all.gpu_ops as usize, trace.ranks[0].ops.len());
    let (own, all) = of(Attribution::SameThread);
    assert!(own.gpu_ops > 0 && own.gpu_ops * 10 < all.gpu_ops * 8, "{} of {}", own.gpu_ops, all.gpu_ops);
}

#[test]
fn what_autograd_launches_has_the_path_of_the_main_thread_and_its_own() {
    let (trace, analysis) = job(|config| config.nvtx_ops = true);
    let ranges = &analysis.ranks[0].ranges;
    let steps = analysis.ranks[0].steps.as_ref().unwrap();
    let (ops, main) = (&trace.ranks[0].ops, steps.thread.unwrap());
    let name = |thread: usize, range: u32| trace.name(trace.threads[thread].nvtx.name[range as usize]);
    let mut backward = 0;
    for op in 0..ops.len() {
        let call = ops.launch_of(op).unwrap();
        let thread = trace.thread_of_call(0, call).unwrap();
        let path = ranges.path(&trace, op);
        let names: Vec<&str> = path.iter().map(|range| name(range.thread, range.range)).collect();
        assert!(names[0].starts_with("step "), "{names:?}");
        for range in &path {
            assert_eq!(range.by_time, thread != main && range.thread == main, "{names:?}");
        }
        if thread != main {
            backward += 1;
            assert!(names.contains(&"backward"), "{names:?}");
            let text = ranges.path_text(&trace, op).unwrap();
            assert!(text.contains("backward (by time)"), "{text}");
        }
    }
    assert!(backward > 0, "the job launches nothing from another thread");
}

#[test]
fn operators_with_counters_in_their_names_are_one_line() {
    let (trace, analysis) = job(|config| config.nvtx_ops = true);
    let grouped = &analysis.ranks[0].ranges;
    let exact = Ranges::of(&trace, 0, analysis.ranks[0].steps.as_ref(), true);
    assert!(grouped.len() * 4 < exact.len(), "{} of {}", grouped.len(), exact.len());
    let all = |ranges: &Ranges| ranges.whole(&trace, Attribution::Process).all;
    assert_eq!(all(grouped), all(&exact));
    let counts =
        |ranges: &Ranges| -> u64 { ranges.whole(&trace, Attribution::Process).nodes.iter().map(|sum| sum.count).sum() };
    assert_eq!((counts(grouped), counts(&exact)), (trace.nvtx_ranges() as u64, trace.nvtx_ranges() as u64));
}

#[test]
fn the_steps_of_the_trend_add_up_to_the_typical_step() {
    let (trace, analysis) = job(|_| {});
    let (numbers, ranges) = (&analysis.ranks[0], &analysis.ranks[0].ranges);
    let (typical, count) = ranges.typical(&trace, Attribution::Process).unwrap();
    let steps = &numbers.steps.as_ref().unwrap().steps;
    for node in 0..ranges.len() as u32 {
        let by_step = ranges.trend(&trace, Attribution::Process, node).unwrap().by_step_ns;
        let sum: i64 = by_step.iter().zip(steps).filter(|(_, step)| step.typical).map(|(ns, _)| ns).sum();
        let mean = typical.nodes[node as usize].busy_ns;
        assert!((sum - mean * count as i64).abs() <= count as i64, "{}: {sum} {mean}", ranges.name(&trace, node));
    }
}
