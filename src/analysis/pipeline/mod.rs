//! Pipeline parallelism: whether there is any, and the bubble it costs.
//!
//! Point-to-point kernels alone do not tell: they also serve other layouts. So they count as bubble only when the user
//! declares pipeline stages or an NVTX range names them.
//!
//! Theory of the one-forward-one-backward schedule with p stages, m micro-batches and v chunks a stage: the bubble is
//! (p-1)/(v m + p-1) of the step.

mod blocks;
mod bubble;
mod stage;

pub use blocks::{Block, BlockSource, Blocks, Pass};
pub use bubble::Bubble;
pub use stage::{BLOCK_STEPS, Phases, PipelineTime, StageStep, StageWork};

use super::scope::{Scope, Window};
use crate::experiment::Experiment;
use crate::trace::{NameId, Thread, Trace};
use regex::Regex;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Names of ranges that speak of pipeline stages.
const STAGE_NAMES: &str = r"(?ix)
    pipeline[\s_.:-]?(parallel|stage|rank|schedule|flush|bubble)
    | \bpp[\s_-]?(stage|rank) | \b1f1b\b | (send|recv)_(forward|backward) | stage\s*\d+\s*(of|/)\s*\d+";
/// `stage 2 of 4`.
const STAGE_OF: &str = r"(?i)stage\s*\d+\s*(?:of|/)\s*(\d+)";

static STAGE_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(STAGE_NAMES).ok());
static STAGES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(STAGE_OF).ok());

/// What is known of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pipeline {
    /// Stages, p.
    pub stages: Option<u32>,
    /// Micro-batches a step, m.
    pub micro_batches: Option<u32>,
    /// Chunks of layers a stage, v; 1 without interleaving.
    pub interleave: Option<u32>,
    /// True when the user said so, not a range's name.
    pub declared: bool,
}

impl Pipeline {
    /// The pipeline that the user declares or that ranges of the process (with these distinct names) name; `None` when
    /// neither does.
    pub(super) fn find(
        trace: &Trace,
        process: usize,
        scope: &Scope,
        experiment: Option<&Experiment>,
        names: &[NameId],
    ) -> Option<Self> {
        let declared = experiment.and_then(declared);
        let named = named(trace, process, scope, names);
        match (declared, named) {
            (Some(said), named) => {
                let micro_batches = said.micro_batches.or(named.and_then(|n| n.micro_batches));
                Some(Self { micro_batches, ..said })
            }
            (None, named) => named,
        }
    }

    /// Share of the step that the schedule leaves idle, when stages and micro-batches are known.
    pub fn theory(&self) -> Option<f64> {
        let (p, m) = (f64::from(self.stages?), f64::from(self.micro_batches?));
        let chunks = f64::from(self.chunks());
        Some((p - 1.0) / (chunks * m + p - 1.0)).filter(|share| share.is_finite() && *share >= 0.0)
    }

    /// The same without interleaving, whatever the chunks: (p-1)/(m+p-1).
    pub fn plain_theory(&self) -> Option<f64> {
        Self { interleave: None, ..*self }.theory()
    }

    /// Chunks of layers a stage, at least 1.
    pub fn chunks(&self) -> u32 {
        self.interleave.unwrap_or(1).max(1)
    }
}

/// Pipeline stages in the user's description of the run.
fn declared(experiment: &Experiment) -> Option<Pipeline> {
    let count = |value: Option<u64>| value.and_then(|n| u32::try_from(n).ok());
    let stages = count(experiment.parallel.pp).filter(|stages| *stages > 1)?;
    Some(Pipeline {
        stages: Some(stages),
        micro_batches: count(experiment.batch.micro_batches),
        interleave: count(experiment.parallel.interleave),
        declared: true,
    })
}

/// What the names of ranges tell.
fn named(trace: &Trace, process: usize, scope: &Scope, names: &[NameId]) -> Option<Pipeline> {
    let (stage_name, stages_of) = (STAGE_NAME.as_ref()?, STAGES.as_ref()?);
    let mut speaking = names.iter().map(|id| trace.name(*id)).filter(|name| stage_name.is_match(name)).peekable();
    speaking.peek()?;
    let stages = speaking.filter_map(|name| stages_of.captures(name)?.get(1)?.as_str().parse().ok()).max();
    let threads = trace.threads.iter().filter(|thread| thread.process == process);
    let micro_batches = threads.filter_map(|thread| micro_batches(trace, thread, scope)).max();
    Some(Pipeline { stages, micro_batches, interleave: None, declared: false })
}

/// Distinct micro-batches whose forward ranges begin in one window: the most of any window.
fn micro_batches(trace: &Trace, thread: &Thread, scope: &Scope) -> Option<u32> {
    let mut known: FxHashMap<NameId, Option<u32>> = FxHashMap::default();
    let of_window = |window: &Window, known: &mut FxHashMap<NameId, Option<u32>>| {
        let first = thread.nvtx.start_ns.partition_point(|start| *start < window.host.start_ns);
        let last = thread.nvtx.start_ns.partition_point(|start| *start < window.host.end_ns);
        let number = |id: &NameId| {
            let number = || blocks::pass_of(trace.name(*id)).filter(|(pass, _)| *pass == Pass::Forward).map(|(_, n)| n);
            *known.entry(*id).or_insert_with(number)
        };
        let names = thread.nvtx.name.get(first..last).unwrap_or(&[]);
        names.iter().filter_map(number).collect::<BTreeSet<u32>>().len()
    };
    let most = scope.windows.iter().map(|window| of_window(window, &mut known)).max()?;
    u32::try_from(most).ok().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theory_is_that_of_the_schedule() {
        let of =
            |stages, micro_batches, interleave| Pipeline { stages, micro_batches, interleave, declared: true }.theory();
        assert!((of(Some(4), Some(8), None).unwrap() - 3.0 / 11.0).abs() < 1e-12);
        assert!((of(Some(4), Some(32), Some(1)).unwrap() - 3.0 / 35.0).abs() < 1e-12);
        assert!((of(Some(4), Some(8), Some(2)).unwrap() - 3.0 / 19.0).abs() < 1e-12);
        let both = Pipeline { stages: Some(4), micro_batches: Some(8), interleave: Some(2), declared: true };
        assert_eq!(both.plain_theory(), Some(3.0 / 11.0));
        assert_eq!((of(None, Some(8), None), of(Some(4), None, None)), (None, None));
    }

    #[test]
    fn only_names_of_pipeline_stages_count() {
        let is = |name: &str| STAGE_NAME.as_ref().unwrap().is_match(name);
        for name in ["pipeline stage 1 of 4", "PipelineParallel.step", "pp_rank 3", "recv_forward", "1F1B"] {
            assert!(is(name), "{name}");
        }
        for name in ["data pipeline", "input_pipeline.next", "stage 2", "app rank", "forward"] {
            assert!(!is(name), "{name}");
        }
    }
}
