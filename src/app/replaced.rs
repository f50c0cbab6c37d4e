//! Files that are replaced on disk while they are open: looked at beside the frame, by size and time of change.

use super::file_name;
use crate::format;
use crate::view::Command;
use egui::{Align2, Area, Frame, Id, Margin, Order, Ui, vec2};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant, SystemTime};

/// How often files are looked at while the window has the focus.
pub const EVERY: Duration = Duration::from_secs(4);

/// Most width of the text that tells of it.
const WIDTH_PT: f32 = 560.0;
/// Around that text.
const MARGIN: Margin = Margin::symmetric(12, 8);
/// Least distance from the edges of the window.
const ROOM_PT: f32 = 8.0;

/// Size and time of change of a file.
pub type Stamp = (u64, Option<SystemTime>);

/// What a file looks like now; `None` when it is not there, as it is for a moment while it is replaced.
pub fn stamp(path: &Path) -> Option<Stamp> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.len(), facts.modified().ok()))
}

/// Looks at files from time to time.
#[derive(Debug, Default)]
pub struct Lookout {
    asked: Option<Receiver<Vec<PathBuf>>>,
    last: Option<Instant>,
}

impl Lookout {
    /// Looks at `files` when it is time for it, or `now`. Never waits: a disk may be slow.
    pub fn look(&mut self, files: &HashMap<PathBuf, Stamp>, now: bool, wake: &Arc<dyn Fn() + Send + Sync>) {
        let due = now || self.last.is_none_or(|last| last.elapsed() >= EVERY);
        if !due || self.asked.is_some() || files.is_empty() {
            return;
        }
        self.last = Some(Instant::now());
        let (sender, receiver) = sync_channel(1);
        let (mut files, wake) = (files.clone().into_iter().collect::<Vec<_>>(), Arc::clone(wake));
        files.sort_unstable();
        let work = move || {
            let changed = |(path, known): &(PathBuf, Stamp)| stamp(path).is_some_and(|now| now != *known);
            let replaced: Vec<PathBuf> = files.into_iter().filter(changed).map(|(path, _)| path).collect();
            let any = !replaced.is_empty();
            // The receiver is gone when the window closed meanwhile.
            let _ = sender.send(replaced);
            if any {
                wake();
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

/// Says over the timeline that open files were replaced on disk, and offers to read them anew.
pub fn show(ui: &Ui, paths: &[PathBuf], out: &mut Vec<Command>) {
    let names: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let verb = if names.len() == 1 { "was" } else { "were" };
    // Clear of the edges of a narrow window too.
    let room = ui.ctx().content_rect().shrink(ROOM_PT);
    let area = Area::new(Id::unique("replaced")).anchor(Align2::CENTER_TOP, vec2(0.0, 48.0)).constrain_to(room);
    area.order(Order::Foreground).show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).inner_margin(MARGIN).show(ui, |ui| {
            ui.set_max_width(WIDTH_PT.min(room.width() - MARGIN.sum().x));
            ui.horizontal_wrapped(|ui| {
                ui.label(format::one_line(&format!("{} {verb} replaced on disk.", names.join(", ")), 200));
                if ui.button("Reload").on_hover_text("Read it anew and keep the view (F5)").clicked() {
                    out.push(Command::Reload);
                }
                if ui.button("Keep what is open").clicked() {
                    out.push(Command::KeepReplaced);
                }
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_stays_clear_of_the_edges_of_a_narrow_window() {
        let ctx = egui::Context::default();
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, vec2(360.0, 300.0));
        let paths =
            ["/x/a_rather_long_name_of_rank0.sqlite", "/x/a_rather_long_name_of_rank1.sqlite"].map(PathBuf::from);
        for _ in 0..3 {
            let input = egui::RawInput { screen_rect: Some(screen), ..egui::RawInput::default() };
            let mut output = ctx.run_ui(input, |ui| show(ui, &paths, &mut Vec::new()));
            output.textures_delta.clear();
        }
        let area = ctx.memory(|memory| memory.area_rect(Id::unique("replaced"))).unwrap();
        assert!(screen.shrink(ROOM_PT - 1.0).contains_rect(area) && area.width() > 200.0, "{area:?}");
    }

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
        let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(move || sender.send(()).unwrap());
        let mut lookout = Lookout::default();
        lookout.look(&known, true, &wake);
        woken.recv().unwrap();
        assert_eq!(lookout.poll(), [anew]);
        lookout.look(&known, false, &wake);
        assert!(lookout.asked.is_none(), "not again so soon");
    }
}
