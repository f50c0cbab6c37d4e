//! The heatmap of ranks and steps in words.

use crate::format;
use crate::job::{Heat, HeatMetric, Job, deviation};

/// What a metric is called.
pub const fn metric_text(metric: HeatMetric) -> &'static str {
    match metric {
        HeatMetric::StepTime => "Step time",
        HeatMetric::Wait => "Wait",
        HeatMetric::Exposed => "Exposed",
        HeatMetric::Idle => "Idle",
        HeatMetric::Mfu => "MFU",
    }
}

/// What a metric means.
pub const fn metric_help(metric: HeatMetric) -> &'static str {
    match metric {
        HeatMetric::StepTime => "Length of the step's window.",
        HeatMetric::Wait => "What the rank waited for other ranks in matched collectives. The late rank waits least.",
        HeatMetric::Exposed => "Exposed communication: no compute kernel of the device was running.",
        HeatMetric::Idle => "Nothing ran on the device.",
        HeatMetric::Mfu => "Model FLOPs utilisation of the step. The lowest stand out.",
    }
}

/// A value of a heatmap with its unit; "-" when there is none.
pub fn value_text(metric: HeatMetric, value: Option<f64>) -> String {
    match value {
        Some(share) if metric.is_share() => format::percent(Some(share)),
        Some(ns) => format::duration_f(ns),
        None => format::UNKNOWN.to_owned(),
    }
}

/// Rank and step of a cell: `Rank 2, step 14`.
pub fn cell_title(job: &Job, heat: &Heat, row: usize, column: usize) -> String {
    let rank = heat.ranks.get(row).and_then(|rank| job.ranks.get(*rank));
    let label = rank.map_or_else(|| "?".to_owned(), |rank| format::one_line(&rank.label, 60));
    let step = heat.steps.get(column).map_or_else(|| format::UNKNOWN.to_owned(), |step| format::integer(*step));
    format!("Rank {label}, step {step}")
}

/// The value of a cell, and how it stands to the median of all ranks in that step.
pub fn cell_text(heat: &Heat, row: usize, column: usize, median: Option<f64>) -> String {
    let name = metric_text(heat.metric);
    let Some(value) = heat.cell(row, column) else { return format!("{name} not known: the rank has no such step") };
    let beside = median.map_or_else(String::new, |median| {
        let by = format::signed_percent(deviation(value, median));
        format!("; median of the ranks {}, {by}", value_text(heat.metric, Some(median)))
    });
    format!("{name} {}{beside}", value_text(heat.metric, Some(value)))
}
