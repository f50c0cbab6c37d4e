//! Lanes arranged through menus, keys and the list.

use crate::harness::Driven;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stepscope::view::{Coloring, Command, LaneCommand, LaneKey, RankId};

const COMPUTE: LaneKey = LaneKey::Compute(RankId { doc: 0, rank: 0 });
/// Height of the ruler above the lanes.
const RULER_PT: f32 = 24.0;

fn chord(driven: &mut Driven, modifiers: Modifiers, key: Key) {
    driven.harness.key_press_modifiers(modifiers, key);
    driven.settle();
}

#[test]
fn keys_choose_pin_hide_and_resize_a_lane() {
    let mut driven = Driven::open();
    driven.send(Command::Lane(LaneCommand::Focus(Some(COMPUTE))));
    chord(&mut driven, Modifiers::ALT, Key::P);
    assert_eq!(driven.window().state().view.lanes.pinned, [COMPUTE]);
    chord(&mut driven, Modifiers::ALT, Key::Minus);
    assert_eq!(driven.window().state().view.lane_scale.get(&COMPUTE), Some(&0.8));
    chord(&mut driven, Modifiers::ALT, Key::H);
    assert!(driven.window().state().view.lanes.hidden.contains(&COMPUTE));
    assert!(driven.shows("1 lane hidden"));
    driven.click("1 lane hidden");
    assert!(driven.window().state().view.lanes.hidden.is_empty() && !driven.shows("1 lane hidden"));
    chord(&mut driven, Modifiers::COMMAND, Key::ArrowDown);
    let focus = driven.window().state().view.lanes.focus;
    assert!(focus.is_some() && focus != Some(COMPUTE));
    chord(&mut driven, Modifiers::ALT, Key::R);
    assert!(driven.window().state().view.lanes.pinned.is_empty());
}

#[test]
fn the_list_filters_hides_and_pins() {
    let mut driven = Driven::open();
    driven.click("Lanes");
    assert!(driven.window().state().view.lanes.list);
    driven.harness.get_by_label("Filter lanes by name").focus();
    driven.settle();
    driven.harness.get_by_label("Filter lanes by name").type_text("copies");
    driven.settle();
    assert_eq!(driven.window().state().view.lanes.filter, "copies");
    assert!(driven.shows("filtered out"));
    driven.harness.get_all_by_label("Pin Copies").next().unwrap().click();
    driven.settle();
    assert_eq!(driven.window().state().view.lanes.pinned.len(), 1);
    driven.press(Key::Escape);
    assert_eq!(driven.window().state().view.lanes.filter, "", "escape clears the text");
    assert!(!driven.shows("filtered out") && driven.window().state().view.lanes.list);
    driven.press(Key::Escape);
    assert!(!driven.window().state().view.lanes.list, "and closes the list only then");
}

#[test]
fn the_list_opens_and_closes_by_its_button_and_by_a_key() {
    let mut driven = Driven::open();
    let button = driven.harness.get_by_label("Lanes").rect();
    let timeline = driven.harness.get_by_role(egui::accesskit::Role::Canvas).rect();
    assert!(button.bottom() < timeline.top() + RULER_PT, "{button:?} reaches over the lanes of {timeline:?}");
    driven.click("Lanes");
    assert!(driven.window().state().view.lanes.list);
    driven.click("Lanes");
    assert!(!driven.window().state().view.lanes.list, "a second click closes it");
    chord(&mut driven, Modifiers::ALT, Key::L);
    assert!(driven.window().state().view.lanes.list);
    driven.harness.get_all_by_role_and_label(egui::Role::CheckBox, "Compute").next().unwrap().click();
    driven.settle();
    assert!(driven.window().state().view.lanes.hidden.contains(&COMPUTE), "a click inside leaves it open");
    assert!(driven.window().state().view.lanes.list);
    driven.press(Key::Escape);
    assert!(!driven.window().state().view.lanes.list);
}

#[test]
fn the_list_opens_with_its_filter_in_focus() {
    let mut driven = Driven::open();
    chord(&mut driven, Modifiers::ALT, Key::L);
    assert!(driven.harness.get_by_label("Filter lanes by name").is_focused());
    driven.harness.event(egui::Event::Text("copies".to_owned()));
    driven.settle();
    assert_eq!(driven.window().state().view.lanes.filter, "copies", "what is typed goes there without a click");
    // The list that opens again has the focus once more.
    driven.click("Lanes");
    driven.click("Lanes");
    assert!(driven.harness.get_by_label("Filter lanes by name").is_focused());
}

#[test]
fn the_button_on_a_lane_opens_its_menu() {
    let mut driven = Driven::open();
    driven.send(Command::Lane(LaneCommand::Focus(Some(COMPUTE))));
    driven.click("Menu of Compute");
    driven.click("Pin at the top");
    assert_eq!(driven.window().state().view.lanes.pinned, [COMPUTE]);
    assert!(!driven.shows("Pin at the top"), "the menu closes");
}

#[test]
fn a_key_goes_through_what_colours_stand_for_and_shows_what_they_mean() {
    let mut driven = Driven::open();
    for coloring in Coloring::ALL.into_iter().skip(1) {
        driven.press(Key::C);
        assert_eq!(driven.window().state().view.coloring, coloring);
        assert!(driven.shows(&format!("Legend, colours by {}", coloring.text())));
    }
    driven.press(Key::C);
    assert_eq!(driven.window().state().view.coloring, Coloring::Class);
    assert!(!driven.shows("Legend, colours by"));
    driven.press(Key::L);
    assert!(driven.shows("Legend, colours by Class"));
    driven.click("View");
    driven.click("Colour by");
    driven.click("Stream");
    assert_eq!(driven.window().state().view.coloring, Coloring::Stream);
}
