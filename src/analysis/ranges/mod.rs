//! NVTX ranges on the GPU: what each range ran, and the tree of ranges.

mod launches;
mod nest;
mod projection;

pub use projection::{Attribution, Projected, SameThreadRow, project, same_thread_rows};
