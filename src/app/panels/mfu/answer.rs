//! The numbers, and what is missing or doubtful.

use crate::analysis::Mfu;
use crate::app::cx::Cx;
use crate::app::icons::{self, Icon};
use crate::experiment::with_labels;
use crate::format;
use crate::report::mfu::{doubt_text, lines, missing_text};
use egui::{Color32, Label, RichText, Ui, vec2};

/// Room of the names, in points.
const NAMES_PT: f32 = 148.0;

/// MFU and HFU, and where the settings come from.
pub fn headline(ui: &mut Ui, cx: &Cx<'_>, mfu: &Mfu) {
    ui.horizontal(|ui| {
        for line in lines(mfu).into_iter().take(2) {
            ui.label(RichText::new(line.name).weak()).on_hover_text(line.about);
            ui.label(RichText::new(line.value).heading().strong()).on_hover_text(line.about);
            ui.add_space(12.0);
        }
    });
    let from = match &mfu.settings {
        Some(path) => {
            let edited = if cx.workspace.is_edited() { ", edited" } else { "" };
            format!("Settings from {}{edited}", format::one_line(&path.display().to_string(), 200))
        }
        None if mfu.has_experiment => "Settings typed here, not saved".to_owned(),
        None if cx.workspace.docs.is_empty() => String::new(),
        None => "No settings came with what is open. Say below what was trained.".to_owned(),
    };
    ui.add(Label::new(RichText::new(from).small().weak()).wrap());
    ui.add_space(4.0);
}

/// What has to be filled in, and what to be careful about.
pub fn remarks(ui: &mut Ui, cx: &Cx<'_>, mfu: &Mfu) {
    for missing in &mfu.missing {
        remark(ui, Icon::Todo, cx.palette.accent, &with_labels(&missing_text(missing)));
    }
    for doubt in &mfu.doubts {
        remark(ui, Icon::Warning, cx.palette.warning, &with_labels(&doubt_text(doubt)));
    }
    ui.add_space(8.0);
}

fn remark(ui: &mut Ui, icon: Icon, color: Color32, text: &str) {
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| {
            ui.set_width(14.0);
            ui.add_space(2.0);
            icons::show(ui, icon, color);
        });
        ui.add(Label::new(text).wrap());
    });
}

/// In panels narrower than this, in points, what explains a number stands on a line of its own.
const NARROW_PT: f32 = 320.0;

/// Everything between tokens and peak.
pub fn table(ui: &mut Ui, mfu: &Mfu) {
    let note = |ui: &mut Ui, text: &str| {
        if !text.is_empty() {
            ui.add(Label::new(RichText::new(with_labels(text)).small().weak()).wrap());
        }
    };
    let narrow = ui.available_width() < NARROW_PT;
    for line in lines(mfu) {
        if narrow {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new(line.name).weak()).on_hover_text(line.about);
                    ui.add(Label::new(&line.value).selectable(true)).on_hover_text(line.about);
                });
                note(ui, &line.note);
            });
            continue;
        }
        ui.horizontal_top(|ui| {
            ui.allocate_ui(vec2(NAMES_PT, 18.0), |ui| {
                ui.set_width(NAMES_PT);
                ui.add(Label::new(RichText::new(line.name).weak()).truncate()).on_hover_text(line.about);
            });
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                ui.add(Label::new(&line.value).selectable(true)).on_hover_text(line.about);
                note(ui, &line.note);
            });
        });
    }
    ui.add_space(12.0);
}
