//! The open documents on one time axis.

use crate::analysis::Analysis;
use crate::trace::{Rank, Trace};
use crate::units::Span;
use std::sync::Arc;

/// A rank of an open document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// The open documents.
///
/// Axis time is shared by all documents and starts at 0 with the earliest event of any, so that it stays small enough
/// for `f64` to hold every nanosecond.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Documents in the order they were opened.
    pub docs: Vec<Doc>,
}

impl Workspace {
    /// Puts the documents on one axis: by the wall clock of their session starts when every file tells it, else each
    /// from its own first event.
    pub fn new(docs: impl IntoIterator<Item = (Arc<Trace>, Arc<Analysis>)>) -> Self {
        let mut docs: Vec<Doc> =
            docs.into_iter().map(|(trace, analysis)| Doc { trace, analysis, offset_ns: 0 }).collect();
        let wall = docs.iter().map(|d| d.trace.source.utc_epoch_ns).collect::<Option<Vec<i64>>>();
        for (at, doc) in docs.iter_mut().enumerate() {
            let first = doc.trace.span.map_or(0, |s| s.start_ns);
            doc.offset_ns = wall.as_ref().and_then(|w| w.get(at).copied()).unwrap_or_else(|| first.saturating_neg());
        }
        let mut workspace = Self { docs };
        if let Some(span) = workspace.span() {
            for doc in &mut workspace.docs {
                doc.offset_ns = doc.offset_ns.saturating_sub(span.start_ns);
            }
        }
        workspace
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
