//! Runs a job: host threads in the order of their clocks, streams as soon as their work is known to start.
//!
//! Cost: about half a microsecond per operation. Memory: the programs of one step per rank, and the rows that are not
//! settled yet.

use super::SimError;
use super::collective::Meetings;
use super::config::{CudaGraphs, JobConfig};
use super::device::Device;
use super::gpu::GpuSpec;
use super::kernels::{Catalog, KernelId};
use super::program::{HostOp, Label, Role};
use super::record::{Clock, Recorder, Sink};
use super::rng::Rng;
use super::schedule::Programmer;
use super::strings::{NCCL_DOMAIN, Strings};
use super::truth::Truth;
use crate::nsys::write::{NvtxRow, Place, RangeText};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Main thread and autograd thread of a rank.
pub(super) const THREADS: usize = 2;
pub(super) const MAIN: usize = 0;
pub(super) const AUTOGRAD: usize = 1;

/// Later than anything in a job, with room for a clock's offset.
const ALWAYS: i64 = i64::MAX / 2;

/// Rows held per rank before they are handed on.
const ROWS_HELD: usize = 40_000;

/// An API call that has begun and may have to wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) start_ns: i64,
    pub(super) correlation: i64,
    /// Items of the compute stream that have to be done before it returns.
    pub(super) until: Option<u64>,
}

/// A host thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) now_ns: i64,
    pub(super) program: Vec<HostOp>,
    pub(super) next: usize,
    pub(super) call: Option<Call>,
    pub(super) ranges: Vec<(Label, i64)>,
    pub(super) global_tid: i64,
    /// Time between two calls.
    pub(super) between_ns: f64,
    pub(super) rng: Rng,
}

/// A rank.
#[derive(Debug)]
pub(super) struct RankState<'a> {
    pub(super) programmer: Programmer<'a>,
    pub(super) threads: [Thread; THREADS],
    pub(super) device: Device,
    pub(super) recorder: Recorder,
    pub(super) loader: super::loader::Loader,
    pub(super) place: Place,
    pub(super) gpu_rng: Rng,
    pub(super) correlation: i64,
    /// Kernels whose module is loaded.
    pub(super) loaded: Vec<bool>,
    /// Collectives launched, by communicator.
    pub(super) sequences: rustc_hash::FxHashMap<u32, u64>,
    /// Passes of the autograd thread asked for, and when the last one was.
    pub(super) started: Pass,
    /// Passes finished, and when the last one was.
    pub(super) finished: Pass,
    /// Passes the main thread has joined.
    pub(super) joined: u64,
    pub(super) data_wait_ns: i64,
    pub(super) compute_factor: f64,
    pub(super) clock_factor: f64,
    pub(super) host_factor: f64,
    next_step: u32,
}

/// A counter of passes that threads wait for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pass {
    pub(super) count: u64,
    pub(super) at_ns: i64,
    /// A thread is asleep until the next one.
    pub(super) awaited: bool,
}

/// A job under way.
pub(super) struct Engine<'a> {
    pub(super) cfg: &'a JobConfig,
    pub(super) catalog: &'a Catalog,
    pub(super) strings: &'a Strings,
    pub(super) gpu: GpuSpec,
    pub(super) graph: Vec<KernelId>,
    pub(super) ranks: Vec<RankState<'a>>,
    pub(super) meetings: Meetings,
    runnable: BinaryHeap<Reverse<(i64, usize)>>,
    /// No thread does anything before this time any more.
    now_ns: i64,
}

/// What the ids of one rank are in its export.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids {
    pub(super) pid: i64,
    pub(super) place: Place,
    pub(super) streams: [i64; Role::ALL.len()],
}

impl Ids {
    /// Ids of `rank`. In one file each process has a context and streams of its own, as around a launcher.
    pub(super) fn of(cfg: &JobConfig, rank: u32) -> Self {
        let device = i64::from(rank % cfg.gpus_per_node);
        let (context, shift) = if cfg.one_file { (device + 1, 8 * device) } else { (1, 0) };
        let pid = 3000 + 200 * i64::from(rank);
        let global_pid = (1 << 48) | (pid << 24);
        // nsys numbers streams per process; 7 is the null stream of the first context.
        let streams = [7, 13, 20, 24, 28].map(|id| id + shift);
        Self { pid, place: Place { device, context, stream: streams[0], global_pid }, streams }
    }

    /// As nsys packs thread `thread`: the main thread has the number of the process.
    pub(super) const fn global_tid(&self, thread: i64) -> i64 {
        self.place.global_pid | (self.pid + if thread == 0 { 0 } else { 60 + thread })
    }
}

impl<'a> Engine<'a> {
    pub(super) fn new(cfg: &'a JobConfig, catalog: &'a Catalog, strings: &'a Strings) -> Self {
        let (meetings, communicators) = Meetings::of(cfg);
        let ranks = (0..cfg.ranks).zip(communicators).map(|(rank, comms)| {
            let ids = Ids::of(cfg, rank);
            let of = |values: &[f64]| values.get(rank as usize).copied().unwrap_or(0.0);
            let clock =
                Clock { offset_ns: (of(&cfg.clock_offset_ms) * 1e6).round() as i64, drift_ppm: of(&cfg.drift_ppm) };
            let straggles = cfg.stragglers.contains(&rank);
            let factor = |value: f64| if straggles { value } else { 1.0 };
            let thread = |at: usize| Thread {
                // Processes do not start at the same instant.
                now_ns: 5_000_000 + 40_000 * i64::from(rank),
                program: Vec::new(),
                next: 0,
                call: None,
                ranges: Vec::new(),
                global_tid: ids.global_tid(at as i64),
                // Backward is C++ only.
                between_ns: cfg.host_us * 1e3 * if at == AUTOGRAD { 0.7 } else { 1.0 },
                rng: Rng::new(cfg.seed, (u64::from(rank) << 8) + 1 + at as u64),
            };
            let mut recorder = Recorder::new(clock);
            let truth = &mut recorder.ledger.truth;
            truth.stage = rank / cfg.dp();
            truth.offset_ns = -clock.offset_ns;
            truth.wall_error_ns = (of(&cfg.wall_error_ms) * 1e6).round() as i64;
            truth.drift_ppm = clock.drift_ppm;
            RankState {
                programmer: Programmer::new(cfg, catalog, rank, comms),
                threads: [thread(MAIN), thread(AUTOGRAD)],
                device: Device::new(ids.streams),
                recorder,
                loader: super::loader::Loader::new(cfg, rank),
                place: ids.place,
                gpu_rng: Rng::new(cfg.seed, u64::from(rank) << 8),
                correlation: 1000,
                loaded: vec![false; catalog.kernels.len()],
                sequences: rustc_hash::FxHashMap::default(),
                started: Pass::default(),
                finished: Pass::default(),
                joined: 0,
                data_wait_ns: 0,
                compute_factor: factor(cfg.compute_factor),
                clock_factor: factor(cfg.clock_factor),
                host_factor: factor(cfg.host_factor),
                next_step: 0,
            }
        });
        let ranks: Vec<RankState<'a>> = ranks.collect();
        let graph = match (cfg.cuda_graphs, ranks.first()) {
            (CudaGraphs::Off, _) | (_, None) => Vec::new(),
            (_, Some(rank)) => rank.programmer.graph_kernels(),
        };
        Self {
            cfg,
            catalog,
            strings,
            gpu: cfg.gpu.spec(),
            graph,
            ranks,
            meetings,
            runnable: BinaryHeap::new(),
            now_ns: 0,
        }
    }

    /// Runs the whole job into `sink`, telling the share done.
    pub(super) fn run_job(mut self, sink: &mut dyn Sink, progress: &mut dyn FnMut(f64)) -> Result<Truth, SimError> {
        for rank in 0..self.ranks.len() {
            self.name_domain(rank);
            self.runnable.push(Reverse((self.ranks[rank].threads[MAIN].now_ns, rank * THREADS + MAIN)));
        }
        let (all_steps, mut told) = (u64::from(self.cfg.steps) * u64::from(self.cfg.ranks), u64::MAX);
        while let Some(Reverse((at, thread))) = self.runnable.pop() {
            self.now_ns = self.now_ns.max(at);
            self.run_thread(thread / THREADS, thread % THREADS);
            if self.ranks[thread / THREADS].recorder.held() > ROWS_HELD {
                self.hand_on(thread / THREADS, sink)?;
            }
            let begun = self.ranks.iter().map(|rank| u64::from(rank.next_step)).sum::<u64>().saturating_sub(1);
            if begun != told {
                told = begun;
                progress(begun as f64 / all_steps as f64);
            }
        }
        for rank in 0..self.ranks.len() {
            let batch = self.ranks[rank].recorder.settle(ALWAYS, ALWAYS, ALWAYS);
            sink.take(rank as u32, batch)?;
        }
        progress(1.0);
        let ranks = self.ranks.into_iter().map(|rank| rank.recorder.ledger.finish()).collect();
        Ok(Truth { ranks, collectives: self.meetings.ended })
    }

    /// Lets a thread go on that waited.
    pub(super) fn wake(&mut self, thread: usize) {
        self.runnable.push(Reverse((self.now_ns, thread)));
    }

    /// Runs a thread until it waits or another one is behind it.
    fn run_thread(&mut self, rank: usize, thread: usize) {
        loop {
            let state = &mut self.ranks[rank].threads[thread];
            let Some(op) = state.program.get(state.next).copied() else {
                if thread == MAIN && self.load_step(rank) {
                    continue;
                }
                return;
            };
            // A call under way began in the past and is due now.
            if state.call.is_none() {
                if self.runnable.peek().is_some_and(|Reverse((other, _))| *other < state.now_ns) {
                    self.runnable.push(Reverse((state.now_ns, rank * THREADS + thread)));
                    return;
                }
                self.now_ns = self.now_ns.max(state.now_ns);
            }
            if !self.execute(rank, thread, op) {
                return;
            }
            self.ranks[rank].threads[thread].next += 1;
        }
    }

    /// Gives both threads of a rank their next step; false after the last.
    fn load_step(&mut self, rank: usize) -> bool {
        let state = &mut self.ranks[rank];
        if state.next_step == self.cfg.steps {
            return false;
        }
        let program = state.programmer.step(state.next_step);
        state.next_step += 1;
        // Backward of the step before was joined, so both threads are at the end of their programs.
        for (thread, ops) in [(MAIN, program.main), (AUTOGRAD, program.autograd)] {
            state.threads[thread].program = ops;
            state.threads[thread].next = 0;
        }
        let now = state.threads[MAIN].now_ns;
        state.threads[AUTOGRAD].now_ns = state.threads[AUTOGRAD].now_ns.max(now);
        self.runnable.push(Reverse((now, rank * THREADS + AUTOGRAD)));
        true
    }

    fn hand_on(&mut self, rank: usize, sink: &mut dyn Sink) -> Result<(), SimError> {
        let now = self.now_ns;
        let state = &mut self.ranks[rank];
        let gpu = state.device.earliest_start(now);
        let call = state.threads.iter().filter_map(|t| t.call.map(|c| c.start_ns)).fold(now, i64::min);
        // A thread that waits for another one has been in an OS call since it went to sleep.
        let range = state.threads.iter().map(|t| t.ranges.first().map_or(t.now_ns, |r| r.1)).fold(call, i64::min);
        let batch = state.recorder.settle(gpu, call, range);
        sink.take(rank as u32, batch)
    }

    fn name_domain(&mut self, rank: usize) {
        let state = &mut self.ranks[rank];
        if self.cfg.nvtx && self.cfg.nvtx_nccl {
            let text = RangeText::Own("NCCL".into());
            let global_tid = state.threads[MAIN].global_tid;
            state.recorder.nvtx(NvtxRow {
                start_ns: 1_000_000,
                end_ns: None,
                text,
                global_tid,
                domain: NCCL_DOMAIN,
                payload: None,
            });
        }
    }
}
