//! Opening files beside the frame: one thread a file, progress, cancel, and results in the order of the request.
//!
//! Files that are opened together form a batch and appear together, so that their ranks stack in the order given. A
//! second request waits for nobody: its batch is appended when it is done, before or after the first. At most
//! [`AT_ONCE`] files are read at once; the others wait for their turn.

use crate::analysis::{Analysis, Params};
use crate::nsys::Progress;
use crate::task::Wake;
use crate::trace::Trace;
use crate::view::Doc;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// What to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// An export on disk.
    File(PathBuf),
    /// The built-in demo.
    Demo,
    /// A capture that is converted into a folder first, then opened.
    Convert {
        /// The `.nsys-rep` or `.qdrep` file.
        report: PathBuf,
        /// Where the export goes.
        folder: PathBuf,
    },
}

impl What {
    /// Short text for lists: the file's name.
    pub fn label(&self) -> String {
        match self {
            Self::File(path) | Self::Convert { report: path, .. } => super::file_name(path),
            Self::Demo => "Demo".to_owned(),
        }
    }
}

/// What a file held and what it means.
pub type Opened = (Arc<Trace>, Arc<Analysis>);

/// Why a file did not open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenError {
    /// The user stopped it.
    Cancelled,
    /// The file is a capture that has to be converted first.
    NeedsConversion {
        /// The capture.
        report: PathBuf,
        /// What it is and which command converts it.
        message: String,
    },
    /// Anything else.
    Failed {
        /// What is wrong, where, and what to do.
        message: String,
    },
}

/// Opens files. The window knows no other way to a trace, so that tests can put their own in.
pub trait Opener: Send + Sync {
    /// Opens `what`, telling `watch` how far it is and stopping soon after its reader is cancelled.
    ///
    /// # Errors
    /// When it cannot be opened or was cancelled.
    fn open(&self, what: &What, watch: &Watch) -> Result<Vec<Opened>, OpenError>;

    /// What was decided about the analysis before any settings file.
    fn base(&self) -> Params {
        Params::default()
    }

    /// True when `path` leads to something that could be opened.
    fn can_find(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// How far a file is. Shared between the thread that loads it and the window.
#[derive(Debug, Default)]
pub struct Watch {
    /// Rows and tables, told by the reader; also asks it to stop.
    pub reader: Progress,
    bytes: AtomicU64,
    stage: Mutex<&'static str>,
}

impl Watch {
    /// Says what is being done besides reading; empty while reading.
    pub fn stage(&self, text: &'static str) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Says how large the file is.
    pub fn file_bytes(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// How far it is now.
    pub fn snapshot(&self) -> Snapshot {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let table = self.reader.table();
        Snapshot {
            rows_done: self.reader.rows_done(),
            rows_total: self.reader.rows_total(),
            file_bytes: self.bytes.load(Ordering::Relaxed),
            stage: if stage.is_empty() { table } else { stage.to_owned() },
            share: self.reader.fraction(),
        }
    }
}

/// How far a file is at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Rows read.
    pub rows_done: u64,
    /// Rows there are; 0 while unknown.
    pub rows_total: u64,
    /// Size of the file; 0 while unknown.
    pub file_bytes: u64,
    /// The table being read, or what is done besides reading.
    pub stage: String,
    /// Share of the rows read, 0 to 1; `None` while unknown.
    pub share: Option<f32>,
}

/// One file being opened.
#[derive(Debug)]
pub struct Job {
    /// What is opened.
    pub what: What,
    /// How far it is.
    pub watch: Arc<Watch>,
    id: u64,
    started: bool,
    outcome: Option<Result<Vec<Doc>, OpenError>>,
}

impl Job {
    /// True once it is opened or has failed.
    pub fn is_done(&self) -> bool {
        self.outcome.is_some()
    }
}

/// What became of one file of a finished batch.
pub type Outcome = (What, Result<Vec<Doc>, OpenError>);

/// A job's number and what came of it.
type Finished = (u64, Result<Vec<Doc>, OpenError>);

/// Files read at once: each has readers of its own, and what is read stays in memory.
pub const AT_ONCE: usize = 4;

/// Finished jobs that wait for the window at most; others wait on their threads.
const WAITING: usize = 16;

/// All files being opened.
pub struct Jobs {
    opener: Arc<dyn Opener>,
    wake: Wake,
    batches: VecDeque<Vec<Job>>,
    sender: SyncSender<Finished>,
    receiver: Receiver<Finished>,
    next_id: u64,
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").field("batches", &self.batches).finish_non_exhaustive()
    }
}

impl Jobs {
    /// No jobs yet. `wake` is called from the loading threads when something is ready to be polled.
    pub fn new(opener: Arc<dyn Opener>, wake: Wake) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        Self { opener, wake, batches: VecDeque::new(), sender, receiver, next_id: 0 }
    }

    /// True when `path` leads to something that could be opened.
    pub fn can_find(&self, path: &Path) -> bool {
        self.opener.can_find(path)
    }

    /// Starts opening `all` as one batch.
    pub fn start(&mut self, all: Vec<What>) {
        let batch: Vec<Job> = all
            .into_iter()
            .map(|what| {
                self.next_id += 1;
                Job { what, watch: Arc::new(Watch::default()), id: self.next_id, started: false, outcome: None }
            })
            .collect();
        if !batch.is_empty() {
            self.batches.push_back(batch);
        }
        self.start_waiting();
    }

    /// Gives waiting files a thread while there is one to give.
    fn start_waiting(&mut self) {
        let reading = self.running().filter(|job| job.started && !job.is_done()).count();
        let free = AT_ONCE.saturating_sub(reading);
        let (opener, sender, wake) = (&self.opener, &self.sender, &self.wake);
        for job in self.batches.iter_mut().flatten().filter(|job| !job.started).take(free) {
            job.started = true;
            job.outcome = Self::spawn(job, Arc::clone(opener), sender.clone(), wake.clone()).err();
        }
    }

    fn spawn(
        job: &Job,
        opener: Arc<dyn Opener>,
        sender: SyncSender<Finished>,
        wake: Wake,
    ) -> Result<(), Result<Vec<Doc>, OpenError>> {
        let (id, what, watch) = (job.id, job.what.clone(), Arc::clone(&job.watch));
        let work = move || {
            let opened = catch_unwind(AssertUnwindSafe(|| {
                // What other files need of it takes long, too, and is summed up here rather than in a frame.
                let opened = opener.open(&what, &watch)?.into_iter();
                Ok(opened.map(|(trace, analysis)| Doc::new(trace, analysis)).collect())
            }));
            // The receiver is gone when the window closed meanwhile: nothing is left to tell.
            let _ = sender.send((id, opened.unwrap_or_else(|_| Err(stopped_unexpectedly()))));
            wake.call();
        };
        let started = std::thread::Builder::new().name(format!("open {}", job.what.label())).spawn(work);
        started.map(|_| ()).map_err(|error| {
            Err(OpenError::Failed { message: format!("cannot start a thread to open the file: {error}") })
        })
    }

    /// The files of the first batch that is finished, if one is. Never blocks.
    pub fn poll(&mut self) -> Option<Vec<Outcome>> {
        while let Ok((id, outcome)) = self.receiver.try_recv() {
            if let Some(job) = self.batches.iter_mut().flatten().find(|job| job.id == id) {
                job.outcome = Some(outcome);
            }
        }
        self.start_waiting();
        let at = self.batches.iter().position(|batch| batch.iter().all(Job::is_done))?;
        let batch = self.batches.remove(at)?;
        Some(batch.into_iter().filter_map(|job| Some((job.what, job.outcome?))).collect())
    }

    /// Stops everything. Threads end soon after; what they still bring is dropped.
    pub fn cancel(&mut self) {
        for job in self.batches.drain(..).flatten() {
            job.watch.reader.cancel();
        }
    }

    /// The files being opened, in the order of the requests.
    pub fn running(&self) -> impl Iterator<Item = &Job> {
        self.batches.iter().flatten()
    }

    /// True while a file is being opened.
    pub fn is_busy(&self) -> bool {
        !self.batches.is_empty()
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn stopped_unexpectedly() -> OpenError {
    OpenError::Failed {
        message: "opening the file stopped at a programming error; please report it with the file's version and tables"
            .to_owned(),
    }
}
