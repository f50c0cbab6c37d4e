//! Every colour of the product.

use super::ink::Ink;
use crate::analysis::Family;
use crate::view::Theme;
use egui::Color32;

/// The colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Palette {
    /// Behind the lanes.
    pub background: Color32,
    /// Behind panels and menus.
    pub panel: Color32,
    /// Behind lane names.
    pub gutter: Color32,
    /// Behind the header and step strip of a rank.
    pub header: Color32,
    /// Every second step in the strip.
    pub step: Color32,
    /// Step boundaries through the lanes.
    pub boundary: Color32,
    /// Line between a slice and its left neighbour.
    pub edge: Color32,
    /// Grid lines and separators.
    pub grid: Color32,
    /// Text.
    pub text: Color32,
    /// Names of lanes.
    pub lane_text: Color32,
    /// Text that matters less.
    pub text_dim: Color32,
    /// Links, focus, the pointer's time.
    pub accent: Color32,
    /// Outline of the selection.
    pub selection: Color32,
    /// Warnings.
    pub warning: Color32,
    /// Errors.
    pub error: Color32,
    /// Compute kernels by family, in the order of [`Family::ALL`].
    pub families: [Color32; 10],
    /// Compute as a whole (sums, legends).
    pub compute: Color32,
    /// Communication and compute in one kernel.
    pub fused: Color32,
    /// CUDA graph recorded as one block.
    pub graph: Color32,
    /// Communication.
    pub communication: Color32,
    /// Hatch and edge of exposed communication.
    pub exposed: Color32,
    /// Copies and fills.
    pub copy: Color32,
    /// Idle time.
    pub idle: Color32,
    /// NVTX ranges.
    pub nvtx: Color32,
    /// Host calls.
    pub host: Color32,
    /// Synchronising host calls.
    pub sync: Color32,
    /// OS runtime calls.
    pub os: Color32,
    /// Edges that tell ranks apart, in turn.
    pub ranks: [Color32; 6],
}

impl Palette {
    /// The colours of `theme`.
    pub fn of(theme: Theme) -> &'static Self {
        match theme {
            Theme::Dark => &DARK,
            Theme::Light => &LIGHT,
        }
    }

    /// Colour of an ink.
    pub fn ink(&self, ink: Ink) -> Color32 {
        match ink {
            Ink::FUSED => self.fused,
            Ink::GRAPH => self.graph,
            Ink::COMMUNICATION => self.communication,
            Ink::COPY => self.copy,
            Ink::HOST => self.host,
            Ink::SYNC => self.sync,
            Ink::OS => self.os,
            Ink::NVTX => self.nvtx,
            Ink::IDLE => self.idle,
            Ink::EXPOSED => self.exposed,
            family => self.families.get(family.0 as usize).copied().unwrap_or(self.compute),
        }
    }

    /// Colour of a family of compute kernels.
    pub fn family(&self, family: Family) -> Color32 {
        self.families.get(family as usize).copied().unwrap_or(self.compute)
    }
}

/// A colour that a program chose for its range.
pub const fn user(red: u8, green: u8, blue: u8) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// Black or white, whichever reads better on `ground`.
pub fn on(ground: Color32) -> Color32 {
    let (dark, light) = (rgb(0x0d_1014), rgb(0xff_ffff));
    if contrast(dark, ground) >= contrast(light, ground) { dark } else { light }
}

/// Contrast ratio of two opaque colours as WCAG 2 defines it, from 1 to 21.
pub fn contrast(a: Color32, b: Color32) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(color: Color32) -> f32 {
    let [red, green, blue] = linear(color);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn linear(color: Color32) -> [f32; 3] {
    [color.r(), color.g(), color.b()].map(|channel| {
        let c = f32::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    })
}

const fn rgb(hex: u32) -> Color32 {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color32::from_rgb(red, green, blue)
}

static DARK: Palette = Palette {
    background: rgb(0x14_171c),
    panel: rgb(0x1b_1f26),
    gutter: rgb(0x1b_1f26),
    header: rgb(0x22_2832),
    step: rgb(0x2d_3542),
    boundary: rgb(0x6b_7686),
    edge: Color32::from_black_alpha(110),
    grid: rgb(0x2c_323b),
    text: rgb(0xe6_e9ee),
    lane_text: rgb(0xc9_cfd8),
    text_dim: rgb(0xa3_abb8),
    accent: rgb(0x6c_b8ff),
    selection: rgb(0xff_ffff),
    warning: rgb(0xf0_c75e),
    error: rgb(0xff_8f73),
    families: [
        rgb(0x2f_7fd1),
        rgb(0x4a_9be0),
        rgb(0x3c_8fb8),
        rgb(0x2a_a3b8),
        rgb(0x27_9aa0),
        rgb(0x4f_b3bf),
        rgb(0x1f_8a8a),
        rgb(0x6a_a9d6),
        rgb(0x5f_c0c9),
        rgb(0x7f_9fc4),
    ],
    compute: rgb(0x2f_7fd1),
    fused: rgb(0xb0_8ad6),
    graph: rgb(0x5b_7fd6),
    communication: rgb(0xe6_9f00),
    exposed: rgb(0xff_e08a),
    copy: rgb(0x2f_b37d),
    idle: rgb(0x8b_6f7d),
    nvtx: rgb(0x4a_5160),
    host: rgb(0x8a_919d),
    sync: rgb(0xe8_6a2a),
    os: rgb(0x6d_7480),
    ranks: [rgb(0x56_b4e9), rgb(0xcc_79a7), rgb(0xf0_e442), rgb(0x9c_c79a), rgb(0xb3_9ddb), rgb(0xd9_a066)],
};

static LIGHT: Palette = Palette {
    background: rgb(0xff_ffff),
    panel: rgb(0xf5_f6f8),
    gutter: rgb(0xf5_f6f8),
    header: rgb(0xe9_edf2),
    step: rgb(0xd8_dfe8),
    boundary: rgb(0x8b_95a3),
    edge: Color32::from_rgba_premultiplied(130, 130, 130, 130),
    grid: rgb(0xdf_e3e8),
    text: rgb(0x1c_2128),
    lane_text: rgb(0x33_3b45),
    text_dim: rgb(0x57_606c),
    accent: rgb(0x00_5fb0),
    selection: rgb(0x00_0000),
    warning: rgb(0x7a_5500),
    error: rgb(0xb0_3000),
    families: [
        rgb(0x00_72b2),
        rgb(0x2c_8fd0),
        rgb(0x1f_83a8),
        rgb(0x00_97a7),
        rgb(0x1a_8a8f),
        rgb(0x4f_b3bf),
        rgb(0x0f_7a7a),
        rgb(0x6a_a9d6),
        rgb(0x6f_c5cc),
        rgb(0x7f_9fc4),
    ],
    compute: rgb(0x00_72b2),
    fused: rgb(0x8a_5fb8),
    graph: rgb(0x3f_63c0),
    communication: rgb(0xe6_9f00),
    exposed: rgb(0x5c_3a00),
    copy: rgb(0x00_9e73),
    idle: rgb(0xd5_b9c5),
    nvtx: rgb(0xd3_d8df),
    host: rgb(0x9a_a1ab),
    sync: rgb(0xd5_5e00),
    os: rgb(0xb5_bbc4),
    ranks: [rgb(0x00_72b2), rgb(0xb0_4f88), rgb(0xa6_9a00), rgb(0x4f_8f4c), rgb(0x6a_4fb0), rgb(0x9a_5a1a)],
};
