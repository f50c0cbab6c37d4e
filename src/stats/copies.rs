//! Copies that hold up the host: asynchronous ones of pageable memory, and synchronous ones.

use super::Scope;
use super::report::Report;
use super::table::{Cell, Column, Table, Unit};
use crate::trace::{CopyEnds, CopyKind, MemoryKind, NameId, OpKind, Process, Rank, Trace};
use crate::units::Span;
use std::cmp::Reverse;

/// Host to device copies up to this size do not hold up the host: the driver keeps the bytes.
const STAGED_BYTES: u64 = 64_000;

/// A copy that is listed.
#[derive(Debug)]
struct Copy {
    span: Span,
    ends: CopyEnds,
    bytes: Option<u64>,
    pid: u32,
    device: i64,
    stream: i64,
    call: Option<NameId>,
}

/// Asynchronous copies that read or write pageable memory: they do not run beside the host.
pub(super) fn pageable_async(trace: &Trace, scope: &Scope) -> Table {
    let is_async = |name: &str| after_memcpy(name).is_some_and(|rest| rest.contains("async"));
    let copies = copies(trace, scope, |rank, process, op| {
        let ends = rank.ops.copy_ends_of(op)?;
        let pageable = ends.from == MemoryKind::Pageable || ends.to == MemoryKind::Pageable;
        match rank.ops.launch_of(op as usize) {
            _ if !pageable => None,
            Some(launch) => matching(trace, process, launch, is_async).map(Some),
            None => Some(None),
        }
    });
    let lost = copies.iter().filter(|copy| copy.call.is_none()).count();
    let note = (lost > 0).then(|| {
        format!("{lost} of these copies have no call in the capture (cut off by its window): listed without a name.")
    });
    table(trace, Report::CudaMemcpyAsync, copies).with_note(note)
}

/// Copies by a synchronous call, without those that the driver can stage and those within one device.
pub(super) fn synchronous(trace: &Trace, scope: &Scope) -> Table {
    let is_sync = |name: &str| after_memcpy(name).is_some_and(|rest| !rest.contains("async"));
    let copies = copies(trace, scope, |rank, process, op| {
        let ends = rank.ops.copy_ends_of(op)?;
        let upload = rank.ops.kind.get(op as usize) == Some(&OpKind::Memcpy(CopyKind::HostToDevice));
        let staged = upload && rank.ops.bytes_of(op).unwrap_or(0) <= STAGED_BYTES;
        let launch = rank.ops.launch_of(op as usize).filter(|_| !staged && !ends.within_device)?;
        matching(trace, process, launch, is_sync).map(Some)
    });
    table(trace, Report::CudaMemcpySync, copies)
}

/// What follows `cudaMemcpy` in a function's name, in small letters.
fn after_memcpy(name: &str) -> Option<String> {
    name.to_ascii_lowercase().strip_prefix("cudamemcpy").map(str::to_owned)
}

/// The innermost call with the correlation id of `launch` whose name is right.
fn matching(trace: &Trace, process: &Process, launch: u32, is_right: impl Fn(&str) -> bool) -> Option<NameId> {
    let mut names = process.calls_of(launch).filter_map(|call| process.api.name.get(call as usize).copied());
    names.find(|name| is_right(trace.name(*name)))
}

/// The copies that `call` lists, each with the name of its call when that is known.
fn copies(trace: &Trace, scope: &Scope, call: impl Fn(&Rank, &Process, u32) -> Option<Option<NameId>>) -> Vec<Copy> {
    let mut found = Vec::new();
    for (at, rank) in trace.ranks.iter().enumerate() {
        let Some(process) = trace.processes.get(rank.process) else { continue };
        for (op, ends) in &rank.ops.copies {
            let span = rank.ops.span(*op as usize);
            if !scope.holds_op(at, span) {
                continue;
            }
            let Some(call) = call(rank, process, *op) else { continue };
            let stream = rank.ops.stream.get(*op as usize).and_then(|stream| rank.streams.get(*stream as usize));
            found.push(Copy {
                span,
                ends: *ends,
                bytes: rank.ops.bytes_of(*op),
                pid: process.pid,
                device: rank.device,
                stream: stream.map_or(-1, |stream| stream.id),
                call,
            });
        }
    }
    found.sort_by_key(|copy| (Reverse(copy.span.len_ns()), copy.span.start_ns, copy.pid, copy.device, copy.stream));
    found
}

fn table(trace: &Trace, report: Report, copies: Vec<Copy>) -> Table {
    let columns = vec![
        Column::new("Duration (ns)", Unit::Nanoseconds, "how long the copy ran on the GPU"),
        Column::new("Start (ns)", Unit::Nanoseconds, "when it began there, on the export's clock"),
        Column::new("Src Kind", Unit::Text, "memory it read"),
        Column::new("Dst Kind", Unit::Text, "memory it wrote"),
        Column::new("Bytes (MB)", Unit::Megabytes, "size; 1 MB is a million bytes"),
        Column::new("PID", Unit::Number, "process"),
        Column::new("Device ID", Unit::Number, "device"),
        Column::new("Context ID", Unit::Number, "CUDA context"),
        Column::new("Stream ID", Unit::Number, "stream"),
        Column::new(
            "API Name",
            Unit::Text,
            "function that asked for it; unknown when the capture does not hold the call",
        ),
    ];
    let kind = |kind: MemoryKind| memory(kind).map_or(Cell::Unknown, |text| Cell::Text(text.to_owned()));
    let row = |copy: &Copy| {
        vec![
            Cell::Int(copy.span.len_ns()),
            Cell::Int(copy.span.start_ns),
            kind(copy.ends.from),
            kind(copy.ends.to),
            copy.bytes.map_or(Cell::Unknown, |bytes| Cell::Float(bytes as f64 / 1e6)),
            Cell::Int(copy.pid.into()),
            Cell::Int(copy.device),
            Cell::Int(copy.ends.context.into()),
            Cell::Int(copy.stream),
            copy.call.map_or(Cell::Unknown, |name| Cell::Text(trace.name(name).to_owned())),
        ]
    };
    Table::new(report, columns, copies.iter().map(row).collect())
}

/// NVIDIA's words for a kind of memory.
const fn memory(kind: MemoryKind) -> Option<&'static str> {
    match kind {
        MemoryKind::Unknown => None,
        MemoryKind::Pageable => Some("Pageable"),
        MemoryKind::Pinned => Some("Pinned"),
        MemoryKind::Device => Some("Device"),
        MemoryKind::Array => Some("Array"),
        MemoryKind::Managed => Some("Managed"),
        MemoryKind::DeviceStatic => Some("Device Static"),
        MemoryKind::ManagedStatic => Some("Managed Static"),
    }
}
