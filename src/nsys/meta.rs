//! What a file says about the capture as a whole: versions, clock, processes, threads, cards, rank, complaints.
//!
//! The capture's environment holds user names and tokens: of it only the variable `RANK` is asked for, and only its
//! value is kept.

use super::error::LoadError;
use super::load::Load;
use super::metrics;
use super::ops::GRAPH;
use super::plan::{required, spare, spare_text, wanted, wanted_text};
use super::rows::RowError;
use super::schema::{Table, quoted};
use crate::trace::{Gpu, NameId, Source, SourceKind};
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::BTreeMap;
use std::path::Path;

/// Key of the process that a thread key belongs to.
pub(crate) const fn process_of(global_tid: i64) -> i64 {
    global_tid & !0xFF_FFFF
}

/// Process id in a process or thread key: 24 bits of it are recorded.
const fn pid_of(key: i64) -> i64 {
    key >> 24 & 0xFF_FFFF
}

/// Facts about the file itself. Its tables are left empty.
pub(crate) fn source(load: &mut Load<'_>) -> Source {
    let export = load.side_table("META_DATA_EXPORT").or_else(|| load.side_table("EXPORT_META_DATA"));
    let capture = load.side_table("META_DATA_CAPTURE");
    let mut exported = |key: &str| values(load, export.as_ref(), "name = ?1", key).into_iter().next();
    let (product_version, schema_version) = (exported("EXPORT_PRODUCT_VERSION"), exported("EXPORT_SCHEMA_VERSION"));
    // Event times are moved by these two, so the wall clock of time 0 moves the other way.
    let normalized = exported("EXPORT_PARAM_TIME_NORMALIZE").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let shift_ns = exported("EXPORT_PARAM_TIME_SHIFT").and_then(|value| value.parse::<i64>().ok()).unwrap_or(0);
    let mut captured = |filter: &str, key: &str| values(load, capture.as_ref(), filter, key).into_iter().next();
    let cuda_graph_mode = captured("name LIKE '%' || ?1", "CUDA_GRAPH_TRACE_OPTIONS:MODE");
    let host = captured("name = ?1", "DEVICE_DISPLAY_NAME").filter(|name| !name.is_empty());
    let epoch_ns = if normalized { Some(0) } else { number(load, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs") };
    Source {
        kind: SourceKind::Nsys,
        path: load.path().to_path_buf(),
        bytes: load.bytes(),
        product_version,
        schema_version,
        utc_epoch_ns: epoch_ns.map(|epoch_ns| epoch_ns.saturating_sub(shift_ns)),
        host,
        cuda_graph_mode,
        cpu_samples: load.side_table("COMPOSITE_EVENTS").is_some(),
        duration_ns: number(load, "ANALYSIS_DETAILS", "duration"),
        tables: Vec::new(),
    }
}

/// Everything else that names what the events refer to.
pub(crate) fn describe(load: &mut Load<'_>, source: &Source) -> Result<(), LoadError> {
    name_processes_and_threads(load)?;
    let mut cards = BTreeMap::new();
    if !load.sink.places.processes().is_empty() {
        cards = describe_gpus(load)?;
    }
    metrics::read(load, &cards)?;
    read_overheads(load)?;
    label_rank(load);
    pass_on_complaints(load)?;
    warn_of_hidden_graphs(load, source);
    Ok(())
}

fn name_processes_and_threads(load: &mut Load<'_>) -> Result<(), LoadError> {
    let columns = [required("globalPid"), wanted_text("name", "names of processes are unknown")];
    load.side_rows("PROCESSES", &columns, "Names of processes are unknown.", |sink, batch, row| {
        if let (Some(global_pid), Some(name)) = (batch.int(0, row), batch.text(1, row)) {
            let name = sink.intern(name);
            sink.builder.process_name(global_pid, name);
        }
    })?;
    let columns = [required("globalTid"), required("nameId"), spare("priority")];
    load.side_rows("ThreadNames", &columns, "Names of threads are unknown.", |sink, batch, row| {
        let name = sink.name(batch.int(1, row));
        if let Some(global_tid) = batch.int(0, row).filter(|_| name != NameId::EMPTY) {
            sink.builder.thread_name(global_tid, name, batch.int(2, row).unwrap_or(0));
        }
    })?;
    Ok(())
}

/// What nsys calls the times during which it took GPU records from the program.
const OVERHEADS: [&str; 3] =
    ["CUDA profiling data flush overhead", "CUDA profiling stop overhead", "CUDA profiling overhead"];

/// Reads when the profiler held up the program's CUDA work.
fn read_overheads(load: &mut Load<'_>) -> Result<(), LoadError> {
    let columns = [required("start"), required("end"), required("globalTid"), required("nameId")];
    load.side_rows("PROFILER_OVERHEAD", &columns, "Overhead of the profiler is unknown.", |sink, batch, row| {
        let name = sink.name(batch.int(3, row));
        let is_cuda = OVERHEADS.contains(&sink.builder.names().get(name));
        if let (true, Some(start_ns), Some(global_tid)) = (is_cuda, batch.int(0, row), batch.int(2, row)) {
            sink.builder.overhead(process_of(global_tid), start_ns, batch.int(1, row));
        }
    })?;
    Ok(())
}

/// A card as the file lists it.
struct Card {
    id: Option<i64>,
    ordinal: Option<i64>,
    gpu: Gpu,
}

/// Lists the cards and says which ordinal is which: the row number or id of a card is never its ordinal. Returns their
/// indices by id.
fn describe_gpus(load: &mut Load<'_>) -> Result<BTreeMap<i64, usize>, LoadError> {
    let cards = read_cards(load)?;
    if cards.is_empty() {
        load.sink.warnings.add(
            "missing-table",
            1,
            "no usable table TARGET_INFO_GPU: models of the GPUs are unknown, so type in the peak FLOP/s to see MFU",
        );
        return Ok(BTreeMap::new());
    }
    let only = cards.len() == 1;
    let mut by_id = BTreeMap::new();
    let mut by_ordinal = BTreeMap::new();
    for card in cards {
        let at = load.sink.builder.gpu(card.gpu);
        if let Some(id) = card.id {
            by_id.entry(id).or_insert(at);
        }
        // With a single card there is nothing to mix up.
        if let Some(ordinal) = card.ordinal.or(only.then_some(0)) {
            by_ordinal.entry(ordinal).or_insert(at);
        }
    }
    for (ordinal, at) in by_ordinal {
        load.sink.builder.device_gpu(None, ordinal, at);
    }
    // With CUDA_VISIBLE_DEVICES each process counts its own ordinals.
    let columns = [required("gpuId"), required("cudaId"), required("pid")];
    let mut own = Vec::new();
    load.side_rows("TARGET_INFO_CUDA_DEVICE", &columns, "Cards of single processes are unknown.", |_, batch, row| {
        if let (Some(id), Some(ordinal), Some(pid)) = (batch.int(0, row), batch.int(1, row), batch.int(2, row)) {
            own.push((id, ordinal, pid));
        }
    })?;
    let processes = load.sink.places.processes();
    for (id, ordinal, pid) in own {
        let Some(at) = by_id.get(&id) else { continue };
        for key in processes.iter().filter(|key| pid_of(**key) == pid & 0xFF_FFFF) {
            load.sink.builder.device_gpu(Some(*key), ordinal, *at);
        }
    }
    Ok(by_id)
}

fn read_cards(load: &mut Load<'_>) -> Result<Vec<Card>, LoadError> {
    const WITHOUT: &str = "Models of the GPUs are unknown.";
    let mut cards = Vec::new();
    let columns = [
        spare("id"),
        wanted("cuDevice", "which card a CUDA device is, is unknown"),
        wanted_text("name", "models of the GPUs are unknown"),
        spare("totalMemory"),
        spare("smCount"),
        spare("computeMajor"),
        spare("computeMinor"),
        spare_text("busLocation"),
    ];
    load.side_rows("TARGET_INFO_GPU", &columns, WITHOUT, |_, batch, row| {
        let text = |column| batch.text(column, row).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let major = batch.int(5, row);
        let sm_count = batch.int(4, row).and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        // The list also holds adapters that cannot run CUDA, with ordinal 0.
        let cannot_compute = major == Some(0) && sm_count.is_none();
        let Some(name) = text(2).filter(|_| !cannot_compute) else { return };
        let gpu = Gpu {
            name,
            memory_bytes: batch.int(3, row).and_then(|bytes| u64::try_from(bytes).ok()).filter(|bytes| *bytes > 0),
            sm_count,
            compute_capability: major
                .filter(|major| *major > 0)
                .map(|major| format!("{major}.{}", batch.int(6, row).unwrap_or(0))),
            bus: text(7).filter(|bus| !bus.is_empty()),
        };
        cards.push(Card { id: batch.int(0, row), ordinal: batch.int(1, row), gpu });
    })?;
    if !cards.is_empty() {
        return Ok(cards);
    }
    // The table of 2020.3.
    let columns = [required("deviceId"), wanted_text("name", "models of the GPUs are unknown")];
    load.side_rows("TARGET_INFO_CUDA_GPU", &columns, WITHOUT, |_, batch, row| {
        let Some(name) = batch.text(1, row) else { return };
        let name = String::from_utf8_lossy(name).into_owned();
        let gpu = Gpu { name, memory_bytes: None, sm_count: None, compute_capability: None, bus: None };
        cards.push(Card { id: None, ordinal: batch.int(0, row), gpu });
    })?;
    Ok(cards)
}

/// The rank recorded in the environment when all recorded ones agree, else the one in the file's name.
fn label_rank(load: &mut Load<'_>) {
    let capture = load.side_table("META_DATA_CAPTURE");
    let mut ranks: Vec<String> =
        values(load, capture.as_ref(), "name LIKE '%ENVIRONMENT_VARIABLE' AND value GLOB ?1", "RANK=*")
            .iter()
            .filter_map(|entry| entry.strip_prefix("RANK="))
            .map(|rank| rank.trim_matches('"').trim().to_owned())
            .filter(|rank| !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
    ranks.dedup();
    let recorded = if ranks.len() == 1 { ranks.pop() } else { None };
    if let Some(rank) = recorded.or_else(|| rank_in_name(load.path())) {
        load.sink.builder.rank_label(None, rank);
    }
}

/// The number in `rank3`, `rank_3`, `rank-3`, or in `.3.` when it is no part of a version such as `2023.4`.
pub fn rank_in_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let number_at = |at: usize| -> Option<&str> {
        let tail = name.get(at..)?;
        let len = tail.bytes().take_while(u8::is_ascii_digit).count();
        tail.get(..len).filter(|digits| !digits.is_empty() && digits.len() <= 6)
    };
    let after_word = |(at, word): (usize, &str)| {
        let at = at + word.len();
        number_at(at).or_else(|| name.get(at..)?.starts_with(['_', '-', '.']).then(|| number_at(at + 1))?)
    };
    let between_dots = |(at, _): (usize, &str)| {
        let digits = number_at(at + 1)?;
        let closed = name.get(at + 1 + digits.len()..)?.starts_with('.');
        let before = name.get(..at)?.trim_end_matches(|c: char| c.is_ascii_digit());
        let word = before.chars().rev().take_while(|c| c.is_alphabetic()).count();
        let part_of_version = before.len() < at && word < 2;
        (closed && !part_of_version).then_some(digits)
    };
    let found =
        name.match_indices("rank").find_map(after_word).or_else(|| name.match_indices('.').find_map(between_dots))?;
    // "007" and "7" are one rank.
    Some(found.trim_start_matches('0')).map(|digits| if digits.is_empty() { "0".to_owned() } else { digits.to_owned() })
}

/// What nsys itself complained about: severity 2 is a warning, 3 an error, 4 chatter.
fn pass_on_complaints(load: &mut Load<'_>) -> Result<(), LoadError> {
    const LONGEST: usize = 400;
    let columns = [required("severity"), wanted_text("text", "what nsys complained about is unknown")];
    load.side_rows("DIAGNOSTIC_EVENT", &columns, "What nsys complained about is unknown.", |sink, batch, row| {
        let Some(text) = batch.text(1, row).filter(|_| matches!(batch.int(0, row), Some(2 | 3))) else { return };
        let text = String::from_utf8_lossy(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        let text: String = words.join(" ").chars().take(LONGEST).collect();
        sink.warnings.add("diagnostic", 1, format!("nsys says: {text}"));
    })?;
    Ok(())
}

/// Graphs that were launched but whose executions are not in the file would pass for idle time.
fn warn_of_hidden_graphs(load: &mut Load<'_>, source: &Source) {
    if load.table(&GRAPH).is_some() || source.cuda_graph_mode.as_deref() == Some("Node") {
        return;
    }
    let launched = |name: &str| name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch");
    if load.sink.builder.names().iter().any(|(_, name)| launched(name)) {
        load.sink.warnings.add(
            "missing-graph-executions",
            1,
            "CUDA graphs were launched, and the file holds no record of their executions: unless their kernels were recorded one by one, their work shows as idle time. Record with `nsys profile --cuda-graph-trace=node ...`",
        );
    }
}

/// `value` of the rows of a name-and-value table that meet `filter`, in which `?1` is `key`.
fn values(load: &mut Load<'_>, table: Option<&Table>, filter: &str, key: &str) -> Vec<String> {
    let usable = |table: &&Table| table.column("name").is_some() && table.column("value").is_some();
    let Some(table) = table.filter(usable) else { return Vec::new() };
    let sql = format!("SELECT value FROM {} WHERE {filter}", quoted(&table.name));
    ask(load, table, |connection| {
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([key])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if let Some(bytes) = row.get_ref(0)?.as_bytes_or_null().ok().flatten() {
                found.push(String::from_utf8_lossy(bytes).into_owned());
            }
        }
        Ok(found)
    })
    .unwrap_or_default()
}

/// The first whole number in a column of a table.
fn number(load: &mut Load<'_>, table: &str, column: &str) -> Option<i64> {
    let table = load.side_table(table)?;
    let column = quoted(table.column(column)?);
    let sql = format!("SELECT {column} FROM {} WHERE typeof({column}) = 'integer' LIMIT 1", quoted(&table.name));
    ask(load, &table, |connection| connection.query_row(&sql, [], |row| row.get(0)).optional()).flatten()
}

/// The answer to a single question about a table; damage is warned of.
fn ask<T>(load: &mut Load<'_>, table: &Table, question: impl Fn(&Connection) -> rusqlite::Result<T>) -> Option<T> {
    match load.connection().map(question)? {
        Ok(answer) => Some(answer),
        Err(error) => {
            let why = RowError::from(error);
            let message = format!("table {} cannot be read ({why}): what it says is unknown", table.name);
            load.sink.warnings.add("damaged-table", 1, message);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_read_from_the_file_name_but_not_from_a_version() {
        let rank = |name: &str| rank_in_name(Path::new(name));
        for (name, expected) in [
            ("a100_ddp_rank0_2023.4.sqlite", "0"),
            ("run.rank_12.sqlite", "12"),
            ("RANK-003.sqlite", "3"),
            ("rank.5.sqlite", "5"),
            ("report.7.sqlite", "7"),
            ("node0.3.sqlite", "3"),
        ] {
            assert_eq!(rank(name).as_deref(), Some(expected), "{name}");
        }
        for name in ["h100x2_offload_2026.2.sqlite", "frank.sqlite", "ranks.sqlite", "report2.sqlite", "v1.2.3.sqlite"]
        {
            assert_eq!(rank(name), None, "{name}");
        }
    }
}
