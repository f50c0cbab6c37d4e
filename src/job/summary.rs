//! What one export tells of its ranks: all that comparing them needs, in kilobytes.

use super::CommGroup;
use super::arrivals;
use super::place::{self, Layout, Place};
use crate::analysis::{
    Analysis, Area, Attribution, Causes, Class, Counts, Family, NamedBy, Partition, RangeSum, RankAnalysis, StageWork,
    Step, StepEdge, Summary, TypicalStep, group_name, kernel_name, median_of,
};
use crate::trace::{OpKind, Rank, Trace};
use crate::units::Span;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Kernels and ranges that a summary lists at most; the longest are kept.
const LISTED: usize = 500;

/// What one export tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportSummary {
    /// The export.
    pub file: PathBuf,
    /// Host name, when recorded.
    pub host: Option<String>,
    /// Wall clock of time 0 in nanoseconds since 1970 UTC, when recorded.
    pub epoch_ns: Option<i64>,
    /// From the first to the last event of any kind.
    pub span: Option<Span>,
    /// Sizes of the parallel layout, as the settings give them.
    pub layout: Layout,
    /// Its ranks, as the export orders them.
    pub ranks: Vec<RankSummary>,
}

/// What one rank tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RankSummary {
    /// Label as the export gives it.
    pub label: String,
    /// Operating-system process id.
    pub pid: u32,
    /// CUDA device ordinal within the process.
    pub device: i64,
    /// GPU model, when the file tells.
    pub gpu: Option<String>,
    /// How many operations it ran.
    pub counts: Counts,
    /// From its first to its last operation.
    pub span: Span,
    /// The five parts of that span.
    pub parts: Partition,
    /// Its idle part by cause.
    pub causes: Causes,
    /// Common part of the step names; `None` without steps.
    pub step_stem: Option<String>,
    /// True when the steps are a guess from repeating kernels.
    pub steps_estimated: bool,
    /// Its steps, in order of time.
    pub steps: Vec<StepSummary>,
    /// Means over the typical ones.
    pub typical: Option<TypicalStep>,
    /// What it is bound by; `None` when the capture cannot tell.
    pub verdict: Option<VerdictSummary>,
    /// What was found in it, by the time it could win.
    pub findings: Vec<FindingSummary>,
    /// Its communication kernels by group.
    pub comm: Vec<CommGroup>,
    /// Kernels by full name and launch shape within the typical steps (the whole span without steps), the largest
    /// total first.
    pub kernels: Vec<KernelShape>,
    /// NVTX ranges, the largest GPU time first.
    pub ranges: Vec<RangeTotal>,
    /// Where it stands in the parallel layout, as NVTX names of its process tell.
    pub named_place: Place,
    /// What it did for its pipeline stage, when the user declares a pipeline or ranges name one.
    pub pipeline: Option<StageWork>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepSummary {
    /// Name of its range.
    pub name: String,
    /// Its counter.
    pub number: Option<i64>,
    /// The range on the export's clock; the window for an estimated step.
    pub range: Span,
    /// The GPU time it owns.
    pub window: Span,
    /// The five parts of the window.
    pub parts: Partition,
    /// Its idle part by cause.
    pub causes: Causes,
    /// True when it counts for the typical step.
    pub typical: bool,
    /// What is odd about it.
    pub edge: Option<StepEdge>,
    /// Sum of the durations of its compute kernels by family.
    pub family_ns: BTreeMap<Family, i64>,
}

/// What a rank is bound by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VerdictSummary {
    /// The largest loss, or compute.
    pub area: Area,
    /// Its share of the step.
    pub share: f64,
    /// Nanoseconds a step at stake.
    pub ns_per_step: i64,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingSummary {
    /// What it is called.
    pub title: String,
    /// Nanoseconds a step that could be won at most.
    pub ns_per_step: i64,
    /// The same as a share of the step.
    pub share: f64,
}

/// Kernels of one full name and launch shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelShape {
    /// Full (demangled) name.
    pub name: String,
    /// Thread blocks, at most 65 535; `None` where not recorded.
    pub blocks: Option<u16>,
    /// What they do, when they compute; `None` for communication.
    pub family: Option<Family>,
    /// How many ran.
    pub count: u64,
    /// Sum of their durations.
    pub total_ns: i64,
    /// Median of their durations.
    pub median_ns: i64,
    /// Standard deviation of their sums over the typical steps; `None` where that is not known.
    #[serde(default)]
    pub step_spread_ns: Option<i64>,
}

/// NVTX ranges of one name in one place: of a typical step, or of the whole capture without steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeTotal {
    /// Its name and those of the ranges around it, the outermost first; counters are left out.
    pub path: Vec<String>,
    /// How many.
    pub count: u64,
    /// Time covered by what they ran on the GPU.
    pub gpu_ns: i64,
    /// Standard deviation of that time over the typical steps; `None` where that is not known.
    #[serde(default)]
    pub step_spread_ns: Option<i64>,
}

impl ExportSummary {
    /// What `trace` and its numbers tell.
    ///
    /// Cost: a pass over the kernels of each rank.
    pub fn of(trace: &Trace, analysis: &Analysis) -> Self {
        let ranks = trace.ranks.iter().zip(&analysis.ranks).enumerate();
        let experiment = analysis.experiment.as_ref();
        let layout = experiment.map(|e| Layout { sizes: e.parallel.clone(), gpus: e.run.gpus });
        Self {
            file: trace.source.path.clone(),
            host: trace.source.host.clone(),
            epoch_ns: trace.source.utc_epoch_ns,
            span: trace.span,
            layout: layout.unwrap_or_default(),
            ranks: ranks.map(|(at, (rank, numbers))| RankSummary::of(trace, analysis, (at, rank), numbers)).collect(),
        }
    }

    /// Name of the file without its folder and ending.
    pub fn stem(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl RankSummary {
    fn of(trace: &Trace, analysis: &Analysis, (at, rank): (usize, &Rank), numbers: &RankAnalysis) -> Self {
        // Ranges of a process with several ranks are about none of them.
        let is_alone = trace.ranks.iter().filter(|other| other.process == rank.process).count() == 1;
        let named_place = if is_alone { place::named(trace, rank.process) } else { Place::default() };
        let steps = numbers.steps.as_ref();
        let mut steps_of = steps.map_or_else(Vec::new, |s| s.steps.iter().map(StepSummary::of).collect());
        add_families(&mut steps_of, rank, analysis);
        let verdict = numbers.diagnosis.verdict.as_ref();
        Self {
            label: rank.label.clone(),
            pid: trace.processes.get(rank.process).map_or(0, |p| p.pid),
            device: rank.device,
            gpu: rank.gpu.and_then(|at| trace.gpus.get(at)).map(|gpu| gpu.name.clone()),
            counts: numbers.counts,
            span: numbers.span,
            parts: numbers.whole,
            causes: numbers.idle.within(numbers.span),
            step_stem: steps.map(|s| s.stem.clone()),
            steps_estimated: steps.is_some_and(|s| s.estimated),
            typical: steps.map(|s| s.typical),
            verdict: verdict.map(|v| VerdictSummary { area: v.area, share: v.share, ns_per_step: v.ns_per_step }),
            findings: numbers.diagnosis.findings.iter().map(FindingSummary::of).collect(),
            comm: arrivals::groups(rank, &numbers.communication),
            // A guess at the steps is no basis for sums: then, as without steps, they are of the whole span.
            kernels: kernels(trace, analysis, rank, if steps.is_some_and(|s| s.estimated) { &[] } else { &steps_of }),
            ranges: ranges(trace, numbers),
            named_place,
            pipeline: StageWork::of(trace, at, &analysis.classes, numbers),
            steps: steps_of,
        }
    }

    /// The step with this counter.
    pub fn step(&self, number: i64) -> Option<&StepSummary> {
        self.steps.iter().find(|step| step.number == Some(number))
    }

    /// Parts of the typical step; of the whole span where no range marks the steps.
    pub fn mean_parts(&self) -> Partition {
        self.typical.filter(|_| self.has_marked_steps()).map_or(self.parts, |typical| typical.mean)
    }

    /// [`RankSummary::mean_parts`]; `None` when the capture lacks what they are made of, as without kernels: then it has no
    /// verdict either.
    pub fn known_parts(&self) -> Option<Partition> {
        self.verdict.map(|_| self.mean_parts())
    }

    /// Idle time of [`RankSummary::mean_parts`] by cause.
    pub fn mean_causes(&self) -> Causes {
        self.typical.filter(|_| self.has_marked_steps()).map_or(self.causes, |typical| typical.causes)
    }

    /// True when ranges mark the steps.
    pub fn has_marked_steps(&self) -> bool {
        !self.steps.is_empty() && !self.steps_estimated
    }
}

impl FindingSummary {
    fn of(finding: &crate::analysis::Finding) -> Self {
        Self { title: finding.rule.title().to_owned(), ns_per_step: finding.ns_per_step, share: finding.share }
    }
}

impl StepSummary {
    fn of(step: &Step) -> Self {
        Self {
            name: step.name.clone(),
            number: step.number,
            range: step.range,
            window: step.window,
            parts: step.parts,
            causes: step.causes,
            typical: step.typical,
            edge: step.edge,
            family_ns: BTreeMap::new(),
        }
    }
}

/// Adds up the compute kernels of each step. A kernel belongs to the step in whose window it starts; windows and
/// kernels are in order of time.
fn add_families(steps: &mut [StepSummary], rank: &Rank, analysis: &Analysis) {
    let mut at = 0;
    for op in 0..rank.ops.len() {
        let start_ns = rank.ops.start_ns[op];
        while steps.get(at).is_some_and(|step| step.window.end_ns <= start_ns) {
            at += 1;
        }
        let Some(step) = steps.get_mut(at) else { return };
        let class = analysis.classes.class(rank.ops.name[op], rank.ops.kind[op]);
        if let Class::Compute(family) = class
            && step.window.contains(start_ns)
        {
            let sum = step.family_ns.entry(family).or_default();
            *sum = sum.saturating_add(rank.ops.span(op).len_ns());
        }
    }
}

/// Kernels by full name and launch shape.
fn kernels(trace: &Trace, analysis: &Analysis, rank: &Rank, steps: &[StepSummary]) -> Vec<KernelShape> {
    let windows: Vec<Span> = steps.iter().filter(|step| step.typical).map(|step| step.window).collect();
    // Durations, and the number of the step of each.
    let mut runs: FxHashMap<(u32, u16), Vec<(usize, i64)>> = FxHashMap::default();
    let mut at = 0;
    for op in (0..rank.ops.len()).filter(|op| rank.ops.kind[*op] == OpKind::Kernel) {
        let span = rank.ops.span(op);
        if !windows.is_empty() {
            while windows.get(at).is_some_and(|window| window.end_ns <= span.start_ns) {
                at += 1;
            }
            if !windows.get(at).is_some_and(|window| window.contains(span.start_ns)) {
                continue;
            }
        }
        let key = (rank.ops.name[op].0, rank.ops.blocks_of(op).unwrap_or(0));
        runs.entry(key).or_default().push((at, span.len_ns()));
    }
    let of = |((name, blocks), runs): ((u32, u16), Vec<(usize, i64)>)| {
        let id = crate::trace::OpNameId(name);
        let family = match analysis.classes.class(id, OpKind::Kernel) {
            Class::Compute(family) => Some(family),
            _ => None,
        };
        let lengths_ns: Vec<i64> = runs.iter().map(|(_, len_ns)| *len_ns).collect();
        KernelShape {
            name: trace.name(kernel_name(trace, id, NamedBy::Full)).to_owned(),
            blocks: Some(blocks).filter(|blocks| *blocks > 0),
            family,
            count: runs.len() as u64,
            total_ns: lengths_ns.iter().fold(0_i64, |sum, ns| sum.saturating_add(*ns)),
            step_spread_ns: step_spread(windows.len(), &runs),
            median_ns: median_of(lengths_ns).unwrap_or(0),
        }
    };
    let mut list: Vec<KernelShape> = runs.into_iter().map(of).collect();
    list.sort_by(|a, b| (Reverse(a.total_ns), &a.name, a.blocks).cmp(&(Reverse(b.total_ns), &b.name, b.blocks)));
    list.truncate(LISTED);
    list
}

/// Standard deviation of the sums over `steps` steps of times, each with its step; `None` of fewer than two steps.
fn step_spread(steps: usize, times_ns: &[(usize, i64)]) -> Option<i64> {
    let mut sums_ns = vec![0_i64; steps];
    for (step, ns) in times_ns {
        if let Some(sum) = sums_ns.get_mut(*step) {
            *sum = sum.saturating_add(*ns);
        }
    }
    Summary::of(&mut sums_ns).filter(|sums| sums.count > 1).map(|sums| sums.deviation as i64)
}

/// NVTX ranges by their path of grouped names, a typical step's mean, or the whole capture without steps.
fn ranges(trace: &Trace, numbers: &RankAnalysis) -> Vec<RangeTotal> {
    let typical = numbers.ranges.typical(trace, Attribution::Process).map(|(sums, _)| sums);
    let sums = typical.as_ref().unwrap_or_else(|| numbers.ranges.whole(trace, Attribution::Process));
    let mut nodes: Vec<(u32, &RangeSum)> = (0_u32..).zip(&sums.nodes).filter(|(_, sum)| sum.busy_ns > 0).collect();
    nodes.sort_by_key(|(node, sum)| (Reverse(sum.busy_ns), *node));
    nodes.truncate(LISTED);
    let typical: Vec<bool> =
        numbers.steps.as_ref().map_or_else(Vec::new, |steps| steps.steps.iter().map(|step| step.typical).collect());
    let spread_ns = |node: u32| {
        let by_step = numbers.ranges.busy_by_step(trace, Attribution::Process, node);
        let of_typical = by_step.into_iter().zip(&typical).filter(|(_, typical)| **typical).map(|(ns, _)| ns);
        let times_ns: Vec<(usize, i64)> = of_typical.enumerate().collect();
        step_spread(times_ns.len(), &times_ns)
    };
    let of = |(node, sum): (u32, &RangeSum)| RangeTotal {
        path: path(trace, numbers, node),
        count: sum.count,
        gpu_ns: sum.busy_ns,
        step_spread_ns: spread_ns(node),
    };
    nodes.into_iter().map(of).collect()
}

/// Names of a node and of those above it, the outermost first.
fn path(trace: &Trace, numbers: &RankAnalysis, node: u32) -> Vec<String> {
    // Ids that differ from run to run are no part of a name.
    let name = |node| group_name(&numbers.ranges.name(trace, node));
    let mut names = vec![name(node)];
    let mut above = numbers.ranges.parent(node);
    while let Some(node) = above {
        names.push(name(node));
        above = numbers.ranges.parent(node);
    }
    names.reverse();
    names
}
