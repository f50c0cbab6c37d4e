//! Lanes to a draw list: rectangles, hatches and labels in points, no toolkit types and no colours yet.
//!
//! Cost: what the pieces cost (see [`super::bins`]), and a text per label that is wide enough to be read.

use super::bins::{Piece, bin_ns, pieces};
use super::cache::Cache;
use super::found::{self, Ticks};
use super::ink::Ink;
use super::lanes::{LaneSlices, RowsKey};
use super::layout::{LANE_GAP_PT, Lane, Layout};
use super::waits;
use crate::format;
use crate::trace::Trace;
use crate::units::Span;
use crate::view::{Item, LaneKey, ViewState, Viewport, Workspace};

/// How strongly an ink is laid on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tone {
    /// The class at full strength.
    Solid(Ink),
    /// A trace of the class: something is here.
    Faint(Ink),
    /// Half strength.
    Half(Ink),
    /// The part of a kernel that waits for another rank: lighter, and nothing shows through.
    Wait(Ink),
    /// A line at the left of a slice, which separates neighbours.
    Edge,
    /// A colour that the program gave to its range.
    User([u8; 3]),
    /// Behind a rank's header.
    Header,
    /// Every second step in the strip.
    Step,
    /// Boundary of a step.
    Boundary,
    /// Line between lanes.
    Line,
    /// Mark of what a search found.
    Hit,
}

/// A rectangle in points; edges lie on physical pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Left edge.
    pub x0: f32,
    /// Right edge.
    pub x1: f32,
    /// Top edge.
    pub y0: f32,
    /// Bottom edge.
    pub y1: f32,
    /// What it is painted with.
    pub tone: Tone,
}

/// Text inside a rectangle.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Left edge of the visible part.
    pub x0: f32,
    /// Right edge of the visible part.
    pub x1: f32,
    /// Top of the row.
    pub y0: f32,
    /// Bottom of the row.
    pub y1: f32,
    /// Name.
    pub name: String,
    /// Duration, shown when there is room after the name.
    pub detail: String,
    /// Shown instead of a name that would be cut; empty when a cut name says enough.
    pub short: String,
    /// What the text stands on.
    pub on: Tone,
}

/// Everything to paint, layer by layer.
#[derive(Debug, Default)]
pub struct DrawList {
    /// Below the slices.
    pub back: Vec<Block>,
    /// Slices and bins.
    pub data: Vec<Block>,
    /// Idle and exposed marks.
    pub marks: Vec<Block>,
    /// Areas filled with diagonal strokes.
    pub hatches: Vec<Block>,
    /// Outlines and ticks of what a search found.
    pub found: Vec<Block>,
    /// Texts.
    pub labels: Vec<Label>,
}

/// Where on the screen what part of time is.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Open documents.
    pub workspace: &'a Workspace,
    /// What is shown.
    pub state: &'a ViewState,
    /// Left edge of the lane names.
    pub gutter_left_pt: f32,
    /// Left edge of the lanes.
    pub left_pt: f32,
    /// Right edge of the lanes.
    pub right_pt: f32,
    /// Top edge of the visible lanes.
    pub top_pt: f32,
    /// Bottom edge of the visible lanes.
    pub bottom_pt: f32,
    /// Where the top of the first lane is; above `top_pt` when scrolled.
    pub origin_pt: f32,
    /// Physical pixels per point.
    pub px_per_pt: f32,
    /// Height of the pinned lanes, which end at `top_pt`.
    pub pinned_pt: f32,
}

impl<'a> Frame<'a> {
    /// Width of the lanes.
    pub fn width_pt(&self) -> f64 {
        f64::from(self.right_pt - self.left_pt).max(1.0)
    }

    /// The view.
    pub fn viewport(&self) -> Viewport {
        self.state.viewport
    }

    /// The header that stays at the top while its lanes are scrolled.
    pub fn sticky(&self, layout: &Layout) -> Option<Lane> {
        layout.sticky(self.top_pt - self.origin_pt, self.bottom_pt - self.top_pt)
    }

    /// Where the pinned lanes are.
    #[must_use]
    pub fn pinned(&self) -> Self {
        let top_pt = self.top_pt - self.pinned_pt;
        Self { top_pt, bottom_pt: self.top_pt, origin_pt: top_pt, pinned_pt: 0.0, ..*self }
    }

    /// Where the ruler ends and the lanes begin, the pinned ones first.
    pub const fn ruler_bottom_pt(&self) -> f32 {
        self.top_pt - self.pinned_pt
    }

    /// Where the pinned and the other lanes are together.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self { top_pt: self.top_pt - self.pinned_pt, ..*self }
    }

    /// The lane that is seen at position `y_pt`.
    pub fn lane_at(&self, layout: &Layout, y_pt: f32) -> Option<Lane> {
        if y_pt < self.top_pt && self.pinned_pt > 0.0 {
            return self.pinned().lane_at(&layout.pinned(), y_pt);
        }
        layout.seen_at(y_pt - self.origin_pt, self.sticky(layout))
    }

    /// The lane whose line about more rows is at position `y_pt`.
    pub fn more_at(&self, layout: &Layout, y_pt: f32) -> Option<Lane> {
        let lane = self.lane_at(layout, y_pt)?;
        let own = if lane.pinned { self.pinned() } else { *self };
        lane.is_more_at(y_pt - own.origin_pt).then_some(lane)
    }

    /// Size of a physical pixel.
    pub fn px_pt(&self) -> f32 {
        1.0 / self.px_per_pt
    }

    /// Added to the times of document `doc` to get axis time, in the middle of the view: over what is visible, clocks
    /// drift by less than a pixel.
    pub fn offset_ns(&self, doc: usize) -> i64 {
        let middle_ns = self.viewport().middle_ns() as i64;
        self.workspace.docs.get(doc).map_or(0, |d| middle_ns.saturating_sub(d.own_ns(middle_ns)))
    }

    /// The visible span in the time of document `doc`.
    pub fn window(&self, doc: usize) -> Span {
        self.viewport().span().shifted(self.offset_ns(doc).saturating_neg())
    }

    /// Length of a bin.
    pub fn bin_ns(&self) -> i64 {
        bin_ns(self.viewport().ns_per_px(self.width_pt() * f64::from(self.px_per_pt)))
    }

    /// Position of axis time `at_ns`, on a physical pixel, at most a pixel outside of the lanes.
    pub fn x_of(&self, at_ns: f64) -> f32 {
        let x = f64::from(self.left_pt) + self.viewport().x_of(at_ns, self.width_pt());
        let px = f64::from(self.px_per_pt);
        let x = x.clamp(f64::from(self.left_pt) - 1.0 / px, f64::from(self.right_pt) + 1.0 / px);
        ((x * px).round() / px) as f32
    }

    /// Axis time at position `x_pt`.
    pub fn time_at(&self, x_pt: f32) -> f64 {
        self.viewport().time_at(f64::from(x_pt - self.left_pt), self.width_pt())
    }

    /// Left and right edge of `span` (time of document `doc`).
    pub fn edges(&self, doc: usize, span: Span) -> (f32, f32) {
        let span = span.shifted(self.offset_ns(doc));
        (self.x_of(span.start_ns as f64), self.x_of(span.end_ns as f64))
    }

    /// Rounds a vertical position to a physical pixel.
    pub fn snap(&self, y_pt: f32) -> f32 {
        (y_pt * self.px_per_pt).round() / self.px_per_pt
    }

    /// Top and bottom of row `row` of `lane` on screen.
    pub fn row_edges(&self, lane: &Lane, row: usize) -> (f32, f32) {
        let (top, bottom) = lane.row_edges_pt(row);
        let lane_top = self.origin_pt + lane.top_pt;
        // Rows of one lane are told apart by a pixel when there is room for it.
        let gap = if lane.row_pt >= 6.0 && lane.rows > 1 { self.px_pt() } else { 0.0 };
        (self.snap(lane_top + top), self.snap(lane_top + bottom) - gap)
    }

    /// The document's trace.
    pub fn trace(&self, doc: usize) -> Option<&'a Trace> {
        self.workspace.docs.get(doc).map(|d| &*d.trace)
    }
}

/// Share from which on a bin is drawn as wholly busy.
const FULL: f32 = 0.97;
/// Least width of a block that gets a label, and least height of its row.
const LABEL_MIN_PT: (f32, f32) = (26.0, 10.5);

/// Adds the slices of `lane`.
pub fn lane(frame: &Frame<'_>, cache: &Cache, lane: &Lane, list: &mut DrawList) {
    let Some(key) = lane.rows_key().filter(|_| !matches!(lane.key, LaneKey::Idle(_))) else { return };
    let doc = key.doc();
    let inks = cache.inks(doc);
    let (Some(rows), Some(slices)) = (cache.rows(key), LaneSlices::of(frame.workspace, &inks, key)) else { return };
    let mut buffer = Vec::new();
    let hits = cache.found.on(key);
    for (at, row) in rows.rows.iter().enumerate().take(lane.mark_row().unwrap_or(lane.rows)) {
        let (y0, y1) = frame.row_edges(lane, at);
        if y1 <= frame.top_pt || y0 >= frame.bottom_pt {
            continue;
        }
        buffer.clear();
        pieces(&rows, row, &slices, frame.window(doc), frame.bin_ns(), &mut buffer);
        let mut ticks = Ticks::default();
        // Operations of a row ascend, those of the next row begin anew.
        let mut waits = waits::on(frame, key);
        for piece in &buffer {
            let slice_at = row.slice(piece.first as usize);
            let hit = hits.as_ref().map(|hits| match piece.whole {
                true => hits.holds(&slices, slice_at),
                false => hits.in_bin(&slices, row, rows.rows.len() == 1, piece),
            });
            let tone = found::tone(piece.ink, hit);
            if piece.whole {
                slice(frame, lane, key, slice_at, piece, (y0, y1), tone, list);
                let wait_ns = waits.as_mut().and_then(|walk| walk.wait_ns(slice_at));
                if let (Some(wait_ns), Tone::Solid(ink)) = (wait_ns, tone) {
                    let (x0, x1) = frame.edges(doc, piece.span);
                    waits::bar(frame, doc, (piece.span, wait_ns), Block { x0, x1, y0, y1, tone }, ink, list);
                }
            } else {
                bin(frame, doc, piece, (y0, y1), tone, &mut list.data);
            }
            if hit == Some(true) {
                let (x0, x1) = frame.edges(doc, piece.span);
                let x1 = x1.max(x0 + frame.px_pt());
                if piece.whole { ticks.slice(frame, (x0, x1, y0, y1), list) } else { ticks.bin(x0, x1) }
            }
        }
        ticks.finish(frame, (y0, y1), list);
    }
}

/// Adds the line that tells of the rows a collapsed lane leaves out; a click on it brings them.
pub fn more(frame: &Frame<'_>, lane: &Lane, list: &mut DrawList) {
    if lane.more_pt <= 0.0 {
        return;
    }
    let y1 = frame.origin_pt + lane.bottom_pt() - LANE_GAP_PT;
    list.labels.push(Label {
        x0: frame.left_pt,
        x1: frame.right_pt,
        y0: y1 - lane.more_pt,
        y1,
        name: format!("… {}", format::counted(lane.hidden_rows as u64, "deeper row", "deeper rows")),
        detail: "click to expand".to_owned(),
        short: String::new(),
        on: Tone::Line,
    });
}

/// A bin: a faint ground where anything is, and a bar as high as the bin is busy.
pub fn bin(frame: &Frame<'_>, doc: usize, piece: &Piece, (y0, y1): (f32, f32), tone: Tone, out: &mut Vec<Block>) {
    if piece.fill() < FULL {
        let (x0, x1) = frame.edges(doc, piece.span);
        join(out, Block { x0, x1: x1.max(x0 + frame.px_pt()), y0, y1, tone: Tone::Faint(piece.ink) });
    }
    bar(frame, doc, piece, (y0, y1), tone, out);
}

/// A bar as high as the bin is busy.
pub fn bar(frame: &Frame<'_>, doc: usize, piece: &Piece, (y0, y1): (f32, f32), tone: Tone, out: &mut Vec<Block>) {
    let (x0, x1) = frame.edges(doc, piece.span);
    let x1 = x1.max(x0 + frame.px_pt());
    let fill = piece.fill();
    let height = ((y1 - y0) * fill).max((2.0 * frame.px_pt()).min(y1 - y0));
    let top = if fill >= FULL { y0 } else { frame.snap(y1 - height) };
    join(out, Block { x0, x1, y0: top, y1, tone });
}

/// Adds `block`, as a part of one of the last two when it only makes that wider: ground and bar take turns.
pub fn join(out: &mut Vec<Block>, block: Block) {
    let widens =
        |last: &&mut Block| (last.x1, last.y0, last.y1, last.tone) == (block.x0, block.y0, block.y1, block.tone);
    let recent = out.len().saturating_sub(2);
    match out.get_mut(recent..).into_iter().flatten().find(widens) {
        Some(last) => last.x1 = block.x1,
        None => out.push(block),
    }
}

#[expect(clippy::too_many_arguments, reason = "what a slice looks like")]
/// A slice as itself, with an edge, its program's colour and its label.
fn slice(
    frame: &Frame<'_>,
    lane: &Lane,
    key: RowsKey,
    at: u32,
    piece: &Piece,
    (y0, y1): (f32, f32),
    tone: Tone,
    list: &mut DrawList,
) {
    let doc = key.doc();
    let (x0, x1) = frame.edges(doc, piece.span);
    let x1 = x1.max(x0 + frame.px_pt());
    list.data.push(Block { x0, x1, y0, y1, tone });
    let mut text_x0 = x0;
    if x1 - x0 >= 4.0 * frame.px_pt() && x0 >= frame.left_pt {
        list.data.push(Block { x0, x1: x0 + frame.px_pt(), y0, y1, tone: Tone::Edge });
    }
    if let Some((thread, range)) = range_behind(frame, lane.key, at) {
        text_x0 = nvtx_extras(frame, doc, thread, range, (x0, x1, y0, y1), list);
    }
    let (x0, x1) = (text_x0.max(frame.left_pt), x1.min(frame.right_pt));
    if x1 - x0 >= LABEL_MIN_PT.0 && y1 - y0 >= LABEL_MIN_PT.1 {
        let (name, detail) = super::label::text_of(frame.workspace, key, at, piece.span);
        let short = super::label::short_of(frame.workspace, key, at).to_owned();
        list.labels.push(Label { x0, x1, y0, y1, name, detail, short, on: tone });
    }
}

/// Thread and index of the NVTX range that slice `at` of a lane shows, when it shows one.
fn range_behind(frame: &Frame<'_>, lane: LaneKey, at: u32) -> Option<(usize, u32)> {
    match lane {
        LaneKey::Nvtx(_, thread) => Some((thread, at)),
        LaneKey::Projection(rank, attribution) => Item::Projected(rank, attribution, at).range(frame.workspace),
        _ => None,
    }
}

/// The program's colour as an edge, and an open end; returns where the text may start.
fn nvtx_extras(
    frame: &Frame<'_>,
    doc: usize,
    thread: usize,
    at: u32,
    (x0, x1, y0, y1): (f32, f32, f32, f32),
    list: &mut DrawList,
) -> f32 {
    let Some(table) = frame.trace(doc).and_then(|t| t.threads.get(thread)).map(|t| &t.nvtx) else { return x0 };
    if table.open.get(at as usize) == Some(&true) && x1 - x0 > 8.0 {
        // No end was recorded: the right side is left unfinished.
        let x0 = (x1 - 10.0).max(x0);
        list.hatches.push(Block { x0: frame.snap(x0), x1, y0, y1, tone: Tone::Boundary });
    }
    let Some((red, green, blue)) = table.rgb(at as usize) else { return x0 };
    // On a narrow range the colour stays an edge.
    let width = frame.snap((x1 - x0) / 4.0).min(3.0);
    if width < frame.px_pt() || x0 < frame.left_pt {
        return x0;
    }
    list.data.push(Block { x0, x1: x0 + width, y0, y1, tone: Tone::User([red, green, blue]) });
    x0 + width
}

/// Adds what stands behind a lane and the line below it.
pub fn ground(frame: &Frame<'_>, lane: &Lane, list: &mut DrawList) {
    let (y0, y1) = (frame.origin_pt + lane.top_pt, frame.origin_pt + lane.bottom_pt());
    let (y0, y1) = (frame.snap(y0), frame.snap(y1));
    if lane.is_header() {
        list.back.push(Block { x0: frame.left_pt, x1: frame.right_pt, y0, y1, tone: Tone::Header });
        return;
    }
    let y0 = y1 - frame.snap(LANE_GAP_PT / 2.0);
    list.back.push(Block { x0: frame.left_pt, x1: frame.right_pt, y0, y1: y0 + frame.px_pt(), tone: Tone::Line });
}
