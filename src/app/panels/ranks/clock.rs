//! What puts the files on one clock, and how far each is off.

use crate::app::cx::Cx;
use crate::app::panels::grid::{Column, Grid, NAME_PT, Shown, column, heading};
use crate::app::panels::sheet::{Cell, List, Row, Sheet};
use crate::format;
use crate::job::ClockMode;
use crate::report::compare::{basis_text, clock_text, drift_text, mode_help, mode_text, uncertainty_text};
use crate::view::Command;
use egui::{ComboBox, Label, RichText, Ui};

const FILES: [Column; 6] = [
    column("Offset", 70.0, "Added to the file's time to get the reference's, the shift by hand included."),
    column(
        "Uncertainty",
        74.0,
        "How far off that may be: the median distance of the matched ends from each other; not known after a shift by hand.",
    ),
    column("By", 74.0, "What the file was put on the clock by."),
    column("Matched", 58.0, "Matched collectives or steps that it rests on."),
    column("Shift", 58.0, "What it was moved by hand."),
    column(
        "Drift",
        62.0,
        "How much longer the reference's clock finds a span, where the capture is long enough to tell.",
    ),
];

/// The clock in force, and the list of clocks.
pub fn choose(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    ui.add(Label::new(format!("Clock in force: {}.", clock_text(job))).wrap().selectable(true));
    if job.exports.len() < 2 {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(RichText::new("Clock").weak());
        let list = ComboBox::from_id_salt("clock").selected_text(mode_text(job.clock.mode)).show_ui(ui, |ui| {
            for mode in ClockMode::ALL {
                let chosen = ui.selectable_label(mode == job.clock.mode, mode_text(mode));
                if chosen.on_hover_text(mode_help(mode)).clicked() {
                    out.push(Command::SetClock(mode));
                }
            }
        });
        list.response.labelled_by(label.id).on_hover_text(mode_help(job.clock.mode));
        if job.clock.is_shifted() {
            let button = ui.button("Take back shifts").on_hover_text("Puts files that were moved by hand back");
            if button.clicked() {
                out.push(Command::ResetShifts);
            }
        }
    });
}

/// Where each file stands on the clock, when there are several.
pub fn files(ui: &mut Ui, cx: &Cx<'_>, sheet: &mut Sheet, shown: Shown<'_>) {
    let job = &cx.workspace.job;
    if job.exports.len() < 2 {
        return;
    }
    heading(ui, "Files on the clock", "From each file's clock to that of the reference.");
    let row = |at: usize| {
        let (Some(export), Some(source)) = (job.exports.get(at), job.clock.sources.get(at)) else {
            return Row::default();
        };
        let signed = |ns: i64| Cell::whole(format::signed_duration(ns), ns);
        let uncertainty_ns = source.uncertainty_ns();
        Row {
            name: format::one_line(job.name(at), 80),
            full: format::one_line(&export.file.display().to_string(), 400),
            cells: vec![
                signed(source.map.offset_ns),
                Cell::maybe(uncertainty_text(uncertainty_ns), uncertainty_ns.map(|ns| ns as f64)),
                Cell::text(basis_text(source.basis).to_owned()),
                Cell::whole(format::count(source.matched), source.matched as i64),
                signed(source.shift_ns),
                Cell::number(drift_text(source), source.map.drift_ppm),
            ],
            ..Row::default()
        }
    };
    let grid = Grid { id: "files", name: "File", columns: &FILES, tall: false, name_pt: NAME_PT };
    grid.show(ui, sheet, shown, &List::new(job.exports.len(), row));
}
