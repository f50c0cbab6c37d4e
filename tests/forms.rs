//! The report as YAML, Markdown and HTML, in files, and with conditions: run as a user runs it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Output;
use support::{small_job, stepscope};
use tempfile::TempDir;

fn job() -> (TempDir, PathBuf) {
    let folder = small_job();
    // What the job says of itself is a test of its own.
    std::fs::remove_file(folder.path().join("job/stepscope.toml")).unwrap();
    let export = folder.path().join("job/rank0.sqlite");
    (folder, export)
}

fn report(folder: &TempDir, export: &Path, more: &[&str]) -> Output {
    stepscope(folder.path()).arg("report").arg(export).args(more).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn fine(folder: &TempDir, export: &Path, more: &[&str]) -> String {
    let output = report(folder, export, more);
    assert_eq!(output.status.code(), Some(0), "{more:?}: {}", stderr(&output));
    stdout(&output)
}

fn json(folder: &TempDir, export: &Path) -> Value {
    serde_json::from_str(&fine(folder, export, &["--json"])).unwrap()
}

/// Panics unless every element is closed in order, every attribute is quoted, and no `<` or `&` stands alone.
fn well_formed(page: &str) -> BTreeSet<String> {
    let body = page.strip_prefix("<!DOCTYPE html>\n<!-- stepscope report -->\n").expect("a document type");
    let (mut open, mut seen) = (Vec::new(), BTreeSet::new());
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        let in_style = open.last().is_some_and(|name: &String| name == "style");
        assert!(in_style || !text.contains('>'), "a stray > in {text:?}");
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|known| entity.starts_with(known)), "&{entity}");
        }
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed in order");
            continue;
        }
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        assert_eq!(tag.matches('"').count() % 2, 0, "quoted attributes in <{tag}>");
        seen.insert(name.clone());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    seen
}

#[test]
fn the_page_is_well_formed_stands_alone_and_has_tables_that_can_be_read_aloud() {
    let (folder, export) = job();
    let page = fine(&folder, &export, &["--html"]);
    let elements = well_formed(&page);
    for name in ["html", "head", "title", "main", "table", "caption", "th", "td", "h2"] {
        assert!(elements.contains(name), "no {name} in {elements:?}");
    }
    for banned in ["script", "link", "iframe", "object"] {
        assert!(!elements.contains(banned), "{banned} in the page");
    }
    assert!(
        !page.contains("http://") && !page.contains("https://") && !page.contains("url("),
        "the page loads something"
    );
    assert!(page.contains("<html lang=\"en\">") && page.contains("prefers-color-scheme: dark"));
    assert!(page.matches("<table>").count() == page.matches("<caption>").count());
    let pictures = page.matches("src=\"data:image/png;base64,iVBOR").count();
    assert_eq!(pictures, if cfg!(feature = "gui") { 2 } else { 0 });
    assert_eq!(page, fine(&folder, &export, &["--html"]), "the same bytes again");
}

#[test]
fn hostile_names_stay_text_in_every_form() {
    let (folder, export) = job();
    let connection = rusqlite::Connection::open(&export).unwrap();
    let hostile = "<script>alert(1)</script> | `x` *b* \"q\" & '#: -\u{7}";
    let changed = connection.execute("UPDATE StringIds SET value = ?1 WHERE value LIKE '%gemm%'", [hostile]).unwrap();
    assert!(changed > 0);
    drop(connection);
    let page = fine(&folder, &export, &["--html"]);
    well_formed(&page);
    assert!(!page.contains("<script"), "markup from a name");
    let markdown = fine(&folder, &export, &["--markdown"]);
    assert!(!markdown.contains("<script"), "markup from a name");
    let notes: Value = serde_saphyr::from_str(&fine(&folder, &export, &["--yaml"])).unwrap();
    assert_eq!(notes["nsys"]["top_kernel"], json(&folder, &export)["ranks"][0]["top_kernel"]["name"]);
}

#[test]
fn notes_hold_the_numbers_of_the_report_and_say_what_is_missing() {
    let (folder, export) = job();
    let text = fine(&folder, &export, &["--yaml"]);
    let notes: Value = serde_saphyr::from_str(&text).unwrap();
    let report = json(&folder, &export);
    let rank = &report["ranks"][0];
    let seconds = |ns: &Value| ns.as_f64().unwrap() / 1e9;
    let close = |a: &Value, b: f64| (a.as_f64().unwrap() - b).abs() < 1e-12;
    assert!(
        close(&notes["throughput"]["step_time_median"], seconds(&rank["typical_step"]["median_span_ns"])),
        "{text}"
    );
    assert!(close(&notes["nsys"]["visible_bubble"], seconds(&rank["typical_step"]["idle_ns"])), "{text}");
    assert_eq!(notes["nsys"]["captured_steps"], 4);
    assert_eq!(notes["nsys"]["top_kernel"], rank["top_kernel"]["name"]);
    assert_eq!(notes["hardware"]["gpu"], rank["gpu"]);
    assert!(notes["throughput"]["tokens_per_step"].is_null() && notes["throughput"]["estimated_mfu"].is_null());
    for (key, comment) in [("estimated_mfu", "model.preset"), ("tokens_per_step", "batch."), ("dp", "parallel.dp")] {
        let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{key}: null"))).unwrap();
        assert!(line.contains("# ") && line.contains(comment), "{line}");
    }
    std::fs::write(
        folder.path().join("run.toml"),
        "[experiment]\nname = \"try: 7 # yes\"\ndtype = \"bf16\"\n[model]\nparameters = 1.25e8\n\
         [batch]\nsequences = 8\nsequence_length = 1024\n[parallel]\ndp = 1\n",
    )
    .unwrap();
    let notes: Value = serde_saphyr::from_str(&fine(&folder, &export, &["--yaml", "--settings", "run.toml"])).unwrap();
    assert_eq!(notes["experiment"]["name"], "try: 7 # yes");
    assert_eq!(notes["throughput"]["tokens_per_step"], 8192);
    assert_eq!(notes["parallel"]["dp"], 1);
    assert!(notes["throughput"]["estimated_mfu"].as_f64().unwrap() > 0.0);
}

#[test]
fn markdown_is_a_document_with_tables() {
    let (folder, export) = job();
    let text = fine(&folder, &export, &["--markdown"]);
    assert!(text.starts_with("# stepscope report\n"));
    assert!(text.contains("\n## Rank 0\n") && text.contains("| Idle | ") && text.contains("| :--- | ---: |"), "{text}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with('|'))) {
        assert_eq!(columns(pair[0]), columns(pair[1]), "{pair:?}");
    }
}

/// Cells of the rows of a Markdown table, as they are shown.
fn cells(line: &str) -> Vec<String> {
    let shown = line.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let bare = shown.trim_matches(['|', ' ']).replace("\\|", "\u{1}").replace('\\', "");
    bare.split('|').map(|cell| cell.replace('\u{1}', "|").trim().to_owned()).collect()
}

#[test]
fn documents_show_the_tables_of_the_text_with_the_same_values() {
    let folder = small_job();
    let export = folder.path().join("job/rank0.sqlite");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: BTreeSet<String> = fine(&folder, &export, &[]).lines().map(words).collect();
    let (markdown, page) = (fine(&folder, &export, &["--markdown"]), fine(&folder, &export, &["--html"]));
    assert!(!markdown.contains("```") && !page.contains("<pre"), "tables are no aligned text");
    well_formed(&page);
    for (caption, least) in [
        ("What costs MFU", 1),
        ("The same step by every convention", 10),
        ("Communication by kind and by stream", 2),
        ("NVTX ranges, mean of", 5),
        ("Latency and queue time", 2),
        ("CUDA calls", 5),
        ("Waiting for the GPU", 1),
        ("The longest waits", 1),
    ] {
        let lines = markdown.lines().skip_while(|line| !line.starts_with(caption)).skip(2);
        let rows: Vec<Vec<String>> = lines.take_while(|line| line.starts_with('|')).skip(2).map(cells).collect();
        assert!(rows.len() >= least, "{caption}: {rows:?}");
        for row in rows {
            let line = words(&row.join(" "));
            assert!(text.contains(&line), "{caption}: {line:?} is not in the text");
            let Some(last) = row.iter().skip(1).rfind(|cell| !cell.is_empty()) else { continue };
            let escaped = last.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            assert!(page.contains(&format!(">{escaped}</t")), "{caption}: {last} is not in the page");
        }
    }
}

#[test]
fn a_file_gets_the_form_of_its_ending_and_only_reports_are_replaced() {
    let (folder, export) = job();
    let before = std::fs::read(&export).unwrap();
    for (name, start) in [
        ("a.html", "<!DOCTYPE html>"),
        ("a.md", "# stepscope report"),
        ("a.yaml", "# stepscope report"),
        ("a.json", "{\n  \"version\""),
        ("a.txt", "# stepscope report"),
    ] {
        for _ in 0..2 {
            assert_eq!(fine(&folder, &export, &["-o", name]), "", "{name}: nothing is printed");
        }
        assert!(std::fs::read_to_string(folder.path().join(name)).unwrap().starts_with(start), "{name}");
    }
    assert_eq!(fine(&folder, &export, &["--json", "-o", "a.txt"]), "");
    assert!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap().starts_with('{'), "the form goes first");
    let fails = |arguments: &[&str], word: &str| {
        let output = report(&folder, &export, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
    };
    fails(&["-o", "a.docx"], "no ending that tells a form");
    fails(&["--html", "-o", export.to_str().unwrap()], "was not written by stepscope");
    fails(&["--json", "--html"], "cannot be used with");
    fails(&["--html", "-o", "nowhere/a.html"], "cannot write");
    assert_eq!(std::fs::read(&export).unwrap(), before, "the export is as it was");
    let beside: Vec<_> = std::fs::read_dir(export.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside.len(), 2, "nothing was written beside the exports: {beside:?}");
}

#[test]
fn a_condition_that_holds_ends_with_code_one_and_says_where() {
    let (folder, export) = job();
    let share = |key: &str| {
        let step = &json(&folder, &export)["ranks"][0]["typical_step"];
        step[key].as_f64().unwrap() / step["span_ns"].as_f64().unwrap() * 100.0
    };
    let compute = share("compute_only_ns");
    let above = format!("compute_only > {:.3}%", compute - 0.01);
    let output = report(&folder, &export, &["--fail-if", &above]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("Rank 0"), "the report is printed all the same");
    let message = stderr(&output);
    assert!(
        message.contains(&above) && message.contains("rank 0, typical step (") && message.contains(" %"),
        "{message}"
    );
    let below = format!("compute_only < {:.3}%", compute - 0.01);
    let output = report(&folder, &export, &["--fail-if", &below, "--fail-if", "step_time > 1000s", "--json"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let both = report(&folder, &export, &["--fail-if", "step_time > 1ns", "--fail-if", "idle >= 0%", "-o", "x.json"]);
    assert_eq!(both.status.code(), Some(1));
    assert_eq!(stderr(&both).lines().count(), 2, "{}", stderr(&both));
    assert!(folder.path().join("x.json").is_file(), "the file is written all the same");
}

#[test]
fn a_condition_that_cannot_be_answered_is_an_error() {
    let (folder, export) = job();
    let fails = |arguments: &[&str], words: &[&str]| {
        let output = report(&folder, &export, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = stderr(&output);
        assert!(
            output.stdout.is_empty() && words.iter().all(|word| message.contains(word)),
            "{arguments:?}: {message}"
        );
    };
    fails(&["--fail-if", "exposure > 10%"], &["no metric", "exposed", "launch_latency", "mfu"]);
    fails(&["--fail-if", "exposed 10%"], &["compares nothing"]);
    fails(&["--fail-if", "exposed > 10"], &["10% or 5ms"]);
    fails(&["--fail-if", "mfu < 40%"], &["mfu of the job is not known"]);
    let connection = rusqlite::Connection::open(&export).unwrap();
    connection.execute_batch("DELETE FROM NVTX_EVENTS").unwrap();
    drop(connection);
    fails(&["--fail-if", "step_time > 1ms"], &["step_time of rank 0 is not known", "no steps are marked"]);
    // What is known to hold is told all the same.
    fails(
        &["--fail-if", "step_time > 1ms", "--fail-if", "idle >= 0%"],
        &["step_time of rank 0 is not known", "it holds: idle >= 0%"],
    );
    let whole = report(&folder, &export, &["--fail-if", "idle >= 0%"]);
    assert_eq!(whole.status.code(), Some(1));
    assert!(stderr(&whole).contains("whole span (no steps are marked)"), "{}", stderr(&whole));
}

/// Changes an export in a way that its own rules forbid.
fn alter(export: &Path, sql: &str) {
    let sql = format!("PRAGMA foreign_keys = OFF; {sql}");
    rusqlite::Connection::open(export).unwrap().execute_batch(&sql).unwrap();
}

/// The report of the job's export after `sql`, with one condition: exit code and message.
fn damaged(sql: &str, condition: &str) -> (Option<i32>, String) {
    let (folder, export) = job();
    alter(&export, sql);
    let output = report(&folder, &export, &["--fail-if", condition]);
    (output.status.code(), stderr(&output))
}

#[test]
fn a_condition_on_what_a_damaged_capture_does_not_tell_is_an_error_and_there_is_no_verdict() {
    const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
    let lost = format!(
        "CREATE TABLE k AS SELECT * FROM {KERNELS}; DROP TABLE {KERNELS}; ALTER TABLE k RENAME TO {KERNELS};
         UPDATE {KERNELS} SET end = NULL WHERE rowid % 10 = 0"
    );
    for (sql, why) in [
        (format!("DROP TABLE {KERNELS}"), "No kernels were recorded although"),
        ("DROP TABLE StringIds".to_owned(), "Kernels have no names"),
        ("DELETE FROM StringIds WHERE value LIKE '%nccl%'".to_owned(), "Kernels have no names"),
        (lost, "whose times make no sense"),
    ] {
        for condition in ["exposed > 99%", "compute < 99%", "idle > 1%", "sync > 1%", "host > 1%"] {
            let (code, message) = damaged(&sql, condition);
            assert_eq!(code, Some(2), "{sql} {condition}: {message}");
            assert!(message.contains(why), "{sql} {condition}: {message}");
        }
        let (folder, export) = job();
        alter(&export, &sql);
        let text = fine(&folder, &export, &[]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("No verdict.") && text.contains(why), "{text}");
        assert!(json(&folder, &export)["ranks"][0]["verdict"].is_null());
    }
    // Without calls the parts are known, the causes are not.
    let calls = "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME";
    assert_eq!(damaged(calls, "sync > 99%").0, Some(2));
    assert_eq!(damaged(calls, "idle > 99%").0, Some(0));
}

#[test]
fn what_is_missing_of_one_rank_leaves_the_verdict_on_another() {
    let folder = TempDir::new().unwrap();
    stepscope(folder.path())
        .args(["demo", "--scenario", "one-file", "--steps", "4", "--set", "layers=2", "-o", "job"])
        .assert()
        .success();
    let export = folder.path().join("job/job.sqlite");
    alter(&export, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 1");
    let ranks = json(&folder, &export);
    let verdicts: Vec<bool> = ranks["ranks"].as_array().unwrap().iter().map(|rank| rank["verdict"].is_null()).collect();
    assert_eq!(verdicts, [false, true]);
    let output = report(&folder, &export, &["--fail-if", "exposed > 99%"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("rank 1") && !stderr(&output).contains("rank 0"), "{}", stderr(&output));
}

#[test]
fn the_help_lists_every_metric() {
    let folder = TempDir::new().unwrap();
    let output = stepscope(folder.path()).args(["report", "--help"]).output().unwrap();
    let text = stdout(&output);
    for word in ["--fail-if", "exposed", "host_code", "step_time", "tokens_per_second", "5ms"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
}
