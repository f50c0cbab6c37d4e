//! The side panel, the details, the switches.

use crate::harness::Driven;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stepscope::experiment::{Batch, Dtype, Experiment, Model, Run};
use stepscope::view::{Command, Item, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

#[test]
fn the_overview_shows_the_five_parts_and_the_collectives() {
    let driven = Driven::open();
    for text in ["Compute only", "Overlapped comm.", "Exposed comm.", "Copy only", "Idle", "Typical step", "AllReduce"]
    {
        assert!(driven.shows(text), "{text}");
    }
    let numbers = &driven.window().state().workspace.docs[0].analysis.ranks[0];
    let idle = stepscope::format::percent(stepscope::analysis::Part::Idle.share(&numbers.whole));
    assert!(driven.shows(&idle), "{idle}");
}

#[test]
fn the_visible_column_follows_the_view() {
    let mut driven = Driven::open();
    let numbers = &driven.window().state().workspace.docs[0].analysis.ranks[0];
    let window = numbers.steps.as_ref().unwrap().steps[4].window;
    let parts = numbers.partition(window);
    let expected = stepscope::format::duration(parts.compute_only_ns);
    driven.send(Command::Show(window.shifted(driven.window().state().workspace.docs[0].map.offset_ns)));
    assert!(driven.shows(&expected), "{expected}");
}

#[test]
fn a_selected_span_takes_the_place_of_the_visible_one() {
    let mut driven = Driven::open();
    assert!(driven.shows("Visible, ") && driven.shows("GPU span, "));
    let doc = &driven.window().state().workspace.docs[0];
    let numbers = &doc.analysis.ranks[0];
    let span = numbers.steps.as_ref().unwrap().steps[4].window;
    let expected = stepscope::format::duration(numbers.partition(span).exposed_comm_ns);
    let axis = span.shifted(doc.map.offset_ns);
    driven.send(Command::SelectSpan(Some(axis)));
    assert!(driven.shows("Selected, ") && !driven.shows("Visible, ") && driven.shows(&expected));
    driven.send(Command::SelectSpan(None));
    assert!(driven.shows("Visible, "));
}

#[test]
fn a_selected_step_shows_its_parts_and_its_note() {
    let mut driven = Driven::open();
    driven.send(Command::Select(Some(Item::Step(RANK, 5))));
    for text in ["Window", "Exposed comm.", "outlier: longer than 1.5 times the median"] {
        assert!(driven.shows(text), "{text}");
    }
}

#[test]
fn the_steps_table_has_all_its_columns_in_a_panel_of_the_usual_width() {
    let mut driven = Driven::open();
    driven.send(Command::ShowPanel(Panel::Steps));
    for head in ["Sort by Window", "Sort by Idle", "Sort by Left out"] {
        assert!(driven.shows(head), "{head}");
    }
}

#[test]
fn the_toolbar_names_a_step_only_when_one_is_meant() {
    let mut driven = Driven::open();
    assert!(driven.shows("12 steps") && driven.shows("median") && !driven.shows("of 12"));
    driven.send(Command::Select(Some(Item::Step(RANK, 2))));
    assert!(driven.shows("3 of 12"), "the selected step");
    driven.send(Command::Select(None));
    driven.send(Command::ShowStep(RANK, 7));
    assert!(driven.shows("8 of 12"), "the step that fills the view");
}

#[test]
fn a_small_window_keeps_most_of_its_width_for_the_timeline() {
    let mut driven = Driven::empty(800.0, 600.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    let left = |driven: &Driven| driven.harness.get_by_label("Overview").rect().left();
    assert!(left(&driven) >= 800.0 * 0.62, "{}", left(&driven));
    for width in [900.0, 720.0, 560.0, 480.0] {
        driven.harness.set_size([width, 600.0].into());
        driven.settle();
        let cells = driven.harness.query_all_by_label_contains(" %").map(|node| node.rect().right());
        assert!(cells.fold(0.0, f32::max) <= width, "at {width} points numbers leave the window");
    }
}

#[test]
fn a_low_window_lists_its_panels_and_scrolls_them() {
    let mut driven = Driven::empty(640.0, 360.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    assert!(!driven.shows("Kernels"));
    driven.click("Panel");
    driven.click("Kernels");
    assert_eq!(driven.window().state().view.panel, Panel::Kernels);
    let count = driven.harness.get_by_label_contains(" in sum").rect();
    assert!(count.bottom() < 360.0, "{count}");
}

#[test]
fn tabs_switch_between_overview_steps_and_capture() {
    let mut driven = Driven::open();
    driven.click("Steps");
    assert_eq!(driven.window().state().view.panel, Panel::Steps);
    assert!(driven.shows("outlier"));
    driven.click("Capture");
    assert!(driven.shows("2026.2.1") && driven.shows("missing-table"));
    driven.click("Overview");
    assert!(driven.shows("Collectives"));
}

#[test]
fn a_click_on_a_step_shows_it() {
    let mut driven = Driven::open();
    driven.click("Steps");
    driven.click("Show step 7");
    let state = driven.window().state();
    let (doc, _) = state.workspace.rank(RANK).unwrap();
    let step = &doc.analysis.ranks[0].steps.as_ref().unwrap().steps[7];
    let visible = state.view.viewport.span();
    let window = step.window.shifted(doc.map.offset_ns);
    assert!(visible.start_ns <= window.start_ns && visible.end_ns >= window.end_ns);
    assert!(visible.len_ns() < 2 * window.len_ns());
}

#[test]
fn steps_sort_by_a_click_on_the_head_of_a_column() {
    let mut driven = Driven::open();
    driven.click("Steps");
    let top = |driven: &Driven, name: &str| driven.harness.get_by_label(name).rect().top();
    assert!(top(&driven, "Show step 0") < top(&driven, "Show step 5"));
    driven.click("Sort by Window");
    assert!(top(&driven, "Show step 5") < top(&driven, "Show step 0"), "the longest step comes first");
}

#[test]
fn the_warnings_link_leads_to_the_capture_tab() {
    let mut driven = Driven::open();
    driven.send(Command::ToggleSidePanel);
    assert!(!driven.shows("Collectives"));
    driven.click("2 warnings");
    assert_eq!(driven.window().state().view.panel, Panel::Capture);
    assert!(driven.window().state().settings.side && driven.shows("missing-table"));
}

#[test]
fn details_show_what_is_known_and_every_field_of_the_row() {
    let mut driven = Driven::open();
    assert!(!driven.shows("Launched by"));
    driven.send(Command::Select(Some(Item::Op(RANK, 3))));
    for _ in 0..500 {
        if driven.shows("gridX") {
            break;
        }
        driven.settle();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    for text in
        ["Launched by", "cudaLaunchKernel_v7000", "NVTX path", "forward", "gridX", "132", "1500000 ns  (1.500 ms)"]
    {
        assert!(driven.shows(text), "{text}");
    }
    driven.click("Clear");
    assert_eq!(driven.window().state().view.selected, None);
}

#[test]
fn switches_change_the_view() {
    let mut driven = Driven::open();
    driven.click("Marks");
    driven.click("NVTX");
    driven.click("Side panel");
    let state = driven.window().state();
    assert!(!state.view.marks && !state.view.nvtx && !state.settings.side);
    driven.click("Light theme");
    assert_eq!(driven.window().state().view.theme, stepscope::view::Theme::Light);
}

#[test]
fn steps_can_be_walked_through() {
    let mut driven = Driven::open();
    driven.send(Command::ShowStep(RANK, 3));
    driven.click("Next step");
    assert!(driven.shows("5 of 12"));
    driven.click("Previous step");
    driven.click("Previous step");
    assert!(driven.shows("3 of 12"));
    driven.click("Back");
    assert!(driven.shows("4 of 12"));
}

#[test]
fn every_control_has_a_name_in_every_tab_and_size() {
    for (width, height) in [(1280.0, 720.0), (720.0, 480.0)] {
        let mut driven = Driven::empty(width, height);
        driven.harness.check_accessibility();
        driven.send(Command::OpenDemo);
        driven.wait(|window| !window.state().workspace.docs.is_empty());
        for panel in [Panel::Overview, Panel::Steps, Panel::Capture] {
            driven.send(Command::ShowPanel(panel));
            driven.send(Command::Select(Some(Item::Idle(RANK, 1))));
            driven.harness.check_accessibility();
        }
        driven.send(Command::TypePath);
        driven.harness.check_accessibility();
    }
}

#[test]
fn the_side_panel_keeps_its_width_and_its_content_stays_inside() {
    for (width, height) in [(900.0, 600.0), (1280.0, 720.0), (1280.0, 420.0)] {
        let mut driven = Driven::empty(width, height);
        driven.send(Command::OpenDemo);
        driven.wait(|window| !window.state().workspace.docs.is_empty());
        let left = |driven: &Driven| driven.harness.get_by_label("Overview").rect().left();
        let first = left(&driven);
        for panel in [Panel::Mfu, Panel::Steps, Panel::Ranges, Panel::Launches, Panel::Communication, Panel::Gaps] {
            driven.send(Command::ShowPanel(panel));
            assert_eq!(left(&driven), first, "{panel:?} moved the edge at {width}x{height}");
        }
        driven.send(Command::ShowPanel(Panel::Mfu));
        for text in ["The model is not known", "Load settings…", "No settings came"] {
            let node = driven.harness.query_all_by_label_contains(text).next().expect(text);
            assert!(node.rect().left() >= first - 16.0 && node.rect().right() <= width, "{text} at {width}x{height}");
        }
        // With settings the panel shows tables and charts too.
        let model = Model { preset: Some("gpt2-124m".to_owned()), ..Model::default() };
        let batch = Batch { sequences: Some(2), sequence_length: Some(256), ..Batch::default() };
        let run = Run { dtype: Some(Dtype::Bf16), ..Run::default() };
        driven.send(Command::SetExperiment(Box::new(Experiment { run, model, batch, ..Experiment::default() })));
        for text in ["Settings typed here", "Tokens per step", "MFU by step"] {
            let node = driven.harness.query_all_by_label_contains(text).next().expect(text);
            assert!(node.rect().left() >= first - 16.0 && node.rect().right() <= width, "{text} at {width}x{height}");
        }
        let fields = driven.harness.query_all_by_role(egui::Role::TextInput).map(|node| node.rect().right());
        assert!(fields.fold(0.0, f32::max) <= width - 16.0, "fields are cut off at {width}x{height}");
        assert_eq!(left(&driven), first, "settings moved the edge at {width}x{height}");
        // The bar of the table takes room of its own at the right.
        driven.send(Command::ShowPanel(Panel::Steps));
        let cells = driven.harness.query_all_by_label_contains(" %").map(|node| node.rect());
        let right = cells.filter(|rect| rect.left() > first).map(|rect| rect.right()).fold(0.0, f32::max);
        assert!(right > first && right <= width - 12.0 - 8.0, "{right} at {width}x{height}");
    }
}

#[test]
fn the_width_that_the_user_gave_the_side_panel_stays() {
    let mut driven = Driven::open();
    let left = |driven: &Driven| driven.harness.get_by_label("Overview").rect().left();
    let before = left(&driven);
    // The handle lies left of the tabs, as far as the margin is wide.
    let edge = driven.harness.get_by_label("Overview").rect().left_center() - egui::vec2(12.0, -200.0);
    driven.harness.hover_at(edge);
    driven.settle();
    driven.harness.drag_at(edge);
    driven.settle();
    for moved in [40.0, 80.0, 120.0] {
        driven.harness.hover_at(edge - egui::vec2(moved, 0.0));
        driven.settle();
    }
    driven.harness.drop_at(edge - egui::vec2(120.0, 0.0));
    driven.settle();
    let wider = left(&driven);
    assert!((before - wider - 120.0).abs() < 8.0, "{before} {wider}");
    for panel in [Panel::Mfu, Panel::Steps, Panel::Capture, Panel::Overview] {
        driven.send(Command::ShowPanel(panel));
        assert_eq!(left(&driven), wider, "{panel:?}");
    }
}

#[test]
fn the_rank_of_the_panels_is_chosen_above_them_when_several_are_open() {
    let mut driven = Driven::open();
    driven.send(Command::ShowPanel(Panel::Kernels));
    let rank = |driven: &Driven| driven.window().state().view.rank;
    let shown = |driven: &Driven| {
        let list = driven.harness.get_by_role_and_label(egui::accesskit::Role::ComboBox, "Rank");
        list.accesskit_node().value().unwrap_or_default()
    };
    assert_eq!(rank(&driven), Some(RANK));
    assert!(shown(&driven).starts_with("rank 0"), "{}", shown(&driven));
    driven.harness.get_by_role_and_label(egui::accesskit::Role::ComboBox, "Rank").click();
    driven.settle();
    driven.harness.get_by_label_contains("gpt_rank1.sqlite").click();
    driven.settle();
    assert_eq!(rank(&driven), Some(RankId { doc: 1, rank: 0 }));
    assert!(shown(&driven).starts_with("rank 1"), "{}", shown(&driven));
}
