//! The table of shortcuts as egui keys, and as text for menus and the help window.

use crate::view::shortcuts::{self, Chord, SHORTCUTS, Shortcut};
use crate::view::{Command, LaneCommand, ViewState, Workspace};
use egui::{Context, Event, Key, Modifiers};

/// The commands of the keys pressed in this frame. While a text field has the focus, plain keys are text, and only
/// chords with Ctrl (Cmd on a Mac) and function keys count, and the key that closes the list of lanes: its field has the focus.
pub fn pressed(ctx: &Context, view: &ViewState, workspace: &Workspace) -> Vec<Command> {
    let typing = ctx.text_edit_focused();
    let keys: Vec<(Key, Modifiers)> = ctx.input(|input| {
        let pressed = |event: &Event| match event {
            Event::Key { key, pressed: true, modifiers, .. } => Some((*key, *modifiers)),
            _ => None,
        };
        input.events.iter().filter_map(pressed).collect()
    });
    let mut commands = Vec::new();
    for (key, modifiers) in keys {
        let hit = |shortcut: &&Shortcut| shortcut.chords.iter().any(|chord| matches(*chord, key, modifiers));
        let Some(shortcut) = SHORTCUTS.iter().find(hit) else { continue };
        let meant = (shortcut.commands)(view, workspace);
        let closes_list = view.lanes.list && meant == [Command::Lane(LaneCommand::ToggleList)];
        if !typing || modifiers.command || is_function(key) || closes_list {
            commands.extend(meant);
        }
    }
    commands
}

/// F1 to F35 type nothing.
fn is_function(key: Key) -> bool {
    let name = key.name();
    name.len() > 1 && name.starts_with('F') && name.bytes().skip(1).all(|digit| digit.is_ascii_digit())
}

fn matches(chord: Chord, key: Key, modifiers: Modifiers) -> bool {
    let Some(wanted) = key_of(chord.key) else { return false };
    // Signs such as ? and + are typed with Shift on some keyboards and without on others.
    let sign = chord.key.chars().all(|c| !c.is_ascii_alphanumeric()) && chord.key.len() == 1;
    wanted == key
        && modifiers.command == chord.command
        && modifiers.alt == chord.alt
        && ((sign && !chord.shift) || modifiers.shift == chord.shift)
}

fn key_of(name: &str) -> Option<Key> {
    Key::from_name(name)
}

/// The first key of `command`, for menus; empty when it has none.
pub fn text_of(command: &Command) -> String {
    shortcuts::text_of(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_table_is_a_key_of_the_toolkit() {
        for chord in SHORTCUTS.iter().flat_map(|shortcut| shortcut.chords) {
            assert!(key_of(chord.key).is_some(), "{}", chord.key);
        }
    }

    #[test]
    fn modifiers_have_to_match() {
        let quit = Chord { key: "Q", command: true, shift: false, alt: false };
        assert!(matches(quit, Key::Q, Modifiers::COMMAND));
        assert!(!matches(quit, Key::Q, Modifiers::NONE));
        let help = Chord { key: "?", command: false, shift: false, alt: false };
        assert!(matches(help, Key::Questionmark, Modifiers::SHIFT));
    }

    #[test]
    fn menus_show_the_first_key() {
        assert!(text_of(&Command::Quit).ends_with("+Q"));
        assert_eq!(text_of(&Command::ShowAll), "0");
        assert_eq!(text_of(&Command::CancelLoad), "");
    }
}
