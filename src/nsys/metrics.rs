//! Samples of the GPUs' own counters (`--gpu-metrics-devices`), thinned while they are read.

use super::error::LoadError;
use super::load::Load;
use super::plan::{required, wanted_text};
use super::rows::NULL;
use super::schema::quoted;
use crate::trace::{MetricSamples, NameId};
use std::collections::BTreeMap;

/// Kinds of samples whose names are read at most: each costs memory.
const MOST: usize = 1024;
/// Part of a type's number that names the card.
const CARD_MASK: i64 = 0xFF;

const WITHOUT: &str = "Samples of the GPU's counters are unknown.";

/// Reads the counters. `cards` are the indices of the cards by their id in the file.
pub(crate) fn read(load: &mut Load<'_>, cards: &BTreeMap<i64, usize>) -> Result<(), LoadError> {
    let Some((first_ns, last_ns)) = times(load) else { return Ok(()) };
    let mut names: BTreeMap<(i64, i64), (NameId, Option<usize>)> = BTreeMap::new();
    let columns = [
        required("typeId"),
        required("metricId"),
        wanted_text("metricName", "names of GPU counters are unknown"),
        wanted_text("typeName", "which card a GPU counter is of is told by its number"),
    ];
    load.side_rows("TARGET_INFO_GPU_METRICS", &columns, WITHOUT, |sink, batch, row| {
        if let (Some(kind), Some(metric), Some(name)) = (batch.int(0, row), batch.int(1, row), batch.text(2, row))
            && names.len() < MOST
        {
            let card = batch.text(3, row).and_then(card_in_name).unwrap_or(kind & CARD_MASK);
            names.entry((kind, metric)).or_insert((sink.intern(name), cards.get(&card).copied()));
        }
    })?;
    let mut samples: BTreeMap<(i64, i64), MetricSamples> = BTreeMap::new();
    let mut unnamed = 0;
    let columns = [required("timestamp"), required("typeId"), required("metricId"), required("value")];
    load.side_rows("GPU_METRICS", &columns, WITHOUT, |_, batch, row| {
        let value = |column| batch.int(column, row).unwrap_or(NULL);
        let (at_ns, key) = (value(0), (value(1), value(2)));
        if at_ns == NULL || value(3) == NULL {
            return;
        }
        if names.contains_key(&key) {
            let new = || MetricSamples::new(first_ns, last_ns);
            samples.entry(key).or_insert_with(new).add(at_ns, value(3));
        } else {
            unnamed += 1;
        }
    })?;
    load.sink.warnings.add("unnamed-metric", unnamed, "samples of GPU counters that the file does not name: left out");
    for (key, own) in samples {
        let named = names.get(&key).copied();
        if let Some(metric) = named.and_then(|(name, gpu)| own.finish(name, gpu)) {
            load.sink.builder.metric(metric);
        }
    }
    Ok(())
}

/// Times of the first and the last sample; `None` without any.
fn times(load: &mut Load<'_>) -> Option<(i64, i64)> {
    let table = load.side_table("GPU_METRICS")?;
    let time = quoted(table.column("timestamp")?);
    let sql = format!("SELECT min({time}), max({time}) FROM {}", quoted(&table.name));
    let range = load.connection()?.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
    // Damage is told when the rows are read.
    range.ok()
}

/// The number that ends a type's name: `General Metrics for NVIDIA GA10x [1]`.
fn card_in_name(name: &[u8]) -> Option<i64> {
    let name = String::from_utf8_lossy(name);
    let (_, number) = name.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::card_in_name;

    #[test]
    fn the_card_is_read_from_the_end_of_the_name() {
        assert_eq!(card_in_name(b"General Metrics for NVIDIA GA10x [1]"), Some(1));
        assert_eq!(card_in_name(b"GPU Metrics [GA100]"), None);
        assert_eq!((card_in_name(b""), card_in_name(b"]"), card_in_name(b"GA100 ")), (None, None, None));
    }
}
