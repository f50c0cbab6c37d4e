//! The timeline as a whole, on traces made by hand.

mod arrange;
mod coloring;
mod counters;
mod drag;
mod hostile;
mod input;
mod job;
mod layout;
mod panes;
mod pieces;
