//! Summary tables as text for a terminal, as CSV and as JSON.

use super::table::aligned;
use crate::format;
use crate::stats::{Cell, Column, Report, Table, Unit};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Longest name shown in a text table; CSV and JSON hold names whole.
const NAME_CHARS: usize = 100;

/// The tables of one export.
#[derive(Debug, Clone)]
pub struct ExportTables {
    /// The export.
    pub path: String,
    /// Which rows count, in words: `whole capture`, `step 3`, `10ms..25ms`.
    pub scope: String,
    /// One table a report.
    pub tables: Vec<Table>,
}

/// Tables as text.
pub fn stats_text(exports: &[ExportTables]) -> String {
    let mut text = String::new();
    for export in exports {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("{}  ({})\n", export.path, export.scope));
        for table in &export.tables {
            text.push('\n');
            text.push_str(&table_text(table));
        }
    }
    text
}

fn table_text(table: &Table) -> String {
    let name = table.report.name();
    if let Some(reason) = skipped(table) {
        return format!("{name}  {reason}\n");
    }
    let mut text = format!("{name}  {}\n", table.report.title());
    if table.rows.is_empty() {
        text.push_str("  none\n");
    } else {
        let left: Vec<bool> = table.columns.iter().map(|column| column.unit == Unit::Text).collect();
        let mut rows = vec![table.columns.iter().map(|column| column.name.to_owned()).collect()];
        let line =
            |cells: &Vec<Cell>| table.columns.iter().zip(cells).map(|(column, cell)| shown(column, cell)).collect();
        rows.extend(table.rows.iter().map(line));
        text.push_str(&aligned("  ", &rows, &left));
    }
    if table.left_out > 0 {
        let more = format::count(table.left_out as u64);
        text.push_str(&format!("  and {more} more: --report {name}:rows=N, --format csv or json show them\n"));
    }
    for note in table.notes.iter().map(String::as_str).chain(table.report.differs()) {
        text.push_str(&format!("  Note: {note}\n"));
    }
    text
}

fn skipped(table: &Table) -> Option<String> {
    table.skipped.map(|skipped| format!("SKIPPED: needs {}; {}", skipped.needs, skipped.remedy))
}

/// A cell as a person reads it.
fn shown(column: &Column, cell: &Cell) -> String {
    match cell {
        Cell::Int(number) if column.unit == Unit::Number => number.to_string(),
        Cell::Int(number) => format::integer(*number),
        Cell::Float(number) if column.unit == Unit::Megabytes => format::decimal(*number, 3),
        Cell::Float(number) => format::decimal(*number, 1),
        Cell::Text(text) => format::one_line(text, NAME_CHARS),
        Cell::Unknown => format::UNKNOWN.to_owned(),
    }
}

/// Tables as CSV (RFC 4180, lines end with a line feed). A single table is nothing but its header and rows; of several
/// each has a line `# report, export, scope` above it and a blank line between them.
pub fn stats_csv(exports: &[ExportTables]) -> String {
    let alone = exports.iter().map(|export| export.tables.len()).eq([1]);
    let mut text = String::new();
    for (export, table) in exports.iter().flat_map(|export| export.tables.iter().map(move |table| (export, table))) {
        if !alone {
            if !text.is_empty() {
                text.push('\n');
            }
            let end = skipped(table).map(|reason| format!(", {reason}")).unwrap_or_default();
            let path = format::one_line(&export.path, usize::MAX);
            text.push_str(&format!("# {}, {path}, {}{end}\n", table.report.name(), export.scope));
        }
        if table.skipped.is_none() {
            text.push_str(&csv_line(table.columns.iter().map(|column| column.name.to_owned())));
            for row in &table.rows {
                text.push_str(&csv_line(row.iter().map(plain)));
            }
        }
    }
    text
}

/// A cell as a program reads it.
fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Int(number) => number.to_string(),
        Cell::Float(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Unknown => String::new(),
    }
}

fn csv_line(fields: impl Iterator<Item = String>) -> String {
    let quoted = |field: String| {
        let plain = !field.contains([',', '"', '\n', '\r']) && field.trim() == field;
        if plain { field } else { format!("\"{}\"", field.replace('"', "\"\"")) }
    };
    fields.map(quoted).collect::<Vec<String>>().join(",") + "\n"
}

/// What is to be told of reports that gave no table, one line each.
pub fn stats_skipped(exports: &[ExportTables]) -> Vec<String> {
    let of = |export: &ExportTables| {
        let line = |table: &Table| Some(format!("{}: {} {}", export.path, table.report.name(), skipped(table)?));
        export.tables.iter().filter_map(line).collect::<Vec<String>>()
    };
    exports.iter().flat_map(of).collect()
}

/// All reports with what they show, take, and do otherwise than NVIDIA's: for `--help`.
pub fn stats_help() -> String {
    let mut text = String::from("Reports (the names and meanings of nsys stats and nsys analyze):\n");
    for report in Report::ALL {
        let settings = report.settings();
        text.push_str(&format!("  {}\n      {}; {settings}.\n", report.name(), report.title()));
        if let Some(differs) = report.differs() {
            text.push_str(&format!("      {differs}\n"));
        }
    }
    text.push_str(
        "\nSettings follow the name: --report gpu_gaps:gap=5:rows=10\n\
         A table counts one file: all its processes, devices and streams together.\n\
         With --step or --span a row counts when it overlaps the span, and then whole: nothing is clipped.\n\
         Host rows of a step are those that overlap its window on the GPU. A kernel keeps its launching call wherever \
         that is; in nvtx_gpu_proj_sum a range counts when its GPU time overlaps.\n\
         Time (%) is a share of the rows listed, not of the capture's time.",
    );
    text
}

/// Tables as JSON.
#[derive(Debug, Serialize)]
pub struct StatsReport<'a> {
    version: &'static str,
    exports: Vec<ExportJson<'a>>,
}

#[derive(Debug, Serialize)]
struct ExportJson<'a> {
    path: &'a str,
    scope: &'a str,
    reports: Vec<TableJson<'a>>,
}

#[derive(Debug, Serialize)]
struct TableJson<'a> {
    report: &'static str,
    title: &'static str,
    skipped: Option<String>,
    differs: Option<&'static str>,
    notes: &'a [String],
    rows_left_out: usize,
    columns: Vec<ColumnJson>,
    rows: Vec<RowJson<'a>>,
}

#[derive(Debug, Serialize)]
struct ColumnJson {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
}

/// A row with its column names as keys, in the order of the columns.
#[derive(Debug)]
struct RowJson<'a> {
    columns: &'a [Column],
    cells: &'a [Cell],
}

impl Serialize for RowJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.cells.len()))?;
        for (column, cell) in self.columns.iter().zip(self.cells) {
            match cell {
                Cell::Int(number) => map.serialize_entry(column.name, number)?,
                Cell::Float(number) => map.serialize_entry(column.name, number)?,
                Cell::Text(text) => map.serialize_entry(column.name, text)?,
                Cell::Unknown => map.serialize_entry(column.name, &())?,
            }
        }
        map.end()
    }
}

impl<'a> StatsReport<'a> {
    /// The tables of some exports.
    pub fn of(exports: &'a [ExportTables]) -> Self {
        let of = |export: &'a ExportTables| ExportJson {
            path: &export.path,
            scope: &export.scope,
            reports: export.tables.iter().map(TableJson::of).collect(),
        };
        Self { version: env!("CARGO_PKG_VERSION"), exports: exports.iter().map(of).collect() }
    }
}

impl<'a> TableJson<'a> {
    fn of(table: &'a Table) -> Self {
        let column = |column: &Column| ColumnJson { name: column.name, unit: column.unit.text(), help: column.help };
        Self {
            report: table.report.name(),
            title: table.report.title(),
            skipped: skipped(table),
            differs: table.report.differs(),
            notes: &table.notes,
            rows_left_out: table.left_out,
            columns: table.columns.iter().map(column).collect(),
            rows: table.rows.iter().map(|cells| RowJson { columns: &table.columns, cells }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_csv_would_misread_are_quoted() {
        let line = |fields: &[&str]| csv_line(fields.iter().map(|field| (*field).to_owned()));
        assert_eq!(line(&["a", "1.5", ""]), "a,1.5,\n");
        assert_eq!(line(&["f(int, \"x\")", "two\nlines"]), "\"f(int, \"\"x\"\")\",\"two\nlines\"\n");
        assert_eq!(line(&[" padded", "cr\r"]), "\" padded\",\"cr\r\"\n");
    }

    #[test]
    fn the_help_names_every_report() {
        let help = stats_help();
        assert!(Report::ALL.iter().all(|report| help.contains(report.name())));
    }
}
