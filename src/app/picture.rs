//! Pictures without a display: the same view as the window's, laid out by a headless context, painted on the CPU.

use super::cx::Cx;
use super::frame::{BELOW_SHARE, SIDE_PT, lanes, side, within};
use super::panels::PanelCaches;
use super::settings::{Dock, Settings};
use super::state::file_name;
use super::steps::StepTable;
use super::{facts, status, theme};
use crate::analysis::Steps;
use crate::format;
use crate::raster::{Image, Renderer, png, svg};
use crate::report::Picture;
use crate::timeline;
use crate::timeline::color::Palette;
use crate::view::{Command, Panel, Theme, ViewState, Workspace};
use egui::epaint::ClippedShape;
use egui::{Align, CentralPanel, Context, Frame, Label, Layout, Margin, RawInput, Rect, RichText, Ui, Vec2, vec2};
use std::path::Path;

/// How a picture is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PictureOptions {
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Pixels per point: 2 gives the same layout as 1 at half the size, twice as fine.
    pub scale: f32,
    /// Colours.
    pub theme: Theme,
    /// Where the side panel stands, if at all.
    pub side: Option<Dock>,
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { width_px: 1600, height_px: 900, scale: 1.0, theme: Theme::Dark, side: Some(Dock::Right) }
    }
}

/// Frames drawn until the layout has settled: sizes that depend on what was laid out before are right from the third.
const FRAMES: usize = 4;
/// Pictures narrower than this, in points, leave the side panel beside the timeline out.
const SIDE_FROM_PT: f32 = 900.0;
/// Pictures lower than this, in points, leave the side panel below the timeline out.
const BELOW_FROM_PT: f32 = 480.0;

/// Draws what `state` shows of `workspace`.
pub fn render(workspace: &Workspace, state: &ViewState, options: &PictureOptions) -> Image {
    Painted::of(workspace, state, options).image(options)
}

/// Draws what `state` shows of `workspace` as shapes and text: the same picture as [`render`] gives.
pub fn render_svg(workspace: &Workspace, state: &ViewState, options: &PictureOptions) -> String {
    Painted::of(workspace, state, options).svg(options, &title(workspace, state))
}

/// What a picture shows, in words.
pub(super) fn title(workspace: &Workspace, state: &ViewState) -> String {
    let files: Vec<String> = workspace.docs.iter().map(|doc| file_name(&doc.trace.source.path)).collect();
    format!("{}: {}", files.join(", "), status::visible_text(workspace, state))
}

/// Why a picture was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// A PNG.
    #[error(transparent)]
    Png(#[from] png::PngError),
    /// An SVG.
    #[error(transparent)]
    Svg(#[from] svg::SvgError),
}

/// True when a picture of this name is an SVG drawing; all others are PNG.
pub fn is_svg(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
}

/// Checks that a picture may be written to `path`: nothing is there, or a picture of that form.
///
/// # Errors
/// When something else is there.
pub fn check_target(path: &Path) -> Result<(), SaveError> {
    if is_svg(path) { Ok(svg::check_target(path)?) } else { Ok(png::check_target(path)?) }
}

/// Draws what `state` shows of `workspace` and writes it in the form that the ending of `path` tells.
///
/// # Errors
/// When something that is no picture is there, or the file cannot be written.
pub fn save(workspace: &Workspace, state: &ViewState, options: &PictureOptions, path: &Path) -> Result<(), SaveError> {
    if is_svg(path) {
        return Ok(svg::write(&render_svg(workspace, state, options), path)?);
    }
    Ok(png::write(&render(workspace, state, options), path)?)
}

/// What a headless context paints, once its layout has settled.
pub(super) struct Painted {
    context: Context,
    renderer: Renderer,
    shapes: Vec<ClippedShape>,
    size_pt: Vec2,
    scale: f32,
}

impl Painted {
    fn of(workspace: &Workspace, state: &ViewState, options: &PictureOptions) -> Self {
        let state = ViewState { theme: options.theme, ..state.clone() };
        let context = Context::default();
        theme::apply(&context, options.theme);
        let mut scene = Scene {
            workspace,
            state: &state,
            side: options.side,
            cache: timeline::Cache::default(),
            table: StepTable::default(),
            panels: PanelCaches::default(),
        };
        Self::settled(context, options, |ui| scene.draw(ui))
    }

    /// What `draw` paints in `context` when it has drawn often enough for sizes to be right.
    pub(super) fn settled(context: Context, options: &PictureOptions, mut draw: impl FnMut(&mut Ui)) -> Self {
        let scale = options.scale.clamp(0.5, 8.0);
        let size_pt = vec2(options.width_px as f32, options.height_px as f32) / scale;
        let mut renderer = Renderer::new();
        let mut shapes = Vec::new();
        for frame in 0..FRAMES {
            // A picture shows the end of every animation.
            context.all_styles_mut(|style| style.animation_time = 0.0);
            let mut input = RawInput {
                screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, size_pt)),
                time: Some(frame as f64),
                ..RawInput::default()
            };
            input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point = Some(scale);
            let mut output = context.run_ui(input, &mut draw);
            renderer.update(&mut output.textures_delta);
            shapes = output.shapes;
        }
        Self { context, renderer, shapes, size_pt, scale }
    }

    /// The picture in pixels.
    pub(super) fn image(self, options: &PictureOptions) -> Image {
        let Self { context, mut renderer, shapes, scale, .. } = self;
        let size_px = [options.width_px, options.height_px].map(|px| px as usize);
        renderer.draw(&context, shapes, size_px, scale, Palette::of(options.theme).background)
    }

    /// The picture as shapes and text.
    pub(super) fn svg(&self, options: &PictureOptions, title: &str) -> String {
        svg::encode(&self.shapes, self.size_pt, self.scale, Palette::of(options.theme).background, title)
    }
}

/// Pictures of a report: the whole capture, and the step of the first rank that is nearest to its median.
pub fn for_report(workspace: &Workspace) -> Vec<Picture> {
    let Some((id, _, _)) = workspace.ranks().next() else { return Vec::new() };
    let mut shown = vec![("The whole capture".to_owned(), Command::ShowAll)];
    let steps = workspace.docs.get(id.doc).and_then(|doc| doc.analysis.ranks.get(id.rank)?.steps.as_ref());
    if let Some(at) = steps.and_then(Steps::nearest_to_median) {
        let name = steps.and_then(|steps| steps.steps.get(at)).map_or("", |step| &step.name);
        shown.push((format!("A typical step: {}", format::one_line(name, 80)), Command::ShowStep(id, at as u32)));
    }
    let picture = |(caption, command): (String, Command)| {
        let mut state = ViewState::open(workspace);
        state.apply(&command, workspace);
        let png =
            |theme| png::encode(&render(workspace, &state, &PictureOptions { theme, ..PictureOptions::default() }));
        Some(Picture { caption, light_png: png(Theme::Light).ok()?, dark_png: png(Theme::Dark).ok()? })
    };
    shown.into_iter().filter_map(picture).collect()
}

struct Scene<'a> {
    workspace: &'a Workspace,
    state: &'a ViewState,
    side: Option<Dock>,
    cache: timeline::Cache,
    table: StepTable,
    panels: PanelCaches,
}

impl Scene<'_> {
    fn draw(&mut self, ui: &mut Ui) {
        let settings = Settings::default();
        let cx = Cx {
            workspace: self.workspace,
            view: self.state,
            settings: &settings,
            palette: Palette::of(self.state.theme),
            revision: 0,
        };
        let mut ignored = Vec::new();
        let bar = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(12, 6));
        egui::Panel::top("header").frame(bar).show(ui, |ui| header(ui, &cx));
        let (width, height) = (ui.available_width(), ui.available_height());
        let panel = match self.side {
            Some(Dock::Bottom) if height >= BELOW_FROM_PT => {
                Some(egui::Panel::bottom("side below").exact_size((height * BELOW_SHARE).min(SIDE_PT.1)))
            }
            Some(Dock::Left) if width >= SIDE_FROM_PT => Some(egui::Panel::left("side left").exact_size(SIDE_PT.1)),
            Some(Dock::Right) if width >= SIDE_FROM_PT => Some(egui::Panel::right("side").exact_size(SIDE_PT.1)),
            _ => None,
        };
        if let Some(panel) = panel {
            let padded = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(12, 8));
            panel.frame(padded).show(ui, |ui| match self.state.panel {
                Panel::Overview if self.side != Some(Dock::Bottom) => super::overview::show(ui, &cx, &mut ignored),
                _ => within(ui, |ui| side(ui, &cx, &mut self.table, &mut self.panels, &mut ignored)),
            });
        }
        CentralPanel::default().frame(Frame::new().fill(cx.palette.background)).show(ui, |ui| {
            lanes(ui, (cx.workspace, cx.view), &mut self.cache, &mut ignored);
        });
    }
}

/// File, rank and span in one line.
fn header(ui: &mut Ui, cx: &Cx<'_>) {
    ui.horizontal(|ui| {
        let files: Vec<String> = cx.workspace.docs.iter().map(|doc| file_name(&doc.trace.source.path)).collect();
        ui.strong(files.join("  ·  "));
        if let Some(chosen) = cx.chosen() {
            ui.label(RichText::new(facts::rank_text(cx.workspace, chosen.id)).weak());
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let text = status::visible_text(cx.workspace, cx.view);
            ui.add(Label::new(RichText::new(text).weak()).truncate());
        });
    });
}
