//! From a file to a trace and its numbers, on the thread of a job.

use super::load::{OpenError, Opened, Opener, Watch, What};
use crate::analysis::Params;

/// Opens exports on disk, the demo, and captures that have to be converted first.
#[derive(Debug)]
pub struct FileOpener {
    params: Params,
}

impl FileOpener {
    /// An opener that analyses with `params`.
    pub fn new(params: Params) -> Self {
        Self { params }
    }
}

impl Opener for FileOpener {
    fn open(&self, what: &What, watch: &Watch) -> Result<Vec<Opened>, OpenError> {
        let _ = (what, watch, &self.params);
        Err(OpenError::Cancelled)
    }
}
