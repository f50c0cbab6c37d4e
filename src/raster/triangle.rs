//! Meshes to pixels: which pixels a triangle covers, and what colour they get.
//!
//! ```text
//!        v0 ---- v1     Vertices are rounded to 1/256 pixel. A pixel is covered when its centre lies inside all three
//!         |    /        edges; a centre exactly on an edge counts for top and left edges only, so it belongs to one
//!         |  /          of two triangles that share the edge. Each row is solved for its first and last pixel.
//!        v2
//! ```

use super::Image;
use super::texture::Texture;
use egui::epaint::Vertex;
use egui::{Color32, Mesh};

/// Pixels that may be painted: `left..right`, `top..bottom`, inside the image.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clip {
    pub left: usize,
    pub top: usize,
    pub right: usize,
    pub bottom: usize,
}

/// An image being painted within a scissor rectangle.
pub(super) struct Canvas<'a> {
    image: &'a mut Image,
    clip: Clip,
    pixels_per_point: f32,
}

/// Units per pixel.
const UNIT: i64 = 256;
/// Vertices beyond this many pixels are pulled in, which keeps every product below 2^63.
const LIMIT_PX: f32 = 1_000_000.0;
/// Fraction bits of colours and texel coordinates.
const FRACTION: f64 = 65_536.0;

#[derive(Debug, Clone, Copy)]
struct Point {
    x: i64,
    y: i64,
    /// Red, green, blue, alpha, then texel column and row, in 1/65536.
    values: [f64; 6],
}

impl<'a> Canvas<'a> {
    pub fn new(image: &'a mut Image, clip: Clip, pixels_per_point: f32) -> Self {
        Self { image, clip, pixels_per_point }
    }

    /// Paints every triangle of `mesh` in order.
    pub fn mesh(&mut self, mesh: &Mesh, texture: &Texture) {
        for corners in mesh.indices.chunks_exact(3) {
            let [a, b, c] = [corners[0], corners[1], corners[2]].map(|at| mesh.vertices.get(at as usize));
            if let (Some(a), Some(b), Some(c)) = (a, b, c) {
                self.triangle([a, b, c], texture);
            }
        }
    }

    fn triangle(&mut self, corners: [&Vertex; 3], texture: &Texture) {
        if corners.iter().all(|corner| corner.color == Color32::TRANSPARENT) {
            return;
        }
        let mut points = corners.map(|corner| self.point(corner, texture));
        let mut area = cross(points[0], points[1], points[2]);
        if area == 0 {
            return;
        }
        if area < 0 {
            points.swap(1, 2);
            area = -area;
        }
        let [a, b, c] = corners;
        let flat_color = a.color == b.color && b.color == c.color;
        let flat_texel = a.uv == b.uv && b.uv == c.uv;
        let brush =
            Brush { points, area: area as f64, texture, texel: flat_texel.then(|| texel_at(points[0], texture)) };
        let solid = brush.texel.filter(|_| flat_color).map(|texel| modulate(a.color.to_array().map(u32::from), texel));
        let (top, bottom) = self.rows(&points);
        for y in top..bottom {
            let Some((first, last)) = self.columns(&points, y) else { continue };
            let start = y * self.image.width_px;
            let Some(row) = self.image.pixels.get_mut(start + first..start + last) else { continue };
            match solid {
                Some(color) => fill(row, color),
                None => brush.shade(row, first, y),
            }
        }
    }

    fn point(&self, vertex: &Vertex, texture: &Texture) -> Point {
        let unit = |at: f32| ((at * self.pixels_per_point).clamp(-LIMIT_PX, LIMIT_PX) * UNIT as f32).round() as i64;
        let [width, height] = texture.size();
        let [red, green, blue, alpha] = vertex.color.to_array().map(|channel| f64::from(channel) * FRACTION);
        let u = f64::from(vertex.uv.x) * width as f64 * FRACTION;
        let v = f64::from(vertex.uv.y) * height as f64 * FRACTION;
        Point { x: unit(vertex.pos.x), y: unit(vertex.pos.y), values: [red, green, blue, alpha, u, v] }
    }

    /// Rows whose centres may lie inside, clipped.
    fn rows(&self, points: &[Point; 3]) -> (usize, usize) {
        let ys = points.map(|point| point.y);
        let top = ceil_div(ys[0].min(ys[1]).min(ys[2]) - UNIT / 2, UNIT).max(self.clip.top as i64);
        let bottom = (ys[0].max(ys[1]).max(ys[2]) - UNIT / 2).div_euclid(UNIT) + 1;
        (top as usize, bottom.clamp(top, (self.clip.bottom as i64).max(top)) as usize)
    }

    /// First and one past the last pixel of row `y`, clipped; `None` when there is none.
    fn columns(&self, points: &[Point; 3], y: usize) -> Option<(usize, usize)> {
        let center = y as i64 * UNIT + UNIT / 2;
        let (mut first, mut last) = (self.clip.left as i64, self.clip.right as i64 - 1);
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let (from, to) = (points[from], points[to]);
            let (dx, dy) = (to.x - from.x, to.y - from.y);
            let inclusive = dy < 0 || (dy == 0 && dx > 0);
            // The edge function of a pixel centre at column x is `-dy * UNIT * x + rest`; inside it is at least 0.
            let rest = dx * (center - from.y) - dy * (UNIT / 2 - from.x) - i64::from(!inclusive);
            match -dy * UNIT {
                0 if rest < 0 => return None,
                0 => {}
                slope if slope > 0 => first = first.max(ceil_div(-rest, slope)),
                slope => last = last.min(rest.div_euclid(-slope)),
            }
        }
        (first <= last).then(|| (first as usize, last as usize + 1))
    }
}

/// What a triangle's pixels look like.
struct Brush<'a> {
    points: [Point; 3],
    area: f64,
    texture: &'a Texture,
    /// The one texel in use when all corners share it.
    texel: Option<[u32; 4]>,
}

impl Brush<'_> {
    /// Blends the pixels of one row that begin at column `first`.
    fn shade(&self, row: &mut [[u8; 4]], first: usize, y: usize) {
        let mut at = [0_i64; 6];
        let mut step = [0_i64; 6];
        for channel in 0..6 {
            (at[channel], step[channel]) = self.line(channel, first, y);
        }
        for pixel in row {
            let color = [at[0], at[1], at[2], at[3]].map(|channel| ((channel + (1 << 15)) >> 16).clamp(0, 255) as u32);
            let texel = self.texel.unwrap_or_else(|| self.texture.sample(at[4], at[5]));
            blend(pixel, modulate(color, texel));
            for (value, by) in at.iter_mut().zip(step) {
                *value = value.saturating_add(by);
            }
        }
    }

    /// Value at the centre of pixel (`first`, `y`) and its change from pixel to pixel, as whole numbers.
    fn line(&self, channel: usize, first: usize, y: usize) -> (i64, i64) {
        let [a, b, c] = self.points;
        let (db, dc) = (b.values[channel] - a.values[channel], c.values[channel] - a.values[channel]);
        let per_x = (db * (c.y - a.y) as f64 - dc * (b.y - a.y) as f64) / self.area;
        let per_y = (dc * (b.x - a.x) as f64 - db * (c.x - a.x) as f64) / self.area;
        let (x, y) = (first as i64 * UNIT + UNIT / 2, y as i64 * UNIT + UNIT / 2);
        let start = a.values[channel] + per_x * (x - a.x) as f64 + per_y * (y - a.y) as f64;
        (start.round() as i64, (per_x * UNIT as f64).round() as i64)
    }
}

fn texel_at(point: Point, texture: &Texture) -> [u32; 4] {
    texture.sample(point.values[4].round() as i64, point.values[5].round() as i64)
}

fn cross(a: Point, b: Point, c: Point) -> i64 {
    (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)
}

fn ceil_div(value: i64, by: i64) -> i64 {
    -(-value).div_euclid(by)
}

/// `value / 255`, rounded, for values up to 255 * 255.
fn div_255(value: u32) -> u32 {
    (value + 128 + ((value + 128) >> 8)) >> 8
}

fn modulate(color: [u32; 4], texel: [u32; 4]) -> [u32; 4] {
    std::array::from_fn(|channel| div_255(color[channel] * texel[channel]))
}

fn fill(row: &mut [[u8; 4]], color: [u32; 4]) {
    if color[3] == 255 {
        row.fill(color.map(|channel| channel as u8));
    } else if color != [0; 4] {
        for pixel in row {
            blend(pixel, color);
        }
    }
}

/// Puts a premultiplied colour over a pixel.
fn blend(pixel: &mut [u8; 4], color: [u32; 4]) {
    let through = 255 - color[3].min(255);
    for (below, above) in pixel.iter_mut().zip(color) {
        *below = (above + div_255(u32::from(*below) * through)).min(255) as u8;
    }
}
