//! One row of a lane: slices that do not overlap, in order of time, with running sums by ink.

use super::grid::Grid;
use super::ink::Ink;
use super::slices::Slices;
use std::ops::Range;

/// Slices between two stored sums.
pub const BLOCK: usize = 32;

/// Which slices are on a row, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Items {
    Run(Range<u32>),
    List(Vec<u32>),
}

/// One row: slices that do not overlap, in order of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    items: Items,
    /// Slot of each slice's ink in [`Rows::inks`]; empty when there is only one.
    slots: Vec<u8>,
    /// Start of the first slice of each block.
    starts_ns: Vec<i64>,
    /// Busy nanoseconds of the slices before each block, one entry per slot; one block more than there are slices for.
    sums: Vec<i64>,
    grid: Option<Grid>,
}

impl Row {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let list = match &self.items {
            Items::Run(_) => 0,
            Items::List(list) => list.capacity() * size_of::<u32>(),
        };
        let sums = (self.starts_ns.capacity() + self.sums.capacity()) * size_of::<i64>();
        list + self.slots.capacity() + sums + self.grid.as_ref().map_or(0, Grid::bytes)
    }

    /// The row summed up, when it is long.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Number of slices.
    pub fn len(&self) -> usize {
        match &self.items {
            Items::Run(run) => run.len(),
            Items::List(list) => list.len(),
        }
    }

    /// Index of the slice at `position`; the last one's for a position past the end.
    pub fn slice(&self, position: usize) -> u32 {
        match &self.items {
            Items::Run(run) => run.start.saturating_add(position as u32).min(run.end.saturating_sub(1)),
            Items::List(list) => list.get(position).or(list.last()).copied().unwrap_or(0),
        }
    }

    /// Position of slice `at`, when it is on this row.
    pub fn position_of<S: Slices>(&self, slices: &S, at: u32) -> Option<usize> {
        let start_ns = slices.start_ns(at);
        // Instants at one time may share a row, so equal starts are looked through.
        let first = self.bisect(0, self.len(), &|other| slices.start_ns(other) < start_ns);
        (first..self.len())
            .take_while(|position| slices.start_ns(self.slice(*position)) == start_ns)
            .find(|position| self.slice(*position) == at)
    }

    /// First position at or after `from` whose slice starts at or after `at_ns`; `guess` is how far that may be.
    ///
    /// Gallops over the blocks, then looks into one, so that it costs the logarithm of the error of the guess.
    pub fn starting_from<S: Slices>(&self, slices: &S, from: usize, at_ns: i64, guess: usize) -> usize {
        let before = |block: usize| self.starts_ns.get(block).is_some_and(|start_ns| *start_ns < at_ns);
        let first = from / BLOCK + 1;
        // Blocks in `first..low` start before `at_ns`, the one at `high` does not.
        let (mut low, mut high) = (first, first + guess / BLOCK);
        let mut step = 1;
        while before(high) {
            low = high + 1;
            high += step;
            step *= 2;
        }
        high = high.min(self.starts_ns.len()).max(low);
        while low < high {
            let middle = usize::midpoint(low, high);
            if before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // The boundary is inside the block before `low`.
        let (from, to) = (from.max((low - 1) * BLOCK), (low * BLOCK).min(self.len()));
        (from..to).find(|at| slices.start_ns(self.slice(*at)) >= at_ns).unwrap_or_else(|| to.max(from.min(self.len())))
    }

    fn bisect(&self, mut low: usize, mut high: usize, before: &impl Fn(u32) -> bool) -> usize {
        while low < high {
            let middle = usize::midpoint(low, high);
            if before(self.slice(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// First position whose slice ends after `at_ns` or starts at or after it.
    pub fn first_from<S: Slices>(&self, slices: &S, at_ns: i64) -> usize {
        let over = |at: u32| slices.end_ns(at) <= at_ns && slices.start_ns(at) < at_ns;
        self.bisect(0, self.len(), &over)
    }

    /// Slot of the ink of the slice at `position`.
    pub fn slot(&self, position: usize) -> usize {
        self.slots.get(position).copied().map_or(0, usize::from)
    }

    /// Adds the busy nanoseconds of the slices at `positions` to `by_slot`.
    pub fn add_busy<S: Slices>(&self, slices: &S, width: usize, positions: Range<usize>, by_slot: &mut [i64]) {
        let (first_block, last_block) = (positions.start.div_ceil(BLOCK), positions.end / BLOCK);
        if first_block >= last_block {
            self.add_each(slices, positions, by_slot);
            return;
        }
        self.add_each(slices, positions.start..first_block * BLOCK, by_slot);
        let sums = |block: usize| self.sums.get(block * width..(block + 1) * width).unwrap_or(&[]);
        for ((sum, from), to) in by_slot.iter_mut().zip(sums(first_block)).zip(sums(last_block)) {
            *sum += to - from;
        }
        self.add_each(slices, last_block * BLOCK..positions.end, by_slot);
    }

    fn add_each<S: Slices>(&self, slices: &S, positions: Range<usize>, by_slot: &mut [i64]) {
        for position in positions {
            if let Some(sum) = by_slot.get_mut(self.slot(position)) {
                *sum += slices.span(self.slice(position)).len_ns();
            }
        }
    }
}

/// The row of the slices in `list`, whose inks are among `inks`.
pub fn row_of<S: Slices>(slices: &S, inks: &[Ink], mut list: Vec<u32>) -> Row {
    let mut slot_of = [0_u8; Ink::COUNT];
    for (slot, ink) in (0..).zip(inks) {
        if let Some(of) = slot_of.get_mut(ink.0 as usize) {
            *of = slot;
        }
    }
    let blocks = list.len() / BLOCK + 1;
    let mut slots = Vec::with_capacity(if inks.len() > 1 { list.len() } else { 0 });
    let (mut starts_ns, mut sums) = (Vec::with_capacity(blocks), Vec::with_capacity(blocks * inks.len()));
    let mut running = vec![0_i64; inks.len()];
    for block in list.chunks(BLOCK) {
        starts_ns.extend(block.first().map(|at| slices.start_ns(*at)));
        sums.extend_from_slice(&running);
        for at in block {
            let slot = slot_of.get(slices.ink(*at).0 as usize).copied().unwrap_or(0);
            if inks.len() > 1 {
                slots.push(slot);
            }
            if let Some(sum) = running.get_mut(slot as usize) {
                *sum += slices.span(*at).len_ns();
            }
        }
    }
    if list.len().is_multiple_of(BLOCK) {
        sums.extend_from_slice(&running);
    }
    let contiguous = list.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(1) == Some(*b)));
    let items = match (list.first(), list.last()) {
        (Some(first), Some(last)) if contiguous && *last < u32::MAX => Items::Run(*first..last + 1),
        _ => {
            list.shrink_to_fit();
            Items::List(list)
        }
    };
    let mut row = Row { items, slots, starts_ns, sums, grid: None };
    row.grid = Grid::of(&row, slices, inks.len());
    row
}

/// The slot with the most time; the first of several, none when all are zero.
pub fn dominant(by_slot: &[i64]) -> Option<usize> {
    let (at, most) = by_slot.iter().enumerate().max_by_key(|(at, ns)| (**ns, std::cmp::Reverse(*at)))?;
    (*most > 0).then_some(at)
}
