//! What stands above the rows of a table: its filter and the button that copies it, and the heads of its columns.

use super::super::sheet::{Filter, Sheet};
use super::{Copied, GAP_PT};
use crate::app::icons::{self, Icon};
use crate::timeline::color::Palette;
use crate::units::Span;
use egui::{Align, Button, Label, Layout, Response, RichText, Role, Sense, TextEdit, Ui, WidgetInfo, vec2};

/// Tells in the head of the names of columns that have no room, as "+3", with their names in the tooltip.
pub fn left_out(ui: &mut Ui, names: impl Iterator<Item = &'static str>) {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return;
    }
    let mark = Label::new(RichText::new(format!("+{}", names.len())).small().weak()).selectable(false);
    let tip = format!("No room for {}. Widen the panel for them; \"Copy\" has them too.", names.join(", "));
    ui.add(mark).on_hover_text(tip);
}

/// Which way the rows are sorted, when it is by this column.
pub(super) fn order_of(sheet: &Sheet, column: usize) -> Option<bool> {
    sheet.sort().filter(|(sorted, _)| *sorted == column).map(|(_, descending)| descending)
}

/// The head of a column, which sorts by it; `sorted` tells whether the largest come first, when it is sorted by it.
pub fn head(ui: &mut Ui, text: &str, tip: &str, sorted: Option<bool>) -> Response {
    if let Some(descending) = sorted {
        let icon = if descending { Icon::Down } else { Icon::Up };
        let (rect, _) = ui.allocate_exact_size(vec2(6.0, 6.0), Sense::hover());
        icons::paint(ui.painter(), rect, icon, ui.visuals().text_color());
    }
    if text.is_empty() {
        return ui.label("");
    }
    let response = ui.add(Button::new(RichText::new(text).small().strong()).frame(false));
    let name = format!("Sort by {text}");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if tip.is_empty() { response } else { response.on_hover_text(tip) }
}

/// The row above a table: its filter, the switch to what is selected, and a button that copies all of it: hand
/// what it gives to the tables, then [`Copied::finish`] it. `what` names the rows, as in "steps". `placed` when the rows have a place in time.
pub fn filter_bar(
    ui: &mut Ui,
    filter: &mut Filter,
    what: &str,
    selection: Option<Span>,
    placed: bool,
) -> Option<Copied> {
    let mut asked = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP_PT;
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let copy = ui.add(Button::new("Copy")).on_hover_text("The table as it is shown, as tab-separated text");
            copy.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Copy the table of {what}")));
            asked = copy.clicked().then(Copied::default);
            if placed {
                let tip = "Only what overlaps the span or the item that is selected on the timeline";
                let button = Button::selectable(filter.only, "In selection");
                let usable = selection.is_some() || filter.only;
                let response = ui.add_enabled(usable, button).on_hover_text(tip);
                response.clone().on_disabled_hover_text("Select a span or an item on the timeline first");
                if response.clicked() {
                    filter.only = !filter.only;
                }
            }
            let hint = format!("Filter {what}");
            let field = ui.add(TextEdit::singleline(&mut filter.text).hint_text(&hint).desired_width(f32::INFINITY));
            field.widget_info(|| {
                let mut info = WidgetInfo::text_edit(true, "", &filter.text, &hint);
                info.label = Some(hint.clone());
                info
            });
        });
    });
    asked
}

/// A heading with its definition as a tooltip.
pub fn heading(ui: &mut Ui, text: &str, tip: &str) {
    ui.add_space(10.0);
    let response = ui.strong(text);
    if !tip.is_empty() {
        response.on_hover_text(tip);
    }
}

/// A warning in small letters that wraps.
pub fn warning(ui: &mut Ui, palette: &Palette, text: &str) {
    ui.add(Label::new(RichText::new(text).small().color(palette.warning)).wrap());
}

/// A remark in small letters that wraps.
pub fn remark(ui: &mut Ui, text: &str) {
    ui.add(Label::new(RichText::new(text).small().weak()).wrap());
}
