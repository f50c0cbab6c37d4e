//! What is in a file, as text.

use super::table::table;
use super::text::{heading, open_questions};
use super::{Capture, ExportReport, Report};
use crate::format;
use crate::trace::Gpu;

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
                    format::counted(rank.kernels, "kernel", "kernels"),
                    format::counted(rank.copies, "copy or fill", "copies and fills"),
                    format::counted(rank.graphs, "graph block", "graph blocks"),
                    match rank.steps.len() as u64 {
                        count if rank.steps_estimated => format::counted(count, "estimated step", "estimated steps"),
                        count => format::counted(count, "step", "steps"),
                    },
                ]
            })
            .collect();
        text.push_str(&section("Ranks", &ranks));
        text.push_str(&open_questions(export));
    }
    text
}

fn facts(export: &ExportReport) -> String {
    let at = |ns: Option<i64>| ns.map_or_else(|| format::UNKNOWN.to_owned(), format::duration);
    let mut rows = vec![
        vec!["schema".to_owned(), export.schema_version.clone().unwrap_or_else(|| format::UNKNOWN.to_owned())],
        vec!["first event at".to_owned(), at(export.start_ns)],
        vec!["last event at".to_owned(), at(export.end_ns)],
        vec!["CUDA API calls".to_owned(), format::count(export.api_calls)],
        vec!["NVTX ranges".to_owned(), format::count(export.nvtx_ranges)],
        vec!["threads".to_owned(), format::count(export.threads)],
    ];
    let gpu_text = |gpu: &Gpu| {
        let memory = gpu.memory_bytes.map_or_else(|| format::UNKNOWN.to_owned(), format::bytes);
        format!("{}, {memory}", gpu.name)
    };
    let mut gpus: Vec<(String, u64)> = Vec::new();
    for text in export.gpus.iter().map(gpu_text) {
        match gpus.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => gpus.push((text, 1)),
        }
    }
    rows.extend(gpus.into_iter().map(|(text, count)| {
        vec!["GPU".to_owned(), if count > 1 { format!("{} x {text}", format::count(count)) } else { text }]
    }));
    let tables: Vec<Vec<String>> = export.tables.iter().map(|t| vec![t.table.clone(), format::count(t.rows)]).collect();
    table("  ", &rows) + &section("Tables", &tables)
}

fn section(title: &str, rows: &[Vec<String>]) -> String {
    if rows.is_empty() { String::new() } else { format!("\n{title}\n{}", table("  ", rows)) }
}
