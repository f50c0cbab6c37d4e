//! One clock for ranks of several exports: by matched collectives ([`super::clock_ends`]), by steps, by wall clocks, by
//! hand.

use super::clock_ends::by_collectives;
use super::median::median_and_spread;
use super::{ExportSummary, Group, JobOptions, JobRank, RankSummary};
use crate::units::Span;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A wall clock that is wrong by more is told where it was overruled.
const WRONG_WALL_NS: i64 = 1_000_000;
/// A wall clock that is in force is told to be wrong by more: waits are wrong by as much.
const OFF_WALL_NS: i64 = 1_000;

/// What the user wants the exports to be put on one clock by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockMode {
    /// The best there is: collectives, else step starts, else wall clocks.
    #[default]
    Auto,
    /// The wall clocks of the session starts.
    Wall,
    /// Ends of matched collectives.
    Collectives,
    /// Starts of steps with the same number.
    StepStart,
    /// Each export from its own first event, moved by hand.
    Manual,
}

impl ClockMode {
    /// All modes, in the order of menus.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Collectives, Self::StepStart, Self::Wall, Self::Manual];

    /// The mode after this one, the first after the last.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|mode| *mode == self).map_or(0, |at| at + 1);
        Self::ALL.get(at).copied().unwrap_or_default()
    }
}

/// What an export was put on the clock by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// It is the reference.
    #[default]
    Reference,
    /// Wall clock of its session start.
    Wall,
    /// Ends of matched collectives.
    Collectives,
    /// Starts of steps.
    StepStart,
    /// Its own first event, since nothing else is known.
    FirstEvent,
}

/// From the time of an export to the job's.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ClockMap {
    /// Added to the export's time at `about_ns`.
    pub offset_ns: i64,
    /// How much longer the job's clock finds a span than the export's, in parts per million.
    pub drift_ppm: f64,
    /// Export time at which `offset_ns` holds exactly.
    pub about_ns: i64,
}

impl ClockMap {
    /// A plain shift.
    pub const fn shift(offset_ns: i64) -> Self {
        Self { offset_ns, drift_ppm: 0.0, about_ns: 0 }
    }

    /// Job time of export time `at_ns`, saturating.
    pub fn to_job(&self, at_ns: i64) -> i64 {
        at_ns.saturating_add(self.offset_ns).saturating_add(self.drift_ns(at_ns))
    }

    /// Export time of job time `at_ns`, within a nanosecond.
    pub fn to_export(&self, at_ns: i64) -> i64 {
        let own = at_ns.saturating_sub(self.offset_ns);
        // The drift is a few parts per million: its own shift moves it by less than a nanosecond a second.
        own.saturating_sub(self.drift_ns(own.saturating_sub(self.drift_ns(own))))
    }

    /// A span in job time.
    pub fn span_to_job(&self, span: Span) -> Span {
        Span::new(self.to_job(span.start_ns), self.to_job(span.end_ns))
    }

    /// A span in the export's time.
    pub fn span_to_export(&self, span: Span) -> Span {
        Span::new(self.to_export(span.start_ns), self.to_export(span.end_ns))
    }

    fn drift_ns(&self, at_ns: i64) -> i64 {
        if self.drift_ppm == 0.0 {
            return 0;
        }
        (at_ns.saturating_sub(self.about_ns) as f64 * self.drift_ppm * 1e-6).round() as i64
    }

    /// This map, then `next`.
    pub(super) fn then(&self, next: &Self) -> Self {
        let about_ns = self.about_ns;
        let at_ns = next.to_job(self.to_job(about_ns));
        Self { offset_ns: at_ns.saturating_sub(about_ns), drift_ppm: self.drift_ppm + next.drift_ppm, about_ns }
    }
}

/// Where one export stands on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct SourceClock {
    /// From its time to the job's, the user's shift included.
    pub map: ClockMap,
    /// What it was put there by.
    pub basis: Basis,
    /// How far off `basis` may put it; `None` when it is not known. See [`SourceClock::uncertainty_ns`].
    pub(super) found_uncertainty_ns: Option<i64>,
    /// Matched collectives or steps that it rests on.
    pub matched: u64,
    /// Nanoseconds that the user moved it by.
    pub shift_ns: i64,
}

/// Something to know of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The wall clock of an export is wrong by so much and was overruled.
    WrongWall {
        /// The export.
        export: usize,
        /// How far it is ahead of the reference.
        ahead_ns: i64,
    },
    /// An export shares no collective that can be matched with the others.
    NoCommonCollective {
        /// The export.
        export: usize,
        /// What was taken instead.
        instead: Basis,
    },
    /// The wall clock of an export is in force, although the matched collectives say that it is wrong by so much.
    WallInForce {
        /// The export.
        export: usize,
        /// How far it is ahead of the reference.
        ahead_ns: i64,
    },
    /// The wall clock of an export was not recorded.
    NoWall {
        /// The export.
        export: usize,
    },
    /// No step of the export has a number that the reference has, too.
    NoCommonStep {
        /// The export.
        export: usize,
    },
}

/// Why who started last does not follow from a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Exports were shifted by hand.
    Shifted,
    /// Each export stands by its own first event, as the user wants it.
    FirstEvents,
    /// It contradicts the matched collectives.
    Contradicted,
}

/// What puts the exports of a job on one clock. Job time is that of the reference.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clock {
    /// What the user asked for.
    pub mode: ClockMode,
    /// The export whose clock is the job's: the first of those that the most exports share collectives with.
    pub reference: usize,
    /// By export.
    pub sources: Vec<SourceClock>,
    /// What to know of it.
    pub notices: Vec<Notice>,
}

impl Clock {
    /// The map of an export.
    pub fn map(&self, export: usize) -> ClockMap {
        self.sources.get(export).map_or_else(ClockMap::default, |source| source.map)
    }

    /// Why who started last, and so who waited for whom, does not follow from this clock; `None` when it does.
    pub fn doubt(&self) -> Option<Doubt> {
        let contradicts = |notice: &Notice| matches!(notice, Notice::WallInForce { .. });
        if self.is_shifted() {
            return Some(Doubt::Shifted);
        }
        if self.mode == ClockMode::Manual && self.sources.len() > 1 {
            return Some(Doubt::FirstEvents);
        }
        self.notices.iter().any(contradicts).then_some(Doubt::Contradicted)
    }

    /// How far two exports may be off each other; `None` when it is not known. One export's ranks share its clock.
    pub fn uncertainty_ns(&self, a: usize, b: usize) -> Option<i64> {
        if a == b {
            return Some(0);
        }
        let of = |export: usize| self.sources.get(export)?.uncertainty_ns();
        Some(of(a)?.saturating_add(of(b)?))
    }

    /// The largest uncertainty of any export; `None` when one is not known.
    pub fn worst_uncertainty_ns(&self) -> Option<i64> {
        self.sources.iter().map(SourceClock::uncertainty_ns).collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// What the exports were put on the clock by, the reference aside; empty of one export.
    pub fn bases(&self) -> Vec<Basis> {
        let others = self.sources.iter().filter(|source| source.basis != Basis::Reference);
        let mut bases: Vec<Basis> = others.map(|source| source.basis).collect();
        bases.sort_unstable();
        bases.dedup();
        bases
    }

    /// True when the user moved an export.
    pub fn is_shifted(&self) -> bool {
        self.sources.iter().any(|source| source.shift_ns != 0)
    }

    pub(super) fn of(
        exports: &[Arc<ExportSummary>],
        ranks: &[JobRank],
        groups: &[Group],
        options: &JobOptions,
    ) -> Self {
        let mut clock = Self { mode: options.clock, ..Self::default() };
        let (reference, by_collectives) = by_collectives(exports, ranks, groups);
        clock.reference = reference;
        let walls_fit = walls_fit(exports);
        for at in 0..exports.len() {
            let source = clock.place(exports, at, walls_fit, by_collectives.get(at).copied().flatten());
            clock.sources.push(source);
        }
        clock.shifted(&options.shift_ns)
    }

    /// The same clock with these shifts by hand in place of those it has; missing ones are 0.
    #[must_use]
    pub(super) fn shifted(&self, shift_ns: &[i64]) -> Self {
        let mut clock = self.clone();
        for (at, source) in clock.sources.iter_mut().enumerate() {
            let shift_ns = shift_ns.get(at).copied().unwrap_or(0);
            let by_ns = shift_ns.saturating_sub(source.shift_ns);
            source.map.offset_ns = source.map.offset_ns.saturating_add(by_ns);
            source.shift_ns = shift_ns;
        }
        clock
    }

    /// Where export `at` stands, without the user's shift.
    fn place(
        &mut self,
        exports: &[Arc<ExportSummary>],
        at: usize,
        walls_fit: bool,
        by_collectives: Option<SourceClock>,
    ) -> SourceClock {
        let reference = exports.get(self.reference).filter(|_| at != self.reference);
        let (Some(reference), Some(export)) = (reference, exports.get(at)) else {
            return SourceClock { found_uncertainty_ns: Some(0), ..SourceClock::default() };
        };
        let wall_ns = reference.epoch_ns.zip(export.epoch_ns).map(|(of, own)| own.saturating_sub(of));
        let wall = wall_ns.map(|ns| SourceClock::of(ClockMap::shift(ns), Basis::Wall));
        let ahead_ns = wall_ns.zip(by_collectives).map(|(ns, found)| {
            ns.saturating_sub(found.map.to_job(found.map.about_ns).saturating_sub(found.map.about_ns))
        });
        let steps = by_steps(reference, export);
        let start_ns = |export: &ExportSummary| export.span.map_or(0, |span| span.start_ns);
        let first_event = || {
            let offset_ns = start_ns(reference).saturating_sub(start_ns(export));
            SourceClock::of(ClockMap::shift(offset_ns), Basis::FirstEvent)
        };
        match self.mode {
            ClockMode::Manual => first_event(),
            ClockMode::Wall => {
                // What the collectives cannot tell from an even clock is no error of it.
                let sure_ns = by_collectives.and_then(|found| found.found_uncertainty_ns).unwrap_or(0);
                if let Some(ahead_ns) = ahead_ns.filter(|ns| ns.saturating_abs() > sure_ns.max(OFF_WALL_NS)) {
                    self.notices.push(Notice::WallInForce { export: at, ahead_ns });
                }
                wall.unwrap_or_else(|| {
                    self.notices.push(Notice::NoWall { export: at });
                    steps.unwrap_or_else(first_event)
                })
            }
            ClockMode::StepStart => steps.unwrap_or_else(|| {
                self.notices.push(Notice::NoCommonStep { export: at });
                wall.unwrap_or_else(first_event)
            }),
            ClockMode::Auto | ClockMode::Collectives => {
                if let Some(found) = by_collectives {
                    if let Some(ahead_ns) = ahead_ns.filter(|ns| ns.saturating_abs() > WRONG_WALL_NS) {
                        self.notices.push(Notice::WrongWall { export: at, ahead_ns });
                    }
                    return found;
                }
                let found = steps.or(wall.filter(|_| walls_fit)).unwrap_or_else(first_event);
                self.notices.push(Notice::NoCommonCollective { export: at, instead: found.basis });
                found
            }
        }
    }
}

/// True when every file tells its wall clock, and by them each capture overlaps another. A clock that is wrong by
/// seconds, which must not survive, sets captures apart.
fn walls_fit(exports: &[Arc<ExportSummary>]) -> bool {
    let spans: Option<Vec<Span>> = exports.iter().map(|e| Some(e.span?.shifted(e.epoch_ns?))).collect();
    let Some(mut spans) = spans else { return false };
    spans.sort_unstable();
    let mut end_ns = spans.first().map_or(0, |span| span.end_ns);
    for span in spans {
        if span.start_ns > end_ns {
            return false;
        }
        end_ns = end_ns.max(span.end_ns);
    }
    true
}

impl SourceClock {
    const fn of(map: ClockMap, basis: Basis) -> Self {
        Self { map, basis, found_uncertainty_ns: None, matched: 0, shift_ns: 0 }
    }

    /// How far off the export may stand; `None` when it is not known, as after a shift by hand.
    pub const fn uncertainty_ns(&self) -> Option<i64> {
        if self.shift_ns == 0 { self.found_uncertainty_ns } else { None }
    }
}

/// By the starts of the steps that both captured: of the numbered ones with one number, else of the first ones.
fn by_steps(reference: &ExportSummary, export: &ExportSummary) -> Option<SourceClock> {
    let marked = |export: &ExportSummary| export.ranks.iter().position(RankSummary::has_marked_steps);
    let (a, b) = (reference.ranks.get(marked(reference)?)?, export.ranks.get(marked(export)?)?);
    let start_ns: FxHashMap<i64, i64> =
        a.steps.iter().filter_map(|step| Some((step.number?, step.window.start_ns))).collect();
    let both =
        b.steps.iter().filter_map(|step| Some(start_ns.get(&step.number?)?.saturating_sub(step.window.start_ns)));
    let offsets_ns: Vec<i64> = both.collect();
    if let Some((offset_ns, spread_ns)) = median_and_spread(&offsets_ns) {
        return Some(SourceClock {
            found_uncertainty_ns: Some(spread_ns),
            matched: offsets_ns.len() as u64,
            ..SourceClock::of(ClockMap::shift(offset_ns), Basis::StepStart)
        });
    }
    // Other numbers, as after a restart: from the first full step of each.
    let first = |rank: &RankSummary| rank.steps.iter().find(|step| step.typical).map(|step| step.window.start_ns);
    let offset_ns = first(a)?.saturating_sub(first(b)?);
    Some(SourceClock { matched: 1, ..SourceClock::of(ClockMap::shift(offset_ns), Basis::StepStart) })
}
