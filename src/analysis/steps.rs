//! Training steps: which ranges mark them, and which window of GPU time each one owns.
//!
//! The window of a step runs from the end of the last primary-stream operation launched during the step before to the
//! end of the last one launched during this step, by any thread of the process (backward is launched by another
//! thread than the one that holds the step's range). So windows tile time, and waiting between two ranges belongs to
//! the step that waited.

use super::partition::median_of;
use super::step_names::{Family, families};
use super::{Causes, Idle, Partition, RankAnalysis, period};
use crate::trace::{OpTable, Trace};
use crate::units::Span;
use serde::{Deserialize, Serialize};

/// How steps are found.
#[derive(Debug, Clone, Default)]
pub struct StepOptions {
    /// Ranges whose name matches are steps, numbered by the pattern's first group; `None` finds them by name.
    pub pattern: Option<regex::Regex>,
}

/// Why a step is not counted as typical.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEdge {
    /// First step, more than 1.5 times the median.
    WarmUp,
    /// The capture starts or ends inside it.
    Cut,
    /// More than 1.5 times the median.
    Outlier,
}

/// One step of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Name of its range.
    pub name: String,
    /// Its counter; `None` for ranges without one.
    pub number: Option<i64>,
    /// The range itself; the window for an estimated step.
    pub range: Span,
    /// The GPU time the step owns.
    pub window: Span,
    /// Operations of the primary stream launched during the range.
    pub gpu_ops: u64,
    /// Ranges between the step before and this one that launched nothing on the GPU, as when it was not recorded yet:
    /// their time belongs to this window.
    pub empty_before: u64,
    /// The window's five parts.
    pub parts: Partition,
    /// Its idle part by cause.
    pub causes: Causes,
    /// True when it counts for the typical step.
    pub typical: bool,
    /// What is odd about it.
    pub edge: Option<StepEdge>,
}

/// Means over the typical steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TypicalStep {
    /// Steps counted.
    pub count: u64,
    /// Median window of the steps that are neither warm-up nor cut.
    pub median_span_ns: i64,
    /// Mean window and parts, rounded so that the parts sum to the window.
    pub mean: Partition,
    /// Mean idle part by cause; sums to the idle part of `mean`.
    pub causes: Causes,
}

/// The steps of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Steps {
    /// Common part of the names, or the user's pattern.
    pub stem: String,
    /// Thread that holds the ranges, as an index into the trace's threads; `None` when estimated.
    pub thread: Option<usize>,
    /// True when no range marks the steps and a repeating sequence of kernels proposed them.
    pub estimated: bool,
    /// Every range that marks a step, sorted by start, those too that launched nothing and so are no step of the rank;
    /// empty when estimated.
    pub ranges: Vec<Span>,
    /// The steps in order of time; never empty.
    pub steps: Vec<Step>,
    /// Means over the typical ones.
    pub typical: TypicalStep,
    /// Median window and, each by itself, median parts of all steps; they need not sum.
    pub median: Partition,
}

/// What the primary stream ran for one step range.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    gpu_ops: u64,
    last_end_ns: Option<i64>,
}

impl Steps {
    /// The typical step whose window is nearest to the median: of equals the first. `None` when none is typical.
    pub fn nearest_to_median(&self) -> Option<usize> {
        let median_ns = self.typical.median_span_ns;
        let distance = |step: &Step| step.window.len_ns().abs_diff(median_ns);
        let typical = self.steps.iter().enumerate().filter(|(_, step)| step.typical);
        typical.min_by_key(|(_, step)| distance(step)).map(|(at, _)| at)
    }

    /// How long after the start of its step `ns` is, in nanoseconds; `None` outside of steps.
    pub fn in_step_ns(&self, ns: i64) -> Option<i64> {
        Some(ns.saturating_sub(self.steps.get(self.at(ns)?)?.window.start_ns))
    }

    /// Steps of rank `rank`: by their ranges, else estimated; `None` when nothing repeats.
    pub(super) fn find(trace: &Trace, rank: usize, numbers: &RankAnalysis, options: &StepOptions) -> Option<Self> {
        let marked = families(trace, trace.ranks[rank].process, numbers.span, options)
            .and_then(|family| Self::marked(trace, rank, numbers, family));
        marked.or_else(|| {
            let windows = options.pattern.is_none().then(|| period::windows(trace, rank, numbers))??;
            Self::estimated(numbers, windows)
        })
    }

    fn marked(trace: &Trace, rank: usize, numbers: &RankAnalysis, family: Family) -> Option<Self> {
        let stream = u16::try_from(numbers.primary_stream?).ok()?;
        let first_start_ns = family.ranges.first()?.span.start_ns;
        let ranges: Vec<Span> = family.ranges.iter().map(|r| r.span).collect();
        let (before, work) = primary_work(trace, rank, stream, &ranges, first_start_ns);
        let mut boundary_ns = before.map_or(first_start_ns, |end_ns| end_ns.max(first_start_ns));
        let mut steps = Vec::with_capacity(work.len());
        let mut empty_before = 0;
        for (range, work) in family.ranges.into_iter().zip(work) {
            // A range that launched nothing on the primary stream owns no GPU time.
            let Some(last_end_ns) = work.last_end_ns else {
                empty_before += 1;
                continue;
            };
            let window = Span::new(boundary_ns, boundary_ns.max(last_end_ns));
            boundary_ns = window.end_ns;
            steps.push(Step {
                name: range.name,
                number: range.number,
                range: range.span,
                window,
                gpu_ops: work.gpu_ops,
                empty_before: std::mem::take(&mut empty_before),
                parts: numbers.partition(window),
                causes: Causes::default(),
                typical: false,
                edge: None,
            });
        }
        mark_cut(&mut steps, trace.span?);
        Some(Self { ranges, ..Self::new(family.stem, Some(family.thread), steps) })
            .filter(|steps| !steps.steps.is_empty())
    }

    fn estimated(numbers: &RankAnalysis, windows: Vec<period::Window>) -> Option<Self> {
        let steps: Vec<Step> = windows
            .into_iter()
            .enumerate()
            .map(|(at, window)| Step {
                name: format!("estimated step {at}"),
                number: i64::try_from(at).ok(),
                range: window.span,
                window: window.span,
                gpu_ops: window.gpu_ops,
                empty_before: 0,
                parts: numbers.partition(window.span),
                causes: Causes::default(),
                typical: false,
                edge: None,
            })
            .collect();
        (!steps.is_empty()).then(|| Self { estimated: true, ..Self::new("estimated step ".to_owned(), None, steps) })
    }

    fn new(stem: String, thread: Option<usize>, mut steps: Vec<Step>) -> Self {
        let typical = mark_typical(&mut steps);
        let median = Partition::median(&steps.iter().map(|s| s.parts).collect::<Vec<_>>());
        Self { stem, thread, estimated: false, ranges: Vec::new(), steps, typical, median }
    }

    /// Fills in the causes of the idle part of every step and of the typical one.
    pub(super) fn add_causes(&mut self, idle: &Idle) {
        for step in &mut self.steps {
            step.causes = idle.within(step.window);
        }
        let typical: Vec<Causes> = self.steps.iter().filter(|s| s.typical).map(|s| s.causes).collect();
        self.typical.causes = Causes::mean(&typical, self.typical.mean.idle_ns);
    }

    /// Index of the step whose window holds `at_ns`.
    pub fn at(&self, at_ns: i64) -> Option<usize> {
        let after = self.steps.partition_point(|s| s.window.start_ns <= at_ns);
        after.checked_sub(1).filter(|step| self.steps.get(*step).is_some_and(|s| s.window.contains(at_ns)))
    }
}

/// For each range (sorted by start), what the stream ran that was launched inside it; and the last end of what was
/// launched before the first range.
fn primary_work(
    trace: &Trace,
    rank: usize,
    stream: u16,
    ranges: &[Span],
    first_start_ns: i64,
) -> (Option<i64>, Vec<Work>) {
    let rank = &trace.ranks[rank];
    let api = &trace.processes[rank.process].api;
    let ops: &OpTable = &rank.ops;
    // Ranges of one family rarely overlap; the running maximum of ends bounds the search when they do.
    let mut reach_ns = i64::MIN;
    let reaches: Vec<i64> = ranges
        .iter()
        .map(|r| {
            reach_ns = reach_ns.max(r.end_ns);
            reach_ns
        })
        .collect();
    let mut work = vec![Work::default(); ranges.len()];
    let mut before: Option<i64> = None;
    for op in (0..ops.len()).filter(|op| ops.stream[*op] == stream) {
        let Some(launch) = ops.launch_of(op) else { continue };
        let (launch_ns, end_ns) = (api.start_ns[launch as usize], ops.end_ns[op]);
        if launch_ns < first_start_ns {
            before = before.max(Some(end_ns));
            continue;
        }
        let candidates = ranges.partition_point(|r| r.start_ns <= launch_ns);
        for at in (0..candidates).rev().take_while(|at| reaches[*at] > launch_ns) {
            if ranges[at].contains(launch_ns) {
                work[at].gpu_ops += 1;
                work[at].last_end_ns = work[at].last_end_ns.max(Some(end_ns));
            }
        }
    }
    (before, work)
}

/// A first or last step that ran less than half the usual operations, or whose range reaches over the capture's edge,
/// was cut by it.
fn mark_cut(steps: &mut [Step], capture: Span) {
    let mut counts: Vec<u64> = steps.iter().map(|s| s.gpu_ops).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().unwrap_or(0);
    let last = steps.len().saturating_sub(1);
    for at in [0, last] {
        if let Some(step) = steps.get_mut(at) {
            let over_edge = step.range.start_ns < capture.start_ns || step.range.end_ns > capture.end_ns;
            if step.gpu_ops * 2 < usual || over_edge {
                step.edge = Some(StepEdge::Cut);
            }
        }
    }
}

/// Decides which steps are typical and what their mean is.
///
/// Warm-up and cut steps are left out. Of the rest, those within 20 % of the median count; if they are fewer than
/// 60 %, all of the rest count. If nothing is left, every step counts.
fn mark_typical(steps: &mut [Step]) -> TypicalStep {
    let whole = |steps: &[Step]| median(steps.iter().filter(|s| s.edge != Some(StepEdge::Cut)));
    let all_median = whole(steps).unwrap_or(0);
    let is_long = |step: &Step, median: i64| i128::from(step.window.len_ns()) * 2 > i128::from(median) * 3;
    if let Some(first) = steps.first_mut().filter(|s| s.edge.is_none() && is_long(s, all_median)) {
        first.edge = Some(StepEdge::WarmUp);
    }
    let left_out = |step: &Step| matches!(step.edge, Some(StepEdge::Cut | StepEdge::WarmUp));
    let nothing_left = steps.iter().all(left_out);
    let is_candidate = |step: &Step| nothing_left || !left_out(step);
    let median_span_ns = median(steps.iter().filter(|s| is_candidate(s))).unwrap_or(0);
    let is_near = |step: &Step| step.window.len_ns().abs_diff(median_span_ns) <= median_span_ns.unsigned_abs() / 5;
    let candidates = steps.iter().filter(|s| is_candidate(s)).count();
    let near = steps.iter().filter(|s| is_candidate(s) && is_near(s)).count();
    let all_count = near * 10 < candidates * 6;
    for step in steps.iter_mut() {
        step.typical = is_candidate(step) && (all_count || is_near(step));
        if step.edge.is_none() && is_long(step, median_span_ns) {
            step.edge = Some(StepEdge::Outlier);
        }
    }
    let typical: Vec<Partition> = steps.iter().filter(|s| s.typical).map(|s| s.parts).collect();
    TypicalStep {
        count: typical.len() as u64,
        median_span_ns,
        mean: Partition::mean(&typical),
        causes: Causes::default(),
    }
}

/// Median window.
fn median<'a>(steps: impl Iterator<Item = &'a Step>) -> Option<i64> {
    median_of(steps.map(|s| s.window.len_ns()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{Classes, Params, Rules};
    use super::*;
    use crate::trace::testing::Fixture;

    fn steps_of(trace: &Trace, options: &StepOptions) -> Option<Steps> {
        let params = Params { steps: options.clone(), ..Params::default() };
        RankAnalysis::of(trace, 0, &Classes::of(trace, &Rules::default()), &params).steps
    }

    /// Steps of 100 ns, each with one kernel launched by the main thread and one by another.
    fn job(lengths: &[i64]) -> Fixture {
        let mut fixture = Fixture::new();
        let mut now = 0;
        for (at, len) in lengths.iter().enumerate() {
            fixture.range(&format!("step {at}"), 1, now, now + len);
            fixture.launched("gemm", 7, 1, now + 1, now + 10, now + 20);
            fixture.launched("gemm", 7, 2, now + 5, now + 20, now + len - 10);
            now += len;
        }
        fixture
    }

    #[test]
    fn windows_tile_time_and_hold_the_work_of_every_thread() {
        let trace = job(&[100, 100, 100]).build();
        let steps = steps_of(&trace, &StepOptions::default()).unwrap();
        let windows: Vec<Span> = steps.steps.iter().map(|s| s.window).collect();
        assert_eq!(windows, [Span::new(0, 90), Span::new(90, 190), Span::new(190, 290)]);
        assert_eq!(steps.steps[1].gpu_ops, 2);
        assert_eq!(steps.steps[1].parts.idle_ns, 20);
        assert_eq!((steps.stem.as_str(), steps.steps[2].number), ("step ", Some(2)));
        assert_eq!((steps.at(95), steps.at(290), steps.at(-1)), (Some(1), None, None));
    }

    #[test]
    fn work_launched_before_the_first_range_moves_its_start() {
        let mut fixture = Fixture::new();
        fixture.launched("gemm", 7, 1, 0, 5, 40);
        fixture.range("step 1", 1, 30, 60).launched("gemm", 7, 1, 31, 40, 50);
        fixture.range("step 2", 1, 60, 90).launched("gemm", 7, 1, 61, 70, 80);
        let steps = steps_of(&fixture.build(), &StepOptions::default()).unwrap();
        assert_eq!(steps.steps[0].window, Span::new(40, 50));
    }

    #[test]
    fn ranges_that_launched_nothing_lie_in_the_window_of_the_next_step_and_are_counted() {
        let mut fixture = Fixture::new();
        fixture.range("step 0", 1, 0, 100).range("step 1", 1, 100, 200);
        for step in 2..5 {
            let start = step * 100;
            fixture.range(&format!("step {step}"), 1, start, start + 100);
            fixture.launched("gemm", 7, 1, start + 1, start + 10, start + 90);
        }
        let steps = steps_of(&fixture.build(), &StepOptions::default()).unwrap();
        assert_eq!((steps.steps[0].number, steps.steps[0].window), (Some(2), Span::new(0, 290)));
        assert_eq!(steps.steps.iter().map(|step| step.empty_before).collect::<Vec<_>>(), [2, 0, 0]);
    }

    #[test]
    fn warm_up_outliers_and_typical_steps_are_told_apart() {
        let trace = job(&[300, 100, 100, 200, 100, 100]).build();
        let steps = steps_of(&trace, &StepOptions::default()).unwrap();
        let edges: Vec<Option<StepEdge>> = steps.steps.iter().map(|s| s.edge).collect();
        assert_eq!(edges, [Some(StepEdge::WarmUp), None, None, Some(StepEdge::Outlier), None, None]);
        assert_eq!((steps.typical.count, steps.typical.median_span_ns), (4, 100));
        assert_eq!(steps.typical.mean.span_ns, 100);
    }

    #[test]
    fn when_steps_scatter_all_of_them_count() {
        let trace = job(&[100, 150, 220, 100, 160]).build();
        let steps = steps_of(&trace, &StepOptions::default()).unwrap();
        assert_eq!(steps.typical.count, 5);
    }

    #[test]
    fn a_last_step_with_little_work_is_cut() {
        let mut fixture = Fixture::new();
        for step in 0..4 {
            fixture.range(&format!("step {step}"), 1, step * 100, step * 100 + 100);
            for kernel in 0..(if step == 3 { 1 } else { 4 }) {
                let at = step * 100 + kernel * 20;
                fixture.launched("gemm", 7, 1, at, at + 2, at + 10);
            }
        }
        let steps = steps_of(&fixture.build(), &StepOptions::default()).unwrap();
        assert_eq!(steps.steps[3].edge, Some(StepEdge::Cut));
        // The first window lacks the time before the first launch, so two steps remain alike.
        assert_eq!(steps.typical.count, 2);
    }

    #[test]
    fn the_users_pattern_replaces_the_words() {
        let mut fixture = job(&[100, 100]);
        fixture.range("chunk a", 1, 0, 100).range("chunk b", 1, 100, 200);
        let pattern = regex::Regex::new("^chunk").ok();
        let steps = steps_of(&fixture.build(), &StepOptions { pattern }).unwrap();
        assert_eq!(steps.steps.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["chunk a", "chunk b"]);
    }

    #[test]
    fn a_repeating_top_level_name_without_counter_is_a_step() {
        let mut fixture = Fixture::new();
        for at in [0, 100, 200] {
            fixture.range("train_step", 1, at, at + 90).range("iter", 1, at + 1, at + 89);
            fixture.launched("gemm", 7, 1, at + 2, at + 10, at + 80);
        }
        let steps = steps_of(&fixture.build(), &StepOptions::default()).unwrap();
        assert_eq!((steps.stem.as_str(), steps.steps.len(), steps.steps[0].number), ("train_step", 3, None));
    }

    #[test]
    fn kernels_that_repeat_without_markers_give_estimated_steps() {
        let mut fixture = Fixture::new();
        for at in 0..100 {
            let name = if at % 20 == 0 { "adam_kernel" } else { "gemm" };
            fixture.kernel(name, 7, at * 10, at * 10 + 8);
        }
        let steps = steps_of(&fixture.build(), &StepOptions::default()).unwrap();
        assert!(steps.estimated);
        assert_eq!(steps.steps[0].window, Span::new(0, 200));
    }
}
