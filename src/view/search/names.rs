//! Which of a document's distinct names match: a bit each, so that a pass over a table costs a look-up per row.

use super::matcher::Matcher;
use crate::analysis::base_name;
use crate::trace::{NameId, OpNameId, Trace};

/// Names between two looks at whether the search was cancelled.
const CHECK_EVERY: usize = 4096;

/// Numbers below a limit, a bit each.
#[derive(Debug, Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn collect(bits: impl ExactSizeIterator<Item = bool>) -> Self {
        let mut words = vec![0_u64; bits.len().div_ceil(64)];
        for (at, bit) in bits.enumerate().filter(|(_, bit)| *bit) {
            if let Some(word) = words.get_mut(at / 64) {
                *word |= u64::from(bit) << (at % 64);
            }
        }
        Self(words)
    }

    fn contains(&self, at: u32) -> bool {
        self.0.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

/// The names of a document that match.
#[derive(Debug, Clone, Default)]
pub struct Matching {
    names: Bits,
    calls: Bits,
    ops: Bits,
}

impl Matching {
    /// Tests every distinct name of `trace` once; `None` when `cancelled` said so.
    pub fn of(trace: &Trace, matcher: &Matcher, cancelled: &dyn Fn() -> bool) -> Option<Self> {
        let (mut names, mut calls) = (Vec::with_capacity(trace.names.len()), Vec::with_capacity(trace.names.len()));
        for (id, name) in trace.names.iter() {
            if (id.0 as usize).is_multiple_of(CHECK_EVERY) && cancelled() {
                return None;
            }
            let matches = matcher.matches(name);
            // A call is shown without the version of its interface, so it is found by that name too.
            let short = base_name(name);
            names.push(matches);
            calls.push(matches || short.len() < name.len() && matcher.matches(short));
        }
        let names = Bits::collect(names.into_iter());
        let ops = trace.op_names.iter().map(|op| names.contains(op.short.0) || names.contains(op.full.0));
        Some(Self { ops: Bits::collect(ops), calls: Bits::collect(calls.into_iter()), names })
    }

    /// Whether the name of a range, a mark, an OS runtime call or a thread matches.
    pub fn name(&self, id: NameId) -> bool {
        self.names.contains(id.0)
    }

    /// Whether the name of an API call matches, with or without the version of its interface.
    pub fn call(&self, id: NameId) -> bool {
        self.calls.contains(id.0)
    }

    /// Whether the short or the full name of a GPU operation matches.
    pub fn op(&self, id: OpNameId) -> bool {
        self.ops.contains(id.0)
    }
}
