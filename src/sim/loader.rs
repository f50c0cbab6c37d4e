//! The data loader: workers that prepare batches ahead of the training thread.

use super::config::JobConfig;
use super::rng::Rng;

/// Batches each worker prepares ahead.
const PREFETCH: usize = 2;
/// Taking a batch that is ready.
const TAKE_NS: f64 = 180_000.0;

/// The loader of one rank.
#[derive(Debug)]
pub(super) struct Loader {
    workers: usize,
    batch_ns: f64,
    late_batches: Vec<u32>,
    late_ns: i64,
    rng: Rng,
    /// When each batch was ready, and when it was taken.
    ready_ns: Vec<i64>,
    taken_ns: Vec<i64>,
}

impl Loader {
    pub(super) fn new(cfg: &JobConfig, rank: u32) -> Self {
        let factor = if cfg.stragglers.contains(&rank) { cfg.data_factor } else { 1.0 };
        Self {
            workers: cfg.loader_workers as usize,
            batch_ns: cfg.loader_ms * 1e6 * factor,
            late_batches: cfg.slow_loader_steps.clone(),
            late_ns: (cfg.slow_loader_ms * 1e6) as i64,
            rng: Rng::new(cfg.seed, (u64::from(rank) << 8) + 9),
            ready_ns: Vec::new(),
            taken_ns: Vec::new(),
        }
    }

    /// When the next batch is in hand, asked for at `now_ns`.
    pub(super) fn fetch(&mut self, now_ns: i64) -> i64 {
        let batch = self.taken_ns.len();
        let cost = self.rng.scatter(self.batch_ns, 0.01);
        let ready = if self.workers == 0 {
            now_ns + cost
        } else {
            // A worker goes on when its batch before is done and one of those it prepared ahead was taken.
            let before = |list: &[i64], back: usize| batch.checked_sub(back).map_or(0, |at| list[at]);
            let free = before(&self.ready_ns, self.workers).max(before(&self.taken_ns, self.workers * PREFETCH));
            // Workers do not start in step: their first batches come evenly spread.
            let spread = if batch < self.workers { batch as f64 / self.workers as f64 } else { 0.0 };
            free + cost + (spread * self.batch_ns) as i64
        };
        self.ready_ns.push(ready);
        let late = if self.late_batches.contains(&(batch as u32)) { self.late_ns } else { 0 };
        let taken = now_ns.max(ready).max(now_ns + late) + self.rng.scatter(TAKE_NS, 0.2);
        self.taken_ns.push(taken);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(cfg: &JobConfig, step_ns: i64, batches: usize) -> Vec<i64> {
        let mut loader = Loader::new(cfg, 0);
        let mut now = 0;
        (0..batches)
            .map(|_| {
                let taken = loader.fetch(now);
                let wait = taken - now;
                now = taken + step_ns;
                wait
            })
            .collect()
    }

    #[test]
    fn workers_that_keep_up_are_not_waited_for_after_the_first_batch() {
        let cfg =
            JobConfig { loader_ms: 40.0, loader_workers: 2, slow_loader_steps: Vec::new(), ..JobConfig::default() };
        let waits = waits(&cfg, 50_000_000, 10);
        assert!(waits[0] > 38_000_000 && waits[1..].iter().all(|wait| *wait < 1_000_000), "{waits:?}");
    }

    #[test]
    fn workers_that_do_not_keep_up_set_the_pace() {
        let cfg =
            JobConfig { loader_ms: 400.0, loader_workers: 4, slow_loader_steps: Vec::new(), ..JobConfig::default() };
        let total: i64 = waits(&cfg, 20_000_000, 41).iter().map(|wait| wait + 20_000_000).sum();
        let per_batch = total / 41;
        assert!((98_000_000..115_000_000).contains(&per_batch), "{per_batch}");
    }
}
