//! MFU and HFU as JSON keys and text; the window takes its words from here too.

use super::table::table;
use crate::analysis::{Doubt, Loss, Mfu, Missing, Peak};
use crate::experiment::{Convention, GpuSource};
use crate::format;
use serde::Serialize;

/// Utilisation of the job. Unknown numbers are null, and `missing` says what to fill in.
#[derive(Debug, Serialize)]
pub struct MfuReport {
    /// Name of the run.
    pub name: Option<String>,
    /// The file that the settings were read from.
    pub settings: Option<String>,
    /// What counts as the model's operations.
    pub convention: Option<&'static str>,
    /// What that convention counts.
    pub convention_counts: Option<&'static str>,
    /// Operations of the attention core per layer, pair of tokens and unit of width: 12 full, 6 causal, 0 not counted.
    pub attention_factor: Option<u8>,
    /// What the backward pass computes again.
    pub recompute: &'static str,
    /// Parameters in all.
    pub parameters: Option<f64>,
    /// Parameters that a token passes through.
    pub active_parameters: Option<f64>,
    /// Operations that the model needs per token.
    pub model_flops_per_token: Option<f64>,
    /// Operations that the model needs per step.
    pub model_flops_per_step: Option<f64>,
    /// Operations executed per step.
    pub hardware_flops_per_step: Option<f64>,
    /// Tokens of a step, over all GPUs.
    pub tokens_per_step: Option<u64>,
    /// Tokens of a sequence.
    pub sequence_length: Option<u64>,
    /// GPUs that work on a step.
    pub gpus: u64,
    /// Where that number comes from.
    pub gpus_source: Option<GpuSource>,
    /// Median step time.
    pub step_time_ns: Option<f64>,
    /// A tenth of the typical steps took at most this long.
    pub step_time_p10_ns: Option<i64>,
    /// Nine tenths of the typical steps took at most this long.
    pub step_time_p90_ns: Option<i64>,
    /// True when the user typed the step time.
    pub step_time_typed: bool,
    /// Tokens per second.
    pub tokens_per_s: Option<f64>,
    /// Tokens per second and GPU.
    pub tokens_per_s_per_gpu: Option<f64>,
    /// Model TFLOP/s per GPU.
    pub achieved_tflops_per_gpu: Option<f64>,
    /// Executed TFLOP/s per GPU.
    pub hardware_tflops_per_gpu: Option<f64>,
    /// Peak of one GPU.
    pub peak_tflops: Option<f64>,
    /// Where the peak comes from.
    pub peak_source: Option<String>,
    /// Model FLOPs utilisation.
    pub mfu: Option<f64>,
    /// Hardware FLOPs utilisation.
    pub hfu: Option<f64>,
    /// MFU at the best matrix product measured on this GPU.
    pub ceiling: Option<f64>,
    /// Where the rest of the step went, largest first.
    pub losses: Vec<LossReport>,
    /// The same step by every convention.
    pub conventions: Vec<ConventionReport>,
    /// What to fill in.
    pub missing: Vec<String>,
    /// What to be careful about.
    pub doubts: Vec<String>,
    #[serde(skip)]
    numbers: Mfu,
}

/// A loss, and the MFU without it.
#[derive(Debug, Serialize)]
pub struct LossReport {
    /// Stable word.
    pub class: &'static str,
    /// Share of the typical step.
    pub share: f64,
    /// MFU at most, if it vanished.
    pub mfu_if_gone: Option<f64>,
    /// MFU at most, if it and all larger ones vanished.
    pub mfu_if_gone_with_larger: Option<f64>,
}

/// One convention's answer.
#[derive(Debug, Serialize)]
pub struct ConventionReport {
    /// Stable word.
    pub convention: &'static str,
    /// Operations that the model needs per token.
    pub model_flops_per_token: Option<f64>,
    /// See [`MfuReport::attention_factor`].
    pub attention_factor: Option<u8>,
    /// MFU by it.
    pub mfu: Option<f64>,
    /// HFU by it.
    pub hfu: Option<f64>,
}

impl MfuReport {
    /// The keys of `mfu`.
    pub(super) fn of(numbers: Mfu) -> Self {
        let convention = numbers.convention;
        Self {
            name: numbers.name.clone(),
            settings: numbers.settings.as_ref().map(|path| path.display().to_string()),
            convention: convention.map(Convention::key),
            convention_counts: convention.map(Convention::about),
            attention_factor: numbers.count.map(|count| count.attention_factor),
            recompute: numbers.recompute.text(),
            parameters: numbers.parameters,
            active_parameters: numbers.active_parameters,
            model_flops_per_token: numbers.count.map(|count| count.model()),
            model_flops_per_step: numbers.model_flops_per_step,
            hardware_flops_per_step: numbers.hardware_flops_per_step,
            tokens_per_step: numbers.tokens_per_step,
            sequence_length: numbers.sequence_length,
            gpus: numbers.gpus,
            gpus_source: numbers.gpu_source,
            step_time_ns: numbers.step.map(|step| step.median_ns),
            step_time_p10_ns: numbers.step.and_then(|step| step.p10_ns),
            step_time_p90_ns: numbers.step.and_then(|step| step.p90_ns),
            step_time_typed: numbers.step.is_some_and(|step| step.typed),
            tokens_per_s: numbers.tokens_per_s,
            tokens_per_s_per_gpu: numbers.tokens_per_s_per_gpu,
            achieved_tflops_per_gpu: numbers.achieved_tflops_per_gpu,
            hardware_tflops_per_gpu: numbers.hardware_tflops_per_gpu,
            peak_tflops: numbers.peak.map(|peak| peak.tflops),
            peak_source: numbers.peak.as_ref().map(peak_source),
            mfu: numbers.mfu,
            hfu: numbers.hfu,
            ceiling: numbers.ceiling,
            losses: numbers.losses.iter().map(LossReport::of).collect(),
            conventions: numbers
                .compared
                .iter()
                .map(|by| ConventionReport {
                    convention: by.convention.key(),
                    model_flops_per_token: by.count.map(|count| count.model()),
                    attention_factor: by.count.map(|count| count.attention_factor),
                    mfu: by.mfu,
                    hfu: by.hfu,
                })
                .collect(),
            missing: numbers.missing.iter().map(missing_text).collect(),
            doubts: numbers.doubts.iter().map(doubt_text).collect(),
            numbers,
        }
    }

    /// The numbers, when the user says anything of the run.
    pub(super) fn numbers(&self) -> Option<&Mfu> {
        self.numbers.has_experiment.then_some(&self.numbers)
    }

    /// Where the settings came from; `None` when no file was read.
    pub(super) fn source(&self) -> Option<String> {
        let name = self.name.as_ref().map(|name| format!(", \"{}\"", format::one_line(name, 60)));
        Some(format!("Settings from {}{}", self.settings.as_ref()?, name.unwrap_or_default()))
    }

    /// The section as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::from("\nMFU\n");
        if let Some(source) = self.source() {
            text.push_str(&format!("  {source}\n"));
        }
        if !self.numbers.has_experiment {
            text.push_str(&format!("  {NO_EXPERIMENT}\n"));
            return text;
        }
        let rows = lines(&self.numbers).into_iter().map(|line| vec![line.name.to_owned(), line.value, line.note]);
        text.push_str(&left_notes(rows.collect()));
        for line in self.missing.iter().chain(&self.doubts) {
            text.push_str(&format!("  {line}\n"));
        }
        for rows in [self.loss_rows(), self.convention_rows()].iter().filter(|rows| !rows.is_empty()) {
            text.push_str(&format!("\n{}", table("  ", rows)));
        }
        text
    }

    /// What costs MFU, below a row of column names; empty without an MFU or a loss.
    pub(super) fn loss_rows(&self) -> Vec<Vec<String>> {
        if self.losses.is_empty() || self.mfu.is_none() {
            return Vec::new();
        }
        let head = ["MFU lost to", "share of step", "at most without it", "without it and those above"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(self.numbers.losses.iter().map(|loss| {
            vec![
                loss.area.text().to_owned(),
                format::percent(Some(loss.share)),
                format::percent(loss.mfu_if_gone),
                format::percent(loss.mfu_if_gone_with_larger),
            ]
        }));
        rows
    }

    /// The answer of every convention, below a row of column names; empty without any.
    pub(super) fn convention_rows(&self) -> Vec<Vec<String>> {
        if self.conventions.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![["By convention", "per token", "attention", "MFU", "HFU"].map(str::to_owned).to_vec()];
        rows.extend(self.numbers.compared.iter().map(|by| {
            vec![
                by.convention.text().to_owned(),
                format::amount(by.count.map(|count| count.model()), "FLOP"),
                by.count.map_or(format::UNKNOWN, |count| attention_text(count.attention_factor)).to_owned(),
                format::percent(by.mfu),
                format::percent(by.hfu),
            ]
        }));
        rows
    }
}

impl LossReport {
    fn of(loss: &Loss) -> Self {
        Self {
            class: loss.area.key(),
            share: loss.share,
            mfu_if_gone: loss.mfu_if_gone,
            mfu_if_gone_with_larger: loss.mfu_if_gone_with_larger,
        }
    }
}

/// What to do when nothing is said of the run.
pub const NO_EXPERIMENT: &str = "- (unknown: say in stepscope.toml beside the export, or with --settings FILE, what was trained: [model], \
                                 [batch] and experiment.dtype)";

/// A line of the MFU table.
#[derive(Debug, Clone)]
pub struct MfuLine {
    /// What it is.
    pub name: &'static str,
    /// Its value, with unit.
    pub value: String,
    /// Where it comes from; empty when that is clear.
    pub note: String,
    /// What it means.
    pub about: &'static str,
}

/// The table: what was done, how fast, and against which peak.
pub fn lines(mfu: &Mfu) -> Vec<MfuLine> {
    let line = |name, value, note, about| MfuLine { name, value, note, about };
    let plain = |name, value, about| line(name, value, String::new(), about);
    let whole = |n: Option<u64>| n.map_or_else(|| format::UNKNOWN.to_owned(), format::count);
    let step = mfu.step;
    let length = mfu.sequence_length.map(|length| format!("in sequences of {}", format::count(length)));
    let mut all = vec![
        line(
            "MFU",
            format::percent(mfu.mfu),
            convention_note(mfu),
            "Model FLOPs per step / (step time x GPUs x peak).",
        ),
        line(
            "HFU",
            format::percent(mfu.hfu),
            format!("recompute: {}", mfu.recompute.text()),
            "Executed FLOPs per step, recomputation included / (step time x GPUs x peak).",
        ),
        line(
            "Tokens per step",
            whole(mfu.tokens_per_step),
            length.unwrap_or_default(),
            "Sequences of a step over all GPUs x their length.",
        ),
        line(
            "Step time",
            format::duration_f(step.map_or(f64::NAN, |step| step.median_ns)),
            step_note(mfu),
            "Median window of the steps that are neither warm-up nor cut; over several ranks the median of theirs.",
        ),
    ];
    if let Some(step) = step.filter(|step| !step.typed) {
        let about = "Of the typical steps of all ranks, that many took at most this long.";
        all.push(plain("Step time, p10", format::duration_or_unknown(step.p10_ns), about));
        all.push(plain("Step time, p90", format::duration_or_unknown(step.p90_ns), about));
    }
    all.extend([
        plain("Tokens/s", format::count_f(mfu.tokens_per_s), "Tokens per step / step time."),
        line(
            "Tokens/s per GPU",
            format::count_f(mfu.tokens_per_s_per_gpu),
            gpus_note(mfu),
            "Tokens per second / GPUs.",
        ),
        plain(
            "Model FLOPs per step",
            format::amount(mfu.model_flops_per_step, "FLOP"),
            "What the model needs for forward and backward, by the convention.",
        ),
        plain(
            "Model TFLOP/s per GPU",
            format::quantity(mfu.achieved_tflops_per_gpu, "TFLOP/s"),
            "Model FLOPs per step / (step time x GPUs).",
        ),
        line(
            "Peak per GPU",
            format::quantity(mfu.peak.map(|peak| peak.tflops), "TFLOPS"),
            mfu.peak.as_ref().map(peak_source).unwrap_or_default(),
            "What one GPU could do at most in this number format.",
        ),
    ]);
    if mfu.ceiling.is_some() {
        let about = "MFU if every operation ran like the best matrix product measured on this GPU.";
        all.push(plain("Practical ceiling", format::percent(mfu.ceiling), about));
    }
    all
}

/// The convention and its factor for attention, in a few words.
fn convention_note(mfu: &Mfu) -> String {
    let Some(convention) = mfu.convention else { return String::new() };
    let attention = mfu.count.map(|count| format!(", attention {}", attention_text(count.attention_factor)));
    format!("{}{}", convention.text(), attention.unwrap_or_default())
}

/// How the attention core is counted.
pub const fn attention_text(factor: u8) -> &'static str {
    match factor {
        0 => "not counted",
        6 => "causal (6 L q s)",
        _ => "full (12 L q s)",
    }
}

fn step_note(mfu: &Mfu) -> String {
    match mfu.step {
        None => String::new(),
        Some(step) if step.typed => "typed, not measured".to_owned(),
        Some(step) => format!("median; {}", format::counted(step.steps, "typical step", "typical steps")),
    }
}

fn gpus_note(mfu: &Mfu) -> String {
    let gpus = format::counted(mfu.gpus, "GPU", "GPUs");
    match mfu.gpu_source {
        Some(GpuSource::Given) => format!("{gpus}, as given"),
        Some(GpuSource::Layout) => format!("{gpus}, by the parallel layout"),
        Some(GpuSource::RanksOpen) => {
            format!("{gpus}: the ranks that are open (say experiment.gpus if there are more)")
        }
        None => String::new(),
    }
}

/// Where a peak comes from: card, number format, dense or sparse.
pub fn peak_source(peak: &Peak) -> String {
    let dtype = peak.dtype.map(|dtype| format!("{}, ", dtype.text())).unwrap_or_default();
    let kind = if peak.sparse { "SPARSE" } else { "dense" };
    match peak.row {
        None => format!("typed ({dtype}{kind})"),
        Some(row) => {
            let by = if peak.chosen { "chosen in the settings" } else { "named in the capture" };
            format!("{}, {dtype}{kind}; {by}", row.name)
        }
    }
}

/// What to fill in first, in one sentence.
pub fn missing_text_of(mfu: &Mfu) -> String {
    mfu.missing.first().map_or_else(|| "say what was trained, with --settings FILE".to_owned(), missing_text)
}

/// What to fill in, in one sentence.
pub fn missing_text(missing: &Missing) -> String {
    match missing {
        Missing::Invalid(why) => format!("The settings cannot be used: {why}."),
        Missing::Model => {
            "The model is not known: give model.preset, model.config (a Hugging Face config.json), its shape, or \
             model.parameters."
                .to_owned()
        }
        Missing::Fields(convention, fields) => {
            format!("The convention {} also needs {}.", convention.text(), fields.join(", "))
        }
        Missing::SequenceLength => "The length of a sequence is not known: give batch.sequence_length.".to_owned(),
        Missing::Sequences => {
            "The batch is not known: give batch.sequences (per step, over all GPUs), or batch.micro_batch and \
             batch.micro_batches (per data-parallel rank)."
                .to_owned()
        }
        Missing::Layout => {
            "The GPUs do not divide into copies of the model (tp x pp x cp): give experiment.gpus or parallel.dp.".to_owned()
        }
        Missing::Steps => "No step is marked: mark the steps with NVTX, or give experiment.step_time_ms.".to_owned(),
        Missing::OnlyEstimatedSteps => {
            "Steps are only estimated, which is no basis for a rate: mark them with NVTX, or give experiment.step_time_ms."
                .to_owned()
        }
        Missing::Dtype => "The number format is not known: give experiment.dtype, such as \"bf16\".".to_owned(),
        Missing::GpuNotNamed => "The capture names no GPU: give peak.gpu or peak.tflops.".to_owned(),
        Missing::GpuUnknown(name) => {
            let name = format::one_line(name, 60);
            format!("The peak of {name} is not known: give peak.tflops (dense, for the number format used).")
        }
        Missing::GpuSlice(name) => {
            let name = format::one_line(name, 60);
            format!("{name} is a slice of a card: give its share of the card's peak as peak.tflops.")
        }
        Missing::GpusDiffer(names) => {
            let names: Vec<String> = names.iter().map(|name| format::one_line(name, 60)).collect();
            format!("The GPUs have different peaks ({}): give peak.tflops, their mean.", names.join(", "))
        }
        Missing::NoPeak(card, dtype) => {
            format!("No peak of {card} is known in {}: give another experiment.dtype, or peak.tflops.", dtype.text())
        }
        Missing::NoSparsePeak(card, dtype) => {
            format!("{card} has no sparse peak in {}: leave out peak.sparse, or give peak.tflops.", dtype.text())
        }
    }
}

/// What to be careful about, in one sentence.
pub fn doubt_text(doubt: &Doubt) -> String {
    match doubt {
        Doubt::OverPeak => {
            "Over 100 %: more than the GPU can do. Check dense or sparse peak, number format, causal or full attention, GPUs \
             and tokens."
                .to_owned()
        }
        Doubt::OverCeiling(tflops) => format!(
            "Above the best matrix product measured on this GPU ({}): check number format, causal or full attention, GPUs and \
             tokens.",
            format::quantity(Some(*tflops), "TFLOP/s"),
        ),
        Doubt::Sparse => {
            "The peak is the one with structured sparsity, twice the dense one; dense models cannot reach it.".to_owned()
        }
        Doubt::Convention(why) => (*why).to_owned(),
        Doubt::Outliers(slow) => format!(
            "Outlier steps are left out ({} of {}): with them a step takes {} on average{}{}.",
            format::count(slow.count),
            format::count(slow.of),
            format::duration_f(slow.mean_ns),
            slow.tokens_per_s.map_or_else(String::new, |rate| format!(", {} tokens/s", format::decimal(rate, 0))),
            slow.mfu.map_or_else(String::new, |mfu| format!(", MFU {}", format::percent(Some(mfu)))),
        ),
        Doubt::Card(note) => format!("Peak of this card: {note}."),
        Doubt::OtherSettings(paths) => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("Not used, since one run is described once: {}.", paths.join(", "))
        }
    }
}

/// Name and value in columns, the note behind them on the left.
fn left_notes(rows: Vec<Vec<String>>) -> String {
    let columns: Vec<Vec<String>> = rows.iter().map(|row| row.iter().take(2).cloned().collect()).collect();
    let aligned = table("  ", &columns);
    let lines = aligned.lines().zip(&rows).map(|(line, row)| match row.get(2).filter(|note| !note.is_empty()) {
        Some(note) => format!("{line}  {note}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}
