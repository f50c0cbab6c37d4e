//! Rules on model FLOPs utilisation.

use super::{Case, Finding, Rule, Value};
use crate::analysis::Area;

/// What holds of a case; nothing while the MFU is not known.
pub(super) fn findings(case: &Case<'_>, out: &mut Vec<Finding>) {
    let Some(mfu) = case.mfu else { return };
    let compute = case.losses.share(Area::Compute).unwrap_or(0.0);
    let lost = 1.0 - compute;
    let limits = case.limits;
    if mfu > 1.0 {
        out.push(case.finding(Rule::MfuImplausible, 0).with("MFU", Value::Share(mfu)).as_warning());
    } else if mfu < limits.mfu_low && (lost < limits.busy_loss_share || lost >= limits.idle_loss_share) {
        let is_busy = lost < limits.busy_loss_share;
        let rule = if is_busy { Rule::MfuLowBusy } else { Rule::MfuLowIdle };
        let finding = case
            .finding(rule, 0)
            .with("MFU", Value::Share(mfu))
            .with("compute", Value::Share(compute))
            .with("if every loss vanished, at most", Value::Share(mfu / compute.max(f64::EPSILON)));
        out.push(finding.as_warning());
    }
}
