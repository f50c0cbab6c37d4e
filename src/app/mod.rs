//! The window: panels, menus, loading, and pictures of the same view without a display.
//!
//! ```text
//! loading threads -> Jobs -> AppState::poll        one frame:  Cx { workspace, view, settings, palette }  (all shared)
//! keys, menus, panels, drops -> Vec<Command>                   panels paint and push commands
//! end of frame: AppState::apply(command) -> Option<Effect>     Window carries effects out (dialogs, pictures, quitting)
//! ```
//!
//! [`state::AppState`] knows no toolkit, so tests drive the application by commands.

mod again;
mod capture;
mod causes;
mod cx;
mod details;
mod dialogs;
mod facts;
mod fetch;
mod frame;
pub mod icon;
mod icons;
mod keys;
mod lane_menu;
pub mod load;
mod loading;
mod menu;
mod opener;
mod overlays;
mod overview;
pub mod panels;
mod parts;
pub mod picture;
mod recipe;
mod run;
pub mod settings;
pub mod state;
mod status;
mod step_chart;
mod steps;
mod still_plot;
mod store;
pub mod theme;
pub mod toast;
mod toolbar;
mod verdict;
mod welcome;
mod window;

pub use opener::FileOpener;
pub use run::{AppOptions, RunError, run};
pub use window::Window;

use state::file_name;
