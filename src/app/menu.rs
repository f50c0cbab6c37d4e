//! The menus File, View and Help.

use super::cx::Cx;
use super::keys;
use super::settings::SCALES_PERCENT;
use super::state::recent_names;
use crate::view::available::why_not;
use crate::view::{Axis, Coloring, Command, CompareCommand, CompareForm, Kin, PaneLink, Panel, Side, Theme};
use egui::{Align, Button, Layout, MenuBar, RichText, Role, Ui, WidgetInfo, containers::menu::MenuConfig};

/// Width of a menu in points.
const WIDTH_PT: f32 = 240.0;

/// Draws the menus in a row.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    MenuBar::new().config(MenuConfig::new()).ui(ui, |ui| {
        ui.menu_button("File", |ui| file(ui, cx, out));
        ui.menu_button("View", |ui| view(ui, cx, out));
        ui.menu_button("Help", |ui| help(ui, cx, out));
    });
}

/// An entry of a menu, with the key that does the same.
pub(super) fn entry(ui: &mut Ui, cx: &Cx<'_>, text: &str, command: Command, out: &mut Vec<Command>) {
    let key = keys::text_of(&command);
    let why_not = why_not(&command, cx.view, cx.workspace);
    let response = ui.add_enabled(why_not.is_none(), Button::new(text).right_text(RichText::new(key).weak()));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, why_not.is_none(), text));
    if response.on_disabled_hover_text(why_not.unwrap_or_default()).clicked() {
        out.push(command);
        ui.close();
    }
}

fn choice(ui: &mut Ui, on: bool, text: &str, command: Command, out: &mut Vec<Command>) {
    let key = keys::text_of(&command);
    let mut checked = on;
    let response = ui.horizontal(|ui| {
        let response = ui.checkbox(&mut checked, text);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(RichText::new(key).weak()));
        response
    });
    if response.inner.clicked() {
        out.push(command);
        ui.close();
    }
}

fn file(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    ui.set_width(WIDTH_PT);
    let open = !cx.workspace.docs.is_empty();
    let (files, path) =
        if open { ("Open beside…", "Open beside by path…") } else { ("Open…", "Open by path…") };
    entry(ui, cx, files, Command::OpenDialog, out);
    entry(ui, cx, "Open folder…", Command::OpenFolderDialog, out);
    entry(ui, cx, path, Command::TypePath, out);
    entry(ui, cx, "Open demo", Command::OpenDemo, out);
    ui.menu_button("Recent files", |ui| recent(ui, cx, out));
    ui.separator();
    entry(ui, cx, "Save picture…", Command::SavePicture, out);
    entry(ui, cx, "Save report…", Command::SaveReport, out);
    ui.separator();
    entry(ui, cx, "Save session…", Command::SaveSession, out);
    entry(ui, cx, "Copy link", Command::CopyLink, out);
    entry(ui, cx, "Open link…", Command::OpenLink, out);
    entry(ui, cx, "Reload replaced files", Command::Reload, out);
    ui.separator();
    entry(ui, cx, "Close all", Command::CloseAll, out);
    entry(ui, cx, "Quit", Command::Quit, out);
}

const fn link_text(link: PaneLink) -> &'static str {
    match link {
        PaneLink::Time => "Move together by time",
        PaneLink::Step => "Move together by step",
        PaneLink::Aligned => "Align at the selected collective",
        PaneLink::Apart => "Move apart",
    }
}

fn recent(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    ui.set_min_width(280.0);
    if cx.settings.recent.is_empty() {
        ui.label(RichText::new("None yet").weak());
    }
    for (path, name) in cx.settings.recent.iter().zip(recent_names(&cx.settings.recent)) {
        let response = ui.button(name).on_hover_text(path.display().to_string());
        if response.clicked() {
            out.push(Command::Open(vec![path.clone()]));
            ui.close();
        }
    }
}

fn view(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    ui.set_width(WIDTH_PT);
    entry(ui, cx, "Search…", Command::OpenSearch, out);
    ui.menu_button("Zoom and steps", |ui| {
        ui.set_width(WIDTH_PT);
        entry(ui, cx, "Whole capture", Command::ShowAll, out);
        entry(ui, cx, "Zoom to selection", Command::ShowSelection, out);
        entry(ui, cx, "Start with the whole capture", Command::StartAnew, out);
        entry(ui, cx, "Back", Command::Back, out);
        entry(ui, cx, "Forward", Command::Forward, out);
        ui.separator();
        entry(ui, cx, "Previous step", Command::PreviousStep, out);
        entry(ui, cx, "Next step", Command::NextStep, out);
    });
    ui.menu_button("Selected item", |ui| {
        ui.set_width(WIDTH_PT);
        let neighbours = [
            ("Previous on the row", Kin::Lane, Side::Before),
            ("Next on the row", Kin::Lane, Side::After),
            ("Previous of the same name", Kin::Name, Side::Before),
            ("Next of the same name", Kin::Name, Side::After),
        ];
        for (text, kin, side) in neighbours {
            entry(ui, cx, text, Command::SelectNeighbour(kin, side), out);
        }
        ui.separator();
        entry(ui, cx, "Select its span", Command::SelectItsSpan, out);
        entry(ui, cx, "Copy its name", Command::CopyName, out);
        entry(ui, cx, "Copy what is known of it", Command::CopyFacts, out);
        entry(ui, cx, "Bookmark it, or the view", Command::AddBookmark, out);
    });
    ui.separator();
    choice(ui, cx.view.marks, "Idle and exposed marks", Command::ToggleMarks, out);
    choice(ui, cx.view.nvtx, "NVTX rows", Command::ToggleNvtx, out);
    ui.menu_button("Colour by", |ui| {
        ui.set_width(WIDTH_PT);
        for coloring in Coloring::ALL {
            choice(ui, cx.view.coloring == coloring, coloring.text(), Command::SetColoring(coloring), out);
        }
        ui.separator();
        choice(ui, cx.view.legend, "Legend", Command::ToggleLegend, out);
    });
    ui.menu_button("Compare ranks", |ui| {
        ui.set_width(WIDTH_PT);
        let compare = cx.view.compare.as_ref();
        for form in CompareForm::ALL {
            let on = compare.is_some_and(|compare| compare.form == form);
            let to = if on { None } else { Some(form) };
            choice(ui, on, form.text(), Command::Compare(CompareCommand::Show(to)), out);
        }
        entry(ui, cx, "Next form", Command::Compare(CompareCommand::NextForm), out);
        ui.separator();
        for link in PaneLink::ALL {
            entry(ui, cx, link_text(link), Command::Compare(CompareCommand::Link(link)), out);
        }
        entry(ui, cx, "Next link", Command::Compare(CompareCommand::NextLink), out);
        ui.separator();
        entry(ui, cx, "Swap the two", Command::Compare(CompareCommand::Swap), out);
    });
    ui.menu_button("Lanes", |ui| super::lane_menu::show(ui, cx, WIDTH_PT, out));
    ui.separator();
    ui.menu_button("Layout", |ui| {
        ui.set_width(WIDTH_PT);
        choice(ui, cx.settings.side, "Side panel", Command::ToggleSidePanel, out);
        let next = format!("Move side panel (now {})", cx.settings.dock.text().to_lowercase());
        entry(ui, cx, &next, Command::MoveSidePanel, out);
        choice(ui, cx.settings.details, "Details panel", Command::ToggleDetails, out);
    });
    ui.menu_button("Panels", |ui| {
        ui.set_width(WIDTH_PT);
        for (panel, text) in PANELS {
            entry(ui, cx, &format!("Show {text}"), Command::ShowPanel(panel), out);
        }
    });
    ui.menu_button("Time axis", |ui| {
        let open = !cx.workspace.docs.is_empty();
        for axis in Axis::ALL {
            let refused = cx.view.zero_of(axis, cx.workspace).refused.filter(|_| open);
            let radio = egui::RadioButton::new(cx.view.axis == axis, axis.text());
            let response = ui.add_enabled(open && refused.is_none(), radio);
            if response.on_disabled_hover_text(refused.unwrap_or("nothing is open")).clicked() {
                out.push(Command::SetAxis(axis));
                ui.close();
            }
        }
        if cx.workspace.job.exports.len() > 1 {
            ui.separator();
            ui.label(RichText::new("Clock of several files").weak());
            super::status::clock_menu(ui, cx, out);
        }
    });
    ui.menu_button("Theme", |ui| {
        for (theme, text) in [(Theme::Dark, "Dark"), (Theme::Light, "Light")] {
            if ui.radio(cx.view.theme == theme, text).clicked() {
                out.push(Command::SetTheme(theme));
                ui.close();
            }
        }
    });
    ui.menu_button("Scale", |ui| {
        for percent in SCALES_PERCENT {
            if ui.radio(cx.settings.scale_percent == percent, format!("{percent} %")).clicked() {
                out.push(Command::SetScale(percent));
                ui.close();
            }
        }
    });
}

/// Tabs of the side panel with their names.
pub const PANELS: [(Panel, &str); 18] = [
    (Panel::Overview, "Overview"),
    (Panel::Steps, "Steps"),
    (Panel::Findings, "Findings"),
    (Panel::Kernels, "Kernels"),
    (Panel::Gaps, "Gaps"),
    (Panel::Communication, "Comm"),
    (Panel::Pipeline, "Pipeline"),
    (Panel::Ranges, "Ranges"),
    (Panel::Launches, "Launches"),
    (Panel::Mfu, "MFU"),
    (Panel::Ranks, "Ranks"),
    (Panel::Heatmap, "Heatmap"),
    (Panel::Differences, "Diff"),
    (Panel::Guide, "Guide"),
    (Panel::Capture, "Capture"),
    (Panel::Selection, "Selection"),
    (Panel::Bookmarks, "Bookmarks"),
    (Panel::Search, "Search"),
];

fn help(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    ui.set_min_width(200.0);
    entry(ui, cx, "Guide", Command::ShowPanel(Panel::Guide), out);
    entry(ui, cx, "How to record a capture", Command::ToggleRecording, out);
    ui.separator();
    entry(ui, cx, "All commands…", Command::TogglePalette, out);
    entry(ui, cx, "Keyboard shortcuts", Command::ToggleHelp, out);
    entry(ui, cx, "About stepscope", Command::ToggleAbout, out);
}
