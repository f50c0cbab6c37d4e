//! What a file is known by, wherever it lies: for its bookmarks and for how it was looked at.

use crate::trace::Trace;

/// What tells a file from others: its name, size, and the wall clock and span of what it recorded. A copy elsewhere is the
/// same file; one recorded anew is not.
pub fn fingerprint(trace: &Trace) -> String {
    let source = &trace.source;
    let name = super::state::file_name(&source.path);
    let known = |ns: Option<i64>| ns.map_or_else(|| "-".to_owned(), |ns| ns.to_string());
    let span = trace.span.unwrap_or_default();
    format!("{name}|{}|{}|{}..{}", source.bytes, known(source.utc_epoch_ns), span.start_ns, span.end_ns)
}
