//! Connections to a database that is only ever read: no lock, no journal, no helper file beside it.

use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Steps of SQLite's machine between two looks at the budget.
const STEPS: i32 = 100_000;
/// Steps that reading a byte of the file may take (a row of any table takes fewer), and those allowed in any case.
const STEPS_PER_BYTE: i64 = 8;
const LEAST_STEPS: i64 = 20_000_000;

/// What SQLite says of work that was cut short by a [`Budget`].
pub(crate) const TOO_MUCH_WORK: &str =
    "reading it takes more work than a file of this size can need; a view in its place may have no end";

/// How much work a connection may still do. A view can describe rows without end, in a file of a few kilobytes.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    left: Arc<AtomicI64>,
    whole: i64,
}

impl Budget {
    /// Grants the whole budget anew, for the next table.
    pub fn renew(&self) {
        self.left.store(self.whole, Ordering::Relaxed);
    }
}

/// As [`connect`], for reading the tables of a file of `bytes` bytes: a statement that takes more work than any table of
/// that size is interrupted.
pub(crate) fn connect_with_budget(path: &Path, bytes: u64) -> rusqlite::Result<(Connection, Budget)> {
    let mut connection = connect(path)?;
    let whole = i64::try_from(bytes).unwrap_or(i64::MAX).saturating_mul(STEPS_PER_BYTE).saturating_add(LEAST_STEPS);
    let budget = Budget { left: Arc::new(AtomicI64::new(whole)), whole };
    let left = Arc::clone(&budget.left);
    let spent = move || left.fetch_sub(i64::from(STEPS), Ordering::Relaxed) < 0;
    connection.progress_handler(STEPS, Some(spent))?;
    Ok((connection, budget))
}

/// Opens the database so that neither it nor its folder is ever written.
///
/// `immutable` tells SQLite that nobody changes the file: it takes no lock and makes no helper file. Nothing is mapped
/// into memory: a mapping counts as the program's own memory, and reading past a cut-off end would end the program.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open_uri(path, "immutable=1")?;
    connection.execute_batch(
        "PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
    )?;
    Ok(connection)
}

/// True when another program holds the database locked for writing. Only for databases without a write-ahead log: asking
/// one with a log would make files beside it.
pub(crate) fn is_locked(path: &Path) -> bool {
    let ask = || -> rusqlite::Result<()> {
        let connection = open_uri(path, "mode=ro")?;
        connection.busy_timeout(std::time::Duration::ZERO)?;
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
    };
    let code = ask().err().and_then(|error| error.sqlite_error_code());
    matches!(code, Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

fn open_uri(path: &Path, parameters: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri(path, parameters), flags)
}

/// The path as a `file:` URI; every byte that has a meaning in one is escaped.
fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = String::from("file:");
    if cfg!(windows) {
        uri.push_str("///");
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => uri.push(char::from(*byte)),
            b'\\' if cfg!(windows) => uri.push('/'),
            b':' if cfg!(windows) => uri.push(':'),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    // Two slashes at the start would name a host.
    if uri.starts_with("file://") && cfg!(not(windows)) {
        uri.insert_str("file:".len(), "//");
    }
    uri.push('?');
    uri.push_str(parameters);
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_byte_of_a_path_is_escaped() {
        assert_eq!(uri(Path::new("/a b/ü?#%.sqlite"), "immutable=1"), "file:/a%20b/%C3%BC%3F%23%25.sqlite?immutable=1");
    }
}
