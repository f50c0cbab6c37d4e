//! Texts of a job and their numbers, the same in every export it writes.

use super::kernels::Catalog;
use crate::nsys::write::{FIRST_STRING, StringId};

/// CUDA API calls and OS functions, as exports name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    LaunchKernel,
    LaunchKernelEx,
    MemcpyAsync,
    MemsetAsync,
    EventRecord,
    StreamWaitEvent,
    StreamSynchronize,
    IsCapturing,
    Malloc,
    Free,
    GraphLaunch,
    LoadModule,
    CondWait,
    Poll,
    Read,
}

const FUNCTIONS: [(Function, &str); 15] = [
    (Function::LaunchKernel, "cudaLaunchKernel_v7000"),
    (Function::LaunchKernelEx, "cudaLaunchKernelExC_v11060"),
    (Function::MemcpyAsync, "cudaMemcpyAsync_v3020"),
    (Function::MemsetAsync, "cudaMemsetAsync_v3020"),
    (Function::EventRecord, "cudaEventRecord_v3020"),
    (Function::StreamWaitEvent, "cudaStreamWaitEvent_v3020"),
    (Function::StreamSynchronize, "cudaStreamSynchronize_v3020"),
    (Function::IsCapturing, "cudaStreamIsCapturing_v10000"),
    (Function::Malloc, "cudaMalloc_v3020"),
    (Function::Free, "cudaFree_v3020"),
    (Function::GraphLaunch, "cudaGraphLaunch_v10000"),
    (Function::LoadModule, "cuModuleLoadData"),
    (Function::CondWait, "pthread_cond_wait"),
    (Function::Poll, "poll"),
    (Function::Read, "read"),
];

const NCCL_CALLS: [&str; 5] = ["ncclGroupStart", "ncclGroupEnd", "ncclAllReduce", "ncclSend", "ncclRecv"];

/// The texts.
#[derive(Debug)]
pub(super) struct Strings {
    /// In the order of their numbers.
    pub(super) texts: Vec<String>,
    /// Short and full name of each kernel.
    pub(super) kernels: Vec<(StringId, StringId)>,
    first_nccl: StringId,
}

impl Strings {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let mut texts: Vec<String> = FUNCTIONS.iter().map(|(_, name)| (*name).to_owned()).collect();
        let first_nccl = FIRST_STRING + texts.len() as StringId;
        texts.extend(NCCL_CALLS.map(str::to_owned));
        let mut number = |text: &String| {
            let at = texts.iter().position(|known| known == text).unwrap_or_else(|| {
                texts.push(text.clone());
                texts.len() - 1
            });
            FIRST_STRING + at as StringId
        };
        let kernels = catalog.kernels.iter().map(|k| (number(&k.short), number(&k.demangled))).collect();
        Self { texts, kernels, first_nccl }
    }

    pub(super) const fn function(function: Function) -> StringId {
        FIRST_STRING + function as StringId
    }

    /// The registered name of an NCCL call, by its place in the order group start, group end, all-reduce, send, receive.
    pub(super) const fn nccl(&self, call: usize) -> StringId {
        self.first_nccl + call as StringId
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_numbered_in_the_order_of_their_declaration() {
        assert!(FUNCTIONS.iter().enumerate().all(|(at, (function, _))| *function as usize == at));
    }
}
