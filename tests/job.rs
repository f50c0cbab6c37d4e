//! Several ranks on simulated jobs: clock, matched collectives, waits, stragglers, against the simulation's own books.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::sync::Arc;

mod support;
use stepscope::analysis::{Collective, Family, Params, analyze};
use stepscope::job::{
    Basis, ClockMode, Doubt, ExportSummary, ExtraKind, GroupKey, Job, JobOptions, Notice, RefusalReason, Straggler,
    Strip,
};
use stepscope::job::{file, folder};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::report::compare as words;
use stepscope::sim::{JobConfig, Truth, preset, simulate_to_dir};

/// What the files of a simulated job tell, and what is true of it.
fn simulated(cfg: &JobConfig) -> (Vec<Arc<ExportSummary>>, Truth) {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(cfg, folder.path(), false, &mut |_| {}).unwrap();
    let of = |file| {
        let trace = open(file, &LoadOptions::default(), &Progress::new()).unwrap();
        Arc::new(ExportSummary::of(&trace, &analyze(&trace, &Params::default())))
    };
    (job.files.iter().map(|file| of(file)).collect(), job.truth)
}

fn compared(cfg: &JobConfig) -> (Job, Truth) {
    let (exports, truth) = simulated(cfg);
    (Job::of(exports, &JobOptions::default()), truth)
}

fn named(name: &str) -> JobConfig {
    JobConfig { steps: 6, ..preset(name).unwrap() }
}

/// Every export is where the simulation put it, within a microsecond, at both ends of its capture.
fn assert_placed(job: &Job, truth: &Truth) {
    for (at, export) in job.exports.iter().enumerate().skip(1) {
        assert_eq!(job.clock.sources[at].basis, Basis::Collectives);
        let (first, own) = (&truth.ranks[0], &truth.ranks[at]);
        let span = export.ranks[0].span;
        for own_ns in [span.start_ns, span.start_ns + span.len_ns() / 2, span.end_ns] {
            let job_ns = own_ns as f64 / (1.0 + own.drift_ppm * 1e-6) + own.offset_ns as f64;
            let expected = (job_ns - first.offset_ns as f64) * (1.0 + first.drift_ppm * 1e-6);
            let error_ns = job.clock.map(at).to_job(own_ns) as f64 - expected;
            assert!(error_ns.abs() < 1000.0, "export {at} at {own_ns}: {error_ns} ns off");
            assert!((job.clock.map(at).to_export(job.clock.map(at).to_job(own_ns)) - own_ns).abs() <= 1);
        }
    }
}

#[test]
fn planted_clock_offsets_are_recovered() {
    let (job, truth) = compared(&named("clock-offset"));
    assert_placed(&job, &truth);
    assert_eq!(job.clock.notices, [], "the wall clocks are right");
    assert!(job.refused.is_empty() && job.waits.unmatched == 0);
    let (job, truth) = compared(&named("four-equal"));
    assert_placed(&job, &truth);
}

#[test]
fn a_wall_clock_that_is_wrong_by_seconds_is_overruled_and_told() {
    let (job, truth) = compared(&named("wall-clock-wrong"));
    assert_placed(&job, &truth);
    let [Notice::WrongWall { export: 1, ahead_ns }] = job.clock.notices[..] else { panic!("{:?}", job.clock.notices) };
    assert!((ahead_ns - 11_560_000_000).abs() < 1000, "{ahead_ns}");
    // By the wall clocks alone the captures would stand that far apart.
    let wall = job.on_clock(&JobOptions { clock: ClockMode::Wall, ..JobOptions::default() });
    let moved = wall.clock.map(1).offset_ns - job.clock.map(1).to_job(0);
    assert!((moved - 11_560_000_000).abs() < 100_000, "{moved}");
    // It was asked for, so it is in force, and how wrong it is is told all the same.
    let [Notice::WallInForce { export: 1, ahead_ns }] = wall.clock.notices[..] else {
        panic!("{:?}", wall.clock.notices)
    };
    assert!((ahead_ns - 11_560_000_000).abs() < 1000, "{ahead_ns}");
    assert!(words::notices(&wall)[0].contains("11.56 s ahead by the matched collectives, and it is in force"));
    assert_eq!(wall.stragglers.straggler, None);
    let text = "Who started last, and who waits for whom, is not known: the clock contradicts the collectives.";
    assert_eq!(words::straggler_text(&wall), text);
    let text = "No evidence of who was late: the clock contradicts the collectives.";
    assert_eq!(words::reservation(&wall).as_deref(), Some(text));
    assert!(!words::straggler_text(&job).contains("is not known"));
    assert_eq!(
        (words::reservation(&job), job.clock.doubt()),
        (None, None),
        "a wall clock that is overruled is no doubt"
    );
    // By their first events files start together, however late each is.
    let by_hand = job.on_clock(&JobOptions { clock: ClockMode::Manual, ..JobOptions::default() });
    assert_eq!((by_hand.clock.doubt(), by_hand.stragglers.straggler.is_none()), (Some(Doubt::FirstEvents), true));
}

#[test]
fn planted_drift_is_recovered() {
    let (job, truth) = compared(&preset("drift").unwrap());
    let drift = job.clock.map(1).drift_ppm;
    // Job time runs slower than the fast clock's.
    assert!((drift + 20.0).abs() < 0.2, "{drift}");
    assert_placed(&job, &truth);
}

/// End and transfer of a collective, and how long each rank waited.
type Ended = (i64, i64, Vec<(u32, i64)>);

#[test]
fn matched_collectives_split_into_wait_and_transfer_as_simulated() {
    for name in ["four-equal", "straggler-compute", "pipeline-8"] {
        let (job, truth) = compared(&JobConfig { steps: 3, ..named(name) });
        assert!(job.refused.is_empty(), "{name}: {:?}", job.refused);
        let mut expected: Vec<Ended> = Vec::new();
        for collective in truth.collectives.iter().filter(|c| c.arrivals.len() > 1) {
            let waits = collective.arrivals.iter().map(|a| (a.rank, a.wait_ns)).collect();
            expected.push((collective.end_ns - truth.ranks[0].offset_ns, collective.transfer_ns, waits));
        }
        let mut found = Vec::new();
        for (at, group) in job.groups.iter().enumerate() {
            for number in 0..group.count {
                let matched = job.matched(at, number).unwrap();
                let waits = group.members.iter().zip(&matched.members);
                found.push((
                    matched.members[0].0.end_ns,
                    matched.members[0].1.transfer_ns,
                    waits.map(|(member, (_, split))| (member.rank as u32, split.wait_ns)).collect::<Vec<_>>(),
                ));
            }
        }
        expected.sort();
        found.sort();
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found.0 - expected.0).abs() <= 2 && (found.1 - expected.1).abs() <= 2,
                "{name}: {found:?} {expected:?}"
            );
            for ((rank, wait_ns), (of, expected_ns)) in found.2.iter().zip(&expected.2) {
                assert!(rank == of && (wait_ns - expected_ns).abs() <= 2, "{name}: {found:?} {expected:?}");
            }
        }
    }
}

fn straggler(name: &str) -> (Straggler, Job, Truth) {
    let (job, truth) = compared(&named(name));
    let found = job.stragglers.straggler.clone();
    (found.unwrap_or_else(|| panic!("{name}: {:?} {}", job.stragglers.ranks, job.stragglers.step_ns)), job, truth)
}

/// Rank 2 of four, with its cause; and what the others wait for it is the planted wait to 1 %.
fn assert_straggler(name: &str, is_cause: impl Fn(ExtraKind) -> bool) {
    let (found, job, truth) = straggler(name);
    assert_eq!(job.ranks[found.rank].label, "2", "{name}");
    assert!(found.extras.first().is_some_and(|extra| is_cause(extra.kind)), "{name}: {:?}", found.extras);
    let planted: i64 = truth.collectives.iter().flat_map(|c| &c.arrivals).map(|a| a.wait_ns).sum();
    let measured: i64 = job.waits.ranks.iter().map(|rank| rank.split.wait_ns).sum();
    assert!((measured - planted).abs() * 100 <= planted, "{name}: {measured} of {planted}");
    assert!(found.cost_ns_per_step > 0 && found.cost_share > 0.02 && found.share_of_collectives > 0.6, "{name}");
}

#[test]
fn a_rank_with_more_to_compute_is_named() {
    assert_straggler("straggler-compute", |kind| kind == ExtraKind::Compute(Family::Gemm));
}

#[test]
fn a_rank_with_a_slow_card_is_named() {
    assert_straggler("straggler-clock", |kind| kind == ExtraKind::SlowGpu);
}

#[test]
fn a_rank_that_waits_for_data_is_named() {
    assert_straggler("straggler-data", |kind| kind == ExtraKind::Data);
}

#[test]
fn a_rank_with_a_slow_host_is_named() {
    assert_straggler("straggler-host", |kind| matches!(kind, ExtraKind::Host(_)));
}

#[test]
fn equal_ranks_have_no_straggler() {
    for name in ["four-equal", "healthy", "demo"] {
        let (job, _) = compared(&named(name));
        assert_eq!(job.stragglers.straggler, None, "{name}");
    }
}

#[test]
fn a_rank_with_one_collective_more_refuses_that_group() {
    let payloads = named("extra-collective");
    let (job, _) = compared(&JobConfig { nccl_payloads: false, ..payloads.clone() });
    let refused: Vec<_> = job.refused.iter().map(|r| (r.key, r.reason)).collect();
    let [(GroupKey::Role { kind: Collective::AllReduce, .. }, RefusalReason::Counts)] = refused[..] else {
        panic!("{refused:?}")
    };
    let counts = &job.refused[0].counts;
    assert_eq!(counts[1].1, counts[0].1 + 1, "{counts:?}");
    let (more, usual) = (counts[1].1, counts[0].1);
    let said = words::refusal_text(&job, &job.refused[0]);
    let expected = format!("different numbers of them: rank 1 ran {more}, ranks 0, 2 and 3 ran {usual} each.");
    assert!(
        said.starts_with("Not paired: AllReduce on communication stream 1, since") && said.ends_with(&expected),
        "{said}"
    );
    assert!(job.groups.is_empty() && job.waits.matched == 0);
    // Where NCCL names communicators the others are paired all the same, and the rank with the odd one is named.
    let (paired, _) = compared(&payloads);
    assert!(words::matched_text(&paired).ends_with(" matched, 1 communication kernel not (rank 1)."));
    // Without a collective to go by, step starts take its place, and the clock says so.
    assert!(job.clock.sources[1..].iter().all(|source| source.basis == Basis::StepStart));
    assert_eq!(job.clock.notices.len(), 3);
    let said = words::notices(&job);
    assert!(
        said.len() == 1 && said[0].starts_with("No collective of rank1, rank2 and rank3 could be matched"),
        "{said:?}"
    );
    assert!(said[0].contains("so they stand by step start"), "{said:?}");
    assert_eq!(stepscope::job::wait_share(&job, 0), None, "what could not be matched is not 0");
}

#[test]
fn sub_groups_without_names_are_told_apart_by_how_they_end() {
    // Two pipeline stages of two data-parallel ranks each; nothing names their communicators.
    let cfg = JobConfig { ranks: 4, pp: 2, micro_batches: 4, layers: 12, nccl_payloads: false, ..named("healthy") };
    let (job, truth) = compared(&cfg);
    let reduces =
        |group: &&stepscope::job::Group| matches!(group.key, GroupKey::Role { kind: Collective::AllReduce, .. });
    let members: Vec<Vec<usize>> =
        job.groups.iter().filter(reduces).map(|group| group.members.iter().map(|m| m.rank).collect()).collect();
    let planted =
        |pair: &[u32]| truth.collectives.iter().any(|c| c.arrivals.iter().map(|a| a.rank).eq(pair.iter().copied()));
    assert!(planted(&[0, 1]) && planted(&[2, 3]));
    for pair in &members {
        assert!(*pair == [0, 1] || *pair == [2, 3], "{members:?}");
    }
    // Whatever could not be paired is told.
    assert!(!members.is_empty() || !job.refused.is_empty());
}

#[test]
fn pauses_that_wander_between_ranks_are_told() {
    let (job, _) = compared(&JobConfig { ranks: 4, gc_steps: vec![2], steps: 8, ..named("gc-pause") });
    let pauses: Vec<_> = job.stragglers.wandering.iter().map(|pause| (pause.rank, pause.step)).collect();
    assert_eq!(pauses, [(0, 2), (1, 3), (2, 4), (3, 5)]);
    assert_eq!(job.stragglers.straggler, None, "each rank is late once");
}

#[test]
fn the_real_pair_of_one_file_is_matched() {
    let Some(folder) = support::shared() else { return };
    let trace = open(&folder.join("h100x2_ring_2026.2.sqlite"), &LoadOptions::default(), &Progress::new()).unwrap();
    let summary = ExportSummary::of(&trace, &analyze(&trace, &Params::default()));
    let job = Job::of(vec![Arc::new(summary)], &JobOptions::default());
    assert_eq!((job.groups.len(), job.refused.len(), job.waits.unmatched), (1, 0, 0));
    assert_eq!(words::group_text(&job, 0), "SendRecv on communication stream 1");
    assert!(job.clock.notices.is_empty() && job.clock.uncertainty_ns(0, 0) == Some(0));
    let waits: Vec<i64> = job.waits.ranks.iter().map(|rank| rank.split.wait_ns).collect();
    // Checked against the starts and ends in the file: 33 exchanges, device 1 comes later more often.
    let kernels: Vec<Vec<(i64, i64)>> = (0..2)
        .map(|rank| {
            let group = &job.summary(rank).unwrap().comm[0];
            (0..group.len()).map(|at| (group.start_ns[at], group.start_ns[at] + group.len_ns[at])).collect()
        })
        .collect();
    let wait = |own: &[(i64, i64)], other: &[(i64, i64)]| -> i64 {
        own.iter().zip(other).map(|((start, end), (other, _))| (*other.max(start)).min(*end) - start).sum()
    };
    assert_eq!(waits, [wait(&kernels[0], &kernels[1]), wait(&kernels[1], &kernels[0])]);
    assert!(waits[0] > 4 * waits[1], "{waits:?}");
    for (rank, waits) in job.waits.ranks.iter().enumerate() {
        let total: i64 = kernels[rank].iter().map(|(start, end)| end - start).sum();
        assert_eq!(waits.split.wait_ns + waits.split.transfer_ns, total);
    }
}

#[test]
fn captures_without_a_common_collective_fall_back() {
    let (first, _) = simulated(&JobConfig { ranks: 1, ..named("healthy") });
    let (second, _) = simulated(&JobConfig { ranks: 1, seed: 2, clock_offset_ms: vec![7300.0], ..named("healthy") });
    let job = Job::of(vec![first[0].clone(), second[0].clone()], &JobOptions::default());
    assert!(job.groups.is_empty() && job.refused.is_empty());
    assert_eq!(job.clock.notices, [Notice::NoCommonCollective { export: 1, instead: Basis::StepStart }]);
    assert_eq!(job.clock.sources[1].matched, 6);
    // Labels of the same rank of two runs are told apart by the file.
    assert_ne!(job.ranks[0].label, job.ranks[1].label);
}

#[test]
fn with_a_few_of_many_ranks_it_is_said_what_cannot_be_known() {
    let (exports, _) = simulated(&named("four-equal"));
    let some = Job::of(exports[..2].to_vec(), &JobOptions::default());
    let whole = words::straggler_text(&some);
    assert!(
        whole.ends_with("2 of 4 ranks of this communicator are open; the last to start may be another one."),
        "{whole}"
    );
    assert!(words::job_missing_text(&some).unwrap().starts_with("Not all ranks are open: 2 of 4 of "));
    let group = (0..some.groups.len()).find(|group| words::missing_text(&some, *group).is_some()).unwrap();
    assert_eq!(words::members_text(&some, group), "2 of 4");
    let all = Job::of(exports, &JobOptions::default());
    assert_eq!(words::job_missing_text(&all), None);
    assert!(!words::straggler_text(&all).contains("may be another one"));
}

#[test]
fn a_folder_of_512_summaries_is_one_job() {
    let (exports, _) = simulated(&JobConfig { steps: 2, ..preset("four-equal").unwrap() });
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..512 {
        let mut summary = ExportSummary::clone(&exports[rank % exports.len()]);
        summary.file = format!("rank{rank}.sqlite").into();
        summary.host = Some(format!("node{:02}", rank / 8));
        summary.ranks[0].label = rank.to_string();
        let bytes = file::write(&summary).unwrap();
        assert!(bytes.len() < 64 << 10, "a summary is kilobytes: {}", bytes.len());
        std::fs::write(folder.path().join(format!("rank{rank}.summary")), bytes).unwrap();
    }
    let files = folder::captures_in(folder.path()).unwrap();
    let read: Vec<ExportSummary> = file::read_files(&files).into_iter().filter_map(|read| read.ok()?).collect();
    let labels: Vec<&str> = read.iter().map(|summary| summary.ranks[0].label.as_str()).collect();
    assert_eq!((labels.len(), labels[9], labels[511]), (512, "9", "511"), "in the order of their numbers");
    let job = Job::of(read.into_iter().map(Arc::new).collect(), &JobOptions::default());
    let hosts: std::collections::BTreeSet<_> = job.exports.iter().filter_map(|export| export.host.clone()).collect();
    assert_eq!((job.exports.len(), job.ranks.len(), hosts.len()), (512, 512, 64));
    assert!(job.ranks.iter().enumerate().all(|(at, rank)| rank.label == at.to_string()));
}

#[test]
fn arrivals_and_waits_in_columns_are_those_of_each_matched_collective() {
    for name in ["straggler-clock", "pipeline-8"] {
        let (job, _) = compared(&JobConfig { steps: 3, ..named(name) });
        let (own, other) = (1, 0);
        let strip = Strip::of(&job, own, other);
        let (mut expected, mut waits) = (Vec::new(), Vec::new());
        for (at, group) in job.groups.iter().enumerate() {
            let place = |rank: usize| group.members.iter().position(|member| member.rank == rank);
            for number in 0..group.count {
                let matched = job.matched(at, number).unwrap();
                let Some(member) = place(own) else { continue };
                let (_, op) = job.op_of(at, member, number).unwrap();
                let (a, split) = matched.members[member];
                waits.push((op, split.wait_ns));
                if let Some(beside) = place(other) {
                    let (b, _) = matched.members[beside];
                    expected.push((op, a.start_ns - b.start_ns, a.len_ns() - b.len_ns()));
                }
            }
        }
        let mut found: Vec<_> = strip.iter().map(|d| (d.op, d.later_ns, d.longer_ns)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert!(!expected.is_empty() && found.len() == expected.len(), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            // Spans in job time are rounded by the clock's drift.
            let off = (found.1 - expected.1).abs().max((found.2 - expected.2).abs());
            assert!(found.0 == expected.0 && off <= 1, "{name}: {found:?} {expected:?}");
        }
        assert_eq!(strip.most_ns, strip.iter().map(|d| d.later_ns.abs()).max().unwrap());
        assert!(job.share_collectives(own, other));
        waits.sort_unstable();
        let kernels = &job.waits.kernels[own];
        let mut walk = kernels.walk();
        assert_eq!(kernels.len(), waits.len());
        for (op, wait_ns) in waits {
            assert_eq!(walk.wait_ns(op), Some(wait_ns), "{name}: {op}");
        }
    }
}

#[test]
fn a_shift_by_hand_moves_one_file_and_is_taken_back_whole() {
    let (exports, _) = simulated(&JobConfig { steps: 3, ..named("clock-offset") });
    let options = |shift_ns: Vec<i64>| JobOptions { shift_ns, ..JobOptions::default() };
    let job = Job::of(exports.clone(), &JobOptions::default());
    let shifted = job.on_clock(&options(vec![0, 5_000])).on_clock(&options(vec![300, 7_000]));
    let anew = Job::of(exports, &options(vec![300, 7_000]));
    assert_eq!((&shifted.clock, &shifted.waits), (&anew.clock, &anew.waits), "as if it had been so from the start");
    assert_eq!((shifted.clock.uncertainty_ns(0, 1), shifted.clock.sources[0].uncertainty_ns()), (None, None));
    assert!(words::clock_text(&shifted).ends_with(", shifted by hand, uncertainty not known"));
    let back = shifted.on_clock(&JobOptions::default());
    assert!(back.clock.uncertainty_ns(0, 1).is_some());
    assert_eq!((&back.clock, &back.waits), (&job.clock, &job.waits));
}

#[test]
fn a_file_of_another_job_is_no_reference_and_has_no_say() {
    let (alone, _) = simulated(&JobConfig { ranks: 1, first_step: 100, ..named("healthy") });
    let (exports, truth) = simulated(&named("straggler-clock"));
    let together = Job::of(exports.clone(), &JobOptions::default());
    let job = Job::of([alone, exports].concat(), &JobOptions::default());
    assert_eq!((job.clock.reference, job.clock.sources[0].basis), (1, Basis::StepStart));
    assert!(job.clock.sources[2..].iter().all(|source| source.basis == Basis::Collectives));
    let (found, expected) =
        (job.stragglers.straggler.as_ref().unwrap(), together.stragglers.straggler.as_ref().unwrap());
    assert_eq!((found.rank, found.cost_ns_per_step), (expected.rank + 1, expected.cost_ns_per_step));
    assert_eq!(found.extras, expected.extras);
    assert_eq!(job.waits.matched, truth.collectives.iter().filter(|c| c.arrivals.len() > 1).count() as u64);
}

#[test]
fn two_runs_that_share_numbers_of_communicators_stay_two() {
    let (slow, _) = simulated(&named("straggler-clock"));
    let (equal, _) = simulated(&JobConfig { seed: 7, ..named("four-equal") });
    let job = Job::of([slow, equal].concat(), &JobOptions::default());
    let members: Vec<Vec<usize>> =
        job.groups.iter().map(|group| group.members.iter().map(|m| m.rank).collect()).collect();
    assert_eq!(members, [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
    assert_eq!(job.stragglers.straggler.as_ref().map(|found| found.rank), Some(2));
}

#[test]
fn a_shift_by_hand_is_no_work_of_the_rank_that_seems_late() {
    let (exports, _) = simulated(&named("four-equal"));
    let job = Job::of(exports, &JobOptions { shift_ns: vec![0, 2_500_000], ..JobOptions::default() });
    assert_eq!(job.stragglers.straggler, None);
    let text = "Who started last, and who waits for whom, is not known: files were shifted by hand.";
    assert_eq!(words::straggler_text(&job), text);
}

#[test]
fn sends_and_receives_are_named_by_both_ends() {
    let (job, _) = compared(&JobConfig { steps: 2, ..named("pipeline-8") });
    let pairs = job.groups.iter().enumerate().filter(|(_, group)| matches!(group.key, GroupKey::Peer { .. }));
    let texts: Vec<String> = pairs.map(|(at, _)| words::group_text(&job, at)).collect();
    assert!(texts.len() > 1, "{texts:?}");
    for (at, group) in job.groups.iter().enumerate().filter(|(_, group)| matches!(group.key, GroupKey::Peer { .. })) {
        let [a, b] = group.members[..] else { panic!("{:?}", group.members) };
        let ends = format!(", between ranks {} and {}", job.ranks[a.rank].label, job.ranks[b.rank].label);
        assert!(words::group_text(&job, at).ends_with(&ends), "{}", words::group_text(&job, at));
    }
    let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
    assert_eq!(distinct.len(), texts.len(), "each pair has a name of its own");
}

#[test]
fn kernels_and_ranges_of_a_summary_tell_how_much_they_vary_from_step_to_step() {
    let (exports, _) = simulated(&JobConfig { steps: 6, ..named("healthy") });
    let rank = &exports[0].ranks[0];
    let typical: Vec<_> = rank.steps.iter().filter(|step| step.typical).collect();
    // All AllReduce kernels are one row: its spread is that of the sums of the group's kernels by step.
    let kernel = rank.kernels.iter().find(|kernel| kernel.name.contains("AllReduce")).unwrap();
    let sums: Vec<f64> = typical
        .iter()
        .map(|step| {
            let ran = (0..rank.comm[0].len()).filter_map(|at| rank.comm[0].span(at));
            ran.filter(|span| step.window.contains(span.start_ns)).map(|span| span.len_ns() as f64).sum()
        })
        .collect();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let deviation = (sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64).sqrt();
    assert_eq!((rank.comm.len(), kernel.step_spread_ns), (1, Some(deviation as i64)));
    assert!(rank.ranges.iter().all(|range| range.step_spread_ns.is_some()));
    assert!(rank.ranges.iter().any(|range| range.step_spread_ns > Some(0)));
}

#[test]
fn a_late_rank_takes_longer_in_grammatical_words() {
    for (name, words_of) in [("straggler-data", "waiting for data takes "), ("straggler-compute", "GEMM kernels take ")]
    {
        let (_, job, _) = straggler(name);
        let said = words::straggler_text(&job);
        assert!(said.contains(words_of), "{said}");
    }
}

#[test]
fn a_file_of_another_job_has_no_share_in_what_a_straggler_costs() {
    let (exports, _) = simulated(&named("straggler-compute"));
    let (mut other, _) = simulated(&JobConfig { ranks: 1, steps: 40, ..named("healthy") });
    let alone = Job::of(exports.clone(), &JobOptions::default());
    let beside = Job::of(exports.into_iter().chain(other.drain(..)).collect(), &JobOptions::default());
    let told = |job: &Job| job.stragglers.straggler.as_ref().map(|found| (found.rank, found.cost_share));
    assert!(told(&alone).is_some());
    assert_eq!(told(&beside), told(&alone));
}

#[test]
fn a_rank_with_more_to_compute_is_no_different_program() {
    let (exports, _) = simulated(&named("straggler-compute"));
    let text = |a: usize, b: usize| {
        words::comparable_text(&stepscope::job::Diff::of(&exports[a].ranks[0], &exports[b].ranks[0]))
    };
    assert!(text(0, 2).contains("the same kernels in other launch shapes"), "{}", text(0, 2));
    assert!(!text(0, 1).contains("cannot be compared"), "{}", text(0, 1));
}
