//! CUDA API calls by name.

use crate::trace::{NameId, Trace};
use crate::units::Span;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::ops::Range;

/// Calls of one name in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiCallSum {
    /// Function without the suffix of its version.
    pub name: String,
    /// Calls. One recorded inside another of the same name is the same call seen twice and does not count.
    pub count: u64,
    /// Sum over all threads: thread time, which may exceed the time that passed.
    pub total_ns: i64,
    /// Mean, rounded down.
    pub mean_ns: i64,
    /// Longest.
    pub longest_ns: i64,
    /// The longest call, as an index into the process's calls.
    #[serde(skip)]
    pub longest: u32,
}

/// Name of a function without the suffix of its version: `cudaLaunchKernel` of `cudaLaunchKernel_v7000`.
pub fn base_name(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((base, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
}

/// Calls of `process` that begin in `window`, the name with the most time first.
pub(super) fn api_calls(trace: &Trace, process: usize, window: Span) -> Vec<ApiCallSum> {
    let mut sums: Vec<ApiCallSum> = Vec::new();
    let mut groups = Groups::default();
    for thread in trace.threads.iter().filter(|thread| thread.process == process) {
        each_call(trace, process, &thread.api, window, &mut groups, |group, name, call, span| {
            if sums.len() <= group {
                let name = base_name(trace.name(name)).to_owned();
                sums.push(ApiCallSum { name, count: 0, total_ns: 0, mean_ns: 0, longest_ns: -1, longest: call });
            }
            let Some(sum) = sums.get_mut(group) else { return };
            sum.count += 1;
            sum.total_ns = sum.total_ns.saturating_add(span.len_ns());
            if span.len_ns() > sum.longest_ns {
                (sum.longest_ns, sum.longest) = (span.len_ns(), call);
            }
        });
    }
    for sum in &mut sums {
        sum.mean_ns = sum.total_ns / i64::try_from(sum.count).unwrap_or(i64::MAX).max(1);
    }
    sums.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
    sums
}

/// Names that differ only in their version, as small numbers.
#[derive(Debug, Default)]
pub(super) struct Groups<'t> {
    by_id: FxHashMap<NameId, usize>,
    by_text: FxHashMap<&'t str, usize>,
}

impl<'t> Groups<'t> {
    fn of(&mut self, trace: &'t Trace, name: NameId) -> usize {
        let next = self.by_text.len();
        *self.by_id.entry(name).or_insert_with(|| *self.by_text.entry(base_name(trace.name(name))).or_insert(next))
    }
}

/// Hands every call among `calls` (of one thread) that begins in `window` to `each`, with the number of its name; calls
/// inside another of the same name are passed over.
pub(super) fn each_call<'t>(
    trace: &'t Trace,
    process: usize,
    calls: &Range<u32>,
    window: Span,
    groups: &mut Groups<'t>,
    mut each: impl FnMut(usize, NameId, u32, Span),
) {
    let Some(api) = trace.processes.get(process).map(|process| &process.api) else { return };
    let (first, last) = (calls.start as usize, (calls.end as usize).min(api.len()));
    let starts = api.start_ns.get(first..last).unwrap_or(&[]);
    let begin = first + starts.partition_point(|start| *start < window.start_ns);
    let end = first + starts.partition_point(|start| *start < window.end_ns);
    // Calls of one thread nest, the outer one first.
    let mut outer: Option<(usize, i64)> = None;
    for call in begin..end {
        let (span, name) = (api.span(call), api.name[call]);
        let group = groups.of(trace, name);
        if outer.is_some_and(|(known, end_ns)| known == group && span.end_ns <= end_ns && span.start_ns < end_ns) {
            continue;
        }
        if outer.is_none_or(|(_, end_ns)| span.start_ns >= end_ns) {
            outer = Some((group, span.end_ns));
        }
        each(group, name, call as u32, span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn versions_are_cut_off() {
        assert_eq!(base_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
        assert_eq!(base_name("cuLaunchKernelEx"), "cuLaunchKernelEx");
        assert_eq!(base_name("my_v"), "my_v");
        assert_eq!(base_name("cuMemAlloc_v2"), "cuMemAlloc");
    }

    #[test]
    fn calls_are_summed_over_threads_and_versions_but_not_twice() {
        let trace = Fixture::new()
            .call("cudaLaunchKernel", 1, 0, 50, None)
            .call("cudaLaunchKernel_v7000", 1, 5, 45, None)
            .call("cudaLaunchKernel_v7000", 2, 100, 130, None)
            .call("cudaFree", 1, 60, 61, None)
            .build();
        let sums = api_calls(&trace, 0, Span::new(0, 1000));
        let told: Vec<(&str, u64, i64, i64, i64)> =
            sums.iter().map(|s| (s.name.as_str(), s.count, s.total_ns, s.mean_ns, s.longest_ns)).collect();
        assert_eq!(told, [("cudaLaunchKernel", 2, 80, 40, 50), ("cudaFree", 1, 1, 1, 1)]);
        assert_eq!(api_calls(&trace, 0, Span::new(90, 1000)).len(), 1, "only what begins in the window");
    }
}
