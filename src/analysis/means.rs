//! Means of parts that sum to a whole, rounded so that they still do.

/// The mean of each sum over `count` values, rounded to whole numbers that sum to `total`.
///
/// Rounding down loses less than one a part; the parts that lost most get them back, earlier parts first among equals.
pub(super) fn rounded(sums: &[i128], count: i128, total: i64) -> Vec<i64> {
    if count <= 0 {
        return vec![0; sums.len()];
    }
    let down = |sum: &i128| i64::try_from(sum.div_euclid(count)).unwrap_or(i64::MAX);
    let mut means: Vec<i64> = sums.iter().map(down).collect();
    let sum_of_means = means.iter().fold(0_i64, |sum, mean| sum.saturating_add(*mean));
    let missing = usize::try_from(total.saturating_sub(sum_of_means)).unwrap_or(0);
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(sums[*at].rem_euclid(count)));
    for at in order.into_iter().take(missing) {
        means[at] += 1;
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_loses_goes_to_the_parts_that_lost_most() {
        assert_eq!(rounded(&[5, 4, 3], 3, 4), [2, 1, 1]);
        assert_eq!(rounded(&[1, 1], 0, 0), [0, 0]);
    }
}
