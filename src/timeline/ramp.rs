//! Colours that stand for amounts: one sequence from little to much, told apart by lightness alone, so that every kind of
//! colour vision and a print in grey can read it. It ends far from the background.

use crate::view::Theme;
use egui::Color32;

/// From little to much on a dark background, after the `cividis` map.
const DARK: [Color32; 5] = [
    Color32::from_rgb(0x1C, 0x35, 0x5E),
    Color32::from_rgb(0x4A, 0x55, 0x70),
    Color32::from_rgb(0x7F, 0x7E, 0x7A),
    Color32::from_rgb(0xBF, 0xB1, 0x6C),
    Color32::from_rgb(0xFE, 0xE8, 0x38),
];
/// From little to much on a light background.
const LIGHT: [Color32; 5] = [
    Color32::from_rgb(0xF1, 0xE3, 0xA0),
    Color32::from_rgb(0xC2, 0xB4, 0x78),
    Color32::from_rgb(0x8B, 0x88, 0x7A),
    Color32::from_rgb(0x4E, 0x58, 0x70),
    Color32::from_rgb(0x00, 0x22, 0x4E),
];

/// The colour of `place` on a scale from 0 (little) to 1 (much).
pub fn ramp(theme: Theme, place: f64) -> Color32 {
    let stops = match theme {
        Theme::Dark => &DARK,
        Theme::Light => &LIGHT,
    };
    let last = stops.len() - 1;
    let place = if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) };
    let at = place * last as f64;
    let from = (at as usize).min(last - 1);
    match (stops.get(from), stops.get(from + 1)) {
        (Some(a), Some(b)) => a.lerp_to_gamma(*b, (at - from as f64) as f32),
        _ => Color32::TRANSPARENT,
    }
}

/// `count` colours from little to much, for a legend.
pub fn parts(theme: Theme, count: usize) -> impl Iterator<Item = Color32> {
    (0..count).map(move |at| ramp(theme, at as f64 / count.saturating_sub(1).max(1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(color: Color32) -> f64 {
        let linear = |c: u8| (f64::from(c) / 255.0).powf(2.2);
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    #[test]
    fn lightness_alone_tells_more_from_less() {
        for (theme, sign) in [(Theme::Dark, 1.0), (Theme::Light, -1.0)] {
            let all: Vec<f64> = (0..=40).map(|at| lightness(ramp(theme, f64::from(at) / 40.0)) * sign).collect();
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{theme:?}: {all:?}");
        }
        assert_eq!(ramp(Theme::Dark, 7.0), ramp(Theme::Dark, 1.0));
        assert_eq!(ramp(Theme::Light, f64::NAN), ramp(Theme::Light, 0.0));
    }
}
