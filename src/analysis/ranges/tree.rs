//! The tree of ranges: ranges whose names group and whose parents are in one group are one node.
//!
//! Ranges of another thread than the main one (the one that holds the steps) that no range of their own thread holds
//! stand under what the main thread had open when they began, so that backward's ranges stand under `backward`.
//!
//! Cost: 4 bytes a range, and about 120 a node.

use super::group::{Groups, group_name};
use super::nest::{NO_RANGE, parents};
use crate::analysis::Steps;
use crate::trace::{RangeTable, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// No node: the root, or no range at all.
pub(super) const NO_NODE: u32 = u32::MAX;
/// Ranges nested deeper than this count as those around them.
const MAX_DEPTH: u8 = 64;
/// Names past this many nodes are one node under each parent.
const MAX_NODES: usize = 100_000;
/// Group of the names past [`MAX_NODES`].
const OTHERS: u32 = u32::MAX;

/// Ranges of one group under one parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    parent: u32,
    depth: u8,
    /// Thread and range that was met first.
    first: (u32, u32),
    /// True when the names differ.
    varied: bool,
    /// True for the names past [`MAX_NODES`].
    others: bool,
    /// True for ranges that mark steps.
    step: bool,
}

/// The tree of ranges of a process.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    roots: Vec<u32>,
    children: Vec<Vec<u32>>,
    /// Node of each range, by thread of the trace; empty for threads of other processes.
    pub node_of: Vec<Vec<u32>>,
    /// The thread that holds the steps, else the process's first.
    pub main: Option<usize>,
}

impl Tree {
    /// The tree of `process`; with `exact` each name is a group of its own.
    pub fn of(trace: &Trace, process: usize, steps: Option<&Steps>, exact: bool) -> Self {
        let main = main_thread(trace, process, steps);
        let mut builder = Builder {
            trace,
            groups: Groups::new(&trace.names, exact),
            step_names: steps
                .filter(|s| !s.estimated)
                .map_or_else(FxHashSet::default, |s| s.steps.iter().map(|step| group_name(&step.name)).collect()),
            step_groups: FxHashMap::default(),
            keys: FxHashMap::default(),
            tree: Self { node_of: vec![Vec::new(); trace.threads.len()], main, ..Self::default() },
        };
        let own = |at: &usize| trace.threads.get(*at).is_some_and(|thread| thread.process == process);
        let others = (0..trace.threads.len()).filter(own).filter(|at| Some(*at) != main);
        for thread in main.into_iter().chain(others) {
            builder.thread(thread);
        }
        builder.tree
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes directly under `node`, or at the top.
    pub fn children(&self, node: Option<u32>) -> &[u32] {
        match node {
            None => &self.roots,
            Some(node) => self.children.get(node as usize).map_or(&[], Vec::as_slice),
        }
    }

    /// The node above `node`.
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.nodes.get(node as usize).map(|n| n.parent).filter(|parent| *parent != NO_NODE)
    }

    /// Nodes above `node`.
    pub fn depth(&self, node: u32) -> usize {
        self.nodes.get(node as usize).map_or(0, |n| n.depth as usize)
    }

    /// Node of a range of the main thread.
    fn node_of_main(&self, range: usize) -> Option<u32> {
        self.node_of.get(self.main?)?.get(range).copied()
    }

    /// True when the ranges of `node` mark steps.
    pub fn is_step(&self, node: u32) -> bool {
        self.nodes.get(node as usize).is_some_and(|n| n.step)
    }

    /// True when the first range of `node` stands on the thread that marks the steps.
    pub fn is_of_main(&self, node: u32) -> bool {
        self.nodes.get(node as usize).is_some_and(|n| Some(n.first.0 as usize) == self.main)
    }

    /// Name of `node`: that of its ranges, or what their names have in common; the domain stands in front.
    pub fn name(&self, trace: &Trace, node: u32) -> String {
        let Some(node) = self.nodes.get(node as usize) else { return String::new() };
        if node.others {
            return "(other names)".to_owned();
        }
        let (thread, range) = (node.first.0 as usize, node.first.1 as usize);
        let Some(ranges) = trace.threads.get(thread).map(|t| &t.nvtx) else { return String::new() };
        let name = ranges.name.get(range).map_or("", |name| trace.name(*name));
        let name = if node.varied { group_name(name) } else { name.to_owned() };
        let name = if name.is_empty() { "(no name)".to_owned() } else { name };
        let domain = ranges.domain.get(range).and_then(|domain| trace.domains.get(*domain as usize));
        match domain.map(|domain| trace.name(*domain)).filter(|domain| !domain.is_empty()) {
            Some(domain) => format!("{domain}: {name}"),
            None => name,
        }
    }
}

/// The thread that holds the steps; else the one that the process is named after; else the one that called most.
fn main_thread(trace: &Trace, process: usize, steps: Option<&Steps>) -> Option<usize> {
    let own = || trace.threads.iter().enumerate().filter(|(_, thread)| thread.process == process);
    let pid = trace.processes.get(process)?.pid;
    let by_steps = steps.and_then(|steps| steps.thread);
    let by_id = || own().find(|(_, thread)| thread.tid == pid && !thread.nvtx.is_empty());
    let by_calls = || own().max_by_key(|(at, thread)| (thread.api.len(), std::cmp::Reverse(*at)));
    by_steps.or_else(|| by_id().or_else(by_calls).map(|(at, _)| at))
}

struct Builder<'a> {
    trace: &'a Trace,
    groups: Groups<'a>,
    step_names: FxHashSet<String>,
    step_groups: FxHashMap<u32, bool>,
    keys: FxHashMap<(u32, u32, u16), u32>,
    tree: Tree,
}

impl Builder<'_> {
    fn thread(&mut self, at: usize) {
        let trace = self.trace;
        let Some(thread) = trace.threads.get(at) else { return };
        let ranges = &thread.nvtx;
        let main = self.tree.main.filter(|main| *main != at).and_then(|main| trace.threads.get(main));
        let mut above = main.map(|main| Cursor { ranges: &main.nvtx, next: 0, open: Vec::new() });
        let mut nodes: Vec<u32> = Vec::with_capacity(ranges.len());
        let spans = (0..ranges.len()).map(|range| (range as u32, ranges.span(range)));
        for (range, parent) in parents(spans) {
            let (range, parent) = (range as usize, parent as usize);
            let group = self.groups.of(ranges.name[range]);
            let domain = ranges.domain[range];
            let around = nodes.get(parent).copied();
            // Ranges that were never closed hold each other without meaning it: they are one node.
            let leaked = parent != NO_RANGE as usize
                && ranges.end_ns[parent] == ranges.end_ns[range]
                && ranges.start_ns[parent] < ranges.start_ns[range]
                && self.groups.of(ranges.name[parent]) == group;
            let node = match (around, &mut above) {
                (Some(around), _) if leaked => around,
                (Some(around), _) => self.node(around, group, domain, (at, range)),
                (None, Some(above)) if !self.is_step(group, (at, range)) => {
                    let range_of_main = above.innermost(ranges.start_ns[range]);
                    let adopted = range_of_main.and_then(|held| self.tree.node_of_main(held)).unwrap_or(NO_NODE);
                    self.node(adopted, group, domain, (at, range))
                }
                (None, _) => self.node(NO_NODE, group, domain, (at, range)),
            };
            nodes.push(node);
        }
        if let Some(slot) = self.tree.node_of.get_mut(at) {
            *slot = nodes;
        }
    }

    fn is_step(&mut self, group: u32, (thread, range): (usize, usize)) -> bool {
        let (trace, names) = (self.trace, &self.step_names);
        *self.step_groups.entry(group).or_insert_with(|| {
            let name = trace.threads.get(thread).and_then(|t| t.nvtx.name.get(range));
            name.is_some_and(|name| names.contains(&group_name(trace.name(*name))))
        })
    }

    /// The node of a group under `parent`, made when it is new.
    fn node(&mut self, parent: u32, group: u32, domain: u16, first: (usize, usize)) -> u32 {
        let depth = self.tree.nodes.get(parent as usize).map_or(0, |node| node.depth + 1);
        if depth >= MAX_DEPTH {
            return parent;
        }
        if let Some(known) = self.keys.get(&(parent, group, domain)) {
            let known = *known;
            self.note_name(known, first);
            return known;
        }
        let (key, others) = match self.tree.len() >= MAX_NODES {
            true => ((parent, OTHERS, 0), true),
            false => ((parent, group, domain), false),
        };
        if let Some(known) = self.keys.get(&key) {
            return *known;
        }
        let step = !others && self.is_step(group, first);
        let at = self.tree.len() as u32;
        let first = (first.0 as u32, first.1 as u32);
        self.tree.nodes.push(Node { parent, depth, first, varied: false, others, step });
        self.tree.children.push(Vec::new());
        match self.tree.children.get_mut(parent as usize) {
            Some(siblings) => siblings.push(at),
            None => self.tree.roots.push(at),
        }
        self.keys.insert(key, at);
        at
    }

    /// Remembers when the names of a node differ.
    fn note_name(&mut self, node: u32, (thread, range): (usize, usize)) {
        let threads = &self.trace.threads;
        let name = |thread: usize, range: usize| threads.get(thread).and_then(|t| t.nvtx.name.get(range));
        if let Some(node) = self.tree.nodes.get_mut(node as usize).filter(|node| !node.varied) {
            node.varied = name(node.first.0 as usize, node.first.1 as usize) != name(thread, range);
        }
    }
}

/// What the main thread has open, as time goes on.
struct Cursor<'a> {
    ranges: &'a RangeTable,
    next: usize,
    open: Vec<usize>,
}

impl Cursor<'_> {
    /// The range last started of those open at `at_ns`, which must not go back.
    fn innermost(&mut self, at_ns: i64) -> Option<usize> {
        while self.ranges.start_ns.get(self.next).is_some_and(|start| *start <= at_ns) {
            self.open.push(self.next);
            self.next += 1;
        }
        while self.open.last().is_some_and(|held| self.ranges.end_ns[*held] <= at_ns) {
            self.open.pop();
        }
        self.open.last().copied()
    }
}
