//! Findings on traces made by hand.

use super::*;
use crate::analysis::Rules;
use crate::trace::CommCall;
use crate::trace::testing::Fixture;
use crate::units::Span;

fn findings(fixture: &mut Fixture) -> Vec<Finding> {
    let trace = fixture.build();
    let classes = Classes::of(&trace, &Rules::default());
    let numbers = RankAnalysis::of(&trace, 0, &classes, &Params::default());
    Diagnosis::of(&trace, 0, &classes, &numbers, &Params::default()).findings
}

fn evidence(finding: &Finding, what: &str) -> Option<Value> {
    finding.evidence.iter().find(|evidence| evidence.what.starts_with(what)).map(|evidence| evidence.value.clone())
}

#[test]
fn evidence_that_reads_as_zero_is_left_out() {
    let finding = Finding {
        rule: Rule::Synchronization,
        severity: Severity::Note,
        ns_per_step: 1,
        share: 0.1,
        evidence: Vec::new(),
        places: Vec::new(),
    };
    let kept = finding
        .with_some("none", Value::Count(0.0))
        .with_some("shown as 0", Value::Count(0.02))
        .with_some("no time", Value::Ns(0))
        .with_some("one", Value::Count(1.0));
    assert_eq!(kept.evidence.iter().map(|evidence| evidence.what).collect::<Vec<_>>(), ["one"]);
}

#[test]
fn a_wait_in_copies_alone_counts_no_synchronising_calls() {
    let mut fixture = Fixture::new();
    fixture.launched("gemm", 7, 1, 0, 10_000, 1_000_000);
    fixture.call("cudaMemcpy_v3020", 1, 20_000, 1_100_000, Some(90));
    let kind = crate::trace::OpKind::Memcpy(crate::trace::CopyKind::DeviceToHost);
    fixture.gpu_op(kind, "Memcpy DtoH", 7, 1_010_000, 1_090_000, Some(90), Some(1 << 20));
    fixture.launched("gemm", 7, 1, 1_500_000, 1_510_000, 3_000_000);
    let all = findings(&mut fixture);
    let wait = all.iter().find(|finding| finding.rule == Rule::Synchronization).unwrap();
    assert_eq!(evidence(wait, "synchronising calls"), None, "{wait:?}");
    assert_eq!(evidence(wait, "copies that block"), Some(Value::Count(1.0)), "{wait:?}");
}

#[test]
fn unfused_kernels_are_counted_over_the_families_that_a_run_is_made_of() {
    let mut fixture = Fixture::new();
    let mut now = 0;
    let mut kernel = |name: &str, len: i64| {
        fixture.launched(name, 7, 1, now, now + 5, now + len);
        now += len;
    };
    // Mostly norms and copies: elementwise kernels alone would be a tenth of compute.
    for _ in 0..20 {
        kernel("ampere_bf16_s16816gemm_bf16_128x128", 40_000);
        kernel("vectorized_layer_norm_kernel", 20_000);
        kernel("transpose_readWrite_alignment_kernel", 30_000);
        kernel("vectorized_elementwise_kernel", 10_000);
    }
    let all = findings(&mut fixture);
    let unfused = all.iter().find(|finding| finding.rule == Rule::ElementwiseUnfused).unwrap();
    let share = |what| match evidence(unfused, what) {
        Some(Value::Share(share)) => share,
        other => panic!("{what}: {other:?}"),
    };
    let (apart, fusable) = (share("elementwise, reduction, norm and copy"), share("all but the longest"));
    assert!((apart - 0.6).abs() < 0.001 && (fusable - 0.3).abs() < 0.001, "{apart} {fusable}");
}

#[test]
fn a_finding_on_some_collectives_leads_to_those_and_not_to_the_longest_of_all() {
    let mut fixture = Fixture::new();
    let mut now = 0;
    let mut collective = |name: &str, bytes: Option<u64>, len_ns: i64| {
        let call = bytes.map(|bytes| CommCall { communicator: Some(9), bytes: Some(bytes), ..CommCall::default() });
        fixture.launched("gemm", 7, 1, now, now + 5, now + 1_000_000);
        now += 1_000_000;
        fixture.range_in("NCCL", "ncclAllReduce", 1, Span::new(now, now + 10), call);
        fixture.launched(name, 20, 1, now + 2, now + 20, now + 20 + len_ns);
        now += 20 + len_ns;
        Span::new(now - len_ns, now)
    };
    let all_reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
    collective(all_reduce, Some(1 << 20), 100_000);
    let slow = collective(all_reduce, Some(64 << 20), 40_000_000);
    collective("ncclDevKernel_AllGather_RING_LL", None, 90_000_000);
    let all = findings(&mut fixture);
    let found = all.iter().find(|finding| finding.rule == Rule::LowBandwidth).unwrap();
    assert_eq!(found.places.iter().map(|place| place.span).collect::<Vec<_>>(), [slow]);
    let exposed = all.iter().find(|finding| finding.rule.area() == Area::Communication && finding.places.len() > 1);
    assert_eq!(exposed.unwrap().places[0].ns, 90_000_000, "of all the longest comes first");
}
