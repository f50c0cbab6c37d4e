//! Bookmarks, and the menu under the right button.

use crate::harness::Driven;
use crate::navigate::first_named;
use crate::selection::copied;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2};
use egui_kittest::kittest::Queryable as _;
use stepscope::units::Span;
use stepscope::view::{Command, Item, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

/// Where the lanes are: right of the names, below the toolbar, the overview and the ruler.
fn lanes(driven: &Driven) -> (f32, f32, f32) {
    let timeline = driven.harness.get_by_label_contains("Timeline of 2 ranks").rect();
    let names = 248.0_f32.min(timeline.width() * 0.3).round();
    (timeline.left() + names, timeline.right() - 6.0, timeline.top())
}

fn x_of(driven: &Driven, at_ns: i64) -> f32 {
    let (left, right, _) = lanes(driven);
    let view = driven.window().state().view.viewport;
    left + view.x_of(at_ns as f64, f64::from(right - left)) as f32
}

fn click(driven: &mut Driven, button: PointerButton, at: Pos2) {
    let press = |pressed| Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE };
    driven.harness.hover_at(at);
    driven.harness.run_steps(2);
    driven.harness.event(press(true));
    driven.harness.run_steps(1);
    driven.harness.event(press(false));
    driven.settle();
}

/// The place of a step in the strip of the first rank.
fn step_place(driven: &Driven, step: u32) -> Pos2 {
    let span = Item::Step(RANK, step).span(&driven.window().state().workspace).unwrap();
    let (_, _, top) = lanes(driven);
    pos2(x_of(driven, span.start_ns + span.len_ns() / 2), top + 24.0 + 12.0)
}

#[test]
fn a_bookmark_is_made_noted_found_again_and_survives_closing_the_file() {
    let mut driven = Driven::open();
    let item = first_named(&driven, "multi_tensor");
    driven.send(Command::Reveal(item));
    driven.harness.key_press_modifiers(Modifiers::COMMAND, Key::B);
    driven.settle();
    assert_eq!(driven.window().state().view.panel, Panel::Bookmarks);
    driven.harness.event(Event::Text("optimizer is late".to_owned()));
    driven.settle();
    driven.press(Key::Enter);
    assert_eq!(driven.window().state().view.bookmarks[0].note, "optimizer is late");
    assert!(driven.shows("optimizer is late") && driven.shows("multi_tensor_apply_kernel, at "));
    driven.send(Command::Select(None));
    driven.send(Command::ShowAll);
    driven.send(Command::CloseAll);
    assert!(driven.window().state().view.bookmarks.is_empty());
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(Panel::Bookmarks));
    driven.click("Go to optimizer is late");
    assert_eq!(driven.window().state().view.selected, Some(item));
    driven.click("Delete optimizer is late");
    assert!(driven.window().state().view.bookmarks.is_empty() && driven.shows("None yet"));
}

#[test]
fn escape_while_a_note_is_written_keeps_the_bookmark_and_the_selection() {
    let mut driven = Driven::open();
    let item = first_named(&driven, "multi_tensor");
    driven.send(Command::Reveal(item));
    driven.send(Command::AddBookmark);
    driven.harness.event(Event::Text("oops".to_owned()));
    driven.settle();
    driven.press(Key::Escape);
    let view = &driven.window().state().view;
    assert_eq!((view.bookmarks.len(), view.bookmarks[0].note.as_str(), view.noted), (1, "", None));
    assert_eq!(view.selected, Some(item));
}

#[test]
fn flags_on_the_ruler_and_on_the_overview_lead_back() {
    let mut driven = Driven::open();
    let span = Span::new(12_000_000, 13_000_000);
    driven.send(Command::SelectSpan(Some(span)));
    driven.send(Command::Show(Span::new(11_000_000, 14_000_000)));
    driven.send(Command::AddBookmark);
    driven.send(Command::EditBookmark(None));
    driven.send(Command::SelectSpan(None));
    driven.send(Command::ShowAll);
    let (left, right, top) = lanes(&driven);
    let flag = pos2(x_of(&driven, span.start_ns) + 3.0, top + 24.0 - 7.0);
    click(&mut driven, PointerButton::Primary, flag);
    let view = &driven.window().state().view;
    assert_eq!((view.selected_span, view.viewport.span()), (Some(span), Span::new(11_000_000, 14_000_000)));
    driven.send(Command::SelectSpan(None));
    driven.send(Command::ShowAll);
    let whole = driven.window().state().workspace.span().unwrap();
    let share = span.start_ns as f32 / whole.len_ns() as f32;
    click(&mut driven, PointerButton::Primary, pos2(left + share * (right - left) + 3.0, top - 48.0 + 5.0));
    assert_eq!(driven.window().state().view.selected_span, Some(span));
}

#[test]
fn the_right_button_selects_an_item_and_offers_what_can_be_done_with_it() {
    let mut driven = Driven::open();
    let place = step_place(&driven, 4);
    click(&mut driven, PointerButton::Secondary, place);
    assert_eq!(driven.window().state().view.selected, Some(Item::Step(RANK, 4)));
    for entry in ["Zoom to it", "Previous of the same name", "Copy name", "Copy as text", "Bookmark it"] {
        assert!(driven.shows(entry), "{entry}");
    }
    driven.click("Select its span");
    let view = &driven.window().state().view;
    assert_eq!(view.selected_span, Item::Step(RANK, 4).span(&driven.window().state().workspace));
    assert_eq!(view.panel, Panel::Selection);
    assert!(!driven.shows("Copy name"), "the menu is closed");
}

#[test]
fn the_right_button_on_nothing_is_about_the_view() {
    let mut driven = Driven::open();
    driven.send(Command::ShowStep(RANK, 4));
    let (_, right, top) = lanes(&driven);
    // Between the lanes of the second rank and the end of the window nothing is drawn.
    let at = pos2(right - 20.0, driven.harness.get_by_label_contains("Timeline of 2 ranks").rect().bottom() - 6.0);
    assert!(at.y > top);
    click(&mut driven, PointerButton::Secondary, at);
    driven.click("Bookmark this view");
    assert_eq!(driven.window().state().view.bookmarks.len(), 1);
}

#[test]
fn the_full_name_of_the_selection_is_copied() {
    let mut driven = Driven::open();
    let item = first_named(&driven, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn");
    driven.send(Command::Reveal(item));
    let modifiers = Modifiers::SHIFT;
    driven.harness.event(Event::Key { key: Key::C, physical_key: None, pressed: true, repeat: false, modifiers });
    let copied = copied(&mut driven);
    assert!(copied.is_some_and(|text| text.contains("ampere_bf16_s16816gemm")));
    assert!(driven.shows("Copied the name"));
}
