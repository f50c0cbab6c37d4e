//! What one rank did for its pipeline stage, step by step: blocks, and the bubble by phase.

use super::super::{Classes, RankAnalysis};
use super::blocks::{self, Block, BlockSource, Blocks, Pass};
use super::{Bubble, Pipeline};
use crate::trace::Trace;
use crate::units::{Span, share};
use serde::{Deserialize, Serialize};

/// Steps whose blocks are kept one by one: the first so many. Sums are kept of every step.
pub const BLOCK_STEPS: usize = 64;

/// What one rank did for its pipeline stage.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StageWork {
    /// What is known of the pipeline.
    pub pipeline: Pipeline,
    /// What the blocks are known by.
    pub source: BlockSource,
    /// One entry for each step of the rank; empty when no range marks the steps.
    pub steps: Vec<StageStep>,
}

/// One step of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StageStep {
    /// The window of the step on the export's clock.
    pub window: Span,
    /// The whole window.
    pub whole: PipelineTime,
    /// The window by phase; `None` without a forward and a backward block.
    pub phases: Option<Phases>,
    /// Forward blocks.
    pub forwards: u32,
    /// Backward blocks.
    pub backwards: u32,
    /// Compute within blocks, over all of them: what a micro-batch costs, without the optimizer.
    pub block_compute_ns: i64,
    /// The blocks, for the first [`BLOCK_STEPS`] steps.
    blocks: Blocks,
}

/// Time of a stage, of one window or summed over several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PipelineTime {
    /// Length.
    pub span_ns: i64,
    /// Covered by compute.
    pub compute_ns: i64,
    /// Of the bubble: a point-to-point kernel ran and no compute.
    pub exposed_ns: i64,
    /// Of the bubble: idle time that borders on that.
    pub idle_ns: i64,
}

/// A step in three phases, which tile its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Phases {
    /// Until the first backward block starts.
    pub warm_up: PipelineTime,
    /// From then to the end of the last forward block; empty when that ends first.
    pub steady: PipelineTime,
    /// The rest.
    pub cool_down: PipelineTime,
    /// When the steady state was, on the export's clock.
    pub steady_span: Span,
}

impl PipelineTime {
    /// The bubble.
    pub const fn bubble_ns(&self) -> i64 {
        self.exposed_ns.saturating_add(self.idle_ns)
    }

    /// Share of the bubble in its own time; `None` of an empty one.
    pub fn bubble_share(&self) -> Option<f64> {
        share(self.bubble_ns(), self.span_ns)
    }
}

impl std::ops::AddAssign for PipelineTime {
    fn add_assign(&mut self, other: Self) {
        self.span_ns = self.span_ns.saturating_add(other.span_ns);
        self.compute_ns = self.compute_ns.saturating_add(other.compute_ns);
        self.exposed_ns = self.exposed_ns.saturating_add(other.exposed_ns);
        self.idle_ns = self.idle_ns.saturating_add(other.idle_ns);
    }
}

impl StageStep {
    /// Its blocks in order of time; none behind the first [`BLOCK_STEPS`] steps.
    pub fn blocks(&self) -> impl Iterator<Item = Block> {
        (0..self.blocks.len()).filter_map(|at| self.blocks.get(at, self.window.start_ns))
    }
}

impl StageWork {
    /// What rank `rank` of `trace` did; `None` when the user declares no pipeline and no range names one.
    ///
    /// The bubble is that of the verdict. Cost: a pass over the rank's operations and ranges.
    pub fn of(trace: &Trace, rank: usize, classes: &Classes, numbers: &RankAnalysis) -> Option<Self> {
        let bubble = numbers.diagnosis.verdict.as_ref()?.bubble.as_ref()?;
        let Some(steps) = numbers.steps.as_ref().filter(|steps| !steps.estimated) else {
            return Some(Self { pipeline: bubble.pipeline, ..Self::default() });
        };
        let (source, blocks) = blocks::find(trace, rank, classes, numbers, steps);
        let of = |(at, (step, blocks)): (usize, (&super::super::Step, &Vec<Block>))| {
            StageStep::of(numbers, bubble, step.window, blocks, at < BLOCK_STEPS)
        };
        let steps = steps.steps.iter().zip(&blocks).enumerate().map(of).collect();
        Some(Self { pipeline: bubble.pipeline, source, steps })
    }
}

impl StageStep {
    fn of(numbers: &RankAnalysis, bubble: &Bubble, window: Span, blocks: &[Block], keeps: bool) -> Self {
        let idle = bubble.idle_spans(numbers, window);
        let time = |span: Span| PipelineTime {
            span_ns: span.len_ns(),
            compute_ns: numbers.partition(span).compute_ns(),
            exposed_ns: bubble.exposed.within(span),
            idle_ns: idle.iter().filter_map(|piece| piece.intersect(span)).map(Span::len_ns).sum(),
        };
        let phases = steady(window, blocks).map(|steady| Phases {
            warm_up: time(Span::new(window.start_ns, steady.start_ns)),
            steady: time(steady),
            cool_down: time(Span::new(steady.end_ns, window.end_ns)),
            steady_span: steady,
        });
        let count = |pass: Pass| u32::try_from(blocks.iter().filter(|b| b.pass == pass).count()).unwrap_or(u32::MAX);
        Self {
            window,
            whole: time(window),
            phases,
            forwards: count(Pass::Forward),
            backwards: count(Pass::Backward),
            block_compute_ns: blocks.iter().fold(0, |sum, block| block.compute_ns.saturating_add(sum)),
            blocks: if keeps { Blocks::of(blocks, window.start_ns) } else { Blocks::default() },
        }
    }
}

/// From the start of the first backward block to the end of the last forward block, within `window`.
fn steady(window: Span, blocks: &[Block]) -> Option<Span> {
    let of = |pass: Pass| blocks.iter().filter(move |block| block.pass == pass).map(|block| block.span);
    let start_ns = of(Pass::Backward).map(|span| span.start_ns).min()?.clamp(window.start_ns, window.end_ns);
    let end_ns = of(Pass::Forward).map(|span| span.end_ns).max()?.clamp(start_ns, window.end_ns);
    Some(Span::new(start_ns, end_ns))
}

#[cfg(test)]
mod tests {
    use super::super::super::{Params, analyze};
    use super::*;
    use crate::experiment::Experiment;
    use crate::trace::testing::Fixture;
    use proptest::prelude::*;

    proptest! {
        /// Whatever runs, and wherever the blocks are: phases tile the window, and each of their times sums to its own.
        #[test]
        fn phases_partition_the_window(
            ops in proptest::collection::vec((any::<bool>(), 0_i64..9, 1_i64..9), 2..30),
            blocks in proptest::collection::vec((any::<bool>(), -20_i64..300, 0_i64..60), 0..8),
            window in (0_i64..100, 0_i64..200),
        ) {
            let mut fixture = Fixture::new();
            let mut at = 0;
            for (exchange, gap, len) in &ops {
                let (name, stream) = if *exchange { ("ncclDevKernel_SendRecv", 20) } else { ("gemm", 7) };
                fixture.kernel(name, stream, at + gap, at + gap + len);
                at += gap + len;
            }
            let trace = fixture.build();
            let mut experiment = Experiment::default();
            experiment.parallel.pp = Some(4);
            let analysis = analyze(&trace, &Params { experiment: Some(experiment), ..Params::default() });
            let numbers = &analysis.ranks[0];
            let bubble = numbers.diagnosis.verdict.as_ref().unwrap().bubble.as_ref().unwrap();
            // One window over everything is what the verdict judges without steps.
            let all = StageStep::of(numbers, bubble, numbers.span, &[], true);
            prop_assert_eq!((all.whole.exposed_ns, all.whole.idle_ns), (bubble.exposed_ns, bubble.idle.total_ns()));
            let blocks: Vec<Block> = blocks.iter().map(|(forward, at, len)| Block {
                pass: if *forward { Pass::Forward } else { Pass::Backward },
                micro_batch: 0,
                span: Span::new(*at, at + len),
                compute_ns: 0,
            }).collect();
            let step = StageStep::of(numbers, bubble, Span::new(window.0, window.0 + window.1), &blocks, true);
            prop_assert_eq!(step.phases.is_some(), step.forwards > 0 && step.backwards > 0);
            if let Some(phases) = step.phases {
                let mut sum = phases.warm_up;
                sum += phases.steady;
                sum += phases.cool_down;
                prop_assert_eq!(sum, step.whole);
                prop_assert!(phases.steady.span_ns >= 0 && phases.steady_span.len_ns() == phases.steady.span_ns);
            }
        }
    }
}
