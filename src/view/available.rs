//! When a command does something: the one place that menus, buttons and the list of commands ask.

use super::search::Scope;
use super::{Command, CompareCommand, Item, LaneCommand, PaneLink, ViewState, Workspace};

const NO_FILE: &str = "No file is open";
const NO_STEPS: &str = "The chosen rank has no steps";
const NOTHING_SELECTED: &str = "Nothing is selected";
const ONE_FILE: &str = "Only one file is open";
const NO_COUNTERPART: &str = "It has no counterpart on the other rank";

/// Why `command` would do nothing now; `None` when it does something.
pub fn why_not(command: &Command, view: &ViewState, workspace: &Workspace) -> Option<&'static str> {
    let because = |holds: bool, reason| holds.then_some(reason);
    let no_file = because(workspace.docs.is_empty(), NO_FILE);
    match command {
        Command::ShowSelection | Command::Select(None) | Command::SelectSpan(None) => {
            no_file.or(because(!view.has_selection(), NOTHING_SELECTED))
        }
        Command::Back => no_file.or(because(!view.history.can_go_back(), "There is no view before this one")),
        Command::Forward => no_file.or(because(!view.history.can_go_forward(), "There is no view after this one")),
        Command::PreviousStep | Command::NextStep => no_file.or(because(!has_steps(view, workspace), NO_STEPS)),
        Command::NextHit | Command::PreviousHit => {
            let none = view.hits().is_some_and(|hits| hits.is_empty());
            let empty = because(view.search.query.text.is_empty(), "Nothing is searched for");
            no_file.or(empty).or(because(none, "Nothing was found"))
        }
        Command::SetScope(Scope::Selected) => no_file.or(because(view.selected_span.is_none(), "No span is selected")),
        Command::CloseSearch => because(!view.search.open, "Nothing is searched for"),
        Command::PanBy(_)
        | Command::ZoomAt { .. }
        | Command::Show(_)
        | Command::ShowAll
        | Command::ScrollBy(_)
        | Command::OpenSearch
        | Command::SetScope(_)
        | Command::SetQuery(_)
        | Command::ShowPanel(_)
        | Command::SavePicture
        | Command::SaveReport
        | Command::SaveSession
        | Command::CopyLink
        | Command::Reload
        | Command::StartAnew
        | Command::MoveSidePanel
        | Command::AddBookmark
        | Command::SetAxis(_)
        | Command::NextAxis
        | Command::CloseAll => no_file,
        Command::SetClock(_) | Command::NextClock => no_file.or(because(workspace.job.exports.len() < 2, ONE_FILE)),
        Command::ResetShifts => {
            no_file.or(because(workspace.options.shift_ns.iter().all(|ns| *ns == 0), "No file is shifted"))
        }
        Command::Compare(command) => no_file.or_else(|| compare_refused(*command, view, workspace)),
        Command::InPane(_, command) => why_not(command, view, workspace),
        Command::AlignHere(item) if view.panes().is_some() => {
            let Some(item) = item.or(view.selected) else { return Some(NOTHING_SELECTED) };
            let pair = view.panes().and_then(|compare| compare.counterparts(item, workspace));
            because(pair.is_none(), NO_COUNTERPART)
        }
        Command::AlignHere(item) => no_file.or(because(workspace.docs.len() < 2, ONE_FILE)).or_else(|| {
            let Some(item) = item.or(view.selected) else { return Some(NOTHING_SELECTED) };
            let other = |other: &Item| other.doc() != item.doc();
            because(!item.counterparts(workspace).iter().any(other), "It has no counterpart in another file")
        }),
        Command::Lane(lane) => no_file.or(lane_refused(lane, view)),
        Command::SelectNeighbour(..) | Command::SelectItsSpan | Command::CopyName | Command::CopyFacts => {
            no_file.or(because(view.selected.is_none(), NOTHING_SELECTED))
        }
        _ => None,
    }
}

fn lane_refused(command: &LaneCommand, view: &ViewState) -> Option<&'static str> {
    let because = |holds: bool, reason| holds.then_some(reason);
    let (lanes, none) = (&view.lanes, because(view.lanes.focus.is_none(), "No lane is chosen"));
    match command {
        LaneCommand::ShowAll => because(lanes.hidden.is_empty() && lanes.filter.is_empty(), "All lanes are shown"),
        LaneCommand::Pin(None) => none.or(because(
            lanes.focus.is_some_and(|lane| !lane.can_be_pinned()),
            "The chosen lane is a heading: it shows nothing itself",
        )),
        LaneCommand::Hide(None)
        | LaneCommand::Toggle
        | LaneCommand::MoveBy(_)
        | LaneCommand::ScaleBy(_)
        | LaneCommand::ResetScale => none,
        _ => None,
    }
}

fn compare_refused(command: CompareCommand, view: &ViewState, workspace: &Workspace) -> Option<&'static str> {
    let because = |holds: bool, reason| holds.then_some(reason);
    let Some(compare) = &view.compare else {
        return match command {
            CompareCommand::Show(Some(_)) | CompareCommand::Ranks(_) | CompareCommand::NextForm => {
                because(workspace.ranks().nth(1).is_none(), "Only one rank is open")
            }
            _ => Some("No two ranks are compared"),
        };
    };
    let no_panes = because(!compare.has_panes(), "Overlaid ranks share one view");
    match command {
        CompareCommand::Link(PaneLink::Step) => no_panes.or(because(
            compare.steps_at(0, view.viewport, workspace).is_none(),
            "The ranks have no numbered step in common here",
        )),
        CompareCommand::Link(PaneLink::Aligned) => {
            no_panes.or_else(|| why_not(&Command::AlignHere(None), view, workspace))
        }
        CompareCommand::Link(_) | CompareCommand::NextLink => no_panes,
        _ => None,
    }
}

fn has_steps(view: &ViewState, workspace: &Workspace) -> bool {
    let numbers = view.rank.and_then(|rank| workspace.docs.get(rank.doc)?.analysis.ranks.get(rank.rank));
    numbers.and_then(|numbers| numbers.steps.as_ref()).is_some_and(|steps| !steps.steps.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::units::Span;
    use std::sync::Arc;

    #[test]
    fn reasons_come_and_go_with_the_state() {
        let empty = Workspace::default();
        let mut view = ViewState::open(&empty);
        for command in [Command::ShowAll, Command::Back, Command::NextStep, Command::NextHit, Command::OpenSearch] {
            assert_eq!(why_not(&command, &view, &empty), Some(NO_FILE), "{command:?}");
        }
        assert_eq!(why_not(&Command::OpenDialog, &view, &empty), None);

        let trace = Arc::new(Fixture::new().kernel("gemm", 7, 0, 900).build());
        let analysis = Arc::new(analyze(&trace, &Params::default()));
        let open = Workspace::new([(trace, analysis)]);
        view = ViewState::open(&open);
        assert_eq!(why_not(&Command::ShowAll, &view, &open), None);
        assert_eq!(why_not(&Command::NextStep, &view, &open), Some(NO_STEPS));
        assert_eq!(why_not(&Command::ShowSelection, &view, &open), Some(NOTHING_SELECTED));
        view.apply(&Command::Select(Some(Item::Op(view.rank.unwrap(), 0))), &open);
        assert_eq!(why_not(&Command::ShowSelection, &view, &open), None);
        assert!(why_not(&Command::Back, &view, &open).is_some());
        view.apply(&Command::Show(Span::new(10, 50)), &open);
        assert_eq!(why_not(&Command::Back, &view, &open), None);
        assert!(why_not(&Command::Forward, &view, &open).is_some());
    }
}
