//! The verdict and the findings on simulated jobs with known losses, each at three sizes, and on jobs without any.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use stepscope::analysis::{Analysis, Area, Basis, Diagnosis, Limit, Params, Rule, Severity, analyze};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{CudaGraphs, Job, JobConfig, preset, simulate_to_dir};

/// A job and the numbers of each of its files.
fn run(cfg: &JobConfig) -> (Job, Vec<Analysis>) {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(cfg, folder.path(), false, &mut |_| {}).unwrap();
    let analyses = job.files.iter().map(|file| {
        let trace = open(file, &LoadOptions::default(), &Progress::new()).unwrap();
        analyze(&trace, &Params::default())
    });
    let analyses = analyses.collect();
    (job, analyses)
}

/// The diagnosis of the job's first rank.
fn diagnose(cfg: &JobConfig) -> Diagnosis {
    run(cfg).1.remove(0).ranks.remove(0).diagnosis
}

fn named(name: &str) -> JobConfig {
    JobConfig { steps: 6, ..preset(name).unwrap() }
}

/// The verdict names `area` whenever its share of the step is that large, and the finding ranked first is `rule`.
fn assert_found(what: &str, cfg: &JobConfig, area: Area, rule: Rule) {
    assert_found_one_of(what, cfg, area, &[rule]);
}

fn assert_found_one_of(what: &str, cfg: &JobConfig, area: Area, rules: &[Rule]) {
    let diagnosis = diagnose(cfg);
    let verdict = diagnosis.verdict.as_ref().unwrap();
    let top = diagnosis.findings.first().unwrap_or_else(|| panic!("{what}: nothing found"));
    let all: Vec<_> = diagnosis.findings.iter().map(|f| (f.rule, f.share)).collect();
    assert!(rules.contains(&top.rule), "{what}: {all:?}");
    assert!(top.ns_per_step > 0 && !top.evidence.is_empty(), "{what}");
    assert!(!top.places.is_empty(), "{what}: nowhere to look");
    if area != Area::Compute {
        let share = verdict.losses.share(area).unwrap();
        assert_eq!(verdict.area == area, share >= 0.1, "{what}: {share} {:?}", verdict.losses);
    }
}

fn assert_verdict(what: &str, cfg: &JobConfig, area: Area) {
    let diagnosis = diagnose(cfg);
    let verdict = diagnosis.verdict.unwrap();
    assert_eq!(verdict.area, area, "{what}: {:?}", verdict.losses);
    assert!(area == Area::Compute || (verdict.share >= 0.1 && !verdict.places.is_empty()), "{what}");
    // What to do next is about the loss; in a compute-bound step about what costs most, when that is worth a warning.
    let costly = diagnosis.findings.iter().find(|f| f.severity == Severity::Warning && f.rule.is_advice());
    match costly.filter(|_| area == Area::Compute) {
        Some(finding) => assert_eq!(verdict.next, finding.rule, "{what}"),
        None => assert_eq!(verdict.next.area(), area, "{what}: {:?}", verdict.next),
    }
}

#[test]
fn a_healthy_job_has_no_verdict_and_no_warning() {
    for batch in [8, 16, 32] {
        let diagnosis = diagnose(&JobConfig { batch, ..named("healthy") });
        let verdict = diagnosis.verdict.unwrap();
        assert_eq!((verdict.area, verdict.also, verdict.basis), (Area::Compute, None, Basis::TypicalStep), "{batch}");
        assert!(verdict.share > 0.9 && verdict.next == Rule::Healthy);
        let warnings: Vec<_> = diagnosis.findings.iter().filter(|f| f.severity == Severity::Warning).collect();
        assert!(warnings.is_empty(), "{batch}: {warnings:?}");
        assert!(diagnosis.findings.iter().any(|f| f.rule == Rule::Healthy), "{batch}");
    }
}

#[test]
fn exposed_gradient_reduction_is_found() {
    for comm_gbps in [30.0, 20.0, 10.0] {
        let cfg = JobConfig { comm_gbps, ..named("exposed-allreduce") };
        assert_found(&format!("{comm_gbps} GB/s"), &cfg, Area::Communication, Rule::GradientsNotOverlapped);
        assert_verdict("exposed", &cfg, Area::Communication);
    }
}

#[test]
fn a_slow_loader_is_found_with_and_without_a_range() {
    for loader_nvtx in [true, false] {
        for loader_ms in [600.0, 900.0, 1500.0] {
            // Workers begin two batches ahead each, so the first steps do not wait.
            let cfg = JobConfig { loader_ms, loader_nvtx, steps: 16, ..named("slow-loader") };
            let what = format!("{loader_ms} ms, range {loader_nvtx}");
            assert_found(&what, &cfg, Area::Data, Rule::DataStall);
            assert_verdict(&what, &cfg, Area::Data);
        }
    }
}

#[test]
fn a_late_batch_in_one_step_is_found_and_is_no_verdict() {
    for slow_loader_ms in [60.0, 90.0, 300.0] {
        let cfg =
            JobConfig { slow_loader_steps: vec![5], slow_loader_ms, item_every: 1, steps: 10, ..named("healthy") };
        assert_found(&format!("{slow_loader_ms} ms"), &cfg, Area::Data, Rule::LateBatches);
        assert_verdict("late batch", &cfg, Area::Compute);
    }
}

#[test]
fn reading_scalars_in_each_step_is_found() {
    for item_blocks_in_copy in [false, true] {
        for item_host_us in [6_000.0, 12_000.0, 25_000.0] {
            let cfg = JobConfig { item_host_us, item_blocks_in_copy, ..named("item-sync") };
            let what = format!("{item_host_us} us, in the copy {item_blocks_in_copy}");
            assert_found(&what, &cfg, Area::Host, Rule::Synchronization);
            assert_verdict(&what, &cfg, Area::Host);
        }
    }
}

#[test]
fn large_messages_that_move_slowly_are_found_and_come_next() {
    for large_message_gbps in [12.0, 8.0, 4.0] {
        let cfg = JobConfig { large_message_gbps, ..preset("slow-protocol").unwrap() };
        let diagnosis = diagnose(&cfg);
        let found = diagnosis.findings.iter().find(|f| f.rule == Rule::LowBandwidth);
        let found = found.unwrap();
        assert_eq!(found.severity == Severity::Warning, found.share >= 0.1, "{large_message_gbps}: {}", found.share);
        let verdict = diagnosis.verdict.unwrap();
        assert_eq!((verdict.area, verdict.next), (Area::Communication, Rule::LowBandwidth), "{large_message_gbps}");
    }
}

#[test]
fn kernels_slower_beside_communication_are_found() {
    for contention_factor in [1.2, 1.33, 1.6] {
        let cfg = JobConfig { contention_factor, ..named("contention") };
        assert_found(&format!("{contention_factor}"), &cfg, Area::Compute, Rule::ComputeContention);
        let found = diagnose(&cfg).findings.remove(0);
        let slower = match found.evidence[0].value {
            stepscope::analysis::Value::Share(share) => share,
            _ => panic!("{:?}", found.evidence),
        };
        // A kernel under way when the collective begins keeps its speed in the simulation, which blurs the median a bit.
        assert!((slower - (contention_factor - 1.0)).abs() < 0.03, "{contention_factor}: {slower}");
    }
    let without = JobConfig { contention_factor: 1.0, ..named("contention") };
    assert!(diagnose(&without).findings.iter().all(|f| f.rule != Rule::ComputeContention));
}

#[test]
fn a_wait_for_the_whole_device_in_each_step_is_found() {
    for device_sync_host_us in [5_500.0, 11_000.0, 22_000.0] {
        let cfg = JobConfig { device_sync_host_us, ..named("device-sync") };
        let what = format!("{device_sync_host_us} us");
        assert_found(&what, &cfg, Area::Host, Rule::Synchronization);
        let top = diagnose(&cfg).findings.remove(0);
        assert_eq!(top.severity == Severity::Warning, top.share >= 0.05, "{what}: {}", top.share);
    }
    let share = diagnose(&named("device-sync")).findings[0].share;
    assert!((0.08..0.1).contains(&share), "the named job loses enough to matter: {share}");
}

#[test]
fn many_small_kernels_are_found() {
    for tiny_kernels in [60, 120, 240] {
        let cfg = JobConfig { tiny_kernels, ..named("tiny-kernels") };
        let rules = [Rule::SmallKernels, Rule::LaunchBound];
        assert_found_one_of(&format!("{tiny_kernels}"), &cfg, Area::Host, &rules);
        assert_verdict("small kernels", &cfg, Area::Host);
    }
}

#[test]
fn allocations_inside_the_step_are_found() {
    for alloc_churn in [6, 12, 24] {
        let cfg = JobConfig { alloc_churn, ..named("allocator-churn") };
        assert_found(&format!("{alloc_churn}"), &cfg, Area::Host, Rule::AllocatorChurn);
        assert_verdict("allocations", &cfg, Area::Host);
    }
}

#[test]
fn a_pause_of_one_step_is_found_and_is_no_verdict() {
    for gc_ms in [80.0, 180.0, 400.0] {
        let cfg = JobConfig { gc_ms, steps: 10, ..named("gc-pause") };
        assert_found(&format!("{gc_ms} ms"), &cfg, Area::Host, Rule::HostPause);
        assert_verdict("pause", &cfg, Area::Compute);
    }
}

#[test]
fn pauses_that_come_back_tell_their_period() {
    let cfg = JobConfig { steps: 12, gc_steps: vec![2, 5, 8], ranks: 1, ..named("gc-pause") };
    let diagnosis = diagnose(&cfg);
    let top = &diagnosis.findings[0];
    let period = top.evidence.iter().find(|e| e.what == "one every so many steps");
    assert_eq!(top.rule, Rule::HostPause);
    assert_eq!(period.unwrap().value, stepscope::analysis::Value::Count(3.0));
}

#[test]
fn a_wait_for_the_same_pause_of_another_rank_counts_with_it() {
    let (_, analyses) = run(&JobConfig { steps: 10, ..named("gc-pause") });
    // Rank 1 pauses one step later itself, and waits for rank 0 before.
    let top = &analyses[1].ranks[0].diagnosis.findings[0];
    assert_eq!(top.rule, Rule::HostPause);
    assert!(top.evidence.iter().any(|e| e.what.contains("wait as long in a collective")), "{:?}", top.evidence);
}

#[test]
fn graphs_recorded_as_one_block_are_named_as_a_limit() {
    for layers in [4, 8, 12] {
        let cfg = JobConfig { layers, cuda_graphs: CudaGraphs::Blocks, ..named("healthy") };
        let (_, analyses) = run(&cfg);
        assert!(analyses[0].limits.contains(&Limit::GraphBlocks), "{layers}");
        let verdict = analyses[0].ranks[0].diagnosis.verdict.as_ref().unwrap();
        assert_eq!(verdict.area, Area::Compute, "{layers}");
    }
}

#[test]
fn copies_that_nothing_hides_are_found() {
    for offload_mb in [300.0, 800.0, 1500.0] {
        let cfg = JobConfig { offload_mb, ..named("copies") };
        assert_found(&format!("{offload_mb} MB"), &cfg, Area::Copy, Rule::ExposedCopies);
        assert_verdict("copies", &cfg, Area::Copy);
    }
}

#[test]
fn attention_that_is_not_fused_is_found() {
    for (seq, batch) in [(512, 16), (1024, 8), (2048, 4)] {
        let cfg = JobConfig { seq, batch, ..named("attention-unfused") };
        assert_found(&format!("sequence {seq}"), &cfg, Area::Compute, Rule::AttentionUnfused);
        assert_verdict("attention", &cfg, Area::Compute);
    }
}

#[test]
fn norms_and_activations_that_are_not_fused_are_found() {
    for unfused_elementwise in [3, 6, 12] {
        let cfg = JobConfig { unfused_elementwise, ..named("healthy") };
        assert_found(&format!("{unfused_elementwise}"), &cfg, Area::Compute, Rule::ElementwiseUnfused);
    }
}

#[test]
fn a_micro_batch_too_small_for_the_card_is_found() {
    for (seq, micro_batches) in [(768, 8), (512, 16), (256, 16)] {
        let cfg = JobConfig { seq, micro_batches, steps: 4, ..named("small-micro-batch") };
        assert_found(&format!("sequence {seq}"), &cfg, Area::Compute, Rule::KernelsTooSmall);
    }
}

#[test]
fn the_pipeline_bubble_is_measured_and_stands_beside_its_theory() {
    for (micro_batches, theory) in [(4, 3.0 / 7.0), (8, 3.0 / 11.0), (32, 3.0 / 35.0)] {
        let (job, analyses) =
            run(&JobConfig { micro_batches, steps: 4, warmup_ms: 2_000.0, ..preset("pipeline-8").unwrap() });
        for (rank, (analysis, truth)) in analyses.iter().zip(&job.truth.ranks).enumerate() {
            let numbers = &analysis.ranks[0];
            let verdict = numbers.diagnosis.verdict.as_ref().unwrap();
            let bubble = verdict.bubble.as_ref().unwrap();
            let measured = bubble.share(verdict.losses.span_ns).unwrap();
            let typical = numbers.steps.as_ref().unwrap().steps.iter().zip(&truth.steps).filter(|(s, _)| s.typical);
            let (stall, span) = typical
                .map(|(_, truth)| (truth.pipeline_stall_ns, truth.window.len_ns()))
                .fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
            let expected = stall as f64 / span as f64;
            let what = format!("rank {rank}, {micro_batches} micro-batches");
            assert!((measured - expected).abs() < 0.02, "{what}: {measured} against {expected}");
            assert!((bubble.pipeline.theory().unwrap() - theory).abs() < 1e-9, "{what}: {:?}", bubble.pipeline);
            assert_eq!(verdict.area == Area::Bubble, measured >= 0.1, "{what}: {:?}", verdict.losses);
            assert_eq!(numbers.diagnosis.findings[0].rule, Rule::PipelineBubble, "{what}");
        }
    }
}

#[test]
fn exchanges_without_a_named_pipeline_are_communication() {
    let diagnosis = diagnose(&JobConfig { nvtx: false, steps: 4, ..preset("pipeline-8").unwrap() });
    let verdict = diagnosis.verdict.unwrap();
    assert_eq!((verdict.area, verdict.bubble), (Area::Communication, None));
    assert!(verdict.basis.is_whole_span() && verdict.basis.reason().is_some());
    assert!(diagnosis.findings.iter().any(|f| f.rule == Rule::UndeclaredPipeline));
}

#[test]
fn without_marked_steps_the_whole_span_is_judged_and_said() {
    let diagnosis = diagnose(&JobConfig { nvtx: false, ..named("copies") });
    let verdict = diagnosis.verdict.unwrap();
    assert!(verdict.basis.is_whole_span() && verdict.basis.reason().is_some());
    assert_eq!((verdict.area, verdict.steps), (Area::Copy, 1));
}

#[test]
fn products_without_tensor_cores_are_found() {
    let cfg = JobConfig { dtype: stepscope::sim::Dtype::Fp32, batch: 4, ..named("healthy") };
    assert_found("fp32", &cfg, Area::Compute, Rule::NoTensorCores);
}

#[test]
fn the_diagnosis_is_the_same_each_time() {
    let cfg = JobConfig { steps: 4, ..preset("demo").unwrap() };
    assert_eq!(diagnose(&cfg), diagnose(&cfg));
}
