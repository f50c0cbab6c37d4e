//! The overview of the capture above the lanes, driven with the pointer.

use crate::harness::Driven;
use egui::{Pos2, Rect, pos2};
use egui_kittest::kittest::Queryable as _;
use stepscope::units::Span;
use stepscope::view::Command;

/// Where time lies on the strip.
struct Strip {
    rect: Rect,
    capture: Span,
}

impl Strip {
    fn of(driven: &Driven) -> Self {
        let whole = driven.harness.get_by_label_contains("Overview of the capture").rect();
        // As wide as the lanes below it: names to the left, the scroll mark to the right.
        let names = 248.0_f32.min(whole.width() * 0.3).round();
        let rect =
            Rect::from_min_max(pos2(whole.left() + names, whole.top()), pos2(whole.right() - 6.0, whole.bottom()));
        Self { rect, capture: driven.window().state().workspace.span().unwrap() }
    }

    fn at(&self, share: f32) -> Pos2 {
        pos2(self.rect.left() + share * self.rect.width(), self.rect.center().y)
    }

    fn time_ns(&self, share: f64) -> f64 {
        self.capture.start_ns as f64 + share * self.capture.len_ns() as f64
    }

    /// A thousandth of the capture.
    fn near(&self, a_ns: f64, b_ns: f64) -> bool {
        (a_ns - b_ns).abs() < self.capture.len_ns() as f64 / 200.0
    }
}

fn drag(driven: &mut Driven, from: Pos2, to: Pos2) {
    driven.harness.hover_at(from);
    driven.harness.run_steps(2);
    driven.harness.drag_at(from);
    for part in 1..=8 {
        driven.harness.hover_at(from.lerp(to, part as f32 / 8.0));
        driven.harness.run_steps(1);
    }
    driven.harness.drop_at(to);
    driven.settle();
}

#[test]
fn a_click_on_a_bar_shows_its_step() {
    let mut driven = Driven::open();
    let strip = Strip::of(&driven);
    let view = &driven.window().state().view;
    let rank = view.rank.unwrap();
    let workspace = &driven.window().state().workspace;
    let (doc, _) = workspace.rank(rank).unwrap();
    let window = doc.analysis.ranks[rank.rank].steps.as_ref().unwrap().steps[4].window.shifted(doc.map.offset_ns);
    let middle =
        (window.start_ns + window.len_ns() / 2 - strip.capture.start_ns) as f32 / strip.capture.len_ns() as f32;
    let at = pos2(strip.at(middle).x, strip.rect.bottom() - 18.0);
    driven.harness.hover_at(at);
    driven.harness.run_steps(2);
    driven.harness.drag_at(at);
    driven.harness.drop_at(at);
    driven.settle();
    assert_eq!(driven.window().state().view.viewport.span(), window);
}

#[test]
fn the_view_is_drawn_moved_and_resized_and_each_drag_is_one_entry_of_the_history() {
    let mut driven = Driven::open();
    let strip = Strip::of(&driven);
    let whole = driven.window().state().view.viewport;
    // From end to end at first: a drag draws a new view.
    drag(&mut driven, strip.at(0.2), strip.at(0.5));
    let drawn = driven.window().state().view.viewport;
    assert!(
        strip.near(drawn.start_ns, strip.time_ns(0.2)) && strip.near(drawn.end_ns(), strip.time_ns(0.5)),
        "{drawn:?}"
    );
    // From its inside it moves.
    drag(&mut driven, strip.at(0.35), strip.at(0.55));
    let moved = driven.window().state().view.viewport;
    assert!(strip.near(moved.start_ns, strip.time_ns(0.4)) && (moved.len_ns - drawn.len_ns).abs() < 1.0, "{moved:?}");
    // At its right edge it grows, the left edge stays.
    drag(&mut driven, strip.at(0.7), strip.at(0.9));
    let grown = driven.window().state().view.viewport;
    assert!(strip.near(grown.end_ns(), strip.time_ns(0.9)) && strip.near(grown.start_ns, moved.start_ns), "{grown:?}");
    driven.send(Command::Back);
    assert_eq!(driven.window().state().view.viewport, moved);
    driven.send(Command::Back);
    assert_eq!(driven.window().state().view.viewport, drawn);
    driven.send(Command::Back);
    assert_eq!(driven.window().state().view.viewport, whole);
}

#[test]
fn low_windows_leave_it_out() {
    let mut driven = Driven::empty(900.0, 260.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    assert!(!driven.shows("Overview of the capture"));
}
