//! Something on the timeline that can be pointed at, and where it is.

use super::{RankId, Workspace};
use crate::analysis::Attribution;
use crate::units::Span;
use serde::{Deserialize, Serialize};

/// Something on the timeline that can be pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Item {
    /// GPU operation: rank and index into its table.
    Op(RankId, u32),
    /// API call: document, process, index into the process's table.
    Call(usize, usize, u32),
    /// NVTX range: document, thread, index.
    Nvtx(usize, usize, u32),
    /// NVTX range as it ran on the GPU of a rank: index into the projection.
    Projected(RankId, Attribution, u32),
    /// NVTX mark: document, thread, index.
    Mark(usize, usize, u32),
    /// OS runtime call: document, thread, index.
    Os(usize, usize, u32),
    /// Idle gap of a rank: index into its gap list.
    Idle(RankId, u32),
    /// Step of a rank: index into its steps.
    Step(RankId, u32),
}

impl Item {
    /// The item's span in axis time; `None` when `workspace` holds no such item.
    pub fn span(self, workspace: &Workspace) -> Option<Span> {
        let doc = workspace.docs.get(self.doc())?;
        let trace = &doc.trace;
        let own = match self {
            Self::Op(rank, op) => {
                let ops = &trace.ranks.get(rank.rank)?.ops;
                span_at(&ops.start_ns, &ops.end_ns, op)
            }
            Self::Call(_, process, call) => {
                let api = &trace.processes.get(process)?.api;
                span_at(&api.start_ns, &api.end_ns, call)
            }
            Self::Nvtx(_, thread, at) => {
                let table = &trace.threads.get(thread)?.nvtx;
                span_at(&table.start_ns, &table.end_ns, at)
            }
            Self::Projected(rank, attribution, at) => {
                let ranges = &doc.analysis.ranks.get(rank.rank)?.ranges;
                ranges.projected(trace, attribution).get(at as usize).map(|range| range.gpu)
            }
            Self::Mark(_, thread, at) => {
                let table = &trace.threads.get(thread)?.marks;
                span_at(&table.start_ns, &table.end_ns, at)
            }
            Self::Os(_, thread, at) => {
                let table = &trace.threads.get(thread)?.os;
                span_at(&table.start_ns, &table.end_ns, at)
            }
            Self::Idle(rank, gap) => doc.analysis.ranks.get(rank.rank)?.busy.gap(gap as usize),
            Self::Step(rank, step) => {
                Some(doc.analysis.ranks.get(rank.rank)?.steps.as_ref()?.steps.get(step as usize)?.window)
            }
        };
        Some(doc.axis_span(own?))
    }

    /// Thread and index of the NVTX range that the item shows, when it shows one.
    pub fn range(self, workspace: &Workspace) -> Option<(usize, u32)> {
        match self {
            Self::Nvtx(_, thread, at) => Some((thread, at)),
            Self::Projected(rank, attribution, at) => {
                let doc = workspace.docs.get(rank.doc)?;
                let ranges = &doc.analysis.ranks.get(rank.rank)?.ranges;
                let range = ranges.projected(&doc.trace, attribution).get(at as usize)?;
                Some((range.thread as usize, range.range))
            }
            _ => None,
        }
    }

    /// The rank it belongs to; `None` for what belongs to a process or thread.
    pub const fn rank(self) -> Option<RankId> {
        match self {
            Self::Op(rank, _) | Self::Idle(rank, _) | Self::Step(rank, _) | Self::Projected(rank, ..) => Some(rank),
            Self::Call(..) | Self::Nvtx(..) | Self::Mark(..) | Self::Os(..) => None,
        }
    }

    /// Index of the document that holds the item.
    pub const fn doc(self) -> usize {
        match self {
            Self::Op(rank, _) | Self::Idle(rank, _) | Self::Step(rank, _) | Self::Projected(rank, ..) => rank.doc,
            Self::Call(doc, ..) | Self::Nvtx(doc, ..) | Self::Mark(doc, ..) | Self::Os(doc, ..) => doc,
        }
    }
}

fn span_at(start_ns: &[i64], end_ns: &[i64], at: u32) -> Option<Span> {
    Some(Span::new(*start_ns.get(at as usize)?, *end_ns.get(at as usize)?))
}
