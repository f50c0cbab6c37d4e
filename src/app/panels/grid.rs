//! A table of text with a name and numbers: as many columns as fit, all of them in the tooltip of a row.
//!
//! Only visible rows are made.

use egui::{Align, Label, Layout, RichText, Role, Sense, Ui, WidgetInfo};
use egui_extras::{Column as Place, TableBuilder};

const ROW_PT: f32 = 20.0;
const GAP_PT: f32 = 6.0;
/// Least width of the names.
const NAME_PT: f32 = 84.0;
/// Rows of a long list that are seen at once.
const MOST_ROWS: usize = 12;

/// A column behind the names.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// What it means.
    pub tip: &'static str,
    /// Width that its numbers need.
    pub width_pt: f32,
}

/// A row.
#[derive(Debug, Default)]
pub struct Row {
    /// First cell.
    pub name: String,
    /// The other cells, one for each column.
    pub cells: Vec<String>,
    /// More to say of it.
    pub note: String,
    /// What a click does, in words; empty when it does nothing.
    pub action: String,
    /// Whether it is the one that was chosen.
    pub selected: bool,
}

/// A table.
#[derive(Debug)]
pub struct Grid<'a> {
    /// Tells tables of one panel apart.
    pub id: &'static str,
    /// Heading of the names.
    pub name: &'static str,
    /// Columns, the one that can be left out last first.
    pub columns: &'a [Column],
}

impl Grid<'_> {
    /// Draws `count` rows; the result is the row that was clicked.
    pub fn show(&self, ui: &mut Ui, count: usize, row: impl Fn(usize) -> Row) -> Option<usize> {
        let mut clicked = None;
        let room_pt = ui.available_width() - ui.spacing().scroll.allocated_width();
        let fitting = self.fitting(room_pt);
        let columns = self.columns.get(..fitting).unwrap_or(self.columns);
        ui.push_id(self.id, |ui| {
            ui.spacing_mut().item_spacing.x = GAP_PT;
            let shown = count.min(MOST_ROWS) as f32;
            let height_pt = shown * (ROW_PT + ui.spacing().item_spacing.y);
            let mut table = TableBuilder::new(ui)
                .striped(true)
                .sense(Sense::click())
                .cell_layout(Layout::right_to_left(Align::Center))
                .vscroll(count > MOST_ROWS)
                .auto_shrink([false, true])
                .min_scrolled_height(height_pt)
                .max_scroll_height(height_pt)
                .column(Place::remainder().at_least(NAME_PT).clip(true));
            for column in columns {
                table = table.column(Place::exact(column.width_pt).clip(true));
            }
            let table = table.header(ROW_PT, |mut header| {
                header.col(|ui| {
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        ui.label(RichText::new(self.name).small().strong());
                    });
                });
                for column in columns {
                    header.col(|ui| {
                        ui.label(RichText::new(column.name).small().strong()).on_hover_text(column.tip);
                    });
                }
            });
            table.body(|body| {
                body.rows(ROW_PT, count, |mut line| {
                    let at = line.index();
                    let row = row(at);
                    line.set_selected(row.selected);
                    line.col(|ui| {
                        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                            ui.add(Label::new(RichText::new(&row.name).small()).truncate().selectable(false));
                        });
                    });
                    for cell in row.cells.iter().take(columns.len()) {
                        line.col(|ui| {
                            ui.add(Label::new(RichText::new(cell).small()).selectable(false));
                        });
                    }
                    let mut response = line.response();
                    if !row.action.is_empty() {
                        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &row.action));
                        if response.clicked() {
                            clicked = Some(at);
                        }
                    }
                    response = response.on_hover_ui(|ui| self.tip(ui, &row));
                    drop(response);
                });
            });
        });
        clicked
    }

    /// How many columns fit beside the names.
    fn fitting(&self, room_pt: f32) -> usize {
        let mut left_pt = room_pt - NAME_PT;
        let fits = |column: &&Column| {
            left_pt -= column.width_pt + GAP_PT;
            left_pt >= 0.0
        };
        self.columns.iter().take_while(fits).count()
    }

    fn tip(&self, ui: &mut Ui, row: &Row) {
        ui.strong(&row.name);
        egui::Grid::new("values").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                ui.label(RichText::new(column.name).weak());
                ui.label(cell);
                ui.end_row();
            }
        });
        if !row.note.is_empty() {
            ui.add_space(4.0);
            ui.label(&row.note);
        }
        if !row.action.is_empty() {
            ui.label(RichText::new("Click to show it").small().weak());
        }
    }
}

/// A column.
pub const fn column(name: &'static str, width_pt: f32, tip: &'static str) -> Column {
    Column { name, tip, width_pt }
}

/// A heading with its definition as a tooltip.
pub fn heading(ui: &mut Ui, text: &str, tip: &str) {
    ui.add_space(10.0);
    let response = ui.strong(text);
    if !tip.is_empty() {
        response.on_hover_text(tip);
    }
}

/// A remark in small letters that wraps.
pub fn remark(ui: &mut Ui, text: &str) {
    ui.add(Label::new(RichText::new(text).small().weak()).wrap());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_are_left_out_from_the_end() {
        let columns = [column("a", 50.0, ""), column("b", 60.0, ""), column("c", 10.0, "")];
        let grid = Grid { id: "t", name: "n", columns: &columns };
        let fitting = |pt: f32| grid.fitting(NAME_PT + pt);
        assert_eq!((fitting(55.0), fitting(56.0), fitting(121.0), fitting(138.0)), (0, 1, 1, 3));
    }
}
