//! The window: panels, menus, loading, and pictures of the same view without a display.
//!
//! ```text
//! loading threads -> Jobs -> AppState::poll        one frame:  Cx { workspace, view, settings, palette }  (all shared)
//! keys, menus, panels, drops -> Vec<Command>                   panels paint and push commands
//! end of frame: AppState::apply(command) -> Option<Effect>     Window carries effects out (dialogs, pictures, quitting)
//! ```
//!
//! [`state::AppState`] knows no toolkit, so tests drive the application by commands.

mod actions;
mod again;
pub mod bookmarks;
mod capture;
pub mod captures;
mod causes;
mod chooser;
mod code_text;
mod compare_bar;
mod counterparts;
mod cx;
mod details;
mod dialogs;
mod facts;
mod fetch;
mod fingerprint;
mod frame;
mod gather;
pub mod icon;
mod icons;
mod joining;
mod keys;
mod lane_menu;
pub mod last_views;
pub mod load;
mod loading;
mod menu;
mod opener;
mod overlays;
mod overview;
mod palette;
pub mod panels;
mod parts;
pub mod picture;
mod rank_choice;
mod recipe;
mod replaced;
mod run;
mod same_name;
mod search_bar;
mod searching;
pub mod session;
pub mod settings;
mod sharing;
pub mod state;
mod status;
mod step_chart;
mod step_stack;
mod steps;
mod still_plot;
pub mod store;
pub mod theme;
pub mod toast;
mod toolbar;
mod verdict;
mod welcome;
mod window;
pub mod window_picture;

pub use opener::FileOpener;
pub use run::{AppOptions, RunError, run};
pub use window::Window;

use crate::view::Panel;
use state::file_name;

/// The tabs of the side panel with their names.
pub fn panel_names() -> impl Iterator<Item = (Panel, &'static str)> {
    menu::PANELS.into_iter()
}
