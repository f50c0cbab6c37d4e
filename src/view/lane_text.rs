//! Names of lanes as text, the same whatever files are open beside theirs.

use super::{LaneKey, OpLane, RankId};
use crate::analysis::Attribution;

impl LaneKey {
    /// The key as text. It names the lane within its file, whichever files are open beside it.
    pub fn to_text(self) -> String {
        match self {
            Self::Rank(rank) => format!("rank/{}", rank.rank),
            Self::Process(_, process) => format!("process/{process}"),
            Self::Compute(rank) => format!("compute/{}", rank.rank),
            Self::Communication(rank) => format!("communication/{}", rank.rank),
            Self::Copies(rank) => format!("copies/{}", rank.rank),
            Self::Stream(rank, stream, lane) => {
                let lane = match lane {
                    OpLane::Compute => "compute",
                    OpLane::Communication => "communication",
                    OpLane::Copies => "copies",
                };
                format!("stream/{}/{stream}/{lane}", rank.rank)
            }
            Self::Idle(rank) => format!("idle/{}", rank.rank),
            Self::Projection(rank, attribution) => {
                let attribution = match attribution {
                    Attribution::Process => "process",
                    Attribution::SameThread => "same-thread",
                };
                format!("projection/{}/{attribution}", rank.rank)
            }
            Self::Nvtx(_, thread) => format!("nvtx/{thread}"),
            Self::Api(_, thread) => format!("api/{thread}"),
            Self::Os(_, thread) => format!("os/{thread}"),
            Self::Launches(_, process) => format!("launches/{process}"),
            Self::OsRuntime(_, process) => format!("os-runtime/{process}"),
            Self::OtherNvtx(_, process) => format!("other-nvtx/{process}"),
        }
    }

    /// The lane that `text` names in document `doc`; `None` when it names none.
    pub fn from_text(doc: usize, text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let what = parts.next()?;
        let at: usize = parts.next()?.parse().ok()?;
        let rank = RankId { doc, rank: at };
        let key = match what {
            "rank" => Self::Rank(rank),
            "process" => Self::Process(doc, at),
            "compute" => Self::Compute(rank),
            "communication" => Self::Communication(rank),
            "copies" => Self::Copies(rank),
            "stream" => {
                let stream = parts.next()?.parse().ok()?;
                let lane = match parts.next()? {
                    "compute" => OpLane::Compute,
                    "communication" => OpLane::Communication,
                    "copies" => OpLane::Copies,
                    _ => return None,
                };
                Self::Stream(rank, stream, lane)
            }
            "idle" => Self::Idle(rank),
            "projection" => match parts.next()? {
                "process" => Self::Projection(rank, Attribution::Process),
                "same-thread" => Self::Projection(rank, Attribution::SameThread),
                _ => return None,
            },
            "nvtx" => Self::Nvtx(doc, at),
            "api" => Self::Api(doc, at),
            "os" => Self::Os(doc, at),
            "launches" => Self::Launches(doc, at),
            "os-runtime" => Self::OsRuntime(doc, at),
            "other-nvtx" => Self::OtherNvtx(doc, at),
            _ => return None,
        };
        parts.next().is_none().then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_found_again_by_its_text_in_another_document() {
        let of = |doc: usize| {
            let rank = RankId { doc, rank: 3 };
            [
                LaneKey::Rank(rank),
                LaneKey::Stream(rank, 2, OpLane::Communication),
                LaneKey::Projection(rank, Attribution::SameThread),
                LaneKey::Nvtx(doc, 5),
                LaneKey::OtherNvtx(doc, 1),
            ]
        };
        for (first, second) in of(0).into_iter().zip(of(4)) {
            assert_eq!(LaneKey::from_text(4, &first.to_text()), Some(second));
        }
        for no_lane in ["", "rank", "rank/x", "rank/1/2", "tower/1", "stream/1/2/3"] {
            assert_eq!(LaneKey::from_text(0, no_lane), None, "{no_lane}");
        }
    }
}
