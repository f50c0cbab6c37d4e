//! What every table does with its rows: filter by text and by the selection, sort by any column, copy as text.
//!
//! The order is made when the rows, the filter or the sorting change, and kept; a frame only reads it.

use crate::units::Span;
use std::cmp::Ordering;

/// What a column sorts by.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// A number; one that is not known comes last.
    Number(f64),
    /// Words.
    Text(String),
}

impl Key {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        }
    }

    fn is_unknown(&self) -> bool {
        matches!(self, Self::Number(number) if number.is_nan())
    }
}

/// A cell: what is shown, and what it sorts by.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// What it sorts by; words sort by themselves.
    pub number: Option<f64>,
}

impl Cell {
    /// A number as it is shown.
    pub fn number(text: String, number: f64) -> Self {
        Self { text, number: Some(number) }
    }

    /// Nanoseconds, bytes or a count as they are shown.
    pub fn whole(text: String, number: i64) -> Self {
        Self::number(text, number as f64)
    }

    /// A number that may not be known.
    pub fn maybe(text: String, number: Option<f64>) -> Self {
        Self::number(text, number.unwrap_or(f64::NAN))
    }

    /// Words.
    pub const fn text(text: String) -> Self {
        Self { text, number: None }
    }

    fn key(&self) -> Key {
        self.number.map_or_else(|| Key::Text(self.text.to_lowercase()), Key::Number)
    }
}

/// A row.
#[derive(Debug, Default)]
pub struct Row {
    /// First cell.
    pub name: String,
    /// What the first cell sorts by, when it is a number.
    pub number: Option<f64>,
    /// Letters at the start of the name that another row's name begins with, too.
    pub shared: usize,
    /// The name in full, where it is longer than what is shown.
    pub full: String,
    /// The other cells, one for each column.
    pub cells: Vec<Cell>,
    /// More to say of it.
    pub note: String,
    /// What a click does, in words; empty when it does nothing.
    pub action: String,
    /// Colour before the name.
    pub swatch: Option<egui::Color32>,
    /// Stands for what the timeline has selected.
    pub selected: bool,
    /// Whether it is ticked, in tables to choose from.
    pub tick: Option<bool>,
}

/// The rows of a table, made one by one as they are needed.
pub trait Rows {
    /// How many there are, heads of groups included.
    fn count(&self) -> usize;

    /// One row.
    fn row(&self, at: usize) -> Row;

    /// What row `at` sorts by in `column`; 0 is the name.
    fn key(&self, at: usize, column: usize) -> Key {
        let row = self.row(at);
        match column.checked_sub(1) {
            None => row.number.map_or_else(|| Key::Text(row.name.to_lowercase()), Key::Number),
            Some(at) => row.cells.get(at).map_or(Key::Number(f64::NAN), Cell::key),
        }
    }

    /// True when row `at` contains `wanted`, which is in lower case.
    fn contains(&self, at: usize, wanted: &str) -> bool {
        let row = self.row(at);
        let cells = row.cells.iter().map(|cell| cell.text.as_str());
        [row.name.as_str(), row.full.as_str()].into_iter().chain(cells).any(|text| text.to_lowercase().contains(wanted))
    }

    /// More to say of row `at`, made when it is asked for.
    fn note(&self, at: usize) -> String {
        self.row(at).note
    }

    /// Where row `at` lies in time, on the clock of the selection; `None` when it has no place.
    fn span(&self, _at: usize) -> Option<Span> {
        None
    }

    /// The head that row `at` stands under, in grouped tables.
    fn head(&self, _at: usize) -> Option<usize> {
        None
    }
}

/// Rows of a short list, by a function.
pub struct List<F> {
    count: usize,
    row: F,
}

impl<F: Fn(usize) -> Row> List<F> {
    /// `count` rows that `row` makes.
    pub const fn new(count: usize, row: F) -> Self {
        Self { count, row }
    }
}

impl<F: Fn(usize) -> Row> Rows for List<F> {
    fn count(&self) -> usize {
        self.count
    }

    fn row(&self, at: usize) -> Row {
        (self.row)(at)
    }
}

/// Rows that lie somewhere in time, by two functions.
pub struct Placed<F, S> {
    list: List<F>,
    span: S,
}

impl<F: Fn(usize) -> Row, S: Fn(usize) -> Option<Span>> Placed<F, S> {
    /// `count` rows that `row` makes, at the places that `span` tells.
    pub const fn new(count: usize, row: F, span: S) -> Self {
        Self { list: List::new(count, row), span }
    }
}

impl<F: Fn(usize) -> Row, S: Fn(usize) -> Option<Span>> Rows for Placed<F, S> {
    fn count(&self) -> usize {
        self.list.count
    }

    fn row(&self, at: usize) -> Row {
        (self.list.row)(at)
    }

    fn span(&self, at: usize) -> Option<Span> {
        (self.span)(at)
    }
}

/// Which rows the user wants to see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Text that a row has to contain.
    pub text: String,
    /// Only what lies in the selection.
    pub only: bool,
}

impl Filter {
    /// The span that rows have to lie in, when that is wanted and something is selected.
    pub fn within(&self, selection: Option<Span>) -> Option<Span> {
        selection.filter(|_| self.only)
    }

    /// True when `text` contains what is asked for.
    pub fn accepts(&self, text: &str) -> bool {
        let wanted = self.text.trim();
        wanted.is_empty() || text.to_lowercase().contains(&wanted.to_lowercase())
    }
}

/// What an order was made for.
#[derive(Debug, Clone, PartialEq)]
struct Made {
    rows: u64,
    filter: String,
    within: Option<Span>,
    sort: Option<(usize, bool)>,
}

/// The order of a table's rows.
#[derive(Debug, Default)]
pub struct Sheet {
    /// The column it is sorted by, and whether the largest come first; `None` is the order of the rows themselves.
    sort: Option<(usize, bool)>,
    order: Vec<u32>,
    made: Option<Made>,
    /// The page that is shown of a long list.
    pub page: usize,
    /// Row of the order that keys act on, in tables to choose from.
    pub cursor: Option<usize>,
    /// That row has to be brought into sight.
    pub follow_cursor: bool,
}

impl Sheet {
    /// A table that is first sorted by a column.
    pub fn sorted_by(column: usize, descending: bool) -> Self {
        Self { sort: Some((column, descending)), ..Self::default() }
    }

    /// The column that the rows are sorted by, and whether the largest come first.
    pub const fn sort(&self) -> Option<(usize, bool)> {
        self.sort
    }

    /// Sorts by `column`, or turns its order around: numbers are first wanted largest first, `ascending` columns in order.
    pub fn sort_by(&mut self, column: usize, ascending: bool) {
        let descending = match self.sort {
            Some((known, descending)) if known == column => !descending,
            _ => !ascending,
        };
        self.sort = Some((column, descending));
    }

    /// The rows to show, in order. `token` changes whenever `rows` would answer otherwise.
    pub fn follow(&mut self, token: u64, filter: &Filter, selection: Option<Span>, rows: &dyn Rows) -> &[u32] {
        let made = Made {
            rows: token,
            filter: filter.text.trim().to_lowercase(),
            within: filter.within(selection),
            sort: self.sort,
        };
        if self.made.as_ref() != Some(&made) {
            self.order = order(&made, rows);
            self.page = 0;
            self.made = Some(made);
        }
        &self.order
    }

    /// The rows to show, as they were last asked for.
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}

fn order(made: &Made, rows: &dyn Rows) -> Vec<u32> {
    let holds = |at: &u32| {
        let at = *at as usize;
        made.within.is_none_or(|window| rows.span(at).is_none_or(|span| window.holds(span)))
            && (made.filter.is_empty() || rows.contains(at, &made.filter))
    };
    let all = 0..rows.count() as u32;
    let mut shown: Vec<u32> = all.clone().filter(holds).collect();
    // Heads stay with what stands under them.
    let grouped = all.clone().any(|at| rows.head(at as usize).is_some());
    if grouped {
        shown.retain(|at| rows.head(*at as usize).is_some());
        let mut heads: Vec<u32> = shown.iter().filter_map(|at| rows.head(*at as usize)).map(|at| at as u32).collect();
        heads.sort_unstable();
        heads.dedup();
        sort(&mut heads, made.sort, rows);
        let mut under: std::collections::BTreeMap<usize, Vec<u32>> = std::collections::BTreeMap::new();
        sort(&mut shown, made.sort, rows);
        for at in shown {
            if let Some(head) = rows.head(at as usize) {
                under.entry(head).or_default().push(at);
            }
        }
        return heads
            .into_iter()
            .flat_map(|head| std::iter::once(head).chain(under.remove(&(head as usize)).unwrap_or_default()))
            .collect();
    }
    sort(&mut shown, made.sort, rows);
    shown
}

/// Sorts `shown`; of equals the one that came first stays first, and what is not known comes last either way.
fn sort(shown: &mut [u32], by: Option<(usize, bool)>, rows: &dyn Rows) {
    let Some((column, descending)) = by else { return };
    let mut keyed: Vec<(Key, u32)> = shown.iter().map(|at| (rows.key(*at as usize, column), *at)).collect();
    keyed.sort_by(|(a, _), (b, _)| match (a.is_unknown(), b.is_unknown()) {
        (false, false) if descending => b.compare(a),
        (false, false) => a.compare(b),
        (a, b) => a.cmp(&b),
    });
    for (place, (_, at)) in shown.iter_mut().zip(keyed) {
        *place = at;
    }
}

/// Lines of cells as tab-separated text.
pub fn tsv<'a>(lines: impl IntoIterator<Item = Vec<std::borrow::Cow<'a, str>>>) -> String {
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = line.iter().map(|cell| cell.replace(['\t', '\n', '\r'], " ")).collect();
        text.push_str(&cells.join("\t"));
        text.push('\n');
    }
    text
}

/// A row as a line of [`tsv`].
pub fn cells_of(row: Row) -> Vec<std::borrow::Cow<'static, str>> {
    let name = if row.full.is_empty() { row.name } else { row.full };
    std::iter::once(name).chain(row.cells.into_iter().map(|cell| cell.text)).map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> impl Rows {
        let rows = [("b", 2.0), ("a", f64::NAN), ("Gemm", 9.0), ("c", 2.0)];
        let row = move |at: usize| Row {
            name: rows[at].0.to_owned(),
            cells: vec![Cell::number(format!("{} ms", rows[at].1), rows[at].1)],
            ..Row::default()
        };
        Placed::new(4, row, |at| Some(Span::new(at as i64 * 10, at as i64 * 10 + 5)))
    }

    fn shown(sheet: &mut Sheet, filter: &Filter, selection: Option<Span>) -> Vec<u32> {
        sheet.follow(1, filter, selection, &table()).to_vec()
    }

    #[test]
    fn rows_sort_both_ways_equals_keep_their_order_and_unknown_ones_come_last() {
        let (mut sheet, all) = (Sheet::default(), Filter::default());
        assert_eq!(shown(&mut sheet, &all, None), [0, 1, 2, 3]);
        sheet.sort_by(1, false);
        assert_eq!(shown(&mut sheet, &all, None), [2, 0, 3, 1]);
        sheet.sort_by(1, false);
        assert_eq!(shown(&mut sheet, &all, None), [0, 3, 2, 1]);
        sheet.sort_by(0, true);
        assert_eq!(shown(&mut sheet, &all, None), [1, 0, 3, 2]);
    }

    #[test]
    fn rows_are_filtered_by_text_in_any_cell_and_by_the_selection_only_when_asked() {
        let mut sheet = Sheet::default();
        let filter = |text: &str, only| Filter { text: text.to_owned(), only };
        assert_eq!(shown(&mut sheet, &filter(" gemm ", false), None), [2]);
        assert_eq!(shown(&mut sheet, &filter("2 MS", false), None), [0, 3]);
        let selection = Some(Span::new(12, 25));
        assert_eq!(shown(&mut sheet, &filter("", false), selection), [0, 1, 2, 3]);
        assert_eq!(shown(&mut sheet, &filter("", true), selection), [1, 2]);
        assert_eq!(shown(&mut sheet, &filter("", true), None), [0, 1, 2, 3], "nothing is selected");
    }

    #[test]
    fn groups_stay_together_below_their_heads() {
        struct Grouped;
        impl Rows for Grouped {
            fn count(&self) -> usize {
                6
            }
            fn row(&self, at: usize) -> Row {
                let value = [5.0, 1.0, 3.0, 4.0, 6.0, 7.0][at];
                Row { name: format!("r{at}"), cells: vec![Cell::number(String::new(), value)], ..Row::default() }
            }
            fn head(&self, at: usize) -> Option<usize> {
                [Some(4), Some(5), Some(4), Some(5), None, None][at]
            }
        }
        let mut sheet = Sheet::sorted_by(1, true);
        assert_eq!(sheet.follow(0, &Filter::default(), None, &Grouped), [5, 3, 1, 4, 0, 2]);
        let filter = Filter { text: "r1".to_owned(), only: false };
        assert_eq!(sheet.follow(0, &filter, None, &Grouped), [5, 1]);
    }

    #[test]
    fn copied_text_has_one_line_a_row_whatever_the_names_hold() {
        let row = Row {
            name: "short".into(),
            full: "a\tb\nc".into(),
            cells: vec![Cell::text("1 ms".into())],
            ..Row::default()
        };
        let head = vec!["Name".into(), "Time".into()];
        assert_eq!(tsv([head, cells_of(row)]), "Name\tTime\na b c\t1 ms\n");
    }
}
