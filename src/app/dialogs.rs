//! The system's file dialogs, on a thread of their own so that the window goes on drawing.
//!
//! Systems without a desktop portal have no dialog: the answer then comes at once and is empty, and the window asks
//! for a typed path instead.

use super::state::PathQuestion;
use crate::report::Form;
use crate::task::Wake;
use crate::view::Command;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Nobody dismisses a dialog faster than this: an empty answer that comes sooner means that there is no dialog.
const TOO_FAST: Duration = Duration::from_millis(400);

/// What came of a dialog.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The user chose.
    Chosen(Command),
    /// The user chose nothing.
    Nothing,
    /// This system shows no dialogs.
    NoDialog(PathQuestion),
}

/// Shows dialogs, one at a time.
pub struct Dialogs {
    sender: SyncSender<Answer>,
    receiver: Receiver<Answer>,
    open: bool,
    wake: Wake,
}

impl std::fmt::Debug for Dialogs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialogs").field("open", &self.open).finish_non_exhaustive()
    }
}

impl Dialogs {
    /// No dialog yet. `wake` is called when an answer has come.
    pub fn new(wake: Wake) -> Self {
        let (sender, receiver) = sync_channel(1);
        Self { sender, receiver, open: false, wake }
    }

    /// Shows the dialog for `question`, unless one is open. `beside` when files are open that others would join.
    pub fn ask(&mut self, question: PathQuestion, beside: bool) {
        if self.open {
            return;
        }
        self.open = true;
        let (sender, wake) = (self.sender.clone(), self.wake.clone());
        let work = move || {
            let asked = Instant::now();
            let answer = match choose(&question, beside) {
                Some(command) => Answer::Chosen(command),
                None if asked.elapsed() < TOO_FAST => Answer::NoDialog(question),
                None => Answer::Nothing,
            };
            // The receiver is gone when the window closed meanwhile.
            let _ = sender.send(answer);
            wake.call();
        };
        if cfg!(target_os = "macos") {
            // Its dialogs belong to the main thread and keep the window alive by themselves.
            work();
        } else if std::thread::Builder::new().name("file dialog".to_owned()).spawn(work).is_err() {
            self.open = false;
        }
    }

    /// The answer, once it has come.
    pub fn poll(&mut self) -> Option<Answer> {
        let answer = self.receiver.try_recv().ok()?;
        self.open = false;
        Some(answer)
    }
}

fn choose(question: &PathQuestion, beside: bool) -> Option<Command> {
    let dialog = rfd::FileDialog::new();
    match question {
        PathQuestion::Open => {
            let paths: Vec<PathBuf> = dialog
                .set_title(if beside {
                    "Open beside what is open (Close all first to replace it)"
                } else {
                    "Open captures"
                })
                .add_filter(
                    "Nsight Systems exports and captures",
                    &["sqlite", "db", "sqlite3", "summary", "nsys-rep", "qdrep"],
                )
                .add_filter("Sessions", &["toml"])
                .add_filter("All files", &["*"])
                .pick_files()?;
            Some(Command::Open(paths))
        }
        PathQuestion::Picture => dialog
            .set_title("Save picture")
            .set_file_name("stepscope.png")
            .add_filter("PNG picture", &["png"])
            .add_filter("SVG drawing", &["svg"])
            .save_file()
            .map(Command::SavePictureTo),
        PathQuestion::Settings => dialog
            .set_title("Load settings")
            .add_filter("Settings", &["toml"])
            .pick_file()
            .map(Command::LoadSettingsFrom),
        PathQuestion::SaveSettings => dialog
            .set_title("Save settings")
            .set_file_name(crate::settings::FILE_NAME)
            .add_filter("Settings", &["toml"])
            .save_file()
            .map(Command::SaveSettingsTo),
        PathQuestion::ModelConfig => dialog
            .set_title("Load the model's config.json")
            .add_filter("Hugging Face config", &["json"])
            .pick_file()
            .map(Command::LoadModelConfigFrom),
        PathQuestion::Session => dialog
            .set_title("Save session")
            .set_file_name("session.stepscope.toml")
            .add_filter("Sessions", &["toml"])
            .save_file()
            .map(Command::SaveSessionTo),
        PathQuestion::Captures => dialog
            .set_title("Open the exports and summaries in a folder")
            .pick_folder()
            .map(|folder| Command::Open(vec![folder])),
        // These are typed: there is no file to choose.
        PathQuestion::Link | PathQuestion::RankName(_) => None,
        PathQuestion::Report => {
            let dialog = dialog.set_title("Save report").set_file_name("stepscope-report.html");
            let with_filter = |dialog: rfd::FileDialog, form: Form| dialog.add_filter(form.text(), form.endings());
            let dialog = Form::ALL.into_iter().fold(dialog, with_filter);
            dialog.save_file().map(Command::SaveReportTo)
        }
        PathQuestion::Folder(report) => dialog
            .set_title("Folder for the SQLite export")
            .pick_folder()
            .map(|folder| Command::Convert { report: report.clone(), folder }),
    }
}
