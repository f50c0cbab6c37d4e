//! Several ranks, or two runs, beside each other: as text, JSON and documents.

mod change;
mod heat;
mod json;
mod kernel;
mod page;
mod pipeline;
mod pipeline_json;
mod words;

pub use change::{
    bound_by_text, change_text, comparable_text, delta_text, noise_text, shape_text, verdict_change_text,
};
pub use heat::{cell_text, cell_title, metric_help, metric_text, value_text};
pub use json::{Alignment, CompareReport, StragglerLine};
pub use kernel::{beside_text, clock_error, difference_lines, kernel_lines, shift_text, shifted_by, signed};
pub use pipeline::{
    STAGE_COLUMNS, StageCell, StageNumber, bubble_text, change_texts, imbalance_text, pipeline_text, place_source_text,
    place_sources_text, place_text, stage_notices, stage_rows,
};
pub use words::{
    basis_text, clock_text, drift_text, extra_advice, extra_text, group_text, job_missing_text, last_text,
    members_text, missing_text, mode_help, mode_text, notices, refusal_text, straggler_advice, straggler_text,
    uncertainty_text, wandering_text,
};

use super::{Form, SaveError, html, json as to_json, markdown, plain};
use crate::job::{Diff, Job};

/// First line of comparisons in text and Markdown.
pub(super) const TITLE: &str = "# stepscope compare\n";

/// What changed between the two ranks of a job; `None` of one rank or of more than two.
pub fn diff_of(job: &Job) -> Option<Diff> {
    if job.ranks.len() != 2 {
        return None;
    }
    Some(Diff::of(job.summary(0)?, job.summary(1)?))
}

/// The comparison of the ranks of `job` in `form`.
///
/// # Errors
/// For YAML, which only reports of one run have; never else for numbers that this program computes.
pub fn compare(job: &Job, form: Form) -> Result<String, SaveError> {
    let diff = diff_of(job);
    let blocks = || page::of(job, diff.as_ref());
    match form {
        Form::Text => Ok(plain::page(&blocks())),
        Form::Json => {
            to_json(&CompareReport::of(job, diff.as_ref())).map_err(|error| SaveError::Form(error.to_string()))
        }
        Form::Markdown => Ok(format!("{TITLE}\n{}", markdown::page(&blocks()))),
        Form::Html => Ok(html::page(&blocks(), &[])),
        Form::Yaml => {
            Err(SaveError::Form("a comparison has no YAML form: use text, JSON, Markdown or HTML".to_owned()))
        }
    }
}
