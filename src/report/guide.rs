//! The checklist in words: what each point is, how it stands, and what to do about it.

use super::Capture;
use crate::analysis::{ENOUGH_STEPS, Guide, GuideCheck, GuideFact, GuideItem, GuideStage, GuideState, Limit};
use crate::format;
use serde::Serialize;

/// A point of the checklist in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GuideLine {
    /// Part of the way.
    pub stage: GuideStage,
    /// Stable word.
    pub item: GuideItem,
    /// Where it stands.
    pub state: GuideState,
    /// What it is.
    pub title: &'static str,
    /// What was found.
    pub reason: String,
    /// What to do; absent when nothing is left.
    pub how: Option<String>,
}

/// The checklist of some captures in words; `settings` is true when MFU can be told.
pub fn guide_lines(captures: &[Capture<'_>], settings: bool) -> Vec<GuideLine> {
    let pairs: Vec<_> = captures.iter().map(|capture| (capture.trace, capture.analysis)).collect();
    Guide::of(&pairs, settings).checks.iter().map(GuideLine::of).collect()
}

/// Name of a part of the way.
pub const fn stage_title(stage: GuideStage) -> &'static str {
    match stage {
        GuideStage::Record => "Record a baseline",
        GuideStage::Measure => "Know the distance to the peak",
        GuideStage::Mark => "Mark the training loop",
        GuideStage::Steady => "Capture steady steps",
        GuideStage::Look => "Look where time is lost",
        GuideStage::Change => "Change one thing",
    }
}

/// Name of a state.
pub const fn state_title(state: GuideState) -> &'static str {
    match state {
        GuideState::Done => "done",
        GuideState::Open => "to do",
        GuideState::NotApplicable => "not needed",
        GuideState::Yours => "yours",
    }
}

impl GuideLine {
    fn of(check: &GuideCheck) -> Self {
        let open = matches!(check.state, GuideState::Open | GuideState::Yours);
        Self {
            stage: check.item.stage(),
            item: check.item,
            state: check.state,
            title: title(check.item),
            reason: reason(check),
            how: open.then(|| how(check.item)),
        }
    }
}

const fn title(item: GuideItem) -> &'static str {
    match item {
        GuideItem::GpuWork => "GPU work is recorded",
        GuideItem::ApiCalls => "CUDA calls are recorded",
        GuideItem::Launches => "Every operation has its launch",
        GuideItem::OsRuntime => "System calls are recorded",
        GuideItem::GraphNodes => "Kernels inside CUDA graphs are recorded",
        GuideItem::EveryRank => "Every rank is open",
        GuideItem::Settings => "Model and batch are given",
        GuideItem::Steps => "Steps are marked",
        GuideItem::Phases => "Phases inside the step are marked",
        GuideItem::WarmUp => "Warm-up is left out",
        GuideItem::TypicalSteps => "Enough steps are alike",
        GuideItem::Gaps => "Look at the gaps first",
        GuideItem::OneChange => "Form one hypothesis and change one thing",
    }
}

fn how(item: GuideItem) -> String {
    let text = match item {
        GuideItem::GpuWork | GuideItem::ApiCalls => Limit::NoApiCalls.remedy(),
        GuideItem::Launches => Limit::MissingLaunches.remedy(),
        GuideItem::OsRuntime => Limit::NoOsRuntime.remedy(),
        GuideItem::GraphNodes => Limit::GraphBlocks.remedy(),
        GuideItem::EveryRank => Limit::OneRank.remedy(),
        GuideItem::Settings => {
            "give model, batch and number format in the MFU panel, or in a settings file (--settings)"
        }
        GuideItem::Steps => Limit::NoSteps.remedy(),
        GuideItem::Phases => "put ranges inside the step: dataloader, forward, backward, optimizer",
        GuideItem::WarmUp | GuideItem::TypicalSteps => "start the profiler after ten steps and record five",
        GuideItem::Gaps => "start with the longest gaps and the cause they share; kernels come later",
        GuideItem::OneChange => {
            "write down what you expect, change only that, record the same steps again and open both captures"
        }
    };
    if text.starts_with("nsys ") { format!("Record with {text}") } else { sentence(text) }
}

/// With a capital at its start.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn reason(check: &GuideCheck) -> String {
    let done = check.state == GuideState::Done;
    match (&check.fact, check.item) {
        (GuideFact::Count(count), item) => counted(item, check.state, *count),
        (GuideFact::Names(names), _) if names.is_empty() => match check.state {
            GuideState::NotApplicable => "No steps are marked yet.".to_owned(),
            _ => "No range lies inside the steps.".to_owned(),
        },
        (GuideFact::Names(names), _) => {
            let names: Vec<String> = names.iter().map(|name| format::one_line(name, 40)).collect();
            format!("Found {}.", names.join(", "))
        }
        (GuideFact::Missing(ranks), _) => missing(ranks),
        (GuideFact::Share(share), _) => match share {
            Some(share) => format!("Up to {} of the time is idle.", format::percent(Some(*share))),
            None if check.state == GuideState::NotApplicable => "No GPU work, so no gaps.".to_owned(),
            None => "The capture does not tell how much of the time is idle.".to_owned(),
        },
        (GuideFact::None, GuideItem::Settings) if done => "MFU can be told.".to_owned(),
        (GuideFact::None, GuideItem::Settings) => "Without them MFU is unknown.".to_owned(),
        (GuideFact::None, _) => "With two changes at once nobody knows which one helped.".to_owned(),
    }
}

fn missing(ranks: &[u64]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = ranks.iter().take(SHOWN).map(u64::to_string).collect();
    let more = if ranks.len() > SHOWN { " and more" } else { "" };
    format!("{} {}{more} not open.", if ranks.len() == 1 { "Rank" } else { "Ranks" }, shown.join(", "))
}

fn counted(item: GuideItem, state: GuideState, count: u64) -> String {
    let of = |one: &str, many: &str| format::counted(count, one, many);
    let (open, not_needed) = (state == GuideState::Open, state == GuideState::NotApplicable);
    match item {
        GuideItem::GpuWork => format!("{}.", of("operation", "operations")),
        GuideItem::ApiCalls if open && count > 0 => "One of the captures has none.".to_owned(),
        GuideItem::ApiCalls => format!("{}.", of("call", "calls")),
        GuideItem::Launches if not_needed => "Needs GPU work and CUDA calls.".to_owned(),
        GuideItem::Launches if open => {
            format!("{} without: cut off by the capture's window.", of("operation", "operations"))
        }
        GuideItem::Launches => "None is missing.".to_owned(),
        GuideItem::OsRuntime if open && count > 0 => "One of the captures has none.".to_owned(),
        GuideItem::OsRuntime if open => "Waiting of host threads has no name.".to_owned(),
        GuideItem::OsRuntime => format!("{}.", of("call", "calls")),
        GuideItem::GraphNodes if not_needed => "No CUDA graph was launched.".to_owned(),
        GuideItem::GraphNodes if open => {
            format!("{} recorded as one block each.", of("graph launch", "graph launches"))
        }
        GuideItem::GraphNodes => "No graph is a single block.".to_owned(),
        GuideItem::EveryRank if not_needed && count == 1 => "One rank that does not communicate.".to_owned(),
        GuideItem::EveryRank if not_needed => "No rank ran GPU work.".to_owned(),
        GuideItem::EveryRank if open => {
            "One rank of a job that communicates: waiting for the others is hidden.".to_owned()
        }
        GuideItem::EveryRank => format!("{}.", of("rank", "ranks")),
        GuideItem::Steps if count == 0 => "No range with a step word and a counter launched GPU work.".to_owned(),
        GuideItem::Steps => format!("{} per rank.", of("step", "steps")),
        GuideItem::WarmUp | GuideItem::TypicalSteps if not_needed => "No steps are marked yet.".to_owned(),
        GuideItem::WarmUp if count == 0 => "The first step is as long as the others.".to_owned(),
        GuideItem::WarmUp if open => "The first step is a warm-up, and few others remain.".to_owned(),
        GuideItem::WarmUp => "The first step is a warm-up; it is shown and left out of means.".to_owned(),
        GuideItem::TypicalSteps => {
            format!("{}; {} are enough.", of("typical step", "typical steps"), format::count(ENOUGH_STEPS))
        }
        GuideItem::Settings | GuideItem::Phases | GuideItem::Gaps | GuideItem::OneChange => String::new(),
    }
}

/// The checklist for a terminal.
pub(super) fn text(lines: &[GuideLine]) -> String {
    let mut text = "\nChecklist\n".to_owned();
    let mut stage = None;
    for line in lines {
        if stage != Some(line.stage) {
            stage = Some(line.stage);
            text.push_str(&format!("  {}\n", stage_title(line.stage)));
        }
        let sign = match line.state {
            GuideState::Done => "[x]",
            GuideState::Open => "[ ]",
            GuideState::NotApplicable => "[-]",
            GuideState::Yours => "[>]",
        };
        text.push_str(&format!("    {sign} {}: {}\n", line.title, line.reason));
        if let Some(how) = &line.how {
            text.push_str(&format!("        {how}\n"));
        }
    }
    text.push_str("  How to record: stepscope capture-help\n");
    text
}
