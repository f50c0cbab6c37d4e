//! What the user says of a run: model, batch, layout, number format; and what follows from it: FLOPs and peaks.
//!
//! Pure: nothing is read from disk here. [`Experiment`] has the shape of the settings file's sections of the same
//! names.

mod batch;
mod flops;
mod hugging_face;
mod labels;
mod model;
mod peaks;
mod presets;
mod rank_place;
mod shape;

pub use batch::{Batch, GpuSource, Parallel, Sequences};
pub use flops::{Convention, Counted, FlopCount, Recompute};
pub use hugging_face::model as model_from_config;
pub use labels::{Labelled, labelled, with_labels};
pub use model::Model;
pub use peaks::{Dtype, GpuSpec, NoRow};
pub use presets::{Preset, all as presets};
pub use rank_place::RankPlace;
pub use shape::{Mla, ModelShape, Moe, Parameters};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the user says of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Experiment {
    /// Name, conventions and what fits nowhere else.
    pub run: Run,
    /// The model.
    pub model: Model,
    /// Sequences of a step.
    pub batch: Batch,
    /// How the work is laid out over GPUs.
    pub parallel: Parallel,
    /// What a GPU could do at most.
    pub peak: PeakChoice,
    /// Where single ranks stand in the layout.
    pub ranks: Vec<RankPlace>,
    /// The file it was read from.
    pub source: Option<PathBuf>,
}

/// The section `[experiment]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// A name for the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Anything worth remembering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// What counts as the model's operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convention: Option<Convention>,
    /// What the backward pass computes again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recompute: Option<Recompute>,
    /// Number format of the matrix products.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// GPUs that work on a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u64>,
    /// Step time in milliseconds, instead of the captured one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_time_ms: Option<f64>,
}

/// The section `[peak]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PeakChoice {
    /// A GPU of the table, instead of the one named in the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// Peak of one GPU in TFLOPS, instead of the table's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tflops: Option<f64>,
    /// Use the peak with structured sparsity.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sparse: bool,
}

/// A setting that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} {why}")]
pub struct Invalid {
    /// The setting, as `section.key`.
    pub key: &'static str,
    /// What is wrong with it and what is allowed.
    pub why: String,
}

impl Invalid {
    pub(crate) const fn new(key: &'static str, why: String) -> Self {
        Self { key, why }
    }
}

/// Checks that a count lies in a range.
fn bounded(key: &'static str, value: Option<u64>, least: u64, most: u64) -> Result<(), Invalid> {
    match value {
        Some(n) if !(least..=most).contains(&n) => {
            Err(Invalid::new(key, format!("must be {least} to {most}, not {n}")))
        }
        _ => Ok(()),
    }
}

/// What of `model` the conventions count.
///
/// # Errors
/// See [`Model::shape`].
pub fn counted(model: &Model) -> Result<Counted, Invalid> {
    let merged = model.merged()?;
    let shape = model.shape()?;
    let computed = shape.as_ref().and_then(ModelShape::parameters);
    let idle = shape.as_ref().map_or(0.0, ModelShape::idle_expert_weights);
    let parameters = merged.parameters.or(computed.map(|of| of.total));
    let rest = merged.parameters.map(|all| all - idle).filter(|rest| *rest > 0.0);
    let active = merged.active_parameters.or(rest).or(computed.map(|of| of.active));
    Ok(Counted { parameters, active, shape })
}

impl Experiment {
    /// The convention in force: the chosen one; else PaLM's with a shape and the rough one without.
    pub fn convention(&self) -> Convention {
        let has_shape = || matches!(self.model.shape(), Ok(Some(_)));
        self.run.convention.unwrap_or_else(|| if has_shape() { Convention::Palm } else { Convention::Rough })
    }

    /// The recomputation in force.
    pub fn recompute(&self) -> Recompute {
        self.convention().recompute(self.run.recompute.unwrap_or_default())
    }

    /// True when nothing is said of the run.
    pub fn is_empty(&self) -> bool {
        *self == Self { source: self.source.clone(), ..Self::default() }
    }

    /// Says what is wrong with the settings, the first contradiction first.
    ///
    /// # Errors
    /// When a setting is out of its range or two contradict each other.
    pub fn check(&self) -> Result<(), Invalid> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything that is wrong with the settings; empty when they make sense.
    pub fn problems(&self) -> Vec<Invalid> {
        let positive = |key: &'static str, value: Option<f64>, most: f64, unit: &str| match value {
            Some(n) if !(n.is_finite() && n > 0.0 && n <= most) => {
                Err(Invalid::new(key, format!("must be above 0 and at most {most} {unit}, not {n}")))
            }
            _ => Ok(()),
        };
        let checks = [
            self.model.shape().map(|_| ()),
            bounded("experiment.gpus", self.run.gpus, 1, 10_000_000),
            positive("experiment.step_time_ms", self.run.step_time_ms, 1e9, "ms"),
            positive("peak.tflops", self.peak.tflops, 1e9, "TFLOPS"),
            self.batch.check(),
            self.parallel.check(self.run.gpus),
            rank_place::check(&self.ranks, &self.parallel),
            self.check_sequences(),
            self.check_peak(),
        ];
        checks.into_iter().filter_map(Result::err).collect()
    }

    fn check_peak(&self) -> Result<(), Invalid> {
        let Some(gpu) = &self.peak.gpu else { return Ok(()) };
        if self.peak.tflops.is_some() {
            return Err(Invalid::new("peak.gpu", "and peak.tflops say the same thing twice: keep one".to_owned()));
        }
        match GpuSpec::of(gpu) {
            Ok(_) => Ok(()),
            Err(NoRow::Slice) => Err(Invalid::new(
                "peak.gpu",
                format!("{gpu:?} is a slice of a card: give its share of the peak as peak.tflops"),
            )),
            Err(NoRow::Unknown) => {
                let known: Vec<&str> = GpuSpec::all().map(|row| row.name).collect();
                Err(Invalid::new("peak.gpu", format!("{gpu:?} is not in the table; known are {}", known.join(", "))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_parameters_replace_computed_ones_and_idle_experts_stay_out() {
        let preset = |parameters| Model { preset: Some("mixtral-8x7b".to_owned()), parameters, ..Model::default() };
        let computed = counted(&preset(None)).unwrap();
        let typed = counted(&preset(Some(47e9))).unwrap();
        let idle = computed.parameters.unwrap() - computed.active.unwrap();
        assert_eq!((typed.parameters, typed.active), (Some(47e9), Some(47e9 - idle)));
        let alone = counted(&Model { parameters: Some(125e6), ..Model::default() }).unwrap();
        assert_eq!((alone.parameters, alone.active, alone.shape), (Some(125e6), Some(125e6), None));
    }

    #[test]
    fn the_convention_follows_from_what_is_known() {
        let mut experiment = Experiment::default();
        experiment.model.parameters = Some(125e6);
        assert_eq!(experiment.convention(), Convention::Rough);
        experiment.model.preset = Some("llama-3-8b".to_owned());
        assert_eq!(experiment.convention(), Convention::Palm);
        experiment.run.convention = Some(Convention::Megatron2021);
        assert_eq!(experiment.recompute(), Recompute::Full);
    }

    #[test]
    fn a_peak_is_asked_for_in_one_way() {
        let check = |gpu: &str, tflops| {
            let peak = PeakChoice { gpu: Some(gpu.to_owned()), tflops, sparse: false };
            Experiment { peak, ..Experiment::default() }.check().map_err(|e| e.to_string())
        };
        assert_eq!(check("H100 PCIe", None), Ok(()));
        assert!(check("H100 PCIe", Some(756.0)).unwrap_err().contains("twice"));
        assert!(check("GTX 1080", None).unwrap_err().contains("H100 SXM"));
        assert!(check("A100 MIG 1g.5gb", None).unwrap_err().contains("slice"));
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let run = Run { gpus: Some(0), step_time_ms: Some(-1.0), ..Run::default() };
        let experiment = Experiment { run, ..Experiment::default() };
        let keys: Vec<&str> = experiment.problems().iter().map(|problem| problem.key).collect();
        assert_eq!(keys, ["experiment.gpus", "experiment.step_time_ms"]);
    }
}
