//! Fields of a row, fetched from the file off the frame path.
//!
//! One thread for the whole window; the last [`KEPT`] rows are remembered. Cost: a query of the file per row looked at.

use crate::task::Wake;
use crate::trace::{DetailSource, Field, RowRef};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Rows remembered.
const KEPT: usize = 64;

/// All fields of a row, or why there are none.
pub type Fields = Result<Vec<Field>, String>;

/// Which row: revision of the documents, document, row.
pub type Key = (u64, usize, RowRef);

type Request = (Key, Arc<dyn DetailSource>);

/// Where requests go and answers come from.
type Worker = (SyncSender<Request>, Receiver<(Key, Fields)>);

/// Requests and answers on their way at most.
const ON_THE_WAY: usize = 4;

/// Fetches fields and remembers them.
#[derive(Debug, Default)]
pub struct Fetcher {
    known: VecDeque<(Key, Fields)>,
    asked: Option<Key>,
    worker: Option<Worker>,
    /// Fetch within the frame: pictures and tests have no next frame.
    immediate: bool,
}

impl Fetcher {
    /// A fetcher with a thread; `wake` is called when fields have arrived.
    pub fn threaded(wake: Wake) -> Self {
        let (requests, inbox) = sync_channel::<Request>(ON_THE_WAY);
        let (outbox, answers) = sync_channel(ON_THE_WAY);
        let work = move || {
            while let Ok(mut request) = inbox.recv() {
                // Only the newest row matters: the user may have clicked on while a slow disk was read.
                while let Ok(newer) = inbox.try_recv() {
                    request = newer;
                }
                let (key, source) = request;
                if outbox.send((key, fetch(source.as_ref(), key.2))).is_err() {
                    return;
                }
                wake.call();
            }
        };
        let started = std::thread::Builder::new().name("details".to_owned()).spawn(work);
        Self { worker: started.is_ok().then_some((requests, answers)), immediate: started.is_err(), ..Self::default() }
    }

    /// A fetcher that answers at once.
    pub fn immediate() -> Self {
        Self { immediate: true, ..Self::default() }
    }

    /// The fields of `key`, if they are here; else they are on their way.
    pub fn get(&mut self, key: Key, source: &Arc<dyn DetailSource>) -> Option<&Fields> {
        self.receive();
        if !self.known.iter().any(|(known, _)| *known == key) {
            if self.immediate {
                self.keep(key, fetch(source.as_ref(), key.2));
            } else if self.asked != Some(key) {
                let (requests, _) = self.worker.as_ref()?;
                // A frame never waits: when too many requests are on their way, the next frame asks again.
                if requests.try_send((key, Arc::clone(source))).is_ok() {
                    self.asked = Some(key);
                }
            }
        }
        self.known.iter().find(|(known, _)| *known == key).map(|(_, fields)| fields)
    }

    fn receive(&mut self) {
        let Some((_, answers)) = &self.worker else { return };
        let arrived: Vec<_> = answers.try_iter().collect();
        for (key, fields) in arrived {
            self.keep(key, fields);
        }
    }

    fn keep(&mut self, key: Key, fields: Fields) {
        if self.asked == Some(key) {
            self.asked = None;
        }
        self.known.push_back((key, fields));
        if self.known.len() > KEPT {
            self.known.pop_front();
        }
    }
}

fn fetch(source: &dyn DetailSource, row: RowRef) -> Fields {
    source.fields(row).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{DetailError, TableKind};

    #[derive(Debug)]
    struct Echo;

    impl DetailSource for Echo {
        fn fields(&self, row: RowRef) -> Result<Vec<Field>, DetailError> {
            if row.row == 0 {
                return Err(DetailError("no such row".to_owned()));
            }
            Ok(vec![Field::plain("row", row.row.to_string())])
        }
    }

    fn key(row: u32) -> Key {
        (1, 0, RowRef { table: TableKind::Kernel, row })
    }

    #[test]
    fn fields_arrive_from_the_thread_and_are_remembered() {
        let (sender, woken) = sync_channel(8);
        let sender = std::sync::Mutex::new(sender);
        let wake = move || sender.lock().unwrap().send(()).unwrap();
        let mut fetcher = Fetcher::threaded(Wake::new(wake));
        let source: Arc<dyn DetailSource> = Arc::new(Echo);
        assert!(fetcher.get(key(7), &source).is_none());
        woken.recv().unwrap();
        assert_eq!(fetcher.get(key(7), &source).unwrap().as_ref().unwrap()[0].value, "7");
    }

    #[test]
    fn an_immediate_fetcher_answers_at_once_and_keeps_errors_too() {
        let mut fetcher = Fetcher::immediate();
        let source: Arc<dyn DetailSource> = Arc::new(Echo);
        assert_eq!(fetcher.get(key(0), &source), Some(&Err("no such row".to_owned())));
        for row in 1..200 {
            assert!(fetcher.get(key(row), &source).is_some());
        }
        assert_eq!(fetcher.known.len(), KEPT);
    }
}
