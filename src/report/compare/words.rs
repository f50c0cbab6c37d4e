//! What several ranks say together, in sentences: the same on screen, in text and in documents.

use crate::format;
use crate::job::{
    Basis, ClockMode, Extra, ExtraKind, GroupKey, Job, Notice, Refusal, RefusalReason, SourceClock, Straggler,
};

/// What a clock is called in menus.
pub const fn mode_text(mode: ClockMode) -> &'static str {
    match mode {
        ClockMode::Auto => "automatic",
        ClockMode::Wall => "wall clock",
        ClockMode::Collectives => "collectives",
        ClockMode::StepStart => "step start",
        ClockMode::Manual => "by hand",
    }
}

/// What a clock does, for tooltips and help.
pub const fn mode_help(mode: ClockMode) -> &'static str {
    match mode {
        ClockMode::Auto => "Collectives where ranks share them, else step starts, else wall clocks.",
        ClockMode::Wall => "The wall clocks of the session starts, however wrong they are.",
        ClockMode::Collectives => {
            "All ranks of a collective leave it nearly together: the median difference of their ends."
        }
        ClockMode::StepStart => "Steps of one number start together: the median difference of their windows' starts.",
        ClockMode::Manual => "Each file from its own first event, moved by hand.",
    }
}

/// What a file was put on the clock by.
pub const fn basis_text(basis: Basis) -> &'static str {
    match basis {
        Basis::Reference => "reference",
        Basis::Wall => "wall clock",
        Basis::Collectives => "collectives",
        Basis::StepStart => "step start",
        Basis::FirstEvent => "first event",
    }
}

/// The clock in force and its uncertainty, short: `collectives ±0.8 us`.
pub fn clock_text(job: &Job) -> String {
    let others = job.clock.sources.iter().filter(|source| source.basis != Basis::Reference);
    let mut bases: Vec<Basis> = others.map(|source| source.basis).collect();
    bases.sort_unstable();
    bases.dedup();
    let text = match bases[..] {
        [] => return "one file, one clock".to_owned(),
        [basis] => basis_text(basis).to_owned(),
        _ => bases.into_iter().map(basis_text).collect::<Vec<_>>().join(" and "),
    };
    match job.clock.worst_uncertainty_ns() {
        Some(ns) => format!("{text} \u{b1}{}", format::duration(ns)),
        None => format!("{text}, uncertainty not known"),
    }
}

/// How much slower or faster a file's clock runs; "-" when no drift was found.
pub fn drift_text(source: &SourceClock) -> String {
    match source.map.drift_ppm {
        0.0 => format::UNKNOWN.to_owned(),
        ppm => format!("{} ppm", format::decimal(ppm, 2)),
    }
}

/// How far off a clock may be; "-" when that is not known.
pub fn uncertainty_text(ns: Option<i64>) -> String {
    ns.map_or_else(|| format::UNKNOWN.to_owned(), |ns| format!("\u{b1}{}", format::duration(ns)))
}

/// Everything to know of the clock, one sentence each.
pub fn notices(job: &Job) -> Vec<String> {
    job.clock.notices.iter().map(|notice| notice_text(job, *notice)).collect()
}

fn notice_text(job: &Job, notice: Notice) -> String {
    let name = |export: usize| job.exports.get(export).map_or_else(String::new, |e| format::one_line(&e.stem(), 60));
    match notice {
        Notice::WrongWall { export, ahead_ns } => format!(
            "The wall clock of {} is {} {} by the matched collectives, so it was overruled.",
            name(export),
            format::duration(ahead_ns.saturating_abs()),
            if ahead_ns > 0 { "ahead" } else { "behind" },
        ),
        Notice::NoCommonCollective { export, instead } => format!(
            "{} shares no collective with the other files that can be matched, so it stands by {}: waits for it and \
             clock offsets cannot be told.",
            name(export),
            basis_text(instead),
        ),
        Notice::NoWall { export } => format!("The wall clock of {} was not recorded.", name(export)),
        Notice::NoCommonStep { export } => {
            format!("{} has no step that the reference has, too: mark steps with numbered NVTX ranges.", name(export))
        }
    }
}

/// A group of collectives in words: `AllReduce, communicator 3f`.
pub fn group_text(job: &Job, group: usize) -> String {
    let kinds = job.waits.groups.get(group).map_or(&[][..], |g| &g.kinds);
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.text()).collect();
    let key = job.groups.get(group).map(|group| group.key);
    let kinds = if kinds.is_empty() { "collectives".to_owned() } else { kinds.join(", ") };
    match key {
        Some(key) => format!("{kinds}, {}", key_text(key)),
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

fn key_text(key: GroupKey) -> String {
    match key {
        GroupKey::Communicator(id) => format!("communicator {}", format::communicator(id)),
        GroupKey::Peer { communicator, peer } => {
            format!("communicator {}, with rank {peer}", format::communicator(communicator))
        }
        GroupKey::Role { stream, kind } => format!("{} on communication stream {}", kind.text(), stream + 1),
    }
}

/// Why kernels of several ranks were not paired.
pub fn refusal_text(job: &Job, refusal: &Refusal) -> String {
    let label = |rank: usize| job.ranks.get(rank).map_or("?", |rank| rank.label.as_str());
    let counts: Vec<String> = refusal
        .counts
        .iter()
        .take(8)
        .map(|(rank, count)| format!("rank {}: {}", format::one_line(label(*rank), 40), format::count(*count as u64)))
        .collect();
    let more = if refusal.counts.len() > 8 { ", ..." } else { "" };
    let why = match refusal.reason {
        RefusalReason::Counts => "the ranks ran different numbers of them".to_owned(),
        RefusalReason::Kinds(at) => format!("number {} is of different kinds", format::count(at as u64 + 1)),
        RefusalReason::Apart => {
            "they leave their collectives at other times than the other ranks, so they belong to another communicator \
             (NCCL's NVTX ranges with their values name it: export with --include-blobs=true)"
                .to_owned()
        }
        RefusalReason::Peers => {
            "the ranks' own numbers in the communicator were not recorded (capture its creation, or open all its ranks)"
                .to_owned()
        }
    };
    format!("{} not paired, since {why} ({}{more}).", key_text(refusal.key), counts.join(", "))
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

/// Who is late, how often, why, and what it costs the others; also says that nobody is.
pub fn straggler_text(job: &Job) -> String {
    if job.ranks.len() < 2 {
        return "One rank only: waiting for other ranks and moving data cannot be told apart.".to_owned();
    }
    if job.waits.matched == 0 {
        return "No collective could be matched between the ranks, so who waits for whom is not known.".to_owned();
    }
    let found = match &job.stragglers.straggler {
        None => "No straggler: no rank starts last in over 60 % of the matched collectives and costs the others over \
                 2 % of a step."
            .to_owned(),
        Some(found) => late_text(job, found),
    };
    match most_missing(job).and_then(|group| missing_text(job, group)) {
        Some(missing) => format!("{found} {missing}"),
        None => found,
    }
}

fn late_text(job: &Job, found: &Straggler) -> String {
    let label = job.ranks.get(found.rank).map_or("?", |rank| rank.label.as_str());
    let cause = found.cause().map_or_else(
        || "the capture does not show what it did longer".to_owned(),
        |extra| cause_text(job, extra, found),
    );
    format!(
        "Rank {} is the straggler: it starts last in {} of the matched collectives ({} of {} in which not all start \
         together), and each other rank waits {}{} for it ({}). Why: {cause}.",
        format::one_line(label, 60),
        format::percent(Some(found.share_of_collectives)),
        format::count(found.late.last),
        format::count(found.late.decided),
        format::duration(found.cost_ns_per_step),
        each(job),
        format::percent(Some(found.cost_share)),
    )
}

/// What numbers of a straggler are of.
fn each(job: &Job) -> &'static str {
    if job.stragglers.by_step { " a step" } else { " over the whole span (no common steps are marked)" }
}

fn cause_text(job: &Job, extra: &Extra, found: &Straggler) -> String {
    let took = format!(
        "{} take {}{}, {} on the others",
        extra_text(extra.kind),
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
    let label = |rank: usize| job.ranks.get(rank).map_or("?", |rank| rank.label.as_str());
    let each: Vec<String> = pauses
        .iter()
        .take(6)
        .map(|p| {
            format!("rank {} in step {} ({})", format::one_line(label(p.rank), 40), p.step, format::duration(p.ns))
        })
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
