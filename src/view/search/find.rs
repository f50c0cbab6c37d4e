//! From a query to its hits: one pass over every table.

use super::hits::{Group, Hits};
use super::matcher::{Matcher, QueryError};
use super::names::Matching;
use super::{Place, Query, Request};
use crate::view::{Doc, OpLane, RankId};

/// Rows between two looks at whether the search was cancelled.
const CHECK_EVERY: usize = 1 << 16;

impl Hits {
    /// Everything in `docs` that matches `query`; `None` when `cancelled` said so or the query is empty.
    ///
    /// Cost: a test per distinct name, a look-up per row, and 4 bytes per hit.
    ///
    /// # Errors
    /// When the query is not a regular expression and should be.
    pub fn find(query: &Query, docs: Vec<Doc>, cancelled: &dyn Fn() -> bool) -> Result<Option<Self>, QueryError> {
        let Some(matcher) = Matcher::of(query)? else { return Ok(None) };
        let mut groups = Vec::new();
        for (at, doc) in docs.iter().enumerate() {
            let found = Matching::of(&doc.trace, &matcher, cancelled);
            let found = found.and_then(|matching| Pass { at, doc, matching, cancelled }.groups(&matcher));
            let Some(found) = found else { return Ok(None) };
            groups.extend(found);
        }
        let request = Request { query: query.clone(), within: None };
        Ok(Some(Self::new(request, docs, groups)))
    }
}

/// The pass over one document.
struct Pass<'a> {
    at: usize,
    doc: &'a Doc,
    matching: Matching,
    cancelled: &'a dyn Fn() -> bool,
}

impl Pass<'_> {
    fn groups(&self, matcher: &Matcher) -> Option<Vec<Group>> {
        let trace = &self.doc.trace;
        let mut groups = Vec::new();
        let mut add = |place: Place, rows: Vec<u32>| groups.extend(Group::of(place, self.doc, rows));
        let named = |at: usize| trace.threads.get(at).and_then(|t| t.name).is_some_and(|name| self.matching.name(name));
        // A thread that did nothing has no lane to go to.
        let lane = |at: &u32| Place::Threads(self.at).item(trace, *at).is_some();
        add(Place::Threads(self.at), self.rows(0, trace.threads.len(), named)?.into_iter().filter(lane).collect());
        for (rank, own) in trace.ranks.iter().enumerate() {
            let id = RankId { doc: self.at, rank };
            let steps = self.doc.analysis.ranks.get(rank).and_then(|numbers| numbers.steps.as_ref());
            let steps = steps.map_or(&[][..], |steps| &steps.steps);
            let is_hit = |at: usize| steps.get(at).is_some_and(|step| matcher.matches(&step.name));
            add(Place::Steps(id), self.rows(0, steps.len(), is_hit)?);
            let is_hit = |at: usize| own.ops.name.get(at).is_some_and(|name| self.matching.op(*name));
            let mut by_lane: [Vec<u32>; OpLane::ALL.len()] = Default::default();
            for row in self.rows(0, own.ops.len(), is_hit)? {
                let named = own.ops.name.get(row as usize).zip(own.ops.kind.get(row as usize));
                let lane = named.map(|(name, kind)| OpLane::of(self.doc.analysis.classes.class(*name, *kind)));
                if let Some(rows) = lane.and_then(|lane| by_lane.get_mut(lane as usize)) {
                    rows.push(row);
                }
            }
            OpLane::ALL.into_iter().zip(by_lane).for_each(|(lane, rows)| add(Place::Ops(id, lane), rows));
        }
        for (thread, own) in trace.threads.iter().enumerate() {
            let names =
                |names: &[crate::trace::NameId], at: usize| names.get(at).is_some_and(|n| self.matching.name(*n));
            let (nvtx, marks, os) = (&own.nvtx.name, &own.marks.name, &own.os.name);
            add(Place::Ranges(self.at, thread), self.rows(0, nvtx.len(), |at| names(nvtx, at))?);
            add(Place::Marks(self.at, thread), self.rows(0, marks.len(), |at| names(marks, at))?);
            add(Place::Os(self.at, thread), self.rows(0, os.len(), |at| names(os, at))?);
            let Some(process) = trace.processes.get(own.process) else { continue };
            let is_hit = |at: usize| process.api.name.get(at).is_some_and(|name| self.matching.call(*name));
            add(Place::Calls(self.at, thread), self.rows(own.api.start as usize, own.api.end as usize, is_hit)?);
        }
        Some(groups)
    }

    /// The rows from `first` up to `end` for which `is_hit` holds; `None` when cancelled.
    fn rows(&self, first: usize, end: usize, is_hit: impl Fn(usize) -> bool) -> Option<Vec<u32>> {
        let mut rows = Vec::new();
        let mut from = first;
        while from < end {
            if (self.cancelled)() {
                return None;
            }
            let to = (from + CHECK_EVERY).min(end);
            rows.extend((from..to).filter(|at| is_hit(*at)).map(|at| at as u32));
            from = to;
        }
        rows.shrink_to_fit();
        Some(rows)
    }
}
