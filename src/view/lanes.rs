//! How the user arranged the lanes: which are pinned, hidden or filtered out, in which order they stand.
//!
//! A lane is named by a key that stays the same for a file, so the arrangement can be written as text and read again.

use super::{LaneKey, OpLane, RankId, ViewState};
use crate::analysis::{Attribution, CounterKind, Direction};
use std::collections::BTreeSet;

/// Least and most that a lane is scaled.
pub const LANE_SCALE: (f32, f32) = (0.5, 12.0);

/// How the lanes are arranged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrangement {
    /// Lanes that stay at the top, in this order.
    pub pinned: Vec<LaneKey>,
    /// Lanes that are not shown; what stands below a hidden header is not shown either.
    pub hidden: BTreeSet<LaneKey>,
    /// Lanes in the order the user gave them; the others keep their place among their neighbours.
    pub order: Vec<LaneKey>,
    /// Lanes whose name does not hold this text are not shown.
    pub filter: String,
    /// The lane that keys act on.
    pub focus: Option<LaneKey>,
    /// True while the list of lanes is open.
    pub list: bool,
    /// What a key asked for that needs to know which lanes are on screen; the timeline answers with a command.
    pub asked: Option<LaneAsk>,
}

/// What only the timeline can answer, since it knows which lanes stand where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LaneAsk {
    /// Focus the lane so many places below.
    Focus(i32),
    /// Move the focused lane so many places down among its neighbours.
    Move(i32),
    /// Make the focused lane higher by this factor.
    ScaleBy(f32),
    /// Give the focused lane its default height.
    ResetScale,
}

/// A change to the arrangement. `None` for a lane means the focused one.
#[derive(Debug, Clone, PartialEq)]
pub enum LaneCommand {
    /// Pins a lane at the top, or takes it from there.
    Pin(Option<LaneKey>),
    /// Hides a lane, or shows it again.
    Hide(Option<LaneKey>),
    /// Shows all lanes: none is hidden or filtered out.
    ShowAll,
    /// Gives neighbouring lanes this order.
    Order(Vec<LaneKey>),
    /// Sets the height of a lane over its default height; 1.0 is the default.
    Scale(LaneKey, f32),
    /// Makes the focused lane higher by this factor.
    ScaleBy(f32),
    /// Gives the focused lane its default height.
    ResetScale,
    /// Shows only lanes whose name holds this text; an empty one shows all.
    Filter(String),
    /// Chooses the lane that keys act on.
    Focus(Option<LaneKey>),
    /// Focuses the lane so many places below.
    FocusBy(i32),
    /// Moves the focused lane so many places down among its neighbours.
    MoveBy(i32),
    /// Expands or collapses the focused lane.
    Toggle,
    /// Opens or closes the list of lanes.
    ToggleList,
    /// Order, heights, pins and hidden lanes as they were at first.
    Reset,
}

impl ViewState {
    /// Applies a change to the arrangement of lanes.
    pub(super) fn arrange(&mut self, command: &LaneCommand) {
        let focus = self.lanes.focus;
        let lanes = &mut self.lanes;
        lanes.asked = None;
        match command {
            LaneCommand::Pin(lane) => {
                if let Some(lane) = lane.or(focus).filter(|lane| lane.can_be_pinned()) {
                    match lanes.pinned.iter().position(|pinned| *pinned == lane) {
                        Some(at) => drop(lanes.pinned.remove(at)),
                        None => lanes.pinned.push(lane),
                    }
                }
            }
            LaneCommand::Hide(lane) => {
                if let Some(lane) = lane.or(focus)
                    && !lanes.hidden.remove(&lane)
                {
                    lanes.hidden.insert(lane);
                }
            }
            LaneCommand::ShowAll => {
                lanes.hidden.clear();
                lanes.filter.clear();
            }
            LaneCommand::Order(order) => {
                lanes.order.retain(|lane| !order.contains(lane));
                lanes.order.extend_from_slice(order);
            }
            LaneCommand::Scale(lane, scale) => self.scale(*lane, *scale),
            LaneCommand::ScaleBy(factor) => lanes.asked = Some(LaneAsk::ScaleBy(*factor)),
            LaneCommand::ResetScale => lanes.asked = Some(LaneAsk::ResetScale),
            LaneCommand::Filter(text) => lanes.filter.clone_from(text),
            LaneCommand::Focus(lane) => lanes.focus = *lane,
            LaneCommand::FocusBy(by) => lanes.asked = Some(LaneAsk::Focus(*by)),
            LaneCommand::MoveBy(by) => lanes.asked = Some(LaneAsk::Move(*by)),
            LaneCommand::Toggle => {
                if let Some(lane) = focus {
                    self.toggle_lane(lane);
                }
            }
            LaneCommand::ToggleList => lanes.list = !lanes.list,
            LaneCommand::Reset => {
                *lanes = Arrangement { focus, list: lanes.list, ..Arrangement::default() };
                self.lane_scale.clear();
            }
        }
    }

    /// Expands or collapses `lane`, which keys then act on.
    pub(super) fn toggle_lane(&mut self, lane: LaneKey) {
        if !self.toggled.remove(&lane) {
            self.toggled.insert(lane);
        }
        self.lanes.focus = Some(lane);
    }

    fn scale(&mut self, lane: LaneKey, scale: f32) {
        if !scale.is_finite() {
            return;
        }
        let scale = scale.clamp(LANE_SCALE.0, LANE_SCALE.1);
        if (scale - 1.0).abs() < 1e-3 {
            self.lane_scale.remove(&lane);
        } else {
            self.lane_scale.insert(lane, scale);
        }
    }
}

impl LaneKey {
    /// True for lanes that show something themselves, not only what stands below them.
    pub const fn can_be_pinned(self) -> bool {
        !matches!(
            self,
            Self::Rank(_) | Self::Process(..) | Self::OsRuntime(..) | Self::OtherNvtx(..) | Self::Counters(_)
        )
    }

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
            Self::Differences(rank) => format!("differences/{}", rank.rank),
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
            Self::Counters(rank) => format!("counters/{}", rank.rank),
            Self::Counter(rank, kind) => format!("counter/{}/{}", rank.rank, counter_text(kind)),
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
            "differences" => Self::Differences(rank),
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
            "counters" => Self::Counters(rank),
            "counter" => Self::Counter(rank, counter_of(parts.next()?)?),
            _ => return None,
        };
        parts.next().is_none().then_some(key)
    }
}

fn counter_text(kind: CounterKind) -> String {
    let text = match kind {
        CounterKind::Busy => "busy",
        CounterKind::Communication => "communication",
        CounterKind::QueueDepth => "queue-depth",
        CounterKind::Traffic(Direction::HostToDevice) => "host-to-device",
        CounterKind::Traffic(Direction::DeviceToHost) => "device-to-host",
        CounterKind::Traffic(Direction::DeviceToDevice) => "device-to-device",
        CounterKind::Traffic(Direction::PeerToPeer) => "peer-to-peer",
        CounterKind::Metric(at) => return format!("metric-{at}"),
    };
    text.to_owned()
}

fn counter_of(text: &str) -> Option<CounterKind> {
    let known = [CounterKind::Busy, CounterKind::Communication, CounterKind::QueueDepth];
    let ways = Direction::ALL.into_iter().map(CounterKind::Traffic);
    let named = known.into_iter().chain(ways).find(|kind| counter_text(*kind) == text);
    named.or_else(|| Some(CounterKind::Metric(text.strip_prefix("metric-")?.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Command, Workspace};

    const RANK: RankId = RankId { doc: 2, rank: 3 };

    fn apply(state: &mut ViewState, commands: &[LaneCommand]) {
        for command in commands {
            assert!(state.apply(&Command::Lane(command.clone()), &Workspace::default()));
        }
    }

    #[test]
    fn a_key_is_found_again_by_its_text() {
        let keys = [
            LaneKey::Rank(RANK),
            LaneKey::Process(2, 5),
            LaneKey::Compute(RANK),
            LaneKey::Communication(RANK),
            LaneKey::Copies(RANK),
            LaneKey::Stream(RANK, 7, OpLane::Compute),
            LaneKey::Stream(RANK, 7, OpLane::Communication),
            LaneKey::Stream(RANK, 7, OpLane::Copies),
            LaneKey::Idle(RANK),
            LaneKey::Differences(RANK),
            LaneKey::Projection(RANK, Attribution::Process),
            LaneKey::Projection(RANK, Attribution::SameThread),
            LaneKey::Nvtx(2, 1),
            LaneKey::Api(2, 1),
            LaneKey::Os(2, 1),
            LaneKey::Launches(2, 1),
            LaneKey::OsRuntime(2, 1),
            LaneKey::OtherNvtx(2, 1),
            LaneKey::Counters(RANK),
            LaneKey::Counter(RANK, CounterKind::Busy),
            LaneKey::Counter(RANK, CounterKind::QueueDepth),
            LaneKey::Counter(RANK, CounterKind::Traffic(Direction::PeerToPeer)),
            LaneKey::Counter(RANK, CounterKind::Metric(12)),
        ];
        let texts: BTreeSet<String> = keys.iter().map(|key| key.to_text()).collect();
        assert_eq!(texts.len(), keys.len(), "no two lanes share a text");
        for key in keys {
            assert_eq!(LaneKey::from_text(2, &key.to_text()), Some(key));
        }
        for text in ["", "rank", "rank/x", "rank/1/2", "stream/1/2/no", "lane/1"] {
            assert_eq!(LaneKey::from_text(0, text), None, "{text:?}");
        }
    }

    #[test]
    fn pins_and_hidden_lanes_are_switched_and_headers_are_not_pinned() {
        let mut state = ViewState::default();
        let (a, b) = (LaneKey::Compute(RANK), LaneKey::Idle(RANK));
        apply(&mut state, &[LaneCommand::Pin(Some(a)), LaneCommand::Pin(Some(b)), LaneCommand::Hide(Some(b))]);
        apply(&mut state, &[LaneCommand::Pin(Some(LaneKey::Rank(RANK)))]);
        assert_eq!((state.lanes.pinned.as_slice(), state.lanes.hidden.len()), (&[a, b][..], 1));
        apply(&mut state, &[LaneCommand::Focus(Some(a)), LaneCommand::Pin(None), LaneCommand::Hide(Some(b))]);
        assert_eq!((state.lanes.pinned.as_slice(), state.lanes.hidden.len()), (&[b][..], 0));
        apply(&mut state, &[LaneCommand::Focus(None), LaneCommand::Pin(None), LaneCommand::Hide(None)]);
        assert_eq!(state.lanes.pinned, [b], "without a focused lane there is nothing to pin");
    }

    #[test]
    fn heights_stay_within_bounds_and_the_default_leaves_no_trace() {
        let mut state = ViewState::default();
        let lane = LaneKey::Compute(RANK);
        apply(&mut state, &[LaneCommand::Scale(lane, 1e9)]);
        assert_eq!(state.lane_scale.get(&lane), Some(&LANE_SCALE.1));
        apply(&mut state, &[LaneCommand::Scale(lane, f32::NAN), LaneCommand::Scale(lane, 0.0)]);
        assert_eq!(state.lane_scale.get(&lane), Some(&LANE_SCALE.0));
        apply(&mut state, &[LaneCommand::Scale(lane, 1.0)]);
        assert!(state.lane_scale.is_empty());
    }

    #[test]
    fn a_new_order_replaces_what_was_said_of_those_lanes_alone() {
        let mut state = ViewState::default();
        let [a, b, c] = [LaneKey::Compute(RANK), LaneKey::Idle(RANK), LaneKey::Nvtx(2, 0)];
        apply(&mut state, &[LaneCommand::Order(vec![c]), LaneCommand::Order(vec![a, b])]);
        apply(&mut state, &[LaneCommand::Order(vec![b, a])]);
        assert_eq!(state.lanes.order, [c, b, a]);
        apply(&mut state, &[LaneCommand::Filter("gemm".to_owned()), LaneCommand::Hide(Some(a)), LaneCommand::Reset]);
        assert_eq!(state.lanes, Arrangement::default());
    }
}
