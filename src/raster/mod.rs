//! egui output to pixels on the CPU: pictures without a GPU or a display.
//!
//! It follows egui's GL painter: premultiplied alpha, vertex colour times texel in gamma space, scissor rectangles in
//! whole pixels. Coverage is decided in whole numbers (1/256 pixel) with the top-left rule, so triangles that share an
//! edge never blend a pixel twice. Everything runs in order on one thread.
//!
//! So the same meshes and textures give the same bytes on every machine, and [`Renderer::draw`] sees to the textures: it
//! draws the glyphs itself, because egui's depend on the processor's vector instructions.
//!
//! Cost: 4 bytes a pixel; a full 1920x1080 window takes some tens of milliseconds in a release build.

mod glyphs;
pub mod png;
pub mod svg;
mod texture;
mod triangle;

#[cfg(test)]
mod tests;

use egui::epaint::{ClippedShape, Primitive};
use egui::{ClippedPrimitive, Color32, Context, Rect, TextureId, TexturesDelta};
use std::collections::HashMap;
use texture::Texture;
use triangle::{Canvas, Clip};

/// Pixels, row after row from the top left: red, green, blue, alpha (premultiplied).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Width in pixels.
    pub width_px: usize,
    /// Height in pixels.
    pub height_px: usize,
    /// `width_px * height_px` pixels.
    pub pixels: Vec<[u8; 4]>,
}

impl Image {
    /// An image of one colour.
    pub fn filled(width_px: usize, height_px: usize, color: Color32) -> Self {
        Self { width_px, height_px, pixels: vec![color.to_array(); width_px * height_px] }
    }

    /// The pixel at column `x`, row `y`; `None` outside.
    pub fn pixel(&self, x: usize, y: usize) -> Option<[u8; 4]> {
        if x >= self.width_px {
            return None;
        }
        self.pixels.get(y * self.width_px + x).copied()
    }

    /// The pixels as one run of bytes.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }
}

/// Paints what an [`egui::Context`] wants to be painted.
#[derive(Debug, Default)]
pub struct Renderer {
    textures: HashMap<TextureId, Texture>,
    /// Freed by the last delta, which the frame after it may still draw with.
    freed: Vec<TextureId>,
}

impl Renderer {
    /// A renderer without textures: the first delta of the context brings them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over the texture changes of a frame and leaves `delta` empty. Call it for every frame, painted or not.
    pub fn update(&mut self, delta: &mut TexturesDelta) {
        for id in self.freed.drain(..) {
            self.textures.remove(&id);
        }
        #[expect(clippy::iter_over_hash_type, reason = "each texture has its own list of changes")]
        for (id, changes) in delta.set.drain() {
            for change in changes {
                self.textures.entry(id).or_default().apply(&change);
            }
        }
        self.freed.extend(delta.free.drain());
    }

    /// Paints the shapes of the last frame of `context` over `background`: the same bytes on every machine.
    pub fn draw(
        &mut self,
        context: &Context,
        shapes: Vec<ClippedShape>,
        [width_px, height_px]: [usize; 2],
        pixels_per_point: f32,
        background: Color32,
    ) -> Image {
        // The discs in the atlas have sizes that come from the system's `powf`.
        context.tessellation_options_mut(|options| options.prerasterized_discs = false);
        if let Some(atlas) = self.textures.get_mut(&TextureId::default()) {
            let (definitions, options) = context.fonts(|fonts| (fonts.definitions().clone(), *fonts.options()));
            glyphs::settle(atlas, &definitions, &options, &shapes);
        }
        let primitives = context.tessellate(shapes, pixels_per_point);
        self.paint(width_px, height_px, pixels_per_point, background, &primitives)
    }

    /// Paints `primitives` over `background`, with the textures as they came.
    fn paint(
        &self,
        width_px: usize,
        height_px: usize,
        pixels_per_point: f32,
        background: Color32,
        primitives: &[ClippedPrimitive],
    ) -> Image {
        let mut image = Image::filled(width_px, height_px, background);
        for clipped in primitives {
            let Primitive::Mesh(mesh) = &clipped.primitive else { continue };
            let Some(texture) = self.textures.get(&mesh.texture_id) else { continue };
            let clip = clip_px(clipped.clip_rect, pixels_per_point, width_px, height_px);
            Canvas::new(&mut image, clip, pixels_per_point).mesh(mesh, texture);
        }
        image
    }
}

/// The scissor rectangle in whole pixels, rounded as egui's GL painter does.
fn clip_px(rect: Rect, pixels_per_point: f32, width_px: usize, height_px: usize) -> Clip {
    let edge = |at: f32, limit: usize| ((at * pixels_per_point).round().max(0.0) as usize).min(limit);
    Clip {
        left: edge(rect.min.x, width_px),
        top: edge(rect.min.y, height_px),
        right: edge(rect.max.x, width_px),
        bottom: edge(rect.max.y, height_px),
    }
}
