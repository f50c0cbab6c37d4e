//! What a CUDA call does to the queue of GPU work, told by its name.

/// What a CUDA call does to the queue of GPU work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallKind {
    /// Anything not below: launches, events, queries, graphs (instantiation included). Issuing work.
    Issue,
    /// Waits until the GPU is through.
    Synchronize,
    /// Copies memory. Whether it waits is not in its name: copies from pageable memory do.
    Copy,
    /// Allocates, frees, registers or maps memory, or manages a pool of it.
    Allocate,
    /// Loads, links or compiles GPU code.
    LoadModule,
}

/// What calls that manage memory begin with, behind `cuda` or `cu`.
const ALLOCATING: &[&str] = &[
    "Malloc",
    "Free",
    "Host",
    "MemAlloc",
    "MemFree",
    "MemHost",
    "MemCreate",
    "MemRelease",
    "MemMap",
    "MemUnmap",
    "MemAddress",
    "MemSetAccess",
    "ArrayCreate",
    "Array3DCreate",
    "ArrayDestroy",
];

/// What calls that load or link code begin with, behind `cuda` or `cu`.
const LOADING: &[&str] = &["Module", "Library", "Link"];

impl CallKind {
    /// The kind of the runtime or driver call `name`, with or without its ABI suffix (`cudaFree_v3020`, `cuMemFree_v2`).
    pub fn of(name: &str) -> Self {
        let Some(what) = name.strip_prefix("cuda").or_else(|| name.strip_prefix("cu")) else { return Self::Issue };
        let begins = |words: &[&str]| words.iter().any(|word| what.starts_with(word));
        if what.contains("Synchronize") {
            Self::Synchronize
        } else if begins(LOADING) {
            Self::LoadModule
        } else if begins(ALLOCATING) || what.contains("MemPool") {
            Self::Allocate
        } else if what.contains("Memcpy") && !what.starts_with("Graph") {
            Self::Copy
        } else {
            Self::Issue
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_both_apis_and_all_versions_are_told_by_name() {
        let cases: &[(CallKind, &[&str])] = &[
            (
                CallKind::Synchronize,
                &["cudaStreamSynchronize_v3020", "cudaDeviceSynchronize", "cuCtxSynchronize", "cuEventSynchronize"],
            ),
            (
                CallKind::Allocate,
                &[
                    "cudaMalloc_v3020",
                    "cudaMallocAsync_v11020",
                    "cudaMallocHost_v3020",
                    "cudaFree_v3020",
                    "cudaFreeAsync_ptsz_v11020",
                    "cudaHostAlloc_v3020",
                    "cudaHostRegister_v4000",
                    "cuMemAlloc_v2",
                    "cuMemFree_v2",
                    "cuMemHostAlloc",
                    "cuMemPoolTrimTo",
                    "cudaMemPoolSetAttribute",
                    "cuDeviceGetDefaultMemPool",
                    "cuMemAddressReserve",
                ],
            ),
            (
                CallKind::LoadModule,
                &[
                    "cuModuleLoadData",
                    "cuModuleLoadDataEx",
                    "cuLibraryLoadData",
                    "cuLinkCreate_v2",
                    "cudaLibraryLoadData",
                ],
            ),
            (CallKind::Copy, &["cudaMemcpyAsync_v3020", "cudaMemcpy_v3020", "cuMemcpyDtoH_v2", "cudaMemcpy2DAsync"]),
            (
                CallKind::Issue,
                &[
                    "cudaLaunchKernel_v7000",
                    "cuLaunchKernelEx",
                    "cudaGraphInstantiate_v12000",
                    "cudaGraphLaunch_v10000",
                    "cudaGraphAddMemcpyNode",
                    "cudaLaunchHostFunc",
                    "cudaStreamWaitEvent",
                    "cudaMemsetAsync_v3020",
                    "cudaEventQuery",
                    "cublasCreate",
                    "Synchronize all",
                    "",
                ],
            ),
        ];
        for (kind, names) in cases {
            for name in *names {
                assert_eq!(CallKind::of(name), *kind, "{name}");
            }
        }
    }
}
