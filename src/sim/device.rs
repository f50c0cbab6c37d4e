//! The GPU of a rank: streams that run their work in order, wait for events, and meet other ranks.
//!
//! An operation starts when it has been submitted, the one before it on its stream has ended, and the events its
//! stream waits for have happened. Work whose start is not known yet (a rank it meets has not arrived) stays queued.

use super::engine::Engine;
use super::kernels::{KernelId, Work};
use super::program::{Direction, Role};
use super::truth::{Arrival, Kind};
use crate::nsys::write::{GraphRow, KernelRow, MemcpyRow, MemsetRow, Place};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Items a stream takes before the launching thread has to wait.
const QUEUE_LIMIT: u64 = 1024;
/// From the end of one operation to the start of the next on the same stream.
const TURNAROUND_NS: f64 = 900.0;
/// From an event to the start of what waited for it.
const EVENT_LATENCY_NS: i64 = 1_300;

/// What an operation does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Task {
    Kernel {
        id: KernelId,
        graph_node: Option<i64>,
    },
    /// With its start, once this rank is ready for it.
    Collective {
        comm: u32,
        sequence: u64,
        bytes: u64,
        arrived_ns: Option<i64>,
    },
    Memcpy {
        direction: Direction,
        bytes: u64,
        pinned: bool,
    },
    Memset {
        bytes: u64,
    },
    Graph,
}

/// An operation in a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Op {
    pub(super) task: Task,
    /// Not before this time.
    pub(super) ready_ns: i64,
    pub(super) correlation: i64,
    /// Step during which it was launched.
    pub(super) step: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    Op(Op),
    Record { event: u32, host_ns: i64 },
    Wait { event: u32 },
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// Not recorded yet on the GPU; the stream that waits for it.
    Pending(Option<Role>),
    Happened {
        at_ns: i64,
        by: Role,
    },
}

/// A stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: i64,
    /// End of the last operation.
    free_ns: i64,
    /// Latest event waited for.
    gate_ns: i64,
    /// That event came from a neighbouring pipeline stage.
    gate_is_exchange: bool,
    queue: VecDeque<Item>,
    enqueued: u64,
    done: u64,
    /// When each of the last items was done, by item modulo the length.
    ends: Vec<i64>,
    /// Threads that go on when so many items are done.
    waiters: Vec<(u64, usize)>,
}

/// The GPU work of a rank.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) streams: Vec<Stream>,
    events: FxHashMap<u32, Event>,
    grid_id: i64,
}

impl Device {
    pub(super) fn new(stream_ids: [i64; Role::ALL.len()]) -> Self {
        let stream = |id| Stream {
            id,
            free_ns: 0,
            gate_ns: 0,
            gate_is_exchange: false,
            queue: VecDeque::new(),
            enqueued: 0,
            done: 0,
            ends: vec![0; QUEUE_LIMIT as usize],
            waiters: Vec::new(),
        };
        Self { streams: stream_ids.map(stream).into(), events: FxHashMap::default(), grid_id: 0 }
    }

    pub(super) fn stream(&mut self, role: Role) -> &mut Stream {
        &mut self.streams[role as usize]
    }

    /// True when a collective occupies the device at `at_ns`, waiting for other ranks or moving data.
    fn reduces_at(&self, at_ns: i64) -> bool {
        let stream = &self.streams[Role::Reduce as usize];
        let waits = matches!(stream.queue.front(), Some(Item::Op(Op { task: Task::Collective { arrived_ns, .. }, .. }))
            if arrived_ns.is_some_and(|arrived| arrived <= at_ns));
        waits || stream.free_ns > at_ns
    }

    /// The earliest start among the work that has no end yet: `now_ns`, or the start of a collective that waits for
    /// other ranks.
    pub(super) fn earliest_start(&self, now_ns: i64) -> i64 {
        let heads = self.streams.iter().filter_map(|stream| match stream.queue.front() {
            Some(Item::Op(Op { task: Task::Collective { arrived_ns, .. }, .. })) => *arrived_ns,
            _ => None,
        });
        heads.fold(now_ns, i64::min)
    }
}

impl Stream {
    pub(super) fn enqueued(&self) -> u64 {
        self.enqueued
    }

    /// When `count` items were done, if they are.
    pub(super) fn done_at(&self, count: u64) -> Option<i64> {
        let item = count.checked_sub(1);
        item.map_or(Some(0), |item| (count <= self.done).then(|| self.ends[(item % QUEUE_LIMIT) as usize]))
    }

    /// How many items have to be done before one more fits.
    pub(super) fn needed_for_a_slot(&self) -> u64 {
        (self.enqueued + 1).saturating_sub(QUEUE_LIMIT)
    }

    /// Calls `thread` when `count` items are done.
    pub(super) fn wait(&mut self, count: u64, thread: usize) {
        self.waiters.push((count, thread));
    }

    fn pop_done(&mut self, at_ns: i64) {
        self.queue.pop_front();
        self.ends[(self.done % QUEUE_LIMIT) as usize] = at_ns;
        self.done += 1;
    }
}

impl Engine<'_> {
    pub(super) fn enqueue(&mut self, rank: usize, role: Role, item: Item) {
        if let (Item::Op(op), Role::Compute) = (&item, role) {
            self.ranks[rank].recorder.ledger.launched(op.step);
        }
        let stream = self.ranks[rank].device.stream(role);
        stream.enqueued += 1;
        stream.queue.push_back(item);
        self.advance(rank, role);
    }

    /// Runs every stream that can go on, starting with this one.
    fn advance(&mut self, rank: usize, role: Role) {
        let mut work = vec![(rank, role)];
        while let Some((rank, role)) = work.pop() {
            while let Some(item) = self.ranks[rank].device.stream(role).queue.front().copied() {
                let went_on = match item {
                    Item::Record { event, host_ns } => self.record_event(rank, role, event, host_ns, &mut work),
                    Item::Wait { event } => self.pass_gate(rank, role, event),
                    Item::Op(op) => self.run(rank, role, op, &mut work),
                };
                if !went_on {
                    break;
                }
            }
            self.wake_waiters(rank, role);
        }
    }

    fn wake_waiters(&mut self, rank: usize, role: Role) {
        let stream = self.ranks[rank].device.stream(role);
        let done = stream.done;
        let ready: Vec<usize> =
            stream.waiters.extract_if(.., |(count, _)| *count <= done).map(|(_, thread)| thread).collect();
        for thread in ready {
            self.wake(thread);
        }
    }

    fn record_event(
        &mut self,
        rank: usize,
        role: Role,
        event: u32,
        host_ns: i64,
        work: &mut Vec<(usize, Role)>,
    ) -> bool {
        let device = &mut self.ranks[rank].device;
        let stream = device.stream(role);
        let at_ns = stream.free_ns.max(stream.gate_ns).max(host_ns);
        stream.pop_done(at_ns);
        if let Some(Event::Pending(Some(waiting))) = device.events.insert(event, Event::Happened { at_ns, by: role }) {
            work.push((rank, waiting));
        }
        true
    }

    fn pass_gate(&mut self, rank: usize, role: Role, event: u32) -> bool {
        let device = &mut self.ranks[rank].device;
        let Some(Event::Happened { at_ns, by }) = device.events.get(&event).copied() else {
            device.events.insert(event, Event::Pending(Some(role)));
            return false;
        };
        device.events.remove(&event);
        let stream = device.stream(role);
        if at_ns > stream.free_ns.max(stream.gate_ns) {
            stream.gate_ns = at_ns;
            stream.gate_is_exchange = matches!(by, Role::Previous | Role::Next);
        }
        stream.pop_done(stream.free_ns.max(stream.gate_ns));
        true
    }

    /// Runs the operation at the head of a stream; false when it has to wait for another rank.
    fn run(&mut self, rank: usize, role: Role, op: Op, work: &mut Vec<(usize, Role)>) -> bool {
        let turnaround = self.ranks[rank].gpu_rng.scatter(TURNAROUND_NS, 0.3);
        let stream = self.ranks[rank].device.stream(role);
        let gate = if stream.gate_ns > stream.free_ns { stream.gate_ns + EVENT_LATENCY_NS } else { 0 };
        let start_ns = op.ready_ns.max(stream.free_ns + turnaround).max(gate);
        let (start_ns, end_ns) = match op.task {
            Task::Collective { comm, sequence, bytes, arrived_ns } => {
                if arrived_ns.is_none() {
                    let task = Task::Collective { comm, sequence, bytes, arrived_ns: Some(start_ns) };
                    if let Some(head) = stream.queue.front_mut() {
                        *head = Item::Op(Op { task, ..op });
                    }
                    let arrival = Arrival { rank: rank as u32, start_ns, wait_ns: 0 };
                    let met = self.meetings.arrive(self.cfg, (comm, sequence), bytes, arrival, role);
                    work.extend(
                        met.into_iter()
                            .map(|(other, role)| (other as usize, role))
                            .filter(|other| *other != (rank, role)),
                    );
                }
                match self.meetings.leave((comm, sequence), rank as u32) {
                    Some(span) => span,
                    None => return false,
                }
            }
            _ => {
                let beside = matches!(op.task, Task::Kernel { .. }) && self.ranks[rank].device.reduces_at(start_ns);
                let factor = if beside { self.cfg.contention_factor } else { 1.0 };
                (start_ns, start_ns + (self.duration_ns(rank, op.task) as f64 * factor) as i64)
            }
        };
        let stream = self.ranks[rank].device.stream(role);
        let stall_ns = if stream.gate_is_exchange && stream.free_ns > 0 { start_ns - stream.free_ns } else { 0 };
        (stream.free_ns, stream.gate_is_exchange) = (end_ns, false);
        stream.pop_done(end_ns);
        self.write_op(rank, role, op, start_ns, end_ns, stall_ns);
        true
    }

    fn duration_ns(&mut self, rank: usize, task: Task) -> i64 {
        let spread = self.cfg.jitter;
        let state = &mut self.ranks[rank];
        let bandwidth = self.gpu.bandwidth_bytes_per_s as f64;
        let slow = |kernel: &super::kernels::Kernel| {
            let more = if kernel.work == Work::Math { state.compute_factor } else { 1.0 };
            kernel.duration_ns * more * state.clock_factor
        };
        let value = match task {
            Task::Kernel { id, .. } => slow(&self.catalog.kernels[id as usize]),
            Task::Graph => {
                self.graph.iter().map(|id| slow(&self.catalog.kernels[*id as usize]) + GRAPH_TURNAROUND_NS).sum()
            }
            // PCIe 4 x16: about 25 GB/s from pinned memory, a quarter of that from pageable.
            Task::Memcpy { bytes, pinned, .. } => 1_500.0 + bytes as f64 / if pinned { 24.5 } else { 6.2 },
            Task::Memset { bytes } => 1_200.0 + bytes as f64 / (bandwidth * 0.8) * 1e9,
            Task::Collective { .. } => 0.0,
        };
        state.gpu_rng.scatter(value, spread)
    }

    fn write_op(&mut self, rank: usize, role: Role, op: Op, start_ns: i64, end_ns: i64, stall_ns: i64) {
        let state = &mut self.ranks[rank];
        let place = Place { stream: state.device.stream(role).id, ..state.place };
        let correlation = op.correlation;
        match op.task {
            Task::Kernel { .. } | Task::Collective { .. } => {
                let (id, kind, graph_node) = match op.task {
                    Task::Kernel { id, graph_node } => (id, Kind::Compute, graph_node),
                    Task::Collective { comm, .. } if self.meetings.is_point_to_point(comm) => {
                        (self.catalog.send_recv, Kind::Communication, None)
                    }
                    _ => (self.catalog.all_reduce, Kind::Communication, None),
                };
                let kernel = &self.catalog.kernels[id as usize];
                let mut grid = kernel.grid;
                if kernel.work == Work::Math {
                    // More work per rank means more blocks.
                    grid[0] = (f64::from(grid[0]) * state.compute_factor).round().max(1.0) as u32;
                }
                state.device.grid_id += 1;
                let row = KernelRow {
                    start_ns,
                    end_ns,
                    place,
                    correlation,
                    demangled: self.strings.kernels[id as usize].1,
                    short: self.strings.kernels[id as usize].0,
                    grid,
                    block: kernel.block,
                    registers: kernel.registers,
                    dynamic_shared_bytes: kernel.shared_bytes,
                    grid_id: state.device.grid_id,
                    graph_node,
                };
                state.recorder.kernel(row, kind);
            }
            Task::Memcpy { direction, bytes, pinned } => {
                let host = i64::from(pinned);
                let (copy_kind, src_kind, dst_kind) = match direction {
                    Direction::ToDevice => (1, host, 2),
                    Direction::ToHost => (2, 2, host),
                };
                let bytes = bytes as i64;
                state.recorder.memcpy(MemcpyRow {
                    start_ns,
                    end_ns,
                    place,
                    correlation,
                    bytes,
                    copy_kind,
                    src_kind,
                    dst_kind,
                });
            }
            Task::Memset { bytes } => {
                state.recorder.memset(MemsetRow { start_ns, end_ns, place, correlation, bytes: bytes as i64 });
            }
            Task::Graph => state.recorder.graph(GraphRow { start_ns, end_ns, place, correlation, graph: 1 }),
        }
        if role == Role::Compute {
            let end = state.recorder.clock.at(end_ns);
            state.recorder.ledger.completed(op.step, end, stall_ns);
        }
    }
}

/// Between two nodes of a graph.
const GRAPH_TURNAROUND_NS: f64 = 600.0;
