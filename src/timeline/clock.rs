//! Axis time as text: the one place that the ruler, the pointer, tooltips, the status bar and spans take it from.

use crate::format;
use crate::view::{Axis, RankId, ViewState, Workspace};

/// Axis time `at_ns`, told to `step_ns`, in the unit of ticks that are `tick_ns` apart.
pub fn text(workspace: &Workspace, state: &ViewState, at_ns: i64, tick_ns: i64, step_ns: i64) -> String {
    let zero = state.zero(workspace);
    match zero.epoch_ns {
        Some(epoch_ns) => format::time_of_day(epoch_ns.saturating_add(at_ns), step_ns),
        None => format::time_between(at_ns.saturating_sub(zero.at_ns), tick_ns, step_ns),
    }
}

/// Axis time `at_ns`, told to a thousandth of `len_ns`.
pub fn exact(workspace: &Workspace, state: &ViewState, at_ns: i64, len_ns: i64) -> String {
    text(workspace, state, at_ns, len_ns, (len_ns / 1000).max(1))
}

/// Axis time `at_ns`, told to about four digits of `len_ns`, for lines that only say where something is.
pub fn rough(workspace: &Workspace, state: &ViewState, at_ns: i64, len_ns: i64) -> String {
    text(workspace, state, at_ns, len_ns, (len_ns / 200).max(1))
}

/// From when time is counted, in a few words.
pub fn name(workspace: &Workspace, state: &ViewState) -> String {
    let zero = state.zero(workspace);
    match (zero.axis, zero.step) {
        (Axis::Wall, _) => "UTC".to_owned(),
        (Axis::Step, Some(step)) => format!("since {}", step_name(workspace, step)),
        _ => "since the capture's start".to_owned(),
    }
}

/// The same in a sentence, with the day, and with the reason when another axis was wished for.
pub fn about(workspace: &Workspace, state: &ViewState) -> String {
    let zero = state.zero(workspace);
    let text = match (zero.axis, zero.epoch_ns) {
        (Axis::Wall, Some(epoch_ns)) => {
            let day = format::utc(epoch_ns.saturating_add(state.viewport.middle_ns() as i64));
            format!("Time of day, UTC, by the session start of the chosen rank's file: {day}.")
        }
        (Axis::Step, _) => format!("Time {}.", name(workspace, state)),
        _ => "Time since the first event of the capture.".to_owned(),
    };
    match zero.refused {
        Some(reason) => format!("{text} {} is not shown: {reason}.", state.axis.text()),
        None => text,
    }
}

fn step_name(workspace: &Workspace, (rank, step): (RankId, usize)) -> String {
    let step = super::label::step_of(workspace, rank, step as u32);
    step.map_or_else(|| "the step".to_owned(), |step| format::one_line(&step.name, 24))
}
