//! The one place that turns numbers into text, so that screen, report and pictures show the same value.
//!
//! Times carry the unit that fits and four significant digits; thousands are set apart by a thin space; shares are
//! percent with one decimal; what is not known is [`UNKNOWN`], never NaN or 0.

/// Text for a value that is not known.
pub const UNKNOWN: &str = "-";

/// Between groups of three digits.
const THIN_SPACE: char = '\u{2009}';

/// Units of time with their length in nanoseconds, largest first.
const TIME_UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];

/// A length of time: `30.79 ms`, `999 ns`, `-1.500 µs`.
pub fn duration(ns: i64) -> String {
    if ns.unsigned_abs() < 1000 {
        return format!("{ns} ns");
    }
    duration_f(ns as f64)
}

/// A length of time that is a mean or a quotient; [`UNKNOWN`] when it is not finite.
pub fn duration_f(ns: f64) -> String {
    if !ns.is_finite() {
        return UNKNOWN.to_owned();
    }
    // A value that would round up to 1000 of its unit is shown in the next: 999.96 µs is 1.000 ms.
    let fits = |(_, length): &&(&str, f64)| ns.abs() >= length * 0.999_95;
    let (unit, length) = TIME_UNITS.iter().find(fits).unwrap_or(&("ns", 1.0));
    let value = ns / length;
    if *unit == "ns" && value.fract() == 0.0 {
        return format!("{} ns", grouped(&value.to_string()));
    }
    format!("{} {unit}", significant(value))
}

/// A length of time that is not always known.
pub fn duration_or_unknown(ns: Option<i64>) -> String {
    ns.map_or_else(|| UNKNOWN.to_owned(), duration)
}

/// A point on an axis whose ticks are `step_ns` apart: as many decimals as the ticks need, in the unit of the tick.
pub fn time_at(ns: i64, step_ns: i64) -> String {
    time_between(ns, step_ns, step_ns)
}

/// A point between the ticks of an axis, told to `step_ns`, in the unit that [`time_at`] uses for a tick there.
pub fn time_between(ns: i64, tick_ns: i64, step_ns: i64) -> String {
    let (tick, step) = (tick_ns.max(1) as f64, step_ns.max(1) as f64);
    let fits = |(_, length): &&(&str, f64)| tick * 1000.0 > *length && (ns.unsigned_abs() as f64) >= *length;
    let (unit, length) = TIME_UNITS.iter().find(fits).unwrap_or(&("ns", 1.0));
    if ns == 0 {
        let (unit, _) = TIME_UNITS.iter().find(|(_, length)| step * 10.0 >= *length).unwrap_or(&("ns", 1.0));
        return format!("0 {unit}");
    }
    let decimals = (0..9).find(|digits| 10_f64.powi(*digits) >= length / step).unwrap_or(9) as usize;
    format!("{} {unit}", grouped(&format!("{:.decimals$}", ns as f64 / length)))
}

/// A count: `12 345` with thin spaces.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// A count with what it counts, in the form that fits: `1 step`, `2 steps`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A whole number that may be negative: `-12 345` with thin spaces.
pub fn integer(n: i64) -> String {
    grouped(&n.to_string())
}

/// A fraction with so many decimals: `12 345.7` with thin spaces; [`UNKNOWN`] when it is not finite.
pub fn decimal(value: f64, decimals: usize) -> String {
    if value.is_finite() { grouped(&format!("{value:.decimals$}")) } else { UNKNOWN.to_owned() }
}

/// A count that is a quotient or a mean, rounded: `156 038`; [`UNKNOWN`] when it is not known.
pub fn count_f(n: Option<f64>) -> String {
    n.filter(|n| n.is_finite()).map_or_else(|| UNKNOWN.to_owned(), |n| grouped(&format!("{n:.0}")))
}

/// A large amount with the prefix that fits and four significant digits: `49.15 TFLOP`, `125.0 M`.
pub fn amount(value: Option<f64>, unit: &str) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return UNKNOWN.to_owned() };
    let prefixes =
        [("Y", 1e24), ("Z", 1e21), ("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
    let fits = |(_, size): &&(&str, f64)| value.abs() >= size * 0.999_95;
    let (prefix, size) = prefixes.iter().find(fits).unwrap_or(&("", 1.0));
    format!("{} {prefix}{unit}", significant(value / size)).trim_end().to_owned()
}

/// A number with its unit and four significant digits: `58.50 TFLOP/s`; [`UNKNOWN`] when it is not known.
pub fn quantity(value: Option<f64>, unit: &str) -> String {
    let known = value.filter(|value| value.is_finite());
    known.map_or_else(|| UNKNOWN.to_owned(), |value| format!("{} {unit}", significant(value)))
}

/// Four significant digits.
fn significant(value: f64) -> String {
    let decimals = match value.abs() {
        v if v < 9.9995 => 3,
        v if v < 99.995 => 2,
        v if v < 999.95 => 1,
        _ => 0,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// A share of 1 as percent with one decimal.
pub fn percent(fraction: Option<f64>) -> String {
    let known = fraction.filter(|f| f.is_finite());
    known.map_or_else(|| UNKNOWN.to_owned(), |f| format!("{} %", decimal(f * 100.0, 1)))
}

/// A count that may be a mean: whole and large numbers without decimals, others with one.
pub fn count_or_mean(n: f64) -> String {
    if !n.is_finite() {
        return UNKNOWN.to_owned();
    }
    decimal(n, usize::from(n.fract().abs() >= 0.05 && n.abs() < 1000.0))
}

/// A difference of shares in percentage points.
pub fn points(fraction: f64) -> String {
    if fraction.is_finite() { format!("{} points", decimal(fraction * 100.0, 1)) } else { UNKNOWN.to_owned() }
}

/// A difference with its sign, where no word tells its direction: `+2.500 ms`, as in columns of differences.
pub fn signed_duration(ns: i64) -> String {
    signed(duration(ns))
}

/// The same of a share of 1: `+5.0 %`.
pub fn signed_percent(fraction: Option<f64>) -> String {
    signed(percent(fraction))
}

/// A number as text with its sign; what reads as nothing has none.
pub fn signed(number: String) -> String {
    if number.starts_with('-') || is_nothing(&number) { number } else { format!("+{number}") }
}

/// A difference whose direction a word tells, so that it has no sign: `2.500 ms later`; `None` of no difference.
pub fn directed(ns: i64, more: &str, less: &str) -> Option<String> {
    let word = if ns > 0 { more } else { less };
    (ns != 0).then(|| format!("{} {word}", duration(ns.saturating_abs())))
}

/// An amount of memory in powers of 1024: `1.5 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1_u64 << shift) as f64),
        None => format!("{bytes} B"),
    }
}

/// An amount of data in powers of 1024 that is not always known.
pub fn bytes_or_unknown(amount: Option<u64>) -> String {
    amount.map_or_else(|| UNKNOWN.to_owned(), bytes)
}

/// A bandwidth in gigabytes (powers of ten) per second, with three digits.
pub fn bandwidth(gb_per_s: Option<f64>) -> String {
    let Some(value) = gb_per_s.filter(|value| value.is_finite()) else { return UNKNOWN.to_owned() };
    let decimals = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{} GB/s", grouped(&format!("{value:.decimals$}")))
}

/// The number of a communicator, as the library prints it.
pub fn communicator(id: u64) -> String {
    format!("{id:#x}")
}

/// A mean of counts with one decimal; [`UNKNOWN`] when there is none.
pub fn mean_count(mean: Option<f64>) -> String {
    mean.filter(|m| m.is_finite()).map_or_else(|| UNKNOWN.to_owned(), |m| grouped(&format!("{m:.1}")))
}

/// `text` with a capital first letter, for labels.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A name made safe to show on one line: control characters become `\u{..}` escapes or spaces, and a text longer than
/// `limit` characters is cut with an ellipsis.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut safe = String::with_capacity(text.len().min(limit.saturating_mul(4)));
    for (at, c) in text.chars().enumerate() {
        if at >= limit {
            safe.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => safe.push(' '),
            c if c.is_control() || is_invisible(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// A word as a POSIX shell reads it back, quoted only where it must be.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Characters that reorder or hide their neighbours.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A moment as `2023-11-04 17:03:59 UTC`, from nanoseconds since 1970.
pub fn utc(epoch_ns: i64) -> String {
    let seconds = epoch_ns.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days to a date of the proleptic Gregorian calendar, counted in eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
}

/// A moment of the day in UTC, told to `step_ns`: `17:03:59.123456`, from nanoseconds since 1970.
pub fn time_of_day(epoch_ns: i64, step_ns: i64) -> String {
    let (second, ns) = (epoch_ns.div_euclid(1_000_000_000).rem_euclid(86_400), epoch_ns.rem_euclid(1_000_000_000));
    let decimals = (0..9_u32).find(|digits| 10_i64.pow(9 - digits) <= step_ns.max(1)).unwrap_or(9);
    let mut text = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if decimals > 0 {
        let fraction = ns / 10_i64.pow(9 - decimals);
        text.push_str(&format!(".{fraction:0width$}", width = decimals as usize));
    }
    text
}

/// Sets thousands of the integer part apart. What was rounded to nothing has no sign.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let sign = if is_nothing(digits) { "" } else { sign };
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut text = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(THIN_SPACE);
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// True of a number as text that reads as zero.
fn is_nothing(number: &str) -> bool {
    !number.contains(|digit| matches!(digit, '1'..='9'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_between_ticks_has_their_unit() {
        assert_eq!(time_at(181_200_000, 100_000), "181.2 ms");
        assert_eq!(time_between(181_209_345, 100_000, 100), "181.2093 ms");
        assert_eq!(time_between(0, 100_000, 100), time_at(0, 100));
    }

    #[test]
    fn times_take_the_unit_that_fits_and_four_digits() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.000 µs"),
            (30_789_123, "30.79 ms"),
            (999_960, "1.000 ms"),
            (99_996_000, "100.0 ms"),
            (-1_500, "-1.500 µs"),
            (12_345_000_000_000, "12\u{2009}345 s"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(ns), text);
        }
        assert_eq!(duration_f(0.5), "0.500 ns");
        assert_eq!(duration_f(f64::NAN), "-");
    }

    #[test]
    fn ticks_show_the_decimals_they_need() {
        assert_eq!(time_at(2_000_000, 500_000), "2.0 ms");
        assert_eq!(time_at(1_500_000, 500_000), "1.5 ms");
        assert_eq!(time_at(1_234_567, 1), "1\u{2009}234\u{2009}567 ns");
        assert_eq!(time_at(1_200_000_000, 200_000_000), "1.2 s");
        assert_eq!(time_at(0, 1_000_000), "0 ms");
    }

    #[test]
    fn counts_are_grouped_and_shares_have_one_decimal() {
        assert_eq!(count(1_234_567), "1\u{2009}234\u{2009}567");
        assert_eq!(count(12), "12");
        assert_eq!(percent(Some(0.12345)), "12.3 %");
        assert_eq!(percent(None), "-");
        assert_eq!(percent(Some(-12.345)), "-1\u{2009}234.5 %");
    }

    #[test]
    fn a_difference_has_a_sign_or_a_word_for_its_direction() {
        let signs = [2_500_000, 0, -5].map(signed_duration);
        assert_eq!(signs, ["+2.500 ms".to_owned(), "0 ns".into(), "-5 ns".into()]);
        let shares = [Some(0.05), Some(0.000_1), Some(-0.000_1), Some(-0.2), None].map(signed_percent);
        assert_eq!(shares, ["+5.0 %".to_owned(), "0.0 %".into(), "0.0 %".into(), "-20.0 %".into(), "-".into()]);
        let words = [387, 0, -387].map(|ns| directed(ns, "later", "earlier"));
        assert_eq!(words, [Some("387 ns later".to_owned()), None, Some("387 ns earlier".into())]);
        assert!(directed(i64::MIN, "later", "earlier").is_some());
    }

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!(
            (percent(Some(-0.000_4)), percent(Some(-0.0)), points(-0.000_4)),
            ("0.0 %".into(), "0.0 %".into(), "0.0 points".into())
        );
        assert_eq!(
            (percent(Some(-0.000_6)), decimal(-0.04, 1), count_f(Some(-0.4))),
            ("-0.1 %".into(), "0.0".into(), "0".into())
        );
        assert_eq!((duration_f(-0.0), duration_f(-0.000_1)), ("0 ns".into(), "0.000 ns".into()));
    }

    #[test]
    fn one_thing_is_no_plural() {
        let steps = |n| counted(n, "step", "steps");
        assert_eq!(
            (steps(0), steps(1), steps(1_200)),
            ("0 steps".into(), "1 step".into(), "1\u{2009}200 steps".into())
        );
    }

    #[test]
    fn differences_of_shares_are_points_and_counts_may_be_means() {
        assert_eq!((points(0.1234), points(f64::NAN)), ("12.3 points".to_owned(), "-".to_owned()));
        assert_eq!((count_or_mean(12.0), count_or_mean(2.45)), ("12".to_owned(), "2.5".to_owned()));
        assert_eq!((count_or_mean(1234.6), count_or_mean(f64::NAN)), ("1\u{2009}235".to_owned(), "-".to_owned()));
    }

    #[test]
    fn amounts_take_the_prefix_that_fits() {
        assert_eq!(amount(Some(49_152e9), "FLOP"), "49.15 TFLOP");
        assert_eq!(amount(Some(125e6), ""), "125.0 M");
        assert_eq!((amount(None, "FLOP"), amount(Some(f64::NAN), "x")), ("-".to_owned(), "-".to_owned()));
        assert_eq!(quantity(Some(58.5), "TFLOP/s"), "58.50 TFLOP/s");
        assert_eq!((count_f(Some(156_038.1)), count_f(None)), ("156\u{2009}038".to_owned(), "-".to_owned()));
    }

    #[test]
    fn bytes_use_powers_of_1024() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(3 << 30), "3.0 GiB");
    }

    #[test]
    fn bandwidths_and_means_have_few_digits() {
        assert_eq!(bandwidth(Some(45.123)), "45.1 GB/s");
        assert_eq!(bandwidth(Some(0.5)), "0.50 GB/s");
        assert_eq!(bandwidth(Some(1234.5)), "1\u{2009}234 GB/s");
        assert_eq!(
            (bandwidth(None), bandwidth(Some(f64::NAN)), mean_count(None)),
            ("-".into(), "-".into(), "-".into())
        );
        assert_eq!(mean_count(Some(12.34)), "12.3");
    }

    #[test]
    fn moments_are_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_827_696_000_000_000), "2000-02-29 12:34:56 UTC");
        assert_eq!(utc(1_704_067_199_999_999_999), "2023-12-31 23:59:59 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
    }

    #[test]
    fn times_of_day_have_the_decimals_of_the_step() {
        let at_ns = 951_827_696_012_345_678;
        assert_eq!(time_of_day(at_ns, 2_000_000_000), "12:34:56");
        assert_eq!(time_of_day(at_ns, 100_000_000), "12:34:56.0");
        assert_eq!(time_of_day(at_ns, 5_000), "12:34:56.012345");
        assert_eq!(time_of_day(at_ns, 0), "12:34:56.012345678");
        assert_eq!(time_of_day(-1, 1_000_000), "23:59:59.999");
    }

    #[test]
    fn words_can_be_pasted_into_a_shell() {
        let cases = [("--lr=1e-3", "--lr=1e-3"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''"), ("$X", "'$X'")];
        for (word, quoted) in cases {
            assert_eq!(shell_word(word), quoted);
        }
    }

    #[test]
    fn names_are_safe_on_one_line() {
        assert_eq!(one_line("a\nb\u{7}c\u{202e}", 20), "a b\\u{7}c\\u{202e}");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
