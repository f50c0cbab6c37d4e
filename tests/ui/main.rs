//! The window, driven by real input events and by commands, drawn by the CPU renderer.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod findings;
mod gaps;
mod guide;
mod harness;
mod job;
mod lanes;
mod loading;
mod mfu;
mod minimap;
mod panels;
mod pictures;
mod ranges;
mod screens;
mod shortcuts;
mod traffic;
