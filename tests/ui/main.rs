//! The window, driven by real input events and by commands, drawn by the CPU renderer.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bookmarks;
mod chooser;
mod drawings;
mod findings;
mod gaps;
mod guide;
mod harness;
mod job;
mod kernels;
mod lanes;
mod loading;
mod memory;
mod mfu;
mod minimap;
mod navigate;
mod palette;
mod panels;
mod panes;
mod pictures;
mod pipeline;
mod ranges;
mod ranks;
mod screens;
mod search;
mod selection;
mod sharing;
mod shortcuts;
mod stack;
mod tables;
mod traffic;
mod waits;
