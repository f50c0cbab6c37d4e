//! Runs made by hand, and what is called noise between them.

use super::super::RangeTotal;
use super::*;
use crate::analysis::{Causes, Partition, TypicalStep};
use crate::units::Span;

/// A run with steps of these lengths, in each of which a kernel ran for so long in all.
fn run(lengths_ns: &[i64], kernel_ns: i64, step_spread_ns: Option<i64>) -> RankSummary {
    let step = |at: usize, len_ns: i64| StepSummary {
        window: Span::new(at as i64 * 10_000, at as i64 * 10_000 + len_ns),
        typical: true,
        ..StepSummary::default()
    };
    let kernel = KernelShape { total_ns: kernel_ns * lengths_ns.len().max(1) as i64, step_spread_ns, ..kernel("k") };
    RankSummary {
        steps: lengths_ns.iter().enumerate().map(|(at, len_ns)| step(at, *len_ns)).collect(),
        kernels: vec![kernel],
        ranges: vec![RangeTotal { path: vec!["r".into()], count: 1, gpu_ns: kernel_ns, step_spread_ns }],
        ..RankSummary::default()
    }
}

fn kernel(name: &str) -> KernelShape {
    KernelShape {
        name: name.to_owned(),
        blocks: Some(4),
        family: None,
        count: 1,
        total_ns: 0,
        median_ns: 0,
        step_spread_ns: None,
    }
}

/// Noise or not: the step, the kernel, the range.
fn noise(a: &RankSummary, b: &RankSummary) -> [Option<bool>; 3] {
    let diff = Diff::of(a, b);
    [diff.step, diff.kernels[0].per_step, diff.ranges[0].per_step].map(|delta| delta.is_noise())
}

#[test]
fn a_difference_within_the_spread_is_noise() {
    let delta = |b_ns, spread_ns| Delta { a_ns: 100, b_ns, spread_ns: Some(spread_ns) };
    assert!(delta(105, 5).is_noise() == Some(true) && delta(95, 5).is_noise() == Some(true));
    assert!(delta(106, 5).is_noise() == Some(false) && delta(94, 5).is_noise() == Some(false));
    assert_eq!((delta(150, 0).share(), Delta::default().share()), (Some(0.5), None));
}

#[test]
fn one_rule_tells_noise_for_steps_kernels_and_ranges() {
    // Steps vary by 3 %: a kernel that changed by 0.1 % is noise, however even it is.
    let uneven = [970, 1000, 1030];
    let varies = |kernel_ns| run(&uneven, kernel_ns, Some(0));
    assert_eq!(noise(&varies(100_000), &varies(100_100)), [Some(true); 3]);
    assert_eq!(noise(&varies(100_000), &varies(103_500)), [Some(true), Some(false), Some(false)]);
    // In even runs a kernel's own spread decides, and that of the run in which it is larger.
    let even = |kernel_ns, spread_ns| run(&[1000, 1000], kernel_ns, Some(spread_ns));
    assert_eq!(noise(&even(500, 1), &even(510, 12)), [Some(true); 3]);
    assert_eq!(noise(&even(500, 1), &even(510, 9)), [Some(true), Some(false), Some(false)]);
    // A summary without it: in proportion to the step alone.
    let early = |kernel_ns| run(&uneven, kernel_ns, None);
    assert_eq!(noise(&early(100_000), &early(100_100)), [Some(true); 3]);
    assert_eq!(noise(&early(100_000), &early(103_500)), [Some(true), Some(false), Some(false)]);
}

#[test]
fn with_fewer_than_two_typical_steps_nothing_is_called_noise() {
    for lengths_ns in [&[][..], &[1000]] {
        let few = run(lengths_ns, 500, None);
        assert_eq!(noise(&few, &few), [None; 3], "{lengths_ns:?}");
        assert_eq!(noise(&few, &run(&[990, 1010], 500, None)), [None; 3], "{lengths_ns:?}");
        assert!(!Diff::of(&few, &few).comparable.knows_noise());
    }
    let scope = |a: &[i64], b: &[i64]| Diff::of(&run(a, 1, None), &run(b, 1, None)).comparable.scope();
    assert_eq!(scope(&[], &[]), DiffScope::WholeSpans);
    assert_eq!((scope(&[5], &[]), scope(&[], &[5])), (DiffScope::StepAndSpan, DiffScope::StepAndSpan));
    assert_eq!(scope(&[5], &[5]), DiffScope::TypicalSteps);
}

#[test]
fn kernels_are_joined_by_full_name_and_shape() {
    let kernel = |name: &str, blocks, total_ns| KernelShape { blocks, total_ns, ..kernel(name) };
    let rank = |kernels| RankSummary { kernels, ..RankSummary::default() };
    let a = rank(vec![kernel("f<1>", Some(4), 60), kernel("f<2>", Some(4), 40)]);
    let b = rank(vec![kernel("f<1>", Some(4), 90), kernel("f<2>", Some(8), 10)]);
    let diff = Diff::of(&a, &b);
    let rows: Vec<_> = diff.kernels.iter().map(|k| (k.name.as_str(), k.blocks, k.totals_ns)).collect();
    assert_eq!(rows, [("f<2>", Some(4), [40, 0]), ("f<1>", Some(4), [60, 90]), ("f<2>", Some(8), [0, 10])]);
    assert_eq!((diff.comparable.kernels_in_common, diff.comparable.names_in_common), (0.6, 1.0));
}

#[test]
fn parts_are_the_means_that_are_shown_elsewhere() {
    let parts = |exposed_comm_ns, idle_ns| Partition {
        span_ns: exposed_comm_ns + idle_ns,
        exposed_comm_ns,
        idle_ns,
        ..Partition::default()
    };
    // The sums leave remainders, so that means that sum to the step are not each rounded down.
    let of = [parts(2, 5), parts(3, 5), parts(3, 6)];
    let step = |parts| StepSummary { parts, typical: true, ..StepSummary::default() };
    let rank = RankSummary {
        typical: Some(TypicalStep {
            count: 3,
            median_span_ns: 8,
            mean: Partition::mean(&of),
            causes: Causes::default(),
        }),
        steps: of.map(step).to_vec(),
        ..RankSummary::default()
    };
    let mean = rank.mean_parts();
    assert_eq!((mean.span_ns, mean.exposed_comm_ns, mean.idle_ns), (8, 3, 5), "8/3 and 16/3 sum to 24/3");
    let diff = Diff::of(&rank, &rank);
    assert_eq!((diff.step.a_ns, diff.step.b_ns), (8, 8));
    for (part, delta) in &diff.parts {
        assert_eq!((delta.a_ns, delta.b_ns), (part.of(&mean), part.of(&mean)), "{part:?}");
    }
}
