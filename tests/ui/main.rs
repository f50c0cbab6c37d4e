//! The window, driven by real input events and by commands, drawn by the CPU renderer.
#![cfg(feature = "gui")]

mod harness;
mod job;
mod loading;
mod panels;
mod pictures;
mod screens;
mod shortcuts;
