//! Sums over GPU work: kernels by name, copies and fills by direction.

use super::Scope;
use super::report::Report;
use super::summary::{time_cells, time_columns};
use super::table::{Cell, Column, Table, Unit};
use crate::analysis::{Groups, NamedBy, Summary, kernel_name, total};
use crate::trace::{CopyKind, NameId, OpKind, Trace};

/// Kernels by full name, or by their names without template arguments.
pub(super) fn kernels(trace: &Trace, scope: &Scope, base: bool) -> Table {
    let mut groups: Groups<NameId> = Groups::default();
    let by = if base { NamedBy::Base } else { NamedBy::Full };
    for (at, rank) in trace.ranks.iter().enumerate() {
        let ops = &rank.ops;
        for op in (0..ops.len()).filter(|op| ops.kind[*op] == OpKind::Kernel) {
            let span = ops.span(op);
            if scope.holds_op(at, span) {
                groups.add(kernel_name(trace, ops.name[op], by), span.len_ns());
            }
        }
    }
    let sums = groups.summaries(|name| trace.name(name));
    let name = Column::new("Name", Unit::Text, "name of the kernel");
    let rows = named_rows(&sums, |name| trace.name(name).to_owned());
    Table::new(Report::CudaGpuKernSum, time_columns("Instances", &[name]), rows)
}

/// Rows of a summary of times with one name each.
pub(super) fn named_rows<K: Copy>(sums: &[(K, Summary)], name: impl Fn(K) -> String) -> Vec<Vec<Cell>> {
    let total = total(sums);
    let row = |(key, sum): &(K, Summary)| {
        let mut cells = time_cells(sum, total);
        cells.push(Cell::Text(name(*key)));
        cells
    };
    sums.iter().map(row).collect()
}

/// Copies by direction and fills, by time.
pub(super) fn memory_time(trace: &Trace, scope: &Scope) -> Table {
    let sums = memory(trace, scope, |rank, op| Some(trace.ranks.get(rank)?.ops.span(op).len_ns()));
    let rows = named_rows(&sums, operation);
    Table::new(Report::CudaGpuMemTimeSum, time_columns("Count", &[OPERATION]), rows)
}

const OPERATION: Column = Column::new("Operation", Unit::Text, "direction of the copies, or fills");

/// Copies by direction and fills, by bytes.
pub(super) fn memory_size(trace: &Trace, scope: &Scope) -> Table {
    let bytes = |rank: usize, op: usize| {
        let bytes = trace.ranks.get(rank)?.ops.bytes_of(op as u32).unwrap_or(0);
        Some(i64::try_from(bytes).unwrap_or(i64::MAX))
    };
    let sums = memory(trace, scope, bytes);
    let column = |name, help| Column::new(name, Unit::Megabytes, help);
    let columns = vec![
        column("Total (MB)", "sum of the sizes; 1 MB is a million bytes"),
        Column::new("Count", Unit::Number, "how many"),
        column("Avg (MB)", "mean size"),
        column("Med (MB)", "middle size, or the mean of the two middle ones"),
        column("Min (MB)", "smallest"),
        column("Max (MB)", "largest"),
        column("StdDev (MB)", "standard deviation of a sample; 0 of a single value"),
        OPERATION,
    ];
    let mega = |bytes: f64| Cell::Float(bytes / 1e6);
    let row = |(kind, sum): &(Option<CopyKind>, Summary)| {
        vec![
            mega(sum.total as f64),
            Cell::count(sum.count),
            mega(sum.mean),
            mega(sum.median),
            mega(sum.min as f64),
            mega(sum.max as f64),
            mega(sum.deviation),
            Cell::Text(operation(*kind)),
        ]
    };
    Table::new(Report::CudaGpuMemSizeSum, columns, sums.iter().map(row).collect())
}

/// A value of every copy and fill, by direction (`None` for fills).
fn memory(
    trace: &Trace,
    scope: &Scope,
    value: impl Fn(usize, usize) -> Option<i64>,
) -> Vec<(Option<CopyKind>, Summary)> {
    let mut groups: Groups<Option<CopyKind>> = Groups::default();
    for (at, rank) in trace.ranks.iter().enumerate() {
        for (op, kind) in rank.ops.kind.iter().enumerate() {
            let group = match kind {
                OpKind::Memcpy(direction) => Some(*direction),
                OpKind::Memset => None,
                OpKind::Kernel | OpKind::Graph => continue,
            };
            if scope.holds_op(at, rank.ops.span(op))
                && let Some(value) = value(at, op)
            {
                groups.add(group, value);
            }
        }
    }
    groups.summaries(operation)
}

fn operation(kind: Option<CopyKind>) -> String {
    kind.map_or_else(|| "[CUDA memset]".to_owned(), |kind| format!("[CUDA memcpy {}]", direction(kind)))
}

/// NVIDIA's words for a direction.
const fn direction(kind: CopyKind) -> &'static str {
    match kind {
        CopyKind::Unknown => "Unknown",
        CopyKind::HostToDevice => "Host-to-Device",
        CopyKind::DeviceToHost => "Device-to-Host",
        CopyKind::HostToArray => "Host-to-Array",
        CopyKind::ArrayToHost => "Array-to-Host",
        CopyKind::ArrayToArray => "Array-to-Array",
        CopyKind::ArrayToDevice => "Array-to-Device",
        CopyKind::DeviceToArray => "Device-to-Array",
        CopyKind::DeviceToDevice => "Device-to-Device",
        CopyKind::HostToHost => "Host-to-Host",
        CopyKind::PeerToPeer => "Peer-to-Peer",
        CopyKind::UnifiedHostToDevice => "Unified Host-to-Device",
        CopyKind::UnifiedDeviceToHost => "Unified Device-to-Host",
        CopyKind::UnifiedDeviceToDevice => "Unified Device-to-Device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn kernels_are_summed_by_name_with_the_largest_total_first() {
        let trace = Fixture::new()
            .kernel("small", 7, 0, 10)
            .kernel("large", 7, 10, 40)
            .kernel("large", 8, 15, 25)
            .gpu_op(OpKind::Memset, "", 9, 50, 90, None, Some(8))
            .build();
        let table = kernels(&trace, &Scope::whole(&trace), false);
        let names: Vec<&Cell> = table.rows.iter().filter_map(|row| row.last()).collect();
        assert_eq!(names, [&Cell::Text("large".to_owned()), &Cell::Text("small".to_owned())]);
        assert_eq!(table.rows[0][..3], [Cell::Float(80.0), Cell::Int(40), Cell::Int(2)]);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    }

    #[test]
    fn sizes_are_millions_of_bytes() {
        let trace = Fixture::new()
            .gpu_op(OpKind::Memcpy(CopyKind::HostToDevice), "", 9, 0, 5, None, Some(2_500_000))
            .gpu_op(OpKind::Memset, "", 9, 5, 6, None, None)
            .build();
        let table = memory_size(&trace, &Scope::whole(&trace));
        assert_eq!(table.rows[0][0], Cell::Float(2.5));
        assert_eq!(table.rows[0].last(), Some(&Cell::Text("[CUDA memcpy Host-to-Device]".to_owned())));
        assert_eq!(table.rows[1][..2], [Cell::Float(0.0), Cell::Int(1)]);
    }
}
