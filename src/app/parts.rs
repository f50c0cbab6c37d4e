//! The five parts of a window of time: their names, definitions, colours, and the bar that shows them.

use crate::analysis::{Partition, TypicalStep};
use crate::format;
use crate::timeline::color::Palette;
use egui::{Align2, Color32, FontId, Rect, Response, Sense, Shape, Stroke, Ui, WidgetInfo, Role, pos2, vec2};

/// One of the five parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Compute without communication.
    Compute,
    /// Both at once.
    Overlapped,
    /// Communication without compute.
    Exposed,
    /// Copies without kernels.
    Copy,
    /// Nothing ran.
    Idle,
}

impl Part {
    /// All parts in the order of bars and tables.
    pub const ALL: [Self; 5] = [Self::Compute, Self::Overlapped, Self::Exposed, Self::Copy, Self::Idle];

    /// Name in tables.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Compute => "Compute only",
            Self::Overlapped => "Overlapped comm.",
            Self::Exposed => "Exposed comm.",
            Self::Copy => "Copy only",
            Self::Idle => "Idle",
        }
    }

    /// Name in narrow column heads.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Compute => "Comp.",
            Self::Overlapped => "Overl.",
            Self::Exposed => "Exp.",
            Self::Copy => "Copy",
            Self::Idle => "Idle",
        }
    }

    /// What it means, for tooltips.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Compute => {
                "Compute only: a compute kernel of the device was running and no communication kernel. Fused kernels and \
                 CUDA graphs recorded as one block count as compute."
            }
            Self::Overlapped => {
                "Overlapped communication: a communication kernel and a compute kernel of the device were running at \
                 once, so the communication cost no extra time by itself."
            }
            Self::Exposed => {
                "Exposed communication: a communication kernel was running and no compute kernel of that device. Copies \
                 that ran meanwhile do not change this."
            }
            Self::Copy => "Copy only: a copy or fill was running and no kernel.",
            Self::Idle => "Idle: nothing was running on the device.",
        }
    }

    /// Nanoseconds of this part.
    pub const fn of(self, parts: &Partition) -> i64 {
        match self {
            Self::Compute => parts.compute_only_ns,
            Self::Overlapped => parts.overlapped_comm_ns,
            Self::Exposed => parts.exposed_comm_ns,
            Self::Copy => parts.copy_only_ns,
            Self::Idle => parts.idle_ns,
        }
    }

    /// Mean nanoseconds of this part in the typical step.
    pub const fn of_typical(self, step: &TypicalStep) -> f64 {
        match self {
            Self::Compute => step.compute_only_ns,
            Self::Overlapped => step.overlapped_comm_ns,
            Self::Exposed => step.exposed_comm_ns,
            Self::Copy => step.copy_only_ns,
            Self::Idle => step.idle_ns,
        }
    }

    /// Its colour.
    pub fn color(self, palette: &Palette) -> Color32 {
        match self {
            Self::Compute => palette.compute,
            Self::Overlapped => palette.background.lerp_to_gamma(palette.communication, 0.5),
            Self::Exposed => palette.communication,
            Self::Copy => palette.copy,
            Self::Idle => palette.idle,
        }
    }
}

/// A window of time and its parts, as the side panel shows them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Split {
    /// Length of the window in nanoseconds.
    pub span_ns: f64,
    /// The parts in the order of [`Part::ALL`], in nanoseconds.
    pub parts_ns: [f64; 5],
}

impl Split {
    /// The split of one window.
    pub fn of(parts: &Partition) -> Self {
        Self { span_ns: parts.span_ns as f64, parts_ns: Part::ALL.map(|part| part.of(parts) as f64) }
    }

    /// The split of the typical step.
    pub fn of_typical(step: &TypicalStep) -> Self {
        Self { span_ns: step.span_ns, parts_ns: Part::ALL.map(|part| part.of_typical(step)) }
    }

    /// Share of a part, 0 to 1; `None` when the window has no length.
    pub fn share(&self, part: Part) -> Option<f64> {
        (self.span_ns > 0.0).then(|| self.parts_ns[part as usize] / self.span_ns)
    }

    /// One line for tooltips and screen readers.
    pub fn as_text(&self, title: &str) -> String {
        let parts = Part::ALL.map(|part| format!("{} {}", part.text(), format::percent(self.share(part))));
        format!("{title}, {}: {}", format::duration_f(self.span_ns), parts.join(", "))
    }
}

/// Height of a bar in points.
const BAR_PT: f32 = 20.0;
/// Distance of hatch lines in points.
const HATCH_PT: f32 = 6.0;

/// A bar as wide as there is room, cut into the five parts.
pub fn bar(ui: &mut Ui, palette: &Palette, title: &str, split: &Split) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR_PT), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, ui.is_enabled(), split.as_text(title)));
    ui.painter().rect_filled(rect, 3.0, palette.grid);
    let mut left = rect.left();
    let mut under_pointer = None;
    for part in Part::ALL {
        let Some(share) = split.share(part).filter(|share| *share > 0.0) else { continue };
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
        let length = format::duration_f(split.parts_ns[part as usize]);
        ui.strong(format!("{}  {}  {length}", part.text(), format::percent(Some(share))));
        ui.label(part.definition());
    })
}

fn paint_piece(ui: &Ui, palette: &Palette, part: Part, piece: Rect, share: f64) {
    let painter = ui.painter().with_clip_rect(piece.intersect(ui.clip_rect()));
    let color = part.color(palette);
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
    let light = |color: Color32| {
        0.299 * f32::from(color.r()) + 0.587 * f32::from(color.g()) + 0.114 * f32::from(color.b())
    };
    let inks = [palette.text, palette.background];
    let distance = |ink: &Color32| (light(*ink) - light(fill)).abs();
    if distance(&inks[0]) >= distance(&inks[1]) { inks[0] } else { inks[1] }
}

/// A square in a part's colour, as tables show before its name.
pub fn swatch(ui: &mut Ui, palette: &Palette, part: Part) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 2.0, part.color(palette));
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
        let split = Split::of(&Partition::default());
        assert_eq!(split.share(Part::Idle), None);
        assert!(split.as_text("Capture").contains("Idle -"));
    }

    #[test]
    fn parts_come_in_the_order_of_their_table() {
        let parts = Partition {
            span_ns: 100,
            comm_ns: 30,
            compute_only_ns: 50,
            overlapped_comm_ns: 10,
            exposed_comm_ns: 20,
            copy_only_ns: 5,
            idle_ns: 15,
        };
        let split = Split::of(&parts);
        assert_eq!(split.parts_ns, [50.0, 10.0, 20.0, 5.0, 15.0]);
        assert_eq!(split.share(Part::Exposed), Some(0.2));
    }
}
