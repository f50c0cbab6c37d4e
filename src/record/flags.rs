//! Options of `nsys profile`: how they are spelt and what they do, in one place.
//!
//! The spellings are those of NVIDIA's documentation of `nsys profile`.

use super::{Question, Range, Request};
use serde::Serialize;

/// The least that a capture needs: kernels, copies, CUDA calls and NVTX ranges.
pub const BASE: &str = "nsys profile --trace=cuda,nvtx";
/// The same where the training loop marks nothing yet.
pub const BASE_AND_RANGES: &str = "nsys profile --trace=cuda,nvtx, with torch.cuda.nvtx ranges in the training loop";
/// With the calls into the operating system.
pub const WITH_OS: &str = "nsys profile --trace=cuda,nvtx,osrt";
/// With every kernel of a CUDA graph.
pub const WITH_GRAPH_NODES: &str = "nsys profile --cuda-graph-trace=node";
/// With samples of the stack of every thread, Python's frames included.
pub const WITH_SAMPLES: &str = "nsys profile --sample=process-tree --python-sampling=true";
/// From one moment between two steps to another.
pub const BETWEEN_STEPS: &str = "start the capture between two steps, for example with --capture-range=cudaProfilerApi";
/// The option for that.
const CAPTURE_RANGE: &str = "--capture-range=cudaProfilerApi";

/// An option of a command with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// As it is typed.
    pub text: String,
    /// What it does.
    pub why: String,
    /// First build that knows it, when that is younger than 2023.
    pub since: Option<&'static str>,
}

impl Flag {
    fn new(text: impl Into<String>, why: impl Into<String>) -> Self {
        Self { text: text.into(), why: why.into(), since: None }
    }

    fn since(mut self, build: &'static str) -> Self {
        self.since = Some(build);
        self
    }
}

/// First build that takes `nccl` as a trace.
pub(super) const NCCL_SINCE: &str = "2025.6.1";

/// The options for `request`, but for the report's name.
pub(super) fn of(request: &Request) -> Vec<Flag> {
    let asked = |question| request.questions.contains(&question);
    let mut flags = vec![trace(request)];
    if asked(Question::Graphs) {
        let why = "Records every kernel of a CUDA graph. Without it a graph is one block: no kernels, no communication \
                   inside. Slows graph launches a little; no cost without graphs.";
        flags.push(Flag::new("--cuda-graph-trace=node", why));
    }
    if asked(Question::Memory) {
        let why = "Records allocations of device memory. Slows the run; leave it out when times matter.";
        flags.push(Flag::new("--cuda-memory-usage=true", why));
    }
    if asked(Question::Metrics) {
        let why = "Samples the counters of every card. Needs the right to read them (root, or the driver's setting). \
                   Builds of 2023 and early 2024 spell it --gpu-metrics-device.";
        flags.push(Flag::new("--gpu-metrics-devices=all", why));
    }
    flags.extend(sampling(asked(Question::Python)));
    flags.extend(range(request));
    flags.push(Flag::new("--force-overwrite=true", "Replaces a report of the same name from an earlier try."));
    flags
}

fn trace(request: &Request) -> Flag {
    const MORE: [(Question, &str, &str); 3] = [
        (Question::Os, "osrt", "calls into the operating system that a thread waits in"),
        (Question::Nccl, "nccl", "what NCCL says of its collectives"),
        (Question::Libraries, "cublas,cudnn", "calls of these libraries"),
    ];
    let mut text = String::from("--trace=cuda,nvtx");
    let mut why = String::from("Records kernels, copies and CUDA calls (cuda), your ranges (nvtx)");
    for (_, word, what) in MORE.iter().filter(|(question, ..)| request.questions.contains(question)) {
        text.push_str(&format!(",{word}"));
        why.push_str(&format!(", {what} ({})", word.replace(',', ", ")));
    }
    why.push('.');
    let flag = Flag::new(text, why);
    if request.questions.contains(&Question::Nccl) { flag.since(NCCL_SINCE) } else { flag }
}

/// Sampling costs host time, so it is off unless stacks are asked for.
fn sampling(python: bool) -> Vec<Flag> {
    if python {
        return vec![
            Flag::new(
                "--sample=process-tree",
                "Samples the host's call stacks, which Python stacks of CUDA calls need.",
            ),
            Flag::new("--cudabacktrace=all", "Notes the call stack of CUDA calls longer than a microsecond."),
            Flag::new("--python-backtrace=cuda", "Adds the Python part of those stacks."),
            Flag::new("--python-sampling=true", "Samples what Python is doing over time. All four slow the host."),
        ];
    }
    vec![
        Flag::new("--sample=none", "Takes no samples of host call stacks, which would slow the host."),
        Flag::new("--cpuctxsw=none", "Leaves out thread switches, which are many and not shown here."),
    ]
}

fn range(request: &Request) -> Vec<Flag> {
    match request.range {
        Range::Profiler => vec![
            Flag::new(CAPTURE_RANGE, "Waits until the training loop starts the profiler, so warm-up is left out."),
            Flag::new(
                "--capture-range-end=stop",
                "Stops recording when the loop stops the profiler, and lets training go on.",
            ),
        ],
        Range::Delay => vec![
            Flag::new(format!("--delay={}", request.skip), "Seconds to wait first: start-up and warm-up."),
            Flag::new(format!("--duration={}", request.length.max(1)), "Seconds to record."),
            Flag::new("--kill=none", "Lets training go on afterwards; by default nsys ends it."),
        ],
        Range::Whole => Vec::new(),
    }
}

/// What a question needs, in words.
pub(super) const fn needs(question: Question) -> &'static str {
    match question {
        Question::Steps => "--trace=cuda,nvtx and a range around each step",
        Question::Idle => "--trace=cuda,nvtx; ranges around data loading make it exact",
        Question::Os => "osrt in --trace",
        Question::Nccl => "nccl in --trace (from 2025.6.1 on) and --include-blobs=true at the export",
        Question::Graphs => "--cuda-graph-trace=node",
        Question::Gc => "a range around each collection, see the code",
        Question::Memory => "--cuda-memory-usage=true",
        Question::Python => "--sample=process-tree --cudabacktrace=all --python-backtrace=cuda --python-sampling=true",
        Question::Metrics => "--gpu-metrics-devices=all",
        Question::Libraries => "cublas,cudnn in --trace",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options and, where they are a fixed set, values of `nsys profile`, as its documentation lists them.
    const KNOWN: [(&str, &[&str]); 16] = [
        ("--trace", &["cuda", "nvtx", "osrt", "nccl", "cublas", "cudnn"]),
        ("--cuda-graph-trace", &["graph", "node"]),
        ("--cuda-memory-usage", &["true", "false"]),
        ("--gpu-metrics-devices", &["all", "cuda-visible", "none"]),
        ("--sample", &["process-tree", "system-wide", "none"]),
        ("--cpuctxsw", &["process-tree", "system-wide", "none"]),
        ("--cudabacktrace", &["all", "none", "kernel", "memory", "sync", "other"]),
        ("--python-backtrace", &["cuda", "none"]),
        ("--python-sampling", &["true", "false"]),
        ("--capture-range", &["none", "cudaProfilerApi", "hotkey", "nvtx"]),
        ("--capture-range-end", &["none", "stop", "stop-shutdown", "repeat", "repeat-shutdown"]),
        ("--delay", &[]),
        ("--duration", &[]),
        ("--kill", &["none", "sigkill", "sigterm"]),
        ("--force-overwrite", &["true", "false"]),
        ("--output", &[]),
    ];

    fn is_known(flag: &str) -> bool {
        let (name, value) = flag.split_once('=').unwrap();
        let found = KNOWN.iter().find(|(known, _)| *known == name);
        found.is_some_and(|(_, values)| values.is_empty() || value.split(',').all(|part| values.contains(&part)))
    }

    #[test]
    fn every_option_for_any_choice_is_one_that_nsys_knows() {
        for range in Range::ALL {
            for chosen in 0..1_u32 << Question::ALL.len() {
                let questions =
                    (0..Question::ALL.len()).filter(|at| chosen >> at & 1 == 1).map(|at| Question::ALL[at]).collect();
                let request = Request { range, questions, ..Request::default() };
                let flags = of(&request);
                let names: Vec<&str> = flags.iter().map(|flag| flag.text.split_once('=').unwrap().0).collect();
                assert!(flags.iter().all(|flag| is_known(&flag.text) && !flag.why.is_empty()), "{flags:?}");
                assert!(names.iter().all(|name| names.iter().filter(|other| other == &name).count() == 1), "{names:?}");
            }
        }
    }

    #[test]
    fn remedies_name_options_that_the_command_can_have() {
        for remedy in [BASE, BASE_AND_RANGES, WITH_OS, WITH_GRAPH_NODES, BETWEEN_STEPS, CAPTURE_RANGE] {
            let words = || remedy.split(' ').filter(|word| word.starts_with("--"));
            assert!(words().count() > 0 && words().all(|word| is_known(word.trim_end_matches(','))), "{remedy}");
        }
        let request = Request::default();
        let texts: Vec<String> = of(&request).into_iter().map(|flag| flag.text).collect();
        assert!(texts.contains(&WITH_OS.trim_start_matches("nsys profile ").to_owned()));
        assert!(texts.contains(&WITH_GRAPH_NODES.trim_start_matches("nsys profile ").to_owned()));
    }

    #[test]
    fn a_duration_is_never_zero() {
        let request = Request { range: Range::Delay, skip: 0, length: 0, ..Request::default() };
        let texts: Vec<String> = of(&request).into_iter().map(|flag| flag.text).collect();
        assert!(texts.contains(&"--duration=1".to_owned()) && texts.contains(&"--delay=0".to_owned()));
    }
}
