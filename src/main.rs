//! The `stepscope` program: parse, do, exit code.

use clap::Parser as _;
use std::process::ExitCode;
use stepscope::cli::{Args, run};

fn main() -> ExitCode {
    // clap prints its own message and ends with code 2 on what it cannot parse, 0 after --help.
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stepscope: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
