//! Columns and cells of the eight numbers that every summary shows of a group of values.

use super::table::{Cell, Column, Unit};
use crate::analysis::Summary;

const TIME_HELP: &str = "share of the sum of all rows' totals in this table, not of the capture's time";

/// Columns of a summary of times: `count` names the column of the number of values, `name` those that name the group.
pub(super) fn time_columns(count: &'static str, name: &[Column]) -> Vec<Column> {
    use Unit::{Nanoseconds, Number, Percent};
    let mut columns = vec![
        Column::new("Time (%)", Percent, TIME_HELP),
        Column::new("Total Time (ns)", Nanoseconds, "sum of the durations; may exceed wall time where rows overlap"),
        Column::new(count, Number, "how many"),
        Column::new("Avg (ns)", Nanoseconds, "mean duration"),
        Column::new("Med (ns)", Nanoseconds, "middle duration, or the mean of the two middle ones"),
        Column::new("Min (ns)", Nanoseconds, "shortest"),
        Column::new("Max (ns)", Nanoseconds, "longest"),
        Column::new("StdDev (ns)", Nanoseconds, "standard deviation of a sample; 0 of a single value"),
    ];
    columns.extend_from_slice(name);
    columns
}

/// Cells of a summary of times, without the name; `total` is the sum over all rows.
pub(super) fn time_cells(sum: &Summary, total: i64) -> Vec<Cell> {
    let share = if total == 0 { 0.0 } else { sum.total as f64 * 100.0 / total as f64 };
    let mut cells = vec![Cell::Float(share), Cell::Int(sum.total), Cell::count(sum.count)];
    cells.extend(spread_cells(sum));
    cells
}

/// Mean, median, shortest, longest and deviation.
pub(super) fn spread_cells(sum: &Summary) -> [Cell; 5] {
    [Cell::Float(sum.mean), Cell::Float(sum.median), Cell::Int(sum.min), Cell::Int(sum.max), Cell::Float(sum.deviation)]
}
