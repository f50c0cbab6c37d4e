//! The table of kernels.

use crate::harness::Driven;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use stepscope::analysis::{KernelRow, KernelTable, NamedBy};
use stepscope::format;
use stepscope::units::Span;
use stepscope::view::{Command, Item, Panel, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn open() -> Driven {
    let mut driven = Driven::empty(1400.0, 900.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(Panel::Kernels));
    driven
}

fn table(driven: &Driven, windows: Option<&[Span]>) -> KernelTable {
    let doc = &driven.window().state().workspace.docs[0];
    KernelTable::of(&doc.trace, 0, &doc.analysis.classes, NamedBy::Base, windows)
}

/// Names of the rows from top to bottom.
fn rows(driven: &Driven) -> Vec<String> {
    let mut rows: Vec<(i64, String)> = driven
        .harness
        .query_all_by_label_contains("Show the longest ")
        .filter_map(|row| Some((row.rect().top() as i64, row.accesskit_node().label()?)))
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, name)| name.trim_start_matches("Show the longest ").to_owned()).collect()
}

#[test]
fn kernels_are_listed_by_their_time_and_a_click_goes_to_the_longest() {
    let mut driven = open();
    let all = table(&driven, None);
    let trace = &driven.window().state().workspace.docs[0].trace;
    let names: Vec<String> = all.rows.iter().map(|row| trace.name(row.name).to_owned()).collect();
    assert_eq!(rows(&driven), names);
    assert!(driven.shows(&format::duration(all.rows[0].sum.total)));
    driven.click(&format!("Show the longest {}", names[1]));
    let state = driven.window().state();
    assert_eq!(state.view.selected, Some(Item::Op(RANK, all.rows[1].longest)));
    let span = state.view.selected.unwrap().span(&state.workspace).unwrap();
    let visible = state.view.viewport.span();
    assert!(visible.start_ns <= span.start_ns && visible.end_ns >= span.end_ns, "{visible:?} {span:?}");
    assert!(visible.len_ns() < 20 * span.len_ns());
}

#[test]
fn the_scopes_follow_the_view_the_selection_and_the_typical_steps() {
    let mut driven = open();
    let doc = &driven.window().state().workspace.docs[0];
    let steps = &doc.analysis.ranks[0].steps.as_ref().unwrap().steps;
    let (fourth, offset_ns) = (steps[4].window, doc.map.offset_ns);
    let typical: Vec<Span> = steps.iter().filter(|step| step.typical).map(|step| step.window).collect();
    let told = |table: &KernelTable| format!("{} in sum", format::duration(table.total_ns));
    let [all, one, usual] = [None, Some(&[fourth][..]), Some(&typical[..])].map(|scope| told(&table(&driven, scope)));
    assert!(driven.shows(&all) && all != one && all != usual && one != usual);
    driven.click("Typical steps");
    assert!(driven.shows(&usual), "{usual}");
    driven.send(Command::Show(fourth.shifted(offset_ns)));
    assert!(driven.shows(&usual), "{usual}");
    driven.click("In view");
    assert!(driven.shows(&one), "{one}");
    driven.send(Command::ShowAll);
    assert!(driven.shows(&all), "{all}");
    driven.send(Command::Select(Some(Item::Step(RANK, 4))));
    driven.click("Selected");
    assert!(driven.shows(&one), "{one}");
    driven.send(Command::Select(None));
    assert!(driven.shows(&all), "without a selection the whole capture is shown");
}

#[test]
fn every_column_sorts_text_filters_and_classes_stand_over_their_kernels() {
    let mut driven = open();
    let all = rows(&driven);
    driven.click("Sort by Kernel");
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(rows(&driven), sorted);
    driven.click("Sort by Mean");
    let kernels = table(&driven, None).rows;
    let top = kernels.iter().max_by(|a, b| a.sum.mean.total_cmp(&b.sum.mean)).unwrap().name;
    assert_eq!(rows(&driven)[0], driven.window().state().workspace.docs[0].trace.name(top));
    driven.click("Group by class");
    assert!(driven.shows("communication, AllReduce") && rows(&driven).len() > all.len());
    driven.harness.get_by_label("Filter kernels").focus();
    driven.harness.get_by_label("Filter kernels").type_text("ELEMENTWISE");
    driven.settle();
    assert_eq!(rows(&driven), ["elementwise", "vectorized_elementwise_kernel"]);
}

#[test]
fn the_table_is_copied_as_it_is_shown_with_full_names() {
    let mut driven = open();
    driven.harness.get_by_label("Filter kernels").focus();
    driven.harness.get_by_label("Filter kernels").type_text("multi_tensor");
    driven.settle();
    let text = driven.copied(|driven| driven.harness.get_by_label("Copy the table of kernels").click());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("Kernel\tTotal\tCount\tOf compute\t"), "{text}");
    assert!(lines[1].starts_with("void multi_tensor_apply_kernel<float, 128, 64>("), "{text}");
    assert_eq!(lines[1].matches('\t').count(), lines[0].matches('\t').count());
}

#[test]
fn the_line_above_the_table_counts_what_the_filter_leaves() {
    let mut driven = open();
    let all = table(&driven, None);
    let kernels = |rows: &[KernelRow]| rows.iter().map(|row| row.sum.count as u64).sum::<u64>();
    let in_all = format::counted(kernels(&all.rows), "kernel", "kernels");
    assert!(driven.shows(&format!("{in_all}, {}, ", format::counted(all.rows.len() as u64, "name", "names"))));
    driven.harness.get_by_label("Filter kernels").focus();
    driven.harness.get_by_label("Filter kernels").type_text("multi_tensor");
    driven.settle();
    let trace = &driven.window().state().workspace.docs[0].trace;
    let left: Vec<KernelRow> =
        all.rows.iter().filter(|row| trace.name(row.name).contains("multi_tensor")).cloned().collect();
    assert!(left.len() == 1 && kernels(&left) < kernels(&all.rows));
    let count = format::count(kernels(&left));
    let total = format::duration(left[0].sum.total);
    let line = format!("{count} of {in_all}, 1 of {} names, {total} in sum", all.rows.len());
    assert!(driven.shows(&line), "{line}");
}

#[test]
fn a_copied_table_is_told_in_a_message_until_something_else_is_done() {
    let mut driven = open();
    let rows = format::counted(table(&driven, None).rows.len() as u64, "row", "rows");
    assert!(!driven.shows("Copied "));
    driven.click("Copy the table of kernels");
    assert!(driven.shows(&format!("Copied {rows}")), "Copied {rows}");
    driven.send(Command::ShowStep(RANK, 2));
    assert!(!driven.shows("Copied "));
}

#[test]
fn a_narrow_panel_has_its_choices_in_lists_on_one_line_and_tells_of_columns_left_out() {
    let mut driven = Driven::empty(640.0, 360.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(Panel::Kernels));
    assert!(driven.shows("Sort by Total") && !driven.shows("Sort by Count") && driven.shows("+9"));
    assert!(!driven.shows("Typical steps"), "the scopes are in a list");
    let list = |shown: &str| {
        let mut found = driven.harness.get_all_by_role(egui::accesskit::Role::ComboBox);
        found.find(|list| list.accesskit_node().value().as_deref() == Some(shown)).unwrap().rect()
    };
    let (scope, names) = (list("Whole capture"), list("base name"));
    assert!((scope.top() - names.top()).abs() < 1.0 && names.right() <= 640.0, "{scope:?} {names:?}");
}
