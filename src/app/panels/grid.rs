//! The table widget: names and numbers, as many columns as fit, all of them in the tooltip of a row.
//!
//! A head sorts by its column; a right click on a row copies it or the whole table. Only visible rows are made.

mod heads;
mod names;

pub use heads::{filter_bar, head, heading, left_out, remark, warning};

use super::sheet::{Filter, Key, Row, Rows, Sheet, cells_of, tsv};
use crate::app::toast;
use crate::format;
use crate::timeline::color::Palette;
use crate::units::Span;
use egui::{Align, Button, Label, Layout, RichText, Role, Sense, Ui, WidgetInfo};
use egui_extras::{Column as Place, TableBuilder};
use heads::order_of;
use names::name_cell;
use std::borrow::Cow;
use std::cell::RefCell;

const ROW_PT: f32 = 20.0;
/// Height of a row with the space below it.
const LINE_PT: f32 = ROW_PT + 4.0;
const GAP_PT: f32 = 6.0;
/// Least width of most names.
pub const NAME_PT: f32 = 84.0;
/// Most width of names: numbers far away from them are hard to follow.
const WIDEST_NAME_PT: f32 = 480.0;
/// Rows of a long list that are seen at once.
const MOST_ROWS: usize = 12;
/// Rows of a page: places further down a list would lose precision.
const PAGE: usize = 100_000;
/// Widest tooltip.
const TIP_PT: f32 = 480.0;

/// A column behind the names.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// What it means.
    pub tip: &'static str,
    /// Width that its numbers need.
    pub width_pt: f32,
    /// Sorted with the smallest first, as times are.
    pub ascending: bool,
}

/// A table.
#[derive(Debug)]
pub struct Grid<'a> {
    /// Tells tables of one panel apart; names the table in what is copied.
    pub id: &'static str,
    /// Heading of the names.
    pub name: &'static str,
    /// Columns, the one that can be left out last first.
    pub columns: &'a [Column],
    /// Takes all the height there is.
    pub tall: bool,
    /// Least width of the names.
    pub name_pt: f32,
}

/// What decides which rows are shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Changes whenever the rows would be others.
    pub token: u64,
    /// What the user wants to see.
    pub filter: &'a Filter,
    /// What the timeline has selected, on the clock of the rows.
    pub selection: Option<Span>,
    /// Where the table goes as text, when the user wants it on the clipboard.
    pub copy: Option<&'a Copied>,
}

/// Tables of a panel as text with the number of their rows, on their way to the clipboard.
#[derive(Debug, Default)]
pub struct Copied(RefCell<(String, usize)>);

impl Shown<'_> {
    /// Draws a warning about the table below, which goes with it to the clipboard.
    pub fn warn(&self, ui: &mut Ui, palette: &Palette, text: &str) {
        warning(ui, palette, text);
        if let Some(copied) = self.copy {
            copied.add(&format!("{text}\n"), 0);
        }
    }
}

impl Copied {
    /// Adds a table of so many rows below those that are there.
    pub fn add(&self, table: &str, rows: usize) {
        let (text, count) = &mut *self.0.borrow_mut();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(table);
        *count += rows;
    }

    /// Puts what was added on the clipboard.
    pub fn finish(self, ui: &Ui) {
        let (text, rows) = self.0.into_inner();
        toast::copy(ui.ctx(), text, rows_text(rows));
    }
}

/// "1 row".
pub fn rows_text(rows: usize) -> String {
    format::counted(rows as u64, "row", "rows")
}

impl Grid<'_> {
    /// Draws the rows that are wanted; the result is the row that was clicked.
    pub fn show(&self, ui: &mut Ui, sheet: &mut Sheet, shown: Shown<'_>, rows: &dyn Rows) -> Option<usize> {
        self.show_rows(ui, sheet, shown, rows, MOST_ROWS)
    }

    /// The same as the last table of a panel that scrolls: a long list takes what the tables above it leave.
    pub fn show_last(&self, ui: &mut Ui, sheet: &mut Sheet, shown: Shown<'_>, rows: &dyn Rows) -> Option<usize> {
        // Places are taken from the top of the content, so that scrolling changes nothing.
        let above_pt = ui.cursor().top() - ui.min_rect().top();
        let left_pt = ui.clip_rect().height() - above_pt - ROW_PT - LINE_PT;
        self.show_rows(ui, sheet, shown, rows, MOST_ROWS.max((left_pt / LINE_PT) as usize))
    }

    fn show_rows(
        &self,
        ui: &mut Ui,
        sheet: &mut Sheet,
        shown: Shown<'_>,
        rows: &dyn Rows,
        most_rows: usize,
    ) -> Option<usize> {
        let mut clicked = None;
        let scroll_pt = ui.spacing().scroll.allocated_width();
        let room_pt = ui.available_width() - scroll_pt;
        let (fitting, name_pt) = self.fitting(room_pt);
        let (columns, hidden) = self.columns.split_at_checked(fitting).unwrap_or((self.columns, &[]));
        let widest_pt = columns.iter().fold(WIDEST_NAME_PT.max(name_pt), |sum, column| sum + column.width_pt + GAP_PT);
        let all = sheet.follow(shown.token, shown.filter, shown.selection, rows).len();
        let first = pages(ui, sheet, all);
        let count = (all - first).min(PAGE);
        if let Some(copied) = shown.copy {
            copied.add(&self.text(sheet, rows), all);
        }
        ui.push_id(self.id, |ui| {
            ui.spacing_mut().item_spacing.x = GAP_PT;
            // Tables below each other end at one edge, whether they scroll or not.
            let scrolls = self.tall || count > most_rows;
            ui.set_max_width(room_pt.min(widest_pt) + if scrolls { scroll_pt } else { 0.0 });
            let mut table = TableBuilder::new(ui)
                .striped(true)
                .sense(Sense::click())
                .cell_layout(Layout::right_to_left(Align::Center));
            table = if self.tall {
                table.auto_shrink([false, false])
            } else {
                let height_pt = count.min(most_rows) as f32 * LINE_PT;
                table
                    .vscroll(scrolls)
                    .auto_shrink([false, true])
                    .min_scrolled_height(height_pt)
                    .max_scroll_height(height_pt)
            };
            if std::mem::take(&mut sheet.follow_cursor)
                && let Some(row) = sheet.cursor.and_then(|cursor| cursor.checked_sub(first))
            {
                table = table.scroll_to_row(row, None);
            }
            table = table.column(Place::remainder().at_least(name_pt).clip(true));
            for column in columns {
                table = table.column(Place::exact(column.width_pt).clip(true));
            }
            let mut sort = None;
            let table = table.header(ROW_PT, |mut header| {
                header.col(|ui| {
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        if head(ui, self.name, "", order_of(sheet, 0)).clicked() {
                            sort = Some(0);
                        }
                        left_out(ui, hidden.iter().map(|column| column.name));
                    });
                });
                for (at, column) in columns.iter().enumerate() {
                    header.col(|ui| {
                        if head(ui, column.name, column.tip, order_of(sheet, at + 1)).clicked() {
                            sort = Some(at + 1);
                        }
                    });
                }
            });
            table.body(|body| {
                body.rows(ROW_PT, count, |mut line| {
                    let Some(at) = sheet.order().get(first + line.index()).map(|at| *at as usize) else { return };
                    let row = rows.row(at);
                    line.set_selected(row.selected || sheet.cursor == Some(first + line.index()));
                    line.col(|ui| name_cell(ui, &row, rows.head(at).is_some()));
                    for cell in row.cells.iter().take(columns.len()) {
                        line.col(|ui| {
                            ui.add(Label::new(RichText::new(&cell.text).small()).selectable(false));
                        });
                    }
                    let response = line.response();
                    if !row.action.is_empty() {
                        response.widget_info(|| match row.tick {
                            Some(on) => WidgetInfo::selected(Role::CheckBox, true, on, &row.action),
                            None => WidgetInfo::labeled(Role::Button, true, &row.action),
                        });
                        if response.clicked() {
                            clicked = Some(at);
                        }
                    }
                    response.context_menu(|ui| self.copy_menu(ui, at, sheet, rows));
                    response.on_hover_ui(|ui| match row.tick {
                        // What is ticked off row by row is not covered by what the row says itself.
                        Some(_) if hidden.is_empty() => full_name(ui, &row),
                        _ => self.tip(ui, &row, at, rows),
                    });
                });
            });
            if let Some(column) = sort {
                // Names, times and words are first wanted in order.
                let given = column.checked_sub(1).and_then(|at| columns.get(at)).is_none_or(|column| column.ascending);
                let words = given || (rows.count() > 0 && matches!(rows.key(0, column), Key::Text(_)));
                sheet.sort_by(column, words);
            }
        });
        clicked
    }

    /// The whole table as it is filtered and sorted, with all its columns.
    pub fn text(&self, sheet: &Sheet, rows: &dyn Rows) -> String {
        let lines = sheet.order().iter().map(|at| cells_of(rows.row(*at as usize)));
        tsv(std::iter::once(self.heads()).chain(lines))
    }

    fn heads(&self) -> Vec<Cow<'static, str>> {
        std::iter::once(self.name).chain(self.columns.iter().map(|column| column.name)).map(Cow::Borrowed).collect()
    }

    fn copy_menu(&self, ui: &mut Ui, at: usize, sheet: &Sheet, rows: &dyn Rows) {
        if ui.button("Copy row").clicked() {
            toast::copy(ui.ctx(), tsv([cells_of(rows.row(at))]), rows_text(1));
            ui.close();
        }
        if ui.button("Copy table").clicked() {
            toast::copy(ui.ctx(), self.text(sheet, rows), rows_text(sheet.order().len()));
            ui.close();
        }
        let row = rows.row(at);
        if !row.full.is_empty() && ui.button("Copy name").clicked() {
            toast::copy(ui.ctx(), row.full, "the name");
            ui.close();
        }
    }

    /// How many columns fit beside the names, and the least width of those: names give way to the first column.
    fn fitting(&self, room_pt: f32) -> (usize, f32) {
        let beside = |name_pt: f32| {
            let mut left_pt = room_pt - name_pt;
            let fits = |column: &&Column| {
                left_pt -= column.width_pt + GAP_PT;
                left_pt >= 0.0
            };
            (self.columns.iter().take_while(fits).count(), name_pt)
        };
        let wanted = beside(self.name_pt);
        if wanted.0 > 0 { wanted } else { beside(self.name_pt.min(NAME_PT)) }
    }

    fn tip(&self, ui: &mut Ui, row: &Row, at: usize, rows: &dyn Rows) {
        full_name(ui, row);
        egui::Grid::new("values").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                ui.label(RichText::new(column.name).weak());
                ui.label(&cell.text);
                ui.end_row();
            }
        });
        let note = rows.note(at);
        if !note.is_empty() {
            ui.add_space(4.0);
            ui.label(note);
        }
        let hint = match (row.action.is_empty(), row.tick) {
            (true, _) => "Right-click to copy it",
            (false, None) => "Click to show it, right-click to copy it",
            (false, Some(_)) => "Click to choose it, right-click to copy it",
        };
        ui.label(RichText::new(hint).small().weak());
    }
}

fn full_name(ui: &mut Ui, row: &Row) {
    ui.set_max_width(TIP_PT);
    let name = if row.full.is_empty() { &row.name } else { &row.full };
    ui.add(Label::new(RichText::new(format::one_line(name, 400)).strong()).wrap());
}

/// Which page of a long list is shown; the result is its first row.
fn pages(ui: &mut Ui, sheet: &mut Sheet, all: usize) -> usize {
    let pages = all.div_ceil(PAGE).max(1);
    sheet.page = sheet.page.min(pages - 1);
    if pages > 1 {
        ui.horizontal(|ui| {
            if ui.add_enabled(sheet.page > 0, Button::new("Previous page")).clicked() {
                sheet.page -= 1;
            }
            if ui.add_enabled(sheet.page + 1 < pages, Button::new("Next page")).clicked() {
                sheet.page += 1;
            }
            let first = sheet.page * PAGE;
            let [from, to] = [first + 1, (first + PAGE).min(all)].map(|at| format::count(at as u64));
            ui.label(RichText::new(format!("{from} to {to}")).small().weak());
        });
    }
    sheet.page * PAGE
}

/// A column.
pub const fn column(name: &'static str, width_pt: f32, tip: &'static str) -> Column {
    Column { name, tip, width_pt, ascending: false }
}

/// A column of places in time, which are first wanted in order.
pub const fn at(name: &'static str, width_pt: f32, tip: &'static str) -> Column {
    Column { ascending: true, ..column(name, width_pt, tip) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_are_left_out_from_the_end() {
        let columns = [column("a", 50.0, ""), column("b", 60.0, ""), column("c", 10.0, "")];
        let grid = Grid { id: "t", name: "n", columns: &columns, tall: false, name_pt: NAME_PT };
        let fitting = |pt: f32| grid.fitting(NAME_PT + pt).0;
        assert_eq!((fitting(55.0), fitting(56.0), fitting(121.0), fitting(138.0)), (0, 1, 1, 3));
    }

    #[test]
    fn long_names_give_way_to_the_first_column() {
        let columns = [column("a", 50.0, ""), column("b", 60.0, "")];
        let grid = Grid { id: "t", name: "n", columns: &columns, tall: false, name_pt: 132.0 };
        assert_eq!([254.0, 188.0, 187.0].map(|pt| grid.fitting(pt)), [(2, 132.0), (1, 132.0), (1, NAME_PT)]);
    }
}
