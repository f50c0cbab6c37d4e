//! Calls that waited for the GPU, and what each of them waited for.

use super::super::CallKind;
use super::calls::{Groups, base_name, each_call};
use crate::trace::{NameId, OpKind, Trace};
use crate::units::Span;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a call waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncKind {
    /// Everything in one stream.
    Stream,
    /// Everything on the device.
    Device,
    /// An event; which stream it was recorded in is not kept, so any operation may be the one.
    Event,
    /// Its own copy, which had ended when the call returned.
    Copy,
}

impl SyncKind {
    /// What it waited for in words; `stream` is the id of the stream, when one is known.
    pub fn text(self, stream: Option<i64>) -> String {
        let word = match self {
            Self::Stream => "stream",
            Self::Device => return "the whole device".to_owned(),
            Self::Event => return "an event".to_owned(),
            Self::Copy => "its own copy in stream",
        };
        stream.map_or_else(|| word.to_owned(), |id| format!("{word} {id}"))
    }

    fn by_name(name: &str) -> Option<Self> {
        (CallKind::of(name) == CallKind::Synchronize).then(|| match name {
            _ if name.contains("Stream") => Self::Stream,
            _ if name.contains("Event") => Self::Event,
            _ => Self::Device,
        })
    }

    /// By the type that the record of the call states.
    const fn by_record(sync_type: u8) -> Option<Self> {
        match sync_type {
            1 => Some(Self::Event),
            3 => Some(Self::Stream),
            4 => Some(Self::Device),
            _ => None,
        }
    }
}

/// A call that waited for the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncCall {
    /// The call, as an index into the process's calls.
    pub call: u32,
    /// Its time.
    pub span: Span,
    /// Its name.
    pub name: NameId,
    /// What it waited for.
    pub kind: SyncKind,
    /// Index of the stream, when it waited for one that is known.
    pub stream: Option<u16>,
    /// The last operation of the stream or device that ended before the call returned; `None` when all had ended before
    /// it began.
    pub waited_for: Option<u32>,
}

/// Waiting calls of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyncSum {
    /// Function without the suffix of its version.
    pub name: String,
    /// Calls.
    pub count: u64,
    /// Their time, summed over threads.
    pub total_ns: i64,
    /// Longest.
    pub longest_ns: i64,
}

/// The waiting calls of a rank, in order of their return.
pub(super) fn sync_calls(trace: &Trace, rank: usize) -> Vec<SyncCall> {
    let Some(at) = trace.ranks.get(rank) else { return Vec::new() };
    let records = records(trace, rank);
    // With several devices in one process only the records tell whose call it was.
    let alone = trace.ranks.iter().filter(|other| other.process == at.process).count() == 1;
    let mut calls = Vec::new();
    let mut groups = Groups::default();
    let mut kinds: FxHashMap<NameId, Option<SyncKind>> = FxHashMap::default();
    for thread in trace.threads.iter().filter(|thread| thread.process == at.process) {
        each_call(trace, at.process, &thread.api, Span::new(i64::MIN, i64::MAX), &mut groups, |_, name, call, span| {
            let Some(kind) = *kinds.entry(name).or_insert_with(|| SyncKind::by_name(trace.name(name))) else { return };
            let record = records.get(&call).copied();
            if record.is_some() || alone {
                let (kind, stream) = record.unwrap_or((kind, None));
                calls.push(SyncCall { call, span, name, kind, stream, waited_for: None });
            }
        });
    }
    calls.sort_unstable_by_key(|sync| (sync.span.end_ns, sync.call));
    find_waited_for(trace, rank, &mut calls);
    calls.extend(copies(trace, rank));
    calls.sort_unstable_by_key(|sync| (sync.span.end_ns, sync.call));
    calls
}

/// Kind and stream by call, for the calls that left a record.
fn records(trace: &Trace, rank: usize) -> FxHashMap<u32, (SyncKind, Option<u16>)> {
    let Some(rank) = trace.ranks.get(rank) else { return FxHashMap::default() };
    let syncs = &rank.syncs;
    let stream = |id: i64| rank.streams.iter().position(|s| s.id == id).and_then(|at| u16::try_from(at).ok());
    let of = |at: usize| {
        let kind = SyncKind::by_record(syncs.sync_type[at])?;
        Some((syncs.launch[at], (kind, stream(syncs.stream_id[at]).filter(|_| kind == SyncKind::Stream))))
    };
    (0..syncs.launch.len()).filter_map(of).collect()
}

/// Sweeps operations by their end and calls by their return.
fn find_waited_for(trace: &Trace, rank: usize, calls: &mut [SyncCall]) {
    let Some(rank) = trace.ranks.get(rank) else { return };
    let ops = &rank.ops;
    let mut next = 0;
    let mut running: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut last_of: Vec<Option<(i64, u32)>> = vec![None; rank.streams.len()];
    let mut last: Option<(i64, u32)> = None;
    for sync in calls {
        while next < ops.len() && ops.start_ns[next] < sync.span.end_ns {
            running.push(Reverse((ops.end_ns[next], next as u32)));
            next += 1;
        }
        while let Some(Reverse(ended)) = running.peek().copied().filter(|Reverse((end, _))| *end <= sync.span.end_ns) {
            running.pop();
            last = Some(ended);
            if let Some(slot) = last_of.get_mut(ops.stream[ended.1 as usize] as usize) {
                *slot = Some(ended);
            }
        }
        let ended = match sync.stream {
            Some(stream) => last_of.get(stream as usize).copied().flatten(),
            None => last,
        };
        sync.waited_for = ended.filter(|(end_ns, _)| *end_ns > sync.span.start_ns).map(|(_, op)| op);
    }
}

/// Copy calls that returned only after their copy had ended: synchronous ones, and asynchronous ones of pageable memory.
fn copies(trace: &Trace, rank: usize) -> Vec<SyncCall> {
    let Some(rank) = trace.ranks.get(rank) else { return Vec::new() };
    let Some(api) = trace.processes.get(rank.process).map(|process| &process.api) else { return Vec::new() };
    let ops = &rank.ops;
    let of = |op: usize| {
        if !matches!(ops.kind[op], OpKind::Memcpy(_)) {
            return None;
        }
        let call = ops.launch_of(op)?;
        let (span, name) = (api.span(call as usize), api.name[call as usize]);
        let is_copy = CallKind::of(trace.name(name)) == CallKind::Copy;
        (is_copy && span.end_ns >= ops.end_ns[op]).then_some(SyncCall {
            call,
            span,
            name,
            kind: SyncKind::Copy,
            stream: Some(ops.stream[op]),
            waited_for: Some(op as u32),
        })
    };
    (0..ops.len()).filter_map(of).collect()
}

/// Sums by name, the one with the most time first.
pub(super) fn sums(trace: &Trace, calls: &[SyncCall]) -> Vec<SyncSum> {
    let mut sums: Vec<SyncSum> = Vec::new();
    let mut groups: FxHashMap<&str, usize> = FxHashMap::default();
    for sync in calls {
        let name = base_name(trace.name(sync.name));
        let at = *groups.entry(name).or_insert_with(|| {
            sums.push(SyncSum { name: name.to_owned(), count: 0, total_ns: 0, longest_ns: 0 });
            sums.len() - 1
        });
        if let Some(sum) = sums.get_mut(at) {
            sum.count += 1;
            sum.total_ns = sum.total_ns.saturating_add(sync.span.len_ns());
            sum.longest_ns = sum.longest_ns.max(sync.span.len_ns());
        }
    }
    sums.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
    sums
}
