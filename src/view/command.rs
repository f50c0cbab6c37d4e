//! Everything that can change what the window shows.

use super::search::{Query, Scope};
use super::{Axis, Coloring, CompareCommand, Item, Kin, LaneCommand, LaneKey, Panel, RankId, Side, Theme};
use crate::analysis::Attribution;
use crate::experiment::Experiment;
use crate::job::ClockMode;
use crate::units::Span;
use std::path::PathBuf;

/// A change to what is chosen of the captures that could be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choose {
    /// Chooses one, by its place in the list as it was found, or no longer.
    Toggle(usize),
    /// Shows only those that contain this text.
    Filter(String),
    /// All that are shown.
    All,
    /// None of those that are shown.
    None,
    /// The first of each node, of those that are shown.
    FirstOfEachNode,
    /// The first and every so many after it, of those that are shown.
    EveryNth(usize),
}

/// A change to the view or to what is open.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Moves the view by a share of its length; positive is later.
    PanBy(f64),
    /// Scales the visible length by `factor` (below 1 zooms in) around axis time `at_ns`.
    ZoomAt {
        /// Axis time that stays where it is.
        at_ns: f64,
        /// New length over old length.
        factor: f64,
    },
    /// Shows exactly this span (axis time).
    Show(Span),
    /// Shows exactly this span (axis time) while it is being drawn: a whole drag is one entry of the history.
    ZoomTo(Span),
    /// Shows everything.
    ShowAll,
    /// Zooms to the selected item or span.
    ShowSelection,
    /// Previous view of the history.
    Back,
    /// Next view of the history.
    Forward,
    /// Moves the lanes by so many points; positive shows lower lanes.
    ScrollBy(f32),
    /// Shows step `index` of a rank.
    ShowStep(RankId, u32),
    /// The step before the one in the middle of the view.
    PreviousStep,
    /// The step after the one in the middle of the view.
    NextStep,
    /// Selects an item, or nothing.
    Select(Option<Item>),
    /// Selects this item and brings it into sight without zooming.
    Reveal(Item),
    /// Selects the item beside the selected one and brings it into sight without zooming.
    SelectNeighbour(Kin, Side),
    /// Selects a span of axis time, or none.
    SelectSpan(Option<Span>),
    /// Chooses the rank that the side panel speaks about.
    ChooseRank(RankId),
    /// Expands a collapsed lane or collapses an expanded one.
    ToggleLane(LaneKey),
    /// Scrolls to a lane.
    ShowLane(LaneKey),
    /// Arranges the lanes.
    Lane(LaneCommand),
    /// Switches idle and exposed marks.
    ToggleMarks,
    /// Switches NVTX rows.
    ToggleNvtx,
    /// Chooses which operations belong to an NVTX range.
    SetAttribution(Attribution),
    /// Selects the span of the selected item.
    SelectItsSpan,
    /// Copies the full name of the selected item.
    CopyName,
    /// Copies what is known of the selected item as text.
    CopyFacts,
    /// Marks what is selected, else the view.
    AddBookmark,
    /// Shows a bookmark and selects what it points at.
    GoToBookmark(usize),
    /// Asks for the note of a bookmark, or for none any more.
    EditBookmark(Option<usize>),
    /// Writes the note of a bookmark.
    NoteBookmark(usize, String),
    /// Forgets a bookmark.
    DeleteBookmark(usize),
    /// Chooses from when time is counted.
    SetAxis(Axis),
    /// Goes on to the next way of counting time.
    NextAxis,
    /// Chooses what the colours of GPU operations stand for.
    SetColoring(Coloring),
    /// Goes on to the next thing that colours stand for.
    NextColoring,
    /// Shows or hides what the colours mean.
    ToggleLegend,
    /// Chooses what puts the files on one axis.
    SetClock(ClockMode),
    /// Goes on to the next thing that puts the files on one axis.
    NextClock,
    /// Moves a document on the axis by so many nanoseconds.
    ShiftDoc {
        /// Index into the open documents.
        doc: usize,
        /// Positive is later.
        by_ns: i64,
    },
    /// Takes back what documents were moved by.
    ResetShifts,
    /// Moves the other documents so that the counterparts of this item, else of the selected one, end where it ends.
    AlignHere(Option<Item>),
    /// Shows two ranks beside each other, or changes how.
    Compare(CompareCommand),
    /// This command, about one of two panes (0 or 1).
    InPane(usize, Box<Self>),
    /// Chooses a side panel tab.
    ShowPanel(Panel),
    /// Chooses the colours.
    SetTheme(Theme),
    /// Shows the search and puts the keyboard into its field.
    OpenSearch,
    /// Hides the search and its marks.
    CloseSearch,
    /// Searches for this.
    SetQuery(Query),
    /// Chooses where hits count.
    SetScope(Scope),
    /// Goes to the next hit.
    NextHit,
    /// Goes to the previous hit.
    PreviousHit,
    /// Goes to this hit, by its number in the list.
    ShowHit(usize),
    /// Opens files beside what is open.
    Open(Vec<PathBuf>),
    /// Shows the file dialog.
    OpenDialog,
    /// Shows the dialog for a folder of captures.
    OpenFolderDialog,
    /// Shows or hides the list of captures that could be opened.
    ToggleChooser,
    /// Changes what is chosen in that list.
    Choose(Choose),
    /// Opens what is chosen in that list.
    OpenChosen,
    /// Opens the export of a rank of the job (an index into its ranks), or goes to it when it is open.
    OpenRank(usize),
    /// Asks for another label for a rank.
    AskRankName(RankId),
    /// Gives a rank another label; an empty one brings back that of its file.
    RenameRank(RankId, String),
    /// Opens the built-in demo.
    OpenDemo,
    /// Stops loading.
    CancelLoad,
    /// Closes every document.
    CloseAll,
    /// Saves the current view as a picture (asks where).
    SavePicture,
    /// Puts a link to what is shown on the clipboard.
    CopyLink,
    /// Asks for a link to open.
    OpenLink,
    /// Opens what this link leads to, in place of what is open.
    OpenLinkText(String),
    /// Saves what is open and shown as a session (asks where).
    SaveSession,
    /// Writes the session to this file.
    SaveSessionTo(PathBuf),
    /// Reads files anew that were replaced on disk, and keeps the view.
    Reload,
    /// Goes on with what was read of files that were replaced on disk.
    KeepReplaced,
    /// Saves the report (asks where).
    SaveReport,
    /// Shows or hides the list of shortcuts.
    ToggleHelp,
    /// Shows or hides what the program is.
    ToggleAbout,
    /// Shows or hides how to record a capture.
    ToggleRecording,
    /// Asks for a path to type, for systems without a file dialog.
    TypePath,
    /// Asks for the folder that the export of a capture goes to.
    AskConversionFolder(PathBuf),
    /// Converts a capture into a folder and opens the export.
    Convert {
        /// The capture.
        report: PathBuf,
        /// Where the export goes.
        folder: PathBuf,
    },
    /// Says what was trained, in place of what was said before.
    SetExperiment(Box<Experiment>),
    /// Asks for a settings file to load.
    LoadSettings,
    /// Loads what was trained from this settings file.
    LoadSettingsFrom(PathBuf),
    /// Asks where to write what was trained.
    SaveSettings,
    /// Writes what was trained to this settings file.
    SaveSettingsTo(PathBuf),
    /// Asks for the `config.json` of a model.
    LoadModelConfig,
    /// Takes the model from this `config.json`.
    LoadModelConfigFrom(PathBuf),
    /// Writes the current view to this file.
    SavePictureTo(PathBuf),
    /// Writes the report to this file, in the form that its ending tells.
    SaveReportTo(PathBuf),
    /// Closes the message, question or window on top.
    Dismiss,
    /// Sets the interface scale in percent.
    SetScale(u16),
    /// Shows or hides the side panel.
    ToggleSidePanel,
    /// Puts the side panel at its next place: left, right, below.
    MoveSidePanel,
    /// Shows or hides the details panel.
    ToggleDetails,
    /// Shows or hides the list of all commands.
    TogglePalette,
    /// Puts a command, by its name, first in that list.
    Recall(String),
    /// Forgets how the open files were looked at and shows them as if they were opened for the first time.
    StartAnew,
    /// Ends the program.
    Quit,
}
