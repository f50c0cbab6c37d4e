//! All commands by name: those with a key, those that are in menus only, and those that name a step, a rank or a panel.
//!
//! Names and keys of the first come from [`SHORTCUTS`]; when a command does something, from [`why_not`].

use super::cx::Cx;
use super::menu::PANELS;
use super::settings::SCALES_PERCENT;
use crate::analysis::Attribution;
use crate::format;
use crate::job::ClockMode;
use crate::report::compare;
use crate::view::available::why_not;
use crate::view::search::{Query, Scope};
use crate::view::shortcuts::{Chord, SHORTCUTS};
use crate::view::{Command, CompareCommand, CompareForm, LaneKey, PaneLink, Theme, ViewState, Workspace, fuzzy};

/// A command of the list.
#[derive(Debug, Clone)]
pub struct Action {
    /// What it does, in sentence case.
    pub name: String,
    /// Its first key.
    pub chord: Option<Chord>,
    /// What it sends.
    pub commands: Vec<Command>,
}

impl Action {
    /// Why it would do nothing now.
    pub fn why_not(&self, view: &ViewState, workspace: &Workspace) -> Option<&'static str> {
        self.commands.iter().find_map(|command| why_not(command, view, workspace))
    }
}

/// The command of this name, whatever its case.
///
/// # Errors
/// The names that are most like it, when there is none.
pub fn named(cx: &Cx<'_>, name: &str) -> Result<Vec<Command>, Vec<String>> {
    let plain = |name: &str| name.trim().trim_end_matches('…').to_lowercase();
    let all = all(cx);
    if let Some(action) = all.iter().find(|action| plain(&action.name) == plain(name)) {
        return Ok(action.commands.clone());
    }
    let mut like: Vec<(i32, &str)> =
        all.iter().filter_map(|action| Some((fuzzy::score(name, &action.name)?, action.name.as_str()))).collect();
    like.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    Err(like.into_iter().take(LIKE).map(|(_, name)| name.to_owned()).collect())
}

/// Names offered in place of one that is unknown.
const LIKE: usize = 5;

/// Commands without a key.
const KEYLESS: &[(&str, Command)] = &[
    ("Open by path…", Command::TypePath),
    ("Open folder…", Command::OpenFolderDialog),
    ("Choose ranks to open…", Command::ToggleChooser),
    ("Open demo", Command::OpenDemo),
    ("Save report…", Command::SaveReport),
    ("Load settings…", Command::LoadSettings),
    ("Save settings…", Command::SaveSettings),
    ("Load a model…", Command::LoadModelConfig),
    ("Close the search", Command::CloseSearch),
    ("Theme: dark", Command::SetTheme(Theme::Dark)),
    ("Theme: light", Command::SetTheme(Theme::Light)),
    ("NVTX on the GPU: whole process", Command::SetAttribution(Attribution::Process)),
    ("NVTX on the GPU: same thread", Command::SetAttribution(Attribution::SameThread)),
    ("How to record a capture", Command::ToggleRecording),
    ("Compare two ranks: no longer", Command::Compare(CompareCommand::Show(None))),
    ("Compare two ranks: swap them", Command::Compare(CompareCommand::Swap)),
    ("About stepscope", Command::ToggleAbout),
];

/// All commands, in the order of the list.
pub fn all(cx: &Cx<'_>) -> Vec<Action> {
    let keyed = SHORTCUTS.iter().map(|shortcut| Action {
        name: shortcut.help.to_owned(),
        chord: shortcut.chords.first().copied(),
        commands: (shortcut.commands)(cx.view, cx.workspace),
    });
    let mut all: Vec<Action> = keyed.collect();
    let mut add = |name: String, commands: Vec<Command>| all.push(Action { name, chord: None, commands });
    for (name, command) in KEYLESS {
        add((*name).to_owned(), vec![command.clone()]);
    }
    let query = &cx.view.search.query;
    let case = Query { match_case: !query.match_case, ..query.clone() };
    let regex = Query { regex: !query.regex, ..query.clone() };
    add("Search: match case".to_owned(), vec![Command::OpenSearch, Command::SetQuery(case)]);
    add("Search: regular expression".to_owned(), vec![Command::OpenSearch, Command::SetQuery(regex)]);
    for scope in Scope::ALL {
        add(format!("Search where: {}", scope.text()), vec![Command::SetScope(scope), Command::OpenSearch]);
    }
    for form in CompareForm::ALL {
        let command = Command::Compare(CompareCommand::Show(Some(form)));
        add(format!("Compare two ranks: {}", form.text().to_lowercase()), vec![command]);
    }
    for link in PaneLink::ALL {
        let command = Command::Compare(CompareCommand::Link(link));
        add(format!("Move panes together: {}", link.text().to_lowercase()), vec![command]);
    }
    for mode in ClockMode::ALL {
        add(format!("Clock: {}", compare::mode_text(mode)), vec![Command::SetClock(mode)]);
    }
    for (panel, name) in PANELS {
        let show = (!cx.settings.side).then_some(Command::ToggleSidePanel);
        add(format!("Show panel {name}"), std::iter::once(Command::ShowPanel(panel)).chain(show).collect());
    }
    for percent in SCALES_PERCENT {
        add(format!("Scale: {percent} %"), vec![Command::SetScale(percent)]);
    }
    for (id, ..) in cx.workspace.ranks() {
        let label = cx.workspace.label(id);
        add(format!("Go to rank {label}"), vec![Command::ChooseRank(id), Command::ShowLane(LaneKey::Rank(id))]);
        add(format!("Rename rank {label}…"), vec![Command::AskRankName(id)]);
        if let Some(first) = cx.view.comparable_with(id, cx.workspace) {
            let command = Command::Compare(CompareCommand::Ranks([first, id]));
            add(format!("Compare rank {} with rank {label}", cx.workspace.label(first)), vec![command]);
        }
    }
    for (at, rank) in cx.workspace.job.ranks.iter().enumerate() {
        if cx.workspace.open_rank(at).is_none() {
            add(format!("Open rank {}", format::one_line(&rank.label, 60)), vec![Command::OpenRank(at)]);
        }
    }
    if let Some((chosen, steps)) = cx.chosen().and_then(|chosen| Some((chosen, chosen.steps()?))) {
        for (at, step) in steps.steps.iter().enumerate() {
            let name = format::one_line(&step.name, 60);
            let name =
                if name.starts_with("step") { format!("Show {name}") } else { format!("Show step “{name}”") };
            add(
                format!("{name} of rank {}", cx.workspace.label(chosen.id)),
                vec![Command::ShowStep(chosen.id, at as u32)],
            );
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::shortcuts::text_of;

    #[test]
    fn no_command_with_a_key_is_listed_once_more_without_it() {
        for (name, command) in KEYLESS {
            assert_eq!(text_of(command), "", "{name}");
        }
    }
}
