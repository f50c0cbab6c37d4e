use super::*;
use crate::trace::testing::{Fixture, PID};
use crate::trace::{NONE, NameId, RangeKind, RawRange};
use proptest::prelude::*;

/// What a made-up process did.
#[derive(Debug, Clone)]
struct Job {
    /// Thread, start and length of ranges, and whether another thread ended them.
    ranges: Vec<(i64, i64, i64, bool)>,
    /// Thread, start and length of calls, delay and length of their operations.
    launches: Vec<(i64, i64, i64, i64, i64)>,
}

fn any_job() -> impl Strategy<Value = Job> {
    let ranges = prop::collection::vec((1_i64..4, 0_i64..60, 0_i64..40, any::<bool>()), 0..20);
    let launches = prop::collection::vec((1_i64..4, 0_i64..80, 1_i64..9, 0_i64..30, 0_i64..9), 0..40);
    (ranges, launches).prop_map(|(ranges, launches)| Job { ranges, launches })
}

impl Job {
    fn trace(&self) -> Trace {
        let mut fixture = Fixture::new();
        fixture.kernel("so that there is a rank", 7, 0, 1);
        for (at, (thread, start, len, delay, gpu)) in self.launches.iter().enumerate() {
            let id = Some(at as i64 + 1000);
            fixture.call("cudaLaunchKernel_v7000", *thread, *start, start + len, id);
            fixture.gpu_op(OpKind::Kernel, "k", 7, start + delay, start + delay + gpu, id, None);
        }
        for (row, (thread, start, len, elsewhere)) in self.ranges.iter().enumerate() {
            fixture.builder.range(RawRange {
                start_ns: *start,
                end_ns: Some(start + len),
                global_tid: PID | thread,
                name: NameId::EMPTY,
                kind: RangeKind::StartEnd,
                domain: NameId::EMPTY,
                category: NameId::EMPTY,
                color: NONE,
                ended_elsewhere: *elsewhere,
                row: row as u32,
            });
        }
        fixture.build()
    }

    /// GPU time and operations of range `row`, looked up launch by launch.
    fn brute(&self, row: usize, attribution: Attribution) -> Option<(Span, u32)> {
        let (thread, start, len, elsewhere) = self.ranges[row];
        let end = start + len;
        let mut found: Option<(Span, u32)> = None;
        for (on, call, call_len, delay, gpu) in &self.launches {
            let inside = match attribution {
                Attribution::Process => start <= *call && *call < end,
                Attribution::SameThread => !elsewhere && *on == thread && start <= *call && call + call_len <= end,
            };
            if inside {
                let gpu = Span::new(call + delay, call + delay + gpu);
                found = Some(found.map_or((gpu, 1), |(known, ops)| (known.hull(gpu), ops + 1)));
            }
        }
        found
    }
}

proptest! {
    #[test]
    fn both_attributions_equal_brute_force(job in any_job()) {
        let trace = job.trace();
        for attribution in [Attribution::Process, Attribution::SameThread] {
            let found = project(&trace, 0, attribution);
            let mut rows: Vec<(usize, (Span, u32))> = found.iter().map(|p| {
                let ranges = &trace.threads[p.thread as usize].nvtx;
                (ranges.row.get(p.range as usize).unwrap() as usize, (p.gpu, p.ops))
            }).collect();
            rows.sort_unstable();
            let expected: Vec<(usize, (Span, u32))> =
                (0..job.ranges.len()).filter_map(|row| Some((row, job.brute(row, attribution)?))).collect();
            prop_assert_eq!(rows, expected);
        }
    }
}

#[test]
fn a_graph_launch_is_one_call_and_as_many_operations_as_it_ran() {
    let mut fixture = Fixture::new();
    fixture.range("step", 1, 0, 100).call("cudaGraphLaunch_v10000", 1, 10, 20, Some(5));
    for start in [30, 40, 50] {
        fixture.gpu_op(OpKind::Kernel, "k", 7, start, start + 5, Some(5), None);
    }
    let trace = fixture.build();
    let found = project(&trace, 0, Attribution::SameThread);
    assert_eq!(found, [Projected { thread: 0, range: 0, gpu: Span::new(30, 55), calls: 1, ops: 3 }]);
}

#[test]
fn a_call_that_straddles_the_border_belongs_to_the_outer_range_only() {
    let mut fixture = Fixture::new();
    fixture.range("outer", 1, 0, 100).range("inner", 1, 10, 21).launched("k", 7, 1, 20, 50, 60);
    let rows = same_thread_rows(&fixture.build());
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].range.range, rows[0].level, rows[0].children), (0, 0, 0));
}

#[test]
fn equal_ranges_each_keep_their_row() {
    let mut fixture = Fixture::new();
    fixture.range("a", 1, 0, 100).range("b", 1, 0, 100).launched("k", 7, 1, 20, 50, 60);
    let rows = same_thread_rows(&fixture.build());
    let nesting: Vec<_> = rows.iter().map(|row| (row.level, row.children, row.parent)).collect();
    assert_eq!(nesting, [(0, 1, None), (1, 0, Some(0))]);
}
