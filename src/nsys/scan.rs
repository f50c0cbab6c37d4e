//! Reads a table with several connections at once and hands its rows over in order.
//!
//! The row numbers are cut into runs of [`BATCH_ROWS`]; reader k of n takes every n-th run, and the receiving thread
//! takes the runs in turn, so the order never depends on timing. Each reader may be [`AHEAD`] batches ahead; batches are
//! reused. Cost: at most `readers * (AHEAD + 2)` batches of memory, however big the table.

use super::connect::{Budget, connect_with_budget};
use super::progress::Progress;
use super::rows::{BATCH_ROWS, Batch, Flow, Query, RowError, read};
use rusqlite::Connection;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Batches that a reader may be ahead of the receiver.
const AHEAD: usize = 4;
/// Tables below this many runs are read by one connection: starting threads would cost more.
const PARALLEL_RUNS: u64 = 4;

/// Connections to one file.
#[derive(Debug)]
pub(crate) struct RowSource {
    path: PathBuf,
    bytes: u64,
    readers: usize,
    connections: Vec<Connection>,
    budgets: Vec<Budget>,
}

/// How a scan ended, when nobody stopped it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScanEnd {
    /// Rows handed over.
    pub rows: u64,
    /// Why the rest could not be read.
    pub damage: Option<RowError>,
}

/// The receiver stopped the scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopped;

enum Piece {
    Rows(Batch),
    EndOfRun,
    Failed(RowError),
}

impl RowSource {
    /// Opens `path` (of `bytes` bytes) for up to `readers` reading threads.
    pub fn open(path: &Path, bytes: u64, readers: usize) -> rusqlite::Result<Self> {
        let (connection, budget) = connect_with_budget(path, bytes)?;
        let (connections, budgets) = (vec![connection], vec![budget]);
        Ok(Self { path: path.into(), bytes, readers: readers.max(1), connections, budgets })
    }

    /// The first connection, for single questions.
    pub fn connection(&self) -> Option<&Connection> {
        self.budgets.iter().for_each(Budget::renew);
        self.connections.first()
    }

    /// Hands all rows of `query` to `each`, in the order of their numbers, and counts them in `progress`.
    pub fn scan(
        &mut self,
        query: &Query,
        progress: &Progress,
        mut each: impl FnMut(&Batch),
    ) -> Result<ScanEnd, Stopped> {
        self.budgets.iter().for_each(Budget::renew);
        let mut rows = 0;
        let mut take = |batch: &Batch| {
            rows += batch.len() as u64;
            progress.add_rows(batch.len() as u64);
            each(batch);
            if progress.is_cancelled() { Flow::Stop } else { Flow::Continue }
        };
        let damage = match self.runs(query) {
            Ok(Some(runs)) if self.add_connections() => self.scan_parallel(query, &runs, &mut take),
            Ok(_) => self.scan_plain(query, &mut take),
            Err(error) => Err(error),
        }
        .err();
        if progress.is_cancelled() { Err(Stopped) } else { Ok(ScanEnd { rows, damage }) }
    }

    /// The row numbers to share among readers; `None` when one reader should take the whole table: it is small, its rows
    /// have no numbers, or the numbers are so sparse that walking them would not end.
    fn runs(&self, query: &Query) -> Result<Option<RangeInclusive<i64>>, RowError> {
        let Some(connection) = self.connection().filter(|_| query.numbered() && self.readers > 1) else {
            return Ok(None);
        };
        let Some((first, last)) = query.bounds(connection)? else { return Ok(None) };
        let numbers = last.abs_diff(first);
        // A row takes at least four bytes of the file.
        let sparse = numbers > self.bytes / 4;
        Ok((!sparse && numbers >= PARALLEL_RUNS * BATCH_ROWS as u64).then_some(first..=last))
    }

    /// Opens the connections of the other readers; false when that fails, and one reader has to do.
    fn add_connections(&mut self) -> bool {
        while self.connections.len() < self.readers {
            match connect_with_budget(&self.path, self.bytes) {
                Ok((connection, budget)) => {
                    self.connections.push(connection);
                    self.budgets.push(budget);
                }
                Err(_) => return false,
            }
        }
        true
    }

    fn scan_plain(&self, query: &Query, take: &mut dyn FnMut(&Batch) -> Flow) -> Result<(), RowError> {
        let Some(connection) = self.connection() else { return Ok(()) };
        read(connection, query, None, &mut Batch::new(query), &mut |batch| take(batch))
    }

    fn scan_parallel(
        &mut self,
        query: &Query,
        numbers: &RangeInclusive<i64>,
        take: &mut dyn FnMut(&Batch) -> Flow,
    ) -> Result<(), RowError> {
        let readers = self.connections.len();
        thread::scope(|scope| {
            let mut lanes = Vec::with_capacity(readers);
            for (at, connection) in self.connections.iter_mut().enumerate() {
                let (send, pieces) = sync_channel(AHEAD);
                let (give_back, spare) = sync_channel(AHEAD + 2);
                let runs = Runs { numbers: numbers.clone(), at: at as u64, step: readers as u64 };
                let reader = move || read_runs(connection, query, runs, &send, &spare);
                thread::Builder::new()
                    .name(format!("nsys-rows-{at}"))
                    .spawn_scoped(scope, reader)
                    .map_err(|error| RowError(format!("no thread to read with: {error}")))?;
                lanes.push((pieces, give_back));
            }
            let runs = Runs { numbers: numbers.clone(), at: 0, step: 1 }.count() as u64;
            for run in 0..runs {
                let Some((pieces, give_back)) = lanes.get((run % readers as u64) as usize) else { break };
                if receive_run(pieces, give_back, take)? == Flow::Stop {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// Takes the batches of one run.
fn receive_run(
    pieces: &Receiver<Piece>,
    give_back: &SyncSender<Batch>,
    take: &mut dyn FnMut(&Batch) -> Flow,
) -> Result<Flow, RowError> {
    loop {
        match pieces.recv() {
            Ok(Piece::Rows(batch)) => {
                if take(&batch) == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                // A reader that has ended needs it no more.
                give_back.try_send(batch).ok();
            }
            Ok(Piece::EndOfRun) => return Ok(Flow::Continue),
            Ok(Piece::Failed(error)) => return Err(error),
            Err(_) => return Err(RowError("a reading thread ended early".to_owned())),
        }
    }
}

/// Every `step`-th run of row numbers, starting with run `at`.
struct Runs {
    numbers: RangeInclusive<i64>,
    at: u64,
    step: u64,
}

impl Iterator for Runs {
    type Item = RangeInclusive<i64>;

    fn next(&mut self) -> Option<Self::Item> {
        let skipped = i64::try_from(self.at.checked_mul(BATCH_ROWS as u64)?).ok()?;
        let first = self.numbers.start().checked_add(skipped).filter(|first| first <= self.numbers.end())?;
        self.at += self.step;
        let last = first.saturating_add(BATCH_ROWS as i64 - 1).min(*self.numbers.end());
        Some(first..=last)
    }
}

/// Reads runs until there is none left, something fails, or nobody listens any more.
fn read_runs(connection: &Connection, query: &Query, runs: Runs, send: &SyncSender<Piece>, spare: &Receiver<Batch>) {
    let mut batch = Batch::new(query);
    for run in runs {
        let mut gone = false;
        let outcome = read(connection, query, Some(run), &mut batch, &mut |batch| {
            let next = spare.try_recv().unwrap_or_else(|_| Batch::new(query));
            let full = std::mem::replace(batch, next);
            batch.clear();
            gone |= send.send(Piece::Rows(full)).is_err();
            if gone { Flow::Stop } else { Flow::Continue }
        });
        let end = match outcome {
            Ok(()) => Piece::EndOfRun,
            Err(error) => Piece::Failed(error),
        };
        let failed = matches!(end, Piece::Failed(_));
        if gone || send.send(end).is_err() || failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::ColumnKind;
    use super::super::schema::Schema;
    use super::*;

    fn file(sql: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.sqlite");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        (folder, path)
    }

    fn numbers(path: &Path, readers: usize) -> (Vec<i64>, ScanEnd) {
        let bytes = std::fs::metadata(path).unwrap().len();
        let mut source = RowSource::open(path, bytes, readers).unwrap();
        let connection = source.connection().unwrap();
        let table = Schema::read(connection).unwrap().find(connection, "t").unwrap().unwrap().table;
        let query = Query::new(&table, &[(Some("a"), ColumnKind::Int)]);
        let mut found = Vec::new();
        let end = source
            .scan(&query, &Progress::new(), |batch| found.extend((0..batch.len()).filter_map(|row| batch.int(0, row))))
            .unwrap();
        (found, end)
    }

    const MANY: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)";

    #[test]
    fn several_readers_deliver_the_order_of_one() {
        let (_folder, path) = file(&format!(
            "CREATE TABLE t(a); {MANY} INSERT INTO t(rowid, a) SELECT i, i * 7 FROM n; DELETE FROM t WHERE rowid BETWEEN 20000 AND 50000;"
        ));
        let (one, end) = numbers(&path, 1);
        assert_eq!((one.len(), end.damage), (69_999, None));
        for readers in [2, 3, 5] {
            assert_eq!(numbers(&path, readers).0, one);
        }
    }

    #[test]
    fn row_numbers_far_apart_are_not_walked_one_by_one() {
        let (_folder, path) = file(
            "CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (-9223372036854775808, 1), (9223372036854775807, 2);",
        );
        assert_eq!(numbers(&path, 2).0, [1, 2]);
    }

    #[test]
    fn cancelling_stops_all_readers() {
        let (_folder, path) = file(&format!("CREATE TABLE t(a); {MANY} INSERT INTO t SELECT i FROM n;"));
        let mut source = RowSource::open(&path, 1 << 30, 2).unwrap();
        let connection = source.connection().unwrap();
        let table = Schema::read(connection).unwrap().find(connection, "t").unwrap().unwrap().table;
        let query = Query::new(&table, &[(Some("a"), ColumnKind::Int)]);
        let progress = Progress::new();
        let mut batches = 0;
        let outcome = source.scan(&query, &progress, |_| {
            batches += 1;
            progress.cancel();
        });
        assert_eq!((outcome, batches), (Err(Stopped), 1));
    }
}
