//! What has to be filled in before there is an MFU, and what makes one doubtful.

use crate::experiment::{Convention, Dtype};
use std::path::PathBuf;

/// An input that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The settings contradict themselves.
    Invalid(String),
    /// Nothing is said of the model.
    Model,
    /// These settings, which the convention needs.
    Fields(Convention, Vec<&'static str>),
    /// The length of a sequence.
    SequenceLength,
    /// How many sequences a step takes.
    Sequences,
    /// A per-rank batch, but GPUs that do not divide by the layout.
    Layout,
    /// No step is marked, and none typed.
    Steps,
    /// The steps are estimated, which is no basis for a rate.
    OnlyEstimatedSteps,
    /// The number format.
    Dtype,
    /// The capture names no GPU.
    GpuNotNamed,
    /// The table does not know this GPU.
    GpuUnknown(String),
    /// A slice of a card.
    GpuSlice(String),
    /// GPUs with different peaks.
    GpusDiffer(Vec<String>),
    /// The table has no peak for this card and format.
    NoPeak(&'static str, Dtype),
    /// The card has no sparse peak in this format.
    NoSparsePeak(&'static str, Dtype),
}

/// What makes a result doubtful.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// More than the peak.
    OverPeak,
    /// More than the best matrix product measured on this GPU, in TFLOPS.
    OverCeiling(f64),
    /// The peak is the sparse one.
    Sparse,
    /// The convention takes something for granted that does not hold.
    Convention(&'static str),
    /// What the table says of the card.
    Card(&'static str),
    /// Steps that are no typical ones cost much.
    Outliers(Slow),
    /// Other files came with settings of their own, which were not used.
    OtherSettings(Vec<PathBuf>),
}

/// All steps but warm-up and cut ones, outliers included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// Outliers among them.
    pub count: u64,
    /// Steps.
    pub of: u64,
    /// Mean step in nanoseconds.
    pub mean_ns: f64,
    /// Tokens per second at that pace.
    pub tokens_per_s: Option<f64>,
    /// MFU at that pace.
    pub mfu: Option<f64>,
}
