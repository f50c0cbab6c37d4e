//! The causes of idle time in a table: how they are told apart, and what each takes of a window.

use super::overview::{Measured, grid, number};
use crate::analysis::{Cause, Causes};
use crate::format;
use crate::timeline::color::Palette;
use crate::units::share;
use egui::{Response, RichText, Sense, Ui, vec2};

/// A square in a cause's colour, as tables show before its name.
pub fn swatch(ui: &mut Ui, palette: &Palette, cause: Cause) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, palette.cause(cause));
    response
}

/// What a cause means, and how long it took in a window.
pub fn explain(cause: Cause, causes: &Causes) -> String {
    format!("{}. {}", format::duration(causes.of(cause)), cause.definition())
}

/// A row for every cause that occurs in any of `columns`: its share of the column's window.
pub fn table(ui: &mut Ui, palette: &Palette, columns: &[Measured]) {
    let occurs = |cause: &Cause| columns.iter().any(|column| column.causes.of(*cause) > 0);
    grid(ui, "causes", columns.len()).body(|mut body| {
        for cause in Cause::ALL.into_iter().filter(occurs) {
            body.row(22.0, |mut row| {
                row.col(|ui| {
                    swatch(ui, palette, cause);
                    ui.label(cause.text()).on_hover_text(cause.definition());
                });
                for column in columns {
                    number(&mut row, |ui| {
                        let known = share(column.causes.of(cause), column.split.span_ns);
                        let text = RichText::new(format::percent(known));
                        ui.label(text).on_hover_text(explain(cause, &column.causes));
                    });
                }
            });
        }
    });
}
