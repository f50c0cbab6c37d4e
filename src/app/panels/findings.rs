//! What loses time, ranked by what could be won back.

use super::grid::filter_bar;
use super::sheet::{Filter, tsv};
use crate::analysis::{Basis, Finding, Severity};
use crate::app::cx::{Chosen, Cx};
use crate::app::icons::{self, Icon};
use crate::app::verdict::{card, color, places, swatch, wrapped};
use crate::report::{evidence_text, gain_text, verdict_text};
use crate::units::Span;
use crate::view::{Command, RankId};
use egui::{RichText, Ui};
use std::borrow::Cow;

/// What the panel keeps between frames: the findings of a rank, those on MFU included.
#[derive(Debug, Default)]
pub struct FindingsCache {
    of: Option<(u64, RankId, Option<u64>)>,
    findings: Vec<Finding>,
    filter: Filter,
}

impl FindingsCache {
    fn update(&mut self, cx: &Cx<'_>, chosen: &Chosen<'_>) {
        let mfu = cx.workspace.mfu.mfu;
        let of = Some((cx.revision, chosen.id, mfu.map(f64::to_bits)));
        if self.of != of {
            self.of = of;
            self.findings = chosen.numbers.diagnosis.findings_with(mfu);
        }
    }
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut FindingsCache, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        wrapped(ui, RichText::new("No GPU work, so nothing to judge.").weak());
        return;
    };
    cache.update(cx, &chosen);
    let verdict = chosen.numbers.diagnosis.verdict.as_ref();
    if let Some(verdict) = verdict {
        wrapped(ui, RichText::new(verdict_text(verdict)).strong());
        wrapped(ui, RichText::new("By the time that each could win at most; they may overlap.").small().weak());
    }
    ui.add_space(8.0);
    if cache.findings.is_empty() {
        wrapped(ui, RichText::new("No rule has anything to say.").weak());
    }
    if !cache.findings.is_empty() {
        let placed = chosen.selection(cx);
        if let Some(copied) = filter_bar(ui, &mut cache.filter, "findings", placed, true) {
            let basis = verdict.map(|verdict| verdict.basis);
            let lines = wanted(cx, &chosen, cache).map(|finding| as_line(cx, finding, basis));
            let rows = wanted(cx, &chosen, cache).count();
            copied.add(&tsv(std::iter::once(HEADS.map(Cow::Borrowed).to_vec()).chain(lines)), rows);
            copied.finish(ui);
        }
        if wanted(cx, &chosen, cache).next().is_none() {
            wrapped(ui, RichText::new("No finding is like that.").weak());
        }
    }
    ui.add_space(4.0);
    for finding in wanted(cx, &chosen, cache) {
        one(ui, cx, &chosen, finding, out);
        ui.add_space(8.0);
    }
}

/// The findings that the filter leaves: those without places are about the whole, so no selection leaves them out.
fn wanted<'a>(cx: &Cx<'_>, chosen: &Chosen<'_>, cache: &'a FindingsCache) -> impl Iterator<Item = &'a Finding> {
    let within = cache.filter.within(chosen.selection(cx));
    cache.findings.iter().filter(move |finding| {
        let holds = |window: Span| finding.places.iter().any(|place| window.holds(place.span));
        let placed = within.is_none_or(|window| finding.places.is_empty() || holds(window));
        let texts = [finding.rule.title(), advice(cx, finding), finding.rule.id(), finding.rule.area().text()];
        placed && cache.filter.accepts(&texts.join("\n"))
    })
}

/// Heads of the columns in what is copied.
const HEADS: [&str; 6] = ["Rule", "Finding", "Gain", "Area", "Evidence", "What to do"];

/// What to do about a finding, as far as the open ranks tell.
fn advice(cx: &Cx<'_>, finding: &Finding) -> &'static str {
    finding.rule.advice_among(cx.workspace.job.ranks.len())
}

fn as_line(cx: &Cx<'_>, finding: &Finding, basis: Option<Basis>) -> Vec<Cow<'static, str>> {
    let evidence: Vec<String> = finding.evidence.iter().map(evidence_text).collect();
    vec![
        Cow::Borrowed(finding.rule.id()),
        Cow::Borrowed(finding.rule.title()),
        Cow::Owned(gain_text(finding, basis)),
        Cow::Borrowed(finding.rule.area().text()),
        Cow::Owned(evidence.join("; ")),
        Cow::Borrowed(advice(cx, finding)),
    ]
}

/// One finding as a card.
fn one(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, finding: &Finding, out: &mut Vec<Command>) {
    let (palette, area) = (cx.palette, finding.rule.area());
    let basis = chosen.numbers.diagnosis.verdict.as_ref().map(|verdict| verdict.basis);
    card(ui, color(area, palette), palette.header, |ui| {
        ui.horizontal_top(|ui| {
            if finding.severity == Severity::Warning {
                icons::show(ui, Icon::Warning, palette.warning).on_hover_text("Costs a noticeable part of the step");
            } else {
                swatch(ui, palette, area);
            }
            wrapped(ui, RichText::new(finding.rule.title()).strong()).on_hover_text(area.definition());
        });
        let gain = gain_text(finding, basis);
        // An area alone would be a line that says nothing.
        if !gain.is_empty() {
            wrapped(ui, RichText::new(format!("{gain}  ·  {}", area.text()))).on_hover_text(area.definition());
        }
        for evidence in &finding.evidence {
            wrapped(ui, RichText::new(evidence_text(evidence)).small().weak());
        }
        if !finding.places.is_empty() {
            places(ui, chosen, "Places:", &finding.places, out);
        }
        ui.add_space(4.0);
        wrapped(ui, RichText::new(advice(cx, finding)));
        let id = RichText::new(format!("Rule {}", finding.rule.id())).small().weak();
        wrapped(ui, id);
    });
}
