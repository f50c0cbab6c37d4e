//! The part of the View menu that arranges the lanes.

use super::cx::Cx;
use super::menu::entry;
use crate::view::{Command, LaneCommand, LaneKey};
use egui::Ui;

/// Draws the entries. Those that act on one lane need a chosen one.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, width_pt: f32, out: &mut Vec<Command>) {
    let open = !cx.workspace.docs.is_empty();
    let lanes = &cx.view.lanes;
    let chosen = open && lanes.focus.is_some();
    let pinnable = open && lanes.focus.is_some_and(LaneKey::can_be_pinned);
    let left_out = !(lanes.hidden.is_empty() && lanes.filter.is_empty());
    let mut lane = |ui: &mut Ui, enabled: bool, text: &str, command: LaneCommand| {
        entry(ui, enabled, text, Command::Lane(command), out);
    };
    ui.set_width(width_pt);
    lane(ui, open, "List of lanes…", LaneCommand::ToggleList);
    lane(ui, open && left_out, "Show all lanes", LaneCommand::ShowAll);
    lane(ui, open, "Reset lanes", LaneCommand::Reset);
    ui.separator();
    lane(ui, open, "Choose lane above", LaneCommand::FocusBy(-1));
    lane(ui, open, "Choose lane below", LaneCommand::FocusBy(1));
    ui.separator();
    lane(ui, chosen, "Expand or collapse lane", LaneCommand::Toggle);
    lane(ui, pinnable, "Pin or unpin lane", LaneCommand::Pin(None));
    lane(ui, chosen, "Hide lane", LaneCommand::Hide(None));
    lane(ui, chosen, "Move lane up", LaneCommand::MoveBy(-1));
    lane(ui, chosen, "Move lane down", LaneCommand::MoveBy(1));
    lane(ui, chosen, "Higher lane", LaneCommand::ScaleBy(1.25));
    lane(ui, chosen, "Lower lane", LaneCommand::ScaleBy(0.8));
    lane(ui, chosen, "Default height", LaneCommand::ResetScale);
}
