//! What the command line does.

use super::args::{Args, Command, Compare as CompareArgs, Files, Reading};
use super::load::{Loaded, load};
use super::{bench, capture_help, compare, demo, report as report_command, stats, summarize};
use crate::analysis::RulesError;
use crate::job::file;
use crate::nsys::{ConvertError, LoadError};
use crate::report::{self, Capture, Report, SaveError};
use crate::settings::SettingsError;
use crate::sim::{Demo, SimError};
use crate::view::{Link, SCHEME};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

/// Why a command failed. Each message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// What was typed makes no sense.
    #[error("{0}")]
    Usage(String),
    /// An export could not be opened.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A report could not be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The simulated job failed.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A file of the user's could not be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Read(PathBuf, std::io::Error),
    /// A picture could not be written.
    #[cfg(feature = "gui")]
    #[error(transparent)]
    Picture(#[from] crate::app::picture::SaveError),
    /// A picture of the window could not be drawn or written.
    #[cfg(feature = "gui")]
    #[error(transparent)]
    WindowPicture(#[from] crate::app::window_picture::WindowPictureError),
    /// The rules file is not right.
    #[error("{}: {}", .0.display(), .1)]
    Rules(PathBuf, RulesError),
    /// The settings file is not right.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The report could not be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// A summary could not be read.
    #[error("{}: {}", .0.display(), .1)]
    Summary(PathBuf, crate::job::file::FileError),
    /// Conditions of --fail-if hold; the report was written all the same.
    #[error("{}", .0.join("\nstepscope: "))]
    ConditionMet(Vec<String>),
    /// The window ended with an error.
    #[error("{0}")]
    Window(String),
    /// The answer could not be printed.
    #[error("cannot print: {0}")]
    Print(std::io::Error),
}

impl CliError {
    /// Exit code of the program: 1 when a condition of --fail-if holds, else 2.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::ConditionMet(_) => 1,
            _ => 2,
        }
    }
}

/// Does what was typed.
///
/// # Errors
/// See [`CliError`].
pub fn run(args: &Args) -> Result<(), CliError> {
    match &args.command {
        None => open(&args.exports, &args.reading),
        Some(Command::Open(options)) => open(&options.what, &options.reading),
        Some(Command::Info(files)) => info(files),
        Some(Command::Report(options)) => report_command::report(options),
        Some(Command::Compare(options)) => compare::compare(options),
        Some(Command::Summarize(options)) => summarize::summarize(options),
        Some(Command::Stats(options)) => stats::stats(options),
        Some(Command::Render(picture)) => render(picture),
        Some(Command::Demo(job)) => demo::write(job),
        Some(Command::Bench(options)) => bench::bench(options),
        Some(Command::CaptureHelp(options)) => capture_help::capture_help(options),
    }
}

/// Prints an answer. A reader that went away is no error.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(CliError::Print(e)),
        _ => Ok(()),
    }
}

/// The file that an answer goes to; `None` is standard output, which `-` names too.
pub(super) fn file_of(output: Option<&PathBuf>) -> Option<&PathBuf> {
    output.filter(|path| path.as_os_str() != "-")
}

/// The exports that a command needs, at least one.
pub(super) fn needed(exports: &[PathBuf], command: &str) -> Result<(), CliError> {
    if exports.is_empty() {
        return Err(CliError::Usage(format!(
            "which export? Name one or more .sqlite files: stepscope {command} rank0.sqlite\n\
             (make one with: nsys export --type sqlite rank0.nsys-rep)"
        )));
    }
    Ok(())
}

pub(super) fn captures(loaded: &[Loaded]) -> Vec<Capture<'_>> {
    loaded.iter().map(Loaded::capture).collect()
}

/// The report as JSON.
fn json(captures: &[Capture<'_>]) -> Result<String, CliError> {
    report::json(&Report::of(captures)).map_err(|e| CliError::Print(e.into()))
}

fn info(files: &Files) -> Result<(), CliError> {
    needed(&files.exports, "info")?;
    let loaded = load(&files.exports, &files.reading)?;
    let captures = captures(&loaded);
    print(&if files.json { json(&captures)? } else { report::info_text(&captures) })
}

/// A word where a file was expected is most likely a command with a slip of the hand.
fn check_words(exports: &[PathBuf]) -> Result<(), CliError> {
    let is_word = |path: &&PathBuf| {
        let text = path.to_string_lossy();
        !path.exists() && !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
    };
    match exports.iter().find(is_word) {
        Some(word) => Err(CliError::Usage(format!(
            "there is no file and no command {}: the commands are open, info, report, compare, summarize, stats, render, demo, bench and capture-help (stepscope --help)",
            word.display()
        ))),
        None => Ok(()),
    }
}

/// Opens a link, a session or exports. A link that cannot be read is told before any window is opened.
fn open(what: &[PathBuf], reading: &Reading) -> Result<(), CliError> {
    let is_link = |path: &PathBuf| path.to_string_lossy().trim().starts_with(SCHEME);
    match what {
        [link] if is_link(link) => {
            let text = link.to_string_lossy();
            let link = Link::parse(&text).map_err(|error| CliError::Usage(error.to_string()))?;
            window(&link.files, Some(text.into_owned()), reading)
        }
        several if several.iter().any(is_link) => {
            Err(CliError::Usage("one link at a time: it names all its files".to_owned()))
        }
        paths => check_words(paths).and_then(|()| window(paths, None, reading)),
    }
}

/// Opens the window; without a display prints the report and writes a picture.
#[cfg(feature = "gui")]
fn window(exports: &[PathBuf], link: Option<String>, reading: &Reading) -> Result<(), CliError> {
    use crate::app::{self, AppOptions, RunError};
    let (params, run_settings) = (super::load::base(reading)?, super::load::settings(reading)?);
    match app::run(AppOptions { paths: exports.to_vec(), link, params, run_settings, ..AppOptions::default() }) {
        Ok(()) => Ok(()),
        Err(RunError::NoDisplay) => without_display(&named(exports)?, reading),
        Err(e) => Err(CliError::Window(e.to_string())),
    }
}

/// The exports themselves, where a session names them.
#[cfg(feature = "gui")]
fn named(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    use crate::app::session::{ENDING, Session};
    let Some(session) = paths.iter().find(|path| path.to_string_lossy().ends_with(ENDING)) else {
        return Ok(paths.to_vec());
    };
    let session = Session::read(session).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(session.files.into_iter().map(|file| file.path).collect())
}

#[cfg(not(feature = "gui"))]
fn window(exports: &[PathBuf], _link: Option<String>, reading: &Reading) -> Result<(), CliError> {
    without_display(exports, reading)
}

/// Exports that a report without a display is about; more are compared, which holds one in memory at a time.
const MOST_REPORTED: usize = 8;

/// The report, and a picture beside where the command was given; of summaries and many exports the comparison.
fn without_display(exports: &[PathBuf], reading: &Reading) -> Result<(), CliError> {
    let demo = if exports.is_empty() { Some(Demo::write()?) } else { None };
    let exports = compare::expanded(demo.as_ref().map_or(exports, |demo| &demo.exports))?;
    if exports.len() > MOST_REPORTED || exports.iter().any(|path| file::is_named(path)) {
        return compare::compare(&CompareArgs { files: exports, reading: reading.clone(), ..CompareArgs::default() });
    }
    let loaded = load(&exports, reading)?;
    let mut text = report::report_text(&captures(&loaded));
    text.push_str(&picture_note(&loaded)?);
    print(&text)
}

#[cfg(feature = "gui")]
fn picture_note(loaded: &[Loaded]) -> Result<String, CliError> {
    let path = std::path::Path::new("stepscope.png");
    super::render::write(loaded, &super::render::Picture::default(), path)?;
    Ok(format!("\nThere is no display, so this report was printed and the view was drawn to {}.\n", path.display()))
}

#[cfg(not(feature = "gui"))]
fn picture_note(_loaded: &[Loaded]) -> Result<String, CliError> {
    Ok("\nThis build has no window and no pictures (feature \"gui\" is off), so this report was printed.\n".to_owned())
}

#[cfg(feature = "gui")]
fn render(options: &super::args::Render) -> Result<(), CliError> {
    super::render::render(options)
}

#[cfg(not(feature = "gui"))]
fn render(_options: &super::args::Render) -> Result<(), CliError> {
    Err(CliError::Usage("this build draws no pictures: build with the default features".to_owned()))
}
