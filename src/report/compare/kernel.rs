//! One operation beside those of other ranks, in a few words. Every number across clocks carries how far off it may be.

use super::words::reservation;
use crate::format;
use crate::job::{Difference, Job, Later, Matched, StartBasis, Strip};

/// Said where a communication kernel of a job of one rank is described.
pub const ONE_RANK: &str = "one rank only: waiting and transfer cannot be told apart";

/// How communication kernel `op` of rank `rank` (an index into the job's ranks) splits, as name and value.
pub fn kernel_lines(job: &Job, rank: usize, op: u32) -> Vec<(&'static str, String)> {
    if job.ranks.len() < 2 {
        return vec![("Waited", ONE_RANK.to_owned())];
    }
    let Some((matched, member)) = job.matched_op(rank, op) else {
        return vec![("Waited", "not known: not matched with a kernel of another rank".to_owned())];
    };
    let Some((_, split)) = matched.members.get(member) else { return Vec::new() };
    let group = job.groups.get(matched.group);
    let speed = group.and_then(|group| matched.bus_gb_per_s(group));
    let speed = speed.map_or_else(String::new, |gb_per_s| {
        format!(", bus bandwidth {} of the transfer", format::bandwidth(Some(gb_per_s)))
    });
    let mut lines = vec![
        ("Waited", waited(job, &matched, member)),
        ("Transfer", format!("{}{speed}", format::duration(split.transfer_ns))),
    ];
    lines.extend(reservation_line(job));
    lines
}

/// The reservation about who was late as name and value, below times across clocks; `None` when there is none.
pub fn reservation_line(job: &Job) -> Option<(&'static str, String)> {
    reservation(job).map(|text| ("Clock", text))
}

/// For whom a member waited, and how long.
fn waited(job: &Job, matched: &Matched, member: usize) -> String {
    let rank_of = |member: usize| job.groups.get(matched.group)?.members.get(member).map(|member| member.rank);
    let own = rank_of(member);
    let wait_ns = matched.members.get(member).map_or(0, |(_, split)| split.wait_ns);
    let error = |other: Option<usize>| match own.zip(other) {
        Some((a, b)) => clock_error(uncertainty_ns(job, a, b)),
        None => String::new(),
    };
    match matched.last {
        Some(last) if last == member => {
            let skew = format::duration(matched.skew_ns);
            let first = matched.members.iter().enumerate().min_by_key(|(_, (span, _))| span.start_ns);
            format!("not: started last, {skew} after the first{}", error(first.and_then(|(at, _)| rank_of(at))))
        }
        Some(last) => {
            let label = rank_of(last).map_or("?", |rank| label(job, rank));
            format!("{} for rank {}{}", format::duration(wait_ns), format::one_line(label, 40), error(rank_of(last)))
        }
        None => {
            let latest = matched.members.iter().position(|(span, _)| span.start_ns == matched.latest_ns);
            let error = error(latest.and_then(rank_of));
            format!("{} for the last ones, which started together{error}", format::duration(wait_ns))
        }
    }
}

fn label(job: &Job, rank: usize) -> &str {
    job.ranks.get(rank).map_or("?", |rank| rank.label.as_str())
}

/// How far the clocks of two ranks may be off each other; `None` when it is not known.
fn uncertainty_ns(job: &Job, a: usize, b: usize) -> Option<i64> {
    job.clock.uncertainty_ns(job.ranks.get(a)?.at.export, job.ranks.get(b)?.at.export)
}

/// How far off a time across two clocks may be, in brackets behind it.
pub fn clock_error(uncertainty_ns: Option<i64>) -> String {
    match uncertainty_ns {
        Some(ns) => format!(" (clock \u{b1}{})", format::duration(ns)),
        None => " (clock uncertainty not known)".to_owned(),
    }
}

/// When and how long something ran beside something else: `1.20 ms later ±0.8 us, 300 us longer`.
pub fn beside_text(later: Later, longer_ns: i64) -> String {
    let step = if later.basis == StartBasis::InStep { " in its step" } else { "" };
    format!("{}{step}, {}", later_text(later), longer_text(longer_ns))
}

fn later_text(later: Later) -> String {
    let when = format::directed(later.ns, "later", "earlier").unwrap_or_else(|| "at the same time".to_owned());
    match later.basis {
        StartBasis::Arrival => {
            let error = later.uncertainty_ns.map_or_else(|| "?".to_owned(), format::duration);
            format!("{when} \u{b1}{error}")
        }
        // Each is counted on its own clock: there is no error between clocks.
        StartBasis::InStep => when,
    }
}

/// How much longer something took than something else: `300 us longer`.
pub fn longer_text(longer_ns: i64) -> String {
    format::directed(longer_ns, "longer", "shorter").unwrap_or_else(|| "as long".to_owned())
}

/// What sets an operation of `strip` apart from that of rank `other`, as name and value.
pub fn difference_lines(difference: &Difference, other: &str, strip: &Strip) -> [(&'static str, String); 2] {
    let other = format::one_line(other, 40);
    let later = later_text(strip.later(difference));
    let started = match strip.basis {
        StartBasis::Arrival => ("Arrived", format!("{later} than rank {other}")),
        StartBasis::InStep => ("Began in step", format!("{later} than on rank {other}")),
    };
    [started, ("Took", format!("{} than on rank {other}", longer_text(difference.longer_ns)))]
}

/// By how much files were moved by hand, short; `None` when none was.
pub fn shift_text(job: &Job) -> Option<String> {
    let mut shifted = job.clock.sources.iter().enumerate().filter(|(_, source)| source.shift_ns != 0);
    let (export, source) = shifted.next()?;
    Some(match shifted.count() {
        0 => format!("{} {}", format::one_line(job.name(export), 30), shifted_by(source.shift_ns)),
        others => format!("{} files shifted", format::count(others.saturating_add(1) as u64)),
    })
}

/// By how much something was moved by hand: `shifted +2.50 ms`.
pub fn shifted_by(shift_ns: i64) -> String {
    format!("shifted {}", format::signed_duration(shift_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_said_with_their_direction_and_error() {
        let by_clock = |ns, uncertainty_ns| Later { ns, basis: StartBasis::Arrival, uncertainty_ns };
        assert_eq!(
            beside_text(by_clock(1_200_000, Some(800)), 300_000),
            "1.200 ms later \u{b1}800 ns, 300.0 \u{b5}s longer"
        );
        assert_eq!(beside_text(by_clock(-5, Some(0)), -7), "5 ns earlier \u{b1}0 ns, 7 ns shorter");
        let in_step = Later { ns: 5, basis: StartBasis::InStep, uncertainty_ns: None };
        assert_eq!(beside_text(in_step, 7), "5 ns later in its step, 7 ns longer");
        assert_eq!(beside_text(by_clock(0, None), 0), "at the same time \u{b1}?, as long");
        assert_eq!((shifted_by(2_500_000), shifted_by(-5)), ("shifted +2.500 ms".into(), "shifted -5 ns".into()));
        assert_eq!(shift_text(&Job::default()), None);
    }
}
