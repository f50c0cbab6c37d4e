//! Rules on communication and on the pipeline bubble.

use super::{Case, Finding, Rule, Value};
use crate::analysis::places::Worst;
use crate::analysis::{Area, Collective};
use crate::units::share;
use std::collections::BTreeMap;

/// What holds of a case.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    out.extend(exposed(case));
    out.extend(low_bandwidth(case));
    out.extend(on_compute_stream(case));
    out.extend(sync_after_comm(case));
    out.extend(tiny_collectives(case));
    out.extend(large_tail(case));
    out.extend(bubble(case));
    out.extend(undeclared_pipeline(case));
}

fn exposed(case: &Case<'_>) -> Option<Finding> {
    let parts = &case.scope.parts;
    let exposed_ns = case.loss_ns(Area::Communication);
    if exposed_ns == 0 || case.scope.share(exposed_ns) < case.limits.exposed_share {
        return None;
    }
    let overlapped = share(parts.overlapped_comm_ns, parts.comm_ns).unwrap_or(0.0);
    let of_kinds = &case.work.comm.exposed_ns;
    let (worst, worst_ns) = of_kinds.iter().max_by_key(|(kind, ns)| (**ns, std::cmp::Reverse(**kind)))?;
    let reduces_gradients = matches!(worst, Collective::AllReduce | Collective::ReduceScatter);
    let is_late = overlapped < case.limits.overlap_low && reduces_gradients;
    let rule = if is_late { Rule::GradientsNotOverlapped } else { Rule::ExposedCommunication };
    let finding = case
        .finding(rule, exposed_ns)
        .with("communication in all", Value::Ns(parts.comm_ns))
        .with("of it beside compute", Value::Share(overlapped))
        .with("most exposed", Value::Name(worst.text().to_owned()))
        .with("exposed of that kind", Value::Ns(case.scope.mean_ns(*worst_ns)))
        .with("collectives per step", Value::Count(case.scope.mean_count(case.work.comm.kernels.count)));
    Some(finding.at(case.places_of(Area::Communication)))
}

/// Messages of one kind, communicator and size (by powers of two).
#[derive(Clone, Default)]
struct SizeClass {
    /// Bytes per nanosecond of the fastest: the one that waited least.
    best: f64,
    largest_bytes: u64,
    /// Kernels in the scope, and their exposed time.
    count: u64,
    exposed_ns: i64,
    /// The most exposed of them.
    worst: Worst,
}

/// Large messages that reach far less than smaller ones of the same kind did: the link can do better.
fn low_bandwidth(case: &Case<'_>) -> Option<Finding> {
    let ops = &case.rank.ops;
    let mut classes: BTreeMap<(Collective, Option<u64>, u32), SizeClass> = BTreeMap::new();
    for (op, message) in &case.numbers.communication.messages {
        let span = ops.span(*op as usize);
        let (Some(kind), true) = (message.kind, message.bytes > 0 && !span.is_empty()) else { continue };
        let class = classes.entry((kind, message.communicator, message.bytes.ilog2())).or_default();
        class.best = class.best.max(message.bytes as f64 / span.len_ns() as f64);
        class.largest_bytes = class.largest_bytes.max(message.bytes);
        if let Some(window) = case.scope.window_at(span.start_ns) {
            let exposed_ns = case.numbers.exposed.within(span);
            class.count += 1;
            class.exposed_ns = class.exposed_ns.saturating_add(exposed_ns);
            class.worst.add(window.step, span, exposed_ns);
        }
    }
    let mut worst: Option<(i64, &SizeClass, f64, Collective)> = None;
    let (mut of, mut reached) = (None, 0.0_f64);
    for ((kind, communicator, _), class) in &classes {
        if of != Some((*kind, *communicator)) {
            (of, reached) = (Some((*kind, *communicator)), 0.0);
        }
        let is_large = class.largest_bytes >= case.limits.large_message_bytes;
        if is_large && class.count > 0 && class.best < reached * case.limits.bandwidth_low {
            let gain_ns = (class.exposed_ns as f64 * (1.0 - class.best / reached)) as i64;
            if worst.is_none_or(|(most, ..)| gain_ns > most) {
                worst = Some((gain_ns, class, reached, *kind));
            }
        }
        reached = reached.max(class.best);
    }
    let (gain_ns, class, reached, kind) = worst?;
    let per_step = case.scope.mean_ns(gain_ns);
    if case.scope.share(per_step) < case.limits.exposed_share {
        return None;
    }
    let finding = case
        .finding(Rule::LowBandwidth, per_step)
        .with("collective", Value::Name(kind.text().to_owned()))
        .with("largest message", Value::Bytes(class.largest_bytes))
        .with("such messages reach (size over time)", Value::GbPerS(class.best))
        .with("smaller ones reach", Value::GbPerS(reached))
        .with("large messages per step", Value::Count(case.scope.mean_count(class.count)));
    Some(finding.at(class.worst.places()))
}

fn on_compute_stream(case: &Case<'_>) -> Option<Finding> {
    let comm = &case.work.comm;
    let on_stream_ns = case.scope.mean_ns(comm.on_compute_stream.total_ns);
    if comm.on_compute_stream.count == 0 || case.scope.share(on_stream_ns) < case.limits.comm_on_compute_stream_share {
        return None;
    }
    let stream = case.numbers.primary_stream.and_then(|at| case.rank.streams.get(at)).map(|s| s.id as f64);
    let finding = case
        .finding(Rule::CommOnComputeStream, case.scope.mean_ns(comm.on_compute_stream_exposed_ns))
        .with_known("stream", stream.map(Value::Count))
        .with("collectives there per step", Value::Count(case.scope.mean_count(comm.on_compute_stream.count)))
        .with("their time per step", Value::Ns(on_stream_ns));
    Some(finding.at(comm.worst_on_compute_stream.places()))
}

fn sync_after_comm(case: &Case<'_>) -> Option<Finding> {
    let comm = &case.work.comm;
    let lost_ns = case.scope.mean_ns(comm.sync_ns);
    let per_step = case.scope.mean_count(comm.syncs);
    if per_step < 1.0 || case.scope.share(lost_ns) < case.limits.sync_share {
        return None;
    }
    let finding = case
        .finding(Rule::SyncAfterComm, lost_ns)
        .with("collectives waited for per step", Value::Count(per_step))
        .with("idle time after them", Value::Ns(lost_ns));
    Some(finding.at(comm.worst_syncs.places()))
}

fn tiny_collectives(case: &Case<'_>) -> Option<Finding> {
    let comm = &case.work.comm;
    let per_step = case.scope.mean_count(comm.tiny.count);
    if case.scope.basis.is_whole_span() || per_step <= case.limits.tiny_collectives {
        return None;
    }
    let mean_ns = comm.tiny.total_ns / i64::try_from(comm.tiny.count).unwrap_or(1).max(1);
    Some(
        case.finding(Rule::TinyCollectives, case.scope.mean_ns(comm.tiny_exposed_ns))
            .with("tiny collectives per step", Value::Count(per_step))
            .with("their mean length", Value::Ns(mean_ns))
            .at(comm.worst_tiny.places()),
    )
}

fn large_tail(case: &Case<'_>) -> Option<Finding> {
    let comm = &case.work.comm;
    let exposed_ns = case.loss_ns(Area::Communication);
    let tail_ns = case.scope.mean_ns(comm.tail_ns);
    let is_one_of_several = case.scope.mean_count(comm.kernels.count) >= 3.0;
    let is_large = share(tail_ns, exposed_ns).is_some_and(|s| s > case.limits.tail_share);
    if case.bubble.is_some() || case.scope.basis.is_whole_span() || !is_one_of_several || !is_large {
        return None;
    }
    if case.scope.share(tail_ns) < case.limits.exposed_share {
        return None;
    }
    let finding = case
        .finding(Rule::LargeTail, tail_ns)
        .with("share of the exposed time", Value::Share(share(tail_ns, exposed_ns).unwrap_or(0.0)))
        .with("collectives per step", Value::Count(case.scope.mean_count(comm.kernels.count)));
    Some(finding.at(comm.tails.places()))
}

fn bubble(case: &Case<'_>) -> Option<Finding> {
    let bubble = case.bubble.as_ref()?;
    let total_ns = bubble.total_ns();
    if case.scope.share(total_ns) < case.limits.bubble_share {
        return None;
    }
    let theory = bubble.pipeline.theory();
    let measured = case.scope.share(total_ns);
    let excess = theory.filter(|theory| measured > theory * case.limits.bubble_excess);
    let finding = case
        .finding(Rule::PipelineBubble, total_ns)
        .with("measured", Value::Share(measured))
        .with_known("by the schedule (p-1)/(v m + p-1)", theory.map(Value::Share))
        .with_known("more than the schedule's", excess.map(|theory| Value::Share(measured - theory)))
        .with_known("stages p", bubble.pipeline.stages.map(|n| Value::Count(f64::from(n))))
        .with_known("micro-batches m", bubble.pipeline.micro_batches.map(|n| Value::Count(f64::from(n))))
        .with_known("chunks per stage v", bubble.pipeline.interleave.map(|n| Value::Count(f64::from(n))))
        .with("exchanging", Value::Ns(bubble.exposed_ns))
        .with("idle beside it", Value::Ns(bubble.idle.total_ns()));
    Some(finding.at(case.places_of(Area::Bubble)))
}

fn undeclared_pipeline(case: &Case<'_>) -> Option<Finding> {
    let exposed_ns = case.work.comm.exposed_ns.get(&Collective::SendRecv).copied()?;
    let mean_ns = case.scope.mean_ns(exposed_ns);
    if case.bubble.is_some() || case.scope.share(mean_ns) < case.limits.bubble_share {
        return None;
    }
    let finding = case.finding(Rule::UndeclaredPipeline, 0).with("exposed point-to-point time", Value::Ns(mean_ns));
    Some(finding.at(case.work.comm.worst_send_recv.places()))
}
