//! Captures in a folder: exports, summaries, and which belong together by their names.

use super::ExportSummary;
use super::file::{ENDING, is_named};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Captures of one folder that are listed; more are counted only.
pub const MOST_LISTED: usize = 4096;
/// Endings of exports, without the dot.
const EXPORTS: [&str; 3] = ["sqlite", "sqlite3", "db"];

/// An export, its summary, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// The export.
    pub export: Option<PathBuf>,
    /// The summary.
    pub summary: Option<PathBuf>,
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Captures in the order of the numbers in their names, at most [`MOST_LISTED`].
    pub captures: Vec<Capture>,
    /// Captures beyond that.
    pub left_out: usize,
}

/// True when `path` is named like an export.
pub fn is_export(path: &Path) -> bool {
    path.extension().is_some_and(|own| EXPORTS.iter().any(|ending| own.eq_ignore_ascii_case(ending)))
}

/// Lists the exports and summaries that lie in `folder` itself. Files of one name are one capture; entries that cannot
/// be looked at are no captures.
///
/// # Errors
/// When the folder cannot be read.
pub fn list(folder: &Path) -> std::io::Result<Listing> {
    let mut found: BTreeMap<(Vec<Piece>, String), Capture> = BTreeMap::new();
    let mut summaries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let Ok(path) = entry.map(|entry| entry.path()) else { continue };
        if !(is_named(&path) || is_export(&path)) || !path.is_file() {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if is_named(&path) {
            summaries.push((pieces(&name), path));
        } else {
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            found.insert((pieces(&name), ending), Capture { export: Some(path), summary: None });
        }
    }
    for (name, path) in summaries {
        let mut named_so =
            found.range_mut((name.clone(), String::new())..).take_while(|((other, _), _)| *other == name);
        match named_so.find(|(_, capture)| capture.summary.is_none()) {
            Some((_, capture)) => capture.summary = Some(path),
            None => {
                let own = Capture { export: None, summary: Some(path) };
                drop(found.insert((name, ENDING.to_owned()), own));
            }
        }
    }
    let left_out = found.len().saturating_sub(MOST_LISTED);
    Ok(Listing { captures: found.into_values().take(MOST_LISTED).collect(), left_out })
}

/// The exports and summaries in a folder, in the order of the numbers in their names. Of an export and a summary of one
/// name only the summary counts, unless the export is newer.
///
/// # Errors
/// When the folder cannot be read.
pub fn captures_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    Ok(list(folder)?.captures.into_iter().filter_map(Capture::newer).collect())
}

impl Capture {
    /// The summary, unless the export is newer.
    fn newer(self) -> Option<PathBuf> {
        let changed = |path: &PathBuf| path.metadata().and_then(|facts| facts.modified()).ok();
        match (self.export, self.summary) {
            (Some(export), Some(summary)) => Some(if changed(&summary) >= changed(&export) { summary } else { export }),
            (export, summary) => summary.or(export),
        }
    }
}

/// The export that the summary at `path` was made of: beside it under its name, else where it was when it was
/// summarized.
pub fn export_of(summary: &ExportSummary, path: &Path) -> Option<PathBuf> {
    let beside = summary.file.file_name().map(|name| path.with_file_name(name));
    beside.into_iter().chain([summary.file.clone()]).find(|export| export.is_file())
}

impl ExportSummary {
    /// True when `other` was made of the same capture: files of one name, of one host, that began at the same time.
    pub fn is_of_same_run(&self, other: &Self) -> bool {
        self.file.file_name() == other.file.file_name()
            && self.host == other.host
            && self.epoch_ns == other.epoch_ns
            && self.span == other.span
    }
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

    fn folder_of(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), name).unwrap());
        folder
    }

    fn name(path: Option<&PathBuf>) -> &str {
        path.and_then(|path| path.file_name()?.to_str()).unwrap_or("-")
    }

    #[test]
    fn files_of_one_name_are_one_capture_in_the_order_of_numbers() {
        let folder = folder_of(&[
            "rank10.sqlite",
            "rank9.sqlite",
            "rank9.summary",
            "notes.txt",
            "rank2.summary",
            "rank2.sqlite-wal",
            "a.db",
        ]);
        // Folders are no captures, whatever they are called.
        std::fs::create_dir(folder.path().join("rank3.sqlite")).unwrap();
        let listing = list(folder.path()).unwrap();
        let found: Vec<_> =
            listing.captures.iter().map(|c| (name(c.export.as_ref()), name(c.summary.as_ref()))).collect();
        let expected =
            [("a.db", "-"), ("-", "rank2.summary"), ("rank9.sqlite", "rank9.summary"), ("rank10.sqlite", "-")];
        assert_eq!((&found[..], listing.left_out), (&expected[..], 0));
        let one_each = captures_in(folder.path()).unwrap();
        assert_eq!(
            (one_each.len(), name(one_each.get(1)), name(one_each.get(3))),
            (4, "rank2.summary", "rank10.sqlite")
        );
        assert!(name(one_each.get(2)).starts_with("rank9."));
    }

    #[test]
    fn a_list_is_bounded_and_says_how_many_it_leaves_out() {
        let folder = tempfile::tempdir().unwrap();
        (0..MOST_LISTED + 3).for_each(|at| drop(std::fs::File::create(folder.path().join(format!("r{at}.summary")))));
        let listing = list(folder.path()).unwrap();
        assert_eq!((listing.captures.len(), listing.left_out), (MOST_LISTED, 3));
        assert_eq!(name(listing.captures.last().unwrap().summary.as_ref()), "r4095.summary");
    }

    #[test]
    fn an_export_is_found_beside_its_summary_before_where_it_was() {
        let (here, there) = (folder_of(&["rank1.sqlite"]), folder_of(&["rank1.sqlite", "rank2.sqlite"]));
        let of = |file: &str| ExportSummary { file: there.path().join(file), ..ExportSummary::default() };
        let summary = here.path().join("r.summary");
        assert_eq!(export_of(&of("rank1.sqlite"), &summary), Some(here.path().join("rank1.sqlite")));
        assert_eq!(export_of(&of("rank2.sqlite"), &summary), Some(there.path().join("rank2.sqlite")));
        assert_eq!(export_of(&of("rank3.sqlite"), &summary), None);
    }
}
