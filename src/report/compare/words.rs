//! What several ranks say together, in sentences: the same on screen, in text and in documents.

use crate::analysis::Collective;
use crate::format;
use crate::job::{Doubt, Extra, ExtraKind, GroupKey, Job, Refusal, RefusalReason, Straggler};
use std::collections::BTreeMap;

/// Files and ranks of a sentence that are named one by one.
pub(super) const NAMED: usize = 8;

/// Files by name; `None` of none.
pub(super) fn files_text(job: &Job, files: &[usize]) -> Option<String> {
    let names: Vec<String> = files.iter().map(|file| format::one_line(job.name(*file), 60)).collect();
    (!names.is_empty()).then(|| listed(&names))
}

/// Names in a sentence, the first ones of many: `a`, `a, b and c`, `a, b and 62 others`.
fn listed(names: &[String]) -> String {
    let named = if names.len() > NAMED { NAMED } else { names.len().saturating_sub(1).max(1) };
    let (first, others) = names.split_at_checked(named).unwrap_or((names, &[]));
    let first = first.join(", ");
    match others {
        [] => first,
        [last] => format!("{first} and {last}"),
        more => format!("{first} and {} others", format::count(more.len() as u64)),
    }
}

/// A group of collectives in words: `AllReduce, communicator 3f`.
pub fn group_text(job: &Job, group: usize) -> String {
    let kinds = job.waits.groups.get(group).map_or(&[][..], |g| &g.kinds);
    let key = job.groups.get(group).map(|group| group.key);
    // Kernels that no communicator is known of are paired by their kind, which is said once.
    let of_kind = |kind: &&Collective| !matches!(key, Some(GroupKey::Role { kind: of, .. }) if of == **kind);
    let other: Vec<&str> = kinds.iter().filter(of_kind).map(|kind| kind.text()).collect();
    if let (Some(key @ GroupKey::Role { .. }), true) = (key, other.is_empty()) {
        return key_text(job, key, &[]);
    }
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.text()).collect();
    let kinds = if kinds.is_empty() { "collectives".to_owned() } else { kinds.join(", ") };
    let members = job.groups.get(group).map_or_else(Vec::new, |group| group.members.iter().map(|m| m.rank).collect());
    match key {
        Some(key) => format!("{kinds}, {}", key_text(job, key, &members)),
        None => kinds,
    }
}

/// Which rank of a group started last most often, and how often: `2 (14 of 16)`; "-" when nobody did.
pub fn last_text(job: &Job, group: usize) -> String {
    let sums = job.waits.groups.get(group);
    let most = sums.and_then(|sums| sums.last.iter().enumerate().max_by_key(|(at, n)| (**n, std::cmp::Reverse(*at))));
    let member = |at: usize| job.groups.get(group)?.members.get(at);
    let label = most.filter(|(_, n)| **n > 0).and_then(|(at, n)| Some((job.ranks.get(member(at)?.rank)?, *n)));
    match (label, sums) {
        (Some((rank, n)), Some(sums)) => {
            format!("{} ({} of {})", format::one_line(&rank.label, 120), format::count(n), format::count(sums.decided))
        }
        _ => format::UNKNOWN.to_owned(),
    }
}

/// How many ranks of a group are open, and of how many where not all are: `2 of 8`.
pub fn members_text(job: &Job, group: usize) -> String {
    let Some(of) = job.groups.get(group) else { return String::new() };
    let open = format::count(of.members.len() as u64);
    match of.size.filter(|_| of.missing().is_some()) {
        Some(size) => format!("{open} of {}", format::count(u64::from(size))),
        None => open,
    }
}

/// What cannot be known of a group since ranks of its communicator are not open; `None` when all are, or when their
/// number is not known.
pub fn missing_text(job: &Job, group: usize) -> Option<String> {
    job.groups.get(group)?.missing()?;
    let members = members_text(job, group);
    Some(format!("{members} ranks of this communicator are open; the last to start may be another one."))
}

/// The group whose communicator lacks most ranks; `None` when none lacks any.
fn most_missing(job: &Job) -> Option<usize> {
    let most = job.groups.iter().enumerate().filter_map(|(at, group)| Some((group.missing()?, at)));
    most.max_by_key(|(lacking, at)| (*lacking, std::cmp::Reverse(*at))).map(|(_, at)| at)
}

/// What cannot be known of the job as a whole since ranks are not open; `None` when all of every communicator are.
pub fn job_missing_text(job: &Job) -> Option<String> {
    let group = most_missing(job)?;
    Some(format!(
        "Not all ranks are open: {} of {}. Who started last is known among those only, and waiting for a rank that is not \
         open counts as transfer.",
        members_text(job, group),
        group_text(job, group),
    ))
}

/// Which ranks the parts of the time are not known of, and where to see why; `None` when they are known of all.
pub fn unknown_parts_text(job: &Job) -> Option<String> {
    let lacks = |rank: &usize| job.summary(*rank).is_some_and(|summary| summary.known_parts().is_none());
    let labels: Vec<String> = (0..job.ranks.len()).filter(lacks).map(|rank| label(job, rank).to_owned()).collect();
    (!labels.is_empty()).then(|| {
        format!(
            "What the GPU did is not known of rank {}, whose export lacks kernels, their names or their times: \
             `stepscope report` says which, and how to record them.",
            listed(&labels)
        )
    })
}

/// What kernels of these ranks of `job` are paired by; sends and receives by both ends.
fn key_text(job: &Job, key: GroupKey, ranks: &[usize]) -> String {
    match key {
        GroupKey::Communicator(id) => format!("communicator {}", format::communicator(id)),
        GroupKey::Peer { communicator, .. } => {
            let communicator = format!("communicator {}", format::communicator(communicator));
            match ranks {
                [a, b] => format!("{communicator}, between ranks {} and {}", label(job, *a), label(job, *b)),
                _ => format!("sends and receives of {communicator}"),
            }
        }
        GroupKey::Role { stream, kind } => format!("{} on communication stream {}", kind.text(), stream + 1),
    }
}

fn label(job: &Job, rank: usize) -> String {
    job.ranks.get(rank).map_or_else(|| "?".to_owned(), |rank| format::one_line(&rank.label, 40))
}

/// Ranks by label: `rank 3`, `ranks 0, 1 and 2`, `ranks 0, 1 and 62 others`.
fn ranks_text(job: &Job, ranks: &[usize]) -> String {
    let labels: Vec<String> = ranks.iter().map(|rank| label(job, *rank)).collect();
    format!("{} {}", if labels.len() == 1 { "rank" } else { "ranks" }, listed(&labels))
}

/// How many kernels each rank ran, those that differ from most first: `rank 1 ran 97, ranks 0, 2 and 3 ran 96 each`.
fn counts_text(job: &Job, counts: &[(usize, usize)]) -> String {
    let mut by_count: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    counts.iter().for_each(|(rank, count)| by_count.entry(*count).or_default().push(*rank));
    let mut by_count: Vec<(usize, Vec<usize>)> = by_count.into_iter().collect();
    by_count.sort_by_key(|(_, ranks)| (ranks.len(), ranks.first().copied()));
    let hidden = by_count.len().saturating_sub(NAMED);
    let text = |(count, ranks): &(usize, Vec<usize>)| {
        let each = if ranks.len() > 1 { " each" } else { "" };
        format!("{} ran {}{each}", ranks_text(job, ranks), format::count(*count as u64))
    };
    let mut texts: Vec<String> = by_count.iter().take(NAMED).map(text).collect();
    if hidden > 0 {
        texts.push(format!("others ran {} further numbers of them", format::count(hidden as u64)));
    }
    texts.join(", ")
}

/// Why kernels of several ranks were not paired.
pub fn refusal_text(job: &Job, refusal: &Refusal) -> String {
    let counts = counts_text(job, &refusal.counts);
    let ranks: Vec<usize> = refusal.counts.iter().map(|(rank, _)| *rank).collect();
    let why = match refusal.reason {
        RefusalReason::Counts => format!("the ranks ran different numbers of them: {counts}"),
        RefusalReason::Kinds(at) => {
            format!("number {} is of different kinds ({counts})", format::count(at as u64 + 1))
        }
        RefusalReason::Apart => format!(
            "{} in other collectives than the other ranks, by the times at which they end, and so of another communicator \
             ({counts}; NCCL's NVTX ranges with their values name it: export with --include-blobs=true)",
            if ranks.len() == 1 {
                format!("{} took part", ranks_text(job, &ranks))
            } else {
                format!("{} each took part", ranks_text(job, &ranks))
            },
        ),
        RefusalReason::Peers => format!(
            "the ranks' own numbers in the communicator were not recorded: capture its creation, or open all its ranks \
             ({counts})"
        ),
    };
    // Which two of them would belong together is what is not known.
    let key = match refusal.reason {
        RefusalReason::Peers => key_text(job, refusal.key, &[]),
        _ => key_text(job, refusal.key, &ranks),
    };
    format!("Not paired: {key}, since {why}.")
}

/// What a rank did longer, in a few words.
pub fn extra_text(kind: ExtraKind) -> String {
    match kind {
        ExtraKind::Compute(family) => format!("{} kernels", family.text()),
        ExtraKind::SlowGpu => "identical kernels on a slower GPU".to_owned(),
        ExtraKind::Data => "waiting for data".to_owned(),
        ExtraKind::Host(cause) => format!("waiting for the host ({})", cause.text()),
        ExtraKind::Copy => "copies".to_owned(),
    }
}

/// Stable word for what a rank did longer.
pub const fn extra_key(kind: ExtraKind) -> &'static str {
    match kind {
        ExtraKind::Compute(_) => "compute",
        ExtraKind::SlowGpu => "slow_gpu",
        ExtraKind::Data => "data",
        ExtraKind::Host(_) => "host",
        ExtraKind::Copy => "copy",
    }
}

/// What to do about a rank that is late for such a reason.
pub const fn extra_advice(kind: ExtraKind) -> &'static str {
    match kind {
        ExtraKind::Compute(_) => {
            "Give this rank less work: even out sequence lengths, experts or layers; the network is not to blame."
        }
        ExtraKind::SlowGpu => {
            "Check that card: clocks and throttling (nvidia-smi -q -d CLOCK,PERFORMANCE), power cap, ECC, a MIG slice or \
             another process on it."
        }
        ExtraKind::Data => {
            "Feed this rank faster: its shards, its disk or its loader workers are slower than the others'."
        }
        ExtraKind::Host(_) => {
            "Look at that host: CPU frequency, NUMA binding, other processes, garbage collection, logging on one rank only."
        }
        ExtraKind::Copy => "Look at what this rank copies in addition, and at its PCIe link (nvidia-smi -q -d PCIE).",
    }
}

/// What to do about the straggler; `None` when there is none, or nothing that it did longer was found.
pub fn straggler_advice(job: &Job) -> Option<String> {
    let extra = job.stragglers.straggler.as_ref()?.cause()?;
    Some(format!("Next: {}", extra_advice(extra.kind)))
}

/// How many collectives were matched, and how many communication kernels were not, with the ranks that ran those when
/// not all did.
pub fn matched_text(job: &Job) -> String {
    let odd: Vec<usize> = (0..job.ranks.len())
        .filter(|rank| job.waits.ranks.get(*rank).is_some_and(|waits| waits.unmatched > 0))
        .collect();
    let on = match odd.len() {
        0 => String::new(),
        some if some == job.ranks.len() => String::new(),
        _ => format!(" ({})", ranks_text(job, &odd)),
    };
    format!(
        "{} matched, {} not{on}.",
        format::count(job.waits.matched),
        format::counted(job.waits.unmatched, "communication kernel", "communication kernels"),
    )
}

/// Who is late, how often, why, and what it costs the others; also says that nobody is.
pub fn straggler_text(job: &Job) -> String {
    if job.ranks.len() < 2 {
        return "One rank only: waiting for other ranks and moving data cannot be told apart.".to_owned();
    }
    if job.waits.matched == 0 {
        return "No collective could be matched between the ranks, so who waits for whom is not known.".to_owned();
    }
    let found = match &job.stragglers.straggler {
        None => unknown_text(job).unwrap_or_else(|| {
            "No straggler: no rank starts last in over 60 % of the matched collectives and costs the others over \
                 2 % of a step."
                .to_owned()
        }),
        Some(found) => late_text(job, found),
    };
    let missing = most_missing(job).and_then(|group| missing_text(job, group));
    [Some(found), missing].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Why the clock in force does not tell who was last; `None` when it does.
fn unknown_text(job: &Job) -> Option<String> {
    let why = doubt_text(job.clock.doubt()?);
    Some(format!("Who started last, and who waits for whom, is not known: {why}."))
}

/// Why a clock does not tell who was last, to follow a colon.
const fn doubt_text(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::Shifted => "files were shifted by hand",
        Doubt::FirstEvents => "the clock is the files' first events",
        Doubt::Contradicted => "the clock contradicts the collectives",
    }
}

/// What has to stand beside everything that says who started last or who waited, while that does not follow from the
/// clock in force; `None` when it does. The numbers stay: to see them is what the user shifted the files for.
pub fn reservation(job: &Job) -> Option<String> {
    job.clock.doubt().map(reservation_of)
}

/// The reservation of a doubt. Short, for tooltips hold it on one line.
pub(in crate::report) fn reservation_of(doubt: Doubt) -> String {
    format!("No evidence of who was late: {}.", doubt_text(doubt))
}

fn late_text(job: &Job, found: &Straggler) -> String {
    let cause = found.cause().map_or_else(
        || "the capture does not show what it did longer".to_owned(),
        |extra| cause_text(job, extra, found),
    );
    format!(
        "Rank {} is the straggler: it starts last in {} of the matched collectives ({} of {} in which not all start \
         together), and each other rank waits {}{} for it ({}{}){}. Why: {cause}.",
        label(job, found.rank),
        format::percent(Some(found.share_of_collectives)),
        format::count(found.late.last),
        format::count(found.late.decided),
        format::duration(found.cost_ns_per_step),
        each(job),
        format::percent(Some(found.cost_share)),
        if job.stragglers.by_step { " of the mean step" } else { "" },
        exposed_text(found),
    )
}

/// What of the wait can be seen as lost time; nothing when that may be all of it.
fn exposed_text(found: &Straggler) -> String {
    if found.exposed_at_most_ns >= found.cost_ns_per_step {
        return String::new();
    }
    let exposed = format::duration(found.exposed_at_most_ns);
    format!(", of which at most {exposed} are exposed and the rest lies behind compute")
}

/// What numbers of a straggler are of.
fn each(job: &Job) -> &'static str {
    if job.stragglers.by_step { " a step" } else { " over the whole span (no common steps are marked)" }
}

fn cause_text(job: &Job, extra: &Extra, found: &Straggler) -> String {
    let took = format!(
        "{} {} {}{}, {} on the others",
        extra_text(extra.kind),
        if matches!(extra.kind, ExtraKind::Data | ExtraKind::Host(_)) { "takes" } else { "take" },
        format::duration(extra.own_ns),
        if job.stragglers.by_step { " a step" } else { "" },
        format::duration(extra.others_ns),
    );
    match found.slow_kernels.filter(|_| extra.kind == ExtraKind::SlowGpu) {
        Some(slow) => format!("{took}; identical kernels take {} times as long", format::decimal(slow.ratio, 2)),
        None => took,
    }
}

/// Pauses of the host that wander between ranks, in one sentence; `None` when there are none.
pub fn wandering_text(job: &Job) -> Option<String> {
    let pauses = &job.stragglers.wandering;
    if pauses.is_empty() {
        return None;
    }
    let each: Vec<String> = pauses
        .iter()
        .take(6)
        .map(|p| format!("rank {} in step {} ({})", label(job, p.rank), p.step, format::duration(p.ns)))
        .collect();
    let more = if pauses.len() > each.len() { " and others" } else { "" };
    Some(format!(
        "Pauses of the host wander between the ranks: {}{more}. Python's garbage collection does this: collect by hand \
         in the same step on all ranks (gc.disable, gc.collect).",
        each.join(", ")
    ))
}

/// What ranks waited that no single rank is to blame for: why the waits for each rank sum to less than a rank waited.
/// `None` when there is nothing of it.
pub fn together_text(job: &Job) -> Option<String> {
    let ns = Some(job.waits.together_ns()).filter(|ns| *ns > 0)?;
    let waited = format::duration(ns);
    Some(format!("Besides, {waited} of waiting for ranks that started together, as far as the clock can tell."))
}
