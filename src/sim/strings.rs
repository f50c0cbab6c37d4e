//! Texts of a job and their numbers, the same in every export it writes.

use super::kernels::Catalog;
use super::program::Label;
use crate::nsys::write::{FIRST_STRING, NcclCall, NcclPayload, NvtxRow, RangeText, StringId};

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
    DeviceSynchronize,
    IsCapturing,
    Malloc,
    Free,
    GraphLaunch,
    LoadModule,
    CondWait,
    Poll,
    Read,
}

const FUNCTIONS: [(Function, &str); 16] = [
    (Function::LaunchKernel, "cudaLaunchKernel_v7000"),
    (Function::LaunchKernelEx, "cudaLaunchKernelExC_v11060"),
    (Function::MemcpyAsync, "cudaMemcpyAsync_v3020"),
    (Function::MemsetAsync, "cudaMemsetAsync_v3020"),
    (Function::EventRecord, "cudaEventRecord_v3020"),
    (Function::StreamWaitEvent, "cudaStreamWaitEvent_v3020"),
    (Function::StreamSynchronize, "cudaStreamSynchronize_v3020"),
    (Function::DeviceSynchronize, "cudaDeviceSynchronize_v3020"),
    (Function::IsCapturing, "cudaStreamIsCapturing_v10000"),
    (Function::Malloc, "cudaMalloc_v3020"),
    (Function::Free, "cudaFree_v3020"),
    (Function::GraphLaunch, "cudaGraphLaunch_v10000"),
    (Function::LoadModule, "cuModuleLoadData"),
    (Function::CondWait, "pthread_cond_wait"),
    (Function::Poll, "poll"),
    (Function::Read, "read"),
];

const NCCL_CALLS: [&str; 6] =
    ["ncclGroupStart", "ncclGroupEnd", "ncclAllReduce", "ncclSend", "ncclRecv", "ncclCommInitRank"];

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

    /// The row of a range that began at `start_ns`. NCCL registers its names and has a domain of its own.
    pub(super) fn range(&self, label: Label, start_ns: i64, global_tid: i64, payloads: bool) -> NvtxRow {
        let payload = |comm: u32, call| {
            let communicator = FIRST_COMMUNICATOR + u64::from(comm);
            payloads.then_some(NcclPayload { communicator, call })
        };
        let (call, payload) = match label {
            Label::GroupStart => (Some(0), None),
            Label::GroupEnd => (Some(1), None),
            Label::AllReduce { comm, bytes } => (Some(2), payload(comm, NcclCall::AllReduce { bytes })),
            Label::Send { comm, bytes, peer } => (Some(3), payload(comm, NcclCall::Send { bytes, peer })),
            Label::Recv { comm, bytes, peer } => (Some(4), payload(comm, NcclCall::Recv { bytes, peer })),
            Label::CommInit { comm, ranks, rank, device } => {
                (Some(5), payload(comm, NcclCall::CommInit { ranks, rank, device }))
            }
            _ => (None, None),
        };
        let (text, domain) = match call {
            Some(call) => (RangeText::Registered(self.first_nccl + call), NCCL_DOMAIN),
            None => (RangeText::Own(text(label).into()), 0),
        };
        NvtxRow { start_ns, end_ns: None, text, global_tid, domain, payload }
    }
}

/// Domain of NCCL's ranges.
pub(super) const NCCL_DOMAIN: i64 = 1;
/// NCCL numbers communicators by a hash; any numbers do that all ranks share.
const FIRST_COMMUNICATOR: u64 = 0x1f4a_8c02_96d3_7000;

/// Text of a range.
fn text(label: Label) -> String {
    let numbered = |name: &str, micro: Option<u32>| micro.map_or_else(|| name.to_owned(), |m| format!("{name} mb {m}"));
    match label {
        Label::Step(number) => format!("step {number}"),
        Label::DataLoader => "dataloader".to_owned(),
        Label::Pipeline { stage, of } => format!("pipeline stage {stage} of {of}"),
        Label::Forward(micro) => numbered("forward", micro),
        Label::Backward(micro) => numbered("backward", micro),
        Label::Layer(layer) => format!("layer {layer}"),
        Label::LayerBackward(layer) => format!("layer {layer} backward"),
        Label::Optimizer => "optimizer".to_owned(),
        // These have registered names.
        Label::GroupStart
        | Label::GroupEnd
        | Label::AllReduce { .. }
        | Label::Send { .. }
        | Label::Recv { .. }
        | Label::CommInit { .. } => String::new(),
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
