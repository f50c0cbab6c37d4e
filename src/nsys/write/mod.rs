//! Writes exports with the tables and columns of a chosen nsys version.
//!
//! Rows are appended in one transaction to a file under a temporary name, which gets its own name at the end, so a
//! folder never holds half an export. Nothing depends on the clock of the machine: the same rows give the same bytes.
//! Cost: about 3 microseconds per row; memory holds the distinct strings and SQLite's page cache.

mod info;
mod rows;
mod schema;

pub use info::{CaptureInfo, GpuInfo, ProcessInfo, StreamInfo, ThreadInfo};
pub use rows::{
    ApiRow, EventRow, GraphRow, KernelRow, MemcpyRow, MemsetRow, MetricNameRow, MetricRow, NcclCall, NcclPayload,
    NvtxRow, OsRow, Place, RangeText, StringId, SyncRow,
};
pub use schema::SchemaVersion;

use rows::{Binder, Row};
use rusqlite::Connection;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Why an export could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The target is there already.
    #[error("{} exists already: choose another folder, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The file system refused.
    #[error("cannot write {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// SQLite refused.
    #[error("cannot write table {table} of {}: {error}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// What SQLite said.
        error: rusqlite::Error,
    },
    /// The version has no such table.
    #[error("nsys {} has no table {table}: choose a newer schema version", version.text())]
    NoTable {
        /// The version asked for.
        version: SchemaVersion,
        /// The table.
        table: &'static str,
    },
}

/// An export being written.
#[derive(Debug)]
pub struct ExportWriter {
    connection: Connection,
    version: SchemaVersion,
    target: PathBuf,
    /// Where the rows go until the end.
    part: PartFile,
    strings: FxHashMap<Box<str>, StringId>,
    created: BTreeSet<&'static str>,
}

/// A file that vanishes unless it was renamed.
#[derive(Debug)]
struct PartFile(Option<PathBuf>);

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // The error that led here matters more than this one.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl ExportWriter {
    /// Starts an export at `target`; the folder must exist. String `i` of `strings` has number [`FIRST_STRING`]` + i`.
    ///
    /// # Errors
    /// When the target exists and `overwrite` is false, or cannot be written.
    pub fn create(
        target: &Path,
        version: SchemaVersion,
        strings: &[String],
        overwrite: bool,
    ) -> Result<Self, WriteError> {
        if !overwrite && target.exists() {
            return Err(WriteError::Exists(target.to_owned()));
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let part = target.with_file_name(format!(".{name}.part"));
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(WriteError::Io { path: part, error });
            }
            _ => {}
        }
        let open = |error| WriteError::Sqlite { path: part.clone(), table: "sqlite_master", error };
        let connection = Connection::open(&part).map_err(open)?;
        let part_file = PartFile(Some(part.clone()));
        // A crash loses the part file only, so nothing has to survive one. Strings are written last, after their users.
        connection
            .execute_batch(
                "PRAGMA foreign_keys=OFF; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; \
                 PRAGMA cache_size=-1024; BEGIN",
            )
            .map_err(open)?;
        Ok(Self {
            connection,
            version,
            target: target.to_owned(),
            part: part_file,
            strings: strings.iter().zip(FIRST_STRING..).map(|(text, id)| (text.as_str().into(), id)).collect(),
            created: BTreeSet::new(),
        })
    }

    /// The number of `text` in the string table.
    fn string(&mut self, text: &str) -> StringId {
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        let id = FIRST_STRING + self.strings.len() as StringId;
        self.strings.insert(text.into(), id);
        id
    }

    /// Appends kernels.
    ///
    /// # Errors
    /// When SQLite refuses; so do the methods below.
    pub fn kernels(&mut self, rows: &[KernelRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends API calls.
    pub fn api_calls(&mut self, rows: &[ApiRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends memory copies.
    pub fn memcpys(&mut self, rows: &[MemcpyRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends memory fills.
    pub fn memsets(&mut self, rows: &[MemsetRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends graph executions.
    pub fn graphs(&mut self, rows: &[GraphRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends synchronisation records.
    pub fn syncs(&mut self, rows: &[SyncRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends recorded events.
    pub fn events(&mut self, rows: &[EventRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends NVTX ranges and domains.
    pub fn nvtx(&mut self, rows: &[NvtxRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends OS runtime calls.
    pub fn os_calls(&mut self, rows: &[OsRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends names of counters of the GPUs.
    pub fn metric_names(&mut self, rows: &[MetricNameRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Appends samples of counters of the GPUs.
    pub fn metrics(&mut self, rows: &[MetricRow]) -> Result<(), WriteError> {
        self.append(rows)
    }

    /// Adds strings and everything about the capture itself, then gives the file its name.
    ///
    /// # Errors
    /// When SQLite or the file system refuses; the folder then holds nothing of this export.
    pub fn finish(mut self, info: &CaptureInfo) -> Result<PathBuf, WriteError> {
        info::write(&mut self, info)?;
        self.write_strings()?;
        let Self { connection, target, mut part, .. } = self;
        let sqlite = |error| WriteError::Sqlite { path: target.clone(), table: "sqlite_master", error };
        connection.execute_batch("COMMIT").map_err(sqlite)?;
        connection.close().map_err(|(_, error)| sqlite(error))?;
        if let Some(path) = &part.0 {
            std::fs::rename(path, &target).map_err(|error| WriteError::Io { path: target.clone(), error })?;
        }
        part.0 = None;
        Ok(target)
    }

    fn append<R: Row>(&mut self, rows: &[R]) -> Result<(), WriteError> {
        if rows.is_empty() {
            return Ok(());
        }
        let table = self.ensure(R::TABLE)?;
        let (mut slots, mut names) = (Vec::with_capacity(R::COLUMNS.len()), Vec::new());
        for column in R::COLUMNS {
            let present = table.has(self.version, column);
            if present {
                names.push(*column);
            }
            slots.push(present.then_some(names.len()));
        }
        let marks = vec!["?"; names.len()].join(",");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", R::TABLE, names.join(","));
        let fail = |error| WriteError::Sqlite { path: self.target.clone(), table: R::TABLE, error };
        let mut statement = self.connection.prepare_cached(&sql).map_err(fail)?;
        for row in rows {
            row.bind(&mut Binder { statement: &mut statement, slots: &slots, next: 0 })
                .and_then(|()| statement.raw_execute())
                .map_err(fail)?;
        }
        Ok(())
    }

    /// Creates the table on its first row, as a lazy export does.
    fn ensure(&mut self, name: &'static str) -> Result<&'static schema::Table, WriteError> {
        let missing = WriteError::NoTable { version: self.version, table: name };
        let table = schema::table(name).filter(|t| t.exists(self.version)).ok_or(missing)?;
        if self.created.insert(name) {
            let fail = |error| WriteError::Sqlite { path: self.target.clone(), table: name, error };
            self.connection.execute_batch(&table.create(self.version)).map_err(fail)?;
        }
        Ok(table)
    }

    fn write_strings(&mut self) -> Result<(), WriteError> {
        let mut strings: Vec<(StringId, Box<str>)> = self.strings.drain().map(|(text, id)| (id, text)).collect();
        strings.sort_unstable_by_key(|(id, _)| *id);
        for (id, text) in strings {
            self.insert("StringIds", &[("id", &id), ("value", &&*text)])?;
        }
        Ok(())
    }

    /// Appends one row of a small table; columns that the version lacks are left out.
    fn insert(&mut self, table: &'static str, values: &[(&str, &dyn rusqlite::ToSql)]) -> Result<(), WriteError> {
        let schema = self.ensure(table)?;
        let (names, values): (Vec<&str>, Vec<&dyn rusqlite::ToSql>) =
            values.iter().filter(|(name, _)| schema.has(self.version, name)).copied().unzip();
        let marks = vec!["?"; names.len()].join(",");
        let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(","));
        let fail = |error| WriteError::Sqlite { path: self.target.clone(), table, error };
        self.connection.prepare_cached(&sql).and_then(|mut s| s.execute(&values[..])).map(drop).map_err(fail)
    }
}

/// The number of the first string; nsys uses those below itself.
pub const FIRST_STRING: StringId = 20;
