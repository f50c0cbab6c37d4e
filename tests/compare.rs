//! `compare` and `summarize`, run as a user runs them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use serde_json::Value;
use std::path::Path;
use support::{small_job, stepscope};
use tempfile::TempDir;

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(home: &Path, arguments: &[&str]) -> Said {
    let output = stepscope(home).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// It fails with code 2, says all of `words` on standard error, and prints nothing.
fn fails(home: &Path, arguments: &[&str], words: &[&str]) {
    let said = run(home, arguments);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{arguments:?}: {}", said.err);
    for word in words {
        assert!(said.err.contains(word), "{arguments:?}: {word} is not in {}", said.err);
    }
}

fn succeeds(home: &Path, arguments: &[&str]) -> String {
    let said = run(home, arguments);
    assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.err);
    said.out
}

fn json(home: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(home, arguments)).unwrap()
}

const EXPORTS: [&str; 2] = ["job/rank0.sqlite", "job/rank1.sqlite"];

#[test]
fn the_json_of_two_ranks_has_the_documented_keys() {
    let job = small_job();
    let found = json(job.path(), &["compare", EXPORTS[0], EXPORTS[1], "--json"]);
    for key in ["alignment", "steps", "typical", "collectives", "straggler", "kernels"] {
        assert!(found.get(key).is_some(), "{key}");
    }
    let step = &found["steps"][1];
    assert_eq!(step["number"], 1);
    assert!(step["a_span_ns"].as_i64().unwrap() > 0 && step["b_span_ns"].as_i64().unwrap() > 0);
    let span = |of: &str| found["typical"][of]["span_ns"].as_i64().unwrap();
    assert_eq!(span("delta"), span("b") - span("a"));
    let collectives = &found["collectives"];
    assert!(collectives["matched"].as_u64().unwrap() > 0);
    assert_eq!(collectives["unmatched"], 0);
    for key in ["wait_ns", "transfer_ns", "last_rank_counts"] {
        assert!(collectives[key]["0"].is_u64() && collectives[key]["1"].is_u64(), "{key}");
    }
    let kernel = &found["kernels"][0];
    for key in ["name", "a_total_ns", "b_total_ns", "a_count", "b_count"] {
        assert!(!kernel[key].is_null(), "{key}");
    }
}

#[test]
fn report_and_compare_tell_one_clock_and_the_parts_of_exposed_communication() {
    let job = small_job();
    let compared = json(job.path(), &["compare", EXPORTS[0], EXPORTS[1], "--json"]);
    let report = json(job.path(), &["report", EXPORTS[0], EXPORTS[1], "--json"]);
    assert_eq!(report["alignment"], compared["alignment"]);
    assert_eq!(report["straggler"], compared["straggler"]);
    let of = &report["alignment"]["ranks"][1];
    assert_eq!((of["label"].as_str(), of["basis"].as_str()), (Some("1"), Some("collectives")));
    assert!(of["offset_ns"].is_i64() && of["uncertainty_ns"].is_i64() && of["matched"].as_u64().unwrap() > 0);
    let mut waited_ns = 0;
    for rank in report["ranks"].as_array().unwrap() {
        let ns = |key: &str| rank[key].as_i64().unwrap();
        let exposed_ns = rank["typical_step"]["exposed_comm_ns"].as_i64().unwrap();
        let parts_ns = ["exposed_wait_ns", "exposed_transfer_ns", "exposed_unmatched_ns"].map(ns);
        assert!(parts_ns.iter().all(|part| *part >= 0), "{parts_ns:?}");
        // Means of integers: each may lose a nanosecond.
        assert!((parts_ns.iter().sum::<i64>() - exposed_ns).abs() <= 3, "{parts_ns:?} {exposed_ns}");
        waited_ns += parts_ns[0];
    }
    assert!(waited_ns > 0);
    let text = succeeds(job.path(), &["report", EXPORTS[0], EXPORTS[1]]);
    assert!(text.contains("waiting for other ranks,") && text.contains("Clock of the files: collectives"), "{text}");
    // One rank alone cannot tell.
    let alone = json(job.path(), &["report", EXPORTS[0], "--json"]);
    assert!(alone["ranks"][0].get("exposed_wait_ns").is_none());
    assert_eq!(alone["alignment"]["ranks"][0]["offset_ns"], 0);
}

#[test]
fn a_folder_and_its_files_compare_alike() {
    let job = small_job();
    let files = succeeds(job.path(), &["compare", EXPORTS[0], EXPORTS[1]]);
    assert_eq!(succeeds(job.path(), &["compare", "job"]), files);
    assert!(files.contains("Straggler") && files.contains("Matched collectives"), "{files}");
}

#[test]
fn summaries_are_small_and_say_what_the_exports_say() {
    let job = small_job();
    std::fs::create_dir(job.path().join("sums")).unwrap();
    let said = succeeds(job.path(), &["summarize", "job", "-o", "sums"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    for name in ["rank0", "rank1"] {
        let bytes = |path: String| std::fs::metadata(job.path().join(path)).unwrap().len();
        let (export, summary) = (bytes(format!("job/{name}.sqlite")), bytes(format!("sums/{name}.summary")));
        assert!(summary < 64 << 10 && summary * 10 < export, "{summary} of {export} bytes");
    }
    let mut of_exports = json(job.path(), &["compare", EXPORTS[0], EXPORTS[1], "--json"]);
    let mut of_sums = json(job.path(), &["compare", "sums", "--json"]);
    assert_eq!(of_exports, of_sums);
    // One of each works as well.
    let mixed = json(job.path(), &["compare", EXPORTS[0], "sums/rank1.summary", "--json"]);
    assert_eq!(mixed["collectives"], of_sums["collectives"].take());
    assert_eq!(mixed["alignment"], of_exports["alignment"].take());
    // A summary is replaced by the next one.
    succeeds(job.path(), &["summarize", EXPORTS[0], "-o", "sums/rank0.summary"]);
}

#[test]
fn what_cannot_be_compared_is_told_with_code_two() {
    let job = small_job();
    let home = job.path();
    fails(home, &["compare"], &["compare rank0.sqlite rank1.sqlite"]);
    fails(home, &["compare", EXPORTS[0]], &["only one rank", "needs two ranks"]);
    fails(home, &["compare", EXPORTS[0], "missing.sqlite"], &["missing.sqlite"]);
    fails(home, &["compare", EXPORTS[0], EXPORTS[0]], &["rank0.sqlite", "twice"]);
    std::fs::write(home.join("text.summary"), "no summary").unwrap();
    fails(home, &["compare", EXPORTS[0], "text.summary"], &["text.summary", "no summary of stepscope", "summarize"]);
    succeeds(home, &["summarize", EXPORTS[1], "-o", "one.summary"]);
    let whole = std::fs::read(home.join("one.summary")).unwrap();
    std::fs::write(home.join("cut.summary"), &whole[..whole.len() / 2]).unwrap();
    fails(home, &["compare", EXPORTS[0], "cut.summary"], &["cut.summary", "cut or damaged", "make it anew"]);
    std::fs::create_dir(home.join("none")).unwrap();
    fails(home, &["compare", "none"], &["none", "no .sqlite and no .summary"]);
    fails(home, &["compare", "job", "--shift", "7:1ms"], &["--shift", "no such file"]);
}

#[test]
fn only_comparisons_and_summaries_are_replaced() {
    let job = small_job();
    let home = job.path();
    std::fs::write(home.join("mine.txt"), "mine").unwrap();
    fails(home, &["compare", "job", "-o", "mine.txt"], &["mine.txt", "not replaced"]);
    std::fs::write(home.join("mine.summary"), "mine").unwrap();
    fails(home, &["summarize", EXPORTS[0], "-o", "mine.summary"], &["mine.summary", "not replaced"]);
    let export = std::fs::read(home.join(EXPORTS[1])).unwrap();
    fails(home, &["summarize", EXPORTS[0], "-o", EXPORTS[1]], &["rank1.sqlite"]);
    assert_eq!(std::fs::read(home.join(EXPORTS[1])).unwrap(), export);
    assert_eq!(std::fs::read_to_string(home.join("mine.txt")).unwrap(), "mine");
    for name in ["ranks.txt", "ranks.json", "ranks.md", "ranks.html"] {
        succeeds(home, &["compare", "job", "-o", name]);
        let first = std::fs::read(home.join(name)).unwrap();
        succeeds(home, &["compare", "job", "-o", name]);
        assert_eq!(std::fs::read(home.join(name)).unwrap(), first, "{name}");
    }
}

#[test]
fn what_cannot_be_summarized_is_told_with_code_two() {
    let folder = TempDir::new().unwrap();
    fails(folder.path(), &["summarize"], &["summarize"]);
    fails(folder.path(), &["summarize", "missing.sqlite"], &["missing.sqlite"]);
    let job = small_job();
    fails(job.path(), &["summarize", "job", "-o", "nowhere"], &["no folder nowhere"]);
    fails(job.path(), &["summarize", EXPORTS[0], "-o", "-"], &["-o rank0.summary"]);
}

#[test]
fn a_rank_that_waits_is_sent_to_the_late_rank_and_not_to_the_network() {
    let home = tempfile::tempdir().unwrap();
    succeeds(home.path(), &["demo", "--scenario", "straggler-clock", "--steps", "4", "-o", "job"]);
    let files: Vec<String> = (0..4).map(|rank| format!("job/rank{rank}.sqlite")).collect();
    let all: Vec<&str> = ["report", "--json"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let next =
        |report: &Value, rank: usize| report["ranks"][rank]["verdict"]["next_action"].as_str().unwrap().to_owned();
    let together = json(home.path(), &all);
    assert!(next(&together, 0).starts_with("Most of this is waiting for a rank that starts later"));
    assert!(!next(&together, 2).starts_with("Most of this is waiting"), "the late rank itself does not wait");
    // Alone, a rank cannot tell waiting from moving data.
    let alone = json(home.path(), &["report", "--json", "job/rank0.sqlite"]);
    assert!(!next(&alone, 0).starts_with("Most of this is waiting"));
}
