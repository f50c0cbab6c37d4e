//! The panels of communication and launches.

use crate::harness::Driven;
use stepscope::format;
use stepscope::view::{Command, Item, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn open(panel: Panel) -> Driven {
    let mut driven = Driven::empty(1400.0, 1400.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(panel));
    driven
}

#[test]
fn communication_is_summed_by_kind_and_stream_and_says_what_is_unknown() {
    let driven = open(Panel::Communication);
    let numbers = &driven.window().state().workspace.docs[0].analysis.ranks[0];
    let (kind, sums) = &numbers.communication.by_kind[0];
    for text in [kind.text(), "Stream", "no NVTX range of NCCL", "that were matched with other ranks"] {
        assert!(driven.shows(text), "{text}");
    }
    assert!(driven.shows(&format::duration(sums.total_ns)) && driven.shows(&format::duration(sums.median_ns)));
    assert!(driven.shows(&format!("Longest exposed of {} spans", numbers.communication.exposed_spans)));
}

#[test]
fn a_click_on_an_exposed_span_shows_it_and_selects_its_kernel() {
    let mut driven = open(Panel::Communication);
    let exposed = driven.window().state().workspace.docs[0].analysis.ranks[0].communication.exposed[0];
    driven.click(&format!("Show exposed span 0, {}", format::duration(exposed.span.len_ns())));
    let state = driven.window().state();
    assert_eq!(state.view.selected, Some(Item::Op(RANK, exposed.op)));
    let axis = exposed.span.shifted(state.workspace.docs[0].map.offset_ns);
    let visible = state.view.viewport.span();
    assert!(visible.start_ns <= axis.start_ns && visible.end_ns >= axis.end_ns);
    assert!(visible.len_ns() <= 4 * axis.len_ns(), "{visible:?} {axis:?}");
}

#[test]
fn launches_show_the_numbers_of_the_whole_capture_or_of_the_step_in_view() {
    let mut driven = open(Panel::Launches);
    let launches = |driven: &Driven| {
        let launches = &driven.window().state().workspace.docs[0].analysis.ranks[0].launches;
        (launches.whole.unwrap(), launches.steps[4].sums)
    };
    let (whole, step) = launches(&driven);
    let told = |count: u64| format!("{} launches of", format::count(count));
    assert!(driven.shows("In the whole capture") && driven.shows(&told(whole.launches)));
    for text in ["Latency in view", "Queue depth in view", "Histogram of latencies", "cudaLaunchKernel"] {
        assert!(driven.shows(text), "{text}");
    }
    driven.send(Command::ShowStep(RANK, 4));
    assert!(driven.shows(&told(step.launches)) && step.launches < whole.launches);
    driven.click("In the whole capture");
    assert!(driven.shows(&told(whole.launches)));
    driven.click("In step 4");
    assert!(driven.shows(&told(step.launches)));
}

#[test]
fn a_click_on_a_call_shows_the_longest_of_its_name() {
    let mut driven = open(Panel::Launches);
    let call = {
        let launches = &driven.window().state().workspace.docs[0].analysis.ranks[0].launches;
        launches.api_calls.iter().find(|call| call.name == "cudaLaunchKernel").unwrap().longest
    };
    driven.click("Show the longest cudaLaunchKernel");
    assert_eq!(driven.window().state().view.selected, Some(Item::Call(0, 0, call)));
}

#[test]
fn narrow_panels_keep_their_tables_inside_the_window() {
    use egui_kittest::kittest::Queryable as _;
    for panel in [Panel::Communication, Panel::Launches] {
        let mut driven = open(panel);
        for width in [1400.0, 900.0, 720.0, 560.0] {
            driven.harness.set_size([width, 900.0].into());
            driven.settle();
            let cells = driven.harness.query_all_by_label_contains(" ms").map(|node| node.rect().right());
            assert!(cells.fold(0.0, f32::max) <= width, "at {width} points numbers leave the window");
        }
    }
}
