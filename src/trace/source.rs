//! Where a trace came from, what was odd about it, and how to get at the rest of a row.

use serde::Serialize;
use std::fmt::Debug;
use std::path::PathBuf;

/// Kind of file a trace was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum SourceKind {
    /// SQLite export of Nsight Systems.
    Nsys,
}

/// What is known about the file itself.
#[derive(Debug, Clone, Serialize)]
pub struct Source {
    /// Kind of file.
    pub kind: SourceKind,
    /// The file.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Version of the program that exported it, when recorded.
    pub product_version: Option<String>,
    /// Version of the export's schema, when recorded.
    pub schema_version: Option<String>,
    /// Wall clock of time 0 in nanoseconds since 1970 UTC, when recorded.
    pub utc_epoch_ns: Option<i64>,
    /// Host name, when recorded.
    pub host: Option<String>,
    /// How CUDA graphs were recorded: "Graph" (one block each) or "Node", when recorded.
    pub cuda_graph_mode: Option<String>,
    /// True when the file holds samples of what the CPU ran; they are not read.
    pub cpu_samples: bool,
    /// Duration of the capture in nanoseconds, as the file states it.
    pub duration_ns: Option<i64>,
    /// Tables of the file that hold events, with their rows.
    pub tables: Vec<TableCount>,
}

/// A table of the file and how many rows were read.
#[derive(Debug, Clone, Serialize)]
pub struct TableCount {
    /// Name in the file.
    pub table: String,
    /// Rows read.
    pub rows: u64,
}

/// A card the file describes.
#[derive(Debug, Clone, Serialize)]
pub struct Gpu {
    /// Model name, such as `NVIDIA A100-SXM4-40GB`.
    pub name: String,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// Compute capability, such as `8.0`.
    pub compute_capability: Option<String>,
    /// PCI bus location.
    pub bus: Option<String>,
}

/// Something odd that did not stop the loader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable word for programs, such as `missing-table`.
    pub code: &'static str,
    /// What happened, where, and what it means for the reader.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// Table of the file that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// Kernels.
    Kernel,
    /// Memory copies.
    Memcpy,
    /// Memory fills.
    Memset,
    /// CUDA-graph executions.
    Graph,
    /// CUDA API calls.
    Api,
    /// NVTX events.
    Nvtx,
    /// OS runtime calls.
    OsRuntime,
    /// Synchronisation records.
    Sync,
}

/// A row of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowRef {
    /// Its table.
    pub table: TableKind,
    /// Its row number there.
    pub row: u32,
}

/// One field of a row, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Column name in the file.
    pub name: String,
    /// Value; references into string and enumeration tables are resolved.
    pub value: String,
    /// The value as a quantity, when the column has a unit.
    pub quantity: Option<Quantity>,
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds: a length, or a moment on the file's clock.
    Nanoseconds(i64),
    /// Bytes.
    Bytes(u64),
}

impl Field {
    /// A field without a unit.
    pub fn plain(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), quantity: None }
    }
}

/// Why the fields of a row could not be fetched.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct DetailError(pub String);

/// Fetches all fields of a row from where the trace came from.
pub trait DetailSource: Debug + Send + Sync {
    /// All fields of `row` that hold a value, in the file's order.
    ///
    /// # Errors
    /// When the file is gone, was replaced, or holds no such row.
    fn fields(&self, row: RowRef) -> Result<Vec<Field>, DetailError>;
}
