//! What the host called: sums by function, and the calls that wait for the GPU.

use super::Scope;
use super::gpu::named_rows;
use super::report::Report;
use super::summary::time_columns;
use super::table::{Cell, Column, Table, Unit};
use crate::analysis::Groups;
use crate::trace::{NameId, Trace};
use crate::units::Span;
use std::cmp::Reverse;

/// The name of a function without its ABI version, as NVIDIA's summaries cut it: `_v` and four characters only, so
/// `cudaGraphLaunch_v10000` keeps its five.
pub(super) fn without_version(name: &str) -> &str {
    let tail = name.char_indices().rev().nth(5).map(|(at, _)| at);
    match tail {
        Some(at) if at > 0 && name.get(at..).is_some_and(|tail| tail.starts_with("_v")) => {
            name.get(..at).unwrap_or(name)
        }
        _ => name,
    }
}

/// API calls by function; two versions of one function are two rows.
pub(super) fn calls(trace: &Trace, scope: &Scope) -> Table {
    let mut groups: Groups<NameId> = Groups::default();
    for (at, process) in trace.processes.iter().enumerate() {
        let api = &process.api;
        for call in 0..api.len() {
            let span = api.span(call);
            if scope.holds_host(at, span) {
                groups.add(api.name[call], span.len_ns());
            }
        }
    }
    let sums = groups.summaries(|name| trace.name(name));
    let name = Column::new("Name", Unit::Text, "function of the runtime or the driver, without its ABI version");
    let rows = named_rows(&sums, |name| without_version(trace.name(name)).to_owned());
    Table::new(Report::CudaApiSum, time_columns("Num Calls", &[name]), rows)
}

/// Calls that wait for the GPU: NVIDIA's two functions, or all that do.
pub(super) fn syncs(trace: &Trace, scope: &Scope, all: bool) -> Table {
    let mut found: Vec<(Span, u32, u32, NameId)> = Vec::new();
    for thread in &trace.threads {
        let Some(process) = trace.processes.get(thread.process) else { continue };
        let mut last = None;
        for call in thread.api.clone() {
            let (name, span) = (process.api.name[call as usize], process.api.span(call as usize));
            // Neighbouring calls often are of one function.
            let waits = match last {
                Some((known, waits)) if known == name => waits,
                _ => waits_for_gpu(trace.name(name), all),
            };
            last = Some((name, waits));
            if waits && scope.holds_host(thread.process, span) {
                found.push((span, process.pid, thread.tid, name));
            }
        }
    }
    found.sort_by_key(|(span, pid, tid, name)| (Reverse(span.len_ns()), span.start_ns, *pid, *tid, *name));
    let columns = vec![
        Column::new("Duration (ns)", Unit::Nanoseconds, "how long the call took"),
        Column::new("Start (ns)", Unit::Nanoseconds, "when it began, on the export's clock"),
        Column::new("PID", Unit::Number, "process"),
        Column::new("TID", Unit::Number, "thread"),
        Column::new("API Name", Unit::Text, "function, with its ABI version"),
    ];
    let row = |(span, pid, tid, name): &(Span, u32, u32, NameId)| {
        vec![
            Cell::Int(span.len_ns()),
            Cell::Int(span.start_ns),
            Cell::Int((*pid).into()),
            Cell::Int((*tid).into()),
            Cell::Text(trace.name(*name).to_owned()),
        ]
    };
    Table::new(Report::CudaApiSync, columns, found.iter().map(row).collect())
}

fn waits_for_gpu(name: &str, all: bool) -> bool {
    let name = name.to_ascii_lowercase();
    let nvidias = name.starts_with("cudadevicesynchronize") || name.starts_with("cudastreamsynchronize");
    let is_cuda = name.starts_with("cuda") || name.starts_with("cu");
    let blocking_copy = (name.starts_with("cudamemcpy") || name.starts_with("cumemcpy")) && !name.contains("async");
    nvidias || (all && is_cuda && (name.contains("synchronize") || blocking_copy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn only_versions_of_four_characters_are_cut() {
        let cases = [
            ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
            ("cudaGraphLaunch_v10000", "cudaGraphLaunch_v10000"),
            ("cuLaunchKernelEx", "cuLaunchKernelEx"),
            ("_v7000", "_v7000"),
            ("a_v7000", "a"),
            ("_v70", "_v70"),
            ("ä_vöööö", "ä"),
        ];
        for (name, cut) in cases {
            assert_eq!(without_version(name), cut);
        }
    }

    #[test]
    fn the_longest_wait_comes_first_and_event_waits_only_when_asked_for() {
        let trace = Fixture::new()
            .call("cudaDeviceSynchronize_v3020", 1, 0, 5, None)
            .call("cudaEventSynchronize_v3020", 1, 6, 60, None)
            .call("cudaStreamSynchronize_v3020", 2, 0, 9, None)
            .call("cudaMemcpyAsync_v3020", 2, 10, 90, None)
            .call("cudaMemcpy_v3020", 2, 90, 92, None)
            .build();
        let names = |all| {
            let table = syncs(&trace, &Scope::whole(&trace), all);
            table.rows.iter().map(|row| row[4].clone()).collect::<Vec<_>>()
        };
        let text = |name: &str| Cell::Text(name.to_owned());
        assert_eq!(names(false), [text("cudaStreamSynchronize_v3020"), text("cudaDeviceSynchronize_v3020")]);
        assert_eq!(names(true).len(), 4);
        assert_eq!(names(true)[0], text("cudaEventSynchronize_v3020"));
    }
}
