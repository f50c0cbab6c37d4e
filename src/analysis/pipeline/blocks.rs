//! Forward and backward passes of single micro-batches on the GPU.
//!
//! By NVTX ranges such as `forward mb 3`: a block is what any thread of the process launched while the range was open,
//! from the first start to the last end. Without such ranges by the exchanges with other stages: compute between two
//! exchanges is a block, forward when the thread that holds the steps launched it and backward when another did (the
//! autograd thread), and blocks are numbered in order. That cannot tell chunks of an interleaved stage apart.

use super::super::{Attribution, Class, Classes, Collective, RankAnalysis, Steps};
use crate::trace::{NameId, Trace};
use crate::units::Span;
use regex::Regex;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// `forward mb 3`, `bwd_microbatch_3`.
const PASS: &str = r"(?i)\b(?:(forward|fwd)|backward|bwd)\b?.*?(?:(?:\b|_)mb|micro[\s_-]?batch)\D{0,3}(\d+)";

static PASSES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PASS).ok());

/// Direction of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pass {
    /// Forward.
    #[serde(rename = "f")]
    Forward,
    /// Backward.
    #[serde(rename = "b")]
    Backward,
}

/// What blocks are known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSource {
    /// NVTX ranges name the micro-batches.
    Ranges,
    /// Exchanges with other stages; numbered in order.
    Exchanges,
    /// Neither tells them.
    #[default]
    Nothing,
}

/// One pass of one micro-batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Direction.
    pub pass: Pass,
    /// Its number, as named, else counted from 0 within the step.
    pub micro_batch: u32,
    /// From its first start to its last end on the GPU, on the export's clock.
    pub span: Span,
    /// Of that: covered by compute kernels.
    pub compute_ns: i64,
}

/// The blocks of one step in order of time, as columns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Blocks {
    pass: Vec<Pass>,
    micro_batch: Vec<u32>,
    /// After the start of the window, so that the numbers stay short.
    offset_ns: Vec<i64>,
    len_ns: Vec<i64>,
    compute_ns: Vec<i64>,
}

impl Blocks {
    /// The columns of `blocks`, whose step's window begins at `from_ns`.
    pub(super) fn of(blocks: &[Block], from_ns: i64) -> Self {
        Self {
            pass: blocks.iter().map(|block| block.pass).collect(),
            micro_batch: blocks.iter().map(|block| block.micro_batch).collect(),
            offset_ns: blocks.iter().map(|block| block.span.start_ns.saturating_sub(from_ns)).collect(),
            len_ns: blocks.iter().map(|block| block.span.len_ns()).collect(),
            compute_ns: blocks.iter().map(|block| block.compute_ns).collect(),
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.pass.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.pass.is_empty()
    }

    /// Block `at` of a step whose window begins at `from_ns`.
    pub(super) fn get(&self, at: usize, from_ns: i64) -> Option<Block> {
        let start_ns = from_ns.saturating_add(*self.offset_ns.get(at)?);
        Some(Block {
            pass: *self.pass.get(at)?,
            micro_batch: *self.micro_batch.get(at)?,
            span: Span::new(start_ns, start_ns.saturating_add(*self.len_ns.get(at)?)),
            compute_ns: *self.compute_ns.get(at)?,
        })
    }
}

/// What the name of a range tells: direction and micro-batch.
pub(super) fn pass_of(name: &str) -> Option<(Pass, u32)> {
    let found = PASSES.as_ref()?.captures(name)?;
    let pass = if found.get(1).is_some() { Pass::Forward } else { Pass::Backward };
    Some((pass, found.get(2)?.as_str().parse().ok()?))
}

/// The blocks of each of `steps`, in order of time, and what they are known by.
pub(super) fn find(
    trace: &Trace,
    rank: usize,
    classes: &Classes,
    numbers: &RankAnalysis,
    steps: &Steps,
) -> (BlockSource, Vec<Vec<Block>>) {
    let named = by_ranges(trace, numbers, steps);
    let (source, mut found) = if named.iter().any(|blocks| !blocks.is_empty()) {
        (BlockSource::Ranges, named)
    } else {
        let cut = by_exchanges(trace, rank, classes, steps);
        let is_known = cut.iter().any(|blocks| !blocks.is_empty());
        (if is_known { BlockSource::Exchanges } else { BlockSource::Nothing }, cut)
    };
    for block in found.iter_mut().flatten() {
        block.compute_ns = numbers.partition(block.span).compute_ns();
    }
    (source, found)
}

/// Blocks of the ranges that begin in a step's range. Of nested ranges of one direction the outermost counts.
fn by_ranges(trace: &Trace, numbers: &RankAnalysis, steps: &Steps) -> Vec<Vec<Block>> {
    let mut found: Vec<Vec<Block>> = vec![Vec::new(); steps.steps.len()];
    let mut known: FxHashMap<NameId, Option<(Pass, u32)>> = FxHashMap::default();
    let mut outer: Option<(u32, Pass, i64)> = None;
    for projected in numbers.ranges.projected(trace, Attribution::Process) {
        let Some(thread) = trace.threads.get(projected.thread as usize) else { continue };
        let Some(name) = thread.nvtx.name.get(projected.range as usize) else { continue };
        let told = known.entry(*name).or_insert_with(|| pass_of(trace.name(*name)));
        let Some((pass, micro_batch)) = *told else { continue };
        let host = thread.nvtx.span(projected.range as usize);
        if outer.is_some_and(|(of, held, until_ns)| of == projected.thread && held == pass && host.start_ns < until_ns)
        {
            continue;
        }
        outer = Some((projected.thread, pass, host.end_ns));
        let begun = steps.steps.partition_point(|step| step.range.start_ns <= host.start_ns);
        let step =
            begun.checked_sub(1).filter(|at| steps.steps.get(*at).is_some_and(|s| s.range.contains(host.start_ns)));
        if let Some(blocks) = step.and_then(|at| found.get_mut(at)) {
            blocks.push(Block { pass, micro_batch, span: projected.gpu, compute_ns: 0 });
        }
    }
    for blocks in &mut found {
        blocks.sort_by_key(|block| (block.span.start_ns, block.span.end_ns, block.micro_batch));
        // The thread that computes backward may hold a range of the same name as the thread that waits for it.
        blocks.dedup_by(|later, held| {
            let same = (later.pass, later.micro_batch) == (held.pass, held.micro_batch)
                && later.span.start_ns < held.span.end_ns;
            if same {
                held.span = held.span.hull(later.span);
            }
            same
        });
    }
    found
}

/// Blocks between exchanges. A step whose forward and backward blocks are not equally many has none: they were told
/// apart wrongly.
fn by_exchanges(trace: &Trace, rank: usize, classes: &Classes, steps: &Steps) -> Vec<Vec<Block>> {
    let mut found: Vec<Vec<Block>> = vec![Vec::new(); steps.steps.len()];
    let (Some(rank), Some(main)) = (trace.ranks.get(rank), steps.thread.and_then(|at| trace.threads.get(at))) else {
        return found;
    };
    let (mut at, mut parted) = (0, true);
    for op in 0..rank.ops.len() {
        let span = rank.ops.span(op);
        while steps.steps.get(at).is_some_and(|step| step.window.end_ns <= span.start_ns) {
            (at, parted) = (at + 1, true);
        }
        let Some(blocks) = found.get_mut(at) else { break };
        let class = classes.class(rank.ops.name[op], rank.ops.kind[op]);
        if class == Class::Communication(Collective::SendRecv) {
            // An exchange that begins while compute runs parts nothing: it was asked for ahead of its time.
            parted |= blocks.last().is_none_or(|block| block.span.end_ns <= span.start_ns);
        }
        let Some(call) = rank.ops.launch_of(op).filter(|_| class.is_compute()) else { continue };
        let pass = if main.api.contains(&call) { Pass::Forward } else { Pass::Backward };
        match blocks.last_mut().filter(|block| !parted && block.pass == pass) {
            Some(block) => block.span = block.span.hull(span),
            None => blocks.push(Block { pass, micro_batch: 0, span, compute_ns: 0 }),
        }
        parted = false;
    }
    for blocks in &mut found {
        number(blocks);
    }
    found
}

/// Numbers the blocks of a step in order. What follows the last backward is no forward: the optimizer.
fn number(blocks: &mut Vec<Block>) {
    let until = blocks.iter().rposition(|block| block.pass == Pass::Backward).map_or(0, |last| last + 1);
    blocks.truncate(until);
    let mut next = [0_u32; 2];
    for block in blocks.iter_mut() {
        let [forward, backward] = &mut next;
        let count = if block.pass == Pass::Forward { forward } else { backward };
        block.micro_batch = *count;
        *count += 1;
    }
    let [forwards, backwards] = next;
    if forwards != backwards {
        blocks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Params, Rules, StageWork, analyze};
    use super::*;
    use crate::experiment::Experiment;
    use crate::trace::testing::Fixture;

    #[test]
    fn names_tell_direction_and_micro_batch() {
        assert_eq!(pass_of("forward mb 3"), Some((Pass::Forward, 3)));
        assert_eq!(pass_of("fwd_microbatch_12"), Some((Pass::Forward, 12)));
        assert_eq!(pass_of("fwd_mb_7"), Some((Pass::Forward, 7)));
        assert_eq!(pass_of("backward mb 0"), Some((Pass::Backward, 0)));
        assert_eq!(pass_of("bwd micro-batch 5"), Some((Pass::Backward, 5)));
        assert_eq!((pass_of("forward"), pass_of("mb 3"), pass_of("forward 3")), (None, None, None));
    }

    /// The first of two stages with two micro-batches, without ranges for them: F0 | F1 | B0 | B1, then the optimizer.
    fn unnamed(backward_thread: i64) -> StageWork {
        const SEND: &str = "ncclDevKernel_SendRecv";
        let mut fixture = Fixture::new();
        for (step, at) in [(0, 0), (1, 1000), (2, 2000)] {
            fixture.range(&format!("step {step}"), 1, at, at + 900);
            for (name, thread, start, end) in [
                ("gemm", 1, 100, 150),
                ("gemm", 1, 150, 190),
                (SEND, 1, 190, 200),
                ("gemm", 1, 200, 290),
                (SEND, 1, 290, 500),
                ("gemm", backward_thread, 500, 600),
                (SEND, 1, 600, 650),
                ("gemm", backward_thread, 650, 750),
                ("adam", 1, 750, 800),
            ] {
                let stream = if name == SEND { 20 } else { 7 };
                fixture.launched(name, stream, thread, at + start - 50, at + start, at + end);
            }
        }
        let mut experiment = Experiment::default();
        experiment.parallel.pp = Some(2);
        let params = Params { experiment: Some(experiment), rules: Rules::default(), ..Params::default() };
        let trace = fixture.build();
        let analysis = analyze(&trace, &params);
        StageWork::of(&trace, 0, &analysis.classes, &analysis.ranks[0]).unwrap()
    }

    #[test]
    fn without_names_exchanges_and_threads_tell_blocks_apart() {
        let work = unnamed(2);
        assert_eq!((work.source, work.steps.len()), (BlockSource::Exchanges, 3));
        let blocks: Vec<_> =
            work.steps[1].blocks().map(|b| (b.pass, b.micro_batch, b.span.start_ns, b.span.end_ns)).collect();
        let expected = [
            (Pass::Forward, 0, 1100, 1190),
            (Pass::Forward, 1, 1200, 1290),
            (Pass::Backward, 0, 1500, 1600),
            (Pass::Backward, 1, 1650, 1750),
        ];
        assert_eq!(blocks, expected);
    }

    #[test]
    fn blocks_that_cannot_be_told_apart_are_not_guessed() {
        let work = unnamed(1);
        assert_eq!(work.source, BlockSource::Nothing);
        assert!(work.steps.iter().all(|step| step.blocks().next().is_none() && step.phases.is_none()));
        assert!(work.steps.iter().all(|step| step.whole.exposed_ns == 270));
    }
}
