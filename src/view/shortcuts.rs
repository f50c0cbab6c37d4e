//! The one table of keys. The window reads it, the help window prints it; no toolkit types in it.

use super::{Command, CompareCommand, Kin, LaneCommand, Side, ViewState, Workspace};

/// A key with its modifiers. `key` is the key's name as keyboards and egui spell it (`"A"`, `"ArrowLeft"`, `"["`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    /// Name of the key.
    pub key: &'static str,
    /// Ctrl, or Cmd on a Mac.
    pub command: bool,
    /// Shift.
    pub shift: bool,
    /// Alt.
    pub alt: bool,
}

impl Chord {
    /// How it is written.
    pub fn text(self) -> String {
        let mut text = String::new();
        let parts = [
            (self.command, if cfg!(target_os = "macos") { "Cmd+" } else { "Ctrl+" }),
            (self.alt, "Alt+"),
            (self.shift && self.key != "?", "Shift+"),
        ];
        for (held, name) in parts {
            if held {
                text.push_str(name);
            }
        }
        text.push_str(match self.key {
            "ArrowLeft" => "Left",
            "ArrowRight" => "Right",
            "ArrowUp" => "Up",
            "ArrowDown" => "Down",
            key => key,
        });
        text
    }
}

/// The first key of `command`, for menus; empty when it has none.
pub fn text_of(command: &Command) -> String {
    let (view, workspace) = (ViewState::default(), Workspace::default());
    let shortcut = SHORTCUTS.iter().find(|shortcut| (shortcut.commands)(&view, &workspace).first() == Some(command));
    shortcut.and_then(|shortcut| shortcut.chords.first()).map(|chord| chord.text()).unwrap_or_default()
}

/// Part of the help window that a shortcut stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Moving through time.
    Navigate,
    /// Searching.
    Search,
    /// Selecting.
    Select,
    /// What is drawn.
    Show,
    /// Arranging the lanes.
    Lanes,
    /// Files and the window.
    Window,
}

impl Group {
    /// All groups in the order of the help window.
    pub const ALL: [Self; 6] = [Self::Navigate, Self::Search, Self::Select, Self::Show, Self::Lanes, Self::Window];

    /// Heading.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Navigate => "Navigate",
            Self::Search => "Search",
            Self::Select => "Select",
            Self::Show => "Show",
            Self::Lanes => "Lanes",
            Self::Window => "Files and window",
        }
    }
}

/// What keys do while a certain field is typed into, for the help window: (group, key, what it does).
pub const IN_FIELDS: [(Group, &str, &str); 4] = [
    (Group::Search, "Enter, Shift+Enter", "Next and previous hit, in the search field"),
    (Group::Search, "Escape", "Close the search, in its field or with nothing selected"),
    (Group::Window, "Up, Down, Enter", "Choose and run, in the list of all commands"),
    (Group::Window, "Escape", "Close what lies on top"),
];

/// What one or several keys do.
#[derive(Debug, Clone, Copy)]
pub struct Shortcut {
    /// Any of these keys does it.
    pub chords: &'static [Chord],
    /// Where it stands in the help window.
    pub group: Group,
    /// What it does, in sentence case.
    pub help: &'static str,
    /// The commands it sends.
    pub commands: fn(&ViewState, &Workspace) -> Vec<Command>,
}

const fn key(key: &'static str) -> Chord {
    Chord { key, command: false, shift: false, alt: false }
}

const fn command(key: &'static str) -> Chord {
    Chord { key, command: true, shift: false, alt: false }
}

const fn shift(key: &'static str) -> Chord {
    Chord { key, command: false, shift: true, alt: false }
}

const fn alt(key: &'static str) -> Chord {
    Chord { key, command: false, shift: false, alt: true }
}

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
    use std::collections::HashSet;

    #[test]
    fn no_key_means_two_things() {
        let mut seen = HashSet::new();
        for chord in SHORTCUTS.iter().flat_map(|s| s.chords) {
            assert!(seen.insert(*chord), "{chord:?} is bound twice");
        }
    }

    #[test]
    fn every_shortcut_has_a_key_a_text_and_a_command() {
        let (state, workspace) = (ViewState::default(), Workspace::default());
        for shortcut in SHORTCUTS {
            assert!(!shortcut.chords.is_empty() && !shortcut.help.is_empty());
            assert!(!(shortcut.commands)(&state, &workspace).is_empty());
        }
    }

    #[test]
    fn zoom_keys_keep_the_middle_of_the_view() {
        let state = ViewState::default();
        let [Command::ZoomAt { at_ns, factor }] = zoom(&state, ZOOM)[..] else { panic!("one zoom") };
        assert!((at_ns - state.viewport.middle_ns()).abs() < 1e-6 && factor < 1.0);
    }
}
