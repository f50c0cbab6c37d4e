//! Numbers to text and JSON. No arithmetic: everything shown was computed by [`crate::analysis`], and every number
//! becomes text in [`crate::format`].

mod comm;
pub mod compare;
mod document;
mod form;
mod gap;
mod guide;
mod html;
mod idle;
mod info;
mod launch;
mod markdown;
pub mod mfu;
mod model;
mod notes;
mod plain;
mod ranges;
mod selection;
mod stats;
mod table;
mod text;
mod verdict;

pub use comm::waits_text;
pub use form::{Form, Picture, SaveError, TableForm, check_target, save_summary};
pub use gap::Gap;
pub use guide::{GuideLine, guide_lines, stage_title, state_title};
pub use info::info_text;
pub use model::{Capture, ExportReport, RankReport, Report, StepReport};
pub use selection::{
    SelectionTable, Topic, busy_text, hidden_text, selection_parts, selection_sums, selection_text, span_text,
};
pub use stats::{ExportTables, StatsReport, stats_csv, stats_help, stats_skipped, stats_text};
pub use text::{edge_text, empty_ranges_text, report_text};
pub use verdict::{
    Beside, bubble_text, evidence_text, gain_text, margin_text, mfu_text, next_text, no_verdict, place_text,
    value_text, verdict_cost, verdict_text, verdict_title, waiting_text,
};

use serde::Serialize;

/// Any report as indented JSON with a newline at the end.
///
/// # Errors
/// Never for the reports of this module; the signature is that of the serializer.
pub fn json<T: Serialize>(report: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}
