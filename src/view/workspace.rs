//! The open documents on one time axis.

use crate::analysis::{Analysis, Mfu};
use crate::experiment::Experiment;
use crate::job::{ClockMap, ExportSummary, ExposedSplit, Job, JobOptions, PlaceOptions, RankRef, exposed_splits};
use crate::trace::{Rank, Trace};
use crate::units::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A rank of an open document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RankId {
    /// Index into [`Workspace::docs`].
    pub doc: usize,
    /// Index into [`Trace::ranks`].
    pub rank: usize,
}

/// One open file: what it recorded and what that means.
#[derive(Debug, Clone)]
pub struct Doc {
    /// The model.
    pub trace: Arc<Trace>,
    /// The numbers.
    pub analysis: Arc<Analysis>,
    /// What other files need of it.
    pub summary: Arc<ExportSummary>,
    /// From the file's own time to axis time.
    pub map: ClockMap,
}

impl Doc {
    /// A file that was read, with what other files need of it, which takes a pass over its operations.
    pub fn new(trace: Arc<Trace>, analysis: Arc<Analysis>) -> Self {
        let summary = Arc::new(ExportSummary::of(&trace, &analysis));
        Self { trace, analysis, summary, map: ClockMap::default() }
    }

    /// Gives its ranks the labels that `given` tells, and the others those of the file; true when that changes any.
    pub fn relabel(&mut self, given: impl Fn(&Self, usize) -> Option<String>) -> bool {
        let own = self.trace.ranks.iter().enumerate();
        let labels: Vec<String> = own.map(|(at, rank)| given(self, at).unwrap_or_else(|| rank.label.clone())).collect();
        if labels.iter().eq(self.summary.ranks.iter().map(|rank| &rank.label)) {
            return false;
        }
        for (rank, label) in Arc::make_mut(&mut self.summary).ranks.iter_mut().zip(labels) {
            rank.label = label;
        }
        true
    }

    /// Axis time of the file's own time.
    pub fn axis_ns(&self, own_ns: i64) -> i64 {
        self.map.to_job(own_ns)
    }

    /// The file's own time of axis time.
    pub fn own_ns(&self, axis_ns: i64) -> i64 {
        self.map.to_export(axis_ns)
    }

    /// A span of the file's own time in axis time.
    pub fn axis_span(&self, own: Span) -> Span {
        self.map.span_to_job(own)
    }

    /// A span of axis time in the file's own time.
    pub fn own_span(&self, axis: Span) -> Span {
        self.map.span_to_export(axis)
    }
}

/// The open documents.
///
/// Axis time is shared by all documents and starts at 0 with the earliest event of any, so that it stays small enough
/// for `f64` to hold every nanosecond.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Documents in the order they were opened.
    pub docs: Vec<Doc>,
    /// Their ranks as one job; its exports are the documents, then those of which only a summary is open.
    pub job: Arc<Job>,
    /// Exposed communication by what it was, by rank of the job; of open ranks only.
    pub exposed: Vec<Option<ExposedSplit>>,
    /// What the user decided about the job.
    pub options: JobOptions,
    /// Added to job time to get axis time.
    pub origin_ns: i64,
    /// What the user says of the run: of the first document that came with settings, until [`Workspace::describe`].
    pub experiment: Option<Experiment>,
    /// What the settings file says of the run, without what was changed since.
    pub in_file: Option<Experiment>,
    /// Utilisation of the job.
    pub mfu: Mfu,
}

impl Workspace {
    /// Puts the documents on one axis, by the clock that [`Job`] finds.
    pub fn new(docs: impl IntoIterator<Item = (Arc<Trace>, Arc<Analysis>)>) -> Self {
        let docs = docs.into_iter().map(|(trace, analysis)| Doc::new(trace, analysis));
        Self::of(docs.collect(), Vec::new(), JobOptions::default())
    }

    /// Puts documents and summaries together, in time that grows as [`Job::work`] tells.
    pub fn of(docs: Vec<Doc>, summaries: Vec<Arc<ExportSummary>>, mut options: JobOptions) -> Self {
        let captures: Vec<(&Trace, &Analysis)> =
            docs.iter().map(|doc| (doc.trace.as_ref(), doc.analysis.as_ref())).collect();
        let experiment = Mfu::experiment_of(&captures).cloned();
        options.places = experiment.as_ref().map_or_else(PlaceOptions::default, PlaceOptions::of);
        // What is open tells more than its summary.
        let is_open = |summary: &Arc<ExportSummary>| docs.iter().any(|doc| doc.summary.is_of_same_run(summary));
        let closed: Vec<Arc<ExportSummary>> = summaries.into_iter().filter(|summary| !is_open(summary)).collect();
        let exports = docs.iter().map(|doc| Arc::clone(&doc.summary)).chain(closed).collect();
        let job = Arc::new(Job::of(exports, &options));
        let mut workspace = Self { docs, job, options, ..Self::default() };
        workspace.place();
        workspace.in_file.clone_from(&experiment);
        workspace.describe(experiment);
        workspace
    }

    /// Gives ranks of the documents the labels that `given` tells, and the others those of their files.
    pub fn relabel(&mut self, given: impl Fn(&Doc, usize) -> Option<String>) {
        let mut changed = false;
        for doc in &mut self.docs {
            changed |= doc.relabel(&given);
        }
        if changed {
            let closed = self.job.exports.iter().skip(self.docs.len());
            let exports = self.docs.iter().map(|doc| &doc.summary).chain(closed).cloned().collect();
            self.job = Arc::new(Job::of(exports, &self.options));
            self.place();
        }
    }

    /// What a rank is called: its label, with the file's name where several files have ranks of one label.
    pub fn label(&self, id: RankId) -> &str {
        let of_job = self.job_rank(id).and_then(|at| self.job.ranks.get(at)).map(|rank| rank.label.as_str());
        of_job.or_else(|| Some(self.rank(id)?.1.label.as_str())).unwrap_or_default()
    }

    /// Puts the documents on another clock.
    pub fn set_clock(&mut self, options: JobOptions) {
        self.job = Arc::new(self.job.on_clock(&options));
        self.options = options;
        self.place();
    }

    /// Moves the documents as `options` say, which differ by shifts alone. Cheap enough for every frame of a drag: who
    /// waited is left to [`Workspace::settle`].
    pub fn shift(&mut self, options: JobOptions) {
        self.job = Arc::new(self.job.moved(&options.shift_ns));
        self.options = options;
        self.place_docs();
    }

    /// Computes what follows from the clock, when documents were moved.
    pub fn settle(&mut self) {
        if self.job.moving {
            self.job = Arc::new(Job::clone(&self.job).settled());
            self.place();
        }
    }

    /// Places the documents as the job's clock says, which also tells who waited.
    fn place(&mut self) {
        let analyses: Vec<&Analysis> = self.docs.iter().map(|doc| doc.analysis.as_ref()).collect();
        self.exposed = exposed_splits(&self.job, &analyses);
        self.place_docs();
    }

    fn place_docs(&mut self) {
        let start = |(at, doc): (usize, &Doc)| Some(self.job.clock.map(at).to_job(doc.trace.span?.start_ns));
        self.origin_ns = self.docs.iter().enumerate().filter_map(start).min().map_or(0, i64::saturating_neg);
        for (at, doc) in self.docs.iter_mut().enumerate() {
            let map = self.job.clock.map(at);
            doc.map = ClockMap { offset_ns: map.offset_ns.saturating_add(self.origin_ns), ..map };
        }
    }

    /// The rank of the job that `id` is, as an index into [`Job::ranks`].
    pub fn job_rank(&self, id: RankId) -> Option<usize> {
        self.job.rank_at(RankRef { export: id.doc, rank: id.rank })
    }

    /// The open rank that is rank `rank` of the job; `None` when only its summary is open.
    pub fn open_rank(&self, rank: usize) -> Option<RankId> {
        let at = self.job.ranks.get(rank)?.at;
        (at.export < self.docs.len()).then_some(RankId { doc: at.export, rank: at.rank })
    }

    /// A span of job time in axis time.
    pub const fn axis_of_job(&self, span: Span) -> Span {
        span.shifted(self.origin_ns)
    }

    /// True when what is said of the run is not what the settings file says.
    pub fn is_edited(&self) -> bool {
        self.in_file.clone().unwrap_or_default() != self.experiment.clone().unwrap_or_default()
    }

    /// Says what was trained; everything that follows from it is computed anew.
    pub fn describe(&mut self, experiment: Option<Experiment>) {
        let places = experiment.as_ref().map_or_else(PlaceOptions::default, PlaceOptions::of);
        if places != self.options.places {
            self.job = Arc::new(self.job.placed(&places));
            self.options.places = places;
        }
        self.mfu = Mfu::of(&self.captures(), experiment.as_ref());
        self.experiment = experiment;
    }

    /// Traces and numbers of all documents.
    fn captures(&self) -> Vec<(&Trace, &Analysis)> {
        self.docs.iter().map(|doc| (doc.trace.as_ref(), doc.analysis.as_ref())).collect()
    }

    /// From the first to the last event of any document, in axis time.
    pub fn span(&self) -> Option<Span> {
        self.docs.iter().filter_map(|d| Some(d.axis_span(d.trace.span?))).reduce(Span::hull)
    }

    /// All ranks, document after document.
    pub fn ranks(&self) -> impl Iterator<Item = (RankId, &Doc, &Rank)> {
        self.docs
            .iter()
            .enumerate()
            .flat_map(|(doc, d)| d.trace.ranks.iter().enumerate().map(move |(rank, r)| (RankId { doc, rank }, d, r)))
    }

    /// The document and rank behind `id`.
    pub fn rank(&self, id: RankId) -> Option<(&Doc, &Rank)> {
        let doc = self.docs.get(id.doc)?;
        Some((doc, doc.trace.ranks.get(id.rank)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::job::Basis;
    use crate::trace::testing::Fixture;

    /// A capture of one kernel from 100 to 200 ns whose time 0 is at `epoch_ns`.
    fn document(epoch_ns: Option<i64>) -> (Arc<Trace>, Arc<Analysis>) {
        let mut trace = Fixture::new().kernel("k", 7, 100, 200).build();
        trace.source.utc_epoch_ns = epoch_ns;
        let analysis = analyze(&trace, &Params::default());
        (Arc::new(trace), Arc::new(analysis))
    }

    fn placed(epochs: &[Option<i64>]) -> (Vec<Basis>, Vec<i64>) {
        let workspace = Workspace::new(epochs.iter().map(|epoch| document(*epoch)));
        let starts = workspace.docs.iter().filter_map(|doc| Some(doc.axis_span(doc.trace.span?).start_ns));
        (workspace.job.clock.sources.iter().map(|source| source.basis).collect(), starts.collect())
    }

    #[test]
    fn what_is_said_of_ranks_places_them() {
        let mut workspace = Workspace::new([document(None), document(None)]);
        assert_eq!(workspace.job.ranks[1].place.pp, None);
        let label = workspace.job.ranks[1].label.clone();
        let mut experiment = Experiment::default();
        experiment.ranks = vec![crate::experiment::RankPlace { label, pp: Some(3), ..Default::default() }];
        workspace.describe(Some(experiment));
        let known = crate::job::Known { at: 3, from: crate::job::PlaceSource::Typed };
        assert_eq!((workspace.job.ranks[0].place.pp, workspace.job.ranks[1].place.pp), (None, Some(known)));
        workspace.describe(None);
        assert_eq!(workspace.job.ranks[1].place.pp, None);
    }

    #[test]
    fn captures_that_overlap_are_placed_by_the_wall_clock() {
        assert_eq!(placed(&[Some(1_000_030), Some(1_000_000)]), (vec![Basis::Reference, Basis::Wall], vec![30, 0]));
        // The third touches the second only.
        assert_eq!(
            placed(&[Some(0), Some(80), Some(160)]),
            (vec![Basis::Reference, Basis::Wall, Basis::Wall], vec![0, 80, 160])
        );
    }

    #[test]
    fn captures_recorded_at_other_times_each_start_at_zero() {
        assert_eq!(placed(&[Some(0), Some(7_300_000_000)]), (vec![Basis::Reference, Basis::FirstEvent], vec![0, 0]));
    }

    #[test]
    fn without_every_wall_clock_each_starts_at_zero() {
        assert_eq!(placed(&[Some(5), None]), (vec![Basis::Reference, Basis::FirstEvent], vec![0, 0]));
        assert_eq!(placed(&[Some(5)]), (vec![Basis::Reference], vec![0]));
    }
}
