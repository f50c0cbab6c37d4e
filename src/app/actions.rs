//! All commands by name: those with a key, those that are in menus only, and those that name a step, a rank or a panel.
//!
//! Names and keys of the first come from [`SHORTCUTS`]; when a command does something, from [`why_not`].

use super::cx::Cx;
use super::menu::PANELS;
use super::settings::SCALES_PERCENT;
use crate::analysis::Attribution;
use crate::format;
use crate::view::available::why_not;
use crate::view::search::{Query, Scope};
use crate::view::shortcuts::{Chord, SHORTCUTS};
use crate::view::{Command, LaneKey, Theme, ViewState, Workspace};

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

/// Commands without a key.
const KEYLESS: &[(&str, Command)] = &[
    ("Open by path…", Command::TypePath),
    ("Open demo", Command::OpenDemo),
    ("Save report…", Command::SaveReport),
    ("Save session…", Command::SaveSession),
    ("Copy link to what is shown", Command::CopyLink),
    ("Open link…", Command::OpenLink),
    ("Reload replaced files", Command::Reload),
    ("Start with the whole capture", Command::StartAnew),
    ("Move the side panel: left, right, below", Command::MoveSidePanel),
    ("Load settings…", Command::LoadSettings),
    ("Save settings…", Command::SaveSettings),
    ("Load a model…", Command::LoadModelConfig),
    ("Close the search", Command::CloseSearch),
    ("Side panel", Command::ToggleSidePanel),
    ("Details panel", Command::ToggleDetails),
    ("Theme: dark", Command::SetTheme(Theme::Dark)),
    ("Theme: light", Command::SetTheme(Theme::Light)),
    ("NVTX on the GPU: whole process", Command::SetAttribution(Attribution::Process)),
    ("NVTX on the GPU: same thread", Command::SetAttribution(Attribution::SameThread)),
    ("How to record a capture", Command::ToggleRecording),
    ("About stepscope", Command::ToggleAbout),
];

/// All commands, in the order of the list.
pub fn all(cx: &Cx<'_>) -> Vec<Action> {
    let keyed = SHORTCUTS.iter().map(|shortcut| Action {
        name: shortcut.help.to_owned(),
        chord: shortcut.chords.first().copied(),
        commands: (shortcut.commands)(cx.view, cx.workspace),
    });
    // The list itself is open already.
    let keyed = keyed.filter(|action| action.commands != [Command::TogglePalette]);
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
    for (panel, name) in PANELS {
        let show = (!cx.settings.side).then_some(Command::ToggleSidePanel);
        add(format!("Show panel {name}"), std::iter::once(Command::ShowPanel(panel)).chain(show).collect());
    }
    for percent in SCALES_PERCENT {
        add(format!("Scale: {percent} %"), vec![Command::SetScale(percent)]);
    }
    for (id, doc, rank) in cx.workspace.ranks() {
        let file = super::file_name(&doc.trace.source.path);
        let several = cx.workspace.docs.len() > 1;
        let of = if several { format!(" ({file})") } else { String::new() };
        let commands = vec![Command::ChooseRank(id), Command::ShowLane(LaneKey::Rank(id))];
        add(format!("Go to rank {}{of}", rank.label), commands);
    }
    if let Some((chosen, steps)) = cx.chosen().and_then(|chosen| Some((chosen, chosen.steps()?))) {
        for (at, step) in steps.steps.iter().enumerate() {
            let name = format::one_line(&step.name, 60);
            let name =
                if name.starts_with("step") { format!("Show {name}") } else { format!("Show step “{name}”") };
            add(format!("{name} of rank {}", chosen.rank.label), vec![Command::ShowStep(chosen.id, at as u32)]);
        }
    }
    all
}
