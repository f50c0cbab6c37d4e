//! Names by their number in `StringIds`, fetched when first asked for and remembered.
//!
//! Only texts that are asked for are kept: the table also holds what the program printed and the environment it ran in.
//! When numbers are asked for in ascending order, as ranges that carry a number of their own do, the next few texts are
//! read along in one go.
//! Cost: 4 bytes per number up to the highest below [`DENSE`], about 16 per number above; the texts are in [`Names`].

use super::connect::connect_with_budget;
use super::rows::RowError;
use super::schema::{Table, quoted};
use crate::trace::{NameId, Names};
use rusqlite::Connection;
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
    ahead: Ahead,
    dense: Vec<NameId>,
    sparse: FxHashMap<i64, NameId>,
    unknown: u64,
    overflow: u64,
    damage: Option<RowError>,
}

impl Strings {
    /// Looks texts up in `table` of the file at `path`, of `bytes` bytes; without a table every number is unknown.
    pub fn open(path: &Path, bytes: u64, table: Option<&Table>) -> rusqlite::Result<Self> {
        // One budget for all texts together: each row is read about once.
        let (connection, _) = connect_with_budget(path, bytes)?;
        let (mut sql, mut rows) = (None, None);
        let columns = table.and_then(|table| Some((table, table.column("id")?, table.column("value")?)));
        if let Some((table, id, value)) = columns {
            let (name, value) = (quoted(&table.name), quoted(value));
            let indexed = !table.numbered || table.row_alias.as_deref() == Some(id);
            let key = if indexed { quoted(id) } else { "rowid".to_owned() };
            sql = Some(format!("SELECT {key}, {value} FROM {name} WHERE {key} >= ?1 ORDER BY {key} LIMIT ?2"));
            if !indexed {
                rows = Some(row_of_each(&connection, &format!("SELECT {}, rowid FROM {name}", quoted(id)))?);
            }
        }
        Ok(Self {
            connection,
            sql,
            rows,
            ahead: Ahead::default(),
            dense: Vec::new(),
            sparse: FxHashMap::default(),
            unknown: 0,
            overflow: 0,
            damage: None,
        })
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

    /// How many texts no longer fitted into [`Names`].
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// Why texts could not be read, if that happened.
    pub fn damage(&self) -> Option<&RowError> {
        self.damage.as_ref()
    }

    fn fetch(&mut self, id: i64, names: &mut Names) -> NameId {
        match self.look_up(id) {
            Ok(Some(text)) => {
                let name = names.intern(&String::from_utf8_lossy(text));
                let lost = name == NameId::EMPTY && !text.is_empty();
                self.overflow += u64::from(lost);
                name
            }
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

    fn look_up(&mut self, id: i64) -> rusqlite::Result<Option<&[u8]>> {
        if self.damage.is_some() {
            return Ok(None);
        }
        let key = match &self.rows {
            Some(rows) => rows.get(&id).copied(),
            None => Some(id),
        };
        let (Some(key), Some(sql)) = (key, &self.sql) else { return Ok(None) };
        if !self.ahead.covers(key) {
            self.ahead.read(&self.connection, sql, key)?;
        }
        Ok(self.ahead.get(key))
    }
}

/// A few neighbouring texts, ordered by key.
#[derive(Debug, Default)]
struct Ahead {
    keys: Vec<i64>,
    ends: Vec<usize>,
    text: Vec<u8>,
    wanted: usize,
}

impl Ahead {
    /// Most texts that are read along.
    const MOST: usize = 512;
    /// A key this far behind the last ones still counts as the next.
    const NEAR: i64 = 1024;
    /// Texts are read along up to this many bytes.
    const TEXT_BYTES: usize = 1 << 20;

    /// True when `key` lies between the first and the last key, so that it is here or nowhere.
    fn covers(&self, key: i64) -> bool {
        self.keys.first().is_some_and(|first| *first <= key) && self.keys.last().is_some_and(|last| key <= *last)
    }

    fn get(&self, key: i64) -> Option<&[u8]> {
        let at = self.keys.binary_search(&key).ok()?;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end);
        self.text.get(start..*self.ends.get(at)?)
    }

    /// Reads the texts from `key` on: one, or twice as many as before when it follows those that are here.
    fn read(&mut self, connection: &Connection, sql: &str, key: i64) -> rusqlite::Result<()> {
        let distance = self.keys.last().and_then(|last| key.checked_sub(*last));
        let follows = distance.is_some_and(|distance| (1..=Self::NEAR).contains(&distance));
        self.wanted = if follows { (self.wanted * 2).min(Self::MOST) } else { 1 };
        self.keys.clear();
        self.ends.clear();
        self.text.clear();
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query((key, self.wanted as i64))?;
        while let Some(row) = rows.next()? {
            let Ok(key) = row.get_ref(0)?.as_i64() else { continue };
            self.text.extend_from_slice(row.get_ref(1)?.as_bytes_or_null().ok().flatten().unwrap_or_default());
            self.keys.push(key);
            self.ends.push(self.text.len());
            if self.text.len() > Self::TEXT_BYTES {
                break;
            }
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::super::schema::Schema;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Texts by number, in a file of their own; `create` says how the table is laid out.
    fn file(create: &str, texts: &BTreeMap<i64, String>) -> (tempfile::TempDir, Strings) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.sqlite");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(&format!("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; {create}; BEGIN"))
            .unwrap();
        // Not in the order of their numbers.
        for (id, text) in texts.iter().rev() {
            connection.execute("INSERT INTO StringIds(id, value) VALUES (?1, ?2)", (id, text)).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        let table = Schema::read(&connection).unwrap().find(&connection, "StringIds").unwrap().unwrap().table;
        let strings = Strings::open(&path, 0, Some(&table)).unwrap();
        (folder, strings)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_number_gives_its_text_whatever_the_order_of_questions(
            ids in prop::collection::btree_set(prop_oneof![0_i64..3000, -5_i64..5, 4_194_300_i64..4_194_310], 1..300),
            mut questions in prop::collection::vec(prop_oneof![0_i64..3000, -5_i64..5, 4_194_300_i64..4_194_310], 1..400),
            ascending: bool,
            layout in 0_usize..3,
        ) {
            let create = [
                "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)",
                "CREATE TABLE StringIds(value TEXT, id INTEGER)",
                "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT) WITHOUT ROWID",
            ];
            let texts: BTreeMap<i64, String> = ids.iter().map(|id| (*id, format!("text {id}"))).collect();
            let (_folder, mut strings) = file(create[layout], &texts);
            if ascending {
                questions.sort_unstable();
            }
            let mut names = Names::default();
            for id in &questions {
                let name = strings.name(*id, &mut names);
                prop_assert_eq!(names.get(name), texts.get(id).map_or("", String::as_str));
            }
            questions.sort_unstable();
            questions.dedup();
            let unknown = questions.iter().filter(|id| **id != 0 && !texts.contains_key(id)).count();
            prop_assert_eq!(strings.unknown(), unknown as u64);
        }
    }

    #[test]
    fn texts_that_were_only_read_along_are_not_kept() {
        let texts = (0..100).map(|id| (id, format!("text {id}"))).collect();
        let (_folder, mut strings) = file("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)", &texts);
        let mut names = Names::default();
        for id in [1, 2, 3, 4, 50] {
            strings.name(id, &mut names);
        }
        assert_eq!(names.len(), 6, "five texts and the empty one");
    }
}
