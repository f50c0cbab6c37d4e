//! Utilisation of small jobs, by hand and by captured steps.

use super::super::{Params, analyze};
use super::*;
use crate::experiment::{Batch, Model, PeakChoice, Run};
use crate::trace::testing::Fixture;
use crate::units::share;

/// Ten steps of 1 ms, each a kernel of 600 µs, exposed communication of 200 µs, and 200 µs of nothing.
fn capture() -> (Trace, Analysis) {
    let mut fixture = Fixture::new();
    for step in 0..10 {
        let at = step * 1_000_000;
        fixture.range(&format!("step {step}"), 11, at, at + 900_000);
        fixture.launched("gemm", 7, 11, at + 10, at + 400_000, at + 1_000_000);
        fixture.launched("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 11, at + 20, at + 200_000, at + 400_000);
    }
    let trace = fixture.build();
    let analysis = analyze(&trace, &Params::default());
    (trace, analysis)
}

fn seed() -> Experiment {
    Experiment {
        run: Run { gpus: Some(2), step_time_ms: Some(420.0), ..Run::default() },
        model: Model { parameters: Some(125e6), ..Model::default() },
        batch: Batch { sequences: Some(64), sequence_length: Some(1024), ..Batch::default() },
        peak: PeakChoice { tflops: Some(312.0), ..PeakChoice::default() },
        ..Experiment::default()
    }
}

#[test]
fn a_small_gpt_on_two_cards() {
    let mfu = Mfu::of(&[], Some(&seed()));
    assert_eq!(mfu.tokens_per_step, Some(65_536));
    assert_eq!(mfu.tokens_per_s.map(f64::round), Some(156_038.0));
    assert!((mfu.mfu.unwrap() - 0.1875).abs() < 1e-4, "{:?}", mfu.mfu);
    assert_eq!(mfu.convention, Some(Convention::Rough));
    assert!(mfu.missing.is_empty() && mfu.step.unwrap().typed, "{mfu:?}");
}

#[test]
fn without_anything_said_everything_is_unknown_and_asked_for() {
    let (trace, analysis) = capture();
    let mfu = Mfu::of(&[(&trace, &analysis)], None);
    assert_eq!((mfu.mfu, mfu.hfu, mfu.tokens_per_s, mfu.peak), (None, None, None, None));
    let expected = [Missing::Model, Missing::SequenceLength, Missing::Sequences, Missing::Dtype];
    assert_eq!(mfu.missing, expected);
    assert_eq!((mfu.gpus, mfu.gpu_source), (1, Some(GpuSource::RanksOpen)));
}

#[test]
fn captured_steps_give_the_time_and_the_losses() {
    let (trace, analysis) = capture();
    let mut said = seed();
    said.run.step_time_ms = None;
    let mfu = Mfu::of(&[(&trace, &analysis)], Some(&said));
    let steps = analysis.ranks[0].steps.as_ref().unwrap();
    let step = mfu.step.unwrap();
    assert_eq!((step.median_ns, step.p10_ns), (steps.typical.median_span_ns as f64, Some(1_000_000)));
    assert_eq!(mfu.of_step(steps.typical.median_span_ns), mfu.mfu);
    let loss = |area| mfu.losses.iter().find(|loss| loss.area == area).copied().unwrap();
    let communication = loss(Area::Communication);
    let parts = steps.typical.mean;
    assert_eq!(Some(communication.share), share(parts.exposed_comm_ns, parts.span_ns));
    assert_eq!(communication.mfu_if_gone, mfu_without(mfu.mfu, communication.share));
    let computing = share(parts.compute_ns(), parts.span_ns).unwrap();
    assert!((mfu.if_only_compute().unwrap() * computing / mfu.mfu.unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn estimated_steps_are_no_basis() {
    let (trace, mut analysis) = capture();
    analysis.ranks[0].steps.as_mut().unwrap().estimated = true;
    analysis.ranks[0].diagnosis.verdict.as_mut().unwrap().basis = Basis::EstimatedSteps;
    let mut said = seed();
    said.run.step_time_ms = None;
    let mfu = Mfu::of(&[(&trace, &analysis)], Some(&said));
    assert_eq!((mfu.step, mfu.mfu), (None, None));
    assert_eq!(mfu.missing, [Missing::OnlyEstimatedSteps]);
    assert!(mfu.losses.is_empty());
}

#[test]
fn over_the_peak_is_flagged_not_hidden() {
    let mut said = seed();
    said.run.step_time_ms = Some(42.0);
    let mfu = Mfu::of(&[], Some(&said));
    assert!(mfu.mfu.unwrap() > 1.0 && mfu.doubts.contains(&Doubt::OverPeak), "{mfu:?}");
}

#[test]
fn peaks_come_from_the_named_card_and_are_never_borrowed() {
    let of = |gpu: &str, dtype, sparse| {
        let mut said = seed();
        said.run.dtype = Some(dtype);
        said.peak = PeakChoice { gpu: Some(gpu.to_owned()), tflops: None, sparse };
        let mfu = Mfu::of(&[], Some(&said));
        mfu.peak.map(|peak| peak.tflops).ok_or_else(|| mfu.missing[0].clone())
    };
    assert_eq!(of("NVIDIA A100-SXM4-40GB", Dtype::Bf16, false), Ok(312.0));
    assert_eq!(of("NVIDIA A100-SXM4-40GB", Dtype::Bf16, true), Ok(624.0));
    assert_eq!(of("V100 SXM2", Dtype::Bf16, false), Err(Missing::NoPeak("V100 SXM2", Dtype::Bf16)));
    assert_eq!(of("V100 SXM2", Dtype::Fp16, true), Err(Missing::NoSparsePeak("V100 SXM2", Dtype::Fp16)));
    assert_eq!(of("GTX 1080", Dtype::Fp16, false), Err(Missing::GpuUnknown("GTX 1080".to_owned())));
}

#[test]
fn ranks_of_the_nearest_kind() {
    let mut ten: Vec<i64> = (1..=10).rev().collect();
    let of_ten = (percentile(&mut ten, 10), percentile(&mut ten, 90), percentile(&mut [], 10));
    assert_eq!(of_ten, (Some(1), Some(9), None));
    assert_eq!((percentile(&mut [5], 10), percentile(&mut [5], 90)), (Some(5), Some(5)));
}

#[test]
fn a_loss_of_everything_leaves_nothing_to_divide_by() {
    assert_eq!(mfu_without(Some(0.2), 0.5), Some(0.4));
    assert_eq!((mfu_without(Some(0.2), 1.0), mfu_without(None, 0.1)), (None, None));
}
