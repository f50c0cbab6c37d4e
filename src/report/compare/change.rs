//! What changed between two ranks, in words: the same on screen, in text and in documents.

use crate::format;
use crate::job::{COMPARABLE, Delta, Diff, Job};

/// A difference with its sign.
pub fn delta_text(delta: &Delta) -> String {
    signed(delta, format::duration(delta.ns()))
}

/// A difference as a share of what was before; "-" when there was nothing.
pub fn change_text(delta: &Delta) -> String {
    delta.share().map_or_else(|| format::UNKNOWN.to_owned(), |share| signed(delta, format::percent(Some(share))))
}

fn signed(delta: &Delta, text: String) -> String {
    if delta.ns() > 0 { format!("+{text}") } else { text }
}

/// "noise" when the difference is no more than the runs vary from step to step; else empty.
pub const fn noise_text(delta: &Delta) -> &'static str {
    if delta.is_noise() { "noise" } else { "" }
}

/// Thread blocks of a kernel; "-" when not recorded.
pub fn shape_text(blocks: Option<u16>) -> String {
    blocks.map_or_else(|| format::UNKNOWN.to_owned(), |blocks| format::counted(u64::from(blocks), "block", "blocks"))
}

/// How far two runs can be compared at all.
pub fn comparable_text(diff: &Diff) -> String {
    let of = &diff.comparable;
    let [a_steps, b_steps] = of.steps;
    let steps = format!("{} and {} typical steps", format::count(a_steps), format::count(b_steps));
    let common = format!("{} of the kernel time in common", format::percent(Some(of.kernels_in_common)));
    let mut text = format!("Compared: {steps}, {common}.");
    if of.kernels_in_common < COMPARABLE {
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
        format!("Bound by: {before}, both.")
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
        assert_eq!(bound_change("compute", "compute"), "Bound by: compute, both.");
    }
}
