//! The time that a verdict is about: the typical steps, or the whole span when no step is marked.

use super::{Causes, Partition, RankAnalysis};
use crate::units::Span;
use crate::units::share;
use serde::Serialize;

/// What a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Basis {
    /// The mean over the typical steps.
    #[serde(rename = "typical step")]
    TypicalStep,
    /// The rank's whole span, as no step is marked.
    #[serde(rename = "whole span")]
    NoSteps,
    /// The rank's whole span, as the steps are only estimated.
    #[serde(rename = "whole span")]
    EstimatedSteps,
}

impl Basis {
    /// What the numbers are about, for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::TypicalStep => "typical step",
            Self::NoSteps | Self::EstimatedSteps => "whole span",
        }
    }

    /// True when the numbers are about the whole span.
    pub const fn is_whole_span(self) -> bool {
        !matches!(self, Self::TypicalStep)
    }

    /// Why it is not the typical step.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::TypicalStep => None,
            Self::NoSteps => Some("No step is marked, so this is about the rank's whole span, warm-up included."),
            Self::EstimatedSteps => {
                Some("Steps are only estimated, so this is about the rank's whole span, warm-up included.")
            }
        }
    }
}

/// One window of the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// Index of its step.
    pub step: Option<usize>,
    /// GPU time.
    pub span: Span,
    /// Host time: the step's range.
    pub host: Span,
}

/// The windows a verdict is about, and their means.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub basis: Basis,
    /// Sorted by time; at least one.
    pub windows: Vec<Window>,
    /// Mean parts of a window.
    pub parts: Partition,
    /// Mean idle time of a window by cause.
    pub causes: Causes,
}

impl Scope {
    /// The scope of a rank; `None` when its span has no length.
    pub fn of(numbers: &RankAnalysis) -> Option<Self> {
        let marked = numbers.steps.as_ref().filter(|steps| !steps.estimated);
        if let Some(steps) = marked.filter(|steps| steps.typical.mean.span_ns > 0) {
            let typical = steps.steps.iter().enumerate().filter(|(_, step)| step.typical);
            return Some(Self {
                basis: Basis::TypicalStep,
                windows: typical.map(|(at, s)| Window { step: Some(at), span: s.window, host: s.range }).collect(),
                parts: steps.typical.mean,
                causes: steps.typical.causes,
            });
        }
        let basis = if numbers.steps.is_some() { Basis::EstimatedSteps } else { Basis::NoSteps };
        let whole = Window { step: None, span: numbers.span, host: Span::new(i64::MIN, i64::MAX) };
        (!numbers.span.is_empty()).then(|| Self {
            basis,
            windows: vec![whole],
            parts: numbers.whole,
            causes: numbers.idle.within(numbers.span),
        })
    }

    /// Number of steps (1 for the whole span).
    pub fn steps(&self) -> i64 {
        i64::try_from(self.windows.len()).unwrap_or(i64::MAX).max(1)
    }

    /// The window that `at_ns` lies in.
    pub fn window_at(&self, at_ns: i64) -> Option<&Window> {
        let begun = self.windows.partition_point(|window| window.span.start_ns <= at_ns);
        begun.checked_sub(1).and_then(|at| self.windows.get(at)).filter(|window| window.span.contains(at_ns))
    }

    /// A sum over all windows as the mean of one.
    pub fn mean_ns(&self, sum_ns: i64) -> i64 {
        sum_ns / self.steps()
    }

    /// Exposed communication of the windows within `spans` (sorted, apart from each other), as the mean of one window.
    pub fn exposed_ns(&self, numbers: &RankAnalysis, spans: &[Span]) -> i64 {
        let within = |window: &Window| {
            let first = spans.partition_point(|span| span.end_ns <= window.span.start_ns);
            let touching = spans.get(first..).unwrap_or(&[]).iter().map_while(|span| span.intersect(window.span));
            touching.fold(0_i64, |sum, span| sum.saturating_add(numbers.partition(span).exposed_comm_ns))
        };
        self.mean_ns(self.windows.iter().map(within).fold(0, i64::saturating_add))
    }

    /// A count over all windows as the mean of one.
    pub fn mean_count(&self, sum: u64) -> f64 {
        sum as f64 / self.steps() as f64
    }

    /// Nanoseconds of a step as a share of it.
    pub fn share(&self, ns: i64) -> f64 {
        share(ns, self.parts.span_ns).unwrap_or(0.0)
    }
}
