//! Why an export could not be opened: what it is, where, and what to do next.

use crate::format;
use std::path::{Path, PathBuf};

/// Why an export could not be opened. Each message stands alone: it names the file and says what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No such file.
    #[error("{} does not exist. Check the path.", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A folder.
    #[error("{} is a folder. Name the .sqlite file in it.", .path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
    },
    /// A pipe, a device or a socket.
    #[error("{} is not a regular file. An export is read at many places at once, so copy it to a file first.", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The user may not read it.
    #[error("{} may not be read by this user. Check its permissions and those of its folder.", .path.display())]
    Permission {
        /// The file.
        path: PathBuf,
    },
    /// The system could not read it.
    #[error("{} cannot be read: {detail}.", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// No bytes.
    #[error("{} is empty (0 bytes): the export or the copy did not run to its end. Export again: `{}`", .path.display(), export_again(.path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A report that was not exported yet.
    #[error("{} is an Nsight Systems report, not an export. Convert it: `{}`", .path.display(), export_command(.path, &.path.with_extension("sqlite")))]
    Report {
        /// The report.
        path: PathBuf,
    },
    /// A helper file of SQLite.
    #[error("{} is a helper file that SQLite keeps beside a database ({what}), not an export. Open {} instead.", .path.display(), .main.display())]
    HelperFile {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// The database it belongs to.
        main: PathBuf,
    },
    /// Another kind of file.
    #[error("{} is {what}, not an SQLite export. {next}", .path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What to do.
        next: String,
    },
    /// No SQLite header.
    #[error("{} is no SQLite database: it does not start with the SQLite header, so it is encrypted, damaged or another kind of file. Decrypt it, or export again: `{}`", .path.display(), export_again(.path))]
    NotSqlite {
        /// The file.
        path: PathBuf,
    },
    /// A header that is almost right.
    #[error("{} has a damaged SQLite header ({what}). Copy it again, or export again: `{}`", .path.display(), export_again(.path))]
    DamagedHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Shorter than its header says.
    #[error("{} is cut off: it should hold {expected_bytes} bytes and holds {found_bytes}. The copy or the export did not run to its end; copy it again, or export again: `{}`", .path.display(), export_again(.path))]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes by its header.
        expected_bytes: u64,
        /// Bytes on disk.
        found_bytes: u64,
    },
    /// A write-ahead log with pages that are not in the database.
    #[error("{} is not complete: the newest rows are still in {}. Close the program that writes it, or merge them on a copy: `sqlite3 {} \"PRAGMA wal_checkpoint(TRUNCATE)\"`", .path.display(), .wal.display(), shell_word(.path))]
    Unmerged {
        /// The database.
        path: PathBuf,
        /// Its write-ahead log.
        wal: PathBuf,
    },
    /// A write-ahead log that should be there and is not.
    #[error("{} keeps its newest rows in a write-ahead log, and no {}-wal lies beside it: rows may be missing. Copy that file too, or export again: `{}`. If you know that nothing is missing, say so in a copy: `sqlite3 {} 'PRAGMA journal_mode = DELETE'`", .path.display(), .path.display(), export_again(.path), shell_word(.path))]
    LogMissing {
        /// The database.
        path: PathBuf,
    },
    /// A rollback journal: a write that has not ended.
    #[error("{} is still being written, or its export was interrupted: {} lies beside it. Wait for the export to end, or export again: `{}`", .path.display(), .journal.display(), export_again(.path))]
    Unfinished {
        /// The database.
        path: PathBuf,
        /// Its rollback journal.
        journal: PathBuf,
    },
    /// Another program holds a write lock.
    #[error("{} is locked by another program that writes to it. Wait for the export to end (or close that program), then open it again.", .path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The file was written while it was read.
    #[error("{} was changed while it was being read, so what was read cannot be trusted. Wait for the export to end, then open it again.", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// An SQLite database of another program.
    #[error("{} is an SQLite database but no Nsight Systems export: it holds {tables}. Export one: `{}`", .path.display(), export_again(.path))]
    NotNsys {
        /// The database.
        path: PathBuf,
        /// Some of its tables, in words.
        tables: String,
    },
    /// An export that recorded nothing that can be shown.
    #[error("{} is an Nsight Systems export without any event: {reason}. Record again with `nsys profile --trace=cuda,nvtx,osrt ...`, or export again without leaving tables out: `{}`", .path.display(), export_again(.path))]
    NoEvents {
        /// The export.
        path: PathBuf,
        /// What was looked for and found.
        reason: String,
    },
    /// Pages that cannot be read.
    #[error("{} is damaged in table {table}, after {} of it ({detail}). Copy it again, export again (`{}`), or salvage what is left: `sqlite3 {} .recover | sqlite3 recovered.sqlite`", .path.display(), format::counted(*.rows, "row", "rows"), export_again(.path), shell_word(.path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The table.
        table: String,
        /// Rows read before the damage.
        rows: u64,
        /// What SQLite said.
        detail: String,
    },
    /// The list of tables cannot be read.
    #[error("{} is damaged: its schema (the table sqlite_master, which lists all others) cannot be read ({detail}). Copy it again, or export again: `{}`", .path.display(), export_again(.path))]
    DamagedSchema {
        /// The file.
        path: PathBuf,
        /// What SQLite said, in short.
        detail: String,
    },
    /// SQLite refused.
    #[error("{} cannot be opened as an SQLite database: {detail}. Copy it again, or export again: `{}`", .path.display(), export_again(.path))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The user stopped it.
    #[error("loading was cancelled")]
    Cancelled,
}

/// The command that turns a report into an export.
pub(crate) fn export_command(report: &Path, export: &Path) -> String {
    format!("nsys export --type sqlite --output {} {}", shell_word(export), shell_word(report))
}

/// The command that makes an export anew, from the report that most likely lies beside it.
fn export_again(export: &Path) -> String {
    let export = if export.extension().is_some_and(|ext| ext == "sqlite") {
        export.to_path_buf()
    } else {
        export.with_extension("sqlite")
    };
    export_command(&export.with_extension("nsys-rep"), &export)
}

/// A path as one word of a POSIX shell; one that begins like an option gets its folder in front.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let dashed = if text.starts_with('-') { "./" } else { "" };
    format::shell_word(&format!("{dashed}{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_commands_can_be_pasted_into_a_shell() {
        assert_eq!(shell_word(Path::new("/a/rank0.sqlite")), "/a/rank0.sqlite");
        assert_eq!(shell_word(Path::new("my run.sqlite")), "'my run.sqlite'");
        assert_eq!(shell_word(Path::new("it's")), r"'it'\''s'");
        assert_eq!(shell_word(Path::new("-x")), "./-x");
    }

    #[test]
    fn a_report_names_the_command_that_converts_it() {
        let error = LoadError::Report { path: PathBuf::from("a/run 1.nsys-rep") };
        assert!(
            error.to_string().ends_with("`nsys export --type sqlite --output 'a/run 1.sqlite' 'a/run 1.nsys-rep'`"),
            "{error}"
        );
    }
}
