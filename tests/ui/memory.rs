//! What is remembered between runs: where panels stand, how files were looked at, and files that cannot be read.

use crate::harness::Driven;
use egui_kittest::kittest::Queryable as _;
use std::path::Path;
use stepscope::app::settings::Dock;
use stepscope::app::store::Store;
use stepscope::units::Span;
use stepscope::view::{Command, LaneKey, Panel, RankId, Theme};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn start(folder: &Path) -> Driven {
    let store = Store::new(Some(folder.to_owned()));
    let remembered = store.read();
    Driven::with_store(1280.0, 720.0, store, remembered)
}

fn open(driven: &mut Driven, name: &str) {
    driven.send(Command::Open(vec![name.into()]));
    driven.wait(|window| !window.state().workspace.docs.is_empty());
}

fn end(mut driven: Driven) {
    driven.harness.state_mut().as_mut().unwrap().remember();
}

#[test]
fn a_file_opens_as_it_was_left_and_starts_anew_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut driven = start(folder.path());
    open(&mut driven, "rank0.sqlite");
    let whole = driven.window().state().view.viewport;
    let lane = LaneKey::Compute(RANK);
    for command in [
        Command::Show(Span::new(2_000_000, 5_000_000)),
        Command::ToggleLane(lane),
        Command::ShowPanel(Panel::Kernels),
        Command::SetTheme(Theme::Light),
        Command::SetScale(125),
        Command::MoveSidePanel,
        Command::ToggleDetails,
    ] {
        driven.send(command);
    }
    let left = driven.window().state().view.clone();
    end(driven);

    let mut driven = start(folder.path());
    open(&mut driven, "rank0.sqlite");
    let state = driven.window().state();
    assert_eq!(
        (state.view.viewport, state.view.panel, state.view.theme),
        (left.viewport, Panel::Kernels, Theme::Light)
    );
    assert!(state.view.toggled.contains(&lane));
    let settings = &state.settings;
    assert_eq!((settings.scale_percent, settings.dock, settings.details), (125, Dock::Bottom, false));
    driven.send(Command::CloseAll);
    open(&mut driven, "rank1.sqlite");
    assert!(driven.window().state().view.toggled.is_empty(), "another file was not seen before");
    driven.send(Command::CloseAll);
    open(&mut driven, "rank0.sqlite");
    driven.send(Command::StartAnew);
    let view = &driven.window().state().view;
    assert_eq!((view.viewport, view.toggled.len()), (whole, 0));
}

#[test]
fn settings_of_a_later_version_are_kept_and_the_window_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let later = r#"{"version":7,"theme":"Light","wings":true}"#;
    std::fs::write(folder.path().join("settings.json"), later).unwrap();
    let driven = start(folder.path());
    assert!(driven.shows("kept under another name") && driven.shows("settings.json.aside-1"));
    end(driven);
    assert_eq!(std::fs::read_to_string(folder.path().join("settings.json.aside-1")).unwrap(), later);
    assert!(folder.path().join("settings.json").exists());
}

#[test]
fn the_side_panel_moves_by_its_key_and_is_hidden_by_another() {
    let mut driven = Driven::open();
    let place = |driven: &Driven| driven.harness.get_by_label("Overview").rect();
    let ctrl = egui::Modifiers::COMMAND;
    assert!(place(&driven).left() > 640.0);
    driven.harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::P);
    driven.settle();
    assert!(place(&driven).top() > 300.0 && place(&driven).left() < 640.0, "{:?}", place(&driven));
    driven.harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::P);
    driven.settle();
    assert!(place(&driven).top() < 300.0 && place(&driven).left() < 300.0, "{:?}", place(&driven));
    driven.press(egui::Key::P);
    driven.settle();
    assert!(!driven.window().state().settings.side && !driven.shows("Overview of the rank"));
    driven.harness.key_press_modifiers(ctrl, egui::Key::D);
    driven.settle();
    assert!(!driven.window().state().settings.details);
}

#[test]
fn every_panel_can_be_used_below_the_timeline() {
    use stepscope::app::settings::Settings;
    for (width, height) in [(1280.0, 720.0), (640.0, 480.0)] {
        let settings = Settings { dock: Dock::Bottom, ..Settings::default() };
        let mut driven = Driven::with_settings(width, height, settings);
        driven.send(Command::OpenDemo);
        driven.wait(|window| !window.state().workspace.docs.is_empty());
        for (panel, _) in stepscope::app::panel_names() {
            driven.send(Command::ShowPanel(panel));
            driven.harness.check_accessibility();
        }
    }
}
