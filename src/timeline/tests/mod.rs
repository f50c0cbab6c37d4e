//! The timeline as a whole, on traces made by hand.

mod input;
mod layout;
mod pieces;
