//! Samples of the GPUs' own counters become series, each with its card, in bounded memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod loader_support;

use loader_support::{Export, codes, shared_exports};
use stepscope::analysis::{Counter, CounterKind, Direction, Params, Unit, analyze, counters_of};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{JobConfig, simulate_to_dir};
use stepscope::trace::{METRIC_POINTS, Trace};

const TABLES: &str = "
    CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, typeName TEXT NOT NULL,
        metricId INTEGER NOT NULL, metricName TEXT NOT NULL);
    CREATE TABLE GPU_METRICS(timestamp INTEGER, typeId INTEGER NOT NULL, metricId INTEGER NOT NULL, value INTEGER NOT NULL);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES
        (281474976710656, 7, 'General Metrics for NVIDIA GA100 [0]', 3, 'SMs Active [Throughput %]'),
        (281474976710657, 7, 'GA100', 3, 'SMs Active [Throughput %]'),
        (281474976710657, 7, 'GA100', 5, 'GPC Clock Frequency [MHz]');";

/// Name and card of each counter.
fn named(trace: &Trace) -> Vec<(&str, Option<&str>)> {
    let card = |gpu: Option<usize>| gpu.and_then(|gpu| trace.gpus.get(gpu)).map(|gpu| gpu.name.as_str());
    trace.metrics.iter().map(|metric| (trace.name(metric.name), card(metric.gpu))).collect()
}

#[test]
fn samples_belong_to_the_card_of_their_type_in_order_of_time() {
    let rows = "INSERT INTO GPU_METRICS VALUES (30, 281474976710656, 3, 70), (10, 281474976710656, 3, 50),
        (20, 281474976710656, 3, 60), (15, 281474976710657, 3, 7), (15, 281474976710657, 5, 1410),
        (NULL, 281474976710657, 5, 9), (15, 99, 5, 9);";
    let trace = Export::made(&format!("{TABLES}{rows}")).load().unwrap();
    // The ids of the cards are not their places in the table.
    let wanted = [
        ("SMs Active [Throughput %]", Some("A40")),
        ("SMs Active [Throughput %]", Some("A100")),
        ("GPC Clock Frequency [MHz]", Some("A100")),
    ];
    assert_eq!(named(&trace), wanted);
    let points: Vec<(i64, f32)> = trace.metrics[0].points.iter().map(|point| (point.at_ns, point.mean)).collect();
    assert_eq!(points, [(10, 50.0), (20, 60.0), (30, 70.0)]);
    assert_eq!((trace.metrics[2].samples, trace.metrics[2].points[0].mean), (1, 1410.0));
    assert!(codes(&trace).contains(&"unnamed-metric"), "a sample of a counter without a name is told of");
}

#[test]
fn a_flood_of_samples_is_thinned() {
    let count = METRIC_POINTS * 3;
    let rows = format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})
         INSERT INTO GPU_METRICS SELECT i * 100, 281474976710656, 3, i % 101 FROM n;"
    );
    let trace = Export::made(&format!("{TABLES}{rows}")).load().unwrap();
    let metric = &trace.metrics[0];
    assert!(metric.is_thinned && metric.points.len() <= METRIC_POINTS && metric.samples == count as u64);
    assert!(metric.points.iter().all(|point| point.min <= point.mean && point.mean <= point.max));
}

#[test]
fn files_without_samples_or_with_broken_tables_load() {
    assert!(Export::made("").load().unwrap().metrics.is_empty());
    let real = shared_exports().into_iter().find(|path| path.ends_with("rtx3080_tiny_2026.1.sqlite"));
    assert!(real.is_none_or(|path| loader_support::load(&path).unwrap().metrics.is_empty()));
    assert!(Export::made(TABLES).load().unwrap().metrics.is_empty());
    let other =
        "CREATE TABLE GPU_METRICS(timestamp INTEGER, rawTimestamp INTEGER); INSERT INTO GPU_METRICS VALUES (5, 6);";
    let trace = Export::made(other).load().unwrap();
    assert!(trace.metrics.is_empty() && codes(&trace).contains(&"unusable-table"));
}

#[test]
fn a_simulated_card_is_sampled_and_its_counters_agree_with_what_ran() {
    let folder = tempfile::tempdir().unwrap();
    let cfg = JobConfig { ranks: 2, steps: 2, gpu_metrics_hz: 10_000, ..JobConfig::default() };
    let job = simulate_to_dir(&cfg, folder.path(), false, &mut |_| {}).unwrap();
    let trace = open(&job.files[0], &LoadOptions::default(), &Progress::new()).unwrap();
    let analysis = analyze(&trace, &Params::default());
    let numbers = &analysis.ranks[0];
    let kinds = counters_of(&trace, &trace.ranks[0], numbers);
    let named = |name: &str| {
        let is = |kind: &&CounterKind| matches!(kind, CounterKind::Metric(at) if trace.name(trace.metrics[usize::from(*at)].name).contains(name));
        *kinds.iter().find(is).unwrap()
    };
    let mean = |kind| Counter::of(&trace, 0, numbers, kind).within(numbers, kind, numbers.span).unwrap().mean;
    let (active, busy) = (mean(named("SMs Active")), mean(CounterKind::Busy));
    assert!(active > 0.2 * busy && active <= busy + 2.0, "{active} of {busy}");
    let bus = mean(named("PCIe RX")) / 100.0 * 25e9;
    let copied = mean(CounterKind::Traffic(Direction::HostToDevice));
    assert!((bus - copied).abs() < 0.05 * copied + 0.01 * 25e9, "{bus} {copied}");
    assert_eq!(named("Clock").unit(&trace), Unit::Plain);
}
