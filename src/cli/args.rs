//! What can be typed.

use crate::record::{Framework, Launcher, Question, Range};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// Shows where a GPU training step went, from Nsight Systems SQLite exports.
///
/// Without a subcommand the window opens, with the given exports or the built-in demo. Without a display the report is
/// printed and a picture is written instead.
#[derive(Debug, Parser)]
#[command(name = "stepscope", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What to do instead of opening the window.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Exports, summaries (.summary), or folders of them; of a folder with many exports the window asks which. Or a
    /// link that was copied from the window (stepscope:...), or a session (.stepscope.toml). None opens the built-in
    /// demo.
    pub exports: Vec<PathBuf>,
    /// How the exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// How exports are read and what counts as what.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Reading {
    /// Kernel classes of your own: a TOML file with [[rule]] tables of pattern and class.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// What was trained and how (model, batch, layout, number format), thresholds and kernel classes: a TOML file. Without
    /// it, <EXPORT>.stepscope.toml or stepscope.toml beside the export is used when there is one.
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Ranges that mark steps: a regular expression; its first group is the step number.
    #[arg(long, value_name = "REGEX")]
    pub step_regex: Option<String>,
    /// Convert .nsys-rep and .qdrep reports with the nsys found on PATH, into this folder (--convert alone: into the
    /// current one).
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub convert: Option<PathBuf>,
}

/// Subcommands; all work without a display.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Opens a link that was copied from the window (stepscope:...), a session (.stepscope.toml), or exports.
    Open(Open),
    /// What is in an export: versions, ranks, GPUs, tables, span, warnings, and what it cannot answer.
    Info(Files),
    /// Where the time went, per rank and per step.
    #[command(after_long_help = super::report::help())]
    Report(ReportArgs),
    /// Several ranks of a job, or two runs, beside each other: one clock, who waits for whom, the straggler, what changed.
    Compare(Compare),
    /// Writes what other ranks need of an export to a file of kilobytes, for `compare` and the window.
    Summarize(Summarize),
    /// Summary tables with the names and meanings of nsys stats: kernels, calls, copies, ranges, gaps.
    #[command(after_long_help = crate::report::stats_help())]
    Stats(Stats),
    /// Draws the window's view as a PNG or SVG, without a display.
    Render(Render),
    /// Simulates a training job and writes it as exports.
    Demo(Demo),
    /// Measures loading, analysis, memory and drawing.
    Bench(Bench),
    /// How to record a capture: the nsys command for your case, what its options do, code for the training loop.
    CaptureHelp(CaptureHelp),
}

/// What the window opens.
#[derive(Debug, clap::Args)]
pub struct Open {
    /// A link, a session, or exports.
    #[arg(required = true)]
    pub what: Vec<PathBuf>,
    /// How the exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// Exports and the form of the answer.
#[derive(Debug, clap::Args)]
pub struct Files {
    /// Exports (.sqlite).
    pub exports: Vec<PathBuf>,
    /// Print JSON; times are integer nanoseconds on the export's own clock.
    #[arg(long)]
    pub json: bool,
    /// How the exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// Form of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// Aligned columns.
    Text,
    /// Comma-separated values; numbers in full.
    Csv,
    /// JSON; rows by column name, with what each column means.
    Json,
}

/// Summary tables.
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// Exports (.sqlite); each gives tables of its own.
    pub exports: Vec<PathBuf>,
    /// Report to print, with settings behind colons; may be given many times. Without it all are printed.
    #[arg(short, long = "report", value_name = "NAME[:SETTING...]", value_delimiter = ',')]
    pub reports: Vec<String>,
    /// Form of the tables; unless given, text, or what the ending of --output tells.
    #[arg(short, long, value_enum)]
    pub format: Option<StatsFormat>,
    /// Write to this file ("-": standard output); without --format its ending decides: .txt, .csv, .json. Tables that are there are replaced, any
    /// other file is not. A CSV or text file begins with a line "# stepscope stats".
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Count only what overlaps this step, by its number: its window on the GPU, for each rank its own.
    #[arg(long, value_name = "N", conflicts_with = "span", value_parser = whole::<i64>)]
    pub step: Option<i64>,
    /// Count only what overlaps this span, as times since the file's first event: 10ms..25.5ms.
    #[arg(long, value_name = "A..B")]
    pub span: Option<String>,
    /// How the exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// The report, its form, and conditions on it.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Exports (.sqlite).
    pub exports: Vec<PathBuf>,
    /// JSON: every number; times are integer nanoseconds on the export's own clock.
    #[arg(long, group = "form")]
    pub json: bool,
    /// YAML: notes of the experiment to keep beside the run.
    #[arg(long, group = "form")]
    pub yaml: bool,
    /// Markdown: a document with tables.
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// HTML: a page of its own with tables and pictures.
    #[arg(long, group = "form")]
    pub html: bool,
    /// Write to this file ("-": standard output); without a form its ending decides: .txt, .json, .yaml, .md, .html. A
    /// report that is there is replaced, any other file is not.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// End with exit code 1 when this holds on any rank, such as 'exposed > 10%'; may be given many times (--help lists
    /// the metrics).
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    /// How the exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// What puts the ranks of several files on one clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ClockName {
    /// Collectives where ranks share them, else step starts, else wall clocks.
    #[default]
    Auto,
    /// Ends of matched collectives.
    Collectives,
    /// Starts of steps with the same number.
    StepStart,
    /// Wall clocks of the session starts.
    Wall,
    /// Each from its own first event.
    Manual,
}

/// Ranks to compare.
#[derive(Debug, Default, clap::Args)]
pub struct Compare {
    /// Exports (.sqlite), summaries (.summary), or folders of them. Two ranks are also compared as two runs.
    pub files: Vec<PathBuf>,
    /// JSON: every number; times are integer nanoseconds.
    #[arg(long, group = "form")]
    pub json: bool,
    /// Markdown: a document with tables.
    #[arg(long, group = "form")]
    pub markdown: bool,
    /// HTML: a page of its own with tables.
    #[arg(long, group = "form")]
    pub html: bool,
    /// Write to this file ("-": standard output); without a form its ending decides: .txt, .json, .md, .html. A report
    /// that is there is replaced, any other file is not.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What puts the files on one clock.
    #[arg(long, value_enum, default_value_t = ClockName::Auto)]
    pub clock: ClockName,
    /// Move a file by so much on top of that, such as `1:+2.5ms` for the second file (the first is 0); once for each file
    /// that is moved.
    #[arg(long, value_name = "FILE:TIME", allow_hyphen_values = true)]
    pub shift: Vec<String>,
    /// Also list the single operations that differ most between two ranks; both exports are held in memory together.
    #[arg(long)]
    pub outliers: bool,
    /// How exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// An export to summarize.
#[derive(Debug, clap::Args)]
pub struct Summarize {
    /// Exports (.sqlite); with several, one summary each.
    pub exports: Vec<PathBuf>,
    /// The summary of one export, or a folder for those of several; without it the summary goes to the current folder as
    /// NAME.summary. A summary that is there is replaced, any other file is not.
    #[arg(short, long, value_name = "FILE OR FOLDER")]
    pub output: Option<PathBuf>,
    /// How exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// Colours of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// Light on dark.
    Dark,
    /// Dark on light.
    Light,
}

/// Place of the side panel in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SideName {
    /// Left of the timeline.
    Left,
    /// Right of it.
    Right,
    /// Below it.
    Below,
    /// Not shown.
    None,
}

/// A picture of the view.
#[derive(Debug, clap::Args)]
pub struct Render {
    /// Exports (.sqlite); none draws the built-in demo.
    pub exports: Vec<PathBuf>,
    /// Picture to write; its ending decides: .png, or .svg for shapes and text that stay sharp at every size.
    #[arg(short, long, value_name = "FILE", default_value = "step.png")]
    pub output: PathBuf,
    /// Show this step of the first rank, by its number.
    #[arg(long, value_name = "N", conflicts_with = "span", value_parser = whole::<i64>)]
    pub step: Option<i64>,
    /// Show this span, as times since the first event: 10ms..25.5ms.
    #[arg(long, value_name = "A..B")]
    pub span: Option<String>,
    /// Tab of the side panel that is shown, by its name: overview, steps, kernels, ...
    #[arg(long, value_name = "NAME")]
    pub panel: Option<String>,
    /// Where the side panel stands.
    #[arg(long, value_enum, default_value = "right")]
    pub side: SideName,
    /// Draw the whole window with its bars.
    #[arg(long)]
    pub window: bool,
    /// First run this command of the window, by its name in the list of commands (Ctrl+Shift+P), such as "All shortcuts";
    /// may be repeated.
    #[arg(long = "do", value_name = "COMMAND", requires = "window")]
    pub commands: Vec<String>,
    /// First search for this.
    #[arg(long, value_name = "TEXT", requires = "window")]
    pub search: Option<String>,
    /// Size in pixels.
    #[arg(long, value_name = "WxH", default_value = "1920x1080")]
    pub size: String,
    /// Colours.
    #[arg(long, value_enum, default_value = "dark")]
    pub theme: ThemeName,
    /// Pixels per point: 2 for a high-density screen.
    #[arg(long, default_value_t = 1.0)]
    pub scale: f32,
    /// How the exports are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// Speed and memory.
#[derive(Debug, clap::Args)]
pub struct Bench {
    /// Export (.sqlite).
    pub export: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Also time the sqlite3 program summing the same columns of the same file.
    #[arg(long)]
    pub against_sqlite3: bool,
    /// How the export is read.
    #[command(flatten)]
    pub reading: Reading,
}

/// A simulated job.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Folder to write to: rank0.sqlite, rank1.sqlite, ...
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "list")]
    pub output: Option<PathBuf>,
    /// List the named jobs and every setting with its value, and write nothing.
    #[arg(long)]
    pub list: bool,
    /// Start from this named job instead of the built-in demo.
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
    /// Start from one rank with about this many kernels and as many API calls, to measure with.
    #[arg(long, value_name = "N", conflicts_with = "scenario", value_parser = from_one::<u64>)]
    pub kernels: Option<u64>,
    /// Ranks.
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub ranks: Option<u32>,
    /// Steps.
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub steps: Option<u32>,
    /// Settings from a TOML file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// One setting, as listed by --list; may be given many times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Replace exports that are there already.
    #[arg(long)]
    pub force: bool,
}

/// How a capture is recorded.
#[derive(Debug, clap::Args)]
pub struct CaptureHelp {
    /// Who starts the processes; unless given, taken from the command.
    #[arg(long, value_name = "WHO", value_parser = choice(Launcher::ALL, Launcher::word))]
    pub launcher: Option<Launcher>,
    /// How the recorded time is chosen.
    #[arg(long, value_name = "HOW", default_value = Range::Profiler.word(), value_parser = choice(Range::ALL, Range::word))]
    pub range: Range,
    /// Processes of the job; unless given, what the launcher finds.
    #[arg(long, value_name = "N", value_parser = from_one::<u32>)]
    pub ranks: Option<u32>,
    /// What the recording shall answer, separated by commas.
    #[arg(long = "for", value_name = "WHAT", value_delimiter = ',', default_value = "steps,idle,os,graphs",
          value_parser = choice(Question::ALL, Question::word))]
    pub questions: Vec<Question>,
    /// What the training loop is written with.
    #[arg(long, value_name = "NAME", default_value = Framework::PyTorch.word(),
          value_parser = choice(Framework::ALL, Framework::word))]
    pub framework: Framework,
    /// Steps (with --range delay: seconds) before the recorded ones.
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub skip: Option<u32>,
    /// Steps (with --range delay: seconds) to record.
    #[arg(long, value_name = "N", value_parser = from_one::<u32>)]
    pub length: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// The training command, behind two dashes.
    #[arg(last = true, value_name = "COMMAND")]
    pub program: Vec<String>,
}

/// A whole number that fits.
fn whole<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().ok().ok_or("write a whole number")
}

/// A whole number of at least 1 that fits.
fn from_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, &'static str> {
    text.parse().ok().filter(|number| *number >= T::from(1)).ok_or("write a whole number, 1 or more")
}

/// Takes one of `all` by its word; any other word is refused with the list of them.
fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(word)).try_map(move |typed| {
        all.into_iter().find(|one| word(*one) == typed).ok_or_else(|| format!("{typed} is none of them"))
    })
}
