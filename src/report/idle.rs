//! Idle time and its causes of one rank, as JSON keys and text.

use super::gap::Gap;
use super::table::{paragraph, table};
use crate::analysis::{Cause, Causes, GapReport, GapSum, Limit, RankAnalysis};
use crate::format;
use crate::trace::{Rank, Trace};
use crate::units::share;
use serde::Serialize;

/// Gaps listed, the longest first, and how many of them the text shows.
const LISTED: usize = 20;
const IN_TEXT: usize = 8;

/// What stands in place of idle time when it is not known.
pub(super) const NOT_KNOWN: &str =
    "Idle time, its causes and its gaps: - (not known, for the reason given with the parts)";

/// Idle time and its causes of one rank; its fields stand among the rank's own.
#[derive(Debug, Serialize)]
pub struct IdleReport {
    /// Idle nanoseconds of the whole span by cause.
    pub idle_causes_ns: Causes,
    /// Gaps of at least this length are listed.
    pub gap_threshold_ns: i64,
    /// The gaps of at least that length.
    pub gaps_listed: GapSum,
    /// The shorter ones.
    pub gaps_shorter: GapSum,
    /// The longest gaps, the longest first; at most 20.
    pub gaps: Vec<Gap>,
    /// The columns of the text: title, length of the window, its causes.
    #[serde(skip)]
    columns: Vec<(String, i64, Causes)>,
    /// False when the capture puts all of it in doubt.
    #[serde(skip)]
    is_known: bool,
    /// True when typical steps own time outside of the rank's span.
    #[serde(skip)]
    steps_reach_out: bool,
}

impl IdleReport {
    /// The section of a rank.
    pub(super) fn of(trace: &Trace, rank: &Rank, numbers: &RankAnalysis) -> Self {
        let idle = &numbers.idle;
        let whole = idle.within(numbers.span);
        let mut columns = vec![("whole span".to_owned(), numbers.whole.span_ns, whole)];
        if let Some(steps) = &numbers.steps {
            let name = if steps.estimated { "estimated step" } else { "typical step" };
            let title = format!("{name} (mean of {})", format::count(steps.typical.count));
            columns.push((title, steps.typical.mean.span_ns, steps.typical.causes));
        }
        let longest = idle.longest(idle.listed_ns, LISTED).into_iter();
        let reports = longest.filter_map(|gap| GapReport::of(trace, rank, numbers, gap as usize));
        Self {
            idle_causes_ns: whole,
            gap_threshold_ns: idle.listed_ns,
            gaps_listed: idle.listed(idle.listed_ns),
            gaps_shorter: idle.shorter(idle.listed_ns),
            gaps: reports.map(|report| Gap::of(trace, rank, numbers, &report)).collect(),
            columns,
            is_known: !numbers.diagnosis.doubt.is_some_and(Limit::spoils_parts),
            steps_reach_out: numbers
                .steps
                .iter()
                .flat_map(|steps| &steps.steps)
                .any(|step| step.typical && step.window.start_ns < numbers.span.start_ns),
        }
    }

    /// The section as text, indented under its rank; empty when there is nothing to say.
    pub(super) fn text(&self) -> String {
        if !self.is_known {
            return format!("\n{}", paragraph("  ", NOT_KNOWN));
        }
        if self.idle_causes_ns.total_ns() == 0 {
            return String::new();
        }
        let mut text = format!("\n{}", table("  ", &self.rows()));
        if let Some(note) = self.outside_text() {
            text.push_str(&paragraph("  ", note));
        }
        if !self.gaps.is_empty() {
            text.push_str(&format!("\n  {}\n", self.listed_text()));
            let shown = self.gaps.iter().take(IN_TEXT);
            for gap in shown {
                text.push_str(&format!("    {}  {}\n", gap.moment(), gap.sentence));
            }
        }
        if let Some(shorter) = self.shorter_text() {
            text.push_str(&format!("  {shorter}\n"));
        }
        text
    }

    /// Why a step may be idle for longer than the whole span; `None` when none is.
    pub(super) fn outside_text(&self) -> Option<&'static str> {
        self.steps_reach_out.then_some(
            "The whole span begins with the first GPU operation; the window of the first step begins with its range, so the \
             idle time before that operation counts for the step only.",
        )
    }

    /// What the list of gaps shows.
    pub(super) fn listed_text(&self) -> String {
        let (count, total) =
            (format::counted(self.gaps_listed.count, "gap", "gaps"), format::duration(self.gaps_listed.total_ns));
        let threshold = format::duration(self.gap_threshold_ns);
        format!("Longest of {count} of at least {threshold} ({total} together)")
    }

    /// What it leaves out; `None` when that is nothing.
    pub(super) fn shorter_text(&self) -> Option<String> {
        let (count, total) =
            (format::counted(self.gaps_shorter.count, "gap", "gaps"), format::duration(self.gaps_shorter.total_ns));
        let threshold = format::duration(self.gap_threshold_ns);
        (self.gaps_shorter.count > 0).then(|| format!("Shorter than {threshold}: {count}, {total} together"))
    }

    /// Cause by column, with its share of the column's window; causes without time are left out.
    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        let mut head = vec!["Idle by cause".to_owned()];
        head.extend(self.columns.iter().flat_map(|(title, ..)| [title.clone(), String::new()]));
        let line = |name: &str, value: &dyn Fn(&Causes) -> i64| {
            let cells = self.columns.iter().flat_map(|(_, span_ns, causes)| {
                let ns = value(causes);
                [format::duration(ns), format::percent(share(ns, *span_ns))]
            });
            std::iter::once(name.to_owned()).chain(cells).collect::<Vec<String>>()
        };
        let mut rows = vec![head];
        let occurs = |cause: &Cause| self.columns.iter().any(|(_, _, causes)| causes.of(*cause) != 0);
        rows.extend(Cause::ALL.into_iter().filter(occurs).map(|cause| line(cause.text(), &|c| c.of(cause))));
        rows.push(line("Sum", &Causes::total_ns));
        rows
    }
}
