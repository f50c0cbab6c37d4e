//! Folders of captures: the list to choose from, summaries, files that fail, labels of ranks.

use crate::harness::Driven;
use crate::job;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use std::path::{Path, PathBuf};
use stepscope::app::state::Overlay;
use stepscope::job::{ExportSummary, file};
use stepscope::sim::{JobConfig, simulate_to_dir};
use stepscope::view::{Choose, Command, RankId, Theme};

/// The summary of rank `rank` of a job on nodes of four.
fn summary(folder: &Path, rank: usize) -> ExportSummary {
    let (trace, analysis) = job::opened(rank % 2, 12);
    let mut summary = ExportSummary::of(&trace, &analysis);
    summary.file = folder.join(format!("rank{rank}.sqlite"));
    summary.host = Some(format!("node{}", rank / 4));
    summary.ranks[0].label = rank.to_string();
    summary
}

fn write_summary(folder: &Path, rank: usize) {
    let bytes = file::write(&summary(folder, rank)).unwrap();
    std::fs::write(folder.join(format!("rank{rank}.summary")), bytes).unwrap();
}

/// A folder of exports, each with its summary.
fn folder(ranks: usize, with_summaries: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..ranks {
        std::fs::write(folder.path().join(format!("rank{rank}.sqlite")), vec![b'x'; 1000 * (ranks - rank)]).unwrap();
        if with_summaries {
            write_summary(&std::fs::canonicalize(folder.path()).unwrap(), rank);
        }
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn open(driven: &mut Driven, paths: &[&Path]) {
    driven.send(Command::Open(paths.iter().map(|path| path.to_path_buf()).collect()));
    driven.wait(|window| !window.state().is_gathering() && !window.state().jobs.is_busy());
}

fn docs(driven: &Driven) -> Vec<String> {
    let docs = &driven.window().state().workspace.docs;
    docs.iter().map(|doc| doc.trace.source.path.display().to_string()).collect()
}

fn chosen(driven: &Driven) -> Vec<String> {
    let (paths, _) = driven.window().state().captures.chosen();
    paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

fn type_filter(driven: &mut Driven, text: &str) {
    driven.harness.get_by_role_and_label(Role::TextInput, "Filter captures").type_text(text);
    driven.settle();
}

#[test]
fn a_folder_of_many_exports_asks_first_and_loads_only_what_is_chosen() {
    let folder = folder(12, true);
    let before = names(folder.path());
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[folder.path()]);
    let state = driven.window().state();
    assert_eq!((state.overlay.clone(), state.workspace.docs.len()), (Some(Overlay::Chooser), 0));
    assert_eq!(state.workspace.job.ranks.len(), 12, "summaries are part of the job at once");
    assert!(driven.shows("12 captures found. 12 summaries are open, with 12 ranks in the job"));
    // By real input: filter, move, tick, open.
    type_filter(&mut driven, "node1");
    driven.press(Key::ArrowDown);
    driven.press(Key::Enter);
    assert_eq!(chosen(&driven), ["rank4"]);
    driven.press(Key::ArrowDown);
    driven.press(Key::Enter);
    driven.press(Key::Enter);
    assert_eq!(chosen(&driven), ["rank4"], "chosen, and no longer");
    driven.click("All");
    assert_eq!(chosen(&driven), ["rank4", "rank5", "rank6", "rank7"]);
    driven.send(Command::Choose(Choose::Filter("rank6".to_owned())));
    assert!(driven.shows("Open 4 exports, 3 of them hidden by the filter"));
    driven.send(Command::Choose(Choose::Filter("rank11".to_owned())));
    assert!(driven.shows("Open 4 exports, hidden by the filter"));
    driven.send(Command::Choose(Choose::Filter("node1".to_owned())));
    driven.click("None");
    driven.click("Choose rank6.sqlite");
    assert!(driven.shows("Open 1 export") && driven.shows("5.9 KiB on disk"), "5859 B");
    driven.harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    let state = driven.window().state();
    assert_eq!(state.overlay, None);
    assert_eq!(names(folder.path()), before, "nothing is written beside exports");
}

#[test]
fn columns_sort_and_buttons_choose_by_node_and_number() {
    let folder = folder(12, true);
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[folder.path()]);
    driven.click("First of each node");
    assert_eq!(chosen(&driven), ["rank0", "rank4", "rank8"]);
    driven.send(Command::Choose(Choose::EveryNth(5)));
    assert_eq!(chosen(&driven), ["rank0", "rank5", "rank10"]);
    driven.send(Command::Choose(Choose::None));
    // The smallest export is the last rank's.
    driven.click("Sort by Size");
    driven.harness.get_by_role_and_label(Role::TextInput, "Filter captures").focus();
    driven.settle();
    driven.press(Key::ArrowDown);
    driven.press(Key::Enter);
    assert_eq!(chosen(&driven), ["rank11"]);
    driven.press(Key::Escape);
    assert!(driven.window().state().overlay.is_none());
    assert!(driven.shows("Open 1 export"), "with nothing else open, the list stays");
    driven.click("Open 1 export");
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    driven.send(Command::ToggleChooser);
    assert!(driven.shows("Choose what to open"));
}

#[test]
fn rows_to_choose_from_are_not_covered_by_what_they_say_themselves() {
    let folder = folder(12, true);
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[folder.path()]);
    let row = driven.harness.get_by_label("Choose rank2.sqlite").rect().center();
    driven.harness.hover_at(row);
    driven.harness.run_steps(60);
    let path = std::fs::canonicalize(folder.path()).unwrap().join("rank2.sqlite");
    assert!(driven.shows(path.to_str().unwrap()), "where it is");
    assert!(!driven.shows("Click to show it"), "a click chooses it");
    assert_eq!(driven.harness.query_all_by_label("Median step").count(), 0, "its columns are not told twice");
}

#[test]
fn a_folder_of_few_opens_at_once_and_names_given_themselves_are_chosen() {
    let few = folder(2, false);
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[few.path()]);
    assert_eq!(docs(&driven), ["gpt_rank0.sqlite", "gpt_rank1.sqlite"]);
    assert!(driven.window().state().overlay.is_none() && driven.window().state().notices.is_empty());

    let many = folder(10, false);
    let mut driven = Driven::empty(1280.0, 720.0);
    let paths: Vec<PathBuf> = (0..9).map(|rank| many.path().join(format!("rank{rank}.sqlite"))).collect();
    open(&mut driven, &paths.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    assert_eq!((chosen(&driven).len(), docs(&driven).len()), (9, 0));
    assert!(driven.shows("9 captures found. Nothing is read before you choose."));
}

#[test]
fn exports_without_summaries_tell_their_node_a_moment_later() {
    let job = tempfile::tempdir().unwrap();
    let cfg = JobConfig { ranks: 1, steps: 1, layers: 1, ..JobConfig::default() };
    let written = simulate_to_dir(&cfg, job.path(), false, &mut |_| {}).unwrap();
    let many = tempfile::tempdir().unwrap();
    for rank in 0..9 {
        std::fs::copy(&written.files[0], many.path().join(format!("rank{rank}.sqlite"))).unwrap();
    }
    let mut driven = Driven::empty(1280.0, 720.0);
    driven.send(Command::Open(vec![many.path().to_owned()]));
    driven.wait(|window| window.state().captures.entries.iter().filter(|entry| entry.node().is_some()).count() == 9);
    driven.click("First of each node");
    assert_eq!(chosen(&driven), ["rank0"]);
    assert_eq!(names(many.path()).len(), 9, "nothing is written beside exports");
}

#[test]
fn what_fails_is_told_once_and_the_rest_opens() {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..3 {
        write_summary(folder.path(), rank);
    }
    let whole = std::fs::read(folder.path().join("rank2.summary")).unwrap();
    std::fs::write(folder.path().join("rank2.summary"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(folder.path().join("rank3.summary"), "notes of mine").unwrap();
    std::fs::create_dir(folder.path().join("rank4.summary")).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[folder.path(), empty.path(), Path::new("/nowhere/rank9.summary")]);
    let state = driven.window().state();
    assert_eq!((state.workspace.job.ranks.len(), state.notices.len()), (2, 1));
    let notice = &state.notices[0];
    assert_eq!(notice.title, "Could not open 4 files");
    for part in [
        "rank2.summary: the summary is cut or damaged",
        "rank3.summary: this is no summary",
        "holds no file",
        "rank9.summary: cannot be read",
    ] {
        assert!(notice.message.contains(part), "{part} in {}", notice.message);
    }
    assert!(!notice.message.contains("rank4"), "a folder is no summary, whatever it is called");
}

#[test]
fn an_export_wins_over_its_summary_and_ranks_are_opened_from_the_job() {
    let folder = tempfile::tempdir().unwrap();
    // Summaries of what the opener gives for these names, so that they are of the same run.
    for rank in 0..2 {
        let (trace, analysis) = job::opened(rank, 12);
        let summary = ExportSummary::of(&trace, &analysis);
        std::fs::write(folder.path().join(format!("r{rank}.summary")), file::write(&summary).unwrap()).unwrap();
    }
    std::fs::write(folder.path().join("gpt_rank1.sqlite"), "").unwrap();
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[&folder.path().join("r0.summary"), &folder.path().join("r1.summary")]);
    let state = driven.window().state();
    assert_eq!((state.workspace.job.ranks.len(), state.workspace.docs.len()), (2, 0));
    assert!(driven.shows("Choose gpt_rank1.sqlite") && driven.shows("summary only"));
    driven.send(Command::OpenRank(1));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    let workspace = &driven.window().state().workspace;
    assert_eq!((workspace.job.exports.len(), workspace.job.ranks.len()), (2, 2), "told once");
    assert_eq!(workspace.open_rank(0), Some(RankId { doc: 0, rank: 0 }));
    assert_eq!(workspace.job.ranks[0].label, "1");
    driven.send(Command::OpenRank(1));
    assert!(driven.shows("The export of rank 0 is not there") && driven.shows("gpt_rank0.sqlite was neither found"));
    driven.send(Command::Dismiss);
    driven.send(Command::CloseAll);
    assert!(driven.shows("Open demo") && driven.window().state().workspace.job.ranks.is_empty());
}

#[test]
fn a_renamed_rank_is_called_so_everywhere_and_again_when_it_is_opened_next_time() {
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[Path::new("/x/rank0.sqlite"), Path::new("/x/rank1.sqlite")]);
    let rank = RankId { doc: 1, rank: 0 };
    driven.send(Command::AskRankName(rank));
    let hint = "What this rank is called from now on; empty brings back what the file tells.";
    let field = driven.harness.get_by_role_and_label(Role::TextInput, hint);
    field.type_text(" slow");
    driven.settle();
    driven.press(Key::Enter);
    let label = |driven: &Driven| driven.window().state().workspace.label(rank).to_owned();
    assert_eq!(label(&driven), "1 slow");
    assert_eq!(driven.window().state().workspace.job.ranks[1].label, "1 slow");
    driven.send(Command::TogglePalette);
    driven.harness.get_by_role_and_label(Role::TextInput, "Command").type_text("rename slow");
    driven.settle();
    assert!(driven.shows("Rename rank 1 slow…"));
    driven.send(Command::Dismiss);
    let saved = tempfile::tempdir().unwrap();
    driven.send(Command::SaveSessionTo(saved.path().join("run")));
    driven.send(Command::CloseAll);
    open(&mut driven, &[Path::new("/x/rank0.sqlite"), Path::new("/x/rank1.sqlite")]);
    assert_eq!(label(&driven), "1 slow", "as the file was left");
    driven.send(Command::RenameRank(rank, "  ".to_owned()));
    assert_eq!(label(&driven), "1");
    driven.send(Command::RenameRank(rank, "0".to_owned()));
    assert_eq!(label(&driven), "0 (gpt_rank1)", "told apart by the file");
    let text = std::fs::read_to_string(saved.path().join("run.stepscope.toml")).unwrap();
    assert!(text.contains(r#"labels = ["1 slow"]"#), "{text}");
}

#[test]
fn two_files_of_one_rank_raise_a_question_once() {
    let mut driven = Driven::empty(1280.0, 720.0);
    // The opener answers both with rank 1; the second has another name.
    open(&mut driven, &[Path::new("/x/rank1.sqlite"), Path::new("/x/same1.sqlite")]);
    let state = driven.window().state();
    assert_eq!(state.notices.len(), 1);
    assert_eq!(state.notices[0].title, "Two files call themselves the same rank");
    assert!(state.notices[0].message.starts_with("Rank 1 is in gpt_rank1.sqlite and in same1.sqlite"));
    driven.send(Command::Dismiss);
    open(&mut driven, &[Path::new("/x/rank2.sqlite")]);
    assert!(driven.window().state().notices.is_empty());
}

#[test]
fn a_session_keeps_summaries_clock_and_shifts() {
    let folder = tempfile::tempdir().unwrap();
    write_summary(folder.path(), 5);
    let mut driven = Driven::empty(1280.0, 720.0);
    open(&mut driven, &[Path::new("gpt_rank0.sqlite"), Path::new("gpt_rank1.sqlite")]);
    open(&mut driven, &[folder.path()]);
    driven.send(Command::SetClock(stepscope::job::ClockMode::Wall));
    driven.send(Command::ShiftDoc { doc: 1, by_ns: 1_234 });
    driven.send(Command::SaveSessionTo(folder.path().join("run")));
    let path = folder.path().join("run.stepscope.toml");
    let mut again = Driven::empty(1280.0, 720.0);
    open(&mut again, &[&path]);
    let of = |driven: &Driven| {
        let workspace = &driven.window().state().workspace;
        let options = workspace.options.clone();
        (workspace.docs.len(), workspace.job.ranks.len(), options.clock, options.shift_ns)
    };
    assert_eq!(of(&again), (2, 3, stepscope::job::ClockMode::Wall, vec![0, 1_234]));
    assert_eq!(of(&again), of(&driven));
}

/// The list of 40 ranks, with the first of each node chosen and the keyboard on the first row.
fn picture(theme: Theme, name: &str) {
    let folder = folder(40, true);
    let mut driven = Driven::empty(1280.0, 720.0);
    driven.send(Command::SetTheme(theme));
    open(&mut driven, &[folder.path()]);
    driven.send(Command::Choose(Choose::FirstOfEachNode));
    driven.press(Key::ArrowDown);
    // The field's caret blinks.
    driven.press(Key::Tab);
    driven.harness.snapshot(name);
}

#[test]
fn the_list_looks_right_on_dark() {
    picture(Theme::Dark, "chooser_dark");
}

#[test]
fn the_list_looks_right_on_light() {
    picture(Theme::Light, "chooser_light");
}
