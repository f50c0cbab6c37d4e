//! The reports: names, what they show, what they need, and where they differ from NVIDIA's.

use super::Skipped;
use crate::trace::{OpKind, Trace};

/// A report, by NVIDIA's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Report {
    /// `cuda_gpu_kern_sum`.
    CudaGpuKernSum,
    /// `cuda_gpu_mem_time_sum`.
    CudaGpuMemTimeSum,
    /// `cuda_gpu_mem_size_sum`.
    CudaGpuMemSizeSum,
    /// `cuda_api_sum`.
    CudaApiSum,
    /// `cuda_kern_exec_sum`.
    CudaKernExecSum,
    /// `nvtx_sum`.
    NvtxSum,
    /// `nvtx_pushpop_sum`.
    NvtxPushpopSum,
    /// `nvtx_gpu_proj_sum`.
    NvtxGpuProjSum,
    /// `gpu_gaps`.
    GpuGaps,
    /// `gpu_time_util`.
    GpuTimeUtil,
    /// `cuda_api_sync`.
    CudaApiSync,
    /// `cuda_memcpy_async`.
    CudaMemcpyAsync,
    /// `cuda_memcpy_sync`.
    CudaMemcpySync,
}

/// What a report cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Kernels,
    Memory,
    Copies,
    GpuWork,
    Calls,
    Ranges,
}

impl Report {
    /// All reports, in the order they are printed.
    pub const ALL: [Self; 13] = [
        Self::CudaGpuKernSum,
        Self::CudaGpuMemTimeSum,
        Self::CudaGpuMemSizeSum,
        Self::CudaApiSum,
        Self::CudaKernExecSum,
        Self::NvtxSum,
        Self::NvtxPushpopSum,
        Self::NvtxGpuProjSum,
        Self::GpuGaps,
        Self::GpuTimeUtil,
        Self::CudaApiSync,
        Self::CudaMemcpyAsync,
        Self::CudaMemcpySync,
    ];

    /// NVIDIA's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CudaGpuKernSum => "cuda_gpu_kern_sum",
            Self::CudaGpuMemTimeSum => "cuda_gpu_mem_time_sum",
            Self::CudaGpuMemSizeSum => "cuda_gpu_mem_size_sum",
            Self::CudaApiSum => "cuda_api_sum",
            Self::CudaKernExecSum => "cuda_kern_exec_sum",
            Self::NvtxSum => "nvtx_sum",
            Self::NvtxPushpopSum => "nvtx_pushpop_sum",
            Self::NvtxGpuProjSum => "nvtx_gpu_proj_sum",
            Self::GpuGaps => "gpu_gaps",
            Self::GpuTimeUtil => "gpu_time_util",
            Self::CudaApiSync => "cuda_api_sync",
            Self::CudaMemcpyAsync => "cuda_memcpy_async",
            Self::CudaMemcpySync => "cuda_memcpy_sync",
        }
    }

    /// The report called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|report| report.name() == name)
    }

    /// All names in words.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// What it lists.
    pub const fn title(self) -> &'static str {
        match self {
            Self::CudaGpuKernSum => "Kernels by name",
            Self::CudaGpuMemTimeSum => "Copies and fills by time",
            Self::CudaGpuMemSizeSum => "Copies and fills by size",
            Self::CudaApiSum => "CUDA API calls by name",
            Self::CudaKernExecSum => "Kernels with their launches: call, queue and run time",
            Self::NvtxSum => "NVTX ranges by name",
            Self::NvtxPushpopSum => "NVTX push/pop ranges by name",
            Self::NvtxGpuProjSum => "NVTX ranges by name, with the GPU work launched inside them",
            Self::GpuGaps => "Gaps without GPU work, longest first",
            Self::GpuTimeUtil => "Stretches of low GPU use, lowest first",
            Self::CudaApiSync => "Calls that wait for the GPU, longest first",
            Self::CudaMemcpyAsync => "Asynchronous copies of pageable memory, longest first",
            Self::CudaMemcpySync => "Copies that hold up the host, longest first",
        }
    }

    /// Its settings in words.
    pub const fn settings(self) -> &'static str {
        match self {
            Self::CudaGpuKernSum => "it takes base (names without template arguments) and rows=N",
            Self::GpuGaps => "it takes gap=MS (gaps longer than that, 1 ms unless told) and rows=N",
            Self::GpuTimeUtil => "it takes threshold=PERCENT (50 unless told), chunks=N (30 unless told) and rows=N",
            Self::CudaApiSync => "it takes all (driver calls, event waits and blocking copies too) and rows=N",
            _ => "it takes rows=N",
        }
    }

    /// Where the rows or numbers differ from NVIDIA's report of the same name, and why; `None` when they are the same.
    pub const fn differs(self) -> Option<&'static str> {
        match self {
            Self::CudaGpuMemTimeSum | Self::CudaGpuMemSizeSum => Some(
                "Of exports before 2022.2, which lack a table of copy directions, nsys lists no copies; here they are named all \
                 the same.",
            ),
            Self::NvtxSum | Self::NvtxPushpopSum => Some(
                "An open range lasts to the last time in any NVTX event, as in nsys; in the timeline it lasts to the \
                 end of the capture.",
            ),
            Self::NvtxGpuProjSum => Some(
                "As in nsys a range owns what its own thread launched, so a step lacks a backward pass that another \
                 thread launched; `stepscope report` counts the whole process.",
            ),
            Self::GpuGaps => Some(
                "The shortest gap is 1 ms unless gap= says otherwise; nsys lists nothing below 500 ms, longer than a \
                 training step. Blocks of whole CUDA graphs are not looked at, as in nsys.",
            ),
            Self::GpuTimeUtil => Some(
                "Use is the time during which anything ran; nsys adds up concurrent streams and can exceed 100 %. With \
                 rows=N the lowest N are listed; nsys cuts the list before it sorts it.",
            ),
            Self::CudaApiSync => Some(
                "As in nsys only cudaDeviceSynchronize and cudaStreamSynchronize count; cuda_api_sync:all adds event \
                 waits, driver calls and blocking copies.",
            ),
            Self::CudaMemcpyAsync => Some(
                "A copy is joined to the calls of its own process, so it is listed once; nsys repeats it for every \
                 process that used the same correlation id. A copy whose call was not recorded is listed without one; \
                 nsys leaves it out.",
            ),
            Self::CudaMemcpySync => Some(
                "A copy is joined to the calls of its own process, so it is listed once; nsys repeats it for every \
                 process that used the same correlation id.",
            ),
            Self::CudaGpuKernSum | Self::CudaApiSum | Self::CudaKernExecSum => None,
        }
    }

    pub(super) const fn needs(self) -> &'static [Need] {
        match self {
            Self::CudaGpuKernSum => &[Need::Kernels],
            Self::CudaGpuMemTimeSum | Self::CudaGpuMemSizeSum => &[Need::Memory],
            Self::CudaApiSum | Self::CudaApiSync => &[Need::Calls],
            Self::CudaKernExecSum => &[Need::Kernels, Need::Calls],
            Self::NvtxSum | Self::NvtxPushpopSum => &[Need::Ranges],
            Self::NvtxGpuProjSum => &[Need::Ranges, Need::Calls, Need::GpuWork],
            Self::GpuGaps | Self::GpuTimeUtil => &[Need::GpuWork],
            Self::CudaMemcpyAsync | Self::CudaMemcpySync => &[Need::Copies, Need::Calls],
        }
    }
}

impl Need {
    pub(super) fn is_met(self, trace: &Trace) -> bool {
        let any = |keep: fn(&OpKind) -> bool| trace.ranks.iter().any(|rank| rank.ops.kind.iter().any(keep));
        match self {
            Self::Kernels => any(|kind| *kind == OpKind::Kernel),
            Self::Memory => any(|kind| matches!(kind, OpKind::Memcpy(_) | OpKind::Memset)),
            Self::Copies => any(|kind| matches!(kind, OpKind::Memcpy(_))),
            Self::GpuWork => any(|kind| *kind != OpKind::Graph),
            Self::Calls => trace.api_calls() > 0,
            Self::Ranges => trace.nvtx_ranges() > 0,
        }
    }

    pub(super) const fn skipped(self) -> Skipped {
        const CUDA: &str = "record with nsys profile --trace=cuda";
        let (needs, remedy) = match self {
            Self::Kernels => ("kernels, and the capture holds none", CUDA),
            Self::Memory => ("copies or fills, and the capture holds none", CUDA),
            Self::Copies => ("copies, and the capture holds none", CUDA),
            Self::GpuWork => ("kernels, copies or fills, and the capture holds none", CUDA),
            Self::Calls => ("CUDA API calls, and the capture holds none", CUDA),
            Self::Ranges => ("NVTX ranges, and the capture holds none", "record with nsys profile --trace=nvtx"),
        };
        Skipped { needs, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_is_found_by_its_name() {
        for report in Report::ALL {
            assert_eq!(Report::parse(report.name()), Some(report));
        }
        assert_eq!(Report::parse("CUDA_API_SUM"), None);
    }
}
