//! The verdict on the overview and the panel of findings.

use crate::harness::Driven;
use egui_kittest::kittest::Queryable as _;
use stepscope::analysis::{Diagnosis, Place};
use stepscope::report::{evidence_text, gain_text, place_text, verdict_cost, verdict_title};
use stepscope::view::{Command, Panel};

fn diagnosis(driven: &Driven) -> Diagnosis {
    driven.window().state().workspace.docs[0].analysis.ranks[0].diagnosis.clone()
}

fn text_of(driven: &Driven, place: &Place) -> String {
    let doc = &driven.window().state().workspace.docs[0];
    place_text(place, &doc.trace, doc.analysis.ranks[0].steps.as_ref())
}

#[test]
fn the_overview_begins_with_the_verdict_and_what_to_do() {
    let driven = Driven::open();
    let verdict = diagnosis(&driven).verdict.unwrap();
    for text in [verdict_title(&verdict), verdict_cost(&verdict), verdict.next.advice().to_owned()] {
        assert!(driven.shows(&text), "{text}");
    }
}

#[test]
fn a_click_on_the_worst_place_shows_and_selects_it() {
    let mut driven = Driven::open();
    driven.harness.set_size([1280.0, 2400.0].into());
    driven.send(Command::ShowPanel(Panel::Findings));
    let place = diagnosis(&driven).findings.iter().find_map(|finding| finding.places.first().copied()).unwrap();
    let text = text_of(&driven, &place);
    driven.harness.query_all_by_label(&text).next().unwrap().click();
    driven.settle();
    let state = driven.window().state();
    let span = place.span.shifted(state.workspace.docs[0].map.offset_ns);
    assert_eq!(state.view.selected_span, Some(span));
    let visible = state.view.viewport.span();
    assert!(visible.start_ns <= span.start_ns && visible.end_ns >= span.end_ns);
    assert!(visible.len_ns() <= 4 * span.len_ns(), "the place fills much of the view");
}

#[test]
fn the_panel_lists_findings_with_evidence_and_advice() {
    let mut driven = Driven::open();
    driven.harness.set_size([1280.0, 2400.0].into());
    let diagnosis = diagnosis(&driven);
    let all = diagnosis.findings_with(driven.window().state().workspace.mfu.mfu);
    driven.click(&format!("All findings ({})", all.len()));
    assert_eq!(driven.window().state().view.panel, Panel::Findings);
    let basis = diagnosis.verdict.as_ref().map(|verdict| verdict.basis);
    for finding in &all {
        assert!(driven.shows(finding.rule.title()), "{}", finding.rule.title());
        assert!(driven.shows(finding.rule.advice()) && driven.shows(&gain_text(finding, basis)));
        assert!(finding.evidence.iter().all(|evidence| driven.shows(&evidence_text(evidence))));
    }
}

#[test]
fn findings_come_largest_first() {
    let mut driven = Driven::open();
    driven.harness.set_size([1280.0, 2400.0].into());
    driven.send(Command::ShowPanel(Panel::Findings));
    let findings = diagnosis(&driven).findings;
    assert!(findings.len() > 1 && findings.windows(2).all(|pair| pair[0].ns_per_step >= pair[1].ns_per_step));
    let top = |title: &str| driven.harness.query_all_by_label(title).next().unwrap().rect().top();
    let tops: Vec<f32> = findings.iter().map(|finding| top(finding.rule.title())).collect();
    assert!(tops.is_sorted(), "{tops:?}");
}

#[test]
fn nothing_of_it_leaves_the_window_at_its_narrowest() {
    for panel in [Panel::Overview, Panel::Findings] {
        let mut driven = Driven::empty(900.0, 1600.0);
        driven.send(Command::OpenDemo);
        driven.wait(|window| !window.state().workspace.docs.is_empty());
        driven.send(Command::ShowPanel(panel));
        let title = verdict_title(&diagnosis(&driven).verdict.unwrap());
        let right = driven.harness.query_all_by_label_contains(&title).map(|node| node.rect().right());
        assert!(right.fold(0.0, f32::max) <= 900.0, "{panel:?}");
        driven.harness.check_accessibility();
    }
}
