//! Turns a report into an export by running `nsys`.

use super::error::{export_command, shell_word};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why a report could not be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// No report at the path.
    #[error("{} does not exist or is no file. Check the path.", .report.display())]
    Missing {
        /// The report.
        report: PathBuf,
    },
    /// No folder at the path.
    #[error("{} is no folder, so the export cannot be put there. Make it, or name another.", .folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The export is there already.
    #[error("{} exists already and is not overwritten. Open it, or remove it and convert again.", .export.display())]
    Exists {
        /// The export.
        export: PathBuf,
    },
    /// No `nsys`.
    #[error("nsys was not found on PATH, so {} cannot be converted here. On a machine with Nsight Systems run: `{}`", .report.display(), export_command(.report, .export))]
    NoNsys {
        /// The report.
        report: PathBuf,
        /// The export it would become.
        export: PathBuf,
    },
    /// `nsys` could not be started.
    #[error("{} cannot be started: {detail}.", .nsys.display())]
    NotStarted {
        /// The program.
        nsys: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// `nsys` failed.
    #[error("`{command}` failed ({status}): {output}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
        /// The last it said.
        output: String,
    },
}

/// Converts `report` to an SQLite export in `out_dir` and returns its path; an existing export is never overwritten.
///
/// Runs `nsys`, or the one found on PATH when it is `None`. Takes as long as the export takes.
///
/// # Errors
/// When there is no report, no folder or no `nsys`, or when `nsys` fails; the message says what to do.
pub fn convert(report: &Path, out_dir: &Path, nsys: Option<&Path>) -> Result<PathBuf, ConvertError> {
    if !report.is_file() {
        return Err(ConvertError::Missing { report: report.into() });
    }
    if !out_dir.is_dir() {
        return Err(ConvertError::NoFolder { folder: out_dir.into() });
    }
    let export =
        out_dir.join(Path::new(report.file_stem().unwrap_or(OsStr::new("report"))).with_added_extension("sqlite"));
    if export.exists() {
        return Err(ConvertError::Exists { export });
    }
    let found = nsys.map(Path::to_path_buf).or_else(|| find_nsys(std::env::var_os("PATH")?.as_os_str()));
    let Some(nsys) = found else {
        return Err(ConvertError::NoNsys { report: report.into(), export });
    };
    run(&nsys, report, &export)?;
    Ok(export)
}

/// The first `nsys` in a list of folders.
fn find_nsys(path: &OsStr) -> Option<PathBuf> {
    let name = if cfg!(windows) { "nsys.exe" } else { "nsys" };
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

fn run(nsys: &Path, report: &Path, export: &Path) -> Result<(), ConvertError> {
    let outcome = Command::new(nsys)
        .args(["export", "--type", "sqlite", "--output"])
        .arg(export)
        .arg("--force-overwrite=false")
        .arg(report)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ConvertError::NotStarted { nsys: nsys.into(), detail: error.to_string() })?;
    if outcome.status.success() && export.is_file() {
        return Ok(());
    }
    let said = if outcome.stderr.iter().all(u8::is_ascii_whitespace) { outcome.stdout } else { outcome.stderr };
    let command = format!(
        "{} export --type sqlite --output {} --force-overwrite=false {}",
        shell_word(nsys),
        shell_word(export),
        shell_word(report)
    );
    let status = if outcome.status.success() { "no export was made".to_owned() } else { outcome.status.to_string() };
    Err(ConvertError::Failed { command, status, output: last_words(&said) })
}

/// The last lines of a program's output.
fn last_words(output: &[u8]) -> String {
    const LINES: usize = 5;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let tail = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n");
    if tail.is_empty() { "it said nothing".to_owned() } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_nsys_the_command_is_told() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find_nsys(folder.path().as_os_str()), None);
        let error = ConvertError::NoNsys { report: "run 1.nsys-rep".into(), export: "run 1.sqlite".into() };
        assert!(
            error.to_string().contains("`nsys export --type sqlite --output 'run 1.sqlite' 'run 1.nsys-rep'`"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_converted_is_told_before_nsys_is_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("run.nsys-rep");
        assert!(matches!(convert(&report, folder.path(), None), Err(ConvertError::Missing { .. })));
        std::fs::write(&report, "report").unwrap();
        assert!(matches!(convert(&report, &folder.path().join("none"), None), Err(ConvertError::NoFolder { .. })));
        std::fs::write(folder.path().join("run.sqlite"), "mine").unwrap();
        assert!(matches!(convert(&report, folder.path(), None), Err(ConvertError::Exists { .. })));
        assert_eq!(std::fs::read(folder.path().join("run.sqlite")).unwrap(), b"mine");
    }

    #[cfg(unix)]
    mod with_a_fake_nsys {
        use super::*;
        use std::os::unix::fs::PermissionsExt as _;

        fn fake(folder: &Path, script: &str) -> PathBuf {
            let path = folder.join("nsys");
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        #[test]
        fn the_export_lands_in_the_folder_named() {
            let folder = tempfile::tempdir().unwrap();
            let report = folder.path().join("run 1.v2.nsys-rep");
            std::fs::write(&report, "report").unwrap();
            let nsys = fake(folder.path(), r#"echo "$@" > "$5"; exit 0"#);
            assert_eq!(find_nsys(folder.path().as_os_str()).as_deref(), Some(nsys.as_path()));
            let export = convert(&report, folder.path(), Some(&nsys)).unwrap();
            assert_eq!(export, folder.path().join("run 1.v2.sqlite"));
            let arguments = std::fs::read_to_string(&export).unwrap();
            assert!(arguments.starts_with("export --type sqlite --output "), "{arguments}");
            assert!(arguments.contains("--force-overwrite=false"), "{arguments}");
        }

        #[test]
        fn a_failure_shows_the_command_and_what_nsys_said() {
            let folder = tempfile::tempdir().unwrap();
            let report = folder.path().join("run.nsys-rep");
            std::fs::write(&report, "report").unwrap();
            let nsys = fake(folder.path(), "echo 'unsupported report version' >&2; exit 3");
            let error = convert(&report, folder.path(), Some(&nsys)).unwrap_err().to_string();
            assert!(error.contains("unsupported report version") && error.contains("exit status: 3"), "{error}");
            assert!(error.contains("nsys export --type sqlite --output"), "{error}");
            let silent = fake(folder.path(), "exit 0");
            let error = convert(&report, folder.path(), Some(&silent)).unwrap_err().to_string();
            assert!(error.contains("no export was made"), "{error}");
        }
    }
}
