//! Lane to rows: on one row slices are sorted and disjoint, so that binary search finds them and running sums add up.
//!
//! Cost per slice: 4 bytes for its index (none when the indices are contiguous), one for its ink (none on a lane of one
//! ink), for every [`super::row::BLOCK`] slices 8 bytes and 8 more per ink that occurs, and the [`super::grid::Grid`]: 8 bytes on a lane of six
//! families. Building is two passes.

use super::ink::Ink;
use super::row::{Row, row_of};
use super::slices::Slices;
use crate::analysis::Coverage;
use crate::units::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    pub fn packed<S: Slices>(slices: &S, indices: impl Iterator<Item = u32> + Clone) -> Self {
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
        let count = indices.clone().count();
        for at in indices.clone().filter(|at| !apart(*at)) {
            let span = slices.span(at);
            while open_ends.last().is_some_and(|end| *end <= span.start_ns) {
                open_ends.pop();
            }
            push(&mut lists, open_ends.len(), at, count);
            open_ends.push(span.end_ns);
        }
        lists.extend(packed_lists(slices, indices.filter(|at| apart(*at))));
        Self::of_lists(slices, lists)
    }

    /// Rows for `indices` in order of start, then longest first, then level: each slice goes to the first row from its
    /// level on that is free at its start. Slices of one level may overlap, since streams run side by side.
    pub fn levelled<S: Slices>(
        slices: &S,
        indices: impl Iterator<Item = u32> + Clone,
        level: impl Fn(u32) -> usize,
    ) -> Self {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut ends_ns: Vec<i64> = Vec::new();
        for at in indices {
            let (span, level) = (slices.span(at), level(at));
            let free = (level..ends_ns.len()).find(|row| ends_ns[*row] <= span.start_ns);
            let row = free.unwrap_or(ends_ns.len().max(level));
            if row >= ends_ns.len() {
                ends_ns.resize(row + 1, i64::MIN);
                lists.resize(row + 1, Vec::new());
            }
            ends_ns[row] = span.end_ns;
            lists[row].push(at);
        }
        lists.retain(|list| !list.is_empty());
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
        let rows: usize = self.rows.iter().map(Row::bytes).sum();
        rows + self.union.as_ref().map_or(0, |u| size_of_val(u.spans()))
    }
}

/// Puts slice `at` on a row that is there or next to come. Nearly all slices are on the first row, so that one has room
/// for all `count` of them: a list that grows is held twice for a moment.
fn push(lists: &mut Vec<Vec<u32>>, row: usize, at: u32, count: usize) {
    if let Some(list) = lists.get_mut(row) {
        list.push(at);
        return;
    }
    let mut list = Vec::with_capacity(if lists.is_empty() { count } else { 1 });
    list.push(at);
    lists.push(list);
}

/// Indices by row: each slice goes to the first row that is free at its start.
fn packed_lists<S: Slices>(slices: &S, indices: impl Iterator<Item = u32> + Clone) -> Vec<Vec<u32>> {
    let mut lists: Vec<Vec<u32>> = Vec::new();
    let mut busy: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    let count = indices.clone().count();
    for at in indices {
        let span = slices.span(at);
        while let Some(Reverse((_, row))) = busy.peek().copied().filter(|Reverse((end, _))| *end <= span.start_ns) {
            busy.pop();
            free.push(Reverse(row));
        }
        let row = free.pop().map_or(lists.len(), |Reverse(row)| row);
        busy.push(Reverse((span.end_ns, row)));
        push(&mut lists, row, at, count);
    }
    lists
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
        fn levels_keep_rows_disjoint(painted in any_slices(120, 12, 40), levels in any::<u64>()) {
            let rows = Rows::levelled(&painted, all(&painted), |at| (levels >> (at % 32 * 2) & 3) as usize);
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
