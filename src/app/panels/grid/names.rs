//! The first column: names, cut where they do not fit so that they still differ.

use super::super::sheet::Row;
use egui::{Align, Label, Layout, RichText, Sense, Ui, vec2};
use std::borrow::Cow;

/// Width of a letter of the small font, on the safe side.
const LETTER_PT: f32 = 6.4;

/// The cell of a name, with what stands before it.
pub(super) fn name_cell(ui: &mut Ui, row: &Row, indented: bool) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        if indented {
            ui.add_space(10.0);
        }
        if let Some(on) = row.tick {
            tick(ui, on);
        }
        if let Some(color) = row.swatch {
            let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
            ui.painter().rect_filled(rect, 2.0, color);
        }
        let fitting = (ui.available_width() / LETTER_PT) as usize;
        let name =
            if row.full.is_empty() { Cow::Borrowed(row.name.as_str()) } else { elided(&row.name, fitting, row.shared) };
        ui.add(Label::new(RichText::new(name).small()).truncate().selectable(false));
    });
}

/// The box before a row that can be chosen.
fn tick(ui: &mut Ui, on: bool) {
    let (rect, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
    let visuals = ui.visuals();
    let fill = if on { visuals.selection.bg_fill } else { visuals.extreme_bg_color };
    ui.painter().rect(rect, 2.0, fill, visuals.widgets.inactive.fg_stroke, egui::StrokeKind::Inside);
    if on {
        let at = |x: f32, y: f32| rect.min + vec2(x, y);
        let stroke = egui::Stroke::new(1.5, visuals.selection.stroke.color);
        ui.painter().line(vec![at(3.0, 6.5), at(5.0, 8.5), at(9.0, 3.5)], stroke);
    }
}

/// A name of about `most` letters without its middle: names of kernels differ at their ends as often as at their starts.
/// One that first differs from another in the middle, after `shared` letters, keeps what comes there in place of its end.
fn elided(name: &str, most: usize, shared: usize) -> Cow<'_, str> {
    let letters = name.chars().count();
    if letters <= most || most < 8 {
        return Cow::Borrowed(name);
    }
    let (head, tail) = (most.div_ceil(2) - 1, most / 2);
    let hidden = head..letters - tail;
    let (head, from, tail) = if hidden.contains(&shared) {
        let head = most / 4;
        // The letter before it tells where it is.
        (head, shared.saturating_sub(1).max(head), most - head - 2)
    } else {
        (head, letters - tail, tail)
    };
    let part = |from: usize, count: usize| name.chars().skip(from).take(count).collect::<String>();
    let cut = if from + tail < letters { "…" } else { "" };
    Cow::Owned(format!("{}…{}{cut}", part(0, head), part(from, tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(elided("ampere_gemm_128x64_nt", 12, 0), "amper…64_nt".replace("64_nt", "x64_nt"));
        assert_eq!((elided("short", 12, 0), elided("anything long", 3, 0)), ("short".into(), "anything long".into()));
    }

    #[test]
    fn names_that_differ_in_the_middle_only_keep_what_differs() {
        let names = ["nvjet_tst_192x192_64x3_2x1_bias_TNN", "nvjet_tst_128x256_64x3_2x1_bias_TNN"];
        let short = names.map(|name| elided(name, 18, 10).into_owned());
        assert_eq!(short, ["nvje…_192x192_64x…", "nvje…_128x256_64x…"]);
        assert_eq!(
            elided("nvjet_tst_192x192_64x3_2x1_bias_TNN", 18, 30),
            "nvjet_ts…_bias_TNN",
            "they differ at the end"
        );
    }
}
