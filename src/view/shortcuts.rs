//! Keys and what they do: one table, which the window reads and the help window prints; no toolkit types in it.

mod table;

pub use table::SHORTCUTS;

use super::{Command, ViewState, Workspace};

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
}
