//! The built-in demo: made when it is opened, gone when it is closed.

use super::{JobConfig, SimError, simulate_to_dir};
use std::path::PathBuf;
use tempfile::TempDir;

/// The exports of the demo job in a folder of their own, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Demo {
    /// One export per rank.
    pub exports: Vec<PathBuf>,
    _folder: TempDir,
}

impl Demo {
    /// Simulates the demo job and writes it to a new temporary folder.
    ///
    /// # Errors
    /// When the folder for temporary files cannot be written.
    pub fn write() -> Result<Self, SimError> {
        let folder = tempfile::Builder::new().prefix("stepscope-demo-").tempdir();
        let folder = folder.map_err(|error| SimError::Folder { path: std::env::temp_dir(), error })?;
        let job = simulate_to_dir(
            &JobConfig { gpu_metrics_hz: 10_000, ..JobConfig::default() },
            folder.path(),
            false,
            &mut |_| {},
        )?;
        Ok(Self { exports: job.files, _folder: folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_with_the_demo() {
        let demo = Demo::write().unwrap();
        let exports = demo.exports.clone();
        assert_eq!(exports.len(), 2);
        assert!(exports.iter().all(|path| path.is_file()));
        drop(demo);
        assert!(exports.iter().all(|path| !path.exists()));
    }
}
