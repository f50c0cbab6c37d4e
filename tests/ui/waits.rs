//! Several ranks of a simulated job on one clock: waits, counterparts, clocks and shifts, by keys, pointer and menus.

use crate::harness::Driven;
use crate::selection::drag;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2};
use egui_kittest::kittest::Queryable as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use stepscope::job::ClockMode;
use stepscope::sim::{JobConfig, preset, simulate_to_dir};
use stepscope::units::Span;
use stepscope::view::{Command, Item, LaneCommand, LaneKey, Panel, RankId, Theme};

const OTHER: RankId = RankId { doc: 1, rank: 0 };

/// Exports of a simulated job; made once, gone when the tests end.
fn exports(name: &'static str, slot: &'static OnceLock<(tempfile::TempDir, Vec<PathBuf>)>) -> Vec<PathBuf> {
    let made = slot.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let cfg = JobConfig { steps: 4, layers: 4, ..preset(name).unwrap() };
        let files = simulate_to_dir(&cfg, folder.path(), false, &mut |_| {}).unwrap().files;
        (folder, files)
    });
    made.1.clone()
}

fn opened(width_pt: f32, height_pt: f32, files: Vec<PathBuf>) -> Driven {
    let mut driven = Driven::empty(width_pt, height_pt);
    let count = files.len();
    driven.send(Command::Open(files));
    driven.wait(|window| window.state().workspace.docs.len() == count);
    driven
}

/// Four ranks, of which rank 2 has a slow card.
fn straggler(width_pt: f32, height_pt: f32) -> Driven {
    static FILES: OnceLock<(tempfile::TempDir, Vec<PathBuf>)> = OnceLock::new();
    opened(width_pt, height_pt, exports("straggler-clock", &FILES))
}

/// Two ranks, one of which has a wall clock that is wrong by seconds.
fn wrong_clock() -> Driven {
    static FILES: OnceLock<(tempfile::TempDir, Vec<PathBuf>)> = OnceLock::new();
    opened(1280.0, 720.0, exports("wall-clock-wrong", &FILES))
}

/// The kernels of the collective that rank 0 waited for longest, by rank.
fn longest_wait(driven: &Driven) -> Vec<Item> {
    let job = &driven.window().state().workspace.job;
    let all = job.groups.iter().enumerate().flat_map(|(at, group)| (0..group.count).map(move |number| (at, number)));
    let wait_ns = |&(at, number): &(usize, usize)| job.matched(at, number).unwrap().members.first().unwrap().1.wait_ns;
    let (at, number) = all.max_by_key(wait_ns).unwrap();
    let member = |member: usize| {
        let (rank, op) = job.op_of(at, member, number).unwrap();
        Item::Op(RankId { doc: rank.at.export, rank: rank.at.rank }, op)
    };
    (0..job.groups[at].members.len()).map(member).collect()
}

fn end_ns(driven: &Driven, item: Item) -> i64 {
    item.span(&driven.window().state().workspace).unwrap().end_ns
}

#[test]
fn the_details_say_who_was_waited_for_and_lead_to_the_others() {
    let mut driven = straggler(1280.0, 900.0);
    let kernels = longest_wait(&driven);
    driven.send(Command::Select(kernels.first().copied()));
    assert!(driven.shows("for rank 2 (clock ±") && driven.shows("of the transfer"));
    assert!(driven.shows("On other ranks"));
    assert_eq!(driven.harness.query_all_by_label_contains(" later ±").count(), 1, "rank 2 came later than rank 0");
    driven.click("Rank 2");
    assert_eq!(driven.window().state().view.selected, kernels.get(2).copied());
    assert!(driven.shows("started last") && !driven.shows("for rank 2"));
    driven.send(Command::Select(Some(Item::Step(OTHER, 2))));
    driven.click("Rank 3");
    assert_eq!(driven.window().state().view.selected, Some(Item::Step(RankId { doc: 3, rank: 0 }, 2)));
}

#[test]
fn who_was_late_is_no_evidence_once_a_file_is_shifted_and_every_place_says_so() {
    let mut driven = straggler(1280.0, 900.0);
    let kernels = longest_wait(&driven);
    let doubt = "No evidence of who was late: files were shifted by hand.";
    driven.send(Command::Select(kernels.first().copied()));
    driven.send(Command::ToggleLegend);
    driven.send(Command::ShowPanel(Panel::Overview));
    assert!(driven.shows("Most of this is waiting for a rank that starts later") && !driven.shows("No evidence"));
    driven.send(Command::ShiftDoc { doc: 2, by_ns: 1_000_000 });
    driven.wait(|window| !window.state().workspace.job.moving);
    assert!(!driven.shows("Most of this is waiting for a rank that starts later"), "no such advice");
    let count = |driven: &Driven| driven.harness.query_all_by_label_contains(doubt).count();
    assert_eq!(count(&driven), 3, "in the details, the legend, and beside exposed communication");
    assert!(driven.shows("Waiting (clock in doubt)"), "in the legend");
    driven.send(Command::ToggleLegend);
    driven.send(Command::Select(None));
    for (panel, places) in [(Panel::Communication, 1), (Panel::Ranks, 3), (Panel::Heatmap, 0), (Panel::Overview, 1)] {
        driven.send(Command::ShowPanel(panel));
        assert_eq!(count(&driven), places, "{panel:?}");
    }
    driven.send(Command::ShowPanel(Panel::Heatmap));
    driven.click("Wait");
    assert_eq!(count(&driven), 1, "of waits only");
    driven.send(Command::ResetShifts);
    driven.wait(|window| !window.state().workspace.job.moving);
    assert!(!driven.shows("No evidence"));
}

#[test]
fn one_rank_says_that_waiting_cannot_be_told_apart() {
    let mut driven = Driven::empty(1280.0, 720.0);
    driven.send(Command::Open(vec!["/x/rank0.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    let comm = |window: &stepscope::app::Window| {
        let numbers = window.state().workspace.docs.first().unwrap().analysis.ranks.first().unwrap();
        numbers.communication.kernels.first().unwrap().op
    };
    let op = comm(driven.window());
    driven.send(Command::Select(Some(Item::Op(RankId { doc: 0, rank: 0 }, op))));
    assert!(driven.shows("one rank only: waiting and transfer cannot be told apart"));
    assert!(!driven.shows("On other ranks"));
}

#[test]
fn every_clock_keeps_the_step_in_view_and_is_told() {
    let mut driven = wrong_clock();
    driven.send(Command::ChooseRank(OTHER));
    driven.send(Command::ShowStep(OTHER, 2));
    let shown = |driven: &Driven| {
        let state = driven.window().state();
        let step = Item::Step(OTHER, 2).span(&state.workspace).unwrap();
        let seen = step.intersect(state.view.viewport.span()).map_or(0, Span::len_ns);
        seen * 100 >= step.len_ns() * 98
    };
    assert!(shown(&driven) && driven.shows("Clock: collectives ±"));
    let texts = ["collectives ±", "step start ±", "wall clock, uncertainty not known", "first event", "collectives ±"];
    for (at, text) in texts.iter().enumerate() {
        driven.press(Key::K);
        assert!(shown(&driven), "press {at}: the step stays in view");
        assert!(driven.shows(&format!("Clock: {text}")), "press {at}: {text}");
    }
    assert_eq!(driven.window().state().workspace.options.clock, ClockMode::Auto, "once around");
    driven.harness.get_by_label_contains("Clock: ").click();
    driven.settle();
    driven.click("Wall clock");
    assert_eq!(driven.window().state().workspace.options.clock, ClockMode::Wall);
    assert!(shown(&driven));
}

#[test]
fn a_file_is_shifted_by_hand_against_the_others_and_back() {
    let mut driven = wrong_clock();
    driven.send(Command::ChooseRank(OTHER));
    driven.send(Command::ShowStep(OTHER, 2));
    let ns_per_pt = {
        let state = driven.window().state();
        // The side panel and the names take the rest of the width; the exact share is asserted by the timeline's tests.
        state.view.viewport.len_ns / 1280.0
    };
    let first = |driven: &Driven| {
        let workspace = &driven.window().state().workspace;
        let x = Item::Step(RankId { doc: 0, rank: 0 }, 2).span(workspace).unwrap().start_ns as f64;
        x - driven.window().state().view.viewport.start_ns
    };
    let before = first(&driven);
    drag(&mut driven, PointerButton::Primary, pos2(420.0, 610.0), pos2(520.0, 610.0), Modifiers::ALT);
    let shift_ns = driven.window().state().workspace.options.shift_ns.clone();
    assert_eq!(shift_ns.first(), Some(&0));
    assert!(shift_ns.get(1).is_some_and(|ns| *ns as f64 > 90.0 * ns_per_pt), "{shift_ns:?}");
    assert!((first(&driven) - before).abs() < 2.0, "the other file stays where it was on screen");
    assert!(driven.shows("rank1 shifted +"), "in the status bar");
    // On the names, back by more than it was moved.
    drag(&mut driven, PointerButton::Primary, pos2(180.0, 610.0), pos2(30.0, 610.0), Modifiers::ALT);
    assert!(driven.window().state().workspace.options.shift_ns.get(1).is_some_and(|ns| *ns < 0));
    assert!(driven.shows("rank1 shifted -"));
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::K);
    driven.settle();
    assert!(driven.window().state().workspace.options.shift_ns.iter().all(|ns| *ns == 0));
    assert!(!driven.shows("shifted"));
    // Without the key a drag moves time.
    drag(&mut driven, PointerButton::Primary, pos2(420.0, 610.0), pos2(520.0, 610.0), Modifiers::NONE);
    assert!(driven.window().state().workspace.options.shift_ns.iter().all(|ns| *ns == 0));
}

fn click(driven: &mut Driven, button: PointerButton, at: Pos2) {
    driven.harness.hover_at(at);
    driven.harness.run_steps(2);
    for pressed in [true, false] {
        driven.harness.event(Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE });
        driven.harness.run_steps(2);
    }
    driven.settle();
}

#[test]
fn the_menu_of_a_kernel_aligns_the_other_files_at_it() {
    let mut driven = wrong_clock();
    let kernels = longest_wait(&driven);
    driven.send(Command::SetClock(ClockMode::Manual));
    driven.send(Command::Lane(LaneCommand::Pin(Some(LaneKey::Communication(OTHER)))));
    let own = kernels[1];
    let span = own.span(&driven.window().state().workspace).unwrap();
    driven.send(Command::Show(span));
    let apart = end_ns(&driven, *kernels.first().unwrap()) - end_ns(&driven, own);
    assert!(apart.abs() > 1000, "{apart}");
    // The pinned lane stands right below the ruler, and the kernel fills it.
    click(&mut driven, PointerButton::Secondary, pos2(600.0, 118.0));
    assert_eq!(driven.window().state().view.selected, Some(own));
    driven.click("Align here");
    let off_ns = end_ns(&driven, *kernels.first().unwrap()) - end_ns(&driven, own);
    assert!(off_ns.abs() <= 1, "{off_ns}");
    let state = driven.window().state();
    let moved = own.span(&state.workspace).unwrap();
    assert!((moved.start_ns as f64 - state.view.viewport.start_ns).abs() < 2.0, "what is aligned at stays in place");
    assert_eq!(state.workspace.options.shift_ns.get(1), Some(&0));
    let before = state.workspace.options.shift_ns.clone();
    driven.send(Command::AlignHere(None));
    assert!(driven.shows("They end together already"));
    assert_eq!(driven.window().state().workspace.options.shift_ns, before);
}

/// Texts of a shape and where they stand.
fn texts(shape: &egui::Shape, found: &mut Vec<(String, egui::Rect)>) {
    match shape {
        egui::Shape::Text(text) => found.push((text.galley.text().to_owned(), text.visual_bounding_rect())),
        egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, found)),
        _ => {}
    }
}

#[test]
fn a_difference_beside_a_step_covers_no_name_in_the_strip() {
    let mut driven = straggler(1280.0, 900.0);
    let step = |at| Item::Step(RankId { doc: 0, rank: 0 }, at);
    driven.send(Command::Select(Some(step(2))));
    let spans = [1, 2, 3].map(|at| step(at).span(&driven.window().state().workspace).unwrap());
    let views = [Some(spans[1]), Some(spans[0].hull(spans[2])), Some(spans[1].hull(spans[2])), None];
    let mut told = 0;
    for view in views {
        driven.send(view.map_or(Command::ShowAll, Command::Show));
        let mut found = Vec::new();
        driven.harness.output().shapes.iter().for_each(|clipped| texts(&clipped.shape, &mut found));
        // Those on the timeline; the details list them too.
        let lanes = driven.harness.get_by_role(egui::accesskit::Role::Canvas).rect();
        found.retain(|(_, at)| lanes.contains_rect(*at));
        let is_difference = |(text, _): &(String, egui::Rect)| text.contains(" \u{b1}") && text.contains(", ");
        let (differences, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_difference);
        let names = others.iter().filter(|(text, _)| text.starts_with("step "));
        told += differences.len();
        for (difference, at) in &differences {
            let covered = names.clone().find(|(_, name)| name.intersects(*at));
            assert!(covered.is_none(), "{difference} at {at:?} covers {covered:?} in {view:?}");
        }
    }
    assert!(told > 0, "there is room for some");
}

#[test]
fn waits_counterparts_and_arrivals_are_drawn() {
    let mut driven = straggler(1000.0, 560.0);
    driven.send(Command::ToggleSidePanel);
    driven.send(Command::ToggleDetails);
    driven.send(Command::ToggleNvtx);
    driven.send(Command::ToggleLegend);
    for doc in [1, 3] {
        driven.send(Command::ToggleLane(LaneKey::Rank(RankId { doc, rank: 0 })));
    }
    let kernels = longest_wait(&driven);
    let span = kernels.first().unwrap().span(&driven.window().state().workspace).unwrap();
    driven.send(Command::Show(Span::new(span.start_ns - span.len_ns() / 8, span.end_ns + span.len_ns() / 2)));
    driven.send(Command::Select(kernels.first().copied()));
    assert!(driven.shows("Waiting for the last rank"), "in the legend");
    driven.harness.snapshot("ranks_waits_dark");
    driven.send(Command::SetTheme(Theme::Light));
    driven.harness.snapshot("ranks_waits_light");
}
