//! Queue depth over time: launches submitted whose work has not started.
//!
//! A launch counts from the start of its call to the start of its first operation; a graph launch counts once, however
//! many operations it holds.

/// The depth during one bin of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DepthBin {
    /// Depth when the bin begins, events of that instant included.
    pub at_start: i64,
    /// Largest depth within it.
    pub max: u32,
    /// Depth summed over its nanoseconds.
    pub area_ns: i128,
}

/// Depth in `count` bins of `width_ns` from `start_ns` on.
///
/// `submitted` and `started` are sorted times. Those before `start_ns` change only the depth that the first bin begins
/// with, which is `before` without them.
pub(super) fn bins(
    before: i64,
    submitted: &[i64],
    started: &[i64],
    (start_ns, width_ns, count): (i64, i64, usize),
) -> Vec<DepthBin> {
    let (mut depth, mut up, mut down) = (before, 0, 0);
    let mut bins = Vec::with_capacity(count);
    // The next instant at which anything happens, at or after which everything up to now is counted.
    let next_event = |up: usize, down: usize| match (submitted.get(up), started.get(down)) {
        (Some(a), Some(b)) => Some(*a.min(b)),
        (a, b) => a.or(b).copied(),
    };
    for at in 0..count {
        let from_ns = start_ns.saturating_add(width_ns.saturating_mul(at as i64));
        let to_ns = from_ns.saturating_add(width_ns);
        let mut now_ns = from_ns;
        let mut bin = DepthBin::default();
        let mut pass = |now_ns: i64, up: &mut usize, down: &mut usize| {
            while submitted.get(*up).is_some_and(|ns| *ns <= now_ns) {
                *up += 1;
                depth += 1;
            }
            while started.get(*down).is_some_and(|ns| *ns <= now_ns) {
                *down += 1;
                depth -= 1;
            }
            depth
        };
        let mut level = pass(now_ns, &mut up, &mut down);
        bin.at_start = level;
        while now_ns < to_ns {
            let until_ns = next_event(up, down).unwrap_or(to_ns).min(to_ns);
            // Damaged files hold work that starts before it was submitted.
            let shown = u32::try_from(level.max(0)).unwrap_or(u32::MAX);
            bin.max = bin.max.max(shown);
            bin.area_ns += i128::from(shown) * i128::from(until_ns - now_ns);
            now_ns = until_ns;
            if now_ns < to_ns {
                level = pass(now_ns, &mut up, &mut down);
            }
        }
        bins.push(bin);
    }
    bins
}

/// Each time at which the depth changes, with the depth from there on. `submitted` and `started` are sorted times.
pub(super) fn steps<'a>(submitted: &'a [i64], started: &'a [i64]) -> impl Iterator<Item = (i64, f32)> + 'a {
    let (mut up, mut down) = (0, 0);
    std::iter::from_fn(move || {
        let at_ns = match (submitted.get(up), started.get(down)) {
            (Some(a), Some(b)) => *a.min(b),
            (a, b) => *a.or(b)?,
        };
        up += submitted.get(up..)?.iter().take_while(|ns| **ns == at_ns).count();
        down += started.get(down..)?.iter().take_while(|ns| **ns == at_ns).count();
        // Damaged files hold work that starts before it was submitted.
        Some((at_ns, up.saturating_sub(down) as f32))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bins_hold_what_counting_every_nanosecond_gives(
            launches in proptest::collection::vec((0_i64..60, -2_i64..20), 0..20),
            start_ns in 0_i64..40,
            width_ns in 1_i64..12,
        ) {
            let mut submitted: Vec<i64> = launches.iter().map(|(at, _)| *at).collect();
            let mut started: Vec<i64> = launches.iter().map(|(at, wait)| at + wait).collect();
            submitted.sort_unstable();
            started.sort_unstable();
            let depth_at = |ns: i64| {
                let counted = |times: &[i64]| times.iter().filter(|t| **t <= ns).count() as i64;
                counted(&submitted) - counted(&started)
            };
            for (at_ns, depth) in steps(&submitted, &started) {
                prop_assert_eq!(depth as i64, depth_at(at_ns).max(0));
            }
            for (at, bin) in bins(0, &submitted, &started, (start_ns, width_ns, 5)).into_iter().enumerate() {
                let from_ns = start_ns + width_ns * at as i64;
                let depths: Vec<i64> = (from_ns..from_ns + width_ns).map(depth_at).collect();
                prop_assert_eq!(bin.at_start, depths[0]);
                prop_assert_eq!(i64::from(bin.max), depths.iter().copied().max().unwrap().max(0));
                prop_assert_eq!(bin.area_ns, depths.iter().map(|d| i128::from((*d).max(0))).sum::<i128>());
            }
        }
    }
}
