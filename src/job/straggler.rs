//! Ranks that the others wait for, and what they did longer.
//!
//! A rank that starts last in over 60 % of the matched collectives and costs the others over 2 % of the step is a
//! straggler. Collectives in which nobody is last beyond the clock's error do not count. Numbers are those of the
//! steps that count as typical, so that warm-up does not name anybody.

use super::cost::{common_steps, extras};
use super::{Extra, Job, SlowKernels};
use crate::analysis::{Cause, HOST_CAUSES, median_of};
use crate::units::share;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeSet;

/// Share of the collectives in which a straggler starts last.
pub const LAST_SHARE: f64 = 0.6;
/// Share of the step that it costs the others.
pub const COST_SHARE: f64 = 0.02;
/// What took longer explains the cost from this share of it.
const EXPLAINS: f64 = 0.1;
/// A host pause counts from this share of the median step.
const PAUSE_SHARE: f64 = 0.05;

/// How often a rank was late, and what that cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LateShare {
    /// Matched collectives in which some rank started last.
    pub decided: u64,
    /// Those in which this rank did.
    pub last: u64,
    /// Wait of the others for it: the mean over them, added up over those collectives.
    pub caused_ns: i64,
}

impl LateShare {
    /// Share of the collectives in which it started last; `None` without any.
    pub fn share(&self) -> Option<f64> {
        (self.decided > 0).then(|| self.last as f64 / self.decided as f64)
    }
}

/// A rank that the others wait for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Straggler {
    /// Index into [`Job::ranks`].
    pub rank: usize,
    /// How often it was last over the typical steps.
    pub late: LateShare,
    /// Share of the collectives in which it started last, 0 to 1.
    pub share_of_collectives: f64,
    /// Mean wait of each other rank for it, per step.
    pub cost_ns_per_step: i64,
    /// That as a share of the mean step.
    pub cost_share: f64,
    /// What of that wait is not hidden behind compute, at most: the mean exposed communication of a step on the others.
    pub exposed_at_most_ns: i64,
    /// What it did longer than the others, the largest difference first.
    pub extras: Vec<Extra>,
    /// Identical kernels beside those of the others.
    pub slow_kernels: Option<SlowKernels>,
}

impl Straggler {
    /// What it did longer, when that is enough to explain what it costs the others.
    pub fn cause(&self) -> Option<&Extra> {
        let enough = |extra: &&Extra| extra.delta_ns() as f64 >= self.cost_ns_per_step as f64 * EXPLAINS;
        self.extras.first().filter(enough)
    }
}

/// A pause of the host that only one rank had in its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pause {
    /// Index into [`Job::ranks`].
    pub rank: usize,
    /// Number of the step.
    pub step: i64,
    /// Host time beyond the rank's median step.
    pub ns: i64,
}

/// Which ranks are late.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stragglers {
    /// The straggler, when there is one.
    pub straggler: Option<Straggler>,
    /// By rank, over the typical steps (everything without steps).
    pub ranks: Vec<LateShare>,
    /// By rank and number of the step.
    pub steps: FxHashMap<(usize, i64), LateShare>,
    /// What each rank waited for others, by rank and number of the step.
    pub waits_ns: FxHashMap<(usize, i64), i64>,
    /// Steps counted; 1 without common steps, when numbers are of the whole span.
    pub counted_steps: u64,
    /// True when numbers are means of a step, false when they are of the whole span.
    pub by_step: bool,
    /// Mean length of such a step.
    pub step_ns: i64,
    /// Pauses of the host that wander: at least two ranks had one, each in a step of its own. Empty otherwise.
    pub wandering: Vec<Pause>,
}

impl Stragglers {
    pub(super) fn of(job: &Job) -> Self {
        // A file of another job among them has no say.
        let met: BTreeSet<usize> = job.groups.iter().flat_map(|group| &group.members).map(|m| m.rank).collect();
        let all: Vec<usize> = if met.is_empty() { (0..job.ranks.len()).collect() } else { met.into_iter().collect() };
        let numbers = common_steps(job, &all);
        let mut found = Self { ranks: vec![LateShare::default(); job.ranks.len()], ..Self::default() };
        found.count(job, &numbers);
        found.by_step = !numbers.is_empty();
        found.counted_steps = (numbers.len() as u64).max(1);
        found.step_ns = step_ns(job, &all, &numbers);
        found.wandering = wandering(job, found.step_ns);
        let steps = i64::try_from(found.counted_steps).unwrap_or(i64::MAX);
        let latest =
            found.ranks.iter().enumerate().max_by_key(|(rank, late)| (late.caused_ns, std::cmp::Reverse(*rank)));
        if let Some((rank, late)) = latest
            && let Some(share_of_collectives) = late.share()
        {
            let cost_ns_per_step = late.caused_ns / steps;
            let cost_share = share(cost_ns_per_step, found.step_ns).unwrap_or(0.0);
            if job.clock.doubt().is_none() && share_of_collectives > LAST_SHARE && cost_share > COST_SHARE {
                let others = partners(job, rank);
                let slow_kernels = SlowKernels::of(job, rank, &others);
                found.straggler = Some(Straggler {
                    rank,
                    late: *late,
                    share_of_collectives,
                    cost_ns_per_step,
                    cost_share,
                    exposed_at_most_ns: exposed_at_most_ns(job, &others, cost_ns_per_step),
                    extras: extras(job, rank, &others, &numbers, slow_kernels.as_ref()),
                    slow_kernels,
                });
            }
        }
        found
    }

    /// Counts who was last, over the steps of these numbers and by every step.
    fn count(&mut self, job: &Job, numbers: &[i64]) {
        for (at, group) in job.groups.iter().enumerate() {
            for number in 0..group.count {
                let Some(matched) = job.matched(at, number) else { continue };
                for (of, (span, split)) in group.members.iter().zip(&matched.members) {
                    if let Some(step) = step_at(job, of.rank, span.start_ns) {
                        let waited_ns = self.waits_ns.entry((of.rank, step)).or_default();
                        *waited_ns = waited_ns.saturating_add(split.wait_ns);
                    }
                }
                let Some(last) = matched.last else { continue };
                let others = i64::try_from(group.members.len().saturating_sub(1)).unwrap_or(1).max(1);
                let waited = matched.members.iter().enumerate().filter(|(member, _)| *member != last);
                let caused_ns = waited.fold(0_i64, |sum, (_, (_, split))| sum.saturating_add(split.wait_ns)) / others;
                let step = group.members.get(last).and_then(|m| step_at(job, m.rank, matched.latest_ns));
                let counts = numbers.is_empty() || step.is_some_and(|step| numbers.binary_search(&step).is_ok());
                for (member, of) in group.members.iter().enumerate() {
                    let add = |late: &mut LateShare| {
                        late.decided += 1;
                        if member == last {
                            late.last += 1;
                            late.caused_ns = late.caused_ns.saturating_add(caused_ns);
                        }
                    };
                    if let Some(late) = self.ranks.get_mut(of.rank).filter(|_| counts) {
                        add(late);
                    }
                    if let Some(step) = step {
                        add(self.steps.entry((of.rank, step)).or_default());
                    }
                }
            }
        }
    }
}

/// How much of a wait of `wait_ns` on `ranks` can be exposed: no more than their communication is, on average.
fn exposed_at_most_ns(job: &Job, ranks: &[usize], wait_ns: i64) -> i64 {
    let exposed = ranks.iter().filter_map(|rank| Some(job.summary(*rank)?.known_parts()?.exposed_comm_ns));
    let (sum, count) = exposed.fold((0_i64, 0_i64), |(sum, count), ns| (sum.saturating_add(ns), count + 1));
    if count > 0 { (sum / count).min(wait_ns) } else { wait_ns }
}

/// The ranks that share a group with `rank`.
fn partners(job: &Job, rank: usize) -> Vec<usize> {
    let groups = job.groups.iter().filter(|group| group.members.iter().any(|member| member.rank == rank));
    let all: BTreeSet<usize> = groups.flat_map(|group| &group.members).map(|member| member.rank).collect();
    all.into_iter().filter(|other| *other != rank).collect()
}

/// Number of the step in whose window job time `at_ns` lies on rank `rank`.
fn step_at(job: &Job, rank: usize, at_ns: i64) -> Option<i64> {
    let summary = job.summary(rank).filter(|summary| summary.has_marked_steps())?;
    let own_ns = job.map(rank).to_export(at_ns);
    let at = summary.steps.partition_point(|step| step.window.end_ns <= own_ns);
    summary.steps.get(at).filter(|step| step.window.contains(own_ns))?.number
}

/// Mean length of the steps of these numbers over `ranks`; of their whole spans without any.
fn step_ns(job: &Job, ranks: &[usize], numbers: &[i64]) -> i64 {
    let summaries = ranks.iter().filter_map(|rank| job.summary(*rank));
    let (mut sum, mut count) = (0_i64, 0_i64);
    for summary in summaries {
        if numbers.is_empty() {
            (sum, count) = (sum.saturating_add(summary.span.len_ns()), count + 1);
        }
        for step in numbers.iter().filter_map(|number| summary.step(*number)) {
            (sum, count) = (sum.saturating_add(step.window.len_ns()), count + 1);
        }
    }
    sum.checked_div(count).unwrap_or(0)
}

/// Pauses of the host that come in one rank after the other, as garbage collection gives.
fn wandering(job: &Job, step_ns: i64) -> Vec<Pause> {
    let limit_ns = (step_ns as f64 * PAUSE_SHARE) as i64;
    let mut pauses = Vec::new();
    for rank in 0..job.ranks.len() {
        let Some(summary) = job.summary(rank).filter(|summary| summary.has_marked_steps()) else { continue };
        let host_ns = |causes: &crate::analysis::Causes| {
            HOST_CAUSES.iter().chain(&[Cause::Data]).fold(0_i64, |sum, cause| sum.saturating_add(causes.of(*cause)))
        };
        let Some(median_ns) = median_of(summary.steps.iter().map(|step| host_ns(&step.causes)).collect()) else {
            continue;
        };
        // The first step warms up.
        for step in summary.steps.iter().skip(1) {
            let ns = host_ns(&step.causes).saturating_sub(median_ns);
            if let Some(number) = step.number.filter(|_| ns > limit_ns) {
                pauses.push(Pause { rank, step: number, ns });
            }
        }
    }
    let ranks: BTreeSet<usize> = pauses.iter().map(|pause| pause.rank).collect();
    let steps: BTreeSet<i64> = pauses.iter().map(|pause| pause.step).collect();
    // Several ranks, and each in a step of its own.
    if ranks.len() < 2 || steps.len() < pauses.len() { Vec::new() } else { pauses }
}
