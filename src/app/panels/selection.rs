//! The selected span: how every rank spent it, and what the chosen rank ran in it.
//!
//! Parts and causes follow the span in every frame. What takes a pass over the operations is computed when the span has
//! changed, on a thread when there are many, one at a time.

use super::grid::{Column, Grid, NAME_PT, Shown, column, remark, rows_text};
use super::kernels::{choose_names, variants_text};
use super::sheet::{Cell, Filter, List, Row, Sheet};
use crate::analysis::{NamedBy, SpanParts, SpanSums};
use crate::app::capture::copy_button;
use crate::app::cx::{Chosen, Cx};
use crate::app::facts::rank_text;
use crate::app::parts::bar;
use crate::report::{
    SelectionTable, Topic, busy_text, hidden_text, selection_parts, selection_sums, selection_text, span_text,
};
use crate::task::Task;
use crate::timeline::{self, Ink};
use crate::units::Span;
use crate::view::{Command, Item, RankId};
use egui::{Label, RichText, Ui};
use std::collections::HashMap;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

/// More operations and ranges than this are looked through on a thread.
const LARGE: usize = 200_000;

/// Of what the numbers are.
type Key = (u64, RankId, Span);

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct SelectionCache {
    known: Option<(Key, Arc<SpanSums>)>,
    /// Numbers that are being computed.
    task: Option<(Key, Task<SpanSums>)>,
    sheets: HashMap<Topic, Sheet>,
    /// Which kernels share a row.
    by: NamedBy,
}

const PARTS: [Column; 3] = [
    column("Share", 48.0, "Share of the span."),
    column("Time", 64.0, "Time of the span. The five parts sum to the span exactly."),
    column("Exact", 104.0, "The same in nanoseconds."),
];
const CAUSES: [Column; 2] =
    [column("Share", 48.0, "Share of the span."), column("Time", 64.0, "Idle time of this cause in the span.")];
const WORK: [Column; 2] = [
    column("Count", 46.0, "Operations that share time with the span."),
    column("Total", 64.0, "Their time inside the span, added up; they may overlap each other."),
];
const KERNELS: [Column; 3] = [
    column("Total", 64.0, "Time inside the span, added up."),
    column("Share", 48.0, "That over the length of the span."),
    column("Count", 46.0, "Kernels of this name that share time with the span."),
];
const COLLECTIVES: [Column; 3] = [
    column("Total", 64.0, "Time inside the span, added up."),
    column("Exposed", 64.0, "Of it, while no compute kernel of the device ran."),
    column("Count", 46.0, "Communication kernels of this kind that share time with the span."),
];
const RANGES: [Column; 3] = [
    column("GPU busy", 64.0, "Time of the span during which anything that belongs to these ranges ran."),
    column("Host", 64.0, "Time of the span that they were open on the host, added up."),
    column("Begun", 46.0, "Ranges that began in the span; 0 for those that were open before it."),
];
const CALLS: [Column; 3] = [
    column("Total", 64.0, "Time in these calls, added up over all threads."),
    column("Longest", 64.0, "Longest call."),
    column("Count", 46.0, "Calls that began in the span."),
];

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut SelectionCache, out: &mut Vec<Command>) {
    let Some(span) = cx.view.selected_span else {
        hint(ui);
        return;
    };
    let title = title(cx, span);
    ui.add(Label::new(RichText::new(&title).strong()).wrap());
    let Some(chosen) = cx.chosen() else {
        remark(ui, "No GPU work in this capture.");
        return;
    };
    let own = chosen.selected(cx.view).unwrap_or_default();
    let parts = chosen.numbers.span_parts(own);
    let sums = cache.follow(ui, cx, &chosen, own);
    let mut tables = selection_parts(&parts);
    if let Some((_, sums)) = &sums {
        tables.extend(selection_sums(&chosen.doc.trace, chosen.numbers, &parts, (sums, cache.by)));
    }
    buttons(ui, cx, &chosen, (&title, &tables, sums.as_ref().is_some_and(|(fresh, _)| *fresh)), out);
    ranks(ui, cx, &chosen, span, out);
    ui.add_space(8.0);
    ui.strong(rank_text(cx.workspace, chosen.id));
    ui.label(RichText::new(busy_text(&parts)).small());
    for table in &tables {
        ui.add_space(10.0);
        if table.topic == Topic::Kernels {
            ui.horizontal(|ui| choose_names(ui, &mut cache.by));
        }
        let sheet = cache.sheets.entry(table.topic).or_default();
        let sums = sums.as_ref().map(|(_, sums)| (sums.as_ref(), cache.by));
        show_table(ui, (cx, &chosen), table, sheet, sums, out);
    }
    if !sums.is_some_and(|(fresh, _)| fresh) {
        remark(ui, "Counting what ran…");
    }
}

/// How to select a span.
fn hint(ui: &mut Ui) {
    ui.strong("No span is selected");
    ui.add_space(4.0);
    let ways = [
        "Drag along the ruler above the lanes, or hold Shift and drag across the lanes.",
        "The ends snap to operations, gaps and steps on the lane under the pointer; hold Alt or Ctrl to place them freely.",
        "Drag an edge to move it. Escape, or a double-click on the ruler, clears the span.",
    ];
    for way in ways {
        ui.add(Label::new(RichText::new(way).weak()).wrap());
        ui.add_space(4.0);
    }
}

/// Length, start and end of the span.
fn title(cx: &Cx<'_>, span: Span) -> String {
    let text = |at_ns| timeline::clock::exact(cx.workspace, cx.view, at_ns, span.len_ns());
    span_text(span.len_ns(), &text(span.start_ns), &text(span.end_ns))
}

fn buttons(
    ui: &mut Ui,
    cx: &Cx<'_>,
    chosen: &Chosen<'_>,
    (title, tables, ready): (&str, &[SelectionTable], bool),
    out: &mut Vec<Command>,
) {
    ui.horizontal_wrapped(|ui| {
        if ui.button("Zoom to it").on_hover_text("Show the span with some room around it (F)").clicked() {
            out.push(Command::ShowSelection);
        }
        ui.add_enabled_ui(ready, |ui| {
            let (text, rows) = as_text(cx, chosen, title, tables);
            copy_button(ui, "Copy as text", &text, &rows_text(rows));
        });
        if ui.button("Clear").on_hover_text("Clear the span and go back to the tab before (Escape)").clicked() {
            out.push(Command::SelectSpan(None));
        }
    });
}

/// The chosen rank with all tables, then the others with theirs of parts and causes; and how many rows that is.
fn as_text(cx: &Cx<'_>, chosen: &Chosen<'_>, title: &str, tables: &[SelectionTable]) -> (String, usize) {
    let line = |name: String, parts: &SpanParts| format!("{name}: {}", busy_text(parts));
    let own = chosen.numbers.span_parts(chosen.selected(cx.view).unwrap_or_default());
    let mut ranks = vec![(line(rank_text(cx.workspace, chosen.id), &own), tables.to_vec())];
    for (id, doc, _) in cx.workspace.ranks().filter(|(id, ..)| *id != chosen.id) {
        let span = doc.own_span(cx.view.selected_span.unwrap_or_default());
        if let Some(numbers) = doc.analysis.ranks.get(id.rank) {
            let parts = numbers.span_parts(span);
            ranks.push((line(rank_text(cx.workspace, id), &parts), selection_parts(&parts)));
        }
    }
    let rows = ranks.iter().flat_map(|(_, tables)| tables).map(|table| table.rows.len()).sum();
    (selection_text(title, &ranks), rows)
}

/// A bar for each rank; a click on its name chooses it.
fn ranks(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, span: Span, out: &mut Vec<Command>) {
    ui.add_space(8.0);
    for (id, doc, _) in cx.workspace.ranks() {
        let Some(numbers) = doc.analysis.ranks.get(id.rank) else { continue };
        let parts = numbers.span_parts(doc.own_span(span));
        ui.horizontal(|ui| {
            let name = crate::app::facts::rank_label(cx.workspace, id);
            let name = RichText::new(crate::format::one_line(&name, 16)).small();
            let response = ui.add_sized([76.0, 20.0], egui::Button::selectable(id == chosen.id, name));
            if response.on_hover_text(busy_text(&parts)).clicked() {
                out.push(Command::ChooseRank(id));
            }
            bar(ui, cx.palette, &rank_text(cx.workspace, id), &parts.parts);
        });
    }
}

fn show_table(
    ui: &mut Ui,
    (cx, chosen): (&Cx<'_>, &Chosen<'_>),
    table: &SelectionTable,
    sheet: &mut Sheet,
    sums: Option<(&SpanSums, NamedBy)>,
    out: &mut Vec<Command>,
) {
    let (id, columns): (_, &[Column]) = match table.topic {
        Topic::Parts => ("selection parts", &PARTS),
        Topic::Causes => ("selection causes", &CAUSES),
        Topic::Work => ("selection work", &WORK),
        Topic::Kernels => ("selection kernels", &KERNELS),
        Topic::Collectives => ("selection collectives", &COLLECTIVES),
        Topic::Ranges => ("selection ranges", &RANGES),
        Topic::Calls => ("selection calls", &CALLS),
    };
    let target = |at: usize| target(chosen, table.topic, at, sums?);
    let name = table.head.first().copied().unwrap_or_default();
    let row = |at: usize| {
        let mut cells = table.rows.get(at).cloned().unwrap_or_default().into_iter();
        let name = cells.next().unwrap_or_default();
        let action = target(at).map(|_| format!("Show the longest {name}")).unwrap_or_default();
        let kernel = sums.filter(|_| table.topic == Topic::Kernels).and_then(|(sums, by)| sums.kernels_by(by).get(at));
        let full = kernel.map_or_else(String::new, |sum| chosen.doc.trace.op_full_name(sum.name).to_owned());
        let note = kernel.map_or_else(String::new, |sum| variants_text(sum.variants));
        let swatch = kernel.map(|sum| cx.palette.ink(Ink::of(sum.class)));
        // The report's order is the one that matters here, and its texts do not sort as numbers.
        let cells = cells.map(|text| Cell::maybe(text, None)).collect();
        let shared = kernel.map_or(0, |sum| sum.label.shared);
        Row { name, cells, action, full, note, swatch, shared, ..Row::default() }
    };
    let grid = Grid { id, name, columns, tall: false, name_pt: NAME_PT };
    let token = {
        let mut hasher = rustc_hash::FxHasher::default();
        (cx.revision, chosen.id, cx.view.selected_span, &table.rows).hash(&mut hasher);
        hasher.finish()
    };
    let shown = Shown { token, filter: &Filter::default(), selection: None, copy: None };
    let clicked = grid.show(ui, sheet, shown, &List::new(table.rows.len(), row));
    if let Some(item) = clicked.and_then(target) {
        out.push(Command::Reveal(item));
    }
    if let Some(hidden) = hidden_text(table) {
        remark(ui, &hidden);
    }
}

/// What a click on a row shows.
fn target(chosen: &Chosen<'_>, topic: Topic, at: usize, (sums, by): (&SpanSums, NamedBy)) -> Option<Item> {
    match topic {
        Topic::Kernels => Some(Item::Op(chosen.id, sums.kernels_by(by).get(at)?.longest)),
        Topic::Calls => Some(Item::Call(chosen.id.doc, chosen.rank.process, sums.calls.get(at)?.longest)),
        _ => None,
    }
}

impl SelectionCache {
    /// The latest numbers, and whether they are those of `span`.
    fn follow(&mut self, ui: &Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, span: Span) -> Option<(bool, Arc<SpanSums>)> {
        let key = (cx.revision, chosen.id, span);
        if let Some((of, task)) = self.task.take() {
            match task.take() {
                Ok(sums) => self.known = sums.map(|sums| (of, Arc::new(sums))),
                Err(task) => self.task = Some((of, task)),
            }
        }
        // Those of another rank or of files that are closed are not shown, not even for a moment.
        self.known = self.known.take().filter(|(known, _)| (known.0, known.1) == (key.0, key.1));
        let fresh = self.known.as_ref().is_some_and(|(known, _)| *known == key);
        if !fresh && self.task.is_none() {
            self.start(ui, key, chosen);
        }
        let (known, sums) = self.known.as_ref()?;
        Some((*known == key, Arc::clone(sums)))
    }

    fn start(&mut self, ui: &Ui, key: Key, chosen: &Chosen<'_>) {
        let (trace, analysis) = (Arc::clone(&chosen.doc.trace), Arc::clone(&chosen.doc.analysis));
        let cost = chosen.rank.ops.len() + trace.nvtx_ranges() + trace.api_calls();
        let compute = move |_: &dyn Fn() -> bool| {
            let (_, id, span) = key;
            let numbers = analysis.ranks.get(id.rank)?;
            Some(SpanSums::of(&trace, id.rank, &analysis.classes, numbers, span))
        };
        let task = Task::start("selection", (cost > LARGE).then(|| timeline::wake(ui.ctx())), compute);
        match task.take() {
            Ok(sums) => self.known = sums.map(|sums| (key, Arc::new(sums))),
            Err(task) => self.task = Some((key, task)),
        }
    }
}
