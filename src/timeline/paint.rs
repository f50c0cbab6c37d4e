//! Draw list to egui shapes: one mesh a layer, then the texts.

use super::color::Palette;
use super::draw::{Block, DrawList, Label, Tone};
use super::ink::Ink;
use super::label::{self, Texts};
use egui::epaint::{Mesh, Vertex, WHITE_UV};
use egui::{Color32, FontId, Galley, Painter, Pos2, Rect, Shape, pos2, vec2};
use std::sync::Arc;

/// Distance between the strokes of a hatch, horizontally.
const HATCH_STEP_PT: f32 = 6.0;
/// Width of a stroke, horizontally.
const HATCH_STROKE_PT: f32 = 2.0;
/// Size of text on slices.
pub const LANE_FONT: FontId = FontId::proportional(10.5);
/// Room before the text of a slice.
const INSET_PT: f32 = 4.0;
/// Size of text elsewhere.
pub const TEXT_FONT: FontId = FontId::proportional(12.0);

/// Paints `list`.
pub fn paint(painter: &Painter, palette: &Palette, list: &DrawList) {
    for layer in [&list.back, &list.data] {
        add(painter, blocks(palette, layer));
    }
    let mut strokes = Mesh::default();
    for area in &list.hatches {
        hatch(&mut strokes, area, tone(palette, area.tone));
    }
    add(painter, strokes);
    add(painter, blocks(palette, &list.marks));
    add(painter, blocks(palette, &list.found));
    for text in &list.labels {
        paint_label(painter, palette, text);
    }
}

fn add(painter: &Painter, mesh: Mesh) {
    if !mesh.is_empty() {
        painter.add(Shape::mesh(mesh));
    }
}

fn blocks(palette: &Palette, blocks: &[Block]) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.reserve_vertices(blocks.len() * 4);
    mesh.reserve_triangles(blocks.len() * 2);
    for block in blocks {
        let rect = Rect::from_min_max(pos2(block.x0, block.y0), pos2(block.x1, block.y1));
        mesh.add_colored_rect(rect, tone(palette, block.tone));
    }
    mesh
}

/// Colour of a tone.
pub fn tone(palette: &Palette, tone: Tone) -> Color32 {
    match tone {
        Tone::Solid(ink) => palette.ink(ink),
        Tone::Half(ink) => palette.ink(ink).gamma_multiply(0.55),
        Tone::Wait(ink) => palette.background.lerp_to_gamma(palette.ink(ink), 0.4),
        Tone::Faint(ink) => palette.ink(ink).gamma_multiply(0.22),
        Tone::Edge => palette.edge,
        Tone::User([red, green, blue]) => super::color::user(red, green, blue),
        Tone::Header => palette.header,
        Tone::Step => palette.step,
        Tone::Boundary => palette.boundary,
        Tone::Line => palette.grid,
        Tone::Hit => palette.hit,
    }
}

/// Diagonal strokes across `area`, in step with those of every other area so that a cut hatch joins up.
fn hatch(mesh: &mut Mesh, area: &Block, color: Color32) {
    let height = area.y1 - area.y0;
    // A stroke runs from the bottom at `x` to the top at `x + height`.
    let first = ((area.x0 - height) / HATCH_STEP_PT).floor() as i64;
    let last = (area.x1 / HATCH_STEP_PT).ceil() as i64;
    for step in first..=last {
        let x = step as f32 * HATCH_STEP_PT;
        let along = |x: f32| ((x, area.y1), (x + height, area.y0));
        let (left, right) = (along(x), along(x + HATCH_STROKE_PT));
        // Clipping a parallelogram by two vertical lines: clip both long edges, the corners between follow.
        let corners = clip_stroke(left, right, area.x0, area.x1);
        let base = mesh.vertices.len() as u32;
        if corners.len() < 3 {
            continue;
        }
        mesh.vertices.extend(corners.iter().map(|pos| Vertex { pos: *pos, uv: WHITE_UV, color }));
        for corner in 2..corners.len() as u32 {
            mesh.add_triangle(base, base + corner - 1, base + corner);
        }
    }
}

type Edge = ((f32, f32), (f32, f32));

fn clip_stroke(left: Edge, right: Edge, x0: f32, x1: f32) -> Vec<Pos2> {
    let polygon = vec![
        pos2(left.0.0, left.0.1),
        pos2(right.0.0, right.0.1),
        pos2(right.1.0, right.1.1),
        pos2(left.1.0, left.1.1),
    ];
    clip(clip(polygon, x0, |x, edge| x >= edge), x1, |x, edge| x <= edge)
}

/// The part of a convex polygon on the side of the vertical line at `edge` for which `inside` holds.
fn clip(polygon: Vec<Pos2>, edge: f32, inside: impl Fn(f32, f32) -> bool) -> Vec<Pos2> {
    let mut out = Vec::with_capacity(polygon.len() + 2);
    for (at, corner) in polygon.iter().enumerate() {
        let Some(before) = polygon.get(at.checked_sub(1).unwrap_or(polygon.len() - 1)) else { continue };
        if inside(corner.x, edge) != inside(before.x, edge) {
            let share = (edge - before.x) / (corner.x - before.x);
            out.push(pos2(edge, before.y + share * (corner.y - before.y)));
        }
        if inside(corner.x, edge) {
            out.push(*corner);
        }
    }
    out
}

/// True for inks of slices over which exposed communication is hatched.
fn may_be_hatched(ink: Ink) -> bool {
    [Ink::COMMUNICATION, Ink::FUSED].contains(&ink) || ink.as_hue().is_some()
}

/// What of a label is written, and where; `None` when there is no room for any of it.
fn written(painter: &Painter, text: &Label, color: Color32) -> Option<(Pos2, Arc<Galley>)> {
    let room = text.x1 - text.x0 - 1.5 * INSET_PT;
    let texts = Texts { name: &text.name, detail: &text.detail, short: &text.short };
    let galley = label::fit(painter, texts, room, &LANE_FONT, color)?;
    Some((pos2(text.x0 + INSET_PT, (text.y0 + text.y1 - galley.size().y) / 2.0), galley))
}

/// Where the text of a label stands; `None` when there is no room for any of it.
pub fn text_place(painter: &Painter, palette: &Palette, text: &Label) -> Option<Rect> {
    let (at, galley) = written(painter, text, palette.text)?;
    Some(Rect::from_min_size(at, galley.size()))
}

fn paint_label(painter: &Painter, palette: &Palette, text: &Label) {
    let ground = tone(palette, text.on);
    let color = match text.on {
        Tone::Solid(_) | Tone::Wait(_) => super::color::on(ground),
        Tone::Line => palette.text_dim,
        _ => palette.text,
    };
    if let Some((at, galley)) = written(painter, text, color) {
        // Lines of steps do not run through a text that stands on nothing.
        let plate = Rect::from_min_size(at - vec2(2.0, 0.0), galley.size() + vec2(4.0, 0.0));
        match text.on {
            Tone::Line => drop(painter.rect_filled(plate, 2.0, palette.background)),
            // Keeps the strokes of a hatch from running through the letters.
            Tone::Wait(_) => drop(painter.rect_filled(plate, 2.0, ground)),
            Tone::Solid(ink) | Tone::Half(ink) | Tone::Faint(ink) if may_be_hatched(ink) => {
                // What shines through a dimmed ground is the lane, not the strokes.
                painter.rect_filled(plate, 2.0, palette.background);
                painter.rect_filled(plate, 2.0, ground);
            }
            _ => {}
        }
        painter.galley(at, galley, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_stay_inside_their_area() {
        let area = Block { x0: 13.0, x1: 40.0, y0: 5.0, y1: 25.0, tone: Tone::Solid(Ink::EXPOSED) };
        let mut mesh = Mesh::default();
        hatch(&mut mesh, &area, Color32::WHITE);
        assert!(mesh.is_valid() && mesh.indices.len() > 9);
        for vertex in &mesh.vertices {
            assert!((13.0..=40.0).contains(&vertex.pos.x) && (5.0..=25.0).contains(&vertex.pos.y), "{vertex:?}");
        }
    }

    #[test]
    fn a_layer_is_one_mesh_of_four_corners_a_block() {
        let block = Block { x0: 0.0, x1: 1.0, y0: 0.0, y1: 1.0, tone: Tone::Line };
        let mesh = blocks(Palette::of(crate::view::Theme::Dark), &[block; 100]);
        assert_eq!((mesh.vertices.len(), mesh.indices.len()), (400, 600));
    }
}
