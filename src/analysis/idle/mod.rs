//! Idle gaps of a rank and why the GPU was idle in them.

use super::Causes;
use crate::units::Span;

/// The causes of every idle nanosecond of a rank.
#[derive(Debug, Clone, Default)]
pub struct Idle {}

impl Idle {
    /// Idle nanoseconds of `window` by cause.
    pub fn within(&self, _window: Span) -> Causes {
        Causes::default()
    }
}
