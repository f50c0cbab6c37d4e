//! The way through the hits: by time within a block of the timeline, then the next block.
//!
//! Nothing is sorted for it: the place of a hit among those of its block is a binary search in each of the block's
//! groups.

use super::hits::{Group, Hits};
use super::place::{Place, Table};
use crate::view::{Doc, Item, RankId};

/// Lanes that stand together on the timeline, and whose hits are gone through together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Block {
    /// A rank, with the host side of its process when it is the first one there.
    Rank(RankId),
    /// A process without GPU work, (document, process).
    Process(usize, usize),
    /// Names of the threads of a document, which have no time.
    Threads(usize),
}

impl Block {
    /// The block that the rows of `place` are in.
    pub(super) fn of(place: Place, docs: &[Doc]) -> Option<Self> {
        let trace = &docs.get(place.doc())?.trace;
        let thread = match place {
            Place::Threads(doc) => return Some(Self::Threads(doc)),
            Place::Steps(rank) | Place::Ops(rank, _) => return Some(Self::Rank(rank)),
            Place::Ranges(_, at) | Place::Marks(_, at) | Place::Calls(_, at) | Place::Os(_, at) => at,
        };
        let (doc, process) = (place.doc(), trace.threads.get(thread)?.process);
        let rank = trace.ranks.iter().position(|rank| rank.process == process);
        Some(rank.map_or(Self::Process(doc, process), |rank| Self::Rank(RankId { doc, rank })))
    }

    /// The block of `item`.
    fn of_item(item: Item, docs: &[Doc]) -> Option<Self> {
        match item {
            Item::Idle(rank, _) => Some(Self::Rank(rank)),
            _ => Self::of(Place::of(item, docs)?.0, docs),
        }
    }

    /// Place among the blocks, from top to bottom.
    pub(super) fn order(self, docs: &[Doc]) -> (usize, usize, usize) {
        match self {
            Self::Rank(RankId { doc, rank }) => {
                let own = docs.get(doc).and_then(|doc| doc.trace.ranks.get(rank));
                (doc, own.map_or(0, |own| own.process), rank)
            }
            Self::Process(doc, process) => (doc, process, 0),
            Self::Threads(doc) => (doc, usize::MAX, 0),
        }
    }
}

/// Where a hit stands among those of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The block.
    pub block: Block,
    /// How many hits of the block come before it.
    pub before: usize,
    /// Number of hits of the block.
    pub of: usize,
    /// True when no other block has hits.
    pub alone: bool,
}

/// A place on the way: a hit, or a time between hits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    /// Axis time.
    at_ns: i64,
    /// Group and position of the hit.
    hit: Option<(usize, usize)>,
}

impl Hits {
    /// Where hit `number` stands in its block.
    pub fn standing(&self, number: usize) -> Option<Standing> {
        let spot = self.spot(number)?;
        let at = self.block_at(number)?;
        let (block, groups) = self.blocks.get(at)?;
        let before = groups.iter().map(|group| self.up_to(*group, spot)).sum();
        let of = groups.iter().filter_map(|group| Some(self.groups().get(*group)?.len())).sum();
        Some(Standing { block: *block, before, of, alone: self.blocks.len() == 1 })
    }

    /// The hit after (or before) hit `number`: in its block as long as there is one, then in the next, around the ends.
    pub(super) fn beside(&self, number: usize, forward: bool) -> Option<usize> {
        let (at, spot) = (self.block_at(number)?, self.spot(number)?);
        self.in_block(at, spot, forward).or_else(|| self.end_of(at, forward))
    }

    /// The first hit at or after `at_ns` (axis time) in the block of `item`, or else of `rank`; backwards the last one
    /// that starts before it. Then the next block that has hits.
    pub(super) fn from(
        &self,
        (item, rank): (Option<Item>, Option<RankId>),
        at_ns: i64,
        forward: bool,
    ) -> Option<usize> {
        let item = item.and_then(|item| Block::of_item(item, self.docs()));
        let wanted = item.or(rank.map(Block::Rank)).map(|block| block.order(self.docs())).unwrap_or_default();
        let at = self.blocks.partition_point(|(block, _)| block.order(self.docs()) < wanted);
        if self.blocks.get(at).is_some_and(|(block, _)| block.order(self.docs()) == wanted) {
            return self.in_block(at, Spot { at_ns, hit: None }, forward).or_else(|| self.end_of(at, forward));
        }
        // The block itself has none: the next one from its start, or the one before from its end.
        let count = self.blocks.len();
        let before = at.checked_add(count)?.checked_sub(1)?;
        self.end_of(if forward { before } else { at } % count.max(1), forward)
    }

    /// The first hit of the block after `at`, or the last of the one before it.
    fn end_of(&self, at: usize, forward: bool) -> Option<usize> {
        let count = self.blocks.len();
        let beside = (at + if forward { 1 } else { count.checked_sub(1)? }).checked_rem(count)?;
        let at_ns = if forward { i64::MIN } else { i64::MAX };
        self.in_block(beside, Spot { at_ns, hit: None }, forward)
    }

    /// The next hit after `spot` in block `at`, or the last before it. Hits that start at once are in order of the list.
    fn in_block(&self, at: usize, spot: Spot, forward: bool) -> Option<usize> {
        let (_, groups) = self.blocks.get(at)?;
        let of = |group: usize| {
            let own = self.groups().get(group)?;
            let position = self.up_to(group, spot);
            let is_hit = forward && spot.hit.is_some_and(|(of, _)| of == group);
            let position = if forward { position + usize::from(is_hit) } else { position.checked_sub(1)? };
            let (doc, table) = self.table(own.place)?;
            let start_ns = doc.axis_ns(table.span(*own.rows.get(position)?).start_ns);
            Some((start_ns, group, position))
        };
        let candidates = groups.iter().filter_map(|group| of(*group));
        let found = if forward { candidates.min() } else { candidates.max() };
        found.map(|(_, group, position)| self.before(group) + position)
    }

    /// How many hits of `group` come before `spot`.
    fn up_to(&self, group: usize, spot: Spot) -> usize {
        let Some((own, (doc, table))) = self.groups().get(group).and_then(|own| Some((own, self.table(own.place)?)))
        else {
            return 0;
        };
        let start = |at_ns: i64| starting(own, &table, doc.own_ns(at_ns));
        match spot.hit {
            Some((of, position)) if of == group => position,
            // Of what starts at the same time, the groups of the list come in order.
            Some((of, _)) if group < of => start(spot.at_ns.saturating_add(1)),
            _ => start(spot.at_ns),
        }
    }

    fn spot(&self, number: usize) -> Option<Spot> {
        let hit = self.hit(number)?;
        Some(Spot { at_ns: self.span(&hit)?.start_ns, hit: Some((hit.group, hit.position)) })
    }

    /// Index of the block of hit `number`.
    fn block_at(&self, number: usize) -> Option<usize> {
        let group = self.hit(number)?.group;
        self.blocks.iter().position(|(_, groups)| groups.contains(&group))
    }
}

/// How many hits of `group` start before `at_ns` on the document's own clock; without time all or none.
fn starting(group: &Group, table: &Table<'_>, at_ns: i64) -> usize {
    if group.place.has_time() {
        return group.starting_from(table, 0, at_ns);
    }
    if at_ns > 0 { group.len() } else { 0 }
}
