//! Places that the user marked, with a note.

use super::{Item, RankId, ViewState, Viewport, Workspace};
use crate::units::Span;
use serde::{Deserialize, Serialize};

/// Characters of a note that are kept.
pub const NOTE_CHARS: usize = 400;
/// Bookmarks of one document, at most.
pub const MOST: usize = 500;

/// A marked place. Times are those of the document's file, so that they hold whatever it is opened beside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bookmark {
    /// Index of its document; not stored, since it is another one each time.
    #[serde(skip)]
    pub doc: usize,
    /// What the user wrote; may be empty.
    #[serde(default)]
    pub note: String,
    /// What was on screen.
    pub view: Span,
    /// The selected item with its span, or the selected span; `None` for a view.
    #[serde(default)]
    pub target: Option<Target>,
    /// The chosen rank, as an index into the document's ranks.
    #[serde(default)]
    pub rank: usize,
}

/// What a bookmark points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Where in time.
    pub span: Span,
    /// The item, stored as one of document 0.
    #[serde(default)]
    pub item: Option<Item>,
}

impl Item {
    /// The same item of document `doc`.
    #[must_use]
    pub const fn in_doc(self, doc: usize) -> Self {
        match self {
            Self::Op(RankId { rank, .. }, at) => Self::Op(RankId { doc, rank }, at),
            Self::Projected(RankId { rank, .. }, by, at) => Self::Projected(RankId { doc, rank }, by, at),
            Self::Idle(RankId { rank, .. }, at) => Self::Idle(RankId { doc, rank }, at),
            Self::Step(RankId { rank, .. }, at) => Self::Step(RankId { doc, rank }, at),
            Self::Call(_, process, at) => Self::Call(doc, process, at),
            Self::Nvtx(_, thread, at) => Self::Nvtx(doc, thread, at),
            Self::Mark(_, thread, at) => Self::Mark(doc, thread, at),
            Self::Os(_, thread, at) => Self::Os(doc, thread, at),
        }
    }
}

impl Bookmark {
    /// The item it points at, when the document holds it where it was.
    pub fn item(&self, workspace: &Workspace) -> Option<Item> {
        let target = self.target?;
        let item = target.item?.in_doc(self.doc);
        let doc = workspace.docs.get(self.doc)?;
        (item.span(workspace)? == doc.axis_span(target.span)).then_some(item)
    }

    /// Where its flag stands, in axis time: where its target begins, or in the middle of its view.
    pub fn at_ns(&self, workspace: &Workspace) -> i64 {
        let middle_ns = self.view.start_ns.saturating_add(self.view.len_ns() / 2);
        let own_ns = self.target.map_or(middle_ns, |target| target.span.start_ns);
        workspace.docs.get(self.doc).map_or(own_ns, |doc| doc.axis_ns(own_ns))
    }
}

impl ViewState {
    /// Marks what is selected, else the view, and asks for its note.
    pub(super) fn add_bookmark(&mut self, workspace: &Workspace) {
        let doc = self.selected.map(Item::doc).or(self.rank.map(|rank| rank.doc)).unwrap_or(0);
        let Some(open) = workspace.docs.get(doc) else { return };
        let own = |span: Span| open.own_span(span);
        let item = self.selected.and_then(|item| Some((item, item.span(workspace)?)));
        let target = match item {
            Some((item, span)) => Some(Target { span: own(span), item: Some(item.in_doc(0)) }),
            None => self.selected_span.map(|span| Target { span: own(span), item: None }),
        };
        let rank = self.rank.filter(|rank| rank.doc == doc).map_or(0, |rank| rank.rank);
        let mark = Bookmark { doc, note: String::new(), view: own(self.viewport.span()), target, rank };
        let same = |known: &Bookmark| {
            (known.doc, known.target) == (doc, target) && (target.is_some() || known.view == mark.view)
        };
        // The same thing is marked once; asked for again, its note is to be written.
        if let Some(known) = self.bookmarks.iter().position(same) {
            self.noted = Some(known);
            return;
        }
        if self.bookmarks.iter().filter(|known| known.doc == doc).count() >= MOST {
            return;
        }
        let at_ns = mark.at_ns(workspace);
        let place = self.bookmarks.partition_point(|known| known.at_ns(workspace) <= at_ns);
        self.bookmarks.insert(place, mark);
        self.noted = Some(place);
    }

    /// Shows bookmark `at` and selects what it points at.
    pub(super) fn go_to_bookmark(&mut self, at: usize, workspace: &Workspace) {
        let Some(mark) = self.bookmarks.get(at) else { return };
        let Some(doc) = workspace.docs.get(mark.doc) else { return };
        let (view, rank) = (doc.axis_span(mark.view), RankId { doc: mark.doc, rank: mark.rank });
        let span = mark.target.map(|target| doc.axis_span(target.span));
        self.selected = mark.item(workspace);
        self.selected_span = span.filter(|span| self.selected.is_none() && !span.is_empty());
        self.reveals = self.reveals.wrapping_add(1);
        if workspace.rank(rank).is_some() {
            self.rank = Some(rank);
        }
        self.go(Viewport::of(view), super::Move::Jump, workspace);
    }

    /// Writes the note of bookmark `at`.
    pub(super) fn note_bookmark(&mut self, at: usize, note: &str) {
        if let Some(mark) = self.bookmarks.get_mut(at) {
            mark.note = note.trim().chars().take(NOTE_CHARS).collect();
        }
        self.noted = None;
    }

    /// Forgets bookmark `at`.
    pub(super) fn delete_bookmark(&mut self, at: usize) {
        if at < self.bookmarks.len() {
            self.bookmarks.remove(at);
        }
        self.noted = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::view::Command;
    use std::sync::Arc;

    fn workspace(docs: usize) -> Workspace {
        Workspace::new((0..docs).map(|doc| {
            let mut fixture = Fixture::new();
            for at in 0..10 {
                fixture.kernel("gemm", 7, 700 * doc as i64 + at * 1_000, 700 * doc as i64 + at * 1_000 + 400);
            }
            let trace = fixture.build();
            let analysis = analyze(&trace, &Params::default());
            (Arc::new(trace), Arc::new(analysis))
        }))
    }

    fn apply(state: &mut ViewState, workspace: &Workspace, commands: &[Command]) {
        for command in commands {
            assert!(state.apply(command, workspace), "{command:?}");
        }
    }

    #[test]
    fn a_bookmark_brings_back_the_item_the_span_or_the_view() {
        let workspace = workspace(2);
        let mut state = ViewState::open(&workspace);
        let item = Item::Op(RankId { doc: 1, rank: 0 }, 4);
        let span = Span::new(100, 900);
        apply(&mut state, &workspace, &[Command::Reveal(item), Command::AddBookmark]);
        apply(
            &mut state,
            &workspace,
            &[Command::SelectSpan(Some(span)), Command::Show(Span::new(0, 2_000)), Command::AddBookmark],
        );
        apply(
            &mut state,
            &workspace,
            &[Command::SelectSpan(None), Command::Show(Span::new(6_000, 8_000)), Command::AddBookmark],
        );
        assert_eq!(state.noted, Some(2), "its note is asked for");
        apply(&mut state, &workspace, &[Command::NoteBookmark(2, "  the view ".to_owned()), Command::ShowAll]);
        assert_eq!((state.bookmarks[2].note.as_str(), state.noted), ("the view", None));
        apply(&mut state, &workspace, &[Command::GoToBookmark(0)]);
        assert_eq!((state.selected, state.selected_span), (None, Some(span)));
        assert_eq!(state.viewport.span(), Span::new(0, 2_000));
        apply(&mut state, &workspace, &[Command::GoToBookmark(1)]);
        assert_eq!((state.selected, state.selected_span), (Some(item), None));
        apply(&mut state, &workspace, &[Command::GoToBookmark(2)]);
        assert_eq!((state.selected, state.viewport.span()), (None, Span::new(6_000, 8_000)));
        apply(&mut state, &workspace, &[Command::DeleteBookmark(0), Command::DeleteBookmark(9)]);
        assert_eq!(state.bookmarks.len(), 2);
    }

    #[test]
    fn the_same_thing_is_marked_once() {
        let workspace = workspace(1);
        let mut state = ViewState::open(&workspace);
        let item = Item::Op(RankId { doc: 0, rank: 0 }, 4);
        apply(
            &mut state,
            &workspace,
            &[Command::Reveal(item), Command::AddBookmark, Command::PanBy(0.1), Command::AddBookmark],
        );
        assert_eq!((state.bookmarks.len(), state.noted), (1, Some(0)));
    }

    #[test]
    fn a_stored_item_that_is_not_where_it_was_is_not_selected() {
        let workspace = workspace(1);
        let item = Item::Op(RankId { doc: 0, rank: 0 }, 4);
        let mut mark = Bookmark {
            doc: 0,
            note: String::new(),
            view: Span::new(0, 10),
            target: Some(Target { span: Span::new(4_000, 4_400), item: Some(item) }),
            rank: 0,
        };
        assert_eq!(mark.item(&workspace), Some(item));
        mark.target = Some(Target { span: Span::new(4_000, 4_401), item: Some(item) });
        assert_eq!(mark.item(&workspace), None);
        let text = serde_json::to_string(&mark).unwrap();
        assert_eq!(serde_json::from_str::<Bookmark>(&text).unwrap(), mark);
    }
}
