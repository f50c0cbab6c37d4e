//! A table of typed cells with columns that explain themselves.

use super::Report;

/// What the numbers of a column count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Words.
    Text,
    /// A number without a unit: a count, an id.
    Number,
    /// Nanoseconds.
    Nanoseconds,
    /// Percent, 0 to 100.
    Percent,
    /// Millions of bytes.
    Megabytes,
}

impl Unit {
    /// The unit as programs read it; empty for words and plain numbers.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Text | Self::Number => "",
            Self::Nanoseconds => "ns",
            Self::Percent => "%",
            Self::Megabytes => "MB",
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name, NVIDIA's where NVIDIA has one.
    pub name: &'static str,
    /// What its numbers count.
    pub unit: Unit,
    /// What it means.
    pub help: &'static str,
}

impl Column {
    /// A column.
    pub const fn new(name: &'static str, unit: Unit, help: &'static str) -> Self {
        Self { name, unit, help }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A whole number in the column's unit.
    Int(i64),
    /// A mean, a share or another fraction in the column's unit.
    Float(f64),
    /// Words.
    Text(String),
    /// Not known, or there is none.
    Unknown,
}

impl Cell {
    /// The cell of a count.
    pub fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

/// Why there is no table, and what would give one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// What the report needs.
    pub needs: &'static str,
    /// How to record it.
    pub remedy: &'static str,
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The report.
    pub report: Report,
    /// Columns; every row has as many cells.
    pub columns: Vec<Column>,
    /// Rows in the report's order.
    pub rows: Vec<Vec<Cell>>,
    /// Rows that were left out at the end, at the user's wish.
    pub left_out: usize,
    /// What the reader should know about these rows.
    pub notes: Vec<String>,
    /// Why there are no rows, when the capture lacks what the report needs.
    pub skipped: Option<Skipped>,
}

impl Table {
    /// A table of `rows`.
    pub(super) fn new(report: Report, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Self {
        Self { report, columns, rows, left_out: 0, notes: Vec::new(), skipped: None }
    }

    /// No table.
    pub(super) fn skipped(report: Report, skipped: Skipped) -> Self {
        Self { skipped: Some(skipped), ..Self::new(report, Vec::new(), Vec::new()) }
    }

    /// Adds a note unless it is empty.
    pub(super) fn with_note(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }

    /// Keeps the first `most` rows.
    pub fn limit(&mut self, most: usize) {
        self.left_out += self.rows.len().saturating_sub(most);
        self.rows.truncate(most);
    }
}
