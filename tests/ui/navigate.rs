//! From item to item, and everything of one name.

use crate::harness::Driven;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stepscope::units::Span;
use stepscope::view::{Command, Item, Kin, RankId, Side};

const RANK: RankId = RankId { doc: 0, rank: 0 };

/// The first operation of the rank whose short name begins with `name`.
pub fn first_named(driven: &Driven, name: &str) -> Item {
    let trace = &driven.window().state().workspace.docs[0].trace;
    let names = &trace.ranks[0].ops.name;
    let op = names.iter().position(|id| trace.op_short_name(*id).starts_with(name)).unwrap();
    Item::Op(RANK, op as u32)
}

fn name_of(driven: &Driven, item: Option<Item>) -> String {
    let Some(Item::Op(_, op)) = item else { panic!("an operation: {item:?}") };
    let trace = &driven.window().state().workspace.docs[0].trace;
    trace.op_short_name(trace.ranks[0].ops.name[op as usize]).to_owned()
}

#[test]
fn comma_and_period_walk_the_row_and_with_shift_the_name() {
    let mut driven = Driven::open();
    let first = first_named(&driven, "multi_tensor");
    driven.send(Command::Reveal(first));
    driven.press(Key::Period);
    let next = driven.window().state().view.selected;
    assert_ne!(next, Some(first));
    driven.press(Key::Comma);
    assert_eq!(driven.window().state().view.selected, Some(first));
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::Period);
    driven.settle();
    let same = driven.window().state().view.selected;
    assert_ne!(same, next, "the next on the row has another name");
    assert_eq!(name_of(&driven, same), name_of(&driven, Some(first)));
    let view = &driven.window().state().view;
    let span = same.unwrap().span(&driven.window().state().workspace).unwrap();
    assert_eq!(view.viewport.span().intersect(span), Some(span), "brought into sight");
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::Comma);
    driven.settle();
    assert_eq!(driven.window().state().view.selected, Some(first));
}

#[test]
fn the_details_panel_tells_how_long_the_others_of_the_name_took() {
    let mut driven = Driven::open();
    let item = first_named(&driven, "multi_tensor");
    driven.send(Command::Reveal(item));
    assert!(driven.shows("Same name") && driven.shows("Share of step") && driven.shows("Durations of this name: 12"));
    driven.click("Next");
    let next = driven.window().state().view.selected;
    assert_ne!(next, Some(item));
    driven.click("Shortest");
    let workspace = &driven.window().state().workspace;
    let length = |item: Option<Item>| item.and_then(|item| item.span(workspace)).map(Span::len_ns);
    let Some(Item::Op(_, op)) = driven.window().state().view.selected else { panic!("an operation") };
    let ops = &workspace.docs[0].trace.ranks[0].ops;
    let same = (0..ops.len()).filter(|at| ops.name[*at] == ops.name[op as usize]);
    assert_eq!(length(driven.window().state().view.selected), same.map(|at| ops.span(at).len_ns()).min());
}

#[test]
fn what_has_no_name_has_no_block_of_the_name() {
    let mut driven = Driven::open();
    driven.send(Command::Reveal(Item::Step(RANK, 2)));
    assert!(!driven.shows("Same name"));
    driven.send(Command::SelectNeighbour(Kin::Lane, Side::After));
    assert_eq!(driven.window().state().view.selected, Some(Item::Step(RANK, 3)));
}

#[test]
fn the_menu_walks_too() {
    let mut driven = Driven::open();
    driven.send(Command::Reveal(Item::Step(RANK, 2)));
    driven.click("View");
    driven.harness.get_by_label_contains("Selected item").click();
    driven.settle();
    driven.click("Next on the row");
    assert_eq!(driven.window().state().view.selected, Some(Item::Step(RANK, 3)));
}
