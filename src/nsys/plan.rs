//! What the loader wants of each table, and what it says when something is missing.

use super::rows::{ColumnKind, Query};
use super::schema::{Table, quoted};
use crate::trace::{TableKind, Warning};

/// How much a column matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Without it the table says nothing.
    Required,
    /// Without it something is unknown, which the text says.
    Wanted(&'static str),
    /// Only some versions have it, and nothing depends on it.
    Spare,
}

/// A column that the loader reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedColumn {
    /// Name, in any case.
    name: &'static str,
    kind: ColumnKind,
    need: Need,
}

/// A column of whole numbers without which the table says nothing.
pub(crate) const fn required(name: &'static str) -> WantedColumn {
    WantedColumn { name, kind: ColumnKind::Int, need: Need::Required }
}

/// A column of whole numbers without which something is unknown.
pub(crate) const fn wanted(name: &'static str, without: &'static str) -> WantedColumn {
    WantedColumn { name, kind: ColumnKind::Int, need: Need::Wanted(without) }
}

/// A column of whole numbers that only some versions have.
pub(crate) const fn spare(name: &'static str) -> WantedColumn {
    WantedColumn { name, kind: ColumnKind::Int, need: Need::Spare }
}

/// A column of text without which something is unknown.
pub(crate) const fn wanted_text(name: &'static str, without: &'static str) -> WantedColumn {
    WantedColumn { name, kind: ColumnKind::Text, need: Need::Wanted(without) }
}

/// A column of text that only some versions have.
pub(crate) const fn spare_text(name: &'static str) -> WantedColumn {
    WantedColumn { name, kind: ColumnKind::Text, need: Need::Spare }
}

/// How much a table matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Its absence leaves a question open; damage in it stops the load.
    Main,
    /// nsys leaves it out when nothing of its kind was recorded; damage in it stops the load, since sums would be wrong.
    Usual,
    /// Nothing else is wrong without it; what can be read of it is kept.
    Extra,
}

/// A table of events that the loader reads.
#[derive(Debug)]
pub(crate) struct TableSpec {
    /// Name without a version.
    pub base: &'static str,
    /// How the model calls it.
    pub kind: TableKind,
    /// How much it matters.
    pub weight: Weight,
    /// What is unknown without it.
    pub without: &'static str,
    /// How to record it.
    pub record: &'static str,
    /// Columns; the batches hold them in this order.
    pub columns: &'static [WantedColumn],
}

/// What was odd about the file, each thing once.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Vec<Warning>);

impl Warnings {
    /// Adds one. `count` of 0 adds nothing.
    pub fn add(&mut self, code: &'static str, count: u64, message: impl Into<String>) {
        if count > 0 {
            self.0.push(Warning { code, message: message.into(), count });
        }
    }

    /// All of them in the order they came.
    pub fn take(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.0)
    }
}

/// The query for the columns of `spec` in `table`. What is missing is warned of; without a required column there is no
/// query.
pub(crate) fn plan(table: &Table, columns: &[WantedColumn], without: &str, warnings: &mut Warnings) -> Option<Query> {
    let name = &table.name;
    let mut picked = Vec::with_capacity(columns.len());
    let mut lost = Vec::new();
    for column in columns {
        let found = table.column(column.name);
        match (found, column.need) {
            (Some(_), _) | (None, Need::Spare) => {}
            (None, Need::Required) => lost.push(column.name),
            (None, Need::Wanted(unknown)) => {
                warnings.add("missing-column", 1, format!("table {name} has no column {}: {unknown}", column.name));
            }
        }
        picked.push((found, column.kind));
    }
    if lost.is_empty() {
        return Some(Query::new(table, &picked));
    }
    let plural = if lost.len() == 1 { "" } else { "s" };
    let message = format!(
        "table {name} cannot be used: it has no column{plural} {} (it has {}). {without}",
        lost.join(", "),
        shortened(&table.columns)
    );
    warnings.add("unusable-table", 1, message);
    None
}

/// SQL that adds up those of `columns` that `table` has.
pub(crate) fn sum_of(table: &Table, columns: &[WantedColumn]) -> String {
    let sum = |column: &WantedColumn| {
        let name = quoted(table.column(column.name)?);
        // Not sum(): process keys would overflow it.
        Some(match column.kind {
            ColumnKind::Int => format!("total({name})"),
            ColumnKind::Text => format!("total(length({name}))"),
        })
    };
    let sums: Vec<String> = columns.iter().filter_map(sum).collect();
    format!("SELECT count(*), {} FROM {};\n", sums.join(", "), quoted(&table.name))
}

/// Some names in words: at most eight, and how many more there are.
pub(crate) fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 if names.is_empty() => "none".to_owned(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str]) -> Table {
        Table {
            name: "T".to_owned(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            numbered: true,
            row_alias: None,
        }
    }

    #[test]
    fn a_missing_column_says_what_is_unknown() {
        let columns = [required("start"), wanted("streamId", "streams are unknown"), spare("x")];
        let mut warnings = Warnings::default();
        assert!(plan(&table(&["START", "y"]), &columns, "", &mut warnings).is_some());
        let found = warnings.take();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].code, found[0].message.as_str()),
            ("missing-column", "table T has no column streamId: streams are unknown")
        );
    }

    #[test]
    fn a_table_without_a_required_column_is_not_read() {
        let mut warnings = Warnings::default();
        assert!(plan(&table(&["end"]), &[required("start")], "Kernels are unknown.", &mut warnings).is_none());
        let found = warnings.take();
        assert_eq!(found[0].code, "unusable-table");
        assert!(
            found[0].message.contains("no column start (it has end). Kernels are unknown."),
            "{}",
            found[0].message
        );
    }
}
