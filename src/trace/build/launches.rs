//! Which API call launched an operation: the innermost one of its correlation id.

use super::super::{CallTable, NONE};
use rustc_hash::FxHashMap;

/// Innermost API call of every correlation id of one process.
pub(super) struct Launches {
    first: u32,
    /// Indexed by correlation id less `first`; ids are handed out in sequence, so this stays dense.
    dense: Vec<u32>,
    sparse: FxHashMap<u32, u32>,
}

impl Launches {
    pub(super) fn of(api: &CallTable, correlations: &[u32]) -> Self {
        let used = || correlations.iter().copied().filter(|c| *c != NONE);
        let (first, last) = (used().min().unwrap_or(0), used().max().unwrap_or(0));
        let width = (last - first) as usize + 1;
        let is_dense = width <= correlations.len().saturating_mul(8).max(1024);
        let mut launches =
            Self { first, dense: if is_dense { vec![NONE; width] } else { Vec::new() }, sparse: FxHashMap::default() };
        for (call, &correlation) in correlations.iter().enumerate() {
            if correlation == NONE {
                continue;
            }
            let slot = if is_dense {
                launches.dense.get_mut((correlation - first) as usize)
            } else {
                Some(launches.sparse.entry(correlation).or_insert(NONE))
            };
            let Some(slot) = slot else { continue };
            // A later call replaces the known one only when it lies inside it: the innermost call is the launch.
            let inside = |known: u32| {
                let (outer, inner) = (api.span(known as usize), api.span(call));
                inner.start_ns >= outer.start_ns && inner.end_ns <= outer.end_ns
            };
            if *slot == NONE || inside(*slot) {
                *slot = call as u32;
            }
        }
        launches
    }

    /// Calls that share a correlation id with an innermost one, as (innermost, other) in order.
    pub(super) fn outer_calls(&self, correlations: &[u32]) -> Vec<(u32, u32)> {
        let launch_of = |(call, correlation): (usize, &u32)| (self.find(*correlation), call as u32);
        let mut pairs: Vec<(u32, u32)> = correlations
            .iter()
            .enumerate()
            .map(launch_of)
            .filter(|(launch, call)| *launch != NONE && launch != call)
            .collect();
        pairs.sort_unstable();
        pairs
    }

    pub(super) fn find(&self, correlation: u32) -> u32 {
        if correlation == NONE {
            return NONE;
        }
        if self.dense.is_empty() {
            return self.sparse.get(&correlation).copied().unwrap_or(NONE);
        }
        let at = correlation.checked_sub(self.first).map(|at| at as usize);
        at.and_then(|at| self.dense.get(at)).copied().unwrap_or(NONE)
    }
}
