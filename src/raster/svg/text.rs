//! Text as text: one element for each row and colour of a galley.

use super::{escaped, fill, number};
use egui::Color32;
use egui::epaint::TextShape;
use egui::epaint::text::PlacedRow;
use std::fmt::Write as _;

/// The elements of a text.
pub(super) fn element(text: &TextShape) -> String {
    let mut out = String::new();
    let Some(section) = text.galley.job.sections.first() else { return out };
    let first = text.galley.rows.iter().find_map(|row| row.row.glyphs.first());
    // Sizes of letters are told by the heights of their fonts.
    let size_of_height = first.map_or(1.0, |glyph| section.format.font_id.size / glyph.font_height.max(0.1));
    let turned = (text.angle != 0.0).then(|| {
        let [degrees, x, y] = [text.angle.to_degrees(), text.pos.x, text.pos.y].map(number);
        format!(" transform=\"rotate({degrees} {x} {y})\"")
    });
    for row in &text.galley.rows {
        row_elements(text, row, size_of_height, turned.as_deref().unwrap_or(""), &mut out);
    }
    out
}

fn row_elements(text: &TextShape, row: &PlacedRow, size_of_height: f32, turned: &str, out: &mut String) {
    let colored = row.row.glyphs.iter().map(|glyph| {
        let own = row.row.visuals.mesh.vertices.get(glyph.first_vertex as usize).map(|vertex| vertex.color);
        let blank = glyph.chr.is_whitespace();
        (glyph, text.override_text_color.or(own.filter(|_| !blank)))
    });
    let glyphs: Vec<_> = colored.collect();
    let mut at = 0;
    while let Some((first, color)) = glyphs.get(at) {
        // Blanks have no colour of their own and belong to what they follow.
        let len = glyphs[at..]
            .iter()
            .take_while(|(glyph, own)| glyph.chr.is_whitespace() || own == color || color.is_none())
            .count()
            .max(1);
        let run = &glyphs[at..at + len];
        at += len;
        let content: String = run.iter().map(|(glyph, _)| glyph.chr).collect();
        let written = content.trim_end();
        let Some((last, _)) = run.get(written.chars().count().saturating_sub(1)) else { continue };
        let color = run.iter().find_map(|(_, own)| *own).unwrap_or(Color32::PLACEHOLDER);
        let color = if color == Color32::PLACEHOLDER { text.fallback_color } else { color };
        let color = color.gamma_multiply(text.opacity_factor);
        if written.trim().is_empty() || color.a() == 0 {
            continue;
        }
        let origin = text.pos + row.pos.to_vec2();
        let [x, y] = [origin.x + first.pos.x, origin.y + first.pos.y].map(number);
        let (width, size) = (number(last.max_x() - first.pos.x), number(first.font_height * size_of_height));
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\" \
             xml:space=\"preserve\"{}{turned}>{}</text>",
            fill(color),
            escaped(written)
        );
    }
}
