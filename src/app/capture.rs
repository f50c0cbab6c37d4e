//! The capture tab: what each file is, what it holds, and what was odd about it.

use super::code_text;
use super::cx::{Cx, pair};
use super::facts::rank_text;
use super::icons::{self, Icon};
use super::state::file_name;
use super::toast;
use crate::analysis::{Analysis, Limit};
use crate::format;
use crate::trace::Trace;
use crate::units::Span;
use crate::view::{Doc, RankId};
use egui::{Align, Button, CollapsingHeader, Label, Layout, RichText, Sense, Ui, UiBuilder, vec2};

/// Height of a row of the tables.
const ROW_PT: f32 = 20.0;

/// Draws the tab.
pub fn show(ui: &mut Ui, cx: &Cx<'_>) {
    let single = cx.workspace.docs.len() == 1;
    for (at, doc) in cx.workspace.docs.iter().enumerate() {
        if single {
            ui.strong(file_name(&doc.trace.source.path));
            document(ui, cx, at, doc);
            continue;
        }
        let heading = RichText::new(file_name(&doc.trace.source.path)).strong();
        CollapsingHeader::new(heading).id_salt(("document", at)).default_open(at == 0).show(ui, |ui| {
            document(ui, cx, at, doc);
        });
    }
}

fn document(ui: &mut Ui, cx: &Cx<'_>, at: usize, doc: &Doc) {
    let trace = doc.trace.as_ref();
    warnings(ui, cx, trace);
    limits(ui, cx, &doc.analysis);
    section(ui, "File");
    for (name, value) in file_facts(trace) {
        pair(ui, 96.0, name, &value);
    }
    section(ui, "GPUs");
    if trace.gpus.is_empty() {
        ui.label(RichText::new("The file describes no GPU.").weak());
    }
    let gpus: Vec<(String, String)> = trace
        .gpus
        .iter()
        .enumerate()
        .map(|(index, gpu)| {
            let memory = gpu.memory_bytes.map(format::bytes);
            let sms = gpu.sm_count.map(|count| format!("{count} SMs"));
            let capability = gpu.compute_capability.as_ref().map(|text| format!("compute capability {text}"));
            let facts: Vec<String> = [memory, sms, capability, gpu.bus.clone()].into_iter().flatten().collect();
            (format!("{index}  {}", gpu.name), facts.join(", "))
        })
        .collect();
    for (name, facts) in gpus {
        ui.label(name);
        ui.label(RichText::new(facts).small().weak());
    }
    section(ui, "Ranks");
    if trace.ranks.is_empty() {
        ui.label(RichText::new("No process ran GPU work.").weak());
    }
    for (index, (rank, numbers)) in trace.ranks.iter().zip(&doc.analysis.ranks).enumerate() {
        ui.label(rank_text(cx.workspace, RankId { doc: at, rank: index }));
        let pid = trace.processes.get(rank.process).map_or(0, |process| process.pid);
        let counts = numbers.counts;
        let text = format!(
            "process {pid}, device {}, {} ({} communication), {}, {}, {}",
            rank.device,
            format::counted(counts.kernels, "kernel", "kernels"),
            format::count(counts.comm_kernels),
            format::counted(counts.copies, "copy or fill", "copies and fills"),
            format::counted(counts.graphs, "graph block", "graph blocks"),
            format::counted(rank.streams.len() as u64, "stream", "streams"),
        );
        ui.label(RichText::new(text).small().weak());
    }
    section(ui, "Tables");
    let tables: Vec<(String, String)> =
        trace.source.tables.iter().map(|table| (table.table.clone(), format::count(table.rows))).collect();
    counts(ui, &tables);
}

fn section(ui: &mut Ui, title: &str) {
    ui.add_space(12.0);
    ui.strong(title);
}

fn warnings(ui: &mut Ui, cx: &Cx<'_>, trace: &Trace) {
    if trace.warnings.is_empty() {
        return;
    }
    section(ui, "Warnings");
    for warning in &trace.warnings {
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.add_space(3.0);
                icons::show(ui, Icon::Warning, cx.palette.warning);
            });
            let times =
                if warning.count > 1 { format!("  ({} times)", format::count(warning.count)) } else { String::new() };
            ui.vertical(|ui| {
                ui.label(format!("{}{times}", warning.message));
                ui.label(RichText::new(warning.code).small().weak());
            });
        });
    }
}

/// What the capture cannot answer, with what to record next time.
fn limits(ui: &mut Ui, cx: &Cx<'_>, analysis: &Analysis) {
    // A file of one rank answers questions about several once another file, or its summary, is open beside it.
    let several = cx.workspace.job.ranks.len() > 1;
    let open: Vec<&Limit> = analysis.limits.iter().filter(|limit| !(several && **limit == Limit::OneRank)).collect();
    if open.is_empty() {
        return;
    }
    section(ui, "What this capture cannot answer");
    for limit in open {
        ui.label(limit.consequence());
        let remedy = code_text::small_weak(ui, limit.remedy());
        ui.add(Label::new(remedy).wrap().selectable(true));
        ui.add_space(4.0);
    }
}

fn file_facts(trace: &Trace) -> [(&'static str, String); 8] {
    let source = &trace.source;
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| format::UNKNOWN.to_owned());
    [
        ("Path", source.path.display().to_string()),
        ("Size", format::bytes(source.bytes)),
        ("Nsight Systems", known(&source.product_version)),
        ("Schema", known(&source.schema_version)),
        ("Host", known(&source.host)),
        ("Session", format::duration_or_unknown(source.duration_ns)),
        ("Events span", format::duration_or_unknown(trace.span.map(Span::len_ns))),
        ("CUDA graphs", known(&source.cuda_graph_mode)),
    ]
}

/// Names and numbers, every other row on a stripe from edge to edge.
fn counts(ui: &mut Ui, rows: &[(String, String)]) {
    if rows.is_empty() {
        ui.label(RichText::new("No event table holds a row.").weak());
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    for (at, (name, value)) in rows.iter().enumerate() {
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_PT), Sense::hover());
        if at % 2 == 0 {
            ui.painter().rect_filled(rect, 2.0, ui.visuals().faint_bg_color);
        }
        let layout = Layout::right_to_left(Align::Center);
        let mut row = ui.new_child(UiBuilder::new().max_rect(rect.shrink2(vec2(6.0, 0.0))).layout(layout));
        row.label(RichText::new(value).small());
        row.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(Label::new(RichText::new(name).small()).truncate());
        });
    }
}

/// Link to the warnings for the status bar: how many there are over all documents.
pub fn warning_count(cx: &Cx<'_>) -> u64 {
    cx.workspace.docs.iter().map(|doc| doc.trace.warnings.len() as u64).sum()
}

/// A button that copies `text`, which holds `what`.
pub fn copy_button(ui: &mut Ui, name: &str, text: &str, what: &str) {
    if ui.add(Button::new(name)).clicked() {
        toast::copy(ui.ctx(), text.to_owned(), what);
    }
}
