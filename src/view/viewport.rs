//! Time to pixels and back.

use crate::units::Span;

/// The visible part of the time axis. Stub to be replaced: see the module's owner.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Viewport {
    /// Axis time at the left edge, in nanoseconds.
    pub start_ns: f64,
    /// Visible length in nanoseconds.
    pub len_ns: f64,
}

impl Viewport {
    /// The viewport that shows `span`.
    pub fn of(span: Span) -> Self {
        Self { start_ns: span.start_ns as f64, len_ns: span.len_ns() as f64 }
    }
}
