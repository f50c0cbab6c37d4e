//! What is open and what the window shows of it, and the one place where commands change that.
//!
//! No toolkit types in here: a test drives the whole application by commands. What only a window can do (asking for
//! files, ending the program) comes back as an [`Effect`].

mod asked;
mod choosing;
mod clock;
mod joined;
mod labels;
mod names;
mod opening;
mod said;

pub use asked::{Effect, Notice, Overlay, PathQuestion};
use joined::{Kept, Then};
pub(super) use labels::given;
pub(super) use names::real;
pub use names::{file_name, recent_names};

use super::again::{Again, Said};
use super::bookmarks::Bookmarks;
use super::captures::Captures;
use super::facts::Facts;
use super::gather::Gather;
use super::joining::{Joining, LARGE, Rest};
use super::last_views::LastViews;
use super::load::{Jobs, Opener, What};
use super::replaced::Stamp;
use super::searching::Searching;
use super::settings::{Dock, SCALES_PERCENT, Settings};
use super::sharing::Awaited;
use super::toast::Message;
use crate::analysis::Params;
use crate::task::Wake;
use crate::view::{Command, Compare, Doc, Panel, ViewState, Workspace};
use labels::Labels;
use opening::{Failure, failed};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The whole application without its window.
#[derive(Debug)]
pub struct AppState {
    /// What is open.
    pub workspace: Workspace,
    /// What is shown of it.
    pub view: ViewState,
    /// Files being opened.
    pub jobs: Jobs,
    /// Messages to be read, oldest first.
    pub notices: VecDeque<Notice>,
    /// What lies over the window.
    pub overlay: Option<Overlay>,
    /// What is remembered between runs.
    pub settings: Settings,
    /// Bookmarks of all files.
    pub bookmarks: Bookmarks,
    /// A short message, shown until the next command.
    pub status: Option<Message>,
    /// How files were looked at before.
    pub last_views: LastViews,
    /// Changes whenever other documents are open, so that what was derived from them can be dropped.
    pub revision: u64,
    /// The demo is open: nothing is remembered of it.
    pub(super) demo: bool,
    /// What was read. `workspace` follows, beside the frame where putting it together takes long.
    opened: Vec<Doc>,
    /// Captures that were found in folders: those with a summary are part of the job.
    pub captures: Captures,
    /// Labels that the user gave to ranks, by file.
    pub(super) labels: Labels,
    /// Ranks that were told to be in several files.
    told_twice: HashSet<String>,
    gather: Gather,
    /// What the user said in this window, in place of what came with the files.
    pub(super) said: Option<Said>,
    /// What was decided about the analysis before any settings file.
    base: Params,
    /// What is shown once the files that are being opened are there.
    pub(super) awaited: Option<Awaited>,
    /// Files that were replaced on disk since they were read.
    pub(super) replaced: Vec<PathBuf>,
    /// A file was read anew and took the place of what was open.
    reread: bool,
    /// Files that are being read anew.
    pub(super) reloading: HashSet<PathBuf>,
    /// What the open files looked like on disk when they were read.
    stamps: HashMap<PathBuf, Stamp>,
    again: Again,
    searching: Searching,
    joining: Joining,
    /// With more collectives and steps than this it works beside the frame.
    pub(super) large: usize,
    /// What is done once that is over.
    then: Then,
    rest: Rest,
}

impl AppState {
    /// Nothing open. `wake` is called from other threads when [`AppState::poll`] has something to do.
    pub fn new(opener: Arc<dyn Opener>, wake: Wake, settings: Settings) -> Self {
        let mut state = Self {
            workspace: Workspace::default(),
            view: ViewState::default(),
            base: opener.base(),
            again: Again::new(wake.clone()),
            searching: Searching::new(wake.clone()),
            gather: Gather::new(wake.clone()),
            joining: Joining::new(wake.clone()),
            rest: Rest::new(wake.clone()),
            large: LARGE,
            then: Then::default(),
            jobs: Jobs::new(opener, wake),
            notices: VecDeque::new(),
            overlay: None,
            settings,
            bookmarks: Bookmarks::default(),
            status: None,
            last_views: LastViews::default(),
            revision: 0,
            demo: false,
            opened: Vec::new(),
            captures: Captures::default(),
            labels: Labels::default(),
            told_twice: HashSet::new(),
            said: None,
            awaited: None,
            replaced: Vec::new(),
            reread: false,
            reloading: HashSet::new(),
            stamps: HashMap::new(),
        };
        state.rebuild();
        state
    }

    /// Applies `command`. The only way the state changes, besides [`AppState::poll`].
    pub fn apply(&mut self, command: Command) -> Option<Effect> {
        let effect = self.carry_out(command);
        self.search();
        effect
    }

    fn carry_out(&mut self, command: Command) -> Option<Effect> {
        self.status = None;
        if self.view.apply(&command, &self.workspace) {
            self.remember();
            let marks =
                matches!(command, Command::AddBookmark | Command::NoteBookmark(..) | Command::DeleteBookmark(_));
            if marks {
                self.bookmarks.take_over(&self.workspace, &self.view.bookmarks);
                return Some(Effect::KeepBookmarks);
            }
            return None;
        }
        match command {
            Command::Open(paths) => self.open(paths),
            Command::OpenDemo => self.start(vec![What::Demo]),
            Command::Convert { report, folder } => self.start(vec![What::Convert { report, folder }]),
            Command::SetClock(mode) => self.set_clock(mode),
            Command::NextClock => self.set_clock(self.workspace.options.clock.next()),
            Command::ShiftDoc { doc, by_ns } => self.shift(doc, by_ns),
            Command::ResetShifts => self.reset_shifts(),
            Command::AlignHere(item) => self.align_here(item.or(self.view.selected)),
            Command::CancelLoad => self.cancel_load(),
            Command::CloseAll => self.close_all(),
            Command::ToggleHelp => self.toggle(Overlay::Help),
            Command::ToggleAbout => self.toggle(Overlay::About),
            Command::ToggleRecording => self.toggle(Overlay::Recording),
            Command::TypePath => self.ask(PathQuestion::Open, String::new()),
            Command::ToggleChooser => self.toggle_chooser(),
            Command::Choose(choose) => self.captures.apply(&choose),
            Command::OpenChosen => self.open_chosen(),
            Command::OpenRank(rank) => self.open_rank(rank),
            Command::AskRankName(rank) => self.ask_rank_name(rank),
            Command::RenameRank(rank, label) => self.rename_rank(rank, &label),
            Command::Dismiss => self.dismiss(),
            Command::SetScale(percent) if SCALES_PERCENT.contains(&percent) => self.settings.scale_percent = percent,
            Command::ToggleSidePanel => self.settings.side = !self.settings.side,
            Command::MoveSidePanel => self.move_side_panel(),
            Command::ToggleDetails => self.settings.details = !self.settings.details,
            Command::TogglePalette => self.toggle(Overlay::Palette),
            Command::Recall(name) => self.settings.recalled(name),
            Command::StartAnew => self.start_anew(),
            Command::CopyLink => return self.copy_link(),
            Command::OpenLink => self.ask(PathQuestion::Link, String::new()),
            Command::OpenLinkText(text) => self.open_link(&text),
            Command::SaveSession => return (!self.workspace.docs.is_empty()).then_some(Effect::AskWhereToSaveSession),
            Command::SaveSessionTo(path) => self.save_session(&path),
            Command::Reload => self.reload(),
            Command::KeepReplaced => self.keep_replaced(),
            Command::SetExperiment(experiment) => self.describe(*experiment),
            Command::LoadSettingsFrom(path) => self.load_settings(&path),
            Command::SaveSettingsTo(path) => self.save_settings(&path),
            Command::LoadModelConfigFrom(path) => self.load_model(path),
            Command::CopyName => return self.copied("name", Facts::name_text),
            Command::CopyFacts => return self.copied("details", Facts::as_text),
            Command::LoadSettings => return Some(Effect::AskForSettings),
            Command::SaveSettings => return Some(Effect::AskWhereToSaveSettings),
            Command::LoadModelConfig => return Some(Effect::AskForModelConfig),
            Command::OpenDialog => return Some(Effect::AskForFiles),
            Command::OpenFolderDialog => return Some(Effect::AskForCaptures),
            Command::SavePicture => return (!self.workspace.docs.is_empty()).then_some(Effect::AskForPicture),
            Command::SavePictureTo(path) => return Some(Effect::WritePicture(path)),
            Command::SaveReport => return (!self.workspace.docs.is_empty()).then_some(Effect::AskForReport),
            Command::SaveReportTo(path) => {
                self.workspace.settle();
                return Some(Effect::WriteReport(path));
            }
            Command::AskConversionFolder(report) => return Some(Effect::AskForFolder(report)),
            Command::Quit => return Some(Effect::Quit),
            _ => {}
        }
        None
    }

    /// Takes over what the loading threads have finished. Cheap when there is nothing.
    pub fn poll(&mut self) {
        self.poll_folders();
        while let Some(batch) = self.jobs.poll() {
            let before = self.opened.len();
            let failures: Vec<Failure> = batch.into_iter().filter_map(|outcome| self.finished(outcome)).collect();
            self.notices.extend(failed(&failures));
            let reread = std::mem::take(&mut self.reread);
            if self.opened.len() > before || reread {
                self.note_views();
                self.put_together(Then { anew: true, read: true, first: before == 0, ..Then::default() });
            } else {
                // Nothing came of what was asked for: what is open stays as it is shown.
                self.awaited = None;
            }
            self.reloading.clear();
        }
        if let Some(anew) = self.again.poll() {
            for doc in anew {
                let open = self.opened.iter_mut().find(|open| Arc::ptr_eq(&open.trace, &doc.trace));
                if let Some(open) = open {
                    *open = doc;
                }
            }
            self.put_together(Then::default());
        }
        self.poll_joining();
        self.settle_at_rest();
        self.search();
        while let Some(hits) = self.searching.poll() {
            self.view.take_hits(hits, &self.workspace);
        }
    }

    /// Has searched what is asked for now, unless that is done or being done.
    fn search(&mut self) {
        self.searching.follow(self.view.search_request(), &self.workspace, self.revision);
    }

    /// Puts what is open on one axis and shows all of it.
    fn rebuild(&mut self) {
        self.put_together(Then { anew: true, ..Then::default() });
    }

    /// All of what is open, with the switches as they were left.
    fn first_view(&self) -> ViewState {
        let listed = self.view.panel == Panel::Search;
        let state = ViewState {
            theme: self.settings.theme,
            panel: if listed { Panel::Search } else { self.settings.panel },
            marks: self.settings.marks,
            nvtx: self.settings.nvtx,
            axis: self.settings.axis,
            bookmarks: self.bookmarks.of(&self.workspace),
            // Another file beside the others is searched too.
            search: self.view.search.without_answer(),
            ..ViewState::open(&self.workspace)
        };
        // Another file beside them leaves two ranks beside each other.
        let compared = self.view.compare.as_ref();
        let compared = compared.filter(|of| of.ranks.iter().all(|rank| self.workspace.rank(*rank).is_some()));
        let compare = compared.map(|of| Compare::new(of.ranks, of.form, &state));
        ViewState { compare, ..state }
    }

    /// Has the numbers of captures computed anew that would come out otherwise with what the user now says.
    fn renew(&mut self) {
        if let Some(said) = &self.said {
            self.again.start(&self.opened, said, &self.base);
        }
    }

    /// True while the numbers shown are those from before the settings or the clock in force.
    pub const fn is_renewing(&self) -> bool {
        self.again.is_busy() || self.is_joining()
    }

    /// Remembers how the open files are looked at.
    pub fn note_views(&mut self) {
        if !self.demo {
            self.last_views.note(&self.workspace, &self.view);
        }
    }

    /// Says what was set aside of what was remembered.
    pub fn tell_set_aside(&mut self, set_aside: &[String]) {
        if !set_aside.is_empty() {
            let title = "Settings that could not be read were kept under another name".to_owned();
            let message = format!("{}\n\nThe window starts with its defaults instead.", set_aside.join("\n"));
            self.notices.push_back(Notice { title, message, convert: None });
        }
    }

    fn start_anew(&mut self) {
        self.last_views.forget(&self.workspace);
        self.view.compare = None;
        self.view = self.first_view();
    }

    fn move_side_panel(&mut self) {
        let at = Dock::ALL.iter().position(|dock| *dock == self.settings.dock).unwrap_or(0);
        // A panel that is hidden is first shown where it was.
        if self.settings.side {
            self.settings.dock = Dock::ALL.into_iter().cycle().nth(at + 1).unwrap_or_default();
        }
        self.settings.side = true;
    }

    /// What the open files looked like on disk when they were read; nothing of files that are no longer open.
    pub fn stamps(&self) -> &HashMap<PathBuf, Stamp> {
        &self.stamps
    }

    /// The text of the selected item to be copied, and a message that says so.
    fn copied(&mut self, what: &str, text: impl FnOnce(&Facts) -> String) -> Option<Effect> {
        let facts = Facts::of(self.view.selected?, &self.workspace)?;
        self.status = Some(Message::done(format!("Copied the {what}")));
        Some(Effect::Copy(text(&facts)))
    }

    /// Tells why nothing came of `path`, and asks for it once more, filled in.
    pub fn refuse(&mut self, question: PathQuestion, path: &Path, title: &str, why: &dyn std::fmt::Display) {
        self.notices.push_back(Notice { title: title.to_owned(), message: why.to_string(), convert: None });
        self.ask(question, path.display().to_string());
    }

    /// Asks for a path in a field that holds `start`.
    pub fn ask(&mut self, question: PathQuestion, start: String) {
        self.overlay = Some(Overlay::Path { question, start });
    }

    fn toggle(&mut self, overlay: Overlay) {
        self.overlay = if self.overlay.as_ref() == Some(&overlay) { None } else { Some(overlay) };
    }

    fn dismiss(&mut self) {
        if self.notices.pop_front().is_none() {
            self.overlay = None;
        }
    }

    fn remember(&mut self) {
        self.settings.theme = self.view.theme;
        // A tab about what is selected now says nothing the next time.
        let passing = self.view.panel == Panel::Selection;
        let panel = if passing { self.view.panel_before } else { self.view.panel };
        // The list of hits is shown when something is searched for.
        if panel != Panel::Search {
            self.settings.panel = panel;
        }
        self.settings.marks = self.view.marks;
        self.settings.nvtx = self.view.nvtx;
        self.settings.axis = self.view.axis;
    }
}
