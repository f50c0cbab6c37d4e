//! Every kind of file that is no whole export gives one clear message that says what it is and what to do; never a panic,
//! and never a write beside it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod loader_support;

use loader_support::{EVENT_TABLES, Export, error, load, shared_exports, warnings};
use rusqlite::Connection;
use std::path::Path;
use stepscope::nsys::{LoadError, LoadOptions, Progress, open};
use stepscope::trace::{RowRef, TableKind};

#[test]
fn what_is_no_export_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    // A folder whose own folder nobody else writes to: other tests do to that of temporary files.
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let noise: Vec<u8> = (0..4096_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let export = "nsys export --type sqlite --output";
    let cases: Vec<(std::path::PathBuf, Vec<&str>)> = vec![
        (folder.path().join("none.sqlite"), vec!["none.sqlite does not exist"]),
        (inner, vec!["is a folder", "Name the .sqlite file"]),
        (file("empty.sqlite", b""), vec!["empty.sqlite is empty (0 bytes)", export]),
        (file("notes.sqlite", b"step;ms\n1;30\n"), vec!["is a text file", export]),
        (file("noise.sqlite", &noise), vec!["is no SQLite database", "encrypted", export]),
        (file("run.nsys-rep", &noise), vec!["is an Nsight Systems report", "run.sqlite", "run.nsys-rep`"]),
        (file("run.qdrep", b"text"), vec!["is an Nsight Systems report", "run.qdrep`"]),
        (file("run.sqlite.gz", &[0x1f, 0x8b, 8, 0]), vec!["gzip-compressed", "gunzip"]),
        (file("run.zip", b"PK\x03\x04rest"), vec!["a zip archive", "unzip"]),
        (file("run.zst", &[0x28, 0xb5, 0x2f, 0xfd, 0]), vec!["zstd-compressed", "unzstd"]),
        (file("run.h5", b"\x89HDF\r\n"), vec!["an HDF5 export", "--type sqlite"]),
        (file("run.sqlite-wal", &[0x37, 0x7f, 6, 0x82, 0, 0]), vec!["its write-ahead log", "run.sqlite instead"]),
        (file("run.sqlite-shm", &noise), vec!["the index of its write-ahead log", "run.sqlite instead"]),
        (
            file("run.sqlite-journal", &[0xd9, 0xd5, 5, 0xf9, 0x20, 0xa1, 0x63, 0xd7]),
            vec!["its rollback journal", "run.sqlite instead"],
        ),
    ];
    for (path, expected) in cases {
        let told = error(&path);
        for text in expected {
            assert!(told.contains(text), "'{text}' is not in: {told}");
        }
        assert!(!told.contains('\n'), "one line: {told}");
    }
}

#[test]
fn damaged_and_cut_files_are_told() {
    let mut originals = shared_exports();
    let made = Export::made("");
    originals.push(made.path.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut 1.sqlite");
    for original in originals {
        let bytes = std::fs::read(original).unwrap();
        let mut flipped = bytes.clone();
        flipped[0] ^= 0xff;
        std::fs::write(&path, &flipped).unwrap();
        let told = error(&path);
        assert!(
            told.contains("damaged SQLite header (1 of its first 16 bytes are wrong)") && told.contains("'"),
            "{told}"
        );
        for keep in [bytes.len() / 2, bytes.len() - 1, 4096, 50] {
            std::fs::write(&path, &bytes[..keep]).unwrap();
            let told = error(&path);
            assert!(
                told.contains("is cut off: it should hold")
                    || keep == 50 && told.contains("it ends after 50 of 100 bytes"),
                "{told}"
            );
            assert!(told.contains("nsys export --type sqlite"), "{told}");
        }
    }
}

/// Overwrites the first page of a table with nonsense.
fn spoil(export: &Export, table: &str) {
    let (page, size): (u64, u64) = Connection::open(&export.path)
        .unwrap()
        .query_row(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = ?1",
            [table],
            |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)),
        )
        .unwrap();
    let mut bytes = std::fs::read(&export.path).unwrap();
    let start = ((page - 1) * size) as usize;
    bytes[start..start + size as usize].fill(0xAA);
    std::fs::write(&export.path, bytes).unwrap();
}

#[test]
fn a_damaged_page_stops_the_load_only_where_sums_would_be_wrong() {
    for table in EVENT_TABLES {
        let export = Export::made("");
        spoil(&export, table);
        if table == "OSRT_API" || table.ends_with("SYNCHRONIZATION") {
            let trace = export.load().unwrap();
            assert!(
                warnings(&trace).contains(&format!("damaged-table x1: table {table} is damaged")),
                "{}",
                warnings(&trace)
            );
        } else {
            let told = export.error();
            assert!(
                told.contains(&format!("is damaged in table {table}, after 0 rows")) && told.contains(".recover"),
                "{told}"
            );
        }
    }
    for table in ["ThreadNames", "PROCESSES", "TARGET_INFO_GPU", "DIAGNOSTIC_EVENT"] {
        let export = Export::made("");
        spoil(&export, table);
        assert!(warnings(&export.load().unwrap()).contains(&format!("table {table} is damaged")));
    }
    let export = Export::made("");
    spoil(&export, "StringIds");
    assert!(export.error().contains("is damaged in table StringIds"));
    let export = Export::made("");
    let mut bytes = std::fs::read(&export.path).unwrap();
    bytes[100..4096].fill(0xAA);
    std::fs::write(&export.path, bytes).unwrap();
    let told = export.error();
    assert!(told.contains("its schema (the table sqlite_master") && told.contains("malformed"), "{told}");
}

#[test]
fn a_damaged_schema_is_told_without_the_statement_that_met_it() {
    let broken = |sql: &str| {
        Export::made(&format!(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = '{sql}' WHERE name = 'StringIds'"
        ))
    };
    for sql in ["CREATE TABLE StringIds(((", "", "nonsense ".repeat(400).as_str()] {
        let export = broken(sql);
        let told = export.error();
        assert!(told.starts_with(&export.path.display().to_string()), "{told}");
        assert!(told.contains("is damaged: its schema (the table sqlite_master"), "{told}");
        assert!(told.contains("export again: `nsys export --type sqlite"), "{told}");
        assert!(!told.contains("SELECT") && !told.contains("PRAGMA"), "{told}");
        assert!(told.len() < 420 + 3 * export.path.display().to_string().len(), "{told}");
    }
}

#[test]
fn what_lies_before_a_damaged_page_is_counted_and_kept_where_it_may_be() {
    let many = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)";
    for (table, fatal) in [("CUPTI_ACTIVITY_KIND_RUNTIME", true), ("OSRT_API", false)] {
        let columns = "start, end, globalTid, nameId";
        let export = Export::made(&format!("{many} INSERT INTO {table}({columns}) SELECT i, i + 1, 1, 8 FROM n"));
        let mut bytes = std::fs::read(&export.path).unwrap();
        // A hole, as an interrupted copy leaves one, well behind the middle of the file.
        let hole = bytes.len() / 4096 * 3 / 4 * 4096;
        bytes[hole..hole + 4096].fill(0);
        std::fs::write(&export.path, bytes).unwrap();
        let rows = |told: &str, before: &str| -> u64 {
            let tail = told.split(before).nth(1).unwrap_or_else(|| panic!("{told}"));
            tail.split(' ').next().unwrap().replace('\u{2009}', "").parse().unwrap()
        };
        if fatal {
            let told = export.error();
            let kept = rows(&told, &format!("is damaged in table {table}, after "));
            assert!((20_000..50_000).contains(&kept), "{told}");
        } else {
            let trace = export.load().unwrap();
            let kept = rows(&warnings(&trace), "its first ");
            let found: usize = trace.threads.iter().map(|thread| thread.os.len()).sum();
            assert!((20_000..50_000).contains(&kept) && found as u64 == kept, "{found}: {}", warnings(&trace));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_log_beside_the_file_that_a_link_points_to_is_seen() {
    let export = Export::made("");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.sqlite");
    std::os::unix::fs::symlink(&export.path, &link).unwrap();
    assert!(load(&link).is_ok());
    let writer = Connection::open(&export.path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; DELETE FROM OSRT_API").unwrap();
    assert!(matches!(load(&link), Err(LoadError::Unmerged { .. })));
}

#[test]
fn bytes_changed_anywhere_never_end_the_program() {
    let whole = std::fs::read(&Export::made("").path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spoilt.sqlite");
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % below
    };
    let mut refused = 0;
    for _ in 0..150 {
        let mut bytes = whole.clone();
        for _ in 0..=next(20) {
            // Page headers and the cells at the end of pages matter most.
            let page = next(bytes.len() / 4096) * 4096;
            let at = page + [next(16), next(4096), 4095 - next(200)][next(3)];
            bytes[at.max(100)] = [0, 255, next(256) as u8][next(3)];
        }
        std::fs::write(&path, bytes).unwrap();
        match load(&path) {
            Ok(trace) => drop(trace.details.fields(RowRef { table: TableKind::Nvtx, row: 1 })),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("spoilt.sqlite"), "{error}");
            }
        }
    }
    assert!(refused > 20, "only {refused} of 150 were refused");
}

#[test]
fn other_databases_are_told_by_their_tables() {
    let told = Export::from_sql("CREATE TABLE customers(id); CREATE TABLE orders(id)").error();
    assert!(
        told.contains("is an SQLite database but no Nsight Systems export: it holds the tables customers, orders."),
        "{told}"
    );
    let told = Export::from_sql("CREATE TABLE t(a); DROP TABLE t").error();
    assert!(told.contains("it holds no table at all"), "{told}");
    let drop: String = EVENT_TABLES.iter().map(|table| format!("DROP TABLE {table};")).collect();
    let told = Export::made(&drop).error();
    assert!(told.contains("export without any event") && told.contains("--trace=cuda,nvtx,osrt"), "{told}");
    let rename: String =
        EVENT_TABLES.iter().map(|table| format!("ALTER TABLE {table} RENAME COLUMN start TO begin;")).collect();
    let told = Export::made(&rename).error();
    assert!(told.contains("table CUPTI_ACTIVITY_KIND_KERNEL cannot be used: it has no column start"), "{told}");
}

#[test]
fn databases_that_are_being_written_are_told() {
    // A write-ahead log with rows that the database does not hold yet.
    let export = Export::made("");
    let writer = Connection::open(&export.path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; DELETE FROM OSRT_API").unwrap();
    let told = export.error();
    assert!(told.contains("the newest rows are still in") && told.contains("wal_checkpoint(TRUNCATE)"), "{told}");
    drop(writer);
    // Closed properly it is whole, but it cannot be told whether a log is missing.
    assert!(!export.folder.path().join("export.sqlite-wal").exists());
    let told = export.error();
    assert!(told.contains("rows may be missing") && told.contains("PRAGMA journal_mode = DELETE"), "{told}");
    Connection::open(&export.path).unwrap().execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    assert!(export.load().is_ok(), "what the message says to do works");

    let export = Export::made("");
    let mut writer = Connection::open(&export.path).unwrap();
    let writing = writer.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive).unwrap();
    assert!(matches!(load(&export.path), Err(LoadError::Locked { .. })));
    writing.rollback().unwrap();
    drop(writer);
    // What an interrupted write leaves, and what a finished one may leave.
    let journal = export.folder.path().join("export.sqlite-journal");
    std::fs::write(&journal, [0; 512]).unwrap();
    assert!(export.load().is_ok());
    std::fs::write(&journal, [&[0xd9, 0xd5, 5, 0xf9, 0x20, 0xa1, 0x63, 0xd7][..], &[0; 504]].concat()).unwrap();
    let told = export.error();
    assert!(told.contains("is still being written") && told.contains("export.sqlite-journal"), "{told}");
}

#[test]
fn a_write_ahead_database_copied_without_its_log_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("live.sqlite"), folder.path().join("copy.sqlite"));
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; {}",
            loader_support::export_sql()
        ))
        .unwrap();
    std::fs::copy(&path, &copy).unwrap();
    let told = error(&copy);
    assert!(told.contains("copy.sqlite-wal") && told.contains("rows may be missing"), "{told}");
}

#[cfg(unix)]
#[test]
fn read_only_files_and_folders_are_read_and_unreadable_ones_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path, bits: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
    let export = Export::made("");
    mode(&export.path, 0o444);
    mode(export.folder.path(), 0o555);
    let outcome = export.load();
    mode(export.folder.path(), 0o755);
    assert!(outcome.is_ok());
    mode(&export.path, 0o000);
    // The superuser reads everything.
    match std::fs::read(&export.path) {
        Ok(_) => assert!(export.load().is_ok()),
        Err(_) => assert!(export.error().contains("may not be read by this user")),
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: no mkfifo");
        return;
    }
    assert!(error(&path).contains("not a regular file"));
}

#[test]
fn loading_can_be_cancelled() {
    let export = Export::made("");
    let progress = Progress::new();
    progress.cancel();
    assert!(matches!(open(&export.path, &LoadOptions::default(), &progress), Err(LoadError::Cancelled)));
}
