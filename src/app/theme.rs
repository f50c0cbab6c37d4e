//! The look of every widget, set in one place from the palette: three text sizes, one font family, a 4 pt grid.

use crate::timeline::color::Palette;
use crate::view::Theme;
use egui::style::{ScrollStyle, WidgetVisuals};
use egui::{
    Color32, Context, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, Style, TextStyle, Visuals, vec2,
};

/// Captions and secondary numbers.
pub const SMALL_PT: f32 = 11.0;
/// Everything else.
pub const BODY_PT: f32 = 13.0;
/// Titles.
pub const TITLE_PT: f32 = 17.0;
/// The grid all spaces are multiples of.
pub const GRID_PT: f32 = 4.0;

/// Makes `ctx` look like `theme`.
pub fn apply(ctx: &Context, theme: Theme) {
    let of = egui_theme(theme);
    ctx.set_theme(of);
    ctx.set_style_of(of, style(theme));
}

/// The toolkit's name of a theme.
pub fn egui_theme(theme: Theme) -> egui::Theme {
    match theme {
        Theme::Dark => egui::Theme::Dark,
        Theme::Light => egui::Theme::Light,
    }
}

/// The whole style of a theme.
pub fn style(theme: Theme) -> Style {
    let mut style = Style { visuals: visuals(theme), animation_time: 0.1, ..Style::default() };
    let font = |size| FontId::new(size, FontFamily::Proportional);
    style.text_styles = [
        (TextStyle::Small, font(SMALL_PT)),
        (TextStyle::Body, font(BODY_PT)),
        (TextStyle::Monospace, font(BODY_PT)),
        (TextStyle::Button, font(BODY_PT)),
        (TextStyle::Heading, font(TITLE_PT)),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(2.0 * GRID_PT, GRID_PT);
    spacing.button_padding = vec2(2.0 * GRID_PT, 3.0);
    spacing.interact_size = vec2(32.0, 24.0);
    spacing.window_margin = Margin::same(16);
    spacing.menu_margin = Margin::same(4);
    spacing.indent = 16.0;
    spacing.combo_width = 80.0;
    spacing.tooltip_width = 360.0;
    spacing.scroll = ScrollStyle { bar_width: 8.0, ..ScrollStyle::solid() };
    style.interaction.tooltip_delay = 0.3;
    style.interaction.selectable_labels = false;
    style
}

fn visuals(theme: Theme) -> Visuals {
    let palette = Palette::of(theme);
    let mut visuals = match theme {
        Theme::Dark => Visuals::dark(),
        Theme::Light => Visuals::light(),
    };
    let shade = |share: f32| palette.panel.lerp_to_gamma(palette.text, share);
    let widget = |fill: f32, stroke: Stroke, text: Color32| WidgetVisuals {
        bg_fill: shade(fill),
        weak_bg_fill: shade(fill),
        bg_stroke: stroke,
        corner_radius: CornerRadius::same(4),
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    visuals.widgets.noninteractive = widget(0.0, Stroke::new(1.0, palette.grid), palette.text);
    // Fields and empty boxes differ little from what they lie on: an outline shows them.
    let outline = Stroke::new(1.0, shade(0.24));
    visuals.widgets.inactive = widget(0.08, outline, palette.text);
    visuals.widgets.hovered = widget(0.15, outline, palette.text);
    visuals.widgets.active = widget(0.22, Stroke::new(1.0, palette.accent), palette.text);
    visuals.widgets.open = widget(0.15, Stroke::NONE, palette.text);
    visuals.selection.bg_fill = palette.panel.lerp_to_gamma(palette.accent, 0.35);
    visuals.selection.stroke = Stroke::new(1.0, palette.text);
    visuals.hyperlink_color = palette.accent;
    visuals.weak_text_color = Some(palette.text_dim);
    visuals.warn_fg_color = palette.warning;
    visuals.error_fg_color = palette.error;
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.window_stroke = Stroke::new(1.0, palette.grid);
    visuals.extreme_bg_color = palette.background;
    visuals.faint_bg_color = shade(0.03);
    visuals.code_bg_color = shade(0.08);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.window_shadow = Shadow { offset: [0, 4], blur: 16, spread: 0, color: Color32::from_black_alpha(64) };
    visuals.popup_shadow = Shadow { offset: [0, 2], blur: 8, spread: 0, color: Color32::from_black_alpha(48) };
    visuals.indent_has_left_vline = false;
    visuals.striped = false;
    visuals
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(color: Color32) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_has_the_contrast_of_wcag_aa_on_every_surface() {
        for theme in [Theme::Dark, Theme::Light] {
            let (palette, style) = (Palette::of(theme), style(theme));
            let widgets = &style.visuals.widgets;
            for surface in [palette.panel, palette.background, style.visuals.faint_bg_color] {
                let texts = [palette.text, palette.text_dim, palette.accent, palette.warning, palette.error];
                for text in texts {
                    assert!(contrast(text, surface) >= 4.5, "{theme:?} {text:?} on {surface:?}");
                }
            }
            for surface in [
                widgets.inactive.weak_bg_fill,
                widgets.hovered.weak_bg_fill,
                widgets.active.weak_bg_fill,
                style.visuals.selection.bg_fill,
            ] {
                assert!(contrast(palette.text, surface) >= 4.5, "{theme:?} button {surface:?}");
            }
        }
    }

    #[test]
    fn there_are_three_text_sizes_and_one_family() {
        let fonts: Vec<FontId> = style(Theme::Dark).text_styles.into_values().collect();
        let mut sizes: Vec<f32> = fonts.iter().map(|font| font.size).collect();
        sizes.sort_by(f32::total_cmp);
        sizes.dedup();
        assert_eq!(sizes.len(), 3);
        assert!(fonts.iter().all(|font| font.family == FontFamily::Proportional));
    }
}
