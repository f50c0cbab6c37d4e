//! Every colour of the product.

use super::ink::Ink;
use crate::analysis::{Cause, Family, Step, StepEdge};
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
    /// Marks of what a search found.
    pub hit: Color32,
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
    /// Idle time by cause, in the order of [`Cause::ALL`].
    pub causes: [Color32; Cause::COUNT],
    /// NVTX ranges.
    pub nvtx: Color32,
    /// Host calls.
    pub host: Color32,
    /// Synchronising host calls.
    pub sync: Color32,
    /// OS runtime calls.
    pub os: Color32,
    /// Colours that stand for a name, a stream or a range; the first of them for families, in their order, and those are
    /// the ones farthest from communication, copies and graphs.
    pub hues: [Color32; Ink::HUES],
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
            Ink::EXPOSED => self.exposed,
            ink => match (ink.as_cause(), ink.as_hue()) {
                (Some(cause), _) => self.cause(cause),
                (None, Some(hue)) => self.hues.get(hue).copied().unwrap_or(self.compute),
                (None, None) => self.families.get(ink.0 as usize).copied().unwrap_or(self.compute),
            },
        }
    }

    /// Colour of idle time of this cause.
    pub fn cause(&self, cause: Cause) -> Color32 {
        self.causes.get(cause as usize).copied().unwrap_or(self.idle)
    }

    /// Colour of a family of compute kernels.
    pub fn family(&self, family: Family) -> Color32 {
        self.families.get(family as usize).copied().unwrap_or(self.compute)
    }
}

/// Colour of a step's bar.
pub fn step_color(step: &Step, palette: &Palette) -> Color32 {
    match step.edge {
        Some(StepEdge::Outlier) => palette.sync,
        Some(StepEdge::WarmUp | StepEdge::Cut) => palette.idle,
        None if step.typical => palette.compute,
        None => palette.compute.lerp_to_gamma(palette.panel, 0.4),
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
    hit: rgb(0xd8_ff3a),
    warning: rgb(0xf0_c75e),
    error: rgb(0xff_8f73),
    families: [
        rgb(0x47_80d2),
        rgb(0x8d_c2f3),
        rgb(0x3e_b1ce),
        rgb(0x7d_c2c3),
        rgb(0x58_92f6),
        rgb(0x1e_9ccd),
        rgb(0x62_55a9),
        rgb(0x12_b2fa),
        rgb(0x5c_8a9b),
        rgb(0x5e_70a9),
    ],
    compute: rgb(0x47_80d2),
    fused: rgb(0xf3_cdf4),
    graph: rgb(0x4c_67d0),
    communication: rgb(0xea_a329),
    exposed: rgb(0xff_e08a),
    copy: rgb(0x34_c474),
    idle: rgb(0x8c_5a80),
    causes: [
        rgb(0xd6_74b4),
        rgb(0xeb_6720),
        rgb(0xb7_a4ea),
        rgb(0xf0_dc82),
        rgb(0x89_6af9),
        rgb(0x8a_62a1),
        rgb(0x7f_d0b0),
        rgb(0xf3_cdf4),
        rgb(0xa0_a07b),
        rgb(0xb3_4536),
        rgb(0x5a_616e),
    ],
    nvtx: rgb(0x45_4d5a),
    host: rgb(0xa1_9c98),
    sync: rgb(0xeb_6720),
    os: rgb(0x7c_8490),
    hues: [
        rgb(0x64_9bff),
        rgb(0xb0_754d),
        rgb(0x30_adc9),
        rgb(0x35_d2ba),
        rgb(0x58_85c8),
        rgb(0x2a_9692),
        rgb(0x4c_e285),
        rgb(0xc9_8b01),
        rgb(0x64_c1ff),
        rgb(0x35_7dff),
        rgb(0x3b_b38d),
        rgb(0xfa_b800),
    ],
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
    hit: rgb(0xb8_0070),
    warning: rgb(0x7a_5500),
    error: rgb(0xb0_3000),
    families: [
        rgb(0x39_70c2),
        rgb(0x89_c0ff),
        rgb(0x19_899a),
        rgb(0x42_9fb1),
        rgb(0x71_9fff),
        rgb(0x4a_8cc7),
        rgb(0x4b_3991),
        rgb(0x6d_afd5),
        rgb(0x68_5898),
        rgb(0x5a_7fe8),
    ],
    compute: rgb(0x39_70c2),
    fused: rgb(0x8e_216b),
    graph: rgb(0x4f_4bb6),
    communication: rgb(0xf4_a000),
    exposed: rgb(0x5c_3a00),
    copy: rgb(0x51_ca64),
    idle: rgb(0xce_becf),
    causes: [
        rgb(0xb9_4c97),
        rgb(0xd8_5903),
        rgb(0x8f_7bd7),
        rgb(0xd6_8f0b),
        rgb(0x5a_3fa8),
        rgb(0xc1_adcf),
        rgb(0x4a_9565),
        rgb(0x7a_1f5e),
        rgb(0x8d_9d9d),
        rgb(0xa0_3030),
        rgb(0xcb_cfd8),
    ],
    nvtx: rgb(0xd6_dbe1),
    host: rgb(0xac_aba4),
    sync: rgb(0xd8_5903),
    os: rgb(0x9a_a2ad),
    hues: [
        rgb(0x17_6de7),
        rgb(0x92_5e00),
        rgb(0x23_9ac9),
        rgb(0x0f_c0c4),
        rgb(0x5d_8aff),
        rgb(0x25_9b8c),
        rgb(0x8a_5e9d),
        rgb(0xa2_7d4b),
        rgb(0x92_5761),
        rgb(0x24_b5fb),
        rgb(0xca_9119),
        rgb(0x6c_b480),
    ],
    ranks: [rgb(0x00_72b2), rgb(0xb0_4f88), rgb(0xa6_9a00), rgb(0x4f_8f4c), rgb(0x6a_4fb0), rgb(0x9a_5a1a)],
};

#[cfg(test)]
mod tests {
    use super::*;

    type Matrix = [[f32; 3]; 3];

    /// Normal sight, then protanopia and deuteranopia as Machado, Oliveira and Fernandes (2009) model them, in linear
    /// red, green and blue.
    const SIGHTS: [Matrix; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
    ];

    fn times(matrix: &Matrix, v: [f32; 3]) -> [f32; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(m, x)| m * x).sum())
    }

    /// OKLab of a colour as seen with `sight`.
    fn lab(color: Color32, sight: &Matrix) -> [f32; 3] {
        let seen = times(sight, linear(color)).map(|c| c.clamp(0.0, 1.0));
        let cones = [
            [0.412_221_47, 0.536_332_54, 0.051_445_99],
            [0.211_903_5, 0.680_699_5, 0.107_396_96],
            [0.088_302_46, 0.281_718_85, 0.629_978_7],
        ];
        let to_lab = [
            [0.210_454_26, 0.793_617_8, -0.004_072_047],
            [1.977_998_5, -2.428_592_2, 0.450_593_7],
            [0.025_904_037, 0.782_771_77, -0.808_675_77],
        ];
        times(&to_lab, times(&cones, seen).map(f32::cbrt))
    }

    /// Distance in hundredths of OKLab; 2 is just noticeable side by side.
    fn distance(a: Color32, b: Color32, sight: &Matrix) -> f32 {
        let square: f32 = lab(a, sight).iter().zip(lab(b, sight)).map(|(a, b)| (a - b).powi(2)).sum();
        100.0 * square.sqrt()
    }

    fn themes() -> [&'static Palette; 2] {
        [Palette::of(Theme::Dark), Palette::of(Theme::Light)]
    }

    #[test]
    fn classes_differ_for_every_sight() {
        for palette in themes() {
            let p = palette;
            let classes = [p.communication, p.fused, p.copy, p.idle, p.nvtx, p.host, p.sync];
            for sight in &SIGHTS {
                for (at, a) in classes.iter().enumerate() {
                    for b in classes.iter().skip(at + 1).chain(&p.families) {
                        assert!(distance(*a, *b, sight) >= 6.0, "{a:?} {b:?} {}", distance(*a, *b, sight));
                    }
                    assert!(distance(*a, p.background, sight) >= 8.0, "{a:?}");
                }
            }
        }
    }

    #[test]
    fn families_differ_for_every_sight() {
        for p in themes() {
            let all: Vec<Color32> = p.families.iter().copied().chain([p.graph]).collect();
            for sight in &SIGHTS {
                for (at, a) in all.iter().enumerate() {
                    for b in all.iter().skip(at + 1) {
                        assert!(distance(*a, *b, sight) >= 6.3, "{a:?} {b:?} {}", distance(*a, *b, sight));
                    }
                    assert!(distance(*a, p.background, sight) >= 12.0, "{a:?}");
                }
            }
            assert_eq!(p.compute, p.families[0]);
        }
    }

    #[test]
    fn hues_differ_from_the_classes_that_stand_beside_them() {
        for p in themes() {
            for (at, hue) in p.hues.iter().enumerate() {
                // Families have the first ones, and stand beside communication all the time.
                let least = if at < Family::ALL.len() { 8.0 } else { 6.0 };
                for class in [p.communication, p.fused, p.copy, p.graph] {
                    for sight in &SIGHTS {
                        let distance = distance(*hue, class, sight);
                        assert!(distance >= least, "{hue:?} {class:?} {distance}");
                    }
                }
            }
        }
    }

    #[test]
    fn causes_of_idle_time_differ_for_every_sight() {
        for p in themes() {
            for sight in &SIGHTS {
                for (at, a) in p.causes.iter().enumerate() {
                    for b in p.causes.iter().skip(at + 1) {
                        assert!(distance(*a, *b, sight) >= 8.0, "{a:?} {b:?} {}", distance(*a, *b, sight));
                    }
                    for other in [p.compute, p.communication] {
                        assert!(distance(*a, other, sight) >= 6.0, "{a:?} {other:?} {}", distance(*a, other, sight));
                    }
                    assert!(distance(*a, p.background, sight) >= 9.0, "{a:?}");
                }
            }
            assert_eq!(p.cause(Cause::Sync), p.sync, "waiting looks the same in the calls and in the gaps");
        }
    }

    #[test]
    fn hues_differ_for_every_sight_and_none_stands_out_by_its_lightness() {
        for p in themes() {
            let lightness = p.hues.map(|hue| 100.0 * lab(hue, &SIGHTS[0])[0]);
            let (least, most) = lightness.iter().fold((f32::MAX, f32::MIN), |(a, b), l| (a.min(*l), b.max(*l)));
            assert!(most - least <= 21.0, "{least} to {most}");
            for sight in &SIGHTS {
                for (at, a) in p.hues.iter().enumerate() {
                    for b in p.hues.iter().skip(at + 1) {
                        assert!(distance(*a, *b, sight) >= 9.0, "{a:?} {b:?} {}", distance(*a, *b, sight));
                    }
                    for ground in [p.background, p.nvtx] {
                        assert!(distance(*a, ground, sight) >= 9.0, "{a:?} {ground:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn text_is_readable_on_every_ground() {
        for p in themes() {
            for ground in [p.background, p.panel, p.gutter, p.header, p.step] {
                for text in [p.text, p.lane_text, p.text_dim] {
                    assert!(contrast(text, ground) >= 4.5, "{text:?} on {ground:?}: {}", contrast(text, ground));
                }
            }
            for text in [p.accent, p.warning, p.error] {
                assert!(contrast(text, p.panel) >= 4.5, "{text:?}: {}", contrast(text, p.panel));
                assert!(contrast(text, p.background) >= 4.5, "{text:?}");
            }
            for ink in 0..Ink::COUNT as u8 {
                let ground = p.ink(Ink(ink));
                assert!(contrast(on(ground), ground) >= 4.5, "{ground:?}: {}", contrast(on(ground), ground));
            }
        }
    }

    #[test]
    fn marks_stand_out_from_what_they_lie_on() {
        for p in themes() {
            assert!(contrast(p.exposed, p.communication) >= 1.5);
            assert!(contrast(p.selection, p.background) >= 7.0);
        }
    }

    #[test]
    fn contrast_is_that_of_the_standard() {
        assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 0.01);
        assert_eq!(on(Color32::WHITE), on(rgb(0xef_a433)));
    }
}
