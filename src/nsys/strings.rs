//! Names by their number in `StringIds`, fetched when first asked for and remembered.
//!
//! Only asked-for texts are read: the table also holds what the program printed and the environment it ran in.
//! Cost: 4 bytes per number up to the highest below [`DENSE`], about 16 per number above; the texts are in [`Names`].

use super::connect::connect;
use super::rows::RowError;
use super::schema::{Table, quoted};
use crate::trace::{NameId, Names};
use rusqlite::{Connection, OptionalExtension as _};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Numbers below this are looked up by index.
const DENSE: usize = 1 << 22;
const UNSEEN: NameId = NameId(u32::MAX);

/// The texts of one file by number.
#[derive(Debug)]
pub(crate) struct Strings {
    connection: Connection,
    sql: Option<String>,
    /// Row of each number, when the table has no index by number.
    rows: Option<FxHashMap<i64, i64>>,
    dense: Vec<NameId>,
    sparse: FxHashMap<i64, NameId>,
    /// Numbers that are not in the table.
    unknown: u64,
    damage: Option<RowError>,
}

impl Strings {
    /// Looks texts up in `table` of the file at `path`; without a table every number is unknown.
    pub fn open(path: &Path, table: Option<&Table>) -> rusqlite::Result<Self> {
        let connection = connect(path)?;
        let (mut sql, mut rows) = (None, None);
        let columns = table.and_then(|table| Some((table, table.column("id")?, table.column("value")?)));
        if let Some((table, id, value)) = columns {
            let name = quoted(&table.name);
            let indexed = !table.numbered || table.row_alias.as_deref() == Some(id);
            let key = if indexed { quoted(id) } else { "rowid".to_owned() };
            sql = Some(format!("SELECT {} FROM {name} WHERE {key} = ?1", quoted(value)));
            if !indexed {
                rows = Some(row_of_each(&connection, &format!("SELECT {}, rowid FROM {name}", quoted(id)))?);
            }
        }
        Ok(Self { connection, sql, rows, dense: Vec::new(), sparse: FxHashMap::default(), unknown: 0, damage: None })
    }

    /// The text with number `id`; empty when there is none, which is counted.
    pub fn name(&mut self, id: i64, names: &mut Names) -> NameId {
        let index = usize::try_from(id).ok().filter(|index| *index < DENSE);
        let known = match index {
            Some(index) => self.dense.get(index).copied(),
            None => self.sparse.get(&id).copied(),
        };
        if let Some(name) = known.filter(|name| *name != UNSEEN) {
            return name;
        }
        let name = self.fetch(id, names);
        match index {
            Some(index) => {
                if self.dense.len() <= index {
                    self.dense.resize(index + 1, UNSEEN);
                }
                if let Some(slot) = self.dense.get_mut(index) {
                    *slot = name;
                }
            }
            None => {
                self.sparse.insert(id, name);
            }
        }
        name
    }

    /// How many numbers were asked for that the table does not hold.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Why texts could not be read, if that happened.
    pub fn damage(&self) -> Option<&RowError> {
        self.damage.as_ref()
    }

    fn fetch(&mut self, id: i64, names: &mut Names) -> NameId {
        match self.look_up(id, names) {
            Ok(Some(name)) => name,
            // Old exports write 0 where they have nothing to say.
            Ok(None) => {
                self.unknown += u64::from(id != 0);
                NameId::EMPTY
            }
            Err(error) => {
                self.damage.get_or_insert_with(|| error.into());
                NameId::EMPTY
            }
        }
    }

    fn look_up(&self, id: i64, names: &mut Names) -> rusqlite::Result<Option<NameId>> {
        let Some(sql) = &self.sql else { return Ok(None) };
        let key = match &self.rows {
            Some(rows) => match rows.get(&id) {
                Some(row) => *row,
                None => return Ok(None),
            },
            None => id,
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        statement
            .query_row([key], |row| {
                let bytes = row.get_ref(0)?.as_bytes_or_null().ok().flatten().unwrap_or_default();
                Ok(names.intern(&String::from_utf8_lossy(bytes)))
            })
            .optional()
    }
}

fn row_of_each(connection: &Connection, sql: &str) -> rusqlite::Result<FxHashMap<i64, i64>> {
    let mut rows_by_id = FxHashMap::default();
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let (Ok(id), Ok(at)) = (row.get_ref(0)?.as_i64(), row.get_ref(1)?.as_i64()) {
            rows_by_id.entry(id).or_insert(at);
        }
    }
    Ok(rows_by_id)
}
