//! Kernels with their launches: how long the call took, how long the kernel waited, how long it ran.

use super::Scope;
use super::host::without_version;
use super::report::Report;
use super::summary::spread_cells;
use super::table::{Cell, Column, Table, Unit};
use crate::analysis::Summary;
use crate::trace::{NameId, OpKind, Rank, Trace};
use rustc_hash::FxHashMap;

/// Process, thread, device, function and kernel.
type Key = (u32, u32, i64, u32, NameId);

/// What is measured of every kernel and call.
#[derive(Debug, Default)]
struct Times {
    total: Vec<i64>,
    call: Vec<i64>,
    queue: Vec<i64>,
    kernel: Vec<i64>,
}

/// Sums by process, thread, device, function and kernel; the longest mean total first. A kernel is joined to every call
/// of its process with its correlation id.
pub(super) fn sums(trace: &Trace, scope: &Scope) -> Table {
    let mut functions = Functions::default();
    let mut groups: FxHashMap<Key, Times> = FxHashMap::default();
    for (at, rank) in trace.ranks.iter().enumerate() {
        collect(trace, scope, at, rank, &mut functions, &mut groups);
    }
    let mut all: Vec<(Key, [Option<Summary>; 4])> = groups.into_iter().map(summarised).collect();
    let mean = |sums: &[Option<Summary>; 4]| sums[0].map_or(0.0, |total| total.mean);
    let names = |key: &Key| (functions.name(key.3), trace.name(key.4));
    all.sort_by(|(a, x), (b, y)| {
        mean(y).total_cmp(&mean(x)).then_with(|| names(a).cmp(&names(b))).then_with(|| a.cmp(b))
    });
    let row = |(key, sums): &(Key, [Option<Summary>; 4])| {
        let count = |sum: &Option<Summary>| Cell::count(sum.map_or(0, |sum| sum.count));
        let mut cells = vec![Cell::Int(key.0.into()), Cell::Int(key.1.into()), Cell::Int(key.2)];
        cells.extend([count(&sums[0]), count(&sums[2])]);
        for sum in sums {
            let none = [Cell::Unknown, Cell::Unknown, Cell::Unknown, Cell::Unknown, Cell::Float(0.0)];
            cells.extend(sum.as_ref().map_or(none, spread_cells));
        }
        cells.extend([Cell::Text(functions.name(key.3).to_owned()), Cell::Text(trace.name(key.4).to_owned())]);
        cells
    };
    let rows = all.iter().map(row).collect();
    Table::new(Report::CudaKernExecSum, columns(), rows)
}

fn collect(
    trace: &Trace,
    scope: &Scope,
    at: usize,
    rank: &Rank,
    functions: &mut Functions,
    groups: &mut FxHashMap<Key, Times>,
) {
    let Some(process) = trace.processes.get(rank.process) else { return };
    let ops = &rank.ops;
    for op in (0..ops.len()).filter(|op| ops.kind[*op] == OpKind::Kernel) {
        let kernel = ops.span(op);
        let Some(launch) = ops.launch_of(op).filter(|_| scope.holds_op(at, kernel)) else { continue };
        let name = trace.op_names.get(ops.name[op].0 as usize).map_or(NameId::EMPTY, |name| name.full);
        for call in process.calls_of(launch) {
            let span = process.api.span(call as usize);
            let thread = trace.thread_of_call(rank.process, call).and_then(|thread| trace.threads.get(thread));
            let function = functions.of(trace, process.api.name[call as usize]);
            let key = (process.pid, thread.map_or(0, |thread| thread.tid), rank.device, function, name);
            let times = groups.entry(key).or_default();
            times.total.push(span.end_ns.max(kernel.end_ns).saturating_sub(span.start_ns));
            times.call.push(span.len_ns());
            // A kernel that starts before its call returns has not been in a queue.
            times.queue.extend(Some(kernel.start_ns.saturating_sub(span.end_ns)).filter(|queue| *queue >= 0));
            times.kernel.push(kernel.len_ns());
        }
    }
}

fn summarised((key, mut times): (Key, Times)) -> (Key, [Option<Summary>; 4]) {
    let parts = [&mut times.total, &mut times.call, &mut times.queue, &mut times.kernel];
    (key, parts.map(|values| Summary::of(values)))
}

/// Functions by their names without a version, each with one number.
#[derive(Debug, Default)]
struct Functions {
    numbers: FxHashMap<NameId, u32>,
    names: Vec<String>,
}

impl Functions {
    fn of(&mut self, trace: &Trace, name: NameId) -> u32 {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let text = without_version(trace.name(name));
        let at = self.names.iter().position(|known| known == text).unwrap_or_else(|| {
            self.names.push(text.to_owned());
            self.names.len() - 1
        });
        self.numbers.insert(name, at as u32);
        at as u32
    }

    fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

fn columns() -> Vec<Column> {
    use Unit::{Nanoseconds, Number, Text};
    const TOTAL: &str = "from the start of the call to the end of the kernel, or of the call where that is later";
    const CALL: &str = "duration of the call";
    const QUEUE: &str =
        "from the end of the call to the start of the kernel; a kernel that starts before its call returns has none";
    const KERNEL: &str = "duration of the kernel";
    let mut columns = vec![
        Column::new("PID", Number, "process"),
        Column::new("TID", Number, "thread that made the call"),
        Column::new("DevId", Number, "device"),
        Column::new("Count", Number, "kernels"),
        Column::new("QCount", Number, "kernels that have a queue time"),
    ];
    let names: [([&'static str; 5], &'static str); 4] = [
        (["TAvg (ns)", "TMed (ns)", "TMin (ns)", "TMax (ns)", "TStdDev (ns)"], TOTAL),
        (["AAvg (ns)", "AMed (ns)", "AMin (ns)", "AMax (ns)", "AStdDev (ns)"], CALL),
        (["QAvg (ns)", "QMed (ns)", "QMin (ns)", "QMax (ns)", "QStdDev (ns)"], QUEUE),
        (["KAvg (ns)", "KMed (ns)", "KMin (ns)", "KMax (ns)", "KStdDev (ns)"], KERNEL),
    ];
    for (names, help) in names {
        columns.extend(names.map(|name| Column::new(name, Nanoseconds, help)));
    }
    columns.push(Column::new("API Name", Text, "function that launched, without its ABI version"));
    columns.push(Column::new("Kernel Name", Text, "name of the kernel"));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn every_call_with_the_correlation_id_is_a_row_and_an_early_kernel_has_no_queue_time() {
        let trace = Fixture::new()
            .call("cudaLaunchKernel", 1, 0, 40, Some(5))
            .call("cudaLaunchKernel_v7000", 1, 2, 10, Some(5))
            .gpu_op(OpKind::Kernel, "k", 7, 20, 50, Some(5), None)
            .gpu_op(OpKind::Kernel, "lost", 7, 60, 70, Some(6), None)
            .build();
        let table = sums(&trace, &Scope::whole(&trace));
        // Both calls have one name without the version, so they are one row of two.
        assert_eq!(table.rows.len(), 1);
        let row = &table.rows[0];
        assert_eq!(row.len(), table.columns.len());
        assert_eq!(row[3..5], [Cell::Int(2), Cell::Int(1)]);
        assert_eq!(row[5..9], [Cell::Float(49.0), Cell::Float(49.0), Cell::Int(48), Cell::Int(50)]);
        assert_eq!(row[15], Cell::Float(10.0), "queue: the inner call returned before the kernel started");
    }

    #[test]
    fn a_group_without_queue_times_shows_none() {
        let trace = Fixture::new()
            .call("cudaLaunchKernel_v7000", 1, 0, 40, Some(5))
            .gpu_op(OpKind::Kernel, "k", 7, 20, 30, Some(5), None)
            .build();
        let row = &sums(&trace, &Scope::whole(&trace)).rows[0];
        assert_eq!(
            (&row[4], &row[5], &row[15], &row[19]),
            (&Cell::Int(0), &Cell::Float(40.0), &Cell::Unknown, &Cell::Float(0.0))
        );
    }
}
