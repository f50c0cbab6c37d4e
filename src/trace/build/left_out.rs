//! Which rows are left out, counted by what is wrong with them.

use super::super::Warning;
use super::TraceBuilder;

/// Times further than this from 0 (73 years) are damage, not data: no clock in use counts nanoseconds so far, and
/// lengths within it can be subtracted without overflow.
pub(super) const FURTHEST_NS: i64 = 1 << 61;

impl TraceBuilder {
    /// The end of an event that must have one; `None` when it is to be left out.
    pub(super) fn checked_end(&mut self, what: &'static str, start_ns: i64, end_ns: Option<i64>) -> Option<i64> {
        if end_ns.is_none() {
            *self.dropped.entry(("missing-end", what)).or_default() += 1;
        }
        end_ns.filter(|_| !self.is_impossible(what, start_ns, end_ns))
    }

    /// True for an event that is to be left out, which is counted.
    pub(super) fn is_impossible(&mut self, what: &'static str, start_ns: i64, end_ns: Option<i64>) -> bool {
        let is_far = |ns: i64| ns.unsigned_abs() > FURTHEST_NS.unsigned_abs();
        let code = if is_far(start_ns) || end_ns.is_some_and(is_far) {
            "impossible-time"
        } else if end_ns.is_some_and(|end_ns| end_ns < start_ns) {
            "end-before-start"
        } else {
            return false;
        };
        *self.dropped.entry((code, what)).or_default() += 1;
        true
    }

    pub(super) fn report_dropped(&mut self) {
        for ((code, what), count) in std::mem::take(&mut self.dropped) {
            let message = match code {
                "missing-end" => format!("{what} without an end: left out, since its length is unknown"),
                "impossible-time" => format!("{what} at a time more than 73 years from the capture's time 0: left out"),
                _ => format!("{what} that ends before it starts: left out"),
            };
            self.warn(Warning { code, message, count });
        }
    }
}
