//! The open documents on one time axis.

use crate::analysis::{Analysis, Mfu};
use crate::experiment::Experiment;
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
    /// Added to the file's own time to get axis time.
    pub offset_ns: i64,
}

/// What puts several documents on one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Clock {
    /// One document: its own clock.
    #[default]
    Own,
    /// The wall clocks of the session starts.
    Wall,
    /// Each from its own first event, since not every file tells its wall clock.
    StartsUnknown,
    /// Each from its own first event, since by their wall clocks they were not recorded at the same time.
    StartsApart,
}

/// The open documents.
///
/// Axis time is shared by all documents and starts at 0 with the earliest event of any, so that it stays small enough
/// for `f64` to hold every nanosecond.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Documents in the order they were opened.
    pub docs: Vec<Doc>,
    /// What puts them on one axis.
    pub clock: Clock,
    /// What the user says of the run: of the first document that came with settings, until [`Workspace::describe`].
    pub experiment: Option<Experiment>,
    /// What the settings file says of the run, without what was changed since.
    pub in_file: Option<Experiment>,
    /// Utilisation of the job.
    pub mfu: Mfu,
}

impl Workspace {
    /// Puts the documents on one axis: by the wall clock of their session starts when every file tells it and their
    /// captures overlap, else each from its own first event.
    pub fn new(docs: impl IntoIterator<Item = (Arc<Trace>, Arc<Analysis>)>) -> Self {
        let mut docs: Vec<Doc> =
            docs.into_iter().map(|(trace, analysis)| Doc { trace, analysis, offset_ns: 0 }).collect();
        let clock = clock_of(&docs);
        for doc in &mut docs {
            let own_start_ns = doc.trace.span.map_or(0, |s| s.start_ns).saturating_neg();
            let wall_ns = doc.trace.source.utc_epoch_ns.filter(|_| clock == Clock::Wall);
            doc.offset_ns = wall_ns.unwrap_or(own_start_ns);
        }
        let mut workspace = Self { docs, clock, ..Self::default() };
        if let Some(span) = workspace.span() {
            for doc in &mut workspace.docs {
                doc.offset_ns = doc.offset_ns.saturating_sub(span.start_ns);
            }
        }
        let experiment = Mfu::experiment_of(&workspace.captures()).cloned();
        workspace.in_file.clone_from(&experiment);
        workspace.describe(experiment);
        workspace
    }

    /// True when what is said of the run is not what the settings file says.
    pub fn is_edited(&self) -> bool {
        self.in_file.clone().unwrap_or_default() != self.experiment.clone().unwrap_or_default()
    }

    /// Says what was trained; everything that follows from it is computed anew.
    pub fn describe(&mut self, experiment: Option<Experiment>) {
        self.mfu = Mfu::of(&self.captures(), experiment.as_ref());
        self.experiment = experiment;
    }

    /// Traces and numbers of all documents.
    fn captures(&self) -> Vec<(&Trace, &Analysis)> {
        self.docs.iter().map(|doc| (doc.trace.as_ref(), doc.analysis.as_ref())).collect()
    }

    /// From the first to the last event of any document, in axis time.
    pub fn span(&self) -> Option<Span> {
        self.docs.iter().filter_map(|d| d.trace.span.map(|s| s.shifted(d.offset_ns))).reduce(Span::hull)
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

fn clock_of(docs: &[Doc]) -> Clock {
    if docs.len() < 2 {
        return Clock::Own;
    }
    let epochs: Option<Vec<i64>> = docs.iter().map(|doc| doc.trace.source.utc_epoch_ns).collect();
    let Some(epochs) = epochs else { return Clock::StartsUnknown };
    let spans = docs.iter().zip(epochs).filter_map(|(doc, epoch_ns)| Some(doc.trace.span?.shifted(epoch_ns)));
    let mut spans: Vec<Span> = spans.collect();
    spans.sort_by_key(|span| span.start_ns);
    let mut end_ns = spans.first().map_or(0, |span| span.end_ns);
    for span in spans {
        // Clocks that are seconds apart, or runs recorded one after the other: the axis would be mostly empty.
        if span.start_ns > end_ns {
            return Clock::StartsApart;
        }
        end_ns = end_ns.max(span.end_ns);
    }
    Clock::Wall
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;

    /// A capture of one kernel from 100 to 200 ns whose time 0 is at `epoch_ns`.
    fn document(epoch_ns: Option<i64>) -> (Arc<Trace>, Arc<Analysis>) {
        let mut trace = Fixture::new().kernel("k", 7, 100, 200).build();
        trace.source.utc_epoch_ns = epoch_ns;
        let analysis = analyze(&trace, &Params::default());
        (Arc::new(trace), Arc::new(analysis))
    }

    fn placed(epochs: &[Option<i64>]) -> (Clock, Vec<i64>) {
        let workspace = Workspace::new(epochs.iter().map(|epoch| document(*epoch)));
        let starts = workspace.docs.iter().filter_map(|doc| Some(doc.trace.span?.shifted(doc.offset_ns).start_ns));
        (workspace.clock, starts.collect())
    }

    #[test]
    fn captures_that_overlap_are_placed_by_the_wall_clock() {
        assert_eq!(placed(&[Some(1_000_030), Some(1_000_000)]), (Clock::Wall, vec![30, 0]));
        // The third touches the second only.
        assert_eq!(placed(&[Some(0), Some(80), Some(160)]), (Clock::Wall, vec![0, 80, 160]));
    }

    #[test]
    fn captures_recorded_at_other_times_each_start_at_zero() {
        assert_eq!(placed(&[Some(0), Some(7_300_000_000)]), (Clock::StartsApart, vec![0, 0]));
    }

    #[test]
    fn without_every_wall_clock_each_starts_at_zero() {
        assert_eq!(placed(&[Some(5), None]), (Clock::StartsUnknown, vec![0, 0]));
        assert_eq!(placed(&[Some(5)]), (Clock::Own, vec![0]));
    }
}
