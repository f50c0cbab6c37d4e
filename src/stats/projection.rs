//! NVTX ranges by name, with the GPU work launched inside them.

use super::Scope;
use super::ranges::{Named, RANGE, RangeName, STYLE, style};
use super::report::Report;
use super::summary::spread_cells;
use super::table::{Cell, Column, Table, Unit};
use crate::analysis::{Summary, same_thread_rows};
use crate::trace::{NameId, RangeKind, Trace};
use rustc_hash::FxHashMap;

/// Ranges of one name and style.
#[derive(Debug, Default)]
struct Group {
    projected: Vec<i64>,
    original_ns: i64,
    calls: u64,
    levels: u64,
    children: u64,
}

/// Sums by name and style, the largest projected total first. Ranges without a name are left out, as NVIDIA does.
pub(super) fn sums(trace: &Trace, scope: &Scope) -> Table {
    let named = Named::of(trace);
    let mut groups: FxHashMap<(RangeName, bool), Group> = FxHashMap::default();
    for row in same_thread_rows(trace) {
        let at = row.range.range as usize;
        let Some(thread) = trace.threads.get(row.range.thread as usize) else { continue };
        let unnamed = thread.nvtx.name.get(at).is_none_or(|name| *name == NameId::EMPTY);
        if unnamed || !scope.holds_host(thread.process, row.range.gpu) {
            continue;
        }
        let start_end = thread.nvtx.kind[at] == RangeKind::StartEnd;
        let group = groups.entry((named.name(&thread.nvtx, at), start_end)).or_default();
        group.projected.push(row.range.gpu.len_ns());
        group.original_ns = group.original_ns.saturating_add(row.original.len_ns());
        group.calls += u64::from(row.range.calls);
        group.levels += u64::from(row.level);
        group.children += u64::from(row.children);
    }
    let mut rows: Vec<(i64, Vec<Cell>)> = Vec::with_capacity(groups.len());
    let mut ordered: Vec<((String, bool), Group)> =
        groups.into_iter().map(|((name, start_end), group)| ((named.text(trace, name), start_end), group)).collect();
    ordered.sort_by(|(a, _), (b, _)| a.cmp(b));
    for ((name, start_end), mut group) in ordered {
        if let Some(sum) = Summary::of(&mut group.projected) {
            rows.push((sum.total, cells(name, start_end, &group, &sum)));
        }
    }
    // Stable: equals stay in the order of their names.
    rows.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    Table::new(Report::NvtxGpuProjSum, columns(), rows.into_iter().map(|(_, cells)| cells).collect())
}

fn cells(name: String, start_end: bool, group: &Group, sum: &Summary) -> Vec<Cell> {
    let mean = |total: u64| Cell::Float(total as f64 / sum.count as f64);
    let mut cells = vec![
        Cell::Text(name),
        Cell::Text(style(start_end).to_owned()),
        Cell::Int(sum.total),
        Cell::Int(group.original_ns),
        Cell::count(sum.count),
    ];
    cells.extend(spread_cells(sum));
    cells.push(Cell::Int(i64::try_from(group.calls).unwrap_or(i64::MAX)));
    cells.extend([mean(group.calls), mean(group.levels), mean(group.children)]);
    cells
}

fn columns() -> Vec<Column> {
    use Unit::{Nanoseconds, Number};
    const SPREAD: &str = "from the first start to the last end of a range's GPU work";
    vec![
        RANGE,
        STYLE,
        Column::new(
            "Total Proj Time (ns)",
            Nanoseconds,
            "sum of the times from the first start to the last end of a range's GPU work; ranges overlap",
        ),
        Column::new("Total Range Time (ns)", Nanoseconds, "sum of the ranges' own durations on the host"),
        Column::new("Range Instances", Number, "ranges that launched GPU work on their own thread"),
        Column::new("Proj Avg (ns)", Nanoseconds, SPREAD),
        Column::new("Proj Med (ns)", Nanoseconds, SPREAD),
        Column::new("Proj Min (ns)", Nanoseconds, SPREAD),
        Column::new("Proj Max (ns)", Nanoseconds, SPREAD),
        Column::new("Proj StdDev (ns)", Nanoseconds, "standard deviation of a sample; 0 of a single value"),
        Column::new("Total GPU Ops", Number, "calls that launched GPU work; a graph launch counts one"),
        Column::new("Avg GPU Ops", Number, "the same for one range"),
        Column::new("Avg Range Lvl", Number, "ranges around it"),
        Column::new("Avg Num Child", Number, "listed ranges directly inside it"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn a_range_owns_what_its_thread_launched_inside_it() {
        let trace = Fixture::new()
            .range("step", 1, 0, 100)
            .range("forward", 1, 10, 50)
            .range("empty", 1, 60, 70)
            .launched("a", 7, 1, 20, 30, 40)
            .launched("b", 7, 1, 80, 90, 150)
            .launched("other thread", 7, 2, 20, 200, 300)
            .build();
        let table = sums(&trace, &Scope::whole(&trace));
        let text = |name: &str| Cell::Text(name.to_owned());
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0].len(), table.columns.len());
        assert_eq!(table.rows[0][..5], [text("step"), text("PushPop"), Cell::Int(120), Cell::Int(100), Cell::Int(1)]);
        assert_eq!(table.rows[0][10..], [Cell::Int(2), Cell::Float(2.0), Cell::Float(0.0), Cell::Float(1.0)]);
        assert_eq!(table.rows[1][..3], [text("forward"), text("PushPop"), Cell::Int(10)]);
    }
}
