//! Rules on model FLOPs utilisation.

use super::{Finding, Rule, Severity, Value};
use crate::analysis::{Area, Thresholds, Verdict};

/// What an MFU of `mfu` says beside the verdict on a rank.
pub(super) fn finding(verdict: &Verdict, mfu: f64, limits: &Thresholds) -> Option<Finding> {
    let compute = verdict.losses.share(Area::Compute)?;
    let lost = 1.0 - compute;
    let rule = if mfu > 1.0 {
        Rule::MfuImplausible
    } else if mfu < limits.mfu_low && lost < limits.busy_loss_share {
        Rule::MfuLowBusy
    } else if mfu < limits.mfu_low && lost >= limits.idle_loss_share {
        Rule::MfuLowIdle
    } else {
        return None;
    };
    let (evidence, places) = (Vec::new(), Vec::new());
    let finding = Finding { rule, severity: Severity::Warning, ns_per_step: 0, share: 0.0, evidence, places };
    let at_most = (compute > 0.0).then(|| Value::Share(mfu / compute));
    Some(
        finding
            .with("MFU", Value::Share(mfu))
            .with("compute, share of the step", Value::Share(compute))
            .with_known("MFU if every loss vanished, at most", at_most.filter(|_| rule == Rule::MfuLowIdle)),
    )
}
