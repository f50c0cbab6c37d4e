//! Model and hardware FLOPs utilisation: what the user says of the run, joined with the steps that were captured.
//!
//! MFU = model FLOPs of a step / (step time x GPUs x peak of one GPU); HFU puts the executed FLOPs on top, recomputation
//! included. It belongs to the job, not to one file: tokens are those of all GPUs. Nothing is assumed: what was not
//! given is a [`Missing`] input, and what makes a result doubtful is a [`Doubt`].
//!
//! Cost: linear in the number of steps.

mod doubt;
mod peak;
#[cfg(test)]
mod tests;

pub use doubt::{Doubt, Missing, Slow};
pub use peak::Peak;

use super::launch::percentile;
use super::partition::median_of;
use super::scope::Basis;
use super::verdict::Losses;
use super::{Analysis, Area, Step, StepEdge, Steps};
use crate::experiment::{Convention, Counted, Dtype, Experiment, FlopCount, GpuSource, Recompute, Sequences, counted};
use crate::trace::Trace;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Utilisation of a job and everything it rests on. What is not known is `None`, and `missing` says why.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mfu {
    /// True when the user says anything of the run.
    pub has_experiment: bool,
    /// Name of the run.
    pub name: Option<String>,
    /// The file that the settings were read from.
    pub settings: Option<PathBuf>,
    /// What counts as the model's operations.
    pub convention: Option<Convention>,
    /// What the backward pass computes again.
    pub recompute: Recompute,
    /// Number format of the matrix products.
    pub dtype: Option<Dtype>,
    /// Parameters in all.
    pub parameters: Option<f64>,
    /// Parameters that a token passes through.
    pub active_parameters: Option<f64>,
    /// Operations per token.
    pub count: Option<FlopCount>,
    /// Tokens of a sequence.
    pub sequence_length: Option<u64>,
    /// Tokens of a step, over all GPUs.
    pub tokens_per_step: Option<u64>,
    /// Operations that the model needs for a step, over all GPUs.
    pub model_flops_per_step: Option<f64>,
    /// Operations executed for a step, recomputation included.
    pub hardware_flops_per_step: Option<f64>,
    /// GPUs that work on a step; 0 when no rank is open and none is given.
    pub gpus: u64,
    /// Where that number comes from.
    pub gpu_source: Option<GpuSource>,
    /// Time of a step.
    pub step: Option<StepTime>,
    /// Tokens per second, over all GPUs.
    pub tokens_per_s: Option<f64>,
    /// Tokens per second and GPU.
    pub tokens_per_s_per_gpu: Option<f64>,
    /// Model TFLOP/s per GPU.
    pub achieved_tflops_per_gpu: Option<f64>,
    /// Executed TFLOP/s per GPU.
    pub hardware_tflops_per_gpu: Option<f64>,
    /// What one GPU could do at most.
    pub peak: Option<Peak>,
    /// Model FLOPs utilisation, 0 to 1.
    pub mfu: Option<f64>,
    /// Hardware FLOPs utilisation, 0 to 1.
    pub hfu: Option<f64>,
    /// MFU at the best matrix product measured on this GPU: what is left above it no program has reached.
    pub ceiling: Option<f64>,
    /// What has to be filled in.
    pub missing: Vec<Missing>,
    /// What to be careful about.
    pub doubts: Vec<Doubt>,
    /// Where the time of the typical step went besides computing, largest first.
    pub losses: Vec<Loss>,
    /// The same step by every convention.
    pub compared: Vec<Compared>,
}

/// Time of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTime {
    /// Median in nanoseconds: of the rank's steps that are neither warm-up nor cut; of several ranks the median of
    /// theirs. What the user typed, when `typed`.
    pub median_ns: f64,
    /// A tenth of the typical steps took at most this long; unknown for a typed time.
    pub p10_ns: Option<i64>,
    /// Nine tenths of the typical steps took at most this long; unknown for a typed time.
    pub p90_ns: Option<i64>,
    /// Typical steps counted, over all ranks.
    pub steps: u64,
    /// True when the user typed the time.
    pub typed: bool,
}

/// Outliers are worth a word when they make the mean step this much longer than the median one.
const OUTLIERS_COST: f64 = 1.05;

/// Time of the typical step that went to something else than computing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// What it went to.
    pub area: Area,
    /// Share of the step, 0 to 1; of several ranks the mean.
    pub share: f64,
    /// MFU at most, if this loss alone vanished.
    pub mfu_if_gone: Option<f64>,
    /// MFU at most, if this loss and all larger ones vanished.
    pub mfu_if_gone_with_larger: Option<f64>,
}

/// The step by one convention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The convention.
    pub convention: Convention,
    /// Operations per token; `None` when it needs settings that are not given.
    pub count: Option<FlopCount>,
    /// MFU by it.
    pub mfu: Option<f64>,
    /// HFU by it.
    pub hfu: Option<f64>,
}

/// MFU if a loss of `share` of the step vanished and nothing else changed; `None` when nothing would be left.
pub fn mfu_without(mfu: Option<f64>, share: f64) -> Option<f64> {
    (0.0..1.0).contains(&share).then_some(mfu? / (1.0 - share))
}

impl Mfu {
    /// Nanoseconds that the model FLOPs of a step take at the peak; `None` when the MFU is not known.
    pub fn ideal_step_ns(&self) -> Option<f64> {
        Some(self.mfu? * self.step.as_ref()?.median_ns)
    }

    /// Utilisation of the job that `captures` are part of; `experiment` is what the user says of it.
    pub fn of(captures: &[(&Trace, &Analysis)], experiment: Option<&Experiment>) -> Self {
        let nothing = Experiment::default();
        let said = experiment.unwrap_or(&nothing);
        let ranks_open: usize = captures.iter().map(|(trace, _)| trace.ranks.len()).sum();
        let (gpus, gpu_source) = said.gpus(ranks_open as u64);
        let mut mfu = Self {
            has_experiment: experiment.is_some_and(|e| !e.is_empty()),
            name: said.run.name.clone(),
            settings: said.source.clone(),
            recompute: said.recompute(),
            dtype: said.run.dtype,
            gpus,
            gpu_source: Some(gpu_source),
            ..Self::default()
        };
        mfu.add_step_time(captures, said);
        mfu.add_flops(said);
        mfu.add_peak(captures, said);
        mfu.add_rates();
        mfu.add_losses(captures);
        mfu.add_doubts(captures);
        mfu
    }

    /// The experiment of the first capture that came with one.
    pub fn experiment_of<'a>(captures: &[(&Trace, &'a Analysis)]) -> Option<&'a Experiment> {
        captures.iter().find_map(|(_, analysis)| analysis.experiment.as_ref())
    }

    /// MFU of a step that took `span_ns`.
    pub fn of_step(&self, span_ns: i64) -> Option<f64> {
        // The same step by another length: the one MFU scales.
        finite(self.ideal_step_ns()? / (span_ns > 0).then_some(span_ns as f64)?)
    }

    /// MFU at most, if nothing but computing were left of the typical step.
    pub fn if_only_compute(&self) -> Option<f64> {
        self.losses.last().map_or(self.mfu, |last| last.mfu_if_gone_with_larger)
    }

    fn add_step_time(&mut self, captures: &[(&Trace, &Analysis)], said: &Experiment) {
        if let Some(ms) = said.run.step_time_ms {
            self.step = Some(StepTime { median_ns: ms * 1e6, p10_ns: None, p90_ns: None, steps: 0, typed: true });
            return;
        }
        let all: Vec<&Steps> = steps(captures).collect();
        let mut windows: Vec<i64> = all
            .iter()
            .flat_map(|steps| steps.steps.iter().filter(|step| step.typical).map(|step| step.window.len_ns()))
            .collect();
        match median_of(all.iter().map(|steps| steps.typical.median_span_ns).collect()) {
            Some(median) if median > 0 => {
                self.step = Some(StepTime {
                    median_ns: median as f64,
                    p10_ns: percentile(&mut windows, 10),
                    p90_ns: percentile(&mut windows, 90),
                    steps: windows.len() as u64,
                    typed: false,
                });
            }
            _ => {
                let any = captures.iter().flat_map(|(_, a)| &a.ranks).any(|rank| rank.steps.is_some());
                self.missing.push(if any { Missing::OnlyEstimatedSteps } else { Missing::Steps });
            }
        }
    }

    fn add_flops(&mut self, said: &Experiment) {
        self.sequence_length = said.batch.sequence_length;
        let model = match counted(&said.model) {
            Ok(model) => model,
            Err(invalid) => {
                self.missing.push(Missing::Invalid(invalid.to_string()));
                return;
            }
        };
        (self.parameters, self.active_parameters) = (model.parameters, model.active);
        if model == Counted::default() {
            self.missing.push(Missing::Model);
        } else {
            let convention = said.convention();
            self.convention = Some(convention);
            self.doubts.extend(model.shape.and_then(|shape| convention.doubt(&shape)).map(Doubt::Convention));
        }
        self.tokens_per_step = match (said.batch.sequence_length, said.sequences(self.gpus)) {
            (Some(length), Sequences::Known(sequences)) => Some(length.saturating_mul(sequences)),
            (length, sequences) => {
                self.missing.extend(length.is_none().then_some(Missing::SequenceLength));
                self.missing.extend(match sequences {
                    Sequences::Known(_) => None,
                    Sequences::NotGiven => Some(Missing::Sequences),
                    Sequences::LayoutUnclear => Some(Missing::Layout),
                });
                None
            }
        };
        let (Some(convention), Some(length)) = (self.convention, said.batch.sequence_length) else { return };
        match convention.count(&model, length as f64) {
            Ok(count) => self.count = Some(count),
            Err(fields) => self.missing.push(Missing::Fields(convention, fields)),
        }
        self.compared = Convention::ALL
            .map(|convention| Compared {
                convention,
                count: convention.count(&model, length as f64).ok(),
                mfu: None,
                hfu: None,
            })
            .to_vec();
    }

    fn add_rates(&mut self) {
        let tokens = self.tokens_per_step.map(|tokens| tokens as f64);
        let gpus = Some(self.gpus as f64).filter(|gpus| *gpus > 0.0);
        let seconds = self.step.map(|step| step.median_ns / 1e9);
        let rate = |amount: Option<f64>| finite(amount? / seconds?);
        let per_gpu = |amount: Option<f64>| finite(amount? / gpus?);
        let flops = |count: Option<FlopCount>| Some(count?.model() * tokens?);
        let recompute = self.recompute;
        let executed = |count: Option<FlopCount>, by: Recompute| Some(count?.hardware(by) * tokens?);
        let tflops = |flops: Option<f64>| per_gpu(rate(flops)).map(|per_second| per_second / 1e12);
        let peak = self.peak.map(|peak| peak.tflops);
        let of_peak = |tflops: Option<f64>| finite(tflops? / peak?);
        self.model_flops_per_step = flops(self.count);
        self.hardware_flops_per_step = executed(self.count, recompute);
        self.tokens_per_s = rate(tokens);
        self.tokens_per_s_per_gpu = per_gpu(self.tokens_per_s);
        self.achieved_tflops_per_gpu = tflops(self.model_flops_per_step);
        self.hardware_tflops_per_gpu = tflops(self.hardware_flops_per_step);
        self.mfu = of_peak(self.achieved_tflops_per_gpu);
        self.hfu = of_peak(self.hardware_tflops_per_gpu);
        for by in &mut self.compared {
            by.mfu = of_peak(tflops(flops(by.count)));
            by.hfu = of_peak(tflops(executed(by.count, by.convention.recompute(recompute))));
        }
        let best = self.peak.and_then(|p| p.row?.ceiling_tflops(p.dtype?).filter(|_| !p.sparse));
        self.ceiling = of_peak(best);
    }

    fn add_losses(&mut self, captures: &[(&Trace, &Analysis)]) {
        let verdicts = captures.iter().flat_map(|(_, a)| &a.ranks).filter_map(|rank| rank.diagnosis.verdict.as_ref());
        let all: Vec<&Losses> =
            verdicts.filter(|verdict| verdict.basis == Basis::TypicalStep).map(|verdict| &verdict.losses).collect();
        let mean = |area: Area| all.iter().filter_map(|l| l.share(area)).sum::<f64>() / all.len() as f64;
        let mut losses: Vec<(Area, f64)> = Area::LOSSES.map(|area| (area, mean(area))).to_vec();
        losses.retain(|(_, share)| share.is_finite() && *share > 0.0);
        losses.sort_by(|(a_area, a), (b_area, b)| b.total_cmp(a).then(a_area.cmp(b_area)));
        let mut gone = 0.0;
        for (area, share) in losses {
            gone += share;
            self.losses.push(Loss {
                area,
                share,
                mfu_if_gone: mfu_without(self.mfu, share),
                mfu_if_gone_with_larger: mfu_without(self.mfu, gone),
            });
        }
    }

    fn add_doubts(&mut self, captures: &[(&Trace, &Analysis)]) {
        if let Some(peak) = self.peak {
            self.doubts.extend(peak.sparse.then_some(Doubt::Sparse));
            self.doubts.extend(peak.row.map(|row| row.note).filter(|note| !note.is_empty()).map(Doubt::Card));
        }
        let most = self.mfu.unwrap_or(0.0).max(self.hfu.unwrap_or(0.0));
        if most > 1.0 {
            self.doubts.push(Doubt::OverPeak);
        } else if let (Some(ceiling), Some(peak)) = (self.ceiling.filter(|ceiling| most > *ceiling), self.peak) {
            self.doubts.push(Doubt::OverCeiling(ceiling * peak.tflops));
        }
        self.doubts.extend(self.slow(captures).map(Doubt::Outliers));
        let others: BTreeSet<PathBuf> = captures
            .iter()
            .filter_map(|(_, analysis)| analysis.experiment.as_ref()?.source.clone())
            .filter(|source| self.settings.as_ref().is_some_and(|used| used != source))
            .collect();
        if !others.is_empty() {
            self.doubts.push(Doubt::OtherSettings(others.into_iter().collect()));
        }
    }

    /// What the job reaches with its outlier steps, when that is much less.
    fn slow(&self, captures: &[(&Trace, &Analysis)]) -> Option<Slow> {
        let median_ns = self.step.filter(|step| !step.typed)?.median_ns;
        let counted = |step: &&Step| !matches!(step.edge, Some(StepEdge::WarmUp | StepEdge::Cut));
        let all = || steps(captures).flat_map(|steps| &steps.steps).filter(counted);
        let of = all().count() as u64;
        let count = all().filter(|step| step.edge == Some(StepEdge::Outlier)).count() as u64;
        let mean_ns = all().map(|step| step.window.len_ns() as f64).sum::<f64>() / of as f64;
        let pace = median_ns / mean_ns;
        (count > 0 && mean_ns > median_ns * OUTLIERS_COST).then(|| Slow {
            count,
            of,
            mean_ns,
            tokens_per_s: self.tokens_per_s.map(|rate| rate * pace),
            mfu: self.mfu.map(|mfu| mfu * pace),
        })
    }
}

/// Steps of every rank, without estimated ones.
fn steps<'a>(captures: &[(&'a Trace, &'a Analysis)]) -> impl Iterator<Item = &'a Steps> {
    let ranks = captures.iter().flat_map(|(_, analysis)| &analysis.ranks);
    ranks.filter_map(|rank| rank.steps.as_ref()).filter(|steps| !steps.estimated)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
