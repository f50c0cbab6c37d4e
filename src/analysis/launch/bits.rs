//! A set of small numbers, one bit each.

/// Numbers up to a limit that are in the set.
#[derive(Debug, Clone, Default)]
pub(super) struct BitSet(Vec<u64>);

impl BitSet {
    /// An empty set for numbers below `limit`.
    pub fn new(limit: usize) -> Self {
        Self(vec![0; limit.div_ceil(64)])
    }

    /// Adds `number`; true when it was not there. Numbers beyond the limit are never added.
    pub fn insert(&mut self, number: usize) -> bool {
        let Some(word) = self.0.get_mut(number / 64) else { return false };
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// True when `number` is there.
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}
