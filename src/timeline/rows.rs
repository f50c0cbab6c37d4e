//! Lane to rows: on one row slices are sorted and disjoint, so that binary search finds them and running sums add up.
//!
//! Cost per slice: 4 bytes for its index (none when the indices are contiguous), one for its ink (none on a lane of one
//! ink), for every [`BLOCK`] slices 8 bytes and 8 more per ink that occurs, and the [`Grid`]: 8 bytes on a lane of six
//! families. Building is two passes.

use super::grid::Grid;
use super::ink::Ink;
use super::slices::Slices;
use crate::analysis::Coverage;
use crate::units::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
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

/// The rows of a lane.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The rows from top to bottom.
    pub rows: Vec<Row>,
    /// Inks that occur, in order; a slice's slot is its ink's place here.
    pub inks: Vec<Ink>,
    /// Time covered by any row, when there are several.
    union: Option<Coverage>,
}

impl Rows {
    /// Rows for `indices` in order of start: each slice goes to the first row that is free at its start, so there are
    /// as many rows as slices ever run at once.
    pub fn packed<S: Slices>(slices: &S, indices: impl Iterator<Item = u32>) -> Self {
        Self::of_lists(slices, packed_lists(slices, indices))
    }

    /// As [`Rows::packed`], for lanes whose busy time is asked for: several rows also keep the union of their slices,
    /// at 16 bytes for every span of it.
    pub fn measured<S: Slices>(slices: &S, indices: impl Iterator<Item = u32> + Clone) -> Self {
        let mut rows = Self::packed(slices, indices.clone());
        rows.union = (rows.rows.len() > 1).then(|| Coverage::from_sorted(indices.map(|at| slices.span(at))));
        rows
    }

    /// Rows for `indices` in order of start, then longest first: a slice inside another goes below it. Slices for which
    /// `apart` holds may cross others; they get rows of their own below.
    pub fn nested<S: Slices>(
        slices: &S,
        indices: impl Iterator<Item = u32> + Clone,
        apart: impl Fn(u32) -> bool,
    ) -> Self {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut open_ends: Vec<i64> = Vec::new();
        for at in indices.clone().filter(|at| !apart(*at)) {
            let span = slices.span(at);
            while open_ends.last().is_some_and(|end| *end <= span.start_ns) {
                open_ends.pop();
            }
            match lists.get_mut(open_ends.len()) {
                Some(list) => list.push(at),
                None => lists.push(vec![at]),
            }
            open_ends.push(span.end_ns);
        }
        lists.extend(packed_lists(slices, indices.filter(|at| apart(*at))));
        Self::of_lists(slices, lists)
    }

    fn of_lists<S: Slices>(slices: &S, lists: Vec<Vec<u32>>) -> Self {
        let mut seen = [false; Ink::COUNT];
        for at in lists.iter().flatten() {
            if let Some(seen) = seen.get_mut(slices.ink(*at).0 as usize) {
                *seen = true;
            }
        }
        let inks: Vec<Ink> = (0..).zip(seen).filter(|(_, seen)| *seen).map(|(ink, _)| Ink(ink)).collect();
        let rows = lists.into_iter().map(|list| row_of(slices, &inks, list)).collect();
        Self { rows, inks, union: None }
    }

    /// Nanoseconds of `window` (time of the file) during which any slice runs; `None` for several rows that were not
    /// [`Rows::measured`].
    pub fn busy_within<S: Slices>(&self, slices: &S, window: Span) -> Option<i64> {
        if let Some(union) = &self.union {
            return Some(union.within(window));
        }
        let row = match self.rows.as_slice() {
            [] => return Some(0),
            [row] => row,
            _ => return None,
        };
        if window.is_empty() {
            return Some(0);
        }
        let first = row.first_from(slices, window.start_ns);
        let last = row.starting_from(slices, first, window.end_ns, row.len());
        if last <= first {
            return Some(0);
        }
        let mut by_slot = [0; Ink::COUNT];
        row.add_busy(slices, self.inks.len(), first..last, &mut by_slot);
        let cut_head = (window.start_ns - slices.start_ns(row.slice(first))).max(0);
        let cut_tail = (slices.end_ns(row.slice(last - 1)) - window.end_ns).max(0);
        Some(by_slot.iter().sum::<i64>() - cut_head - cut_tail)
    }

    /// Row and position of slice `at`.
    pub fn find<S: Slices>(&self, slices: &S, at: u32) -> Option<(usize, usize)> {
        self.rows.iter().enumerate().find_map(|(row, r)| Some((row, r.position_of(slices, at)?)))
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let list = |row: &Row| match &row.items {
            Items::Run(_) => 0,
            Items::List(list) => list.capacity() * size_of::<u32>(),
        };
        let blocks = |row: &Row| {
            let grid = row.grid.as_ref().map_or(0, Grid::bytes);
            (row.starts_ns.capacity() + row.sums.capacity()) * size_of::<i64>() + grid
        };
        let rows: usize = self.rows.iter().map(|r| list(r) + r.slots.capacity() + blocks(r)).sum();
        rows + self.union.as_ref().map_or(0, |u| size_of_val(u.spans()))
    }
}

/// Indices by row: each slice goes to the first row that is free at its start.
fn packed_lists<S: Slices>(slices: &S, indices: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut lists: Vec<Vec<u32>> = Vec::new();
    let mut busy: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    for at in indices {
        let span = slices.span(at);
        while let Some(Reverse((_, row))) = busy.peek().copied().filter(|Reverse((end, _))| *end <= span.start_ns) {
            busy.pop();
            free.push(Reverse(row));
        }
        let row = free.pop().map_or(lists.len(), |Reverse(row)| row);
        busy.push(Reverse((span.end_ns, row)));
        match lists.get_mut(row) {
            Some(list) => list.push(at),
            None => lists.push(vec![at]),
        }
    }
    lists
}

fn row_of<S: Slices>(slices: &S, inks: &[Ink], mut list: Vec<u32>) -> Row {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slices with a given ink each.
    #[derive(Debug)]
    pub struct Painted(pub Vec<(Span, u8)>);

    impl Slices for Painted {
        fn start_ns(&self, at: u32) -> i64 {
            self.0[at as usize].0.start_ns
        }
        fn end_ns(&self, at: u32) -> i64 {
            self.0[at as usize].0.end_ns
        }
        fn ink(&self, at: u32) -> Ink {
            Ink(self.0[at as usize].1)
        }
    }

    /// Up to `count` slices in the order of the model's tables.
    pub fn any_slices(count: usize, gap: i64, len: i64) -> impl Strategy<Value = Painted> {
        prop::collection::vec((0..gap, 0..len, 2..5_u8), 0..count).prop_map(|raw| {
            let mut start_ns = -20;
            let mut slices: Vec<(Span, u8)> = raw
                .into_iter()
                .map(|(gap, len, ink)| {
                    start_ns += gap;
                    (Span::new(start_ns, start_ns + len), ink)
                })
                .collect();
            slices.sort_by_key(|(s, _)| (s.start_ns, Reverse(s.end_ns)));
            Painted(slices)
        })
    }

    fn all(painted: &Painted) -> impl Iterator<Item = u32> + Clone {
        0..painted.0.len() as u32
    }

    fn slices_of(row: &Row) -> Vec<u32> {
        (0..row.len()).map(|p| row.slice(p)).collect()
    }

    fn assert_sound(rows: &Rows, painted: &Painted) {
        let mut seen: Vec<u32> = rows.rows.iter().flat_map(slices_of).collect();
        seen.sort_unstable();
        assert_eq!(seen, all(painted).collect::<Vec<_>>(), "every slice is on exactly one row");
        for row in &rows.rows {
            for pair in slices_of(row).windows(2) {
                assert!(painted.end_ns(pair[0]) <= painted.start_ns(pair[1]), "a row's slices are disjoint");
            }
        }
    }

    fn brute_busy(painted: &Painted, window: Span) -> i64 {
        Coverage::from_sorted(painted.0.iter().filter_map(|(s, _)| s.intersect(window))).total_ns()
    }

    #[test]
    fn slices_in_a_row_need_no_list() {
        let painted = Painted((0..200).map(|at| (Span::new(at * 10, at * 10 + 5), 3)).collect());
        let rows = Rows::packed(&painted, all(&painted));
        assert_eq!(rows.rows.len(), 1);
        assert_eq!(rows.rows[0].items, Items::Run(0..200));
        assert!(rows.bytes() < 300);
    }

    #[test]
    fn a_nested_slice_goes_below_its_parent_and_a_crossing_one_apart() {
        let spans = [(0, 100), (10, 50), (20, 120), (60, 90)];
        let painted = Painted(spans.iter().map(|(a, b)| (Span::new(*a, *b), 3)).collect());
        let rows = Rows::nested(&painted, all(&painted), |at| at == 2);
        let by_row: Vec<Vec<u32>> = rows.rows.iter().map(slices_of).collect();
        assert_eq!(by_row, [vec![0], vec![1, 3], vec![2]]);
    }

    #[test]
    fn memory_stays_under_twelve_bytes_a_slice() {
        let painted = Painted((0..10_000).map(|at| (Span::new(at * 7, at * 7 + 6), 3)).collect());
        let rows = Rows::packed(&painted, (0..10_000_u32).filter(|at| at % 3 != 0));
        assert!(rows.bytes() < 12 * 6667, "{}", rows.bytes());
    }

    proptest! {
        #[test]
        fn packing_uses_as_many_rows_as_slices_overlap(painted in any_slices(200, 12, 30)) {
            let rows = Rows::packed(&painted, all(&painted));
            assert_sound(&rows, &painted);
            let deepest = painted.0.iter().filter(|(s, _)| !s.is_empty()).map(|(s, _)| {
                painted.0.iter().filter(|(o, _)| o.contains(s.start_ns)).count()
            }).max().unwrap_or(0);
            // An instant inside a slice needs a row too.
            prop_assert!(rows.rows.len() <= deepest + 1);
        }

        #[test]
        fn nesting_keeps_rows_disjoint_whatever_crosses(painted in any_slices(120, 12, 40), apart in any::<u64>()) {
            let rows = Rows::nested(&painted, all(&painted), |at| apart >> (at % 64) & 1 == 1);
            assert_sound(&rows, &painted);
        }

        #[test]
        fn busy_time_of_a_window_is_that_of_the_union(painted in any_slices(300, 9, 12), from in -30..900_i64, len in 0..700_i64) {
            let window = Span::new(from, from + len);
            let rows = Rows::measured(&painted, all(&painted));
            prop_assert_eq!(rows.busy_within(&painted, window), Some(brute_busy(&painted, window)));
            let single = Rows::packed(&painted, all(&painted));
            prop_assert_eq!(single.busy_within(&painted, window).is_some(), single.rows.len() < 2);
        }

        #[test]
        fn sums_by_ink_equal_adding_up(painted in any_slices(400, 20, 10), from in 0..400_usize, len in 0..400_usize) {
            let rows = Rows::packed(&painted, all(&painted));
            for row in &rows.rows {
                let range = from.min(row.len())..(from + len).min(row.len());
                let mut fast = vec![0; rows.inks.len()];
                row.add_busy(&painted, rows.inks.len(), range.clone(), &mut fast);
                let mut slow = vec![0; rows.inks.len()];
                for position in range {
                    let at = row.slice(position);
                    let slot = rows.inks.iter().position(|ink| *ink == painted.ink(at)).unwrap();
                    slow[slot] += painted.span(at).len_ns();
                }
                prop_assert_eq!(fast, slow);
            }
        }

        #[test]
        fn galloping_finds_what_a_scan_finds(painted in any_slices(200, 12, 10), from in 0..200_usize, at_ns in -20..900_i64, guess in 0..300_usize) {
            let rows = Rows::packed(&painted, all(&painted));
            for row in &rows.rows {
                let from = from.min(row.len());
                let scan = (from..row.len()).find(|p| painted.start_ns(row.slice(*p)) >= at_ns).unwrap_or(row.len());
                prop_assert_eq!(row.starting_from(&painted, from, at_ns, guess), scan);
            }
        }

        #[test]
        fn every_slice_can_be_found_again(painted in any_slices(200, 6, 30)) {
            let rows = Rows::packed(&painted, all(&painted));
            for at in all(&painted) {
                let (row, position) = rows.find(&painted, at).unwrap();
                prop_assert_eq!(rows.rows[row].slice(position), at);
            }
        }
    }
}
