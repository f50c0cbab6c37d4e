//! Level of detail: a row of any length to at most two pieces per bin, losing neither density nor a long slice.
//!
//! ```text
//! bin       |        |        |        |        |
//! slices    ▐▌ ▐▌▐▌ ████████████████ ▐▌ ▐▌    ▐▌
//! pieces    [ 3   ][ the slice itself ][2  ][ 1  ]
//! ```
//! Bins lie on absolute multiples of a power of two, so they do not shimmer while the view pans. A slice as long as a
//! bin stays itself. Shorter ones are gathered per bin; a slice that straddles a bin's edge is cut there and its rest
//! counted in the next bin. Slices of a row are disjoint, so only the last one that starts in a bin can be long.
//!
//! Cost: a gallop and at most two blocks of slices per bin.

use super::ink::Ink;
use super::rows::{Row, Rows, dominant};
use super::slices::Slices;
use crate::units::Span;

/// What is drawn: one slice, or the short slices of one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Where (time of the file).
    pub span: Span,
    /// Position on the row of the (first) slice.
    pub first: u32,
    /// Slices that start here; 0 when only the rest of the one before is left.
    pub count: u32,
    /// Nanoseconds of the span covered by slices.
    pub busy_ns: i64,
    /// Ink of the slice, or the one that covers the most of the bin.
    pub ink: Ink,
    /// True for one slice drawn as itself.
    pub whole: bool,
}

impl Piece {
    /// Share of the piece that is busy.
    pub fn fill(&self) -> f32 {
        let len_ns = self.span.len_ns();
        if self.whole || len_ns <= 0 { 1.0 } else { (self.busy_ns as f64 / len_ns as f64).min(1.0) as f32 }
    }
}

/// Length of a bin for `ns_per_px`: the smallest power of two that is at least a pixel.
pub fn bin_ns(ns_per_px: f64) -> i64 {
    if ns_per_px <= 1.0 {
        return 1;
    }
    let whole = ns_per_px.ceil().min((1_i64 << 62) as f64) as u64;
    whole.next_power_of_two().min(1 << 62) as i64
}

/// Start of the bin that holds `at_ns`.
pub fn bin_start(at_ns: i64, bin_ns: i64) -> i64 {
    // For a power of two this rounds towards the past, for negative times too.
    at_ns & !(bin_ns - 1)
}

/// Appends the pieces of `row` that touch `view` (time of the file) to `out`, in order of time and disjoint.
pub fn pieces<S: Slices>(rows: &Rows, row: &Row, slices: &S, view: Span, bin_ns: i64, out: &mut Vec<Piece>) {
    if let Some(grid) = row.grid().filter(|grid| grid.bin_ns() <= bin_ns) {
        grid.pieces(row, &rows.inks, slices, view, bin_ns, out);
    } else {
        gather(rows, row, slices, view, bin_ns, out);
    }
}

fn gather<S: Slices>(rows: &Rows, row: &Row, slices: &S, view: Span, bin_ns: i64, out: &mut Vec<Piece>) {
    let from_ns = bin_start(view.start_ns, bin_ns);
    // Whole bins, so that a piece does not depend on where the view ends.
    let to_ns = bin_start(view.end_ns - 1, bin_ns).saturating_add(bin_ns);
    let mut gather = Gather { rows, row, slices, bin_ns, cursor_ns: from_ns, guess: 0, rest: None, out };
    let mut at = row.first_from(slices, from_ns);
    while at < row.len() {
        let slice = row.slice(at);
        let span = slices.span(slice);
        if span.start_ns >= to_ns {
            break;
        }
        if span.len_ns() >= bin_ns {
            gather.flush_rest(span.start_ns);
            gather.whole(at, span, slices.ink(slice));
            at += 1;
        } else if span.start_ns < from_ns {
            gather.rest = Some((at, span.end_ns));
            at += 1;
        } else {
            at = gather.bin(at);
        }
    }
    // What is left may lie in the bin after the view.
    if gather.rest.is_some_and(|(_, end_ns)| end_ns <= to_ns) {
        gather.flush_rest(i64::MAX);
    }
}

struct Gather<'a, S: Slices> {
    rows: &'a Rows,
    row: &'a Row,
    slices: &'a S,
    bin_ns: i64,
    /// Nothing before this is left to draw.
    cursor_ns: i64,
    /// Slices of the bin before.
    guess: usize,
    /// A short slice that reaches into the bin at hand: position, end.
    rest: Option<(usize, i64)>,
    out: &'a mut Vec<Piece>,
}

impl<S: Slices> Gather<'_, S> {
    fn whole(&mut self, at: usize, span: Span, ink: Ink) {
        self.out.push(Piece { span, first: at as u32, count: 1, busy_ns: span.len_ns(), ink, whole: true });
        self.cursor_ns = span.end_ns;
    }

    /// Draws what is left of a straddling slice when nothing else starts in its bin; `next_ns` is the next start.
    fn flush_rest(&mut self, next_ns: i64) {
        let Some((at, end_ns)) = self.rest else { return };
        let ink = self.slices.ink(self.row.slice(at));
        let start_ns = bin_start(end_ns - 1, self.bin_ns).max(self.cursor_ns);
        let bin_end_ns = bin_start(end_ns - 1, self.bin_ns) + self.bin_ns;
        let span = Span::new(start_ns, bin_end_ns.min(next_ns.max(end_ns)));
        self.out.push(Piece { span, first: at as u32, count: 0, busy_ns: end_ns - start_ns, ink, whole: false });
        self.rest = None;
        self.cursor_ns = span.end_ns;
    }

    /// Gathers the short slices of the bin in which the slice at `at` starts; returns the position after them.
    fn bin(&mut self, at: usize) -> usize {
        let start_ns = self.slices.start_ns(self.row.slice(at));
        let bin_start_ns = bin_start(start_ns, self.bin_ns);
        let bin_end_ns = bin_start_ns.saturating_add(self.bin_ns);
        if self.rest.is_some_and(|(_, end_ns)| end_ns <= bin_start_ns) {
            self.flush_rest(start_ns);
        }
        let mut next = self.row.starting_from(self.slices, at, bin_end_ns, self.guess);
        self.guess = next - at;
        let last = self.slices.span(self.row.slice(next - 1));
        let mut end_ns = bin_end_ns;
        if last.len_ns() >= self.bin_ns {
            next -= 1;
            end_ns = last.start_ns;
        }
        let mut by_slot = [0; Ink::COUNT];
        self.row.add_busy(self.slices, self.rows.inks.len(), at..next, &mut by_slot);
        if let Some((rest_at, rest_end_ns)) = self.rest.take() {
            self.credit(&mut by_slot, rest_at, rest_end_ns - bin_start_ns.max(self.cursor_ns));
        }
        let tail_at = next - 1;
        let tail = self.slices.span(self.row.slice(tail_at));
        if tail.end_ns > bin_end_ns {
            self.credit(&mut by_slot, tail_at, bin_end_ns - tail.end_ns);
            self.rest = Some((tail_at, tail.end_ns));
        }
        let span = Span::new(bin_start_ns.max(self.cursor_ns), end_ns);
        let busy_ns = by_slot.iter().sum();
        let slot = dominant(&by_slot).unwrap_or_else(|| self.row.slot(at));
        let ink = self.rows.inks.get(slot).copied().unwrap_or(Ink::HOST);
        self.out.push(Piece { span, first: at as u32, count: (next - at) as u32, busy_ns, ink, whole: false });
        self.cursor_ns = span.end_ns;
        next
    }

    fn credit(&self, by_slot: &mut [i64], position: usize, ns: i64) {
        if let Some(sum) = by_slot.get_mut(self.row.slot(position)) {
            *sum += ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::{Painted, any_slices};
    use super::*;
    use proptest::prelude::*;

    fn one_row(painted: &Painted) -> Rows {
        Rows::packed(painted, 0..painted.0.len() as u32)
    }

    fn drawn(painted: &Painted, view: Span, bin: i64) -> Vec<Vec<Piece>> {
        let rows = one_row(painted);
        rows.rows
            .iter()
            .map(|row| {
                let mut out = Vec::new();
                pieces(&rows, row, painted, view, bin, &mut out);
                out
            })
            .collect()
    }

    fn painted(spans: &[(i64, i64)]) -> Painted {
        Painted(spans.iter().map(|(a, b)| (Span::new(*a, *b), 3)).collect())
    }

    #[test]
    fn bins_are_powers_of_two_of_at_least_a_pixel() {
        assert_eq!([0.2, 1.0, 1.5, 64.0, 65.0].map(bin_ns), [1, 1, 2, 64, 128]);
        assert_eq!([-1, 0, 7, 8].map(|at| bin_start(at, 8)), [-8, 0, 0, 8]);
    }

    #[test]
    fn a_slice_as_long_as_a_bin_stays_itself() {
        let pieces = &drawn(&painted(&[(1, 3), (4, 20), (21, 22)]), Span::new(0, 64), 8)[0];
        let spans: Vec<(i64, i64, u32, bool)> =
            pieces.iter().map(|p| (p.span.start_ns, p.span.end_ns, p.count, p.whole)).collect();
        assert_eq!(spans, [(0, 4, 1, false), (4, 20, 1, true), (20, 24, 1, false)]);
    }

    #[test]
    fn a_straddling_slice_is_cut_at_the_edge() {
        let pieces = &drawn(&painted(&[(6, 11)]), Span::new(0, 64), 8)[0];
        let parts: Vec<(i64, i64, i64, u32)> =
            pieces.iter().map(|p| (p.span.start_ns, p.span.end_ns, p.busy_ns, p.count)).collect();
        assert_eq!(parts, [(0, 8, 2, 1), (8, 16, 3, 0)]);
    }

    #[test]
    fn the_ink_with_the_most_time_wins() {
        let painted = Painted(vec![(Span::new(0, 1), 2), (Span::new(1, 2), 2), (Span::new(2, 6), 4)]);
        assert_eq!(drawn(&painted, Span::new(0, 8), 8)[0][0].ink, Ink(4));
    }

    #[test]
    fn panning_by_less_than_a_bin_moves_no_bin() {
        let painted = painted(&[(3, 5), (9, 11), (17, 19), (30, 31)]);
        let at_zero = drawn(&painted, Span::new(0, 64), 8);
        let panned = drawn(&painted, Span::new(3, 64), 8);
        assert_eq!(at_zero, panned);
    }

    fn clipped_busy(painted: &Painted, row: &[u32], span: Span) -> i64 {
        row.iter().filter_map(|at| painted.span(*at).intersect(span)).map(Span::len_ns).sum()
    }

    proptest! {
        #[test]
        fn pieces_equal_the_brute_force(painted in any_slices(150, 14, 24), from in -30..300_i64, len in 1..900_i64, power in 0..7_u32) {
            let (view, bin) = (Span::new(from, from + len), 1_i64 << power);
            let rows = one_row(&painted);
            for (row, pieces) in rows.rows.iter().zip(drawn(&painted, view, bin)) {
                let slices: Vec<u32> = (0..row.len()).map(|p| row.slice(p)).collect();
                let mut count = 0;
                for pair in pieces.windows(2) {
                    prop_assert!(pair[0].span.end_ns <= pair[1].span.start_ns, "pieces are disjoint: {pair:?}");
                }
                for piece in &pieces {
                    let first = painted.span(slices[piece.first as usize]);
                    if piece.whole {
                        prop_assert_eq!(piece.span, first);
                        prop_assert!(first.len_ns() >= bin);
                    } else {
                        prop_assert!(piece.span.len_ns() <= bin);
                        prop_assert_eq!(bin_start(piece.span.start_ns, bin), bin_start(piece.span.end_ns - 1, bin));
                        prop_assert_eq!(piece.busy_ns, clipped_busy(&painted, &slices, piece.span));
                        let starts = slices.iter().filter(|at| {
                            let s = painted.span(**at);
                            s.len_ns() < bin && piece.span.start_ns <= s.start_ns && s.start_ns < piece.span.end_ns
                        }).count();
                        prop_assert!(piece.count as usize >= starts);
                    }
                    count += piece.count as usize;
                }
                // Everything that touches the view is drawn, once.
                let touching = slices.iter().filter(|at| {
                    let s = painted.span(**at);
                    s.start_ns < view.end_ns && (s.end_ns > view.start_ns || s.start_ns >= view.start_ns)
                }).count();
                prop_assert!(count + 1 >= touching, "{count} of {touching}");
                // No busy nanosecond of the view is lost.
                let busy: i64 = pieces.iter().map(|p| clipped_busy(&painted, &slices, p.span.intersect(view).unwrap_or_default())).sum();
                prop_assert_eq!(busy, clipped_busy(&painted, &slices, view));
            }
        }

        #[test]
        fn a_grid_gives_the_same_pieces(painted in any_slices(200, 9, 40), long in prop::collection::vec((0..6000_u32, 1..3000_i64), 0..6),
                                        from in -100..40_000_i64, len in 1..40_000_i64, power in 0..14_u32) {
            // Long enough for a grid: the slices again and again, some of them stretched.
            let unit = painted.0.iter().map(|(s, _)| s.end_ns).max().unwrap_or(0) + 21;
            let copies = 5000 / painted.0.len().max(1) as i64 + 1;
            let mut many: Vec<(Span, u8)> = (0..copies).flat_map(|n| painted.0.iter().map(move |(s, ink)| (s.shifted(n * unit), *ink))).collect();
            for (at, more) in long {
                if let Some((span, _)) = many.get_mut(at as usize) {
                    span.end_ns += more;
                }
            }
            let painted = Painted(many);
            let rows = one_row(&painted);
            let view = Span::new(from, from + len);
            for row in rows.rows.iter() {
                let Some(grid) = row.grid() else { continue };
                let bin = grid.bin_ns() << power;
                let (mut by_grid, mut by_slice) = (Vec::new(), Vec::new());
                grid.pieces(row, &rows.inks, &painted, view, bin, &mut by_grid);
                gather(&rows, row, &painted, view, bin, &mut by_slice);
                prop_assert_eq!(by_grid, by_slice);
            }
        }

        #[test]
        fn there_are_at_most_two_pieces_a_bin(painted in any_slices(400, 6, 12), power in 0..6_u32) {
            let bin = 1_i64 << power;
            for pieces in drawn(&painted, Span::new(0, 400), bin) {
                prop_assert!(pieces.len() as i64 <= 2 * (400 / bin + 3));
            }
        }
    }
}
