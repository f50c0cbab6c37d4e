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
    /// Calls that share the correlation id of a launch and are not the innermost, as (launch, call) in order: a runtime
    /// call that made the launching driver call, say.
    pub outer_calls: Vec<(u32, u32)>,
}

impl Process {
    /// Every call with the correlation id of `launch`: itself, then those around it.
    pub fn calls_of(&self, launch: u32) -> impl Iterator<Item = u32> {
        let first = self.outer_calls.partition_point(|(inner, _)| *inner < launch);
        let outer = self.outer_calls.iter().skip(first).take_while(move |(inner, _)| *inner == launch);
        std::iter::once(launch).chain(outer.map(|(_, call)| *call))
    }
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
    /// What communication calls say of themselves, as (event, values) sorted by event; all other events have none.
    pub comm_calls: Vec<(u32, CommCall)>,
}

/// Values that a communication library attaches to the range of one of its calls. Each is there only if recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommCall {
    /// The communicator, by a number that all its ranks share.
    pub communicator: Option<u64>,
    /// Message size in bytes, of the one rank.
    pub bytes: Option<u64>,
    /// The other rank of a send or a receive, as a rank of the communicator.
    pub peer: Option<i32>,
    /// The root of a broadcast or a reduction.
    pub root: Option<i32>,
    /// The reduction, by the library's number: 0 is the sum.
    pub reduction: Option<i32>,
    /// Ranks of the communicator; told when it is made.
    pub ranks: Option<i32>,
    /// Own rank within the communicator; told when it is made.
    pub rank: Option<i32>,
}

impl RangeTable {
    /// What the communication call of event `at` says of itself.
    pub fn comm_call(&self, at: usize) -> Option<&CommCall> {
        let at = u32::try_from(at).ok()?;
        let place = self.comm_calls.binary_search_by_key(&at, |(event, _)| *event).ok()?;
        self.comm_calls.get(place).map(|(_, call)| call)
    }

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
