//! Rules on the kernels themselves.

use super::runs::BETWEEN_PRODUCTS;
use super::{Case, Finding, Rule, Value};
use crate::analysis::{Area, Family};
use crate::units::share;

/// What holds of a case.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    out.extend(attention(case));
    out.extend(elementwise(case));
    out.extend(tensor_cores(case));
    out.extend(small_grids(case));
    out.extend(recompute(case));
    out.extend(experts(case));
    out.extend(healthy(case));
}

fn family_ns(case: &Case<'_>, family: Family) -> i64 {
    case.work.compute.families.get(family as usize).map_or(0, |sum| sum.total_ns)
}

fn attention(case: &Case<'_>) -> Option<Finding> {
    let work = &case.work.compute;
    let middle_ns = case.scope.mean_ns(work.runs.attention.total_ns);
    if work.runs.attention_passes == 0 || case.scope.share(middle_ns) < case.limits.attention_share {
        return None;
    }
    let fused = work.attention_forward.count + work.attention_backward.count;
    Some(
        case.finding(Rule::AttentionUnfused, middle_ns)
            .with("attention passes per step", Value::Count(case.scope.mean_count(work.runs.attention_passes)))
            .with("scale, mask, softmax and dropout between the products", Value::Ns(middle_ns))
            .with("those kernels per step", Value::Count(case.scope.mean_count(work.runs.attention.count)))
            .with("fused attention kernels per step", Value::Count(case.scope.mean_count(fused)))
            .at(work.runs.worst_attention.places()),
    )
}

fn elementwise(case: &Case<'_>) -> Option<Finding> {
    let work = &case.work.compute;
    let apart_ns = BETWEEN_PRODUCTS.map(|f| family_ns(case, f)).iter().sum::<i64>() - work.runs.attention.total_ns;
    let compute_ns = work.kernels.total_ns;
    let (apart, fusable) = (share(apart_ns, compute_ns)?, share(work.runs.fusable_ns, compute_ns)?);
    if apart < case.limits.elementwise_share || fusable < case.limits.fusable_share {
        return None;
    }
    Some(
        case.finding(Rule::ElementwiseUnfused, case.scope.mean_ns(work.runs.fusable_ns))
            .with("elementwise, reduction, norm and copy kernels, share of compute", Value::Share(apart))
            .with("runs of several in a row per step", Value::Count(case.scope.mean_count(work.runs.chains)))
            .with("all but the longest of each run, share of compute", Value::Share(fusable))
            .at(work.runs.worst_chains.places()),
    )
}

fn tensor_cores(case: &Case<'_>) -> Option<Finding> {
    let work = &case.work.compute;
    let without = share(work.simt.total_ns, family_ns(case, Family::Gemm))?;
    let capability = case.rank.gpu.and_then(|gpu| case.trace.gpus.get(gpu)).and_then(|g| g.compute_capability.clone());
    let major = capability.as_deref().and_then(|c| c.split('.').next()?.parse::<u32>().ok());
    if without < case.limits.no_tensor_core_share || major.is_some_and(|major| major < 7) {
        return None;
    }
    // The slowest step up, TF32, is several times as fast on every card that has tensor cores; half is a safe floor.
    let ns = case.scope.mean_ns(work.simt.total_ns) / 2;
    Some(
        case.finding(Rule::NoTensorCores, ns)
            .with("of the time of matrix products", Value::Share(without))
            .with("such products per step", Value::Count(case.scope.mean_count(work.simt.count)))
            .with_known("compute capability of the card", capability.map(Value::Name))
            .at(work.worst_simt.places()),
    )
}

fn small_grids(case: &Case<'_>) -> Option<Finding> {
    let work = &case.work.compute;
    let sm_count = case.rank.gpu.and_then(|gpu| case.trace.gpus.get(gpu)).and_then(|gpu| gpu.sm_count);
    let empty_ns = case.scope.mean_ns(work.empty_ns);
    if case.scope.share(empty_ns) < case.limits.small_grid_share {
        return None;
    }
    let small_ns = case.scope.mean_ns(work.small_grid.total_ns);
    Some(
        case.finding(Rule::KernelsTooSmall, empty_ns)
            .with(
                "kernels with fewer blocks than multiprocessors, per step",
                Value::Count(case.scope.mean_count(work.small_grid.count)),
            )
            .with("of all kernels", Value::Share(work.small_grid.count as f64 / work.kernels.count.max(1) as f64))
            .with("their time", Value::Ns(small_ns))
            .with("their multiprocessors without a block, in time", Value::Ns(empty_ns))
            .with_known("multiprocessors of the card", sm_count.map(|n| Value::Count(f64::from(n))))
            .at(work.worst_grids.places()),
    )
}

fn recompute(case: &Case<'_>) -> Option<Finding> {
    let (forward, backward) = (&case.work.compute.attention_forward, &case.work.compute.attention_backward);
    if backward.count == 0 {
        return None;
    }
    let ratio = forward.count as f64 / backward.count as f64;
    if ratio < case.limits.recompute_ratio {
        return None;
    }
    let again_ns = case.scope.mean_ns((forward.total_ns as f64 * (1.0 - 1.0 / ratio)) as i64);
    Some(
        case.finding(Rule::Recompute, again_ns)
            .with("forward attention kernels per backward one", Value::Count(ratio))
            .with("attention that ran again", Value::Ns(again_ns)),
    )
}

fn experts(case: &Case<'_>) -> Option<Finding> {
    let experts = &case.work.compute.experts;
    let mean_ns = experts.total_ns.checked_div(i64::try_from(experts.count).ok()?)?;
    let ns = case.scope.mean_ns(experts.total_ns);
    if mean_ns >= case.limits.expert_kernel_ns || case.scope.share(ns) < case.limits.small_kernel_share {
        return None;
    }
    Some(
        case.finding(Rule::SmallExperts, 0)
            .with("expert kernels per step", Value::Count(case.scope.mean_count(experts.count)))
            .with("their mean length", Value::Ns(mean_ns)),
    )
}

fn healthy(case: &Case<'_>) -> Option<Finding> {
    let of = |area| case.losses.share(area).unwrap_or(0.0);
    let limits = case.limits;
    let idle = share(case.scope.parts.idle_ns, case.scope.parts.span_ns)?;
    let is_healthy = of(Area::Compute) >= limits.healthy_compute_share
        && of(Area::Communication) + of(Area::Bubble) < limits.healthy_loss_share
        && idle < limits.healthy_loss_share;
    is_healthy.then(|| {
        case.finding(Rule::Healthy, 0)
            .with("compute", Value::Share(of(Area::Compute)))
            .with("exposed communication", Value::Share(of(Area::Communication)))
            .with("idle", Value::Share(idle))
    })
}
