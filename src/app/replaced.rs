//! Files that are replaced on disk while they are open, by size and time of change: looked at beside the frame, and
//! told as a strip of its own that covers nothing.

use super::cx::Cx;
use super::file_name;
use super::icons::{self, Icon};
use crate::format;
use crate::task::Wake;
use crate::view::Command;
use egui::Ui;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

/// How often files are looked at while the window has the focus.
pub const EVERY: Duration = Duration::from_secs(4);

/// Size and time of change of a file.
pub type Stamp = (u64, Option<SystemTime>);

/// What a file looks like now; `None` when it is not there, as it is for a moment while it is replaced.
pub fn stamp(path: &Path) -> Option<Stamp> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.len(), facts.modified().ok()))
}

/// Those of `files` that no longer look as they did, in order.
pub fn changed(files: &HashMap<PathBuf, Stamp>) -> Vec<PathBuf> {
    let is_other = |(path, known): &(&PathBuf, &Stamp)| stamp(path).is_some_and(|now| now != **known);
    let mut changed: Vec<PathBuf> = files.iter().filter(is_other).map(|(path, _)| path.clone()).collect();
    changed.sort_unstable();
    changed
}

/// Looks at files from time to time.
#[derive(Debug, Default)]
pub struct Lookout {
    asked: Option<Receiver<Vec<PathBuf>>>,
    last: Option<Instant>,
}

impl Lookout {
    /// Looks at `files` when it is time for it, or `now`. Never waits: a disk may be slow.
    pub fn look(&mut self, files: &HashMap<PathBuf, Stamp>, now: bool, wake: &Wake) {
        let due = now || self.last.is_none_or(|last| last.elapsed() >= EVERY);
        if !due || self.asked.is_some() || files.is_empty() {
            return;
        }
        self.last = Some(Instant::now());
        let (sender, receiver) = sync_channel(1);
        let (files, wake) = (files.clone(), wake.clone());
        let work = move || {
            let replaced = changed(&files);
            let any = !replaced.is_empty();
            // The receiver is gone when the window closed meanwhile.
            let _ = sender.send(replaced);
            if any {
                wake.call();
            }
        };
        if std::thread::Builder::new().name("look at files".to_owned()).spawn(work).is_ok() {
            self.asked = Some(receiver);
        }
    }

    /// Files that were found replaced.
    pub fn poll(&mut self) -> Vec<PathBuf> {
        let Some(receiver) = &self.asked else { return Vec::new() };
        match receiver.try_recv() {
            Err(TryRecvError::Empty) => Vec::new(),
            answer => {
                self.asked = None;
                answer.unwrap_or_default()
            }
        }
    }
}

/// Says that open files were replaced on disk, and offers to read them anew.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, paths: &[PathBuf], out: &mut Vec<Command>) {
    let names: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let verb = if names.len() == 1 { "was" } else { "were" };
    ui.horizontal_wrapped(|ui| {
        icons::show(ui, Icon::Warning, cx.palette.warning);
        ui.label(format::one_line(&format!("{} {verb} replaced on disk.", names.join(", ")), 200));
        if ui.button("Reload").on_hover_text("Read it anew and keep the view (F5)").clicked() {
            out.push(Command::Reload);
        }
        if ui.button("Keep what is open").clicked() {
            out.push(Command::KeepReplaced);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_written_anew_is_found_and_one_that_is_gone_for_a_moment_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [same, anew, gone] = ["same", "anew", "gone"].map(|name| folder.path().join(name));
        let mut known = HashMap::new();
        for path in [&same, &anew, &gone] {
            std::fs::write(path, "first").unwrap();
            known.insert(path.clone(), stamp(path).unwrap());
        }
        std::fs::write(&anew, "second, longer").unwrap();
        std::fs::remove_file(&gone).unwrap();
        let (sender, woken) = sync_channel(1);
        let wake = Wake::new(move || sender.send(()).unwrap());
        let mut lookout = Lookout::default();
        lookout.look(&known, true, &wake);
        woken.recv().unwrap();
        assert_eq!(lookout.poll(), [anew]);
        lookout.look(&known, false, &wake);
        assert!(lookout.asked.is_none(), "not again so soon");
    }
}
