//! From a kernel of a summary back to one that ran.

use crate::analysis::{NamedBy, kernel_name};
use crate::trace::{OpKind, OpNameId, Rank, Trace};
use rustc_hash::FxHashMap;

/// The longest run of the kernel of this full name and launch shape (as [`super::KernelShape`] has them) on a rank: an
/// index into its operations.
///
/// Cost: a pass over the operations of the rank.
pub fn longest_run(trace: &Trace, rank: &Rank, name: &str, blocks: Option<u16>) -> Option<u32> {
    let mut is_it: FxHashMap<OpNameId, bool> = FxHashMap::default();
    let mut fits = |at: usize| {
        let id = rank.ops.name[at];
        let named = *is_it.entry(id).or_insert_with(|| trace.name(kernel_name(trace, id, NamedBy::Full)) == name);
        named && rank.ops.blocks_of(at).unwrap_or(0) == blocks.unwrap_or(0)
    };
    let kernels = (0..rank.ops.len()).filter(|at| rank.ops.kind[*at] == OpKind::Kernel);
    let longest = kernels.filter(|at| fits(*at)).max_by_key(|at| (rank.ops.span(*at).len_ns(), std::cmp::Reverse(*at)));
    longest.and_then(|at| u32::try_from(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn the_longest_of_a_name_is_found_and_the_first_of_equals() {
        let trace = Fixture::new()
            .kernel("f", 7, 0, 5)
            .kernel("g", 7, 5, 50)
            .kernel("f", 7, 60, 70)
            .kernel("f", 7, 80, 90)
            .build();
        let rank = &trace.ranks[0];
        let starts = |name: &str| longest_run(&trace, rank, name, None).map(|op| rank.ops.start_ns[op as usize]);
        assert_eq!((starts("f"), starts("g"), starts("h")), (Some(60), Some(5), None));
        assert_eq!(longest_run(&trace, rank, "f", Some(3)), None, "of another shape");
    }
}
