//! Numbers to text.

/// A duration with a unit that fits.
pub fn duration(ns: i64) -> String {
    duration_f(ns as f64)
}

/// A duration with a unit that fits.
pub fn duration_f(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        at if at < 1e3 => (ns, "ns"),
        at if at < 1e6 => (ns / 1e3, "µs"),
        at if at < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if unit == "ns" { 0 } else if value.abs() < 10.0 { 2 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// Thousands with a thin space.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// A share in percent, or a dash.
pub fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:.1} %", fraction * 100.0))
}

/// Bytes with a unit that fits.
pub fn bytes(b: u64) -> String {
    format!("{:.1} MiB", b as f64 / 1_048_576.0)
}

/// A time on an axis with ticks `step_ns` apart.
pub fn time_at(ns: i64, _step_ns: i64) -> String {
    duration(ns)
}
