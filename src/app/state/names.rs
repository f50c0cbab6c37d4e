//! One path for a file however it was named, and names of files for titles and lists.

use std::path::{Path, PathBuf};

/// One path per file, however it was named.
pub(in crate::app) fn real(path: &Path) -> PathBuf {
    let found = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    found.unwrap_or_else(|_| path.to_owned())
}

/// The name of a file for titles and lists.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Names for a list of files: those that several have in common come with their folder.
pub fn recent_names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let named = names.iter().zip(paths).map(|(name, path)| match path.parent().filter(|_| shared(name)) {
        Some(folder) => format!("{name}  ({})", folder.display()),
        None => name.clone(),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_told_apart_by_their_folders() {
        let paths = ["/a/rank0.sqlite", "/b/rank0.sqlite", "/b/rank1.sqlite"].map(PathBuf::from);
        assert_eq!(recent_names(&paths), ["rank0.sqlite  (/a)", "rank0.sqlite  (/b)", "rank1.sqlite"]);
    }
}
