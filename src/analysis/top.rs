//! The kernel that takes the most time.

use super::{Class, Classes, KernelSum};
use crate::trace::{OpKind, OpNameId, Trace};

/// The compute kernel of rank `rank` whose runs take the most time together, by full name; of equals the first seen.
/// Communication is left out. `None` when no compute kernel ran.
///
/// Costs one pass over the operations.
pub fn top_kernel(trace: &Trace, rank: usize, classes: &Classes) -> Option<(OpNameId, KernelSum)> {
    let ops = &trace.ranks.get(rank)?.ops;
    let mut sums = vec![KernelSum::default(); trace.op_names.len()];
    for op in (0..ops.len()).filter(|op| ops.kind[*op] == OpKind::Kernel) {
        if let Some(sum) = sums.get_mut(ops.name[op].0 as usize) {
            sum.count += 1;
            sum.total_ns = sum.total_ns.saturating_add(ops.span(op).len_ns());
        }
    }
    let named = sums.into_iter().enumerate().map(|(at, sum)| (OpNameId(at as u32), sum));
    let computes = |name: OpNameId| !matches!(classes.class(name, OpKind::Kernel), Class::Communication(_));
    named
        .filter(|(name, sum)| sum.count > 0 && computes(*name))
        .max_by_key(|(name, sum)| (sum.total_ns, std::cmp::Reverse(*name)))
}

#[cfg(test)]
mod tests {
    use super::super::Rules;
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn the_longest_sum_wins_and_communication_does_not_count() {
        let trace = Fixture::new()
            .kernel("gemm", 7, 0, 10)
            .kernel("add", 7, 10, 18)
            .kernel("add", 7, 20, 24)
            .kernel("ncclDevKernel_AllGather_RING_LL", 20, 0, 90)
            .build();
        let classes = Classes::of(&trace, &Rules::default());
        let (name, sum) = top_kernel(&trace, 0, &classes).unwrap();
        assert_eq!((trace.op_full_name(name), sum), ("add", KernelSum { count: 2, total_ns: 12 }));
        assert_eq!(top_kernel(&trace, 1, &classes), None);
    }
}
