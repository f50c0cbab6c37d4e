//! Steps and spans as they are typed.

use super::run::CliError;
use crate::units::Span;

/// Two times since the first event, such as `10ms..25.5ms`.
pub(super) fn parse_span(text: &str) -> Result<Span, CliError> {
    let bad = || CliError::Usage(format!("--span {text} is no span: write two times with units, such as 10ms..25.5ms"));
    let (from, to) = text.split_once("..").ok_or_else(bad)?;
    let span = Span::new(parse_time(from).ok_or_else(bad)?, parse_time(to).ok_or_else(bad)?);
    if span.is_empty() {
        return Err(CliError::Usage(format!("--span {text} is empty: the second time must be later")));
    }
    Ok(span)
}

/// A time with its unit, such as `10ms`, in nanoseconds; only 0 needs none.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let with_unit = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = with_unit.or((text == "0").then_some((text, 1.0)))?;
    let ns = number.trim().parse::<f64>().ok()? * factor;
    (ns.is_finite() && ns.abs() < 9e18).then_some(ns.round() as i64)
}

/// Runs of numbers that a message lists.
const MOST_RUNS: usize = 8;

/// There is no step `number`; these are there, of one rank or of several.
pub(super) fn no_step(number: i64, known: &[i64]) -> CliError {
    let known = match runs(known).as_slice() {
        [] => "no step is marked".to_owned(),
        runs => {
            let rest = if runs.len() > MOST_RUNS { ", ..." } else { "" };
            format!("there are {}{rest}", runs.get(..MOST_RUNS).unwrap_or(runs).join(", "))
        }
    };
    CliError::Usage(format!("there is no step {number}: {known}"))
}

/// Numbers as text, each once and in order; three or more that follow each other as the first and the last of them.
fn runs(numbers: &[i64]) -> Vec<String> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let text = |run: &[i64]| match run {
        [first, _, .., last] => format!("{first} to {last}"),
        few => few.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
    };
    numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b)).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_units() {
        assert_eq!(parse_time("10ms"), Some(10_000_000));
        assert_eq!(parse_time(" 1.5 us"), Some(1_500));
        assert_eq!(parse_time("2s"), Some(2_000_000_000));
        assert_eq!((parse_time("0"), parse_time("7")), (Some(0), None));
        assert_eq!((parse_time("x"), parse_time("nans"), parse_time("")), (None, None, None));
    }

    #[test]
    fn steps_that_are_there_are_told_once_each_and_in_few_words() {
        let message = |known: &[i64]| no_step(99, known).to_string();
        assert_eq!(message(&[]), "there is no step 99: no step is marked");
        assert_eq!(message(&[3, 0, 1, 2, 0, 1, 2, 3]), "there is no step 99: there are 0 to 3");
        assert_eq!(message(&[7, 1, 2, 7, 20, 21, 22]), "there is no step 99: there are 1, 2, 7, 20 to 22");
        let apart: Vec<i64> = (0..10_000).map(|at| at * 2).collect();
        assert!(message(&apart).ends_with("there are 0, 2, 4, 6, 8, 10, 12, 14, ..."));
    }

    #[test]
    fn spans_have_two_times_in_order() {
        assert_eq!(parse_span("1us..2us").ok(), Some(Span::new(1_000, 2_000)));
        for bad in ["1us", "2us..1us", "1us..1us", "a..b", ".."] {
            assert!(parse_span(bad).is_err(), "{bad}");
        }
    }
}
