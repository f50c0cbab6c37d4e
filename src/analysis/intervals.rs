//! Interval algebra over sorted spans.
