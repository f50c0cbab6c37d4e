//! The menu under the right button: what can be done with the item there, with the span, or with the view.

use super::cache::Cache;
use crate::view::available::why_not;
use crate::view::{Command, Kin, Panel, Side, ViewState, Workspace, shortcuts};
use egui::{Button, Response, RichText, Ui};

/// Width of the menu in points.
const WIDTH_PT: f32 = 232.0;

/// Draws the menu while it is open. The item under the pointer was selected by the click that opened it.
pub(super) fn show(
    response: &Response,
    (workspace, state): (&Workspace, &ViewState),
    cache: &Cache,
    out: &mut Vec<Command>,
) {
    if !cache.menu {
        return;
    }
    response.context_menu(|ui| {
        ui.set_width(WIDTH_PT);
        let span = state.selected_span.is_some();
        match state.selected {
            Some(_) => {
                entry(ui, "Zoom to it", Command::ShowSelection, out);
                entry(ui, "Previous of the same name", Command::SelectNeighbour(Kin::Name, Side::Before), out);
                entry(ui, "Next of the same name", Command::SelectNeighbour(Kin::Name, Side::After), out);
                entry(ui, "Select its span", Command::SelectItsSpan, out);
                if why_not(&Command::AlignHere(None), state, workspace).is_none() {
                    entry(ui, "Align here", Command::AlignHere(None), out);
                }
                ui.separator();
                entry(ui, "Copy name", Command::CopyName, out);
                entry(ui, "Copy as text", Command::CopyFacts, out);
                ui.separator();
                entry(ui, "Bookmark it", Command::AddBookmark, out);
            }
            None if span => {
                entry(ui, "Zoom to the span", Command::ShowSelection, out);
                entry(ui, "Show its numbers", Command::ShowPanel(Panel::Selection), out);
                entry(ui, "Bookmark the span", Command::AddBookmark, out);
                entry(ui, "Clear the span", Command::SelectSpan(None), out);
            }
            None => {
                entry(ui, "Show the whole capture", Command::ShowAll, out);
                entry(ui, "Bookmark this view", Command::AddBookmark, out);
            }
        }
    });
}

fn entry(ui: &mut Ui, text: &str, command: Command, out: &mut Vec<Command>) {
    let key = shortcuts::text_of(&command);
    let button = Button::new(text).right_text(RichText::new(key).weak()).min_size(egui::vec2(WIDTH_PT, 0.0));
    let response = ui.add(button);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, text));
    if response.clicked() {
        out.push(command);
        ui.close();
    }
}
