//! Rules on copies.

use super::work::CopySum;
use super::{Case, Finding, Rule, Value};
use crate::analysis::Area;
use crate::trace::CopyKind;

/// What holds of a case.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    out.extend(exposed(case));
    out.extend(blocking(case));
}

fn exposed(case: &Case<'_>) -> Option<Finding> {
    let lost_ns = case.loss_ns(Area::Copy);
    if lost_ns <= 0 || case.scope.share(lost_ns) < case.limits.copy_share {
        return None;
    }
    let mut finding = case.finding(Rule::ExposedCopies, lost_ns).with("copying alone", Value::Ns(lost_ns));
    for (kind, copies) in &case.work.copies {
        finding = finding.with(bytes_of(*kind), Value::Bytes(per_step(case, copies)));
    }
    Some(finding.at(case.places_of(Area::Copy)))
}

/// Bytes a step.
fn per_step(case: &Case<'_>, copies: &CopySum) -> u64 {
    copies.bytes / u64::try_from(case.scope.steps()).unwrap_or(1).max(1)
}

fn blocking(case: &Case<'_>) -> Option<Finding> {
    let blocking = &case.work.blocking;
    let ns = case.scope.mean_ns(blocking.sum.total_ns);
    let per_step_count = case.scope.mean_count(blocking.sum.count);
    if per_step_count < 1.0 || case.scope.share(ns) < case.limits.sync_share {
        return None;
    }
    Some(
        case.finding(Rule::BlockingCopies, ns)
            .with("copies that block per step", Value::Count(per_step_count))
            .with("of them with pageable memory", Value::Count(case.scope.mean_count(case.work.pageable)))
            .with("their bytes per step", Value::Bytes(per_step(case, blocking)))
            .with("copying", Value::Ns(ns))
            .at(case.work.worst_blocking.places()),
    )
}

/// What the bytes of a direction are called.
const fn bytes_of(kind: CopyKind) -> &'static str {
    match kind {
        CopyKind::HostToDevice | CopyKind::HostToArray => "host to device per step",
        CopyKind::DeviceToHost | CopyKind::ArrayToHost => "device to host per step",
        CopyKind::DeviceToDevice | CopyKind::ArrayToArray | CopyKind::ArrayToDevice | CopyKind::DeviceToArray => {
            "within the device per step"
        }
        CopyKind::PeerToPeer => "between devices per step",
        CopyKind::UnifiedHostToDevice | CopyKind::UnifiedDeviceToHost | CopyKind::UnifiedDeviceToDevice => {
            "managed memory moved per step"
        }
        CopyKind::HostToHost => "host to host per step",
        CopyKind::Unknown => "in an unknown direction per step",
    }
}
