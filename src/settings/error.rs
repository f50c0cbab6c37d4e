//! Why settings could not be read or written.

use crate::analysis::RulesError;
use crate::experiment::Invalid;
use std::path::PathBuf;

/// Why settings could not be read or written. Each message says where and what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The text is not TOML of the documented shape.
    #[error("{}: {message}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Where and what.
        message: String,
    },
    /// A setting is out of its range or contradicts another.
    #[error("{}: {invalid}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Which and why.
        invalid: Invalid,
    },
    /// A kernel rule is not right.
    #[error("{}: {error}", path.display())]
    Rules {
        /// The file.
        path: PathBuf,
        /// Which and why.
        error: RulesError,
    },
    /// The file to write is there already and holds something else.
    #[error("{} is there already and is no settings file: choose another name", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot write {}: {reason}; choose another folder or name", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}
