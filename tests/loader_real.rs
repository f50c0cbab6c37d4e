//! Every real export at hand: what is read equals what plain SQL and the reference arithmetic say.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod loader_support;

use loader_support::{Export, codes, dump, load, shared, shared_exports, warnings};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use stepscope::nsys::{LoadOptions, Progress, open, peek};
use stepscope::trace::{OpKind, RowRef, TableKind, Trace};

fn sql(path: &Path, question: &str) -> i64 {
    let uri = format!("file:{}?immutable=1", path.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags).unwrap();
    // A table that is not there holds nothing.
    connection.query_row(question, [], |row| row.get::<_, Option<i64>>(0)).ok().flatten().unwrap_or(0)
}

fn sum_of_kernel_ns(trace: &Trace) -> i64 {
    let each = |rank: &stepscope::trace::Rank| -> i64 {
        let kernels = (0..rank.ops.len()).filter(|op| rank.ops.kind[*op] == OpKind::Kernel);
        kernels.map(|op| rank.ops.span(op).len_ns()).sum()
    };
    trace.ranks.iter().map(each).sum()
}

#[test]
fn ranks_are_those_of_the_reference() {
    for path in shared_exports() {
        let reference = std::fs::read_to_string(path.with_extension("reference.json")).unwrap();
        let reference: serde_json::Value = serde_json::from_str(&reference).unwrap();
        let trace = load(&path).unwrap();
        let expected = reference["ranks"].as_array().unwrap();
        assert_eq!(trace.ranks.len(), expected.len(), "{}", path.display());
        for (rank, expected) in trace.ranks.iter().zip(expected) {
            let process = &trace.processes[rank.process];
            let count = |wanted: &dyn Fn(usize) -> bool| (0..rank.ops.len()).filter(|op| wanted(*op)).count();
            let hull = rank.ops.hull().unwrap();
            let name = |op: usize| trace.op_short_name(rank.ops.name[op]);
            let found = serde_json::json!({
                "global_pid": process.global_pid,
                "pid": process.pid,
                "device": rank.device,
                "kernels": count(&|op| rank.ops.kind[op] == OpKind::Kernel),
                "comm_kernels": count(&|op| name(op).starts_with("nccl")),
                "copies": count(&|op| matches!(rank.ops.kind[op], OpKind::Memcpy(_) | OpKind::Memset)),
                "graphs": count(&|op| rank.ops.kind[op] == OpKind::Graph),
                "start_ns": hull.start_ns,
                "end_ns": hull.end_ns,
            });
            for (key, value) in found.as_object().unwrap() {
                assert_eq!(value, &expected[key], "{key} of {}", path.display());
            }
        }
    }
}

#[test]
fn counts_and_sums_are_those_of_plain_sql() {
    for path in shared_exports() {
        let trace = load(&path).unwrap();
        let at = path.display();
        let count = |table: &str| sql(&path, &format!("SELECT count(*) FROM {table}"));
        assert_eq!(trace.api_calls() as i64, count("CUPTI_ACTIVITY_KIND_RUNTIME"), "{at}");
        let kernel_ns = sql(&path, "SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL");
        assert_eq!(sum_of_kernel_ns(&trace), kernel_ns, "{at}");
        let ranges = sql(
            &path,
            "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60, 70, 71) AND (end IS NULL OR end >= start)",
        );
        assert_eq!(trace.nvtx_ranges() as i64, ranges, "{at}");
        let marks: usize = trace.threads.iter().map(|thread| thread.marks.len()).sum();
        assert_eq!(marks as i64, sql(&path, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), "{at}");
        let os: usize = trace.threads.iter().map(|thread| thread.os.len()).sum();
        assert_eq!(os as i64, count("OSRT_API"), "{at}");
        let syncs: usize = trace.ranks.iter().map(|rank| rank.syncs.start_ns.len()).sum();
        assert_eq!(syncs as i64, count("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), "{at}");
        let launched: usize =
            trace.ranks.iter().map(|rank| rank.ops.launch.iter().filter(|l| **l != u32::MAX).count()).sum();
        let joined = ["KERNEL", "MEMCPY", "MEMSET"].map(|kind| {
            sql(
                &path,
                &format!(
                    "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{kind} o WHERE (o.correlationId, o.globalPid) IN
                 (SELECT correlationId, globalTid & ~16777215 FROM CUPTI_ACTIVITY_KIND_RUNTIME)"
                ),
            )
        });
        assert_eq!(launched as i64, joined.iter().sum::<i64>(), "{at}");
        for table in &trace.source.tables {
            assert_eq!(table.rows as i64, count(&table.table), "{at} {}", table.table);
        }
    }
}

#[test]
fn names_of_ranges_are_those_of_plain_sql() {
    for path in shared_exports() {
        let uri = format!("file:{}?immutable=1", path.display());
        let connection =
            Connection::open_with_flags(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI).unwrap();
        let Ok(mut statement) = connection.prepare(
            "SELECT n.start, n.globalTid, coalesce(n.text, s.value, '') FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
             WHERE n.eventType IN (59, 60, 70, 71) AND (n.end IS NULL OR n.end >= n.start)",
        ) else {
            continue;
        };
        let mut expected: Vec<(i64, i64, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let trace = load(&path).unwrap();
        let mut found: Vec<(i64, i64, String)> = Vec::new();
        for thread in &trace.threads {
            let ranges = &thread.nvtx;
            found.extend(
                (0..ranges.len())
                    .map(|at| (ranges.start_ns[at], thread.global_tid, trace.name(ranges.name[at]).to_owned())),
            );
        }
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{}", path.display());
    }
}

#[test]
fn cards_are_found_by_cuda_ordinal_not_by_id() {
    let Some(folder) = shared() else { return };
    let trace = load(&folder.join("a100_ddp_rank0_2023.4.sqlite")).unwrap();
    let gpu = &trace.gpus[trace.ranks[0].gpu.unwrap()];
    assert_eq!((gpu.name.as_str(), gpu.bus.as_deref()), ("NVIDIA A100-SXM4-40GB", Some("0000:03:00.0")));
    assert_eq!(
        (gpu.sm_count, gpu.compute_capability.as_deref(), gpu.memory_bytes),
        (Some(108), Some("8.0"), Some(42_350_739_456))
    );
    assert_eq!(trace.gpus.len(), 4);
    let trace = load(&folder.join("rtx4060ti_2026.1.sqlite")).unwrap();
    assert_eq!(trace.gpus[trace.ranks[0].gpu.unwrap()].name, "NVIDIA GeForce RTX 4060 Ti");
    // Ids without ordinals say nothing about which card is which.
    let trace = load(&folder.join("tiny_two_processes.sqlite")).unwrap();
    assert!(trace.ranks.iter().all(|rank| rank.gpu.is_none()));
    assert!(warnings(&trace).contains("has no column cuDevice"), "{}", warnings(&trace));
}

#[test]
fn facts_about_the_file_are_read() {
    let Some(folder) = shared() else { return };
    let path = folder.join("a100_ddp_rank0_2023.4.sqlite");
    let trace = load(&path).unwrap();
    let source = &trace.source;
    assert_eq!(source.product_version.as_deref(), Some("2023.4.4.54"));
    assert_eq!(source.schema_version.as_deref(), Some("3.7.2"));
    assert_eq!(source.utc_epoch_ns, Some(1_668_125_677_736_728_256));
    assert_eq!((source.cuda_graph_mode.as_deref(), source.host.as_deref()), (Some("Graph"), Some("nid001164")));
    assert_eq!((source.duration_ns, source.bytes), (Some(1_837_074_135), 1_015_808));
    assert_eq!(trace.ranks[0].label, "0", "the rank in the file name");
    let peeked = peek(&path).unwrap();
    assert_eq!(peeked.product_version, source.product_version);
    let rows = |tables: &[stepscope::trace::TableCount]| {
        let mut rows: Vec<(String, u64)> = tables.iter().map(|t| (t.table.clone(), t.rows)).collect();
        rows.sort();
        rows
    };
    assert_eq!(rows(&peeked.tables), rows(&source.tables), "row numbers of nsys exports have no holes");
    let old = load(&folder.join("a100_mpi_all_tables_2022.2.sqlite")).unwrap();
    assert_eq!(old.source.product_version.as_deref(), Some("2022.2.1.31"));
    let oldest = load(&folder.join("rtx6000_no_meta_2021.2.sqlite")).unwrap();
    assert_eq!((oldest.source.product_version.as_deref(), oldest.source.utc_epoch_ns), (None, None));
}

#[test]
fn threads_processes_domains_and_categories_carry_their_names() {
    let Some(folder) = shared() else { return };
    let lines = |name: &str| dump(&load(&folder.join(name)).unwrap()).join("\n");
    let ddp = lines("a100_ddp_rank0_2023.4.sqlite");
    assert!(ddp.contains("Some(\"python\") named Some(\"[DALI][WT]GPU executor\")"));
    assert!(ddp.contains("domain 'NCCL'") && ddp.contains("domain ''"), "domains");
    let kinds = lines("nvtx_every_kind_2023.4.sqlite");
    for text in [
        "named Some(\"main-named\")",
        "domain 'dömäin-wide'",
        "category 'compute-cat'",
        "category 'default-cat'",
        "StartEnd",
    ] {
        assert!(kinds.contains(text), "{text}");
    }
    let two = lines("two_processes_nvtx_osrt_2023.4.sqlite");
    assert!(two.contains("domain 'dataloader' category 'io'"), "a category's number is its domain's own");
    let sliced = load(&folder.join("h100x2_ring_2026.2.sqlite")).unwrap();
    assert!(codes(&sliced).contains(&"unnamed-domain"));
    assert!(sliced.domains.iter().any(|domain| sliced.name(*domain) == "domain 1"));
}

#[test]
fn complaints_of_nsys_are_passed_on_but_not_its_chatter() {
    let Some(folder) = shared() else { return };
    let said = warnings(&load(&folder.join("rtx4060ti_2026.1.sqlite")).unwrap());
    assert!(said.contains("nsys says: Not all NVTX events might have been collected."), "{said}");
    assert!(!said.contains("Profiling has started"), "{said}");
}

#[test]
fn rows_come_with_all_their_fields() {
    let Some(folder) = shared() else { return };
    let trace = load(&folder.join("a100_ddp_rank0_2023.4.sqlite")).unwrap();
    let fields = |table, row| trace.details.fields(RowRef { table, row }).unwrap();
    let value = |fields: &[stepscope::trace::Field], name: &str| {
        fields.iter().find(|f| f.name == name).map(|f| f.value.clone())
    };
    let ops = &trace.ranks[0].ops;
    let op = (0..ops.len()).find(|op| ops.kind[*op] == OpKind::Kernel).unwrap();
    let kernel = fields(TableKind::Kernel, ops.row.get(op).unwrap());
    assert_eq!(value(&kernel, "start"), Some(ops.start_ns[op].to_string()));
    assert_eq!(value(&kernel, "shortName").as_deref(), Some(trace.op_short_name(ops.name[op])));
    assert_eq!(value(&kernel, "globalPid").as_deref(), Some("282803463782400 (pid 79184)"));
    assert!(value(&kernel, "grid").unwrap().contains(" x 1 x 1"), "{kernel:?}");
    assert!(value(&kernel, "graphNodeId").is_none(), "fields without a value are left out");
    let copy = (0..ops.len()).find(|op| matches!(ops.kind[*op], OpKind::Memcpy(_))).unwrap();
    let copy = fields(TableKind::Memcpy, ops.row.get(copy).unwrap());
    assert!(value(&copy, "copyKind").unwrap().contains("-to-"), "{copy:?}");
    let call = fields(TableKind::Api, trace.processes[0].api.row.get(0).unwrap());
    assert!(value(&call, "nameId").unwrap().starts_with("cu"), "{call:?}");
    assert!(
        trace
            .details
            .fields(RowRef { table: TableKind::Kernel, row: 999_999 })
            .unwrap_err()
            .0
            .contains("no row 999999")
    );
    assert!(trace.details.fields(RowRef { table: TableKind::OsRuntime, row: 1 }).unwrap_err().0.contains("no table"));
}

#[test]
fn every_row_of_every_export_has_fields() {
    for path in shared_exports() {
        let trace = load(&path).unwrap();
        for thread in &trace.threads {
            let ranges = (0..thread.nvtx.len().min(20)).map(|at| thread.nvtx.row.get(at));
            let marks = (0..thread.marks.len().min(70)).map(|at| thread.marks.row.get(at));
            for row in ranges.chain(marks) {
                let row = RowRef { table: TableKind::Nvtx, row: row.unwrap() };
                let fields = trace.details.fields(row).unwrap();
                assert!(fields.iter().any(|field| field.name == "eventType"), "{}", path.display());
            }
        }
    }
}

#[test]
fn a_path_into_a_linked_or_odd_folder_is_read() {
    let Some(folder) = shared() else { return };
    let original = folder.join("rtx3080_tiny_2026.1.sqlite");
    let plain = dump(&load(&original).unwrap());
    let place = tempfile::tempdir().unwrap();
    let odd = place.path().join("a b ü 100% #1 ?x=1&y=2").join("räñk 0 'q\".sqlite");
    std::fs::create_dir(odd.parent().unwrap()).unwrap();
    std::fs::write(&odd, std::fs::read(&original).unwrap()).unwrap();
    assert_eq!(dump(&load(&odd).unwrap()), plain);
}

#[test]
fn progress_counts_every_row_and_names_the_table() {
    let Some(folder) = shared() else { return };
    let progress = Progress::new();
    open(&folder.join("a100_ddp_rank0_2023.4.sqlite"), &LoadOptions::default(), &progress).unwrap();
    assert!(progress.rows_done() >= progress.rows_total() && progress.rows_total() > 9000);
    assert!(!progress.table().is_empty());
}

#[test]
fn columns_and_tables_of_other_tools_change_nothing() {
    let Some(folder) = shared() else { return };
    let original = folder.join("a100_ddp_rank0_2023.4.sqlite");
    let plain = dump(&load(&original).unwrap());
    let changed = Export::copied(
        &original,
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN kernel_name TEXT; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET kernel_name = 'x';
         ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN name TEXT; CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY2(start, end);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY2 VALUES (1, 2); CREATE INDEX k ON CUPTI_ACTIVITY_KIND_KERNEL(start DESC, end)",
    );
    let mut found = dump(&changed.load().unwrap());
    // The rank came from the file's name.
    found.iter_mut().for_each(|line| *line = line.replace("export", "a100_ddp_rank0_2023.4"));
    assert_eq!(found, plain);
}
