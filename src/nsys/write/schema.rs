//! Tables and columns of an export, by the version of nsys that writes them.
//!
//! Only what a training job fills is listed: an export is lazy, it holds the tables that have rows.

use serde::{Deserialize, Serialize};

/// The version of nsys whose tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum SchemaVersion {
    /// nsys 2022.4, schema 3.0: one metadata table, no green contexts.
    #[serde(rename = "2022.4")]
    V2022_4,
    /// nsys 2023.4, schema 3.7: capture and export metadata apart, green contexts.
    #[serde(rename = "2023.4")]
    V2023_4,
    /// nsys 2026.2, schema 3.25: graph executions, clusters, CUDA devices per process.
    #[default]
    #[serde(rename = "2026.2")]
    V2026_2,
}

impl SchemaVersion {
    /// All versions, oldest first.
    pub const ALL: [Self; 3] = [Self::V2022_4, Self::V2023_4, Self::V2026_2];

    /// The version as people name it, such as `2023.4`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::V2022_4 => "2022.4",
            Self::V2023_4 => "2023.4",
            Self::V2026_2 => "2026.2",
        }
    }

    /// Full version of the program, as its metadata states it.
    pub(super) const fn product(self) -> &'static str {
        match self {
            Self::V2022_4 => "2022.4.2.1",
            Self::V2023_4 => "2023.4.4.54",
            Self::V2026_2 => "2026.2.1.210",
        }
    }

    /// Version of the schema: major, minor, micro.
    pub(super) const fn schema(self) -> [u8; 3] {
        match self {
            Self::V2022_4 => [3, 0, 0],
            Self::V2023_4 => [3, 7, 2],
            Self::V2026_2 => [3, 25, 0],
        }
    }

    /// True when graph executions can be recorded as one block.
    pub const fn has_graph_blocks(self) -> bool {
        matches!(self, Self::V2026_2)
    }
}

/// A table: its name and columns in the order of the newest version.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    columns: &'static [Column],
}

/// A column: name, declaration, and the first version that has it.
#[derive(Debug, Clone, Copy)]
struct Column(&'static str, &'static str, SchemaVersion);

impl Table {
    /// True when `version` has the column.
    pub(super) fn has(&self, version: SchemaVersion, column: &str) -> bool {
        self.columns.iter().any(|Column(name, _, since)| *name == column && *since <= version)
    }

    /// True when `version` has the table.
    pub(super) fn exists(&self, version: SchemaVersion) -> bool {
        self.columns.iter().any(|c| c.2 <= version)
    }

    /// The statement that creates the table as `version` does.
    pub(super) fn create(&self, version: SchemaVersion) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .filter(|c| c.2 <= version)
            .map(|Column(name, decl, _)| format!("    {name:<27} {decl}"))
            .collect();
        format!("CREATE TABLE {} (\n{}\n)", self.name, columns.join(",\n"))
    }
}

/// The table called `name`.
pub(super) fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|t| t.name == name)
}

const V1: SchemaVersion = SchemaVersion::V2022_4;
const V2: SchemaVersion = SchemaVersion::V2023_4;
const V3: SchemaVersion = SchemaVersion::V2026_2;

/// Must hold a value.
const INT: &str = "INTEGER NOT NULL";
/// May be null.
const INT0: &str = "INTEGER";
const TEXT: &str = "TEXT NOT NULL";
const TEXT0: &str = "TEXT";
const REAL0: &str = "REAL";
const KEY: &str = "INTEGER NOT NULL PRIMARY KEY";
const NAME: &str = "INTEGER NOT NULL REFERENCES StringIds(id)";

/// Columns that every enumeration has.
const ENUM: &[Column] = &[Column("id", KEY, V1), Column("name", TEXT0, V1), Column("label", TEXT0, V1)];
/// Columns that every metadata table has.
const META: &[Column] = &[Column("name", TEXT, V1), Column("value", TEXT0, V1)];

macro_rules! table {
    ($name:literal, $($column:literal $decl:ident $since:ident),+ $(,)?) => {
        Table { name: $name, columns: &[$(Column($column, $decl, $since)),+] }
    };
}

#[rustfmt::skip]
static TABLES: &[Table] = &[
    table!("StringIds", "id" KEY V1, "value" TEXT V1),
    table!("ThreadNames", "nameId" NAME V1, "priority" INT0 V1, "globalTid" INT0 V1),
    table!("PROCESSES", "globalPid" INT0 V1, "pid" INT0 V1, "name" TEXT0 V1),
    table!("TARGET_INFO_SYSTEM_ENV", "globalVid" INT0 V1, "devStateName" TEXT V1, "name" TEXT V1, "nameEnum" INT V1, "value" TEXT V1),
    table!("TARGET_INFO_SESSION_START_TIME", "utcEpochNs" INT0 V1, "utcTime" TEXT0 V1, "localTime" TEXT0 V1, "systemClockNs" INT0 V3),
    table!("ANALYSIS_DETAILS", "globalVid" INT V1, "duration" INT V1, "startTime" INT V1, "stopTime" INT V1),
    table!("TARGET_INFO_GPU",
        "vmId" INT V1, "id" INT V1, "name" TEXT0 V1, "busLocation" TEXT0 V1, "isDiscrete" INT0 V1, "l2CacheSize" INT0 V1,
        "totalMemory" INT0 V1, "memoryBandwidth" INT0 V1, "clockRate" INT0 V1, "smCount" INT0 V1, "pwGpuId" INT0 V1, "uuid" TEXT0 V1,
        "luid" INT0 V1, "chipName" TEXT0 V1, "cuDevice" INT0 V1, "ctxswDevPath" TEXT0 V1, "ctrlDevPath" TEXT0 V1, "revision" INT0 V1,
        "nodeMask" INT0 V1, "constantMemory" INT0 V1, "maxIPC" INT0 V1, "maxRegistersPerBlock" INT0 V1, "maxShmemPerBlock" INT0 V1,
        "maxShmemPerBlockOptin" INT0 V1, "maxShmemPerSm" INT0 V1, "maxRegistersPerSm" INT0 V1, "threadsPerWarp" INT0 V1,
        "asyncEngines" INT0 V1, "maxWarpsPerSm" INT0 V1, "maxBlocksPerSm" INT0 V1, "maxThreadsPerBlock" INT0 V1,
        "maxBlockDimX" INT0 V1, "maxBlockDimY" INT0 V1, "maxBlockDimZ" INT0 V1, "maxGridDimX" INT0 V1, "maxGridDimY" INT0 V1,
        "maxGridDimZ" INT0 V1, "computeMajor" INT0 V1, "computeMinor" INT0 V1, "smMajor" INT0 V1, "smMinor" INT0 V1),
    table!("TARGET_INFO_CUDA_DEVICE", "gpuId" INT0 V3, "cudaId" INT V3, "pid" INT V3, "uuid" TEXT0 V3, "numMultiprocessors" INT0 V3),
    table!("TARGET_INFO_CUDA_NULL_STREAM",
        "streamId" INT V1, "hwId" INT V1, "vmId" INT V1, "processId" INT V1, "deviceId" INT V1, "contextId" INT V1),
    table!("TARGET_INFO_CUDA_CONTEXT_INFO",
        "nullStreamId" INT V2, "hwId" INT V2, "vmId" INT V2, "processId" INT V2, "deviceId" INT V2, "contextId" INT V2,
        "parentContextId" INT0 V2, "isGreenContext" INT0 V2, "numMultiprocessors" INT0 V3),
    table!("TARGET_INFO_CUDA_STREAM",
        "streamId" INT V1, "hwId" INT V1, "vmId" INT V1, "processId" INT V1, "contextId" INT V1, "priority" INT V1, "flag" INT V1),
    table!("NVTX_EVENTS",
        "start" INT V1, "end" INT0 V1, "eventType" INT V1, "rangeId" INT0 V1, "category" INT0 V1, "color" INT0 V1, "text" TEXT0 V1,
        "globalTid" INT0 V1, "endGlobalTid" INT0 V1, "textId" INT0 V1, "domainId" INT0 V1, "uint64Value" INT0 V1, "int64Value" INT0 V1,
        "doubleValue" REAL0 V1, "uint32Value" INT0 V1, "int32Value" INT0 V1, "floatValue" REAL0 V1, "jsonTextId" INT0 V1,
        "jsonText" TEXT0 V1, "binaryData" TEXT0 V3),
    table!("CUPTI_ACTIVITY_KIND_KERNEL",
        "start" INT V1, "end" INT V1, "deviceId" INT V1, "contextId" INT V1, "greenContextId" INT0 V2, "streamId" INT V1,
        "correlationId" INT0 V1, "globalPid" INT0 V1, "demangledName" NAME V1, "shortName" NAME V1, "mangledName" INT0 V1,
        "launchType" INT0 V1, "cacheConfig" INT0 V1, "registersPerThread" INT V1, "gridX" INT V1, "gridY" INT V1, "gridZ" INT V1,
        "blockX" INT V1, "blockY" INT V1, "blockZ" INT V1, "staticSharedMemory" INT V1, "dynamicSharedMemory" INT V1,
        "localMemoryPerThread" INT V1, "localMemoryTotal" INT V1, "gridId" INT V1, "sharedMemoryExecuted" INT0 V1, "graphNodeId" INT0 V1,
        "sharedMemoryLimitConfig" INT0 V1, "qmdBulkReleaseDone" INT0 V3, "qmdPreexitDone" INT0 V3, "qmdLastCtaDone" INT0 V3,
        "graphId" INT0 V3, "clusterX" INT0 V3, "clusterY" INT0 V3, "clusterZ" INT0 V3, "clusterSchedulingPolicy" INT0 V3,
        "maxPotentialClusterSize" INT0 V3, "maxActiveClusters" INT0 V3, "sharedMemoryRequestedPercentage" INT0 V3,
        "tensorSizeMinusOneElements" TEXT V3),
    table!("CUPTI_ACTIVITY_KIND_RUNTIME",
        "start" INT V1, "end" INT V1, "eventClass" INT V1, "globalTid" INT0 V1, "correlationId" INT0 V1, "nameId" NAME V1,
        "returnValue" INT V1, "callchainId" INT0 V1),
    table!("CUPTI_ACTIVITY_KIND_MEMCPY",
        "start" INT V1, "end" INT V1, "deviceId" INT V1, "contextId" INT V1, "greenContextId" INT0 V2, "streamId" INT V1,
        "correlationId" INT0 V1, "globalPid" INT0 V1, "bytes" INT V1, "copyKind" INT V1, "deprecatedSrcId" INT0 V1, "srcKind" INT0 V1,
        "dstKind" INT0 V1, "srcDeviceId" INT0 V1, "srcContextId" INT0 V1, "dstDeviceId" INT0 V1, "dstContextId" INT0 V1,
        "migrationCause" INT0 V1, "graphNodeId" INT0 V1, "virtualAddress" INT0 V1, "copyCount" INT0 V3),
    table!("CUPTI_ACTIVITY_KIND_MEMSET",
        "start" INT V1, "end" INT V1, "deviceId" INT V1, "contextId" INT V1, "greenContextId" INT0 V2, "streamId" INT V1,
        "correlationId" INT0 V1, "globalPid" INT0 V1, "value" INT V1, "bytes" INT V1, "graphNodeId" INT0 V1, "memKind" INT0 V1),
    table!("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "start" INT V1, "end" INT V1, "deviceId" INT V1, "contextId" INT V1, "greenContextId" INT0 V2, "streamId" INT V1,
        "correlationId" INT0 V1, "globalPid" INT0 V1, "deprecatedSyncType" INT0 V3, "syncType" INT V1, "eventId" INT V1,
        "eventSyncId" INT0 V3),
    table!("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        "timestamp" INT0 V3, "deviceId" INT V1, "contextId" INT V1, "greenContextId" INT0 V2, "streamId" INT V1,
        "correlationId" INT0 V1, "globalPid" INT0 V1, "eventId" INT V1, "eventSyncId" INT0 V3),
    table!("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        "start" INT V3, "end" INT V3, "deviceId" INT V3, "contextId" INT V3, "greenContextId" INT0 V3, "streamId" INT V3,
        "correlationId" INT0 V3, "globalPid" INT0 V3, "graphId" INT V3, "graphExecId" INT V3),
    table!("OSRT_API",
        "start" INT V1, "end" INT V1, "eventClass" INT V1, "globalTid" INT0 V1, "nameId" NAME V1, "returnValue" INT V1,
        "nestingLevel" INT0 V1, "callchainId" INT V1),
    table!("NVTX_PAYLOAD_SCHEMAS",
        "domainId" INT0 V3, "schemaId" INT0 V3, "name" TEXT0 V3, "type" INT0 V3, "flags" INT0 V3, "numEntries" INT0 V3,
        "payloadSize" INT0 V3, "alignTo" INT0 V3),
    table!("NVTX_PAYLOAD_SCHEMA_ENTRIES",
        "domainId" INT V3, "schemaId" INT V3, "idx" INT V3, "flags" INT0 V3, "type" INT0 V3, "name" TEXT0 V3,
        "description" TEXT0 V3, "arrayOrUnionDetail" INT0 V3, "offset" INT0 V3),
    table!("TARGET_INFO_GPU_METRICS",
        "typeId" INT V2, "sourceId" INT V2, "typeName" TEXT V2, "metricId" INT V2, "metricName" TEXT V2),
    table!("GPU_METRICS", "timestamp" INT0 V2, "typeId" INT V2, "metricId" INT V2, "value" INT V2),
    Table { name: "EXPORT_META_DATA", columns: META },
    Table { name: "META_DATA_EXPORT", columns: META },
    Table { name: "META_DATA_CAPTURE", columns: META },
    Table { name: "ENUM_NSYS_EVENT_TYPE", columns: ENUM },
    Table { name: "ENUM_NSYS_EVENT_CLASS", columns: ENUM },
    Table { name: "ENUM_CUDA_MEMCPY_OPER", columns: ENUM },
    Table { name: "ENUM_CUDA_MEM_KIND", columns: ENUM },
    // The older spelling is nsys's own.
    Table { name: "ENUM_CUDA_KRENEL_LAUNCH_TYPE", columns: ENUM },
    Table { name: "ENUM_CUDA_KERNEL_LAUNCH_TYPE", columns: ENUM },
    Table { name: "ENUM_CUPTI_SYNC_TYPE", columns: ENUM },
];
