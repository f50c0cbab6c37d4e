//! The command line, run as a user runs it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use serde_json::Value;
use std::path::PathBuf;
use support::{small_job, stepscope};
use tempfile::TempDir;

/// A small simulated job of two ranks: its folder and its exports.
fn job() -> (TempDir, Vec<PathBuf>) {
    let folder = small_job();
    let exports = ["job/rank0.sqlite", "job/rank1.sqlite"].map(|name| folder.path().join(name));
    assert!(exports.iter().all(|path| path.is_file()));
    (folder, exports.to_vec())
}

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn report_as_json_has_the_documented_keys() {
    let (folder, exports) = job();
    let output = stepscope(folder.path()).arg("report").args(&exports).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["exports"].as_array().unwrap().len(), 2);
    let rank = &report["ranks"][1];
    assert_eq!(rank["label"], "1");
    for key in ["global_pid", "pid", "device", "kernels", "primary_stream", "span_ns", "idle_ns", "collectives"] {
        assert!(!rank[key].is_null(), "{key}");
    }
    assert_eq!(rank["steps"].as_array().unwrap().len(), 4);
    assert!(rank["typical_step"]["median_span_ns"].as_i64().unwrap() > 0);
}

#[test]
fn one_of_a_thing_is_no_plural() {
    let folder = TempDir::new().unwrap();
    stepscope(folder.path())
        .args(["demo", "--ranks", "1", "--steps", "2", "--set", "layers=1", "-o", "job"])
        .assert()
        .success();
    let plural = regex::Regex::new(
        r"(?m)(^|[^\d\u{2009}.,])1 (GPUs|kernels|copies|graph blocks|operations|calls|gaps|exposed spans|collectives|steps|estimated steps|typical steps|launching calls|times)\b",
    )
    .unwrap();
    for (command, more) in
        [("report", None), ("report", Some("--markdown")), ("report", Some("--html")), ("info", None)]
    {
        let output = stepscope(folder.path()).args([command, "job/rank0.sqlite"]).args(more).output().unwrap();
        let text = stdout(&output);
        let found: Vec<&str> = plural.find_iter(&text).map(|found| found.as_str()).collect();
        assert!(found.is_empty(), "{command} {more:?}: {found:?}");
        assert!(command == "info" || text.contains("1 GPU, as given"), "{command} {more:?}");
    }
}

#[test]
fn two_runs_print_the_same_bytes() {
    let (folder, exports) = job();
    let run = || stepscope(folder.path()).arg("report").args(&exports).output().unwrap();
    let (first, second) = (run(), run());
    assert_eq!(first.stdout, second.stdout);
    let text = stdout(&first);
    assert!(text.contains("Rank 0") && text.contains("Rank 1") && text.contains("Exposed comm."), "{text}");
}

#[test]
fn info_names_what_is_in_the_file() {
    let (folder, exports) = job();
    let output = stepscope(folder.path()).arg("info").arg(&exports[0]).output().unwrap();
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    for word in ["nsys", "A100", "CUDA API calls", "NVTX ranges", "rank 0", "cannot answer"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
}

#[test]
fn errors_go_to_standard_error_with_code_two() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("note.txt"), "hello").unwrap();
    std::fs::write(folder.path().join("zero.toml"), "comm_gbps = 0.0\n").unwrap();
    std::fs::write(folder.path().join("odd.toml"), "stepz = 3\n").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["report"], "nsys export --type sqlite"),
        (&["info"], "which export"),
        (&["report", "-"], "standard input"),
        (&["report", "missing.sqlite"], "missing.sqlite"),
        (&["report", "note.txt"], "note.txt"),
        (&["report", "."], "folder"),
        (&["report", "note.txt", "--step-regex", "("], "--step-regex"),
        (&["report", "note.txt", "--rules", "none.toml"], "none.toml"),
        (&["render", "--size", "12", "-o", "x.png"], "--size"),
        (&["demo"], "-o"),
        (&["demo", "--set", "nonsense=1", "-o", "x"], "nonsense"),
        (&["demo", "--ranks", "0", "-o", "x"], "--ranks must be 1 to 1024"),
        (&["demo", "--ranks", "x", "-o", "x"], "write a whole number"),
        (&["demo", "--kernels", "0", "-o", "x"], "1 or more"),
        (&["demo", "--set", "comm_gbps=0", "-o", "x"], "--set comm_gbps must be"),
        (&["demo", "--set", "comm-gbps=0", "-o", "x"], "--set comm-gbps must be"),
        (&["demo", "--set", "step-z=3", "-o", "x"], "unknown setting `step-z` (stepscope demo --list"),
        (&["demo", "--config", "zero.toml", "-o", "x"], "zero.toml: comm_gbps must be"),
        (&["demo", "--config", "odd.toml", "-o", "x"], "odd.toml: unknown setting `stepz`"),
        (
            &["demo", "--scenario", "straggler-compute", "--ranks", "1", "-o", "x"],
            "set by --scenario straggler-compute",
        ),
        (&["demo", "-o", "note.txt"], "note.txt is a file"),
        (&["stats", "note.txt", "-o", "x.html"], "use .txt, .csv or .json"),
        (&["stats", "note.txt", "-o", "note.txt"], "was not written by stepscope"),
        (&["stats", "note.txt", "-o", "."], "is a folder"),
        (&["report", "note.txt", "--json", "-o", "."], "is a folder"),
        (&["bench"], "which export"),
        (&["nosuchcommand"], "no command nosuchcommand"),
        (&["report", "note.txt", "./note.txt"], "given twice"),
        (&["report", "note.txt", "--step-regex", ""], "--step-regex is empty"),
    ];
    for (arguments, word) in cases {
        if arguments.contains(&"render") && !cfg!(feature = "gui") {
            continue;
        }
        let output = stepscope(folder.path()).args(*arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?} printed on standard output");
        let message = stderr(&output);
        assert!(message.contains(word), "{arguments:?}: {word} is missing in {message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}

#[test]
fn the_users_rules_and_step_pattern_are_used() {
    let (folder, exports) = job();
    std::fs::write(folder.path().join("rules.toml"), "[[rule]]\npattern = '^nccl'\nclass = 'other'\n").unwrap();
    let run = |more: &[&str]| {
        let output = stepscope(folder.path()).arg("report").arg(&exports[0]).arg("--json").args(more).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert!(run(&[])["ranks"][0]["comm_kernels"].as_u64().unwrap() > 0);
    assert_eq!(run(&["--rules", "rules.toml"])["ranks"][0]["comm_kernels"], 0);
    assert_eq!(run(&["--step-regex", "^forward$"])["ranks"][0]["step_stem"], "^forward$");
    let nothing =
        stepscope(folder.path()).arg("report").arg(&exports[0]).args(["--step-regex", "zzz"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(2));
    assert!(stderr(&nothing).contains("marks no step"), "{}", stderr(&nothing));
}

#[test]
fn exports_and_their_folder_are_never_written() {
    let (folder, exports) = job();
    let snapshot = || {
        let mut entries: Vec<(PathBuf, u64, std::time::SystemTime)> = std::fs::read_dir(folder.path().join("job"))
            .unwrap()
            .map(|e| e.unwrap())
            .map(|e| (e.path(), e.metadata().unwrap().len(), e.metadata().unwrap().modified().unwrap()))
            .collect();
        entries.sort();
        entries
    };
    let before = snapshot();
    for command in ["info", "report", "bench"] {
        assert!(stepscope(folder.path()).arg(command).arg(&exports[0]).output().unwrap().status.success(), "{command}");
    }
    assert_eq!(snapshot(), before);
}

#[test]
#[cfg(feature = "gui")]
fn render_draws_the_window_after_what_it_is_told_to_do() {
    let home = TempDir::new().unwrap();
    let draw = |name: &str, more: &[&str]| {
        let base = ["render", "--window", "--size", "800x500", "-o", name];
        let output = stepscope(home.path()).args(base).args(more).output().unwrap();
        (output.status.code(), stderr(&output), std::fs::read(home.path().join(name)).ok())
    };
    let (code, said, plain) = draw("plain.png", &[]);
    assert_eq!(code, Some(0), "{said}");
    for (name, more) in [
        ("help.png", &["--do", "all shortcuts"][..]),
        ("found.png", &["--search", "gemm", "--do", "Next hit"]),
        ("left.png", &["--side", "left"]),
        ("below.png", &["--side", "below"]),
    ] {
        let (code, said, drawn) = draw(name, more);
        assert_eq!(code, Some(0), "{said}");
        assert!(drawn.is_some() && drawn != plain, "{name} shows nothing of {more:?}");
    }
    let (code, said, drawn) = draw("slip.png", &["--do", "shortcuts"]);
    assert_eq!((code, drawn), (Some(2), None));
    assert!(said.contains("there is no command shortcuts; there are All shortcuts"), "{said}");
}

#[cfg(feature = "gui")]
#[test]
fn render_writes_the_same_picture_every_time() {
    let (folder, exports) = job();
    let draw = |name: &str, more: &[&str]| {
        let output = stepscope(folder.path())
            .args(["render", "-o", name, "--size", "640x360"])
            .arg(&exports[0])
            .args(more)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        std::fs::read(folder.path().join(name)).unwrap()
    };
    let whole = draw("a.png", &[]);
    assert_eq!(whole, draw("b.png", &[]));
    assert!(whole.starts_with(b"\x89PNG"));
    assert_ne!(whole, draw("c.png", &["--step", "2"]));
    assert_ne!(whole, draw("d.png", &["--theme", "light"]));
    assert_ne!(whole, draw("e.png", &["--span", "1ms..2.5ms"]));
    let export = std::fs::read(&exports[0]).unwrap();
    let slip = stepscope(folder.path()).arg("render").arg(&exports[0]).arg("-o").arg(&exports[0]).output().unwrap();
    assert_eq!(slip.status.code(), Some(2));
    assert!(stderr(&slip).contains("pictures are PNG or SVG files"), "{}", stderr(&slip));
    let disguised = folder.path().join("job/rank0.png");
    std::fs::rename(&exports[0], &disguised).unwrap();
    let slip = stepscope(folder.path()).arg("render").arg(&disguised).arg("-o").arg(&disguised).output().unwrap();
    assert!(stderr(&slip).contains("no PNG picture"), "{}", stderr(&slip));
    std::fs::rename(&disguised, &exports[0]).unwrap();
    assert_eq!(std::fs::read(&exports[0]).unwrap(), export, "the export is as it was");
    let outside = stepscope(folder.path()).args(["render", "--span", "90s..91s"]).arg(&exports[0]).output().unwrap();
    assert!(stderr(&outside).contains("outside the capture"), "{}", stderr(&outside));
    let missing = stepscope(folder.path()).args(["render", "--step", "99"]).arg(&exports[0]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("there is no step 99"), "{}", stderr(&missing));
}

#[cfg(feature = "gui")]
#[test]
fn without_a_display_the_demo_prints_its_report_and_writes_a_picture() {
    let folder = TempDir::new().unwrap();
    let output = stepscope(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("Rank 1") && text.contains("There is no display"), "{text}");
    assert!(folder.path().join("stepscope.png").is_file());
}

#[test]
fn bench_measures_what_it_says() {
    let (folder, exports) = job();
    let output = stepscope(folder.path()).arg("bench").arg(&exports[0]).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let measured: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(measured["gpu_ops"].as_u64().unwrap() > 0);
    assert_eq!(measured["file_bytes"].as_u64().unwrap(), std::fs::metadata(&exports[0]).unwrap().len());
    for key in ["load_ms", "analysis_ms"] {
        assert!(measured[key].as_f64().unwrap() > 0.0, "{key}");
    }
    if cfg!(feature = "gui") {
        assert!(measured["frames"]["count"].as_u64().unwrap() > 50);
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (folder, exports) = job();
    let script = format!(
        "'{}' report '{}' | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}",
        assert_cmd::cargo::cargo_bin("stepscope").display(),
        exports[0].display()
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(stdout(&output).trim(), "0", "{}", stderr(&output));
}

#[test]
fn links_that_cannot_be_read_are_told_before_anything_is_opened() {
    let home = tempfile::tempdir().unwrap();
    for (link, reason) in [
        ("stepscope:7?file=/a.sqlite", "form 7"),
        ("stepscope:1?", "names no file"),
        ("stepscope:1?file=/a.sqlite&colour=red", "colour"),
    ] {
        // With and without the command.
        for words in [["open", link].as_slice(), &[link]] {
            let output = stepscope(home.path()).args(words).output().unwrap();
            assert_eq!(output.status.code(), Some(2));
            assert!(stderr(&output).contains(reason), "{words:?}: {}", stderr(&output));
        }
    }
    let missing = stepscope(home.path()).args(["open", "stepscope:1?file=/nowhere/a.sqlite"]).output().unwrap();
    assert!(stderr(&missing).contains("/nowhere/a.sqlite"), "{}", stderr(&missing));
}

#[cfg(feature = "gui")]
#[test]
fn a_picture_that_ends_in_svg_is_a_drawing() {
    let home = tempfile::tempdir().unwrap();
    let render =
        |name: &str| stepscope(home.path()).args(["render", "-o", name, "--panel", "kernels"]).output().unwrap();
    let output = render("view.svg");
    assert!(output.status.success(), "{}", stderr(&output));
    let svg = std::fs::read_to_string(home.path().join("view.svg")).unwrap();
    assert!(svg.starts_with("<?xml") && svg.trim_end().ends_with("</svg>") && svg.contains(">Kernels</text>"));
    std::fs::write(home.path().join("other.svg"), "SQLite format 3").unwrap();
    assert!(stderr(&render("other.svg")).contains("no SVG drawing"));
    let slip = stepscope(home.path()).args(["render", "-o", "a.png", "--panel", "cellar"]).output().unwrap();
    assert!(stderr(&slip).contains("the panels are overview, steps"), "{}", stderr(&slip));
}
