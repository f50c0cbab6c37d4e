//! The list of all commands.

use crate::harness::Driven;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use stepscope::app::state::Overlay;
use stepscope::view::shortcuts::SHORTCUTS;
use stepscope::view::{Command, Panel, RankId, Theme};

fn open(driven: &mut Driven) {
    driven.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    driven.settle();
    assert_eq!(driven.window().state().overlay, Some(Overlay::Palette));
}

fn type_text(driven: &mut Driven, text: &str) {
    driven.harness.event(egui::Event::Text(text.to_owned()));
    driven.settle();
}

#[test]
fn typing_and_enter_run_a_command() {
    let mut driven = Driven::open();
    open(&mut driven);
    type_text(&mut driven, "thm light");
    driven.press(Key::Enter);
    let state = driven.window().state();
    assert_eq!((state.overlay.as_ref(), state.view.theme), (None, Theme::Light));
    open(&mut driven);
    type_text(&mut driven, "panel gaps");
    driven.press(Key::Enter);
    assert_eq!(driven.window().state().view.panel, Panel::Gaps);
    open(&mut driven);
    type_text(&mut driven, "step 7");
    driven.press(Key::Enter);
    let view = &driven.window().state().view;
    let wanted = stepscope::view::Item::Step(RankId { doc: 0, rank: 0 }, 7);
    assert_eq!(Some(view.viewport.span()), wanted.span(&driven.window().state().workspace));
}

#[test]
fn what_was_run_last_comes_first() {
    let mut driven = Driven::open();
    for text in ["about", "scale 125"] {
        open(&mut driven);
        type_text(&mut driven, text);
        driven.press(Key::Enter);
        driven.send(Command::Dismiss);
    }
    let recalled = &driven.window().state().settings.recalled;
    assert_eq!(recalled[..], ["Scale: 125 %".to_owned(), "About stepscope".to_owned()]);
    open(&mut driven);
    let top = |name: &str, driven: &Driven| driven.harness.get_by_label(name).rect().top();
    assert!(top("Scale: 125 %", &driven) < top("About stepscope", &driven));
    assert!(top("About stepscope", &driven) < top("Zoom in", &driven));
}

#[test]
fn arrows_choose_and_escape_closes() {
    let mut driven = Driven::open();
    open(&mut driven);
    type_text(&mut driven, "theme");
    driven.press(Key::ArrowDown);
    driven.press(Key::ArrowDown);
    driven.press(Key::ArrowUp);
    driven.press(Key::Enter);
    assert_eq!(driven.window().state().view.theme, Theme::Light, "the second of the two");
    open(&mut driven);
    driven.press(Key::M);
    driven.press(Key::Escape);
    assert!(driven.window().state().overlay.is_none() && driven.window().state().view.marks);
    open(&mut driven);
    driven.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    driven.settle();
    assert!(driven.window().state().overlay.is_none(), "the same keys close it");
}

#[test]
fn what_does_nothing_says_why_and_does_nothing() {
    let mut driven = Driven::open();
    open(&mut driven);
    type_text(&mut driven, "zoom to the selection");
    assert!(driven.shows("Zoom to the selection: Nothing is selected"));
    driven.press(Key::Enter);
    assert_eq!(driven.window().state().overlay, Some(Overlay::Palette));
    driven.press(Key::Escape);
    driven.send(Command::CloseAll);
    open(&mut driven);
    type_text(&mut driven, "whole capture");
    assert!(driven.shows("Show the whole capture: No file is open"));
}

#[test]
fn every_key_of_the_table_is_in_the_list_and_in_the_help() {
    let mut driven = Driven::open();
    for shortcut in SHORTCUTS.iter().filter(|shortcut| !shortcut.help.starts_with("All commands")) {
        open(&mut driven);
        type_text(&mut driven, shortcut.help);
        assert!(driven.shows(shortcut.help), "{}", shortcut.help);
        driven.press(Key::Escape);
    }
    driven.send(Command::ToggleHelp);
    for shortcut in SHORTCUTS {
        assert!(driven.shows(shortcut.help), "{}", shortcut.help);
    }
    for text in ["Shift+drag", "Wheel", "Ctrl+Shift+P", "Enter, Shift+Enter"] {
        assert!(driven.shows(text), "{text}");
    }
}

#[test]
fn going_to_a_rank_chooses_it_and_scrolls_there() {
    let mut driven = Driven::open();
    driven.harness.set_size([900.0, 360.0].into());
    open(&mut driven);
    type_text(&mut driven, "go to rank 1");
    driven.press(Key::Enter);
    let view = &driven.window().state().view;
    assert_eq!(view.rank, Some(RankId { doc: 1, rank: 0 }));
    assert!(view.scroll_y_pt > 0.0);
}

#[test]
fn menus_know_why_an_entry_does_nothing() {
    let mut driven = Driven::open();
    driven.click("View");
    driven.click("Search…");
    assert!(driven.window().state().view.search.open);
    assert!(driven.harness.get_by_role(Role::TextInput).is_focused());
}

#[test]
fn the_list_looks_as_designed() {
    let mut driven = Driven::open();
    driven.harness.set_size([640.0, 420.0].into());
    driven.send(Command::SetTheme(Theme::Light));
    open(&mut driven);
    type_text(&mut driven, "step");
    driven.harness.snapshot("palette_light");
}
