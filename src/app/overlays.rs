//! What lies over the window: messages, the list of shortcuts, about, a path to be typed.

use super::cx::pair;
use super::icon;
use super::recipe::{self, Recipe};
use super::state::{AppState, Notice, Overlay, PathQuestion};
use super::toast;
use crate::format;
use crate::view::Command;
use crate::view::shortcuts::{Group, IN_FIELDS, SHORTCUTS};
use egui::{Button, Id, Key, Label, Modal, RichText, ScrollArea, TextEdit, Ui, vec2};
use std::path::PathBuf;

/// Draws whatever is on top. `typed` is the text of the path field, `recipe` what was chosen for the next recording.
pub fn show(ui: &Ui, state: &AppState, typed: &mut String, recipe: &mut Recipe, out: &mut Vec<Command>) {
    if let Some(notice) = state.notices.front() {
        let others = state.notices.len() - 1;
        dialog(ui, "notice", 520.0, out, |ui, out| message(ui, notice, others, out));
        return;
    }
    match &state.overlay {
        None => {}
        Some(Overlay::Palette | Overlay::Chooser) => {}
        Some(Overlay::Help) => dialog(ui, "help", 1160.0, out, shortcuts),
        Some(Overlay::About) => dialog(ui, "about", 400.0, out, about),
        Some(Overlay::Recording) => dialog(ui, "recording", 640.0, out, |ui, out| recording(ui, recipe, out)),
        Some(Overlay::Path { question, .. }) => {
            let beside = *question == PathQuestion::Open && !state.workspace.docs.is_empty();
            dialog(ui, "path", 520.0, out, |ui, out| path(ui, question, beside, typed, out));
        }
    }
}

/// A window over everything, whose backdrop closes it.
pub fn dialog(ui: &Ui, name: &str, width: f32, out: &mut Vec<Command>, add: impl FnOnce(&mut Ui, &mut Vec<Command>)) {
    let room = ui.ctx().content_rect().size() - vec2(64.0, 64.0);
    let backdrop = egui::Color32::from_black_alpha(120);
    let modal = Modal::new(Id::unique(name)).backdrop_color(backdrop).frame(egui::Frame::window(ui.style()));
    let response = modal.show(ui.ctx(), |ui| {
        ui.set_width(width.min(room.x));
        ui.set_max_height(room.y);
        add(ui, out);
    });
    // Escape is a shortcut of its own, so only a click beside the dialog is left to handle.
    if response.backdrop_response.clicked() {
        out.push(Command::Dismiss);
    }
}

fn message(ui: &mut Ui, notice: &Notice, others: usize, out: &mut Vec<Command>) {
    ui.heading(&notice.title);
    ui.add_space(8.0);
    ScrollArea::vertical().max_height(ui.available_height().max(160.0) - 64.0).show(ui, |ui| {
        ui.add(Label::new(&notice.message).wrap().selectable(true));
    });
    ui.add_space(16.0);
    ui.horizontal(|ui| {
        if let Some(report) = &notice.convert
            && ui.add(Button::new("Convert into a folder…").selected(true)).clicked()
        {
            out.push(Command::Dismiss);
            out.push(Command::AskConversionFolder(report.clone()));
        }
        if ui.button("Close").clicked() {
            out.push(Command::Dismiss);
        }
        if ui.button("Copy message").clicked() {
            toast::copy(ui.ctx(), format!("{}\n{}", notice.title, notice.message), "the message");
        }
        if others > 0 {
            let text = format::counted(others as u64, "more message", "more messages");
            ui.label(RichText::new(text).weak());
        }
    });
}

fn shortcuts(ui: &mut Ui, out: &mut Vec<Command>) {
    title(ui, "Keyboard and mouse", out);
    use Group::{Lanes, Navigate, Search, Select, Show, Window};
    let columns: &[&[Group]] = match ui.available_width() {
        1000.0.. => &[&[Navigate, Search, Select], &[Show, Lanes], &[Window]],
        640.0.. => &[&[Navigate, Search, Select], &[Show, Lanes, Window]],
        _ => &[&Group::ALL],
    };
    ScrollArea::vertical().max_height(ui.max_rect().height().max(200.0) - 64.0).show(ui, |ui| {
        ui.columns(columns.len(), |columns_ui| {
            for (ui, groups) in columns_ui.iter_mut().zip(columns) {
                for group in *groups {
                    shortcut_group(ui, *group);
                }
                // In the shorter column, or last in the only one.
                if groups.last() == Group::ALL.last() {
                    mouse(ui);
                }
            }
        });
    });
}

/// Width of the keys in the help window, in points.
const KEYS_PT: f32 = 184.0;

/// What the mouse does over the timeline.
const MOUSE: [(&str, &str); 17] = [
    ("Click", "Select what is under the pointer"),
    ("Double-click", "Fit it; on empty space, everything"),
    ("Middle click", "Fit what is under the pointer"),
    ("Drag", "Move through time and lanes"),
    ("Shift+drag", "Measure a span"),
    ("Alt+drag", "Shift a file against the others (also Ctrl+Alt)"),
    ("Drag on the ruler", "Measure a span"),
    ("Alt or Ctrl meanwhile", "Do not snap to edges"),
    ("Drag an edge of the span", "Move it"),
    ("Double-click on the ruler", "Clear the span"),
    ("Right-drag, Ctrl+drag", "Zoom into a box; Escape gives it up"),
    ("Wheel", "Zoom at the pointer"),
    ("Shift+wheel", "Move through time"),
    ("Alt+wheel, wheel on names", "Scroll the lanes"),
    ("Drag a name", "Move the lane among its neighbours"),
    ("Drag the edge below a name", "Resize the lane; double-click resets it"),
    ("Right click on a name", "Menu of the lane"),
];

fn mouse(ui: &mut Ui) {
    ui.add_space(8.0);
    ui.label(RichText::new("Mouse").strong());
    for (action, what) in MOUSE {
        pair(ui, KEYS_PT, action, what);
    }
}

fn shortcut_group(ui: &mut Ui, group: Group) {
    ui.add_space(8.0);
    ui.label(RichText::new(group.text()).strong());
    for shortcut in SHORTCUTS.iter().filter(|shortcut| shortcut.group == group) {
        let mut keys: Vec<String> = shortcut.chords.iter().map(|chord| chord.text()).collect();
        keys.dedup();
        pair(ui, KEYS_PT, &keys.join("  or  "), shortcut.help);
    }
    for (_, keys, what) in IN_FIELDS.iter().filter(|(of, ..)| *of == group) {
        pair(ui, KEYS_PT, keys, what);
    }
}

fn about(ui: &mut Ui, out: &mut Vec<Command>) {
    title(ui, "About stepscope", out);
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(48.0, 48.0), egui::Sense::hover());
        icon::paint(ui.painter(), rect);
        ui.vertical(|ui| {
            ui.label(format!("Version {}", env!("CARGO_PKG_VERSION")));
            ui.label(RichText::new(env!("CARGO_PKG_LICENSE")).weak());
        });
    });
    ui.add_space(8.0);
    ui.label("Shows where a GPU training step went, from the SQLite exports of Nsight Systems.");
    ui.label(RichText::new("Files are only read. Nothing leaves this machine.").weak());
}

fn recording(ui: &mut Ui, recipe: &mut Recipe, out: &mut Vec<Command>) {
    title(ui, "How to record a capture", out);
    ScrollArea::vertical().max_height(ui.max_rect().height().max(200.0) - 64.0).show(ui, |ui| recipe::show(ui, recipe));
}

fn title(ui: &mut Ui, text: &str, out: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.heading(text);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Close").clicked() {
                out.push(Command::Dismiss);
            }
        });
    });
    ui.add_space(4.0);
}

fn path(ui: &mut Ui, question: &PathQuestion, beside: bool, typed: &mut String, out: &mut Vec<Command>) {
    let (heading, hint, go) = match question {
        PathQuestion::Open => {
            ("Open by path", "Path of a SQLite export. Several paths are separated by a semicolon.", "Open")
        }
        PathQuestion::Captures => ("Open folder", "Path of a folder with exports, summaries or both.", "Open"),
        PathQuestion::RankName(_) => {
            ("Rename rank", "What this rank is called from now on; empty brings back what the file tells.", "Rename")
        }
        PathQuestion::Picture => {
            ("Save picture", "Path of the picture to write; its ending decides: .png or .svg.", "Save")
        }
        PathQuestion::Settings => ("Load settings", "Path of a settings file (TOML).", "Load"),
        PathQuestion::SaveSettings => {
            ("Save settings", "Path of the settings file to write, such as stepscope.toml beside the export.", "Save")
        }
        PathQuestion::ModelConfig => ("Load a model", "Path of a Hugging Face config.json.", "Load"),
        PathQuestion::Report => {
            ("Save report", "Path of the file to write; its ending decides: .html, .md, .txt, .json or .yaml.", "Save")
        }
        PathQuestion::Session => ("Save session", "Path of the session file to write (.stepscope.toml).", "Save"),
        PathQuestion::Link => ("Open link", "A link that was copied from the File menu: stepscope:1?file=…", "Open"),
        PathQuestion::Folder(_) => ("Convert into a folder", "Folder that the SQLite export is written to.", "Convert"),
    };
    ui.heading(heading);
    ui.add_space(4.0);
    let label = ui.label(RichText::new(hint).weak());
    let field = ui.add(TextEdit::singleline(typed).desired_width(f32::INFINITY)).labelled_by(label.id);
    if !field.has_focus() && !field.lost_focus() {
        field.request_focus();
    }
    if beside {
        let note = "It opens beside what is open. To replace that, choose Close all in the File menu first.";
        ui.label(RichText::new(note).small().weak());
    }
    ui.add_space(12.0);
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    ui.horizontal(|ui| {
        let usable = !typed.trim().is_empty() || matches!(question, PathQuestion::RankName(_));
        let clicked = ui.add_enabled(usable, Button::new(go).selected(true)).clicked();
        if usable && (clicked || entered) {
            out.push(Command::Dismiss);
            out.push(answer(question, typed));
        }
        if ui.button("Cancel").clicked() || ui.input(|input| input.key_pressed(Key::Escape)) {
            out.push(Command::Dismiss);
        }
    });
}

fn answer(question: &PathQuestion, typed: &str) -> Command {
    // Paths that were copied often come with quotes around them.
    let clean = |text: &str| from_home(text.trim().trim_matches(['"', '\'']));
    match question {
        PathQuestion::Link => Command::OpenLinkText(typed.trim().to_owned()),
        PathQuestion::Open if typed.trim().starts_with(crate::view::SCHEME) => {
            Command::OpenLinkText(typed.trim().to_owned())
        }
        PathQuestion::Captures => Command::Open(vec![clean(typed)]),
        PathQuestion::RankName(rank) => Command::RenameRank(*rank, typed.trim().to_owned()),
        PathQuestion::Session => Command::SaveSessionTo(clean(typed)),
        PathQuestion::Open if std::path::Path::new(typed.trim()).exists() => Command::Open(vec![clean(typed)]),
        PathQuestion::Open => {
            Command::Open(typed.split(';').filter(|text| !text.trim().is_empty()).map(clean).collect())
        }
        PathQuestion::Picture => {
            let path = clean(typed);
            let named = if path.extension().is_none() { path.with_extension("png") } else { path };
            Command::SavePictureTo(named)
        }
        PathQuestion::Settings => Command::LoadSettingsFrom(clean(typed)),
        PathQuestion::SaveSettings => Command::SaveSettingsTo(clean(typed)),
        PathQuestion::ModelConfig => Command::LoadModelConfigFrom(clean(typed)),
        PathQuestion::Report => {
            let path = clean(typed);
            let named = if path.extension().is_none() { path.with_extension("html") } else { path };
            Command::SaveReportTo(named)
        }
        PathQuestion::Folder(report) => Command::Convert { report: report.clone(), folder: clean(typed) },
    }
}

/// The path as a shell reads it: a leading `~/` is the user's folder.
fn from_home(text: &str) -> PathBuf {
    let below = text.strip_prefix("~/").or_else(|| text.strip_prefix("~\\").filter(|_| cfg!(windows)));
    match below.zip(std::env::home_dir()) {
        Some((below, home)) => home.join(below),
        None => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leading_tilde_is_the_users_folder() {
        let Some(home) = std::env::home_dir() else { return };
        let opened = |typed| answer(&PathQuestion::Open, typed);
        assert_eq!(opened("~/a/rank0.sqlite"), Command::Open(vec![home.join("a/rank0.sqlite")]));
        assert_eq!(opened("a~/b; ~user/c"), Command::Open(vec!["a~/b".into(), "~user/c".into()]));
    }

    #[test]
    fn typed_paths_may_be_several_and_quoted() {
        let typed = " \"/a b/rank0.sqlite\" ; /c/rank1.sqlite;";
        let paths = vec![PathBuf::from("/a b/rank0.sqlite"), PathBuf::from("/c/rank1.sqlite")];
        assert_eq!(answer(&PathQuestion::Open, typed), Command::Open(paths));
    }

    #[test]
    fn pictures_get_their_ending() {
        let picture = |typed| answer(&PathQuestion::Picture, typed);
        assert_eq!(picture("/a/step"), Command::SavePictureTo("/a/step.png".into()));
        assert_eq!(picture("/a/step.PNG"), Command::SavePictureTo("/a/step.PNG".into()));
    }
}
