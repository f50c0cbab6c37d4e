//! What host threads called: the CUDA API and the OS runtime.

use super::error::LoadError;
use super::load::Load;
use super::meta::process_of;
use super::plan::{TableSpec, Weight, required, spare, wanted};
use crate::trace::{RawCall, TableKind};

const ONE_THREAD: &str = "its calls cannot be told apart by thread or process, and joined to no GPU work";
const NO_NAME: &str = "names of functions are unknown";

/// Runtime and driver API calls, of every event class.
pub(crate) static API: TableSpec = TableSpec {
    base: "CUPTI_ACTIVITY_KIND_RUNTIME",
    kind: TableKind::Api,
    weight: Weight::Main,
    without: "CUDA API calls, and with them what launched GPU work and why the GPU was idle, are unknown.",
    record: "Record them with `nsys profile --trace=cuda ...`.",
    columns: &[
        required("start"),
        required("end"),
        wanted("globalTid", ONE_THREAD),
        wanted("nameId", NO_NAME),
        wanted("correlationId", "GPU work cannot be joined to the calls that launched it"),
    ],
};

/// OS runtime calls.
pub(crate) static OS_RUNTIME: TableSpec = TableSpec {
    base: "OSRT_API",
    kind: TableKind::OsRuntime,
    weight: Weight::Extra,
    without: "OS runtime calls are unknown.",
    record: "",
    columns: &[
        required("start"),
        required("end"),
        wanted("globalTid", ONE_THREAD),
        wanted("nameId", NO_NAME),
        spare("correlationId"),
    ],
};

const START: usize = 0;
const END: usize = 1;
const GLOBAL_TID: usize = 2;
const NAME: usize = 3;
const CORRELATION: usize = 4;

/// Reads the API calls.
pub(crate) fn read_api(load: &mut Load<'_>) -> Result<(), LoadError> {
    read(load, &API)
}

/// Reads the OS runtime calls.
pub(crate) fn read_os_runtime(load: &mut Load<'_>) -> Result<(), LoadError> {
    read(load, &OS_RUNTIME)
}

fn read(load: &mut Load<'_>, spec: &'static TableSpec) -> Result<(), LoadError> {
    let is_api = spec.kind == TableKind::Api;
    let mut no_start = 0;
    load.read(spec, |sink, batch| {
        for row in 0..batch.len() {
            let Some(start_ns) = batch.int(START, row) else {
                no_start += 1;
                continue;
            };
            let global_tid = batch.int(GLOBAL_TID, row).unwrap_or(0);
            let call = RawCall {
                start_ns,
                end_ns: batch.int(END, row),
                global_tid,
                correlation: batch.int(CORRELATION, row),
                name: sink.name(batch.int(NAME, row)),
                row: batch.row_number(row),
            };
            if is_api {
                sink.calling.add(process_of(global_tid));
                sink.builder.call(call);
            } else {
                sink.hosting.add(process_of(global_tid));
                sink.builder.os_call(call);
            }
        }
    })?;
    let message = format!("rows of table {} without a start: left out", spec.base);
    load.sink.warnings.add("missing-start", no_start, message);
    Ok(())
}
