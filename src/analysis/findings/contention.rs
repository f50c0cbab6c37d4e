//! Compute kernels that take longer while a collective runs beside them: both want multiprocessors and memory.
//!
//! A kernel is compared with those of the same name and grid between the same neighbours on its stream, as one name
//! stands for products of several sizes. Those that ran beside communication for most of their length are held against
//! those that met none at all.

use super::{Case, Finding, Rule, Value};
use crate::analysis::partition::median_of;
use crate::analysis::places::Worst;
use crate::analysis::{Class, Classes, Coverage};
use crate::trace::{OpKind, OpNameId};
use crate::units::{Span, share};
use rustc_hash::FxHashMap;

/// Kernels of each sort without which a median tells little.
const COMPARED: usize = 4;

/// Lengths further apart than this, quartile to quartile, are different work under one name.
const SPREAD: f64 = 1.15;

/// What makes kernels comparable: the names before, of and after it on its stream, and its blocks.
type Alike = (OpNameId, OpNameId, OpNameId, Option<u16>);

/// Lengths of kernels that are alike, in nanoseconds.
#[derive(Debug, Default)]
struct Lengths {
    alone: Vec<i64>,
    beside: Vec<(i64, usize, Span)>,
}

/// Sums over the kernels that could be compared.
#[derive(Debug, Default)]
struct Compared {
    kernels: u64,
    /// Their time, and what it would be at the median of those alone.
    beside_ns: i64,
    expected_ns: i64,
    worst: Worst,
}

/// The finding, when the kernels of the scope tell it.
pub(super) fn finding(case: &Case<'_>, classes: &Classes) -> Option<Finding> {
    // Without much overlap there is nothing to win, and nothing to compare.
    if case.scope.share(case.scope.parts.overlapped_comm_ns) < case.limits.exposed_share {
        return None;
    }
    let compared = compare(case, lengths(case, classes));
    let lost_ns = case.scope.mean_ns(compared.beside_ns.saturating_sub(compared.expected_ns));
    let slower = share(compared.beside_ns, compared.expected_ns)? - 1.0;
    if slower < case.limits.slower_beside_comm || case.scope.share(lost_ns) < case.limits.exposed_share {
        return None;
    }
    Some(
        case.finding(Rule::ComputeContention, lost_ns)
            .with("slower beside communication", Value::Share(slower))
            .with("kernels compared per step", Value::Count(case.scope.mean_count(compared.kernels)))
            .with("their time beside communication", Value::Ns(case.scope.mean_ns(compared.beside_ns)))
            .with("at the median of those alone", Value::Ns(case.scope.mean_ns(compared.expected_ns)))
            .at(compared.worst.places()),
    )
}

fn lengths(case: &Case<'_>, classes: &Classes) -> FxHashMap<Alike, Lengths> {
    let (ops, comm) = (&case.rank.ops, &case.numbers.comm);
    let primary = case.numbers.primary_stream.and_then(|stream| u16::try_from(stream).ok());
    let mut of: FxHashMap<Alike, Lengths> = FxHashMap::default();
    for (at, window) in case.scope.windows.iter().enumerate() {
        let first = ops.start_ns.partition_point(|start| *start < window.span.start_ns);
        let last = ops.start_ns.partition_point(|start| *start < window.span.end_ns);
        let on_stream = |op: &usize| ops.kind[*op] == OpKind::Kernel && Some(ops.stream[*op]) == primary;
        let mut last_two: [Option<usize>; 2] = [None; 2];
        for next in (first..last).filter(on_stream) {
            if let [Some(before), Some(op)] = last_two
                && matches!(classes.class(ops.name[op], ops.kind[op]), Class::Compute(_))
            {
                let key = (ops.name[before], ops.name[op], ops.name[next], ops.blocks_of(op));
                add(of.entry(key).or_default(), comm, ops.span(op), at);
            }
            last_two = [last_two[1], Some(next)];
        }
    }
    of
}

fn add(lengths: &mut Lengths, comm: &Coverage, span: Span, window: usize) {
    let (len_ns, with_ns) = (span.len_ns(), comm.within(span));
    if with_ns == 0 {
        lengths.alone.push(len_ns);
    } else if with_ns >= len_ns - len_ns / 10 {
        lengths.beside.push((len_ns, window, span));
    }
}

fn compare(case: &Case<'_>, of: FxHashMap<Alike, Lengths>) -> Compared {
    let mut compared = Compared::default();
    // In the order of their keys, so that of equal places the same ones are kept every time.
    let mut of: Vec<(Alike, Lengths)> = of.into_iter().collect();
    of.sort_unstable_by_key(|(key, _)| *key);
    for (_, mut lengths) in of {
        if lengths.alone.len() < COMPARED || lengths.beside.len() < COMPARED || !is_one_sort(&mut lengths.alone) {
            continue;
        }
        let Some(usual_ns) = median_of(lengths.alone) else { continue };
        for (len_ns, window, span) in lengths.beside {
            compared.kernels += 1;
            compared.beside_ns = compared.beside_ns.saturating_add(len_ns);
            compared.expected_ns = compared.expected_ns.saturating_add(usual_ns);
            let step = case.scope.windows.get(window).and_then(|window| window.step);
            compared.worst.add(step, span, len_ns - usual_ns);
        }
    }
    compared
}

/// True when the middle half of `lengths` lies close together. Sorts them.
fn is_one_sort(lengths: &mut [i64]) -> bool {
    lengths.sort_unstable();
    let quartile = |quarters: usize| lengths.get(lengths.len().saturating_sub(1) * quarters / 4).copied().unwrap_or(0);
    quartile(3) as f64 <= quartile(1) as f64 * SPREAD
}
