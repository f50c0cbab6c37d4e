//! `stepscope capture-help`: how to record.

use super::args::CaptureHelp;
use super::run::{CliError, print};
use crate::format::shell_word;
use crate::record::Request;
use crate::report;

/// Prints the recording that was asked for.
pub(super) fn capture_help(options: &CaptureHelp) -> Result<(), CliError> {
    let recording = request(options).recording();
    print(&if options.json {
        report::json(&recording).map_err(|e| CliError::Print(e.into()))?
    } else {
        recording.text()
    })
}

fn request(options: &CaptureHelp) -> Request {
    let mut request = Request {
        launcher: options.launcher,
        range: options.range,
        ranks: options.ranks,
        questions: options.questions.clone(),
        framework: options.framework,
        skip: options.skip.unwrap_or_else(|| options.range.skip()),
        length: options.length.unwrap_or_else(|| options.range.length()),
        ..Request::default()
    };
    if !options.program.is_empty() {
        request.program = options.program.iter().map(|word| shell_word(word)).collect();
    }
    request
}
