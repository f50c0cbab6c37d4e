//! From a path to a [`Trace`]: checks the file, finds its tables, reads them one after the other, and hands the rows to
//! the builder.
//!
//! Cost: what the builder keeps, plus a few batches of rows. The names that rows refer to are read once each.

use super::check::{self, FileFacts};
use super::connect;
use super::details::NsysDetails;
use super::error::LoadError;
use super::plan::{TableSpec, WantedColumn, Warnings, Weight, plan, shortened, sum_of};
use super::progress::Progress;
use super::rows::{Batch, Query, RowError, cause};
use super::scan::{RowSource, ScanEnd, Stopped};
use super::schema::{Found, Schema, Table};
use super::sink::Sink;
use super::strings::Strings;
use super::{calls, meta, nvtx, ops};
use crate::format;
use crate::trace::{Source, TableCount, TableKind, Trace};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Reading threads; `None` for as many as the machine has processors, at most [`MAX_READERS`].
    pub readers: Option<usize>,
}

/// Most reading threads: past this the one thread that assembles rows is the limit.
pub const MAX_READERS: usize = 6;

impl LoadOptions {
    fn readers(self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.readers.unwrap_or_else(processors).clamp(1, MAX_READERS)
    }
}

/// The tables of events, in the order they are read. Calls come first: they tell which processes there are.
const TABLES: [&TableSpec; 8] =
    [&calls::API, &nvtx::NVTX, &calls::OS_RUNTIME, &ops::KERNEL, &ops::MEMCPY, &ops::MEMSET, &ops::GRAPH, &ops::SYNC];

/// A file that is being read.
pub(crate) struct Load<'a> {
    path: &'a Path,
    facts: FileFacts,
    progress: &'a Progress,
    schema: Schema,
    source: RowSource,
    found: Vec<(&'static TableSpec, Table)>,
    counts: Vec<TableCount>,
    usable: bool,
    /// Where rows go.
    pub sink: Sink,
}

/// Reads an export.
///
/// The file and its folder are never written. What is odd but can be lived with is in [`Trace::warnings`].
///
/// # Errors
/// When the file is no export, cannot be read whole, or `progress` was cancelled; the message says what to do.
pub fn open(path: &Path, options: &LoadOptions, progress: &Progress) -> Result<Trace, LoadError> {
    let mut load = Load::start(path, *options, progress)?;
    calls::read_api(&mut load)?;
    nvtx::read(&mut load)?;
    calls::read_os_runtime(&mut load)?;
    ops::read_kernels(&mut load)?;
    ops::read_copies(&mut load)?;
    ops::read_fills(&mut load)?;
    ops::read_graphs(&mut load)?;
    ops::read_syncs(&mut load)?;
    load.finish()
}

/// What can be said about an export at a glance: versions, and its tables with their highest row number for a count.
///
/// # Errors
/// As [`open`].
pub fn peek(path: &Path) -> Result<Source, LoadError> {
    let progress = Progress::new();
    let mut load = Load::start(path, LoadOptions { readers: Some(1) }, &progress)?;
    let mut source = meta::source(&mut load);
    source.tables = load
        .found
        .iter()
        .map(|(_, table)| TableCount { table: table.name.clone(), rows: load.last_row(table) })
        .collect();
    Ok(source)
}

/// SQL that adds up every column that [`open`] reads of the event tables: the work that loading is measured against.
///
/// # Errors
/// As [`open`].
pub fn sum_sql(path: &Path) -> Result<String, LoadError> {
    let progress = Progress::new();
    let load = Load::start(path, LoadOptions { readers: Some(1) }, &progress)?;
    Ok(load.found.iter().map(|(spec, table)| sum_of(table, spec.columns)).collect())
}

impl<'a> Load<'a> {
    fn start(path: &'a Path, options: LoadOptions, progress: &'a Progress) -> Result<Self, LoadError> {
        let facts = check::check(path)?;
        if !facts.wal_mode && connect::is_locked(path) {
            return Err(LoadError::Locked { path: path.into() });
        }
        let failed = |error: rusqlite::Error| not_opened(path, &error);
        let source = RowSource::open(path, facts.bytes, options.readers()).map_err(failed)?;
        let connection = source
            .connection()
            .ok_or_else(|| LoadError::Sqlite { path: path.into(), detail: "no connection".to_owned() })?;
        let schema = Schema::read(connection).map_err(failed)?;
        let mut warnings = Warnings::default();
        let strings = find_optional(&schema, &source, "StringIds", &mut warnings);
        if !strings.as_ref().is_some_and(|table| table.column("id").is_some() && table.column("value").is_some()) {
            warnings.add(
                "missing-table",
                1,
                "no usable table StringIds: the names of kernels, API calls and registered NVTX texts are unknown",
            );
        }
        let strings = Strings::open(path, facts.bytes, strings.as_ref())
            .map_err(|error| damaged(path, "StringIds", 0, &RowError::from(error).0))?;
        let sink = Sink::new(strings, warnings);
        let mut load =
            Self { path, facts, progress, schema, source, found: Vec::new(), counts: Vec::new(), usable: false, sink };
        load.find_tables()?;
        Ok(load)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.path
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.facts.bytes
    }

    /// The connection for single questions.
    pub fn connection(&self) -> Option<&rusqlite::Connection> {
        self.source.connection()
    }

    /// A table that holds no events. Damage is warned of.
    pub fn side_table(&mut self, base: &str) -> Option<Table> {
        find_optional(&self.schema, &self.source, base, &mut self.sink.warnings)
    }

    /// Hands the rows of a table that holds no events to `each`; false when there is no such table. Damage is warned of.
    pub fn side_rows(
        &mut self,
        base: &str,
        columns: &[WantedColumn],
        without: &str,
        mut each: impl FnMut(&mut Sink, &Batch, usize),
    ) -> Result<bool, LoadError> {
        let Some(table) = self.side_table(base) else { return Ok(false) };
        let Some(query) = plan(&table, columns, without, &mut self.sink.warnings) else { return Ok(true) };
        let end = self.scan(&table, &query, |sink, batch| (0..batch.len()).for_each(|row| each(sink, batch, row)))?;
        self.salvaged(&table.name, without, &end);
        Ok(true)
    }

    /// The table of events `spec`, when the file has it.
    pub fn table(&self, spec: &TableSpec) -> Option<&Table> {
        self.found.iter().find(|(known, _)| known.base == spec.base).map(|(_, table)| table)
    }

    /// Finds the event tables, tells what is absent, and estimates the work.
    fn find_tables(&mut self) -> Result<(), LoadError> {
        let mut absent = Vec::new();
        for spec in TABLES {
            let connection = self.source.connection();
            match connection.map(|connection| self.schema.find(connection, spec.base)).transpose() {
                Ok(found) => match found.flatten() {
                    Some(Found { table, ignored }) => self.note_name(spec, table, ignored),
                    None if spec.weight == Weight::Main => {
                        let message = format!("no table {}. {} {}", spec.base, spec.without, spec.record);
                        self.sink.warnings.add("missing-table", 1, message);
                    }
                    None if spec.kind != TableKind::Graph => absent.push(spec.base.to_owned()),
                    None => {}
                },
                Err(error) => {
                    self.damage(spec, spec.base, ScanEnd { rows: 0, damage: Some(error.into()) })?;
                }
            }
        }
        if self.found.is_empty() {
            return Err(self.no_events());
        }
        if !absent.is_empty() {
            let message = format!(
                "no table {}: nsys leaves a table out when nothing of its kind was recorded, or the export was made without it",
                absent.join(", ")
            );
            self.sink.warnings.add("absent-tables", 1, message);
        }
        self.progress.set_total(self.found.iter().map(|(_, table)| self.last_row(table)).sum());
        Ok(())
    }

    fn note_name(&mut self, spec: &'static TableSpec, table: Table, ignored: Option<String>) {
        if !table.name.eq_ignore_ascii_case(spec.base) {
            let message = format!("table {} is read as {}", table.name, spec.base);
            self.sink.warnings.add("renamed-table", 1, message);
        }
        if let Some(other) = ignored {
            let message = format!("table {other} holds rows too and is not read: {} is", table.name);
            self.sink.warnings.add("ignored-table", 1, message);
        }
        self.found.push((spec, table));
    }

    /// The highest row number of a table for an estimate of its rows, within what a file of this size can hold.
    fn last_row(&self, table: &Table) -> u64 {
        let query = Query::new(table, &[]);
        let bounds = self.connection().filter(|_| query.numbered()).and_then(|c| query.bounds(c).ok().flatten());
        let (first, last) = bounds.unwrap_or((0, -1));
        (last.saturating_sub(first).saturating_add(1)).unsigned_abs().min(self.facts.bytes / 4)
    }

    /// Reads all rows of `spec` into the sink. A table that is not there, or cannot be used, gives none.
    pub fn read(&mut self, spec: &'static TableSpec, mut each: impl FnMut(&mut Sink, &Batch)) -> Result<(), LoadError> {
        let Some(table) = self.table(spec).cloned() else { return Ok(()) };
        let Some(query) = plan(&table, spec.columns, spec.without, &mut self.sink.warnings) else { return Ok(()) };
        self.usable = true;
        let mut odd = 0;
        let end = self.scan(&table, &query, |sink, batch| {
            odd += batch.odd();
            each(sink, batch);
        })?;
        let message = format!(
            "values in table {} that are no whole numbers: read as numbers where they say one, else left out",
            table.name
        );
        self.sink.warnings.add("odd-value", odd, message);
        self.counts.push(TableCount { table: table.name.clone(), rows: end.rows });
        self.damage(spec, &table.name, end)
    }

    /// Hands the rows of any query to `each`.
    pub fn scan(
        &mut self,
        table: &Table,
        query: &Query,
        mut each: impl FnMut(&mut Sink, &Batch),
    ) -> Result<ScanEnd, LoadError> {
        self.progress.set_table(&table.name);
        if self.progress.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        let sink = &mut self.sink;
        let end = self.source.scan(query, self.progress, |batch| each(sink, batch));
        end.map_err(|Stopped| LoadError::Cancelled)
    }

    /// Decides what damage means: sums over half a table would be wrong without a sign of it, so only tables that no sum
    /// needs are kept as far as they go.
    pub fn damage(&mut self, spec: &TableSpec, table: &str, end: ScanEnd) -> Result<(), LoadError> {
        let Some(error) = end.damage else { return Ok(()) };
        if !self.facts.still_hold(self.path) {
            return Err(LoadError::Changed { path: self.path.into() });
        }
        if spec.weight != Weight::Extra {
            return Err(damaged(self.path, table, end.rows, &error.0));
        }
        self.salvaged(table, spec.without, &ScanEnd { rows: end.rows, damage: Some(error) });
        Ok(())
    }

    fn salvaged(&mut self, table: &str, without: &str, end: &ScanEnd) {
        if let Some(error) = &end.damage {
            let read = format::counted(end.rows, "row was", "rows were");
            let message = format!("table {table} is damaged ({error}): its first {read} read. {without}");
            self.sink.warnings.add("damaged-table", 1, message);
        }
    }

    fn finish(mut self) -> Result<Trace, LoadError> {
        if !self.usable {
            return Err(self.no_events());
        }
        let mut source = meta::source(&mut self);
        source.tables = std::mem::take(&mut self.counts);
        meta::describe(&mut self, &source)?;
        if let Some(error) = self.sink.strings.damage() {
            return Err(damaged(self.path, "StringIds", 0, &error.0));
        }
        let unknown = self.sink.strings.unknown();
        self.sink.warnings.add(
            "unknown-name",
            unknown,
            "name numbers that StringIds does not hold: shown without a name",
        );
        let overflow = self.sink.overflow + self.sink.strings.overflow();
        self.sink.warnings.add("too-many-names", overflow, "names beyond 4 GiB of text: shown without a name");
        if !self.facts.still_hold(self.path) {
            return Err(LoadError::Changed { path: self.path.into() });
        }
        let tables = self.found.iter().map(|(spec, table)| (spec.kind, table.clone())).collect();
        let details = NsysDetails::new(self.path.into(), self.facts, self.schema.names().to_vec(), tables);
        let mut builder = self.sink.builder;
        for warning in self.sink.warnings.take() {
            builder.warn(warning);
        }
        Ok(builder.finish(source, Arc::new(details)))
    }

    /// No event table, or none that can be used.
    fn no_events(&mut self) -> LoadError {
        let path = PathBuf::from(self.path);
        let names = self.schema.names();
        if !self.found.is_empty() {
            let why: Vec<String> = self
                .sink
                .warnings
                .take()
                .into_iter()
                .filter(|w| w.code == "unusable-table")
                .map(|w| w.message)
                .collect();
            return LoadError::NoEvents { path, reason: why.join("; ") };
        }
        if names.is_empty() {
            return LoadError::NotNsys { path, tables: "no table at all".to_owned() };
        }
        if !names.iter().any(|name| is_nsys_table(name)) {
            return LoadError::NotNsys { path, tables: format!("the tables {}", shortened(names)) };
        }
        let wanted: Vec<String> = TABLES.iter().map(|spec| spec.base.to_owned()).collect();
        let reason = format!("none of the tables {} is there (it holds {})", wanted.join(", "), shortened(names));
        LoadError::NoEvents { path, reason }
    }
}

/// Why the list of tables could not be read.
fn not_opened(path: &Path, error: &rusqlite::Error) -> LoadError {
    let (path, detail) = (path.to_path_buf(), cause(error));
    // SQLite reports a definition that it cannot parse as an error of the statement that needed it.
    let is_schema = detail.starts_with("malformed database schema")
        || error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt);
    if is_schema { LoadError::DamagedSchema { path, detail } } else { LoadError::Sqlite { path, detail } }
}

fn damaged(path: &Path, table: &str, rows: u64, detail: &str) -> LoadError {
    LoadError::Damaged { path: path.into(), table: table.to_owned(), rows, detail: detail.to_owned() }
}

/// True for a table that only nsys makes.
fn is_nsys_table(name: &str) -> bool {
    const MARKS: [&str; 7] = [
        "StringIds",
        "EXPORT_META_DATA",
        "META_DATA_EXPORT",
        "META_DATA_CAPTURE",
        "ANALYSIS_DETAILS",
        "ThreadNames",
        "UnwindMethodType",
    ];
    MARKS.iter().any(|mark| name.eq_ignore_ascii_case(mark))
        || name.starts_with("TARGET_INFO_")
        || name.starts_with("CUPTI_ACTIVITY_KIND_")
}

fn find_optional(schema: &Schema, source: &RowSource, base: &str, warnings: &mut Warnings) -> Option<Table> {
    match source.connection().map(|connection| schema.find(connection, base)).transpose() {
        Ok(found) => found.flatten().map(|found| found.table),
        Err(error) => {
            let why = RowError::from(error);
            warnings.add("damaged-table", 1, format!("table {base} cannot be read ({why}): what it says is unknown"));
            None
        }
    }
}
