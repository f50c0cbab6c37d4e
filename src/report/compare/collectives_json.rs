//! Matched collectives and the rank that the others wait for, as JSON.

use super::json::{by_label, label};
use super::words::{extra_key, extra_text, group_text, refusal_text, reservation};
use crate::job::Job;
use crate::units::share;
use serde::Serialize;
use std::collections::BTreeMap;

/// Matched collectives.
#[derive(Debug, Serialize)]
pub struct Collectives {
    matched: u64,
    unmatched: u64,
    /// Why the numbers below are no evidence of who was late; `null` when they are.
    reservation: Option<String>,
    wait_ns: BTreeMap<String, i64>,
    transfer_ns: BTreeMap<String, i64>,
    last_rank_counts: BTreeMap<String, u64>,
    groups: Vec<GroupLine>,
    /// Who waited for whom, where anybody did.
    waited_for: Vec<WaitLine>,
    refused: Vec<String>,
}

#[derive(Debug, Serialize)]
struct GroupLine {
    name: String,
    ranks: Vec<String>,
    /// Ranks of the communicator, where known: more than are listed when not all are open.
    size: Option<u32>,
    count: u64,
    skew_median_ns: i64,
    skew_max_ns: i64,
    end_spread_ns: i64,
    transfer_gb_per_s: Option<f64>,
    decided: u64,
    last_rank_counts: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize)]
struct WaitLine {
    rank: String,
    waited_for: String,
    ns: i64,
}

/// The rank that the others wait for.
#[derive(Debug, Serialize)]
pub struct StragglerLine {
    label: String,
    share_of_collectives: f64,
    cost_ns_per_step: i64,
    /// What of that is not hidden behind compute, at most.
    exposed_at_most_ns_per_step: i64,
    cost_share: f64,
    cause: Option<&'static str>,
    cause_text: Option<String>,
    identical_kernels_ratio: Option<f64>,
    extras: Vec<ExtraLine>,
}

#[derive(Debug, Serialize)]
struct ExtraLine {
    cause: &'static str,
    text: String,
    own_ns: i64,
    others_ns: i64,
}

impl Collectives {
    /// Those of `job`.
    pub(super) fn of(job: &Job) -> Self {
        let waits = |rank: usize| job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0);
        let group = |(at, of): (usize, &crate::job::Group)| {
            let sums = job.waits.groups.get(at)?;
            Some(GroupLine {
                name: group_text(job, at),
                ranks: of.members.iter().map(|member| label(job, member.rank)).collect(),
                size: of.size,
                count: of.count as u64,
                skew_median_ns: sums.skew_median_ns,
                skew_max_ns: sums.skew_max_ns,
                end_spread_ns: sums.end_spread_ns,
                transfer_gb_per_s: sums.transfer_gb_per_s,
                decided: sums.decided,
                last_rank_counts: of.members.iter().zip(&sums.last).map(|(m, n)| (label(job, m.rank), *n)).collect(),
            })
        };
        let cell = |((who, whom), ns): &((u32, u32), i64)| WaitLine {
            rank: label(job, *who as usize),
            waited_for: label(job, *whom as usize),
            ns: *ns,
        };
        Self {
            matched: job.waits.matched,
            unmatched: job.waits.unmatched,
            reservation: reservation(job),
            wait_ns: by_label(job, |rank| waits(rank).map(|w| w.split.wait_ns)),
            transfer_ns: by_label(job, |rank| waits(rank).map(|w| w.split.transfer_ns)),
            last_rank_counts: by_label(job, |rank| waits(rank).map(|w| w.last)),
            groups: job.groups.iter().enumerate().filter_map(group).collect(),
            waited_for: job.waits.matrix.cells.iter().map(cell).collect(),
            refused: job.refused.iter().map(|refusal| refusal_text(job, refusal)).collect(),
        }
    }
}

impl StragglerLine {
    /// The straggler of `job`, when there is one.
    pub fn of(job: &Job) -> Option<Self> {
        let found = job.stragglers.straggler.as_ref()?;
        let first = found.cause();
        Some(Self {
            label: label(job, found.rank),
            share_of_collectives: found.share_of_collectives,
            cost_ns_per_step: found.cost_ns_per_step,
            exposed_at_most_ns_per_step: found.exposed_at_most_ns,
            cost_share: found.cost_share,
            cause: first.map(|extra| extra_key(extra.kind)),
            cause_text: first.map(|extra| extra_text(extra.kind)),
            identical_kernels_ratio: found.slow_kernels.map(|slow| slow.ratio),
            extras: found
                .extras
                .iter()
                .map(|extra| ExtraLine {
                    cause: extra_key(extra.kind),
                    text: extra_text(extra.kind),
                    own_ns: extra.own_ns,
                    others_ns: extra.others_ns,
                })
                .collect(),
        })
    }
}

/// A rank's waits as a share of its waits and transfers, for tables.
pub(super) fn wait_share(job: &Job, rank: usize) -> Option<f64> {
    let waits = job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0)?;
    share(waits.split.wait_ns, waits.split.wait_ns.saturating_add(waits.split.transfer_ns))
}
