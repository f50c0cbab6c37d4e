//! The list of idle gaps.

use crate::harness::Driven;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stepscope::analysis::{Cause, RankAnalysis};
use stepscope::format;
use stepscope::view::{Command, Item, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn open(width_pt: f32) -> Driven {
    let mut driven = Driven::empty(width_pt, 720.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(Panel::Gaps));
    driven
}

fn numbers(driven: &Driven) -> &RankAnalysis {
    &driven.window().state().workspace.docs[0].analysis.ranks[0]
}

/// Names of the rows from top to bottom.
fn rows(driven: &Driven) -> Vec<String> {
    let rows = driven.harness.query_all_by_label_contains("Show the gap of");
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

#[test]
fn the_longest_gaps_come_first_and_the_short_ones_are_summed() {
    let driven = open(1280.0);
    let idle = &numbers(&driven).idle;
    let longest = idle.longest(0, 3);
    for (row, gap) in rows(&driven).iter().zip(longest) {
        let length = format::duration(idle.gap(gap as usize).unwrap().len_ns());
        assert!(row.starts_with(&format!("Show the gap of {length} at ")), "{row}");
    }
    let listed = idle.listed(idle.listed_ns);
    let text = format!("{} gaps, {}", format::count(listed.count), format::duration(listed.total_ns));
    assert!(driven.shows(&text), "{text}");
}

#[test]
fn a_click_selects_the_gap_and_shows_it() {
    let mut driven = open(1280.0);
    let gap = numbers(&driven).idle.longest(0, 1)[0];
    let first = rows(&driven)[0].clone();
    driven.click(&first);
    let state = driven.window().state();
    assert_eq!(state.view.selected, Some(Item::Idle(RANK, gap)));
    let span = Item::Idle(RANK, gap).span(&state.workspace).unwrap();
    let visible = state.view.viewport.span();
    assert!(visible.start_ns <= span.start_ns && visible.end_ns >= span.end_ns);
    assert!(visible.len_ns() < 20 * span.len_ns());
    for text in ["Ended by", "Its launch", "CUDA calls meanwhile"] {
        assert!(driven.shows(text), "{text}");
    }
}

/// Chooses a cause in the list that opens under "by".
fn choose(driven: &mut Driven, cause: Cause) {
    driven.click("by");
    driven.click(&format!("Only {}", cause.text()));
}

#[test]
fn the_list_is_sorted_by_start_and_filtered_by_cause() {
    let mut driven = open(1280.0);
    driven.click("Sort by Start");
    let idle = &numbers(&driven).idle;
    let first = idle.by_length(idle.listed_ns).into_iter().min().unwrap();
    let length = format::duration(idle.gap(first as usize).unwrap().len_ns());
    assert!(rows(&driven)[0].starts_with(&format!("Show the gap of {length} at ")));
    let cause = idle.cause_of(idle.longest(0, 1)[0] as usize).unwrap();
    let other = Cause::ALL.into_iter().find(|c| (0..idle.gaps()).all(|gap| idle.cause_of(gap) != Some(*c))).unwrap();
    choose(&mut driven, cause);
    assert!(rows(&driven).iter().all(|row| row.ends_with(cause.text())));
    choose(&mut driven, other);
    assert!(rows(&driven).is_empty() && driven.shows("No such gap on this rank."));
}

#[test]
fn the_overview_splits_idle_time_by_cause_and_leads_to_the_gaps() {
    let mut driven = Driven::empty(1280.0, 900.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    assert!(driven.shows("Idle by cause"));
    let occurring: Vec<Cause> = numbers(&driven).idle.within(numbers(&driven).span).iter().map(|(c, _)| c).collect();
    assert!(!occurring.is_empty());
    for cause in occurring {
        assert!(driven.shows(cause.text()), "{cause:?}");
    }
    driven.click("All gaps");
    assert_eq!(driven.window().state().view.panel, Panel::Gaps);
}

#[test]
fn the_panel_fits_a_narrow_window_and_every_control_has_a_name() {
    for width in [1280.0, 800.0, 560.0] {
        let driven = open(width);
        driven.harness.check_accessibility();
        let rows = driven.harness.query_all_by_label_contains("Show the gap of").map(|row| row.rect().right());
        assert!(rows.fold(0.0, f32::max) <= width, "at {width} points rows leave the window");
    }
}
