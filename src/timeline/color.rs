//! Every colour of the product: what it stands for. Their values are in `themes.rs`.

mod themes;

use super::ink::Ink;
use crate::analysis::{Cause, Family, Step, StepEdge};
use crate::view::Theme;
use egui::Color32;
use themes::{DARK, LIGHT, rgb};

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

#[cfg(test)]
mod tests;
