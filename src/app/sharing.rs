//! Links and sessions: what is open and shown, as text, and opened again from it; files that were replaced on disk.

use super::again::Said;
use super::fingerprint::fingerprint;
use super::load::What;
use super::replaced::changed;
use super::session::{Session, SessionFile, with_ending};
use super::state::{AppState, Effect, Notice};
use super::toast::Message;
use crate::experiment::Experiment;
use crate::job::{ClockMode, JobOptions};
use crate::view::{Bookmark, Link, Panel, RankId, SavedView, lanes_of, restore_lanes};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What is shown once the files that are being opened are there.
#[derive(Debug, Clone, Default)]
pub(super) struct Awaited {
    /// The view.
    view: SavedView,
    /// Lanes by file.
    lanes: HashMap<PathBuf, Vec<String>>,
    /// Files in the order that the view counts them in.
    files: Vec<PathBuf>,
    /// Bookmarks as a session holds them.
    bookmarks: Vec<toml::Table>,
    /// The clock and each file's shift and labels, as a session holds them.
    job: Option<(ClockMode, HashMap<PathBuf, SessionFile>)>,
}

/// Files of a session by where they really lie.
fn by_path(files: &[SessionFile]) -> HashMap<PathBuf, SessionFile> {
    files.iter().map(|file| (super::state::real(&file.path), file.clone())).collect()
}

impl AppState {
    /// The link to what is shown; `None` when nothing is open that another start could open.
    pub(super) fn copy_link(&mut self) -> Option<Effect> {
        if self.workspace.docs.is_empty() {
            return None;
        }
        if self.demo {
            self.status = Some(Message::refused("The demo has no file that a link could lead to".to_owned()));
            return None;
        }
        let files = self.workspace.docs.iter().map(|doc| super::state::real(&doc.trace.source.path)).collect();
        let JobOptions { clock, shift_ns, .. } = self.workspace.options.clone();
        let link = Link { files, view: SavedView::of(&self.view), clock, shift_ns };
        self.status = Some(Message::done("Link copied".to_owned()));
        Some(Effect::Copy(link.to_text()))
    }

    /// Opens what a link leads to, in place of what is open.
    pub(super) fn open_link(&mut self, text: &str) {
        match Link::parse(text) {
            Ok(link) => {
                let shifts = link.shift_ns.into_iter().chain(std::iter::repeat(0));
                let file = |(path, shift_ns)| SessionFile { path, shift_ns, ..SessionFile::default() };
                let files: Vec<SessionFile> = link.files.into_iter().zip(shifts).map(file).collect();
                self.open_anew(files.clone(), link.view, None);
                if let Some(awaited) = &mut self.awaited {
                    awaited.job = Some((link.clock, by_path(&files)));
                }
            }
            Err(error) => self.tell("The link was not opened", error.to_string()),
        }
    }

    /// Opens a session, in place of what is open.
    pub(super) fn open_session(&mut self, path: &Path) {
        match Session::read(path) {
            Ok(session) => {
                let files = by_path(&session.files);
                self.open_anew(session.files, session.view, session.experiment);
                if let Some(awaited) = &mut self.awaited {
                    awaited.bookmarks = session.bookmarks;
                    awaited.job = Some((session.job.clock, files));
                    if !session.job.summaries.is_empty() {
                        self.look_into(session.job.summaries);
                    }
                }
            }
            Err(error) => self.tell("The session was not opened", error.to_string()),
        }
    }

    /// Writes a session.
    pub(super) fn save_session(&mut self, path: &Path) {
        let path = with_ending(path.to_owned());
        let mut session = Session { bookmarks: self.bookmark_tables(), ..Session::of(&self.workspace, &self.view) };
        session.job.summaries = self.captures.summary_files();
        match session.write(&path) {
            Ok(()) => self.status = Some(Message::done(format!("Saved {}", path.display()))),
            Err(error) => self.tell("The session was not saved", error.to_string()),
        }
    }

    /// Opens these files in place of what is open. Those that are not there are told, and the others opened.
    fn open_anew(&mut self, files: Vec<SessionFile>, view: SavedView, said: Option<Experiment>) {
        let (there, missing): (Vec<&SessionFile>, Vec<&SessionFile>) =
            files.iter().partition(|file| self.jobs.can_find(&file.path));
        if !missing.is_empty() {
            let list: Vec<String> = missing.iter().map(|file| file.path.display().to_string()).collect();
            let title = match list.len() {
                1 => "A file is missing".to_owned(),
                many => format!("{many} files are missing"),
            };
            let rest = if there.is_empty() { "" } else { "\n\nThe other files are opened." };
            self.tell(&title, format!("{}{rest}", list.join("\n")));
        }
        if there.is_empty() {
            return;
        }
        let paths: Vec<PathBuf> = there.iter().map(|file| file.path.clone()).collect();
        self.close_all();
        self.said = said.map(Said::typed);
        // What is shown is about a selection: without its tab nothing of it would be seen.
        self.settings.side |= view.panel == Some(Panel::Selection);
        self.awaited = Some(Awaited {
            view,
            lanes: files.iter().map(|file| (super::state::real(&file.path), file.lanes.clone())).collect(),
            files: files.iter().map(|file| super::state::real(&file.path)).collect(),
            ..Awaited::default()
        });
        self.start(paths.into_iter().map(What::File).collect());
    }

    /// Shows what was asked for, once its files are open; false when nothing was.
    pub(super) fn show_awaited(&mut self) -> bool {
        let Some(awaited) = self.awaited.take() else { return false };
        let docs: Vec<PathBuf> =
            self.workspace.docs.iter().map(|doc| super::state::real(&doc.trace.source.path)).collect();
        if let Some((clock, files)) = &awaited.job {
            self.restore_job(*clock, files, &docs);
        }
        for (at, path) in docs.iter().enumerate() {
            if let Some(lanes) = awaited.lanes.get(path) {
                restore_lanes(&mut self.view, at, lanes);
            }
        }
        self.add_bookmarks(&awaited, &docs);
        // A file that is missing moves those behind it up.
        let place = |file: usize| docs.iter().position(|known| Some(known) == awaited.files.get(file));
        let view = awaited.view.counted(place);
        if !view.restore(&mut self.view, &self.workspace) {
            self.tell_not_beside(&awaited, &view);
        }
        true
    }

    /// Tells which of the two ranks that were to stand beside each other are not open.
    fn tell_not_beside(&mut self, awaited: &Awaited, view: &SavedView) {
        let (Some(asked), Some(found)) = (&awaited.view.compare, &view.compare) else { return };
        let is_open = |[doc, rank]: [usize; 2]| self.workspace.rank(RankId { doc, rank }).is_some();
        let missing = asked.ranks.iter().zip(found.ranks).filter(|(_, found)| !is_open(*found));
        let line = |([file, rank], _): (&[usize; 2], _)| {
            let path = awaited.files.get(*file).map_or_else(|| "?".to_owned(), |path| path.display().to_string());
            format!("{path}, rank {} of the file", rank.saturating_add(1))
        };
        let lines: Vec<String> = missing.map(line).collect();
        let why = if lines.is_empty() { "They are one rank.".to_owned() } else { lines.join("\n") };
        let text =
            format!("Two ranks were to stand beside each other, but not both are open:\n{why}\n\nAll ranks are shown.");
        self.tell("Two ranks are not shown beside each other", text);
    }

    /// Brings back the clock, and what each file is moved by and calls its ranks.
    fn restore_job(&mut self, clock: ClockMode, files: &HashMap<PathBuf, SessionFile>, docs: &[PathBuf]) {
        let shift_ns = docs.iter().map(|path| files.get(path).map_or(0, |file| file.shift_ns)).collect();
        for (doc, file) in self.workspace.docs.iter().zip(docs.iter().map(|path| files.get(path))) {
            let Some(file) = file.filter(|file| !file.labels.is_empty()) else { continue };
            let labels = doc.trace.ranks.iter().zip(&file.labels).enumerate();
            let given = labels.filter(|(_, (rank, label))| rank.label != **label);
            self.labels.set(fingerprint(&doc.trace), given.map(|(at, (_, label))| (at, label.clone())).collect());
        }
        self.relabel();
        self.workspace.set_clock(JobOptions { clock, shift_ns, ..self.workspace.options.clone() });
        self.revision += 1;
    }

    /// The bookmarks of what is open, each with the place of its file in the session.
    fn bookmark_tables(&self) -> Vec<toml::Table> {
        let table = |mark: &Bookmark| {
            let mut table = toml::Table::try_from(mark).ok()?;
            table.insert("file".to_owned(), i64::try_from(mark.doc).ok()?.into());
            Some(table)
        };
        self.view.bookmarks.iter().filter_map(table).collect()
    }

    /// Adds the bookmarks of a session to those that are known of its files. What is no bookmark is left out.
    fn add_bookmarks(&mut self, awaited: &Awaited, docs: &[PathBuf]) {
        for table in &awaited.bookmarks {
            let mut table = table.clone();
            let file = table.remove("file").and_then(|file| usize::try_from(file.as_integer()?).ok());
            let doc = file
                .and_then(|file| awaited.files.get(file))
                .and_then(|path| docs.iter().position(|known| known == path));
            let mark = table.try_into::<Bookmark>().ok().zip(doc).map(|(mark, doc)| Bookmark { doc, ..mark });
            if let Some(mark) = mark.filter(|mark| !self.view.bookmarks.contains(mark)) {
                self.view.bookmarks.push(mark);
            }
        }
        self.bookmarks.take_over(&self.workspace, &self.view.bookmarks);
    }

    /// Reads files anew that were replaced on disk, and keeps the view. Looks at them itself: who asks for it knows of
    /// a change that may not have been found yet.
    pub(super) fn reload(&mut self) {
        self.tell_replaced(changed(self.stamps()));
        let replaced = std::mem::take(&mut self.replaced);
        if replaced.is_empty() {
            if self.reloading.is_empty() && !self.workspace.docs.is_empty() {
                self.status = Some(Message::refused("No open file was changed on disk"));
            }
            return;
        }
        let docs: Vec<PathBuf> =
            self.workspace.docs.iter().map(|doc| super::state::real(&doc.trace.source.path)).collect();
        let lanes = docs.iter().enumerate().map(|(at, path)| (path.clone(), lanes_of(&self.view, at))).collect();
        self.awaited = Some(Awaited { view: SavedView::of(&self.view), lanes, files: docs, ..Awaited::default() });
        self.reloading.extend(replaced.iter().cloned());
        self.start(replaced.into_iter().map(What::File).collect());
    }

    /// Takes note that open files are no longer what was read of them.
    pub fn tell_replaced(&mut self, replaced: Vec<PathBuf>) {
        for path in replaced {
            let open = self.workspace.docs.iter().any(|doc| super::state::real(&doc.trace.source.path) == path);
            if open && !self.replaced.contains(&path) && !self.reloading.contains(&path) {
                self.replaced.push(path);
            }
        }
    }

    /// Files that were replaced on disk since they were read.
    pub fn replaced(&self) -> &[PathBuf] {
        &self.replaced
    }

    pub(super) fn tell(&mut self, title: &str, message: String) {
        self.notices.push_back(Notice { title: title.to_owned(), message, convert: None });
    }
}
