//! What one rank did longer than the others, per step.

use super::{Job, RankSummary, StepSummary};
use crate::analysis::{Area, Cause, Causes, Family, HOST_CAUSES, median_of};
use serde::Serialize;
use std::collections::BTreeMap;

/// A GPU on which identical kernels take this much longer is slow.
const SLOW_GPU: f64 = 1.05;
/// Share of the kernel time that must be slower for the GPU, and not one sort of work, to be to blame.
const SLOW_SHARE: f64 = 0.8;

/// What took longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtraKind {
    /// Compute kernels of one family.
    Compute(Family),
    /// All kernels alike: the GPU is slower.
    SlowGpu,
    /// Waiting for data.
    Data,
    /// Waiting for the host, most of it by this cause.
    Host(Cause),
    /// Copies.
    Copy,
}

impl ExtraKind {
    /// The loss class that it belongs to.
    pub const fn area(self) -> Area {
        match self {
            Self::Compute(_) | Self::SlowGpu => Area::Compute,
            Self::Data => Area::Data,
            Self::Host(_) => Area::Host,
            Self::Copy => Area::Copy,
        }
    }
}

/// One thing that took longer, as the mean of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Extra {
    /// What.
    pub kind: ExtraKind,
    /// On the rank.
    pub own_ns: i64,
    /// On the others: the median over them.
    pub others_ns: i64,
}

impl Extra {
    /// How much longer.
    pub const fn delta_ns(&self) -> i64 {
        self.own_ns.saturating_sub(self.others_ns)
    }
}

/// How long identical kernels (one name and launch shape) take on a rank, beside the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SlowKernels {
    /// Median ratio of durations, weighted by time.
    pub ratio: f64,
    /// Share of the compared time whose ratio is over 1.05.
    pub slower_share: f64,
    /// Kernels (by name and shape) compared.
    pub compared: u32,
}

/// Mean of a step of one rank, by what time went to.
#[derive(Debug, Clone, Default)]
struct Step {
    families_ns: BTreeMap<Family, i64>,
    causes: Causes,
    copy_ns: i64,
}

impl Step {
    /// Over the steps with these numbers; over the whole span without any.
    fn of(rank: &RankSummary, numbers: &[i64]) -> Self {
        if numbers.is_empty() {
            return Self::whole(rank);
        }
        let in_common = |step: &&StepSummary| step.number.is_some_and(|n| numbers.binary_search(&n).is_ok());
        let steps: Vec<&StepSummary> = rank.steps.iter().filter(in_common).collect();
        let count = i64::try_from(steps.len()).unwrap_or(1).max(1);
        let mut mean = Self::default();
        for step in steps {
            mean.causes += step.causes;
            mean.copy_ns = mean.copy_ns.saturating_add(step.parts.copy_only_ns);
            for (family, ns) in &step.family_ns {
                let sum = mean.families_ns.entry(*family).or_default();
                *sum = sum.saturating_add(*ns);
            }
        }
        mean.families_ns.values_mut().for_each(|ns| *ns /= count);
        mean.copy_ns /= count;
        let mut causes = Causes::default();
        mean.causes.iter().for_each(|(cause, ns)| causes.add(cause, ns / count));
        mean.causes = causes;
        mean
    }

    fn whole(rank: &RankSummary) -> Self {
        let mut families_ns: BTreeMap<Family, i64> = BTreeMap::new();
        for (family, kernel) in rank.kernels.iter().filter_map(|kernel| Some((kernel.family?, kernel))) {
            let sum = families_ns.entry(family).or_default();
            *sum = sum.saturating_add(kernel.total_ns);
        }
        Self { families_ns, causes: rank.causes, copy_ns: rank.parts.copy_only_ns }
    }

    fn host_ns(&self) -> i64 {
        HOST_CAUSES.iter().fold(0, |sum, cause| sum.saturating_add(self.causes.of(*cause)))
    }
}

/// Numbers of the steps that count as typical on most of the ranks and that all of them have; sorted.
pub(super) fn common_steps(job: &Job, ranks: &[usize]) -> Vec<i64> {
    let mut votes: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
    for rank in ranks.iter().filter_map(|rank| job.summary(*rank)).filter(|rank| rank.has_marked_steps()) {
        for step in &rank.steps {
            if let Some(number) = step.number {
                let (seen, typical) = votes.entry(number).or_default();
                *seen += 1;
                *typical += usize::from(step.typical);
            }
        }
    }
    let keep = |(_, (seen, typical)): &(i64, (usize, usize))| *seen == ranks.len() && *typical * 2 > ranks.len();
    votes.into_iter().filter(keep).map(|(number, _)| number).collect()
}

/// What `rank` did longer than the median of `others`, per step; the largest difference first.
pub(super) fn extras(
    job: &Job,
    rank: usize,
    others: &[usize],
    steps: &[i64],
    slow: Option<&SlowKernels>,
) -> Vec<Extra> {
    let Some(own) = job.summary(rank).map(|summary| Step::of(summary, steps)) else { return Vec::new() };
    let others: Vec<Step> = others.iter().filter_map(|r| job.summary(*r)).map(|s| Step::of(s, steps)).collect();
    let median = |of: &dyn Fn(&Step) -> i64| median_of(others.iter().map(of).collect()).unwrap_or(0);
    let extra = |kind, of: &dyn Fn(&Step) -> i64| Extra { kind, own_ns: of(&own), others_ns: median(of) };
    let mut list = Vec::new();
    // Kernels that all run slower are one finding, not one for each family.
    if slow.is_some_and(SlowKernels::is_gpu) {
        list.push(extra(ExtraKind::SlowGpu, &|step| {
            step.families_ns.values().fold(0, |sum: i64, ns| sum.saturating_add(*ns))
        }));
    } else {
        for family in Family::ALL {
            list.push(extra(ExtraKind::Compute(family), &|step| step.families_ns.get(&family).copied().unwrap_or(0)));
        }
    }
    list.push(extra(ExtraKind::Data, &|step| step.causes.of(Cause::Data)));
    list.push(extra(ExtraKind::Copy, &|step| step.copy_ns));
    let grown = |cause: &Cause| own.causes.of(*cause).saturating_sub(median(&|step| step.causes.of(*cause)));
    let most = HOST_CAUSES.into_iter().max_by_key(grown).unwrap_or(Cause::HostCode);
    list.push(extra(ExtraKind::Host(most), &Step::host_ns));
    list.retain(|extra| extra.delta_ns() > 0);
    list.sort_by_key(|extra| (std::cmp::Reverse(extra.delta_ns()), extra.kind));
    list
}

impl SlowKernels {
    /// Identical kernels of `rank` beside those of `others`; `None` when they share none.
    pub(super) fn of(job: &Job, rank: usize, others: &[usize]) -> Option<Self> {
        let mut there: BTreeMap<(&str, Option<u16>), Vec<i64>> = BTreeMap::new();
        for other in others.iter().filter_map(|other| job.summary(*other)) {
            for kernel in other.kernels.iter().filter(|kernel| kernel.family.is_some()) {
                there.entry((&kernel.name, kernel.blocks)).or_default().push(kernel.median_ns);
            }
        }
        let mut ratios: Vec<(f64, i64)> = Vec::new();
        for kernel in job.summary(rank)?.kernels.iter().filter(|kernel| kernel.family.is_some()) {
            let Some(of) = there.remove(&(kernel.name.as_str(), kernel.blocks)) else { continue };
            let median_ns = median_of(of).filter(|ns| *ns > 0)?;
            ratios.push((kernel.median_ns as f64 / median_ns as f64, kernel.total_ns));
        }
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sum = |of: &[(f64, i64)]| of.iter().fold(0_i64, |sum, (_, ns)| sum.saturating_add(*ns));
        let all_ns = sum(&ratios);
        let slower = ratios.partition_point(|(ratio, _)| *ratio <= SLOW_GPU);
        let mut reached_ns = 0_i64;
        let (ratio, _) = *ratios.iter().find(|(_, ns)| {
            reached_ns = reached_ns.saturating_add(*ns);
            reached_ns >= all_ns / 2
        })?;
        Some(Self {
            ratio,
            slower_share: crate::units::share(sum(ratios.get(slower..)?), all_ns)?,
            compared: u32::try_from(ratios.len()).unwrap_or(u32::MAX),
        })
    }

    /// True when nearly all kernels are slower, so that the card is to blame.
    pub fn is_gpu(&self) -> bool {
        self.ratio > SLOW_GPU && self.slower_share >= SLOW_SHARE && self.compared > 1
    }
}
