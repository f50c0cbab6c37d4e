//! Everything that can change what the window shows.

use super::{Coloring, Item, LaneCommand, LaneKey, Panel, RankId, Theme};
use crate::analysis::Attribution;
use crate::experiment::Experiment;
use crate::units::Span;
use std::path::PathBuf;

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
    /// Selects a span of axis time, or none.
    SelectSpan(Option<Span>),
    /// Chooses the rank that the side panel speaks about.
    ChooseRank(RankId),
    /// Expands a collapsed lane or collapses an expanded one.
    ToggleLane(LaneKey),
    /// Arranges the lanes.
    Lane(LaneCommand),
    /// Switches idle and exposed marks.
    ToggleMarks,
    /// Switches NVTX rows.
    ToggleNvtx,
    /// Chooses which operations belong to an NVTX range.
    SetAttribution(Attribution),
    /// Chooses what the colours of GPU operations stand for.
    SetColoring(Coloring),
    /// Shows or hides what the colours mean.
    ToggleLegend,
    /// Chooses a side panel tab.
    ShowPanel(Panel),
    /// Chooses the colours.
    SetTheme(Theme),
    /// Opens files beside what is open.
    Open(Vec<PathBuf>),
    /// Shows the file dialog.
    OpenDialog,
    /// Opens the built-in demo.
    OpenDemo,
    /// Stops loading.
    CancelLoad,
    /// Closes every document.
    CloseAll,
    /// Saves the current view as a picture (asks where).
    SavePicture,
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
    /// Shows or hides the details panel.
    ToggleDetails,
    /// Ends the program.
    Quit,
}
