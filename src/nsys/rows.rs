//! Typed rows of a table in bulk: columns in, columns out.
//!
//! A [`Query`] names a table and the columns wanted; [`read`] fills a reusable [`Batch`] from a span of row numbers. All
//! bulk reading goes through here, so that another way to get at the rows (decoding database pages directly) can stand
//! behind the same two types.
//!
//! Cost: one prepared statement per connection and query; no allocation per row once the batch has grown to its size.

use super::connect::TOO_MUCH_WORK;
use super::schema::{Table, quoted};
use crate::format;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::ops::RangeInclusive;

/// Rows of a full batch, and row numbers that one reader takes at a time.
pub(crate) const BATCH_ROWS: usize = 8192;
/// A batch with this much text is full, however few its rows.
const BATCH_TEXT_BYTES: usize = 4 << 20;
/// Stands for a missing value in a column of whole numbers.
pub(crate) const NULL: i64 = i64::MIN;

/// Type of a wanted column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Whole numbers.
    Int,
    /// Text as bytes, in whatever encoding the file holds.
    Text,
}

/// Values of one column of a [`Batch`].
#[derive(Debug)]
pub(crate) enum Column {
    /// Whole numbers; [`NULL`] when missing.
    Int(Vec<i64>),
    /// Text.
    Text(TextColumn),
}

/// Texts, one after the other.
#[derive(Debug, Default)]
pub(crate) struct TextColumn {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    present: Vec<bool>,
}

impl TextColumn {
    fn push(&mut self, text: Option<&[u8]>) {
        self.bytes.extend_from_slice(text.unwrap_or_default());
        self.ends.push(self.bytes.len());
        self.present.push(text.is_some());
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end);
        let text = self.bytes.get(start..*self.ends.get(row)?)?;
        self.present.get(row)?.then_some(text)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.present.clear();
    }
}

/// Some rows of a table as columns, in the order the query names them.
#[derive(Debug)]
pub(crate) struct Batch {
    rows: usize,
    row_numbers: Vec<i64>,
    columns: Vec<Column>,
    odd: u64,
}

impl Batch {
    /// An empty batch for the rows of `query`.
    pub fn new(query: &Query) -> Self {
        let column = |kind: &ColumnKind| match kind {
            ColumnKind::Int => Column::Int(Vec::new()),
            ColumnKind::Text => Column::Text(TextColumn::default()),
        };
        Self { rows: 0, row_numbers: Vec::new(), columns: query.kinds.iter().map(column).collect(), odd: 0 }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Values that had to be bent into whole numbers (or could not be).
    pub fn odd(&self) -> u64 {
        self.odd
    }

    /// The number in column `column` of row `row`.
    pub fn int(&self, column: usize, row: usize) -> Option<i64> {
        match self.columns.get(column)? {
            Column::Int(values) => values.get(row).copied().filter(|value| *value != NULL),
            Column::Text(_) => None,
        }
    }

    /// The text in column `column` of row `row`.
    pub fn text(&self, column: usize, row: usize) -> Option<&[u8]> {
        match self.columns.get(column)? {
            Column::Text(values) => values.get(row),
            Column::Int(_) => None,
        }
    }

    /// The number of row `row` in its table, when it fits what the model keeps, else [`crate::trace::NONE`].
    pub fn row_number(&self, row: usize) -> u32 {
        self.row_numbers.get(row).and_then(|number| u32::try_from(*number).ok()).unwrap_or(crate::trace::NONE)
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.odd = 0;
        self.row_numbers.clear();
        for column in &mut self.columns {
            match column {
                Column::Int(values) => values.clear(),
                Column::Text(values) => values.clear(),
            }
        }
    }

    fn is_full(&self) -> bool {
        let text_bytes = |column: &Column| match column {
            Column::Int(_) => 0,
            Column::Text(values) => values.bytes.len(),
        };
        self.rows >= BATCH_ROWS
            || self.columns.iter().map(text_bytes).max().is_some_and(|most| most >= BATCH_TEXT_BYTES)
    }

    fn push(&mut self, row: &rusqlite::Row<'_>, numbered: bool) -> rusqlite::Result<()> {
        let first = usize::from(numbered);
        if numbered {
            self.row_numbers.push(row.get_ref(0)?.as_i64().unwrap_or(NULL));
        }
        for (at, column) in self.columns.iter_mut().enumerate() {
            let value = row.get_ref(at + first)?;
            match column {
                Column::Int(values) => values.push(match value {
                    ValueRef::Integer(number) => number,
                    ValueRef::Null => NULL,
                    other => {
                        self.odd += 1;
                        bent(other)
                    }
                }),
                Column::Text(values) => match value {
                    ValueRef::Null => values.push(None),
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => values.push(Some(bytes)),
                    ValueRef::Integer(number) => values.push(Some(number.to_string().as_bytes())),
                    ValueRef::Real(number) => values.push(Some(number.to_string().as_bytes())),
                },
            }
        }
        self.rows += 1;
        Ok(())
    }
}

/// What a value that is no whole number says as one.
#[cold]
fn bent(value: ValueRef<'_>) -> i64 {
    let whole = |number: f64| if number.is_finite() { number as i64 } else { NULL };
    match value {
        ValueRef::Integer(number) => number,
        ValueRef::Real(number) => whole(number),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes)
            .map(str::trim)
            .map_or(NULL, |text| text.parse().unwrap_or_else(|_| text.parse().map_or(NULL, whole))),
        ValueRef::Null | ValueRef::Blob(_) => NULL,
    }
}

/// Rows wanted of one table.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    kinds: Vec<ColumnKind>,
    select: String,
    filter: Option<String>,
    table: String,
    numbered: bool,
}

impl Query {
    /// The `columns` of `table`, each by the name the file gives it (or `None` when it has no such column: all missing).
    pub fn new(table: &Table, columns: &[(Option<&str>, ColumnKind)]) -> Self {
        let mut select: Vec<String> = Vec::with_capacity(columns.len() + 1);
        if table.numbered {
            select.push("rowid".to_owned());
        }
        select.extend(columns.iter().map(|(name, _)| name.map_or_else(|| "NULL".to_owned(), quoted)));
        Self {
            kinds: columns.iter().map(|(_, kind)| *kind).collect(),
            select: select.join(", "),
            filter: None,
            table: quoted(&table.name),
            numbered: table.numbered,
        }
    }

    /// Only rows whose number in `column` is one of `values`.
    pub fn only(mut self, column: &str, values: &[i64]) -> Self {
        let any: Vec<String> = values.iter().map(|value| format!("{} = {value}", quoted(column))).collect();
        self.filter = Some(format!("({})", any.join(" OR ")));
        self
    }

    /// True when the rows have numbers, so that they can be read in parts.
    pub fn numbered(&self) -> bool {
        self.numbered
    }

    /// First and last row number; `None` for an empty table. Touches only the edges of the table.
    pub fn bounds(&self, connection: &Connection) -> Result<Option<(i64, i64)>, RowError> {
        let sql = format!("SELECT (SELECT min(rowid) FROM {0}), (SELECT max(rowid) FROM {0})", self.table);
        let (first, last) =
            connection.query_row(&sql, [], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?)))?;
        Ok(first.zip(last))
    }

    fn sql(&self, part: bool) -> String {
        let mut wanted: Vec<&str> = Vec::new();
        if part {
            wanted.push("rowid BETWEEN ?1 AND ?2");
        }
        wanted.extend(self.filter.as_deref());
        let filter = if wanted.is_empty() { String::new() } else { format!(" WHERE {}", wanted.join(" AND ")) };
        // Without an order SQLite may walk an index instead, and rows come in another order.
        let order = if self.numbered { " ORDER BY rowid" } else { "" };
        format!("SELECT {} FROM {}{filter}{order}", self.select, self.table)
    }
}

/// Why rows could not be read, in SQLite's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RowError(pub String);

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => Self(TOO_MUCH_WORK.to_owned()),
            _ => Self(cause(&error)),
        }
    }
}

/// Longest cause in a message.
const CAUSE_CHARS: usize = 120;

/// What SQLite said, on one short line and without the statement it was asked.
pub(crate) fn cause(error: &rusqlite::Error) -> String {
    let said = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    };
    format::one_line(&said, CAUSE_CHARS)
}

/// Whether to go on reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// More, please.
    Continue,
    /// Enough.
    Stop,
}

/// Reads the rows of `query` with numbers in `part` (or all), handing `batch` to `full` whenever it is full and once at
/// the end. When reading fails, the rows before the failure have been handed over.
pub(crate) fn read(
    connection: &Connection,
    query: &Query,
    part: Option<RangeInclusive<i64>>,
    batch: &mut Batch,
    full: &mut dyn FnMut(&mut Batch) -> Flow,
) -> Result<(), RowError> {
    batch.clear();
    let outcome = fill(connection, query, part, batch, full);
    if batch.len() > 0 {
        full(batch);
    }
    outcome
}

fn fill(
    connection: &Connection,
    query: &Query,
    part: Option<RangeInclusive<i64>>,
    batch: &mut Batch,
    full: &mut dyn FnMut(&mut Batch) -> Flow,
) -> Result<(), RowError> {
    let mut statement = connection.prepare_cached(&query.sql(part.is_some()))?;
    let mut rows = match part {
        Some(part) => statement.query((part.start(), part.end()))?,
        None => statement.query([])?,
    };
    while let Some(row) = rows.next()? {
        batch.push(row, query.numbered)?;
        if batch.is_full() {
            if full(batch) == Flow::Stop {
                batch.clear();
                return Ok(());
            }
            batch.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::schema::Schema;
    use super::*;

    fn table(sql: &str) -> (Connection, Table) {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        let schema = Schema::read(&connection).unwrap();
        let table = schema.find(&connection, "t").unwrap().unwrap().table;
        (connection, table)
    }

    fn ints(connection: &Connection, query: &Query, part: Option<RangeInclusive<i64>>) -> Vec<Option<i64>> {
        let mut found = Vec::new();
        let mut batch = Batch::new(query);
        read(connection, query, part, &mut batch, &mut |batch| {
            found.extend((0..batch.len()).map(|row| batch.int(0, row)));
            Flow::Continue
        })
        .unwrap();
        found
    }

    #[test]
    fn whatever_stands_in_a_number_column_is_read_as_a_number_or_as_missing() {
        let (connection, table) = table(
            "CREATE TABLE t(a); INSERT INTO t VALUES (7), (NULL), (2.5), (' 12 '), ('1e3'), ('x'), (x'01'), (9e999);",
        );
        let query =
            Query::new(&table, &[(Some("a"), ColumnKind::Int), (Some("a"), ColumnKind::Text), (None, ColumnKind::Int)]);
        assert_eq!(ints(&connection, &query, None), [Some(7), None, Some(2), Some(12), Some(1000), None, None, None]);
        let mut batch = Batch::new(&query);
        read(&connection, &query, Some(2..=4), &mut batch, &mut |batch| {
            assert_eq!((batch.len(), batch.odd(), batch.row_number(0)), (3, 2, 2));
            assert_eq!(
                [batch.text(1, 0), batch.text(1, 1), batch.text(1, 2)],
                [None, Some(&b"2.5"[..]), Some(b" 12 ")]
            );
            assert_eq!(batch.int(2, 0), None);
            Flow::Continue
        })
        .unwrap();
    }

    #[test]
    fn parts_and_filters_pick_rows() {
        let (connection, table) = table("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3), (2), (1);");
        let query = Query::new(&table, &[(Some("a"), ColumnKind::Int)]);
        assert_eq!(query.bounds(&connection).unwrap(), Some((1, 5)));
        assert_eq!(ints(&connection, &query, Some(4..=9)), [Some(2), Some(1)]);
        assert_eq!(ints(&connection, &query.only("a", &[3, 1]), None), [Some(1), Some(3), Some(1)]);
    }

    #[test]
    fn full_batches_are_handed_over_and_reading_stops_when_asked() {
        let (connection, table) = table(&format!(
            "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO t SELECT i FROM n;",
            BATCH_ROWS * 2 + 1
        ));
        let query = Query::new(&table, &[(Some("a"), ColumnKind::Int)]);
        let mut sizes = Vec::new();
        read(&connection, &query, None, &mut Batch::new(&query), &mut |batch| {
            sizes.push(batch.len());
            Flow::Continue
        })
        .unwrap();
        assert_eq!(sizes, [BATCH_ROWS, BATCH_ROWS, 1]);
        let mut calls = 0;
        read(&connection, &query, None, &mut Batch::new(&query), &mut |_| {
            calls += 1;
            Flow::Stop
        })
        .unwrap();
        assert_eq!(calls, 1);
    }
}
