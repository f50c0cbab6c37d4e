//! What the application asks of the window and of the user.

use crate::view::RankId;
use std::path::PathBuf;

/// What only the window can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Show the file dialog.
    AskForFiles,
    /// Ask for a folder of captures.
    AskForCaptures,
    /// Ask where a picture goes.
    AskForPicture,
    /// Ask where the report goes.
    AskForReport,
    /// Ask for the folder of a conversion of this capture.
    AskForFolder(PathBuf),
    /// Ask for a settings file.
    AskForSettings,
    /// Ask where settings go.
    AskWhereToSaveSettings,
    /// Ask for the `config.json` of a model.
    AskForModelConfig,
    /// Write the bookmarks of what is open.
    KeepBookmarks,
    /// Put this text where it can be pasted from.
    Copy(String),
    /// Write the current view to this file.
    WritePicture(PathBuf),
    /// Write the report to this file.
    WriteReport(PathBuf),
    /// Ask where the session goes.
    AskWhereToSaveSession,
    /// End the program.
    Quit,
}

/// What lies over the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlay {
    /// All shortcuts.
    Help,
    /// What the program is.
    About,
    /// How to record a capture.
    Recording,
    /// A path being asked for.
    Path {
        /// What it is for.
        question: PathQuestion,
        /// What the field holds at first.
        start: String,
    },
    /// All commands.
    Palette,
    /// Captures that could be opened.
    Chooser,
}

/// What a typed path is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathQuestion {
    /// Open this file.
    Open,
    /// Open the captures in this folder.
    Captures,
    /// Give this rank another label.
    RankName(RankId),
    /// Write the picture there.
    Picture,
    /// Load these settings.
    Settings,
    /// Write the settings there.
    SaveSettings,
    /// Take the model from this `config.json`.
    ModelConfig,
    /// Write the report there.
    Report,
    /// Write the session there.
    Session,
    /// Open what this link leads to.
    Link,
    /// Convert this capture into that folder.
    Folder(PathBuf),
}

/// Something the user has to be told before going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What happened, in one line.
    pub title: String,
    /// What is wrong, where, and what to do.
    pub message: String,
    /// A capture that could be converted.
    pub convert: Option<PathBuf>,
}
