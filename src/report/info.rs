//! What is in a file, as text.

use super::table::table;
use super::text::{heading, open_questions};
use super::{Capture, ExportReport, Report};
use crate::format;

/// What is in some files: versions, span, GPUs, ranks, tables, warnings, and what cannot be answered.
pub fn info_text(captures: &[Capture<'_>]) -> String {
    let report = Report::of(captures);
    let mut text = String::new();
    for export in &report.exports {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&heading(export));
        text.push_str(&facts(export));
        let ranks: Vec<Vec<String>> = report
            .ranks
            .iter()
            .filter(|rank| rank.export == export.path)
            .map(|rank| {
                vec![
                    format!("rank {}", format::one_line(&rank.label, 80)),
                    format!("pid {}", rank.pid),
                    format!("device {}", rank.device),
                    rank.gpu.clone().unwrap_or_else(|| "GPU model not recorded".to_owned()),
                    format!("{} kernels", format::count(rank.kernels)),
                    format!("{} copies and fills", format::count(rank.copies)),
                    format!("{} graph blocks", format::count(rank.graphs)),
                    format!("{} steps", format::count(rank.steps.len() as u64)),
                ]
            })
            .collect();
        text.push_str(&section("Ranks", &ranks));
        text.push_str(&open_questions(export));
    }
    text
}

fn facts(export: &ExportReport) -> String {
    let at = |ns: Option<i64>| ns.map_or_else(|| format::UNKNOWN.to_owned(), |ns| format!("{ns} ns"));
    let mut rows = vec![
        vec!["schema".to_owned(), export.schema_version.clone().unwrap_or_else(|| format::UNKNOWN.to_owned())],
        vec!["first event".to_owned(), at(export.start_ns)],
        vec!["last event".to_owned(), at(export.end_ns)],
        vec!["CUDA API calls".to_owned(), format::count(export.api_calls)],
        vec!["NVTX ranges".to_owned(), format::count(export.nvtx_ranges)],
        vec!["threads".to_owned(), format::count(export.threads)],
    ];
    rows.extend(export.gpus.iter().map(|gpu| {
        let memory = gpu.memory_bytes.map_or_else(|| format::UNKNOWN.to_owned(), format::bytes);
        vec!["GPU".to_owned(), format!("{}, {memory}", gpu.name)]
    }));
    let tables: Vec<Vec<String>> = export.tables.iter().map(|t| vec![t.table.clone(), format::count(t.rows)]).collect();
    table("  ", &rows) + &section("Tables", &tables)
}

fn section(title: &str, rows: &[Vec<String>]) -> String {
    if rows.is_empty() { String::new() } else { format!("\n{title}\n{}", table("  ", rows)) }
}
