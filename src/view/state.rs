//! Everything the view remembers between frames.

use super::search::Search;
use super::{Arrangement, Axis, Bookmark, Coloring, Compare, History, Item, RankId, Viewport};
use crate::analysis::{Attribution, Class, CounterKind};
use crate::units::Span;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Lane of a rank that an operation is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpLane {
    /// Compute and fused kernels, graph blocks.
    Compute,
    /// Communication kernels.
    Communication,
    /// Copies and fills.
    Copies,
}

impl OpLane {
    /// The three lanes from top to bottom.
    pub const ALL: [Self; 3] = [Self::Compute, Self::Communication, Self::Copies];

    /// Lane of an operation of `class`.
    pub const fn of(class: Class) -> Self {
        match class {
            Class::Communication(_) => Self::Communication,
            Class::Copy => Self::Copies,
            Class::Compute(_) | Class::Fused(_) | Class::Graph => Self::Compute,
        }
    }

    /// Its key for `rank`.
    pub const fn key(self, rank: RankId) -> LaneKey {
        match self {
            Self::Compute => LaneKey::Compute(rank),
            Self::Communication => LaneKey::Communication(rank),
            Self::Copies => LaneKey::Copies(rank),
        }
    }
}

/// A lane of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneKey {
    /// Header of a rank; collapses the whole rank.
    Rank(RankId),
    /// Header of a process without GPU work, (document, process).
    Process(usize, usize),
    /// Compute kernels (and graph blocks) of a rank; expands to its streams.
    Compute(RankId),
    /// Communication kernels of a rank; expands to its streams.
    Communication(RankId),
    /// Copies and fills of a rank; expands to its streams.
    Copies(RankId),
    /// What one stream of a rank (index into the rank's streams) holds of the lane that expands to it.
    Stream(RankId, usize, OpLane),
    /// Idle gaps of a rank.
    Idle(RankId),
    /// How the arrivals of a rank at matched collectives differ from those of the first rank.
    Differences(RankId),
    /// NVTX ranges of a rank's process as they ran on its GPU.
    Projection(RankId, Attribution),
    /// NVTX rows of a thread, (document, thread).
    Nvtx(usize, usize),
    /// CUDA API calls of a thread, (document, thread).
    Api(usize, usize),
    /// OS runtime calls of a thread, (document, thread).
    Os(usize, usize),
    /// CPU launches of a process as one lane, expands to its threads, (document, process).
    Launches(usize, usize),
    /// OS runtime calls of a process, expands to its threads, (document, process).
    OsRuntime(usize, usize),
    /// NVTX rows of threads that launch nothing, when there are many of them, (document, process).
    OtherNvtx(usize, usize),
    /// Counters of a rank; expands to them.
    Counters(RankId),
    /// One counter of a rank.
    Counter(RankId, CounterKind),
}

impl LaneKey {
    /// Index of the document that holds the lane.
    pub const fn doc(self) -> usize {
        match self {
            Self::Rank(rank)
            | Self::Compute(rank)
            | Self::Communication(rank)
            | Self::Copies(rank)
            | Self::Stream(rank, ..)
            | Self::Projection(rank, _)
            | Self::Counters(rank)
            | Self::Counter(rank, _)
            | Self::Differences(rank)
            | Self::Idle(rank) => rank.doc,
            Self::Process(doc, _)
            | Self::Nvtx(doc, _)
            | Self::Api(doc, _)
            | Self::Os(doc, _)
            | Self::Launches(doc, _)
            | Self::OsRuntime(doc, _)
            | Self::OtherNvtx(doc, _) => doc,
        }
    }
}

/// Colours of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Theme {
    /// Dark background.
    #[default]
    Dark,
    /// Light background.
    Light,
}

/// Tab of the side panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Panel {
    /// Partition of the selected rank: capture, visible span, typical step.
    #[default]
    Overview,
    /// One line a step.
    Steps,
    /// What loses time, ranked by what could be won back.
    Findings,
    /// Kernels by name.
    Kernels,
    /// Idle gaps with their causes.
    Gaps,
    /// Communication.
    Communication,
    /// Pipeline stages: the schedule of a step, and the bubble.
    Pipeline,
    /// NVTX ranges and what they ran on the GPU.
    Ranges,
    /// Launch latency, queue depth and API calls.
    Launches,
    /// MFU and HFU.
    Mfu,
    /// The ranks on one clock, and who waits for whom.
    Ranks,
    /// Ranks by steps in colour.
    Heatmap,
    /// What changed between two ranks.
    Differences,
    /// The workflow as a checklist, and how to record.
    Guide,
    /// What the file holds, and warnings.
    Capture,
    /// The selected span: its parts and what ran in it.
    Selection,
    /// Bookmarks and notes.
    Bookmarks,
    /// What a search found.
    Search,
}

/// Everything the view remembers between frames.
#[derive(Debug, Clone, Default)]
pub struct ViewState {
    /// What part of the time axis is on screen.
    pub viewport: Viewport,
    /// Views to go back and forward to.
    pub history: History,
    /// First visible pixel row of the lanes, in points.
    pub scroll_y_pt: f32,
    /// Lanes whose default expansion the user reversed.
    pub toggled: HashSet<LaneKey>,
    /// Height factors of lanes the user resized; 1.0 is the default.
    pub lane_scale: HashMap<LaneKey, f32>,
    /// How the lanes are arranged.
    pub lanes: Arrangement,
    /// Selected item.
    pub selected: Option<Item>,
    /// How often the selected item was asked to be brought into sight.
    pub reveals: u32,
    /// The lane that was asked to be scrolled to, and how often any was.
    pub lane_shown: Option<(LaneKey, u32)>,
    /// Selected span in axis time.
    pub selected_span: Option<Span>,
    /// Rank that the side panel speaks about.
    pub rank: Option<RankId>,
    /// Draw idle gaps and exposed communication as marks of their own.
    pub marks: bool,
    /// Draw NVTX rows.
    pub nvtx: bool,
    /// Which operations belong to an NVTX range.
    pub attribution: Attribution,
    /// Marked places of the open documents, in order of time.
    pub bookmarks: Vec<Bookmark>,
    /// The bookmark whose note is being written.
    pub noted: Option<usize>,
    /// From when time is counted.
    pub axis: Axis,
    /// What the colours of GPU operations stand for.
    pub coloring: Coloring,
    /// Show what the colours mean below the lanes.
    pub legend: bool,
    /// The user showed or hid the legend: it no longer comes and goes with the colours.
    pub legend_chosen: bool,
    /// Colours.
    pub theme: Theme,
    /// Side panel tab.
    pub panel: Panel,
    /// The tab that clearing the selected span goes back to.
    pub panel_before: Panel,
    /// What is searched for, and what was found.
    pub search: Search,
    /// Two ranks beside each other; `None` while all ranks are shown.
    pub compare: Option<Compare>,
    /// What the pointer is on in the other of two panes.
    pub pointed: Option<Item>,
}
