//! The distinct names of a process's NVTX ranges: what is told by a name is decided once per name.

use crate::trace::{NameId, Trace};

/// The names in order of their first range, thread after thread. One pass over the ranges; a byte for every name of
/// the trace meanwhile.
pub fn distinct(trace: &Trace, process: usize) -> Vec<NameId> {
    let mut known = vec![false; trace.names.len()];
    let ranges = trace.threads.iter().filter(|thread| thread.process == process).flat_map(|thread| &thread.nvtx.name);
    let is_new = |name: &&NameId| known.get_mut(name.0 as usize).is_some_and(|known| !std::mem::replace(known, true));
    ranges.filter(is_new).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn each_name_comes_once() {
        let mut fixture = Fixture::new();
        fixture.range("b", 1, 0, 5).range("a", 1, 1, 2).range("b", 1, 6, 9).range("c", 2, 0, 1);
        let trace = fixture.build();
        let names: Vec<&str> = distinct(&trace, 0).into_iter().map(|id| trace.name(id)).collect();
        assert_eq!(names, ["b", "a", "c"]);
    }
}
