//! The panels of several ranks: ranks, heatmap, differences.

use crate::harness::Driven;
use crate::pictures::{compare, cut};
use egui::{Modifiers, PointerButton, Pos2, Rect, pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stepscope::app::picture::{PictureOptions, render};
use stepscope::format;
use stepscope::job::{ClockMode, Heat, HeatMetric};
use stepscope::view::{Command, Item, Outliers, Panel, RankId, Theme, ViewState, Workspace};

fn open(panel: Panel) -> Driven {
    let mut driven = Driven::empty(1400.0, 900.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven.send(Command::ShowPanel(panel));
    driven
}

fn map(driven: &Driven) -> (Rect, String) {
    let node = driven.harness.get_by_label_contains("Heatmap of ");
    (node.rect(), node.accesskit_node().label().unwrap())
}

/// The middle of the cell in row `row` of `rows` and column `column` of `columns`, beside the labels of the map.
fn middle(rect: Rect, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> Pos2 {
    let (left, bottom) = (rect.left() + 14.0, rect.bottom() - 18.0);
    let share = |at: usize, of: usize| (at as f32 + 0.5) / of as f32;
    let x = left + (rect.right() - left) * share(column, columns);
    pos2(x, rect.top() + (bottom - rect.top()) * share(row, rows))
}

fn click_at(driven: &mut Driven, at: Pos2) {
    let event = |pressed| egui::Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    driven.harness.event(egui::Event::PointerMoved(at));
    driven.harness.event(event(true));
    driven.harness.event(event(false));
    driven.settle();
}

fn window_of(workspace: &Workspace, id: RankId, step: usize) -> stepscope::units::Span {
    let doc = &workspace.docs[id.doc];
    doc.axis_span(doc.analysis.ranks[id.rank].steps.as_ref().unwrap().steps[step].window)
}

#[test]
fn a_click_on_a_cell_opens_that_step_of_that_rank() {
    let mut driven = open(Panel::Heatmap);
    let (rect, _) = map(&driven);
    click_at(&mut driven, middle(rect, (1, 2), (7, 12)));
    let state = driven.window().state();
    let second = RankId { doc: 1, rank: 0 };
    assert_eq!(state.view.rank, Some(second));
    let (window, shown) = (window_of(&state.workspace, second, 7), state.view.viewport.span());
    assert!(shown.start_ns <= window.start_ns && window.end_ns <= shown.end_ns, "{shown:?} {window:?}");
    assert!(shown.len_ns() < window.len_ns() * 2, "{shown:?} {window:?}");
    assert!(map(&driven).1.contains("Rank 1, step 7: "), "the keyboard goes on from there");
    assert!(map(&driven).1.ends_with("Rank 1, step 7 is shown"), "{}", map(&driven).1);
    driven.send(Command::ShowStep(RankId { doc: 0, rank: 0 }, 3));
    driven.send(Command::ChooseRank(RankId { doc: 0, rank: 0 }));
    assert!(map(&driven).1.ends_with("Rank 0, step 3 is shown"), "by whatever command");
    driven.send(Command::ShowAll);
    assert!(!map(&driven).1.contains("is shown"));
}

#[test]
fn the_keyboard_walks_over_the_cells_and_enter_opens_one() {
    let mut driven = open(Panel::Heatmap);
    driven.harness.get_by_label_contains("Heatmap of ").focus();
    driven.settle();
    let before = driven.window().state().view.viewport;
    for key in [egui::Key::ArrowRight, egui::Key::ArrowRight, egui::Key::ArrowDown, egui::Key::ArrowLeft] {
        driven.press(key);
    }
    assert!(map(&driven).1.contains("Rank 1, step 1: "), "{}", map(&driven).1);
    assert_eq!(driven.window().state().view.viewport, before, "the arrows do not move the timeline as well");
    driven.press(egui::Key::Enter);
    let state = driven.window().state();
    assert_eq!(state.view.rank, Some(RankId { doc: 1, rank: 0 }));
    assert!(state.view.viewport != before);
}

#[test]
fn the_metric_of_the_map_is_chosen_and_the_pointer_is_told_the_value() {
    let mut driven = open(Panel::Heatmap);
    driven.click("Exposed");
    let heat = Heat::of(&driven.window().state().workspace.job, HeatMetric::Exposed, None);
    let value = format::duration_f(heat.cell(0, 5).unwrap());
    let (rect, text) = map(&driven);
    assert!(text.starts_with("Heatmap of exposed"), "{text}");
    driven.harness.event(egui::Event::PointerMoved(middle(rect, (0, 2), (5, 12))));
    driven.harness.run_steps(60);
    assert!(driven.shows("Rank 0, step 5") && driven.shows(&format!("Exposed {value}; median of the ranks ")));
}

#[test]
fn the_ranks_are_listed_and_a_click_chooses_one() {
    let mut driven = open(Panel::Ranks);
    assert!(driven.shows("Clock in force: ") && driven.shows("No straggler: "));
    driven.click("Choose rank 1");
    assert_eq!(driven.window().state().view.rank, Some(RankId { doc: 1, rank: 0 }));
}

#[test]
fn the_clock_is_chosen_from_the_list() {
    let mut driven = open(Panel::Ranks);
    let list = driven.harness.get_by_role_and_label(egui::accesskit::Role::ComboBox, "Clock");
    list.click();
    driven.settle();
    driven.click("wall clock");
    assert_eq!(driven.window().state().workspace.options.clock, ClockMode::Wall);
}

#[test]
fn a_shift_by_hand_leaves_the_clock_uncertain_in_the_panel() {
    let mut driven = open(Panel::Ranks);
    assert!(driven.shows("Clock in force: collectives ±"));
    driven.send(Command::ShiftDoc { doc: 1, by_ns: 2_500_000 });
    assert!(driven.shows("Clock in force: collectives, shifted by hand, uncertainty not known."));
    driven.click("Take back shifts");
    assert!(driven.shows("Clock in force: collectives ±"));
}

#[test]
fn communication_beside_other_ranks_says_how_much_of_it_is_waiting() {
    let mut driven = open(Panel::Communication);
    assert!(driven.shows("in the collectives that were matched with other ranks, beside"));
    assert!(!driven.shows("one rank"));
    driven.send(Command::CloseAll);
    driven.send(Command::Open(vec!["/x/rank0.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    driven.send(Command::ShowPanel(Panel::Communication));
    assert!(driven.shows("cannot be told from one rank"));
}

#[test]
fn a_group_of_collectives_leads_to_its_largest_skew() {
    let mut driven = open(Panel::Ranks);
    let (worst, latest_ns) = {
        let job = &driven.window().state().workspace.job;
        let worst = job.waits.groups[0].worst;
        (worst, job.matched(0, worst).unwrap().latest_ns)
    };
    let row = driven.harness.get_by_label_contains("Show the largest skew of ");
    row.scroll_to_me();
    driven.settle();
    driven.harness.get_by_label_contains("Show the largest skew of ").click();
    driven.settle();
    let state = driven.window().state();
    let Some(Item::Op(id, op)) = state.view.selected else { panic!("{:?}", state.view.selected) };
    let job_rank = state.workspace.job_rank(id).unwrap();
    let (matched, member) = state.workspace.job.matched_op(job_rank, op).unwrap();
    assert_eq!((matched.at, matched.members[member].0.start_ns), (worst, latest_ns), "the rank that started last");
    let axis_ns = latest_ns + state.workspace.origin_ns;
    assert!(state.view.viewport.span().contains(axis_ns));
}

#[test]
fn differences_are_listed_and_a_kernel_leads_to_its_longest_run() {
    let mut driven = open(Panel::Differences);
    assert!(driven.shows("Compared: ") && driven.shows("100.0 % of the kernel time in common"));
    let rows = driven.harness.query_all_by_label_contains("Show the longest ");
    let name = rows.filter_map(|row| row.accesskit_node().label()).find(|name| name.contains("multi_tensor")).unwrap();
    driven.harness.get_by_label(&name).scroll_to_me();
    driven.settle();
    driven.click(&name);
    let state = driven.window().state();
    let Some(Item::Op(id, op)) = state.view.selected else { panic!("{:?}", state.view.selected) };
    let (doc, rank) = state.workspace.rank(id).unwrap();
    assert_eq!(id, RankId { doc: 1, rank: 0 }, "on the second rank");
    assert!(doc.trace.op_short_name(rank.ops.name[op as usize]).contains("multi_tensor"));
}

#[test]
fn what_a_difference_is_worth_has_room_in_a_panel_of_its_usual_width() {
    let mut driven = Driven::empty(1280.0, 720.0);
    let files = [0, crate::job::LATER].map(|rank| format!("/x/rank{rank}.sqlite").into());
    driven.send(Command::Open(files.to_vec()));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven.send(Command::ShowPanel(Panel::Differences));
    assert!(driven.shows("Sort by Note"), "of the first table");
    driven.harness.get_by_label("Outliers").scroll_to_me();
    driven.settle();
    assert!(driven.shows("Sort by Later") && driven.shows("Sort by Step"));
}

#[test]
fn outliers_are_listed_and_one_leads_to_the_operation_and_the_same_work_on_the_other_rank() {
    let mut driven = Driven::empty(1400.0, 900.0);
    let files = [0, crate::job::LATER].map(|rank| format!("/x/rank{rank}.sqlite").into());
    driven.send(Command::Open(files.to_vec()));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven.send(Command::ShowPanel(Panel::Differences));
    let ranks = [0, 1].map(|doc| RankId { doc, rank: 0 });
    let outliers = Outliers::of(&driven.window().state().workspace, ranks[0], ranks[1]);
    assert_eq!(outliers.count, 12, "six kernels in the slow step of each: {outliers:?}");
    let expected = outliers.listed[0];
    // Rows out of sight are not laid out.
    driven.harness.get_by_label("Outliers").scroll_to_me();
    driven.settle();
    let row = driven.harness.query_all_by_label_contains(" than before").next();
    let name = row.and_then(|row| row.accesskit_node().label()).unwrap();
    driven.harness.get_by_label(&name).scroll_to_me();
    driven.settle();
    assert!(driven.shows("12 among "));
    driven.click(&name);
    let state = driven.window().state();
    let selected = state.view.selected.unwrap();
    assert_eq!(selected, Item::Op(ranks[1], expected.ops[1]), "the largest");
    assert_eq!(selected.counterparts(&state.workspace), [Item::Op(ranks[0], expected.ops[0])]);
    assert!(driven.shows("On other ranks"), "and it is marked and listed");
}

#[test]
fn one_rank_has_no_difference_and_nobody_to_wait_for() {
    let mut driven = Driven::empty(1400.0, 900.0);
    driven.send(Command::Open(vec!["/x/rank0.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    driven.send(Command::ShowPanel(Panel::Differences));
    assert!(driven.shows("A difference needs two ranks"));
    driven.send(Command::ShowPanel(Panel::Ranks));
    assert!(driven.shows("One rank only: ") && driven.shows("one file, one clock"));
    driven.send(Command::ShowPanel(Panel::Heatmap));
    assert!(driven.shows("1 rank by 12 steps"));
    driven.click("Wait");
    assert!(driven.shows("1 rank by 12 steps; Wait is not known here"));
}

#[test]
fn the_panels_of_several_ranks_look_as_designed_in_both_themes() {
    let workspace = Workspace::new((0..3).map(|rank| crate::job::opened(rank, 12)));
    for (panel, name) in [(Panel::Heatmap, "heatmap"), (Panel::Ranks, "ranks"), (Panel::Differences, "differences")] {
        for (theme, theme_name) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
            let mut state = ViewState { panel, ..ViewState::open(&workspace) };
            if panel == Panel::Heatmap {
                let shown = RankId { doc: 1, rank: 0 };
                for command in [Command::ChooseRank(shown), Command::ShowStep(shown, 7)] {
                    state.apply(&command, &workspace);
                }
            }
            let options = PictureOptions { width_px: 960, height_px: 500, theme, ..PictureOptions::default() };
            let image = render(&workspace, &state, &options);
            compare(&cut(&image, 528, 40, 432, 460), &format!("{name}_{theme_name}"));
        }
    }
}
