//! What the user says of a run: model, batch, layout, number format; and what follows from it: FLOPs and peaks.

/// What the user says of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Experiment {}
