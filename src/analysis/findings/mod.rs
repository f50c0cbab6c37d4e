//! Findings: what costs time or distorts the numbers, each with its evidence, ranked by the time that could be won.
//!
//! A finding is one [`Rule`] that holds. The rules of one subject share a file; each looks at the [`Case`], which is
//! computed once in a few linear passes. A rule says nothing below its threshold ([`Thresholds`]).

mod advice;
mod calls;
mod capture;
mod comm;
mod compute;
mod contention;
mod copies;
mod efficiency;
mod host;
mod names;
mod rule;
mod runs;
mod steps;
#[cfg(test)]
mod tests;
mod work;

pub use rule::Rule;

use super::pipeline::{Bubble, Pipeline};
use super::places::GapPlaces;
use super::scope::{Basis, Scope};
use super::verdict::{Losses, Verdict};
use super::{Area, Classes, Limit, Params, Place, RankAnalysis, Thresholds, range_names, verdict};
use crate::trace::{NameId, Rank, Trace};
use crate::units::share;
use calls::Calls;
use work::Work;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Costs a noticeable part of the step, or spoils the numbers.
    Warning,
}

/// A number or a word that supports a finding.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(tag = "unit", content = "value", rename_all = "snake_case")]
pub enum Value {
    /// Nanoseconds.
    Ns(i64),
    /// A share, 0 to 1.
    Share(f64),
    /// A count, or a mean of counts.
    Count(f64),
    /// Bytes.
    Bytes(u64),
    /// Gigabytes (powers of ten) a second.
    GbPerS(f64),
    /// A name from the capture.
    Name(String),
}

/// One line of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What the value is.
    pub what: &'static str,
    /// The value.
    pub value: Value,
}

/// A rule that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// How much it matters.
    pub severity: Severity,
    /// Nanoseconds a step that could be won at most; of the whole span when no step is marked. 0 when it costs nothing.
    pub ns_per_step: i64,
    /// The same as a share of the step.
    pub share: f64,
    /// What supports it.
    pub evidence: Vec<Evidence>,
    /// Where to look.
    pub places: Vec<Place>,
}

impl Finding {
    /// Adds a line of evidence.
    #[must_use]
    pub(super) fn with(mut self, what: &'static str, value: Value) -> Self {
        self.evidence.push(Evidence { what, value });
        self
    }

    /// Adds a line of evidence unless it reads as zero: what did not happen supports nothing.
    #[must_use]
    pub(super) fn with_some(self, what: &'static str, value: Value) -> Self {
        let is_some = match &value {
            Value::Ns(ns) => *ns != 0,
            // What is less is shown as 0.
            Value::Count(count) => *count >= 0.05,
            Value::Share(share) | Value::GbPerS(share) => *share > 0.0,
            Value::Bytes(bytes) => *bytes != 0,
            Value::Name(name) => !name.is_empty(),
        };
        if is_some { self.with(what, value) } else { self }
    }

    /// Adds a line of evidence when it is known.
    #[must_use]
    pub(super) fn with_known(self, what: &'static str, value: Option<Value>) -> Self {
        match value {
            Some(value) => self.with(what, value),
            None => self,
        }
    }

    /// Says where to look.
    #[must_use]
    pub(super) fn at(mut self, places: Vec<Place>) -> Self {
        self.places = places;
        self
    }

    /// A warning, whatever its size.
    #[must_use]
    pub(super) const fn made_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }
}

/// What the rules look at.
struct Case<'a> {
    pub trace: &'a Trace,
    pub rank: &'a Rank,
    pub numbers: &'a RankAnalysis,
    pub scope: Scope,
    pub losses: Losses,
    pub bubble: Option<Bubble>,
    pub gaps: GapPlaces,
    /// Distinct names of the process's ranges.
    pub range_names: Vec<NameId>,
    pub work: Work,
    pub calls: Calls,
    pub limits: &'a Thresholds,
}

impl Case<'_> {
    /// A finding that could win `ns_per_step`.
    pub fn finding(&self, rule: Rule, ns_per_step: i64) -> Finding {
        let share = self.scope.share(ns_per_step);
        let from = match rule.area() {
            Area::Communication => self.limits.exposed_warning_share,
            _ => self.limits.warning_share,
        };
        let is_large = !rule.is_note() && share >= from;
        let severity = if is_large { Severity::Warning } else { Severity::Note };
        Finding { rule, severity, ns_per_step, share, evidence: Vec::new(), places: Vec::new() }
    }

    /// A finding on time beyond the typical step: its share is of the two together, as it is no part of that step.
    pub fn finding_beyond(&self, rule: Rule, ns_per_step: i64) -> Finding {
        let with_it_ns = self.scope.parts.span_ns.saturating_add(ns_per_step);
        let of_both = share(ns_per_step, with_it_ns).unwrap_or(0.0);
        Finding { share: of_both, ..self.finding(rule, ns_per_step) }
    }

    /// Nanoseconds of an area a step.
    pub fn loss_ns(&self, area: Area) -> i64 {
        self.losses.of_area(area)
    }

    /// The worst places of an area.
    pub fn places_of(&self, area: Area) -> Vec<Place> {
        verdict::places_of(area, self.numbers, &self.scope, self.bubble.as_ref(), &self.gaps)
    }
}

/// The verdict on a rank and its findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diagnosis {
    /// Why numbers of the capture may be wrong; `None` when they can be trusted.
    pub doubt: Option<Limit>,
    /// What the step is bound by; `None` when the rank's span has no length, or when the parts of its time are in doubt.
    pub verdict: Option<Verdict>,
    /// What was found, by the time it could win, largest first.
    pub findings: Vec<Finding>,
    limits: Thresholds,
}

/// Nothing else stands out only when there is no warning; and what was counted over a whole span is not a step's.
fn tidy(findings: &mut Vec<Finding>, basis: Basis) {
    if findings.iter().any(|finding| finding.severity == Severity::Warning) {
        findings.retain(|finding| finding.rule != Rule::Healthy);
    }
    if basis != Basis::TypicalStep {
        for evidence in findings.iter_mut().flat_map(|finding| &mut finding.evidence) {
            let what = evidence.what;
            evidence.what = what.strip_suffix(" per step").unwrap_or(what).trim_end_matches(',');
        }
    }
}

/// The largest first; of equals warnings, then in the order of the rules.
fn rank_by_gain(findings: &mut [Finding]) {
    findings.sort_by_key(|f| (std::cmp::Reverse((f.ns_per_step, f.severity)), f.rule));
}

impl Diagnosis {
    /// How many [`Diagnosis::findings_with`] gives.
    pub fn count_with(&self, mfu: Option<f64>) -> usize {
        self.findings.len() + usize::from(self.about_mfu(mfu).is_some())
    }

    fn about_mfu(&self, mfu: Option<f64>) -> Option<Finding> {
        self.verdict.as_ref().zip(mfu).and_then(|(verdict, mfu)| efficiency::finding(verdict, mfu, &self.limits))
    }

    /// All findings for a run whose model FLOPs utilisation is `mfu`, when that is known: it belongs to the run, which
    /// may be more than this capture.
    pub fn findings_with(&self, mfu: Option<f64>) -> Vec<Finding> {
        let mut findings = self.findings.clone();
        findings.extend(self.about_mfu(mfu));
        rank_by_gain(&mut findings);
        findings
    }

    /// Judges rank `rank` of `trace`.
    ///
    /// # Panics
    /// When the trace has no such rank.
    pub fn of(trace: &Trace, rank: usize, classes: &Classes, numbers: &RankAnalysis, params: &Params) -> Self {
        let (doubt, limits) = (Limit::doubt(trace, &trace.ranks[rank]), params.thresholds);
        let scope = Scope::of(numbers).filter(|_| !doubt.is_some_and(Limit::spoils_parts));
        let Some(scope) = scope else { return Self { doubt, limits, ..Self::default() } };
        let process = trace.ranks[rank].process;
        let range_names = range_names::distinct(trace, process);
        let pipeline = Pipeline::find(trace, process, &scope, params.experiment.as_ref(), &range_names);
        let bubble = pipeline.map(|p| Bubble::of(trace, rank, classes, numbers, &scope, p));
        let case = Case {
            losses: Losses::of(&scope.parts, &scope.causes, bubble.as_ref()),
            work: Work::of(trace, rank, classes, numbers, &scope, &limits),
            calls: Calls::of(trace, process, numbers, &scope, &limits),
            gaps: GapPlaces::of(&scope, numbers),
            rank: &trace.ranks[rank],
            trace,
            numbers,
            scope,
            bubble,
            range_names,
            limits: &limits,
        };
        let mut findings = Vec::new();
        comm::findings(&case, &mut findings);
        host::findings(&case, &mut findings);
        copies::findings(&case, &mut findings);
        compute::findings(&case, &mut findings);
        findings.extend(contention::finding(&case, classes));
        steps::findings(&case, &mut findings);
        capture::findings(&case, &mut findings);
        tidy(&mut findings, case.scope.basis);
        rank_by_gain(&mut findings);
        let Case { scope, losses, bubble, gaps, .. } = case;
        let verdict = Verdict::of(numbers, &scope, losses, bubble, &findings, (&limits, &gaps));
        Self { doubt, verdict: Some(verdict), findings, limits }
    }
}
