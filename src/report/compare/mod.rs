//! Several ranks, or two runs, beside each other: as text, JSON and documents.

mod change;
mod clock;
mod collectives_json;
mod diff_json;
mod heat;
mod json;
mod kernel;
mod outliers;
mod page;
mod pipeline;
mod pipeline_json;
mod words;

pub use change::{
    NOISE, bound_by_text, change_text, comparable_text, delta_text, length_text, noise_rule_text, note_of, scope_text,
    shape_text, sums_of_text, verdict_change_text,
};
pub use clock::{basis_text, clock_text, drift_text, mode_help, mode_text, notices, uncertainty_text};
pub use collectives_json::StragglerLine;
pub use heat::{cell_text, cell_title, metric_help, metric_text, value_text};
pub use json::{Alignment, CompareReport};
pub use kernel::{
    beside_text, clock_error, difference_lines, kernel_lines, longer_text, reservation_line, shift_text, shifted_by,
};
pub use outliers::{OutlierLine, OutlierLines, outliers_text};
pub use pipeline::{
    STAGE_COLUMNS, StageCell, StageNumber, bubble_text, change_texts, imbalance_text, pipeline_text, place_source_text,
    place_sources_text, place_text, stage_notices, stage_rows,
};
pub(super) use words::reservation_of;
pub use words::{
    extra_advice, extra_text, group_text, job_missing_text, last_text, matched_text, members_text, missing_text,
    refusal_text, reservation, straggler_advice, straggler_text, together_text, unknown_parts_text, wandering_text,
};

use super::{Form, SaveError, html, json as to_json, markdown, plain};
use crate::format;
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

/// Forms that a comparison has: YAML is for the notes of one run.
pub const FORMS: [Form; 4] = [Form::Text, Form::Json, Form::Markdown, Form::Html];
/// Files that the title of a comparison names.
const NAMED: usize = 4;

/// What the comparison is of: the names of the files, the first ones of many.
fn title(job: &Job) -> String {
    let names: Vec<String> = job.names.iter().map(|name| format::one_line(name, 80)).collect();
    match names.as_slice() {
        [] => "Comparison of ranks".to_owned(),
        [one] => format!("Comparison of the ranks of {one}"),
        [all @ .., last] if names.len() <= NAMED => format!("Comparison of {} and {last}", all.join(", ")),
        [first, second, others @ ..] => {
            format!("Comparison of {first}, {second} and {} other files", format::count(others.len() as u64))
        }
    }
}

/// The comparison of the ranks of `job` in `form`, with the `outliers` between two ranks where they were looked for.
///
/// # Errors
/// For YAML, which only reports of one run have; never else for numbers that this program computes.
pub fn compare(job: &Job, outliers: Option<&OutlierLines>, form: Form) -> Result<String, SaveError> {
    let diff = diff_of(job);
    let blocks = || page::of(job, diff.as_ref(), outliers);
    match form {
        Form::Text => Ok(plain::page(&blocks())),
        Form::Json => to_json(&CompareReport::of(job, diff.as_ref(), outliers))
            .map_err(|error| SaveError::Form(error.to_string())),
        Form::Markdown => Ok(format!("{TITLE}\n{}.\n\n{}", title(job), markdown::page(&blocks()))),
        Form::Html => Ok(html::page(&title(job), &blocks(), &[])),
        Form::Yaml => {
            Err(SaveError::Form("a comparison has no YAML form: use text, JSON, Markdown or HTML".to_owned()))
        }
    }
}
