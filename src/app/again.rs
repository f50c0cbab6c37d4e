//! Numbers computed anew for open captures after the user said something else of the run or loaded other settings,
//! beside the frame.
//!
//! Kernel classes, thresholds, layout, GPUs and micro-batches reach into the numbers of a capture; everything else of the
//! settings only changes MFU, which is computed at once.

use crate::analysis::{Analysis, Params, Rules, Thresholds, analyze};
use crate::experiment::{Experiment, Parallel};
use crate::settings::RunSettings;
use crate::task::{Task, Wake};
use crate::trace::Trace;
use crate::view::Doc;
use std::sync::Arc;

/// What the user said in this window, in place of what came with the files.
#[derive(Debug, Clone)]
pub struct Said {
    /// Of the run.
    pub experiment: Experiment,
    /// What the settings file says of the run: as loaded or saved last, else as it came with the captures.
    pub in_file: Option<Experiment>,
    /// Kernel classes and thresholds of the settings that were loaded; `None` leaves each capture its own.
    pub judging: Option<(Rules, Thresholds)>,
}

impl Said {
    /// What was typed, with nothing in a file.
    pub const fn typed(experiment: Experiment) -> Self {
        Self { experiment, in_file: None, judging: None }
    }

    /// What `settings` say, behind the kernel classes of `base`.
    pub fn loaded(settings: &RunSettings, base: Params) -> Self {
        let mut params = base;
        settings.apply(&mut params);
        Self {
            experiment: settings.experiment.clone(),
            in_file: Some(settings.experiment.clone()),
            judging: Some((params.rules, params.thresholds)),
        }
    }

    /// What a capture with `analysis` is to be analysed with.
    fn params(&self, analysis: &Analysis, base: &Params) -> Params {
        let judging = self.judging.clone();
        let (rules, thresholds) = judging.unwrap_or_else(|| (analysis.rules.clone(), analysis.thresholds));
        Params { rules, thresholds, steps: base.steps.clone(), experiment: Some(self.experiment.clone()) }
    }
}

/// What of the description of the run the numbers of a capture depend on.
type Relevant = (Parallel, Option<u64>, Option<u64>);

fn relevant(experiment: Option<&Experiment>) -> Relevant {
    let said = experiment.cloned().unwrap_or_default();
    (said.parallel, said.run.gpus, said.batch.micro_batches)
}

/// True when `analysis` would come out otherwise with `params`.
fn is_stale(analysis: &Analysis, params: &Params) -> bool {
    relevant(analysis.experiment.as_ref()) != relevant(params.experiment.as_ref())
        || analysis.thresholds != params.thresholds
        || analysis.rules != params.rules
}

/// Computes numbers anew, one request at a time.
#[derive(Debug)]
pub struct Again {
    wake: Wake,
    task: Option<Task<Vec<Doc>>>,
}

impl Again {
    /// Nothing to do yet. `wake` is called when numbers are ready.
    pub fn new(wake: Wake) -> Self {
        Self { wake, task: None }
    }

    /// True while numbers are computed.
    pub const fn is_busy(&self) -> bool {
        self.task.is_some()
    }

    /// Starts computing those of `all` anew that would come out otherwise with what is `said`, unless it is at it
    /// already: then ask again after [`Again::poll`].
    pub fn start(&mut self, all: &[Doc], said: &Said, base: &Params) {
        let stale = all.iter().map(|doc| (doc, said.params(&doc.analysis, base)));
        let stale = stale.filter(|(doc, params)| is_stale(&doc.analysis, params));
        let stale: Vec<(Arc<Trace>, Params)> = stale.map(|(doc, params)| (Arc::clone(&doc.trace), params)).collect();
        if self.is_busy() || stale.is_empty() {
            return;
        }
        let work = move |_: &dyn Fn() -> bool| {
            let anew = stale.iter().map(|(trace, params)| {
                let analysis = analyze(trace, params);
                Doc::new(Arc::clone(trace), Arc::new(analysis))
            });
            Some(anew.collect())
        };
        self.task = Some(Task::start("numbers anew", Some(self.wake.clone()), work));
    }

    /// The numbers, once they are ready. Never blocks.
    pub fn poll(&mut self) -> Option<Vec<Doc>> {
        match self.task.take()?.take() {
            Ok(anew) => anew,
            Err(task) => {
                self.task = Some(task);
                None
            }
        }
    }
}
