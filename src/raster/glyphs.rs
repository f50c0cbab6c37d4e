//! egui's glyphs once more, the same on every machine.
//!
//! egui draws glyphs with vello, which takes whatever vector instructions the processor has. They round differently (a
//! fused multiplication and addition rounds once, two instructions round twice), so texels of its font atlas differ by a
//! step of 255 here and there. Before a picture is painted, every glyph in it is therefore drawn again with vello's scalar
//! code, which is plain IEEE arithmetic in a fixed order, and put over egui's texels. Outlines and hinting come from
//! skrifa, as egui's do; neither uses vector instructions.
//!
//! Which glyph a place in the atlas holds: the text tells the character and the fonts. The quarter of a pixel by which
//! egui shifted the outline is not told, so all four are drawn and the one nearest to egui's texels is taken. Shifted
//! glyphs differ by dozens of steps, processors by one or two, so the choice is the same everywhere.
//!
//! Cost: some tens of microseconds for each different glyph in the picture.

use super::texture::Texture;
use egui::epaint::text::{FontData, FontDefinitions, Galley, TextOptions};
use egui::epaint::{ClippedShape, Shape};
use egui::{Color32, FontId};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, HintingInstance, OutlineGlyphCollection, OutlinePen, Target};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use vello_cpu::color::{OpaqueColor, Srgb};
use vello_cpu::kurbo::{Affine, BezPath, Rect};
use vello_cpu::{Level, Pixmap, RenderContext, RenderSettings, Resources};

/// Offsets, in pixels, at which egui draws a glyph.
const SHIFTS_PX: [f64; 4] = [0.0, 0.25, 0.5, 0.75];
/// Largest difference of texels, in steps of 255, at which a glyph may be the one that egui drew. Processors differ by one
/// or two, a glyph and its shifted self by twice this at least.
const SAME: u8 = 12;

/// A place in the atlas and what egui drew there.
struct Place<'a> {
    min: [u16; 2],
    size: [usize; 2],
    character: char,
    galley: &'a Galley,
}

/// Replaces the texels of every glyph that `shapes` show by those of the scalar code.
///
/// Leaves what no installed font can have drawn: that did not come from vello.
pub(super) fn settle(
    atlas: &mut Texture,
    definitions: &FontDefinitions,
    options: &TextOptions,
    shapes: &[ClippedShape],
) {
    let mut places = BTreeMap::new();
    for clipped in shapes {
        collect(&clipped.shape, &mut places);
    }
    let mut fonts = Fonts { definitions, options, open: BTreeMap::new() };
    for place in places.values() {
        if let Some(texels) = fonts.redraw(place, atlas) {
            atlas.put(place.min.map(usize::from), place.size[0], &texels);
        }
    }
}

fn collect<'a>(shape: &'a Shape, places: &mut BTreeMap<[u16; 2], Place<'a>>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, places)),
        Shape::Text(text) => {
            let galley = text.galley.as_ref();
            for glyph in galley.rows.iter().flat_map(|row| &row.glyphs) {
                let (min, max) = (glyph.uv_rect.min, glyph.uv_rect.max);
                if glyph.is_color || glyph.uv_rect.is_nothing() {
                    continue;
                }
                let size = [0, 1].map(|axis| usize::from(max[axis].saturating_sub(min[axis])));
                places.entry(min).or_insert(Place { min, size, character: glyph.chr, galley });
            }
        }
        _ => {}
    }
}

/// The fonts in use, each at the sizes in use.
struct Fonts<'a> {
    definitions: &'a FontDefinitions,
    options: &'a TextOptions,
    open: BTreeMap<FontKey<'a>, Font<'a>>,
}

/// Name of a font and the bits of its size in pixels.
type FontKey<'a> = (&'a str, u32);

impl<'a> Fonts<'a> {
    /// The texels of the glyph that egui drew at `place`; `None` when no font has such a glyph.
    fn redraw(&mut self, place: &Place<'_>, atlas: &Texture) -> Option<Vec<Color32>> {
        let drawn = atlas.part(place.min.map(usize::from), place.size);
        let mut nearest = |all: bool| {
            let tries = self.tries(place, all).into_iter();
            let near = tries.map(|texels| (largest_difference(&texels, &drawn), texels)).filter(|(by, _)| *by < SAME);
            near.min_by_key(|(by, _)| *by).map(|(_, texels)| texels)
        };
        // A shaper may have put another glyph for the character (a ligature, a letter joined with its accent), so all
        // glyphs of this size are tried when the character's own is not the one.
        nearest(false).or_else(|| nearest(true))
    }

    /// What may be at `place`, as texels: the glyph of its character at each shift, or all glyphs that have its size.
    fn tries(&mut self, place: &Place<'_>, all: bool) -> Vec<Vec<Color32>> {
        let transfer = self.options.color_transfer_function;
        let mut tries = Vec::new();
        for chain in self.chains(place.galley) {
            let shows = |key: &&FontKey<'_>| self.open.get(*key).is_some_and(|font| font.shows(place.character));
            let own = chain.iter().find(shows).or(chain.first()).copied();
            let chosen: Vec<FontKey<'_>> = if all { chain } else { own.into_iter().collect() };
            for key in chosen {
                let Some(font) = self.open.get_mut(&key) else { continue };
                let glyphs = if all { font.of_size(place.size) } else { vec![font.glyph(place.character)] };
                for path in glyphs.into_iter().filter_map(|glyph| font.outline(glyph)) {
                    let drawn = SHIFTS_PX.into_iter().filter_map(|shift_px| draw(&path, shift_px, place.size));
                    tries.extend(drawn.map(|texels| texels.into_iter().map(|t| transfer.to_atlas_color(t)).collect()));
                }
            }
        }
        tries
    }

    /// For each font a text asks for, the fonts that egui looks into, in its order.
    fn chains(&mut self, galley: &Galley) -> Vec<Vec<FontKey<'a>>> {
        let mut wanted: Vec<&FontId> = Vec::new();
        for section in &galley.job.sections {
            if !wanted.contains(&&section.format.font_id) {
                wanted.push(&section.format.font_id);
            }
        }
        wanted.into_iter().map(|id| self.chain(id, galley.pixels_per_point)).collect()
    }

    fn chain(&mut self, id: &FontId, pixels_per_point: f32) -> Vec<FontKey<'a>> {
        let mut chain = Vec::new();
        for name in self.definitions.families.get(&id.family).into_iter().flatten() {
            let Some(data) = self.definitions.font_data.get(name) else { continue };
            let size_px = id.size * data.tweak.scale * pixels_per_point;
            let key = (name.as_str(), size_px.to_bits());
            if let Entry::Vacant(entry) = self.open.entry(key) {
                let Some(font) = Font::open(data, size_px, self.options) else { continue };
                entry.insert(font);
            }
            chain.push(key);
        }
        chain
    }
}

/// A font at one size.
struct Font<'a> {
    file: FontRef<'a>,
    outlines: OutlineGlyphCollection<'a>,
    size: Size,
    hinting: Option<HintingInstance>,
    /// Glyphs by width and height in pixels; filled when first needed.
    by_size: BTreeMap<[usize; 2], Vec<GlyphId>>,
}

impl<'a> Font<'a> {
    fn open(data: &'a FontData, size_px: f32, options: &TextOptions) -> Option<Self> {
        let file = FontRef::from_index(data.bytes(), data.index).ok()?;
        let (outlines, size) = (file.outline_glyphs(), Size::new(size_px));
        let target = Target::from(data.tweak.hinting_target);
        let hint = || HintingInstance::new(&outlines, size, LocationRef::default(), target).ok();
        let hinting = data.tweak.hinting.unwrap_or(options.font_hinting).then(hint).flatten();
        Some(Self { file, outlines, size, hinting, by_size: BTreeMap::new() })
    }

    fn shows(&self, character: char) -> bool {
        self.file.charmap().map(character).is_some()
    }

    fn glyph(&self, character: char) -> GlyphId {
        self.file.charmap().map(character).unwrap_or(GlyphId::NOTDEF)
    }

    /// All glyphs that have `size` at some shift.
    fn of_size(&mut self, size: [usize; 2]) -> Vec<GlyphId> {
        if self.by_size.is_empty() {
            for (glyph, _) in self.outlines.iter() {
                let Some(path) = self.outline(glyph) else { continue };
                let sizes: BTreeSet<_> = SHIFTS_PX.iter().map(|shift_px| size_of(bounds(&path, *shift_px))).collect();
                for size in sizes {
                    self.by_size.entry(size).or_default().push(glyph);
                }
            }
        }
        self.by_size.get(&size).cloned().unwrap_or_default()
    }

    /// The outline in pixels, y down, as egui hints it.
    fn outline(&self, glyph: GlyphId) -> Option<BezPath> {
        let settings = match &self.hinting {
            Some(hinting) => DrawSettings::hinted(hinting, false),
            None => DrawSettings::unhinted(self.size, LocationRef::default()),
        };
        let mut pen = Pen(BezPath::new());
        self.outlines.get(glyph)?.draw(settings, &mut pen).ok()?;
        Some(pen.0)
    }
}

/// Coverage of a shifted outline, as white with alpha; `None` when it does not have `size`.
fn draw(path: &BezPath, shift_px: f64, size: [usize; 2]) -> Option<Vec<Color32>> {
    let bounds = bounds(path, shift_px);
    if size_of(bounds) != size {
        return None;
    }
    let (width, height) = (u16::try_from(size[0]).ok()?, u16::try_from(size[1]).ok()?);
    let settings = RenderSettings { level: Level::fallback(), num_threads: 0 };
    let mut context = RenderContext::new_with(width, height, settings);
    context.set_transform(Affine::translate((-bounds.x0, -bounds.y0)));
    context.set_paint(OpaqueColor::<Srgb>::WHITE);
    context.fill_path(&(Affine::translate((shift_px, 0.0)) * path));
    let mut pixels = Pixmap::new(width, height);
    context.render(&mut pixels, &mut Resources::new());
    let texels = pixels.data_as_u8_slice().as_chunks::<4>().0;
    Some(texels.iter().map(|[r, g, b, a]| Color32::from_rgba_premultiplied(*r, *g, *b, *a)).collect())
}

/// The whole pixels a shifted outline lies in.
fn bounds(path: &BezPath, shift_px: f64) -> Rect {
    let tight = path.control_box();
    Rect { x0: tight.x0 + shift_px, x1: tight.x1 + shift_px, ..tight }.expand()
}

fn size_of(bounds: Rect) -> [usize; 2] {
    [bounds.width() as usize, bounds.height() as usize]
}

/// The largest difference of two texels in opacity.
fn largest_difference(a: &[Color32], b: &[Color32]) -> u8 {
    if a.len() != b.len() {
        return u8::MAX;
    }
    a.iter().zip(b).map(|(a, b)| a.a().abs_diff(b.a())).max().unwrap_or(0)
}

/// Turns a font's outline, y up, into a path, y down.
struct Pen(BezPath);

fn point(x: f32, y: f32) -> (f64, f64) {
    (f64::from(x), -f64::from(y))
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(point(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(point(x, y));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.0.quad_to(point(cx, cy), point(x, y));
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.0.curve_to(point(ax, ay), point(bx, by), point(x, y));
    }

    fn close(&mut self) {
        self.0.close_path();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SCALES, sheet};
    use super::*;

    #[test]
    fn every_glyph_is_recognised_and_none_is_near_another() {
        for (scale, theme) in SCALES {
            let (context, mut renderer, shapes) = sheet(scale, theme);
            let (definitions, options) = context.fonts(|fonts| (fonts.definitions().clone(), *fonts.options()));
            let atlas = renderer.textures.get_mut(&egui::TextureId::default()).unwrap();
            let mut places = BTreeMap::new();
            shapes.iter().for_each(|clipped| collect(&clipped.shape, &mut places));
            assert!(places.len() > 300);
            let mut fonts = Fonts { definitions: &definitions, options: &options, open: BTreeMap::new() };
            for place in places.values() {
                let about = || format!("{:?} of {:?} pixels at scale {scale}", place.character, place.size);
                let found = fonts.redraw(place, atlas).unwrap_or_else(|| panic!("{} is not recognised", about()));
                let drawn = atlas.part(place.min.map(usize::from), place.size);
                assert!(largest_difference(&found, &drawn) <= 3, "{} looks different", about());
                let own = fonts.tries(place, false);
                let is_own = own.contains(&found);
                // Accents on small letters are nearly the same, but still further apart than processors.
                let (tries, apart) = if is_own { (own, 2 * SAME) } else { (fonts.tries(place, true), 8) };
                let near = tries.iter().map(|other| largest_difference(other, &found)).filter(|by| *by > 0).min();
                assert!(near.is_none_or(|by| by >= apart), "{} is like another one, by {near:?}", about());
            }
        }
    }
}
