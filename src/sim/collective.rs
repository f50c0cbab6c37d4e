//! Where ranks meet: a collective starts on each rank when that rank is ready and ends on all of them together.

use super::config::JobConfig;
use super::program::{Communicators, Role};
use super::truth::{Arrival, CollectiveTruth};
use rustc_hash::FxHashMap;

/// A group of ranks that communicate.
#[derive(Debug)]
struct Communicator {
    size: u32,
    point_to_point: bool,
}

/// A collective that not every rank has left yet.
#[derive(Debug, Default)]
struct Meeting {
    arrivals: Vec<(Arrival, Role)>,
    end_ns: Option<i64>,
    left: u32,
}

/// All communicators of a job and the collectives under way.
#[derive(Debug)]
pub(super) struct Meetings {
    communicators: Vec<Communicator>,
    open: FxHashMap<(u32, u64), Meeting>,
    /// Books of the collectives that ended.
    pub(super) ended: Vec<CollectiveTruth>,
}

/// Start-up of a collective and of an exchange.
const ALL_REDUCE_LATENCY_NS: f64 = 18_000.0;
const EXCHANGE_LATENCY_NS: f64 = 12_000.0;
/// Larger gradient buckets may have a speed of their own.
const LARGE_MESSAGE_BYTES: u64 = 32_000_000;

impl Meetings {
    /// The communicators of `cfg`, and which of them each rank belongs to.
    pub(super) fn of(cfg: &JobConfig) -> (Self, Vec<Communicators>) {
        let mut communicators = Vec::new();
        let mut of_rank = vec![Communicators::default(); cfg.ranks as usize];
        let mut add = |size, point_to_point| {
            communicators.push(Communicator { size, point_to_point });
            communicators.len() as u32 - 1
        };
        // Ranks are numbered stage by stage, so the ranks of one stage adjoin.
        for stage in of_rank.chunks_mut(cfg.dp() as usize) {
            let data = (cfg.dp() > 1).then(|| add(cfg.dp(), false));
            stage.iter_mut().for_each(|rank| rank.data = data);
        }
        for rank in cfg.dp() as usize..of_rank.len() {
            let pair = add(2, true);
            of_rank[rank].previous = Some(pair);
            of_rank[rank - cfg.dp() as usize].next = Some(pair);
        }
        for rank in &mut of_rank {
            rank.alone = add(1, false);
        }
        (Self { communicators, open: FxHashMap::default(), ended: Vec::new() }, of_rank)
    }

    pub(super) fn is_point_to_point(&self, communicator: u32) -> bool {
        self.communicators[communicator as usize].point_to_point
    }

    /// A rank is ready. Once all are: the ranks and streams that can go on.
    pub(super) fn arrive(
        &mut self,
        cfg: &JobConfig,
        key: (u32, u64),
        bytes: u64,
        arrival: Arrival,
        role: Role,
    ) -> Vec<(u32, Role)> {
        let communicator = &self.communicators[key.0 as usize];
        let meeting = self.open.entry(key).or_default();
        meeting.arrivals.push((arrival, role));
        if meeting.arrivals.len() < communicator.size as usize {
            return Vec::new();
        }
        let latest = meeting.arrivals.iter().map(|(a, _)| a.start_ns).max().unwrap_or(arrival.start_ns);
        let n = f64::from(communicator.size);
        let transfer = if communicator.point_to_point {
            EXCHANGE_LATENCY_NS + bytes as f64 / cfg.p2p_gbps
        } else {
            let is_slow = bytes > LARGE_MESSAGE_BYTES && cfg.large_message_gbps > 0.0;
            let gbps = if is_slow { cfg.large_message_gbps } else { cfg.comm_gbps };
            ALL_REDUCE_LATENCY_NS + bytes as f64 * 2.0 * (n - 1.0) / n / gbps
        };
        let transfer_ns = transfer.round() as i64;
        meeting.end_ns = Some(latest + transfer_ns);
        meeting.arrivals.iter_mut().for_each(|(a, _)| a.wait_ns = latest - a.start_ns);
        meeting.arrivals.sort_by_key(|(a, _)| a.rank);
        self.ended.push(CollectiveTruth {
            communicator: key.0,
            sequence: key.1,
            point_to_point: communicator.point_to_point,
            bytes,
            end_ns: latest + transfer_ns,
            transfer_ns,
            arrivals: meeting.arrivals.iter().map(|(a, _)| *a).collect(),
        });
        meeting.arrivals.iter().map(|(a, role)| (a.rank, *role)).collect()
    }

    /// Start and end of the collective on `rank`, when all have arrived; the last rank to ask closes it.
    pub(super) fn leave(&mut self, key: (u32, u64), rank: u32) -> Option<(i64, i64)> {
        let meeting = self.open.get_mut(&key)?;
        let end_ns = meeting.end_ns?;
        let start_ns = meeting.arrivals.iter().find(|(a, _)| a.rank == rank)?.0.start_ns;
        meeting.left += 1;
        if meeting.left as usize == meeting.arrivals.len() {
            self.open.remove(&key);
        }
        Some((start_ns, end_ns))
    }
}
