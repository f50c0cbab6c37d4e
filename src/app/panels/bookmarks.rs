//! The bookmarks of the open files: go there, write the note of one, forget.

use super::grid::remark;
use crate::app::cx::Cx;
use crate::app::state::file_name;
use crate::timeline::{clock, flags};
use crate::units::Span;
use crate::view::bookmark::{NOTE_CHARS, Target};
use crate::view::{Bookmark, Command};
use egui::{Button, Key, Label, RichText, TextEdit, Ui};

/// The bookmark whose note is written: its index, view and target.
type Noted = (usize, Span, Option<Target>);

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct BookmarksCache {
    /// The note being written.
    typed: Option<(Noted, String)>,
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut BookmarksCache, out: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.strong("Bookmarks");
        let tip = "Mark what is selected, else what is on screen (Ctrl+B, Cmd+B on a Mac)";
        if ui.button("Add").on_hover_text(tip).clicked() {
            out.push(Command::AddBookmark);
        }
    });
    ui.add_space(4.0);
    if cx.view.bookmarks.is_empty() {
        remark(
            ui,
            "None yet. A bookmark keeps an item, a span or a view with a note of yours, beside the settings of this program; the export is not touched.",
        );
        return;
    }
    let noted = cx.view.noted.and_then(|at| Some((at, cx.view.bookmarks.get(at)?)));
    let key = noted.map(|(at, mark)| (at, mark.view, mark.target));
    if key != cache.typed.as_ref().map(|(key, _)| *key) {
        cache.typed = key.zip(noted.map(|(_, mark)| mark.note.clone()));
    }
    for (at, mark) in cx.view.bookmarks.iter().enumerate() {
        ui.push_id(("bookmark", at), |ui| one(ui, cx, cache, (at, mark), out));
        ui.add_space(2.0);
        ui.separator();
    }
}

fn one(ui: &mut Ui, cx: &Cx<'_>, cache: &mut BookmarksCache, (at, mark): (usize, &Bookmark), out: &mut Vec<Command>) {
    let title = flags::title(cx.workspace, mark);
    if let Some((_, text)) = cache.typed.as_mut().filter(|(of, _)| of.0 == at) {
        note(ui, at, text, out);
    } else if ui.add(Button::new(RichText::new(&title).strong()).truncate().frame(false)).clicked() {
        out.push(Command::GoToBookmark(at));
    }
    ui.add(Label::new(RichText::new(about(cx, mark, &title)).small().weak()).wrap());
    ui.horizontal(|ui| {
        let name = |what: &str| format!("{what} {title}");
        let mut button = |text: &str, what: &str, command: Command| {
            let response = ui.add(Button::new(RichText::new(text).small()).small());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name(what)));
            if response.clicked() {
                out.push(command);
            }
        };
        button("Go", "Go to", Command::GoToBookmark(at));
        button(
            if mark.note.is_empty() { "Add a note" } else { "Rename" },
            "Write the note of",
            Command::EditBookmark(Some(at)),
        );
        button("Delete", "Delete", Command::DeleteBookmark(at));
    });
}

fn note(ui: &mut Ui, at: usize, text: &mut String, out: &mut Vec<Command>) {
    let field = TextEdit::singleline(text).hint_text("A note, then Enter").char_limit(NOTE_CHARS);
    let field = ui.add(field.desired_width(f32::INFINITY));
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Note of the bookmark"));
    if ui.input(|input| input.key_pressed(Key::Escape)) {
        out.push(Command::EditBookmark(None));
    } else if field.lost_focus() {
        out.push(Command::NoteBookmark(at, text.clone()));
    } else if !field.has_focus() {
        field.request_focus();
    }
}

/// What it points at, when, and in which file.
fn about(cx: &Cx<'_>, mark: &Bookmark, title: &str) -> String {
    let unnamed = Bookmark { note: String::new(), ..mark.clone() };
    let what = Some(flags::title(cx.workspace, &unnamed)).filter(|what| what != title);
    let len_ns = mark.target.map_or(mark.view, |target| target.span).len_ns();
    let moment = clock::exact(cx.workspace, cx.view, mark.at_ns(cx.workspace), len_ns.max(1_000_000));
    let several = cx.workspace.docs.len() > 1;
    let file = cx.workspace.docs.get(mark.doc).filter(|_| several).map(|doc| file_name(&doc.trace.source.path));
    let parts = [what, Some(format!("at {moment}")), file];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
