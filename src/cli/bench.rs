//! Speed and memory of one export: loading and analysis as the window does them, then a fixed script of views.

use super::args::Bench;
use super::load::{Loaded, load_timed as load_timed_by};
use super::run::{CliError, needed, print};
use crate::format;
use crate::nsys;
use crate::report;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What `bench --json` prints. Times are milliseconds, fractions of them included.
#[derive(Debug, Serialize)]
struct Measured {
    file_bytes: u64,
    gpu_ops: u64,
    api_calls: u64,
    nvtx_ranges: u64,
    /// From the start to the first frame that shows data.
    first_picture_ms: Option<f64>,
    /// Export to model.
    load_ms: f64,
    /// Model to numbers.
    analysis_ms: f64,
    /// Most memory the process held at any time; absent where the system does not tell.
    peak_rss_bytes: Option<u64>,
    /// Absent in a build without the window.
    frames: Option<Frames>,
    /// The sqlite3 program summing the same columns, when asked for.
    sqlite3_sum_ms: Option<f64>,
}

/// Cost of the script's frames.
#[derive(Debug, Serialize)]
struct Frames {
    count: u64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// Building the rows of every lane of the first rank, once, when they are expanded.
    expand_ms: f64,
    /// Most vertices in one frame.
    max_vertices: u64,
}

/// The `bench` command.
pub(super) fn bench(options: &Bench) -> Result<(), CliError> {
    let exports: Vec<PathBuf> = options.export.iter().cloned().collect();
    needed(&exports, "bench")?;
    let path = exports.first().map_or(Path::new(""), PathBuf::as_path);
    // The page cache is warmed by neither side: the other program runs first and pays for reading the disk.
    let sqlite3_sum_ms = options.against_sqlite3.then(|| time_sqlite3(path)).transpose()?;
    let start = Instant::now();
    let (loaded, times) = load_timed(&exports, options)?;
    let capture = loaded.capture();
    let drawing = draw(&loaded, start);
    let measured = Measured {
        file_bytes: capture.trace.source.bytes,
        gpu_ops: capture.trace.gpu_ops() as u64,
        api_calls: capture.trace.api_calls() as u64,
        nvtx_ranges: capture.trace.nvtx_ranges() as u64,
        first_picture_ms: drawing.as_ref().map(|(first, _)| ms(*first)),
        load_ms: ms(times.load),
        analysis_ms: ms(times.analysis),
        peak_rss_bytes: peak_rss_bytes(),
        frames: drawing.map(|(_, frames)| frames),
        sqlite3_sum_ms,
    };
    print(&if options.json { report::json(&measured).map_err(|e| CliError::Print(e.into()))? } else { text(&measured) })
}

/// How long the parts of loading took.
struct Times {
    load: Duration,
    analysis: Duration,
}

fn load_timed(exports: &[PathBuf], options: &Bench) -> Result<(Loaded, Times), CliError> {
    let mut times = Times { load: Duration::ZERO, analysis: Duration::ZERO };
    let mut loaded = load_timed_by(exports, &options.reading, |load, analysis| times = Times { load, analysis })?;
    let loaded = loaded.pop().ok_or_else(|| CliError::Usage("there is no export to measure".to_owned()))?;
    Ok((loaded, times))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The sqlite3 program of the system on the same columns.
fn time_sqlite3(path: &Path) -> Result<f64, CliError> {
    let sql = nsys::sum_sql(path)?;
    let start = Instant::now();
    let output = std::process::Command::new("sqlite3").arg("-readonly").arg(path).arg(sql).output();
    let output = output.map_err(|e| {
        CliError::Usage(format!("--against-sqlite3 needs the sqlite3 program, which could not be started: {e}"))
    })?;
    if !output.status.success() {
        return Err(CliError::Usage(format!("sqlite3 failed: {}", String::from_utf8_lossy(&output.stderr))));
    }
    Ok(ms(start.elapsed()))
}

/// Peak resident memory, as Linux reports it.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

fn text(measured: &Measured) -> String {
    let time = |ms: f64| format::duration_f(ms * 1e6);
    let maybe = |ms: Option<f64>| ms.map_or_else(|| format::UNKNOWN.to_owned(), time);
    let mut lines = vec![
        format!("file            {}", format::bytes(measured.file_bytes)),
        format!("GPU operations  {}", format::count(measured.gpu_ops)),
        format!("API calls       {}", format::count(measured.api_calls)),
        format!("NVTX ranges     {}", format::count(measured.nvtx_ranges)),
        format!("load            {}", time(measured.load_ms)),
        format!("analysis        {}", time(measured.analysis_ms)),
        format!("first picture   {}", maybe(measured.first_picture_ms)),
        format!(
            "peak memory     {}",
            measured.peak_rss_bytes.map_or_else(|| format::UNKNOWN.to_owned(), format::bytes)
        ),
    ];
    if let Some(frames) = &measured.frames {
        lines.push(format!(
            "frames          {}: p50 {}, p99 {}, max {}",
            format::count(frames.count),
            time(frames.p50_ms),
            time(frames.p99_ms),
            time(frames.max_ms),
        ));
        lines.push(format!("expand lanes    {}", time(frames.expand_ms)));
    }
    if measured.sqlite3_sum_ms.is_some() {
        lines.push(format!("sqlite3 sum     {}", maybe(measured.sqlite3_sum_ms)));
    }
    lines.join("\n") + "\n"
}

#[cfg(not(feature = "gui"))]
fn draw(_loaded: &Loaded, _start: Instant) -> Option<(Duration, Frames)> {
    None
}

/// Draws the first picture, expands every lane of the first rank with its counters, then pans and zooms from the whole to
/// one kernel and scrolls through all lanes on the way back.
#[cfg(feature = "gui")]
fn draw(loaded: &Loaded, start: Instant) -> Option<(Duration, Frames)> {
    use crate::timeline;
    use crate::view::{Command, ViewState, Workspace};

    let workspace = Workspace::new([(loaded.trace.clone(), loaded.analysis.clone())]);
    let mut state = ViewState::open(&workspace);
    let mut cache = timeline::Cache::default();
    let ctx = timeline::bench::context();
    let size = timeline::bench::FULL_HD;
    let frame = |state: &ViewState, cache: &mut timeline::Cache| {
        let start = Instant::now();
        let vertices = timeline::bench::frame(&ctx, &workspace, state, cache, size);
        (start.elapsed(), vertices)
    };
    frame(&state, &mut cache);
    let first = start.elapsed();
    let expanding = Instant::now();
    for lane in timeline::bench::closed_lanes(&workspace, &state, &mut cache) {
        state.apply(&Command::ToggleLane(lane), &workspace);
    }
    frame(&state, &mut cache);
    let expand = expanding.elapsed();
    let scroll_pt = timeline::bench::scroll_pt(&workspace, &state, &mut cache, size);
    let mut times = Vec::new();
    let mut max_vertices = 0;
    for command in timeline::bench::script(&workspace, scroll_pt) {
        state.apply(&command, &workspace);
        let (time, vertices) = frame(&state, &mut cache);
        times.push(time);
        max_vertices = max_vertices.max(vertices as u64);
    }
    times.sort_unstable();
    let at = |share: f64| times.get(((times.len() - 1) as f64 * share).round() as usize).copied().map_or(0.0, ms);
    let frames = Frames {
        count: times.len() as u64,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        max_ms: at(1.0),
        expand_ms: ms(expand),
        max_vertices,
    };
    Some((first, frames))
}
