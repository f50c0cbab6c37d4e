//! Two ranks in panes of their own, with the mouse.

use super::job::{FIRST, SECOND, all_reduce, two};
use crate::timeline::testing::Window;
use crate::view::{Command, CompareCommand, CompareForm, Item, LaneKey, PaneLink, ViewState, Viewport};
use egui::{Modifiers, PointerButton, Pos2, Vec2, pos2, vec2};

fn in_form(form: CompareForm, link: PaneLink) -> Window {
    let mut window = two();
    for command in [CompareCommand::Show(Some(form)), CompareCommand::Link(link)] {
        window.state.apply(&Command::Compare(command), &window.workspace);
    }
    for _ in 0..2 {
        window.act(Vec::new());
    }
    window
}

fn views(state: &ViewState) -> [Viewport; 2] {
    [0, 1].map(|pane| state.of_pane(pane).viewport)
}

/// Where a window of 1280 by 900 points has its panes: a point in the lanes of each.
fn in_panes(form: CompareForm) -> [Pos2; 2] {
    if form == CompareForm::SideBySide {
        [pos2(500.0, 400.0), pos2(1100.0, 400.0)]
    } else {
        [pos2(800.0, 300.0), pos2(800.0, 800.0)]
    }
}

#[test]
fn the_wheel_zooms_the_pane_under_the_pointer_and_a_linked_one_follows() {
    for form in [CompareForm::Stacked, CompareForm::SideBySide] {
        for (link, pane) in [(PaneLink::Time, 0), (PaneLink::Time, 1), (PaneLink::Apart, 0), (PaneLink::Apart, 1)] {
            let mut window = in_form(form, link);
            let before = views(&window.state);
            window.wheel(in_panes(form)[pane], vec2(0.0, 120.0), Modifiers::NONE);
            let after = views(&window.state);
            assert!(after[pane].len_ns < before[pane].len_ns, "{form:?} {link:?} {pane}");
            let follows = after[1 - pane] == after[pane];
            assert_eq!(follows, link == PaneLink::Time, "{form:?} {pane}");
            assert_eq!(after[1 - pane] == before[1 - pane], link == PaneLink::Apart);
            assert_eq!(window.state.compare.as_ref().unwrap().active, pane, "keys move it from now on");
        }
    }
}

#[test]
fn a_drag_moves_the_pane_it_began_in() {
    let mut window = in_form(CompareForm::SideBySide, PaneLink::Apart);
    window.state.apply(&Command::InPane(1, Box::new(Command::ZoomAt { at_ns: 3e6, factor: 0.25 })), &window.workspace);
    let before = views(&window.state);
    let from = in_panes(CompareForm::SideBySide)[1];
    window.drag(from, from - vec2(60.0, 0.0), Modifiers::NONE);
    let after = views(&window.state);
    assert_eq!(after[0], before[0]);
    assert!(after[1].start_ns > before[1].start_ns && after[1].len_ns == before[1].len_ns);
}

#[test]
fn each_pane_shows_its_rank_alone_with_arrivals_between_them() {
    let mut window = in_form(CompareForm::Stacked, PaneLink::Time);
    let whole = std::mem::take(&mut window.state);
    let lanes = |window: &mut Window, pane: usize| {
        window.state = whole.of_pane(pane);
        window.layout()
    };
    let (above, below) = (lanes(&mut window, 0), lanes(&mut window, 1));
    assert!(above.lanes.iter().all(|lane| lane.rank == Some(FIRST)) && !above.lanes.is_empty());
    assert!(below.lanes.iter().all(|lane| lane.rank == Some(SECOND)) && !below.lanes.is_empty());
    assert!(above.pinned.is_empty());
    let pinned: Vec<_> = below.pinned.iter().map(|lane| (lane.key, lane.against)).collect();
    assert_eq!(pinned, [(LaneKey::Differences(SECOND), Some(FIRST))]);
    // In the middle of both lists, at one height.
    window.state = whole;
    window.state.apply(&Command::Compare(CompareCommand::Show(Some(CompareForm::SideBySide))), &window.workspace);
    let whole = std::mem::take(&mut window.state);
    let sides = [0, 1].map(|pane| {
        window.state = whole.of_pane(pane);
        let layout = window.layout();
        layout.pinned.iter().chain(&layout.lanes).map(|lane| (lane.top_pt, lane.height_pt)).collect::<Vec<_>>()
    });
    assert_eq!(sides[0], sides[1]);
}

#[test]
fn overlaid_lanes_of_one_kind_touch() {
    let mut window = in_form(CompareForm::Overlay, PaneLink::Time);
    let layout = window.layout();
    let at = |key: LaneKey| layout.lanes.iter().position(|lane| lane.key == key).unwrap();
    for key in [LaneKey::Rank, LaneKey::Compute, LaneKey::Communication, LaneKey::Idle] {
        let (first, second) = (at(key(FIRST)), at(key(SECOND)));
        assert_eq!(second, first + 1);
        let (above, below) = (&layout.lanes[first], &layout.lanes[second]);
        let own = above.row_edges_pt(above.rows - 1).1;
        assert!(above.touches && below.top_pt - above.top_pt <= own + 1.0, "no room between them");
        assert!(!below.touches);
    }
    // A click finds what is drawn.
    let item = all_reduce(&window, SECOND, 2);
    let place = window.place(item).unwrap();
    window.click(place, PointerButton::Primary);
    assert_eq!(window.state.selected, Some(item));
}

#[test]
fn what_is_pointed_at_in_one_pane_is_marked_in_the_other() {
    let mut window = in_form(CompareForm::Stacked, PaneLink::Time);
    let item = all_reduce(&window, FIRST, 1);
    let whole = window.state.clone();
    window.state = whole.of_pane(0);
    // The first pane is as a window of half the height.
    let place = window.place(item);
    window.state = whole;
    let x = place.unwrap().x;
    let hits: Vec<Option<Item>> = (24..440)
        .step_by(6)
        .map(|y| {
            window.act(vec![egui::Event::PointerMoved(pos2(x, y as f32))]);
            window.cache.pointed
        })
        .collect();
    assert!(hits.contains(&Some(item)), "{hits:?}");
    let y = 24 + 6 * hits.iter().position(|hit| *hit == Some(item)).unwrap();
    let shapes = |window: &mut Window, at: Pos2| {
        window.act(vec![egui::Event::PointerMoved(at)]);
        window.act(Vec::new());
        window.shapes
    };
    let pointed = shapes(&mut window, pos2(x, y as f32));
    let beside = shapes(&mut window, pos2(x, 30.0));
    assert!(pointed > beside, "a frame and its label in the other pane: {pointed} {beside}");
}

#[test]
fn the_line_between_the_panes_can_be_dragged_and_is_put_back_by_two_clicks() {
    let mut window = in_form(CompareForm::Stacked, PaneLink::Apart);
    let line = pos2(640.0, 450.0);
    window.drag(line, line + Vec2::new(0.0, -200.0), Modifiers::NONE);
    window.act(Vec::new());
    // What was the lower half of the first pane belongs to the second now.
    let before = views(&window.state);
    window.wheel(pos2(800.0, 380.0), vec2(0.0, 120.0), Modifiers::NONE);
    let after = views(&window.state);
    assert!(after[0] == before[0] && after[1].len_ns < before[1].len_ns);
    window.time_passes();
    let moved = pos2(640.0, 250.0);
    window.click(moved, PointerButton::Primary);
    window.click(moved, PointerButton::Primary);
    window.act(Vec::new());
    let before = views(&window.state);
    window.wheel(pos2(800.0, 380.0), vec2(0.0, 120.0), Modifiers::NONE);
    assert!(views(&window.state)[0].len_ns < before[0].len_ns);
}

#[test]
fn what_is_where_in_a_pane_does_not_depend_on_what_was_shown_before() {
    // Before there were panes, lanes filled the whole window.
    let mut after = in_form(CompareForm::Stacked, PaneLink::Time);
    let mut fresh = two();
    fresh.cache = crate::timeline::Cache::default();
    fresh.state.apply(&Command::Compare(CompareCommand::Show(Some(CompareForm::Stacked))), &fresh.workspace);
    let found = |window: &mut Window| -> Vec<Option<Item>> {
        (30..440)
            .step_by(4)
            .map(|y| {
                window.act(vec![egui::Event::PointerMoved(pos2(640.0, y as f32))]);
                window.cache.pointed
            })
            .collect()
    };
    let seen = found(&mut fresh);
    assert!(seen.iter().any(Option::is_some));
    assert_eq!(found(&mut after), seen);
}
