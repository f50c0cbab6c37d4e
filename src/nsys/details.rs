//! All fields of one row, fetched from the file when somebody looks at it.
//!
//! Cost: one look-up by row number and one per reference; the connection is opened at the first question and kept.

use super::check::FileFacts;
use super::connect::connect;
use super::payload;
use super::schema::{Table, quoted};
use crate::trace::{DetailError, DetailSource, Field, NONE, Quantity, RowRef, TableKind};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Columns that hold the number of a text.
const TEXT_NUMBERS: [&str; 6] = ["demangledName", "shortName", "mangledName", "nameId", "textId", "jsonTextId"];

/// Columns that hold the number of an enumeration's entry, and the tables that name it.
const ENUMERATIONS: [(&str, &[&str]); 14] = [
    ("copyKind", &["ENUM_CUDA_MEMCPY_OPER"]),
    ("srcKind", &["ENUM_CUDA_MEM_KIND"]),
    ("dstKind", &["ENUM_CUDA_MEM_KIND"]),
    ("memKind", &["ENUM_CUDA_MEM_KIND"]),
    // The misspelt name is that of 2022.4.
    ("launchType", &["ENUM_CUDA_KERNEL_LAUNCH_TYPE", "ENUM_CUDA_KRENEL_LAUNCH_TYPE"]),
    ("cacheConfig", &["ENUM_CUDA_FUNC_CACHE_CONFIG"]),
    ("sharedMemoryLimitConfig", &["ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG"]),
    ("migrationCause", &["ENUM_CUDA_UNIF_MEM_MIGRATION"]),
    ("syncType", &["ENUM_CUPTI_SYNC_TYPE"]),
    ("deprecatedSyncType", &["ENUM_CUPTI_SYNC_TYPE"]),
    ("overheadType", &["ENUM_CUPTI_OVERHEAD_TYPE"]),
    ("eventClass", &["ENUM_NSYS_EVENT_CLASS"]),
    ("eventType", &["ENUM_NSYS_EVENT_TYPE"]),
    ("unwindMethod", &["ENUM_STACK_UNWIND_METHOD"]),
];

/// Columns that hold nanoseconds.
const NANOSECONDS: [&str; 6] = ["start", "end", "timestamp", "queued", "submitted", "completed"];

/// Columns that hold bytes.
const BYTES: [&str; 6] = [
    "bytes",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "sharedMemoryExecuted",
    "localMemoryPerThread",
    "localMemoryTotal",
];

/// The number of a column as a quantity, when the column has a unit.
fn quantity(column: &str, number: i64) -> Option<Quantity> {
    let is_one_of = |columns: &[&str]| columns.iter().any(|known| known.eq_ignore_ascii_case(column));
    if is_one_of(&NANOSECONDS) {
        return Some(Quantity::Nanoseconds(number));
    }
    u64::try_from(number).ok().filter(|_| is_one_of(&BYTES)).map(Quantity::Bytes)
}

/// Fetches rows of an nsys export.
#[derive(Debug)]
pub(crate) struct NsysDetails {
    path: PathBuf,
    facts: FileFacts,
    names: Vec<String>,
    tables: Vec<(TableKind, Table)>,
    connection: Mutex<Option<Connection>>,
}

impl NsysDetails {
    /// Fetches rows of `tables` from the file at `path`, which holds tables `names`.
    pub fn new(path: PathBuf, facts: FileFacts, names: Vec<String>, tables: Vec<(TableKind, Table)>) -> Self {
        Self { path, facts, names, tables, connection: Mutex::new(None) }
    }

    fn error(&self, what: &str) -> DetailError {
        DetailError(format!("{} {what}", self.path.display()))
    }
}

impl DetailSource for NsysDetails {
    fn fields(&self, row: RowRef) -> Result<Vec<Field>, DetailError> {
        let table = self.tables.iter().find(|(kind, _)| *kind == row.table).map(|(_, table)| table);
        let table = table.ok_or_else(|| self.error("has no table for this row."))?;
        if row.row == NONE || !table.numbered {
            return Err(self.error(&format!(
                "keeps this row without a usable row number (table {}), so its fields cannot be fetched.",
                table.name
            )));
        }
        if !self.facts.still_hold(&self.path) {
            return Err(self.error("was changed, replaced or removed since it was loaded. Open it again."));
        }
        let failed = |error: rusqlite::Error| self.error(&format!("cannot be read: {error}."));
        // A connection stays usable whatever a thread that held it did.
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match slot.take() {
            Some(connection) => connection,
            None => connect(&self.path).map_err(failed)?,
        };
        let fields = Fetch { connection: &connection, names: &self.names }.fields(table, row.row).map_err(failed);
        *slot = Some(connection);
        fields?.ok_or_else(|| self.error(&format!("holds no row {} in table {}.", row.row, table.name)))
    }
}

struct Fetch<'a> {
    connection: &'a Connection,
    names: &'a [String],
}

impl Fetch<'_> {
    fn fields(&self, table: &Table, row: u32) -> rusqlite::Result<Option<Vec<Field>>> {
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
        let sql = format!("SELECT {} FROM {} WHERE rowid = ?1", columns.join(", "), quoted(&table.name));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([row])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let mut fields = Vec::new();
        let mut skip = 0;
        for (at, column) in table.columns.iter().enumerate() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if let Some(extent) = extent(&table.columns, at, row) {
                fields.push(extent);
                skip = 2;
                continue;
            }
            self.push(&mut fields, column, row.get_ref(at)?);
        }
        Ok(Some(fields))
    }

    fn push(&self, fields: &mut Vec<Field>, column: &str, value: ValueRef<'_>) {
        let mut unit = None;
        let value = match value {
            ValueRef::Null => return,
            ValueRef::Integer(number) => {
                unit = quantity(column, number);
                self.number(column, number)
            }
            // A 32-bit value was widened; its short form is the one the program wrote.
            ValueRef::Real(number) if column.eq_ignore_ascii_case("floatValue") => (number as f32).to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) if column.eq_ignore_ascii_case("binaryData") => {
                fields.extend(payload::fields(self.connection, self.names, bytes));
                return;
            }
            ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
        };
        fields.push(Field { name: column.to_owned(), value, quantity: unit });
    }

    fn number(&self, column: &str, number: i64) -> String {
        let is = |name: &&str| name.eq_ignore_ascii_case(column);
        if TEXT_NUMBERS.iter().any(is) {
            return self.look_up("StringIds", &["value"], number).unwrap_or_else(|| number.to_string());
        }
        if let Some((_, tables)) = ENUMERATIONS.iter().find(|(name, _)| is(name)) {
            let found = tables.iter().find_map(|table| self.look_up(table, &["label", "name"], number));
            return found.unwrap_or_else(|| number.to_string());
        }
        let key = |name: &str| column.eq_ignore_ascii_case(name);
        let pid = number >> 24 & 0xFF_FFFF;
        if key("globalTid") || key("endGlobalTid") {
            format!("{number} (pid {pid}, tid {})", number & 0xFF_FFFF)
        } else if key("globalPid") {
            format!("{number} (pid {pid})")
        } else if key("uint64Value") {
            number.cast_unsigned().to_string()
        } else if key("uint32Value") {
            (number & 0xFFFF_FFFF).to_string()
        } else if key("color") {
            format!("#{:06X}", number & 0xFF_FFFF)
        } else {
            number.to_string()
        }
    }

    /// The first non-empty of `columns` in row `id` of `table`.
    fn look_up(&self, table: &str, columns: &[&str], id: i64) -> Option<String> {
        let table = self.names.iter().find(|name| name.eq_ignore_ascii_case(table))?;
        columns.iter().find_map(|column| {
            let sql = format!("SELECT {} FROM {} WHERE id = ?1", quoted(column), quoted(table));
            let mut statement = self.connection.prepare_cached(&sql).ok()?;
            let text = statement.query_row([id], |row| {
                Ok(row
                    .get_ref(0)?
                    .as_bytes_or_null()
                    .ok()
                    .flatten()
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
            });
            text.optional().ok()??.filter(|text| !text.is_empty())
        })
    }
}

/// Three neighbouring columns such as gridX, gridY, gridZ as one field.
fn extent(columns: &[String], at: usize, row: &rusqlite::Row<'_>) -> Option<Field> {
    let stem = columns.get(at)?.strip_suffix('X')?;
    let axis = |step: usize, letter: &str| columns.get(at + step)?.strip_prefix(stem).filter(|tail| *tail == letter);
    axis(1, "Y").zip(axis(2, "Z"))?;
    let size = |step: usize| row.get_ref(at + step).ok()?.as_i64().ok();
    let value = format!("{} x {} x {}", size(0)?, size(1)?, size(2)?);
    Some(Field::plain(stem, value))
}
