//! Sequences of a step and the layout of GPUs, and how the two must fit.

use super::{Experiment, Invalid, bounded};
use serde::{Deserialize, Serialize};

/// The section `[batch]`: either `sequences`, or `micro_batch` and what it is multiplied by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Batch {
    /// Sequences of a step, over all GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequences: Option<u64>,
    /// Sequences of a micro-batch on one data-parallel rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_batch: Option<u64>,
    /// Micro-batches of a step on one data-parallel rank: gradient accumulation, or what a pipeline is filled with.
    #[serde(alias = "gradient_accumulation", skip_serializing_if = "Option::is_none")]
    pub micro_batches: Option<u64>,
    /// Tokens of a sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence_length: Option<u64>,
}

/// The section `[parallel]`: sizes of the groups; what is left out is 1, and `dp` is what remains of the GPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parallel {
    /// Data parallel, sharded or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dp: Option<u64>,
    /// Tensor parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tp: Option<u64>,
    /// Pipeline stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pp: Option<u64>,
    /// Context parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cp: Option<u64>,
    /// Expert parallel; its groups are made of the others' GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ep: Option<u64>,
    /// Model chunks on each pipeline stage (interleaved schedule).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleave: Option<u64>,
}

/// Where the number of GPUs comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuSource {
    /// The setting `experiment.gpus`.
    Given,
    /// The product of the parallel sizes.
    Layout,
    /// The ranks that are open.
    RanksOpen,
}

/// Sequences of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequences {
    /// This many.
    Known(u64),
    /// Neither a global nor a per-rank number is given.
    NotGiven,
    /// Only a per-rank number is given, and the GPUs do not divide into groups of tp x pp x cp.
    LayoutUnclear,
}

impl Batch {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        bounded("batch.sequences", self.sequences, 1, 1 << 32)?;
        bounded("batch.micro_batch", self.micro_batch, 1, 1 << 24)?;
        bounded("batch.micro_batches", self.micro_batches, 1, 1 << 24)?;
        bounded("batch.sequence_length", self.sequence_length, 1, 1 << 32)
    }
}

impl Parallel {
    /// GPUs that hold one copy of the model: tp x pp x cp.
    pub fn copy_gpus(&self) -> u64 {
        [self.tp, self.pp, self.cp].into_iter().map(|size| size.unwrap_or(1)).product()
    }

    /// Ranks of the one communicator of a run that is data parallel and nothing else; `None` when there are several.
    pub fn only_communicator(&self, gpus: Option<u64>) -> Option<u32> {
        let alone = self.copy_gpus() == 1 && self.ep.unwrap_or(1) == 1;
        self.dp.or(gpus).filter(|_| alone).and_then(|ranks| u32::try_from(ranks).ok())
    }

    pub(super) fn check(&self, gpus: Option<u64>) -> Result<(), Invalid> {
        for (key, value) in [
            ("parallel.dp", self.dp),
            ("parallel.tp", self.tp),
            ("parallel.pp", self.pp),
            ("parallel.cp", self.cp),
            ("parallel.ep", self.ep),
            ("parallel.interleave", self.interleave),
        ] {
            bounded(key, value, 1, 1 << 16)?;
        }
        if self.interleave.is_some_and(|chunks| chunks > 1) && self.pp.unwrap_or(1) == 1 {
            return Err(Invalid::new("parallel.interleave", "means nothing with one pipeline stage".to_owned()));
        }
        let copy = self.copy_gpus();
        let named = "tp x pp x cp";
        let gpus = match (gpus, self.dp) {
            (Some(gpus), Some(dp)) if dp.checked_mul(copy) != Some(gpus) => {
                let why = format!("x {named} must be experiment.gpus: {dp} x {copy} is not {gpus}");
                return Err(Invalid::new("parallel.dp", why));
            }
            (Some(gpus), _) if !gpus.is_multiple_of(copy) => {
                let why = format!("must be a multiple of {named} = {copy}, not {gpus}");
                return Err(Invalid::new("experiment.gpus", why));
            }
            (Some(gpus), _) => gpus,
            (None, Some(dp)) => dp.saturating_mul(copy),
            (None, None) => return Ok(()),
        };
        match self.ep {
            Some(ep) if !gpus.is_multiple_of(ep) => {
                Err(Invalid::new("parallel.ep", format!("{ep} does not divide the {gpus} GPUs")))
            }
            _ => Ok(()),
        }
    }
}

impl Experiment {
    /// GPUs that work on a step, when `ranks_open` ranks are open, and where the number comes from.
    pub fn gpus(&self, ranks_open: u64) -> (u64, GpuSource) {
        match (self.run.gpus, self.parallel.dp) {
            (Some(gpus), _) => (gpus, GpuSource::Given),
            (None, Some(dp)) => (dp.saturating_mul(self.parallel.copy_gpus()), GpuSource::Layout),
            (None, None) => (ranks_open, GpuSource::RanksOpen),
        }
    }

    /// Sequences of a step over `gpus` GPUs.
    pub fn sequences(&self, gpus: u64) -> Sequences {
        if let Some(all) = self.batch.sequences {
            return Sequences::Known(all);
        }
        let Some(micro) = self.batch.micro_batch else { return Sequences::NotGiven };
        let copy = self.parallel.copy_gpus();
        match self.parallel.dp.or_else(|| gpus.is_multiple_of(copy).then(|| gpus / copy)) {
            Some(dp) => {
                Sequences::Known(micro.saturating_mul(self.batch.micro_batches.unwrap_or(1)).saturating_mul(dp))
            }
            None => Sequences::LayoutUnclear,
        }
    }

    /// Whatever the layout, at most every GPU holds a replica of its own.
    fn check_any_layout(&self, all: u64) -> Result<(), Invalid> {
        let (Some(micro), Some(count), Some(gpus)) = (self.batch.micro_batch, self.batch.micro_batches, self.run.gpus)
        else {
            return Ok(());
        };
        let of_one = micro.saturating_mul(count);
        if all.is_multiple_of(of_one) && all / of_one <= gpus {
            return Ok(());
        }
        let why = format!("must be micro_batch x micro_batches x dp: {micro} x {count} x at most {gpus} is not {all}");
        Err(Invalid::new("batch.sequences", why))
    }

    /// What is given of the batch must agree, as far as the GPUs are known without looking at a capture.
    pub(super) fn check_sequences(&self) -> Result<(), Invalid> {
        let Some(all) = self.batch.sequences else { return Ok(()) };
        let copy = self.parallel.copy_gpus();
        // Without any layout the GPUs may be laid out in whatever way fits.
        let laid_out = [self.parallel.tp, self.parallel.pp, self.parallel.cp].iter().any(Option::is_some);
        let given = self.run.gpus.filter(|gpus| laid_out && gpus.is_multiple_of(copy)).map(|gpus| gpus / copy);
        let (micro, count) = (self.batch.micro_batch, self.batch.micro_batches);
        let Some(dp) = self.parallel.dp.or(given) else { return self.check_any_layout(all) };
        let parts = dp.saturating_mul(micro.unwrap_or(1)).saturating_mul(count.unwrap_or(1));
        let why = match (micro, count) {
            (Some(micro), Some(count)) if parts != all => {
                format!("must be micro_batch x micro_batches x dp: {micro} x {count} x {dp} is not {all}")
            }
            _ if all.is_multiple_of(parts) => return Ok(()),
            (None, Some(count)) => format!("must divide into micro_batches x dp = {count} x {dp} parts, not {all}"),
            (Some(micro), None) => format!("must divide by micro_batch x dp = {micro} x {dp}, not {all}"),
            _ => format!("must divide over dp = {dp} ranks, not {all}"),
        };
        Err(Invalid::new("batch.sequences", why))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Run;
    use super::*;

    fn experiment(gpus: Option<u64>, batch: Batch, parallel: Parallel) -> Experiment {
        Experiment { run: Run { gpus, ..Run::default() }, batch, parallel, ..Experiment::default() }
    }

    fn error(gpus: Option<u64>, batch: Batch, parallel: Parallel) -> String {
        experiment(gpus, batch, parallel).check().unwrap_err().to_string()
    }

    #[test]
    fn a_batch_that_fits_no_layout_is_refused() {
        let batch = |sequences| Batch {
            sequences: Some(sequences),
            micro_batch: Some(1),
            micro_batches: Some(2),
            ..Batch::default()
        };
        let message = error(Some(2), batch(64), Parallel::default());
        assert!(message.contains("1 x 2 x at most 2 is not 64"), "{message}");
        assert!(experiment(Some(2), batch(4), Parallel::default()).check().is_ok());
        assert!(experiment(Some(2), batch(2), Parallel::default()).check().is_ok());
    }

    #[test]
    fn gpus_are_given_or_follow_from_the_layout_or_from_what_is_open() {
        let layout = Parallel { dp: Some(4), tp: Some(2), pp: Some(2), ..Parallel::default() };
        let of = |gpus, layout| experiment(gpus, Batch::default(), layout).gpus(3);
        assert_eq!(of(Some(16), layout.clone()), (16, GpuSource::Given));
        assert_eq!(of(None, layout), (16, GpuSource::Layout));
        assert_eq!(of(None, Parallel { tp: Some(2), ..Parallel::default() }), (3, GpuSource::RanksOpen));
    }

    #[test]
    fn sequences_of_a_rank_are_multiplied_over_the_copies_of_the_model() {
        let batch = Batch { micro_batch: Some(2), micro_batches: Some(8), ..Batch::default() };
        let layout = Parallel { tp: Some(2), pp: Some(2), ..Parallel::default() };
        let of = |gpus| experiment(None, batch.clone(), layout.clone()).sequences(gpus);
        assert_eq!((of(16), of(4), of(6)), (Sequences::Known(64), Sequences::Known(16), Sequences::LayoutUnclear));
        assert_eq!(Experiment::default().sequences(4), Sequences::NotGiven);
    }

    #[test]
    fn contradictions_are_told_with_the_numbers() {
        let layout = Parallel { dp: Some(4), tp: Some(2), ..Parallel::default() };
        assert!(error(Some(16), Batch::default(), layout.clone()).contains("4 x 2 is not 16"));
        let odd = Parallel { tp: Some(3), ..Parallel::default() };
        assert!(error(Some(16), Batch::default(), odd).contains("multiple of tp x pp x cp = 3"));
        let batch = Batch { sequences: Some(30), micro_batches: Some(4), ..Batch::default() };
        assert!(error(None, batch.clone(), layout.clone()).contains("4 x 4 parts"));
        assert!(error(None, Batch { sequences: Some(6), ..Batch::default() }, layout.clone()).contains("dp = 4 ranks"));
        let few = experiment(Some(8), Batch { sequences: Some(4), ..Batch::default() }, Parallel::default());
        assert_eq!(few.check(), Ok(()), "the layout is not known");
        let batch = Batch { sequences: Some(32), micro_batch: Some(1), ..batch };
        assert!(error(None, batch, layout.clone()).contains("1 x 4 x 4 is not 32"));
        let experts = Parallel { ep: Some(3), ..layout };
        assert!(error(None, Batch::default(), experts).contains("parallel.ep 3 does not divide the 8 GPUs"));
        let chunks = Parallel { interleave: Some(2), ..Parallel::default() };
        assert!(error(None, Batch::default(), chunks).contains("one pipeline stage"));
    }
}
