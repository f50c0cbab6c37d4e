//! Summary files: what an export tells of its ranks, in kilobytes, so that each machine of a cluster can summarize its
//! own export and a laptop can open the folder.
//!
//! A file is gzip-packed JSON (`zcat rank0.summary` shows it) that begins with its format's number.

use super::ExportSummary;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

/// Number of the format, from 1. A reader takes its own and earlier ones; unknown keys are left out.
pub const FORMAT: u32 = 1;
/// Ending of the files, without the dot.
pub const ENDING: &str = "summary";
/// A file that unpacks to more is not ours.
const MOST_BYTES: u64 = 256 << 20;
/// What gzip files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// What SQLite files begin with.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Bytes that tell what a file is.
const HEAD: usize = SQLITE.len();

/// Why a summary could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Something else.
    #[error("this is no summary of stepscope: make one with `stepscope summarize EXPORT -o NAME.summary`")]
    NotASummary,
    /// Cut or damaged.
    #[error("the summary is cut or damaged ({0}): make it anew with `stepscope summarize`")]
    Damaged(String),
    /// Written by no version.
    #[error("the summary has format {0}, which no stepscope writes: make it anew with `stepscope summarize`")]
    NoFormat(u32),
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

/// How a summary in `target` names its export: by its bare name when both are in one folder, which may then move as a
/// whole; else by its whole path, so that it is found from wherever the summary is opened.
pub fn export_as_named_in(export: &Path, target: &Path) -> PathBuf {
    let export = std::path::absolute(export).unwrap_or_else(|_| export.to_owned());
    let folder = |path: &Path| std::fs::canonicalize(std::path::absolute(path).ok()?.parent()?).ok();
    match export.file_name() {
        Some(name) if folder(&export).is_some_and(|own| folder(target) == Some(own)) => name.into(),
        _ => export,
    }
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
    match head.stepscope_summary {
        0 => return Err(FileError::NoFormat(0)),
        1..=FORMAT => {}
        later => return Err(FileError::Later(later)),
    }
    let file: File<ExportSummary> =
        serde_json::from_slice(&text).map_err(|error| FileError::Damaged(error.to_string()))?;
    Ok(file.export)
}

/// Why a summary file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It is no sound summary.
    #[error(transparent)]
    File(#[from] FileError),
}

/// True when `path` is named like a summary.
pub fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
}

/// The summary in a file, its export as seen from here; `None` when the file is something that a loader of exports should
/// look at.
///
/// # Errors
/// When a file that is named or packed like a summary cannot be read or is none.
pub fn read_file(path: &Path) -> Result<Option<ExportSummary>, ReadError> {
    let mut opened = match std::fs::File::open(path) {
        Ok(opened) => opened,
        Err(error) if is_named(path) => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    let mut bytes = Vec::new();
    std::io::Read::by_ref(&mut opened).take(HEAD as u64).read_to_end(&mut bytes)?;
    if bytes.starts_with(SQLITE) || (!is_named(path) && !may_be(&bytes)) {
        return Ok(None);
    }
    opened.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let mut summary = read(&bytes)?;
    summary.file = path.with_file_name(&summary.file);
    Ok(Some(summary))
}

/// As [`read_file`] for each of `paths`, several at once; the answers come in their order.
pub fn read_files(paths: &[PathBuf]) -> Vec<Result<Option<ExportSummary>, ReadError>> {
    paths.par_iter().map(|path| read_file(path)).collect()
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
    fn an_export_is_found_from_every_folder_that_its_summary_is_opened_from() {
        let folder = tempfile::tempdir().unwrap();
        let (export, beside) = (folder.path().join("a/rank0.sqlite"), folder.path().join("a/rank0.summary"));
        std::fs::create_dir_all(folder.path().join("a")).unwrap();
        assert_eq!(export_as_named_in(&export, &beside), Path::new("rank0.sqlite"));
        assert_eq!(export_as_named_in(&export, &folder.path().join("b.summary")), export);
        let typed = export_as_named_in(Path::new("b/../rank0.sqlite"), &beside);
        assert!(typed.is_absolute(), "{}", typed.display());
        // Read again, a bare name is beside the summary and a whole path is itself.
        for (named, seen) in [("rank0.sqlite", &export), (export.to_str().unwrap(), &export)] {
            let summary = ExportSummary { file: named.into(), ..ExportSummary::default() };
            std::fs::write(&beside, write(&summary).unwrap()).unwrap();
            assert_eq!(&read_file(&beside).unwrap().unwrap().file, seen);
        }
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
        let none = r#"{"stepscope_summary": 0, "export": {}}"#;
        let refused = read(&packed(none)).unwrap_err();
        assert!(matches!(refused, FileError::NoFormat(0)) && refused.to_string().contains("format 0, which no"));
        let later = r#"{"stepscope_summary": 9, "export": [1]}"#;
        assert!(matches!(read(&packed(later)), Err(FileError::Later(9))));
        let odd = r#"{"stepscope_summary": 1, "export": {"ranks": 7}}"#;
        assert!(matches!(read(&packed(odd)), Err(FileError::Damaged(_))));
        // Keys of a later minor change are left out.
        let more = r#"{"stepscope_summary": 1, "export": {"host": "a", "new": 1}}"#;
        assert_eq!(read(&packed(more)).unwrap().host.as_deref(), Some("a"));
    }
}
