//! A pipeline over its stages on simulated jobs, against the simulation's own books.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use stepscope::analysis::{BlockSource, Bubble, Params, Pass, PipelineTime, analyze};
use stepscope::experiment::{Experiment, RankPlace};
use stepscope::job::{Change, ExportSummary, Job, JobOptions, Known, PlaceOptions, PlaceSource, StageNotice, Stages};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::{JobConfig, Truth, preset, simulate_to_dir};

/// What the files of a simulated job tell, the bubbles of their verdicts, and what is true of it.
fn simulated(cfg: &JobConfig, params: &Params) -> (Vec<Arc<ExportSummary>>, Vec<Option<Bubble>>, Truth) {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(cfg, folder.path(), false, &mut |_| {}).unwrap();
    let (mut exports, mut bubbles) = (Vec::new(), Vec::new());
    for file in &job.files {
        let trace = open(file, &LoadOptions::default(), &Progress::new()).unwrap();
        let analysis = analyze(&trace, params);
        exports.push(Arc::new(ExportSummary::of(&trace, &analysis)));
        bubbles.push(analysis.ranks[0].diagnosis.verdict.as_ref().and_then(|verdict| verdict.bubble.clone()));
    }
    (exports, bubbles, job.truth)
}

fn staged(cfg: &JobConfig) -> (Stages, Job) {
    let (exports, ..) = simulated(cfg, &Params::default());
    let job = Job::of(exports, &JobOptions::default());
    (job.pipeline.clone().unwrap(), job)
}

fn pipeline(micro_batches: u32) -> JobConfig {
    JobConfig { micro_batches, steps: 4, ..preset("pipeline-8").unwrap() }
}

/// True share of the bubble of a rank over its last `count` steps.
fn true_bubble(truth: &Truth, rank: usize, count: u64) -> f64 {
    let steps = &truth.ranks[rank].steps[5 - count as usize..];
    let stall: i64 = steps.iter().map(|step| step.pipeline_stall_ns).sum();
    stall as f64 / steps.iter().map(|step| step.window.len_ns()).sum::<i64>() as f64
}

#[test]
fn the_bubble_of_every_stage_is_that_of_the_simulation_and_of_the_verdict() {
    // The first of five steps is out of the ordinary on three of four stages with few micro-batches: it counts on none.
    for (name, micro_batches, theory, counted) in [("pipeline-8", 8, 0.273, 4), ("pipeline-32", 32, 0.086, 5)] {
        let (exports, bubbles, truth) = simulated(&preset(name).unwrap(), &Params::default());
        let job = Job::of(exports, &JobOptions::default());
        let stages = job.pipeline.as_ref().unwrap();
        assert!((stages.theory().unwrap() - theory).abs() < 0.0005, "{:?}", stages.pipeline);
        assert_eq!((stages.pipeline.stages, stages.pipeline.micro_batches), (Some(4), Some(micro_batches)));
        assert_eq!((stages.stages.len(), &stages.notices[..]), (4, &[][..]));
        let mut of_pipeline = 0.0;
        for (at, stage) in stages.stages.iter().enumerate() {
            assert_eq!((stage.stage, stage.rank, &stage.ranks[..]), (at as u32, at, &[at][..]));
            let place = job.ranks[at].place.pp;
            assert_eq!(place, Some(Known { at: at as u32, from: PlaceSource::Ranges }));
            let (time, truth) = (stage.time, true_bubble(&truth, at, counted));
            let measured = time.bubble_share().unwrap();
            assert!((measured - truth).abs() < 0.02, "stage {at} of {micro_batches}: {measured} for {truth}");
            of_pipeline += truth / 4.0;
            assert_eq!(time.steps, counted);
            // On the fourth stage it is no outlier, so the verdict of that rank alone counts it.
            if micro_batches == 8 && at == 3 {
                continue;
            }
            // The verdict divides each cause by the steps, so it may be some nanoseconds short.
            let bubble = bubbles[at].as_ref().unwrap();
            assert_eq!(time.per_step(time.whole.exposed_ns), bubble.exposed_ns);
            assert!((time.per_step(time.whole.idle_ns) - bubble.idle.total_ns()).abs() <= 5);
        }
        let measured = stages.total.bubble_share().unwrap();
        assert!((measured - of_pipeline).abs() < 0.02, "{measured} for {of_pipeline}");
        assert!(!stages.imbalance.unwrap().is_large(), "{:?}", stages.imbalance);
    }
}

fn sum(of: [PipelineTime; 3]) -> PipelineTime {
    let mut all = PipelineTime::default();
    of.into_iter().for_each(|time| all += time);
    all
}

#[test]
fn phases_sum_to_the_bubble_of_their_stage() {
    let (stages, job) = staged(&pipeline(8));
    for stage in &stages.stages {
        let time = &stage.time;
        assert!(time.has_phases && time.steps > 0);
        assert_eq!(sum([time.warm_up, time.steady, time.cool_down]), time.whole, "stage {}", stage.stage);
        let work = job.summary(stage.rank).unwrap().pipeline.as_ref().unwrap();
        for step in &work.steps {
            let phases = step.phases.unwrap();
            assert_eq!(sum([phases.warm_up, phases.steady, phases.cool_down]), step.whole);
            assert_eq!(step.whole.span_ns, step.window.len_ns());
        }
    }
    let total = &stages.total;
    assert_eq!(sum([total.warm_up, total.steady, total.cool_down]), total.whole);
    // One forward and one backward in turn wait while the pipeline fills and drains, and hardly between.
    assert!(total.steady.bubble_ns() * 5 < total.whole.bubble_ns(), "{total:?}");
}

/// One forward, one backward: the order of passes on a stage.
fn expected(stage: u32, stages: u32, micro_batches: u32) -> Vec<(Pass, u32)> {
    let warm_up = (stages - stage - 1).min(micro_batches);
    let mut order: Vec<(Pass, u32)> = (0..warm_up).map(|micro| (Pass::Forward, micro)).collect();
    order.extend((warm_up..micro_batches).flat_map(|m| [(Pass::Forward, m), (Pass::Backward, m - warm_up)]));
    order.extend((micro_batches - warm_up..micro_batches).map(|micro| (Pass::Backward, micro)));
    order
}

#[test]
fn blocks_are_the_passes_of_the_schedule_in_order() {
    for micro_batches in [3, 8] {
        let (stages, job) = staged(&pipeline(micro_batches));
        for stage in &stages.stages {
            let work = job.summary(stage.rank).unwrap().pipeline.as_ref().unwrap();
            assert_eq!((stage.source, work.steps.len()), (BlockSource::Ranges, 4));
            for step in &work.steps {
                let blocks: Vec<_> = step.blocks().collect();
                let order: Vec<(Pass, u32)> = blocks.iter().map(|block| (block.pass, block.micro_batch)).collect();
                assert_eq!(order, expected(stage.stage, 4, micro_batches));
                assert_eq!((step.forwards, step.backwards), (micro_batches, micro_batches));
                assert!(blocks.windows(2).all(|pair| pair[0].span.end_ns <= pair[1].span.start_ns));
                assert!(blocks.iter().all(|b| step.window.start_ns <= b.span.start_ns && b.compute_ns > 0));
                assert!(blocks.iter().all(|b| b.span.end_ns <= step.window.end_ns && b.compute_ns <= b.span.len_ns()));
            }
        }
    }
}

#[test]
fn a_slow_stage_is_named_with_what_it_costs() {
    let uneven = JobConfig { stragglers: vec![2], compute_factor: 1.4, ..pipeline(24) };
    let (stages, _) = staged(&uneven);
    let found = stages.imbalance.unwrap();
    assert_eq!(stages.stages[found.slowest].stage, 2);
    assert!(found.is_large(), "{found:?}");
    assert_eq!(found.cost_ns_per_step, (found.max_ns - found.mean_ns) * 24);
    // The same work spread evenly: filling and draining hide a few of the 24.
    let (even, _) = staged(&JobConfig { stragglers: vec![0, 1, 2, 3], compute_factor: 1.1, ..uneven });
    let step_ns = |stages: &Stages| stages.total.per_step(stages.total.whole.span_ns);
    let saved = (step_ns(&stages) - step_ns(&even)) as f64 / found.cost_ns_per_step as f64;
    assert!((0.85..=1.0).contains(&saved), "{saved}");
    assert!(!even.imbalance.unwrap().is_large());
    let what_if = stages.what_if.iter().find(|w| w.change == Change::EvenStages).unwrap();
    let (then, measured) = (what_if.bubble_share.unwrap(), even.total.bubble_share().unwrap());
    assert!(then <= measured && measured - then < 0.04, "{then} against {measured}");
}

#[test]
fn smaller_micro_batches_save_what_is_told_at_most() {
    let (stages, _) = staged(&pipeline(8));
    let step_ns = |stages: &Stages| stages.total.per_step(stages.total.whole.span_ns);
    let halved = stages.what_if[0];
    assert_eq!((halved.change, halved.theory), (Change::MicroBatches(16), Some(3.0 / 19.0)));
    let (then, _) = staged(&JobConfig { batch: 1, ..pipeline(16) });
    assert!(step_ns(&stages) - step_ns(&then) <= halved.saved_ns_per_step, "{halved:?}");
    let (told, measured) = (halved.bubble_share.unwrap(), then.total.bubble_share().unwrap());
    assert!((told - measured).abs() < 0.04, "{told} against {measured}");
    let changes: Vec<Change> = stages.what_if.iter().map(|what_if| what_if.change).collect();
    let all = [Change::MicroBatches(16), Change::MicroBatches(32), Change::Interleave(2), Change::EvenStages];
    assert_eq!(changes, all);
    assert_eq!(stages.what_if[2].theory, Some(3.0 / 19.0));
    // A quarter of the micro-batch, a quarter of what filling and draining costs.
    let ramps = stages.total.warm_up.bubble_ns() + stages.total.cool_down.bubble_ns();
    assert!((stages.what_if[1].saved_ns_per_step - stages.total.per_step(ramps) * 3 / 4).abs() <= 3);
}

#[test]
fn stages_that_are_not_open_are_told() {
    let (exports, ..) = simulated(&pipeline(3), &Params::default());
    let job = Job::of(exports[1..3].to_vec(), &JobOptions::default());
    let stages = job.pipeline.unwrap();
    assert_eq!(stages.notices, [StageNotice::Missing(vec![0, 3])]);
    assert_eq!(stages.stages.iter().map(|stage| stage.stage).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn the_first_data_parallel_rank_stands_for_its_stage() {
    let (stages, job) = staged(&JobConfig { ranks: 4, pp: 2, ..pipeline(3) });
    let ranks: Vec<_> = stages.stages.iter().map(|stage| (stage.rank, stage.ranks.clone())).collect();
    assert_eq!(ranks, [(0, vec![0, 1]), (2, vec![2, 3])]);
    assert_eq!(job.ranks[3].place.dp, None);
}

fn declared(pp: u64) -> Params {
    let mut experiment = Experiment::default();
    experiment.parallel.pp = Some(pp);
    Params { experiment: Some(experiment), ..Params::default() }
}

#[test]
fn a_declared_layout_places_ranks_that_no_name_places() {
    let (exports, ..) = simulated(&JobConfig { ranks: 4, pp: 2, nvtx: false, ..pipeline(3) }, &declared(2));
    let job = Job::of(exports, &JobOptions::default());
    let place = job.ranks[3].place;
    let known = |at| Some(Known { at, from: PlaceSource::Layout });
    assert_eq!((place.dp, place.tp, place.pp), (known(1), known(0), known(1)));
    let stages = job.pipeline.unwrap();
    assert_eq!((stages.stages.len(), stages.total.steps, stages.what_if.len()), (2, 0, 0));
    assert_eq!(stages.notices, [StageNotice::NoSteps(0), StageNotice::NoSteps(2)]);
}

#[test]
fn jobs_without_a_pipeline_have_none() {
    let (exports, ..) = simulated(&JobConfig { steps: 3, ..preset("healthy").unwrap() }, &Params::default());
    assert_eq!(Job::of(exports, &JobOptions::default()).pipeline, None);
}

#[test]
fn summaries_keep_what_stages_need() {
    let (exports, ..) = simulated(&pipeline(3), &Params::default());
    let read = |export: &Arc<ExportSummary>| {
        let text = serde_json::to_string(export.as_ref()).unwrap();
        Arc::new(serde_json::from_str::<ExportSummary>(&text).unwrap())
    };
    let again: Vec<_> = exports.iter().map(read).collect();
    assert_eq!(again[2].ranks[0].pipeline, exports[2].ranks[0].pipeline);
    let (kept, first) = (Job::of(again, &JobOptions::default()), Job::of(exports, &JobOptions::default()));
    assert_eq!(kept.pipeline, first.pipeline);
}

#[test]
fn a_step_over_the_stages_is_on_the_clock_of_the_job() {
    let (stages, job) = staged(&pipeline(3));
    let steps = stages.steps(&job);
    assert_eq!(steps.iter().map(|step| step.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
    for (at, stage) in stages.stages.iter().enumerate() {
        let work = &job.summary(stage.rank).unwrap().pipeline.as_ref().unwrap().steps[2];
        let (lane, map) = (stages.lane(&job, &steps[2], at).unwrap(), job.map(stage.rank));
        assert_eq!((lane.window, lane.whole, lane.passes), (map.span_to_job(work.window), work.whole, 6));
        assert!(steps[2].span.holds(lane.window) && lane.blocks.len() == 6);
        let spans: Vec<_> = lane.phases.iter().map(|(_, span, _)| *span).collect();
        assert_eq!((spans[0].start_ns, spans[2].end_ns), (lane.window.start_ns, lane.window.end_ns));
        assert!(spans.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
        for (block, own) in lane.blocks.iter().zip(work.blocks()) {
            assert_eq!((block.span, block.micro_batch), (map.span_to_job(own.span), own.micro_batch));
        }
    }
}

#[test]
fn what_is_typed_of_a_rank_decides_its_stage() {
    let (exports, ..) = simulated(&JobConfig { ranks: 2, pp: 2, nvtx: false, ..pipeline(3) }, &declared(2));
    let mut experiment = declared(2).experiment.unwrap();
    let place = |label: &str, pp| RankPlace { label: label.to_owned(), pp: Some(pp), ..RankPlace::default() };
    experiment.ranks = vec![place("0", 1), place("1", 0)];
    let options = JobOptions { places: PlaceOptions::of(&experiment), ..JobOptions::default() };
    let job = Job::of(exports.clone(), &options);
    let of = |job: &Job| job.pipeline.as_ref().unwrap().stages.iter().map(|stage| stage.rank).collect::<Vec<_>>();
    assert_eq!((of(&job), job.ranks[0].place.pp.unwrap().from), (vec![1, 0], PlaceSource::Typed));
    let plain = Job::of(exports, &JobOptions::default());
    assert_eq!(of(&plain), [0, 1]);
    assert_eq!(plain.placed(&options.places).pipeline, job.pipeline);
}
