//! The answer to a query: hits by table, in order of time, asked by binary search.

use super::order::Block;
use super::place::Table;
use super::{Place, Request};
use crate::units::Span;
use crate::view::{Doc, Item};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// Hits between two stored ends.
const BLOCK: usize = 64;

/// Hits in one table.
#[derive(Debug, Clone)]
pub struct Group {
    /// The table.
    pub place: Place,
    /// Its rows that are hits, ascending; in order of start where the place has time.
    pub rows: Arc<Vec<u32>>,
    /// Sum of their durations, each whole.
    pub total_ns: i64,
    /// Latest end of the hits up to the end of each block, on the document's own clock.
    reach_ns: Arc<Vec<i64>>,
}

impl Group {
    /// The group of these rows, which ascend; none when there is no row.
    pub(super) fn of(place: Place, doc: &Doc, rows: Vec<u32>) -> Option<Self> {
        if rows.is_empty() {
            return None;
        }
        let table = place.table(doc)?;
        let (mut total_ns, mut reach) = (0_i64, i64::MIN);
        let mut reach_ns = Vec::with_capacity(rows.len().div_ceil(BLOCK));
        for block in rows.chunks(BLOCK) {
            for span in block.iter().map(|row| table.span(*row)) {
                total_ns = total_ns.saturating_add(span.len_ns());
                reach = reach.max(span.end_ns);
            }
            reach_ns.push(reach);
        }
        let total_ns = if place.has_time() { total_ns } else { 0 };
        Some(Self { place, rows: Arc::new(rows), total_ns, reach_ns: Arc::new(reach_ns) })
    }

    /// Number of hits.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Never true: a group without hits is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The position at or after `from` of the first hit that starts at or after `at_ns`. Gallops, so that walking
    /// through columns costs the logarithm of each step.
    pub(super) fn starting_from(&self, table: &Table<'_>, from: usize, at_ns: i64) -> usize {
        let before = |at: usize| self.rows.get(at).is_some_and(|row| table.span(*row).start_ns < at_ns);
        let (mut low, mut step) = (from, 1);
        while before(low + step - 1) {
            low += step;
            step *= 2;
        }
        let rest = self.rows.get(low..(low + step - 1).min(self.rows.len())).unwrap_or(&[]);
        low + rest.partition_point(|row| table.span(*row).start_ns < at_ns)
    }

    /// Whether one of the first `count` hits ends after `at_ns`.
    fn reaches(&self, table: &Table<'_>, count: usize, at_ns: i64) -> bool {
        let block = count / BLOCK;
        let whole = block.checked_sub(1).and_then(|block| self.reach_ns.get(block));
        let rest = self.rows.get(block * BLOCK..count).unwrap_or(&[]);
        whole.is_some_and(|end_ns| *end_ns > at_ns) || rest.iter().any(|row| table.span(*row).end_ns > at_ns)
    }
}

/// A hit, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Index into [`Hits::groups`].
    pub group: usize,
    /// Index into the group's rows.
    pub position: usize,
    /// The table.
    pub place: Place,
    /// The row.
    pub row: u32,
}

/// The answer to a request. Groups are in order of the list: names of threads, then by total time.
#[derive(Debug)]
pub struct Hits {
    /// The question.
    pub request: Request,
    docs: Vec<Doc>,
    groups: Vec<Group>,
    /// Number of hits before each group.
    before: Vec<usize>,
    by_place: HashMap<Place, usize>,
    /// Blocks of the timeline from top to bottom, with the indices of their groups.
    pub(super) blocks: Vec<(Block, Vec<usize>)>,
    len: usize,
}

impl Hits {
    pub(super) fn new(request: Request, docs: Vec<Doc>, mut groups: Vec<Group>) -> Self {
        groups
            .sort_by_key(|group| (group.place.has_time(), Reverse(group.total_ns), Reverse(group.len()), group.place));
        let mut len = 0;
        let mut before = Vec::with_capacity(groups.len());
        for group in &groups {
            before.push(len);
            len += group.len();
        }
        let by_place = groups.iter().enumerate().map(|(at, group)| (group.place, at)).collect();
        let mut blocks: Vec<(Block, Vec<usize>)> = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let Some(own) = Block::of(group.place, &docs) else { continue };
            match blocks.iter_mut().find(|(block, _)| *block == own) {
                Some((_, groups)) => groups.push(at),
                None => blocks.push((own, vec![at])),
            }
        }
        blocks.sort_by_key(|(block, _)| block.order(&docs));
        Self { request, docs, groups, before, by_place, blocks, len }
    }

    /// Those of the hits that touch `span` (axis time); `None` when `cancelled` said so.
    pub fn within(&self, span: Span, cancelled: &dyn Fn() -> bool) -> Option<Self> {
        let mut groups = Vec::new();
        for group in &self.groups {
            if cancelled() {
                return None;
            }
            let Some((doc, table)) = self.table(group.place) else { continue };
            let own = doc.own_span(span);
            let touches = |row: &&u32| {
                let span = table.span(**row);
                span.start_ns < own.end_ns && (span.end_ns > own.start_ns || span.start_ns >= own.start_ns)
            };
            // Nothing after the span's end can touch it.
            let last = if group.place.has_time() { group.starting_from(&table, 0, own.end_ns) } else { group.len() };
            // Nothing in a block before this one reaches the span's start.
            let first = group.reach_ns.partition_point(|end_ns| *end_ns < own.start_ns) * BLOCK;
            let rows = group.rows.iter().take(last).skip(first).filter(touches).copied().collect();
            groups.extend(Group::of(group.place, doc, rows));
        }
        let request = Request { within: Some(span), ..self.request.clone() };
        Some(Self::new(request, self.docs.clone(), groups))
    }

    /// Number of hits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The groups in order of the list.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Hits of one table.
    pub fn group(&self, place: Place) -> Option<&Group> {
        self.groups.get(*self.by_place.get(&place)?)
    }

    /// Number of hits in the groups before `group`.
    pub fn before(&self, group: usize) -> usize {
        self.before.get(group).copied().unwrap_or(self.len)
    }

    /// Hit `number`, counted from 0 through all groups.
    pub fn hit(&self, number: usize) -> Option<Hit> {
        let group = self.before.partition_point(|before| *before <= number).checked_sub(1)?;
        let position = number - self.before(group);
        let of = self.groups.get(group)?;
        Some(Hit { group, position, place: of.place, row: *of.rows.get(position)? })
    }

    /// Number of the hit that `item` is.
    pub fn number_of(&self, item: Item) -> Option<usize> {
        let (place, row) = Place::of(item, &self.docs)?;
        let group = *self.by_place.get(&place)?;
        Some(self.before(group) + self.groups.get(group)?.rows.binary_search(&row).ok()?)
    }

    /// What is selected for a hit.
    pub fn item(&self, hit: &Hit) -> Option<Item> {
        hit.place.item(&self.docs.get(hit.place.doc())?.trace, hit.row)
    }

    /// When a hit is, in axis time.
    pub fn span(&self, hit: &Hit) -> Option<Span> {
        let (doc, table) = self.table(hit.place)?;
        Some(doc.axis_span(table.span(hit.row)))
    }

    /// Name of a hit.
    pub fn name(&self, hit: &Hit) -> &str {
        self.docs.get(hit.place.doc()).and_then(|doc| hit.place.name(doc, hit.row)).unwrap_or_default()
    }

    /// For each of `count` equal columns of `span` (axis time), whether any hit touches it; all lanes together.
    ///
    /// Cost: per group and column a binary search and at most a block of hits.
    pub fn columns(&self, span: Span, count: usize) -> Vec<bool> {
        let mut columns = vec![false; count];
        let edge_ns = |column: usize| {
            let share = column as f64 / count.max(1) as f64;
            span.start_ns + (share * span.len_ns() as f64).round() as i64
        };
        for group in self.groups.iter().filter(|group| group.place.has_time()) {
            let Some((doc, table)) = self.table(group.place) else { continue };
            let own_ns = |column: usize| doc.own_ns(edge_ns(column));
            let mut first = group.starting_from(&table, 0, own_ns(0));
            for (column, any) in columns.iter_mut().enumerate() {
                let next = group.starting_from(&table, first, own_ns(column + 1));
                *any = *any || next > first || group.reaches(&table, first, own_ns(column));
                first = next;
            }
        }
        columns
    }

    /// The documents that were searched.
    pub(super) fn docs(&self) -> &[Doc] {
        &self.docs
    }

    pub(super) fn table(&self, place: Place) -> Option<(&Doc, Table<'_>)> {
        let doc = self.docs.get(place.doc())?;
        Some((doc, place.table(doc)?))
    }
}
