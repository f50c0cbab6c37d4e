//! What the renderer must get right.

use super::*;
use egui::epaint::{ImageDelta, Vertex};
use egui::{ColorImage, ImageData, Mesh, Pos2, TextureOptions, pos2, vec2};
use std::sync::Arc;

const WHITE: [u8; 4] = [255; 4];
const BLACK: [u8; 4] = [0, 0, 0, 255];

fn renderer() -> Renderer {
    let mut renderer = Renderer::new();
    let mut delta = TexturesDelta::default();
    let image = ImageData::Color(Arc::new(ColorImage::filled([1, 1], Color32::WHITE)));
    delta.push(TextureId::default(), ImageDelta::full(image, TextureOptions::NEAREST));
    renderer.update(&mut delta);
    renderer
}

fn mesh(corners: &[Pos2], indices: &[u32], color: Color32) -> Mesh {
    let vertices = corners.iter().map(|pos| Vertex { pos: *pos, uv: Pos2::ZERO, color }).collect();
    Mesh { indices: indices.to_vec(), vertices, texture_id: TextureId::default() }
}

fn paint(mesh: Mesh, clip: Rect, size: usize) -> Image {
    let primitives = [ClippedPrimitive { clip_rect: clip, primitive: Primitive::Mesh(mesh) }];
    renderer().paint(size, size, 1.0, Color32::BLACK, &primitives)
}

fn quad(at: Rect, color: Color32) -> Mesh {
    mesh(&[at.left_top(), at.right_top(), at.right_bottom(), at.left_bottom()], &[0, 1, 2, 0, 2, 3], color)
}

#[test]
fn a_rectangle_covers_exactly_its_pixels() {
    let at = Rect::from_min_max(pos2(2.0, 3.0), pos2(6.0, 5.0));
    let image = paint(quad(at, Color32::WHITE), Rect::EVERYTHING, 8);
    for y in 0..8 {
        for x in 0..8 {
            let inside = (2..6).contains(&x) && (3..5).contains(&y);
            assert_eq!(image.pixel(x, y), Some(if inside { WHITE } else { BLACK }), "at {x}, {y}");
        }
    }
}

#[test]
fn winding_does_not_matter() {
    let corners = [pos2(0.0, 0.0), pos2(8.0, 0.0), pos2(0.0, 8.0)];
    let one = paint(mesh(&corners, &[0, 1, 2], Color32::WHITE), Rect::EVERYTHING, 8);
    let other = paint(mesh(&corners, &[0, 2, 1], Color32::WHITE), Rect::EVERYTHING, 8);
    assert_eq!(one, other);
    assert!(one.pixels.contains(&WHITE) && one.pixels.contains(&BLACK));
}

#[test]
fn triangles_that_share_edges_never_blend_a_pixel_twice_nor_leave_one_out() {
    // A fan around a point that is on no pixel centre, and one around a point that is on one.
    for middle in [pos2(7.31, 8.77), pos2(8.5, 8.5)] {
        let half = Color32::from_rgba_premultiplied(100, 100, 100, 128);
        let mut corners = vec![middle];
        let rim = [(0.0, 0.0), (8.0, 0.0), (16.0, 0.0), (16.0, 5.5), (16.0, 16.0), (3.2, 16.0), (0.0, 16.0)];
        corners.extend(rim.map(|(x, y)| pos2(x, y)));
        let indices: Vec<u32> = (1..=7).flat_map(|at| [0, at, at % 7 + 1]).collect();
        let image = paint(mesh(&corners, &indices, half), Rect::EVERYTHING, 16);
        assert!(image.pixels.iter().all(|pixel| *pixel == [100, 100, 100, 255]), "around {middle:?}");
    }
}

#[test]
fn translucent_colours_are_premultiplied_and_blend_over_what_is_below() {
    let red = Color32::from_rgba_premultiplied(128, 0, 0, 128);
    let image = renderer().paint(
        1,
        1,
        1.0,
        Color32::from_rgb(0, 0, 200),
        &[ClippedPrimitive {
            clip_rect: Rect::EVERYTHING,
            primitive: Primitive::Mesh(quad(Rect::from_min_size(Pos2::ZERO, vec2(1.0, 1.0)), red)),
        }],
    );
    assert_eq!(image.pixel(0, 0), Some([128, 0, 100, 255]));
}

#[test]
fn nothing_is_painted_outside_the_clip_rectangle() {
    let clip = Rect::from_min_max(pos2(2.4, 2.6), pos2(5.5, 100.0));
    let image = paint(quad(Rect::from_min_max(pos2(-50.0, -50.0), pos2(50.0, 50.0)), Color32::WHITE), clip, 8);
    for (at, pixel) in image.pixels.iter().enumerate() {
        let inside = (2..6).contains(&(at % 8)) && at / 8 >= 3;
        assert_eq!(*pixel, if inside { WHITE } else { BLACK });
    }
    let nothing = paint(quad(Rect::EVERYTHING, Color32::WHITE), Rect::NOTHING, 8);
    assert!(nothing.pixels.iter().all(|pixel| *pixel == BLACK));
}

#[test]
fn vertex_colours_fade_across_a_rectangle() {
    let mut fade = quad(Rect::from_min_size(Pos2::ZERO, vec2(256.0, 256.0)), Color32::BLACK);
    fade.vertices[1].color = Color32::WHITE;
    fade.vertices[2].color = Color32::WHITE;
    let image = paint(fade, Rect::EVERYTHING, 256);
    for x in 0..256 {
        let [red, ..] = image.pixel(x, 100).unwrap();
        assert!((i32::from(red) - x as i32).abs() <= 1, "column {x} is {red}");
    }
}

#[test]
fn a_texture_drawn_texel_on_pixel_comes_out_as_stored_and_parts_can_be_replaced() {
    let colors: Vec<Color32> = (0..64).map(|at| Color32::from_rgb(at * 4, 255 - at, at)).collect();
    let id = TextureId::Managed(7);
    let mut renderer = Renderer::new();
    let mut delta = TexturesDelta::default();
    let image = ImageData::Color(Arc::new(ColorImage::new([8, 8], colors.clone())));
    delta.push(id, ImageDelta::full(image, TextureOptions::LINEAR));
    renderer.update(&mut delta);
    let part = ImageData::Color(Arc::new(ColorImage::filled([2, 1], Color32::WHITE)));
    delta.push(id, ImageDelta::partial([3, 4], part, TextureOptions::LINEAR));
    renderer.update(&mut delta);

    let mut mesh = quad(Rect::from_min_size(Pos2::ZERO, vec2(8.0, 8.0)), Color32::WHITE);
    mesh.texture_id = id;
    for vertex in &mut mesh.vertices {
        vertex.uv = vertex.pos / 8.0;
    }
    let primitives = [ClippedPrimitive { clip_rect: Rect::EVERYTHING, primitive: Primitive::Mesh(mesh) }];
    let image = renderer.paint(8, 8, 1.0, Color32::BLACK, &primitives);
    for (at, pixel) in image.pixels.iter().enumerate() {
        let replaced = at == 4 * 8 + 3 || at == 4 * 8 + 4;
        assert_eq!(*pixel, if replaced { WHITE } else { colors[at].to_array() });
    }
}

#[test]
fn freed_textures_serve_the_frame_that_frees_them() {
    let mut renderer = renderer();
    let mut delta = TexturesDelta::default();
    delta.free(TextureId::default());
    renderer.update(&mut delta);
    assert!(delta.is_empty() && renderer.textures.contains_key(&TextureId::default()));
    renderer.update(&mut delta);
    assert!(renderer.textures.is_empty());
}

#[test]
fn broken_meshes_are_skipped() {
    let wild = [pos2(f32::NAN, 0.0), pos2(f32::INFINITY, 3.0), pos2(1e30, -1e30)];
    let image = paint(mesh(&wild, &[0, 1, 2, 0, 9, 1, 2], Color32::WHITE), Rect::EVERYTHING, 4);
    assert_eq!(image.pixels.len(), 16);
}

#[test]
fn text_is_painted_and_twice_the_same() {
    let draw = || {
        let context = egui::Context::default();
        let mut renderer = Renderer::new();
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            ui.painter().text(
                pos2(4.0, 4.0),
                egui::Align2::LEFT_TOP,
                "H",
                egui::FontId::monospace(24.0),
                Color32::WHITE,
            );
        });
        renderer.update(&mut output.textures_delta);
        let primitives = context.tessellate(output.shapes, 1.0);
        renderer.paint(32, 40, 1.0, Color32::BLACK, &primitives)
    };
    let image = draw();
    let lit = |x: usize| (0..40).filter(|y| image.pixel(x, *y).unwrap()[0] > 128).count();
    let columns: Vec<usize> = (0..32).map(lit).collect();
    // An H has two tall stems and a thin bar between them.
    let stems = columns.iter().filter(|lit| **lit >= 14).count();
    let bar = columns.iter().filter(|lit| (1..6).contains(*lit)).count();
    assert!(stems >= 2 && bar >= 3, "{columns:?}");
    assert_eq!(image, draw());
}

#[test]
fn pictures_survive_the_way_through_a_png_file() {
    let at = Rect::from_min_max(pos2(1.0, 1.0), pos2(3.0, 2.0));
    let image = paint(quad(at, Color32::from_rgb(10, 200, 30)), Rect::EVERYTHING, 4);
    let bytes = png::encode(&image).unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut rgb = vec![0; 4 * 4 * 3];
    reader.next_frame(&mut rgb).unwrap();
    let expected: Vec<u8> = image.pixels.iter().flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    assert_eq!(rgb, expected);
    let empty = Image::filled(0, 4, Color32::BLACK);
    assert!(matches!(png::encode(&empty), Err(png::PngError::Size { width_px: 0, height_px: 4 })));
}
