//! Structured NVTX payloads: the values a program attached to a range, by the layout it registered.
//!
//! One row's values are shown as fields ([`fields`]); those of communication calls are read in bulk ([`CommLayouts`]).
//!
//! ```text
//!  0        8        16       24       32
//!  | domain | schema | bytes  |        | values ...
//! ```
//! Each header field takes 8 bytes, little-endian. Exports hold the values only when made with `--include-blobs=true`.

use super::error::LoadError;
use super::load::Load;
use super::plan::{WantedColumn, required, spare, wanted_text};
use super::schema::quoted;
use crate::trace::{CommCall, Field};
use rusqlite::Connection;
use rustc_hash::FxHashMap;

const HEADER_BYTES: usize = 32;

/// A value of a layout.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    kind: i64,
    offset: Option<usize>,
}

/// The values in `blob` as fields; one field with its size when the layout is not known.
pub(crate) fn fields(connection: &Connection, tables: &[String], blob: &[u8]) -> Vec<Field> {
    let decoded = || -> Option<Vec<Field>> {
        let ((domain, schema), values) = parts(blob)?;
        let entries = entries(connection, tables, domain, schema)?;
        let fields = decode(&entries, values);
        (!fields.is_empty()).then_some(fields)
    };
    decoded().unwrap_or_else(|| vec![Field::plain("binaryData", format!("{} bytes", blob.len()))])
}

/// Domain and schema of a payload, and its values.
fn parts(blob: &[u8]) -> Option<((i64, i64), &[u8])> {
    let (domain, schema, bytes) = (u64_at(blob, 0)?, u64_at(blob, 8)?, u64_at(blob, 16)?);
    let values = blob.get(HEADER_BYTES..)?;
    let values = values.get(..usize::try_from(bytes).ok()?.min(values.len()))?;
    // The upper halves of the first two fields are padding.
    Some((((domain & 0xFFFF_FFFF) as i64, (schema & 0xFFFF_FFFF) as i64), values))
}

/// The layout; its rows are repeated once per process.
fn entries(connection: &Connection, tables: &[String], domain: i64, schema: i64) -> Option<Vec<Entry>> {
    let table = tables.iter().find(|name| name.eq_ignore_ascii_case("NVTX_PAYLOAD_SCHEMA_ENTRIES"))?;
    let sql = format!(
        "SELECT name, type, offset FROM {} WHERE domainId = ?1 AND schemaId = ?2 GROUP BY idx ORDER BY idx",
        quoted(table)
    );
    let mut statement = connection.prepare_cached(&sql).ok()?;
    let rows = statement.query_map([domain, schema], |row| {
        let name = row.get_ref(0)?.as_bytes_or_null().ok().flatten().unwrap_or_default();
        let offset = row.get_ref(2)?.as_i64().ok().and_then(|offset| usize::try_from(offset).ok());
        Ok(Entry {
            name: String::from_utf8_lossy(name).into_owned(),
            kind: row.get_ref(1)?.as_i64().unwrap_or(0),
            offset,
        })
    });
    rows.ok()?.collect::<Result<_, _>>().ok()
}

fn decode(entries: &[Entry], values: &[u8]) -> Vec<Field> {
    let field = |(entry, number, at): (&Entry, Number, usize)| {
        let value = number.text(values.get(at..at.checked_add(number.bytes)?)?);
        Some(Field::plain(entry.name.clone(), value))
    };
    placed(entries).filter_map(field).collect()
}

/// The numbers among `entries`, each with its place in the values; one without a place follows the one before.
fn placed(entries: &[Entry]) -> impl Iterator<Item = (&Entry, Number, usize)> {
    let mut next = 0_usize;
    entries.iter().filter_map(move |entry| {
        let number = Number::of(entry.kind)?;
        let at = entry.offset.or_else(|| next.checked_next_multiple_of(number.bytes))?;
        next = at.saturating_add(number.bytes);
        Some((entry, number, at))
    })
}

/// Layouts of the payloads of communication calls, by domain and schema.
#[derive(Debug, Default)]
pub(crate) struct CommLayouts(FxHashMap<(i64, i64), Vec<PlacedValue>>);

/// A value of a payload, how it is stored, and at which byte.
type PlacedValue = (CommValue, Number, usize);

/// Values of a communication call that the model keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommValue {
    Communicator,
    Bytes,
    Peer,
    Root,
    Reduction,
    Ranks,
    Rank,
}

impl CommValue {
    /// What an entry holds, by the name NCCL registers it under.
    fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Some(match name.as_str() {
            "rank" => Self::Rank,
            "root" => Self::Root,
            "no. of ranks" => Self::Ranks,
            "reduction operation" => Self::Reduction,
            name if name.contains("communicator") && !name.contains("parent") => Self::Communicator,
            name if name.starts_with("message size") => Self::Bytes,
            name if name.starts_with("peer") => Self::Peer,
            _ => return None,
        })
    }
}

const ENTRY_COLUMNS: &[WantedColumn] = &[
    required("domainId"),
    required("schemaId"),
    required("idx"),
    required("type"),
    wanted_text("name", "values of NVTX payloads are unknown"),
    spare("offset"),
];

impl CommLayouts {
    /// Picks the layouts that name a communicator out of all that the file registers.
    pub fn read(load: &mut Load<'_>) -> Result<Self, LoadError> {
        let mut entries: Vec<((i64, i64), i64, Entry)> = Vec::new();
        load.side_rows("NVTX_PAYLOAD_SCHEMA_ENTRIES", ENTRY_COLUMNS, "Message sizes are unknown.", |_, batch, row| {
            let int = |column| batch.int(column, row);
            let (Some(domain), Some(schema), Some(index)) = (int(0), int(1), int(2)) else { return };
            let name = String::from_utf8_lossy(batch.text(4, row).unwrap_or_default()).into_owned();
            let offset = int(5).and_then(|offset| usize::try_from(offset).ok());
            entries.push(((domain, schema), index, Entry { name, kind: int(3).unwrap_or(0), offset }));
        })?;
        entries.sort_by_key(|(key, index, _)| (*key, *index));
        entries.dedup_by_key(|(key, index, _)| (*key, *index));
        let mut layouts = FxHashMap::default();
        for rows in entries.chunk_by(|a, b| a.0 == b.0) {
            let Some((key, ..)) = rows.first() else { continue };
            let layout: Vec<Entry> = rows.iter().map(|(.., entry)| entry.clone()).collect();
            let known =
                placed(&layout).filter_map(|(entry, number, at)| Some((CommValue::of(&entry.name)?, number, at)));
            let values: Vec<_> = known.collect();
            if values.iter().any(|(value, ..)| *value == CommValue::Communicator) {
                layouts.insert(*key, values);
            }
        }
        Ok(Self(layouts))
    }

    /// The values in `blob`, when it is the payload of a communication call.
    pub fn decode(&self, blob: &[u8]) -> Option<CommCall> {
        let (key, values) = parts(blob)?;
        let mut call = CommCall::default();
        for (value, number, at) in self.0.get(&key)? {
            let Some(bytes) = at.checked_add(number.bytes).and_then(|end| values.get(*at..end)) else { continue };
            let (unsigned, small) = (number.bits(bytes), number.signed(bytes).and_then(|n| i32::try_from(n).ok()));
            match value {
                CommValue::Communicator => call.communicator = Some(unsigned),
                CommValue::Bytes => call.bytes = Some(unsigned),
                CommValue::Peer => call.peer = small,
                CommValue::Root => call.root = small,
                CommValue::Reduction => call.reduction = small,
                CommValue::Ranks => call.ranks = small,
                CommValue::Rank => call.rank = small,
            }
        }
        call.communicator.map(|_| call)
    }
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Signed,
    Unsigned,
    Real,
}

/// How a number is laid out.
#[derive(Debug, Clone, Copy)]
struct Number {
    bytes: usize,
    form: Form,
}

impl Number {
    /// Types by the numbers of the NVTX payload header; what is no single number is left out.
    fn of(kind: i64) -> Option<Self> {
        let (bytes, form) = match kind {
            1 | 11 => (1, Form::Signed),
            2 | 12 => (1, Form::Unsigned),
            3 | 13 => (2, Form::Signed),
            4 | 14 => (2, Form::Unsigned),
            5 | 15 => (4, Form::Signed),
            6 | 16 => (4, Form::Unsigned),
            7 | 9 | 17 => (8, Form::Signed),
            8 | 10 | 18 | 22 | 23 => (8, Form::Unsigned),
            19 => (4, Form::Real),
            20 => (8, Form::Real),
            // Enumerations that the program registered.
            kind if kind >= 1 << 24 => (4, Form::Signed),
            _ => return None,
        };
        Some(Self { bytes, form })
    }

    /// The bytes as a number without a sign.
    fn bits(self, bytes: &[u8]) -> u64 {
        let mut wide = [0; 8];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(wide)
    }

    /// The whole number in `bytes`.
    fn signed(self, bytes: &[u8]) -> Option<i64> {
        match self.form {
            Form::Unsigned => i64::try_from(self.bits(bytes)).ok(),
            Form::Signed => {
                let unused = 64 - 8 * self.bytes as u32;
                Some((self.bits(bytes) << unused).cast_signed() >> unused)
            }
            Form::Real => None,
        }
    }

    fn text(self, bytes: &[u8]) -> String {
        let unsigned = self.bits(bytes);
        match self.form {
            Form::Unsigned => unsigned.to_string(),
            Form::Signed => self.signed(bytes).unwrap_or(0).to_string(),
            Form::Real if self.bytes == 4 => f32::from_bits(unsigned as u32).to_string(),
            Form::Real => f64::from_bits(unsigned).to_string(),
        }
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(domain: u64, schema: u64, values: &[u8]) -> Vec<u8> {
        let header = [domain, schema, values.len() as u64, 0];
        header.iter().flat_map(|field| field.to_le_bytes()).chain(values.iter().copied()).collect()
    }

    #[test]
    fn values_are_read_by_the_registered_layout() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, type, name, offset);
                 INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES
                    (1, 16777226, 1, 22, 'Message size [bytes]', 8), (1, 16777226, 2, 5, 'Peer rank', 16),
                    (1, 16777226, 0, 18, 'NCCL communicator ID', NULL), (1, 16777226, 0, 18, 'NCCL communicator ID', NULL);",
            )
            .unwrap();
        let tables = ["NVTX_PAYLOAD_SCHEMA_ENTRIES".to_owned()];
        let values: Vec<u8> = [u64::MAX.to_le_bytes(), 4096_u64.to_le_bytes(), (-2_i64).to_le_bytes()].concat();
        let found = fields(&connection, &tables, &blob(1, 16_777_226, &values));
        let texts: Vec<(&str, &str)> = found.iter().map(|f| (f.name.as_str(), f.value.as_str())).collect();
        assert_eq!(
            texts,
            [("NCCL communicator ID", "18446744073709551615"), ("Message size [bytes]", "4096"), ("Peer rank", "-2")]
        );
        let unknown = fields(&connection, &tables, &blob(1, 5, &values));
        assert_eq!(unknown[0].value, "56 bytes");
        assert_eq!(fields(&connection, &tables, &[1, 2])[0].value, "2 bytes");
    }
}
