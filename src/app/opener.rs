//! From a file to a trace and its numbers, on the thread of a job.

use super::load::{OpenError, Opened, Opener, Watch, What};
use crate::analysis::{Params, analyze};
use crate::nsys::{self, LoadError, LoadOptions};
use crate::settings::{RunSettings, SettingsError, params_for};
use crate::sim::Demo;
use crate::trace::Warning;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Opens exports on disk, the demo, and captures that have to be converted first.
#[derive(Debug)]
pub struct FileOpener {
    /// Decided before any settings file.
    base: Params,
    /// The settings for every export, in place of those beside each.
    settings: Option<RunSettings>,
    /// Made when it is first asked for; its files are read as long as it is open.
    demo: Mutex<Option<Demo>>,
}

impl FileOpener {
    /// An opener that analyses with `base` and `settings`; without `settings`, with those beside each export.
    pub fn new(base: Params, settings: Option<RunSettings>) -> Self {
        Self { base, settings, demo: Mutex::new(None) }
    }

    /// What the export at `path` is analysed with.
    fn params(&self, path: &Path) -> Result<Params, SettingsError> {
        let mut params = self.base.clone();
        if let Some(settings) = &self.settings {
            settings.apply(&mut params);
        }
        params_for(path, &params)
    }

    fn demo(&self, watch: &Watch) -> Result<Vec<Opened>, OpenError> {
        watch.stage("Simulating a training job");
        let mut demo = self.demo.lock().unwrap_or_else(PoisonError::into_inner);
        if demo.is_none() {
            *demo = Some(Demo::write().map_err(|error| OpenError::Failed { message: error.to_string() })?);
        }
        watch.stage("");
        let files = demo.iter().flat_map(|demo| &demo.exports);
        files.map(|path| self.file(path, watch)).collect()
    }

    fn file(&self, path: &Path, watch: &Watch) -> Result<Opened, OpenError> {
        if let Ok(facts) = std::fs::metadata(path) {
            watch.file_bytes(facts.len());
        }
        let mut trace = nsys::open(path, &LoadOptions::default(), &watch.reader).map_err(failure)?;
        watch.stage("Computing");
        // The capture is worth showing without its settings; that they were not used is said among its warnings.
        let params = self.params(path).unwrap_or_else(|error| {
            trace.warnings.push(Warning { code: "settings-not-used", message: error.to_string(), count: 1 });
            self.base.clone()
        });
        let analysis = analyze(&trace, &params);
        if watch.reader.is_cancelled() {
            return Err(OpenError::Cancelled);
        }
        Ok((Arc::new(trace), Arc::new(analysis)))
    }
}

impl Opener for FileOpener {
    fn open(&self, what: &What, watch: &Watch) -> Result<Vec<Opened>, OpenError> {
        match what {
            What::File(path) => Ok(vec![self.file(path, watch)?]),
            What::Convert { report, folder } => {
                watch.stage("Converting with nsys");
                let export = nsys::convert(report, folder, None)
                    .map_err(|error| OpenError::Failed { message: error.to_string() })?;
                watch.stage("");
                Ok(vec![self.file(&export, watch)?])
            }
            What::Demo => self.demo(watch),
        }
    }

    fn base(&self) -> Params {
        self.base.clone()
    }
}

fn failure(error: LoadError) -> OpenError {
    match error {
        LoadError::Cancelled => OpenError::Cancelled,
        LoadError::Report { path } => {
            let message = LoadError::Report { path: path.clone() }.to_string();
            OpenError::NeedsConversion { report: path, message }
        }
        error => OpenError::Failed { message: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_say_what_to_do_and_reports_can_be_converted() {
        let folder = tempfile::tempdir().unwrap();
        let opener = FileOpener::new(Params::default(), None);
        let open = |name: &str| opener.open(&What::File(folder.path().join(name)), &Watch::default()).unwrap_err();
        assert!(matches!(open("nowhere.sqlite"), OpenError::Failed { message } if message.contains("does not exist")));
        std::fs::write(folder.path().join("step.nsys-rep"), "report").unwrap();
        let OpenError::NeedsConversion { report, message } = open("step.nsys-rep") else { panic!("a report") };
        assert!(report.ends_with("step.nsys-rep") && message.contains("nsys export"));
    }

    #[test]
    fn a_real_export_opens_and_tells_how_far_it_is() {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/a100_ddp_rank0_2023.4.sqlite"));
        if !path.exists() {
            println!("skipped: {} is not here", path.display());
            return;
        }
        let watch = Watch::default();
        let opened = FileOpener::new(Params::default(), None).open(&What::File(path.to_owned()), &watch).unwrap();
        assert_eq!(opened.len(), 1);
        let now = watch.snapshot();
        assert!(now.rows_total > 0 && now.share == Some(1.0) && now.file_bytes > 0, "{now:?}");
    }

    #[test]
    fn a_cancelled_job_ends_without_a_trace() {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/a100_ddp_rank0_2023.4.sqlite"));
        if !path.exists() {
            println!("skipped: {} is not here", path.display());
            return;
        }
        let watch = Watch::default();
        watch.reader.cancel();
        let result = FileOpener::new(Params::default(), None).open(&What::File(path.to_owned()), &watch);
        assert_eq!(result.unwrap_err(), OpenError::Cancelled);
    }
}
