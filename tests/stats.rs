//! `stats`: NVIDIA's tables, compared row by row with a restatement of NVIDIA's reports over every real export, and the
//! command line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod support;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::stats::{Cell, Report, Request, Scope, Table, table};
use stepscope::trace::Trace;
use support::{shared, shared_exports, small_job, stepscope};
use tempfile::TempDir;

/// Runs the restatement over one export. Where NVIDIA's arithmetic goes wrong the answer is put right here, from the
/// same rows: `util` adds up merged spans, copies are joined within their process, directions are named without a table
/// of directions. A report whose tables are not there gives null.
const ORACLE: &str = r#"
import json, sys
ns = {"__name__": "oracle"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), ns)
db = ns["DB"](sys.argv[2])
def merged(groups):
    out = {}
    for key, spans in groups.items():
        rows = []
        for s, e in sorted(spans):
            if rows and s <= rows[-1][1]: rows[-1][1] = max(rows[-1][1], e)
            else: rows.append([s, e])
        out[key] = [tuple(r) for r in rows]
    return out
def util(db):
    ops = ns["gpu_ops"]
    ns["gpu_ops"] = lambda d: merged(ops(d))
    try: return ns["gpu_time_util"](db, 50, 30)
    finally: ns["gpu_ops"] = ops
LABELS = dict(enumerate(["Unknown", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array", "Array-to-Device",
    "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer"]))
def memory(db, size):
    K = "CUPTI_ACTIVITY_KIND_"
    if K + "MEMCPY" not in db.tables or "ENUM_CUDA_MEMCPY_OPER" in db.tables: return ns["mem_ops"](db, size)
    groups = {}
    for k, s, e, b in db.q(f"select copyKind,start,end,bytes from {K}MEMCPY"): groups.setdefault(f"[CUDA memcpy {LABELS[k]}]", []).append(b if size else e - s)
    if K + "MEMSET" in db.tables:
        for s, e, b in db.q(f"select start,end,bytes from {K}MEMSET"): groups.setdefault("[CUDA memset]", []).append(b if size else e - s)
    return ns["summary"](groups)
def lost(db):
    return db.q("""select end-start, start, (globalPid >> 24) & 0xFFFFFF, deviceId, contextId, streamId from CUPTI_ACTIVITY_KIND_MEMCPY m
        where (srcKind = 0 or dstKind = 0) and not exists (select 1 from CUPTI_ACTIVITY_KIND_RUNTIME r
            where r.correlationId = m.correlationId and (r.globalTid & ~0xFFFFFF) = m.globalPid)""")
reports = dict(ns["REPORTS"], gpu_time_util=util, cuda_gpu_mem_time_sum=lambda d: memory(d, False), cuda_gpu_mem_size_sum=lambda d: memory(d, True), lost=lost)
answers = {}
for name, report in reports.items():
    try: answers[name] = report(db)
    except Exception: answers[name] = None
json.dump(answers, sys.stdout)
"#;

/// Every report of the restatement; `None` without Python.
fn oracle(path: &Path) -> Option<Value> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/tools/stats_reference.py");
    let output = std::process::Command::new("python3").args(["-B", "-c", ORACLE]).arg(tool).arg(path).output();
    let Ok(output) = output else {
        println!("skipped: there is no python3");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn load(path: &Path) -> Trace {
    open(path, &LoadOptions::default(), &Progress::new()).unwrap()
}

fn json_of(cell: &Cell) -> Value {
    match cell {
        Cell::Int(number) => (*number).into(),
        Cell::Float(number) => (*number).into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Unknown => Value::Null,
    }
}

fn rows_of(table: &Table) -> Vec<Vec<Value>> {
    table.rows.iter().map(|row| row.iter().map(json_of).collect()).collect()
}

fn expected_rows(answer: &Value) -> Vec<Vec<Value>> {
    answer.as_array().unwrap().iter().map(|row| row.as_array().unwrap().clone()).collect()
}

/// Equal, numbers to a millionth; an empty text stands for none.
fn same(a: &Value, b: &Value) -> bool {
    let is_none = |v: &Value| v.is_null() || v.as_str() == Some("");
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * b.abs().max(1e-9),
        _ => a == b || (is_none(a) && is_none(b)),
    }
}

/// Compares rows whatever the order of equals; `order` is the column that sorts them.
fn compare(what: &str, found: &[Vec<Value>], expected: &[Vec<Value>], order: usize) {
    assert_eq!(found.len(), expected.len(), "{what}: number of rows");
    for (found, expected) in found.iter().zip(expected) {
        assert!(same(&found[order], &expected[order]), "{what}: order: {found:?} instead of {expected:?}");
    }
    let mut left: Vec<&Vec<Value>> = expected.iter().collect();
    for row in found {
        let equal = |other: &&Vec<Value>| row.len() == other.len() && row.iter().zip(*other).all(|(a, b)| same(a, b));
        let at = left.iter().position(equal).unwrap_or_else(|| panic!("{what}: {row:?} is not expected in {left:#?}"));
        left.swap_remove(at);
    }
}

/// A row of the restatement as the report shows it.
fn reshaped(report: Report, row: &[Value]) -> Vec<Value> {
    let mega = |value: &Value| Value::from(value.as_f64().unwrap() / 1e6);
    match report {
        Report::CudaGpuMemSizeSum => {
            let mut cells: Vec<Value> = row[1..8].iter().map(mega).collect();
            cells[1] = row[2].clone();
            cells.push(row[8].clone());
            cells
        }
        _ => row.to_vec(),
    }
}

#[test]
fn every_report_of_every_real_export_has_nvidias_rows() {
    let (mut compared, mut with_rows) = (0, BTreeSet::new());
    for path in shared_exports() {
        let Some(answers) = oracle(&path) else { return };
        let trace = load(&path);
        let scope = Scope::whole(&trace);
        for report in Report::ALL {
            let what = format!("{} {}", path.file_name().unwrap().display(), report.name());
            let found = table(&trace, &Request::new(report), &scope);
            let answer = &answers[report.name()];
            if answer.is_null() {
                assert!(
                    found.skipped.is_some() || found.rows.is_empty(),
                    "{what}: rows from tables that are not there"
                );
                continue;
            }
            let mut rows = rows_of(&found);
            if !rows.is_empty() {
                with_rows.insert(report);
            }
            let expected: Vec<Vec<Value>> = expected_rows(answer).iter().map(|row| reshaped(report, row)).collect();
            let order = match report {
                Report::CudaMemcpyAsync | Report::CudaMemcpySync => {
                    compare_copies(&what, &rows, &expected, &answers["lost"], report);
                    continue;
                }
                Report::GpuGaps | Report::GpuTimeUtil => {
                    rows.iter_mut().for_each(|row| {
                        row.remove(0);
                    });
                    0
                }
                Report::CudaKernExecSum => 5,
                Report::NvtxGpuProjSum => 2,
                Report::CudaGpuMemSizeSum | Report::CudaApiSync => 0,
                _ => 1,
            };
            compare(&what, &rows, &expected, order);
            compared += 1;
        }
    }
    if compared > 0 {
        assert!(compared >= 90 && with_rows.len() >= 11, "{compared} tables, rows in {with_rows:?}");
    }
}

/// A copy is listed once, with one of the calls that NVIDIA names; those without a call are listed in addition.
fn compare_copies(what: &str, found: &[Vec<Value>], expected: &[Vec<Value>], lost: &Value, report: Report) {
    // Duration, start, process, device, context, stream.
    let key = |row: &[Value]| [0, 1, 5, 6, 7, 8].map(|at| row[at].as_i64().unwrap());
    let expected_key = |row: &[Value]| [0, 1, 2, 3, 4, 5].map(|at| row[at].as_i64().unwrap());
    let (known, without): (Vec<_>, Vec<_>) = found.iter().partition(|row| !row[9].is_null());
    let keys: BTreeSet<_> = known.iter().map(|row| key(row)).collect();
    assert_eq!(keys.len(), known.len(), "{what}: a copy is listed twice");
    assert_eq!(keys, expected.iter().map(|row| expected_key(row)).collect(), "{what}");
    for row in known {
        assert!(expected.iter().any(|other| expected_key(other) == key(row) && other[6] == row[9]), "{what}: {row:?}");
    }
    let lost: BTreeSet<_> = match report {
        Report::CudaMemcpyAsync => expected_rows(lost).iter().map(|row| expected_key(row)).collect(),
        _ => BTreeSet::new(),
    };
    assert_eq!(without.iter().map(|row| key(row)).collect::<BTreeSet<_>>(), lost, "{what}: copies without a call");
    assert!(found.windows(2).all(|pair| pair[0][0].as_i64() >= pair[1][0].as_i64()), "{what}: longest first");
}

/// The words of a line such as `['a', '1.5', '']`.
fn words(line: &str) -> Vec<String> {
    let inner = line.strip_prefix("['").unwrap().strip_suffix("']").unwrap();
    inner.split("', '").map(str::to_owned).collect()
}

/// A row: every column's name and value.
type NamedRow = Vec<(String, String)>;

/// Report, settings and rows by column name, as nsys itself printed them.
fn nsys_answers(text: &str) -> Vec<(String, Vec<NamedRow>)> {
    let mut answers = Vec::new();
    for section in text.split("## ").skip(1) {
        let mut lines = section.lines();
        let name = lines.next().unwrap().trim().to_owned();
        let mut lines = lines.filter(|line| line.starts_with('['));
        let Some(head) = lines.next().map(words) else { continue };
        answers.push((name, lines.map(|line| head.iter().cloned().zip(words(line)).collect()).collect()));
    }
    answers
}

fn as_nsys_prints(column: &str, cell: &Cell) -> String {
    match cell {
        Cell::Int(number) => number.to_string(),
        Cell::Float(number) if column.contains("(MB)") => format!("{number:.3}"),
        Cell::Float(number) => format!("{number:.1}"),
        Cell::Text(text) => text.clone(),
        Cell::Unknown => String::new(),
    }
}

#[test]
fn two_processes_that_share_correlation_ids_give_what_nsys_printed() {
    let Some(folder) = shared() else { return };
    let path = folder.join("tiny_two_processes.sqlite");
    let Ok(text) = std::fs::read_to_string(path.with_extension("nsys.txt")) else {
        println!("skipped: the answers of nsys are not here");
        return;
    };
    let trace = load(&path);
    let mut checked = 0;
    for (name, mut expected) in nsys_answers(&text) {
        let mut request = match Request::parse(&name) {
            Ok(request) => request,
            // Traces, and reports that are not offered.
            Err(_) => continue,
        };
        request.gap_ns = 500_000_000;
        let found = table(&trace, &request, &Scope::whole(&trace));
        if matches!(request.report, Report::CudaMemcpyAsync | Report::CudaMemcpySync) {
            // nsys prints a row for each process that used the same correlation id.
            expected.sort();
            expected.dedup();
            assert_eq!(expected.len(), found.rows.len(), "{name}");
        }
        let shared_columns: Vec<usize> = (0..found.columns.len())
            .filter(|at| expected[0].iter().any(|(head, _)| head == found.columns[*at].name))
            .collect();
        assert!(shared_columns.len() >= found.columns.len().min(5), "{name}: columns have other names");
        let mut ours: Vec<Vec<(String, String)>> = found
            .rows
            .iter()
            .map(|row| {
                let cell = |at: &usize| {
                    let column = found.columns[*at].name;
                    (column.to_owned(), as_nsys_prints(column, &row[*at]))
                };
                shared_columns.iter().map(cell).collect()
            })
            .collect();
        let kept = |row: &Vec<(String, String)>| {
            let of = |at: &usize| row.iter().find(|(head, _)| head == found.columns[*at].name).unwrap().clone();
            shared_columns.iter().map(of).collect::<Vec<_>>()
        };
        let mut theirs: Vec<Vec<(String, String)>> = expected.iter().map(kept).collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{name}");
        checked += 1;
    }
    assert_eq!(checked, 7, "sections of the answers that were compared");
}

#[test]
fn an_open_range_an_overhead_and_a_cut_off_copy_are_in_the_real_exports() {
    for path in shared_exports() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let trace = load(&path);
        let copies = table(&trace, &Request::new(Report::CudaMemcpyAsync), &Scope::whole(&trace));
        match name.as_str() {
            "tiny_two_processes" => assert_eq!((trace.overheads.len(), copies.rows.len()), (1, 2)),
            "h100x2_ring_2026.2" => {
                assert_eq!(copies.rows.len(), 34, "33 with a call and one without");
                assert!(copies.notes[0].contains("1 of these copies"), "{:?}", copies.notes);
            }
            _ => {}
        }
    }
}

fn job() -> (TempDir, PathBuf) {
    let folder = small_job();
    let export = folder.path().join("job/rank0.sqlite");
    (folder, export)
}

fn run(folder: &TempDir, export: &Path, more: &[&str]) -> String {
    let output = stepscope(folder.path()).arg("stats").arg(export).args(more).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn json_holds_rows_by_column_name_and_says_what_columns_mean() {
    let (folder, export) = job();
    let all: Value = serde_json::from_str(&run(&folder, &export, &["--format", "json"])).unwrap();
    let reports = all["exports"][0]["reports"].as_array().unwrap();
    assert_eq!(reports.len(), Report::ALL.len());
    for report in reports {
        for column in report["columns"].as_array().unwrap() {
            assert!(!column["help"].as_str().unwrap().is_empty(), "{column}");
        }
    }
    let kernels = &reports[0];
    assert_eq!(kernels["report"], "cuda_gpu_kern_sum");
    let rows = kernels["rows"].as_array().unwrap();
    let total: f64 = rows.iter().map(|row| row["Time (%)"].as_f64().unwrap()).sum();
    assert!((total - 100.0).abs() < 1e-9, "{total}");
    assert!(rows[0]["Total Time (ns)"].is_i64() && rows[0]["Name"].is_string());
}

#[test]
fn a_single_csv_table_is_a_header_and_rows_with_names_quoted() {
    let (folder, export) = job();
    let text = run(&folder, &export, &["--report", "cuda_gpu_kern_sum", "--format", "csv"]);
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    assert_eq!(head, "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name");
    let names: Vec<&str> = lines.map(|line| line.splitn(9, ',').nth(8).unwrap()).collect();
    assert!(!names.is_empty() && names.iter().all(|name| !name.contains(',') || name.starts_with('"')), "{names:?}");
    let two = run(&folder, &export, &["--report", "cuda_api_sum,nvtx_sum:rows=1", "-f", "csv"]);
    assert!(two.starts_with("# cuda_api_sum, ") && two.contains("\n\n# nvtx_sum, "), "{two}");
}

#[test]
fn text_lines_up_and_tells_where_it_differs_from_nsys() {
    let (folder, export) = job();
    let text = run(&folder, &export, &[]);
    for report in Report::ALL {
        assert!(text.contains(report.name()), "{} is missing", report.name());
    }
    assert!(text.contains("Note: Use is the time during which anything ran"), "{text}");
    let cut = run(&folder, &export, &["--report", "cuda_gpu_kern_sum:rows=1"]);
    assert!(cut.contains("more: --report cuda_gpu_kern_sum:rows=N"), "{cut}");
}

#[test]
fn a_step_counts_what_overlaps_its_window() {
    let (folder, export) = job();
    let rows = |more: &[&str], key: &str| -> i64 {
        let mut arguments = vec!["--format", "json", "--report", "cuda_gpu_kern_sum"];
        arguments.extend(more);
        let all: Value = serde_json::from_str(&run(&folder, &export, &arguments)).unwrap();
        let rows = all["exports"][0]["reports"][0]["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row[key].as_i64().unwrap()).sum()
    };
    let output = stepscope(folder.path()).arg("report").arg(&export).arg("--json").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let step = &report["ranks"][0]["steps"][2];
    let (start, end) = (step["window_start_ns"].as_i64().unwrap(), step["window_end_ns"].as_i64().unwrap());
    let trace = load(&export);
    let ops = &trace.ranks[0].ops;
    let overlaps = |op: &usize| ops.start_ns[*op] < end && ops.end_ns[*op] > start;
    let kernels = (0..ops.len()).filter(|op| ops.kind[*op] == stepscope::trace::OpKind::Kernel).filter(overlaps);
    let number = step["number"].as_i64().unwrap().to_string();
    let counted = rows(&["--step", &number], "Instances");
    assert_eq!(counted, kernels.count() as i64);
    assert!(counted > 0 && counted < rows(&[], "Instances"));
    let first = trace.span.unwrap().start_ns;
    let span = format!("{}ns..{}ns", start - first, end - first);
    assert_eq!(rows(&["--span", &span], "Instances"), counted, "the same window as a span");
}

#[test]
fn what_cannot_be_answered_is_told() {
    let (folder, export) = job();
    let fails = |arguments: &[&str], words: &[&str]| {
        let output = stepscope(folder.path()).arg("stats").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(words.iter().all(|word| message.contains(word)), "{arguments:?}: {message}");
    };
    let export = export.to_str().unwrap();
    fails(&[], &["which export"]);
    fails(&[export, "--report", "kernels"], &["no report kernels", "cuda_gpu_kern_sum", "nvtx_sum"]);
    fails(&[export, "--report", "gpu_gaps:gap=x"], &["does not take gap=x", "gap=MS"]);
    fails(&[export, "--step", "99"], &["there is no step 99"]);
    fails(&[export, "--span", "90s..91s"], &["outside"]);
    fails(&[export, "--span", "5us..1us"], &["is empty"]);
    fails(&[export, "--span", "10..30"], &["with units"]);
}

#[test]
fn a_capture_without_what_a_report_needs_says_how_to_record_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("nvtx.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
             CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, globalTid INT, text TEXT, textId INT, domainId INT);
             INSERT INTO NVTX_EVENTS VALUES (10, 50, 59, 16777217, 'a \"b\", c', NULL, 0);",
        )
        .unwrap();
    drop(connection);
    let text = run(&folder, &path, &["--report", "cuda_gpu_kern_sum"]);
    assert!(text.contains("cuda_gpu_kern_sum  SKIPPED: needs kernels") && text.contains("--trace=cuda"), "{text}");
    let output =
        stepscope(folder.path()).arg("stats").arg(&path).args(["-f", "csv", "-r", "gpu_gaps"]).output().unwrap();
    assert!(output.stdout.is_empty() && String::from_utf8_lossy(&output.stderr).contains("SKIPPED"));
    let csv = run(&folder, &path, &["-f", "csv", "-r", "nvtx_sum"]);
    assert_eq!(csv.lines().nth(1), Some("100,40,1,40,40,40,40,0,PushPop,\"a \"\"b\"\", c\""));
}

#[test]
fn tables_go_to_a_file_in_the_form_of_its_ending_and_replace_only_their_like() {
    let folder = TempDir::new().unwrap();
    stepscope(folder.path())
        .args(["demo", "--ranks", "1", "--steps", "2", "--set", "layers=1", "-o", "job"])
        .assert()
        .success();
    let run = |more: &[&str]| {
        let args = ["stats", "job/rank0.sqlite", "-r", "cuda_gpu_kern_sum"];
        stepscope(folder.path()).args(args).args(more).output().unwrap()
    };
    let printed = |form: &str| String::from_utf8(run(&["--format", form]).stdout).unwrap();
    for (name, form, title) in [("a.csv", "csv", true), ("a.txt", "text", true), ("a.json", "json", false)] {
        for _again in 0..2 {
            let output = run(&["-o", name]);
            assert!(output.status.success() && output.stdout.is_empty(), "{name}: {output:?}");
            let written = std::fs::read_to_string(folder.path().join(name)).unwrap();
            let title = if title { "# stepscope stats\n" } else { "" };
            assert_eq!(written, format!("{title}{}", printed(form)), "{name}");
        }
    }
    // The flag goes before the ending.
    assert!(run(&["-f", "json", "-o", "a.csv"]).status.success());
    assert!(std::fs::read_to_string(folder.path().join("a.csv")).unwrap().starts_with('{'));
    assert_eq!(String::from_utf8(run(&["-f", "csv", "-o", "-"]).stdout).unwrap(), printed("csv"));
    assert!(!folder.path().join("-").exists());
    let other = "Time (%),Total Time (ns)\n";
    std::fs::write(folder.path().join("nsys.csv"), other).unwrap();
    assert_eq!(run(&["-o", "nsys.csv"]).status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(folder.path().join("nsys.csv")).unwrap(), other);
    let lost = run(&["-o", "none/a.csv"]);
    assert!(String::from_utf8(lost.stderr).unwrap().contains("there is no folder none"));
}
