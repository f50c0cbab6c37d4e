//! Structured NVTX payloads: the values a program attached to a range, by the layout it registered.
//!
//! ```text
//!  0        8        16       24       32
//!  | domain | schema | bytes  |        | values ...
//! ```
//! Each header field takes 8 bytes, little-endian. Exports hold the values only when made with `--include-blobs=true`.

use super::schema::quoted;
use crate::trace::Field;
use rusqlite::Connection;

const HEADER_BYTES: usize = 32;

/// A value of a layout.
struct Entry {
    name: String,
    kind: i64,
    offset: Option<usize>,
}

/// The values in `blob` as fields; one field with its size when the layout is not known.
pub(crate) fn fields(connection: &Connection, tables: &[String], blob: &[u8]) -> Vec<Field> {
    let decoded = || -> Option<Vec<Field>> {
        let (domain, schema, bytes) = (u64_at(blob, 0)?, u64_at(blob, 8)?, u64_at(blob, 16)?);
        let values = blob.get(HEADER_BYTES..)?;
        let values = values.get(..usize::try_from(bytes).ok()?.min(values.len()))?;
        // The upper halves of the first two fields are padding.
        let entries = entries(connection, tables, (domain & 0xFFFF_FFFF) as i64, (schema & 0xFFFF_FFFF) as i64)?;
        let fields = decode(&entries, values);
        (!fields.is_empty()).then_some(fields)
    };
    decoded().unwrap_or_else(|| vec![Field { name: "binaryData".to_owned(), value: format!("{} bytes", blob.len()) }])
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
    let mut next = 0;
    let mut fields = Vec::with_capacity(entries.len());
    for entry in entries {
        let Some(number) = Number::of(entry.kind) else { continue };
        let at = entry.offset.unwrap_or_else(|| usize::next_multiple_of(next, number.bytes));
        next = at.saturating_add(number.bytes);
        if let Some(value) = values.get(at..next).map(|bytes| number.text(bytes)) {
            fields.push(Field { name: entry.name.clone(), value });
        }
    }
    fields
}

enum Form {
    Signed,
    Unsigned,
    Real,
}

/// How a number is laid out.
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

    fn text(&self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let unsigned = u64::from_le_bytes(wide);
        match self.form {
            Form::Unsigned => unsigned.to_string(),
            Form::Signed => {
                let unused = 64 - 8 * self.bytes as u32;
                ((unsigned << unused).cast_signed() >> unused).to_string()
            }
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
