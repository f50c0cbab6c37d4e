//! Meshes: rectangles where triangles make them, else the triangles.

use super::{fill, number};
use egui::epaint::{Mesh, TextureId, Vertex};
use egui::{Color32, Pos2, Rect};
use std::fmt::Write as _;

/// Edges nearer than this, in points, are one.
const NEAR_PT: f32 = 0.02;

/// Writes a mesh of plain colours; one with a texture is a picture, and there is none in the window but text.
pub(super) fn write(mesh: &Mesh, out: &mut String) {
    if mesh.texture_id != TextureId::default() || mesh.is_empty() {
        return;
    }
    let mut run = Run { out, color: Color32::TRANSPARENT, path: String::new(), open: None };
    let mut at = 0;
    while let Some(corners) = corners(mesh, at) {
        if let Some((rect, color)) = quad(mesh, at) {
            run.rect(rect, color);
            at += 6;
        } else {
            run.triangle(corners);
            at += 3;
        }
    }
    run.end();
}

fn corners(mesh: &Mesh, at: usize) -> Option<[Vertex; 3]> {
    let corner = |at: usize| mesh.vertices.get(*mesh.indices.get(at)? as usize).copied();
    Some([corner(at)?, corner(at + 1)?, corner(at + 2)?])
}

/// The rectangle that the two triangles from `at` make, when they make one of one colour.
fn quad(mesh: &Mesh, at: usize) -> Option<(Rect, Color32)> {
    let indices = mesh.indices.get(at..at + 6)?;
    let first = *indices.first()?;
    let is_quad = indices.iter().zip([0, 1, 2, 2, 1, 3]).all(|(index, expected)| *index == first + expected);
    let [a, b, c, d] = [0, 1, 2, 3].map(|corner| mesh.vertices.get((first + corner) as usize).copied());
    let (a, b, c, d) = (a?, b?, c?, d?);
    let square = a.pos.y == b.pos.y && c.pos.y == d.pos.y && a.pos.x == c.pos.x && b.pos.x == d.pos.x;
    let plain = [b, c, d].iter().all(|corner| corner.color == a.color);
    (is_quad && square && plain).then(|| (Rect::from_two_pos(a.pos, d.pos), a.color))
}

/// Shapes of one colour in a row, which become one path.
struct Run<'a> {
    out: &'a mut String,
    color: Color32,
    path: String,
    /// The last rectangle, which the next one may continue.
    open: Option<Rect>,
}

impl Run<'_> {
    fn rect(&mut self, rect: Rect, color: Color32) {
        if rect.width() <= 0.0 || rect.height() <= 0.0 {
            return;
        }
        self.turn_to(color);
        if let Some(open) = &mut self.open {
            let level = (open.top() - rect.top()).abs() < NEAR_PT && (open.bottom() - rect.bottom()).abs() < NEAR_PT;
            if level && (open.right() - rect.left()).abs() < NEAR_PT {
                open.max.x = rect.max.x;
                return;
            }
        }
        self.close();
        self.open = Some(rect);
    }

    fn triangle(&mut self, corners: [Vertex; 3]) {
        let [a, b, c] = corners;
        let area = (b.pos.x - a.pos.x) * (c.pos.y - a.pos.y) - (c.pos.x - a.pos.x) * (b.pos.y - a.pos.y);
        if area == 0.0 {
            return;
        }
        self.turn_to(a.color);
        self.close();
        let point = |at: Pos2| format!("{} {}", number(at.x), number(at.y));
        let _ = write!(self.path, "M{}L{}L{}z", point(a.pos), point(b.pos), point(c.pos));
    }

    fn turn_to(&mut self, color: Color32) {
        if self.color != color {
            self.end();
            self.color = color;
        }
    }

    fn close(&mut self) {
        let Some(rect) = self.open.take() else { return };
        let [x, y, width, height] = [rect.left(), rect.top(), rect.width(), rect.height()].map(number);
        let _ = write!(self.path, "M{x} {y}h{width}v{height}h-{width}z");
    }

    fn end(&mut self) {
        self.close();
        if !self.path.is_empty() && self.color.a() > 0 {
            let filled = fill(self.color);
            let _ = writeln!(self.out, "<path shape-rendering=\"crispEdges\" d=\"{}\"{filled}/>", self.path);
        }
        self.path.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(left: f32, right: f32) -> Rect {
        Rect::from_min_max(Pos2::new(left, 0.0), Pos2::new(right, 5.0))
    }

    #[test]
    fn rectangles_of_one_colour_that_touch_become_one() {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(rect(0.0, 2.0), Color32::RED);
        mesh.add_colored_rect(rect(2.0, 4.0), Color32::RED);
        mesh.add_colored_rect(rect(6.0, 7.0), Color32::RED);
        mesh.add_colored_rect(rect(7.0, 8.0), Color32::GREEN);
        let mut out = String::new();
        write(&mesh, &mut out);
        assert_eq!(out.lines().count(), 2, "{out}");
        assert!(out.contains("d=\"M0 0h4v5h-4zM6 0h1v5h-1z\" fill=\"#ff0000\""), "{out}");
    }

    #[test]
    fn other_triangles_stay_triangles_and_empty_ones_vanish() {
        let mut mesh = Mesh::default();
        for (x, y) in [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (9.0, 9.0), (9.0, 9.0)] {
            mesh.colored_vertex(Pos2::new(x, y), Color32::WHITE);
        }
        mesh.add_triangle(0, 1, 2);
        mesh.add_triangle(2, 3, 4);
        let mut out = String::new();
        write(&mesh, &mut out);
        assert!(out.contains("d=\"M0 0L4 0L4 4z\"") && out.lines().count() == 1, "{out}");
    }
}
