//! The verdict: which loss of a step is the largest, what it costs, and what to do next.
//!
//! A step (see [`super::scope`]) splits into compute and six losses that sum to it exactly. The largest loss of at
//! least [`Thresholds::verdict_share`] is the verdict; without one the job is compute bound.

use super::intervals;
use super::pipeline::Bubble;
use super::places::{self, GapPlaces, Group};
use super::scope::{Basis, Scope};
use super::{Area, Cause, Causes, Finding, Partition, Place, RankAnalysis, Rule, Severity, Thresholds, mfu_without};
use crate::units::share;

/// Causes of idle time that the host is to blame for.
pub const HOST_CAUSES: [Cause; 8] = [
    Cause::Sync,
    Cause::Launch,
    Cause::HostCode,
    Cause::Allocator,
    Cause::ModuleLoad,
    Cause::OsWait,
    Cause::LaunchLatency,
    Cause::Turnaround,
];

/// Those of them that issuing work costs.
pub const LAUNCH_CAUSES: [Cause; 4] = [Cause::Launch, Cause::LaunchLatency, Cause::HostCode, Cause::Turnaround];

/// Causes of idle time that the capture does not explain further.
pub const UNATTRIBUTED_CAUSES: [Cause; 2] = [Cause::DeviceWait, Cause::Unknown];

/// A step split into compute and losses, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// Length of the step; the sum of all of them.
    pub span_ns: i64,
    ns: [i64; Area::OF_TIME.len()],
}

impl Losses {
    /// The split of a window with these parts and causes, of which `bubble` belongs to the pipeline.
    pub(super) fn of(parts: &Partition, causes: &Causes, bubble: Option<&Bubble>) -> Self {
        let none = Causes::default();
        let (bubble_exposed_ns, bubble_idle) = bubble.map_or((0, &none), |b| (b.exposed_ns, &b.idle));
        let left = |cause: &Cause| causes.of(*cause).saturating_sub(bubble_idle.of(*cause));
        let sum = |of: &[Cause]| of.iter().map(left).fold(0_i64, i64::saturating_add);
        let ns = Area::OF_TIME.map(|area| match area {
            Area::Communication => parts.exposed_comm_ns.saturating_sub(bubble_exposed_ns),
            Area::Bubble => bubble_exposed_ns.saturating_add(bubble_idle.total_ns()),
            Area::Data => left(&Cause::Data),
            Area::Host => sum(&HOST_CAUSES),
            Area::Copy => parts.copy_only_ns,
            // What a capture without causes leaves of the idle time is unattributed too.
            Area::Unattributed => {
                sum(&UNATTRIBUTED_CAUSES).saturating_add(parts.idle_ns.saturating_sub(causes.total_ns()))
            }
            Area::Compute | Area::Capture | Area::Mfu => parts.compute_ns(),
        });
        Self { span_ns: parts.span_ns, ns }
    }

    /// Nanoseconds of `area`; 0 for what takes no time.
    pub fn of_area(&self, area: Area) -> i64 {
        Area::OF_TIME.iter().position(|a| *a == area).and_then(|at| self.ns.get(at)).copied().unwrap_or(0)
    }

    /// Share of the step.
    pub fn share(&self, area: Area) -> Option<f64> {
        share(self.of_area(area), self.span_ns)
    }

    /// The losses, largest first; of equals in the order of [`Area::LOSSES`].
    fn ranked(&self) -> Vec<(Area, f64)> {
        let mut losses = Area::LOSSES.map(|area| (area, self.share(area).unwrap_or(0.0))).to_vec();
        losses.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        losses
    }
}

/// What a rank's step is bound by.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The largest loss, or [`Area::Compute`] when none is large.
    pub area: Area,
    /// Its share of the step; of compute when the job is compute bound.
    pub share: f64,
    /// A second loss almost as large.
    pub also: Option<Area>,
    /// By how much of the step it is ahead of the second; when compute bound, how far the largest loss stays below
    /// the threshold of a verdict.
    pub margin: f64,
    /// Nanoseconds a step at stake: of the loss; of all losses together when compute bound.
    pub ns_per_step: i64,
    /// The split of the step.
    pub losses: Losses,
    /// What the numbers are about.
    pub basis: Basis,
    /// Steps counted; 1 for the whole span.
    pub steps: u64,
    /// Where the loss is worst.
    pub places: Vec<Place>,
    /// Whose advice to follow next.
    pub next: Rule,
    /// The measured bubble, with pipeline parallelism.
    pub bubble: Option<Bubble>,
}

impl Verdict {
    /// The verdict on a scope, whose findings are known and ranked.
    pub(super) fn of(
        numbers: &RankAnalysis,
        scope: &Scope,
        losses: Losses,
        bubble: Option<Bubble>,
        findings: &[Finding],
        (limits, gaps): (&Thresholds, &GapPlaces),
    ) -> Self {
        let ranked = losses.ranked();
        let at = |place: usize| ranked.get(place).copied().unwrap_or((Area::Unattributed, 0.0));
        let ((first, first_share), (second, second_share)) = (at(0), at(1));
        let is_loss = first_share >= limits.verdict_share;
        let is_close = is_loss && second_share > 0.0 && first_share - second_share <= limits.also_share;
        let area = if is_loss { first } else { Area::Compute };
        let places = places_of(area, numbers, scope, bubble.as_ref(), gaps);
        let all_losses = losses.span_ns.saturating_sub(losses.of_area(Area::Compute));
        let own = || findings.iter().filter(|f| f.rule.area() == area && f.rule.is_advice());
        let explains = |f: &&Finding| !f.rule.is_general() && f.ns_per_step >= losses.of_area(area) / 2;
        // A compute-bound step may still lose to something that is no verdict: what costs most comes first.
        let costly = || findings.iter().find(|f| f.severity == Severity::Warning && f.rule.is_advice());
        let next = match area {
            Area::Compute => costly().or_else(|| own().next()),
            _ => own().find(explains).or_else(|| own().next()),
        };
        Self {
            area,
            share: losses.share(area).unwrap_or(0.0),
            also: is_close.then_some(second),
            margin: if is_loss { first_share - second_share } else { limits.verdict_share - first_share },
            ns_per_step: if is_loss { losses.of_area(area) } else { all_losses },
            losses,
            basis: scope.basis,
            steps: scope.windows.len() as u64,
            places,
            next: next.map_or_else(|| Rule::default_of(area), |f| f.rule),
            bubble,
        }
    }
}

impl Verdict {
    /// What an MFU of `mfu` would be at most if the loss vanished; `None` when it is not known or there is no loss.
    pub fn mfu_if_gone(&self, mfu: Option<f64>) -> Option<f64> {
        if self.area == Area::Compute { None } else { mfu_without(mfu, self.share) }
    }
}

/// Where a loss is worst.
pub(super) fn places_of(
    area: Area,
    numbers: &RankAnalysis,
    scope: &Scope,
    bubble: Option<&Bubble>,
    gaps: &GapPlaces,
) -> Vec<Place> {
    match area {
        Area::Communication => match bubble {
            None => places::longest(scope, numbers.exposed.spans()),
            Some(bubble) => {
                let (all, own) = (numbers.exposed.spans().iter(), bubble.exposed.spans().iter());
                let rest = intervals::subtract(all.copied(), own.copied());
                places::longest(scope, &rest.collect::<Vec<_>>())
            }
        },
        Area::Bubble => bubble.map_or_else(Vec::new, |bubble| places::longest(scope, bubble.exposed.spans())),
        Area::Copy => places::copies(scope, numbers),
        Area::Data => gaps.places(Group::Cause(Cause::Data)),
        Area::Host => gaps.places(Group::Host),
        Area::Unattributed => gaps.places(Group::Unattributed),
        Area::Compute | Area::Capture | Area::Mfu => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Classes, Params, Rules};
    use super::*;
    use crate::trace::testing::Fixture;

    fn losses(exposed: i64, data: i64, turnaround: i64) -> Losses {
        let idle_ns = data + turnaround;
        let parts = Partition {
            span_ns: 1000,
            comm_ns: exposed,
            exposed_comm_ns: exposed,
            idle_ns,
            compute_only_ns: 1000 - exposed - idle_ns,
            ..Partition::default()
        };
        let mut causes = Causes::default();
        causes.add(Cause::Data, data);
        causes.add(Cause::Turnaround, turnaround);
        Losses::of(&parts, &causes, None)
    }

    fn verdict(losses: Losses) -> Verdict {
        let trace = Fixture::new().kernel("gemm", 7, 0, 1000).build();
        let numbers = RankAnalysis::of(&trace, 0, &Classes::of(&trace, &Rules::default()), &Params::default());
        let scope = Scope {
            basis: Basis::NoSteps,
            windows: Vec::new(),
            parts: Partition { span_ns: 1000, ..Partition::default() },
            causes: Causes::default(),
        };
        Verdict::of(&numbers, &scope, losses, None, &[], (&Thresholds::default(), &GapPlaces::default()))
    }

    #[test]
    fn losses_sum_to_the_step() {
        let split = losses(120, 300, 5);
        assert_eq!(Area::OF_TIME.iter().map(|area| split.of_area(*area)).sum::<i64>(), 1000);
        assert_eq!((split.of_area(Area::Communication), split.of_area(Area::Host)), (120, 5));
    }

    #[test]
    fn the_largest_loss_is_the_verdict_and_a_close_second_is_named() {
        let clear = verdict(losses(120, 300, 5));
        assert_eq!((clear.area, clear.also, clear.ns_per_step), (Area::Data, None, 300));
        assert!((clear.share - 0.3).abs() < 1e-12 && (clear.margin - 0.18).abs() < 1e-12);
        assert!((clear.mfu_if_gone(Some(0.35)).unwrap() - 0.5).abs() < 1e-12);
        let close = verdict(losses(120, 110, 5));
        assert_eq!((close.area, close.also, close.mfu_if_gone(None)), (Area::Communication, Some(Area::Data), None));
    }

    #[test]
    fn without_a_large_loss_the_job_is_compute_bound() {
        let healthy = verdict(losses(90, 20, 60));
        assert_eq!((healthy.area, healthy.also, healthy.ns_per_step), (Area::Compute, None, 170));
        assert!((healthy.share - 0.83).abs() < 1e-12 && (healthy.margin - 0.01).abs() < 1e-12);
        assert_eq!(healthy.mfu_if_gone(Some(0.5)), None);
    }

    #[test]
    fn a_loss_of_exactly_the_threshold_is_a_verdict() {
        assert_eq!(verdict(losses(100, 0, 0)).area, Area::Communication);
        assert_eq!(verdict(losses(99, 0, 0)).area, Area::Compute);
    }
}
