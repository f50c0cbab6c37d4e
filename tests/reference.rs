//! The report of every real export equals, to the nanosecond, what slow and plain reference arithmetic says.

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
use stepscope::analysis::{Params, analyze};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::report::{Capture, Report};
use support::shared_exports;

/// The report as JSON, as the command line prints it.
fn report(path: &Path) -> Value {
    let trace = open(path, &LoadOptions::default(), &Progress::new()).unwrap();
    let analysis = analyze(&trace, &Params::default());
    serde_json::to_value(Report::of(&[Capture { trace: &trace, analysis: &analysis }])).unwrap()
}

/// Every key of `expected` is in `found` with the same value; `found` may hold more.
fn differences(at: &str, expected: &Value, found: &Value, list: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                differences(&format!("{at}.{key}"), value, found.get(key).unwrap_or(&Value::Null), list);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            if expected.len() != found.len() {
                list.push(format!("{at}: {} entries instead of {}", found.len(), expected.len()));
            }
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                differences(&format!("{at}[{index}]"), expected, found, list);
            }
        }
        _ if expected == found => {}
        _ => list.push(format!("{at}: {found} instead of {expected}")),
    }
}

#[test]
fn every_real_export_gives_the_reference_integers() {
    for path in shared_exports() {
        let reference = std::fs::read_to_string(path.with_extension("reference.json")).unwrap();
        let reference: Value = serde_json::from_str(&reference).unwrap();
        let found = report(&path);
        let mut list = Vec::new();
        differences("", &reference, &found, &mut list);
        assert!(list.is_empty(), "{}: {list:#?}", path.display());
        for (rank, expected) in found["ranks"].as_array().unwrap().iter().zip(reference["ranks"].as_array().unwrap()) {
            let marked = rank["steps_estimated"] == Value::Bool(false) && rank["step_stem"] != Value::Null;
            assert_eq!(marked, expected.get("step_stem").is_some(), "{}: steps appear or vanish", path.display());
        }
    }
}

#[test]
fn the_parts_of_every_step_sum_to_its_window_and_windows_tile() {
    for path in shared_exports() {
        for rank in report(&path)["ranks"].as_array().unwrap() {
            let steps = rank["steps"].as_array().unwrap();
            for step in steps.iter().chain([rank]) {
                let parts = ["compute_only_ns", "overlapped_comm_ns", "exposed_comm_ns", "copy_only_ns", "idle_ns"];
                let sum: i64 = parts.iter().map(|part| step[part].as_i64().unwrap()).sum();
                assert_eq!(sum, step["span_ns"].as_i64().unwrap(), "{}", path.display());
            }
            for pair in steps.windows(2) {
                assert_eq!(pair[0]["window_end_ns"], pair[1]["window_start_ns"], "{}", path.display());
            }
        }
    }
}
