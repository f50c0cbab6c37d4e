//! The timeline as a whole: what input asks for, what pictures show.

use super::testing::{Window, training, window};
use crate::units::Span;
use crate::view::{Command, Item, LaneKey, RankId, Theme, Viewport};
use egui::{Event, Modifiers, PointerButton, Pos2, pos2, vec2};

const RANK: RankId = RankId { doc: 0, rank: 0 };

#[test]
fn a_first_view_is_never_empty_and_both_themes_draw() {
    for (theme, name) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let mut window = window();
        window.state.theme = theme;
        let image = window.picture(&format!("whole-{name}"), 1.0);
        let background = image.pixel(900, 5).unwrap();
        let different = image.pixels.iter().filter(|p| **p != background).count();
        assert!(different > image.pixels.len() / 10, "{different}");
        window.state.apply(&Command::ShowStep(RANK, 2), &window.workspace);
        window.picture(&format!("step-{name}"), 1.0);
        window.state.viewport = Viewport::of(Span::new(23_400_000, 23_900_000));
        window.state.selected = Some(Item::Op(RANK, 230));
        window.picture(&format!("kernels-{name}"), 1.0);
    }
}

#[test]
fn expanded_lanes() {
    let mut window = Window::new(training(), vec2(1280.0, 800.0));
    for lane in
        [LaneKey::Compute(RANK), LaneKey::Communication(RANK), LaneKey::Launches(0, 0), LaneKey::OsRuntime(0, 0)]
    {
        window.state.apply(&Command::ToggleLane(lane), &window.workspace);
    }
    window.state.apply(&Command::ShowStep(RANK, 3), &window.workspace);
    window.act(vec![Event::PointerMoved(pos2(700.0, 150.0))]);
    window.picture("expanded", 2.0);
}

fn press(at: Pos2, pressed: bool, button: PointerButton, modifiers: Modifiers) -> Event {
    Event::PointerButton { pos: at, button, pressed, modifiers }
}
