//! Screens, messages, menus.

use crate::harness::Driven;
use egui_kittest::kittest::Queryable as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stepscope::app::settings::Settings;
use stepscope::view::{Command, Theme};

#[test]
fn the_first_screen_says_what_to_do() {
    let mut driven = Driven::empty(500.0, 300.0);
    assert!(driven.shows("Open files…") && driven.shows("Open demo"));
    driven.harness.snapshot("welcome_dark");
    driven.send(Command::SetTheme(Theme::Light));
    driven.harness.snapshot("welcome_light");
}

#[test]
fn recent_files_are_offered_and_open() {
    let mut settings = Settings::default();
    settings.opened("/captures/rank1.sqlite".as_ref());
    let mut driven = Driven::with_settings(900.0, 600.0, settings);
    driven.click("rank1.sqlite");
    driven.wait(|window| window.state().workspace.docs.len() == 1);
}

#[test]
fn the_demo_opens_from_the_first_screen() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.click("Open demo");
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    assert!(driven.window().state().settings.recent.is_empty(), "the demo is no recent file");
}

#[test]
fn a_failed_file_shows_why_and_keeps_what_is_open() {
    let mut driven = Driven::open();
    driven.send(Command::Open(vec!["/x/bad.sqlite".into()]));
    driven.wait(|window| !window.state().notices.is_empty());
    assert!(driven.shows("Could not open bad.sqlite") && driven.shows("is a text file. Export it again."));
    assert_eq!(driven.window().state().workspace.docs.len(), 2);
    driven.click("Close");
    assert!(!driven.shows("Could not open bad.sqlite"));
}

#[test]
fn every_file_of_a_batch_that_failed_is_named() {
    let mut driven = Driven::empty(900.0, 600.0);
    let paths = ["/x/bad.sqlite", "/x/rank0.sqlite", "/x/rep.nsys-rep", "/x/worse.sqlite"];
    driven.send(Command::Open(paths.map(PathBuf::from).to_vec()));
    driven.wait(|window| window.state().notices.len() == 2);
    assert!(driven.shows("rep.nsys-rep has to be converted first") && driven.shows("1 more message"));
    driven.click("Close");
    assert!(driven.shows("Could not open 2 files") && driven.shows("bad.sqlite is a text file"));
    assert!(driven.shows("worse.sqlite is empty"));
    driven.click("Close");
    assert_eq!((driven.window().state().notices.len(), driven.window().state().workspace.docs.len()), (0, 1));
}

#[test]
fn the_message_of_a_failed_file_fits_a_small_window() {
    let mut driven = Driven::empty(500.0, 300.0);
    driven.send(Command::Open(vec!["/x/bad.sqlite".into()]));
    driven.wait(|window| !window.state().notices.is_empty());
    driven.harness.snapshot("failed");
}

#[test]
fn a_capture_offers_to_be_converted() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(Command::Open(vec!["/x/rep.nsys-rep".into()]));
    driven.wait(|window| !window.state().notices.is_empty());
    assert!(driven.shows("Convert into a folder…"));
    driven.send(Command::Dismiss);
    driven.send(Command::Convert { report: "/x/rep.nsys-rep".into(), folder: "/y".into() });
    driven.wait(|window| window.state().workspace.docs.len() == 1);
}

#[test]
fn an_opener_that_panics_is_a_message_not_a_crash() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(Command::Open(vec!["/x/panic.sqlite".into()]));
    driven.wait(|window| !window.state().notices.is_empty());
    assert!(driven.shows("Could not open panic.sqlite"));
}

#[test]
fn menus_close_all_files() {
    let mut driven = Driven::open();
    driven.click("File");
    driven.click("Close all");
    assert!(driven.window().state().workspace.docs.is_empty());
    assert!(driven.shows("Open demo"));
}

#[test]
fn every_menu_fits_a_small_window_at_twice_the_scale() {
    let mut driven = Driven::open();
    driven.harness.set_size([640.0, 400.0].into());
    driven.settle();
    driven.click("View");
    for name in ["Zoom and steps", "Compare ranks", "Theme", "Scale", "Panels", "NVTX rows"] {
        let found = driven.harness.query_all_by_label_contains(name).map(|node| node.rect()).collect::<Vec<_>>();
        assert!(!found.is_empty(), "{name}");
        assert!(found.iter().all(|rect| rect.bottom() <= 400.0 && rect.right() <= 640.0), "{name}: {found:?}");
    }
}

#[test]
fn help_lists_every_shortcut_of_the_table() {
    let mut driven = Driven::open();
    driven.send(Command::ToggleHelp);
    for shortcut in stepscope::view::shortcuts::SHORTCUTS {
        assert!(driven.shows(shortcut.help), "{}", shortcut.help);
    }
    for action in ["Shift+drag", "Drag on the ruler", "Middle click", "Wheel"] {
        assert!(driven.shows(action), "{action}");
    }
    driven.send(Command::ToggleHelp);
    driven.send(Command::ToggleAbout);
    assert!(driven.shows(env!("CARGO_PKG_VERSION")));
}

#[test]
fn files_over_the_window_are_announced_and_open_when_dropped() {
    let mut driven = Driven::empty(900.0, 600.0);
    let hovered = egui::HoveredFile { path: Some("/x/rank0.sqlite".into()), ..egui::HoveredFile::default() };
    driven.harness.input_mut().hovered_files = vec![hovered];
    driven.harness.run_steps(2);
    let before = driven.harness.render().unwrap();
    driven.harness.input_mut().hovered_files.clear();
    driven.harness.run_steps(2);
    assert_ne!(before, driven.harness.render().unwrap(), "the drop target covers the window");
    for name in ["/x/rank0.sqlite", "/x/rank1.sqlite"] {
        driven.harness.input_mut().dropped_files.push(Arc::new(Dropped(name.into())));
    }
    driven.wait(|window| window.state().workspace.docs.len() == 2);
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("the window opens files by path".to_owned())
    }
}

#[test]
fn the_view_is_saved_as_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("view.png");
    let mut driven = Driven::open();
    driven.send(Command::SavePictureTo(path.clone()));
    driven.wait(|window| window.state().status.is_some());
    assert!(driven.shows("Saved"));
    let picture = image::open(&path).unwrap();
    assert_eq!((picture.width(), picture.height()), (1280, 720));
    driven.send(Command::ShowAll);
    assert_eq!(driven.window().state().status, None, "the next command clears the message");
}

type Save = fn(PathBuf) -> Command;

#[test]
fn a_save_that_fails_says_where_and_keeps_the_typed_path() {
    let folder = tempfile::tempdir().unwrap();
    let mut driven = Driven::open();
    let saves: [(Save, &str); 3] = [
        (Command::SavePictureTo, "view.png"),
        (Command::SaveReportTo, "report.html"),
        (Command::SaveSettingsTo, "stepscope.toml"),
    ];
    for (save, name) in saves {
        let path = folder.path().join("nowhere").join(name);
        driven.send(save(path.clone()));
        driven.wait(|window| !window.state().notices.is_empty());
        let message = &driven.window().state().notices[0].message;
        assert!(message.contains(path.to_str().unwrap()) && message.contains("choose another"), "{message}");
        assert!(!message.contains("nowhere/.tmp"), "{message}");
        driven.send(Command::Dismiss);
        let field = driven.harness.get_by_role(egui::Role::TextInput);
        assert_eq!(field.value().as_deref(), path.to_str());
        driven.send(Command::Dismiss);
        assert_eq!(driven.window().state().overlay, None);
    }
    // Another question starts with an empty field.
    driven.send(Command::TypePath);
    let field = driven.harness.get_by_role(egui::Role::TextInput);
    assert_eq!(field.value().unwrap_or_default(), "");
}

#[test]
fn the_report_is_saved_in_the_form_of_its_ending() {
    let folder = tempfile::tempdir().unwrap();
    let mut driven = Driven::open();
    for (name, start) in [("a.html", "<!DOCTYPE html>"), ("a.md", "# stepscope report"), ("a.json", "{\n  \"version\"")]
    {
        let path = folder.path().join(name);
        driven.send(Command::SaveReportTo(path.clone()));
        driven.wait(|window| window.state().status.is_some());
        assert!(driven.shows("Saved"));
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(start), "{name}");
    }
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(page.matches("data:image/png").count() >= 2, "the whole capture in both themes at least");
    std::fs::write(folder.path().join("b.md"), "my notes").unwrap();
    for name in ["b.md", "b.docx"] {
        driven.send(Command::SaveReportTo(folder.path().join(name)));
        driven.wait(|window| !window.state().notices.is_empty());
        assert!(driven.shows("The report was not saved"), "{name}");
        driven.send(Command::Dismiss);
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("b.md")).unwrap(), "my notes");
    assert!(!folder.path().join("b.docx").exists());
}

#[test]
fn scale_and_theme_are_remembered() {
    let mut driven = Driven::open();
    driven.send(Command::SetScale(150));
    driven.send(Command::SetScale(7));
    driven.send(Command::SetTheme(Theme::Light));
    driven.send(Command::ToggleNvtx);
    let settings = Settings::from_text(&driven.window().state().settings.to_text());
    assert_eq!((settings.scale_percent, settings.theme, settings.nvtx), (150, Theme::Light, false));
    assert_eq!(driven.harness.ctx.zoom_factor(), 1.5);
}
