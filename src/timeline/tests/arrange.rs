//! Arranging lanes by commands and by real input.

use crate::timeline::layout::{Lane, Layout};
use crate::timeline::testing::{Window, training, window};
use crate::view::{Command, Item, LaneCommand, LaneKey, RankId, Viewport};
use egui::{Event, Modifiers, PointerButton, Pos2, vec2};

const RANK: RankId = RankId { doc: 0, rank: 0 };
const COMPUTE: LaneKey = LaneKey::Compute(RANK);
const COMM: LaneKey = LaneKey::Communication(RANK);
const COPIES: LaneKey = LaneKey::Copies(RANK);

fn send(window: &mut Window, command: LaneCommand) {
    window.state.apply(&Command::Lane(command), &window.workspace);
    // One frame answers, the next shows it.
    window.act(Vec::new());
    window.act(Vec::new());
}

fn layout(window: &mut Window) -> Layout {
    window.layout()
}

fn keys(window: &mut Window) -> Vec<LaneKey> {
    layout(window).lanes.iter().map(|lane| lane.key).collect()
}

fn lane(window: &mut Window, key: LaneKey) -> Lane {
    layout(window).lanes.into_iter().find(|lane| lane.key == key).unwrap()
}

fn place(window: &mut Window, key: LaneKey) -> usize {
    keys(window).iter().position(|lane| *lane == key).unwrap()
}

/// A point on the name of lane `key`, `from_top` points below its top.
fn on_name(window: &mut Window, key: LaneKey, from_top: f32) -> Pos2 {
    let middle = window.beside(|lane| lane.key == key);
    let height = lane(window, key).height_pt;
    Pos2::new(middle.x, middle.y - height / 2.0 + from_top)
}

#[test]
fn a_hidden_lane_goes_with_what_is_below_it_and_is_counted() {
    let mut window = window();
    send(&mut window, LaneCommand::Hide(Some(COPIES)));
    window.state.apply(&Command::ToggleLane(COMPUTE), &window.workspace);
    send(&mut window, LaneCommand::Hide(Some(COMPUTE)));
    let found = layout(&mut window);
    let gone = |key: &LaneKey| *key == COPIES || *key == COMPUTE || matches!(key, LaneKey::Stream(..));
    assert!(!found.lanes.iter().any(|lane| gone(&lane.key)));
    assert_eq!((found.hidden, found.filtered), (2, 0));
    assert!(found.all.iter().any(|lane| lane.key == COPIES), "the list still has it");
    send(&mut window, LaneCommand::ShowAll);
    assert_eq!(layout(&mut window).hidden, 0);
    assert!(keys(&mut window).contains(&COPIES));
}

#[test]
fn the_filter_keeps_lanes_by_name_with_their_headers() {
    let mut window = window();
    send(&mut window, LaneCommand::Filter("COMM".to_owned()));
    assert_eq!(keys(&mut window), [LaneKey::Rank(RANK), COMM]);
    assert!(layout(&mut window).filtered > 5);
    send(&mut window, LaneCommand::Filter("rank 0".to_owned()));
    assert_eq!(layout(&mut window).filtered, 0, "a header that fits brings all of its lanes");
    send(&mut window, LaneCommand::Filter("no such lane".to_owned()));
    assert_eq!(keys(&mut window), []);
    send(&mut window, LaneCommand::Filter(String::new()));
    assert!(keys(&mut window).len() > 5);
}

#[test]
fn a_pinned_lane_stays_at_the_top_while_the_others_scroll() {
    let mut window = Window::new(training(), vec2(1280.0, 220.0));
    send(&mut window, LaneCommand::Pin(Some(COMPUTE)));
    let pinned = layout(&mut window).pinned;
    assert_eq!(pinned.iter().map(|lane| (lane.key, lane.rank)).collect::<Vec<_>>(), [(COMPUTE, Some(RANK))]);
    assert!(keys(&mut window).contains(&COMPUTE), "it stays among the others too");
    // What is under the pointer there is the lane's, however far the others are scrolled.
    let ops = &window.workspace.docs[0].trace.ranks[0].ops;
    let long = (0..ops.len()).find(|op| ops.span(*op).len_ns() == 180_000).unwrap();
    let item = Item::Op(RANK, long as u32);
    window.state.viewport = Viewport::of(item.span(&window.workspace).unwrap());
    for scroll in [0.0, 120.0] {
        window.state.scroll_y_pt = scroll;
        window.act(Vec::new());
        let at = Pos2::new(760.0, 24.0 + pinned[0].first_pt / 2.0);
        window.time_passes();
        let commands = window.click(at, PointerButton::Primary);
        assert_eq!(commands, [Command::Select(Some(item))]);
        assert_eq!(window.click(Pos2::new(80.0, at.y), PointerButton::Primary).len(), 1, "its name is there as well");
    }
    send(&mut window, LaneCommand::Pin(Some(COMPUTE)));
    assert_eq!(layout(&mut window).pinned, []);
}

#[test]
fn pinned_lanes_leave_room_for_the_others() {
    let mut window = Window::new(training(), vec2(1280.0, 160.0));
    for key in [LaneKey::Nvtx(0, 0), COMPUTE, COMM, COPIES, LaneKey::Idle(RANK)] {
        send(&mut window, LaneCommand::Pin(Some(key)));
    }
    window.wheel(Pos2::new(60.0, 150.0), vec2(0.0, -9000.0), Modifiers::NONE);
    let limit = window.state.scroll_y_pt;
    let visible_pt = 136.0 - (136.0_f32 * 0.6).floor();
    let height_pt = layout(&mut window).height_pt;
    assert!((limit - (height_pt + 24.0 - visible_pt)).abs() < 1.0, "the last lane can be scrolled to: {limit}");
}

#[test]
fn a_drag_of_a_name_moves_the_lane_among_its_neighbours() {
    let mut window = window();
    let before = place(&mut window, COMPUTE);
    let (from, to) = (on_name(&mut window, COMPUTE, 8.0), on_name(&mut window, COPIES, 8.0));
    let commands = window.drag(from, to, Modifiers::NONE);
    assert!(commands.iter().all(|c| matches!(c, Command::Lane(LaneCommand::Order(_)))), "{commands:?}");
    assert!(place(&mut window, COMPUTE) > before && place(&mut window, COMM) == before);
    assert_eq!(keys(&mut window)[0], LaneKey::Rank(RANK), "the header stays on top of its block");
    send(&mut window, LaneCommand::Reset);
    assert_eq!(place(&mut window, COMPUTE), before);
}

#[test]
fn keys_move_the_chosen_lane_and_stop_at_the_ends() {
    let mut window = window();
    let before = keys(&mut window);
    send(&mut window, LaneCommand::Focus(Some(COMM)));
    send(&mut window, LaneCommand::MoveBy(-1));
    assert_eq!(place(&mut window, COMM) + 1, before.iter().position(|key| *key == COMM).unwrap());
    for _ in 0..20 {
        send(&mut window, LaneCommand::MoveBy(-1));
    }
    assert_eq!(place(&mut window, COMM), 1, "right below the header");
    assert_eq!(window.state.lanes.asked, None);
    assert_eq!(window.act(Vec::new()), [], "nothing is asked again");
    for _ in 0..20 {
        send(&mut window, LaneCommand::MoveBy(1));
    }
    assert_eq!(place(&mut window, COMM), before.len() - 1);
}

#[test]
fn keys_choose_one_lane_after_the_other_and_scroll_to_it() {
    let mut window = Window::new(training(), vec2(1280.0, 160.0));
    window.act(Vec::new());
    let all = keys(&mut window);
    send(&mut window, LaneCommand::FocusBy(1));
    assert_eq!(window.state.lanes.focus, Some(all[0]));
    for key in &all[1..] {
        send(&mut window, LaneCommand::FocusBy(1));
        assert_eq!(window.state.lanes.focus, Some(*key));
        let lane = lane(&mut window, *key);
        let scroll = window.state.scroll_y_pt;
        assert!(lane.top_pt >= scroll && lane.top_pt < scroll + 136.0, "{key:?} is in sight at {scroll}");
    }
    for _ in &all {
        send(&mut window, LaneCommand::FocusBy(-1));
    }
    assert_eq!((window.state.lanes.focus, window.state.scroll_y_pt), (Some(all[0]), 0.0));
}

#[test]
fn the_lower_edge_of_a_name_resizes_the_lane_and_a_double_click_resets_it() {
    let mut window = window();
    let height = lane(&mut window, COMM).height_pt;
    let edge = on_name(&mut window, COMM, height - 1.0);
    let commands = window.drag(edge, edge + vec2(0.0, 40.0), Modifiers::NONE);
    assert!(matches!(commands[..], [Command::Lane(LaneCommand::Scale(COMM, _)), ..]), "{commands:?}");
    let resized = lane(&mut window, COMM).height_pt;
    assert!((resized - height - 40.0).abs() <= 2.0, "{height} {resized}");
    window.time_passes();
    let edge = on_name(&mut window, COMM, resized - 1.0);
    window.click(edge, PointerButton::Primary);
    let commands = window.click(edge, PointerButton::Primary);
    assert_eq!(commands, [Command::Lane(LaneCommand::Scale(COMM, 1.0))]);
    assert_eq!(lane(&mut window, COMM).height_pt, height);
}

#[test]
fn a_lane_keeps_its_height_when_the_room_changes() {
    let mut window = window();
    send(&mut window, LaneCommand::Scale(COMPUTE, 2.0));
    let height = lane(&mut window, COMPUTE).height_pt;
    send(&mut window, LaneCommand::Hide(Some(COMM)));
    assert_eq!(lane(&mut window, COMPUTE).height_pt, height);
}

#[test]
fn a_right_click_on_a_name_opens_the_menu_of_its_lane() {
    let mut window = window();
    let at = on_name(&mut window, COMM, 8.0);
    let commands = window.click(at, PointerButton::Secondary);
    assert_eq!(commands, [Command::Lane(LaneCommand::Focus(Some(COMM)))]);
    let shapes = window.shapes;
    window.act(Vec::new());
    window.act(Vec::new());
    assert!(window.shapes > shapes, "the menu is drawn");
    window.act(vec![Event::PointerGone]);
}

#[test]
fn the_middle_button_on_the_names_scrolls() {
    let mut window = Window::new(training(), vec2(1280.0, 160.0));
    window.act(Vec::new());
    let at = Pos2::new(80.0, 120.0);
    let press =
        |pressed, pos| Event::PointerButton { pos, button: PointerButton::Middle, pressed, modifiers: Modifiers::NONE };
    window.act(vec![Event::PointerMoved(at)]);
    window.act(vec![press(true, at)]);
    window.act(vec![Event::PointerMoved(at - vec2(0.0, 20.0))]);
    window.act(vec![Event::PointerMoved(at - vec2(0.0, 40.0))]);
    window.act(vec![press(false, at - vec2(0.0, 40.0))]);
    assert!(window.state.scroll_y_pt > 10.0, "{}", window.state.scroll_y_pt);
}
