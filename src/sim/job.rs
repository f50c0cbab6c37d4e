//! From a configuration to exports on disk.

use super::SimError;
use super::config::JobConfig;
use super::counters::Sampler;
use super::engine::{Engine, Ids};
use super::kernels::Catalog;
use super::record::{Batch, Sink};
use super::run_settings::FILE_NAME;
use super::strings::Strings;
use super::truth::Truth;
use crate::nsys::write::{
    CaptureInfo, ExportWriter, GpuInfo, ProcessInfo, SchemaVersion, StreamInfo, ThreadInfo, WriteError,
};
use std::path::{Path, PathBuf};

/// A job on disk.
#[derive(Debug, Clone)]
pub struct Job {
    /// The exports: one per rank in order, or one for all.
    pub files: Vec<PathBuf>,
    /// What a user would say of the run, beside them.
    pub settings: PathBuf,
    /// What is true of it.
    pub truth: Truth,
}

/// Wall clock of the job's time 0: 15 June 2025, 15:06:40 UTC.
const EPOCH_NS: i64 = 1_750_000_000_000_000_000;

/// Runs a job and hands its rows to `sink`, telling the share done.
///
/// # Errors
/// When the configuration is wrong or the sink refuses.
pub fn simulate(cfg: &JobConfig, sink: &mut dyn Sink, progress: &mut dyn FnMut(f64)) -> Result<Truth, SimError> {
    cfg.check()?;
    let catalog = Catalog::of(cfg);
    let strings = Strings::of(&catalog);
    Engine::new(cfg, &catalog, &strings).run_job(sink, progress)
}

/// Runs a job and writes `rank0.sqlite`, `rank1.sqlite` and so on into `dir`, or `job.sqlite` with all ranks, and the
/// settings `stepscope.toml` that go with it.
///
/// The folder is created when it is missing. Files appear complete or not at all.
///
/// # Errors
/// When the configuration is wrong, a file is there already and `overwrite` is false, or the folder cannot be written.
pub fn simulate_to_dir(
    cfg: &JobConfig,
    dir: &Path,
    overwrite: bool,
    progress: &mut dyn FnMut(f64),
) -> Result<Job, SimError> {
    cfg.check()?;
    std::fs::create_dir_all(dir).map_err(|error| SimError::Folder { path: dir.to_owned(), error })?;
    let settings = dir.join(FILE_NAME);
    if settings.exists() && !overwrite {
        return Err(WriteError::Exists(settings).into());
    }
    let catalog = Catalog::of(cfg);
    let strings = Strings::of(&catalog);
    let names: Vec<String> = if cfg.one_file {
        vec!["job.sqlite".to_owned()]
    } else {
        (0..cfg.ranks).map(|rank| format!("rank{rank}.sqlite")).collect()
    };
    let samplers =
        if cfg.gpu_metrics_hz > 0 && cfg.schema >= SchemaVersion::V2023_4 { samplers(cfg) } else { Vec::new() };
    let mut files = Files { writers: Vec::new(), end_ns: vec![0; names.len()], samplers };
    for name in &names {
        files.writers.push(ExportWriter::create(&dir.join(name), cfg.schema, &strings.texts, overwrite)?);
    }
    let truth = Engine::new(cfg, &catalog, &strings).run_job(&mut files, progress)?;
    files.write_samples(cfg.gpu.spec().name)?;
    let mut paths = Vec::new();
    for ((at, writer), end_ns) in files.writers.into_iter().enumerate().zip(files.end_ns) {
        let ranks = if cfg.one_file { 0..cfg.ranks } else { at as u32..at as u32 + 1 };
        paths.push(writer.finish(&capture_info(cfg, &truth, ranks, end_ns))?);
    }
    let written = std::fs::write(&settings, cfg.run_settings());
    written.map_err(|error| SimError::Settings { path: settings.clone(), error })?;
    Ok(Job { files: paths, settings, truth })
}

/// Exports being written.
struct Files {
    writers: Vec<ExportWriter>,
    /// End of the last call seen in each.
    end_ns: Vec<i64>,
    /// Of each rank's card, when its counters are sampled.
    samplers: Vec<Sampler>,
}

impl Files {
    /// Adds what the samplers saw.
    fn write_samples(&mut self, gpu: &str) -> Result<(), SimError> {
        let last = self.writers.len().saturating_sub(1);
        for (rank, sampler) in self.samplers.iter().enumerate() {
            if let Some(to) = self.writers.get_mut(rank.min(last)) {
                to.metric_names(&sampler.names(gpu))?;
                to.metrics(&sampler.samples())?;
            }
        }
        Ok(())
    }
}

/// A sampler for the card of each rank.
fn samplers(cfg: &JobConfig) -> Vec<Sampler> {
    let cards = gpus(cfg);
    let of = |rank: u32| {
        let card = cards.get((rank % cfg.gpus_per_node) as usize);
        Sampler::new(card.map_or(0, |card| card.id), cfg.gpu_metrics_hz, cfg.gpu.spec().sm_count)
    };
    (0..cfg.ranks).map(of).collect()
}

impl Sink for Files {
    fn take(&mut self, rank: u32, batch: Batch) -> Result<(), SimError> {
        let at = (rank as usize).min(self.writers.len() - 1);
        let to = &mut self.writers[at];
        to.kernels(&batch.kernels)?;
        to.memcpys(&batch.memcpys)?;
        to.memsets(&batch.memsets)?;
        to.graphs(&batch.graphs)?;
        to.api_calls(&batch.api_calls)?;
        to.syncs(&batch.syncs)?;
        to.events(&batch.events)?;
        to.nvtx(&batch.nvtx)?;
        to.os_calls(&batch.os_calls)?;
        if let Some(sampler) = self.samplers.get_mut(rank as usize) {
            sampler.add(&batch);
        }
        let last = batch.api_calls.iter().map(|call| call.end_ns).max();
        self.end_ns[at] = self.end_ns[at].max(last.unwrap_or(0));
        Ok(())
    }
}

fn capture_info(cfg: &JobConfig, truth: &Truth, ranks: std::ops::Range<u32>, end_ns: i64) -> CaptureInfo {
    let first = ranks.start;
    let of = &truth.ranks[first as usize..ranks.end as usize];
    let last_gpu = of.iter().map(|rank| rank.span.end_ns).max().unwrap_or(0);
    let environment = if cfg.one_file {
        vec![format!("WORLD_SIZE={}", cfg.ranks)]
    } else {
        vec![
            format!("RANK={first}"),
            format!("LOCAL_RANK={}", first % cfg.gpus_per_node),
            format!("WORLD_SIZE={}", cfg.ranks),
        ]
    };
    CaptureInfo {
        utc_epoch_ns: EPOCH_NS + of.first().map_or(0, |rank| rank.offset_ns + rank.wall_error_ns),
        duration_ns: end_ns.max(last_gpu) + 1_000_000,
        host: format!("node{:02}", first / cfg.gpus_per_node),
        gpus: gpus(cfg),
        processes: ranks.map(|rank| process(cfg, rank)).collect(),
        environment,
        payload_domain: (cfg.nvtx && cfg.nvtx_nccl && cfg.nccl_payloads).then_some(super::strings::NCCL_DOMAIN),
        graph_nodes: cfg.cuda_graphs == super::config::CudaGraphs::Nodes,
    }
}

/// Cards of a machine. Their rows are numbered against the CUDA ordinals, as on real machines.
fn gpus(cfg: &JobConfig) -> Vec<GpuInfo> {
    let spec = cfg.gpu.spec();
    let count = i64::from(cfg.ranks.min(cfg.gpus_per_node));
    (0..count)
        .map(|ordinal| GpuInfo {
            id: count - 1 - ordinal,
            ordinal,
            name: spec.name.to_owned(),
            chip: spec.chip.to_owned(),
            memory_bytes: spec.memory_bytes,
            bandwidth_bytes_per_s: spec.bandwidth_bytes_per_s,
            clock_hz: spec.clock_hz,
            l2_bytes: spec.l2_bytes,
            sm_count: spec.sm_count,
            capability: spec.capability,
        })
        .collect()
}

fn process(cfg: &JobConfig, rank: u32) -> ProcessInfo {
    let ids = Ids::of(cfg, rank);
    let streams = ids.streams.iter().enumerate().map(|(at, id)| StreamInfo {
        id: *id,
        priority: if at < 2 { 0 } else { -5 },
        is_null: at == 0,
    });
    let threads = ["python", "pt_autograd_0", "pt_nccl_watchdg", "pt_data_pin"].iter().enumerate();
    ProcessInfo {
        global_pid: ids.place.global_pid,
        pid: ids.pid,
        name: "python".to_owned(),
        device: ids.place.device,
        context: ids.place.context,
        streams: streams.collect(),
        threads: threads
            .map(|(at, name)| ThreadInfo { global_tid: ids.global_tid(at as i64), name: (*name).to_owned() })
            .collect(),
    }
}
