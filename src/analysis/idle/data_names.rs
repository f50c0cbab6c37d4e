//! Which NVTX ranges speak of loading data.

use crate::trace::Trace;
use regex::Regex;
use std::sync::LazyLock;

/// Words that name the wait for a batch, as loaders and training loops write them: `DataLoader`, `data_loading`,
/// `next batch`, `get_batch`, `load_data`, `wait for data`, `batch_fetch`, `prefetch`, `collate_fn`, `[DALI][DataReader]`.
static LOADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        data [\s_.:\#-]* (load | wait | fetch | read | iter | next | time | prep)
        | (\b|_) (load | wait | read | get | next) [\s_.:-]* (for [\s_.:-]*)? (the [\s_.:-]*)? (next [\s_.:-]*)?
          (mini | micro)? [\s_.:-]* (data | batch | sample)
        | batch [\s_.:-]* (load | wait)
        | input [\s_.:-]* pipeline
        | fetch | collate
        | ^ data $",
    )
    .ok()
});

/// Words that say that what is fetched is the model's own: sharded parameters are prefetched too.
static OF_THE_MODEL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("(?i)param|weight|module|shard|layer|grad").ok());

/// True when a range called `name` speaks of loading data.
pub(super) fn is_data_loading(name: &str) -> bool {
    let found = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(name));
    found(&LOADING) && !found(&OF_THE_MODEL)
}

/// For every name of the trace, whether it is one of a range of `process` and speaks of loading data. Looks at each
/// distinct name once.
pub(super) fn data_loading(trace: &Trace, process: usize) -> Vec<bool> {
    let (mut known, mut loading) = (vec![false; trace.names.len()], vec![false; trace.names.len()]);
    for name in trace.threads.iter().filter(|t| t.process == process).flat_map(|t| &t.nvtx.name) {
        let at = name.0 as usize;
        if let Some(known) = known.get_mut(at).filter(|known| !**known) {
            *known = true;
            loading[at] = is_data_loading(trace.name(*name));
        }
    }
    loading
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_load_data_are_told_by_name() {
        for name in [
            "dataloader",
            "DataLoader.__next__",
            "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
            "data_loading",
            "Data Loading",
            "data",
            "data_time",
            "load_batch",
            "next batch",
            "get_batch",
            "wait for data",
            "wait_for_next_batch",
            "batch_fetch",
            "prefetch_tick",
            "collate_fn",
            "[DALI][DataReader] ConsumerWait #0",
        ] {
            assert!(is_data_loading(name), "{name}");
        }
        for name in [
            "forward",
            "step 3",
            "batch 7",
            "DistributedDataParallel.forward",
            "target_batch_norm",
            "prefetch_params",
            "PartitionedParameterCoordinator.fetch_sub_module",
            "load_state_dict",
            "metadata",
            "",
        ] {
            assert!(!is_data_loading(name), "{name}");
        }
    }
}
