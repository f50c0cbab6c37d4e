//! The step strip at the top of a rank, and the step boundaries through its lanes.

use super::draw::{Block, DrawList, Frame, Label, Tone};
use super::layout::{Lane, Layout};
use crate::analysis::{Step, StepEdge};
use crate::format;
use crate::view::{LaneKey, RankId};

/// Boundaries closer than this are not drawn through the lanes.
const LINE_GAP_PT: f32 = 6.0;
/// Length of a dash of an estimated boundary, and of the gap after it.
const DASH_PT: f32 = 4.0;
/// Steps narrower than this are drawn as one.
const STRIP_MIN_PT: f32 = 2.0;

/// Steps of `rank` (time of the document), sorted and disjoint, and whether they are estimated.
pub fn steps_of<'a>(frame: &Frame<'a>, rank: RankId) -> (&'a [Step], bool) {
    let doc = frame.workspace.docs.get(rank.doc);
    let steps = doc.and_then(|d| d.analysis.ranks.get(rank.rank)).and_then(|r| r.steps.as_ref());
    steps.map_or((&[], false), |steps| (&steps.steps, steps.estimated))
}

/// Adds the strip of a rank's header `lane` and the boundaries of its block. Costs a binary search per step drawn.
pub fn rank(frame: &Frame<'_>, layout: &Layout, lane: &Lane, list: &mut DrawList) {
    let LaneKey::Rank(id) = lane.key else { return };
    let (steps, estimated) = steps_of(frame, id);
    let window = frame.window(id.doc);
    let (y0, y1) = frame.row_edges(lane, 0);
    let Some((_, bottom_pt)) = layout.block(id) else { return };
    let bottom = frame.snap(frame.origin_pt + bottom_pt);
    let mut at = steps.partition_point(|s| s.window.end_ns <= window.start_ns);
    let mut last_line = f32::NEG_INFINITY;
    let labels = list.labels.len();
    while let Some(step) = steps.get(at).filter(|s| s.window.start_ns < window.end_ns) {
        let (x0, x1) = frame.edges(id.doc, step.window);
        let tone = if at % 2 == 0 { Tone::Step } else { Tone::Header };
        list.back.push(Block { x0, x1: x1.max(x0 + frame.px_pt()), y0, y1, tone });
        for x in [x0, x1] {
            if x >= last_line + LINE_GAP_PT && x > frame.left_pt && x < frame.right_pt {
                let line = Block { x0: x, x1: x + frame.px_pt(), y0, y1: bottom, tone: Tone::Boundary };
                boundary(line, estimated, &mut list.marks);
                last_line = x;
            }
        }
        let (x0, x1) = (x0.max(frame.left_pt), x1.min(frame.right_pt));
        if x1 - x0 >= 26.0 {
            let (name, detail) = (super::label::safe(&step.name), detail(step));
            let short = step.number.map_or_else(String::new, |number| number.to_string());
            list.labels.push(Label { x0: x0 + 2.0, x1, y0, y1, name, detail, short, on: tone });
        }
        // Past steps that end within the next points: too narrow to be told apart. A long one that begins there stays.
        let narrow_ns = frame.time_at(x0 + STRIP_MIN_PT) as i64 - frame.offset_ns(id.doc);
        at = steps.partition_point(|s| s.window.end_ns < narrow_ns).max(at + 1);
    }
    alike(list.labels.get_mut(labels..).unwrap_or_default());
}

/// Width of a letter and of what is around a label, roughly: the texts are laid out later.
const LETTER_PT: f32 = 5.2;
const AROUND_PT: f32 = 9.0;

/// Gives the steps of a strip names of one form: the longest that fits most of them.
fn alike(labels: &mut [Label]) {
    type Form = fn(&Label) -> [&str; 2];
    const FORMS: [Form; 4] = [
        |label| [&label.name, &label.detail],
        |label| [&label.name, ""],
        |label| [&label.short, &label.detail],
        |label| [&label.short, ""],
    ];
    let fits = |form: Form, label: &Label| {
        // One more stands for the space between the two.
        let letters: usize = form(label).iter().map(|text| text.chars().count() + usize::from(!text.is_empty())).sum();
        letters.saturating_sub(1) as f32 * LETTER_PT + AROUND_PT <= label.x1 - label.x0
    };
    let most = |form: &Form| 2 * labels.iter().filter(|label| fits(*form, label)).count() > labels.len();
    // Steps without a number have no other name.
    let usable = if labels.iter().any(|label| label.short.is_empty()) { 2 } else { FORMS.len() };
    let Some(form) = FORMS.into_iter().take(usable).find(most) else { return };
    for label in labels {
        let [name, detail] = form(label).map(str::to_owned);
        (label.name, label.detail) = (name, detail);
    }
}

/// A line, or dashes where the step is estimated.
fn boundary(line: Block, dashed: bool, out: &mut Vec<Block>) {
    if !dashed {
        out.push(line);
        return;
    }
    let mut y0 = line.y0;
    while y0 < line.y1 {
        out.push(Block { y0, y1: (y0 + DASH_PT).min(line.y1), ..line });
        y0 += 2.0 * DASH_PT;
    }
}

/// How long a step is, and what sets it apart. Where there is no room for that its name still stands whole.
fn detail(step: &Step) -> String {
    let length = format::duration(step.window.len_ns());
    match step.edge {
        Some(StepEdge::WarmUp) => format!("warm-up, {length}"),
        Some(StepEdge::Cut) => format!("cut, {length}"),
        Some(StepEdge::Outlier) => format!("outlier, {length}"),
        None => length,
    }
}
