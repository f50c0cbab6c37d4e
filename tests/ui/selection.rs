//! The selected span, its panel, and the time axis, driven with the pointer and with keys.

use crate::harness::Driven;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2};
use egui_kittest::kittest::Queryable as _;
use stepscope::view::{Axis, Command, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

pub fn drag(driven: &mut Driven, button: PointerButton, from: Pos2, to: Pos2, modifiers: Modifiers) {
    let press = |pos, pressed| Event::PointerButton { pos, button, pressed, modifiers };
    driven.harness.event(Event::ModifiersChanged(modifiers));
    driven.harness.hover_at(from);
    driven.harness.run_steps(2);
    driven.harness.event(press(from, true));
    for part in 1..=8 {
        driven.harness.hover_at(from.lerp(to, part as f32 / 8.0));
        driven.harness.run_steps(1);
    }
    driven.harness.event(press(to, false));
    driven.harness.event(Event::ModifiersChanged(Modifiers::NONE));
    driven.settle();
}

/// What is copied in the next frames.
pub fn copied(driven: &mut Driven) -> Option<String> {
    let mut text = None;
    for _ in 0..4 {
        driven.harness.run_steps(1);
        let commands = &driven.harness.output().platform_output.commands;
        text = text.or_else(|| {
            commands.iter().find_map(|command| match command {
                egui::OutputCommand::CopyText(text) => Some(text.clone()),
                _ => None,
            })
        });
    }
    text
}

#[test]
fn a_span_drawn_on_the_ruler_shows_its_numbers_until_escape() {
    let mut driven = Driven::open();
    driven.send(Command::ShowPanel(Panel::Gaps));
    driven.send(Command::ShowStep(RANK, 4));
    // The ruler is the strip above the first header.
    let y = 112.0;
    drag(&mut driven, PointerButton::Primary, pos2(420.0, y), pos2(700.0, y), Modifiers::NONE);
    let span = driven.window().state().view.selected_span.expect("the ruler measures");
    assert_eq!(driven.window().state().view.panel, Panel::Selection);
    for text in ["Copy as text", "rank 0", "rank 1", "Compute only", "Idle by cause", "NVTX range"] {
        assert!(driven.shows(text), "{text}");
    }
    driven.harness.get_by_label("Copy as text").click();
    let text = copied(&mut driven).expect("something is copied");
    let doc = &driven.window().state().workspace.docs[0];
    let parts = doc.analysis.ranks[0].partition(span.shifted(-doc.map.offset_ns));
    let exact = stepscope::format::integer(parts.compute_only_ns);
    assert!(text.contains(&format!("{exact} ns")) && text.contains("rank 1 on"), "{text}");
    driven.press(Key::Escape);
    let view = &driven.window().state().view;
    assert_eq!((view.selected_span, view.panel), (None, Panel::Gaps));
}

#[test]
fn the_tab_says_how_to_select_a_span() {
    let mut driven = Driven::open();
    driven.click("Selection");
    assert!(driven.shows("No span is selected") && driven.shows("hold Shift and drag"));
    assert_eq!(driven.window().state().settings.panel, Panel::Overview, "not remembered for the next run");
}

#[test]
fn a_row_of_a_kernel_shows_its_longest_in_the_span() {
    let mut driven = Driven::open();
    let workspace = &driven.window().state().workspace;
    let span = stepscope::view::Item::Step(RANK, 4).span(workspace).unwrap();
    driven.send(Command::SelectSpan(Some(span)));
    driven.send(Command::ShowPanel(Panel::Selection));
    driven
        .harness
        .get_by_label_contains("Show the longest ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nt")
        .click_accesskit();
    driven.settle();
    let view = &driven.window().state().view;
    let item = view.selected.expect("a kernel");
    let inside = item.span(&driven.window().state().workspace).unwrap();
    assert_eq!(inside.intersect(span), Some(inside));
    assert_eq!(inside.len_ns(), 255_000, "the longest of the six");
}

#[test]
fn a_box_drawn_with_the_right_button_zooms_and_escape_gives_it_up() {
    let mut driven = Driven::open();
    driven.send(Command::ShowStep(RANK, 4));
    let before = driven.window().state().view.viewport;
    drag(&mut driven, PointerButton::Secondary, pos2(420.0, 400.0), pos2(620.0, 420.0), Modifiers::NONE);
    let after = driven.window().state().view.viewport;
    assert!(after.len_ns < 0.5 * before.len_ns, "{after:?}");
    driven.send(Command::Back);
    driven.send(Command::Select(Some(stepscope::view::Item::Step(RANK, 4))));
    let press = |pressed, pos| Event::PointerButton {
        pos,
        button: PointerButton::Secondary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    driven.harness.hover_at(pos2(420.0, 300.0));
    driven.harness.run_steps(2);
    driven.harness.event(press(true, pos2(420.0, 300.0)));
    for x in [450.0, 500.0, 600.0] {
        driven.harness.hover_at(pos2(x, 300.0));
        driven.harness.run_steps(1);
    }
    driven.press(Key::Escape);
    driven.harness.event(press(false, pos2(600.0, 300.0)));
    driven.settle();
    let view = &driven.window().state().view;
    assert_eq!(view.viewport, before);
    assert!(view.selected.is_some(), "Escape gave up the box and nothing else");
}

#[test]
fn a_drag_that_begins_as_the_details_close_is_not_lost() {
    let mut driven = Driven::open();
    driven.send(Command::ShowStep(RANK, 4));
    driven.send(Command::Select(Some(stepscope::view::Item::Step(RANK, 4))));
    let (from, to) = (pos2(420.0, 300.0), pos2(620.0, 300.0));
    driven.harness.hover_at(from);
    driven.harness.run_steps(2);
    let before = driven.window().state().view.viewport;
    let modifiers = Modifiers::NONE;
    driven.harness.event(Event::Key { key: Key::Escape, physical_key: None, pressed: true, repeat: false, modifiers });
    drag_on(&mut driven, from, to);
    assert!(driven.window().state().view.viewport.start_ns < before.start_ns - before.len_ns * 0.1);
}

/// Presses in the very next frame.
fn drag_on(driven: &mut Driven, from: Pos2, to: Pos2) {
    let press = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    driven.harness.event(press(from, true));
    for part in 1..=8 {
        driven.harness.hover_at(from.lerp(to, part as f32 / 8.0));
        driven.harness.run_steps(1);
    }
    driven.harness.event(press(to, false));
    driven.settle();
}

#[test]
fn the_time_axis_counts_from_the_capture_the_step_or_the_clock_everywhere() {
    let mut driven = Driven::open();
    driven.send(Command::ShowStep(RANK, 4));
    assert!(driven.shows("2.850 ms from 11.20 ms") && driven.shows("Time axis: since the capture's start"));
    driven.press(Key::T);
    assert_eq!(driven.window().state().view.axis, Axis::Step);
    assert!(driven.shows("2.850 ms from 0 µs") && driven.shows("Time axis: since step 4"));
    driven.harness.get_by_label_contains("Time axis:").click();
    driven.settle();
    assert_eq!(driven.window().state().view.axis, Axis::Wall);
    // The job began at 1 800 000 000 s, and its clock at its first event.
    assert!(driven.shows("2.850 ms from 08:00:00.") && driven.shows("Time: UTC"), "in the status bar");
    assert!(driven.shows("showing 08:00:00."), "in the description of the timeline");
    assert_eq!(driven.window().state().settings.axis, Axis::Wall, "remembered");
    driven.press(Key::T);
    assert_eq!(driven.window().state().view.axis, Axis::Capture);
}
