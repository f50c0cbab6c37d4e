//! Folders of captures: what was found in them, and opening what is chosen of it.

use super::super::captures::FEW;
use super::super::gather::{Found, Told};
use super::super::load::What;
use super::super::toast::Message;
use super::opening::failed;
use super::{AppState, Overlay, Then};
use crate::format;
use crate::job::file;
use crate::view::{Command, LaneKey};
use std::path::{Path, PathBuf};

impl AppState {
    /// True when `paths` have to be looked into before it is clear what there is to open.
    pub(super) fn is_folder(paths: &[PathBuf]) -> bool {
        paths.len() > FEW || paths.iter().any(|path| path.is_dir() || file::is_named(path))
    }

    /// Has folders and summaries read beside the frame.
    pub(in crate::app) fn look_into(&mut self, paths: Vec<PathBuf>) {
        self.gather.start(paths);
    }

    /// True while folders are looked into, or what was found first is put together.
    pub fn is_gathering(&self) -> bool {
        self.gather.is_busy() || self.is_joining() && self.workspace.job.ranks.is_empty()
    }

    pub(super) fn cancel_load(&mut self) {
        self.jobs.cancel();
        self.gather.cancel();
    }

    pub(super) fn poll_folders(&mut self) {
        while let Some(told) = self.gather.poll() {
            match told {
                Told::Found(found) => self.found(found),
                Told::Hosts(hosts) => self.captures.add_hosts(&hosts),
            }
        }
    }

    /// Takes over what was found: summaries become part of the job at once, a few exports are opened, and of more
    /// than that the user chooses.
    fn found(&mut self, found: Found) {
        self.notices.extend(failed(&found.failures));
        let listed = found.entries.iter().filter(|entry| entry.listed);
        let exports: Vec<PathBuf> = listed.filter_map(|entry| entry.export.clone()).collect();
        let any_summary = found.entries.iter().any(|entry| entry.summary.is_some());
        self.captures.left_out += found.left_out;
        if any_summary || exports.len() > FEW {
            self.captures.add(found.entries);
        }
        if any_summary {
            // What is looked at stays as it is.
            self.put_together(Then { anew: self.opened.is_empty(), ..Then::default() });
        }
        if exports.len() > FEW {
            self.overlay = Some(Overlay::Chooser);
            self.start(found.others.into_iter().map(What::File).collect());
        } else {
            self.start(exports.into_iter().chain(found.others).map(What::File).collect());
        }
    }

    pub(super) fn toggle_chooser(&mut self) {
        if self.captures.entries.is_empty() {
            let text = "There is nothing to choose from: open a folder of exports or summaries first";
            self.status = Some(Message::refused(text.to_owned()));
        } else {
            self.toggle(Overlay::Chooser);
        }
    }

    pub(super) fn open_chosen(&mut self) {
        let (exports, _) = self.captures.chosen();
        if exports.is_empty() {
            self.status = Some(Message::refused("Nothing is chosen".to_owned()));
            return;
        }
        if self.overlay == Some(Overlay::Chooser) {
            self.overlay = None;
        }
        self.start(exports.into_iter().map(What::File).collect());
    }

    /// Opens the export of a rank of the job, or goes to the rank when it is open.
    pub(super) fn open_rank(&mut self, rank: usize) {
        if let Some(id) = self.workspace.open_rank(rank) {
            for command in [Command::ChooseRank(id), Command::ShowLane(LaneKey::Rank(id))] {
                self.view.apply(&command, &self.workspace);
            }
            return;
        }
        let Some(of) = self.workspace.job.ranks.get(rank) else { return };
        let Some(summary) = self.workspace.job.exports.get(of.at.export) else { return };
        let recorded = Some(summary.file.as_path()).filter(|path| path.is_file());
        if let Some(export) = self.captures.export_of(summary).or(recorded).map(Path::to_owned) {
            self.start(vec![What::File(export)]);
            return;
        }
        let title = format!("The export of rank {} is not there", format::one_line(&of.label, 60));
        let message = format!(
            "Only its summary is open. {} was neither found beside the summary nor where it was when it was summarized.\n\n\
             Put the export beside the summary, or open it by its path.",
            summary.file.display()
        );
        self.tell(&title, message);
    }
}
