//! Why a GPU was idle: the causes and their sums.

use super::means;
use serde::de::Deserializer;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Why nothing ran on the GPU during a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The training loop waited for its next batch.
    Data,
    /// The host waited for the GPU to drain, so nothing was queued.
    Sync,
    /// The host ran code between CUDA calls.
    HostCode,
    /// The host was inside a call that issues work.
    Launch,
    /// The work was submitted and did not run yet.
    LaunchLatency,
    /// The next operation was queued and started within microseconds.
    Turnaround,
    /// The host was inside an allocation or a free.
    Allocator,
    /// The host loaded or compiled a module.
    ModuleLoad,
    /// The host thread was inside an OS runtime call.
    OsWait,
    /// The next operation was queued, but waited for an event, its stream's order, or another device.
    DeviceWait,
    /// The next operation has no launch in the capture.
    Unknown,
}

impl Cause {
    /// Number of causes.
    pub const COUNT: usize = 11;

    /// All causes, in the order of tables and legends.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Data,
        Self::Sync,
        Self::HostCode,
        Self::Launch,
        Self::LaunchLatency,
        Self::Turnaround,
        Self::Allocator,
        Self::ModuleLoad,
        Self::OsWait,
        Self::DeviceWait,
        Self::Unknown,
    ];

    /// Stable word for programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Sync => "sync",
            Self::HostCode => "host_code",
            Self::Launch => "launch",
            Self::LaunchLatency => "launch_latency",
            Self::Turnaround => "turnaround",
            Self::Allocator => "allocator",
            Self::ModuleLoad => "module_load",
            Self::OsWait => "os_wait",
            Self::DeviceWait => "device_wait",
            Self::Unknown => "unknown",
        }
    }

    /// Text for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Sync => "sync",
            Self::HostCode => "host code",
            Self::Launch => "launch",
            Self::LaunchLatency => "launch latency",
            Self::Turnaround => "turnaround",
            Self::Allocator => "allocator",
            Self::ModuleLoad => "module load",
            Self::OsWait => "OS wait",
            Self::DeviceWait => "device wait",
            Self::Unknown => "unknown",
        }
    }

    /// One or two letters, for where the text does not fit.
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Data => "D",
            Self::Sync => "S",
            Self::HostCode => "H",
            Self::Launch => "L",
            Self::LaunchLatency => "LL",
            Self::Turnaround => "T",
            Self::Allocator => "A",
            Self::ModuleLoad => "M",
            Self::OsWait => "O",
            Self::DeviceWait => "W",
            Self::Unknown => "?",
        }
    }

    /// What the cause means, in one sentence.
    pub const fn definition(self) -> &'static str {
        match self {
            Self::Data => "The launching thread was loading data, or no step was open: the GPU waited for its batch.",
            Self::Sync => {
                "A synchronising call had drained the queue, or the launching thread was still inside one: nothing was \
                 queued when the GPU ran dry."
            }
            Self::HostCode => "The launching thread made no CUDA call: Python or C++ between two launches.",
            Self::Launch => "The launching thread was inside a CUDA call that issues work.",
            Self::LaunchLatency => "The call had returned, but the operation had not started yet.",
            Self::Turnaround => {
                "The next operation was queued already and started within 5 µs: the cost of many small operations."
            }
            Self::Allocator => "The launching thread was allocating or freeing memory.",
            Self::ModuleLoad => "The launching thread was loading or compiling GPU code.",
            Self::OsWait => "The launching thread was inside a system call such as a lock, a read or a sleep.",
            Self::DeviceWait => {
                "The next operation was queued, but waited for an event, for its stream's order or for another device."
            }
            Self::Unknown => "The call that launched the next operation is not in the capture.",
        }
    }
}

/// Idle nanoseconds by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Causes {
    ns: [i64; Cause::COUNT],
}

impl Causes {
    /// Nanoseconds of `cause`.
    pub const fn of(&self, cause: Cause) -> i64 {
        self.ns[cause as usize]
    }

    /// Adds to one cause.
    pub const fn add(&mut self, cause: Cause, ns: i64) {
        self.ns[cause as usize] = self.ns[cause as usize].saturating_add(ns);
    }

    /// Moves all of one cause to another.
    pub const fn transfer(&mut self, from: Cause, to: Cause) {
        let ns = self.of(from);
        self.ns[from as usize] = 0;
        self.add(to, ns);
    }

    /// What is left without `other`.
    pub fn less(mut self, other: Self) -> Self {
        for cause in Cause::ALL {
            self.add(cause, other.of(cause).saturating_neg());
        }
        self
    }

    /// Sum over all causes.
    pub fn total_ns(&self) -> i64 {
        self.ns.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    /// The cause with the most time; `None` when there is none at all.
    pub fn largest(&self) -> Option<Cause> {
        let mut best: (Option<Cause>, i64) = (None, 0);
        for (cause, ns) in Cause::ALL.into_iter().zip(self.ns) {
            if ns > best.1 {
                best = (Some(cause), ns);
            }
        }
        best.0
    }

    /// Causes with time, each with its nanoseconds, in the order of [`Cause::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Cause, i64)> {
        Cause::ALL.into_iter().map(|cause| (cause, self.of(cause))).filter(|(_, ns)| *ns != 0)
    }

    /// Means over several, rounded so that they sum to `idle_ns`, the mean idle time.
    pub fn mean(of: &[Self], idle_ns: i64) -> Self {
        let mut mean = Self::default();
        let Ok(count) = i128::try_from(of.len()) else { return mean };
        if count == 0 {
            return mean;
        }
        let sums = Cause::ALL.map(|cause| of.iter().map(|c| i128::from(c.of(cause))).sum::<i128>());
        for (cause, ns) in Cause::ALL.into_iter().zip(means::rounded(&sums, count, idle_ns)) {
            mean.add(cause, ns);
        }
        mean
    }
}

impl AddAssign for Causes {
    fn add_assign(&mut self, other: Self) {
        for cause in Cause::ALL {
            self.add(cause, other.of(cause));
        }
    }
}

/// A map of every cause's key to its nanoseconds, zeros included.
impl Serialize for Causes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Cause::COUNT))?;
        for cause in Cause::ALL {
            map.serialize_entry(cause.key(), &self.of(cause))?;
        }
        map.end()
    }
}

/// What [`Serialize`] writes; causes that are left out are 0.
impl<'de> Deserialize<'de> for Causes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut causes = Self::default();
        for (cause, ns) in BTreeMap::<Cause, i64>::deserialize(deserializer)? {
            causes.add(cause, ns);
        }
        Ok(causes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_sum_to_the_mean_idle_time() {
        let of = |ns: &[(Cause, i64)]| {
            let mut causes = Causes::default();
            ns.iter().for_each(|(cause, ns)| causes.add(*cause, *ns));
            causes
        };
        let rows = [of(&[(Cause::Data, 1), (Cause::Sync, 1)]), of(&[(Cause::Sync, 1), (Cause::Launch, 2)])];
        let mean = Causes::mean(&rows, 2);
        assert_eq!(mean.total_ns(), 2);
        assert_eq!((mean.of(Cause::Sync), mean.largest()), (1, Some(Cause::Sync)));
    }

    #[test]
    fn every_cause_has_its_place() {
        for (at, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, at);
        }
    }
}
