//! What a communication kernel moved: joins kernels to the library calls that asked for them.
//!
//! A library puts an NVTX range around each of its calls, and with sizes in it when the export kept them. A call that
//! stands alone launches its kernel inside its own range; calls between a group's start and end are queued and
//! launched inside the range of the group's end, several calls by one kernel:
//!
//! ```text
//!  GroupStart  Send  Recv  Send  Recv  GroupEnd
//!  |--------|  |--|  |--|  |--|  |--|  |----- launch ----|
//! ```
//!
//! Cost: one sweep over the ranges of each thread that launched communication.

use super::super::Collective;
use super::Communicator;
use crate::trace::{CommCall, Thread, Trace};
use crate::units::Span;
use serde::Serialize;
use std::collections::BTreeMap;

/// What one kernel moved, by the calls it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The collective, when all calls ask for one kind.
    pub kind: Option<Collective>,
    /// Calls that the kernel ran.
    pub calls: u32,
    /// Bytes as the calls state them, summed; of sends and receives the larger of the two sums.
    pub bytes: u64,
    /// Communicator, when it is one.
    pub communicator: Option<u64>,
    /// Peer of sends and receives, when it is one.
    pub peer: Option<i32>,
}

/// Why sizes are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// The size of every communication kernel is known.
    All,
    /// Of some: others were launched before the capture, or by a group of calls with several kernels.
    Some,
    /// No range of a communication library was recorded.
    NoRanges,
    /// Ranges were recorded, without their values.
    NoValues,
}

impl Sizes {
    /// What is unknown and what to record; empty when nothing is.
    pub const fn text(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Some => {
                "Some kernels were launched outside the capture or share a group of calls with other kernels: their sizes \
                 are unknown and left out."
            }
            Self::NoRanges => {
                "Message sizes and bandwidth are unknown: no NVTX range of NCCL was recorded. Record them with \
                 `nsys profile --trace=cuda,nvtx` and NCCL 2.19 or later, and export with `--include-blobs=true`."
            }
            Self::NoValues => {
                "Message sizes and bandwidth are unknown: NCCL's ranges are here without their values. Export the report \
                 again with `nsys export --type=sqlite --include-blobs=true`; NCCL writes sizes from 2.19 on."
            }
        }
    }
}

/// The messages of one rank.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// What kernels moved, as (operation, message) sorted by operation.
    pub by_op: Vec<(u32, Message)>,
    /// Collective that a kernel's only kind of call asked for, also without values; sorted by operation.
    pub kinds: Vec<(u32, Collective)>,
    /// True when any range of a library was seen.
    pub ranges: bool,
    /// True when any range carried values.
    pub values: bool,
}

/// A call's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    GroupStart,
    GroupEnd,
    Collective(Collective),
    Send,
    Recv,
}

impl Word {
    /// What a range of a communication library is, by its name; `None` for calls that move nothing.
    fn of(name: &str, in_domain: bool) -> Option<Self> {
        // From NCCL 2.28 on the names may come without their prefix.
        let word = match name.strip_prefix("nccl") {
            Some(rest) => rest,
            None if in_domain => name,
            None => return None,
        };
        Some(match word {
            "GroupStart" => Self::GroupStart,
            "GroupEnd" => Self::GroupEnd,
            "Send" => Self::Send,
            "Recv" => Self::Recv,
            "AllReduce" => Self::Collective(Collective::AllReduce),
            "AllGather" => Self::Collective(Collective::AllGather),
            "ReduceScatter" => Self::Collective(Collective::ReduceScatter),
            "Broadcast" | "Bcast" => Self::Collective(Collective::Broadcast),
            "Reduce" => Self::Collective(Collective::Reduce),
            "AlltoAll" | "AllToAll" => Self::Collective(Collective::AllToAll),
            "Gather" | "Scatter" => Self::Collective(Collective::Other),
            _ => return None,
        })
    }

    const fn kind(self) -> Option<Collective> {
        match self {
            Self::GroupStart | Self::GroupEnd => None,
            Self::Collective(kind) => Some(kind),
            Self::Send | Self::Recv => Some(Collective::SendRecv),
        }
    }
}

/// Calls that belong together, and the kernels they launched.
#[derive(Debug, Default)]
struct Unit {
    calls: Vec<(Word, Option<CommCall>)>,
    /// Operation and the collective its name tells.
    kernels: Vec<(u32, Collective)>,
    end_ns: i64,
    depth: u32,
    closing: bool,
}

/// What calls tell of communicators: their sizes, whichever process says so, and the own rank of `process` in each.
pub(super) fn communicators(trace: &Trace, process: Option<usize>) -> BTreeMap<u64, Communicator> {
    let mut known: BTreeMap<u64, Communicator> = BTreeMap::new();
    for thread in &trace.threads {
        for (_, call) in &thread.nvtx.comm_calls {
            let Some(id) = call.communicator else { continue };
            let ranks = call.ranks.and_then(|ranks| u32::try_from(ranks).ok()).filter(|ranks| *ranks > 0);
            let own = call.rank.filter(|_| Some(thread.process) == process && ranks.is_some());
            if ranks.is_some() {
                let entry = known.entry(id).or_default();
                entry.ranks = ranks.or(entry.ranks);
                entry.own_rank = own.and_then(|rank| u32::try_from(rank).ok()).or(entry.own_rank);
            }
        }
    }
    known
}

/// Joins the communication kernels of a rank, given as (operation, collective), to their calls.
pub(super) fn messages(trace: &Trace, rank: usize, kernels: &[(u32, Collective)]) -> Messages {
    let mut found = Messages::default();
    let Some(rank) = trace.ranks.get(rank) else { return found };
    let launch = |(op, kind): &(u32, Collective)| Some((rank.ops.launch_of(*op as usize)?, (*op, *kind)));
    let mut launches: Vec<(u32, (u32, Collective))> = kernels.iter().filter_map(launch).collect();
    launches.sort_unstable_by_key(|(call, (op, _))| (*call, *op));
    for thread in trace.threads.iter().filter(|thread| thread.process == rank.process) {
        let first = launches.partition_point(|(call, _)| *call < thread.api.start);
        let last = launches.partition_point(|(call, _)| *call < thread.api.end);
        if let Some(own) = launches.get(first..last).filter(|own| !own.is_empty()) {
            let process = trace.processes.get(rank.process);
            let start_ns = |call: u32| process.and_then(|p| p.api.start_ns.get(call as usize).copied()).unwrap_or(0);
            let timed: Vec<(i64, (u32, Collective))> = own.iter().map(|(call, op)| (start_ns(*call), *op)).collect();
            sweep(trace, thread, &timed, &mut found);
        }
    }
    found.by_op.sort_unstable_by_key(|(op, _)| *op);
    found.kinds.sort_unstable_by_key(|(op, _)| *op);
    found
}

/// One thread: its ranges and launches in order of time.
fn sweep(trace: &Trace, thread: &Thread, launches: &[(i64, (u32, Collective))], found: &mut Messages) {
    let ranges = &thread.nvtx;
    let nccl: Vec<bool> = trace.domains.iter().map(|domain| trace.name(*domain) == "NCCL").collect();
    let mut calls = ranges.comm_calls.iter().peekable();
    let mut launches = launches.iter().copied().peekable();
    let mut unit = Unit::default();
    for at in 0..ranges.len() {
        // Libraries have a domain of their own; without any domains their ranges are known by name.
        let domain = usize::from(ranges.domain[at]);
        if domain == 0 && nccl.len() > 1 {
            continue;
        }
        let in_domain = nccl.get(domain).copied().unwrap_or(false);
        let Some(word) = Word::of(trace.name(ranges.name[at]), in_domain) else { continue };
        while calls.next_if(|(event, _)| (*event as usize) < at).is_some() {}
        let call = calls.peek().filter(|(event, _)| *event as usize == at).map(|(_, call)| *call);
        found.ranges = true;
        found.values |= call.is_some_and(|call| call.bytes.is_some());
        let span = ranges.span(at);
        while let Some((at_ns, kernel)) = launches.next_if(|(at_ns, _)| *at_ns < span.start_ns) {
            unit.launched(at_ns, kernel);
        }
        if unit.ends_before(word) {
            std::mem::take(&mut unit).resolve(found);
        }
        unit.add(word, call, span);
    }
    for (at_ns, kernel) in launches {
        unit.launched(at_ns, kernel);
    }
    unit.resolve(found);
}

impl Unit {
    /// True when a call with `word` begins another unit.
    fn ends_before(&self, word: Word) -> bool {
        match word {
            Word::GroupEnd => false,
            Word::GroupStart | Word::Collective(_) => self.depth == 0,
            // Sends and receives whose group began before the capture are collected until its end.
            Word::Send | Word::Recv => self.depth == 0 && (self.closing || !self.kernels.is_empty()),
        }
    }

    fn add(&mut self, word: Word, call: Option<CommCall>, span: Span) {
        match word {
            Word::GroupStart => self.depth += 1,
            Word::GroupEnd => {
                self.depth = self.depth.saturating_sub(1);
                self.closing = true;
            }
            _ => self.calls.push((word, call)),
        }
        self.end_ns = self.end_ns.max(span.end_ns);
    }

    fn launched(&mut self, at_ns: i64, kernel: (u32, Collective)) {
        if at_ns < self.end_ns {
            self.kernels.push(kernel);
            // Only the end of the outermost group launches anything, so the depth was wrong when it is not 0 here.
            if self.closing {
                self.depth = 0;
            }
        }
    }

    /// Gives the unit's kernels their messages: one kernel ran all calls; as many kernels as calls ran one each, when
    /// the kinds agree; otherwise it is not recorded which kernel ran which call.
    fn resolve(self, found: &mut Messages) {
        if let [(op, _)] = self.kernels.as_slice() {
            give(*op, &self.calls, found);
            return;
        }
        let agree = |(kernel, call): (&(u32, Collective), &(Word, Option<CommCall>))| call.0.kind() == Some(kernel.1);
        let one_each = self.kernels.len() == self.calls.len() && self.kernels.iter().zip(&self.calls).all(agree);
        if one_each && !self.calls.iter().any(|(word, _)| word.kind() == Some(Collective::SendRecv)) {
            for ((op, _), call) in self.kernels.iter().zip(&self.calls) {
                give(*op, std::slice::from_ref(call), found);
            }
        }
    }
}

fn give(op: u32, calls: &[(Word, Option<CommCall>)], found: &mut Messages) {
    if let Some(kind) = only(calls.iter().map(|(word, _)| word.kind())) {
        found.kinds.push((op, kind));
    }
    if let Some(message) = Message::of(calls) {
        found.by_op.push((op, message));
    }
}

impl Message {
    /// What `calls` move together; `None` when one of them does not say.
    fn of(calls: &[(Word, Option<CommCall>)]) -> Option<Self> {
        let (mut sent, mut received, mut collective) = (0_u64, 0_u64, 0_u64);
        for (word, call) in calls {
            let bytes = (*call)?.bytes?;
            let sum = match word {
                Word::Send => &mut sent,
                Word::Recv => &mut received,
                _ => &mut collective,
            };
            *sum = sum.saturating_add(bytes);
        }
        Some(Self {
            kind: only(calls.iter().map(|(word, _)| word.kind())),
            calls: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            bytes: collective.saturating_add(sent.max(received)),
            communicator: only(calls.iter().map(|(_, call)| call.and_then(|call| call.communicator))),
            peer: only(calls.iter().map(|(_, call)| call.and_then(|call| call.peer))),
        })
        .filter(|message| message.calls > 0)
    }
}

/// The value that all of `values` share.
fn only<T: PartialEq + Copy>(mut values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}
