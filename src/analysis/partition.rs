//! The exact split of a window: every nanosecond belongs to exactly one of five parts.

use super::Coverage;
use crate::units::Span;
use serde::Serialize;

/// The five parts of a window, in nanoseconds. They sum to `span_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Partition {
    /// Length of the window.
    pub span_ns: i64,
    /// Covered by communication, overlapped or not. Not one of the parts.
    pub comm_ns: i64,
    /// Compute without communication.
    pub compute_only_ns: i64,
    /// Compute and communication at once.
    pub overlapped_comm_ns: i64,
    /// Communication while no compute kernel of the device ran.
    pub exposed_comm_ns: i64,
    /// Copies and fills while no kernel ran.
    pub copy_only_ns: i64,
    /// Nothing ran.
    pub idle_ns: i64,
}
impl Partition {
    /// The parts of `window`.
    pub fn of(window: Span, compute: &Coverage, comm: &Coverage, exposed: &Coverage, busy: &Coverage) -> Self {
        let (c, n, x, b) = (compute.within(window), comm.within(window), exposed.within(window), busy.within(window));
        let overlap = n - x;
        Self {
            span_ns: window.len_ns(),
            comm_ns: n,
            compute_only_ns: c - overlap,
            overlapped_comm_ns: overlap,
            exposed_comm_ns: x,
            copy_only_ns: b - (c + x),
            idle_ns: window.len_ns() - b,
        }
    }
}
