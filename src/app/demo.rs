//! The built-in demo: a simulated job, written as exports into a temporary folder that goes when the window does.

use crate::sim::{self, JobConfig, SimError};
use std::path::PathBuf;

/// The demo's exports on disk.
#[derive(Debug)]
pub struct Demo {
    folder: PathBuf,
    /// One export a rank.
    pub files: Vec<PathBuf>,
}

impl Demo {
    /// Simulates the job and writes its exports.
    ///
    /// # Errors
    /// When the temporary folder cannot be written.
    pub fn make() -> Result<Self, SimError> {
        let folder = std::env::temp_dir().join(format!("stepscope-demo-{}", std::process::id()));
        let config = sim::preset("demo").unwrap_or_else(JobConfig::default);
        let mut demo = Self { folder, files: Vec::new() };
        demo.files = sim::simulate_to_dir(&config, &demo.folder, true, &mut |_| {})?.files;
        Ok(demo)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // Left behind, it is a few megabytes that the system clears with its other temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_two_ranks_and_leaves_nothing_behind() {
        let demo = Demo::make().unwrap();
        assert_eq!(demo.files.len(), 2);
        assert!(demo.files.iter().all(|file| file.is_file()));
        let folder = demo.folder.clone();
        drop(demo);
        assert!(!folder.exists());
    }
}
