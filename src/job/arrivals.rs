//! The communication kernels of one rank, sorted into groups that can be paired with those of other ranks.
//!
//! The k-th collective of a communicator on one rank is the k-th on another. Without communicator ids, kernels of one
//! stream role and one kind are taken in order; the role of a stream is its place among the streams of its rank that
//! carry communication, by id, since ranks of one program make their streams in one order.

use crate::analysis::{Collective, Communication, Message};
use crate::trace::Rank;
use crate::units::Span;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What kernels are paired by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupKey {
    /// Collectives of a communicator.
    Communicator(u64),
    /// Sends and receives between this rank and one peer, a rank of the communicator.
    Peer {
        /// The communicator.
        communicator: u64,
        /// The other rank.
        peer: i32,
    },
    /// Kernels of one kind on streams of one role, where calls name no communicator.
    Role {
        /// Place of the stream among those with communication.
        stream: u16,
        /// The kind.
        kind: Collective,
    },
}

/// The kernels of one group on one rank, as columns in the order they were started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommGroup {
    /// What they are paired by.
    pub key: GroupKey,
    /// Ranks of the communicator, where known.
    pub size: Option<u32>,
    /// This rank's number in the communicator, where known.
    pub own_rank: Option<u32>,
    /// Start on the export's clock.
    #[serde(with = "deltas")]
    pub start_ns: Vec<i64>,
    /// Duration.
    pub len_ns: Vec<i64>,
    /// Of the duration: without any compute kernel on the device.
    pub exposed_ns: Vec<i64>,
    /// What each did.
    pub kind: Vec<Collective>,
    /// Bytes of each as its calls state them; 0 where unknown.
    pub bytes: Vec<u64>,
    /// The operation, an index into the rank's operations.
    #[serde(with = "small_deltas")]
    pub op: Vec<u32>,
}

impl CommGroup {
    fn new(key: GroupKey) -> Self {
        Self {
            key,
            size: None,
            own_rank: None,
            start_ns: Vec::new(),
            len_ns: Vec::new(),
            exposed_ns: Vec::new(),
            kind: Vec::new(),
            bytes: Vec::new(),
            op: Vec::new(),
        }
    }

    /// Number of kernels.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// The span of kernel `at` on the export's clock.
    pub fn span(&self, at: usize) -> Option<Span> {
        let start_ns = *self.start_ns.get(at)?;
        Some(Span::new(start_ns, start_ns.saturating_add(*self.len_ns.get(at)?)))
    }

    /// True when all columns are equally long, as those of a damaged file might not be.
    pub(super) fn is_sound(&self) -> bool {
        let len = self.len();
        [self.len_ns.len(), self.exposed_ns.len(), self.kind.len(), self.bytes.len(), self.op.len()] == [len; 5]
    }
}

/// The communication kernels of `rank` by group; communicators of a single rank are left out.
pub(super) fn groups(rank: &Rank, communication: &Communication) -> Vec<CommGroup> {
    let mut streams: Vec<u16> =
        communication.kernels.iter().filter_map(|k| rank.ops.stream.get(k.op as usize).copied()).collect();
    streams.sort_unstable();
    streams.dedup();
    let mut places: FxHashMap<GroupKey, usize> = FxHashMap::default();
    let mut groups: Vec<CommGroup> = Vec::new();
    for kernel in &communication.kernels {
        let at = kernel.op as usize;
        if at >= rank.ops.len() {
            continue;
        }
        let message = communication.message(kernel.op);
        let role = || {
            let stream = streams.binary_search(&rank.ops.stream[at]).unwrap_or_default();
            GroupKey::Role { stream: u16::try_from(stream).unwrap_or(u16::MAX), kind: kernel.kind }
        };
        let key = message.and_then(|m| named(m, kernel.kind)).unwrap_or_else(role);
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(CommGroup::new(key));
            groups.len() - 1
        });
        let Some(group) = groups.get_mut(place) else { continue };
        let span = rank.ops.span(at);
        group.start_ns.push(span.start_ns);
        group.len_ns.push(span.len_ns());
        group.exposed_ns.push(kernel.exposed_ns);
        group.kind.push(kernel.kind);
        group.bytes.push(message.map_or(0, |m| m.bytes));
        group.op.push(kernel.op);
    }
    for group in &mut groups {
        if let GroupKey::Communicator(id) | GroupKey::Peer { communicator: id, .. } = group.key {
            let known = communication.communicators.get(&id);
            group.size = known.and_then(|known| known.ranks);
            group.own_rank = known.and_then(|known| known.own_rank);
        }
    }
    groups.retain(|group| group.size != Some(1));
    groups.sort_by_key(|group| group.key);
    groups
}

/// The group that the calls of a kernel name.
fn named(message: &Message, kind: Collective) -> Option<GroupKey> {
    let communicator = message.communicator?;
    Some(match message.peer.filter(|_| kind == Collective::SendRecv) {
        Some(peer) => GroupKey::Peer { communicator, peer },
        None => GroupKey::Communicator(communicator),
    })
}

/// Numbers as the difference to the one before, which packs well.
mod deltas {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(values: &[i64], serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = 0_i64;
        serializer.collect_seq(values.iter().map(|value| value.wrapping_sub(std::mem::replace(&mut last, *value))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
        let mut values = Vec::<i64>::deserialize(deserializer)?;
        let mut sum = 0_i64;
        for value in &mut values {
            sum = sum.wrapping_add(*value);
            *value = sum;
        }
        Ok(values)
    }
}

/// The same for numbers of operations.
mod small_deltas {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(values: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = 0_u32;
        serializer.collect_seq(values.iter().map(|value| value.wrapping_sub(std::mem::replace(&mut last, *value))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        let mut values = Vec::<u32>::deserialize(deserializer)?;
        let mut sum = 0_u32;
        for value in &mut values {
            sum = sum.wrapping_add(*value);
            *value = sum;
        }
        Ok(values)
    }
}
