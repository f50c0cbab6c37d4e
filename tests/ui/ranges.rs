//! The tree of NVTX ranges.

use crate::harness::Driven;
use egui_kittest::kittest::Queryable as _;
use stepscope::analysis::Attribution;
use stepscope::format;
use stepscope::view::{Command, Item, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn opened() -> Driven {
    let mut driven = Driven::open();
    driven.send(Command::ShowPanel(Panel::Ranges));
    driven
}

#[test]
fn the_tree_opens_to_what_is_inside_a_step_with_the_numbers_of_the_typical_one() {
    let mut driven = opened();
    assert!(driven.shows("Mean of ") && driven.shows("Go to step #"));
    // A lone root is open at first.
    assert!(driven.shows("Go to forward") && driven.shows("Go to backward") && driven.shows("Go to optimizer"));
    let doc = &driven.window().state().workspace.docs[0];
    let ranges = &doc.analysis.ranks[0].ranges;
    let (typical, _) = ranges.typical(&doc.trace, Attribution::Process).unwrap();
    for sum in &typical.nodes {
        let busy = format::duration(sum.busy_ns);
        assert!(driven.shows(&busy), "{busy}");
    }
    driven.click("Collapse step #");
    assert!(!driven.shows("Go to backward"));
    driven.click("Expand step #");
    assert!(driven.shows("Go to backward"));
}

#[test]
fn the_window_of_the_numbers_can_be_chosen() {
    let mut driven = opened();
    driven.click("GPU span");
    assert!(driven.shows("GPU span, "));
    driven.click("In view");
    let title = |driven: &Driven| {
        let doc = &driven.window().state().workspace.docs[0];
        let visible = driven.window().state().view.viewport.span().shifted(-doc.map.offset_ns);
        let span = visible.intersect(doc.analysis.ranks[0].span).unwrap();
        format!("Visible, {}", format::duration(span.len_ns()))
    };
    let whole = title(&driven);
    assert!(driven.shows(&whole), "{whole}");
    driven.send(Command::ShowStep(RANK, 3));
    let step = title(&driven);
    assert!(step != whole && driven.shows(&step), "{step}");
}

#[test]
fn a_click_goes_from_one_range_to_the_next() {
    let mut driven = opened();
    let mut spans = Vec::new();
    for _ in 0..3 {
        driven.click("Go to backward");
        let state = driven.window().state();
        let Some(item @ Item::Projected(RANK, Attribution::Process, _)) = state.view.selected else {
            panic!("{:?}", state.view.selected)
        };
        let span = item.span(&state.workspace).unwrap();
        assert_eq!(span.intersect(state.view.viewport.span()), Some(span), "the range is in view");
        spans.push(span);
    }
    assert!(spans[0] != spans[1] && spans[1].start_ns < spans[2].start_ns, "{spans:?}");
    for text in ["NVTX range on the GPU", "Operations belong to it by", "On the GPU"] {
        assert!(driven.shows(text), "{text}");
    }
}

#[test]
fn names_are_filtered_and_told_apart_when_they_are_not_grouped() {
    let mut driven = opened();
    driven.harness.get_by_label("Filter ranges").focus();
    driven.harness.get_by_label("Filter ranges").type_text("OPTIM");
    driven.settle();
    assert!(driven.shows("Go to optimizer") && driven.shows("Go to step #") && !driven.shows("Go to forward"));
    driven.harness.get_by_label("Filter ranges").type_text("ist");
    driven.settle();
    assert!(!driven.shows("Go to "));
    let mut driven = opened();
    driven.click("Group names");
    driven.click("GPU span");
    assert!(driven.shows("Go to step 3") && !driven.shows("Go to step #"));
}

#[test]
fn the_attribution_is_one_for_the_panel_and_the_lane() {
    let mut driven = opened();
    driven.click("By same thread");
    assert_eq!(driven.window().state().view.attribution, Attribution::SameThread);
    driven.click("By whole process");
    assert_eq!(driven.window().state().view.attribution, Attribution::Process);
}

#[test]
fn a_narrow_panel_shows_fewer_columns_and_none_outside() {
    for (width, cpu) in [(1280.0, false), (760.0, false)] {
        let mut driven = Driven::empty(width, 640.0);
        driven.send(Command::OpenDemo);
        driven.wait(|window| !window.state().workspace.docs.is_empty());
        driven.send(Command::ShowPanel(Panel::Ranges));
        driven.harness.check_accessibility();
        assert!(driven.shows("GPU busy"), "at {width} points");
        assert_eq!(driven.harness.query_by_label("CPU").is_some(), cpu, "at {width} points");
        let cells = driven.harness.query_all_by_label_contains(" %").map(|node| node.rect().right());
        assert!(cells.fold(0.0, f32::max) <= width, "at {width} points numbers leave the window");
    }
}
