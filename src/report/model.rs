//! The shape of the report: stable key names, times in integer nanoseconds on the export's own clock.

use super::comm::CommReport;
use super::compare::{Alignment, StragglerLine, clock_text, notices, straggler_advice, straggler_text, wandering_text};
use super::guide::{GuideLine, guide_lines};
use super::idle::IdleReport;
use super::launch::LaunchReport;
use super::mfu::MfuReport;
use super::ranges::RangesReport;
use super::verdict::{Beside, VerdictReport};
use crate::analysis::{
    Analysis, Causes, CollectiveSum, Family, KernelSum, Limit, Mfu, Overlap, Part, Partition, RankAnalysis, Step,
    StepEdge, Steps, top_kernel,
};
use crate::experiment::Experiment;
use crate::format;
use crate::job::{ExportSummary, Job, JobOptions, exposed_splits};
use crate::trace::{Gpu, OpNameId, Rank, TableCount, Trace, Warning};
use crate::units::share;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One open capture with its numbers.
#[derive(Debug, Clone, Copy)]
pub struct Capture<'a> {
    /// What it recorded.
    pub trace: &'a Trace,
    /// What that means.
    pub analysis: &'a Analysis,
}

/// Everything `report --json` prints.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Version of this program.
    pub version: &'static str,
    /// The files.
    pub exports: Vec<ExportReport>,
    /// The ranks of all files.
    pub ranks: Vec<RankReport>,
    /// Utilisation of the job.
    pub mfu: MfuReport,
    /// What puts the ranks on one clock.
    pub alignment: Alignment,
    /// The rank that the others wait for.
    pub straggler: Option<StragglerLine>,
    /// What the ranks say together, in sentences; empty for a single rank.
    #[serde(skip)]
    pub(super) together: Vec<String>,
    /// The checklist.
    pub guide: Vec<GuideLine>,
    /// What the user says of the run.
    #[serde(skip)]
    pub(super) experiment: Option<Experiment>,
}

/// What is known about a file.
#[derive(Debug, Serialize)]
pub struct ExportReport {
    /// Path as it was given.
    pub path: String,
    /// Size in bytes.
    pub file_bytes: u64,
    /// Version of nsys, when recorded.
    pub nsys_version: Option<String>,
    /// Version of the export's schema, when recorded.
    pub schema_version: Option<String>,
    /// Wall clock of time 0, when recorded.
    pub captured_utc: Option<String>,
    /// Host name, when recorded.
    pub host: Option<String>,
    /// First event on the file's clock.
    pub start_ns: Option<i64>,
    /// Last event on the file's clock.
    pub end_ns: Option<i64>,
    /// CUDA API calls.
    pub api_calls: u64,
    /// NVTX ranges.
    pub nvtx_ranges: u64,
    /// Threads that did anything.
    pub threads: u64,
    /// Cards the file describes.
    pub gpus: Vec<Gpu>,
    /// Tables read.
    pub tables: Vec<TableCount>,
    /// What was odd.
    pub warnings: Vec<Warning>,
    /// What cannot be answered.
    pub limits: Vec<LimitReport>,
}

/// A question the capture leaves open.
#[derive(Debug, Serialize)]
pub struct LimitReport {
    /// Stable word.
    pub code: Limit,
    /// What cannot be said.
    pub consequence: &'static str,
    /// What to record next time.
    pub remedy: &'static str,
}

/// The numbers of one rank.
#[derive(Debug, Serialize)]
pub struct RankReport {
    /// Label.
    pub label: String,
    /// Path of its file.
    pub export: String,
    /// Key of its process in the file.
    pub global_pid: i64,
    /// Operating-system process id.
    pub pid: u32,
    /// CUDA device ordinal.
    pub device: i64,
    /// GPU model, when the file tells.
    pub gpu: Option<String>,
    /// Kernels.
    pub kernels: u64,
    /// Communication kernels among them.
    pub comm_kernels: u64,
    /// Copies and fills.
    pub copies: u64,
    /// Graph executions recorded as one block.
    pub graphs: u64,
    /// Id of the stream with the most compute time.
    pub primary_stream: Option<i64>,
    /// First operation.
    pub start_ns: i64,
    /// End of the last operation.
    pub end_ns: i64,
    /// Why the parts of the time and the causes of idle time are not what ran; absent when they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Limit>,
    /// The five parts of that span.
    #[serde(flatten)]
    pub parts: Partition,
    /// Sums by kind of collective.
    pub collectives: BTreeMap<&'static str, CollectiveSum>,
    /// Kernel time by family.
    pub families: BTreeMap<Family, KernelSum>,
    /// Kernels that communicate and compute at once (compute in the partition).
    pub fused: BTreeMap<&'static str, KernelSum>,
    /// Which groups of operations ran at once; every combination that occurs.
    pub overlaps: Vec<Overlap>,
    /// The compute kernel whose runs take the most time together.
    pub top_kernel: Option<NamedSum>,
    /// Kernels that no rule knows and that take at least 1 % of the compute time.
    pub unclassified: Vec<NamedSum>,
    /// Common part of the step names.
    pub step_stem: Option<String>,
    /// True when the steps are a guess from repeating kernels.
    pub steps_estimated: bool,
    /// The steps.
    pub steps: Vec<StepReport>,
    /// Means over the typical ones.
    pub typical_step: Option<TypicalReport>,
    /// Medians over all steps, each part by itself; absent when the steps are estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_step: Option<Partition>,
    /// Idle time and its causes.
    #[serde(flatten)]
    pub idle: IdleReport,
    /// NVTX ranges on the GPU.
    #[serde(flatten)]
    pub ranges: RangesReport,
    /// Communication.
    #[serde(flatten)]
    pub comm: CommReport,
    /// Launches.
    #[serde(flatten)]
    pub launch: LaunchReport,
    /// The verdict and the findings.
    #[serde(flatten)]
    pub verdict: VerdictReport,
}

impl RankReport {
    /// How much it ran, in words.
    pub(super) fn counts_text(&self) -> String {
        format!(
            "{} ({} communication), {}, {}",
            format::counted(self.kernels, "kernel", "kernels"),
            format::count(self.comm_kernels),
            format::counted(self.copies, "copy or fill", "copies and fills"),
            format::counted(self.graphs, "graph block", "graph blocks"),
        )
    }

    /// A part of the time; unknown when the capture puts it in doubt.
    pub(super) fn part_text(&self, ns: i64) -> String {
        format::duration_or_unknown(self.doubt.is_none().then_some(ns))
    }

    /// Its share of `parts`; unknown when the capture puts it in doubt.
    pub(super) fn part_share(&self, ns: i64, parts: &Partition) -> String {
        format::percent(share(ns, parts.span_ns).filter(|_| self.doubt.is_none()))
    }

    /// Part by column of `columns`, with its share of the column's window; the last row is the length of the windows.
    pub(super) fn part_rows(&self, columns: &[&Partition]) -> Vec<Vec<String>> {
        let part = |part: Part| {
            let cells = columns.iter().map(|parts| (part.of(parts), parts));
            let cells = cells.flat_map(|(ns, parts)| [self.part_text(ns), self.part_share(ns, parts)]);
            std::iter::once(part.text().to_owned()).chain(cells).collect()
        };
        let whole = |parts: &&Partition| {
            [format::duration(parts.span_ns), format::percent(share(parts.span_ns, parts.span_ns))]
        };
        let sum = std::iter::once("Sum".to_owned()).chain(columns.iter().flat_map(whole)).collect();
        Part::ALL.map(part).into_iter().chain([sum]).collect()
    }
}

/// A kernel with its count and time.
#[derive(Debug, Serialize)]
pub struct NamedSum {
    /// Full name.
    pub name: String,
    /// Count and time.
    #[serde(flatten)]
    pub sum: KernelSum,
}

/// One step.
#[derive(Debug, Serialize)]
pub struct StepReport {
    /// Name of its range.
    pub name: String,
    /// Its counter.
    pub number: Option<i64>,
    /// Start of the range; absent for an estimated step.
    pub nvtx_start_ns: Option<i64>,
    /// End of the range; absent for an estimated step.
    pub nvtx_end_ns: Option<i64>,
    /// Start of the GPU time it owns.
    pub window_start_ns: i64,
    /// End of the GPU time it owns.
    pub window_end_ns: i64,
    /// Operations of the primary stream launched during it.
    pub gpu_ops: u64,
    /// Step ranges right before its own that launched nothing on the GPU; their time is in its window.
    pub empty_ranges_before: u64,
    /// True when it counts for the typical step.
    pub typical: bool,
    /// What is odd about it.
    pub edge: Option<StepEdge>,
    /// The five parts of the window.
    #[serde(flatten)]
    pub parts: Partition,
    /// Its idle part by cause.
    pub idle_causes_ns: Causes,
}

/// Means over the typical steps.
#[derive(Debug, Serialize)]
pub struct TypicalReport {
    /// Steps counted.
    pub count: u64,
    /// Median window.
    pub median_span_ns: i64,
    /// Mean window and its parts.
    #[serde(flatten)]
    pub mean: Partition,
    /// Mean idle part by cause.
    pub idle_causes_ns: Causes,
}

impl Report {
    /// The report of some captures, with what the first of them that has settings says of the run.
    pub fn of(captures: &[Capture<'_>]) -> Self {
        let pairs: Vec<(&Trace, &Analysis)> = captures.iter().map(|c| (c.trace, c.analysis)).collect();
        Self::with_experiment(captures, Mfu::experiment_of(&pairs))
    }

    /// The report of some captures of the run that `experiment` describes.
    pub fn with_experiment(captures: &[Capture<'_>], experiment: Option<&Experiment>) -> Self {
        let summary = |c: &Capture<'_>| Arc::new(ExportSummary::of(c.trace, c.analysis));
        let job = Job::of(captures.iter().map(summary).collect(), &JobOptions::default());
        Self::of_job(captures, experiment, &job)
    }

    /// The same for captures that are the first exports of `job`.
    pub fn of_job(captures: &[Capture<'_>], experiment: Option<&Experiment>, job: &Job) -> Self {
        let analyses: Vec<&Analysis> = captures.iter().map(|c| c.analysis).collect();
        // The ranks of the captures are the first ones of the job, in the same order.
        let mut ranks_of_job = exposed_splits(job, &analyses).into_iter().enumerate();
        let pairs: Vec<(&Trace, &Analysis)> = captures.iter().map(|c| (c.trace, c.analysis)).collect();
        let mfu = Mfu::of(&pairs, experiment);
        let mut of = |c: &Capture<'_>| {
            let ranks = c.trace.ranks.iter().zip(&c.analysis.ranks);
            let top = |at: usize| top_kernel(c.trace, at, &c.analysis.classes);
            let of = |(at, (rank, numbers))| {
                let (of_job, split) = ranks_of_job.next().unwrap_or_default();
                let report = RankReport::of(c.trace, rank, numbers, mfu.mfu, Beside::of(job, of_job, split));
                RankReport {
                    top_kernel: top(at).map(|(name, sum)| NamedSum::of(c.trace, name, sum)),
                    label: job.ranks.get(of_job).map_or(report.label, |rank| rank.label.clone()),
                    ..report
                }
            };
            ranks.enumerate().map(of).collect::<Vec<_>>()
        };
        let ranks: Vec<RankReport> = captures.iter().flat_map(&mut of).collect();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            exports: captures.iter().map(|c| ExportReport::of(c, job.ranks.len())).collect(),
            ranks,
            experiment: experiment.cloned(),
            guide: guide_lines(captures, mfu.mfu.is_some()),
            mfu: MfuReport::of(mfu),
            alignment: Alignment::of(job),
            straggler: StragglerLine::of(job),
            together: together(job),
        }
    }
}

/// What several ranks say together: their clock, the straggler and what to do about it.
fn together(job: &Job) -> Vec<String> {
    if job.ranks.len() < 2 {
        return Vec::new();
    }
    let clock = (job.exports.len() > 1).then(|| format!("Clock of the files: {}.", clock_text(job)));
    let lines = clock.into_iter().chain(notices(job)).chain([straggler_text(job)]);
    lines.chain(straggler_advice(job)).chain(wandering_text(job)).collect()
}

impl ExportReport {
    /// What is known about the file of a capture, when `ranks` of all files are looked at together.
    fn of(capture: &Capture<'_>, ranks: usize) -> Self {
        let (trace, source) = (capture.trace, &capture.trace.source);
        let limits = capture.analysis.limits.iter().filter(|code| **code != Limit::OneRank || ranks < 2);
        let limit = |code: &Limit| LimitReport { code: *code, consequence: code.consequence(), remedy: code.remedy() };
        Self {
            path: source.path.display().to_string(),
            file_bytes: source.bytes,
            nsys_version: source.product_version.clone(),
            schema_version: source.schema_version.clone(),
            captured_utc: source.utc_epoch_ns.map(format::utc),
            host: source.host.clone(),
            start_ns: trace.span.map(|s| s.start_ns),
            end_ns: trace.span.map(|s| s.end_ns),
            api_calls: trace.api_calls() as u64,
            nvtx_ranges: trace.nvtx_ranges() as u64,
            threads: trace.threads.len() as u64,
            gpus: trace.gpus.clone(),
            tables: source.tables.clone(),
            warnings: trace.warnings.clone(),
            limits: limits.map(limit).collect(),
        }
    }
}

impl NamedSum {
    fn of(trace: &Trace, name: OpNameId, sum: KernelSum) -> Self {
        Self { name: trace.op_full_name(name).to_owned(), sum }
    }
}

impl RankReport {
    fn of(trace: &Trace, rank: &Rank, numbers: &RankAnalysis, mfu: Option<f64>, beside: Beside) -> Self {
        let process = trace.processes.get(rank.process);
        let steps = numbers.steps.as_ref();
        let stream = |at: usize| rank.streams.get(at).map(|s| s.id);
        Self {
            label: rank.label.clone(),
            export: trace.source.path.display().to_string(),
            global_pid: process.map_or(0, |p| p.global_pid),
            pid: process.map_or(0, |p| p.pid),
            device: rank.device,
            gpu: rank.gpu.and_then(|at| trace.gpus.get(at)).map(|gpu| gpu.name.clone()),
            kernels: numbers.counts.kernels,
            comm_kernels: numbers.counts.comm_kernels,
            copies: numbers.counts.copies,
            graphs: numbers.counts.graphs,
            primary_stream: numbers.primary_stream.and_then(stream),
            start_ns: numbers.span.start_ns,
            end_ns: numbers.span.end_ns,
            doubt: numbers.diagnosis.doubt.filter(|doubt| doubt.spoils_parts()),
            parts: numbers.whole,
            collectives: numbers
                .communication
                .by_kind
                .iter()
                .map(|(kind, sums)| (kind.text(), CollectiveSum::of(sums)))
                .collect(),
            families: numbers.kernels.families.clone(),
            fused: numbers.kernels.fused.iter().map(|(kind, sum)| (kind.text(), *sum)).collect(),
            overlaps: numbers.overlaps.sets.clone(),
            top_kernel: None,
            unclassified: numbers
                .kernels
                .unclassified
                .iter()
                .map(|(name, sum)| NamedSum::of(trace, *name, *sum))
                .collect(),
            step_stem: steps.map(|s| s.stem.clone()),
            steps_estimated: steps.is_some_and(|s| s.estimated),
            steps: steps.map_or_else(Vec::new, |s| s.steps.iter().map(|step| StepReport::of(s, step)).collect()),
            median_step: steps.filter(|s| !s.estimated).map(|s| s.median),
            typical_step: steps.map(|s| TypicalReport {
                count: s.typical.count,
                median_span_ns: s.typical.median_span_ns,
                mean: s.typical.mean,
                idle_causes_ns: s.typical.causes,
            }),
            idle: IdleReport::of(trace, rank, numbers),
            ranges: RangesReport::of(trace, rank, numbers),
            comm: CommReport::of(trace, rank, numbers, beside),
            launch: LaunchReport::of(trace, rank, numbers),
            verdict: VerdictReport::of(trace, numbers, mfu, &beside),
        }
    }
}

impl StepReport {
    fn of(steps: &Steps, step: &Step) -> Self {
        let marked = |ns: i64| (!steps.estimated).then_some(ns);
        Self {
            name: step.name.clone(),
            number: step.number,
            nvtx_start_ns: marked(step.range.start_ns),
            nvtx_end_ns: marked(step.range.end_ns),
            window_start_ns: step.window.start_ns,
            window_end_ns: step.window.end_ns,
            gpu_ops: step.gpu_ops,
            empty_ranges_before: step.empty_before,
            typical: step.typical,
            edge: step.edge,
            parts: step.parts,
            idle_causes_ns: step.causes,
        }
    }
}
