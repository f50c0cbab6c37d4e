//! Rules on steps that differ from the typical one: pauses, late batches, whatever makes a step slow.

use super::{Case, Finding, Rule, Value};
use crate::analysis::places::Worst;
use crate::analysis::verdict::Losses;
use crate::analysis::{Area, Cause, Place, Step, StepEdge, Steps};
use std::collections::BTreeMap;

/// What holds of a case.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    let Some(steps) = measured(case) else { return };
    let pauses = Pauses::of(case, steps).filter(Pauses::are_sporadic);
    let paused: Vec<usize> = pauses.as_ref().map_or_else(Vec::new, |p| p.steps.clone());
    out.extend(pauses.map(|pauses| pauses.finding(case)));
    slow_steps(case, steps, &paused, out);
}

/// The marked steps of the rank.
fn measured<'a>(case: &Case<'a>) -> Option<&'a Steps> {
    case.numbers.steps.as_ref().filter(|steps| !steps.estimated)
}

/// True for a step that belongs to the steady state.
const fn is_steady(step: &Step) -> bool {
    !matches!(step.edge, Some(StepEdge::WarmUp | StepEdge::Cut))
}

/// Long stalls of host code.
struct Pauses {
    /// Steps that have any.
    steps: Vec<usize>,
    /// Steps looked at.
    of: usize,
    count: u64,
    total_ns: i64,
    longest_ns: i64,
    worst: Worst,
}

impl Pauses {
    /// The pauses of the steady steps; `None` when there is none. Behind a synchronising call a pause is idle time
    /// because of that call, so both causes count.
    fn of(case: &Case<'_>, steps: &Steps) -> Option<Self> {
        let mut pauses =
            Self { steps: Vec::new(), of: 0, count: 0, total_ns: 0, longest_ns: 0, worst: Worst::default() };
        for (at, step) in steps.steps.iter().enumerate().filter(|(_, step)| is_steady(step)) {
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
        let per_step = self.total_ns / i64::try_from(self.of).unwrap_or(1).max(1);
        let period = self.period();
        case.finding(Rule::HostPause, per_step)
            .with("steps that pause", Value::Count(self.steps.len() as f64))
            .with("of so many steps", Value::Count(self.of as f64))
            .with("longest pause", Value::Ns(self.longest_ns))
            .with("all of them", Value::Ns(self.total_ns))
            .with_known("one every so many steps", period.map(|steps| Value::Count(steps as f64)))
            .at(self.worst.into_places())
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

fn slow_steps(case: &Case<'_>, steps: &Steps, paused: &[usize], out: &mut Vec<Finding>) {
    let typical = &case.losses;
    let median_ns = steps.typical.median_span_ns;
    let is_slow = |step: &Step| is_steady(step) && !step.typical && step.window.len_ns() > median_ns;
    let mut by_area: BTreeMap<Area, Slow> = BTreeMap::new();
    let slow = steps.steps.iter().enumerate().filter(|(at, step)| is_slow(step) && !paused.contains(at));
    for (at, step) in slow {
        let losses = Losses::of(&step.parts, &step.causes, None);
        let excess = |area: Area| {
            // Without the bubble of each step, what it is made of is compared as communication and waiting.
            let usual = typical.of_area(area) + if area == Area::Communication { typical.of_area(Area::Bubble) } else { 0 };
            losses.of_area(area).saturating_sub(usual)
        };
        let areas = Area::OF_TIME.into_iter().filter(|area| *area != Area::Bubble);
        let Some(area) = areas.max_by_key(|area| (excess(*area), std::cmp::Reverse(*area))) else { continue };
        let slow = by_area.entry(area).or_default();
        slow.count += 1;
        slow.excess_ns = slow.excess_ns.saturating_add(excess(area).max(0));
        slow.worst.add(Some(at), step.window, step.window.len_ns());
    }
    let steady = steps.steps.iter().filter(|step| is_steady(step)).count();
    for (area, slow) in by_area {
        let per_step = slow.excess_ns / i64::try_from(steady).unwrap_or(1).max(1);
        let rule = if area == Area::Data { Rule::LateBatches } else { Rule::SlowSteps };
        let mut places = slow.worst.into_places();
        if area == Area::Data {
            places = late_batches(case, steps, &places);
        }
        out.push(
            case.finding(rule, per_step)
                .with("slow steps", Value::Count(slow.count as f64))
                .with("of so many steps", Value::Count(steady as f64))
                .with("they differ most in", Value::Name(area.text().to_owned()))
                .with("beyond the typical step, in all", Value::Ns(slow.excess_ns))
                .at(places),
        );
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
    worst.into_places()
}
