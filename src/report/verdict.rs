//! The verdict and the findings of one rank, as JSON keys and text.

use super::compare::reservation_of;
use super::table::paragraph;
use crate::analysis::{
    Area, Basis, Diagnosis, Evidence, Finding, Place, RankAnalysis, Rule, Severity, Steps, Value, Verdict,
};
use crate::format;
use crate::job::{Doubt, ExposedSplit, Job, Split};
use crate::trace::Trace;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the ranks that are open together tell of one of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside {
    /// Ranks that are open, itself included.
    pub ranks: usize,
    /// Its exposed communication by what it was; `None` when no collective could be matched.
    pub split: Option<ExposedSplit>,
    /// All its matched collectives; `None` without any.
    pub waits: Option<Split>,
    /// Why both are no evidence of waiting; `None` when they are.
    pub doubt: Option<Doubt>,
}

impl Beside {
    /// What `job` tells of its rank `rank`, whose exposed communication splits so.
    pub fn of(job: &Job, rank: usize, split: Option<ExposedSplit>) -> Self {
        let waits = job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0).map(|waits| waits.split);
        Self { ranks: job.ranks.len(), split, waits, doubt: job.clock.doubt() }
    }

    /// A sentence about what it waited, with the reservation where there is one.
    pub(super) fn reserved(&self, text: String) -> String {
        match self.doubt {
            Some(doubt) => format!("{text} {}", reservation_of(doubt)),
            None => text,
        }
    }
}

/// The verdict and the findings of one rank; its fields stand among the rank's own.
#[derive(Debug, Serialize)]
pub struct VerdictReport {
    /// What the step is bound by; absent when there are no events.
    verdict: Option<VerdictKeys>,
    /// Exposed communication by what it was, when the collectives were matched with other ranks.
    #[serde(flatten)]
    split: Option<ExposedSplit>,
    /// What was found, by the time it could win, largest first.
    findings: Vec<FindingKeys>,
    /// The verdict in words, a line for each thing that is said.
    #[serde(skip)]
    lines: Vec<String>,
}

/// The verdict.
#[derive(Debug, Serialize)]
struct VerdictKeys {
    class: Area,
    share: f64,
    also: Option<Area>,
    margin: f64,
    ns_per_step: i64,
    basis: Basis,
    basis_reason: Option<&'static str>,
    steps: u64,
    losses_ns: BTreeMap<&'static str, i64>,
    bubble: Option<BubbleKeys>,
    evidence: Vec<PlaceKeys>,
    next_action: String,
    next_rule: Rule,
    mfu_if_gone: Option<f64>,
}

/// The pipeline bubble beside its theory.
#[derive(Debug, Serialize)]
struct BubbleKeys {
    share: Option<f64>,
    theory_share: Option<f64>,
    stages: Option<u32>,
    micro_batches: Option<u32>,
    interleave: Option<u32>,
    exposed_ns: i64,
    idle_ns: i64,
}

/// A place on the timeline.
#[derive(Debug, Serialize)]
struct PlaceKeys {
    step: Option<String>,
    start_ns: i64,
    end_ns: i64,
    ns: i64,
}

/// One finding.
#[derive(Debug, Serialize)]
struct FindingKeys {
    rule: Rule,
    class: Area,
    severity: Severity,
    ns_per_step: i64,
    share: f64,
    title: &'static str,
    evidence: Vec<EvidenceKeys>,
    places: Vec<PlaceKeys>,
    advice: &'static str,
}

/// One line of evidence.
#[derive(Debug, Serialize)]
struct EvidenceKeys {
    what: &'static str,
    #[serde(flatten)]
    value: Value,
    text: String,
}

/// A value of a finding as text.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::Ns(ns) => format::duration(*ns),
        Value::Share(share) => format::percent(Some(*share)),
        Value::Count(count) => format::count_or_mean(*count),
        Value::Bytes(bytes) => format::bytes(*bytes),
        Value::GbPerS(rate) => format::bandwidth(Some(*rate)),
        Value::Name(name) => format::one_line(name, 80),
    }
}

/// A line of evidence as text.
pub fn evidence_text(evidence: &Evidence) -> String {
    format!("{}: {}", evidence.what, value_text(&evidence.value))
}

/// What a finding could win, as text: time and share of the step; empty when it costs nothing.
pub fn gain_text(finding: &Finding, basis: Option<Basis>) -> String {
    let per = if basis == Some(Basis::TypicalStep) { "per step" } else { "in the whole span" };
    match finding.ns_per_step {
        0 => String::new(),
        ns => format!("{} {per}, {}", format::duration(ns), format::percent(Some(finding.share))),
    }
}

/// Why there is no verdict, and what to do about it.
pub fn no_verdict(diagnosis: &Diagnosis) -> Vec<String> {
    match diagnosis.doubt.filter(|doubt| doubt.spoils_parts()) {
        Some(doubt) => {
            vec![format!("No verdict. {}", doubt.consequence()), format!("Next time: {}", doubt.remedy())]
        }
        None => vec!["No events, so no verdict.".to_owned()],
    }
}

/// What to do about exposed communication that is waiting for a late rank.
const LATE_RANK: &str = "Most of this is waiting for a rank that starts later, so a faster network would not help: find \
     what that rank does longer (`stepscope compare`, or Ranks in the window) and even it out.";

/// What to do about exposed communication while the clock does not tell who was late.
const LATE_OR_SLOW: &str = "Waiting for a late rank and moving data take other advice, and the clock in force does not \
     tell them apart: choose the clock by collectives, and take back what was shifted by hand.";

/// What to do after a verdict: the advice, and what it is about when that is not what the verdict names.
///
/// Exposed communication that is mostly waiting is the late rank's doing, so it takes other advice; by a clock that does
/// not tell who was late there is none.
pub fn next_text(verdict: &Verdict, beside: &Beside) -> String {
    if verdict.area == Area::Communication && verdict.next.area() == Area::Communication {
        match &beside.split {
            Some(_) if beside.doubt.is_some() => return LATE_OR_SLOW.to_owned(),
            Some(split) if split.is_mostly_waiting() => return LATE_RANK.to_owned(),
            _ => {}
        }
    }
    let advice = verdict.next.advice_among(beside.ranks);
    if verdict.next.area() == verdict.area { advice.to_owned() } else { format!("{}: {advice}", verdict.next.title()) }
}

/// What the step is bound by.
pub fn verdict_title(verdict: &Verdict) -> String {
    match verdict.also {
        Some(also) => format!("{}, closely followed by {}", verdict.area.verdict(), also.text()),
        None => verdict.area.verdict().to_owned(),
    }
}

/// What that costs.
pub fn verdict_cost(verdict: &Verdict) -> String {
    let (share, basis) = (format::percent(Some(verdict.share)), verdict.basis.text());
    match verdict.area {
        Area::Compute => format!("{share} of the {basis} computes"),
        _ => format!("{share} of the {basis}, {}", format::duration(verdict.ns_per_step)),
    }
}

/// The verdict in one line.
pub fn verdict_text(verdict: &Verdict) -> String {
    format!("{}: {}", verdict_title(verdict), verdict_cost(verdict))
}

/// By how much the verdict holds, in one line.
pub fn margin_text(verdict: &Verdict) -> String {
    let margin = format::points(verdict.margin);
    match verdict.area {
        Area::Compute => format!(
            "Losses cost {} together; the largest is {margin} below what would make it a verdict.",
            format::duration(verdict.ns_per_step)
        ),
        _ => format!("{margin} ahead of the next loss."),
    }
}

/// The pipeline bubble beside its theory, in one line; `None` without a pipeline.
pub fn bubble_text(verdict: &Verdict) -> Option<String> {
    let bubble = verdict.bubble.as_ref()?;
    let measured = format::percent(bubble.share(verdict.losses.span_ns));
    Some(match bubble.pipeline.theory() {
        Some(theory) => {
            format!("Pipeline bubble measured {measured}, by the schedule {}.", format::percent(Some(theory)))
        }
        None => format!(
            "Pipeline bubble measured {measured}; the schedule's share needs the number of stages and micro-batches."
        ),
    })
}

/// Exposed communication by what it was; of a verdict on communication, when that is not known, why not. `None` when
/// there is nothing to say.
pub fn waiting_text(verdict: &Verdict, beside: &Beside) -> Option<String> {
    match &beside.split {
        Some(split) => (*split != ExposedSplit::default()).then(|| beside.reserved(split_text(split))),
        None if beside.ranks > 1 => (verdict.area == Area::Communication).then(|| UNMATCHED.to_owned()),
        None => (verdict.area == Area::Communication).then(|| UNSPLIT.to_owned()),
    }
}

/// Why waiting is not told from transfer when one rank is open.
const UNSPLIT: &str = "Part of it may be waiting for a rank that arrives late, which one rank's numbers cannot tell from \
                       transfer: compare the same collectives on all ranks.";
/// The same when several are.
const UNMATCHED: &str = "Part of it may be waiting for a rank that arrives late. How much is not known, since none of its \
                         collectives could be matched with those of the other open ranks.";

fn split_text(split: &ExposedSplit) -> String {
    let unmatched = match split.unmatched_ns {
        0 => String::new(),
        ns => format!(", {} in kernels that could not be matched", format::duration(ns)),
    };
    format!(
        "Exposed communication: {} waiting for other ranks, {} transfer{unmatched}.",
        format::duration(split.wait_ns),
        format::duration(split.transfer_ns),
    )
}

/// What the MFU could be, in one line; `None` when it is not known.
pub fn mfu_text(verdict: &Verdict, mfu: Option<f64>) -> Option<String> {
    let mfu = verdict.mfu_if_gone(mfu)?;
    Some(format!("Without this loss the MFU would be {} at most.", format::percent(Some(mfu))))
}

/// A place as text.
pub fn place_text(place: &Place, trace: &Trace, steps: Option<&Steps>) -> String {
    let step = place.step.and_then(|at| steps.and_then(|s| s.steps.get(at)));
    match step {
        Some(step) => format!("{} in {}", format::duration(place.ns), format::one_line(&step.name, 40)),
        None => {
            let at_ns = trace.since_start_ns(place.span.start_ns);
            format!("{} at {}", format::duration(place.ns), format::duration(at_ns))
        }
    }
}

impl VerdictReport {
    /// What the step is bound by, as a stable word; `None` when nothing ran.
    pub(super) fn class(&self) -> Option<&'static str> {
        self.verdict.as_ref().map(|verdict| verdict.class.key())
    }

    /// What to do next; `None` when nothing ran.
    pub(super) fn next_action(&self) -> Option<&str> {
        self.verdict.as_ref().map(|verdict| verdict.next_action.as_str())
    }

    /// Nanoseconds a step of the pipeline's bubble; `None` without a pipeline.
    pub(super) fn bubble_ns(&self) -> Option<i64> {
        let verdict = self.verdict.as_ref().filter(|verdict| verdict.bubble.is_some())?;
        verdict.losses_ns.get(Area::Bubble.key()).copied()
    }

    /// The findings as rows: rule, what, time, share, evidence, advice.
    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        let row = |finding: &FindingKeys| {
            let costs = finding.ns_per_step != 0;
            let evidence: Vec<String> = finding.evidence.iter().map(|e| format!("{} {}", e.what, e.text)).collect();
            vec![
                finding.rule.id().to_owned(),
                finding.title.to_owned(),
                format::duration_or_unknown(costs.then_some(finding.ns_per_step)),
                format::percent(costs.then_some(finding.share)),
                evidence.join("; "),
                finding.advice.to_owned(),
            ]
        };
        self.findings.iter().map(row).collect()
    }

    /// The section of a rank of a run whose model FLOPs utilisation is `mfu`, when that is known.
    pub(super) fn of(trace: &Trace, numbers: &RankAnalysis, mfu: Option<f64>, beside: &Beside) -> Self {
        let diagnosis = &numbers.diagnosis;
        let steps = numbers.steps.as_ref();
        Self {
            verdict: diagnosis.verdict.as_ref().map(|verdict| VerdictKeys::of(verdict, steps, mfu, beside)),
            findings: diagnosis.findings_with(mfu).iter().map(|of| FindingKeys::of(of, steps, beside.ranks)).collect(),
            lines: lines(trace, numbers, mfu, beside),
            split: beside.split,
        }
    }

    /// The verdict in words, a line for each thing that is said.
    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The verdict as text, indented under its rank.
    pub(super) fn headline(&self) -> String {
        let indented = |(at, line): (usize, &String)| match at {
            0 => format!("  {line}\n"),
            _ => paragraph("    ", line),
        };
        self.lines.iter().enumerate().map(indented).collect()
    }

    /// The findings as text, indented under their rank; empty when there is none.
    pub(super) fn text(&self) -> String {
        if self.findings.is_empty() {
            return String::new();
        }
        let mut text = "\n  Findings, by the time they could win\n".to_owned();
        for finding in &self.findings {
            let gain = match finding.ns_per_step {
                0 => String::new(),
                ns => format!("  {} ({})", format::duration(ns), format::percent(Some(finding.share))),
            };
            let sign = if finding.severity == Severity::Warning { '!' } else { ' ' };
            text.push_str(&format!("  {sign} {:<4}{}{gain}\n", finding.rule.id(), finding.title));
            let evidence: Vec<String> = finding.evidence.iter().map(|e| format!("{} {}", e.what, e.text)).collect();
            if !evidence.is_empty() {
                text.push_str(&paragraph("        ", &evidence.join("; ")));
            }
            text.push_str(&paragraph("        ", finding.advice));
        }
        text
    }
}

/// The verdict with its next action, a line for each thing that is said.
fn lines(trace: &Trace, numbers: &RankAnalysis, mfu: Option<f64>, beside: &Beside) -> Vec<String> {
    let (diagnosis, steps) = (&numbers.diagnosis, numbers.steps.as_ref());
    let Some(verdict) = &diagnosis.verdict else { return no_verdict(diagnosis) };
    let mut lines = vec![verdict_text(verdict), margin_text(verdict)];
    lines.extend(bubble_text(verdict).into_iter().chain(mfu_text(verdict, mfu)));
    if !verdict.places.is_empty() {
        let places: Vec<String> = verdict.places.iter().map(|place| place_text(place, trace, steps)).collect();
        lines.push(format!("Longest at once: {}.", places.join(", ")));
    }
    lines.push(format!("Next: {}", next_text(verdict, beside)));
    lines.extend(waiting_text(verdict, beside));
    lines.extend(verdict.basis.reason().map(str::to_owned));
    lines
}

impl VerdictKeys {
    fn of(verdict: &Verdict, steps: Option<&Steps>, mfu: Option<f64>, beside: &Beside) -> Self {
        let losses = Area::OF_TIME.map(|area| (area.key(), verdict.losses.of_area(area)));
        let bubble = verdict.bubble.as_ref().map(|bubble| BubbleKeys {
            share: bubble.share(verdict.losses.span_ns),
            theory_share: bubble.pipeline.theory(),
            stages: bubble.pipeline.stages,
            micro_batches: bubble.pipeline.micro_batches,
            interleave: bubble.pipeline.interleave,
            exposed_ns: bubble.exposed_ns,
            idle_ns: bubble.idle.total_ns(),
        });
        Self {
            class: verdict.area,
            share: verdict.share,
            also: verdict.also,
            margin: verdict.margin,
            ns_per_step: verdict.ns_per_step,
            basis: verdict.basis,
            basis_reason: verdict.basis.reason(),
            steps: verdict.steps,
            losses_ns: losses.into_iter().collect(),
            bubble,
            evidence: verdict.places.iter().map(|place| PlaceKeys::of(place, steps)).collect(),
            next_action: next_text(verdict, beside),
            next_rule: verdict.next,
            mfu_if_gone: verdict.mfu_if_gone(mfu),
        }
    }
}

impl PlaceKeys {
    fn of(place: &Place, steps: Option<&Steps>) -> Self {
        let step = place.step.and_then(|at| steps.and_then(|s| s.steps.get(at)));
        Self {
            step: step.map(|step| step.name.clone()),
            start_ns: place.span.start_ns,
            end_ns: place.span.end_ns,
            ns: place.ns,
        }
    }
}

impl FindingKeys {
    /// A finding of one of so many open ranks.
    fn of(finding: &Finding, steps: Option<&Steps>, ranks: usize) -> Self {
        let evidence = finding.evidence.iter().map(|evidence| EvidenceKeys {
            what: evidence.what,
            value: evidence.value.clone(),
            text: value_text(&evidence.value),
        });
        Self {
            rule: finding.rule,
            class: finding.rule.area(),
            severity: finding.severity,
            ns_per_step: finding.ns_per_step,
            share: finding.share,
            title: finding.rule.title(),
            evidence: evidence.collect(),
            places: finding.places.iter().map(|place| PlaceKeys::of(place, steps)).collect(),
            advice: finding.rule.advice_among(ranks),
        }
    }
}
