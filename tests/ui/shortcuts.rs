//! Keys.

use crate::harness::Driven;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stepscope::app::state::Overlay;
use stepscope::view::{Command, Item, Panel, RankId};

#[test]
fn keys_move_and_zoom() {
    let mut driven = Driven::open();
    let whole = driven.window().state().view.viewport;
    driven.press(Key::W);
    let closer = driven.window().state().view.viewport;
    assert!(closer.len_ns < whole.len_ns);
    driven.press(Key::D);
    assert!(driven.window().state().view.viewport.start_ns > closer.start_ns);
    driven.press(Key::Num0);
    assert!((driven.window().state().view.viewport.len_ns - whole.len_ns).abs() < 1.0);
}

#[test]
fn keys_switch_marks_and_help() {
    let mut driven = Driven::open();
    driven.press(Key::M);
    assert!(!driven.window().state().view.marks);
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::Questionmark);
    driven.settle();
    assert_eq!(driven.window().state().overlay, Some(Overlay::Help));
    driven.press(Key::M);
    assert!(!driven.window().state().view.marks, "keys do nothing below a dialog");
    driven.press(Key::Escape);
    assert_eq!(driven.window().state().overlay, None);
}

#[test]
fn escape_clears_the_selection_once_nothing_lies_on_top() {
    let mut driven = Driven::open();
    driven.send(Command::Select(Some(Item::Op(RankId { doc: 0, rank: 0 }, 3))));
    driven.send(Command::ToggleHelp);
    driven.press(Key::Escape);
    assert!(driven.window().state().overlay.is_none() && driven.window().state().view.selected.is_some());
    driven.press(Key::Escape);
    assert!(driven.window().state().view.selected.is_none());
}

#[test]
fn escape_that_closes_a_menu_or_leaves_a_field_keeps_the_selection() {
    let mut driven = Driven::open();
    let selected = Some(Item::Op(RankId { doc: 0, rank: 0 }, 3));
    driven.send(Command::Select(selected));
    driven.click("File");
    assert!(driven.shows("Close all"));
    driven.press(Key::Escape);
    assert!(!driven.shows("Close all") && driven.window().state().view.selected == selected);
    driven.send(Command::ShowPanel(Panel::Ranges));
    driven.harness.get_by_label("Filter ranges").focus();
    driven.settle();
    driven.press(Key::Escape);
    assert_eq!(driven.window().state().view.selected, selected);
    driven.press(Key::Escape);
    assert_eq!(driven.window().state().view.selected, None);
}

#[test]
fn escape_that_closes_a_list_keeps_the_window_below() {
    let mut driven = Driven::empty(1000.0, 1800.0);
    driven.send(Command::ToggleRecording);
    driven.harness.get_by_label("Started by").click();
    driven.settle();
    assert!(driven.shows("Slurm (srun)"));
    driven.press(Key::Escape);
    assert!(!driven.shows("Slurm (srun)") && driven.window().state().overlay == Some(Overlay::Recording));
}

#[test]
fn typing_a_path_triggers_no_shortcut_and_opens_the_file() {
    let mut driven = Driven::open();
    driven.send(Command::TypePath);
    let field = driven.harness.get_by_role(egui::Role::TextInput);
    field.focus();
    driven.settle();
    driven.harness.get_by_role(egui::Role::TextInput).type_text("/x/rank7.sqlite");
    driven.press(Key::M);
    assert!(driven.window().state().view.marks);
    driven.click("Open");
    driven.wait(|window| window.state().workspace.docs.len() == 3);
    assert_eq!(driven.window().state().overlay, None);
}
