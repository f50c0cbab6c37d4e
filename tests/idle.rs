//! Causes of idle time on real exports and simulated jobs: they sum to the idle part everywhere, and they say what the
//! job was made to lose.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use serde_json::Value;
use std::path::Path;
use stepscope::analysis::{Analysis, Cause, Causes, GapPlace, GapReport, Params, analyze};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::report::{Capture, Report};
use stepscope::sim::{Job, JobConfig, preset, presets, simulate_to_dir};
use stepscope::trace::Trace;
use stepscope::units::{Span, share};
use support::shared_exports;

type Loaded = (Trace, Analysis);

fn load(path: &Path) -> Loaded {
    let trace = open(path, &LoadOptions::default(), &Progress::new()).unwrap();
    let analysis = analyze(&trace, &Params::default());
    (trace, analysis)
}

fn simulated(config: &JobConfig) -> (Job, Vec<Loaded>) {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(config, folder.path(), false, &mut |_| {}).unwrap();
    let loaded = job.files.iter().map(|file| load(file)).collect();
    (job, loaded)
}

/// In every window, step and gap the causes sum to the idle time, to the nanosecond.
fn assert_sums(name: &str, (trace, analysis): &Loaded) {
    for (rank, numbers) in trace.ranks.iter().zip(&analysis.ranks) {
        let whole = numbers.idle.within(numbers.span);
        assert_eq!(whole.total_ns(), numbers.whole.idle_ns, "{name}: the whole span");
        assert!(Cause::ALL.into_iter().all(|cause| whole.of(cause) >= 0), "{name}: {whole:?}");
        let third = numbers.span.len_ns() / 3;
        for at in 0..4 {
            let start_ns = numbers.span.start_ns + at * third - 1_234;
            let window = Span::new(start_ns, start_ns + third + 777);
            let causes = numbers.idle.within(window);
            assert_eq!(causes.total_ns(), numbers.partition(window).idle_ns, "{name}: {window:?}");
        }
        if let Some(steps) = &numbers.steps {
            for step in &steps.steps {
                assert_eq!(step.causes.total_ns(), step.parts.idle_ns, "{name}: {}", step.name);
            }
            assert_eq!(steps.typical.causes.total_ns(), steps.typical.mean.idle_ns, "{name}: the typical step");
        }
        let mut sum = Causes::default();
        for gap in 0..numbers.idle.gaps() {
            let causes = numbers.idle.causes_of(gap);
            assert_eq!(causes.total_ns(), numbers.idle.gap(gap).unwrap().len_ns(), "{name}: gap {gap}");
            assert_eq!(causes.largest(), numbers.idle.cause_of(gap), "{name}: gap {gap}");
            sum += causes;
        }
        assert_eq!(sum, whole, "{name}: the gaps tile the idle time");
        for gap in numbers.idle.longest(0, 50) {
            let report = GapReport::of(trace, rank, numbers, gap as usize).unwrap();
            assert!(report.after.is_some() && report.before.is_some(), "{name}: gap {gap}");
            let drained = report.drained_by.is_some();
            let left = report.causes.of(Cause::HostCode) + report.causes.of(Cause::Launch);
            assert!(!drained || left == 0, "{name}: gap {gap} was drained and keeps host code");
        }
    }
}

#[test]
fn causes_sum_to_the_idle_time_of_every_real_export() {
    for path in shared_exports() {
        assert_sums(&path.display().to_string(), &load(&path));
    }
}

#[test]
fn causes_sum_to_the_idle_time_of_every_named_job() {
    for preset in presets() {
        for loaded in simulated(&preset.config).1 {
            assert_sums(preset.name, &loaded);
        }
    }
}

#[test]
fn the_report_has_every_cause_and_the_longest_gaps() {
    let (_, loaded) = simulated(&preset("demo").unwrap());
    let captures: Vec<Capture<'_>> = loaded.iter().map(|(trace, analysis)| Capture { trace, analysis }).collect();
    let report = serde_json::to_value(Report::of(&captures)).unwrap();
    for rank in report["ranks"].as_array().unwrap() {
        let sum = |value: &Value| -> i64 {
            let causes = value["idle_causes_ns"].as_object().unwrap();
            assert_eq!(causes.len(), Cause::COUNT);
            Cause::ALL.iter().map(|cause| causes[cause.key()].as_i64().unwrap()).sum()
        };
        assert_eq!(sum(rank), rank["idle_ns"].as_i64().unwrap());
        assert_eq!(sum(&rank["typical_step"]), rank["typical_step"]["idle_ns"].as_i64().unwrap());
        for step in rank["steps"].as_array().unwrap() {
            assert_eq!(sum(step), step["idle_ns"].as_i64().unwrap());
        }
        let gaps = rank["gaps"].as_array().unwrap();
        let lengths: Vec<i64> = gaps.iter().map(|gap| gap["length_ns"].as_i64().unwrap()).collect();
        assert!(lengths.len() == 20 && lengths.is_sorted_by(|a, b| a >= b), "{lengths:?}");
        assert_eq!(gaps.iter().map(sum).sum::<i64>(), lengths.iter().sum::<i64>());
        let of = |key: &str, of: &str| rank[key][of].as_i64().unwrap();
        assert_eq!(of("gaps_listed", "total_ns") + of("gaps_shorter", "total_ns"), rank["idle_ns"].as_i64().unwrap());
    }
}

#[test]
fn simulated_jobs_lose_what_they_were_made_to_lose() {
    use Cause::{Allocator, Data, HostCode, Launch, LaunchLatency, Sync, Turnaround};
    let cases: &[(&str, usize, &[Cause], f64)] = &[
        ("healthy", 0, &[Turnaround, Sync, Data], 0.99),
        ("slow-loader", 0, &[Data], 0.99),
        ("slow-loader-unnamed", 0, &[Data], 0.85),
        ("item-sync", 0, &[Sync], 0.97),
        ("item-sync-copy", 0, &[Sync], 0.97),
        ("tiny-kernels", 0, &[Launch, HostCode, LaunchLatency, Turnaround], 0.9),
        ("many-optimizer-kernels", 0, &[Launch, HostCode, LaunchLatency, Turnaround], 0.9),
        ("allocator-churn", 0, &[Allocator], 0.97),
        ("straggler-data", 2, &[Data], 0.98),
        ("straggler-host", 2, &[HostCode, Launch, LaunchLatency], 0.7),
    ];
    for (name, rank, causes, least) in cases {
        let (_, loaded) = simulated(&preset(name).unwrap());
        let steps = loaded[*rank].1.ranks[0].steps.as_ref().unwrap();
        let of = steps.typical.causes;
        let ns: i64 = causes.iter().map(|cause| of.of(*cause)).sum();
        let found = share(ns, of.total_ns()).unwrap();
        assert!(found >= *least, "{name}: {found} of {causes:?} in {of:?}");
    }
}

#[test]
fn no_more_data_is_waited_for_than_the_job_waited() {
    for name in ["demo", "slow-loader", "straggler-data", "tiny-kernels"] {
        let (job, loaded) = simulated(&preset(name).unwrap());
        for ((_, analysis), truth) in loaded.iter().zip(&job.truth.ranks) {
            let found = &analysis.ranks[0].steps.as_ref().unwrap().steps;
            for (step, truth) in found.iter().zip(&truth.steps) {
                // The gap may begin before the step; between two steps the time counts as data too.
                let before_ns = (truth.range.start_ns - truth.window.start_ns).max(0);
                let most_ns = truth.data_wait_ns + before_ns + 10_000;
                let data_ns = step.causes.of(Cause::Data);
                assert!(data_ns <= most_ns, "{name} {}: {data_ns} of {most_ns}", step.name);
            }
        }
    }
}

#[test]
fn a_pause_of_the_garbage_collector_is_host_code() {
    let (job, loaded) = simulated(&preset("gc-pause").unwrap());
    let mut seen = 0;
    for ((trace, analysis), truth) in loaded.iter().zip(&job.truth.ranks) {
        let numbers = &analysis.ranks[0];
        let steps = &numbers.steps.as_ref().unwrap().steps;
        for (at, truth) in truth.steps.iter().enumerate().filter(|(_, step)| step.gc_ns > 0) {
            let host_ns = steps[at].causes.of(Cause::HostCode);
            assert!(host_ns * 10 >= truth.gc_ns * 8 && host_ns <= truth.gc_ns + 5_000_000, "{host_ns}");
            let longest = numbers.idle.longest(0, 1)[0] as usize;
            let report = GapReport::of(trace, &trace.ranks[0], numbers, longest).unwrap();
            assert_eq!((report.cause, report.calls, report.place), (Cause::HostCode, 0, GapPlace::In(at)));
            seen += 1;
        }
    }
    assert!(seen > 0, "the job has a pause");
}

#[test]
fn the_call_that_drained_the_queue_is_named() {
    for (name, call) in [("item-sync", "cudaStreamSynchronize"), ("item-sync-copy", "cudaMemcpyAsync")] {
        let (_, loaded) = simulated(&preset(name).unwrap());
        let captures: Vec<Capture<'_>> = loaded.iter().map(|(trace, analysis)| Capture { trace, analysis }).collect();
        let report = Report::of(&captures);
        let sync: Vec<_> = report.ranks[0].idle.gaps.iter().filter(|gap| gap.cause == Cause::Sync).collect();
        assert!(sync.len() > 5, "{name}");
        for gap in sync {
            assert_eq!(gap.drained_by.as_deref(), Some(call), "{name}");
            assert!(gap.sentence.contains(&format!("{call} had drained the queue")), "{}", gap.sentence);
        }
    }
}
