//! Opens the window and keeps it until it is closed.

use super::load::What;
use super::opener::FileOpener;
use super::settings::{SMALLEST_PT, Settings};
use super::store::Store;
use super::{Window, icon};
use crate::analysis::Params;
use crate::settings::RunSettings;
use crate::view::{Command, Theme};
use eframe::NativeOptions;
use egui::ViewportBuilder;
use std::path::PathBuf;
use std::sync::Arc;

/// What the window starts with.
#[derive(Debug, Clone, Default)]
pub struct AppOptions {
    /// Files to open at once; with none, the demo.
    pub paths: Vec<PathBuf>,
    /// A link to open instead of files.
    pub link: Option<String>,
    /// What the user decided about the analysis, besides a settings file.
    pub params: Params,
    /// Settings for every file, in place of those beside each.
    pub run_settings: Option<RunSettings>,
    /// Colours, when other than remembered.
    pub theme: Option<Theme>,
    /// Folder for the settings, when other than the system's.
    pub settings_dir: Option<PathBuf>,
}

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Nothing to open a window on.
    #[error(
        "there is no display: neither DISPLAY nor WAYLAND_DISPLAY leads to one; use the subcommands report and render instead"
    )]
    NoDisplay,
    /// The window system refused.
    #[error("cannot open a window: {0}; the subcommands report and render work without one")]
    Window(String),
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// When there is no display or the window system refuses.
pub fn run(options: AppOptions) -> Result<(), RunError> {
    if !has_display(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) {
        return Err(RunError::NoDisplay);
    }
    let store = Store::new(options.settings_dir);
    let mut remembered = store.read();
    remembered.settings.theme = options.theme.unwrap_or(remembered.settings.theme);
    let native = native_options(&remembered.settings);
    let create = move |cc: &eframe::CreationContext<'_>| {
        let opener = Arc::new(FileOpener::new(options.params, options.run_settings));
        let mut window = Window::new(&cc.egui_ctx, opener, remembered.settings.clone()).remembering(store, remembered);
        match options.link {
            Some(link) => window.apply(&cc.egui_ctx, Command::OpenLinkText(link)),
            None if options.paths.is_empty() => window.start(vec![What::Demo]),
            None => window.apply(&cc.egui_ctx, Command::Open(options.paths)),
        }
        Ok(Box::new(window) as Box<dyn eframe::App>)
    };
    eframe::run_native("stepscope", native, Box::new(create)).map_err(|error| failure(&error.to_string()))
}

/// The window as it is asked for. Its place is left to the system, so it cannot lie off the screen.
fn native_options(settings: &Settings) -> NativeOptions {
    let points = |(width, height): (u16, u16)| [f32::from(width), f32::from(height)];
    let viewport = ViewportBuilder::default()
        .with_title("stepscope")
        .with_app_id("stepscope")
        .with_inner_size(points((settings.window_width_pt, settings.window_height_pt)))
        .with_min_inner_size(points(SMALLEST_PT))
        .with_drag_and_drop(true)
        .with_icon(icon::data());
    NativeOptions {
        viewport,
        persist_window: false,
        // The toolkit reads its store before anything can check it. An empty path names no file.
        persistence_path: Some(PathBuf::new()),
        ..NativeOptions::default()
    }
}

/// What the window system said, without the place in its source that it adds.
fn failure(said: &str) -> RunError {
    let reason = said.split_once(".rs:").and_then(|(_, rest)| rest.split_once(": ")).map_or(said, |(_, rest)| rest);
    // A session over the network may name a display that is long gone.
    if reason.contains("connection to X server") || reason.contains("XOpenDisplay") || reason.contains("NoCompositor") {
        return RunError::NoDisplay;
    }
    RunError::Window(reason.to_owned())
}

/// True when the system can show windows. Only X11 and Wayland may be absent, and say so in the environment.
fn has_display(is_set: impl Fn(&str) -> bool) -> bool {
    if cfg!(any(target_os = "macos", target_os = "windows")) {
        return true;
    }
    ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].into_iter().any(is_set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn without_a_display_variable_there_is_no_window() {
        assert!(!has_display(|_| false));
        assert!(has_display(|name| name == "WAYLAND_DISPLAY"));
    }

    #[test]
    fn damaged_settings_ask_for_a_window_that_can_be_used() {
        let settings =
            Settings::from_text(r#"{"window_width_pt":1,"window_height_pt":-7,"zoom_factor":0,"scale_percent":0}"#);
        let options = native_options(&settings);
        assert_eq!(options.viewport.inner_size, Some(egui::vec2(480.0, 900.0)));
        assert_eq!((options.viewport.position, options.persist_window), (None, false));
        assert!(options.persistence_path.is_some_and(|path| !path.exists()), "the toolkit's own store is unused");
        assert_eq!(settings.scale_percent, 100);
    }

    #[test]
    fn a_display_that_does_not_answer_is_no_display_and_other_reasons_are_told() {
        let gone = "winit EventLoopError: os error at /src/linux/mod.rs:788: Failed to open connection to X server";
        assert!(matches!(failure(gone), RunError::NoDisplay));
        let RunError::Window(reason) = failure("os error at /src/glow.rs:12: no OpenGL 2.0") else { panic!("told") };
        assert_eq!(reason, "no OpenGL 2.0");
    }
}
