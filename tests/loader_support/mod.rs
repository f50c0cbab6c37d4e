//! A small export made from SQL, copies of real ones, and a text form of a trace that two loads can be compared by.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "shared by several test programs"
)]

#[path = "../support/mod.rs"]
mod support;

pub use support::*;

use rusqlite::Connection;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stepscope::nsys::{LoadError, LoadOptions, Progress, open};
use stepscope::trace::{CallTable, RangeTable, Trace};

/// Key of the first process (pid 100) and of the second (pid 200).
pub const P1: i64 = 0x1_0000_0000_0000 | 100 << 24;
pub const P2: i64 = 0x1_0000_0000_0000 | 200 << 24;

/// Two processes on two cards; each launches two kernels with the same correlation ids, copies, fills and synchronises
/// inside a step range.
pub fn export_sql() -> String {
    let mut sql = String::from(
        "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
         INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'void gemm<float>(float*)'), (3, '_Z4gemm'), (4, 'ncclDevKernel_AllReduce'),
            (5, 'cudaLaunchKernel_v7000'), (6, 'cudaMemcpyAsync_v3020'), (7, 'ncclAllReduce'), (8, 'poll'), (9, 'main thread'),
            (10, 'cudaStreamSynchronize_v3020');
         CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, end INTEGER, deviceId INTEGER NOT NULL, contextId INTEGER,
            streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
            mangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, registersPerThread INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
            globalPid INTEGER, value INTEGER, bytes INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, syncType INTEGER);
         CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER, returnValue INTEGER);
         CREATE TABLE OSRT_API(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER, returnValue INTEGER);
         CREATE TABLE NVTX_EVENTS(start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
            color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
            doubleValue REAL);
         CREATE TABLE ThreadNames(nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
         CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);
         CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER, smCount INTEGER, cuDevice INTEGER,
            computeMajor INTEGER, computeMinor INTEGER);
         INSERT INTO TARGET_INFO_GPU VALUES (1, 'A100', '0000:01', 40000000000, 108, 0, 8, 0), (0, 'A40', '0000:02', 48000000000, 84, 1, 8, 6),
            (2, 'Display adapter', '', 0, 0, 0, 0, 0);
         CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT);
         INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '');
         CREATE TABLE ANALYSIS_DETAILS(globalVid INTEGER, duration INTEGER);
         INSERT INTO ANALYSIS_DETAILS VALUES (0, 5000);
         CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
         INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.1.1'), ('EXPORT_SCHEMA_VERSION', '3.20.0');
         CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT);
         INSERT INTO META_DATA_CAPTURE VALUES ('CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Graph'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'TOKEN=\"hunter2\"');
         CREATE TABLE DIAGNOSTIC_EVENT(timestamp INTEGER, severity INTEGER, text TEXT);
         INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 'fine'), (-5, 2, 'Not all NVTX events might have been collected.'), (0, 4, 'chatter');
         CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER PRIMARY KEY, name TEXT, label TEXT);
         INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (1, 'HTOD', 'Host-to-Device');
         CREATE TABLE ENUM_NSYS_EVENT_TYPE(id INTEGER PRIMARY KEY, name TEXT, label TEXT);
         INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (59, 'NvtxPushPopRange', '');",
    );
    for (at, pid) in [(0, P1), (1, P2)] {
        let (tid, t) = (pid | (100 + at), at * 10);
        write!(
            sql,
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 0, {tid}, 1, 5, 0), ({}, {}, 0, {tid}, 2, 5, 0),
                ({}, {}, 0, {tid}, 3, 6, 0), ({}, {}, 0, {tid}, 4, 10, 0);
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, {at}, 1, 7, 1, {pid}, 2, 1, 3, 108, 2, 1, 32),
                ({}, {}, {at}, 1, 20, 2, {pid}, 4, 4, NULL, 8, 1, 1, 96);
             INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({}, {}, {at}, 1, 13, 3, {pid}, 4096, 1);
             INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES ({}, {}, {at}, 13, 3, {pid}, 0, 64);
             INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES ({}, {}, {at}, 1, 7, 9, {pid}, 1, 1), (0, 0, 2147483647, 1, 7, 9, {pid}, 1, 1);
             INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES ({}, {}, {at}, 4294967295, 4, {pid}, 3);
             INSERT INTO OSRT_API VALUES ({}, {}, 27, {tid}, 8, 0);
             INSERT INTO NVTX_EVENTS(start, end, eventType, category, color, text, globalTid, textId, domainId, uint64Value) VALUES
                ({}, {}, 59, NULL, 4278190335, 'step 1', {tid}, NULL, 0, -1), ({}, {}, 59, 1, NULL, NULL, {tid}, 7, {dom}, NULL),
                ({}, NULL, 60, NULL, NULL, 'open', {tid}, NULL, 0, NULL), ({}, NULL, 34, NULL, NULL, 'mark', {tid}, NULL, 0, NULL),
                (-50, NULL, 75, NULL, NULL, '{name}', {tid}, NULL, {dom}, NULL), (-40, NULL, 33, 1, NULL, 'coll', {tid}, NULL, {dom}, NULL);
             INSERT INTO ThreadNames VALUES (9, 20, {tid});
             INSERT INTO PROCESSES VALUES ({pid}, 0, 'python {at}');",
            100 + t, 110 + t, 120 + t, 130 + t, 140 + t, 150 + t, 600 + t, 800 + t,
            200 + t, 400 + t, 300 + t, 700 + t, 150 + t, 190 + t, 195 + t, 196 + t, 900 + t, 950 + t, 610 + t, 790 + t, 50 + t, 90 + t,
            95 + t, 850 + t, 115 + t, 135 + t, 90 + t, 99 + t,
            dom = 1 + at, name = if at == 0 { "NCCL" } else { "mine" },
        )
        .unwrap();
    }
    sql
}

/// Tables with events.
pub const EVENT_TABLES: [&str; 8] = [
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "NVTX_EVENTS",
    "OSRT_API",
];

/// An export in a folder of its own.
pub struct Export {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl Export {
    /// The small export, then `sql` done to it.
    pub fn made(sql: &str) -> Self {
        Self::from_sql(&format!("{}{sql}", export_sql()))
    }

    /// Whatever `sql` makes.
    pub fn from_sql(sql: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.sqlite");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;").unwrap();
        connection.execute_batch(&format!("BEGIN; {sql}; COMMIT;")).unwrap();
        drop(connection);
        Self { folder, path }
    }

    /// A copy of `original`, then `sql` done to it.
    pub fn copied(original: &Path, sql: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.sqlite");
        // Not fs::copy: the original may be read-only, and its permissions would come along.
        std::fs::write(&path, std::fs::read(original).unwrap()).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA legacy_alter_table = ON; PRAGMA foreign_keys = OFF;").unwrap();
        connection.execute_batch(&format!("BEGIN; {sql}; COMMIT;")).unwrap();
        drop(connection);
        Self { folder, path }
    }

    /// Loads it, and checks that nothing in its folder changed.
    pub fn load(&self) -> Result<Trace, LoadError> {
        load(&self.path)
    }

    /// The message of the error that it gives.
    pub fn error(&self) -> String {
        error(&self.path)
    }
}

/// Loads `path`, and checks that nothing in its folder changed.
pub fn load(path: &Path) -> Result<Trace, LoadError> {
    let before = listing(path);
    let outcome = open(path, &LoadOptions::default(), &Progress::new());
    assert_eq!(listing(path), before, "the folder of {} was written", path.display());
    outcome
}

/// The message of the error that `path` gives.
pub fn error(path: &Path) -> String {
    match load(path) {
        Ok(trace) => panic!("{} was loaded: {:?}", path.display(), trace.warnings),
        Err(error) => error.to_string(),
    }
}

/// Names, sizes and times of everything in the folder of `path`.
fn listing(path: &Path) -> Vec<(PathBuf, u64, Option<std::time::SystemTime>)> {
    let Some(folder) = path.parent() else { return Vec::new() };
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let facts = entry.metadata().ok()?;
            Some((entry.path(), facts.len(), facts.modified().ok()))
        })
        .collect();
    found.sort();
    found
}

/// Codes of the warnings.
pub fn codes(trace: &Trace) -> Vec<&'static str> {
    trace.warnings.iter().map(|warning| warning.code).collect()
}

/// All warnings as one text.
pub fn warnings(trace: &Trace) -> String {
    trace.warnings.iter().map(|w| format!("{} x{}: {}\n", w.code, w.count, w.message)).collect()
}

/// All that a trace holds but row numbers and warnings, one line per thing, in an order that does not depend on rows.
pub fn dump(trace: &Trace) -> Vec<String> {
    let mut lines =
        vec![format!("{:?} {:?} {:?}", trace.span, trace.source.utc_epoch_ns, trace.source.product_version)];
    for rank in &trace.ranks {
        let process = &trace.processes[rank.process];
        let head = format!("rank {} pid {} device {}", rank.label, process.global_pid, rank.device);
        lines.push(format!("{head} gpu {:?}", rank.gpu.map(|gpu| trace.gpus[gpu].name.as_str())));
        for op in 0..rank.ops.len() {
            let (name, stream) = (rank.ops.name[op], rank.streams[usize::from(rank.ops.stream[op])].id);
            let launch = rank.ops.launch_of(op).map(|call| call_text(trace, &process.api, call as usize));
            lines.push(format!(
                "{head} op {:?} {:?} '{}' '{}' stream {stream} bytes {:?} launch {launch:?}",
                rank.ops.span(op),
                rank.ops.kind[op],
                trace.op_short_name(name),
                trace.op_full_name(name),
                rank.ops.bytes_of(op as u32),
            ));
        }
        for at in 0..rank.syncs.start_ns.len() {
            let syncs = &rank.syncs;
            let launch = syncs.launch[at] as usize;
            let launch = (launch < process.api.len()).then(|| call_text(trace, &process.api, launch));
            lines.push(format!(
                "{head} sync {} {} type {} stream {} {launch:?}",
                syncs.start_ns[at], syncs.end_ns[at], syncs.sync_type[at], syncs.stream_id[at]
            ));
        }
    }
    for thread in &trace.threads {
        let process = &trace.processes[thread.process];
        let name = thread.name.map(|name| trace.name(name));
        let head = format!(
            "thread {} of {} {:?}",
            thread.global_tid,
            process.global_pid,
            process.name.map(|name| trace.name(name))
        );
        lines.push(format!("{head} named {name:?}"));
        lines.extend(
            thread.api.clone().map(|call| format!("{head} api {}", call_text(trace, &process.api, call as usize))),
        );
        lines.extend((0..thread.os.len()).map(|call| format!("{head} os {}", call_text(trace, &thread.os, call))));
        lines.extend(range_texts(trace, &thread.nvtx).map(|text| format!("{head} range {text}")));
        lines.extend(range_texts(trace, &thread.marks).map(|text| format!("{head} mark {text}")));
    }
    lines.sort();
    lines
}

fn call_text(trace: &Trace, calls: &CallTable, at: usize) -> String {
    format!("{:?} {}", calls.span(at), trace.name(calls.name[at]))
}

fn range_texts<'a>(trace: &'a Trace, ranges: &'a RangeTable) -> impl Iterator<Item = String> + 'a {
    (0..ranges.len()).map(|at| {
        format!(
            "{:?} '{}' {:?} open {} domain '{}' category '{}' colour {:?}",
            ranges.span(at),
            trace.name(ranges.name[at]),
            ranges.kind[at],
            ranges.open[at],
            trace.name(trace.domains[usize::from(ranges.domain[at])]),
            trace.name(trace.categories[usize::from(ranges.category[at])]),
            ranges.rgb(at),
        )
    })
}
