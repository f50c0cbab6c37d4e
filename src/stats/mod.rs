//! Summary tables with the names and meanings of NVIDIA's own (`nsys stats`, `nsys analyze`): pure functions from a trace
//! to tables.
//!
//! A table counts one file as a whole: all processes, devices and streams together, every row at its full length.
//! Names of reports and columns are NVIDIA's, and so is what they mean; where NVIDIA's arithmetic is known to go wrong,
//! ours is right and the report says so ([`Report::differs`]).
//!
//! Cost: a pass over the operations, calls or ranges of the report, and 8 bytes for each while medians are found.

mod busy;
mod copies;
mod exec;
mod gpu;
mod host;
mod projection;
mod ranges;
mod report;
mod request;
mod scope;
mod summary;
mod table;

pub use crate::analysis::Summary;
pub use report::Report;
pub use request::{Request, RequestError};
pub use scope::{NoStep, Scope};
pub use table::{Cell, Column, Skipped, Table, Unit};

use crate::trace::Trace;

/// The table that `request` asks for, of the rows of `trace` that `scope` holds.
pub fn table(trace: &Trace, request: &Request, scope: &Scope) -> Table {
    let mut table = match missing(trace, request.report) {
        Some(skipped) => Table::skipped(request.report, skipped),
        None => rows(trace, request, scope),
    };
    if let Some(most) = request.rows {
        table.limit(most);
    }
    table
}

fn rows(trace: &Trace, request: &Request, scope: &Scope) -> Table {
    match request.report {
        Report::CudaGpuKernSum => gpu::kernels(trace, scope, request.base),
        Report::CudaApiSum => host::calls(trace, scope),
        Report::CudaGpuMemTimeSum => gpu::memory_time(trace, scope),
        Report::CudaGpuMemSizeSum => gpu::memory_size(trace, scope),
        Report::NvtxSum => ranges::all(trace, scope),
        Report::NvtxPushpopSum => ranges::push_pop(trace, scope),
        Report::NvtxGpuProjSum => projection::sums(trace, scope),
        Report::CudaKernExecSum => exec::sums(trace, scope),
        Report::GpuGaps => busy::gaps(trace, scope, request.gap_ns),
        Report::GpuTimeUtil => busy::utilisation(trace, scope, request.threshold, request.chunks),
        Report::CudaApiSync => host::syncs(trace, scope, request.every_sync),
        Report::CudaMemcpyAsync => copies::pageable_async(trace, scope),
        Report::CudaMemcpySync => copies::synchronous(trace, scope),
    }
}

/// What `report` needs and `trace` does not hold.
fn missing(trace: &Trace, report: Report) -> Option<Skipped> {
    report.needs().iter().find(|need| !need.is_met(trace)).map(|need| need.skipped())
}
