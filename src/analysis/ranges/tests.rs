use super::*;
use crate::analysis::{Classes, Params, RankAnalysis, Rules, analyze};
use crate::trace::testing::Fixture;
use proptest::prelude::*;
use std::collections::BTreeSet;

const MAIN: i64 = 1;
const AUTOGRAD: i64 = 2;

/// Two steps of forward on the main thread and backward on another, which holds ranges of its own.
fn job() -> Trace {
    let mut fixture = Fixture::new();
    for step in 0..2_i64 {
        let at = step * 1000;
        fixture.range(&format!("step {step}"), MAIN, at, at + 1000);
        fixture.range("forward", MAIN, at + 10, at + 400).launched("gemm", 7, MAIN, at + 20, at + 100, at + 200);
        fixture.range("backward", MAIN, at + 400, at + 900);
        fixture.range(&format!("MmBackward0, seq = {step}"), AUTOGRAD, at + 500, at + 600);
        fixture.launched("gemm", 7, AUTOGRAD, at + 510, at + 600, at + 750);
        fixture.launched("add", 7, AUTOGRAD, at + 700, at + 750, at + 800);
    }
    fixture.build()
}

fn ranges(trace: &Trace) -> Ranges {
    let numbers = RankAnalysis::of(trace, 0, &Classes::of(trace, &Rules::default()), &Params::default());
    Ranges::of(trace, 0, numbers.steps.as_ref(), false)
}

/// Names from the top to a node.
fn full_name(ranges: &Ranges, trace: &Trace, node: u32) -> String {
    let above = ranges.parent(node).map(|parent| full_name(ranges, trace, parent) + " > ").unwrap_or_default();
    above + &ranges.name(trace, node)
}

fn rows(ranges: &Ranges, trace: &Trace, attribution: Attribution) -> Vec<(String, RangeSum)> {
    let sums = ranges.whole(trace, attribution);
    (0..ranges.len() as u32).map(|n| (full_name(ranges, trace, n), sums.nodes[n as usize])).collect()
}

#[test]
fn backward_stands_under_the_main_threads_range_and_its_time_counts() {
    let trace = job();
    let ranges = ranges(&trace);
    let sum = |count, cpu_ns, gpu_ops, span_ns, busy_ns| RangeSum { count, cpu_ns, gpu_ops, span_ns, busy_ns };
    let expected = [
        ("step #", sum(2, 2000, 6, 1400, 600)),
        ("step # > forward", sum(2, 780, 2, 200, 200)),
        ("step # > backward", sum(2, 1000, 4, 400, 400)),
        ("step # > backward > MmBackward#", sum(2, 200, 2, 300, 300)),
    ];
    let found = rows(&ranges, &trace, Attribution::Process);
    let found: Vec<(&str, RangeSum)> = found.iter().map(|(name, sum)| (name.as_str(), *sum)).collect();
    assert_eq!(found, expected);
}

#[test]
fn on_the_same_thread_backward_is_missing_from_the_step() {
    let trace = job();
    let ranges = ranges(&trace);
    let sums = ranges.whole(&trace, Attribution::SameThread);
    let ops: Vec<u64> = sums.nodes.iter().map(|sum| sum.gpu_ops).collect();
    assert_eq!(ops, [2, 2, 0, 2]);
    assert_eq!((sums.outside.gpu_ops, sums.all.gpu_ops), (2, 6));
    assert_eq!(ranges.whole(&trace, Attribution::Process).outside.gpu_ops, 0);
}

#[test]
fn a_path_begins_with_the_main_threads_ranges_marked_by_time() {
    let trace = job();
    let ranges = ranges(&trace);
    let path = |op: usize| -> Vec<(String, bool)> {
        let name = |r: &PathRange| trace.name(trace.threads[r.thread].nvtx.name[r.range as usize]).to_owned();
        ranges.path(&trace, op).iter().map(|range| (name(range), range.by_time)).collect()
    };
    let named = |path: &[(&str, bool)]| path.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect::<Vec<_>>();
    assert_eq!(path(0), named(&[("step 0", false), ("forward", false)]));
    assert_eq!(path(1), named(&[("step 0", true), ("backward", true), ("MmBackward0, seq = 0", false)]));
    assert_eq!(path(2), named(&[("step 0", true), ("backward", true)]));
}

#[test]
fn windows_and_typical_steps_clip_what_they_hold() {
    let trace = job();
    let ranges = ranges(&trace);
    let window = Coverage::from_sorted([Span::new(150, 650)]);
    let sums = ranges.within(&trace, Attribution::Process, &window);
    let found: Vec<_> = sums.nodes.iter().map(|s| (s.count, s.cpu_ns, s.gpu_ops, s.busy_ns)).collect();
    assert_eq!(found, [(0, 500, 1, 100), (0, 250, 0, 50), (1, 250, 1, 50), (1, 100, 1, 50)]);
    let by_step = &ranges.whole(&trace, Attribution::Process).by_step;
    assert_eq!(by_step[1], [(0, 100), (1, 100)]);
    let (typical, count) = ranges.typical(&trace, Attribution::Process).unwrap();
    assert_eq!((count, typical.nodes[2].busy_ns, typical.nodes[2].gpu_ops), (2, 200, 2));
}

#[test]
fn a_long_list_of_children_is_cut_and_says_how_many_are_hidden() {
    let mut fixture = Fixture::new();
    for at in 0..30_i64 {
        let name = char::from(b'a' + (at % 26) as u8).to_string().repeat(1 + at as usize / 26);
        fixture.range(&name, MAIN, at * 100, at * 100 + 90);
        fixture.launched("k", 7, MAIN, at * 100 + 5, at * 100 + 10, at * 100 + 11 + at);
    }
    let trace = fixture.build();
    let ranges = ranges(&trace);
    let sums = ranges.whole(&trace, Attribution::Process);
    let listing = ranges.listed(sums, None, 3, |_| true);
    let names: Vec<String> = listing.nodes.iter().map(|node| ranges.name(&trace, *node)).collect();
    assert_eq!((names, listing.hidden), (vec!["dd".to_owned(), "cc".to_owned(), "bb".to_owned()], 27));
}

#[test]
fn ranges_that_were_never_closed_share_one_node() {
    let mut fixture = Fixture::new();
    for at in 0..500_i64 {
        fixture.range("leak", MAIN, at * 10, 100_000);
    }
    fixture.range("work", MAIN, 6000, 6100).launched("k", 7, MAIN, 6001, 6010, 6020);
    let trace = fixture.build();
    let ranges = ranges(&trace);
    let found = rows(&ranges, &trace, Attribution::Process);
    let names: Vec<(&str, u64, u64)> =
        found.iter().map(|(name, sum)| (name.as_str(), sum.count, sum.gpu_ops)).collect();
    assert_eq!(names, [("leak", 500, 1), ("leak > work", 1, 1)]);
}

#[test]
fn ranges_nested_without_end_stay_within_the_depth_there_is() {
    let mut fixture = Fixture::new();
    for at in 0..1000_i64 {
        let name: String = (0..3).map(|digit| char::from(b'a' + (at / 26_i64.pow(digit) % 26) as u8)).collect();
        fixture.range(&name, MAIN, at, 10_000 - at);
    }
    let trace = fixture.launched("k", 7, MAIN, 5000, 5010, 5020).build();
    let ranges = ranges(&trace);
    assert_eq!(ranges.len(), 64);
    let sums = ranges.whole(&trace, Attribution::SameThread);
    assert!(sums.nodes.iter().all(|sum| sum.gpu_ops == 1));
    assert_eq!(sums.nodes.iter().map(|sum| sum.count).sum::<u64>(), 1000);
}

#[test]
fn a_trace_without_ranges_has_an_empty_tree() {
    let trace = Fixture::new().launched("k", 7, MAIN, 0, 5, 10).build();
    let ranges = ranges(&trace);
    let sums = ranges.whole(&trace, Attribution::Process);
    assert!(ranges.is_empty() && ranges.path(&trace, 0).is_empty() && sums.nodes.is_empty());
    assert_eq!((sums.outside.gpu_ops, sums.outside.busy_ns), (1, 5));
    assert!(analyze(&trace, &Params::default()).ranks[0].ranges.is_empty());
}

proptest! {
    /// Counts, covered time and projected time of every node, from its ranges one by one.
    #[test]
    fn sums_equal_brute_force(
        spans in prop::collection::vec((1_i64..4, 0_usize..3, 0_i64..60, 0_i64..40), 0..16),
        launches in prop::collection::vec((1_i64..4, 0_i64..80, 0_i64..30, 0_i64..9), 0..24),
        window in (0_i64..60, 1_i64..60),
        whole in any::<bool>(),
    ) {
        let mut fixture = Fixture::new();
        fixture.kernel("so that there is a rank", 7, 0, 1);
        for (thread, name, start, len) in &spans {
            fixture.range(["a", "b 1", "b 2"][*name], *thread, *start, start + len);
        }
        for (thread, launch, delay, len) in &launches {
            fixture.launched("k", 7, *thread, *launch, launch + delay, launch + delay + len);
        }
        let trace = fixture.build();
        let ranges = ranges(&trace);
        let window = Span::new(window.0, window.0 + window.1);
        let windows = Coverage::from_sorted([window]);
        let ops = &trace.ranks[0].ops;
        let api = &trace.processes[0].api;
        for attribution in [Attribution::Process, Attribution::SameThread] {
            let sums = match whole {
                true => ranges.whole(&trace, attribution).clone(),
                false => ranges.within(&trace, attribution, &windows),
            };
            let clip = |span: Span| if whole { Some(span) } else { span.intersect(window) };
            for node in 0..ranges.len() as u32 {
                let mut expected = RangeSum::default();
                let mut members = BTreeSet::new();
                for (thread, range) in ranges.instances(node) {
                    let span = trace.threads[thread].nvtx.span(range as usize);
                    expected.count += u64::from(whole || window.contains(span.start_ns));
                    let shown = span.intersect(trace.span.unwrap()).and_then(clip);
                    expected.cpu_ns += shown.map_or(0, Span::len_ns);
                    let owns = |op: &usize| ops.launch_of(*op).is_some_and(|call| {
                        let at = api.span(call as usize);
                        match attribution {
                            Attribution::Process => span.contains(at.start_ns),
                            Attribution::SameThread => {
                                let own = trace.thread_of_call(0, call) == Some(thread);
                                own && span.start_ns <= at.start_ns && at.end_ns <= span.end_ns
                            }
                        }
                    });
                    let own: Vec<usize> = (0..ops.len()).filter(owns).collect();
                    let hull = own.iter().map(|op| ops.span(*op)).reduce(Span::hull);
                    expected.span_ns += hull.and_then(clip).map_or(0, Span::len_ns);
                    members.extend(own);
                }
                let begins = |op: &&usize| whole || window.contains(ops.start_ns[**op]);
                expected.gpu_ops = members.iter().filter(begins).count() as u64;
                let covered = Coverage::from_sorted(members.iter().map(|op| ops.span(*op)).collect::<Vec<_>>());
                expected.busy_ns = if whole { covered.total_ns() } else { covered.within(window) };
                prop_assert_eq!(sums.nodes[node as usize], expected);
            }
        }
    }
}

#[test]
fn the_range_shown_first_is_the_longest_within_a_typical_step() {
    let mut fixture = Fixture::new();
    for step in 0..5_i64 {
        // The first step warms up: three times as long, its forward too.
        let (at, len) = if step == 0 { (0, 3000) } else { (2000 + step * 1000, 1000) };
        let ran_ns = if step == 0 { 2000 } else { 300 + 10 * (step % 4) };
        fixture.range(&format!("step {step}"), MAIN, at, at + len - 10);
        fixture.range("forward", MAIN, at + 10, at + 400);
        fixture.launched("gemm", 7, MAIN, at + 20, at + 100, at + 100 + ran_ns);
        fixture.launched("add", 7, MAIN, at + 500, at + len - 200, at + len - 100);
    }
    fixture.range("save", MAIN, 20_000, 20_100).range("save", MAIN, 20_200, 20_500);
    let trace = fixture.build();
    let ranges = ranges(&trace);
    let start_ns = |name: &str| {
        let node = (0..ranges.len() as u32).find(|node| ranges.name(&trace, *node) == name).unwrap();
        let (thread, range) = ranges.next_instance(&trace, Attribution::Process, node, None).unwrap();
        trace.threads[thread].nvtx.start_ns[range as usize]
    };
    assert_eq!(start_ns("forward"), 5010, "the third step's ran longest of the typical ones");
    assert_eq!(start_ns("save"), 20_200, "outside the steps the longest of all, on the host when nothing ran");
    assert!(ranges.shown_first().contains("typical step"));
}
