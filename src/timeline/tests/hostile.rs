//! Files that mean harm: nothing in them may end a frame early.

use crate::timeline::testing::{Window, workspace_of};
use crate::trace::testing::Fixture;
use crate::view::{Command, Item, RankId};
use egui::{Event, pos2, vec2};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn survives(fixture: &mut Fixture) {
    let mut window = Window::new(workspace_of(fixture), vec2(800.0, 400.0));
    for round in 0..60 {
        let at_ns = window.state.viewport.middle_ns();
        window.state.apply(&Command::ZoomAt { at_ns, factor: 0.3 }, &window.workspace);
        window.act(vec![Event::PointerMoved(pos2(400.0, 40.0 + 6.0 * round as f32))]);
    }
    window.state.selected = Some(Item::Op(RANK, 0));
    for command in [Command::ShowSelection, Command::ShowAll, Command::NextStep] {
        window.state.apply(&command, &window.workspace);
        window.act(Vec::new());
    }
}

#[test]
fn names_of_any_length_and_content_are_drawn() {
    let mut fixture = Fixture::new();
    let long = "x".repeat(10_000);
    for (at, name) in [long.as_str(), "", "\n\t\0\u{202e}abc", "日本語", "a\u{301}\u{301}"].into_iter().enumerate() {
        let at = at as i64 * 1_000;
        fixture.kernel(name, 7, at, at + 900).range(name, 11, at, at + 900);
    }
    survives(&mut fixture);
}

#[test]
fn instants_and_equal_times_are_drawn() {
    let mut fixture = Fixture::new();
    for _ in 0..200 {
        fixture.kernel("gemm", 7, 500, 500).kernel("gemm", 7, 500, 600).range("r", 11, 500, 500);
    }
    survives(&mut fixture);
    survives(Fixture::new().kernel("gemm", 7, 0, 0));
}

#[test]
fn times_far_apart_are_drawn() {
    let far = 1_i64 << 61;
    survives(Fixture::new().kernel("gemm", 7, -far, 5 - far).kernel("gemm", 7, far, far + 5).range("r", 11, -far, far));
}
