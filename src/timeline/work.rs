//! When work is done beside the frame, and how it asks for another one.

use super::cache::Cache;
use crate::task::Wake;
use egui::Context;

/// With more operations than this colours are made, and the same work on two ranks is compared, on a thread.
pub const LARGE: usize = 400_000;

/// Asks for another frame of the window of `ctx`.
pub fn wake(ctx: &Context) -> Wake {
    let ctx = ctx.clone();
    Wake::new(move || ctx.request_repaint())
}

/// Work beside the frame.
#[derive(Debug, Clone)]
pub struct Beside {
    /// Asks for another frame when something is ready.
    wake: Wake,
    /// With more operations than this the frame does not wait.
    large: usize,
}

impl Beside {
    /// What to wake when something is ready that is made of so many operations; `None` when a frame waits for it.
    pub fn wake(&self, ops: usize) -> Option<Wake> {
        (ops > self.large).then(|| self.wake.clone())
    }
}

impl Cache {
    /// From now on what is made of more than `large` operations, as their colours, is made beside the frame; `wake` asks
    /// for another one when it is ready. Without this, as for pictures, a frame waits.
    pub fn work_beside(&mut self, wake: &Wake, large: usize) {
        self.beside.get_or_insert_with(|| Beside { wake: wake.clone(), large });
    }
}
