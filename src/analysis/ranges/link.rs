//! Forward and backward of an operator, by the sequence number that `emit_nvtx` writes into both their names.

use super::group::sequence_number;
use crate::trace::Trace;

/// Ranges of a thread that are looked through for the other end of a link.
const LOOK: usize = 1 << 18;

/// Which end of a link a range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// The linked range is the forward of the one asked for.
    Forward,
    /// The linked range is the backward of the one asked for.
    Backward,
}

/// The other end of the link of a range, as its thread and index: the last range on another thread of the process that
/// began before it and carries its sequence number, which is its forward; else the first that began after it, which is
/// its backward. `None` for names without a sequence number, and when the other end lies further than some 260 000
/// ranges away.
pub fn linked_by_sequence(trace: &Trace, thread: usize, range: u32) -> Option<(Sequence, usize, u32)> {
    let own = trace.threads.get(thread)?;
    let at = range as usize;
    let (name, start_ns) = (*own.nvtx.name.get(at)?, *own.nvtx.start_ns.get(at)?);
    let number = sequence_number(trace.name(name))?;
    let others = || trace.threads.iter().enumerate().filter(|(at, t)| *at != thread && t.process == own.process);
    let carries = |other: &crate::trace::Thread, range: &usize| {
        other.nvtx.name.get(*range).is_some_and(|name| sequence_number(trace.name(*name)) == Some(number))
    };
    let before = others().filter_map(|(at, other)| {
        let begun = other.nvtx.start_ns.partition_point(|start| *start < start_ns);
        let found = (begun.saturating_sub(LOOK)..begun).rev().find(|range| carries(other, range))?;
        Some((other.nvtx.start_ns[found], at, found as u32))
    });
    if let Some((_, thread, range)) = before.max() {
        return Some((Sequence::Forward, thread, range));
    }
    let after = others().filter_map(|(at, other)| {
        let begun = other.nvtx.start_ns.partition_point(|start| *start < start_ns);
        let found = (begun..other.nvtx.len()).take(LOOK).find(|range| carries(other, range))?;
        Some((other.nvtx.start_ns[found], at, found as u32))
    });
    after.min().map(|(_, thread, range)| (Sequence::Backward, thread, range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn forward_and_backward_find_each_other() {
        let mut fixture = Fixture::new();
        for step in 0..2 {
            let at = step * 1000;
            let (one, two) = (step * 2 + 1, step * 2 + 2);
            fixture.range(&format!("aten::mm, seq = {one}, op_id = {at}"), 1, at, at + 10);
            fixture.range(&format!("aten::relu, seq = {two}"), 1, at + 20, at + 30);
            fixture.range(&format!("ReluBackward0, seq = {two}"), 2, at + 50, at + 60);
            fixture.range(&format!("MmBackward0, seq = {one}"), 2, at + 70, at + 80);
        }
        let trace = fixture.range("aten::add", 1, 5000, 5010).build();
        assert_eq!(linked_by_sequence(&trace, 0, 2), Some((Sequence::Backward, 1, 3)));
        assert_eq!(linked_by_sequence(&trace, 1, 3), Some((Sequence::Forward, 0, 2)));
        assert_eq!(linked_by_sequence(&trace, 1, 0), Some((Sequence::Forward, 0, 1)));
        assert_eq!(linked_by_sequence(&trace, 0, 4), None);
    }
}
