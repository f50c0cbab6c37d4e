//! One idle gap in words: names for what [`GapReport`] found, and a sentence.

use crate::analysis::{Cause, Causes, GapPlace, GapReport, RankAnalysis, Steps, base_name};
use crate::format;
use crate::trace::{Rank, Trace};
use crate::units::share;
use serde::Serialize;

/// Letters of a name in a sentence.
const NAME: usize = 48;

/// One idle gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// Number in order of time.
    pub index: usize,
    /// Begin on the export's clock.
    pub start_ns: i64,
    /// End on the export's clock.
    pub end_ns: i64,
    /// Length.
    pub length_ns: i64,
    /// Begin since the first event of the capture.
    pub since_start_ns: i64,
    /// The cause that takes most of it.
    pub cause: Cause,
    /// All its causes.
    pub idle_causes_ns: Causes,
    /// Where among the steps the host was: `in step 5`, `between step 5 and step 6`; empty without steps.
    pub place: String,
    /// The operation that ended when it began.
    pub before: Option<String>,
    /// The operation whose start ended it.
    pub after: Option<String>,
    /// The call that launched that operation.
    pub launch: Option<String>,
    /// From the gap's begin to that call; negative when the call came first.
    pub launch_after_ns: Option<i64>,
    /// The thread that made it.
    pub thread: Option<String>,
    /// The ranges open on that thread meanwhile, outermost first.
    pub nvtx: Vec<String>,
    /// The call that had drained the queue.
    pub drained_by: Option<String>,
    /// The CUDA call that the thread was inside; for queued work, when the launching call still ran.
    pub call: Option<String>,
    /// The OS runtime call that the thread was inside.
    pub os_call: Option<String>,
    /// CUDA calls that the thread began before the launch.
    pub calls: u64,
    /// All of it in one sentence.
    pub sentence: String,
}

impl Gap {
    /// Names what `report` found.
    pub fn of(trace: &Trace, rank: &Rank, numbers: &RankAnalysis, report: &GapReport) -> Self {
        let api = trace.processes.get(rank.process).map(|process| &process.api);
        let thread = report.thread.and_then(|thread| trace.threads.get(thread));
        let op = |op: usize| rank.ops.name.get(op).map(|name| trace.op_short_name(*name).to_owned());
        let call = |call: u32| {
            let name = api.and_then(|api| api.name.get(call as usize));
            name.map(|name| base_name(trace.name(*name)).to_owned())
        };
        let range = |at: &usize| thread.and_then(|t| t.nvtx.name.get(*at)).map(|name| trace.name(*name).to_owned());
        let os_call = |at: usize| thread.and_then(|t| t.os.name.get(at)).map(|name| trace.name(*name).to_owned());
        let mut gap = Self {
            index: report.gap,
            start_ns: report.span.start_ns,
            end_ns: report.span.end_ns,
            length_ns: report.span.len_ns(),
            since_start_ns: report.since_start_ns,
            cause: report.cause,
            idle_causes_ns: report.causes,
            place: place(numbers.steps.as_ref(), report.place),
            before: report.before.and_then(op),
            after: report.after.and_then(op),
            launch: report.launch.and_then(call),
            launch_after_ns: report.launch_after_ns,
            thread: report.thread.map(|at| thread_text(trace, at)),
            nvtx: report.ranges.iter().filter_map(range).collect(),
            drained_by: report.drained_by.and_then(call),
            call: report.inside.and_then(call),
            os_call: report.os_call.and_then(os_call),
            calls: report.calls,
            sentence: String::new(),
        };
        gap.sentence = gap.to_sentence();
        gap
    }

    /// When it began: `at 181.2 ms`.
    pub fn moment(&self) -> String {
        format!("at {}", format::duration(self.since_start_ns))
    }

    /// `1.310 s: data, between step 5 and step 6; the main thread made no CUDA call`.
    fn to_sentence(&self) -> String {
        let mut text = format!("{}: {}", format::duration(self.length_ns), self.cause.text());
        let own_ns = self.idle_causes_ns.of(self.cause);
        if own_ns != self.length_ns {
            text.push_str(&format!(" ({})", format::percent(share(own_ns, self.length_ns))));
        }
        if !self.place.is_empty() {
            text.push_str(&format!(", {}", self.place));
        }
        text.push_str(&format!("; {}", self.reason()));
        text
    }

    /// What stands behind the main cause.
    fn reason(&self) -> String {
        let known = |name: &Option<String>, unknown: &str| {
            name.as_deref().map_or_else(|| unknown.to_owned(), |name| format::one_line(name, NAME))
        };
        let (who, after) = (known(&self.thread, "the launching thread"), known(&self.after, "the next operation"));
        let inside = |call: &Option<String>| format!("{who} was inside {}", known(call, "a call"));
        match self.cause {
            Cause::Data | Cause::HostCode => format!("{who} {}", self.activity()),
            Cause::Sync => match &self.drained_by {
                Some(call) => format!("{} had drained the queue", format::one_line(call, NAME)),
                None => inside(&self.call),
            },
            Cause::Launch | Cause::Allocator | Cause::ModuleLoad => inside(&self.call),
            Cause::LaunchLatency => {
                format!("{} had returned, but {after} had not started", known(&self.launch, "the launch"))
            }
            Cause::Turnaround => format!("{after} was queued already"),
            Cause::OsWait => inside(&self.os_call),
            Cause::DeviceWait => match &self.call {
                Some(call) => {
                    format!("the call that launches {after} had begun and was inside {}", format::one_line(call, NAME))
                }
                None => {
                    let ahead = self.launch_after_ns.map_or_else(String::new, |ns| {
                        format!(", submitted {} before the gap,", format::duration(ns.saturating_neg()))
                    });
                    format!("{after}{ahead} waited for an event, its stream or another device")
                }
            },
            Cause::Unknown => format!("the launch of {after} is not in the capture"),
        }
    }

    /// What the thread did without being inside a call: `was in "dataloader" and made no CUDA call`.
    fn activity(&self) -> String {
        let calls = match self.calls {
            0 => "made no CUDA call".to_owned(),
            1 => "made one CUDA call".to_owned(),
            count => format!("made {} CUDA calls", format::count(count)),
        };
        match self.nvtx.last() {
            Some(range) => format!("was in \"{}\" and {calls}", format::one_line(range, NAME)),
            None => calls,
        }
    }
}

/// `the main thread`, `thread 4711 (pt_autograd_0)`.
fn thread_text(trace: &Trace, at: usize) -> String {
    let Some(thread) = trace.threads.get(at) else { return "a thread".to_owned() };
    if trace.processes.get(thread.process).is_some_and(|process| process.pid == thread.tid) {
        return "the main thread".to_owned();
    }
    match thread.name.map(|name| trace.name(name)).filter(|name| !name.is_empty()) {
        Some(name) => format!("thread {} ({name})", thread.tid),
        None => format!("thread {}", thread.tid),
    }
}

fn place(steps: Option<&Steps>, place: GapPlace) -> String {
    let name = |at: usize| {
        let step = steps.and_then(|steps| steps.steps.get(at));
        step.map_or_else(|| "a step".to_owned(), |step| format::one_line(&step.name, NAME))
    };
    match place {
        GapPlace::Unmarked => String::new(),
        GapPlace::Before(step) => format!("before {}", name(step)),
        GapPlace::In(step) => format!("in {}", name(step)),
        GapPlace::Between(before, after) => format!("between {} and {}", name(before), name(after)),
        GapPlace::After(step) => format!("after {}", name(step)),
    }
}
