//! Which tables and columns an export has, by name only: nsys changes their order, leaves tables out, renames them with
//! a version, and people add columns of their own.

use rusqlite::Connection;

/// Tables and views of a database.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    names: Vec<String>,
}

/// A table or view that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// Name in the file.
    pub name: String,
    /// Columns in the file's order.
    pub columns: Vec<String>,
    /// True when rows have numbers: an ordinary table, no view and not WITHOUT ROWID.
    pub numbered: bool,
    /// Column that is the row number under another name.
    pub row_alias: Option<String>,
}

impl Table {
    /// The column called `name` in any case, as the file spells it.
    pub fn column(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|column| column.eq_ignore_ascii_case(name)).map(String::as_str)
    }
}

/// What [`Schema::find`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The table.
    pub table: Table,
    /// Another version of the same table that holds rows too and is not read.
    pub ignored: Option<String>,
}

impl Schema {
    /// Reads the names of all tables and views.
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let sql =
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut names = Vec::new();
        while let Some(row) = rows.next()? {
            if let Ok(bytes) = row.get_ref(0)?.as_bytes() {
                names.push(String::from_utf8_lossy(bytes).into_owned());
            }
        }
        Ok(Self { names })
    }

    /// All names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The table `base`, or a version of it (`base_V2`, `base_V3`): the exact name when it holds rows, else the highest
    /// version that does, else whichever is there.
    pub fn find(&self, connection: &Connection, base: &str) -> rusqlite::Result<Option<Found>> {
        let mut candidates: Vec<(u32, &str)> =
            self.names.iter().filter_map(|name| Some((version_of(name, base)?, name.as_str()))).collect();
        // The exact name (version 0) first, then the highest version.
        candidates.sort_by_key(|(version, _)| if *version == 0 { u32::MAX } else { *version });
        candidates.reverse();
        let mut with_rows = Vec::new();
        for (_, name) in &candidates {
            if candidates.len() == 1 || holds_rows(connection, name)? {
                with_rows.push(*name);
            }
        }
        let Some(name) = with_rows.first().copied().or(candidates.first().map(|(_, name)| *name)) else {
            return Ok(None);
        };
        let ignored = with_rows.get(1).map(|name| (*name).to_owned());
        Ok(describe(connection, name)?.map(|table| Found { table, ignored }))
    }
}

/// 0 when `name` is `base`, n when it is `base_Vn`, in any case.
fn version_of(name: &str, base: &str) -> Option<u32> {
    let (head, tail) = (name.get(..base.len())?, name.get(base.len()..)?);
    if !head.eq_ignore_ascii_case(base) {
        return None;
    }
    if tail.is_empty() {
        return Some(0);
    }
    let digits = tail.strip_prefix("_V").or_else(|| tail.strip_prefix("_v"))?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?.filter(|version| *version > 0)
}

fn holds_rows(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    connection.prepare(&format!("SELECT 1 FROM {} LIMIT 1", quoted(table)))?.exists([])
}

/// Columns and kind of a table; `None` when it has no columns that can be read (a broken view).
fn describe(connection: &Connection, name: &str) -> rusqlite::Result<Option<Table>> {
    let (mut columns, mut keys) = (Vec::new(), Vec::new());
    let mut statement = connection.prepare(&format!("PRAGMA table_info({})", quoted(name)))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |at: usize| -> rusqlite::Result<String> {
            Ok(row.get_ref(at)?.as_bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default())
        };
        let column = text(1)?;
        if row.get::<_, i64>(5).unwrap_or(0) > 0 {
            keys.push((column.clone(), text(2)?));
        }
        columns.push(column);
    }
    if columns.is_empty() {
        return Ok(None);
    }
    let mut statement = connection.prepare(&format!("PRAGMA table_list({})", quoted(name)))?;
    let mut rows = statement.query([])?;
    let mut numbered = false;
    while let Some(row) = rows.next()? {
        let ordinary = row.get_ref(2)?.as_bytes().is_ok_and(|kind| kind == b"table");
        numbered = ordinary && row.get::<_, i64>(4).unwrap_or(0) == 0 && !has_own_rowid(&columns);
    }
    let row_alias = match keys.as_slice() {
        [(column, declared)] if numbered && declared.eq_ignore_ascii_case("INTEGER") => Some(column.clone()),
        _ => None,
    };
    Ok(Some(Table { name: name.to_owned(), columns, numbered, row_alias }))
}

/// True when an ordinary column hides the row number.
fn has_own_rowid(columns: &[String]) -> bool {
    columns.iter().any(|column| column.eq_ignore_ascii_case("rowid"))
}

/// A name as an SQL identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(sql: &str) -> (Connection, Schema) {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        let schema = Schema::read(&connection).unwrap();
        (connection, schema)
    }

    #[test]
    fn versions_are_told_from_other_tables() {
        assert_eq!(version_of("MEMCPY", "MEMCPY"), Some(0));
        assert_eq!(version_of("memcpy_v3", "MEMCPY"), Some(3));
        assert_eq!(version_of("MEMCPY2", "MEMCPY"), None);
        assert_eq!(version_of("MEMCPY_V", "MEMCPY"), None);
        assert_eq!(version_of("MEMCPY_V2b", "MEMCPY"), None);
        assert_eq!(version_of("MEM", "MEMCPY"), None);
    }

    #[test]
    fn the_table_with_rows_wins_over_an_empty_one() {
        let (connection, schema) = database(
            "CREATE TABLE K(start); CREATE TABLE K_V2(start); CREATE TABLE K_V3(start, x); CREATE TABLE K2(start);
             INSERT INTO K_V2 VALUES (1); INSERT INTO K2 VALUES (1);",
        );
        let found = schema.find(&connection, "k").unwrap().unwrap();
        assert_eq!((found.table.name.as_str(), found.ignored), ("K_V2", None));
        connection.execute_batch("INSERT INTO K VALUES (1); INSERT INTO K_V3 VALUES (1, 1)").unwrap();
        let found = schema.find(&connection, "K").unwrap().unwrap();
        assert_eq!((found.table.name.as_str(), found.ignored.as_deref()), ("K", Some("K_V3")));
    }

    #[test]
    fn only_ordinary_tables_have_row_numbers() {
        let (connection, schema) = database(
            "CREATE TABLE a(id INTEGER PRIMARY KEY, v); CREATE TABLE b(id INTEGER PRIMARY KEY, v) WITHOUT ROWID;
             CREATE VIEW c AS SELECT * FROM a; CREATE TABLE d(rowid TEXT); CREATE TABLE e(\"we\"\"ird\" INT PRIMARY KEY);",
        );
        let table = |name: &str| schema.find(&connection, name).unwrap().unwrap().table;
        assert_eq!((table("a").numbered, table("a").row_alias.as_deref()), (true, Some("id")));
        assert!(!table("b").numbered && !table("c").numbered && !table("d").numbered);
        assert_eq!((table("e").numbered, table("e").row_alias), (true, None));
        assert_eq!(table("a").column("ID"), Some("id"));
        assert_eq!(schema.find(&connection, "nothing").unwrap(), None);
    }
}
