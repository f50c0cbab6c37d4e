//! Latency and queue depth over time, for plots.
//!
//! The whole capture is kept in [`super::BASE_BINS`] bins. A wide view adds neighbouring bins up; a view too narrow for
//! them is counted anew from the few operations in it, from the depth that the bin around its start began with. Both
//! give the exact maximum and mean of each point.

use super::depth::{self, DepthBin};
use super::{BASE_BINS, Launched, Launches};
use crate::trace::Trace;
use crate::units::Span;

/// Latency and queue depth during one part of a view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchPoint {
    /// The part.
    pub span: Span,
    /// Most launches submitted and not started.
    pub max_depth: u32,
    /// Mean of that.
    pub mean_depth: f64,
    /// Launches whose work started in it.
    pub launches: u64,
    /// Their mean latency in nanoseconds; `None` without launches.
    pub mean_latency_ns: Option<f64>,
    /// Their longest latency.
    pub max_latency_ns: Option<i64>,
}

/// Latencies of the launches whose work starts in one bin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LatencyBin {
    count: u64,
    sum_ns: i128,
    max_ns: i64,
}

impl LatencyBin {
    fn add(&mut self, latency_ns: i64) {
        self.count += 1;
        self.sum_ns += i128::from(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }
}

fn point(span: Span, depth: &[DepthBin], latency: &[LatencyBin]) -> LaunchPoint {
    let area_ns: i128 = depth.iter().map(|bin| bin.area_ns).sum();
    let launches: u64 = latency.iter().map(|bin| bin.count).sum();
    let latency_ns: i128 = latency.iter().map(|bin| bin.sum_ns).sum();
    LaunchPoint {
        span,
        max_depth: depth.iter().map(|bin| bin.max).max().unwrap_or(0),
        mean_depth: area_ns as f64 / span.len_ns().max(1) as f64,
        launches,
        mean_latency_ns: (launches > 0).then(|| latency_ns as f64 / launches as f64),
        max_latency_ns: latency.iter().filter(|bin| bin.count > 0).map(|bin| bin.max_ns).max(),
    }
}

fn latency_bins(launched: &Launched<'_>, (start_ns, width_ns, count): (i64, i64, usize)) -> Vec<LatencyBin> {
    let mut bins = vec![LatencyBin::default(); count];
    let end_ns = start_ns.saturating_add(width_ns.saturating_mul(count as i64));
    for op in launched.starting_in(Span::new(start_ns, end_ns)) {
        let Some(latency_ns) = launched.latency_ns(op) else { continue };
        let at = (launched.ops.start_ns[op] - start_ns) / width_ns.max(1);
        if let Some(bin) = usize::try_from(at).ok().and_then(|at| bins.get_mut(at)) {
            bin.add(latency_ns);
        }
    }
    bins
}

impl Launches {
    /// Fills the bins of the whole capture.
    pub(super) fn make_base(&mut self, launched: &Launched<'_>, submitted: &[i64], started: &[i64], span: Span) {
        // Launches are submitted before their work starts, so the depth before the first operation counts too.
        let start_ns = submitted.first().copied().unwrap_or(span.start_ns).min(span.start_ns);
        let width_ns = (span.end_ns.saturating_sub(start_ns) / BASE_BINS as i64).saturating_add(1);
        let grid = (start_ns, width_ns, BASE_BINS);
        self.base = depth::bins(0, submitted, started, grid);
        self.base_latency = latency_bins(launched, grid);
        (self.base_start_ns, self.base_width_ns) = (start_ns, width_ns);
    }

    /// Latency and queue depth of rank `rank` over `window`, in at most `most` points. Costs what lies in the window, or
    /// the kept bins when that is more.
    pub fn series(&self, trace: &Trace, rank: usize, window: Span, most: usize) -> Vec<LaunchPoint> {
        let width_ns = (window.len_ns() / most.max(1) as i64).saturating_add(1);
        let Some(launched) = self.launched(trace, rank) else { return Vec::new() };
        if self.base.is_empty() || window.is_empty() || most == 0 {
            return Vec::new();
        }
        if width_ns > self.base_width_ns {
            self.wide(window, width_ns)
        } else {
            self.narrow(&launched, window, width_ns)
        }
    }

    fn bin_at(&self, at_ns: i64) -> usize {
        let at = at_ns.saturating_sub(self.base_start_ns) / self.base_width_ns.max(1);
        usize::try_from(at).unwrap_or(0).min(self.base.len())
    }

    fn wide(&self, window: Span, width_ns: i64) -> Vec<LaunchPoint> {
        let step = usize::try_from(width_ns / self.base_width_ns.max(1) + 1).unwrap_or(1);
        // Points begin at multiples of their width, so that they stay the same while the view moves.
        let first = self.bin_at(window.start_ns) / step * step;
        let last = self.bin_at(window.end_ns.saturating_sub(1)).saturating_add(1).min(self.base.len());
        let of = |at: usize| {
            let bins = at..(at + step).min(self.base.len());
            let edge = |bin: usize| self.base_start_ns.saturating_add(self.base_width_ns.saturating_mul(bin as i64));
            let span = Span::new(edge(bins.start), edge(bins.end));
            point(span, self.base.get(bins.clone()).unwrap_or(&[]), self.base_latency.get(bins).unwrap_or(&[]))
        };
        (first..last).step_by(step).map(of).collect()
    }

    fn narrow(&self, launched: &Launched<'_>, window: Span, width_ns: i64) -> Vec<LaunchPoint> {
        let count = usize::try_from(window.len_ns() / width_ns + 1).unwrap_or(1);
        // The bin around the start tells the depth that the count begins with.
        let bin = self.bin_at(window.start_ns);
        let bin_start_ns = self.base_start_ns.saturating_add(self.base_width_ns.saturating_mul(bin as i64));
        let begun = window.start_ns >= self.base_start_ns;
        let (before, from_ns) = match self.base.get(bin).filter(|_| begun) {
            Some(base) => (base.at_start, bin_start_ns),
            None => (0, if begun { i64::MAX } else { i64::MIN }),
        };
        let grid = (window.start_ns, width_ns, count);
        // The last point may reach beyond the window, and holds what happens there too.
        let grid_end_ns = window.start_ns.saturating_add(width_ns.saturating_mul(count as i64));
        let counted = Span::new(from_ns, grid_end_ns.max(from_ns));
        // What happened at the very start of the bin is in its depth already.
        let is_new = |ns: &i64| *ns > from_ns || from_ns == i64::MIN;
        let ops = launched.starting_in(counted);
        let first = ops.filter(|op| launched.call(*op).is_some()).map(|op| launched.ops.start_ns[op]);
        let started: Vec<i64> = first.filter(is_new).collect();
        let mut submitted: Vec<i64> = self.submitted_in(launched, counted).filter(is_new).collect();
        submitted.sort_unstable();
        let depth = depth::bins(before, &submitted, &started, grid);
        let latency = latency_bins(launched, grid);
        let of = |(at, (depth, latency)): (usize, (&DepthBin, &LatencyBin))| {
            let start_ns = window.start_ns.saturating_add(width_ns.saturating_mul(at as i64));
            let span = Span::new(start_ns, start_ns.saturating_add(width_ns));
            point(span, std::slice::from_ref(depth), std::slice::from_ref(latency))
        };
        depth.iter().zip(&latency).enumerate().map(of).collect()
    }

    /// Starts of the launching calls in `window`, thread after thread.
    fn submitted_in<'a>(&'a self, launched: &'a Launched<'_>, window: Span) -> impl Iterator<Item = i64> + 'a {
        let starts = &launched.process.api.start_ns;
        self.threads.iter().flat_map(move |calls| {
            let (first, last) = (calls.start as usize, (calls.end as usize).min(starts.len()));
            let own = starts.get(first..last).unwrap_or(&[]);
            let from = own.partition_point(|start| *start < window.start_ns);
            let to = own.partition_point(|start| *start < window.end_ns).max(from);
            let is_launch = move |at: &usize| self.launching.contains(first + at);
            (from..to).filter(is_launch).filter_map(move |at| own.get(at).copied())
        })
    }
}
