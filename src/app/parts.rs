//! The five parts of a window of time: their colours, shares, and the bar that shows them.

use crate::analysis::{Part, Partition};
use crate::format;
use crate::timeline::color::Palette;
use egui::{Align2, Color32, FontId, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

/// Colour of a part.
pub fn color(part: Part, palette: &Palette) -> Color32 {
    match part {
        Part::Compute => palette.compute,
        Part::Overlapped => palette.background.lerp_to_gamma(palette.communication, 0.5),
        Part::Exposed => palette.communication,
        Part::Copy => palette.copy,
        Part::Idle => palette.idle,
    }
}

/// A split in one line, for tooltips and screen readers.
fn as_text(title: &str, split: &Partition) -> String {
    let parts = Part::ALL.map(|part| format!("{} {}", part.text(), format::percent(part.share(split))));
    format!("{title}, {}: {}", format::duration(split.span_ns), parts.join(", "))
}

/// Height of a bar in points.
const BAR_PT: f32 = 20.0;
/// Distance of hatch lines in points.
const HATCH_PT: f32 = 6.0;

/// A bar as wide as there is room, cut into the five parts.
pub fn bar(ui: &mut Ui, palette: &Palette, title: &str, split: &Partition) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR_PT), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, ui.is_enabled(), as_text(title, split)));
    ui.painter().rect_filled(rect, 3.0, palette.grid);
    let mut left = rect.left();
    let mut under_pointer = None;
    for part in Part::ALL {
        let Some(share) = part.share(split).filter(|share| *share > 0.0) else { continue };
        let width = rect.width() * share as f32;
        let piece = Rect::from_min_max(pos2(left, rect.top()), pos2((left + width).min(rect.right()), rect.bottom()));
        paint_piece(ui, palette, part, piece, share);
        if response.hover_pos().is_some_and(|pointer| piece.contains(pointer)) {
            under_pointer = Some((part, share));
        }
        left += width;
    }
    let Some((part, share)) = under_pointer else { return response };
    response.on_hover_ui_at_pointer(|ui| {
        let length = format::duration(part.of(split));
        ui.strong(format!("{}  {}  {length}", part.text(), format::percent(Some(share))));
        ui.label(explain(part, split));
    })
}

/// The definition of a part; of exposed communication also its second reading, in the window `split`.
pub fn explain(part: Part, split: &Partition) -> String {
    match part {
        Part::Exposed => {
            format!("{} Without any copy either: {}.", part.definition(), format::duration(split.comm_alone_ns))
        }
        _ => part.definition().to_owned(),
    }
}

fn paint_piece(ui: &Ui, palette: &Palette, part: Part, piece: Rect, share: f64) {
    let painter = ui.painter().with_clip_rect(piece.intersect(ui.clip_rect()));
    let color = color(part, palette);
    painter.rect_filled(piece, 0.0, color);
    if part == Part::Exposed {
        hatch(&painter, piece, palette.exposed);
    }
    let text = format::percent(Some(share));
    let font = FontId::proportional(super::theme::SMALL_PT);
    let ink = readable_on(color, palette);
    let galley = painter.layout_no_wrap(text, font, ink);
    if galley.size().x + 8.0 <= piece.width() {
        let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), piece);
        if part == Part::Exposed {
            painter.rect_filled(at.expand2(vec2(3.0, 0.0)), 2.0, color);
        }
        painter.galley(at.min, galley, ink);
    }
    painter.vline(piece.right(), piece.y_range(), Stroke::new(1.0, palette.panel));
}

/// Slanted lines over `rect`.
pub fn hatch(painter: &egui::Painter, rect: Rect, color: Color32) {
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        let line = [pos2(x, rect.bottom()), pos2(x + rect.height(), rect.top())];
        painter.add(Shape::line_segment(line, Stroke::new(1.0, color)));
        x += HATCH_PT;
    }
}

/// The one of the theme's two inks that is easier to read on `fill`.
pub fn readable_on(fill: Color32, palette: &Palette) -> Color32 {
    let light =
        |color: Color32| 0.299 * f32::from(color.r()) + 0.587 * f32::from(color.g()) + 0.114 * f32::from(color.b());
    let inks = [palette.text, palette.background];
    let distance = |ink: &Color32| (light(*ink) - light(fill)).abs();
    if distance(&inks[0]) >= distance(&inks[1]) { inks[0] } else { inks[1] }
}

/// A square in a part's colour, as tables show before its name.
pub fn swatch(ui: &mut Ui, palette: &Palette, part: Part) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 2.0, color(part, palette));
    if part == Part::Exposed {
        hatch(&painter, rect, palette.exposed);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_an_empty_window_are_unknown() {
        let nothing = Partition::default();
        assert_eq!(Part::Idle.share(&nothing), None);
        assert!(as_text("GPU span", &nothing).contains("Idle -"));
    }

    #[test]
    fn ink_contrasts_with_what_it_is_written_on() {
        for theme in [crate::view::Theme::Dark, crate::view::Theme::Light] {
            let palette = Palette::of(theme);
            assert_eq!(readable_on(palette.background, palette), palette.text);
            assert_eq!(readable_on(palette.text, palette), palette.background);
        }
    }
}
