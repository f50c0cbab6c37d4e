//! The report as notes of an experiment: a page of YAML to keep beside the run. What is not known is null, with what to
//! fill in.

use super::{RankReport, Report};
use crate::experiment::{Convention, Dtype, Experiment, Model, Recompute};
use crate::format;
use crate::units::{seconds, seconds_of, share};
use serde::{Serialize, Serializer};
use serde_saphyr::Commented;

/// A value with a comment behind it; without a comment it stands alone.
#[derive(Debug)]
struct Noted<T>(Option<T>, String);

impl<T: Serialize> Serialize for Noted<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.1.is_empty() {
            self.0.serialize(serializer)
        } else {
            Commented(&self.0, self.1.clone()).serialize(serializer)
        }
    }
}

/// A value, or null and what to do about it.
fn noted<T>(value: Option<T>, missing: &str) -> Noted<T> {
    let comment = if value.is_some() { "" } else { missing };
    Noted(value, comment.to_owned())
}

/// A value that is explained, or null and what to do about it.
fn explained<T>(value: Option<T>, about: &str, missing: &str) -> Noted<T> {
    let comment = if value.is_some() { about } else { missing };
    Noted(value, comment.to_owned())
}

#[derive(Debug, Serialize)]
struct Notes<'a> {
    experiment: About<'a>,
    hardware: Hardware<'a>,
    config: Config,
    parallel: Sizes,
    throughput: Throughput,
    nsys: Nsys<'a>,
    next_action: Noted<&'a str>,
}

#[derive(Debug, Serialize)]
struct About<'a> {
    name: Noted<String>,
    notes: Noted<String>,
    captured: Noted<&'a str>,
    exports: Vec<&'a str>,
    stepscope: &'static str,
}

#[derive(Debug, Serialize)]
struct Hardware<'a> {
    gpu: Noted<String>,
    gpus: Noted<u64>,
    host: Noted<&'a str>,
    nsys: Noted<&'a str>,
    peak_tflops: Noted<f64>,
}

#[derive(Debug, Serialize)]
struct Config {
    model: Noted<String>,
    parameters: Noted<f64>,
    sequence_length: Noted<u64>,
    sequences: Noted<u64>,
    micro_batch: Noted<u64>,
    micro_batches: Noted<u64>,
    dtype: Noted<&'static str>,
    recompute: Noted<&'static str>,
    convention: Noted<&'static str>,
}

#[derive(Debug, Serialize)]
struct Sizes {
    dp: Noted<u64>,
    tp: Noted<u64>,
    pp: Noted<u64>,
    cp: Noted<u64>,
    ep: Noted<u64>,
}

#[derive(Debug, Serialize)]
struct Throughput {
    step_time_median: Noted<f64>,
    tokens_per_step: Noted<u64>,
    tokens_per_second: Noted<f64>,
    estimated_mfu: Noted<f64>,
}

#[derive(Debug, Serialize)]
struct Nsys<'a> {
    rank: Noted<&'a str>,
    captured_steps: Noted<u64>,
    top_kernel: Noted<&'a str>,
    top_collective: Noted<&'static str>,
    visible_bubble: Noted<f64>,
    suspected_bottleneck: Noted<&'a str>,
}

const NO_STEPS: &str = "no steps are marked: mark them with NVTX ranges, or give experiment.step_time_ms";
const NO_WORK: &str = "no GPU work was recorded";

/// The notes.
///
/// # Errors
/// What the serializer says; never for numbers that this program computes.
pub(super) fn yaml(report: &Report) -> Result<String, String> {
    let experiment = report.experiment.clone().unwrap_or_default();
    let rank = slowest(&report.ranks);
    let notes = Notes {
        experiment: about(report, &experiment),
        hardware: hardware(report),
        config: config(report, &experiment),
        parallel: sizes(&experiment),
        throughput: throughput(report),
        nsys: nsys(rank),
        next_action: noted(rank.and_then(|rank| rank.verdict.next_action()), no_verdict(rank)),
    };
    serde_saphyr::to_string(&notes).map_err(|error| error.to_string())
}

/// The rank with the longest median step sets the pace; without steps the first.
fn slowest(ranks: &[RankReport]) -> Option<&RankReport> {
    let step_ns = |rank: &RankReport| marked(rank).map(|(_, median_ns)| median_ns);
    let longest = ranks.iter().filter_map(step_ns).max();
    ranks.iter().find(|rank| step_ns(rank) == longest)
}

/// Steps and median of a rank whose steps are marked.
fn marked(rank: &RankReport) -> Option<(u64, i64)> {
    let typical = rank.typical_step.as_ref().filter(|_| !rank.steps_estimated)?;
    Some((rank.steps.len() as u64, typical.median_span_ns))
}

fn about<'a>(report: &'a Report, experiment: &Experiment) -> About<'a> {
    let captured = report.exports.iter().find_map(|export| export.captured_utc.as_deref());
    About {
        name: noted(experiment.run.name.clone(), "give experiment.name in stepscope.toml"),
        notes: noted(experiment.run.notes.clone(), "what was tried and why: experiment.notes in stepscope.toml"),
        captured: noted(captured, "the capture does not say when"),
        exports: report.exports.iter().map(|export| export.path.as_str()).collect(),
        stepscope: report.version,
    }
}

fn hardware(report: &Report) -> Hardware<'_> {
    let mut names: Vec<&str> = report.ranks.iter().filter_map(|rank| rank.gpu.as_deref()).collect();
    names.dedup();
    let gpus = report.mfu.gpus;
    Hardware {
        gpu: noted((!names.is_empty()).then(|| names.join(", ")), "the capture names no GPU: fill in the model"),
        gpus: noted((gpus > 0).then_some(gpus), "give experiment.gpus in stepscope.toml"),
        host: noted(report.exports.iter().find_map(|export| export.host.as_deref()), "not recorded: fill in"),
        nsys: noted(report.exports.iter().find_map(|export| export.nsys_version.as_deref()), "not recorded"),
        peak_tflops: explained(
            report.mfu.peak_tflops,
            report.mfu.peak_source.as_deref().unwrap_or(""),
            "give experiment.dtype, and peak.gpu or peak.tflops, in stepscope.toml",
        ),
    }
}

fn config(report: &Report, experiment: &Experiment) -> Config {
    let (batch, run) = (&experiment.batch, &experiment.run);
    Config {
        model: noted(model(&experiment.model), "give model.preset, model.config or its shape in stepscope.toml"),
        parameters: noted(report.mfu.parameters, "give model.parameters or the model's shape in stepscope.toml"),
        sequence_length: noted(batch.sequence_length, "give batch.sequence_length in stepscope.toml"),
        sequences: noted(batch.sequences, "sequences of a step over all GPUs: batch.sequences in stepscope.toml"),
        micro_batch: noted(batch.micro_batch, "give batch.micro_batch in stepscope.toml"),
        micro_batches: noted(batch.micro_batches, "give batch.micro_batches in stepscope.toml"),
        dtype: noted(run.dtype.map(Dtype::text), "give experiment.dtype in stepscope.toml"),
        recompute: noted(run.recompute.map(Recompute::text), "give experiment.recompute in stepscope.toml"),
        convention: noted(run.convention.map(Convention::key).or(report.mfu.convention), "follows from the model"),
    }
}

/// What the model is called: its preset, the file that describes it, or its size.
fn model(model: &Model) -> Option<String> {
    let size = || Some(format!("{} layers, hidden size {}", model.layers?, model.hidden?));
    let file = || model.config.as_ref().map(|path| path.display().to_string());
    model.preset.clone().or_else(file).or_else(size)
}

fn sizes(experiment: &Experiment) -> Sizes {
    let sizes = &experiment.parallel;
    let size = |value: Option<u64>, name: &str| noted(value, &format!("give parallel.{name} in stepscope.toml"));
    Sizes {
        dp: size(sizes.dp, "dp"),
        tp: size(sizes.tp, "tp"),
        pp: size(sizes.pp, "pp"),
        cp: size(sizes.cp, "cp"),
        ep: size(sizes.ep, "ep"),
    }
}

fn throughput(report: &Report) -> Throughput {
    let missing = report.mfu.missing.first().map_or("", String::as_str);
    let missing = if missing.is_empty() { "say what was trained in stepscope.toml: [model], [batch]" } else { missing };
    // Without an experiment the captured steps still have a median.
    let captured = slowest(&report.ranks).and_then(marked).map(|(_, median_ns)| seconds_of(median_ns));
    Throughput {
        step_time_median: explained(report.mfu.step_time_ns.map(seconds).or(captured), "seconds", NO_STEPS),
        tokens_per_step: noted(
            report.mfu.tokens_per_step,
            "give batch.sequences and batch.sequence_length in stepscope.toml",
        ),
        tokens_per_second: noted(report.mfu.tokens_per_s, "needs tokens per step and a step time"),
        estimated_mfu: explained(report.mfu.mfu, "share of the peak, 0 to 1", missing),
    }
}

/// Why a rank has no verdict.
fn no_verdict(rank: Option<&RankReport>) -> &str {
    rank.and_then(|rank| rank.verdict.lines().first()).map_or(NO_WORK, String::as_str)
}

fn nsys(rank: Option<&RankReport>) -> Nsys<'_> {
    let steps = rank.and_then(marked).map(|(steps, _)| steps);
    let top = rank.and_then(|rank| rank.collectives.iter().max_by_key(|(_, sum)| sum.total_ns).map(|(kind, _)| *kind));
    let (bubble_ns, bubble) = bubble(rank);
    Nsys {
        rank: explained(rank.map(|rank| rank.label.as_str()), "the rank with the longest step", NO_WORK),
        captured_steps: noted(steps, NO_STEPS),
        top_kernel: noted(
            rank.and_then(|rank| rank.top_kernel.as_ref().map(|kernel| kernel.name.as_str())),
            "no compute kernel was recorded",
        ),
        top_collective: noted(top, "no communication kernel was recorded"),
        visible_bubble: explained(bubble_ns.map(seconds_of), &bubble, NO_STEPS),
        suspected_bottleneck: noted(rank.and_then(|rank| rank.verdict.class()), no_verdict(rank)),
    }
}

/// Nanoseconds a typical step without work on the GPU, and what that is.
fn bubble(rank: Option<&RankReport>) -> (Option<i64>, String) {
    let typical = rank.filter(|rank| !rank.steps_estimated).and_then(|rank| rank.typical_step.as_ref());
    let measured_ns = rank.and_then(|rank| rank.verdict.bubble_ns());
    let what = if measured_ns.is_some() { "of the pipeline's bubble" } else { "with nothing on the GPU" };
    let ns = typical.map(|typical| measured_ns.unwrap_or(typical.mean.idle_ns));
    let of_step = ns.zip(typical).and_then(|(ns, typical)| share(ns, typical.mean.span_ns));
    (ns, format!("seconds a typical step {what}, {} of it", format::percent(of_step)))
}
