//! What the window shows, and the commands that change it. No egui, no SQL: plain state that tests can drive.
//!
//! One frame reads a [`Workspace`] and a [`ViewState`]; everything the user does becomes a [`Command`]; commands are
//! applied between frames by the application. Shortcuts, menus, start-up flags and tests send the same commands.

mod apply;
pub mod available;
mod axis;
pub mod bookmark;
mod coloring;
mod command;
mod compare;
mod counterpart;
pub mod fuzzy;
mod history;
mod item;
mod lanes;
mod link;
mod neighbour;
mod outliers;
mod pairs;
mod same_name;
mod saved;
pub mod search;
pub mod shortcuts;
mod state;
mod viewport;
mod workspace;

pub use axis::{Axis, Zero};
pub use bookmark::Bookmark;
pub use coloring::Coloring;
pub use command::{Choose, Command};
pub use compare::{Compare, CompareCommand, CompareForm, PaneLink, PaneView};
pub use counterpart::Counterpart;
pub use history::{History, Move};
pub use item::Item;
pub use lanes::{Arrangement, LANE_SCALE, LaneAsk, LaneCommand};
pub use link::{Link, LinkError, SCHEME};
pub use neighbour::{Kin, Side};
pub use outliers::{Met, Outlier, Outliers};
pub use pairs::{share_steps, strip};
pub use same_name::SameName;
pub use saved::{SavedCompare, SavedView, lanes_of, restore_lanes};
pub use state::{LaneKey, OpLane, Panel, Theme, ViewState};
pub use viewport::Viewport;
pub use workspace::{Doc, RankId, Workspace};
