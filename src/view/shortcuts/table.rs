//! The one table of keys.

use super::{Chord, Group, Shortcut, alt, command, key, shift};
use crate::view::{Command, CompareCommand, Kin, LaneCommand, Side, ViewState};

/// Share of the view that a pan key moves.
const PAN: f64 = 0.15;
/// Factor of a zoom key.
const ZOOM: f64 = 0.75;
/// Points that a scroll key moves the lanes.
const SCROLL_PT: f32 = 60.0;

fn zoom(state: &ViewState, factor: f64) -> Vec<Command> {
    // The selection is what the user looks at; without one, the middle.
    let at_ns = state.viewport.middle_ns();
    vec![Command::ZoomAt { at_ns, factor }]
}

fn lane(command: LaneCommand) -> Vec<Command> {
    vec![Command::Lane(command)]
}

/// All shortcuts.
pub const SHORTCUTS: &[Shortcut] = &[
    Shortcut {
        chords: &[key("W"), key("+"), key("=")],
        group: Group::Navigate,
        help: "Zoom in",
        commands: |s, _| zoom(s, ZOOM),
    },
    Shortcut {
        chords: &[key("S"), key("-")],
        group: Group::Navigate,
        help: "Zoom out",
        commands: |s, _| zoom(s, 1.0 / ZOOM),
    },
    Shortcut {
        chords: &[key("A"), key("ArrowLeft")],
        group: Group::Navigate,
        help: "Move earlier",
        commands: |_, _| vec![Command::PanBy(-PAN)],
    },
    Shortcut {
        chords: &[key("D"), key("ArrowRight")],
        group: Group::Navigate,
        help: "Move later",
        commands: |_, _| vec![Command::PanBy(PAN)],
    },
    Shortcut {
        chords: &[shift("ArrowLeft"), key("PageUp")],
        group: Group::Navigate,
        help: "Move one view earlier",
        commands: |_, _| vec![Command::PanBy(-1.0)],
    },
    Shortcut {
        chords: &[shift("ArrowRight"), key("PageDown")],
        group: Group::Navigate,
        help: "Move one view later",
        commands: |_, _| vec![Command::PanBy(1.0)],
    },
    Shortcut {
        chords: &[key("ArrowUp")],
        group: Group::Navigate,
        help: "Scroll lanes up",
        commands: |_, _| vec![Command::ScrollBy(-SCROLL_PT)],
    },
    Shortcut {
        chords: &[key("ArrowDown")],
        group: Group::Navigate,
        help: "Scroll lanes down",
        commands: |_, _| vec![Command::ScrollBy(SCROLL_PT)],
    },
    Shortcut {
        chords: &[key("0"), key("Home")],
        group: Group::Navigate,
        help: "Show the whole capture",
        commands: |_, _| vec![Command::ShowAll],
    },
    Shortcut {
        chords: &[key("F")],
        group: Group::Navigate,
        help: "Zoom to the selection",
        commands: |_, _| vec![Command::ShowSelection],
    },
    Shortcut {
        chords: &[key("[")],
        group: Group::Navigate,
        help: "Previous step",
        commands: |_, _| vec![Command::PreviousStep],
    },
    Shortcut {
        chords: &[key("]")],
        group: Group::Navigate,
        help: "Next step",
        commands: |_, _| vec![Command::NextStep],
    },
    Shortcut {
        chords: &[key("Backspace"), alt("ArrowLeft")],
        group: Group::Navigate,
        help: "Back to the view before",
        commands: |_, _| vec![Command::Back],
    },
    Shortcut {
        chords: &[shift("Backspace"), alt("ArrowRight")],
        group: Group::Navigate,
        help: "Forward again",
        commands: |_, _| vec![Command::Forward],
    },
    // With Shift first: a sign without it also stands for the key with it.
    Shortcut {
        chords: &[shift(",")],
        group: Group::Select,
        help: "Previous of the same name",
        commands: |_, _| vec![Command::SelectNeighbour(Kin::Name, Side::Before)],
    },
    Shortcut {
        chords: &[shift(".")],
        group: Group::Select,
        help: "Next of the same name",
        commands: |_, _| vec![Command::SelectNeighbour(Kin::Name, Side::After)],
    },
    Shortcut {
        chords: &[key(",")],
        group: Group::Select,
        help: "Previous item on the row",
        commands: |_, _| vec![Command::SelectNeighbour(Kin::Lane, Side::Before)],
    },
    Shortcut {
        chords: &[key(".")],
        group: Group::Select,
        help: "Next item on the row",
        commands: |_, _| vec![Command::SelectNeighbour(Kin::Lane, Side::After)],
    },
    Shortcut {
        chords: &[shift("F")],
        group: Group::Select,
        help: "Select the span of the selected item",
        commands: |_, _| vec![Command::SelectItsSpan],
    },
    Shortcut {
        chords: &[shift("C")],
        group: Group::Select,
        help: "Copy the name of the selected item",
        commands: |_, _| vec![Command::CopyName],
    },
    Shortcut {
        chords: &[shift("T")],
        group: Group::Select,
        help: "Copy what is known of the selected item",
        commands: |_, _| vec![Command::CopyFacts],
    },
    Shortcut {
        chords: &[command("B")],
        group: Group::Select,
        help: "Bookmark the selection, else the view",
        commands: |_, _| vec![Command::AddBookmark],
    },
    Shortcut {
        chords: &[command("F")],
        group: Group::Search,
        help: "Search…",
        commands: |_, _| vec![Command::OpenSearch],
    },
    Shortcut { chords: &[key("F3")], group: Group::Search, help: "Next hit", commands: |_, _| vec![Command::NextHit] },
    Shortcut {
        chords: &[shift("F3")],
        group: Group::Search,
        help: "Previous hit",
        commands: |_, _| vec![Command::PreviousHit],
    },
    Shortcut {
        chords: &[key("Escape")],
        group: Group::Select,
        help: "Clear the selection",
        commands: |_, _| vec![Command::Select(None), Command::SelectSpan(None)],
    },
    Shortcut {
        chords: &[key("M")],
        group: Group::Show,
        help: "Marks of idle gaps and exposed communication",
        commands: |_, _| vec![Command::ToggleMarks],
    },
    Shortcut {
        chords: &[key("T")],
        group: Group::Show,
        help: "Time since the capture's start, since the step, or wall clock",
        commands: |_, _| vec![Command::NextAxis],
    },
    Shortcut {
        chords: &[key("K")],
        group: Group::Show,
        help: "Next clock of several files: collectives, step start, wall clock, by hand",
        commands: |_, _| vec![Command::NextClock],
    },
    Shortcut {
        chords: &[alt("K")],
        group: Group::Show,
        help: "Shift the other files so that the selected item ends together",
        commands: |_, _| vec![Command::AlignHere(None)],
    },
    Shortcut {
        chords: &[shift("K")],
        group: Group::Show,
        help: "Take back shifts of files",
        commands: |_, _| vec![Command::ResetShifts],
    },
    Shortcut {
        chords: &[key("B")],
        group: Group::Show,
        help: "Two ranks beside each other: above each other, left and right, overlaid, off",
        commands: |_, _| vec![Command::Compare(CompareCommand::NextForm)],
    },
    Shortcut {
        chords: &[shift("B")],
        group: Group::Show,
        help: "Move the two panes together: by time, by step, at the selected collective, apart",
        commands: |_, _| vec![Command::Compare(CompareCommand::NextLink)],
    },
    Shortcut { chords: &[key("N")], group: Group::Show, help: "NVTX rows", commands: |_, _| vec![Command::ToggleNvtx] },
    Shortcut {
        chords: &[key("P")],
        group: Group::Show,
        help: "Side panel",
        commands: |_, _| vec![Command::ToggleSidePanel],
    },
    Shortcut {
        chords: &[shift("P")],
        group: Group::Show,
        help: "Side panel on the left, on the right, below",
        commands: |_, _| vec![Command::MoveSidePanel],
    },
    Shortcut {
        chords: &[command("D")],
        group: Group::Show,
        help: "Details panel",
        commands: |_, _| vec![Command::ToggleDetails],
    },
    Shortcut {
        chords: &[command("0")],
        group: Group::Navigate,
        help: "Start with the whole capture, lanes as at first",
        commands: |_, _| vec![Command::StartAnew],
    },
    Shortcut {
        chords: &[key("C")],
        group: Group::Show,
        help: "Colour by class, family, name, stream, range",
        commands: |_, _| vec![Command::NextColoring],
    },
    Shortcut {
        chords: &[key("L")],
        group: Group::Show,
        help: "Legend of the colours",
        commands: |_, _| vec![Command::ToggleLegend],
    },
    Shortcut {
        chords: &[alt("L")],
        group: Group::Lanes,
        help: "List of lanes",
        commands: |_, _| lane(LaneCommand::ToggleList),
    },
    Shortcut {
        chords: &[command("ArrowUp")],
        group: Group::Lanes,
        help: "Choose the lane above",
        commands: |_, _| lane(LaneCommand::FocusBy(-1)),
    },
    Shortcut {
        chords: &[command("ArrowDown")],
        group: Group::Lanes,
        help: "Choose the lane below",
        commands: |_, _| lane(LaneCommand::FocusBy(1)),
    },
    Shortcut {
        chords: &[alt("ArrowUp")],
        group: Group::Lanes,
        help: "Move the chosen lane up",
        commands: |_, _| lane(LaneCommand::MoveBy(-1)),
    },
    Shortcut {
        chords: &[alt("ArrowDown")],
        group: Group::Lanes,
        help: "Move the chosen lane down",
        commands: |_, _| lane(LaneCommand::MoveBy(1)),
    },
    Shortcut {
        chords: &[alt("Enter")],
        group: Group::Lanes,
        help: "Expand or collapse it",
        commands: |_, _| lane(LaneCommand::Toggle),
    },
    Shortcut {
        chords: &[alt("P")],
        group: Group::Lanes,
        help: "Pin it at the top, or unpin it",
        commands: |_, _| lane(LaneCommand::Pin(None)),
    },
    Shortcut {
        chords: &[alt("H")],
        group: Group::Lanes,
        help: "Hide it",
        commands: |_, _| lane(LaneCommand::Hide(None)),
    },
    Shortcut {
        chords: &[alt("A")],
        group: Group::Lanes,
        help: "Show all lanes",
        commands: |_, _| lane(LaneCommand::ShowAll),
    },
    Shortcut {
        chords: &[alt("+"), alt("=")],
        group: Group::Lanes,
        help: "Make it higher",
        commands: |_, _| lane(LaneCommand::ScaleBy(1.25)),
    },
    Shortcut {
        chords: &[alt("-")],
        group: Group::Lanes,
        help: "Make it lower",
        commands: |_, _| lane(LaneCommand::ScaleBy(0.8)),
    },
    Shortcut {
        chords: &[alt("0")],
        group: Group::Lanes,
        help: "Give it its default height",
        commands: |_, _| lane(LaneCommand::ResetScale),
    },
    Shortcut {
        chords: &[alt("R")],
        group: Group::Lanes,
        help: "Arrange the lanes as at first",
        commands: |_, _| lane(LaneCommand::Reset),
    },
    Shortcut {
        chords: &[command("O")],
        group: Group::Window,
        help: "Open files…",
        commands: |_, _| vec![Command::OpenDialog],
    },
    Shortcut {
        chords: &[command("P")],
        group: Group::Window,
        help: "Save the view as a picture…",
        commands: |_, _| vec![Command::SavePicture],
    },
    Shortcut {
        chords: &[command("L")],
        group: Group::Window,
        help: "Copy a link to the view",
        commands: |_, _| vec![Command::CopyLink],
    },
    Shortcut {
        chords: &[Chord { shift: true, ..command("L") }],
        group: Group::Window,
        help: "Open a link…",
        commands: |_, _| vec![Command::OpenLink],
    },
    Shortcut {
        chords: &[command("S")],
        group: Group::Window,
        help: "Save the session…",
        commands: |_, _| vec![Command::SaveSession],
    },
    Shortcut {
        chords: &[command("R"), key("F5")],
        group: Group::Window,
        help: "Reload files that were replaced on disk",
        commands: |_, _| vec![Command::Reload],
    },
    Shortcut {
        chords: &[command("W")],
        group: Group::Window,
        help: "Close all files",
        commands: |_, _| vec![Command::CloseAll],
    },
    Shortcut { chords: &[command("Q")], group: Group::Window, help: "Quit", commands: |_, _| vec![Command::Quit] },
    Shortcut {
        chords: &[Chord { shift: true, ..command("P") }],
        group: Group::Window,
        help: "All commands…",
        commands: |_, _| vec![Command::TogglePalette],
    },
    Shortcut {
        chords: &[key("?"), shift("?"), key("F1")],
        group: Group::Window,
        help: "All shortcuts",
        commands: |_, _| vec![Command::ToggleHelp],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_keys_keep_the_middle_of_the_view() {
        let state = ViewState::default();
        let [Command::ZoomAt { at_ns, factor }] = zoom(&state, ZOOM)[..] else { panic!("one zoom") };
        assert!((at_ns - state.viewport.middle_ns()).abs() < 1e-6 && factor < 1.0);
    }
}
