//! A picture of the window's view, drawn without a display.

use super::args::{Render, SideName, ThemeName};
use super::load::{Loaded, load};
use super::run::CliError;
use super::span::{no_step, parse_span};
use crate::app::panel_names;
use crate::app::picture::{self, PictureOptions};
use crate::app::settings::Dock;
use crate::app::window_picture::{self, Script};
use crate::format;
use crate::sim::Demo;
use crate::view::search::Query;
use crate::view::{Command, Panel, Theme, ViewState, Workspace};
use std::path::Path;

/// Largest side of a picture in pixels.
const MAX_SIDE_PX: u32 = 16_384;

/// What a picture shows and how large it is.
#[derive(Debug, Clone)]
pub(super) struct Picture {
    pub size_px: (u32, u32),
    pub scale: f32,
    pub theme: Theme,
    pub step: Option<i64>,
    pub span: Option<String>,
    pub panel: Panel,
    pub side: Option<Dock>,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            size_px: (1920, 1080),
            scale: 1.0,
            theme: Theme::Dark,
            step: None,
            span: None,
            panel: Panel::default(),
            side: Some(Dock::default()),
        }
    }
}

/// The `render` command.
pub(super) fn render(options: &Render) -> Result<(), CliError> {
    let wanted = Picture {
        size_px: parse_size(&options.size)?,
        scale: options.scale,
        theme: match options.theme {
            ThemeName::Dark => Theme::Dark,
            ThemeName::Light => Theme::Light,
        },
        step: options.step,
        span: options.span.clone(),
        panel: options.panel.as_deref().map_or(Ok(Panel::default()), panel_of)?,
        side: match options.side {
            SideName::Left => Some(Dock::Left),
            SideName::Right => Some(Dock::Right),
            SideName::Below => Some(Dock::Bottom),
            SideName::None => None,
        },
    };
    if !(0.5..=4.0).contains(&wanted.scale) {
        return Err(CliError::Usage(format!("--scale {} is out of range: use 0.5 to 4", wanted.scale)));
    }
    let is_png = options.output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    if !is_png && !picture::is_svg(&options.output) {
        return Err(CliError::Usage(format!(
            "pictures are PNG or SVG files: name the picture {} or {}",
            options.output.with_extension("png").display(),
            options.output.with_extension("svg").display()
        )));
    }
    // Before the work of loading, so that a slip shows at once.
    picture::check_target(&options.output)?;
    let demo = if options.exports.is_empty() { Some(Demo::write()?) } else { None };
    let exports = demo.as_ref().map_or(&options.exports, |demo| &demo.exports);
    let loaded = load(exports, &options.reading)?;
    if options.window { write_window(&loaded, &wanted, options) } else { write(&loaded, &wanted, &options.output) }
}

/// Draws the whole window once it has done what the options say.
fn write_window(loaded: &[Loaded], wanted: &Picture, options: &Render) -> Result<(), CliError> {
    let opened: Vec<_> = loaded.iter().map(|l| (l.trace.clone(), l.analysis.clone())).collect();
    let mut commands = shown(&Workspace::new(opened.clone()), wanted)?;
    commands.push(Command::ShowPanel(wanted.panel));
    if let Some(text) = &options.search {
        let query = Query { text: text.clone(), ..Query::default() };
        commands.extend([Command::OpenSearch, Command::SetQuery(query)]);
    }
    let script = Script { commands, names: options.commands.clone() };
    Ok(window_picture::save(opened, &script, &picture_options(wanted), &options.output)?)
}

const fn picture_options(wanted: &Picture) -> PictureOptions {
    let (width_px, height_px) = wanted.size_px;
    PictureOptions { width_px, height_px, scale: wanted.scale, theme: wanted.theme, side: wanted.side }
}

/// Draws the picture that is `wanted` of the loaded exports to `path`.
pub(super) fn write(loaded: &[Loaded], wanted: &Picture, path: &Path) -> Result<(), CliError> {
    let workspace = Workspace::new(loaded.iter().map(|l| (l.trace.clone(), l.analysis.clone())));
    let mut state = ViewState::open(&workspace);
    (state.theme, state.panel) = (wanted.theme, wanted.panel);
    for command in shown(&workspace, wanted)? {
        state.apply(&command, &workspace);
    }
    Ok(picture::save(&workspace, &state, &picture_options(wanted), path)?)
}

/// The commands that bring the wanted part of the capture into view.
fn shown(workspace: &Workspace, picture: &Picture) -> Result<Vec<Command>, CliError> {
    if let Some(number) = picture.step {
        let mut known = Vec::new();
        for (id, doc, _) in workspace.ranks() {
            let steps = doc.analysis.ranks.get(id.rank).and_then(|r| r.steps.as_ref());
            for (at, step) in steps.iter().flat_map(|s| s.steps.iter().enumerate()) {
                if step.number.unwrap_or(at as i64) == number {
                    return Ok(vec![Command::ShowStep(id, at as u32)]);
                }
                known.push(step.number.unwrap_or(at as i64));
            }
        }
        return Err(no_step(number, &known));
    }
    let Some(text) = &picture.span else { return Ok(Vec::new()) };
    let span = parse_span(text)?;
    let whole = workspace.span().unwrap_or_default();
    if span.intersect(whole).is_none() {
        let len = format::duration(whole.len_ns());
        return Err(CliError::Usage(format!("--span {text} lies outside the capture, which is {len} long")));
    }
    Ok(vec![Command::Show(span)])
}

/// The panel of this name, whatever its case.
fn panel_of(name: &str) -> Result<Panel, CliError> {
    let found = panel_names().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(panel, _)| panel);
    found.ok_or_else(|| {
        let known: Vec<String> = panel_names().map(|(_, name)| name.to_lowercase()).collect();
        CliError::Usage(format!("--panel {name} is no panel: the panels are {}", known.join(", ")))
    })
}

fn parse_size(text: &str) -> Result<(u32, u32), CliError> {
    let sides = text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)));
    let (width, height): (u32, u32) = sides
        .ok_or_else(|| CliError::Usage(format!("--size {text} is no size: write WIDTHxHEIGHT, such as 1920x1080")))?;
    let fits = |side: u32| (64..=MAX_SIDE_PX).contains(&side);
    if !(fits(width) && fits(height)) {
        return Err(CliError::Usage(format!(
            "--size {text} is out of range: each side takes 64 to {MAX_SIDE_PX} pixels"
        )));
    }
    Ok((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!(parse_size("640x480").ok(), Some((640, 480)));
        for bad in ["640", "0x0", "99999x10", "ax5"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
