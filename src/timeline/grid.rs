//! A row summed up on a grid of coarse bins, so that a view of millions of slices reads a few kilobytes in order
//! instead of jumping through columns.
//!
//! The grid holds the slices shorter than its bins; longer ones are listed beside it. Any coarser bin is a sum of the
//! grid's, so the pieces are the same as those of [`super::bins`], to the nanosecond.
//!
//! Cost: 4 bytes a bin and 4 more per ink, for at most one bin in [`PER_BIN`] slices: about one byte a slice.

use super::bins::{Piece, bin_start};
use super::ink::Ink;
use super::rows::{Row, dominant};
use super::slices::Slices;
use crate::units::Span;

/// Slices per bin, at least, on average.
const PER_BIN: i64 = 32;
/// Rows with fewer slices have no grid.
const LEAST: usize = 4096;

/// The sums of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Length of a bin, a power of two.
    bin_ns: i64,
    /// Start of the first bin.
    start_ns: i64,
    /// For each bin and the end, the position of the first slice that starts there or later.
    first: Vec<u32>,
    /// Nanoseconds of short slices in each bin, one entry per slot of ink.
    busy_ns: Vec<u32>,
    /// Positions of the slices at least as long as a bin.
    long: Vec<u32>,
    /// Entries per bin.
    width: usize,
}

impl Grid {
    /// Sums up `row`, whose inks take `width` slots; `None` when it is too short to need it or too long for the grid.
    pub fn of<S: Slices>(row: &Row, slices: &S, width: usize) -> Option<Self> {
        if row.len() < LEAST {
            return None;
        }
        let (first, last) = (slices.span(row.slice(0)), slices.span(row.slice(row.len() - 1)));
        let len_ns = first.hull(last).len_ns().max(1);
        let bin_ns = (len_ns / row.len() as i64).checked_mul(PER_BIN)?.max(1);
        let bin_ns = i64::try_from((bin_ns as u64).next_power_of_two()).ok().filter(|ns| *ns <= 1 << 31)?;
        let start_ns = bin_start(first.start_ns, bin_ns);
        let bins = ((last.end_ns - start_ns) / bin_ns + 1) as usize;
        let (starts, busy_ns) = (Vec::with_capacity(bins + 1), vec![0; bins * width]);
        let mut grid = Self { bin_ns, start_ns, first: starts, busy_ns, long: Vec::new(), width };
        for position in 0..row.len() {
            let span = slices.span(row.slice(position));
            let bin = grid.bin_of(span.start_ns);
            grid.first.resize(grid.first.len().max(bin + 1), position as u32);
            if span.len_ns() >= bin_ns {
                grid.long.push(position as u32);
                continue;
            }
            let edge_ns = start_ns + (bin as i64 + 1) * bin_ns;
            grid.credit(bin, row.slot(position), span.end_ns.min(edge_ns) - span.start_ns);
            grid.credit(bin + 1, row.slot(position), (span.end_ns - edge_ns).max(0));
        }
        grid.first.resize(bins + 1, row.len() as u32);
        Some(grid)
    }

    fn credit(&mut self, bin: usize, slot: usize, ns: i64) {
        if ns > 0
            && let Some(sum) = self.busy_ns.get_mut(bin * self.width + slot)
        {
            *sum += ns as u32;
        }
    }

    /// Length of a bin.
    pub fn bin_ns(&self) -> i64 {
        self.bin_ns
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.first.capacity() + self.busy_ns.capacity() + self.long.capacity()) * size_of::<u32>()
    }

    /// The bin that holds `at_ns`; the nearest one for times outside.
    fn bin_of(&self, at_ns: i64) -> usize {
        ((at_ns.saturating_sub(self.start_ns)).max(0) / self.bin_ns) as usize
    }

    fn first_in(&self, bin: usize) -> u32 {
        self.first.get(bin).or(self.first.last()).copied().unwrap_or(0)
    }

    /// Appends the pieces of the bins of `bin_ns` that touch `view`; `bin_ns` is at least the grid's.
    pub fn pieces<S: Slices>(
        &self,
        row: &Row,
        inks: &[Ink],
        slices: &S,
        view: Span,
        bin_ns: i64,
        out: &mut Vec<Piece>,
    ) {
        let end_ns = self.start_ns.saturating_add(self.bin_ns.saturating_mul(self.first.len() as i64));
        let from_ns = bin_start(view.start_ns.max(self.start_ns), bin_ns);
        let to_ns = view.end_ns.min(end_ns);
        let span = |position: u32| slices.span(row.slice(position as usize));
        // Long slices that reach into the view, in order.
        let mut long = self.long.partition_point(|position| span(*position).end_ns <= from_ns);
        let mut cursor_ns = from_ns;
        let mut bin_start_ns = from_ns;
        while bin_start_ns < to_ns {
            let bin_end_ns = bin_start_ns.saturating_add(bin_ns);
            let (low, high) = (self.bin_of(bin_start_ns), self.bin_of(bin_end_ns));
            let mut by_slot = [0_i64; Ink::COUNT];
            let cells = self.busy_ns.get(low * self.width..(high * self.width).min(self.busy_ns.len())).unwrap_or(&[]);
            for cell in cells.chunks_exact(self.width) {
                for (sum, ns) in by_slot.iter_mut().zip(cell) {
                    *sum += i64::from(*ns);
                }
            }
            let (first, mut next) = (self.first_in(low), self.first_in(high));
            let (mut region_end_ns, mut whole) = (bin_end_ns, None);
            while let Some(position) = self.long.get(long).copied() {
                let slice = span(position);
                if slice.start_ns >= bin_end_ns {
                    break;
                }
                if slice.len_ns() >= bin_ns {
                    if slice.start_ns >= bin_start_ns {
                        next = position;
                    }
                    region_end_ns = region_end_ns.min(slice.start_ns.max(cursor_ns));
                    whole = Some((position, slice));
                    long += 1;
                    break;
                }
                let inside = slice.end_ns.min(bin_end_ns) - slice.start_ns.max(bin_start_ns);
                if let Some(sum) = by_slot.get_mut(row.slot(position as usize)) {
                    *sum += inside;
                }
                if slice.end_ns > bin_end_ns {
                    // Its rest belongs to the next bin.
                    break;
                }
                long += 1;
            }
            let busy_ns: i64 = by_slot.iter().sum();
            let count = next.saturating_sub(first);
            if count > 0 || busy_ns > 0 {
                let first = if count > 0 { first } else { first.saturating_sub(1) };
                let slot = dominant(&by_slot).unwrap_or_else(|| row.slot(first as usize));
                let ink = inks.get(slot).copied().unwrap_or(Ink::HOST);
                let span = Span::new(bin_start_ns.max(cursor_ns), region_end_ns);
                out.push(Piece { span, first, count, busy_ns, ink, whole: false });
            }
            bin_start_ns = bin_end_ns;
            if let Some((position, slice)) = whole {
                let ink = slices.ink(row.slice(position as usize));
                let busy_ns = slice.len_ns();
                out.push(Piece { span: slice, first: position, count: 1, busy_ns, ink, whole: true });
                cursor_ns = slice.end_ns;
                // Bins that the slice covers whole have nothing else in them.
                bin_start_ns = bin_start_ns.max(bin_start(slice.end_ns, bin_ns));
            }
        }
    }
}
