//! What loses time, ranked by what could be won back.

use crate::analysis::{Finding, Severity};
use crate::app::cx::{Chosen, Cx};
use crate::app::icons::{self, Icon};
use crate::app::verdict::{card, color, places, swatch, wrapped};
use crate::report::{evidence_text, gain_text, verdict_text};
use crate::view::{Command, RankId};
use egui::{RichText, Ui};

/// What the panel keeps between frames: the findings of a rank, those on MFU included.
#[derive(Debug, Default)]
pub struct FindingsCache {
    of: Option<(u64, RankId, Option<u64>)>,
    findings: Vec<Finding>,
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
    for finding in &cache.findings {
        one(ui, cx, &chosen, finding, out);
        ui.add_space(8.0);
    }
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
            wrapped(ui, RichText::new(finding.rule.title()).strong());
        });
        let gain = gain_text(finding, basis);
        let about = if gain.is_empty() { area.text().to_owned() } else { format!("{gain}  ·  {}", area.text()) };
        wrapped(ui, RichText::new(about)).on_hover_text(area.definition());
        for evidence in &finding.evidence {
            wrapped(ui, RichText::new(evidence_text(evidence)).small().weak());
        }
        if !finding.places.is_empty() {
            places(ui, chosen, "Places:", &finding.places, out);
        }
        ui.add_space(4.0);
        wrapped(ui, RichText::new(finding.rule.advice()));
        let id = RichText::new(format!("Rule {}", finding.rule.id())).small().weak();
        wrapped(ui, id);
    });
}
