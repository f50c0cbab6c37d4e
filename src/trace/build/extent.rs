//! From when to when a capture lasts, and whose events it holds.

use super::super::columns::OpColumns;
use super::{TraceBuilder, process_key};
use crate::units::Span;

impl TraceBuilder {
    pub(super) fn process_keys(&self) -> Vec<i64> {
        let mut keys: Vec<i64> = self.threads.keys().map(|tid| process_key(*tid)).collect();
        keys.extend(self.ranks.keys().map(|(pid, _)| process_key(*pid)));
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    pub(super) fn last_end_ns(&self) -> Option<i64> {
        let ops = self.ranks.values().filter_map(OpColumns::hull).map(|s| s.end_ns);
        let host = self.threads.values().filter_map(|t| {
            [t.api.last_end_ns(), t.os.last_end_ns(), t.nvtx.last_end_ns(), t.marks.last_end_ns()]
                .into_iter()
                .flatten()
                .max()
        });
        ops.chain(host).max()
    }

    /// From the first to the last event. Ranges that were opened before the capture began carry negative starts, some
    /// by minutes; they do not stretch the span, or the first view would be empty.
    pub(super) fn span(&self) -> Option<Span> {
        let ops = self.ranks.values().filter_map(OpColumns::hull).map(|s| s.start_ns).min();
        let calls = self.threads.values().filter_map(|t| t.api.first_start_ns()).min();
        let recorded = ops.into_iter().chain(calls).min();
        let floor = recorded.unwrap_or(0).min(0);
        let ranges = self.threads.values().filter_map(|t| {
            [t.os.first_start_ns(), t.nvtx.first_start_ns(), t.marks.first_start_ns()].into_iter().flatten().min()
        });
        let first = ranges.map(|start| start.max(floor)).chain(recorded).min()?;
        Some(Span::new(first, self.last_end_ns()?.max(first)))
    }
}
