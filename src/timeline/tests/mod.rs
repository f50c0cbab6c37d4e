//! The timeline as a whole, on traces made by hand.

mod drag;
mod hostile;
mod input;
mod layout;
mod pieces;
