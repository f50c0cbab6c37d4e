//! What puts the files on one clock, in sentences: the same on screen, in text and in documents.

use super::words::{NAMED, files_text};
use crate::format;
use crate::job::{Basis, ClockMode, Job, Notice, SourceClock};

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
    let bases = job.clock.bases();
    if bases.is_empty() {
        return "one file, one clock".to_owned();
    }
    let mut text = bases.into_iter().map(basis_text).collect::<Vec<_>>().join(" and ");
    if job.clock.is_shifted() {
        text.push_str(", shifted by hand");
    }
    match job.clock.worst_uncertainty_ns() {
        Some(ns) => format!("{text} \u{b1}{}", format::duration(ns)),
        None => format!("{text}, uncertainty not known"),
    }
}

/// How much slower or faster a file's clock runs; "-" when no drift was found.
pub fn drift_text(source: &SourceClock) -> String {
    match source.map.drift_ppm {
        0.0 => format::UNKNOWN.to_owned(),
        ppm => format::signed(format!("{} ppm", format::decimal(ppm, 2))),
    }
}

/// How far off a clock may be; "-" when that is not known.
pub fn uncertainty_text(ns: Option<i64>) -> String {
    ns.map_or_else(|| format::UNKNOWN.to_owned(), |ns| format!("\u{b1}{}", format::duration(ns)))
}

/// Everything to know of the clock, one sentence for each thing, whatever the number of files that it is about.
pub fn notices(job: &Job) -> Vec<String> {
    let of =
        |pick: &dyn Fn(&Notice) -> Option<usize>| -> Vec<usize> { job.clock.notices.iter().filter_map(pick).collect() };
    let overruled = |notice: &Notice| match notice {
        Notice::WrongWall { export, ahead_ns } => Some((*export, *ahead_ns)),
        _ => None,
    };
    let in_force = |notice: &Notice| match notice {
        Notice::WallInForce { export, ahead_ns } => Some((*export, *ahead_ns)),
        _ => None,
    };
    let mut lines = wall_texts(job, overruled, "so it was overruled.");
    let then = "and it is in force all the same: waits are wrong by as much. The clock by collectives would mend that.";
    lines.extend(wall_texts(job, in_force, then));
    for instead in [Basis::StepStart, Basis::Wall, Basis::FirstEvent] {
        let is_so = |notice: &Notice| match notice {
            Notice::NoCommonCollective { export, instead: basis } if *basis == instead => Some(*export),
            _ => None,
        };
        let files = of(&is_so);
        let (stand, them) = if files.len() == 1 { ("it stands", "it") } else { ("they stand", "them") };
        lines.extend(files_text(job, &files).map(|names| {
            format!(
                "No collective of {names} could be matched with one of another file, so {stand} by {}: waits for {them} and \
                 clock offsets cannot be told.",
                basis_text(instead)
            )
        }));
    }
    let no_wall = of(&|notice| match notice {
        Notice::NoWall { export } => Some(*export),
        _ => None,
    });
    lines.extend(files_text(job, &no_wall).map(|names| format!("The wall clock of {names} was not recorded.")));
    let no_step = of(&|notice| match notice {
        Notice::NoCommonStep { export } => Some(*export),
        _ => None,
    });
    lines.extend(files_text(job, &no_step).map(|names| {
        format!("No step of {names} has a number that the reference has, too: mark steps with numbered NVTX ranges.")
    }));
    lines
}

/// Wall clocks that are off by the matched collectives, the worst first, and what follows.
fn wall_texts(job: &Job, of: impl Fn(&Notice) -> Option<(usize, i64)>, then: &str) -> Vec<String> {
    let mut off: Vec<(usize, i64)> = job.clock.notices.iter().filter_map(of).collect();
    off.sort_by_key(|(export, ahead_ns)| (std::cmp::Reverse(ahead_ns.saturating_abs()), *export));
    let text = |(export, ahead_ns): &(usize, i64)| {
        let name = format::one_line(job.name(*export), 60);
        // One that is right is no notice.
        let by = format::directed(*ahead_ns, "ahead", "behind").unwrap_or_default();
        format!("The wall clock of {name} is {by} by the matched collectives, {then}")
    };
    let mut lines: Vec<String> = off.iter().take(NAMED).map(text).collect();
    let hidden = off.len().saturating_sub(NAMED) as u64;
    if hidden > 0 {
        lines.push(format!(
            "{} off by less.",
            format::counted(hidden, "further wall clock is", "further wall clocks are")
        ));
    }
    lines
}
