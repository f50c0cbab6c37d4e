//! Where each rank stands in the parallel layout, and where that is known from.
//!
//! For each axis the first of these that tells it counts: what the user typed; the label, as in
//! `[TP00-DP01-PP00-EP00]`; the name of a file that holds one rank, as in `tp0_pp1`; NVTX names such as
//! `pipeline stage 1 of 4` or `pp_rank 3`; and the rank's number with the sizes of the settings, in the order that
//! Megatron-LM numbers ranks by default (tp fastest, then cp, ep inside dp, dp, and pp slowest: `parallel_state.py`,
//! order `tp-cp-ep-dp-pp`).

use super::ExportSummary;
use crate::analysis::distinct_range_names;
use crate::experiment::{Experiment, Parallel};
use crate::trace::Trace;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// A word and a number: `TP00`, `pp_rank 3`.
const WORD_NUMBER: &str = r"(?i)([a-z]+)[\s_=:.-]{0,2}(?:(?:rank|stage)[\s_=:.-]{0,2})?(\d{1,6})";
/// `pp_rank 3`, `tp rank: 0`. A bare `pp3` in a range's name may be about any rank.
const RANK_NAME: &str = r"(?i)\b(?:([dtpce]p)[\s_-]?(?:rank|stage)[\s_=:-]{0,2}(\d{1,6}))\b";
/// `pipeline stage 1 of 4`, `stage 1/4`, `pipeline-stage 2`.
const STAGE_NAME: &str = r"(?i)(?:\bpipeline[\s_.:-]?stage\s*(\d{1,6})|\bstage\s*(\d{1,6})\s*(?:of|/)\s*\d)";

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(WORD_NUMBER).ok());
static RANK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(RANK_NAME).ok());
static STAGE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(STAGE_NAME).ok());

/// An axis of the parallel layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Data parallel.
    Dp,
    /// Tensor parallel.
    Tp,
    /// Pipeline stage.
    Pp,
    /// Context parallel.
    Cp,
    /// Expert parallel.
    Ep,
}

impl Axis {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Dp, Self::Tp, Self::Pp, Self::Cp, Self::Ep];

    /// Key, as in settings and labels.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Dp => "dp",
            Self::Tp => "tp",
            Self::Pp => "pp",
            Self::Cp => "cp",
            Self::Ep => "ep",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axis| word.eq_ignore_ascii_case(axis.key()))
    }
}

/// A rank's numbers along the axes, from 0; `None` where unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place<T = u32> {
    /// Data parallel.
    pub dp: Option<T>,
    /// Tensor parallel.
    pub tp: Option<T>,
    /// Pipeline stage.
    pub pp: Option<T>,
    /// Context parallel.
    pub cp: Option<T>,
    /// Expert parallel.
    pub ep: Option<T>,
}

impl<T> Default for Place<T> {
    fn default() -> Self {
        Self { dp: None, tp: None, pp: None, cp: None, ep: None }
    }
}

impl<T: Copy> Place<T> {
    /// The number along `axis`.
    pub const fn get(&self, axis: Axis) -> Option<T> {
        match axis {
            Axis::Dp => self.dp,
            Axis::Tp => self.tp,
            Axis::Pp => self.pp,
            Axis::Cp => self.cp,
            Axis::Ep => self.ep,
        }
    }

    fn slot(&mut self, axis: Axis) -> &mut Option<T> {
        match axis {
            Axis::Dp => &mut self.dp,
            Axis::Tp => &mut self.tp,
            Axis::Pp => &mut self.pp,
            Axis::Cp => &mut self.cp,
            Axis::Ep => &mut self.ep,
        }
    }
}

/// What tells a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceSource {
    /// The user typed it.
    Typed,
    /// The label of the rank.
    Label,
    /// The name of its file.
    File,
    /// NVTX names of its process.
    Ranges,
    /// Its number and the sizes of the settings, in Megatron-LM's order.
    Layout,
}

/// A number along an axis and what tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The number, from 0.
    pub at: u32,
    /// What tells it.
    pub from: PlaceSource,
}

/// Sizes of the layout.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// Sizes of the groups.
    pub sizes: Parallel,
    /// GPUs of the job, when the user says so.
    pub gpus: Option<u64>,
}

/// What the user says of the places of ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceOptions {
    /// By the rank's label in the job ([`super::JobRank::label`]).
    pub typed: BTreeMap<String, Place>,
    /// In place of the layout of the exports' settings.
    pub layout: Option<Layout>,
}

impl PlaceOptions {
    /// What the settings say: the places of single ranks, and the sizes of the layout when they give any.
    pub fn of(experiment: &Experiment) -> Self {
        let place = |rank: &crate::experiment::RankPlace| {
            let place = Place { dp: rank.dp, tp: rank.tp, pp: rank.pp, cp: rank.cp, ep: rank.ep };
            (rank.label.clone(), place)
        };
        let layout = Layout { sizes: experiment.parallel.clone(), gpus: experiment.run.gpus };
        let layout = Some(layout).filter(|layout| *layout != Layout::default());
        Self { typed: experiment.ranks.iter().map(place).collect(), layout }
    }

    /// Adds what other settings say of ranks and, when none is known yet, of the layout.
    pub fn append(&mut self, other: Self) {
        for (label, place) in other.typed {
            self.typed.entry(label).or_insert(place);
        }
        self.layout = self.layout.take().or(other.layout);
    }
}

impl Layout {
    /// Data-parallel size: as given, else what remains of the GPUs, which are the `open` ranks when not given.
    fn dp(&self, open: u64) -> Option<u64> {
        let (copy, gpus) = (self.sizes.copy_gpus(), self.gpus.unwrap_or(open));
        self.sizes.dp.or_else(|| (copy > 0 && gpus.is_multiple_of(copy)).then(|| gpus / copy)).filter(|dp| *dp > 0)
    }

    /// The place of rank `number` when `open` ranks are open; empty when no size is given or the number fits nowhere.
    fn place(&self, number: u64, open: u64) -> Place {
        let sizes = &self.sizes;
        let given = [sizes.dp, sizes.tp, sizes.pp, sizes.cp, sizes.ep].iter().any(Option::is_some);
        let Some(dp) = self.dp(open).filter(|_| given) else { return Place::default() };
        let size = |of: Option<u64>| of.unwrap_or(1).max(1);
        let (tp, cp, pp, ep) = (size(sizes.tp), size(sizes.cp), size(sizes.pp), size(sizes.ep));
        let of_dp = number / tp / cp;
        let at = |value: u64| u32::try_from(value).ok();
        if of_dp / dp >= pp {
            return Place::default();
        }
        Place {
            dp: at(of_dp % dp),
            tp: at(number % tp),
            pp: at(of_dp / dp),
            cp: at(number / tp % cp),
            ep: at(of_dp % dp % ep),
        }
    }
}

/// What words with numbers in `text` tell, such as `[TP00-DP01-PP00]` or `rank3_pp1`.
fn told_by(text: &str) -> Place {
    let mut place = Place::default();
    for found in WORD.as_ref().into_iter().flat_map(|words| words.captures_iter(text)) {
        let axis = found.get(1).and_then(|word| Axis::of(word.as_str()));
        let number = found.get(2).and_then(|number| number.as_str().parse().ok());
        if let (Some(axis), Some(number)) = (axis, number) {
            *place.slot(axis) = Some(number);
        }
    }
    place
}

/// What the NVTX names of a process tell; an axis that they give several numbers for is unknown.
pub(super) fn named(trace: &Trace, process: usize) -> Place {
    let (Some(rank), Some(stage)) = (RANK.as_ref(), STAGE.as_ref()) else { return Place::default() };
    let mut told: BTreeMap<Axis, Option<u32>> = BTreeMap::new();
    for name in distinct_range_names(trace, process) {
        let name = trace.name(name);
        let by_rank = rank.captures(name).and_then(|f| Some((Axis::of(f.get(1)?.as_str())?, f.get(2)?)));
        let by_stage = || stage.captures(name).and_then(|f| Some((Axis::Pp, f.get(1).or_else(|| f.get(2))?)));
        let Some((axis, number)) = by_rank.or_else(by_stage) else { continue };
        let number = number.as_str().parse().ok();
        told.entry(axis).and_modify(|known| *known = known.filter(|known| Some(*known) == number)).or_insert(number);
    }
    let mut place = Place::default();
    told.into_iter().for_each(|(axis, number)| *place.slot(axis) = number);
    place
}

/// The places of all ranks, export after export; `labels` are their labels in the job.
pub(super) fn places(exports: &[Arc<ExportSummary>], labels: &[&str], options: &PlaceOptions) -> Vec<Place<Known>> {
    let open = labels.len() as u64;
    let all = || exports.iter().flat_map(|export| export.ranks.iter().map(move |rank| (export, rank)));
    let mut by_label: Vec<Place> = all().map(|(_, rank)| told_by(&rank.label)).collect();
    let file =
        |export: &ExportSummary| if export.ranks.len() == 1 { told_by(&export.stem()) } else { Place::default() };
    let mut by_file: Vec<Place> = all().map(|(export, _)| file(export)).collect();
    let mut by_ranges: Vec<Place> = all().map(|(_, rank)| rank.named_place).collect();
    drop_equal(&mut by_label);
    drop_equal(&mut by_file);
    count_from_zero(exports, &mut by_ranges);
    let of = |(at, (export, rank)): (usize, (&Arc<ExportSummary>, &super::RankSummary))| {
        let typed = labels.get(at).and_then(|label| options.typed.get(*label)).copied().unwrap_or_default();
        let layout = options.layout.as_ref().unwrap_or(&export.layout);
        let number = rank.label.parse::<u64>().ok();
        let by_layout = number.map_or_else(Place::default, |number| layout.place(number, open));
        let list = |places: &[Place]| places.get(at).copied().unwrap_or_default();
        let sources = [
            (typed, PlaceSource::Typed),
            (list(&by_label), PlaceSource::Label),
            (list(&by_file), PlaceSource::File),
            (list(&by_ranges), PlaceSource::Ranges),
            (by_layout, PlaceSource::Layout),
        ];
        let mut place = Place::default();
        for axis in Axis::ALL {
            let known = |(place, from): &(Place, PlaceSource)| Some(Known { at: place.get(axis)?, from: *from });
            *place.slot(axis) = sources.iter().find_map(known);
        }
        place
    };
    all().enumerate().map(of).collect()
}

/// What all of several names say alike are the sizes of the layout (`llama_tp4_pp2_rank3`), not places.
fn drop_equal(places: &mut [Place]) {
    let first = places.first().copied();
    if places.len() > 1 && places.iter().all(|place| Some(*place) == first) {
        places.fill(Place::default());
    }
}

/// Names that count stages from 1 are known by a stage with the number of stages.
fn count_from_zero(exports: &[Arc<ExportSummary>], places: &mut [Place]) {
    let ranks = exports.iter().flat_map(|export| &export.ranks);
    let stages = |rank: &super::RankSummary| rank.pipeline.as_ref()?.pipeline.stages;
    let last = |(rank, place): (&super::RankSummary, &Place)| place.pp.is_some() && place.pp == stages(rank);
    if ranks.zip(places.iter()).any(last) {
        places.iter_mut().for_each(|place| place.pp = place.pp.map(|pp| pp.saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::RankSummary;
    use super::*;
    use crate::trace::testing::Fixture;

    fn place(dp: Option<u32>, tp: Option<u32>, pp: Option<u32>, ep: Option<u32>) -> Place {
        Place { dp, tp, pp, cp: None, ep }
    }

    #[test]
    fn labels_and_names_of_files_tell_places() {
        assert_eq!(told_by("[TP00-DP01-PP00-EP00]"), place(Some(1), Some(0), Some(0), Some(0)));
        assert_eq!(told_by("tp0_pp1"), place(None, Some(0), Some(1), None));
        assert_eq!(told_by("rank3_pp1"), place(None, None, Some(1), None));
        assert_eq!(told_by("pp_rank_2.dp-rank=7"), place(Some(7), None, Some(2), None));
        for text in ["app3", "3", "step1", "cpp11", "rank 3", ""] {
            assert_eq!(told_by(text), Place::default(), "{text}");
        }
    }

    #[test]
    fn ranges_tell_places_unless_they_disagree() {
        let mut fixture = Fixture::new();
        fixture.range("pipeline stage 1 of 4", 1, 0, 9).range("tp_rank 3", 1, 1, 2).range("stage 2", 1, 2, 3);
        fixture.range("dp rank 0", 1, 3, 4).range("dp rank 1", 1, 4, 5);
        assert_eq!(named(&fixture.build(), 0), place(None, Some(3), Some(1), None));
    }

    #[test]
    fn numbers_follow_megatron_order() {
        let sizes = Parallel { tp: Some(2), pp: Some(2), ep: Some(2), ..Parallel::default() };
        let layout = Layout { sizes, gpus: Some(16) };
        let of = |number| layout.place(number, 3);
        // Pipeline groups of 16 GPUs with tp 2 and pp 2 are [0, 8], [1, 9]; data-parallel ones [0, 2, 4, 6].
        assert_eq!((of(0).pp, of(7).pp, of(8).pp, of(15).pp), (Some(0), Some(0), Some(1), Some(1)));
        let six = Place { cp: Some(0), ..place(Some(3), Some(0), Some(0), Some(1)) };
        assert_eq!((of(6), of(16)), (six, Place::default()));
        assert_eq!(Layout::default().place(0, 4), Place::default());
    }

    #[test]
    fn the_first_settings_that_speak_of_a_rank_count() {
        let mut experiment = Experiment::default();
        let rank =
            |label: &str, pp| crate::experiment::RankPlace { label: label.into(), pp: Some(pp), ..Default::default() };
        experiment.parallel.pp = Some(4);
        experiment.ranks = vec![rank("a", 3)];
        let mut options = PlaceOptions::of(&experiment);
        experiment.ranks = vec![rank("a", 0), rank("b", 1)];
        experiment.parallel.pp = Some(8);
        options.append(PlaceOptions::of(&experiment));
        assert_eq!((options.typed["a"].pp, options.typed["b"].pp), (Some(3), Some(1)));
        assert_eq!(options.layout.unwrap().sizes.pp, Some(4));
    }

    fn export(file: &str, label: &str) -> Arc<ExportSummary> {
        let rank = RankSummary { label: label.to_owned(), ..RankSummary::default() };
        Arc::new(ExportSummary { file: file.into(), ranks: vec![rank], ..ExportSummary::default() })
    }

    #[test]
    fn what_the_user_types_comes_first_and_sizes_in_names_are_no_places() {
        let exports = [export("run_tp4_pp2_rank0.sqlite", "0"), export("run_tp4_pp2_rank5.sqlite", "5")];
        let mut options = PlaceOptions::default();
        assert_eq!(places(&exports, &["0", "5"], &options), vec![Place::default(); 2]);
        let sizes = Parallel { tp: Some(4), pp: Some(2), ..Parallel::default() };
        options.layout = Some(Layout { sizes, gpus: Some(8) });
        options.typed.insert("5".to_owned(), place(None, Some(3), None, None));
        let found = places(&exports, &["0", "5"], &options);
        assert_eq!(found[1].pp, Some(Known { at: 1, from: PlaceSource::Layout }));
        assert_eq!(found[1].tp, Some(Known { at: 3, from: PlaceSource::Typed }));
        let exports = [export("a_pp0.sqlite", "0"), export("a_pp1.sqlite", "5")];
        assert_eq!(places(&exports, &["0", "5"], &options)[0].pp, Some(Known { at: 0, from: PlaceSource::File }));
    }
}
