//! A simulated training job: an event-driven model of ranks, host threads, streams and collectives.
//!
//! Everything follows from the configuration: a kernel starts when it was submitted, its stream is free and the events
//! it waits for have happened; a collective ends on all ranks together once the last one has arrived. So what was lost,
//! where and why is known ([`Truth`]), which makes the job the fixture of the tests and the source of the demo.
//! It writes exports with the tables of a real nsys version ([`simulate_to_dir`]).
//!
//! Cost: about 3 microseconds per operation with its call, writing included; memory for one step per rank.

mod collective;
mod config;
mod counters;
mod demo;
mod device;
mod engine;
mod gpu;
mod host;
mod job;
mod kernels;
mod loader;
mod presets;
mod program;
mod record;
mod rng;
mod run_settings;
mod schedule;
mod settings;
mod strings;
mod truth;

pub use crate::nsys::write::SchemaVersion;
pub use config::{CudaGraphs, Dtype, Gpu, JobConfig};
pub use demo::Demo;
pub use job::{Job, simulate, simulate_to_dir};
pub use presets::{Preset, bench_config, preset, presets};
pub use record::{Batch, Sink};
pub use truth::{Arrival, CollectiveTruth, Parts, RankTruth, StepTruth, Truth};

use crate::nsys::write::WriteError;
use std::path::PathBuf;

/// Why a job could not be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A field of the configuration is wrong.
    #[error("{field} {why}")]
    Config {
        /// The field, spelled as its key in a file.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A setting could not be read.
    #[error("{setting}: {why}")]
    Setting {
        /// The setting as given.
        setting: String,
        /// What is wrong with it.
        why: String,
    },
    /// The folder cannot be created.
    #[error("cannot create the folder {}: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The settings file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// An export cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
