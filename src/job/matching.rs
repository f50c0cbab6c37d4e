//! Which kernel of one rank is which of another.
//!
//! A group is refused, with its reason, when its members do not fit: a wrong pair is worse than none, since every
//! number that follows from it would look sound.

use super::{CommGroup, ExportSummary, GroupKey, JobRank, RankSummary};
use crate::analysis::Collective;
use crate::units::Span;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One rank of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Index into [`super::Job::ranks`].
    pub rank: usize,
    /// Index into [`RankSummary::comm`].
    pub group: usize,
    /// The first of its kernels that is paired; those before it ran in steps that not every rank captured.
    pub first: usize,
}

/// Kernels of several ranks that are paired one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they are paired by, as its first member names it.
    pub key: GroupKey,
    /// The ranks, in order; at least two.
    pub members: Vec<Member>,
    /// Kernels of each member that are paired.
    pub count: usize,
    /// Ranks of the communicator, where known: those that are not open cannot be seen waiting.
    pub size: Option<u32>,
    /// True when kernels outside the steps that all ranks captured were left out.
    pub common_steps: bool,
}

/// Kernels of several ranks that cannot be paired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What they would be paired by.
    pub key: GroupKey,
    /// Each rank (an index into [`super::Job::ranks`]) and its number of kernels.
    pub counts: Vec<(usize, usize)>,
    /// Why they cannot.
    pub reason: RefusalReason,
}

/// Why a group cannot be paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// The ranks ran different numbers of kernels.
    Counts,
    /// At this place (from 0) the ranks ran collectives of different kinds.
    Kinds(usize),
    /// Sends and receives among several ranks, whose own numbers in the communicator were not recorded.
    Peers,
    /// Their ends do not move together, so they took part in different collectives.
    Apart,
}

impl Group {
    /// Ranks of the communicator that are not open; `None` when all are, or when their number is not known. Sends and
    /// receives need no more than both ends.
    pub fn missing(&self) -> Option<u32> {
        let open = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        let is_pair = matches!(self.key, GroupKey::Peer { .. });
        self.size.filter(|_| !is_pair)?.checked_sub(open).filter(|missing| *missing > 0)
    }

    /// The span of paired kernel `at` of `member` on its export's clock.
    pub fn span(&self, summary: &RankSummary, member: &Member, at: usize) -> Option<Span> {
        summary.comm.get(member.group)?.span(member.first.checked_add(at)?)
    }
}

/// Ends of one collective move together within this in three of four cases.
const TOGETHER_NS: i64 = 30_000;

/// Without communicator ids, kernels of several sub-groups look alike: splits `group` into ranks that leave their
/// collectives together. From one collective to the next, the difference between the ends on two ranks of one
/// collective hardly changes, whatever their clocks; it does between ranks of different ones.
fn together<'a>(
    group: Group,
    summary: &impl Fn(usize) -> Option<&'a RankSummary>,
    groups: &mut Vec<Group>,
    refused: &mut Vec<Refusal>,
) {
    let is_named = !matches!(group.key, GroupKey::Role { .. });
    if (is_named && !is_of_several_runs(&group, summary)) || group.count < 3 {
        groups.push(group);
        return;
    }
    let mut clusters: Vec<Vec<Member>> = Vec::new();
    for member in &group.members {
        let fits = |cluster: &&mut Vec<Member>| {
            cluster.first().is_some_and(|first| move_together(&group, summary, first, member))
        };
        match clusters.iter_mut().find(fits) {
            Some(cluster) => cluster.push(*member),
            None => clusters.push(vec![*member]),
        }
    }
    for members in clusters.iter().filter(|members| members.len() > 1) {
        groups.push(Group { members: members.clone(), ..group.clone() });
    }
    let alone: Vec<(usize, usize)> =
        clusters.iter().filter(|members| members.len() == 1).flatten().map(|m| (m.rank, group.count)).collect();
    if !alone.is_empty() {
        refused.push(Refusal { key: group.key, counts: alone, reason: RefusalReason::Apart });
    }
}

/// True when a communicator has more members than ranks, or one rank twice: runs of their own that share its number.
fn is_of_several_runs<'a>(group: &Group, summary: &impl Fn(usize) -> Option<&'a RankSummary>) -> bool {
    let labels: BTreeSet<&str> =
        group.members.iter().filter_map(|member| Some(summary(member.rank)?.label.as_str())).collect();
    group.size.is_some_and(|size| group.members.len() > size as usize) || labels.len() < group.members.len()
}

fn move_together<'a>(
    group: &Group,
    summary: &impl Fn(usize) -> Option<&'a RankSummary>,
    a: &Member,
    b: &Member,
) -> bool {
    let Some((of_a, of_b)) = summary(a.rank).zip(summary(b.rank)) else { return false };
    let pairs = (0..group.count).filter_map(|at| group.span(of_a, a, at).zip(group.span(of_b, b, at)));
    let pairs: Vec<(Span, Span)> = pairs.collect();
    let apart: Vec<i64> = pairs.iter().map(|(a, b)| a.end_ns.saturating_sub(b.end_ns)).collect();
    let change = |two: &[i64]| match two {
        [a, b] => b.saturating_sub(*a).saturating_abs(),
        _ => 0,
    };
    let mut changes: Vec<i64> = apart.windows(2).map(change).collect();
    // Many collectives in a row may end alike by chance, and a few of one group may not.
    let at = changes.len() * 3 / 4;
    at >= changes.len() || *changes.select_nth_unstable(at).1 <= TOGETHER_NS
}

/// What a group is found by: the key, and both ranks of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Meeting {
    Key(GroupKey),
    Pair { communicator: u64, low: u32, high: u32 },
    Unknown { communicator: u64 },
}

/// Pairs the communication kernels of `ranks`; also tells what could not be paired.
pub(super) fn groups(exports: &[Arc<ExportSummary>], ranks: &[JobRank]) -> (Vec<Group>, Vec<Refusal>) {
    let summary = |rank: usize| {
        let at = ranks.get(rank)?.at;
        exports.get(at.export)?.ranks.get(at.rank)
    };
    let own_ranks = own_ranks(ranks.len(), &summary);
    let mut met: FxHashMap<Meeting, Vec<(usize, usize)>> = FxHashMap::default();
    for rank in 0..ranks.len() {
        let groups = summary(rank).map_or(&[][..], |s| &s.comm);
        for (at, group) in groups.iter().enumerate().filter(|(_, group)| group.is_sound() && !group.is_empty()) {
            met.entry(meeting(group, rank, &own_ranks)).or_default().push((rank, at));
        }
    }
    let mut met: Vec<(Meeting, Vec<(usize, usize)>)> = met.into_iter().filter(|(_, of)| of.len() > 1).collect();
    met.sort_by_key(|(meeting, _)| *meeting);
    let (mut groups, mut refused) = (Vec::new(), Vec::new());
    for (meeting, of) in met {
        match paired(meeting, &of, &summary) {
            Ok(group) => together(group, &summary, &mut groups, &mut refused),
            Err(refusal) => refused.push(refusal),
        }
    }
    (groups, refused)
}

/// Numbers of the ranks within each communicator: as recorded, else by their order when all of them are open.
fn own_ranks<'a>(ranks: usize, summary: &impl Fn(usize) -> Option<&'a RankSummary>) -> FxHashMap<(u64, usize), u32> {
    let mut known = FxHashMap::default();
    let mut open: BTreeMap<u64, (Vec<usize>, Option<u32>)> = BTreeMap::new();
    for rank in 0..ranks {
        for group in summary(rank).map_or(&[][..], |s| &s.comm) {
            let (GroupKey::Communicator(id) | GroupKey::Peer { communicator: id, .. }) = group.key else { continue };
            if let Some(own) = group.own_rank {
                known.insert((id, rank), own);
            }
            let (members, size) = open.entry(id).or_default();
            if members.last() != Some(&rank) {
                members.push(rank);
            }
            *size = size.or(group.size);
        }
    }
    for (id, (mut members, size)) in open {
        if size.is_some_and(|size| size as usize == members.len()) {
            let number = |rank: &usize| summary(*rank).and_then(|s| s.label.parse::<u32>().ok());
            members.sort_by_key(|rank| (number(rank), *rank));
            for (own, rank) in (0_u32..).zip(members) {
                known.entry((id, rank)).or_insert(own);
            }
        }
    }
    known
}

fn meeting(group: &CommGroup, rank: usize, own_ranks: &FxHashMap<(u64, usize), u32>) -> Meeting {
    let GroupKey::Peer { communicator, peer } = group.key else { return Meeting::Key(group.key) };
    // In a communicator of two every exchange is between those two.
    if group.size == Some(2) {
        return Meeting::Pair { communicator, low: 0, high: 1 };
    }
    match (own_ranks.get(&(communicator, rank)), u32::try_from(peer)) {
        (Some(own), Ok(peer)) => Meeting::Pair { communicator, low: peer.min(*own), high: peer.max(*own) },
        _ => Meeting::Unknown { communicator },
    }
}

fn paired<'a>(
    meeting: Meeting,
    of: &[(usize, usize)],
    summary: &impl Fn(usize) -> Option<&'a RankSummary>,
) -> Result<Group, Refusal> {
    let group = |(rank, at): &(usize, usize)| summary(*rank).and_then(|s| s.comm.get(*at));
    let count = |of: &(usize, usize)| group(of).map_or(0, CommGroup::len);
    let key = of.first().and_then(group).map_or(GroupKey::Communicator(0), |group| group.key);
    let refuse = |reason| Refusal { key, counts: of.iter().map(|of| (of.0, count(of))).collect(), reason };
    // Two ranks whose numbers are not known can still only have met each other.
    if matches!(meeting, Meeting::Unknown { .. }) && of.len() > 2 {
        return Err(refuse(RefusalReason::Peers));
    }
    let whole: Vec<(usize, usize)> = of.iter().map(|of| (0, count(of))).collect();
    let (parts, common_steps) = match whole.windows(2).all(|pair| pair[0] == pair[1]) {
        true => (whole, false),
        false => (common_steps(of, summary).ok_or_else(|| refuse(RefusalReason::Counts))?, true),
    };
    let len = parts.first().map_or(0, |(first, last)| last - first);
    if len == 0 || parts.iter().any(|(first, last)| last - first != len) {
        return Err(refuse(RefusalReason::Counts));
    }
    let kinds =
        |(of, (first, last)): (&(usize, usize), &(usize, usize))| group(of).and_then(|g| g.kind.get(*first..*last));
    let mut all = of.iter().zip(&parts).filter_map(kinds);
    if let Some(first) = all.next() {
        for other in all {
            // A kernel whose name does not tell its kind fits every kind.
            let fits = |(a, b): (&Collective, &Collective)| a == b || [*a, *b].contains(&Collective::Other);
            if let Some(at) = first.iter().zip(other).position(|pair| !fits(pair)) {
                return Err(refuse(RefusalReason::Kinds(at)));
            }
        }
    }
    let members =
        of.iter().zip(&parts).map(|((rank, group), (first, _))| Member { rank: *rank, group: *group, first: *first });
    let size = of.iter().find_map(|of| group(of)?.size);
    Ok(Group { key, members: members.collect(), count: len, size, common_steps })
}

/// The kernels of each member within the steps that every rank captured whole, when the ranks captured different
/// steps; `None` when they captured the same steps, or when steps are not numbered.
fn common_steps<'a>(
    of: &[(usize, usize)],
    summary: &impl Fn(usize) -> Option<&'a RankSummary>,
) -> Option<Vec<(usize, usize)>> {
    let numbers = |rank: usize| -> Option<BTreeSet<i64>> {
        let rank = summary(rank).filter(|s| s.has_marked_steps())?;
        let whole = rank.steps.iter().filter(|step| step.edge != Some(crate::analysis::StepEdge::Cut));
        whole.map(|step| step.number).collect()
    };
    let all: Vec<BTreeSet<i64>> = of.iter().map(|(rank, _)| numbers(*rank)).collect::<Option<_>>()?;
    let common = all.iter().skip(1).fold(all.first()?.clone(), |common, other| &common & other);
    if all.iter().all(|numbers| *numbers == common) {
        return None;
    }
    let (first, last) = (*common.first()?, *common.last()?);
    let part = |(rank, at): &(usize, usize)| {
        let rank = summary(*rank)?;
        let group = rank.comm.get(*at)?;
        let span = Span::new(rank.step(first)?.window.start_ns, rank.step(last)?.window.end_ns);
        let until = |ns: i64| group.start_ns.partition_point(|start_ns| *start_ns < ns);
        let (from, to) = (until(span.start_ns), until(span.end_ns));
        // Numbers may run backwards in time, as after a restart from a checkpoint.
        (from <= to).then_some((from, to))
    };
    of.iter().map(part).collect()
}
