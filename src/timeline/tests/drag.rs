//! Spans and boxes drawn with the pointer.

use crate::timeline::snap::snap;
use crate::timeline::testing::{Window, window};
use crate::units::Span;
use crate::view::{Command, Item, LaneKey, Panel, RankId, Viewport};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2};
use proptest::prelude::*;

const RANK: RankId = RankId { doc: 0, rank: 0 };

/// Axis time under a point of the window.
fn time_at(window: &Window, x_pt: f32) -> f64 {
    window.state.viewport.time_at(f64::from(x_pt) - 248.0, 1280.0 - 248.0 - 6.0)
}

/// The point of the window at an axis time.
fn x_of(window: &Window, at_ns: i64) -> f32 {
    (248.0 + window.state.viewport.x_of(at_ns as f64, 1280.0 - 248.0 - 6.0)) as f32
}

fn lane_y(window: &mut Window, key: LaneKey) -> f32 {
    window.beside(|lane| lane.key == key).y
}

/// Both edges of everything that a lane shows.
fn edges(window: &Window, key: LaneKey) -> Vec<i64> {
    let doc = &window.workspace.docs[0];
    let spans: Vec<Span> = match key {
        LaneKey::Compute(_) => {
            let ops = &doc.trace.ranks[0].ops;
            let computes = |op: &usize| {
                let class = doc.analysis.classes.class(ops.name[*op], ops.kind[*op]);
                class.is_compute()
            };
            (0..ops.len()).filter(computes).map(|op| ops.span(op)).collect()
        }
        LaneKey::Idle(_) => {
            let idle = &doc.analysis.ranks[0].idle;
            (0..idle.gaps()).filter_map(|gap| idle.gap(gap)).collect()
        }
        LaneKey::Rank(_) => {
            let steps = doc.analysis.ranks[0].steps.as_ref().unwrap();
            steps.steps.iter().map(|step| step.window).collect()
        }
        _ => panic!("no edges known of {key:?}"),
    };
    spans.iter().flat_map(|span| [doc.axis_ns(span.start_ns), doc.axis_ns(span.end_ns)]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_nearest_edge_within_reach_attracts(x in 255.0..1270.0_f32, step in 0_u32..6, zoom in 0_u32..4) {
        let mut window = window();
        window.state.apply(&Command::ShowStep(RANK, step), &window.workspace);
        let (at_ns, factor) = (window.state.viewport.middle_ns(), 0.3_f64.powi(zoom as i32));
        window.state.apply(&Command::ZoomAt { at_ns, factor }, &window.workspace);
        window.act(Vec::new());
        for key in [LaneKey::Compute(RANK), LaneKey::Idle(RANK), LaneKey::Rank(RANK)] {
            let at = Pos2::new(x, lane_y(&mut window, key));
            let found = window.with_frame(|frame, layout, cache| snap(frame, cache, layout, at, Modifiers::NONE));
            let (here, reach) = (time_at(&window, x), time_at(&window, 6.0) - time_at(&window, 0.0));
            let distance = |ns: i64| (ns as f64 - here).abs();
            let nearest = edges(&window, key).into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
            // Points are f32, so that an edge at the very limit may fall on either side of it.
            if (distance(nearest) - reach).abs() > reach * 1e-3 {
                prop_assert_eq!(found.is_some(), distance(nearest) < reach);
            }
            if let Some(found) = found {
                prop_assert!((distance(found.at_ns) - distance(nearest)).abs() < 1.0, "{:?} {}", found, nearest);
            }
            for free in [Modifiers::ALT, Modifiers::CTRL, Modifiers::COMMAND] {
                prop_assert_eq!(window.with_frame(|frame, layout, cache| snap(frame, cache, layout, at, free)), None);
            }
        }
    }
}

#[test]
fn a_span_drawn_near_edges_has_exactly_theirs_and_opens_its_panel() {
    let mut window = window();
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    window.act(Vec::new());
    let lane = LaneKey::Compute(RANK);
    let y = lane_y(&mut window, lane);
    let (from, to) = (pos2(420.0, y), pos2(900.0, y));
    let near = |window: &Window, x: f32| {
        let here = time_at(window, x);
        let all = edges(window, lane);
        all.into_iter().min_by(|a, b| (*a as f64 - here).abs().total_cmp(&(*b as f64 - here).abs())).unwrap()
    };
    let expected = (near(&window, from.x), near(&window, to.x));
    let commands = window.drag(from + egui::vec2(1.0, 0.0), to, Modifiers::SHIFT);
    assert!(commands.contains(&Command::ShowPanel(Panel::Selection)), "{commands:?}");
    let span = window.state.selected_span.unwrap();
    let reach = (time_at(&window, 6.0) - time_at(&window, 0.0)) as i64;
    for (got, wanted, x) in [(span.start_ns, expected.0, from.x + 1.0), (span.end_ns, expected.1, to.x)] {
        let free = time_at(&window, x).round() as i64;
        assert_eq!(got, if (wanted - free).abs() <= reach { wanted } else { free });
    }
    assert_eq!((window.state.panel, window.state.panel_before), (Panel::Selection, Panel::Overview));
    window.state.apply(&Command::SelectSpan(None), &window.workspace);
    assert_eq!(window.state.panel, Panel::Overview, "clearing it goes back");
}

#[test]
fn an_edge_of_the_span_can_be_dragged_and_the_other_stays() {
    let mut window = window();
    window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
    let (from, to) = (time_at(&window, 500.0).round() as i64, time_at(&window, 800.0).round() as i64);
    for (grip, target, y) in [(800.0, 950.0, 300.0), (950.0, 700.0, 10.0)] {
        window.state.apply(&Command::SelectSpan(Some(Span::new(from, to))), &window.workspace);
        let at = x_of(&window, window.state.selected_span.unwrap().end_ns);
        window.drag(pos2(at + 1.0, y), pos2(target, 300.0), Modifiers::ALT);
        let span = window.state.selected_span.unwrap();
        assert_eq!(span.start_ns, from, "{grip}");
        assert!((span.end_ns as f64 - time_at(&window, target)).abs() < 2.0);
    }
    // Past the other edge it turns around.
    window.state.apply(&Command::SelectSpan(Some(Span::new(from, to))), &window.workspace);
    let at = x_of(&window, to);
    window.drag(pos2(at, 300.0), pos2(400.0, 300.0), Modifiers::ALT);
    assert_eq!(window.state.selected_span.map(|span| span.end_ns), Some(from));
}

#[test]
fn a_double_click_on_the_ruler_clears_the_span_and_a_single_one_does_nothing() {
    let mut window = window();
    window.state.apply(&Command::SelectSpan(Some(Span::new(1_000, 5_000_000))), &window.workspace);
    let view = window.state.viewport;
    assert_eq!(window.click(pos2(900.0, 10.0), PointerButton::Primary), []);
    assert_eq!(window.click(pos2(900.0, 10.0), PointerButton::Primary), [Command::SelectSpan(None)]);
    assert_eq!((window.state.selected_span, window.state.viewport), (None, view));
}

#[test]
fn a_box_zooms_when_it_is_released_and_is_one_step_back() {
    for (button, modifiers) in [(PointerButton::Secondary, Modifiers::NONE), (PointerButton::Primary, Modifiers::CTRL)]
    {
        let mut window = window();
        window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
        let before = window.state.viewport;
        let (from, to) = (time_at(&window, 900.0), time_at(&window, 600.0));
        let commands = window.drag_with(button, pos2(900.0, 300.0), pos2(600.0, 360.0), modifiers);
        assert!(matches!(commands[..], [Command::Show(_)]), "{commands:?}");
        let view = window.state.viewport;
        assert!((view.start_ns - to).abs() < 2.0 && (view.end_ns() - from).abs() < 2.0);
        window.state.apply(&Command::Back, &window.workspace);
        assert_eq!(window.state.viewport, before);
    }
}

#[test]
fn escape_gives_a_box_up() {
    let mut window = window();
    window.state.apply(&Command::Select(Some(Item::Step(RANK, 2))), &window.workspace);
    window.act(vec![Event::PointerMoved(pos2(500.0, 300.0))]);
    let button = |pressed, pos| Event::PointerButton {
        pos,
        button: PointerButton::Secondary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    window.act(vec![button(true, pos2(500.0, 300.0))]);
    window.act(vec![Event::PointerMoved(pos2(700.0, 300.0))]);
    assert!(!window.cache.took_escape());
    let escape =
        Event::Key { key: Key::Escape, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
    window.act(vec![escape]);
    assert!(window.cache.took_escape(), "so that it does not clear the selection as well");
    let mut commands = window.act(vec![Event::PointerMoved(pos2(800.0, 300.0))]);
    commands.extend(window.act(vec![button(false, pos2(800.0, 300.0))]));
    assert_eq!(commands, []);
    assert_eq!(window.state.viewport, Viewport::fitted(window.workspace.span().unwrap()));
}

#[test]
fn a_right_click_is_no_box() {
    let mut window = window();
    let view = window.state.viewport;
    window.click(pos2(700.0, 600.0), PointerButton::Secondary);
    assert_eq!(window.state.viewport, view);
}
