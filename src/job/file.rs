//! Summary files: what an export tells of its ranks, in kilobytes, so that each machine of a cluster can summarize its
//! own export and a laptop can open the folder.
//!
//! A file is gzip-packed JSON (`zcat rank0.summary` shows it) that begins with its format's number.

use super::ExportSummary;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

/// Number of the format. A reader takes its own and earlier ones; unknown keys are left out.
pub const FORMAT: u32 = 1;
/// Ending of the files, without the dot.
pub const ENDING: &str = "summary";
/// A file that unpacks to more is not ours.
const MOST_BYTES: u64 = 256 << 20;
/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why a summary could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Something else.
    #[error("this is no summary of stepscope: make one with `stepscope summarize EXPORT -o NAME.summary`")]
    NotASummary,
    /// Cut or damaged.
    #[error("the summary is cut or damaged ({0}): make it anew with `stepscope summarize`")]
    Damaged(String),
    /// Written by a later version.
    #[error("the summary has format {0}, this version reads up to {FORMAT}: use a newer stepscope, or make it anew")]
    Later(u32),
}

/// What stands in front, so that a later format is told before anything else is looked at.
#[derive(Debug, Serialize, Deserialize)]
struct File<T> {
    stepscope_summary: u32,
    #[serde(default)]
    version: String,
    export: T,
}

/// The bytes of a summary file.
///
/// # Errors
/// Never for summaries that this program makes; the signature is that of the serializer.
pub fn write(summary: &ExportSummary) -> Result<Vec<u8>, std::io::Error> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    let version = env!("CARGO_PKG_VERSION").to_owned();
    serde_json::to_writer(&mut packed, &File { stepscope_summary: FORMAT, version, export: summary })?;
    packed.write_all(b"\n")?;
    packed.finish()
}

/// True when `start`, the first bytes of a file, may be a summary's.
pub fn may_be(start: &[u8]) -> bool {
    start.starts_with(&GZIP)
}

/// Reads a summary file.
///
/// # Errors
/// When the bytes are something else, damaged, or of a later format.
pub fn read(bytes: &[u8]) -> Result<ExportSummary, FileError> {
    if !may_be(bytes) {
        return Err(FileError::NotASummary);
    }
    let mut text = Vec::new();
    let unpacked = GzDecoder::new(bytes).take(MOST_BYTES + 1).read_to_end(&mut text);
    unpacked.map_err(|error| FileError::Damaged(error.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(FileError::NotASummary);
    }
    let head: File<serde::de::IgnoredAny> = serde_json::from_slice(&text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => FileError::NotASummary,
        _ => FileError::Damaged(error.to_string()),
    })?;
    if head.stepscope_summary > FORMAT {
        return Err(FileError::Later(head.stepscope_summary));
    }
    let file: File<ExportSummary> =
        serde_json::from_slice(&text).map_err(|error| FileError::Damaged(error.to_string()))?;
    Ok(file.export)
}

/// The exports and summaries in a folder, in the order of the numbers in their names. Of an export and a summary of one
/// name only the summary counts, unless the export is newer.
///
/// # Errors
/// When the folder cannot be read.
pub fn captures_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found: BTreeMap<Vec<Piece>, PathBuf> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let ending = path.extension().unwrap_or_default();
        let is = |name: &str| ending.eq_ignore_ascii_case(name);
        if !path.is_file() || !(is("sqlite") || is(ENDING)) {
            continue;
        }
        let key = pieces(&path.file_stem().unwrap_or_default().to_string_lossy());
        match found.get(&key) {
            Some(other) if !is_better(&path, other) => {}
            _ => drop(found.insert(key, path)),
        }
    }
    Ok(found.into_values().collect())
}

/// True when `path` is a summary that is at least as new as the export `other`, or an export newer than the summary.
fn is_better(path: &Path, other: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|facts| facts.modified()).ok();
    let is_summary = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING));
    if is_summary { changed(path) >= changed(other) } else { changed(path) > changed(other) }
}

/// A piece of a name: digits count as a number, so that rank10 comes after rank9.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Number(u64, String),
    Text(String),
}

fn pieces(name: &str) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        let text = piece.to_owned();
        all.push(match piece.parse() {
            Ok(number) if digits => Piece::Number(number, text),
            _ => Piece::Text(text),
        });
        rest = after;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let summary = ExportSummary { host: Some("node 1".to_owned()), epoch_ns: Some(-3), ..ExportSummary::default() };
        assert_eq!(read(&write(&summary).unwrap()).unwrap(), summary);
    }

    #[test]
    fn other_files_and_damage_are_told() {
        let bytes = write(&ExportSummary::default()).unwrap();
        assert!(matches!(read(b"SQLite format 3"), Err(FileError::NotASummary)));
        for end in 2..bytes.len() - 1 {
            assert!(matches!(read(&bytes[..end]), Err(FileError::Damaged(_))), "{end}");
        }
        let packed = |text: &str| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            packed.finish().unwrap()
        };
        assert!(matches!(read(&packed("{}")), Err(FileError::NotASummary)));
        assert!(matches!(read(&packed("[1")), Err(FileError::NotASummary | FileError::Damaged(_))));
        let later = r#"{"stepscope_summary": 9, "export": [1]}"#;
        assert!(matches!(read(&packed(later)), Err(FileError::Later(9))));
        let odd = r#"{"stepscope_summary": 1, "export": {"ranks": 7}}"#;
        assert!(matches!(read(&packed(odd)), Err(FileError::Damaged(_))));
        // Keys of a later minor change are left out.
        let more = r#"{"stepscope_summary": 1, "export": {"host": "a", "new": 1}}"#;
        assert_eq!(read(&packed(more)).unwrap().host.as_deref(), Some("a"));
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["rank10.sqlite", "rank9.sqlite", "rank9.summary", "notes.txt", "rank2.summary", "rank2.sqlite-wal"]
        {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let found = captures_in(folder.path()).unwrap();
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!((names[0], names[2], names.len()), ("rank2.summary", "rank10.sqlite", 3));
        assert!(names[1].starts_with("rank9."));
    }
}
