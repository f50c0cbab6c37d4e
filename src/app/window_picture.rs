//! A picture of the whole window without a display: its bars, panels and dialogs, as the window itself draws them.

use super::Window;
use super::actions;
use super::cx::Cx;
use super::load::{OpenError, Opened, Opener, Watch, What};
use super::picture::{Painted, PictureOptions, SaveError, is_svg, title};
use super::settings::{Dock, Settings};
use crate::raster::{png, svg};
use crate::timeline::color::Palette;
use crate::view::Command;
use egui::Context;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What is done in the window before the picture is taken, in this order.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Commands.
    pub commands: Vec<Command>,
    /// Names of commands, as the list of all commands shows them.
    pub names: Vec<String>,
}

/// Why there is no picture of the window.
#[derive(Debug, thiserror::Error)]
pub enum WindowPictureError {
    /// No command of that name.
    #[error("there is no command {name}; {}", nearest(like))]
    NoCommand {
        /// What was asked for.
        name: String,
        /// Names that are like it.
        like: Vec<String>,
    },
    /// The picture was not written.
    #[error(transparent)]
    Save(#[from] SaveError),
}

fn nearest(like: &[String]) -> String {
    if like.is_empty() {
        return "the list of all commands in the window (Ctrl+Shift+P) names them".to_owned();
    }
    format!("there are {}", like.join(", "))
}

/// How often other threads are asked whether they are done.
const POLL_EVERY: Duration = Duration::from_millis(2);

/// Draws the window with `opened`, once it has done `script`, and writes it in the form that the ending of `path`
/// tells.
///
/// # Errors
/// See [`WindowPictureError`].
pub fn save(
    opened: Vec<Opened>,
    script: &Script,
    options: &PictureOptions,
    path: &Path,
) -> Result<(), WindowPictureError> {
    let context = Context::default();
    let settings = Settings {
        theme: options.theme,
        side: options.side.is_some(),
        dock: options.side.unwrap_or(Dock::Right),
        ..Settings::default()
    };
    let any = !opened.is_empty();
    let mut window = Window::new(&context, Arc::new(Given(opened)), settings).still();
    if any {
        window.start(vec![What::Demo]);
    }
    wait(&mut window, &context);
    for command in &script.commands {
        window.show(command.clone());
        wait(&mut window, &context);
    }
    for name in &script.names {
        for command in commands_of(&window, name)? {
            window.show(command);
        }
        wait(&mut window, &context);
    }
    let painted = Painted::settled(context, options, |ui| window.frame(ui));
    let state = window.state();
    if is_svg(path) {
        let drawing = painted.svg(options, &title(&state.workspace, &state.view));
        return Ok(svg::write(&drawing, path).map_err(SaveError::from)?);
    }
    Ok(png::write(&painted.image(options), path).map_err(SaveError::from)?)
}

fn commands_of(window: &Window, name: &str) -> Result<Vec<Command>, WindowPictureError> {
    let state = window.state();
    let cx = Cx {
        workspace: &state.workspace,
        view: &state.view,
        settings: &state.settings,
        palette: Palette::of(state.view.theme),
        revision: state.revision,
    };
    actions::named(&cx, name).map_err(|like| WindowPictureError::NoCommand { name: name.to_owned(), like })
}

/// Waits for what other threads do for the window.
fn wait(window: &mut Window, context: &Context) {
    window.poll(context);
    while window.is_waiting() {
        std::thread::sleep(POLL_EVERY);
        window.poll(context);
    }
}

/// Opens what is open already.
#[derive(Debug)]
struct Given(Vec<Opened>);

impl Opener for Given {
    fn open(&self, _what: &What, _watch: &Watch) -> Result<Vec<Opened>, OpenError> {
        Ok(self.0.clone())
    }
}
