//! Which nodes of the tree each operation belongs to.
//!
//! Operations launched while the same ranges were open share a chain of nodes, and chains share their beginnings, so
//! that an operation needs 4 bytes.

use super::tree::Tree;
use crate::trace::{NONE, Thread, Trace};
use crate::units::Span;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Of more ranges open at once than this the ones that began last are left out.
const OPEN_MOST: usize = 256;

/// Chains of nodes as a tree of links: a chain is its last link.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The link before each, or [`NONE`].
    before: Vec<u32>,
    /// Node of each link times two, plus one when the launching thread itself held the range around the whole call.
    node: Vec<u32>,
    /// Chain of each operation of the rank, or [`NONE`] when no range was open or its launch is not known.
    of_op: Vec<u32>,
}

/// A range that is open.
#[derive(Debug, Clone, Copy)]
struct Open {
    end_ns: i64,
    thread: usize,
    node: u32,
    ended_elsewhere: bool,
}

impl Chains {
    /// The chains of the operations of rank `rank`.
    pub fn of(trace: &Trace, rank: usize, tree: &Tree) -> Self {
        let rank = &trace.ranks[rank];
        let api = &trace.processes[rank.process].api;
        let mut chains = Self::default();
        let mut of_call = vec![NONE; api.len()];
        let mut sweep = Sweep::new(trace, rank.process, tree);
        for (call, thread) in launching_calls(trace, rank.process, &rank.ops.launch) {
            let link = sweep.chain(&mut chains, thread, api.span(call as usize));
            if let Some(slot) = of_call.get_mut(call as usize) {
                *slot = link;
            }
        }
        let of = |call: &u32| of_call.get(*call as usize).copied().unwrap_or(NONE);
        chains.of_op = rank.ops.launch.iter().map(of).collect();
        chains
    }

    /// The nodes of operation `op`, innermost first, each with whether the launching thread itself held its range
    /// around the whole call. A node may come twice.
    pub fn nodes(&self, op: usize) -> impl Iterator<Item = (u32, bool)> {
        let mut link = self.of_op.get(op).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let node = *self.node.get(link as usize)?;
            link = *self.before.get(link as usize)?;
            Some((node / 2, node % 2 == 1))
        })
    }
}

/// The calls that launched any of the operations with the given launches, in order of start, with their threads.
fn launching_calls(trace: &Trace, process: usize, launches: &[u32]) -> Vec<(u32, usize)> {
    let api = &trace.processes[process].api;
    let mut launching = vec![false; api.len()];
    for call in launches {
        if let Some(slot) = launching.get_mut(*call as usize) {
            *slot = true;
        }
    }
    let mut calls: Vec<(u32, usize)> = Vec::new();
    for (at, thread) in trace.threads.iter().enumerate().filter(|(_, thread)| thread.process == process) {
        let own = thread.api.clone().filter(|call| launching.get(*call as usize) == Some(&true));
        calls.extend(own.map(|call| (call, at)));
    }
    // Stable, and linear over the sorted runs that threads are.
    calls.sort_by_key(|(call, _)| api.start_ns[*call as usize]);
    calls
}

/// The open ranges of a process while its launching calls come in order of start.
struct Sweep<'a> {
    tree: &'a Tree,
    threads: &'a [Thread],
    /// Start and thread of the next range of each thread.
    heads: BinaryHeap<Reverse<(i64, usize)>>,
    next: Vec<usize>,
    open: Vec<Open>,
    /// Link for each open range, as `thread` sees them; the first `valid` hold.
    links: Vec<u32>,
    valid: usize,
    thread: usize,
    soonest_ns: i64,
    known: FxHashMap<(u32, u32), u32>,
}

impl<'a> Sweep<'a> {
    fn new(trace: &'a Trace, process: usize, tree: &'a Tree) -> Self {
        let own = trace.threads.iter().enumerate().filter(|(_, thread)| thread.process == process);
        let heads = own.filter_map(|(at, thread)| Some(Reverse((*thread.nvtx.start_ns.first()?, at)))).collect();
        Self {
            tree,
            threads: &trace.threads,
            heads,
            next: vec![0; trace.threads.len()],
            open: Vec::new(),
            links: Vec::new(),
            valid: 0,
            thread: usize::MAX,
            soonest_ns: i64::MAX,
            known: FxHashMap::default(),
        }
    }

    /// The chain of what `call` of `thread` launches.
    fn chain(&mut self, chains: &mut Chains, thread: usize, call: Span) -> u32 {
        self.advance(call.start_ns);
        // A call that reaches over the end of a range of its thread belongs to the ranges around that one only.
        let straddles = self.soonest_ns < call.end_ns;
        if thread != self.thread || straddles {
            self.valid = 0;
            self.thread = thread;
        }
        self.links.truncate(self.valid);
        for open in self.open.iter().skip(self.valid) {
            let own = open.thread == thread && !open.ended_elsewhere && open.end_ns >= call.end_ns;
            let key = (self.links.last().copied().unwrap_or(NONE), open.node.saturating_mul(2) | u32::from(own));
            let link = *self.known.entry(key).or_insert_with(|| {
                chains.before.push(key.0);
                chains.node.push(key.1);
                chains.node.len() as u32 - 1
            });
            self.links.push(link);
        }
        self.valid = if straddles { 0 } else { self.links.len() };
        self.links.last().copied().unwrap_or(NONE)
    }

    /// Opens what began until `at_ns` and closes what ended.
    fn advance(&mut self, at_ns: i64) {
        while let Some(Reverse((start_ns, at))) = self.heads.peek().copied().filter(|head| head.0.0 <= at_ns) {
            self.heads.pop();
            let Some(ranges) = self.threads.get(at).map(|thread| &thread.nvtx) else { continue };
            let range = self.next[at];
            self.next[at] += 1;
            if let Some(next_ns) = ranges.start_ns.get(range + 1) {
                self.heads.push(Reverse((*next_ns, at)));
            }
            debug_assert_eq!(ranges.start_ns[range], start_ns, "heads follow their threads");
            let node = self.tree.node_of.get(at).and_then(|nodes| nodes.get(range)).copied();
            let open = Open {
                end_ns: ranges.end_ns[range],
                thread: at,
                node: node.unwrap_or(0),
                ended_elsewhere: ranges.ended_elsewhere[range],
            };
            // One node for many ranges that were never closed needs one entry.
            let same = |known: &Open| {
                known.node == open.node
                    && known.thread == at
                    && known.end_ns >= open.end_ns
                    && known.ended_elsewhere == open.ended_elsewhere
            };
            let is_there = self.open.iter().rev().take(4).any(same);
            if open.end_ns > at_ns && !is_there && self.open.len() < OPEN_MOST {
                self.soonest_ns = self.soonest_ns.min(open.end_ns);
                self.open.push(open);
            }
        }
        if self.soonest_ns <= at_ns {
            let first_gone = self.open.iter().position(|open| open.end_ns <= at_ns);
            self.valid = self.valid.min(first_gone.unwrap_or(self.open.len()));
            self.open.retain(|open| open.end_ns > at_ns);
            self.soonest_ns = self.open.iter().map(|open| open.end_ns).min().unwrap_or(i64::MAX);
        }
    }
}
