//! Opens what hides the lane of a hit that is gone to: its rank or process, the group of its thread, rows cut off.

use super::cache::Cache;
use super::lanes::RowsKey;
use super::layout::Layout;
use super::overlay;
use crate::view::{Command, Item, LaneKey, ViewState, Workspace};

/// The lanes to open for the hit that was gone to since the frame before. Opening one may show another that is to be
/// opened, so that is looked at again until the hit's row is there or nothing is left to open.
pub(super) fn lanes(workspace: &Workspace, state: &ViewState, cache: &mut Cache, layout: &Layout) -> Vec<Command> {
    if cache.unfolds == state.search.unfolds {
        return Vec::new();
    }
    let Some(item) = state.selected else { return Vec::new() };
    let is_shown = |lane| overlay::row_of(workspace, cache, lane, item).is_some();
    if layout.lanes.iter().any(is_shown) {
        cache.unfolds = state.search.unfolds;
        return Vec::new();
    }
    let hides = |key: LaneKey| hides(workspace, cache, key, item);
    let closed = layout.lanes.iter().filter(|lane| lane.expanded == Some(false)).map(|lane| lane.key);
    let open: Vec<Command> = closed.filter(|key| hides(*key)).map(Command::ToggleLane).collect();
    if open.is_empty() {
        cache.unfolds = state.search.unfolds;
    } else {
        // The row is there in the next frame, and scrolled to then.
        cache.sight.look_again(state);
    }
    open
}

/// Whether `item` stands below lane `key`, or on a row of it that is cut off.
fn hides(workspace: &Workspace, cache: &Cache, key: LaneKey, item: Item) -> bool {
    let process = |thread: usize| {
        let doc = workspace.docs.get(item.doc());
        doc.and_then(|doc| doc.trace.threads.get(thread)).map(|thread| thread.process)
    };
    let (doc, of, thread) = match item {
        Item::Call(doc, of, call) => {
            let trace = workspace.docs.get(doc).map(|doc| &doc.trace);
            (doc, Some(of), trace.and_then(|trace| trace.thread_of_call(of, call)))
        }
        Item::Nvtx(doc, thread, _) | Item::Mark(doc, thread, _) | Item::Os(doc, thread, _) => {
            (doc, process(thread), Some(thread))
        }
        // In a rank that is closed its kernels are drawn on slim lanes; its copies are not.
        Item::Op(rank, _) => return key == LaneKey::Rank(rank),
        Item::Projected(..) | Item::Idle(..) | Item::Step(..) => return false,
    };
    match key {
        LaneKey::Rank(rank) => workspace.rank(rank).is_some_and(|(_, own)| rank.doc == doc && Some(own.process) == of),
        LaneKey::Process(d, p) => (d, Some(p)) == (doc, of),
        LaneKey::OsRuntime(d, p) => (d, Some(p)) == (doc, of) && matches!(item, Item::Os(..)),
        LaneKey::OtherNvtx(d, p) => (d, Some(p)) == (doc, of) && matches!(item, Item::Nvtx(..) | Item::Mark(..)),
        LaneKey::Nvtx(d, t) | LaneKey::Os(d, t) | LaneKey::Api(d, t) => {
            (d, Some(t)) == (doc, thread) && cache.rows(RowsKey::Lane(key)).is_some_and(|rows| rows.rows.len() > 1)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::timeline::testing::{Window, training};
    use crate::view::search::{Hits, Query};
    use crate::view::{Command, Item, LaneKey};
    use egui::vec2;
    use std::sync::Arc;

    /// A low window in which the first hit of `text` was gone to.
    fn gone_to(text: &str) -> Window {
        let mut window = Window::new(training(), vec2(900.0, 200.0));
        let query = Query { text: text.to_owned(), ..Query::default() };
        let hits = Hits::find(&query, window.workspace.docs.clone(), &|| false).unwrap().unwrap();
        let Window { state, workspace, .. } = &mut window;
        for command in [Command::OpenSearch, Command::SetQuery(query)] {
            state.apply(&command, workspace);
        }
        state.take_hits(Arc::new(hits), workspace);
        window.act(Vec::new());
        window.state.apply(&Command::NextHit, &window.workspace);
        for _ in 0..4 {
            window.act(Vec::new());
        }
        window
    }

    #[test]
    fn the_group_of_a_hits_thread_opens_and_is_scrolled_to() {
        let mut window = gone_to("poll");
        assert!(matches!(window.state.selected, Some(Item::Os(0, _, 0))));
        let opened: Vec<&LaneKey> = window.state.toggled.iter().collect();
        assert_eq!(opened, [&LaneKey::OsRuntime(0, 0)]);
        let place = window.place(window.state.selected.unwrap()).unwrap();
        assert!(window.state.scroll_y_pt > 0.0 && (24.0..200.0).contains(&place.y), "{place}");
        // Closed again by hand, it stays closed.
        window.state.apply(&Command::ToggleLane(LaneKey::OsRuntime(0, 0)), &window.workspace);
        assert!(window.act(Vec::new()).iter().all(|command| !matches!(command, Command::ToggleLane(_))));
    }

    #[test]
    fn a_lane_that_is_there_opens_nothing() {
        let mut window = gone_to("sgemm_128");
        assert!(window.state.toggled.is_empty());
        let place = window.place(window.state.selected.unwrap()).unwrap();
        assert!((24.0..200.0).contains(&place.y), "{place}");
    }
}
