//! How far a load is, and a way to stop it: shared between the loading thread and whoever watches it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Progress of one load. Cheap to poll from another thread: three atomics and, for the table's name, a short lock.
#[derive(Debug, Default)]
pub struct Progress {
    rows_done: AtomicU64,
    rows_total: AtomicU64,
    cancelled: AtomicBool,
    table: Mutex<String>,
}

impl Progress {
    /// Nothing done yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows read so far.
    pub fn rows_done(&self) -> u64 {
        self.rows_done.load(Ordering::Relaxed)
    }

    /// Rows to read, estimated from the highest row number of each table; 0 until the tables are known.
    pub fn rows_total(&self) -> u64 {
        self.rows_total.load(Ordering::Relaxed)
    }

    /// Share of rows read, 0 to 1; `None` until the tables are known.
    pub fn fraction(&self) -> Option<f32> {
        let total = self.rows_total();
        (total > 0).then(|| (self.rows_done() as f32 / total as f32).min(1.0))
    }

    /// The table that is being read; empty before the first.
    pub fn table(&self) -> String {
        self.table.lock().map(|name| name.clone()).unwrap_or_default()
    }

    /// Asks the load to stop; it returns [`super::LoadError::Cancelled`] after the rows in hand.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// True once [`Self::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Says how many rows there are to read.
    pub fn set_total(&self, rows: u64) {
        self.rows_total.store(rows, Ordering::Relaxed);
    }

    /// Says which table is being read.
    pub fn set_table(&self, table: &str) {
        if let Ok(mut name) = self.table.lock() {
            table.clone_into(&mut name);
        }
    }

    /// Says that so many more rows were read.
    pub fn add_rows(&self, rows: u64) {
        self.rows_done.fetch_add(rows, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_known_once_the_total_is() {
        let progress = Progress::new();
        assert_eq!(progress.fraction(), None);
        progress.set_total(8);
        progress.add_rows(2);
        assert_eq!(progress.fraction(), Some(0.25));
        progress.add_rows(20);
        assert_eq!(progress.fraction(), Some(1.0), "an estimate that was too low never shows more than all");
    }
}
