//! What a selected item belongs together with: an operation with its launch, a launch with its operations.

use crate::view::{Item, RankId, Workspace};

/// Items highlighted with a selected one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linked {
    /// The launching call: document, process, call.
    pub call: Option<(usize, usize, u32)>,
    /// The operations it launched, in order of rank and time.
    pub ops: Vec<(RankId, u32)>,
}

impl Linked {
    /// What `item` is linked to. One pass over the launches of the process when it is a call or has one.
    pub fn of(workspace: &Workspace, item: Item) -> Self {
        let Some(doc) = workspace.docs.get(item.doc()) else { return Self::default() };
        match item {
            Item::Op(id, op) => {
                let Some(rank) = doc.trace.ranks.get(id.rank) else { return Self::default() };
                let call = rank.ops.launch_of(op as usize).map(|call| (id.doc, rank.process, call));
                Self { call, ops: vec![(id, op)] }
            }
            Item::Call(at, process, call) => {
                let ranks = doc.trace.ranks.iter().enumerate().filter(|(_, rank)| rank.process == process);
                let ops = ranks.flat_map(|(rank, r)| {
                    let launched = r.ops.launch.iter().enumerate().filter(move |(_, launch)| **launch == call);
                    launched.map(move |(op, _)| (RankId { doc: at, rank }, op as u32))
                });
                Self { call: Some((at, process, call)), ops: ops.collect() }
            }
            _ => Self::default(),
        }
    }
}
