//! How the files that were open last were looked at, so that they open as they were left.
//!
//! A file is known by its fingerprint, wherever it lies.

use super::fingerprint::fingerprint;
use super::state::given;
use crate::view::{SavedView, ViewState, Workspace, lanes_of, restore_lanes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Files remembered; those that were not opened for longest are forgotten first.
pub const MOST_FILES: usize = 200;
/// Version of the form that views are kept in.
pub const VERSION: u64 = 1;

/// How a file was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastView {
    /// What the file is known by.
    pub file: String,
    /// The view; its times count from the file's first event.
    pub view: SavedView,
    /// Lanes that were expanded or collapsed.
    #[serde(default)]
    pub lanes: Vec<String>,
    /// Labels that the user gave to its ranks, by the rank's place in the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<usize, String>,
}

/// How the files that were open last were looked at, newest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LastViews(Vec<LastView>);

impl LastViews {
    /// Views from text; those that cannot be understood are left out. `None` when the text holds no views at all.
    pub fn from_text(text: &str) -> Option<Self> {
        let stored: serde_json::Value = serde_json::from_str(text).ok()?;
        let version = stored.get("version")?.as_u64()?;
        let views = stored.get("views")?.as_array().filter(|_| version == VERSION)?;
        let views = views.iter().filter_map(|view| serde_json::from_value(view.clone()).ok()).take(MOST_FILES);
        Some(Self(views.collect()))
    }

    /// The views as text for [`LastViews::from_text`].
    pub fn to_text(&self) -> String {
        serde_json::json!({ "version": VERSION, "views": self.0 }).to_string()
    }

    /// Files remembered.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when no file is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Remembers how every open file is looked at.
    pub fn note(&mut self, workspace: &Workspace, state: &ViewState) {
        for (at, doc) in workspace.docs.iter().enumerate().rev() {
            let file = fingerprint(&doc.trace);
            let own_rank = state.rank.filter(|rank| rank.doc == at).map(|rank| rank.rank);
            let view = SavedView { file: None, rank: own_rank, ..SavedView::of(state) };
            let view = view.shifted(first_event_ns(workspace, at).saturating_neg());
            self.0.retain(|known| known.file != file);
            self.0.insert(0, LastView { file, view, lanes: lanes_of(state, at), labels: given(doc) });
        }
        self.0.truncate(MOST_FILES);
    }

    /// Labels that the user gave to ranks of a file.
    pub fn labels(&self, file: &str) -> Option<&BTreeMap<usize, String>> {
        self.0.iter().find(|known| known.file == file).map(|known| &known.labels)
    }

    /// Forgets the open files.
    pub fn forget(&mut self, workspace: &Workspace) {
        let open: Vec<String> = workspace.docs.iter().map(|doc| fingerprint(&doc.trace)).collect();
        self.0.retain(|known| !open.contains(&known.file));
    }

    /// Shows the open files as they were left: the view of the first one that is remembered, the lanes of all. False
    /// when none is remembered.
    pub fn restore(&self, workspace: &Workspace, state: &mut ViewState) -> bool {
        let mut restored = false;
        for (at, doc) in workspace.docs.iter().enumerate() {
            let file = fingerprint(&doc.trace);
            let Some(known) = self.0.iter().find(|known| known.file == file) else { continue };
            restore_lanes(state, at, &known.lanes);
            if !restored {
                let view = SavedView { file: Some(at), ..known.view.shifted(first_event_ns(workspace, at)) };
                view.restore(state, workspace);
            }
            restored = true;
        }
        restored
    }
}

/// Axis time of the first event of a file.
fn first_event_ns(workspace: &Workspace, doc: usize) -> i64 {
    let doc = workspace.docs.get(doc);
    doc.map_or(0, |doc| doc.trace.span.map_or(0, |span| doc.axis_span(span).start_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::units::Span;
    use crate::view::{Command, LaneKey, Panel, RankId};
    use std::sync::Arc;

    fn workspace(names: &[&str]) -> Workspace {
        Workspace::new(names.iter().enumerate().map(|(at, name)| {
            let mut trace = Fixture::new().kernel("gemm", 7, 100, 1_000_100).build();
            trace.source.path = (*name).into();
            // Captures that overlap, each a little later than the one before.
            trace.source.utc_epoch_ns = Some(1_000 * at as i64);
            let analysis = analyze(&trace, &Params::default());
            (Arc::new(trace), Arc::new(analysis))
        }))
    }

    #[test]
    fn a_file_opens_as_it_was_left_wherever_it_lies_and_whatever_is_open_beside_it() {
        let alone = workspace(&["/a/rank1.sqlite"]);
        let mut left = ViewState::open(&alone);
        let rank = RankId { doc: 0, rank: 0 };
        let commands = [
            Command::Show(Span::new(1_000, 51_000)),
            Command::SelectSpan(Some(Span::new(2_000, 3_000))),
            Command::ToggleLane(LaneKey::Compute(rank)),
            Command::ShowPanel(Panel::Kernels),
        ];
        for command in &commands {
            left.apply(command, &alone);
        }
        let mut views = LastViews::default();
        views.note(&alone, &left);
        let views = LastViews::from_text(&views.to_text()).unwrap();
        let again = workspace(&["/b/rank1.sqlite"]);
        let mut found = ViewState::open(&again);
        assert!(views.restore(&again, &mut found));
        assert_eq!((found.viewport, found.selected_span, found.panel), (left.viewport, left.selected_span, left.panel));
        assert_eq!(found.toggled, left.toggled);
        let mut other = workspace(&["/b/rank1.sqlite"]);
        Arc::get_mut(&mut other.docs[0].trace).unwrap().source.bytes += 1;
        assert!(!views.restore(&other, &mut ViewState::open(&other)), "another size is another file");
    }

    #[test]
    fn times_count_from_the_files_own_first_event() {
        let both = workspace(&["/a/rank0.sqlite", "/a/rank1.sqlite"]);
        assert_eq!(first_event_ns(&both, 1), 1_000);
        let mut left = ViewState::open(&both);
        left.apply(&Command::Show(Span::new(5_000, 55_000)), &both);
        let mut views = LastViews::default();
        views.note(&both, &left);
        views.0.retain(|known| known.file.starts_with("rank1.sqlite|"));
        let mut second = workspace(&["/a/rank0.sqlite", "/a/rank1.sqlite"]);
        second.docs.remove(0);
        second.docs[0].map = crate::job::ClockMap::shift(-100);
        let mut found = ViewState::open(&second);
        assert!(views.restore(&second, &mut found));
        assert_eq!(found.viewport.start_ns, 4_000.0);
    }

    #[test]
    fn the_oldest_files_are_forgotten_first_and_open_ones_when_asked() {
        let mut views = LastViews::default();
        for at in 0..MOST_FILES + 5 {
            let workspace = workspace(&[&format!("{at}.sqlite")]);
            views.note(&workspace, &ViewState::open(&workspace));
        }
        assert_eq!(views.len(), MOST_FILES);
        let (first, last) = (workspace(&["4.sqlite"]), workspace(&["5.sqlite"]));
        assert!(!views.restore(&first, &mut ViewState::open(&first)));
        assert!(views.restore(&last, &mut ViewState::open(&last)));
        views.forget(&last);
        assert!(!views.restore(&last, &mut ViewState::open(&last)));
    }

    #[test]
    fn views_that_are_not_understood_are_left_out_and_other_text_is_none() {
        let text = r#"{"version":1,"views":[{"file":7},{"file":"a","view":{}}]}"#;
        assert_eq!(LastViews::from_text(text).unwrap().len(), 1);
        for other in ["", "[]", r#"{"version":2,"views":[]}"#, r#"{"views":[]}"#] {
            assert_eq!(LastViews::from_text(other), None, "{other}");
        }
    }
}
