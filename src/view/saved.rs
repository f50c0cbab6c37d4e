//! What of a view can be kept: as the last view of a file, in a session, in a link.
//!
//! Times are in axis time, which the same files in the same order give again.

use super::{Compare, CompareForm, LANE_SCALE, LaneKey, PaneLink, Panel, RankId, ViewState, Viewport, Workspace};
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
    /// Two ranks beside each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<SavedCompare>,
}

/// Two ranks beside each other, as far as that can be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCompare {
    /// File and rank within it of both, counted from 0.
    pub ranks: [[usize; 2]; 2],
    /// How they stand.
    pub form: CompareForm,
    /// What keeps the panes together.
    pub link: PaneLink,
    /// First nanosecond that the second pane shows.
    pub second_start_ns: f64,
    /// Nanoseconds that it shows.
    pub second_len_ns: f64,
    /// Share of the room that the first pane has.
    #[serde(default = "half")]
    pub share: f32,
}

const fn half() -> f32 {
    Compare::HALF
}

impl SavedCompare {
    fn of(compare: &Compare) -> Self {
        let view = compare.other.viewport;
        Self {
            ranks: compare.ranks.map(|rank| [rank.doc, rank.rank]),
            form: compare.form,
            link: compare.link,
            second_start_ns: view.start_ns,
            second_len_ns: view.len_ns,
            share: compare.share,
        }
    }

    /// The same beside a view that `state` shows; `None` when `workspace` has no such ranks.
    fn restored(&self, state: &ViewState, workspace: &Workspace) -> Option<Compare> {
        let ranks = self.ranks.map(|[doc, rank]| RankId { doc, rank });
        let is_known = ranks[0] != ranks[1] && ranks.iter().all(|rank| workspace.rank(*rank).is_some());
        let numbers = self.second_start_ns.is_finite() && self.second_len_ns.is_finite();
        if !(is_known && numbers) {
            return None;
        }
        let mut compare = Compare::new(ranks, self.form, state);
        (compare.link, compare.share) = (self.link, Compare::share(self.share));
        let view = &mut compare.other.viewport;
        view.start_ns = self.second_start_ns;
        view.len_ns = self.second_len_ns.max(Viewport::MIN_LEN_NS);
        if self.link == PaneLink::Apart {
            *view = view.clamped(workspace.span().unwrap_or_default());
        } else if self.link == PaneLink::Time {
            // One time for both, also where a file stands elsewhere on the axis now.
            *view = state.viewport;
        } else {
            view.len_ns = state.viewport.len_ns;
            compare.offset_ns = (view.start_ns - state.viewport.start_ns).round() as i64;
        }
        Some(compare)
    }
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
            compare: state.compare.as_ref().map(SavedCompare::of),
        }
    }

    /// Shows it again, as far as `workspace` has what it names; what is not said stays. False when it shows two ranks
    /// beside each other and `workspace` lacks one: then all ranks are shown.
    pub fn restore(&self, state: &mut ViewState, workspace: &Workspace) -> bool {
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
        let panel = self.panel.unwrap_or(state.panel);
        if panel == Panel::Selection && state.panel != Panel::Selection {
            state.panel_before = state.panel;
        }
        state.panel = panel;
        state.compare = self.compare.as_ref().and_then(|compare| compare.restored(state, workspace));
        state.compare.is_some() == self.compare.is_some()
    }

    /// The same view of files that are counted otherwise: `place` tells where each is now. Of two ranks beside each other
    /// none is taken for that of another file.
    #[must_use]
    pub fn counted(&self, place: impl Fn(usize) -> Option<usize>) -> Self {
        let ranks = |ranks: [[usize; 2]; 2]| ranks.map(|[file, rank]| [place(file).unwrap_or(usize::MAX), rank]);
        let compare = self.compare.clone();
        Self {
            file: self.file.map(|file| place(file).unwrap_or(file)),
            compare: compare.map(|compare| SavedCompare { ranks: ranks(compare.ranks), ..compare }),
            ..self.clone()
        }
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
            compare: self.compare.as_ref().map(|compare| SavedCompare {
                second_start_ns: compare.second_start_ns + by_ns as f64,
                ..compare.clone()
            }),
            ..self.clone()
        }
    }
}

/// How the lanes of document `doc` are arranged, as words and a lane: those whose usual expansion the user reversed (no
/// word), `hide`, `pin`, `order` and `scale` with a factor. Pins and places in the order come in their order.
pub fn lanes_of(state: &ViewState, doc: usize) -> Vec<String> {
    let own = |lane: &&LaneKey| lane.doc() == doc;
    let mut lanes: Vec<String> = state.toggled.iter().filter(own).map(|lane| lane.to_text()).collect();
    lanes.extend(state.lanes.hidden.iter().filter(own).map(|lane| format!("{HIDE} {}", lane.to_text())));
    let scales = state.lane_scale.iter().filter(|(lane, _)| own(lane));
    lanes.extend(scales.map(|(lane, scale)| format!("{SCALE} {scale} {}", lane.to_text())));
    // Sets come in no order of their own.
    lanes.sort_unstable();
    for (word, list) in [(PIN, &state.lanes.pinned), (ORDER, &state.lanes.order)] {
        lanes.extend(list.iter().filter(own).map(|lane| format!("{word} {}", lane.to_text())));
    }
    lanes
}

const HIDE: &str = "hide";
const PIN: &str = "pin";
const ORDER: &str = "order";
const SCALE: &str = "scale";

/// Arranges the lanes of document `doc` as [`lanes_of`] told; text that names no lane is left out.
pub fn restore_lanes(state: &mut ViewState, doc: usize, lanes: &[String]) {
    for text in lanes {
        if let Some(lane) = LaneKey::from_text(doc, text) {
            state.toggled.insert(lane);
            continue;
        }
        let Some((word, rest)) = text.split_once(' ') else { continue };
        let (factor, rest) = match (word, rest.split_once(' ')) {
            (SCALE, Some((factor, rest))) => (factor.parse::<f32>().ok(), rest),
            _ => (None, rest),
        };
        let Some(lane) = LaneKey::from_text(doc, rest) else { continue };
        match (word, factor) {
            (HIDE, _) => {
                state.lanes.hidden.insert(lane);
            }
            (PIN, _) if lane.can_be_pinned() && !state.lanes.pinned.contains(&lane) => state.lanes.pinned.push(lane),
            (ORDER, _) if !state.lanes.order.contains(&lane) => state.lanes.order.push(lane),
            (SCALE, Some(factor)) if factor.is_finite() => {
                state.lane_scale.insert(lane, factor.clamp(LANE_SCALE.0, LANE_SCALE.1));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{LaneCommand, RankId};

    #[test]
    fn an_arrangement_comes_back_as_it_was_and_strange_words_are_left_out() {
        let rank = RankId { doc: 1, rank: 0 };
        let mut state = ViewState::default();
        let (compute, copies) = (LaneKey::Compute(rank), LaneKey::Copies(rank));
        state.toggled.insert(LaneKey::Rank(rank));
        for command in [
            LaneCommand::Pin(Some(copies)),
            LaneCommand::Pin(Some(compute)),
            LaneCommand::Hide(Some(LaneKey::Idle(rank))),
            LaneCommand::Order(vec![copies, compute]),
            LaneCommand::Scale(compute, 2.5),
        ] {
            state.arrange(&command);
        }
        let mut text = lanes_of(&state, 1);
        assert!(lanes_of(&state, 0).is_empty());
        text.extend(
            ["hide nothing", "scale x rank 0", "pin", "turn compute/0", "scale 2 compute/x", "hide"].map(str::to_owned),
        );
        let mut read = ViewState::default();
        restore_lanes(&mut read, 1, &text);
        assert_eq!((read.toggled, read.lane_scale), (state.toggled, state.lane_scale));
        let (read, wanted) = (read.lanes, state.lanes);
        assert_eq!((read.pinned, read.order, read.hidden), (wanted.pinned, wanted.order, wanted.hidden));
    }
}
