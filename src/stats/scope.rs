//! Which rows a table counts: all, those that overlap a span, or those that overlap a step's window.

use crate::analysis::Analysis;
use crate::trace::Trace;
use crate::units::Span;

/// Which rows a table counts. A row that overlaps the scope counts whole: nothing is clipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Per rank.
    ranks: Vec<Window>,
    /// Per process.
    processes: Vec<Window>,
}

/// What part of time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    All,
    Only(Span),
    Nothing,
}

/// There is no step with the number asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoStep {
    /// Numbers of the steps that are there, in the order of ranks and time.
    pub known: Vec<i64>,
}

impl Scope {
    /// Every row.
    pub fn whole(trace: &Trace) -> Self {
        Self::same(trace, Window::All)
    }

    /// Rows that overlap `span`, on the export's clock.
    pub fn span(trace: &Trace, span: Span) -> Self {
        Self::same(trace, Window::Only(span))
    }

    fn same(trace: &Trace, window: Window) -> Self {
        Self { ranks: vec![window; trace.ranks.len()], processes: vec![window; trace.processes.len()] }
    }

    /// GPU work that overlaps the window of step `number` of its rank, and host rows that overlap it in its process.
    ///
    /// # Errors
    /// When no rank has such a step.
    pub fn step(trace: &Trace, analysis: &Analysis, number: i64) -> Result<Self, NoStep> {
        let mut scope = Self::same(trace, Window::Nothing);
        let (mut known, mut found) = (Vec::new(), false);
        for (rank, numbers) in analysis.ranks.iter().enumerate() {
            let steps = numbers.steps.iter().flat_map(|steps| &steps.steps).enumerate();
            for (at, step) in steps {
                let own = step.number.unwrap_or(at as i64);
                known.push(own);
                if own == number {
                    scope.widen(trace, rank, step.window);
                    found = true;
                    break;
                }
            }
        }
        if found { Ok(scope) } else { Err(NoStep { known }) }
    }

    fn widen(&mut self, trace: &Trace, rank: usize, span: Span) {
        if let Some(window) = self.ranks.get_mut(rank) {
            *window = Window::Only(span);
        }
        let process = trace.ranks.get(rank).map(|rank| rank.process);
        if let Some(window) = process.and_then(|process| self.processes.get_mut(process)) {
            *window = Window::Only(match *window {
                Window::Only(known) => known.hull(span),
                Window::All | Window::Nothing => span,
            });
        }
    }

    /// True when a row of rank `rank` counts.
    pub(super) fn holds_op(&self, rank: usize, row: Span) -> bool {
        self.ranks.get(rank).is_some_and(|window| window.holds(row))
    }

    /// True when a host row of process `process` counts.
    pub(super) fn holds_host(&self, process: usize, row: Span) -> bool {
        self.processes.get(process).is_some_and(|window| window.holds(row))
    }
}

impl Window {
    fn holds(self, row: Span) -> bool {
        match self {
            Self::All => true,
            Self::Only(span) => span.holds(row),
            Self::Nothing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn rows_that_only_touch_a_span_are_outside_and_instants_are_inside_from_its_start() {
        let trace = Fixture::new().kernel("k", 7, 0, 5).build();
        let scope = Scope::span(&trace, Span::new(10, 20));
        let holds = |start, end| scope.holds_op(0, Span::new(start, end));
        assert!(holds(5, 11) && holds(19, 40) && holds(0, 90) && holds(10, 10) && holds(12, 13));
        assert!(!holds(5, 10) && !holds(20, 25) && !holds(20, 20));
    }
}
