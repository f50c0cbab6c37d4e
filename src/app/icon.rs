//! The application icon: three lanes of a step, communication sticking out of compute, drawn by our own renderer.

use crate::raster::{Image, Renderer};
use crate::timeline::color::Palette;
use crate::view::Theme;
use egui::{Color32, Context, Painter, RawInput, Rect, Stroke, StrokeKind, pos2};

/// Bars as (lane, start, end) in units of the icon's inner width; the colours follow the lanes.
const BARS: [(usize, f32, f32); 5] = [(0, 0.0, 0.56), (0, 0.76, 1.0), (1, 0.32, 0.76), (2, 0.0, 0.2), (2, 0.76, 0.92)];

/// Draws the icon into `rect`.
pub fn paint(painter: &Painter, rect: Rect) {
    let palette = Palette::of(Theme::Dark);
    let unit = rect.width() / 32.0;
    painter.rect(rect, 7.0 * unit, palette.background, Stroke::new(unit, palette.grid), StrokeKind::Inside);
    let inner = rect.shrink2(egui::vec2(6.0 * unit, 7.0 * unit));
    let colors = [palette.compute, palette.communication, palette.copy];
    let height = inner.height() / 3.0;
    for (lane, start, end) in BARS {
        let top = inner.top() + height * lane as f32 + unit * 0.5;
        let bar = Rect::from_min_max(
            pos2(inner.left() + inner.width() * start, top),
            pos2(inner.left() + inner.width() * end, top + height - unit),
        );
        painter.rect_filled(bar, unit, colors.get(lane).copied().unwrap_or(palette.compute));
    }
}

/// The icon as pixels, `side_px` wide and high.
pub fn image(side_px: usize) -> Image {
    let context = Context::default();
    let side = side_px as f32;
    let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(side, side));
    let input = RawInput { screen_rect: Some(rect), ..RawInput::default() };
    let mut renderer = Renderer::new();
    let mut output = context.run_ui(input, |ui| paint(ui.painter(), rect));
    renderer.update(&mut output.textures_delta);
    renderer.draw(&context, output.shapes, [side_px, side_px], 1.0, Color32::TRANSPARENT)
}

/// The icon for the window.
pub fn data() -> egui::IconData {
    let image = image(128);
    // The window system wants colours that are not multiplied by alpha.
    let rgba = image
        .pixels
        .iter()
        .flat_map(|[r, g, b, a]| Color32::from_rgba_premultiplied(*r, *g, *b, *a).to_srgba_unmultiplied());
    egui::IconData { rgba: rgba.collect(), width: image.width_px as u32, height: image.height_px as u32 }
}
