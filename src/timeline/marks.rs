//! Idle gaps by cause and exposed communication as marks of their own: at any zoom, and readable without colour.
//!
//! A gap long enough to be listed, and every exposed interval, is marked at least [`MARK_PX`] pixels wide, but never covers
//! the next mark of its kind.

use super::bins::{Piece, pieces};
use super::cache::Cache;
use super::draw::{Block, DrawList, Frame, Label, Tone, bar};
use super::found;
use super::ink::Ink;
use super::lanes::{LaneSlices, RowsKey};
use super::layout::Lane;
use super::slices::Slices;
use crate::analysis::{Cause, Idle};
use crate::format;
use crate::units::Span;
use crate::view::{Coloring, LaneKey, RankId};

/// Least width of a mark in physical pixels.
pub const MARK_PX: f32 = 2.0;
/// Height of the strip that marks exposed communication.
const STRIP_PT: f32 = 3.0;
/// From this width on exposed communication is hatched.
const HATCH_MIN_PT: f32 = 5.0;

/// From this width on a part of a gap is labelled: with its cause, or with the letters that stand for it.
const LETTERS_MIN_PT: f32 = 14.0;

/// Ink of a gap: that of the cause that takes most of it.
fn gap_ink(idle: &Idle, gap: u32) -> Ink {
    Ink::cause(idle.cause_of(gap as usize).unwrap_or(Cause::Unknown))
}

/// Adds the marks that belong on `lane`.
pub fn lane(frame: &Frame<'_>, cache: &Cache, lane: &Lane, list: &mut DrawList) {
    let before = [list.data.len(), list.marks.len(), list.hatches.len()];
    let labels = list.labels.len();
    add(frame, cache, lane, list);
    let searched = lane.rows_key().is_some_and(|key| cache.found.on(key).is_some());
    if searched && !lane.has_marks {
        let layers = [&mut list.data, &mut list.marks, &mut list.hatches].into_iter().zip(before);
        let blocks = layers.flat_map(|(blocks, before)| blocks.iter_mut().skip(before)).map(|block| &mut block.tone);
        for tone in blocks.chain(list.labels.iter_mut().skip(labels).map(|label| &mut label.on)) {
            found::dim(tone);
        }
    }
}

fn add(frame: &Frame<'_>, cache: &Cache, lane: &Lane, list: &mut DrawList) {
    match lane.key {
        LaneKey::Nvtx(doc, thread) if lane.has_marks => nvtx(frame, cache, lane, (doc, thread), list),
        LaneKey::Communication(_) | LaneKey::Idle(_) if !frame.state.marks => {}
        LaneKey::Communication(rank) => exposed(frame, cache, lane, rank, list),
        LaneKey::Idle(rank) => idle(frame, cache, lane, rank, list),
        _ => {}
    }
}

/// The pieces of a set of marks, and the edges of each after widening.
fn widened(frame: &Frame<'_>, cache: &Cache, key: RowsKey) -> Vec<(Piece, u32, f32, f32)> {
    let inks = cache.inks(key.doc());
    let (Some(rows), Some(slices)) = (cache.rows(key), LaneSlices::of(frame.workspace, &inks, key)) else {
        return Vec::new();
    };
    let Some(row) = rows.rows.first() else { return Vec::new() };
    let mut found = Vec::new();
    pieces(&rows, row, &slices, frame.window(key.doc()), frame.bin_ns(), &mut found);
    let spans: Vec<(f32, f32)> = found
        .iter()
        .map(|piece| {
            // A single mark is drawn where it is, not over its whole bin.
            let own = if piece.count == 1 { slices.span(row.slice(piece.first as usize)) } else { piece.span };
            frame.edges(key.doc(), own)
        })
        .collect();
    let wide = widen(&spans, MARK_PX * frame.px_pt());
    found.into_iter().zip(wide).map(|(piece, (x0, x1))| (piece, row.slice(piece.first as usize), x0, x1)).collect()
}

/// Edges at least `least` apart, but not past the left edge of the next.
pub fn widen(spans: &[(f32, f32)], least: f32) -> Vec<(f32, f32)> {
    let next = spans.iter().skip(1).map(|(x0, _)| *x0).chain(std::iter::once(f32::INFINITY));
    spans.iter().zip(next).map(|((x0, x1), next)| (*x0, x1.max((x0 + least).min(next)))).collect()
}

/// NVTX marks: a tick each, with its name when the next one leaves room.
fn nvtx(frame: &Frame<'_>, cache: &Cache, lane: &Lane, (doc, thread): (usize, usize), list: &mut DrawList) {
    let (y0, y1) = frame.row_edges(lane, lane.rows.saturating_sub(1));
    let key = RowsKey::Marks(doc, thread);
    let found = widened(frame, cache, key);
    for (at, (piece, mark, x0, x1)) in found.iter().enumerate() {
        list.data.push(Block { x0: *x0, x1: *x1, y0, y1, tone: Tone::Solid(Ink::SYNC) });
        let room = found.get(at + 1).map_or(frame.right_pt, |(_, _, next, _)| *next) - x1;
        if piece.count == 1 && room >= 30.0 {
            let (name, _) = super::label::text_of(frame.workspace, key, *mark, piece.span);
            let x1 = (x1 + room.min(160.0)).min(frame.right_pt);
            list.labels.push(Label {
                x0: *x0,
                x1,
                y0,
                y1,
                name,
                detail: String::new(),
                short: String::new(),
                on: Tone::Line,
            });
        }
    }
}

fn exposed(frame: &Frame<'_>, cache: &Cache, lane: &Lane, rank: RankId, list: &mut DrawList) {
    let y0 = frame.row_edges(lane, 0).0;
    let y1 = frame.row_edges(lane, lane.rows.saturating_sub(1)).1;
    let strip = y0 + STRIP_PT.min((y1 - y0) / 3.0);
    let doc = frame.workspace.docs.get(rank.doc);
    let Some(analysis) = doc.and_then(|d| d.analysis.ranks.get(rank.rank)) else { return };
    let mut mostly = Vec::new();
    for (piece, _, x0, x1) in widened(frame, cache, RowsKey::Exposed(rank)) {
        list.marks.push(Block { x0, x1, y0, y1: frame.snap(strip), tone: Tone::Solid(Ink::EXPOSED) });
        if piece.whole || 2 * piece.busy_ns >= analysis.comm.within(piece.span) {
            mostly.push((x0, x1));
        }
    }
    let px = frame.px_pt();
    for (x0, x1) in runs(&mostly, MARK_PX * px).into_iter().filter(|(x0, x1)| x1 - x0 >= HATCH_MIN_PT) {
        // On colours that stand for something else, strokes of shade are seen better than those of one colour.
        let tone = if frame.state.coloring == Coloring::Class { Tone::Solid(Ink::EXPOSED) } else { Tone::Edge };
        list.hatches.push(Block { x0, x1, y0, y1, tone });
        for edge in [x0, x1 - px] {
            list.marks.push(Block { x0: edge, x1: edge + px, y0, y1, tone: Tone::Solid(Ink::EXPOSED) });
        }
    }
}

/// Neighbours closer than `gap` as one.
fn runs(spans: &[(f32, f32)], gap: f32) -> Vec<(f32, f32)> {
    let mut runs: Vec<(f32, f32)> = Vec::new();
    for (x0, x1) in spans {
        match runs.last_mut() {
            Some(last) if x0 - last.1 < gap => last.1 = x1.max(last.1),
            _ => runs.push((*x0, *x1)),
        }
    }
    runs
}

fn idle(frame: &Frame<'_>, cache: &Cache, lane: &Lane, rank: RankId, list: &mut DrawList) {
    let doc = frame.workspace.docs.get(rank.doc);
    let Some(idle) = doc.and_then(|d| d.analysis.ranks.get(rank.rank)).map(|numbers| &numbers.idle) else { return };
    let (y0, y1) = frame.row_edges(lane, 0);
    // The strip of exposed communication runs along the bottom, the gaps above it.
    let strip = frame.snap(y1 - STRIP_PT);
    for (_, _, x0, x1) in widened(frame, cache, RowsKey::Exposed(rank)) {
        list.marks.push(Block { x0, x1, y0: strip, y1, tone: Tone::Solid(Ink::EXPOSED) });
    }
    let gaps = (y0, strip - frame.px_pt());
    for (piece, gap, x0, x1) in widened(frame, cache, RowsKey::Lane(LaneKey::Idle(rank))) {
        if piece.whole {
            let block = Block { x0, x1, y0: gaps.0, y1: gaps.1, tone: Tone::Solid(gap_ink(idle, gap)) };
            one_gap(frame, idle, rank.doc, piece.span, block, list);
        } else {
            bar(frame, rank.doc, &piece, gaps, Tone::Solid(piece.ink), &mut list.data);
        }
    }
    let listed = widened(frame, cache, RowsKey::Listed(rank));
    let least = MARK_PX * frame.px_pt();
    let right_of = |at: usize| listed.get(at).map_or(f32::NEG_INFINITY, |(_, _, _, x1)| *x1);
    let left_of = |at: usize| listed.get(at).map_or(f32::INFINITY, |(_, _, x0, _)| *x0);
    for (at, (_, gap, x0, x1)) in listed.iter().enumerate().filter(|(_, (piece, ..))| !piece.whole) {
        // Marks side by side would read as one long gap, so those are only a trace; the bars tell how much is idle.
        let before = at.checked_sub(1).map_or(f32::NEG_INFINITY, right_of);
        let alone = x0 - before >= least && left_of(at + 1) - x1 >= least;
        let ink = gap_ink(idle, *gap);
        let tone = if alone { Tone::Half(ink) } else { Tone::Faint(ink) };
        list.marks.push(Block { x0: *x0, x1: *x1, y0: gaps.0, y1: gaps.1, tone });
    }
}

/// A gap in the ink of its main cause, and over it the parts that have other causes, where they can be told apart.
fn one_gap(frame: &Frame<'_>, idle: &Idle, doc: usize, gap: Span, block: Block, list: &mut DrawList) {
    list.data.push(block);
    let Some(seen) = gap.intersect(frame.window(doc)) else { return };
    let pixels = (block.x1 - block.x0) * frame.px_per_pt;
    // Parts that are mostly thinner than a pixel would only flicker.
    if idle.segments_within(seen) as f32 * 2.0 > pixels {
        label(frame, gap, block, list);
        return;
    }
    for (span, cause) in idle.segments(seen) {
        let (x0, x1) = frame.edges(doc, span);
        let part = Block { x0, x1, tone: Tone::Solid(Ink::cause(cause)), ..block };
        if part.x1 <= part.x0 {
            continue;
        }
        if part.tone != block.tone {
            list.data.push(part);
        }
        if span.start_ns > gap.start_ns && x1 - x0 >= 4.0 * frame.px_pt() && x0 >= frame.left_pt {
            list.data.push(Block { x1: x0 + frame.px_pt(), tone: Tone::Edge, ..part });
        }
        label(frame, span, part, list);
    }
}

/// The cause and the length of `span`, as much of it as fits into `block`.
fn label(frame: &Frame<'_>, span: Span, block: Block, list: &mut DrawList) {
    let (x0, x1) = (block.x0.max(frame.left_pt), block.x1.min(frame.right_pt));
    let Tone::Solid(ink) = block.tone else { return };
    if x1 - x0 < LETTERS_MIN_PT {
        return;
    }
    let cause = ink.as_cause().unwrap_or(Cause::Unknown);
    let (name, detail) = (cause.text().to_owned(), format::duration(span.len_ns()));
    let short = cause.letters().to_owned();
    list.labels.push(Label { x0, x1, y0: block.y0, y1: block.y1, name, detail, short, on: block.tone });
}

#[cfg(test)]
mod tests {
    use super::{runs, widen};

    #[test]
    fn neighbours_make_a_run() {
        assert_eq!(runs(&[(0.0, 1.0), (1.0, 2.0), (3.0, 4.0), (9.0, 20.0)], 2.0), [(0.0, 4.0), (9.0, 20.0)]);
    }

    #[test]
    fn a_narrow_mark_is_widened_up_to_its_neighbour() {
        let wide = widen(&[(0.0, 0.1), (1.0, 1.2), (10.0, 30.0)], 2.0);
        assert_eq!(wide, [(0.0, 1.0), (1.0, 3.0), (10.0, 30.0)]);
    }
}
