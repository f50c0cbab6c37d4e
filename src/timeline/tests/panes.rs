//! Two ranks in panes of their own, with the mouse.

use super::job::{FIRST, SECOND, all_reduce, two};
use crate::analysis::{Params, analyze};
use crate::timeline::layout::{Lane, Layout};
use crate::timeline::strip;
use crate::timeline::testing::Window;
use crate::trace::testing::Fixture;
use crate::trace::{CopyKind, OpKind};
use crate::view::{
    Command, CompareCommand, CompareForm, Item, LaneCommand, LaneKey, PaneLink, ViewState, Viewport, Workspace,
};
use egui::{Modifiers, PointerButton, Pos2, Vec2, pos2, vec2};
use std::sync::Arc;

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
    let pinned: Vec<_> = below.pinned.iter().map(|lane| (lane.key, lane.against.map(|against| against.rank))).collect();
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

const US: i64 = 1_000;

/// A run of 40 steps of two kernels, the second of which begins `late_us` later and takes `longer_us` longer in the last step.
/// With `more`, kernels overlap, and there is a copy and a further thread of ranges.
fn run(late_us: i64, longer_us: i64, more: bool) -> (Arc<crate::trace::Trace>, Arc<crate::analysis::Analysis>) {
    let mut fixture = Fixture::new();
    for step in 0..40 {
        let at = step * 1_000 * US;
        fixture.range(&format!("step {step}"), 1, at, at + 900 * US);
        fixture.launched("gemm", 7, 1, at + 10 * US, at + 100 * US, at + 200 * US);
        let (late, longer) = if step == 39 { (late_us * US, longer_us * US) } else { (0, 0) };
        fixture.launched("softmax", 7, 1, at + 20 * US, at + 300 * US + late, at + 400 * US + late + longer);
        if more {
            fixture.kernel("gemm", 8, at + 150 * US, at + 250 * US);
            let copy = OpKind::Memcpy(CopyKind::HostToDevice);
            fixture.gpu_op(copy, "HtoD", 9, at, at + 50 * US, None, Some(1 << 20));
            fixture.range("loader", 2, at, at + 100 * US);
            fixture.launched("gemm", 7, 2, at + 30 * US, at + 500 * US, at + 510 * US);
        }
    }
    let trace = fixture.build();
    let analysis = analyze(&trace, &Params::default());
    (Arc::new(trace), Arc::new(analysis))
}

fn runs(more: bool, form: CompareForm) -> Window {
    let mut window = Window::new(Workspace::new([run(0, 0, more), run(30, 50, false)]), vec2(1280.0, 900.0));
    window.state.apply(&Command::Compare(CompareCommand::Show(Some(form))), &window.workspace);
    window.act(Vec::new());
    window
}

/// The layouts of both panes, as they stand beside each other.
fn beside(window: &Window) -> [Layout; 2] {
    let states = [0, 1].map(|pane| window.state.of_pane(pane));
    let mut caches = [crate::timeline::Cache::default(), crate::timeline::Cache::default()];
    let [first, second] = &mut caches;
    Layout::of_two(&window.workspace, [(&states[0], first), (&states[1], second)], 876.0)
}

fn of(layout: &Layout, key: impl Fn(&LaneKey) -> bool) -> Option<&Lane> {
    layout.lanes.iter().chain(&layout.pinned).find(|lane| key(&lane.key))
}

#[test]
fn left_and_right_lanes_of_one_kind_stand_at_one_height_whatever_else_a_rank_has() {
    let mut window = runs(true, CompareForm::SideBySide);
    let check = |window: &Window| {
        let [left, right] = beside(window);
        let kinds: [fn(&LaneKey) -> bool; 5] = [
            |key| matches!(key, LaneKey::Rank(_)),
            |key| matches!(key, LaneKey::Compute(_)),
            |key| matches!(key, LaneKey::Idle(_)),
            |key| matches!(key, LaneKey::Launches(..)),
            |key| matches!(key, LaneKey::Differences(_)),
        ];
        for kind in kinds {
            let [a, b] = [of(&left, kind).unwrap(), of(&right, kind).unwrap()];
            assert_eq!((a.top_pt, a.height_pt), (b.top_pt, b.height_pt), "{:?}", a.key);
            assert_eq!((a.beside, b.beside), (Some(b.key), Some(a.key)));
        }
        assert_eq!((left.height_pt, left.pinned_pt), (right.height_pt, right.pinned_pt));
        let tops_ascend = |lanes: &[Lane]| lanes.is_sorted_by(|a, b| a.bottom_pt() <= b.top_pt);
        assert!(tops_ascend(&left.lanes) && tops_ascend(&right.lanes));
        [left, right]
    };
    let [left, right] = check(&window);
    let [rows, other_rows] = [&left, &right].map(|own| of(own, |key| matches!(key, LaneKey::Compute(_))).unwrap().rows);
    assert!(rows > other_rows, "kernels overlap on the left only: {rows} {other_rows}");
    assert!(left.lanes.len() > right.lanes.len(), "lanes that only the left one has");
    // Dragged on one side or asked for by keys, both become higher.
    let compute = of(&right, |key| matches!(key, LaneKey::Compute(_))).unwrap().clone();
    let asked = [LaneCommand::Focus(Some(compute.key)), LaneCommand::ScaleBy(0.5)];
    for command in [
        Command::Compare(CompareCommand::Activate(1)),
        Command::Lane(asked[0].clone()),
        Command::Lane(asked[1].clone()),
    ] {
        window.state.apply(&command, &window.workspace);
    }
    window.act(Vec::new());
    assert_eq!(window.state.lane_scale.get(&compute.key), window.state.lane_scale.get(&compute.beside.unwrap()));
    let [_, lower] = check(&window);
    let now = of(&lower, |key| *key == compute.key).unwrap();
    assert!(now.height_pt < compute.height_pt && !window.state.lane_scale.is_empty());
}

#[test]
fn two_runs_without_common_collectives_are_compared_in_their_steps() {
    for form in CompareForm::ALL {
        let mut window = runs(false, form);
        let whole = window.state.clone();
        if form != CompareForm::Overlay {
            window.state = whole.of_pane(1);
        }
        window.state.viewport = Viewport::of(crate::units::Span::new(39_000 * US, 40_000 * US));
        window.with_frame(|frame, layout, cache| {
            let lane = of(layout, |key| *key == LaneKey::Differences(SECOND)).expect("a strip").clone();
            assert_eq!(lane.against.map(|against| against.rank), Some(FIRST));
            let strip = cache.strips.of(&lane).expect("it is there at once");
            assert_eq!((strip.len(), strip.most_ns), (80, 30 * US), "two kernels in each of 40 steps");
            assert_eq!(strip::name(frame.workspace, &lane).0, "Start in step against rank 0 (made-by-hand)");
            let own = if lane.pinned { frame.pinned() } else { *frame };
            let at = pos2(own.x_of((39_330 * US) as f64) + 2.0, own.origin_pt + lane.top_pt + lane.height_pt / 2.0);
            let (text, _) = strip::tooltip(frame, layout, cache, at).expect("a bar");
            assert!(text.title.contains("softmax"), "{form:?} {}", text.title);
            let lines: Vec<&str> = text.lines.iter().map(|(_, value)| value.as_str()).collect();
            assert!(lines[0].contains("30.00 \u{b5}s later than on rank 0"), "{lines:?}");
            assert!(lines[1].starts_with("50.00 \u{b5}s longer than on rank 0"), "{lines:?}");
        });
    }
    // Without two that are compared there is no such lane.
    let mut window = runs(false, CompareForm::Stacked);
    window.state.apply(&Command::Compare(CompareCommand::Show(None)), &window.workspace);
    assert!(of(&window.layout(), |key| matches!(key, LaneKey::Differences(_))).is_none());
}

#[test]
fn many_operations_of_two_runs_are_compared_beside_the_frame_and_again_only_for_other_files() {
    let mut window = runs(false, CompareForm::Overlay);
    window.cache = crate::timeline::Cache::default();
    window.work_beside();
    let strip = |window: &mut Window| {
        window.with_frame(|_, layout, cache| {
            let lane = of(layout, |key| *key == LaneKey::Differences(SECOND)).unwrap();
            cache.strips.of(lane).map(|strip| (Arc::as_ptr(&strip), strip.len(), strip.most_ns))
        })
    };
    let first = loop {
        if let Some(found) = strip(&mut window) {
            break found;
        }
        std::thread::yield_now();
    };
    assert_eq!((first.1, first.2), (80, 30 * US));
    // Moving a file changes the clock, and nothing in the steps.
    let mut job = (*window.workspace.job).clone();
    job.moving = true;
    window.workspace.job = Arc::new(job);
    assert_eq!(strip(&mut window), Some(first));
    window.workspace = Workspace::new([run(0, 0, false), run(0, 0, false)]);
    let again = loop {
        if let Some(found) = strip(&mut window) {
            break found;
        }
        std::thread::yield_now();
    };
    assert_eq!((again.1, again.2), (80, 0));
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
