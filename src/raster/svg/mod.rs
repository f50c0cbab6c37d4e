//! egui output as an SVG drawing: shapes as shapes, text as text, nothing as pixels.
//!
//! What egui would tessellate is written before it is tessellated, so that a drawing stays small and sharp at every
//! size. Rectangles of a mesh that touch and share a colour become one. Text names the font that the window uses and
//! states its width, so that it takes the same room in any other.

mod mesh;
mod text;

use egui::emath::TSTransform;
use egui::epaint::{ClippedShape, ColorMode, Mesh, PathStroke, RectShape, TessellationOptions, Tessellator};
use egui::{Color32, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Fonts in the order in which viewers look for them; the first is the window's own.
const FONTS: &str = "'Ubuntu Light', Ubuntu, 'DejaVu Sans', 'Segoe UI', sans-serif";

/// Why a drawing could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SvgError {
    /// Something else is there.
    #[error("{path} exists and is no SVG drawing, so it is not replaced; choose another name", path = path.display())]
    NotADrawing {
        /// The file that was left as it is.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot write {path}: {source}; choose another folder or free some space", path = path.display())]
    Write {
        /// Where it should have gone.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The drawing of `shapes` on a ground of `size_pt`; `pixels_per_point` is what they were laid out for.
pub fn encode(shapes: &[ClippedShape], size_pt: Vec2, pixels_per_point: f32, ground: Color32, title: &str) -> String {
    let [width, height] = [size_pt.x, size_pt.y].map(number);
    let [width_px, height_px] = [size_pt.x, size_pt.y].map(|side| number(side * pixels_per_point));
    let mut drawing = Drawing { out: String::new(), clips: Vec::new(), pixels_per_point };
    let mut clip = None;
    for ClippedShape { clip_rect, shape, transform_after_tessellation: moved } in shapes {
        let rect = clip_rect.intersect(Rect::from_min_size(Pos2::ZERO, size_pt));
        if rect.is_negative() || rect.width() <= 0.0 || rect.height() <= 0.0 {
            continue;
        }
        if clip != Some(rect) {
            if clip.is_some() {
                drawing.out.push_str("</g>\n");
            }
            let at = drawing.clip(rect);
            let _ = writeln!(drawing.out, "<g clip-path=\"url(#c{at})\">");
            clip = Some(rect);
        }
        if *moved == TSTransform::IDENTITY {
            drawing.shape(shape);
        } else {
            let [x, y, scale] = [moved.translation.x, moved.translation.y, moved.scaling].map(number);
            let _ = writeln!(drawing.out, "<g transform=\"translate({x} {y}) scale({scale})\">");
            drawing.shape(shape);
            drawing.out.push_str("</g>\n");
        }
    }
    if clip.is_some() {
        drawing.out.push_str("</g>\n");
    }
    let mut svg = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width_px}\" height=\"{height_px}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" role=\"img\">\n<title>{}</title>\n<defs>\n",
        escaped(title)
    );
    for (at, rect) in drawing.clips.iter().enumerate() {
        let _ = writeln!(svg, "<clipPath id=\"c{at}\"><rect{}/></clipPath>", place(*rect));
    }
    let _ = writeln!(svg, "</defs>\n<rect width=\"{width}\" height=\"{height}\"{}/>", fill(ground));
    svg.push_str(&drawing.out);
    svg.push_str("</svg>\n");
    svg
}

/// Checks that a drawing may be written to `path`: nothing is there, or a drawing, or an empty file.
///
/// # Errors
/// When something else is there.
pub fn check_target(path: &Path) -> Result<(), SvgError> {
    let Ok(file) = std::fs::File::open(path) else { return Ok(()) };
    let is_file = file.metadata().is_ok_and(|facts| facts.is_file());
    let mut start = Vec::new();
    let is_read = is_file && file.take(512).read_to_end(&mut start).is_ok();
    if is_read && (start.is_empty() || String::from_utf8_lossy(&start).contains("<svg")) {
        return Ok(());
    }
    Err(SvgError::NotADrawing { path: path.to_owned() })
}

/// Writes a drawing. Replaces a drawing, and nothing else.
///
/// # Errors
/// When something that is no drawing is there, or the file cannot be written.
pub fn write(svg: &str, path: &Path) -> Result<(), SvgError> {
    check_target(path)?;
    std::fs::write(path, svg).map_err(|source| SvgError::Write { path: path.to_owned(), source })
}

/// A drawing while it is made.
struct Drawing {
    out: String,
    clips: Vec<Rect>,
    pixels_per_point: f32,
}

impl Drawing {
    /// Number of the clip of this place.
    fn clip(&mut self, rect: Rect) -> usize {
        self.clips.iter().position(|known| *known == rect).unwrap_or_else(|| {
            self.clips.push(rect);
            self.clips.len() - 1
        })
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Noop | Shape::Callback(_) => {}
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Rect(rect) if rect.brush.is_none() && rect.angle == 0.0 => self.rect(rect),
            Shape::LineSegment { points: [a, b], stroke } => {
                if let Some(stroke) = stroke_of(*stroke) {
                    let [x1, y1, x2, y2] = [a.x, a.y, b.x, b.y].map(number);
                    let _ = writeln!(self.out, "<path d=\"M{x1} {y1}L{x2} {y2}\"{stroke}/>");
                }
            }
            Shape::Path(path) => self.path(&path.points, path.closed, path.fill, &path.stroke),
            Shape::Circle(circle) => {
                // An element has one fill.
                let stroke = stroke_of(circle.stroke).unwrap_or_default().replace(" fill=\"none\"", "");
                if circle.fill.a() > 0 || !stroke.is_empty() {
                    let [x, y, r] = [circle.center.x, circle.center.y, circle.radius].map(number);
                    let filled = fill(circle.fill);
                    let _ = writeln!(self.out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{filled}{stroke}/>");
                }
            }
            Shape::Text(text) => self.out.push_str(&text::element(text)),
            Shape::Mesh(mesh) => mesh::write(mesh, &mut self.out),
            // Rare ones become triangles, which are shapes too.
            other => {
                let options = TessellationOptions { feathering: false, ..TessellationOptions::default() };
                let mut mesh = Mesh::default();
                Tessellator::new(self.pixels_per_point, options, [1, 1], Vec::new())
                    .tessellate_shape(other.clone(), &mut mesh);
                mesh::write(&mesh, &mut self.out);
            }
        }
    }

    fn rect(&mut self, shape: &RectShape) {
        let round = shape.round_to_pixels.unwrap_or(true) && shape.blur_width == 0.0;
        let snap = |at: f32| if round { (at * self.pixels_per_point).round() / self.pixels_per_point } else { at };
        let rect = Rect::from_min_max(
            Pos2::new(snap(shape.rect.min.x), snap(shape.rect.min.y)),
            Pos2::new(snap(shape.rect.max.x), snap(shape.rect.max.y)),
        );
        let width = shape.stroke.width;
        let grown = match shape.stroke_kind {
            StrokeKind::Inside => -width / 2.0,
            StrokeKind::Middle => 0.0,
            StrokeKind::Outside => width / 2.0,
        };
        let corner = f32::from(shape.corner_radius.nw.max(shape.corner_radius.se));
        let rounded = |by: f32| {
            let radius = (corner + by).max(0.0);
            if corner > 0.0 && radius > 0.0 { format!(" rx=\"{}\"", number(radius)) } else { String::new() }
        };
        // A blurred edge is the shadow of a window: its middle line is close enough.
        if shape.fill.a() > 0 {
            let _ = writeln!(self.out, "<rect{}{}{}/>", place(rect), rounded(0.0), fill(shape.fill));
        }
        if let Some(stroke) = stroke_of(shape.stroke) {
            let line = rect.expand(grown);
            let _ = writeln!(self.out, "<rect{}{}{stroke}/>", place(line), rounded(grown));
        }
    }

    fn path(&mut self, points: &[Pos2], closed: bool, filled: Color32, stroke: &PathStroke) {
        let color = match &stroke.color {
            ColorMode::Solid(color) => *color,
            ColorMode::UV(color) => {
                let bounds = Rect::from_points(points);
                points.first().map_or(Color32::TRANSPARENT, |at| color(bounds, *at))
            }
        };
        let line = stroke_of(Stroke::new(stroke.width, color));
        if points.len() < 2 || (line.is_none() && filled.a() == 0) {
            return;
        }
        let mut path = String::new();
        for (at, point) in points.iter().enumerate() {
            let _ = write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, number(point.x), number(point.y));
        }
        if closed {
            path.push('z');
        }
        let filled = if closed { fill(filled) } else { " fill=\"none\"".to_owned() };
        // A line's own attributes say that it is not filled; a filled one says so itself.
        let line = line.unwrap_or_default().replace(" fill=\"none\"", "");
        let _ = writeln!(self.out, "<path d=\"{path}\"{filled}{line}/>");
    }
}

/// The attributes of a place.
fn place(rect: Rect) -> String {
    let [x, y, width, height] = [rect.left(), rect.top(), rect.width().max(0.0), rect.height().max(0.0)].map(number);
    format!(" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

/// The attributes of a fill.
fn fill(color: Color32) -> String {
    paint("fill", color)
}

/// The attributes of a line without a fill; `None` of a line that is not seen.
fn stroke_of(stroke: Stroke) -> Option<String> {
    (stroke.width > 0.0 && stroke.color.a() > 0)
        .then(|| format!("{} stroke-width=\"{}\" fill=\"none\"", paint("stroke", stroke.color), number(stroke.width)))
}

fn paint(what: &str, color: Color32) -> String {
    let [red, green, blue, alpha] = color.to_srgba_unmultiplied();
    match alpha {
        0 => format!(" {what}=\"none\""),
        255 => format!(" {what}=\"#{red:02x}{green:02x}{blue:02x}\""),
        alpha => {
            let opacity = number(f32::from(alpha) / 255.0);
            format!(" {what}=\"#{red:02x}{green:02x}{blue:02x}\" {what}-opacity=\"{opacity}\"")
        }
    }
}

/// A number with at most three decimals; one that is not finite is 0.
fn number(value: f32) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.3}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Text as it may stand in XML: what has a meaning there is escaped, what may not stand there is replaced.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                safe.push('\u{fffd}');
            }
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(shape: Shape) -> String {
        let clip_rect = Rect::from_min_size(Pos2::ZERO, Vec2::new(50.0, 30.0));
        let shapes = [ClippedShape { clip_rect, shape, transform_after_tessellation: TSTransform::IDENTITY }];
        encode(&shapes, Vec2::new(100.0, 60.0), 2.0, Color32::BLACK, "a < b & \"c\"\u{1}")
    }

    #[test]
    fn a_drawing_has_its_size_its_clips_and_an_escaped_title() {
        let svg = drawn(Shape::rect_filled(
            Rect::from_min_max(Pos2::new(1.0, 2.0), Pos2::new(4.0, 6.0)),
            2.0,
            Color32::from_rgba_unmultiplied(255, 0, 0, 128),
        ));
        for part in [
            "width=\"200\" height=\"120\" viewBox=\"0 0 100 60\"",
            "<title>a &lt; b &amp; &quot;c&quot;\u{fffd}</title>",
            "<clipPath id=\"c0\"><rect x=\"0\" y=\"0\" width=\"50\" height=\"30\"/></clipPath>",
            "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" rx=\"2\" fill=\"#ff0000\" fill-opacity=\"0.502\"/>",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        assert_eq!((svg.matches("<g ").count(), svg.matches("</g>").count()), (1, 1));
    }

    #[test]
    fn lines_and_outlines_keep_their_colour_and_width() {
        let line = drawn(Shape::line_segment([Pos2::ZERO, Pos2::new(3.0, 4.5)], Stroke::new(1.5, Color32::WHITE)));
        assert!(
            line.contains("<path d=\"M0 0L3 4.5\" stroke=\"#ffffff\" stroke-width=\"1.5\" fill=\"none\"/>"),
            "{line}"
        );
        let ring = drawn(Shape::circle_stroke(Pos2::ZERO, 4.0, Stroke::new(1.0, Color32::WHITE)));
        let circle = ring.lines().find(|line| line.starts_with("<circle")).unwrap();
        assert_eq!(circle.matches("fill=").count(), 1, "no attribute twice: {circle}");
        let rect = Rect::from_min_max(Pos2::new(2.0, 2.0), Pos2::new(8.0, 8.0));
        let outline = drawn(Shape::rect_stroke(rect, 0.0, Stroke::new(2.0, Color32::WHITE), StrokeKind::Inside));
        assert!(outline.contains("<rect x=\"3\" y=\"3\" width=\"4\" height=\"4\" stroke="), "{outline}");
        let nothing = drawn(Shape::line_segment([Pos2::ZERO, Pos2::new(3.0, 4.5)], Stroke::NONE));
        assert!(!nothing.contains("<path"));
    }

    #[test]
    fn a_drawing_replaces_a_drawing_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.svg");
        let svg = drawn(Shape::Noop);
        write(&svg, &path).unwrap();
        write(&svg, &path).unwrap();
        std::fs::write(&path, "SQLite format 3").unwrap();
        assert!(matches!(write(&svg, &path).unwrap_err(), SvgError::NotADrawing { .. }));
        assert!(matches!(write(&svg, folder.path()).unwrap_err(), SvgError::NotADrawing { .. }));
    }
}
