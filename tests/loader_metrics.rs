//! Samples of the GPUs' own counters become series, each with its card, in bounded memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod loader_support;

use loader_support::{Export, codes};
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
    assert!(Export::made(TABLES).load().unwrap().metrics.is_empty());
    let other =
        "CREATE TABLE GPU_METRICS(timestamp INTEGER, rawTimestamp INTEGER); INSERT INTO GPU_METRICS VALUES (5, 6);";
    let trace = Export::made(other).load().unwrap();
    assert!(trace.metrics.is_empty() && codes(&trace).contains(&"unusable-table"));
}
