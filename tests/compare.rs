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
    // A summary in another folder names its export by its whole path.
    let folder = std::fs::canonicalize(job.path()).unwrap();
    let [first, second] = EXPORTS.map(|export| folder.join(export).display().to_string());
    let mut of_exports = json(job.path(), &["compare", &first, &second, "--json"]);
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
    let twice = ["compare", "job", "--shift", "1:1ms", "--shift", "0:2ms", "--shift", "1:3ms"];
    fails(home, &twice, &["--shift 1:3ms", "file 1 is shifted twice"]);
    for name in ["ranks.docx", "ranks.yaml"] {
        let said = run(home, &["compare", "job", "-o", name]);
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("use .txt, .json, .md or .html"), "no form that a comparison lacks: {}", said.err);
    }
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

#[test]
fn a_shift_by_hand_is_told_and_leaves_the_clock_uncertain() {
    let job = small_job();
    let plain = json(job.path(), &["compare", "job", "--json"]);
    let shifted = json(job.path(), &["compare", "job", "--json", "--shift", "1:+2.5ms"]);
    let rank = |report: &Value, key: &str| report["alignment"]["ranks"][1][key].clone();
    assert_eq!((rank(&plain, "shift_ns"), rank(&shifted, "shift_ns")), (0.into(), 2_500_000.into()));
    let offset_ns = |report: &Value| rank(report, "offset_ns").as_i64().unwrap();
    assert_eq!(offset_ns(&shifted) - offset_ns(&plain), 2_500_000);
    assert!(rank(&plain, "uncertainty_ns").is_i64() && rank(&shifted, "uncertainty_ns").is_null());
    assert_eq!(shifted["alignment"]["ranks"][0]["uncertainty_ns"], 0, "the other file was not moved");
    let text = succeeds(job.path(), &["compare", "job", "--shift", "1:+2.5ms"]);
    assert!(text.contains("In force: collectives, shifted by hand, uncertainty not known."), "{text}");
    assert!(text.contains("Shift by hand") && text.contains("2.500 ms"), "{text}");
    assert!(!succeeds(job.path(), &["compare", "job"]).contains("hift"), "without one nothing is said");
}

/// From each heading, or caption of a table, of `text` to the next one in `parts`: how often the reservation stands there.
fn reservations(text: &str, parts: &[&str]) -> Vec<usize> {
    let from = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
    let mut places: Vec<usize> = parts.iter().map(|part| from(part)).collect();
    places.push(text.len());
    assert!(places.is_sorted(), "{places:?}");
    places.windows(2).map(|part| text[part[0]..part[1]].matches("No evidence of who was late").count()).collect()
}

#[test]
fn tables_of_who_was_last_say_where_the_clock_does_not_tell_it() {
    let home = tempfile::tempdir().unwrap();
    succeeds(home.path(), &["demo", "--scenario", "wall-clock-wrong", "--steps", "3", "-o", "job"]);
    let heads = ["Shares of the typical step", "In force", "Matched collectives", "By group", "From rank"];
    let places = |text: &str| (text.matches("No evidence of").count(), reservations(text, &heads));
    for (arguments, why) in [
        (&["--shift", "1:+2.5ms"][..], "files were shifted by hand."),
        (&["--clock", "wall"], "the clock contradicts the collectives."),
        (&["--clock", "manual"], "the clock is the files' first events."),
    ] {
        let all = [&["compare", "job"], arguments].concat();
        let found = json(home.path(), &[&all[..], &["--json"]].concat());
        let reservation = format!("No evidence of who was late: {why}");
        assert_eq!(found["collectives"]["reservation"], reservation.as_str());
        assert_eq!((&found["alignment"]["tells_who_was_last"], &found["straggler"]), (&false.into(), &Value::Null));
        assert!(found["collectives"]["wait_ns"]["0"].is_i64(), "the numbers stay");
        for form in [&["--markdown"][..], &["--html"], &[]] {
            let text = succeeds(home.path(), &[&all[..], form].concat());
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("&#39;", "'");
            assert!(text.contains(&reservation), "{form:?}: {text}");
            // Above the ranks, the collectives, who waited for whom, and the steps.
            assert_eq!(places(&text), (4, vec![0, 0, 1, 2, 0]), "{form:?}: {text}");
        }
    }
    let found = json(home.path(), &["compare", "job", "--json"]);
    assert_eq!(
        (&found["alignment"]["tells_who_was_last"], &found["collectives"]["reservation"]),
        (&true.into(), &Value::Null)
    );
    assert!(!succeeds(home.path(), &["compare", "job"]).contains("No evidence"));
}

#[test]
fn the_clock_in_force_is_told_beside_the_one_that_was_asked_for() {
    let job = small_job();
    let mode = |arguments: &[&str]| {
        let found = json(job.path(), &[&["compare", "--json"], arguments].concat());
        let of = |key: &str| found["alignment"][key].as_str().unwrap().to_owned();
        (of("mode"), of("asked"))
    };
    let told = |mode: &str, asked: &str| (mode.to_owned(), asked.to_owned());
    assert_eq!(mode(&["job"]), told("collectives", "auto"));
    assert_eq!(mode(&["job", "--clock", "manual"]), told("manual", "manual"));
    assert_eq!(mode(&["job", "--clock", "wall"]), told("wall", "wall"));
    succeeds(job.path(), &["demo", "--ranks", "1", "--steps", "4", "--set", "first_step=100", "-o", "alone"]);
    assert_eq!(mode(&["job", "alone"]), told("mixed", "auto"));
    succeeds(job.path(), &["demo", "--ranks", "2", "--steps", "2", "--set", "one_file=true", "-o", "one"]);
    assert_eq!(mode(&["one"]), told("one_file", "auto"));
}

#[test]
fn a_wall_clock_in_force_is_told_to_be_wrong() {
    let home = tempfile::tempdir().unwrap();
    succeeds(home.path(), &["demo", "--scenario", "wall-clock-wrong", "--steps", "3", "-o", "job"]);
    let text = succeeds(home.path(), &["compare", "job", "--clock", "wall"]);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("The wall clock of rank1 is 11.56 s ahead by the matched collectives, and it is in force all")
    );
    assert!(said.contains("is not known: the clock contradicts the collectives."), "{said}");
    assert!(!said.contains("is the straggler"), "{said}");
    let overruled = succeeds(home.path(), &["compare", "job"]);
    assert!(overruled.contains("so it was overruled"), "{overruled}");
}

#[test]
fn a_summary_of_an_export_that_is_named_too_is_left_out_and_told() {
    let job = small_job();
    let home = job.path();
    succeeds(home, &["summarize", "job", "-o", "job"]);
    let both = [EXPORTS[0], "job/rank0.summary"];
    fails(home, &["compare", both[0], both[1]], &["only one rank", "job/rank0.summary was left out"]);
    let said = run(home, &["compare", both[1], both[0], EXPORTS[1], "--json", "--shift", "2:7us"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let note = "job/rank0.summary was left out, since it is the summary of job/rank0.sqlite, which is named, too";
    assert!(said.err.contains(note), "{}", said.err);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(found["exports"].as_array().unwrap().len(), 2);
    assert_eq!(found["alignment"]["ranks"][1]["shift_ns"], 7_000, "the shift stays with its file");
}

#[test]
fn a_folder_of_exports_and_summaries_may_move_and_a_summary_elsewhere_finds_its_export() {
    let job = small_job();
    let home = job.path();
    succeeds(home, &["summarize", "job", "-o", "job"]);
    std::fs::rename(home.join("job"), home.join("moved")).unwrap();
    let found = json(home, &["compare", "moved/rank0.summary", "moved/rank1.summary", "--json"]);
    assert_eq!(found["exports"][0], "moved/rank0.sqlite");
    std::fs::create_dir(home.join("sums")).unwrap();
    succeeds(&home.join("moved"), &["summarize", "rank0.sqlite", "-o", "../sums"]);
    let found = json(home, &["compare", "sums/rank0.summary", "moved/rank1.sqlite", "--json"]);
    let export = Path::new(found["exports"][0].as_str().unwrap());
    assert!(export.is_absolute() && export.is_file(), "{}", export.display());
}

#[test]
fn ranks_of_files_of_one_name_are_told_apart_by_their_folders_everywhere() {
    let job = small_job();
    let home = job.path();
    succeeds(home, &["demo", "--ranks", "2", "--steps", "4", "--set", "layers=2", "--set", "seed=7", "-o", "after"]);
    let files = [EXPORTS[0], "after/rank0.sqlite"];
    let found = json(home, &["compare", files[0], files[1], "--json"]);
    let labels = |report: &Value| [0, 1].map(|rank| report["ranks"][rank]["label"].as_str().unwrap().to_owned());
    assert_eq!(labels(&found), ["0 (job/rank0)", "0 (after/rank0)"]);
    assert_eq!(labels(&json(home, &["report", files[0], files[1], "--json"])), labels(&found));
    let text = succeeds(home, &["compare", files[0], files[1]]);
    assert!(text.contains("From rank 0 (job/rank0) to rank 0 (after/rank0)"), "{text}");
    let page = succeeds(home, &["compare", files[0], files[1], "--html"]);
    assert!(page.contains("<title>Comparison of job/rank0 and after/rank0</title>"), "{page}");
    assert!(page.contains("<h1>Comparison of job/rank0 and after/rank0</h1>"), "{page}");
}

#[test]
fn what_is_compared_and_what_is_noise_is_said_with_many_steps_few_and_none() {
    let job = small_job();
    let home = job.path();
    let said = |folder: &str| succeeds(home, &["compare", folder]).split_whitespace().collect::<Vec<_>>().join(" ");
    let diff = |folder: &str| json(home, &["compare", folder, "--json"])["diff"].clone();
    let text = said("job");
    assert!(text.contains("Noise: a difference no larger than the row varies from step to step"), "{text}");
    assert!(text.contains("Means of a typical step"), "{text}");
    assert_eq!((&diff("job")["scope"], diff("job")["step"]["noise"].is_boolean()), (&"typical_steps".into(), true));
    // Of two steps the first one is a warm-up.
    for (folder, steps, set, compared, scope) in [
        ("one", "2", "nvtx=true", "1 and 1 typical steps", "typical_steps"),
        ("none", "4", "nvtx=false", "the whole spans, since neither has typical steps", "whole_spans"),
    ] {
        succeeds(home, &["demo", "--ranks", "2", "--steps", steps, "--set", "layers=2", "--set", set, "-o", folder]);
        let text = said(folder);
        assert!(text.contains("Noise cannot be told: fewer than 2 typical steps."), "{folder}: {text}");
        assert!(text.contains(compared) && !text.contains(" noise "), "{folder}: {text}");
        let diff = diff(folder);
        assert_eq!((&diff["scope"], diff["step"]["noise"].is_null()), (&scope.into(), true));
        assert!(diff["step"]["spread_ns"].is_null());
    }
    let text = said("none");
    assert!(text.contains("Sums over the whole spans Time") && text.contains("Whole span "), "{text}");
    assert!(!text.contains("Means of a typical step") && !text.contains(", per step,"), "{text}");
}

#[test]
fn what_is_the_same_in_both_is_equal_and_not_noise() {
    let job = small_job();
    let home = job.path();
    std::fs::create_dir(home.join("again")).unwrap();
    std::fs::copy(home.join(EXPORTS[0]), home.join("again/rank0.sqlite")).unwrap();
    let both = ["compare", EXPORTS[0], "again/rank0.sqlite"];
    let found = json(home, &[&both[..], &["--json"]].concat());
    let parts: Vec<&Value> = found["diff"]["parts"].as_object().unwrap().values().collect();
    assert!(parts.len() == 5 && parts.iter().all(|part| part["note"] == "equal"), "{parts:?}");
    let text = succeeds(home, &both);
    let rows: Vec<&str> = text.lines().filter(|line| line.trim_end().ends_with(" equal")).collect();
    assert!(rows.len() > 5 && rows[0].trim_start().starts_with("Step "), "{text}");
    assert!(!text.contains(" noise\n"), "{text}");
}

#[test]
fn with_several_ranks_nobody_is_sent_to_record_several() {
    let job = small_job();
    let home = job.path();
    let report = |files: &[&str]| {
        let text = succeeds(home, &[&["report"], files].concat());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let alone = "how much of them it is cannot be told from one rank";
    assert!(report(&EXPORTS[..1]).contains(alone));
    let both = report(&EXPORTS);
    assert!(!both.contains("one rank"), "{both}");
    assert!(both.contains("in the collectives that were matched with other ranks, beside"), "{both}");
    let found = json(home, &["report", EXPORTS[0], EXPORTS[1], "--json"]);
    let compared = json(home, &["compare", EXPORTS[0], EXPORTS[1], "--json"]);
    for rank in 0..2 {
        let label = rank.to_string();
        let comm = &found["ranks"][rank]["communication"];
        assert_eq!(comm["wait_ns"], compared["collectives"]["wait_ns"][&label]);
        assert_eq!(comm["transfer_ns"], compared["collectives"]["transfer_ns"][&label]);
    }
}

#[test]
fn the_operations_that_differ_most_are_listed_when_asked_for() {
    let job = tempfile::tempdir().unwrap();
    let home = job.path();
    let made = ["demo", "--scenario", "gc-pause", "--steps", "8", "--ranks", "3", "-o", "job"];
    succeeds(home, &made);
    let asked = |form: &'static str| ["compare", EXPORTS[0], EXPORTS[1], "--outliers", form];
    let found = json(home, &asked("--json"));
    let listed = found["outliers"]["listed"].as_array().unwrap();
    assert!(!listed.is_empty() && found["outliers"]["pairs"].as_u64().unwrap() > 1_000);
    let ns = |line: &Value, key: &str| line[key].as_i64().unwrap();
    let off = |line: &Value| (ns(line, "delta_ns") - ns(line, "usual_ns")).abs();
    for line in listed {
        assert_eq!(ns(line, "b_ns") - ns(line, "a_ns"), ns(line, "delta_ns"), "{line}");
    }
    assert!(listed.is_sorted_by(|a, b| off(a) >= off(b)), "the farthest from what is usual first");
    assert!(listed[0]["name"].as_str().unwrap().contains("nccl") && listed[0]["later_ns"].is_i64());
    for form in ["--markdown", "--html"] {
        let text = succeeds(home, &asked(form));
        assert!(text.contains("Outliers") && text.contains(" pairs of operations"), "{form}");
    }
    assert!(!succeeds(home, &["compare", EXPORTS[0], EXPORTS[1]]).contains("Outliers"), "only when asked for");
    fails(home, &["compare", "job", "--outliers"], &["--outliers", "there are 3"]);
    succeeds(home, &["summarize", EXPORTS[1], "-o", "r1.summary"]);
    fails(home, &["compare", EXPORTS[0], "r1.summary", "--outliers"], &["r1.summary is a summary", "name its export"]);
}

#[test]
fn parts_of_a_rank_without_kernels_are_not_known_rather_than_idle() {
    let job = small_job();
    let home = job.path();
    let file = rusqlite::Connection::open(home.join(EXPORTS[1])).unwrap();
    file.execute_batch("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL").unwrap();
    drop(file);
    let text = succeeds(home, &["compare", EXPORTS[0], EXPORTS[1]]);
    assert!(text.contains("not known of rank 1,") && text.contains("stepscope report"), "{text}");
    let row = text.lines().find(|line| line.trim_start().starts_with("1  ")).unwrap();
    assert!(!row.contains("100.0 %") && row.contains("  -  "), "{row}");
    let whole = small_job();
    assert!(!succeeds(whole.path(), &["compare", EXPORTS[0], EXPORTS[1]]).contains("not known of rank"));
}
