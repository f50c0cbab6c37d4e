//! Which ranges of a thread are open at an instant, whatever nests or crosses.
//!
//! Cost: 8 bytes for every 64 ranges; a question costs the logarithm of the ranges for each one found.

use crate::trace::RangeTable;

const BLOCK: usize = 64;

/// The latest end of each [`BLOCK`] ranges of a thread, of each [`BLOCK`] of those, and so on.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenAt {
    levels: Vec<Vec<i64>>,
}

impl OpenAt {
    /// The index of `ranges`.
    pub fn of(ranges: &RangeTable) -> Self {
        let latest = |ends: &[i64]| -> Vec<i64> {
            ends.chunks(BLOCK).map(|block| block.iter().copied().max().unwrap_or(i64::MIN)).collect()
        };
        let mut levels = vec![latest(&ranges.end_ns)];
        while let Some(level) = levels.last().filter(|level| level.len() > BLOCK) {
            levels.push(latest(level));
        }
        Self { levels }
    }

    /// The ranges that are open at `at_ns`, in order of start, then longest first: outer before inner.
    pub fn at(&self, ranges: &RangeTable, at_ns: i64) -> Vec<u32> {
        let begun = ranges.start_ns.partition_point(|start| *start <= at_ns);
        let mut found = Vec::new();
        let top = self.levels.len();
        self.search(ranges, top, 0..usize::MAX, begun, at_ns, &mut found);
        found
    }

    /// Looks through `entries` of a level (0: the ranges themselves), of the first `begun` ranges.
    fn search(
        &self,
        ranges: &RangeTable,
        level: usize,
        entries: std::ops::Range<usize>,
        begun: usize,
        at_ns: i64,
        found: &mut Vec<u32>,
    ) {
        let Some(below) = level.checked_sub(1) else {
            let last = entries.end.min(begun);
            found.extend((entries.start..last).filter(|at| ranges.end_ns[*at] > at_ns).map(|at| at as u32));
            return;
        };
        let Some(latest) = self.levels.get(below) else { return };
        let width = BLOCK.saturating_pow(level as u32);
        for (entry, latest_ns) in latest.iter().enumerate().take(entries.end).skip(entries.start) {
            if entry.saturating_mul(width) >= begun {
                return;
            }
            if *latest_ns > at_ns {
                self.search(ranges, below, entry * BLOCK..(entry + 1) * BLOCK, begun, at_ns, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_open_ranges_are_those_that_brute_force_finds(
            raw in prop::collection::vec((0_i64..6, 0_i64..60), 1..9000),
            instants in prop::collection::vec(0_i64..30_000, 1..6),
        ) {
            let mut fixture = Fixture::new();
            let mut now = 0;
            for (gap, len) in &raw {
                now += gap;
                // One in a while is long, so that blocks cannot be told from their neighbours.
                fixture.range("r", 1, now, now + if now % 100 == 7 { len * 200 } else { *len });
            }
            let trace = fixture.build();
            let ranges = &trace.threads[0].nvtx;
            let index = OpenAt::of(ranges);
            for at_ns in instants {
                let expected: Vec<u32> =
                    (0..ranges.len()).filter(|at| ranges.span(*at).contains(at_ns)).map(|at| at as u32).collect();
                prop_assert_eq!(index.at(ranges, at_ns), expected);
            }
        }
    }
}
