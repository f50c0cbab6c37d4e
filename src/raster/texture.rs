//! Textures and how they are read: egui's font atlas, icons.

use egui::epaint::ImageDelta;
use egui::{Color32, ImageData, TextureFilter, TextureOptions, TextureWrapMode};

/// One texture. Cost: 4 bytes a texel.
#[derive(Debug, Default)]
pub(super) struct Texture {
    width: usize,
    height: usize,
    texels: Vec<Color32>,
    options: TextureOptions,
}

impl Texture {
    /// Replaces the whole texture or a part of it. Parts that do not fit are cut.
    pub fn apply(&mut self, delta: &ImageDelta) {
        let ImageData::Color(image) = &delta.image;
        self.options = delta.options;
        let [width, height] = image.size;
        let Some([left, top]) = delta.pos else {
            (self.width, self.height) = (width, height);
            self.texels.clone_from(&image.pixels);
            self.texels.resize(width * height, Color32::TRANSPARENT);
            return;
        };
        self.put([left, top], width, &image.pixels);
    }

    /// The texels of a rectangle, row after row; transparent outside.
    pub fn part(&self, [left, top]: [usize; 2], [width, height]: [usize; 2]) -> Vec<Color32> {
        let mut texels = Vec::with_capacity(width * height);
        for y in top..top + height {
            texels
                .extend((left..left + width).map(|x| self.at(x, y).map_or(Color32::TRANSPARENT, |at| self.texels[at])));
        }
        texels
    }

    /// Replaces the texels of a rectangle `width` wide. What lies outside is dropped.
    pub fn put(&mut self, [left, top]: [usize; 2], width: usize, texels: &[Color32]) {
        for (row, from) in texels.chunks(width.max(1)).enumerate() {
            for (column, texel) in from.iter().enumerate() {
                if let Some(at) = self.at(left + column, top + row) {
                    self.texels[at] = *texel;
                }
            }
        }
    }

    fn at(&self, x: usize, y: usize) -> Option<usize> {
        (x < self.width && y < self.height).then(|| y * self.width + x)
    }

    /// Width and height in texels.
    pub fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// The colour at texel coordinates in 1/65536 texel, measured from the corner of the first texel.
    pub fn sample(&self, u: i64, v: i64) -> [u32; 4] {
        match self.options.magnification {
            TextureFilter::Nearest => self.texel(u >> 16, v >> 16).map(u32::from),
            TextureFilter::Linear => self.bilinear(u - HALF, v - HALF),
        }
    }

    /// Weighted mean of the four texels around a point. Weights have 8 bits, as GPUs use, so a glyph drawn texel on
    /// pixel comes out exactly as it is stored.
    fn bilinear(&self, u: i64, v: i64) -> [u32; 4] {
        let (u, v) = ((u + 128) >> 8, (v + 128) >> 8);
        let (left, top) = (u >> 8, v >> 8);
        let (fu, fv) = ((u & 255) as u32, (v & 255) as u32);
        let a = self.texel(left, top);
        if fu == 0 && fv == 0 {
            return a.map(u32::from);
        }
        let (b, c, d) = (self.texel(left + 1, top), self.texel(left, top + 1), self.texel(left + 1, top + 1));
        std::array::from_fn(|channel| {
            let mix = |left: u8, right: u8| u32::from(left) * (256 - fu) + u32::from(right) * fu;
            let (upper, lower) = (mix(a[channel], b[channel]), mix(c[channel], d[channel]));
            (upper * (256 - fv) + lower * fv + (1 << 15)) >> 16
        })
    }

    fn texel(&self, x: i64, y: i64) -> [u8; 4] {
        let (x, y) = (self.wrap(x, self.width), self.wrap(y, self.height));
        self.texels.get(y * self.width + x).map_or([0; 4], Color32::to_array)
    }

    fn wrap(&self, at: i64, size: usize) -> usize {
        let size = (size as i64).max(1);
        let inside = match self.options.wrap_mode {
            TextureWrapMode::ClampToEdge => at.clamp(0, size - 1),
            TextureWrapMode::Repeat => at.rem_euclid(size),
            TextureWrapMode::MirroredRepeat => {
                let twice = at.rem_euclid(2 * size);
                twice.min(2 * size - 1 - twice)
            }
        };
        inside as usize
    }
}

const HALF: i64 = 1 << 15;
