//! From when time is counted: the one place that says where zero is.

use super::{Item, RankId, ViewState, Workspace};
use serde::{Deserialize, Serialize};

/// From when time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Axis {
    /// From the first event of the capture.
    #[default]
    Capture,
    /// From the start of the selected step, else of the one in the middle of the view.
    Step,
    /// Time of day, UTC.
    Wall,
}

/// Where zero is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zero {
    /// What is counted from, after falling back to the capture when the wish cannot be met.
    pub axis: Axis,
    /// Axis time that is shown as 0.
    pub at_ns: i64,
    /// Nanoseconds from 1970 to axis time 0, when times of day are shown.
    pub epoch_ns: Option<i64>,
    /// The step that is counted from.
    pub step: Option<(RankId, usize)>,
    /// Why another axis than the wished one is in force.
    pub refused: Option<&'static str>,
}

impl Axis {
    /// All of them, in the order that a click goes through.
    pub const ALL: [Self; 3] = [Self::Capture, Self::Step, Self::Wall];

    /// The next one, round and round.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Capture => Self::Step,
            Self::Step => Self::Wall,
            Self::Wall => Self::Capture,
        }
    }

    /// Name in menus.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Capture => "Since the start of the capture",
            Self::Step => "Since the start of the step",
            Self::Wall => "Wall clock (UTC)",
        }
    }
}

impl ViewState {
    /// Where zero is on the axis that is wished for.
    pub fn zero(&self, workspace: &Workspace) -> Zero {
        self.zero_of(self.axis, workspace)
    }

    /// Where zero would be on `axis`.
    pub fn zero_of(&self, axis: Axis, workspace: &Workspace) -> Zero {
        let capture = Zero { axis: Axis::Capture, at_ns: 0, epoch_ns: None, step: None, refused: None };
        match axis {
            Axis::Capture => capture,
            Axis::Step => match self.step_counted_from(workspace) {
                Some((rank, step, at_ns)) => Zero { axis, at_ns, step: Some((rank, step)), ..capture },
                None => Zero { refused: Some("no step is marked in this capture"), ..capture },
            },
            Axis::Wall => match self.epoch_ns(workspace) {
                Some(epoch_ns) => Zero { axis, epoch_ns: Some(epoch_ns), ..capture },
                None => {
                    let reason = "the export does not tell when its session started, so the time of day is not known";
                    Zero { refused: Some(reason), ..capture }
                }
            },
        }
    }

    fn step_counted_from(&self, workspace: &Workspace) -> Option<(RankId, usize, i64)> {
        let is_shown = |rank| self.shown_ranks().is_none_or(|shown| shown.contains(&rank));
        if let Some(item @ Item::Step(rank, step)) = self.selected
            && is_shown(rank)
        {
            return Some((rank, step as usize, item.span(workspace)?.start_ns));
        }
        let rank = self.ruled_rank()?;
        let (doc, _) = workspace.rank(rank)?;
        let steps = &doc.analysis.ranks.get(rank.rank)?.steps.as_ref()?.steps;
        let middle_ns = doc.own_ns(self.viewport.middle_ns() as i64);
        let step = steps.partition_point(|step| step.window.start_ns <= middle_ns).saturating_sub(1);
        Some((rank, step, doc.axis_ns(steps.get(step)?.window.start_ns)))
    }

    /// By the session start of the chosen rank's file.
    fn epoch_ns(&self, workspace: &Workspace) -> Option<i64> {
        let doc = workspace.docs.get(self.ruled_rank().map_or(0, |rank| rank.doc))?;
        doc.trace.source.utc_epoch_ns?.checked_sub(doc.axis_ns(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::units::Span;
    use crate::view::Command;
    use std::sync::Arc;

    fn workspace(epoch_ns: Option<i64>) -> Workspace {
        let mut fixture = Fixture::new();
        for step in 0..5 {
            let at = 500 + step * 1_000_000;
            fixture.range(&format!("step {step}"), 11, at, at + 900_000);
            fixture.launched("gemm", 7, 11, at + 10, at + 100_000, at + 1_000_000);
        }
        let mut trace = fixture.build();
        trace.source.utc_epoch_ns = epoch_ns;
        let analysis = analyze(&trace, &Params::default());
        Workspace::new([(Arc::new(trace), Arc::new(analysis))])
    }

    #[test]
    fn steps_are_counted_from_the_selected_one_else_from_the_one_in_view() {
        let workspace = workspace(None);
        let mut state = ViewState::open(&workspace);
        let rank = RankId { doc: 0, rank: 0 };
        state.apply(&Command::SetAxis(Axis::Step), &workspace);
        state.apply(&Command::ShowStep(rank, 2), &workspace);
        let start_ns = |step| Item::Step(rank, step).span(&workspace).unwrap().start_ns;
        assert_eq!((state.zero(&workspace).at_ns, state.zero(&workspace).step), (start_ns(2), Some((rank, 2))));
        state.apply(&Command::Select(Some(Item::Step(rank, 1))), &workspace);
        assert_eq!(state.zero(&workspace).at_ns, start_ns(1));
    }

    #[test]
    fn the_wall_clock_is_that_of_the_file_and_its_absence_has_a_reason() {
        let known = workspace(Some(1_700_000_000_000_000_000));
        let mut state = ViewState::open(&known);
        state.apply(&Command::SetAxis(Axis::Wall), &known);
        let first = known.docs[0].trace.span.unwrap();
        let seen = Span::new(0, 1).shifted(state.zero(&known).epoch_ns.unwrap());
        assert_eq!(seen.start_ns, 1_700_000_000_000_000_000 + first.start_ns, "axis time 0 is the first event");
        let zero = state.zero(&workspace(None));
        assert!(zero.axis == Axis::Capture && zero.refused.is_some_and(|reason| reason.contains("session")));
        let empty = Workspace::default();
        assert!(state.zero(&empty).refused.is_some() && state.zero_of(Axis::Step, &empty).refused.is_some());
    }

    #[test]
    fn a_click_goes_through_all_axes() {
        let mut axis = Axis::default();
        for expected in Axis::ALL.into_iter().skip(1).chain([Axis::Capture]) {
            axis = axis.next();
            assert_eq!(axis, expected);
        }
    }
}
