//! The one place where a command changes the view.

use super::history::Move;
use super::{Coloring, Command, Item, Kin, Panel, RankId, Side, ViewState, Viewport, Workspace};
use crate::units::Span;

impl ViewState {
    /// The first view of `workspace`: everything fitted, marks and NVTX rows on, the first rank chosen.
    pub fn open(workspace: &Workspace) -> Self {
        Self {
            viewport: Viewport::fitted(workspace.span().unwrap_or_default()),
            rank: workspace.ranks().next().map(|(id, ..)| id),
            marks: true,
            nvtx: true,
            ..Self::default()
        }
    }

    /// Applies `command`; false when it is none of the view's (opening files, dialogs, quitting).
    pub fn apply(&mut self, command: &Command, workspace: &Workspace) -> bool {
        match command {
            Command::Reveal(item) => self.bring_in(*item, workspace),
            Command::ShowStep(rank, step) => self.bring_in(Item::Step(*rank, *step), workspace),
            _ => {}
        }
        match self.pane_for(command) {
            Some(pane) => self.change_pane(pane, command, workspace),
            None => self.change(command, workspace),
        }
    }

    /// Applies `command` to the view that the state holds, which may be that of a pane.
    pub(super) fn change(&mut self, command: &Command, workspace: &Workspace) -> bool {
        match command {
            Command::PanBy(share) => self.go(self.viewport.panned(*share), Move::Pan, workspace),
            Command::ZoomAt { at_ns, factor } => {
                self.go(self.viewport.zoomed(*at_ns, *factor), Move::Zoom, workspace);
            }
            Command::Show(span) => self.go(Viewport::of(*span), Move::Jump, workspace),
            Command::ZoomTo(span) => self.go(Viewport::of(*span), Move::Zoom, workspace),
            Command::ShowAll => {
                self.go(Viewport::fitted(workspace.span().unwrap_or_default()), Move::Jump, workspace);
            }
            Command::ShowSelection => self.show_selection(workspace),
            Command::ShowStep(rank, step) => self.show_step(*rank, *step, workspace),
            Command::PreviousStep => self.show_neighbour_step(-1, workspace),
            Command::NextStep => self.show_neighbour_step(1, workspace),
            Command::Back => {
                if let Some(view) = self.history.back(self.viewport) {
                    self.viewport = view;
                }
            }
            Command::Forward => {
                if let Some(view) = self.history.forward(self.viewport) {
                    self.viewport = view;
                }
            }
            Command::ScrollBy(points) => {
                let next = self.scroll_y_pt + points;
                if next.is_finite() {
                    self.scroll_y_pt = next.max(0.0);
                }
            }
            Command::Select(item) => {
                self.selected = *item;
                self.reveals = self.reveals.wrapping_add(1);
                self.note_selected();
            }
            Command::Reveal(item) => self.reveal(*item, workspace),
            Command::SelectNeighbour(kin, side) => self.select_neighbour(*kin, *side, workspace),
            Command::SelectSpan(span) => {
                self.selected_span = span.filter(|span| !span.is_empty());
                if self.selected_span.is_some() {
                    // So that the selection is one thing, and "zoom to selection" is not ambiguous.
                    self.selected = None;
                } else if self.panel == Panel::Selection {
                    self.panel = self.panel_before;
                }
            }
            Command::ChooseRank(rank) => {
                if workspace.rank(*rank).is_some() {
                    self.rank = Some(*rank);
                }
            }
            Command::ToggleLane(lane) => self.toggle_lane(*lane),
            Command::Lane(command) => self.arrange(command),
            Command::ShowLane(lane) => {
                let before = self.lane_shown.map_or(0, |(_, times)| times);
                self.lane_shown = Some((*lane, before.wrapping_add(1)));
            }
            Command::ToggleMarks => self.marks = !self.marks,
            Command::ToggleNvtx => self.nvtx = !self.nvtx,
            Command::SetAttribution(attribution) => self.attribution = *attribution,
            Command::SetColoring(coloring) => self.set_coloring(*coloring),
            // Not the coloring after the one on screen: of two presses in one frame both count.
            Command::NextColoring => self.set_coloring(self.coloring.next()),
            Command::ToggleLegend => {
                self.legend = !self.legend;
                self.legend_chosen = true;
            }
            Command::SelectItsSpan => {
                if let Some(span) = self.selected.and_then(|item| item.span(workspace)).filter(|span| !span.is_empty())
                {
                    self.apply(&Command::SelectSpan(Some(span)), workspace);
                    self.apply(&Command::ShowPanel(Panel::Selection), workspace);
                }
            }
            Command::AddBookmark => {
                self.add_bookmark(workspace);
                self.apply(&Command::ShowPanel(Panel::Bookmarks), workspace);
            }
            Command::GoToBookmark(at) => self.go_to_bookmark(*at, workspace),
            Command::EditBookmark(at) => self.noted = *at,
            Command::NoteBookmark(at, note) => self.note_bookmark(*at, note),
            Command::DeleteBookmark(at) => self.delete_bookmark(*at),
            Command::SetAxis(axis) => self.axis = *axis,
            Command::NextAxis => self.axis = self.axis.next(),
            Command::ShowPanel(Panel::Search) | Command::OpenSearch => self.open_search(),
            Command::ShowPanel(panel) => {
                if self.panel != Panel::Selection {
                    self.panel_before = self.panel;
                }
                self.panel = *panel;
            }
            Command::CloseSearch => self.close_search(),
            Command::SetQuery(query) => self.set_query(query),
            Command::SetScope(scope) => self.search.scope = *scope,
            Command::NextHit => self.step_hit(true, workspace),
            Command::PreviousHit => self.step_hit(false, workspace),
            Command::ShowHit(number) => self.show_hit(*number, workspace),
            Command::SetTheme(theme) => self.theme = *theme,
            Command::Compare(command) => self.compare_by(*command, workspace),
            // Without panes there is one view to be about.
            Command::InPane(_, command) => return self.change(command, workspace),
            // Panes are aligned by themselves; else files are shifted.
            Command::AlignHere(item) => return self.align_panes(*item, workspace),
            Command::Open(_)
            | Command::OpenDialog
            | Command::CopyName
            | Command::CopyFacts
            | Command::OpenDemo
            | Command::SetClock(_)
            | Command::NextClock
            | Command::ShiftDoc { .. }
            | Command::ResetShifts
            | Command::CancelLoad
            | Command::CloseAll
            | Command::SavePicture
            | Command::OpenFolderDialog
            | Command::ToggleChooser
            | Command::Choose(_)
            | Command::OpenChosen
            | Command::OpenRank(_)
            | Command::AskRankName(_)
            | Command::RenameRank(..)
            | Command::CopyLink
            | Command::OpenLink
            | Command::OpenLinkText(_)
            | Command::SaveSession
            | Command::SaveSessionTo(_)
            | Command::Reload
            | Command::KeepReplaced
            | Command::SaveReport
            | Command::ToggleHelp
            | Command::ToggleAbout
            | Command::ToggleRecording
            | Command::TypePath
            | Command::AskConversionFolder(_)
            | Command::Convert { .. }
            | Command::SavePictureTo(_)
            | Command::SetExperiment(_)
            | Command::LoadSettings
            | Command::LoadSettingsFrom(_)
            | Command::SaveSettings
            | Command::SaveSettingsTo(_)
            | Command::LoadModelConfig
            | Command::LoadModelConfigFrom(_)
            | Command::SaveReportTo(_)
            | Command::Dismiss
            | Command::SetScale(_)
            | Command::ToggleSidePanel
            | Command::MoveSidePanel
            | Command::ToggleDetails
            | Command::TogglePalette
            | Command::Recall(_)
            | Command::StartAnew
            | Command::Quit => return false,
        }
        true
    }

    /// Colours other than the usual ones are explained, unless the user has said whether they should be.
    fn set_coloring(&mut self, coloring: Coloring) {
        self.coloring = coloring;
        if !self.legend_chosen {
            self.legend = coloring != Coloring::Class;
        }
    }

    pub(super) fn go(&mut self, to: Viewport, how: Move, workspace: &Workspace) {
        let to = to.clamped(workspace.span().unwrap_or_default());
        if to != self.viewport {
            self.history.record(self.viewport, how);
            self.viewport = to;
        }
    }

    /// Moves what is shown along with axis time that was moved, as when another clock comes in force.
    pub fn move_by(&mut self, by_ns: i64, workspace: &Workspace) {
        self.viewport.start_ns += by_ns as f64;
        if let Some(whole) = workspace.span() {
            self.viewport = self.viewport.clamped(whole);
        }
        self.selected_span = self.selected_span.map(|span| span.shifted(by_ns));
    }

    /// Whether an item or a span is selected.
    pub fn has_selection(&self) -> bool {
        self.selected.is_some() || self.selected_span.is_some()
    }

    fn show_selection(&mut self, workspace: &Workspace) {
        let item = self.selected.and_then(|item| item.span(workspace));
        self.reveals = self.reveals.wrapping_add(1);
        if let Some(span) = item.or(self.selected_span) {
            self.go(Viewport::around(span), Move::Jump, workspace);
        }
    }

    fn select_neighbour(&mut self, kin: Kin, side: Side, workspace: &Workspace) {
        let found = match self.selected {
            Some(item) => item.neighbour(workspace, kin, side),
            None => self.rank.and_then(|rank| Item::first_in_view(workspace, rank, self.viewport)),
        };
        if let Some(item) = found {
            self.reveal(item, workspace);
        }
    }

    fn reveal(&mut self, item: Item, workspace: &Workspace) {
        self.selected = Some(item);
        self.reveals = self.reveals.wrapping_add(1);
        if let Some(span) = item.span(workspace) {
            self.go(self.viewport.with_in_sight(span), Move::Pan, workspace);
        }
    }

    fn show_step(&mut self, rank: RankId, step: u32, workspace: &Workspace) {
        if let Some(span) = Item::Step(rank, step).span(workspace) {
            self.rank = Some(rank);
            // Exactly its window, so that the numbers of the visible span are those of the step.
            self.go(Viewport::of(span), Move::Jump, workspace);
        }
    }

    /// The selected step, when it is one of `rank` and more than half of it is in view.
    pub fn selected_step(&self, rank: RankId, workspace: &Workspace) -> Option<usize> {
        let Some(item @ Item::Step(of, step)) = self.selected else { return None };
        let span = item.span(workspace).filter(|_| of == rank)?;
        let seen = span.intersect(self.viewport.span())?;
        (seen.len_ns() > span.len_ns() / 2).then_some(step as usize)
    }

    /// Shows the step `by` places after the selected one, else after the one that holds the middle of the view.
    fn show_neighbour_step(&mut self, by: i64, workspace: &Workspace) {
        let Some(rank) = self.rank else { return };
        let Some((doc, _)) = workspace.rank(rank) else {
            return;
        };
        let Some(steps) = doc.analysis.ranks.get(rank.rank).and_then(|r| r.steps.as_ref()) else {
            return;
        };
        let middle_ns = doc.own_ns(self.viewport.middle_ns() as i64);
        // Windows are sorted and do not overlap, so the last that starts before the middle is the one meant. Left of
        // the first step, "next" is the first.
        let begun = steps.steps.partition_point(|s| s.window.start_ns <= middle_ns) as i64;
        let last = steps.steps.len() as i64 - 1;
        if last < 0 {
            return;
        }
        let from = self.selected_step(rank, workspace).map_or(begun - 1, |step| step as i64);
        let target = (from + by).clamp(0, last);
        self.show_step(rank, target as u32, workspace);
    }
}

impl Viewport {
    /// A view of `span` with room around it, so that what surrounds a selected item is seen too.
    pub fn around(span: Span) -> Self {
        let exact = Self::of(span);
        let room = exact.len_ns * 0.25;
        Self { start_ns: exact.start_ns - room, len_ns: exact.len_ns + 2.0 * room }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::view::{LaneKey, Theme};
    use std::sync::Arc;

    const RANK: RankId = RankId { doc: 0, rank: 0 };

    /// Five steps of 1 ms each, from 0 to 5 ms.
    fn workspace() -> Workspace {
        let mut fixture = Fixture::new();
        for step in 0..5 {
            let at = step * 1_000_000;
            fixture.range(&format!("step {step}"), 11, at, at + 900_000);
            fixture.launched("gemm", 7, 11, at + 10, at + 100_000, at + 1_000_000);
        }
        let trace = Arc::new(fixture.build());
        let analysis = Arc::new(analyze(&trace, &Params::default()));
        Workspace::new([(trace, analysis)])
    }

    fn apply(state: &mut ViewState, commands: &[Command], workspace: &Workspace) {
        for command in commands {
            assert!(state.apply(command, workspace), "{command:?}");
        }
    }

    #[test]
    fn the_first_view_shows_everything_with_a_rank_chosen() {
        let workspace = workspace();
        let state = ViewState::open(&workspace);
        let whole = workspace.span().unwrap();
        assert!(state.viewport.start_ns < whole.start_ns as f64 && state.viewport.end_ns() > whole.end_ns as f64);
        assert!(state.marks && state.nvtx && state.rank == Some(RANK));
        assert!(ViewState::open(&Workspace::default()).viewport.len_ns > 0.0);
    }

    #[test]
    fn back_returns_to_before_a_row_of_pans() {
        let workspace = workspace();
        let mut state = ViewState::open(&workspace);
        apply(&mut state, &[Command::ShowStep(RANK, 1)], &workspace);
        let step = state.viewport;
        apply(&mut state, &[Command::PanBy(0.1), Command::PanBy(0.2), Command::Back], &workspace);
        assert_eq!(state.viewport, step);
        apply(&mut state, &[Command::Back], &workspace);
        assert_eq!(state.viewport, ViewState::open(&workspace).viewport);
        apply(&mut state, &[Command::Forward, Command::Forward], &workspace);
        assert!(state.viewport.start_ns > step.start_ns);
        apply(&mut state, &[Command::Forward], &workspace);
    }

    #[test]
    fn moves_that_change_nothing_leave_no_history() {
        let workspace = workspace();
        let mut state = ViewState::open(&workspace);
        apply(&mut state, &[Command::ShowAll, Command::ZoomAt { at_ns: 0.0, factor: 2.0 }], &workspace);
        assert!(!state.history.can_go_back());
    }

    #[test]
    fn next_and_previous_step_start_from_the_middle_of_the_view_and_stop_at_the_ends() {
        let workspace = workspace();
        let mut state = ViewState::open(&workspace);
        let middle = |state: &ViewState| (state.viewport.middle_ns() / 1e5).round() / 10.0;
        apply(&mut state, &[Command::ShowStep(RANK, 2), Command::NextStep], &workspace);
        assert!((3.0..=4.0).contains(&middle(&state)), "{}", middle(&state));
        apply(&mut state, &[Command::NextStep, Command::NextStep, Command::NextStep], &workspace);
        assert!((4.0..=5.0).contains(&middle(&state)));
        apply(&mut state, &vec![Command::PreviousStep; 9], &workspace);
        assert!((0.0..=1.0).contains(&middle(&state)));
    }

    #[test]
    fn steps_are_walked_from_the_selected_one_while_it_is_in_view() {
        let workspace = workspace();
        let mut state = ViewState::open(&workspace);
        apply(&mut state, &[Command::Select(Some(Item::Step(RANK, 0)))], &workspace);
        assert_eq!(state.selected_step(RANK, &workspace), Some(0));
        let windows: Vec<Span> = (0..5).filter_map(|step| Item::Step(RANK, step).span(&workspace)).collect();
        for window in &windows[1..4] {
            apply(&mut state, &[Command::NextStep], &workspace);
            assert_eq!(state.viewport.span(), *window, "the selected step is left behind, and walked on from the view");
        }
    }

    #[test]
    fn f_zooms_to_the_item_or_the_span_whichever_was_selected_last() {
        let workspace = workspace();
        let mut state = ViewState::open(&workspace);
        let op = Item::Op(RANK, 3);
        let span = Span::new(200_000, 300_000);
        apply(&mut state, &[Command::Select(Some(op)), Command::ShowSelection], &workspace);
        let shown = state.viewport.span();
        assert_eq!(shown.intersect(op.span(&workspace).unwrap()), op.span(&workspace));
        apply(&mut state, &[Command::SelectSpan(Some(span)), Command::ShowSelection], &workspace);
        assert_eq!(state.selected, None);
        assert_eq!((state.viewport.start_ns, state.viewport.len_ns), (175_000.0, 150_000.0));
        apply(&mut state, &[Command::Select(None), Command::SelectSpan(Some(Span::new(5, 5)))], &workspace);
        assert_eq!(state.selected_span, None);
    }

    #[test]
    fn items_that_are_not_there_have_no_span() {
        let workspace = workspace();
        let missing = RankId { doc: 3, rank: 0 };
        let items = [
            Item::Op(RANK, 99),
            Item::Op(missing, 0),
            Item::Call(0, 9, 0),
            Item::Nvtx(0, 0, 99),
            Item::Mark(0, 0, 0),
            Item::Os(0, 0, 0),
            Item::Idle(RANK, 99),
            Item::Step(RANK, 99),
        ];
        assert!(items.iter().all(|item| item.span(&workspace).is_none()));
        let mut state = ViewState::open(&workspace);
        let before = state.viewport;
        apply(&mut state, &[Command::ShowStep(RANK, 99), Command::ChooseRank(missing)], &workspace);
        assert_eq!((state.viewport, state.rank), (before, Some(RANK)));
    }

    #[test]
    fn lanes_scroll_no_higher_than_the_first() {
        let workspace = workspace();
        let mut state = ViewState::open(&workspace);
        apply(
            &mut state,
            &[Command::ScrollBy(50.0), Command::ScrollBy(-80.0), Command::ScrollBy(f32::NAN)],
            &workspace,
        );
        assert_eq!(state.scroll_y_pt, 0.0);
    }

    #[test]
    fn switches_switch_and_a_lane_toggled_twice_is_as_before() {
        let workspace = workspace();
        let mut state = ViewState::open(&workspace);
        let lane = LaneKey::Compute(RANK);
        let switches = [Command::ToggleMarks, Command::ToggleNvtx, Command::ToggleLane(lane)];
        apply(&mut state, &switches, &workspace);
        assert!(!state.marks && !state.nvtx && state.toggled.contains(&lane));
        apply(&mut state, &switches, &workspace);
        assert!(state.marks && state.nvtx && state.toggled.is_empty());
        apply(&mut state, &[Command::SetTheme(Theme::Light), Command::ShowPanel(Panel::Steps)], &workspace);
        assert_eq!((state.theme, state.panel), (Theme::Light, Panel::Steps));
    }

    #[test]
    fn commands_of_the_window_are_left_to_the_window() {
        let mut state = ViewState::default();
        for command in [Command::Quit, Command::OpenDialog, Command::CloseAll, Command::ToggleHelp] {
            assert!(!state.apply(&command, &Workspace::default()));
        }
    }
}
