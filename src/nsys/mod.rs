//! SQLite exports of Nsight Systems: the only place that knows SQLite and nsys table and column names.
//!
//! ```text
//! path -> check -> schema -> plan -> rows (scan, by several readers) -> calls, nvtx, ops, meta -> TraceBuilder -> Trace
//!                                                                       details <- one row, on demand ----------'
//! ```
//!
//! - [`open`] reads an export of any version from 2020.3 on; [`peek`] says what it is at a glance; [`convert`] makes one
//!   from a report.
//! - Neither the file nor its folder is ever written: no journal, no helper file.
//! - Tables and columns are found by name, all of them optional but one table of events. What is missing is a
//!   [`Warning`](crate::trace::Warning); what would make numbers wrong without a sign of it is a [`LoadError`].
//!
//! # Warning codes
//!
//! | code | meaning |
//! | --- | --- |
//! | `missing-table`, `absent-tables` | a table is not there |
//! | `unusable-table` | a table lacks a column that it cannot do without |
//! | `missing-column` | something is unknown for want of a column |
//! | `renamed-table`, `ignored-table` | a version of a table is read, or not |
//! | `damaged-table` | rows behind a damaged page were lost, in a table that no sum needs |
//! | `odd-value` | values that are no whole numbers |
//! | `missing-start`, `no-timestamps`, `graph-without-time` | rows without a time |
//! | `missing-process` | GPU work without a process |
//! | `unknown-name`, `unnamed-domain` | names that the file does not hold |
//! | `too-many-names` | names beyond what the model can hold |
//! | `missing-graph-executions` | CUDA graphs ran, and the file does not say when |
//! | `diagnostic` | nsys complained during the capture |

mod calls;
mod check;
mod connect;
mod convert;
mod details;
mod error;
mod load;
mod meta;
mod metrics;
mod nvtx;
mod ops;
mod payload;
mod plan;
mod progress;
mod rows;
mod scan;
mod schema;
mod sink;
mod strings;
pub mod write;

pub use check::is_report;
pub use convert::{ConvertError, convert};
pub use error::LoadError;
pub use load::{LoadOptions, MAX_READERS, open, peek, sum_sql};
pub use meta::rank_in_name;
pub use progress::Progress;
