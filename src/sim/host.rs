//! What host threads do: calls take time, some of them wait for the GPU, and ranges are pushed and popped around them.

use super::config::CudaGraphs;
use super::device::{Item, Op, Task};
use super::engine::{AUTOGRAD, Call, Engine, MAIN, THREADS};
use super::program::{HostOp, Role};
use super::strings::{Function, Strings};
use crate::nsys::write::{ApiRow, EventRow, NvtxRow, OsRow, Place, RangeText, SyncRow};

const LAUNCH_NS: f64 = 4_300.0;
/// From the start of a launching call to the earliest start of its operation.
const LAUNCH_LATENCY_NS: f64 = 6_200.0;
const COPY_NS: f64 = 6_800.0;
const EVENT_NS: f64 = 1_200.0;
const QUERY_NS: f64 = 650.0;
const SYNC_NS: f64 = 2_600.0;
const GRAPH_LAUNCH_NS: f64 = 38_000.0;
const GRAPH_LATENCY_NS: f64 = 30_000.0;
const MODULE_LOAD_NS: f64 = 1_100_000.0;
/// Between calls that follow each other in C++.
const BRIEF_NS: f64 = 450.0;
const RANGE_NS: i64 = 260;
/// Threads wake each other through the kernel of the operating system.
const WAKE_NS: i64 = 22_000;
/// Relative scatter of host times.
const HOST_SPREAD: f64 = 0.25;

impl Engine<'_> {
    /// Does one operation of a thread; false when the thread has to wait and will try again.
    pub(super) fn execute(&mut self, rank: usize, thread: usize, op: HostOp) -> bool {
        match op {
            HostOp::Cpu(ns) => self.spend(rank, thread, ns as f64),
            HostOp::Collect(ns) => {
                self.ranks[rank].threads[thread].now_ns += ns;
                self.ranks[rank].recorder.ledger.note(|step| step.gc_ns += ns);
            }
            HostOp::Query => self.plain_call(rank, thread, Function::IsCapturing, QUERY_NS),
            HostOp::Malloc => self.plain_call(rank, thread, Function::Malloc, self.cfg.alloc_ms * 1e6),
            // cudaFree waits for the whole device.
            HostOp::Free => return self.drain(rank, thread, Function::Free, self.cfg.alloc_ms * 1e6),
            HostOp::SyncDevice => return self.drain(rank, thread, Function::DeviceSynchronize, SYNC_NS),
            HostOp::Kernel(id) => {
                return self.launch(rank, thread, Role::Compute, Task::Kernel { id, graph_node: None });
            }
            HostOp::Collective { role, comm, bytes } => {
                let sequence = self.ranks[rank].sequences.get(&comm).copied().unwrap_or(0);
                if !self.launch(rank, thread, role, Task::Collective { comm, sequence, bytes, arrived_ns: None }) {
                    return false;
                }
                self.ranks[rank].sequences.insert(comm, sequence + 1);
            }
            HostOp::Graph => return self.launch(rank, thread, Role::Compute, Task::Graph),
            HostOp::Memset { bytes } => return self.launch(rank, thread, Role::Compute, Task::Memset { bytes }),
            HostOp::Memcpy { role, direction, bytes, pinned, blocking } => {
                let task = Task::Memcpy { direction, bytes, pinned };
                return if blocking {
                    self.blocking_copy(rank, thread, task)
                } else {
                    self.launch(rank, thread, role, task)
                };
            }
            HostOp::Record { role, event } => self.record(rank, thread, role, event),
            HostOp::WaitEvent { role, event } => self.wait_event(rank, thread, role, event),
            HostOp::SyncStream(role) => return self.synchronize(rank, thread, role),
            HostOp::Push(label) => {
                let state = &mut self.ranks[rank].threads[thread];
                state.ranges.push((label, state.now_ns));
                state.now_ns += RANGE_NS;
            }
            HostOp::Pop => self.pop(rank, thread),
            HostOp::StepBegin(number) => {
                let state = &mut self.ranks[rank];
                let at = state.recorder.clock.at(state.threads[thread].now_ns);
                let data_wait = std::mem::take(&mut state.data_wait_ns);
                state.recorder.ledger.begin_step(number, at, data_wait);
            }
            HostOp::StepEnd => {
                let state = &mut self.ranks[rank];
                let at = state.recorder.clock.at(state.threads[thread].now_ns);
                state.recorder.ledger.end_step(at);
            }
            HostOp::Fetch => self.fetch(rank, thread),
            HostOp::StartBackward => self.signal(rank, thread, AUTOGRAD),
            HostOp::Finished => self.signal(rank, thread, MAIN),
            HostOp::AwaitStart => return self.await_start(rank, thread),
            HostOp::JoinBackward => return self.join(rank, thread),
        }
        true
    }

    /// Host code without a call.
    fn spend(&mut self, rank: usize, thread: usize, ns: f64) {
        if ns > 0.0 {
            let state = &mut self.ranks[rank];
            let host = &mut state.threads[thread];
            host.now_ns += host.rng.scatter(ns * state.host_factor, HOST_SPREAD / 5.0);
        }
    }

    /// The call under way, or a new one after `gap_ns` of host code.
    fn begin(&mut self, rank: usize, thread: usize, gap_ns: f64) -> Call {
        let state = &mut self.ranks[rank];
        if let Some(call) = state.threads[thread].call {
            return call;
        }
        let host = &mut state.threads[thread];
        let start_ns = host.now_ns + host.rng.scatter(gap_ns * state.host_factor, HOST_SPREAD);
        state.correlation += 1;
        let call = Call { start_ns, correlation: state.correlation, until: None };
        host.call = Some(call);
        call
    }

    fn end(&mut self, rank: usize, thread: usize, function: Function, end_ns: i64) {
        let state = &mut self.ranks[rank];
        let host = &mut state.threads[thread];
        let Some(call) = host.call.take() else { return };
        host.now_ns = end_ns;
        let (global_tid, correlation, start_ns) = (host.global_tid, call.correlation, call.start_ns);
        let name = Strings::function(function);
        state.recorder.api(ApiRow { start_ns, end_ns, driver: false, global_tid, correlation, name });
    }

    fn cost(&mut self, rank: usize, thread: usize, ns: f64) -> i64 {
        self.ranks[rank].threads[thread].rng.scatter(ns, HOST_SPREAD)
    }

    fn plain_call(&mut self, rank: usize, thread: usize, function: Function, ns: f64) {
        let call = self.begin(rank, thread, BRIEF_NS);
        let cost = self.cost(rank, thread, ns);
        self.end(rank, thread, function, call.start_ns + cost);
    }

    /// Time at which a slot of the stream's queue is free, or `None` after arranging to be called then.
    fn slot(&mut self, rank: usize, thread: usize, role: Role) -> Option<i64> {
        let stream = self.ranks[rank].device.stream(role);
        let needed = stream.needed_for_a_slot();
        let free = stream.done_at(needed);
        if free.is_none() {
            stream.wait(needed, rank * THREADS + thread);
        }
        free
    }

    fn launch(&mut self, rank: usize, thread: usize, role: Role, task: Task) -> bool {
        let gap = match task {
            Task::Kernel { .. } | Task::Graph => self.ranks[rank].threads[thread].between_ns,
            _ => BRIEF_NS * 4.0,
        };
        let before_ns = self.ranks[rank].threads[thread].now_ns;
        let call = self.begin(rank, thread, gap);
        let Some(slot_ns) = self.slot(rank, thread, role) else { return false };
        let loaded_ns = self.load_module(rank, thread, task, call.start_ns.max(slot_ns));
        let (function, cost, latency) = match task {
            Task::Kernel { id, .. } if self.catalog.kernels[id as usize].extended_launch => {
                (Function::LaunchKernelEx, LAUNCH_NS, LAUNCH_LATENCY_NS)
            }
            Task::Kernel { .. } => (Function::LaunchKernel, LAUNCH_NS, LAUNCH_LATENCY_NS),
            Task::Collective { .. } => (Function::LaunchKernelEx, LAUNCH_NS * 1.8, LAUNCH_LATENCY_NS * 1.4),
            Task::Memcpy { .. } => (Function::MemcpyAsync, COPY_NS, LAUNCH_LATENCY_NS * 1.2),
            Task::Memset { .. } => (Function::MemsetAsync, LAUNCH_NS, LAUNCH_LATENCY_NS),
            Task::Graph => (Function::GraphLaunch, GRAPH_LAUNCH_NS, GRAPH_LATENCY_NS),
        };
        let end_ns = loaded_ns + self.cost(rank, thread, cost);
        let ready_ns = loaded_ns + self.cost(rank, thread, latency);
        self.end(rank, thread, function, end_ns);
        if self.cfg.nvtx_ops && matches!(task, Task::Kernel { .. }) {
            self.name_operator(rank, thread, before_ns, end_ns, call.correlation);
        }
        self.submit(rank, role, task, call.correlation, ready_ns);
        true
    }

    fn submit(&mut self, rank: usize, role: Role, task: Task, correlation: i64, ready_ns: i64) {
        let step = self.ranks[rank].recorder.ledger.current_step();
        if matches!(task, Task::Graph) && self.cfg.cuda_graphs == CudaGraphs::Nodes {
            for at in 0..self.graph.len() {
                let task = Task::Kernel { id: self.graph[at], graph_node: Some(at as i64 + 1) };
                self.enqueue(rank, role, Item::Op(Op { task, ready_ns, correlation, step }));
            }
        } else {
            self.enqueue(rank, role, Item::Op(Op { task, ready_ns, correlation, step }));
        }
    }

    /// The first launch of a kernel loads its module inside the launching call; gives the time after that.
    fn load_module(&mut self, rank: usize, thread: usize, task: Task, at_ns: i64) -> i64 {
        let Task::Kernel { id, .. } = task else { return at_ns };
        if std::mem::replace(&mut self.ranks[rank].loaded[id as usize], true) {
            return at_ns;
        }
        let (start_ns, cost) = (at_ns + 900, self.cost(rank, thread, MODULE_LOAD_NS));
        let state = &mut self.ranks[rank];
        state.correlation += 1;
        let (global_tid, correlation) = (state.threads[thread].global_tid, state.correlation);
        let name = Strings::function(Function::LoadModule);
        let end_ns = start_ns + cost;
        state.recorder.api(ApiRow { start_ns, end_ns, driver: true, global_tid, correlation, name });
        end_ns + 400
    }

    /// A copy that returns once it is done, as from pageable memory.
    fn blocking_copy(&mut self, rank: usize, thread: usize, task: Task) -> bool {
        let call = self.begin(rank, thread, BRIEF_NS * 4.0);
        let until = match call.until {
            Some(until) => until,
            None => {
                let Some(slot_ns) = self.slot(rank, thread, Role::Compute) else { return false };
                let ready_ns = call.start_ns.max(slot_ns) + self.cost(rank, thread, LAUNCH_LATENCY_NS * 1.2);
                self.submit(rank, Role::Compute, task, call.correlation, ready_ns);
                let until = self.ranks[rank].device.stream(Role::Compute).enqueued();
                self.ranks[rank].threads[thread].call = Some(Call { until: Some(until), ..call });
                until
            }
        };
        let Some(done_ns) = self.done(rank, thread, Role::Compute, until) else { return false };
        let end_ns = done_ns + self.cost(rank, thread, SYNC_NS);
        self.end(rank, thread, Function::MemcpyAsync, end_ns);
        true
    }

    /// When `count` items of a stream were done, or `None` after arranging to be called then.
    fn done(&mut self, rank: usize, thread: usize, role: Role, count: u64) -> Option<i64> {
        let stream = self.ranks[rank].device.stream(role);
        let at = stream.done_at(count);
        if at.is_none() {
            stream.wait(count, rank * THREADS + thread);
        }
        at
    }

    fn synchronize(&mut self, rank: usize, thread: usize, role: Role) -> bool {
        let call = self.begin(rank, thread, BRIEF_NS);
        let count = self.ranks[rank].device.stream(role).enqueued();
        let Some(done_ns) = self.done(rank, thread, role, count) else { return false };
        let end_ns = done_ns.max(call.start_ns) + self.cost(rank, thread, SYNC_NS);
        self.end(rank, thread, Function::StreamSynchronize, end_ns);
        let place = self.place(rank, role);
        let (start_ns, end_ns, correlation) = (call.start_ns + 300, end_ns - 300, call.correlation);
        self.ranks[rank].recorder.sync(SyncRow { start_ns, end_ns, place, correlation, sync_type: 3, event: None });
        true
    }

    /// A call that waits for every stream and takes `ns` more. Only some of those leave a synchronisation record.
    fn drain(&mut self, rank: usize, thread: usize, function: Function, ns: f64) -> bool {
        let call = self.begin(rank, thread, BRIEF_NS * 2.0);
        let mut done_ns = call.start_ns;
        for role in Role::ALL {
            let count = self.ranks[rank].device.stream(role).enqueued();
            match self.done(rank, thread, role, count) {
                Some(at) => done_ns = done_ns.max(at),
                None => return false,
            }
        }
        let end_ns = done_ns + self.cost(rank, thread, ns);
        self.end(rank, thread, function, end_ns);
        if function == Function::DeviceSynchronize {
            let (start_ns, end_ns, place) = (call.start_ns + 300, end_ns - 300, self.ranks[rank].place);
            let row = SyncRow { start_ns, end_ns, place, correlation: call.correlation, sync_type: 4, event: None };
            self.ranks[rank].recorder.sync(row);
        }
        true
    }

    fn place(&mut self, rank: usize, role: Role) -> Place {
        let state = &mut self.ranks[rank];
        Place { stream: state.device.stream(role).id, ..state.place }
    }

    fn record(&mut self, rank: usize, thread: usize, role: Role, event: u32) {
        let call = self.begin(rank, thread, BRIEF_NS);
        let end_ns = call.start_ns + self.cost(rank, thread, EVENT_NS);
        self.end(rank, thread, Function::EventRecord, end_ns);
        let (place, correlation) = (self.place(rank, role), call.correlation);
        self.ranks[rank].recorder.event(EventRow { place, correlation, event: event.into() });
        self.enqueue(rank, role, Item::Record { event, host_ns: end_ns });
    }

    fn wait_event(&mut self, rank: usize, thread: usize, role: Role, event: u32) {
        let call = self.begin(rank, thread, BRIEF_NS);
        let end_ns = call.start_ns + self.cost(rank, thread, EVENT_NS);
        self.end(rank, thread, Function::StreamWaitEvent, end_ns);
        let (place, correlation) = (self.place(rank, role), call.correlation);
        let (start, event_id) = (call.start_ns + 150, Some(event.into()));
        let row = SyncRow { start_ns: start, end_ns: end_ns - 100, place, correlation, sync_type: 2, event: event_id };
        self.ranks[rank].recorder.sync(row);
        self.enqueue(rank, role, Item::Wait { event });
    }

    fn pop(&mut self, rank: usize, thread: usize) {
        let state = &mut self.ranks[rank];
        let host = &mut state.threads[thread];
        host.now_ns += RANGE_NS;
        let Some((label, start_ns)) = host.ranges.pop() else { return };
        if !self.cfg.nvtx {
            return;
        }
        let global_tid = host.global_tid;
        let row = NvtxRow {
            end_ns: Some(host.now_ns),
            ..self.strings.range(label, start_ns, global_tid, self.cfg.nccl_payloads)
        };
        state.recorder.nvtx(row);
    }

    /// A range with a unique name around a launch.
    fn name_operator(&mut self, rank: usize, thread: usize, before_ns: i64, end_ns: i64, number: i64) {
        let state = &mut self.ranks[rank];
        let host = &mut state.threads[thread];
        host.now_ns = end_ns + RANGE_NS;
        let (end_ns, global_tid) = (Some(host.now_ns), host.global_tid);
        let text = RangeText::Own(format!("aten::op, op_id = {number}").into());
        state.recorder.nvtx(NvtxRow { start_ns: before_ns + 1, end_ns, text, global_tid, domain: 0, payload: None });
    }

    fn fetch(&mut self, rank: usize, thread: usize) {
        let state = &mut self.ranks[rank];
        let start_ns = state.threads[thread].now_ns;
        let end_ns = state.loader.fetch(start_ns);
        state.threads[thread].now_ns = end_ns;
        let wait = end_ns - start_ns;
        if self.cfg.loader_nvtx {
            state.recorder.ledger.note(|step| step.data_wait_ns += wait);
        } else {
            state.data_wait_ns += wait;
        }
        let function = if self.cfg.loader_workers == 0 { Function::Read } else { Function::Poll };
        self.os_call(rank, thread, function, start_ns + 20_000, end_ns - 20_000);
    }

    fn os_call(&mut self, rank: usize, thread: usize, function: Function, start_ns: i64, end_ns: i64) {
        if self.cfg.osrt && end_ns > start_ns {
            let state = &mut self.ranks[rank];
            let global_tid = state.threads[thread].global_tid;
            state.recorder.os_call(OsRow { start_ns, end_ns, global_tid, name: Strings::function(function) });
        }
    }

    /// Tells the other thread to go on.
    fn signal(&mut self, rank: usize, thread: usize, other: usize) {
        let state = &mut self.ranks[rank];
        let at_ns = state.threads[thread].now_ns;
        let pass = if other == AUTOGRAD { &mut state.started } else { &mut state.finished };
        (pass.count, pass.at_ns) = (pass.count + 1, at_ns);
        if std::mem::take(&mut pass.awaited) {
            self.wake(rank * THREADS + other);
        }
    }

    fn await_start(&mut self, rank: usize, thread: usize) -> bool {
        let state = &mut self.ranks[rank];
        if state.started.count == state.finished.count {
            state.started.awaited = true;
            return false;
        }
        let at_ns = state.started.at_ns;
        self.go_on(rank, thread, at_ns);
        true
    }

    fn join(&mut self, rank: usize, thread: usize) -> bool {
        let state = &mut self.ranks[rank];
        if state.finished.count == state.joined {
            state.finished.awaited = true;
            return false;
        }
        state.joined += 1;
        let at_ns = state.finished.at_ns;
        self.go_on(rank, thread, at_ns);
        true
    }

    /// A thread wakes up after another one told it to.
    fn go_on(&mut self, rank: usize, thread: usize, told_ns: i64) {
        let host = &mut self.ranks[rank].threads[thread];
        let asleep_ns = host.now_ns;
        host.now_ns = asleep_ns.max(told_ns) + WAKE_NS;
        let woken_ns = host.now_ns;
        self.os_call(rank, thread, Function::CondWait, asleep_ns + 2_000, woken_ns - 2_000);
    }
}
