//! Signs on buttons and before texts, painted as shapes so that they look the same whatever fonts there are.

use egui::{
    Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

/// A sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Arrow to the left.
    Back,
    /// Arrow to the right.
    Forward,
    /// Triangle to the left.
    Previous,
    /// Triangle to the right.
    Next,
    /// Triangle up.
    Up,
    /// Triangle down.
    Down,
    /// Bright.
    Sun,
    /// Dark.
    Moon,
    /// Exclamation mark in a triangle.
    Warning,
    /// Check mark.
    Done,
    /// Empty box.
    Todo,
    /// Short line.
    Dash,
    /// Cross.
    Close,
    /// Magnifying glass.
    Search,
}

/// Paints `icon` into a square.
pub fn paint(painter: &Painter, rect: Rect, icon: Icon, color: Color32) {
    let side = rect.width().min(rect.height());
    let at = |x: f32, y: f32| rect.center() + vec2(x, y) * side;
    let line = Stroke::new((side * 0.09).max(1.2), color);
    let filled = |points: Vec<Pos2>| painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
    match icon {
        Icon::Back | Icon::Forward => {
            let turn = if icon == Icon::Back { -1.0 } else { 1.0 };
            painter.line_segment([at(-0.32 * turn, 0.0), at(0.32 * turn, 0.0)], line);
            painter.line(vec![at(0.08 * turn, -0.25), at(0.33 * turn, 0.0), at(0.08 * turn, 0.25)], line);
        }
        Icon::Previous => {
            filled(vec![at(0.16, -0.26), at(0.16, 0.26), at(-0.24, 0.0)]);
        }
        Icon::Next => {
            filled(vec![at(-0.16, -0.26), at(0.24, 0.0), at(-0.16, 0.26)]);
        }
        Icon::Up => {
            filled(vec![at(-0.3, 0.18), at(0.0, -0.24), at(0.3, 0.18)]);
        }
        Icon::Down => {
            filled(vec![at(-0.3, -0.18), at(0.3, -0.18), at(0.0, 0.24)]);
        }
        Icon::Sun => {
            painter.circle_filled(rect.center(), side * 0.17, color);
            for ray in
                [(1.0, 0.0), (0.7, 0.7), (0.0, 1.0), (-0.7, 0.7), (-1.0, 0.0), (-0.7, -0.7), (0.0, -1.0), (0.7, -0.7)]
            {
                painter.line_segment([at(ray.0 * 0.28, ray.1 * 0.28), at(ray.0 * 0.4, ray.1 * 0.4)], line);
            }
        }
        Icon::Moon => {
            painter.circle_stroke(rect.center(), side * 0.3, line);
            let half = Rect::from_min_max(pos2(rect.center().x, rect.top()), rect.max);
            painter.with_clip_rect(half).circle_filled(rect.center(), side * 0.3, color);
        }
        Icon::Done => {
            let check = Stroke::new((side * 0.14).max(1.6), color);
            painter.line(vec![at(-0.34, 0.02), at(-0.1, 0.28), at(0.36, -0.28)], check);
        }
        Icon::Todo => {
            let around = Rect::from_center_size(rect.center(), egui::Vec2::splat(side * 0.72));
            painter.rect_stroke(around, side * 0.1, line, StrokeKind::Middle);
        }
        Icon::Dash => {
            painter.line_segment([at(-0.3, 0.0), at(0.3, 0.0)], line);
        }
        Icon::Close => {
            painter.line_segment([at(-0.24, -0.24), at(0.24, 0.24)], line);
            painter.line_segment([at(-0.24, 0.24), at(0.24, -0.24)], line);
        }
        Icon::Search => {
            painter.circle_stroke(at(-0.08, -0.08), side * 0.24, line);
            painter.line_segment([at(0.1, 0.1), at(0.34, 0.34)], line);
        }
        Icon::Warning => {
            let corners = vec![at(0.0, -0.38), at(0.42, 0.36), at(-0.42, 0.36)];
            painter.add(Shape::closed_line(corners, line));
            painter.line_segment([at(0.0, -0.12), at(0.0, 0.12)], line);
            painter.circle_filled(at(0.0, 0.24), line.width * 0.6, color);
        }
    }
}

/// A sign of text height in the flow of a layout.
pub fn show(ui: &mut Ui, icon: Icon, color: Color32) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
    paint(ui.painter(), rect, icon, color);
    response
}

/// A square button with a sign, read out by `name`.
pub fn button(ui: &mut Ui, enabled: bool, icon: Icon, name: &str, tip: &str) -> Response {
    let response = ui
        .add_enabled_ui(enabled, |ui| {
            let (rect, response) = ui.allocate_exact_size(vec2(24.0, 24.0), Sense::click());
            let visuals = ui.style().interact(&response);
            if response.hovered() || response.has_focus() {
                ui.painter().rect(
                    rect,
                    visuals.corner_radius,
                    visuals.weak_bg_fill,
                    visuals.bg_stroke,
                    StrokeKind::Inside,
                );
            }
            let color = if enabled { visuals.text_color() } else { ui.visuals().weak_text_color().gamma_multiply(0.6) };
            paint(ui.painter(), rect.shrink(4.0), icon, color);
            response
        })
        .inner;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, name));
    response.on_hover_text(tip).on_disabled_hover_text(tip)
}
