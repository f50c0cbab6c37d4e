//! What files are called: by their name, and where several have one name by the part of the path that tells them apart.

use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// What each of `paths` is called: its name without ending, behind the nearest folder that tells files of one name apart
/// (`before/rank0`; `before/\u{2026}/rank0` when that folder is not the file's own). Files of one path are called alike.
pub(super) fn of<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let paths: Vec<&Path> = paths.collect();
    let mut names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let mut alike: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, name) in names.iter().enumerate() {
        alike.entry(name.clone()).or_default().push(at);
    }
    for group in alike.into_values().filter(|group| group.len() > 1) {
        let of_group: Vec<&Path> = group.iter().filter_map(|at| paths.get(*at).copied()).collect();
        for (at, name) in group.into_iter().zip(apart(&of_group)) {
            if let Some(slot) = names.get_mut(at) {
                *slot = name;
            }
        }
    }
    names
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Files of one name with the nearest folder that tells the most of them apart.
fn apart(paths: &[&Path]) -> Vec<String> {
    let mut best: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let mut told = 1;
    let depth = paths.iter().map(|path| path.components().count()).max().unwrap_or(0);
    for level in 1..depth {
        let names: Vec<String> = paths.iter().map(|path| within(path, level)).collect();
        let distinct = names.iter().collect::<BTreeSet<_>>().len();
        if distinct > told {
            (best, told) = (names, distinct);
        }
    }
    best
}

/// A file's name behind the folder so many levels above it; alone when there is none.
fn within(path: &Path, level: usize) -> String {
    let folder = path.components().rev().nth(level).and_then(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    match (folder, level) {
        (None, _) => stem(path),
        (Some(folder), 1) => format!("{folder}/{}", stem(path)),
        (Some(folder), _) => format!("{folder}/\u{2026}/{}", stem(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(paths: &[&str]) -> Vec<String> {
        of(paths.iter().map(Path::new))
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_the_nearest_folder_that_does() {
        assert_eq!(called(&["/a/rank0.sqlite", "/b/rank1.summary"]), ["rank0", "rank1"]);
        assert_eq!(called(&["/x/a/rank0.db", "b/rank0.db", "b/rank1.db"]), ["a/rank0", "b/rank0", "rank1"]);
        assert_eq!(called(&["/a/job/rank0.db", "/b/job/rank0.db"]), ["a/\u{2026}/rank0", "b/\u{2026}/rank0"]);
        assert_eq!(called(&["rank0.db", "b/rank0.db"]), ["rank0", "b/rank0"]);
        assert_eq!(called(&["a/rank0.db", "a/rank0.db"]), ["rank0", "rank0"]);
    }
}
