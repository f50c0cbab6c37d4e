//! What an export says about the capture itself: processes, threads, devices, clocks, versions, enumerations.

use super::{ExportWriter, NcclCall, SchemaVersion, WriteError};
use crate::format;

/// A card of the machine.
#[derive(Debug, Clone)]
pub struct GpuInfo {
    /// Row number in the export; not the CUDA ordinal.
    pub id: i64,
    /// CUDA ordinal.
    pub ordinal: i64,
    /// Model.
    pub name: String,
    /// Chip.
    pub chip: String,
    /// Memory in bytes.
    pub memory_bytes: i64,
    /// Memory bandwidth in bytes per second.
    pub bandwidth_bytes_per_s: i64,
    /// Clock in hertz.
    pub clock_hz: i64,
    /// Level-2 cache in bytes.
    pub l2_bytes: i64,
    /// Streaming multiprocessors.
    pub sm_count: i64,
    /// Compute capability.
    pub capability: (i64, i64),
}

/// A stream of a process.
#[derive(Debug, Clone, Copy)]
pub struct StreamInfo {
    /// Id within the process.
    pub id: i64,
    /// Priority; smaller is more urgent.
    pub priority: i64,
    /// True for the null stream.
    pub is_null: bool,
}

/// A thread of a process.
#[derive(Debug, Clone)]
pub struct ThreadInfo {
    /// As nsys packs it.
    pub global_tid: i64,
    /// Name.
    pub name: String,
}

/// A process that ran GPU work.
#[derive(Debug, Clone)]
pub struct ProcessInfo {
    /// As nsys packs it.
    pub global_pid: i64,
    /// Process id.
    pub pid: i64,
    /// Program.
    pub name: String,
    /// CUDA ordinal it used.
    pub device: i64,
    /// Its context.
    pub context: i64,
    /// Its streams.
    pub streams: Vec<StreamInfo>,
    /// Its threads.
    pub threads: Vec<ThreadInfo>,
}

/// Everything about a capture besides its events.
#[derive(Debug, Clone)]
pub struct CaptureInfo {
    /// Wall clock of time 0 in nanoseconds since 1970 UTC.
    pub utc_epoch_ns: i64,
    /// Length of the capture in nanoseconds.
    pub duration_ns: i64,
    /// Host name.
    pub host: String,
    /// Cards of the machine.
    pub gpus: Vec<GpuInfo>,
    /// Processes.
    pub processes: Vec<ProcessInfo>,
    /// Environment variables recorded for the launched process, as `NAME=value`.
    pub environment: Vec<String>,
    /// The domain whose ranges carry NCCL's payloads.
    pub payload_domain: Option<i64>,
    /// True when the nodes of CUDA graphs were recorded, false for one block per execution.
    pub graph_nodes: bool,
}

/// The virtual machine that every id of one export carries in its upper bits.
pub(super) const GLOBAL_VM: i64 = 1 << 48;

pub(super) fn write(to: &mut ExportWriter, info: &CaptureInfo) -> Result<(), WriteError> {
    processes(to, info)?;
    for gpu in &info.gpus {
        write_gpu(to, gpu)?;
    }
    if let Some(domain) = info.payload_domain.filter(|_| to.version >= SchemaVersion::V2026_2) {
        // nsys repeats the layouts once per process.
        info.processes.iter().try_for_each(|_| payload_layouts(to, domain))?;
    }
    clocks(to, info)?;
    metadata(to, info)?;
    enumerations(to)
}

fn processes(to: &mut ExportWriter, info: &CaptureInfo) -> Result<(), WriteError> {
    let modern = to.version >= SchemaVersion::V2023_4;
    for p in &info.processes {
        to.insert("PROCESSES", &[("globalPid", &p.global_pid), ("pid", &p.pid), ("name", &p.name)])?;
        for thread in &p.threads {
            let name = to.string(&thread.name);
            to.insert("ThreadNames", &[("nameId", &name), ("priority", &20), ("globalTid", &thread.global_tid)])?;
        }
        for s in &p.streams {
            let flag = if s.is_null { 3 } else { 2 };
            to.insert(
                "TARGET_INFO_CUDA_STREAM",
                &[
                    ("streamId", &s.id),
                    ("hwId", &0),
                    ("vmId", &1),
                    ("processId", &p.pid),
                    ("contextId", &p.context),
                    ("priority", &s.priority),
                    ("flag", &flag),
                ],
            )?;
        }
        let null = p.streams.iter().find(|s| s.is_null).map_or(0, |s| s.id);
        let (table, column) = if modern {
            ("TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId")
        } else {
            ("TARGET_INFO_CUDA_NULL_STREAM", "streamId")
        };
        to.insert(
            table,
            &[
                (column, &null),
                ("hwId", &0),
                ("vmId", &1),
                ("processId", &p.pid),
                ("deviceId", &p.device),
                ("contextId", &p.context),
            ],
        )?;
        if to.version >= SchemaVersion::V2026_2 {
            // Every card is visible to every process, so each gets one row per card.
            for gpu in &info.gpus {
                to.insert(
                    "TARGET_INFO_CUDA_DEVICE",
                    &[
                        ("gpuId", &gpu.id),
                        ("cudaId", &gpu.ordinal),
                        ("pid", &p.pid),
                        ("numMultiprocessors", &gpu.sm_count),
                    ],
                )?;
            }
        }
    }
    Ok(())
}

fn write_gpu(to: &mut ExportWriter, gpu: &GpuInfo) -> Result<(), WriteError> {
    let bus = format!("0000:{:02x}:00.0", 3 + gpu.id * 64);
    let uuid = format!("{:08x}-0000-4000-8000-{:012x}", 0x5eed_0000 + gpu.id, gpu.ordinal);
    to.insert(
        "TARGET_INFO_GPU",
        &[
            ("vmId", &GLOBAL_VM),
            ("id", &gpu.id),
            ("name", &gpu.name),
            ("busLocation", &bus),
            ("isDiscrete", &1),
            ("l2CacheSize", &gpu.l2_bytes),
            ("totalMemory", &gpu.memory_bytes),
            ("memoryBandwidth", &gpu.bandwidth_bytes_per_s),
            ("clockRate", &gpu.clock_hz),
            ("smCount", &gpu.sm_count),
            ("pwGpuId", &gpu.id),
            ("uuid", &uuid),
            ("chipName", &gpu.chip),
            ("cuDevice", &gpu.ordinal),
            ("maxRegistersPerSm", &65_536),
            ("threadsPerWarp", &32),
            ("maxWarpsPerSm", &64),
            ("maxBlocksPerSm", &32),
            ("maxThreadsPerBlock", &1024),
            ("computeMajor", &gpu.capability.0),
            ("computeMinor", &gpu.capability.1),
            ("smMajor", &gpu.capability.0),
            ("smMinor", &gpu.capability.1),
        ],
    )
}

fn payload_layouts(to: &mut ExportWriter, domain: i64) -> Result<(), WriteError> {
    for (schema, entries) in NcclCall::LAYOUTS {
        let count = entries.len() as i64;
        to.insert(
            "NVTX_PAYLOAD_SCHEMAS",
            &[("domainId", &domain), ("schemaId", &schema), ("type", &1), ("numEntries", &count), ("payloadSize", &24)],
        )?;
        for (index, (name, kind, offset)) in entries.iter().enumerate() {
            // The first value needs no place.
            let (index, offset) = (index as i64, (*offset > 0).then_some(*offset));
            to.insert(
                "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                &[
                    ("domainId", &domain),
                    ("schemaId", &schema),
                    ("idx", &index),
                    ("type", kind),
                    ("name", name),
                    ("offset", &offset),
                ],
            )?;
        }
    }
    Ok(())
}

fn clocks(to: &mut ExportWriter, info: &CaptureInfo) -> Result<(), WriteError> {
    let time = utc_text(info.utc_epoch_ns);
    to.insert(
        "TARGET_INFO_SESSION_START_TIME",
        &[("utcEpochNs", &info.utc_epoch_ns), ("utcTime", &time), ("localTime", &time), ("systemClockNs", &0)],
    )?;
    to.insert(
        "ANALYSIS_DETAILS",
        &[
            ("globalVid", &GLOBAL_VM),
            ("duration", &info.duration_ns),
            ("startTime", &0),
            ("stopTime", &info.duration_ns),
        ],
    )
}

fn metadata(to: &mut ExportWriter, info: &CaptureInfo) -> Result<(), WriteError> {
    for (number, name, value) in
        [(0, "Hostname", &*info.host), (3, "CpuArchitecture", "x86_64"), (611, "CudaDriverVersion", "12040")]
    {
        to.insert(
            "TARGET_INFO_SYSTEM_ENV",
            &[
                ("globalVid", &GLOBAL_VM),
                ("devStateName", &"Local (CLI)"),
                ("name", &name),
                ("nameEnum", &number),
                ("value", &value),
            ],
        )?;
    }
    let [major, minor, micro] = to.version.schema().map(|n| n.to_string());
    let export = [
        ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems".to_owned()),
        ("EXPORT_PRODUCT_VERSION", to.version.product().to_owned()),
        ("EXPORT_PRODUCT_DATE", to.version.text().to_owned()),
        ("EXPORT_SCHEMA_VERSION", format!("{major}.{minor}.{micro}")),
        ("EXPORT_SCHEMA_VERSION_MAJOR", major),
        ("EXPORT_SCHEMA_VERSION_MINOR", minor),
        ("EXPORT_SCHEMA_VERSION_MICRO", micro),
        ("EXPORT_PLATFORM", "linux-desktop".to_owned()),
        ("EXPORT_ARCH", "x64".to_owned()),
        ("EXPORT_TIME_UTC", utc_text(info.utc_epoch_ns)),
        ("EXPORT_PARAM_LAZY", "true".to_owned()),
        ("EXPORT_PARAM_TIME_NORMALIZE", "false".to_owned()),
        ("EXPORT_PARAM_TIME_SHIFT", "0".to_owned()),
        ("SIMULATED", "true".to_owned()),
    ];
    let modern = to.version >= SchemaVersion::V2023_4;
    let table = if modern { "META_DATA_EXPORT" } else { "EXPORT_META_DATA" };
    for (name, value) in &export {
        to.insert(table, &[("name", name), ("value", value)])?;
    }
    if modern {
        let key = if to.version >= SchemaVersion::V2026_2 {
            "CUDA_GRAPH_TRACE_OPTIONS:MODE"
        } else {
            "PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE"
        };
        let mode = if info.graph_nodes { "Node" } else { "Graph" };
        to.insert("META_DATA_CAPTURE", &[("name", &key), ("value", &mode)])?;
        to.insert("META_DATA_CAPTURE", &[("name", &"DEVICE_DISPLAY_NAME"), ("value", &info.host)])?;
        for variable in &info.environment {
            to.insert("META_DATA_CAPTURE", &[("name", &"PROCESS_0:ENVIRONMENT_VARIABLE"), ("value", variable)])?;
        }
    }
    Ok(())
}

fn enumerations(to: &mut ExportWriter) -> Result<(), WriteError> {
    let launch = if to.version >= SchemaVersion::V2023_4 {
        "ENUM_CUDA_KERNEL_LAUNCH_TYPE"
    } else {
        "ENUM_CUDA_KRENEL_LAUNCH_TYPE"
    };
    for (table, rows) in [
        ("ENUM_NSYS_EVENT_TYPE", EVENT_TYPES),
        ("ENUM_NSYS_EVENT_CLASS", EVENT_CLASSES),
        ("ENUM_CUDA_MEMCPY_OPER", COPY_KINDS),
        ("ENUM_CUDA_MEM_KIND", MEMORY_KINDS),
        (launch, LAUNCH_TYPES),
        ("ENUM_CUPTI_SYNC_TYPE", SYNC_TYPES),
    ] {
        for (id, name, label) in rows {
            to.insert(table, &[("id", id), ("name", name), ("label", label)])?;
        }
    }
    Ok(())
}

/// A wall clock as nsys spells it: `2025-06-15T15:06:40`.
fn utc_text(epoch_ns: i64) -> String {
    format::utc(epoch_ns).trim_end_matches(" UTC").replacen(' ', "T", 1)
}

type EnumRow = (i64, &'static str, &'static str);

const EVENT_TYPES: &[EnumRow] = &[
    (33, "NvtxCategory", "NvtxCategory"),
    (34, "NvtxMark", "NvtxMark"),
    (39, "NvtxThread", "NvtxThread"),
    (59, "NvtxPushPopRange", "NvtxPushPopRange"),
    (60, "NvtxStartEndRange", "NvtxStartEndRange"),
    (75, "NvtxDomainCreate", "NvtxDomainCreate"),
    (76, "NvtxDomainDestroy", "NvtxDomainDestroy"),
    (79, "CudaDeviceKernel", "CudaDeviceKernel"),
    (106, "CudaSyncEvent", "CudaSyncEvent"),
    (127, "CudaEventRecord", "CudaEventRecord"),
];
const EVENT_CLASSES: &[EnumRow] = &[
    (0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"),
    (1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"),
    (27, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime"),
];
const COPY_KINDS: &[EnumRow] = &[
    (0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"),
    (1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"),
    (2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"),
    (8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"),
    (9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"),
    (10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"),
];
const MEMORY_KINDS: &[EnumRow] = &[
    (0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"),
    (1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"),
    (2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"),
    (3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"),
    (4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"),
];
const LAUNCH_TYPES: &[EnumRow] = &[
    (0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"),
    (1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"),
    (2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"),
];
const SYNC_TYPES: &[EnumRow] = &[
    (0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"),
    (1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"),
    (2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"),
    (3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"),
    (4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"),
];

#[cfg(test)]
mod tests {
    use super::utc_text;

    #[test]
    fn wall_clocks_become_calendar_dates() {
        assert_eq!(utc_text(0), "1970-01-01T00:00:00");
        assert_eq!(utc_text(1_668_125_677_736_728_256), "2022-11-11T00:14:37");
        assert_eq!(utc_text(1_709_210_096_000_000_000), "2024-02-29T12:34:56");
    }
}
