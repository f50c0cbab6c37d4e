//! Two ranks beside each other: the bar, the keys, the menus, and what is kept of it.

use crate::harness::Driven;
use crate::pictures::{compare, cut};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use stepscope::app::picture::{PictureOptions, render};
use stepscope::view::{Command, CompareCommand, CompareForm, PaneLink, RankId, Theme, ViewState};

const RANKS: [RankId; 2] = [RankId { doc: 0, rank: 0 }, RankId { doc: 1, rank: 0 }];

/// The demo: two ranks in two files.
fn demo(width_pt: f32, height_pt: f32) -> Driven {
    let mut driven = Driven::empty(width_pt, height_pt);
    driven.send(Command::OpenDemo);
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven
}

fn view(driven: &Driven) -> &ViewState {
    &driven.window().state().view
}

#[test]
fn a_key_goes_through_the_forms_and_the_bar_says_which() {
    let mut driven = demo(1280.0, 800.0);
    assert!(!driven.shows("Moved together"));
    for (form, panes) in [(CompareForm::Stacked, 2), (CompareForm::SideBySide, 2), (CompareForm::Overlay, 1)] {
        driven.press(Key::B);
        assert_eq!(view(&driven).compare.as_ref().map(|compare| (compare.ranks, compare.form)), Some((RANKS, form)));
        assert_eq!(
            driven.harness.query_all_by_label_contains("Timeline of rank").count(),
            if panes == 2 { 2 } else { 0 }
        );
        assert_eq!(driven.shows("Moved together"), panes == 2);
    }
    driven.press(Key::B);
    assert!(view(&driven).compare.is_none() && driven.shows("Timeline of 2 ranks"));
}

#[test]
fn the_bar_chooses_form_ranks_and_link() {
    let mut driven = demo(1600.0, 900.0);
    driven.send(Command::Compare(CompareCommand::Show(Some(CompareForm::Stacked))));
    driven.click("Left and right");
    assert_eq!(view(&driven).compare.as_ref().unwrap().form, CompareForm::SideBySide);
    driven.click("Swap");
    assert_eq!(view(&driven).compare.as_ref().unwrap().ranks, [RANKS[1], RANKS[0]]);
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::B);
    driven.settle();
    assert_eq!(view(&driven).compare.as_ref().unwrap().link, PaneLink::Step);
    // The demo's ranks begin their steps at other times of their captures, so the offset is told.
    let offset_ns = view(&driven).compare.as_ref().unwrap().offset_ns;
    assert_eq!(driven.shows(if offset_ns > 0 { " later" } else { " earlier" }), offset_ns != 0);
    driven.click("Show all ranks again");
    assert!(view(&driven).compare.is_none());
}

#[test]
fn steps_go_on_together_and_items_of_the_other_rank_show_in_its_pane() {
    let mut driven = demo(1280.0, 800.0);
    driven.send(Command::Compare(CompareCommand::Show(Some(CompareForm::SideBySide))));
    driven.send(Command::Compare(CompareCommand::Link(PaneLink::Step)));
    driven.send(Command::ShowStep(RANKS[0], 4));
    driven.press(Key::CloseBracket);
    let state = driven.window().state();
    let start = |pane: usize| {
        let steps = state.workspace.docs[pane].analysis.ranks[0].steps.as_ref().unwrap();
        state.workspace.docs[pane].axis_span(steps.steps[5].window).start_ns as f64
    };
    let views = [0, 1].map(|pane| state.view.of_pane(pane).viewport.start_ns);
    assert_eq!(views, [start(0), start(1)]);
}

#[test]
fn a_clock_that_is_changed_keeps_what_both_panes_show() {
    let mut driven = demo(1280.0, 800.0);
    driven.send(Command::Compare(CompareCommand::Show(Some(CompareForm::Stacked))));
    driven.send(Command::Compare(CompareCommand::Link(PaneLink::Apart)));
    driven.send(Command::InPane(1, Box::new(Command::ShowStep(RANKS[1], 6))));
    driven.send(Command::InPane(0, Box::new(Command::ShowStep(RANKS[0], 3))));
    let shown = |driven: &Driven| {
        let state = driven.window().state();
        [0, 1].map(|pane| state.workspace.docs[pane].own_ns(state.view.of_pane(pane).viewport.middle_ns() as i64))
    };
    let before = shown(&driven);
    driven.send(Command::SetClock(stepscope::job::ClockMode::Wall));
    let after = shown(&driven);
    for (before, after) in before.into_iter().zip(after) {
        assert!((before - after).abs() <= 1, "{before} {after}");
    }
    // A file that is moved by hand is seen to move in its pane.
    let at = view(&driven).of_pane(1).viewport;
    driven.send(Command::ShiftDoc { doc: 1, by_ns: 3_000_000 });
    assert_eq!(view(&driven).of_pane(1).viewport, at);
    assert!((after[1] - shown(&driven)[1] - 3_000_000).abs() <= 1);
    // Linked by time, they show one time whatever the clock.
    driven.send(Command::Compare(CompareCommand::Link(PaneLink::Time)));
    driven.send(Command::ShiftDoc { doc: 1, by_ns: -1_000_000 });
    let view = view(&driven);
    assert_eq!(view.of_pane(0).viewport, view.of_pane(1).viewport);
}

#[test]
fn a_link_opens_the_same_panes() {
    let mut driven = demo(1280.0, 800.0);
    let first = stepscope::view::SavedView::of(view(&driven));
    assert!(first.compare.is_none());
    driven.send(Command::Compare(CompareCommand::Show(Some(CompareForm::SideBySide))));
    driven.send(Command::ShowStep(RANKS[1], 2));
    let saved = stepscope::view::SavedView::of(view(&driven));
    let link =
        stepscope::view::Link { files: vec!["a".into()], view: saved.clone(), ..stepscope::view::Link::default() };
    let read = stepscope::view::Link::parse(&link.to_text()).unwrap();
    assert_eq!(read.view, saved);
    let state = driven.window().state();
    let mut again = ViewState::open(&state.workspace);
    read.view.restore(&mut again, &state.workspace);
    assert_eq!([0, 1].map(|p| again.of_pane(p).viewport), [0, 1].map(|p| state.view.of_pane(p).viewport));
}

#[test]
fn the_menu_of_a_rank_offers_to_compare_it() {
    let mut driven = demo(1280.0, 800.0);
    driven.send(Command::Lane(stepscope::view::LaneCommand::Focus(Some(stepscope::view::LaneKey::Rank(RANKS[1])))));
    driven.harness.get_by_label_contains("Menu of Rank 1").click();
    driven.settle();
    driven.click("Compare with rank 0");
    assert_eq!(view(&driven).compare.as_ref().map(|compare| compare.ranks), Some(RANKS));
}

#[test]
fn panes_and_overlaid_ranks_look_as_designed() {
    let driven = demo(1280.0, 800.0);
    let workspace = &driven.window().state().workspace;
    let mut state = ViewState::open(workspace);
    for (form, theme, name) in [
        (CompareForm::Stacked, Theme::Dark, "panes_stacked_dark"),
        (CompareForm::SideBySide, Theme::Light, "panes_side_by_side_light"),
        (CompareForm::Overlay, Theme::Dark, "overlaid_dark"),
    ] {
        state.apply(&Command::Compare(CompareCommand::Show(Some(form))), workspace);
        state.apply(&Command::ShowStep(RANKS[0], 5), workspace);
        let options = PictureOptions { width_px: 900, height_px: 560, theme, side: None, ..PictureOptions::default() };
        compare(&cut(&render(workspace, &state, &options), 0, 0, 900, 560), name);
    }
}

#[test]
fn the_panel_of_differences_is_about_the_two_on_the_timeline() {
    let mut driven = demo(1400.0, 900.0);
    driven.send(Command::ShowPanel(stepscope::view::Panel::Differences));
    driven.click("Compare on timeline");
    assert_eq!(view(&driven).compare.as_ref().map(|compare| compare.ranks), Some(RANKS));
    assert!(driven.harness.query_by_label("Compare on timeline").is_none(), "they are");
    // The panel's button and the bar's, which is above it.
    let swap = |driven: &mut Driven, nth: usize| {
        driven.harness.query_all_by_label("Swap").nth(nth).unwrap().click();
        driven.settle();
    };
    for nth in 0..2 {
        let before = view(&driven).compare.as_ref().unwrap().ranks;
        swap(&mut driven, nth);
        assert_eq!(view(&driven).compare.as_ref().unwrap().ranks, [before[1], before[0]]);
    }
}

#[test]
fn the_bar_takes_two_rows_at_most_in_a_small_window() {
    let mut driven = demo(640.0, 360.0);
    driven.send(Command::Compare(CompareCommand::Show(Some(CompareForm::Stacked))));
    assert!(driven.harness.query_by_label("Left and right").is_none(), "the forms are a list");
    let bar = driven.harness.get_by_label("First rank").rect();
    let close = driven.harness.get_by_label("Show all ranks again").rect();
    assert!(close.bottom() - bar.top() < 60.0, "{bar} {close}");
    driven.click("How the two ranks stand");
    driven.click("Overlaid");
    assert_eq!(view(&driven).compare.as_ref().unwrap().form, CompareForm::Overlay);
}

#[test]
fn another_file_beside_them_leaves_the_two_ranks_beside_each_other() {
    let mut driven = Driven::empty(1280.0, 800.0);
    driven.send(Command::Open(vec!["/x/rank0.sqlite".into(), "/x/rank1.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven.send(Command::Compare(CompareCommand::Show(Some(CompareForm::SideBySide))));
    driven.send(Command::Open(vec!["/x/rank2.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 3);
    let compare = view(&driven).compare.as_ref().map(|compare| (compare.ranks, compare.form));
    assert_eq!(compare, Some((RANKS, CompareForm::SideBySide)));
    driven.send(Command::StartAnew);
    assert!(view(&driven).compare.is_none());
    driven.press(Key::B);
    driven.send(Command::CloseAll);
    assert!(view(&driven).compare.is_none(), "ranks that are gone are not compared");
}

#[test]
fn a_long_text_of_the_clock_leaves_the_status_bar_its_room() {
    let mut driven = demo(640.0, 360.0);
    driven.send(Command::ShiftDoc { doc: 1, by_ns: -1_535_000 });
    driven.wait(|window| !window.state().workspace.job.moving);
    let bar = driven.harness.get_by_label_contains("Clock: ").rect();
    assert!(bar.width() < 200.0, "{bar}");
    let warnings = driven.harness.query_all_by_label_contains("warning").map(|node| node.rect().left());
    assert!(warnings.into_iter().all(|left| left >= 0.0));
}
