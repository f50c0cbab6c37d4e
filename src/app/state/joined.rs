//! What is open as one job, and what is done once it is put together.

use super::super::joining::{Joined, Work};
use super::{AppState, real};
use crate::job::Job;
use crate::view::Workspace;
use std::sync::Arc;

/// What is done once what is open is put together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Then {
    /// All of it is shown, as if it were opened for the first time.
    pub anew: bool,
    /// Files were read.
    pub read: bool,
    /// Nothing was open before them.
    pub first: bool,
    /// What stays where it is in the view.
    pub kept: Option<Kept>,
}

/// What a document does in the middle of the view.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub doc: usize,
    /// On the clock of the document.
    pub own_ns: i64,
    /// Where that is on the axis.
    pub middle_ns: i64,
    /// A document and what it does in the middle of the second of two panes, on its clock.
    pub second: Option<(usize, i64)>,
}

impl Then {
    /// This, and what was to be done after something that did not come about.
    fn and(self, before: Self) -> Self {
        Self {
            anew: self.anew || before.anew,
            read: self.read || before.read,
            first: self.first || before.first,
            kept: before.kept.or(self.kept),
        }
    }
}

impl AppState {
    /// Puts what was read and found together as one job.
    pub(super) fn put_together(&mut self, then: Then) {
        self.captures.follow(self.opened.iter().map(|doc| real(&doc.trace.source.path)).collect());
        self.relabel_opened();
        let mut options = self.workspace.options.clone();
        options.shift_ns.truncate(self.opened.len());
        let (docs, summaries, said) = (self.opened.clone(), self.captures.summaries(), self.said.clone());
        let size = Job::work(docs.iter().map(|doc| &doc.summary).chain(&summaries));
        let work = move || {
            let mut workspace = Workspace::of(docs.clone(), summaries.clone(), options.clone());
            if let Some(said) = &said {
                workspace.in_file.clone_from(&said.in_file);
                workspace.describe(Some(said.experiment.clone()));
            }
            workspace
        };
        self.join(then, size, Arc::new(work));
    }

    /// Shows what `work` makes of what is open: at once when that is little, else when it is ready.
    pub(super) fn join(&mut self, then: Then, size: usize, work: Work) {
        self.then = then.and(self.then);
        if let Some(workspace) = self.joining.start(size, self.large, work) {
            self.take_joined(workspace);
        }
    }

    /// The same for what is open already, by another clock.
    pub(super) fn join_open(&mut self, then: Then, change: impl Fn(&mut Workspace) + Send + Sync + 'static) {
        let open = self.workspace.clone();
        let work = move || {
            let mut workspace = open.clone();
            change(&mut workspace);
            workspace
        };
        self.join(then, Job::work(&self.workspace.job.exports), Arc::new(work));
    }

    fn take_joined(&mut self, workspace: Workspace) {
        let then = std::mem::take(&mut self.then);
        self.workspace = workspace;
        self.revision += 1;
        self.renew();
        if then.anew {
            self.view = self.first_view();
        } else {
            self.keep(then.kept);
        }
        if then.read {
            self.tell_same_ranks();
            if !self.show_awaited() && then.first && !self.demo {
                self.last_views.restore(&self.workspace, &mut self.view);
            }
        }
    }

    pub(super) fn poll_joining(&mut self) {
        match self.joining.poll() {
            Some(Joined::Ready(workspace)) => self.take_joined(*workspace),
            Some(Joined::Outdated) => self.put_together(Then::default()),
            None => {}
        }
    }

    /// True while what is shown is not all of what is open, or not by the clock that was asked for.
    pub const fn is_joining(&self) -> bool {
        self.joining.is_busy()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::load::{OpenError, Opened, Opener, Watch, What};
    use super::super::super::settings::Settings;
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::job::ClockMode;
    use crate::task::Wake;
    use crate::trace::testing::Fixture;
    use crate::view::Command;

    const MS: i64 = 1_000_000;

    struct Two;

    impl Opener for Two {
        /// Two ranks of five all-reduces, the second always 2 ms late.
        fn open(&self, _what: &What, _watch: &Watch) -> Result<Vec<Opened>, OpenError> {
            let rank = |late_ns: i64| {
                let mut fixture = Fixture::new();
                for at in 0..5 {
                    let name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
                    fixture.kernel(name, 20, at * 10 * MS + late_ns, at * 10 * MS + 5 * MS);
                }
                let mut trace = fixture.build();
                trace.source.path = format!("rank{late_ns}.sqlite").into();
                let analysis = analyze(&trace, &Params::default());
                (Arc::new(trace), Arc::new(analysis))
            };
            Ok(vec![rank(0), rank(2 * MS)])
        }
    }

    fn state(large: usize) -> AppState {
        let mut state = AppState::new(Arc::new(Two), Wake::new(|| {}), Settings::default());
        state.large = large;
        state.apply(Command::OpenDemo);
        state
    }

    fn wait(state: &mut AppState) {
        state.poll();
        while state.jobs.is_busy() || state.is_joining() {
            std::thread::yield_now();
            state.poll();
        }
    }

    fn waited_ns(state: &AppState) -> i64 {
        state.workspace.job.waits.matrix.ns(0, 1)
    }

    #[test]
    fn a_large_job_is_put_together_beside_the_frame_and_the_old_one_shown_meanwhile() {
        let mut state = state(0);
        while !state.is_joining() {
            state.poll();
        }
        assert!(state.workspace.docs.is_empty() && state.is_gathering() && state.is_renewing());
        wait(&mut state);
        assert_eq!((state.workspace.docs.len(), waited_ns(&state)), (2, 10 * MS));
        assert!(!state.view.lanes.list && state.view.viewport.len_ns > 0.0 && !state.is_gathering());
        for (mode, joins) in [(ClockMode::Wall, true), (ClockMode::Manual, true)] {
            state.apply(Command::SetClock(mode));
            assert_eq!((state.is_joining(), state.workspace.job.clock.mode), (joins, ClockMode::Auto));
        }
        wait(&mut state);
        assert_eq!(state.workspace.job.clock.mode, ClockMode::Manual, "the last one counts");
        state.apply(Command::SetClock(ClockMode::Auto));
        state.apply(Command::CloseAll);
        wait(&mut state);
        assert!(state.workspace.docs.is_empty() && state.workspace.job.ranks.is_empty());
    }

    #[test]
    fn while_a_file_is_moved_only_its_place_follows_and_who_waited_when_it_rests() {
        for large in [0, usize::MAX] {
            let mut state = state(large);
            wait(&mut state);
            let start_ns = |state: &AppState| state.workspace.docs[1].axis_ns(0);
            let (before_ns, revision) = (start_ns(&state), state.revision);
            for _ in 0..3 {
                state.apply(Command::ShiftDoc { doc: 1, by_ns: MS });
                state.poll();
                assert!(state.workspace.job.moving && state.revision == revision, "moved in this frame");
                assert_eq!(waited_ns(&state), 10 * MS);
            }
            assert_eq!(start_ns(&state) - before_ns, 3 * MS);
            wait(&mut state);
            wait(&mut state);
            assert!(!state.workspace.job.moving && state.revision > revision);
            // The first one starts 5 ms before the second: as long as it lasts.
            assert_eq!(waited_ns(&state), 25 * MS);
            assert_eq!(start_ns(&state) - before_ns, 3 * MS);
        }
    }

    #[test]
    fn a_report_is_never_of_a_file_on_its_way() {
        let mut state = state(usize::MAX);
        wait(&mut state);
        state.apply(Command::ShiftDoc { doc: 1, by_ns: 3 * MS });
        state.apply(Command::SaveReportTo("report.html".into()));
        assert_eq!((state.workspace.job.moving, waited_ns(&state)), (false, 25 * MS));
    }
}
