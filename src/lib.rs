//! stepscope shows where a training step went.
//!
//! It opens the SQLite exports of Nsight Systems, splits every rank's time into compute, overlapped and exposed
//! communication, copies and idle time, and shows the result as lanes in a window, as text and as JSON.
//!
//! # Map
//!
//! | module | what it is | may use |
//! | --- | --- | --- |
//! | [`units`] | spans of time | nothing |
//! | [`task`] | work that is done once, beside the frame | nothing |
//! | [`mod@format`] | the one place that turns numbers into text | `units` |
//! | [`trace`] | the model: columns, names, ranks; immutable once built | `units` |
//! | [`nsys`] | the only place that knows SQLite and the names of nsys tables | `trace`, `format` |
//! | [`sim`] | a simulated training job that writes nsys-schema exports | `nsys` (writer), `units` |
//! | [`experiment`] | what the user says of the run; FLOPs and peaks | `units` |
//! | [`record`] | how to record: the nsys command, its options, code for the loop | `format` |
//! | [`analysis`] | pure functions from a trace to numbers | `trace`, `experiment`, `record` |
//! | [`job`] | several ranks of one job: clock, matched collectives, waits, stragglers | `analysis`, `trace` |
//! | [`settings`] | the settings file: reads and writes it | `analysis`, `experiment` |
//! | [`stats`] | summary tables with NVIDIA's names and meanings | `trace`, `analysis` |
//! | [`report`] | numbers to text, JSON and documents; no arithmetic | `analysis`, `stats`, `format` |
//! | [`view`] | what the window shows and the commands that change it; no egui | `analysis`, `experiment`, `trace` |
//! | `timeline` | lanes: level of detail, layout, painting (egui) | `view`, `report` (sentences) |
//! | `raster` | egui output to pixels on the CPU | egui only |
//! | `app` | the window: panels, menus, loading | all but `cli` |
//! | [`cli`] | the command line | all |
//!
//! Nothing depends on `app` but `cli`, and nothing depends on `cli`. `tests/boundaries.rs` enforces this.

pub mod analysis;
pub mod cli;
pub mod experiment;
pub mod format;
pub mod job;
pub mod nsys;
pub mod record;
pub mod report;
pub mod settings;
pub mod sim;
pub mod stats;
pub mod task;
pub mod trace;
pub mod units;
pub mod view;

#[cfg(feature = "gui")]
pub mod app;
#[cfg(feature = "gui")]
pub mod raster;
#[cfg(feature = "gui")]
pub mod timeline;
