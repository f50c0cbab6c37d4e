//! Rules on how the capture was made.

use super::{Case, Finding, Rule, Value};
use crate::analysis::places::Worst;
use crate::analysis::{Place, Step, StepEdge, intervals};
use crate::trace::NameId;
use crate::units::{Span, share};
use regex::Regex;
use std::sync::LazyLock;

/// Names of ranges that write or read a checkpoint, or evaluate. Activation checkpointing is neither.
const APART: &str = r"(?ix)
    (save|write|load|dump) [\s_-]? (model|check_?point|state|ckpt)
    | (check_?point|ckpt) (ing)? [\s_-]? (save|write|load|dump)
    | (\b|_) (eval | evaluate | evaluation | validate | validation) (\b|_)";
static APART_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(APART).ok());

/// What holds of a case.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    out.extend(warm_up(case));
    out.extend(truncated(case));
    out.extend(silent_end(case));
    out.extend(apart(case));
    out.extend(overhead(case));
}

fn steps<'a>(case: &Case<'a>) -> &'a [Step] {
    case.numbers.steps.as_ref().filter(|steps| !steps.estimated).map_or(&[], |steps| &steps.steps)
}

fn place(at: usize, step: &Step) -> Place {
    Place { step: Some(at), span: step.window, ns: step.window.len_ns() }
}

fn warm_up(case: &Case<'_>) -> Option<Finding> {
    let (at, step) = steps(case).iter().enumerate().find(|(_, step)| step.edge == Some(StepEdge::WarmUp))?;
    let median_ns = case.numbers.steps.as_ref().map_or(0, |steps| steps.typical.median_span_ns);
    Some(
        case.finding(Rule::WarmUp, 0)
            .with("its window", Value::Ns(step.window.len_ns()))
            .with("median window", Value::Ns(median_ns))
            .at(vec![place(at, step)]),
    )
}

fn truncated(case: &Case<'_>) -> Option<Finding> {
    let cut = steps(case).iter().enumerate().filter(|(_, step)| step.edge == Some(StepEdge::Cut));
    let places: Vec<Place> = cut.map(|(at, step)| place(at, step)).collect();
    let count = places.len() as f64;
    (!places.is_empty())
        .then(|| case.finding(Rule::Truncated, 0).with("steps that are cut", Value::Count(count)).at(places))
}

/// The capture goes on long after the last operation: buffers were lost, or the program did something else.
fn silent_end(case: &Case<'_>) -> Option<Finding> {
    let capture = case.trace.span?;
    let silent = Span::new(case.numbers.span.end_ns, capture.end_ns);
    let silent_share = share(silent.len_ns(), capture.len_ns())?;
    if silent.is_empty() || silent_share < case.limits.silent_end_share {
        return None;
    }
    Some(
        case.finding(Rule::Truncated, 0)
            .with("nothing on the GPU at the end of the capture", Value::Ns(silent.len_ns()))
            .with("of the capture", Value::Share(silent_share))
            .at(vec![Place { step: None, span: silent, ns: silent.len_ns() }]),
    )
}

/// The profiler's own work in the process, as a share of the rank's span.
fn overhead(case: &Case<'_>) -> Option<Finding> {
    let global_pid = case.trace.processes.get(case.rank.process)?.global_pid;
    let whole = case.numbers.span;
    let own = case.trace.overheads.iter().filter(|o| o.global_pid == global_pid);
    let inside = own.filter_map(|o| o.span.intersect(whole));
    let spans: Vec<Span> = intervals::union(inside).collect();
    let total_ns = spans.iter().fold(0_i64, |sum, span| sum.saturating_add(span.len_ns()));
    let taken = share(total_ns, whole.len_ns())?;
    if taken < case.limits.overhead_share {
        return None;
    }
    let mut worst = Worst::default();
    spans.iter().for_each(|span| worst.add(None, *span, span.len_ns()));
    let finding = case
        .finding(Rule::ProfilerOverhead, 0)
        .with("in the profiler's own work", Value::Ns(total_ns))
        .with("of the rank's span", Value::Share(taken))
        .at(worst.places());
    Some(if taken >= case.limits.overhead_spoils_share { finding.made_warning() } else { finding })
}

/// Ranges that write a checkpoint or evaluate and take a noticeable part of a step.
fn apart(case: &Case<'_>) -> Option<Finding> {
    let pattern = APART_NAME.as_ref()?;
    let is_apart = |id: &NameId| pattern.is_match(case.trace.name(*id));
    let names: Vec<NameId> = case.range_names.iter().copied().filter(is_apart).collect();
    if names.is_empty() {
        return None;
    }
    let (mut worst, mut name, mut count) = (Worst::default(), None, 0_u64);
    let least_ns = case.scope.parts.span_ns / 5;
    let steps = case.numbers.steps.as_ref();
    for thread in case.trace.threads.iter().filter(|t| t.process == case.rank.process) {
        for (at, id) in thread.nvtx.name.iter().enumerate().filter(|(_, id)| names.contains(id)) {
            let span = thread.nvtx.span(at);
            if span.len_ns() >= least_ns {
                count += 1;
                name.get_or_insert(*id);
                worst.add(steps.and_then(|steps| steps.at(span.start_ns)), span, span.len_ns());
            }
        }
    }
    let name = case.trace.name(name?).to_owned();
    Some(
        case.finding(Rule::CheckpointInside, 0)
            .with("such ranges", Value::Count(count as f64))
            .with("first of them", Value::Name(name))
            .at(worst.places()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_and_evaluation_are_told_by_name() {
        let is = |name: &str| APART_NAME.as_ref().unwrap().is_match(name);
        for name in ["save_checkpoint", "checkpoint save", "eval", "run_evaluation", "validation 3", "write_ckpt"] {
            assert!(is(name), "{name}");
        }
        for name in ["CheckpointFunction", "checkpoint_forward", "retrieval", "medieval", "forward", "invalidate"] {
            assert!(!is(name), "{name}");
        }
    }
}
