//! What of a view can be kept: as the last view of a file, in a session, in a link.
//!
//! Times are in axis time, which the same files in the same order give again.

use super::{LaneKey, Panel, RankId, ViewState, Viewport, Workspace};
use crate::units::Span;
use serde::{Deserialize, Serialize};

/// What part of the axis is on screen, what is selected, and what stands beside it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SavedView {
    /// First nanosecond on screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<f64>,
    /// Nanoseconds on screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub len_ns: Option<f64>,
    /// First nanosecond of the selected span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_start_ns: Option<i64>,
    /// First nanosecond after the selected span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_end_ns: Option<i64>,
    /// File of the rank that the side panel speaks about, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<usize>,
    /// That rank within its file, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Tab of the side panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Panel>,
}

impl SavedView {
    /// What `state` shows.
    pub fn of(state: &ViewState) -> Self {
        Self {
            start_ns: Some(state.viewport.start_ns),
            len_ns: Some(state.viewport.len_ns),
            selection_start_ns: state.selected_span.map(|span| span.start_ns),
            selection_end_ns: state.selected_span.map(|span| span.end_ns),
            file: state.rank.map(|rank| rank.doc),
            rank: state.rank.map(|rank| rank.rank),
            panel: Some(state.panel),
        }
    }

    /// Shows it again, as far as `workspace` has what it names; what is not said stays.
    pub fn restore(&self, state: &mut ViewState, workspace: &Workspace) {
        if let (Some(start_ns), Some(len_ns)) = (self.start_ns, self.len_ns) {
            state.viewport = Viewport { start_ns, len_ns }.clamped(workspace.span().unwrap_or_default());
        }
        if let Some(span) = self.selection() {
            state.selected_span = Some(span);
        }
        let rank = self.rank.map(|rank| RankId { doc: self.file.unwrap_or(0), rank });
        if let Some(rank) = rank.filter(|rank| workspace.rank(*rank).is_some()) {
            state.rank = Some(rank);
        }
        state.panel = self.panel.unwrap_or(state.panel);
    }

    /// The selected span, when it has a length.
    pub fn selection(&self) -> Option<Span> {
        let span = Span::new(self.selection_start_ns?, self.selection_end_ns?);
        (!span.is_empty()).then_some(span)
    }

    /// The same view of an axis whose times are `by_ns` later.
    #[must_use]
    pub fn shifted(&self, by_ns: i64) -> Self {
        Self {
            start_ns: self.start_ns.map(|start_ns| start_ns + by_ns as f64),
            selection_start_ns: self.selection_start_ns.map(|ns| ns.saturating_add(by_ns)),
            selection_end_ns: self.selection_end_ns.map(|ns| ns.saturating_add(by_ns)),
            ..self.clone()
        }
    }
}

/// Lanes of document `doc` whose usual expansion the user reversed, as text, in order.
pub fn lanes_of(state: &ViewState, doc: usize) -> Vec<String> {
    let own = state.toggled.iter().filter(|lane| lane.doc() == doc);
    let mut lanes: Vec<String> = own.map(|lane| lane.to_text()).collect();
    lanes.sort_unstable();
    lanes
}

/// Reverses the expansion of these lanes of document `doc`; text that names no lane is left out.
pub fn restore_lanes(state: &mut ViewState, doc: usize, lanes: &[String]) {
    state.toggled.extend(lanes.iter().filter_map(|lane| LaneKey::from_text(doc, lane)));
}
