//! What the host did: CUDA API calls, NVTX ranges, OS runtime calls.

use super::{NONE, NameId, RowNumbers};
use crate::units::Span;
use std::ops::Range;

/// Calls as columns of equal length. Calls of one thread are adjoining and sorted by start, then longest first, so
/// that an enclosing call comes before those inside it.
#[derive(Debug, Default, Clone)]
pub struct CallTable {
    /// Start in nanoseconds.
    pub start_ns: Vec<i64>,
    /// End in nanoseconds; the capture's end for a call that never returned.
    pub end_ns: Vec<i64>,
    /// Name of the function, ABI suffix included.
    pub name: Vec<NameId>,
    /// Row in the file.
    pub row: RowNumbers,
}

impl CallTable {
    /// Number of calls.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// The span of call `at`.
    ///
    /// # Panics
    /// When `at` is not a call of this table.
    pub fn span(&self, at: usize) -> Span {
        Span::new(self.start_ns[at], self.end_ns[at])
    }
}

/// A process that did anything.
#[derive(Debug)]
pub struct Process {
    /// The file's key: host bits and process id, thread bits zero. May be negative.
    pub global_pid: i64,
    /// Operating-system process id (24 bits of it are recorded).
    pub pid: u32,
    /// Name of the program, when recorded.
    pub name: Option<NameId>,
    /// CUDA runtime and driver calls of all its threads, thread after thread ([`Thread::api`]).
    pub api: CallTable,
}

/// A thread that did anything.
#[derive(Debug)]
pub struct Thread {
    /// The file's key. May be negative.
    pub global_tid: i64,
    /// Operating-system thread id (24 bits of it are recorded).
    pub tid: u32,
    /// Index into [`super::Trace::processes`].
    pub process: usize,
    /// Name, when recorded.
    pub name: Option<NameId>,
    /// Its calls in the process's API table.
    pub api: Range<u32>,
    /// NVTX push/pop and start/end ranges.
    pub nvtx: RangeTable,
    /// NVTX marks: start equals end.
    pub marks: RangeTable,
    /// OS runtime calls.
    pub os: CallTable,
}

/// How an NVTX event was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RangeKind {
    /// Push and pop: nests on its thread.
    PushPop,
    /// Start and end: may cross others and end on another thread.
    StartEnd,
    /// An instant.
    Mark,
}

/// NVTX events of one thread as columns of equal length, sorted by start, then longest first.
#[derive(Debug, Default, Clone)]
pub struct RangeTable {
    /// Start in nanoseconds; may lie before 0.
    pub start_ns: Vec<i64>,
    /// End in nanoseconds; the capture's end for a range that was never closed.
    pub end_ns: Vec<i64>,
    /// Name.
    pub name: Vec<NameId>,
    /// How it was made.
    pub kind: Vec<RangeKind>,
    /// True when the file holds no end.
    pub open: Vec<bool>,
    /// True when another thread than this one ended it.
    pub ended_elsewhere: Vec<bool>,
    /// Index into [`super::Trace::domains`].
    pub domain: Vec<u16>,
    /// Index into [`super::Trace::categories`].
    pub category: Vec<u16>,
    /// Colour as 0xRRGGBB, or [`NONE`] when the program gave none.
    pub color: Vec<u32>,
    /// Row in the file.
    pub row: RowNumbers,
}

impl RangeTable {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// The span of event `at`.
    ///
    /// # Panics
    /// When `at` is not an event of this table.
    pub fn span(&self, at: usize) -> Span {
        Span::new(self.start_ns[at], self.end_ns[at])
    }

    /// The program's colour of event `at` as (red, green, blue).
    pub fn rgb(&self, at: usize) -> Option<(u8, u8, u8)> {
        let color = self.color.get(at).copied().filter(|color| *color != NONE)?;
        let [_, red, green, blue] = color.to_be_bytes();
        Some((red, green, blue))
    }
}
