//! Where rows go while they are read, and what is remembered of them for the tables still to come.

use super::plan::Warnings;
use super::strings::Strings;
use crate::trace::{NameId, TraceBuilder};
use std::collections::BTreeSet;

/// Where rows go while they are read.
#[derive(Debug)]
pub(crate) struct Sink {
    /// Takes the rows.
    pub builder: TraceBuilder,
    /// Names by number.
    pub strings: Strings,
    /// What was odd.
    pub warnings: Warnings,
    /// Processes that made API calls.
    pub calling: Seen,
    /// Processes that did anything else on the host.
    pub hosting: Seen,
    /// Texts that no longer fitted into [`crate::trace::Names`].
    pub overflow: u64,
    /// Where GPU work ran.
    pub places: Places,
}

/// Process keys that were seen; rows of one process come in long runs.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    keys: BTreeSet<i64>,
    last: Option<i64>,
}

impl Seen {
    /// Takes note of a process key.
    pub fn add(&mut self, key: i64) {
        if self.last != Some(key) {
            self.last = Some(key);
            self.keys.insert(key);
        }
    }

    fn only(&self) -> Option<i64> {
        if self.keys.len() == 1 { self.keys.first().copied() } else { None }
    }
}

/// Processes, devices and streams that GPU work ran on.
#[derive(Debug, Default)]
pub(crate) struct Places {
    seen: BTreeSet<(i64, i64, i64)>,
    last: Option<(i64, i64, i64)>,
}

impl Places {
    /// Takes note of where an operation ran; neighbouring rows mostly share it.
    pub fn add(&mut self, process: i64, device: i64, stream: i64) {
        let place = (process, device, stream);
        if self.last != Some(place) {
            self.last = Some(place);
            self.seen.insert(place);
        }
    }

    /// Processes in ascending order.
    pub fn processes(&self) -> BTreeSet<i64> {
        self.seen.iter().map(|(process, _, _)| *process).collect()
    }

    /// The device of a record that names a stream of a process: `recorded` when work ran there, else the only device on
    /// which work ran in that stream, or at all.
    pub fn device(&self, process: i64, recorded: i64, stream: i64) -> i64 {
        if self.seen.contains(&(process, recorded, stream)) {
            return recorded;
        }
        let own = || self.seen.range((process, i64::MIN, i64::MIN)..=(process, i64::MAX, i64::MAX));
        let in_stream: BTreeSet<i64> = own().filter(|place| place.2 == stream).map(|place| place.1).collect();
        let anywhere: BTreeSet<i64> = own().map(|place| place.1).collect();
        let only = |devices: &BTreeSet<i64>| if devices.len() == 1 { devices.first().copied() } else { None };
        only(&in_stream).or_else(|| only(&anywhere)).unwrap_or(recorded)
    }
}

impl Sink {
    /// A sink that nothing went into yet.
    pub fn new(strings: Strings, warnings: Warnings) -> Self {
        Self {
            builder: TraceBuilder::new(),
            strings,
            warnings,
            overflow: 0,
            calling: Seen::default(),
            hosting: Seen::default(),
            places: Places::default(),
        }
    }

    /// Handle of a text in whatever encoding.
    pub fn intern(&mut self, text: &[u8]) -> NameId {
        let id = self.builder.names().intern(&String::from_utf8_lossy(text));
        self.overflow += u64::from(id == NameId::EMPTY && !text.is_empty());
        id
    }

    /// Text number `id`; empty without one.
    pub fn name(&mut self, id: Option<i64>) -> NameId {
        id.map_or(NameId::EMPTY, |id| self.strings.name(id, self.builder.names()))
    }

    /// The process that GPU work without a process belongs to: the only one that called the API, or that did anything.
    pub fn only_process(&self) -> Option<i64> {
        self.calling.only().or_else(|| if self.calling.keys.is_empty() { self.hosting.only() } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_a_device_is_placed_by_its_stream_or_its_process() {
        let mut places = Places::default();
        for place in [(1, 1, 7), (1, 1, 9), (2, 0, 7), (2, 3, 8)] {
            places.add(place.0, place.1, place.2);
        }
        assert_eq!(places.device(1, 1, 7), 1, "as recorded");
        assert_eq!(places.device(1, 0, 7), 1, "the only device of the process");
        assert_eq!(places.device(1, 0, -1), 1);
        assert_eq!(places.device(2, 0, 8), 3, "the only device of the stream");
        assert_eq!(places.device(2, 0, -1), 0, "nobody knows");
        assert_eq!(places.device(5, 0, 7), 0);
        assert_eq!(places.processes().into_iter().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn the_only_process_is_the_one_that_called_the_api() {
        let mut seen = Seen::default();
        assert_eq!(seen.only(), None);
        seen.add(4);
        seen.add(4);
        assert_eq!(seen.only(), Some(4));
        seen.add(5);
        assert_eq!(seen.only(), None);
    }
}
