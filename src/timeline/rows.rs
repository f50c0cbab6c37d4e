//! Lane to rows: on one row slices are sorted and disjoint, so that binary search finds them and running sums add up.
//!
//! Cost: 4 bytes a slice (none when the indices are contiguous) and 8 bytes per ink for every [`BLOCK`] slices, so
//! under 6 bytes for the busiest kind of lane; lanes of several rows also keep the union of their slices. Building is one
//! pass.

use super::ink::Ink;
use super::slices::Slices;
use crate::analysis::Coverage;
use crate::units::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Slices between two stored sums.
pub const BLOCK: usize = 64;

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
    /// Busy nanoseconds of the slices before each block, one entry per ink.
    sums: Vec<i64>,
}

impl Row {
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

    /// First position at or after `from` whose slice does not satisfy `before`; `before` must hold for a prefix.
    ///
    /// Gallops, so that it costs the logarithm of the distance and not of the row.
    pub fn gallop(&self, from: usize, before: impl Fn(u32) -> bool) -> usize {
        let len = self.len();
        let mut low = from;
        let mut step = 1;
        while low < len && before(self.slice(low)) {
            let next = low + step;
            if next >= len || !before(self.slice(next)) {
                return self.bisect(low + 1, next.min(len), &before);
            }
            low = next;
            step *= 2;
        }
        low.min(len)
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

    /// Adds the busy nanoseconds of the slices at `positions` to `by_ink`, whose first entry is that of `inks.start`.
    pub fn add_busy<S: Slices>(&self, slices: &S, inks: &Range<u8>, positions: Range<usize>, by_ink: &mut [i64]) {
        let width = inks.len();
        let mut at = positions.start;
        while at < positions.end {
            let block = at / BLOCK;
            let last_block = positions.end / BLOCK;
            if at % BLOCK == 0 && block < last_block {
                let (from, to) = (block * width, last_block * width);
                let (Some(from), Some(to)) = (self.sums.get(from..from + width), self.sums.get(to..to + width)) else {
                    return;
                };
                for ((sum, from), to) in by_ink.iter_mut().zip(from).zip(to) {
                    *sum += to - from;
                }
                at = last_block * BLOCK;
                continue;
            }
            let stop = ((block + 1) * BLOCK).min(positions.end);
            for position in at..stop {
                let slice = self.slice(position);
                if let Some(sum) = by_ink.get_mut(slices.ink(slice).0.saturating_sub(inks.start) as usize) {
                    *sum += slices.end_ns(slice) - slices.start_ns(slice);
                }
            }
            at = stop;
        }
    }
}

/// The rows of a lane.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The rows from top to bottom.
    pub rows: Vec<Row>,
    /// Inks that occur.
    pub inks: Range<u8>,
    /// Time covered by any row, when there are several.
    union: Option<Coverage>,
}

impl Rows {
    /// Rows for `indices` in order of start: each slice goes to the first row that is free at its start, so there are
    /// as many rows as slices ever run at once.
    pub fn packed<S: Slices>(slices: &S, inks: Range<u8>, indices: impl Iterator<Item = u32> + Clone) -> Self {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut busy: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        for at in indices.clone() {
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
        let union = (lists.len() > 1).then(|| Coverage::from_sorted(indices.map(|at| slices.span(at))));
        Self::of_lists(slices, inks, lists, union)
    }

    /// Rows for `indices` in order of start, then longest first: a slice inside another goes below it. Slices for which
    /// `apart` holds may cross others; they get rows of their own below.
    pub fn nested<S: Slices>(
        slices: &S,
        inks: Range<u8>,
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
        let union = Coverage::from_sorted(indices.clone().map(|at| slices.span(at)));
        let mut rows = Self::of_lists(slices, inks.clone(), lists, Some(union));
        rows.rows.extend(Self::packed(slices, inks, indices.filter(|at| apart(*at))).rows);
        rows
    }

    fn of_lists<S: Slices>(slices: &S, inks: Range<u8>, lists: Vec<Vec<u32>>, union: Option<Coverage>) -> Self {
        let rows = lists.into_iter().map(|list| row_of(slices, &inks, list)).collect();
        Self { rows, inks, union }
    }

    /// Nanoseconds of `window` (time of the file) during which any slice runs.
    pub fn busy_within<S: Slices>(&self, slices: &S, window: Span) -> i64 {
        if let Some(union) = &self.union {
            return union.within(window);
        }
        let Some(row) = self.rows.first() else { return 0 };
        if window.is_empty() {
            return 0;
        }
        let first = row.first_from(slices, window.start_ns);
        let last = row.gallop(first, |at| slices.start_ns(at) < window.end_ns);
        if last <= first {
            return 0;
        }
        let mut by_ink = [0; Ink::COUNT];
        row.add_busy(slices, &self.inks, first..last, &mut by_ink);
        let cut_head = (window.start_ns - slices.start_ns(row.slice(first))).max(0);
        let cut_tail = (slices.end_ns(row.slice(last - 1)) - window.end_ns).max(0);
        by_ink.iter().sum::<i64>() - cut_head - cut_tail
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
        let rows: usize = self.rows.iter().map(|r| list(r) + r.sums.capacity() * size_of::<i64>()).sum();
        rows + self.union.as_ref().map_or(0, |u| size_of_val(u.spans()))
    }
}

fn row_of<S: Slices>(slices: &S, inks: &Range<u8>, mut list: Vec<u32>) -> Row {
    let width = inks.len();
    let mut sums = Vec::with_capacity((list.len() / BLOCK + 1) * width);
    let mut running = vec![0_i64; width];
    for (position, at) in list.iter().enumerate() {
        if position % BLOCK == 0 {
            sums.extend_from_slice(&running);
        }
        if let Some(sum) = running.get_mut(slices.ink(*at).0.saturating_sub(inks.start) as usize) {
            *sum += slices.end_ns(*at) - slices.start_ns(*at);
        }
    }
    if list.len() % BLOCK == 0 {
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
    Row { items, sums }
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
        let rows = Rows::packed(&painted, 2..5, all(&painted));
        assert_eq!(rows.rows.len(), 1);
        assert_eq!(rows.rows[0].items, Items::Run(0..200));
        assert!(rows.bytes() < 200);
    }

    #[test]
    fn a_nested_slice_goes_below_its_parent_and_a_crossing_one_apart() {
        let spans = [(0, 100), (10, 50), (20, 120), (60, 90)];
        let painted = Painted(spans.iter().map(|(a, b)| (Span::new(*a, *b), 3)).collect());
        let rows = Rows::nested(&painted, 2..5, all(&painted), |at| at == 2);
        let by_row: Vec<Vec<u32>> = rows.rows.iter().map(slices_of).collect();
        assert_eq!(by_row, [vec![0], vec![1, 3], vec![2]]);
        assert_eq!(rows.busy_within(&painted, Span::new(0, 200)), 120);
    }

    #[test]
    fn memory_stays_under_twelve_bytes_a_slice() {
        let painted = Painted((0..10_000).map(|at| (Span::new(at * 7, at * 7 + 6), 3)).collect());
        let rows = Rows::packed(&painted, Ink::GPU_LANE, (0..10_000_u32).filter(|at| at % 3 != 0));
        assert!(rows.bytes() < 12 * 6667, "{}", rows.bytes());
    }

    proptest! {
        #[test]
        fn packing_uses_as_many_rows_as_slices_overlap(painted in any_slices(200, 12, 30)) {
            let rows = Rows::packed(&painted, 2..5, all(&painted));
            assert_sound(&rows, &painted);
            let deepest = painted.0.iter().filter(|(s, _)| !s.is_empty()).map(|(s, _)| {
                painted.0.iter().filter(|(o, _)| o.contains(s.start_ns)).count()
            }).max().unwrap_or(0);
            // An instant inside a slice needs a row too.
            prop_assert!(rows.rows.len() <= deepest + 1);
        }

        #[test]
        fn nesting_keeps_rows_disjoint_whatever_crosses(painted in any_slices(120, 12, 40), apart in any::<u64>()) {
            let rows = Rows::nested(&painted, 2..5, all(&painted), |at| apart >> (at % 64) & 1 == 1);
            assert_sound(&rows, &painted);
        }

        #[test]
        fn busy_time_of_a_window_is_that_of_the_union(painted in any_slices(300, 9, 12), from in -30..900_i64, len in 0..700_i64) {
            let window = Span::new(from, from + len);
            let rows = Rows::packed(&painted, 2..5, all(&painted));
            prop_assert_eq!(rows.busy_within(&painted, window), brute_busy(&painted, window));
        }

        #[test]
        fn sums_by_ink_equal_adding_up(painted in any_slices(400, 20, 10), from in 0..400_usize, len in 0..400_usize) {
            let rows = Rows::packed(&painted, 2..5, all(&painted));
            for row in &rows.rows {
                let range = from.min(row.len())..(from + len).min(row.len());
                let mut fast = [0; 3];
                row.add_busy(&painted, &rows.inks, range.clone(), &mut fast);
                let mut slow = [0; 3];
                for position in range {
                    let at = row.slice(position);
                    slow[painted.ink(at).0 as usize - 2] += painted.span(at).len_ns();
                }
                prop_assert_eq!(fast, slow);
            }
        }

        #[test]
        fn galloping_finds_what_a_scan_finds(painted in any_slices(200, 12, 10), from in 0..200_usize, at_ns in -20..900_i64) {
            let rows = Rows::packed(&painted, 2..5, all(&painted));
            for row in &rows.rows {
                let scan = (from..row.len()).find(|p| painted.start_ns(row.slice(*p)) >= at_ns).unwrap_or(row.len());
                prop_assert_eq!(row.gallop(from, |at| painted.start_ns(at) < at_ns), scan);
            }
        }

        #[test]
        fn every_slice_can_be_found_again(painted in any_slices(200, 6, 30)) {
            let rows = Rows::packed(&painted, 2..5, all(&painted));
            for at in all(&painted) {
                let (row, position) = rows.find(&painted, at).unwrap();
                prop_assert_eq!(rows.rows[row].slice(position), at);
            }
        }
    }
}
