//! What a path is, before SQLite touches it: one clear error for everything that is not a complete SQLite database.
//!
//! Reads at most the first kilobyte of the file and of the files beside it, and writes nothing.

use super::error::{LoadError, export_command};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const JOURNAL_MAGIC: &[u8; 8] = &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const WAL_MAGICS: [&[u8; 4]; 2] = [&[0x37, 0x7f, 0x06, 0x82], &[0x37, 0x7f, 0x06, 0x83]];
/// A write-ahead log shorter than its header and one frame holds no page.
const WAL_HEADER_BYTES: u64 = 32;

/// What is known of a database file without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileFacts {
    /// Size.
    pub bytes: u64,
    /// Time of the last change, when the system tells.
    pub modified: Option<SystemTime>,
    /// True when the database uses a write-ahead log.
    pub wal_mode: bool,
}

impl FileFacts {
    /// True when the file at `path` is still the one these facts were read from.
    pub(crate) fn still_hold(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|now| now.len() == self.bytes && now.modified().ok() == self.modified)
    }
}

/// Checks that `path` is a complete SQLite database that nobody is writing.
pub(crate) fn check(path: &Path) -> Result<FileFacts, LoadError> {
    let io = |error: io::Error| io_error(path, &error);
    let metadata = fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return Err(LoadError::Directory { path: path.into() });
    }
    if !metadata.is_file() {
        return Err(LoadError::NotAFile { path: path.into() });
    }
    let head = head_of(path).map_err(io)?;
    if head.is_empty() {
        return Err(LoadError::Empty { path: path.into() });
    }
    if !head.starts_with(MAGIC) {
        return Err(not_sqlite(path, &head));
    }
    let header = Header::parse(&head).map_err(|what| LoadError::DamagedHeader { path: path.into(), what })?;
    check_beside(path, header.wal_mode)?;
    let found_bytes = metadata.len();
    let expected_bytes = header.expected_bytes(found_bytes);
    if found_bytes < expected_bytes {
        return Err(LoadError::Truncated { path: path.into(), expected_bytes, found_bytes });
    }
    Ok(FileFacts { bytes: found_bytes, modified: metadata.modified().ok(), wal_mode: header.wal_mode })
}

/// True when `path` is named like a report that was not exported yet.
pub fn is_report(path: &Path) -> bool {
    let extension = path.extension().map(|ext| ext.to_string_lossy().to_lowercase()).unwrap_or_default();
    matches!(extension.as_str(), "nsys-rep" | "qdrep" | "qdstrm")
}

fn io_error(path: &Path, error: &io::Error) -> LoadError {
    match error.kind() {
        io::ErrorKind::NotFound => LoadError::Missing { path: path.into() },
        io::ErrorKind::PermissionDenied => LoadError::Permission { path: path.into() },
        _ => LoadError::Io { path: path.into(), detail: error.to_string() },
    }
}

fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(1024);
    File::open(path)?.take(1024).read_to_end(&mut head)?;
    Ok(head)
}

/// The fields of the database header that matter here.
struct Header {
    page_bytes: u64,
    /// Pages of the database; `None` when the header does not vouch for the number.
    pages: Option<u64>,
    wal_mode: bool,
}

impl Header {
    fn parse(head: &[u8]) -> Result<Self, String> {
        let Some(header) = head.first_chunk::<100>() else {
            return Err(format!("it ends after {} of 100 bytes", head.len()));
        };
        let u32_at =
            |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes);
        let page_bytes = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
            1 => 65_536,
            bytes => bytes,
        };
        if !page_bytes.is_power_of_two() || page_bytes < 512 {
            return Err(format!("a page size of {page_bytes} bytes is not possible"));
        }
        let (write_version, read_version) = (header[18], header[19]);
        if !(1..=2).contains(&read_version) {
            return Err(format!("file format {read_version} is not known"));
        }
        let pages = u64::from(u32_at(28));
        let vouched = pages > 0 && u32_at(24) == u32_at(92);
        Ok(Self { page_bytes, pages: vouched.then_some(pages), wal_mode: write_version == 2 || read_version == 2 })
    }

    /// Bytes the file must have at least: the pages of the header, else whole pages.
    fn expected_bytes(&self, found_bytes: u64) -> u64 {
        match self.pages {
            Some(pages) => pages.saturating_mul(self.page_bytes),
            None => found_bytes.div_ceil(self.page_bytes).saturating_mul(self.page_bytes),
        }
    }
}

/// The path with `suffix` put behind its file name.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Files that SQLite keeps beside a database (where a link to it points), with rows that are not in it.
fn check_beside(path: &Path, wal_mode: bool) -> Result<(), LoadError> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let wal = beside(&real, "-wal");
    let holds_frames = fs::metadata(&wal).is_ok_and(|found| found.len() > WAL_HEADER_BYTES);
    // A log that cannot be looked into may hold anything.
    if holds_frames && head_of(&wal).map_or(true, |head| is_wal(&head)) {
        return Err(LoadError::Unmerged { path: path.into(), wal });
    }
    // A log that was merged leaves the same database as a log that was lost, so this cannot be passed over.
    if wal_mode && !wal.exists() {
        return Err(LoadError::LogMissing { path: path.into() });
    }
    // A finished transaction leaves no journal, or one that starts with zeros.
    let journal = beside(&real, "-journal");
    if head_of(&journal).is_ok_and(|head| head.starts_with(JOURNAL_MAGIC)) {
        return Err(LoadError::Unfinished { path: path.into(), journal });
    }
    Ok(())
}

fn is_wal(head: &[u8]) -> bool {
    WAL_MAGICS.iter().any(|magic| head.starts_with(*magic))
}

/// Says what a file without the SQLite header is.
fn not_sqlite(path: &Path, head: &[u8]) -> LoadError {
    let path_buf = path.to_path_buf();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let helper = |what, suffix: &str| {
        let main =
            name.strip_suffix(suffix).map_or_else(|| PathBuf::from("the database"), |main| path.with_file_name(main));
        LoadError::HelperFile { path: path_buf.clone(), what, main }
    };
    if is_wal(head) || name.ends_with("-wal") {
        return helper("its write-ahead log", "-wal");
    }
    if head.starts_with(JOURNAL_MAGIC) || name.ends_with("-journal") {
        return helper("its rollback journal", "-journal");
    }
    if name.ends_with("-shm") {
        return helper("the index of its write-ahead log", "-shm");
    }
    if is_report(path) {
        return LoadError::Report { path: path_buf };
    }
    if let Some((what, next)) = other_format(path, head) {
        return LoadError::OtherFormat { path: path_buf, what, next };
    }
    let same = head.iter().zip(MAGIC).filter(|(found, expected)| found == expected).count();
    if same >= MAGIC.len() - 4 {
        return LoadError::DamagedHeader {
            path: path_buf,
            what: format!("{} of its first 16 bytes are wrong", MAGIC.len() - same),
        };
    }
    if is_text(head) {
        let next =
            format!("Export one: `{}`", export_command(Path::new("REPORT.nsys-rep"), Path::new("REPORT.sqlite")));
        return LoadError::OtherFormat { path: path_buf, what: "a text file", next };
    }
    LoadError::NotSqlite { path: path_buf }
}

fn other_format(path: &Path, head: &[u8]) -> Option<(&'static str, String)> {
    let unpack = |tool: &str| format!("Unpack it first: `{tool} {}`", super::error::shell_word(path));
    let as_sqlite =
        || format!("Export as SQLite: `{}`", export_command(Path::new("REPORT.nsys-rep"), Path::new("REPORT.sqlite")));
    let found = match head {
        [0x1f, 0x8b, ..] if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("summary")) => {
            ("a summary of stepscope", "Give it to `stepscope compare`, or open it in the window".to_owned())
        }
        [0x1f, 0x8b, ..] => ("gzip-compressed", unpack("gunzip")),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => ("a zip archive", unpack("unzip")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ("zstd-compressed", unpack("unzstd")),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => ("xz-compressed", unpack("unxz")),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => ("bzip2-compressed", unpack("bunzip2")),
        [0x89, b'H', b'D', b'F', ..] => ("an HDF5 export", as_sqlite()),
        [b'P', b'A', b'R', b'1', ..] => ("a Parquet file", as_sqlite()),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => ("an Arrow file", as_sqlite()),
        _ => return None,
    };
    Some(found)
}

fn is_text(head: &[u8]) -> bool {
    // The kilobyte may end inside a character.
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    valid && !head.iter().any(|byte| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(page_bytes: u16, versions: [u8; 2], pages: u32) -> Vec<u8> {
        let mut head = vec![0; 100];
        head[..16].copy_from_slice(MAGIC);
        head[16..18].copy_from_slice(&page_bytes.to_be_bytes());
        head[18..20].copy_from_slice(&versions);
        head[28..32].copy_from_slice(&pages.to_be_bytes());
        head
    }

    #[test]
    fn the_header_says_how_long_the_file_must_be() {
        let parsed = Header::parse(&header(4096, [1, 1], 10)).unwrap();
        assert_eq!(parsed.expected_bytes(5), 40_960);
        let parsed = Header::parse(&header(1, [2, 2], 2)).unwrap();
        assert_eq!((parsed.expected_bytes(5), parsed.wal_mode), (131_072, true));
        let unknown = Header::parse(&header(512, [1, 1], 0)).unwrap();
        assert_eq!(unknown.expected_bytes(1025), 1536, "without a page count, whole pages are expected");
    }

    #[test]
    fn impossible_headers_are_named() {
        assert!(Header::parse(&header(1000, [1, 1], 1)).is_err_and(|what| what.contains("1000 bytes")));
        assert!(Header::parse(&header(4096, [1, 9], 1)).is_err_and(|what| what.contains("file format 9")));
        assert!(Header::parse(MAGIC).is_err_and(|what| what.contains("16 of 100")));
    }

    #[test]
    fn text_is_told_from_bytes() {
        assert!(is_text("step;ms\nfürs erste".as_bytes()));
        assert!(is_text(&"ä".as_bytes()[..1].iter().fold(b"abc".to_vec(), |mut text, byte| {
            text.push(*byte);
            text
        })));
        assert!(!is_text(&[0, 1, 2, 3]) && !is_text(&[b'a', 0xff, b'b']));
    }
}
