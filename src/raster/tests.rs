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
        renderer.draw(&context, output.shapes, [32, 40], 1.0, Color32::BLACK)
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

/// Pixels per point and themes to try.
pub(super) const SCALES: [(f32, egui::Theme); 6] = [
    (0.75, egui::Theme::Light),
    (1.0, egui::Theme::Dark),
    (1.0, egui::Theme::Light),
    (1.25, egui::Theme::Dark),
    (2.0, egui::Theme::Dark),
    (3.0, egui::Theme::Light),
];

/// Text of all kinds: every printable ASCII character, ligatures, joined and missing ones.
const LINES: [&str; 4] = [
    "the quick brown fox jumps over the lazy dog, iiillll||||....----''''",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789!\"#$%&()*+/:;<=>?@[]^_`{|}~\\",
    "fi ff ffl office -> e\u{301}a\u{308} \u{65e5}\u{672c} \u{201c}q\u{201d} \u{2026} \u{b7} \u{d7} \u{2013} \u{2014} \u{b5}",
    "ampere_sgemm_128x64_tn<float, 4> 12\u{2009}345.6 ms",
];

/// A context that has laid out [`LINES`] in the sizes of the window, the renderer with its textures, and the shapes.
pub(super) fn sheet(scale: f32, theme: egui::Theme) -> (Context, Renderer, Vec<ClippedShape>) {
    let context = Context::default();
    context.set_theme(theme);
    let mut renderer = Renderer::new();
    let mut input = egui::RawInput::default();
    input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point = Some(scale);
    let mut output = context.run_ui(input, |ui| {
        let fonts = [11.0, 13.0, 17.0].map(egui::FontId::proportional);
        for (row, font) in fonts.into_iter().chain([egui::FontId::monospace(13.0)]).enumerate() {
            for (line, text) in LINES.iter().enumerate() {
                let at = pos2(2.0, 2.0 + 84.0 * row as f32 + 20.0 * line as f32);
                let color = ui.visuals().text_color();
                ui.painter().text(at, egui::Align2::LEFT_TOP, text, font.clone(), color);
            }
        }
    });
    renderer.update(&mut output.textures_delta);
    (context, renderer, output.shapes)
}

fn draw_sheet(scale: f32, (context, mut renderer, shapes): (Context, Renderer, Vec<ClippedShape>)) -> Image {
    let size_px = [600.0 * scale, 340.0 * scale].map(|px| px as usize);
    renderer.draw(&context, shapes, size_px, scale, Color32::from_gray(60))
}

/// Changes the texels of glyphs by a step at most, as another processor might.
fn disturb(renderer: &mut Renderer, shapes: &[ClippedShape], mut seed: u32) {
    let atlas = renderer.textures.get_mut(&TextureId::default()).unwrap();
    for clipped in shapes {
        let egui::Shape::Text(text) = &clipped.shape else { continue };
        for glyph in text.galley.rows.iter().flat_map(|row| &row.glyphs) {
            let [min, max] = [glyph.uv_rect.min, glyph.uv_rect.max].map(|at| at.map(usize::from));
            let size = [max[0] - min[0], max[1] - min[1]];
            let mut texels = atlas.part(min, size);
            for texel in &mut texels {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let step = (seed >> 16) % 3;
                *texel = Color32::from_white_alpha((u32::from(texel.a()) + step).saturating_sub(1).min(255) as u8);
            }
            atlas.put(min, size[0], &texels);
        }
    }
}

#[test]
fn text_does_not_depend_on_how_egui_rounded_its_glyphs() {
    for (scale, theme) in SCALES {
        let clean = draw_sheet(scale, sheet(scale, theme));
        let (context, mut renderer, shapes) = sheet(scale, theme);
        disturb(&mut renderer, &shapes, scale.to_bits());
        let primitives = context.tessellate(shapes.clone(), scale);
        let as_it_came = renderer.paint(clean.width_px, clean.height_px, scale, Color32::from_gray(60), &primitives);
        assert!(as_it_came != clean, "the noise is visible");
        assert!(draw_sheet(scale, (context, renderer, shapes)) == clean, "scale {scale}, {theme:?}");
    }
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A new version of egui or its fonts may change these; another machine may not.
#[test]
fn text_is_the_same_bytes_everywhere() {
    let hashes = SCALES.map(|(scale, theme)| hash(draw_sheet(scale, sheet(scale, theme)).bytes()));
    let expected = [
        0x94c1_9dac_8cf3_387f,
        0x5eee_5f9f_e551_b28b,
        0x7f16_a754_75c6_3d59,
        0x51fb_1ec7_2a46_b138,
        0x1dd9_730f_c543_ca63,
        0x71ae_c9ce_97fb_9d00,
    ];
    assert_eq!(hashes, expected, "{hashes:#x?}");
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
