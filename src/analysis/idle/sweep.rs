//! The cause of every idle nanosecond, by one sweep over the gaps with a cursor per host thread.
//!
//! A gap is `[a, b)`, n the operation that starts at b, L the call that launched n, T the thread of L.
//!
//! 1. Without L: unknown.
//! 2. L began at or before a: n was queued already. Up to [`TURNAROUND_NS`] that is turnaround, beyond it device wait.
//! 3. Else the time up to L is what T did (data loading by its ranges, a CUDA call, an OS call, no step open, host code),
//!    inside L it is launch (or module load, while a nested call loads code), and behind L launch latency. When T had
//!    drained the queue by waiting for the GPU, its launch and host code count as sync.
//!
//! Zero-length operations never split a gap. Cost: linear in operations, calls and ranges; [`super::cursor`] holds the
//! bounds for damaged files.

use super::super::{Cause, Coverage};
use super::cursor::{Calls, Cursor, Launch, kinds, launch_at};
use super::data_names::data_loading;
use crate::trace::{Rank, Trace};
use crate::units::Span;

/// Longest gap before a queued operation that counts as the cost of starting one after another.
pub(super) const TURNAROUND_NS: i64 = 5_000;

/// A wait that ended up to this long before the gap still drained the queue: the call returns before the last operation
/// does when their clocks differ a little.
pub(super) const DRAIN_NS: i64 = 20_000;

/// A part of a gap: its start and its cause; it ends where the next begins.
pub(super) type Piece = (i64, Cause);

/// What the sweep knows of a thread.
#[derive(Debug)]
struct Host<'a> {
    calls: Calls<'a>,
    data: Cursor<'a>,
    os: Cursor<'a>,
}

/// Splits every idle span of a rank and hands it to `take` with its pieces: the time from `lead_ns` to the first
/// operation, when there is any, then every gap of `busy` in order. `steps` are the marked step ranges of the process,
/// sorted by start.
pub(super) fn sweep(
    trace: &Trace,
    rank: &Rank,
    busy: &Coverage,
    lead_ns: i64,
    steps: Option<&[Span]>,
    mut take: impl FnMut(Span, &[Piece]),
) {
    let (process, ops) = (rank.process, &rank.ops);
    let (kinds, loading) = (kinds(trace, process), data_loading(trace, process));
    let mut hosts: Vec<Option<Host<'_>>> = trace.threads.iter().map(|_| None).collect();
    let mut steps = steps.map(|steps| Cursor::new(steps.iter().copied()));
    let (mut from_ns, mut first) = (lead_ns, 0);
    let mut pieces: Vec<Piece> = Vec::new();
    for work in busy.spans() {
        let gap = Span::new(from_ns, work.start_ns);
        from_ns = work.end_ns;
        first += ops.start_ns[first..].iter().take_while(|start| **start < work.start_ns).count();
        if gap.is_empty() {
            continue;
        }
        pieces.clear();
        match launch_at(trace, rank, first, gap.end_ns) {
            None => pieces.push((gap.start_ns, Cause::Unknown)),
            Some((_, launch)) if launch.span.start_ns <= gap.start_ns => pieces.push((gap.start_ns, queued(gap))),
            Some((_, launch)) => {
                let thread = &trace.threads[launch.thread];
                let host = hosts[launch.thread].get_or_insert_with(|| Host {
                    calls: Calls::new(&trace.processes[process].api, &kinds, thread),
                    data: Cursor::over_ranges(&thread.nvtx, &loading),
                    os: Cursor::over_calls(&thread.os),
                });
                host.split(gap, launch, steps.as_mut(), &mut pieces);
            }
        }
        pieces.dedup_by_key(|(_, cause)| *cause);
        take(gap, &pieces);
    }
}

/// Cause of a gap whose next operation was submitted before it began.
const fn queued(gap: Span) -> Cause {
    if gap.len_ns() <= TURNAROUND_NS { Cause::Turnaround } else { Cause::DeviceWait }
}

impl Host<'_> {
    /// The pieces of a gap that began before `launch`.
    fn split(&mut self, gap: Span, launch: Launch, mut steps: Option<&mut Cursor<'_>>, pieces: &mut Vec<Piece>) {
        let call = launch.span;
        self.calls.advance(gap.start_ns);
        let drained = self.calls.drained(gap.start_ns, gap.start_ns.saturating_sub(DRAIN_NS), call.start_ns);
        // Clocks that differ a little can put the operation before its own launch.
        let host_end_ns = call.start_ns.min(gap.end_ns);
        let mut at_ns = gap.start_ns;
        while at_ns < host_end_ns {
            let (cause, until_ns) = self.at(at_ns, gap.start_ns, steps.as_deref_mut());
            pieces.push((at_ns, cause));
            at_ns = until_ns.min(host_end_ns);
        }
        let call_end_ns = call.end_ns.min(gap.end_ns);
        while at_ns < call_end_ns {
            let (loading, until_ns) = self.calls.loading_inside(at_ns, launch.call as usize);
            pieces.push((at_ns, if loading { Cause::ModuleLoad } else { Cause::Launch }));
            at_ns = until_ns.min(call_end_ns);
        }
        if at_ns < gap.end_ns {
            pieces.push((at_ns, Cause::LaunchLatency));
        }
        if drained {
            for (_, cause) in pieces.iter_mut().filter(|(_, c)| matches!(c, Cause::Launch | Cause::HostCode)) {
                *cause = Cause::Sync;
            }
        }
    }

    /// What the thread did at `at_ns` in a gap that began at `gap_ns`, and until when that stays so at least.
    fn at(&mut self, at_ns: i64, gap_ns: i64, steps: Option<&mut Cursor<'_>>) -> (Cause, i64) {
        let (loading, data_ns) = self.data.at(at_ns);
        if loading {
            return (Cause::Data, data_ns);
        }
        let (inside, calls_ns) = self.calls.at(at_ns, gap_ns);
        let until_ns = data_ns.min(calls_ns);
        if let Some(cause) = inside {
            return (cause, until_ns);
        }
        let (waiting, os_ns) = self.os.at(at_ns);
        let until_ns = until_ns.min(os_ns);
        if waiting {
            return (Cause::OsWait, until_ns);
        }
        // Where no step is marked, no time lies between steps.
        let (in_step, steps_ns) = steps.map_or((true, i64::MAX), |steps| steps.at(at_ns));
        (if in_step { Cause::HostCode } else { Cause::Data }, until_ns.min(steps_ns))
    }
}
