//! Who waited for whom in matched collectives.
//!
//! wait of a rank = latest start over all ranks - own start; transfer = own end - latest start. Both are cut to the
//! kernel, so that they sum to its duration whatever the clock's error. Ranks that are not open cannot be the last.

use super::{Group, Job, JobRank, KernelWaits};
use crate::analysis::{Collective, median_of};
use crate::units::Span;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Ranks that start within this of each other start together, however sure the clock.
const TOGETHER_NS: i64 = 1_000;

/// A communication kernel split into waiting for the last rank and moving data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Split {
    /// Until the last rank had started.
    pub wait_ns: i64,
    /// From then to the end.
    pub transfer_ns: i64,
}

impl Split {
    fn add(&mut self, other: Self) {
        self.wait_ns = self.wait_ns.saturating_add(other.wait_ns);
        self.transfer_ns = self.transfer_ns.saturating_add(other.transfer_ns);
    }
}

/// One matched collective on all its ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// Index into [`Job::groups`].
    pub group: usize,
    /// Its number within the group, from 0.
    pub at: usize,
    /// What it did.
    pub kind: Collective,
    /// Bytes as the calls state them, of the rank that states most; 0 where unknown.
    pub bytes: u64,
    /// By member: its span in job time and how that splits.
    pub members: Vec<(Span, Split)>,
    /// The member that started last; `None` when several started together, as far as the clock can tell.
    pub last: Option<usize>,
    /// Latest start in job time.
    pub latest_ns: i64,
    /// Latest start - earliest start.
    pub skew_ns: i64,
}

/// Waits of one group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupWaits {
    /// Kinds that occur, the most frequent first.
    pub kinds: Vec<Collective>,
    /// Bytes of its largest collective; 0 where unknown.
    pub most_bytes: u64,
    /// By member, over all its collectives.
    pub members: Vec<Split>,
    /// By member: collectives in which it started last.
    pub last: Vec<u64>,
    /// Collectives in which one member started last beyond the clock's error.
    pub decided: u64,
    /// Median arrival skew.
    pub skew_median_ns: i64,
    /// Largest arrival skew.
    pub skew_max_ns: i64,
    /// The collective with the largest skew.
    pub worst: usize,
    /// Bus bandwidth of the median transfer in gigabytes per second, where sizes are known.
    pub transfer_gb_per_s: Option<f64>,
    /// Median distance of the ends from each other. Much more than the clock's error means that the pairing is wrong.
    pub end_spread_ns: i64,
}

/// Waits of one rank over all its matched collectives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RankWaits {
    /// Split of their sum.
    pub split: Split,
    /// Matched collectives it took part in.
    pub collectives: u64,
    /// Those in which some rank started last beyond the clock's error.
    pub decided: u64,
    /// Those in which it did.
    pub last: u64,
    /// Its communication kernels that could not be paired.
    pub unmatched: u64,
}

impl RankWaits {
    /// Collectives in which it waited for a rank that started later, beyond the clock's error.
    pub const fn waited(&self) -> u64 {
        self.decided.saturating_sub(self.last)
    }
}

/// How long each rank waited for each other one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WaitMatrix {
    /// (who waited, for whom) as indices into [`Job::ranks`], with nanoseconds; sorted.
    pub cells: Vec<((u32, u32), i64)>,
}

impl WaitMatrix {
    /// Nanoseconds that `who` waited for `whom`.
    pub fn ns(&self, who: usize, whom: usize) -> i64 {
        let key = (u32::try_from(who).unwrap_or(u32::MAX), u32::try_from(whom).unwrap_or(u32::MAX));
        let at = self.cells.binary_search_by_key(&key, |(key, _)| *key);
        at.ok().and_then(|at| self.cells.get(at)).map_or(0, |(_, ns)| *ns)
    }
}

/// Who waited for whom.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Waits {
    /// By group of the job.
    pub groups: Vec<GroupWaits>,
    /// By rank of the job.
    pub ranks: Vec<RankWaits>,
    /// By rank of the job: how long each of its matched kernels waited.
    pub kernels: Vec<KernelWaits>,
    /// Who waited for whom.
    pub matrix: WaitMatrix,
    /// Matched collectives in all.
    pub matched: u64,
    /// Communication kernels that could not be paired, over all ranks.
    pub unmatched: u64,
    /// Where each rank's communication groups went: (rank, index into its groups) to the group and member.
    places: FxHashMap<(usize, usize), (usize, usize)>,
}

impl Waits {
    pub(super) fn of(job: &Job) -> Self {
        let mut waits = Self { ranks: vec![RankWaits::default(); job.ranks.len()], ..Self::default() };
        let mut cells: FxHashMap<(u32, u32), i64> = FxHashMap::default();
        let mut kernels: Vec<Vec<(u32, i64)>> = vec![Vec::new(); job.ranks.len()];
        for (at, group) in job.groups.iter().enumerate() {
            for (member, of) in group.members.iter().enumerate() {
                waits.places.insert((of.rank, of.group), (at, member));
            }
            let sums = GroupWaits::of(
                job,
                at,
                group,
                &mut Sums { ranks: &mut waits.ranks, cells: &mut cells, kernels: &mut kernels },
            );
            waits.groups.push(sums);
            waits.matched += group.count as u64;
        }
        let mut cells: Vec<_> = cells.into_iter().filter(|(_, ns)| *ns > 0).collect();
        cells.sort_unstable_by_key(|(key, _)| *key);
        waits.matrix = WaitMatrix { cells };
        waits.kernels = kernels.into_iter().map(KernelWaits::of).collect();
        let kernels = |rank: usize| job.summary(rank).map_or(0, |s| s.comm.iter().map(|g| g.len() as u64).sum::<u64>());
        for (rank, of) in waits.ranks.iter_mut().enumerate() {
            of.unmatched = kernels(rank).saturating_sub(of.collectives);
            waits.unmatched += of.unmatched;
        }
        waits
    }
}

impl Waits {
    /// Nanoseconds that ranks waited where several started together as far as the clock can tell: they are part of the
    /// ranks' waits and stand in no cell of the matrix, for nobody was waited for alone.
    pub fn together_ns(&self) -> i64 {
        let waited = self.ranks.iter().fold(0_i64, |sum, rank| sum.saturating_add(rank.split.wait_ns));
        self.matrix.cells.iter().fold(waited, |left, (_, ns)| left.saturating_sub(*ns))
    }
}

/// What all groups are summed up in.
struct Sums<'a> {
    ranks: &'a mut [RankWaits],
    cells: &'a mut FxHashMap<(u32, u32), i64>,
    kernels: &'a mut [Vec<(u32, i64)>],
}

impl GroupWaits {
    fn of(job: &Job, at: usize, group: &Group, all: &mut Sums<'_>) -> Self {
        let members = group.members.len();
        let mut sums = Self { members: vec![Split::default(); members], last: vec![0; members], ..Self::default() };
        let mut kinds: FxHashMap<Collective, u64> = FxHashMap::default();
        let (mut skews, mut ends, mut speeds) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..group.count {
            let Some(matched) = job.matched(at, number) else { continue };
            *kinds.entry(matched.kind).or_default() += 1;
            sums.most_bytes = sums.most_bytes.max(matched.bytes);
            if skews.is_empty() || matched.skew_ns > sums.skew_max_ns {
                (sums.skew_max_ns, sums.worst) = (matched.skew_ns, number);
            }
            skews.push(matched.skew_ns);
            let edges = matched.members.iter().map(|(span, _)| span.end_ns);
            ends.push(edges.clone().max().unwrap_or(0).saturating_sub(edges.min().unwrap_or(0)));
            speeds.extend(matched.bus_gb_per_s(group).map(|speed| (speed * 1e6) as i64));
            sums.decided += u64::from(matched.last.is_some());
            for (member, (_, split)) in matched.members.iter().enumerate() {
                let Some(rank) = group.members.get(member).map(|m| m.rank) else { continue };
                if let Some(sum) = sums.members.get_mut(member) {
                    sum.add(*split);
                }
                if let Some(sum) = all.ranks.get_mut(rank) {
                    sum.split.add(*split);
                    sum.collectives += 1;
                    sum.decided += u64::from(matched.last.is_some());
                    sum.last += u64::from(matched.last == Some(member));
                }
                if let (Some(kernels), Some((_, op))) = (all.kernels.get_mut(rank), job.op_of(at, member, number)) {
                    kernels.push((op, split.wait_ns));
                }
                let whom = matched.last.filter(|last| *last != member).and_then(|last| group.members.get(last));
                if let Some((who, whom)) =
                    whom.and_then(|w| Some((u32::try_from(rank).ok()?, u32::try_from(w.rank).ok()?)))
                {
                    let cell = all.cells.entry((who, whom)).or_default();
                    *cell = cell.saturating_add(split.wait_ns);
                }
            }
            if let Some(count) = matched.last.and_then(|last| sums.last.get_mut(last)) {
                *count += 1;
            }
        }
        let mut kinds: Vec<(Collective, u64)> = kinds.into_iter().collect();
        kinds.sort_unstable_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
        sums.kinds = kinds.into_iter().map(|(kind, _)| kind).collect();
        sums.skew_median_ns = median_of(skews).unwrap_or(0);
        sums.end_spread_ns = median_of(ends).unwrap_or(0);
        sums.transfer_gb_per_s = median_of(speeds).map(|speed| speed as f64 / 1e6);
        sums
    }
}

impl Matched {
    /// Bus bandwidth of the transfer alone in gigabytes per second, where the size is known. `group` is its group.
    pub fn bus_gb_per_s(&self, group: &Group) -> Option<f64> {
        let ranks = group.size.or_else(|| u32::try_from(self.members.len()).ok());
        let transfer_ns = self.members.iter().map(|(_, split)| split.transfer_ns).max()?;
        crate::analysis::bus_gb_per_s(self.kind, ranks, self.bytes, transfer_ns)
    }

    /// Duration of the transfer: the longest of any rank.
    pub fn transfer_ns(&self) -> i64 {
        self.members.iter().map(|(_, split)| split.transfer_ns).max().unwrap_or(0)
    }
}

impl Job {
    /// Collective `at` of group `group` on all its ranks; `None` when there is no such.
    pub fn matched(&self, group: usize, at: usize) -> Option<Matched> {
        let of = self.groups.get(group).filter(|of| at < of.count)?;
        let mut spans = Vec::with_capacity(of.members.len());
        let (mut kind, mut bytes) = (Collective::Other, 0);
        for member in &of.members {
            let summary = self.summary(member.rank)?;
            let kernels = summary.comm.get(member.group)?;
            spans.push(self.map(member.rank).span_to_job(of.span(summary, member, at)?));
            let place = member.first.checked_add(at)?;
            if kind == Collective::Other {
                kind = *kernels.kind.get(place)?;
            }
            bytes = bytes.max(*kernels.bytes.get(place)?);
        }
        let latest_ns = spans.iter().map(|span| span.start_ns).max()?;
        let earliest_ns = spans.iter().map(|span| span.start_ns).min()?;
        let last = self.last(of, &spans, latest_ns);
        let members = spans.into_iter().map(|span| (span, split(span, latest_ns)));
        Some(Matched {
            group,
            at,
            kind,
            bytes,
            members: members.collect(),
            last,
            latest_ns,
            skew_ns: latest_ns.saturating_sub(earliest_ns),
        })
    }

    /// The one member that starts later than all others, beyond what the clock can be off.
    fn last(&self, group: &Group, spans: &[Span], latest_ns: i64) -> Option<usize> {
        let last = spans.iter().position(|span| span.start_ns == latest_ns)?;
        let export = |member: usize| group.members.get(member).and_then(|m| Some(self.ranks.get(m.rank)?.at.export));
        let own = export(last)?;
        let before = |(member, span): (usize, &Span)| {
            let error_ns = export(member).and_then(|other| self.clock.uncertainty_ns(own, other)).unwrap_or(0);
            member == last || latest_ns.saturating_sub(span.start_ns) > error_ns.max(TOGETHER_NS)
        };
        spans.iter().enumerate().all(before).then_some(last)
    }

    /// The matched collective that operation `op` of rank `rank` ran, and which member the rank is.
    pub fn matched_op(&self, rank: usize, op: u32) -> Option<(Matched, usize)> {
        let groups = &self.summary(rank)?.comm;
        groups.iter().enumerate().find_map(|(at, kernels)| {
            let place = kernels.op.binary_search(&op).ok()?;
            let (group, member) = *self.waits.places.get(&(rank, at))?;
            let first = self.groups.get(group)?.members.get(member)?.first;
            Some((self.matched(group, place.checked_sub(first)?)?, member))
        })
    }

    /// The operation that member `member` ran for collective `at` of group `group`: its rank and its index there.
    pub fn op_of(&self, group: usize, member: usize, at: usize) -> Option<(&JobRank, u32)> {
        let member = self.groups.get(group)?.members.get(member)?;
        let kernels = self.summary(member.rank)?.comm.get(member.group)?;
        Some((self.ranks.get(member.rank)?, *kernels.op.get(member.first.checked_add(at)?)?))
    }
}

fn split(span: Span, latest_ns: i64) -> Split {
    let wait_ns = latest_ns.clamp(span.start_ns, span.end_ns.max(span.start_ns)).saturating_sub(span.start_ns);
    Split { wait_ns, transfer_ns: span.len_ns().saturating_sub(wait_ns) }
}
