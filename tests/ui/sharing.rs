//! Links, sessions, folders, and files that are replaced on disk while they are open.

use crate::harness::{Driven, Fake};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stepscope::app::settings::Settings;
use stepscope::app::state::AppState;
use stepscope::job::ClockMode;
use stepscope::sim::{JobConfig, preset, simulate_to_dir};
use stepscope::task::Wake;
use stepscope::units::Span;
use stepscope::view::{Command, LaneKey, Panel, RankId, ViewState};

const LANE: LaneKey = LaneKey::Compute(RankId { doc: 1, rank: 0 });

fn two_files() -> Driven {
    let mut driven = Driven::empty(1280.0, 720.0);
    driven.send(Command::Open(vec!["rank0.sqlite".into(), "rank1.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    for command in [
        Command::Show(Span::new(2_000_000, 5_000_000)),
        Command::SelectSpan(Some(Span::new(2_500_000, 3_000_000))),
        Command::ChooseRank(RankId { doc: 1, rank: 0 }),
        Command::ShowPanel(Panel::Kernels),
        Command::ToggleLane(LANE),
    ] {
        driven.send(command);
    }
    driven
}

/// What of a view a link holds.
fn shared(view: &ViewState) -> (f64, f64, Option<Span>, Option<RankId>, Panel) {
    (view.viewport.start_ns, view.viewport.len_ns, view.selected_span, view.rank, view.panel)
}

#[test]
fn a_copied_link_shows_the_same_again_when_it_is_pasted() {
    let mut driven = two_files();
    driven.send(Command::SetClock(ClockMode::Wall));
    driven.send(Command::ShiftDoc { doc: 1, by_ns: 1_234 });
    driven.settle();
    let before = shared(&driven.window().state().view);
    // Alone in its frame, whose output holds what goes to the clipboard.
    let press = egui::Event::Key {
        key: Key::L,
        pressed: true,
        modifiers: Modifiers::COMMAND,
        repeat: false,
        physical_key: None,
    };
    driven.harness.input_mut().events.push(press);
    let link = driven.copied(|_| {});
    assert!(link.starts_with("stepscope:1?file=") && link.contains("gpt_rank1.sqlite"), "{link}");
    driven.settle();
    assert!(driven.shows("Link copied"));

    let mut again = Driven::empty(1280.0, 720.0);
    again.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::L);
    again.settle();
    let hint = "A link that was copied from the File menu: stepscope:1?file=…";
    again.harness.get_by_role_and_label(egui::accesskit::Role::TextInput, hint).type_text(&link);
    again.settle();
    again.press(Key::Enter);
    again.wait(|window| window.state().workspace.docs.len() == 2);
    assert_eq!(shared(&again.window().state().view), before);
    let options = &again.window().state().workspace.options;
    assert_eq!((options.clock, options.shift_ns.as_slice()), (ClockMode::Wall, &[0, 1_234][..]));
}

#[test]
fn bad_links_are_refused_with_a_reason_and_change_nothing() {
    let mut driven = two_files();
    for (link, reason) in [
        ("rank0.sqlite", "this is no link"),
        ("stepscope:9?file=a", "form 9"),
        ("stepscope:1?file=/a&colour=red", "colour"),
    ] {
        driven.send(Command::OpenLinkText(link.to_owned()));
        assert!(driven.shows("The link was not opened") && driven.shows(reason), "{link}");
        driven.send(Command::Dismiss);
    }
    driven.send(Command::OpenLinkText("stepscope:1?file=/missing0.sqlite".to_owned()));
    assert!(driven.shows("A file is missing") && driven.shows("missing0"));
    assert_eq!(driven.window().state().workspace.docs.len(), 2, "what is open stays");
}

#[test]
fn missing_files_are_told_and_the_rest_is_opened() {
    let mut driven = Driven::empty(1280.0, 720.0);
    let link = "stepscope:1?file=/missing0.sqlite&file=/rank1.sqlite&start=1000000&len=2000000&rank=1.0";
    driven.send(Command::OpenLinkText(link.to_owned()));
    assert!(driven.shows("A file is missing") && driven.shows("The other files are opened."));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    assert_eq!(driven.window().state().view.viewport.len_ns, 2_000_000.0);
}

#[test]
fn ranks_beside_each_other_that_are_not_open_are_told() {
    let open = |files: &[&str], compare: &str, count: usize| {
        let mut driven = Driven::empty(1280.0, 720.0);
        let files: Vec<String> = files.iter().map(|file| format!("file={file}.sqlite")).collect();
        let link = format!("stepscope:1?{}&compare={compare},stacked,time,0,5000", files.join("&"));
        driven.send(Command::OpenLinkText(link));
        driven.wait(|window| window.state().workspace.docs.len() == count);
        driven
    };
    let ranks = |driven: &Driven| driven.window().state().view.compare.as_ref().map(|compare| compare.ranks);
    let told = "Two ranks are not shown beside each other";
    let both = [0, 1].map(|doc| RankId { doc, rank: 0 });
    let all = open(&["gpt_rank0", "gpt_rank1"], "0.0,1.0", 2);
    assert_eq!((ranks(&all), all.shows(told)), (Some(both), false));
    // A missing file moves those behind it up: they are still the same two.
    let mut moved = open(&["missing0", "gpt_rank0", "gpt_rank1"], "1.0,2.0", 2);
    assert!(moved.shows("A file is missing"));
    moved.send(Command::Dismiss);
    assert_eq!((ranks(&moved), moved.shows(told)), (Some(both), false));
    let mut lacking = open(&["missing0", "gpt_rank0", "gpt_rank1"], "0.0,1.0", 2);
    lacking.send(Command::Dismiss);
    assert!(lacking.shows(told) && lacking.shows("missing0.sqlite, rank 1 of the file"));
    assert_eq!(ranks(&lacking), None, "no other file takes its place");
    let fewer = open(&["gpt_rank0", "gpt_rank1"], "0.0,1.7", 2);
    assert!(fewer.shows(told) && fewer.shows("rank 8 of the file") && !fewer.shows("rank 1 of the file"));
}

#[test]
fn a_session_is_saved_and_opened_with_its_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let mut driven = two_files();
    let before = driven.window().state().view.clone();
    driven.send(Command::SaveSessionTo(folder.path().join("run")));
    let path = folder.path().join("run.stepscope.toml");
    assert!(driven.shows("Saved ") && path.exists());
    driven.send(Command::CloseAll);
    driven.send(Command::Open(vec![path]));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    let view = &driven.window().state().view;
    assert_eq!(shared(view), shared(&before));
    assert!(view.toggled.contains(&LANE));
    let bad = folder.path().join("bad.stepscope.toml");
    std::fs::write(&bad, "[session]\nversion = 1\n[[file]]\npath = \"a\"\ncolour = 1\n").unwrap();
    driven.send(Command::Open(vec![bad]));
    assert!(driven.shows("The session was not opened") && driven.shows("colour"));
}

#[test]
fn a_dropped_folder_opens_the_exports_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["rank1.sqlite", "rank0.SQLITE", "notes.txt"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let mut driven = Driven::empty(1280.0, 720.0);
    driven.send(Command::Open(vec![folder.path().to_owned()]));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    let empty = tempfile::tempdir().unwrap();
    driven.send(Command::Open(vec![empty.path().to_owned()]));
    driven.wait(|window| !window.state().notices.is_empty());
    assert!(driven.shows("No export: ") && driven.shows("Folders inside it are not searched"));
}

fn wait_for(state: &mut AppState, holds: impl Fn(&AppState) -> bool) {
    for _ in 0..2000 {
        state.poll();
        if holds(state) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("waited in vain");
}

#[test]
fn a_replaced_file_is_read_anew_in_its_place_and_the_view_stays() {
    let mut state = AppState::new(Arc::new(Fake::default()), Wake::new(|| {}), Settings::default());
    state.apply(Command::Open(vec!["rank0.sqlite".into(), "rank1.sqlite".into()]));
    wait_for(&mut state, |state| state.workspace.docs.len() == 2);
    state.apply(Command::Show(Span::new(2_000_000, 5_000_000)));
    state.apply(Command::ToggleLane(LANE));
    let before = (state.view.viewport, state.view.toggled.clone());
    let read = Arc::as_ptr(&state.workspace.docs[0].trace);
    let path: PathBuf = std::path::absolute(Path::new("gpt_rank0.sqlite")).unwrap();
    state.tell_replaced(vec![path.clone(), "/not/open.sqlite".into()]);
    assert_eq!(state.replaced(), [path]);
    state.apply(Command::Reload);
    assert!(state.replaced().is_empty() && state.jobs.is_busy());
    wait_for(&mut state, |state| !state.jobs.is_busy());
    assert_eq!(state.workspace.docs.len(), 2);
    assert_ne!(Arc::as_ptr(&state.workspace.docs[0].trace), read);
    assert_eq!((state.view.viewport, state.view.toggled.clone()), before);
}

/// A simulated rank in a file of its own, and another to take its place.
fn one_file() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let cfg = JobConfig { steps: 2, layers: 2, ..preset("straggler-clock").unwrap() };
    let files = simulate_to_dir(&cfg, folder.path(), false, &mut |_| {}).unwrap().files;
    (folder, files[0].clone(), files[1].clone())
}

fn open_one(driven: &mut Driven, file: &Path) {
    driven.send(Command::Open(vec![file.to_owned()]));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
}

#[test]
fn reload_looks_at_the_files_itself_and_says_when_none_was_changed() {
    let (_folder, file, other) = one_file();
    let mut driven = Driven::empty(1280.0, 720.0);
    open_one(&mut driven, &file);
    let read = Arc::clone(&driven.window().state().workspace.docs[0].trace);
    driven.harness.key_press_modifiers(Modifiers::COMMAND, Key::R);
    driven.settle();
    assert!(driven.shows("No open file was changed on disk"));
    assert!(Arc::ptr_eq(&read, &driven.window().state().workspace.docs[0].trace));
    std::fs::rename(other, &file).unwrap();
    driven.harness.key_press_modifiers(Modifiers::COMMAND, Key::R);
    driven.wait(|window| !Arc::ptr_eq(&read, &window.state().workspace.docs[0].trace));
    assert!(driven.window().state().replaced().is_empty() && !driven.shows("No open file was changed"));
}

#[test]
fn that_a_file_was_replaced_is_told_where_it_covers_nothing() {
    let (_folder, file, other) = one_file();
    let mut driven = Driven::empty(1280.0, 720.0);
    open_one(&mut driven, &file);
    // The overview of the capture and the lanes.
    let timeline = |driven: &Driven| {
        let of = |role| driven.harness.query_all_by_role(role).map(|node| node.rect()).collect::<Vec<_>>();
        let parts = [egui::accesskit::Role::Slider, egui::accesskit::Role::Canvas].map(of).concat();
        parts.into_iter().reduce(egui::Rect::union).unwrap()
    };
    let before = timeline(&driven);
    std::fs::rename(other, &file).unwrap();
    // Files are looked at when the window gets the focus.
    for focused in [false, true] {
        driven.harness.input_mut().focused = focused;
        driven.settle();
    }
    driven.wait(|window| !window.state().replaced().is_empty());
    let told = driven.harness.get_by_label_contains("replaced on disk").rect();
    let after = timeline(&driven);
    assert!(told.bottom() <= after.top() && after.top() > before.top(), "{told:?} over {after:?}, before {before:?}");
    driven.harness.snapshot("replaced_dark");
    driven.click("Keep what is open");
    assert!(!driven.shows("replaced on disk") && timeline(&driven) == before);
}

#[test]
fn a_link_to_what_is_selected_shows_the_panel_about_it() {
    let selection = "stepscope:1?file=/rank1.sqlite&start=1000000&len=9000000&select=2000000..4000000&panel=Selection";
    let kernels = "stepscope:1?file=/rank1.sqlite&panel=Kernels";
    for (link, shown) in [(selection, true), (kernels, false)] {
        let mut driven = Driven::with_settings(1280.0, 720.0, Settings { side: false, ..Settings::default() });
        driven.send(Command::OpenLinkText(link.to_owned()));
        driven.wait(|window| window.state().workspace.docs.len() == 1);
        assert_eq!(driven.window().state().settings.side, shown, "{link}");
        assert_eq!(driven.shows("Zoom to it"), shown, "{link}");
    }
}

#[test]
fn a_second_file_may_be_opened_while_the_first_loads_and_the_window_may_close_meanwhile() {
    let mut driven = Driven::empty(1280.0, 720.0);
    driven.send(Command::Open(vec!["hang.sqlite".into()]));
    driven.wait(|window| window.state().jobs.is_busy());
    driven.send(Command::Open(vec!["rank1.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    assert!(driven.window().state().jobs.is_busy(), "the first still loads");
    driven.fake.release();
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven.send(Command::Open(vec!["hang2/hang.sqlite".into(), "rank3.sqlite".into()]));
    drop(driven);
}
