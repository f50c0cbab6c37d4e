//! Connections to a database that is only ever read: no lock, no journal, no helper file beside it.

use rusqlite::{Connection, OpenFlags};
use std::path::Path;

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
