//! What the window shows, and the commands that change it. No egui, no SQL: plain state that tests can drive.
//!
//! One frame reads a [`Workspace`] and a [`ViewState`]; everything the user does becomes a [`Command`]; commands are
//! applied between frames by the application. Shortcuts, menus, start-up flags and tests send the same commands.

mod apply;
mod coloring;
mod command;
mod history;
mod lanes;
pub mod shortcuts;
mod state;
mod viewport;
mod workspace;

pub use coloring::Coloring;
pub use command::Command;
pub use history::{History, Move};
pub use lanes::{Arrangement, LANE_SCALE, LaneAsk, LaneCommand};
pub use state::{Item, LaneKey, OpLane, Panel, Theme, ViewState};
pub use viewport::Viewport;
pub use workspace::{Clock, Doc, RankId, Workspace};
