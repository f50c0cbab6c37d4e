//! What part of the lanes is in sight: their heights stay while a panel opens or closes below them, and the selected
//! row comes back into sight when it was asked for or when the room shrinks.

use super::cache::Cache;
use super::layout::{Lane, Layout};
use super::overlay;
use crate::view::{CompareForm, LaneKey, ViewState, Workspace};
use egui::Context;

/// Room kept above and below a row that is brought into sight.
const MARGIN_PT: f32 = 12.0;

/// What the frames before have seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sight {
    /// Height of the window.
    window_pt: f32,
    /// Height that the lanes are laid out for.
    room_pt: f32,
    /// Height of the visible lanes.
    visible_pt: f32,
    /// [`ViewState::lane_shown`] of the frame before.
    lane_shown: Option<(LaneKey, u32)>,
    /// [`ViewState::reveals`] of the frame before.
    reveals: u32,
    /// How two ranks stand to each other, and the share of the room that the first has.
    form: Option<(CompareForm, f32)>,
}

impl Sight {
    /// Forgets the heights of lanes in another form or share of the room: they grow into the room that there is now.
    pub fn in_form(&mut self, form: Option<(CompareForm, f32)>) {
        if std::mem::replace(&mut self.form, form) != form {
            self.room_pt = 0.0;
        }
    }

    /// The height to lay lanes out for: the most that was ever `visible_pt`, which follows the window's height but not
    /// the panels in it.
    pub fn room_pt(&mut self, ctx: &Context, visible_pt: f32) -> f32 {
        let window_pt = ctx.content_rect().height();
        if self.window_pt != window_pt {
            self.room_pt += if self.window_pt > 0.0 { window_pt - self.window_pt } else { 0.0 };
            self.window_pt = window_pt;
        }
        self.room_pt = self.room_pt.clamp(visible_pt, window_pt.max(visible_pt));
        self.room_pt
    }

    /// Has the selected row brought into sight in the next frame.
    pub fn look_again(&mut self, state: &ViewState) {
        self.reveals = state.reveals.wrapping_sub(1);
    }

    /// Whether the selected row has to be in sight now.
    fn is_due(&mut self, state: &ViewState, visible_pt: f32) -> bool {
        let due = self.reveals != state.reveals || visible_pt < self.visible_pt;
        (self.reveals, self.visible_pt) = (state.reveals, visible_pt);
        due
    }
}

/// By how much to scroll from `scroll_pt` so that the selected item's row is in sight; 0 when any row that shows it is.
pub(super) fn scroll_by(
    state: &ViewState,
    workspace: &Workspace,
    cache: &mut Cache,
    layout: &Layout,
    (scroll_pt, visible_pt): (f32, f32),
) -> f32 {
    if cache.sight.lane_shown != state.lane_shown {
        cache.sight.lane_shown = state.lane_shown;
        let lane = state.lane_shown.and_then(|(key, _)| layout.lanes.iter().find(|lane| lane.key == key));
        if let Some(lane) = lane {
            return lane.top_pt.min(super::input::scroll_limit(layout, visible_pt)) - scroll_pt;
        }
    }
    if !cache.sight.is_due(state, visible_pt) {
        return 0.0;
    }
    let Some(selected) = state.selected else { return 0.0 };
    let sticky = layout.sticky(scroll_pt, visible_pt).map(|lane| lane.key);
    let ways = layout.lanes.iter().filter_map(|lane| {
        let row = overlay::row_of(workspace, cache, lane, selected)?;
        if sticky == Some(lane.key) {
            return Some(0.0);
        }
        let (top, bottom) = lane.row_edges_pt(row);
        // The header of its rank may stay over the lanes at the top.
        let is_its_header =
            |other: &&Lane| other.key != lane.key && lane.rank.is_some_and(|r| other.key == LaneKey::Rank(r));
        let header_pt = layout.lanes.iter().find(is_its_header).map_or(0.0, |header| header.height_pt);
        Some(into_sight((lane.top_pt + top - header_pt, lane.top_pt + bottom), scroll_pt, visible_pt))
    });
    ways.min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

/// The shortest way to scroll so that a row from `top` to `bottom` is seen.
fn into_sight((top, bottom): (f32, f32), scroll_pt: f32, visible_pt: f32) -> f32 {
    if top >= scroll_pt && bottom <= scroll_pt + visible_pt {
        0.0
    } else if top < scroll_pt || bottom - top + MARGIN_PT > visible_pt {
        (top - MARGIN_PT).max(0.0) - scroll_pt
    } else {
        bottom + MARGIN_PT - visible_pt - scroll_pt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_out_of_sight_is_scrolled_to_the_nearest_edge() {
        assert_eq!(into_sight((50.0, 60.0), 40.0, 100.0), 0.0);
        assert_eq!(into_sight((50.0, 60.0), 55.0, 100.0), -17.0);
        assert_eq!(into_sight((150.0, 160.0), 0.0, 100.0), 72.0);
        assert_eq!(into_sight((5.0, 15.0), 10.0, 100.0), -10.0);
    }
}
