//! Numbers computed anew for open captures after the user said something else of the run, beside the frame.
//!
//! Only layout, GPUs and micro-batches reach into the numbers of a capture (pipeline bubble, size of communicators);
//! everything else of the settings only changes MFU, which is computed at once.

use super::load::{Opened, Opener};
use crate::analysis::Analysis;
use crate::experiment::{Experiment, Parallel};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// What of the settings the numbers of a capture depend on.
type Relevant = (Parallel, Option<u64>, Option<u64>);

fn relevant(experiment: Option<&Experiment>) -> Relevant {
    let said = experiment.cloned().unwrap_or_default();
    (said.parallel, said.run.gpus, said.batch.micro_batches)
}

/// True when `analysis` would come out otherwise with `experiment`.
pub fn is_stale(analysis: &Analysis, experiment: Option<&Experiment>) -> bool {
    relevant(analysis.experiment.as_ref()) != relevant(experiment)
}

/// Computes numbers anew, one request at a time.
pub struct Again {
    opener: Arc<dyn Opener>,
    wake: Arc<dyn Fn() + Send + Sync>,
    sender: SyncSender<Vec<Opened>>,
    receiver: Receiver<Vec<Opened>>,
    busy: bool,
}

impl std::fmt::Debug for Again {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Again").field("busy", &self.busy).finish_non_exhaustive()
    }
}

impl Again {
    /// Nothing to do yet. `wake` is called when numbers are ready.
    pub fn new(opener: Arc<dyn Opener>, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (sender, receiver) = sync_channel(1);
        Self { opener, wake, sender, receiver, busy: false }
    }

    /// Starts computing `all` anew for `experiment`, unless it is at it already: then ask again after [`Again::poll`].
    pub fn start(&mut self, all: &[Opened], experiment: &Experiment) {
        if self.busy || all.is_empty() {
            return;
        }
        let traces: Vec<_> = all.iter().map(|(trace, _)| Arc::clone(trace)).collect();
        let (opener, wake, sender) = (Arc::clone(&self.opener), Arc::clone(&self.wake), self.sender.clone());
        let experiment = experiment.clone();
        let work = move || {
            let anew = traces.into_iter().map(|trace| {
                let analysis = opener.analyze(&trace, &experiment);
                (trace, Arc::new(analysis))
            });
            // The receiver is gone when the window closed meanwhile.
            let _ = sender.send(anew.collect());
            wake();
        };
        self.busy = std::thread::Builder::new().name("numbers anew".to_owned()).spawn(work).is_ok();
    }

    /// The numbers, once they are ready. Never blocks.
    pub fn poll(&mut self) -> Option<Vec<Opened>> {
        let anew = self.receiver.try_recv().ok()?;
        self.busy = false;
        Some(anew)
    }
}
