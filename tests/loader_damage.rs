//! Whatever an export lacks, or holds that it should not, gives the right answer or a clear warning; never a panic.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod loader_support;

use loader_support::{EVENT_TABLES, Export, P1, P2, codes, dump, shared_exports, warnings};
use rusqlite::Connection;
use std::path::Path;
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::trace::{Quantity, RowRef, TableKind, Trace};

fn tables(path: &Path) -> Vec<(String, Vec<String>)> {
    let connection = Connection::open(path).unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let tables = names(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'ENUM_%' AND name NOT LIKE 'sqlite_%'",
    );
    let columns = |table: &str| names(&format!("SELECT name FROM pragma_table_info('{table}')"));
    tables
        .into_iter()
        .map(|table| {
            let columns = columns(&table);
            (table, columns)
        })
        .collect()
}

/// The small export, and two small real ones with every kind of table between them.
fn originals() -> Vec<std::path::PathBuf> {
    let small = ["rtx3080_tiny_2026.1.sqlite", "tiny_two_processes.sqlite"];
    let picked = |path: &std::path::PathBuf| small.iter().any(|name| path.ends_with(name));
    shared_exports().into_iter().filter(picked).collect()
}

/// A column under an index cannot be dropped.
fn drop_indices(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let sql = "SELECT coalesce(group_concat('DROP INDEX \"' || name || '\";', ' '), '') FROM sqlite_master WHERE type = 'index' AND sql NOT NULL";
    let drop: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    connection.execute_batch(&drop).unwrap();
}

/// Events of each kind.
fn counts(trace: &Trace) -> [usize; 5] {
    let threads = || trace.threads.iter();
    [
        trace.gpu_ops(),
        trace.api_calls(),
        trace.nvtx_ranges(),
        threads().map(|thread| thread.marks.len()).sum(),
        threads().map(|thread| thread.os.len()).sum(),
    ]
}

#[test]
fn the_small_export_is_read_whole() {
    let trace = Export::made("").load().unwrap();
    assert_eq!(counts(&trace), [10, 8, 6, 2, 2]);
    assert_eq!(trace.ranks.len(), 2);
    assert_eq!(trace.ranks.iter().map(|rank| rank.syncs.start_ns.len()).collect::<Vec<_>>(), [1, 1]);
    let lines = dump(&trace).join("\n");
    for text in [
        "'gemm' 'void gemm<float>(float*)' stream 7",
        "'Memcpy HtoD' 'Memcpy HtoD' stream 13 bytes Some(4096)",
        "'CUDA graph'",
        "domain 'NCCL' category 'coll'",
        "domain 'mine' category 'coll'",
        "'step 1' PushPop open false domain '' category '' colour Some((0, 0, 255))",
        "'open' StartEnd open true",
        "Some(\"python 1\") named Some(\"main thread\")",
        "gpu Some(\"A100\")",
        "gpu Some(\"A40\")",
    ] {
        assert!(lines.contains(text), "{text} in\n{lines}");
    }
    assert_eq!(trace.gpus.len(), 2, "an adapter that cannot run CUDA is no GPU");
    assert_eq!(codes(&trace), ["graph-without-time", "diagnostic"], "{}", warnings(&trace));
}

#[test]
fn what_the_environment_held_is_nowhere() {
    let trace = Export::made("").load().unwrap();
    let all = format!(
        "{:?} {:?} {:?}",
        trace.source,
        trace.warnings,
        trace.names.iter().map(|(_, text)| text).collect::<Vec<_>>()
    );
    assert!(!all.contains("hunter2") && !all.contains("TOKEN"), "{all}");
}

#[test]
fn any_table_may_be_dropped() {
    let mut exports: Vec<Export> = originals().iter().map(|path| Export::copied(path, "SELECT 1")).collect();
    exports.push(Export::made(""));
    for original in exports {
        let whole = counts(&original.load().unwrap());
        for (table, _) in tables(&original.path) {
            let rows = Connection::open(&original.path).unwrap().query_row(
                &format!("SELECT count(*) FROM {table}"),
                [],
                |r| r.get::<_, i64>(0),
            );
            let trace = Export::copied(&original.path, &format!("DROP TABLE {table}")).load().unwrap();
            let left = counts(&trace);
            if EVENT_TABLES.contains(&table.as_str()) {
                let lost: usize = whole.iter().zip(left).map(|(whole, left)| whole - left).sum();
                assert!(rows == Ok(0) || lost > 0 || table.ends_with("SYNCHRONIZATION"), "{table}");
                let told = warnings(&trace);
                assert!(told.contains(&table) || table.ends_with("GRAPH_TRACE"), "{table}: {told}");
            } else {
                assert_eq!(left, whole, "{table}");
            }
            if table == "StringIds" {
                assert!(
                    warnings(&trace).contains("the names of kernels, API calls and registered NVTX texts are unknown")
                );
            }
        }
    }
}

#[test]
fn any_column_may_be_dropped_or_renamed() {
    let mut exports: Vec<Export> = originals().iter().map(|path| Export::copied(path, "SELECT 1")).collect();
    exports.push(Export::made(""));
    for original in exports {
        drop_indices(&original.path);
        let whole = original.load().unwrap();
        let known = warnings(&whole);
        for (table, columns) in tables(&original.path) {
            for column in columns.iter().filter(|_| columns.len() > 1) {
                // SQLite refuses to drop a key, and such columns are renamed below.
                let dropped = format!("ALTER TABLE {table} DROP COLUMN \"{column}\"");
                let renamed = format!("ALTER TABLE {table} RENAME COLUMN \"{column}\" TO was_here");
                let keyed = column == "id" && (table == "StringIds" || table == "ANALYSIS_FILE");
                for change in [dropped, renamed].iter().skip(usize::from(keyed)) {
                    let trace = Export::copied(&original.path, change).load().unwrap();
                    let told = warnings(&trace);
                    let named = told.contains(&format!("{table} has no column {column}"))
                        || told.contains(&format!("{table} cannot be used: it has no column {column}"))
                        || (table == "StringIds" && told.contains("no usable table StringIds"));
                    assert!(
                        named || dump(&trace) == dump(&whole) || !EVENT_TABLES.contains(&table.as_str()),
                        "{change}: {told}\n{known}"
                    );
                }
            }
        }
    }
}

#[test]
fn columns_that_numbers_rest_on_are_told_one_by_one() {
    let lost =
        |table: &str, column: &str| Export::made(&format!("ALTER TABLE {table} DROP COLUMN {column}")).load().unwrap();
    let trace = lost("CUPTI_ACTIVITY_KIND_KERNEL", "start");
    assert_eq!(counts(&trace)[0], 6, "copies, fills and graphs are left");
    let told = warnings(&trace);
    assert!(
        told.contains("table CUPTI_ACTIVITY_KIND_KERNEL cannot be used: it has no column start (it has end, deviceId"),
        "{told}"
    );
    assert!(told.contains("compute, communication and idle time, are unknown"), "{told}");

    let trace = lost("CUPTI_ACTIVITY_KIND_KERNEL", "correlationId");
    assert!(warnings(&trace).contains("cannot be joined to the API calls"), "{}", warnings(&trace));
    let trace = lost("CUPTI_ACTIVITY_KIND_KERNEL", "shortName");
    assert!(dump(&trace).iter().any(|line| line.contains("'void gemm<float>(float*)' 'void gemm<float>(float*)'")));
    let trace = lost("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName");
    assert!(dump(&trace).iter().any(|line| line.contains("'gemm' 'gemm'")));
    let trace = Export::made("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName; ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN shortName").load().unwrap();
    assert!(dump(&trace).iter().any(|line| line.contains("'_Z4gemm' '_Z4gemm'")), "the mangled name comes last");
    let trace = lost("TARGET_INFO_GPU", "cuDevice");
    assert!(trace.ranks.iter().all(|rank| rank.gpu.is_none()), "an id is no ordinal");
}

#[test]
fn work_without_a_process_goes_to_the_only_one() {
    let one = format!("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid >= {P2}; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE globalPid = {P2};
        DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET; DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid = {P2};");
    let whole = dump(&Export::made(&one).load().unwrap());
    let trace =
        Export::made(&format!("{one} ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid")).load().unwrap();
    assert_eq!(dump(&trace), whole);
    assert!(warnings(&trace).contains("counted to the only process"), "{}", warnings(&trace));
    // Of two processes neither is taken for granted.
    let trace = Export::made("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid").load().unwrap();
    assert!(trace.processes.iter().any(|process| process.global_pid == 0));
    assert!(warnings(&trace).contains("shown as a process of their own"), "{}", warnings(&trace));
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let shuffle = |table: &str| {
        format!(
            "CREATE TABLE shuffled AS SELECT * FROM {table} ORDER BY (rowid * 7919) % 1009, rowid DESC; DELETE FROM {table};
             INSERT INTO {table} SELECT * FROM shuffled; DROP TABLE shuffled;"
        )
    };
    let mut exports: Vec<Export> = shared_exports().iter().map(|path| Export::copied(path, "SELECT 1")).collect();
    exports.push(Export::made(""));
    for original in exports {
        let sql: String = tables(&original.path).iter().map(|(table, _)| shuffle(table)).collect();
        let (whole, shuffled) = (original.load().unwrap(), Export::copied(&original.path, &sql).load().unwrap());
        let (whole_lines, lines) = (dump(&whole), dump(&shuffled));
        assert_eq!(whole_lines.len(), lines.len());
        for (before, after) in whole_lines.iter().zip(&lines) {
            assert_eq!(before, after);
        }
        let sorted = |trace: &Trace| {
            let mut codes = codes(trace);
            codes.sort_unstable();
            codes
        };
        assert_eq!(sorted(&whole), sorted(&shuffled));
    }
}

#[test]
fn row_numbers_may_be_anything_and_tables_may_be_views() {
    let plain = dump(&Export::made("").load().unwrap());
    let scattered = Export::made("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = rowid * 1000000000000 - 3000000000000")
        .load()
        .unwrap();
    assert_eq!(dump(&scattered), plain);
    let ops = &scattered.ranks[0].ops;
    assert!((0..ops.len()).any(|op| ops.row.get(op).is_none()), "a number that does not fit is none");
    let changes = [
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO k; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM k",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL_V3",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL_V2;
         CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL2(start, end)",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN start TO \"START\"",
        "CREATE TABLE k(start, end, deviceId, streamId, correlationId, globalPid, shortName, demangledName, mangledName, PRIMARY KEY(start, globalPid)) WITHOUT ROWID;
         INSERT INTO k SELECT start, end, deviceId, streamId, correlationId, globalPid, shortName, demangledName, mangledName FROM CUPTI_ACTIVITY_KIND_KERNEL;
         DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; ALTER TABLE k RENAME TO CUPTI_ACTIVITY_KIND_KERNEL",
        "CREATE TABLE s(value TEXT, id INTEGER); INSERT INTO s SELECT value, id FROM StringIds ORDER BY value; DROP TABLE StringIds; ALTER TABLE s RENAME TO StringIds",
    ];
    for change in changes {
        let trace = Export::made(change).load().unwrap();
        assert_eq!(dump(&trace), plain, "{change}");
    }
    let told = warnings(&Export::made(changes[1]).load().unwrap());
    assert!(told.contains("table CUPTI_ACTIVITY_KIND_KERNEL_V3 is read as CUPTI_ACTIVITY_KIND_KERNEL"), "{told}");
    let view = Export::made(changes[0]).load().unwrap();
    let op = (0..view.ranks[0].ops.len())
        .find(|op| view.ranks[0].ops.kind[*op] == stepscope::trace::OpKind::Kernel)
        .unwrap();
    assert_eq!(view.ranks[0].ops.row.get(op), None, "rows of a view have no numbers");
}

#[test]
fn a_view_of_a_table_that_is_gone_is_told() {
    let broken = "ALTER TABLE OSRT_API RENAME TO o; CREATE VIEW OSRT_API AS SELECT * FROM o; DROP TABLE o";
    let trace = Export::made(broken).load().unwrap();
    assert!(warnings(&trace).contains("OSRT_API"), "{}", warnings(&trace));
    let broken = broken.replace("OSRT_API", "CUPTI_ACTIVITY_KIND_KERNEL");
    let told = Export::made(&broken).error();
    assert!(told.contains("table CUPTI_ACTIVITY_KIND_KERNEL") && told.contains("no such table"), "{told}");
}

/// A view in place of `table` that never runs out of rows, or never finds its first one.
fn endless(table: &str, filter: &str) -> String {
    format!(
        "ALTER TABLE {table} RENAME TO behind;
         CREATE VIEW {table} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT behind.* FROM n, (SELECT * FROM behind LIMIT 1) AS behind WHERE {filter}"
    )
}

#[test]
fn a_view_without_end_ends_with_a_message() {
    for filter in ["i > 0", "i < 0"] {
        let told = Export::made(&endless("CUPTI_ACTIVITY_KIND_KERNEL", filter)).error();
        assert!(told.contains("CUPTI_ACTIVITY_KIND_KERNEL") && told.contains("may have no end"), "{filter}: {told}");
        let trace = Export::made(&endless("OSRT_API", filter)).load().unwrap();
        assert!(warnings(&trace).contains("may have no end"), "{filter}: {}", warnings(&trace));
        let told = Export::made(&endless("StringIds", filter)).error();
        assert!(told.contains("StringIds") && told.contains("may have no end"), "{filter}: {told}");
    }
}

#[test]
fn ends_that_are_missing_or_early_are_told_and_counted() {
    let trace = Export::made("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = NULL WHERE rowid = 1; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 WHERE rowid = 2;
        UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = NULL WHERE rowid = 1; UPDATE NVTX_EVENTS SET end = start - 1 WHERE rowid = 1").load().unwrap();
    assert_eq!(counts(&trace), [8, 8, 5, 2, 2]);
    let told = warnings(&trace);
    assert!(
        told.contains("missing-end x1")
            && told.contains("end-before-start x1: GPU operation")
            && told.contains("end-before-start x1: NVTX range"),
        "{told}"
    );
}

#[test]
fn starts_that_are_missing_are_told_and_counted() {
    let trace = Export::made("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = NULL; UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = NULL WHERE rowid < 4;
        UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET start = 0, end = 0 WHERE rowid = 1").load().unwrap();
    assert_eq!(counts(&trace), [7, 5, 6, 2, 2]);
    let told = warnings(&trace);
    assert!(
        told.contains("missing-start x2: rows of table CUPTI_ACTIVITY_KIND_MEMCPY")
            && told.contains("missing-start x3")
            && told.contains("no-timestamps x1"),
        "{told}"
    );
}

#[test]
fn values_of_the_wrong_type_are_read_as_what_they_say() {
    let plain = dump(&Export::made("").load().unwrap());
    // A column without a type keeps text as text.
    let as_text = "CREATE TABLE k AS SELECT start || '' AS start, end || '' AS end, deviceId, streamId + 0.0 AS streamId, correlationId, globalPid, shortName, demangledName, mangledName FROM CUPTI_ACTIVITY_KIND_KERNEL;
        DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; ALTER TABLE k RENAME TO CUPTI_ACTIVITY_KIND_KERNEL";
    let trace = Export::made(as_text).load().unwrap();
    assert_eq!(dump(&trace), plain);
    assert!(warnings(&trace).contains("odd-value x12"), "{}", warnings(&trace));
    let trace = Export::made(&format!("{as_text}; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = x'00', end = 'soon'"))
        .load()
        .unwrap();
    assert_eq!(counts(&trace)[0], 6);
}

#[test]
fn launches_may_be_missing_or_doubled() {
    let trace = Export::made("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME").load().unwrap();
    assert_eq!(counts(&trace), [10, 0, 6, 2, 2]);
    assert!(trace.ranks.iter().all(|rank| (0..rank.ops.len()).all(|op| rank.ops.launch_of(op).is_none())));
    let doubled = format!("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (99, 111, 67, {}, 1, 6, 0)", P1 | 100);
    let trace = Export::made(&doubled).load().unwrap();
    let plain = Export::made("").load().unwrap();
    let ops = |trace: &Trace| dump(trace).into_iter().filter(|line| line.starts_with("rank")).collect::<Vec<_>>();
    assert_eq!(ops(&trace), ops(&plain), "the inner call stays the launch");
}

#[test]
fn equal_correlation_ids_of_two_processes_stay_apart() {
    let trace = Export::made("").load().unwrap();
    for rank in &trace.ranks {
        let api = &trace.processes[rank.process].api;
        let kernels = (0..rank.ops.len()).filter(|op| rank.ops.kind[*op] == stepscope::trace::OpKind::Kernel);
        let starts: Vec<i64> = kernels.map(|op| api.start_ns[rank.ops.launch_of(op).unwrap() as usize]).collect();
        let shift = if trace.processes[rank.process].global_pid == P1 { 0 } else { 10 };
        assert_eq!(starts, [100 + shift, 120 + shift]);
    }
}

#[test]
fn odd_names_are_kept_as_they_are() {
    let long = "k".repeat(10_000);
    let sql = format!(
        "UPDATE StringIds SET value = '{long}' WHERE id = 1; UPDATE StringIds SET value = 'a' || char(7, 10, 27) || 'b' WHERE id = 4;
         UPDATE StringIds SET value = CAST(x'6b65726eff656c' AS TEXT) WHERE id = 5; UPDATE NVTX_EVENTS SET text = CAST(x'73746570fe' AS TEXT) WHERE text = 'step 1';
         UPDATE PROCESSES SET name = CAST(x'cfe8f2eeed' AS TEXT); UPDATE TARGET_INFO_GPU SET name = CAST(x'41ff' AS TEXT);
         UPDATE META_DATA_EXPORT SET value = CAST(x'32ff' AS TEXT); UPDATE DIAGNOSTIC_EVENT SET text = CAST(x'ff' AS TEXT)"
    );
    let export = Export::made(&sql);
    let trace = export.load().unwrap();
    let lines = dump(&trace).join("\n");
    for text in [long.as_str(), "a\u{7}\n\u{1b}b", "kern\u{fffd}el", "'step\u{fffd}'", "A\u{fffd}"] {
        assert!(lines.contains(text), "{text:.40}");
    }
    let call = trace.details.fields(RowRef { table: TableKind::Api, row: 1 }).unwrap();
    assert!(call.iter().any(|field| field.value == "kern\u{fffd}el"), "{call:?}");
}

#[test]
fn names_that_are_not_in_the_file_are_counted() {
    let trace =
        Export::made("DELETE FROM StringIds WHERE id IN (1, 2); UPDATE OSRT_API SET nameId = -7").load().unwrap();
    assert!(warnings(&trace).contains("unknown-name x3"), "{}", warnings(&trace));
}

#[test]
fn captures_of_nothing_and_of_one_kernel_are_read() {
    let empty: String = EVENT_TABLES.iter().map(|table| format!("DELETE FROM {table};")).collect();
    let trace = Export::made(&empty).load().unwrap();
    assert_eq!((counts(&trace), trace.span, trace.ranks.len()), ([0; 5], None, 0));
    let trace = Export::made(&format!("{empty} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, globalPid, shortName, demangledName) VALUES (5, 9, 0, 7, {P1}, 1, 2)")).load().unwrap();
    assert_eq!(counts(&trace), [1, 0, 0, 0, 0]);
    let no_kernels = Export::made("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL").load().unwrap();
    assert_eq!(counts(&no_kernels)[0], 6);
}

#[test]
fn the_rank_comes_from_the_environment_when_it_is_unambiguous() {
    let one = format!(
        "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid = {P2}; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET; DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;"
    );
    let label = |values: &str| {
        Export::made(&format!("{one} INSERT INTO META_DATA_CAPTURE VALUES {values}")).load().unwrap().ranks[0]
            .label
            .clone()
    };
    assert_eq!(label("('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=\"13\"')"), "13");
    assert_eq!(
        label("('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=13'), ('PROCESS_1:ENVIRONMENT_VARIABLE', 'RANK=13')"),
        "13"
    );
    assert_eq!(
        label("('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=13'), ('PROCESS_1:ENVIRONMENT_VARIABLE', 'RANK=14')"),
        "0"
    );
    assert_eq!(
        label(
            "('PROCESS_0:ENVIRONMENT_VARIABLE', 'LOCAL_RANK=13'), ('OTHER', 'RANK=3'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=; rm')"
        ),
        "0"
    );
}

#[test]
fn the_card_of_a_process_is_its_own_ordinal() {
    // Each process sees one card, as its device 0.
    let sql = "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER, pid INTEGER);
         INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 100), (0, 0, 200);
         UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 0; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET deviceId = 0;
         UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET deviceId = 0; UPDATE CUPTI_ACTIVITY_KIND_GRAPH_TRACE SET deviceId = 0 WHERE deviceId = 1";
    let trace = Export::made(sql).load().unwrap();
    let names: Vec<&str> = trace.ranks.iter().map(|rank| trace.gpus[rank.gpu.unwrap()].name.as_str()).collect();
    assert_eq!(names, ["A100", "A40"]);
    let oldest = Export::made("DROP TABLE TARGET_INFO_GPU; CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId INTEGER, name TEXT); INSERT INTO TARGET_INFO_CUDA_GPU VALUES (1, 'V100'), (0, 'P100')").load().unwrap();
    let names: Vec<&str> = oldest.ranks.iter().map(|rank| oldest.gpus[rank.gpu.unwrap()].name.as_str()).collect();
    assert_eq!(names, ["P100", "V100"]);
}

#[test]
fn graphs_that_left_no_trace_are_told() {
    let sql = "DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE; UPDATE StringIds SET value = 'cudaGraphLaunch_v10000' WHERE id = 5;";
    assert!(codes(&Export::made(sql).load().unwrap()).contains(&"missing-graph-executions"));
    let node = format!("{sql} UPDATE META_DATA_CAPTURE SET value = 'Node' WHERE value = 'Graph'");
    assert!(!codes(&Export::made(&node).load().unwrap()).contains(&"missing-graph-executions"));
}

#[test]
fn the_wall_clock_follows_what_the_export_did_to_its_times() {
    let epoch = |values: &str| {
        Export::made(&format!("INSERT INTO META_DATA_EXPORT VALUES {values}")).load().unwrap().source.utc_epoch_ns
    };
    assert_eq!(epoch("('x', '')"), Some(1_700_000_000_000_000_000));
    assert_eq!(epoch("('EXPORT_PARAM_TIME_SHIFT', '100')"), Some(1_699_999_999_999_999_900));
    assert_eq!(epoch("('EXPORT_PARAM_TIME_NORMALIZE', 'true'), ('EXPORT_PARAM_TIME_SHIFT', '0')"), Some(0));
}

#[test]
fn payloads_are_shown_as_the_program_wrote_them() {
    let export = Export::made("");
    let trace = export.load().unwrap();
    let fields = trace.details.fields(RowRef { table: TableKind::Nvtx, row: 1 }).unwrap();
    let value = |name: &str| fields.iter().find(|field| field.name == name).map(|field| field.value.as_str());
    assert_eq!(value("uint64Value"), Some("18446744073709551615"));
    assert_eq!(
        (value("color"), value("eventType"), value("doubleValue")),
        (Some("#0000FF"), Some("NvtxPushPopRange"), None)
    );
    let copy = trace.details.fields(RowRef { table: TableKind::Memcpy, row: 1 }).unwrap();
    assert!(copy.iter().any(|field| field.value == "Host-to-Device"), "{copy:?}");
    for field in &copy {
        let number = || field.value.parse::<i64>().unwrap();
        let expected = match field.name.as_str() {
            "start" | "end" => Some(Quantity::Nanoseconds(number())),
            "bytes" => Some(Quantity::Bytes(number().unsigned_abs())),
            _ => None,
        };
        assert_eq!(field.quantity, expected, "{field:?}");
    }
}

#[test]
fn fields_of_a_file_that_was_replaced_are_refused() {
    let export = Export::made("");
    let trace = export.load().unwrap();
    let row = RowRef { table: TableKind::Kernel, row: 1 };
    assert!(trace.details.fields(row).is_ok());
    std::fs::write(&export.path, "something else").unwrap();
    let told = trace.details.fields(row).unwrap_err().0;
    assert!(told.contains("was changed, replaced or removed") && told.contains("Open it again"), "{told}");
    std::fs::remove_file(&export.path).unwrap();
    assert!(trace.details.fields(row).is_err());
}

#[test]
fn big_tables_read_by_several_threads_give_the_same_trace() {
    let many = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)";
    let export = Export::made(&format!(
        "{many} INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, shortName, demangledName)
            SELECT 1000 + i * 10, 1005 + i * 10, i % 2, 7 + i % 3, 10 + i, {P1}, 1 + i % 4, 2 FROM n;
         {many} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 900 + i * 10, 905 + i * 10, 0, {P1} | (100 + i % 3), 10 + i, 5, 0 FROM n;
         {many} INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) SELECT i * 10, i * 10 + 9, 59, 'op ' || i, {P1} | 100, i % 2 FROM n;
         DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid BETWEEN 9000 AND 30000"
    ));
    let with = |readers| {
        let trace = open(&export.path, &LoadOptions { readers: Some(readers) }, &Progress::new()).unwrap();
        (trace.ranks.iter().map(|rank| rank.ops.row.clone()).collect::<Vec<_>>(), dump(&trace))
    };
    let one = with(1);
    assert!(one.1.len() > 150_000);
    for readers in [2, 5] {
        assert!(with(readers) == one, "{readers} readers");
    }
}
