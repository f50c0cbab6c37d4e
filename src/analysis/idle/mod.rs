//! Idle gaps of a rank and why the GPU was idle in them.
//!
//! Every idle nanosecond has exactly one [`Cause`]; [`sweep`] decides which. The causes are kept as pieces that tile the
//! gaps, so any window is measured by two binary searches.
//!
//! Cost: 9 bytes a piece, about 2 more a gap. A gap with one cause is one piece; one that the host was late for is
//! usually three to five (host code, launch, launch latency).

mod cursor;
mod data_names;
mod explain;
mod sweep;
#[cfg(test)]
mod tests;

pub use explain::{GapPlace, GapReport};

use super::{Cause, Causes, Coverage, Steps};
use crate::trace::{Rank, Trace};
use crate::units::Span;
use std::sync::Arc;

/// Pieces between two running sums.
const BLOCK: usize = 64;

/// The causes of every idle nanosecond of a rank.
#[derive(Debug, Clone, Default)]
pub struct Idle {
    /// Gaps of at least this length are listed one by one; the shorter ones are summed.
    pub listed_ns: i64,
    /// When anything ran: the gaps lie between its spans.
    busy: Arc<Coverage>,
    /// Start and cause of every piece, in order. A piece ends where the next begins or work does.
    start_ns: Vec<i64>,
    cause: Vec<Cause>,
    /// The cause that takes most of each gap.
    largest: Vec<Cause>,
    blocks: Vec<Block>,
}

/// What comes before each [`BLOCK`]-th piece.
#[derive(Debug, Clone, Copy)]
struct Block {
    before: Causes,
    /// The span of `busy` that follows the piece.
    work: usize,
}

/// How many gaps, and how long together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct GapSum {
    /// Gaps.
    pub count: u64,
    /// Nanoseconds of all of them.
    pub total_ns: i64,
}

impl Idle {
    /// Finds the causes for a rank of `trace`, whose work is `busy`. Gaps of at least `listed_ns` are listed.
    pub(super) fn of(trace: &Trace, rank: &Rank, busy: &Arc<Coverage>, steps: Option<&Steps>, listed_ns: i64) -> Self {
        let steps = steps.filter(|steps| !steps.estimated);
        // The first step may own time before the first operation, so that time has causes too.
        let first_ns = busy.spans().first().map_or(0, |work| work.start_ns);
        let window_ns = steps.and_then(|steps| steps.steps.first()).map(|step| step.window.start_ns);
        let lead_ns = trace.span.map(|s| s.start_ns).into_iter().chain(window_ns).fold(first_ns, i64::min);
        let mut idle = Self { listed_ns, busy: Arc::clone(busy), ..Self::default() };
        idle.largest.reserve_exact(busy.gaps());
        let (mut sum, mut work) = (Causes::default(), 0);
        sweep::sweep(trace, rank, busy, lead_ns, steps.map(|s| s.ranges.as_slice()), |gap, pieces| {
            let mut own = Causes::default();
            while busy.spans().get(work).is_some_and(|work| work.start_ns < gap.end_ns) {
                work += 1;
            }
            for (at, (start_ns, cause)) in pieces.iter().enumerate() {
                if idle.start_ns.len().is_multiple_of(BLOCK) {
                    let mut before = sum;
                    before += own;
                    idle.blocks.push(Block { before, work });
                }
                let end_ns = pieces.get(at + 1).map_or(gap.end_ns, |(next_ns, _)| *next_ns);
                own.add(*cause, end_ns.saturating_sub(*start_ns));
                idle.start_ns.push(*start_ns);
                idle.cause.push(*cause);
            }
            if gap.start_ns >= first_ns {
                // Nearly every gap has one cause.
                let only = if let [(_, cause)] = pieces { Some(*cause) } else { own.largest() };
                idle.largest.push(only.unwrap_or(Cause::Unknown));
            }
            sum += own;
        });
        idle.start_ns.shrink_to_fit();
        idle.cause.shrink_to_fit();
        idle
    }

    /// Idle nanoseconds of `window` by cause. They sum to the idle part of the window; idle time outside the capture and
    /// behind the last operation is unknown.
    pub fn within(&self, window: Span) -> Causes {
        if window.is_empty() {
            return Causes::default();
        }
        let mut causes = self.before(window.end_ns).less(self.before(window.start_ns));
        let idle_ns = window.len_ns().saturating_sub(self.busy.within(window));
        causes.add(Cause::Unknown, idle_ns.saturating_sub(causes.total_ns()));
        causes
    }

    /// The idle nanoseconds before `at_ns`.
    fn before(&self, at_ns: i64) -> Causes {
        let begun = self.start_ns.partition_point(|start| *start < at_ns);
        let block = begun.saturating_sub(1) / BLOCK;
        let mut sum = self.blocks.get(block).map_or_else(Causes::default, |block| block.before);
        for (span, cause) in self.pieces(block).take(begun.saturating_sub(block * BLOCK)) {
            sum.add(cause, span.end_ns.min(at_ns).saturating_sub(span.start_ns));
        }
        sum
    }

    /// The pieces from the start of a block on.
    fn pieces(&self, block: usize) -> impl Iterator<Item = (Span, Cause)> {
        let mut work = self.blocks.get(block).map_or(0, |block| block.work);
        let first = (block * BLOCK).min(self.start_ns.len());
        let pieces = self.start_ns[first..].iter().zip(&self.cause[first..]);
        pieces.enumerate().map(move |(at, (start_ns, cause))| {
            while self.busy.spans().get(work).is_some_and(|work| work.start_ns <= *start_ns) {
                work += 1;
            }
            let work_ns = self.busy.spans().get(work).map(|work| work.start_ns);
            let next_ns = self.start_ns.get(first + at + 1).copied();
            let end_ns = work_ns.into_iter().chain(next_ns).min().unwrap_or(*start_ns);
            (Span::new(*start_ns, end_ns), *cause)
        })
    }

    /// The pieces that share time with `window`, in order: idle spans of one cause. Costs a binary search to the first.
    pub fn segments(&self, window: Span) -> impl Iterator<Item = (Span, Cause)> {
        let begun = self.start_ns.partition_point(|start| *start <= window.start_ns);
        let pieces = self.pieces(begun.saturating_sub(1) / BLOCK);
        pieces
            .skip_while(move |(span, _)| span.end_ns <= window.start_ns)
            .take_while(move |(span, _)| span.start_ns < window.end_ns)
    }

    /// How many pieces share time with `window`, at most. Two binary searches.
    pub fn segments_within(&self, window: Span) -> usize {
        let begun = |at_ns: i64| self.start_ns.partition_point(|start| *start < at_ns);
        (begun(window.end_ns) + 1).saturating_sub(begun(window.start_ns))
    }

    /// Number of gaps: spans without any work between two operations.
    pub fn gaps(&self) -> usize {
        self.busy.gaps()
    }

    /// Gap number `gap` in order of time.
    pub fn gap(&self, gap: usize) -> Option<Span> {
        self.busy.gap(gap)
    }

    /// The cause that takes most of a gap.
    pub fn cause_of(&self, gap: usize) -> Option<Cause> {
        self.largest.get(gap).copied()
    }

    /// The causes of a gap.
    pub fn causes_of(&self, gap: usize) -> Causes {
        self.gap(gap).map_or_else(Causes::default, |gap| self.within(gap))
    }

    /// Gaps of at least `min_ns`, the longest first; of equals the earlier. One pass and a sort of what is kept.
    pub fn by_length(&self, min_ns: i64) -> Vec<u32> {
        let mut gaps: Vec<u32> = (0..self.gaps() as u32).filter(|gap| self.len_ns(*gap) >= min_ns).collect();
        gaps.sort_unstable_by_key(|gap| (std::cmp::Reverse(self.len_ns(*gap)), *gap));
        gaps
    }

    /// The `most` longest gaps of at least `min_ns`, the longest first; of equals the earlier. One pass.
    pub fn longest(&self, min_ns: i64, most: usize) -> Vec<u32> {
        let key = |gap: &u32| (std::cmp::Reverse(self.len_ns(*gap)), *gap);
        let mut gaps: Vec<u32> = (0..self.gaps() as u32).filter(|gap| self.len_ns(*gap) >= min_ns).collect();
        if gaps.len() > most {
            gaps.select_nth_unstable_by_key(most, key);
            gaps.truncate(most);
        }
        gaps.sort_unstable_by_key(key);
        gaps
    }

    /// The gaps in `gaps`, summed.
    pub fn sum(&self, gaps: &[u32]) -> GapSum {
        self.sum_of(gaps.iter().copied())
    }

    /// The gaps of at least `min_ns`, summed. One pass.
    pub fn listed(&self, min_ns: i64) -> GapSum {
        self.sum_of((0..self.gaps() as u32).filter(|gap| self.len_ns(*gap) >= min_ns))
    }

    /// The gaps shorter than `min_ns`, summed. One pass.
    pub fn shorter(&self, min_ns: i64) -> GapSum {
        self.sum_of((0..self.gaps() as u32).filter(|gap| self.len_ns(*gap) < min_ns))
    }

    fn sum_of(&self, gaps: impl Iterator<Item = u32>) -> GapSum {
        gaps.map(|gap| self.len_ns(gap)).fold(GapSum::default(), |sum, len_ns| GapSum {
            count: sum.count + 1,
            total_ns: sum.total_ns.saturating_add(len_ns),
        })
    }

    fn len_ns(&self, gap: u32) -> i64 {
        self.gap(gap as usize).map_or(0, Span::len_ns)
    }
}
