//! How to record a capture: the `nsys` command for the user's case, what each of its options does, the ranges to put
//! into the training loop, and what to do with the report. Text only; nothing is run.
//!
//! Every option named here exists in the Nsight Systems builds since 2023, or says from which build on.

mod choice;
mod command;
pub mod flags;
mod launch;
mod snippet;
mod text;
mod words;

pub use choice::{Framework, Launcher, Question, Range};
pub use flags::Flag;
pub use words::split_words;

use serde::Serialize;

/// What is to be recorded, and how the job is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who starts the processes; `None` takes it from the command.
    pub launcher: Option<Launcher>,
    /// How the recorded time is chosen.
    pub range: Range,
    /// Processes of the job; `None` leaves the number to the launcher.
    pub ranks: Option<u32>,
    /// Questions beyond those that every recording answers.
    pub questions: Vec<Question>,
    /// What the training loop is written with.
    pub framework: Framework,
    /// First recorded step, or seconds to wait: what lies before is warm-up.
    pub skip: u32,
    /// Recorded steps, or seconds.
    pub length: u32,
    /// The training command: words that a shell reads as they are (see [`crate::format::shell_word`]).
    pub program: Vec<String>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            launcher: None,
            range: Range::Profiler,
            ranks: None,
            questions: vec![Question::Os, Question::Graphs],
            framework: Framework::PyTorch,
            skip: Range::Profiler.skip(),
            length: Range::Profiler.length(),
            program: ["python", "train.py"].map(str::to_owned).to_vec(),
        }
    }
}

/// How to record: everything there is to paste and to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recording {
    /// Who starts the processes.
    pub launcher: Launcher,
    /// How the recorded time is chosen.
    pub range: Range,
    /// The command, over several lines.
    pub command: String,
    /// Its options of nsys, in order.
    pub flags: Vec<Flag>,
    /// What to look out for.
    pub notes: Vec<String>,
    /// What goes into the training loop.
    pub snippet: Snippet,
    /// What to do with the report: a sentence and its command.
    pub after: Vec<Next>,
    /// Which questions need which options, and whether this recording answers them.
    pub questions: Vec<Answer>,
}

/// Code for the training loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// What it is for.
    pub framework: Framework,
    /// Where it goes.
    pub place: &'static str,
    /// Python.
    pub code: String,
}

/// Something to do after the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Next {
    /// What for.
    pub what: &'static str,
    /// What to type.
    pub command: String,
}

/// What a question needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The question, in a word that `--for` takes.
    pub question: &'static str,
    /// What it answers.
    pub answers: &'static str,
    /// What it needs.
    pub needs: String,
    /// True when this recording has it.
    pub recorded: bool,
}

impl Request {
    /// The recording that answers the request.
    pub fn recording(&self) -> Recording {
        command::recording(self)
    }
}
