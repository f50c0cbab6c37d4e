//! The part of the View menu that arranges the lanes.

use super::cx::Cx;
use super::menu::entry;
use crate::view::{Command, LaneCommand};
use egui::Ui;

/// Draws the entries. Those that act on one lane need a chosen one.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, width_pt: f32, out: &mut Vec<Command>) {
    let mut lane = |ui: &mut Ui, text: &str, command: LaneCommand| entry(ui, cx, text, Command::Lane(command), out);
    ui.set_width(width_pt);
    lane(ui, "List of lanes…", LaneCommand::ToggleList);
    lane(ui, "Show all lanes", LaneCommand::ShowAll);
    lane(ui, "Reset lanes", LaneCommand::Reset);
    ui.separator();
    lane(ui, "Choose lane above", LaneCommand::FocusBy(-1));
    lane(ui, "Choose lane below", LaneCommand::FocusBy(1));
    ui.separator();
    lane(ui, "Expand or collapse lane", LaneCommand::Toggle);
    lane(ui, "Pin or unpin lane", LaneCommand::Pin(None));
    lane(ui, "Hide lane", LaneCommand::Hide(None));
    lane(ui, "Move lane up", LaneCommand::MoveBy(-1));
    lane(ui, "Move lane down", LaneCommand::MoveBy(1));
    lane(ui, "Higher lane", LaneCommand::ScaleBy(1.25));
    lane(ui, "Lower lane", LaneCommand::ScaleBy(0.8));
    lane(ui, "Default height", LaneCommand::ResetScale);
}
