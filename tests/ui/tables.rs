//! What every table does: sort, filter, follow the selection, copy.

use crate::harness::Driven;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stepscope::view::{Command, Item, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn open(panel: Panel) -> Driven {
    let mut driven = Driven::empty(1400.0, 1400.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(panel));
    driven
}

/// Names of the buttons that begin with `start`, from top to bottom.
fn rows(driven: &Driven, start: &str) -> Vec<String> {
    let named = |label: &String| label.starts_with(start);
    let nodes = driven.harness.query_all_by_label_contains(start);
    let mut rows: Vec<(i64, String)> =
        nodes.filter_map(|row| Some((row.rect().top() as i64, row.accesskit_node().label().filter(named)?))).collect();
    rows.sort();
    rows.into_iter().map(|(_, name)| name).collect()
}

fn type_into(driven: &mut Driven, field: &str, text: &str) {
    driven.harness.get_by_label(field).focus();
    driven.harness.get_by_label(field).type_text(text);
    driven.settle();
}

const TABLES: [(Panel, &str, &str); 8] = [
    (Panel::Steps, "steps", "Step\tWindow\t"),
    (Panel::Kernels, "kernels", "Kernel\tTotal\t"),
    (Panel::Gaps, "gaps", "Cause\tLength\tStart\tStep\n"),
    (Panel::Ranges, "ranges", "Range\tGPU busy\t"),
    (Panel::Communication, "communication", "Kind\tCount\tTotal\t"),
    (Panel::Launches, "launches", "Time\tMedian\t"),
    (Panel::Ranks, "ranks", "Rank\tMedian step\t"),
    (Panel::Differences, "differences", "Time\tDifference\t"),
];

#[test]
fn every_table_is_copied_as_tab_separated_text() {
    for (panel, what, head) in TABLES {
        let mut driven = open(panel);
        let text = driven.copied(|driven| driven.harness.get_by_label(&format!("Copy the table of {what}")).click());
        assert!(text.starts_with(head), "{what}: {text}");
        for table in text.split("\n\n") {
            let mut lines = table.lines();
            let columns = lines.next().unwrap().matches('\t').count();
            assert!(columns > 0 && lines.all(|line| line.matches('\t').count() == columns), "{what}: {table}");
        }
    }
}

#[test]
fn findings_are_filtered_and_copied() {
    let mut driven = open(Panel::Findings);
    let text = driven.copied(|driven| driven.harness.get_by_label("Copy the table of findings").click());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Rule\tFinding\tGain\t") && lines.len() > 1, "{text}");
    type_into(&mut driven, "Filter findings", "no such rule");
    assert!(driven.shows("No finding is like that."));
}

#[test]
fn steps_and_gaps_are_filtered_to_what_is_selected() {
    let mut driven = open(Panel::Steps);
    assert_eq!(rows(&driven, "Show step ").len(), 12);
    driven.send(Command::Select(Some(Item::Step(RANK, 4))));
    driven.click("In selection");
    assert_eq!(rows(&driven, "Show step "), ["Show step 4"]);
    driven.send(Command::ShowPanel(Panel::Gaps));
    let all = rows(&driven, "Show the gap of").len();
    driven.click("In selection");
    let some = rows(&driven, "Show the gap of").len();
    let doc = &driven.window().state().workspace.docs[0];
    let numbers = &doc.analysis.ranks[0];
    let window = numbers.steps.as_ref().unwrap().steps[4].window;
    let idle = &numbers.idle;
    let inside =
        idle.by_length(idle.listed_ns).into_iter().filter(|gap| window.holds(idle.gap(*gap as usize).unwrap()));
    assert_eq!(some, inside.count());
    assert!(some < all && some > 0, "{some} of {all}");
    driven.send(Command::Select(None));
    assert_eq!(rows(&driven, "Show the gap of").len(), all, "without a selection everything is listed");
}

#[test]
fn ranges_and_collectives_are_filtered_to_what_is_selected() {
    let mut driven = open(Panel::Ranges);
    driven.send(Command::Select(Some(Item::Step(RANK, 4))));
    driven.click("In selection");
    assert!(driven.shows("Selected, "));
    driven.send(Command::ShowPanel(Panel::Communication));
    let all = rows(&driven, "Show exposed span").len();
    driven.click("In selection");
    let some = rows(&driven, "Show exposed span").len();
    assert!(some < all, "{some} of {all}");
}

#[test]
fn ranges_sort_by_their_columns() {
    let mut driven = open(Panel::Ranges);
    let names = |driven: &Driven| rows(driven, "Go to ");
    driven.click("Sort by Range");
    assert_eq!(names(&driven), ["Go to step #", "Go to backward", "Go to forward", "Go to optimizer"]);
    driven.click("Sort by Range");
    assert_eq!(names(&driven), ["Go to step #", "Go to optimizer", "Go to forward", "Go to backward"]);
    driven.click("Sort by GPU busy");
    assert_eq!(names(&driven)[1], "Go to backward");
    driven.click("Sort by GPU busy");
    assert_eq!(names(&driven)[1], "Go to optimizer");
}

#[test]
fn a_row_is_copied_from_its_menu() {
    let mut driven = open(Panel::Steps);
    driven.harness.get_by_label("Show step 3").click_secondary();
    driven.settle();
    let text = driven.copied(|driven| driven.harness.get_by_label("Copy row").click());
    assert!(text.starts_with("step 3\t") && text.lines().count() == 1, "{text}");
}
