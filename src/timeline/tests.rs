//! The timeline as a whole: what input asks for, what pictures show.

use super::testing::{Window, training, window};
use crate::units::Span;
use crate::view::{Command, Item, LaneKey, RankId, Theme, Viewport};
use egui::{Event, Modifiers, PointerButton, Pos2, pos2, vec2};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn press(at: Pos2, pressed: bool, button: PointerButton, modifiers: Modifiers) -> Event {
    Event::PointerButton { pos: at, button, pressed, modifiers }
}
