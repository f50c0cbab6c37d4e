//! Rules on steps that differ from the typical one: pauses, late batches, whatever makes a step slow.

use super::{Case, Finding, Rule, Value};
use crate::analysis::places::Worst;
use crate::analysis::verdict::Losses;
use crate::analysis::{Area, Cause, Place, Step, StepEdge, Steps};
use std::collections::BTreeMap;

/// What holds of a case.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    let Some(steps) = measured(case) else { return };
    let mut pauses = Pauses::of(case, steps).filter(Pauses::are_sporadic);
    let slow = slow_steps(case, steps, &mut pauses);
    out.extend(pauses.map(|pauses| pauses.finding(case)));
    let steady = steady(steps).count();
    out.extend(slow.into_iter().map(|(area, slow)| slow.finding(case, steps, area, steady)));
}

/// The marked steps of the rank.
fn measured<'a>(case: &Case<'a>) -> Option<&'a Steps> {
    case.numbers.steps.as_ref().filter(|steps| !steps.estimated)
}

/// The steps of the steady state, with their indices: what only the first step does is warm-up.
fn steady(steps: &Steps) -> impl Iterator<Item = (usize, &Step)> {
    let is_steady = |step: &Step| !matches!(step.edge, Some(StepEdge::WarmUp | StepEdge::Cut));
    steps.steps.iter().enumerate().skip(1).filter(move |(_, step)| is_steady(step))
}

/// Long stalls of host code.
#[derive(Default)]
struct Pauses {
    /// Steps that have any.
    steps: Vec<usize>,
    /// Steps looked at.
    of: usize,
    count: u64,
    total_ns: i64,
    longest_ns: i64,
    worst: Worst,
    /// Other steps that wait about as long in a collective: then another rank pauses.
    waits: u64,
    waits_ns: i64,
}

impl Pauses {
    /// The pauses of the steady steps; `None` when there is none. Behind a synchronising call a pause is idle time
    /// because of that call, so both causes count.
    fn of(case: &Case<'_>, steps: &Steps) -> Option<Self> {
        let mut pauses = Self::default();
        for (at, step) in steady(steps) {
            pauses.of += 1;
            let host = step.causes.of(Cause::HostCode).saturating_add(step.causes.of(Cause::Sync));
            if host < case.limits.pause_ns {
                continue;
            }
            let before = pauses.count;
            for (span, cause) in case.numbers.idle.segments(step.window) {
                let Some(span) = span.intersect(step.window) else { continue };
                if matches!(cause, Cause::HostCode | Cause::Sync) && span.len_ns() >= case.limits.pause_ns {
                    pauses.count += 1;
                    pauses.total_ns = pauses.total_ns.saturating_add(span.len_ns());
                    pauses.longest_ns = pauses.longest_ns.max(span.len_ns());
                    pauses.worst.add(Some(at), span, span.len_ns());
                }
            }
            if pauses.count > before {
                pauses.steps.push(at);
            }
        }
        (pauses.count > 0).then_some(pauses)
    }

    /// True when fewer than half of the steps pause: what happens in every step is no pause but its work.
    fn are_sporadic(&self) -> bool {
        self.steps.len() * 2 < self.of
    }

    /// Distance of the steps with pauses, when it is the same between all of them.
    fn period(&self) -> Option<usize> {
        let mut distances = self.steps.windows(2).map(|pair| pair[1] - pair[0]);
        let first = distances.next()?;
        (self.steps.len() > 2 && distances.all(|distance| distance == first)).then_some(first)
    }

    fn finding(self, case: &Case<'_>) -> Finding {
        let lost_ns = self.total_ns.saturating_add(self.waits_ns);
        let per_step = lost_ns / i64::try_from(self.of).unwrap_or(1).max(1);
        let period = self.period();
        let waits = (self.waits > 0).then_some(Value::Count(self.waits as f64));
        case.finding_beyond(Rule::HostPause, per_step)
            .with("steps that pause", Value::Count(self.steps.len() as f64))
            .with("steps looked at", Value::Count(self.of as f64))
            .with("longest pause", Value::Ns(self.longest_ns))
            .with("all of them", Value::Ns(self.total_ns))
            .with_known("one every so many steps", period.map(|steps| Value::Count(steps as f64)))
            .with_known("other steps that wait as long in a collective", waits)
            .at(self.worst.places())
    }

    /// True when a step that loses `ns` in collectives may wait for the same pause on another rank.
    const fn explains(&self, ns: i64) -> bool {
        ns > self.longest_ns / 2 && ns < self.longest_ns.saturating_mul(2)
    }
}

/// What the typical steps of a case lose to sporadic pauses, nanoseconds a step.
pub(super) fn paused_ns(case: &Case<'_>) -> i64 {
    let Some(pauses) = measured(case).and_then(|steps| Pauses::of(case, steps)).filter(Pauses::are_sporadic) else {
        return 0;
    };
    let steps = measured(case).map_or(&[][..], |steps| &steps.steps);
    let typical = pauses.steps.iter().filter(|at| steps.get(**at).is_some_and(|step| step.typical)).count();
    let share = typical as f64 / pauses.steps.len().max(1) as f64;
    case.scope.mean_ns((pauses.total_ns as f64 * share) as i64)
}

/// Slow steps by what they lose most to, beyond the typical step.
#[derive(Default)]
struct Slow {
    count: u64,
    excess_ns: i64,
    worst: Worst,
}

/// The slow steps that no pause explains.
fn slow_steps(case: &Case<'_>, steps: &Steps, pauses: &mut Option<Pauses>) -> BTreeMap<Area, Slow> {
    let median_ns = steps.typical.median_span_ns;
    let mut by_area: BTreeMap<Area, Slow> = BTreeMap::new();
    for (at, step) in steady(steps).filter(|(_, step)| !step.typical && step.window.len_ns() > median_ns) {
        let (area, excess_ns) = excess(case, step);
        if let Some(pauses) = pauses {
            if pauses.steps.contains(&at) {
                continue;
            }
            if area == Area::Communication && pauses.explains(excess_ns) {
                pauses.waits += 1;
                pauses.waits_ns = pauses.waits_ns.saturating_add(excess_ns);
                continue;
            }
        }
        let slow = by_area.entry(area).or_default();
        slow.count += 1;
        slow.excess_ns = slow.excess_ns.saturating_add(excess_ns);
        slow.worst.add(Some(at), step.window, step.window.len_ns());
    }
    by_area
}

/// What a step has most of beyond the typical one, and how much. The bubble is compared as what it is made of.
fn excess(case: &Case<'_>, step: &Step) -> (Area, i64) {
    let usual = Losses::of(&case.scope.parts, &case.scope.causes, None);
    let own = Losses::of(&step.parts, &step.causes, None);
    let excess = |area: Area| own.of_area(area).saturating_sub(usual.of_area(area)).max(0);
    let areas = Area::OF_TIME.map(|area| (area, excess(area))).into_iter();
    areas.max_by_key(|(area, ns)| (*ns, std::cmp::Reverse(*area))).unwrap_or((Area::Compute, 0))
}

impl Slow {
    fn finding(self, case: &Case<'_>, steps: &Steps, area: Area, of: usize) -> Finding {
        let per_step = self.excess_ns / i64::try_from(of).unwrap_or(1).max(1);
        let places = self.worst.places();
        let (rule, places) = match area {
            Area::Data => (Rule::LateBatches, late_batches(case, steps, &places)),
            Area::Communication => (Rule::LateRank, places),
            _ => (Rule::SlowSteps, places),
        };
        case.finding_beyond(rule, per_step)
            .with("slow steps", Value::Count(self.count as f64))
            .with("steps looked at", Value::Count(of as f64))
            .with("they differ most in", Value::Name(area.text().to_owned()))
            .with("beyond the typical step, in all", Value::Ns(self.excess_ns))
            .at(places)
    }
}

/// The longest wait for data in each of some steps.
fn late_batches(case: &Case<'_>, steps: &Steps, slow: &[Place]) -> Vec<Place> {
    let mut worst = Worst::default();
    for step in slow.iter().filter_map(|place| place.step) {
        let Some(window) = steps.steps.get(step).map(|s| s.window) else { continue };
        let waits = case.numbers.idle.segments(window).filter(|(_, cause)| *cause == Cause::Data);
        if let Some((span, _)) = waits.max_by_key(|(span, _)| (span.len_ns(), std::cmp::Reverse(span.start_ns))) {
            worst.add(Some(step), span, span.len_ns());
        }
    }
    worst.places()
}
