//! Every threshold of the verdict and the findings, in one place; the user's settings file may override each.
//!
//! Defaults come from what the field's tools use (Holistic Trace Analysis, the TensorBoard profiler, TraceLens, the
//! rules of Nsight Systems) where they agree, and from simulated jobs with known losses where they do not.

use serde::{Deserialize, Serialize};

/// When something is worth saying. Shares are of the step unless said otherwise, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct Thresholds {
    /// The largest loss is the verdict from this share on.
    pub verdict_share: f64,
    /// Idle gaps of at least this length are listed one by one, in nanoseconds; the shorter ones are summed.
    pub listed_gap_ns: i64,
    /// A second loss this close to the largest is named beside it.
    pub also_share: f64,
    /// A finding is a warning from this share on, else a note.
    pub warning_share: f64,
    /// Exposed communication is told from here on.
    pub exposed_share: f64,
    /// Findings on communication are warnings from here on.
    pub exposed_warning_share: f64,
    /// Less of the communication than this runs beside compute: it does not overlap.
    pub overlap_low: f64,
    /// Communication on the stream of the compute kernels.
    pub comm_on_compute_stream_share: f64,
    /// Collectives shorter than this are tiny, nanoseconds.
    pub tiny_collective_ns: i64,
    /// So many tiny collectives a step are too many.
    pub tiny_collectives: f64,
    /// One collective a step holds more than this share of the exposed time.
    pub tail_share: f64,
    /// Bus bandwidth of large messages below this share of what others of the job reach.
    pub bandwidth_low: f64,
    /// Messages of at least so many bytes are large.
    pub large_message_bytes: u64,
    /// Pipeline bubble is told from here on.
    pub bubble_share: f64,
    /// A bubble this many times as large as the schedule's is called too large.
    pub bubble_excess: f64,
    /// Time lost around launches.
    pub launch_share: f64,
    /// Host code in gaps shorter than this is the cost of launching, nanoseconds; in longer ones it is a pause.
    pub short_gap_ns: i64,
    /// Kernels shorter than this are small, nanoseconds.
    pub small_kernel_ns: i64,
    /// So many small kernels a step are many.
    pub small_kernels: f64,
    /// Small kernels with the gaps before them, share of the time the GPU is busy.
    pub small_kernel_share: f64,
    /// Idle time because of synchronisation.
    pub sync_share: f64,
    /// Idle time because of data.
    pub data_share: f64,
    /// A single stall of host code this long is a pause, nanoseconds: Python's garbage collector takes tens to hundreds
    /// of milliseconds.
    pub pause_ns: i64,
    /// Idle time in allocations.
    pub allocator_share: f64,
    /// Idle time in system calls.
    pub os_wait_share: f64,
    /// A launch that takes longer was held up, as by a full queue, nanoseconds.
    pub full_queue_call_ns: i64,
    /// Kernels launched so often in the capture are worth fusing when they are small.
    pub often_launched: u64,
    /// A collective this many times as long as the mean of others like it stands out.
    pub outlier_times_mean: u32,
    /// Messages up to this size take microseconds on every link in use: latency decides, not bandwidth.
    pub tiny_message_bytes: u64,
    /// A tiny message in flight for longer than this waited for another rank, nanoseconds.
    pub tiny_message_wait_ns: i64,
    /// Collectives of one size beside compute this many times as long as those alone suffer from it.
    pub contention_ratio: f64,
    /// Compute kernels beside communication take this much longer than alone, as a share of their time alone.
    pub slower_beside_comm: f64,
    /// Compute from here on, with little exposed and idle, is healthy.
    pub healthy_compute_share: f64,
    /// Exposed communication, and idle time, below which a job is healthy.
    pub healthy_loss_share: f64,
    /// Attention in separate kernels.
    pub attention_share: f64,
    /// Elementwise and reduction kernels, share of compute.
    pub elementwise_share: f64,
    /// What fusing their runs would save, share of compute.
    pub fusable_share: f64,
    /// Matrix products without tensor cores, share of all matrix products.
    pub no_tensor_core_share: f64,
    /// Time that kernels leave the card empty because they have too few blocks.
    pub small_grid_share: f64,
    /// Forward attention kernels per backward one from which the forward pass ran twice.
    pub recompute_ratio: f64,
    /// Copies that no kernel hides.
    pub copy_share: f64,
    /// Device wait and what the capture does not explain.
    pub unattributed_share: f64,
    /// Mean length of expert kernels below which they are small, nanoseconds.
    pub expert_kernel_ns: i64,
    /// The capture goes on this share of its length after the last GPU operation, or more.
    pub silent_end_share: f64,
    /// The profiler's own time is worth a note from here on (share of the capture).
    pub overhead_share: f64,
    /// The profiler's own time spoils the numbers from here on (share of the capture).
    pub overhead_spoils_share: f64,
    /// MFU below this is low.
    pub mfu_low: f64,
    /// Idle and exposed time below this is little.
    pub busy_loss_share: f64,
    /// Idle and exposed time from here on is much.
    pub idle_loss_share: f64,
}

impl Thresholds {
    /// Says which threshold makes no sense.
    ///
    /// # Errors
    /// When one is negative or not finite, or a share is above 1.
    pub fn check(&self) -> Result<(), String> {
        let table = toml::Table::try_from(self).unwrap_or_default();
        for (key, value) in &table {
            let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64)).unwrap_or(0.0);
            let most = if key.ends_with("_share") { 1.0 } else { f64::MAX };
            if !(0.0..=most).contains(&number) {
                let range = if most > 1.0 { "0 or more" } else { "0 to 1" };
                return Err(format!("thresholds.{key} must be {range}, not {number}"));
            }
        }
        Ok(())
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            verdict_share: 0.10,
            listed_gap_ns: 2_000,
            also_share: 0.03,
            warning_share: 0.05,
            exposed_share: 0.02,
            exposed_warning_share: 0.10,
            overlap_low: 0.30,
            comm_on_compute_stream_share: 0.05,
            tiny_collective_ns: 50_000,
            tiny_collectives: 100.0,
            tail_share: 0.50,
            bandwidth_low: 0.50,
            large_message_bytes: 8_000_000,
            bubble_share: 0.02,
            bubble_excess: 1.2,
            launch_share: 0.05,
            short_gap_ns: 1_000_000,
            small_kernel_ns: 10_000,
            small_kernels: 100.0,
            small_kernel_share: 0.10,
            sync_share: 0.01,
            data_share: 0.02,
            pause_ns: 20_000_000,
            allocator_share: 0.005,
            os_wait_share: 0.02,
            full_queue_call_ns: 50_000,
            often_launched: 100,
            outlier_times_mean: 3,
            tiny_message_bytes: 64 << 10,
            tiny_message_wait_ns: 200_000,
            contention_ratio: 1.2,
            slower_beside_comm: 0.10,
            healthy_compute_share: 0.85,
            healthy_loss_share: 0.05,
            attention_share: 0.03,
            elementwise_share: 0.15,
            fusable_share: 0.08,
            no_tensor_core_share: 0.10,
            small_grid_share: 0.10,
            recompute_ratio: 1.5,
            copy_share: 0.02,
            unattributed_share: 0.02,
            expert_kernel_ns: 20_000,
            silent_end_share: 0.25,
            overhead_share: 0.05,
            overhead_spoils_share: 0.15,
            mfu_low: 0.30,
            busy_loss_share: 0.15,
            idle_loss_share: 0.30,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_settings_table_overrides_some_and_refuses_what_it_does_not_know() {
        let own: Thresholds = toml::from_str("verdict_share = 0.2\npause_ns = 5_000_000\n").unwrap();
        assert_eq!((own.verdict_share, own.pause_ns), (0.2, 5_000_000));
        assert_eq!(own.also_share, Thresholds::default().also_share);
        assert!(toml::from_str::<Thresholds>("verdict_shar = 0.2\n").is_err());
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = toml::to_string(&Thresholds::default()).unwrap();
        assert_eq!(toml::from_str::<Thresholds>(&text).unwrap(), Thresholds::default());
    }
}
