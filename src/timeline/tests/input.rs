//! What real input asks for.

use crate::timeline::testing::{Window, training, window};
use crate::units::Span;
use crate::view::{Command, Item, LaneKey, RankId, Viewport};
use egui::{Event, Modifiers, PointerButton, pos2, vec2};

const RANK: RankId = RankId { doc: 0, rank: 0 };
const PRIMARY: PointerButton = PointerButton::Primary;

/// A long kernel in the middle of step 2.
fn long_kernel(window: &Window) -> Item {
    let ops = &window.workspace.docs[0].trace.ranks[0].ops;
    let long = (0..ops.len()).find(|op| ops.start_ns[*op] > 24_000_000 && ops.span(*op).len_ns() == 180_000);
    Item::Op(RANK, long.unwrap() as u32)
}

/// Axis time under a point of the window.
fn time_at(window: &Window, x_pt: f32) -> f64 {
    window.state.viewport.time_at(f64::from(x_pt) - 248.0, 1280.0 - 248.0 - 6.0)
}

#[test]
fn the_wheel_zooms_at_the_pointer() {
    let mut window = window();
    let at = pos2(700.0, 300.0);
    let (time, len) = (time_at(&window, at.x), window.state.viewport.len_ns);
    let commands = window.wheel(at, vec2(0.0, 150.0), Modifiers::NONE);
    assert!(commands.iter().all(|c| matches!(c, Command::ZoomAt { .. })), "{commands:?}");
    assert!((window.state.viewport.len_ns / len - 0.5).abs() < 0.02, "150 points halve the view");
    assert!((time_at(&window, at.x) - time).abs() < window.state.viewport.len_ns / 1e4);
}

#[test]
fn sideways_wheels_and_shift_pan() {
    for (delta, modifiers) in [(vec2(-90.0, 0.0), Modifiers::NONE), (vec2(0.0, -90.0), Modifiers::SHIFT)] {
        let mut window = window();
        window.state.viewport = Viewport::of(Span::new(20_000_000, 30_000_000));
        let commands = window.wheel(pos2(700.0, 300.0), delta, modifiers);
        assert!(!commands.is_empty() && commands.iter().all(|c| matches!(c, Command::PanBy(_))), "{commands:?}");
        assert!(window.state.viewport.start_ns > 20_500_000.0);
        assert!((window.state.viewport.len_ns - 10e6).abs() < 1.0);
    }
}

#[test]
fn a_pinch_zooms() {
    let mut window = window();
    window.act(vec![Event::PointerMoved(pos2(700.0, 300.0))]);
    let commands = window.act(vec![Event::Zoom(2.0)]);
    let [Command::ZoomAt { factor, .. }] = commands[..] else { panic!("{commands:?}") };
    assert!((factor - 0.5).abs() < 1e-6);
}

#[test]
fn the_wheel_over_the_names_scrolls_no_further_than_the_last_lane() {
    let mut window = Window::new(training(), vec2(1280.0, 160.0));
    window.act(Vec::new());
    for _ in 0..10 {
        let commands = window.wheel(pos2(60.0, 100.0), vec2(0.0, -400.0), Modifiers::NONE);
        assert!(commands.iter().all(|c| matches!(c, Command::ScrollBy(_))), "{commands:?}");
    }
    let at_end = window.state.scroll_y_pt;
    assert!(at_end > 50.0 && at_end < 400.0, "{at_end}");
    window.wheel(pos2(60.0, 100.0), vec2(0.0, 4000.0), Modifiers::NONE);
    assert_eq!(window.state.scroll_y_pt, 0.0);
}

#[test]
fn a_drag_moves_time_with_the_pointer() {
    let mut window = window();
    window.state.viewport = Viewport::of(Span::new(20_000_000, 30_000_000));
    let before = time_at(&window, 800.0);
    window.drag(pos2(800.0, 300.0), pos2(600.0, 300.0), Modifiers::NONE);
    assert!((time_at(&window, 600.0) - before).abs() < 10_000.0, "what was under the pointer still is");
    assert_eq!(window.state.selected, None, "a drag is no click");
}

#[test]
fn a_drag_with_shift_selects_the_span_between_its_ends() {
    let mut window = window();
    let (from, to) = (time_at(&window, 900.0), time_at(&window, 500.0));
    // With Shift over the lanes, and without it on the ruler.
    for (y_pt, modifiers) in [(300.0, Modifiers::SHIFT | Modifiers::ALT), (10.0, Modifiers::ALT)] {
        window.state.selected_span = None;
        window.drag(pos2(900.0, y_pt), pos2(500.0, 320.0), modifiers);
        let span = window.state.selected_span.unwrap();
        assert!((span.start_ns as f64 - to).abs() < 2.0 && (span.end_ns as f64 - from).abs() < 2.0);
    }
}

#[test]
fn a_click_selects_and_a_click_on_nothing_clears() {
    let mut window = window();
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    for item in [Item::Step(RANK, 2), long_kernel(&window), Item::Nvtx(0, 0, 8)] {
        let at = window.place(item).unwrap_or_else(|| panic!("{item:?} is drawn"));
        window.click(at, PRIMARY);
        assert_eq!(window.state.selected, Some(item));
        window.state.selected_span = Some(Span::new(0, 1));
        window.click(pos2(600.0, 600.0), PRIMARY);
        assert_eq!((window.state.selected, window.state.selected_span), (None, None));
        window.time_passes();
    }
}

#[test]
fn a_double_click_fits_the_item_and_on_nothing_the_whole() {
    let mut window = window();
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    let item = long_kernel(&window);
    let span = item.span(&window.workspace).unwrap();
    let at = window.place(item).unwrap();
    window.click(at, PRIMARY);
    window.click(at, PRIMARY);
    let shown = window.state.viewport;
    assert!(shown.start_ns <= span.start_ns as f64 && shown.end_ns() >= span.end_ns as f64);
    assert!(shown.len_ns < 2.0 * span.len_ns() as f64);
    window.time_passes();
    window.click(pos2(600.0, 600.0), PRIMARY);
    window.click(pos2(600.0, 600.0), PRIMARY);
    assert_eq!(window.state.viewport, Viewport::fitted(window.workspace.span().unwrap()));
}

#[test]
fn a_panel_that_opens_below_moves_no_row_that_stays_in_sight() {
    let mut window = window();
    window.panel_pt = 200.0;
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    let item = long_kernel(&window);
    let before = window.place(item).unwrap();
    window.click(before, PRIMARY);
    for _ in 0..3 {
        assert_eq!(window.act(Vec::new()), []);
        assert_eq!(window.place(item), Some(before));
    }
    window.state.selected = None;
    window.act(Vec::new());
    assert_eq!(window.place(item), Some(before), "nor does one that closes");
}

#[test]
fn a_double_click_counts_when_the_panel_took_the_second_click() {
    let mut window = window();
    window.panel_pt = 500.0;
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    let item = long_kernel(&window);
    let at = window.place(item).unwrap();
    assert!(at.y > 640.0 - 500.0, "the panel will cover it: {at}");
    window.click(at, PRIMARY);
    window.click(at, PRIMARY);
    let (span, shown) = (item.span(&window.workspace).unwrap(), window.state.viewport);
    assert!(shown.len_ns < 2.0 * span.len_ns() as f64 && shown.start_ns <= span.start_ns as f64);
    assert_eq!(window.state.selected, Some(item));
    let seen = window.place(item).unwrap();
    assert!(seen.y > 24.0 && seen.y < 140.0, "scrolled into what is left: {seen}");
}

#[test]
fn an_item_selected_elsewhere_comes_into_sight_and_may_be_scrolled_away() {
    let mut window = Window::new(training(), vec2(1280.0, 160.0));
    window.act(Vec::new());
    let item = Item::Call(0, 0, 5);
    assert!(window.place(item).unwrap().y > 160.0);
    window.state.apply(&Command::Select(Some(item)), &window.workspace);
    assert!(matches!(window.act(Vec::new())[..], [Command::ScrollBy(_)]));
    assert!(window.place(item).unwrap().y < 160.0);
    window.state.apply(&Command::ScrollBy(-1000.0), &window.workspace);
    assert_eq!(window.act(Vec::new()), [], "scrolling away is not undone");
    window.state.apply(&Command::ShowSelection, &window.workspace);
    assert!(matches!(window.act(Vec::new())[..], [Command::ScrollBy(_)]));
}

#[test]
fn the_header_of_a_scrolled_rank_stays_and_takes_clicks() {
    let mut window = Window::new(training(), vec2(1280.0, 160.0));
    window.state.apply(&Command::ScrollBy(60.0), &window.workspace);
    window.act(Vec::new());
    let step = Item::Step(RANK, 2);
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    window.click(pos2(700.0, 24.0 + 17.0), PRIMARY);
    assert_eq!(window.state.selected, Some(step));
    window.time_passes();
    assert_eq!(window.click(pos2(14.0, 24.0 + 17.0), PRIMARY), [Command::ToggleLane(LaneKey::Rank(RANK))]);
}

#[test]
fn what_is_scrolled_under_a_bar_above_does_not_feel_the_pointer() {
    let mut window = Window::new(training(), vec2(1280.0, 160.0));
    let lane_y = window.beside(|lane| lane.key == LaneKey::Compute(RANK)).y;
    window.bar_pt = 40.0;
    // Its middle is then under the middle of the bar.
    window.state.scroll_y_pt = lane_y + 20.0;
    window.act(Vec::new());
    let mut shapes = |at| {
        window.act(vec![Event::PointerMoved(at)]);
        window.act(Vec::new());
        window.shapes
    };
    let outside = shapes(pos2(5000.0, 5000.0));
    assert_eq!(shapes(pos2(80.0, 20.0)), outside);
    assert!(shapes(pos2(80.0, 80.0)) > outside, "the header");
}

#[test]
fn a_double_click_on_a_step_shows_the_step() {
    let mut window = window();
    let at = window.place(Item::Step(RANK, 4)).unwrap();
    window.click(at, PRIMARY);
    let commands = window.click(at, PRIMARY);
    assert!(commands.contains(&Command::ShowStep(RANK, 4)), "{commands:?}");
}

#[test]
fn the_middle_button_zooms_to_an_item_without_selecting_it() {
    let mut window = window();
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    let item = long_kernel(&window);
    let at = window.place(item).unwrap();
    let commands = window.click(at, PointerButton::Middle);
    assert!(matches!(commands[..], [Command::Show(_)]), "{commands:?}");
}

#[test]
fn a_click_on_a_name_opens_the_lane_and_on_a_rank_chooses_it() {
    let mut window = window();
    let at = window.beside(|lane| lane.key == LaneKey::Compute(RANK));
    let commands = window.click(at, PRIMARY);
    assert_eq!(commands, [Command::ToggleLane(LaneKey::Compute(RANK))]);
    window.state.rank = None;
    window.time_passes();
    let at = window.beside(|lane| lane.key == LaneKey::Rank(RANK));
    assert_eq!(window.click(at, PRIMARY), [Command::ChooseRank(RANK)]);
    window.time_passes();
    let commands = window.click(pos2(14.0, at.y), PRIMARY);
    assert_eq!(commands, [Command::ToggleLane(LaneKey::Rank(RANK))]);
}

#[test]
fn frames_without_input_ask_for_nothing() {
    let mut window = window();
    window.act(vec![Event::PointerMoved(pos2(700.0, 100.0))]);
    for _ in 0..3 {
        assert_eq!(window.act(Vec::new()), []);
    }
}

#[test]
fn rows_go_with_their_document() {
    let mut window = window();
    assert!(window.cache.bytes() > 0);
    window.workspace.docs.clear();
    window.act(Vec::new());
    assert_eq!(window.cache.bytes(), 0);
}

#[test]
fn the_timeline_is_described_in_words() {
    let mut window = window();
    window.state.selected = Some(Item::Step(RANK, 2));
    let text = crate::timeline::describe(&window.workspace, &window.state);
    assert!(text.starts_with("Timeline of 1 rank, showing"), "{text}");
    assert!(text.contains("selected step 2 of 10.00 ms"), "{text}");
}
