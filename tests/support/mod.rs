//! What several test programs need: the real exports, and the program run as a user runs it.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "shared by several test programs"
)]

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The folder of real exports, when it is there.
pub fn shared() -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data"));
    if folder.is_dir() {
        return Some(folder.to_path_buf());
    }
    println!("skipped: {} is not there", folder.display());
    None
}

/// The real exports, ordered by name; none when they are not there.
pub fn shared_exports() -> Vec<PathBuf> {
    let Some(folder) = shared() else { return Vec::new() };
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "sqlite"))
        .collect();
    found.sort();
    assert!(found.len() >= 10, "the folder of real exports is incomplete");
    found
}

/// The program, without a display and with `home` for its settings and as its folder.
pub fn stepscope(home: &Path) -> Command {
    let mut command = Command::cargo_bin("stepscope").unwrap();
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command.env("XDG_DATA_HOME", home).current_dir(home);
    command
}

/// A folder with a small simulated job of two ranks in `job`: `rank0.sqlite`, `rank1.sqlite` and their settings.
pub fn small_job() -> TempDir {
    let folder = TempDir::new().unwrap();
    let arguments = ["demo", "--ranks", "2", "--steps", "4", "--set", "layers=2", "-o", "job"];
    stepscope(folder.path()).args(arguments).assert().success();
    folder
}
