//! How long each matched kernel of one rank waited, in the order of its operations, to be read many at a time.

use crate::analysis::gallop;

/// Matched kernels of one rank as columns. Costs 12 bytes a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelWaits {
    op: Vec<u32>,
    wait_ns: Vec<i64>,
}

impl KernelWaits {
    pub(super) fn of(mut kernels: Vec<(u32, i64)>) -> Self {
        kernels.sort_unstable();
        let (op, wait_ns) = kernels.into_iter().unzip();
        Self { op, wait_ns }
    }

    /// Number of matched kernels.
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// True when none is matched.
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Reads the waits of operations that are asked for in ascending order.
    pub const fn walk(&self) -> WaitWalk<'_> {
        WaitWalk { waits: self, at: 0 }
    }
}

/// A place among the matched kernels of a rank, which only moves forward.
#[derive(Debug)]
pub struct WaitWalk<'a> {
    waits: &'a KernelWaits,
    at: usize,
}

impl WaitWalk<'_> {
    /// Nanoseconds from the start of operation `op` until the last rank had started; `None` when it is not matched, or
    /// comes before the one asked for last. Costs the logarithm of the distance to that.
    pub fn wait_ns(&mut self, op: u32) -> Option<i64> {
        self.at = gallop(&self.waits.op, self.at, |own| own < op);
        let found = self.waits.op.get(self.at) == Some(&op);
        self.waits.wait_ns.get(self.at).copied().filter(|_| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_what_is_matched_and_nothing_else() {
        let waits = KernelWaits::of((0..500).rev().map(|n| (n * 3, i64::from(n))).collect());
        let mut walk = waits.walk();
        for op in (0..1600).step_by(2) {
            let expected = (op % 3 == 0 && op < 1500).then_some(i64::from(op / 3));
            assert_eq!(walk.wait_ns(op), expected, "{op}");
        }
        assert_eq!(waits.walk().wait_ns(1497), Some(499));
    }
}
