//! Exposed communication of the typical step, split into waiting for other ranks and moving data.
//!
//! A matched kernel waits until the last rank has started and transfers from then on. Time in which several kernels of
//! a rank run at once counts as waiting when any of them waits; so the parts sum to the exposed time exactly.

use super::Job;
use crate::analysis::Analysis;
use crate::units::Span;
use serde::Serialize;

/// Exposed communication by what it was, as the mean of what the verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ExposedSplit {
    /// Waiting for a rank that had not started.
    #[serde(rename = "exposed_wait_ns")]
    pub wait_ns: i64,
    /// Moving data, all ranks having started.
    #[serde(rename = "exposed_transfer_ns")]
    pub transfer_ns: i64,
    /// In kernels that could not be paired with those of other ranks, so that it is not known.
    #[serde(rename = "exposed_unmatched_ns")]
    pub unmatched_ns: i64,
}

impl ExposedSplit {
    /// True when most of what is exposed is waiting for a rank that starts later, which no faster network would change.
    pub const fn is_mostly_waiting(&self) -> bool {
        self.wait_ns > self.transfer_ns.saturating_add(self.unmatched_ns)
    }
}

/// The split of each rank of `job`; `analyses` are those of its first exports, and other ranks have none. `None` for a
/// rank without matched collectives.
///
/// Cost: a pass over the matched collectives.
pub fn exposed_splits(job: &Job, analyses: &[&Analysis]) -> Vec<Option<ExposedSplit>> {
    let mut spans: Vec<Spans> = vec![Spans::default(); job.ranks.len()];
    for (at, group) in job.groups.iter().enumerate() {
        for number in 0..group.count {
            let Some(matched) = job.matched(at, number) else { continue };
            for (member, (_, split)) in group.members.iter().zip(&matched.members) {
                let own = job.summary(member.rank).and_then(|summary| group.span(summary, member, number));
                let (Some(own), Some(spans)) = (own, spans.get_mut(member.rank)) else { continue };
                spans.waits.push(Span::new(own.start_ns, own.start_ns.saturating_add(split.wait_ns)));
                spans.matched.push(own);
            }
        }
    }
    let of = |(rank, spans): (&super::JobRank, Spans)| {
        let numbers = analyses.get(rank.at.export)?.ranks.get(rank.at.rank)?;
        if spans.matched.is_empty() {
            return None;
        }
        let exposed = |spans: Vec<Span>| numbers.mean_exposed_ns(&united(spans));
        let (wait_ns, matched_ns) = (exposed(spans.waits)?, exposed(spans.matched)?);
        let all_ns = numbers.mean_exposed_ns(&[Span::new(i64::MIN, i64::MAX)])?;
        Some(ExposedSplit {
            wait_ns,
            transfer_ns: matched_ns.saturating_sub(wait_ns),
            unmatched_ns: all_ns.saturating_sub(matched_ns),
        })
    };
    job.ranks.iter().zip(spans).map(of).collect()
}

/// Matched kernels of a rank on its export's clock.
#[derive(Debug, Clone, Default)]
struct Spans {
    waits: Vec<Span>,
    matched: Vec<Span>,
}

/// Sorted spans that do not overlap, which cover what `spans` cover.
fn united(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut all: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans.into_iter().filter(|span| !span.is_empty()) {
        match all.last_mut() {
            Some(last) if span.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(span.end_ns),
            _ => all.push(span),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_united() {
        let spans = [(5, 9), (0, 2), (2, 3), (6, 7), (4, 4)].map(|(start, end)| Span::new(start, end));
        assert_eq!(united(spans.to_vec()), [Span::new(0, 3), Span::new(5, 9)]);
    }
}
