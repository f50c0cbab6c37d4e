//! What changed between two ranks, in words: the same on screen, in text and in documents.

use crate::format;
use crate::job::{COMPARABLE, Delta, Diff, DiffScope, ENOUGH_STEPS, Job};

/// A difference with its sign.
pub fn delta_text(delta: &Delta) -> String {
    format::signed_duration(delta.ns())
}

/// A difference as a share of what was before; "-" when there was nothing.
pub fn change_text(delta: &Delta) -> String {
    format::signed_percent(delta.share())
}

/// What there is to say of a difference: "equal" when there is none, "noise" when it is no more than the runs vary from
/// step to step; else, and when that is not known, `None`.
pub fn note_of(delta: &Delta) -> Option<&'static str> {
    match (delta.ns(), delta.is_noise()) {
        (0, _) => Some("equal"),
        (_, Some(true)) => Some("noise"),
        _ => None,
    }
}

/// What is called noise, in one sentence.
pub const NOISE: &str = "Noise: a difference no larger than the row varies from step to step in either run (the standard \
                         deviation over the typical steps), and in proportion no larger than the step does.";

/// What is called noise between two runs, or why nothing is.
pub fn noise_rule_text(diff: &Diff) -> String {
    if diff.comparable.knows_noise() {
        return NOISE.to_owned();
    }
    format!("Noise cannot be told: fewer than {ENOUGH_STEPS} typical steps.")
}

/// What the numbers of two runs are: means of a step, or sums.
pub const fn scope_text(diff: &Diff) -> &'static str {
    match diff.comparable.scope() {
        DiffScope::TypicalSteps => "Means of a typical step",
        DiffScope::WholeSpans => "Sums over the whole spans",
        DiffScope::StepAndSpan => "Means of a typical step beside sums over a whole span",
    }
}

/// What the length of a step is called, where it may be that of the whole span.
pub const fn length_text(diff: &Diff) -> &'static str {
    match diff.comparable.scope() {
        DiffScope::TypicalSteps => "Step",
        DiffScope::WholeSpans => "Whole span",
        DiffScope::StepAndSpan => "Step, whole span",
    }
}

/// What sums of kernels, ranges and collectives are of, to follow them.
pub const fn sums_of_text(diff: &Diff) -> &'static str {
    match diff.comparable.scope() {
        DiffScope::TypicalSteps => "per step",
        DiffScope::WholeSpans => "over the whole span",
        DiffScope::StepAndSpan => "per step, where there are steps",
    }
}

/// Thread blocks of a kernel; "-" when not recorded.
pub fn shape_text(blocks: Option<u16>) -> String {
    blocks.map_or_else(|| format::UNKNOWN.to_owned(), |blocks| format::counted(u64::from(blocks), "block", "blocks"))
}

/// How far two runs can be compared at all.
pub fn comparable_text(diff: &Diff) -> String {
    let of = &diff.comparable;
    let [a_steps, b_steps] = of.steps;
    let steps = match of.scope() {
        DiffScope::TypicalSteps => format!("{} and {} typical steps", format::count(a_steps), format::count(b_steps)),
        DiffScope::WholeSpans => "the whole spans, since neither has typical steps".to_owned(),
        DiffScope::StepAndSpan => format!(
            "a typical step of the {} (of {}) with the whole span of the {}, which has none",
            if a_steps > 0 { "first" } else { "second" },
            format::count(a_steps.max(b_steps)),
            if a_steps > 0 { "second" } else { "first" },
        ),
    };
    let common = format!("{} of the kernel time in common", format::percent(Some(of.kernels_in_common)));
    let mut text = format!("Compared: {steps}; {common}.");
    if of.scope() == DiffScope::StepAndSpan {
        text.push_str(
            " These times say nothing about each other: mark the steps of both, or name them by --step-regex.",
        );
    }
    if of.kernels_in_common < COMPARABLE && of.names_in_common >= COMPARABLE {
        text.push_str(
            " They ran the same kernels in other launch shapes: the work is of another size, so single kernels cannot be \
             compared, steps only if they do the same work.",
        );
    } else if of.kernels_in_common < COMPARABLE {
        text.push_str(
            " These are different programs: single kernels cannot be compared, steps only if they do the same work.",
        );
    }
    if let [Some(a), Some(b)] = &of.gpus
        && !of.same_gpu()
    {
        let name = |text: &str| format::one_line(text, 120);
        text.push_str(&format!(" They ran on different cards: {} and {}.", name(a), name(b)));
    }
    text
}

/// What two ranks of a job are bound by.
pub fn verdict_change_text(job: &Job, a: usize, b: usize) -> String {
    bound_change(bound_by_text(job, a), bound_by_text(job, b))
}

fn bound_change(before: &str, after: &str) -> String {
    if before == after {
        format!("Both are bound by {before}.")
    } else {
        format!("Bound by: {before} before, {after} after.")
    }
}

/// What a rank of a job is bound by; "-" when the capture cannot tell.
pub fn bound_by_text(job: &Job, rank: usize) -> &'static str {
    let verdict = job.summary(rank).and_then(|summary| summary.verdict);
    verdict.map_or(format::UNKNOWN, |verdict| verdict.area.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_verdicts_are_told_as_before_and_after() {
        assert_eq!(bound_change("compute", "copies"), "Bound by: compute before, copies after.");
        assert_eq!(bound_change("compute", "compute"), "Both are bound by compute.");
    }

    #[test]
    fn what_did_not_change_is_equal_and_no_noise() {
        let note = |b_ns, spread_ns| note_of(&Delta { a_ns: 100, b_ns, spread_ns });
        assert_eq!([note(100, Some(5)), note(100, Some(0)), note(100, None)], [Some("equal"); 3]);
        assert_eq!([note(105, Some(5)), note(95, Some(5))], [Some("noise"); 2]);
        assert_eq!([note(106, Some(5)), note(101, None)], [None; 2]);
    }
}
