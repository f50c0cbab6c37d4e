//! The way from a first capture to a faster step, as a checklist for the captures that are open: what is there, what
//! is still missing, and what does not apply.
//!
//! Cost: a look at the counts, the operations once where some lack a launch, and the ranges of one step per rank.

use super::{Analysis, Limit, RankAnalysis, Steps};
use crate::trace::{RangeKind, Trace};
use crate::units::share;
use serde::Serialize;
use std::collections::BTreeSet;

/// Part of the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GuideStage {
    /// Record what the numbers need.
    Record,
    /// Know how far the run is from the card's peak.
    Measure,
    /// Mark steps and phases.
    Mark,
    /// Capture steps that are all alike.
    Steady,
    /// Look where time is lost.
    Look,
    /// Change one thing.
    Change,
}

/// One point of the checklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GuideItem {
    /// GPU work is recorded.
    GpuWork,
    /// CUDA API calls are recorded.
    ApiCalls,
    /// Every operation has its launch.
    Launches,
    /// Calls into the operating system are recorded.
    OsRuntime,
    /// Kernels inside CUDA graphs are recorded.
    GraphNodes,
    /// Every rank is open.
    EveryRank,
    /// Model and batch are given, so that MFU is known.
    Settings,
    /// Steps are marked by ranges.
    Steps,
    /// Phases inside the steps are marked.
    Phases,
    /// Warm-up does not count.
    WarmUp,
    /// Enough steps are alike.
    TypicalSteps,
    /// Look at the gaps first.
    Gaps,
    /// One hypothesis, one change.
    OneChange,
}

/// Where a point stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GuideState {
    /// It is there.
    Done,
    /// It is missing.
    Open,
    /// These captures do not need it.
    NotApplicable,
    /// Nothing in a capture tells; the user does it.
    Yours,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum GuideFact {
    /// Nothing to count.
    None,
    /// How many.
    Count(u64),
    /// Which.
    Names(Vec<String>),
    /// Which ranks are missing.
    Missing(Vec<u64>),
    /// Share of the typical step, when steps are known.
    Share(Option<f64>),
}

/// A point with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct GuideCheck {
    /// The point.
    pub item: GuideItem,
    /// Where it stands.
    pub state: GuideState,
    /// What was found.
    pub fact: GuideFact,
}

/// The checklist.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// Its points in the order in which they are worth doing.
    pub checks: Vec<GuideCheck>,
}

/// Steps that must be alike for a mean to say something.
pub const ENOUGH_STEPS: u64 = 3;
/// Names of phases that are kept.
const NAMED: usize = 6;

impl GuideItem {
    /// The part of the way it belongs to.
    pub const fn stage(self) -> GuideStage {
        match self {
            Self::GpuWork | Self::ApiCalls | Self::Launches | Self::OsRuntime | Self::GraphNodes | Self::EveryRank => {
                GuideStage::Record
            }
            Self::Settings => GuideStage::Measure,
            Self::Steps | Self::Phases => GuideStage::Mark,
            Self::WarmUp | Self::TypicalSteps => GuideStage::Steady,
            Self::Gaps => GuideStage::Look,
            Self::OneChange => GuideStage::Change,
        }
    }
}

impl Guide {
    /// The checklist for `captures`; `settings` is true when the user said enough of the run to compute MFU.
    pub fn of(captures: &[(&Trace, &Analysis)], settings: bool) -> Self {
        let ranks: Vec<(&Trace, &RankAnalysis)> =
            captures.iter().flat_map(|(trace, analysis)| analysis.ranks.iter().map(|rank| (*trace, rank))).collect();
        let steps: Vec<(&Trace, &Steps)> = ranks
            .iter()
            .filter_map(|(trace, rank)| Some((*trace, rank.steps.as_ref().filter(|steps| !steps.estimated)?)))
            .collect();
        let mut checks = recorded(captures, &ranks);
        checks.push(every_rank(captures, &ranks));
        let gpu = !ranks.is_empty();
        checks.push(check(
            GuideItem::Settings,
            if settings { Some(true) } else { gpu.then_some(false) },
            GuideFact::None,
        ));
        checks.extend(marked(&steps, gpu));
        checks.extend(steady(&steps));
        checks.push(gaps(&ranks));
        checks.push(GuideCheck { item: GuideItem::OneChange, state: GuideState::Yours, fact: GuideFact::None });
        Self { checks }
    }
}

/// Done, open, or (when nothing can be said) not applicable.
const fn check(item: GuideItem, done: Option<bool>, fact: GuideFact) -> GuideCheck {
    let state = match done {
        Some(true) => GuideState::Done,
        Some(false) => GuideState::Open,
        None => GuideState::NotApplicable,
    };
    GuideCheck { item, state, fact }
}

/// What every capture must hold. A point is done when it is for all of them.
fn recorded(captures: &[(&Trace, &Analysis)], ranks: &[(&Trace, &RankAnalysis)]) -> Vec<GuideCheck> {
    let lacks = |limit: Limit| captures.iter().any(|(_, analysis)| analysis.limits.contains(&limit));
    let sum = |count: fn(&Trace) -> usize| captures.iter().map(|(trace, _)| count(trace) as u64).sum::<u64>();
    let gpu = !ranks.is_empty();
    let operations = sum(Trace::gpu_ops);
    let calls = sum(Trace::api_calls);
    let unlaunched = if lacks(Limit::MissingLaunches) { sum(without_launch) } else { 0 };
    let blocks: u64 = ranks.iter().map(|(_, rank)| rank.counts.graphs).sum();
    let graphs = captures.iter().any(|(trace, _)| launches_graphs(trace));
    let os = sum(|trace| trace.threads.iter().map(|thread| thread.os.len()).sum());
    vec![
        check(GuideItem::GpuWork, Some(gpu && !lacks(Limit::NoGpuWork)), GuideFact::Count(operations)),
        check(GuideItem::ApiCalls, Some(calls > 0 && !lacks(Limit::NoApiCalls)), GuideFact::Count(calls)),
        check(GuideItem::Launches, (gpu && calls > 0).then_some(unlaunched == 0), GuideFact::Count(unlaunched)),
        check(GuideItem::OsRuntime, Some(os > 0 && !lacks(Limit::NoOsRuntime)), GuideFact::Count(os)),
        check(GuideItem::GraphNodes, (blocks > 0 || graphs).then_some(blocks == 0), GuideFact::Count(blocks)),
    ]
}

fn without_launch(trace: &Trace) -> usize {
    let count = |ops: &crate::trace::OpTable| (0..ops.len()).filter(|op| ops.launch_of(*op).is_none()).count();
    trace.ranks.iter().map(|rank| count(&rank.ops)).sum()
}

/// True when the program launched a CUDA graph.
fn launches_graphs(trace: &Trace) -> bool {
    let is_launch = |name: &str| name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch");
    trace.names.iter().any(|(_, name)| is_launch(name))
}

/// All ranks of a job that communicates: labels that are numbers must have no gap.
fn every_rank(captures: &[(&Trace, &Analysis)], ranks: &[(&Trace, &RankAnalysis)]) -> GuideCheck {
    let open = ranks.len() as u64;
    let communicates = ranks.iter().any(|(_, rank)| rank.counts.comm_kernels > 0);
    if open == 0 || (open == 1 && !communicates) {
        return check(GuideItem::EveryRank, None, GuideFact::Count(open));
    }
    let labels = captures.iter().flat_map(|(trace, _)| trace.ranks.iter().map(|rank| rank.label.parse::<u64>().ok()));
    let numbers: Option<BTreeSet<u64>> = labels.collect();
    let last = numbers.as_ref().and_then(BTreeSet::last).copied().unwrap_or_default();
    // A label far beyond what a job can have is no rank.
    let missing: Vec<u64> = numbers
        .filter(|_| last < 1 << 16)
        .map(|known| (0..last).filter(|rank| !known.contains(rank)).collect())
        .unwrap_or_default();
    let fact = if missing.is_empty() { GuideFact::Count(open) } else { GuideFact::Missing(missing.clone()) };
    check(GuideItem::EveryRank, Some(open > 1 && missing.is_empty()), fact)
}

fn marked(steps: &[(&Trace, &Steps)], gpu: bool) -> [GuideCheck; 2] {
    let count = steps.iter().map(|(_, steps)| steps.steps.len() as u64).min().unwrap_or(0);
    let phases: Vec<String> = steps.first().map(|(trace, steps)| phases(trace, steps)).unwrap_or_default();
    [
        check(GuideItem::Steps, (gpu || count > 0).then_some(count > 0), GuideFact::Count(count)),
        check(GuideItem::Phases, (count > 0).then_some(!phases.is_empty()), GuideFact::Names(phases)),
    ]
}

/// Names of the outermost ranges inside a typical step, on the thread that holds the steps. Ranges of a library's own
/// domain are not phases of the loop.
fn phases(trace: &Trace, steps: &Steps) -> Vec<String> {
    let step = steps.steps.iter().find(|step| step.typical).or_else(|| steps.steps.first());
    let Some((step, thread)) = step.zip(steps.thread.and_then(|at| trace.threads.get(at))) else { return Vec::new() };
    let table = &thread.nvtx;
    let first = table.start_ns.partition_point(|start_ns| *start_ns < step.range.start_ns);
    let mut reach_ns = i64::MIN;
    let mut names: Vec<String> = Vec::new();
    for at in (first..table.len()).take_while(|at| table.start_ns[*at] < step.range.end_ns) {
        let span = table.span(at);
        let inside = span != step.range && span.end_ns <= step.range.end_ns && table.kind[at] == RangeKind::PushPop;
        if !inside || span.start_ns < reach_ns || table.domain[at] != 0 {
            continue;
        }
        reach_ns = span.end_ns;
        let name = trace.name(table.name[at]);
        if names.len() < NAMED && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn steady(steps: &[(&Trace, &Steps)]) -> [GuideCheck; 2] {
    use super::StepEdge::WarmUp;
    let warm_ups = steps.iter().filter(|(_, steps)| steps.steps.iter().any(|step| step.edge == Some(WarmUp))).count();
    let typical = steps.iter().map(|(_, steps)| steps.typical.count).min();
    let enough = typical.map(|typical| typical >= ENOUGH_STEPS);
    // A warm-up step that is left out does no harm while enough others remain.
    let clean = enough.map(|enough| warm_ups == 0 || enough);
    [
        check(GuideItem::WarmUp, clean, GuideFact::Count(warm_ups as u64)),
        check(GuideItem::TypicalSteps, enough, GuideFact::Count(typical.unwrap_or(0))),
    ]
}

/// The largest idle share of any rank's typical step.
fn gaps(ranks: &[(&Trace, &RankAnalysis)]) -> GuideCheck {
    let idle = |rank: &RankAnalysis| {
        let typical = rank.steps.as_ref().map(|steps| steps.typical.mean).unwrap_or(rank.whole);
        share(typical.idle_ns, typical.span_ns)
    };
    let known = ranks.iter().filter(|(_, rank)| !rank.diagnosis.doubt.is_some_and(Limit::spoils_parts));
    let largest = known.filter_map(|(_, rank)| idle(rank)).max_by(f64::total_cmp);
    let state = if ranks.is_empty() { GuideState::NotApplicable } else { GuideState::Yours };
    GuideCheck { item: GuideItem::Gaps, state, fact: GuideFact::Share(largest) }
}

#[cfg(test)]
mod tests {
    use super::super::{Params, analyze};
    use super::*;
    use crate::trace::OpKind;
    use crate::trace::testing::Fixture;

    fn states(traces: &[Trace], settings: bool) -> Vec<(GuideItem, GuideState)> {
        guide(traces, settings).checks.into_iter().map(|check| (check.item, check.state)).collect()
    }

    fn guide(traces: &[Trace], settings: bool) -> Guide {
        let analyses: Vec<Analysis> = traces.iter().map(|trace| analyze(trace, &Params::default())).collect();
        let captures: Vec<(&Trace, &Analysis)> = traces.iter().zip(&analyses).collect();
        Guide::of(&captures, settings)
    }

    fn state(traces: &[Trace], item: GuideItem) -> GuideState {
        states(traces, false).into_iter().find(|(found, _)| *found == item).unwrap().1
    }

    fn fact(traces: &[Trace], item: GuideItem) -> GuideFact {
        guide(traces, false).checks.into_iter().find(|check| check.item == item).unwrap().fact
    }

    /// Five steps with phases, all launched, with a call into the system.
    fn good() -> Fixture {
        let mut fixture = Fixture::new();
        for step in 0..5 {
            let at = step * 1000;
            fixture.range(&format!("step {step}"), 1, at, at + 1000);
            fixture.range("forward", 1, at + 10, at + 300).range("layer 1", 1, at + 20, at + 100);
            fixture.range("backward", 1, at + 300, at + 900);
            fixture.launched("gemm", 7, 1, at + 30, at + 40, at + 950);
        }
        fixture
    }

    #[test]
    fn a_good_capture_leaves_little_to_do() {
        let traces = [good().build()];
        assert_eq!(state(&traces, GuideItem::Steps), GuideState::Done);
        assert_eq!(fact(&traces, GuideItem::Steps), GuideFact::Count(5));
        assert_eq!(
            fact(&traces, GuideItem::Phases),
            GuideFact::Names(vec!["forward".to_owned(), "backward".to_owned()])
        );
        assert_eq!(state(&traces, GuideItem::Launches), GuideState::Done);
        assert_eq!(state(&traces, GuideItem::TypicalSteps), GuideState::Done);
        assert_eq!(state(&traces, GuideItem::OsRuntime), GuideState::Open);
        assert_eq!(state(&traces, GuideItem::GraphNodes), GuideState::NotApplicable, "no graph was launched");
        assert_eq!(state(&traces, GuideItem::EveryRank), GuideState::NotApplicable, "nothing communicates");
        assert_eq!(state(&traces, GuideItem::OneChange), GuideState::Yours);
    }

    #[test]
    fn settings_decide_whether_mfu_can_be_told() {
        let traces = [good().build()];
        let of =
            |settings| states(&traces, settings).into_iter().find(|(item, _)| *item == GuideItem::Settings).unwrap().1;
        assert_eq!((of(true), of(false)), (GuideState::Done, GuideState::Open));
    }

    #[test]
    fn estimated_steps_count_as_unmarked() {
        let mut fixture = Fixture::new();
        for step in 0..20 {
            for kernel in 0..4 {
                let at = step * 1000 + kernel * 200;
                fixture.kernel(&format!("kernel {kernel}"), 7, at, at + 150);
            }
        }
        let traces = [fixture.build()];
        assert_eq!(state(&traces, GuideItem::Steps), GuideState::Open);
        assert_eq!(state(&traces, GuideItem::Phases), GuideState::NotApplicable);
        assert_eq!(state(&traces, GuideItem::TypicalSteps), GuideState::NotApplicable);
        assert_eq!(state(&traces, GuideItem::ApiCalls), GuideState::Open);
        assert_eq!(
            state(&traces, GuideItem::Launches),
            GuideState::NotApplicable,
            "without calls nothing can be joined"
        );
    }

    #[test]
    fn operations_without_a_launch_are_counted() {
        let mut fixture = good();
        fixture.kernel("lonely", 7, 960, 970).kernel("lonely", 7, 980, 990);
        let traces = [fixture.build()];
        assert_eq!(state(&traces, GuideItem::Launches), GuideState::Open);
        assert_eq!(fact(&traces, GuideItem::Launches), GuideFact::Count(2));
    }

    #[test]
    fn a_graph_as_a_block_is_open_and_graphs_by_node_are_done() {
        let mut blocks = good();
        blocks.gpu_op(OpKind::Graph, "", 7, 960, 990, None, None);
        assert_eq!(state(&[blocks.build()], GuideItem::GraphNodes), GuideState::Open);
        let mut nodes = good();
        nodes.call("cudaGraphLaunch_v10000", 1, 955, 958, None);
        assert_eq!(state(&[nodes.build()], GuideItem::GraphNodes), GuideState::Done);
    }

    #[test]
    fn missing_ranks_are_named_by_number() {
        let of = |labels: &[&str]| {
            let traces: Vec<Trace> = labels
                .iter()
                .map(|label| {
                    let mut fixture = good();
                    fixture.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 100, 200);
                    let mut trace = fixture.build();
                    trace.ranks[0].label = (*label).to_owned();
                    trace
                })
                .collect();
            (state(&traces, GuideItem::EveryRank), fact(&traces, GuideItem::EveryRank))
        };
        assert_eq!(of(&["0"]), (GuideState::Open, GuideFact::Count(1)), "one rank of a job that communicates");
        assert_eq!(of(&["0", "1"]), (GuideState::Done, GuideFact::Count(2)));
        assert_eq!(of(&["0", "3"]), (GuideState::Open, GuideFact::Missing(vec![1, 2])));
        assert_eq!(of(&["a", "b"]), (GuideState::Done, GuideFact::Count(2)), "labels that are no numbers");
        assert_eq!(of(&["0", "9999999999"]), (GuideState::Done, GuideFact::Count(2)), "a number that is no rank");
    }

    #[test]
    fn a_warm_up_step_is_fine_when_enough_steps_follow() {
        let with_steps = |steps: i64| {
            let mut fixture = Fixture::new();
            let mut at = 0;
            for step in 0..steps {
                let length = if step == 0 { 5000 } else { 1000 };
                fixture.range(&format!("step {step}"), 1, at, at + length);
                fixture.launched("gemm", 7, 1, at + 30, at + 40, at + length - 50);
                at += length;
            }
            fixture.build()
        };
        let of = |steps| {
            let traces = [with_steps(steps)];
            (
                state(&traces, GuideItem::WarmUp),
                fact(&traces, GuideItem::WarmUp),
                state(&traces, GuideItem::TypicalSteps),
            )
        };
        assert_eq!(of(7), (GuideState::Done, GuideFact::Count(1), GuideState::Done));
        assert_eq!(of(3), (GuideState::Open, GuideFact::Count(1), GuideState::Open));
    }

    #[test]
    fn nothing_open_gives_a_list_that_starts_with_recording() {
        let guide = Guide::of(&[], false);
        assert_eq!(guide.checks[0].state, GuideState::Open);
        assert!(guide.checks.iter().all(|check| check.state != GuideState::Done));
    }

    #[test]
    fn stages_follow_each_other() {
        let stages: Vec<GuideStage> = guide(&[good().build()], false).checks.iter().map(|c| c.item.stage()).collect();
        assert!(stages.is_sorted(), "{stages:?}");
    }
}
