//! The ranks of a job and what tells them apart.

use super::ExportSummary;
use super::place::{self, Known, Place, PlaceOptions};
use std::sync::Arc;

/// A rank of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RankRef {
    /// Index into [`super::Job::exports`].
    pub export: usize,
    /// Index into [`ExportSummary::ranks`].
    pub rank: usize,
}

/// A rank of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRank {
    /// Which it is.
    pub at: RankRef,
    /// Its label, unlike that of any other rank of the job.
    pub label: String,
    /// Where it stands in the parallel layout, as far as known.
    pub place: Place<Known>,
}

/// The ranks of all exports, which are called `names`. Those that carry one label get the export's name behind it.
pub(super) fn of(exports: &[Arc<ExportSummary>], names: &[String], options: &PlaceOptions) -> Vec<JobRank> {
    let all = exports.iter().zip(names).enumerate().flat_map(|(export, (e, name))| {
        e.ranks.iter().enumerate().map(move |(rank, r)| (RankRef { export, rank }, name, r.label.as_str()))
    });
    let all: Vec<(RankRef, &String, &str)> = all.collect();
    let mut counts: rustc_hash::FxHashMap<&str, u32> = rustc_hash::FxHashMap::default();
    all.iter().for_each(|(.., label)| *counts.entry(label).or_default() += 1);
    let label = |name: &str, label: &str| match counts.get(label) {
        Some(1) => label.to_owned(),
        _ => format!("{label} ({name})"),
    };
    let rank = |(at, name, text): &(RankRef, &String, &str)| JobRank {
        at: *at,
        label: label(name, text),
        place: Place::default(),
    };
    let mut ranks: Vec<JobRank> = all.iter().map(rank).collect();
    number_equals(&mut ranks);
    let labels: Vec<&str> = ranks.iter().map(|rank| rank.label.as_str()).collect();
    let places = place::places(exports, &labels, options);
    ranks.iter_mut().zip(places).for_each(|(rank, place)| rank.place = place);
    ranks
}

/// Labels that are still equal (files of one path, ranks of one file) are numbered.
fn number_equals(ranks: &mut [JobRank]) {
    let mut seen: rustc_hash::FxHashMap<String, u32> = rustc_hash::FxHashMap::default();
    for rank in ranks {
        let count = seen.entry(rank.label.clone()).or_default();
        *count += 1;
        if *count > 1 {
            rank.label = format!("{} #{count}", rank.label);
        }
    }
}
