//! Waits inside the bars of matched communication kernels: from the start until the last rank had started the bar is
//! lighter with lines along it, then solid while data moves.

use super::coloring::Entry;
use super::draw::{Block, DrawList, Frame, Tone};
use super::ink::Ink;
use super::lanes::RowsKey;
use crate::job::{RankWaits, WaitWalk};
use crate::units::Span;
use crate::view::{LaneKey, OpLane, Workspace};

/// Narrower bars, and narrower waits in physical pixels, are drawn as bars alone.
const BAR_MIN_PT: f32 = 6.0;
const WAIT_MIN_PX: f32 = 2.0;
/// Distance of the lines, and the most of them on a bar.
const LINES_PT: f32 = 4.0;
const LINES: f32 = 10.0;

/// The waits of the kernels on the lane of `key`; `None` when it shows no communication or none is matched, and while
/// files are moved by hand: the waits are then those of the clock before.
pub fn on<'a>(frame: &Frame<'a>, key: RowsKey) -> Option<WaitWalk<'a>> {
    let rank = match key {
        RowsKey::Lane(LaneKey::Communication(rank) | LaneKey::Stream(rank, _, OpLane::Communication)) => rank,
        _ => return None,
    };
    if frame.workspace.job.moving {
        return None;
    }
    let kernels = frame.workspace.job.waits.kernels.get(frame.workspace.job_rank(rank)?)?;
    (!kernels.is_empty()).then(|| kernels.walk())
}

/// Draws the first `wait_ns` of a bar of `ink` as waiting. `span` is the kernel in the time of document `doc`.
pub fn bar(frame: &Frame<'_>, doc: usize, (span, wait_ns): (Span, i64), bar: Block, ink: Ink, list: &mut DrawList) {
    let until_ns = span.start_ns.saturating_add(wait_ns).min(span.end_ns);
    let (_, x1) = frame.edges(doc, Span::new(span.start_ns, until_ns));
    let px = frame.px_pt();
    // The line at the left of the bar stays.
    let x0 = bar.x0 + px;
    if bar.x1 - bar.x0 < BAR_MIN_PT || x1 - x0 < WAIT_MIN_PX * px {
        return;
    }
    // Text stands on the ground that most of the bar has.
    let label = list.labels.last_mut().filter(|label| (label.y0, label.on) == (bar.y0, bar.tone) && label.x1 <= bar.x1);
    if let Some(label) = label.filter(|label| label.x0 >= bar.x0 && 2.0 * (x1 - label.x0) > label.x1 - label.x0) {
        label.on = Tone::Wait(ink);
    }
    list.data.push(Block { x0, x1, tone: Tone::Wait(ink), ..bar });
    let step = LINES_PT.max((bar.y1 - bar.y0) / LINES);
    let mut y0 = frame.snap(bar.y0 + step / 2.0);
    while y0 + px <= bar.y1 {
        list.data.push(Block { x0, x1, y0, y1: y0 + px, tone: Tone::Solid(ink) });
        y0 = frame.snap(y0 + step);
    }
}

/// What the lines mean, for the legend, which says the reservation about them; `None` when no kernel waited for another
/// rank.
pub fn legend(workspace: &Workspace) -> Option<Entry> {
    let ranks = &workspace.job.waits.ranks;
    let busy_ns: i64 = ranks.iter().map(|rank| rank.split.wait_ns).sum();
    let count = ranks.iter().map(RankWaits::waited).sum();
    let is_known = workspace.job.clock.doubt().is_none();
    let text = if is_known { "Waiting for the last rank" } else { "Waiting (clock in doubt)" }.to_owned();
    (busy_ns > 0).then_some(Entry { ink: Ink::COMMUNICATION, text, count, busy_ns })
}
