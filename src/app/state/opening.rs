//! Opening files: what is open already, what became of a batch, and closing all.

use super::super::captures::Captures;
use super::super::load::{OpenError, Outcome, What};
use super::super::replaced::stamp;
use super::super::session;
use super::super::toast::Message;
use super::{AppState, Notice, file_name, real};
use crate::view::{Command, Doc};
use std::collections::HashSet;
use std::path::PathBuf;

impl AppState {
    pub(super) fn open(&mut self, paths: Vec<PathBuf>) {
        let is_session = |path: &&PathBuf| path.to_string_lossy().ends_with(session::ENDING);
        if let Some(session) = paths.iter().find(is_session) {
            self.open_session(session);
            return;
        }
        if Self::is_folder(&paths) {
            self.look_into(paths);
        } else {
            self.start(paths.into_iter().map(What::File).collect());
        }
    }

    /// Starts opening `all` as one batch, without the files that are open or being opened already: read twice, one
    /// rank would look like two.
    pub fn start(&mut self, all: Vec<What>) {
        let path_of = |what: &What| if let What::File(path) = what { Some(real(path)) } else { None };
        let mut known: HashSet<PathBuf> = self.opened.iter().map(|doc| real(&doc.trace.source.path)).collect();
        known.retain(|path| !self.reloading.contains(path));
        known.extend(self.jobs.running().filter_map(|job| path_of(&job.what)));
        let (fresh, again): (Vec<What>, Vec<What>) =
            all.into_iter().partition(|what| path_of(what).is_none_or(|path| known.insert(path)));
        self.tell_open_already(again.iter().map(What::label).collect());
        self.jobs.start(fresh);
    }

    pub(super) fn tell_open_already(&mut self, mut names: Vec<String>) {
        names.dedup();
        let verb = if names.len() == 1 { "is" } else { "are" };
        if !names.is_empty() {
            self.status = Some(Message::refused(format!("{} {verb} open already", names.join(", "))));
        }
    }

    /// Takes over what became of one file; a failure is left to be told with those of its batch.
    pub(super) fn finished(&mut self, (what, result): Outcome) -> Option<Failure> {
        match result {
            Ok(opened) => self.take_over(&what, opened),
            Err(OpenError::Cancelled) => {}
            Err(OpenError::NeedsConversion { report, message }) => {
                let title = format!("{} has to be converted first", what.label());
                self.notices.push_back(Notice { title, message, convert: Some(report) });
            }
            Err(OpenError::Failed { message }) => {
                if let What::File(path) = &what {
                    self.settings.recent.retain(|known| known != path || path.exists());
                }
                return Some((what.label(), message));
            }
        }
        None
    }

    /// Adds traces to what is open, except those that are there already: a conversion or the demo asked for twice.
    pub(super) fn take_over(&mut self, what: &What, opened: Vec<Doc>) {
        let mut again = Vec::new();
        for doc in opened {
            let path = real(&doc.trace.source.path);
            self.stamps.extend(stamp(&path).map(|stamp| (path.clone(), stamp)));
            if let Some(open) = self
                .opened
                .iter_mut()
                .find(|open| self.reloading.contains(&path) && real(&open.trace.source.path) == path)
            {
                *open = doc;
                self.reread = true;
                continue;
            }
            if self.opened.iter().any(|known| real(&known.trace.source.path) == path) {
                again.push(file_name(&path));
                continue;
            }
            if *what == What::Demo {
                self.demo = true;
            } else {
                self.settings.opened(&path);
            }
            self.opened.push(doc);
        }
        self.tell_open_already(again);
    }

    /// Goes on with what was read of files that were replaced, until they are replaced again.
    pub(super) fn keep_replaced(&mut self) {
        for path in std::mem::take(&mut self.replaced) {
            self.stamps.extend(stamp(&path).map(|stamp| (path, stamp)));
        }
    }

    pub(in crate::app) fn close_all(&mut self) {
        self.note_views();
        self.cancel_load();
        self.captures = Captures::default();
        self.view.apply(&Command::CloseSearch, &self.workspace);
        self.opened.clear();
        self.demo = false;
        self.awaited = None;
        self.replaced.clear();
        self.reloading.clear();
        self.stamps.clear();
        self.said = None;
        self.rebuild();
    }
}

/// Name of a file and why it did not open.
pub(super) type Failure = (String, String);

/// One message for all files of a batch that did not open.
pub(super) fn failed(failures: &[Failure]) -> Option<Notice> {
    let (title, message) = match failures {
        [] => return None,
        [(name, message)] => (format!("Could not open {name}"), message.clone()),
        several => {
            let parts: Vec<String> = several.iter().map(|(name, message)| format!("{name}: {message}")).collect();
            (format!("Could not open {} files", several.len()), parts.join("\n\n"))
        }
    };
    Some(Notice { title, message, convert: None })
}
