//! The dependency rule of `src/lib.rs`, enforced: which module may know which other, and which crate.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Modules of this package that each module may name. A module always may name itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("task", &[]),
    ("format", &["units"]),
    ("trace", &["units"]),
    ("nsys", &["format", "trace", "units"]),
    ("sim", &["nsys", "units"]),
    ("experiment", &["units"]),
    ("record", &["format"]),
    ("analysis", &["experiment", "record", "trace", "units"]),
    ("job", &["analysis", "experiment", "trace", "units"]),
    ("settings", &["analysis", "experiment", "units"]),
    ("stats", &["analysis", "trace", "units"]),
    ("report", &["analysis", "experiment", "format", "job", "stats", "trace", "units"]),
    ("view", &["analysis", "experiment", "job", "trace", "units"]),
    ("timeline", &["view", "analysis", "format", "job", "report", "task", "trace", "units"]),
    ("raster", &[]),
    (
        "app",
        &[
            "analysis",
            "experiment",
            "format",
            "job",
            "nsys",
            "raster",
            "record",
            "report",
            "settings",
            "sim",
            "task",
            "timeline",
            "trace",
            "units",
            "view",
        ],
    ),
    (
        "cli",
        &[
            "analysis",
            "app",
            "experiment",
            "format",
            "job",
            "nsys",
            "raster",
            "record",
            "report",
            "settings",
            "sim",
            "stats",
            "timeline",
            "trace",
            "units",
            "view",
        ],
    ),
];

/// Words that only these modules may contain outside comments.
const RESERVED: &[(&str, &[&str])] = &[
    ("rusqlite", &["nsys"]),
    ("CUPTI_ACTIVITY", &["nsys"]),
    ("NVTX_EVENTS", &["nsys"]),
    ("StringIds", &["nsys"]),
    ("egui", &["timeline", "app", "raster"]),
    ("eframe", &["app"]),
    ("skrifa", &["raster"]),
    ("vello_cpu", &["raster"]),
    ("rfd::", &["app"]),
    ("clap", &["cli", "main"]),
    ("println!", &["cli", "main"]),
    ("process::exit", &[]),
    ("unsafe", &[]),
];

/// Modules that show numbers and compute none: no sums, means or quotients.
const NO_ARITHMETIC: &[&str] = &["report"];

/// Modules that also compute with pixels, but never a share of nanoseconds: that is `units::share`.
const NO_SHARES: &[&str] = &["app", "report"];

fn sources() -> Vec<PathBuf> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    files
}

/// Top-level module that a file belongs to.
fn module(path: &Path) -> String {
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// The file without comments, string literals' look kept, and without its unit tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("\n#[cfg(test)]\nmod tests").next().unwrap().to_owned();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_module_of_the_tree_has_a_row() {
    let known: Vec<&str> = MAY_USE.iter().map(|(name, _)| *name).collect();
    for path in sources() {
        let module = module(&path);
        assert!(known.contains(&module.as_str()) || ["lib", "main"].contains(&module.as_str()), "{module} has no row");
    }
}

#[test]
fn modules_name_only_what_the_rule_allows() {
    let rule: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut broken = Vec::new();
    for path in sources() {
        let own = module(&path);
        let Some(allowed) = rule.get(own.as_str()) else { continue };
        let code = code(&path);
        for other in rule.keys().filter(|other| **other != own && !allowed.contains(other)) {
            for form in [format!("crate::{other}::"), format!("crate::{other};"), format!("crate::{other} ")] {
                if code.contains(&form) {
                    broken.push(format!("{} names {other}", path.display()));
                }
            }
        }
        if code.contains("use crate::{") {
            broken.push(format!("{}: one `use crate::module` a line, so that this test can read it", path.display()));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn crates_and_names_stay_in_their_module() {
    let mut broken = Vec::new();
    for path in sources() {
        let own = module(&path);
        let code = code(&path);
        for (word, homes) in RESERVED {
            if !homes.contains(&own.as_str()) && own != "lib" && contains_word(&code, word) {
                broken.push(format!("{} contains {word}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

fn contains_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(is_part);
        let after =
            word.ends_with(char::is_alphanumeric) && code[at + word.len()..].chars().next().is_some_and(is_part);
        !before && (!after || word == "CUPTI_ACTIVITY")
    })
}

#[test]
fn modules_that_show_numbers_compute_none() {
    let mut broken = Vec::new();
    for path in sources().iter().filter(|path| NO_ARITHMETIC.contains(&module(path).as_str())) {
        for (at, line) in code(path).lines().enumerate() {
            let computes = [" / ", " * ", " - ", ".sum::<", ".sum()", "as f64"].iter().any(|sign| line.contains(sign));
            if computes && !line.contains('"') {
                broken.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn panels_take_shares_from_the_analysis() {
    let mut broken = Vec::new();
    for path in sources().iter().filter(|path| NO_SHARES.contains(&module(path).as_str())) {
        for (at, line) in code(path).lines().enumerate() {
            if line.contains("as f64 /") || line.contains("_ns /") || line.contains("_ns() /") {
                broken.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn files_stay_small() {
    for path in sources() {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 700, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn the_readers_of_the_rule_can_tell_a_breach() {
    assert!(contains_word("use rusqlite::Connection;", "rusqlite"));
    assert!(!contains_word("let my_rusqlite_like = 1;", "rusqlite"));
    assert!(contains_word("\"CUPTI_ACTIVITY_KIND_KERNEL\"", "CUPTI_ACTIVITY"));
    assert!(!contains_word("let eguilike = 1;", "egui"));
}
