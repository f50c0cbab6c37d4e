//! One way to read start, end and ink of anything that a lane shows, without copying it.

use super::coloring::OpInks;
use super::ink::Ink;
use crate::analysis::{Cause, Classes, Idle, Projected};
use crate::trace::{CallTable, OpTable, RangeTable};
use crate::units::Span;

/// Slices by index, sorted by start within each row that refers to them. An index past the end reads as an instant
/// at time 0.
pub trait Slices: Sync {
    /// Start of slice `at` in nanoseconds of its file.
    fn start_ns(&self, at: u32) -> i64;
    /// End of slice `at`.
    fn end_ns(&self, at: u32) -> i64;
    /// Ink of slice `at`.
    fn ink(&self, at: u32) -> Ink;

    /// Span of slice `at`.
    fn span(&self, at: u32) -> Span {
        Span::new(self.start_ns(at), self.end_ns(at))
    }
}

fn read(column: &[i64], at: u32) -> i64 {
    column.get(at as usize).copied().unwrap_or(0)
}

/// GPU operations of a rank.
pub struct Ops<'a> {
    /// The operations.
    pub table: &'a OpTable,
    /// Their classes.
    pub classes: &'a Classes,
    /// Their inks.
    pub inks: &'a OpInks,
}

impl Slices for Ops<'_> {
    fn start_ns(&self, at: u32) -> i64 {
        read(&self.table.start_ns, at)
    }

    fn end_ns(&self, at: u32) -> i64 {
        read(&self.table.end_ns, at)
    }

    fn ink(&self, at: u32) -> Ink {
        self.inks.ink(self.table, self.classes, at)
    }
}

/// API calls of a process.
pub struct Calls<'a> {
    /// The calls.
    pub table: &'a CallTable,
    /// Ink by name, see [`super::ink::call_inks`]; empty when all calls look the same.
    pub inks: &'a [u8],
    /// Ink of names that `inks` does not hold.
    pub otherwise: Ink,
}

impl Slices for Calls<'_> {
    fn start_ns(&self, at: u32) -> i64 {
        read(&self.table.start_ns, at)
    }

    fn end_ns(&self, at: u32) -> i64 {
        read(&self.table.end_ns, at)
    }

    fn ink(&self, at: u32) -> Ink {
        let name = self.table.name.get(at as usize);
        name.and_then(|name| self.inks.get(name.0 as usize)).map_or(self.otherwise, |ink| Ink(*ink))
    }
}

/// NVTX ranges or marks of a thread.
pub struct Ranges<'a>(pub &'a RangeTable);

impl Slices for Ranges<'_> {
    fn start_ns(&self, at: u32) -> i64 {
        read(&self.0.start_ns, at)
    }

    fn end_ns(&self, at: u32) -> i64 {
        read(&self.0.end_ns, at)
    }

    fn ink(&self, _at: u32) -> Ink {
        Ink::NVTX
    }
}

/// NVTX ranges as they ran on the GPU.
pub struct Projection<'a>(pub &'a [Projected]);

impl Slices for Projection<'_> {
    fn start_ns(&self, at: u32) -> i64 {
        self.0.get(at as usize).map_or(0, |range| range.gpu.start_ns)
    }

    fn end_ns(&self, at: u32) -> i64 {
        self.0.get(at as usize).map_or(0, |range| range.gpu.end_ns)
    }

    fn ink(&self, _at: u32) -> Ink {
        Ink::NVTX
    }
}

/// Idle gaps, in the ink of the cause that takes most of each.
pub struct Gaps<'a>(pub &'a Idle);

impl Slices for Gaps<'_> {
    fn start_ns(&self, at: u32) -> i64 {
        self.0.gap(at as usize).map_or(0, |gap| gap.start_ns)
    }

    fn end_ns(&self, at: u32) -> i64 {
        self.0.gap(at as usize).map_or(0, |gap| gap.end_ns)
    }

    fn ink(&self, at: u32) -> Ink {
        Ink::cause(self.0.cause_of(at as usize).unwrap_or(Cause::Unknown))
    }
}

/// Spans of one ink, such as exposed communication.
pub struct Spans<'a> {
    /// The spans.
    pub spans: &'a [Span],
    /// Their ink.
    pub ink: Ink,
}

impl Slices for Spans<'_> {
    fn start_ns(&self, at: u32) -> i64 {
        self.spans.get(at as usize).map_or(0, |s| s.start_ns)
    }

    fn end_ns(&self, at: u32) -> i64 {
        self.spans.get(at as usize).map_or(0, |s| s.end_ns)
    }

    fn ink(&self, _at: u32) -> Ink {
        self.ink
    }
}
