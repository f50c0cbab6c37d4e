//! Rules on the host: launches, synchronisation, data, memory, modules.

use super::{Case, Finding, Rule, Value};
use crate::analysis::places::Group;
use crate::analysis::verdict::LAUNCH_CAUSES;
use crate::analysis::{Area, Cause, Place, Step, base_name};
use crate::units::share;

/// What holds of a case.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    out.extend(launch_bound(case));
    out.extend(small_kernels(case));
    out.extend(synchronization(case));
    out.extend(data(case));
    out.extend(allocator(case));
    out.extend(module_loads(case));
    out.extend(os_wait(case));
    out.extend(queue_full(case));
    out.extend(device_wait(case));
}

/// Idle nanoseconds a step of a cause, less what belongs to the bubble.
fn idle_ns(case: &Case<'_>, cause: Cause) -> i64 {
    let of_bubble = case.bubble.as_ref().map_or(0, |bubble| bubble.idle.of(cause));
    case.scope.causes.of(cause).saturating_sub(of_bubble)
}

/// The gaps that lose most to one cause.
fn places_of(case: &Case<'_>, cause: Cause) -> Vec<Place> {
    case.gaps.places(Group::Cause(cause))
}

fn launch_bound(case: &Case<'_>) -> Option<Finding> {
    let launching = LAUNCH_CAUSES.map(|cause| idle_ns(case, cause)).iter().sum::<i64>();
    let late_ns = launching - idle_ns(case, Cause::Turnaround);
    let lost_ns = launching.saturating_sub(super::steps::paused_ns(case));
    if late_ns <= 0 || case.scope.share(late_ns.min(lost_ns)) < case.limits.launch_share {
        return None;
    }
    let mut finding = case.finding(Rule::LaunchBound, lost_ns);
    for cause in LAUNCH_CAUSES {
        let what = match cause {
            Cause::Launch => "inside launching calls",
            Cause::LaunchLatency => "submitted, not yet running",
            Cause::HostCode => "host code between calls",
            _ => "from one queued kernel to the next",
        };
        finding = finding.with_some(what, Value::Ns(idle_ns(case, cause)));
    }
    let kernels = case.scope.mean_count(case.work.compute.kernels.count);
    Some(finding.with("kernels per step", Value::Count(kernels)).at(case.gaps.places(Group::Launching)))
}

fn small_kernels(case: &Case<'_>) -> Option<Finding> {
    let work = &case.work.compute;
    let per_step = case.scope.mean_count(work.small.count);
    let (run_ns, gap_ns) = (case.scope.mean_ns(work.small.total_ns), case.scope.mean_ns(work.small_gap_ns));
    let parts = &case.scope.parts;
    let busy_ns = parts.span_ns.saturating_sub(parts.idle_ns);
    let cost = share(run_ns.saturating_add(gap_ns), busy_ns).unwrap_or(0.0);
    if per_step < case.limits.small_kernels || cost < case.limits.small_kernel_share {
        return None;
    }
    let mean_ns = work.small.total_ns / i64::try_from(work.small.count).unwrap_or(1).max(1);
    Some(
        case.finding(Rule::SmallKernels, gap_ns)
            .with("small kernels per step", Value::Count(per_step))
            .with("of all kernels", Value::Share(work.small.count as f64 / work.kernels.count.max(1) as f64))
            .with("their mean length", Value::Ns(mean_ns))
            .with("running", Value::Ns(run_ns))
            .with("idle right before them", Value::Ns(gap_ns))
            .at(case.gaps.places(Group::Launching)),
    )
}

fn synchronization(case: &Case<'_>) -> Option<Finding> {
    let lost_ns = idle_ns(case, Cause::Sync);
    if lost_ns <= 0 || case.scope.share(lost_ns) < case.limits.sync_share {
        return None;
    }
    let syncs = &case.calls.syncs;
    let top = syncs.top().map(|name| Value::Name(base_name(case.trace.name(name)).to_owned()));
    let per_step = |count| Value::Count(case.scope.mean_count(count));
    Some(
        case.finding(Rule::Synchronization, lost_ns)
            .with("idle after the queue was drained", Value::Ns(lost_ns))
            .with_some("synchronising calls per step", per_step(syncs.sum.count))
            .with_known("most of their time in", top)
            .with_some("copies that block per step", per_step(case.work.blocking.sum.count))
            .with_some("scalars read back (.item()) per step", per_step(case.work.scalars))
            .at(places_of(case, Cause::Sync)),
    )
}

fn data(case: &Case<'_>) -> Option<Finding> {
    let lost_ns = idle_ns(case, Cause::Data);
    if lost_ns <= 0 || case.scope.share(lost_ns) < case.limits.data_share {
        return None;
    }
    Some(
        case.finding(Rule::DataStall, lost_ns)
            .with("idle while loading or between steps", Value::Ns(lost_ns))
            .at(places_of(case, Cause::Data)),
    )
}

fn allocator(case: &Case<'_>) -> Option<Finding> {
    let lost_ns = idle_ns(case, Cause::Allocator);
    let calls = &case.calls.allocations;
    let per_step = case.scope.mean_count(calls.sum.count);
    if case.scope.basis.is_whole_span() && case.scope.share(lost_ns) < case.limits.allocator_share {
        // A whole span holds the allocations of the start, which every job makes.
        return None;
    }
    if per_step < 1.0 && case.scope.share(lost_ns) < case.limits.allocator_share {
        return None;
    }
    let top = calls.top().map(|name| Value::Name(base_name(case.trace.name(name)).to_owned()));
    Some(
        case.finding(Rule::AllocatorChurn, lost_ns)
            .with_some("allocating and freeing calls per step", Value::Count(per_step))
            .with_known("most of their time in", top)
            .with_some("idle in them", Value::Ns(lost_ns))
            .at(places_of(case, Cause::Allocator)),
    )
}

fn module_loads(case: &Case<'_>) -> Option<Finding> {
    let lost_ns = idle_ns(case, Cause::ModuleLoad);
    let calls = &case.calls.module_loads;
    // Loading belongs to the first steps; elsewhere only its size can make it worth a word.
    let loads = |step: &Step| step.typical && step.causes.of(Cause::ModuleLoad) > 0;
    let steps = case.numbers.steps.as_ref().filter(|_| !case.scope.basis.is_whole_span());
    let loading = steps.map_or(0, |steps| steps.steps.iter().skip(1).filter(|step| loads(step)).count());
    let is_steady = loading > 0 && loading * 2 >= case.scope.windows.len();
    if lost_ns <= 0 || (!is_steady && case.scope.share(lost_ns) < case.limits.launch_share) {
        return None;
    }
    Some(
        case.finding(Rule::ModuleLoads, lost_ns)
            .with_some("modules loaded per step", Value::Count(case.scope.mean_count(calls.sum.count)))
            .with("idle in those calls", Value::Ns(lost_ns))
            .at(places_of(case, Cause::ModuleLoad)),
    )
}

fn os_wait(case: &Case<'_>) -> Option<Finding> {
    let lost_ns = idle_ns(case, Cause::OsWait);
    if lost_ns <= 0 || case.scope.share(lost_ns) < case.limits.os_wait_share {
        return None;
    }
    let finding = case.finding(Rule::OsWait, lost_ns).with("idle in system calls", Value::Ns(lost_ns));
    Some(finding.at(places_of(case, Cause::OsWait)))
}

fn queue_full(case: &Case<'_>) -> Option<Finding> {
    let (long, busy_ns) = (&case.calls.long_launches, case.calls.long_launch_busy_ns);
    let busy = share(busy_ns, long.total_ns)?;
    // A handful of long calls has other reasons, and a GPU that is idle meanwhile has no full queue.
    if long.count < 10 || busy < 0.9 {
        return None;
    }
    let mean_ns = long.total_ns / i64::try_from(long.count).unwrap_or(1).max(1);
    Some(
        case.finding(Rule::QueueFull, 0)
            .with("long launch calls per step", Value::Count(case.scope.mean_count(long.count)))
            .with("their mean length", Value::Ns(mean_ns))
            .with("GPU busy meanwhile", Value::Share(busy)),
    )
}

fn device_wait(case: &Case<'_>) -> Option<Finding> {
    let lost_ns = case.loss_ns(Area::Unattributed);
    if lost_ns <= 0 || case.scope.share(lost_ns) < case.limits.unattributed_share {
        return None;
    }
    Some(
        case.finding(Rule::DeviceWait, lost_ns)
            .with_some("queued, but waiting", Value::Ns(idle_ns(case, Cause::DeviceWait)))
            .with_some("launch not in the capture", Value::Ns(idle_ns(case, Cause::Unknown)))
            .at(case.places_of(Area::Unattributed)),
    )
}
