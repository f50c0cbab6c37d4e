//! The command line: what can be typed, and what it does.
//!
//! Exit codes: 0 fine, 1 a condition given by the user was met, 2 an error (message on standard error, nothing on
//! standard output). A reader that closes the pipe early is no error.

mod args;
mod bench;
mod capture_help;
mod compare;
mod demo;
mod load;
mod progress;
#[cfg(feature = "gui")]
mod render;
mod report;
mod run;
mod span;
mod stats;
mod summarize;

pub use args::Args;
pub use run::{CliError, run};
