//! The menu of one lane.

use super::arrange::Neighbours;
use super::draw::Frame;
use super::gutter::lane_name;
use super::gutter_input::{ordered, resized};
use super::label;
use super::layout::{Lane, Layout};
use crate::format;
use crate::view::{Command, CompareCommand, LaneCommand, LaneKey};
use egui::{Button, RichText, Ui};

/// Width of the menu in points.
const WIDTH_PT: f32 = 190.0;

/// Draws the entries of the menu of `lane`.
pub fn show(ui: &mut Ui, frame: &Frame<'_>, layout: &Layout, lane: &Lane, out: &mut Vec<Command>) {
    ui.set_width(WIDTH_PT);
    let (name, _) = lane_name(frame.workspace, lane);
    ui.add(egui::Label::new(RichText::new(name).weak()).truncate());
    ui.separator();
    let arrangement = &frame.state.lanes;
    let mut entry = |ui: &mut Ui, enabled: bool, text: &str, commands: &[Command]| {
        if ui.add_enabled(enabled, Button::new(text)).clicked() {
            out.extend_from_slice(commands);
            ui.close();
        }
    };
    let lane_entry = |command: LaneCommand| [Command::Lane(command)];
    if let Some(open) = lane.expanded {
        entry(ui, true, if open { "Collapse" } else { "Expand" }, &[Command::ToggleLane(lane.key)]);
    }
    if let LaneKey::Rank(rank) = lane.key {
        entry(ui, true, "Rename…", &[Command::AskRankName(rank)]);
        let (workspace, state) = (frame.workspace, frame.state);
        if let Some(other) = state.comparable_with(rank, workspace) {
            let text = format!("Compare with rank {}", label::safe(&format::one_line(workspace.label(other), 24)));
            entry(ui, true, &text, &[Command::Compare(CompareCommand::Ranks([other, rank]))]);
        }
    }
    let pinned = arrangement.pinned.contains(&lane.key);
    if lane.key.can_be_pinned() {
        let text = if pinned { "Unpin" } else { "Pin at the top" };
        entry(ui, true, text, &lane_entry(LaneCommand::Pin(Some(lane.key))));
    }
    if !lane.pinned {
        entry(ui, true, "Hide", &lane_entry(LaneCommand::Hide(Some(lane.key))));
        let neighbours = Neighbours::of(layout, lane.key);
        for (text, by) in [("Move up", -1), ("Move down", 1)] {
            let order = neighbours.as_ref().and_then(|lanes| lanes.moved(by));
            entry(ui, order.is_some(), text, &order.map_or_else(Vec::new, |order| ordered(layout, order)));
        }
    }
    let keys = [Some(lane.key), lane.beside];
    let is_resized = keys.iter().flatten().any(|key| frame.state.lane_scale.contains_key(key));
    entry(ui, is_resized, "Default height", &resized(keys, 1.0).collect::<Vec<_>>());
    ui.separator();
    let any_left_out = layout.hidden + layout.filtered > 0;
    entry(ui, any_left_out, "Show all lanes", &lane_entry(LaneCommand::ShowAll));
    entry(ui, !arrangement.list, "List of lanes…", &lane_entry(LaneCommand::ToggleList));
}
