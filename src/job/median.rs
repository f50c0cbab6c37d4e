//! A median and the spread around it.

use crate::analysis::median_of;

/// The median and the median distance from it; `None` of nothing.
pub fn median_and_spread(values: &[i64]) -> Option<(i64, i64)> {
    let median = median_of(values.to_vec())?;
    let distances = values.iter().map(|value| value.saturating_sub(median).saturating_abs()).collect();
    Some((median, median_of(distances)?))
}
