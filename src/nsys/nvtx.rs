//! NVTX: ranges and marks with the names of their domains and categories.
//!
//! A domain's number is its process's own, a category's number its domain's own; the rows that name them may stand
//! anywhere in the table, so they are picked out first.

use super::error::LoadError;
use super::load::Load;
use super::meta::process_of;
use super::payload::CommLayouts;
use super::plan::{TableSpec, Warnings, Weight, plan, required, spare_text, wanted, wanted_text};
use super::rows::Batch;
use super::sink::Sink;
use crate::trace::{NONE, NameId, RangeKind, RawRange, TableKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// NVTX events of every type.
pub(crate) static NVTX: TableSpec = TableSpec {
    base: "NVTX_EVENTS",
    kind: TableKind::Nvtx,
    weight: Weight::Main,
    without: "NVTX ranges, and with them the program's own steps and phases, are unknown.",
    record: "Record them with `nsys profile --trace=nvtx ...` and mark steps with nvtx.range_push(f\"step {n}\").",
    columns: &[
        required("start"),
        required("end"),
        required("eventType"),
        wanted("globalTid", "ranges cannot be told apart by thread or process, and joined to no GPU work"),
        wanted_text("text", "names that are not registered strings are unknown"),
        wanted("textId", "names that are registered strings are unknown"),
        wanted("domainId", "domains are unknown"),
        wanted("category", "categories are unknown"),
        wanted("color", "colours are unknown"),
        wanted("endGlobalTid", "ranges that another thread ended are taken for ranges of one thread"),
        spare_text("binaryData"),
    ],
};

const START: usize = 0;
const END: usize = 1;
const TYPE: usize = 2;
const GLOBAL_TID: usize = 3;
const TEXT: usize = 4;
const TEXT_ID: usize = 5;
const DOMAIN: usize = 6;
const CATEGORY: usize = 7;
const COLOR: usize = 8;
const END_GLOBAL_TID: usize = 9;
const PAYLOAD: usize = 10;

const CATEGORY_NAMED: i64 = 33;
const MARK: i64 = 34;
const THREAD_NAMED: i64 = 39;
const DOMAIN_CREATED: i64 = 75;
/// A name that the program gave its thread goes before one that the system gave it.
const NVTX_PRIORITY: i64 = i64::MAX;

/// What domains and categories are called.
#[derive(Debug, Default)]
struct Labels {
    /// By process and domain; with the start of the row that named it, so that the earliest wins whatever the row order.
    domains: FxHashMap<(i64, i64), (i64, NameId)>,
    /// By process, domain and category.
    categories: FxHashMap<(i64, i64, i64), (i64, NameId)>,
    /// Domains in use that no row names.
    nameless: FxHashSet<(i64, i64)>,
}

impl Labels {
    fn take(&mut self, sink: &mut Sink, batch: &Batch, row: usize) {
        let global_tid = batch.int(GLOBAL_TID, row).unwrap_or(0);
        let process = process_of(global_tid);
        let start_ns = batch.int(START, row).unwrap_or(i64::MAX);
        let domain = batch.int(DOMAIN, row).unwrap_or(0);
        let name = text(sink, batch, row);
        let named = (start_ns, name);
        match batch.int(TYPE, row) {
            Some(THREAD_NAMED) if name != NameId::EMPTY => sink.builder.thread_name(global_tid, name, NVTX_PRIORITY),
            Some(DOMAIN_CREATED) => {
                let known = self.domains.entry((process, domain)).or_insert(named);
                *known = (*known).min(named);
            }
            Some(CATEGORY_NAMED) => {
                let category = batch.int(CATEGORY, row).unwrap_or(0);
                let known = self.categories.entry((process, domain, category)).or_insert(named);
                *known = (*known).min(named);
            }
            _ => {}
        }
    }

    /// Name of a domain; one that no row names is called by its number, so that domains stay apart.
    fn domain(&mut self, sink: &mut Sink, process: i64, domain: i64) -> NameId {
        if domain == 0 {
            return NameId::EMPTY;
        }
        match self.domains.get(&(process, domain)) {
            Some((_, name)) => *name,
            None => {
                self.nameless.insert((process, domain));
                let name = sink.builder.names().intern(&format!("domain {domain}"));
                sink.builder.unnamed_domain(name);
                name
            }
        }
    }

    fn category(&self, sink: &mut Sink, process: i64, domain: i64, category: i64) -> NameId {
        if category == 0 {
            return NameId::EMPTY;
        }
        match self.categories.get(&(process, domain, category)) {
            Some((_, name)) => *name,
            None => sink.builder.names().intern(&format!("category {category}")),
        }
    }
}

/// Reads the ranges, the marks, and the thread names given through NVTX.
pub(crate) fn read(load: &mut Load<'_>) -> Result<(), LoadError> {
    let mut labels = read_labels(load)?;
    let layouts = CommLayouts::read(load)?;
    let (mut no_start, mut last) = (0, None);
    load.read(&NVTX, |sink, batch| {
        for row in 0..batch.len() {
            batch.int(START, row).into_iter().chain(batch.int(END, row)).for_each(|ns| sink.builder.nvtx_time(ns));
            let Some(kind) = range_kind(batch.int(TYPE, row)) else { continue };
            let Some(start_ns) = batch.int(START, row) else {
                no_start += 1;
                continue;
            };
            let global_tid = batch.int(GLOBAL_TID, row).unwrap_or(0);
            let process = process_of(global_tid);
            sink.hosting.add(process);
            let key = (process, batch.int(DOMAIN, row).unwrap_or(0), batch.int(CATEGORY, row).unwrap_or(0));
            // Neighbouring rows mostly share domain and category.
            let (domain, category) = match last {
                Some((known, names)) if known == key => names,
                _ => (labels.domain(sink, key.0, key.1), labels.category(sink, key.0, key.1, key.2)),
            };
            last = Some((key, (domain, category)));
            let name = text(sink, batch, row);
            let comm_call = batch.text(PAYLOAD, row).and_then(|blob| layouts.decode(blob));
            let range = RawRange {
                start_ns,
                end_ns: if kind == RangeKind::Mark { Some(start_ns) } else { batch.int(END, row) },
                global_tid,
                name,
                kind,
                domain,
                category,
                color: batch.int(COLOR, row).map_or(NONE, |argb| (argb & 0xFF_FFFF) as u32),
                // Set only when it differs from the thread that started the range.
                ended_elsewhere: batch.int(END_GLOBAL_TID, row).is_some(),
                row: batch.row_number(row),
            };
            sink.builder.comm_range(range, comm_call);
        }
    })?;
    let warnings = &mut load.sink.warnings;
    warnings.add("missing-start", no_start, format!("rows of table {} without a start: left out", NVTX.base));
    let nameless = labels.nameless.len() as u64;
    warnings.add(
        "unnamed-domain",
        nameless,
        "NVTX domains whose names were not recorded (the capture began after they were made): shown by number",
    );
    Ok(())
}

/// Picks out the rows that name domains, categories and threads.
fn read_labels(load: &mut Load<'_>) -> Result<Labels, LoadError> {
    let mut labels = Labels::default();
    let Some(table) = load.table(&NVTX).cloned() else { return Ok(labels) };
    // What is missing is warned of when the ranges are read.
    let query = plan(&table, NVTX.columns, "", &mut Warnings::default());
    let (Some(query), Some(event_type)) = (query, table.column("eventType")) else { return Ok(labels) };
    let query = query.only(event_type, &[CATEGORY_NAMED, THREAD_NAMED, DOMAIN_CREATED]);
    let end = load.scan(&table, &query, |sink, batch| {
        for row in 0..batch.len() {
            labels.take(sink, batch, row);
        }
    })?;
    load.damage(&NVTX, &table.name, end)?;
    Ok(labels)
}

/// The event's own text, else the registered string.
fn text(sink: &mut Sink, batch: &Batch, row: usize) -> NameId {
    match batch.text(TEXT, row) {
        Some(bytes) => sink.intern(bytes),
        None => sink.name(batch.int(TEXT_ID, row)),
    }
}

/// What kind of range an event type is; `None` for events that are no range and no mark.
fn range_kind(event_type: Option<i64>) -> Option<RangeKind> {
    match event_type? {
        59 | 70 => Some(RangeKind::PushPop),
        60 | 71 => Some(RangeKind::StartEnd),
        MARK => Some(RangeKind::Mark),
        _ => None,
    }
}
