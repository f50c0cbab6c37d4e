//! Two ranks beside each other: in two panes with a view of time each, or as one pair of lanes.
//!
//! The view's own time, scroll position and history are those of the first pane; those of the second are kept here. A
//! command about a pane is applied with the two exchanged, so it needs not know of panes. While the panes are linked,
//! the second shows what is [`Compare::offset_ns`] later on the axis, and follows.

use super::available::why_not;
use super::history::Move;
use super::{Command, History, Item, RankId, ViewState, Viewport, Workspace};
use serde::{Deserialize, Serialize};

/// How two ranks stand to each other on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareForm {
    /// Two panes above each other.
    #[default]
    Stacked,
    /// Two panes left and right.
    SideBySide,
    /// One pane in which the lanes of both touch, kind by kind.
    Overlay,
}

impl CompareForm {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 3] = [Self::Stacked, Self::SideBySide, Self::Overlay];

    /// Name in menus.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Stacked => "Above each other",
            Self::SideBySide => "Left and right",
            Self::Overlay => "Overlaid",
        }
    }
}

/// What keeps two panes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneLink {
    /// Both show the same time.
    #[default]
    Time,
    /// Steps of one number begin at the same place.
    Step,
    /// The counterparts of one operation end at the same place.
    Aligned,
    /// Nothing: each is moved by itself.
    Apart,
}

impl PaneLink {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 4] = [Self::Time, Self::Step, Self::Aligned, Self::Apart];

    /// Name in menus.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Time => "By time",
            Self::Step => "By step",
            Self::Aligned => "At the selected collective",
            Self::Apart => "Apart",
        }
    }
}

/// Least share of the room that a pane keeps.
const LEAST_SHARE: f32 = 0.15;

/// A change to how two ranks are shown beside each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CompareCommand {
    /// Shows them in this form, or all ranks in one pane again.
    Show(Option<CompareForm>),
    /// Shows these two, in the form there is.
    Ranks([RankId; 2]),
    /// Puts each where the other is.
    Swap,
    /// Links the panes by this.
    Link(PaneLink),
    /// Goes on to the next form; after the last, all ranks are shown again.
    NextForm,
    /// Goes on to the next link that can be had.
    NextLink,
    /// Makes keys move this pane.
    Activate(usize),
    /// Gives the first pane this share of the room.
    Split(f32),
}

/// What a pane shows of time and lanes.
#[derive(Debug, Clone, Default)]
pub struct PaneView {
    /// What part of the time axis is on screen.
    pub viewport: Viewport,
    /// Views to go back and forward to.
    pub history: History,
    /// First visible pixel row of the lanes, in points.
    pub scroll_y_pt: f32,
}

/// Two ranks beside each other.
#[derive(Debug, Clone)]
pub struct Compare {
    /// The one above or left, then the other.
    pub ranks: [RankId; 2],
    /// How they stand.
    pub form: CompareForm,
    /// What keeps the panes together.
    pub link: PaneLink,
    /// Axis time at a place of the second pane - axis time at the same place of the first, while they are linked.
    pub offset_ns: i64,
    /// Share of the room that the first pane has.
    pub share: f32,
    /// The pane that keys move: 0 or 1.
    pub active: usize,
    /// The pane that this state is drawn as; `None` in the state of the window.
    pub drawn: Option<usize>,
    /// What the pane shows that the rest of the state is not about: the second, as the window keeps it.
    pub other: PaneView,
}

impl Compare {
    /// [`Compare::share`] of panes of one size.
    pub const HALF: f32 = 0.5;

    /// A share of the room that leaves both panes some; the half for what is no number.
    pub fn share(wanted: f32) -> f32 {
        if wanted.is_finite() { wanted.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE) } else { Self::HALF }
    }

    /// Both ranks at what `state` shows, linked by time.
    pub fn new(ranks: [RankId; 2], form: CompareForm, state: &ViewState) -> Self {
        let (viewport, history) = (state.viewport, state.history.clone());
        let other = PaneView { viewport, history, scroll_y_pt: state.scroll_y_pt };
        Self { ranks, form, link: PaneLink::Time, offset_ns: 0, share: Self::HALF, active: 0, drawn: None, other }
    }

    /// True when each rank has a pane of its own.
    pub fn has_panes(&self) -> bool {
        self.form != CompareForm::Overlay
    }

    /// The pane that shows `item`, when only one does; `None` when both or neither do.
    fn pane_of(&self, item: Item) -> Option<usize> {
        let shows = |of: &RankId| item.rank().map_or(of.doc == item.doc(), |rank| rank == *of);
        match self.ranks.each_ref().map(shows) {
            [true, false] => Some(0),
            [false, true] => Some(1),
            _ => None,
        }
    }
}

impl Command {
    /// True for commands about what part of time and which lanes a pane shows; the others are about all there is.
    pub const fn is_of_pane(&self) -> bool {
        matches!(
            self,
            Self::PanBy(_)
                | Self::ZoomAt { .. }
                | Self::Show(_)
                | Self::ZoomTo(_)
                | Self::ShowAll
                | Self::ShowSelection
                | Self::ShowStep(..)
                | Self::PreviousStep
                | Self::NextStep
                | Self::Back
                | Self::Forward
                | Self::ScrollBy(_)
                | Self::SelectNeighbour(..)
        )
    }
}

impl ViewState {
    /// The ranks that are shown; `None` for all.
    pub fn shown_ranks(&self) -> Option<&[RankId]> {
        let compare = self.compare.as_ref()?;
        match compare.drawn {
            _ if !compare.has_panes() => Some(&compare.ranks),
            Some(pane) => compare.ranks.get(pane..=pane),
            None => None,
        }
    }

    /// The rank whose steps the ruler counts: that of the pane, else the chosen one.
    pub fn ruled_rank(&self) -> Option<RankId> {
        let compare = self.compare.as_ref().filter(|compare| compare.has_panes());
        compare.and_then(|compare| compare.ranks.get(compare.drawn?).copied()).or(self.rank)
    }

    /// The rank that panels speak about: the chosen one, else the first; `None` without any.
    pub fn chosen_rank(&self, workspace: &Workspace) -> Option<RankId> {
        self.rank.or_else(|| workspace.ranks().next().map(|(id, ..)| id))
    }

    /// The pane that what stands around the lanes speaks of: that of the chosen rank, and the one that keys move where
    /// neither is its; `None` without panes.
    pub fn told_pane(&self, workspace: &Workspace) -> Option<usize> {
        let (compare, chosen) = (self.panes()?, self.chosen_rank(workspace));
        Some(compare.ranks.iter().position(|rank| Some(*rank) == chosen).unwrap_or(compare.active))
    }

    /// Two panes, when there are.
    pub fn panes(&self) -> Option<&Compare> {
        self.compare.as_ref().filter(|compare| compare.has_panes())
    }

    /// The rank that arrivals of `rank` are compared with: the other or the first of the two that are compared, else
    /// the first there is; `None` for that one itself.
    pub fn reference_of(&self, rank: RankId, workspace: &Workspace) -> Option<RankId> {
        let first = match &self.compare {
            // Side by side each has its own, or their lanes would not stand at one height.
            Some(compare) if compare.form == CompareForm::SideBySide && rank == compare.ranks[0] => {
                Some(compare.ranks[1])
            }
            Some(compare) if compare.ranks.contains(&rank) => Some(compare.ranks[0]),
            _ => workspace.ranks().next().map(|(id, ..)| id),
        };
        first.filter(|first| *first != rank)
    }

    /// The state as pane `pane` (0 or 1) is drawn from it.
    #[must_use]
    pub fn of_pane(&self, pane: usize) -> Self {
        let mut state = self.clone();
        if pane == 1 {
            state.swap_panes();
        }
        if let Some(compare) = &mut state.compare {
            compare.drawn = Some(pane);
        }
        state
    }

    fn swap_panes(&mut self) {
        let Some(compare) = &mut self.compare else { return };
        std::mem::swap(&mut self.viewport, &mut compare.other.viewport);
        std::mem::swap(&mut self.history, &mut compare.other.history);
        std::mem::swap(&mut self.scroll_y_pt, &mut compare.other.scroll_y_pt);
    }

    /// The pane that `command` is about; `None` when it is about no pane.
    pub(super) fn pane_for(&self, command: &Command) -> Option<usize> {
        let compare = self.panes()?;
        let of_rank = |rank: &RankId| compare.ranks.iter().position(|own| own == rank);
        match command {
            Command::InPane(pane, _) => Some((*pane).min(1)),
            Command::Reveal(item) => Some(compare.pane_of(*item).unwrap_or(compare.active)),
            Command::ShowStep(rank, _) => Some(of_rank(rank).unwrap_or(compare.active)),
            Command::ShowSelection => {
                Some(self.selected.and_then(|item| compare.pane_of(item)).unwrap_or(compare.active))
            }
            command => command.is_of_pane().then_some(compare.active),
        }
    }

    /// Changes the view of the pane that shows `item`, or the only one; a rank in neither pane takes the place of the one
    /// that keys move. A linked pane follows.
    pub(super) fn go_to_item(&mut self, item: Item, workspace: &Workspace, change: impl FnOnce(&mut Self)) {
        self.bring_in(item, workspace);
        let Some(pane) = self.panes().map(|compare| compare.pane_of(item).unwrap_or(compare.active)) else {
            change(self);
            return;
        };
        self.in_pane(pane, |state| {
            let before = state.viewport;
            change(state);
            if state.viewport != before {
                state.follow(pane, &Command::Reveal(item));
            }
        });
    }

    /// Changes the state while it holds the view of pane `pane`.
    fn in_pane<T>(&mut self, pane: usize, change: impl FnOnce(&mut Self) -> T) -> T {
        if pane == 1 {
            self.swap_panes();
        }
        let done = change(self);
        if pane == 1 {
            self.swap_panes();
        }
        done
    }

    /// Shows the rank of `item` when two others are compared: in place of the one that keys move.
    pub(super) fn bring_in(&mut self, item: Item, workspace: &Workspace) {
        let shown = |rank: &RankId| item.rank().map_or(rank.doc == item.doc(), |own| own == *rank);
        let first_of_doc = || workspace.ranks().map(|(id, ..)| id).find(|id| id.doc == item.doc());
        let Some(compare) = self.compare.as_mut().filter(|compare| !compare.ranks.iter().any(shown)) else { return };
        let rank = item.rank().or_else(first_of_doc).filter(|rank| workspace.rank(*rank).is_some());
        if let (Some(rank), Some(slot)) = (rank, compare.ranks.get_mut(compare.active.min(1))) {
            *slot = rank;
        }
    }

    /// Applies `command` to pane `pane`; a linked pane follows.
    pub(super) fn change_pane(&mut self, pane: usize, command: &Command, workspace: &Workspace) -> bool {
        let command = if let Command::InPane(_, inner) = command { inner } else { command };
        self.in_pane(pane, |state| state.change_held(pane, command, workspace))
    }

    /// Applies `command` to pane `pane`, whose view the state holds now.
    fn change_held(&mut self, pane: usize, command: &Command, workspace: &Workspace) -> bool {
        let (before, scroll_pt, chosen) = (self.viewport, self.scroll_y_pt, self.rank);
        let by_step = matches!(command, Command::PreviousStep | Command::NextStep);
        if let Some(compare) = self.compare.as_ref().filter(|_| by_step) {
            // The steps of the pane, whatever rank the side panel speaks about.
            self.rank = compare.ranks.get(pane).copied().or(chosen);
        }
        let done = self.change(command, workspace);
        if self.viewport != before {
            self.meet_steps(pane, by_step || matches!(command, Command::ShowStep(..)), workspace);
            self.follow(pane, command);
        }
        if let Some(compare) = &mut self.compare
            && compare.form == CompareForm::SideBySide
            && compare.link != PaneLink::Apart
            && self.scroll_y_pt != scroll_pt
        {
            // Lanes of one kind stay beside each other.
            compare.other.scroll_y_pt = self.scroll_y_pt;
        }
        done
    }

    /// The other pane follows `pane`, whose view the state holds now and was changed by `command`.
    fn follow(&mut self, pane: usize, command: &Command) {
        let how = self.history.last_move();
        let Some(compare) = self.compare.as_mut().filter(|compare| compare.link != PaneLink::Apart) else { return };
        let other = &mut compare.other;
        // Both histories hold the same moves, so that going back in one is going back in the other.
        // What it gives is not used: it may be from before another offset.
        match command {
            Command::Back => drop(other.history.back(other.viewport)),
            Command::Forward => drop(other.history.forward(other.viewport)),
            _ => other.history.record(other.viewport, how.unwrap_or(Move::Jump)),
        }
        let by_ns = if pane == 0 { compare.offset_ns } else { -compare.offset_ns };
        other.viewport = Viewport { start_ns: self.viewport.start_ns + by_ns as f64, ..self.viewport };
    }

    /// With panes linked by step: the offset at which the step in the middle of `pane`, whose view the state holds now,
    /// begins where that of the same number does; with `whole`, in a view long enough for both.
    fn meet_steps(&mut self, pane: usize, whole: bool, workspace: &Workspace) {
        let Some(compare) = self.compare.as_mut().filter(|compare| compare.link == PaneLink::Step) else { return };
        let Some((own, other)) = compare.steps_at(pane, self.viewport, workspace) else { return };
        let (Some(own), Some(other)) = (own.span(workspace), other.span(workspace)) else { return };
        let by_ns = other.start_ns.saturating_sub(own.start_ns);
        compare.offset_ns = if pane == 0 { by_ns } else { -by_ns };
        if whole {
            self.viewport.len_ns = self.viewport.len_ns.max(other.len_ns() as f64);
        }
    }

    /// Applies a change to how two ranks are compared.
    pub(super) fn compare_by(&mut self, command: CompareCommand, workspace: &Workspace) {
        match command {
            CompareCommand::Show(None) => self.compare = None,
            CompareCommand::Show(Some(form)) => match &mut self.compare {
                Some(compare) => compare.form = form,
                None => self.compare = self.pair(workspace).map(|ranks| Compare::new(ranks, form, self)),
            },
            CompareCommand::Ranks(ranks) => {
                let known = ranks[0] != ranks[1] && ranks.iter().all(|rank| workspace.rank(*rank).is_some());
                if known {
                    let (form, share) = self
                        .compare
                        .as_ref()
                        .map_or((CompareForm::default(), Compare::HALF), |compare| (compare.form, compare.share));
                    self.compare = Some(Compare { share, ..Compare::new(ranks, form, self) });
                }
            }
            CompareCommand::Swap => {
                if self.panes().is_some() {
                    self.swap_panes();
                }
                if let Some(compare) = &mut self.compare {
                    compare.ranks.swap(0, 1);
                    compare.offset_ns = -compare.offset_ns;
                    compare.active = 1 - compare.active.min(1);
                }
            }
            CompareCommand::Link(link) => self.link(link, workspace),
            CompareCommand::NextForm => {
                let at = self.compare.as_ref().and_then(|c| CompareForm::ALL.iter().position(|form| *form == c.form));
                let next = at.map_or(0, |at| at + 1);
                self.compare_by(CompareCommand::Show(CompareForm::ALL.get(next).copied()), workspace);
            }
            CompareCommand::NextLink => {
                let at = self.compare.as_ref().and_then(|c| PaneLink::ALL.iter().position(|link| *link == c.link));
                let following =
                    PaneLink::ALL.into_iter().cycle().skip(at.map_or(0, |at| at + 1)).take(PaneLink::ALL.len());
                let can = |link: &PaneLink| {
                    why_not(&Command::Compare(CompareCommand::Link(*link)), self, workspace).is_none()
                };
                if let Some(next) = following.into_iter().find(can) {
                    self.link(next, workspace);
                }
            }
            CompareCommand::Split(share) => {
                if let Some(compare) = &mut self.compare {
                    compare.share = Compare::share(share);
                }
            }
            CompareCommand::Activate(pane) => {
                if let Some(compare) = &mut self.compare {
                    compare.active = pane.min(1);
                }
            }
        }
    }

    /// Links the panes; without what the link needs, they are linked by time.
    fn link(&mut self, link: PaneLink, workspace: &Workspace) {
        let Some(compare) = &self.compare else { return };
        let ends = |(own, other): (Item, Item)| Some((own.span(workspace)?, other.span(workspace)?));
        let offset_ns = match link {
            PaneLink::Time => Some(0),
            PaneLink::Apart => Some(compare.offset_ns),
            PaneLink::Step => compare
                .steps_at(0, self.viewport, workspace)
                .and_then(ends)
                .map(|(own, other)| other.start_ns.saturating_sub(own.start_ns)),
            PaneLink::Aligned => self
                .selected
                .and_then(|item| compare.counterparts(item, workspace))
                .and_then(ends)
                .map(|(own, other)| other.end_ns.saturating_sub(own.end_ns)),
        };
        let Some(compare) = &mut self.compare else { return };
        (compare.link, compare.offset_ns) = offset_ns.map_or((PaneLink::Time, 0), |offset_ns| (link, offset_ns));
        if link != PaneLink::Apart {
            self.put_second();
        }
    }

    /// Puts the second pane where its link says.
    fn put_second(&mut self) {
        let Some(compare) = &mut self.compare else { return };
        let start_ns = self.viewport.start_ns + compare.offset_ns as f64;
        compare.other.viewport = Viewport { start_ns, ..self.viewport };
    }

    /// Aligns the panes at the end of `item` and of its counterpart; false when there are no panes.
    pub(super) fn align_panes(&mut self, item: Option<Item>, workspace: &Workspace) -> bool {
        let is_paned = self.panes().is_some();
        if is_paned {
            let selected = self.selected;
            self.selected = item.or(selected);
            self.link(PaneLink::Aligned, workspace);
            self.selected = selected;
        }
        is_paned
    }

    /// Follows documents to other places on the axis: what stood in the middle of the second pane is at `middle_ns` now.
    /// The view itself has been moved already.
    pub fn move_second(&mut self, middle_ns: Option<i64>) {
        let Some(compare) = &mut self.compare else { return };
        if compare.link == PaneLink::Time {
            self.put_second();
        } else if let Some(middle_ns) = middle_ns {
            let view = &mut compare.other.viewport;
            view.start_ns = middle_ns as f64 - view.len_ns / 2.0;
            compare.offset_ns = (view.start_ns - self.viewport.start_ns).round() as i64;
        }
    }

    /// The rank to compare `rank` with: the first of those compared now, else the chosen one, else the first there is.
    pub fn comparable_with(&self, rank: RankId, workspace: &Workspace) -> Option<RankId> {
        let compared = self.compare.as_ref().map(|compare| compare.ranks[0]);
        let first = workspace.ranks().next().map(|(id, ..)| id);
        compared.into_iter().chain(self.rank).chain(first).find(|other| *other != rank)
    }

    /// The two ranks to compare at first: the chosen one, after the one before it; the first two when it is the first.
    fn pair(&self, workspace: &Workspace) -> Option<[RankId; 2]> {
        let ranks: Vec<RankId> = workspace.ranks().map(|(id, ..)| id).collect();
        let at = self.rank.and_then(|rank| ranks.iter().position(|own| *own == rank)).unwrap_or(0);
        // The first rank is what the others are compared with.
        Some([*ranks.first()?, *ranks.get(at.max(1))?])
    }
}

impl Compare {
    /// The step in the middle of `view` on the rank of `pane`, and that of the same number on the other.
    pub(super) fn steps_at(&self, pane: usize, view: Viewport, workspace: &Workspace) -> Option<(Item, Item)> {
        let rank = *self.ranks.get(pane)?;
        let (doc, _) = workspace.rank(rank)?;
        let steps = doc.analysis.ranks.get(rank.rank)?.steps.as_ref()?;
        let middle_ns = doc.own_ns(view.middle_ns() as i64);
        let begun = steps.steps.partition_point(|step| step.window.start_ns <= middle_ns);
        let step = Item::Step(rank, u32::try_from(begun.saturating_sub(1)).ok()?);
        let other = *self.ranks.get(1 - pane.min(1))?;
        let is_other = |item: &Item| matches!(item, Item::Step(of, _) if *of == other);
        Some((step, step.counterparts(workspace).into_iter().find(is_other)?))
    }

    /// `item` or its counterpart on the first rank, then on the second.
    pub(super) fn counterparts(&self, item: Item, workspace: &Workspace) -> Option<(Item, Item)> {
        let pane = self.pane_of(item)?;
        let wanted = 1 - pane.min(1);
        let other = item.counterparts(workspace).into_iter().find(|other| self.pane_of(*other) == Some(wanted))?;
        Some(if pane == 0 { (item, other) } else { (other, item) })
    }
}

#[cfg(test)]
mod tests;
