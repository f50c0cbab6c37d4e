//! The bookmarks of all files that ever had any, each file known by what it holds and not by where it lies.

use super::fingerprint::fingerprint;
use crate::view::bookmark::{MOST, NOTE_CHARS};
use crate::view::{Bookmark, Workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Files whose bookmarks are kept.
const FILES: usize = 1_000;

/// Bookmarks by fingerprint of their file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bookmarks(BTreeMap<String, Vec<Bookmark>>);

impl Bookmarks {
    /// Reads what [`Bookmarks::to_text`] wrote; `None` of a text that cannot be read.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut all: Self = serde_json::from_str(text).ok()?;
        for marks in all.0.values_mut() {
            marks.truncate(MOST);
            for mark in marks {
                mark.note = mark.note.chars().take(NOTE_CHARS).collect();
            }
        }
        Some(all)
    }

    /// As indented text, so that it can be read without this program.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The bookmarks of what is open, in order of time.
    pub fn of(&self, workspace: &Workspace) -> Vec<Bookmark> {
        let docs = workspace.docs.iter().enumerate();
        let stored = docs.filter_map(|(doc, open)| Some((doc, self.0.get(&fingerprint(&open.trace))?)));
        let placed = stored.flat_map(|(doc, marks)| marks.iter().map(move |mark| Bookmark { doc, ..mark.clone() }));
        let mut marks: Vec<Bookmark> = placed.collect();
        marks.sort_by_key(|mark| mark.at_ns(workspace));
        marks
    }

    /// Puts `marks` in place of what was known of the open files.
    pub fn take_over(&mut self, workspace: &Workspace, marks: &[Bookmark]) {
        for (doc, open) in workspace.docs.iter().enumerate() {
            let own: Vec<Bookmark> =
                marks.iter().filter(|mark| mark.doc == doc).map(|mark| Bookmark { doc: 0, ..mark.clone() }).collect();
            let key = fingerprint(&open.trace);
            if own.is_empty() {
                self.0.remove(&key);
            } else if self.0.contains_key(&key) || self.0.len() < FILES {
                self.0.insert(key, own);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::units::Span;
    use std::sync::Arc;

    fn workspace(names: &[&str]) -> Workspace {
        Workspace::new(names.iter().map(|name| {
            let mut trace = Fixture::new().kernel("gemm", 7, 0, 1_000).build();
            trace.source.path = format!("/somewhere/{name}").into();
            let analysis = analyze(&trace, &Params::default());
            (Arc::new(trace), Arc::new(analysis))
        }))
    }

    fn mark(doc: usize, start_ns: i64) -> Bookmark {
        Bookmark { doc, note: "slow".to_owned(), view: Span::new(start_ns, start_ns + 10), target: None, rank: 0 }
    }

    #[test]
    fn bookmarks_follow_their_file_wherever_it_is_opened() {
        let mut all = Bookmarks::default();
        let both = workspace(&["a.sqlite", "b.sqlite"]);
        all.take_over(&both, &[mark(1, 500), mark(0, 20)]);
        let read = Bookmarks::from_text(&all.to_text()).unwrap();
        assert_eq!(read, all);
        assert_eq!(read.of(&workspace(&["b.sqlite"])), [mark(0, 500)]);
        assert_eq!(read.of(&both), [mark(0, 20), mark(1, 500)]);
        assert_eq!(read.of(&workspace(&["c.sqlite"])), []);
        all.take_over(&workspace(&["b.sqlite"]), &[]);
        assert_eq!(all.of(&both), [mark(0, 20)], "those of files that are not open stay");
    }

    #[test]
    fn a_damaged_text_is_no_bookmark_and_long_notes_are_cut() {
        assert_eq!(Bookmarks::from_text("no json"), None);
        assert_eq!(Bookmarks::from_text("{\"a\": 7}"), None);
        let mut all = Bookmarks::default();
        let open = workspace(&["a.sqlite"]);
        all.take_over(&open, &[Bookmark { note: "x".repeat(5_000), ..mark(0, 0) }]);
        assert_eq!(Bookmarks::from_text(&all.to_text()).unwrap().of(&open)[0].note.len(), NOTE_CHARS);
    }
}
